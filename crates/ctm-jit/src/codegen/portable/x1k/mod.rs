//! The form in plain Rust: the back end for every host.
//!
//! [`GROUPS`] groups run together, a row of 64 lanes for each vector. Where groups decide differently at a flow-control instruction, those that have come
//! to the earliest block go on, under a mask, until the others are met again: blocks stand in an order in which loops are contiguous.
//!
//! | file | what |
//! |---|---|
//! | `dense` | what the X1K's operations make, for `crate::codegen::portable::dense` |
//! | `flow` | flow control of one group |
//! | `lookups` | texture fetches |

mod dense;
mod flow;
mod lookups;

use crate::codegen::portable::rows::{
    self, Row, Work, canonical, lanes_of, lanes_where, map, map3, on_this_host, store,
};
use crate::ir::x1k::{Block, BlockId, Code, End, File, OUTPUT_VARS, Op, Target, Test, Under, Value, Var};
use crate::launch::lanes::{BailOut, ENTRY, LANES, Lanes, Mask, Visits, output_var};
use crate::launch::source::Source;
use ctm_exec::x1k::float::{Wide, number};
use ctm_exec::x1k::functions::UnitOp;
use ctm_exec::x1k::ops::{self, ZeroRule};
use ctm_exec::x1k::{Constants, transcendental};
use ctm_isa::x1k::ops::{AlphaOp, CompareOp, Omod};
use ctm_isa::x1k::{FLOAT_CONSTANTS, TEMPORARIES};
pub use dense::Dense;
use dense::{Constant, Step};
use flow::{Flows, Sees};
use lookups::Lookup;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Groups that run together.
pub const GROUPS: usize = rows::LANES / LANES;

/// What all groups of a launch share.
#[derive(Clone, Copy)]
pub struct Shared<'a> {
    /// The program.
    pub code: &'a Code,
    /// Its start variables.
    pub start: &'a [Var],
    /// The constants.
    pub constants: &'a Constants,
    /// The inputs.
    pub source: Source<'a>,
    /// Instructions that one group may issue.
    pub limit: u64,
    /// Not 0 when the group should stop.
    pub stop: &'a AtomicU32,
}

/// One of the groups.
#[derive(Clone)]
struct Group {
    /// The block that it has come to; `None` at its end.
    at: Option<BlockId>,
    issued: u64,
    flows: Flows,
}

/// The state of groups that run together. It is used for some after the others.
pub struct Machine {
    dense: Arc<Dense>,
    rows: Vec<Row>,
    groups: Vec<Group>,
    /// Lanes of the groups that are at the block that runs.
    here: u64,
    existing: u64,
    covered: u64,
    /// Of the lanes [`Self::here`], those that flow control lets run.
    running: u64,
    result: u64,
    predicates: [u64; 4],
    written: [u64; OUTPUT_VARS],
}

/// The lanes of a group.
const fn lanes_of_group(group: usize) -> u64 {
    (Mask::MAX as u64) << (LANES * group)
}

/// What a mask says of a group.
const fn of_group(mask: u64, group: usize) -> Mask {
    (mask >> (LANES * group)) as Mask
}

impl Machine {
    /// A machine for a program.
    pub fn new(dense: Arc<Dense>) -> Self {
        Self {
            rows: vec![[0; rows::LANES]; dense.rows],
            dense,
            groups: Vec::with_capacity(GROUPS),
            here: 0,
            existing: 0,
            covered: 0,
            running: 0,
            result: 0,
            predicates: [0; 4],
            written: [0; OUTPUT_VARS],
        }
    }

    /// Runs up to [`GROUPS`] groups to their ends and adds up which blocks they passed.
    ///
    /// # Errors
    /// [`BailOut`] when the reference interpreter has to run them instead; then what they left means nothing, `visits` neither.
    pub fn run(&mut self, shared: &Shared<'_>, lanes: &mut [Lanes], visits: &mut [Visits]) -> Result<(), BailOut> {
        self.restart(shared, lanes);
        while let Some(at) = self.groups.iter().filter_map(|group| group.at).min() {
            let block = &shared.code.blocks[at.index()];
            (self.here, self.running) = (0, 0);
            for (n, group) in self.groups.iter_mut().enumerate().filter(|(_, group)| group.at == Some(at)) {
                group.issued += u64::from(block.tally.instructions());
                if group.issued > shared.limit {
                    return Err(BailOut);
                }
                self.here |= lanes_of_group(n);
                self.running |= u64::from(group.flows.running) << (LANES * n);
                visits[at.index()].groups += 1;
            }
            if shared.stop.load(Ordering::Relaxed) != 0 {
                return Err(BailOut);
            }
            visits[at.index()].active += u64::from((self.running & self.covered).count_ones());
            visits[at.index()].covered += u64::from((self.here & self.covered).count_ones());
            on_this_host(Ops { machine: self, shared, block, at })?;
            for n in 0..self.groups.len() {
                if self.groups[n].at == Some(at) {
                    self.groups[n].at = self.next(n, shared, block.end)?;
                }
            }
        }
        for (n, lanes) in lanes.iter_mut().enumerate() {
            lanes.covered = of_group(self.covered, n);
            lanes.written = self.written.map(|written| of_group(written, n));
            for index in 0..OUTPUT_VARS {
                if let Some(row) = self.dense.row(output_var(index)).filter(|_| lanes.written[index] != 0) {
                    lanes.outputs[index].copy_from_slice(&self.rows[row][LANES * n..LANES * (n + 1)]);
                }
            }
        }
        Ok(())
    }

