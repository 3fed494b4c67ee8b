//! The form, run lane by lane: the back end for every host.
//!
//! Each operation is a loop over the lanes with the reference function of `ctm-exec` in it. Nothing here knows more about
//! arithmetic than which function to call, so it is also what other back ends are compared with.

use crate::engine::Source;
use crate::form::{Block, Code, End, File, Flow, Levels, OUTPUT_VARS, Op, Target, Under, Value, Var};
use crate::lanes::{ENTRY, LANES, Lanes, Mask, Refer, Row, Visits, lanes_of, output_var};
use crate::passes::leaves_loop;
use ctm_exec::x1k::float::Wide;
use ctm_exec::x1k::functions::UnitOp;
use ctm_exec::x1k::ops::{self, ZeroRule};
use ctm_exec::x1k::{Constants, Memory, sample};
use ctm_isa::x1k::ops::{CompareOp, FcOp, Omod};
use ctm_isa::x1k::{BRANCH_COUNTER_FULL, FLOAT_CONSTANTS, LOOP_STACK, TEMPORARIES};
use std::sync::atomic::{AtomicU32, Ordering};

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

/// The state of one group. It is used for one group after the other.
pub struct Machine {
    vars: Vec<Row>,
    values: Vec<Row>,
    texels: Vec<(u32, [Row; 4])>,
    existing: Mask,
    covered: Mask,
    running: Mask,
    result: Mask,
    predicates: [Mask; 4],
    written: [Mask; OUTPUT_VARS],
    levels: [Mask; BRANCH_COUNTER_FULL as usize + 2],
    broke: [Mask; LOOP_STACK],
    continued: [Mask; LOOP_STACK],
    counts: [u8; LOOP_STACK],
    loop_variables: [i32; LOOP_STACK],
    steps: [i8; LOOP_STACK],
}

impl Machine {
    /// A machine for programs of this size.
    pub fn new(code: &Code) -> Self {
        let values = code.blocks.iter().map(|block| block.ops.len()).max().unwrap_or(0);
        Self {
            vars: vec![[0; LANES]; Var::COUNT],
            values: vec![[0; LANES]; values],
            texels: Vec::new(),
            existing: 0,
            covered: 0,
            running: 0,
            result: 0,
            predicates: [0; 4],
            written: [0; OUTPUT_VARS],
            levels: [0; BRANCH_COUNTER_FULL as usize + 2],
            broke: [0; LOOP_STACK],
            continued: [0; LOOP_STACK],
            counts: [0; LOOP_STACK],
            loop_variables: [0; LOOP_STACK],
            steps: [0; LOOP_STACK],
        }
    }

    /// Runs one group to its end and adds up which blocks it passed.
    ///
    /// # Errors
    /// [`Refer`] when the reference interpreter has to run it instead; then what it left means nothing, `visits` neither.
    pub fn run(&mut self, shared: &Shared<'_>, lanes: &mut Lanes, visits: &mut [Visits]) -> Result<(), Refer> {
        self.restart(shared, lanes);
        let mut at = ENTRY;
        let mut issued = 0u64;
        loop {
            let block = &shared.code.blocks[at.index()];
            issued += u64::from(block.tally.instructions());
            if issued > shared.limit || shared.stop.load(Ordering::Relaxed) != 0 {
                return Err(Refer);
            }
            visits[at.index()].add(&Visits {
                groups: 1,
                active: u64::from((self.running & self.covered).count_ones()),
                covered: u64::from(self.covered.count_ones()),
            });
            self.block(shared, block)?;
            let next = match block.end {
                End::Stop => break,
                End::Next(target) => target,
                End::Flow(flow) => self.flow(shared, &flow),
            };
            at = match next {
                Target::Block(id) => id,
                Target::Never | Target::Reference => return Err(Refer),
            };
        }
        lanes.covered = self.covered;
        lanes.written = self.written;
        for index in 0..OUTPUT_VARS {
            lanes.outputs[index] = self.vars[output_var(index).index()];
        }
        Ok(())
    }

