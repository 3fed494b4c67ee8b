//! Random legal vertex programs, for tests that compare engines and for fuzzing compilers.
//!
//! The same seed gives the same program. Programs pass [`check`](super::check::check) without errors and warnings: read ports, temporaries and A0 written
//! before they are read, predicates set before they count, loops and subroutines that nest. They use few registers, so that instructions depend on each other, and
//! end after a bounded number of instructions.

use super::access::dual_operands;
use super::flow::{FlowSlot, NO_FLOW};
use super::formats::{DualMath, OpDst, Src};
use super::inst::{Inst, RegisterAddress, Third, Words};
use super::ops::{AddrMode, Class, Component, DstType, MathOp, Op, Select, SrcType, VectorOp};
use super::program::{Literal, VertexProgram};
pub use crate::x1k::random::Random;

/// The permitted contents of a random program.
#[derive(Clone, Copy, Debug)]
pub struct RandomContents {
    /// About how many instructions, 16 or more; at most 900.
    pub instructions: usize,
    /// Jumps, loops and subroutines.
    pub flow: bool,
    /// Math operations beside vector operations.
    pub dual: bool,
    /// Predicated instructions.
    pub predicates: bool,
    /// Addresses with A0, and with aL inside of loops.
    pub relative: bool,
}

impl RandomContents {
    /// Everything, of moderate size.
    #[must_use]
    pub const fn all() -> Self {
        Self { instructions: 40, flow: true, dual: true, predicates: true, relative: true }
    }
}

/// Temporaries that programs compute with: r0 to r5. r6 counts conditions.
pub const TEMPORARIES: u8 = 6;
/// The temporary that counts conditions.
pub const COUNTER: u8 = 6;
/// Inputs that programs read: v0 to v3.
pub const INPUTS: u8 = 4;
/// Constants that come with the program: c0 to c15.
pub const CONSTANTS: u8 = 16;
/// Outputs that programs write: o0 to o3.
pub const OUTPUTS: u8 = 4;
/// Alternate temporaries that programs use, with dual operations.
const ALTERNATES: u8 = 2;
/// Iterations of a loop, at most.
const ITERATIONS: u32 = 4;

/// A random program.
#[must_use]
pub fn program(seed: u64, shape: &RandomContents) -> VertexProgram {
    let mut generator =
        Generator { random: Random::new(seed), shape: *shape, words: Vec::new(), flow: NO_FLOW, slots: 0 };
    generator.whole();
    let mut program = VertexProgram::from_words(std::mem::take(&mut generator.words));
    program.flow = generator.flow;
    program.last = generator.last(program.last);
    program.literals = (0..CONSTANTS)
        .map(|index| Literal { index, bits: std::array::from_fn(|_| generator.random.value()) })
        .collect();
    program
}

struct Generator {
    random: Random,
    shape: RandomContents,
    words: Vec<Words>,
    flow: super::flow::FlowTable,
    slots: usize,
}

/// Where an instruction is.
#[derive(Clone, Copy)]
struct InstSite {
    in_loop: bool,
    /// Open loops and subroutines.
    depth: usize,
}

impl Generator {
    fn below(&mut self, limit: usize) -> usize {
        self.random.below(u32::try_from(limit).unwrap_or(u32::MAX)) as usize
    }

    fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn byte(&mut self, limit: u8) -> u8 {
        u8::try_from(self.below(usize::from(limit))).unwrap_or(0)
    }

    /// The number of the next instruction.
    fn here(&self) -> u16 {
        u16::try_from(self.words.len()).unwrap_or(u16::MAX)
    }

    fn push(&mut self, inst: Inst) {
        self.words.push(inst.encode());
    }

    fn nop(&mut self) {
        self.words.push([0; 4]);
    }

    /// Start values of every register, the body, the outputs, and subroutines behind the end.
    fn whole(&mut self) {
        for temp in 0..=COUNTER {
            let input = Src::register(SrcType::Input, RegisterAddress::absolute(temp % INPUTS));
            self.copy(DstType::Temporary, temp, input);
        }
        if self.shape.dual {
            for temp in 0..ALTERNATES {
                let input = Src::register(SrcType::Input, RegisterAddress::absolute(temp));
                self.copy(DstType::AltTemporary, temp, input);
            }
        }
        if self.shape.relative {
            let mut dst = OpDst::nothing();
            dst.reg_type = DstType::A0;
            dst.set_write_mask(15);
            let source = Src::register(SrcType::Input, RegisterAddress::absolute(1));
            let idle = source.idle_after();
            self.push(Inst {
                op: Op::Vector(VectorOp::Flt2FixDx),
                dst,
                sources: [source, idle],
                third: Third::Source(idle),
            });
        }
        if self.shape.predicates {
            self.set_predicate();
        }
        self.block(self.shape.instructions.min(900), InstSite { in_loop: false, depth: 0 });
        for output in 0..OUTPUTS {
            let temp = Src::register(SrcType::Temporary, RegisterAddress::absolute(output));
            self.copy(DstType::Output, output, temp);
        }
        self.subroutines();
    }