    fn restart(&mut self, shared: &Shared<'_>, lanes: &[Lanes]) {
        let dense = &*self.dense;
        self.rows[..dense.vars].fill([0; rows::LANES]);
        dense.constants.fill(&mut self.rows, |constant| match constant {
            Constant::Bits(bits) => bits,
            Constant::Float(index) => shared.constants.float[usize::from(index / 4)][usize::from(index % 4)],
        });
        self.groups.clear();
        (self.existing, self.covered) = (0, 0);
        for (n, lanes) in lanes.iter().enumerate() {
            for (&var, row) in shared.start.iter().zip(&lanes.start) {
                if let Some(to) = dense.row(var) {
                    self.rows[to][LANES * n..LANES * (n + 1)].copy_from_slice(row);
                }
            }
            self.existing |= u64::from(lanes.existing) << (LANES * n);
            self.covered |= u64::from(lanes.covered) << (LANES * n);
            self.groups.push(Group { at: Some(ENTRY), issued: 0, flows: Flows::new(lanes.existing) });
        }
        (self.result, self.predicates, self.written) = (0, [0; 4], [0; OUTPUT_VARS]);
    }

    /// Where a group goes on.
    fn next(&mut self, group: usize, shared: &Shared<'_>, end: End) -> Result<Option<BlockId>, BailOut> {
        let target = match end {
            End::Stop => return Ok(None),
            End::Next(target) => target,
            End::Flow(flow) => {
                let sees = Sees {
                    covered: of_group(self.covered, group),
                    predicates: self.predicates.map(|predicate| of_group(predicate, group)),
                    result: of_group(self.result, group),
                };
                self.result &= !lanes_of_group(group);
                self.groups[group].flows.decide(shared.constants, &flow, sees)
            }
        };
        match target {
            Target::Block(id) => Ok(Some(id)),
            Target::Never | Target::Reference => Err(BailOut),
        }
    }

    fn mask(&self, under: Under) -> u64 {
        let mut mask = if under.inactive { self.existing & self.here } else { self.running };
        if let Some((bit, inverted)) = under.predicate {
            let set = self.predicates[usize::from(bit)];
            mask &= if inverted { !set } else { set };
        }
        if under.covered { mask & self.covered } else { mask }
    }

    fn row(&self, value: Value) -> &Row {
        &self.rows[value.index()]
    }

    #[inline(always)]
    fn compare(&self, test: CompareOp, value: Value) -> u64 {
        let row = self.row(value);
        match test {
            CompareOp::Equal => lanes_where(row, |x| ops::compare(CompareOp::Equal, x)),
            CompareOp::Less => lanes_where(row, |x| ops::compare(CompareOp::Less, x)),
            CompareOp::GreaterEqual => lanes_where(row, |x| ops::compare(CompareOp::GreaterEqual, x)),
            CompareOp::NotEqual => lanes_where(row, |x| ops::compare(CompareOp::NotEqual, x)),
        }
    }

    /// Stores a row in another.
    #[inline(always)]
    fn set(&mut self, to: usize, from: Value, mask: u64) {
        if mask | !self.existing == u64::MAX {
            self.rows.copy_within(from.index()..=from.index(), to);
        } else {
            let row = self.rows[from.index()];
            store(&mut self.rows[to], &row, mask);
        }
    }

    /// The register `base + aL` of a group, if there is one.
    fn relative(&self, group: usize, block: &Block, file: File, base: u8) -> Option<usize> {
        let flows = &self.groups[group].flows;
        let al = block.frames.loop_variable().map_or(0, |frame| flows.loop_variables[frame]);
        let limit = match file {
            File::Temp => TEMPORARIES,
            File::Const => FLOAT_CONSTANTS,
        };
        usize::try_from(i64::from(base) + i64::from(al)).ok().filter(|&index| index < limit)
    }

