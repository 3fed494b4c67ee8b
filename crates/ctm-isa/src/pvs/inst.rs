//! One decoded instruction, and its operands.

use super::formats::{DualMath, OpDst, Src};
use super::ops::{AddrMode, Component, DstType, MacroOp, MathOp, Op, Select, SrcType, VectorOp};
use crate::table::{FieldError, FieldValue as _, Value};

/// The four dwords of an instruction, dword 0 first.
pub type Words = [u32; 4];

/// The address of a register: an offset, and what is added to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterAddress {
    /// The added offset.
    pub mode: AddrMode,
    /// The component of A0, for [`AddrMode::RelativeA0`]; without effect otherwise.
    pub sel: Component,
    /// The offset.
    pub offset: u8,
}

impl RegisterAddress {
    /// Register `offset`.
    #[must_use]
    pub const fn absolute(offset: u8) -> Self {
        Self { mode: AddrMode::Absolute, sel: Component::X, offset }
    }

    /// Whether two addresses are the same register at any time. The component counts only where it has an effect.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let sel = self.mode != AddrMode::RelativeA0 || self.sel == other.sel;
        self.mode == other.mode && self.offset == other.offset && sel
    }
}

/// The two bits of an address mode, high and low.
const fn mode(high: bool, low: bool) -> Option<AddrMode> {
    AddrMode::from_code((high as u32) << 1 | low as u32)
}

/// The bits of an address mode, high and low.
const fn mode_bits(mode: AddrMode) -> (bool, bool) {
    (mode.code() & 2 != 0, mode.code() & 1 != 0)
}

fn check_mode(word: &'static str, high: bool, low: bool) -> Result<(), FieldError> {
    match mode(high, low) {
        Some(_) => Ok(()),
        None => Err(FieldError { word, field: "ADDR_MODE", found: 3, allowed: AddrMode::VALUES }),
    }
}

impl OpDst {
    /// The destination's address. Mode 3, which has no meaning, counts as absolute.
    #[must_use]
    pub fn address(&self) -> RegisterAddress {
        let mode = mode(self.addr_mode_1, self.addr_mode_0).unwrap_or(AddrMode::Absolute);
        RegisterAddress { mode, sel: self.addr_sel, offset: self.offset }
    }

    /// Sets the destination's address.
    pub fn set_address(&mut self, address: RegisterAddress) {
        (self.addr_mode_1, self.addr_mode_0) = mode_bits(address.mode);
        (self.addr_sel, self.offset) = (address.sel, address.offset);
    }

    /// The components that are written; bit 0 is x.
    #[must_use]
    pub const fn write_mask(&self) -> u8 {
        self.we_x as u8 | (self.we_y as u8) << 1 | (self.we_z as u8) << 2 | (self.we_w as u8) << 3
    }

    /// Sets the components that are written; bit 0 is x.
    pub const fn set_write_mask(&mut self, mask: u8) {
        self.we_x = mask & 1 != 0;
        self.we_y = mask & 2 != 0;
        self.we_z = mask & 4 != 0;
        self.we_w = mask & 8 != 0;
    }

    /// The operation that the opcode and the two bits beside it name.
    ///
    /// # Errors
    /// They name none.
    pub fn op(&self) -> Result<Op, FieldError> {
        let word = Self::FORMAT.name;
        let code = u32::from(self.opcode);
        let unknown = |allowed| FieldError { word, field: "PVS_DST_OPCODE", found: code, allowed };
        match (self.math, self.macro_op) {
            (false, false) => VectorOp::from_code(code).map(Op::Vector).ok_or_else(|| unknown(VectorOp::VALUES)),
            (true, false) => MathOp::from_code(code).map(Op::Math).ok_or_else(|| unknown(MathOp::VALUES)),
            (false, true) => MacroOp::from_code(code).map(Op::Macro).ok_or_else(|| unknown(MacroOp::VALUES)),
            (true, true) => Err(FieldError { word, field: "PVS_DST_MACRO_INST", found: 1, allowed: &WITH_MATH }),
        }
    }

    /// Sets the opcode and the two bits beside it.
    #[allow(clippy::cast_possible_truncation, reason = "opcodes have 6 bits")]
    pub fn set_op(&mut self, op: Op) {
        let (code, math, macro_op) = match op {
            Op::Vector(op) => (op.code(), false, false),
            Op::Math(op) => (op.code(), true, false),
            Op::Macro(op) => (op.code(), false, true),
        };
        (self.opcode, self.math, self.macro_op) = (code as u8, math, macro_op);
    }

