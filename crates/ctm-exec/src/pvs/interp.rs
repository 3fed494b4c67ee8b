//! The reference interpreter of vertex programs.
//!
//! An instruction is: fetch sources (those of the dual operation as well), compute, ask the predicate, write back; then the flow-control slots are asked where
//! the path goes on (pvs-encoding §6).

use super::{Vector, ops};
use crate::fault::{Fault, FaultKind};
use crate::float::{ONE, SIGN};
use crate::x1k::ops::clamp;
use ctm_isa::pvs::flow::{Action, FlowTable, action};
use ctm_isa::pvs::formats::Src;
use ctm_isa::pvs::inst::{Inst, RegisterAddress};
use ctm_isa::pvs::ops::{AddrMode, Class, DstType, FlowOp, MacroOp, MathOp, Op, Select, SrcType, VectorOp};
use ctm_isa::pvs::{ALTERNATE_TEMPORARIES, FLOW_STACK, INPUTS, OUTPUTS, TEMPORARY_ADDRESSES, VertexProgram};
use ctm_isa::table::FieldError;
use ops::Comparison::{Eq, Gt, Gte, Neq};

/// A program with its words decoded.
#[derive(Clone, Debug)]
pub struct DecodedProgram {
    insts: Vec<Result<Inst, FieldError>>,
    first: u16,
    last: u16,
    flow: FlowTable,
    const_base: u8,
    const_max: u8,
}

impl DecodedProgram {
    /// Decodes a program. Words without a meaning are a fault when a vertex executes them.
    #[must_use]
    pub fn new(program: &VertexProgram) -> Self {
        Self {
            insts: program.words.iter().map(Inst::decode).collect(),
            first: program.first,
            last: program.last,
            flow: program.flow,
            const_base: program.const_base,
            const_max: program.const_max,
        }
    }
}

/// The registers of one vertex. Registers that nothing has written hold 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vertex {
    /// Input vectors.
    pub inputs: [Vector; INPUTS],
    /// Temporaries.
    pub temporaries: [Vector; TEMPORARY_ADDRESSES],
    /// Alternate temporaries.
    pub alternates: [Vector; ALTERNATE_TEMPORARIES],
    /// A0.
    pub address: [i32; 4],
    /// The predicate.
    pub predicate: bool,
    /// Output vectors.
    pub outputs: [Vector; OUTPUTS],
}

impl Vertex {
    /// A vertex with these inputs; others are (0, 0, 0, 0), and more than 16 are ignored.
    #[must_use]
    pub fn new(inputs: &[Vector]) -> Self {
        let input = |n: usize| inputs.get(n).copied().unwrap_or_default();
        Self {
            inputs: std::array::from_fn(input),
            temporaries: [[0; 4]; TEMPORARY_ADDRESSES],
            alternates: [[0; 4]; ALTERNATE_TEMPORARIES],
            address: [0; 4],
            predicate: false,
            outputs: [[0; 4]; OUTPUTS],
        }
    }
}

/// An open loop or subroutine.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// Iterations that are left, this one included.
    count: u16,
    /// aL outside, which the end restores.
    outer: i32,
}

/// Runs a program on a vertex: from the first instruction until the last one, or a fault. Gives the number of executed instructions.
///
/// `constants` are the machine's, from 0; those that it lacks are (0, 0, 0, 0). The registers keep their values of before; of a fault, those until then.
///
/// # Errors
/// The vertex executed words without a meaning, left the program, opened more than 8 loops and subroutines, or executed more than `budget` instructions.
///
/// ```
/// use ctm_exec::pvs::{BUDGET, DecodedProgram, Vertex, run};
/// let program = ctm_isa::pvs::text::assemble("mul o0, v0, c0").program.expect("it assembles");
/// let [two, three] = [2f32, 3.0].map(|x| [x.to_bits(); 4]);
/// let mut vertex = Vertex::new(&[two]);
/// run(&DecodedProgram::new(&program), &[three], &mut vertex, BUDGET)?;
/// assert_eq!(vertex.outputs[0], [6f32.to_bits(); 4]);
/// # Ok::<(), ctm_exec::Fault>(())
/// ```
pub fn run(code: &DecodedProgram, constants: &[Vector], vertex: &mut Vertex, budget: u64) -> Result<u64, Fault> {
    let mut machine = Machine { code, constants, vertex, al: 0, open: Vec::new(), frames: Vec::new() };
    let mut pc = code.first;
    let mut executed = 0;
    loop {
        let fault = |kind| Fault { kind, pc: u32::from(pc), position: None };
        if executed >= budget {
            return Err(fault(FaultKind::InstructionBudget { limit: budget }));
        }
        let slots = u32::try_from(code.insts.len()).unwrap_or(u32::MAX);
        let inst = code.insts.get(usize::from(pc));
        let inst = inst.ok_or_else(|| fault(FaultKind::PcOutOfRange { target: u32::from(pc), slots }))?;
        machine.execute(inst.as_ref().map_err(|error| fault(FaultKind::Undecodable(*error)))?);
        executed += 1;
        match machine.next(pc).map_err(fault)? {
            Some(next) => pc = next,
            None => return Ok(executed),
        }
    }
}

