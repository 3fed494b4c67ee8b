//! ALU instructions, groups and clauses.

use crate::r700::GROUP_LITERALS;
use crate::r700::formats::{AluOp2, AluOp3, AluWord0};
use crate::r700::ops::{AluOp, AluUnit, Chan, IndexMode, Omod, Source, SpecialSel, Units};
use crate::table::{Field, FieldError, WordFormat};

/// Dword 1 of an ALU instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AluWord1 {
    /// Up to two operands.
    Op2(AluOp2),
    /// Three operands.
    Op3(AluOp3),
}

/// One ALU instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AluInst {
    /// Dword 0.
    pub word0: AluWord0,
    /// Dword 1.
    pub word1: AluWord1,
}

/// One operand as its fields say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// Its source.
    pub source: Source,
    /// Whether the index of `INDEX_MODE` is added.
    pub relative: bool,
    /// Which element.
    pub chan: Chan,
    /// Negate, after the absolute value.
    pub neg: bool,
    /// Absolute value.
    pub abs: bool,
}

const OP2_INST: Field = AluOp2::FORMAT.known_field("ALU_INST");
const OP3_INST: Field = AluOp3::FORMAT.known_field("ALU_INST");
/// The bits in which the two forms' opcodes overlap: an OP2 word has zeros there (R700 §4.5).
const FORM: u32 = OP2_INST.mask() & OP3_INST.mask() & !((1 << FORM_LSB) - 1);
/// The three uppermost bits of either opcode field decide.
const FORM_LSB: u32 = OP2_INST.msb - 2;

impl AluInst {
    /// An instruction with every field 0 but the operation.
    #[must_use]
    pub fn blank(op: AluOp) -> Self {
        let word0 = AluWord0::decode(0).unwrap_or_else(|_| unreachable!("every field of ALU_WORD0 allows 0"));
        let word1 = match op {
            AluOp::Op2(op) => {
                let word = AluOp2::decode(0).unwrap_or_else(|_| unreachable!("every field of ALU_WORD1_OP2 allows 0"));
                AluWord1::Op2(AluOp2 { op, ..word })
            }
            AluOp::Op3(op) => AluWord1::Op3(AluOp3 {
                src2_sel: 0,
                src2_rel: false,
                src2_chan: Chan::X,
                src2_neg: false,
                op,
                bank_swizzle: 0,
                dst_gpr: 0,
                dst_rel: false,
                dst_chan: Chan::X,
                clamp: false,
            }),
        };
        Self { word0, word1 }
    }

    /// Says where the result goes: a register, whether the index of `INDEX_MODE` is added, an element, and whether it is written at all (operations with
    /// three operands always write).
    pub fn set_destination(&mut self, gpr: u8, relative: bool, chan: Chan, writes: bool) {
        match &mut self.word1 {
            AluWord1::Op2(w) => {
                (w.dst_gpr, w.dst_rel, w.dst_chan, w.write_mask) = (gpr, relative, chan, writes);
            }
            AluWord1::Op3(w) => (w.dst_gpr, w.dst_rel, w.dst_chan) = (gpr, relative, chan),
        }
    }

    /// Whether dword 1 has the form with two operands.
    #[must_use]
    pub const fn is_op2(word1: u32) -> bool {
        word1 & FORM == 0
    }

    /// Reads the two dwords of an instruction. All bits belong to fields.
    ///
    /// # Errors
    /// The first field that holds a number without a meaning.
    pub fn decode(words: [u32; 2]) -> Result<Self, FieldError> {
        let word1 = if Self::is_op2(words[1]) {
            AluWord1::Op2(AluOp2::decode(words[1])?)
        } else {
            AluWord1::Op3(AluOp3::decode(words[1])?)
        };
        Ok(Self { word0: AluWord0::decode(words[0])?, word1 })
    }

    /// Writes the two dwords.
    #[must_use]
    pub fn encode(&self) -> [u32; 2] {
        let word1 = match &self.word1 {
            AluWord1::Op2(w) => w.encode(),
            AluWord1::Op3(w) => w.encode(),
        };
        [self.word0.encode(), word1]
    }

