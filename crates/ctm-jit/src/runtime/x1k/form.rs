//! Programs of the X1K with masks: what back ends run.

use crate::ir::masked::Var;
use crate::ir::x1k;
use crate::launch::lanes::LANES;
use crate::launch::wavefronts::wave;
use crate::lower::x1k::{joint, masks};
use crate::passes::table::Pass;
use crate::passes::{bound, breaks, computed};
use crate::runtime::program::Program;

/// Elements of output components and of the conditional value, which is behind them.
pub const CONDITIONAL: usize = Var::export(4, 0).index() - Var::export(0, 0).index();

/// The form of a program for one group, or (`is_joint`) for several as if they were one. `given`: variables that hold something at the start.
pub fn with_masks(code: &x1k::Code, is_joint: bool, given: &[bool]) -> Program {
    let joined = (is_joint && Pass::Breaks.is_on()).then(|| breaks::joined(code)).flatten();
    let joined = joined.filter(joint::holds);
    let mut code = masks::lower(joined.as_ref().unwrap_or(code), is_joint);
    let bound = bound::instructions(&code);
    if Pass::Computed.is_on() {
        computed::gather(&mut code);
    }
    Program::new(code, false, if is_joint { wave::LANES } else { LANES }, given, bound)
}
