//! An R700 program, read for names: of each instruction, the names that it reads and the names that its result is made of.
//!
//! The program is read in the order of its text, twice, so that names go around loops. A value under a condition is made of the condition's names as well.

use super::text::{CodeLine, GlslShader};
use super::{NameSet, NameTable, likeness};
use ctm_exec::observe::At;
use ctm_isa::r700::Program;
use ctm_isa::r700::inst::{AluInst, Cf, CfExport, ClauseBody, Fetch, Group, Kcache};
use ctm_isa::r700::ops::{AluUnit, ExportType, KcacheMode, Sel, SideEffect, Slots, Source, SpecialSel};
use ctm_jobs::draw::{Part, UniformPlace};
use std::collections::BTreeMap;

/// KnownConstants of a line that a clause locks.
const LINE: usize = 16;

/// Places of constants with names.
#[derive(Debug, Default)]
pub(super) struct KnownConstants {
    /// Constant and element, by buffer; `None`: the constant file.
    elements: BTreeMap<(Option<u8>, usize, usize), usize>,
    /// NameSet in a buffer that is fetched at an index.
    buffers: BTreeMap<u8, NameSet>,
    /// Samplers by number.
    samplers: BTreeMap<u8, usize>,
}

impl KnownConstants {
    pub(super) fn of(part: &Part, names: &NameTable) -> Self {
        let mut all = Self::default();
        for uniform in part.all_uniforms() {
            // `lights[0].colour`: elements of arrays have the array's name.
            let mut plain = String::new();
            let mut inside = false;
            for c in uniform.name.chars() {
                inside |= c == '[';
                if !inside {
                    plain.push(c);
                }
                inside &= c != ']';
            }
            let base = plain.split('.').next().unwrap_or("");
            let Some(number) = names.find(&plain).or_else(|| names.find(base)) else { continue };
            let rows = uniform.numbers() * uniform.count / uniform.constants().max(1);
            let (buffer, first) = match uniform.place {
                UniformPlace::File(first) => (None, first),
                UniformPlace::Buffer(buffer, first) => (Some(buffer), first),
            };
            for constant in 0..uniform.constants() {
                for row in 0..rows {
                    all.elements.insert((buffer, first + constant, uniform.component + row), number);
                }
            }
            // Arrays alone are indexed.
            if let (Some(buffer), true) = (buffer, uniform.count > 1) {
                all.buffers.entry(buffer).or_default().insert(number);
            }
        }
        for name in part.samplers() {
            let plain = name.split('[').next().unwrap_or(name);
            if let (Some(number), Some(sampler)) = (names.find(plain), part.sampler(name)) {
                all.samplers.insert(sampler, number);
            }
        }
        all
    }
}

/// An element of a register, or a previous result.
#[derive(Clone, Debug, Default)]
pub(super) struct FlowValue {
    made: NameSet,
    /// The name whose value it is, unchanged.
    copy: NameSet,
    /// The line of the instruction that made it.
    line: Option<usize>,
}

impl FlowValue {
    /// The value of a name.
    pub(super) fn named(number: usize) -> Self {
        let name = NameSet::from([number]);
        Self { made: name.clone(), copy: name, line: None }
    }
}

/// The destination of an exported element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExportedElement {
    Position,
    Pixel(u8),
    Depth,
    /// A parameter and its element.
    Parameter(u8, u8),
}

/// The names that operands bring.
#[derive(Clone, Debug, Default)]
struct OperandNames {
    named: NameSet,
    made: NameSet,
    /// Operands that no name is of, with their lines.
    lines: Vec<(NameSet, usize)>,
    /// Magnitudes of literal operands.
    literals: Vec<u32>,
}

/// The weight of a number that both texts have, beside likenesses of names.
const LITERAL: f64 = 0.4;

impl OperandNames {
    fn add(&mut self, value: &FlowValue) {
        self.named.extend(&value.copy);
        self.made.extend(&value.made);
        self.lines.extend(value.line.map(|line| (value.made.clone(), line)));
    }

    fn name(&mut self, number: usize) {
        self.named.insert(number);
        self.made.insert(number);
    }

