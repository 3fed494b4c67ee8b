//! How large numbers can become, where uniform values and start values are of moderate size: what multiply-adds by a power of two ask for.
//!
//! A product with 2, 4, 8 ... is exact, unless it overflows; so a sum with it that is rounded once is the sum that is rounded twice. Where the product does
//! overflow, it is infinite, and so is a sum with anything finite; a sum that is rounded once is infinite as well if what is added is at most 2^100.

use crate::ir::masked::{Block, Code, File, Op, Value, Var, indexed};
use ctm_isa::r700::ops::{AluOp, Omod, Op2, Op3};

/// Uniform values and start values are taken for smaller than 2 to this power.
pub const MODERATE: i16 = 40;
/// Summands may be at most 2 to this power.
const LARGEST_SUMMAND: i16 = 100;
/// Of what may be anything, infinite and NaN too.
const ANYTHING: i16 = i16::MAX;
/// Beyond this, nobody cares.
const MOST: i16 = 126;
/// The largest factor: 2 to this power.
const LARGEST_FACTOR: u32 = 20;
/// Variables that still grow after so many rounds through the program grow without end, as far as anybody knows.
const ROUNDS: usize = 4;

/// For each variable: its magnitudes are at most 2 to this power. Rounding keeps that.
pub struct Sizes {
    vars: Vec<i16>,
    /// Uniform values that launches are given, and sizes of those that are computed.
    uniforms: (usize, Vec<i16>),
}

/// Whether these are the bits of 2, 4, 8 ... up to a limit, with either sign: a factor whose products are exact unless they overflow.
pub fn is_power_of_two(bits: u32) -> bool {
    let exponent = bits >> 23 & 0xff;
    bits & 0x7f_ffff == 0 && (128..=127 + LARGEST_FACTOR).contains(&exponent)
}

/// Whether uniform values are as [`MODERATE`] has it.
pub fn is_moderate(bits: u32) -> bool {
    f32::from_bits(bits).abs() < f32::from_bits((127 + MODERATE as u32) << 23)
}

impl Sizes {
    /// Of a program with such a multiply-add; `None`: it has none. `start`: variables with start values.
    pub fn of(code: &Code, start: &[Var]) -> Option<Self> {
        let wanted = |block: &Block| block.ops.iter().any(|op| scaled(block, op));
        if !code.blocks.iter().any(wanted) {
            return None;
        }
        let mut sizes = Self { vars: vec![0; Var::COUNT], uniforms: (code.given_uniforms(), Vec::new()) };
        sizes.uniforms.1 = sizes.within(&code.computed);
        start.iter().for_each(|var| sizes.vars[var.index()] = MODERATE);
        for round in 0.. {
            let mut changed = false;
            for block in &code.blocks {
                let of = sizes.within(&block.ops);
                let mut store = |var: Var, value: Value| {
                    let (old, new) = (sizes.vars[var.index()], of[value.index()]);
                    if new > old {
                        sizes.vars[var.index()] = if round < ROUNDS { new } else { ANYTHING };
                        changed = true;
                    }
                };
                for op in &block.ops {
                    match *op {
                        Op::Set(var, value, _) => store(var, value),
                        Op::SetRelative(gprs, _, element, [_, value], _) => {
                            indexed(gprs, element).for_each(|var| store(var, value));
                        }
                        _ => {}
                    }
                }
            }
            if !changed {
                break;
            }
        }
        Some(sizes)
    }

    /// Whether a vector of a block, for which [`Sizes::within`] has found these sizes, is never too large as a summand.
    pub fn may_be_added(sizes: &[i16], value: Value) -> bool {
        sizes.get(value.index()).is_some_and(|&size| size <= LARGEST_SUMMAND)
    }

