//! The targets that registers name.

use super::memory::GpuMemory;
use super::outline::TargetPicture;
use super::registers::Registers;
use super::resources::{TargetWords, colour_target, depth_format, depth_target};
use super::state::{self, SpecialOp};
use crate::Error;
use crate::registers::{colour, depth};
use crate::table::{little_endian, little_endian_128};
use ctm_draw::format::{ColourFormat, Colours, NumberType, Swap};
use ctm_draw::layout::Layout;
use ctm_exec::r700::formats::{Elements, elements};
use ctm_isa::r700::ops::DataFormat;
use ctm_isa::table::FieldValue;

/// The bound targets of registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bindings {
    /// Of colours: number, place and format.
    pub(super) colour: Vec<(u32, TargetWords, ColourFormat)>,
    pub(super) depth: Option<TargetWords>,
}

/// The format of a colour target: the fields' number type decides whether numbers are floats.
fn colour_format(registers: &Registers, n: u32) -> Option<ColourFormat> {
    use colour::CB_COLOR0_INFO as Info;
    let data = DataFormat::from_bits(registers.nth(Info::FORMAT, n))?;
    let is_float =
        matches!(elements(data), Elements::Float(_) | Elements::FloatAndStencil | Elements::SmallDepth { .. });
    let number = match registers.nth(Info::NUMBER_TYPE, n) {
        _ if is_float => NumberType::Float,
        1 => NumberType::Snorm,
        2 => NumberType::Uscaled,
        3 => NumberType::Sscaled,
        4 => NumberType::Uint,
        5 => NumberType::Sint,
        6 => NumberType::Srgb,
        _ => NumberType::Unorm,
    };
    let swap = match registers.nth(Info::COMP_SWAP, n) {
        0 => Swap::Std,
        1 => Swap::Alt,
        2 => Swap::StdRev,
        _ => Swap::AltRev,
    };
    Some(ColourFormat { data, number, swap })
}

impl Bindings {
    pub(super) fn of(registers: &Registers) -> Result<Self, Error> {
        let special = state::special_op(registers);
        let samples = state::samples(registers);
        let mut bindings = Self { colour: Vec::new(), depth: None };
        let masks = state::write_masks(registers);
        for n in 0..8u32 {
            let is_bound = match special {
                SpecialOp::Normal => masks[n as usize] != 0,
                SpecialOp::Resolve => n < 2,
                SpecialOp::Disable | SpecialOp::Expand => false,
            };
            if !is_bound {
                continue;
            }
            let samples = if special == SpecialOp::Resolve && n == 1 { 1 } else { samples };
            let Some(words) = colour_target(registers, n, samples)? else { continue };
            let words = words.cut(registers.end(colour::CB_COLOR0_BASE::REGISTER.at(n)));
            // The second source of blending is bound as a copy of target 0.
            if bindings.colour.iter().any(|of| of.1.address == words.address && of.1.slices == words.slices) {
                continue;
            }
            if let Some(format) = colour_format(registers, n) {
                bindings.colour.push((n, words, format));
            }
        }
        use depth::{DB_DEPTH_CONTROL as Control, DB_RENDER_CONTROL as Render};
        let uses_depth = [
            Control::Z_ENABLE,
            Control::STENCIL_ENABLE,
            Render::DEPTH_COPY,
            Render::STENCIL_COPY,
            Render::DEPTH_CLEAR_ENABLE,
            Render::STENCIL_CLEAR_ENABLE,
        ];
        if uses_depth.iter().any(|&bits| registers.flag(bits)) {
            bindings.depth = depth_target(registers, samples)?;
        }
        Ok(bindings)
    }

    /// Whether a target has several layers.
    pub(super) fn are_layered(&self) -> bool {
        let colour = self.colour.iter().map(|of| &of.1);
        colour.chain(&self.depth).any(|words| words.slices[0] != words.slices[1])
    }

