//! Vector code of x86-64. An encoder: EVEX forms of AVX-512, VEX forms of AVX2 and FMA, mask registers, and a little integer code. And vectors for Rust code.
//!
//! [`Asm`] encodes instructions to bytes. It is no compiler: register allocation and instruction selection are the
//! caller's (`ctm-jit`), and operands are not validated.
//!
//! Vector instructions are rows ([`V`]); the tests decode every form with an independent decoder. Positions are byte offsets into the
//! code. Literals follow the code and are addressed relative to the instruction. Opcodes and forms are those of Intel's manual (Software Developer's Manual, volume 2).
//!
//! | file | content |
//! |---|---|
//! | `lib` | the encoder, general registers and integer instructions, vector instructions of single precision |
//! | `isa` | the instruction sets |
//! | `evex`, `vex` | the two forms of vector instructions |
//! | `double`, `shuffle`, `wide` | rows for elements of 64 bits, for moving elements, and for integers; integer instructions of 64 bits |
//! | `simd`, `neon` | vectors for Rust code; those of 64-bit ARM |
//! | `array` | arrays that such code reads at an index of each lane |
//! | `prefetch` | loads ahead of need, on x86-64 |
//!
//! ```
//! use ctm_x86::{ADD, Asm, Isa, Rm};
//!
//! // vaddps zmm0, zmm1, zmm2; ret
//! let mut asm = Asm::new(Isa::Avx512);
//! asm.vector(ADD, 0, 1, Rm::Reg(2));
//! asm.ret();
//! assert_eq!(asm.finish()[..7], [0x62, 0xf1, 0x74, 0x48, 0x58, 0xc2, 0xc3]);
//! ```

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod array;
mod double;
mod evex;
mod isa;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod prefetch;
mod shuffle;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod simd;
mod vex;
mod wide;

pub use double::*;
pub use isa::Isa;
#[cfg(target_arch = "x86_64")]
pub use prefetch::prefetch;
pub use shuffle::*;
pub use vex::*;
pub use wide::*;

use rustc_hash::FxHashMap as Map;

/// A vector instruction: opcode map, mandatory prefix, opcode byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct V {
    /// The prefix of AVX-512 where all numbers of registers are 0; the forms of AVX2 take their fields from it.
    prefix: u32,
    opcode: u8,
    /// The number of times that an operand in memory is halved: 0 for whole vectors, 4 for single elements.
    part: u8,
}

impl V {
    /// By the opcode's map (1: 0F, 2: 0F38, 3: 0F3A), the mandatory prefix (0: none, 1: 66, 2: F3, 3: F2) and whether elements have 64 bits.
    const fn new(map: u8, pp: u8, opcode: u8, is_wide: bool) -> Self {
        Self { prefix: u32::from_le_bytes([0x62, 0xf0 | map, (is_wide as u8) << 7 | 0x7c | pp, 0x48]), opcode, part: 0 }
    }

    const fn map(self) -> u8 {
        self.prefix.to_le_bytes()[1] & 7
    }

    const fn pp(self) -> u8 {
        self.prefix.to_le_bytes()[2] & 3
    }

    /// 1: elements of 64 bits. The forms of AVX2 do not use it.
    const fn wide(self) -> u8 {
        self.prefix.to_le_bytes()[2] >> 7
    }
}

impl V {
    /// Every row: its name, and the instruction.
    pub fn rows() -> impl Iterator<Item = (&'static str, Self)> {
        [ROWS, DOUBLE_ROWS, SHUFFLE_ROWS, VEX_ROWS, R700_ROWS].into_iter().flatten().copied()
    }

    /// The name of its row; of equal rows, that of the first one.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        Self::rows().find(|&(_, row)| row == self).map(|(name, _)| name)
    }

    /// The row of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::rows().find(|&(row, _)| row == name).map(|(_, row)| row)
    }
}

const fn v(map: u8, pp: u8, opcode: u8) -> V {
    V::new(map, pp, opcode, false)
}

const fn wide(map: u8, pp: u8, opcode: u8) -> V {
    V::new(map, pp, opcode, true)
}

