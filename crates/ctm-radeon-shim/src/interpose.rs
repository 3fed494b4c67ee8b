//! The functions of the C library that programs reach here first.
//!
//! Paths and descriptors that are not ours go on untouched. Functions that C declares variadic are defined with the arguments that they can have:
//! on the targets of this library those come in the same registers.

use crate::process::{fork, lock, print_stats, report, settings};
use crate::tree::{self, Entry};
use crate::{directory, real, requests, space};
use libc::{DIR, FILE, c_char, c_int, c_ulong, c_void, dirent, dirent64, size_t, ssize_t, stat as Stat};
use std::ffi::CStr;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!("how variadic functions take their arguments is known for x86-64 and AArch64 only");

/// Runs before the program.
extern "C" fn begin() {
    guard((), || {
        settings();
        fork::register();
        // SAFETY: the function stays as long as this library, which is never unloaded.
        unsafe { libc::atexit(end) };
    });
}

extern "C" fn end() {
    guard((), print_stats);
}

/// The dynamic linker calls what stands in this section.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

/// No panic goes into the program.
fn guard<T>(failure: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        // Dropping what was thrown may panic itself.
        std::mem::forget(panic);
        report("internal error: this library panicked; this is a bug in it");
        real::set_errno(libc::EIO);
        failure
    })
}

/// What stands at a path of the tree; `None` for all other paths, which are the C library's.
///
/// # Safety
/// `path` is null or a C string.
unsafe fn ours(path: *const c_char) -> Option<Entry> {
    if path.is_null() {
        return None;
    }
    // SAFETY: not null, and the caller promises a C string.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    if !path.starts_with(b"/") {
        return None;
    }
    guard(None, || tree::find(std::str::from_utf8(path).ok()?, settings().chip))
}

/// Ends with an error number.
fn failed(errno: c_int) -> c_int {
    real::set_errno(errno);
    -1
}

/// A descriptor for an entry.
fn open_entry(entry: &Entry, flags: c_int) -> c_int {
    let writes = flags & libc::O_ACCMODE != libc::O_RDONLY;
    let opened = match entry {
        Entry::Node => {
            guard((), || lock().sweep());
            space::create()
        }
        Entry::File(_) if writes => return failed(libc::EACCES),
        Entry::File(text) => text_file(text),
        Entry::Directory(_) if writes => return failed(libc::EISDIR),
        // Directories are read by `opendir`.
        Entry::Directory(_) | Entry::Link(_) => return failed(libc::EACCES),
        Entry::Missing => return failed(libc::ENOENT),
    };
    match opened {
        Ok(file) => {
            let file = file.into_raw_fd();
            if flags & libc::O_CLOEXEC == 0 {
                // SAFETY: the descriptor is open; the command takes an integer.
                unsafe { libc::fcntl(file, libc::F_SETFD, 0) };
            }
            file
        }
        Err(e) => failed(e.raw_os_error().unwrap_or(libc::EIO)),
    }
}

/// A file with a text, to be read from its start.
fn text_file(text: &str) -> std::io::Result<OwnedFd> {
    let file = space::memory_file(c"radeon-text")?;
    // SAFETY: the text has that many bytes.
    let written = unsafe { libc::pwrite(file.as_raw_fd(), text.as_ptr().cast(), text.len(), 0) };
    if usize::try_from(written).is_ok_and(|written| written == text.len()) {
        Ok(file)
    } else {
        Err(std::io::Error::last_os_error())
    }
}

/// A row is a name of the function that opens.
macro_rules! open {
    ($($name:ident => $real:ident;)*) => {$(
        /// `open` of the C library.
        ///
        /// # Safety
        /// As the C library says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(path: *const c_char, flags: c_int, mode: c_int) -> c_int {
            // SAFETY: the caller promises a C string.
            match unsafe { ours(path) } {
                Some(entry) => guard(-1, || open_entry(&entry, flags)),
                // SAFETY: the caller's promises; the mode is passed on whether there is one or not.
                None => unsafe { real::$real(path, flags, mode) },
            }
        }
    )*};
}

open! {
    open => open;
    open64 => open64;
}

/// A row is a name of the checked function that opens without a mode.
macro_rules! open_2 {
    ($($name:ident => $real:ident;)*) => {$(
        /// `open` of the C library, as programs that were built with checks call it.
        ///
        /// # Safety
        /// As the C library says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(path: *const c_char, flags: c_int) -> c_int {
            // SAFETY: the caller's promises; flags of this form ask for no mode.
            unsafe { $real(path, flags, 0) }
        }
    )*};
}

