//! A clock that other work on the host does not move.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds that this thread has run.
pub fn thread_time() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}
