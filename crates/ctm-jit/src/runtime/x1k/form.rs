//! Programs of the X1K with masks: what back ends run.

use crate::ir::masked::Var;
use crate::ir::x1k;
use crate::launch::lanes::LANES;
use crate::launch::wavefronts::wave;
use crate::lower::x1k::{joint, masks};
use crate::passes::table::Pass;
use crate::passes::{bound, breaks, computed};
use crate::runtime::program::Program;

/// The most groups that run as if they were one.
pub const GROUPS: usize = wave::LANES / LANES;

/// A program with masks.
pub struct Form {
    pub program: Program,
    /// Groups that run as if they were one.
    pub groups: usize,
}

impl Form {
    /// Of a program. `given`: variables that hold something at the start.
    pub fn new(code: &x1k::Code, is_joint: bool, given: &[bool], most: usize) -> Self {
        // 1, 2 or 4.
        let groups = if is_joint { 1 << most.min(GROUPS).ilog2() } else { 1 };
        let joined = (is_joint && Pass::Breaks.is_on()).then(|| breaks::joined(code)).flatten();
        let joined = joined.filter(joint::holds);
        let mut code = masks::lower(joined.as_ref().unwrap_or(code), is_joint);
        let bound = bound::instructions(&code);
        if Pass::Computed.is_on() {
            computed::gather(&mut code);
        }
        Self { program: Program::new(code, false, LANES * groups, given, bound), groups }
    }

    /// Which output components it may write, by their places in its exports.
    pub fn outputs(&self) -> impl Iterator<Item = usize> + use<'_> {
        self.program.exports.iter().copied()
    }

    /// Elements of output components and of the conditional value, which is behind them.
    pub const CONDITIONAL: usize = Var::export(4, 0).index() - Var::export(0, 0).index();
}
