//! ALU opcodes of the Evergreen chips, which followed R700: compilers emit them into R700 programs by mistake.
//!
//! The names and numbers are those that the open drivers for both families use; no manual of ours has them.

use crate::r700::ops::Op2;

/// Number and name of the two-operand operations whose number has no meaning on R700.
#[rustfmt::skip]
const OP2: &[(u32, &str)] = &[
    (0x54, "GROUP_BARRIER"), (0x55, "GROUP_SEQ_BEGIN"), (0x56, "GROUP_SEQ_END"), (0x57, "SET_MODE"),
    (0x58, "SET_CF_IDX0"), (0x59, "SET_CF_IDX1"), (0x5a, "SET_LDS_SIZE"),
    (0x81, "EXP_IEEE"), (0x82, "LOG_CLAMPED"), (0x83, "LOG_IEEE"), (0x84, "RECIP_CLAMPED"), (0x85, "RECIP_FF"),
    (0x86, "RECIP_IEEE"), (0x87, "RECIPSQRT_CLAMPED"), (0x88, "RECIPSQRT_FF"), (0x89, "RECIPSQRT_IEEE"),
    (0x8a, "SQRT_IEEE"), (0x8d, "SIN"), (0x8e, "COS"), (0x8f, "MULLO_INT"), (0x90, "MULHI_INT"),
    (0x91, "MULLO_UINT"), (0x92, "MULHI_UINT"), (0x93, "RECIP_INT"), (0x94, "RECIP_UINT"), (0x95, "RECIP_64"),
    (0x96, "RECIP_CLAMPED_64"), (0x97, "RECIPSQRT_64"), (0x98, "RECIPSQRT_CLAMPED_64"), (0x99, "SQRT_64"),
    (0x9a, "FLT_TO_UINT"), (0x9b, "INT_TO_FLT"), (0x9c, "UINT_TO_FLT"),
    (0xb1, "FLT_TO_INT_FLOOR"), (0xbe, "DOT4"), (0xbf, "DOT4_IEEE"), (0xc0, "CUBE"), (0xc1, "MAX4"),
    (0xcc, "MOVA_INT"), (0xd6, "INTERP_XY"), (0xd7, "INTERP_ZW"), (0xd8, "INTERP_X"), (0xd9, "INTERP_Z"),
    (0xe0, "INTERP_LOAD_P0"),
];

/// Source selects that read the data share and clocks on Evergreen (r700-encoding §6).
const SELECTS: std::ops::RangeInclusive<u16> = 219..=234;

/// The name of an Evergreen opcode, and its number on R700 if it is there.
pub(super) struct Foreign {
    pub(super) name: &'static str,
    pub(super) here: Option<u32>,
}

/// The Evergreen operation that an unassigned R700 number means.
pub(super) fn op2(code: u32) -> Option<Foreign> {
    let &(_, name) = OP2.iter().find(|row| row.0 == code)?;
    Some(Foreign { name, here: Op2::from_name(name).map(Op2::code) })
}

/// Whether a source select is one of Evergreen's.
pub(super) fn is_select(sel: u16) -> bool {
    SELECTS.contains(&sel)
}
