//! What hands on what only reads: the half of a memory that wraps another one.

/// Hands on what only reads to `self.memory`, whose outputs are no inputs.
macro_rules! reads {
    () => {
        fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
            self.memory.constant(bank, index)
        }

        fn alternate(&self) -> Option<&dyn Memory> {
            self.memory.alternate()
        }

        fn buffer(&self, id: u8) -> Option<Buffer> {
            self.memory.buffer(id)
        }

        fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
            self.memory.read_buffer(id, offset_bytes, bytes)
        }

        fn texture(&self, id: u8) -> Option<Texture> {
            self.memory.texture(id)
        }

        fn sampler(&self, id: u8) -> Option<Sampler> {
            self.memory.sampler(id)
        }

        fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
            self.memory.texel(id, level, at)
        }

        fn space(&self, space: Space) -> Option<u64> {
            self.memory.space(space)
        }

        fn outputs_alias_inputs(&self) -> bool {
            false
        }

        fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
            self.memory.buffer_bytes(id)
        }

        fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
            self.memory.texels(id, level)
        }
    };
}
pub(crate) use reads;
