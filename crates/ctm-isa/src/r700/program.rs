//! A whole R700 program: its words and the loader's further data.

use super::inst::{Cf, CfAlu, CfPlain, ClauseBody, Decoded, Fetch, VtxWord1, decode_program};
use super::ops::{CfOp, ExportType, RelMode, Sel, Source};
use crate::diag::Span;
use std::collections::HashSet;

ops! {
    /// The kind of program (R700 §2.1).
    pub enum Stage cite "R700 §2.1" {
        /// Vertex program.
        Vertex "vertex" 0;
        /// Geometry program.
        Geometry "geometry" 1;
        /// Vertex program in front of a geometry program (ES).
        Export "export" 2;
        /// Pixel program.
        Pixel "pixel" 3;
        /// Fetch subroutine of a vertex program (FS).
        Fetch "fetch" 4;
        /// DMA copy program after a geometry program.
        Copy "copy" 5;
        /// Compute program.
        Compute "compute" 6;
    }
}

ops! {
    /// Chips of the family, as far as programs notice.
    pub enum Chip cite "r700-encoding §8" info u32 {
        /// RV710: wavefronts of 16.
        Rv710 "rv710" 0 => 16;
        /// RV730: wavefronts of 32.
        Rv730 "rv730" 1 => 32;
        /// RV740: wavefronts of 64.
        Rv740 "rv740" 2 => 64;
        /// RV770 and RV790: wavefronts of 64, double precision.
        Rv770 "rv770" 3 => 64;
    }
}

impl Chip {
    /// Threads of a wavefront.
    #[must_use]
    pub const fn wavefront(self) -> u32 {
        self.info()
    }

    /// Whether it has double precision (R700 §4.12, r700-encoding §4).
    #[must_use]
    pub const fn has_doubles(self) -> bool {
        matches!(self, Self::Rv770)
    }

    /// Subentries of a stack entry (R700 table 3.5).
    #[must_use]
    pub const fn subentries_per_entry(self) -> u32 {
        if self.wavefront() < 48 { 8 } else { 4 }
    }

    /// Subentries that a call takes (R700 table 3.6).
    #[must_use]
    pub const fn call_subentries(self) -> u32 {
        if self.wavefront() == 16 { 2 } else { 1 }
    }
}

/// The meaning of a name in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SymbolKind {
    /// A register, 0..=127.
    Gpr,
    /// A constant of the constant file, 0..=255.
    Constant,
    /// A constant of a locked set of lines: the set (0 or 1) and the index in the window.
    Kcache(u8),
    /// A texture resource, 0..=255.
    Resource,
    /// A sampler, 0..=31.
    Sampler,
    /// A buffer, 0..=255.
    Buffer,
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

/// A comment line `; $NAME = VALUE`: register setup and variable tables that tools put into listings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    /// The name without the dollar sign, such as `SPI_VS_OUT_ID[0].SEMANTIC_0`.
    pub name: String,
    /// The value as it is written, quotes included.
    pub value: String,
    /// The comment in the source.
    pub span: Span,
}

/// A program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// The dwords from the program's start.
    pub words: Vec<u32>,
    /// The slot where control flow begins.
    pub entry: u32,
    /// The kind of program, where that is known.
    pub stage: Option<Stage>,
    /// Registers that it has, clause temporaries not counted: those that it was given (`.gprs`, NUM_GPRS), or else those that its words name. Relative addresses
    /// reach all of them (R700 §4.6.3).
    pub gprs: u8,
    /// Stack entries that it has.
    pub stack: u8,
    /// Names for binding.
    pub symbols: Vec<Symbol>,
    /// Settings that the source carries in comments.
    pub settings: Vec<Setting>,
    /// For programs that came from text: the statement of each slot.
    pub spans: Vec<Span>,
}

impl Program {
    /// A program that is nothing but words; registers and stack follow from the words on RV770.
    #[must_use]
    pub fn from_words(words: Vec<u32>) -> Self {
        let usage = Usage::of(&words, 0, Chip::Rv770);
        Self { words, gprs: usage.gprs, stack: usage.stack, ..Self::default() }
    }

    /// The program's setting of `DX10_CLAMP` of `SQ_PGM_RESOURCES`: whether a clamp turns NaN into 0.
    #[must_use]
    pub fn dx10_clamp(&self) -> Option<bool> {
        match resource_setting(&self.settings, None, "DX10_CLAMP")? {
            "0" => Some(false),
            "1" => Some(true),
            other if other.eq_ignore_ascii_case("false") => Some(false),
            other if other.eq_ignore_ascii_case("true") => Some(true),
            _ => None,
        }
    }

