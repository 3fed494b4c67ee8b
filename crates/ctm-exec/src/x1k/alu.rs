//! ALU and OUTPUT instructions (CTM §3.3): operand fetch, the two units, write-back.
//!
//! An instruction is two phases. [`compute`] reads every source of both halves and gives the results; [`write_back`] then stores
//! them under masks. Nothing is stored before everything is read, as the two halves are co-issued.

use super::Constants;
use super::functions::{self, Function, UnitOp};
use super::lanes::{BLOCK, Block, LaneMask, Values, store};
use super::ops::{self, ZeroRule};
use super::plan::{AluPlan, channel_of};
use crate::float::WideResult;
use ctm_isa::x1k::inst::{Source, inline_constant};
use ctm_isa::x1k::ops::{AluResultSel, CompareOp, InstType, Looks, Omod, PredSel, Sel, Swizzle};
use ctm_isa::x1k::{FLOAT_CONSTANTS, TEMPORARIES};

/// State of one instruction shared by all lanes of the group.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings<'a> {
    /// The constants.
    pub constants: &'a Constants,
    /// aL; 0 outside any LOOP.
    pub loop_variable: i32,
    /// The rule for 0 times infinity.
    pub zero: ZeroRule,
    /// The program writes uncached: its OUTPUT instructions do not write the output registers.
    pub uncached: bool,
    /// The program exports a conditional value.
    pub conditional_value: bool,
}

/// The results of both units: after output modifier and clamp, or the bits that `OMOD_DISABLED` let through.
#[derive(Clone, Copy, Debug)]
pub struct Results {
    /// `[channel][lane]`; channels that nothing stores hold 0.
    pub rgb: [Values; 3],
    /// `[lane]`.
    pub alpha: Values,
}

/// `base + aL`, if the file of `limit` registers has it.
///
/// # Errors
/// The index that came out.
pub fn register(base: u8, relative: bool, loop_variable: i32, limit: usize) -> Result<usize, i64> {
    let index = i64::from(base) + if relative { i64::from(loop_variable) } else { 0 };
    usize::try_from(index).ok().filter(|&i| i < limit).ok_or(index)
}

/// Phase one: the results of both units, for all lanes of the block.
#[must_use]
pub fn compute(plan: &AluPlan, block: &Block, surroundings: &Surroundings<'_>) -> Results {
    let units = UnitPair { plan, block, surroundings };
    let dot = if plan.rgb_computed() { units.dot_product() } else { None };
    let scalar = if plan.alpha_computed() { units.transcendental() } else { None };
    let mut results = Results { rgb: [[0; BLOCK]; 3], alpha: [0; BLOCK] };
    for channel in (0..3).filter(|&c| plan.rgb_stored[c]) {
        results.rgb[channel] = units.rgb(channel, dot, scalar);
    }
    if plan.alpha_stored {
        results.alpha = units.alpha(dot, scalar);
    }
    results
}

/// The RGB and the alpha unit at work on one block.
struct UnitPair<'a> {
    plan: &'a AluPlan,
    block: &'a Block,
    surroundings: &'a Surroundings<'a>,
}

