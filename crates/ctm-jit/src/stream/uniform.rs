//! Uniform programs, as straight blocks and counted loops: the input of streams.
//!
//! The program is run once in the abstract, with two bits for each mask: one for the valid lanes of any group or
//! wavefront, one for existing lanes that are not valid. Where nothing depends on data, the run gives the sequence of
//! blocks, which `parse` turns into loops. Their operations then become blocks without masks; lookups become inputs by
//! number, and a loop's variable is a [`Number`].

use crate::launch::wavefronts::bindings::is_plain_sample;
use crate::stream::affine::{Item, LOOPS};
use ctm_ir::masked::{Block, Code, Counter, End, Fetch, JumpTarget, M, MaskOp, Op, RegisterFile, Tally, Value, Var};
use ctm_ir::numbering::Numbering;
use ctm_isa::r700::inst::{TexFetch, texel_offset};
use ctm_isa::r700::ops::{AluOp, Omod, Op2};
use ctm_isa::x1k::{INPUTS, OUTPUTS};
use rustc_hash::FxHashMap as Map;
use std::collections::BTreeMap;

/// The most blocks that one processor may execute.
const PASSES: usize = 1 << 18;

/// All lanes that are valid.
const VALID: i64 = 1;
/// All lanes of a wavefront.
const ALL: i64 = 3;

/// The value of [`Op::Number`] in streams, by place: `first + step * (iteration of the loop at this depth)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number {
    /// The depth of the loop.
    pub depth: u8,
    /// In its first iteration.
    pub first: i32,
    /// The increment of each iteration.
    pub step: i32,
}

/// A uniform program: every processor executes the same blocks.
pub struct Uniform {
    /// Its blocks: without masks, lookups are [`Fetch::Input`]s, outputs are export targets in the order of [`Self::targets`].
    pub code: Code,
    /// Its loops.
    pub parts: Vec<Item>,
    /// The numbers that its blocks name.
    pub numbers: Vec<Number>,
    /// The executions of each block of the program by a wavefront.
    pub visits: Vec<u64>,
    /// Instructions that a wavefront issues.
    pub instructions: u64,
    /// Of these, the ones that its valid lanes execute, where the program counts them.
    pub active: u64,
    /// Of these, the ones at which some valid lane runs, for programs that maintain the active lanes; `None` when that
    /// depends on data.
    pub executed: Option<u64>,
    /// The executions of each fetch.
    pub fetches: Vec<u64>,
    /// R700: texture resource and sampler of each input.
    pub textures: Vec<(u8, u8)>,
    /// The export target (its place in `Target::all`) of each output.
    pub targets: Vec<usize>,
    /// Output components (`4 * output + channel`) that are written.
    pub outputs: u32,
}

impl Uniform {
    /// `None` when something depends on data, or the stream's compiler lacks an operation (`exists`). `targets`: of
    /// outputs whose number is known.
    pub fn of(code: &Code, exists: fn(&Op) -> bool, targets: Vec<usize>) -> Option<Self> {
        let mut run = AbstractRun::default();
        run.go(code)?;
        let idle =
            |id: u16| code.blocks[usize::from(id)].ops.iter().all(|op| matches!(op, Op::Mask(_) | Op::Tally { .. }));
        let nodes = parse(&run.passed, &idle)?;
        let mut build = Build {
            of: code,
            run: &run,
            exists,
            blocks: Vec::new(),
            fetches: Vec::new(),
            new: Numbering::default(),
            current: BTreeMap::new(),
            around: Vec::new(),
            built: vec![0; code.blocks.len()],
            numbers: Vec::new(),
            textures: Vec::new(),
            targets,
            outputs: 0,
        };
        let mut parts = build.nodes(&nodes)?;
        parts.push(Item::Block(build.close(End::Stop)));
        let mut visits = vec![0; code.blocks.len()];
        let mut fetches = vec![0; code.fetches.len()];
        let mut instructions = 0;
        for &id in &run.passed {
            let block = &code.blocks[usize::from(id)];
            visits[usize::from(id)] += 1;
            instructions += u64::from(block.tally.instructions());
            for op in &block.ops {
                if let Op::Fetch { number, .. } = op {
                    fetches[usize::from(*number)] += 1;
                }
            }
        }
        let Build { blocks, fetches: inputs, numbers, textures, targets, outputs, .. } = build;
        let code = Code {
            blocks,
            fetches: inputs,
            stores: Vec::new(),
            yields: Vec::new(),
            locked: code.locked.clone(),
            computed: code.computed.clone(),
            watches_idle_lanes: false,
            keeps_idle_lanes: false,
        };
        let (active, executed) = (run.active, run.executed);
        Some(Self { code, parts, numbers, visits, instructions, active, executed, fetches, textures, targets, outputs })
    }
}

