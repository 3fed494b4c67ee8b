//! Program files into programs: recognizes the kind of a file, and reports files of a wrong kind.

use crate::error::JobError;
use crate::kinds::FileKind;
use crate::open::OpenError;
use crate::render::{Report, Source, TextPlace, report_at};
use ctm_image::{ImageError, InstructionSet, Kind, ctm_elf, foreign, hex, identify};
use ctm_isa::diag::{Diagnostic, Span};
use ctm_isa::x1k::{Program, text};
use std::path::Path;
use std::sync::Arc;

/// The instruction sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// The X1K (R5xx) fragment processor.
    X1k,
    /// R700.
    R700,
}

/// A program, and the reports about its file.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The program.
    pub program: Program,
    /// How it came.
    pub form: Form,
    /// The text, for programs that came from text.
    pub source: Option<Arc<Source>>,
    /// Warnings and notes.
    pub reports: Vec<Report>,
    /// The assembler's explanations, for programs that came from text.
    pub explanations: Vec<text::Explanation>,
    /// The X1K assembly that a `ps_3_0` shader became.
    pub listing: Option<String>,
}

/// How a program came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// X1K assembly.
    Text,
    /// Direct3D `ps_3_0` assembly, or byte code.
    Ps3,
    /// Six hexadecimal words a line.
    Hex,
    /// Little-endian bytes, 24 for each instruction.
    Binary,
    /// A CTM executable.
    CtmElf,
    /// A log of Mesa's r300 driver.
    Dump,
}

impl Form {
    /// Whether it has only words, so that `[program_info]` may add declarations.
    #[must_use]
    pub const fn is_bare(self) -> bool {
        matches!(self, Self::Hex | Self::Binary | Self::Dump)
    }
}

/// Readable kinds of files, for messages.
const READABLE_X1K: &str = "text (.x1k, .ps), words (.hex, .bin) and CTM executables (.elf) can be read";
const READABLE: &str = "X1K programs are text (.x1k, .ps), words (.hex, .bin) or CTM executables (.elf), R700 programs text (.r700, .psh, .vsh, .gsh, .csh), words, GFD containers, CAL images or LLVM's objects";

/// The text of a file's bytes, without the mark (U+FEFF) that some editors put in front.
///
/// # Errors
/// When the bytes are not UTF-8; `name` is for the message.
pub fn text_of<'a>(bytes: &'a [u8], name: &str) -> Result<&'a str, JobError> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let message = format!("{name} is no text: byte {} is not UTF-8", e.valid_up_to());
        JobError::Wrong(vec![Report::bare(Diagnostic::error("not-text", message))])
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Whether a file of bare bytes holds words of the R700, by the user's choice or by the words.
pub(crate) fn is_r700_binary(bytes: &[u8], path: &Path, isa: Option<Isa>) -> bool {
    let words = || {
        let words = ctm_image::ByteOrder::Little.words(bytes);
        let machine = ctm_image::machine_of(&words);
        // Where neither order is a program of the X1K, but the other one is of the R700, R700's reader reports it.
        machine.or_else(|| ctm_image::machine_of(&ctm_image::swapped(&words))) == Some(InstructionSet::R700)
    };
    match isa {
        Some(isa) => isa == Isa::R700,
        None => extension(path) == "bin" && bytes.len().is_multiple_of(8) && words(),
    }
}

/// Whether bytes are no text that anybody writes.
fn is_binary(bytes: &[u8]) -> bool {
    bytes.contains(&0) || std::str::from_utf8(bytes).is_err()
}

impl Loaded {
    /// Reads a program file. `isa` is the user's choice where the file does not say.
    ///
    /// # Errors
    /// When it cannot be read, is of another kind, or is wrong.
    pub fn from_file(path: &Path, isa: Option<Isa>) -> Result<Self, JobError> {
        Self::read(path, isa, None)
    }

    /// The same for a path that the job names at `place`.
    ///
    /// # Errors
    /// As for [`Self::from_file`].
    pub fn read(path: &Path, isa: Option<Isa>, place: Option<&TextPlace>) -> Result<Self, JobError> {
        let bytes = read_file(path, FileKind::Program, place)?;
        Self::from_bytes(&bytes, path, isa, place)
    }

