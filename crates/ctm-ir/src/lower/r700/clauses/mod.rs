//! Clauses: from ALU groups (here) and fetches (`fetches`) to the form.
//!
//! A group reads all sources before it writes anything; PV, PS, AR and the predicate are names of vectors.

mod fetches;
mod locked;

use crate::lower::r700::{Build, Lower, Result, StackState, Stop, TestedLanes, loop_index};
use crate::masked::{Locked, M, MaskOp, Op, RegisterFile, Value, Var};
use ctm_exec::float::NAN;
use ctm_exec::r700::alu::is_register;
use ctm_exec::r700::single::{Effect, op2, op3};
use ctm_isa::r700::CONSTANT_FILE;
use ctm_isa::r700::inst::{AluClause, AluInst, CfAlu, Group, Operand};
use ctm_isa::r700::ops::{AluOp, AluUnit, IndexMode, Omod, Op2, PredSel, Slots, Source, SpecialSel};
use ctm_isa::r700::program::Stage;
pub use fetches::element_of;
use locked::Window;

/// The results of an ALU clause for flow control.
pub struct ClauseResult {
    /// The lanes that executed it.
    executes: M,
    /// Lanes that computed a predicate for the execute mask (`None`: all that execute), and the predicate.
    predicate: Option<(Option<Value>, Value)>,
}

impl ClauseResult {
    /// Lanes that computed a predicate take it as their state; lanes held by loops keep theirs.
    pub fn take(&self, b: &mut Build, held: &[M]) {
        let Some((has, says)) = self.predicate else { return };
        b.mask(MaskOp::Lanes(M::TEMP2, says));
        if self.executes == M::ACTIVE {
            if let Some(has) = has {
                b.mask(MaskOp::Lanes(M::TEMP, has));
                b.mask(MaskOp::AndNot(M::TEMP, M::TEMP, M::TEMP2));
                b.mask(MaskOp::AndNot(M::ACTIVE, M::ACTIVE, M::TEMP));
            } else {
                b.mask(MaskOp::And(M::ACTIVE, M::ACTIVE, M::TEMP2));
            }
            return;
        }
        self.had(b, has);
        b.mask(MaskOp::And(M::TEMP2, M::TEMP2, M::TEMP));
        for &held in held {
            b.mask(MaskOp::AndNot(M::TEMP2, M::TEMP2, held));
        }
        b.mask(MaskOp::AndNot(M::TEMP, M::ACTIVE, M::TEMP));
        b.mask(MaskOp::Or(M::ACTIVE, M::TEMP, M::TEMP2));
    }

    /// Leaves the lanes whose predicate is skip in [`M::TEMP`]; false if no lane computed one.
    pub fn skipping(&self, b: &mut Build) -> bool {
        let Some((has, says)) = self.predicate else { return false };
        b.mask(MaskOp::Lanes(M::TEMP2, says));
        self.had(b, has);
        b.mask(MaskOp::AndNot(M::TEMP, M::TEMP, M::TEMP2));
        true
    }

    /// Leaves the lanes that computed a predicate in [`M::TEMP`].
    fn had(&self, b: &mut Build, has: Option<Value>) {
        match has {
            Some(has) => {
                b.mask(MaskOp::Lanes(M::TEMP, has));
                b.mask(MaskOp::And(M::TEMP, M::TEMP, self.executes));
            }
            None => b.mask(MaskOp::Copy(M::TEMP, self.executes)),
        }
    }
}

/// The state of a clause from group to group.
struct Clause {
    /// Locked constants of each set.
    locked: [Window; 2],
    index: Option<M>,
    under: M,
    /// PV and PS: the result of each unit in the group before.
    previous: [Value; 5],
    ar: [Value; 4],
    /// The predicate bit; `None`: set in every lane.
    predicate: Option<Value>,
    execute: Option<(Option<Value>, Value)>,
    killed: Option<Value>,
}

/// The action of a unit in a group.
#[derive(Clone, Copy)]
enum Unit1 {
    /// Nothing.
    Nop,
    /// The predicate disabled it in every lane.
    Disabled,
    /// A result, and its side effect.
    Result(Value, SideEffect),
}

