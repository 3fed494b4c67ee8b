//! There is no machine code.

use super::{Direct, Task};
use crate::runtime::wavefronts::Wavefronts;
use std::marker::PhantomData;

/// No spans.
pub struct Spans<'a>(PhantomData<&'a ()>);

impl<'a> Spans<'a> {
    /// There are none.
    pub fn of(_of: &'a Wavefronts<'_>, _direct: &'a Direct<'_>) -> Option<Self> {
        None
    }
}

impl Task<'_, '_> {
    pub(super) fn span(&mut self, _spans: &Spans<'_>, _index: u64, _end: u64) -> (u64, bool) {
        (0, false)
    }
}
