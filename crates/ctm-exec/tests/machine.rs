//! Whole programs: instructions and lanes in combination.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Arrays, Plane, Sampler};
use ctm_exec::{Domain, FaultKind, Position};
use ctm_isa::x1k::inst::Source;
use ctm_isa::x1k::ops::{
    AlphaOp, AluResultSel, BOp, CompareOp, FcOp, Imod, InstType, PredSel, RgbOp, Sel, Swizzle, TexOp, UmrtTarget,
};
use ctm_testkit::x1k::build::{Build, Setup, add, at, c, copy, fc, op, out, program, r, tex, to};

/// An output of the size of the default domain, all -1.
fn memory() -> Arrays {
    let mut memory = Arrays::default();
    memory.outputs[0] = Some(Picture::filled(4, 4, [-1.0; 4]));
    memory
}

/// Sets predicate bit R for columns up to `limit`.
fn columns_below(limit: u8) -> ctm_isa::x1k::inst::AluInst {
    add(r(0), c(limit)).with(|alu| {
        (alu.rgba.rgb_imod_c, alu.rgba.alpha_imod_c) = (Imod::Neg, Imod::Neg);
        alu.cmn.rgb_omask = 1;
        alu.rgb.target = CompareOp::Less.code() as u8;
    })
}

fn position(i: u32, j: u32) -> Option<Position> {
    Some(Position { i, j })
}

/// MDH and MDV: A from the top-left, C from the top-right or bottom-left processor of the quad (x1k-encoding §1.5).
#[test]
fn quad_operations() {
    // r1 = (i, j, i + 4j, i + 4j), then B = -1: the differences along a row and along a column, the same in the whole quad.
    let mut setup = Setup::default();
    let plane = Plane { temp: 1, origin: [0.0; 4], di: [1.0, 0.0, 1.0, 1.0], dj: [0.0, 1.0, 4.0, 4.0], bits: false };
    setup.planes = vec![plane];
    for (rgb, alpha, expected) in [
        (RgbOp::Mdh, AlphaOp::Mdh, [1.0, 0.0, 1.0, 1.0]),
        (RgbOp::Mdv, AlphaOp::Mdv, [0.0, 1.0, 4.0, 4.0]),
        (RgbOp::Mdh, AlphaOp::Mdv, [1.0, 0.0, 1.0, 4.0]),
    ] {
        let mut alu = op(rgb, alpha, &[r(1), r(1), r(1)]);
        [alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b] = [Swizzle::One; 3];
        alu.alpha.swiz_b = Swizzle::One;
        (alu.rgb.imod_b, alu.alpha.imod_b) = (Imod::Neg, Imod::Neg);
        // Select and swizzle of A and C are ignored.
        (alu.rgb.red_swiz_a, alu.rgba.red_swiz_c) = (Swizzle::Zero, Swizzle::B);
        (alu.rgb.sel_a, alu.rgba.rgb_sel_c) = (Sel::Srcp, Sel::Src1);
        let mut memory = memory();
        setup.run(&program(vec![out(alu).words()]), &mut memory).unwrap();
        for (x, y) in [(0, 0), (1, 0), (2, 1), (3, 3)] {
            assert_eq!(at(&memory, x, y), expected, "{rgb:?} {alpha:?} ({x}, {y})");
        }
        // Their input modifiers are honoured: -|A| * -1 + |C| is the sum.
        (alu.rgb.imod_a, alu.rgba.rgb_imod_c) = (Imod::Nab, Imod::Abs);
        setup.run(&program(vec![out(alu).words()]), &mut memory).unwrap();
        let red = if rgb == RgbOp::Mdh { 2.0 + 3.0 } else { 2.0 + 2.0 };
        assert_eq!(at(&memory, 3, 1)[0], red, "{rgb:?}");
    }
}

/// Both halves read before either writes (CTM §3.3): a swap in one instruction.
#[test]
fn halves_read_before_they_write() {
    let swap = to(copy(r(1)), 1).with(|alu| {
        [alu.rgb.red_swiz_a, alu.rgb.green_swiz_a, alu.rgb.blue_swiz_a] = [Swizzle::A, Swizzle::R, Swizzle::G];
        [alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b] = [Swizzle::A, Swizzle::R, Swizzle::G];
        (alu.alpha.swiz_a, alu.alpha.swiz_b) = (Swizzle::B, Swizzle::B);
    });
    let mut memory = memory();
    let words = vec![to(copy(c(8)), 1).words(), swap.words(), out(copy(r(1))).words()];
    Setup::default().run(&program(words), &mut memory).unwrap();
    assert_eq!(at(&memory, 2, 2), [8.75, 8.0, 8.25, 8.5]);
}

