//! Which unit single channels live in: transcendental results in alpha, and other scalars where there is room.

use crate::address;
use crate::graph::BlockGraph;
use crate::ir::{Alu, Comp, Guard, Op, Reg, UnitKind, V, VirtualProgram, VirtualStatement};
use crate::schedule::{Order, schedule};

/// Where a register is used.
#[derive(Clone, Default)]
struct Use {
    channels: u8,
    insts: Vec<usize>,
    /// A texture instruction, a load or a relative address keeps it where it is.
    fixed: bool,
}

/// Schedules that [`improve`] may try.
const TRIALS: usize = 150;
/// Longer programs are left as the first guess has them.
const LONGEST: usize = 256;

fn uses(code: &VirtualProgram) -> Vec<Use> {
    let mut uses = vec![Use::default(); code.temps as usize];
    for (i, inst) in code.insts.iter().enumerate() {
        let mut note = |v: V, c: u8| {
            let held = &mut uses[v as usize];
            held.channels |= 1 << c;
            held.fixed |= !matches!(inst, VirtualStatement::Alu(_));
            if held.insts.last() != Some(&i) {
                held.insts.push(i);
            }
        };
        crate::graph::reads(inst, code, &mut note);
        inst.writes().for_each(|(v, c)| note(v, c));
    }
    for (v, _) in &code.loads {
        uses[*v as usize].fixed = true;
    }
    uses.iter_mut().for_each(|u| u.fixed |= u.channels.count_ones() != 1);
    uses
}

/// Moves registers with one channel to the unit that suits them, by the kind of their operations and the load of each unit.
pub(crate) fn balance(code: &mut VirtualProgram) {
    let graph = BlockGraph::of(&code.insts);
    let mut block_of = vec![0; code.insts.len()];
    for (n, block) in graph.blocks.iter().enumerate() {
        block.range.clone().for_each(|i| block_of[i] = n);
    }
    let mut work = vec![[0i32; 2]; graph.blocks.len()];
    for (i, inst) in code.insts.iter().enumerate() {
        if let VirtualStatement::Alu(alu) = inst {
            work[block_of[i]][0] += i32::from(alu.uses_rgb());
            work[block_of[i]][1] += i32::from(alu.uses_alpha());
        }
    }
    for (v, held) in uses(code).into_iter().enumerate().filter(|u| !u.1.fixed) {
        let from = held.channels.trailing_zeros() as u8;
        let writes = |i: usize| code.insts[i].writes().any(|w| w.0 as usize == v);
        let defs: Vec<usize> = held.insts.iter().copied().filter(|&i| writes(i)).collect();
        let kinds = |kind: UnitKind| {
            defs.iter().any(|&i| matches!(&code.insts[i], VirtualStatement::Alu(alu) if alu.op.kind() == kind))
        };
        let Some(&first) = defs.first() else { continue };
        let [rgb, alpha] = work[block_of[first]];
        let to = match from {
            3 if !kinds(UnitKind::Scalar) && !kinds(UnitKind::Dot) && alpha > rgb + 1 => 0,
            // A sum of products in alpha takes both units, in RGB one.
            3 if kinds(UnitKind::Dot) && !kinds(UnitKind::Scalar) => 0,
            0..=2 if kinds(UnitKind::Scalar) => 3,
            0..=2 if !kinds(UnitKind::Dot) && rgb > alpha + 1 => 3,
            _ => continue,
        };
        let Some(moved) = all_moved(code, &held.insts, v as V, from, to) else { continue };
        for (&i, alu) in held.insts.iter().zip(moved) {
            if let VirtualStatement::Alu(old) = &code.insts[i] {
                work[block_of[i]][0] += i32::from(alu.uses_rgb()) - i32::from(old.uses_rgb());
                work[block_of[i]][1] += i32::from(alu.uses_alpha()) - i32::from(old.uses_alpha());
            }
            code.insts[i] = VirtualStatement::Alu(alu);
        }
    }
}

/// Tries each of these registers in the other unit, and leaves it there where the schedule becomes shorter.
pub(crate) fn improve(code: &mut VirtualProgram) {
    if code.insts.len() > LONGEST {
        return;
    }
    let length = |code: &VirtualProgram| schedule(code, Order::Critical).len();
    let mut best = length(code);
    let mut trials = 0;
    let mut again = true;
    while again {
        again = false;
        for v in 0..code.temps {
            let held = uses(code).swap_remove(v as usize);
            if held.fixed {
                continue;
            }
            let from = held.channels.trailing_zeros() as u8;
            let to = if from == 3 { 0 } else { 3 };
            let Some(moved) = all_moved(code, &held.insts, v, from, to) else { continue };
            trials += 1;
            if trials > TRIALS {
                return;
            }
            let mut trial = code.clone();
            for (&i, alu) in held.insts.iter().zip(moved) {
                trial.insts[i] = VirtualStatement::Alu(alu);
            }
            let found = length(&trial);
            if found < best {
                (*code, best, again) = (trial, found, true);
            }
        }
    }
}

fn all_moved(code: &VirtualProgram, insts: &[usize], v: V, from: u8, to: u8) -> Option<Vec<Alu>> {
    insts.iter().map(|&i| moved(&code.insts[i], v, from, to)).collect()
}

/// The operation with the register's channel in another place.
fn moved(inst: &VirtualStatement, v: V, from: u8, to: u8) -> Option<Alu> {
    let VirtualStatement::Alu(alu) = inst else { return None };
    // Differences read and write the same channel.
    if matches!(alu.op, Op::Mdh | Op::Mdv) {
        return None;
    }
    let mut new = alu.clone();
    for operand in &mut new.src {
        for comp in &mut operand.comps {
            if *comp == Comp::Read(Reg::Temp(v), from) {
                *comp = Comp::Read(Reg::Temp(v), to);
            }
        }
        // Presubtracts name registers, not channels.
        if operand.pre.is_some_and(|p| p.sources().contains(&Some(Reg::Temp(v)))) {
            return None;
        }
    }
    if inst.writes().any(|w| w.0 == v) {
        if alu.dest.mask != 1 << from || alu.dest.out.is_some() {
            return None;
        }
        new.dest.mask = 1 << to;
        new.dest.temp = Some(v);
        new.dest.alpha_temp = None;
        if alu.op.kind() == UnitKind::Wide {
            for operand in &mut new.src {
                operand.comps.swap(usize::from(from), usize::from(to));
            }
        }
        if let Some(guard @ Guard { channel: None, .. }) = &mut new.guard {
            guard.channel = Some(from);
        }
    }
    address::fits(&[&new]).then_some(new)
}
