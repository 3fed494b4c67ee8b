//! A stream with the meaning of its addresses.

/// An entry of the list of relocations: a buffer that the stream names.
///
/// Addresses in a stream are offsets into a buffer. A packet with one is followed by a NOP of one word, 4 times the number of the entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Relocation {
    /// The handle that the program has for the buffer.
    pub handle: u32,
    /// The buffer's address in memory.
    pub base: u64,
    /// Its bytes.
    pub size: u64,
}

impl Relocation {
    /// In words.
    #[must_use]
    pub fn told(&self) -> String {
        format!("buffer {} at {:#x}, {} bytes", self.handle, self.base, self.size)
    }
}
