//! Epilogues of targets ([`crate::lower::epilogues`]) in the last block of a pixel program.

use super::{Build, Lower, Result, StackState, Stop};
use crate::lower::epilogues::{are_sound, is_sound, steps, stored as stored_in};
use crate::masked::{M, MaskOp, Op, Var};
use ctm_exec::epilogue::TargetEpilogue;
use ctm_exec::r700::{Launch, Target};
use ctm_isa::r700::GPRS;
use ctm_isa::r700::inst::Decoded;
use ctm_isa::r700::program::{Stage, Usage};

/// The variables of stored elements, each with the number of its target: elements of registers that the program does not have. `None`: there are not enough registers.
pub fn stored(launch: &Launch<'_>) -> Option<Vec<(Var, u8)>> {
    stored_in(launch.epilogues, usize::from(launch.program.gprs).clamp(1, GPRS), GPRS)
}

/// Whether operations follow the program.
pub(super) const fn any(launch: &Launch<'_>) -> bool {
    !launch.epilogues.is_empty() || launch.keeps.is_some()
}

/// Whether the launch's epilogues and its test of exports can be part of its program, or it has none: every pixel that is not killed exports their colours.
pub fn are_possible(launch: &Launch<'_>, main: &Decoded) -> bool {
    if !any(launch) {
        return true;
    }
    let exported = Usage::exported_by_survivors(main);
    launch.stage == Stage::Pixel
        && launch.fetch_program.is_none()
        && stored(launch).is_some()
        && are_sound(launch.epilogues, 8, exported)
        && launch.keeps.is_none_or(|keeps| is_sound(keeps, exported) && !keeps.reads_stored())
}

/// The place of a colour output among the targets of exports.
fn place(output: u8) -> Option<usize> {
    Target::all().position(|of| of == Target::Pixel(output))
}

impl Lower<'_> {
    /// The epilogues of the launch, and its test of exports. The result of each is the first exported element of its target.
    pub(super) fn epilogues(&mut self, b: &mut Build, state: &StackState) -> Result {
        if !any(self.launch) {
            return Ok(());
        }
        if !state.stack.is_empty() {
            return Err(Stop::NotLowered);
        }
        let stored = stored(self.launch).ok_or(Stop::NotLowered)?;
        let mut results = Vec::new();
        for TargetEpilogue { target, epilogue } in self.launch.epilogues {
            let stored = stored.iter().find(|of| of.1 == *target).map(|of| of.0);
            let value = steps(b, epilogue, stored, place).ok_or(Stop::NotLowered)?;
            let place = place(*target).ok_or(Stop::NotLowered)?;
            results.push((Var::export(place, 0), value));
        }
        let keeps = match self.launch.keeps {
            Some(keeps) => Some(steps(b, keeps, None, place).ok_or(Stop::NotLowered)?),
            None => None,
        };
        // An epilogue may read the colour of another target.
        for (var, value) in results {
            b.set(var, value, M::ACTIVE);
            b.effect(Op::Mark(var, M::ACTIVE));
        }
        if let Some(keeps) = keeps {
            b.mask(MaskOp::Lanes(M::TEMP, keeps));
            b.mask(MaskOp::And(M::VALID, M::VALID, M::TEMP));
        }
        Ok(())
    }
}
