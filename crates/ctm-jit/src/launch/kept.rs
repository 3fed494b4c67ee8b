//! Pools of working memory for later launches.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

/// The most entries of a pool.
const MOST: usize = 64;

/// Entries that are free.
pub struct Pool<T>(Mutex<Vec<T>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Pool<T> {
    /// A free entry, or a new one.
    pub fn take(&self, new: impl FnOnce() -> T) -> Kept<'_, T> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Kept { pool: self, thing: Some(kept.unwrap_or_else(new)) }
    }
}

/// An entry of a pool, to which it is returned when dropped.
pub struct Kept<'a, T> {
    pool: &'a Pool<T>,
    /// Some until it is dropped.
    thing: Option<T>,
}

impl<T> Deref for Kept<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.thing.as_ref().unwrap_or_else(|| unreachable!("it lives"))
    }
}

impl<T> DerefMut for Kept<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.thing.as_mut().unwrap_or_else(|| unreachable!("it lives"))
    }
}

impl<T> Drop for Kept<'_, T> {
    fn drop(&mut self) {
        let mut kept = self.pool.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MOST {
            kept.extend(self.thing.take());
        }
    }
}