/// The Guide's example (§3.3.9): "if the predicate is 0x7, your temporary write mask is 0xf and your predicate write mask is 0xf, you will
/// write only RGB components to the temporary register, but you will write to all 4 predicate bits".
#[test]
fn the_old_predicate_masks_the_temporary_only() {
    // c0 = (0, 0.25, 0.5, 0.75): predicates r clear, others set by NOT_EQUAL; inverted sense below.
    let set = copy(c(0)).with(|alu| {
        (alu.cmn.rgb_omask, alu.cmn.alpha_omask) = (7, true);
        (alu.rgb.target, alu.alpha.target) = (CompareOp::GreaterEqual.code() as u8, CompareOp::Less.code() as u8);
    });
    let both = to(copy(c(9)), 1).with(|alu| {
        (alu.cmn.rgb_pred_sel, alu.cmn.alpha_pred_sel) = (PredSel::Rgba, PredSel::Rgba);
        (alu.cmn.rgb_omask, alu.cmn.alpha_omask) = (7, true);
        (alu.rgb.target, alu.alpha.target) = (CompareOp::Less.code() as u8, CompareOp::GreaterEqual.code() as u8);
    });
    let after = to(copy(c(20)), 2).with(|alu| {
        (alu.cmn.rgb_pred_sel, alu.cmn.alpha_pred_sel) = (PredSel::Rgba, PredSel::Rgba);
    });
    let mut words = vec![set.words(), both.words(), after.words(), out(copy(r(1))).words()];
    let mut memory = memory();
    Setup::default().run(&program(words.clone()), &mut memory).unwrap();
    assert_eq!(at(&memory, 0, 0), [9.0, 9.25, 9.5, 0.0]);
    words[3] = out(copy(r(2))).words();
    Setup::default().run(&program(words), &mut memory).unwrap();
    assert_eq!(at(&memory, 0, 0), [0.0, 0.0, 0.0, 20.75]);
}

/// The ALU result outlives other ALU and TEX instructions, and no flow-control instruction (CTM §3.3.10).
#[test]
fn the_alu_result_lasts_until_flow_control() {
    let test = copy(c(1)).with(|alu| {
        alu.rgb.alu_wmask = true;
        (alu.cmn.alu_result_op, alu.cmn.alu_result_sel) = (CompareOp::NotEqual, AluResultSel::Alpha);
    });
    let nothing = fc(FcOp::Jump, 0x00, 0);
    let skip = fc(FcOp::Jump, 0xf0, 5);
    let run = |second: [u32; 6]| {
        let words = vec![
            test.words(),
            to(copy(c(3)), 1).words(),
            second,
            skip.words(),
            out(copy(c(4))).words(),
            copy(c(0)).with(|alu| alu.cmn.kind = InstType::Output).words(),
        ];
        let mut memory = memory();
        Setup::default().run(&program(words), &mut memory).unwrap();
        at(&memory, 1, 1)[0]
    };
    assert_eq!(run(tex(TexOp::Nop, 0, 0, 0).words()), -1.0);
    assert_eq!(run(nothing.words()), 4.0);
}

