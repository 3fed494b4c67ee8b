//! Differences from a constant that are compared with zero: `x - k` against 0 is `x` against `k`, which is an operation less, and sooner there.

use crate::codegen::x86::asm::{CMP_F32, SUB};
use super::lir::{Lines, Lir, Src, Vector};
use crate::ir::x1k::{Code, Op};
use ctm_exec::x1k::Constants;

/// The constants (by component) that such differences may have.
pub fn subtracted(code: &Code) -> Vec<u16> {
    let mut found = Vec::new();
    for block in &code.blocks {
        for op in &block.ops {
            let Op::SetResult(_, mut value, _) = *op else { continue };
            // A choice by the difference is compared as the difference itself.
            if let Op::Pick { x, .. } = block.op_at(value) {
                value = x;
            }
            let Op::Mad { a, b, c, .. } = block.op_at(value) else { continue };
            for operand in [a, b, c] {
                let operand = match block.op_at(operand) {
                    Op::Sign(_, of) => block.op_at(of),
                    op => op,
                };
                if let Op::Const(component) = operand
                    && !found.contains(&component)
                {
                    found.push(component);
                }
            }
        }
    }
    found
}

/// Whether, for all these constants, a difference from them compares with 0 as the number itself compares with the constant.
///
/// It does for a finite constant k of at least 2^-101. Where x is a NaN, so is the difference, and neither comparison holds, or both do. Where
/// x is infinite, so is the difference, with the same sign. Otherwise x and k are numbers, x perhaps a denormal one, which counts as 0 in
/// both. The exact difference is rounded to the nearest number, which keeps its sign, unless it is flushed. Where |x| < |k| / 2, it is larger
/// than 2^-102. Where |x| >= |k| / 2, both numbers are multiples of 2^(-102 - 23) = 2^-125, and so is the difference: it is 0 only where they
/// are equal, and no denormal number otherwise.
pub fn are_exact(subtracted: &[u16], constants: &Constants) -> bool {
    const SMALLEST: u32 = 127 - 101;
    const INFINITE: u32 = 255;
    let exponent =
        |&component: &u16| constants.float[usize::from(component) / 4][usize::from(component) % 4] >> 23 & 0xff;
    subtracted.iter().all(|component| (SMALLEST..INFINITE).contains(&exponent(component)))
}

/// Compares directly what a block compares last, to set the ALU result, if that is the difference from one of these constants. Vectors before
/// `first_own` are variables.
pub fn compare_directly(lines: &mut Lines, subtracted: &[u16], first_own: usize) {
    let Some(group) = lines.groups.last() else { return };
    let at = group.first;
    let &[Lir::Test(CMP_F32, how, k, Src::Vector(difference), Src::Literal(0), 0), Lir::SetMask(4, _, _)] =
        &lines.lir[at..group.end]
    else {
        return;
    };
    let made = lines.lir[..at].iter().rposition(|lir| lir.writes().is_some_and(|(dst, _)| dst == difference));
    let Some(made) = made else { return };
    let Lir::Two(SUB, _, x, Src::Const(constant)) = lines.lir[made] else { return };
    let reads = |vector: Vector| lines.lir.iter().flat_map(Lir::reads).filter(|&read| read == vector).count();
    let stays = |src: Src| match src {
        Src::Vector(vector) => {
            !lines.lir[made..at].iter().any(|lir| lir.writes().is_some_and(|(dst, _)| dst == vector))
        }
        _ => true,
    };
    if difference.index() >= first_own && subtracted.contains(&constant) && reads(difference) == 1 && stays(x) {
        lines.lir[at] = Lir::Test(CMP_F32, how, k, x, Src::Const(constant), 0);
        // Nobody reads it any more.
        lines.remove(made);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_compare_as_numbers_do() {
        let flushed = |x: f32| if x.is_subnormal() { 0.0f32.copysign(x) } else { x };
        let mut constants = Constants::default();
        let mut taken = 0;
        for exponent in [0, 1, 24, 25, 26, 27, 100, 127, 128, 200, 253, 254, 255] {
            for fraction in [0u32, 1, 0x40_0000, 0x7f_fffe, 0x7f_ffff] {
                for sign in [0, 1 << 31] {
                    let bits = sign | exponent << 23 | fraction;
                    constants.float[3][1] = bits;
                    if !are_exact(&[13], &constants) {
                        continue;
                    }
                    taken += 1;
                    let k = f32::from_bits(bits);
                    let near = (-3i32..=3).map(|step| bits.wrapping_add_signed(step));
                    let half = (-2i32..=2).map(|step| (bits - (1 << 23)).wrapping_add_signed(step));
                    let others =
                        [0, 1 << 31, 1, 0x0080_0000, 0x7f7f_ffff, 0xff7f_ffff, 0x7f80_0000, 0xff80_0000, 0x7fc0_0000];
                    for x in near.chain(half).chain(others).map(|x| flushed(f32::from_bits(x))) {
                        let difference = flushed(x - k);
                        assert_eq!(difference.partial_cmp(&0.0), x.partial_cmp(&k), "{x:e} - {k:e}");
                    }
                }
            }
        }
        assert_eq!(taken, 2 * 5 * 8, "those from 2^-101 on");
    }
}
