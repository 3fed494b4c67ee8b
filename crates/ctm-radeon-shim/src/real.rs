//! The functions of the C library that [`interpose`](crate::interpose) replaces.
//!
//! Each is looked up once, after this library in the order of the dynamic linker. One that the C library does not have fails with `ENOSYS`.

use libc::{DIR, FILE, c_char, c_int, c_uint, c_ulong, c_void, dirent, dirent64, off_t, size_t, ssize_t, stat as Stat};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The next function of a name, or null.
fn next(name: &std::ffi::CStr, known: &AtomicPtr<c_void>) -> *mut c_void {
    let found = known.load(Ordering::Relaxed);
    if !found.is_null() {
        return found;
    }
    // SAFETY: the name is a C string.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    known.store(found, Ordering::Relaxed);
    found
}

/// A row is a function: its name, its arguments, its result, and its result when it is missing.
macro_rules! functions {
    ($($name:ident ( $($argument:ident : $type:ty),* ) -> $out:ty = $failure:expr;)*) => {$(
        /// The C library's function of this name.
        ///
        /// # Safety
        /// As the C library says.
        pub(crate) unsafe fn $name($($argument: $type),*) -> $out {
            static KNOWN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            const NAME: &std::ffi::CStr =
                match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("a name without zero bytes"),
                };
            let found = next(NAME, &KNOWN);
            if found.is_null() {
                set_errno(libc::ENOSYS);
                return $failure;
            }
            // SAFETY: the function of this name has these arguments; those that C declares variadic take them in the same places on
            // the targets of this library.
            let function: unsafe extern "C" fn($($type),*) -> $out = unsafe { std::mem::transmute(found) };
            // SAFETY: the caller keeps the C library's contract.
            unsafe { function($($argument),*) }
        }
    )*};
}

functions! {
    open(path: *const c_char, flags: c_int, mode: c_int) -> c_int = -1;
    open64(path: *const c_char, flags: c_int, mode: c_int) -> c_int = -1;
    fopen(path: *const c_char, mode: *const c_char) -> *mut FILE = std::ptr::null_mut();
    fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE = std::ptr::null_mut();
    access(path: *const c_char, mode: c_int) -> c_int = -1;
    readlink(path: *const c_char, to: *mut c_char, bytes: size_t) -> ssize_t = -1;
    realpath(path: *const c_char, to: *mut c_char) -> *mut c_char = std::ptr::null_mut();
    opendir(path: *const c_char) -> *mut DIR = std::ptr::null_mut();
    readdir(directory: *mut DIR) -> *mut dirent = std::ptr::null_mut();
    readdir64(directory: *mut DIR) -> *mut dirent64 = std::ptr::null_mut();
    closedir(directory: *mut DIR) -> c_int = -1;
    stat(path: *const c_char, to: *mut Stat) -> c_int = -1;
    lstat(path: *const c_char, to: *mut Stat) -> c_int = -1;
    fstat(fd: c_int, to: *mut Stat) -> c_int = -1;
    fstatat(directory: c_int, path: *const c_char, to: *mut Stat, flags: c_int) -> c_int = -1;
    statx(directory: c_int, path: *const c_char, flags: c_int, mask: c_uint, to: *mut libc::statx) -> c_int = -1;
    openat(directory: c_int, path: *const c_char, flags: c_int, mode: c_int) -> c_int = -1;
    openat64(directory: c_int, path: *const c_char, flags: c_int, mode: c_int) -> c_int = -1;
    faccessat(directory: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int = -1;
    readlinkat(directory: c_int, path: *const c_char, to: *mut c_char, bytes: size_t) -> ssize_t = -1;
    mmap(at: *mut c_void, bytes: size_t, rights: c_int, flags: c_int, fd: c_int, offset: off_t) -> *mut c_void = libc::MAP_FAILED;
    lseek(fd: c_int, offset: off_t, from: c_int) -> off_t = -1;
    ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int = -1;
}

/// The C library's function of this name, which gives nothing.
///
/// # Safety
/// As the C library says.
pub(crate) unsafe fn rewinddir(directory: *mut DIR) {
    static KNOWN: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let found = next(c"rewinddir", &KNOWN);
    if !found.is_null() {
        // SAFETY: the function of this name has this argument.
        let function: unsafe extern "C" fn(*mut DIR) = unsafe { std::mem::transmute(found) };
        // SAFETY: the caller keeps the C library's contract.
        unsafe { function(directory) }
    }
}

/// Sets the error number of this thread.
pub(crate) fn set_errno(number: c_int) {
    // SAFETY: the C library gives every thread a place for it.
    unsafe { *libc::__errno_location() = number };
}
