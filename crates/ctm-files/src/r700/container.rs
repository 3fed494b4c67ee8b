//! A whole GFD container as text, and back: the same bytes.
//!
//! ```text
//! .container gfd
//! .program vertex                    a header block and the words that follow it
//! ; $UNIFORM_VARS[0].name = "map"    header values that do not follow from the words
//! 00 CALL_FS NO_BARRIER
//! ...
//! .block PADDING HEAD(1, 0, 2, 0)    any other block: version, identifier and index where they are unusual
//! .data 00 00 00 00                  its bytes
//! ```
//!
//! A header block that settings cannot express is written as a `.block`, and its words as a `.program` with `NO_HEADER`. `.open` says that the
//! closing block is missing, `.rest` begins the bytes after it.

mod print;

use super::gfd::{copy_program, described_program};
use super::{Loaded, from_text, wrong};
use crate::error::JobError;
use crate::render::{Report, Source};
use ctm_image::r700::gfd;
use ctm_image::r700::gfd::header::HeaderLayout;
use ctm_image::r700::gfd::print::Described;
use ctm_image::r700::gfd::{BlockKind, Gfd, GfdBlock};
use ctm_image::r700::{ExtractedProgram, ShaderStage as CodeStage};
use ctm_isa::diag::{Diagnostic, Span};
use ctm_isa::r700::program::{Program, Stage};
use ctm_isa::r700::text::TextOptions;
use ctm_isa::suggest::closest;
pub(super) use print::settings_at;
pub use print::{gfd_text, print_gfd};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// A line of a container's text that cannot be.
const RULE: &str = "container";
/// The words of a file's header after the two that never differ: versions, GPU, alignment, reserved.
const FILE_HEAD: [u32; 6] = [7, 1, 2, 0, 0, 0];
/// Bytes of a `.data` line.
const DATA_LINE: usize = 32;

/// Whether a text is that of a whole container.
#[must_use]
pub fn is_container_text(text: &str) -> bool {
    let code = |line: &'_ str| line.split(';').next().is_some_and(|code| !code.trim().is_empty());
    let first = text.trim_start_matches('\u{feff}').lines().find(|line| code(line));
    first.is_some_and(|line| line.split_whitespace().next() == Some(".container"))
}

/// The words of a block's header in a text: version, identifier, index.
type Head = [u32; 4];

fn head_of(block: &GfdBlock) -> Head {
    [block.header[2], block.header[3], block.header[6], block.header[7]]
}

/// The head of the block with this number, as tools write it.
fn usual_head(number: usize) -> Head {
    [1, 0, u32::try_from(number).unwrap_or(u32::MAX), 0]
}

fn block(kind: u32, head: Head, data: Vec<u8>) -> GfdBlock {
    let size = u32::try_from(data.len()).unwrap_or(u32::MAX);
    let header = [gfd::BLOCK_MAGIC, 0x20, head[0], head[1], kind, size, head[2], head[3]];
    GfdBlock { at: 0, header, data }
}

/// The stage by which a listing knows a container's program.
fn stage_named(stage: CodeStage) -> Option<Stage> {
    Stage::from_name(stage.name())
}

/// A `.program` of a text.
#[derive(Debug)]
struct Piece {
    stage: Stage,
    no_header: bool,
    head: Option<Head>,
    words: Option<Head>,
    /// The place of its listing.
    text: Range<usize>,
}

#[derive(Debug)]
enum Item {
    Program(Piece, Box<Loaded>),
    Block(u32, Option<Head>, Vec<u8>),
}

/// A container's text, read.
#[derive(Debug)]
pub(super) struct Document {
    head: [u32; 6],
    items: Vec<Item>,
    rest: Vec<u8>,
    open: bool,
    source: Arc<Source>,
}

/// The target of the lines after a directive.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DirectiveTarget {
    Nowhere,
    Program,
    Block,
    Rest,
}

struct ContainerReader<'t> {
    text: &'t str,
    options: &'t TextOptions,
    name: &'t str,
    document: Document,
    place: DirectiveTarget,
    piece: Option<Piece>,
    wrong: Vec<Report>,
}

