//! Machine code that is the same for all programs: blocks apart and together, whole lines of elements as numbers.

use super::LINE;
use super::blocks::{BlockRows, SHAPES, Shape};
use crate::codegen::x86::asm::{
    Asm, BROADCAST, CVT_I32_F32, Cond, FMADD213, Gpr, INSERT_QUARTER, Int, MOVUPS_LOAD, MOVUPS_STORE, MUL,
    PERMUTE_HALVES, PERMUTE_IN_QUAD, RAX, RBX, RCX, RDI, RDX, RSI, Rm, STORE_PAST_CACHES, UNPACK_HIGH_I64,
    UNPACK_LOW_I64, V, WIDEN_BYTES, WIDEN_WORDS,
};
use crate::codegen::x86::executable;
use crate::codegen::x86::isa::Isa;
use ctm_exec::arrays::Form;
use memmap2::Mmap;
use std::mem::offset_of;
use std::sync::OnceLock;

/// What has room for no fraction: the numbers added to it stand in its low bits.
pub const MAGIC: f32 = 8_388_608.0;

/// The first and the third channel change places.
pub const SWAP: Option<u8> = Some(0b11_00_01_10);

/// Forms that are converted.
pub const FORMS: [Form; 3] = [Form::Bytes { swapped: false }, Form::Bytes { swapped: true }, Form::Words];

/// The arguments of all routines: to or from an array; the other side; how many; rows of blocks, for those that take some.
type Entry = unsafe extern "sysv64" fn(*const u8, *const u8, usize, Option<&mut BlockRows>);

/// The routines.
pub struct Routines {
    text: Mmap,
    /// From blocks to rows, and back: through the caches, past them.
    pub blocks: [[usize; 3]; SHAPES.len()],
    /// From elements to numbers.
    pub forms: [usize; FORMS.len()],
    /// Bytes, as they are.
    pub bytes: usize,
    pub fence: usize,
}

impl Routines {
    pub fn of(isa: Isa) -> Option<&'static Self> {
        static ALL: [OnceLock<Option<Routines>>; 2] = [const { OnceLock::new() }; 2];
        ALL[usize::from(isa == Isa::Avx2)].get_or_init(|| Self::new(isa)).as_ref()
    }

    fn new(isa: Isa) -> Option<Self> {
        let mut asm = Asm::new(isa);
        let blocks = SHAPES.each_ref().map(|shape| {
            [None, Some(MOVUPS_STORE), Some(STORE_PAST_CACHES)].map(|store| blocks(&mut asm, shape, store))
        });
        let forms = FORMS.map(|form| decode(&mut asm, form));
        let bytes = asm.code.len();
        asm.wide(Int::Mov, RCX, RDX);
        asm.move_bytes();
        asm.ret();
        let fence = asm.code.len();
        asm.store_fence();
        asm.ret();
        Some(Self { text: executable(&asm.finish())?, blocks, forms, bytes, fence })
    }

    #[allow(unsafe_code, reason = "machine code is called")]
    pub fn entry(&self, at: usize) -> Entry {
        // SAFETY: the text is code that this file made for this signature, mapped executable and kept for ever.
        unsafe { std::mem::transmute::<*const u8, Entry>(self.text[at..].as_ptr()) }
    }
}

/// Registers with the rows of a panel.
const ROWS: [Gpr; 4] = [RSI, 10, 11, 9];
/// The register with the next line to prefetch.
const PREFETCH: Gpr = 12;

