//! The R700 tables: properties of every row.

use ctm_isa::r700::formats::WORDS;
use ctm_isa::r700::ops::{
    AluOp, Available, CfAluOp, CfOp, Domain, ExportOp, MemOp, Omod, Op2, Op3, Slots, TexOp, Units, VtxOp,
};
use std::collections::BTreeSet;

#[test]
fn every_opcode_of_chapter_10_is_there() {
    // Numbers of rows: R700 §10.1-10.5, with reserved numbers left out (r700-encoding §3-5).
    assert_eq!(CfOp::ALL.len(), 26);
    assert_eq!(CfAluOp::ALL.len(), 7);
    assert_eq!(ExportOp::ALL.len(), 10);
    assert_eq!(Op2::ALL.len(), 84 + 31);
    assert_eq!(Op3::ALL.len(), 16 + 3 + 3);
    assert_eq!(TexOp::ALL.len(), 31);
    assert_eq!(VtxOp::ALL.len(), 3);
    assert_eq!(MemOp::ALL.len(), 5);
}

#[test]
fn names_and_listing_names_are_unambiguous() {
    let mut names = BTreeSet::new();
    for op in AluOp::all() {
        assert!(names.insert(op.name()), "{} twice", op.name());
        if op.listing() != op.name() {
            assert!(names.insert(op.listing()), "{} twice", op.listing());
        }
        assert!(!op.cite().is_empty() && !op.doc().is_empty());
    }
}

#[test]
fn doubles_take_more_slots_and_need_a_chip() {
    for op in AluOp::all() {
        let info = op.info();
        let wide = matches!(info.slots, Slots::Pair64 | Slots::Quad64);
        assert_eq!(wide, info.available == Available::Doubles, "{}", op.name());
        assert_eq!(wide, op.name().contains("64"), "{}", op.name());
        assert_eq!(wide, info.reads == Domain::Double || info.writes == Domain::Double, "{}", op.name());
        if info.slots != Slots::One {
            assert_eq!(info.units, Units::Vector, "{}", op.name());
        }
        assert_eq!(info.operands == 3, matches!(op, AluOp::Op3(_)), "{}", op.name());
    }
}

#[test]
fn operations_without_their_power_of_two_are_those_of_the_name_before_it() {
    for op in Op3::ALL {
        let name = ["_M2", "_M4", "_D2"].iter().find_map(|suffix| op.name().strip_suffix(suffix));
        assert_eq!(op.unscaled().name(), name.unwrap_or_else(|| op.name()));
        assert_eq!(op.unscaled().info().scale, Omod::Off);
    }
}

#[test]
fn op3_numbers_cannot_be_mistaken_for_op2() {
    // R700 §4.5: the two forms are distinguished by bits 17:15, the upper bits of either field.
    for op in Op3::ALL {
        assert!(op.code() >> 2 != 0);
    }
    for op in Op2::ALL {
        assert!(op.code() < 0x100);
    }
}

#[test]
fn every_format_names_every_bit() {
    for word in WORDS {
        let fields: u32 = word.fields.iter().map(|f| f.mask()).sum();
        assert_eq!(fields | word.reserved_mask(), u32::MAX, "{}", word.name);
    }
}