    /// The formats of its two dwords.
    #[must_use]
    pub const fn formats(&self) -> [&'static WordFormat; 2] {
        match self.word1 {
            AluWord1::Op2(_) => [&AluWord0::FORMAT, &AluOp2::FORMAT],
            AluWord1::Op3(_) => [&AluWord0::FORMAT, &AluOp3::FORMAT],
        }
    }

    /// The operation.
    #[must_use]
    pub const fn op(&self) -> AluOp {
        match &self.word1 {
            AluWord1::Op2(w) => AluOp::Op2(w.op),
            AluWord1::Op3(w) => AluOp::Op3(w.op),
        }
    }

    /// Operand 0, 1 or 2, whether the operation reads it or not; operand 2 of the two-operand form reads nothing useful
    /// (register 0).
    #[must_use]
    pub fn operand(&self, index: usize) -> Operand {
        let w = &self.word0;
        let (sel, relative, chan, neg, abs) = match (index, &self.word1) {
            (0, AluWord1::Op2(x)) => (w.src0_sel, w.src0_rel, w.src0_chan, w.src0_neg, x.src0_abs),
            (0, AluWord1::Op3(_)) => (w.src0_sel, w.src0_rel, w.src0_chan, w.src0_neg, false),
            (1, AluWord1::Op2(x)) => (w.src1_sel, w.src1_rel, w.src1_chan, w.src1_neg, x.src1_abs),
            (1, AluWord1::Op3(_)) => (w.src1_sel, w.src1_rel, w.src1_chan, w.src1_neg, false),
            (_, AluWord1::Op3(x)) => (x.src2_sel, x.src2_rel, x.src2_chan, x.src2_neg, false),
            (_, AluWord1::Op2(_)) => (0, false, Chan::X, false, false),
        };
        Operand { source: Source::from_sel(sel), relative, chan, neg, abs }
    }

    /// Sets the fields of operand 0, 1 or 2. Modifiers without a field (the absolute value of a three-operand
    /// instruction, operand 2 of a two-operand one) are left out.
    pub fn set_operand(&mut self, index: usize, operand: Operand) {
        let w = &mut self.word0;
        let sel = operand.source.sel();
        match (index, &mut self.word1) {
            (0, word1) => {
                (w.src0_sel, w.src0_rel, w.src0_chan, w.src0_neg) = (sel, operand.relative, operand.chan, operand.neg);
                if let AluWord1::Op2(x) = word1 {
                    x.src0_abs = operand.abs;
                }
            }
            (1, word1) => {
                (w.src1_sel, w.src1_rel, w.src1_chan, w.src1_neg) = (sel, operand.relative, operand.chan, operand.neg);
                if let AluWord1::Op2(x) = word1 {
                    x.src1_abs = operand.abs;
                }
            }
            (_, AluWord1::Op3(x)) => {
                (x.src2_sel, x.src2_rel, x.src2_chan, x.src2_neg) = (sel, operand.relative, operand.chan, operand.neg);
            }
            (_, AluWord1::Op2(_)) => {}
        }
    }