struct Machine<'a> {
    code: &'a DecodedProgram,
    constants: &'a [Vector],
    vertex: &'a mut Vertex,
    /// The loop index.
    al: i32,
    /// The slots of open loops and subroutines, the innermost one last.
    open: Vec<usize>,
    /// Of each its frame.
    frames: Vec<Frame>,
}

/// A result: components, and the predicate where the operation sets it.
struct Computed {
    value: Vector,
    predicate: Option<bool>,
}

impl From<Vector> for Computed {
    fn from(value: Vector) -> Self {
        Self { value, predicate: None }
    }
}

/// A scalar to every component.
impl From<u32> for Computed {
    fn from(value: u32) -> Self {
        Self { value: [value; 4], predicate: None }
    }
}

impl From<(u32, bool)> for Computed {
    fn from((value, predicate): (u32, bool)) -> Self {
        Self { value: [value; 4], predicate: Some(predicate) }
    }
}

impl Machine<'_> {
    /// One instruction: all sources are read before anything is written.
    fn execute(&mut self, inst: &Inst) {
        let source = |n: usize| inst.source(n).map_or([0; 4], |src| self.operand(src));
        let operands = [source(0), source(1), source(2)];
        let dual = inst.dual().map(|(op, dual)| {
            let [x, y] = [false, true].map(|second| self.operand(&dual.operand(second))[0]);
            (op, dual, math(op, [x, y, y]))
        });
        let result = match inst.op {
            Op::Vector(op) => vector(op, operands),
            Op::Macro(op) => macro_op(op, operands),
            Op::Math(op) => math(op, operands.map(|operand| operand[3])),
        };
        let writes = !inst.dst.pred_enable || self.vertex.predicate == inst.dst.pred_sense;
        if !writes {
            return;
        }
        let clamped = if inst.op.is_math() { inst.dst.me_sat } else { inst.dst.ve_sat };
        let mask = match inst.op {
            Op::Vector(op) => inst.dst.write_mask() & conditional_mask(op, operands[0]),
            Op::Macro(_) | Op::Math(_) => inst.dst.write_mask(),
        };
        if inst.op.info().class != Class::Nothing {
            self.write(inst.dst.reg_type, inst.dst.address(), mask, saturate(result.value, clamped));
        }
        self.vertex.predicate = result.predicate.unwrap_or(self.vertex.predicate);
        if let Some((op, dual, result)) = dual {
            if op.info().class != Class::Nothing {
                let (address, mask) = (RegisterAddress::absolute(dual.dst_offset), 1 << dual.we_sel.code());
                let value = saturate(result.value, inst.dst.me_sat);
                self.write(DstType::AltTemporary, address, mask, value);
            }
            self.vertex.predicate = result.predicate.unwrap_or(self.vertex.predicate);
        }
    }

    /// The register number of an address.
    fn index(&self, address: RegisterAddress) -> i32 {
        let base = match address.mode {
            AddrMode::Absolute => 0,
            AddrMode::RelativeA0 => self.vertex.address[address.sel.code() as usize],
            AddrMode::RelativeI0 => self.al,
        };
        base + i32::from(address.offset)
    }

    /// A source: fetch, swizzle, absolute value, sign. Registers that do not exist read as zeros.
    fn operand(&self, src: &Src) -> Vector {
        let index = self.index(src.address());
        let of = |file: &[Vector]| usize::try_from(index).ok().and_then(|n| file.get(n)).copied().unwrap_or_default();
        let register = match src.reg_type {
            SrcType::Temporary => of(&self.vertex.temporaries),
            SrcType::Input => of(&self.vertex.inputs),
            SrcType::AltTemporary => of(&self.vertex.alternates),
            SrcType::Constant if (0..=i32::from(self.code.const_max)).contains(&index) => {
                let base = usize::from(self.code.const_base);
                let at = usize::try_from(index).map_or(usize::MAX, |n| base + n);
                self.constants.get(at).copied().unwrap_or_default()
            }
            SrcType::Constant => [0; 4],
        };
        let mut operand = src.swizzle().map(|select| match select {
            Select::X => register[0],
            Select::Y => register[1],
            Select::Z => register[2],
            Select::W => register[3],
            Select::Zero | Select::Unused => 0,
            Select::One => ONE,
        });
        for (n, component) in operand.iter_mut().enumerate() {
            if src.abs {
                *component &= !SIGN;
            }
            if src.negate() >> n & 1 == 1 {
                *component ^= SIGN;
            }
        }
        operand
    }

    /// Writes the components of `mask`; registers that do not exist lose them.
    fn write(&mut self, kind: DstType, address: RegisterAddress, mask: u8, value: Vector) {
        let index = self.index(address);
        let vertex = &mut *self.vertex;
        let (file, value): (&mut [Vector], Vector) = match kind {
            DstType::Temporary => (&mut vertex.temporaries, value),
            DstType::A0 => {
                for (n, component) in vertex.address.iter_mut().enumerate().filter(|(n, _)| mask >> n & 1 == 1) {
                    *component = ops::to_integer(value[n]);
                }
                return;
            }
            DstType::Output => (&mut vertex.outputs, value),
            DstType::OutputReplicateX => (&mut vertex.outputs, [value[0]; 4]),
            DstType::AltTemporary => (&mut vertex.alternates, value),
            DstType::Input => (&mut vertex.inputs, value),
        };
        let Some(register) = usize::try_from(index).ok().and_then(|n| file.get_mut(n)) else { return };
        for (n, component) in register.iter_mut().enumerate().filter(|(n, _)| mask >> n & 1 == 1) {
            *component = value[n];
        }
    }

    /// Where the path goes on after instruction `pc`; `None` where the program ends.
    fn next(&mut self, pc: u16) -> Result<Option<u16>, FaultKind> {
        loop {
            match action(&self.code.flow, &self.open, pc) {
                Action::Ends(n) => {
                    let slot = self.code.flow[n];
                    let Some(frame) = self.frames.last_mut() else { return Ok(None) };
                    if slot.op == FlowOp::Loop {
                        frame.count -= 1;
                        self.al += i32::from(slot.step());
                        if frame.count > 0 {
                            return Ok(Some(slot.upper.back));
                        }
                        // The loop is left; the next enclosing one may end here as well.
                        self.al = frame.outer;
                    }
                    self.open.pop();
                    self.frames.pop();
                    if slot.op != FlowOp::Loop {
                        return Ok(Some(slot.upper.back));
                    }
                }
                Action::Acts(n) => {
                    let slot = self.code.flow[n];
                    match slot.op {
                        FlowOp::None | FlowOp::Jump => return Ok(Some(slot.lower.target_or_count)),
                        FlowOp::Loop if slot.lower.target_or_count == 0 => {
                            return Ok(Some(slot.upper.last.saturating_add(1)));
                        }
                        FlowOp::Loop | FlowOp::Jsr => {}
                    }
                    if self.frames.len() >= FLOW_STACK {
                        return Err(FaultKind::StackOverflow { stack: "flow-control", depth: FLOW_STACK });
                    }
                    self.open.push(n);
                    self.frames.push(Frame { count: slot.lower.target_or_count, outer: self.al });
                    if slot.op == FlowOp::Loop && !slot.index.inherit {
                        self.al = i32::from(slot.index.init);
                    }
                    return Ok(slot.leads_to());
                }
                Action::Falls if pc == self.code.last => return Ok(None),
                Action::Falls => return Ok(Some(pc.saturating_add(1))),
            }
        }
    }
}