/// WRITE_INACTIVE ignores the processor mask of flow control, for ALU and texture results (CTM §3.3.6).
#[test]
fn write_inactive() {
    // Columns 0 and 1 stay in the branch; in it r1 = c5 for them, r2 = c6 and r3 = input 0 for all.
    let mut branch = fc(FcOp::Jump, 0x33, 6);
    branch.cmn.rgb_pred_sel = PredSel::Rrrr;
    branch.inst.b_op0 = BOp::Incr;
    let mut end = fc(FcOp::Jump, 0x00, 0);
    (end.inst.b_op0, end.inst.b_pop_cnt, end.inst.jump_any) = (BOp::Decr, 1, true);
    for (register, inside, outside) in [(1, 5.0, 0.0), (2, 6.0, 6.0), (3, 42.0, 42.0)] {
        let words = vec![
            columns_below(2).words(),
            branch.words(),
            to(copy(c(5)), 1).words(),
            to(copy(c(6)), 2).with(|alu| alu.cmn.write_inactive = true).words(),
            tex(TexOp::Lookup, 0, 0, 3).with(|tex| tex.cmn.write_inactive = true).words(),
            end.words(),
            out(copy(r(register))).words(),
        ];
        let mut memory = memory();
        memory.inputs[0] = Some((Picture::filled(2, 2, [42.0; 4]), Sampler::default()));
        Setup::default().run(&program(words), &mut memory).unwrap();
        assert_eq!([at(&memory, 1, 0)[0], at(&memory, 2, 0)[0]], [inside, outside], "r{register}");
    }
}

/// A channel that is written more than once is sent with its last value; channels never written are left alone (CTM §3.3.8).
#[test]
fn cached_outputs_keep_the_last_value() {
    let words = vec![
        out(copy(c(1))).with(|alu| alu.cmn.rgb_omask = 0b011).words(),
        out(copy(c(2))).with(|alu| (alu.cmn.rgb_omask, alu.cmn.alpha_omask) = (0b010, false)).words(),
    ];
    let mut memory = memory();
    let outcome = Setup::default().run(&program(words), &mut memory).unwrap();
    assert_eq!(at(&memory, 3, 2), [1.0, 2.25, -1.0, 1.75]);
    assert_eq!((outcome.counters.writes, outcome.counters.write_bytes), (16, 16 * 12));
}

/// aL is added to sources and destinations (CTM §3.3.1, §3.3.7).
#[test]
fn relative_addresses() {
    let relative = |index, is_const| {
        if is_const { Source::Const { index, relative: true } } else { Source::Temp { index, relative: true } }
    };
    // Four turns with aL = 2, 4, 6, 8: r[10 + aL] = c[20 + aL]; then r1 += r[10 + aL].
    let words = vec![
        fc(FcOp::Loop, 0x00, 4).words(),
        to(copy(relative(20, true)), 10).with(|alu| (alu.rgba.addrd_rel, alu.alpha.addrd_rel) = (true, true)).words(),
        to(add(r(1), relative(10, false)), 1).words(),
        fc(FcOp::EndLoop, 0xff, 1).with(|fc| fc.inst.jump_any = true).words(),
        out(add(r(1), r(18))).words(),
    ];
    let mut setup = Setup::default();
    setup.constants.int[0] = [4, 2, 2, 0];
    let mut memory = memory();
    setup.run(&program(words), &mut memory).unwrap();
    assert_eq!(at(&memory, 0, 3)[0], 22.0 + 24.0 + 26.0 + 28.0 + 28.0);
}

#[test]
fn relative_addresses_beyond_the_file_are_faults() {
    let word = |alu: ctm_isa::x1k::inst::AluInst| {
        program(vec![fc(FcOp::Loop, 0x00, 3).words(), alu.words(), fc(FcOp::EndLoop, 0x00, 1).words()])
    };
    let mut setup = Setup::default();
    setup.constants.int[0] = [1, 200, 0, 0];
    let source = |index, is_const| {
        if is_const { Source::Const { index, relative: true } } else { Source::Temp { index, relative: true } }
    };
    for (alu, file, index, limit) in [
        (to(copy(source(100, true)), 1), "constant", 300, 256),
        (to(copy(source(0, false)), 1), "temporary", 200, 128),
        (to(copy(c(1)), 1).with(|alu| alu.alpha.addrd_rel = true), "temporary", 201, 128),
    ] {
        let fault = setup.run(&word(alu), &mut memory()).unwrap_err();
        assert_eq!(fault.kind, FaultKind::RelativeOutOfRange { file, index, limit });
        assert_eq!((fault.pc, fault.position), (1, position(0, 0)));
    }
    // Operands of unstored results are not read.
    let idle = copy(source(100, true));
    setup.run(&word(idle), &mut memory()).unwrap();
    // No lane executes it: no fault.
    let words = vec![
        fc(FcOp::Loop, 0x00, 5).words(),
        fc(FcOp::Jump, 0xff, 2).with(|fc| fc.inst.b_else = true).words(),
        to(copy(source(100, true)), 1).words(),
        fc(FcOp::Jump, 0x00, 0).with(|fc| (fc.inst.b_op0, fc.inst.b_pop_cnt) = (BOp::Decr, 1)).words(),
        fc(FcOp::EndLoop, 0x00, 1).words(),
        out(copy(c(1))).words(),
    ];
    setup.run(&program(words), &mut memory()).unwrap();
}