    fn restart(&mut self, shared: &Shared<'_>, lanes: &Lanes) {
        self.vars.fill([0; LANES]);
        shared.start.iter().zip(&lanes.start).for_each(|(var, row)| self.vars[var.index()] = *row);
        (self.existing, self.covered, self.running) = (lanes.existing, lanes.covered, lanes.existing);
        (self.result, self.predicates, self.written) = (0, [0; 4], [0; OUTPUT_VARS]);
        self.levels.fill(0);
        (self.broke, self.continued) = ([0; LOOP_STACK], [0; LOOP_STACK]);
    }

    fn mask(&self, under: Under) -> Mask {
        let mut mask = if under.inactive { self.existing } else { self.running };
        if let Some((bit, inverted)) = under.predicate {
            let set = self.predicates[usize::from(bit)];
            mask &= if inverted { !set } else { set };
        }
        if under.covered { mask & self.covered } else { mask }
    }

    fn row(&self, value: Value) -> &Row {
        &self.values[value.index()]
    }

    fn map(&self, a: Value, function: impl Fn(u32) -> u32) -> Row {
        self.row(a).map(function)
    }

    fn compare(&self, test: CompareOp, value: Value) -> Mask {
        let row = self.row(value);
        lanes_where(|lane| ops::compare(test, row[lane]))
    }

    /// The register `base + aL`, if there is one.
    fn relative(&self, block: &Block, file: File, base: u8) -> Option<usize> {
        let al = block.frames.loop_variable().map_or(0, |frame| self.loop_variables[frame]);
        let limit = match file {
            File::Temp => TEMPORARIES,
            File::Const => FLOAT_CONSTANTS,
        };
        usize::try_from(i64::from(base) + i64::from(al)).ok().filter(|&index| index < limit)
    }

    fn block(&mut self, shared: &Shared<'_>, block: &Block) -> Result<(), Refer> {
        self.texels.clear();
        for (place, op) in block.ops.iter().enumerate() {
            let row = match *op {
                Op::Bits(bits) => [bits; LANES],
                Op::Get(var) => self.vars[var.index()],
                Op::Const(index) => [shared.constants.float[usize::from(index / 4)][usize::from(index % 4)]; LANES],
                Op::GetRelative { file, base, channel } => {
                    let register = self.relative(block, file, base).ok_or(Refer)?;
                    match file {
                        File::Temp => self.vars[Var::temp(register, channel.into()).index()],
                        File::Const => [shared.constants.float[register][usize::from(channel)]; LANES],
                    }
                }
                Op::Sign(imod, a) => self.map(a, |x| ops::input_modifier(imod, x)),
                Op::Mad { a, b, c, zero_wins, omod } => {
                    let zero = if zero_wins { ZeroRule::ZeroTimesAnything } else { ZeroRule::Ieee };
                    let (a, b, c) = (self.row(a), self.row(b), self.row(c));
                    std::array::from_fn(|l| ops::output_modifier(ops::mad(a[l], b[l], c[l], zero), omod, false))
                }
                Op::Pick { test, x, y, a, b } => {
                    let (x, y, a, b) = (self.row(x), self.row(y), self.row(a), self.row(b));
                    std::array::from_fn(|l| if test.holds(x[l], y[l]) { a[l] } else { b[l] })
                }
                Op::Scale(a, omod) => self.map(a, |x| ops::output_modifier(Wide::from_bits(x), omod, false)),
                Op::Clamp(a) => self.map(a, ops::clamp),
                Op::Fraction(a, omod) => self.map(a, |x| ops::output_modifier(ops::frc(x), omod, false)),
                Op::Scalar(function, a) => {
                    let function = |x| UnitOp::Alpha(function).channel([x; 3], ZeroRule::Ieee, Omod::U1, false);
                    self.map(a, |x| function(x).unwrap_or(0))
                }
                Op::Reference { op, abc, zero_wins, omod, clamp } => {
                    let zero = if zero_wins { ZeroRule::ZeroTimesAnything } else { ZeroRule::Ieee };
                    let [a, b, c] = abc.map(|value| self.row(value));
                    std::array::from_fn(|l| op.channel([a[l], b[l], c[l]], zero, omod, clamp).unwrap_or(0))
                }
                Op::R700(op, abc, omod, clamp) => {
                    let [a, b, c] = abc.map(|value| self.row(value));
                    std::array::from_fn(|l| crate::r700::alu(op, [a[l], b[l], c[l]], omod, clamp))
                }
                Op::QuadLane(a, which) => {
                    let a = self.row(a);
                    std::array::from_fn(|l| a[l & !3 | usize::from(which)])
                }
                Op::Texel(fetch, channel) => {
                    let fetched = self.texels.iter().find(|(made, _)| *made == fetch.0);
                    fetched.map_or([0; LANES], |(_, texels)| texels[usize::from(channel)])
                }
                Op::Fetch { input, s, t, unscaled, uncached, under } => {
                    let fetch = |memory: &dyn Memory| self.fetch(memory, input, [s, t], unscaled, uncached, under);
                    let texels = shared.source.read(fetch)??;
                    self.texels.push((place as u32, texels));
                    continue;
                }
                Op::Write { index: [x, y], value, shared: shares, under, set, clear } => {
                    let mut writing = self.mask(under);
                    let Some(first) = lanes_of(writing).next() else { continue };
                    for (bit, predicate) in self.predicates.iter().enumerate() {
                        writing &= if set >> bit & 1 == 1 { *predicate } else { Mask::MAX };
                        writing &= if clear >> bit & 1 == 1 { !*predicate } else { Mask::MAX };
                    }
                    let rows = [x, y, value].map(|value| self.row(value));
                    shared.source.write(rows, writing, shares.then_some(first))?;
                    continue;
                }
                Op::Set(var, a, under) => {
                    let (row, mask) = (self.values[a.index()], self.mask(under));
                    store(&mut self.vars[var.index()], &row, mask);
                    if let Some(output) = var.output_index() {
                        self.written[output] |= mask;
                    }
                    continue;
                }
                Op::SetRelative { base, channel, value, under } => {
                    let register = self.relative(block, File::Temp, base).ok_or(Refer)?;
                    let (row, mask) = (self.values[value.index()], self.mask(under));
                    store(&mut self.vars[Var::temp(register, channel.into()).index()], &row, mask);
                    continue;
                }
                Op::SetPredicate(bit, test, a, under) => {
                    let (set, mask) = (self.compare(test, a), self.mask(under));
                    let old = &mut self.predicates[usize::from(bit)];
                    *old = *old & !mask | set & mask;
                    continue;
                }
                Op::SetResult(test, a, under) => {
                    let (set, mask) = (self.compare(test, a), self.mask(under));
                    self.result = self.result & !mask | set & mask;
                    continue;
                }
                Op::Kill(a, under) => {
                    let row = self.row(a);
                    self.covered &= !(lanes_where(|lane| ops::kills(row[lane])) & self.mask(under));
                    continue;
                }
                Op::Guard { file, base } => {
                    self.relative(block, file, base).ok_or(Refer)?;
                    continue;
                }
            };
            self.values[place] = row;
        }
        Ok(())
    }

