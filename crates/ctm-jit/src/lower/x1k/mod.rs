//! ALU, OUTPUT and texture instructions in micro-operations (CTM §3.3, §3.4).
//!
//! One instruction becomes what it computes, component by component, then what it stores: everything is read before anything is
//! written, as the two halves are co-issued. Reads of what the same block has stored become the stored vector itself (copy
//! propagation), equal operations are made once, operations on known bits are done here.

mod flow;
pub mod joint;
pub mod masks;
mod units;

#[cfg(all(test, target_arch = "x86_64"))]
pub use flow::lower;
pub use flow::{for_covered_groups, lower_with};

use crate::ir::map::{Made, hash_of};
use crate::ir::x1k::{File, Op, Tally, Test, Under, Value, Var};
use ctm_exec::float::{NAN, SIGN, Wide, flush};
use ctm_exec::x1k::alu::predicate_channel;
use ctm_exec::x1k::functions::UnitOp;
use ctm_exec::x1k::group::shares_index;
use ctm_exec::x1k::ops::{self, ZeroRule};
use ctm_exec::x1k::plan::AluPlan;
use ctm_exec::x1k::tex;
use ctm_isa::x1k::Program;
use ctm_isa::x1k::formats::CmnInst;
use ctm_isa::x1k::inst::{AluInst, Source, TexInstruction, inline_constant};
use ctm_isa::x1k::ops::{AlphaOp, AluResultSel, Channel, CompareOp, Imod, Omod, TexOp};
pub use units::exists;
use units::{Finish, Units};

/// What is known of the bits of a vector.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// No denormals.
    flushed: bool,
    /// No NaN but the one that arithmetic makes.
    one_nan: bool,
}

/// Makes the operations of one block.
pub struct Builder {
    ops: Vec<Op>,
    known: Vec<Known>,
    made: Made,
    /// The vector that each variable is known to hold.
    holds: Vec<Option<Value>>,
    /// Stores concern all lanes there are, or nobody looks at the others.
    forwards: bool,
    zero_wins: bool,
    conditional_value: bool,
    /// OUTPUT instructions write past the cache.
    uncached: bool,
    /// Somebody sees what uncovered lanes hold: an operation that looks at lanes that do not run, a vote, an uncached write.
    sees_uncovered: bool,
    /// Operations that look at one channel are calls of their reference functions, even where back ends have code for them.
    calls: bool,
    /// What the instructions so far count.
    pub tally: Tally,
    /// Of all blocks so far: nothing may fault.
    pub faultless: bool,
    /// Of all blocks so far: inputs that are fetched, by number.
    pub inputs: u16,
    /// Of all blocks so far: outputs whose channels are written.
    pub outputs: u32,
}

/// A hash of an operation that makes a vector.
#[inline(always)]
fn hash(op: &Op) -> u32 {
    match *op {
        Op::Bits(bits) => hash_of([0, bits]),
        Op::Const(index) => hash_of([1, index.into()]),
        Op::Sign(imod, a) => hash_of([2 + 16 * imod as u32, a.0]),
        Op::Mad { a, b, c, zero_wins, omod } => {
            hash_of([3 + 16 * (2 * omod as u32 + u32::from(zero_wins)), a.0, b.0, c.0])
        }
        Op::Pick { test, x, y, a, b } => hash_of([4 + 16 * test as u32, x.0, y.0, a.0, b.0]),
        Op::Scale(a, omod) => hash_of([5 + 16 * omod as u32, a.0]),
        Op::Clamp(a) => hash_of([6, a.0]),
        Op::Fraction(a, omod) => hash_of([7 + 16 * omod as u32, a.0]),
        Op::Scalar(function, a) => hash_of([8 + 16 * function as u32, a.0]),
        Op::QuadLane(a, lane) => hash_of([9 + 16 * u32::from(lane), a.0]),
        Op::Texel(a, channel) => hash_of([10 + 16 * u32::from(channel), a.0]),
        Op::GetRelative { base, channel, .. } => hash_of([11 + 16 * u32::from(channel), base.into()]),
        Op::Guard { base, .. } => hash_of([12, base.into()]),
        Op::Reference { abc: [a, b, c], .. } => hash_of([14, a.0, b.0, c.0]),
        Op::Get(_)
        | Op::Fetch { .. }
        | Op::Write { .. }
        | Op::Set(..)
        | Op::SetRelative { .. }
        | Op::SetPredicate(..)
        | Op::SetResult(..)
        | Op::Kill(..) => 0,
    }
}

