//! Functions of Cranelift under construction: the place of the next instruction, types, literals.

use crate::codegen::x86::lir::Src;
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::ir::types::{F32X4, F64X2, I32, I32X4, I64, I64X2};
use cranelift_codegen::ir::{
    Block, ConstantData, DataFlowGraph, Endianness, Function, InsertBuilder, Inst, InstBuilder, InstInserterBase,
    InstructionData, MemFlags, Opcode, Type, Value, ValueDef,
};

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

/// Memory of the frame: mapped, and aligned.
pub const fn frame_flags() -> MemFlags {
    MemFlags::trusted()
}

/// Memory that is mapped.
pub const fn data_flags() -> MemFlags {
    MemFlags::new().with_notrap()
}

/// A function under construction.
pub struct Builder {
    pub func: Function,
    /// The end of this block is where the next instruction goes.
    pub at: Block,
    /// Literals and constants that are loaded before a loop.
    pub hoisted: Vec<(Src, Value)>,
    /// Values that are another one's bits as another type, and the block that has them.
    casts: SecondaryMap<Value, Option<(Block, Value)>>,
    /// Everything has code.
    pub is_complete: bool,
}

impl Builder {
    /// A function of its entry block.
    pub fn new(func: Function, entry: Block) -> Self {
        Self { func, at: entry, hoisted: Vec::new(), casts: SecondaryMap::new(), is_complete: true }
    }

    /// Goes on in a new block.
    pub fn begin(&mut self, block: Block) {
        // Behind the present one, so that loops stay together.
        self.func.layout.insert_block_after(block, self.at);
        self.at = block;
    }

    /// A literal or constant that is loaded before a loop.
    pub fn hoisted(&self, src: Src) -> Option<Value> {
        self.hoisted.iter().find(|(of, _)| *of == src).map(|&(_, value)| value)
    }

    /// The place of the next instruction.
    pub fn ins(&mut self) -> InsertBuilder<'_, AtEnd<'_>> {
        InsertBuilder::new(AtEnd { func: &mut self.func, block: self.at })
    }

    /// The same bits as another type.
    pub fn cast(&mut self, to: Type, value: Value) -> Value {
        let dfg = &self.func.dfg;
        if dfg.value_type(value) == to {
            return value;
        }
        if let ValueDef::Result(inst, _) = dfg.value_def(value)
            && let InstructionData::LoadNoOffset { opcode: Opcode::Bitcast, arg, .. } = dfg.insts[inst]
            && dfg.value_type(arg) == to
        {
            return arg;
        }
        if let Some((block, cast)) = self.casts[value]
            && block == self.at
            && dfg.value_type(cast) == to
        {
            return cast;
        }
        let cast = self.ins().bitcast(to, MemFlags::new().with_endianness(Endianness::Little), value);
        self.casts[value] = Some((self.at, cast));
        cast
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

    /// `yes` in the lanes of a mask, `no` in the others.
    pub fn blend(&mut self, mask: Value, yes: Value, no: Value) -> Value {
        // A bitwise choice would be three instructions of x86-64.
        match cfg!(target_arch = "x86_64") {
            true => self.ins().x86_blendv(mask, yes, no),
            false => self.ins().bitselect(mask, yes, no),
        }
    }

    /// A vector of these bytes.
    pub fn constant(&mut self, bytes: Vec<u8>) -> Value {
        let constant = self.func.dfg.constants.insert(ConstantData::from(bytes.as_slice()));
        self.ins().vconst(I32X4, constant)
    }

    /// The same bits in every lane.
    pub fn literal(&mut self, bits: u32) -> Value {
        self.hoisted(Src::Literal(bits)).unwrap_or_else(|| self.constant(bits.to_le_bytes().repeat(4)))
    }

    /// The same 64 bits in both elements.
    pub fn wide_literal(&mut self, bits: u64) -> Value {
        let vector = self.constant(bits.to_le_bytes().repeat(2));
        self.wides(vector)
    }

    /// Four bytes of memory in every lane.
    pub fn spread(&mut self, address: Value, offset: i32) -> Value {
        let bits = self.ins().load(I32, data_flags(), address, offset);
        self.ins().splat(I32X4, bits)
    }
}
