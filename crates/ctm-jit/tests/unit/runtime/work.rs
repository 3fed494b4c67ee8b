//! Tests of `src/runtime/work.rs`.

use super::*;
use std::time::{Duration, Instant};

#[test]
fn threads_that_look_for_work_go_to_sleep() {
    for _ in 0..50 {
        assert!(share(0, 20, || (), |(), number| number).into_iter().eq(0..20));
    }
    let since = Instant::now();
    while LINGERING.load(Ordering::Relaxed) > 0 {
        assert!(since.elapsed() < Duration::from_secs(60), "they do not sleep");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn every_task_is_done_once_and_in_order() {
    for asked in [0, 1, 2, 7] {
        for count in [0, 1, 2, 100] {
            let done = share(
                asked,
                count,
                || 0usize,
                |own, number| {
                    *own += 1;
                    (number, *own)
                },
            );
            assert!(done.iter().map(|d| d.0).eq(0..count), "{asked} threads, {count} tasks");
            let states = done.iter().filter(|d| d.1 == 1).count();
            assert!(states <= threads(asked).max(1) && states >= count.min(1), "{states} states");
        }
    }
}