impl Document {
    /// Reads a text.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(super) fn read(text: &str, name: &str, options: &TextOptions) -> Result<Self, JobError> {
        let document = Self {
            head: FILE_HEAD,
            items: Vec::new(),
            rest: Vec::new(),
            open: false,
            source: Arc::new(Source::new(name, text)),
        };
        let mut reader = ContainerReader {
            text,
            options,
            name,
            document,
            place: DirectiveTarget::Nowhere,
            piece: None,
            wrong: Vec::new(),
        };
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            reader.line(line, at);
            at += line.len();
        }
        reader.end_piece();
        if reader.wrong.iter().any(Report::is_error) { Err(JobError::Wrong(reader.wrong)) } else { Ok(reader.document) }
    }

    /// The programs with the names of their kinds.
    pub(super) fn programs(self) -> Vec<(Stage, Loaded)> {
        let programs = self.items.into_iter().filter_map(|item| match item {
            Item::Program(piece, loaded) => Some((piece.stage, *loaded)),
            Item::Block(..) => None,
        });
        programs.collect()
    }

    /// The warnings of its programs.
    pub(super) fn reports(&self) -> impl Iterator<Item = &Report> {
        self.items.iter().flat_map(|item| match item {
            Item::Program(_, loaded) => loaded.reports.as_slice(),
            Item::Block(..) => &[],
        })
    }

    /// The blocks; the first has the number `first`.
    fn blocks(&self, first: usize) -> Result<Vec<GfdBlock>, JobError> {
        let image = |e: ctm_image::ImageError| wrong(e.name(), e.to_string());
        let mut out: Vec<GfdBlock> = Vec::new();
        let mut items = self.items.iter().peekable();
        while let Some(item) = items.next() {
            let (piece, loaded) = match item {
                Item::Block(kind, head, data) => {
                    let head = head.unwrap_or_else(|| usual_head(first + out.len()));
                    out.push(block(*kind, head, data.clone()));
                    continue;
                }
                Item::Program(piece, loaded) => (piece, loaded),
            };
            let stage = super::stored_stage(&loaded.program).map_err(image)?;
            let copy = match items.peek() {
                Some(Item::Program(next, copy))
                    if stage == CodeStage::Geometry && next.stage == Stage::Copy && !next.no_header =>
                {
                    Some((next, copy))
                }
                _ => None,
            };
            if !piece.no_header {
                let mut new = super::gfd::read_program(loaded, stage).map_err(JobError::Wrong)?;
                if let Some((_, copy)) = copy {
                    copy_program(&mut new, &copy.program);
                }
                let (kind, data) = new.header_block().map_err(image)?;
                out.push(block(kind.code(), piece.head.unwrap_or_else(|| usual_head(first + out.len())), data));
            }
            push_words(&mut out, first, stage, piece, &loaded.program);
            if let Some((next, copy)) = copy {
                push_words(&mut out, first, CodeStage::Copy, next, &copy.program);
                items.next();
            }
        }
        Ok(out)
    }

    /// The container's bytes.
    ///
    /// # Errors
    /// Invalid settings, programs that the container has no place for.
    pub(super) fn write(&self) -> Result<Vec<u8>, JobError> {
        let mut blocks = self.blocks(0)?;
        if !self.open && blocks.last().and_then(GfdBlock::kind) != Some(BlockKind::End) {
            blocks.push(block(BlockKind::End.code(), usual_head(blocks.len()), Vec::new()));
        }
        let [a, b, c, d, e, f] = self.head;
        Ok(Gfd { header: [gfd::FILE_MAGIC, 0x20, a, b, c, d, e, f], blocks, rest: self.rest.clone() }.write())
    }
}

fn push_words(out: &mut Vec<GfdBlock>, first: usize, stage: CodeStage, piece: &Piece, program: &Program) {
    let kind = BlockKind::ALL.iter().find(|kind| kind.program().is_some_and(|(of, _)| of == stage));
    let data = program.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    if let Some(kind) = kind {
        out.push(block(kind.code(), piece.words.unwrap_or_else(|| usual_head(first + out.len())), data));
    }
}