impl Builder {
    /// A builder for blocks of this program.
    pub fn new(program: &Program, sees_uncovered: bool, calls: bool) -> Self {
        Self {
            ops: Vec::with_capacity(256),
            known: Vec::with_capacity(256),
            made: Made::default(),
            holds: vec![None; Var::COUNT],
            forwards: false,
            zero_wins: program.zero_times_anything,
            conditional_value: program.conditional_value,
            uncached: program.uncached,
            sees_uncovered,
            calls,
            tally: Tally::default(),
            faultless: true,
            inputs: 0,
            outputs: 0,
        }
    }

    /// Begins a block. `forwards`: what a store under the running lanes leaves in the other lanes does not matter to later reads.
    pub fn begin(&mut self, forwards: bool) {
        self.ops.clear();
        self.known.clear();
        self.made.clear();
        self.holds.fill(None);
        self.forwards = forwards;
        self.tally = Tally::default();
    }

    /// The block's operations.
    pub fn finish(&mut self) -> (Vec<Op>, Tally) {
        (self.ops.clone(), self.tally)
    }

    fn append(&mut self, op: Op, known: Known) -> Value {
        self.ops.push(op);
        self.known.push(known);
        Value(u32::try_from(self.ops.len() - 1).unwrap_or(u32::MAX))
    }

    fn effect(&mut self, op: Op) -> Value {
        self.append(op, Known::default())
    }

    /// An operation that makes a vector, unless it has been made before.
    // Where it is called it is known which operation that is.
    #[inline(always)]
    fn pure(&mut self, op: Op) -> Value {
        let (hash, known) = (hash(&op), self.known_of(&op));
        self.make(op, hash, known)
    }

    fn make(&mut self, op: Op, hash: u32, known: Known) -> Value {
        let (ops, place) = (&self.ops, self.ops.len() as u32);
        match self.made.find_or_add(hash, place, |place| ops[place as usize] == op) {
            Some(made) => Value(made),
            None => self.append(op, known),
        }
    }

    #[inline(always)]
    fn known_of(&self, op: &Op) -> Known {
        let of = |v: Value| self.known[v.index()];
        match *op {
            Op::Bits(bits) => {
                let x = f32::from_bits(bits);
                Known { flushed: flush(bits) == bits, one_nan: !x.is_nan() || bits == NAN }
            }
            Op::Mad { .. } | Op::Scale(..) | Op::Clamp(_) | Op::Fraction(..) | Op::Scalar(..) => {
                Known { flushed: true, one_nan: true }
            }
            Op::Sign(Imod::Abs | Imod::Off, a) | Op::QuadLane(a, _) => of(a),
            Op::Sign(Imod::Neg | Imod::Nab, a) => Known { one_nan: false, ..of(a) },
            Op::Pick { a, b, .. } => {
                let (a, b) = (of(a), of(b));
                Known { flushed: a.flushed && b.flushed, one_nan: a.one_nan && b.one_nan }
            }
            Op::Reference { omod, .. } => Known { flushed: omod != Omod::Disabled, one_nan: omod != Omod::Disabled },
            Op::Get(_)
            | Op::Const(_)
            | Op::GetRelative { .. }
            | Op::Texel(..)
            | Op::Fetch { .. }
            | Op::Write { .. }
            | Op::Set(..)
            | Op::SetRelative { .. }
            | Op::SetPredicate(..)
            | Op::SetResult(..)
            | Op::Kill(..)
            | Op::Guard { .. } => Known::default(),
        }
    }

