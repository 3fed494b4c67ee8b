//! Files that hold R700 programs: listings, words, and the containers of AMD's and other tools.
//!
//! They can be assembled, printed and checked. `uses` lists the names of a program: resources, memories, exports, constants.
//!
//! ```
//! use ctm_image::r700::gfd::Gfd;
//! use ctm_isa::r700::text::TextOptions;
//! use ctm_files::Isa;
//! use ctm_files::r700::{ContainerKind, Loaded, every_program, is_container_text, is_r700, not_stored, print_gfd, unmet_semantics, write_container, write_gfd};
//! use std::path::Path;
//!
//! let text = b".stage pixel\nALU:\n x: MOV R0.x, 1.0f\nEXP_DONE: PIX0, R0.xxxx\nEND_OF_PROGRAM\n";
//! let path = Path::new("one.psh");
//! assert!(is_r700(text, path, None));
//! let options = TextOptions::default();
//! let loaded = Loaded::from_bytes(text, path, Some(Isa::R700), None, &options)?;
//! assert!(not_stored(&loaded, true).is_empty());
//! let file = write_gfd(&[&loaded])?;
//! assert_eq!(write_container(&[("main", &loaded)], ContainerKind::Gfd)?, file);
//! let gsh = Path::new("one.gsh");
//! assert_eq!(every_program(&file, gsh, None, &options)?.len(), 1);
//! assert!(unmet_semantics(&file).is_empty());
//! assert!(is_container_text(&print_gfd(&Gfd::read(&file)?)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::dump;
use crate::error::JobError;
use crate::kinds::FileKind;
use crate::load::{Isa, hex_error, in_order, is_r700_binary, kind_of, read_file, text_of};
use crate::render::{Report, Source};
use ctm_exec::r700::Target;
use ctm_image::r700::{Container, ExtractedProgram, RegisterValue, ShaderStage as CodeStage, cal, llvm_elf, registers};
use ctm_image::{ByteOrder, ImageError, Kind, hex};
use ctm_isa::diag::{Diagnostic, Severity};
use ctm_isa::r700::inst::{Cf, CfExport, looks_like_r600};
use ctm_isa::r700::program::{Program, Stage};
use ctm_isa::r700::text::{TextOptions, assemble};
use std::path::Path;
use std::sync::Arc;

mod container;
pub mod gfd;
mod interface;
pub mod uniform;
pub mod uses;

pub use container::{assemble_gfd, gfd_text, is_container_text, print_gfd, replace_in_gfd, unmet_semantics};
pub use gfd::write_gfd;
pub use interface::Interface;

/// Dwords of a slot.
const SLOT_WORDS: usize = 2;

/// A program, and the reports about its file.
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

/// Whether a file holds R700 programs. `isa` is the user's choice where the file does not say.
#[must_use]
pub fn is_r700(bytes: &[u8], path: &Path, isa: Option<Isa>) -> bool {
    match kind_of(bytes, path) {
        Kind::R700Hex | Kind::R700Text | Kind::R700Dump | Kind::Cal | Kind::LlvmR600 | Kind::Gfd => true,
        // Words in lines that neither ISA's files have are of the user's ISA.
        Kind::X1kHex => isa == Some(Isa::R700),
        Kind::Unknown => is_r700_binary(bytes, path, isa),
        Kind::X1kDump | Kind::CtmElf | Kind::OtherElf | Kind::X1kText | Kind::Ps3Text | Kind::Ps3Code => false,
    }
}

fn wrong_isa(message: String) -> JobError {
    JobError::Wrong(vec![Report::bare(Diagnostic::error("wrong-isa", message))])
}