macro_rules! rows {
    ($table:ident $($(#[doc = $doc:literal])* $name:ident = $map:literal $pp:literal $opcode:literal $(part $part:literal)?;)+) => {
        $(
            $(#[doc = $doc])*
            #[doc = concat!("Opcode ", $opcode, " of map ", $map, ", prefix ", $pp, ".")]
            pub const $name: V = V { part: 0 $(+ $part)?, ..v($map, $pp, $opcode) };
        )+
        /// Every row with its name.
        pub const $table: &[(&str, V)] = &[$((stringify!($name), $name)),+];
    };
}

use rows;

rows! { ROWS
    MOVUPS_LOAD = 1 0 0x10;
    MOVUPS_STORE = 1 0 0x11;
    MOVAPS = 1 0 0x28;
    AND = 1 1 0xdb;
    OR = 1 1 0xeb;
    XOR = 1 1 0xef;
    SQRT = 1 0 0x51;
    ADD = 1 0 0x58;
    MUL = 1 0 0x59;
    SUB = 1 0 0x5c;
    MIN = 1 0 0x5d;
    MAX = 1 0 0x5f;
    CVT_I32_F32 = 1 0 0x5b;
    SHIFT_IMM = 1 1 0x72;
    CMP_F32 = 1 0 0xc2;
    ADD_I32 = 1 1 0xfe;
    SUB_I32 = 1 1 0xfa;
    BROADCAST = 2 1 0x18;
    BLEND_MASK = 2 1 0x65;
    FMADD132 = 2 1 0x98;
    FMADD213 = 2 1 0xa8;
    FMADD231 = 2 1 0xb8;
    FMSUB132 = 2 1 0x9a;
    FMSUB213 = 2 1 0xaa;
    FMSUB231 = 2 1 0xba;
    FNMADD132 = 2 1 0x9c;
    FNMADD213 = 2 1 0xac;
    FNMADD231 = 2 1 0xbc;
    FNMSUB132 = 2 1 0x9e;
    FNMSUB213 = 2 1 0xae;
    FNMSUB231 = 2 1 0xbe;
    PERMUTE_IN_QUAD = 3 1 0x04;
    ROUND_SCALE = 3 1 0x08;
    CMP_I32 = 3 1 0x1f;
    CLASS = 3 1 0x66;
    /// The exponent, as a number.
    EXPONENT = 2 1 0x42;
    /// The fraction, with the exponent of the immediate.
    FRACTION = 3 1 0x26;
    /// Less its nearest integer.
    REDUCE = 3 1 0x56;
    /// Times a power of two.
    SCALE = 2 1 0x2c;
    /// One of two numbers by size.
    RANGE = 3 1 0x50;
    /// Replaces results by the class of an operand.
    FIXUP = 3 1 0x54;
}

/// A general register, by number.
pub type Gpr = u8;

macro_rules! general {
    ($($name:ident $number:literal)+) => {
        $(
            #[doc = concat!("General register ", $number, ".")]
            pub const $name: Gpr = $number;
        )+
    };
}

general! { RAX 0 RCX 1 RDX 2 RBX 3 RSP 4 RBP 5 RSI 6 RDI 7 }

/// The last operand of a vector instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rm {
    /// A vector register (or a mask register).
    Reg(u8),
    /// 64 bytes at base + offset.
    Row(Gpr, i32),
    /// 4 bytes at base + offset, in every lane.
    Each(Gpr, i32),
    /// Memory at base + (index << shift) + offset: the index is a general register, or a vector.
    At(Gpr, u8, u8, i32),
    /// A literal, in every lane.
    Literal(u32),
    /// In each lane of a part of 8 lanes: the distance of the lane's mask bit from the sign bit.
    LaneShifts(u8),
}

impl Rm {
    /// Numbers whose high bits the prefix has: of the register or base, and of the index. The highest bit of a vector register is at the place of an index's.
    const fn numbers(self) -> (u8, u8) {
        match self {
            Self::Reg(register) => (register, register >> 1 & 8),
            Self::Row(base, _) | Self::Each(base, _) => (base, 0),
            Self::At(base, index, ..) => (base, index),
            Self::Literal(_) | Self::LaneShifts(_) => (0, 0),
        }
    }
}

/// Extension of [`SHIFT_IMM`]: zeros come in from the left.
pub const PSRL: u8 = 2;
/// The same: copies of the sign.
pub const PSRA: u8 = 4;
/// The same: zeros from the right.
pub const PSLL: u8 = 6;

/// A place to jump to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(usize);

/// Condition codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cond {
    /// Unsigned below.
    Below = 2,
    /// Unsigned above or equal.
    AboveEqual = 3,
    /// Equal, zero.
    Equal = 4,
    /// Not equal, not zero.
    NotEqual = 5,
}

/// Integer operations with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Int {
    /// `dst += src`.
    Add = 0x03,
    /// `dst |= src`.
    Or = 0x0b,
    /// `dst &= src`.
    And = 0x23,
    /// `dst -= src`.
    Sub = 0x2b,
    /// `dst ^= src`.
    Xor = 0x33,
    /// Sets flags by `dst - src`.
    Cmp = 0x3b,
    /// `dst = src`.
    Mov = 0x8b,
}