    /// Reads a program from a file's bytes. The path is for its extension and for messages.
    ///
    /// # Errors
    /// As for [`Self::from_file`].
    pub fn from_bytes(
        bytes: &[u8],
        path: &Path,
        isa: Option<Isa>,
        place: Option<&TextPlace>,
    ) -> Result<Self, JobError> {
        Self::choose(bytes, path, isa, None, place)
    }

    /// The same for a file that may hold several programs, a log: `which` chooses one, by number or name.
    ///
    /// # Errors
    /// As for [`Self::from_file`]; there are several and none is chosen, or no such one.
    pub fn choose(
        bytes: &[u8],
        path: &Path,
        isa: Option<Isa>,
        which: Option<&str>,
        place: Option<&TextPlace>,
    ) -> Result<Self, JobError> {
        let name = path.display().to_string();
        let wrong = |rule, message: String| JobError::Wrong(vec![report_at(place, Diagnostic::error(rule, message))]);
        let r700 = || {
            Err(wrong("wrong-isa", format!("{name} is an R700 program, and an X1K program is wanted; {READABLE_X1K}")))
        };
        if bytes.is_empty() {
            return Err(wrong("empty-file", format!("{name} is empty; {READABLE}")));
        }
        if extension(path) == "pvs" {
            let message = format!(
                "{name} is a vertex program of the R5xx (PVS), which `ctm asm`, `ctm dis` and `ctm check` read, and a program to run is wanted; {READABLE}"
            );
            return Err(wrong("wrong-isa", message));
        }
        let kind = kind_of(bytes, path);
        let is_x1k = matches!(kind, Kind::X1kText | Kind::X1kHex | Kind::CtmElf | Kind::Ps3Text | Kind::Ps3Code);
        if isa == Some(Isa::R700) && is_x1k {
            let message =
                format!("{name} is {}, for the X1K, and a program for the R700 is asked for", kind.describe());
            return Err(wrong("wrong-isa", message));
        }
        let text = || {
            text_of(bytes, &name).map_err(|e| match e {
                JobError::Wrong(reports) => {
                    JobError::Wrong(reports.into_iter().map(|r| report_at(place, r.diagnostic)).collect())
                }
                other => other,
            })
        };
        let image = |e: &ImageError| wrong(e.name(), format!("{name}: {e}"));
        let plain = |program, form| Self {
            program,
            form,
            source: None,
            reports: Vec::new(),
            explanations: Vec::new(),
            listing: None,
        };
        match kind {
            Kind::X1kText => assemble(text()?, &name),
            Kind::X1kHex => {
                let text = text()?;
                let program = hex::read(text).map_err(|e| hex_error(&e, text, &name))?;
                if isa.is_none() {
                    in_order(program.words.as_flattened(), &name, ctm_image::is_x1k)?;
                }
                Ok(plain(program, Form::Hex))
            }
            Kind::X1kDump => {
                let (dump, reports) = crate::dump::choose(text()?, &name, which, isa.is_some())?;
                let program = hex::x1k_program(&dump.words).map_err(|e| image(&e))?;
                Ok(Self { reports, ..plain(program, Form::Dump) })
            }
            Kind::CtmElf => {
                let read = ctm_elf::read_image(bytes).map_err(|e| image(&e))?;
                let mut loaded = plain(read.program, Form::CtmElf);
                loaded.reports = read
                    .remarks
                    .iter()
                    .map(|r| Report::bare(Diagnostic::warning("image-remark", format!("{name}: {r}"))))
                    .collect();
                Ok(loaded)
            }
            #[cfg(not(feature = "ps3"))]
            Kind::Ps3Text | Kind::Ps3Code => Err(no_compiler(&name)),
            #[cfg(feature = "ps3")]
            Kind::Ps3Text | Kind::Ps3Code => {
                Self::compile(bytes, &name, &ctm_ps3::Options::default()).map_err(|e| match e {
                    JobError::Wrong(reports) => {
                        // Reports without a line in the shader point to the place where the job names the file.
                        let placed = |r: Report| if r.source.is_some() { r } else { report_at(place, r.diagnostic) };
                        JobError::Wrong(reports.into_iter().map(placed).collect())
                    }
                    other => other,
                })
            }
            Kind::R700Hex | Kind::R700Text | Kind::R700Dump | Kind::Cal | Kind::LlvmR600 | Kind::Gfd => r700(),
            Kind::OtherElf => Err(wrong("wrong-file", format!("{name} is {}; {READABLE}", kind.describe()))),
            Kind::Unknown if isa == Some(Isa::R700) => r700(),
            // Words that come from a pipe have no name that says so.
            Kind::Unknown if extension(path) == "bin" || (isa == Some(Isa::X1k) && is_binary(bytes)) => {
                let program = hex::read_binary(bytes).map_err(|e| match isa {
                    None => {
                        let finding = Diagnostic::error(e.name(), format!("{name}: {e}, as words of the X1K"));
                        let help = "--isa r700 reads it as words of the R700";
                        JobError::Wrong(vec![report_at(place, finding.help(help))])
                    }
                    Some(_) => image(&e),
                })?;
                let mut loaded = plain(program, Form::Binary);
                let words = loaded.program.words.as_flattened();
                // Chance makes hardly any words that all decode.
                if isa.is_none() && ctm_image::machine_of(words) != Some(InstructionSet::X1k) {
                    in_order(words, &name, |words| ctm_image::is_x1k(words) || ctm_image::is_r700(words))?;
                    let message = format!(
                        "{name} does not say what it is, and not all of its words are instructions of the X1K, for which it is taken"
                    );
                    let finding = Diagnostic::warning("which-isa", message);
                    loaded.reports.push(Report::bare(
                        finding.help("--isa r700 reads it as words of the R700, --isa x1k says that it is right"),
                    ));
                }
                Ok(loaded)
            }
            Kind::Unknown => match text_of(bytes, &name) {
                // Text that begins oddly: the assembler reports the odd part.
                Ok(text) if isa == Some(Isa::X1k) => assemble(text, &name),
                Ok(_) if !is_binary(bytes) => Err(wrong(
                    "wrong-file",
                    format!(
                        "{name} is no program that can be recognised; {READABLE}; --isa x1k takes any text for X1K assembly"
                    ),
                )),
                _ => Err(wrong(
                    "wrong-file",
                    format!("{name} is no program; {READABLE}; --isa x1k or r700 takes it for words of that machine"),
                )),
            },
        }
    }

