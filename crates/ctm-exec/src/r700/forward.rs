//! The half of a memory that wraps another one: reads are forwarded.

/// Implements the methods of [`r700::Memory`](crate::r700::Memory) that only read by those of the memory in a field of `self`.
///
/// It takes the field's name. The implementation has to add `load`, `store`, `vertex_event` and `commit`; the other methods that the macro leaves out
/// have defaults: `begin_lane`, `outputs_alias_inputs`, `direct` and `lane_rows`.
///
/// ```
/// use ctm_exec::engine::MemoryFault;
/// use ctm_exec::r700::{Arrays, Exports, Memory, Space, Target, VertexEvent, Written};
/// use ctm_exec::{Position, forward_r700_reads};
///
/// /// Counts the threads that export.
/// struct Counting<M> {
///     inner: M,
///     threads: u64,
/// }
///
/// impl<M: Memory> Memory for Counting<M> {
///     forward_r700_reads!(inner);
///
///     fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
///         self.inner.load(space, dword)
///     }
///
///     fn store(&mut self, space: Space, dword: u64, bits: u32) -> Result<(), MemoryFault> {
///         self.inner.store(space, dword, bits)
///     }
///
///     fn vertex_event(&mut self, at: Position, event: VertexEvent) -> Result<(), MemoryFault> {
///         self.inner.vertex_event(at, event)
///     }
///
///     fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
///         self.threads += 1;
///         self.inner.commit(at, exports)
///     }
/// }
///
/// let mut memory = Counting { inner: Arrays::default(), threads: 0 };
/// memory.inner.spaces.insert(Space::Scatter, vec![0; 8]);
/// assert_eq!(memory.space(Space::Scatter), Some(8));
/// assert!(memory.texture(0).is_none());
/// let mut exports = Exports::default();
/// exports.set(Target::Pixel(0), [Some(0); 4]);
/// memory.commit(Position { i: 0, j: 0 }, &exports)?;
/// assert_eq!(memory.threads, 1);
/// # Ok::<(), MemoryFault>(())
/// ```
#[macro_export]
macro_rules! forward_r700_reads {
    ($memory:ident) => {
        fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], $crate::engine::MemoryFault> {
            self.$memory.constant(bank, index)
        }

        fn alternate(&self) -> Option<&dyn $crate::r700::Memory> {
            self.$memory.alternate()
        }

        fn buffer(&self, id: u8) -> Option<$crate::r700::Buffer> {
            self.$memory.buffer(id)
        }

        fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), $crate::engine::MemoryFault> {
            self.$memory.read_buffer(id, offset_bytes, bytes)
        }

        fn texture(&self, id: u8) -> Option<$crate::r700::Texture> {
            self.$memory.texture(id)
        }

        fn sampler(&self, id: u8) -> Option<$crate::r700::Sampler> {
            self.$memory.sampler(id)
        }

        fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], $crate::engine::MemoryFault> {
            self.$memory.texel(id, level, at)
        }

        fn space(&self, space: $crate::r700::Space) -> Option<u64> {
            self.$memory.space(space)
        }

        fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
            self.$memory.buffer_bytes(id)
        }

        fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
            self.$memory.texels(id, level)
        }

        fn byte_texels(&self, id: u8, level: u32) -> Option<&[[u8; 4]]> {
            self.$memory.byte_texels(id, level)
        }

        fn number_texels(&self, id: u8, level: u32) -> Option<$crate::r700::NumberTexels<'_>> {
            self.$memory.number_texels(id, level)
        }
    };
}
