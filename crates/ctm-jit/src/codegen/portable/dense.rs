//! Programs for the portable machines: operations whose operands are rows. The forms of both instruction sets are made so in the same way.

use crate::codegen::portable::rows::{Constants, Pool};

/// An operation of a form.
pub trait FormOp: Copy {
    /// What it may store into or read.
    type Var: Copy + PartialEq;
    /// What is the same in all lanes of a launch.
    type Constant: Copy + PartialEq;

    /// The places in its block of what it reads.
    fn operands(&self) -> impl Iterator<Item = usize>;
    /// The same with the numbers of rows in place of the places, `rows` says which.
    fn on_rows(self, rows: &[u32]) -> Self;
    /// What it makes.
    fn makes(&self) -> Makes<Self::Var, Self::Constant>;
    /// Whether it may change the variable.
    fn changes(&self, var: Self::Var) -> bool;
}

/// What an operation makes.
pub enum Makes<V, C> {
    /// Something that is the same in all lanes.
    Constant(C),
    /// One of the four rows of what was fetched at this place.
    Part(usize, u32),
    /// What a variable holds.
    Variable(V),
    /// A row.
    Row,
    /// Four rows, side by side.
    Four,
    /// None.
    Nothing,
}

/// An operation, with the numbers of rows in place of values, and the row that it makes (of a fetch the first of four).
#[derive(Clone, Copy, Debug)]
pub struct Step<O> {
    /// What it does.
    pub op: O,
    /// Where its result goes.
    pub to: u32,
}

/// No row.
const NO_ROW: u32 = u32::MAX;

/// A program.
pub struct Dense<O: FormOp> {
    /// The operations of each block.
    pub blocks: Vec<Vec<Step<O>>>,
    rows_of_vars: Vec<u32>,
    /// Rows of variables: the first ones.
    pub vars: usize,
    /// Rows of constants: the next ones.
    pub constants: Constants<O::Constant>,
    /// All rows.
    pub rows: usize,
}

impl<O: FormOp> Dense<O> {
    /// Of the operations of each block. `used`: the variables that somebody reads or writes; `number`: a variable's place among them.
    pub fn new<'a>(blocks: impl Iterator<Item = &'a [O]> + Clone, used: &[bool], number: fn(O::Var) -> usize) -> Self
    where
        O: 'a,
    {
        let mut vars = 0;
        let row = |used: &bool| {
            vars += u32::from(*used);
            if *used { vars - 1 } else { NO_ROW }
        };
        let rows_of_vars: Vec<u32> = used.iter().map(row).collect();
        let mut constants = Constants::new(vars);
        for op in blocks.clone().flatten() {
            if let Makes::Constant(of) = op.makes() {
                constants.row(of);
            }
        }
        let mut pool = Pool::new(vars + constants.count());
        let row_of = |var: O::Var| rows_of_vars[number(var)];
        let blocks = blocks.map(|ops| steps(ops, row_of, &mut constants, &mut pool)).collect();
        Self { blocks, rows_of_vars, vars: vars as usize, constants, rows: pool.end() }
    }

    /// The row of the variable with this number, if somebody reads or writes it.
    pub fn row_of(&self, number: usize) -> Option<usize> {
        self.rows_of_vars.get(number).filter(|&&row| row != NO_ROW).map(|&row| row as usize)
    }
}

/// Gives the values of a block rows. A value that is a constant, something fetched or a variable, until something is stored there, has no row of its own.
fn steps<O: FormOp>(
    ops: &[O],
    row_of: impl Fn(O::Var) -> u32,
    constants: &mut Constants<O::Constant>,
    pool: &mut Pool,
) -> Vec<Step<O>> {
    pool.restart();
    let mut last_use = vec![0; ops.len()];
    for (place, op) in ops.iter().enumerate() {
        op.operands().for_each(|value| last_use[value] = place);
    }
    let mut rows = Vec::with_capacity(ops.len());
    // Whether the row comes from the pool and goes back to it.
    let mut owned = vec![false; ops.len()];
    let mut steps = Vec::with_capacity(ops.len());
    for (place, &op) in ops.iter().enumerate() {
        let named = op.on_rows(&rows);
        for value in op.operands().filter(|&value| last_use[value] == place) {
            if std::mem::take(&mut owned[value]) {
                pool.give(rows[value]);
            }
        }
        // Whether nothing is stored in the variable before its last use.
        let stays = |var| !ops.get(place..last_use[place]).unwrap_or_default().iter().any(|op| op.changes(var));
        let row = match op.makes() {
            Makes::Constant(of) => constants.row(of),
            Makes::Part(of, part) => rows[of] + part,
            Makes::Variable(var) if stays(var) => row_of(var),
            makes => {
                let to = match makes {
                    Makes::Four => pool.take_side_by_side(4),
                    Makes::Nothing => 0,
                    _ => {
                        let to = pool.take();
                        owned[place] = last_use[place] > place;
                        if !owned[place] {
                            // Nobody reads it.
                            pool.give(to);
                        }
                        to
                    }
                };
                steps.push(Step { op: named, to });
                to
            }
        };
        rows.push(row);
    }
    steps
}
