//! One decoded instruction, and the operands of its two units.

use super::formats::{
    AlphaAddr, AlphaInst, CmnInst, FcAddr, FcInst, RgbAddr, RgbInst, RgbaInst, TexAddr, TexAddrDxDy, TexInst,
};
use super::ops::{Imod, InstType, Sel, SrcpOp, Swizzle};
use crate::table::FieldError;

/// The six dwords of an instruction slot, dword 0 first.
pub type Words = [u32; 6];

/// An ALU or OUTPUT instruction: the RGB and the alpha half, co-issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AluInst {
    /// Dword 0.
    pub cmn: CmnInst,
    /// Dword 1.
    pub rgb_addr: RgbAddr,
    /// Dword 2.
    pub alpha_addr: AlphaAddr,
    /// Dword 3.
    pub rgb: RgbInst,
    /// Dword 4.
    pub alpha: AlphaInst,
    /// Dword 5.
    pub rgba: RgbaInst,
}

/// A texture instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TexInstruction {
    /// Dword 0.
    pub cmn: CmnInst,
    /// Dword 1.
    pub inst: TexInst,
    /// Dword 2.
    pub addr: TexAddr,
    /// Dword 3; has an effect for DXDY only.
    pub dxdy: TexAddrDxDy,
}

/// A flow-control instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FcInstruction {
    /// Dword 0.
    pub cmn: CmnInst,
    /// Dword 2.
    pub inst: FcInst,
    /// Dword 3.
    pub addr: FcAddr,
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Inst {
    /// ALU or OUTPUT, by `cmn.kind`.
    Alu(AluInst),
    /// Texture.
    Tex(TexInstruction),
    /// Flow control.
    Fc(FcInstruction),
}

impl Inst {
    /// Reads the words of one slot. Reserved bits and dwords that the type does not use are ignored, as the machine
    /// ignores them (CTM §3.2); [`stray_bits`] finds them.
    ///
    /// # Errors
    /// The first field that holds a number without a meaning.
    pub fn decode(words: &Words) -> Result<Self, FieldError> {
        let cmn = CmnInst::decode(words[0])?;
        Ok(match cmn.kind {
            InstType::Alu | InstType::Output => Self::Alu(AluInst {
                cmn,
                rgb_addr: RgbAddr::decode(words[1])?,
                alpha_addr: AlphaAddr::decode(words[2])?,
                rgb: RgbInst::decode(words[3])?,
                alpha: AlphaInst::decode(words[4])?,
                rgba: RgbaInst::decode(words[5])?,
            }),
            InstType::Tex => Self::Tex(TexInstruction {
                cmn,
                inst: TexInst::decode(words[1])?,
                addr: TexAddr::decode(words[2])?,
                dxdy: TexAddrDxDy::decode(words[3])?,
            }),
            InstType::Fc => {
                Self::Fc(FcInstruction { cmn, inst: FcInst::decode(words[2])?, addr: FcAddr::decode(words[3])? })
            }
        })
    }

    /// Writes the words; fields that the type does not use are 0.
    #[must_use]
    pub fn encode(&self) -> Words {
        match self {
            Self::Alu(i) => [
                i.cmn.encode(),
                i.rgb_addr.encode(),
                i.alpha_addr.encode(),
                i.rgb.encode(),
                i.alpha.encode(),
                i.rgba.encode(),
            ],
            Self::Tex(i) => [i.cmn.encode(), i.inst.encode(), i.addr.encode(), i.dxdy.encode(), 0, 0],
            Self::Fc(i) => [i.cmn.encode(), 0, i.inst.encode(), i.addr.encode(), 0, 0],
        }
    }

    /// The common word.
    #[must_use]
    pub const fn cmn(&self) -> &CmnInst {
        match self {
            Self::Alu(i) => &i.cmn,
            Self::Tex(i) => &i.cmn,
            Self::Fc(i) => &i.cmn,
        }
    }
}