impl ContainerReader<'_> {
    fn report(&mut self, at: Range<usize>, message: String, help: Option<String>) {
        let offset = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let mut diagnostic = Diagnostic::error(RULE, message).at(Span::new(offset(at.start), offset(at.end)), "");
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        self.wrong.push(Report { diagnostic, source: Some(Arc::clone(&self.document.source)) });
    }

    fn line(&mut self, line: &str, at: usize) {
        let code = line.split(';').next().unwrap_or("").trim();
        let start = at + line.find(code).unwrap_or(0);
        let range = start..start + code.len();
        let (word, rest) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
        match word {
            ".container" => self.container(rest, range),
            ".program" => {
                self.end_piece();
                self.place = DirectiveTarget::Program;
                self.program(rest, range, at + line.len());
            }
            ".block" => {
                self.end_piece();
                self.place = DirectiveTarget::Block;
                self.block(rest, range);
            }
            ".data" => self.data(rest, range),
            ".rest" => {
                self.end_piece();
                self.place = DirectiveTarget::Rest;
            }
            ".open" => {
                self.end_piece();
                (self.place, self.document.open) = (DirectiveTarget::Nowhere, true);
            }
            _ => match (&mut self.piece, code.is_empty()) {
                (Some(piece), _) => piece.text.end = at + line.len(),
                (None, true) => {}
                (None, false) if self.place == DirectiveTarget::Program => {}
                (None, false) => self.report(
                    range,
                    "this line belongs to no program".to_owned(),
                    Some(
                        "a listing stands behind a line `.program pixel`, a block's bytes on `.data` lines".to_owned(),
                    ),
                ),
            },
        }
    }

    fn container(&mut self, rest: &str, range: Range<usize>) {
        let (kind, options) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
        if kind != "gfd" {
            let message = format!("`{kind}` is no container that has a text; gfd is");
            return self.report(range, message, None);
        }
        for (name, numbers) in self.options(options, &range) {
            match (name.as_str(), <[u32; 6]>::try_from(numbers)) {
                ("HEAD", Ok(head)) => self.document.head = head,
                ("HEAD", Err(found)) => {
                    self.report(range.clone(), format!("HEAD has six words, not {}", found.len()), None);
                }
                _ => self.report(range.clone(), format!("`{name}` is no word of `.container`; HEAD is"), None),
            }
        }
    }

    /// `NAME(1, 2)` and `NAME`.
    fn options(&mut self, text: &str, range: &Range<usize>) -> Vec<(String, Vec<u32>)> {
        let mut out = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            let end = rest.find(|c: char| c == '(' || c.is_whitespace()).unwrap_or(rest.len());
            let name = rest[..end].to_owned();
            rest = rest[end..].trim_start();
            let mut numbers = Vec::new();
            if let Some(inner) = rest.strip_prefix('(') {
                let Some((inside, behind)) = inner.split_once(')') else {
                    self.report(range.clone(), format!("`{name}(` has no `)`"), None);
                    return out;
                };
                for number in inside.split(',').map(str::trim).filter(|n| !n.is_empty()) {
                    let parsed = match number.strip_prefix("0x") {
                        Some(hex) => u32::from_str_radix(hex, 16),
                        None => number.parse(),
                    };
                    match parsed {
                        Ok(n) => numbers.push(n),
                        Err(_) => self.report(range.clone(), format!("`{number}` is no number of 32 bits"), None),
                    }
                }
                rest = behind.trim_start();
            }
            out.push((name, numbers));
        }
        out
    }

    fn head(&mut self, name: &str, numbers: Vec<u32>, range: &Range<usize>) -> Option<Head> {
        match Head::try_from(numbers) {
            Ok(head) => Some(head),
            Err(found) => {
                let message =
                    format!("{name} has four words (version, its minor part, identifier, index), not {}", found.len());
                self.report(range.clone(), message, None);
                None
            }
        }
    }

    fn program(&mut self, rest: &str, range: Range<usize>, behind: usize) {
        let (kind, options) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
        let kinds = BlockKind::ALL.iter().filter_map(|kind| Some(kind.program()?.0.name()));
        let stage = Stage::from_name(kind).filter(|_| kinds.clone().any(|name| name == kind));
        let Some(stage) = stage else {
            let names: Vec<&str> = kinds.collect();
            let help = closest(kind, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
            let message = format!("`{kind}` is no program of a GFD container; {} are", names.join(", "));
            return self.report(range, message, help);
        };
        let mut piece = Piece { stage, no_header: false, head: None, words: None, text: behind..behind };
        for (name, numbers) in self.options(options, &range) {
            match name.as_str() {
                "NO_HEADER" => piece.no_header = true,
                "HEAD" => piece.head = self.head("HEAD", numbers, &range),
                "WORDS" => piece.words = self.head("WORDS", numbers, &range),
                _ => {
                    let message = format!("`{name}` is no word of `.program`; HEAD, WORDS and NO_HEADER are");
                    self.report(range.clone(), message, None);
                }
            }
        }
        self.piece = Some(piece);
    }

    fn block(&mut self, rest: &str, range: Range<usize>) {
        let (kind, options) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
        let code = BlockKind::from_name(kind).map(BlockKind::code).or_else(|| kind.parse().ok());
        let Some(code) = code else {
            let names = BlockKind::ALL.iter().map(|kind| kind.name());
            let help = closest(kind, names).map(|near| format!("did you mean `{near}`?"));
            return self.report(range, format!("`{kind}` is neither a kind of block nor a number"), help);
        };
        let mut head = None;
        for (name, numbers) in self.options(options, &range) {
            if name == "HEAD" {
                head = self.head("HEAD", numbers, &range);
            } else {
                self.report(range.clone(), format!("`{name}` is no word of `.block`; HEAD is"), None);
            }
        }
        self.document.items.push(Item::Block(code, head, Vec::new()));
    }

    fn data(&mut self, rest: &str, range: Range<usize>) {
        let digits: Vec<u8> = rest.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        let digit = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
        let byte = |pair: &[u8]| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?);
        let Some(bytes) = digits.chunks(2).map(byte).collect::<Option<Vec<u8>>>() else {
            return self.report(range, "`.data` takes bytes of two hexadecimal digits".to_owned(), None);
        };
        match (self.place, self.document.items.last_mut()) {
            (DirectiveTarget::Block, Some(Item::Block(.., data))) => data.extend(bytes),
            (DirectiveTarget::Rest, _) => self.document.rest.extend(bytes),
            _ => self.report(range, "`.data` stands behind `.block` or `.rest`".to_owned(), None),
        }
    }

    /// Reads the listing of the program that ends here.
    fn end_piece(&mut self) {
        let Some(piece) = self.piece.take() else { return };
        // The listing alone, in its place.
        let blank = |part: &str| {
            part.chars()
                .flat_map(|c| std::iter::repeat_n(if c == '\n' { '\n' } else { ' ' }, c.len_utf8()))
                .collect::<String>()
        };
        let masked = blank(&self.text[..piece.text.start]) + &self.text[piece.text.clone()];
        match from_text(&masked, self.name, self.options) {
            Ok(mut loaded) => {
                loaded.program.stage = Some(piece.stage);
                loaded.source = Some(Arc::clone(&self.document.source));
                for report in &mut loaded.reports {
                    report.source = Some(Arc::clone(&self.document.source));
                }
                self.document.items.push(Item::Program(piece, Box::new(loaded)));
            }
            Err(JobError::Wrong(reports)) => self.wrong.extend(reports),
            Err(other) => self.wrong.push(Report::bare(Diagnostic::error(RULE, other.to_string()))),
        }
    }
}

