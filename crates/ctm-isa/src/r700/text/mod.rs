//! AMD's listing syntax, both ways (`docs/r700-assembly.md`).
//!
//! [`disassemble`] prints any sequence of words, [`assemble`] reads its output and hand-written text: addresses, counts,
//! group numbers, literal places and bank swizzles may be left out.
//!
//! | file | content |
//! |---|---|
//! | `cursor` | tokens of a line and their places |
//! | `names` | names that the source defines |
//! | `dialects` | hints for operations of other assemblers |
//! | `extra` | fields that the syntax has no word for |
//! | `cf`, `alu`, `fetch` | one instruction: printer and parser side by side |
//! | `mnemonics` | those of ALU operations |
//! | `operand` | one operand of an ALU instruction, likewise |
//! | `group` | an instruction group: units, literals, bank swizzles |
//! | `listing` | a whole program as text |
//! | `reading` | findings of a source, and a group that has been read |
//! | `source` | text as statements |
//! | `layout` | statements as words: clauses, addresses, limits |
//! | `split` | clauses and groups that must become two |
//!
//! **Invariant.** `assemble(disassemble(words))` gives the same words, for every sequence of words.

mod alu;
mod cf;
mod cursor;
mod dialects;
mod extra;
mod fetch;
mod group;
mod layout;
mod listing;
mod mnemonics;
mod names;
mod operand;
mod reading;
mod source;
mod split;

use super::ops::{ExportOp, SclSwizzle, VecSwizzle};
use super::program::{Chip, Program, Usage, set_resources};
use crate::diag::{Diagnostic, Severity};
use crate::vocabulary::{Vocabulary, WordKind, sorted};

/// How text is read and written.
#[derive(Clone, Copy, Debug)]
pub struct TextOptions {
    /// The chip: stack entries are counted for it.
    pub chip: Chip,
    /// Where no bank swizzles give every operand of a group a read port, make two groups of it if the result is the same.
    pub split_groups: bool,
    /// Print `.stage`, `.gprs`, `.stack`, names and settings (disassembly).
    pub header: bool,
}

impl Default for TextOptions {
    fn default() -> Self {
        Self { chip: Chip::Rv770, split_groups: false, header: true }
    }
}

/// Words after an instruction, of any kind of instruction. Fields are read by their manual names as well (`extra`).
const MODIFIERS: &[&str] = &[
    "ADDR",
    "ALT_CONST",
    "ARRAY_SIZE",
    "BC_FRAC_MODE",
    "BROADCAST",
    "BURSTCNT",
    "CALL_COUNT",
    "CF_CONST",
    "CLAMP",
    "CND",
    "CNT",
    "CONST_BUF_NO_STRIDE",
    "DENORM",
    "ELEM_SIZE",
    "ENDIAN_SWAP",
    "FAIL_JUMP_ADDR",
    "FETCH_TYPE",
    "FORMAT",
    "KCACHE0",
    "KCACHE1",
    "LOD",
    "MEGA",
    "MINI",
    "MUX",
    "NO_BARRIER",
    "NORM",
    "OFFSET",
    "PAD",
    "PASS_JUMP_ADDR",
    "POP_CNT",
    "PRED_SEL_ONE",
    "PRED_SEL_ZERO",
    "READ",
    "STRIDE",
    "UNCACHED",
    "UNNORM",
    "UPDATE_EXEC_MASK",
    "UPDATE_PRED",
    "VALID_PIX",
    "WATERFALL",
    "WAVE_REL",
    "WHOLE_QUAD",
    "WRITE",
    "WRITE_ACK",
    "XOFFSET",
    "YOFFSET",
    "ZOFFSET",
];

/// Names of operands without a number.
const SPECIAL: &[&str] = &["PV", "PS", "AR", "AL", "GLOBAL", "LDS", "SEM", "PIXZ"];

/// Every word of the language that is no register and no name.
#[must_use]
pub fn vocabulary() -> Vocabulary {
    let bank = VecSwizzle::ALL.iter().map(|s| s.name()).chain(SclSwizzle::ALL.iter().map(|s| s.name()));
    let mut words: Vocabulary = mnemonics::all_mnemonics().map(|name| (WordKind::Arithmetic, name)).collect();
    words.extend(fetch::all_mnemonics().map(|name| (WordKind::Memory, name)));
    words.extend(cf::all_mnemonics().map(|name| (WordKind::Flow, name)));
    words.push((WordKind::Flow, "END_OF_PROGRAM"));
    words.extend(ExportOp::ALL.iter().map(|op| (WordKind::Export, op.listing())));
    let exported = |word: &str| ExportOp::ALL.iter().any(|op| op.listing() == word);
    words.retain(|(kind, word)| *kind != WordKind::Flow || !exported(word));
    words.extend(MODIFIERS.iter().copied().chain(bank).map(|name| (WordKind::Modifier, name)));
    words.extend(source::directives::DIRECTIVES.iter().map(|&name| (WordKind::Directive, name)));
    words.extend(SPECIAL.iter().map(|&name| (WordKind::Special, name)));
    sorted(words)
}

