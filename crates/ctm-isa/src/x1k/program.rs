//! A whole X1K program: its words and everything else that the loader must know.
//!
//! The assembler makes one, images store and load one, the checker and the engines read one.

use super::OUTPUTS;
use super::access;
use super::inst::{AluInst, Inst, Source, Words};
use super::ops::{AOp, BOp, FcOp, InstType, PredSel, TexOp};
use crate::diag::Span;
use std::collections::BTreeSet;

/// The meaning of a name in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// Program input (0..=15).
    Input,
    /// Program output (0..=3).
    Output,
    /// Floating-point constant (0..=255).
    Float,
    /// Integer constant (0..=31).
    Int,
    /// Boolean constant (0..=31).
    Bool,
}

/// A name by which a job or a host program can bind something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// The named item.
    pub kind: SymbolKind,
    /// Which one.
    pub index: u8,
}

/// A constant whose value travels with the program; the loader stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// Floating-point constant: the bits of r, g, b, a.
    Float {
        /// 0..=255.
        index: u8,
        /// Bits of r, g, b, a.
        bits: [u32; 4],
    },
    /// Integer constant: count, initial aL, step of aL.
    Int {
        /// 0..=31.
        index: u8,
        /// Iteration count, initial aL, increment of aL (two's complement), and an unused byte.
        value: [u8; 4],
    },
    /// Boolean constant.
    Bool {
        /// 0..=31.
        index: u8,
        /// The value.
        value: bool,
    },
}

/// A rasteriser instruction: a start value of a temporary (`docs/image.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Preload {
    /// The index pair as `(i, j, 0, 0)`.
    Position {
        /// 0..=127.
        temp: u8,
    },
    /// Interpolant `index` of the parameter records.
    Interpolant {
        /// 0..=15.
        index: u8,
        /// 0..=127.
        temp: u8,
    },
}

/// The unit that answers lookups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lookups {
    /// The inputs of a launch, of one level each (CTM §3.4).
    #[default]
    Inputs,
    /// The texture units of a draw: textures with levels, slices or faces, and their filters.
    Textures {
        /// Units whose textures are cubes, bit 0 = unit 0.
        cubes: u16,
    },
}

/// A program: the words, the program information of CTM §4.1.4, and further data of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The instruction slots, at most [`super::INSTRUCTION_SLOTS`].
    pub words: Vec<Words>,
    /// Where execution begins.
    pub first: u16,
    /// The instruction after which the program halts (inclusive).
    pub last: u16,
    /// Full flow-control mode (`US_FC_CTRL` bit 31); partial otherwise.
    pub full_flow_control: bool,
    /// Output writes are uncached (`US_CONFIG` bit 0).
    pub uncached: bool,
    /// Zero times anything is zero (`US_CONFIG` bit 1).
    pub zero_times_anything: bool,
    /// The program exports a conditional value (`FG_DEPTH_SRC` bit 0).
    pub conditional_value: bool,
    /// The unit that answers its lookups: no part of its words or image.
    pub lookups: Lookups,
    /// Start values of temporaries.
    pub preloads: Vec<Preload>,
    /// Names for binding.
    pub symbols: Vec<Symbol>,
    /// Constants that travel with the program.
    pub literals: Vec<Literal>,
    /// For programs that came from text: the statement of each slot.
    pub spans: Vec<Span>,
}

impl Program {
    /// A program that is nothing but words: runs from the first to the last slot, the index pair in r0, full flow control
    /// where it is needed.
    #[must_use]
    pub fn from_words(words: Vec<Words>) -> Self {
        let usage = Usage::of(&words);
        Self {
            first: 0,
            last: u16::try_from(words.len().saturating_sub(1)).unwrap_or(u16::MAX),
            full_flow_control: usage.needs_full_flow_control,
            uncached: false,
            zero_times_anything: false,
            conditional_value: usage.conditional_value,
            lookups: Lookups::Inputs,
            preloads: vec![Preload::Position { temp: 0 }],
            symbols: Vec::new(),
            literals: Vec::new(),
            spans: Vec::new(),
            words,
        }
    }

    /// The references of the words. In a program with uncached writes the targets are kinds of writes, which all go to output 0 (CTM §3.3.8).
    #[must_use]
    pub fn usage(&self) -> Usage {
        let mut usage = Usage::of(&self.words);
        if self.uncached && !usage.outputs.is_empty() {
            usage.outputs = BTreeSet::from([0]);
        }
        usage
    }

    /// The colour outputs (bit n = output n) that every processor writes, all four channels of them, whatever it computes. Looks at the text alone, so it may miss some: programs with
    /// flow control, and those that kill processors, have none.
    #[must_use]
    pub fn always_written(&self) -> u8 {
        let run = self.words.get(usize::from(self.first)..=usize::from(self.last)).unwrap_or_default();
        let mut channels = [0u8; OUTPUTS];
        for words in run {
            match Inst::decode(words) {
                Ok(Inst::Alu(alu)) if alu.cmn.kind == InstType::Output => {
                    if alu.cmn.rgb_pred_sel == PredSel::None {
                        channels[usize::from(alu.rgb.target) % OUTPUTS] |= alu.cmn.rgb_omask;
                    }
                    if alu.cmn.alpha_pred_sel == PredSel::None && alu.cmn.alpha_omask {
                        channels[usize::from(alu.alpha.target) % OUTPUTS] |= 8;
                    }
                }
                Ok(Inst::Alu(_)) => {}
                Ok(Inst::Tex(tex)) if tex.inst.op != TexOp::KillLt0 => {}
                Ok(Inst::Tex(_) | Inst::Fc(_)) | Err(_) => return 0,
            }
        }
        if self.uncached || self.conditional_value {
            return 0;
        }
        (0..).zip(channels).filter(|&(_, written)| written == 15).fold(0, |set, (n, _): (u8, _)| set | 1 << n)
    }

