//! Programs of a draw with all that is bound to them.

use super::matrices::MatrixKind;
use super::mesh::Mesh;
use super::pair::Pair;
use super::plan::DrawPlan;
use ctm_exec::r700::{Arrays, Constants};
use ctm_exec::x1k;
use ctm_isa::r700::Program;

/// Constant buffers of a program.
pub(super) const BANKS: u8 = 16;
/// Most constants of a constant buffer.
pub(super) const CONSTANTS_OF_BUFFER: usize = 4096;

/// A draw with its programs, its mesh and all that is bound.
pub(super) struct PreparedDraw<'a> {
    pub(super) plan: &'a DrawPlan,
    /// Its name, or its number.
    pub(super) name: String,
    pub(super) mesh: Mesh,
    pub(super) programs: DrawPrograms,
    pub(super) findings: Vec<String>,
    /// Uniforms that got numbers of the mesh by their usual names.
    pub(super) from_mesh: Vec<String>,
    /// Uniforms that get a matrix of the first camera by their usual names.
    pub(super) usual: Vec<(String, MatrixKind)>,
}

/// The programs of a draw.
pub(super) enum DrawPrograms {
    /// A vertex and a pixel program.
    Pair(Box<BoundPair>),
    /// A pixel program of X1K, with its vertex program; without one, vertices come transformed.
    X1k(Box<BoundX1k>),
}

/// A pair with its resources: first the vertex program's, then the pixel program's.
pub(super) struct BoundPair {
    pub(super) pair: Pair,
    pub(super) fetch: Option<Program>,
    pub(super) memory: [Arrays; 2],
    pub(super) constants: [Constants; 2],
    /// Constant buffers that each program fetches by computed indices, as resources of the same number.
    pub(super) fetched: [Vec<u8>; 2],
}

/// An X1K program with its resources.
pub(super) struct BoundX1k {
    pub(super) program: ctm_isa::x1k::Program,
    pub(super) constants: x1k::Constants,
    pub(super) memory: x1k::Arrays,
    /// The transformation of vertices that have no program.
    pub(super) matrix: Option<[f32; 16]>,
    pub(super) vertex: Option<BoundPvs>,
    /// Textures with levels and faces, where there is a vertex program.
    pub(super) textures: Arrays,
}

/// A vertex program of the R5xx with its constants and attributes.
pub(super) struct BoundPvs {
    pub(super) program: ctm_isa::pvs::VertexProgram,
    pub(super) constants: Vec<[u32; 4]>,
    /// Input vectors, with the values of each vertex.
    pub(super) inputs: Vec<(u8, Vec<[u32; 4]>)>,
    pub(super) findings: Vec<String>,
}