    /// A destination that writes nothing: temporary 0 with an empty mask.
    #[must_use]
    pub const fn nothing() -> Self {
        Self {
            opcode: 0,
            math: false,
            macro_op: false,
            reg_type: DstType::Temporary,
            addr_mode_1: false,
            offset: 0,
            we_x: false,
            we_y: false,
            we_z: false,
            we_w: false,
            ve_sat: false,
            me_sat: false,
            pred_enable: false,
            pred_sense: false,
            dual_math: false,
            addr_sel: Component::X,
            addr_mode_0: false,
        }
    }
}

/// `PVS_DST_MACRO_INST` beside `PVS_DST_MATH_INST`.
const WITH_MATH: [Value; 1] = [Value {
    code: 0,
    name: "no macro, as PVS_DST_MATH_INST is set",
    doc: "A math operation is no macro.",
    cite: "R5xx PVS_OP_DST",
}];

/// `PVS_DST_DUAL_MATH_OP` of an operation that cannot have one beside it.
const NO_DUAL: [Value; 1] = [Value {
    code: 0,
    name: "none, beside math operations, macros and operations of three sources",
    doc: "The math engine and dword 3 are free only beside vector operations of at most two sources.",
    cite: "pvs-encoding §3",
}];

impl Src {
    /// The address. Mode 3, which has no meaning, counts as absolute.
    #[must_use]
    pub fn address(&self) -> RegisterAddress {
        let mode = mode(self.addr_mode_1, self.addr_mode_0).unwrap_or(AddrMode::Absolute);
        RegisterAddress { mode, sel: self.addr_sel, offset: self.offset }
    }

    /// Sets the address.
    pub fn set_address(&mut self, address: RegisterAddress) {
        (self.addr_mode_1, self.addr_mode_0) = mode_bits(address.mode);
        (self.addr_sel, self.offset) = (address.sel, address.offset);
    }

    /// What the components are, x first.
    #[must_use]
    pub const fn swizzle(&self) -> [Select; 4] {
        [self.swizzle_x, self.swizzle_y, self.swizzle_z, self.swizzle_w]
    }

    /// Sets what the components are.
    pub const fn set_swizzle(&mut self, swizzle: [Select; 4]) {
        [self.swizzle_x, self.swizzle_y, self.swizzle_z, self.swizzle_w] = swizzle;
    }

    /// The components that are negated; bit 0 is x.
    #[must_use]
    pub const fn negate(&self) -> u8 {
        self.negate_x as u8 | (self.negate_y as u8) << 1 | (self.negate_z as u8) << 2 | (self.negate_w as u8) << 3
    }

    /// Sets the components that are negated; bit 0 is x.
    pub const fn set_negate(&mut self, mask: u8) {
        self.negate_x = mask & 1 != 0;
        self.negate_y = mask & 2 != 0;
        self.negate_z = mask & 4 != 0;
        self.negate_w = mask & 8 != 0;
    }

    /// A whole register.
    #[must_use]
    pub fn register(reg_type: SrcType, address: RegisterAddress) -> Self {
        let mut src = Self { reg_type, ..Self::ZERO_WORD };
        src.set_address(address);
        src.set_swizzle([Select::X, Select::Y, Select::Z, Select::W]);
        src
    }

    /// The source of the word 0: `r0.x`.
    pub const ZERO_WORD: Self = Self {
        reg_type: SrcType::Temporary,
        abs: false,
        addr_mode_0: false,
        offset: 0,
        swizzle_x: Select::X,
        swizzle_y: Select::X,
        swizzle_z: Select::X,
        swizzle_w: Select::X,
        negate_x: false,
        negate_y: false,
        negate_z: false,
        negate_w: false,
        addr_sel: Component::X,
        addr_mode_1: false,
    };

    /// The same register with zeros for all components: compilers write it into the source after this one if the operation does not read that.
    #[must_use]
    pub fn idle_after(&self) -> Self {
        let mut idle = *self;
        idle.set_swizzle([Select::Zero; 4]);
        idle.set_negate(0);
        idle.abs = false;
        idle
    }
}

impl DualMath {
    /// The source's address. Mode 3, which has no meaning, counts as absolute.
    #[must_use]
    pub fn address(&self) -> RegisterAddress {
        let mode = mode(self.addr_mode_1, self.addr_mode_0).unwrap_or(AddrMode::Absolute);
        RegisterAddress { mode, sel: self.addr_sel, offset: self.offset }
    }

    /// Sets the source's address.
    pub fn set_address(&mut self, address: RegisterAddress) {
        (self.addr_mode_1, self.addr_mode_0) = mode_bits(address.mode);
        (self.addr_sel, self.offset) = (address.sel, address.offset);
    }

    /// The operation.
    ///
    /// # Errors
    /// The number means none.
    pub fn op(&self) -> Result<MathOp, FieldError> {
        let found = u32::from(self.opcode_msb) << 4 | u32::from(self.opcode);
        let error = FieldError { word: Self::FORMAT.name, field: "PVS_DST_OPCODE", found, allowed: MathOp::VALUES };
        MathOp::from_code(found).ok_or(error)
    }

