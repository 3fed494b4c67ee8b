//! The X1K's form for the portable machine.

use crate::codegen::portable::dense::{self, FormOp, Makes};
use crate::ir::x1k::{Code, Op, Value, Var};
use crate::passes::x1k::renamed;
use ctm_isa::x1k::TEMPORARIES;

/// What is the same in all lanes of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// Bits of the program.
    Bits(u32),
    /// A component of a floating-point constant.
    Float(u16),
}

impl FormOp for Op {
    type Var = Var;
    type Constant = Constant;

    fn operands(&self) -> impl Iterator<Item = usize> {
        self.reads().map(Value::index)
    }

    fn on_rows(self, rows: &[u32]) -> Self {
        renamed(self, |value| Value(rows[value.index()]))
    }

    fn makes(&self) -> Makes<Var, Constant> {
        match *self {
            Self::Bits(bits) => Makes::Constant(Constant::Bits(bits)),
            Self::Const(index) => Makes::Constant(Constant::Float(index)),
            Self::Texel(fetch, channel) => Makes::Part(fetch.index(), channel.into()),
            Self::Get(var) => Makes::Variable(var),
            Self::Fetch { .. } => Makes::Four,
            _ if self.is_pure() => Makes::Row,
            _ => Makes::Nothing,
        }
    }

    fn changes(&self, var: Var) -> bool {
        match *self {
            Self::Set(to, ..) => to == var,
            Self::SetRelative { .. } => var.output_index().is_none(),
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
        used[..4 * TEMPORARIES].fill(code.relative_temps);
        for op in code.blocks.iter().flat_map(|block| &block.ops) {
            if let Op::Get(var) | Op::Set(var, ..) = op {
                used[var.index()] = true;
            }
        }
        Self::new(code.blocks.iter().map(|block| block.ops.as_slice()), &used, Var::index)
    }

    /// The row of a variable, if somebody reads or writes it.
    pub fn row(&self, var: Var) -> Option<usize> {
        self.row_of(var.index())
    }
}
