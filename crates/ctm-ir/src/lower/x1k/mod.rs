//! ALU, OUTPUT and texture instructions in micro-operations (CTM §3.3, §3.4).
//!
//! An instruction becomes its computations, component by component, then its stores: all reads come before any write,
//! as the two halves are co-issued. A read of a variable that the same block has stored becomes the stored vector
//! itself (copy propagation), equal operations are merged (value numbering), and operations on constants are folded.

pub mod epilogues;
mod fetches;
mod flow;
pub mod joint;
pub mod masks;
mod units;

pub use flow::{for_covered_groups, lower, lower_launch};

use crate::lower::build::Build;
use crate::masked::{ChannelOp, Counter, M, MaskOp, Op, RegisterFile, Store, Tally, Value, Var};
use crate::x1k::{Code, LoopFrame};
use ctm_exec::float::ONE;
use ctm_exec::x1k::alu::predicate_channel;
use ctm_exec::x1k::group::shares_index;
use ctm_exec::x1k::plan::AluPlan;
use ctm_exec::x1k::unit;
use ctm_isa::r700::ops::Op2;
use ctm_isa::x1k::formats::CmnInst;
use ctm_isa::x1k::inst::{AluInst, Source, inline_constant};
use ctm_isa::x1k::ops::{AluResultSel, CompareOp, Imod, Omod, TexOp};
use ctm_isa::x1k::program::Lookups;
use ctm_isa::x1k::{FLOAT_CONSTANTS, Inst, OUTPUTS, Program, TEMPORARIES};
use units::Units;

/// The lanes of an effect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Under {
    /// A predicate bit (0 = r to 3 = a), and whether it is inverted.
    predicate: Option<(u8, bool)>,
    /// The mask is of all existing lanes, instead of those that flow control lets run.
    inactive: bool,
    /// Covered lanes only.
    covered: bool,
}

/// A comparison of two numbers; false when either is NaN, denormals are zeros.
type Test = (Op2, [Value; 2]);

/// Makes the operations of one block.
pub struct Builder {
    /// The block under way.
    block: Build,
    /// Masks of the lanes that instructions of the block concern.
    unders: Vec<(Under, M)>,
    /// Every existing lane runs in this block: no branch and no loop is open.
    all_run: bool,
    /// Stores concern all existing lanes, or the other lanes are dead.
    forwards: bool,
    /// The loop whose aL is visible.
    loop_variable: Option<usize>,
    zero_wins: bool,
    conditional_value: bool,
    lookups: Lookups,
    /// OUTPUT instructions write past the cache.
    uncached: bool,
    /// The values of uncovered lanes are visible: through an operation that reads idle lanes, a vote, or an uncached
    /// write.
    sees_uncovered: bool,
    /// Written outputs are sent: they are no operands of epilogues.
    sends: bool,
    /// The launch asks for counters.
    counts: bool,
    /// Constants are assumed to be numbers of moderate size where that saves instructions, and recorded in
    /// [`Code::moderate`].
    relies: bool,
    /// The comparison that has made the ALU result of all running lanes, if no later instruction has made it.
    pub result: Option<Value>,
    /// The counts of the instructions so far.
    pub tally: Tally,
    /// Of all blocks so far: fetches and stores, the outputs whose channels are written, whether an operation may
    /// fault.
    pub code: Code,
}

/// The number of an item in a list, to which it is appended where it is new.
fn number_of<T: PartialEq>(list: &mut Vec<T>, thing: T) -> u16 {
    let place = list.iter().position(|known| *known == thing).unwrap_or_else(|| {
        list.push(thing);
        list.len() - 1
    });
    place as u16
}

/// The options of lowering, beside the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The launch asks for counters.
    pub counts: bool,
    /// Constants may be assumed to be numbers of moderate size ([`is_moderate`]): these are recorded in
    /// [`Code::moderate`].
    pub relies: bool,
}

/// Whether a number is of moderate size: from 2^-24 to 2^24, so that neither it nor a product of two such is near an end of the range.
pub fn is_moderate(bits: u32) -> bool {
    const FROM: f32 = 1.0 / (1 << 24) as f32;
    const TO: f32 = (1 << 24) as f32;
    (FROM..=TO).contains(&f32::from_bits(bits).abs())
}