    /// The index that `name` means.
    #[must_use]
    pub fn symbol(&self, kind: SymbolKind, name: &str) -> Option<u8> {
        self.symbols.iter().find(|s| s.kind == kind && s.name == name).map(|s| s.index)
    }
}

/// The references of a program's words: the contents of the notes of CTM §4.1.4.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Inputs that texture instructions read.
    pub inputs: BTreeSet<u8>,
    /// Outputs that are written: the targets of OUTPUT instructions.
    pub outputs: BTreeSet<u8>,
    /// Floating-point constants that are read; with a relative address all from the base on.
    pub float_constants: BTreeSet<u8>,
    /// Integer constants that LOOP and REP read.
    pub int_constants: BTreeSet<u8>,
    /// Boolean constants that jump conditions depend on.
    pub bool_constants: BTreeSet<u8>,
    /// The highest temporary that is read or written.
    pub highest_temp: u8,
    /// Whether an instruction writes the conditional value.
    pub conditional_value: bool,
    /// Whether an instruction carries LAST.
    pub early_exit: bool,
    /// Whether loops, calls or deep branches need full flow-control mode.
    pub needs_full_flow_control: bool,
}

impl Usage {
    /// Collects the references of `words`, of a program with cached writes. Slots that cannot be decoded refer to nothing.
    #[must_use]
    pub fn of(words: &[Words]) -> Self {
        let mut usage = Self::default();
        let mut branch_depth = 0i32;
        for inst in words.iter().filter_map(|w| Inst::decode(w).ok()) {
            match inst {
                Inst::Alu(alu) => usage.alu(&alu),
                Inst::Tex(tex) => {
                    if tex.inst.op.is_lookup() {
                        usage.inputs.insert(tex.inst.tex_id);
                        usage.temp(tex.addr.dst_addr);
                    }
                    if tex.inst.op != TexOp::Nop {
                        usage.temp(tex.addr.src_addr);
                    }
                    if tex.inst.op == TexOp::Dxdy {
                        usage.temp(tex.dxdy.dx_addr);
                        usage.temp(tex.dxdy.dy_addr);
                    }
                }
                Inst::Fc(fc) => {
                    if matches!(fc.inst.op, FcOp::Loop | FcOp::Rep) {
                        usage.int_constants.insert(fc.addr.int_addr);
                    }
                    if jump_depends_on_bool(fc.inst.jump_func) {
                        usage.bool_constants.insert(fc.addr.bool_addr);
                    }
                    usage.needs_full_flow_control |= fc.inst.op != FcOp::Jump || fc.inst.a_op != AOp::None;
                    if fc.inst.b_op0 == BOp::Incr {
                        branch_depth += 1;
                        // Partial mode counts 0..=3, which is a depth of four (CTM §3.5.2).
                        usage.needs_full_flow_control |= branch_depth > i32::from(super::BRANCH_COUNTER_PARTIAL) + 1;
                    }
                    if fc.inst.b_op0 == BOp::Decr {
                        branch_depth -= i32::from(fc.inst.b_pop_cnt);
                    }
                }
            }
        }
        usage
    }

    fn temp(&mut self, index: u8) {
        self.highest_temp = self.highest_temp.max(index);
    }

    fn alu(&mut self, alu: &AluInst) {
        for (source, _) in access::sources(alu) {
            match source {
                Source::Temp { index, .. } => self.temp(index),
                Source::Const { index, relative: false } => {
                    self.float_constants.insert(index);
                }
                Source::Const { index, relative: true } => self.float_constants.extend(index..=255),
                Source::Inline { .. } => {}
            }
        }
        if alu.cmn.rgb_wmask != 0 {
            self.temp(alu.rgba.addrd);
        }
        if alu.cmn.alpha_wmask {
            self.temp(alu.alpha.addrd);
        }
        if alu.cmn.kind == InstType::Output {
            if alu.cmn.rgb_omask != 0 {
                self.outputs.insert(alu.rgb.target);
            }
            if alu.cmn.alpha_omask {
                self.outputs.insert(alu.alpha.target);
            }
        }
        self.conditional_value |= alu.alpha.w_omask;
        self.early_exit |= alu.cmn.last;
    }
}

/// Whether the boolean constant takes part in a jump condition.
#[must_use]
pub const fn jump_depends_on_bool(jump_func: u8) -> bool {
    (jump_func >> 1) & 0x55 != jump_func & 0x55
}

/// Whether the predicate takes part in a jump condition.
#[must_use]
pub const fn jump_depends_on_predicate(jump_func: u8) -> bool {
    (jump_func >> 2) & 0x33 != jump_func & 0x33
}

/// Whether the ALU result takes part in a jump condition.
#[must_use]
pub const fn jump_depends_on_alu_result(jump_func: u8) -> bool {
    (jump_func >> 4) & 0x0f != jump_func & 0x0f
}
