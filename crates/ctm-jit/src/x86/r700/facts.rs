//! What is known of R700's operations and of a whole program before instructions are chosen: comparisons, and which vectors may hold
//! denormals or show the bits of a NaN.

use crate::r700::form::{Block, Code, File, Op, Value, Var};
use crate::x86::encode::{self, V};
use ctm_exec::x1k::float::ONE;
use ctm_isa::r700::ops::{AluOp, Op2, Op3};

/// Comparisons of floats.
pub const EQUAL: u8 = 0;
pub const LESS: u8 = 0x11;
pub const UNORDERED: u8 = 3;
pub const NOT_EQUAL: u8 = 4;
pub const AT_MOST: u8 = 0x12;
/// Or no number.
pub const NOT_LESS: u8 = 0x15;
pub const NOT_GREATER: u8 = 0x1a;
pub const AT_LEAST: u8 = 0x1d;
pub const GREATER: u8 = 0x1e;
/// Comparisons of integers.
pub const INT_EQUAL: u8 = 0;
pub const INT_LESS: u8 = 1;
pub const INT_AT_MOST: u8 = 2;
pub const INT_NOT_EQUAL: u8 = 4;
pub const INT_AT_LEAST: u8 = 5;
pub const INT_GREATER: u8 = 6;

/// What is known of the whole program.
pub struct Facts {
    /// Variables whose NaN bits somebody can see.
    seen: Vec<bool>,
    /// Variables that never hold denormals.
    flushed: Vec<bool>,
    /// Variables that never hold a NaN.
    numbers: Vec<bool>,
}

impl Facts {
    /// Finds out; `start`: variables with start values.
    pub fn of(code: &Code, start: &[Var]) -> Self {
        let all = || vec![true; Var::COUNT];
        let mut facts = Self { seen: vec![false; Var::COUNT], flushed: all(), numbers: all() };
        (Var::export(0, 0).index()..Var::COUNT).for_each(|var| facts.seen[var] = true);
        for var in start {
            facts.flushed[var.index()] = false;
            facts.numbers[var.index()] = false;
        }
        loop {
            let before = (facts.seen.clone(), facts.flushed.clone(), facts.numbers.clone());
            for block in &code.blocks {
                let (seen, flushed, numbers) = (facts.seen(block), facts.flushed(block), facts.numbers(block));
                for (place, op) in block.ops.iter().enumerate() {
                    match op {
                        Op::Get(var) => facts.seen[var.index()] |= seen[place],
                        Op::Set(var, value, _) => {
                            facts.flushed[var.index()] &= flushed[value.index()];
                            facts.numbers[var.index()] &= numbers[value.index()];
                        }
                        Op::GetRelative(File::Gprs(gprs), _, element, _) => {
                            indexed(*gprs, *element).for_each(|var| facts.seen[var.index()] |= seen[place]);
                        }
                        Op::SetRelative(gprs, _, element, _, value, _) => {
                            for var in indexed(*gprs, *element) {
                                facts.flushed[var.index()] &= flushed[value.index()];
                                facts.numbers[var.index()] &= numbers[value.index()];
                            }
                        }
                        _ => {}
                    }
                }
            }
            if before == (facts.seen.clone(), facts.flushed.clone(), facts.numbers.clone()) {
                return facts;
            }
        }
    }

    /// Of each vector, whether somebody can see its NaN bits.
    pub fn seen(&self, block: &Block) -> Vec<bool> {
        let mut seen = vec![false; block.ops.len()];
        for (place, op) in block.ops.iter().enumerate().rev() {
            let own = seen[place];
            match *op {
                Op::Abs(a) | Op::Neg(a) => seen[a.index()] |= own,
                Op::Alu(op, [_, b, c], _, clamp) if is_choice(op) => {
                    seen[b.index()] |= own && !clamp;
                    seen[c.index()] |= own && !clamp;
                    if is_integer(op) {
                        op_reads(&block.ops[place]).for_each(|v| seen[v.index()] = true);
                    }
                }
                Op::Alu(op, ..) if !is_integer(op) => {}
                Op::Holds(op, _) if !is_integer(AluOp::Op2(op)) => {}
                Op::Select(c, a, b) => {
                    seen[c.index()] = true;
                    seen[a.index()] |= own;
                    seen[b.index()] |= own;
                }
                Op::Cube(..) => {}
                Op::Set(var, value, _) => seen[value.index()] |= self.seen[var.index()],
                _ => op_reads(op).for_each(|value| seen[value.index()] = true),
            }
        }
        seen
    }

