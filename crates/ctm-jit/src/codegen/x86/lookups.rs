//! Fetches: one gather for each channel where an input is an array that is looked up nearest and clamped, or a load for each element of four
//! channels; where it is an array with another
//! sampler, a call of a routine in machine code ([`super::sampling`]); a call of the reference function for everything else.
//!
//! What an input is changes from launch to launch, so code looks at its description in the frame ([`input`]) when it runs. Calls stand
//! behind all blocks.

use super::elements::Elements;
use super::emit::{Emit, Unit};
use super::frame::{Layout, head, input};
use super::isa::{Isa, MAX_COPIES};
use super::texels::{Texels, clamped};
use super::vectors::Vectors;
use crate::codegen::x86::asm::{
    ADD_I32, Cond, EQUAL_I32, Int, Label, MOVUPS_LOAD, MUL, MUL_I32, RAX, RBX, RCX, RDI, RDX, RSI, Rm, XOR,
};
use crate::ir::x1k::Under;
use ctm_exec::float::ONE;
use ctm_exec::x1k::functions::UnitOp;
use ctm_exec::x1k::ops::ZeroRule;
use ctm_isa::x1k::ops::Omod;

/// A fetch of the program.
#[derive(Clone, Copy, Debug)]
pub struct Fetch {
    /// Which input.
    pub input: u8,
    /// Coordinates are in elements.
    pub unscaled: bool,
    /// Past the cache.
    pub uncached: bool,
    /// Channels that the program uses: bit c.
    pub channels: u8,
}

/// An uncached write of the program.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// All lanes take the index of the first one.
    pub shared: bool,
    /// Lanes write where these predicate bits are set,
    pub set: u8,
    /// and these are clear.
    pub clear: u8,
}

/// A reference function that the program calls.
#[derive(Clone, Copy, Debug)]
pub struct Reference {
    /// The operation.
    pub op: UnitOp,
    /// 0 times infinity and NaN.
    pub zero: ZeroRule,
    /// Output modifier.
    pub omod: Omod,
    /// To 0..1.
    pub clamp: bool,
}

/// What is added to the numbers of uncached writes where they are called.
pub const WRITES: u32 = 1 << 16;
/// The same for reference functions.
pub const REFERENCES: u32 = 2 << 16;

/// A fetch of a copy that may have to be a call, or an uncached write or a reference function, which always are; the lanes are in rcx.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    from: Label,
    back: Label,
    number: u32,
    copy: u8,
}