/// Whether both values are numbers of moderate size, or constants assumed to be such.
fn are_moderate(b: &mut Builder, values: [Value; 2]) -> bool {
    let ops = b.block.ops();
    let bare = |mut value: Value| {
        while let Op::Abs(of) | Op::Neg(of) = ops[value.index()] {
            value = of;
        }
        ops[value.index()]
    };
    let of = values.map(bare);
    let are = of.iter().all(|op| match *op {
        Op::Bits(bits) => is_moderate(bits),
        Op::Uniform(_) => b.relies,
        _ => false,
    });
    for op in of {
        if let (true, Op::Uniform(index)) = (are, op) {
            number_of(&mut b.code.moderate, index);
        }
    }
    are
}

impl Builder {
    /// A builder for blocks of this program. `sends`: its outputs are sent, not the results of epilogues.
    pub fn new(program: &Program, sees_uncovered: bool, Asked { counts, relies }: Asked, sends: bool) -> Self {
        Self {
            block: Build::default(),
            unders: Vec::new(),
            all_run: true,
            forwards: false,
            loop_variable: None,
            zero_wins: program.zero_times_anything,
            conditional_value: program.conditional_value,
            lookups: program.lookups,
            uncached: program.uncached,
            sees_uncovered,
            sends,
            counts,
            relies,
            result: None,
            tally: Tally::default(),
            code: Code::default(),
        }
    }

    /// Begins a block inside of `depth` levels and these loops. `forwards`: in lanes outside of its mask, the result of
    /// a store is not read later.
    pub fn begin(&mut self, depth: u8, frames: &[LoopFrame], forwards: bool) {
        self.unders.clear();
        self.all_run = depth == 0 && frames.is_empty();
        self.forwards = self.all_run || forwards;
        self.loop_variable = frames.iter().rposition(|frame| frame.is_loop);
        self.result = None;
        self.tally = Tally::default();
        if self.counts {
            let lanes = self.under(Under { covered: true, ..Under::default() });
            // The number of instructions is known at the end.
            self.block.effect(Op::Tally { counter: Counter::Lanes, weight: 0, under: lanes });
        }
    }

    /// The block's operations.
    pub fn finish(&mut self) -> Vec<Op> {
        let mut ops = self.block.take();
        let count = ops
            .iter_mut()
            .find_map(|op| if let Op::Tally { counter: Counter::Lanes, weight: n, .. } = op { Some(n) } else { None });
        count.into_iter().for_each(|n| *n = self.tally.instructions());
        ops
    }

    fn mask(&mut self, op: MaskOp) {
        self.block.effect(Op::Mask(op));
    }

    /// The mask of the lanes that an effect concerns.
    fn under(&mut self, under: Under) -> M {
        let under = Under { inactive: under.inactive || self.all_run, ..under };
        let all = if under.inactive { M::EXISTING } else { M::ACTIVE };
        if under.predicate.is_none() && !under.covered {
            return all;
        }
        if let Some((_, mask)) = self.unders.iter().find(|known| known.0 == under) {
            return *mask;
        }
        let mask = M::under(self.unders.len() % M::UNDERS);
        self.unders.retain(|known| known.1 != mask);
        self.unders.push((under, mask));
        let mut from = all;
        if let Some((bit, inverted)) = under.predicate {
            let bit = M::predicate(bit);
            self.mask(if inverted { MaskOp::AndNot(mask, from, bit) } else { MaskOp::And(mask, from, bit) });
            from = mask;
        }
        if under.covered {
            self.mask(MaskOp::And(mask, from, M::VALID));
        }
        mask
    }

    /// In the lanes of `under`, stores the outcome of a comparison with zero in a mask. Gives the comparison.
    fn compare_into(&mut self, mask: M, test: CompareOp, value: Value, under: Under) -> Value {
        let under = self.under(under);
        let holds = self.compared(test, value);
        if under == M::EXISTING {
            self.mask(MaskOp::Lanes(mask, holds));
            return holds;
        }
        self.mask(MaskOp::Lanes(M::TEMP, holds));
        self.mask(MaskOp::And(M::TEMP2, M::TEMP, under));
        self.mask(MaskOp::AndNot(mask, mask, under));
        self.mask(MaskOp::Or(mask, mask, M::TEMP2));
        holds
    }

