//! Every subcommand and option. Help, completions and manual pages come from here.

pub(crate) mod bench;
pub(crate) mod jobs;
pub(crate) mod programs;
pub(crate) mod streams;

use crate::values::When;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

use bench::BenchArgs;
use jobs::{DrawArgs, MergeArgs, RunArgs};
use programs::{AsmArgs, CheckArgs, CompileArgs, DisArgs, EmitArgs, GlslArgs, InfoArgs, IsaArgs};
use streams::{Pm4Args, RadeonArgs, ReplayArgs};

/// ATI's Close To the Metal device in software
///
/// Assembles, disassembles, checks and runs X1K (R5xx) and R700 programs, without a card.
#[derive(Debug, Parser)]
#[command(
    name = "ctm",
    version,
    propagate_version = true,
    max_term_width = 110,
    after_help = "\
Examples:
  ctm run gradient.x1k --size 64x64 --out o0=gradient.png
  ctm run job.toml --stats
  ctm asm gradient.x1k -o gradient.elf
  ctm dis gradient.elf
  ctm check *.x1k
  ctm isa mad

Exit codes: 0 done, 1 the program or job is wrong, 2 usage, 3 a fault while running, 4 a replay or a comparison gives something else, 130 ended by Ctrl-C."
)]
pub(crate) struct Cli {
    /// When to colour messages
    #[arg(long, global = true, value_enum, default_value_t = When::Auto, value_name = "WHEN", hide_possible_values = true)]
    pub(crate) color: When,
    /// Do not say which files were written, which is said when stderr is a terminal
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say which files were written, their sizes, and how long it took, also when stderr is no terminal
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Asm(AsmArgs),
    Compile(CompileArgs),
    Dis(DisArgs),
    Emit(EmitArgs),
    Check(CheckArgs),
    Run(RunArgs),
    Merge(MergeArgs),
    Draw(Box<DrawArgs>),
    Exec(crate::exec::ExecArgs),
    Replay(ReplayArgs),
    Radeon(RadeonArgs),
    Glsl(GlslArgs),
    Pm4(Pm4Args),
    Trace(crate::trace::TraceArgs),
    Why(crate::trace::WhyArgs),
    Profile(crate::profile::ProfileArgs),
    Debug(crate::debug::DebugArgs),
    Compare(crate::compare::CompareArgs),
    Reduce(crate::reduce::ReduceArgs),
    Random(crate::random::RandomArgs),
    Lsp(crate::ide::LspArgs),
    Dap(crate::ide::DapArgs),
    Serve(crate::ide::ServeArgs),
    Isa(IsaArgs),
    Info(InfoArgs),
    Texture(crate::texture::TextureArgs),
    Bench(BenchArgs),
    /// Put an array into the device's tiled order
    #[command(after_help = "\
Examples:
  ctm tile image.npy image.raw --format float32_4
  ctm tile image.raw tiled.raw --size 100x60 --format uint8_4
  ctm tile photo.png surface.raw --isa r700 --pipes 2")]
    Tile(TileArgs),
    /// Put an array in the device's tiled order back into rows
    #[command(after_help = "\
Examples:
  ctm untile tiled.raw image.npy --size 100x60 --format float32_4
  ctm untile tiled.raw image.png --size 100x60 --format uint8_4
  ctm untile surface.raw photo.png --isa r700 --pipes 2 --size 640x480 --element 4")]
    Untile(TileArgs),
    /// Print completions for a shell
    #[command(after_help = "\
Examples:
  ctm completions bash > ~/.local/share/bash-completion/completions/ctm
  ctm completions fish > ~/.config/fish/completions/ctm.fish")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write one page per subcommand
    #[command(after_help = "\
Examples:
  ctm man | man -l -
  ctm man ~/.local/share/man/man1")]
    Man {
        /// Where the pages go; without it the page of `ctm` is printed
        directory: Option<PathBuf>,
    },
}

#[derive(Args, Debug)]
pub(crate) struct TileArgs {
    /// The array: .npy, .png, .pfm, or .raw
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// Where it goes
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// Columns and rows; needed for .raw files
    #[arg(long, value_name = "WxH")]
    pub(crate) size: Option<String>,
    /// The element format: uint16_1, uint8_4, float32_1, float32_2, float32_4
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// x1k (so it is): the order of the X1K's device; r700: surfaces of R6xx and R7xx
    #[arg(long, value_name = "ISA")]
    pub(crate) isa: Option<String>,
    /// r700: linear, 1d (1D_TILED_THIN1) or 2d (2D_TILED_THIN1, so it is); surfaces too small for 2D tiles have 1D tiles
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<String>,
    /// r700: bytes of an element, a texel or a compressed block: 1, 2, 4, 8 or 16
    #[arg(long, value_name = "BYTES")]
    pub(crate) element: Option<u32>,
    /// r700: pipes of the chip: 1, 2, 4 or 8 [default: 1; the console has 2]
    #[arg(long, value_name = "N")]
    pub(crate) pipes: Option<u32>,
    /// r700: banks of the memory: 4 or 8 [default: 4]
    #[arg(long, value_name = "N")]
    pub(crate) banks: Option<u32>,
    /// r700: the surface's pipe plus pipes times its bank
    #[arg(long, value_name = "N")]
    pub(crate) swizzle: Option<u32>,
    /// r700: elements have the order of depth surfaces
    #[arg(long)]
    pub(crate) depth_order: bool,
}
