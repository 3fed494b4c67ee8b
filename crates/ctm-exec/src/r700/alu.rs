//! ALU clauses (R700 chapter 4): operands, units, modifiers, write-back.
//!
//! The lanes of a clause do not see each other, so each runs the whole clause by itself. Of a group, all sources are read before
//! anything is written; then x, y, z, w write, then t, whose result wins where both write the same element (R700 §4.9.2).

use super::checks::{CONSTANT_OUT_OF_BOUNDS, REGISTER_OUT_OF_BOUNDS, SHIFT_BEYOND, UNLOCKED_CONSTANT, Watch, Watching};
use super::single::{Effect, Scalar, SlotResult, factor, float, op2, op3, output, plain};
use super::{Constants, ops, ops64};
use crate::fault::FaultKind;
use crate::float::{NAN, SIGN, number};
use crate::observe::LaneEvent;
use ctm_isa::r700::inst::{AluClause, AluInst, Broken, Group, Operand};
use ctm_isa::r700::ops::{
    AluOp, AluUnit, Chan, IndexMode, KcacheMode, Omod, Op2, Op3, PredSel, Slots, Source, SpecialSel,
};
use ctm_isa::r700::{GPRS, KCACHE_LINE};
use ctm_isa::table::{FieldError, FieldValue};

/// Registers at the top of the file that are set aside as clause temporaries (R700 §4.6): the usual number.
pub const CLAUSE_TEMPORARIES: usize = 4;

/// State shared by the lanes of a clause.
#[derive(Clone, Copy, Debug)]
pub struct ClauseContext<'a> {
    /// The constant file.
    pub constants: &'a Constants,
    /// The locked lines of each set: their contents, and their mode.
    pub kcache: [(&'a [[u32; 4]], KcacheMode); 2],
    /// The loop index.
    pub loop_index: i32,
    /// A clamped NaN is 0 (DX10_CLAMP).
    pub dx10_clamp: bool,
    /// Registers of a thread, 1..=128.
    pub gprs: usize,
    /// Whether KILL instructions kill (pixel programs, R700 §4.8.1.1).
    pub kills: bool,
    /// Whether the chip has double precision (R700 §4.12).
    pub doubles: bool,
}

/// One lane in a clause.
#[derive(Debug)]
pub struct Lane<'a> {
    /// Its registers: all 128.
    pub gprs: &'a mut [[u32; 4]],
    /// The SIMD-global registers of its place in the wavefront (R700 §2.6.1.1).
    pub globals: &'a mut [[u32; 4]],
    /// The address register; 0 at the start of a clause, where it is not defined.
    pub ar: [i32; 4],
    /// Previous results of x, y, z, w; 0 where the unit did nothing.
    pub pv: [u32; 4],
    /// Previous result of t.
    pub ps: u32,
    /// The predicate bit; at the start of a clause the active mask (R700 §4.10).
    pub predicate: bool,
    /// The last predicate that goes to the active mask.
    pub execute: Option<bool>,
    /// Whether the clause killed the pixel.
    pub killed: bool,
    /// State of a checked run.
    pub watch: Watching<'a>,
    /// Effects of each group, for watchers.
    pub record: Option<&'a mut Vec<LaneEvent>>,
}

impl Lane<'_> {
    /// Notifies the watch, if there is one.
    fn watched(&self, tell: impl FnOnce(&mut Watch<'_>)) {
        if let Some(watch) = &self.watch {
            tell(&mut watch.borrow_mut());
        }
    }

    /// Notifies the watch that an index is used.
    fn index_watched(&self, mode: IndexMode, of_constant: bool) {
        self.watched(|watch| match mode {
            IndexMode::ArX | IndexMode::GlobalArX => watch.address_read(0),
            IndexMode::ArY => watch.address_read(if of_constant { 1 } else { 0 }),
            IndexMode::ArZ => watch.address_read(if of_constant { 2 } else { 0 }),
            IndexMode::ArW => watch.address_read(if of_constant { 3 } else { 0 }),
            IndexMode::Loop => watch.loop_index_read(),
            IndexMode::Global => {}
        });
    }
}

/// The outcome of a unit in a group.
#[derive(Clone, Copy, Debug)]
enum UnitOutcome {
    /// Nothing: NOP.
    Nop,
    /// The predicate disabled it: PV and PS keep their value.
    Disabled,
    /// It computed.
    Result(u32, Effect),
}

