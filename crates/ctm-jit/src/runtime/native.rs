//! What machine code is given of a launch's arrays.

use crate::codegen::x86::stream::{InputView, OutputView, Surfaces};
use crate::ir::x1k::Code;
use crate::launch::direct::cells;
use ctm_exec::Position;
use ctm_exec::x1k::{Direct, Filter, Form, Input, Wrap};
use ctm_isa::x1k::{INPUTS, OUTPUTS};

/// Inputs that are fetched and outputs that are written as plain arrays; `None` when one of them is something else, or an output does not
/// let all its channels pass.
pub fn surfaces<'a>(
    direct: Direct<'a>,
    descriptors: [Option<Input>; INPUTS],
    code: &Code,
    last: Position,
) -> Option<Surfaces<'a>> {
    let mut surfaces = Surfaces { inputs: [None; INPUTS], outputs: [None; OUTPUTS] };
    for (index, elements) in direct.inputs.into_iter().enumerate() {
        if code.inputs >> index & 1 == 0 {
            continue;
        }
        let (descriptor, elements) = (descriptors[index]?, elements?);
        let nearest = descriptor.sampler.filter == Filter::Nearest && descriptor.sampler.wrap == [Wrap::Clamp; 2];
        let fits = descriptor.width <= elements.width
            && descriptor.height <= elements.height
            && elements.form == Form::Floats
            && elements.tiles.is_none();
        if !nearest || !fits || !matches!(elements.channels, 1 | 2 | 4) {
            return None;
        }
        surfaces.inputs[index] = Some(InputView {
            bytes: elements.bytes,
            pitch: elements.pitch,
            width: descriptor.width,
            height: descriptor.height,
            channels: elements.channels,
        });
    }
    for (index, output) in direct.outputs.into_iter().enumerate() {
        if code.outputs >> (4 * index) & 0xf == 0 {
            continue;
        }
        let Some(output) = output else { continue };
        let all = output.mask & ((1 << output.channels) - 1) as u8 == ((1 << output.channels) - 1) as u8;
        let fits =
            last.i < output.width && last.j < output.height && output.form == Form::Floats && output.tiles.is_none();
        if !all || !fits || !matches!(output.channels, 1 | 2 | 4) {
            return None;
        }
        let (pitch, channels) = (output.pitch, output.channels);
        surfaces.outputs[index] = Some(OutputView { cells: cells(output.bytes)?, pitch, channels });
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