    fn bits(&mut self, bits: u32) -> Value {
        self.pure(Op::Bits(bits))
    }

    /// The bits that a vector is known to hold in every lane.
    fn constant(&self, value: Value) -> Option<u32> {
        match self.ops[value.index()] {
            Op::Bits(bits) => Some(bits),
            _ => None,
        }
    }

    fn get(&mut self, var: Var) -> Value {
        if let Some(value) = self.holds[var.index()] {
            return value;
        }
        let value = self.append(Op::Get(var), Known::default());
        self.holds[var.index()] = Some(value);
        value
    }

    fn set(&mut self, var: Var, value: Value, under: Under) {
        // Copying a variable to itself under whatever mask changes nothing, but for outputs it says that they were written.
        if self.holds[var.index()] == Some(value) && var.output_index().is_none() {
            return;
        }
        self.effect(Op::Set(var, value, under));
        self.outputs |= var.output_index().map_or(0, |index| 1 << index);
        let whole = under.predicate.is_none() && !under.covered && (self.forwards || under.inactive);
        self.holds[var.index()] = whole.then_some(value);
    }

    /// `of` applied to the bits in every lane, where they are known: to the constant, or to both of a choice between two constants.
    fn folded(&mut self, a: Value, of: impl Fn(u32) -> u32) -> Option<Value> {
        if let Some(bits) = self.constant(a) {
            return Some(self.bits(of(bits)));
        }
        let Op::Pick { test, x, y, a, b } = self.ops[a.index()] else { return None };
        let (a, b) = (self.constant(a)?, self.constant(b)?);
        let (a, b) = (self.bits(of(a)), self.bits(of(b)));
        Some(self.pick(test, [x, y], [a, b]))
    }

    fn sign(&mut self, imod: Imod, a: Value) -> Value {
        if let Some(folded) = self.folded(a, |bits| ops::input_modifier(imod, bits)) {
            return folded;
        }
        match (imod, self.ops[a.index()]) {
            (Imod::Off, _) => a,
            // Magnitudes do not care for signs below them; two negations are none.
            (Imod::Abs | Imod::Nab, Op::Sign(_, below)) => self.sign(imod, below),
            (Imod::Neg, Op::Sign(Imod::Neg, below)) => below,
            (Imod::Neg, Op::Sign(Imod::Abs, below)) => self.pure(Op::Sign(Imod::Nab, below)),
            (Imod::Neg, Op::Sign(Imod::Nab, below)) => self.pure(Op::Sign(Imod::Abs, below)),
            (_, _) => self.pure(Op::Sign(imod, a)),
        }
    }

    fn mad(&mut self, [a, b, c]: [Value; 3], zero_wins: bool, omod: Omod) -> Value {
        let zero = if zero_wins { ZeroRule::ZeroTimesAnything } else { ZeroRule::Ieee };
        let made = |[x, y, z]: [u32; 3]| ops::output_modifier(ops::mad(x, y, z, zero), omod, false);
        let folded = match [a, b, c].map(|v| self.constant(v)) {
            [Some(x), Some(y), Some(z)] => Some(self.bits(made([x, y, z]))),
            [None, Some(y), Some(z)] => self.folded(a, |x| made([x, y, z])),
            [Some(x), None, Some(z)] => self.folded(b, |y| made([x, y, z])),
            [Some(x), Some(y), None] => self.folded(c, |z| made([x, y, z])),
            _ => None,
        };
        if let Some(folded) = folded {
            return folded;
        }
        // A constant factor that is a number other than zero never makes 0 times infinity or NaN.
        let harmless = |v: Value| {
            self.constant(v).is_some_and(|bits| f32::from_bits(bits).is_finite() && f32::from_bits(flush(bits)) != 0.0)
        };
        let zero_wins = zero_wins && !harmless(a) && !harmless(b);
        // A constant goes second: that is where instructions take operands from memory.
        let is_constant = |v: Value| matches!(self.ops[v.index()], Op::Bits(_) | Op::Const(_));
        let (a, b) = if is_constant(a) && !is_constant(b) { (b, a) } else { (a, b) };
        self.pure(Op::Mad { a, b, c, zero_wins, omod })
    }

