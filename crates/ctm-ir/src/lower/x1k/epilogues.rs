//! Epilogues of targets ([`crate::lower::epilogues`]) at the end of a program without flow control.

use super::{Builder, Under};
use crate::lower::epilogues::{are_sound, steps, stored as stored_in};
use crate::masked::Var;
use ctm_exec::epilogue::TargetEpilogue;
use ctm_exec::x1k::Launch;
use ctm_isa::x1k::{OUTPUTS, TEMPORARIES};

/// The first temporary that neither the program nor a start value concerns.
pub fn first_free(launch: &Launch<'_>) -> usize {
    let given = launch.planes.iter().map(|plane| plane.temp).chain(launch.rows.iter().map(|row| row.register));
    1 + usize::from(given.fold(launch.program.usage().highest_temp, u8::max))
}

/// The variables of stored elements, each with the number of its target: channels of temporaries that the program does not use. `None`: there are not enough temporaries.
pub fn stored(launch: &Launch<'_>) -> Option<Vec<(Var, u8)>> {
    if launch.draw.epilogues.iter().all(|of| !of.epilogue.reads_stored()) {
        return Some(Vec::new());
    }
    stored_in(launch.draw.epilogues, first_free(launch), TEMPORARIES)
}

/// Whether the launch's epilogues can be part of its program, or it has none: every processor writes their colours.
pub fn are_possible(launch: &Launch<'_>) -> bool {
    let list = launch.draw.epilogues;
    list.is_empty() || stored(launch).is_some() && are_sound(list, OUTPUTS as u8, launch.program.always_written())
}

impl Builder {
    /// The epilogues of the launch. The result of each is the first channel of its output. `None`: one has a step that is not there.
    pub fn epilogues(&mut self, list: &[TargetEpilogue], stored: &[(Var, u8)]) -> Option<()> {
        let mut results = Vec::new();
        for TargetEpilogue { target, epilogue } in list {
            let stored = stored.iter().find(|of| of.1 == *target).map(|of| of.0);
            let place = |output: u8| (usize::from(output) < OUTPUTS).then_some(usize::from(output));
            results.push((Var::export(place(*target)?, 0), steps(&mut self.block, epilogue, stored, place)?));
        }
        // An epilogue may read the colour of another target.
        self.sends = true;
        for (var, value) in results {
            self.set(var, value, Under::default());
        }
        Some(())
    }
}