/// The bits of a slot that are set although nothing reads them: reserved bits and unused dwords.
///
/// # Errors
/// As [`Inst::decode`].
pub fn stray_bits(words: &Words) -> Result<Words, FieldError> {
    let read = Inst::decode(words)?.encode();
    Ok(std::array::from_fn(|i| words[i] & !read[i]))
}

/// The source that an address names (the table of CTM §3.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// A temporary register, 0..=127; `relative` adds aL.
    Temp {
        /// 0..=127.
        index: u8,
        /// Add aL.
        relative: bool,
    },
    /// A constant register, 0..=255; `relative` adds aL.
    Const {
        /// 0..=255.
        index: u8,
        /// Add aL.
        relative: bool,
    },
    /// An inline constant, code 0..=127; `relative` is not allowed but can be encoded.
    Inline {
        /// 0..=127.
        code: u8,
        /// Not allowed (CTM §3.3.1), but can be encoded.
        relative: bool,
    },
}

impl Source {
    /// From the three fields of one source.
    #[must_use]
    pub const fn from_fields(addr: u8, is_const: bool, relative: bool) -> Self {
        if is_const {
            Self::Const { index: addr, relative }
        } else if addr & 0x80 != 0 {
            Self::Inline { code: addr & 0x7f, relative }
        } else {
            Self::Temp { index: addr, relative }
        }
    }

    /// The fields `(ADDR, CONST, REL)`.
    #[must_use]
    pub const fn fields(self) -> (u8, bool, bool) {
        match self {
            Self::Temp { index, relative } => (index & 0x7f, false, relative),
            Self::Const { index, relative } => (index, true, relative),
            Self::Inline { code, relative } => (code | 0x80, false, relative),
        }
    }

    /// The address that compilers write into sources that nothing reads: inline constant code 0.
    pub const IDLE: Self = Self::Inline { code: 0, relative: false };
}

/// The value of an inline constant (CTM §3.3.1): 4 bits of exponent with bias 7, 3 bits of mantissa, unsigned.
///
/// Code 0 is 2^-10, codes 1..=7 are `code * 2^-9`, the largest is 480.
#[must_use]
pub fn inline_constant(code: u8) -> f32 {
    let (exponent, mantissa) = (i32::from(code >> 3 & 0xf), f32::from(code & 7));
    match (exponent, code & 7) {
        (0, 0) => 2f32.powi(-10),
        (0, _) => mantissa * 2f32.powi(-9),
        _ => (1.0 + mantissa / 8.0) * 2f32.powi(exponent - 7),
    }
}

/// The code of the inline constant with exactly this value, if there is one.
#[must_use]
pub fn inline_code(value: f32) -> Option<u8> {
    (0..128).find(|&code| inline_constant(code).to_bits() == value.to_bits())
}

/// One operand of the RGB unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RgbOperand {
    /// Which source.
    pub sel: Sel,
    /// The sources of red, green and blue.
    pub swizzle: [Swizzle; 3],
    /// Input modifier.
    pub imod: Imod,
}

/// One operand of the alpha unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AlphaOperand {
    /// Which source.
    pub sel: Sel,
    /// Its source.
    pub swizzle: Swizzle,
    /// Input modifier.
    pub imod: Imod,
}

impl AluInst {
    /// Sources 0, 1, 2 of the RGB unit.
    #[must_use]
    pub const fn rgb_sources(&self) -> [Source; 3] {
        let a = &self.rgb_addr;
        [
            Source::from_fields(a.addr0, a.addr0_const, a.addr0_rel),
            Source::from_fields(a.addr1, a.addr1_const, a.addr1_rel),
            Source::from_fields(a.addr2, a.addr2_const, a.addr2_rel),
        ]
    }

    /// Sources 0, 1, 2 of the alpha unit.
    #[must_use]
    pub const fn alpha_sources(&self) -> [Source; 3] {
        let a = &self.alpha_addr;
        [
            Source::from_fields(a.addr0, a.addr0_const, a.addr0_rel),
            Source::from_fields(a.addr1, a.addr1_const, a.addr1_rel),
            Source::from_fields(a.addr2, a.addr2_const, a.addr2_rel),
        ]
    }