    fn reference(&mut self, op: UnitOp, abc: [Value; 3], Finish { omod, clamp }: Finish) -> Value {
        self.pure(Op::Reference { op, abc, zero_wins: self.zero_wins, omod, clamp })
    }

    fn pick(&mut self, test: Test, [x, y]: [Value; 2], [a, b]: [Value; 2]) -> Value {
        // The same operand twice: a move (CTM §3.3.5).
        if a == b {
            return a;
        }
        // A comparison of what an earlier one has chosen between two constants says what that one says, or the opposite, or always the same.
        if let Op::Pick { test: earlier, x: left, y: right, a: then, b: otherwise } = self.ops[x.index()]
            && let [Some(then), Some(otherwise), Some(with)] = [then, otherwise, y].map(|v| self.constant(v))
        {
            return match [then, otherwise].map(|chosen| test.holds(chosen, with)) {
                [true, true] => a,
                [false, false] => b,
                [true, false] => self.pick(earlier, [left, right], [a, b]),
                [false, true] => self.pick(earlier, [left, right], [b, a]),
            };
        }
        self.pure(Op::Pick { test, x, y, a, b })
    }

    fn scale(&mut self, a: Value, omod: Omod) -> Value {
        if let Some(folded) = self.folded(a, |bits| ops::output_modifier(Wide::from_bits(bits), omod, false)) {
            return folded;
        }
        let known = self.known[a.index()];
        if omod == Omod::U1 && known.flushed && known.one_nan { a } else { self.pure(Op::Scale(a, omod)) }
    }

    fn clamp(&mut self, a: Value) -> Value {
        match self.folded(a, ops::clamp) {
            Some(folded) => folded,
            None => self.pure(Op::Clamp(a)),
        }
    }

    fn guard(&mut self, source: Source) {
        let (file, base) = match source {
            Source::Temp { index, relative: true } => (File::Temp, index),
            Source::Const { index, relative: true } => (File::Const, index),
            Source::Temp { .. } | Source::Const { .. } | Source::Inline { .. } => return,
        };
        self.faultless = false;
        self.pure(Op::Guard { file, base });
    }

    /// A channel of a source register (CTM §3.3.1).
    fn source(&mut self, source: Source, channel: usize) -> Value {
        let lane_channel = channel as u8;
        match source {
            Source::Temp { index, relative: false } => self.get(Var::temp(index.into(), channel)),
            Source::Const { index, relative: false } => self.pure(Op::Const(u16::from(index) * 4 + channel as u16)),
            // Temporaries may change between two reads; constants do not.
            Source::Temp { index, relative: true } => {
                self.effect(Op::GetRelative { file: File::Temp, base: index, channel: lane_channel })
            }
            Source::Const { index, relative: true } => {
                self.pure(Op::GetRelative { file: File::Const, base: index, channel: lane_channel })
            }
            Source::Inline { code, .. } => self.bits(inline_constant(code).to_bits()),
        }
    }

    fn set_temp(&mut self, register: u8, relative: bool, channel: usize, value: Value, under: Under) {
        if relative {
            self.effect(Op::SetRelative { base: register, channel: channel as u8, value, under });
            // It may have been any of them.
            (0..ctm_isa::x1k::TEMPORARIES).for_each(|r| self.holds[Var::temp(r, channel).index()] = None);
        } else {
            self.set(Var::temp(register.into(), channel), value, under);
        }
    }

