//! The flow-control machine against a plain reading of structured programs, processor by processor.
//!
//! `CTM_FLOW_PROGRAMS` says how many random programs are tried (default 5000, in an emulator a sixteenth), `CTM_FLOW_SEED` where they begin; a failure
//! prints the seed of its program.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Launch, Plane};
use ctm_exec::{Budget, Domain, Engine, Fault, GroupSize, Interp};
use ctm_isa::x1k::Program;
use ctm_isa::x1k::ops::CompareOp;
use ctm_testkit::x1k::structured::{Cond, Stmt, Tree, UNIT, assemble, thresholds};
use rayon::prelude::*;

/// An odd domain, so that some quads have uncovered lanes: columns 1..=9, rows 2..=8.
const DOMAIN: Domain = Domain { i0: 1, j0: 2, i1: 9, j1: 8 };
/// The start value of `acc`: `(START + i*STEP_I + j*STEP_J) * 2^-20`.
const START: u32 = 77_777;
const STEP_I: u32 = 31_337;
const STEP_J: u32 = 54_321;

fn constants(tree: &Tree) -> Constants {
    let mut constants = Constants { int: tree.ints, bool: tree.bools, ..Constants::default() };
    let units = |value: u32| (value as f32 / UNIT as f32).to_bits();
    for (index, &value) in tree.values.iter().enumerate() {
        constants.float[index] = [units(value); 4];
    }
    for (index, value) in thresholds(tree) {
        constants.float[usize::from(index)] = [units(value); 4];
    }
    constants
}

fn run(program: &Program, constants: &Constants, group: u16) -> Result<Picture, Fault> {
    let unit = 1.0 / f64::from(UNIT);
    let plane = Plane {
        temp: 1,
        origin: [f64::from(START) * unit, 0.0, 0.0, 0.0],
        di: [f64::from(STEP_I) * unit, 0.0, 0.0, 0.0],
        dj: [f64::from(STEP_J) * unit, 0.0, 0.0, 0.0],
        bits: false,
    };
    let launch = Launch {
        program,
        constants,
        planes: &[plane],
        rows: &[],
        domain: DOMAIN,
        group: GroupSize::new(group).unwrap(),
        draw: ctm_exec::x1k::DrawParts::default(),
        budget: Budget { instructions_per_group: Some(1_000_000), time: None },
        threads: 1,
        checks: false,
        counters: true,
    };
    let mut memory = Arrays::default();
    memory.outputs[0] = Some(Picture::filled(16, 16, [-1.0; 4]));
    Interp.run_x1k(&launch, &mut memory)?;
    Ok(memory.outputs[0].take().unwrap())
}

/// Compares every processor of a program with the plain reading, for three group sizes; `Err` describes the difference.
fn compare(tree: &Tree, full: bool) -> Result<bool, String> {
    let Some(mut program) = assemble(tree) else { return Ok(false) };
    program.full_flow_control = full;
    let constants = constants(tree);
    for group in [4, 16, 64] {
        let picture = run(&program, &constants, group).map_err(|fault| format!("group {group}: {fault}"))?;
        for j in DOMAIN.j0..=DOMAIN.j1 {
            for i in DOMAIN.i0..=DOMAIN.i1 {
                let expected = tree.follow(START + i * STEP_I + j * STEP_J);
                let value = if expected.killed { -1.0 } else { expected.acc as f32 / UNIT as f32 };
                let got = f32::from_bits(picture.get(i, j).unwrap()[0]);
                if got.to_bits() != value.to_bits() {
                    return Err(format!("group {group}: processor ({i}, {j}) gave {got}, not {value}"));
                }
            }
        }
    }
    Ok(true)
}

#[track_caller]
fn agrees(tree: &Tree) {
    match compare(tree, true) {
        Ok(true) => {}
        Ok(false) => panic!("the program is too long\n{tree:#?}"),
        Err(difference) => panic!("{difference}\n{tree:#?}"),
    }
}

fn tree(main: Vec<Stmt>, subs: Vec<Vec<Stmt>>) -> Tree {
    let mut ints = [[0; 4]; 32];
    ints[..6].copy_from_slice(&[[0, 0, 0, 0], [1, 0, 1, 0], [2, 3, 2, 0], [3, 9, 0xfd, 0], [4, 1, 5, 0], [5, 0, 0, 0]]);
    let mut bools = [false; 32];
    bools[1] = true;
    let values = std::array::from_fn(|n| (n as u32 * 40_503 + 12_345) % UNIT);
    Tree { main, subs, ignore_uncovered: false, bools, ints, values }
}

fn work(index: u8) -> Stmt {
    Stmt::Work { index, relative: false }
}

