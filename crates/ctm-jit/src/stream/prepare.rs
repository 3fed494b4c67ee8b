//! The form without the parts that a stream does not need: masks, predicates, coordinates; and the form with whole
//! elements as values.
//!
//! In the *plain* form a lane is a processor, as everywhere. In the *packed* form a lane is one channel of a processor:
//! a vector holds four processors of one row, r, g, b, a of each. An operation that treats the four channels of a
//! register alike is one operation there, and elements are read and written in memory order. [`WHOLE`] is the channel
//! number of a texel that is a whole element.

use super::affine::{Fetch, Fetches, dependencies};
use super::uniform::{Number, Uniform};
use crate::passes::masked::sweep;
use ctm_exec::float::ONE;
use ctm_ir::masked::{Code, Fetch as Lookup, M, Op, Value, Var};
use ctm_ir::numbering::Numbering;
use ctm_isa::x1k::OUTPUTS;
use rustc_hash::FxHashMap as Map;
use std::cell::Cell;

/// In the packed form: all channels of an element, each in its lane.
pub const WHOLE: u8 = 4;

/// A program for streams.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Its form.
    pub code: Code,
    /// The fetches of each block, in the order of their operations.
    pub fetches: Vec<Vec<Fetch>>,
    /// The numbers that it names.
    pub numbers: Vec<Number>,
    /// The live output components.
    pub outputs: u32,
    /// Lanes are channels.
    pub packed: bool,
}

/// The input that an operation fetches.
pub fn input(code: &Code, op: &Op) -> Option<u8> {
    let Op::Fetch { number, .. } = *op else { return None };
    if let Lookup::Input { input, .. } = code.fetches[usize::from(number)] { Some(input) } else { None }
}

/// The operation with its operands renamed.
pub fn renamed(mut op: Op, name: impl Fn(Value) -> Value) -> Op {
    op.rename(name);
    op
}

/// The plain form. `channels`: of an input's elements; missing ones read as 0, alpha as 1. `outputs`: the live
/// components.
pub fn plain(of: &Uniform, known: &Fetches, channels: impl Fn(u8) -> u8, outputs: u32) -> Prepared {
    let mut code = of.code.clone();
    let mut fetches = vec![Vec::new(); code.blocks.len()];
    for (index, block) in of.code.blocks.iter().enumerate() {
        let mut new = Numbering::default();
        let mut place = vec![Value(0); block.ops.len()];
        let zero = new.pure(Op::Bits(0));
        for (old, op) in block.ops.iter().enumerate() {
            place[old] = match *op {
                Op::Fetch { number, under, .. } => {
                    let Some(fetch) = known.all.get(&(index, old)) else { continue };
                    fetches[index].push(*fetch);
                    new.effect(Op::Fetch { number, at: [zero; 4], under })
                }
                Op::Fetched(fetch, channel)
                    if channel >= input(&of.code, &block.ops[fetch.index()]).map_or(0, &channels) =>
                {
                    new.pure(Op::Bits(if channel == 3 { ONE } else { 0 }))
                }
                op => new.effect(renamed(op, |value| place[value.index()])),
            };
        }
        code.blocks[index].ops = new.ops;
    }
    drop_faint(&mut code, outputs);
    Prepared { code, fetches, numbers: of.numbers.clone(), outputs, packed: false }
}

/// Removes stores into dead outputs, and into variables that feed only themselves: the rest of the coordinates that
/// loops advance.
fn drop_faint(code: &mut Code, outputs: u32) {
    let is_wanted = |var: Var| var.export_index().is_some_and(|index| outputs >> index & 1 == 1);
    let (needed, _) =
        dependencies(code, |op| if let Op::Set { var, .. } = *op { is_wanted(var) } else { !op.is_pure() });
    let keeps = |op: &Op| !matches!(*op, Op::Set { var, .. } if !is_wanted(var) && !needed.contains(var));
    code.blocks.iter_mut().for_each(|block| sweep(block, keeps));
}

/// The packed form of a plain one that has been optimised; `None` when some operation treats channels differently.
pub fn packed(plain: &Prepared) -> Option<Prepared> {
    let mut code = plain.code.clone();
    for (index, block) in plain.code.blocks.iter().enumerate() {
        let mut pack = Pack {
            ops: &block.ops,
            fetches: &plain.fetches[index],
            new: Numbering::default(),
            channels: Map::default(),
            done: Map::default(),
        };
        pack.block()?;
        code.blocks[index].ops = pack.new.ops;
    }
    let mut outputs = 0;
    for target in 0..OUTPUTS {
        match plain.outputs >> (4 * target) & 0xf {
            0 => {}
            0xf => outputs |= 1 << (4 * target),
            _ => return None,
        }
    }
    Some(Prepared { code, outputs, packed: true, ..plain.clone() })
}