/// The container that a text says.
///
/// ```
/// use ctm_image::r700::gfd::Gfd;
/// use ctm_isa::r700::text::TextOptions;
/// use ctm_files::r700::{ContainerKind, Loaded, assemble_gfd, print_gfd, replace_in_gfd, write_container};
/// use std::path::Path;
///
/// let options = TextOptions::default();
/// let listing = |text: &str| Loaded::from_bytes(text.as_bytes(), Path::new("a.psh"), None, None, &options);
/// let pixel = listing("EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n")?;
/// let bytes = write_container(&[("main", &pixel)], ContainerKind::Gfd)?;
///
/// // A container as a text, and back.
/// let text = print_gfd(&Gfd::read(&bytes)?);
/// let (again, findings) = assemble_gfd(&text, Path::new("a.gsh"), &options)?;
/// assert!(again == bytes && findings.is_empty());
///
/// // Another program in the same container.
/// let grey = listing("EXP_DONE: PIX0, R0.xxxw\nEND_OF_PROGRAM\n")?;
/// let (changed, _) = replace_in_gfd(&bytes, "a.gsh", &grey, None)?;
/// assert!(print_gfd(&Gfd::read(&changed)?).contains("R0.xxxw"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Everything that is wrong with the text, with its places.
pub fn assemble_gfd(text: &str, path: &Path, options: &TextOptions) -> Result<(Vec<u8>, Vec<Report>), JobError> {
    let document = Document::read(text, &path.display().to_string(), options)?;
    let bytes = document.write()?;
    let mut reports: Vec<Report> = document.reports().cloned().collect();
    // Remarks about a header in bytes whose program has changed.
    let remarks = Gfd::read(&bytes).map(|gfd| gfd.remarks()).unwrap_or_default();
    reports.extend(remarks.into_iter().filter(|_| !document.open).map(|remark| {
        Report::bare(Diagnostic::warning(RULE, format!("at byte {}: {}", remark.offset, remark.message)))
    }));
    Ok((bytes, reports))
}

