//! Lowering of the text to operations of the X1K: registers become virtual ones, macros expand.
//!
//! A step of a macro writes to a fresh register; only its last step writes where the instruction writes, so an instruction reads all its
//! operands before it writes anything.

mod inputs;
mod textures;

use crate::Options;
use crate::ir::{
    ALPHA, Alu, BranchCond, Comp, Dest, FlowStatement, Guard, Op, Reg, Tex, V, VirtualOperand, VirtualProgram,
    VirtualStatement, ZeroTest,
};
use crate::parse::is_lookup;
use crate::structure;
use crate::syntax::{self, RegisterFile, Shader, SourceOperand, Texture};
use crate::table::{self, Compare};
use ctm_isa::diag::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Temporaries r0 to r31 are the first virtual registers.
const TEMPS: u32 = 32;
/// Constants of the language; the machine has more, where a program with relative constants keeps its own numbers.
const LANGUAGE_CONSTANTS: u8 = 224;

struct Lower<'s> {
    shader: &'s Shader,
    code: VirtualProgram,
    findings: &'s mut Vec<Diagnostic>,
    /// The register of each channel of each input.
    inputs: BTreeMap<(RegisterFile, u16), [Option<V>; 4]>,
    /// Constants that the text mentions.
    mentioned: BTreeSet<u8>,
    relative_constants: bool,
    /// Where numbers that the compiler needs have been put.
    numbers: Vec<(u32, u8, u8)>,
    /// Whether coordinates go from 0 to 1.
    normalized: bool,
    /// The constants that say how large the textures of three coordinates are, by sampler.
    sizes: BTreeMap<u8, u8>,
}

/// Lowers the shader; everything wrong with it is reported.
pub(crate) fn lower(
    shader: &Shader,
    options: &Options,
    names: BTreeMap<(char, u8), String>,
    findings: &mut Vec<Diagnostic>,
) -> VirtualProgram {
    structure::check(shader, findings);
    let mut lower = Lower {
        shader,
        code: VirtualProgram { temps: TEMPS, names, ..VirtualProgram::default() },
        findings,
        inputs: BTreeMap::new(),
        mentioned: BTreeSet::new(),
        relative_constants: false,
        numbers: Vec::new(),
        normalized: options.normalized_coordinates,
        sizes: BTreeMap::new(),
    };
    lower.values();
    lower.declarations();
    for inst in &shader.code {
        for source in &inst.sources {
            lower.mention(inst, source);
        }
    }
    for inst in &shader.code {
        lower.instruction(inst);
    }
    lower.code
}

fn small(index: u16) -> u8 {
    u8::try_from(index).unwrap_or(u8::MAX)
}