/// The meaning of a word of the listing, in words and as names of the tables, where the two differ: `EXP_DONE` is EXPORT_DONE. In any case of letters.
#[must_use]
pub fn meaning(word: &str) -> Option<(&'static str, Vec<&'static str>)> {
    let same = |name: &str| name.eq_ignore_ascii_case(word);
    let export = ExportOp::ALL.iter().find(|op| same(op.listing()));
    let export = export.map(|op| ("an export or memory write, as AMD's tools print it", vec![op.name()]));
    let alu = || mnemonics::all_mnemonics().find(|name| same(name)).and_then(mnemonics::mnemonic);
    let alu = || alu().map(|op| ("an operation of the ALU under another name", vec![op.name()]));
    export.or_else(alu).or_else(|| fetch::meaning(word))
}

/// The result of assembling a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assembly {
    /// The program, unless there were errors.
    pub program: Option<Program>,
    /// All findings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Assembly {
    /// Whether a finding is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }
}

/// Reads a listing.
///
/// ```
/// use ctm_isa::r700::text::{TextOptions, assemble};
/// let assembly = assemble("ALU:\n x: ADD R0.x, R0.x, 1.0f\nEXP_DONE: PIX0, R0.xxxx\nEND_OF_PROGRAM\n", &TextOptions::default());
/// assert_eq!(assembly.diagnostics, []);
/// let words = assembly.program.unwrap().words;
/// assert_eq!(words, [2, 0xa000_0000, 0, 0x9420_0000, 0x801f_2000, 0x0000_0010]);
/// ```
#[must_use]
pub fn assemble(source: &str, options: &TextOptions) -> Assembly {
    if u32::try_from(source.len()).is_err() {
        let d = Diagnostic::error("size", "the source is larger than 4 GiB");
        return Assembly { program: None, diagnostics: vec![d] };
    }
    let mut statements = source::read(source, options);
    let built = layout::build(&mut statements);
    let mut diagnostics = std::mem::take(&mut statements.diagnostics);
    diagnostics.sort_by_key(|d| d.labels.first().map_or(u32::MAX, |l| l.span.start));
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return Assembly { program: None, diagnostics };
    }
    diagnostics.extend(no_end(&statements));
    let entry = statements.entry.map_or(0, |(slot, _)| slot);
    let usage = Usage::of(&built.words, entry, options.chip);
    // A directive says it for the text, a setting for the register that a container will hold.
    let [gprs, stack] = set_resources(&statements.settings, statements.stage);
    let program = Program {
        entry,
        stage: statements.stage,
        gprs: statements.gprs.or(gprs).unwrap_or(usage.gprs),
        stack: statements.stack.or(stack).unwrap_or(usage.stack),
        symbols: statements.names.symbols,
        settings: statements.settings,
        spans: built.spans,
        words: built.words,
    };
    Assembly { program: Some(program), diagnostics }
}

/// Warns of a text that nothing ends: no END_OF_PROGRAM, no RETURN, no words that may be either.
fn no_end(statements: &source::Statements) -> Option<Diagnostic> {
    let ends = |statement: &source::Statement| match &statement.what {
        source::StatementOutput::Cf(parsed, _) => {
            parsed.cf.ends_program()
                || matches!(&parsed.cf, crate::r700::inst::Cf::Plain(plain) if plain.word1.op == crate::r700::ops::CfOp::Return)
        }
        source::StatementOutput::Word(_) | source::StatementOutput::Data(_) => true,
        source::StatementOutput::Org(_) => false,
    };
    let last = statements.list.last().filter(|_| !statements.unchecked && !statements.list.iter().any(ends))?;
    let finding = Diagnostic::warning("no-end", "no END_OF_PROGRAM: the program runs on behind its last instruction");
    Some(finding.at(last.span, "").cite("R700 §3.2").help("write `END_OF_PROGRAM` behind the last instruction"))
}

/// Prints a program. Every sequence of words has a text: undecodable words are `.word` lines.
#[must_use]
pub fn disassemble(program: &Program, options: &TextOptions) -> String {
    listing::print(program, options)
}