/// Rows of blocks: rdi the array, rsi the panel, rdx blocks of a row, as many as are taken together for each; rcx what else there is to know.
fn blocks(asm: &mut Asm, shape: &Shape, store: Option<V>) -> usize {
    let entry = asm.code.len();
    let at = |field: usize| field as i32;
    asm.push(RBX);
    asm.push(PREFETCH);
    asm.wide(Int::Mov, RBX, RCX);
    asm.int_load(Int::Mov, true, PREFETCH, RBX, at(offset_of!(BlockRows, prefetch)));
    asm.int_store(Int::Mov, true, RBX, at(offset_of!(BlockRows, array)), RDI);
    asm.int_store(Int::Mov, true, RBX, at(offset_of!(BlockRows, steps)), RDX);
    let next_row = asm.label();
    asm.place(next_row);
    // Where the row lies: its tiles, and within them.
    asm.int_load(Int::Mov, true, RAX, RBX, at(offset_of!(BlockRows, rows)));
    asm.int_load(Int::Mov, false, 8, RAX, 0);
    asm.int_store_imm(Int::Add, true, RBX, at(offset_of!(BlockRows, rows)), 4 * shape.rows as i32);
    asm.int(Int::Mov, RAX, 8);
    asm.int_load(Int::And, false, 8, RBX, at(offset_of!(BlockRows, within)));
    asm.int(Int::Sub, RAX, 8);
    asm.wide(Int::Mov, RDI, RAX);
    asm.int_load(Int::Add, true, RDI, RBX, at(offset_of!(BlockRows, array)));
    for row in 1..shape.rows as usize {
        asm.int_load(Int::Mov, true, ROWS[row], RBX, at(offset_of!(BlockRows, pitch)));
        asm.wide(Int::Add, ROWS[row], ROWS[row - 1]);
    }
    asm.int_load(Int::Mov, true, RAX, RBX, at(offset_of!(BlockRows, pitch)));
    asm.wide(Int::Add, RAX, ROWS[shape.rows as usize - 1]);
    asm.int_store(Int::Mov, true, RBX, at(offset_of!(BlockRows, panel)), RAX);
    asm.int_load(Int::Mov, true, RDX, RBX, at(offset_of!(BlockRows, columns)));
    asm.int_load(Int::Mov, true, RCX, RBX, at(offset_of!(BlockRows, steps)));
    let again = asm.label();
    asm.place(again);
    if store.is_none() {
        asm.prefetch(PREFETCH, 0);
        asm.wide_imm(Int::Add, PREFETCH, LINE as i32);
    }
    // Where blocks begin that follow one another: one line.
    asm.int_load(Int::Mov, false, RAX, RDX, 0);
    asm.int(Int::Xor, RAX, 8);
    asm.wide(Int::Add, RAX, RDI);
    let begin = |base: Gpr| Rm::Row(base, 0);
    let [a, b, one, other] = [0, 1, 2, 3];
    let two = |asm: &mut Asm, op: V, halves: [u8; 2]| {
        for (half, offset) in halves.into_iter().zip([0, LINE as i32 / 2]) {
            asm.vex(op, half, 0, Rm::Row(RAX, offset), None);
        }
    };
    match (shape.row_bytes(), store) {
        (8, None) => {
            two(asm, MOVUPS_LOAD, [a, b]);
            asm.vex(UNPACK_LOW_I64, one, a, Rm::Reg(b), None);
            asm.vex(UNPACK_HIGH_I64, other, a, Rm::Reg(b), None);
            for (row, to) in ROWS.into_iter().enumerate() {
                asm.store_16([one, other][row % 2], row > 1, to);
            }
        }
        (8, Some(store)) => {
            for (register, row) in [(a, 0), (b, 1)] {
                asm.load_16(register, ROWS[row]);
                asm.vex(INSERT_QUARTER, register, register, begin(ROWS[row + 2]), Some(1));
            }
            asm.vex(UNPACK_LOW_I64, one, a, Rm::Reg(b), None);
            asm.vex(UNPACK_HIGH_I64, other, a, Rm::Reg(b), None);
            two(asm, store, [one, other]);
        }
        (16, None) => {
            two(asm, MOVUPS_LOAD, [a, b]);
            for (row, halves) in [(0, 0x20), (1, 0x31)] {
                asm.vex(PERMUTE_HALVES, one, a, Rm::Reg(b), Some(halves));
                asm.vex(MOVUPS_STORE, one, 0, begin(ROWS[row]), None);
            }
        }
        (16, Some(store)) => {
            for (register, row) in [(a, 0), (b, 1)] {
                asm.vex(MOVUPS_LOAD, register, 0, begin(ROWS[row]), None);
            }
            for (to, halves) in [(one, 0x20), (other, 0x31)] {
                asm.vex(PERMUTE_HALVES, to, a, Rm::Reg(b), Some(halves));
            }
            two(asm, store, [one, other]);
        }
        _ => {
            let (from, to) = if store.is_some() { (RSI, RAX) } else { (RAX, RSI) };
            for offset in (0..LINE as i32).step_by(asm.isa.bytes() as usize) {
                asm.vector(MOVUPS_LOAD, a, 0, Rm::Row(from, offset));
                asm.vector(store.unwrap_or(MOVUPS_STORE), a, 0, Rm::Row(to, offset));
            }
        }
    }
    for &row in &ROWS[..shape.rows as usize] {
        asm.wide_imm(Int::Add, row, (shape.together * shape.row_bytes()) as i32);
    }
    asm.wide_imm(Int::Add, RDX, 4 * shape.step() as i32);
    asm.wide_imm(Int::Sub, RCX, 1);
    asm.jump_if(Cond::NotEqual, again);
    asm.int_load(Int::Mov, true, RSI, RBX, at(offset_of!(BlockRows, panel)));
    asm.int_store_imm(Int::Sub, true, RBX, at(offset_of!(BlockRows, count)), 1);
    asm.jump_if(Cond::NotEqual, next_row);
    asm.zero_upper();
    asm.pop(PREFETCH);
    asm.pop(RBX);
    asm.ret();
    entry
}

