//! A whole program as text.

use super::TextOptions;
use super::alu::{self, Style};
use super::{cf, fetch, group};
use crate::r700::inst::{AluClause, Cf, FetchClause, Group, clause_words, walk};
use crate::r700::ops::{Addr, CfOp, Clause};
use crate::r700::ports;
use crate::r700::program::{Program, SymbolKind, Usage, set_resources};
use std::fmt::Write as _;

struct Printer<'p> {
    out: String,
    words: &'p [u32],
    /// Which slots have been printed.
    owned: Vec<bool>,
    /// One past the last dword that the text so far mentions.
    extent: usize,
    /// The next group or fetch number.
    number: u32,
    /// Whether the program breaks a rule that the assembler enforces.
    unchecked: bool,
}

/// Whether the assembler demands that the address of the operation is a control-flow instruction.
pub(super) const fn must_be_control_flow(op: CfOp) -> bool {
    matches!(op.info().addr, Addr::Target) && !matches!(op, CfOp::Pop | CfOp::Kill)
}

pub(super) fn print(program: &Program, options: &TextOptions) -> String {
    let words = &program.words;
    let found = walk(words, program.entry);
    let mut p = Printer {
        out: String::with_capacity(words.len() * 32),
        words,
        owned: vec![false; words.len() / 2],
        extent: 0,
        number: 0,
        unchecked: false,
    };
    found.iter().for_each(|&(addr, ..)| p.owned[addr as usize] = true);
    let mut here = 0;
    for (addr, pair, decoded) in &found {
        if *addr != here {
            let _ = writeln!(p.out, ".org {addr}");
        }
        here = addr + 1;
        p.extent = p.extent.max(here as usize * 2);
        match decoded {
            Err(_) => {
                let _ = writeln!(p.out, "{addr:02} .word 0x{:08X}, 0x{:08X}", pair[0], pair[1]);
            }
            Ok(decoded) => {
                let _ = write!(p.out, "{addr:02} ");
                cf::print(&mut p.out, decoded, *pair);
                p.out.push('\n');
                p.clause(decoded);
                if decoded.ends_program() {
                    p.out.push_str("END_OF_PROGRAM\n");
                }
                if let Cf::Plain(plain) = decoded
                    && must_be_control_flow(plain.word1.op)
                {
                    let target = plain.word0.addr;
                    p.unchecked |= found.binary_search_by_key(&target, |f| f.0).is_err();
                }
            }
        }
    }
    p.data();
    let mut header = String::new();
    if options.header {
        print_header(&mut header, program, options);
    }
    if program.entry != 0 {
        let _ = writeln!(header, ".entry {}", program.entry);
    }
    if p.unchecked {
        header.push_str(".unchecked\n");
    }
    header + &p.out
}

fn print_header(out: &mut String, program: &Program, options: &TextOptions) {
    for setting in &program.settings {
        let _ = writeln!(out, "; ${} = {}", setting.name, setting.value);
    }
    if let Some(stage) = program.stage {
        let _ = writeln!(out, ".stage {}", stage.name());
    }
    let usage = Usage::of(&program.words, program.entry, options.chip);
    let [gprs, stack] = set_resources(&program.settings, program.stage);
    if program.gprs != gprs.unwrap_or(usage.gprs) {
        let _ = writeln!(out, ".gprs {}", program.gprs);
    }
    if program.stack != stack.unwrap_or(usage.stack) {
        let _ = writeln!(out, ".stack {}", program.stack);
    }
    for s in &program.symbols {
        let _ = match s.kind {
            SymbolKind::Gpr => writeln!(out, ".reg {} R{}", s.name, s.index),
            SymbolKind::Constant => writeln!(out, ".const {} C{}", s.name, s.index),
            SymbolKind::Kcache(set) => writeln!(out, ".const {} KC{set}[{}]", s.name, s.index),
            SymbolKind::Resource => writeln!(out, ".resource {} t{}", s.name, s.index),
            SymbolKind::Sampler => writeln!(out, ".sampler {} s{}", s.name, s.index),
            SymbolKind::Buffer => writeln!(out, ".buffer {} b{}", s.name, s.index),
        };
    }
}

