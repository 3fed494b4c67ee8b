//! The numbers of the enumerations of `ctm.h`, as the library takes and returns them. Enumerations that are Rust types of their own
//! (`ctm_status`, `ctm_engine`, `ctm_arena`) are where those types are.
#![allow(missing_docs, reason = "each is named as its enumerator in ctm.h, without CTM_")]

use std::ffi::c_int;

pub const NOTE: c_int = 0;
pub const WARNING: c_int = 1;
pub const ERROR: c_int = 2;

pub const FORM_ELF: c_int = 0;
pub const FORM_HEX: c_int = 1;
pub const FORM_BIN: c_int = 2;

pub const ISA_X1K: c_int = 0;
pub const ISA_R700: c_int = 1;

pub const INPUT: c_int = 0;
pub const OUTPUT: c_int = 1;
pub const FLOAT_CONSTANT: c_int = 2;
pub const INT_CONSTANT: c_int = 3;
pub const BOOL_CONSTANT: c_int = 4;

pub const NEAREST: c_int = 0;
pub const LINEAR: c_int = 1;

pub const CLAMP: c_int = 0;
pub const REPEAT: c_int = 1;
pub const MIRROR: c_int = 2;
pub const BORDER: c_int = 3;
/// `CTM_BUFFER`: added to the slot of a buffer of vertex fetches.
pub const BUFFER: u32 = 256;
