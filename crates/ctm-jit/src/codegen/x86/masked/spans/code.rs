//! The code that goes over wavefronts: where their lanes lie, what they start with, and where their exports go. The program's own code is called in between.
//!
//! It is the same for all programs, so it is made once for each size of a wavefront. What it works on is the [`super::block`].
//!
//! | register | holds |
//! |---|---|
//! | rbx | the program's frame |
//! | rbp | the block |

use super::block::{self, coefficients};
use crate::codegen::x86::asm::{
    ADD, ADD_F64, ADD_I32, AND, Asm, BROADCAST, CMP_I32, CVT_F64_F32, CVT_F64_I64, CVT_I32_F32, CVT_I32_F64, Cond,
    DIV_F64, EXTRACT_HALF, GREATER_I32, Gpr, INSERT_HALF, Int, Label, MOVUPS_LOAD, MOVUPS_STORE, MUL, MUL_F64,
    NARROW_I64, OR, RAX, RBP, RBX, RCX, RDI, RDX, Rm, SUB_I32, XOR,
};
use crate::codegen::x86::executable;
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::masked::facts::{INT_AT_LEAST, INT_AT_MOST, INT_GREATER};
use crate::codegen::x86::masked::wide::SHL;
use crate::codegen::x86::masked::{ROW, gradient, head};
use crate::ir::masked::M;
use crate::launch::ramp::Makes;
use crate::launch::wavefronts::wave::GRADIENTS;
use memmap2::Mmap;
use std::sync::OnceLock;

/// Registers of the reciprocals of the launch's divisor: two for each piece.
const RECIPROCALS: u8 = 20;

/// Where a mask lies in a frame.
pub(super) const fn mask_at(m: M) -> i32 {
    head::MASKS + 8 * m.0 as i32
}

/// The code for wavefronts of so many registers.
pub struct Code {
    text: Mmap,
}

impl Code {
    /// For wavefronts of 1, 2 or 4 times 16 lanes; `None` where memory cannot be made executable.
    pub fn of(isa: Isa, copies: u8) -> Option<&'static Self> {
        static ALL: [OnceLock<Option<Code>>; 6] = [const { OnceLock::new() }; 6];
        let of_isa = if isa == Isa::Avx512 { 0 } else { 3 };
        ALL.get(of_isa + usize::from(copies / 2))?.get_or_init(|| Self::new(isa, copies)).as_ref()
    }

    fn new(isa: Isa, copies: u8) -> Option<Self> {
        let mut emit = Emit { asm: Asm::new(isa), isa, copies };
        emit.span();
        Some(Self { text: executable(&emit.asm.finish())? })
    }

    /// Where it begins.
    pub fn entry(&self) -> *const u8 {
        self.text.as_ptr()
    }
}

struct Emit {
    asm: Asm,
    isa: Isa,
    copies: u8,
}

impl Emit {
    fn copies(&self) -> std::ops::Range<u8> {
        0..self.copies
    }

    /// Where the vectors of a row begin, in bytes.
    fn parts(&self) -> impl Iterator<Item = i32> + use<> {
        let bytes = self.isa.bytes();
        (0..i32::from(self.copies * self.isa.pieces())).map(move |part| bytes * part)
    }

    /// A dword for all lanes: in memory, or in a register where instructions take none from there.
    fn each(&mut self, base: Gpr, offset: i32, register: u8) -> Rm {
        if self.isa == Isa::Avx512 {
            return Rm::Each(base, offset);
        }
        self.asm.vector(BROADCAST, register, 0, Rm::Each(base, offset));
        Rm::Reg(register)
    }