open_2! {
    __open_2 => open;
    __open64_2 => open64;
}

/// A row is a name of the function that opens a stream.
macro_rules! fopen {
    ($($name:ident),*) => {$(
        /// `fopen` of the C library.
        ///
        /// # Safety
        /// As the C library says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(path: *const c_char, mode: *const c_char) -> *mut FILE {
            // SAFETY: the caller promises a C string.
            let Some(entry) = (unsafe { ours(path) }) else {
                // SAFETY: the caller's promises.
                return unsafe { real::$name(path, mode) };
            };
            let file = guard(-1, || open_entry(&entry, libc::O_RDONLY | libc::O_CLOEXEC));
            if file < 0 {
                return std::ptr::null_mut();
            }
            // SAFETY: the descriptor is new and ours, the mode the caller's.
            let stream = unsafe { libc::fdopen(file, mode) };
            if stream.is_null() {
                // SAFETY: as before; nobody else has it.
                drop(unsafe { OwnedFd::from_raw_fd(file) });
            }
            stream
        }
    )*};
}

fopen!(fopen, fopen64);

/// `access` of the C library.
///
/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn access(path: *const c_char, mode: c_int) -> c_int {
    // SAFETY: the caller promises a C string.
    match unsafe { ours(path) } {
        Some(Entry::Missing) => failed(libc::ENOENT),
        Some(Entry::File(_)) if mode & libc::W_OK != 0 => failed(libc::EACCES),
        Some(Entry::File(_) | Entry::Node) if mode & libc::X_OK != 0 => failed(libc::EACCES),
        Some(_) => 0,
        // SAFETY: the caller's promises.
        None => unsafe { real::access(path, mode) },
    }
}

/// `readlink` of the C library.
///
/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn readlink(path: *const c_char, to: *mut c_char, bytes: size_t) -> ssize_t {
    // SAFETY: the caller promises a C string.
    let target = match unsafe { ours(path) } {
        // SAFETY: the caller's promises.
        None => return unsafe { real::readlink(path, to, bytes) },
        Some(Entry::Link(target)) => target,
        Some(Entry::Missing) => return failed(libc::ENOENT) as ssize_t,
        Some(_) => return failed(libc::EINVAL) as ssize_t,
    };
    let length = target.len().min(bytes);
    // SAFETY: the caller promises room for `bytes` bytes, and the target has `length`.
    unsafe { std::ptr::copy_nonoverlapping(target.as_ptr().cast(), to, length) };
    length.cast_signed()
}

/// `realpath` of the C library: paths of ours stay as they are, since what they lead to is found by the same path.
///
/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realpath(path: *const c_char, to: *mut c_char) -> *mut c_char {
    // SAFETY: the caller promises a C string.
    match unsafe { ours(path) } {
        // SAFETY: the caller's promises.
        None => unsafe { real::realpath(path, to) },
        Some(Entry::Missing) => {
            real::set_errno(libc::ENOENT);
            std::ptr::null_mut()
        }
        // SAFETY: a C string, as before.
        Some(_) if to.is_null() => unsafe { libc::strdup(path) },
        // SAFETY: the caller promises room for `PATH_MAX` bytes, and a path of ours that exists is shorter, unless it has many slashes.
        Some(_) => unsafe {
            let length = libc::strlen(path);
            if length >= libc::PATH_MAX as usize {
                real::set_errno(libc::ENAMETOOLONG);
                return std::ptr::null_mut();
            }
            std::ptr::copy_nonoverlapping(path, to, length + 1);
            to
        },
    }
}

/// `realpath` of the C library, as programs that were built with checks call it.
///
/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __realpath_chk(path: *const c_char, to: *mut c_char, _bytes: size_t) -> *mut c_char {
    // SAFETY: the caller's promises.
    unsafe { realpath(path, to) }
}

/// `opendir` of the C library.
///
/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn opendir(path: *const c_char) -> *mut DIR {
    // SAFETY: the caller promises a C string.
    match unsafe { ours(path) } {
        // SAFETY: the caller's promises.
        None => unsafe { real::opendir(path) },
        Some(Entry::Directory(names)) => guard(std::ptr::null_mut(), || directory::open(names)),
        Some(entry) => {
            real::set_errno(if entry == Entry::Missing { libc::ENOENT } else { libc::ENOTDIR });
            std::ptr::null_mut()
        }
    }
}

