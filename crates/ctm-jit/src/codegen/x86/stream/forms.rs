//! Elements of 8 and 16 bits in the code of streams: whole numbers that stand for 0 to 1.
//!
//! Loads bring whole numbers of 32 bits; instructions of the program make numbers of them, and whole numbers of what is written, which stores pack. Inputs that
//! processors read again and again are converted once instead, beforehand: for the code their elements are numbers.

use super::emit::{Emit, Unit};
use super::memory::table;
use super::{Element, Geometry, Lines, Load, append};
use crate::codegen::x86::asm::{
    ADD, AND, CVT_I32_F32, MAX, MUL, PACK_BYTES, PACK_SIGNED, PACK_WORDS, PERMUTE_IN_QUAD, Rm, SHIFT_IMM,
    SHUFFLE_BYTES, SUB_I32, WIDEN_BYTES, WIDEN_WORDS,
};
use crate::codegen::x86::lir::{Lir, Negated, Src, Vector};
use crate::codegen::x86::transfer::{Decoding, MAGIC, SWAP, largest};
use crate::codegen::x86::vectors::Vectors;
use crate::ir::masked::Var;
use crate::passes::masked::VarSet;
use crate::stream::affine::Fetch;
use ctm_exec::arrays::Form;

/// Fetches of a processor that convert the same input's elements; with more of them they are converted beforehand.
const FETCHES: usize = 2;

/// Makes inputs numbers that are to be converted beforehand: processors read their elements again and again, or not side by side.
pub(super) fn choose(geometry: &mut Geometry, fetches: &[Vec<Fetch>]) {
    for (input, element) in geometry.inputs.iter_mut().enumerate() {
        let of = || fetches.iter().flatten().filter(|fetch| usize::from(fetch.input) == input);
        let is_simple = |Fetch { x, y, iterations, .. }: &Fetch| {
            [x.i, x.j, y.i] == [1, 0, 0] && y.j.abs() <= 1 && iterations.iter().all(|&iterations| iterations == 0)
        };
        if of().count() > FETCHES || !of().all(is_simple) {
            element.form = Form::Floats;
        }
    }
}

/// The outputs in which a NaN becomes 0.
pub(super) fn without_nans(geometry: &Geometry) -> VarSet {
    let mut all = VarSet::NONE;
    let targets = geometry.outputs.iter().zip(0..).filter(|(element, _)| element.form != Form::Floats);
    targets.flat_map(|(_, target)| (0..4).map(move |c| Var::export(target, c))).for_each(|var| all.insert(var));
    all
}

/// A number that was made of a whole one.
#[derive(Clone, Copy)]
pub(super) struct Decoded {
    /// The whole one.
    whole: Vector,
    /// It as a single-precision number, from which the fraction is made.
    number: Vector,
    form: Form,
}

/// Makes numbers of what loads bring: those of one fetch that come together first. Gives these.
pub(super) fn decode(lines: &mut Lines, loads: &[Load], geometry: &Geometry, vectors: &mut usize) -> Vec<Decoded> {
    let mut all = Vec::new();
    let form = |load: i32| geometry.input(&loads[load as usize].fetch).form;
    let mut new = Lines::default();
    let mut waiting = Vec::new();
    let mut name = || {
        *vectors += 1;
        Vector(*vectors as u32 - 1)
    };
    for mut group in std::mem::take(lines) {
        if let [Lir::Copy(dst, Src::Row(load))] = group[..]
            && form(load) != Form::Floats
        {
            let [whole, number, rest] = [name(), name(), name()];
            new.push(vec![Lir::Copy(whole, Src::Row(load))]);
            all.push(Decoded { whole, number, form: form(load) });
            let Decoding { reciprocal, lack } = Decoding::of(form(load));
            let [reciprocal, lack] = [reciprocal, lack].map(|number| Src::Literal(number.to_bits()));
            waiting.extend([
                Lir::One(CVT_I32_F32, number, Src::Vector(whole), None),
                Lir::Two(MUL, rest, Src::Vector(number), lack),
                Lir::Fma(Negated::default(), dst, [Src::Vector(number), reciprocal, Src::Vector(rest)]),
            ]);
        } else {
            append(&mut new, &mut waiting);
            append(&mut new, &mut group);
        }
    }
    append(&mut new, &mut waiting);
    *lines = new;
    all
}

