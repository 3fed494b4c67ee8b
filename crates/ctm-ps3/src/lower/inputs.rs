//! Inputs of a shader: constants of the text, declared inputs.

use super::{Lower, halve, small};
use crate::ir::{Alu, Dest, Load, Op, V, VirtualOperand};
use crate::syntax::{self, DefValue, RegisterFile, SourceOperand};
use crate::table;
use ctm_isa::diag::{Diagnostic, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Interpolants that the rasteriser words can name.
const INTERPOLANTS: u16 = 16;

impl Lower<'_> {
    pub(super) fn values(&mut self) {
        let mut seen: BTreeMap<(RegisterFile, u16), Span> = BTreeMap::new();
        for &(value, span) in &self.shader.values {
            let key = match value {
                DefValue::Float(index, value) => {
                    self.code.floats.insert(small(index), value.map(f32::to_bits));
                    self.mentioned.insert(small(index));
                    (RegisterFile::Const, index)
                }
                DefValue::Int(index, value) => {
                    let bytes = value.map(|n| n.to_le_bytes()[0]);
                    self.code.ints.insert(small(index), [bytes[0], bytes[1], bytes[2], 0]);
                    (RegisterFile::Int, index)
                }
                DefValue::Bool(index, value) => {
                    self.code.bools.insert(small(index), value);
                    (RegisterFile::Bool, index)
                }
            };
            if let Some(first) = seen.insert(key, span) {
                let name = syntax::Reg { file: key.0, index: key.1, relative: false }.name();
                self.findings.push(
                    Diagnostic::error("definition", format!("{name} is defined twice"))
                        .at(span, "")
                        .at(first, "first here"),
                );
            }
        }
    }

    pub(super) fn declarations(&mut self) {
        let taken: BTreeSet<u16> =
            self.shader.declared.iter().filter(|d| d.usage == "texcoord").map(|d| d.usage_index).collect();
        let mut free = (0..INTERPOLANTS).filter(|n| !taken.contains(n)).collect::<Vec<_>>().into_iter();
        let mut interpolants: BTreeMap<u16, V> = BTreeMap::new();
        let mut array = [None; 10];
        for declared in &self.shader.declared {
            let load = match (declared.reg.file, declared.usage) {
                (RegisterFile::Face, _) => {
                    self.inputs.insert((RegisterFile::Face, 0), [None; 4]);
                    continue;
                }
                (RegisterFile::Position, _) => Load::Position,
                (_, "texcoord") => Load::Interpolant(small(declared.usage_index)),
                (_, usage) => {
                    let Some(index) = free.next() else {
                        self.error(
                            "declaration",
                            "no interpolant is left for this input".to_owned(),
                            declared.span,
                            "there are sixteen",
                        );
                        continue;
                    };
                    self.findings.push(
                        Diagnostic::new(
                            ctm_isa::diag::Severity::Note,
                            "interpolant",
                            format!("{usage}{} arrives as interpolant {index}", declared.usage_index),
                        )
                        .at(declared.span, "")
                        .help("inputs other than texture coordinates take the interpolants that those leave, in order"),
                    );
                    Load::Interpolant(small(index))
                }
            };
            let mut v = self.code.fresh();
            // One interpolant in two registers is loaded once.
            match load {
                Load::Interpolant(n) => match interpolants.get(&u16::from(n)) {
                    Some(&loaded) if declared.reg.file != RegisterFile::Input => v = loaded,
                    _ => {
                        interpolants.insert(u16::from(n), v);
                        self.code.loads.push((v, load));
                    }
                },
                Load::Position => {
                    if self.inputs.contains_key(&(RegisterFile::Position, 0)) {
                        continue;
                    }
                    self.code.loads.push((v, load));
                }
            }
            // The position is loaded as (i, j, 0, 0).
            let mask = declared.mask;
            let held = self.inputs.entry((declared.reg.file, declared.reg.index)).or_insert([None; 4]);
            let twice = crate::ir::channels(mask).any(|c| held[usize::from(c)].is_some());
            for c in crate::ir::channels(mask) {
                held[usize::from(c)] = Some(v);
            }
            if twice {
                let name = declared.reg.name();
                self.error("declaration", format!("a channel of {name} is declared twice"), declared.span, "");
            }
            if declared.reg.file == RegisterFile::Input
                && let Some(slot) = array.get_mut(usize::from(declared.reg.index))
            {
                *slot = Some(v);
            }
        }
        self.gather();
        let relative = |s: &SourceOperand| s.reg.relative && s.reg.file == RegisterFile::Input;
        if let Some(source) = self.shader.code.iter().flat_map(|i| &i.sources).find(|s| relative(s)) {
            let packed = |index: u16| {
                let mut of = self
                    .shader
                    .declared
                    .iter()
                    .filter(|d| d.reg == syntax::Reg { file: RegisterFile::Input, index, relative: false });
                of.next().is_some() && of.next().is_some()
            };
            if let Some(index) = (0..10).find(|&i| packed(i)) {
                let message = format!("v{index} holds two inputs, and this reads inputs relative to aL");
                self.error("relative", message, source.span, "give each input its own register");
            }
            self.code.array = Some(array);
        }
    }

    /// Registers with parts of several interpolants are assembled before the first instruction: an operand reads one register.
    fn gather(&mut self) {
        let code = &mut self.code;
        for held in self.inputs.values_mut() {
            let mut parts: Vec<V> = held.iter().flatten().copied().collect();
            parts.sort_unstable();
            parts.dedup();
            if parts.len() < 2 {
                continue;
            }
            let whole = code.fresh();
            for part in parts {
                let mask = (0..4).filter(|&c| held[c] == Some(part)).fold(0, |m, c| m | 1 << c);
                let dest = Dest { temp: Some(whole), mask, ..Dest::default() };
                let src = [VirtualOperand::temp(part).masked(mask), VirtualOperand::ABSENT, VirtualOperand::ABSENT];
                let span = Span::default();
                halve(code, Alu { op: Op::Mov, dest, src, sat: false, omod: 0, guard: None, span });
            }
            *held = held.map(|h| h.map(|_| whole));
        }
    }

    /// Notes which constants the text uses, and refuses inputs that are not declared.
    pub(super) fn mention(&mut self, inst: &syntax::Inst, source: &SourceOperand) {
        match source.reg.file {
            RegisterFile::Const => {
                self.relative_constants |= source.reg.relative;
                let rows = match inst.op {
                    table::TableOp::M3x2 => 2,
                    table::TableOp::M3x3 | table::TableOp::M4x3 => 3,
                    table::TableOp::M3x4 | table::TableOp::M4x4 => 4,
                    _ => 1,
                };
                for row in 0..rows {
                    self.mentioned.insert(small(source.reg.index).saturating_add(row));
                }
            }
            RegisterFile::Sampler if !self.shader.samplers.iter().any(|s| s.0 == source.reg.index) => {
                let name = source.reg.name();
                self.error(
                    "undeclared",
                    format!("{name} is not declared"),
                    source.span,
                    &format!("write dcl_2d {name}"),
                );
            }
            _ => {}
        }
    }

    /// The register and channel that holds a number.
    pub(super) fn undeclared(&mut self, source: &SourceOperand) {
        let name = source.reg.name();
        let help = match source.reg.file {
            RegisterFile::Position => "write dcl vPos.xy".to_owned(),
            RegisterFile::TexCoord => format!("write dcl {name}"),
            _ => format!("write dcl_texcoord{} {name}", source.reg.index),
        };
        self.error("undeclared", format!("{name} is read here, and not all of that is declared"), source.span, &help);
    }
}
