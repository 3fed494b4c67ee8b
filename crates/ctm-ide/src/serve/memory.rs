//! The memory of all requests together: each takes its share before it needs it, waits where others have it, and is refused where it never fits.
//!
//! Shares are estimates from above of the large parts (texts, their parsed form, arrays, pictures), not of every byte.

use ctm_exec::Instant;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often one that waits looks whether it is still wanted.
const TICK: Duration = Duration::from_millis(50);

/// The memory that there is.
#[derive(Debug)]
pub(super) struct HostMemory {
    bytes: u64,
    taken: Mutex<u64>,
    freed: Condvar,
}

/// A part of it, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    memory: Arc<HostMemory>,
    bytes: u64,
}

impl Drop for Share {
    fn drop(&mut self) {
        *self.memory.taken.lock().unwrap_or_else(PoisonError::into_inner) -= self.bytes;
        self.memory.freed.notify_all();
    }
}

impl HostMemory {
    pub(super) fn new(bytes: u64) -> Arc<Self> {
        Arc::new(Self { bytes, taken: Mutex::new(0), freed: Condvar::new() })
    }

    /// All there is.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Waits for room and reserves `bytes` for an answer. Gives up at the deadline, or when `wanted` says no.
    ///
    /// # Errors
    /// In words: it is more than all there is, or others have it.
    pub(super) fn take(
        self: &Arc<Self>,
        bytes: u64,
        until: Instant,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Share, String> {
        self.take_of(self.bytes, bytes, until, wanted)
    }

    /// The same for a body. Bodies have half of the memory: the other half is there for the answers to those that wait.
    ///
    /// # Errors
    /// The same.
    pub(super) fn take_for_body(
        self: &Arc<Self>,
        bytes: u64,
        until: Instant,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Share, String> {
        self.take_of(self.bytes / 2, bytes, until, wanted)
    }

    fn take_of(
        self: &Arc<Self>,
        all: u64,
        bytes: u64,
        until: Instant,
        wanted: &dyn Fn() -> bool,
    ) -> Result<Share, String> {
        let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
        if bytes > all {
            let (needed, all) = (mebibytes(bytes), mebibytes(all));
            return Err(format!(
                "this takes about {needed} MiB of memory, and the server has {all} for it; `ctm serve --memory` gives it more"
            ));
        }
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while *taken > all - bytes {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || !wanted() {
                let (needed, free) = (mebibytes(bytes), all.saturating_sub(*taken) >> 20);
                return Err(format!(
                    "this takes about {needed} MiB of memory, and other requests leave {free}; ask again when they are done"
                ));
            }
            taken = self.freed.wait_timeout(taken, left.min(TICK)).unwrap_or_else(PoisonError::into_inner).0;
        }
        *taken += bytes;
        drop(taken);
        Ok(Share { memory: Arc::clone(self), bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_taken_waited_for_and_refused() {
        let memory = HostMemory::new(100);
        let now = Instant::now();
        let soon = || Instant::now() + Duration::from_secs(20);
        let first = memory.take(60, now, &|| true).unwrap();
        assert!(memory.take(101, soon(), &|| true).unwrap_err().contains("--memory"));
        assert!(memory.take(41, now, &|| true).unwrap_err().contains("ask again"));
        assert!(memory.take(41, soon(), &|| false).is_err());
        let second = memory.take(40, now, &|| true).unwrap();
        let waiting = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| memory.take(100, soon(), &|| true));
            std::thread::sleep(Duration::from_millis(20));
            drop((first, second));
            waiting.join().unwrap()
        });
        assert!(waiting.is_ok() && memory.take(1, now, &|| true).is_err());
        drop(waiting);
        let body = memory.take_for_body(50, now, &|| true).unwrap();
        assert!(memory.take_for_body(1, now, &|| true).is_err() && memory.take(50, now, &|| true).is_ok());
        assert!(memory.take_for_body(51, soon(), &|| true).unwrap_err().contains("--memory"));
        drop(body);
        assert!(memory.take(100, now, &|| true).is_ok());
    }
}
