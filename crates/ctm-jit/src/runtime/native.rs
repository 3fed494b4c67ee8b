//! What machine code of streams is given of a launch's arrays.

use crate::codegen::x86::stream::{InputView, OutputView};
use crate::launch::direct::cells;
use ctm_exec::Domain;
use ctm_exec::r700::Cells;
use ctm_exec::x1k::{Elements, Form};

/// An input of so many columns and rows that is fetched as a plain array; `None` when it is something else.
pub fn input<'a>(of: &Elements<&'a [u8]>, [width, height]: [u32; 2]) -> Option<InputView<'a>> {
    let Elements { bytes, pitch, channels, .. } = *of;
    let plain = of.form == Form::Floats && of.tiles.is_none() && matches!(channels, 1 | 2 | 4);
    let fits = width <= of.width && height <= of.height;
    (plain && fits).then_some(InputView { bytes, pitch, width, height, channels })
}

/// An output that is written as a plain array; `None` when it is something else, or does not let all its channels pass.
pub fn output(of: Elements<Cells<'_>>, Domain { i1, j1, .. }: Domain) -> Option<OutputView<'_>> {
    let Elements { pitch, channels, .. } = of;
    let plain = of.form == Form::Floats && of.tiles.is_none() && matches!(channels, 1 | 2 | 4);
    let all = (1 << channels) - 1;
    if !plain || i1 >= of.width || j1 >= of.height || u32::from(of.mask) & all != all {
        return None;
    }
    let cells = match of.bytes {
        Cells::Bytes(bytes) => cells(bytes)?,
        Cells::Dwords(elements) => cells(elements)?,
    };
    Some(OutputView { cells, pitch, channels })
}

/// Dwords as bytes, as this host orders them.
pub fn dwords(dwords: &[[u32; 4]]) -> &[u8] {
    #[allow(unsafe_code, reason = "dwords become bytes")]
    // SAFETY: dwords have no padding, and bytes may hold any bits.
    let (_, bytes, _) = unsafe { dwords.align_to::<u8>() };
    bytes
}
