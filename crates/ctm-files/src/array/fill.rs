//! The source of rows that are written.

use super::ArrayError;

/// Appends the values of a row to a list.
pub type FillRow<'a> = dyn FnMut(usize, &mut Vec<f32>) -> Result<(), ArrayError> + 'a;

/// A failed write.
pub(super) fn unwritable(e: std::io::Error) -> ArrayError {
    ArrayError::new(format!("it cannot be written: {e}"))
}
