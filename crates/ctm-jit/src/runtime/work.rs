//! Tasks on several threads.

use std::cell::Cell;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How often threads poll for more work before they sleep, and how many pauses lie between two polls: some milliseconds
/// in all, as a pause takes 40 to 140 clocks. Waking a thread takes up to milliseconds, as systems tend to start it on
/// the core of the thread that woke it, which is busy; and launches often follow each other. No clock is read.
const LOOKS: u32 = 4096;
/// See [`LOOKS`].
const PAUSES: u32 = 64;

/// The number of threads that poll for more work.
static LINGERING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// Whether this thread does.
    static LINGERS: Cell<bool> = const { Cell::new(false) };
}

/// Lets `threads` threads, or all but one, poll for more work for a while.
fn linger(threads: usize) {
    let threads = threads.min(rayon::current_num_threads() - 1);
    for _ in 0..threads {
        if LINGERING.fetch_add(1, Ordering::Relaxed) < threads {
            rayon::spawn(look_for_work)
        } else {
            LINGERING.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn look_for_work() {
    // A thread that polls for work may find this.
    if !LINGERS.replace(true) {
        let mut looks = 0;
        while looks < LOOKS {
            looks = match rayon::yield_now() {
                Some(rayon::Yield::Executed) => 0,
                Some(rayon::Yield::Idle) => looks + 1,
                None => break,
            };
            (0..PAUSES).for_each(|_| spin_loop());
        }
        LINGERS.set(false);
    }
    LINGERING.fetch_sub(1, Ordering::Relaxed);
}

/// The number of threads of a launch that asks for `asked`; 0: one for each core.
pub fn threads(asked: usize) -> usize {
    if asked == 0 { rayon::current_num_threads() } else { asked }
}

/// Does tasks `0..count` and gives their results, in order. Each thread has a state of its own, and a part of the
/// tasks, the same in each launch that has as many, as its core's caches may still hold their memory; a thread that has
/// finished its own takes those of others. The calling thread is the first. A single task, and tasks for one thread,
/// wake no thread.
pub fn share<S, T: Send>(
    asked: usize,
    count: usize,
    state: impl Fn() -> S + Sync,
    task: impl Fn(&mut S, usize) -> T + Sync,
) -> Vec<T> {
    let threads = if count <= 1 { count } else { threads(asked).min(count) };
    if threads <= 1 {
        let mut state = if count > 0 { state() } else { return Vec::new() };
        return (0..count).map(|number| task(&mut state, number)).collect();
    }
    // The next task of each part. The first of the other threads takes a part, so with more than two threads it may be
    // another one next time.
    let next: Vec<AtomicUsize> = (0..threads).map(|thread| AtomicUsize::new(thread * count / threads)).collect();
    let all = Mutex::new(Vec::with_capacity(count));
    let work = |thread: usize| {
        let (mut own, mut done) = (None, Vec::new());
        for of in (thread..threads).chain(0..thread) {
            let numbers = std::iter::repeat_with(|| next[of].fetch_add(1, Ordering::Relaxed));
            for number in numbers.take_while(|&number| number < (of + 1) * count / threads) {
                done.push((number, task(own.get_or_insert_with(&state), number)));
            }
        }
        all.lock().unwrap_or_else(PoisonError::into_inner).append(&mut done);
    };
    rayon::in_place_scope(|scope| {
        (1..threads).for_each(|thread| scope.spawn(move |_| work(thread)));
        work(0);
    });
    linger(threads - 1);
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.sort_unstable_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, done)| done).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/runtime/work.rs"]
mod tests;
