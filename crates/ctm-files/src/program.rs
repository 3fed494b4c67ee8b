//! Programs of either instruction set: text or a file's bytes, words, listing, findings.

use crate::error::JobError;
use crate::kinds::FileKind;
use crate::load::{Isa, Loaded, not_foreign, read_file};
use crate::r700;
use crate::r700::gfd;
use crate::r700::uniform::UniformPlace;
use crate::render::{Report, Source};
use ctm_image::{ByteOrder, ImageError, ctm_elf, hex};
use ctm_isa::diag::Diagnostic;
use ctm_isa::r700::text::TextOptions;
use ctm_isa::x1k::program::{SymbolKind, Usage};
use ctm_isa::{r700 as r700_isa, x1k};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// A program, and the text it came from. Clones are cheap.
///
/// ```
/// use ctm_files::{Isa, Program};
///
/// let program = Program::assemble(".output o = o0\nmov o, 1")?;
/// assert_eq!((program.isa(), program.instructions()), (Isa::X1k, 1));
/// assert!(program.check().is_empty());
///
/// let wrong = Program::assemble_for(Isa::X1k, "mvo o0, 1").expect_err("there is no MVO");
/// assert_eq!(wrong.findings()[0].diagnostic.rule, "mnemonic");
///
/// let glsl = Program::assemble("#version 330\nout vec4 c;\nvoid main() { c = vec4(1.0); }").expect_err("it is GLSL");
/// assert_eq!(glsl.findings()[0].diagnostic.rule, "foreign-language");
/// assert!(glsl.findings()[0].diagnostic.message.contains("`ctm glsl`"));
/// # Ok::<(), ctm_files::JobError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Program {
    code: Code,
    /// Its source bytes.
    bytes: Arc<[u8]>,
    name: Arc<str>,
    /// Which program of a container it is, by number or name.
    which: Option<Arc<str>>,
    facts: Arc<ProgramFacts>,
}

/// Facts about the program, found when they are first asked for.
#[derive(Debug, Default)]
struct ProgramFacts {
    usage: OnceLock<Usage>,
    interface: OnceLock<r700::Interface>,
    /// X1K: its CTM executable.
    image: OnceLock<Result<Vec<u8>, ImageError>>,
}

/// A program of either instruction set, with the contents of its file.
#[derive(Clone, Debug)]
pub enum Code {
    /// For the X1K.
    X1k(Arc<Loaded>),
    /// For the R700.
    R700(Arc<r700::Loaded>),
}

impl Program {
    /// Assembles a text: X1K assembly, R700 assembly, or Direct3D `ps_3_0` assembly, which is compiled for the X1K. Its keywords decide; where
    /// they do not, [`Self::assemble_for`] takes the language.
    ///
    /// # Errors
    /// Everything that is wrong with the text, each finding with its line and column.
    pub fn assemble(text: &str) -> Result<Self, JobError> {
        use ctm_image::Kind;
        let name = match ctm_image::identify(text.as_bytes()) {
            Kind::R700Text => "program.r700",
            Kind::Ps3Text => "program.ps",
            Kind::X1kHex | Kind::R700Hex => "program.hex",
            Kind::X1kDump | Kind::R700Dump => "program.log",
            _ => "program.x1k",
        };
        let text = if text.is_empty() { "\n" } else { text };
        Self::read(text.as_bytes(), name)
    }

    /// Assembles a text for an instruction set.
    ///
    /// # Errors
    /// As [`Self::assemble`].
    pub fn assemble_for(isa: Isa, text: &str) -> Result<Self, JobError> {
        let name = if isa == Isa::X1k { "program.x1k" } else { "program.r700" };
        let text = if text.is_empty() { "\n" } else { text };
        Self::load(text.as_bytes(), name, Some(isa), None)
    }

    /// Reads a program file's bytes: text, words, CTM executables, containers of R700 programs. `name` is for its extension and for messages.
    ///
    /// # Errors
    /// When they are no program, or a wrong one.
    pub fn read(bytes: &[u8], name: &str) -> Result<Self, JobError> {
        Self::load(bytes, name, None, None)
    }

