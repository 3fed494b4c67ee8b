//! MXCSR around machine code, and in its calls.

use crate::codegen::x86::masked::modes_of_calls;
use crate::codegen::x86::present_mode as mode;
use crate::{Backend, Jit};
use ctm_exec::Engine;
use ctm_testkit::x1k::surfaces::{Case, PaddedArray, Surfaces};

/// Flags of past exceptions: any operation sets them.
const FLAGS: u32 = 0x3f;

/// Runs programs on this thread: lookups that are calls of the reference function, as memory maps nothing, and code
/// without calls, of groups and of streams.
fn run(engine: &dyn Engine) {
    let text = ".input a = s0\n.output o = o0\ntex r1, a, r0.rg\nmad r2, r1, 0.5, r1\nrcp r2.a, r2.r\nmov o, r2\n";
    for [i1, j1] in [[6, 3], [63, 31]] {
        for lends in [false, true] {
            let case = Case { threads: 1, counters: false, ..Case::new(text, [0, 0, i1, j1]) };
            // Denormals among them: operations on these would show another mode.
            let input = PaddedArray::new(16, 4, 4, |x, y, c| x << 20 | y << 8 | u32::from(c));
            let output = PaddedArray::with_pitch(64, [64, 32], 4, |x, y, _| x ^ y);
            let mut memory =
                Surfaces { inputs: vec![input], outputs: vec![output], direct: lends, lends, ..Surfaces::default() };
            let outcome = case.run(engine, &mut memory);
            assert!(outcome.is_ok(), "{outcome:?}");
        }
    }
}

#[test]
fn calls_run_in_the_mode_of_the_host() {
    for backend in Backend::available().filter(|&backend| backend != Backend::Portable) {
        let (before, calls) = (mode(), modes_of_calls().0);
        assert_eq!(before & !FLAGS, 0x1f80, "the mode that Rust code is made for");
        run(&Jit::with_backend(backend));
        let (after, differed) = modes_of_calls();
        assert!(after > calls, "{backend}: no function was called");
        assert_eq!(differed & !FLAGS, 0, "{backend}");
        assert_eq!(mode() & !FLAGS, before & !FLAGS, "{backend}");
    }
}
