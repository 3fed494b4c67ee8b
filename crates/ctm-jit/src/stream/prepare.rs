//! The form without what a stream does not need: masks, predicates, coordinates; and the form with whole elements as values.
//!
//! In the *plain* form a lane is a processor, as everywhere. In the *packed* form a lane is one channel of a processor: a vector holds four
//! processors of one row, r, g, b, a of each. An operation that does the same to the four channels of a register is one operation
//! there, and elements are read and written as they lie in memory. [`WHOLE`] is the channel number of a texel that is a whole element.

use super::affine::{Fetch, Tree};
use super::uniform::{Number, Uniform};
use crate::ir::map::Map;
use crate::ir::masked::{Code, Fetch as Lookup, M, Op, Unit, Value, Var};
use crate::ir::numbering::Numbering;
use crate::passes::masked::{VarSet, sweep};
use ctm_exec::float::ONE;
use ctm_isa::x1k::OUTPUTS;

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
    /// Output components that somebody wants.
    pub outputs: u32,
    /// Lanes are channels.
    pub packed: bool,
}

/// The input that an operation fetches.
pub fn input(code: &Code, op: &Op) -> Option<u8> {
    let Op::Fetch(number, ..) = *op else { return None };
    if let Lookup::Input { input, .. } = code.fetches[usize::from(number)] { Some(input) } else { None }
}

/// The operation with its operands renamed.
pub fn renamed(mut op: Op, name: impl Fn(Value) -> Value) -> Op {
    op.rename(name);
    op
}

