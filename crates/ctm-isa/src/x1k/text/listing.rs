//! Whole programs to text.

use super::EMPTY_OUTPUT;
use super::alu_listing::{Printer, kind_is_implied, lift, source_lists};
use super::attrs::{Attrs, differing_fields};
use super::constants::Pool;
use super::directive::{self, Listed};
use super::flow::{self, Blocks, Statement};
use super::hazards::{Bits, derive};
use super::sources::encode;
use super::tex::Tex;
use crate::diag::Span;
use crate::table::WordFormat;
use crate::x1k::formats::{CmnInst, RgbInst, TexInst};
use crate::x1k::inst::{AluInst, FcInstruction, Inst, Words};
use crate::x1k::ops::InstType;
use crate::x1k::program::{Program, SymbolKind};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// How a listing looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListingOptions {
    /// Say the address of each instruction in a comment.
    pub addresses: bool,
    /// Give the assembler's choice in a comment, where the words differ from it.
    pub explain: bool,
    /// Repeat the six words of each instruction in a comment.
    pub words: bool,
}

impl Default for ListingOptions {
    fn default() -> Self {
        Self { addresses: true, explain: false, words: false }
    }
}

/// The bits that `hazards` works out, as they are in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HazardBits {
    pub wait: bool,
    pub acquire: bool,
    pub alu_wait: bool,
    pub nop: bool,
}

/// The mask of a field, at compile time.
const fn mask_of(format: &WordFormat, name: &str) -> u32 {
    let mut i = 0;
    while i < format.fields.len() {
        let (a, b) = (format.fields[i].name.as_bytes(), name.as_bytes());
        let mut same = a.len() == b.len();
        let mut j = 0;
        while same && j < a.len() {
            same = a[j] == b[j];
            j += 1;
        }
        if same {
            return format.fields[i].mask();
        }
        i += 1;
    }
    panic!("no such field");
}

const TYPE: u32 = mask_of(&CmnInst::FORMAT, "TYPE");
const WAIT: u32 = mask_of(&CmnInst::FORMAT, "TEX_SEM_WAIT");
const ALU_WAIT: u32 = mask_of(&CmnInst::FORMAT, "ALU_WAIT");
const NOP: u32 = mask_of(&CmnInst::FORMAT, "NOP");
const OMASK: u32 = mask_of(&CmnInst::FORMAT, "RGB_OMASK") | mask_of(&CmnInst::FORMAT, "ALPHA_OMASK");
const ACQUIRE: u32 = mask_of(&TexInst::FORMAT, "TEX_SEM_ACQUIRE");
const TARGET: u32 = mask_of(&RgbInst::FORMAT, "RGB_TARGET");
/// The kinds of uncached writes that acquire are the odd ones (CTM §3.3.8).
const TARGET_ACQUIRE: u32 = TARGET & TARGET.wrapping_neg();

/// Which bit of which word makes an instruction acquire the semaphore, if it can.
fn acquire_bit(words: &Words, uncached: bool) -> Option<(usize, u32)> {
    match InstType::from_code(words[0] & TYPE) {
        Some(InstType::Tex) => Some((TexInst::FORMAT.dword, ACQUIRE)),
        Some(InstType::Output) if uncached && words[0] & OMASK != 0 => Some((RgbInst::FORMAT.dword, TARGET_ACQUIRE)),
        _ => None,
    }
}

pub(super) fn hazard_bits(words: &Words, uncached: bool) -> HazardBits {
    HazardBits {
        wait: words[0] & WAIT != 0,
        acquire: acquire_bit(words, uncached).is_some_and(|(dword, bit)| words[dword] & bit != 0),
        alu_wait: words[0] & ALU_WAIT != 0,
        nop: words[0] & NOP != 0,
    }
}

pub(super) fn set_hazard_bits(words: &mut Words, bits: HazardBits, uncached: bool) {
    let mut set = |dword: usize, bit: u32, on: bool| {
        words[dword] = words[dword] & !bit | if on { bit } else { 0 };
    };
    set(0, WAIT, bits.wait);
    set(0, ALU_WAIT, bits.alu_wait);
    set(0, NOP, bits.nop);
    if let Some((dword, bit)) = acquire_bit(words, uncached) {
        words[dword] = words[dword] & !bit | if bits.acquire { bit } else { 0 };
    }
}

