//! Targets of an R500.
//!
//! Tiles are stored row by row: no program sees how tiles lie in memory, and every view of a surface has the same pitch and size of pixels.

use super::super::registers::Registers;
use super::half::half;
use super::state::samples;
use crate::Error;
use crate::registers::colour::r500 as rb;
use crate::registers::depth::r500 as zb;
use crate::registers::scan::r500 as sc;
use crate::table::{bit, bits_at, one_bit};
use ctm_draw::depth::DepthFormat;
use ctm_draw::format::{ColourFormat, NumberType, Swap};
use ctm_draw::layout::Layout;
use ctm_isa::r700::ops::DataFormat;

/// A target in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TargetSurface {
    pub(super) address: u64,
    pub(super) layout: Layout,
    /// Columns and rows that draws may reach.
    pub(super) size: [u32; 2],
    /// The column and row of the layout that are pixel (0, 0).
    pub(super) first: [u32; 2],
}

impl TargetSurface {
    /// Rows up to the last of the scissor.
    fn new(registers: &Registers, address: u64, pitch: u32, bytes: u32, samples: u32) -> Self {
        let last = [registers.get(sc::SC_SCISSOR1::XS1), registers.get(sc::SC_SCISSOR1::YS1)];
        let size = [(last[0] + 1).min(pitch), last[1] + 1];
        Self { address, layout: Layout::linear(pitch, size[1], bytes, samples), size, first: [0; 2] }
    }

    /// The same of a depth target, whose pixel (0, 0) is moved. UNVERIFIED: that offsets are added.
    fn moved(self, registers: &Registers) -> Self {
        use zb::ZB_DEPTHXY_OFFSET as Offset;
        let first = [Offset::DEPTHX_OFFSET, Offset::DEPTHY_OFFSET].map(|bits| 2 * registers.get(bits));
        let Layout { pitch, height, element_bytes, samples, .. } = self.layout;
        let layout = Layout::linear(pitch, height + first[1], element_bytes, samples);
        Self { layout, size: [self.size[0].min(pitch.saturating_sub(first[0])), self.size[1]], first, ..self }
    }

    /// The layout of the pixels that draws may reach, from pixel (0, 0) on.
    pub(super) fn reached(&self) -> Layout {
        Layout::linear(self.layout.pitch, self.size[1], self.layout.element_bytes, self.layout.samples)
    }

    /// The first byte of pixel (0, 0).
    pub(super) fn first_byte(&self) -> usize {
        self.layout.offset(self.first[0], self.first[1], 0, 0) as usize
    }

    pub(super) const fn bytes(&self) -> u64 {
        let Layout { pitch, height, element_bytes, samples, .. } = self.layout;
        pitch as u64 * height as u64 * element_bytes as u64 * samples as u64
    }
}

/// A colour target with the format of its pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour {
    pub(super) surface: TargetSurface,
    pub(super) format: ColourFormat,
    /// Channels that are written, bit 0 = red.
    pub(super) mask: u8,
    /// The slot of the constant colour of each channel.
    pub(super) slots: [u8; 4],
}

/// Colour targets.
pub(super) const TARGETS: u32 = 4;

pub(super) fn outside(surface: &TargetSurface) -> Error {
    let message = format!("a target: {} bytes at {:#x} lie outside their buffer", surface.bytes(), surface.address);
    Error::new("outside-memory", message)
}

const ALPHA: u32 = 0;
const RED: u32 = 1;
const GREEN: u32 = 2;
const BLUE: u32 = 3;

/// The slots red, green, blue and alpha: their order in registers is blue, green, red, alpha.
pub(super) const BY_NAME: [u8; 4] = [2, 1, 0, 3];

/// Number of an output that goes nowhere.
const UNUSED: u32 = 15;

/// Which channels the fields of a pixel hold, from low to high bits; `None` for orders that no target has.
const fn swap(selects: &[u32]) -> Option<Swap> {
    Some(match *selects {
        [RED, GREEN, BLUE, ALPHA] | [RED, GREEN] | [RED] => Swap::Std,
        [BLUE, GREEN, RED, ALPHA] | [RED, ALPHA] | [GREEN] => Swap::Alt,
        [ALPHA, BLUE, GREEN, RED] | [GREEN, RED] | [BLUE] => Swap::StdRev,
        [ALPHA, RED, GREEN, BLUE] | [ALPHA, RED] | [ALPHA] => Swap::AltRev,
        [BLUE, GREEN, RED] => Swap::StdRev,
        [RED, GREEN, BLUE] => Swap::Std,
        _ => return None,
    })
}