    /// Of each vector, whether it holds no denormals.
    pub fn flushed(&self, block: &Block) -> Vec<bool> {
        let mut flushed = vec![false; block.ops.len()];
        for (place, op) in block.ops.iter().enumerate() {
            flushed[place] = match *op {
                Op::Bits(bits) => ctm_exec::x1k::float::flush(bits) == bits,
                Op::Get(var) => self.flushed[var.index()],
                Op::Abs(a) | Op::Neg(a) => flushed[a.index()],
                Op::Alu(op, [_, b, c], _, clamp) if is_choice(op) => {
                    clamp || (flushed[b.index()] && flushed[c.index()])
                }
                Op::Alu(op, ..) => !is_integer(op),
                Op::Select(_, a, b) => flushed[a.index()] && flushed[b.index()],
                Op::Cube(element, ..) => element != 3,
                _ => false,
            };
        }
        flushed
    }
}

impl Facts {
    /// Of each vector, whether it never holds a NaN. Turns that are counted in floats are such.
    pub fn numbers(&self, block: &Block) -> Vec<bool> {
        let mut numbers = vec![false; block.ops.len()];
        let finite = |value: Value| match block.ops[value.index()] {
            Op::Bits(bits) => f32::from_bits(bits).is_finite(),
            Op::Alu(AluOp::Op2(Op2::IntToFlt | Op2::UintToFlt), ..) => true,
            _ => false,
        };
        let ordinary =
            |value: Value| matches!(block.ops[value.index()], Op::Bits(bits) if f32::from_bits(bits).is_normal());
        for (place, op) in block.ops.iter().enumerate() {
            let is = |value: Value| numbers[value.index()];
            numbers[place] = match *op {
                Op::Bits(bits) => !f32::from_bits(bits).is_nan(),
                Op::Get(var) => self.numbers[var.index()],
                Op::Abs(a) | Op::Neg(a) => is(a),
                Op::Select(_, a, b) => is(a) && is(b),
                Op::Alu(AluOp::Op2(op), [a, b, _], ..) => match op {
                    Op2::IntToFlt | Op2::UintToFlt | Op2::Sete | Op2::Setgt | Op2::Setge | Op2::Setne => true,
                    Op2::Mov | Op2::Floor | Op2::Ceil | Op2::Trunc | Op2::Rndne => is(a),
                    Op2::Max | Op2::Min | Op2::MaxDx10 | Op2::MinDx10 => is(a) && is(b),
                    // Infinities of both signs have no sum, zero times infinity is no number.
                    Op2::Add => is(a) && is(b) && (finite(a) || finite(b)),
                    Op2::Mul | Op2::MulIeee => is(a) && is(b) && (ordinary(a) || ordinary(b)),
                    _ => false,
                },
                _ => false,
            };
        }
        numbers
    }
}

/// The variables that an index can name: an element of every register that the program has.
pub fn indexed(gprs: u8, element: u8) -> impl Iterator<Item = Var> {
    (0..usize::from(gprs)).map(move |register| Var::gpr(register, usize::from(element)))
}

fn op_reads(op: &Op) -> impl Iterator<Item = Value> + use<> {
    op.reads()
}

/// Whether the operation chooses between its second and third operand.
pub fn is_choice(op: AluOp) -> bool {
    use Op3::{CndeInt, CndgeInt, CndgtInt};
    matches!(op, AluOp::Op3(Op3::Cnde | Op3::Cndgt | Op3::Cndge | CndeInt | CndgtInt | CndgeInt))
}

/// Whether the operation looks at its operands as bits, or gives bits.
pub fn is_integer(op: AluOp) -> bool {
    let AluOp::Op2(op) = op else { return matches!(op, AluOp::Op3(Op3::CndeInt | Op3::CndgtInt | Op3::CndgeInt)) };
    !matches!(
        op,
        Op2::Add
            | Op2::Mul
            | Op2::MulIeee
            | Op2::Max
            | Op2::Min
            | Op2::MaxDx10
            | Op2::MinDx10
            | Op2::Sete
            | Op2::Setgt
            | Op2::Setge
            | Op2::Setne
            | Op2::Fract
            | Op2::Trunc
            | Op2::Ceil
            | Op2::Rndne
            | Op2::Floor
            | Op2::Mov
            | Op2::PredSete
            | Op2::PredSetgt
            | Op2::PredSetge
            | Op2::PredSetne
            | Op2::Kille
            | Op2::Killgt
            | Op2::Killge
            | Op2::Killne
            | Op2::ExpIeee
            | Op2::LogClamped
            | Op2::LogIeee
            | Op2::RecipClamped
            | Op2::RecipFf
            | Op2::RecipIeee
            | Op2::RecipsqrtClamped
            | Op2::RecipsqrtFf
            | Op2::RecipsqrtIeee
            | Op2::SqrtIeee
            | Op2::Sin
            | Op2::Cos
    )
}

