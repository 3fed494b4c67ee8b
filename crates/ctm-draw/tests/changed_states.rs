//! Good draw states with a few changes: vertex buffers that are too short or have no stride, indices past them, NaN, geometry programs
//! and stream output without room, targets of different sizes and formats. They draw or are refused; both engines and every number of threads agree.
//!
//! `CTM_RANDOM=n` tries n times as many.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use crate::states;

use ctm_draw::Options;
use ctm_exec::Interp;
use ctm_jit::Jit;
use states::{BYTES, Outcome, drawn};
use std::time::Instant;

/// Draws a state in several ways, which must agree.
fn agreed(bytes: &[u8], jit: &Jit, pool: &rayon::ThreadPool) -> Outcome {
    let one = Options { one_thread: true, ..Options::default() };
    let expected = drawn(bytes, &Interp, &one);
    assert!(expected.is_within(), "{bytes:?} writes behind its targets");
    for (name, found) in
        [("code", drawn(bytes, jit, &one)), ("threads", pool.install(|| drawn(bytes, jit, &Options::default())))]
    {
        assert_eq!(found.result, expected.result, "{name}: {bytes:?}");
        assert!(found == expected, "{name} draws differently: {bytes:?}");
    }
    expected
}

#[test]
fn changed_states_draw_or_are_refused() {
    let (jit, pool) = (Jit::new(), rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap());
    let good = agreed(&[], &jit, &pool);
    assert!(good.result.is_ok_and(|counts| counts.pixels > 500));
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below
    };
    let times: usize = std::env::var("CTM_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let tries = ctm_testkit::tries::part(600) as usize * times;
    let (mut drawn, mut refused) = (0, 0);
    for round in 0..tries {
        let mut bytes = [0; BYTES];
        // Mostly few changes, sometimes many.
        let changes = if round % 5 == 0 { 1 + random(40) } else { 1 + random(6) };
        for _ in 0..changes {
            bytes[random(BYTES)] = random(256) as u8;
        }
        let begun = Instant::now();
        let outcome = agreed(&bytes, &jit, &pool);
        assert!(begun.elapsed().as_secs() < 20, "{bytes:?} takes {:?}", begun.elapsed());
        match outcome.result {
            Ok(counts) => drawn += usize::from(counts.pixels > 20),
            Err(message) => {
                refused += 1;
                assert!(message.len() > 10, "{bytes:?}: {message}");
            }
        }
    }
    assert!(drawn > tries / 4 && refused > tries / 30, "{drawn} drawn, {refused} refused");
}
