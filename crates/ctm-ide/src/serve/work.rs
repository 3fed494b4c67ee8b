//! The threads that answer: a fixed number, whatever the number of connections.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Something to do.
type Task = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct WorkQueue {
    waiting: VecDeque<Task>,
    /// Tasks under way.
    running: usize,
    stopped: bool,
}

/// Tasks that wait for a thread, in order.
#[derive(Default)]
pub(super) struct Workers {
    state: Mutex<WorkQueue>,
    changed: Condvar,
}

impl Workers {
    fn lock(&self) -> MutexGuard<'_, WorkQueue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts threads that do the tasks.
    ///
    /// # Errors
    /// There can be no thread.
    pub(super) fn start(self: &Arc<Self>, threads: usize) -> std::io::Result<()> {
        for _ in 0..threads {
            let work = Arc::clone(self);
            std::thread::Builder::new().name("ctm-page".into()).spawn(move || work.run())?;
        }
        Ok(())
    }

    /// A task for the next free thread.
    pub(super) fn push(&self, task: impl FnOnce() + Send + 'static) {
        self.lock().waiting.push_back(Box::new(task));
        self.changed.notify_one();
    }

    /// No task begins from here on.
    pub(super) fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.waiting.clear();
        self.changed.notify_all();
    }

    /// Tasks under way.
    pub(super) fn running(&self) -> usize {
        self.lock().running
    }

    fn run(&self) {
        let mut state = self.lock();
        loop {
            if state.stopped {
                return;
            }
            if let Some(task) = state.waiting.pop_front() {
                state.running += 1;
                drop(state);
                // A panic is a mistake of this program; the thread is there for the next task, and the connection reports it to the client.
                let _ = catch_unwind(AssertUnwindSafe(task));
                state = self.lock();
                state.running -= 1;
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}