    fn copy(&mut self, kind: DstType, offset: u8, source: Src) {
        let mut dst = OpDst::nothing();
        dst.reg_type = kind;
        dst.set_address(RegisterAddress::absolute(offset));
        dst.set_write_mask(15);
        let idle = source.idle_after();
        self.push(Inst { op: Op::Vector(VectorOp::Add), dst, sources: [source, idle], third: Third::Source(idle) });
    }

    /// A condition on a temporary, or the end or other branch of one.
    fn set_predicate(&mut self) {
        let ops = [
            Op::Math(MathOp::PredSetEq),
            Op::Math(MathOp::PredSetGt),
            Op::Math(MathOp::PredSetGte),
            Op::Math(MathOp::PredSetNeq),
            Op::Math(MathOp::PredSetInv),
            Op::Math(MathOp::PredSetPop),
            Op::Math(MathOp::PredSetRestore),
            Op::Math(MathOp::PredSetClr),
            Op::Vector(VectorOp::PredSetEqPush),
            Op::Vector(VectorOp::PredSetGtPush),
            Op::Vector(VectorOp::PredSetGtePush),
            Op::Vector(VectorOp::PredSetNeqPush),
        ];
        let op = ops[self.below(ops.len())];
        let mut dst = OpDst::nothing();
        dst.set_address(RegisterAddress::absolute(COUNTER));
        dst.we_w = true;
        let counter = Src::register(SrcType::Temporary, RegisterAddress::absolute(COUNTER));
        let temp = self.byte(TEMPORARIES);
        let value = Src::register(SrcType::Temporary, RegisterAddress::absolute(temp));
        let nested =
            matches!(op, Op::Vector(_) | Op::Math(MathOp::PredSetInv | MathOp::PredSetPop | MathOp::PredSetRestore));
        let sources = [if nested { counter } else { value }, value];
        let third = Third::Source(value.idle_after());
        self.push(Inst { op, dst, sources, third });
    }

    /// Instructions, loops, jumps and calls.
    fn block(&mut self, size: usize, place: InstSite) {
        let end = self.words.len() + size;
        while self.words.len() < end {
            let left = end - self.words.len();
            let slot = self.shape.flow && self.slots < 14 && left > 8 && self.chance(6);
            match (slot, self.below(3)) {
                (true, 0) => self.jump(),
                (true, _) if place.depth < 4 => self.repeat(left / 2, place),
                _ if self.shape.predicates && self.chance(5) => self.set_predicate(),
                _ => self.instruction(place),
            }
        }
    }

    fn slot(&mut self, slot: FlowSlot) {
        self.flow[self.slots] = slot;
        self.slots += 1;
    }

    /// A jump over nothing: everything that a path skips would never be reached.
    fn jump(&mut self) {
        let act = self.here();
        self.nop();
        self.slot(FlowSlot::jump(act, act + 1));
    }

    fn repeat(&mut self, size: usize, place: InstSite) {
        let act = self.here();
        self.nop();
        let number = self.slots;
        self.slot(FlowSlot::IDLE);
        self.block(size.max(1), InstSite { in_loop: true, depth: place.depth + 1 });
        // The last instruction belongs to no inner loop, so that each end is one of its own.
        self.nop();
        let last = self.here() - 1;
        let count = 1 + self.random.below(ITERATIONS);
        let (init, step) = (self.byte(8), i8::try_from(self.below(5)).unwrap_or(0) - 2);
        let mut slot = FlowSlot::repeat(act, act + 1, last, u16::try_from(count).unwrap_or(1), init, step);
        slot.index.inherit = place.in_loop && self.chance(4);
        self.flow[number] = slot;
    }

    /// A subroutine behind the end, called by the first instruction.
    fn subroutines(&mut self) {
        if !self.shape.flow {
            return;
        }
        let end = self.here();
        for _ in 0..3 {
            self.instruction(InstSite { in_loop: false, depth: 1 });
        }
        // It is called when everything that it reads has been written: from the first output on.
        let call = end - u16::from(OUTPUTS);
        self.slot(FlowSlot::call(call, end, end + 2, call + 1));
    }

    /// The last instruction: the one before the subroutine.
    const fn last(&self, end: u16) -> u16 {
        if self.shape.flow { end - 3 } else { end }
    }

