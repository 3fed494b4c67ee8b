//! Random ALU clauses.

use super::{CONSTANTS, Constants, GPRS, Maker};
use crate::r700::ALU_CLAUSE_SLOTS;
use crate::r700::check::reads_adjacent_index;
use crate::r700::inst::{AluInst, AluWord1, Group, Kcache, Operand, Slot, assign_units};
use crate::r700::ops::{
    AluOp, AluUnit, Available, Chan, Domain, IndexMode, KcacheMode, Omod, Op2, Op3, PredSel, SideEffect, Slots, Source,
    SpecialSel, Units,
};
use crate::r700::ports;
use crate::r700::program::{CLAUSE_TEMPORARIES, Stage};

/// The purpose of the last group of a clause.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// Anything.
    Open,
    /// It computes the active mask.
    ExecuteMask,
    /// It kills.
    Kill,
}

/// Operations that compilers use most.
const USUAL: &[AluOp] = {
    use {
        AluOp::{Op2 as Two, Op3 as Three},
        Op2::*,
        Op3::*,
    };
    &[
        Two(Add),
        Two(Add),
        Two(Mul),
        Two(Mul),
        Two(MulIeee),
        Two(Max),
        Two(Min),
        Two(Mov),
        Two(Mov),
        Two(Fract),
        Two(Floor),
        Two(SetgtDx10),
        Two(SetgeDx10),
        Two(Setgt),
        Two(AndInt),
        Two(NotInt),
        Two(AddInt),
        Two(SeteInt),
        Two(AshrInt),
        Two(LshrInt),
        Two(LshlInt),
        Three(Muladd),
        Three(Muladd),
        Three(Muladd),
        Three(MuladdIeee),
        Three(Cnde),
        Three(Cndgt),
        Three(CndeInt),
        Three(CndeInt),
        Two(RecipIeee),
        Two(RecipsqrtIeee),
        Two(ExpIeee),
        Two(LogIeee),
        Two(Sin),
        Two(Cos),
        Two(FltToInt),
        Two(IntToFlt),
        Two(MulloInt),
    ]
};

/// Whether a kind of program may read the constant file (R700 §4.6.4).
pub(super) const fn may_read_file(stage: Stage) -> bool {
    matches!(stage, Stage::Vertex | Stage::Export | Stage::Pixel | Stage::Fetch)
}

fn instruction(op: AluOp, chan: Chan) -> AluInst {
    let mut inst = AluInst::blank(op);
    match &mut inst.word1 {
        AluWord1::Op2(word) => word.dst_chan = chan,
        AluWord1::Op3(word) => word.dst_chan = chan,
    }
    inst
}

const fn plain(source: Source, chan: Chan) -> Operand {
    Operand { source, relative: false, chan, neg: false, abs: false }
}

fn write(inst: &mut AluInst, gpr: u8) {
    match &mut inst.word1 {
        AluWord1::Op2(w) => (w.dst_gpr, w.write_mask) = (gpr, true),
        AluWord1::Op3(w) => w.dst_gpr = gpr,
    }
}

/// `R[counter].x = 0`.
pub(super) fn set_counter(counter: u8) -> Vec<u32> {
    let mut inst = instruction(AluOp::Op2(Op2::Mov), Chan::X);
    inst.set_operand(0, plain(Source::Special(SpecialSel::Zero), Chan::X));
    inst.word0.last = true;
    write(&mut inst, counter);
    inst.encode().to_vec()
}

/// Adds 1 to the counter; then executes the pixels whose count is not above `turns` (`below`), or those whose count is.
pub(super) fn count_turn(counter: u8, turns: u32, below: bool) -> Vec<u32> {
    let mut add = instruction(AluOp::Op2(Op2::AddInt), Chan::X);
    add.set_operand(0, plain(Source::Gpr(counter), Chan::X));
    add.set_operand(1, plain(Source::Special(SpecialSel::OneInt), Chan::X));
    add.word0.last = true;
    write(&mut add, counter);
    let op = if below { Op2::PredSetgeInt } else { Op2::PredSetgtInt };
    let mut test = instruction(AluOp::Op2(op), Chan::X);
    let (limit, count) = (plain(Source::Special(SpecialSel::Literal), Chan::X), plain(Source::Gpr(counter), Chan::X));
    test.set_operand(usize::from(!below), limit);
    test.set_operand(usize::from(below), count);
    test.word0.last = true;
    if let AluWord1::Op2(w) = &mut test.word1 {
        (w.update_execute_mask, w.update_pred) = (true, true);
    }
    let mut words = add.encode().to_vec();
    words.extend(test.encode());
    words.extend([turns, 0]);
    words
}