impl Printer<'_> {
    /// Prints the clause of an instruction, if it lies within the program and no slot of it has been printed.
    fn clause(&mut self, decoded: &Cf) {
        let Some((first, slots)) = decoded.clause() else { return };
        let Some(body) = clause_words(self.words, first, slots) else { return };
        let range = first as usize..(first + slots) as usize;
        if self.owned[range.clone()].iter().any(|&o| o) {
            return;
        }
        self.owned[range.clone()].fill(true);
        self.extent = self.extent.max(range.end * 2);
        match decoded {
            Cf::Alu(_) => self.alu_clause(&AluClause::decode(body)),
            Cf::Plain(plain) if plain.word1.op.info().clause == Clause::Fetch => {
                self.unchecked |= first % 2 != 0;
                self.fetch_clause(&FetchClause::decode(body, plain.word1.op == CfOp::Tex));
            }
            Cf::Plain(_) | Cf::Export(_) | Cf::Mem(_) => {}
        }
    }

    fn alu_clause(&mut self, clause: &AluClause) {
        for group in &clause.groups {
            self.group(group);
        }
        self.word_lines(&clause.rest);
    }

    fn group(&mut self, group: &Group) {
        let ports = ports::check(&group.slots).is_ok();
        self.unchecked |= !ports || group::incomplete(&group.slots).is_some();
        let style = Style { all_swizzles: !ports, number: self.number };
        for (i, slot) in group.slots.iter().enumerate() {
            let _ = if i == 0 { write!(self.out, "  {:5}  ", self.number) } else { write!(self.out, "         ") };
            self.out.push_str(slot.unit.name());
            self.out.push_str(": ");
            alu::print(&mut self.out, group, i, &style);
            self.out.push('\n');
        }
        self.literals(group);
        self.number = self.number.wrapping_add(1);
    }

    /// Prints the literal dwords that no operand names, where they are not 0.
    fn literals(&mut self, group: &Group) {
        let mut named = [false; 4];
        for operand in group.slots.iter().flat_map(|s| s.inst.operands()) {
            named[operand.chan as usize] |= group::is_literal(&operand);
        }
        let dwords = usize::from(group.literal_dwords);
        if (0..dwords).all(|i| named[i] || group.literals[i] == 0) {
            return;
        }
        self.out.push_str("         .literal");
        for i in (0..dwords).filter(|&i| !named[i] && group.literals[i] != 0) {
            let _ = write!(self.out, " {}=0x{:08X}", ["x", "y", "z", "w"][i], group.literals[i]);
        }
        self.out.push('\n');
    }

    fn fetch_clause(&mut self, clause: &FetchClause) {
        for entry in &clause.fetches {
            match &entry.inst {
                Ok(inst) => {
                    let _ = write!(self.out, "  {:5}  ", self.number);
                    fetch::print(&mut self.out, inst, entry.words);
                    self.out.push('\n');
                }
                Err(_) => self.word_lines(&entry.words),
            }
            self.number = self.number.wrapping_add(1);
        }
    }

    fn word_lines(&mut self, words: &[u32]) {
        for line in words.chunks(4) {
            self.out.push_str("         .word ");
            for (i, word) in line.iter().enumerate() {
                let _ = write!(self.out, "{}0x{word:08X}", if i == 0 { "" } else { ", " });
            }
            self.out.push('\n');
        }
    }

    /// Prints the words that belong to no instruction, and the size where it does not follow.
    fn data(&mut self) {
        let words = self.words;
        let free = |p: &Self, dword: usize| p.owned.get(dword / 2).is_none_or(|&o| !o);
        let mut at = 0;
        while at < words.len() {
            if !free(self, at) || words[at] == 0 {
                at += 1;
                continue;
            }
            // A run of words from a slot on, up to an instruction or eight zeros.
            let start = at & !1;
            let mut end = at + 1;
            let mut zeros = 0;
            while end + zeros < words.len() && free(self, end + zeros) && zeros < 8 {
                if words[end + zeros] == 0 {
                    zeros += 1;
                } else {
                    end += zeros + 1;
                    zeros = 0;
                }
            }
            let _ = writeln!(self.out, ".org {}", start / 2);
            self.word_lines(&words[start..end]);
            self.extent = self.extent.max(end);
            at = end;
        }
        if self.extent != words.len() {
            let _ = writeln!(self.out, ".size {}", words.len());
        }
    }
}
