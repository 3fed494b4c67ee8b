//! The portable back end: the form in plain Rust, a row of 64 lanes for each vector.
//!
//! All of it is one function, compiled for the features of the host. In WebAssembly the operations of each instruction set, each loop over rows, and lookups are functions of their own: a
//! browser compiles a function as a whole when a program first runs, twice if it takes long, and few programs need all of them.

mod alu_rows;
mod unit_rows;

pub use alu_rows::alu_rows;
use alu_rows::holds;
use unit_rows::{dot_rows, unit_rows};

use crate::codegen::portable::dense::{Constant, Dense, Step};
use crate::codegen::portable::lookups::lookup;
use crate::codegen::portable::rows::{Work, copy, lanes_where, map, map3, on_this_host, store};
use crate::launch::lanes::{BailOut, Result};
use crate::launch::wavefronts::bindings::Binding;
use crate::launch::wavefronts::wave::{
    Fetched, GRADIENTS, LANE_NUMBERS, LANES, Ran, Row, Shared, Wave, lanes_of, quads,
};
use ctm_exec::float::{NAN, SIGN};
use ctm_exec::r700::alu::{relative_read, relative_write};
use ctm_ir::masked::{Code, End, JumpTarget, M, MaskOp, Op, RegisterFile, Value, Var};
use ctm_ir::values::lane;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Instructions of a wavefront after which it asks whether it should stop, where no thread sets its flag: about a millisecond in a browser.
const INSTRUCTIONS_PER_POLL: u64 = 1 << 12;

/// The state of a running wavefront.
pub struct WavefrontState {
    dense: Arc<Dense>,
    rows: Vec<Row>,
    /// The result of an operation, which may replace one of its operands.
    result: Row,
    masks: Box<[u64; M::COUNT]>,
    gradients: [Row; GRADIENTS],
    /// The existing lanes.
    existing: u64,
    /// Instructions issued.
    issued: u64,
    /// Instructions issued when it last asked whether it should stop.
    polled: u64,
    /// The present block.
    block: usize,
    /// The place at which it goes on.
    place: usize,
}

impl WavefrontState {
    /// A machine for a program.
    pub fn new(dense: Arc<Dense>) -> Self {
        Self {
            rows: vec![[0; LANES]; dense.rows],
            result: [0; LANES],
            dense,
            masks: Box::new([0; M::COUNT]),
            gradients: [[0; LANES]; GRADIENTS],
            existing: 0,
            issued: 0,
            polled: 0,
            block: 0,
            place: 0,
        }
    }

    /// Begins a wavefront.
    ///
    /// # Errors
    /// [`BailOut`]: there is no such uniform value.
    pub fn begin(&mut self, start: &[Var], shared: &Shared<'_>, wave: &Wave) -> Result {
        let dense = &*self.dense;
        self.rows[..dense.vars].fill([0; LANES]);
        for (row, &constant) in self.rows[dense.vars..].iter_mut().zip(&dense.constants) {
            let bits = match constant {
                Constant::Bits(bits) => bits,
                Constant::Uniform(index) => *shared.uniforms.get(usize::from(index)).ok_or(BailOut)?,
            };
            // Mostly it is filled already.
            if row[0] != bits || row[LANES - 1] != bits {
                row.fill(bits);
            }
        }
        for (&var, row) in start.iter().zip(&wave.start) {
            if let Some(to) = dense.row(var) {
                self.rows[to] = *row;
            }
        }
        *self.masks = [0; M::COUNT];
        self.existing = wave.existing;
        self.masks[M::EXISTING.index()] = self.existing;
        self.masks[M::VALID.index()] = wave.valid;
        self.masks[M::ACTIVE.index()] = wave.valid;
        self.masks[M::FIRST.index()] = wave.fetched.first_in_group as u64;
        (self.issued, self.polled, self.block, self.place) = (0, 0, 0, 0);
        self.gradients = [[0; LANES]; GRADIENTS];
        Ok(())
    }