/// The place of a listing's program in an existing container.
///
/// The words replace the old ones. Registers that follow from the words (GPRs, stack, exports) change where the programs differ in that; the
/// listing's settings override them. All else in the container stays.
///
/// # Errors
/// No program of the listing's stage, or several and no choice; invalid settings; variables, which stay the container's.
pub fn replace_in_gfd(
    bytes: &[u8],
    name: &str,
    loaded: &Loaded,
    which: Option<&str>,
) -> Result<(Vec<u8>, Vec<Report>), JobError> {
    let image = |e: ctm_image::ImageError| wrong(e.name(), format!("{name}: {e}"));
    let mut container = Gfd::read(bytes).map_err(image)?;
    let shaders = container.shaders().map_err(image)?;
    let stage = super::stored_stage(&loaded.program).map_err(image)?;
    let candidates: Vec<usize> = match which {
        Some(which) => {
            (0..shaders.len()).filter(|&i| i.to_string() == which || shaders[i].code.stage.name() == which).collect()
        }
        None => (0..shaders.len()).filter(|&i| shaders[i].code.stage == stage).collect(),
    };
    let &[index] = candidates.as_slice() else {
        let all: Vec<String> =
            shaders.iter().enumerate().map(|(i, s)| format!("{i} ({})", s.code.stage.name())).collect();
        let message = match (candidates.len(), which) {
            (0, Some(which)) => format!("{name} has no program `{which}`; it holds {}", all.join(", ")),
            (0, None) => format!("{name} has no {} program; it holds {}", stage.name(), all.join(", ")),
            _ => {
                format!("{name} has several programs that may be meant: {}; choose one with --program", all.join(", "))
            }
        };
        return Err(wrong("which-program", message));
    };
    let old = &shaders[index];
    let mut reports = Vec::new();
    let derived = |program: &Program| described_program(program, stage, &Described::default()).code.registers;
    let (before, after) = (derived(&old.code.program()), derived(&loaded.program));
    let mut registers = old.code.registers.clone();
    for new in after {
        let was = before.iter().find(|r| r.address == new.address).map_or(0, |r| r.value);
        if let Some(register) = registers.iter_mut().find(|r| r.address == new.address) {
            let changed = was ^ new.value;
            register.value = register.value & !changed | new.value & changed;
        }
    }
    if let Some(layout) = old.header.and_then(|h| container.blocks[h].kind()).and_then(HeaderLayout::of) {
        let read = gfd::settings::Settings::read(&loaded.program.settings, layout);
        let settings = read.map_err(|found| {
            JobError::Wrong(
                found.into_iter().map(|diagnostic| Report { diagnostic, source: loaded.source.clone() }).collect(),
            )
        })?;
        for &(address, mask, bits) in &settings.registers {
            match registers.iter_mut().find(|r| r.address == address) {
                Some(register) => register.value = register.value & !mask | bits & mask,
                None => registers.push(ctm_image::r700::RegisterValue { address, value: bits & mask }),
            }
        }
        if !settings.variables.is_empty()
            || settings.mode.is_some()
            || !settings.words.is_empty()
            || !settings.counts.is_empty()
        {
            let message =
                "variables, $MODE, counts of registers and words without a register stay those of the container";
            let help = "`ctm dis` prints the whole container as text, in which they can be changed";
            reports.push(Report::bare(Diagnostic::warning("kept-settings", message).help(help)));
        }
    }
    container
        .replace(index, &ExtractedProgram { stage, words: loaded.program.words.clone(), registers })
        .map_err(image)?;
    Ok((container.write(), reports))
}

