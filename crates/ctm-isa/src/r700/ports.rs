//! Read ports of an instruction group, and the bank swizzles that respect them (R700 §4.7.4-4.7.9).
//!
//! In each of three cycles one register can be read per element; a bank swizzle says on which cycle an instruction loads
//! each of its operands. Constants come through two further ports.

use super::inst::{AluInst, Operand, Slot};
use super::ops::{AluUnit, Chan, IndexMode, SclSwizzle, Source, SpecialSel, VecSwizzle};

/// An unmet request of a group to the read ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PortProblem {
    /// Two registers are read in one cycle through one element's port.
    Gpr {
        /// The slot of the group that asks second.
        slot: usize,
        /// Its operand.
        operand: usize,
        /// 0..=2.
        cycle: u8,
        /// The element.
        chan: Chan,
    },
    /// More than two pairs of constants (xy or zw of one address) are read.
    Constants {
        /// The slot with the third request.
        slot: usize,
        /// Its operand.
        operand: usize,
    },
    /// The instruction in t has three constant operands.
    TransConstants {
        /// Its slot.
        slot: usize,
    },
    /// The instruction in t loads an operand in a cycle that its constants take.
    TransCycle {
        /// Its slot.
        slot: usize,
        /// The operand.
        operand: usize,
        /// 0..=2.
        cycle: u8,
    },
    /// The bank swizzle has no meaning for the unit.
    Swizzle {
        /// The slot.
        slot: usize,
        /// The number in the field.
        swizzle: u8,
    },
    /// No choice of bank swizzles gives every operand a port.
    NoSolution,
}

impl PortProblem {
    /// The slot of the group that is to blame, where there is one.
    #[must_use]
    pub const fn slot(&self) -> Option<usize> {
        match self {
            Self::Gpr { slot, .. }
            | Self::Constants { slot, .. }
            | Self::TransConstants { slot }
            | Self::TransCycle { slot, .. }
            | Self::Swizzle { slot, .. } => Some(*slot),
            Self::NoSolution => None,
        }
    }

    /// The manual's section.
    #[must_use]
    pub const fn cite(&self) -> &'static str {
        match self {
            Self::Gpr { .. } | Self::NoSolution => "R700 §4.7.4, §4.7.7",
            Self::Constants { .. } => "R700 §4.7.5, §4.7.9.3",
            Self::TransConstants { .. } => "R700 §4.7.5, §4.7.8.1",
            Self::TransCycle { .. } => "R700 §4.7.8.1",
            Self::Swizzle { .. } => "R700 §10.2",
        }
    }
}

impl std::fmt::Display for PortProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gpr { operand, cycle, chan, .. } => write!(
                f,
                "operand {operand} is loaded on cycle {cycle}, where element {} of another register is read; one register per \
                 element and cycle is allowed",
                chan.name()
            ),
            Self::Constants { operand, .. } => write!(
                f,
                "operand {operand} is the third pair of constants of the group; two pairs (xy or zw of one constant) are allowed"
            ),
            Self::TransConstants { .. } => {
                f.write_str("three operands of the instruction in t are constants; two are allowed")
            }
            Self::TransCycle { operand, cycle, .. } => write!(
                f,
                "operand {operand} of the instruction in t is loaded on cycle {cycle}, which its constants take"
            ),
            Self::Swizzle { swizzle, .. } => write!(f, "bank swizzle {swizzle} has no meaning for this unit"),
            Self::NoSolution => f.write_str("no bank swizzles give every operand of the group a read port"),
        }
    }
}

/// The address of a read: number and how it is made relative.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Address(u16, Option<IndexMode>);

impl Address {
    fn of(inst: &AluInst, operand: &Operand) -> Self {
        Self(operand.source.sel(), operand.relative.then_some(inst.word0.index_mode))
    }
}

/// The reservations so far.
#[derive(Clone, Copy, Default)]
struct Reserved {
    gpr: [[Option<Address>; 4]; 3],
    constants: [Option<(Address, u8)>; 2],
}

fn reads_gpr(operand: &Operand) -> bool {
    matches!(operand.source, Source::Gpr(_))
}

/// The cycle of each operand, if the swizzle has a meaning for the unit.
fn cycles(unit: AluUnit, swizzle: u8) -> Option<[u8; 3]> {
    if unit == AluUnit::T {
        SclSwizzle::from_code(u32::from(swizzle)).map(SclSwizzle::cycles)
    } else {
        VecSwizzle::from_code(u32::from(swizzle)).map(VecSwizzle::cycles)
    }
}

impl Reserved {
    /// Reserves the constants of one instruction; they do not depend on the swizzle.
    fn constants(&mut self, index: usize, slot: &Slot) -> Result<(), PortProblem> {
        let mut count = 0;
        for (i, operand) in slot.inst.operands().enumerate() {
            if !operand.source.is_constant() {
                continue;
            }
            count += 1;
            if slot.unit == AluUnit::T && count > 2 {
                return Err(PortProblem::TransConstants { slot: index });
            }
            if matches!(operand.source, Source::Kcache { .. } | Source::Constant(_)) {
                let wanted = (Address::of(&slot.inst, &operand), operand.chan as u8 / 2);
                let port = self.constants.iter_mut().find(|p| p.is_none_or(|held| held == wanted));
                *port.ok_or(PortProblem::Constants { slot: index, operand: i })? = Some(wanted);
            }
        }
        Ok(())
    }

