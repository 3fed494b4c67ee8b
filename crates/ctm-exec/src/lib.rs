//! Execution of programs: lanes, masks, arithmetic, and the reference interpreter.
//!
//! This room knows no command stream and no image: memory is a trait, a launch is a value. The interpreter here
//! defines the result bits; every other engine must give the same.
//!
//! Begin with [`x1k::Launch`], [`r700::Launch`] and [`Engine`], then `x1k/interp` and `r700/interp`, read beside the manuals.
//!
//! Vertex programs of the R5xx run one vertex at a time: [`pvs`].
//!
//! Shared by both instruction sets: the values of every launch ([`domain`], [`fault`], [`outcome`]), numbers ([`float`], [`transcendental`]), arrays and coordinates ([`arrays`], [`sample`]), start values
//! ([`plane`], [`ramp`], [`rows`]), groups of quads ([`groups`]). [`x1k`] uses the texture unit of [`r700`] for draws ([`x1k::unit`]), and nothing else of it; [`Interp`] runs both.
//!
//! **Invariants.** Results never depend on thread count. A faulty program gives a [`Fault`] value, never a panic or an endless loop
//! (every launch has a [`Budget`], and a caller can end it: [`Control`]). Denormals, NaN patterns and roundings are those of `docs/arithmetic.md`.

pub mod arrays;
pub mod checks;
pub mod clock;
pub mod domain;
pub mod engine;
pub mod epilogue;
pub mod fault;
pub mod float;
pub mod groups;
pub mod interp;
pub mod observe;
pub mod outcome;
pub mod plane;
pub mod pvs;
pub mod r700;
pub mod ramp;
pub mod rows;
pub mod sample;
pub mod transcendental;
pub mod watch;
pub mod x1k;

pub use clock::Instant;
pub use domain::{Domain, GroupSize, Position};
pub use engine::Engine;
pub use fault::{Budget, Fault, FaultKind};
pub use interp::Interp;
pub use outcome::{Counters, Finding, Outcome};
pub use rows::{ExportRow, LaneOrder, LaneRows, StartRow};
pub use watch::{Control, Progress};
