//! Buffers that other processes and other nodes can have (PRIME): each is a memory file of its own.
//!
//! A buffer is a range of its node's memory file until it is exported. Then its bytes move into a new file, whose descriptor the program gets: who holds one,
//! in any process, can map it from its start. A page after the bytes describes the buffer: its size and tiling go with it. The node's mappings of
//! the range, those of the program among them, become mappings of the new file, and later ones are led there (`mmap` in `interpose`).
//!
//! The files of a process are kept here, by node and place. All of this is reached under the lock of the process.

use crate::Errno;
use crate::real;
use crate::space::{FileId, Space};
use crate::table::{Buffer, LARGEST, PAGE};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The first bytes of the page after an exported buffer.
const MAGIC: u64 = u64::from_le_bytes(*b"CTMPRIME");

/// An exported or imported buffer of a node.
#[derive(Clone)]
pub(crate) struct Exported {
    /// Its memory file.
    pub file: Arc<OwnedFd>,
    /// Its bytes.
    pub size: u64,
}

type All = BTreeMap<(FileId, u64), Exported>;

static ALL: Mutex<All> = Mutex::new(BTreeMap::new());
/// Whether there has ever been one here.
static ANY: AtomicBool = AtomicBool::new(false);

fn all<T>(work: impl FnOnce(&mut All) -> T) -> T {
    work(&mut ALL.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The buffer of a node with the byte at a place, if it has a file of its own; and its start.
pub(crate) fn at(node: FileId, place: u64) -> Option<(u64, Exported)> {
    if !ANY.load(Ordering::Acquire) {
        return None;
    }
    all(|all| {
        let (&(of, start), exported) = all.range(..=(node, place)).next_back()?;
        (of == node && place - start < exported.size).then(|| (start, exported.clone()))
    })
}

/// All buffers of a node that have files of their own, with their places.
pub(crate) fn of_node(node: FileId) -> Vec<(u64, Exported)> {
    let range = (node, 0)..=(node, u64::MAX);
    all(|all| all.range(range).map(|(&(_, place), exported)| (place, exported.clone())).collect())
}

fn keep(node: FileId, place: u64, exported: Exported) {
    all(|all| all.insert((node, place), exported));
    ANY.store(true, Ordering::Release);
}

/// A buffer of a node is gone; its file lives on with the owners of descriptors.
pub(crate) fn forget(node: FileId, place: u64) {
    all(|all| all.remove(&(node, place)));
}

/// Forgets the buffers of nodes that are not among these.
pub(crate) fn sweep(nodes: &[FileId]) {
    all(|all| all.retain(|(node, _), _| nodes.contains(node)));
}

fn status(fd: RawFd) -> Option<libc::stat> {
    // SAFETY: all zero is a `stat`.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `status` is writable.
    (unsafe { real::fstat(fd, &raw mut status) } == 0).then_some(status)
}

/// The bytes of a buffer by a descriptor of its file; `None` for other files.
pub(crate) fn size_of(fd: RawFd) -> Option<u64> {
    let status = status(fd)?;
    let whole = status.st_size.cast_unsigned();
    if status.st_mode & libc::S_IFMT != libc::S_IFREG || !whole.is_multiple_of(PAGE) || whole < 2 * PAGE {
        return None;
    }
    let size = whole - PAGE;
    let mut page = [0; 8];
    (size <= LARGEST && read(fd, size, &mut page).is_ok() && u64::from_le_bytes(page) == MAGIC).then_some(size)
}

fn read(fd: RawFd, at: u64, to: &mut [u8]) -> io::Result<()> {
    let at = libc::off_t::try_from(at).map_err(io::Error::other)?;
    // SAFETY: `to` is writable memory of this length.
    let got = unsafe { libc::pread(fd, to.as_mut_ptr().cast(), to.len(), at) };
    if usize::try_from(got).is_ok_and(|got| got == to.len()) { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn write(fd: RawFd, at: u64, bytes: &[u8]) -> io::Result<()> {
    let at = libc::off_t::try_from(at).map_err(io::Error::other)?;
    // SAFETY: the bytes are readable.
    let put = unsafe { libc::pwrite(fd, bytes.as_ptr().cast(), bytes.len(), at) };
    if usize::try_from(put).is_ok_and(|put| put == bytes.len()) { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Copies bytes of a buffer.
pub(crate) fn copy(exported: &Exported, at: u64, to: &mut [u8]) -> io::Result<()> {
    read(exported.file.as_raw_fd(), at, to)
}

/// The tiling and the pitch that go with a buffer.
pub(crate) fn tiling(exported: &Exported) -> io::Result<(u32, u32)> {
    let mut words = [0; 8];
    read(exported.file.as_raw_fd(), exported.size + 8, &mut words)?;
    let word = |at: usize| u32::from_le_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]);
    Ok((word(0), word(4)))
}

/// Records the tiling and the pitch of a buffer for all of its users.
pub(crate) fn set_tiling(exported: &Exported, tiling: u32, pitch: u32) -> io::Result<()> {
    let words: Vec<u8> = [tiling, pitch].iter().flat_map(|word| word.to_le_bytes()).collect();
    write(exported.file.as_raw_fd(), exported.size + 8, &words)
}

/// A new descriptor of a file.
fn duplicate(fd: RawFd) -> Result<OwnedFd, Errno> {
    // SAFETY: the command takes an integer.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(errno());
    }
    // SAFETY: it is new and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

fn errno() -> Errno {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}

/// The descriptor of a buffer for other processes.
///
/// # Errors
/// `ENOENT` for an unknown handle, or one that another process with this node has exported; the kernel's errors for files and descriptors.
pub(crate) fn export(space: &Space, node: FileId, handle: u32) -> Result<OwnedFd, Errno> {
    space.table(|table| {
        table.store_clears(space, handle);
        let buffer = table.get_mut(handle).ok_or(libc::ENOENT)?;
        if buffer.exported != 0 {
            let (_, exported) = at(node, buffer.offset).ok_or(libc::ENOENT)?;
            return duplicate(exported.file.as_raw_fd());
        }
        let exported = moved(space, buffer).map_err(|e| e.raw_os_error().unwrap_or(libc::EIO))?;
        let theirs = duplicate(exported.file.as_raw_fd())?;
        remap(node, buffer, &exported).map_err(|e| e.raw_os_error().unwrap_or(libc::EIO))?;
        buffer.exported = 1;
        keep(node, buffer.offset, exported);
        // The old bytes are not mapped any more.
        space.forget(buffer.offset, buffer.size);
        Ok(theirs)
    })?
}

/// A new file with the bytes of a buffer.
fn moved(space: &Space, buffer: &Buffer) -> io::Result<Exported> {
    let file = crate::space::memory_file(c"radeon-buffer")?;
    let fd = file.as_raw_fd();
    let whole = libc::off_t::try_from(buffer.size + PAGE).map_err(io::Error::other)?;
    // SAFETY: the descriptor is open.
    if unsafe { libc::ftruncate(fd, whole) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is open; the command takes an integer. Mapped bytes stay there.
    unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL) };
    let mut bytes = vec![0; 1 << 20];
    for (from, to) in space.written(buffer.offset, buffer.size) {
        let mut at = from;
        while at < to {
            let part = usize::try_from(to - at).unwrap_or(usize::MAX).min(bytes.len());
            space.copy(buffer.offset + at, &mut bytes[..part])?;
            write(fd, at, &bytes[..part])?;
            at += part as u64;
        }
    }
    write(fd, buffer.size, &MAGIC.to_le_bytes())?;
    let exported = Exported { file: Arc::new(file), size: buffer.size };
    set_tiling(&exported, buffer.tiling, buffer.pitch)?;
    Ok(exported)
}

/// Moves every mapping of a buffer's range in this process to its new file.
fn remap(node: FileId, buffer: &Buffer, exported: &Exported) -> io::Result<()> {
    let end = buffer.offset + buffer.size;
    for line in std::fs::read_to_string("/proc/self/maps")?.lines() {
        let Some(mapping) = Mapping::of(line).filter(|mapping| mapping.inode == node.1) else { continue };
        let (from, to) = (mapping.offset.max(buffer.offset), mapping.end().min(end));
        // The table at the front of the file is no buffer's, so the ranges are apart.
        if from >= to || !line.contains("/memfd:radeon ") {
            continue;
        }
        place(exported, mapping.start + (from - mapping.offset), from - buffer.offset, to - from, mapping.protection)?;
    }
    Ok(())
}

/// Maps a part of an exported buffer at an address where other bytes of ours are mapped.
pub(crate) fn place(
    exported: &Exported,
    address: u64,
    offset: u64,
    bytes: u64,
    protection: libc::c_int,
) -> io::Result<()> {
    let at = std::ptr::with_exposed_provenance_mut(usize::try_from(address).map_err(io::Error::other)?);
    let bytes = usize::try_from(bytes).map_err(io::Error::other)?;
    let offset = libc::off_t::try_from(offset).map_err(io::Error::other)?;
    let flags = libc::MAP_SHARED | libc::MAP_FIXED | libc::MAP_NORESERVE;
    // SAFETY: the range is mapped, of a node's memory file, and holds no Rust values: a mapping of other bytes takes its place.
    let mapped = unsafe { real::mmap(at, bytes, protection, flags, exported.file.as_raw_fd(), offset) };
    if mapped == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A line of `/proc/self/maps`.
struct Mapping {
    start: u64,
    bytes: u64,
    offset: u64,
    inode: u64,
    protection: libc::c_int,
}

impl Mapping {
    /// `start-end rwxp offset major:minor inode path`
    fn of(line: &str) -> Option<Self> {
        let mut parts = line.split_whitespace();
        let (start, end) = parts.next()?.split_once('-')?;
        let [start, end] = [start, end].map(|number| u64::from_str_radix(number, 16));
        let (start, end) = (start.ok()?, end.ok()?);
        let rights = parts.next()?;
        let offset = u64::from_str_radix(parts.next()?, 16).ok()?;
        let inode = parts.nth(1)?.parse().ok()?;
        let right = |letter: char, bit| if rights.contains(letter) { bit } else { 0 };
        let protection = right('r', libc::PROT_READ) | right('w', libc::PROT_WRITE) | right('x', libc::PROT_EXEC);
        Some(Self { start, bytes: end.checked_sub(start)?, offset, inode, protection })
    }

    const fn end(&self) -> u64 {
        self.offset.saturating_add(self.bytes)
    }
}

/// A handle for a buffer that a descriptor belongs to: the one that the node has for it, or a new one.
///
/// # Errors
/// `EBADF` for an unknown descriptor, `EINVAL` for one of another file; as for new buffers.
pub(crate) fn import(space: &Space, node: FileId, fd: RawFd) -> Result<u32, Errno> {
    let inode = status(fd).ok_or(libc::EBADF)?.st_ino;
    let size = size_of(fd).ok_or(libc::EINVAL)?;
    let known = of_node(node).into_iter().find(|(_, e)| status(e.file.as_raw_fd()).is_some_and(|s| s.st_ino == inode));
    space.table(|table| {
        if let Some(handle) = known.and_then(|(place, _)| table.handle_at(place)) {
            return Ok(handle);
        }
        let exported = Exported { file: Arc::new(duplicate(fd)?), size };
        let (tiling, pitch) = tiling(&exported).map_err(|_| libc::EINVAL)?;
        let handle = table.create(size, PAGE, crate::table::GTT)?;
        let buffer = table.get_mut(handle).ok_or(libc::ENOMEM)?;
        (buffer.tiling, buffer.pitch, buffer.exported) = (tiling, pitch, 1);
        space.overlay(buffer.offset, &exported).map_err(|_| libc::ENOMEM)?;
        keep(node, buffer.offset, exported);
        Ok(handle)
    })?
}

/// The name of a buffer for GEM_OPEN in any process of the user: the number of its file.
///
/// # Errors
/// As [`export`].
pub(crate) fn name(space: &Space, node: FileId, handle: u32) -> Result<u32, Errno> {
    let file = export(space, node, handle)?;
    let inode = status(file.as_raw_fd()).ok_or(libc::ENOENT)?.st_ino;
    u32::try_from(inode).map_err(|_| libc::ENOSPC)
}

/// The file with a name: one of the descriptors of the user's processes.
pub(crate) fn named(name: u32) -> Option<OwnedFd> {
    let numbers = |path: &str| -> Vec<u32> {
        let entries = std::fs::read_dir(path).into_iter().flatten();
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
    };
    for process in std::iter::once(std::process::id()).chain(numbers("/proc")) {
        for fd in numbers(&format!("/proc/{process}/fd")) {
            let path = format!("/proc/{process}/fd/{fd}");
            if !std::fs::read_link(&path)
                .is_ok_and(|to| to.as_os_str().as_encoded_bytes().starts_with(b"/memfd:radeon-buffer"))
            {
                continue;
            }
            let Ok(file) = std::fs::OpenOptions::new().read(true).write(true).open(&path) else { continue };
            let file = OwnedFd::from(file);
            if status(file.as_raw_fd()).is_some_and(|status| status.st_ino == u64::from(name)) {
                return Some(file);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_mappings_are_read() {
        let line = "7f0000000000-7f0000002000 rw-s 01000000 00:01 4711                       /memfd:radeon (deleted)";
        let mapping = Mapping::of(line).unwrap();
        assert_eq!((mapping.start, mapping.bytes, mapping.offset), (0x7f00_0000_0000, 0x2000, 0x100_0000));
        assert_eq!((mapping.inode, mapping.protection), (4711, libc::PROT_READ | libc::PROT_WRITE));
        assert!(Mapping::of("no mapping").is_none());
    }
}
