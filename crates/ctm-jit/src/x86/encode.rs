//! An encoder for the instructions that the emitter uses: EVEX and VEX vector forms, mask registers, and a little integer code.
//!
//! Vector instructions are rows ([`V`]); the tests decode every form with an independent decoder. Positions are byte offsets into the
//! code. Literals lie behind the code and are addressed relative to the instruction.

/// A vector instruction: opcode map, mandatory prefix, opcode byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct V {
    /// 1: 0F, 2: 0F38, 3: 0F3A.
    map: u8,
    /// 0: none, 1: 66, 2: F3, 3: F2.
    pp: u8,
    opcode: u8,
}

const fn v(map: u8, pp: u8, opcode: u8) -> V {
    V { map, pp, opcode }
}

macro_rules! rows {
    ($($(#[doc = $doc:literal])* $name:ident = $map:literal $pp:literal $opcode:literal;)+) => {
        $($(#[doc = $doc])* pub const $name: V = v($map, $pp, $opcode);)+
        /// Every row, for the tests.
        #[cfg(test)]
        pub const ROWS: &[(&str, V)] = &[$((stringify!($name), $name)),+];
    };
}

rows! {
    MOVUPS_LOAD = 1 0 0x10;
    MOVUPS_STORE = 1 0 0x11;
    MOVAPS = 1 0 0x28;
    AND = 1 1 0xdb;
    OR = 1 1 0xeb;
    XOR = 1 1 0xef;
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
}

/// A general register, by number.
pub type Gpr = u8;
pub const RAX: Gpr = 0;
pub const RCX: Gpr = 1;
pub const RDX: Gpr = 2;
pub const RBX: Gpr = 3;
pub const RSP: Gpr = 4;
pub const RBP: Gpr = 5;
pub const RSI: Gpr = 6;
pub const RDI: Gpr = 7;

/// The last operand of a vector instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rm {
    /// A vector register (or a mask register).
    Reg(u8),
    /// 64 bytes at base + offset.
    Row(Gpr, i32),
    /// 4 bytes at base + offset, in every lane.
    Each(Gpr, i32),
    /// A literal, in every lane.
    Literal(u32),
}

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
    /// Unsigned below or equal.
    BelowEqual = 6,
}

/// Integer operations with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Int {
    Add = 0x03,
    Or = 0x0b,
    And = 0x23,
    Sub = 0x2b,
    Xor = 0x33,
    Cmp = 0x3b,
    Mov = 0x8b,
}

/// Code under construction.
#[derive(Debug, Default)]
pub struct Asm {
    /// The bytes so far.
    pub code: Vec<u8>,
    labels: Vec<Option<usize>>,
    jumps: Vec<(usize, Label)>,
    literals: Vec<u32>,
    /// Where a displacement to a literal stands, the end of its instruction, and which literal.
    literal_uses: Vec<(usize, usize, usize)>,
}

impl Asm {
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
        self.code.extend(dword.to_le_bytes());
    }

    /// The finished code: jumps resolved, literals appended.
    pub fn finish(mut self) -> Vec<u8> {
        for (at, label) in std::mem::take(&mut self.jumps) {
            let target = self.labels[label.0].unwrap_or_default();
            let distance = target as i64 - (at as i64 + 4);
            self.code[at..at + 4].copy_from_slice(&(distance as i32).to_le_bytes());
        }
        while !self.code.len().is_multiple_of(4) {
            self.byte(0xcc);
        }
        let pool = self.code.len();
        for literal in std::mem::take(&mut self.literals) {
            self.code.extend(literal.to_le_bytes());
        }
        for (at, end, literal) in std::mem::take(&mut self.literal_uses) {
            let distance = (pool + 4 * literal) as i64 - end as i64;
            self.code[at..at + 4].copy_from_slice(&(distance as i32).to_le_bytes());
        }
        self.code
    }

    /// ModRM, SIB and displacement of an operand. `scale`: what a byte displacement is multiplied with. Returns the place of a
    /// displacement to a literal, which the caller completes when it knows the end of the instruction.
    fn operand(&mut self, reg: u8, rm: Rm, scale: i32) -> Option<(usize, usize)> {
        let reg = (reg & 7) << 3;
        match rm {
            Rm::Reg(r) => self.byte(0xc0 | reg | r & 7),
            Rm::Row(base, offset) | Rm::Each(base, offset) => {
                let short = offset % scale == 0 && (-128..128).contains(&(offset / scale));
                self.byte(if short { 0x40 } else { 0x80 } | reg | base & 7);
                if base & 7 == 4 {
                    self.byte(0x24);
                }
                if short {
                    self.byte((offset / scale) as i8 as u8);
                } else {
                    self.dword(offset);
                }
            }
            Rm::Literal(bits) => {
                self.byte(reg | 5);
                let index = self.literals.iter().position(|&l| l == bits).unwrap_or_else(|| {
                    self.literals.push(bits);
                    self.literals.len() - 1
                });
                self.dword(0);
                return Some((self.code.len() - 4, index));
            }
        }
        None
    }

    /// A 512-bit EVEX instruction: `reg`, `second` (0 where it has none), `rm`, mask register (0: none), zeroing, immediate.
    #[allow(clippy::too_many_arguments, reason = "the fields of the encoding")]
    pub fn evex(&mut self, op: V, reg: u8, second: u8, rm: Rm, mask: u8, zero: bool, imm: Option<u8>) {
        let (x, b) = match rm {
            Rm::Reg(r) => (r >> 4 & 1, r >> 3 & 1),
            Rm::Row(base, _) | Rm::Each(base, _) => (0, base >> 3 & 1),
            Rm::Literal(_) => (0, 0),
        };
        // A broadcast instruction names four bytes without the broadcast bit; its displacement still counts in fours.
        let each = matches!(rm, Rm::Each(..) | Rm::Literal(_));
        let is_broadcast = op == BROADCAST;
        self.byte(0x62);
        self.byte(!(reg >> 3 & 1) << 7 | (!x & 1) << 6 | (!b & 1) << 5 | (!(reg >> 4) & 1) << 4 | op.map);
        self.byte((!second & 15) << 3 | 4 | op.pp);
        let broadcast = u8::from(each && !is_broadcast);
        self.byte(u8::from(zero) << 7 | 2 << 5 | broadcast << 4 | (!(second >> 4) & 1) << 3 | mask);
        self.byte(op.opcode);
        let literal = self.operand(reg, rm, if each { 4 } else { 64 });
        if let Some(imm) = imm {
            self.byte(imm);
        }
        if let Some((at, index)) = literal {
            self.literal_uses.push((at, self.code.len(), index));
        }
    }

    /// `dst = op(a, b)`.
    pub fn vector(&mut self, op: V, dst: u8, a: u8, b: Rm) {
        self.evex(op, dst, a, b, 0, false, None);
    }

    /// A VEX instruction on mask registers: `pp` and W as given, L 0 or 1.
    fn mask_op(&mut self, l: u8, pp: u8, opcode: u8, reg: u8, second: u8, rm: u8) {
        let b = rm >> 3 & 1;
        self.byte(0xc4);
        self.byte((!(reg >> 3) & 1) << 7 | 1 << 6 | (!b & 1) << 5 | 1);
        self.byte((!second & 15) << 3 | l << 2 | pp);
        self.byte(opcode);
        self.byte(0xc0 | (reg & 7) << 3 | rm & 7);
    }

    /// `k = the low 16 bits of r`.
    pub fn mask_from(&mut self, k: u8, r: Gpr) {
        self.mask_op(0, 0, 0x92, k, 0, r);
    }

    /// `r = k`.
    pub fn mask_to(&mut self, r: Gpr, k: u8) {
        self.mask_op(0, 0, 0x93, r, 0, k);
    }

    /// `dst = !a & b`.
    pub fn mask_and_not(&mut self, dst: u8, a: u8, b: u8) {
        self.mask_op(1, 0, 0x42, dst, a, b);
    }

    /// `dst = a | b`.
    pub fn mask_or(&mut self, dst: u8, a: u8, b: u8) {
        self.mask_op(1, 0, 0x45, dst, a, b);
    }

    /// Sets the zero flag when the mask is empty.
    pub fn mask_test(&mut self, k: u8) {
        self.mask_op(0, 0, 0x98, k, 0, k);
    }

    fn rex(&mut self, wide: bool, reg: u8, base: u8) {
        let rex = 0x40 | u8::from(wide) << 3 | (reg >> 3 & 1) << 2 | base >> 3 & 1;
        if rex != 0x40 {
            self.byte(rex);
        }
    }

    /// `dst op= src` (32 bits), between registers.
    pub fn int(&mut self, op: Int, dst: Gpr, src: Gpr) {
        self.rex(false, dst, src);
        self.byte(op as u8);
        self.operand(dst, Rm::Reg(src), 1);
    }

    /// `dst op= [base + offset]` (32 bits, or 64 when `wide`).
    pub fn int_load(&mut self, op: Int, wide: bool, dst: Gpr, base: Gpr, offset: i32) {
        self.rex(wide, dst, base);
        self.byte(op as u8);
        self.operand(dst, Rm::Row(base, offset), 1);
    }

    /// `[base + offset] op= src` (32 bits, or 64 when `wide`).
    pub fn int_store(&mut self, op: Int, wide: bool, base: Gpr, offset: i32, src: Gpr) {
        self.rex(wide, src, base);
        self.byte(op as u8 - 2);
        self.operand(src, Rm::Row(base, offset), 1);
    }

    /// `dst = imm`.
    pub fn int_imm(&mut self, dst: Gpr, imm: u32) {
        self.rex(false, 0, dst);
        self.byte(0xb8 | dst & 7);
        self.dword(imm as i32);
    }

    /// `dst op= imm` (32 bits).
    pub fn int_op_imm(&mut self, op: Int, dst: Gpr, imm: i32) {
        self.rex(false, 0, dst);
        self.byte(0x81);
        self.operand((op as u8 >> 3) & 7, Rm::Reg(dst), 1);
        self.dword(imm);
    }

    /// `[base + offset] op= imm` (32 bits, or 64 when `wide`); [`Int::Mov`] stores.
    pub fn int_store_imm(&mut self, op: Int, wide: bool, base: Gpr, offset: i32, imm: i32) {
        self.rex(wide, 0, base);
        let store = op == Int::Mov;
        self.byte(if store { 0xc7 } else { 0x81 });
        self.operand(if store { 0 } else { (op as u8 >> 3) & 7 }, Rm::Row(base, offset), 1);
        self.dword(imm);
    }

    /// `dst = the number of set bits of src`.
    pub fn popcount(&mut self, dst: Gpr, src: Gpr) {
        self.byte(0xf3);
        self.rex(false, dst, src);
        self.byte(0x0f);
        self.byte(0xb8);
        self.operand(dst, Rm::Reg(src), 1);
    }

    /// `dst = [base + offset]`, one byte, without or with sign.
    pub fn load_byte(&mut self, dst: Gpr, signed: bool, base: Gpr, offset: i32) {
        self.rex(false, dst, base);
        self.byte(0x0f);
        self.byte(if signed { 0xbe } else { 0xb6 });
        self.operand(dst, Rm::Row(base, offset), 1);
    }

    /// `dst = !dst` (32 bits).
    pub fn not(&mut self, dst: Gpr) {
        self.rex(false, 0, dst);
        self.byte(0xf7);
        self.operand(2, Rm::Reg(dst), 1);
    }

    /// Sets flags by `a & b`.
    pub fn test(&mut self, a: Gpr, b: Gpr) {
        self.rex(false, b, a);
        self.byte(0x85);
        self.operand(b, Rm::Reg(a), 1);
    }

    /// Sets flags by `a & imm`.
    pub fn test_imm(&mut self, a: Gpr, imm: i32) {
        self.rex(false, 0, a);
        self.byte(0xf7);
        self.operand(0, Rm::Reg(a), 1);
        self.dword(imm);
    }

    /// `dst <<= count` (32 bits).
    pub fn shift_left(&mut self, dst: Gpr, count: u8) {
        self.rex(false, 0, dst);
        self.byte(0xc1);
        self.operand(4, Rm::Reg(dst), 1);
        self.byte(count);
    }

    /// `dst = src + dst`, 64 bits.
    pub fn add_wide(&mut self, dst: Gpr, src: Gpr) {
        self.rex(true, dst, src);
        self.byte(Int::Add as u8);
        self.operand(dst, Rm::Reg(src), 1);
    }

    /// `dst = src`, 64 bits.
    pub fn move_wide(&mut self, dst: Gpr, src: Gpr) {
        self.rex(true, dst, src);
        self.byte(Int::Mov as u8);
        self.operand(dst, Rm::Reg(src), 1);
    }

    /// Jumps.
    pub fn jump(&mut self, to: Label) {
        self.byte(0xe9);
        self.dword(0);
        self.jumps.push((self.code.len() - 4, to));
    }

    /// Jumps if the condition holds.
    pub fn jump_if(&mut self, condition: Cond, to: Label) {
        self.byte(0x0f);
        self.byte(0x80 | condition as u8);
        self.dword(0);
        self.jumps.push((self.code.len() - 4, to));
    }

    /// Calls the address in `[base + offset]`.
    pub fn call(&mut self, base: Gpr, offset: i32) {
        self.rex(false, 0, base);
        self.byte(0xff);
        self.operand(2, Rm::Row(base, offset), 1);
    }

    /// Pushes a register.
    pub fn push(&mut self, r: Gpr) {
        self.rex(false, 0, r);
        self.byte(0x50 | r & 7);
    }

    /// Pops a register.
    pub fn pop(&mut self, r: Gpr) {
        self.rex(false, 0, r);
        self.byte(0x58 | r & 7);
    }

    /// Adds to the stack pointer.
    pub fn move_stack(&mut self, bytes: i32) {
        self.rex(true, 0, RSP);
        self.byte(0x81);
        self.operand(0, Rm::Reg(RSP), 1);
        self.dword(bytes);
    }

    /// Returns.
    pub fn ret(&mut self) {
        self.byte(0xc3);
    }

    /// `MXCSR = [base + offset]`, or the other way when `store`.
    pub fn mxcsr(&mut self, store: bool, base: Gpr, offset: i32) {
        self.rex(false, 0, base);
        self.byte(0x0f);
        self.byte(0xae);
        self.operand(if store { 3 } else { 2 }, Rm::Row(base, offset), 1);
    }

    /// Clears the upper halves of vector registers, as code that follows may use older forms.
    pub fn zero_upper(&mut self) {
        self.code.extend([0xc5, 0xf8, 0x77]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};

    /// An instruction as text, and what emits it.
    type Form = (&'static str, fn(&mut Asm));

    /// What an independent decoder reads.
    fn decoded(emit: impl FnOnce(&mut Asm)) -> String {
        let mut asm = Asm::default();
        emit(&mut asm);
        let length = asm.code.len();
        let bytes = asm.finish();
        let mut decoder = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE);
        let instruction = decoder.decode();
        assert_eq!(instruction.len(), length, "{bytes:02x?}");
        let mut text = String::new();
        IntelFormatter::new().format(&instruction, &mut text);
        text
    }

    /// Mnemonic of each row, and its shape: two sources, one source, store, mask result.
    const SHAPES: &[(V, &str, char)] = &[
        (MOVUPS_LOAD, "vmovups", '1'),
        (MOVUPS_STORE, "vmovups", 's'),
        (MOVAPS, "vmovaps", '1'),
        (AND, "vpandd", '2'),
        (OR, "vpord", '2'),
        (XOR, "vpxord", '2'),
        (ADD, "vaddps", '2'),
        (MUL, "vmulps", '2'),
        (SUB, "vsubps", '2'),
        (MIN, "vminps", '2'),
        (MAX, "vmaxps", '2'),
        (CVT_I32_F32, "vcvtdq2ps", '1'),
        (SHIFT_IMM, "", 'x'),
        (CMP_F32, "", 'x'),
        (ADD_I32, "vpaddd", '2'),
        (SUB_I32, "vpsubd", '2'),
        (BROADCAST, "vbroadcastss", 'b'),
        (BLEND_MASK, "vblendmps", '2'),
        (FMADD132, "vfmadd132ps", '2'),
        (FMADD213, "vfmadd213ps", '2'),
        (FMADD231, "vfmadd231ps", '2'),
        (FMSUB132, "vfmsub132ps", '2'),
        (FMSUB213, "vfmsub213ps", '2'),
        (FMSUB231, "vfmsub231ps", '2'),
        (FNMADD132, "vfnmadd132ps", '2'),
        (FNMADD213, "vfnmadd213ps", '2'),
        (FNMADD231, "vfnmadd231ps", '2'),
        (FNMSUB132, "vfnmsub132ps", '2'),
        (FNMSUB213, "vfnmsub213ps", '2'),
        (FNMSUB231, "vfnmsub231ps", '2'),
        (PERMUTE_IN_QUAD, "vpermilps", 'i'),
        (ROUND_SCALE, "vrndscaleps", 'i'),
        (CMP_I32, "", 'x'),
        (CLASS, "", 'x'),
    ];

    #[test]
    fn every_row_has_a_shape() {
        assert_eq!(SHAPES.iter().map(|s| s.0).collect::<Vec<_>>(), ROWS.iter().map(|r| r.1).collect::<Vec<_>>());
    }

    #[test]
    fn vector_forms() {
        let operands = [
            (Rm::Reg(30), "zmm30"),
            (Rm::Reg(5), "zmm5"),
            (Rm::Row(RBX, 0x140), "[rbx+140h]"),
            (Rm::Row(RBX, 0x141), "[rbx+141h]"),
            (Rm::Row(12, -64), "[r12-40h]"),
            (Rm::Row(RAX, 0x4000), "[rax+4000h]"),
            (Rm::Each(RBP, 8), "[rbp+8]{1to16}"),
            (Rm::Each(13, 0x4000), "[r13+4000h]{1to16}"),
        ];
        for &(op, name, shape) in SHAPES.iter().filter(|s| s.2 != 'x') {
            for (rm, text) in operands {
                for (reg, second) in [(17, 9), (2, 25), (8, 16)] {
                    let each = text.contains("1to16");
                    let imm = (shape == 'i').then_some(9);
                    let second = if shape == '2' { second } else { 0 };
                    let found = decoded(|asm| asm.evex(op, reg, second, rm, 0, false, imm));
                    let expected = match shape {
                        '2' => format!("{name} zmm{reg},zmm{second},{text}"),
                        '1' if !each || op == CVT_I32_F32 => format!("{name} zmm{reg},{text}"),
                        's' if !each => format!("{name} {text},zmm{reg}"),
                        'i' => format!("{name} zmm{reg},{text},9"),
                        'b' if each => format!("{name} zmm{reg},{}", text.replace("{1to16}", "")),
                        _ => continue,
                    };
                    assert_eq!(found, expected);
                }
            }
        }
    }

    #[test]
    fn masks_and_literals() {
        let table: &[Form] = &[
            ("vcmpunordps k1,zmm9,zmm30", |a| a.evex(CMP_F32, 1, 9, Rm::Reg(30), 0, false, Some(3))),
            ("vcmpeqps k2{k1},zmm20,zmm3", |a| a.evex(CMP_F32, 2, 20, Rm::Reg(3), 1, false, Some(0))),
            ("vpcmpltd k3,zmm1,zmm31", |a| a.evex(CMP_I32, 3, 1, Rm::Reg(31), 0, false, Some(1))),
            ("vfpclassps k3{k2},zmm17,18h", |a| a.evex(CLASS, 3, 0, Rm::Reg(17), 2, false, Some(0x18))),
            ("vpsrld zmm17,zmm30,17h", |a| a.evex(SHIFT_IMM, 2, 17, Rm::Reg(30), 0, false, Some(23))),
            ("vpsrad zmm1,zmm3,1", |a| a.evex(SHIFT_IMM, 4, 1, Rm::Reg(3), 0, false, Some(1))),
            ("vpslld zmm8,zmm24,17h", |a| a.evex(SHIFT_IMM, 6, 8, Rm::Reg(24), 0, false, Some(23))),
            ("vmovaps zmm7{k5},zmm22", |a| a.evex(MOVAPS, 7, 0, Rm::Reg(22), 5, false, None)),
            ("vaddps zmm7{k2}{z},zmm6,zmm22", |a| a.evex(ADD, 7, 6, Rm::Reg(22), 2, true, None)),
            ("kmovw k1,r12d", |a| a.mask_from(1, 12)),
            ("kmovw ecx,k3", |a| a.mask_to(RCX, 3)),
            ("kandnw k1,k2,k3", |a| a.mask_and_not(1, 2, 3)),
            ("korw k2,k2,k3", |a| a.mask_or(2, 2, 3)),
            ("kortestw k1,k1", |a| a.mask_test(1)),
        ];
        for (text, emit) in table {
            assert_eq!(&decoded(emit), text);
        }
        // A literal lies behind the code: here 10 bytes of instruction, 2 of padding.
        let text = decoded(|asm| asm.evex(ADD, 17, 9, Rm::Literal(0x3f80_0000), 0, false, None));
        assert_eq!(text, "vaddps zmm17,zmm9,[0Ch]{1to16}");
        let text = decoded(|asm| asm.evex(CMP_F32, 1, 9, Rm::Literal(7), 0, false, Some(3)));
        assert_eq!(text, "vcmpunordps k1,zmm9,[0Ch]{1to16}");
    }

    #[test]
    fn integer_forms() {
        let table: &[Form] = &[
            ("and eax,r12d", |a| a.int(Int::And, RAX, 12)),
            ("mov r9d,r13d", |a| a.int(Int::Mov, 9, 13)),
            ("xor rdx,[rbx+40h]", |a| a.int_load(Int::Xor, true, RDX, RBX, 0x40)),
            ("or r14d,[rbx+1234h]", |a| a.int_load(Int::Or, false, 14, RBX, 0x1234)),
            ("mov [rbx+40h],r8d", |a| a.int_store(Int::Mov, false, RBX, 0x40, 8)),
            ("add [rdi+8],rax", |a| a.int_store(Int::Add, true, RDI, 8, RAX)),
            ("and [rbx+40h],ecx", |a| a.int_store(Int::And, false, RBX, 0x40, RCX)),
            ("mov r15d,7", |a| a.int_imm(15, 7)),
            ("cmp r15d,7", |a| a.int_op_imm(Int::Cmp, 15, 7)),
            ("and eax,0FFFFh", |a| a.int_op_imm(Int::And, RAX, 0xffff)),
            ("mov dword ptr [rbx+40h],7", |a| a.int_store_imm(Int::Mov, false, RBX, 0x40, 7)),
            ("sub qword ptr [rbx+28h],7", |a| a.int_store_imm(Int::Sub, true, RBX, 0x28, 7)),
            ("cmp dword ptr [rbx+40h],1", |a| a.int_store_imm(Int::Cmp, false, RBX, 0x40, 1)),
            ("popcnt eax,r15d", |a| a.popcount(RAX, 15)),
            ("movzx ecx,byte ptr [rdi+4]", |a| a.load_byte(RCX, false, RDI, 4)),
            ("movsx ecx,byte ptr [rdi+6]", |a| a.load_byte(RCX, true, RDI, 6)),
            ("not r9d", |a| a.not(9)),
            ("test eax,ecx", |a| a.test(RAX, RCX)),
            ("test r8d,r8d", |a| a.test(8, 8)),
            ("test r15d,4", |a| a.test_imm(15, 4)),
            ("shl eax,4", |a| a.shift_left(RAX, 4)),
            ("add rax,rbp", |a| a.add_wide(RAX, RBP)),
            ("mov rbx,rdi", |a| a.move_wide(RBX, RDI)),
            ("call qword ptr [rbx+10h]", |a| a.call(RBX, 0x10)),
            ("push r12", |a| a.push(12)),
            ("pop rbp", |a| a.pop(RBP)),
            ("add rsp,0FFFFFFFFFFFFFFF8h", |a| a.move_stack(-8)),
            ("ret", Asm::ret),
            ("ldmxcsr [rbx+34h]", |a| a.mxcsr(false, RBX, 0x34)),
            ("stmxcsr [rbx+30h]", |a| a.mxcsr(true, RBX, 0x30)),
            ("vzeroupper", Asm::zero_upper),
        ];
        for (text, emit) in table {
            assert_eq!(&decoded(emit), text);
        }
    }

    #[test]
    fn jumps_go_where_labels_are() {
        let mut asm = Asm::default();
        let (back, on) = (asm.label(), asm.label());
        asm.place(back);
        asm.jump_if(Cond::NotEqual, on);
        asm.jump(back);
        asm.place(on);
        asm.ret();
        assert_eq!(asm.finish()[..12], [0x0f, 0x85, 5, 0, 0, 0, 0xe9, 0xf5, 0xff, 0xff, 0xff, 0xc3]);
    }
}