    /// The control flow and the clauses.
    #[must_use]
    pub fn decode(&self) -> Decoded {
        decode_program(&self.words, self.entry)
    }

    /// The index that `name` means.
    #[must_use]
    pub fn symbol(&self, kind: SymbolKind, name: &str) -> Option<u8> {
        self.symbols.iter().find(|s| s.kind == kind && s.name == name).map(|s| s.index)
    }
}

/// The setting of a field of `SQ_PGM_RESOURCES`, the last of several. A header may hold the registers of two programs, so a known stage takes its own alone.
fn resource_setting<'a>(settings: &'a [Setting], stage: Option<Stage>, field: &str) -> Option<&'a str> {
    let suffix = match stage {
        None | Some(Stage::Compute) => "",
        Some(Stage::Pixel) => "_PS",
        Some(Stage::Vertex | Stage::Copy) => "_VS",
        Some(Stage::Export) => "_ES",
        Some(Stage::Geometry) => "_GS",
        Some(Stage::Fetch) => "_FS",
    };
    let named = |setting: &&Setting| {
        let name = setting.name.to_ascii_uppercase();
        let parts = name.strip_prefix("SQ_PGM_RESOURCES").and_then(|rest| rest.split_once('.'));
        parts.is_some_and(|(register, of)| of.trim() == field && (suffix.is_empty() || register.trim() == suffix))
    };
    settings.iter().rev().find(named).map(|setting| setting.value.trim())
}

/// Registers and stack entries that settings give a program: NUM_GPRS and STACK_SIZE of `SQ_PGM_RESOURCES`.
pub(crate) fn set_resources(settings: &[Setting], stage: Option<Stage>) -> [Option<u8>; 2] {
    ["NUM_GPRS", "STACK_SIZE"].map(|field| {
        let value = resource_setting(settings, stage, field)?;
        match value.strip_prefix("0x").or_else(|| value.strip_prefix("0X")) {
            Some(digits) => u8::from_str_radix(digits, 16).ok(),
            None => value.parse().ok(),
        }
    })
}

/// Lowest register that is normally set aside as a clause temporary (R700 §4.6).
pub const CLAUSE_TEMPORARIES: u8 = 124;

/// The needs of a program's words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Registers: one more than the highest that is read or written, clause temporaries left out. A relative address
    /// counts as its base.
    pub gprs: u8,
    /// Stack entries at the deepest place (R700 §3.6.5).
    pub stack: u8,
    /// Whether an ALU instruction kills pixels.
    pub kills: bool,
    /// Whether an instruction needs double precision.
    pub doubles: bool,
}

impl Usage {
    /// Collects the needs of the program at `entry` on a chip.
    #[must_use]
    pub fn of(words: &[u32], entry: u32, chip: Chip) -> Self {
        let decoded = decode_program(words, entry);
        let mut usage = Self::default();
        for entry in &decoded.entries {
            match &entry.cf {
                Ok(Cf::Export(e)) => {
                    usage.gpr(e.word0.rw_gpr.saturating_add(e.word1.burst_count));
                }
                Ok(Cf::Mem(e)) => {
                    usage.gpr(e.word0.rw_gpr.saturating_add(e.word1.burst_count));
                    if e.kind.is_indexed() {
                        usage.gpr(e.word0.index_gpr);
                    }
                }
                Ok(Cf::Plain(_) | Cf::Alu(_)) | Err(_) => {}
            }
            match &entry.clause {
                ClauseBody::Alu(clause) => {
                    for slot in clause.groups.iter().flat_map(|g| &g.slots) {
                        usage.alu(&slot.inst);
                    }
                }
                ClauseBody::Fetch(clause) => {
                    for fetch in clause.fetches.iter().filter_map(|f| f.inst.ok()) {
                        usage.fetch(&fetch.fetch);
                    }
                }
                ClauseBody::None | ClauseBody::Outside | ClauseBody::Unread => {}
            }
        }
        usage.stack = stack_entries(&decoded, chip);
        usage
    }

    /// The colour outputs (bit n = output n) that every pixel of a pixel program exports, all four elements of them, whatever it computes: those exported
    /// where no branch or loop is open, nothing has been killed and the execute mask is as at the start. Looks at the text alone, so it may miss some.
    #[must_use]
    pub fn always_exported(decoded: &Decoded) -> u8 {
        Self::exported_by_all(decoded, false)
    }