/// Clamps every component to 0..1, where that is asked for.
fn saturate(value: Vector, clamped: bool) -> Vector {
    if clamped { value.map(clamp) } else { value }
}

/// The components that `COND_WRITE` writes; all for other operations.
fn conditional_mask(op: VectorOp, a: Vector) -> u8 {
    let condition = match op {
        VectorOp::CondWriteEq => Eq,
        VectorOp::CondWriteGt => Gt,
        VectorOp::CondWriteGte => Gte,
        VectorOp::CondWriteNeq => Neq,
        _ => return 15,
    };
    (0..4).filter(|&n| condition.holds(a[n])).fold(0, |mask, n| mask | 1 << n)
}

/// A function of one, two or three operands on each component.
fn each(function: impl Fn(u32, u32, u32) -> u32, [a, b, c]: [Vector; 3]) -> Computed {
    std::array::from_fn(|n| function(a[n], b[n], c[n])).into()
}

/// The result of a vector operation (pvs-encoding §4).
fn vector(op: VectorOp, operands: [Vector; 3]) -> Computed {
    use VectorOp as V;
    let [a, b, _] = operands;
    match op {
        V::NoOp => [0; 4].into(),
        V::DotProduct => ops::dot_product(a, b).into(),
        V::Multiply => each(|a, b, _| ops::multiply(a, b), operands),
        V::Add => each(|a, b, _| ops::add(a, b), operands),
        V::MultiplyAdd => each(ops::multiply_add, operands),
        V::DistanceVector => ops::distance_vector(a, b).into(),
        V::Fraction => each(|a, _, _| ops::fraction(a), operands),
        V::Maximum => each(|a, b, _| ops::maximum(a, b), operands),
        V::Minimum => each(|a, b, _| ops::minimum(a, b), operands),
        V::SetGreaterThanEqual => each(|a, b, _| ops::set_greater_than_equal(a, b), operands),
        V::SetLessThan => each(|a, b, _| ops::set_less_than(a, b), operands),
        V::MultiplyX2Add => each(ops::multiply_x2_add, operands),
        V::MultiplyClamp => each(ops::multiply_clamp, operands),
        V::Flt2FixDx => each(|a, _, _| ops::flt2fix_dx(a), operands),
        V::Flt2FixDxRnd => each(|a, _, _| ops::flt2fix_dx_rnd(a), operands),
        V::PredSetEqPush => ops::pred_set_push(Eq, a[3], b[3]).into(),
        V::PredSetGtPush => ops::pred_set_push(Gt, a[3], b[3]).into(),
        V::PredSetGtePush => ops::pred_set_push(Gte, a[3], b[3]).into(),
        V::PredSetNeqPush => ops::pred_set_push(Neq, a[3], b[3]).into(),
        V::CondWriteEq | V::CondWriteGt | V::CondWriteGte | V::CondWriteNeq => each(|_, b, _| ops::copy(b), operands),
        V::CondMuxEq => each(|a, b, c| ops::cond_mux(Eq, a, b, c), operands),
        V::CondMuxGt => each(|a, b, c| ops::cond_mux(Gt, a, b, c), operands),
        V::CondMuxGte => each(|a, b, c| ops::cond_mux(Gte, a, b, c), operands),
        V::SetGreaterThan => each(|a, b, _| ops::set_greater_than(a, b), operands),
        V::SetEqual => each(|a, b, _| ops::set_equal(a, b), operands),
        V::SetNotEqual => each(|a, b, _| ops::set_not_equal(a, b), operands),
    }
}