    /// The same, with choices that the bytes leave open: the instruction set, or which program of a container, by number or name.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn load(bytes: &[u8], name: &str, isa: Option<Isa>, which: Option<&str>) -> Result<Self, JobError> {
        let path = Path::new(name);
        not_foreign(bytes, path, None)?;
        let code = if isa != Some(Isa::X1k) && r700::is_r700(bytes, path, isa) {
            let loaded = r700::Loaded::from_bytes(bytes, path, isa, which, &TextOptions::default());
            Code::R700(Arc::new(loaded.map_err(in_words_of_arguments)?))
        } else {
            Code::X1k(Arc::new(Loaded::choose(bytes, path, isa, which, None)?))
        };
        Ok(Self { bytes: bytes.into(), name: name.into(), which: which.map(Into::into), ..Self::from(code) })
    }

    /// Reads a program file.
    ///
    /// # Errors
    /// When it cannot be read, and as [`Self::read`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, JobError> {
        let path = path.as_ref();
        let bytes = read_file(path, FileKind::Program, None)?;
        Self::read(&bytes, &path.display().to_string())
    }

    /// Its source bytes and name, to read it again elsewhere.
    #[must_use]
    pub fn origin(&self) -> (&[u8], &str) {
        (&self.bytes, &self.name)
    }

    /// The choice of a container's program, by number or name, if there was one.
    #[must_use]
    pub fn which(&self) -> Option<&str> {
        self.which.as_deref()
    }

    /// The program itself.
    #[must_use]
    pub const fn code(&self) -> &Code {
        &self.code
    }

    /// The slots and constants that an X1K program uses; `None` for others.
    #[must_use]
    pub fn usage(&self) -> Option<&Usage> {
        match &self.code {
            Code::X1k(loaded) => Some(self.facts.usage.get_or_init(|| loaded.program.usage())),
            Code::R700(_) => None,
        }
    }

    /// The interface of an R700 program; `None` for others.
    #[must_use]
    pub fn interface(&self) -> Option<&r700::Interface> {
        match &self.code {
            Code::X1k(_) => None,
            Code::R700(loaded) => Some(self.facts.interface.get_or_init(|| r700::Interface::of(&loaded.program))),
        }
    }

    /// The instruction set.
    #[must_use]
    pub fn isa(&self) -> Isa {
        match self.code {
            Code::X1k(_) => Isa::X1k,
            Code::R700(_) => Isa::R700,
        }
    }

    /// The words: six for each instruction of the X1K, two for each slot of the R700.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        match &self.code {
            Code::X1k(loaded) => loaded.program.words.as_flattened().to_vec(),
            Code::R700(loaded) => loaded.program.words.clone(),
        }
    }

    /// Instructions of the X1K, slots of two words of the R700.
    #[must_use]
    pub fn instructions(&self) -> usize {
        match &self.code {
            Code::X1k(loaded) => loaded.program.words.len(),
            Code::R700(loaded) => loaded.program.words.len() / 2,
        }
    }

    /// The program as text that assembles to the same words.
    #[must_use]
    pub fn listing(&self) -> String {
        match &self.code {
            Code::X1k(loaded) => x1k::text::disassemble(&loaded.program, &x1k::text::ListingOptions::default()),
            Code::R700(loaded) => r700_isa::text::disassemble(&loaded.program, &TextOptions::default()),
        }
    }

    /// The text that it came from, if it came from text.
    #[must_use]
    pub fn source(&self) -> Option<&Arc<Source>> {
        match &self.code {
            Code::X1k(loaded) => loaded.source.as_ref(),
            Code::R700(loaded) => loaded.source.as_ref(),
        }
    }

    /// The reports of reading it: warnings and notes.
    #[must_use]
    pub fn warnings(&self) -> &[Report] {
        match &self.code {
            Code::X1k(loaded) => &loaded.reports,
            Code::R700(loaded) => &loaded.reports,
        }
    }

    /// Its findings by the manual's rules (`docs/x1k-checks.md`, `docs/r700-checks.md`).
    #[must_use]
    pub fn check(&self) -> Vec<Report> {
        let found = match &self.code {
            Code::X1k(loaded) => x1k::check::check(&loaded.program),
            Code::R700(loaded) => r700_isa::check::check_allowing(&loaded.program, &[]),
        };
        found.into_iter().map(|diagnostic| Report { diagnostic, source: self.source().cloned() }).collect()
    }

    /// Names of the program's inputs (textures and buffers of the R700) with their registers, `x = s0`: those of its text, and those of the container that it
    /// came from.
    #[must_use]
    pub fn inputs(&self) -> Vec<(String, String)> {
        use r700_isa::program::SymbolKind as Kind;
        match &self.code {
            Code::X1k(_) => self.x1k_names(SymbolKind::Input, 's'),
            Code::R700(_) => self.r700_names(|kind| match kind {
                Kind::Resource => Some("t"),
                Kind::Buffer => Some("b"),
                _ => None,
            }),
        }
    }

    /// Names of the program's outputs with their registers. Outputs without a name go by the register alone.
    #[must_use]
    pub fn outputs(&self) -> Vec<(String, String)> {
        match &self.code {
            Code::X1k(loaded) => {
                let named = self.x1k_names(SymbolKind::Output, 'o');
                let register = |n: &u8| format!("o{n}");
                let all = loaded.program.usage().outputs;
                let name = |r: String| named.iter().find(|n| n.1 == r).cloned().unwrap_or_else(|| (r.clone(), r));
                all.iter().map(register).map(name).collect()
            }
            Code::R700(loaded) => {
                let exports = r700::exports(&loaded.program);
                let mut names: Vec<String> = exports.map(r700::target_name).collect();
                names.sort();
                names.dedup();
                names.into_iter().map(|n| (n.clone(), n)).collect()
            }
        }
    }

    /// Names of the program's floating-point constants with their registers.
    #[must_use]
    pub fn constants(&self) -> Vec<(String, String)> {
        use r700_isa::program::SymbolKind as Kind;
        match &self.code {
            Code::X1k(_) => self.x1k_names(SymbolKind::Float, 'c'),
            Code::R700(loaded) => {
                let mut names = self.r700_names(|kind| match kind {
                    Kind::Constant => Some("C"),
                    Kind::Kcache(0) => Some("KC0:"),
                    Kind::Kcache(_) => Some("KC1:"),
                    _ => None,
                });
                names.extend(gfd::uniforms_of(&loaded.program).into_iter().filter_map(|uniform| match uniform.place {
                    UniformPlace::File(_) => None,
                    UniformPlace::Buffer(bank, first) => Some((uniform.name, format!("cb{bank}[{first}]"))),
                }));
                names
            }
        }
    }

    fn x1k_names(&self, kind: SymbolKind, prefix: char) -> Vec<(String, String)> {
        let Code::X1k(loaded) = &self.code else { return Vec::new() };
        let symbols = loaded.program.symbols.iter().filter(|s| s.kind == kind);
        symbols.map(|s| (s.name.clone(), format!("{prefix}{}", s.index))).collect()
    }

    fn r700_names(
        &self,
        prefix: impl Fn(r700_isa::program::SymbolKind) -> Option<&'static str>,
    ) -> Vec<(String, String)> {
        let Some(interface) = self.interface() else { return Vec::new() };
        let symbols = interface.program.symbols.iter();
        symbols.filter_map(|s| Some((s.name.clone(), format!("{}{}", prefix(s.kind)?, s.index)))).collect()
    }

    /// Whether processors write to elements that are not their own: uncached writes (UMRT) of the X1K, memories of the R700. The results of such a
    /// program depend on all of the domain, so it cannot be cut into parts.
    #[must_use]
    pub fn scatters(&self) -> bool {
        match &self.code {
            Code::X1k(loaded) => loaded.program.uncached,
            Code::R700(loaded) => r700::uses_memory(&loaded.program),
        }
    }

    /// The X1K program, if it is one.
    #[must_use]
    pub fn as_x1k(&self) -> Option<&x1k::Program> {
        match &self.code {
            Code::X1k(loaded) => Some(&loaded.program),
            Code::R700(_) => None,
        }
    }

    /// The R700 program, if it is one.
    #[must_use]
    pub fn as_r700(&self) -> Option<&r700_isa::Program> {
        match &self.code {
            Code::X1k(_) => None,
            Code::R700(loaded) => Some(&loaded.program),
        }
    }

    /// A CTM executable (CTM chapter 4) of an X1K program.
    ///
    /// # Errors
    /// When the image cannot hold it, or it is an R700 program.
    pub fn to_elf(&self) -> Result<Vec<u8>, JobError> {
        self.elf().map(<[u8]>::to_vec)
    }

    /// The same, written once and kept.
    ///
    /// # Errors
    /// As [`Self::to_elf`].
    pub fn elf(&self) -> Result<&[u8], JobError> {
        match &self.code {
            Code::X1k(loaded) => {
                let kept = self.facts.image.get_or_init(|| ctm_elf::write(&loaded.program));
                kept.as_deref().map_err(image)
            }
            Code::R700(_) => {
                let message = "a CTM executable holds an X1K program; R700 programs are written as hex or words";
                Err(JobError::Unsupported(Box::new(Report::bare(Diagnostic::error("wrong-isa", message)))))
            }
        }
    }

    /// The words in hexadecimal, an instruction a line.
    #[must_use]
    pub fn to_hex(&self) -> String {
        match &self.code {
            Code::X1k(loaded) => hex::write(&loaded.program),
            Code::R700(loaded) => hex::write_words(&loaded.program.words, 2),
        }
    }

    /// The words as little-endian bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match &self.code {
            Code::X1k(loaded) => hex::write_binary(&loaded.program),
            Code::R700(loaded) => hex::write_binary_words(&loaded.program.words, ByteOrder::Little),
        }
    }
}

/// A program that has been loaded: it has no file of its own.
impl From<Code> for Program {
    fn from(code: Code) -> Self {
        Self { code, bytes: Arc::default(), name: Arc::default(), which: None, facts: Arc::default() }
    }
}

/// The errors of files are those of the command line, whose flag `--program` is the argument `which` here.
fn in_words_of_arguments(mut error: JobError) -> JobError {
    if let JobError::Wrong(reports) = &mut error {
        for report in reports.iter_mut().filter(|report| report.diagnostic.rule == "which-program") {
            let message = &mut report.diagnostic.message;
            *message =
                message.replace("choose one with --program", "choose one with `which`; a draw takes the whole file");
        }
    }
    error
}

fn image(error: &ImageError) -> JobError {
    JobError::Wrong(vec![Report::bare(Diagnostic::error(error.name(), error.to_string()))])
}
