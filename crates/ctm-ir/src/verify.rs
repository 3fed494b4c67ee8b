//! The rules of the masked form, checked after every stage in debug builds and tests.
//!
//! | rule | broken by |
//! |---|---|
//! | a vector is made before it is read | a use of a later line |
//! | an operand is a vector | a use of an effect, of a fetch without its element |
//! | masks are masks, numbers are numbers | `and` of an iteration count |
//! | a mask or number is written before it is read, on every path | a read of a scratch mask after another path |
//! | definitions exist | a fetch, store, yield, uniform value or block beyond the last one |
//! | widths | an element beyond `w`, a dword beyond that of the operation, a register beyond the file, a 64-bit operation in one slot |

use crate::masked::{Block, Code, End, JumpTarget, M, MaskOp, Op, RegisterFile, Value};
use crate::text::fields::Field;
use ctm_isa::r700::GPRS;
use ctm_isa::r700::ops::AluOp;
use std::fmt;

/// A broken rule, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The block.
    pub block: usize,
    /// The operation in the block: lines below the block's head, from 0. That after the last one is the block's end.
    pub line: usize,
    /// The text of the operation.
    pub operation: String,
    /// The finding.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "block b{}, line {}, `{}`: {}", self.block, self.line, self.operation, self.message)
    }
}

impl std::error::Error for VerifyError {}

/// The kind of value at a place of the wavefront's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    Mask,
    Number,
    /// It is a mask whose bits are read as a number.
    Both,
}

impl ValueKind {
    fn of(m: M) -> Self {
        match m {
            M::WRITING => Self::Both,
            _ if m.is_number() => Self::Number,
            _ => Self::Mask,
        }
    }

    fn fits(self, other: Self) -> bool {
        self == other || self == Self::Both || other == Self::Both
    }
}

/// The text of an operand.
pub fn text(of: &impl Field) -> String {
    let mut text = String::new();
    of.print(&mut text);
    text
}

/// Checks every rule.
///
/// # Errors
/// The first broken one.
pub fn verify(code: &Code) -> Result<(), VerifyError> {
    verify_blocks(code, 4)?;
    for (line, op) in code.computed.iter().enumerate() {
        let early = op.reads().find(|value| value.index() >= line);
        if let Some(value) = early {
            return Err(error(0, line, text(op), format!("computed value {} is read before it is made", text(&value))));
        }
    }
    masks_are_written(code)
}

/// Checks the rules of a form without masks. `elements`: those of a fetch.
///
/// # Errors
/// The first broken one.
pub fn verify_unmasked(code: &Code, elements: usize) -> Result<(), VerifyError> {
    let masked = |op: &Op| match op {
        Op::Mask(_) => true,
        Op::Number(_) => false,
        op => op.mask().is_some_and(|m| m != M::EXISTING),
    };
    for (index, block) in code.blocks.iter().enumerate() {
        if let Some(line) = block.ops.iter().position(masked) {
            let message = "it depends on a mask, where none is expected".to_owned();
            return Err(error(index, line, text(&block.ops[line]), message));
        }
    }
    verify_blocks(code, elements)
}

fn verify_blocks(code: &Code, elements: usize) -> Result<(), VerifyError> {
    for (index, block) in code.blocks.iter().enumerate() {
        for (line, op) in block.ops.iter().enumerate() {
            verify_op((code, elements), block, line, op).map_err(|message| error(index, line, text(op), message))?;
        }
        verify_end(code, block.end).map_err(|message| error(index, block.ops.len(), text(&block.end), message))?;
    }
    Ok(())
}

fn error(block: usize, line: usize, operation: String, message: String) -> VerifyError {
    VerifyError { block, line, operation, message }
}

/// A place holds a mask (or number) where one is expected.
///
/// # Errors
/// It does not.
pub fn expect_mask(m: M) -> Result<(), String> {
    expect(m, ValueKind::Mask)
}

fn expect(m: M, kind: ValueKind) -> Result<(), String> {
    if ValueKind::of(m).fits(kind) {
        return Ok(());
    }
    let (is, wanted) = if kind == ValueKind::Mask { ("number", "mask") } else { ("mask", "number") };
    Err(format!("`{}` is a {is}, where a {wanted} is expected", text(&m)))
}

/// A number is below a limit.
fn below(number: usize, count: usize, kind: &str) -> Result<(), String> {
    if number < count { Ok(()) } else { Err(format!("there is no {kind} {number}; there are {count}")) }
}

fn is_64_bit(op: AluOp) -> bool {
    let name = match op {
        AluOp::Op2(op) => op.name(),
        AluOp::Op3(op) => op.name(),
    };
    name.contains("64")
}

fn verify_op((code, elements): (&Code, usize), block: &Block, line: usize, op: &Op) -> Result<(), String> {
    for value in op.reads() {
        verify_read((block, elements), line, op, value)?;
    }
    match *op {
        Op::Number(m) | Op::Guard { number: m, .. } => expect(m, ValueKind::Number)?,
        Op::Mask(op) => verify_mask_op(op)?,
        _ => op.mask().map_or(Ok(()), expect_mask)?,
    }
    match *op {
        Op::Uniform(index) => {
            below(index.into(), code.given_uniforms() + code.computed.len(), "uniform value")?;
        }
        Op::Fetch { number, .. } => below(number.into(), code.fetches.len(), "fetch")?,
        Op::Store { number, .. } => below(number.into(), code.stores.len(), "store")?,
        Op::Yield(number) => below(number.into(), code.yields.len(), "yield")?,
        Op::QuadLane(_, lane) => below(lane.into(), 4, "lane of a quad")?,
        Op::Cube { element, .. } => below(element.into(), 4, "element")?,
        Op::Wide { op, part, .. } => {
            below(part.into(), 5, "dword of a 64-bit operation")?;
            if !is_64_bit(op) {
                return Err("the operation has 32 bits, where one of 64 is expected".to_owned());
            }
        }
        Op::Alu { op, .. } if is_64_bit(op) => {
            return Err("the operation has 64 bits, where one of 32 is expected".to_owned());
        }
        Op::GetRelative { file: RegisterFile::Gprs(gprs), element, .. } | Op::SetRelative { gprs, element, .. } => {
            below(element.into(), 4, "element")?;
            below(usize::from(gprs).saturating_sub(1), GPRS, "register")?;
        }
        Op::Mark(var, _) if var.export_index().is_none() => {
            return Err(format!("`{}` is no element of an export", text(&var)));
        }
        _ => {}
    }
    Ok(())
}

