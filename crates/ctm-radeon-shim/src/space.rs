//! The memory file of an opened node: the table of its buffers under a lock that several processes share, then the buffers.

use crate::Errno;
use crate::table::{FIRST, SPACE_BYTES, Table};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::OnceLock;

/// The first bytes of a memory file.
const MAGIC: u64 = u64::from_le_bytes(*b"CTMSPACE");

/// The front of the file.
#[repr(C)]
struct Shared {
    magic: u64,
    lock: libc::pthread_mutex_t,
    table: Table,
}

const _: () = assert!(size_of::<Shared>() as u64 <= FIRST, "the table ends before the first buffer");

/// A memory file that is mapped into this process. Dropping it unmaps it; the file lives as long as any descriptor or mapping.
#[derive(Debug)]
pub(crate) struct Space {
    shared: NonNull<Shared>,
    /// The whole file, mapped when bytes of buffers are first needed.
    whole: OnceLock<NonNull<u8>>,
    /// The file, as long as this process uses it.
    file: OwnedFd,
}

// SAFETY: the table is reached under its lock alone, buffers through raw pointers, and neither belongs to a thread.
unsafe impl Send for Space {}
// SAFETY: as above; everything else are calls to the kernel, which threads may make at once.
unsafe impl Sync for Space {}

/// Which file a descriptor has: device and number of the inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FileId(pub u64, pub u64);

/// The file of a descriptor, if it is a memory file of ours.
pub(crate) fn file_of(fd: RawFd) -> Option<FileId> {
    // SAFETY: all zero is a `stat`.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `status` is writable.
    let result = unsafe { crate::real::fstat(fd, &raw mut status) };
    let ours = result == 0 && is_ours(&status);
    ours.then_some(FileId(status.st_dev, status.st_ino))
}

/// Whether a status is that of a memory file of ours: one without name, on the device of all such files, of just this size.
pub(crate) fn is_ours(status: &libc::stat) -> bool {
    /// The device of memory files.
    static DEVICE: OnceLock<Option<u64>> = OnceLock::new();
    if status.st_size.cast_unsigned() != SPACE_BYTES || status.st_mode & libc::S_IFMT != libc::S_IFREG {
        return false;
    }
    let device = DEVICE.get_or_init(|| {
        let file = memory_file(c"radeon").ok()?;
        // SAFETY: all zero is a `stat`.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is open and `status` writable.
        let result = unsafe { crate::real::fstat(file.as_raw_fd(), &raw mut status) };
        (result == 0).then_some(status.st_dev)
    });
    *device == Some(status.st_dev)
}

/// An empty memory file, closed when the process becomes another program.
pub(crate) fn memory_file(name: &std::ffi::CStr) -> io::Result<OwnedFd> {
    // SAFETY: the name is a C string.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and owned by nothing else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Makes a memory file with an empty table.
pub(crate) fn create() -> io::Result<OwnedFd> {
    let file = memory_file(c"radeon")?;
    let bytes = libc::off_t::try_from(SPACE_BYTES).map_err(io::Error::other)?;
    // SAFETY: the descriptor is open.
    if unsafe { libc::ftruncate(file.as_raw_fd(), bytes) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // It can not be shortened, so its mappings stay valid.
    // SAFETY: the descriptor is open; the command takes an integer.
    unsafe {
        libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL)
    };
    let shared: NonNull<Shared> = map(&file, size_of::<Shared>())?.cast();
    let lock = lock_attributes(|attributes| {
        // SAFETY: the mapping is that large, page-aligned and zero, and nothing else uses the file yet; the attributes are initialised.
        unsafe { libc::pthread_mutex_init(&raw mut (*shared.as_ptr()).lock, attributes) }
    });
    // SAFETY: as before. All zero is an empty table, and the file is zero.
    unsafe { (&raw mut (*shared.as_ptr()).magic).write(MAGIC) };
    // SAFETY: it was mapped above with this size and nothing refers to it.
    unsafe { libc::munmap(shared.as_ptr().cast(), size_of::<Shared>()) };
    if lock == 0 { Ok(file) } else { Err(io::Error::from_raw_os_error(lock)) }
}

/// Calls `with` with the attributes of a lock that processes share and that outlives its holder; an error number.
fn lock_attributes(with: impl FnOnce(*const libc::pthread_mutexattr_t) -> i32) -> i32 {
    // SAFETY: plain bytes, which are initialised next.
    let mut attributes: libc::pthread_mutexattr_t = unsafe { std::mem::zeroed() };
    // SAFETY: they are initialised first, used, and destroyed last.
    unsafe {
        let mut result = libc::pthread_mutexattr_init(&raw mut attributes);
        if result == 0 {
            result = libc::pthread_mutexattr_setpshared(&raw mut attributes, libc::PTHREAD_PROCESS_SHARED);
        }
        if result == 0 {
            result = libc::pthread_mutexattr_setrobust(&raw mut attributes, libc::PTHREAD_MUTEX_ROBUST);
        }
        if result == 0 {
            result = with(&raw const attributes);
        }
        libc::pthread_mutexattr_destroy(&raw mut attributes);
        result
    }
}

/// Maps the first bytes of a memory file.
fn map(file: &OwnedFd, bytes: usize) -> io::Result<NonNull<u8>> {
    // SAFETY: a new mapping at a place that the kernel chooses.
    let at = unsafe {
        crate::real::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_NORESERVE,
            file.as_raw_fd(),
            0,
        )
    };
    if at == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(at.cast()).ok_or_else(|| io::Error::other("mapped at 0"))
}