    /// Runs the wavefront to its end, or to its next yield; the next call goes on from there.
    ///
    /// # Errors
    /// [`BailOut`]: the reference interpreter has to.
    pub fn run(&mut self, code: &Code, exports: &[usize], shared: &Shared<'_>, wave: &mut Wave) -> Result<Ran> {
        loop {
            let block = &code.blocks[self.block];
            if self.place == 0 {
                wave.visits[self.block] += 1;
                self.issued += u64::from(block.tally.instructions());
                wave.is_spent = self.issued > shared.fuel;
                if wave.is_spent || self.is_stopped(shared) {
                    return Err(BailOut);
                }
            }
            if let Some(number) = on_this_host(Ops { machine: self, shared, wave })? {
                return Ok(Ran::ToYield(number));
            }
            let target = match block.end {
                End::Stop => break,
                End::Next(target) => target,
                End::Branch { mask, none, .. } if self.mask(mask) == 0 => none,
                End::Branch { some, .. } => some,
            };
            match target {
                JumpTarget::Block(id) => self.block = usize::from(id),
                JumpTarget::Reference => return Err(BailOut),
            }
        }
        wave.valid = self.masks[M::VALID.index()];
        for (row, &index) in wave.exports.iter_mut().zip(exports) {
            match self.dense.row(Var((Var::export(0, 0).index() + index) as u16)) {
                Some(from) => *row = self.rows[from],
                None => *row = [0; LANES],
            }
        }
        Ok(Ran::ToEnd)
    }

    /// Whether the launch is over, or an earlier part of it has faulted.
    fn is_stopped(&mut self, shared: &Shared<'_>) -> bool {
        let Some(part) = shared.polled else { return shared.stop.load(Ordering::Relaxed) != 0 };
        if self.issued - self.polled < INSTRUCTIONS_PER_POLL {
            return false;
        }
        self.polled = self.issued;
        part.is_stopped()
    }

    fn mask(&self, m: M) -> u64 {
        self.masks[m.index()]
    }

    fn row(&self, value: Value) -> &Row {
        &self.rows[value.index()]
    }

    /// Stores a row in another.
    #[inline(always)]
    fn set(&mut self, to: usize, from: Value, mask: u64) {
        let Ok([to, from]) = self.rows.get_disjoint_mut([to, from.index()]) else { return };
        if mask | !self.existing == u64::MAX {
            copy(to, from);
        } else {
            store(to, from, mask);
        }
    }

    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn set_relative(&mut self, (gprs, base, element): (u8, u8, u8), index: Value, from: Value, mask: u64) {
        let (index, from) = (*self.row(index), *self.row(from));
        for lane in lanes_of(mask) {
            let register = relative_write(base, index[lane].cast_signed(), usize::from(gprs));
            let var = register.map(|register| Var::gpr(register, usize::from(element)));
            if let Some(row) = var.and_then(|var| self.dense.row(var)) {
                self.rows[row][lane] = from[lane];
            }
        }
    }