    fn join(&mut self, other: &Self) {
        self.named.extend(&other.named);
        self.made.extend(&other.made);
        self.lines.extend(other.lines.iter().cloned());
        self.literals.extend(&other.literals);
    }

    /// The line of an instruction with these operands.
    fn line(&self, lines: &[CodeLine]) -> Option<usize> {
        let best = |score: &dyn Fn(&CodeLine) -> Option<f64>| {
            let mut found: Option<(f64, usize)> = None;
            for line in lines {
                if let Some(score) = score(line)
                    && found.is_none_or(|(best, _)| score > best)
                {
                    found = Some((score, line.line));
                }
            }
            found.map(|(_, line)| line)
        };
        let numbers = |line: &CodeLine| {
            if self.literals.iter().any(|literal| line.literals.contains(literal)) { LITERAL } else { 0.0 }
        };
        if !self.named.is_empty() {
            let all = best(&|line| {
                self.named.is_subset(&line.named).then(|| {
                    likeness(&self.made, &line.made) + likeness(&self.named, &line.named) / 8.0 + numbers(line)
                })
            });
            // Several lines in one instruction: the one with the most of its names.
            return all.or_else(|| {
                best(&|line| {
                    let both = self.named.intersection(&line.named).count();
                    (both > 0).then(|| {
                        f64::from(u32::try_from(both).unwrap_or(u32::MAX)) + likeness(&self.made, &line.made) / 2.0
                    })
                })
            });
        }
        if self.made.is_empty() {
            return None;
        }
        // The same value goes on: the operand's line, where it fits.
        let own = self.lines.iter().filter(|(made, _)| *made == self.made).map(|(_, line)| *line).max();
        let is_same = |line: &CodeLine| line.made == self.made;
        if let Some(line) = lines.iter().find(|line| is_same(line) && numbers(line) > 0.0) {
            return Some(line.line);
        }
        if let Some(own) = own.filter(|&own| lines.iter().any(|line| line.line == own && is_same(line))) {
            return Some(own);
        }
        let after = self.lines.iter().map(|(_, line)| *line).max().unwrap_or(0);
        let next = lines
            .iter()
            .find(|line| line.line >= after && is_same(line))
            .or_else(|| lines.iter().find(|line| is_same(line)));
        next.map(|line| line.line).or(own)
    }
}

/// The way of names through a program.
#[derive(Debug, Default)]
pub(super) struct NameFlow {
    /// Lines of instructions, and of units of groups.
    pub(super) lines: BTreeMap<(At, Option<u8>), usize>,
    /// NameSet that exported parameters are made of, by parameter and element.
    pub(super) parameters: BTreeMap<(u8, u8), NameSet>,
    registers: BTreeMap<(u8, u8), FlowValue>,
    /// Results of the previous group: x, y, z, w, t.
    previous: [FlowValue; 5],
    /// NameSet of the conditions around, innermost last.
    conditions: Vec<NameSet>,
}

/// The context of reading a program.
struct Reading<'a> {
    constants: &'a KnownConstants,
    lines: &'a [CodeLine],
    output: &'a dyn Fn(ExportedElement) -> Option<usize>,
}

impl NameFlow {
    /// Reads a program whose registers start with these values.
    pub(super) fn of(
        program: &Program,
        start: &BTreeMap<(u8, u8), FlowValue>,
        constants: &KnownConstants,
        shader: &GlslShader,
        output: &dyn Fn(ExportedElement) -> Option<usize>,
    ) -> Self {
        let reading = Reading { constants, lines: &shader.lines, output };
        let mut flow = Self { registers: start.clone(), ..Self::default() };
        let decoded = program.decode();
        for round in 0..2 {
            flow.conditions.clear();
            if round > 0 {
                // Around a loop: inputs are there again, and values of the first round may be.
                for (place, value) in start {
                    flow.registers.insert(*place, value.clone());
                }
            }
            for entry in &decoded.entries {
                let at = At { pc: entry.addr, item: None, fetch: false };
                let Ok(cf) = &entry.cf else { continue };
                match (cf, &entry.clause) {
                    (Cf::Alu(alu), ClauseBody::Alu(clause)) => {
                        let info = alu.word1.op.info();
                        if info.pushes > 0 {
                            flow.conditions.push(NameSet::new());
                        }
                        let locks = alu.kcache();
                        for (item, group) in (0..).zip(&clause.groups) {
                            flow.group(At { item: Some(item), ..at }, group, &locks, &reading);
                        }
                        flow.pop(usize::from(info.pops));
                    }
                    (_, ClauseBody::Fetch(clause)) => {
                        for (item, fetch) in (0..).zip(&clause.fetches) {
                            if let Ok(inst) = &fetch.inst {
                                flow.fetch(At { item: Some(item), ..at }, &inst.fetch, &reading);
                            }
                        }
                    }
                    (Cf::Export(export), _) => flow.export(at, export, &reading),
                    (Cf::Plain(plain), _) => flow.pop(usize::from(plain.word1.pop_count)),
                    _ => {}
                }
            }
        }
        flow
    }

