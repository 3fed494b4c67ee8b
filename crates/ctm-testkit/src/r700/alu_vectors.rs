//! The run vectors of `tests/vectors/r700/run/alu.txt`: results of each ALU operation, as whole programs.

use ctm_exec::arrays::Picture;
use ctm_exec::r700::{Arrays, Constants, Launch, Plane, Target};
use ctm_exec::{Domain, Engine};
use ctm_isa::r700::Program;
use ctm_isa::r700::inst::{AluInst, AluWord1, Operand};
use ctm_isa::r700::ops::{AluOp, Chan, Domain as Numbers, Omod, Op2, PredSel, SideEffect, Slots, Source, Units};
use std::collections::BTreeSet;

const CHANS: [Chan; 4] = [Chan::X, Chan::Y, Chan::Z, Chan::W];

/// An instruction that writes element `chan` of register `dst` and reads each source as (register, element).
fn inst(op: AluOp, dst: u8, chan: Chan, sources: &[(u8, Chan)]) -> AluInst {
    let mut inst = AluInst::blank(op);
    inst.set_destination(dst, false, chan, true);
    if let AluWord1::Op2(word) = &mut inst.word1 {
        word.update_pred = op.info().kind == SideEffect::PredSet;
    }
    for (index, &(register, chan)) in sources.iter().enumerate() {
        let source = Source::Gpr(register);
        inst.set_operand(index, Operand { source, relative: false, chan, neg: false, abs: false });
    }
    inst
}

/// The words of a clause of groups, with an export of R1, R2.
fn program(groups: &[Vec<AluInst>]) -> Program {
    let mut body = Vec::new();
    for group in groups {
        for (n, inst) in group.iter().enumerate() {
            let mut inst = *inst;
            inst.word0.last = n + 1 == group.len();
            body.extend(inst.encode());
        }
    }
    // ALU; EXPORT_DONE PIX0..1 from R1, end of program.
    let slots = body.len() as u32 / 2;
    let mut words = vec![2, 0xa000_0000 | (slots - 1) << 18, 1 << 15, 0x9420_0688 | 1 << 17];
    words.extend(body);
    let mut program = Program::from_words(words);
    program.gprs = 8;
    program
}

/// Runs a program on one pixel whose R0, R3, R4, ... hold `inputs`; gives R1 and R2, or `None` if the pixel was killed.
fn run(engine: &dyn Engine, program: &Program, inputs: &[[u32; 4]]) -> Option<[[u32; 4]; 2]> {
    let plane = |(n, values): (usize, &[u32; 4])| Plane {
        temp: if n == 0 { 0 } else { n as u8 + 2 },
        origin: values.map(f64::from),
        di: [0.0; 4],
        dj: [0.0; 4],
        bits: true,
    };
    let planes: Vec<Plane> = inputs.iter().enumerate().map(plane).collect();
    let mut constants = Constants::default();
    for (n, value) in constants.file.iter_mut().enumerate() {
        value[0] = n as u32;
    }
    let domain = Domain { i0: 0, j0: 0, i1: 0, j1: 0 };
    let launch = Launch { planes: &planes, ..Launch::new(program, &constants, domain) };
    let mut memory = Arrays::default();
    const UNTOUCHED: f32 = -12345.0;
    for target in 0..2 {
        memory.targets.insert(Target::Pixel(target), Picture::filled(1, 1, [UNTOUCHED; 4]));
    }
    engine.run_r700(&launch, &mut memory).unwrap();
    let results = [0, 1].map(|t| memory.targets[&Target::Pixel(t)].elements[0]);
    (results[1][3] != UNTOUCHED.to_bits()).then_some(results)
}

/// The value of a token, and whether it has 64 bits.
fn value(token: &str) -> (u64, bool) {
    if let Some(hex) = token.strip_prefix("0x") {
        return (u64::from_str_radix(hex, 16).unwrap(), hex.len() == 16);
    }
    let (negative, rest) = token.strip_prefix('-').map_or((false, token), |rest| (true, rest));
    if let Some(integer) = rest.strip_suffix('i') {
        let integer: i64 = integer.parse().unwrap();
        return (u64::from(if negative { -integer } else { integer } as u32), false);
    }
    let magnitude = match rest {
        "inf" => 0x7f80_0000,
        "nan" => 0x7fff_ffff,
        "max" => f32::MAX.to_bits(),
        "den" => 1,
        number => number.parse::<f32>().unwrap().to_bits(),
    };
    (u64::from(magnitude | if negative { 0x8000_0000 } else { 0 }), false)
}