/// KILL uncovers: the processor goes on, and sends nothing (CTM §3.4.1).
#[test]
fn killed_processors_send_nothing() {
    // r1 = (i - 2, ...): columns 0 and 1 are killed.
    let words = vec![
        to(add(r(0), c(2)), 1).with(|alu| alu.rgba.rgb_imod_c = Imod::Neg).words(),
        tex(TexOp::KillLt0, 0, 1, 0).with(|tex| (tex.cmn.rgb_wmask, tex.cmn.alpha_wmask) = (1, false)).words(),
        out(copy(c(7))).words(),
    ];
    let mut memory = memory();
    let outcome = Setup::default().run(&program(words), &mut memory).unwrap();
    assert_eq!([0, 1, 2, 3].map(|x| at(&memory, x, 1)[0]), [-1.0, -1.0, 7.0, 7.0]);
    // The first two instructions find 16 processors, the last one 8.
    assert_eq!((outcome.counters.active_lanes, outcome.counters.total_lanes), (40, 48));
    assert_eq!((outcome.counters.processors, outcome.counters.writes), (16, 8));
}

/// Predicates limit the channels that KILL examines (CTM §3.4.1).
#[test]
fn predicates_limit_what_kills() {
    // r1 = -1 everywhere; predicate bit R holds in columns 0 and 1.
    let words = vec![
        columns_below(2).words(),
        to(copy(c(1)), 1).with(|alu| (alu.rgb.imod_a, alu.rgb.imod_b) = (Imod::Neg, Imod::Neg)).words(),
        tex(TexOp::KillLt0, 0, 1, 0)
            .with(|tex| {
                (tex.cmn.rgb_wmask, tex.cmn.alpha_wmask) = (7, false);
                tex.cmn.rgb_pred_sel = PredSel::Rrrr;
            })
            .words(),
        out(copy(c(7))).words(),
    ];
    let mut memory = memory();
    Setup::default().run(&program(words), &mut memory).unwrap();
    assert_eq!([0, 1, 2, 3].map(|x| at(&memory, x, 1)[0]), [-1.0, -1.0, 7.0, 7.0]);
}

/// Uncovered processors run along: quad operations see their results (CTM §3.3.6).
#[test]
fn uncovered_processors_run_along() {
    // Column 0 is outside the domain; the right processor of its quads reads i + 1 = 1 from it.
    let setup = Setup { domain: Domain { i0: 1, j0: 0, i1: 3, j1: 1 }, ..Setup::default() };
    let mut quad = op(RgbOp::Mdh, AlphaOp::Mdh, &[r(1), r(1), r(1)]);
    [quad.rgb.red_swiz_b, quad.rgb.green_swiz_b, quad.rgb.blue_swiz_b] = [Swizzle::One; 3];
    let words = vec![to(add(r(0), c(1)), 1).words(), out(quad).words()];
    let mut memory = memory();
    setup.run(&program(words), &mut memory).unwrap();
    assert_eq!([0, 1, 2, 3].map(|x| at(&memory, x, 0)[0]), [-1.0, 1.0 + 2.0, 3.0 + 4.0, 3.0 + 4.0]);
}

/// ... and have a vote, unless IGNORE_UNCOVERED (CTM §3.3.6): here the only one who wants to stay is outside the domain.
#[test]
fn uncovered_processors_vote() {
    for (ignore, expected) in [(false, 7.0), (true, -1.0)] {
        let setup = Setup { domain: Domain { i0: 1, j0: 0, i1: 3, j1: 1 }, ..Setup::default() };
        let mut jump = fc(FcOp::Jump, 0x33, 3);
        (jump.cmn.rgb_pred_sel, jump.inst.ignore_uncovered) = (PredSel::Rrrr, ignore);
        let words = vec![
            columns_below(1).words(),
            jump.words(),
            out(copy(c(7))).words(),
            copy(c(0)).with(|alu| alu.cmn.kind = InstType::Output).words(),
        ];
        let mut memory = memory();
        setup.run(&program(words), &mut memory).unwrap();
        assert_eq!(at(&memory, 2, 1)[0], expected, "ignore {ignore}");
    }
}