/// Colour target `n`, if draws write it.
///
/// # Errors
/// Formats that are not drawn to.
pub(super) fn colour(registers: &Registers, n: u32) -> Result<Option<Colour>, Error> {
    use DataFormat as Data;
    use rb::{RB3D_COLORPITCH0 as Pitch, US_OUT_FMT_0 as Out};
    // Output 0 goes to several targets in its own format.
    let writes = registers.get(rb::RB3D_CCTL::NUM_MULTIWRITES);
    let output = if n <= writes { 0 } else { n };
    let kind = registers.nth(Out::OUT_FMT, output);
    let slots =
        rb::RB3D_COLOR_CHANNEL_MASK::MASK_0.field.extract(registers.word(rb::RB3D_COLOR_CHANNEL_MASK::REGISTER, 0));
    if kind == UNUSED || slots == 0 || registers.nth(Pitch::COLORPITCH, n) == 0 {
        return Ok(None);
    }
    let cell = registers.nth(Pitch::COLORFORMAT, n);
    let selects = [Out::C0_SEL, Out::C1_SEL, Out::C2_SEL, Out::C3_SEL].map(|bits| registers.nth(bits, output));
    let wrong = || {
        let message = format!("colour target {n}: colour format {cell} with output format {kind} is not drawn to");
        Error::new("unsupported-target", message)
    };
    // The stored components by cell and output, from low bits to high ones, and the slots of their masks.
    let (data, fields): (Data, &[(usize, u8)]) = match (cell, kind) {
        (6, 0) => (Data::Fmt8_8_8_8, &[(0, 0), (1, 1), (2, 2), (3, 3)]),
        (4, 0) => (Data::Fmt5_6_5, &[(0, 0), (1, 1), (2, 2)]),
        (3, 0) => (Data::Fmt1_5_5_5, &[(0, 0), (1, 1), (2, 2), (3, 3)]),
        (15, 0) => (Data::Fmt4_4_4_4, &[(0, 0), (1, 1), (2, 2), (3, 3)]),
        (5, 1) => (Data::Fmt2_10_10_10, &[(0, 0), (1, 1), (2, 2), (3, 3)]),
        (9, 0) => (Data::Fmt8, &[(2, 1)]),
        (13, 0) => (Data::Fmt8_8, &[(2, 2), (0, 0)]),
        (13, 3) => (Data::Fmt16, &[(0, 0)]),
        (13, 16) => (Data::Fmt16Float, &[(0, 0)]),
        (6, 4) => (Data::Fmt16_16, &[(0, 2), (1, 0)]),
        (6, 17) => (Data::Fmt16_16Float, &[(0, 2), (1, 0)]),
        (6, 19) => (Data::Fmt32Float, &[(0, 0)]),
        (10, 5) => (Data::Fmt16_16_16_16, &[(0, 0), (1, 1), (2, 2), (3, 3)]),
        (10, 18) => (Data::Fmt16_16_16_16Float, &[(0, 0), (1, 1), (2, 2), (3, 3)]),
        (10, 20) => (Data::Fmt32_32Float, &[(0, 2), (2, 0)]),
        (7, 21) => (Data::Fmt32_32_32_32Float, &[(0, 0), (1, 1), (2, 2), (3, 3)]),
        _ => return Err(wrong()),
    };
    let order: Vec<u32> = fields.iter().map(|&(component, _)| selects[component]).collect();
    let swap = swap(&order).ok_or_else(wrong)?;
    let number = match kind {
        16.. => NumberType::Float,
        _ if registers.nth(Out::OUT_SIGN, output) != 0 => NumberType::Snorm,
        _ => NumberType::Unorm,
    };
    // Constants of cells of 8 bits and less without signs, and of four half floats, have the slots of masks; all others come by the names of the slots, as the driver
    // writes them.
    let like_masks = matches!(kind, 0 | 18) && number != NumberType::Snorm;
    let (mut mask, mut slots_of) = (0, BY_NAME);
    for (&select, &(_, slot)) in order.iter().zip(fields) {
        let channel = if select == ALPHA { 3 } else { select as usize - 1 };
        if like_masks {
            slots_of[channel] = slot;
        }
        if bit(slots, slot.into()) {
            mask |= one_bit(channel as u32) as u8;
        }
    }
    let bytes = ctm_exec::r700::formats::size_bytes(data).map_err(|_| wrong())? as u32;
    let address = registers.word(rb::RB3D_COLOROFFSET0::REGISTER, n).into();
    let surface =
        TargetSurface::new(registers, address, 2 * registers.nth(Pitch::COLORPITCH, n), bytes, samples(registers));
    Ok(Some(Colour { surface, format: ColourFormat { data, number, swap }, mask, slots: slots_of }))
}