    /// All ones where a number compares so with zero.
    fn compared(&mut self, test: CompareOp, value: Value) -> Value {
        let zero = self.block.bits(0);
        if let Op::Select([by, a, b]) = self.block.ops()[value.index()]
            && self.block.ops()[by.index()] == (Op::Holds { op: Op2::PredSete, operands: [a, zero], wanted: true })
        {
            // A choice with zero as its first value: only the second value has to be compared.
            let others = self.compared(test, b);
            let of_zero = matches!(test, CompareOp::Equal | CompareOp::GreaterEqual);
            let of_zero = self.block.bits(if of_zero { u32::MAX } else { 0 });
            return self.block.make(Op::Select([by, of_zero, others]));
        }
        let (op, operands) = match test {
            CompareOp::Equal => (Op2::PredSete, [value, zero]),
            CompareOp::Less => (Op2::PredSetgt, [zero, value]),
            CompareOp::GreaterEqual => (Op2::PredSetge, [value, zero]),
            CompareOp::NotEqual => (Op2::PredSetne, [value, zero]),
        };
        self.block.make(Op::Holds { op, operands, wanted: true })
    }

    fn unit(&mut self, unit: ChannelOp, a: Value, b: Value, c: Value) -> Value {
        self.block.make(Op::Unit(unit, [a, b, c]))
    }

    fn set(&mut self, var: Var, value: Value, under: Under) {
        // A copy of a variable to itself changes nothing under any mask, but it marks outputs as written.
        if self.block.holds(var, value) && var.export_index().is_none() {
            return;
        }
        let lanes = self.under(under);
        if let Some(output) = var.export_index().filter(|_| self.sends) {
            self.block.effect(Op::Mark(var, lanes));
            self.code.outputs |= 1 << output;
        }
        self.block.effect(Op::Set { var, value, under: lanes });
        let whole = under.predicate.is_none() && !under.covered && (self.forwards || under.inactive);
        self.block.hold(var, whole.then_some(value));
    }

    fn sign(&mut self, imod: Imod, a: Value) -> Value {
        match imod {
            Imod::Off => a,
            Imod::Neg => self.block.make(Op::Neg(a)),
            Imod::Abs => self.block.make(Op::Abs(a)),
            Imod::Nab => {
                let magnitude = self.sign(Imod::Abs, a);
                self.block.make(Op::Neg(magnitude))
            }
        }
    }

    fn mad(&mut self, [a, b, c]: [Value; 3], zero_wins: bool, omod: Omod) -> Value {
        // A constant is the second operand: instructions take that one from memory.
        let is_constant = |v: Value| matches!(self.block.ops()[v.index()], Op::Bits(_) | Op::Uniform(_));
        let (a, b) = if is_constant(a) && !is_constant(b) { (b, a) } else { (a, b) };
        self.unit(ChannelOp::Mad { zero_wins, omod }, a, b, c)
    }

    fn add(&mut self, x: Value, y: Value, omod: Omod) -> Value {
        let one = self.block.bits(ONE);
        self.mad([x, one, y], false, omod)
    }

    fn pick(&mut self, (op, operands): Test, [a, b]: [Value; 2]) -> Value {
        // The same operand twice: a move (CTM §3.3.5).
        if a == b {
            return a;
        }
        let holds = self.block.make(Op::Holds { op, operands, wanted: true });
        self.block.make(Op::Select([holds, a, b]))
    }

    /// A number times the output modifier. Back ends know which vectors it leaves as they are.
    fn scale(&mut self, a: Value, omod: Omod) -> Value {
        self.unit(ChannelOp::Scale(omod), a, a, a)
    }

    fn clamp(&mut self, a: Value) -> Value {
        self.unit(ChannelOp::Clamp, a, a, a)
    }

    /// The number aL.
    fn loop_index(&mut self) -> Value {
        match self.loop_variable {
            Some(frame) => self.block.once(Op::Number(M::loop_index(frame))),
            None => self.block.bits(0),
        }
    }

    fn guard(&mut self, source: Source) {
        let (base, count) = match source {
            Source::Temp { index, relative: true } => (index, TEMPORARIES),
            Source::Const { index, relative: true } => (index, FLOAT_CONSTANTS),
            Source::Temp { .. } | Source::Const { .. } | Source::Inline { .. } => return,
        };
        // Outside of loops aL is 0, so every register exists.
        if let Some(frame) = self.loop_variable {
            self.block.once(Op::Guard { number: M::loop_index(frame), base, count: count as u16 });
        }
    }

