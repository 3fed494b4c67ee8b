//! A request as its handler sees it: the opened node, and the structure that the program handed in.

use crate::Errno;
use crate::process::Process;
use crate::space::{FileId, Space};

/// The context of a handler.
pub(crate) struct Call<'a> {
    pub process: &'a mut Process,
    pub space: &'a Space,
    pub file: FileId,
    pub is_card: bool,
    pub argument: Argument,
}

/// The structure of a request, as the program handed it in.
pub(crate) struct Argument(pub Vec<u8>);

impl Argument {
    pub(crate) fn u32(&self, at: usize) -> u32 {
        self.0.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
    }

    pub(crate) fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }

    /// Bytes of the structure; 0 where it ends.
    pub(crate) fn bytes(&self, at: usize, count: usize) -> Vec<u8> {
        (at..at + count).map(|n| self.0.get(n).copied().unwrap_or(0)).collect()
    }

    pub(crate) fn set_bytes(&mut self, at: usize, bytes: &[u8]) {
        if let Some(to) = self.0.get_mut(at..at + bytes.len()) {
            to.copy_from_slice(bytes);
        }
    }

    pub(crate) fn set32(&mut self, at: usize, value: u32) {
        if let Some(to) = self.0.get_mut(at..at + 4) {
            to.copy_from_slice(&value.to_le_bytes());
        }
    }

    pub(crate) fn set64(&mut self, at: usize, value: u64) {
        if let Some(to) = self.0.get_mut(at..at + 8) {
            to.copy_from_slice(&value.to_le_bytes());
        }
    }
}

pub(crate) type Answer = Result<(), Errno>;