    /// The groups that are at the block that runs.
    fn groups_here(&self) -> impl Iterator<Item = usize> + use<> {
        let here = self.here;
        (0..self.groups.len()).filter(move |&group| of_group(here, group) != 0)
    }

    fn get_relative(
        &self,
        block: &Block,
        constants: &Constants,
        (file, base, channel): (File, u8, u8),
    ) -> Result<Row, BailOut> {
        let mut row = [0; rows::LANES];
        for group in self.groups_here() {
            let register = self.relative(group, block, file, base).ok_or(BailOut)?;
            let lanes = LANES * group..LANES * (group + 1);
            match file {
                File::Temp => {
                    let from = self.dense.row(Var::temp(register, channel.into())).ok_or(BailOut)?;
                    row[lanes.clone()].copy_from_slice(&self.rows[from][lanes]);
                }
                File::Const => row[lanes].fill(constants.float[register][usize::from(channel)]),
            }
        }
        Ok(row)
    }

    fn set_relative(
        &mut self,
        block: &Block,
        (base, channel): (u8, u8),
        value: Value,
        mask: u64,
    ) -> Result<(), BailOut> {
        for group in self.groups_here() {
            let register = self.relative(group, block, File::Temp, base).ok_or(BailOut)?;
            let to = self.dense.row(Var::temp(register, channel.into())).ok_or(BailOut)?;
            self.set(to, value, mask & lanes_of_group(group));
        }
        Ok(())
    }

    fn fetch(&self, shared: &Shared<'_>, lookup: &Lookup, at: [Value; 2]) -> Result<[Row; 4], BailOut> {
        let at = at.map(|value| self.row(value));
        match shared.source.views.filter(|views| views.lends(lookup.input)) {
            Some(views) => lookup.of(views, at),
            None => shared.source.read(|memory| lookup.of(memory, at))?,
        }
    }

    /// Uncached writes. Then groups run one by one.
    fn write(
        &self,
        shared: &Shared<'_>,
        values: [Value; 3],
        writing: u64,
        first: Option<usize>,
    ) -> Result<(), BailOut> {
        let [x, y, value] = values.map(|value| self.row(value).as_chunks::<LANES>().0.first().ok_or(BailOut));
        shared.source.write([x?, y?, value?], writing as Mask, first)
    }
}

/// The operations of a block.
struct Ops<'a, 'b> {
    machine: &'a mut Machine,
    shared: &'a Shared<'b>,
    block: &'a Block,
    at: BlockId,
}