    /// An element of a register or constant, or a dword of the data share, at an index of each lane.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn get_relative(
        &self,
        (file, base, element): (RegisterFile, u8, u8),
        at: Value,
        shared: &Shared<'_>,
        wave: &Wave,
    ) -> Row {
        let mut row = *self.row(at);
        for (lane, place) in row.iter_mut().enumerate() {
            let index = place.cast_signed();
            *place = match file {
                _ if lane >= shared.lanes && file != RegisterFile::Share => 0,
                RegisterFile::Gprs(gprs) => {
                    let register = relative_read(base, index, usize::from(gprs));
                    self.dense.row(Var::gpr(register, usize::from(element))).map_or(0, |row| self.rows[row][lane])
                }
                RegisterFile::Constants(first, count) => {
                    let at = usize::try_from(i64::from(base) + i64::from(index)).ok();
                    let at = at.filter(|&at| at < usize::from(count));
                    let dword = at.map(|at| 4 * (usize::from(first) + at) + usize::from(element));
                    dword.and_then(|dword| shared.uniforms.get(dword)).copied().unwrap_or(NAN)
                }
                RegisterFile::Share => wave.fetched.group.dword(place.wrapping_add(base.into())),
            };
        }
        row
    }

    /// A fetch, for all lanes at once where possible.
    #[inline(always)]
    fn fetch<const FUSED: bool>(
        &mut self,
        (number, to): (u16, u32),
        at: [Value; 4],
        under: M,
        shared: &Shared<'_>,
        fetched: &mut Fetched,
    ) -> Result {
        let (number, working) = (usize::from(number), self.mask(under));
        let at = at.map(|value| &self.rows[value.index()]);
        let mut texels = [[0; LANES]; 4];
        let found = match (shared.bindings.get(number), shared.fetches.get(number)) {
            (Some(Some(Binding::Texels(texels))), Some(fetch)) => {
                lookup::<FUSED>(fetch, texels, at, working).map(|found| (found, texels.texel_bytes))
            }
            _ => None,
        };
        if let Some((found, bytes)) = found {
            texels = found;
            fetched.count(working, bytes.into());
        } else {
            fetched.covered = self.masks[M::VALID.index()];
            fetched.run(shared, number, &at, (working, &mut texels), &mut self.gradients)?;
        }
        self.rows[to as usize..to as usize + 4].copy_from_slice(&texels);
        Ok(())
    }

    /// An operation that the reference functions do lane by lane.
    #[cfg_attr(target_arch = "wasm32", inline(never))]
    fn by_lanes(&self, op: &Op, lanes: usize) -> Row {
        let none = [0; LANES];
        let mut rows = [&none; Op::OPERANDS];
        let mut count = 0;
        for (row, value) in rows.iter_mut().zip(op.reads()) {
            *row = self.row(value);
            count += 1;
        }
        let mut results = [0; LANES];
        let mut args = [0; Op::OPERANDS];
        for (at, result) in results.iter_mut().enumerate().take(lanes) {
            for (arg, row) in args.iter_mut().zip(&rows[..count]) {
                *arg = row[at];
            }
            *result = lane(op, &args);
        }
        results
    }

    #[inline(always)]
    fn mask_op(&mut self, op: MaskOp) {
        let result = match op {
            MaskOp::Copy(_, a) => self.mask(a),
            MaskOp::And(_, a, b) => self.mask(a) & self.mask(b),
            MaskOp::AndNot(_, a, b) => self.mask(a) & !self.mask(b),
            MaskOp::Or(_, a, b) => self.mask(a) | self.mask(b),
            MaskOp::Xor(_, a, b) => self.mask(a) ^ self.mask(b),
            MaskOp::Quads(_, a) => quads(self.mask(a)) & self.existing,
            MaskOp::Lanes(_, value) => lanes_where(self.row(value), |bits| bits != 0) & self.existing,
            MaskOp::Number(_, number) => i64::from(number).cast_unsigned(),
            MaskOp::Add(d, number, thirteen_bits) => {
                let sum = self.mask(d).wrapping_add(i64::from(number).cast_unsigned());
                if thirteen_bits { (sum.cast_signed() << 51 >> 51).cast_unsigned() } else { sum }
            }
            MaskOp::IfNot0(_, _, b) if self.mask(b) == 0 => 0,
            MaskOp::IfNot0(_, a, _) => self.mask(a),
        };
        self.masks[op.writes().index()] = result;
    }
}

/// The execution of the rest of a block's operations; its result is the number of the next yield.
struct Ops<'a, 'b> {
    machine: &'a mut WavefrontState,
    shared: &'a Shared<'b>,
    wave: &'a mut Wave,
}

