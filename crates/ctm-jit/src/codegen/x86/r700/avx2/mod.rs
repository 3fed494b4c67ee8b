//! Machine code of R700 programs for AVX2: the same instructions as with AVX-512, run over a wavefront part by part.
//!
//! No operation of the form looks farther than its quad, so what stands between two operations on masks can be done for 8 lanes, then for
//! the next 8. Such a run of instructions is a *segment* (`segments`); what lives within one has registers, everything else lies in rows of the
//! frame, of which a part has 32 bytes (`allocate`). A segment is a loop over the parts, or all parts one behind the other where it is short.
//!
//! | file | what |
//! |---|---|
//! | `segments` | where a block's list is cut |
//! | `allocate` | where vectors live |
//! | `masks` | what is known of masks |
//! | `emit` | machine code: blocks, masks, calls |
//! | `parts` | machine code: a segment |
//! | `lookups` | machine code: lookups of texels and items |
//! | `relative` | registers and constants at an index |

mod allocate;
mod emit;
mod lookups;
mod masks;
mod parts;
mod relative;
mod segments;

use super::emit::Layout;
use super::{Ins, ROW, Sample};
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::Vector;
use crate::ir::r700::{Code, Var};
use allocate::Locations;
use segments::Step;

/// Lanes of a part.
const LANES: usize = Isa::Avx2.lanes();
/// Bytes of a part of a row, and of what is the same for all parts.
const PART: i32 = Isa::Avx2.bytes();

/// A program, and what was chosen for it.
pub struct Program<'a> {
    /// Its form.
    pub code: &'a Code,
    /// Its instructions.
    pub lists: &'a [Vec<Ins>],
    /// Its lookups.
    pub samples: &'a [Sample],
    /// Vectors of variables.
    pub vars: &'a [Option<Vector>],
    /// Variables in the order of their vectors, which come before all others.
    pub used: &'a [Var],
    /// As many of them lie in rows one behind the other.
    pub indexed: usize,
    /// How many vectors there are.
    pub vectors: usize,
    /// Variables with start values, in order.
    pub start: &'a [Var],
    /// Variables that are live at the start.
    pub live_in: &'a [Var],
    /// Exported elements, in order.
    pub exports: &'a [usize],
    /// Lanes of a wavefront.
    pub lanes: usize,
    /// Lookups can weigh texels.
    pub linear: bool,
    /// Passages of blocks are counted.
    pub counts: bool,
    /// Instructions are counted down.
    pub fuel: bool,
}

/// The code of a program, and its frame.
pub fn emit(program: &Program<'_>) -> (Vec<u8>, Layout) {
    let steps: Vec<Vec<Step<'_>>> = program.lists.iter().map(|list| segments::steps(list)).collect();
    let locations = Locations::of(program, &steps);
    let mut layout =
        Layout::new(program.start.len(), program.exports.len(), (locations.rows, ROW), program.samples.len(), false);
    let mut emit = emit::Emit::new(program, &steps, locations, layout);
    emit.program();
    layout.size = emit.size;
    (emit.asm.finish(), layout)
}