/// The abstract run of the program.
#[derive(Default)]
struct AbstractRun {
    passed: Vec<u16>,
    active: u64,
    executed: Option<u64>,
    /// Masks, as two bits, and numbers, as far as they do not depend on data.
    state: Vec<Option<i64>>,
    /// The values of each [`Op::Number`], by block and place, one for each execution.
    numbers: Map<(u16, usize), Vec<Option<i64>>>,
}

impl AbstractRun {
    fn go(&mut self, code: &Code) -> Option<()> {
        self.state = vec![Some(0); M::COUNT];
        self.state[M::EXISTING.index()] = Some(ALL);
        self.state[M::VALID.index()] = Some(VALID);
        self.state[M::ACTIVE.index()] = Some(VALID);
        self.state[M::FIRST.index()] = None;
        self.executed = Some(0);
        let mut at = 0;
        loop {
            if self.passed.len() >= PASSES {
                return None;
            }
            self.passed.push(at);
            let block = &code.blocks[usize::from(at)];
            let runs = self.of(M::ACTIVE).map(|lanes| u64::from(lanes & VALID != 0));
            let issued = u64::from(block.tally.instructions());
            self.executed = self.executed.zip(runs).map(|(executed, runs)| executed + runs * issued);
            self.block(at, block, &code.fetches)?;
            let target = match block.end {
                // All valid lanes have to be valid at the end.
                End::Stop => return (self.of(M::VALID) == Some(VALID)).then_some(()),
                End::Next(target) => target,
                End::Branch { mask, none, some } => match self.of(mask)? {
                    0 => none,
                    // Each wavefront has a valid lane.
                    lanes if lanes & VALID != 0 => some,
                    _ => return None,
                },
            };
            let JumpTarget::Block(id) = target else { return None };
            at = id;
        }
    }

    fn of(&self, m: M) -> Option<i64> {
        self.state[m.index()]
    }

    fn block(&mut self, id: u16, block: &Block, fetches: &[Fetch]) -> Option<()> {
        for (place, op) in block.ops.iter().enumerate() {
            match *op {
                Op::Mask(op) => self.state[op.writes().index()] = self.mask(op),
                Op::Tally { counter: Counter::Lanes, weight, under: lanes } => match self.of(lanes)? {
                    0 => {}
                    VALID => self.active += u64::from(weight),
                    _ => return None,
                },
                // Lookups are counted by lanes, except those of inputs, which are counted in another way.
                Op::Fetch { number, under, .. } => match (&fetches[usize::from(number)], self.of(under)?) {
                    (_, VALID) | (Fetch::Input { .. }, ALL) => {}
                    _ => return None,
                },
                Op::Set { under, .. } | Op::Mark(_, under) if self.of(under)? & VALID == 0 => return None,
                Op::Number(m) => {
                    let value = (0..M::ENTRIES).find(|&entry| M::loop_index(entry) == m).and_then(|_| self.of(m));
                    self.numbers.entry((id, place)).or_default().push(value);
                }
                Op::Guard { number: m, base, count }
                    if !(0..i64::from(count)).contains(&(i64::from(base) + self.of(m)?)) =>
                {
                    return None;
                }
                _ => {}
            }
        }
        Some(())
    }

