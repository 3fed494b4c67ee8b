//! The number of this process, without a call of the kernel each time: requests ask for it several times.
//!
//! It is kept in a page that the kernel clears in the child of a fork.

use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A page that is 0 after a fork; `None` where the kernel has none.
fn page() -> Option<&'static AtomicU32> {
    struct WipedPage(NonNull<AtomicU32>);
    // SAFETY: the page is reached by atomic operations alone.
    unsafe impl Send for WipedPage {}
    // SAFETY: as above.
    unsafe impl Sync for WipedPage {}

    static PAGE: OnceLock<Option<WipedPage>> = OnceLock::new();
    let page = PAGE.get_or_init(|| {
        let bytes = size_of::<AtomicU32>();
        let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping at a place that the kernel chooses.
        let at = unsafe { crate::real::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) };
        // SAFETY: the whole mapping, which has no other user. It stays if the kernel does not know the request.
        let is_wiped = at != libc::MAP_FAILED && unsafe { libc::madvise(at, bytes, libc::MADV_WIPEONFORK) } == 0;
        NonNull::new(at.cast()).filter(|_| is_wiped).map(WipedPage)
    });
    // SAFETY: it is mapped for good, page-aligned, and any bytes are a number.
    page.as_ref().map(|page| unsafe { page.0.as_ref() })
}

/// The number of this process.
pub(crate) fn process_id() -> u32 {
    let Some(page) = page() else { return std::process::id() };
    match page.load(Ordering::Relaxed) {
        0 => {
            let id = std::process::id();
            page.store(id, Ordering::Relaxed);
            id
        }
        id => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_has_another_number() {
        let own = process_id();
        assert_eq!(own, std::process::id());
        assert_eq!(process_id(), own);
        // SAFETY: the child reads its number and ends; both are allowed after a fork.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let is_new = process_id() != own && process_id() == std::process::id();
            // SAFETY: it ends the child.
            unsafe { libc::_exit(i32::from(!is_new)) };
        }
        let mut status = -1;
        // SAFETY: `status` is writable.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0);
    }
}
