//! The entry and exit code of every function of the C interface.

use crate::log;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the body of a C function: a panic becomes `failure` and a message.
///
/// `AssertUnwindSafe` holds because everything that outlives a call is protected by a mutex or is atomic, and locks are taken whether poisoned or
/// not.
pub(crate) fn guard<T>(failure: T, body: impl FnOnce() -> T) -> T {
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(value) => value,
        Err(panic) => {
            // Dropping the panic's payload may panic itself.
            std::mem::forget(panic);
            log::fail("internal error: the library panicked; this is a bug in it");
            failure
        }
    }
}

/// The text at `text`; `None` when it is null. Invalid UTF-8 is replaced.
///
/// # Safety
/// `text` is null or a C string that does not change during this call.
pub(crate) unsafe fn string(text: *const c_char) -> Option<String> {
    if text.is_null() {
        return None;
    }
    // SAFETY: not null, and the caller promises a C string.
    Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
}

/// The `len` elements at `data`; empty for `len` 0, else `None` when `data` is null or unaligned, or when they exceed the address space.
///
/// # Safety
/// `data` is null, or `len` elements are there that do not change during `'a`.
pub(crate) unsafe fn elements<'a, T>(data: *const T, len: usize) -> Option<&'a [T]> {
    if len == 0 {
        return Some(&[]);
    }
    if data.is_null() || !data.is_aligned() || len > isize::MAX as usize / size_of::<T>().max(1) {
        return None;
    }
    // SAFETY: not null, aligned, not too long, and the caller promises the elements.
    Some(unsafe { std::slice::from_raw_parts(data, len) })
}

/// The same, to be written.
///
/// # Safety
/// `data` is null, or `len` elements are there, without another reference for `'a`.
pub(crate) unsafe fn elements_mut<'a, T>(data: *mut T, len: usize) -> Option<&'a mut [T]> {
    if len == 0 {
        return Some(&mut []);
    }
    if data.is_null() || !data.is_aligned() || len > isize::MAX as usize / size_of::<T>().max(1) {
        return None;
    }
    // SAFETY: not null, aligned, not too long, and the caller promises the elements.
    Some(unsafe { std::slice::from_raw_parts_mut(data, len) })
}

/// Stores `value` at `to`, unless that is null.
///
/// # Safety
/// `to` is null or may be written.
pub(crate) unsafe fn store<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: not null, and the caller promises that it may be written. Alignment is not asked of C.
        unsafe { to.write_unaligned(value) };
    }
}

unsafe extern "C" {
    /// The allocator of C, so that clients can return memory with `free`.
    fn malloc(size: usize) -> *mut c_void;
}

/// A copy of `bytes` that C can `free`, with a final zero byte; null when there is no memory.
pub(crate) fn malloc_copy(bytes: &[u8]) -> *mut c_void {
    // SAFETY: any size may be requested; a slice is at most isize::MAX bytes, so one more does not overflow.
    let to = unsafe { malloc(bytes.len() + 1) };
    if !to.is_null() {
        // SAFETY: `to` is new memory of that size, so the two do not overlap.
        unsafe {
            to.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            to.cast::<u8>().add(bytes.len()).write(0);
        }
    }
    to
}