    /// The memory of all targets.
    pub(super) fn ranges(&self) -> Vec<(u64, u64)> {
        let colour = self.colour.iter().map(|of| &of.1);
        colour.chain(&self.depth).map(|words| (words.address, words.bytes())).collect()
    }

    fn told(&self, registers: &Registers) -> Vec<String> {
        let of = |name: String, format: String, words: &TargetWords| {
            let Layout { pitch, height, samples, .. } = words.layout;
            let samples = if samples > 1 { format!(", {samples} samples") } else { String::new() };
            format!("{name} {format} {pitch} x {height}{samples} at {:#x}", words.address)
        };
        let mut told: Vec<String> = self
            .colour
            .iter()
            .map(|(n, words, format)| of(format!("colour{n}"), format.data.name().to_owned(), words))
            .collect();
        if let Some(words) = &self.depth {
            let format = depth_format(words.format).map(|format| format!("{format:?}")).unwrap_or_default();
            told.push(of("depth".into(), format, words));
        }
        let streams = state::stream_output(registers).filter(|streams| streams.buffers != 0);
        told.extend(streams.map(|streams| format!("stream output, buffers {:#06b}", streams.buffers)));
        told
    }
}

/// The targets that registers name, in words.
pub(super) fn outline_targets(registers: &Registers) -> Vec<String> {
    Bindings::of(registers).map(|bindings| bindings.told(registers)).unwrap_or_default()
}

/// The contents of the registers' targets.
pub(super) fn pictures(registers: &Registers, memory: &dyn GpuMemory) -> Result<Vec<TargetPicture>, Error> {
    let bindings = Bindings::of(registers)?;
    let mut pictures = Vec::new();
    let window = {
        use crate::registers::scan;
        [registers.get(scan::PA_SC_WINDOW_SCISSOR_BR::BR_X), registers.get(scan::PA_SC_WINDOW_SCISSOR_BR::BR_Y)]
    };
    let clipped = |layout: &Layout| {
        let side = |of_window: u32, of_layout: u32| if of_window == 0 { of_layout } else { of_window.min(of_layout) };
        [side(window[0], layout.pitch), side(window[1], layout.height)]
    };
    let missing = || Error::new("outside-memory", "a target lies outside memory");
    for (n, words, format) in &bindings.colour {
        let colours = Colours::new(*format).map_err(|error| Error::new("unsupported-target", error.to_string()))?;
        let bytes = memory.bytes(words.address, words.bytes()).ok_or_else(missing)?;
        let size = clipped(&words.layout);
        let mut pixels = Vec::new();
        for y in 0..size[1] {
            for x in 0..size[0] {
                let at = words.layout.offset(x, y, words.slices[0], 0) as usize;
                let element = bytes.get(at..at + colours.bytes()).unwrap_or_default();
                pixels.push(colours.unpack(little_endian_128(element)));
            }
        }
        let integers = format.number.is_integer();
        pictures.push(TargetPicture { name: format!("colour{n}"), size, pixels, integers, layout: words.layout });
    }
    if let Some((words, format)) = bindings.depth.and_then(|words| Some((words, depth_format(words.format)?))) {
        let bytes = memory.bytes(words.address, words.bytes()).ok_or_else(missing)?;
        let size = clipped(&words.layout);
        let (mut depths, mut stencils) = (Vec::new(), Vec::new());
        for y in 0..size[1] {
            for x in 0..size[0] {
                let at = words.layout.offset(x, y, words.slices[0], 0) as usize;
                let element = bytes.get(at..at + format.bytes()).unwrap_or_default();
                let bits = little_endian(element);
                let (depth, stencil) = format.unpack(bits);
                depths.push([(format.number(depth) as f32).to_bits(), 0, 0, 0]);
                stencils.push([stencil.into(), 0, 0, 0]);
            }
        }
        let layout = words.layout;
        pictures.push(TargetPicture { name: "depth".into(), size, pixels: depths, integers: false, layout });
        if format.has_stencil() {
            pictures.push(TargetPicture { name: "stencil".into(), size, pixels: stencils, integers: true, layout });
        }
    }
    Ok(pictures)
}
