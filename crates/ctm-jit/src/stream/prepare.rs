//! The form without what a stream does not need: masks, predicates, coordinates; and the form with whole elements as values.
//!
//! In the *plain* form a lane is a processor, as everywhere. In the *packed* form a lane is one channel of a processor: a vector holds four
//! processors of one row, r, g, b, a of each. An operation that does the same to the four channels of a register is one operation
//! there, and elements are read and written as they lie in memory. [`WHOLE`] is the channel number of a texel that is a whole element.

use super::affine::{Fetch, Tree};
use crate::ir::map::Map;
use crate::ir::x1k::{Code, Op, Under, Value, Var};
use crate::passes::x1k::{VarSet, renamed};
use ctm_exec::float::ONE;

/// In the packed form: all channels of an element, each in its lane.
pub const WHOLE: u8 = 4;

/// Every lane, without a mask.
const ALL: Under = Under { predicate: None, inactive: true, covered: false };

/// A program for streams.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Its form.
    pub code: Code,
    /// The fetches of each block, in the order of their operations.
    pub fetches: Vec<Vec<Fetch>>,
    /// Lanes are channels.
    pub packed: bool,
}

/// New operations of a block, and where old values went.
struct Rebuilt {
    ops: Vec<Op>,
    made: Map<Op, Value>,
}

impl Rebuilt {
    fn effect(&mut self, op: Op) -> Value {
        self.ops.push(op);
        Value((self.ops.len() - 1) as u32)
    }

    fn pure(&mut self, op: Op) -> Value {
        if let Some(&value) = self.made.get(&op) {
            return value;
        }
        let value = self.effect(op);
        self.made.insert(op, value);
        value
    }
}

/// The plain form. `channels`: of an input's elements; what they lack reads as 0, alpha as 1.
pub fn plain(code: &Code, tree: &Tree, channels: impl Fn(u8) -> u8) -> Prepared {
    let mut prepared = Prepared { code: code.clone(), fetches: vec![Vec::new(); code.blocks.len()], packed: false };
    for (index, block) in code.blocks.iter().enumerate() {
        let mut new = Rebuilt { ops: Vec::with_capacity(block.ops.len()), made: Map::default() };
        let mut place = vec![Value(0); block.ops.len()];
        let zero = new.pure(Op::Bits(0));
        for (old, op) in block.ops.iter().enumerate() {
            place[old] = match *op {
                Op::SetPredicate(..) | Op::SetResult(..) | Op::Guard { .. } => zero,
                Op::Set(var, value, _) => new.effect(Op::Set(var, place[value.index()], ALL)),
                Op::Fetch { input, unscaled, uncached, .. } => {
                    let Some(fetch) = tree.fetches.get(&(index, old)) else { continue };
                    prepared.fetches[index].push(*fetch);
                    new.effect(Op::Fetch { input, s: zero, t: zero, unscaled, uncached, under: ALL })
                }
                Op::Texel(fetch, channel) => {
                    let Op::Fetch { input, .. } = block.op_at(fetch) else { continue };
                    if channel < channels(input) {
                        new.effect(Op::Texel(place[fetch.index()], channel))
                    } else {
                        new.pure(Op::Bits(if channel == 3 { ONE } else { 0 }))
                    }
                }
                op => new.effect(renamed(op, |value| place[value.index()])),
            };
        }
        prepared.code.blocks[index].ops = new.ops;
    }
    prepared
}

