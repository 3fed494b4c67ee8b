//! A program for the portable machine: operations whose operands are rows.

use super::form::{Block, Code, File, Op, Value, Var};
use super::passes::rename;
use crate::rows::{Constants, Pool};

/// What is the same in all lanes of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// Bits of the program.
    Bits(u32),
    /// A dword of the table of uniform values.
    Uniform(u16),
}

/// An operation, with the numbers of rows in place of values, and the row that it makes (of [`Op::Fetch`] the first of four).
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// What it does.
    pub op: Op,
    /// Where its result goes.
    pub to: u32,
}

/// The program.
pub struct Dense {
    /// The operations of each block.
    pub blocks: Vec<Vec<Step>>,
    rows_of_vars: Vec<u32>,
    /// Rows of variables: the first ones.
    pub vars: usize,
    /// Rows of constants: the next ones.
    pub constants: Constants<Constant>,
    /// All rows.
    pub rows: usize,
}

const NO_ROW: u32 = u32::MAX;

impl Dense {
    /// Of a program.
    pub fn new(code: &Code) -> Self {
        let mut used = vec![false; Var::COUNT];
        let ops = || code.blocks.iter().flat_map(|block| &block.ops);
        for op in ops() {
            if let Op::Get(var) | Op::Set(var, ..) = op {
                used[var.index()] = true;
            }
            if matches!(op, Op::SetRelative(..) | Op::GetRelative(File::Gprs(_), ..)) {
                used[..Var::export(0, 0).index()].fill(true);
            }
        }
        let mut vars = 0;
        let row = |used: &bool| {
            vars += u32::from(*used);
            if *used { vars - 1 } else { NO_ROW }
        };
        let rows_of_vars: Vec<u32> = used.iter().map(row).collect();
        let mut constants = Constants::new(vars);
        ops().filter_map(constant).for_each(|of| {
            constants.row(of);
        });
        let mut pool = Pool::new(vars + constants.count());
        let blocks = code.blocks.iter().map(|block| dense(block, &rows_of_vars, &mut constants, &mut pool)).collect();
        Self { blocks, rows_of_vars, vars: vars as usize, constants, rows: pool.end() }
    }

    /// The row of a variable, if somebody reads or writes it.
    pub fn row(&self, var: Var) -> Option<usize> {
        self.rows_of_vars.get(var.index()).filter(|&&row| row != NO_ROW).map(|&row| row as usize)
    }
}

fn constant(op: &Op) -> Option<Constant> {
    match *op {
        Op::Bits(bits) => Some(Constant::Bits(bits)),
        Op::Uniform(index) => Some(Constant::Uniform(index)),
        _ => None,
    }
}

/// Gives the values of a block rows. A value that is a constant, something fetched or a variable, until something is stored there, has no row of its own.
fn dense(block: &Block, vars: &[u32], constants: &mut Constants<Constant>, pool: &mut Pool) -> Vec<Step> {
    pool.restart();
    let mut last_use = vec![0; block.ops.len()];
    for (place, op) in block.ops.iter().enumerate() {
        op.reads().for_each(|value| last_use[value.index()] = place);
    }
    let mut rows: Vec<Value> = Vec::with_capacity(block.ops.len());
    // Whether the row comes from the pool and goes back to it.
    let mut owned = vec![false; block.ops.len()];
    let mut steps = Vec::with_capacity(block.ops.len());
    for (place, &op) in block.ops.iter().enumerate() {
        let mut named = op;
        rename(&mut named, &rows);
        for value in op.reads().filter(|value| last_use[value.index()] == place) {
            if std::mem::take(&mut owned[value.index()]) {
                pool.give(rows[value.index()].0);
            }
        }
        let row = match op {
            Op::Bits(_) | Op::Uniform(_) => constant(&op).map_or(0, |of| constants.row(of)),
            Op::Fetched(fetch, element) => rows[fetch.index()].0 + u32::from(element & 3),
            Op::Get(var) if stays(block, var, place, last_use[place]) => vars[var.index()],
            _ => {
                let to = match op {
                    Op::Fetch(..) => pool.take_side_by_side(4),
                    _ if op.is_pure() => pool.take(),
                    _ => 0,
                };
                owned[place] = op.is_pure() && last_use[place] > place;
                if op.is_pure() && !owned[place] {
                    // Nobody reads it.
                    pool.give(to);
                }
                steps.push(Step { op: named, to });
                to
            }
        };
        rows.push(Value(row));
    }
    steps
}

/// Whether nothing is stored in a variable behind `first`, before `last`.
fn stays(block: &Block, var: Var, first: usize, last: usize) -> bool {
    block.ops.get(first..last).unwrap_or_default().iter().all(|op| match *op {
        Op::Set(to, ..) => to != var,
        Op::SetRelative(..) => var.export_index().is_some(),
        _ => true,
    })
}
