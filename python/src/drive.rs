//! Long work without Python's lock, with signals and progress.

use crate::error::internal;
use ctm::Control;
use pyo3::prelude::*;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How often the calling thread looks for signals.
const LOOK: Duration = Duration::from_millis(30);

/// Runs `work` on a thread of its own. Ctrl-C and exceptions of `progress` end it by the control, and are raised when it has ended.
///
/// # Errors
/// The exception of a signal handler or of `progress`.
pub(crate) fn drive<T: Send>(
    py: Python<'_>,
    control: &Control,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (send, receive) = channel();
    let receive: Mutex<Receiver<T>> = Mutex::new(receive);
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            // There is no receiver only if the calling thread has panicked.
            let _ = send.send(work());
        });
        let mut raised = None;
        loop {
            let got = py.detach(|| receive.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(LOOK));
            match got {
                Ok(result) => return raised.map_or(Ok(result), Err),
                Err(RecvTimeoutError::Disconnected) => {
                    let _ = worker.join();
                    return Err(internal());
                }
                Err(RecvTimeoutError::Timeout) if raised.is_some() => {}
                Err(RecvTimeoutError::Timeout) => {
                    let told = py.check_signals().and_then(|()| match progress {
                        Some(progress) => {
                            let now = control.progress();
                            progress.call1((now.done, now.processors, now.elapsed.as_secs_f64())).map(drop)
                        }
                        None => Ok(()),
                    });
                    if let Err(error) = told {
                        control.cancel();
                        raised = Some(error);
                    }
                }
            }
        }
    })
}