impl Loaded {
    /// Reads a file. `which` chooses a program of a container, by number or name; one alone needs no choice.
    ///
    /// # Errors
    /// The file cannot be read, is of another kind, or is wrong.
    pub fn from_file(
        path: &Path,
        isa: Option<Isa>,
        which: Option<&str>,
        options: &TextOptions,
    ) -> Result<Self, JobError> {
        Self::from_bytes(&read_file(path, FileKind::Program, None)?, path, isa, which, options)
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
        options: &TextOptions,
    ) -> Result<Self, JobError> {
        let name = path.display().to_string();
        let image = |e: &ImageError| wrong(e.name(), format!("{name}: {e}"));
        let text = || text_of(bytes, &name);
        let kind = kind_of(bytes, path);
        if isa == Some(Isa::X1k) && is_r700(bytes, path, None) {
            let message =
                format!("{name} is {}, for the R700, and a program for the X1K is asked for", kind.describe());
            return Err(wrong_isa(message));
        }
        let mut reports = Vec::new();
        let program = match kind {
            Kind::R700Text if is_container_text(text()?) => {
                let document = container::Document::read(text()?, &name, options)?;
                return chosen(document.programs(), &name, which);
            }
            Kind::R700Text => return from_text(text()?, &name, options),
            Kind::R700Hex | Kind::X1kHex => {
                let text = text()?;
                let words = hex::read_words(text, SLOT_WORDS).map_err(|e| hex_error(&e, text, &name))?;
                Program::from_words(words)
            }
            Kind::R700Dump => {
                let (dump, found) = dump::choose(text()?, &name, which, isa.is_some())?;
                reports = found;
                let mut program = Program::from_words(dump.words);
                program.stage = dump.stage;
                program.gprs = dump.gprs.unwrap_or(program.gprs);
                program.stack = dump.stack.unwrap_or(program.stack);
                program
            }
            Kind::Cal | Kind::LlvmR600 | Kind::Gfd => {
                let container = Container::read(bytes).map_err(|e| image(&e))?;
                let (index, mut program) = from_container(&container, &name, which)?;
                if let Container::Gfd(gfd) = &container {
                    program.settings = container::settings_at(gfd, index);
                }
                program
            }
            Kind::CtmElf
            | Kind::OtherElf
            | Kind::X1kText
            | Kind::X1kDump
            | Kind::Ps3Text
            | Kind::Ps3Code
            | Kind::Unknown => {
                let words = hex::read_binary_words(bytes, SLOT_WORDS, ByteOrder::Little).map_err(|e| image(&e))?;
                Program::from_words(words)
            }
        };
        if isa.is_none() && matches!(kind, Kind::R700Hex | Kind::Unknown) {
            in_order(&program.words, &name, ctm_image::is_r700)?;
        }
        if isa.is_none()
            && let Some(finding) = looks_like_r600(&program.words, program.entry)
        {
            let message =
                format!("{name} holds words of the R600, whose ALU words are laid out differently: {finding}");
            let help = "--isa r700 reads it as R700 words all the same";
            return Err(JobError::Wrong(vec![Report::bare(Diagnostic::error("r600-words", message).help(help))]));
        }
        let is_bare = !matches!(kind, Kind::Cal | Kind::LlvmR600 | Kind::Gfd);
        Ok(Self { program, is_text: false, is_bare, source: None, reports })
    }
}

/// Every program that a file holds, with the number and the name that a container gives it; a file that is no container holds one.
///
/// # Errors
/// As for [`Loaded::from_file`].
pub fn every_program(
    bytes: &[u8],
    path: &Path,
    isa: Option<Isa>,
    options: &TextOptions,
) -> Result<Vec<(Option<String>, Loaded)>, JobError> {
    let load = |which: Option<&str>| Loaded::from_bytes(bytes, path, isa, which, options);
    match kind_of(bytes, path) {
        Kind::R700Text if text_of(bytes, &path.display().to_string()).is_ok_and(is_container_text) => {
            let name = path.display().to_string();
            let programs = container::Document::read(text_of(bytes, &name)?, &name, options)?.programs();
            let named =
                |(i, (stage, loaded)): (usize, (Stage, Loaded))| (Some(format!("{i} ({})", stage.name())), loaded);
            Ok(programs.into_iter().enumerate().map(named).collect())
        }
        Kind::Cal | Kind::LlvmR600 | Kind::Gfd => {
            let name = path.display();
            let image = |e: ImageError| wrong(e.name(), format!("{name}: {e}"));
            let entries = Container::read(bytes).and_then(|c| c.programs()).map_err(image)?;
            match entries.as_slice() {
                [] | [_] => Ok(vec![(None, load(None)?)]),
                several => several
                    .iter()
                    .map(|e| Ok((Some(format!("{} ({})", e.index, e.name)), load(Some(&e.index.to_string()))?)))
                    .collect(),
            }
        }
        Kind::R700Dump => {
            let programs = dump::every(text_of(bytes, &path.display().to_string())?);
            match programs.as_slice() {
                [] | [_] => Ok(vec![(None, load(None)?)]),
                several => (0..)
                    .zip(several)
                    .map(|(i, title): (usize, _)| Ok((Some(title.clone()), load(Some(&i.to_string()))?)))
                    .collect(),
            }
        }
        _ => Ok(vec![(None, load(None)?)]),
    }
}