impl Space {
    /// Maps the memory file of a descriptor.
    pub(crate) fn of(fd: RawFd) -> io::Result<Self> {
        // SAFETY: the command takes an integer; the descriptor belongs to the program, the copy to us.
        let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) };
        if copy < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it is new and owned by nothing else.
        let file = unsafe { OwnedFd::from_raw_fd(copy) };
        let shared: NonNull<Shared> = map(&file, size_of::<Shared>())?.cast();
        let space = Self { shared, whole: OnceLock::new(), file };
        // SAFETY: mapped with this size; the word is written once, before anything else uses the file.
        if unsafe { (&raw const (*shared.as_ptr()).magic).read() } != MAGIC {
            return Err(io::Error::other("this file is no memory of a Radeon"));
        }
        Ok(space)
    }

    /// Works on the table, with exclusive access among all processes that have the file.
    ///
    /// # Errors
    /// The lock's error number, if it cannot be taken.
    pub(crate) fn table<T>(&self, work: impl FnOnce(&mut Table) -> T) -> Result<T, Errno> {
        // SAFETY: the mapping lives as long as `self`, and the lock was initialised when the file was made.
        let lock = unsafe { &raw mut (*self.shared.as_ptr()).lock };
        // SAFETY: as above.
        let result = unsafe { libc::pthread_mutex_lock(lock) };
        if result != 0 && result != libc::EOWNERDEAD {
            return Err(result);
        }
        // SAFETY: the lock is held, so there is no other reference to the table. It is made of integers: any bytes are valid.
        let table = unsafe { &mut (*self.shared.as_ptr()).table };
        if result == libc::EOWNERDEAD {
            table.repair();
            // SAFETY: the lock is held.
            unsafe { libc::pthread_mutex_consistent(lock) };
        }
        let out = work(table);
        // SAFETY: the lock is held by this thread.
        unsafe { libc::pthread_mutex_unlock(lock) };
        Ok(out)
    }

    /// Gives the memory of a range back; it is 0 afterwards.
    pub(crate) fn forget(&self, offset: u64, bytes: u64) {
        let (Ok(offset), Ok(bytes)) = (offset.try_into(), bytes.try_into()) else { return };
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: the descriptor is open. The file keeps its length, so mappings of the range stay valid.
        unsafe { libc::fallocate(self.file.as_raw_fd(), mode, offset, bytes) };
    }

    /// Puts the file of an exported buffer in the place of the buffer's range, where this process has the whole file mapped.
    pub(crate) fn overlay(&self, offset: u64, exported: &crate::prime::Exported) -> io::Result<()> {
        let Some(whole) = self.whole.get() else { return Ok(()) };
        let both = libc::PROT_READ | libc::PROT_WRITE;
        crate::prime::place(exported, whole.as_ptr().expose_provenance() as u64 + offset, 0, exported.size, both)
    }

    /// Puts the range of the file back that an exported buffer had.
    pub(crate) fn uncover(&self, offset: u64, bytes: u64) {
        let Some(whole) = self.whole.get() else { return };
        let (Ok(at), Ok(bytes), Ok(from)) = (usize::try_from(offset), usize::try_from(bytes), offset.try_into()) else {
            return;
        };
        let both = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_NORESERVE;
        // SAFETY: the range lies in the mapping, as buffers do, and holds no Rust values.
        unsafe { crate::real::mmap(whole.as_ptr().add(at).cast(), bytes, both, flags, self.file.as_raw_fd(), from) };
    }

    /// Copies bytes of the file, however other threads and processes change them meanwhile.
    pub(crate) fn copy(&self, offset: u64, to: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < to.len() {
            let at = libc::off_t::try_from(offset + done as u64).map_err(io::Error::other)?;
            let rest = &mut to[done..];
            // SAFETY: `rest` is writable memory of this length.
            let got = unsafe { libc::pread(self.file.as_raw_fd(), rest.as_mut_ptr().cast(), rest.len(), at) };
            match usize::try_from(got) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(got) => done += got,
                Err(_) => {
                    let e = io::Error::last_os_error();
                    if e.kind() != io::ErrorKind::Interrupted {
                        return Err(e);
                    }
                }
            }
        }
        Ok(())
    }

    /// The ranges of a part of the file that have memory, counted from `offset`; all other bytes are 0.
    pub(crate) fn written(&self, offset: u64, bytes: u64) -> Vec<(u64, u64)> {
        let seek = |at: u64, what| {
            let at = libc::off_t::try_from(at).unwrap_or(libc::off_t::MAX);
            // SAFETY: the descriptor is open. It is a copy, whose position is unused.
            u64::try_from(unsafe { libc::lseek(self.file.as_raw_fd(), at, what) }).ok()
        };
        let end = offset + bytes;
        let mut out = Vec::new();
        let mut at = offset;
        while let Some(data) = seek(at, libc::SEEK_DATA).filter(|&data| data < end) {
            let hole = seek(data, libc::SEEK_HOLE).unwrap_or(end).min(end);
            out.push((data - offset, hole - offset));
            at = hole;
        }
        out
    }

    /// The bytes of a range of the file, shared with the program and other processes.
    ///
    /// # Errors
    /// When the file cannot be mapped.
    pub(crate) fn bytes(&self, offset: u64, bytes: u64) -> io::Result<*mut [u8]> {
        let outside = || io::Error::other("outside of the memory of the Radeon");
        let whole = match self.whole.get() {
            Some(whole) => *whole,
            None => {
                let mapped = map(&self.file, usize::try_from(SPACE_BYTES).map_err(io::Error::other)?)?;
                let whole = *self.whole.get_or_init(|| mapped);
                if let Some(node) = file_of(self.file.as_raw_fd()) {
                    for (place, exported) in crate::prime::of_node(node) {
                        self.overlay(place, &exported)?;
                    }
                }
                whole
            }
        };
        let end = offset.checked_add(bytes).filter(|&end| end <= SPACE_BYTES).ok_or_else(outside)?;
        let (offset, length) = (
            usize::try_from(offset).map_err(io::Error::other)?,
            usize::try_from(end - offset).map_err(io::Error::other)?,
        );
        // SAFETY: the range lies in the mapping, as was checked.
        Ok(std::ptr::slice_from_raw_parts_mut(unsafe { whole.as_ptr().add(offset) }, length))
    }
}

impl AsRawFd for Space {
    fn as_raw_fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

impl Drop for Space {
    fn drop(&mut self) {
        // SAFETY: both were mapped with these sizes, and references into them end before `self`.
        unsafe {
            libc::munmap(self.shared.as_ptr().cast(), size_of::<Shared>());
            if let Some(whole) = self.whole.get() {
                libc::munmap(whole.as_ptr().cast(), SPACE_BYTES as usize);
            }
        }
    }
}