impl UnitPair<'_> {
    /// A channel of a source register (CTM §3.3.1). A register that does not exist reads 0: whether that is a fault was decided
    /// before.
    fn source(&self, source: Source, channel: usize) -> Values {
        let al = self.surroundings.loop_variable;
        match source {
            Source::Temp { index, relative } => {
                register(index, relative, al, TEMPORARIES).map_or([0; BLOCK], |temp| self.block.temps[temp][channel])
            }
            Source::Const { index, relative } => register(index, relative, al, FLOAT_CONSTANTS)
                .map_or([0; BLOCK], |constant| [self.surroundings.constants.float[constant][channel]; BLOCK]),
            Source::Inline { code, .. } => [inline_constant(code).to_bits(); BLOCK],
        }
    }

    /// A component of an operand, before its input modifier (CTM §3.3.3).
    fn component(&self, sel: Sel, swizzle: Swizzle) -> Values {
        let Some(channel) = channel_of(swizzle) else {
            let [zero, half, one] = ops::SWIZZLE_CONSTANTS;
            return match swizzle {
                Swizzle::Half => [half; BLOCK],
                Swizzle::One => [one; BLOCK],
                Swizzle::Zero | Swizzle::Unused | Swizzle::R | Swizzle::G | Swizzle::B | Swizzle::A => [zero; BLOCK],
            };
        };
        let inst = &self.plan.inst;
        let (sources, srcp_op) = if channel == 3 {
            (&self.plan.alpha_sources, inst.alpha_addr.srcp_op)
        } else {
            (&self.plan.rgb_sources, inst.rgb_addr.srcp_op)
        };
        match sel {
            Sel::Src0 => self.source(sources[0], channel),
            Sel::Src1 => self.source(sources[1], channel),
            Sel::Src2 => self.source(sources[2], channel),
            Sel::Srcp => map2(self.source(sources[0], channel), self.source(sources[1], channel), |src0, src1| {
                ops::presubtract(srcp_op, src0, src1)
            }),
        }
    }

    /// Operand A (0), B (1) or C (2) of the RGB unit, one channel.
    fn rgb_operand(&self, which: usize, channel: usize) -> Values {
        let operand = &self.plan.rgb_operands[which];
        let value = self.component(operand.sel, operand.swizzle[channel]);
        map(value, |x| ops::input_modifier(operand.imod, x))
    }

    /// Operand A (0), B (1) or C (2) of the alpha unit.
    fn alpha_operand(&self, which: usize) -> Values {
        let operand = &self.plan.alpha_operands[which];
        map(self.component(operand.sel, operand.swizzle), |x| ops::input_modifier(operand.imod, x))
    }

    /// The result that DP3, DP4 and D2A give to all channels, and to `ALPHA_DP`.
    fn dot_product(&self) -> Option<[WideResult; BLOCK]> {
        let op = UnitOp::Rgb(self.plan.inst.rgba.op);
        let Function::Dot(function) = op.function() else { return None };
        let mut operands = [[[0; BLOCK]; 4]; 3];
        for (which, channel) in op.info().looked_at(0b111) {
            operands[which][channel] =
                if channel == 3 { self.alpha_operand(which) } else { self.rgb_operand(which, channel) };
        }
        let [a, b, [_, _, c, _]] = &operands;
        let zero = self.surroundings.zero;
        Some(each(|l| function(a.map(|a| a[l]), b.map(|b| b[l]), c[l], zero)))
    }

    /// The result of the alpha unit's transcendental operation, as `RGB_SOP` copies it.
    fn transcendental(&self) -> Option<[WideResult; BLOCK]> {
        let op = self.plan.inst.alpha.op;
        let Function::Number(function) = UnitOp::Alpha(op).function() else { return None };
        op.is_transcendental().then(|| {
            let (a, zero) = (self.alpha_operand(0), self.surroundings.zero);
            map(a, |a| function([a, 0, 0], zero))
        })
    }

    /// One channel of the RGB unit's result.
    fn rgb(&self, channel: usize, dot: Option<[WideResult; BLOCK]>, scalar: Option<[WideResult; BLOCK]>) -> Values {
        let inst = &self.plan.inst;
        let finish = Finish { omod: inst.rgb.omod, clamp: inst.cmn.rgb_clamp };
        let op = UnitOp::Rgb(inst.rgba.op);
        match op.function() {
            Function::Number(_) | Function::Choice(_) => {
                self.single(op, finish, |which| self.rgb_operand(which, channel))
            }
            Function::Dot(_) => finish.wide(dot.unwrap_or([ops::INVALID_COPY; BLOCK])),
            Function::Copy => finish.wide(scalar.unwrap_or([ops::INVALID_COPY; BLOCK])),
            Function::Quad { horizontal } => {
                // A and C read src0 whatever they select; only their input modifiers count (x1k-encoding §1.5).
                let src0 = self.source(self.plan.rgb_sources[0], channel);
                let [a, _, c] = self.plan.rgb_operands.map(|o| map(src0, |x| ops::input_modifier(o.imod, x)));
                finish.wide(quad(a, self.rgb_operand(1, channel), c, horizontal, self.surroundings.zero))
            }
        }
    }

    /// The alpha unit's result.
    fn alpha(&self, dot: Option<[WideResult; BLOCK]>, scalar: Option<[WideResult; BLOCK]>) -> Values {
        let inst = &self.plan.inst;
        let finish = Finish { omod: inst.alpha.omod, clamp: inst.cmn.alpha_clamp };
        let op = UnitOp::Alpha(inst.alpha.op);
        match (op.function(), scalar) {
            (Function::Number(_), Some(scalar)) => finish.wide(scalar),
            (Function::Number(_) | Function::Choice(_), _) => {
                self.single(op, finish, |which| self.alpha_operand(which))
            }
            (Function::Dot(_) | Function::Copy, _) => finish.wide(dot.unwrap_or([ops::INVALID_COPY; BLOCK])),
            (Function::Quad { horizontal }, _) => {
                let src0 = self.source(self.plan.alpha_sources[0], 3);
                let [a, _, c] = self.plan.alpha_operands.map(|o| map(src0, |x| ops::input_modifier(o.imod, x)));
                finish.wide(quad(a, self.alpha_operand(1), c, horizontal, self.surroundings.zero))
            }
        }
    }

    /// The result of an operation that reads one channel of its operands.
    fn single(&self, op: UnitOp, finish: Finish, operand: impl Fn(usize) -> Values) -> Values {
        let looks = op.info().looks;
        let [a, b, c]: [Values; 3] =
            std::array::from_fn(|which| if looks[which] == Looks::Nothing { [0; BLOCK] } else { operand(which) });
        let zero = self.surroundings.zero;
        each(|l| op.channel([a[l], b[l], c[l]], zero, finish.omod, finish.clamp).unwrap_or(0))
    }
}