    fn pop(&mut self, count: usize) {
        self.conditions.truncate(self.conditions.len().saturating_sub(count));
    }

    /// Writes an element.
    fn write(&mut self, place: (u8, u8), value: FlowValue) {
        if self.conditions.iter().all(NameSet::is_empty) {
            self.registers.insert(place, value);
            return;
        }
        let known = self.registers.entry(place).or_default();
        let mut made = value.made;
        made.extend(&known.made);
        self.conditions.iter().for_each(|of| made.extend(of));
        *known = FlowValue { made, copy: NameSet::new(), line: value.line };
    }

    fn operands(&self, group: &Group, inst: &AluInst, locks: &[Kcache; 2], reading: &Reading<'_>) -> OperandNames {
        let mut reads = OperandNames::default();
        for operand in inst.operands() {
            let element = operand.chan as usize;
            let constant = |buffer, constant| reading.constants.elements.get(&(buffer, constant, element)).copied();
            match operand.source {
                Source::Gpr(register) => {
                    if let Some(value) = self.registers.get(&(register, operand.chan as u8)) {
                        reads.add(value);
                    }
                }
                Source::Kcache { set, index } => {
                    let lock = locks[usize::from(set & 1)];
                    if lock.mode != KcacheMode::Nop {
                        let number = usize::from(lock.line) * LINE + usize::from(index);
                        constant(Some(lock.bank), number).into_iter().for_each(|name| reads.name(name));
                    }
                }
                Source::Constant(index) => {
                    constant(None, usize::from(index)).into_iter().for_each(|name| reads.name(name));
                }
                Source::Special(SpecialSel::Pv) => reads.add(&self.previous[element]),
                Source::Special(SpecialSel::Ps) => reads.add(&self.previous[4]),
                Source::Special(SpecialSel::Literal) => reads.literals.push(group.literals[element] & !(1 << 31)),
                Source::Special(_) | Source::Reserved(_) => {}
            }
        }
        reads
    }

    fn group(&mut self, at: At, group: &Group, locks: &[Kcache; 2], reading: &Reading<'_>) {
        // All operands are read before anything is written.
        let mut own: Vec<OperandNames> =
            group.slots.iter().map(|slot| self.operands(group, &slot.inst, locks, reading)).collect();
        // Reductions make one result of the operands of several slots.
        let is_joined = |unit: AluUnit, inst: &AluInst| inst.op().info().slots != Slots::One && unit != AluUnit::T;
        let mut joined = OperandNames::default();
        for (slot, reads) in group.slots.iter().zip(&own) {
            if is_joined(slot.unit, &slot.inst) {
                joined.join(reads);
            }
        }
        for (slot, reads) in group.slots.iter().zip(&mut own) {
            if is_joined(slot.unit, &slot.inst) {
                *reads = joined.clone();
            }
        }
        let mut results: [FlowValue; 5] = Default::default();
        for (slot, reads) in group.slots.iter().zip(own) {
            let op = slot.inst.op();
            let line = reads.line(reading.lines);
            if let Some(line) = line {
                self.lines.insert((at, Some(slot.unit as u8)), line);
            }
            if op.info().kind == SideEffect::PredSet
                && let Some(condition) = self.conditions.last_mut()
            {
                condition.extend(&reads.made);
            }
            let is_move = op.name() == "MOV";
            let copy = if is_move { reads.named.clone() } else { NameSet::new() };
            results[slot.unit as usize] = FlowValue { made: reads.made, copy, line };
        }
        for slot in &group.slots {
            let (register, is_relative, element) = slot.inst.destination();
            if slot.inst.writes() && !is_relative {
                self.write((register, element as u8), results[slot.unit as usize].clone());
            }
        }
        self.previous = results;
    }