    /// The operands that the operation reads.
    pub fn operands(&self) -> impl Iterator<Item = Operand> + '_ {
        (0..usize::from(self.op().info().operands)).map(|i| self.operand(i))
    }

    /// Whether the result is written to the register. The three-operand form always does.
    #[must_use]
    pub const fn writes(&self) -> bool {
        match &self.word1 {
            AluWord1::Op2(w) => w.write_mask,
            AluWord1::Op3(_) => true,
        }
    }

    /// Destination register, whether it is relative, and element.
    #[must_use]
    pub const fn destination(&self) -> (u8, bool, Chan) {
        match &self.word1 {
            AluWord1::Op2(w) => (w.dst_gpr, w.dst_rel, w.dst_chan),
            AluWord1::Op3(w) => (w.dst_gpr, w.dst_rel, w.dst_chan),
        }
    }

    /// Number of the bank swizzle: `VecSwizzle` in x, y, z, w, `SclSwizzle` in t.
    #[must_use]
    pub const fn bank_swizzle(&self) -> u8 {
        match &self.word1 {
            AluWord1::Op2(w) => w.bank_swizzle,
            AluWord1::Op3(w) => w.bank_swizzle,
        }
    }

    /// Sets the bank swizzle (3 bits).
    pub fn set_bank_swizzle(&mut self, swizzle: u8) {
        match &mut self.word1 {
            AluWord1::Op2(w) => w.bank_swizzle = swizzle,
            AluWord1::Op3(w) => w.bank_swizzle = swizzle,
        }
    }

    /// Whether the result is clamped.
    #[must_use]
    pub const fn clamp(&self) -> bool {
        match &self.word1 {
            AluWord1::Op2(w) => w.clamp,
            AluWord1::Op3(w) => w.clamp,
        }
    }

    /// The output modifier; the three-operand form has none.
    #[must_use]
    pub const fn omod(&self) -> Omod {
        match &self.word1 {
            AluWord1::Op2(w) => w.omod,
            AluWord1::Op3(_) => Omod::Off,
        }
    }

    /// Whether the predicate it computes becomes the active mask.
    #[must_use]
    pub const fn updates_execute_mask(&self) -> bool {
        matches!(&self.word1, AluWord1::Op2(w) if w.update_execute_mask)
    }

    /// Whether the predicate it computes is stored.
    #[must_use]
    pub const fn updates_predicate(&self) -> bool {
        matches!(&self.word1, AluWord1::Op2(w) if w.update_pred)
    }

    /// Whether an operand or the destination adds an index, and so `INDEX_MODE` has an effect.
    #[must_use]
    pub fn uses_index(&self) -> bool {
        self.operands().any(|o| o.relative) || (self.writes() && self.destination().1)
    }

    /// Whether it reads the address register.
    #[must_use]
    pub fn uses_address_register(&self) -> bool {
        !matches!(self.word0.index_mode, IndexMode::Loop | IndexMode::Global) && self.uses_index()
    }

    /// How many literal dwords its operands reach into, 0..=4.
    #[must_use]
    pub fn literal_reach(&self) -> usize {
        self.operands()
            .filter(|o| o.source == Source::Special(SpecialSel::Literal))
            .map(|o| o.chan as usize + 1)
            .max()
            .unwrap_or(0)
    }
}

/// One slot of a group: an instruction and the unit that executes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot {
    /// The unit.
    pub unit: AluUnit,
    /// The instruction.
    pub inst: AluInst,
}

/// An instruction group: the instructions issued together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Group {
    /// First slot, counted from the start of the clause.
    pub offset: u32,
    /// One to five instructions in the order of the words.
    pub slots: Vec<Slot>,
    /// The literals; those beyond [`Self::literal_dwords`] are 0.
    pub literals: [u32; GROUP_LITERALS],
    /// How many dwords of literals the words hold: 0, 2 or 4.
    pub literal_dwords: u8,
}

/// Why a group cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A field holds a number without a meaning.
    Field(FieldError),
    /// Two instructions need the same unit.
    UnitTaken(AluUnit),
    /// The clause ends before an instruction with LAST.
    NoLast,
    /// The clause ends before the group's literals.
    NoLiterals,
}

/// A group that cannot be read, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenGroup {
    /// The slot, counted from the start of the clause.
    pub offset: u32,
    /// Why.
    pub why: Broken,
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Field(error) => error.fmt(f),
            Self::UnitTaken(unit) => write!(f, "two instructions of the group need unit {}", unit.name()),
            Self::NoLast => f.write_str("the clause ends inside a group: no instruction has LAST"),
            Self::NoLiterals => f.write_str("the clause ends before the group's literals"),
        }
    }
}

/// Assigns units to the instructions of a group (R700 §4.4 with ALU_INST_PREFER_VECTOR set, r700-encoding §7).
///
/// # Errors
/// The index of the first instruction whose unit is taken, and that unit.
pub fn assign_units(insts: impl IntoIterator<Item = (AluOp, Chan)>) -> Result<Vec<AluUnit>, (usize, AluUnit)> {
    let mut taken = [false; 5];
    let mut units = Vec::with_capacity(5);
    for (i, (op, chan)) in insts.into_iter().enumerate() {
        let own = AluUnit::from(chan);
        let unit = match op.info().units {
            Units::Trans => AluUnit::T,
            Units::Vector => own,
            Units::Any if taken[own as usize] => AluUnit::T,
            Units::Any => own,
        };
        if taken[unit as usize] {
            return Err((i, unit));
        }
        taken[unit as usize] = true;
        units.push(unit);
    }
    Ok(units)
}