/// Bytes of an instruction, and their count.
type Bytes = (u64, usize);

/// No bytes.
const NOTHING: Bytes = (0, 0);

/// The bytes of an immediate.
const fn dword(imm: i32) -> Bytes {
    (imm.cast_unsigned() as u64, 4)
}

/// The byte of an immediate, where there is one.
fn immediate(imm: Option<u8>) -> Bytes {
    imm.map_or(NOTHING, |imm| (imm.into(), 1))
}

/// The prefix, where it is needed, and the opcode, of one byte or two.
const fn prefixed(wide: bool, reg: u8, base: u8, opcode: u16) -> Bytes {
    let rex = 0x40 | (wide as u8) << 3 | (reg >> 3 & 1) << 2 | base >> 3 & 1;
    let (opcode, count) = if opcode > 0xff { (opcode.swap_bytes() as u64, 2) } else { (opcode as u64, 1) };
    if rex == 0x40 { (opcode, count) } else { (rex as u64 | opcode << 8, 1 + count) }
}

/// ModRM, SIB and displacement of an operand in memory. `reg` is in its place; `sib` names an index, if there is one; a byte displacement counts in steps
/// of `1 << shift`.
#[inline]
const fn in_memory(reg: u8, base: Gpr, sib: Option<u8>, offset: i32, shift: u32) -> Bytes {
    let scaled = offset >> shift;
    let short = scaled << shift == offset && scaled as i8 as i32 == scaled;
    let mode = if short { 0x40 } else { 0x80 } | reg;
    let displacement = if short { scaled as i8 as u8 as u64 } else { offset.cast_unsigned() as u64 };
    let bytes = if short { 1 } else { 4 };
    let sib = match sib {
        // A base like the stack pointer is named by a byte of its own.
        None if base & 7 == 4 => Some(0x24),
        sib => sib,
    };
    match sib {
        Some(sib) => ((mode | 4) as u64 | (sib as u64) << 8 | displacement << 16, 2 + bytes),
        None => ((mode | base & 7) as u64 | displacement << 8, 1 + bytes),
    }
}

/// General registers that belong to the caller.
const CALLERS: [Gpr; 6] = [RBX, RBP, 12, 13, 14, 15];

/// Code under construction.
#[derive(Debug)]
pub struct Asm {
    /// The instruction set.
    pub isa: Isa,
    /// The bytes so far.
    pub code: Vec<u8>,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
    /// Dwords after the code; a literal of wide code is eight of them.
    literals: Vec<u32>,
    /// The numbers of literals, by their values.
    literal_numbers: Map<u64, usize>,
    /// The last one of them: mostly the next one, too, as each part of a vector names it.
    last_literal: (u64, usize),
    /// The offset of a displacement to a literal, the end of its instruction, and the number of its first dword.
    literal_uses: Vec<(usize, usize, usize)>,
}

impl Asm {
    /// No code yet; whole vectors are the instruction set's.
    pub fn new(isa: Isa) -> Self {
        Self {
            isa,
            code: Vec::with_capacity(32 << 10),
            labels: Vec::with_capacity(256),
            jumps: Vec::with_capacity(256),
            literals: Vec::new(),
            literal_numbers: Map::default(),
            last_literal: (u64::MAX, 0),
            literal_uses: Vec::with_capacity(256),
        }
    }

