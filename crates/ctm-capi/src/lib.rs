//! The C library: CTM programs of 2006 and 2007 compile and run, and new ones have `ctm.h`.
//!
//! | file | header | subject |
//! |---|---|---|
//! | `managed` | `amDeviceManaged.h` | the device interface of CTM chapter 5 |
//! | `amu` | `amuABI.h`, `amuAsm.h`, `amuComp.h` | the SDK's companion libraries |
//! | `api` | `ctm.h` | programs, findings, jobs, devices, runs |
//! | `connection` | | an open device: its thread and its queue of command buffers |
//! | `registry` | | handles |
//! | `name` | | device names and their options |
//! | `pages` | | arenas that clients reach by pointer |
//! | `log` | | the last error of a thread, and the log |
//! | `boundary` | | the entry and exit code of every function of the C interface |
//!
//! `amuCbufPack.h` and the classes of `CTM/` are nothing but headers over these functions. `docs/c-api.md` is the user's page.
//! There is no logic here that is not about C: devices, programs and jobs are those of `ctm`.
//!
//! **Invariants.** No panic crosses into C: every function runs in `boundary::guard`. A handle is a number that is looked up, never
//! a pointer that is followed. The headers document the obligations of C at each function; with these promises kept, every
//! `unsafe` block here is sound, and says why.

#![allow(
    unsafe_code,
    reason = "this is the room in which pointers of C become references; every block says why it may"
)]
#![deny(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]

pub mod amu;
pub mod api;
mod boundary;
mod connection;
mod log;
pub mod managed;
mod mapped;
mod name;
mod pages;
mod registry;