fn wrong(rule: &'static str, message: String) -> JobError {
    JobError::Wrong(vec![Report::bare(Diagnostic::error(rule, message))])
}

fn from_text(text: &str, name: &str, options: &TextOptions) -> Result<Loaded, JobError> {
    let assembly = assemble(text, options);
    let source = Arc::new(Source::new(name, text));
    let reports: Vec<Report> = assembly
        .diagnostics
        .into_iter()
        .map(|diagnostic| Report { diagnostic, source: Some(Arc::clone(&source)) })
        .collect();
    match assembly.program {
        Some(mut program) if !reports.iter().any(Report::is_error) => {
            program.stage = program.stage.or_else(|| stage_of(Path::new(name)));
            Ok(Loaded { program, is_text: true, is_bare: false, source: Some(source), reports })
        }
        _ => Err(JobError::Wrong(reports)),
    }
}

/// The kind of program that a text's extension names.
fn stage_of(path: &Path) -> Option<Stage> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "psh" => Some(Stage::Pixel),
        "vsh" => Some(Stage::Vertex),
        "gsh" => Some(Stage::Geometry),
        "csh" => Some(Stage::Compute),
        _ => None,
    }
}

/// One program of a container's text.
fn chosen(programs: Vec<(Stage, Loaded)>, name: &str, which: Option<&str>) -> Result<Loaded, JobError> {
    let list: Vec<String> = programs.iter().enumerate().map(|(i, p)| format!("{i} ({})", p.0.name())).collect();
    let list = list.join(", ");
    let count = programs.len();
    let mut numbered = programs.into_iter().enumerate();
    let found = match which {
        Some(which) => numbered.find(|(i, p)| p.0.name() == which || i.to_string() == which),
        None => numbered.next().filter(|_| count == 1),
    };
    match (found, which) {
        (Some((_, (_, loaded))), _) => Ok(loaded),
        (None, _) if count == 0 => Err(wrong("no-program", format!("{name} holds no R700 program"))),
        (None, Some(which)) => Err(wrong("no-program", format!("{name} has no program `{which}`; it holds {list}"))),
        (None, None) => {
            Err(wrong("which-program", format!("{name} holds {count} programs, {list}; choose one with --program")))
        }
    }
}

fn from_container(container: &Container, name: &str, which: Option<&str>) -> Result<(usize, Program), JobError> {
    let entries = container.programs().map_err(|e| wrong(e.name(), format!("{name}: {e}")))?;
    let list: Vec<String> = entries.iter().map(|e| format!("{} ({})", e.index, e.name)).collect();
    let list = list.join(", ");
    let found = match which {
        Some(which) => entries.iter().find(|e| e.name == which || e.index.to_string() == which),
        None if entries.len() == 1 => entries.first(),
        None => None,
    };
    match (found, which) {
        (Some(entry), _) => Ok((entry.index, entry.code.program())),
        (None, _) if entries.is_empty() => Err(wrong("no-program", format!("{name} holds no R700 program"))),
        (None, Some(which)) => Err(wrong("no-program", format!("{name} has no program `{which}`; it holds {list}"))),
        (None, None) => Err(wrong(
            "which-program",
            format!("{name} holds {} programs, {list}; choose one with --program", entries.len()),
        )),
    }
}

/// The containers that programs can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerKind {
    /// A GFD container (`.gsh`).
    Gfd,
    /// An image of the Compute Abstraction Layer (`.cal`).
    Cal,
    /// An object as LLVM makes it (`.o`).
    Llvm,
}

impl ContainerKind {
    /// The kind of a file by its extension.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "gsh" => Some(Self::Gfd),
            "cal" => Some(Self::Cal),
            "o" => Some(Self::Llvm),
            _ => None,
        }
    }
}