/// A number in every lane.
fn constant(asm: &mut Asm, register: u8, number: f32) {
    let of_literals = if asm.isa == Isa::Avx2 { MOVUPS_LOAD } else { BROADCAST };
    asm.vector(of_literals, register, 0, Rm::Literal(number.to_bits()));
}

/// The largest whole number of a form: it stands for 1.
pub const fn largest(form: Form) -> f32 {
    match form {
        Form::Words => 65535.0,
        Form::Bytes { .. } | Form::Floats | Form::Square => 255.0,
    }
}

/// What makes numbers of whole ones. Instead of a division it is a multiplication by the reciprocal and by what that lacks, which rounds as the division does
/// for all whole numbers of 16 bits.
#[derive(Clone, Copy, Debug)]
pub struct Decoding {
    /// The nearest to the reciprocal of the largest.
    pub reciprocal: f32,
    /// What it lacks.
    pub lack: f32,
}

impl Decoding {
    /// Of elements of a form.
    #[allow(clippy::cast_possible_truncation, reason = "rounded")]
    pub fn of(form: Form) -> Self {
        let inverse = 1.0 / f64::from(largest(form));
        let reciprocal = inverse as f32;
        Self { reciprocal, lack: (inverse - f64::from(reciprocal)) as f32 }
    }
}

/// Whole numbers as numbers of 0 to 1: from rdi to rsi, rdx lines.
fn decode(asm: &mut Asm, form: Form) -> usize {
    let entry = asm.code.len();
    let bytes = if form == Form::Words { 2 } else { 1 };
    let (reciprocal, lack) = (8, 9);
    let decoding = Decoding::of(form);
    constant(asm, reciprocal, decoding.reciprocal);
    constant(asm, lack, decoding.lack);
    let again = asm.label();
    asm.place(again);
    let lanes = asm.isa.lanes() as i32;
    let widen = if bytes == 1 { WIDEN_BYTES } else { WIDEN_WORDS };
    let vectors = LINE as i32 / bytes / lanes;
    for vector in 0..vectors {
        let (number, rest) = (vector as u8 % 4, 4 + vector as u8 % 4);
        asm.vector(widen, number, 0, Rm::Row(RDI, vector * lanes * bytes));
        asm.vector(CVT_I32_F32, number, 0, Rm::Reg(number));
        asm.vector(MUL, rest, number, Rm::Reg(lack));
        asm.vector(FMADD213, number, reciprocal, Rm::Reg(rest));
        if form == (Form::Bytes { swapped: true }) {
            asm.instruction(PERMUTE_IN_QUAD, number, 0, Rm::Reg(number), SWAP);
        }
        asm.vector(MOVUPS_STORE, number, 0, Rm::Row(RSI, vector * asm.isa.bytes()));
    }
    asm.wide_imm(Int::Add, RDI, LINE as i32);
    asm.wide_imm(Int::Add, RSI, vectors * asm.isa.bytes());
    asm.wide_imm(Int::Sub, RDX, 1);
    asm.jump_if(Cond::NotEqual, again);
    asm.zero_upper();
    asm.ret();
    entry
}
