//! X1K launches with the parts that only draws have: divisors of start values, covered lanes, epilogues of targets.
//!
//! Truth: the reference interpreter, after which memory stores colours, or applies the lists, pixel by pixel; for the interpreter itself, the numbers that the parts of a
//! launch are documented to mean.

use crate::r700_epilogues::list;
use crate::r700_spans::Targets;
use ctm_exec::engine::MemoryFault;
use ctm_exec::r700::{Divisor, Exports, Memory as _, Target, TargetEpilogue, Written};
use ctm_exec::x1k::{Constants, Direct, DrawParts, Form, Input, Launch, Memory, Merged, Outputs, Plane};
use ctm_exec::{Budget, Domain, Engine, GroupSize, Interp, LaneOrder, LaneRows, Position, StartRow, x1k};
use ctm_isa::r700::random::Random;
use ctm_isa::x1k::text::assemble;
use ctm_isa::x1k::{OUTPUTS, Program};
use ctm_jit::{Backend, Jit};
use ctm_verify::Verify;

/// The targets of a draw, as memory of an X1K launch.
#[derive(Clone)]
struct Pixels {
    targets: Targets,
    /// Arrays are mapped.
    maps: bool,
}

impl Memory for Pixels {
    fn schedule(&mut self, _at: Position) -> Result<bool, MemoryFault> {
        Ok(true)
    }

    fn input(&self, _index: u8) -> Option<Input> {
        None
    }

    fn read(&self, _index: u8, _x: u32, _y: u32, _uncached: bool) -> Result<[u32; 4], MemoryFault> {
        Ok([0; 4])
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        let mut exports = Exports::default();
        for (target, values, written) in outputs.iter() {
            let x1k::Target::Colour(n) = target else { continue };
            let elements = std::array::from_fn(|e| (written >> e & 1 == 1).then_some(values[e]));
            exports.set(Target::Pixel(n), elements);
        }
        self.targets.commit(at, &exports)
    }

    fn write_uncached(&mut self, _x: u32, _y: u32, _bits: u32) -> Result<Written, MemoryFault> {
        Ok(Written::default())
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn direct(&mut self) -> Option<Direct<'_>> {
        let wanted = [0, 1, 2, 3].map(Target::Pixel);
        let mapped = self.targets.direct(&[], &wanted).filter(|_| self.maps)?.targets;
        let mut outputs = [const { None }; OUTPUTS];
        for (output, array) in outputs.iter_mut().zip(mapped) {
            if let Some(array) = array {
                *output = Some(array.with(()).with(array.bytes.into_bytes()?));
            }
        }
        Some(Direct { outputs, ..Direct::default() })
    }

    fn merged(&mut self, targets: &[u8]) -> Option<Merged<'_>> {
        let targets = self.targets.merged(targets).filter(|_| self.maps)?.targets;
        Some(Merged { targets, ..Merged::default() })
    }
}

/// Colours of both outputs, with numbers, denormals, infinities and NaNs; one channel is written twice, once by a predicate.
const COLOURS: &str = "
.output a = o0
.output b = o1
.const k = c0 (0.01, 0.03, 1e-38, 0.5)
 mul r2.rgb, r0.rrg, k.rgg
 mad r2.rgb, r2, r0.ggr, r0.rgg | rcp r3.a, r0.r
 mul r3.rgb, r2.gbr, k.bba | mul r2.a, r3.a, r0.g
 mov a, r2
 mov b.rgb, r3.rgb | mov b.a, r0.a
 end
";

/// A program with a branch, which is drawn without epilogues as parts of it.
const BRANCH: &str = "
.output a = o0
.output b = o1
 mov r2, r0
 add res(r ge), r0.r, 0
 if res
 mul r2, r0, r0
 endif
 mov a, r2
 mov b, r0
 end
";

fn program(text: &str) -> Program {
    let assembly = assemble(text);
    assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
}

fn launch<'a>(program: &'a Program, constants: &'a Constants, domain: Domain, draw: DrawParts<'a>) -> Launch<'a> {
    Launch {
        program,
        constants,
        planes: &[],
        rows: &[],
        domain,
        group: GroupSize::X1K,
        draw,
        budget: Budget::default(),
        threads: 1,
        checks: false,
        counters: false,
    }
}

