//! One instruction: operands, results, writes.

use super::functions::{Functions, UnitResult};
use super::{ADDRESS, predicate, register};
use crate::lower::build::Build;
use crate::masked::{M, Op, RegisterFile as Indexed, Value, Var};
use ctm_exec::float::ONE;
use ctm_isa::pvs::CONSTANTS;
use ctm_isa::pvs::access::{operand_components, result_components};
use ctm_isa::pvs::formats::Src;
use ctm_isa::pvs::inst::{Inst, RegisterAddress};
use ctm_isa::pvs::ops::{AddrMode, Class, DstType, Op as Operation, Select, SrcType};
use ctm_isa::r700::ops::{AluOp, Omod, Op2};

/// The kind of a register with a variable for each component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterKind {
    Input,
    Temporary,
    Alternate,
    Output,
}

/// The block that an instruction is added to.
pub struct Units<'a> {
    pub build: &'a mut Build,
    /// The number aL; without a loop it is 0.
    pub index: Option<M>,
    /// The greatest address of a constant.
    pub const_max: u8,
}

/// A result that is written where a predicate is as wanted.
type On = Option<(Value, bool)>;

impl Units<'_> {
    /// Adds an instruction: all sources are read before anything is written. `None`: it is left to the reference interpreter.
    pub fn instruction(&mut self, inst: &Inst) -> Option<()> {
        let mut operands = [[self.build.bits(0); 4]; 3];
        for (n, operand) in operands.iter_mut().enumerate() {
            let needed = operand_components(inst, n);
            let Some(src) = inst.source(n) else { continue };
            for component in (0..4).filter(|c| needed >> c & 1 == 1) {
                operand[component] = self.operand(src, component)?;
            }
        }
        let mut dual = None;
        if let Some((op, of)) = inst.dual() {
            let [x, y] = [self.operand(&of.operand(false), 0)?, self.operand(&of.operand(true), 0)?];
            dual = Some((op, of, Functions(self.build).math(op, [x, y, y], 15)));
        }
        let needed = result_components(inst);
        let mut functions = Functions(self.build);
        let result = match inst.op {
            Operation::Vector(op) => functions.vector(op, operands, needed)?,
            Operation::Macro(op) => functions.macro_op(op, operands, needed)?,
            Operation::Math(op) => functions.math(op, operands.map(|of| of[3]), needed),
        };
        let on: On = inst.dst.pred_enable.then(|| (self.build.get(predicate()), inst.dst.pred_sense));
        let is_clamped = if inst.op.is_math() { inst.dst.me_sat } else { inst.dst.ve_sat };
        if inst.op.info().class != Class::Nothing {
            self.write(inst, &result, is_clamped, on)?;
        }
        self.set_predicate(result.predicate, on);
        if let Some((op, of, result)) = dual {
            let component = of.we_sel.code() as usize;
            if let (true, Some(mut value)) = (op.info().class != Class::Nothing, result.value[component]) {
                if inst.dst.me_sat {
                    value = Functions(self.build).clamp(value);
                }
                if let Some(register) = register(RegisterKind::Alternate, of.dst_offset) {
                    self.set(Var::gpr(register, component), value, on);
                }
            }
            self.set_predicate(result.predicate, on);
        }
        Some(())
    }

    /// A component of an operand: fetch, swizzle, absolute value, sign.
    fn operand(&mut self, src: &Src, component: usize) -> Option<Value> {
        let select = src.swizzle()[component];
        let mut value = match select {
            Select::Zero | Select::Unused => self.build.bits(0),
            Select::One => self.build.bits(ONE),
            Select::X | Select::Y | Select::Z | Select::W => self.source(src, select.code() as usize)?,
        };
        if src.abs {
            value = self.build.make(Op::Abs(value));
        }
        if src.negate() >> component & 1 == 1 {
            value = self.build.make(Op::Neg(value));
        }
        Some(value)
    }

    /// A component of a register; zeros where there is none.
    fn source(&mut self, src: &Src, component: usize) -> Option<Value> {
        let address = src.address();
        let file = match src.reg_type {
            SrcType::Temporary => RegisterKind::Temporary,
            SrcType::Input => RegisterKind::Input,
            SrcType::AltTemporary => RegisterKind::Alternate,
            SrcType::Constant => return Some(self.constant(address, component)),
        };
        if address.mode != AddrMode::Absolute {
            return None;
        }
        Some(match register(file, address.offset) {
            Some(register) => self.build.get(Var::gpr(register, component)),
            None => self.build.bits(0),
        })
    }

    /// A component of a constant. The table of uniform values has zeros beyond the greatest address.
    fn constant(&mut self, address: RegisterAddress, component: usize) -> Value {
        let index = match address.mode {
            AddrMode::Absolute if address.offset > self.const_max => return self.build.bits(0),
            AddrMode::Absolute => {
                return self.build.once(Op::Uniform(4 * u16::from(address.offset) + component as u16));
            }
            AddrMode::RelativeA0 => self.build.get(Var::gpr(ADDRESS, address.sel.code() as usize)),
            AddrMode::RelativeI0 => match self.index {
                Some(index) => self.build.effect(Op::Number(index)),
                None => self.build.bits(0),
            },
        };
        let offset = self.build.bits(address.offset.into());
        let at = self.integer(Op2::AddInt, index, offset);
        let file = Indexed::Constants(0, CONSTANTS as u16);
        let value = self.build.effect(Op::GetRelative { file, base: 0, element: component as u8, index: at });
        // Negative numbers are large ones without a sign.
        let (end, zero) = (self.build.bits(CONSTANTS as u32), self.build.bits(0));
        let is_there = self.build.make(Op::Holds { op: Op2::PredSetgtUint, operands: [end, at], wanted: true });
        self.build.make(Op::Select([is_there, value, zero]))
    }

    fn integer(&mut self, op: Op2, a: Value, b: Value) -> Value {
        self.build.make(Op::Alu { op: AluOp::Op2(op), operands: [a, b, a], omod: Omod::Off, clamp: false })
    }

    /// Writes a result; registers that do not exist lose it.
    fn write(&mut self, inst: &Inst, result: &UnitResult, is_clamped: bool, on: On) -> Option<()> {
        let (kind, address) = (inst.dst.reg_type, inst.dst.address());
        let mask = inst.dst.write_mask();
        if mask == 0 {
            return Some(());
        }
        let mut values = result.value;
        if kind == DstType::OutputReplicateX {
            values = [values[0]; 4];
        }
        for value in values.iter_mut().flatten().filter(|_| is_clamped) {
            *value = Functions(self.build).clamp(*value);
        }
        let register = match kind {
            DstType::A0 => Some(ADDRESS),
            _ if address.mode != AddrMode::Absolute => return None,
            DstType::Temporary => register(RegisterKind::Temporary, address.offset),
            DstType::Output | DstType::OutputReplicateX => register(RegisterKind::Output, address.offset),
            DstType::AltTemporary => register(RegisterKind::Alternate, address.offset),
            DstType::Input => register(RegisterKind::Input, address.offset),
        };
        let Some(register) = register else { return Some(()) };
        for component in (0..4).filter(|c| mask >> c & 1 == 1) {
            let Some(mut value) = values[component] else { continue };
            if kind == DstType::A0 {
                value = Functions(self.build).integer_of(value);
            }
            let var = Var::gpr(register, component);
            if let Some(holds) = result.conditions[component] {
                let old = self.build.get(var);
                value = self.build.make(Op::Select([holds, value, old]));
            }
            self.set(var, value, on);
        }
        Some(())
    }

    fn set_predicate(&mut self, value: Option<Value>, on: On) {
        if let Some(value) = value {
            self.set(predicate(), value, on);
        }
    }

    /// Stores into a variable, where the predicate is as wanted.
    fn set(&mut self, var: Var, value: Value, on: On) {
        let value = match on {
            None => value,
            Some((predicate, sense)) => {
                let old = self.build.get(var);
                let operands = if sense { [predicate, value, old] } else { [predicate, old, value] };
                self.build.make(Op::Select(operands))
            }
        };
        self.build.set(var, value, M::EXISTING);
    }
}
