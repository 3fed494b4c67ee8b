//! Start values lane by lane, and rows that take exports, on both instruction sets.
//!
//! Truth: derived; the numbering of lanes is the order of CTM §2.1.2 that the interpreters run quads in.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::r700::interp::Order;
use ctm_exec::r700::{Arrays, Constants, Launch, Target};
use ctm_exec::{Budget, Domain, Engine, GroupSize, Interp, LaneOrder, LaneRows, Position, StartRow, x1k};
use ctm_isa::r700::Program;
use ctm_isa::r700::program::Stage;
use ctm_isa::r700::text::{TextOptions, assemble};

const STAGES: [Stage; 4] = [Stage::Pixel, Stage::Vertex, Stage::Geometry, Stage::Compute];

fn text(source: &str) -> Program {
    let assembly = assemble(source, &TextOptions::default());
    assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
}

fn domain(i0: u32, j0: u32, i1: u32, j1: u32) -> Domain {
    Domain { i0, j0, i1, j1 }
}

/// The row of quads of no particular place.
fn quads(count: u32) -> Domain {
    domain(0, 0, 2 * count - 1, 1)
}

#[test]
fn lanes_are_numbered_as_wavefronts_run_them() {
    let (program, constants) = (Program::from_words(Vec::new()), Constants::default());
    for stage in STAGES {
        for domain in [quads(1), quads(37), domain(0, 0, 12, 4), domain(3, 5, 9, 5), domain(1, 0, 0, 0)] {
            let launch = Launch { stage, ..Launch::new(&program, &constants, domain) };
            let (order, lanes) = (Order::of(&launch), launch.lane_order());
            let positions: Vec<Position> =
                (0..order.count(&launch)).flat_map(|wave| order.positions(&launch, wave)).collect();
            assert_eq!(lanes.count(), positions.len(), "{stage:?} {domain:?}");
            for (number, &at) in positions.iter().enumerate() {
                assert_eq!(lanes.lane(at), Some(number), "{stage:?} {domain:?}");
                assert_eq!(lanes.position(number), Some(at));
            }
            assert_eq!(lanes.position(positions.len()), None);
            assert_eq!(lanes.lane(Position { i: domain.i1 + 2, j: domain.j1 }), None);
        }
    }
}

#[test]
fn registers_start_with_their_rows_and_rows_take_exports() {
    let program = text("ALU:\n x: ADD R1.x, R1.x, R0.y\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n");
    let program = Program { gprs: 2, ..program };
    let constants = Constants::default();
    let bits = |f: fn(usize) -> f32, lanes: usize| (0..lanes).map(|n| f(n).to_bits()).collect::<Vec<u32>>();
    // 37 quads: two full wavefronts and a bit.
    let x = bits(|n| n as f32, 148);
    let y = bits(|n| 1000.0 - n as f32, 148);
    let short = bits(|_| 7.0, 100);
    let row = |register, element, bits| StartRow { register, element, bits };
    let rows = [row(1, 0, &y), row(1, 0, &x), row(0, 1, &y), row(1, 3, &short), row(9, 0, &x)];
    let launch = Launch { stage: Stage::Pixel, rows: &rows, ..Launch::new(&program, &constants, quads(37)) };
    let mut memory =
        Arrays { lanes: Some(LaneRows::new(launch.lane_order(), &[Target::Pixel(0)])), ..Arrays::default() };
    let outcome = Interp.run_r700(&launch, &mut memory).unwrap();
    assert_eq!((outcome.counters.writes, outcome.counters.write_bytes), (148, 148 * 16));
    let lanes = memory.lanes.unwrap();
    let [x, y, _, w] = lanes.get(Target::Pixel(0)).unwrap();
    for lane in 0..148 {
        assert!(lanes.survived(lane));
        // The later row of two of the same element counts.
        assert_eq!(f32::from_bits(x.bits[lane]), 1000.0, "lane {lane}");
        assert_eq!(y.bits[lane], 0);
        assert_eq!(f32::from_bits(w.bits[lane]), if lane < 100 { 7.0 } else { 0.0 });
    }
    assert_eq!(lanes.survivors(), [u64::MAX, u64::MAX, (1 << 20) - 1]);
    assert_eq!(x.written, lanes.survivors());
    assert!(lanes.get(Target::Pixel(1)).is_none());
}

#[test]
fn killed_lanes_do_not_survive() {
    // Kills where R0.x > 0.
    let program =
        text("ALU:\n x: KILLGT ____, R0.x, 0.0f\nEXP: PIX0, R0.xxxx\nEXP_DONE: PIX61, R0.x___\nEND_OF_PROGRAM\n");
    let constants = Constants::default();
    let start: Vec<u32> = (0..72u32).map(|n| (n % 3) as f32).map(f32::to_bits).collect();
    let rows = [StartRow { register: 0, element: 0, bits: &start }];
    let launch = Launch { stage: Stage::Pixel, rows: &rows, ..Launch::new(&program, &constants, quads(18)) };
    let targets = [Target::Depth, Target::Pixel(0)];
    let mut memory = Arrays { lanes: Some(LaneRows::new(launch.lane_order(), &targets)), ..Arrays::default() };
    Interp.run_r700(&launch, &mut memory).unwrap();
    let lanes = memory.lanes.as_mut().unwrap();
    for lane in 0..72 {
        assert_eq!(lanes.survived(lane), lane % 3 == 0, "lane {lane}");
        let [x, y, ..] = lanes.get(Target::Depth).unwrap();
        assert_eq!(x.written[lane / 64] >> (lane % 64) & 1 == 1, lane % 3 == 0);
        assert_eq!(y.written, [0, 0]);
    }
    lanes.restart(LaneOrder::quads(quads(2)));
    assert_eq!(lanes.survivors(), [0]);
    assert_eq!(lanes.get(Target::Depth).unwrap()[0].bits, [0; 8]);
}