    /// The colour outputs that every pixel exports that no ALU instruction kills (bit n = output n).
    #[must_use]
    pub fn exported_by_survivors(decoded: &Decoded) -> u8 {
        Self::exported_by_all(decoded, true)
    }

    fn exported_by_all(decoded: &Decoded, kills: bool) -> u8 {
        let (mut depth, mut exported) = (Depth::default(), 0);
        for entry in &decoded.entries {
            match &entry.cf {
                Ok(Cf::Plain(plain)) => {
                    let op = plain.word1.op;
                    if matches!(op, CfOp::Call | CfOp::CallFs | CfOp::Return | CfOp::Kill) {
                        return 0;
                    }
                    depth.plain(plain);
                }
                Ok(Cf::Alu(alu)) => {
                    let info = alu.word1.op.info();
                    depth.pushes += u32::from(info.pushes);
                    if let ClauseBody::Alu(clause) = &entry.clause {
                        let mut insts = clause.groups.iter().flat_map(|group| &group.slots).map(|slot| &slot.inst);
                        let stays = |inst: &super::inst::AluInst| {
                            (kills || inst.op().info().kind != super::ops::SideEffect::Kill)
                                && !(inst.updates_execute_mask() && depth.is_empty())
                        };
                        if !insts.all(stays) {
                            return 0;
                        }
                    }
                    depth.pop(u32::from(info.pops));
                }
                Ok(Cf::Export(export)) if export.kind == ExportType::Pixel && depth.is_empty() => {
                    let whole = export.swizzle().iter().all(|&sel| sel != Sel::Mask);
                    let first = u32::from(export.word0.array_base);
                    for n in (first..=first + u32::from(export.word1.burst_count)).filter(|&n| whole && n < 8) {
                        exported |= 1 << n;
                    }
                }
                Ok(Cf::Export(_) | Cf::Mem(_)) => {}
                Err(_) => return 0,
            }
        }
        exported
    }

    fn gpr(&mut self, index: u8) {
        if index < CLAUSE_TEMPORARIES {
            self.gprs = self.gprs.max(index + 1);
        }
    }

    fn alu(&mut self, inst: &super::inst::AluInst) {
        for operand in inst.operands() {
            if let Source::Gpr(index) = operand.source {
                self.gpr(index);
            }
        }
        if inst.writes() {
            self.gpr(inst.destination().0);
        }
        let info = inst.op().info();
        self.kills |= info.kind == super::ops::SideEffect::Kill;
        self.doubles |= info.available == super::ops::Available::Doubles;
    }

    fn fetch(&mut self, fetch: &Fetch) {
        match fetch {
            Fetch::Vtx(i) => {
                self.gpr(i.word0.src_gpr);
                if let VtxWord1::Gpr(w) = &i.word1 {
                    self.gpr(w.dst_gpr);
                }
            }
            Fetch::Tex(i) => {
                if i.source_swizzle().iter().any(|s| !matches!(s, Sel::Zero | Sel::One | Sel::Mask)) {
                    self.gpr(i.word0.src_gpr);
                }
                if i.destination_swizzle().iter().any(|&s| s != Sel::Mask) {
                    self.gpr(i.word1.dst_gpr);
                }
            }
            Fetch::MemRd(i) => {
                if i.word0.indexed {
                    self.gpr(i.word0.src_gpr);
                }
                self.gpr(i.word1.dst_gpr.saturating_add(i.word0.burst_cnt));
            }
            Fetch::MemDsw(i) => {
                if i.word0.src_rel_mode != RelMode::Global {
                    self.gpr(i.word0.src_gpr.saturating_add(i.word2.burst_cnt));
                }
            }
            Fetch::MemDsr(i) => {
                if i.word0.src_rel_mode != RelMode::Global {
                    self.gpr(i.word0.src_gpr);
                }
                if i.word1.dst_rel_mode != RelMode::Global {
                    self.gpr(i.word1.dst_gpr.saturating_add(i.word2.burst_cnt));
                }
            }
        }
    }
}

/// The stack at one place.
#[derive(Clone, Copy, Default)]
struct Depth {
    pushes: u32,
    whole_quad_pushes: u32,
    loops: u32,
}

impl Depth {
    /// Pops `count` active masks, those of whole-quad pushes first.
    fn pop(&mut self, count: u32) {
        let quads = self.whole_quad_pushes.min(count);
        self.whole_quad_pushes -= quads;
        self.pushes = self.pushes.saturating_sub(count - quads);
    }