/// `R[gpr].xy` become the low bits of `R[from]`: up to these numbers, one less than a power of two.
pub(super) fn low_bits(gpr: u8, from: u8, most: [u32; 2]) -> Vec<u32> {
    let and = |chan: Chan, last: bool| {
        let mut inst = instruction(AluOp::Op2(Op2::AndInt), chan);
        inst.set_operand(0, plain(Source::Gpr(from), chan));
        inst.set_operand(1, plain(Source::Special(SpecialSel::Literal), chan));
        inst.word0.last = last;
        write(&mut inst, gpr);
        inst.encode()
    };
    let mut words = and(Chan::X, false).to_vec();
    words.extend(and(Chan::Y, true));
    words.extend(most);
    words
}

/// State of a clause under construction.
struct Clause {
    locks: [Kcache; 2],
    before: Option<Group>,
    /// Elements of AR that are set.
    address: [bool; 4],
    /// Clause temporaries that are written, by element.
    written: [[bool; 4]; 4],
    words: Vec<u32>,
}

/// State shared by the instructions of one group.
struct GroupShared {
    index: IndexMode,
    predicated: bool,
}

impl Maker {
    /// The words of a clause.
    pub(super) fn alu_clause(&mut self, locks: [Kcache; 2], ends: Ends) -> Vec<u32> {
        let mut clause =
            Clause { locks, before: None, address: [false; 4], written: [[false; 4]; 4], words: Vec::new() };
        let count = 1 + self.random.below(self.shape.groups.max(1) as u32);
        for _ in 0..count {
            // A group takes seven slots at most; the last one needs room too.
            if clause.words.len() / 2 + if self.shape.compiled { 35 } else { 14 } > ALU_CLAUSE_SLOTS {
                break;
            }
            let group = self.group(&clause);
            clause.append(group);
        }
        match ends {
            Ends::Open => {}
            Ends::ExecuteMask => {
                let group = self.last_group(
                    &mut clause,
                    &[Op2::PredSete, Op2::PredSetgt, Op2::PredSetneInt, Op2::PredSetgeInt],
                    true,
                );
                clause.append(group);
            }
            Ends::Kill => {
                let group =
                    self.last_group(&mut clause, &[Op2::Kille, Op2::Killgt, Op2::KillgeInt, Op2::Killne], false);
                clause.append(group);
            }
        }
        clause.words
    }

    /// A group that obeys every rule: tried until one does, and a plain MOV when none did.
    fn group(&mut self, clause: &Clause) -> Group {
        for _ in 0..20 {
            let insts = match self.random.below(16) {
                0 => self.reduction(clause),
                1 | 2 if self.shape.doubles => self.double(clause),
                3 if self.shape.relative => self.mova(clause),
                _ => self.ordinary(clause),
            };
            if let Some(group) = self.finish(clause, insts) {
                return group;
            }
        }
        self.simplest()
    }