    /// An ALU or OUTPUT instruction.
    pub fn alu(&mut self, inst: AluInst) {
        // Only relative addresses have to be looked at before they are read.
        let is_relative = |source: &Source| {
            matches!(source, Source::Temp { relative: true, .. } | Source::Const { relative: true, .. })
        };
        let relative = inst.rgb_sources().iter().chain(&inst.alpha_sources()).any(is_relative);
        let plan = if relative { AluPlan::new(inst) } else { AluPlan::without_reads(inst) };
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
        let writes = |rgb: u8, alpha: bool| [rgb & 1 != 0, rgb & 2 != 0, rgb & 4 != 0, alpha];
        let stored = |channel: usize| results[channel];
        for channel in channels(writes(cmn.rgb_wmask, cmn.alpha_wmask)) {
            let (register, relative) = if channel == 3 {
                (inst.alpha.addrd, inst.alpha.addrd_rel)
            } else {
                (inst.rgba.addrd, inst.rgba.addrd_rel)
            };
            if let Some(value) = stored(channel) {
                self.set_temp(register, relative, channel, value, unders[channel]);
            }
        }
        let executing = Under { predicate: None, inactive: cmn.write_inactive, covered: false };
        for channel in channels(writes(cmn.rgb_omask, cmn.alpha_omask)) {
            let target = if channel == 3 { inst.alpha.target } else { inst.rgb.target } & 3;
            let Some(value) = stored(channel) else { continue };
            if is_output && self.uncached {
                continue;
            } else if is_output {
                self.set(Var::output(target.into(), channel), value, unders[channel]);
            } else {
                self.effect(Op::SetPredicate(channel as u8, compare_op(target), value, executing));
            }
        }
        if let (true, Some(value)) = (inst.alpha.w_omask && is_output && self.conditional_value, results[3]) {
            self.set(Var::W, value, unders[3]);
        }
        if inst.rgb.alu_wmask {
            let channel = match cmn.alu_result_sel {
                AluResultSel::Red => 0,
                AluResultSel::Alpha => 3,
            };
            if let Some(value) = results[channel] {
                self.effect(Op::SetResult(cmn.alu_result_op, value, executing));
            }
        }
        if let (true, true, [Some(value), Some(x), Some(y), Some(_)]) = (is_output, self.uncached, results) {
            self.uncached_write(&inst, [x, y], value, &unders);
        }
    }

    /// An uncached write (CTM §3.3.8): red's bits at (green, blue). With a part of the output mask nothing is written.
    fn uncached_write(&mut self, inst: &AluInst, index: [Value; 2], value: Value, unders: &[Under; 4]) {
        let cmn = &inst.cmn;
        if cmn.rgb_omask != 7 || !cmn.alpha_omask {
            return;
        }
        let shared = shares_index(inst);
        self.tally.scattered += u32::from(!shared);
        let bits = |wanted| {
            unders.iter().filter_map(|u| u.predicate).filter(|p| p.1 == wanted).fold(0, |all, (bit, _)| all | 1 << bit)
        };
        let under = Under { predicate: None, inactive: cmn.write_inactive, covered: true };
        self.faultless = false;
        self.effect(Op::Write { index, value, shared, under, set: bits(false), clear: bits(true) });
    }