    /// The stack after a control-flow instruction that does not jump.
    fn plain(&mut self, plain: &CfPlain) {
        let w = &plain.word1;
        let pops = u32::from(w.pop_count);
        match w.op {
            op if op.pushes() => {
                if matches!(op, CfOp::PopPush | CfOp::PopPushElse) {
                    self.pop(pops);
                }
                if w.whole_quad_mode {
                    self.whole_quad_pushes += 1;
                } else {
                    self.pushes += 1;
                }
            }
            CfOp::Pop | CfOp::PopJump => self.pop(pops),
            CfOp::LoopStart | CfOp::LoopStartDx10 | CfOp::LoopStartNoAl => self.loops += 1,
            CfOp::LoopEnd => self.loops = self.loops.saturating_sub(1),
            _ => {}
        }
    }

    /// Nothing is there.
    const fn is_empty(self) -> bool {
        self.pushes + self.whole_quad_pushes + self.loops == 0
    }

    /// Subentries (R700 table 3.6), without those that any push needs once.
    fn subentries(self, chip: Chip) -> u32 {
        (self.loops + self.whole_quad_pushes) * chip.subentries_per_entry() + self.pushes
    }
}

/// Counts the stack along the instructions.
struct StackCount {
    chip: Chip,
    depth: Depth,
    /// Some push has been seen: the current and the valid mask need a subentry each (R700 table 3.6).
    any_push: bool,
    /// The deepest place of the main program, and of the subroutines by themselves.
    deepest: [u32; 2],
    /// The deepest place with a call, the return address counted.
    deepest_call: u32,
    /// Whether a subroutine is being counted.
    in_subroutine: bool,
}

impl StackCount {
    fn note(&mut self) {
        let deepest = &mut self.deepest[usize::from(self.in_subroutine)];
        *deepest = (*deepest).max(self.depth.subentries(self.chip));
    }

    fn call(&mut self) {
        let now = self.depth.subentries(self.chip) + self.chip.call_subentries();
        self.deepest_call = self.deepest_call.max(now);
    }

    fn alu(&mut self, alu: &CfAlu) {
        let info = alu.word1.op.info();
        self.depth.pushes += u32::from(info.pushes);
        self.any_push |= info.pushes > 0;
        self.note();
        self.depth.pop(u32::from(info.pops));
    }

    fn plain(&mut self, plain: &CfPlain) {
        self.depth.plain(plain);
        self.any_push |= plain.word1.op.pushes() && !plain.word1.whole_quad_mode;
        if matches!(plain.word1.op, CfOp::Call | CfOp::CallFs) {
            self.call();
        }
        self.note();
    }

    fn entries(&self) -> u8 {
        let [main, subroutine] = self.deepest;
        let called = if self.deepest_call > 0 { self.deepest_call + subroutine } else { 0 };
        let total = main.max(called) + if self.any_push { 2 } else { 0 };
        u8::try_from(total.div_ceil(self.chip.subentries_per_entry())).unwrap_or(u8::MAX)
    }
}

/// Stack entries that a program needs, counted along its instructions in order: entries pushed by a branch are popped
/// where its block ends, so the deepest place of the text is the deepest of any run (R700 §3.6.5). Subroutines are
/// counted from their first instruction on, and taken to be called at the deepest call; those that call others need more
/// than is counted.
fn stack_entries(decoded: &Decoded, chip: Chip) -> u8 {
    let mut count = StackCount {
        chip,
        depth: Depth::default(),
        any_push: false,
        deepest: [0; 2],
        deepest_call: 0,
        in_subroutine: false,
    };
    let plain = |cf: &Result<Cf, _>| match cf {
        Ok(Cf::Plain(plain)) => Some(*plain),
        Ok(Cf::Alu(_) | Cf::Export(_) | Cf::Mem(_)) | Err(_) => None,
    };
    let calls = decoded.entries.iter().filter_map(|e| plain(&e.cf)).filter(|p| p.word1.op == CfOp::Call);
    let subroutines: HashSet<u32> = calls.map(|p| p.word0.addr).collect();
    for entry in &decoded.entries {
        if subroutines.contains(&entry.addr) {
            count.depth = Depth::default();
            count.in_subroutine = true;
        }
        match &entry.cf {
            Ok(Cf::Alu(alu)) => count.alu(alu),
            Ok(Cf::Plain(plain)) => count.plain(plain),
            Ok(Cf::Export(_) | Cf::Mem(_)) | Err(_) => {}
        }
    }
    count.entries()
}
