//! Vertex processing: the vertex program, geometry programs, stream output.

pub(crate) mod geometry;
pub(crate) mod streams;
pub(crate) mod vertices;

pub use vertices::{ClipInput, Misc, VertexKey, Vertices};
