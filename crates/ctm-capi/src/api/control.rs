//! Controls: they cancel runs from outside, and report their progress.

use super::object::{borrow, clear, free, give};
use super::{Failure, Status, call};
use crate::boundary::store;

/// `ctm_control`.
#[derive(Debug)]
pub struct Control(ctm_exec::Control);

impl Control {
    pub(crate) const fn of(&self) -> &ctm_exec::Control {
        &self.0
    }
}

/// `ctm_progress`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Progress {
    /// Processors whose programs have ended.
    pub done: u64,
    /// All of them; 0: no launch has begun.
    pub processors: u64,
    /// Since the launch began.
    pub seconds: f64,
    /// If it goes on like that; below 0: not known.
    pub seconds_left: f64,
}

impl From<ctm_exec::Progress> for Progress {
    fn from(progress: ctm_exec::Progress) -> Self {
        Self {
            done: progress.done,
            processors: progress.processors,
            seconds: progress.elapsed.as_secs_f64(),
            seconds_left: progress.left().map_or(-1.0, |left| left.as_secs_f64()),
        }
    }
}

/// Makes a control.
///
/// # Safety
/// `control` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_control_new(control: *mut *mut Control) -> Status {
    call("ctm_control_new", || {
        // SAFETY: as the caller promises; `clear` saw that it may be written.
        unsafe {
            clear(control)?;
            give(control, Control(ctm_exec::Control::new()));
        }
        Ok(())
    })
}

/// Cancels the runs under it, and later ones.
///
/// # Safety
/// `control` is null, or was given by this library and is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_control_cancel(control: *const Control) -> Status {
    call("ctm_control_cancel", || {
        // SAFETY: as the caller promises.
        unsafe { borrow(control, "control")? }.0.cancel();
        Ok(())
    })
}

/// Lets runs begin again.
///
/// # Safety
/// As for [`ctm_control_cancel`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_control_reset(control: *const Control) -> Status {
    call("ctm_control_reset", || {
        // SAFETY: as the caller promises.
        unsafe { borrow(control, "control")? }.0.reset();
        Ok(())
    })
}

/// How far the launch is.
///
/// # Safety
/// As for [`ctm_control_cancel`]; `progress` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_control_progress(control: *const Control, progress: *mut Progress) -> Status {
    call("ctm_control_progress", || {
        if progress.is_null() {
            return Err(Failure::argument("there is nowhere to put the progress: the pointer is NULL"));
        }
        // SAFETY: as the caller promises.
        unsafe { store(progress, borrow(control, "control")?.0.progress().into()) };
        Ok(())
    })
}

/// Frees a control.
///
/// # Safety
/// `control` is null, or was given by this library and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_control_free(control: *mut Control) {
    // SAFETY: as the caller promises.
    unsafe { free(control) }
}
