//! Back ends, which execute the forms.
//!
//! | folder | contents |
//! |---|---|
//! | `portable/` | plain Rust, a row of 64 lanes for each vector; on every host |
//! | `cranelift/` | machine code with vectors of 128 bits, by Cranelift |
//! | `codegen/x86/` | machine code for x86-64 with AVX-512, and with AVX2 |

pub mod backend;
#[cfg(all(feature = "cranelift", any(target_arch = "x86_64", target_arch = "aarch64")))]
pub mod cranelift;
pub mod portable;
pub mod target;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
pub mod x86;
