//! Epilogues: operations on a pixel's colours after its program ([`ctm_exec::epilogue`]), lowered into the program's last block. The parts that both
//! instruction sets have.

use super::build::Build;
use crate::masked::{ChannelOp, Op, Value, Var};
use ctm_exec::epilogue::{Epilogue, Step, StepIndex, TargetEpilogue};
use ctm_isa::r700::ops::Op2;
use ctm_isa::x1k::ops::Omod;

/// The variables of stored elements, each with the number of its target: elements of registers from `first` on and before `end`, one for each epilogue that reads one. `None`: there are not
/// enough registers.
pub fn stored(epilogues: &[TargetEpilogue], first: usize, end: usize) -> Option<Vec<(Var, u8)>> {
    let reads = epilogues.iter().filter(|of| of.epilogue.reads_stored());
    let var = |(n, of): (usize, &TargetEpilogue)| {
        let register = first + n / 4;
        (register < end).then(|| (Var::gpr(register, n % 4), of.target))
    };
    reads.enumerate().map(var).collect()
}

/// Whether each of them has steps, a target below `targets`, and reads of these outputs alone (bit n = output n).
pub fn are_sound(epilogues: &[TargetEpilogue], targets: u8, exported: u8) -> bool {
    let reads_exported = |of: &TargetEpilogue| {
        of.epilogue.steps().iter().all(|step| match step {
            Step::Exported { output, element } => *output < 8 && *element < 4 && exported >> output & 1 == 1,
            _ => true,
        })
    };
    epilogues.iter().all(|of| of.target < targets && of.epilogue.is_complete() && reads_exported(of))
}

/// The result of a list of steps; `stored`: the variable of the target's element; `place`: of an output among the targets of exports.
pub fn steps(
    b: &mut Build,
    epilogue: &Epilogue,
    stored: Option<Var>,
    place: impl Fn(u8) -> Option<usize>,
) -> Option<Value> {
    let mut results: Vec<Value> = Vec::with_capacity(epilogue.steps().len());
    for step in epilogue.steps() {
        let of = |step: StepIndex| results.get(step.index()).copied();
        let unit = |b: &mut Build, unit: ChannelOp, operands: [Value; 3]| b.make(Op::Unit(unit, operands));
        let value = match *step {
            Step::Exported { output, element } => {
                let place = place(output)?;
                b.get(Var::export(place, element.into()))
            }
            Step::Stored => b.get(stored?),
            Step::Bits(bits) => b.bits(bits),
            Step::Neg(a) => {
                let a = of(a)?;
                b.make(Op::Neg(a))
            }
            Step::Fused([x, y, z]) => {
                unit(b, ChannelOp::Mad { zero_wins: false, omod: Omod::U1 }, [of(x)?, of(y)?, of(z)?])
            }
            Step::Clamp(a) => unit(b, ChannelOp::Clamp, [of(a)?; 3]),
            Step::Min([x, y]) => unit(b, ChannelOp::Min, [of(x)?, of(y)?, of(x)?]),
            Step::Max([x, y]) => unit(b, ChannelOp::Max, [of(x)?, of(y)?, of(x)?]),
            Step::Number(a) => b.logic(Op2::IntToFlt, of(a)?, of(a)?),
            Step::And([x, y]) => b.logic(Op2::AndInt, of(x)?, of(y)?),
            Step::Or([x, y]) => b.logic(Op2::OrInt, of(x)?, of(y)?),
            Step::Xor([x, y]) => b.logic(Op2::XorInt, of(x)?, of(y)?),
            Step::ShiftLeft(a, by) => b.logic(Op2::LshlInt, of(a)?, u32::from(by)),
            Step::ShiftRight(a, by) => b.logic(Op2::LshrInt, of(a)?, u32::from(by)),
        };
        results.push(value);
    }
    results.last().copied()
}
