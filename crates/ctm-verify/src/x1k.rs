//! X1K launches by two engines: the reference interpreter's accesses to memory are logged, and the other one's are
//! compared with them.

use super::lockstep::both;
use super::replay::{Recorder, Shadows, replay};
use super::{Compared, Difference, probe, shadow, until};
use ctm_exec::x1k::{Launch, Memory};
use ctm_exec::{Control, Engine, Interp};

/// Runs a launch with the reference interpreter, then with `engine` (see [`super::Verify::compare`]).
pub fn compare(engine: &dyn Engine, control: &Control, launch: &Launch<'_>, memory: &mut dyn Memory) -> Compared {
    if launch.checks {
        return (Interp.run_x1k_under(control, launch, memory), None);
    }
    let control = &until(control, &launch.budget);
    let aliased = memory.outputs_alias_inputs();
    let again = !aliased && !launch.program.uncached;
    // Made before anything is written.
    let shadows = if again { Shadows::of(memory, launch.draw.epilogues) } else { shadow::Shadows(Vec::new()) };
    let mut recorder = Recorder::new(memory, aliased);
    let expected = Interp.run_x1k_under(control, &Launch { counters: true, ..*launch }, &mut recorder);
    let log = recorder.log;
    both(&expected, launch.counters, |counters, expected| {
        if log.is_cut() {
            return None;
        }
        let launch = &Launch { counters, ..*launch };
        let found = replay((engine, control), launch, memory, &log, expected, shadows.clone(), None)?;
        let first = if again { probe::first((engine, control), launch, memory, !shadows.0.is_empty()) } else { None };
        Some(first.map_or(found, |(pc, first)| Difference { pc: Some(pc), ..first }))
    })
}