    /// A channel of a source register (CTM §3.3.1).
    fn source(&mut self, source: Source, channel: usize) -> Value {
        let lane_channel = channel as u8;
        match source {
            Source::Temp { index, relative: false } => self.block.get(Var::gpr(index.into(), channel)),
            Source::Const { index, relative: false } => {
                self.block.make(Op::Uniform(u16::from(index) * 4 + channel as u16))
            }
            // Temporaries may change between two reads; constants do not.
            Source::Temp { index, relative: true } => {
                let at = self.loop_index();
                self.block.effect(Op::GetRelative {
                    file: RegisterFile::Gprs(TEMPORARIES as u8),
                    base: index,
                    element: lane_channel,
                    index: at,
                })
            }
            Source::Const { index, relative: true } => {
                let at = self.loop_index();
                self.block.once(Op::GetRelative {
                    file: RegisterFile::Constants(0, FLOAT_CONSTANTS as u16),
                    base: index,
                    element: lane_channel,
                    index: at,
                })
            }
            Source::Inline { code, .. } => self.block.bits(inline_constant(code).to_bits()),
        }
    }

    fn set_temp(&mut self, register: u8, relative: bool, channel: usize, value: Value, under: Under) {
        if relative {
            let (lanes, index) = (self.under(under), self.loop_index());
            self.block.effect(Op::SetRelative {
                gprs: TEMPORARIES as u8,
                base: register,
                element: channel as u8,
                operands: [index, value],
                under: lanes,
            });
            // Any of them may have been written.
            (0..TEMPORARIES).for_each(|r| self.block.hold(Var::gpr(r, channel), None));
        } else {
            self.set(Var::gpr(register.into(), channel), value, under);
        }
    }

    /// An ALU or OUTPUT instruction.
    pub fn alu(&mut self, inst: AluInst) {
        // Only relative addresses have to be tested before they are read.
        let is_relative = |source: &Source| {
            matches!(source, Source::Temp { relative: true, .. } | Source::Const { relative: true, .. })
        };
        let mut plan = AluPlan::without_reads(inst);
        if plan.rgb_sources.iter().chain(&plan.alpha_sources).any(is_relative) {
            plan = AluPlan::new(inst);
        }
        let cmn = &inst.cmn;
        let is_output = inst.is_output();
        if is_output {
            self.tally.output += 1;
        } else {
            self.tally.alu += 1;
        }
        self.tally.nops += u32::from(cmn.nop);
        plan.reads.iter().for_each(|read| self.guard(read.source));
        if cmn.rgb_wmask != 0 {
            self.guard(Source::Temp { index: inst.rgba.addrd, relative: inst.rgba.addrd_rel });
        }
        if cmn.alpha_wmask {
            self.guard(Source::Temp { index: inst.alpha.addrd, relative: inst.alpha.addrd_rel });
        }

        let results = Units { plan: &plan, b: self }.results();
        let unders: [Under; 4] = std::array::from_fn(|channel| under(cmn, channel));
        for channel in channels(cmn.rgb_wmask, cmn.alpha_wmask) {
            let (register, relative) = if channel == 3 {
                (inst.alpha.addrd, inst.alpha.addrd_rel)
            } else {
                (inst.rgba.addrd, inst.rgba.addrd_rel)
            };
            if let Some(value) = results[channel] {
                self.set_temp(register, relative, channel, value, unders[channel]);
            }
        }
        let executing = Under { predicate: None, inactive: cmn.write_inactive, covered: false };
        for channel in channels(cmn.rgb_omask, cmn.alpha_omask) {
            let target = if channel == 3 { inst.alpha.target } else { inst.rgb.target } & 3;
            let Some(value) = results[channel] else { continue };
            if is_output && self.uncached {
                continue;
            } else if is_output {
                self.set(Var::export(target.into(), channel), value, unders[channel]);
            } else {
                let bit = channel as u8;
                let op = CompareOp::from_code(u32::from(target & 3)).unwrap_or(CompareOp::Equal);
                self.compare_into(M::predicate(bit), op, value, executing);
                self.unders.retain(|known| known.0.predicate.is_none_or(|(of, _)| of != bit));
            }
        }
        if let (true, Some(value)) = (inst.alpha.w_omask && is_output && self.conditional_value, results[3]) {
            // The conditional value comes after the four targets.
            self.set(Var::export(OUTPUTS, 0), value, unders[3]);
        }
        if inst.rgb.alu_wmask {
            let channel = match cmn.alu_result_sel {
                AluResultSel::Red => 0,
                AluResultSel::Alpha => 3,
            };
            if let Some(value) = results[channel] {
                let holds = self.compare_into(M::RESULT, cmn.alu_result_op, value, executing);
                self.result = (executing == Under::default()).then_some(holds);
            }
        }
        if let (true, true, [Some(value), Some(x), Some(y), Some(_)]) = (is_output, self.uncached, results) {
            self.uncached_write(&inst, [x, y], value, &unders);
        }
    }