impl Work for Ops<'_, '_> {
    type Done = Result<Option<u16>>;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Result<Option<u16>> {
        let Self { machine, shared, wave } = self;
        let dense = Arc::clone(&machine.dense);
        let from = std::mem::take(&mut machine.place);
        for (place, &Step { op, to }) in dense.blocks[machine.block].iter().enumerate().skip(from) {
            let row = match op {
                Op::Bits(_) | Op::Uniform(_) | Op::Fetched(..) => continue,
                Op::Get(var) => machine.rows[dense.row(var).ok_or(BailOut)?],
                Op::Number(number) => [machine.mask(number) as u32; LANES],
                Op::Lane => LANE_NUMBERS,
                Op::GetRelative { file, base, element, index } => {
                    machine.get_relative((file, base, element), index, shared, wave)
                }
                Op::Abs(a) => map(machine.row(a), |x| x & !SIGN),
                Op::Neg(a) => map(machine.row(a), |x| x ^ SIGN),
                Op::Alu { op, operands: abc, omod, clamp } => {
                    alu_rows::<FUSED>(op, abc.map(|value| machine.row(value)), omod, clamp)
                }
                Op::Holds { op: of, operands: [a, b], wanted } => match holds(of, machine.row(a), machine.row(b)) {
                    Some(row) if wanted => row,
                    Some(row) => map(&row, |holds| !holds),
                    None => machine.by_lanes(&op, shared.lanes),
                },
                Op::Select([c, a, b]) => {
                    map3(machine.row(c), machine.row(a), machine.row(b), |c, a, b| if c != 0 { a } else { b })
                }
                Op::Cube { .. } | Op::Wide { .. } => machine.by_lanes(&op, shared.lanes),
                Op::Dot(dot, all) => dot_rows(dot, all.map(|value| machine.row(value))),
                Op::Unit(unit, abc) => {
                    let WavefrontState { rows, result, .. } = &mut *machine;
                    let constants = abc.map(|value| dense.is_constant(value).then(|| rows[value.index()][0]));
                    unit_rows::<FUSED>(unit, abc.map(|value| &rows[value.index()]), constants, result);
                    copy(&mut rows[to as usize], result);
                    continue;
                }
                Op::QuadLane(a, which) => {
                    let mut row = *machine.row(a);
                    row.as_chunks_mut::<4>().0.iter_mut().for_each(|quad| *quad = [quad[usize::from(which & 3)]; 4]);
                    row
                }
                Op::Guard { number, base, count } => {
                    let index = i64::from(base) + i64::from(machine.mask(number) as i32);
                    if !(0..i64::from(count)).contains(&index) {
                        return Err(BailOut);
                    }
                    continue;
                }
                Op::Fetch { number, at, under } => {
                    machine.fetch::<FUSED>((number, to), at, under, shared, &mut wave.fetched)?;
                    continue;
                }
                Op::Store { number, operands: of, under } => {
                    let of = of.map(|value| machine.row(value));
                    wave.fetched.store(shared, usize::from(number), &of, machine.mask(under))?;
                    continue;
                }
                Op::Set { var, value: from, under } => {
                    let mask = machine.mask(under);
                    machine.set(dense.row(var).ok_or(BailOut)?, from, mask);
                    continue;
                }
                Op::SetRelative { gprs, base, element, operands: [index, from], under } => {
                    machine.set_relative((gprs, base, element), index, from, machine.mask(under));
                    continue;
                }
                Op::Mark(var, under) => {
                    if let Some(index) = var.export_index() {
                        wave.written[index] |= machine.mask(under);
                    }
                    continue;
                }
                Op::Mask(op) => {
                    machine.mask_op(op);
                    continue;
                }
                Op::Tally { counter, weight, under: lanes } => {
                    wave.tallies[counter.index()] += u64::from(machine.mask(lanes).count_ones()) * u64::from(weight);
                    continue;
                }
                Op::Yield(number) => {
                    machine.place = place + 1;
                    return Ok(Some(number));
                }
            };
            copy(&mut machine.rows[to as usize], &row);
        }
        Ok(None)
    }
}