fn verify_read((block, elements): (&Block, usize), line: usize, op: &Op, value: Value) -> Result<(), String> {
    if value.index() >= line {
        return Err(format!("`{}` is read before it is made", text(&value)));
    }
    let made = &block.ops[value.index()];
    match (op, made) {
        (Op::Fetched(_, element), Op::Fetch { .. }) => below(usize::from(*element), elements, "element"),
        (Op::Fetched(..), _) => Err(format!("`{}` is no fetch", text(&value))),
        (_, Op::Fetch { .. }) => Err(format!("`{}` is a fetch: its elements are read by `fetched`", text(&value))),
        (_, made) if !made.is_pure() => Err(format!("`{}` is no vector", text(&value))),
        _ => Ok(()),
    }
}

/// The types of an operation on masks.
pub fn verify_mask_op(op: MaskOp) -> Result<(), String> {
    match op {
        MaskOp::Copy(dst, a) if ValueKind::of(dst).fits(ValueKind::of(a)) => Ok(()),
        MaskOp::Copy(dst, a) => expect(a, ValueKind::of(dst)),
        MaskOp::And(dst, a, b) | MaskOp::AndNot(dst, a, b) | MaskOp::Or(dst, a, b) | MaskOp::Xor(dst, a, b) => {
            [dst, a, b].into_iter().try_for_each(expect_mask)
        }
        MaskOp::Quads(dst, a) => [dst, a].into_iter().try_for_each(expect_mask),
        MaskOp::Lanes(dst, _) => expect_mask(dst),
        MaskOp::Number(dst, _) | MaskOp::Add(dst, ..) => expect(dst, ValueKind::Number),
        MaskOp::IfNot0(dst, a, b) => {
            [dst, a].into_iter().try_for_each(expect_mask)?;
            expect(b, ValueKind::Number)
        }
    }
}

fn verify_end(code: &Code, end: End) -> Result<(), String> {
    for target in end.targets().into_iter().flatten() {
        if let JumpTarget::Block(id) = target {
            below(id.into(), code.blocks.len(), "block")?;
        }
    }
    if let End::Branch { mask, .. } = end { expect_mask(mask) } else { Ok(()) }
}

/// A set of places of the state.
type Places = [u64; M::COUNT.div_ceil(64)];

const fn insert(set: &mut Places, m: M) {
    set[m.index() / 64] |= 1 << (m.index() % 64);
}

const fn contains(set: &Places, m: M) -> bool {
    set[m.index() / 64] >> (m.index() % 64) & 1 == 1
}

/// A forward data-flow analysis: the places written on every path. The lattice is sets of places, the join their intersection.
fn masks_are_written(code: &Code) -> Result<(), VerifyError> {
    let mut first = Places::default();
    [M::ACTIVE, M::VALID, M::EXISTING, M::NONE, M::FIRST].into_iter().for_each(|m| insert(&mut first, m));
    let mut before: Vec<Option<Places>> = vec![None; code.blocks.len()];
    if let Some(of) = before.first_mut() {
        *of = Some(first);
    }
    let mut pending = vec![0usize];
    while let Some(index) = pending.pop() {
        let (Some(Some(mut written)), Some(block)) = (before.get(index).copied(), code.blocks.get(index)) else {
            continue;
        };
        block.ops.iter().for_each(|op| written_by(op, &mut written));
        for next in block.end.successors() {
            let joined = before[next].map_or(written, |of| std::array::from_fn(|n| of[n] & written[n]));
            if before[next] != Some(joined) {
                before[next] = Some(joined);
                pending.push(next);
            }
        }
    }
    for (index, (block, before)) in code.blocks.iter().zip(before).enumerate() {
        let Some(mut written) = before else { continue };
        for (line, op) in block.ops.iter().enumerate() {
            let reads = match op {
                // It changes nothing: a pass has put it in the place of a dead operation.
                Op::Mask(MaskOp::Copy(dst, a)) if dst == a => [None; 2],
                Op::Mask(op) => op.reads(),
                op => [op.mask(), None],
            };
            if let Some(m) = reads.into_iter().flatten().find(|&m| !contains(&written, m)) {
                let message = format!("`{}` is read, but not written on every path to this line", text(&m));
                return Err(error(index, line, text(op), message));
            }
            written_by(op, &mut written);
        }
        if let End::Branch { mask, .. } = block.end
            && !contains(&written, mask)
        {
            let message = format!("`{}` is read, but not written on every path to this line", text(&mask));
            return Err(error(index, block.ops.len(), text(&block.end), message));
        }
    }
    Ok(())
}

fn written_by(op: &Op, written: &mut Places) {
    if let Op::Mask(op) = op {
        insert(written, op.writes());
    }
}

#[cfg(test)]
#[path = "../tests/unit/verify.rs"]
mod tests;
