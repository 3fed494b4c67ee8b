//! The parameters of a command that is executed.

use super::report::CommandErrorReason as Reason;
use crate::commands::{Command, ParamError};
use ctm_isa::table::FieldError;

/// Decodes a parameter word. `check` has seen to it that no field is meaningless; should one be, that is an error and not a panic.
pub(super) fn field<T>(
    command: &Command,
    index: usize,
    decode: impl FnOnce(u32) -> Result<T, FieldError>,
) -> Result<T, Reason> {
    decode(command.param(index))
        .map_err(|error| Reason::Param(ParamError::Field { command: command.kind(), index, error }))
}
