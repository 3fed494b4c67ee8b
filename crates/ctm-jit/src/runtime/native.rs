//! What machine code of streams is given of a launch's arrays.

use crate::codegen::x86::Isa;
use crate::codegen::x86::stream::OutputView;
use crate::launch::direct::cells;
use ctm_exec::r700::Cells;
use ctm_exec::x1k::Elements;
use ctm_exec::{Domain, Position};

/// An output as streams take it; `None` when it is something else, or does not let all its channels pass.
pub fn output(isa: Isa, of: Elements<Cells<'_>>, Domain { i1, j1, .. }: Domain) -> Option<OutputView<'_>> {
    let shape = of.with(());
    let cells = match of.bytes {
        Cells::Bytes(bytes) => cells(bytes)?,
        Cells::Dwords(elements) => cells(elements)?,
    };
    OutputView::of(isa, &shape.with(cells), Position { i: i1, j: j1 })
}

/// Dwords as bytes, as this host orders them.
pub fn dwords(dwords: &[[u32; 4]]) -> &[u8] {
    #[allow(unsafe_code, reason = "dwords become bytes")]
    // SAFETY: dwords have no padding, and bytes may hold any bits.
    let (_, bytes, _) = unsafe { dwords.align_to::<u8>() };
    bytes
}