/// A channel of a register or a texel.
#[derive(Clone, Copy)]
struct ReadChannel {
    /// All channels.
    whole: Value,
    /// The fetch, if its elements are the same for all columns.
    uniform: Option<Value>,
    number: u8,
}

struct Pack<'a> {
    ops: &'a [Op],
    fetches: &'a [Fetch],
    new: Numbering,
    /// The channel that replaces each old read of a variable and each old texel.
    channels: Map<Value, ReadChannel>,
    done: Map<[Value; 4], Value>,
}

impl Pack<'_> {
    fn block(&mut self) -> Option<()> {
        let mut fetches = 0;
        let mut registers: Map<usize, Value> = Map::default();
        let mut place = 0;
        while place < self.ops.len() {
            let value = Value(place as u32);
            match self.ops[place] {
                Op::Fetch { number, under, .. } => {
                    let fetch = self.fetches.get(fetches)?;
                    fetches += 1;
                    let zero = self.new.pure(Op::Bits(0));
                    let new = self.new.effect(Op::Fetch { number, at: [zero; 4], under });
                    // Reads of its channels have to come after it, before the next fetch.
                    let whole = self.new.pure(Op::Fetched(new, WHOLE));
                    let uniform = fetch.is_uniform().then_some(new);
                    for (later, op) in self.ops.iter().enumerate().skip(place) {
                        if let Op::Fetched(of, channel) = *op
                            && of == value
                        {
                            self.channels.insert(Value(later as u32), ReadChannel { whole, uniform, number: channel });
                            if uniform.is_some() {
                                self.new.pure(Op::Fetched(new, channel));
                            }
                        }
                    }
                }
                Op::Get(var) => {
                    let read = || self.new.effect(Op::Get(Var((var.index() & !3) as u16)));
                    let whole = *registers.entry(var.index() / 4).or_insert_with(read);
                    let number = (var.index() % 4) as u8;
                    self.channels.insert(value, ReadChannel { whole, uniform: None, number });
                }
                Op::Set { var, .. } => {
                    let base = var.index() & !3;
                    let mut values = [Value(0); 4];
                    for (channel, to) in values.iter_mut().enumerate() {
                        let Some(Op::Set { var, value, .. }) = self.ops.get(place + channel) else { return None };
                        if var.index() != base + channel {
                            return None;
                        }
                        *to = *value;
                    }
                    let packed = self.element(values)?;
                    self.new.effect(Op::Set { var: Var(base as u16), value: packed, under: M::EXISTING });
                    registers.remove(&(base / 4));
                    place += 3;
                }
                _ => {}
            }
            place += 1;
        }
        Some(())
    }

    /// The vector whose lanes hold these channels.
    fn element(&mut self, values: [Value; 4]) -> Option<Value> {
        if let Some(&done) = self.done.get(&values) {
            return Some(done);
        }
        let same = values.iter().all(|&value| value == values[0]);
        let new = match self.channels.get(&values[0]).copied() {
            // One for all.
            Some(ReadChannel { uniform: Some(fetch), number, .. }) if same => self.new.pure(Op::Fetched(fetch, number)),
            Some(ReadChannel { whole, number, .. }) if same => self.new.pure(Op::QuadLane(whole, number)),
            // All in their places.
            Some(ReadChannel { whole, .. }) => {
                let in_place = values.iter().zip(0..4).all(|(value, number)| {
                    self.channels.get(value).is_some_and(|of| (of.whole, of.number) == (whole, number))
                });
                in_place.then_some(whole)?
            }
            None => self.operation(values.map(|value| self.ops[value.index()]))?,
        };
        self.done.insert(values, new);
        Some(new)
    }

    /// An operation that treats all channels alike.
    fn operation(&mut self, ops: [Op; 4]) -> Option<Value> {
        let first = ops[0];
        // The operands of all four, and the operation without them.
        let mut operands: Vec<[Value; 4]> = vec![[Value(0); 4]; first.reads().count()];
        for (channel, op) in ops.iter().enumerate() {
            if renamed(*op, |_| Value(0)) != renamed(first, |_| Value(0)) {
                return None;
            }
            operands.iter_mut().zip(op.reads()).for_each(|(operand, value)| operand[channel] = value);
        }
        match first {
            // The same in every lane: channels that differ would need a pattern.
            Op::Bits(_) | Op::Uniform(_) | Op::Number(_) | Op::GetRelative { .. } => {}
            Op::Abs(_)
            | Op::Neg(_)
            | Op::Holds { .. }
            | Op::Select(..)
            | Op::Alu { .. }
            | Op::Unit(..)
            | Op::Dot(..) => {}
            _ => return None,
        }
        let new: Vec<Value> = operands.into_iter().map(|operand| self.element(operand)).collect::<Option<_>>()?;
        let place = Cell::new(0);
        let op = renamed(first, |_| new[place.replace(place.get() + 1)]);
        Some(self.new.pure(op))
    }
}
