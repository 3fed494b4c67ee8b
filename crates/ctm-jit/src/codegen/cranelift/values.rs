//! Operands and vectors as values.

use super::program::FunctionEmitter;
use crate::codegen::x86::allocate::Location;
use crate::codegen::x86::lir::{K, Src, Vector};
use crate::codegen::x86::masked::layout::head;
use cranelift_codegen::ir::types::{F32X4, F64X2, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{
    Block, ConstantData, DataFlowGraph, Endianness, Function, InsertBuilder, Inst, InstBuilder, InstInserterBase,
    MemFlags, Type, Value,
};
use ctm_ir::masked::M;

/// The bytes of a part of a row.
pub const PART: i32 = 16;

/// In each vector: all bits of the lanes whose bits are set in its number.
static EXPANDED: Expanded = Expanded::new();

/// Vectors that loads may assume to be aligned.
#[repr(C, align(16))]
struct Expanded([[u32; 4]; 16]);

impl Expanded {
    const fn new() -> Self {
        let mut of = [[0; 4]; 16];
        let mut n = 0;
        while n < 64 {
            if (n / 4) >> (n % 4) & 1 == 1 {
                of[n / 4][n % 4] = u32::MAX;
            }
            n += 1;
        }
        Self(of)
    }
}

/// Appends instructions to a block.
pub struct AtEnd<'f> {
    func: &'f mut Function,
    block: Block,
}

impl<'f> InstInserterBase<'f> for AtEnd<'f> {
    fn data_flow_graph(&self) -> &DataFlowGraph {
        &self.func.dfg
    }

    fn data_flow_graph_mut(&mut self) -> &mut DataFlowGraph {
        &mut self.func.dfg
    }

    fn insert_built_inst(self, inst: Inst) -> &'f mut DataFlowGraph {
        self.func.layout.append_inst(inst, self.block);
        &mut self.func.dfg
    }
}

/// The state of the code for one part of a strip.
#[derive(Default)]
pub struct StripPart {
    /// The frame, moved by the part's bytes, and the number of the part's first lane.
    pub place: Option<(Value, Value)>,
    /// Vectors that are values at this point, and those among them that are newer than their rows.
    pub vectors: Vec<Option<Value>>,
    pub newer: Vec<Vector>,
    /// Mask registers 1 to 3.
    pub masks: [Option<Value>; 4],
    /// Masks of lanes before the strip, as words.
    pub words: Vec<(M, Value)>,
    /// The part's lanes of masks, as vectors.
    pub lanes: Vec<(M, Value)>,
    /// Literals and constants that are loaded before the loop.
    pub hoisted: Vec<(Src, Value)>,
    /// Vectors and masks that have changed since the beginning of an optional sequence, with their values before it.
    pub changed: Option<Changed>,
}

/// See [`Part::changed`].
#[derive(Default)]
pub struct Changed {
    pub vectors: Vec<(Vector, Option<Value>)>,
    pub masks: Vec<(K, Option<Value>)>,
}

/// Memory of the frame: mapped, and aligned.
pub const fn frame_flags() -> MemFlags {
    MemFlags::trusted()
}

/// Memory that is mapped.
pub const fn data_flags() -> MemFlags {
    MemFlags::new().with_notrap()
}

