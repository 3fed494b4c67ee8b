//! The portable back end: the form, operation by operation, by the reference functions.

use super::form::{Code, End, File, M, MaskOp, Op, Target, Value, Var};
use super::values::lane;
use super::wave::{GRADIENTS, LANE_NUMBERS, LANES, Ran, Row, Shared, Wave, lanes_of, mask_of, quads};
use crate::lanes::Refer;
use ctm_exec::r700::alu::{relative_read, relative_write};
use ctm_exec::x1k::float::NAN;
use std::sync::atomic::Ordering;

/// The state of a wavefront that runs.
pub struct Machine {
    vars: Vec<Row>,
    masks: [u64; M::COUNT],
    values: Vec<Row>,
    /// What a fetch read, by the value that stands for it.
    texels: Vec<(Value, [Row; 4])>,
    gradients: [Row; GRADIENTS],
    /// Instructions issued.
    issued: u64,
    /// The block that runs.
    block: usize,
    /// Where it goes on.
    place: usize,
}

impl Machine {
    /// A machine.
    pub fn new() -> Self {
        Self {
            vars: vec![[0; LANES]; Var::COUNT],
            masks: [0; M::COUNT],
            values: Vec::new(),
            texels: Vec::new(),
            gradients: [[0; LANES]; GRADIENTS],
            issued: 0,
            block: 0,
            place: 0,
        }
    }

    /// Begins a wavefront.
    pub fn begin(&mut self, start: &[Var], lanes: usize, wave: &Wave) {
        self.vars.iter_mut().for_each(|row| *row = [0; LANES]);
        for (var, row) in start.iter().zip(&wave.start) {
            self.vars[var.index()] = *row;
        }
        self.masks = [0; M::COUNT];
        self.masks[M::EXISTING.index()] = mask_of(lanes);
        self.masks[M::VALID.index()] = wave.valid;
        self.masks[M::ACTIVE.index()] = wave.valid;
        self.masks[M::FIRST.index()] = wave.fetched.first_in_group as u64;
        (self.issued, self.block, self.place) = (0, 0, 0);
        self.values.clear();
        self.texels.clear();
        self.gradients = [[0; LANES]; GRADIENTS];
    }

    /// Runs the wavefront to its end, or to where it takes its turn; the next call goes on from there.
    ///
    /// # Errors
    /// [`Refer`]: the reference interpreter has to.
    pub fn run(&mut self, code: &Code, exports: &[usize], shared: &Shared<'_>, wave: &mut Wave) -> Result<Ran, Refer> {
        loop {
            let block = &code.blocks[self.block];
            if self.place == 0 {
                wave.visits[self.block] += 1;
                self.issued += u64::from(block.tally.instructions());
                wave.is_spent = self.issued > shared.fuel;
                if wave.is_spent || shared.stop.load(Ordering::Relaxed) != 0 {
                    return Err(Refer);
                }
            }
            if let Some(turn) = self.ops(&block.ops, shared, wave)? {
                return Ok(Ran::ToTurn(turn));
            }
            let target = match block.end {
                End::Stop => break,
                End::Next(target) => target,
                End::Branch { mask, none, some } => {
                    if self.masks[mask.index()] == 0 {
                        none
                    } else {
                        some
                    }
                }
            };
            match target {
                Target::Block(id) => self.block = usize::from(id),
                Target::Reference => return Err(Refer),
            }
        }
        wave.valid = self.masks[M::VALID.index()];
        for (row, &index) in wave.exports.iter_mut().zip(exports) {
            *row = self.vars[Var::export(0, 0).index() + index];
        }
        Ok(Ran::ToEnd)
    }

    fn mask(&self, m: M) -> u64 {
        self.masks[m.index()]
    }

    /// What is left of a block's operations; the number of the turn that comes first.
    fn ops(&mut self, ops: &[Op], shared: &Shared<'_>, wave: &mut Wave) -> Result<Option<u16>, Refer> {
        let from = std::mem::take(&mut self.place);
        for (place, op) in ops.iter().enumerate().skip(from) {
            let row = self.op(Value(place as u32), op, shared, wave)?;
            self.values.push(row);
            if let Op::Turn(number) = *op {
                self.place = place + 1;
                return Ok(Some(number));
            }
        }
        self.values.clear();
        self.texels.clear();
        Ok(None)
    }

