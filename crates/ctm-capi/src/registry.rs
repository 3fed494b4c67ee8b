//! Handles of open devices.
//!
//! A handle is a number: which slot, and which of the devices that the slot has held. It is looked up and never followed, so that null,
//! stale and foreign ones are recognized.

use crate::connection::Connection;
use crate::log;
use std::sync::{Arc, PoisonError, RwLock};

/// The handle in C: 0 is no device.
pub(crate) type Handle = usize;

struct RegistrySlot {
    /// Counts the devices that the slot has held.
    generation: usize,
    connection: Option<Arc<Connection>>,
}

/// The most devices that can be open at a time.
const SLOTS: usize = 1 << INDEX_BITS;
const INDEX_BITS: u32 = 8;
/// Handles look like pointers that are aligned.
const SHIFT: u32 = 4;

static OPEN: RwLock<Vec<RegistrySlot>> = RwLock::new(Vec::new());

const fn handle(index: usize, generation: usize) -> Handle {
    // The generation begins at 1, so that no handle is 0.
    ((generation << INDEX_BITS) | index) << SHIFT
}

/// A handle for a device that was just opened.
pub(crate) fn insert(connection: Arc<Connection>) -> Result<Handle, String> {
    let mut open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
    let index = match open.iter().position(|slot| slot.connection.is_none()) {
        Some(index) => index,
        None if open.len() < SLOTS => {
            open.push(RegistrySlot { generation: 0, connection: None });
            open.len() - 1
        }
        None => return Err(format!("{SLOTS} devices are open already, more are not possible")),
    };
    let slot = &mut open[index];
    // A handle is reused only after as many devices as its number has room for.
    slot.generation = (slot.generation + 1) & (usize::MAX >> (INDEX_BITS + SHIFT));
    slot.generation = slot.generation.max(1);
    slot.connection = Some(connection);
    Ok(handle(index, slot.generation))
}

fn index_of(open: &[RegistrySlot], wanted: Handle) -> Option<usize> {
    let index = (wanted >> SHIFT) & (SLOTS - 1);
    let slot = open.get(index)?;
    (slot.connection.is_some() && handle(index, slot.generation) == wanted).then_some(index)
}

/// The result of `read` for the device of this handle; a message for C when there is none.
pub(crate) fn with<T>(wanted: Handle, read: impl FnOnce(&Arc<Connection>) -> T) -> Option<T> {
    {
        let open = OPEN.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(connection) = index_of(&open, wanted).and_then(|index| open[index].connection.as_ref()) {
            return Some(read(connection));
        }
    }
    complain(wanted);
    None
}

/// The device of this handle.
pub(crate) fn get(wanted: Handle) -> Option<Arc<Connection>> {
    with(wanted, Arc::clone)
}

/// Takes the device out: from here on its handle is stale.
pub(crate) fn remove(wanted: Handle) -> Option<Arc<Connection>> {
    let removed = {
        let mut open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
        index_of(&open, wanted).and_then(|index| open[index].connection.take())
    };
    if removed.is_none() {
        complain(wanted);
    }
    removed
}

fn complain(wanted: Handle) {
    if wanted == 0 {
        log::fail("the device handle is NULL; amOpenManagedConnection gives one");
    } else {
        log::fail(&format!("0x{wanted:x} is no handle of an open device; it was closed, or never was one"));
    }
}