/// The registers that a program's own threads and clause temporaries can name (R700 §4.6.3).
#[must_use]
pub const fn is_register(index: i64, gprs: usize) -> bool {
    index >= 0 && (index < gprs as i64 || (index >= (GPRS - CLAUSE_TEMPORARIES) as i64 && index < GPRS as i64))
}

/// The registers of a program in words: the first and the last.
fn registers(gprs: usize) -> String {
    match gprs.saturating_sub(1) {
        0 => "R0 alone".to_owned(),
        last => format!("R0 to R{last}"),
    }
}

/// The register that a read of `base + index` reads: register 0 where that lies outside the program's registers.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just before")]
pub const fn relative_read(base: u8, index: i32, gprs: usize) -> usize {
    let at = base as i64 + index as i64;
    if at >= 0 && at < gprs as i64 { at as usize } else { 0 }
}

/// The register that a write of `base + index` writes, if any.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just before")]
pub const fn relative_write(base: u8, index: i32, gprs: usize) -> Option<usize> {
    let at = base as i64 + index as i64;
    if at >= 0 && at < gprs as i64 { Some(at as usize) } else { None }
}

pub(super) fn chan(c: Chan) -> usize {
    match c {
        Chan::X => 0,
        Chan::Y => 1,
        Chan::Z => 2,
        Chan::W => 3,
    }
}

fn special(sel: SpecialSel, element: usize, group: &Group, lane: &Lane<'_>) -> u32 {
    match sel {
        SpecialSel::OneDoubleLow | SpecialSel::HalfDoubleLow | SpecialSel::Zero => 0,
        SpecialSel::OneDoubleHigh => 0x3ff0_0000,
        SpecialSel::HalfDoubleHigh => 0x3fe0_0000,
        SpecialSel::One => 0x3f80_0000,
        SpecialSel::OneInt => 1,
        SpecialSel::MinusOneInt => u32::MAX,
        SpecialSel::Half => 0x3f00_0000,
        SpecialSel::Literal => group.literals[element],
        SpecialSel::Pv => {
            lane.watched(|watch| watch.previous_read(element));
            lane.pv[element]
        }
        SpecialSel::Ps => {
            lane.watched(|watch| watch.previous_read(AluUnit::T as usize));
            lane.ps
        }
    }
}