/// More raw fields than this on one line say less than the words.
const MOST_RAW_FIELDS: usize = 8;

/// Prints a program so that [`assemble`](super::assemble) gives it back.
///
/// An instruction that the language cannot say is printed as `.word` with a comment that says why. Programs of more than
/// 512 slots are printed too, but do not assemble.
///
/// ```
/// use ctm_isa::x1k::{Program, text};
/// let words = vec![[0x0007_8005, 0x0802_0000, 0x0802_0000, 0x1c44_0220, 0x1c60_c003, 0x0000_0005]];
/// let listing = text::disassemble(&Program::from_words(words.clone()), &text::ListingOptions::default());
/// assert!(listing.contains("mov   o0, r0"));
/// assert_eq!(text::assemble(&listing).program.map(|p| p.words), Some(words));
/// ```
#[must_use]
pub fn disassemble(program: &Program, options: &ListingOptions) -> String {
    Listing::new(program, *options).print()
}

/// The text of one instruction.
struct Printed {
    text: String,
    attrs: Attrs,
    /// A remark for the comment.
    remark: String,
}

struct Listing<'p> {
    program: &'p Program,
    options: ListingOptions,
    insts: Vec<Option<Inst>>,
    derived: Vec<Bits>,
    structure: Structure,
    header: String,
    names: Listed,
    labels: BTreeSet<usize>,
}

impl<'p> Listing<'p> {
    fn new(program: &'p Program, options: ListingOptions) -> Self {
        let insts: Vec<Option<Inst>> = program.words.iter().map(|w| Inst::decode(w).ok()).collect();
        let derived = derive(&insts, usize::from(program.last), program.uncached);
        let structure = Structure::find(&insts, &program.words);
        let usage = program.usage();
        let (header, names) = directive::print(program, usage.needs_full_flow_control, usage.conditional_value);
        Self { program, options, insts, derived, structure, header, names, labels: BTreeSet::new() }
    }

    fn name(&self, kind: SymbolKind, index: u8) -> Option<String> {
        self.names.get(&(kind, index)).cloned()
    }

    fn print(mut self) -> String {
        let count = self.program.words.len();
        let printed: Vec<Printed> = (0..count).map(|pc| self.instruction(pc)).collect();
        let mut out = std::mem::take(&mut self.header);
        if !out.is_empty() && count > 0 {
            out.push('\n');
        }
        let (first, last) = (usize::from(self.program.first), usize::from(self.program.last));
        let says_last = self.says_last(&printed);
        let mut depth = 0usize;
        for pc in 0..=count {
            for _ in 0..self.structure.ends.get(pc).copied().unwrap_or(0) {
                depth = depth.saturating_sub(1);
                let _ = writeln!(out, "        {:depth$}endif", "", depth = depth * 2);
            }
            if self.labels.contains(&pc) {
                let _ = writeln!(out, "L{pc}:");
            }
            if pc == first && pc != 0 && pc < count {
                out.push_str(".entry\n");
            }
            let Some(line) = printed.get(pc) else { break };
            let statement = self.structure.statements[pc];
            if matches!(statement, Some(Statement::Else | Statement::Endif | Statement::EndLoop { .. })) {
                depth = depth.saturating_sub(1);
            }
            let text = format!("        {:indent$}{}{}", "", line.text, line.attrs.print(), indent = depth * 2);
            out.push_str(&text);
            self.comment(&mut out, pc, line, text.chars().count());
            out.push('\n');
            if matches!(statement, Some(Statement::If(_) | Statement::Else | Statement::Loop { .. })) {
                depth += 1;
            }
            if says_last && pc == last {
                out.push_str(".last\n");
            }
        }
        if says_last && last >= count {
            let _ = writeln!(out, ".last {last}");
        }
        if first >= count && first != 0 {
            let _ = writeln!(out, ".entry {first}");
        }
        out
    }