    /// Reserves the registers of one instruction under a swizzle.
    fn registers(&mut self, index: usize, slot: &Slot, swizzle: u8) -> Result<(), PortProblem> {
        let cycles = cycles(slot.unit, swizzle).ok_or(PortProblem::Swizzle { slot: index, swizzle })?;
        let constants = slot.inst.operands().filter(|o| o.source.is_constant()).count();
        let first = slot.inst.operand(0);
        for (i, operand) in slot.inst.operands().enumerate() {
            let cycle = cycles[i];
            let passes_by = matches!(operand.source, Source::Special(SpecialSel::Pv | SpecialSel::Ps));
            if slot.unit == AluUnit::T && (passes_by || reads_gpr(&operand)) && usize::from(cycle) < constants {
                return Err(PortProblem::TransCycle { slot: index, operand: i, cycle });
            }
            if !reads_gpr(&operand) {
                continue;
            }
            // A square takes one port: the second operand is loaded with the first (R700 §4.7.7). Only in x, y, z, w.
            let same = |a: &Operand, b: &Operand| a.source == b.source && a.chan == b.chan && a.relative == b.relative;
            if i == 1 && slot.unit != AluUnit::T && same(&first, &operand) {
                continue;
            }
            let wanted = Address::of(&slot.inst, &operand);
            let port = &mut self.gpr[usize::from(cycle)][operand.chan as usize];
            if port.is_some_and(|held| held != wanted) {
                return Err(PortProblem::Gpr { slot: index, operand: i, cycle, chan: operand.chan });
            }
            *port = Some(wanted);
        }
        Ok(())
    }
}

/// The order in which instructions reserve ports: x, y, z, w in order, then t (R700 §4.7.9).
fn order(slots: &[Slot]) -> impl Iterator<Item = usize> + '_ {
    let vector = (0..slots.len()).filter(|&i| slots[i].unit != AluUnit::T);
    vector.chain((0..slots.len()).filter(|&i| slots[i].unit == AluUnit::T))
}

/// Whether the bank swizzles of a group respect the read ports.
///
/// # Errors
/// The first operand that gets no port.
pub fn check(slots: &[Slot]) -> Result<(), PortProblem> {
    problems(slots).into_iter().next().map_or(Ok(()), Err)
}

/// Every instruction of a group that asks the read ports for too much: for each the first constant and the first register
/// that gets no port.
#[must_use]
pub fn problems(slots: &[Slot]) -> Vec<PortProblem> {
    let mut reserved = Reserved::default();
    let mut problems = Vec::new();
    for i in order(slots) {
        problems.extend(reserved.constants(i, &slots[i]).err());
        problems.extend(reserved.registers(i, &slots[i], slots[i].inst.bank_swizzle()).err());
    }
    problems
}

/// Finds bank swizzles for a group. Where `fixed` holds one, it is kept; the others are the first (in the order of their
/// numbers, the group's first instruction changing slowest) with which every operand gets a port.
///
/// # Errors
/// Without a solution, the conflict if it can be named.
pub fn solve(slots: &[Slot], fixed: &[Option<u8>]) -> Result<Vec<u8>, PortProblem> {
    let mut reserved = Reserved::default();
    for i in order(slots) {
        reserved.constants(i, &slots[i])?;
    }
    let order: Vec<usize> = order(slots).collect();
    let mut chosen: Vec<u8> = (0..slots.len()).map(|i| fixed.get(i).copied().flatten().unwrap_or(0)).collect();
    fn search(
        order: &[usize],
        slots: &[Slot],
        fixed: &[Option<u8>],
        reserved: Reserved,
        chosen: &mut [u8],
    ) -> Result<(), PortProblem> {
        let Some((&i, rest)) = order.split_first() else { return Ok(()) };
        let count = if slots[i].unit == AluUnit::T { SclSwizzle::ALL.len() } else { VecSwizzle::ALL.len() };
        let fixed_here = fixed.get(i).copied().flatten();
        #[allow(clippy::cast_possible_truncation, reason = "at most six")]
        let candidates = match fixed_here {
            Some(swizzle) => swizzle..swizzle + 1,
            None => 0..count as u8,
        };
        let mut problem = PortProblem::NoSolution;
        for swizzle in candidates {
            let mut next = reserved;
            let outcome = next.registers(i, &slots[i], swizzle).and_then(|()| search(rest, slots, fixed, next, chosen));
            match outcome {
                Ok(()) => {
                    chosen[i] = swizzle;
                    return Ok(());
                }
                Err(found) if fixed_here.is_some() => problem = found,
                Err(_) => {}
            }
        }
        Err(problem)
    }
    search(&order, slots, fixed, reserved, &mut chosen)?;
    Ok(chosen)
}
