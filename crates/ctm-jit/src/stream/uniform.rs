//! R700 programs whose every thread does the same, in the X1K's form: what streams are made of.
//!
//! The program is run once with masks that stand for every wavefront: two bits, one for the valid lanes and one for lanes that exist and are
//! not valid. Where nothing depends on data, that shows which blocks are passed, how often, and which of them repeat (`parse`). Their
//! operations then become blocks and counted loops of the other form; arithmetic stays R700's own ([`form::Op::R700`]).

use crate::ir::map::Map;
use crate::ir::r700::{Block, Code, End, Fetch, M, MaskOp, Op, Target, Value as Old, Var as OldVar};
use crate::ir::x1k as form;
use crate::ir::x1k::{BlockId, Flow, Frames, Levels, Tally, Test, Under, Value, Var};
use crate::launch::r700::bindings::is_plain_sample;
use crate::stream::affine::{Item, LOOPS};
use ctm_isa::r700::GPRS;
use ctm_isa::r700::inst::texel_offset;
use ctm_isa::r700::ops::{AluOp, Decides, Domain, Omod, Op2, Op3, Test as Compare};
use ctm_isa::x1k::ops::{FcOp, Imod};
use ctm_isa::x1k::{INPUTS, OUTPUTS, TEMPORARIES};
use std::collections::BTreeMap;

/// The most blocks that one thread may pass.
const PASSES: usize = 1 << 18;

/// All lanes that are valid.
const VALID: i64 = 1;
/// All lanes of a wavefront.
const ALL: i64 = 3;

/// No mask.
const EVERYWHERE: Under = Under { predicate: None, inactive: true, covered: false };

/// A program whose every thread does the same.
pub struct Uniform {
    /// Its form.
    pub code: form::Code,
    /// Its loops.
    pub parts: Vec<Item>,
    /// How often a wavefront passes each block of the R700 form.
    pub visits: Vec<u64>,
    /// Instructions that a wavefront issues.
    pub instructions: u64,
    /// Of these, the ones that its valid lanes execute.
    pub active: u64,
    /// How often each fetch runs.
    pub fetches: Vec<u64>,
    /// Texture resource and sampler of each input of the form.
    pub textures: Vec<(u8, u8)>,
    /// The export target (its place in `Target::all`) of each output of the form.
    pub targets: Vec<usize>,
}

impl Uniform {
    /// `None` when something depends on data, or an operation does not exist for whoever makes the stream's code.
    pub fn of(code: &Code, exists: fn(AluOp) -> bool) -> Option<Self> {
        let mut run = Run::default();
        run.go(code)?;
        let idle =
            |id: u16| code.blocks[usize::from(id)].ops.iter().all(|op| matches!(op, Op::Mask(_) | Op::Tally(..)));
        let nodes = parse(&run.passed, &idle)?;
        let mut build = Build::new(code, exists);
        let mut parts = build.nodes(&nodes, 0)?;
        parts.push(Item::Block(build.close(0, form::End::Stop)));
        let mut visits = vec![0; code.blocks.len()];
        let mut fetches = vec![0; code.fetches.len()];
        let mut instructions = 0;
        for &id in &run.passed {
            let block = &code.blocks[usize::from(id)];
            visits[usize::from(id)] += 1;
            instructions += u64::from(block.tally.instructions());
            for op in &block.ops {
                if let Op::Fetch(number, ..) = op {
                    fetches[usize::from(*number)] += 1;
                }
            }
        }
        let inputs = ((1u32 << build.textures.len()) - 1) as u16;
        let code = form::Code {
            writes: false,
            blocks: build.blocks,
            watches_idle_lanes: false,
            relative_temps: false,
            inputs,
            faultless: true,
            outputs: build.written,
        };
        let (textures, targets) = (build.textures, build.targets);
        Some(Self { code, parts, visits, instructions, active: run.active, fetches, textures, targets })
    }
}

/// The program on masks that stand for all wavefronts.
#[derive(Default)]
struct Run {
    passed: Vec<u16>,
    active: u64,
    /// Masks, as two bits, and numbers.
    state: Vec<i64>,
}