    /// The new value of a mask; `None` where that depends on data.
    fn mask(&self, op: MaskOp) -> Option<i64> {
        let of = |m| self.of(m);
        Some(match op {
            MaskOp::Copy(_, a) => of(a)?,
            MaskOp::And(_, a, b) if of(a) == Some(0) || of(b) == Some(0) => 0,
            MaskOp::And(_, a, b) => of(a)? & of(b)?,
            MaskOp::AndNot(_, a, _) if of(a) == Some(0) => 0,
            MaskOp::AndNot(_, a, b) => of(a)? & !of(b)?,
            MaskOp::Or(_, a, b) => of(a)? | of(b)?,
            MaskOp::Xor(_, a, b) => of(a)? ^ of(b)?,
            MaskOp::Quads(_, a) => match of(a)? {
                0 => 0,
                // Each quad has a valid lane.
                lanes if lanes & VALID != 0 => ALL,
                _ => return None,
            },
            MaskOp::Lanes(..) => return None,
            MaskOp::Number(_, number) => number.into(),
            MaskOp::Add(d, number, thirteen_bits) => {
                let sum = of(d)?.wrapping_add(number.into());
                if thirteen_bits { sum << 51 >> 51 } else { sum }
            }
            MaskOp::IfNot0(_, _, b) if of(b) == Some(0) => 0,
            MaskOp::IfNot0(_, a, b) => of(b).and(of(a))?,
        })
    }
}

/// Finds loops in the sequence of blocks. The last iteration of a loop lacks the way back, which does nothing (`idle`).
fn parse(passed: &[u16], idle: &impl Fn(u16) -> bool) -> Option<Vec<Item>> {
    let mut nodes = Vec::new();
    let mut counts: Map<u16, u32> = Map::default();
    passed.iter().for_each(|&id| *counts.entry(id).or_default() += 1);
    let mut at = 0;
    while at < passed.len() {
        let head = passed[at];
        if counts[&head] == 1 {
            nodes.push(Item::Block(head.into()));
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
        nodes.push(Item::Loop { iterations: iterations.len().try_into().ok()?, body: parse(&body[..same], idle)? });
        at = last + same;
    }
    Some(nodes)
}

/// Blocks under construction.
struct Build<'a> {
    of: &'a Code,
    run: &'a AbstractRun,
    /// Whether the stream's compiler has an operation.
    exists: fn(&Op) -> bool,
    blocks: Vec<Block>,
    /// Inputs.
    fetches: Vec<Fetch>,
    new: Numbering,
    /// The present value of each variable, and whether it still has to be stored.
    current: BTreeMap<usize, (Value, bool)>,
    /// Iterations of the loops around.
    around: Vec<u16>,
    /// The occurrences of each block of the program in the blocks built so far.
    built: Vec<usize>,
    numbers: Vec<Number>,
    textures: Vec<(u8, u8)>,
    targets: Vec<usize>,
    outputs: u32,
}

/// The place of an item in a list, to whose end it is appended where it is new.
fn place_of<T: PartialEq>(list: &mut Vec<T>, of: T) -> usize {
    list.iter().position(|known| *known == of).unwrap_or_else(|| {
        list.push(of);
        list.len() - 1
    })
}