    fn fetch(&mut self, at: At, fetch: &Fetch, reading: &Reading<'_>) {
        let mut reads = OperandNames::default();
        let (register, sels) = match fetch {
            Fetch::Tex(texture) => {
                let word = &texture.word2;
                for sel in [word.src_sel_x, word.src_sel_y, word.src_sel_z, word.src_sel_w] {
                    if let Some(value) = element(sel).and_then(|n| self.registers.get(&(texture.word0.src_gpr, n))) {
                        reads.add(value);
                    }
                }
                let sampler = reading.constants.samplers.get(&texture.word0.resource_id);
                sampler.into_iter().for_each(|&name| reads.name(name));
                let word = &texture.word1;
                (word.dst_gpr, [word.dst_sel_x, word.dst_sel_y, word.dst_sel_z, word.dst_sel_w])
            }
            Fetch::Vtx(vertex) => {
                let word = &vertex.word0;
                if let Some(value) = self.registers.get(&(word.src_gpr, word.src_sel_x as u8)) {
                    reads.add(value);
                }
                let names = reading.constants.buffers.get(&word.buffer_id);
                names.into_iter().flatten().for_each(|&name| reads.name(name));
                let ctm_isa::r700::inst::VtxWord1::Gpr(word) = &vertex.word1 else { return };
                (word.dst_gpr, [word.dst_sel_x, word.dst_sel_y, word.dst_sel_z, word.dst_sel_w])
            }
            _ => return,
        };
        let line = reads.line(reading.lines);
        self.lines.extend(line.map(|line| ((at, None), line)));
        for (n, sel) in (0u8..).zip(sels) {
            let value = match sel {
                Sel::Mask => continue,
                Sel::Zero | Sel::One => FlowValue::default(),
                _ => FlowValue { made: reads.made.clone(), copy: NameSet::new(), line },
            };
            self.write((register, n), value);
        }
    }

    fn export(&mut self, at: At, export: &CfExport, reading: &Reading<'_>) {
        let word = &export.word1;
        let (mut written, mut lines) = (NameSet::new(), Vec::new());
        for n in 0..=word.burst_count {
            let register = export.word0.rw_gpr.saturating_add(n);
            let number = u8::try_from(export.word0.array_base).unwrap_or(u8::MAX).saturating_add(n);
            for (to, sel) in (0u8..).zip([word.sel_x, word.sel_y, word.sel_z, word.sel_w]) {
                let value = element(sel).and_then(|of| self.registers.get(&(register, of)));
                let output = match export.kind {
                    ExportType::Param => ExportedElement::Parameter(number, to),
                    ExportType::Pos if number == 60 => ExportedElement::Position,
                    ExportType::Pixel if number < 8 => ExportedElement::Pixel(number),
                    ExportType::Pixel if number == 61 => ExportedElement::Depth,
                    ExportType::Pos | ExportType::Pixel => continue,
                };
                if let (ExportedElement::Parameter(..), Some(value)) = (output, value) {
                    self.parameters.insert((number, to), value.made.clone());
                }
                if sel != Sel::Mask {
                    written.extend((reading.output)(output));
                }
                lines.extend(value.and_then(|value| value.line));
            }
        }
        // The last assignment to an output is the one that is exported.
        let last = reading.lines.iter().filter(|line| !line.writes.is_disjoint(&written)).map(|line| line.line).max();
        self.lines.extend(last.or_else(|| lines.into_iter().max()).map(|line| ((at, None), line)));
    }
}

/// The element that a select names.
fn element(sel: Sel) -> Option<u8> {
    match sel {
        Sel::X => Some(0),
        Sel::Y => Some(1),
        Sel::Z => Some(2),
        Sel::W => Some(3),
        Sel::Zero | Sel::One | Sel::Mask => None,
    }
}