/// Predicate bits are set for running processors, whatever predicate the instruction itself has (CTM §3.3.9).
#[test]
fn predicate_writes_are_masked_by_flow_control_alone() {
    let set = |channel: u8, op: CompareOp| {
        copy(c(1)).with(move |alu| (alu.cmn.rgb_omask, alu.rgb.target) = (1 << channel, op.code() as u8))
    };
    // Bit G set everywhere; cleared by an instruction predicated on bit R (columns 0 and 1); then cleared, and B set, in a branch.
    let mut branch = fc(FcOp::Jump, 0x33, 9);
    (branch.cmn.rgb_pred_sel, branch.inst.b_op0) = (PredSel::Rrrr, BOp::Incr);
    let mut end = fc(FcOp::Jump, 0x00, 0);
    (end.inst.b_op0, end.inst.b_pop_cnt, end.inst.jump_any) = (BOp::Decr, 1, true);
    let words = vec![
        columns_below(2).words(),
        set(1, CompareOp::NotEqual).words(),
        set(1, CompareOp::Equal).with(|alu| alu.cmn.rgb_pred_sel = PredSel::Rrrr).words(),
        branch.words(),
        set(2, CompareOp::NotEqual).words(),
        end.words(),
        out(copy(c(7))).with(|alu| alu.cmn.rgb_pred_sel = PredSel::Rgba).words(),
    ];
    let mut memory = memory();
    Setup::default().run(&program(words), &mut memory).unwrap();
    assert_eq!(at(&memory, 1, 1), [7.0, -1.0, 7.5, 7.75]);
    assert_eq!(at(&memory, 2, 1), [-1.0, -1.0, -1.0, 7.75]);
}

/// The ALU result is set for running processors only: one that B_ELSE activates in the next instruction has none (CTM §3.3.10).
#[test]
fn inactive_processors_get_no_alu_result() {
    // In the branch (columns 0 and 1) the ALU result is set; B_ELSE with JUMP_FUNC f0 then asks the others, who stay.
    let mut branch = fc(FcOp::Jump, 0x33, 5);
    (branch.cmn.rgb_pred_sel, branch.inst.b_op0) = (PredSel::Rrrr, BOp::Incr);
    let result = copy(c(1)).with(|alu| (alu.rgb.alu_wmask, alu.cmn.alu_result_op) = (true, CompareOp::NotEqual));
    let words = vec![
        columns_below(2).words(),
        branch.words(),
        result.words(),
        fc(FcOp::Jump, 0xf0, 5).with(|fc| fc.inst.b_else = true).words(),
        out(copy(c(7))).words(),
        copy(c(0)).with(|alu| alu.cmn.kind = InstType::Output).words(),
    ];
    let mut memory = memory();
    Setup::default().run(&program(words), &mut memory).unwrap();
    assert_eq!([1, 2].map(|x| at(&memory, x, 1)[0]), [-1.0, 7.0]);
}

/// Write masks and predicates limit the writes of a lookup, RGB's for RGB and alpha's for alpha (CTM §3.4).
#[test]
fn masks_and_predicates_limit_lookups() {
    let words = vec![
        columns_below(2).words(),
        to(copy(c(3)), 1).words(),
        tex(TexOp::Lookup, 0, 0, 1)
            .with(|tex| {
                tex.cmn.rgb_wmask = 0b011;
                (tex.cmn.rgb_pred_sel, tex.cmn.alpha_pred_sel) = (PredSel::Rrrr, PredSel::Rrrr);
                tex.cmn.alpha_pred_inv = true;
            })
            .words(),
        out(copy(r(1))).words(),
    ];
    let mut memory = memory();
    memory.inputs[0] = Some((Picture::filled(4, 4, [42.0, 43.0, 44.0, 45.0]), Sampler::default()));
    Setup::default().run(&program(words), &mut memory).unwrap();
    assert_eq!(at(&memory, 1, 1), [42.0, 43.0, 3.5, 3.75]);
    assert_eq!(at(&memory, 2, 1), [3.0, 3.25, 3.5, 45.0]);
}

