//! Reading directories of the tree: a program's `DIR` of the tree is an object of ours.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A directory that is being read. Its address is the program's `DIR`.
struct Reading {
    names: &'static [&'static str],
    at: usize,
    entry: Box<libc::dirent64>,
}

type Readings = HashMap<usize, Box<Reading>>;

fn readings<T>(work: impl FnOnce(&mut Readings) -> T) -> T {
    static READINGS: OnceLock<Mutex<Readings>> = OnceLock::new();
    work(&mut READINGS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner))
}

/// Begins to read a directory with these names; returns the program's `DIR`.
pub(crate) fn open(names: &'static [&'static str]) -> *mut libc::DIR {
    // SAFETY: all zero is an entry.
    let entry = Box::new(unsafe { std::mem::zeroed() });
    let mut reading = Box::new(Reading { names, at: 0, entry });
    let handle: *mut Reading = &raw mut *reading;
    readings(|all| all.insert(handle.addr(), reading));
    handle.cast()
}

/// The next entry; `None` when this is no directory of ours, null at its end. It is valid until the next one is read.
pub(crate) fn next(directory: *mut libc::DIR) -> Option<*mut libc::dirent64> {
    readings(|all| {
        let reading = all.get_mut(&directory.addr())?;
        let named = [".", ".."];
        let name = named.iter().chain(reading.names).nth(reading.at);
        let Some(name) = name else { return Some(std::ptr::null_mut()) };
        reading.at += 1;
        let entry = &mut *reading.entry;
        entry.d_ino = reading.at as u64;
        entry.d_off = 0;
        entry.d_reclen = size_of::<libc::dirent64>() as u16;
        entry.d_type = libc::DT_UNKNOWN;
        for (to, &from) in entry.d_name.iter_mut().zip(name.as_bytes().iter().chain(&[0])) {
            *to = std::ffi::c_char::from_ne_bytes([from]);
        }
        Some(&raw mut *entry)
    })
}

/// Begins anew; whether this is a directory of ours.
pub(crate) fn rewind(directory: *mut libc::DIR) -> bool {
    readings(|all| all.get_mut(&directory.addr()).map(|reading| reading.at = 0)).is_some()
}

/// Ends reading; whether this is a directory of ours.
pub(crate) fn close(directory: *mut libc::DIR) -> bool {
    readings(|all| all.remove(&directory.addr())).is_some()
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_read_in_order() {
        let directory = super::open(&["a", "bc"]);
        for _ in 0..2 {
            let mut names = Vec::new();
            while let Some(entry) = super::next(directory).filter(|entry| !entry.is_null()) {
                // SAFETY: an entry of ours, whose name ends with 0.
                names.push(unsafe { std::ffi::CStr::from_ptr((*entry).d_name.as_ptr()) }.to_str().unwrap().to_owned());
            }
            assert_eq!(names, [".", "..", "a", "bc"]);
            assert!(super::rewind(directory));
        }
        assert!(super::close(directory) && !super::close(directory));
        assert!(super::next(std::ptr::null_mut()).is_none());
    }
}
