//! One launch of a program of either instruction set on arrays: the program, its bindings, the domain, the options. No files.
//!
//! | module | contents |
//! |---|---|
//! | [`slot`] | keys of bindings: numbers, or the program's names |
//! | [`error`] | errors of a run |
//! | [`view`] | arrays that programs read, where they lie |
//! | [`fit`] | whether inputs are as large as the domain |
//! | [`source`] | where arrays lie: in the caller's memory, or in a device's |
//! | [`engines`] | engines that serve all launches of this process |
//! | [`model`] | [`Launch`], its bindings and options, and the result |
//! | `numbers` | sets of constants |
//! | `held` | inputs as engines read them |
//! | `landing` | outputs while they are written |
//! | [`client`] | programs, constants and commands in a device's memory |
//! | `x1k`, [`r700`] | of each instruction set: names into numbers, the runner on arrays, the commands of a device |
//! | [`run`] | [`Run`], which builds a launch call by call, and [`Bound`], a launch with numbers: begin here |
//!
//! A module uses only those above it in the table. [`Launch::bind`] turns names into numbers and checks everything; then a launch runs on arrays of the
//! caller's, or on arrays in the memory of a [`Client`]'s device. Both give the same bits. Jobs ([`ctm_jobs`]) are lists of launches with files around them.
//!
//! [`ctm_jobs`]: https://docs.rs/ctm-jobs
//!
//! **Invariants.** Programs of both instruction sets read and write the caller's arrays in place: an input is copied only where no engine reads its
//! form (three channels, bytes or 16-bit numbers of other channels than four and one, a folded line that ends within a row). Everything is checked before
//! anything runs.
//!
//! ```
//! use ctm_files::Program;
//! use ctm_launch::Run;
//!
//! let program = Program::assemble(
//!     ".input x = s0
//!      .output y = o0
//!      .const k = c0
//!      tex r1, x, r0.rg          ; r0 holds the processor's column and row
//!      mad y, r1, k, k",
//! )?;
//! let x = [1.0, 2.0, 3.0, 4.0];
//! let done = Run::of(&program).elements(4).input("x", &x).constant("k", [10.0; 4]).output("y", 1).run()?;
//! assert_eq!(done.values("y"), [20.0, 30.0, 40.0, 50.0]);
//! # Ok::<(), ctm_launch::Error>(())
//! ```
//!
//! Numbers of any kind are accepted, and errors are reported:
//!
//! ```
//! use ctm_device::EngineKind;
//! use ctm_exec::{Budget, Control, Counters, Domain, GroupSize, Position, Progress};
//! use ctm_files::Program;
//! use ctm_launch::{ArgumentError, COLUMNS, Done, Error, Numbers, Run, View};
//!
//! let program = Program::assemble(".input x = s0\n.output y = o0\ntex r1, x, r0.rg\nmul y, r1, 2.0")?;
//! let rows = View::rows(Numbers::F32(&[1.0, 2.0, 3.0, 4.0]), [2, 2, 1]);
//! let control = Control::new();
//! let done: Done = Run::of(&program)
//!     .domain(Domain { i0: 0, j0: 0, i1: 1, j1: 1 })
//!     .input("x", rows)
//!     .output("y", 1)
//!     .engine(EngineKind::Interp)
//!     .group(GroupSize::X1K)
//!     .budget(Budget::default())
//!     .counted(true)
//!     .under(&control)
//!     .run()?;
//! assert_eq!(done.values("y"), [2.0, 4.0, 6.0, 8.0]);
//! let counters: &Counters = &done.counters;
//! assert_eq!(counters.processors, 4);
//! let progress: Progress = control.progress();
//! assert_eq!(progress.share(), 1.0);
//! assert_eq!(Position { i: 1, j: 0 }.i, 1);
//!
//! let wrong = Run::of(&program).size(COLUMNS + 1, 1).output("y", 1).run();
//! assert!(matches!(wrong, Err(Error::Argument(ArgumentError::Domain { .. }))), "{wrong:?}");
//! # Ok::<(), Error>(())
//! ```

pub mod client;
pub mod engines;
pub mod error;
pub mod fit;
mod held;
mod landing;
pub mod model;
mod numbers;
pub mod r700;
pub mod run;
pub mod slot;
pub mod source;
pub mod view;
mod x1k;

pub use client::Client;
pub use ctm_exec::x1k::Plane;
pub use error::{ArgumentError, Error};
pub use fit::{Fit, misfit};
pub use model::{Binding, Done, Extent, HostRegisters, Launch, Options};
pub use run::{Bound, Run};
pub use slot::Ref;
pub use source::{Conditional, DeviceArray, InputArray, Items, OutputArray};
pub use view::{COLUMNS, Numbers, View};