    fn fetch(
        &self,
        memory: &dyn Memory,
        index: u8,
        [s, t]: [Value; 2],
        unscaled: bool,
        uncached: bool,
        under: Under,
    ) -> Result<[Row; 4], Refer> {
        let input = memory.input(index).ok_or(Refer)?;
        let (s, t) = (self.row(s), self.row(t));
        let working = self.mask(under);
        let mut texels = [[0; LANES]; 4];
        for lane in (0..LANES).filter(|lane| working >> lane & 1 == 1) {
            match sample::lookup(memory, index, &input, (s[lane], t[lane]), unscaled, uncached) {
                Ok(sampled) => (0..4).for_each(|c| texels[c][lane] = sampled.texel[c]),
                Err(_) if self.covered >> lane & 1 == 1 => return Err(Refer),
                // An uncovered lane cannot fault: it reads 0.
                Err(_) => {}
            }
        }
        Ok(texels)
    }

    /// Executes a flow-control instruction (CTM §3.5.2, §3.5.3): the machine of `ctm_exec::x1k::flow` on masks.
    fn flow(&mut self, shared: &Shared<'_>, flow: &Flow) -> Target {
        let frame = usize::from(flow.frame);
        let mut levels = usize::from(flow.depth);
        // The end of an iteration comes first: who left it by CONTINUE takes part in the decision again.
        if matches!(flow.op, FcOp::EndLoop | FcOp::EndRep) {
            self.running |= std::mem::take(&mut self.continued[frame]);
        }
        let takes_part = if flow.ignore_uncovered { self.covered } else { Mask::MAX };
        let mut exchanged = 0;
        if flow.exchange {
            if levels == 0 {
                (levels, self.levels[0]) = (1, 0);
            }
            exchanged = self.running;
            self.running = std::mem::replace(&mut self.levels[levels - 1], exchanged);
        }
        let wants = self.wants(flow);
        let voters = self.running & takes_part;
        let (jumps, stays) = (voters & wants, voters & !wants);
        let any_jump = (jumps | exchanged & takes_part) != 0;
        let voted = if flow.jump_any { any_jump } else { stays == 0 };
        let branch_idle = self.levels[..levels].iter().fold(0, |all, level| all | level) & takes_part;
        let open = frame + 1;
        let jump = match flow.op {
            FcOp::Jump => voted,
            FcOp::Loop | FcOp::Rep => voted || shared.constants.int[usize::from(flow.int)][0] == 0,
            FcOp::EndLoop | FcOp::EndRep => voted && self.counts[frame] > 1,
            FcOp::BreakLoop | FcOp::BreakRep => {
                let continued = self.continued[..open].iter().fold(0, |all, c| all | c) & takes_part;
                voted && branch_idle == 0 && continued == 0
            }
            FcOp::Continue => voted && branch_idle == 0,
        };
        let target = if jump { flow.jump } else { flow.stay };
        if matches!(target, Target::Never | Target::Reference) {
            return target;
        }
        match (flow.op, jump) {
            (FcOp::Jump, _) | (FcOp::Loop | FcOp::Rep | FcOp::Continue, true) => {}
            (FcOp::Loop | FcOp::Rep, false) => {
                let [count, value, step, _] = shared.constants.int[usize::from(flow.int)];
                self.counts[frame] = count;
                if flow.op == FcOp::Loop {
                    (self.loop_variables[frame], self.steps[frame]) = (i32::from(value), step.cast_signed());
                }
                (self.broke[frame], self.continued[frame]) = (0, 0);
            }
            (FcOp::EndLoop | FcOp::EndRep, true) => {
                self.counts[frame] -= 1;
                self.loop_variables[frame] = self.loop_variables[frame].wrapping_add(self.steps[frame].into());
            }
            (op @ (FcOp::EndLoop | FcOp::EndRep | FcOp::BreakLoop | FcOp::BreakRep), _) if leaves_loop(op, jump) => {
                self.running |= std::mem::take(&mut self.broke[frame]) | std::mem::take(&mut self.continued[frame]);
            }
            (FcOp::EndLoop | FcOp::EndRep | FcOp::BreakLoop | FcOp::BreakRep, _) => {
                self.running &= !jumps;
                self.broke[frame] |= jumps;
            }
            (FcOp::Continue, false) => {
                self.running &= !jumps;
                self.continued[frame] |= jumps;
            }
        }
        match if jump { flow.jump_levels } else { flow.stay_levels } {
            Levels::Keep => {}
            Levels::Pop(count) => {
                for level in &mut self.levels[levels - usize::from(count)..levels] {
                    self.running |= std::mem::take(level);
                }
            }
            Levels::Push => {
                let disagree = if jump { stays } else { jumps } & self.running;
                self.running &= !disagree;
                self.levels[levels] = disagree;
            }
        }
        self.result = 0;
        target
    }

    /// The lanes whose truth table says jump.
    fn wants(&self, flow: &Flow) -> Mask {
        let predicate = match flow.predicate {
            None => Mask::MAX,
            Some((bit, false)) => self.predicates[usize::from(bit)],
            Some((bit, true)) => !self.predicates[usize::from(bit)],
        };
        let of = |bit: u8, lanes: Mask| if flow.wants >> bit & 1 == 1 { lanes } else { 0 };
        of(0, !self.result & !predicate)
            | of(1, !self.result & predicate)
            | of(2, self.result & !predicate)
            | of(3, self.result & predicate)
    }
}

/// Writes `row` to `to` where the mask says so.
fn store(to: &mut Row, row: &Row, mask: Mask) {
    for lane in 0..LANES {
        to[lane] = if mask >> lane & 1 == 1 { row[lane] } else { to[lane] };
    }
}

fn lanes_where(test: impl Fn(usize) -> bool) -> Mask {
    (0..LANES).fold(0, |mask, lane| mask | Mask::from(test(lane)) << lane)
}
