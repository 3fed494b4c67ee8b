//! The inputs of pixel programs: where the interpolator takes the start values of registers from.

use super::super::registers::Registers;
use crate::Error;
use crate::registers::colour::r500 as rb;
use crate::registers::depth::r500 as zb;
use crate::registers::setup::r500 as ga;
use crate::registers::spi::r500 as rs;
use crate::table::{Bits, bits_at};

pub(super) fn unsupported<T>(message: impl Into<String>) -> Result<T, Error> {
    Err(Error::new("unsupported-draw", message))
}

/// The pointers to a component that mean 0.0 and 1.0.
pub(super) const POINTS_TO_ZERO: u32 = 62;
pub(super) const POINTS_TO_ONE: u32 = 63;

/// A register of the pixel program at its start: where its four values come from.
#[derive(Clone, Copy, Debug)]
pub(super) enum ProgramInput {
    /// Components of texture coordinates, in the order of a vertex; [`POINTS_TO_ZERO`] and [`POINTS_TO_ONE`] are numbers.
    Texture([u32; 4]),
    /// A colour, and its components.
    Colour { colour: u32, format: u32 },
    /// (1, 0, 0, 0) in back faces, zeros in front faces.
    Face { is_back: bool },
    /// The column and the row of the pixel, whole numbers. UNVERIFIED: that they are not those of its centre.
    PixelNumber,
    /// The distance of the fog unit, in the first component.
    Distance(FogSource),
    /// A depth, in the first component.
    Depth(DepthSource),
}

/// The source of the fog unit's distance (FOG_SELECT).
#[derive(Clone, Copy, Debug)]
pub(super) enum FogSource {
    /// The alpha of a colour.
    Alpha(usize),
    W,
    /// The depth in the window.
    Z,
}

/// A depth that neither the pixel program nor z gives.
#[derive(Clone, Copy, Debug)]
pub(super) enum DepthSource {
    Zero,
    /// w, as the interpolator has it for the pixel program's W output.
    W,
    /// w in place of z, in units of the depth target.
    ScaledW,
}

impl FogSource {
    /// By the registers.
    pub(super) fn of(registers: &Registers) -> Result<Self, Error> {
        Ok(match registers.get(ga::GB_SELECT::FOG_SELECT) {
            colour @ 0..=3 => Self::Alpha(colour as usize),
            4 => Self::W,
            5 => Self::Z,
            other => return unsupported(format!("the distance of the fog unit has source {other}")),
        })
    }
}

impl DepthSource {
    /// By the registers; `None` where the pixel program or z gives the depth.
    pub(super) fn of(registers: &Registers) -> Option<Self> {
        let r = registers;
        if !r.flag(zb::FG_DEPTH_SRC::DEPTH_SRC) {
            return (r.get(ga::GB_SELECT::DEPTH_SELECT) == 1).then_some(Self::ScaledW);
        }
        let writes_w = |n| r.nth(rs::RS_INST_0::W_CN, n) == 1;
        match (r.get(rb::US_W_FMT::W_FMT), r.get(rb::US_W_FMT::W_SRC)) {
            (0, _) => Some(Self::Zero),
            (_, 0) => None,
            _ if (0..=r.get(rs::RS_INST_COUNT::INST_COUNT)).any(writes_w) => Some(Self::W),
            _ => Some(Self::Zero),
        }
    }
}

/// The component of texture coordinates that gets the distance of the fog unit: its set, and its number there.
pub(super) fn stuffed_fog(registers: &Registers) -> Option<(usize, usize)> {
    use ga::GB_SELECT as Select;
    let of = |bits| registers.get(bits) as usize;
    registers.flag(Select::FOG_STUFF_ENABLE).then(|| (of(Select::FOG_STUFF_TEX), of(Select::FOG_STUFF_COMP)))
}

impl ProgramInput {
    /// The input of back faces, where it is another one.
    fn of_back(self, registers: &Registers) -> Option<Self> {
        use rs::VAP_OUT_VTX_FMT_0::{VTX_COLOR_2_PRESENT, VTX_COLOR_3_PRESENT};
        match self {
            Self::Colour { colour, format } if colour < 2 => {
                let is_there = registers.flag([VTX_COLOR_2_PRESENT, VTX_COLOR_3_PRESENT][colour as usize]);
                is_there.then_some(Self::Colour { colour: colour + 2, format })
            }
            Self::Face { .. } => Some(Self::Face { is_back: true }),
            Self::Texture(_) | Self::Colour { .. } | Self::PixelNumber | Self::Distance(_) | Self::Depth(_) => None,
        }
    }
}