    /// Whether `.last` is needed to keep the assembler from ending the program elsewhere.
    fn says_last(&self, printed: &[Printed]) -> bool {
        let (count, last) = (self.program.words.len(), usize::from(self.program.last));
        if printed.get(last).is_some_and(|p| p.text == "end") {
            return false;
        }
        let behind =
            |inst: &Option<Inst>| matches!(inst, Some(Inst::Fc(fc)) if usize::from(fc.addr.jump_addr) == count);
        last + 1 != count
            || self.program.words[last][0] & TYPE != InstType::Output.code()
            || self.insts.iter().any(behind)
    }

    fn comment(&self, out: &mut String, pc: usize, line: &Printed, width: usize) {
        let mut comment = String::new();
        if self.options.addresses {
            let _ = write!(comment, "{pc}");
        }
        if self.options.words {
            let words = self.program.words[pc].map(|w| format!("{w:08x}")).join(" ");
            let _ = write!(comment, "{}{words}", if comment.is_empty() { "" } else { ": " });
        }
        if !line.remark.is_empty() {
            let _ = write!(comment, "{}{}", if comment.is_empty() { "" } else { "  " }, line.remark);
        }
        if self.options.explain {
            let explained = self.explain(pc, line);
            if !explained.is_empty() {
                let _ = write!(comment, "{}{explained}", if comment.is_empty() { "" } else { "  " });
            }
        }
        if !comment.is_empty() {
            let _ = write!(out, "{:pad$} ; {comment}", "", pad = 71usize.saturating_sub(width));
        }
    }

    /// Differences of the words from the assembler's choices.
    fn explain(&self, pc: usize, line: &Printed) -> String {
        let bits = hazard_bits(&self.program.words[pc], self.program.uncached);
        let derived = &self.derived[pc];
        let mut texts = Vec::new();
        for (name, is, would) in [
            ("wait", bits.wait, derived.wait),
            ("acquire", bits.acquire, derived.acquire),
            ("aluwait", bits.alu_wait, derived.alu_wait),
            ("nop", bits.nop, derived.nop),
        ] {
            match (is, would) {
                (false, Some(reason)) => texts.push(format!("the assembler would set {name}: {reason}")),
                (true, None) => texts.push(format!("the assembler would not set {name}")),
                (true, Some(_)) | (false, None) => {}
            }
        }
        if line.attrs.rgb_sources.is_some() || line.attrs.alpha_sources.is_some() {
            texts.push("the assembler would choose other source addresses".to_owned());
        }
        texts.join("; ")
    }

    fn instruction(&mut self, pc: usize) -> Printed {
        let words = self.program.words[pc];
        let printed = match &self.insts[pc] {
            None => {
                let why = Inst::decode(&words)
                    .err()
                    .map_or_else(String::new, |e| format!("{} is {}, which has no meaning", e.field, e.found));
                Err(why)
            }
            Some(Inst::Alu(alu)) => {
                self.alu(pc, *alu).ok_or_else(|| "it differs from every line in too many fields".to_owned())
            }
            Some(Inst::Tex(tex)) => {
                let (tex, mut attrs) = Tex::lift(tex);
                let made = Inst::Tex(tex.lower(&attrs)).encode();
                let input = |index: u8| self.name(SymbolKind::Input, index);
                let text = tex.print(&input);
                self.rest(pc, InstType::Tex, &made, &mut attrs).map(|()| Printed { text, attrs, remark: String::new() })
            }
            Some(Inst::Fc(fc)) => self.fc(pc, *fc),
        };
        match printed {
            Ok(mut printed) => {
                let (bits, derived) = (hazard_bits(&words, self.program.uncached), &self.derived[pc]);
                let say = |is: bool, would: bool| (is != would).then_some(is);
                printed.attrs.wait = say(bits.wait, derived.wait.is_some());
                printed.attrs.acquire = say(bits.acquire, derived.acquire.is_some());
                printed.attrs.alu_wait = say(bits.alu_wait, derived.alu_wait.is_some());
                printed.attrs.nop = say(bits.nop, derived.nop.is_some());
                printed
            }
            Err(why) => {
                let list = words.map(|w| format!("{w:#010x}")).join(", ");
                Printed { text: format!(".word {list}"), attrs: Attrs::default(), remark: why }
            }
        }
    }

