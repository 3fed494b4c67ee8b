//! Command buffers, recordings of them, and a Radeon's driver, which submits its own.

use crate::ranges;
use crate::values::{Budget, engine, seconds};
use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
use ctm::EngineKind;
use ctm_radeon::environment::Chip;
use std::ffi::OsString;
use std::path::PathBuf;

/// Run a recording again and compare, or draw a capture
///
/// Every submission of the recorded process runs again, and memory is compared with the process's after each. The environment
/// variable CTM_RECORD=FILE makes a recording of any process that uses the library, `ctm run` too. A capture of a Radeon's driver is drawn instead.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  CTM_RECORD=trace ctm run job.toml    records
  ctm replay trace                     runs it again, on the engine that was recorded
  ctm replay trace --engine verify     on two engines, compared with each other too
  ctm replay trace --check             looks for mistakes in commands and programs
  ctm replay x.capture --list          a driver's capture: its draws, with what changed before each
  ctm replay x.capture --draw 7 -o at7 stops behind draw 7 and saves every bound target
  ctm replay x.capture --funnel        where primitives and pixels of each draw ended, and the registers that decide
  ctm replay x.capture --at 35,22      what every draw did to a pixel; with --draw 7 only that draw

Exit codes: 0 everything is as recorded, 1 the file is damaged or no recording, 3 a draw of a capture went wrong, 4 something differs.")]
pub(crate) struct ReplayArgs {
    /// The recording or the capture
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The engine: interp, jit or verify; without it, the one that was recorded
    #[arg(long, value_name = "ENGINE", value_parser = engine)]
    pub(crate) engine: Option<EngineKind>,
    /// Look for mistakes while running; for a capture also the findings of `ctm pm4 check`
    #[arg(long)]
    pub(crate) check: bool,
    /// Worker threads; 0: one per core
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=1024).map(usize::from))]
    pub(crate) threads: Option<usize>,
    /// Print results as JSON to stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Do not show progress
    #[arg(long)]
    pub(crate) no_progress: bool,
    /// Of a capture: stop after this draw, counted from 1
    #[arg(long, value_name = "N")]
    pub(crate) draw: Option<u32>,
    /// Of a capture: print the fragments of a pixel (column, row from the top of the picture) in each draw, or in that of --draw
    #[arg(long, visible_alias = "history", value_name = "X,Y")]
    pub(crate) at: Option<String>,
    /// Of a capture: print why nothing is drawn: of each draw, or of that of --draw, where primitives and pixels ended, and the registers that decide
    #[arg(long)]
    pub(crate) funnel: bool,
    /// Of a capture: wall time that all draws together may take, in seconds; 0: any
    #[arg(long, value_name = "S", default_value = "30", value_parser = seconds)]
    pub(crate) budget_seconds: Budget,
    /// Of a capture: list the draws with the registers that changed
    #[arg(long)]
    pub(crate) list: bool,
    /// Of a capture: the folder that the bound targets are saved in
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// Run a program that finds a Radeon
///
/// The program runs with a preloaded library, in which the render node of a Radeon appears: drivers (Mesa's r600 or r300) find it as they find a card.
/// Programs without a window work: surfaceless EGL, and GBM on /dev/dri/renderD128. The exit code is the program's. Linux only.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm radeon -- eglinfo -B
  ctm radeon --stats -- wflinfo --platform surfaceless_egl --api gl --profile core
  ctm radeon --capture captures -- ./program      every submission with its buffers, a file for each process
  ctm radeon --frames frames -- kmscube -c 60    every picture on the card's display as a PNG file
  ctm radeon --show -- kmscube -c 600            the card's display in a window
  ctm radeon --chip rv530 -- ./program            an R500, with Mesa's r300
  ctm radeon --no-execute --chip r580 -- ./program    compiles only

