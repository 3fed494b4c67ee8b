//! The compiler from Direct3D `ps_3_0` assembly to programs of the X1K (`docs/ps3.md`).
//!
//! `ps_3_0` is the compiler input of every known client of the device. [`compile`] reads a shader, reports all errors, and returns
//! a program together with the X1K text that it was assembled from. It does no I/O, runs nothing, and knows no container.
//!
//! | file | content |
//! |---|---|
//! | `table` | the instructions of the language (table) |
//! | `bytecode`, `nine` | byte code to text; dumps of Mesa's Direct3D 9 to text |
//! | `lexer`, `cursor`, `syntax`, `operands`, `declare`, `parse` | text to statements |
//! | `structure`, `lower` | structural rules; statements to operations on virtual registers |
//! | `ir`, `graph` | those operations; control flow, liveness |
//! | `clean`, `propagate`, `fold` | smaller code: constants, copies, presubtracts, output modifiers |
//! | `webs`, `balance` | a register for every value; the unit for every scalar |
//! | `address`, `schedule`, `allocate` | pairing constraints; scheduling; register allocation |
//! | `emit` | X1K text, which the assembler of `ctm-isa` turns into words, waits included |
//!
//! **Invariants.** No text makes it panic. Its output passes the checker of `ctm-isa` without errors and warnings.

mod address;
mod allocate;
mod balance;
pub mod bytecode;
mod clean;
mod cursor;
mod declare;
mod emit;
mod fold;
mod graph;
mod ir;
mod lexer;
mod lower;
pub mod nine;
mod operands;
mod parse;
mod propagate;
mod schedule;
mod structure;
mod syntax;
pub mod table;
mod webs;

use bytecode::{Listing, Name};
use ctm_isa::diag::{Diagnostic, Severity, Span};
use ctm_isa::x1k::{Program, check, text};
use emit::Whole;
use ir::{VirtualProgram, VirtualStatement};
use schedule::Order;
use std::collections::{BTreeMap, BTreeSet};

/// How a shader is to be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Coordinates of lookups go from 0 to 1, as in Direct3D. Otherwise they count elements, as the device's clients expect.
    pub normalized_coordinates: bool,
    /// Zero times infinity or NaN is NaN, as IEEE has it. Otherwise it is zero, as Direct3D 9 has it.
    pub ieee_products: bool,
}

#[allow(clippy::derivable_impls, reason = "the defaults are decisions, not zeros")]
impl Default for Options {
    fn default() -> Self {
        Self { normalized_coordinates: false, ieee_products: false }
    }
}

/// The result for a shader.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// The program; `None` if an error was found. Its spans are places in the shader.
    pub program: Option<Program>,
    /// The same as X1K assembly; empty if there is no program.
    pub text: String,
    /// Everything found, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Instructions of a shader that are read; a slot of the machine holds at most two.
const LONGEST: usize = 2048;

/// Compiles a shader.
///
/// ```
/// let shader = "ps_3_0\ndcl vPos.xy\ndcl_2d s0\ntexld r0, vPos, s0\nmov oC0, r0\n";
/// let compiled = ctm_ps3::compile(shader, &ctm_ps3::Options::default());
/// assert!(compiled.program.is_some());
/// assert!(compiled.text.contains("tex r0.rgba"));
/// ```
#[must_use]
pub fn compile(source: &str, options: &Options) -> Compilation {
    compile_named(source, options, &[])
}

/// Compiles byte code: its text, the result, with the names of its constant table as the names of inputs and constants.
///
/// # Errors
/// When the bytes are no byte code.
pub fn compile_bytecode(bytes: &[u8], options: &Options) -> Result<(Listing, Compilation), Box<Diagnostic>> {
    let listing = bytecode::disassemble(bytes)?;
    let compilation = compile_named(&listing.text, options, &listing.names);
    Ok((listing, compilation))
}

fn compile_named(source: &str, options: &Options, names: &[Name]) -> Compilation {
    let mut findings = Vec::new();
    let lines = lexer::lines(source, &mut findings);
    let shader = parse::parse(&lines, &mut findings);
    if let Some(beyond) = shader.code.get(LONGEST) {
        let message = format!("the shader has {} instructions, at most {LONGEST} are read", shader.code.len());
        let help = "the machine has 512 slots (CTM §3.1)";
        findings.push(Diagnostic::error("too-long", message).at(beyond.span, "").help(help));
        return Compilation { program: None, text: String::new(), diagnostics: findings };
    }
    let mut code = lower::lower(&shader, options, registers(names), &mut findings);
    if !failed(&findings) {
        clean::uncalled(&mut code);
        written(&mut code, &mut findings);
    }
    let mut compiled = None;
    if !failed(&findings) {
        compiled = generate(code, options, &mut findings);
    }
    findings.sort_by_key(|d| d.labels.first().map(|l| (l.span.start, l.span.end)));
    match compiled {
        Some((program, text)) if !failed(&findings) => {
            Compilation { program: Some(program), text, diagnostics: findings }
        }
        _ => Compilation { program: None, text: String::new(), diagnostics: findings },
    }
}

/// The name of each register: of several registers of one name, the name with a number. A name that two kinds of registers have is that of the
/// first only.
fn registers(names: &[Name]) -> BTreeMap<(char, u8), String> {
    let mut registers = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for name in names.iter().filter(|name| seen.insert(&name.name)) {
        for n in 0..name.count {
            let Ok(index) = u8::try_from(u32::from(name.index) + u32::from(n)) else { break };
            let text = if name.count > 1 { format!("{}[{n}]", name.name) } else { name.name.clone() };
            // Names that the text cannot quote are replaced by the register's.
            if !text.is_empty() && !text.contains(['"', '\\', '\n']) {
                registers.entry((name.file, index)).or_insert(text);
            }
        }
    }
    registers
}

