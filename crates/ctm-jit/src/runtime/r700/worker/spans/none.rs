//! There is no machine code.

use super::Direct;
use crate::launch::r700::bindings::Binding;
use crate::launch::r700::outputs::Outputs;
use crate::runtime::r700::engine::Run;
use crate::runtime::r700::worker::Worker;
use ctm_exec::Counters;
use ctm_exec::watch::Part;
use std::marker::PhantomData;

/// No way.
pub struct Way<'a>(PhantomData<&'a ()>);

impl<'a> Way<'a> {
    /// There is none.
    pub fn of(_run: &Run<'_>, _outputs: &Outputs<'a>) -> Option<Self> {
        None
    }
}

/// No spans.
pub struct Spans<'a>(PhantomData<&'a ()>);

impl<'a> Spans<'a> {
    /// There are none.
    pub fn new(_run: &Run<'_>, _direct: &'a Direct<'_>) -> Option<Self> {
        None
    }
}

impl Worker<'_> {
    pub(super) fn span(
        &mut self,
        _run: (&Run<'_>, &Part),
        _spans: &mut Spans<'_>,
        _direct: &Direct<'_>,
        _waves: (u64, u64),
        _bindings: &[Option<Binding<'_>>],
        _counters: &mut Counters,
    ) -> (u64, bool) {
        (0, false)
    }
}