impl ClauseContext<'_> {
    /// The index of `INDEX_MODE` for a register, and whether its address is not relative to the thread (R700 table 4.2).
    pub(super) fn register_index(&self, mode: IndexMode, lane: &Lane<'_>) -> (i32, bool) {
        match mode {
            IndexMode::ArX | IndexMode::ArY | IndexMode::ArZ | IndexMode::ArW => (lane.ar[0], false),
            IndexMode::Loop => (self.loop_index, false),
            IndexMode::Global => (0, true),
            IndexMode::GlobalArX => (lane.ar[0], true),
        }
    }

    /// The index for a constant of the constant file.
    pub(super) fn constant_index(&self, mode: IndexMode, lane: &Lane<'_>) -> i32 {
        match mode {
            IndexMode::ArX | IndexMode::GlobalArX => lane.ar[0],
            IndexMode::ArY => lane.ar[1],
            IndexMode::ArZ => lane.ar[2],
            IndexMode::ArW => lane.ar[3],
            IndexMode::Loop => self.loop_index,
            IndexMode::Global => 0,
        }
    }

    /// A constant of the locked lines. Unlocked constants are not defined by the manual and read as the value that a relative read outside
    /// gives; so does an index of AR, which is not valid here.
    fn locked(&self, lane: &Lane<'_>, set: u8, index: u8, relative: bool, mode: IndexMode, element: usize) -> u32 {
        let (values, kind) = self.kcache[usize::from(set & 1)];
        let offset = match (relative, mode) {
            (false, _) => Some(0),
            // The window of LOCK_LOOP_INDEX begins at line aL / 16 already: the index is added once (R700 §10.1).
            (true, IndexMode::Loop) if kind == KcacheMode::LockLoopIndex => {
                Some(self.loop_index & (KCACHE_LINE.cast_signed() - 1))
            }
            (true, IndexMode::Loop) => Some(self.loop_index),
            (true, _) => None,
        };
        let at = offset.and_then(|offset| usize::try_from(i64::from(index) + i64::from(offset)).ok());
        let within = at.filter(|&at| at < kind.constants() as usize).and_then(|at| values.get(at));
        if within.is_none() {
            let rule = if relative { CONSTANT_OUT_OF_BOUNDS } else { UNLOCKED_CONSTANT };
            let count = kind.constants();
            lane.watched(|watch| {
                watch.note(rule, || {
                    format!("set {set} of locked constants has {count}, and the address is {at:?} there")
                });
            });
        }
        within.map_or(NAN, |value| value[element])
    }

    /// The bits of an operand before its modifiers.
    pub(super) fn source(
        &self,
        lane: &Lane<'_>,
        group: &Group,
        inst: &AluInst,
        operand: &Operand,
    ) -> Result<u32, FaultKind> {
        let mode = inst.word0.index_mode;
        let element = chan(operand.chan);
        Ok(match operand.source {
            Source::Gpr(base) if operand.relative => {
                lane.index_watched(mode, false);
                let (index, global) = self.register_index(mode, lane);
                if global {
                    match global_register(base, index, lane.globals.len()) {
                        Some(Register::Global(at)) => lane.globals[at][element],
                        Some(Register::Own(at)) => lane.gprs[at][element],
                        None => 0,
                    }
                } else {
                    let at = relative_read(base, index, self.gprs);
                    lane.watched(|watch| {
                        if relative_write(base, index, self.gprs).is_none() {
                            watch.note(REGISTER_OUT_OF_BOUNDS, || {
                                format!(
                                    "R[{base}{index:+}] is read, the program has {}; it reads R0",
                                    registers(self.gprs)
                                )
                            });
                        }
                        watch.register_read(at, element);
                    });
                    lane.gprs[at][element]
                }
            }
            Source::Gpr(base) => {
                lane.watched(|watch| watch.register_read(usize::from(base) % GPRS, element));
                lane.gprs[usize::from(base) % GPRS][element]
            }
            Source::Kcache { set, index } => self.locked(lane, set, index, operand.relative, mode, element),
            Source::Constant(base) => {
                let index = if operand.relative { self.constant_index(mode, lane) } else { 0 };
                if operand.relative {
                    lane.index_watched(mode, true);
                }
                let at = usize::try_from(i64::from(base) + i64::from(index)).ok();
                let constant = at.and_then(|at| self.constants.file.get(at));
                if constant.is_none() {
                    lane.watched(|watch| {
                        watch
                            .note(CONSTANT_OUT_OF_BOUNDS, || format!("C[{base}{index:+}] is read, there are C0..C255"));
                    });
                }
                constant.map_or(NAN, |value| value[element])
            }
            Source::Special(sel) => special(sel, element, group, lane),
            Source::Reserved(sel) => {
                return Err(FaultKind::Undecodable(FieldError {
                    word: "ALU_WORD0",
                    field: "SRC_SEL",
                    found: u32::from(sel),
                    allowed: SpecialSel::VALUES,
                }));
            }
        })
    }

    /// The bits of operand `index`: absolute value, then negation, of the sign bit (R700 §4.7.2).
    fn operand(&self, lane: &Lane<'_>, group: &Group, inst: &AluInst, index: usize) -> Result<u32, FaultKind> {
        if index >= usize::from(inst.op().info().operands) {
            return Ok(0);
        }
        let operand = inst.operand(index);
        let bits = self.source(lane, group, inst, &operand)?;
        let magnitude = if operand.abs { bits & !SIGN } else { bits };
        Ok(if operand.neg { magnitude ^ SIGN } else { magnitude })
    }

    /// Operand `index` as the low dword of a double: modifiers belong to the high one.
    fn low_operand(&self, lane: &Lane<'_>, group: &Group, inst: &AluInst, index: usize) -> Result<u64, FaultKind> {
        if index >= usize::from(inst.op().info().operands) {
            return Ok(0);
        }
        self.source(lane, group, inst, &inst.operand(index)).map(u64::from)
    }

    /// A double whose high dword `high` reads and whose low dword `low` reads.
    fn double(
        &self,
        lane: &Lane<'_>,
        group: &Group,
        (high, low): (&AluInst, &AluInst),
        index: usize,
    ) -> Result<u64, FaultKind> {
        Ok(u64::from(self.operand(lane, group, high, index)?) << 32 | self.low_operand(lane, group, low, index)?)
    }

    /// The results of a reduction for x, y, z and w (R700 §4.8.2.1).
    fn reduction(&self, lane: &Lane<'_>, group: &Group, op: AluOp) -> Result<[Scalar; 4], FaultKind> {
        let (mut a, mut b) = ([0.0; 4], [0.0; 4]);
        for (element, unit) in [AluUnit::X, AluUnit::Y, AluUnit::Z, AluUnit::W].into_iter().enumerate() {
            let inst = partner(group, unit, op)?;
            a[element] = number(self.operand(lane, group, inst, 0)?);
            b[element] = number(self.operand(lane, group, inst, 1)?);
        }
        Ok(match op {
            AluOp::Op2(Op2::Dot4) => [float(ops::dot4(a, b, ops::mul)); 4],
            AluOp::Op2(Op2::Dot4Ieee) => [float(ops::dot4(a, b, ops::mul_ieee)); 4],
            AluOp::Op2(Op2::Max4) => [float(ops::max4(a)); 4],
            // The operands are Rn.zzxy and Rn.yxzz: x comes as src1 of y, y as src1 of x, z as src0 of x.
            AluOp::Op2(Op2::Cube) => {
                let [t, s, major, face] = ops::cube(b[1], b[0], a[0]);
                [float(t), float(s), float(major), plain(face.to_bits())]
            }
            other => return Err(malformed(other)),
        })
    }

    /// The result of a 64-bit operation in one slot pair (R700 §4.12, r700-encoding §4), as `[low, high]`.
    fn pair(&self, lane: &Lane<'_>, group: &Group, op: AluOp, first: AluUnit) -> Result<([u32; 2], Effect), FaultKind> {
        let second = if first == AluUnit::X { AluUnit::Y } else { AluUnit::W };
        let (high, low) = (partner(group, first, op)?, partner(group, second, op)?);
        let a = self.double(lane, group, (high, low), 0)?;
        let compared = |holds: bool| ([ops64::pred_set_64(holds); 2], Effect::Predicate(holds));
        let b = || self.double(lane, group, (high, low), 1);
        let result = match op {
            AluOp::Op2(Op2::Add64) => ops64::add_64(a, b()?),
            AluOp::Op2(Op2::Fract64) => ops64::fract_64(a),
            AluOp::Op2(Op2::Ldexp64) => {
                let power = self.source(lane, group, high, &high.operand(1))?;
                ops64::ldexp_64(a, power)
            }
            AluOp::Op2(Op2::Flt32ToFlt64) => ops64::flt32_to_flt64(self.operand(lane, group, high, 0)?),
            AluOp::Op2(Op2::Flt64ToFlt32) => {
                let single = f32::from_bits(ops64::flt64_to_flt32(a));
                let modified = high.omod() != Omod::Off || high.clamp();
                let value = if modified { SlotResult::Float(single) } else { SlotResult::Plain(single.to_bits()) };
                return Ok(([self.written(value, high), 0], Effect::None));
            }
            AluOp::Op2(Op2::PredSete64) => return Ok(compared(ops64::sete_64(a, b()?))),
            AluOp::Op2(Op2::PredSetgt64) => return Ok(compared(ops64::setgt_64(a, b()?))),
            AluOp::Op2(Op2::PredSetge64) => return Ok(compared(ops64::setge_64(a, b()?))),
            other => return Err(malformed(other)),
        };
        Ok((dwords(self.written_64(result, factor(high.omod()), high)), Effect::None))
    }

    /// The results of a four-slot 64-bit operation for x, y, z and w.
    fn quad(&self, lane: &Lane<'_>, group: &Group, op: AluOp) -> Result<[u32; 4], FaultKind> {
        let units = [AluUnit::X, AluUnit::Y, AluUnit::Z, AluUnit::W].map(|unit| partner(group, unit, op));
        let [x, y, z, w] = units;
        let (x, y, z, w) = (x?, y?, z?, w?);
        let source = |index| self.double(lane, group, (x, w), index);
        let twice = |result: u64, factor: f64| {
            let [low, high] = dwords(self.written_64(result, factor, x));
            let [low_z, high_z] = dwords(self.written_64(result, factor, z));
            [low, high, low_z, high_z]
        };
        Ok(match op {
            AluOp::Op2(Op2::Mul64) => twice(ops64::mul_64(source(0)?, source(1)?), factor(x.omod())),
            AluOp::Op3(op3) if op3.unscaled() == Op3::Muladd64 => {
                twice(ops64::muladd_64(source(0)?, source(1)?, source(2)?), factor(op.info().scale))
            }
            AluOp::Op2(Op2::Frexp64) => {
                // Its page reads the low dword in y, not in w; z and w read nothing.
                let (exponent, fraction) = ops64::frexp_64(self.double(lane, group, (x, y), 0)?);
                let [low, high] = dwords(fraction);
                [exponent.cast_unsigned(), (exponent >> 31).cast_unsigned(), low, high]
            }
            other => return Err(malformed(other)),
        })
    }

    /// The outcome of one instruction, before its group writes.
    fn compute(&self, lane: &Lane<'_>, group: &Group, unit: AluUnit, inst: &AluInst) -> Result<UnitOutcome, FaultKind> {
        let enabled = match inst.word0.pred_sel {
            PredSel::Off => true,
            PredSel::Zero => !lane.predicate,
            PredSel::One => lane.predicate,
        };
        let op = inst.op();
        if op == AluOp::Op2(Op2::Nop) {
            return Ok(UnitOutcome::Nop);
        }
        if !enabled {
            return Ok(UnitOutcome::Disabled);
        }
        let slots = op.info().slots;
        if matches!(slots, Slots::Pair64 | Slots::Quad64) && !self.doubles {
            return Err(FaultKind::Unsupported {
                feature: format!("{}: the chip has no double precision", op.name()),
                section: "R700 §4.12",
            });
        }
        let scalar = match slots {
            Slots::One => {
                let source = |index| self.operand(lane, group, inst, index);
                if let (AluOp::Op2(Op2::AshrInt | Op2::LshrInt | Op2::LshlInt), Some(_)) = (op, &lane.watch) {
                    let count = source(1)?;
                    if count > 31 {
                        lane.watched(|watch| {
                            watch.note(SHIFT_BEYOND, || {
                                let (name, by) = (op.name(), count.cast_signed());
                                format!("{name} by {by}: its low five bits count, {}", count & 31)
                            })
                        });
                    }
                }
                let scalar = match op {
                    AluOp::Op2(op) => op2(op, source(0)?, source(1)?)?,
                    AluOp::Op3(op) => op3(op, source(0)?, source(1)?, source(2)?),
                };
                scalar.ok_or_else(|| malformed(op))?
            }
            Slots::Reduction => *self.reduction(lane, group, op)?.get(unit as usize).ok_or_else(|| malformed(op))?,
            Slots::Pair64 => {
                let first = if matches!(unit, AluUnit::X | AluUnit::Y) { AluUnit::X } else { AluUnit::Z };
                let (result, effect) = self.pair(lane, group, op, first)?;
                return Ok(UnitOutcome::Result(result[unit as usize & 1], effect));
            }
            Slots::Quad64 => {
                let results = self.quad(lane, group, op)?;
                return Ok(UnitOutcome::Result(results[unit as usize & 3], Effect::None));
            }
        };
        Ok(UnitOutcome::Result(self.written(scalar.value, inst), scalar.effect))
    }

    /// The bits of a result after output modifier and clamp; a clamped NaN stays one without DX10_CLAMP.
    fn written(&self, value: SlotResult, inst: &AluInst) -> u32 {
        let unclamped = output(value, inst.omod(), false);
        let keeps_nan = inst.clamp() && !self.dx10_clamp && f32::from_bits(unclamped).is_nan();
        if keeps_nan { unclamped } else { output(value, inst.omod(), inst.clamp()) }
    }

    /// The same for doubles.
    fn written_64(&self, result: u64, factor: f64, inst: &AluInst) -> u64 {
        let unclamped = ops64::modified(result, factor, false);
        let keeps_nan = inst.clamp() && !self.dx10_clamp && f64::from_bits(unclamped).is_nan();
        if keeps_nan { unclamped } else { ops64::modified(result, factor, inst.clamp()) }
    }

    /// Writes a result to the register, if there is one to write.
    fn write(&self, lane: &mut Lane<'_>, inst: &AluInst, bits: u32) {
        let (base, relative, element) = inst.destination();
        if !inst.writes() {
            return;
        }
        if relative {
            lane.index_watched(inst.word0.index_mode, false);
            let (index, global) = self.register_index(inst.word0.index_mode, lane);
            if global {
                match global_register(base, index, lane.globals.len()) {
                    Some(Register::Global(at)) => lane.globals[at][chan(element)] = bits,
                    Some(Register::Own(at)) => lane.gprs[at][chan(element)] = bits,
                    None => {}
                }
            } else if let Some(at) = relative_write(base, index, self.gprs) {
                lane.watched(|watch| watch.register_written(at, chan(element)));
                lane.gprs[at][chan(element)] = bits;
            } else {
                lane.watched(|watch| {
                    watch.note(REGISTER_OUT_OF_BOUNDS, || {
                        let has = registers(self.gprs);
                        format!("R[{base}{index:+}] is written, the program has {has}; the write is lost")
                    });
                });
            }
        } else if is_register(i64::from(base), self.gprs) {
            lane.watched(|watch| watch.register_written(usize::from(base), chan(element)));
            lane.gprs[usize::from(base)][chan(element)] = bits;
        }
    }

    /// Runs one group: all reads, then x, y, z, w, then t.
    fn group(&self, lane: &mut Lane<'_>, group: &Group) -> Result<(), FaultKind> {
        let mut done: [Option<(&AluInst, UnitOutcome)>; 5] = [None; 5];
        for slot in &group.slots {
            done[slot.unit as usize] = Some((&slot.inst, self.compute(lane, group, slot.unit, &slot.inst)?));
        }
        // Writes through AR use the address register from before the group, so effects come last.
        for (unit, entry) in done.iter().enumerate() {
            let previous = if unit == AluUnit::T as usize { &mut lane.ps } else { &mut lane.pv[unit] };
            match entry {
                None | Some((_, UnitOutcome::Nop)) => *previous = 0,
                Some((_, UnitOutcome::Disabled)) => {}
                Some((inst, UnitOutcome::Result(bits, _))) => {
                    *previous = *bits;
                    self.write(lane, inst, *bits);
                }
            }
        }
        for (unit, entry) in done.iter().enumerate() {
            let Some((inst, UnitOutcome::Result(_, effect))) = entry else { continue };
            match *effect {
                Effect::None => {}
                Effect::Predicate(execute) => {
                    if inst.updates_predicate() {
                        lane.predicate = execute;
                    }
                    if inst.updates_execute_mask() {
                        lane.execute = Some(execute);
                    }
                }
                Effect::Kill(holds) => lane.killed |= holds && self.kills,
                Effect::Address(index) => {
                    lane.ar[unit & 3] = index;
                    lane.watched(|watch| watch.address |= 1 << (unit & 3));
                }
            }
        }
        lane.watched(|watch| {
            for (unit, entry) in done.iter().enumerate() {
                match entry {
                    None | Some((_, UnitOutcome::Nop)) => watch.previous &= !(1 << unit),
                    Some((_, UnitOutcome::Disabled)) => {}
                    Some((_, UnitOutcome::Result(..))) => watch.previous |= 1 << unit,
                }
            }
            watch.at.item += 1;
        });
        Ok(())
    }

    /// Runs a clause for one lane.
    ///
    /// # Errors
    /// A reserved source, an incomplete group, an instruction that this chip lacks; or the words that cannot be read.
    pub fn run(&self, lane: &mut Lane<'_>, clause: &AluClause) -> Result<(), FaultKind> {
        for group in &clause.groups {
            let before = self.before(lane, group);
            self.group(lane, group)?;
            self.after(lane, before);
        }
        match &clause.broken {
            None => Ok(()),
            Some(broken) => Err(match broken.why {
                Broken::Field(error) => FaultKind::Undecodable(error),
                Broken::UnitTaken(_) | Broken::NoLast | Broken::NoLiterals => {
                    FaultKind::MalformedGroup { what: broken.why.to_string() }
                }
            }),
        }
    }
}