    fn op(&mut self, value: Value, op: &Op, shared: &Shared<'_>, wave: &mut Wave) -> Result<Row, Refer> {
        let mut row = [0; LANES];
        match *op {
            Op::Get(var) => row = self.vars[var.index()],
            Op::Uniform(index) => row = [*shared.uniforms.get(usize::from(index)).ok_or(Refer)?; LANES],
            Op::Number(number) => row = [self.mask(number) as u32; LANES],
            Op::Lane => row = LANE_NUMBERS,
            Op::GetRelative(File::Share, base, _, index) => {
                let index = &self.values[index.index()];
                for (place, &index) in row.iter_mut().zip(index) {
                    *place = wave.fetched.group.dword(index.wrapping_add(base.into()));
                }
            }
            Op::GetRelative(file, base, element, index) => {
                let index = self.values[index.index()];
                relative(file, base, element, &index, &mut row, shared, &|var| &self.vars[var.index()]);
            }
            Op::Fetched(of, element) => {
                let found = self.texels.iter().find(|(value, _)| *value == of);
                row = found.ok_or(Refer)?.1[usize::from(element & 3)];
            }
            Op::Fetch(number, at, under) => {
                let at = at.map(|value| &self.values[value.index()]);
                let mut texels = [[0; LANES]; 4];
                let under = self.masks[under.index()];
                wave.fetched.run(shared, usize::from(number), &at, under, &mut texels, &mut self.gradients)?;
                self.texels.push((value, texels));
            }
            Op::Store(number, of, under) => {
                let of = of.map(|value| &self.values[value.index()]);
                wave.fetched.store(shared, usize::from(number), &of, self.masks[under.index()])?;
            }
            Op::Set(var, from, under) => {
                let from = self.values[from.index()];
                let place = &mut self.vars[var.index()];
                lanes_of(self.masks[under.index()]).for_each(|lane| place[lane] = from[lane]);
            }
            Op::SetRelative(gprs, base, element, index, from, under) => {
                let (index, from) = (self.values[index.index()], self.values[from.index()]);
                for lane in lanes_of(self.mask(under)) {
                    let register = relative_write(base, index[lane].cast_signed(), usize::from(gprs));
                    if let Some(register) = register {
                        self.vars[Var::gpr(register, usize::from(element)).index()][lane] = from[lane];
                    }
                }
            }
            Op::Mark(var, under) => {
                if let Some(index) = var.export_index() {
                    wave.written[index] |= self.mask(under);
                }
            }
            Op::Mask(op) => self.mask_op(op, shared.lanes),
            Op::Tally(weight) => {
                wave.active_lanes += u64::from(self.mask(M::ACTIVE).count_ones()) * u64::from(weight);
            }
            Op::Turn(_) => {}
            Op::Bits(bits) => row = [bits; LANES],
            Op::Abs(_) | Op::Neg(_) | Op::Alu(..) | Op::Holds(..) | Op::Select(..) | Op::Cube(..) | Op::Wide(..) => {
                let none = [0; LANES];
                let mut rows = [&none; 6];
                let mut count = 0;
                for (row, value) in rows.iter_mut().zip(op.reads()) {
                    *row = &self.values[value.index()];
                    count += 1;
                }
                let mut args = [0; 6];
                for (at, result) in row.iter_mut().enumerate().take(shared.lanes) {
                    for (arg, row) in args.iter_mut().zip(&rows[..count]) {
                        *arg = row[at];
                    }
                    *result = lane(op, &args);
                }
            }
        }
        Ok(row)
    }

    fn mask_op(&mut self, op: MaskOp, lanes: usize) {
        let result = match op {
            MaskOp::Copy(_, a) => self.mask(a),
            MaskOp::And(_, a, b) => self.mask(a) & self.mask(b),
            MaskOp::AndNot(_, a, b) => self.mask(a) & !self.mask(b),
            MaskOp::Or(_, a, b) => self.mask(a) | self.mask(b),
            MaskOp::Xor(_, a, b) => self.mask(a) ^ self.mask(b),
            MaskOp::Quads(_, a) => quads(self.mask(a)) & mask_of(lanes),
            MaskOp::Lanes(_, value) => {
                let row = &self.values[value.index()];
                (0..lanes).fold(0, |mask, lane| mask | u64::from(row[lane] != 0) << lane)
            }
            MaskOp::Number(_, number) => i64::from(number).cast_unsigned(),
            MaskOp::Add(d, number, thirteen_bits) => {
                let sum = self.mask(d).wrapping_add(i64::from(number).cast_unsigned());
                if thirteen_bits { (sum.cast_signed() << 51 >> 51).cast_unsigned() } else { sum }
            }
            MaskOp::IfNot0(_, a, b) => {
                if self.mask(b) == 0 {
                    0
                } else {
                    self.mask(a)
                }
            }
        };
        self.masks[op.writes().index()] = result;
    }
}

/// An element of registers or constants at an index of each lane.
pub fn relative<'a>(
    file: File,
    base: u8,
    element: u8,
    index: &Row,
    to: &mut Row,
    shared: &Shared<'_>,
    var: &dyn Fn(Var) -> &'a Row,
) {
    for (lane, place) in to.iter_mut().enumerate().take(shared.lanes) {
        let index = index[lane].cast_signed();
        *place = match file {
            File::Gprs(gprs) => {
                var(Var::gpr(relative_read(base, index, usize::from(gprs)), usize::from(element)))[lane]
            }
            File::Constants(first, count) => {
                let at = usize::try_from(i64::from(base) + i64::from(index)).ok();
                let at = at.filter(|&at| at < usize::from(count));
                let dword = at.map(|at| 4 * (usize::from(first) + at) + usize::from(element));
                dword.and_then(|dword| shared.uniforms.get(dword)).copied().unwrap_or(NAN)
            }
            File::Share => 0,
        };
    }
}