impl Lower<'_> {
    fn error(&mut self, rule: &'static str, message: String, span: Span, help: &str) {
        let finding = Diagnostic::error(rule, message).at(span, "");
        self.findings.push(if help.is_empty() { finding } else { finding.help(help) });
    }

    /// A constant that the shader does not mention.
    fn free_constant(&mut self) -> u8 {
        let from = if self.relative_constants { LANGUAGE_CONSTANTS } else { 0 };
        let index = (from..=255).find(|i| !self.mentioned.contains(i)).unwrap_or(255);
        self.mentioned.insert(index);
        index
    }

    fn number(&mut self, value: f32) -> VirtualOperand {
        let bits = value.to_bits();
        let place = self.numbers.iter().find(|n| n.0 == bits).map(|n| (n.1, n.2));
        let (index, channel) = place.unwrap_or_else(|| {
            let last = self.numbers.last().map(|n| (n.1, n.2));
            let place = match last {
                Some((index, channel)) if channel < 3 => (index, channel + 1),
                _ => (self.free_constant(), 0),
            };
            self.numbers.push((bits, place.0, place.1));
            self.code.floats.entry(place.0).or_insert([0; 4])[usize::from(place.1)] = bits;
            place
        });
        VirtualOperand::scalar(Reg::Const(index), channel)
    }

    /// An operand with its swizzle and modifiers. `wanted` are the components that are used.
    fn operand(&mut self, source: &SourceOperand, wanted: u8) -> VirtualOperand {
        let index = small(source.reg.index);
        let mut operand = match (source.reg.file, source.reg.relative) {
            (RegisterFile::Temp, _) => VirtualOperand::temp(u32::from(source.reg.index)),
            (RegisterFile::Const, false) => self.register(Reg::Const(index)),
            (RegisterFile::Const, true) => self.register(Reg::ConstRel(index)),
            (RegisterFile::Input, true) => self.register(Reg::InputRel(index)),
            // The domain is one triangle that faces the viewer.
            (RegisterFile::Face, _) => {
                if !self.inputs.contains_key(&(RegisterFile::Face, 0)) {
                    self.error("undeclared", "vFace is not declared".to_owned(), source.span, "write dcl vFace");
                }
                VirtualOperand::all(Comp::One)
            }
            (RegisterFile::Input | RegisterFile::TexCoord | RegisterFile::Position, _) => {
                let held = self.inputs.get(&(source.reg.file, source.reg.index)).copied().unwrap_or([None; 4]);
                let mut missing = false;
                for c in crate::ir::channels(wanted) {
                    missing |= held[usize::from(source.swizzle[usize::from(c)])].is_none();
                }
                if missing {
                    self.undeclared(source);
                }
                let comps = std::array::from_fn(|c| match held[c] {
                    Some(v) => Comp::Read(Reg::Temp(v), c as u8),
                    None => Comp::Zero,
                });
                VirtualOperand { comps, ..VirtualOperand::ABSENT }
            }
            _ => VirtualOperand::ABSENT,
        };
        operand = operand.swizzled(source.swizzle).masked(wanted);
        (operand.neg, operand.abs) = (source.negate, source.absolute);
        operand
    }

    fn register(&self, reg: Reg) -> VirtualOperand {
        VirtualOperand { comps: std::array::from_fn(|c| Comp::Read(reg, c as u8)), ..VirtualOperand::ABSENT }
    }

    fn emit(&mut self, op: Op, dest: Dest, src: &[VirtualOperand], inst: &syntax::Inst, last: bool) {
        let mut list = [VirtualOperand::ABSENT; 3];
        for (to, from) in list.iter_mut().zip(src) {
            *to = *from;
        }
        let mut guard = None;
        if last {
            guard = inst.guard.map(|g| Guard { not: g.not, channel: g.channel });
            // The depth is a single value: of a whole predicate it takes the first bit.
            if dest.w
                && let Some(guard) = &mut guard
            {
                guard.channel = guard.channel.or(Some(0));
            }
        }
        let alu = Alu { op, dest, src: list, sat: last && inst.saturate, omod: 0, guard, span: inst.span };
        halve(&mut self.code, alu);
    }

    /// A step of a macro: into channels of a fresh register.
    fn step(&mut self, op: Op, mask: u8, src: &[VirtualOperand], inst: &syntax::Inst) -> VirtualOperand {
        let temp = self.code.fresh();
        self.emit(op, Dest { temp: Some(temp), mask, ..Dest::default() }, src, inst, false);
        VirtualOperand::temp(temp)
    }

    /// A step with one result, in alpha.
    fn scalar_step(&mut self, op: Op, src: &[VirtualOperand], inst: &syntax::Inst) -> VirtualOperand {
        self.step(op, ALPHA, src, inst).swizzled([3; 4])
    }

    fn instruction(&mut self, inst: &syntax::Inst) {
        use table::TableOp as P;
        match inst.op {
            P::Nop => {}
            P::Texkill => self.kill(inst),
            op if is_lookup(op) => self.lookup(inst),
            P::Setp => self.setp(inst),
            P::If
            | P::Else
            | P::Endif
            | P::Loop
            | P::Endloop
            | P::Rep
            | P::Endrep
            | P::Break
            | P::Breakp
            | P::Call
            | P::Callnz
            | P::Ret
            | P::Label => self.flow(inst),
            _ => self.arithmetic(inst),
        }
    }

    /// Where the instruction writes. The depth is a single value and lives in the alpha unit.
    fn dest(inst: &syntax::Inst) -> Dest {
        let Some(dest) = inst.dest else { return Dest::default() };
        match dest.reg.file {
            RegisterFile::Color => Dest { out: Some(small(dest.reg.index)), mask: dest.mask, ..Dest::default() },
            RegisterFile::Depth => Dest { w: true, mask: ALPHA, ..Dest::default() },
            _ => Dest { temp: Some(u32::from(dest.reg.index)), mask: dest.mask, ..Dest::default() },
        }
    }

    #[allow(clippy::too_many_lines, reason = "one arm for each instruction")]
    fn arithmetic(&mut self, inst: &syntax::Inst) {
        use table::TableOp as P;
        let dest = Self::dest(inst);
        let mask = dest.mask;
        // The components of channel-by-channel operands; the depth takes the first.
        let wide = |lower: &mut Self, n: usize| -> VirtualOperand {
            let Some(source) = inst.sources.get(n) else { return VirtualOperand::ABSENT };
            if dest.w { lower.operand(source, 1).swizzled([0; 4]).masked(ALPHA) } else { lower.operand(source, mask) }
        };
        let with = |lower: &mut Self, n: usize, wanted: u8| match inst.sources.get(n) {
            Some(source) => lower.operand(source, wanted),
            None => VirtualOperand::ABSENT,
        };
        let one = VirtualOperand::all(Comp::One);
        let zero = VirtualOperand::all(Comp::Zero);
        match inst.op {
            P::Mov | P::Abs => {
                let mut a = wide(self, 0);
                if inst.op == P::Abs {
                    a = a.absolute();
                }
                self.emit(Op::Mov, dest, &[a], inst, true);
            }
            P::Add | P::Sub => {
                let (a, b) = (wide(self, 0), wide(self, 1));
                let b = if inst.op == P::Sub { b.negated() } else { b };
                self.emit(Op::Mad, dest, &[a, one, b], inst, true);
            }
            P::Mul => {
                let src = [wide(self, 0), wide(self, 1), zero];
                self.emit(Op::Mad, dest, &src, inst, true);
            }
            P::Mad => {
                let src = [wide(self, 0), wide(self, 1), wide(self, 2)];
                self.emit(Op::Mad, dest, &src, inst, true);
            }
            P::Min | P::Max => {
                let src = [wide(self, 0), wide(self, 1)];
                self.emit(if inst.op == P::Min { Op::Min } else { Op::Max }, dest, &src, inst, true);
            }
            P::Frc => {
                let src = [wide(self, 0)];
                self.emit(Op::Frc, dest, &src, inst, true);
            }
            P::Cmp => {
                let src = [wide(self, 1), wide(self, 2), wide(self, 0)];
                self.emit(Op::Cmp, dest, &src, inst, true);
            }
            P::Slt | P::Sge => {
                let (a, b) = (wide(self, 0), wide(self, 1));
                let t = self.step(Op::Mad, mask, &[a, one, b.negated()], inst).masked(mask);
                let src = if inst.op == P::Slt { [zero, one, t] } else { [one, zero, t] };
                self.emit(Op::Cmp, dest, &src, inst, true);
            }
            P::Lrp => {
                let (a, b, c) = (wide(self, 0), wide(self, 1), wide(self, 2));
                let t = self.step(Op::Mad, mask, &[b, one, c.negated()], inst).masked(mask);
                self.emit(Op::Mad, dest, &[a, t, c], inst, true);
            }
            P::Dp3 | P::Dp4 | P::Dp2add => {
                let op = match inst.op {
                    P::Dp3 => Op::Dp3,
                    P::Dp4 => Op::Dp4,
                    _ => Op::D2a,
                };
                let src: Vec<VirtualOperand> =
                    (0..op.operands()).map(|n| with(self, n, op.fixed_components(n))).collect();
                self.emit(op, dest, &src, inst, true);
            }
            P::Rcp | P::Rsq | P::Exp | P::Log => {
                let mut a = with(self, 0, ALPHA);
                let op = match inst.op {
                    P::Rcp => Op::Rcp,
                    P::Exp => Op::Ex2,
                    P::Rsq => Op::Rsq,
                    _ => Op::Ln2,
                };
                if matches!(op, Op::Rsq | Op::Ln2) {
                    a = a.absolute();
                }
                self.emit(op, dest, &[a], inst, true);
            }
            P::Pow => {
                let (a, b) = (with(self, 0, ALPHA), with(self, 1, ALPHA));
                let t = self.scalar_step(Op::Ln2, &[a.absolute()], inst);
                let t = self.scalar_step(Op::Mad, &[t, b, zero], inst);
                self.emit(Op::Ex2, dest, &[t], inst, true);
            }
            P::Sincos => {
                let a = with(self, 0, ALPHA);
                let turns = self.number(std::f32::consts::FRAC_1_PI / 2.0);
                let t = self.scalar_step(Op::Mad, &[a, turns, zero], inst);
                for (op, bit) in [(Op::Cos, 1), (Op::Sin, 2)] {
                    let dest = if dest.w { dest } else { Dest { mask: mask & bit, ..dest } };
                    if dest.mask != 0 && (!dest.w || bit == 1) {
                        self.emit(op, dest, &[t], inst, true);
                    }
                }
            }
            P::Crs => {
                let (a, b) = (with(self, 0, 7), with(self, 1, 7));
                let (yzx, zxy) = ([1, 2, 0, 3], [2, 0, 1, 3]);
                let t = self.step(Op::Mad, mask & 7, &[a.swizzled(zxy), b.swizzled(yzx), zero], inst);
                let src = [a.swizzled(yzx), b.swizzled(zxy), t.negated()].map(|o| o.masked(mask & 7));
                self.emit(Op::Mad, Dest { mask: mask & 7, ..dest }, &src, inst, true);
            }
            P::Nrm => {
                let a = with(self, 0, 7 | mask);
                let t = self.scalar_step(Op::Dp3, &[a.masked(7), a.masked(7)], inst);
                let t = self.scalar_step(Op::Rsq, &[t], inst);
                self.emit(Op::Mad, dest, &[a.masked(mask), t, zero], inst, true);
            }
            P::M3x2 | P::M3x3 | P::M3x4 | P::M4x3 | P::M4x4 => self.matrix(inst, dest),
            P::Dsx | P::Dsy => {
                let a = wide(self, 0);
                // The neighbour's operand is src0 itself: modifiers are applied before.
                let plain = self.step(Op::Mov, mask, &[a], inst).masked(mask);
                let op = if inst.op == P::Dsx { Op::Mdh } else { Op::Mdv };
                self.emit(op, dest, &[plain, one.negated()], inst, true);
            }
            _ => {}
        }
    }

    fn matrix(&mut self, inst: &syntax::Inst, dest: Dest) {
        use table::TableOp as P;
        let op = if matches!(inst.op, P::M4x3 | P::M4x4) { Op::Dp4 } else { Op::Dp3 };
        let [a, first] = inst.sources.as_slice() else { return };
        let wanted = op.fixed_components(0);
        let a_operand = self.operand(a, wanted);
        let file = dest.temp.map(|v| (RegisterFile::Temp, v as u16));
        let touches = |s: &SourceOperand, count: u16| {
            file.is_some_and(|(f, i)| s.reg.file == f && (s.reg.index..s.reg.index + count).contains(&i))
        };
        // The rows come one after the other: their sources must not be their results.
        let aside = touches(a, 1) || touches(first, 4);
        let temp = self.code.fresh();
        let rows: Vec<u8> = crate::ir::channels(if dest.w { 1 } else { dest.mask }).collect();
        for &row in &rows {
            let reg = syntax::Reg { index: first.reg.index + u16::from(row), ..first.reg };
            let b = self.operand(&SourceOperand { reg, ..*first }, wanted);
            let mask = if dest.w { ALPHA } else { 1 << row };
            if aside {
                let dest = Dest { temp: Some(temp), mask, ..Dest::default() };
                self.emit(op, dest, &[a_operand, b], inst, false);
            } else {
                self.emit(op, Dest { mask, ..dest }, &[a_operand, b], inst, true);
            }
        }
        if aside {
            self.emit(Op::Mov, dest, &[VirtualOperand::temp(temp).masked(dest.mask)], inst, true);
        }
    }

    /// The register that holds an operand as it is, for instructions that take registers only, and the channel of each component.
    fn in_register(&mut self, source: &SourceOperand, wanted: u8, inst: &syntax::Inst) -> (V, [u8; 4]) {
        let operand = self.operand(source, wanted);
        let mut held = None;
        let mut swizzle = [0, 1, 2, 3];
        let mut plain = !operand.has_modifier();
        for c in crate::ir::channels(wanted) {
            match operand.comps[usize::from(c)] {
                Comp::Read(Reg::Temp(v), channel) if *held.get_or_insert(v) == v => swizzle[usize::from(c)] = channel,
                _ => plain = false,
            }
        }
        match held {
            Some(v) if plain => (v, swizzle),
            _ => {
                let temp = self.code.fresh();
                self.emit(Op::Mov, Dest { temp: Some(temp), mask: wanted, ..Dest::default() }, &[operand], inst, false);
                (temp, [0, 1, 2, 3])
            }
        }
    }

    fn lookup(&mut self, inst: &syntax::Inst) {
        let [coord, sampler, ..] = inst.sources.as_slice() else { return };
        let mut project = inst.op == table::TableOp::Texldp;
        let (v, swizzle) = match self.texture(sampler.reg.index) {
            Texture::Flat => {
                let wanted = if project { 0b1011 } else { 0b0011 };
                self.in_register(coord, wanted, inst)
            }
            kind => {
                let v = self.three_coordinates(inst, coord, kind, small(sampler.reg.index), project);
                project = false;
                (v, [0, 1, 2, 3])
            }
        };
        // Gradients, bias and level choose among levels that the inputs do not have; they must exist all the same.
        for other in &inst.sources[2..] {
            self.operand(other, 3);
        }
        let dest = Self::dest(inst);
        let direct = dest.temp.filter(|_| !inst.saturate);
        let target = direct.unwrap_or_else(|| self.code.fresh());
        let guard = inst.guard.map(|g| Guard { not: g.not, channel: g.channel });
        let mask = if dest.w { 1 } else { dest.mask };
        self.code.insts.push(VirtualStatement::Tex(Tex {
            dest: target,
            mask,
            swizzle: sampler.swizzle,
            coord: v,
            channels: [swizzle[0], swizzle[1], swizzle[3]],
            project,
            sampler: small(sampler.reg.index),
            guard: guard.filter(|_| direct.is_some()),
            span: inst.span,
        }));
        if direct.is_none() {
            let value = VirtualOperand::temp(target);
            let value = if dest.w { value.swizzled([0; 4]) } else { value };
            self.emit(Op::Mov, dest, &[value.masked(dest.mask)], inst, true);
        }
    }

    fn kill(&mut self, inst: &syntax::Inst) {
        let Some(dest) = inst.dest else { return };
        let mask = if self.shader.major == 2 && !dest.masked { 7 } else { dest.mask };
        let source = SourceOperand {
            reg: dest.reg,
            swizzle: [0, 1, 2, 3],
            swizzled: false,
            negate: false,
            absolute: false,
            not: false,
            span: dest.span,
        };
        let mask = if dest.reg.file == RegisterFile::Position && !dest.masked { mask & 3 } else { mask };
        let (temp, _) = self.in_register(&source, mask, inst);
        let guard = inst.guard.map(|g| Guard { not: g.not, channel: g.channel });
        self.code.insts.push(VirtualStatement::Kill { temp, mask, guard, span: inst.span });
    }

    /// `a ? b` as a sum that is compared with zero.
    fn difference(compare: Compare, a: VirtualOperand, b: VirtualOperand) -> ([VirtualOperand; 3], ZeroTest) {
        let one = VirtualOperand::all(Comp::One);
        let (a, b, test) = match compare {
            Compare::Lt => (a, b, ZeroTest::Lt),
            Compare::Ge => (a, b, ZeroTest::Ge),
            Compare::Eq => (a, b, ZeroTest::Eq),
            Compare::Ne => (a, b, ZeroTest::Ne),
            Compare::Gt => (b, a, ZeroTest::Lt),
            Compare::Le => (b, a, ZeroTest::Ge),
        };
        ([a, one, b.negated()], test)
    }

    fn setp(&mut self, inst: &syntax::Inst) {
        let (Some(dest), [a, b], Some(compare)) = (inst.dest, inst.sources.as_slice(), inst.compare) else { return };
        let (a, b) = (self.operand(a, dest.mask), self.operand(b, dest.mask));
        let (src, test) = Self::difference(compare, a, b);
        self.emit(Op::Mad, Dest { pred: Some(test), mask: dest.mask, ..Dest::default() }, &src, inst, false);
    }

    /// The condition of a branch; a comparison sets the ALU result first.
    fn condition(&mut self, inst: &syntax::Inst) -> Option<BranchCond> {
        if let (Some(compare), [a, b]) = (inst.compare, inst.sources.as_slice()) {
            let (a, b) = (self.operand(a, ALPHA), self.operand(b, ALPHA));
            let (src, test) = Self::difference(compare, a, b);
            self.emit(Op::Mad, Dest { result: Some(test), mask: ALPHA, ..Dest::default() }, &src, inst, false);
            return Some(BranchCond::Result);
        }
        let source =
            inst.sources.iter().find(|s| matches!(s.reg.file, RegisterFile::Bool | RegisterFile::Predicate))?;
        Some(match source.reg.file {
            RegisterFile::Bool => BranchCond::Bool { index: small(source.reg.index), not: source.not },
            _ => BranchCond::Predicate { channel: source.swizzle[0], not: source.not },
        })
    }

    fn flow(&mut self, inst: &syntax::Inst) {
        use table::TableOp as P;
        let label = inst.sources.iter().find(|s| s.reg.file == RegisterFile::Label).map_or(0, |s| s.reg.index);
        let int = inst.sources.iter().find(|s| s.reg.file == RegisterFile::Int).map_or(0, |s| small(s.reg.index));
        let condition = self.condition(inst);
        let flow = match inst.op {
            P::If => FlowStatement::If(condition.unwrap_or(BranchCond::Result)),
            P::Else => FlowStatement::Else,
            P::Endif => FlowStatement::Endif,
            P::Loop | P::Rep => FlowStatement::Loop { rep: inst.op == P::Rep, int },
            P::Endloop | P::Endrep => FlowStatement::Endloop { rep: inst.op == P::Endrep },
            P::Break | P::Breakp => FlowStatement::Break(condition),
            P::Call | P::Callnz => FlowStatement::Call(label, condition),
            P::Label => FlowStatement::Label(label),
            _ if self.in_subroutine() => FlowStatement::Ret,
            _ => FlowStatement::End,
        };
        if matches!(flow, FlowStatement::Label(_)) && !self.ended() {
            self.code.insts.push(VirtualStatement::Flow(FlowStatement::End, inst.span));
        }
        self.code.insts.push(VirtualStatement::Flow(flow, inst.span));
    }

    fn ended(&self) -> bool {
        matches!(self.code.insts.last(), Some(VirtualStatement::Flow(FlowStatement::End | FlowStatement::Ret, _)))
    }

    fn in_subroutine(&self) -> bool {
        self.code.insts.iter().any(|i| matches!(i, VirtualStatement::Flow(FlowStatement::Label(_), _)))
    }
}