fn op_named(name: &str) -> AluOp {
    AluOp::all().find(|op| op.name() == name).unwrap_or_else(|| panic!("no operation {name}"))
}

/// The groups that compute a vector, and the registers it starts with.
fn build(op: AluOp, operands: &[(u64, bool)]) -> (Vec<Vec<AluInst>>, Vec<[u32; 4]>) {
    let dword = |n: usize| operands.get(n).map_or(0, |v| v.0 as u32);
    // R0, R3, R4 hold low and high dword of doubles, or single operands in x.
    let wide = |n: usize| operands.get(n).map_or([0; 4], |v| [v.0 as u32, (v.0 >> 32) as u32, 0, 0]);
    let registers = [0u8, 3, 4];
    let sources = |chan: Chan| registers.map(|r| (r, chan));
    let info = op.info();
    let count = usize::from(info.operands);
    let main = match info.slots {
        Slots::One => vec![inst(op, 1, Chan::X, &sources(Chan::X)[..count])],
        Slots::Reduction if op == AluOp::Op2(Op2::Cube) => {
            // The operands are Rn.zzxy and Rn.yxzz.
            let (a, b) = ([Chan::Z, Chan::Z, Chan::X, Chan::Y], [Chan::Y, Chan::X, Chan::Z, Chan::Z]);
            (0..4).map(|c| inst(op, 1, CHANS[c], &[(0, a[c]), (0, b[c])])).collect()
        }
        Slots::Reduction => (0..4).map(|c| inst(op, 1, CHANS[c], &[(0, CHANS[c]), (3, CHANS[c])][..count])).collect(),
        Slots::Pair64 => {
            let high = if info.reads == Numbers::Float { Chan::X } else { Chan::Y };
            let mut first = inst(op, 1, Chan::X, &sources(high)[..count]);
            if op == AluOp::Op2(Op2::Ldexp64) {
                first = inst(op, 1, Chan::X, &[(0, Chan::Y), (3, Chan::X)]);
            }
            vec![first, inst(op, 1, Chan::Y, &sources(Chan::X)[..count])]
        }
        Slots::Quad64 => {
            // x, y, z read the high dwords and w the low ones; FREXP_64 reads the low one in y.
            let low = if op == AluOp::Op2(Op2::Frexp64) { 1 } else { 3 };
            let chan = |slot: usize| if slot == low { Chan::X } else { Chan::Y };
            (0..4).map(|slot| inst(op, 1, CHANS[slot], &sources(chan(slot))[..count])).collect()
        }
    };
    let inputs = match info.slots {
        Slots::Reduction if op == AluOp::Op2(Op2::Cube) => vec![[dword(0), dword(1), dword(2), 0]],
        Slots::Reduction if count == 1 => vec![[dword(0), dword(1), dword(2), dword(3)]],
        Slots::Reduction => vec![[0, 2, 4, 6].map(dword), [1, 3, 5, 7].map(dword)],
        Slots::One | Slots::Pair64 | Slots::Quad64 => vec![wide(0), wide(1), wide(2)],
    };
    // R2.x = 1 where the predicate is one; R2.y, R2.z = c[AR], c[255 + AR].
    let mut then = inst(AluOp::Op2(Op2::Mov), 2, Chan::X, &[]);
    then.set_operand(
        0,
        Operand { source: Source::from_sel(250), relative: false, chan: Chan::X, neg: false, abs: false },
    );
    then.word0.pred_sel = PredSel::One;
    let constant = |chan: Chan, base: u8| {
        let mut read = inst(AluOp::Op2(Op2::Mov), 2, chan, &[]);
        let source = Source::Constant(base);
        read.set_operand(0, Operand { source, relative: true, chan: Chan::X, neg: false, abs: false });
        read
    };
    (vec![main, vec![then, constant(Chan::Y, 0), constant(Chan::Z, 255)]], inputs)
}