/// The bytes of a container with these programs, for RV770. Each comes with a name: the function's, where the container has names.
/// [`write_gfd`] lists the parts of GFD containers besides the words; the others have registers for a program's count of GPRs and stack entries, and
/// for the exports of a pixel program.
///
/// # Errors
/// The container has no place for a program of this stage, for one that does not begin in slot 0, or for this number of programs; invalid settings.
pub fn write_container(programs: &[(&str, &Loaded)], kind: ContainerKind) -> Result<Vec<u8>, JobError> {
    let image = |e: ImageError| wrong(e.name(), e.to_string());
    let code = |program: &Program| -> Result<ExtractedProgram, ImageError> {
        let stage = stored_stage(program)?;
        Ok(ExtractedProgram { stage, words: program.words.clone(), registers: registers_of(program, stage) })
    };
    match (kind, programs) {
        (ContainerKind::Gfd, _) => write_gfd(&programs.iter().map(|p| p.1).collect::<Vec<_>>()),
        (ContainerKind::Llvm, [(name, loaded)]) => {
            code(&loaded.program).and_then(|code| llvm_elf::build(llvm_elf::Mach::Rv770, name, &code)).map_err(image)
        }
        (ContainerKind::Cal, [(_, loaded)]) => code(&loaded.program).and_then(|code| write_cal(&code)).map_err(image),
        (ContainerKind::Llvm | ContainerKind::Cal, _) => {
            let message = format!(
                "{} programs are given, and only GFD containers (.gsh) are written with several",
                programs.len()
            );
            Err(wrong("one-program", message))
        }
    }
}

/// The parts of a listing that its words do not hold and that the file has no place for: settings, unless it is a GFD container, and names.
#[must_use]
pub fn not_stored(loaded: &Loaded, is_gfd: bool) -> Vec<Report> {
    let mut lost = Vec::new();
    if let (Some(first), false) = (loaded.program.settings.first(), is_gfd) {
        let count = loaded.program.settings.len();
        let message = format!("{count} settings (`; $NAME = value`) have no place in such a file and are left out");
        let finding = Diagnostic::warning("dropped-settings", message).at(first.span, "the first is here");
        lost.push(finding.help("a GFD container (.gsh) holds them"));
    }
    if let (Some(first), true) = (loaded.program.symbols.first(), is_gfd) {
        let message = format!("names such as `{}` are not stored in the container", first.name);
        let help = "`; $SAMPLER_VARS[0].name = \"map\"` and its relatives name what hosts bind";
        lost.push(Diagnostic::new(Severity::Note, "dropped-names", message).help(help));
    }
    lost.into_iter().map(|diagnostic| Report { diagnostic, source: loaded.source.clone() }).collect()
}

fn write_cal(code: &ExtractedProgram) -> Result<Vec<u8>, ImageError> {
    let Some(program_type) = cal::ProgramType::ALL.iter().find(|t| t.info() == code.stage) else {
        return Err(unstorable(format!("CAL images have no type for {} programs", code.stage.name())));
    };
    let pairs = code.registers.iter().flat_map(|r| [r.address / 4, r.value]).collect();
    Ok(cal::build(&[cal::Encoding {
        machine: cal::EncodingMachine::Rv770.code(),
        program_type: program_type.code(),
        notes: vec![cal::NoteWords { kind: cal::NoteKind::ProgInfo.code(), words: pairs }],
        text: code.words.iter().flat_map(|w| w.to_le_bytes()).collect(),
        data: vec![0; usize::try_from(cal::DATA_BYTES).unwrap_or_default()],
        symbols: Vec::new(),
    }]))
}

fn unstorable(message: String) -> ImageError {
    ImageError::Unstorable { what: "the program", message }
}

/// The stage by which containers know a program.
fn stored_stage(program: &Program) -> Result<CodeStage, ImageError> {
    if program.entry != 0 {
        return Err(unstorable(format!("it begins in slot {}, programs of containers begin in slot 0", program.entry)));
    }
    Ok(match program.stage.unwrap_or(Stage::Pixel) {
        Stage::Pixel => CodeStage::Pixel,
        // The container has no mark of a program in front of a geometry program.
        Stage::Vertex | Stage::Export => CodeStage::Vertex,
        Stage::Geometry => CodeStage::Geometry,
        Stage::Fetch => CodeStage::Fetch,
        Stage::Copy => CodeStage::Copy,
        Stage::Compute => CodeStage::Compute,
    })
}

