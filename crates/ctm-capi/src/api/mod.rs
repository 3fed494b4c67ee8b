//! `ctm.h`: the modern interface.
//!
//! | file | subject |
//! |---|---|
//! | `object` | objects that C holds: given, borrowed, freed |
//! | `findings` | findings as structures and JSON |
//! | `program` | programs: assemble, read, write, print, check |
//! | `control` | cancels runs, and reports their progress |
//! | `run` | one run of a program on the caller's arrays |
//! | `job` | jobs and their results |
//! | `drawing` | pictures of vertex and pixel programs |
//! | `numbers` | the numbers of enumerations |
//! | `device` | additions to `amDeviceManaged.h` |

pub mod control;
pub mod device;
pub mod drawing;
pub mod findings;
pub mod job;
pub mod numbers;
mod object;
pub mod program;
pub mod run;

pub use object::{Bytes, ctm_bytes_data, ctm_bytes_free, ctm_bytes_size};

use crate::boundary::guard;
use crate::log;
use ctm::job::JobError;
use std::ffi::c_char;

/// The version of this interface: `CTM_API_VERSION`.
pub const API_VERSION: u32 = 1;

/// `ctm_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    /// It is done.
    Ok = 0,
    /// A text, program or job is wrong.
    Wrong = 1,
    /// The call is wrong.
    Argument = 2,
    /// The running program did wrong.
    Fault = 3,
    /// Legal, but not part of this build.
    Unsupported = 4,
    /// Memory, files or the device handle.
    Host = 5,
    /// A bug in the library.
    Internal = 6,
    /// The time was over first.
    Timeout = 7,
    /// The caller cancelled it.
    Cancelled = 8,
}

/// A failure and why.
pub(crate) struct Failure(Status, String);

impl Failure {
    fn argument(why: impl Into<String>) -> Self {
        Self(Status::Argument, why.into())
    }

    fn of_job(error: &JobError) -> Self {
        let status = match error {
            JobError::Fault(fault) if fault.code == "cancelled" => Status::Cancelled,
            JobError::Fault(_) => Status::Fault,
            JobError::Unsupported(_) => Status::Unsupported,
            _ => Status::Wrong,
        };
        let first = error.reports().iter().find(|r| r.is_error()).or(error.reports().first());
        Self(status, first.map_or_else(|| error.to_string(), |r| r.diagnostic.message.clone()))
    }
}

/// Runs the body of a function that returns a status; a failure is remembered and logged with the function's name.
pub(crate) fn call(function: &str, body: impl FnOnce() -> Result<(), Failure>) -> Status {
    guard(Status::Internal, || match body() {
        Ok(()) => Status::Ok,
        Err(Failure(status, why)) => {
            log::fail(&format!("{function}: {why}"));
            status
        }
    })
}

/// The version of the interface that the library has.
#[unsafe(no_mangle)]
pub extern "C" fn ctm_api_version() -> u32 {
    API_VERSION
}

/// The version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn ctm_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The message of the last failure on this thread: a C string, valid until the next failure on this thread; empty when there was none.
#[unsafe(no_mangle)]
pub extern "C" fn ctm_last_error() -> *const c_char {
    guard(c"".as_ptr(), log::last)
}
