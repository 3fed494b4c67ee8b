//! What a program of a draw can reach: it reads what its stage has bound, and leaves rows of exports.

use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::{Buffer, Exports, Memory, Sampler, Space, Target, Texture, VertexEvent, Written};
use ctm_exec::{LaneRows, Position};

/// Memory of one launch.
pub(crate) struct StageMemory<'a> {
    pub(crate) inner: &'a dyn Memory,
    pub(crate) rows: LaneRows<Target>,
}

/// A number of vertices or quads of a launch.
pub(crate) fn ints(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl Memory for StageMemory<'_> {
    fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
        self.inner.constant(bank, index)
    }

    fn alternate(&self) -> Option<&dyn Memory> {
        self.inner.alternate()
    }

    fn buffer(&self, id: u8) -> Option<Buffer> {
        self.inner.buffer(id)
    }

    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        self.inner.read_buffer(id, offset_bytes, bytes)
    }

    fn texture(&self, id: u8) -> Option<Texture> {
        self.inner.texture(id)
    }

    fn sampler(&self, id: u8) -> Option<Sampler> {
        self.inner.sampler(id)
    }

    fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        self.inner.texel(id, level, at)
    }

    fn space(&self, space: Space) -> Option<u64> {
        self.inner.space(space)
    }

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        self.inner.load(space, dword)
    }

    fn store(&mut self, space: Space, dword: u64, _bits: u32) -> Result<(), MemoryFault> {
        Err(MemoryFault {
            what: format!("{} memory", space.name()),
            address: Some(dword * 4),
            reason: "vertex and pixel programs of a draw cannot write memory".into(),
        })
    }

    fn vertex_event(&mut self, _at: Position, _event: VertexEvent) -> Result<(), MemoryFault> {
        let reason = "vertex and pixel programs of a draw emit no vertices".into();
        Err(MemoryFault { what: "vertex emission".into(), address: None, reason })
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        Ok(exports.store(at, &mut self.rows))
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
        self.inner.buffer_bytes(id)
    }

    fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
        self.inner.texels(id, level)
    }

    fn lane_rows(&mut self) -> Option<&mut LaneRows<Target>> {
        Some(&mut self.rows)
    }
}
