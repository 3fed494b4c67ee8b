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

/// Whether a list has steps, and reads these outputs alone (bit n = output n).
pub fn is_sound(list: &Epilogue, exported: u8) -> bool {
    let reads_exported = |step: &Step| match step {
        Step::Exported { output, element } => *output < 8 && *element < 4 && exported >> output & 1 == 1,
        _ => true,
    };
    list.is_complete() && list.steps().iter().all(reads_exported)
}

/// Whether each of them is sound and has a target below `targets`.
pub fn are_sound(epilogues: &[TargetEpilogue], targets: u8, exported: u8) -> bool {
    epilogues.iter().all(|of| of.target < targets && is_sound(&of.epilogue, exported))
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
            Step::Less([x, y]) => b.make(Op::Holds { op: Op2::PredSetgt, operands: [of(y)?, of(x)?], wanted: true }),
            Step::Equal([x, y]) => b.make(Op::Holds { op: Op2::PredSete, operands: [of(x)?, of(y)?], wanted: true }),
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