    /// One operation alone, with an inline constant for second operand; in programs as compilers write them, of a truth value that is computed before.
    fn last_group(&mut self, clause: &mut Clause, ops: &[Op2], predicate: bool) -> Group {
        let computed = if self.shape.compiled && !self.random.one_in(4) { self.truth(clause) } else { None };
        for _ in 0..20 {
            let op = match computed {
                Some((_, true)) if predicate => self.random.of(&[Op2::PredSetne, Op2::PredSetgt, Op2::PredSete]),
                Some((_, false)) if predicate => {
                    self.random.of(&[Op2::PredSetneInt, Op2::PredSetneInt, Op2::PredSeteInt])
                }
                Some((_, true)) => self.random.of(&[Op2::Killne, Op2::Killgt]),
                Some((_, false)) => Op2::KillneInt,
                None => self.random.of(ops),
            };
            let chan = self.random.of(Chan::ALL);
            let mut inst = instruction(AluOp::Op2(op), chan);
            let shared = GroupShared { index: IndexMode::Loop, predicated: false };
            let operand = match computed {
                Some((chan, _)) => plain(Source::Special(SpecialSel::Pv), chan),
                None => self.operand(clause, &shared, op.info().reads),
            };
            inst.set_operand(0, operand);
            inst.set_operand(1, plain(Source::Special(SpecialSel::Zero), Chan::X));
            inst.word0.index_mode = shared.index;
            if let AluWord1::Op2(w) = &mut inst.word1 {
                (w.update_execute_mask, w.update_pred) = (predicate, predicate && self.random.one_in(2));
            }
            if let Some(group) = self.finish(clause, vec![inst]) {
                return group;
            }
        }
        let mut inst = instruction(AluOp::Op2(ops[0]), Chan::X);
        if let AluWord1::Op2(w) = &mut inst.word1 {
            w.update_execute_mask = predicate;
        }
        Group { offset: 0, slots: vec![Slot { unit: AluUnit::X, inst }], literals: [0; 4], literal_dwords: 0 }
    }

    /// Groups that compute a truth value, sometimes of uniform values alone: the channel of PV that has it, and whether it is a floating-point number.
    fn truth(&mut self, clause: &mut Clause) -> Option<(Chan, bool)> {
        let floats = self.random.one_in(4);
        let sets: &[Op2] = if floats {
            &[Op2::Sete, Op2::Setgt, Op2::Setge, Op2::Setne]
        } else {
            &[
                Op2::SetgtDx10,
                Op2::SetgtDx10,
                Op2::SetgeDx10,
                Op2::SeteDx10,
                Op2::SetneDx10,
                Op2::SetgtInt,
                Op2::SetgeUint,
            ]
        };
        let mut at = None;
        let uniform = self.random.one_in(4);
        for turn in 0..1 + self.random.below(3) {
            let op = match turn {
                0 => self.random.of(sets),
                // Negated, or combined with something else; or the floating-point equivalent.
                _ if floats => self.random.of(&[Op2::Mul, Op2::Max, Op2::Sete, Op2::Min]),
                _ => self.random.of(&[Op2::NotInt, Op2::AndInt, Op2::OrInt, Op2::XorInt]),
            };
            let shared = GroupShared { index: IndexMode::Loop, predicated: false };
            let group = (0..8).find_map(|_| {
                let chan = self.random.of(Chan::ALL);
                let mut inst = instruction(AluOp::Op2(op), chan);
                for n in 0..usize::from(op.info().operands) {
                    let operand = match (n, at) {
                        (0, Some(chan)) => plain(Source::Special(SpecialSel::Pv), chan),
                        _ if uniform => {
                            let literal = Source::Special(SpecialSel::Literal);
                            plain(self.constant(clause).unwrap_or(literal), self.random.of(Chan::ALL))
                        }
                        _ => self.operand(clause, &shared, op.info().reads),
                    };
                    inst.set_operand(n, operand);
                }
                inst.word0.index_mode = shared.index;
                write(&mut inst, self.random.below(u32::from(GPRS)) as u8);
                Some((chan, self.finish(clause, vec![inst])?))
            });
            let Some((chan, group)) = group else { break };
            clause.append(group);
            at = Some(chan);
        }
        at.map(|chan| (chan, floats))
    }

    fn simplest(&mut self) -> Group {
        let mut inst = instruction(AluOp::Op2(Op2::Mov), Chan::X);
        inst.set_operand(0, plain(Source::Special(SpecialSel::One), Chan::X));
        write(&mut inst, self.random.below(u32::from(GPRS)) as u8);
        Group { offset: 0, slots: vec![Slot { unit: AluUnit::X, inst }], literals: [0; 4], literal_dwords: 0 }
    }