fn failed(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|d| d.severity == Severity::Error)
}

/// Reports channels of temporaries that are read where nothing can have written them, which then hold 0, and shaders without a result.
fn written(code: &mut VirtualProgram, findings: &mut Vec<Diagnostic>) {
    let graph = graph::BlockGraph::of(&code.insts);
    let reaching = graph::Reaching::of(code, &graph);
    let before = code.temps as usize * 4;
    let loaded: BTreeSet<u32> = code.loads.iter().map(|l| l.0).collect();
    let mut places: Vec<(Span, u32, u8)> = Vec::new();
    for (n, block) in graph.blocks.iter().enumerate() {
        let mut set = reaching.start(n);
        for i in block.range.clone() {
            let inst = &code.insts[i];
            let mut missing: Vec<(u32, u8)> = Vec::new();
            graph::reads(inst, code, |v, c| {
                // A statement that nothing leads to reads nothing.
                let mut seen = reaching.seen(&set, v, c).peekable();
                if !loaded.contains(&v) && seen.peek().is_some() && seen.all(|d| d < before) {
                    missing.push((v, c));
                }
            });
            for (v, c) in missing {
                // The two halves of an instruction are one place.
                match places.iter_mut().find(|p| (p.0, p.1) == (inst.span(), v)) {
                    Some(place) => place.2 |= 1 << c,
                    None => places.push((inst.span(), v, 1 << c)),
                }
            }
            reaching.forwards(code, i, &mut set);
        }
    }
    let mut zeros = std::collections::BTreeMap::new();
    for (span, v, mask) in places {
        let message = format!("r{v}.{} is read and nothing has written it", graph::letters(mask));
        findings.push(
            Diagnostic::warning("unwritten", message).at(span, "").help("it holds 0; Direct3D promises no value"),
        );
        *zeros.entry(v).or_insert(0) |= mask;
    }
    lower::begin_with_zeros(code, &zeros);
    let result = |inst: &VirtualStatement| match inst {
        VirtualStatement::Alu(alu) => alu.dest.out.is_some() || alu.dest.w,
        VirtualStatement::Kill { .. } => true,
        VirtualStatement::Tex(_) | VirtualStatement::Flow(..) => false,
    };
    if !code.insts.iter().any(result) {
        findings.push(
            Diagnostic::error("no-output", "the shader writes no output")
                .at(Span::new(0, 0), "")
                .help("write oC0, oC1, oC2, oC3 or oDepth"),
        );
    }
}

/// From checked operations to a program and its text.
fn generate(mut code: VirtualProgram, options: &Options, findings: &mut Vec<Diagnostic>) -> Option<(Program, String)> {
    clean::constants(&mut code);
    while clean::dead(&mut code) {}
    webs::split(&mut code);
    // Each round only takes operations away.
    loop {
        let before = code.insts.len();
        propagate::copies(&mut code);
        while clean::dead(&mut code) {}
        fold::copies(&mut code);
        fold::presubtracts(&mut code);
        while clean::dead(&mut code) {}
        if code.insts.len() >= before {
            break;
        }
    }
    webs::split(&mut code);
    balance::balance(&mut code);
    balance::improve(&mut code);
    let mut outcome = None;
    for order in [Order::Critical, Order::Text] {
        let slots = schedule::schedule(&code, order);
        match allocate::allocate(&code, &slots) {
            Ok(registers) => {
                outcome = Some((allocate::apply(slots, &registers), registers));
                break;
            }
            Err(_) if order == Order::Critical => {}
            Err(needed) => {
                findings.push(
                    Diagnostic::error(
                        "registers",
                        format!("at least {needed} temporaries are needed at once, the machine has 128"),
                    )
                    .cite("CTM §3.3.1"),
                );
            }
        }
    }
    let (slots, registers) = outcome?;
    let whole = Whole { scaled: options.normalized_coordinates, zero_times_anything: !options.ieee_products };
    let emitted = emit::emit(&code, &slots, &registers.real, whole);
    let assembly = text::assemble(&emitted.text);
    // Where each line of the X1K text begins.
    let mut starts = vec![0u32];
    starts.extend(emitted.text.bytes().enumerate().filter(|b| b.1 == b'\n').map(|b| b.0 as u32 + 1));
    let place = |span: Span| {
        let line = starts.partition_point(|&s| s <= span.start).saturating_sub(1);
        emitted.lines.get(line).copied().unwrap_or_default()
    };
    let mut program = assembly.program.filter(|_| !failed(&assembly.diagnostics));
    let Some(program) = &mut program else {
        for found in assembly.diagnostics.into_iter().filter(|d| d.severity == Severity::Error) {
            let span = found.labels.first().map(|l| place(l.span)).unwrap_or_default();
            findings.push(refused(found, span));
        }
        return None;
    };
    program.spans = program.spans.iter().map(|&s| place(s)).collect();
    let report = check::check(program);
    for found in report.into_iter().filter(|d| d.severity == Severity::Error) {
        let span = found.pc.and_then(|pc| program.spans.get(pc as usize)).copied().unwrap_or_default();
        findings.push(refused(found, span));
    }
    Some((program.clone(), emitted.text))
}

/// Findings of the assembler or the checker on the program: limits of the machine, in their words.
fn refused(found: Diagnostic, span: Span) -> Diagnostic {
    let mut finding =
        Diagnostic::error(found.rule, format!("the X1K program would be wrong: {}", found.message)).at(span, "");
    finding.cite = found.cite;
    finding.help = found.help;
    finding
}
