//! Back ends, which execute the forms.
//!
//! | folder | contents |
//! |---|---|
//! | `portable/` | plain Rust, a row of 64 lanes for each vector; on every host |
//! | `codegen/x86/` | machine code for x86-64 with AVX-512, and with AVX2 |

pub mod backend;
pub mod portable;
pub mod target;
#[cfg(target_arch = "x86_64")]
pub mod x86;
