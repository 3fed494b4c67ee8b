//! Events of the present thread's launches: the effects of passes that act while a launch runs, in numbers. Tests compare
//! their text.

use std::cell::Cell;
use std::fmt;

/// Counts of events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Calls of machine code that may run several wavefronts.
    pub spans: u64,
    /// Copies of inputs in panels.
    pub panels: u64,
    /// Fetches that machine code has left to their reference function.
    pub reference_fetches: u64,
}

thread_local! {
    static EVENTS: Cell<Events> = const { Cell::new(Events { spans: 0, panels: 0, reference_fetches: 0 }) };
}

/// The events so far.
#[must_use]
pub fn events() -> Events {
    EVENTS.get()
}

/// Counts an event.
pub fn note(change: impl FnOnce(&mut Events)) {
    let mut events = EVENTS.get();
    change(&mut events);
    EVENTS.set(events);
}

impl Events {
    /// Those after others of the same thread.
    #[must_use]
    pub const fn since(self, before: Self) -> Self {
        Self {
            spans: self.spans - before.spans,
            panels: self.panels - before.panels,
            reference_fetches: self.reference_fetches - before.reference_fetches,
        }
    }
}

impl fmt::Display for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { spans, panels, reference_fetches } = self;
        write!(f, "spans={spans} panels={panels} reference_fetches={reference_fetches}")
    }
}
