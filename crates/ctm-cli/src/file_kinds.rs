//! Kinds of files, and the commands that take them: one table.
//!
//! A file is recognised by its first bytes, else by its extension or the keys of a job. A file of no known kind is left to the command.

use ctm::Drawing;
use ctm::job::Job;
use ctm_image::r700::ShaderStage;
use ctm_image::r700::gfd::Gfd;
use std::path::Path;

/// Kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Job,
    DrawJob,
    X1kText,
    Ps3,
    R700Text,
    Words,
    Log,
    Pair,
    CommandBuffer,
    Stream,
    Recording,
    Capture,
    Array,
    Texture,
    Mesh,
}

/// A row of the table.
pub(crate) struct KindRow {
    pub(crate) kind: FileKind,
    /// For a sentence: the file is this.
    pub(crate) what: &'static str,
    /// The commands that take it.
    pub(crate) commands: &'static [&'static str],
    /// The hint; `{}` means the file.
    pub(crate) instead: &'static str,
}

#[rustfmt::skip]
pub(crate) const TABLE: [KindRow; 15] = [
    KindRow { kind: FileKind::Job, what: "a job of `ctm run`",
          commands: &["run", "check", "trace", "why", "profile", "debug", "compare", "reduce", "serve"],
          instead: "`ctm run {}` runs it" },
    KindRow { kind: FileKind::DrawJob, what: "a job of `ctm draw`",
          commands: &["draw", "trace", "why", "profile", "debug", "compare", "reduce", "serve"],
          instead: "`ctm draw {}` draws it, and with --check looks for what does not fit together" },
    KindRow { kind: FileKind::X1kText, what: "an X1K program",
          commands: &["asm", "dis", "emit", "check", "info", "run", "draw", "trace", "why", "profile", "debug", "compare", "reduce", "serve"],
          instead: "`ctm run {} --size 64x64` runs it, `ctm asm {}` assembles it" },
    KindRow { kind: FileKind::Ps3, what: "a ps_3_0 shader",
          commands: &["compile", "dis", "emit", "check", "info", "run", "draw", "trace", "why", "profile", "debug", "compare", "reduce", "serve"],
          instead: "`ctm compile` compiles it" },
    KindRow { kind: FileKind::R700Text, what: "an R700 listing",
          commands: &["asm", "dis", "emit", "check", "info", "run", "draw", "trace", "why", "profile", "debug", "compare", "reduce", "serve"],
          instead: "`ctm asm {}` assembles it, `ctm run {} --size 64x64` runs it" },
    KindRow { kind: FileKind::Words, what: "a program without a text",
          commands: &["dis", "emit", "check", "info", "run", "draw", "trace", "why", "profile", "debug", "compare", "reduce", "serve"],
          instead: "`ctm dis {}` prints it as text" },
    KindRow { kind: FileKind::Log, what: "a log of a driver with programs",
          commands: &["asm", "dis", "emit", "check", "info", "run", "draw", "trace", "why", "profile", "debug", "compare", "reduce", "serve"],
          instead: "`ctm dis {}` prints its program as text" },
    KindRow { kind: FileKind::Pair, what: "a container of a vertex and a pixel program",
          commands: &["draw", "dis", "emit", "check", "info", "trace", "why", "profile", "debug", "compare", "reduce", "serve"],
          instead: "`ctm draw {}` draws with both; `ctm info {}` lists them" },
    KindRow { kind: FileKind::CommandBuffer, what: "a command buffer of the CTM device",
          commands: &["exec", "dis"],
          instead: "`ctm exec {}` runs it, `ctm dis {}` prints it" },
    KindRow { kind: FileKind::Stream, what: "a Radeon's command stream",
          commands: &["pm4"],
          instead: "`ctm pm4 check {}` checks it, `ctm pm4 --help` lists what else there is" },
    KindRow { kind: FileKind::Recording, what: "a recording of devices",
          commands: &["replay", "trace", "why", "profile", "debug", "compare", "serve"],
          instead: "`ctm replay {}` runs it again" },
    KindRow { kind: FileKind::Capture, what: "a capture of a Radeon's driver",
          commands: &["replay", "pm4", "trace", "why", "profile", "debug", "compare", "serve"],
          instead: "`ctm replay {}` draws it, `ctm pm4 dis {}` prints its streams" },
    KindRow { kind: FileKind::Array, what: "an array",
          commands: &["tile", "untile", "compare", "texture"],
          instead: "`ctm run` and `ctm draw` take it as an input: --in NAME={}" },
    KindRow { kind: FileKind::Texture, what: "a texture",
          commands: &["texture", "info", "dis"],
          instead: "`ctm draw` and jobs take it as an input: --in NAME={}; `ctm texture {} -o OUT` converts it" },
    KindRow { kind: FileKind::Mesh, what: "a mesh",
          commands: &[],
          instead: "`ctm draw` takes it beside programs: --mesh {}" },
];