/// The result of a macro (pvs-encoding §4).
fn macro_op(op: MacroOp, operands: [Vector; 3]) -> Computed {
    match op {
        MacroOp::TwoClockMadd => each(ops::multiply_add, operands),
        MacroOp::TwoClockM2xAdd => each(ops::multiply_x2_add, operands),
    }
}

/// The result of a math operation on three scalars (pvs-encoding §5).
fn math(op: MathOp, [a, b, c]: [u32; 3]) -> Computed {
    use MathOp as M;
    match op {
        M::NoOp => 0.into(),
        M::ExpBase2Dx => ops::exp_base2_dx(a).into(),
        M::LogBase2Dx => ops::log_base2_dx(a).into(),
        M::ExpBaseEFf => ops::exp_basee_ff(a).into(),
        M::LightCoeffDx => ops::light_coeff_dx(a, b, c).into(),
        M::PowerFuncFf => ops::power_func_ff(a, c).into(),
        M::RecipDx => ops::recip_dx(a).into(),
        M::RecipFf => ops::recip_ff(a).into(),
        M::RecipSqrtDx => ops::recip_sqrt_dx(a).into(),
        M::RecipSqrtFf => ops::recip_sqrt_ff(a).into(),
        M::Multiply => ops::multiply(a, b).into(),
        M::ExpBase2FullDx => ops::exp_base2_full_dx(a).into(),
        M::LogBase2FullDx => ops::log_base2_full_dx(a).into(),
        M::PowerFuncFfClampB => ops::power_func_ff_clamp_b(a, b, c).into(),
        M::PowerFuncFfClampB1 => ops::power_func_ff_clamp_b1(a, b, c).into(),
        M::PowerFuncFfClamp01 => ops::power_func_ff_clamp_01(a, c).into(),
        M::Sin => ops::sin(a).into(),
        M::Cos => ops::cos(a).into(),
        M::LogBase2Ieee => ops::log_base2_ieee(a).into(),
        M::RecipIeee => ops::recip_ieee(a).into(),
        M::RecipSqrtIeee => ops::recip_sqrt_ieee(a).into(),
        M::PredSetEq => ops::pred_set(Eq, a).into(),
        M::PredSetGt => ops::pred_set(Gt, a).into(),
        M::PredSetGte => ops::pred_set(Gte, a).into(),
        M::PredSetNeq => ops::pred_set(Neq, a).into(),
        M::PredSetClr => ops::pred_set_clr().into(),
        M::PredSetInv => ops::pred_set_inv(a).into(),
        M::PredSetPop => ops::pred_set_pop(a).into(),
        M::PredSetRestore => ops::pred_set_restore(a).into(),
    }
}
