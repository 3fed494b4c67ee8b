//! The functions of the C library that programs reach here first.
//!
//! Paths and descriptors that are not ours go on untouched. Functions that C declares variadic are defined with the arguments that they can have:
//! on the targets of this library those come in the same registers.

mod below;

use crate::process::{fork, lock, print_renderer, print_stats};
use crate::settings::{report, settings};
use crate::tree::{self, Entry};
use crate::{card, directory, prime, real, requests, space};
use libc::{DIR, FILE, c_char, c_int, c_ulong, c_void, dirent, dirent64, off_t, size_t, ssize_t, stat as Stat};
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
        // SAFETY: the function is valid as long as this library, which is never unloaded.
        unsafe { libc::atexit(end) };
    });
}

extern "C" fn end() {
    guard((), print_stats);
    guard((), print_renderer);
}

/// The dynamic linker calls the functions of this section.
#[used]
#[unsafe(link_section = ".init_array")]
static BEGIN: extern "C" fn() = begin;

/// No panic goes into the program.
fn guard<T>(failure: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        // Dropping the panic's payload may panic itself.
        std::mem::forget(panic);
        report("internal error: this library panicked; this is a bug in it");
        real::set_errno(libc::EIO);
        failure
    })
}

/// The entry at a path of the tree; `None` for all other paths, which are the C library's.
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
        Entry::Card => {
            guard((), || lock().sweep());
            let _process = lock();
            card::open()
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
                // SAFETY: as before; it has no other owner.
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
        Some(Entry::File(_) | Entry::Node | Entry::Card) if mode & libc::X_OK != 0 => failed(libc::EACCES),
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

/// `realpath` of the C library: our paths stay as they are, since their targets are found by the same path.
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

/// Makes a status that of a node with these numbers.
fn as_node(status: &mut Stat, (major, minor): (u32, u32)) {
    status.st_mode = libc::S_IFCHR | 0o666;
    status.st_rdev = libc::makedev(major, minor);
    status.st_size = 0;
    status.st_blocks = 0;
}

/// Makes the status of a descriptor of ours that of a node.
fn own_status(status: &mut Stat) {
    if space::is_ours(status) {
        as_node(status, tree::NODE);
    } else if card::may_be(status) {
        let _process = lock();
        if card::is_card(status) {
            as_node(status, tree::CARD);
        }
    }
}

/// The status of an entry.
fn status(entry: &Entry) -> Option<Stat> {
    // SAFETY: all zero is a `stat`.
    let mut status: Stat = unsafe { std::mem::zeroed() };
    (status.st_nlink, status.st_blksize, status.st_ino) = (1, 4096, 1);
    match entry {
        Entry::Missing => return None,
        Entry::Node => as_node(&mut status, tree::NODE),
        Entry::Card => as_node(&mut status, tree::CARD),
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
                guard((), || own_status(status));
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
    if requests::is_of_graphics(request) {
        let answer =
            guard(Some(Err(libc::EIO)), || {
                let memory = space::file_of(fd);
                let mut process = lock();
                let card = card::memory_of(fd);
                let (file, of) = match (memory, &card) {
                    (Some(file), _) => (file, fd),
                    (None, Some((file, memory))) => (*file, memory.as_raw_fd()),
                    (None, None) => return None,
                };
                let argument = argument.expose_provenance() as u64;
                let space = process.space(of, file).map_err(|e| e.raw_os_error().unwrap_or(libc::EIO));
                Some(space.and_then(|space| {
                    requests::answer(&mut process, &space, (file, card.is_some()), request, argument)
                }))
            });
        if let Some(answer) = answer {
            return answer.map_or_else(failed, |()| 0);
        }
    }
    // Waits for and of a buffer: nothing runs when a request has returned.
    if request >> 8 & 0xff == c_ulong::from(b'b') && request & 0xff == 0 && guard(None, || prime::size_of(fd)).is_some()
    {
        return 0;
    }
    // SAFETY: the caller's promises.
    unsafe { real::ioctl(fd, request, argument) }
}

/// The target of a mapping of our descriptor: the file with the bytes, and the place there. `None`: as the program requests.
fn led(fd: c_int, offset: off_t) -> Option<(std::sync::Arc<OwnedFd>, off_t)> {
    let place = u64::try_from(offset).ok()?;
    let memory = space::file_of(fd);
    let _process = lock();
    let card = if memory.is_some() { None } else { card::memory_of(fd) };
    let node = memory.or_else(|| card.as_ref().map(|card| card.0))?;
    match prime::at(node, place) {
        Some((start, exported)) => Some((exported.file, libc::off_t::try_from(place - start).ok()?)),
        None => card.map(|card| (card.1, offset)),
    }
}

/// A row is a name of the function that maps.
macro_rules! mmap {
    ($($name:ident),*) => {$(
        /// `mmap` of the C library.
        ///
        /// # Safety
        /// As the C library says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(
            at: *mut c_void,
            bytes: size_t,
            rights: c_int,
            flags: c_int,
            fd: c_int,
            offset: off_t,
        ) -> *mut c_void {
            let is_shared = fd >= 0 && flags & libc::MAP_ANONYMOUS == 0 && flags & libc::MAP_SHARED != 0;
            if is_shared && let Some((file, offset)) = guard(None, || led(fd, offset)) {
                // SAFETY: the caller's promises; the bytes are those that the program requests.
                return unsafe { real::mmap(at, bytes, rights, flags, file.as_raw_fd(), offset) };
            }
            // SAFETY: the caller's promises.
            unsafe { real::mmap(at, bytes, rights, flags, fd, offset) }
        }
    )*};
}

mmap!(mmap, mmap64);

/// A row is a name of the function that moves the place of a descriptor.
macro_rules! lseek {
    ($($name:ident),*) => {$(
        /// `lseek` of the C library: the end of an exported buffer is that of its bytes.
        ///
        /// # Safety
        /// As the C library says.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(fd: c_int, offset: off_t, from: c_int) -> off_t {
            if from == libc::SEEK_END
                && let Some(size) = guard(None, || prime::size_of(fd))
            {
                let end = size.cast_signed().saturating_add(offset);
                // SAFETY: the caller's promises.
                return unsafe { real::lseek(fd, end, libc::SEEK_SET) };
            }
            // SAFETY: the caller's promises.
            unsafe { real::lseek(fd, offset, from) }
        }
    )*};
}

lseek!(lseek, lseek64);