    /// The select of one component.
    fn select(&mut self) -> Select {
        [Select::X, Select::Y, Select::Z, Select::W, Select::Zero, Select::One][match self.below(10) {
            8 => 4,
            9 => 5,
            n => n % 4,
        }]
    }

    /// The addresses that an instruction may read: one constant, one input, two temporaries, three in a macro.
    fn registers(&mut self, temporaries: usize, place: InstSite) -> Vec<(SrcType, RegisterAddress)> {
        let constant = self.constant_address(place);
        let input = RegisterAddress::absolute(self.byte(INPUTS));
        let mut list = vec![(SrcType::Constant, constant), (SrcType::Input, input)];
        for _ in 0..temporaries {
            list.push((SrcType::Temporary, RegisterAddress::absolute(self.byte(TEMPORARIES))));
        }
        if self.shape.dual {
            list.push((SrcType::AltTemporary, RegisterAddress::absolute(self.byte(ALTERNATES))));
        }
        list
    }

    fn constant_address(&mut self, place: InstSite) -> RegisterAddress {
        let offset = self.byte(CONSTANTS);
        match self.below(6) {
            0 if self.shape.relative => {
                RegisterAddress { mode: AddrMode::RelativeA0, sel: super::access::component(self.below(4)), offset }
            }
            1 if self.shape.relative && place.in_loop => {
                RegisterAddress { mode: AddrMode::RelativeI0, sel: Component::X, offset }
            }
            _ => RegisterAddress::absolute(offset),
        }
    }

    fn source(&mut self, registers: &[(SrcType, RegisterAddress)]) -> Src {
        let (kind, address) = registers[self.below(registers.len())];
        let mut src = Src::register(kind, address);
        src.set_swizzle(std::array::from_fn(|_| self.select()));
        if self.chance(4) {
            src.set_negate(if self.chance(2) { 15 } else { self.byte(16) });
        }
        src.abs = self.chance(8);
        src
    }

    /// One instruction without a predicate operation.
    fn instruction(&mut self, place: InstSite) {
        let plain: Vec<Op> =
            Op::all().filter(|op| matches!(op.info().class, Class::Plain | Class::Conditional)).collect();
        let op = plain[self.below(plain.len())];
        let registers = self.registers(if matches!(op, Op::Macro(_)) { 3 } else { 2 }, place);
        let info = op.info();
        let mut sources: Vec<Src> = Vec::with_capacity(3);
        for n in 0..3 {
            let src = if info.reads_source(n) {
                self.source(&registers)
            } else {
                sources.last().map_or(Src::ZERO_WORD, Src::idle_after)
            };
            sources.push(src);
        }
        let mut dst = OpDst::nothing();
        if self.chance(6) {
            dst.reg_type = DstType::Output;
            dst.set_address(RegisterAddress::absolute(self.byte(OUTPUTS)));
        } else {
            dst.set_address(RegisterAddress::absolute(self.byte(TEMPORARIES)));
        }
        dst.set_write_mask(1 + self.byte(15));
        if self.chance(6) {
            *(if op.is_math() { &mut dst.me_sat } else { &mut dst.ve_sat }) = true;
        }
        if self.shape.predicates && self.chance(3) {
            (dst.pred_enable, dst.pred_sense) = (true, self.chance(2));
        }
        let mut third = Third::Source(sources[2]);
        if self.shape.dual && matches!(op, Op::Vector(_)) && !info.reads_source(2) && self.chance(3) {
            let (math, dual) = self.dual(&sources);
            dst.me_sat = self.chance(6);
            third = Third::Dual(math, dual);
        }
        self.push(Inst { op, dst, sources: [sources[0], sources[1]], third });
    }

    /// A math operation that reads one of the registers of the vector operation.
    fn dual(&mut self, sources: &[Src]) -> (MathOp, DualMath) {
        let fits = |op: &MathOp| {
            let info = op.info();
            info.class == Class::Plain && !(0..3).all(|n| info.reads_source(n))
        };
        let list: Vec<MathOp> = MathOp::ALL.iter().copied().filter(fits).collect();
        let op = list[self.below(list.len())];
        let source = sources[self.below(2)];
        let mut dual = DualMath::IDLE;
        dual.reg_type = source.reg_type;
        dual.set_address(source.address());
        dual.abs = self.chance(4);
        let [_, second] = dual_operands(op);
        (dual.swizzle_x, dual.negate_x) = (self.select(), self.chance(4));
        if second {
            (dual.swizzle_y, dual.negate_y) = (self.select(), self.chance(4));
        }
        dual.dst_offset = self.byte(ALTERNATES);
        dual.we_sel = super::access::component(self.below(4));
        (op, dual)
    }
}