/// IGNORE_UNCOVERED keeps uncovered processors out of lookups (CTM §3.3.6): the quad difference sees the old value of a killed one.
#[test]
fn ignore_uncovered_lookups() {
    for (ignore, expected) in [(false, 0.0), (true, 42.0)] {
        let words = vec![
            to(add(r(0), c(1)), 1).with(|alu| alu.rgba.rgb_imod_c = Imod::Neg).words(),
            tex(TexOp::KillLt0, 0, 1, 0).with(|tex| (tex.cmn.rgb_wmask, tex.cmn.alpha_wmask) = (1, false)).words(),
            tex(TexOp::Lookup, 0, 0, 2).with(|tex| tex.inst.ignore_uncovered = ignore).words(),
            out(op(RgbOp::Mdh, AlphaOp::Mdh, &[r(2), r(2)]))
                .with(|alu| {
                    [alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b] = [Swizzle::One; 3];
                    alu.rgb.imod_b = Imod::Neg;
                })
                .words(),
        ];
        let mut memory = memory();
        memory.inputs[0] = Some((Picture::filled(1, 1, [42.0; 4]), Sampler::default()));
        Setup::default().run(&program(words), &mut memory).unwrap();
        assert_eq!(at(&memory, 1, 0)[0], expected);
    }
}

/// The conditional value: W_OMASK of an OUTPUT instruction in a program that exports one.
#[test]
fn conditional_values() {
    let words = vec![
        columns_below(2).words(),
        copy(c(5))
            .with(|alu| {
                alu.cmn.kind = InstType::Output;
                alu.alpha.w_omask = true;
                alu.cmn.alpha_pred_sel = PredSel::Rrrr;
            })
            .words(),
    ];
    let mut exporting = program(words);
    exporting.conditional_value = true;
    let mut memory = memory();
    Setup::default().run(&exporting, &mut memory).unwrap();
    assert_eq!(memory.conditional_values.len(), 8);
    let (first, value) = memory.conditional_values[0];
    assert_eq!((Some(first), f32::from_bits(value)), (position(0, 0), 5.75));
    exporting.conditional_value = false;
    memory.conditional_values.clear();
    Setup::default().run(&exporting, &mut memory).unwrap();
    assert!(memory.conditional_values.is_empty());
}

/// An uncached write of `value` at the index (green, blue) of `index`.
fn umrt(index: Source, target: UmrtTarget) -> ctm_isa::x1k::inst::AluInst {
    out(copy(index)).with(|alu| {
        alu.rgb.target = target.code() as u8;
        (alu.alpha.swiz_a, alu.alpha.swiz_b) = (Swizzle::Zero, Swizzle::Zero);
        let reads = [Swizzle::B, Swizzle::R, Swizzle::G];
        [alu.rgb.red_swiz_a, alu.rgb.green_swiz_a, alu.rgb.blue_swiz_a] = reads;
        [alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b] = reads;
    })
}

/// A position plane with a third channel: r0 = (i, j, 10 + i + 4j, 0).
fn numbered() -> Setup {
    let plane = Plane {
        temp: 0,
        origin: [0.0, 0.0, 10.0, 0.0],
        di: [1.0, 0.0, 1.0, 0.0],
        dj: [0.0, 1.0, 4.0, 0.0],
        bits: false,
    };
    Setup { planes: vec![plane], ..Setup::default() }
}