impl Build<'_> {
    fn nodes(&mut self, nodes: &[Item]) -> Option<Vec<Item>> {
        let mut items = Vec::new();
        for node in nodes {
            match node {
                Item::Block(id) => self.block(*id as u16)?,
                Item::Loop { iterations, body } => {
                    if self.around.len() == LOOPS {
                        return None;
                    }
                    let begin = (self.blocks.len() + 1) as u16;
                    items.push(Item::Block(self.close(End::Next(JumpTarget::Block(begin)))));
                    self.around.push(*iterations);
                    let mut body = self.nodes(body)?;
                    let [some, none] = [begin, (self.blocks.len() + 1) as u16].map(JumpTarget::Block);
                    // Iterations are counted, so the mask is not used.
                    body.push(Item::Block(self.close(End::Branch { mask: M::NONE, none, some })));
                    self.around.pop();
                    items.push(Item::Loop { iterations: *iterations, body });
                }
            }
        }
        Some(items)
    }

    /// Ends the block: stores the variables with unstored values.
    fn close(&mut self, end: End) -> usize {
        for (var, (value, changed)) in std::mem::take(&mut self.current) {
            if changed {
                self.new.effect(Op::Set { var: Var(var as u16), value, under: M::EXISTING });
            }
        }
        let (loops, ops) = (self.around.len() as u8, self.new.take());
        self.blocks.push(Block { loops, ops, tally: Tally::default(), end });
        self.blocks.len() - 1
    }

    /// An operation that makes a vector, unless an equal one exists; `None` where the stream's compiler lacks it.
    fn pure(&mut self, op: Op) -> Option<Value> {
        let hash = op.hash();
        self.new.find(hash, &op).or_else(|| (self.exists)(&op).then(|| self.new.add(hash, op)))
    }

    /// The variable of a variable: outputs have numbers of their own.
    fn var(&mut self, var: Var) -> Option<Var> {
        let Some(export) = var.export_index() else { return Some(var) };
        let output = place_of(&mut self.targets, export / 4);
        (output < OUTPUTS).then(|| Var::export(output, export % 4))
    }

    fn block(&mut self, id: u16) -> Option<()> {
        let block = &self.of.blocks[usize::from(id)];
        let mut values: Vec<Value> = Vec::with_capacity(block.ops.len());
        for (place, op) in block.ops.iter().enumerate() {
            let value = self.op(op, &values, (id, place))?;
            values.push(value);
        }
        self.built[usize::from(id)] += self.around.iter().map(|&n| usize::from(n)).product::<usize>();
        Some(())
    }

    fn op(&mut self, op: &Op, values: &[Value], (id, place): (u16, usize)) -> Option<Value> {
        let of = |value: Value| values[value.index()];
        // Numbers are for relative addresses only.
        let is_number = |value: Value| matches!(self.new.ops.get(of(value).index()), Some(Op::Number(_)));
        if !matches!(op, Op::GetRelative { .. }) && op.reads().any(is_number) {
            return None;
        }
        Some(match *op {
            Op::Get(var) => {
                let var = self.var(var)?;
                match self.current.get(&var.index()) {
                    Some(&(value, _)) => value,
                    None => {
                        let value = self.new.effect(Op::Get(var));
                        self.current.insert(var.index(), (value, false));
                        value
                    }
                }
            }
            Op::Set { var, value, .. } => {
                let var = self.var(var)?;
                self.current.insert(var.index(), (of(value), true));
                Value(0)
            }
            Op::Mark(var, _) => {
                self.outputs |= 1 << self.var(var)?.export_index()?;
                Value(0)
            }
            Op::Mask(_) | Op::Tally { .. } | Op::Guard { .. } => Value(0),
            Op::Fetch { number, at, .. } => self.fetch(number, [of(at[0]), of(at[1])])?,
            Op::Number(_) => self.number(id, place)?,
            Op::GetRelative { file: RegisterFile::Constants(first, count), base, element, index } => {
                self.constant((first, count), base, element, of(index))?
            }
            Op::GetRelative { .. }
            | Op::Lane
            | Op::Wide { .. }
            | Op::QuadLane(..)
            | Op::Yield(_)
            | Op::Store { .. }
            | Op::SetRelative { .. } => return None,
            Op::Alu { op, omod, clamp, .. } if op.info().operands == 0 => {
                // It has no operands; a constant takes their place, as it may be the first of its block.
                let nothing = self.pure(Op::Bits(0))?;
                self.pure(Op::Alu { op, operands: [nothing; 3], omod, clamp })?
            }
            mut op => {
                op.rename(of);
                self.pure(op)?
            }
        })
    }

    /// The value of a loop's variable in the executions of a block.
    fn number(&mut self, id: u16, place: usize) -> Option<Value> {
        let around: Vec<usize> = self.around.iter().map(|&n| n.into()).collect();
        let strides: Vec<usize> = (1..=around.len()).map(|depth| around[depth..].iter().product()).collect();
        let first = self.built[usize::from(id)];
        let all = &self.run.numbers.get(&(id, place))?[first..first + around.iter().product::<usize>()];
        let values: Vec<i64> = all.iter().copied().collect::<Option<_>>()?;
        let steps = strides.iter().zip(&around).map(|(&stride, &n)| if n > 1 { values[stride] - values[0] } else { 0 });
        let mut moves = steps.enumerate().filter(|(_, step)| *step != 0);
        let (depth, step) = moves.next().unwrap_or((0, 0));
        let at = |n: usize| values[0] + step * strides.get(depth).map_or(0, |stride| n / stride % around[depth]) as i64;
        if moves.next().is_some() || values.iter().enumerate().any(|(n, &value)| value != at(n)) {
            return None;
        }
        let first = i32::try_from(values[0]).ok()?;
        if step == 0 {
            return self.pure(Op::Bits(first.cast_unsigned()));
        }
        let number = Number { depth: depth as u8, first, step: step.try_into().ok()? };
        let place = place_of(&mut self.numbers, number);
        if place < M::ENTRIES { self.pure(Op::Number(M::loop_index(place))) } else { None }
    }

    /// A constant at an index; `None` where it would lie outside.
    fn constant(&mut self, (first, count): (u16, u16), base: u8, element: u8, index: Value) -> Option<Value> {
        let exists = |index: i64| (0..i64::from(count)).contains(&(i64::from(base) + index));
        match self.new.ops[index.index()] {
            Op::Bits(bits) => {
                let index = i64::from(bits.cast_signed());
                let register = i64::from(first) + i64::from(base) + index;
                let dword = u16::try_from(4 * register + i64::from(element)).ok()?;
                if exists(index) { self.pure(Op::Uniform(dword)) } else { None }
            }
            Op::Number(m) => {
                let Number { depth, first: from, step } = self.numbers[m.entry()];
                let last = i64::from(step) * i64::from(self.around[usize::from(depth)] - 1);
                let inside = exists(from.into()) && exists(i64::from(from) + last);
                let op = Op::GetRelative { file: RegisterFile::Constants(first, count), base, element, index };
                if inside { self.pure(op) } else { None }
            }
            _ => None,
        }
    }

    fn fetch(&mut self, number: u16, at: [Value; 2]) -> Option<Value> {
        let (fetch, [s, t]) = match &self.of.fetches[usize::from(number)] {
            input @ Fetch::Input { .. } => (*input, at),
            Fetch::Texture(inst) => self.texture(inst, at)?,
            Fetch::Vertex(_) | Fetch::Memory(..) | Fetch::Share(..) => return None,
        };
        let number = place_of(&mut self.fetches, fetch) as u16;
        Some(self.new.effect(Op::Fetch { number, at: [s, t, s, t], under: M::EXISTING }))
    }

    /// A lookup of level 0 by texels.
    fn texture(&mut self, inst: &TexFetch, mut at: [Value; 2]) -> Option<(Fetch, [Value; 2])> {
        let in_texels = !inst.word1.coord_type_x && !inst.word1.coord_type_y;
        if inst.word0.alt_const || !is_plain_sample(inst.word0.op) || inst.word0.bc_frac_mode || !in_texels {
            return None;
        }
        let input = place_of(&mut self.textures, (inst.word0.resource_id, inst.word2.sampler_id));
        for (coordinate, offset) in at.iter_mut().zip([inst.word2.offset_x, inst.word2.offset_y].map(texel_offset)) {
            if offset != 0.0 {
                let offset = self.pure(Op::Bits(offset.to_bits()))?;
                let sum = [*coordinate, offset, *coordinate];
                *coordinate =
                    self.pure(Op::Alu { op: AluOp::Op2(Op2::Add), operands: sum, omod: Omod::Off, clamp: false })?;
            }
        }
        let fetch = Fetch::Input { input: input as u8, unscaled: true, uncached: false };
        (input < INPUTS).then_some((fetch, at))
    }
}
