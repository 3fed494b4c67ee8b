//! `ctm.h`: the modern interface.

use crate::boundary::guard;
use crate::log;
use std::ffi::c_char;

/// Why the last call of this thread that failed did: a C string that stays until the next failure on this thread; empty when there was none.
#[unsafe(no_mangle)]
pub extern "C" fn ctm_last_error() -> *const c_char {
    guard(c"".as_ptr(), log::last)
}