/// Of each vector behind all instructions, the number that it still is.
fn moved(lines: &Lines, decoded: &[Decoded], vectors: usize) -> Vec<Option<Decoded>> {
    let mut now: Vec<Option<Decoded>> = vec![None; vectors];
    for lir in lines.iter().flatten() {
        let of = |src: Src| if let Src::Vector(vector) = src { now[vector.index()] } else { None };
        let is = match *lir {
            // They are neither -0 nor denormals, which a sum with 0 would change.
            Lir::Copy(_, a) | Lir::Two(ADD, _, a, Src::Literal(0)) | Lir::Two(ADD, _, Src::Literal(0), a) => of(a),
            Lir::Fma(_, _, [a, ..]) => decoded.iter().find(|decoded| Src::Vector(decoded.number) == a).copied(),
            _ => None,
        };
        if let Some((vector, partly)) = lir.writes() {
            now[vector.index()] = is.filter(|_| !partly);
        }
    }
    now
}

/// Takes out what nobody reads; vectors below number `vars` are variables, which are read behind the end.
fn sweep(lines: &mut Lines, vars: usize, vectors: usize) {
    let mut live: Vec<bool> = (0..vectors).map(|vector| vector < vars).collect();
    for group in lines.iter_mut().rev() {
        let mut kept = Vec::with_capacity(group.len());
        for lir in group.drain(..).rev() {
            if let Some((vector, partly)) = lir.writes() {
                if !live[vector.index()] {
                    continue;
                }
                live[vector.index()] = partly;
            }
            lir.reads().for_each(|vector| live[vector.index()] = true);
            kept.push(lir);
        }
        group.extend(kept.into_iter().rev());
    }
    lines.retain(|group| !group.is_empty());
}

/// Makes whole numbers of what is written. A fused multiply-add rounds once; NaN gives 0, and what is too large remains so. What was such a whole number is it still.
pub(super) fn encode(
    lines: &mut Lines,
    decoded: &[Decoded],
    (vars, used): (&[Option<Vector>], usize),
    geometry: &Geometry,
    packed: bool,
    vectors: usize,
) {
    let moved = if decoded.is_empty() { Vec::new() } else { moved(lines, decoded, vectors) };
    for (target, &Element { channels, form }) in geometry.outputs.iter().enumerate() {
        let channels = if form == Form::Floats {
            0
        } else if packed {
            1
        } else {
            usize::from(channels)
        };
        for vector in (0..channels).filter_map(|channel| vars[Var::export(target, channel).index()]) {
            let src = Src::Vector(vector);
            if let Some(Some(of)) = moved.get(vector.index())
                && largest(of.form) == largest(form)
            {
                lines.push(vec![Lir::Copy(vector, Src::Vector(of.whole))]);
                continue;
            }
            let [most, magic] = [largest(form), MAGIC].map(|number| Src::Literal(number.to_bits()));
            lines.push(vec![
                Lir::Two(MAX, vector, src, Src::Literal(0)),
                Lir::Fma(Negated::default(), vector, [src, most, magic]),
                Lir::Two(SUB_I32, vector, src, magic),
            ]);
        }
    }
    if moved.iter().any(Option::is_some) {
        sweep(lines, used, vectors);
    }
}

