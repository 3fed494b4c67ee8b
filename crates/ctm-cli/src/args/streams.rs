//! Command buffers, recordings of them, and a Radeon's driver, which submits its own.

use super::{IsaName, engine};
use clap::Args;
use clap::builder::TypedValueParser;
use ctm::EngineKind;
use ctm_radeon::environment::Chip;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

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
    #[arg(long, value_name = "X,Y")]
    pub(crate) at: Option<String>,
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

/// Wall time; `None`: any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Budget(pub(crate) Option<Duration>);

/// Parses a number of seconds; 0 is any.
pub(crate) fn seconds(text: &str) -> Result<Budget, String> {
    let number: f64 = text.parse().map_err(|_| format!("`{text}` is no number of seconds"))?;
    let time = Duration::try_from_secs_f64(number).map_err(|_| format!("{text} s cannot be waited for"))?;
    Ok(Budget((!time.is_zero()).then_some(time)))
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

pub(crate) fn chip(text: &str) -> Result<Chip, String> {
    let found = Chip::ALL.iter().find(|(_, name)| *name == text).map(|(chip, _)| *chip);
    found.ok_or_else(|| format!("the chips are {}", Chip::ALL.map(|(_, name)| name).join(", ")))
}

/// Run command buffers on a device, without a job
#[derive(Args, Debug)]
#[command(after_help = "\
A place is an arena (gpu, gpub, sys, sysc), an arena and an offset (sys+0x1000), or an address (0x80001000).
Arenas begin at 0x10000000, 0x50000000, 0x80000000 and 0xa0000000. Command buffers are text, as `ctm dis` prints
them, or dwords (.bin). Programs in text (.x1k, .ps, .pso) go to memory as images, all other files as they are.

Examples:
  ctm exec copy.cmd --memory sys=copy.x1k --memory gpu=image.raw --dump gpu+0x100000:65536=out.raw
  ctm exec first.cmd second.bin --memory sys=program.elf --check")]
pub(crate) struct ExecArgs {
    /// The command buffers, one after the other; - is stdin
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Put a file into memory first: PLACE=FILE
    #[arg(long, value_name = "PLACE=FILE", value_parser = crate::exec::load)]
    pub(crate) memory: Vec<crate::exec::MemoryLoad>,
    /// Save memory afterwards: PLACE:BYTES=FILE
    #[arg(long, value_name = "PLACE:BYTES=FILE", value_parser = crate::exec::dump)]
    pub(crate) dump: Vec<crate::exec::Dump>,
    /// Where the command buffers lie
    #[arg(long, value_name = "PLACE", default_value = "sysc", value_parser = crate::exec::place)]
    pub(crate) at: crate::exec::MemoryPlace,
    /// The device: x1k (the default) or r700
    #[arg(long, value_enum, value_name = "ISA")]
    pub(crate) isa: Option<IsaName>,
    /// The engine: interp, jit or verify
    #[arg(long, value_name = "ENGINE", value_parser = engine)]
    pub(crate) engine: Option<EngineKind>,
    /// Look for mistakes in commands and programs; caches are modelled
    #[arg(long)]
    pub(crate) check: bool,
    /// Print results as JSON to stdout, a line for each buffer and finding
    #[arg(long)]
    pub(crate) json: bool,
}
