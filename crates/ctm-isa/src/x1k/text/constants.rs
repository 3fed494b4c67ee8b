//! Numbers that need a constant register: which register and channel each of them gets.

use super::operand::{ALPHA, Comp, Operand, RGB};
use super::pair::Pair;
use crate::x1k::inst::{Source, inline_code};
use crate::x1k::ops::Swizzle;
use crate::x1k::program::Literal;
use std::collections::BTreeSet;

/// The constant registers that the assembler has taken for numbers.
#[derive(Default)]
pub(super) struct Pool {
    taken: Vec<(u8, [Option<u32>; 4])>,
}

/// No constant register is left for a number.
pub(super) struct PoolFull;

/// The distinct numbers among the components of one unit, in order.
fn numbers(comps: &[Comp]) -> Vec<u32> {
    let mut found = Vec::new();
    for comp in comps {
        if let Comp::Number(bits) = comp
            && !found.contains(bits)
        {
            found.push(*bits);
        }
    }
    found
}

fn is_inline(bits: u32) -> bool {
    inline_code(f32::from_bits(bits)).is_some()
}

/// Whether the numbers of one operand need a constant register: a single one when it is no inline constant; two when one
/// of them is not, or when a register is read beside them; more always (an operand has one RGB and one alpha source).
fn needs_register(comps: &[Comp], numbers: &[u32]) -> bool {
    let reads = comps.iter().any(|c| matches!(c, Comp::Read(..)));
    match numbers.len() {
        0 => false,
        1 => !is_inline(numbers[0]),
        2 => reads || !numbers.iter().all(|&n| is_inline(n)),
        _ => true,
    }
}

/// Whether an instruction has a number that needs a constant register.
pub(super) fn needs_pool(pair: &Pair) -> bool {
    let needs = |comps: &[Comp]| needs_register(comps, &numbers(comps));
    pair.rgb.operands.iter().any(|o| needs(unit_comps(o, RGB)))
        || pair.alpha.operands.iter().any(|o| needs(unit_comps(o, ALPHA)))
}

impl Pool {
    /// Finds a place for the numbers of an instruction. `used` are the registers that something else uses.
    pub fn reserve(&mut self, pair: &Pair, used: &BTreeSet<u8>) -> Result<(), PoolFull> {
        let units = (pair.rgb.operands.iter().map(|o| (o, RGB))).chain(pair.alpha.operands.iter().map(|o| (o, ALPHA)));
        for (operand, unit) in units {
            let comps = unit_comps(operand, unit);
            let wanted = numbers(comps);
            if needs_register(comps, &wanted) {
                self.place(&wanted, unit, used)?;
            }
        }
        Ok(())
    }

    /// Puts the numbers, which one operand reads together, into one register.
    fn place(&mut self, wanted: &[u32], unit: u8, used: &BTreeSet<u8>) -> Result<(), PoolFull> {
        // The RGB unit's numbers go to r, g, b: its alpha addresses are for scalars. The alpha unit's begin with a.
        let order: [usize; 4] = if unit == ALPHA { [3, 0, 1, 2] } else { [0, 1, 2, 3] };
        let usable = if unit == ALPHA || wanted.len() > 3 { 4 } else { 3 };
        for (_, channels) in &mut self.taken {
            let mut trial = *channels;
            let fits = wanted.iter().all(|&bits| {
                trial.contains(&Some(bits))
                    || order[..usable].iter().any(|&i| {
                        let free = trial[i].is_none();
                        if free {
                            trial[i] = Some(bits);
                        }
                        free
                    })
            });
            if fits {
                *channels = trial;
                return Ok(());
            }
        }
        let free = |index: &u8| !used.contains(index) && self.taken.iter().all(|t| t.0 != *index);
        let index = (0..=255).find(free).ok_or(PoolFull)?;
        let mut channels = [None; 4];
        for (&bits, &i) in wanted.iter().zip(&order) {
            channels[i] = Some(bits);
        }
        self.taken.push((index, channels));
        Ok(())
    }

    /// Every place where the number can be read.
    pub fn places(&self, bits: u32) -> impl Iterator<Item = (Source, Swizzle)> {
        self.taken.iter().flat_map(move |&(index, channels)| {
            super::operand::CHANNELS
                .into_iter()
                .zip(channels)
                .filter(move |(_, value)| *value == Some(bits))
                .map(move |(channel, _)| (Source::Const { index, relative: false }, channel))
        })
    }

    /// The registers as literals of the program; channels without a number are 0.
    pub fn literals(&self) -> impl Iterator<Item = Literal> {
        self.taken
            .iter()
            .map(|&(index, channels)| Literal::Float { index, bits: channels.map(|value| value.unwrap_or(0)) })
    }
}

/// The components of an operand that a unit uses.
pub(super) fn unit_comps(operand: &Operand, unit: u8) -> &[Comp] {
    if unit == ALPHA { &operand.comps[3..] } else { &operand.comps[..3] }
}