#[test]
fn checked_runs_know_that_rows_hold_something() {
    let program = Program { gprs: 2, ..text("EXP_DONE: PIX0, R1.xyyy\nEND_OF_PROGRAM\n") };
    let constants = Constants::default();
    let bits = [0; 4];
    let rows = [StartRow { register: 1, element: 0, bits: &bits }];
    let mut launch = Launch { stage: Stage::Pixel, checks: true, ..Launch::new(&program, &constants, quads(1)) };
    launch.rows = &rows;
    let found = Interp.run_r700(&launch, &mut Arrays::default()).unwrap().findings;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].message.contains("R1.y"), "{found:?}");
}

#[test]
fn x1k_temporaries_start_with_their_rows() {
    let source = "
        mov o0, r1
        mov o1, r0
    ";
    let assembly = ctm_isa::x1k::text::assemble(source);
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    let start: Vec<u32> = (0..20u32).map(|n| (n as f32 + 0.5).to_bits()).collect();
    let rows = [StartRow { register: 1, element: 2, bits: &start }];
    let launch = x1k::Launch {
        program: &program,
        constants: &x1k::Constants::default(),
        planes: &[x1k::Plane::position(1), x1k::Plane::position(0)],
        rows: &rows,
        domain: quads(5),
        group: GroupSize::X1K,
        draw: ctm_exec::x1k::DrawParts::default(),
        budget: Budget::default(),
        threads: 1,
        checks: false,
        counters: true,
    };
    let targets = [x1k::Target::Colour(0), x1k::Target::ConditionalValue];
    let mut memory =
        x1k::Arrays { lanes: Some(LaneRows::new(launch.lane_order(), &targets)), ..x1k::Arrays::default() };
    Interp.run_x1k(&launch, &mut memory).unwrap();
    let lanes = memory.lanes.unwrap();
    let colour = lanes.get(x1k::Target::Colour(0)).unwrap();
    for lane in 0..20 {
        let at = launch.lane_order().position(lane).unwrap();
        let found: [f32; 4] = std::array::from_fn(|c| f32::from_bits(colour[c].bits[lane]));
        assert_eq!(found, [at.i as f32, at.j as f32, lane as f32 + 0.5, 0.0], "lane {lane}");
    }
    assert_eq!(lanes.survivors(), [(1 << 20) - 1]);
    assert_eq!(lanes.get(x1k::Target::ConditionalValue).unwrap()[0].written, [0]);
}

#[test]
fn lanes_stored_together_may_begin_anywhere() {
    let order = Launch::new(&Program::from_words(Vec::new()), &Constants::default(), quads(25)).lane_order();
    let values: [u32; 64] = std::array::from_fn(|n| 1000 + n as u32);
    let masks = [u64::MAX, 0, 1, 1 << 63, 0xf0f0_0000_ffff_0001];
    for (first, mask) in (0..=101).flat_map(|first| masks.map(|mask| (first, mask))) {
        let (mut together, mut apart) =
            (LaneRows::new(order, &[Target::Pixel(0)]), LaneRows::new(order, &[Target::Pixel(0)]));
        // Unwritten elements keep their values.
        for rows in [&mut together, &mut apart] {
            rows.store(50, Target::Pixel(0), [7; 4], 0b0100);
        }
        together.store_all(first, (0, 2), &values, mask);
        together.survive_all(first, mask & in_domain(first));
        for n in (0..64).filter(|n| mask >> n & 1 == 1) {
            apart.store(first + n, Target::Pixel(0), [0, 0, values[n], 0], 0b0100);
            if let Some(at) = order.position(first + n) {
                apart.survive(at);
            }
        }
        let [two, one] = [&together, &apart].map(|rows| rows.get(Target::Pixel(0)).unwrap());
        assert_eq!(two[2].bits, one[2].bits, "{first} {mask:x}");
        assert!(
            (0..100).all(
                |lane| two[2].written[lane / 64] >> (lane % 64) & 1 == one[2].written[lane / 64] >> (lane % 64) & 1
            )
        );
        assert_eq!(together.survivors(), apart.survivors(), "{first} {mask:x}");
    }
}

/// The lanes from one on that a launch of 100 has.
fn in_domain(first: usize) -> u64 {
    let lanes = 100usize.saturating_sub(first);
    if lanes >= 64 { u64::MAX } else { (1 << lanes) - 1 }
}
