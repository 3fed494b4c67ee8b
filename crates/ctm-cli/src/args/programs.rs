//! Programs: made of text and of shaders, printed, checked and described; and the manual.

use crate::values::{IsaName, ProgramIsa};
use clap::Args;
use std::path::PathBuf;

/// Assemble programs
///
/// Without -o the image goes beside the text, with the extension .elf.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm asm fill.x1k                   writes fill.elf
  ctm asm fill.x1k -o fill.hex       six words a line
  ctm asm fill.x1k -o -              the words to stdout
  ctm asm shader.psh -o shader.gsh   R700: a GFD container; .cal, .o, .hex and .bin as well
  ctm asm a.vsh a.psh -o a.gsh       a container of several programs
  ctm asm new.psh --into a.gsh       the pixel program of a container replaced
  ctm dis a.gsh -o a.txt && ctm asm a.txt -o b.gsh    a whole container as text, and the same bytes again
  ctm asm --explain fill.x1k         what the assembler worked out
  ctm asm *.x1k                      each beside its text")]
pub(crate) struct AsmArgs {
    /// Program texts; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Where the program goes: .elf, .hex or .bin; R700: .hex, .bin, .gsh (GFD), .cal (CAL image), .o (LLVM's ELF); `-` prints words. Only with one FILE, but several R700 programs can go into one .gsh
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// A GFD container in which the program takes the place of that of its stage; -o leaves the container alone and writes another
    #[arg(long, value_name = "CONTAINER")]
    pub(crate) into: Option<PathBuf>,
    /// Which program of the container --into, of a container's text, or of a driver's log, by number or name
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) program: Option<String>,
    /// Print the bits that the assembler derived for each instruction (X1K)
    #[arg(long)]
    pub(crate) explain: bool,
    /// Make two groups of one whose operands find no read ports, where the result is the same (R700)
    #[arg(long)]
    pub(crate) split_groups: bool,
    /// Print findings as JSON, one object a line, to stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// The instruction set, where a file does not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<ProgramIsa>,
}

/// Compile Direct3D ps_3_0 assembly
///
/// Without -o the image goes beside the shader, with the extension .elf. A job takes a .ps file as its program, too.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm compile shader.ps                  writes shader.elf
  ctm compile shader.ps -o shader.x1k    X1K assembly, to read and to change
  ctm compile shader.ps -o -             the same to stdout
  ctm compile shader.ps -o shader.hex    six words a line
  ctm compile shader.ps && ctm check shader.elf && ctm run shader.elf --size 64x64 --out o0=out.png")]
pub(crate) struct CompileArgs {
    /// Shaders; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Where the program goes: .elf, .x1k, .hex or .bin; `-` prints X1K assembly. Only with one FILE
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Coordinates of lookups go from 0 to 1; otherwise they count elements, as the device's clients expect
    #[arg(long)]
    pub(crate) normalized: bool,
    /// Zero times infinity or NaN is NaN; otherwise it is zero, as in Direct3D 9
    #[arg(long)]
    pub(crate) ieee: bool,
    /// Print findings as JSON, one object a line, to stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print a program or a command buffer as text
///
/// The output assembles to the same words.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm dis fill.elf
  ctm dis fill.hex -o fill.x1k
  ctm dis --isa pvs vertex.hex -o vertex.pvs
  ctm dis shader.gsh --program 0     one of a container's R700 programs
  ctm dis r600.log                   what R600_DEBUG=ps,vs or RADEON_DEBUG=fp printed, by its words
  ctm dis words.bin --big-endian     words with their bytes in the other order
  ctm dis commands.cmd               a command buffer (ctm run --dump-commands commands.cmd)")]
pub(crate) struct DisArgs {
    /// A program (.elf, .hex, .bin, .x1k; R700: .hex, .o, .gsh, CAL images) or a command buffer (.cmd); `-` is stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Where the text goes, instead of stdout
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Give the assembler's choice in comments, where the words differ from it
    #[arg(long)]
    pub(crate) explain: bool,
    /// Repeat the words of each instruction in a comment (X1K)
    #[arg(long)]
    pub(crate) words: bool,
    /// Which program of a container or of a driver's log, by number or name (`ctm info` lists them)
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) program: Option<String>,
    /// The bytes of each word of a .hex or .bin file are in the other order
    #[arg(long)]
    pub(crate) big_endian: bool,
    /// The instruction set, where the file does not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<ProgramIsa>,
}

/// Print a program after a stage of the engine's compiler
///
/// The program is compiled as for a first launch with the constants that it brings along, the index pair in register 0, and no counters. `CTM_DUMP` prints stages of any run.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm emit mandelbrot.x1k --stage masks       micro-operations, with known masks simplified
  ctm emit shader.psh --stage selected        vector instructions before registers are given out
  ctm emit fill.elf --stage allocated --target avx2
  ctm emit fill.elf --stage code              machine code: as bytes, or disassembled where ctm was built with iced-x86")]