    /// Gives instructions their units, literals and bank swizzles; nothing if they cannot share a group.
    fn finish(&mut self, clause: &Clause, mut insts: Vec<AluInst>) -> Option<Group> {
        insts.last_mut()?.word0.last = true;
        let units = assign_units(insts.iter().map(|i| (i.op(), i.destination().2))).ok()?;
        let mut slots: Vec<Slot> = units.into_iter().zip(insts).map(|(unit, inst)| Slot { unit, inst }).collect();
        if slots.windows(2).any(|pair| pair[0].unit > pair[1].unit) {
            return None;
        }
        let swizzles = ports::solve(&slots, &[]).ok()?;
        for (slot, swizzle) in slots.iter_mut().zip(swizzles) {
            slot.inst.set_bank_swizzle(swizzle);
        }
        // The write of t would win over a vector unit's (R700 §4.9.2).
        let target = |s: &Slot| s.inst.destination();
        let clash = slots
            .iter()
            .enumerate()
            .any(|(i, a)| a.inst.writes() && slots[..i].iter().any(|b| b.inst.writes() && target(a) == target(b)));
        let sets = |s: &&Slot| matches!(s.inst.op().info().kind, SideEffect::PredSet | SideEffect::Kill);
        let pairs = slots.iter().filter(sets).count() > 1
            && slots.iter().any(|s| s.inst.op().info().slots == Slots::One && sets(&s));
        if clash || pairs {
            return None;
        }
        let dwords = slots.iter().map(|s| s.inst.literal_reach()).max().unwrap_or(0).next_multiple_of(2);
        let mut literals = [0; 4];
        literals[..dwords].iter_mut().for_each(|literal| *literal = self.random.value());
        let group = Group { offset: 0, slots, literals, literal_dwords: u8::try_from(dwords).ok()? };
        let adjacent = clause.before.as_ref().is_some_and(|before| reads_adjacent_index(before, &group));
        (!adjacent).then_some(group)
    }

    fn shared(&mut self, clause: &Clause) -> GroupShared {
        let mut modes = vec![IndexMode::ArX];
        if self.loop_index {
            modes.push(IndexMode::Loop);
        }
        if self.shape.sharing {
            modes.extend([IndexMode::Global, IndexMode::GlobalArX]);
        }
        for (element, mode) in [IndexMode::ArX, IndexMode::ArY, IndexMode::ArZ, IndexMode::ArW].into_iter().enumerate()
        {
            if clause.address[element] {
                modes.push(mode);
            }
        }
        GroupShared { index: self.random.of(&modes), predicated: self.random.one_in(4) }
    }

    /// Whether an operand of this group may be indexed: registers take AR.x whatever element is named (R700 table 4.2).
    fn may_index(&self, clause: &Clause, shared: &GroupShared, source: Source) -> bool {
        if !self.shape.relative {
            return false;
        }
        let named = match shared.index {
            IndexMode::Loop => {
                return self.loop_index
                    && matches!(source, Source::Gpr(_) | Source::Kcache { .. } | Source::Constant(_));
            }
            IndexMode::ArX => 0,
            IndexMode::ArY => 1,
            IndexMode::ArZ => 2,
            IndexMode::ArW => 3,
            IndexMode::Global => return matches!(source, Source::Gpr(_)),
            IndexMode::GlobalArX => 0,
        };
        match source {
            Source::Gpr(_) => clause.address[0],
            Source::Constant(_) => clause.address[named],
            Source::Kcache { .. } | Source::Special(_) | Source::Reserved(_) => false,
        }
    }

    fn operand(&mut self, clause: &Clause, shared: &GroupShared, domain: Domain) -> Operand {
        let chan = self.random.of(Chan::ALL);
        let source = self.source(clause, chan);
        let relative = self.random.one_in(4)
            && self.may_index(clause, shared, source)
            && !matches!(source, Source::Gpr(gpr) if gpr >= CLAUSE_TEMPORARIES);
        let modifies = matches!(domain, Domain::Float | Domain::Bits);
        Operand {
            source,
            relative,
            chan,
            neg: modifies && self.random.one_in(4),
            abs: modifies && self.random.one_in(8),
        }
    }