impl Work for Ops<'_, '_> {
    type Done = Result<(), BailOut>;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Result<(), BailOut> {
        let Self { machine, shared, block, at } = self;
        let dense = Arc::clone(&machine.dense);
        for &Step { op, to } in &dense.blocks[at.index()] {
            let row = match op {
                Op::Bits(_) | Op::Const(_) | Op::Texel(..) => continue,
                Op::Get(var) => machine.rows[dense.row(var).ok_or(BailOut)?],
                Op::GetRelative { file, base, channel } => {
                    machine.get_relative(block, shared.constants, (file, base, channel))?
                }
                Op::Sign(imod, a) => map(machine.row(a), |x| ops::input_modifier(imod, x)),
                Op::Mad { a, b, c, zero_wins, omod } => {
                    rows::fused::<FUSED>(machine.row(a), machine.row(b), machine.row(c), zero_wins, omod)
                }
                Op::Pick { test, x, y, a, b } => {
                    let [x, y, a, b] = [x, y, a, b].map(|value| machine.row(value));
                    match test {
                        Test::Less => pick(x, y, a, b, |x, y| Test::Less.holds(x, y)),
                        Test::Greater => pick(x, y, a, b, |x, y| Test::Greater.holds(x, y)),
                        Test::GreaterEqual => pick(x, y, a, b, |x, y| Test::GreaterEqual.holds(x, y)),
                        Test::Equal => pick(x, y, a, b, |x, y| Test::Equal.holds(x, y)),
                    }
                }
                Op::Scale(a, Omod::U1 | Omod::Disabled) => map(machine.row(a), |x| canonical(number(x))),
                Op::Scale(a, omod) => map(machine.row(a), |x| ops::output_modifier(Wide::from_bits(x), omod, false)),
                Op::Clamp(a) => map(machine.row(a), ops::clamp),
                // The difference is exact or rounded once, and never tiny.
                Op::Fraction(a, Omod::U1 | Omod::Disabled) => {
                    map(machine.row(a), |x| canonical(number(x) - number(x).floor()))
                }
                Op::Fraction(a, omod) => map(machine.row(a), |x| ops::output_modifier(ops::frc(x), omod, false)),
                Op::Scalar(function, a) => scalar::<FUSED>(function, machine.row(a)),
                Op::Reference { op, abc, zero_wins, omod, clamp } => {
                    let zero = if zero_wins { ZeroRule::ZeroTimesAnything } else { ZeroRule::Ieee };
                    let [a, b, c] = abc.map(|value| machine.row(value));
                    map3(a, b, c, |a, b, c| op.channel([a, b, c], zero, omod, clamp).unwrap_or(0))
                }
                Op::R700(op, abc, omod, clamp) => {
                    let rows = abc.map(|value| machine.row(value));
                    crate::codegen::portable::r700::alu_rows::<FUSED>(op, rows, omod, clamp)
                }
                Op::QuadLane(a, which) => {
                    let mut row = *machine.row(a);
                    row.as_chunks_mut::<4>().0.iter_mut().for_each(|quad| *quad = [quad[usize::from(which & 3)]; 4]);
                    row
                }
                Op::Fetch { input, s, t, unscaled, uncached, under } => {
                    let lookup =
                        Lookup { input, unscaled, uncached, working: machine.mask(under), covered: machine.covered };
                    let at = [machine.row(s), machine.row(t)];
                    let of_array = shared.source.views.and_then(|views| lookup.of_array::<FUSED>(views, at));
                    let texels = match of_array {
                        Some(texels) => texels,
                        None => machine.fetch(shared, &lookup, [s, t])?,
                    };
                    machine.rows[to as usize..to as usize + 4].copy_from_slice(&texels);
                    continue;
                }
                Op::Write { index: [x, y], value, shared: shares, under, set, clear } => {
                    let mut writing = machine.mask(under);
                    let Some(first) = lanes_of(writing).next() else { continue };
                    for (bit, predicate) in machine.predicates.iter().enumerate() {
                        writing &= if set >> bit & 1 == 1 { *predicate } else { u64::MAX };
                        writing &= if clear >> bit & 1 == 1 { !*predicate } else { u64::MAX };
                    }
                    machine.write(shared, [x, y, value], writing, shares.then_some(first))?;
                    continue;
                }
                Op::Set(var, a, under) => {
                    let mask = machine.mask(under);
                    machine.set(dense.row(var).ok_or(BailOut)?, a, mask);
                    if let Some(output) = var.output_index() {
                        machine.written[output] |= mask;
                    }
                    continue;
                }
                Op::SetRelative { base, channel, value, under } => {
                    let mask = machine.mask(under);
                    machine.set_relative(block, (base, channel), value, mask)?;
                    continue;
                }
                Op::SetPredicate(bit, test, a, under) => {
                    let (set, mask) = (machine.compare(test, a), machine.mask(under));
                    let old = &mut machine.predicates[usize::from(bit)];
                    *old = *old & !mask | set & mask;
                    continue;
                }
                Op::SetResult(test, a, under) => {
                    let (set, mask) = (machine.compare(test, a), machine.mask(under));
                    machine.result = machine.result & !mask | set & mask;
                    continue;
                }
                Op::Kill(a, under) => {
                    let killed = lanes_where(machine.row(a), ops::kills);
                    machine.covered &= !(killed & machine.mask(under));
                    continue;
                }
                Op::Guard { file, base } => {
                    if machine.groups_here().any(|group| machine.relative(group, block, file, base).is_none()) {
                        return Err(BailOut);
                    }
                    continue;
                }
            };
            machine.rows[to as usize] = row;
        }
        Ok(())
    }
}

#[inline(always)]
fn pick(x: &Row, y: &Row, a: &Row, b: &Row, holds: impl Fn(u32, u32) -> bool) -> Row {
    let mut row = [0; rows::LANES];
    for lane in 0..rows::LANES {
        row[lane] = if holds(x[lane], y[lane]) { a[lane] } else { b[lane] };
    }
    row
}

/// A transcendental operation; one that has no loop here is done lane by lane.
#[inline(always)]
fn scalar<const FUSED: bool>(function: AlphaOp, a: &Row) -> Row {
    let fma = rows::fma::<FUSED>;
    match function {
        AlphaOp::Ex2 => map(a, |x| transcendental::ex2_by(x, fma)),
        AlphaOp::Ln2 => map(a, |x| transcendental::ln2_by(x, fma)),
        AlphaOp::Rcp => map(a, |x| transcendental::rcp_by(x, fma)),
        AlphaOp::Rsq => map(a, |x| transcendental::rsq_by(x, fma)),
        AlphaOp::Sin => map(a, |x| transcendental::sin_by(x, fma)),
        AlphaOp::Cos => map(a, |x| transcendental::cos_by(x, fma)),
        _ => map(a, |x| UnitOp::Alpha(function).channel([x; 3], ZeroRule::Ieee, Omod::U1, false).unwrap_or(0)),
    }
}