/// Removes stores into variables that feed nothing but themselves: what is left of coordinates that loops move on.
pub fn drop_faint(code: &mut Code) {
    let mut needed = VarSet::default();
    let mut wanted = vec![Vec::new(); code.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (block, wanted) in code.blocks.iter().zip(&mut wanted) {
            let mut live = vec![false; block.ops.len()];
            for (place, op) in block.ops.iter().enumerate().rev() {
                live[place] |= match *op {
                    Op::Set(var, ..) => match var.output_index() {
                        Some(index) => code.outputs >> index & 1 == 1,
                        None => needed.contains(var),
                    },
                    _ => !op.is_pure(),
                };
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
            *wanted = live;
        }
    }
    for (block, wanted) in code.blocks.iter_mut().zip(wanted) {
        let mut place = vec![Value(0); wanted.len()];
        let mut kept = Vec::with_capacity(wanted.len());
        for (old, op) in std::mem::take(&mut block.ops).into_iter().enumerate() {
            if wanted[old] {
                kept.push(renamed(op, |value| place[value.index()]));
                place[old] = Value((kept.len() - 1) as u32);
            }
        }
        block.ops = kept;
    }
}

/// The packed form of a plain one that has been optimised; `None` when some operation treats channels differently.
pub fn packed(plain: &Prepared) -> Option<Prepared> {
    let mut code = plain.code.clone();
    for (index, block) in plain.code.blocks.iter().enumerate() {
        let mut pack = Pack {
            ops: &block.ops,
            fetches: &plain.fetches[index],
            new: Rebuilt { ops: Vec::new(), made: Map::default() },
            elements: Map::default(),
            done: Map::default(),
            texels: Map::default(),
        };
        pack.block()?;
        code.blocks[index].ops = pack.new.ops;
    }
    let mut outputs = 0;
    for target in 0..ctm_isa::x1k::OUTPUTS {
        match code.outputs >> (4 * target) & 0xf {
            0 => {}
            0xf => outputs |= 1 << (4 * target),
            _ => return None,
        }
    }
    if code.outputs >> (4 * ctm_isa::x1k::OUTPUTS) != 0 {
        return None;
    }
    code.outputs = outputs;
    Some(Prepared { code, fetches: plain.fetches.clone(), packed: true })
}

struct Pack<'a> {
    ops: &'a [Op],
    fetches: &'a [Fetch],
    new: Rebuilt,
    /// Old reads of variables: the new read of the whole register, and the channel.
    elements: Map<Value, (Value, u8)>,
    /// Old texels: the new fetch, whether its elements are the same for all columns, and the channel.
    texels: Map<Value, (Value, bool, u8)>,
    done: Map<[Value; 4], Value>,
}

impl Pack<'_> {
    fn block(&mut self) -> Option<()> {
        let mut fetches = 0;
        let mut fetched: Map<Value, (Value, bool)> = Map::default();
        let mut registers: Map<usize, Value> = Map::default();
        let mut place = 0;
        while place < self.ops.len() {
            let value = Value(place as u32);
            match self.ops[place] {
                Op::Fetch { .. } => {
                    let fetch = self.fetches.get(fetches)?;
                    fetches += 1;
                    let zero = self.new.pure(Op::Bits(0));
                    let mut op = self.ops[place];
                    if let Op::Fetch { s, t, .. } = &mut op {
                        (*s, *t) = (zero, zero);
                    }
                    let new = self.new.effect(op);
                    let uniform = fetch.x.i == 0 && fetch.y.i == 0;
                    fetched.insert(value, (new, uniform));
                    // What is read of it has to stand behind it, before the next fetch.
                    for (later, op) in self.ops.iter().enumerate().skip(place) {
                        if let Op::Texel(of, channel) = *op
                            && of == value
                        {
                            self.texels.insert(Value(later as u32), (new, uniform, channel));
                            if uniform {
                                self.new.pure(Op::Texel(new, channel));
                            }
                        }
                    }
                    self.new.pure(Op::Texel(new, WHOLE));
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
                    self.new.effect(Op::Set(Var(base as u16), packed, ALL));
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
            let whole = self.new.pure(Op::Texel(fetch, WHOLE));
            if same && uniform {
                self.new.pure(Op::Texel(fetch, channel))
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
            Op::Bits(_) | Op::Const(_) | Op::GetRelative { .. } => {}
            Op::Sign(..)
            | Op::Mad { .. }
            | Op::Pick { .. }
            | Op::Scale(..)
            | Op::Clamp(_)
            | Op::Fraction(..)
            | Op::Scalar(..)
            | Op::R700(..) => {}
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