/// MDH (`horizontal`) and MDV: A of the quad's top-left lane, C of its top-right or bottom-left lane.
fn quad(a: Values, b: Values, c: Values, horizontal: bool, zero: ZeroRule) -> [WideResult; BLOCK] {
    let neighbour = if horizontal { 1 } else { 2 };
    each(|l| ops::quad_mad(a[l & !3], b[l], c[l & !3 | neighbour], zero))
}

/// The last stage of a unit: output modifier and clamp (CTM §3.3.5).
#[derive(Clone, Copy)]
struct Finish {
    omod: Omod,
    clamp: bool,
}

impl Finish {
    fn wide(self, values: [WideResult; BLOCK]) -> Values {
        values.map(|value| functions::finish(value, self.omod, self.clamp))
    }
}

/// The lanes that an instruction's writes concern, and the old predicates over them (CTM §3.3.6).
#[derive(Clone, Copy, Debug)]
pub struct WriteMasks {
    /// Lanes that execute: the running ones, or with WRITE_INACTIVE all there are.
    pub executing: LaneMask,
    /// Per channel r, g, b, a: the executing lanes whose predicate lets a register write through.
    pub predicated: [LaneMask; 4],
}

impl WriteMasks {
    /// Reads the predicates as they are before the instruction.
    #[must_use]
    pub fn new(cmn: &ctm_isa::x1k::formats::CmnInst, block: &Block) -> Self {
        let executing = if cmn.write_inactive { block.existing } else { block.running };
        let predicated = std::array::from_fn(|channel| {
            let (sel, inverted) = if channel == 3 {
                (cmn.alpha_pred_sel, cmn.alpha_pred_inv)
            } else {
                (cmn.rgb_pred_sel, cmn.rgb_pred_inv)
            };
            match predicate_channel(sel, channel) {
                None => executing,
                Some(bit) if inverted => executing.without(block.predicates[bit]),
                Some(bit) => executing.and(block.predicates[bit]),
            }
        });
        Self { executing, predicated }
    }
}

