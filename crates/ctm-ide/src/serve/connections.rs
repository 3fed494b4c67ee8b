//! Open connections: how many there are, and which one is closed to make room.
//!
//! A connection is idle until its request has been judged: it cost its client nothing to open. Where there are too many, the oldest idle one is closed for the new one.

use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    /// Its request is answered: it is not closed for others.
    busy: AtomicBool,
}

impl Connection {
    /// Whether its request is being answered. Others may be closed at any time.
    pub(super) fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::SeqCst);
    }
}

/// All that are open, the oldest first.
#[derive(Debug)]
pub(super) struct Connections {
    open: Mutex<Vec<Arc<Connection>>>,
    most: usize,
}

impl Connections {
    pub(super) const fn new(most: usize) -> Self {
        Self { open: Mutex::new(Vec::new()), most }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Connection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection.
    ///
    /// # Errors
    /// All others are busy: the connection.
    pub(super) fn admit(&self, stream: TcpStream) -> Result<Arc<Connection>, TcpStream> {
        let mut open = self.lock();
        if open.len() >= self.most {
            let idle = open.iter().position(|connection| !connection.busy.load(Ordering::SeqCst));
            let Some(idle) = idle else { return Err(stream) };
            let _ = open.remove(idle).stream.shutdown(Shutdown::Both);
        }
        let connection = Arc::new(Connection { stream, busy: AtomicBool::new(false) });
        open.push(Arc::clone(&connection));
        Ok(connection)
    }

    /// Forgets a connection that is done.
    pub(super) fn remove(&self, connection: &Arc<Connection>) {
        self.lock().retain(|other| !Arc::ptr_eq(other, connection));
    }

    /// How many are open.
    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Closes all.
    pub(super) fn close(&self) {
        for connection in self.lock().iter() {
            let _ = connection.stream.shutdown(Shutdown::Both);
        }
    }
}