/// `readdir` of the C library.
///
/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn readdir(of: *mut DIR) -> *mut dirent {
    match guard(None, || directory::next(of)) {
        // Both structures are the same on 64-bit targets.
        Some(entry) => entry.cast(),
        // SAFETY: the caller's promises.
        None => unsafe { real::readdir(of) },
    }
}

/// `readdir64` of the C library.
///
/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn readdir64(of: *mut DIR) -> *mut dirent64 {
    match guard(None, || directory::next(of)) {
        Some(entry) => entry,
        // SAFETY: the caller's promises.
        None => unsafe { real::readdir64(of) },
    }
}

/// `rewinddir` of the C library.
///
/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rewinddir(of: *mut DIR) {
    if !guard(false, || directory::rewind(of)) {
        // SAFETY: the caller's promises.
        unsafe { real::rewinddir(of) }
    }
}

/// `closedir` of the C library.
///
/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn closedir(of: *mut DIR) -> c_int {
    if guard(false, || directory::close(of)) {
        return 0;
    }
    // SAFETY: the caller's promises.
    unsafe { real::closedir(of) }
}

/// Makes a status that of the node.
fn as_node(status: &mut Stat) {
    status.st_mode = libc::S_IFCHR | 0o666;
    status.st_rdev = libc::makedev(tree::NODE.0, tree::NODE.1);
    status.st_size = 0;
    status.st_blocks = 0;
}

/// The status of an entry.
fn status(entry: &Entry) -> Option<Stat> {
    // SAFETY: all zero is a `stat`.
    let mut status: Stat = unsafe { std::mem::zeroed() };
    (status.st_nlink, status.st_blksize, status.st_ino) = (1, 4096, 1);
    match entry {
        Entry::Missing => return None,
        Entry::Node => as_node(&mut status),
        Entry::Directory(_) => status.st_mode = libc::S_IFDIR | 0o755,
        Entry::File(text) => {
            status.st_mode = libc::S_IFREG | 0o444;
            status.st_size = text.len().cast_signed() as libc::off_t;
        }
        Entry::Link(target) => {
            status.st_mode = libc::S_IFLNK | 0o777;
            status.st_size = target.len().cast_signed() as libc::off_t;
        }
    }
    Some(status)
}

/// A row is a name of the function that gives a path's status. Both structures are the same on 64-bit targets.
macro_rules! stat {
    ($($name:ident => $real:ident, $follow:literal;)*) => {$(
        /// `stat` of the C library.
        ///
        /// # Safety
        /// As the C library says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(path: *const c_char, to: *mut Stat) -> c_int {
            // SAFETY: the caller promises a C string.
            let Some(entry) = (unsafe { ours(path) }) else {
                // SAFETY: the caller's promises.
                return unsafe { real::$real(path, to) };
            };
            let entry = if $follow && matches!(entry, Entry::Link(_)) { Entry::Directory(&[]) } else { entry };
            match status(&entry) {
                Some(status) => {
                    // SAFETY: the caller promises room for a status.
                    unsafe { to.write(status) };
                    0
                }
                None => failed(libc::ENOENT),
            }
        }
    )*};
}

stat! {
    stat => stat, true;
    stat64 => stat, true;
    lstat => lstat, false;
    lstat64 => lstat, false;
}

/// A row is a name of the function that gives a descriptor's status.
macro_rules! fstat {
    ($($name:ident),*) => {$(
        /// `fstat` of the C library.
        ///
        /// # Safety
        /// As the C library says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(fd: c_int, to: *mut Stat) -> c_int {
            // SAFETY: the caller's promises.
            let result = unsafe { real::fstat(fd, to) };
            if result == 0 {
                // SAFETY: the caller promises room for a status, which has just been written.
                let status = unsafe { &mut *to };
                if guard(false, || space::is_ours(status)) {
                    as_node(status);
                }
            }
            result
        }
    )*};
}

fstat!(fstat, fstat64);

/// `ioctl` of the C library.
///
/// # Safety
/// As the C library says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    if requests::is_of_graphics(request)
        && let Some(file) = guard(None, || space::file_of(fd))
    {
        let answer = guard(Err(libc::EIO), || {
            let mut process = lock();
            let space = process.space(fd, file).map_err(|e| e.raw_os_error().unwrap_or(libc::EIO))?;
            requests::answer(&mut process, &space, file, request, argument.expose_provenance() as u64)
        });
        return answer.map_or_else(failed, |()| 0);
    }
    // SAFETY: the caller's promises.
    unsafe { real::ioctl(fd, request, argument) }
}