pub(crate) struct EmitArgs {
    /// A program (.elf, .hex, .bin, .x1k, .ps; R700: .psh, .vsh, .gsh, .hex, .o, CAL images); `-` is stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The stage whose result is printed
    #[arg(long, value_name = "STAGE", default_value = "masks", value_parser = clap::builder::PossibleValuesParser::new(ctm_jit::Stage::ALL.iter().map(|stage| stage.result())))]
    pub(crate) stage: String,
    /// The back end that code is made for, which need not run here; without it that of this machine
    #[arg(long, value_name = "TARGET", value_parser = clap::builder::PossibleValuesParser::new(ctm_jit::Backend::ALL.map(ctm_jit::Backend::name)))]
    pub(crate) target: Option<String>,
    /// Where the text goes, instead of stdout
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Which program of a container or of a driver's log, by number or name (`ctm info` lists them)
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) program: Option<String>,
    /// The instruction set, where the file does not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
}

/// Check programs against the rules of the manual, and jobs
///
/// A job is checked as far as possible without running it: keys, programs, arrays, and the files that it writes.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm check fill.x1k
  ctm check --allow unused-result --allow dead-code *.elf
  ctm check --json fill.hex
  ctm check shader.gsh               every program of a container
  ctm check job.toml                 what a run would find before it begins
  ctm check --rules")]
pub(crate) struct CheckArgs {
    /// Programs and jobs (.toml); `-` is stdin
    #[arg(required_unless_present = "rules", value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Leave a rule out; may be given several times
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Print findings as JSON, one object a line, to stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// End with exit code 1 for warnings too
    #[arg(long)]
    pub(crate) strict: bool,
    /// List the rules; with --isa r700 or pvs those of such programs
    #[arg(long)]
    pub(crate) rules: bool,
    /// Which program of a container or of a driver's log, by number or name; all R700 programs when left out
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) program: Option<String>,
    /// The bytes of each word of a .hex or .bin file are in the other order
    #[arg(long)]
    pub(crate) big_endian: bool,
    /// The instruction set, where a file does not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<ProgramIsa>,
}

/// Make R700 or X1K programs of GLSL, by the installed Mesa
///
/// The driver compiles and draws the pair once in a process in which a Radeon appears, and programs, registers and bindings are taken from its
/// stream. R700: textures and constants have the numbers that a console's programs have. X1K: the pixel program alone, of shaders up to version 120,
/// with the names of samplers and uniforms.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm glsl shader.vert shader.frag -o pair.gsh
  ctm draw pair.gsh --mesh cube -o cube.png
  ctm glsl shader.vert shader.frag -o pixel.hex     the words of the pixel program
  ctm glsl shader.vert shader.frag -o job.toml      a job of `ctm draw`, and the container beside it
  ctm glsl shader.vert shader.frag -o - | less      both as text
  ctm glsl shader.vert shader.frag --isa x1k -o job.toml      a job of `ctm draw`, and both programs beside it")]
pub(crate) struct GlslArgs {
    /// The vertex shader
    #[arg(value_name = "VERTEX")]
    pub(crate) vertex: PathBuf,
    /// The fragment shader
    #[arg(value_name = "FRAGMENT")]
    pub(crate) fragment: PathBuf,
    /// Where the programs go: .gsh, .hex (the pixel program) or .toml (a job, with a container beside it); `-` prints both as text. X1K: .x1k (text), .hex,
    /// .bin, .elf or .toml
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The instruction set
    #[arg(long, value_enum, value_name = "ISA", default_value = "r700")]
    pub(crate) isa: IsaName,
    /// The preloaded library, where it is not beside this program or in ../lib
    #[arg(long, value_name = "FILE")]
    pub(crate) library: Option<PathBuf>,
    /// Be the client that the driver compiles for
    #[arg(long, hide = true)]
    pub(crate) client: bool,
}

/// The manual on the command line
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm isa                  what there is
  ctm isa mad              an operation
  ctm isa x1k US_CMN_INST  a word")]
pub(crate) struct IsaArgs {
    /// One JSON object per line for everything that has the name; without a name, one for each instruction set
    #[arg(long)]
    pub(crate) json: bool,
    /// An operation, word, field or command; with x1k, r700 or pvs in front where several have it
    #[arg(value_name = "TOPIC")]
    pub(crate) topic: Vec<String>,
}

/// Describe a file that holds a program
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm info fill.elf
  ctm info --json fill.hex")]
pub(crate) struct InfoArgs {
    /// Files; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Print one JSON object a file
    #[arg(long)]
    pub(crate) json: bool,
    /// The bytes of each word of a .hex or .bin file are in the other order
    #[arg(long)]
    pub(crate) big_endian: bool,
    /// The instruction set, where a file does not say which
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
}