/// Where the mean of the samples of colour target 0 goes, while pixels are resolved.
pub(super) fn resolved(registers: &Registers, from: &Colour) -> Option<Colour> {
    use rb::{RB3D_AARESOLVE_CTL as Control, RB3D_AARESOLVE_OFFSET as Offset, RB3D_AARESOLVE_PITCH as Pitch};
    registers.flag(Control::AARESOLVE_MODE).then(|| {
        let address = registers.word(Offset::REGISTER, 0).into();
        let (pitch, bytes) = (2 * registers.get(Pitch::AARESOLVE_PITCH), from.surface.layout.element_bytes);
        Colour { surface: TargetSurface::new(registers, address, pitch, bytes, 1), mask: 15, ..*from }
    })
}

/// The constant colour of blending by slot: blue, green, red, alpha in 10 bits, or half floats for targets of four half floats. Other targets of floats are not
/// blended, and drivers write 10 bits for them.
pub(super) fn constant(registers: &Registers, format: Option<ColourFormat>) -> [f32; 4] {
    use rb::{RB3D_CONSTANT_COLOR_AR as Ar, RB3D_CONSTANT_COLOR_GB as Gb};
    let is_half = format.is_some_and(|format| format.data == DataFormat::Fmt16_16_16_16Float);
    [Gb::BLUE, Gb::GREEN, Ar::RED, Ar::ALPHA].map(|bits| {
        let bits = registers.get(bits);
        if is_half { half(bits) } else { bits_at(bits, 0, 10) as f32 / 1023.0 }
    })
}

/// The depth target, if draws use it, with the format of its samples.
///
/// UNVERIFIED: the floats of W24_FP are those that the R700 stores as depth, which keep their order as integers as well.
pub(super) fn depth(registers: &Registers) -> Result<Option<(TargetSurface, DepthFormat)>, Error> {
    let is_used = registers.flag(zb::ZB_CNTL::Z_ENABLE) || registers.flag(zb::ZB_CNTL::STENCIL_ENABLE);
    let pitch = 4 * registers.get(zb::ZB_DEPTHPITCH::DEPTHPITCH);
    if !is_used || pitch == 0 {
        return Ok(None);
    }
    let format = match registers.get(zb::ZB_FORMAT::DEPTHFORMAT) {
        0 => DepthFormat::D16,
        2 if registers.flag(zb::FG_DEPTH_SRC::DEPTH_SRC) && registers.get(rb::US_W_FMT::W_FMT) == 2 => {
            DepthFormat::D24FloatS8
        }
        2 => DepthFormat::D24S8,
        other => {
            let message = format!("the depth target: depth format {other} is not drawn to");
            return Err(Error::new("unsupported-target", message));
        }
    };
    let address = registers.word(zb::ZB_DEPTHOFFSET::REGISTER, 0).into();
    let surface = TargetSurface::new(registers, address, pitch, format.bytes() as u32, samples(registers));
    Ok(Some((surface.moved(registers), format)))
}

/// The cells of the depth target as a colour target of whole bytes; `None` where there is none.
pub(super) fn cells(registers: &Registers) -> Option<Colour> {
    let pitch = 4 * registers.get(zb::ZB_DEPTHPITCH::DEPTHPITCH);
    let (data, bytes) = match registers.get(zb::ZB_FORMAT::DEPTHFORMAT) {
        2 => (DataFormat::Fmt8_8_8_8, 4),
        _ => (DataFormat::Fmt16, 2),
    };
    let address = registers.word(zb::ZB_DEPTHOFFSET::REGISTER, 0).into();
    let format = ColourFormat { data, number: NumberType::Unorm, swap: Swap::Std };
    let surface = TargetSurface::new(registers, address, pitch, bytes, 1);
    (pitch > 0).then_some(Colour { surface, format, mask: 15, slots: [0; 4] })
}
