//! Instructions on vectors and masks.

use super::lir::Lir;
use super::mask_registers::MaskRegisters;
use super::mask_vectors::MaskVectors;
use super::vectors::Vectors;
use ctm_x86::Label;

/// Emits an instruction on vectors and masks alone, for one unit; returns whether it was one. `end`: the target of a
/// group whose mask is empty.
pub fn line<E: Vectors>(e: &mut E, lir: &Lir, unit: E::Unit, end: Label) -> bool {
    if e.single(lir, unit) {
        return true;
    }
    match lir {
        Lir::Store(..) | Lir::ConstRelative { .. } => return false,
        _ if e.target().has_mask_registers() => e.register_line(lir, unit, end),
        _ => e.vector_line(lir, unit, end),
    }
    true
}
