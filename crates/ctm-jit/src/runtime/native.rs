//! What machine code is given of a launch's arrays.

use crate::codegen::x86::TargetOfSpan;
use crate::codegen::x86::stream::{InputView, OutputView, Surfaces};
use crate::ir::x1k::Code;
use crate::launch::direct::{Targets, cells};
use crate::launch::grid::Strip;
use crate::launch::lanes::LANES;
use ctm_exec::Position;
use ctm_exec::x1k::{Direct, Filter, Form, Input, Wrap, Written};
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
        let fits =
            descriptor.width <= elements.width && descriptor.height <= elements.height && elements.form == Form::Floats;
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
        let fits = last.i < output.width && last.j < output.height && output.form == Form::Floats;
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

impl Targets<'_> {
    /// Where outputs of whole groups go that lie side by side from this place on; `outputs`: the components that the program may write.
    pub fn of_span(&self, at: Position, strip: Strip, outputs: &[usize]) -> [TargetOfSpan<'_>; OUTPUTS] {
        let targets: [_; OUTPUTS] = std::array::from_fn(|index| {
            let Some(target) = &self.targets[index] else { return TargetOfSpan::None };
            let channels = target.channels;
            let every = (0..channels).all(|c| outputs.contains(&(4 * index + c)) && target.mask >> c & 1 == 1);
            if !every || !matches!(channels, 1 | 2 | 4) {
                return TargetOfSpan::Left;
            }
            let columns = strip.groups.div_ceil(strip.rows) as usize * LANES / 2;
            let (first, rows) = (at.j as usize * target.pitch + at.i as usize, 2 * strip.rows as usize);
            let end = first + (rows - 1) * target.pitch + columns;
            match target.cells.get(first * channels..end * channels) {
                Some(rows) => TargetOfSpan::Rows { rows, row_elements: target.pitch, channels: channels as u8 },
                None => TargetOfSpan::Left,
            }
        });
        // A pass that is left is left whole.
        if targets.iter().any(|target| matches!(target, TargetOfSpan::Left)) {
            return std::array::from_fn(|index| match targets[index] {
                TargetOfSpan::None => TargetOfSpan::None,
                _ => TargetOfSpan::Left,
            });
        }
        targets
    }
}

impl TargetOfSpan<'_> {
    /// What a whole group writes to it, if code does that.
    pub const fn written(&self) -> Written {
        match self {
            Self::None | Self::Left => Written { elements: 0, bytes: 0 },
            Self::Rows { channels, .. } => {
                Written { elements: LANES as u64, bytes: 4 * LANES as u64 * *channels as u64 }
            }
        }
    }
}