    /// Sets the operation.
    #[allow(clippy::cast_possible_truncation, reason = "four bits are left")]
    pub fn set_op(&mut self, op: MathOp) {
        (self.opcode_msb, self.opcode) = (op.code() >> 4 != 0, (op.code() & 15) as u8);
    }

    /// The two operands as a source: the first one in the place of A, the second one as well.
    #[must_use]
    pub fn operand(&self, second: bool) -> Src {
        let (select, negate) = if second { (self.swizzle_y, self.negate_y) } else { (self.swizzle_x, self.negate_x) };
        let mut src = Src { reg_type: self.reg_type, abs: self.abs, ..Src::ZERO_WORD };
        src.set_address(self.address());
        src.set_swizzle([select; 4]);
        src.set_negate(if negate { 15 } else { 0 });
        src
    }

    /// An operation that does nothing and reads zeros of temporary 0.
    pub const IDLE: Self = Self {
        reg_type: SrcType::Temporary,
        opcode_msb: false,
        abs: false,
        addr_mode_0: false,
        offset: 0,
        swizzle_x: Select::Zero,
        swizzle_y: Select::Zero,
        dst_offset: 0,
        opcode: 0,
        negate_x: false,
        negate_y: false,
        we_sel: Component::X,
        addr_sel: Component::X,
        addr_mode_1: false,
    };
}

/// Dword 3: the third source, or a math operation beside the vector operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Third {
    /// Source 2.
    Source(Src),
    /// A dual operation.
    Dual(MathOp, DualMath),
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inst {
    /// The operation; the fields of `dst` that say it again are not read.
    pub op: Op,
    /// Dword 0.
    pub dst: OpDst,
    /// Dwords 1 and 2.
    pub sources: [Src; 2],
    /// Dword 3.
    pub third: Third,
}

impl Inst {
    /// Reads the words of an instruction. Reserved bits are ignored; [`stray_bits`] finds them.
    ///
    /// # Errors
    /// The first field that holds a number without a meaning.
    pub fn decode(words: &Words) -> Result<Self, FieldError> {
        let dst = OpDst::decode(words[0])?;
        let op = dst.op()?;
        check_mode(OpDst::FORMAT.name, dst.addr_mode_1, dst.addr_mode_0)?;
        let source = |word: u32| {
            let src = Src::decode(word)?;
            check_mode(Src::FORMAT.name, src.addr_mode_1, src.addr_mode_0).map(|()| src)
        };
        let sources = [source(words[1])?, source(words[2])?];
        let third = if dst.dual_math {
            if !matches!(op, Op::Vector(_)) || op.info().reads_source(2) {
                let word = OpDst::FORMAT.name;
                return Err(FieldError { word, field: "PVS_DST_DUAL_MATH_OP", found: 1, allowed: &NO_DUAL });
            }
            let dual = DualMath::decode(words[3])?;
            let math = dual.op()?;
            check_mode(DualMath::FORMAT.name, dual.addr_mode_1, dual.addr_mode_0)?;
            Third::Dual(math, dual)
        } else {
            Third::Source(source(words[3])?)
        };
        Ok(Self { op, dst, sources, third })
    }

    /// Writes the words; reserved bits are 0.
    #[must_use]
    pub fn encode(&self) -> Words {
        let mut dst = self.dst;
        dst.set_op(self.op);
        dst.dual_math = matches!(self.third, Third::Dual(..));
        let third = match self.third {
            Third::Source(src) => src.encode(),
            Third::Dual(op, mut dual) => {
                dual.set_op(op);
                dual.encode()
            }
        };
        [dst.encode(), self.sources[0].encode(), self.sources[1].encode(), third]
    }

    /// Source `n` of the operation, if the instruction has it.
    #[must_use]
    pub const fn source(&self, n: usize) -> Option<&Src> {
        match (n, &self.third) {
            (0 | 1, _) => Some(&self.sources[n]),
            (2, Third::Source(src)) => Some(src),
            _ => None,
        }
    }

    /// The math operation beside the vector operation.
    #[must_use]
    pub const fn dual(&self) -> Option<(MathOp, &DualMath)> {
        match &self.third {
            Third::Dual(op, dual) => Some((*op, dual)),
            Third::Source(_) => None,
        }
    }
}

/// The bits of an instruction that are set although nothing reads them.
///
/// # Errors
/// As [`Inst::decode`].
pub fn stray_bits(words: &Words) -> Result<Words, FieldError> {
    let read = Inst::decode(words)?.encode();
    Ok(std::array::from_fn(|i| words[i] & !read[i]))
}
