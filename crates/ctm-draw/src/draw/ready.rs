//! Pieces that are ready to be drawn.

use crate::setup::piece::Piece;
use crate::setup::seen::Seen;
use crate::vertex::Vertices;
use std::cell::Cell;

/// Pieces to draw, with their vertices.
#[derive(Default)]
pub(crate) struct Ready {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) vertices: Vertices,
    /// Of the vertices, those in the window.
    pub(crate) seen: Vec<Option<Seen>>,
}

thread_local! {
    /// Those of the last draw, for their memory.
    static KEPT: Cell<Vec<Ready>> = const { Cell::new(Vec::new()) };
}

/// Most of them: threads may keep those of others.
const MOST_KEPT: usize = 64;

/// Batches that have been drawn: the next ones take their memory.
#[derive(Default)]
pub(crate) struct Batches(Vec<Ready>);

impl Batches {
    /// Those of this thread's last draw.
    pub(crate) fn kept() -> Self {
        Self(KEPT.take())
    }

    /// Keeps them for this thread's next draw.
    pub(crate) fn keep(mut self) {
        self.0.truncate(MOST_KEPT);
        KEPT.set(self.0);
    }

    pub(crate) fn add(&mut self, ready: Ready) {
        self.0.push(ready);
    }

    /// One of them, or none yet.
    pub(crate) fn take(&mut self) -> Ready {
        self.0.pop().unwrap_or_default()
    }
}
