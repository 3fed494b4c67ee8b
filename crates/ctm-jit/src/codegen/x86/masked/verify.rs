//! The rules of selected instructions, checked after every stage of the back end in debug builds and tests.
//!
//! | rule | broken by |
//! |---|---|
//! | a vector that is no variable is made before it is read, in the same block | a use of a vector of another block |
//! | a mask register is made before it is read, in the same block | a blend by a mask of another block |
//! | vectors, calls and yields exist | a number beyond the last one |
//! | masks are masks, numbers are numbers | a store under an iteration count |
//! | brackets are closed: `begin_rare` by `end_rare`, `begin_lanes` by an end that takes its mask | an end without a beginning |
//! | widths | a mask register that is none of k1 to k3 |

use super::ins::Ins;
use super::selected::SelectedCode;
use crate::codegen::x86::lir::{self, Lir};
use ctm_ir::masked::Code;
use ctm_ir::verify::{VerifyError, expect_mask, text, verify_mask_op};

/// Checks every rule. `code`: the masked form that the instructions were selected for.
///
/// # Errors
/// The first broken one.
pub fn verify(of: &SelectedCode, code: &Code) -> Result<(), VerifyError> {
    let mut made = vec![false; of.vectors];
    for (block, list) in of.lists.iter().enumerate() {
        let variables = of.used.len().min(made.len());
        made[..variables].fill(true);
        made[variables..].fill(false);
        let mut state = CheckState { of, code, made: &mut made, masks: 0, open: None };
        for (line, ins) in list.iter().enumerate() {
            let found = state.step(ins);
            found.map_err(|message| VerifyError { block, line, operation: text(ins), message })?;
        }
        if let Some(open) = state.open {
            let message = format!("`{open}` has no end in this block");
            return Err(VerifyError { block, line: list.len(), operation: String::new(), message });
        }
    }
    Ok(())
}

/// The state of the check at a line of a block.
struct CheckState<'a> {
    of: &'a SelectedCode,
    code: &'a Code,
    /// Whether each vector is defined.
    made: &'a mut [bool],
    /// The defined mask registers, a bit for each.
    masks: u8,
    /// The bracket that is open.
    open: Option<&'static str>,
}

impl CheckState<'_> {
    fn step(&mut self, ins: &Ins) -> Result<(), String> {
        let (written, sources) = ins.touches();
        let mut early = None;
        lir::each_read(written, &sources, |vector| {
            if !self.made.get(vector.index()).copied().unwrap_or(false) {
                early = early.or(Some(vector));
            }
        });
        if let Some(vector) = early {
            return Err(format!("`{}` is read before it is made", text(&vector)));
        }
        if let Some((vector, _)) = written {
            let (number, count) = (vector.index(), self.made.len());
            let made = self.made.get_mut(number);
            *made.ok_or_else(|| format!("there is no vector {number}; there are {count}"))? = true;
        }
        match ins {
            Ins::Lir(lir) | Ins::BeginRare(lir) => self.masks(lir)?,
            Ins::Mask(op) => verify_mask_op(*op)?,
            Ins::Number(..) | Ins::Guard { .. } => {}
            ins => ins.mask().map_or(Ok(()), expect_mask)?,
        }
        match *ins {
            Ins::Call(number, _) if !self.of.calls.is_empty() && usize::from(number) >= self.of.calls.len() => {
                Err(format!("there is no call {number}; there are {}", self.of.calls.len()))
            }
            Ins::Yield(number) if usize::from(number) >= self.code.yields.len() => {
                Err(format!("there is no yield {number}; there are {}", self.code.yields.len()))
            }
            Ins::BeginRare(_) => self.begin(ins, "begin_rare"),
            Ins::BeginLanes => self.begin(ins, "begin_lanes"),
            Ins::EndRare => self.end("begin_rare"),
            Ins::EndLanes(m) => self.lanes().and_then(|()| expect_mask(m)),
            Ins::EndKeep | Ins::EndLeave(_) => self.lanes(),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, ins: &Ins, name: &'static str) -> Result<(), String> {
        match self.open.replace(name) {
            // Instructions of rare cases may be part of a sequence that makes a mask.
            Some(open) if open == name => Err(format!("`{}` where `{open}` has no end yet", ins.name())),
            Some("begin_lanes") | None => Ok(()),
            Some(open) => Err(format!("`{}` where `{open}` has no end yet", ins.name())),
        }
    }

    fn end(&mut self, begin: &'static str) -> Result<(), String> {
        if self.open.take() == Some(begin) { Ok(()) } else { Err(format!("there is no `{begin}` before it")) }
    }

    fn lanes(&mut self) -> Result<(), String> {
        self.end("begin_lanes")?;
        if self.masks & 1 << 1 == 0 { Err("`k1` is taken, but not made in this block".to_owned()) } else { Ok(()) }
    }

    /// The mask registers of an instruction.
    fn masks(&mut self, lir: &Lir) -> Result<(), String> {
        let (dst, reads) = match *lir {
            Lir::Test { dst, under, .. } | Lir::Class { dst, under, .. } => (dst, [under, 0]),
            Lir::Or(dst, a, b) | Lir::AndNot(dst, a, b) => (dst, [a, b]),
            Lir::Blend { k, .. } | Lir::Merge { k, .. } | Lir::MergeTwo { k, .. } | Lir::StopIfNone(k) => (0, [k, 0]),
            _ => (0, [0, 0]),
        };
        for k in reads.into_iter().filter(|&k| k != 0) {
            if k > 3 || self.masks >> k & 1 == 0 {
                return Err(format!("`k{k}` is read, but not made in this block"));
            }
        }
        if dst > 3 {
            return Err(format!("there is no mask register `k{dst}`; there are `k1` to `k3`"));
        }
        self.masks |= 1 << dst;
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../../../tests/unit/codegen/x86/masked/verify.rs"]
mod tests;