impl FunctionEmitter<'_> {
    /// The place of the next instruction.
    pub fn ins(&mut self) -> InsertBuilder<'_, AtEnd<'_>> {
        InsertBuilder::new(AtEnd { func: &mut self.func, block: self.at })
    }

    /// The same bits as another type.
    pub fn cast(&mut self, to: Type, value: Value) -> Value {
        if self.func.dfg.value_type(value) == to {
            return value;
        }
        self.ins().bitcast(to, MemFlags::new().with_endianness(Endianness::Little), value)
    }

    /// As numbers of single precision.
    pub fn floats(&mut self, value: Value) -> Value {
        self.cast(F32X4, value)
    }

    /// As numbers of double precision.
    pub fn doubles(&mut self, value: Value) -> Value {
        self.cast(F64X2, value)
    }

    /// As integers of 64 bits.
    pub fn wides(&mut self, value: Value) -> Value {
        self.cast(I64X2, value)
    }

    /// As integers of 32 bits, as vectors are.
    pub fn bits(&mut self, value: Value) -> Value {
        self.cast(I32X4, value)
    }

    /// An integer of 64 bits.
    pub fn number(&mut self, number: i64) -> Value {
        self.ins().iconst(I64, number)
    }

    /// A dword of the frame as an integer of 64 bits.
    pub fn load_wide(&mut self, offset: i32) -> Value {
        let frame = self.frame;
        self.ins().load(I64, frame_flags(), frame, offset)
    }

    /// Stores such an integer in the frame.
    pub fn store_wide(&mut self, offset: i32, value: Value) {
        let frame = self.frame;
        self.ins().store(frame_flags(), value, frame, offset);
    }

    /// A vector of these bytes.
    fn constant(&mut self, bytes: Vec<u8>) -> Value {
        let constant = self.func.dfg.constants.insert(ConstantData::from(bytes.as_slice()));
        self.ins().vconst(I32X4, constant)
    }

    /// The same bits in every lane.
    pub fn literal(&mut self, bits: u32) -> Value {
        let known = self.part.hoisted.iter().find(|(src, _)| *src == Src::Literal(bits));
        if let Some(&(_, value)) = known {
            return value;
        }
        self.constant(bits.to_le_bytes().repeat(4))
    }

    /// The same 64 bits in both elements.
    pub fn wide_literal(&mut self, bits: u64) -> Value {
        let vector = self.constant(bits.to_le_bytes().repeat(2));
        self.wides(vector)
    }

    /// A literal or constant before a loop.
    pub fn hoist(&mut self, src: Src) -> Value {
        match src {
            Src::Literal(bits) => self.constant(bits.to_le_bytes().repeat(4)),
            Src::Const(index) => self.spread_const(index),
            _ => self.literal(0),
        }
    }

    fn spread_const(&mut self, index: u16) -> Value {
        let uniforms = self.uniforms;
        let bits = self.ins().load(I32, data_flags(), uniforms, 4 * i32::from(index));
        self.ins().splat(I32X4, bits)
    }

    /// The frame, moved by the bytes of the present part.
    pub fn moved(&mut self) -> Value {
        self.part.place.map_or(self.frame, |(moved, _)| moved)
    }

    /// The part of a row of the frame.
    pub fn load_row(&mut self, offset: i32) -> Value {
        let moved = self.moved();
        self.ins().load(I32X4, frame_flags(), moved, offset)
    }

    /// Stores the part of a row of the frame.
    pub fn store_row(&mut self, offset: i32, value: Value) {
        let (moved, value) = (self.moved(), self.bits(value));
        self.ins().store(frame_flags(), value, moved, offset);
    }

    /// The row of a vector that outlives its strip, if it is ever live.
    pub fn row_of(&self, vector: Vector) -> Option<i32> {
        let is_wide = self.input.wide.get(vector.index()).is_none_or(|&is_wide| is_wide);
        match self.input.locations.of.get(vector.index()) {
            Some(&Location::Row(row)) if is_wide => {
                Some(self.input.layout.spills + self.input.layout.spill_bytes * row as i32)
            }
            _ => None,
        }
    }

    /// A vector's value: of one without a value or a row zeros, which nothing reads.
    pub fn vector(&mut self, vector: Vector) -> Value {
        if let Some(value) = self.part.vectors[vector.index()] {
            return value;
        }
        let Some(row) = self.row_of(vector) else { return self.literal(0) };
        let value = self.load_row(row);
        // The value of an optional sequence does not reach what follows it.
        self.remember(vector);
        self.part.vectors[vector.index()] = Some(value);
        value
    }

    fn remember(&mut self, vector: Vector) {
        let before = self.part.vectors[vector.index()];
        if let Some(changed) = &mut self.part.changed
            && !changed.vectors.iter().any(|&(of, _)| of == vector)
        {
            changed.vectors.push((vector, before));
        }
    }

    /// A vector gets a new value.
    pub fn set(&mut self, vector: Vector, value: Value) {
        let value = self.bits(value);
        self.remember(vector);
        self.part.vectors[vector.index()] = Some(value);
        if self.row_of(vector).is_some() && !self.part.newer.contains(&vector) {
            self.part.newer.push(vector);
        }
    }

    /// Stores the vectors that are newer than their rows.
    pub fn store_newer(&mut self) {
        for vector in std::mem::take(&mut self.part.newer) {
            if let (Some(row), Some(value)) = (self.row_of(vector), self.part.vectors[vector.index()]) {
                self.store_row(row, value);
            }
        }
    }

    /// An operand.
    pub fn operand(&mut self, src: Src) -> Value {
        match src {
            Src::Vector(vector) => self.vector(vector),
            Src::Literal(bits) => self.literal(bits),
            Src::Const(index) => match self.part.hoisted.iter().find(|(of, _)| *of == src) {
                Some(&(_, value)) => value,
                None => self.spread_const(index),
            },
            Src::Row(offset) => self.load_row(offset),
            Src::Each(offset) => {
                let frame = self.frame;
                self.ins().load(I32X4, frame_flags(), frame, offset)
            }
        }
    }

    /// A mask register.
    pub fn mask(&mut self, k: K) -> Value {
        match self.part.masks[usize::from(k & 3)] {
            Some(value) => value,
            None => self.literal(0),
        }
    }

    /// A mask register gets a new value.
    pub fn set_mask(&mut self, k: K, value: Value) {
        let value = self.bits(value);
        let before = self.part.masks[usize::from(k & 3)].replace(value);
        if let Some(changed) = &mut self.part.changed
            && !changed.masks.iter().any(|&(of, _)| of == k)
        {
            changed.masks.push((k, before));
        }
    }

    /// The part's lanes of a mask: all bits of a lane, or none.
    pub fn lanes(&mut self, m: M) -> Value {
        if let Some(&(_, value)) = self.part.lanes.iter().find(|(of, _)| *of == m) {
            return value;
        }
        let word = match self.part.words.iter().find(|(of, _)| *of == m) {
            Some(&(_, word)) => word,
            None => self.load_wide(head::mask(m)),
        };
        let bits = match self.part.place {
            Some((_, first)) => self.ins().ushr(word, first),
            None => word,
        };
        let bits = self.ins().band_imm(bits, 15);
        let offset = self.ins().ishl_imm(bits, 4);
        let table = self.number((&raw const EXPANDED).addr().cast_signed() as i64);
        let at = self.ins().iadd(table, offset);
        let lanes = self.ins().load(I32X4, MemFlags::trusted().with_readonly(), at, 0);
        if self.part.changed.is_none() {
            self.part.lanes.push((m, lanes));
        }
        lanes
    }
}