    /// A label without a place yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Gives a label this place.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.code.len());
    }

    fn byte(&mut self, byte: u8) {
        self.code.push(byte);
    }

    fn dword(&mut self, dword: i32) {
        self.code.extend_from_slice(&dword.to_le_bytes());
    }

    /// The lowest `count` bytes of a number.
    #[inline]
    fn bytes(&mut self, bits: u128, count: usize) {
        self.code.extend_from_slice(&bits.to_le_bytes());
        self.code.truncate(self.code.len() - 16 + count);
    }

    /// The finished code: jumps resolved, literals appended.
    pub fn finish(mut self) -> Vec<u8> {
        for (at, label) in std::mem::take(&mut self.jumps) {
            let target = self.labels[label.0].unwrap_or_default();
            let distance = target as i64 - (at as i64 + 4);
            self.code[at..at + 4].copy_from_slice(&(distance as i32).to_le_bytes());
        }
        while !self.code.len().is_multiple_of(self.literal_bytes()) {
            self.byte(0xcc);
        }
        let pool = self.code.len();
        self.code.reserve_exact(4 * self.literals.len());
        for literal in std::mem::take(&mut self.literals) {
            self.code.extend_from_slice(&literal.to_le_bytes());
        }
        for (at, end, literal) in std::mem::take(&mut self.literal_uses) {
            let distance = (pool + 4 * literal) as i64 - end as i64;
            self.code[at..at + 4].copy_from_slice(&(distance as i32).to_le_bytes());
        }
        self.code
    }

    /// ModRM, SIB and displacement of an operand, with the counts of the instruction's bytes before and after it. A byte displacement counts in steps of
    /// `1 << shift`.
    #[inline]
    fn tail(&mut self, reg: u8, rm: Rm, shift: u32, around: [usize; 2]) -> Bytes {
        let reg = (reg & 7) << 3;
        match rm {
            Rm::Reg(r) => ((0xc0 | reg | r & 7).into(), 1),
            Rm::Row(base, offset) | Rm::Each(base, offset) => in_memory(reg, base, None, offset, shift),
            Rm::At(base, index, scale, offset) => {
                in_memory(reg, base, Some(scale << 6 | (index & 7) << 3 | base & 7), offset, shift)
            }
            Rm::Literal(bits) => self.pooled(reg, bits.into(), around, |_| bits),
            Rm::LaneShifts(piece) => {
                let name = 1 << 32 | u64::from(piece);
                self.pooled(reg, name, around, |lane| 31 - 8 * u32::from(piece) - lane as u32)
            }
        }
    }

    /// An instruction: the bytes before the operand, the operand, and the bytes after it.
    #[inline]
    fn put(&mut self, (head, before): Bytes, (tail, count): Bytes, (imm, after): Bytes) {
        self.bytes(u128::from(head) | u128::from(tail) << (8 * before), before + count);
        if after > 0 {
            self.bytes(imm.into(), after);
        }
    }

    /// Bytes of a literal: an instruction without a broadcast needs all of it.
    const fn literal_bytes(&self) -> usize {
        match self.isa {
            Isa::Avx512 => 4,
            Isa::Avx2 | Isa::Four => 32,
        }
    }

    /// Names a literal after the code, as [`Self::tail`] does. `name` means the lanes.
    fn pooled(&mut self, reg: u8, name: u64, [before, after]: [usize; 2], lane: impl Fn(usize) -> u32) -> Bytes {
        let lanes = self.literal_bytes() / 4;
        if self.last_literal.0 != name {
            let next = self.literal_numbers.len();
            let number = *self.literal_numbers.entry(name).or_insert(next);
            if number == next {
                self.literals.extend((0..lanes).map(lane));
            }
            self.last_literal = (name, number);
        }
        // The displacement follows a byte, and counts from the instruction's end.
        let at = self.code.len() + before + 1;
        self.literal_uses.push((at, at + 4 + after, self.last_literal.1 * lanes));
        ((reg | 5).into(), 5)
    }

    /// An instruction on whole vectors: `reg`, `second` (0 where it has none), `rm`, immediate.
    pub fn instruction(&mut self, op: V, reg: u8, second: u8, rm: Rm, imm: Option<u8>) {
        match self.isa {
            Isa::Avx512 => self.evex(op, reg, second, rm, 0, false, imm),
            Isa::Avx2 | Isa::Four => self.vex(op, reg, second, rm, imm),
        }
    }

    /// `dst = op(a, b)`.
    pub fn vector(&mut self, op: V, dst: u8, a: u8, b: Rm) {
        self.instruction(op, dst, a, b, None);
    }

    /// An integer instruction on registers or memory.
    fn integer(&mut self, wide: bool, opcode: u16, reg: Gpr, rm: Rm, imm: Bytes) {
        let head = prefixed(wide, reg, rm.numbers().0, opcode);
        let tail = self.tail(reg, rm, 0, [head.1, imm.1]);
        self.put(head, tail, imm);
    }

    /// An instruction whose opcode names the register.
    fn of_register(&mut self, opcode: u8, r: Gpr) {
        let (bits, count) = prefixed(false, 0, r, (opcode | r & 7).into());
        self.bytes(bits.into(), count);
    }

    /// `dst op= [base + offset]` (32 bits, or 64 when `wide`).
    pub fn int_load(&mut self, op: Int, wide: bool, dst: Gpr, base: Gpr, offset: i32) {
        self.integer(wide, op as u16, dst, Rm::Row(base, offset), NOTHING);
    }

    /// `[base + offset] op= src` (32 bits, or 64 when `wide`).
    pub fn int_store(&mut self, op: Int, wide: bool, base: Gpr, offset: i32, src: Gpr) {
        self.integer(wide, op as u16 - 2, src, Rm::Row(base, offset), NOTHING);
    }

    /// `dst = imm`.
    pub fn int_imm(&mut self, dst: Gpr, imm: u32) {
        self.of_register(0xb8, dst);
        self.dword(imm as i32);
    }

    /// `dst op= imm` (32 bits).
    pub fn int_op_imm(&mut self, op: Int, dst: Gpr, imm: i32) {
        self.integer(false, 0x81, (op as u8 >> 3) & 7, Rm::Reg(dst), dword(imm));
    }

    /// `[base + offset] op= imm` (32 bits, or 64 when `wide`); [`Int::Mov`] stores.
    pub fn int_store_imm(&mut self, op: Int, wide: bool, base: Gpr, offset: i32, imm: i32) {
        let (opcode, extension) = if op == Int::Mov { (0xc7, 0) } else { (0x81, (op as u8 >> 3) & 7) };
        self.integer(wide, opcode, extension, Rm::Row(base, offset), dword(imm));
    }

    /// Sets flags by `a & b`.
    pub fn test(&mut self, a: Gpr, b: Gpr) {
        self.integer(false, 0x85, b, Rm::Reg(a), NOTHING);
    }

    /// Sets flags by `a & imm`.
    pub fn test_imm(&mut self, a: Gpr, imm: i32) {
        self.integer(false, 0xf7, 0, Rm::Reg(a), dword(imm));
    }

    /// `dst = [base + offset] * factor`, 64 bits.
    pub fn multiply_wide(&mut self, dst: Gpr, base: Gpr, offset: i32, factor: i32) {
        self.integer(true, 0x69, dst, Rm::Row(base, offset), dword(factor));
    }

    /// The distance to a label, once that has a place.
    fn distance(&mut self, to: Label) {
        self.jumps.push((self.code.len(), to));
        self.dword(0);
    }

    /// Jumps.
    pub fn jump(&mut self, to: Label) {
        self.byte(0xe9);
        self.distance(to);
    }

    /// Jumps if the condition holds.
    pub fn jump_if(&mut self, condition: Cond, to: Label) {
        self.code.extend([0x0f, 0x80 | condition as u8]);
        self.distance(to);
    }

    /// Jumps if the condition holds of `[base + offset]` (32 bits, or 64 when `wide`) and a number.
    pub fn jump_cmp(&mut self, wide: bool, base: Gpr, offset: i32, imm: i32, condition: Cond, to: Label) {
        self.int_store_imm(Int::Cmp, wide, base, offset, imm);
        self.jump_if(condition, to);
    }

    /// Calls the address in `[base + offset]`.
    pub fn call(&mut self, base: Gpr, offset: i32) {
        self.integer(false, 0xff, 2, Rm::Row(base, offset), NOTHING);
    }

    /// Pushes a register.
    pub fn push(&mut self, r: Gpr) {
        self.of_register(0x50, r);
    }

    /// Pops a register.
    pub fn pop(&mut self, r: Gpr) {
        self.of_register(0x58, r);
    }

    /// Adds to the stack pointer.
    pub fn move_stack(&mut self, bytes: i32) {
        self.wide_imm(Int::Add, RSP, bytes);
    }

    /// Returns.
    pub fn ret(&mut self) {
        self.byte(0xc3);
    }

    /// The prologue of a function that is called from outside: saves the caller's registers, and aligns the stack.
    pub fn enter(&mut self) {
        CALLERS.into_iter().for_each(|register| self.push(register));
        self.move_stack(-8);
    }

    /// The epilogue of such a function.
    pub fn leave(&mut self) {
        self.zero_upper();
        self.move_stack(8);
        CALLERS.into_iter().rev().for_each(|register| self.pop(register));
        self.ret();
    }

    /// Clears the upper halves of vector registers, as later code may use older forms.
    pub fn zero_upper(&mut self) {
        self.code.extend([0xc5, 0xf8, 0x77]);
    }
}

#[cfg(test)]
#[path = "../tests/unit/lib.rs"]
mod tests;
