//! Functions of the C library that take a path below an open directory.

use super::{access, failed, fstat, guard, lstat, open_entry, ours, own_status, readlink, stat, status};
use crate::real;
use crate::tree::Entry;
use libc::{c_char, c_int, c_uint, size_t, ssize_t, stat as Stat};

/// A row is a name of the function that opens below a directory. Absolute paths mean the same without it.
macro_rules! openat {
    ($($name:ident),*) => {$(
        /// `openat` of the C library.
        ///
        /// # Safety
        /// As the C library says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(directory: c_int, path: *const c_char, flags: c_int, mode: c_int) -> c_int {
            // SAFETY: the caller promises a C string.
            match unsafe { ours(path) } {
                Some(entry) => guard(-1, || open_entry(&entry, flags)),
                // SAFETY: the caller's promises.
                None => unsafe { real::$name(directory, path, flags, mode) },
            }
        }
    )*};
}

openat!(openat, openat64);

/// A row is a name of the function that gives the status of a path below a directory.
macro_rules! fstatat {
    ($($name:ident),*) => {$(
        /// `fstatat` of the C library.
        ///
        /// # Safety
        /// As the C library says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(directory: c_int, path: *const c_char, to: *mut Stat, flags: c_int) -> c_int {
            // SAFETY: the caller promises a C string.
            if unsafe { ours(path) }.is_some() {
                // SAFETY: the caller's promises.
                return unsafe { if flags & libc::AT_SYMLINK_NOFOLLOW != 0 { lstat(path, to) } else { stat(path, to) } };
            }
            // SAFETY: the caller's promises.
            let result = unsafe { real::fstatat(directory, path, to, flags) };
            if result == 0 && flags & libc::AT_EMPTY_PATH != 0 {
                // SAFETY: the caller promises room for a status, which has just been written.
                guard((), || own_status(unsafe { &mut *to }));
            }
            result
        }
    )*};
}

fstatat!(fstatat, fstatat64);

/// `statx` of the C library.
///
/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn statx(
    directory: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    to: *mut libc::statx,
) -> c_int {
    // SAFETY: the caller promises a C string, or null.
    let own = match unsafe { ours(path) } {
        Some(entry) => {
            let follows = flags & libc::AT_SYMLINK_NOFOLLOW == 0 && matches!(entry, Entry::Link(_));
            let entry = if follows { Entry::Directory(&[]) } else { entry };
            let Some(status) = status(&entry) else { return failed(libc::ENOENT) };
            // SAFETY: all zero is such a status, and the caller promises room for it.
            unsafe { to.write(std::mem::zeroed()) };
            Some(status)
        }
        None => {
            // SAFETY: the caller's promises.
            let result = unsafe { real::statx(directory, path, flags, mask, to) };
            // SAFETY: all zero is a `stat`.
            let mut of_descriptor: Stat = unsafe { std::mem::zeroed() };
            if result != 0 || flags & libc::AT_EMPTY_PATH == 0 {
                return result;
            }
            // SAFETY: the status is writable.
            let known = unsafe { fstat(directory, &raw mut of_descriptor) } == 0;
            if !known || of_descriptor.st_mode & libc::S_IFMT != libc::S_IFCHR {
                return result;
            }
            Some(of_descriptor)
        }
    };
    if let Some(status) = own {
        // SAFETY: the caller promises room for it, and it has been written.
        let to = unsafe { &mut *to };
        to.stx_mask = libc::STATX_BASIC_STATS;
        to.stx_mode = status.st_mode as u16;
        to.stx_nlink = status.st_nlink as u32;
        to.stx_ino = status.st_ino;
        to.stx_size = status.st_size.cast_unsigned();
        to.stx_blksize = status.st_blksize as u32;
        (to.stx_rdev_major, to.stx_rdev_minor) = (libc::major(status.st_rdev), libc::minor(status.st_rdev));
    }
    0
}

/// `faccessat` of the C library.
///
/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn faccessat(directory: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int {
    // SAFETY: the caller promises a C string.
    if unsafe { ours(path) }.is_some() {
        // SAFETY: the caller's promises.
        return unsafe { access(path, mode) };
    }
    // SAFETY: the caller's promises.
    unsafe { real::faccessat(directory, path, mode, flags) }
}

/// `readlinkat` of the C library.
///
/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn readlinkat(directory: c_int, path: *const c_char, to: *mut c_char, bytes: size_t) -> ssize_t {
    // SAFETY: the caller promises a C string.
    if unsafe { ours(path) }.is_some() {
        // SAFETY: the caller's promises.
        return unsafe { readlink(path, to, bytes) };
    }
    // SAFETY: the caller's promises.
    unsafe { real::readlinkat(directory, path, to, bytes) }
}