    /// Says in raw fields where the words differ from those that the line makes.
    fn rest(&self, pc: usize, kind: InstType, made: &Words, attrs: &mut Attrs) -> Result<(), String> {
        let (mut words, mut made) = (self.program.words[pc], *made);
        set_hazard_bits(&mut words, HazardBits::default(), self.program.uncached);
        set_hazard_bits(&mut made, HazardBits::default(), self.program.uncached);
        match differing_fields(kind, &words, &made) {
            None => Err("bits are set that belong to no field".to_owned()),
            Some(raw) if raw.len() > MOST_RAW_FIELDS => Err("it differs from every line in too many fields".to_owned()),
            Some(raw) => {
                attrs.raw = raw;
                Ok(())
            }
        }
    }

    fn alu(&self, pc: usize, alu: AluInst) -> Option<Printed> {
        let kind = alu.cmn.kind;
        let uncached = self.program.uncached;
        let mut words = self.program.words[pc];
        set_hazard_bits(&mut words, HazardBits::default(), uncached);
        let mut bare = Attrs { last: alu.cmn.last, inactive: alu.cmn.write_inactive, ..Attrs::default() };
        if pc == usize::from(self.program.last) && words == EMPTY_OUTPUT {
            bare.last = false;
            return Some(Printed { text: "end".to_owned(), attrs: bare, remark: String::new() });
        }
        let pool = Pool::default();
        let (rgb, alpha) = source_lists(&alu);
        let mut best: Option<(usize, super::pair::Pair, Attrs)> = None;
        // From free choices of the assembler to fully explicit fields.
        for (numbers, fix_rgb, fix_alpha) in [
            (true, false, false),
            (false, false, false),
            (false, true, false),
            (false, false, true),
            (false, true, true),
        ] {
            let pair = lift(&alu, uncached, numbers);
            let mut attrs = bare.clone();
            attrs.kind = (!kind_is_implied(&pair)).then_some(kind);
            attrs.rgb_sources = fix_rgb.then_some(rgb);
            attrs.alpha_sources = fix_alpha.then_some(alpha);
            let Ok(mut inst) = encode(&pair, attrs.rgb_sources, attrs.alpha_sources, &pool) else { continue };
            (inst.cmn.last, inst.cmn.write_inactive) = (attrs.last, attrs.inactive);
            let mut made = Inst::Alu(inst).encode();
            set_hazard_bits(&mut made, HazardBits::default(), uncached);
            if made == words {
                best = Some((0, pair, attrs));
                break;
            }
            let Some(raw) = differing_fields(kind, &words, &made) else { continue };
            if raw.len() <= MOST_RAW_FIELDS && best.as_ref().is_none_or(|b| raw.len() < b.0) {
                let count = raw.len();
                attrs.raw = raw;
                best = Some((count, pair, attrs));
            }
        }
        let (_, pair, attrs) = best?;
        let constant = |index: u8| self.name(SymbolKind::Float, index);
        let output = |index: u8| self.name(SymbolKind::Output, index);
        let printer = Printer { constant: &constant, output: &output, uncached };
        Some(Printed { text: printer.pair(&pair), attrs, remark: String::new() })
    }

    /// A jump target: a label where the program has that slot (or ends there), else the number.
    fn target(&mut self, address: u16) -> String {
        let at = usize::from(address);
        if at <= self.program.words.len() {
            self.labels.insert(at);
            format!("L{at}")
        } else {
            address.to_string()
        }
    }

