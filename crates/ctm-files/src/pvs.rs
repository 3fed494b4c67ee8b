//! Files that hold vertex programs of the R5xx (PVS): assembly text (`.pvs`), and words, which say nothing of constants and flow control.

use crate::error::JobError;
use crate::load::{hex_error, text_of};
use crate::render::{Report, Source};
use ctm_image::{ByteOrder, ImageError, hex};
use ctm_isa::diag::Diagnostic;
use ctm_isa::pvs::{INSTRUCTION_SLOTS, VertexProgram, text};
use std::path::Path;
use std::sync::Arc;

/// A vertex program, and the reports about its file.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The program.
    pub program: VertexProgram,
    /// The text, for programs that came from text.
    pub source: Option<Arc<Source>>,
    /// Warnings.
    pub reports: Vec<Report>,
}

/// Whether a file is a vertex program by its name: `.pvs`. Words do not say so.
#[must_use]
pub fn is_pvs(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pvs"))
}

/// Whether text is words in hexadecimal: each of its lines with code begins with digits that no mnemonic has.
fn is_hex(text: &str) -> bool {
    let code =
        |line: &str| line.split([';', '#']).next().unwrap_or("").split("//").next().unwrap_or("").trim().to_owned();
    let mut lines = text.lines().map(code).filter(|line| !line.is_empty()).peekable();
    let word = |token: &str| {
        let digits = token.strip_prefix("0x").or_else(|| token.strip_prefix("0X")).unwrap_or(token);
        (1..=8).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit())
    };
    lines.peek().is_some() && lines.all(|line| line.split([' ', '\t', ',']).filter(|t| !t.is_empty()).all(word))
}

impl Loaded {
    /// Reads a vertex program from a file's bytes: text, words in hexadecimal (`.hex`, or text of nothing else), or little-endian words.
    ///
    /// # Errors
    /// When they are no program, or a wrong one.
    ///
    /// ```
    /// use ctm_files::pvs::{Loaded, to_hex};
    /// let loaded = Loaded::from_bytes(b"mov o0, v0", "copy.pvs".as_ref())?;
    /// assert_eq!(to_hex(&loaded.program), "00F00203 00D10001 01248001 01248001\n");
    /// assert_eq!(Loaded::from_bytes(to_hex(&loaded.program).as_bytes(), "copy.hex".as_ref())?.program.words, loaded.program.words);
    /// # Ok::<(), ctm_files::JobError>(())
    /// ```
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, JobError> {
        let name = path.display().to_string();
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        if bytes.is_empty() {
            let message = format!("{name} is empty; vertex programs are text (.pvs) or words (.hex, .bin)");
            return Err(wrong("empty-file", message));
        }
        if extension == "bin" || bytes.contains(&0) {
            let words = hex::read_binary_words(bytes, hex::PVS_WORDS, ByteOrder::Little);
            let words = words.map_err(|e: ImageError| wrong(e.name(), format!("{name}: {e}")))?;
            return words_to_program(&words, &name);
        }
        let text = text_of(bytes, &name)?;
        if extension == "hex" || extension != "pvs" && is_hex(text) {
            let words = hex::read_words(text, hex::PVS_WORDS).map_err(|e| hex_error(&e, text, &name))?;
            return words_to_program(&words, &name);
        }
        let source = Arc::new(Source::new(name, text));
        let assembly = text::assemble(text);
        let report = |diagnostic| Report { diagnostic, source: Some(Arc::clone(&source)) };
        let reports: Vec<Report> = assembly.diagnostics.into_iter().map(report).collect();
        match assembly.program {
            Some(program) => Ok(Self { program, source: Some(source), reports }),
            None => Err(JobError::Wrong(reports)),
        }
    }
}

fn wrong(rule: &'static str, message: String) -> JobError {
    JobError::Wrong(vec![Report::bare(Diagnostic::error(rule, message))])
}

fn words_to_program(words: &[u32], name: &str) -> Result<Loaded, JobError> {
    let (instructions, rest) = words.as_chunks::<4>();
    if instructions.is_empty() || !rest.is_empty() {
        let message = format!("{name} has {} words; an instruction of a vertex program has 4", words.len());
        return Err(wrong("wrong-file", message));
    }
    if instructions.len() > INSTRUCTION_SLOTS {
        let message = format!("{name} has {} instructions; the machine holds {INSTRUCTION_SLOTS}", instructions.len());
        return Err(wrong("wrong-file", message));
    }
    Ok(Loaded { program: VertexProgram::from_words(instructions.to_vec()), source: None, reports: Vec::new() })
}

/// The words in hexadecimal, an instruction a line. Constants, names and flow control are not among them.
#[must_use]
pub fn to_hex(program: &VertexProgram) -> String {
    hex::write_words(program.words.as_flattened(), hex::PVS_WORDS)
}

/// The words as little-endian bytes.
#[must_use]
pub fn to_bytes(program: &VertexProgram) -> Vec<u8> {
    hex::write_binary_words(program.words.as_flattened(), ByteOrder::Little)
}

/// A warning for each kind of information of a program that its words do not hold.
#[must_use]
pub fn not_stored(program: &VertexProgram) -> Vec<Report> {
    let end = program.words.len().saturating_sub(1);
    let parts = [
        ("constants", !program.literals.is_empty()),
        ("flow control", program.flow != ctm_isa::pvs::flow::NO_FLOW),
        ("the code range", program.first != 0 || usize::from(program.last) != end),
        ("the range of constants", (program.const_base, program.const_max) != (0, 255)),
    ];
    let lost: Vec<&str> = parts.into_iter().filter(|(_, lost)| *lost).map(|(what, _)| what).collect();
    if lost.is_empty() {
        return Vec::new();
    }
    let message = format!("words do not hold {}: registers of the card do", lost.join(", "));
    vec![Report::bare(Diagnostic::warning("not-stored", message))]
}