    /// An uncached write (CTM §3.3.8): red's bits at (green, blue). With a partial output mask nothing is written.
    fn uncached_write(&mut self, inst: &AluInst, index: [Value; 2], value: Value, unders: &[Under; 4]) {
        let cmn = &inst.cmn;
        if cmn.rgb_omask != 7 || !cmn.alpha_omask {
            return;
        }
        let shared = shares_index(inst);
        self.tally.scattered += u32::from(!shared);
        let under = Under { predicate: None, inactive: cmn.write_inactive, covered: true };
        let executing = self.under(under);
        self.mask(MaskOp::Copy(M::WRITING, executing));
        for (bit, inverted) in (0..4).flat_map(|bit| [(bit, false), (bit, true)]) {
            if unders.iter().any(|under| under.predicate == Some((bit, inverted))) {
                let (all, bit) = (M::WRITING, M::predicate(bit));
                self.mask(if inverted { MaskOp::AndNot(all, all, bit) } else { MaskOp::And(all, all, bit) });
            }
        }
        let writing = self.block.effect(Op::Number(M::WRITING));
        let number = number_of(&mut self.code.stores, Store::Uncached { shared });
        self.block.effect(Op::Store {
            number,
            operands: [index[0], index[1], value, writing, index[0]],
            under: executing,
        });
    }
}

/// The channels that masks name.
fn channels(rgb: u8, alpha: bool) -> impl Iterator<Item = usize> {
    (0..4).filter(move |&c| if c == 3 { alpha } else { rgb >> c & 1 == 1 })
}

/// The lanes that an instruction's register and output writes concern (CTM §3.3.6).
fn under(cmn: &CmnInst, channel: usize) -> Under {
    let (sel, inverted) =
        if channel == 3 { (cmn.alpha_pred_sel, cmn.alpha_pred_inv) } else { (cmn.rgb_pred_sel, cmn.rgb_pred_inv) };
    let predicate = predicate_channel(sel, channel).map(|bit| (bit as u8, inverted));
    Under { predicate, inactive: cmn.write_inactive, covered: false }
}

/// Whether an instruction reads the other lanes of its quad.
pub fn is_quad(inst: &Inst) -> bool {
    matches!(inst, Inst::Alu(alu) if alu.rgba.op.is_quad() || alu.alpha.op.is_quad())
}

/// Whether a lookup of a texture reads the other lanes of its quad.
pub fn reads_quad(inst: &Inst) -> bool {
    matches!(inst, Inst::Tex(tex) if unit::reads_quad(tex.inst.op))
}

/// Whether an instruction looks up one of these cubes by gradients of its own.
pub fn is_cube_gradient(inst: &Inst, cubes: u16) -> bool {
    matches!(inst, Inst::Tex(tex) if tex.inst.op == TexOp::Dxdy && cubes >> (tex.inst.tex_id & 15) & 1 == 1)
}

/// Whether an instruction writes lanes that flow control does not let run.
pub fn writes_inactive(inst: &Inst) -> bool {
    match inst {
        Inst::Alu(alu) => alu.cmn.write_inactive,
        Inst::Tex(tex) => tex.cmn.write_inactive,
        Inst::Fc(_) => false,
    }
}

/// Whether an instruction addresses temporaries relative to aL.
pub fn has_relative_temps(inst: &Inst) -> bool {
    match inst {
        Inst::Alu(alu) => {
            let sources = alu.rgb_sources().into_iter().chain(alu.alpha_sources());
            alu.rgba.addrd_rel
                || alu.alpha.addrd_rel
                || sources.into_iter().any(|s| matches!(s, Source::Temp { relative: true, .. }))
        }
        Inst::Tex(tex) => tex.addr.src_addr_rel || tex.addr.dst_addr_rel,
        Inst::Fc(_) => false,
    }
}
