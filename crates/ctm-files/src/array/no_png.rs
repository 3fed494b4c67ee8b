//! Replaces PNG pictures in builds without the feature `png`: each use is an error.

use super::fill::FillRow;
use super::{Array, ArrayError};
use std::io::Write;

fn missing<T>() -> Result<T, ArrayError> {
    Err(ArrayError::new("this build has no PNG pictures: it was made without the feature `png`"))
}

pub(super) fn read(_: &[u8]) -> Result<Array, ArrayError> {
    missing()
}

pub(super) fn samples(_: &[u8]) -> Result<Array, ArrayError> {
    missing()
}

pub(super) fn write_rows(_: [usize; 3], _: &mut impl Write, _: &mut FillRow<'_>) -> Result<(), ArrayError> {
    missing()
}

/// Always the error: an animated PNG file needs the feature `png`.
///
/// # Errors
/// [`ArrayError`], always.
pub fn animation(_: [u32; 2], _: u16, _: &[Vec<u8>]) -> Result<Vec<u8>, ArrayError> {
    missing()
}
