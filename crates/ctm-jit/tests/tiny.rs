//! Results next to the smallest normal number: they are rounded to 24 bits first, then flushed (`docs/arithmetic.md`). Some processors flush before they round.

use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Launch};
use ctm_exec::{Budget, Domain, Engine, GroupSize, Interp};
use ctm_jit::{Backend, Jit};

/// Factors, and their product by the definition: 0xc00003 * 0xaaaaa8 is 2^47 - 8.
const PRODUCTS: [[u32; 3]; 6] = [
    // 2^-126 less 2^-170: rounded up to 2^-126.
    [0x3f40_0003, 0x00aa_aaa8, 0x0080_0000],
    [0xbf40_0003, 0x00aa_aaa8, 0x8080_0000],
    // 2^-126 less about 2^-149: stays below.
    [0x3f40_0003, 0x00aa_aaa7, 0],
    [0xbf40_0003, 0x00aa_aaa7, 0x8000_0000],
    // Half of it.
    [0x3f40_0003, 0x0080_0000, 0],
    // 2^-126 itself.
    [0x3f80_0000, 0x0080_0000, 0x0080_0000],
];

#[test]
fn products_are_rounded_before_they_are_flushed() {
    let program = ctm_isa::x1k::text::assemble(".output o = o0\nmad o, c0, c1, -0\n");
    let program = program.program.unwrap_or_else(|| panic!("{:?}", program.diagnostics));
    let engines = Backend::available().map(|backend| (backend.to_string(), Box::new(Jit::with_backend(backend)) as _));
    let engines: Vec<(String, Box<dyn Engine>)> =
        [("interp".to_owned(), Box::new(Interp) as _)].into_iter().chain(engines).collect();
    for [a, b, expected] in PRODUCTS {
        let mut constants = Constants::default();
        (constants.float[0], constants.float[1]) = ([a; 4], [b; 4]);
        let launch = Launch {
            program: &program,
            constants: &constants,
            planes: &[],
            rows: &[],
            domain: Domain { i0: 0, j0: 0, i1: 7, j1: 7 },
            group: GroupSize::X1K,
            draw: ctm_exec::x1k::DrawParts::default(),
            budget: Budget::default(),
            threads: 1,
            checks: false,
            counters: false,
        };
        for (name, engine) in &engines {
            let mut memory = Arrays::default();
            memory.outputs[0] = Some(Picture::filled(8, 8, [1.0; 4]));
            engine.run_x1k(&launch, &mut memory).unwrap();
            let found = memory.outputs[0].as_ref().and_then(|o| o.get(5, 2)).unwrap();
            assert_eq!(found, [expected; 4], "{name}: {a:08x} * {b:08x}: {found:08x?}");
        }
    }
}