/// UMRT (CTM §3.3.8): every processor its own index, or all of a group the first one's; in lane order.
#[test]
fn uncached_writes() {
    for target in UmrtTarget::ALL {
        let mut program = program(vec![umrt(r(0), *target).words()]);
        program.uncached = true;
        for group in [4, 16] {
            let mut memory = memory();
            let setup = Setup { group, ..numbered() };
            let outcome = setup.run(&program, &mut memory).unwrap();
            assert_eq!((outcome.counters.writes, outcome.counters.write_bytes), (16, 64));
            let written: Vec<f32> = (0..16).map(|n| at(&memory, n % 4, n / 4)[0]).collect();
            match target {
                UmrtTarget::PerProcessorIdx | UmrtTarget::PerProcessorIdxAcquire => {
                    assert_eq!(written, (0..16).map(|n| 10.0 + n as f32).collect::<Vec<_>>());
                }
                UmrtTarget::SameIdx | UmrtTarget::SameIdxAcquire => {
                    // The last lane of a group wins; one group of 16, or one per quad at its top-left index.
                    let expected = |n: u32| match (group, n) {
                        (16, 0) => 25.0,
                        (4, 0) => 15.0,
                        (4, 2) => 17.0,
                        (4, 8) => 23.0,
                        (4, 10) => 25.0,
                        _ => -1.0,
                    };
                    assert_eq!(written, (0..16).map(expected).collect::<Vec<_>>(), "group {group}");
                }
            }
        }
    }
}

#[test]
fn uncached_writes_with_some_channels_or_predicates() {
    let mut setup = Setup { checks: true, ..numbered() };
    let mut masked = program(vec![
        umrt(r(0), UmrtTarget::PerProcessorIdx).with(|alu| alu.cmn.rgb_omask = 3).words(),
        umrt(r(0), UmrtTarget::PerProcessorIdx)
            .with(|alu| (alu.cmn.rgb_omask, alu.cmn.alpha_omask) = (0, false))
            .words(),
    ]);
    masked.uncached = true;
    let mut memory = memory();
    let outcome = setup.run(&masked, &mut memory).unwrap();
    assert_eq!(outcome.counters.writes, 0);
    assert_eq!(outcome.findings.iter().map(|f| (f.rule, f.pc)).collect::<Vec<_>>(), [("umrt-partial-mask", 0)]);
    setup.checks = false;
    let mut predicated = program(vec![
        columns_below(2).words(),
        umrt(r(0), UmrtTarget::PerProcessorIdx)
            .with(|alu| (alu.cmn.rgb_pred_sel, alu.cmn.alpha_pred_sel) = (PredSel::Rrrr, PredSel::Rrrr))
            .words(),
    ]);
    predicated.uncached = true;
    let outcome = setup.run(&predicated, &mut memory).unwrap();
    assert_eq!(outcome.counters.writes, 8);
}

/// A later uncached read sees an earlier uncached write, of this and of earlier groups (CTM §3.4.1).
#[test]
fn uncached_reads_see_uncached_writes() {
    // Each processor writes its number, reads (0, 0), which the first one has written, and adds it at its own place.
    let words = vec![
        umrt(r(0), UmrtTarget::PerProcessorIdxAcquire).words(),
        tex(TexOp::LookupUncached, 3, 1, 2).words(),
        to(add(r(0), r(2)), 0)
            .with(|alu| {
                (alu.cmn.rgb_wmask, alu.cmn.alpha_wmask) = (4, false);
                alu.rgba.blue_swiz_c = Swizzle::R;
            })
            .words(),
        umrt(r(0), UmrtTarget::PerProcessorIdx).words(),
    ];
    let mut program = program(words);
    program.uncached = true;
    let mut memory = memory();
    memory.feedback = Some(3);
    let setup = Setup { group: 4, ..numbered() };
    setup.run(&program, &mut memory).unwrap();
    // The first group reads 10, before it writes 20 there; later ones read 20.
    assert_eq!([at(&memory, 0, 0)[0], at(&memory, 1, 0)[0], at(&memory, 2, 0)[0]], [20.0, 21.0, 32.0]);
}

#[test]
fn uncached_writes_outside_the_output_are_faults() {
    let mut setup = numbered();
    let mut program = program(vec![umrt(r(0), UmrtTarget::PerProcessorIdx).words()]);
    program.uncached = true;
    setup.domain = Domain { i0: 0, j0: 0, i1: 7, j1: 0 };
    let fault = setup.run(&program, &mut memory()).unwrap_err();
    assert_eq!((fault.code(), fault.pc, fault.position), ("memory", 0, position(4, 0)));
    setup.planes[0].origin[0] = -1.0;
    let fault = setup.run(&program, &mut memory()).unwrap_err();
    assert!(fault.to_string().contains("the index (-1, 0)"), "{fault}");
    setup.planes[0].origin[0] = f64::NAN;
    assert_eq!(setup.run(&program, &mut memory()).unwrap_err().code(), "memory");
}
