//! Fetches whose coordinates are whole linear functions of the index pair and of loop iterations.
//!
//! A program whose only flow control is counted loops is a tree ([`Item`], found by `uniform`). This analysis finds the
//! register components that are `c + i * (column) + j * (row) + n * (iteration of a loop) ...` exactly ([`Linear`]):
//! sums and products of such values stay exact as long as they are multiples of 1/256 below 65536 in magnitude, which
//! single precision holds without rounding. A value that is not known to be exact counts as no linear function.

use crate::passes::masked::VarSet;
use ctm_exec::Domain;
use ctm_exec::float::flush;
use ctm_exec::ramp::Ramp;
use ctm_exec::watch::Watch;
use ctm_exec::x1k::Launch;
use ctm_exec::x1k::Plane;
use ctm_ir::masked::{Block, ChannelOp, Code, Fetch as Lookup, Op, Value, Var};
use ctm_isa::r700::ops::{AluOp, Omod, Op2, Op3};
use ctm_isa::x1k::ops::Omod as XOmod;
use rustc_hash::FxHashMap as Map;
use std::collections::BTreeSet;

/// The launch parameters of either instruction set.
#[derive(Clone, Copy)]
pub struct LaunchParameters<'a> {
    /// The domain.
    pub domain: Domain,
    /// The start values of registers.
    pub planes: &'a [Plane],
    /// Dwords of the constants that do not change.
    pub constants: &'a [u32],
    /// Worker threads; 0: one per core.
    pub threads: usize,
    /// The stop flag.
    pub watch: Option<&'a Watch>,
}

impl<'a> LaunchParameters<'a> {
    /// The parameters of an X1K launch.
    pub fn of(launch: &'a Launch<'a>, watch: Option<&'a Watch>) -> Self {
        let Launch { domain, planes, threads, constants, .. } = *launch;
        Self { domain, planes, constants: constants.float.as_flattened(), threads, watch }
    }

    /// The bits of a component of a constant.
    pub fn constant(&self, index: u16) -> u32 {
        self.constants.get(usize::from(index)).copied().unwrap_or_default()
    }
}

/// The most loops around a fetch.
pub const LOOPS: usize = 4;
/// One, in the units of [`Linear`].
pub const UNIT: i64 = 256;
/// Magnitudes stay below this, in the same units.
const LIMIT: i64 = 65536 * UNIT;
/// The most columns and rows of a domain.
const INDICES: i64 = 4096;

/// A part of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// The operations of a block.
    Block(usize),
    /// A counted loop.
    Loop {
        /// Iterations, at least one.
        iterations: u16,
        /// The body of the loop.
        body: Vec<Item>,
    },
}

/// `c + i * column + j * row + iterations[d] * (iteration of the loop at depth d)`, in units of 1/256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Linear {
    /// The constant.
    pub c: i64,
    /// The increment for each column.
    pub i: i64,
    /// The increment for each row.
    pub j: i64,
    /// The increment for each iteration of the enclosing loops, outermost first.
    pub iterations: [i64; LOOPS],
}

impl Linear {
    const fn constant(c: i64) -> Self {
        Self { c, i: 0, j: 0, iterations: [0; LOOPS] }
    }

    /// The value of a float that is a constant.
    fn of_bits(bits: u32) -> Option<Self> {
        Self::of_number(f64::from(f32::from_bits(flush(bits))))
    }

    #[allow(clippy::cast_precision_loss, reason = "the limit is small")]
    fn of_number(x: f64) -> Option<Self> {
        let units = x * UNIT as f64;
        (units.abs() < LIMIT as f64 && units == units.trunc()).then_some(Self::constant(units as i64))
    }

    /// The same value `rows` rows further down.
    pub fn below(self, rows: u8) -> Self {
        Self { c: self.c + self.j * i64::from(rows), ..self }
    }

    /// Each part, changed.
    fn map(self, mut of: impl FnMut(i64) -> i64) -> Self {
        Self { c: of(self.c), i: of(self.i), j: of(self.j), iterations: self.iterations.map(of) }
    }