impl Run {
    fn go(&mut self, code: &Code) -> Option<()> {
        self.state = vec![0; M::COUNT];
        self.state[M::EXISTING.index()] = ALL;
        self.state[M::VALID.index()] = VALID;
        self.state[M::ACTIVE.index()] = VALID;
        let mut at = 0;
        loop {
            if self.passed.len() >= PASSES {
                return None;
            }
            self.passed.push(at);
            let block = &code.blocks[usize::from(at)];
            self.block(block)?;
            let target = match block.end {
                End::Stop => return Some(()),
                End::Next(target) => target,
                End::Branch { mask, none, some } => match self.of(mask) {
                    0 => none,
                    // Each wavefront has a valid lane.
                    lanes if lanes & VALID != 0 => some,
                    _ => return None,
                },
            };
            let Target::Block(id) = target else { return None };
            at = id;
        }
    }

    fn of(&self, m: M) -> i64 {
        self.state[m.index()]
    }

    fn block(&mut self, block: &Block) -> Option<()> {
        for op in &block.ops {
            match *op {
                Op::Mask(op) => {
                    let result = self.mask(op)?;
                    self.state[op.writes().index()] = result;
                }
                Op::Tally(_, weight, _) => match self.of(M::ACTIVE) {
                    0 => {}
                    VALID => self.active += u64::from(weight),
                    _ => return None,
                },
                Op::Fetch(_, _, under) if self.of(under) != VALID => return None,
                Op::Set(_, _, under) | Op::Mark(_, under) if self.of(under) & VALID == 0 => return None,
                _ => {}
            }
        }
        Some(())
    }

    fn mask(&self, op: MaskOp) -> Option<i64> {
        Some(match op {
            MaskOp::Copy(_, a) => self.of(a),
            MaskOp::And(_, a, b) => self.of(a) & self.of(b),
            MaskOp::AndNot(_, a, b) => self.of(a) & !self.of(b),
            MaskOp::Or(_, a, b) => self.of(a) | self.of(b),
            MaskOp::Xor(_, a, b) => self.of(a) ^ self.of(b),
            MaskOp::Quads(_, a) => match self.of(a) {
                0 => 0,
                // Each quad has a valid lane.
                lanes if lanes & VALID != 0 => ALL,
                _ => return None,
            },
            MaskOp::Lanes(..) => return None,
            MaskOp::Number(_, number) => number.into(),
            MaskOp::Add(d, number, thirteen_bits) => {
                let sum = self.of(d).wrapping_add(number.into());
                if thirteen_bits { sum << 51 >> 51 } else { sum }
            }
            MaskOp::IfNot0(_, a, b) => {
                if self.of(b) == 0 {
                    0
                } else {
                    self.of(a)
                }
            }
        })
    }
}

/// Blocks that are passed.
enum Node {
    /// One.
    Block(u16),
    /// Some, again and again.
    Loop { iterations: u16, body: Vec<Node> },
}

/// Finds what repeats. The last iteration of a loop lacks the way back, which does nothing (`idle`).
fn parse(passed: &[u16], idle: &impl Fn(u16) -> bool) -> Option<Vec<Node>> {
    let mut nodes = Vec::new();
    let mut counts: Map<u16, u32> = Map::default();
    passed.iter().for_each(|&id| *counts.entry(id).or_default() += 1);
    let mut at = 0;
    while at < passed.len() {
        let head = passed[at];
        if counts[&head] == 1 {
            nodes.push(Node::Block(head));
            at += 1;
            continue;
        }
        let iterations: Vec<usize> = (at..passed.len()).filter(|&place| passed[place] == head).collect();
        let (&second, &last) = (iterations.get(1)?, iterations.last()?);
        let body = &passed[at..second];
        if iterations.windows(2).any(|pair| &passed[pair[0]..pair[1]] != body) {
            return None;
        }
        let same = body.iter().zip(&passed[last..]).take_while(|(a, b)| a == b).count();
        if !body[same..].iter().all(|&id| idle(id)) {
            return None;
        }
        nodes.push(Node::Loop { iterations: iterations.len().try_into().ok()?, body: parse(&body[..same], idle)? });
        at = last + same;
    }
    Some(nodes)
}

/// Blocks of the other form under construction.
struct Build<'a> {
    of: &'a Code,
    /// Whether an operation may be made.
    exists: fn(AluOp) -> bool,
    blocks: Vec<form::Block>,
    ops: Vec<form::Op>,
    made: Map<form::Op, Value>,
    /// What variables hold here, and whether it still has to be stored.
    current: BTreeMap<usize, (Value, bool)>,
    textures: Vec<(u8, u8)>,
    targets: Vec<usize>,
    /// Output components that are written.
    written: u32,
}

impl<'a> Build<'a> {
    fn new(of: &'a Code, exists: fn(AluOp) -> bool) -> Self {
        Self {
            of,
            exists,
            blocks: Vec::new(),
            ops: Vec::new(),
            made: Map::default(),
            current: BTreeMap::new(),
            textures: Vec::new(),
            targets: Vec::new(),
            written: 0,
        }
    }