/// The comparison of an operation: instruction, which one, and what it compares (`true`: the second operand with the first).
pub fn comparison(op: Op2) -> Option<(V, u8)> {
    use encode::{CMP_F32, CMP_I32, CMP_U32};
    Some(match op {
        Op2::Sete | Op2::SeteDx10 | Op2::PredSete | Op2::Kille => (CMP_F32, EQUAL),
        Op2::Setgt | Op2::SetgtDx10 | Op2::PredSetgt | Op2::Killgt => (CMP_F32, GREATER),
        Op2::Setge | Op2::SetgeDx10 | Op2::PredSetge | Op2::Killge => (CMP_F32, AT_LEAST),
        Op2::Setne | Op2::SetneDx10 | Op2::PredSetne | Op2::Killne => (CMP_F32, NOT_EQUAL),
        Op2::SeteInt | Op2::PredSeteInt | Op2::KilleInt => (CMP_I32, INT_EQUAL),
        Op2::SetgtInt | Op2::PredSetgtInt | Op2::KillgtInt => (CMP_I32, INT_GREATER),
        Op2::SetgeInt | Op2::PredSetgeInt | Op2::KillgeInt => (CMP_I32, INT_AT_LEAST),
        Op2::SetneInt | Op2::PredSetneInt | Op2::KillneInt => (CMP_I32, INT_NOT_EQUAL),
        Op2::SetgtUint | Op2::PredSetgtUint | Op2::KillgtUint => (CMP_U32, INT_GREATER),
        Op2::SetgeUint | Op2::PredSetgeUint | Op2::KillgeUint => (CMP_U32, INT_AT_LEAST),
        _ => return None,
    })
}

/// What a comparison looks at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// The first operand.
    A,
    /// The second operand.
    B,
    /// A number.
    Bits(u32),
}

/// A comparison: instruction, which one, and of what.
pub type Comparison = (V, u8, Side, Side);

/// When the predicate of an operation says execute, or when it kills: where this holds, and the second one, if there is one.
pub fn truth(op: Op2) -> Option<(Comparison, Option<Comparison>)> {
    use Side::{A, B, Bits};
    use encode::{CMP_F32, CMP_I32};
    if let Some((compare, how)) = comparison(op) {
        return Some(((compare, how, A, B), None));
    }
    let counter = (CMP_F32, EQUAL, A, Bits(0));
    let pushes = |compare, how| (counter, Some((compare, how, B, Bits(0))));
    Some(match op {
        Op2::PredSetInv => ((CMP_F32, EQUAL, A, Bits(ONE)), None),
        Op2::PredSetPop => ((CMP_F32, AT_MOST, A, B), None),
        Op2::PredSetClr => ((CMP_I32, INT_NOT_EQUAL, Bits(0), Bits(0)), None),
        Op2::PredSetRestore => (counter, None),
        Op2::PredSetePush => pushes(CMP_F32, EQUAL),
        Op2::PredSetgtPush => pushes(CMP_F32, GREATER),
        Op2::PredSetgePush => pushes(CMP_F32, AT_LEAST),
        Op2::PredSetnePush => pushes(CMP_F32, NOT_EQUAL),
        Op2::PredSetePushInt => pushes(CMP_I32, INT_EQUAL),
        Op2::PredSetgtPushInt => pushes(CMP_I32, INT_GREATER),
        Op2::PredSetgePushInt => pushes(CMP_I32, INT_AT_LEAST),
        Op2::PredSetnePushInt => pushes(CMP_I32, INT_NOT_EQUAL),
        Op2::PredSetltPushInt => pushes(CMP_I32, INT_LESS),
        Op2::PredSetlePushInt => pushes(CMP_I32, INT_AT_MOST),
        _ => return None,
    })
}

/// Bits for true and for false.
pub fn outcomes(op: Op2) -> (u32, u32) {
    match op {
        Op2::Sete | Op2::Setgt | Op2::Setge | Op2::Setne => (ONE, 0),
        Op2::Kille | Op2::Killgt | Op2::Killge | Op2::Killne => (ONE, 0),
        Op2::KilleInt | Op2::KillgtInt | Op2::KillgeInt | Op2::KillneInt | Op2::KillgtUint | Op2::KillgeUint => {
            (ONE, 0)
        }
        Op2::PredSete | Op2::PredSetgt | Op2::PredSetge | Op2::PredSetne => (0, ONE),
        Op2::PredSeteInt | Op2::PredSetgtInt | Op2::PredSetgeInt | Op2::PredSetneInt => (0, ONE),
        Op2::PredSetgtUint | Op2::PredSetgeUint => (0, ONE),
        _ => (u32::MAX, 0),
    }
}
