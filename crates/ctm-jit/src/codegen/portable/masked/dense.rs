//! R700's form for the portable machine.

use crate::codegen::portable::dense::{self, FormOp, Makes};
use crate::ir::masked::{Code, File, Op, Value, Var};

/// What is the same in all lanes of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// Bits of the program.
    Bits(u32),
    /// A dword of the table of uniform values.
    Uniform(u16),
}

impl FormOp for Op {
    type Var = Var;
    type Constant = Constant;

    fn operands(&self) -> impl Iterator<Item = usize> {
        self.reads().map(Value::index)
    }

    fn on_rows(mut self, rows: &[u32]) -> Self {
        self.rename(|value| Value(rows[value.index()]));
        self
    }

    fn makes(&self) -> Makes<Var, Constant> {
        match *self {
            Self::Bits(bits) => Makes::Constant(Constant::Bits(bits)),
            Self::Uniform(index) => Makes::Constant(Constant::Uniform(index)),
            Self::Fetched(fetch, element) => Makes::Part(fetch.index(), (element & 3).into()),
            Self::Get(var) => Makes::Variable(var),
            Self::Fetch(..) => Makes::Four,
            _ if self.is_pure() => Makes::Row,
            _ => Makes::Nothing,
        }
    }

    fn changes(&self, var: Var) -> bool {
        match *self {
            Self::Set(to, ..) => to == var,
            Self::SetRelative(..) => var.export_index().is_none(),
            _ => false,
        }
    }
}

/// The program.
pub type Dense = dense::Dense<Op>;
/// One of its operations.
pub type Step = dense::Step<Op>;

impl Dense {
    /// Of a program.
    pub fn of(code: &Code) -> Self {
        let mut used = vec![false; Var::COUNT];
        for op in code.blocks.iter().flat_map(|block| &block.ops) {
            if let Op::Get(var) | Op::Set(var, ..) = op {
                used[var.index()] = true;
            }
            if matches!(op, Op::SetRelative(..) | Op::GetRelative(File::Gprs(_), ..)) {
                used[..Var::export(0, 0).index()].fill(true);
            }
        }
        Self::new(code.blocks.iter().map(|block| block.ops.as_slice()), &used, Var::index)
    }

    /// The row of a variable, if somebody reads or writes it.
    pub fn row(&self, var: Var) -> Option<usize> {
        self.row_of(var.index())
    }
}