    fn nodes(&mut self, nodes: &[Node], depth: u8) -> Option<Vec<Item>> {
        let mut items = Vec::new();
        for node in nodes {
            match node {
                Node::Block(id) => self.block(&self.of.blocks[usize::from(*id)])?,
                Node::Loop { iterations, body } => {
                    if usize::from(depth) == LOOPS {
                        return None;
                    }
                    let begin = self.blocks.len() + 1;
                    let into = flow(FcOp::Rep, depth, begin, form::Target::Never);
                    items.push(Item::Block(self.close(depth, into)));
                    let mut body = self.nodes(body, depth + 1)?;
                    let back = form::Target::Block(BlockId(begin as u16));
                    let end = flow(FcOp::EndRep, depth, self.blocks.len() + 1, back);
                    body.push(Item::Block(self.close(depth + 1, end)));
                    items.push(Item::Loop { iterations: *iterations, variable: None, body });
                }
            }
        }
        Some(items)
    }

    /// Ends the block: stores what has not been stored.
    fn close(&mut self, depth: u8, end: form::End) -> usize {
        for (var, (value, changed)) in std::mem::take(&mut self.current) {
            if changed {
                self.ops.push(form::Op::Set(Var(var as u16), value, EVERYWHERE));
            }
        }
        self.made.clear();
        self.blocks.push(form::Block {
            pc: 0,
            depth: 0,
            frames: Frames { frames: vec![(false, 0); depth.into()] },
            ops: std::mem::take(&mut self.ops),
            tally: Tally::default(),
            end,
        });
        self.blocks.len() - 1
    }

    fn effect(&mut self, op: form::Op) -> Value {
        self.ops.push(op);
        Value(self.ops.len() as u32 - 1)
    }

    fn pure(&mut self, op: form::Op) -> Value {
        if let Some(&value) = self.made.get(&op) {
            return value;
        }
        let value = self.effect(op);
        self.made.insert(op, value);
        value
    }

    fn alu(&mut self, op: AluOp, operands: [Value; 3], omod: Omod, clamp: bool) -> Option<Value> {
        (self.exists)(op).then(|| self.pure(form::Op::R700(op, operands, omod, clamp)))
    }

    /// The variable of the other form.
    fn var(&mut self, var: OldVar) -> Option<Var> {
        const { assert!(GPRS == TEMPORARIES) };
        let Some(export) = var.export_index() else { return Some(Var(var.0)) };
        let target = export / 4;
        let slot = self.targets.iter().position(|&t| t == target).unwrap_or_else(|| {
            self.targets.push(target);
            self.targets.len() - 1
        });
        (slot < OUTPUTS).then(|| Var::output(slot, export % 4))
    }

    fn block(&mut self, block: &Block) -> Option<()> {
        let mut values: Vec<Value> = Vec::with_capacity(block.ops.len());
        for op in &block.ops {
            let value = self.op(op, &values, block)?;
            values.push(value);
        }
        Some(())
    }

