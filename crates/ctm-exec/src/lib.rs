//! What programs do: lanes, masks, arithmetic, and the reference interpreter.
//!
//! This room knows no command stream and no image: memory is a trait, a launch is a value. The interpreter here
//! defines the result bits; every other engine must give the same.
//!
//! Begin with [`x1k::Launch`] and [`Engine`], then `x1k/interp`, read beside the manual.
//!
//! **Invariants.** Results never depend on thread count. A faulty program gives a [`Fault`] value, never a panic or an endless loop
//! (every launch has a [`Budget`]). Denormals, NaN patterns and roundings are those of `docs/arithmetic.md`.

pub mod engine;
pub mod x1k;

pub use engine::{Budget, Counters, Domain, Engine, Fault, FaultKind, Finding, GroupSize, Outcome, Position};
