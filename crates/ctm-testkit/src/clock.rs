//! A clock that other work on the host does not move.

/// Nanoseconds that this thread has run.
#[cfg(unix)]
pub fn thread_time() -> u64 {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Nanoseconds since the first call in the process: other systems have no clock of a thread that safe code can read.
#[cfg(not(unix))]
pub fn thread_time() -> u64 {
    use std::sync::LazyLock;
    use std::time::Instant;
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