    fn source(&mut self, clause: &Clause, chan: Chan) -> Source {
        const INLINE: &[SpecialSel] =
            &[SpecialSel::Zero, SpecialSel::One, SpecialSel::OneInt, SpecialSel::MinusOneInt, SpecialSel::Half];
        let gpr = Source::Gpr(self.random.below(u32::from(GPRS)) as u8);
        match self.random.below(12) {
            0 | 1 => self.constant(clause).unwrap_or(gpr),
            2 => Source::Special(SpecialSel::Literal),
            3 => Source::Special(self.random.of(INLINE)),
            4 | 5 if clause.leaves(AluUnit::from(chan)) => Source::Special(SpecialSel::Pv),
            6 if clause.leaves(AluUnit::T) => Source::Special(SpecialSel::Ps),
            7 => {
                let temporary = self.random.below(4) as usize;
                if clause.written[temporary][chan as usize] {
                    Source::Gpr(CLAUSE_TEMPORARIES + temporary as u8)
                } else {
                    gpr
                }
            }
            _ => gpr,
        }
    }

    fn constant(&mut self, clause: &Clause) -> Option<Source> {
        match self.constants {
            Constants::File => Some(Source::Constant(self.random.below(u32::from(CONSTANTS)) as u8)),
            Constants::Cache => {
                let set = self.random.below(2) as u8;
                let locked = clause.locks[usize::from(set)].mode;
                (locked != KcacheMode::Nop)
                    .then(|| Source::Kcache { set, index: self.random.below(locked.constants()) as u8 })
            }
        }
    }

    /// An instruction with random operands, modifiers and destination.
    fn instruction(&mut self, clause: &Clause, shared: &GroupShared, op: AluOp, chan: Chan) -> AluInst {
        let info = op.info();
        let mut inst = instruction(op, chan);
        for n in 0..usize::from(info.operands) {
            let operand = self.operand(clause, shared, info.reads);
            inst.set_operand(n, operand);
        }
        inst.word0.index_mode = shared.index;
        if shared.predicated {
            inst.word0.pred_sel = self.random.of(&[PredSel::Zero, PredSel::One]);
        }
        let gpr = match self.random.below(6) {
            0 => CLAUSE_TEMPORARIES + self.random.below(4) as u8,
            _ => self.random.below(u32::from(GPRS)) as u8,
        };
        let writes = !matches!(op, AluOp::Op2(Op2::Nop)) && !self.random.one_in(6);
        let relative = self.indexed_writes
            && gpr < CLAUSE_TEMPORARIES
            && self.random.one_in(6)
            && self.may_index(clause, shared, Source::Gpr(gpr));
        let floats = matches!(info.writes, Domain::Float | Domain::Bits);
        let clamp = floats && self.random.one_in(6);
        let omod = if floats && self.random.one_in(6) { self.random.of(Omod::ALL) } else { Omod::Off };
        let predicate = info.kind == SideEffect::PredSet;
        match &mut inst.word1 {
            AluWord1::Op2(w) => {
                (w.dst_gpr, w.write_mask, w.dst_rel) = (gpr, writes, relative && writes);
                (w.clamp, w.omod) = (clamp, omod);
                w.update_pred = predicate && self.random.one_in(2);
            }
            AluWord1::Op3(w) => (w.dst_gpr, w.dst_rel, w.clamp) = (gpr, relative, clamp),
        }
        inst
    }

    fn ordinary(&mut self, clause: &Clause) -> Vec<AluInst> {
        let shared = self.shared(clause);
        let mut insts = Vec::new();
        let mut taken = Vec::new();
        for &chan in Chan::ALL {
            if self.random.one_in(2) {
                let op = self.operation(|units| units == Units::Any);
                insts.push(self.instruction(clause, &shared, op, chan));
                taken.push(chan);
            }
        }
        if insts.is_empty() || self.random.one_in(2) {
            // An operation of any unit goes to t only where its own unit is taken (R700 §4.4).
            let (op, chan) = if taken.is_empty() || self.random.one_in(2) {
                (self.operation(|units| units == Units::Trans), self.random.of(Chan::ALL))
            } else {
                (self.operation(|units| units == Units::Any), self.random.of(&taken))
            };
            insts.push(self.instruction(clause, &shared, op, chan));
        }
        insts
    }