fn check(engine: &dyn Engine, line: &str) -> Result<AluOp, String> {
    let (left, right) = line.split_once('=').unwrap();
    let mut left = left.split_whitespace();
    let op = op_named(left.next().unwrap());
    let operands: Vec<_> = left.map(value).collect();
    let expected: Vec<&str> = right.split_whitespace().collect();
    let (groups, inputs) = build(op, &operands);
    let results = run(engine, &program(&groups), &inputs);
    let info = op.info();
    let words = |tokens: &[&str]| tokens.iter().map(|t| value(t)).collect::<Vec<_>>();
    let Some([r1, r2]) = results else {
        return if expected.last() == Some(&"kill") { Ok(op) } else { Err("the pixel was killed".into()) };
    };
    let mut got: Vec<u64> = Vec::new();
    let mut wanted = expected.clone();
    match info.kind {
        SideEffect::PredSet => {
            let execute = wanted.pop().unwrap();
            if (execute == "execute") != (r2[0] == 1) {
                return Err(format!("the predicate is not {execute}"));
            }
        }
        SideEffect::Kill => {
            if wanted.pop() == Some("kill") {
                return Err("the pixel was not killed".into());
            }
        }
        SideEffect::Plain | SideEffect::Mova => {}
    }
    match info.slots {
        _ if info.kind == SideEffect::Mova => {
            let index = value(wanted[0]).0 as u32 as i32;
            let outside = 0x7fff_ffff;
            let first = if index >= 0 { index as u32 } else { outside };
            let second = if (-255..=0).contains(&index) { (255 + index) as u32 } else { outside };
            return if [r2[1], r2[2]] == [first, second] { Ok(op) } else { Err(format!("AR: {r2:x?}")) };
        }
        Slots::One => got.push(r1[0].into()),
        Slots::Reduction if op == AluOp::Op2(Op2::Cube) => got.extend(r1.map(u64::from)),
        Slots::Reduction => {
            if r1 != [r1[0]; 4] {
                return Err(format!("not replicated: {r1:x?}"));
            }
            got.push(r1[0].into());
        }
        Slots::Pair64 if info.kind == SideEffect::PredSet => {
            if r1[0] != r1[1] {
                return Err(format!("two results: {r1:x?}"));
            }
            got.push(r1[0].into());
        }
        Slots::Pair64 if info.writes == Numbers::Float => got.push(r1[0].into()),
        Slots::Pair64 => got.push(u64::from(r1[1]) << 32 | u64::from(r1[0])),
        Slots::Quad64 if op == AluOp::Op2(Op2::Frexp64) => {
            got.extend([u64::from(r1[0]), u64::from(r1[3]) << 32 | u64::from(r1[2])]);
        }
        Slots::Quad64 => {
            if r1[..2] != r1[2..] {
                return Err(format!("the halves differ: {r1:x?}"));
            }
            got.push(u64::from(r1[1]) << 32 | u64::from(r1[0]));
        }
    }
    let wanted: Vec<u64> = words(&wanted).into_iter().map(|(bits, _)| bits).collect();
    if got == wanted { Ok(op) } else { Err(format!("got {got:#x?}, expected {wanted:#x?}")) }
}

