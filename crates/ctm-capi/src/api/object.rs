//! Objects that C holds: a box is handed out, borrowed by later calls, and freed.

use super::Failure;
use crate::boundary::guard;

/// Gives C an object.
///
/// # Safety
/// `to` may be written.
pub(crate) unsafe fn give<T>(to: *mut *mut T, value: T) {
    // SAFETY: as the caller promises.
    unsafe { to.write(Box::into_raw(Box::new(value))) }
}

/// Clears the place for an object before anything can fail; a null place is an invalid call.
///
/// # Safety
/// `to` is null or may be written.
pub(crate) unsafe fn clear<T>(to: *mut *mut T) -> Result<(), Failure> {
    if to.is_null() {
        return Err(Failure::argument("there is nowhere to put the result: the last pointer is NULL"));
    }
    // SAFETY: not null, and as the caller promises.
    unsafe { to.write(std::ptr::null_mut()) };
    Ok(())
}

/// Borrows an object of C's.
///
/// # Safety
/// `object` is null, or was given by this library, is not freed, and is not changed for `'a`.
pub(crate) unsafe fn borrow<'a, T>(object: *const T, what: &str) -> Result<&'a T, Failure> {
    // SAFETY: as the caller promises.
    unsafe { object.as_ref() }.ok_or_else(|| Failure::argument(format!("the {what} is NULL")))
}

/// Frees an object of C's.
///
/// # Safety
/// `object` is null, or was given by this library and is not used any more.
pub(crate) unsafe fn free<T>(object: *mut T) {
    guard((), || {
        if !object.is_null() {
            // SAFETY: it came out of `Box::into_raw` in `give`, and has no other user any more.
            drop(unsafe { Box::from_raw(object) });
        }
    });
}

/// Bytes that the library made, and a final 0: `ctm_bytes`.
#[derive(Debug)]
pub struct Bytes(Vec<u8>);

impl Bytes {
    pub(crate) fn new(mut bytes: Vec<u8>) -> Self {
        bytes.push(0);
        Self(bytes)
    }
}

/// The first byte; null for null.
///
/// # Safety
/// `bytes` is null or was given by this library and is not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_bytes_data(bytes: *const Bytes) -> *const u8 {
    // SAFETY: as the caller promises.
    unsafe { bytes.as_ref() }.map_or(std::ptr::null(), |bytes| bytes.0.as_ptr())
}

/// Their count, without the final 0; 0 for null.
///
/// # Safety
/// As for [`ctm_bytes_data`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_bytes_size(bytes: *const Bytes) -> usize {
    // SAFETY: as the caller promises.
    unsafe { bytes.as_ref() }.map_or(0, |bytes| bytes.0.len() - 1)
}

/// Frees bytes.
///
/// # Safety
/// `bytes` is null, or was given by this library and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_bytes_free(bytes: *mut Bytes) {
    // SAFETY: as the caller promises.
    unsafe { free(bytes) }
}