/// Conditions of every kind that no, some or all processors meet.
fn conditions() -> Vec<Cond> {
    let mut conditions = vec![Cond::Bool(0), Cond::Bool(1)];
    for threshold in [0, UNIT / 3, UNIT / 2, UNIT] {
        for &op in CompareOp::ALL {
            for bit in 0..4 {
                conditions.push(Cond::Pred { bit, op, threshold, inverted: bit % 2 == 1 });
            }
            conditions.push(Cond::Alu { alpha: false, op, threshold });
            conditions.push(Cond::Alu { alpha: true, op, threshold });
        }
    }
    conditions
}

/// Every row of the table of CTM §3.5.4, alone: all, none and some pass. An emulator tries a seventh of the conditions.
#[test]
fn each_construct_alone() {
    for cond in conditions().into_iter().step_by(if ctm_testkit::in_emulator() { 7 } else { 1 }) {
        let (a, b) = (vec![work(1), work(2)], vec![work(3)]);
        agrees(&tree(vec![work(0), Stmt::If { cond, then: a.clone(), otherwise: Some(b.clone()) }, work(4)], vec![]));
        agrees(&tree(vec![work(0), Stmt::If { cond, then: a.clone(), otherwise: None }, work(4)], vec![]));
        agrees(&tree(vec![work(0), Stmt::Call { cond: Some(cond), sub: 0 }, work(4)], vec![a.clone()]));
        let returning = vec![work(1), Stmt::ReturnIf(cond), work(2), Stmt::ReturnIf(cond), work(3)];
        agrees(&tree(vec![Stmt::Call { cond: None, sub: 0 }, work(4)], vec![returning.clone()]));
        agrees(&tree(vec![Stmt::Call { cond: Some(cond), sub: 0 }, work(4)], vec![returning]));
        for rep in [false, true] {
            for int in 0..6 {
                let in_loop = |leave: Stmt| {
                    let body = vec![work(1), leave, Stmt::Work { index: 2, relative: true }];
                    tree(vec![Stmt::Loop { rep, int, body }, work(4)], vec![])
                };
                agrees(&in_loop(Stmt::Break(Some(cond))));
                agrees(&in_loop(Stmt::Continue(Some(cond))));
                for leave in [Stmt::Break(None), Stmt::Continue(None)] {
                    agrees(&in_loop(Stmt::If { cond, then: vec![work(3), leave], otherwise: None }));
                }
            }
        }
    }
}

/// Each construct inside each other one, with a divergent condition.
#[test]
fn each_construct_inside_each() {
    let some = Cond::Pred { bit: 2, op: CompareOp::Less, threshold: UNIT / 2, inverted: false };
    let other = Cond::Alu { alpha: true, op: CompareOp::GreaterEqual, threshold: UNIT / 3 };
    let nests: Vec<Box<dyn Fn(Vec<Stmt>) -> Stmt>> = vec![
        Box::new(move |body| Stmt::If { cond: some, then: body, otherwise: None }),
        Box::new(move |body| Stmt::If { cond: some, then: vec![work(9)], otherwise: Some(body) }),
        Box::new(move |body| Stmt::If { cond: other, then: body, otherwise: Some(vec![work(8)]) }),
        Box::new(|body| Stmt::If { cond: Cond::Bool(1), then: body, otherwise: Some(vec![work(7)]) }),
        Box::new(|body| Stmt::Loop { rep: false, int: 3, body }),
        Box::new(|body| Stmt::Loop { rep: true, int: 4, body }),
    ];
    for outer in &nests {
        for middle in &nests {
            for inner in &nests {
                let leave =
                    [Stmt::Break(Some(other)), Stmt::Continue(Some(some)), Stmt::Break(None), Stmt::Continue(None)];
                for leave in leave {
                    let body = vec![work(1), Stmt::Work { index: 2, relative: true }];
                    let plain = outer(vec![work(3), middle(vec![inner(body), work(4)]), work(5)]);
                    agrees(&tree(vec![plain, work(6)], vec![]));
                    let body = vec![work(1), Stmt::If { cond: other, then: vec![leave], otherwise: None }, work(2)];
                    let nest = outer(vec![work(3), middle(vec![inner(body), work(4)]), work(5)]);
                    // The leave needs a loop around it.
                    agrees(&tree(vec![Stmt::Loop { rep: true, int: 2, body: vec![nest] }, work(6)], vec![]));
                }
            }
        }
    }
}

// ---- random programs ----------------------------------------------------------------------------------------------

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// The position of a statement.
#[derive(Clone, Copy)]
struct Place {
    depth: u32,
    /// No loops, no calls, branches at most four deep.
    partial: bool,
    /// Loops around it, through calls.
    loops: usize,
    in_loop: bool,
    /// Subroutines from here on may be called (so that there is no recursion and the address stack is deep enough).
    next_sub: usize,
}

