//! Arenas whose bytes belong to someone else as well.

use std::ops::Range;

/// The bytes of an arena that someone else reaches too: a client of the device interface, through its own pointer.
///
/// The device asks only for the bytes that a command needs, and lets go of them before it goes on. An implementation
/// guarantees that bytes are not written while they are borrowed, nor read while they are borrowed for writing.
pub trait SharedPages: Send + Sync {
    /// The bytes `offset..offset + bytes` of the arena; both were checked against its size.
    fn slice(&self, offset: usize, bytes: usize) -> &[u8];
    /// The same bytes, to be written.
    fn slice_mut(&mut self, offset: usize, bytes: usize) -> &mut [u8];
    /// A copy of bytes that others may be writing, such as neighbours of a command's data; the copy of
    /// those is anything.
    fn copy(&self, offset: usize, to: &mut [u8]) {
        to.copy_from_slice(self.slice(offset, to.len()));
    }
    /// Several parts at once, which were checked against the size and lie apart: those to be read may share bytes with each other, those to
    /// be written with nothing. `None` (the default): they cannot be had so.
    fn parts(&mut self, reads: &[Range<usize>], writes: &[Range<usize>]) -> Option<Parts<'_>> {
        (reads.is_empty() && writes.is_empty()).then(Parts::default)
    }
}

/// Parts of an arena: to be read, and to be written.
pub type Parts<'a> = (Vec<&'a [u8]>, Vec<&'a mut [u8]>);
