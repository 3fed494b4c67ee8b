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
    static KEPT: Cell<Ready> = Cell::default();
}

impl Ready {
    /// Some pieces with vertices, in the memory of this thread's last draw.
    pub(crate) fn kept() -> Self {
        KEPT.take()
    }

    /// Keeps the memory for this thread's next draw.
    pub(crate) fn keep(self) {
        KEPT.set(self);
    }
}
