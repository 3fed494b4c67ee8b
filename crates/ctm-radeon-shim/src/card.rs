//! Opened card nodes: a socket for events, with a memory file of its own.
//!
//! A program waits for events of the display with `poll`, `epoll` or `read`, which a memory file does not have. So its descriptor is one end of a pair of
//! sockets, and the events are written to the other end. The socket's inode says which card it is, also of duplicated descriptors and after a fork. A
//! process that gets the descriptor in another way cannot use it.
//!
//! All of this is reached under the lock of the process.

use crate::space::{self, FileId};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// An opened card.
struct Card {
    memory: Arc<OwnedFd>,
    file: FileId,
    events: OwnedFd,
}

/// Cards by the socket that the program has.
static CARDS: Mutex<BTreeMap<FileId, Card>> = Mutex::new(BTreeMap::new());
/// Whether a card has ever been opened here: most processes have none, and ask often.
static ANY: AtomicBool = AtomicBool::new(false);

fn cards<T>(work: impl FnOnce(&mut BTreeMap<FileId, Card>) -> T) -> T {
    work(&mut CARDS.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Opens the card; the descriptor for the program.
pub(crate) fn open() -> io::Result<OwnedFd> {
    let memory = space::create()?;
    let file = space::file_of(memory.as_raw_fd()).ok_or_else(|| io::Error::other("no memory file"))?;
    let mut pair = [0; 2];
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: room for two descriptors.
    if unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, pair.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both are new and have no other owner.
    let [theirs, events] = pair.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
    // SAFETY: the descriptor is open. A node blocks until an event comes, unless the program asks for something else.
    unsafe { libc::fcntl(theirs.as_raw_fd(), libc::F_SETFL, 0) };
    let status = status(theirs.as_raw_fd()).ok_or_else(io::Error::last_os_error)?;
    let card = Card { memory: Arc::new(memory), file, events };
    cards(|all| all.insert(FileId(status.st_dev, status.st_ino), card));
    ANY.store(true, Ordering::Release);
    Ok(theirs)
}

fn status(fd: RawFd) -> Option<libc::stat> {
    // SAFETY: all zero is a `stat`.
    let mut status: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `status` is writable.
    (unsafe { crate::real::fstat(fd, &raw mut status) } == 0).then_some(status)
}

/// Whether a status can be that of a card.
pub(crate) fn may_be(status: &libc::stat) -> bool {
    ANY.load(Ordering::Acquire) && status.st_mode & libc::S_IFMT == libc::S_IFSOCK
}

/// Whether a status is that of an opened card.
pub(crate) fn is_card(status: &libc::stat) -> bool {
    may_be(status) && cards(|all| all.contains_key(&FileId(status.st_dev, status.st_ino)))
}

/// The memory file of a descriptor, if it is that of a card.
pub(crate) fn memory_of(fd: RawFd) -> Option<(FileId, Arc<OwnedFd>)> {
    if !ANY.load(Ordering::Acquire) {
        return None;
    }
    let status = status(fd).filter(may_be)?;
    cards(|all| all.get(&FileId(status.st_dev, status.st_ino)).map(|card| (card.file, Arc::clone(&card.memory))))
}

/// Gives an event to the program that has a card.
pub(crate) fn send(file: FileId, event: &[u8]) {
    cards(|all| {
        let Some(card) = all.values().find(|card| card.file == file) else { return };
        // A program that never reads its events loses them, as with the kernel.
        let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
        // SAFETY: the bytes are readable and the descriptor is open.
        unsafe { libc::send(card.events.as_raw_fd(), event.as_ptr().cast(), event.len(), flags) };
    });
}

/// Closes cards whose sockets are not among the descriptors of the program; the memory files of those that are left, and our descriptors of them.
pub(crate) fn sweep(open: &[RawFd]) -> Vec<(FileId, RawFd)> {
    if !ANY.load(Ordering::Acquire) {
        return Vec::new();
    }
    let sockets: Vec<FileId> =
        open.iter().filter_map(|&fd| status(fd)).filter(may_be).map(|s| FileId(s.st_dev, s.st_ino)).collect();
    cards(|all| {
        all.retain(|socket, _| sockets.contains(socket));
        all.values().map(|card| (card.file, card.memory.as_raw_fd())).collect()
    })
}
