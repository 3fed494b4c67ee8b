//! Programs for the portable machine: the operands of operations are rows.

use ctm_ir::masked::{Block, Code, MaskOp, Op, RegisterFile, Value, Var};

/// A value that is the same in all lanes of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// Bits of the program.
    Bits(u32),
    /// A dword of the table of uniform values.
    Uniform(u16),
}

impl Constant {
    const fn of(op: &Op) -> Option<Self> {
        match *op {
            Op::Bits(bits) => Some(Self::Bits(bits)),
            Op::Uniform(index) => Some(Self::Uniform(index)),
            _ => None,
        }
    }
}

/// The pool of rows for vectors: rows of dead vectors are reused.
struct Pool {
    first: u32,
    next: u32,
    most: u32,
    free: Vec<u32>,
}

impl Pool {
    /// Rows from this one on.
    const fn new(first: u32) -> Self {
        Self { first, next: first, most: first, free: Vec::new() }
    }

    /// A free row.
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| self.take_side_by_side(1))
    }

    /// `count` rows side by side.
    fn take_side_by_side(&mut self, count: u32) -> u32 {
        self.next += count;
        self.most = self.most.max(self.next);
        self.next - count
    }
}

/// An operation, with the numbers of rows in place of values, and the row that it makes (of a fetch the first of four).
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Its operation.
    pub op: Op,
    /// The row of its result.
    pub to: u32,
}

/// No row.
const NO_ROW: u32 = u32::MAX;

/// A program in dense form.
pub struct Dense {
    /// The operations of each block.
    pub blocks: Vec<Vec<Step>>,
    rows_of_vars: Vec<u32>,
    /// Rows of variables: the first ones.
    pub vars: usize,
    /// The constants of the next rows, the same in every lane, throughout a launch.
    pub constants: Vec<Constant>,
    /// All rows.
    pub rows: usize,
}

impl Dense {
    /// The dense program of a masked form.
    pub fn of(code: &Code) -> Self {
        let ops = || code.blocks.iter().flat_map(|block| &block.ops);
        let mut used = vec![false; Var::COUNT];
        for op in ops() {
            if let Op::Get(var) | Op::Set { var, .. } = op {
                used[var.index()] = true;
            }
            if matches!(op, Op::SetRelative { .. } | Op::GetRelative { file: RegisterFile::Gprs(_), .. }) {
                used[..Var::export(0, 0).index()].fill(true);
            }
        }
        let mut vars = 0;
        let row = |used: bool| {
            vars += u32::from(used);
            if used { vars - 1 } else { NO_ROW }
        };
        let rows_of_vars: Vec<u32> = used.into_iter().map(row).collect();
        let mut constants = Vec::new();
        for constant in ops().filter_map(Constant::of) {
            if !constants.contains(&constant) {
                constants.push(constant);
            }
        }
        let mut pool = Pool::new(vars + constants.len() as u32);
        let of_block = |block: &Block| steps(&block.ops, &rows_of_vars, (vars, &constants), &mut pool);
        let blocks = code.blocks.iter().map(of_block).collect();
        Self { blocks, rows_of_vars, vars: vars as usize, constants, rows: pool.most as usize }
    }

    /// Whether a row holds one number in all lanes, throughout a launch.
    pub fn is_constant(&self, row: Value) -> bool {
        row.index().checked_sub(self.vars).is_some_and(|place| place < self.constants.len())
    }

    /// The row of a variable, if it is read or written.
    pub fn row(&self, var: Var) -> Option<usize> {
        self.rows_of_vars.get(var.index()).filter(|&&row| row != NO_ROW).map(|&row| row as usize)
    }
}

/// Allocates rows for the values of a block. A value that is a constant, a fetched element or a variable, until its
/// next store, has no row of its own.
fn steps(ops: &[Op], rows_of_vars: &[u32], (vars, constants): (u32, &[Constant]), pool: &mut Pool) -> Vec<Step> {
    // At the beginning of a block all rows are free.
    pool.next = pool.first;
    pool.free.clear();
    // From the end: an operation that is left out uses nothing.
    let mut last_use = vec![0; ops.len()];
    for (place, op) in ops.iter().enumerate().rev() {
        if !is_idle(op, last_use[place]) {
            op.reads().for_each(|value| last_use[value.index()] = place.max(last_use[value.index()]));
        }
    }
    let mut rows: Vec<u32> = Vec::with_capacity(ops.len());
    // Whether the row comes from the pool and is returned to it.
    let mut owned = vec![false; ops.len()];
    let mut steps = Vec::with_capacity(ops.len());
    for (place, &op) in ops.iter().enumerate() {
        if is_idle(&op, last_use[place]) {
            rows.push(NO_ROW);
            continue;
        }
        let mut named = op;
        named.rename(|value| Value(rows[value.index()]));
        for value in op.reads().map(Value::index).filter(|&value| last_use[value] == place) {
            if std::mem::take(&mut owned[value]) {
                pool.free.push(rows[value]);
            }
        }
        // Whether the variable has no store before its last use.
        let stays = |var| !ops.get(place..last_use[place]).unwrap_or_default().iter().any(|op| changes(op, var));
        let constant = Constant::of(&op).and_then(|constant| constants.iter().position(|&known| known == constant));
        let row = match op {
            Op::Bits(_) | Op::Uniform(_) => vars + constant.unwrap_or_default() as u32,
            Op::Fetched(fetch, element) => rows[fetch.index()] + u32::from(element & 3),
            Op::Get(var) if stays(var) => rows_of_vars[var.index()],
            _ => {
                let to = match op {
                    Op::Fetch { .. } => pool.take_side_by_side(4),
                    _ if !op.is_pure() => 0,
                    _ => {
                        owned[place] = true;
                        pool.take()
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

/// Whether leaving an operation out changes nothing: its result has no use, or it copies a mask to itself.
fn is_idle(op: &Op, last_use: usize) -> bool {
    match *op {
        Op::Mask(MaskOp::Copy(to, from)) => to == from,
        _ => op.is_pure() && last_use == 0,
    }
}

/// Whether an operation may change a variable.
fn changes(op: &Op, var: Var) -> bool {
    match *op {
        Op::Set { var: to, .. } => to == var,
        Op::SetRelative { .. } => var.export_index().is_none(),
        _ => false,
    }
}