/// Reports inputs of a container's pixel program that its vertex program does not export: semantics that do not meet. Silent for containers without
/// exactly one of each.
#[must_use]
pub fn unmet_semantics(bytes: &[u8]) -> Vec<Report> {
    let shaders = Gfd::read(bytes).and_then(|container| container.shaders()).unwrap_or_default();
    let of = |stage| {
        let mut found = shaders.iter().filter(move |s| s.code.stage == stage);
        found.next().filter(|_| found.next().is_none())
    };
    let has_geometry = shaders.iter().any(|s| s.code.stage == CodeStage::Geometry);
    let (Some(vertex), Some(pixel), false) = (of(CodeStage::Vertex), of(CodeStage::Pixel), has_geometry) else {
        return Vec::new();
    };
    let field = |code: &ExtractedProgram, name: &str, field: &str| {
        let row = ctm_image::r700::registers::named(name)?;
        let field = row.format.fields.iter().find(|f| f.name == field)?;
        Some(field.extract(code.register(name)?))
    };
    let exported = field(&vertex.code, "SPI_VS_OUT_CONFIG", "VS_EXPORT_COUNT").map_or(0, |n| n + 1);
    let semantic = |n: u32| vertex.code.register(&format!("SPI_VS_OUT_ID_{}", n / 4)).map(|r| r >> (n % 4 * 8) & 0xff);
    let outputs: Vec<u32> = (0..exported).filter_map(semantic).collect();
    let read = field(&pixel.code, "SPI_PS_IN_CONTROL_0", "NUM_INTERP").unwrap_or(0);
    let inputs = (0..read).filter_map(|n| Some((n, pixel.code.register(&format!("SPI_PS_INPUT_CNTL_{n}"))? & 0xff)));
    // The position and the face take the places of parameters: their semantic numbers mean nothing.
    let placed = |register, enable, address| {
        field(&pixel.code, register, enable).filter(|&on| on != 0).and_then(|_| field(&pixel.code, register, address))
    };
    let special = [
        placed("SPI_PS_IN_CONTROL_0", "POSITION_ENA", "POSITION_ADDR"),
        placed("SPI_PS_IN_CONTROL_1", "FRONT_FACE_ENA", "FRONT_FACE_ADDR"),
        placed("SPI_PS_IN_CONTROL_1", "FIXED_PT_POSITION_ENA", "FIXED_PT_POSITION_ADDR"),
    ];
    let unmet = inputs.filter(|(n, semantic)| !outputs.contains(semantic) && !special.contains(&Some(*n)));
    let report = |(n, semantic): (u32, u32)| {
        let all: Vec<String> = outputs.iter().map(ToString::to_string).collect();
        let all = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
        let message = format!(
            "input {n} of the pixel program has semantic {semantic}, which no parameter of the vertex program has (it exports {all}); it reads its DEFAULT_VAL"
        );
        Report::bare(Diagnostic::warning("unmet-semantic", message).cite("R6xx/R7xx 3D registers"))
    };
    unmet.map(report).collect()
}
