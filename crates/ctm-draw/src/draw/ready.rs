//! Pieces that are ready to be drawn.

use crate::setup::piece::Piece;
use crate::vertex::Vertices;

/// Pieces to draw, with their vertices.
#[derive(Default)]
pub(crate) struct Ready {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) vertices: Vertices,
}
