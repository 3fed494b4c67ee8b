//! The frame: the memory of the code.

#![allow(unsafe_code, reason = "lines of the frame become bytes")]

use crate::launch::lanes::LaneDwords;

/// A cache line.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct CacheLine(pub [u8; 64]);

fn bytes_of(lines: &mut [CacheLine]) -> &mut [u8] {
    // SAFETY: lines are arrays of bytes without padding, and any bytes are valid.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lines.len() * 64) }
}

/// The memory of the code; the `Layout` of each back end has the offsets.
pub struct Frame {
    #[cfg(not(all(test, unix, target_arch = "x86_64")))]
    pub(super) bytes: Vec<CacheLine>,
    #[cfg(all(test, unix, target_arch = "x86_64"))]
    pub(super) bytes: crate::tests::guarded::Guarded<CacheLine>,
    /// Copies of inputs.
    panels: Vec<CacheLine>,
}

impl Frame {
    /// A frame of `size` bytes, all 0.
    pub(in crate::codegen::x86) fn new(size: i32) -> Self {
        let lines = (size as usize).div_ceil(64);
        #[cfg(not(all(test, unix, target_arch = "x86_64")))]
        let bytes = vec![CacheLine([0; 64]); lines];
        #[cfg(all(test, unix, target_arch = "x86_64"))]
        let bytes = crate::tests::guarded::Guarded::new(lines);
        Self { bytes, panels: Vec::new() }
    }

    pub(in crate::codegen::x86) fn bytes(&mut self) -> &mut [u8] {
        bytes_of(&mut self.bytes)
    }

    /// `bytes` bytes for copies of inputs, whose addresses hold until the next call.
    pub(in crate::codegen::x86) fn panels(&mut self, bytes: usize) -> &mut [u8] {
        let lines = bytes.div_ceil(64);
        if self.panels.len() < lines {
            self.panels.resize(lines, CacheLine([0; 64]));
        }
        bytes_of(&mut self.panels[..lines])
    }

    pub(in crate::codegen::x86) fn put(&mut self, at: i32, bytes: &[u8]) {
        self.bytes()[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
    }

    pub(in crate::codegen::x86) fn put_row(&mut self, at: i32, row: &LaneDwords) {
        let to = &mut self.bytes()[at as usize..at as usize + 64];
        to.as_chunks_mut::<4>().0.iter_mut().zip(row).for_each(|(to, bits)| *to = bits.to_le_bytes());
    }
}