    fn is_constant(&self) -> bool {
        *self == Self::constant(self.c)
    }

    fn add(mut self, other: Self) -> Self {
        self.c += other.c;
        self.i += other.i;
        self.j += other.j;
        self.iterations.iter_mut().zip(other.iterations).for_each(|(a, b)| *a += b);
        self
    }

    /// Times a constant in units of 1/256; `None` when that is no multiple of the unit.
    fn times(self, factor: i64) -> Option<Self> {
        let mut exact = true;
        let scaled = self.map(|x| {
            exact &= x * factor % UNIT == 0;
            x * factor / UNIT
        });
        exact.then_some(scaled)
    }

    /// Whether every index pair and iteration keeps it in the range in which it is exact.
    fn is_exact(&self, iterations: &[u16; LOOPS]) -> bool {
        let reach = |x: i64, n: i64| x.abs().saturating_mul(n);
        let iterations =
            self.iterations.iter().zip(iterations).map(|(&t, &n)| reach(t, n.into())).fold(0, i64::saturating_add);
        let all = self.c.abs().saturating_add(reach(self.i, INDICES)).saturating_add(reach(self.j, INDICES));
        all.saturating_add(iterations) < LIMIT
    }

    /// Its floor; `None` if it takes steps that are not integers.
    fn floor(&self) -> Option<Self> {
        let whole = self.i % UNIT == 0 && self.j % UNIT == 0 && self.iterations.iter().all(|t| t % UNIT == 0);
        whole.then(|| self.map(|x| x.div_euclid(UNIT)))
    }
}

/// A fetch of one element for all columns, or of elements side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The number of the input.
    pub input: u8,
    /// The column of the element, before it is clamped; in elements.
    pub x: Linear,
    /// The row.
    pub y: Linear,
    /// Iterations of the enclosing loops; 0 where there is none.
    pub iterations: [u16; LOOPS],
}

impl Fetch {
    /// Whether all columns read the same element.
    pub const fn is_uniform(&self) -> bool {
        self.x.i == 0 && self.y.i == 0
    }
}

/// The fetches of a program.
#[derive(Clone, Debug)]
pub struct Fetches {
    /// By block and place in the block.
    pub all: Map<(usize, usize), Fetch>,
    /// Components (`4 * register + channel`) of floating-point constants that coordinates depend on, and their bits.
    pub constants: Vec<(u16, u32)>,
}

/// The fetches of a program of these parts; `None` where a fetch has other coordinates, or the analysis takes too long.
///
/// The result holds for the launch's planes and for the floating-point constants that it names.
pub fn analyse(code: &Code, items: &[Item], given: &LaunchParameters<'_>) -> Option<Fetches> {
    let mut walk = Walk {
        code,
        given,
        fetches: Map::default(),
        given_up: false,
        values: Vec::new(),
        work: 0,
        iterations: [0; LOOPS],
    };
    let mut state: Vec<Option<Linear>> = (0..Var::COUNT as u16).map(|var| walk.start(Var(var))).collect();
    walk.items(items, &mut state, 0);
    let is_linear = |block: usize| {
        let mut fetches = code.blocks[block].ops.iter().enumerate().filter(|(_, op)| matches!(op, Op::Fetch { .. }));
        fetches.all(|(place, _)| walk.fetches.contains_key(&(block, place)))
    };
    if walk.given_up || !blocks(items).into_iter().all(|(block, _)| is_linear(block)) {
        return None;
    }
    // The constants that coordinates depend on.
    let (_, constants) = dependencies(code, |op| matches!(op, Op::Fetch { .. }));
    let constants = constants.into_iter().map(|index| (index, given.constant(index))).collect();
    Some(Fetches { all: walk.fetches, constants })
}

