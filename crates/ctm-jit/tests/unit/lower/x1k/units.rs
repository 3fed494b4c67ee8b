//! Tests of `src/lower/x1k/units.rs`.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use super::*;
use crate::ir::x1k::{End, Target};
use crate::lower::x1k::lower;
use ctm_exec::x1k::Constants;
use ctm_isa::x1k::{Inst, Program};

/// What an instruction with these two operations becomes.
fn ops(rgb: RgbOp, alpha: AlphaOp, calls: bool) -> Vec<Op> {
    let mut program = ctm_isa::x1k::text::assemble("mad o0, r0, r1, r2").program.unwrap();
    let Ok(Inst::Alu(mut inst)) = Inst::decode(&program.words[0]) else { panic!("no ALU instruction") };
    (inst.rgba.op, inst.alpha.op) = (rgb, alpha);
    program = Program { words: vec![Inst::Alu(inst).encode()], ..program };
    let code = lower(&program, &Constants::default(), false, calls).unwrap();
    assert!(code.blocks.iter().all(|block| block.end != End::Next(Target::Reference)), "{rgb:?}, {alpha:?}");
    code.blocks.into_iter().flat_map(|block| block.ops).collect()
}

fn called(ops: &[Op]) -> Vec<UnitOp> {
    ops.iter()
        .filter_map(|op| if let Op::Unit(Unit::Reference { op, .. }, _) = op { Some(*op) } else { None })
        .collect()
}

#[test]
fn every_operation_of_one_channel_can_be_a_call() {
    let mut seen = 0;
    for &rgb in RgbOp::ALL {
        let found = called(&ops(rgb, AlphaOp::Mad, true));
        assert_eq!(found.contains(&UnitOp::Rgb(rgb)), is_single(UnitOp::Rgb(rgb)), "{rgb:?}");
        seen += usize::from(is_single(UnitOp::Rgb(rgb)));
    }
    for &alpha in AlphaOp::ALL {
        let found = called(&ops(RgbOp::Mad, alpha, true));
        let may = is_single(UnitOp::Alpha(alpha)) || alpha.is_transcendental();
        assert_eq!(found.contains(&UnitOp::Alpha(alpha)), may, "{alpha:?}");
        seen += usize::from(may);
    }
    assert!(seen >= 18, "{seen}");
}

#[test]
fn what_back_ends_have_code_for_is_no_call() {
    for &rgb in RgbOp::ALL {
        for &alpha in AlphaOp::ALL {
            assert_eq!(called(&ops(rgb, alpha, false)), [], "{rgb:?}, {alpha:?}");
        }
    }
}