#[test]
fn engines_draw_as_the_interpreter_does() {
    let domains = [[0, 0, 127, 3], [4, 2, 75, 21], [8, 0, 71, 7], [2, 4, 33, 9], [0, 0, 7, 63], [1, 0, 30, 5]];
    let mut random = Random::new(11);
    let constants =
        Constants { float: [[0x3c23_d70a, 0x3cf5_c28f, 0x006c_e3ee, 0x3f00_0000]; 256], ..Constants::default() };
    let texts = [COLOURS, COLOURS, BRANCH].map(program);
    let (mut merged, mut stored) = (0, 0);
    for case in 0..48usize {
        let program = &texts[case % 3];
        let [i0, j0, i1, j1] = domains[case / 3 % domains.len()];
        let domain = Domain { i0, j0, i1, j1 };
        let has_epilogues = case % 4 > 0;
        let channels = if has_epilogues { 1 } else { 4 };
        let forms = [0, 1].map(|n| (channels, 15, Form::Floats, (case >> 1 ^ n) & 1 == 1));
        let epilogues =
            [0u8, 1].map(|target| TargetEpilogue { target, epilogue: list(&mut random, case % 5 > 0 || target == 1) });
        let order = LaneOrder::quads(domain);
        let covered: Vec<u64> = (0..order.count().div_ceil(64))
            .map(|n| if n % 3 == 1 { 0 } else { random.bits() | random.bits() << 32 })
            .collect();
        let planes = [Plane {
            temp: 0,
            origin: [-3.5, 2.0, 0.25, 1e-3],
            di: [0.5, 0.125, 1.0, 0.0],
            dj: [1.0, 0.0, -0.5, 2.0],
            bits: false,
        }];
        let row: Vec<u32> = (0..order.count()).map(|lane| (lane as f32 - 9.0).to_bits()).collect();
        let rows = [StartRow { register: 0, element: 3, bits: &row }];
        let divisor = Divisor { of: [0.5, 0.25, 0.125], elements: &[(0, 0b0101)] };
        let draw = DrawParts {
            divisor: (case % 2 == 1).then_some(divisor),
            covered: (case % 7 > 1).then_some(&covered[..]),
            once: case % 3 > 0,
            epilogues: if has_epilogues { &epilogues } else { &[] },
        };
        let rows = if case % 11 == 3 { &rows[..] } else { &[] };
        let launch = Launch { planes: &planes, rows, ..launch(program, &constants, domain, draw) };
        let mut before = Pixels { targets: Targets::new(i1 + 1, j1 + 1, &forms), maps: true };
        before.targets.epilogues = draw.epilogues.to_vec();
        let mut expected = before.clone();
        let outcome = Interp.run_x1k(&launch, &mut expected).unwrap();
        for backend in Backend::available() {
            for maps in [true, false] {
                let mut found = Pixels { maps, ..before.clone() };
                let same = Jit::with_backend(backend).run_x1k(&launch, &mut found).unwrap();
                assert!(found.targets.arrays == expected.targets.arrays, "case {case}, {backend:?}, {maps}");
                assert_eq!(same.counters, outcome.counters, "case {case}, {backend:?}, {maps}");
                merged += if maps { found.targets.merges } else { 0 };
                stored += u32::from(maps && !has_epilogues);
            }
            let mut found = before.clone();
            let (_, difference) = Verify::new(Jit::with_backend(backend)).compare(&launch, &mut found);
            assert_eq!(difference.map(|difference| difference.to_string()), None, "case {case}, {backend:?}");
            assert!(found.targets.arrays == expected.targets.arrays, "case {case}, {backend:?}");
        }
    }
    assert!(merged >= 40 && stored >= 10, "{merged} launches merged, {stored} stored");
}

/// Truth: the descriptions of [`DrawParts`] and [`LaneRows`].
#[test]
fn covered_lanes_and_divisors_mean_what_is_said() {
    struct Rows(LaneRows<x1k::Target>);
    impl Memory for Rows {
        fn schedule(&mut self, _at: Position) -> Result<bool, MemoryFault> {
            Ok(true)
        }
        fn input(&self, _index: u8) -> Option<Input> {
            None
        }
        fn read(&self, _index: u8, _x: u32, _y: u32, _uncached: bool) -> Result<[u32; 4], MemoryFault> {
            Ok([0; 4])
        }
        fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
            Ok(outputs.store(at, &mut self.0))
        }
        fn write_uncached(&mut self, _x: u32, _y: u32, _bits: u32) -> Result<Written, MemoryFault> {
            Ok(Written::default())
        }
        fn outputs_alias_inputs(&self) -> bool {
            false
        }
        fn lane_rows(&mut self) -> Option<&mut LaneRows<x1k::Target>> {
            Some(&mut self.0)
        }
    }
    let (program, constants) = (program(".output o = o0\n mov o, r0\n end\n"), Constants::default());
    let domain = Domain { i0: 0, j0: 0, i1: 15, j1: 5 };
    let covered = [0x0000_0000_ffff_a5f0, 0x0000_0001];
    // (i + 2) / (j + 1), and the row itself.
    let planes = [Plane {
        temp: 0,
        origin: [2.0, 0.0, 0.0, 0.0],
        di: [1.0, 0.0, 0.0, 0.0],
        dj: [0.0, 1.0, 0.0, 0.0],
        bits: false,
    }];
    let divisor = Some(Divisor { of: [1.0, 0.0, 1.0], elements: &[(0, 1)] });
    let draw = DrawParts { divisor, covered: Some(&covered), ..DrawParts::default() };
    let launch = Launch { planes: &planes, ..launch(&program, &constants, domain, draw) };
    let engines: [&dyn Engine; 2] = [&Interp, &Jit::new()];
    for engine in engines {
        let order = launch.lane_order();
        let mut memory = Rows(LaneRows::new(order, &[x1k::Target::Colour(0)]));
        let counters = engine.run_x1k(&launch, &mut memory).unwrap().counters;
        // Groups 0, 1 and 4 have a covered lane.
        assert_eq!([counters.groups, counters.processors, counters.writes], [3, 48, 16 + 8 + 1], "{}", engine.name());
        assert_eq!(memory.0.survivors(), covered, "{}", engine.name());
        let rows = memory.0.get(x1k::Target::Colour(0)).unwrap();
        for lane in (0..order.count()).filter(|&lane| covered[lane / 64] >> (lane % 64) & 1 == 1) {
            let Position { i, j } = order.position(lane).unwrap();
            let expected = [(f64::from(i + 2) * (1.0 / f64::from(j + 1))) as f32, j as f32];
            assert_eq!(
                [0, 1].map(|e: usize| rows[e].bits[lane]),
                expected.map(f32::to_bits),
                "({i}, {j}), {}",
                engine.name()
            );
        }
    }
}