impl Emit<'_> {
    /// Elements that lie side by side, whole numbers of so many bits; `channel`: of bytes, in the plain form.
    pub(super) fn whole(&mut self, register: u8, from: Rm, form: Form, channel: u8) {
        match form {
            Form::Bytes { .. } if self.packed() => self.asm.vector(WIDEN_BYTES, register, 0, from),
            Form::Words => self.asm.vector(WIDEN_WORDS, register, 0, from),
            _ => self.load_rm(register, from, 0),
        }
        if self.transposed {
            self.permute(register, Rm::Reg(register), table::READ);
        }
        match form {
            Form::Bytes { .. } if self.packed() => self.swap(register, form),
            Form::Bytes { .. } => self.byte(register, form, channel),
            Form::Words | Form::Floats | Form::Square => {}
        }
    }

    /// Exchanges the channels of elements in the packed form, where the form says so.
    fn swap(&mut self, register: u8, form: Form) {
        if form == (Form::Bytes { swapped: true }) {
            self.asm.instruction(PERMUTE_IN_QUAD, register, 0, Rm::Reg(register), SWAP);
        }
    }

    /// A channel of elements of four bytes.
    fn byte(&mut self, register: u8, form: Form, channel: u8) {
        let first = 8 * form.channel(channel.into()).0 as u8;
        if first > 0 {
            self.asm.instruction(SHIFT_IMM, 2, register, Rm::Reg(register), Some(first));
        }
        if first < 24 {
            self.asm.vector(AND, register, register, Rm::Literal(0xff));
        }
    }

    /// Packs and stores all of an output whose elements are of 8 or 16 bits.
    pub(super) fn pack_output(&mut self, target: usize) {
        let element = self.of.geometry.outputs[target];
        let form = element.form;
        let vectors = self.options.tile.vectors;
        // Vectors that fill one, if there are so many.
        let whole = match form {
            Form::Words => 2,
            _ if self.packed() => 4,
            _ => 1,
        };
        let side = if vectors.is_multiple_of(whole) { whole } else { 1 };
        for row in 0..self.options.tile.rows {
            for column in (0..vectors).step_by(side.into()) {
                let unit = |column: u8| Unit { row, column };
                let of = |channel: usize, column: u8| (self.exported(target, channel), unit(column));
                let sources: [(Src, Unit); 4] = if form == Form::Words || self.packed() {
                    std::array::from_fn(|n| of(0, column + n as u8 % side))
                } else {
                    // In the order in which they lie in memory.
                    std::array::from_fn(|n| {
                        of((0..4).find(|&channel| form.channel(channel).0 == n).unwrap_or(n), column)
                    })
                };
                let bytes = element.bytes() as i32;
                let first = self.of.columns() as i32 * bytes * i32::from(column);
                let from = self.pack(&sources, form);
                let to = Rm::Row(self.pointer(Self::output_slot(target, row)), first);
                match side == whole {
                    true => self.put(from, to),
                    false => self.asm.store_first(from, self.of.columns() as i32 * bytes, to),
                }
            }
        }
    }

    /// One vector, in the order of columns.
    pub(super) fn in_columns(&mut self, (src, unit): (Src, Unit), register: u8) -> u8 {
        let from = self.reg(src, unit, register);
        if !self.transposed {
            return from;
        }
        self.permute(register, Rm::Reg(from), table::WRITE);
        register
    }

    /// Four vectors as bytes, or the first two as words.
    fn pack(&mut self, sources: &[(Src, Unit); 4], form: Form) -> u8 {
        let isa = self.of.isa;
        let (scratch, one, other) = (isa.scratch(), isa.operand_scratch(), isa.mask_scratch());
        if form == Form::Words {
            let second = self.in_columns(sources[1], other);
            let first = self.in_columns(sources[0], scratch);
            self.asm.vector(PACK_WORDS, scratch, first, Rm::Reg(second));
        } else {
            for (pair, register) in [(0, one), (2, other)] {
                let [(a, unit_a), (b, unit_b)] = [sources[pair], sources[pair + 1]];
                let a = self.reg(a, unit_a, scratch);
                let b = self.last(b, unit_b, register);
                self.asm.vector(PACK_SIGNED, register, a, b);
            }
            self.asm.vector(PACK_BYTES, scratch, one, Rm::Reg(other));
        }
        let is_plain = form != Form::Words && !self.packed();
        if is_plain || form == (Form::Bytes { swapped: true }) {
            let table = self.table(table::BYTES);
            self.asm.vector(SHUFFLE_BYTES, scratch, scratch, table);
        }
        let order = if is_plain { table::WRITE } else { table::PACKED };
        if !is_plain || self.transposed {
            self.permute(scratch, Rm::Reg(scratch), order);
        }
        scratch
    }
}

impl super::Kernel {
    /// Of the tables for elements of 8 and 16 bits.
    pub(super) fn form_entry(&self, row: usize, lane: usize) -> usize {
        let bytes = |of: [usize; 4]| of.iter().rev().fold(0, |all, byte| all << 8 | byte);
        let quarters = self.isa.lanes() / 4;
        match (row, self.packed) {
            (table::BYTES, false) => bytes([0, 4, 8, 12].map(|byte| byte + lane % 4)),
            // The first and the third byte of each dword change places.
            (table::BYTES, true) => bytes([2, 1, 0, 3].map(|byte| byte + 4 * (lane % 4))),
            // Of each quarter, dwords come from one vector after the other: one of each, or two of two.
            (_, true) => 4 * (lane % quarters) + lane / quarters,
            (_, false) => {
                let (vector, place) = (lane / (2 * quarters), lane % (2 * quarters));
                4 * (place / 2) + 2 * vector + place % 2
            }
        }
    }
}
