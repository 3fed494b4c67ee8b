//! Launches of several parts: tiles of pixels with planes of their own, one part over the other.
//!
//! Truth: the reference interpreter, a launch for each tile.

use crate::r700_epilogues::{COLOURS, KILLS, list};
use crate::r700_spans::{Targets, program};
use ctm_exec::r700::{Constants, Divisor, Launch, LaunchPart, Plane, TargetEpilogue};
use ctm_exec::x1k::Form;
use ctm_exec::{Control, Domain, Engine, GroupSize, Interp};
use ctm_isa::r700::random::Random;
use ctm_jit::{Backend, Jit};

/// Columns and rows of the targets.
const SIZE: [u32; 2] = [72, 40];

/// A plane of R0: constant, exact or rounded sums, whole or not, by element.
fn plane(random: &mut Random) -> Plane {
    let mut number = || match random.bits() % 4 {
        0 => 0.0,
        1 => (random.bits() % 9) as f64 - 4.0,
        2 => (random.bits() % 1000) as f64 / 256.0,
        _ => (random.bits() % 1000) as f64 / 300.0 - 1.0,
    };
    let mut three = || [(); 4].map(|()| number());
    Plane { temp: 0, origin: three(), di: three(), dj: three(), bits: false }
}

/// Some tiles, each once, with their pixels.
fn tiles(random: &mut Random) -> (Vec<[u32; 2]>, Vec<u64>) {
    let all = (0..SIZE[1]).step_by(8).flat_map(|j| (0..SIZE[0]).step_by(8).map(move |i| [i, j]));
    let tiles: Vec<[u32; 2]> = all.filter(|_| random.bits().is_multiple_of(3)).collect();
    let covered = tiles.iter().map(|_| match random.bits() % 4 {
        0 => u64::MAX,
        1 => random.bits() & 0xffff,
        _ => random.bits() | random.bits() << 32,
    });
    let covered = covered.collect();
    (tiles, covered)
}

#[test]
fn engines_run_parts_in_order() {
    let mut random = Random::new(23);
    let constants = Constants::default();
    let domain = Domain { i0: 0, j0: 0, i1: SIZE[0] - 1, j1: SIZE[1] - 1 };
    let (mut merged, mut changed) = (0, 0);
    for case in 0..48 {
        let program = program([COLOURS, KILLS][case % 2]);
        let has_epilogues = case % 4 > 1;
        let forms = [0, 1].map(|n| {
            let is_tiled = (case >> 2 ^ n) & 1 == 1;
            let is_bytes = !has_epilogues && case / 8 % 2 == 0;
            if is_bytes {
                (4, 0b1111, Form::Bytes { swapped: n == 1 }, is_tiled)
            } else {
                (1, 1, Form::Floats, is_tiled)
            }
        });
        let epilogues = [0u8, 1].map(|target| TargetEpilogue { target, epilogue: list(&mut random, target == 1) });
        let given: Vec<_> = (0..1 + case % 5)
            .map(|_| (plane(&mut random), [5.0, 0.01 * (random.bits() % 9) as f64, 0.02], tiles(&mut random)))
            .collect();
        let parts: Vec<LaunchPart<'_>> = (0..)
            .zip(&given)
            .map(|(n, (plane, of, (tiles, covered)))| LaunchPart {
                planes: std::slice::from_ref(plane),
                divisor: (n % 2 == 1).then_some(Divisor { of: *of, elements: &[(0, 0b0101)] }),
                tiles,
                covered,
            })
            .collect();
        let mut before = Targets::new(SIZE[0], SIZE[1], &forms);
        before.epilogues = if has_epilogues { epilogues.to_vec() } else { Vec::new() };
        let launch = Launch {
            counters: false,
            once: true,
            wavefront: GroupSize::new([16, 32, 64][case / 3 % 3]).unwrap(),
            epilogues: if has_epilogues { &epilogues } else { &[] },
            ..Launch::new(&program, &constants, domain)
        };
        let mut expected = before.clone();
        Interp.run_r700_parts(&Control::none(), &launch, &parts, &mut expected).unwrap();
        for backend in Backend::available() {
            let mut found = before.clone();
            let engine = Jit::with_backend(backend);
            engine.run_r700_parts(&Control::none(), &launch, &parts, &mut found).unwrap();
            assert!(found.arrays == expected.arrays, "case {case}, {backend:?}");
            // One launch asks for the arrays; one for each tile would ask often.
            assert!(found.merges <= 1, "case {case}, {backend:?}: {} launches", found.merges);
            merged += found.merges;
        }
        changed += u32::from(expected.arrays != before.arrays);
    }
    assert!(changed > 36, "{changed} launches store something");
    assert!(merged >= 24, "{merged} launches merged themselves");
}
