//! Launches of vertex programs of the R5xx: outputs, or the fault.

use ctm_exec::pvs::{Outputs, PvsLaunch};
use ctm_exec::{Control, Engine, Fault, FaultKind, Interp, Position};

type EndedVertices = Result<Vec<Outputs>, Fault>;

/// Runs a launch with both engines; gives the reference interpreter's result.
///
/// # Errors
/// The reference interpreter's fault; [`FaultKind::EnginesDisagree`] where the other engine did not do the same.
pub fn compare(engine: &dyn Engine, control: &Control, launch: &PvsLaunch<'_>) -> EndedVertices {
    let control = super::until(control, &launch.budget);
    let expected = Interp.run_pvs_under(&control, launch);
    let found = engine.run_pvs_under(&control, launch);
    let timed_out = |ended: &EndedVertices| {
        matches!(ended, Err(Fault { kind: FaultKind::TimeBudget { .. } | FaultKind::Cancelled, .. }))
    };
    if expected == found || timed_out(&expected) || timed_out(&found) {
        return expected;
    }
    let disagree = |message: String, position: Option<Position>| {
        Err(Fault { kind: FaultKind::EnginesDisagree { message }, pc: launch.program.last.into(), position })
    };
    match (&expected, &found) {
        (Ok(expected), Ok(found)) => {
            let all = expected.iter().zip(found).enumerate();
            let mut first = all.filter_map(|(vertex, (expected, found))| {
                let place = (0..4 * expected.len()).find(|&n| expected[n / 4][n % 4] != found[n / 4][n % 4])?;
                let [expected, found] = [expected, found].map(|of| of[place / 4][place % 4]);
                let component = ["x", "y", "z", "w"][place % 4];
                let output = place / 4;
                let message = format!(
                    "the engine gave {found:#010x} for {component} of output {output}, the reference {expected:#010x}"
                );
                Some((message, Position { i: u32::try_from(vertex).unwrap_or(u32::MAX), j: 0 }))
            });
            match first.next() {
                Some((message, position)) => disagree(message, Some(position)),
                None => disagree("the engine gave another number of vertices".into(), None),
            }
        }
        (Ok(_), Err(fault)) => disagree(format!("the engine ended with a fault: {fault}"), fault.position),
        (Err(fault), _) => {
            disagree(format!("the engine did not; the reference ended with a fault: {fault}"), fault.position)
        }
    }
}
