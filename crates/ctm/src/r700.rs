//! Files that hold R700 programs: listings, words, and the containers of AMD's and other tools.
//!
//! They can be assembled, printed, checked, and run by jobs ([`crate::job::r700`] says what those have for them).

use crate::job::load::{hex_error, kind_of, read_file};
use crate::job::{Isa, JobError};
use crate::render::{Report, Source};
use ctm_image::r700::{Code, Container};
use ctm_image::{ByteOrder, ImageError, Kind, hex};
use ctm_isa::diag::Diagnostic;
use ctm_isa::r700::inst::looks_like_r600;
use ctm_isa::r700::program::{Program, Stage};
use ctm_isa::r700::text::{Options, assemble};
use std::path::Path;
use std::sync::Arc;

/// Dwords of a slot.
const SLOT_WORDS: usize = 2;

/// A program, and what there is to say about its file.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The program.
    pub program: Program,
    /// Whether it came as text.
    pub is_text: bool,
    /// Whether it came as words that say nothing about themselves.
    pub is_bare: bool,
    /// The text, for programs that came from text.
    pub source: Option<Arc<Source>>,
    /// Warnings and notes.
    pub reports: Vec<Report>,
}

/// Whether a file holds R700 programs. `isa` is what the user says where the file does not.
#[must_use]
pub fn is_r700(bytes: &[u8], path: &Path, isa: Option<Isa>) -> bool {
    match kind_of(bytes, path) {
        Kind::R700Hex | Kind::R700Text | Kind::Cal | Kind::LlvmR600 | Kind::Gfd => true,
        Kind::Unknown => isa == Some(Isa::R700),
        Kind::CtmElf | Kind::OtherElf | Kind::X1kHex | Kind::X1kText | Kind::Ps3Text => false,
    }
}

impl Loaded {
    /// Reads a file. `which` chooses a program of a container, by number or name; one alone needs no choice.
    ///
    /// # Errors
    /// When the file cannot be read, is of another kind, or is wrong.
    pub fn from_file(path: &Path, isa: Option<Isa>, which: Option<&str>, options: &Options) -> Result<Self, JobError> {
        Self::from_bytes(&read_file(path, "the program", None)?, path, isa, which, options)
    }

    /// Reads a file's bytes. The path is for its extension and for messages.
    ///
    /// # Errors
    /// As for [`Self::from_file`].
    pub fn from_bytes(
        bytes: &[u8],
        path: &Path,
        isa: Option<Isa>,
        which: Option<&str>,
        options: &Options,
    ) -> Result<Self, JobError> {
        let name = path.display().to_string();
        let image = |e: &ImageError| wrong(e.name(), format!("{name}: {e}"));
        let text = || {
            std::str::from_utf8(bytes)
                .map_err(|e| wrong("not-text", format!("{name} is no text: byte {} is not UTF-8", e.valid_up_to())))
        };
        let kind = kind_of(bytes, path);
        let program = match kind {
            Kind::R700Text => return from_text(text()?, &name, options),
            Kind::R700Hex | Kind::X1kHex => {
                let text = text()?;
                let words = hex::read_words(text, SLOT_WORDS).map_err(|e| hex_error(&e, text, &name))?;
                Program::from_words(words)
            }
            Kind::Cal | Kind::LlvmR600 | Kind::Gfd => {
                let container = Container::read(bytes).map_err(|e| image(&e))?;
                from_container(&container, &name, which)?
            }
            Kind::CtmElf | Kind::OtherElf | Kind::X1kText | Kind::Ps3Text | Kind::Unknown => {
                let words = hex::read_binary_words(bytes, SLOT_WORDS, ByteOrder::Little).map_err(|e| image(&e))?;
                Program::from_words(words)
            }
        };
        if isa.is_none()
            && let Some(finding) = looks_like_r600(&program.words, program.entry)
        {
            let message =
                format!("{name} holds words of the R600, whose ALU words are laid out differently: {finding}");
            let help = "--isa r700 reads it as R700 words all the same";
            return Err(JobError::Wrong(vec![Report::bare(Diagnostic::error("r600-words", message).help(help))]));
        }
        let is_bare = !matches!(kind, Kind::Cal | Kind::LlvmR600 | Kind::Gfd);
        Ok(Self { program, is_text: false, is_bare, source: None, reports: Vec::new() })
    }
}

fn wrong(rule: &'static str, message: String) -> JobError {
    JobError::Wrong(vec![Report::bare(Diagnostic::error(rule, message))])
}

fn from_text(text: &str, name: &str, options: &Options) -> Result<Loaded, JobError> {
    let assembly = assemble(text, options);
    let source = Arc::new(Source::new(name, text));
    let reports: Vec<Report> = assembly
        .diagnostics
        .into_iter()
        .map(|diagnostic| Report { diagnostic, source: Some(Arc::clone(&source)) })
        .collect();
    match assembly.program {
        Some(program) if !reports.iter().any(Report::is_error) => {
            Ok(Loaded { program, is_text: true, is_bare: false, source: Some(source), reports })
        }
        _ => Err(JobError::Wrong(reports)),
    }
}

fn from_container(container: &Container, name: &str, which: Option<&str>) -> Result<Program, JobError> {
    let entries = container.programs().map_err(|e| wrong(e.name(), format!("{name}: {e}")))?;
    let list: Vec<String> = entries.iter().map(|e| format!("{} ({})", e.index, e.name)).collect();
    let list = list.join(", ");
    let found = match which {
        Some(which) => entries.iter().find(|e| e.name == which || e.index.to_string() == which),
        None if entries.len() == 1 => entries.first(),
        None => None,
    };
    match (found, which) {
        (Some(entry), _) => Ok(program_of(&entry.code)),
        (None, _) if entries.is_empty() => Err(wrong("no-program", format!("{name} holds no R700 program"))),
        (None, Some(which)) => Err(wrong("no-program", format!("{name} has no program `{which}`; it holds {list}"))),
        (None, None) => Err(wrong(
            "which-program",
            format!("{name} holds {} programs, {list}; choose one with --program", entries.len()),
        )),
    }
}

/// A container's program with what its registers say.
pub(crate) fn program_of(code: &Code) -> Program {
    let mut program = Program::from_words(code.words.clone());
    program.stage = Stage::from_name(code.stage.name());
    if let Some(resources) = code.resources() {
        program.gprs = resources.num_gprs;
        program.stack = resources.stack_size;
    }
    program
}