#[derive(Clone, Copy)]
enum SideEffect {
    Nothing,
    Predicate(Value),
    Kill(Value),
    Address,
}

/// An instruction with its place.
#[derive(Clone, Copy)]
struct At<'a> {
    clause: &'a Clause,
    group: &'a Group,
    inst: &'a AluInst,
}

impl At<'_> {
    /// The instruction of another unit of the group with the same operation.
    fn partner(self, unit: AluUnit) -> Result<Self> {
        let inst = self.group.unit(unit).filter(|inst| inst.op() == self.inst.op()).ok_or(Stop::BailOut)?;
        Ok(Self { inst, ..self })
    }
}

impl Lower<'_> {
    /// An ALU clause under the active lanes, or their quads. Everything but flow control.
    pub(super) fn alu_clause(
        &mut self,
        b: &mut Build,
        cf: &CfAlu,
        clause: &AluClause,
        state: &StackState,
    ) -> Result<ClauseResult> {
        let under = self.concerned(b, TestedLanes::of(cf.word1.whole_quad_mode, false));
        b.forget_beside(under);
        // A fault where the other program type has no constants.
        if cf.word1.alt_const && !self.code.locked.iter().any(|locked| locked.alternate) {
            self.code.locked.push(Locked { bank: 0, first: 0, count: 0, alternate: true });
        }
        let [set0, set1] = cf.kcache();
        let mut window = |set| self.window(b, set, cf.word1.alt_const, state.index());
        let locked = [window(set0)?, window(set1)?];
        let zero = b.bits(0);
        let mut state = Clause {
            locked,
            index: state.index_place(),
            under,
            previous: [zero; 5],
            ar: [zero; 4],
            predicate: None,
            execute: None,
            killed: None,
        };
        for group in &clause.groups {
            self.group(b, &mut state, group)?;
        }
        if clause.broken.is_some() {
            return Err(Stop::BailOut);
        }
        if let Some(killed) = state.killed {
            b.mask(MaskOp::Lanes(M::TEMP, killed));
            b.mask(MaskOp::And(M::TEMP, M::TEMP, under));
            b.mask(MaskOp::AndNot(M::VALID, M::VALID, M::TEMP));
        }
        b.forget_beside(under);
        Ok(ClauseResult { executes: under, predicate: state.execute })
    }

    fn group(&mut self, b: &mut Build, clause: &mut Clause, group: &Group) -> Result {
        let mut done: [Option<(&AluInst, Unit1)>; 5] = [None; 5];
        for slot in &group.slots {
            let at = At { clause, group, inst: &slot.inst };
            done[slot.unit as usize] = Some((&slot.inst, self.compute(b, at, slot.unit)?));
        }
        // Predicates and AR are read as they were before the group.
        let before = clause.predicate;
        let enabled = done.map(|entry| match (entry?.0.word0.pred_sel, before?) {
            (PredSel::One, predicate) => Some(predicate),
            (PredSel::Zero, predicate) => Some(b.logic(Op2::NotInt, predicate, predicate)),
            _ => None,
        });
        let zero = b.bits(0);
        for (unit, entry) in done.iter().enumerate() {
            let previous = clause.previous[unit];
            clause.previous[unit] = match *entry {
                None | Some((_, Unit1::Nop)) => zero,
                Some((_, Unit1::Disabled)) => previous,
                Some((inst, Unit1::Result(value, _))) => {
                    self.write(b, clause, inst, value, enabled[unit])?;
                    b.select(enabled[unit], value, |_| previous)
                }
            };
        }
        for (unit, entry) in done.iter().enumerate() {
            let Some((inst, Unit1::Result(value, what))) = *entry else { continue };
            let on = enabled[unit];
            match what {
                SideEffect::Nothing => {}
                SideEffect::Predicate(holds) => {
                    if inst.updates_predicate() {
                        let old = clause.predicate;
                        clause.predicate = Some(b.select(on, holds, |b| old.unwrap_or_else(|| b.bits(u32::MAX))));
                    }
                    if inst.updates_execute_mask() {
                        clause.execute = Some(match (on, clause.execute) {
                            (None, _) => (None, holds),
                            (Some(on), None) => (Some(on), holds),
                            (Some(on), Some((has, says))) => {
                                let says = b.make(Op::Select([on, holds, says]));
                                (has.map(|has| b.logic(Op2::OrInt, has, on)), says)
                            }
                        });
                    }
                }
                SideEffect::Kill(holds) => {
                    if self.launch.stage == Stage::Pixel {
                        let kills = on.map_or(holds, |on| b.logic(Op2::AndInt, on, holds));
                        clause.killed = Some(clause.killed.map_or(kills, |old| b.logic(Op2::OrInt, old, kills)));
                    }
                }
                SideEffect::Address => {
                    let old = clause.ar[unit & 3];
                    clause.ar[unit & 3] = b.select(on, value, |_| old);
                }
            }
        }
        Ok(())
    }

    /// The result of one instruction, before any write of its group.
    fn compute(&mut self, b: &mut Build, at: At<'_>, unit: AluUnit) -> Result<Unit1> {
        let At { clause, inst, .. } = at;
        let op = inst.op();
        if op == AluOp::Op2(Op2::Nop) {
            return Ok(Unit1::Nop);
        }
        if inst.word0.pred_sel == PredSel::Zero && clause.predicate.is_none() {
            return Ok(Unit1::Disabled);
        }
        let slots = op.info().slots;
        if matches!(slots, Slots::Pair64 | Slots::Quad64) && !self.launch.chip.has_doubles() {
            return Err(Stop::BailOut);
        }
        let (omod, clamp) = (inst.omod(), inst.clamp());
        let place = unit as u8;
        match slots {
            Slots::One => self.single(b, at),
            Slots::Reduction => {
                let [mut x, mut y] = [[clause.previous[0]; 4]; 2];
                for (element, unit) in [AluUnit::X, AluUnit::Y, AluUnit::Z, AluUnit::W].into_iter().enumerate() {
                    let at = at.partner(unit)?;
                    x[element] = self.operand(b, at, 0)?;
                    y[element] = self.operand(b, at, 1)?;
                }
                let mut two =
                    |op, a, b2, omod, clamp| b.make(Op::Alu { op: AluOp::Op2(op), operands: [a, b2, a], omod, clamp });
                let value = match op {
                    AluOp::Op2(Op2::Dot4 | Op2::Dot4Ieee) => {
                        let multiply = if op == AluOp::Op2(Op2::Dot4) { Op2::Mul } else { Op2::MulIeee };
                        let mut sum = two(multiply, x[3], y[3], Omod::Off, false);
                        for element in [2, 1, 0] {
                            let product = two(multiply, x[element], y[element], Omod::Off, false);
                            let last = element == 0;
                            let (omod, clamp) = if last { (omod, clamp) } else { (Omod::Off, false) };
                            sum = two(Op2::Add, sum, product, omod, clamp);
                        }
                        sum
                    }
                    AluOp::Op2(Op2::Max4) => {
                        let first = two(Op2::Max, x[3], x[2], Omod::Off, false);
                        let second = two(Op2::Max, first, x[1], Omod::Off, false);
                        two(Op2::Max, second, x[0], omod, clamp)
                    }
                    // The operands are Rn.zzxy and Rn.yxzz.
                    AluOp::Op2(Op2::Cube) => {
                        b.make(Op::Cube { element: place & 3, operands: [y[1], y[0], x[0]], omod, clamp })
                    }
                    _ => return Err(Stop::BailOut),
                };
                Ok(Unit1::Result(value, SideEffect::Nothing))
            }
            Slots::Pair64 => {
                let units = if place & 2 == 0 { [AluUnit::X, AluUnit::Y] } else { [AluUnit::Z, AluUnit::W] };
                let (high, low) = (at.partner(units[0])?, at.partner(units[1])?);
                let mut dwords = self.doubles(b, high, low)?;
                if op == AluOp::Op2(Op2::Ldexp64) {
                    dwords[2] = self.read(b, high, &high.inst.operand(1))?;
                }
                let (omod, clamp) = (high.inst.omod(), high.inst.clamp());
                let value = b.make(Op::Wide { op, part: place & 1, operands: dwords, omod, clamp });
                let what = match op {
                    AluOp::Op2(Op2::PredSete64 | Op2::PredSetgt64 | Op2::PredSetge64) => {
                        SideEffect::Predicate(b.make(Op::Wide {
                            op,
                            part: 4,
                            operands: dwords,
                            omod: Omod::Off,
                            clamp: false,
                        }))
                    }
                    _ => SideEffect::Nothing,
                };
                Ok(Unit1::Result(value, what))
            }
            Slots::Quad64 => {
                let [x, y, z, w] = [AluUnit::X, AluUnit::Y, AluUnit::Z, AluUnit::W].map(|unit| at.partner(unit));
                let (x, y, z, w) = (x?, y?, z?, w?);
                let low = if op == AluOp::Op2(Op2::Frexp64) { y } else { w };
                let dwords = self.doubles(b, x, low)?;
                let part = place & 3;
                let clamp = if part < 2 { x.inst.clamp() } else { z.inst.clamp() };
                let value = b.make(Op::Wide { op, part, operands: dwords, omod: x.inst.omod(), clamp });
                Ok(Unit1::Result(value, SideEffect::Nothing))
            }
        }
    }

    fn single(&mut self, b: &mut Build, at: At<'_>) -> Result<Unit1> {
        let inst = at.inst;
        let (op, omod, clamp) = (inst.op(), inst.omod(), inst.clamp());
        // The kind of an operation's effect does not depend on its operands.
        let effect = match op {
            AluOp::Op2(op) => op2(op, 0, 0).map_err(|_| Stop::BailOut)?,
            AluOp::Op3(op) => op3(op, 0, 0, 0),
        };
        let effect = effect.ok_or(Stop::BailOut)?.effect;
        let [x, y] = [self.operand(b, at, 0)?, self.operand(b, at, 1)?];
        let args = [x, y, if matches!(op, AluOp::Op3(_)) { self.operand(b, at, 2)? } else { x }];
        let value = if op == AluOp::Op2(Op2::Mov) && omod == Omod::Off && !clamp {
            x
        } else {
            b.make(Op::Alu { op, operands: args, omod, clamp })
        };
        let holds = |b: &mut Build| match op {
            AluOp::Op2(op) => b.make(Op::Holds { op, operands: [x, y], wanted: true }),
            AluOp::Op3(_) => b.bits(0),
        };
        let what = match effect {
            Effect::None => SideEffect::Nothing,
            Effect::Predicate(_) => SideEffect::Predicate(holds(b)),
            Effect::Kill(_) => SideEffect::Kill(holds(b)),
            Effect::Address(_) => SideEffect::Address,
        };
        Ok(Unit1::Result(value, what))
    }

    /// High and low dwords of the three operands.
    fn doubles(&mut self, b: &mut Build, high: At<'_>, low: At<'_>) -> Result<[Value; 6]> {
        let zero = b.bits(0);
        let mut dwords = [zero; 6];
        for index in 0..usize::from(high.inst.op().info().operands).min(3) {
            dwords[2 * index] = self.operand(b, high, index)?;
            // Modifiers belong to the high dword.
            dwords[2 * index + 1] = self.read(b, low, &low.inst.operand(index))?;
        }
        Ok(dwords)
    }

    /// An operand with its modifiers.
    fn operand(&mut self, b: &mut Build, at: At<'_>, index: usize) -> Result<Value> {
        if index >= usize::from(at.inst.op().info().operands) {
            return Ok(b.bits(0));
        }
        let operand = at.inst.operand(index);
        let mut value = self.read(b, at, &operand)?;
        if operand.abs {
            value = b.make(Op::Abs(value));
        }
        if operand.neg {
            value = b.make(Op::Neg(value));
        }
        Ok(value)
    }

    /// An operand before its modifiers.
    fn read(&mut self, b: &mut Build, at: At<'_>, operand: &Operand) -> Result<Value> {
        let At { clause, group, inst } = at;
        let mode = inst.word0.index_mode;
        let element = operand.chan as u8;
        Ok(match operand.source {
            Source::Gpr(_) if operand.relative && is_global(mode) => return Err(Stop::NotLowered),
            Source::Gpr(base) if operand.relative => {
                let index = register_index(b, clause, mode);
                b.get_indexed(self.gprs(), (base, element, index), false)
            }
            Source::Gpr(base) => b.get(Var::gpr(usize::from(base), usize::from(element))),
            Source::Kcache { set, index } => {
                let window = clause.locked[usize::from(set & 1)];
                match (operand.relative, mode) {
                    (false, _) => window.constant(b, index, element),
                    (true, IndexMode::Loop) => window.relative(b, index, element, clause.index),
                    _ => b.bits(NAN),
                }
            }
            Source::Constant(base) if operand.relative => {
                let index = match mode {
                    IndexMode::ArX | IndexMode::GlobalArX => clause.ar[0],
                    IndexMode::ArY => clause.ar[1],
                    IndexMode::ArZ => clause.ar[2],
                    IndexMode::ArW => clause.ar[3],
                    IndexMode::Loop => loop_index(b, clause.index),
                    IndexMode::Global => b.bits(0),
                };
                b.make(Op::GetRelative { file: RegisterFile::Constants(0, CONSTANT_FILE as u16), base, element, index })
            }
            Source::Constant(base) => b.make(Op::Uniform(4 * u16::from(base) + u16::from(element))),
            Source::Special(sel) => match sel {
                SpecialSel::OneDoubleLow | SpecialSel::HalfDoubleLow | SpecialSel::Zero => b.bits(0),
                SpecialSel::OneDoubleHigh => b.bits(0x3ff0_0000),
                SpecialSel::HalfDoubleHigh => b.bits(0x3fe0_0000),
                SpecialSel::One => b.bits(0x3f80_0000),
                SpecialSel::OneInt => b.bits(1),
                SpecialSel::MinusOneInt => b.bits(u32::MAX),
                SpecialSel::Half => b.bits(0x3f00_0000),
                SpecialSel::Literal => b.bits(group.literals[usize::from(element)]),
                SpecialSel::Pv => clause.previous[usize::from(element)],
                SpecialSel::Ps => clause.previous[AluUnit::T as usize],
            },
            Source::Reserved(_) => return Err(Stop::BailOut),
        })
    }

    /// Writes a result to the register, if there is one to write, in the lanes where `on` is set.
    fn write(&mut self, b: &mut Build, clause: &Clause, inst: &AluInst, value: Value, on: Option<Value>) -> Result {
        let (base, relative, element) = inst.destination();
        if !inst.writes() {
            return Ok(());
        }
        let element = element as u8;
        let mode = inst.word0.index_mode;
        if relative && is_global(mode) {
            return Err(Stop::NotLowered);
        }
        if relative {
            let index = register_index(b, clause, mode);
            let gprs = self.gprs();
            let value = b.select(on, value, |b| b.get_indexed(gprs, (base, element, index), false));
            b.set_indexed(gprs, (base, element, index), value, clause.under);
        } else if is_register(i64::from(base), usize::from(self.gprs())) {
            let var = Var::gpr(usize::from(base), usize::from(element));
            let value = b.select(on, value, |b| b.get(var));
            b.set(var, value, clause.under);
        }
        Ok(())
    }
}

/// Whether an address is not relative to the thread: SIMD-global registers (R700 §2.6.1), which are left to the reference interpreter.
const fn is_global(mode: IndexMode) -> bool {
    matches!(mode, IndexMode::Global | IndexMode::GlobalArX)
}

/// The index that the address of a register of the thread adds (R700 table 4.2).
fn register_index(b: &mut Build, clause: &Clause, mode: IndexMode) -> Value {
    match mode {
        IndexMode::Loop => loop_index(b, clause.index),
        _ => clause.ar[0],
    }
}