/// The variables and constants on which the wanted operations depend, transitively.
pub fn dependencies(code: &Code, is_wanted: impl Fn(&Op) -> bool) -> (VarSet, BTreeSet<u16>) {
    let (mut vars, mut constants) = (VarSet::NONE, BTreeSet::new());
    loop {
        let before = vars;
        for block in &code.blocks {
            let mut live = vec![false; block.ops.len()];
            for (place, op) in block.ops.iter().enumerate().rev() {
                let sets = matches!(*op, Op::Set { var, .. } if vars.contains(var));
                if live[place] || sets || is_wanted(op) {
                    op.reads().for_each(|value| live[value.index()] = true);
                    match *op {
                        Op::Get(var) => vars.insert(var),
                        Op::Uniform(index) => _ = constants.insert(index),
                        _ => {}
                    }
                }
            }
        }
        if vars == before {
            return (vars, constants);
        }
    }
}

/// The loop depth.
pub fn depth(items: &[Item]) -> usize {
    blocks(items).iter().map(|(_, around)| around.len()).max().unwrap_or(0)
}

/// The analysis in progress.
struct Walk<'a> {
    code: &'a Code,
    given: &'a LaunchParameters<'a>,
    fetches: Map<(usize, usize), Fetch>,
    given_up: bool,
    /// The values of a block, where they are known.
    values: Vec<Option<Linear>>,
    work: usize,
    /// Iterations of the loops around.
    iterations: [u16; LOOPS],
}

/// The budget of operations that the analysis may follow, repetitions included.
const WORK: usize = 100_000;

impl Walk<'_> {
    fn start(&self, var: Var) -> Option<Linear> {
        let linear = match Ramp::of(var.index() / 4, var.index() % 4, self.given.planes) {
            None => Some(Linear::default()),
            Some(ramp) => of_ramp(&ramp),
        };
        self.exact(linear)
    }

    fn exact(&self, linear: Option<Linear>) -> Option<Linear> {
        linear.filter(|linear| linear.is_exact(&self.iterations))
    }

    fn items(&mut self, items: &[Item], state: &mut [Option<Linear>], depth: usize) {
        for item in items {
            match item {
                Item::Block(index) => self.block(*index, state),
                Item::Loop { iterations, body } => {
                    self.iterations[depth] = *iterations;
                    self.repeat(*iterations, body, state, depth);
                    self.iterations[depth] = 0;
                }
            }
        }
    }

    /// The effect of a loop: guesses that each iteration adds the same to a component, and keeps the guesses that hold.
    fn repeat(&mut self, iterations: u16, body: &[Item], state: &mut [Option<Linear>], depth: usize) {
        let entry = state.to_vec();
        let mut after = entry.clone();
        self.items(body, &mut after, depth + 1);
        let mut step = vec![0; entry.len()];
        let guesses = entry.iter().zip(&after).zip(&mut step).map(|((a, b), step)| {
            let (a, b) = ((*a)?, (*b)?);
            let added = b.add(a.map(|x| -x));
            *step = added.c;
            let mut linear = a;
            linear.iterations[depth] += added.c;
            self.exact(added.is_constant().then_some(linear))
        });
        let mut guess: Vec<Option<Linear>> = guesses.collect();
        loop {
            after = guess.clone();
            self.items(body, &mut after, depth + 1);
            let mut changed = false;
            for ((guess, after), step) in guess.iter_mut().zip(&after).zip(&step) {
                let next = guess.map(|guess| guess.add(Linear::constant(*step)));
                if next.is_some() && next != *after {
                    *guess = None;
                    changed = true;
                }
            }
            if !changed || self.given_up {
                break;
            }
        }
        // After the loop: as at the end of its last iteration.
        for (state, after) in state.iter_mut().zip(&after) {
            *state = *after;
            if let Some(linear) = state {
                linear.c += linear.iterations[depth] * i64::from(iterations - 1);
                linear.iterations[depth] = 0;
            }
        }
    }

    fn block(&mut self, index: usize, state: &mut [Option<Linear>]) {
        let block: &Block = &self.code.blocks[index];
        self.work += block.ops.len();
        if self.work > WORK || self.given_up {
            self.given_up = true;
            return;
        }
        let mut values = std::mem::take(&mut self.values);
        values.clear();
        for (place, op) in block.ops.iter().enumerate() {
            let linear = self.op((index, place), op, &values, state);
            values.push(linear);
        }
        self.values = values;
    }

    fn op(
        &mut self,
        place: (usize, usize),
        op: &Op,
        values: &[Option<Linear>],
        state: &mut [Option<Linear>],
    ) -> Option<Linear> {
        let of = |value: Value| values[value.index()];
        let linear = match *op {
            Op::Bits(bits) => Linear::of_bits(bits),
            Op::Get(var) => return state[var.index()],
            Op::Uniform(index) => Linear::of_bits(self.given.constant(index)),
            Op::Neg(a) => of(a)?.times(-UNIT),
            // The product is not rounded separately.
            Op::Unit(ChannelOp::Mad { omod: XOmod::U1, .. }, [a, b, c]) => Some(product(of(a), of(b))?.add(of(c)?)),
            Op::Alu { op, operands: abc, omod: Omod::Off, clamp: false } => self.r700(op, abc.map(of)),
            Op::Set { var, value, .. } => {
                state[var.index()] = of(value);
                None
            }
            Op::Fetch { number, at: [s, t, ..], .. } => {
                if let Lookup::Input { input, unscaled, .. } = self.code.fetches[usize::from(number)] {
                    self.fetch(place, input, [of(s), of(t)], unscaled);
                }
                None
            }
            _ => None,
        };
        self.exact(linear)
    }

    /// The result of an R700 operation on linear functions, as long as every step stays exact.
    fn r700(&self, op: AluOp, [a, b, c]: [Option<Linear>; 3]) -> Option<Linear> {
        match op {
            AluOp::Op2(Op2::Add) => Some(a?.add(b?)),
            AluOp::Op2(Op2::Mul | Op2::MulIeee) => product(a, b),
            AluOp::Op2(Op2::Mov) => a,
            AluOp::Op3(Op3::Muladd | Op3::MuladdIeee) => {
                Some(product(a, b).filter(|product| product.is_exact(&self.iterations))?.add(c?))
            }
            _ => None,
        }
    }

    fn fetch(&mut self, place: (usize, usize), input: u8, [s, t]: [Option<Linear>; 2], unscaled: bool) {
        let floor = |linear: Option<Linear>| linear.and_then(|linear| linear.floor());
        match (floor(s), floor(t)) {
            (Some(x), Some(y)) if unscaled && matches!([x.i, y.i], [0 | 1, 0]) => {
                self.fetches.insert(place, Fetch { input: input & 15, x, y, iterations: self.iterations });
            }
            // It may have been one as long as a guess was wrong.
            _ => _ = self.fetches.remove(&place),
        }
    }
}

