//! Additions to `amDeviceManaged.h`.

use super::control::Progress;
use super::findings::Findings;
use super::object::{clear, give};
use super::{Failure, Status, call};
use crate::boundary::{elements, guard, store};
use crate::connection::Connection;
use crate::managed::{AMmanagedDevice, AMuint32};
use crate::{log, registry};
use ctm::memory::{ArenaId, GpuAddr};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;
use std::time::Duration;

fn connection(device: AMmanagedDevice) -> Result<Arc<Connection>, Failure> {
    registry::get(device as usize).ok_or_else(|| {
        // The registry has just reported the error of the handle.
        // SAFETY: a C string that is valid until the next failure on this thread; it is copied before.
        let why = unsafe { CStr::from_ptr(log::last()) }.to_string_lossy().into_owned();
        Failure(Status::Host, why)
    })
}

/// Reserves memory.
///
/// # Safety
/// `address` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_device_allocate(
    device: AMmanagedDevice,
    arena: c_int,
    size: u32,
    address: *mut AMuint32,
) -> Status {
    call("ctm_device_allocate", || {
        // SAFETY: as the caller promises.
        unsafe { store(address, 0) };
        let arena = usize::try_from(arena).ok().and_then(|n| ArenaId::ALL.get(n).copied());
        let arena = arena.ok_or_else(|| Failure::argument("the arena is 0 (GPU), 1 (GPUb), 2 (SYS) or 3 (SYSc)"))?;
        let connection = connection(device)?;
        let given = connection.idle_device().allocate(arena, size.into());
        let given = given.map_err(|e| Failure(Status::Host, e.to_string()))?;
        // SAFETY: as the caller promises.
        unsafe { store(address, given.0) };
        Ok(())
    })
}

/// Waits until the device is idle, and writes its memory.
///
/// # Safety
/// `data` points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_device_write(
    device: AMmanagedDevice,
    address: AMuint32,
    data: *const c_void,
    size: usize,
) -> Status {
    call("ctm_device_write", || {
        // SAFETY: as the caller promises.
        let bytes = unsafe { elements(data.cast::<u8>(), size) };
        let bytes = bytes.ok_or_else(|| Failure::argument("the data is NULL"))?;
        let connection = connection(device)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let written = connection.idle_device().write(GpuAddr(address), bytes);
        written.map_err(|e| Failure::argument(e.to_string()))
    })
}

/// Waits until the device is idle, and reads its memory.
///
/// # Safety
/// `data` points to `size` bytes that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_device_read(
    device: AMmanagedDevice,
    address: AMuint32,
    data: *mut c_void,
    size: usize,
) -> Status {
    call("ctm_device_read", || {
        let connection = connection(device)?;
        if size == 0 {
            return Ok(());
        }
        if data.is_null() {
            return Err(Failure::argument("the data is NULL"));
        }
        let device = connection.idle_device();
        let bytes = device.read(GpuAddr(address), size).map_err(|e| Failure::argument(e.to_string()))?;
        // SAFETY: the caller promises `size` bytes; should they be of an arena, `copy` allows that they overlap.
        unsafe { data.cast::<u8>().copy_from(bytes.as_ptr(), size) };
        Ok(())
    })
}

/// Waits for a submission.
#[unsafe(no_mangle)]
pub extern "C" fn ctm_device_wait(device: AMmanagedDevice, submission: AMuint32, milliseconds: u32) -> Status {
    call("ctm_device_wait", || {
        let connection = connection(device)?;
        let time = (milliseconds != u32::MAX).then(|| Duration::from_millis(milliseconds.into()));
        if !connection.wait(submission, time).map_err(Failure::argument)? {
            let why = format!("submission {submission} is not done after {milliseconds} ms");
            return Err(Failure(Status::Timeout, why));
        }
        match connection.failure(submission) {
            Some(why) => Err(Failure(Status::Fault, format!("submission {submission}: {why}"))),
            None => Ok(()),
        }
    })
}

/// Ends a submission.
#[unsafe(no_mangle)]
pub extern "C" fn ctm_device_cancel(device: AMmanagedDevice, submission: AMuint32) -> Status {
    call("ctm_device_cancel", || connection(device)?.cancel(submission).map_err(Failure::argument))
}

/// How far the launch is that runs on a device.
///
/// # Safety
/// `progress` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_device_progress(device: AMmanagedDevice, progress: *mut Progress) -> Status {
    call("ctm_device_progress", || {
        let now = connection(device)?.progress();
        // SAFETY: as the caller promises.
        unsafe { store(progress, now.into()) };
        Ok(())
    })
}

/// Why a submission failed; null when it did not.
#[unsafe(no_mangle)]
pub extern "C" fn ctm_submission_error(device: AMmanagedDevice, submission: AMuint32) -> *const c_char {
    guard(std::ptr::null(), || {
        let failure = registry::get(device as usize).and_then(|connection| connection.failure(submission));
        failure.map_or(std::ptr::null(), |why| {
            log::remember(&why);
            log::last()
        })
    })
}

/// Findings of checks since the last call, in the order of submissions.
///
/// # Safety
/// `findings` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_device_findings(device: AMmanagedDevice, findings: *mut *mut Findings) -> Status {
    call("ctm_device_findings", || {
        // SAFETY: as the caller promises.
        unsafe { clear(findings)? };
        let noticed = connection(device)?.take_findings();
        let (submissions, reports): (Vec<u32>, Vec<_>) = noticed.into_iter().map(|n| (n.submission, n.report)).unzip();
        // SAFETY: `clear` saw that it may be written.
        unsafe { give(findings, Findings::of_device(reports, &submissions)) };
        Ok(())
    })
}
