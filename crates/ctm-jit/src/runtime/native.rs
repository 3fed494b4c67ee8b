//! What machine code is given of a launch's arrays.

use crate::codegen::x86::Isa;
use crate::codegen::x86::stream::{InputView, OutputView, Surfaces};
use crate::ir::x1k::Code;
use crate::launch::direct::cells;
use ctm_exec::Position;
use ctm_exec::x1k::{Direct, Filter, Input, Wrap};
use ctm_isa::x1k::INPUTS;

/// Inputs that are fetched and outputs that are written, as streams take them; `None` when one of them is something else, or an output does not
/// let all its channels pass.
pub fn surfaces<'a>(
    isa: Isa,
    direct: Direct<'a>,
    descriptors: [Option<Input>; INPUTS],
    code: &Code,
    last: Position,
) -> Option<Surfaces<'a>> {
    let mut surfaces = Surfaces::default();
    for (index, elements) in direct.inputs.into_iter().enumerate() {
        if code.inputs >> index & 1 == 0 {
            continue;
        }
        let (descriptor, elements) = (descriptors[index]?, elements?);
        let nearest = descriptor.sampler.filter == Filter::Nearest && descriptor.sampler.wrap == [Wrap::Clamp; 2];
        let view = InputView::of(isa, &elements, [descriptor.width, descriptor.height]).filter(|_| nearest)?;
        surfaces.inputs[index] = Some(view);
    }
    for (index, output) in direct.outputs.into_iter().enumerate() {
        if code.outputs >> (4 * index) & 0xf == 0 {
            continue;
        }
        let Some(output) = output else { continue };
        let shape = output.with(());
        surfaces.outputs[index] = Some(OutputView::of(isa, &shape.with(cells(output.bytes)?), last)?);
    }
    Some(surfaces)
}

/// Dwords as bytes, as this host orders them.
pub fn dwords(dwords: &[[u32; 4]]) -> &[u8] {
    #[allow(unsafe_code, reason = "dwords become bytes")]
    // SAFETY: dwords have no padding, and bytes may hold any bits.
    let (_, bytes, _) = unsafe { dwords.align_to::<u8>() };
    bytes
}
