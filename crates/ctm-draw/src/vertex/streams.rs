//! Stream output: the vertices of primitives, in order, into buffers.

use crate::assembly::{Primitive, Shape};
use crate::program::Runner;
use crate::state::{DrawError, DrawState, StageProgram, StreamOutput};
use crate::surface::targets::StreamBuffer;
use crate::vertex::vertices::{PER_LAUNCH, VertexLaunch, run_launch};
use ctm_isa::r700::program::Stage as StageKind;

/// The buffers of a draw, and its counts.
#[derive(Debug, Default)]
pub(crate) struct Streams<'t> {
    pub(crate) buffers: [Option<StreamBuffer<'t>>; 4],
    /// Primitives that were to be stored.
    pub(crate) needed: u64,
    /// Primitives that were.
    pub(crate) stored: u64,
}

/// The source of the primitives' vertices: the program that exports them, and R0 for a vertex number of a primitive.
pub(crate) struct PrimitiveSource<'a> {
    pub(crate) kind: StageKind,
    pub(crate) stage: StageProgram<'a>,
    pub(crate) start: &'a dyn Fn(u32, &Primitive) -> [u32; 4],
    pub(crate) shown: Option<(u8, &'a [u8])>,
}

/// Vertices of a shape.
const fn count(shape: Shape) -> u32 {
    match shape {
        Shape::Point => 1,
        Shape::Line => 2,
        Shape::Triangle | Shape::Rectangle => 3,
    }
}

impl Streams<'_> {
    /// Finds buffers that end after their memory.
    pub(crate) fn check(&self) -> Result<(), DrawError> {
        for (n, buffer) in self.buffers.iter().enumerate() {
            let Some(buffer) = buffer else { continue };
            let there = buffer.bytes.len() as u64 / 4;
            if u64::from(buffer.size_dwords) > there {
                let reason = format!("of buffer {n} is {}, its memory has {there} dwords", buffer.size_dwords);
                return Err(DrawError::State { field: "streams.size_dwords", reason });
            }
        }
        Ok(())
    }

    /// Enabled buffers that exist, with the dwords of a vertex.
    fn enabled(&self, output: &StreamOutput) -> Vec<(usize, u32)> {
        let is_there = |n: &usize| output.buffers >> n & 1 == 1 && self.buffers[*n].is_some();
        (0..4).filter(is_there).map(|n| (n, output.vertex_dwords[n])).collect()
    }

    /// Whether `more` vertices, after `waiting` ones, fit into all enabled buffers.
    fn fits(&self, enabled: &[(usize, u32)], waiting: u64, more: u32) -> bool {
        enabled.iter().all(|&(n, dwords)| {
            self.buffers[n].as_ref().is_some_and(|buffer| {
                let vertices = waiting + u64::from(more);
                u64::from(buffer.offset_dwords) + vertices * u64::from(dwords) <= u64::from(buffer.size_dwords)
            })
        })
    }

    /// Stores the vertices of primitives, as many primitives as fit; the others are left out.
    pub(crate) fn store(
        &mut self,
        runner: &Runner<'_>,
        state: &DrawState<'_>,
        output: &StreamOutput,
        source: &PrimitiveSource<'_>,
        primitives: &[Primitive],
    ) -> Result<(), DrawError> {
        let enabled = self.enabled(output);
        let mut start: Vec<[u32; 4]> = Vec::new();
        for primitive in primitives {
            self.needed += 1;
            let vertices = count(primitive.shape);
            if enabled.is_empty() || !self.fits(&enabled, start.len() as u64, vertices) {
                continue;
            }
            self.stored += 1;
            let numbers = primitive.vertices.iter().take(vertices as usize);
            start.extend(numbers.map(|&number| (source.start)(number, primitive)));
            // Whole primitives of 1, 2 or 3 vertices.
            if start.len() + 3 > PER_LAUNCH {
                self.launch(runner, state, output, source, &start)?;
                start.clear();
            }
        }
        self.launch(runner, state, output, source, &start)
    }

    fn launch(
        &mut self,
        runner: &Runner<'_>,
        state: &DrawState<'_>,
        output: &StreamOutput,
        source: &PrimitiveSource<'_>,
        start: &[[u32; 4]],
    ) -> Result<(), DrawError> {
        if start.is_empty() {
            return Ok(());
        }
        let &PrimitiveSource { kind, stage, shown, .. } = source;
        let stream_dwords = output.vertex_dwords;
        let given = VertexLaunch { kind, stage, start, ring_dwords: 0, stream_dwords, shown, exports: false };
        let fault = |fault| DrawError::Program { stage: "stream output", fault };
        let memory = run_launch(runner, state, &given).map_err(fault)?;
        for (n, dword, bits) in memory.streamed {
            if let Some(buffer) = self.buffers[usize::from(n)].as_mut().filter(|_| output.buffers >> n & 1 == 1) {
                let at = usize::try_from(4 * (u64::from(buffer.offset_dwords) + dword)).unwrap_or(usize::MAX);
                if let Some(place) = buffer.bytes.get_mut(at..at.saturating_add(4)) {
                    place.copy_from_slice(&bits.to_le_bytes());
                }
            }
        }
        for (n, dwords) in self.enabled(output) {
            if let Some(buffer) = &mut self.buffers[n] {
                buffer.offset_dwords += start.len() as u32 * dwords;
            }
        }
        Ok(())
    }
}
