//! Operands and vectors as values.

use super::builder::{Builder, frame_flags};
use super::lines::{CurrentValues, VectorEmitter};
use super::program::FunctionEmitter;
use crate::codegen::x86::allocate::Location;
use crate::codegen::x86::lir::{Src, Vector};
use crate::codegen::x86::masked::layout::head;
use cranelift_codegen::ir::types::{I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use ctm_ir::masked::M;
use std::ops::{Deref, DerefMut};

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

/// The address of the table.
pub fn expanded_lanes() -> i64 {
    (&raw const EXPANDED).addr().cast_signed() as i64
}

/// The state of the code for one part of a strip.
#[derive(Default)]
pub struct StripPart {
    /// The frame, moved by the part's bytes, and the number of the part's first lane.
    pub place: Option<(Value, Value)>,
    /// The part's bytes, where its code is for this part alone.
    pub offset: i32,
    /// Vectors and masks.
    pub state: CurrentValues,
    /// Vectors that are newer than their rows.
    pub newer: Vec<Vector>,
    /// Masks of lanes before the strip, as words.
    pub words: Vec<(M, Value)>,
    /// The part's lanes of masks, as vectors.
    pub lanes: Vec<(M, Value)>,
    /// The part's lanes of masks that the strip has made.
    pub made: Vec<(M, Value)>,
}

impl FunctionEmitter<'_> {
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

    /// A literal or constant before a loop.
    pub fn hoist(&mut self, src: Src) -> Value {
        match src {
            Src::Const(index) => self.spread_const(index),
            Src::Literal(bits) => self.literal(bits),
            _ => self.literal(0),
        }
    }

    fn spread_const(&mut self, index: u16) -> Value {
        let uniforms = self.uniforms;
        self.spread(uniforms, 4 * i32::from(index))
    }

    /// The frame, moved by the bytes of the present part.
    pub fn moved(&mut self) -> Value {
        self.part.place.map_or(self.frame, |(moved, _)| moved)
    }

    /// The part of a row of the frame.
    pub fn load_row(&mut self, offset: i32) -> Value {
        let (moved, offset) = (self.moved(), offset + self.part.offset);
        self.ins().load(I32X4, frame_flags(), moved, offset)
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

    /// Stores the vectors that are newer than their rows.
    pub fn store_newer(&mut self) {
        for vector in std::mem::take(&mut self.part.newer) {
            if let (Some(row), Some(value)) = (self.row_of(vector), self.part.state.vectors[vector.index()]) {
                self.store_row(row, value);
            }
        }
    }

    /// The part's lanes of a mask: all bits of a lane, or none.
    pub fn lanes(&mut self, m: M) -> Value {
        if self.unrolled.is_some() {
            return self.unrolled_lanes(m);
        }
        if let Some(&(_, value)) = self.part.lanes.iter().find(|(of, _)| *of == m) {
            return value;
        }
        let word = match self.part.words.iter().find(|(of, _)| *of == m) {
            Some(&(_, word)) => word,
            None => self.load_wide(head::mask(m)),
        };
        let lanes = self.expanded(word);
        if self.part.state.changed.is_none() {
            self.part.lanes.push((m, lanes));
        }
        lanes
    }
}

impl Deref for FunctionEmitter<'_> {
    type Target = Builder;

    fn deref(&self) -> &Builder {
        &self.build
    }
}

impl DerefMut for FunctionEmitter<'_> {
    fn deref_mut(&mut self) -> &mut Builder {
        &mut self.build
    }
}

impl VectorEmitter for FunctionEmitter<'_> {
    fn state(&mut self) -> &mut CurrentValues {
        &mut self.part.state
    }

    fn place(&self, vector: Vector) -> usize {
        vector.index()
    }

    /// Of a vector without a value or a row zeros, which nothing reads.
    fn vector(&mut self, vector: Vector) -> Value {
        if let Some(value) = self.part.state.vectors[vector.index()] {
            return value;
        }
        let Some(row) = self.row_of(vector) else { return self.literal(0) };
        // Where parts are unrolled, a variable without a value is undefined.
        let value = if self.unrolled.is_some() { self.literal(0) } else { self.load_row(row) };
        // The value of an optional sequence does not reach what follows it.
        self.part.state.put(vector.index(), value);
        value
    }

    fn has_value(&self, vector: Vector) -> bool {
        self.row_of(vector).is_some()
    }

    fn set(&mut self, vector: Vector, value: Value) {
        let value = self.bits(value);
        self.part.state.put(vector.index(), value);
        if self.unrolled.is_none() && self.row_of(vector).is_some() && !self.part.newer.contains(&vector) {
            self.part.newer.push(vector);
        }
    }

    fn operand(&mut self, src: Src) -> Value {
        match src {
            Src::Vector(vector) => self.vector(vector),
            Src::Literal(bits) => self.literal(bits),
            Src::Const(index) => match self.hoisted(src) {
                Some(value) => value,
                None => self.spread_const(index),
            },
            Src::Row(offset) => self.load_row(offset),
            Src::Each(offset) => {
                let frame = self.frame;
                self.ins().load(I32X4, frame_flags(), frame, offset)
            }
        }
    }

    fn set_relative_constant(&mut self, _: Vector, number: u16, _: u16) {
        debug_assert!(false, "number {number} of a stream");
        self.is_complete = false;
    }

    fn store_row(&mut self, offset: i32, value: Value) {
        let (moved, value) = (self.moved(), self.bits(value));
        let offset = offset + self.part.offset;
        self.ins().store(frame_flags(), value, moved, offset);
    }
}