impl Emit<'_> {
    /// A fetch for some lanes of a copy: coordinates and texels are rows of its part.
    pub fn fetch(&mut self, number: u16, under: Under, copy: u8) {
        let (from, back) = (self.asm.label(), self.asm.label());
        let lanes = self.lanes(under, copy);
        self.asm.int(Int::Mov, RCX, lanes);
        self.asm.test(RCX, RCX);
        self.asm.jump_if(Cond::Equal, back);
        let fetch = self.input.fetches[usize::from(number)];
        let at = self.input.layout.inputs + input::BYTES * i32::from(fetch.input);
        self.asm.int_load(Int::Mov, true, RDX, RBX, at + input::POINTER);
        self.asm.wide_test(RDX, RDX);
        self.asm.jump_if(Cond::Equal, from);
        for unit in self.units(copy) {
            self.nearest(fetch, at, unit);
        }
        self.asm.place(back);
        self.calls.push(Call { from, back, number: number.into(), copy });
        self.cached = [false; MAX_COPIES as usize];
    }

    /// An uncached write for some lanes of a copy: indices and bits are rows of its part.
    pub fn uncached_write(&mut self, number: u16, under: Under, copy: u8) {
        let (from, back) = (self.asm.label(), self.asm.label());
        let lanes = self.lanes(under, copy);
        self.asm.int(Int::Mov, RCX, lanes);
        self.asm.test(RCX, RCX);
        self.asm.jump_if(Cond::NotEqual, from);
        self.asm.place(back);
        self.calls.push(Call { from, back, number: WRITES + u32::from(number), copy });
        self.cached = [false; MAX_COPIES as usize];
    }

    /// A call of a reference function for all lanes of a copy: operands and result are rows of its part.
    pub fn reference(&mut self, number: u16, copy: u8) {
        let (from, back) = (self.asm.label(), self.asm.label());
        self.asm.jump(from);
        self.asm.place(back);
        self.calls.push(Call { from, back, number: REFERENCES + u32::from(number), copy });
        self.cached = [false; MAX_COPIES as usize];
    }

    fn texels(&mut self) -> Texels<'_> {
        Texels { asm: &mut self.asm, isa: self.input.isa, scratch: self.input.isa.mask_scratch() }
    }

    /// A lookup of one piece by the array in rdx, for the lanes in rcx. Every lane's element lies in the array, those of idle lanes too.
    fn nearest(&mut self, fetch: Fetch, at: i32, unit: Unit) {
        let isa = self.input.isa;
        let (index, operand) = (isa.scratch(), isa.operand_scratch());
        let each = |place: i32| Rm::Each(RBX, place);
        for (axis, to) in [index, operand].into_iter().enumerate() {
            let of_axis = |place: i32| at + place + 4 * axis as i32;
            let row = self.piece(unit, Layout::ROWS.coordinates + 64 * axis as i32);
            self.asm.vector(MOVUPS_LOAD, to, 0, Rm::Row(RBX, row));
            if !fetch.unscaled {
                self.texels().with(MUL, to, to, each(of_axis(input::SIZE)));
            }
            let last = self.texels().each(each(of_axis(input::LAST)));
            clamped(&mut self.asm, to, to, last);
        }
        self.texels().with(MUL_I32, index, index, each(at + input::CHANNELS));
        self.texels().with(MUL_I32, operand, operand, each(at + input::STRIDES));
        self.asm.vector(ADD_I32, index, index, Rm::Reg(operand));
        let used = 8 - fetch.channels.leading_zeros() as u8;
        let narrow = self.asm.label();
        let wide = isa == Isa::Avx512 && used > 1;
        if wide {
            self.asm.int_store_imm(Int::Cmp, false, RBX, at + input::CHANNELS, 4);
            self.asm.jump_if(Cond::NotEqual, narrow);
            let elements = *self.elements.get_or_insert_with(|| self.asm.label());
            self.asm.call_label(elements);
            for (channel, register) in (0..).zip(self.whole_elements().channels()) {
                if fetch.channels >> channel & 1 == 1 {
                    self.store_texel(register, channel, unit);
                }
            }
        }
        // An element may have fewer channels than the program uses.
        let (missing, done) = ([(); 4].map(|()| self.asm.label()), self.asm.label());
        if wide {
            self.asm.jump(done);
            self.asm.place(narrow);
        }
        for channel in 0..used {
            if channel > 0 {
                self.asm.int_store_imm(Int::Cmp, false, RBX, at + input::CHANNELS, channel.into());
                self.asm.jump_if(Cond::Equal, missing[usize::from(channel)]);
            }
            if fetch.channels >> channel & 1 == 1 {
                self.gather_channel(index, operand, 4 * i32::from(channel));
                self.store_texel(operand, channel, unit);
            }
        }
        self.asm.jump(done);
        for channel in 1..used {
            self.asm.place(missing[usize::from(channel)]);
            if fetch.channels >> channel & 1 == 1 {
                let bits = if channel == 3 { ONE } else { 0 };
                self.load_rm(operand, Rm::Literal(bits), 0);
                self.store_texel(operand, channel, unit);
            }
        }
        self.asm.place(done);
    }

    /// How code loads elements of four channels: to the scratch registers.
    fn whole_elements(&self) -> Elements {
        let scratch = self.input.isa.scratch();
        Elements {
            registers: std::array::from_fn(|n| scratch + n as u8),
            data: RDX,
            rows: (RBX, self.input.layout.save),
        }
    }

    fn store_texel(&mut self, register: u8, channel: u8, unit: Unit) {
        let row = self.piece(unit, Layout::ROWS.texels + 64 * i32::from(channel));
        self.store(register, Rm::Row(RBX, row));
    }

    /// Dwords of an array; idle lanes hold anything.
    fn gather_channel(&mut self, index: u8, to: u8, offset: i32) {
        match self.input.isa {
            Isa::Avx512 => {
                self.asm.mask_from(1, RCX);
                // It waits for nothing that the register held.
                self.asm.vector(XOR, to, to, Rm::Reg(to));
                self.asm.gather(to, 1, RDX, index, offset);
            }
            Isa::Avx2 => {
                // All lanes: masks take longer to make than idle lanes to read.
                let mask = self.input.isa.mask_scratch();
                self.asm.vector(EQUAL_I32, mask, mask, Rm::Reg(mask));
                self.asm.vector(XOR, to, to, Rm::Reg(to));
                self.asm.gather_by_signs(to, mask, RDX, index, offset);
            }
        }
    }

    /// What stands behind all blocks: calls of the fetch function, with all registers saved and the host's MXCSR.
    pub fn emit_calls(&mut self) {
        if let Some(label) = self.elements.take() {
            self.asm.place(label);
            let elements = self.whole_elements();
            elements.load(&mut self.asm, elements.registers[0]);
            self.asm.ret();
        }
        for call in std::mem::take(&mut self.calls) {
            self.asm.place(call.from);
            if call.number < WRITES {
                self.routine(call);
            }
            self.call(call);
            self.asm.jump(call.back);
        }
    }

    /// Calls the input's routine, if it has one.
    fn routine(&mut self, Call { number, copy, back, .. }: Call) {
        let Fetch { input, unscaled, channels, .. } = self.input.fetches[number as usize];
        let at = self.input.layout.inputs + input::BYTES * i32::from(input);
        let without = self.asm.label();
        self.asm.int_load(Int::Mov, true, RAX, RBX, at + input::ROUTINE);
        self.asm.wide_test(RAX, RAX);
        self.asm.jump_if(Cond::Equal, without);
        let rows = self.part(copy, Layout::ROWS.coordinates);
        let factors = if unscaled { self.input.layout.units } else { at + input::SIZE };
        for (register, place) in [(RSI, rows), (RDI, factors), (8, at), (10, self.input.layout.save)] {
            self.asm.int_imm(register, place as u32);
            self.asm.add_wide(register, RBX);
        }
        self.asm.int_imm(9, channels.into());
        self.asm.call(RBX, at + input::ROUTINE);
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::Equal, back);
        self.asm.place(without);
    }

    fn call(&mut self, Call { number, copy, .. }: Call) {
        let used = self.registers();
        for register in 0..used {
            self.store(register, Rm::Row(RBX, self.input.layout.save + 64 * i32::from(register)));
        }
        let masks_in_registers = !self.input.joint || self.input.isa == Isa::Avx512;
        if masks_in_registers {
            self.copies().for_each(|copy| self.fresh(copy));
        }
        if self.input.assumed {
            // What it has noted so far.
            self.asm.mxcsr(true, RBX, head::MXCSR);
        }
        self.asm.mxcsr(false, RBX, head::HOST_MXCSR);
        self.asm.move_wide(RDI, RBX);
        self.asm.int_imm(RSI, number);
        self.asm.int_imm(RDX, u32::from(copy));
        self.asm.zero_upper();
        self.asm.call(RBX, head::FETCH);
        self.asm.mxcsr(false, RBX, head::MXCSR);
        for register in 0..used {
            let row = Rm::Row(RBX, self.input.layout.save + 64 * i32::from(register));
            self.asm.vector(MOVUPS_LOAD, register, 0, row);
        }
        self.asm.test(RAX, RAX);
        self.asm.jump_if(Cond::NotEqual, self.bail_out);
        if masks_in_registers {
            self.copies().for_each(|copy| self.sync(copy));
        }
    }
}