    fn op(&mut self, op: &Op, values: &[Value], block: &Block) -> Option<Value> {
        let of = |value: Old| values[value.index()];
        Some(match *op {
            Op::Bits(bits) => self.pure(form::Op::Bits(bits)),
            Op::Get(var) => {
                let var = self.var(var)?;
                match self.current.get(&var.index()) {
                    Some(&(value, _)) => value,
                    None => {
                        let value = self.effect(form::Op::Get(var));
                        self.current.insert(var.index(), (value, false));
                        value
                    }
                }
            }
            Op::Uniform(index) => self.pure(form::Op::Const(index)),
            Op::Abs(a) => self.pure(form::Op::Sign(Imod::Abs, of(a))),
            Op::Neg(a) => self.pure(form::Op::Sign(Imod::Neg, of(a))),
            Op::Alu(op, abc, omod, clamp) => {
                let count = usize::from(op.info().operands).min(3);
                let operands = if count == 0 {
                    // It names nothing, which may be the first of its block.
                    [self.pure(form::Op::Bits(0)); 3]
                } else {
                    std::array::from_fn(|n| of(abc[if n < count { n } else { 0 }]))
                };
                self.alu(op, operands, omod, clamp)?
            }
            Op::Holds(op, [a, b], wanted) => {
                let (a, b) = (of(a), of(b));
                let holds = self.alu(AluOp::Op2(op.truth()?), [a, b, a], Omod::Off, false)?;
                if wanted { holds } else { self.alu(AluOp::Op2(Op2::NotInt), [holds; 3], Omod::Off, false)? }
            }
            Op::Select(c, a, b) if let Some((test, [x, y], wanted)) = float_test(&block.ops[c.index()]) => {
                let (a, b) = if wanted { (of(a), of(b)) } else { (of(b), of(a)) };
                self.pure(form::Op::Pick { test, x: of(x), y: of(y), a, b })
            }
            // Where the condition is 0, the second.
            Op::Select(c, a, b) => self.alu(AluOp::Op3(Op3::CndeInt), [of(c), of(b), of(a)], Omod::Off, false)?,
            Op::Fetch(number, at, _) => self.fetch(number, [of(at[0]), of(at[1])])?,
            Op::Fetched(fetch, element) => self.pure(form::Op::Texel(of(fetch), element & 3)),
            Op::Set(var, value, _) => {
                let var = self.var(var)?;
                self.current.insert(var.index(), (of(value), true));
                Value(0)
            }
            Op::Mark(var, _) => {
                self.written |= 1 << self.var(var)?.output_index()?;
                Value(0)
            }
            Op::Mask(_) | Op::Tally(..) => Value(0),
            Op::Number(_)
            | Op::Lane
            | Op::Cube(..)
            | Op::Wide(..)
            | Op::GetRelative(..)
            | Op::SetRelative(..)
            | Op::Store(..)
            | Op::Unit(..)
            | Op::QuadLane(..)
            | Op::Guard(..)
            | Op::Yield(_) => {
                return None;
            }
        })
    }

    /// A lookup of level 0 by texels.
    fn fetch(&mut self, number: u16, at: [Value; 2]) -> Option<Value> {
        let Fetch::Texture(inst) = &self.of.fetches[usize::from(number)] else { return None };
        if inst.word0.alt_const {
            return None;
        }
        let in_texels = !inst.word1.coord_type_x && !inst.word1.coord_type_y;
        if !is_plain_sample(inst.word0.op) || inst.word0.bc_frac_mode || !in_texels {
            return None;
        }
        let texture = (inst.word0.resource_id, inst.word2.sampler_id);
        let offsets = [inst.word2.offset_x, inst.word2.offset_y].map(texel_offset);
        let input = self.textures.iter().position(|&t| t == texture).unwrap_or_else(|| {
            self.textures.push(texture);
            self.textures.len() - 1
        });
        if input >= INPUTS {
            return None;
        }
        let mut moved = at;
        for (coordinate, offset) in moved.iter_mut().zip(offsets) {
            if offset != 0.0 {
                let offset = self.pure(form::Op::Bits(offset.to_bits()));
                let operands = [*coordinate, offset, offset];
                *coordinate = self.alu(AluOp::Op2(Op2::Add), operands, Omod::Off, false)?;
            }
        }
        let [s, t] = moved;
        let (unscaled, uncached) = (true, false);
        Some(self.effect(form::Op::Fetch { input: input as u8, s, t, unscaled, uncached, under: EVERYWHERE }))
    }
}

/// What compares two floats: how, what, and whether it has to hold.
const fn float_test(op: &Op) -> Option<(Test, [Old; 2], bool)> {
    let Op::Holds(op, ab, wanted) = *op else { return None };
    let info = op.info();
    match (info.reads, info.decides) {
        (Domain::Float, Decides::Compare(test)) => match test {
            Compare::Equal => Some((Test::Equal, ab, wanted)),
            Compare::NotEqual => Some((Test::Equal, ab, !wanted)),
            Compare::Greater => Some((Test::Greater, ab, wanted)),
            Compare::GreaterEqual => Some((Test::GreaterEqual, ab, wanted)),
            Compare::Less => Some((Test::Less, ab, wanted)),
            Compare::LessEqual => None,
        },
        _ => None,
    }
}

/// A counted loop's beginning or end: stays on the block with this number.
const fn flow(op: FcOp, frame: u8, stay: usize, jump: form::Target) -> form::End {
    form::End::Flow(Flow {
        op,
        wants: if matches!(op, FcOp::EndRep) { 15 } else { 0 },
        predicate: None,
        ignore_uncovered: false,
        jump_any: false,
        exchange: false,
        int: 0,
        count: 0,
        frame,
        depth: 0,
        stay_levels: Levels::Keep,
        jump_levels: Levels::Keep,
        stay: form::Target::Block(BlockId(stay as u16)),
        jump,
    })
}