    /// Compiles a shader, `ps_3_0` assembly or Direct3D 9 byte code; the name is for messages.
    ///
    /// # Errors
    /// When the shader is wrong.
    #[cfg(feature = "ps3")]
    pub fn compile(shader: &[u8], name: &str, options: &ctm_ps3::Options) -> Result<Self, JobError> {
        let (text, compiled) = if identify(shader) == Kind::Ps3Code {
            let (listing, compiled) = ctm_ps3::compile_bytecode(shader, options).map_err(|e| byte_code(*e, name))?;
            (listing.text, compiled)
        } else {
            let text = text_of(shader, name)?;
            let text = ctm_ps3::nine::text(text).unwrap_or_else(|| text.to_owned());
            let compiled = ctm_ps3::compile(&text, options);
            (text, compiled)
        };
        let source = Arc::new(Source::new(name, &text));
        let reports: Vec<Report> = compiled
            .diagnostics
            .into_iter()
            .map(|diagnostic| Report { diagnostic, source: Some(Arc::clone(&source)) })
            .collect();
        let Some(program) = compiled.program else { return Err(JobError::Wrong(reports)) };
        Ok(Self {
            program,
            form: Form::Ps3,
            source: Some(source),
            reports,
            explanations: Vec::new(),
            listing: Some(compiled.text),
        })
    }
}

/// The text of Direct3D 9 byte code, if the file is that; the name is for messages.
///
/// # Errors
/// When it is byte code, and wrong.
pub fn byte_code_text(bytes: &[u8], name: &str) -> Result<Option<String>, JobError> {
    if identify(bytes) != Kind::Ps3Code {
        return Ok(None);
    }
    #[cfg(feature = "ps3")]
    return ctm_ps3::bytecode::disassemble(bytes).map(|listing| Some(listing.text)).map_err(|e| byte_code(*e, name));
    #[cfg(not(feature = "ps3"))]
    Err(no_compiler(name))
}

#[cfg(not(feature = "ps3"))]
fn no_compiler(name: &str) -> JobError {
    let message =
        format!("{name} is a ps_3_0 shader; this build has no compiler for it: it was made without the feature `ps3`");
    JobError::Unsupported(Box::new(Report::bare(Diagnostic::error("not-built", message))))
}

#[cfg(feature = "ps3")]
fn byte_code(mut diagnostic: Diagnostic, name: &str) -> JobError {
    diagnostic.message = format!("{name}: {}", diagnostic.message);
    JobError::Wrong(vec![Report::bare(diagnostic)])
}