pub fn every_vector_gives_its_bits_and_every_operation_has_one(engine: &dyn Engine) {
    let text = crate::run_vectors("r700/run/alu.txt");
    let mut truth = None;
    let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(citation) = line.strip_prefix("truth ") {
            truth = Some(citation);
        } else if !line.is_empty() && !line.starts_with('#') {
            let truth = truth.expect("a truth above the line");
            match check(engine, line) {
                Ok(op) => drop(seen.insert(op)),
                Err(why) => wrong.push(format!("line {}: {line}: {why}; truth: {truth}", number + 1)),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // NOP computes nothing (its own test below); MOVA_GPR_INT is in docs/known-gaps-isa.md.
    let elsewhere = [AluOp::Op2(Op2::Nop), AluOp::Op2(Op2::MovaGprInt)];
    let missing: Vec<&str> =
        AluOp::all().filter(|op| !seen.contains(op) && !elsewhere.contains(op)).map(AluOp::name).collect();
    assert!(missing.is_empty(), "no vector for {missing:?}");
}

/// An operation of any unit gives the same in t as in a vector unit.
pub fn the_trans_unit_computes_the_same(engine: &dyn Engine) {
    let a = [0x4040_0000, 0xc000_0000, 0x7f80_0000, 0x0000_0007];
    for op in AluOp::all() {
        let info = op.info();
        if info.units != Units::Any || info.slots != Slots::One || info.kind != SideEffect::Plain || info.operands == 0
        {
            continue;
        }
        let sources = [(0, Chan::X), (0, Chan::Y), (0, Chan::W)];
        let sources = &sources[..usize::from(info.operands)];
        let both = vec![inst(op, 1, Chan::X, sources), inst(op, 2, Chan::X, sources)];
        let [r1, r2] = run(engine, &program(&[both]), &[a]).unwrap();
        assert_eq!(r1[0], r2[0], "{}", op.name());
    }
}

/// R700 §4.7.2, §4.9.1: input modifiers, output modifiers, clamp.
pub fn modifiers(engine: &dyn Engine) {
    let modified = |omod: Omod, clamp: bool, neg: bool, abs: bool, input: f32| {
        let mut add = inst(AluOp::Op2(Op2::Add), 1, Chan::X, &[(0, Chan::X), (0, Chan::Y)]);
        let source = Source::Gpr(0);
        add.set_operand(0, Operand { source, relative: false, chan: Chan::X, neg, abs });
        if let AluWord1::Op2(w) = &mut add.word1 {
            (w.omod, w.clamp) = (omod, clamp);
        }
        f32::from_bits(run(engine, &program(&[vec![add]]), &[[input.to_bits(), 0, 0, 0]]).unwrap()[0][0])
    };
    assert_eq!(modified(Omod::M2, false, false, false, 1.5), 3.0);
    assert_eq!(modified(Omod::M4, false, false, false, 1.5), 6.0);
    assert_eq!(modified(Omod::D2, false, false, false, 1.5), 0.75);
    assert_eq!(modified(Omod::Off, false, true, false, 1.5), -1.5);
    assert_eq!(modified(Omod::Off, false, true, true, -1.5), -1.5);
    assert_eq!(modified(Omod::Off, false, false, true, -1.5), 1.5);
    assert_eq!(modified(Omod::M4, true, false, false, 0.5), 1.0);
    assert_eq!(modified(Omod::Off, true, true, false, 0.5).to_bits(), 0);
    assert_eq!(modified(Omod::Off, true, false, false, f32::NAN).to_bits(), 0);
    assert_eq!(modified(Omod::D2, false, false, false, 1.5e-38).to_bits(), 0);
}

/// R700 §4.6.2, §9.2 NOP: PV and PS hold the previous group's results, a unit that did nothing gives none.
pub fn previous_results(engine: &dyn Engine) {
    let mov = |dst: u8, chan: Chan, sel: u16, from: Chan| {
        let mut inst = inst(AluOp::Op2(Op2::Mov), dst, chan, &[]);
        let source = Source::from_sel(sel);
        inst.set_operand(0, Operand { source, relative: false, chan: from, neg: false, abs: false });
        inst
    };
    let (pv, ps) = (254, 255);
    // x and y move, t moves (y taken twice), z does a NOP, w is left out.
    let first = vec![
        mov(3, Chan::X, 0, Chan::X),
        mov(3, Chan::Y, 0, Chan::Y),
        inst(AluOp::Op2(Op2::Nop), 3, Chan::Z, &[]),
        mov(4, Chan::Y, 0, Chan::Z),
    ];
    let second: Vec<AluInst> =
        CHANS.map(|c| mov(1, c, pv, c)).into_iter().chain([mov(2, Chan::X, ps, Chan::X)]).collect();
    let [r1, r2] = run(engine, &program(&[first, second]), &[[7, 8, 9, 10]]).unwrap();
    assert_eq!((r1, r2[0]), ([7, 8, 0, 0], 9));
}

/// R700 §4.9.2: where t and a vector unit write the same element, t wins; PV keeps the vector result.
pub fn trans_dominates(engine: &dyn Engine) {
    let first = vec![
        inst(AluOp::Op2(Op2::Mov), 1, Chan::X, &[(0, Chan::X)]),
        inst(AluOp::Op2(Op2::IntToFlt), 1, Chan::X, &[(0, Chan::Y)]),
    ];
    let [r1, _] = run(engine, &program(&[first]), &[[7, 8, 0, 0]]).unwrap();
    assert_eq!(r1[0], 8f32.to_bits());
}