docs/radeon.md describes environment variables, captures and what is executed.")]
pub(crate) struct RadeonArgs {
    /// Write a capture of each process into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) capture: Option<PathBuf>,
    /// Write each picture that the program shows on the card's display into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) frames: Option<PathBuf>,
    /// Show the pictures on the card's display in a window (X11), 60 a second at most: `s` saves one, `q` ends the program
    #[arg(long)]
    pub(crate) show: bool,
    /// Check submissions, and the behaviour of their programs
    #[arg(long)]
    pub(crate) check: bool,
    /// Print each process's totals when it ends
    #[arg(long)]
    pub(crate) stats: bool,
    /// The engine that runs programs: interp, jit or verify
    #[arg(long, value_name = "ENGINE", value_parser = engine)]
    pub(crate) engine: Option<EngineKind>,
    /// Take submissions and do nothing with them
    #[arg(long)]
    pub(crate) no_execute: bool,
    /// The chip that drivers see: rv770, rv530 or r580
    #[arg(long, value_name = "CHIP", default_value = "rv770", value_parser = chip)]
    pub(crate) chip: Chip,
    /// The library, where it is not beside this program or in ../lib
    #[arg(long, value_name = "FILE")]
    pub(crate) library: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

fn chip(text: &str) -> Result<Chip, String> {
    let found = Chip::ALL.iter().find(|(_, name)| *name == text).map(|(chip, _)| *chip);
    found.ok_or_else(|| format!("the chips are {}", Chip::ALL.map(|(_, name)| name).join(", ")))
}

/// The action on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Action {
    /// Words to text
    Dis,
    /// Text to words
    Asm,
    /// Look for mistakes
    Check,
    /// Execute a stream with absolute addresses on a memory image
    Run,
}

/// Print, assemble, check and run command streams of Radeons
///
/// A stream is a file of words (4 bytes each, or hexadecimal text), a text that `ctm pm4 dis` wrote, or a capture with many of them.
/// `run` executes a stream of a program on the bare chip, which has absolute addresses and no relocations, on memory that --mem gives.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  ctm pm4 dis stream.ib                  every packet and register by name
  ctm pm4 dis trace.capture --submission 3
  ctm pm4 dis stream.ib -o stream.pm4 && ctm pm4 asm stream.pm4 -o again.ib     the same words again
  ctm pm4 dis --chip rv530 stream.ib     of an R500; captures say which chip they are of
  ctm pm4 check trace.capture            what the kernel refuses, and what does not fit together
  ctm pm4 check --rules                  every rule
  ctm pm4 check --absolute x.ib          without the kernel's rules and without relocations
  ctm pm4 run x.ib --mem 0x100000=vs.bin --mem 0x200000:65536 --dump 0x200000:64x64:rgba8=out.png --dump 0x300000:16

An address is decimal or 0x...; memory is 0 where no file fills it. Files for --mem: bytes as they are, .hex (words as text), or R700 programs as
text (.vsh, .psh, .gsh), which become their words. Formats of --dump: u8, u32, i32, f32, rgba8, bgra8, rgba32f.

Exit codes: 0 done, 1 the file is wrong or something was found, 3 a packet or a draw of `run` went wrong.")]
pub(crate) struct Pm4Args {
    /// The action
    pub(crate) action: Action,
    /// Words, text or a capture; - for stdin
    #[arg(value_name = "FILE", required_unless_present = "rules")]
    pub(crate) file: Option<PathBuf>,
    /// Where text or words go, instead of stdout; of `run`: the folder that the targets bound last are saved in
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// The chip of a stream that is no capture: rv770, rv530 or r580
    #[arg(long, value_name = "CHIP", default_value = "rv770", value_parser = chip)]
    pub(crate) chip: Chip,
    /// Only this submission of a capture, counted from 0
    #[arg(long, value_name = "N")]
    pub(crate) submission: Option<u64>,
    /// Addresses are absolute and there is no kernel: check without relocations
    #[arg(long)]
    pub(crate) absolute: bool,
    /// Words of the file have their high byte first
    #[arg(long)]
    pub(crate) big_endian: bool,
    /// Memory for run, or for check --absolute: a file at an address, a number of zero bytes, or both
    #[arg(long, value_name = "ADDRESS[:BYTES][=FILE]", value_parser = ranges::memory)]
    pub(crate) mem: Vec<ranges::Range>,
    /// After run: memory as text, or in a file: raw, .hex, or with a format .npy and .png
    #[arg(long, value_name = "ADDRESS:BYTES[=FILE] or ADDRESS:WxH[/PITCH]:FORMAT[=FILE]", value_parser = ranges::dump)]
    pub(crate) dump: Vec<ranges::Dump>,
    /// The engine of run: interp, jit or verify
    #[arg(long, value_name = "ENGINE", value_parser = engine)]
    pub(crate) engine: Option<EngineKind>,
    /// Wall time that all draws of run together may take, in seconds; 0: any
    #[arg(long, value_name = "S", default_value = "30", value_parser = seconds)]
    pub(crate) budget_seconds: Budget,
    /// Findings as JSON, one a line
    #[arg(long)]
    pub(crate) json: bool,
    /// List the rules of check
    #[arg(long)]
    pub(crate) rules: bool,
}
