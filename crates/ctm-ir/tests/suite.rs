//! Tests of this crate, one program.

mod layout;