    /// Of each vector of a block's operations.
    pub fn within(&self, ops: &[Op]) -> Vec<i16> {
        let mut sizes: Vec<i16> = Vec::with_capacity(ops.len());
        for op in ops {
            // Operands that an operation does not have may be any number.
            let of = |value: Value| sizes.get(value.index()).copied().unwrap_or(ANYTHING);
            let size = match *op {
                Op::Bits(bits) => of_bits(bits),
                Op::Uniform(index) => match usize::from(index).checked_sub(self.uniforms.0) {
                    Some(computed) => self.uniforms.1.get(computed).copied().unwrap_or(ANYTHING),
                    None => MODERATE,
                },
                Op::Get(var) => self.vars[var.index()],
                Op::Abs(a) | Op::Neg(a) => of(a),
                Op::Select([_, a, b]) => of(a).max(of(b)),
                Op::GetRelative(File::Gprs(gprs), _, element, _) => {
                    indexed(gprs, element).map(|var| self.vars[var.index()]).max().unwrap_or(ANYTHING)
                }
                Op::Alu(AluOp::Op2(op), [a, b, _], omod, _) => modified(of_op2(op, of(a), of(b)), omod),
                Op::Alu(AluOp::Op3(op), [a, b, c], omod, _) => modified(of_op3(op, [a, b, c].map(of)), omod),
                _ => ANYTHING,
            };
            sizes.push(if size > MOST { ANYTHING } else { size });
        }
        sizes
    }
}

/// Whether an operation is a multiply-add by a power of two.
fn scaled(block: &Block, op: &Op) -> bool {
    let Op::Alu(AluOp::Op3(op), [a, b, _], ..) = *op else { return false };
    let is = |value: Value| matches!(block.ops[value.index()], Op::Bits(bits) if is_power_of_two(bits));
    factor(op).is_some() && (is(a) || is(b))
}

/// The power of two by which a multiply-add multiplies its result, at least.
const fn factor(op: Op3) -> Option<i16> {
    use Op3::{Muladd, MuladdD2, MuladdIeee, MuladdIeeeD2, MuladdIeeeM2, MuladdIeeeM4, MuladdM2, MuladdM4};
    match op {
        Muladd | MuladdM2 | MuladdM4 | MuladdD2 | MuladdIeee | MuladdIeeeM2 | MuladdIeeeM4 | MuladdIeeeD2 => {
            Some(match op.info().scale {
                Omod::Off | Omod::D2 => 0,
                Omod::M2 => 1,
                Omod::M4 => 2,
            })
        }
        _ => None,
    }
}

fn of_bits(bits: u32) -> i16 {
    if !f32::from_bits(bits).is_finite() {
        return ANYTHING;
    }
    // Denormals, too, are at most 2^-126.
    (bits >> 23 & 0xff) as i16 - 126
}

fn of_op2(op: Op2, a: i16, b: i16) -> i16 {
    match op {
        Op2::Add => a.max(b).saturating_add(1),
        Op2::Mul | Op2::MulIeee => a.saturating_add(b),
        Op2::Max | Op2::Min | Op2::MaxDx10 | Op2::MinDx10 => a.max(b),
        Op2::Mov => a,
        Op2::Floor | Op2::Ceil | Op2::Trunc | Op2::Rndne => a.max(0),
        Op2::Sete | Op2::Setgt | Op2::Setge | Op2::Setne => 1,
        Op2::IntToFlt | Op2::UintToFlt => 33,
        _ => ANYTHING,
    }
}

fn of_op3(op: Op3, [a, b, c]: [i16; 3]) -> i16 {
    if let Some(factor) = factor(op) {
        return a.saturating_add(b).max(c).saturating_add(1 + factor);
    }
    if op.info().is_choice() { b.max(c) } else { ANYTHING }
}

fn modified(size: i16, omod: Omod) -> i16 {
    match omod {
        Omod::Off | Omod::D2 => size,
        Omod::M2 => size.saturating_add(1),
        Omod::M4 => size.saturating_add(2),
    }
}

#[cfg(test)]
#[path = "../../../../tests/unit/codegen/x86/masked/sizes.rs"]
mod tests;
