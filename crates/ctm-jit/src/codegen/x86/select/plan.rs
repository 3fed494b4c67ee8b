//! What is known of a block before its instructions are chosen: who uses vectors, and which are made where they are stored.

use super::{Known, Select, makes, operands};
use crate::codegen::x86::lir::{Src, Vector};
use crate::ir::x1k::{Block, Op, Value, Var};

/// What is known of one block before its instructions are chosen.
pub(super) struct Plan<'a> {
    pub block: &'a Block,
    pub known: &'a [Known],
    /// Of each operation.
    pub notes: Vec<Note>,
}

/// What is planned for the vector that an operation makes.
#[derive(Clone, Copy)]
pub(super) struct Note {
    pub uses: u32,
    pub last_use: u32,
    /// Of the vectors that stand for a variable, the one before.
    pub before: u32,
    /// A read of a variable that needs a copy, as the variable changes before the last use.
    pub copied: bool,
    /// A [`Op::Scale`] reads it.
    pub scaled: bool,
    /// Where it goes as it is made.
    pub location: Option<Vector>,
    /// Where it is, once made.
    pub at: Option<Src>,
}

impl Default for Note {
    fn default() -> Self {
        Self { uses: 0, last_use: 0, before: NONE, location: None, copied: false, scaled: false, at: None }
    }
}

impl<'a> Select<'a> {
    pub(super) fn plan<'b>(&mut self, index: usize, block: &'b Block) -> Plan<'b>
    where
        'a: 'b,
    {
        let count = block.ops.len();
        let mut notes = std::mem::take(&mut self.notes);
        notes.clear();
        notes.resize(count, Note::default());
        let facts = self.facts;
        let mut plan = Plan { block, known: &facts.vectors[index], notes };
        for (place, op) in block.ops.iter().enumerate() {
            for value in operands(block, op) {
                let note = &mut plan.notes[value.index()];
                note.uses += 1;
                note.last_use = place as u32;
            }
            if let Op::Scale(value, _) = *op {
                plan.notes[value.index()].scaled = true;
            }
        }
        let mut tables = std::mem::take(&mut self.tables);
        tables.begin(count);
        for place in (0..count).rev() {
            let last = plan.notes[place].last_use;
            let mut until = |values: &[Value]| {
                for value in values {
                    let note = &mut plan.notes[value.index()];
                    note.last_use = note.last_use.max(last);
                }
            };
            match block.ops[place] {
                // These may vanish into whoever reads them; their operands are read there then.
                Op::Sign(_, a) | Op::Scale(a, _) => until(&[a]),
                Op::Pick { x, y, a, b, .. } => until(&[x, y, a, b]),
                Op::Get(var) => _ = tables.write_after(var, place),
                Op::Set(var, ..) => tables.write_after(var, place).next_write = place as u32,
                _ => {}
            }
        }
        for (place, op) in block.ops.iter().enumerate() {
            match *op {
                Op::Get(var) => {
                    let note = &mut plan.notes[place];
                    note.copied = note.last_use > tables.writes[place];
                    if !note.copied {
                        note.before = std::mem::replace(&mut tables.vars[var.index()].newest, place as u32);
                    }
                    tables.vars[var.index()].last_access = place as u32;
                }
                Op::Set(var, value, _) => {
                    let made = value.index();
                    let still_read = || {
                        let mut earlier = tables.vars[var.index()].newest as usize;
                        while earlier != NONE as usize {
                            if earlier < made && plan.notes[earlier].last_use as usize > made {
                                return true;
                            }
                            earlier = plan.notes[earlier].before as usize;
                        }
                        false
                    };
                    if let Some(vector) = self.vars.of(var)
                        && may_leave_register(&plan, made)
                        // Nothing reads or writes the variable in between,
                        && tables.last_access(var) <= made
                        // nothing is still to be read of the old value, and of an earlier vector that went to the same place,
                        && !still_read()
                        // and no later store changes the place before the last use of this value.
                        && plan.notes[made].last_use < tables.writes[place]
                    {
                        let note = &mut plan.notes[made];
                        note.location = Some(vector);
                        note.before = std::mem::replace(&mut tables.vars[var.index()].newest, made as u32);
                    }
                    tables.vars[var.index()].last_access = place as u32;
                }
                _ => {}
            }
        }
        self.tables = tables;
        plan
    }
}

/// Whether what a store stores may be made where it goes.
fn may_leave_register(plan: &Plan<'_>, made: usize) -> bool {
    makes(&plan.block.ops[made]) && plan.notes[made].location.is_none()
}

/// No place of a block.
const NONE: u32 = u32::MAX;

/// What is looked up by variable while a block is planned.
#[derive(Default)]
pub(super) struct Tables {
    /// For each operation that reads or stores a variable, the next one that may store into it.
    writes: Vec<u32>,
    /// By variable.
    vars: Vec<VarState>,
}

#[derive(Clone, Copy)]
struct VarState {
    next_write: u32,
    /// The last operation so far that may read or store it; 0 without one, as the first operation of a block makes what others read.
    last_access: u32,
    /// The newest vector that stands for it: what is read of its place.
    newest: u32,
}

impl Default for VarState {
    fn default() -> Self {
        Self { next_write: NONE, last_access: 0, newest: NONE }
    }
}

impl Tables {
    /// For a block of so many operations.
    fn begin(&mut self, count: usize) {
        self.vars.clear();
        self.vars.resize(Var::COUNT, VarState::default());
        self.writes.clear();
        self.writes.resize(count, NONE);
    }

    /// Notes for an operation on a variable which store into it is next, where those behind it are known.
    fn write_after(&mut self, var: Var, place: usize) -> &mut VarState {
        let state = &mut self.vars[var.index()];
        self.writes[place] = state.next_write;
        state
    }

    fn last_access(&self, var: Var) -> usize {
        self.vars[var.index()].last_access as usize
    }
}