/// A product of which one factor is a constant.
fn product(a: Option<Linear>, b: Option<Linear>) -> Option<Linear> {
    let (a, b) = (a?, b?);
    if a.is_constant() { b.times(a.c) } else { a.times(Some(b).filter(Linear::is_constant)?.c) }
}

/// The value of a plane's component; `None` when it takes other steps, or is large.
pub fn of_ramp(ramp: &Ramp) -> Option<Linear> {
    let [c, i, j] = ramp.linear()?;
    let of = |x| Linear::of_number(x).map(|l| l.c);
    let linear = Linear { c: of(c)?, i: of(i)?, j: of(j)?, iterations: [0; LOOPS] };
    linear.is_exact(&[0; LOOPS]).then_some(linear)
}

/// The blocks of a tree, each with the iterations of the loops around it, outermost first.
pub fn blocks(items: &[Item]) -> Vec<(usize, Vec<u16>)> {
    fn walk(items: &[Item], around: &mut Vec<u16>, all: &mut Vec<(usize, Vec<u16>)>) {
        for item in items {
            match item {
                Item::Block(index) => all.push((*index, around.clone())),
                Item::Loop { iterations, body } => {
                    around.push(*iterations);
                    walk(body, around, all);
                    around.pop();
                }
            }
        }
    }
    let mut all = Vec::new();
    walk(items, &mut Vec::new(), &mut all);
    all
}
