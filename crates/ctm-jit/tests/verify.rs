//! `Verify` over random programs of all kinds: no difference, what the reference interpreter gives, and memory as that leaves it.

use ctm_exec::Interp;
use ctm_jit::{Backend, Jit, StreamLimits, Verify};
use ctm_testkit::tries::{on_all_cores, seeds};
use ctm_testkit::x1k::case::KINDS;

/// Programs of each kind, times `CTM_RANDOM`.
const PROGRAMS: u64 = 25;

#[test]
fn engines_agree_however_memory_is_reached() {
    let verifiers = || -> Vec<Verify> {
        let limits = StreamLimits { processors: 1, past_caches_bytes: 8 << 20 };
        Backend::available().map(|backend| Verify::new(Jit::with_backend(backend).with_stream_limits(limits))).collect()
    };
    let cases: Vec<_> = KINDS.iter().flat_map(|kind| seeds(PROGRAMS).map(move |seed| (kind, seed))).collect();
    on_all_cores(0..cases.len() as u64, verifiers, |verifiers, number, differences| {
        let (kind, seed) = cases[number as usize];
        let (program, case) = kind.make(seed);
        let expected = case.run(&program, &Interp, 1);
        for verify in verifiers {
            let (outcome, left) = case.run(&program, verify, 1);
            if outcome != expected.0 {
                differences.add(seed, format!("{}: {outcome:?} instead of {:?}", kind.name, expected.0));
            }
            if let Some(text) = left.first_difference(&expected.1) {
                differences.add(seed, format!("{}: memory was changed: {text}", kind.name));
            }
        }
    });
}