/// The needs of a program, as registers.
fn registers_of(program: &Program, stage: CodeStage) -> Vec<RegisterValue> {
    let resources = u32::from(program.gprs) | u32::from(program.stack) << 8;
    let mut out: Vec<RegisterValue> = Vec::new();
    let mut set = |name: &str, value: u32| {
        out.extend(registers::address(name).map(|address| RegisterValue { address, value }));
    };
    match stage {
        CodeStage::Pixel => {
            set("SQ_PGM_RESOURCES_PS", resources);
            let (mut colours, mut depth) = (0u32, 0u32);
            for target in exports(program) {
                match target {
                    Target::Pixel(n) => colours = colours.max(u32::from(n) + 1),
                    Target::Depth => depth = 1,
                    Target::Position(_) | Target::Parameter(_) => {}
                }
            }
            set("SQ_PGM_EXPORTS_PS", colours << 1 | depth);
        }
        CodeStage::Vertex | CodeStage::Copy => set("SQ_PGM_RESOURCES_VS", resources),
        CodeStage::Geometry => set("SQ_PGM_RESOURCES_GS", resources),
        CodeStage::Fetch => set("SQ_PGM_RESOURCES_FS", resources),
        CodeStage::Compute => {
            // The mark of compute programs in LLVM's objects.
            set("SQ_PGM_RESOURCES_VS", resources);
            set("SQ_LDS_ALLOC", 0);
        }
    }
    out
}

/// Every export that a program makes.
pub fn exports(program: &Program) -> impl Iterator<Item = Target> {
    program.decode().entries.into_iter().flat_map(|entry| match entry.cf {
        Ok(Cf::Export(export)) => targets(&export).collect::<Vec<_>>(),
        Ok(Cf::Plain(_) | Cf::Alu(_) | Cf::Mem(_)) | Err(_) => Vec::new(),
    })
}

/// The target of an export instruction. Indices that do not exist are left out: they are a fault when they are exported.
pub fn targets(export: &CfExport) -> impl Iterator<Item = Target> + use<> {
    let (kind, first) = (export.kind, u32::from(export.word0.array_base));
    (first..=first + u32::from(export.word1.burst_count)).filter_map(move |n| Target::from_fields(kind, n).ok())
}

/// Whether a program writes memories that other threads may write, too, or emits vertices.
#[must_use]
pub fn uses_memory(program: &Program) -> bool {
    let uses = uses::Uses::of(&program.decode());
    !uses.spaces.is_empty() || uses.emits
}

/// The name of an export: `pix0`, `depth`, `pos0`, `param0`.
#[must_use]
pub fn target_name(target: Target) -> String {
    match target {
        Target::Pixel(n) => format!("pix{n}"),
        Target::Depth => "depth".to_owned(),
        Target::Position(n) => format!("pos{n}"),
        Target::Parameter(n) => format!("param{n}"),
    }
}

/// The export of a name, as [`target_name`] gives it.
///
/// ```
/// use ctm_exec::r700::Target;
/// use ctm_files::r700::{target_name, target_named};
///
/// assert!(Target::all().all(|target| target_named(&target_name(target)) == Some(target)));
/// assert_eq!([target_named("pix8"), target_named("pix07"), target_named("pos")], [None; 3]);
/// ```
#[must_use]
pub fn target_named(name: &str) -> Option<Target> {
    let number = |prefix: &str, count: u8| {
        let digits = name.strip_prefix(prefix)?;
        let is_plain =
            digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits.len() == 1 || !digits.starts_with('0'));
        digits.parse().ok().filter(|&number| is_plain && number < count)
    };
    let pixel = || number("pix", 8).map(Target::Pixel);
    let position = || number("pos", 4).map(Target::Position);
    let parameter = || number("param", 32).map(Target::Parameter);
    (name == "depth").then_some(Target::Depth).or_else(pixel).or_else(position).or_else(parameter)
}