/// The plain form. `channels`: of an input's elements; what they lack reads as 0, alpha as 1. `outputs`: components that somebody wants.
pub fn plain(of: &Uniform, tree: &Tree, channels: impl Fn(u8) -> u8, outputs: u32) -> Prepared {
    let mut code = of.code.clone();
    let mut fetches = vec![Vec::new(); code.blocks.len()];
    for (index, block) in of.code.blocks.iter().enumerate() {
        let mut new = Numbering::default();
        let mut place = vec![Value(0); block.ops.len()];
        let zero = new.pure(Op::Bits(0));
        for (old, op) in block.ops.iter().enumerate() {
            place[old] = match *op {
                Op::Fetch(number, _, under) => {
                    let Some(fetch) = tree.fetches.get(&(index, old)) else { continue };
                    fetches[index].push(*fetch);
                    new.effect(Op::Fetch(number, [zero; 4], under))
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

/// Removes stores into outputs that nobody wants, and into variables that feed nothing but themselves: what is left of coordinates that loops move on.
fn drop_faint(code: &mut Code, outputs: u32) {
    let mut needed = VarSet::NONE;
    let wanted = |op: &Op, needed: &VarSet| match *op {
        Op::Set(var, ..) => match var.export_index() {
            Some(index) => outputs >> index & 1 == 1,
            None => needed.contains(var),
        },
        _ => true,
    };
    let mut changed = true;
    while changed {
        changed = false;
        for block in &code.blocks {
            let mut live = vec![false; block.ops.len()];
            for (place, op) in block.ops.iter().enumerate().rev() {
                live[place] |= !op.is_pure() && wanted(op, &needed);
                if live[place] {
                    op.reads().for_each(|value| live[value.index()] = true);
                    if let Op::Get(var) = *op
                        && !needed.contains(var)
                    {
                        needed.insert(var);
                        changed = true;
                    }
                }
            }
        }
    }
    code.blocks.iter_mut().for_each(|block| sweep(block, |op| wanted(op, &needed)));
}

/// The packed form of a plain one that has been optimised; `None` when some operation treats channels differently.
pub fn packed(plain: &Prepared) -> Option<Prepared> {
    let mut code = plain.code.clone();
    for (index, block) in plain.code.blocks.iter().enumerate() {
        let mut pack = Pack {
            ops: &block.ops,
            fetches: &plain.fetches[index],
            new: Numbering::default(),
            elements: Map::default(),
            done: Map::default(),
            texels: Map::default(),
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

struct Pack<'a> {
    ops: &'a [Op],
    fetches: &'a [Fetch],
    new: Numbering,
    /// Old reads of variables: the new read of the whole register, and the channel.
    elements: Map<Value, (Value, u8)>,
    /// Old texels: the new fetch, whether its elements are the same for all columns, and the channel.
    texels: Map<Value, (Value, bool, u8)>,
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
                Op::Fetch(number, _, under) => {
                    let fetch = self.fetches.get(fetches)?;
                    fetches += 1;
                    let zero = self.new.pure(Op::Bits(0));
                    let new = self.new.effect(Op::Fetch(number, [zero; 4], under));
                    let uniform = fetch.x.i == 0 && fetch.y.i == 0;
                    // What is read of it has to stand behind it, before the next fetch.
                    for (later, op) in self.ops.iter().enumerate().skip(place) {
                        if let Op::Fetched(of, channel) = *op
                            && of == value
                        {
                            self.texels.insert(Value(later as u32), (new, uniform, channel));
                            if uniform {
                                self.new.pure(Op::Fetched(new, channel));
                            }
                        }
                    }
                    self.new.pure(Op::Fetched(new, WHOLE));
                }
                Op::Get(var) => {
                    let new = match registers.get(&(var.index() / 4)) {
                        Some(&new) => new,
                        None => {
                            let new = self.new.effect(Op::Get(Var((var.index() & !3) as u16)));
                            registers.insert(var.index() / 4, new);
                            new
                        }
                    };
                    self.elements.insert(value, (new, (var.index() % 4) as u8));
                }
                Op::Set(var, ..) => {
                    let base = var.index() & !3;
                    let mut values = [Value(0); 4];
                    for (channel, to) in values.iter_mut().enumerate() {
                        let Some(Op::Set(var, value, _)) = self.ops.get(place + channel) else { return None };
                        if var.index() != base + channel {
                            return None;
                        }
                        *to = *value;
                    }
                    let packed = self.element(values)?;
                    self.new.effect(Op::Set(Var(base as u16), packed, M::EXISTING));
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
        let ops = values.map(|value| self.ops[value.index()]);
        let same = values.iter().all(|&value| value == values[0]);
        let new = if let Some(&(new, channel)) = self.elements.get(&values[0]) {
            self.channels(&values, new, channel, same, |pack, value| pack.elements.get(&value).copied())?
        } else if let Some(&(fetch, uniform, channel)) = self.texels.get(&values[0]) {
            let whole = self.new.pure(Op::Fetched(fetch, WHOLE));
            if same && uniform {
                self.new.pure(Op::Fetched(fetch, channel))
            } else {
                let of = |pack: &Self, value| {
                    let (other, _, channel) = pack.texels.get(&value).copied()?;
                    (other == fetch).then_some((whole, channel))
                };
                self.channels(&values, whole, channel, same, of)?
            }
        } else {
            self.operation(ops, same)?
        };
        self.done.insert(values, new);
        Some(new)
    }

    /// Channels of a register or a texel: all in their places, or one for all.
    fn channels(
        &mut self,
        values: &[Value; 4],
        whole: Value,
        channel: u8,
        same: bool,
        of: impl Fn(&Self, Value) -> Option<(Value, u8)>,
    ) -> Option<Value> {
        if same {
            return Some(self.new.pure(Op::QuadLane(whole, channel)));
        }
        let in_place = values.iter().zip(0..4).all(|(&value, channel)| of(self, value) == Some((whole, channel)));
        in_place.then_some(whole)
    }

    /// An operation that does the same to all channels.
    fn operation(&mut self, ops: [Op; 4], same: bool) -> Option<Value> {
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
            Op::Bits(_) | Op::Uniform(_) | Op::Number(_) | Op::GetRelative(..) => {}
            Op::Unit(Unit::Reference { .. }, _) => return None,
            Op::Abs(_) | Op::Neg(_) | Op::Holds(..) | Op::Select(..) | Op::Alu(..) | Op::Unit(..) => {}
            _ => return None,
        }
        debug_assert!(same || !operands.is_empty() || ops.iter().all(|op| *op == first));
        let mut new = Vec::with_capacity(operands.len());
        for operand in operands {
            new.push(self.element(operand)?);
        }
        let mut next = new.iter();
        let cell = std::cell::RefCell::new(&mut next);
        let op = renamed(first, |_| cell.borrow_mut().next().copied().unwrap_or(Value(0)));
        Some(self.new.pure(op))
    }
}