/// Puts moves of 0 to these channels of registers in front of the program.
pub(crate) fn begin_with_zeros(code: &mut VirtualProgram, registers: &BTreeMap<V, u8>) {
    let rest = std::mem::take(&mut code.insts);
    for (&temp, &mask) in registers {
        let dest = Dest { temp: Some(temp), mask, ..Dest::default() };
        let src = [VirtualOperand::all(Comp::Zero).masked(mask), VirtualOperand::ABSENT, VirtualOperand::ABSENT];
        halve(code, Alu { op: Op::Mov, dest, src, sat: false, omod: 0, guard: None, span: Span::default() });
    }
    code.insts.extend(rest);
}

/// Adds an operation as its parts for the two units, in an order in which neither reads the other's result.
fn halve(code: &mut VirtualProgram, alu: Alu) {
    let mask = alu.dest.mask;
    if alu.op.kind() != crate::ir::UnitKind::Wide || mask & ALPHA == 0 || mask == ALPHA {
        code.insts.push(VirtualStatement::Alu(alu));
        return;
    }
    let half = |mask: u8| {
        let mut half = alu.clone();
        half.dest.mask = mask;
        half.src = half.src.map(|o| o.masked(mask));
        half
    };
    let (mut rgb, alpha) = (half(mask & 7), half(ALPHA));
    let reads = |half: &Alu, written: u8| {
        half.reads().any(|(reg, c)| alu.dest.temp.is_some_and(|v| reg == Reg::Temp(v)) && written & 1 << c != 0)
    };
    if !reads(&alpha, mask & 7) {
        code.insts.extend([VirtualStatement::Alu(rgb), VirtualStatement::Alu(alpha)]);
    } else if !reads(&rgb, ALPHA) {
        code.insts.extend([VirtualStatement::Alu(alpha), VirtualStatement::Alu(rgb)]);
    } else {
        let temp = code.fresh();
        let mut copy = Alu {
            op: Op::Mov,
            src: [VirtualOperand::temp(temp).masked(mask & 7), VirtualOperand::ABSENT, VirtualOperand::ABSENT],
            sat: false,
            ..rgb.clone()
        };
        copy.dest.temp = alu.dest.temp;
        (rgb.dest.temp, rgb.guard) = (Some(temp), None);
        code.insts.extend([VirtualStatement::Alu(rgb), VirtualStatement::Alu(alpha), VirtualStatement::Alu(copy)]);
    }
}
