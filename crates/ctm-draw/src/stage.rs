//! What a program of a draw can reach: it reads what its stage has bound, and leaves rows of exports.

use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::{Buffer, Exports, Memory, Sampler, Space, Target, Texture, VertexEvent, Written};
use ctm_exec::{LaneRows, Position};

/// Memory of one launch.
pub(crate) struct StageMemory<'a> {
    pub(crate) inner: &'a dyn Memory,
    pub(crate) rows: LaneRows<Target>,
    /// The ring that the program writes.
    pub(crate) ring: Option<Vec<u32>>,
    /// Dwords of each stream buffer that the program writes.
    pub(crate) streams: [u64; 4],
    /// What it wrote there, in order: buffer, dword, bits.
    pub(crate) streamed: Vec<(u8, u64, u32)>,
    /// A ring that the program reads as a buffer: its number and its bytes.
    pub(crate) shown: Option<(u8, &'a [u8])>,
    /// What it said of vertices.
    pub(crate) events: Vec<(Position, VertexEvent)>,
}

impl<'a> StageMemory<'a> {
    /// For a program that writes nothing.
    pub(crate) fn new(inner: &'a dyn Memory, rows: LaneRows<Target>) -> Self {
        let (streamed, events) = (Vec::new(), Vec::new());
        Self { inner, rows, ring: None, streams: [0; 4], streamed, shown: None, events }
    }

    fn shows(&self, id: u8) -> Option<&'a [u8]> {
        self.shown.filter(|shown| shown.0 == id).map(|shown| shown.1)
    }
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
        match self.shows(id) {
            // Rings are read at dwords.
            Some(bytes) => Some(Buffer { size_bytes: bytes.len() as u64, stride_bytes: 4, format: Format::default() }),
            None => self.inner.buffer(id),
        }
    }

    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        let Some(shown) = self.shows(id) else { return self.inner.read_buffer(id, offset_bytes, bytes) };
        let first = usize::try_from(offset_bytes).ok();
        let found = first.and_then(|first| shown.get(first..first.checked_add(bytes.len())?));
        bytes.copy_from_slice(found.ok_or_else(|| MemoryFault {
            what: format!("buffer {id}, a ring"),
            address: Some(offset_bytes),
            reason: format!("it has {} bytes", shown.len()),
        })?);
        Ok(())
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
        match (space, &self.ring) {
            (Space::Ring, Some(ring)) => Some(ring.len() as u64),
            (Space::Stream(n), _) if self.streams[usize::from(n) % 4] > 0 => Some(self.streams[usize::from(n) % 4]),
            _ => self.inner.space(space),
        }
    }

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        let own = self.ring.as_ref().filter(|_| space == Space::Ring);
        match own.and_then(|ring| ring.get(usize::try_from(dword).ok()?)) {
            Some(&bits) => Ok(bits),
            None => self.inner.load(space, dword),
        }
    }

    fn store(&mut self, space: Space, dword: u64, bits: u32) -> Result<(), MemoryFault> {
        match (space, &mut self.ring) {
            (Space::Ring, Some(ring)) => {
                if let Some(place) = usize::try_from(dword).ok().and_then(|dword| ring.get_mut(dword)) {
                    *place = bits;
                    return Ok(());
                }
            }
            (Space::Stream(n), _) if dword < self.streams[usize::from(n) % 4] => {
                self.streamed.push((n % 4, dword, bits));
                return Ok(());
            }
            _ => {}
        }
        Err(MemoryFault {
            what: format!("{} memory", space.name()),
            address: Some(dword * 4),
            reason: "programs of a draw write rings and streams only, where the draw has them".into(),
        })
    }

    fn vertex_event(&mut self, at: Position, event: VertexEvent) -> Result<(), MemoryFault> {
        self.events.push((at, event));
        Ok(())
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        Ok(exports.store(at, &mut self.rows))
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
        self.shows(id).or_else(|| self.inner.buffer_bytes(id))
    }

    fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
        self.inner.texels(id, level)
    }

    fn lane_rows(&mut self) -> Option<&mut LaneRows<Target>> {
        Some(&mut self.rows)
    }
}