impl Group {
    /// Reads the group that begins at slot `offset` of a clause, and returns it with the offset after it.
    ///
    /// # Errors
    /// When a word, the assignment of units, or the end of the clause makes it unreadable.
    pub fn decode(clause: &[u32], offset: u32) -> Result<(Self, u32), BrokenGroup> {
        let mut insts: [Option<AluInst>; 5] = [None; 5];
        let mut n = 0;
        let mut at = offset as usize;
        loop {
            let broken = |why| BrokenGroup { offset: u32::try_from(at).unwrap_or(u32::MAX), why };
            let Some(&[w0, w1]) = clause.get(at * 2..at * 2 + 2) else { return Err(broken(Broken::NoLast)) };
            let inst = AluInst::decode([w0, w1]).map_err(|e| broken(Broken::Field(e)))?;
            if n == insts.len() {
                // Six instructions cannot have different units.
                return Err(broken(Broken::UnitTaken(AluUnit::T)));
            }
            insts[n] = Some(inst);
            n += 1;
            at += 1;
            if inst.word0.last {
                break;
            }
        }
        let insts = insts.iter().take(n).flatten();
        let units = assign_units(insts.clone().map(|i| (i.op(), i.destination().2))).map_err(|(i, unit)| {
            BrokenGroup { offset: offset + u32::try_from(i).unwrap_or(0), why: Broken::UnitTaken(unit) }
        })?;
        let dwords = insts.clone().map(AluInst::literal_reach).max().unwrap_or(0).next_multiple_of(2);
        let mut literals = [0; GROUP_LITERALS];
        let Some(found) = clause.get(at * 2..at * 2 + dwords) else {
            return Err(BrokenGroup { offset, why: Broken::NoLiterals });
        };
        literals[..dwords].copy_from_slice(found);
        let slots = insts.zip(units).map(|(inst, unit)| Slot { unit, inst: *inst }).collect();
        let end = u32::try_from(at + dwords / 2).unwrap_or(u32::MAX);
        #[allow(clippy::cast_possible_truncation, reason = "at most 4")]
        Ok((Self { offset, slots, literals, literal_dwords: dwords as u8 }, end))
    }

    /// Writes the words, literals included. LAST is as the instructions say.
    pub fn encode_into(&self, words: &mut Vec<u32>) {
        for slot in &self.slots {
            words.extend(slot.inst.encode());
        }
        words.extend(&self.literals[..usize::from(self.literal_dwords)]);
    }

    /// How many slots it takes, literals included.
    #[must_use]
    pub fn size(&self) -> u32 {
        u32::try_from(self.slots.len()).unwrap_or(0) + u32::from(self.literal_dwords / 2)
    }

    /// The instruction in a unit.
    #[must_use]
    pub fn unit(&self, unit: AluUnit) -> Option<&AluInst> {
        self.slots.iter().find(|s| s.unit == unit).map(|s| &s.inst)
    }
}

/// The instructions of an ALU clause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AluClause {
    /// The groups, up to the first that cannot be read.
    pub groups: Vec<Group>,
    /// The words from there on.
    pub rest: Vec<u32>,
    /// Why they cannot be read.
    pub broken: Option<BrokenGroup>,
}

impl AluClause {
    /// Reads the words of a clause.
    #[must_use]
    pub fn decode(clause: &[u32]) -> Self {
        let mut groups = Vec::new();
        let mut at = 0;
        while (at as usize) * 2 < clause.len() {
            match Group::decode(clause, at) {
                Ok((group, next)) => {
                    groups.push(group);
                    at = next;
                }
                Err(broken) => {
                    return Self { groups, rest: clause[at as usize * 2..].to_vec(), broken: Some(broken) };
                }
            }
        }
        Self { groups, rest: Vec::new(), broken: None }
    }

    /// Writes the words.
    #[must_use]
    pub fn encode(&self) -> Vec<u32> {
        let mut words = Vec::new();
        self.groups.iter().for_each(|g| g.encode_into(&mut words));
        words.extend(&self.rest);
        words
    }
}