/// The inputs that are others in back faces: their places in the list, and those.
pub(super) fn of_back_faces(registers: &Registers, inputs: &[(u32, ProgramInput)]) -> Vec<(usize, ProgramInput)> {
    inputs.iter().enumerate().filter_map(|(n, (_, input))| Some((n, input.of_back(registers)?))).collect()
}

/// Components of texture coordinates in the order of a vertex: the set and its component.
pub(super) fn components(registers: &Registers, points: bool) -> Vec<(usize, usize)> {
    let stuffs = points && registers.flag(ga::GB_ENABLE::POINT_STUFF_ENABLE);
    let counts = registers.word(rs::VAP_OUT_VTX_FMT_1::REGISTER, 0);
    let mut all = Vec::new();
    for (set, count) in rs::VAP_OUT_VTX_FMT_1::FIELDS.iter().enumerate() {
        let count = match SOURCES[set].field.extract(registers.word(ga::GB_ENABLE::REGISTER, 0)) {
            1 if stuffs => 2,
            2 if stuffs => 3,
            _ => count.extract(counts) as usize,
        };
        all.extend((0..count.min(4)).map(|component| (set, component)));
    }
    all
}

/// The sources of texture coordinates.
pub(super) const SOURCES: [Bits; 8] = [
    ga::GB_ENABLE::TEX0_SOURCE,
    ga::GB_ENABLE::TEX1_SOURCE,
    ga::GB_ENABLE::TEX2_SOURCE,
    ga::GB_ENABLE::TEX3_SOURCE,
    ga::GB_ENABLE::TEX4_SOURCE,
    ga::GB_ENABLE::TEX5_SOURCE,
    ga::GB_ENABLE::TEX6_SOURCE,
    ga::GB_ENABLE::TEX7_SOURCE,
];

/// The registers that the interpolator fills, with their sources.
pub(super) fn inputs(registers: &Registers) -> Result<Vec<(u32, ProgramInput)>, Error> {
    use rs::{RS_INST_0 as Inst, RS_IP_0 as Ip};
    let r = registers;
    let mut all = Vec::new();
    for n in 0..=r.get(rs::RS_INST_COUNT::INST_COUNT) {
        if r.nth(Inst::TEX_CN, n) == 1 {
            let ip = r.nth(Inst::TEX_ID, n);
            let pointers = [Ip::TEX_PTR_S, Ip::TEX_PTR_T, Ip::TEX_PTR_R, Ip::TEX_PTR_Q].map(|bits| r.nth(bits, ip));
            all.push((r.nth(Inst::TEX_ADDR, n), ProgramInput::Texture(pointers)));
        }
        match r.nth(Inst::COL_CN, n) {
            0 => {}
            1 => {
                let ip = r.nth(Inst::COL_ID, n);
                let (colour, format) = (r.nth(Ip::COL_PTR, ip), r.nth(Ip::COL_FMT, ip));
                all.push((r.nth(Inst::COL_ADDR, n), ProgramInput::Colour { colour, format }));
            }
            3 => all.push((r.nth(Inst::COL_ADDR, n), ProgramInput::Face { is_back: false })),
            _ => all.push((r.nth(Inst::COL_ADDR, n), ProgramInput::PixelNumber)),
        }
    }
    Ok(all)
}

/// A colour as the pixel program gets it.
pub(super) fn colour_value(registers: &Registers, colour: [u32; 4], format: u32) -> [u32; 4] {
    let clamped = |bits: u32, unclamped: bool| {
        let value = f32::from_bits(bits);
        if unclamped { value } else { value.clamp(0.0, 1.0) }
    };
    let free = [ga::GA_ROUND_MODE::RGB_CLAMP, ga::GA_ROUND_MODE::ALPHA_CLAMP].map(|bits| registers.flag(bits));
    let rgb: [f32; 3] = std::array::from_fn(|n| clamped(colour[n], free[0]));
    let alpha = clamped(colour[3], free[1]);
    // Bits 3:2 say what red, green and blue are, bits 1:0 what alpha is.
    let rgb = match bits_at(format, 2, 2) {
        0 => rgb,
        1 => [0.0; 3],
        _ => [1.0; 3],
    };
    let alpha = match bits_at(format, 0, 2) {
        0 => alpha,
        1 => 0.0,
        _ => 1.0,
    };
    [rgb[0], rgb[1], rgb[2], alpha].map(f32::to_bits)
}