/// Where a register lies whose address is not relative to the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Register {
    /// One of the SIMD-global registers.
    Global(usize),
    /// One of the lane's own.
    Own(usize),
}

/// The register at an address that is not relative to the thread: the global ones come first, then the clause temporaries
/// (R700 §2.6.1.2). Registers beyond belong to other threads and are neither read nor written.
pub(super) fn global_register(base: u8, index: i32, globals: usize) -> Option<Register> {
    let at = usize::try_from(i64::from(base) + i64::from(index)).ok()?;
    if at < globals {
        Some(Register::Global(at))
    } else if at < globals + CLAUSE_TEMPORARIES {
        Some(Register::Own(GPRS - CLAUSE_TEMPORARIES + at - globals))
    } else {
        None
    }
}

/// The instruction of a unit, if it is the same operation.
fn partner(group: &Group, unit: AluUnit, op: AluOp) -> Result<&AluInst, FaultKind> {
    group.unit(unit).filter(|inst| inst.op() == op).ok_or_else(|| malformed(op))
}

fn malformed(op: AluOp) -> FaultKind {
    FaultKind::MalformedGroup { what: format!("{} does not stand in all the slots that it needs", op.name()) }
}

/// Low and high dword of a double.
#[allow(clippy::cast_possible_truncation, reason = "each half has 32 bits")]
const fn dwords(bits: u64) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}