    /// A texture instruction.
    pub fn tex(&mut self, inst: &TexInstruction) {
        self.tally.tex += 1;
        self.tally.tex_wide += u32::from(inst.inst.op != TexOp::Nop);
        let (addr, cmn) = (&inst.addr, &inst.cmn);
        let source = Source::Temp { index: addr.src_addr, relative: addr.src_addr_rel };
        if !tex::source_channels(inst).is_empty() {
            self.guard(source);
        }
        if tex::writes_destination(inst) {
            self.guard(Source::Temp { index: addr.dst_addr, relative: addr.dst_addr_rel });
        }
        let mask = cmn.rgb_wmask;
        let written = [mask & 1 != 0, mask & 2 != 0, mask & 4 != 0, cmn.alpha_wmask];
        let covered = inst.inst.ignore_uncovered && self.sees_uncovered;
        let unders: [Under; 4] = std::array::from_fn(|channel| Under { covered, ..under(cmn, channel) });
        match inst.inst.op {
            TexOp::Nop => {}
            TexOp::KillLt0 => {
                let mut values: Vec<_> = channels(written).map(|c| (self.source(source, c), unders[c])).collect();
                // Compilers write the same to all channels.
                values.dedup();
                values.into_iter().for_each(|(value, under)| {
                    self.effect(Op::Kill(value, under));
                });
            }
            TexOp::Lookup | TexOp::LookupProj | TexOp::LodBias | TexOp::Lod | TexOp::Dxdy | TexOp::LookupUncached => {
                let channel = |c: Channel| c as usize;
                let mut s = self.source(source, channel(addr.src_s_swiz));
                let mut t = self.source(source, channel(addr.src_t_swiz));
                if inst.inst.op == TexOp::LookupProj {
                    let q = self.source(source, channel(addr.src_q_swiz));
                    let reciprocal = self.pure(Op::Scalar(AlphaOp::Rcp, q));
                    // A product alone: adding -0 changes no sum.
                    let nothing = self.bits(SIGN);
                    s = self.mad([s, reciprocal, nothing], false, Omod::U1);
                    t = self.mad([t, reciprocal, nothing], false, Omod::U1);
                }
                self.inputs |= 1 << (inst.inst.tex_id & 15);
                let fetch = self.effect(Op::Fetch {
                    input: inst.inst.tex_id,
                    s,
                    t,
                    unscaled: inst.inst.unscaled,
                    uncached: inst.inst.op == TexOp::LookupUncached,
                    // Uncovered lanes read nothing, whether or not somebody sees what they hold.
                    under: Under { predicate: None, inactive: cmn.write_inactive, covered: inst.inst.ignore_uncovered },
                });
                let swizzle = [addr.dst_r_swiz, addr.dst_g_swiz, addr.dst_b_swiz, addr.dst_a_swiz];
                let texels: [Option<Value>; 4] =
                    std::array::from_fn(|c| written[c].then(|| self.pure(Op::Texel(fetch, swizzle[c] as u8))));
                for (c, texel) in texels.into_iter().enumerate() {
                    if let Some(texel) = texel {
                        self.set_temp(addr.dst_addr, addr.dst_addr_rel, c, texel, unders[c]);
                    }
                }
            }
        }
    }
}

/// The channels whose flag is set.
fn channels(flags: [bool; 4]) -> impl Iterator<Item = usize> {
    (0..4).filter(move |&c| flags[c])
}

/// The comparison in a two-bit field.
fn compare_op(code: u8) -> CompareOp {
    CompareOp::from_code(u32::from(code & 3)).unwrap_or(CompareOp::Equal)
}

/// The lanes that an instruction's register and output writes concern (CTM §3.3.6).
fn under(cmn: &CmnInst, channel: usize) -> Under {
    let (sel, inverted) =
        if channel == 3 { (cmn.alpha_pred_sel, cmn.alpha_pred_inv) } else { (cmn.rgb_pred_sel, cmn.rgb_pred_inv) };
    let predicate = predicate_channel(sel, channel).map(|bit| (bit as u8, inverted));
    Under { predicate, inactive: cmn.write_inactive, covered: false }
}

/// Whether an instruction looks at the other lanes of its quad.
pub fn is_quad(inst: &ctm_isa::x1k::Inst) -> bool {
    matches!(inst, ctm_isa::x1k::Inst::Alu(alu) if alu.rgba.op.is_quad() || alu.alpha.op.is_quad())
}

/// Whether an instruction writes lanes that flow control does not let run.
pub fn writes_inactive(inst: &ctm_isa::x1k::Inst) -> bool {
    use ctm_isa::x1k::Inst;
    match inst {
        Inst::Alu(alu) => alu.cmn.write_inactive,
        Inst::Tex(tex) => tex.cmn.write_inactive,
        Inst::Fc(_) => false,
    }
}

/// Whether an instruction addresses temporaries relative to aL.
pub fn has_relative_temps(inst: &ctm_isa::x1k::Inst) -> bool {
    use ctm_isa::x1k::Inst;
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