/// Bytes that are read to recognise a kind; jobs and containers are read whole up to this size.
const LOOKED_AT: u64 = 1 << 20;

impl FileKind {
    /// The kind of a file; `None` if it is not recognised, or no regular file.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let bytes = ctm_files::beginning(path, LOOKED_AT)?;
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        Self::of_bytes(&bytes, path).or_else(|| Self::of_extension(&extension, &bytes))
    }

    fn of_bytes(bytes: &[u8], path: &Path) -> Option<Self> {
        use ctm_image::Kind;
        if ctm::trace::Subject::is_recording(path) {
            return Some(Self::Recording);
        }
        if ctm_radeon::capture::is_capture(path) {
            return Some(Self::Capture);
        }
        match ctm_image::identify(bytes) {
            Kind::CtmElf | Kind::Cal | Kind::LlvmR600 | Kind::X1kHex | Kind::R700Hex => Some(Self::Words),
            Kind::X1kDump | Kind::R700Dump => Some(Self::Log),
            Kind::Gfd => Some(of_container(bytes)),
            Kind::Ps3Text | Kind::Ps3Code => Some(Self::Ps3),
            // Texts are distinguished by single words: the extension says more.
            Kind::X1kText | Kind::R700Text | Kind::OtherElf | Kind::Unknown => None,
        }
    }

    fn of_extension(extension: &str, bytes: &[u8]) -> Option<Self> {
        let text = || std::str::from_utf8(bytes).ok();
        match extension {
            "toml" if text().is_some_and(Drawing::is_job) => Some(Self::DrawJob),
            "toml" if text().is_some_and(Job::is_one) => Some(Self::Job),
            "x1k" => Some(Self::X1kText),
            "psh" | "vsh" | "csh" | "r700" => Some(Self::R700Text),
            "cmd" => Some(Self::CommandBuffer),
            "ib" | "pm4" => Some(Self::Stream),
            "obj" | "gltf" | "glb" => Some(Self::Mesh),
            "npy" | "png" | "pfm" => Some(Self::Array),
            "dds" | "ktx2" => Some(Self::Texture),
            _ => None,
        }
    }

    pub(crate) fn row(self) -> &'static KindRow {
        TABLE.iter().find(|row| row.kind == self).unwrap_or(&TABLE[0])
    }
}

/// The kind of a GFD container: textures have no program.
fn of_container(bytes: &[u8]) -> FileKind {
    let Ok(shaders) = Gfd::read(bytes).and_then(|container| container.shaders()) else { return FileKind::Words };
    let has = |stage| shaders.iter().any(|shader| shader.code.stage == stage);
    match shaders.is_empty() {
        true => FileKind::Texture,
        false if has(ShaderStage::Vertex) && has(ShaderStage::Pixel) => FileKind::Pair,
        false => FileKind::Words,
    }
}

/// Whether a file is a container of a vertex and a pixel program.
pub(crate) fn is_pair(path: &Path) -> bool {
    FileKind::of(path) == Some(FileKind::Pair)
}