    /// Zero is returned when all wavefronts have ended; what the program's code gave, when it gave something else.
    fn span(&mut self) {
        let [again, next, leave, each_sets, stayed] = std::array::from_fn(|_| self.asm.label());
        self.asm.enter();
        self.asm.wide(Int::Mov, RBP, RDI);
        self.asm.int_load(Int::Mov, true, RBX, RBP, block::FRAME);
        // Nothing here depends on it where there are no denormals, and changing it takes as long as a short program.
        self.asm.int_load(Int::Mov, false, RAX, RBP, block::SETS);
        self.asm.int_store(Int::Mov, false, RBX, head::IS_SET, RAX);
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::Equal, each_sets);
        self.asm.mxcsr(true, RBX, head::HOST_MXCSR);
        self.asm.mxcsr(false, RBX, head::MXCSR);
        self.asm.place(each_sets);
        self.asm.place(again);
        self.masks(next);
        self.starts();
        self.gradients();
        self.asm.int_load(Int::Mov, true, RAX, RBP, block::FUEL);
        self.asm.int_store(Int::Mov, true, RBX, head::FUEL, RAX);
        self.asm.wide(Int::Mov, RDI, RBX);
        self.asm.call(RBP, block::PROGRAM);
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::NotEqual, leave);
        self.asm.int_load(Int::Mov, true, RCX, RBP, block::RUNS);
        self.asm.int_store(Int::Add, true, RBP, block::PROCESSORS, RCX);
        // What lanes that are not covered export goes nowhere.
        self.asm.int_load(Int::Mov, true, RCX, RBP, block::SENT);
        self.asm.int_store(Int::And, true, RBX, mask_at(M::VALID), RCX);
        self.store(leave);
        self.asm.place(next);
        self.advance();
        self.asm.int_store_imm(Int::Sub, true, RBP, block::WAVES, 1);
        self.asm.jump_if(Cond::NotEqual, again);
        self.asm.int_imm(RAX, 0);
        self.asm.place(leave);
        self.asm.jump_cmp(false, RBX, head::IS_SET, 0, Cond::Equal, stayed);
        self.asm.mxcsr(false, RBX, head::HOST_MXCSR);
        self.asm.int_store_imm(Int::Mov, false, RBX, head::IS_SET, 0);
        self.asm.place(stayed);
        self.asm.leave();
    }

    /// Rows of start values: in single precision, where that is exact, otherwise as the reference interpreter makes them.
    fn starts(&mut self) {
        let [exact, done] = std::array::from_fn(|_| self.asm.label());
        self.asm.int_load(Int::Mov, false, RAX, RBP, block::STARTS);
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::Equal, done);
        self.asm.wide(Int::Mov, RCX, RBP);
        self.asm.wide_imm(Int::Add, RCX, block::COEFFICIENTS);
        self.asm.int_load(Int::Mov, true, RDX, RBP, block::START_ROWS);
        let wide = self.isa == Isa::Avx512;
        if wide {
            self.asm.jump_cmp(false, RBP, block::SINGLE, 0, Cond::NotEqual, exact);
            self.doubles();
            self.asm.jump(done);
            self.asm.place(exact);
            for (part, n) in self.parts().zip(0..) {
                self.numbers(part, [n, 4 + n]);
            }
        }
        let each = self.asm.label();
        self.asm.place(each);
        let (sum, product) = (8, 9);
        let [di, origin, dj] = [coefficients::DI_SINGLE, coefficients::ORIGIN_SINGLE, coefficients::DJ_SINGLE];
        let [di, origin, dj] = [(di, 10), (origin, 11), (dj, 12)].map(|(of, register)| self.each(RCX, of, register));
        for (part, n) in self.parts().zip(0..) {
            // There are not registers for all of them.
            let [i, j] = if wide { [n, 4 + n] } else { [0, 1] };
            if !wide {
                self.numbers(part, [i, j]);
            }
            self.asm.vector(MUL, sum, i, di);
            self.asm.vector(ADD, sum, sum, origin);
            self.asm.vector(MUL, product, j, dj);
            self.asm.vector(ADD, sum, sum, Rm::Reg(product));
            self.asm.vector(MOVUPS_STORE, sum, 0, Rm::Row(RDX, part));
        }
        self.next_start(each);
        self.asm.place(done);
    }

    /// Columns and rows as numbers in single precision.
    fn numbers(&mut self, part: i32, registers: [u8; 2]) {
        for (to, from) in registers.into_iter().zip([block::I, block::J]) {
            self.asm.vector(CVT_I32_F32, to, 0, Rm::Row(RBP, from + part));
        }
    }

    fn next_start(&mut self, each: Label) {
        self.asm.wide_imm(Int::Add, RCX, coefficients::SIZE);
        self.asm.wide_imm(Int::Add, RDX, ROW);
        self.asm.int_op_imm(Int::Sub, RAX, 1);
        self.asm.jump_if(Cond::NotEqual, each);
    }

    /// `origin + i * di + j * dj`, each step rounded, and then once more: as a number in single precision or as a whole one.
    fn doubles(&mut self) {
        let half = 16;
        for copy in self.copies() {
            for (to, from) in [(2 * copy, block::I), (8 + 2 * copy, block::J)] {
                self.asm.vector(MOVUPS_LOAD, half, 0, Rm::Row(RBP, from + 64 * i32::from(copy)));
                self.asm.vector(CVT_I32_F64, to, 0, Rm::Reg(half));
                self.asm.instruction(EXTRACT_HALF, half, 0, Rm::Reg(half), Some(1));
                self.asm.vector(CVT_I32_F64, to + 1, 0, Rm::Reg(half));
            }
        }
        let [each, undivided] = std::array::from_fn(|_| self.asm.label());
        self.asm.jump_cmp(false, RBP, block::DIVIDES, 0, Cond::Equal, undivided);
        let one = 30;
        self.asm.vector(XOR, one, one, Rm::Reg(one));
        self.asm.vector(ADD_F64, one, one, Rm::Each(RBP, block::ONE));
        for copy in self.copies() {
            for n in 0..2 {
                let sum = RECIPROCALS + 2 * copy + n;
                self.sum(sum, (copy, n), RBP, [block::DIVISOR, block::DIVISOR + 8, block::DIVISOR + 16]);
                self.asm.vector(DIV_F64, sum, one, Rm::Reg(sum));
            }
        }
        self.asm.place(undivided);
        self.asm.place(each);
        for copy in self.copies() {
            let halves = [16, 18];
            let of = [coefficients::ORIGIN, coefficients::DI, coefficients::DJ];
            (0..).zip(halves).for_each(|(n, sum)| self.sum(sum, (copy, n), RCX, of));
            let [bits, join, single] = std::array::from_fn(|_| self.asm.label());
            self.asm.jump_cmp(false, RCX, coefficients::MAKES, Makes::Bits as i32, Cond::Equal, bits);
            self.asm.jump_if(Cond::Below, single);
            for (n, half) in (0..).zip(halves) {
                self.asm.vector(MUL_F64, half, half, Rm::Reg(RECIPROCALS + 2 * copy + n));
            }
            self.asm.place(single);
            halves.into_iter().for_each(|half| self.asm.vector(CVT_F64_F32, half, 0, Rm::Reg(half)));
            self.asm.jump(join);
            self.asm.place(bits);
            for half in halves {
                self.asm.vector(CVT_F64_I64, half, 0, Rm::Reg(half));
                self.asm.vector(NARROW_I64, half, 0, Rm::Reg(half));
            }
            self.asm.place(join);
            self.asm.instruction(INSERT_HALF, 16, 16, Rm::Reg(18), Some(1));
            self.asm.vector(MOVUPS_STORE, 16, 0, Rm::Row(RDX, 64 * i32::from(copy)));
        }
        self.next_start(each);
    }

    /// `origin + i * di + j * dj` of half a piece, of numbers that lie there; each step rounded. Changes register 31.
    fn sum(&mut self, sum: u8, (copy, half): (u8, u8), base: Gpr, [origin, di, dj]: [i32; 3]) {
        let (i, j, product) = (2 * copy + half, 8 + 2 * copy + half, 31);
        self.asm.vector(MUL_F64, sum, i, Rm::Each(base, di));
        self.asm.vector(ADD_F64, sum, sum, Rm::Each(base, origin));
        self.asm.vector(MUL_F64, product, j, Rm::Each(base, dj));
        self.asm.vector(ADD_F64, sum, sum, Rm::Reg(product));
    }

    /// The lanes that run: those that exist and lie in the domain. Goes to `next` where none of them is covered.
    fn masks(&mut self, next: Label) {
        let [whole, all] = std::array::from_fn(|_| self.asm.label());
        self.asm.int_load(Int::Mov, true, RAX, RBX, mask_at(M::EXISTING));
        self.asm.jump_cmp(false, RBP, block::WHOLE, 0, Cond::NotEqual, whole);
        match self.isa {
            Isa::Avx512 => self.inside_wide(),
            Isa::Avx2 => self.inside(),
        }
        self.asm.wide(Int::And, RAX, RDX);
        self.asm.place(whole);
        self.asm.int_load(Int::Mov, true, RCX, RBP, block::COVERED);
        self.asm.wide_test(RCX, RCX);
        self.asm.jump_if(Cond::Equal, all);
        self.asm.int_store_imm(Int::Add, true, RBP, block::COVERED, 2 * i32::from(self.copies));
        match self.copies {
            1 => {
                self.asm.load_byte(RDX, false, RCX, 1);
                self.asm.wide_shift(SHL, RDX, 8);
                self.asm.load_byte(RCX, false, RCX, 0);
                self.asm.wide(Int::Or, RDX, RCX);
            }
            2 => self.asm.int_load(Int::Mov, false, RDX, RCX, 0),
            _ => self.asm.int_load(Int::Mov, true, RDX, RCX, 0),
        }
        self.asm.int_store(Int::Mov, true, RBP, block::SENT, RDX);
        self.asm.wide_test(RAX, RDX);
        self.asm.jump_if(Cond::Equal, next);
        self.asm.place(all);
        for mask in [M::VALID, M::ACTIVE] {
            self.asm.int_store(Int::Mov, true, RBX, mask_at(mask), RAX);
        }
        self.asm.wide_popcount(RCX, RAX);
        self.asm.int_store(Int::Mov, true, RBP, block::RUNS, RCX);
    }

    /// rdx = the lanes in the domain.
    fn inside_wide(&mut self) {
        for copy in self.copies() {
            for (register, of, bounds) in [(0, block::I, [block::I0, block::I1]), (1, block::J, [block::J0, block::J1])]
            {
                self.asm.vector(MOVUPS_LOAD, register, 0, Rm::Row(RBP, of + 64 * i32::from(copy)));
                for (n, (bound, how)) in bounds.into_iter().zip([INT_AT_LEAST, INT_AT_MOST]).enumerate() {
                    let under = if register == 0 && n == 0 { 0 } else { 1 };
                    self.asm.evex(CMP_I32, 1, register, Rm::Each(RBP, bound), under, false, Some(how));
                }
            }
            self.asm.mask_to(if copy == 0 { RDX } else { RCX }, 1);
            if copy > 0 {
                self.asm.wide_shift(SHL, RCX, 16 * copy);
                self.asm.wide(Int::Or, RDX, RCX);
            }
        }
    }

    /// The same on AVX2.
    fn inside(&mut self) {
        let (outside, place, other) = (0, 1, 2);
        let bounds = [(block::I0, 4), (block::I1, 5), (block::J0, 6), (block::J1, 7)];
        for (of, register) in bounds {
            self.asm.vector(BROADCAST, register, 0, Rm::Each(RBP, of));
        }
        for (part, n) in self.parts().zip(0..) {
            self.asm.vector(XOR, outside, outside, Rm::Reg(outside));
            for (of, first, last) in [(block::I, 4, 5), (block::J, 6, 7)] {
                self.asm.vector(MOVUPS_LOAD, place, 0, Rm::Row(RBP, of + part));
                for (a, b) in [(first, place), (place, last)] {
                    self.asm.vector(GREATER_I32, other, a, Rm::Reg(b));
                    self.asm.vector(OR, outside, outside, Rm::Reg(other));
                }
            }
            self.asm.signs(if n == 0 { RDX } else { RCX }, outside);
            if n > 0 {
                self.asm.wide_shift(SHL, RCX, Isa::Avx2.lanes() as u8 * n);
                self.asm.wide(Int::Or, RDX, RCX);
            }
        }
        self.asm.wide_not(RDX);
    }

    /// None is set.
    fn gradients(&mut self) {
        let none = self.asm.label();
        self.asm.jump_cmp(false, RBP, block::GRADIENTS, 0, Cond::Equal, none);
        self.asm.vector(XOR, 0, 0, Rm::Reg(0));
        for number in 0..GRADIENTS {
            for part in self.parts() {
                self.asm.vector(MOVUPS_STORE, 0, 0, Rm::Row(RBX, gradient(number) + part));
            }
        }
        self.asm.place(none);
    }

    /// Stores what the wavefront has exported, and forgets who wrote it. Goes to `leave` where that went wrong.
    fn store(&mut self, leave: Label) {
        let [as_it_is, done] = std::array::from_fn(|_| self.asm.label());
        self.asm.jump_cmp(false, RBP, block::CONVERTS, 0, Cond::Equal, as_it_is);
        self.asm.mxcsr(false, RBX, head::HOST_MXCSR);
        self.asm.place(as_it_is);
        self.asm.int_load(Int::Mov, true, RDI, RBP, block::STORES);
        self.asm.call(RBP, block::STORE);
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::NotEqual, leave);
        self.asm.jump_cmp(false, RBP, block::CONVERTS, 0, Cond::Equal, done);
        self.asm.jump_cmp(false, RBX, head::IS_SET, 0, Cond::Equal, done);
        self.asm.mxcsr(false, RBX, head::MXCSR);
        self.asm.place(done);
    }

    /// To where the next wavefront lies.
    fn advance(&mut self) {
        if self.isa == Isa::Avx2 {
            return self.advance_parts();
        }
        let each = |at: i32| Rm::Each(RBP, at);
        for copy in self.copies() {
            let [i, j] = [block::I, block::J].map(|of| Rm::Row(RBP, of + 64 * i32::from(copy)));
            for (register, row, step) in [(0, i, block::DI), (1, j, block::DJ)] {
                self.asm.vector(BROADCAST, register, 0, each(step));
                self.asm.vector(ADD_I32, register, register, row);
            }
            // Behind the end of a row the next one begins.
            self.asm.evex(CMP_I32, 1, 0, each(block::LAST), 0, false, Some(INT_GREATER));
            self.asm.evex(SUB_I32, 0, 0, each(block::WIDTH), 1, false, None);
            self.asm.evex(ADD_I32, 1, 1, each(block::NEXT_ROW), 1, false, None);
            self.asm.vector(MOVUPS_STORE, 0, 0, i);
            self.asm.vector(MOVUPS_STORE, 1, 0, j);
        }
    }

    /// The same on AVX2.
    fn advance_parts(&mut self) {
        let [di, dj, last, width, next_row] = [4, 5, 6, 7, 8];
        let steps = [block::DI, block::DJ, block::LAST, block::WIDTH, block::NEXT_ROW];
        for (register, of) in [di, dj, last, width, next_row].into_iter().zip(steps) {
            self.asm.vector(BROADCAST, register, 0, Rm::Each(RBP, of));
        }
        for part in self.parts() {
            let [i, j] = [block::I, block::J].map(|of| Rm::Row(RBP, of + part));
            let (behind, change) = (2, 3);
            self.asm.vector(ADD_I32, 0, di, i);
            self.asm.vector(ADD_I32, 1, dj, j);
            self.asm.vector(GREATER_I32, behind, 0, Rm::Reg(last));
            self.asm.vector(AND, change, behind, Rm::Reg(width));
            self.asm.vector(SUB_I32, 0, 0, Rm::Reg(change));
            self.asm.vector(AND, change, behind, Rm::Reg(next_row));
            self.asm.vector(ADD_I32, 1, 1, Rm::Reg(change));
            self.asm.vector(MOVUPS_STORE, 0, 0, i);
            self.asm.vector(MOVUPS_STORE, 1, 0, j);
        }
    }
}