    fn fc(&mut self, pc: usize, fc: FcInstruction) -> Result<Printed, String> {
        let mut attrs = Attrs {
            covered: fc.inst.ignore_uncovered,
            last: fc.cmn.last,
            inactive: fc.cmn.write_inactive,
            ..Attrs::default()
        };
        let finish = |mut made: FcInstruction| {
            made.inst.ignore_uncovered = fc.inst.ignore_uncovered;
            (made.cmn.last, made.cmn.write_inactive) = (fc.cmn.last, fc.cmn.write_inactive);
            made.addr.jump_addr = fc.addr.jump_addr;
            Inst::Fc(made).encode()
        };
        let bool_name = |names: &Listed, index: u8| names.get(&(SymbolKind::Bool, index)).cloned();
        let int_name = |names: &Listed, index: u8| names.get(&(SymbolKind::Int, index)).cloned();
        if let Some(statement) = self.structure.statements[pc] {
            let made = finish(self.structure.rows[pc].unwrap_or(fc));
            self.rest(pc, InstType::Fc, &made, &mut attrs)?;
            let usual = self.structure.targets[pc].unwrap_or(0);
            let is_call = matches!(statement, Statement::Call(_));
            let target = (is_call || usual != usize::from(fc.addr.jump_addr)).then(|| self.target(fc.addr.jump_addr));
            let names = &self.names;
            let text =
                flow::print_statement(statement, target.as_deref(), &|i| bool_name(names, i), &|i| int_name(names, i));
            return Ok(Printed { text, attrs, remark: String::new() });
        }
        let made = finish(flow::lift_raw(&fc));
        self.rest(pc, InstType::Fc, &made, &mut attrs)?;
        let target = if fc.addr.jump_addr == 0 { String::new() } else { self.target(fc.addr.jump_addr) };
        Ok(Printed { text: flow::print_raw(&fc, &target), attrs, remark: String::new() })
    }
}

/// Which flow-control instructions form the structures of CTM §3.5.4.
struct Structure {
    statements: Vec<Option<Statement>>,
    rows: Vec<Option<FcInstruction>>,
    targets: Vec<Option<usize>>,
    /// How many static branches end before each slot.
    ends: Vec<usize>,
}

impl Structure {
    /// Tries to read every instruction as the statement whose row it looks like; other instructions stay raw, and the
    /// rest is tried again.
    fn find(insts: &[Option<Inst>], words: &[Words]) -> Self {
        let mut candidates: Vec<Option<(Statement, FcInstruction)>> = insts
            .iter()
            .zip(words)
            .map(|(inst, words)| match inst {
                Some(Inst::Fc(fc)) if flow::is_clean(fc) && Inst::Fc(*fc).encode() == *words => {
                    flow::lift(fc).map(|s| (s, *fc))
                }
                _ => None,
            })
            .collect();
        loop {
            match Self::attempt(&candidates) {
                Ok(found) => return found,
                Err(pc) => candidates[pc] = None,
            }
        }
    }

    fn attempt(candidates: &[Option<(Statement, FcInstruction)>]) -> Result<Self, usize> {
        let count = candidates.len();
        let mut blocks = Blocks::default();
        let mut found = Self {
            statements: vec![None; count],
            rows: vec![None; count],
            targets: vec![None; count],
            ends: vec![0; count + 1],
        };
        let goes_to = |pc: usize| candidates[pc].map_or(0, |(_, fc)| usize::from(fc.addr.jump_addr));
        for pc in 0..=count {
            while let Some((if_pc, else_pc)) = blocks.innermost_static()
                && goes_to(else_pc.unwrap_or(if_pc)) == pc
            {
                blocks.statement(pc, Statement::Endif, Span::default()).map_err(|_| if_pc)?;
                found.ends[pc] += 1;
            }
            let Some(&Some((statement, fc))) = candidates.get(pc) else { continue };
            let target = usize::from(fc.addr.jump_addr);
            let innermost = blocks.innermost_static();
            match statement {
                Statement::Else if !fc.inst.b_else => {
                    let fits = innermost.is_some_and(|(if_pc, else_pc)| else_pc.is_none() && goes_to(if_pc) == pc + 1);
                    if !fits || target <= pc || target > count {
                        return Err(pc);
                    }
                }
                // The statement would close or divide a static branch.
                Statement::Else | Statement::Endif if innermost.is_some() => return Err(pc),
                Statement::If(_) if fc.inst.b_op0 == crate::x1k::ops::BOp::None && (target <= pc || target > count) => {
                    return Err(pc);
                }
                _ => {}
            }
            match blocks.statement(pc, statement, Span::default()) {
                Ok(Some(row)) => {
                    found.statements[pc] = Some(statement);
                    found.rows[pc] = Some(row);
                }
                Ok(None) | Err(_) => return Err(pc),
            }
        }
        if let Some(open) = blocks.innermost() {
            return Err(open);
        }
        for &pc in &blocks.with_else {
            if let Some(row) = &mut found.rows[pc] {
                Blocks::patch_else(row);
            }
        }
        for &(from, to) in &blocks.targets {
            found.targets[from] = Some(to);
        }
        Ok(found)
    }
}
