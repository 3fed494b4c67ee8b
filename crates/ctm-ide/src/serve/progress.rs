//! The progress of profiles under way: the page names a ticket with its question, and asks for the ticket's share while it waits.

use ctm::trace::ProfileProgress;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Profiles under way by ticket. Tickets are random numbers of the page's.
static UNDER_WAY: Mutex<BTreeMap<u64, Arc<ProfileProgress>>> = Mutex::new(BTreeMap::new());

fn under_way() -> MutexGuard<'static, BTreeMap<u64, Arc<ProfileProgress>>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A profile under way; its ticket goes with it.
pub(super) struct Ticket {
    number: Option<u64>,
    pub(super) progress: Arc<ProfileProgress>,
}

impl Ticket {
    pub(super) fn new(number: Option<u64>) -> Self {
        let progress = Arc::<ProfileProgress>::default();
        if let Some(number) = number {
            under_way().insert(number, Arc::clone(&progress));
        }
        Self { number, progress }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut all = under_way();
        // The page may have asked again under the same number.
        if let Some(number) = self.number
            && all.get(&number).is_some_and(|known| Arc::ptr_eq(known, &self.progress))
        {
            all.remove(&number);
        }
    }
}

/// The share of a ticket's profile that is counted, 0 to 1; `None`: it has not begun, or is over.
pub(super) fn share(ticket: u64) -> Option<f64> {
    let progress = under_way().get(&ticket).cloned()?;
    progress.share()
}