/// The kind of a program file. Text and words go by their extension, so that errors in them are reported in their terms.
pub(crate) fn kind_of(bytes: &[u8], path: &Path) -> Kind {
    match (extension(path).as_str(), identify(bytes)) {
        // A log has no extension of its own.
        (_, kind @ (Kind::X1kDump | Kind::R700Dump)) => kind,
        ("x1k", _) => Kind::X1kText,
        ("hex", Kind::R700Hex) => Kind::R700Hex,
        ("hex", _) => Kind::X1kHex,
        ("ps", kind) if kind != Kind::Ps3Code => Kind::Ps3Text,
        // `.gsh` names both a text and a container.
        ("gsh", Kind::Gfd) => Kind::Gfd,
        ("r700" | "psh" | "vsh" | "gsh" | "csh", _) => Kind::R700Text,
        (_, kind) => kind,
    }
}

fn extension(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase()
}

/// Refuses words whose bytes are in the other order: unchanged they are no program, and swapped they are one.
pub(crate) fn in_order(words: &[u32], name: &str, is_program: impl Fn(&[u32]) -> bool) -> Result<(), JobError> {
    if is_program(words) || !is_program(&ctm_image::swapped(words)) {
        return Ok(());
    }
    let message =
        format!("{name} holds big-endian words: a program only with the bytes of each word in the other order");
    let help =
        "--big-endian reads them; `ctm dis --big-endian FILE -o TEXT` makes a text that every command and job takes";
    Err(JobError::Wrong(vec![Report::bare(Diagnostic::error("big-endian", message).help(help))]))
}

/// Assembles text; every finding comes with its line.
fn assemble(source_text: &str, name: &str) -> Result<Loaded, JobError> {
    let assembly = text::assemble(source_text);
    let source = Arc::new(Source::new(name, source_text));
    let reports: Vec<Report> = assembly
        .diagnostics
        .into_iter()
        .map(|diagnostic| Report { diagnostic, source: Some(Arc::clone(&source)) })
        .collect();
    match assembly.program {
        Some(program) if !reports.iter().any(Report::is_error) => {
            let explanations = assembly.explanations;
            Ok(Loaded { program, form: Form::Text, source: Some(source), reports, explanations, listing: None })
        }
        _ => Err(JobError::Wrong(reports)),
    }
}

pub(crate) fn hex_error(e: &ImageError, text: &str, name: &str) -> JobError {
    let report = match e {
        ImageError::HexText { offset, found, allowed, .. } => {
            let start = u32::try_from(*offset).unwrap_or(u32::MAX);
            let rest = text.get(start as usize..).unwrap_or("");
            let length = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let span = Span::new(start, start.saturating_add(u32::try_from(length).unwrap_or(0)));
            Report {
                diagnostic: Diagnostic::error(e.name(), format!("found {found}; allowed: {allowed}")).at(span, ""),
                source: Some(Arc::new(Source::new(name, text))),
            }
        }
        other => Report::bare(Diagnostic::error(other.name(), format!("{name}: {other}"))),
    };
    JobError::Wrong(vec![report])
}

/// The bytes of a file of a kind; `place` named it, for the message.
///
/// # Errors
/// It is no regular file, is larger than its kind may be, or cannot be read; or is a program in a language that no command reads.
pub fn read_file(path: &Path, kind: FileKind, place: Option<&TextPlace>) -> Result<Vec<u8>, JobError> {
    let bytes = crate::open::read(path, kind).map_err(|e| unreadable(&e, place))?;
    if matches!(kind, FileKind::Program | FileKind::Commands) {
        not_foreign(&bytes, path, place)?;
    }
    Ok(bytes)
}

/// A file that cannot be opened, as a finding.
#[must_use]
pub fn unreadable(e: &OpenError, place: Option<&TextPlace>) -> JobError {
    JobError::Wrong(vec![report_at(place, Diagnostic::error("cannot-read", e.to_string()))])
}

/// Programs come in other languages, too.
///
/// # Errors
/// The foreign language, and the advice for it.
pub fn not_foreign(bytes: &[u8], path: &Path, place: Option<&TextPlace>) -> Result<(), JobError> {
    let Some(found) = foreign(bytes) else { return Ok(()) };
    let message = found.message(&path.display().to_string());
    let finding = Diagnostic::error("foreign-language", message).help(found.advice);
    Err(JobError::Wrong(vec![report_at(place, finding)]))
}