    /// An operation of one slot that has no effect but its result or the predicate.
    fn operation(&mut self, units: impl Fn(Units) -> bool) -> AluOp {
        loop {
            if self.shape.compiled && !self.random.one_in(3) {
                let op = self.random.of(USUAL);
                if units(op.info().units) {
                    return op;
                }
                continue;
            }
            let all = Op2::ALL.len() as u32;
            let n = self.random.below(all + Op3::ALL.len() as u32);
            let op = if n < all { AluOp::Op2(Op2::ALL[n as usize]) } else { AluOp::Op3(Op3::ALL[(n - all) as usize]) };
            let info = op.info();
            let legal = info.slots == Slots::One
                && info.available == Available::All
                && matches!(info.kind, SideEffect::Plain | SideEffect::PredSet)
                && units(info.units);
            if legal {
                return op;
            }
        }
    }

    fn reduction(&mut self, clause: &Clause) -> Vec<AluInst> {
        let shared = self.shared(clause);
        let op = AluOp::Op2(self.random.of(&[Op2::Dot4, Op2::Dot4Ieee, Op2::Cube, Op2::Max4]));
        let (clamp, omod) = (self.random.one_in(4), self.random.of(Omod::ALL));
        let mut insts: Vec<AluInst> =
            Chan::ALL.iter().map(|&chan| self.instruction(clause, &shared, op, chan)).collect();
        for inst in &mut insts {
            if let AluWord1::Op2(w) = &mut inst.word1 {
                (w.clamp, w.omod) = (clamp, omod);
            }
        }
        insts
    }

    /// A 64-bit operation; all of its slots have the same predicate select and no modifiers.
    fn double(&mut self, clause: &Clause) -> Vec<AluInst> {
        let shared = GroupShared { predicated: false, ..self.shared(clause) };
        let doubles: Vec<AluOp> = AluOp::all().filter(|op| op.info().available == Available::Doubles).collect();
        let op = self.random.of(&doubles);
        let chans: &[Chan] = match op.info().slots {
            Slots::Pair64 if self.random.one_in(2) => &[Chan::X, Chan::Y],
            Slots::Pair64 => &[Chan::Z, Chan::W],
            Slots::Quad64 | Slots::One | Slots::Reduction => Chan::ALL,
        };
        let mut insts: Vec<AluInst> = chans.iter().map(|&chan| self.instruction(clause, &shared, op, chan)).collect();
        let update = self.random.one_in(2) && op.info().kind == SideEffect::PredSet;
        for inst in &mut insts {
            match &mut inst.word1 {
                AluWord1::Op2(w) => (w.clamp, w.omod, w.update_pred) = (false, Omod::Off, update),
                AluWord1::Op3(w) => w.clamp = false,
            }
        }
        insts
    }

    /// One MOVA*, alone or beside instructions without an index.
    fn mova(&mut self, clause: &Clause) -> Vec<AluInst> {
        let shared = GroupShared { index: IndexMode::Loop, predicated: false };
        let op = self.random.of(&[Op2::Mova, Op2::MovaFloor, Op2::MovaInt]);
        let chan = if self.random.one_in(2) { Chan::X } else { self.random.of(Chan::ALL) };
        let mut inst = instruction(AluOp::Op2(op), chan);
        let operand = self.operand(clause, &shared, op.info().reads);
        inst.set_operand(0, operand);
        inst.word0.index_mode = shared.index;
        vec![inst]
    }
}

impl Clause {
    /// Whether the group before left a result in PV or PS.
    fn leaves(&self, unit: AluUnit) -> bool {
        let Some(op) = self.before.as_ref().and_then(|group| group.unit(unit)).map(AluInst::op) else { return false };
        let info = op.info();
        // Of a reduction only PV.x is the result.
        let only_x = info.slots == Slots::Reduction && op != AluOp::Op2(Op2::Cube);
        op != AluOp::Op2(Op2::Nop) && info.kind != SideEffect::Mova && (!only_x || unit == AluUnit::X)
    }

    fn append(&mut self, mut group: Group) {
        if let Some(slot) = group.slots.last_mut() {
            slot.inst.word0.last = true;
        }
        group.encode_into(&mut self.words);
        for slot in &group.slots {
            if slot.inst.op().info().kind == SideEffect::Mova {
                self.address[slot.unit as usize % 4] = true;
            }
            let (gpr, _, chan) = slot.inst.destination();
            if slot.inst.writes() && gpr >= CLAUSE_TEMPORARIES {
                self.written[usize::from(gpr - CLAUSE_TEMPORARIES) % 4][chan as usize] = true;
            }
        }
        self.before = Some(group);
    }
}
