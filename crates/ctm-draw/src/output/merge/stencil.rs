//! The stencil test and its operations, for lanes of one sample each.

use super::compare::{Ways, compared};
use crate::state::StencilOp;

/// The stencil test and its operations.
#[derive(Clone, Copy)]
pub(super) struct StencilTest {
    pub(super) mask: u32,
    pub(super) reference: u32,
    pub(super) ways: Ways,
    /// Where stencil fails, where depth fails, where both pass; each with its reference.
    pub(super) after: [(StencilOp, u32); 3],
    pub(super) written: u32,
}

impl StencilTest {
    /// Takes away passes of lanes that fail, and changes the stencil of those that are marked.
    #[inline(always)]
    pub(super) fn test<const HIGH: bool, const N: usize>(
        &self,
        dwords: &mut [u32; N],
        passes: &mut [u32; N],
        marked: &[u32; N],
    ) {
        let shift = if HIGH { 0 } else { 24 };
        let (mut stored, mut holds) = ([0; N], [0; N]);
        for n in 0..N {
            stored[n] = dwords[n] >> shift & 255;
        }
        for n in 0..N {
            let (new, stored) = (self.reference.cast_signed(), (stored[n] & self.mask).cast_signed());
            holds[n] = compared(new, stored, self.ways);
        }
        let [fail, depth_fail, pass] = &self.after;
        let fail = after(fail.0, fail.1, &stored);
        let depth_fail = after(depth_fail.0, depth_fail.1, &stored);
        let pass = after(pass.0, pass.1, &stored);
        for n in 0..N {
            let both = passes[n] & holds[n];
            let value = both & pass[n] | (holds[n] & !both) & depth_fail[n] | !holds[n] & fail[n];
            let written = (self.written & marked[n]) << shift;
            dwords[n] = dwords[n] & !written | value << shift & written;
            passes[n] = both;
        }
    }
}

/// Stencil values after an operation.
#[inline(always)]
fn after<const N: usize>(op: StencilOp, reference: u32, stored: &[u32; N]) -> [u32; N] {
    match op {
        StencilOp::Keep => *stored,
        StencilOp::Zero => [0; N],
        StencilOp::Replace => [reference; N],
        StencilOp::IncrementClamp => each_value(stored, |s| if s < 255 { s + 1 } else { 255 }),
        StencilOp::DecrementClamp => each_value(stored, |s| if s > 0 { s - 1 } else { 0 }),
        StencilOp::Invert => each_value(stored, |s| !s & 255),
        StencilOp::IncrementWrap => each_value(stored, |s| (s + 1) & 255),
        StencilOp::DecrementWrap => each_value(stored, |s| s.wrapping_sub(1) & 255),
    }
}

/// A function of each value. A loop alone becomes vectors: in a function for other vectors, compilers leave calls of closures as calls.
#[inline(always)]
fn each_value<const N: usize>(of: &[u32; N], change: impl Fn(u32) -> u32) -> [u32; N] {
    let mut changed = *of;
    for value in &mut changed {
        *value = change(*value);
    }
    changed
}