fn random_cond(random: &mut Random) -> Cond {
    // Few enough different ones for the constants that hold them.
    let threshold = [0, UNIT, random.below(40) as u32 * (UNIT / 40)][random.below(6).min(2) as usize];
    let op = CompareOp::ALL[random.below(4) as usize];
    match random.below(5) {
        0 => Cond::Bool(random.below(4) as u8),
        1 | 2 => Cond::Pred { bit: random.below(4) as u8, op, threshold, inverted: random.chance(40) },
        _ => Cond::Alu { alpha: random.chance(50), op, threshold },
    }
}

fn random_block(random: &mut Random, place: Place, subs: usize) -> Vec<Stmt> {
    (0..1 + random.below(4)).map(|_| random_stmt(random, place, subs)).collect()
}

fn random_stmt(random: &mut Random, place: Place, subs: usize) -> Stmt {
    let deeper = Place { depth: place.depth + 1, ..place };
    let deepest = if place.partial { 4 } else { 6 };
    let some_cond = |random: &mut Random| random.chance(70).then(|| random_cond(random));
    match random.below(14) {
        0..4 if place.depth < deepest => Stmt::If {
            cond: random_cond(random),
            then: random_block(random, deeper, subs),
            otherwise: random.chance(50).then(|| random_block(random, deeper, subs)),
        },
        4 | 5 if place.depth < deepest && place.loops < 4 && !place.partial => {
            let inner = Place { loops: place.loops + 1, in_loop: true, ..deeper };
            Stmt::Loop { rep: random.chance(50), int: random.below(6) as u8, body: random_block(random, inner, subs) }
        }
        6 | 7 if place.in_loop => Stmt::Break(some_cond(random)),
        8 if place.in_loop => Stmt::Continue(some_cond(random)),
        // A subroutine has no more than one loop around each statement; see `random_tree`.
        9 if place.next_sub < subs && place.loops < 3 => {
            let sub = place.next_sub as u64 + random.below((subs - place.next_sub) as u64);
            Stmt::Call { cond: some_cond(random), sub: sub as usize }
        }
        10 if random.chance(30) => Stmt::Kill { threshold: random.below(8) as u32 * (UNIT / 40) },
        _ => Stmt::Work { index: random.below(64) as u8, relative: random.chance(40) },
    }
}

fn random_tree(seed: u64, partial: bool) -> Tree {
    let random = &mut Random(seed);
    // At most two subroutines, each with at most one loop level of its own: 2 + 1 + 1 loops and 2 addresses fit the stacks.
    let count = if partial { 0 } else { random.below(3) as usize };
    let mut subs = Vec::new();
    for sub in 0..count {
        let place = Place { depth: 3, partial: false, loops: 3, in_loop: false, next_sub: count };
        let mut body = random_block(random, place, count);
        if sub + 1 < count && random.chance(50) {
            let cond = random.chance(70).then(|| random_cond(random));
            body.push(Stmt::Call { cond, sub: count - 1 });
        }
        if random.chance(30) {
            let at = random.below(body.len() as u64 + 1) as usize;
            body.insert(at, Stmt::ReturnIf(random_cond(random)));
        }
        subs.push(body);
    }
    let main = Place { depth: 0, partial, loops: 0, in_loop: false, next_sub: 0 };
    let main = (0..2 + random.below(4)).map(|_| random_stmt(random, main, count)).collect();
    let mut ints = [[0; 4]; 32];
    for int in &mut ints {
        let step = random.below(9) as i8 - 4;
        // aL stays within 16..=48 over the at most 4 turns.
        *int = [random.below(5) as u8, 32, step.cast_unsigned(), 0];
    }
    Tree {
        main,
        subs,
        ignore_uncovered: random.chance(50),
        bools: std::array::from_fn(|_| random.chance(50)),
        ints,
        values: std::array::from_fn(|_| random.below(u64::from(UNIT)) as u32),
    }
}

#[test]
fn random_programs() {
    let from_environment = |name: &str, default: u64| match std::env::var(name) {
        Ok(value) => value.parse().unwrap(),
        Err(_) => default,
    };
    let count = from_environment("CTM_FLOW_PROGRAMS", ctm_testkit::tries::part(5000));
    let first = from_environment("CTM_FLOW_SEED", 1);
    let compared: u64 = (first..first + count)
        .into_par_iter()
        .map(|seed| {
            let tree = random_tree(seed, false);
            match compare(&tree, true) {
                Ok(compared) => u64::from(compared),
                Err(difference) => panic!("CTM_FLOW_SEED={seed} CTM_FLOW_PROGRAMS=1: {difference}\n{tree:#?}"),
            }
        })
        .sum();
    assert!(compared * 10 >= count * 8, "only {compared} of {count} programs were short enough");
}

/// Branches four deep fit partial mode (CTM §3.5.2), with the same results.
#[test]
fn random_programs_in_partial_mode() {
    for seed in 1..=1000 {
        let tree = random_tree(seed, true);
        if let Err(difference) = compare(&tree, false) {
            panic!("seed {seed}: {difference}\n{tree:#?}");
        }
    }
}