/// The predicate bit that a select names for a channel; `None` for no predication.
#[must_use]
pub const fn predicate_channel(sel: PredSel, channel: usize) -> Option<usize> {
    match sel {
        PredSel::None => None,
        PredSel::Rgba => Some(channel),
        PredSel::Rrrr => Some(0),
        PredSel::Gggg => Some(1),
        PredSel::Bbbb => Some(2),
        PredSel::Aaaa => Some(3),
    }
}

/// Phase two: stores the results. Predicates mask register and output writes with their old value; the writes of predicate bits
/// and of the ALU result are not predicated (CTM §3.3.9).
pub fn write_back(
    plan: &AluPlan,
    block: &mut Block,
    surroundings: &Surroundings<'_>,
    results: &Results,
    masks: &WriteMasks,
) {
    let inst = &plan.inst;
    let cmn = &inst.cmn;
    let al = surroundings.loop_variable;
    let [r, g, b] = results.rgb;
    let channels: [Values; 4] = [r, g, b, results.alpha];
    let writes = |rgb: u8, alpha: bool| -> [bool; 4] { [rgb & 1 != 0, rgb & 2 != 0, rgb & 4 != 0, alpha] };
    let to_temp = writes(cmn.rgb_wmask, cmn.alpha_wmask);
    for channel in (0..4).filter(|&c| to_temp[c]) {
        let destination = if channel == 3 {
            register(inst.alpha.addrd, inst.alpha.addrd_rel, al, TEMPORARIES)
        } else {
            register(inst.rgba.addrd, inst.rgba.addrd_rel, al, TEMPORARIES)
        };
        if let Ok(temp) = destination {
            let mask = masks.predicated[channel];
            store(&mut block.temps[temp][channel], &channels[channel], mask);
            block.written_temps[temp][channel] = block.written_temps[temp][channel].or(mask);
        }
    }
    let to_target = writes(cmn.rgb_omask, cmn.alpha_omask);
    for channel in (0..4).filter(|&c| to_target[c]) {
        let target = if channel == 3 { inst.alpha.target } else { inst.rgb.target };
        if cmn.kind == InstType::Alu {
            let set = compare(target.into(), &channels[channel]);
            let kept = block.predicates[channel].without(masks.executing);
            block.predicates[channel] = kept.or(set.and(masks.executing));
            block.written_predicates[channel] = block.written_predicates[channel].or(masks.executing);
        } else if !surroundings.uncached {
            let (mask, target) = (masks.predicated[channel], usize::from(target & 3));
            store(&mut block.outputs[target][channel], &channels[channel], mask);
            block.written_outputs[target][channel] = block.written_outputs[target][channel].or(mask);
        }
    }
    if inst.alpha.w_omask && inst.is_output() && surroundings.conditional_value {
        let mask = masks.predicated[3];
        store(&mut block.conditional_value, &results.alpha, mask);
        block.written_conditional_value = block.written_conditional_value.or(mask);
    }
    if inst.rgb.alu_wmask {
        let channel = match cmn.alu_result_sel {
            AluResultSel::Red => &results.rgb[0],
            AluResultSel::Alpha => &results.alpha,
        };
        let set = compare(cmn.alu_result_op.code(), channel);
        block.alu_result = block.alu_result.without(masks.executing).or(set.and(masks.executing));
        block.written_alu_result = block.written_alu_result.or(masks.executing);
    }
}

/// The lanes whose value compares so with zero.
fn compare(op: u32, values: &Values) -> LaneMask {
    // Both fields that hold the operation have two bits, and all four codes have a meaning.
    let op = CompareOp::from_code(op & 3).unwrap_or(CompareOp::Equal);
    LaneMask::of(|lane| ops::compare(op, values[lane]))
}

fn each<T>(function: impl FnMut(usize) -> T) -> [T; BLOCK] {
    std::array::from_fn(function)
}

fn map<T>(a: Values, function: impl Fn(u32) -> T) -> [T; BLOCK] {
    each(|l| function(a[l]))
}

fn map2<T>(a: Values, b: Values, function: impl Fn(u32, u32) -> T) -> [T; BLOCK] {
    each(|l| function(a[l], b[l]))
}
