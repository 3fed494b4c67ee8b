//! Epilogues: operations on a pixel's colours after its program ([`ctm_exec::epilogue`]), lowered into the program's last block.

use super::{Build, Lower, Result, State, Stop};
use crate::masked::{M, Op, Unit, Value, Var};
use ctm_exec::epilogue::{Epilogue, Step};
use ctm_exec::r700::{Launch, Target, TargetEpilogue};
use ctm_isa::r700::GPRS;
use ctm_isa::r700::inst::Decoded;
use ctm_isa::r700::ops::Op2;
use ctm_isa::r700::program::{Stage, Usage};
use ctm_isa::x1k::ops::Omod;

/// The variables of stored elements, each with the number of its target: elements of registers that the program does not have, one for each epilogue that reads one. `None`: there are not
/// enough registers.
pub fn stored(launch: &Launch<'_>) -> Option<Vec<(Var, u8)>> {
    let gprs = usize::from(launch.program.gprs).clamp(1, GPRS);
    let reads = launch.epilogues.iter().filter(|of| of.epilogue.reads_stored());
    let all: Vec<(Var, u8)> = reads
        .enumerate()
        .take_while(|(n, _)| gprs + n / 4 < GPRS)
        .map(|(n, of)| (Var::gpr(gprs + n / 4, n % 4), of.target))
        .collect();
    (all.len() == launch.epilogues.iter().filter(|of| of.epilogue.reads_stored()).count()).then_some(all)
}

/// Whether the launch's epilogues can be part of its program, or it has none: every pixel exports their colours.
pub fn are_possible(launch: &Launch<'_>, main: &Decoded) -> bool {
    if launch.epilogues.is_empty() {
        return true;
    }
    let exported = Usage::always_exported(main);
    let reads_exported = |of: &TargetEpilogue| {
        of.epilogue.steps().iter().all(|step| match step {
            Step::Exported { output, element } => *output < 8 && *element < 4 && exported >> output & 1 == 1,
            _ => true,
        })
    };
    let is_sound = |of: &TargetEpilogue| of.target < 8 && of.epilogue.is_complete() && reads_exported(of);
    launch.stage == Stage::Pixel
        && launch.fetch_program.is_none()
        && stored(launch).is_some()
        && launch.epilogues.iter().all(is_sound)
}

/// The first exported element of a colour target.
fn result(target: u8) -> Option<Var> {
    let place = Target::all().position(|of| of == Target::Pixel(target))?;
    Some(Var::export(place, 0))
}

impl Lower<'_> {
    /// The epilogues of the launch. The result of each is the first exported element of its target.
    pub(super) fn epilogues(&mut self, b: &mut Build, state: &State) -> Result {
        if self.launch.epilogues.is_empty() {
            return Ok(());
        }
        if !state.stack.is_empty() {
            return Err(Stop::NotLowered);
        }
        let stored = stored(self.launch).ok_or(Stop::NotLowered)?;
        let mut results = Vec::new();
        for TargetEpilogue { target, epilogue } in self.launch.epilogues {
            let stored = stored.iter().find(|of| of.1 == *target).map(|of| of.0);
            let value = steps(b, epilogue, stored).ok_or(Stop::NotLowered)?;
            results.push((result(*target).ok_or(Stop::NotLowered)?, value));
        }
        // An epilogue may read the colour of another target.
        for (var, value) in results {
            b.set(var, value, M::ACTIVE);
            b.effect(Op::Mark(var, M::ACTIVE));
        }
        Ok(())
    }
}

/// The result of a list of steps; `stored`: the variable of the target's element.
fn steps(b: &mut Build, epilogue: &Epilogue, stored: Option<Var>) -> Option<Value> {
    let mut results: Vec<Value> = Vec::with_capacity(epilogue.steps().len());
    for step in epilogue.steps() {
        let of = |step: ctm_exec::epilogue::StepIndex| results.get(step.index()).copied();
        let unit = |b: &mut Build, unit: Unit, operands: [Value; 3]| b.make(Op::Unit(unit, operands));
        let value = match *step {
            Step::Exported { output, element } => {
                let place = Target::all().position(|of| of == Target::Pixel(output))?;
                b.get(Var::export(place, element.into()))
            }
            Step::Stored => b.get(stored?),
            Step::Bits(bits) => b.bits(bits),
            Step::Neg(a) => {
                let a = of(a)?;
                b.make(Op::Neg(a))
            }
            Step::Fused([x, y, z]) => unit(b, Unit::Mad { zero_wins: false, omod: Omod::U1 }, [of(x)?, of(y)?, of(z)?]),
            Step::Clamp(a) => unit(b, Unit::Clamp, [of(a)?; 3]),
            Step::Min([x, y]) => unit(b, Unit::Min, [of(x)?, of(y)?, of(x)?]),
            Step::Max([x, y]) => unit(b, Unit::Max, [of(x)?, of(y)?, of(x)?]),
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
