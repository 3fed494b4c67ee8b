//! Tests and measurements of private items: they are part of the library when it is tested.
//!
//! | file | contents |
//! |---|---|
//! | `cost`, `cost_r700`, `cost_compiled` | the cost of compiling; run by name only |
//! | `guarded`, `guarded_r700` | random programs between pages that may not be touched |
//! | `modes` | MXCSR around machine code and in its calls |
//! | `occurs` | X1K programs and lookups that have no code |

#[cfg(all(unix, target_arch = "x86_64"))]
pub(crate) mod cost;
#[cfg(all(unix, target_arch = "x86_64"))]
mod cost_compiled;
#[cfg(all(unix, target_arch = "x86_64"))]
mod cost_r700;
#[cfg(all(unix, target_arch = "x86_64"))]
#[allow(unsafe_code, reason = "pages are mapped and protected here")]
pub mod guarded;
#[cfg(all(unix, target_arch = "x86_64"))]
mod guarded_r700;
#[cfg(target_arch = "x86_64")]
mod modes;
#[cfg(target_arch = "x86_64")]
pub(crate) mod occurs;