    /// Operands A, B, C of the RGB unit.
    #[must_use]
    pub const fn rgb_operands(&self) -> [RgbOperand; 3] {
        let (i, c) = (&self.rgb, &self.rgba);
        [
            RgbOperand { sel: i.sel_a, swizzle: [i.red_swiz_a, i.green_swiz_a, i.blue_swiz_a], imod: i.imod_a },
            RgbOperand { sel: i.sel_b, swizzle: [i.red_swiz_b, i.green_swiz_b, i.blue_swiz_b], imod: i.imod_b },
            RgbOperand { sel: c.rgb_sel_c, swizzle: [c.red_swiz_c, c.green_swiz_c, c.blue_swiz_c], imod: c.rgb_imod_c },
        ]
    }

    /// Operands A, B, C of the alpha unit.
    #[must_use]
    pub const fn alpha_operands(&self) -> [AlphaOperand; 3] {
        let (i, c) = (&self.alpha, &self.rgba);
        [
            AlphaOperand { sel: i.sel_a, swizzle: i.swiz_a, imod: i.imod_a },
            AlphaOperand { sel: i.sel_b, swizzle: i.swiz_b, imod: i.imod_b },
            AlphaOperand { sel: c.alpha_sel_c, swizzle: c.alpha_swiz_c, imod: c.alpha_imod_c },
        ]
    }

    /// Which operands `[A, B, C]` of the RGB unit take part in its result.
    #[must_use]
    pub const fn rgb_reads(&self) -> [bool; 3] {
        let n = self.rgba.op.info().operands();
        [n > 0, n > 1, n > 2]
    }

    /// Which operands `[A, B, C]` of the alpha unit take part in a result: its own, or the fourth pair of the RGB unit's DP4.
    #[must_use]
    pub const fn alpha_reads(&self) -> [bool; 3] {
        let n = self.alpha.op.info().operands();
        let [a, b, c] = self.rgba.op.info().looks;
        [n > 0 || a.alpha_too(), n > 1 || b.alpha_too(), n > 2 || c.alpha_too()]
    }

    /// Whether this is an OUTPUT instruction.
    #[must_use]
    pub const fn is_output(&self) -> bool {
        matches!(self.cmn.kind, InstType::Output)
    }

    /// An instruction whose halves do nothing: sources idle, no masks.
    #[must_use]
    pub fn idle(kind: InstType) -> Self {
        let (addr, is_const, relative) = Source::IDLE.fields();
        Self {
            cmn: CmnInst {
                kind,
                ..CmnInst::decode(0).unwrap_or_else(|_| unreachable!("every field of CMN_INST allows 0"))
            },
            rgb_addr: RgbAddr {
                addr0: addr,
                addr0_const: is_const,
                addr0_rel: relative,
                addr1: addr,
                addr1_const: is_const,
                addr1_rel: relative,
                addr2: addr,
                addr2_const: is_const,
                addr2_rel: relative,
                srcp_op: SrcpOp::Bias,
            },
            alpha_addr: AlphaAddr {
                addr0: addr,
                addr0_const: is_const,
                addr0_rel: relative,
                addr1: addr,
                addr1_const: is_const,
                addr1_rel: relative,
                addr2: addr,
                addr2_const: is_const,
                addr2_rel: relative,
                srcp_op: SrcpOp::Bias,
            },
            rgb: RgbInst::decode(0).unwrap_or_else(|_| unreachable!("every field of ALU_RGB_INST allows 0")),
            alpha: AlphaInst::decode(0).unwrap_or_else(|_| unreachable!("every field of ALU_ALPHA_INST allows 0")),
            rgba: RgbaInst::decode(0).unwrap_or_else(|_| unreachable!("every field of ALU_RGBA_INST allows 0")),
        }
    }
}
