//! `ctm exec`: command buffers on a device, without a job.

use crate::asm::encode;
use crate::console::{Console, Ending, Exit, Failure, input, input_called, program_bytes};
use crate::values::{IsaName, engine};
use clap::Args;
use ctm::commands;
use ctm::device::{CommandErrorReason, CommandFinding, Device, DeviceOptions, SubmitReport};
use ctm::job::{EngineKind, Isa, JobError, Loaded, text_of};
use ctm::memory::{ArenaId, GpuAddr};
use ctm::render::{Report, Source};
use ctm_files::FileKind;
use ctm_image::ByteOrder;
use ctm_isa::diag::Diagnostic;
use ctm_isa::r700::program::Chip;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
    #[arg(long, value_name = "PLACE=FILE", value_parser = load)]
    pub(crate) memory: Vec<MemoryLoad>,
    /// Save memory afterwards: PLACE:BYTES=FILE
    #[arg(long, value_name = "PLACE:BYTES=FILE", value_parser = dump)]
    pub(crate) dump: Vec<Dump>,
    /// Where the command buffers lie
    #[arg(long, value_name = "PLACE", default_value = "sysc", value_parser = place)]
    pub(crate) at: MemoryPlace,
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

pub(crate) fn run(console: &Console, args: &ExecArgs) -> Ending {
    let mut options = if args.check { DeviceOptions::checked() } else { DeviceOptions::default() };
    if args.isa.map(Isa::from) == Some(Isa::R700) {
        let r700 = DeviceOptions::r700(Chip::Rv770);
        (options.kind, options.chip, options.group) = (r700.kind, r700.chip, r700.group);
    }
    options.counters = args.json;
    let buffers = args.files.iter().map(|file| Ok((file, words(file)?))).collect::<Result<Vec<_>, Failure>>()?;
    let engine = args
        .engine
        .map_or_else(EngineKind::preferred, Ok)
        .map_err(|e| Failure::usage("no-such-engine", e.to_string()))?;
    let engine = engine.engine().map_err(|e| Failure::wrong("no-such-engine", e.to_string()))?;
    let mut device = Device::open(engine, options).map_err(|e| Failure::wrong("no-memory", e.to_string()))?;
    for load in &args.memory {
        let at = load.place.address(&device)?;
        let bytes = contents(&load.file)?;
        let shown = load.file.display();
        device.write(at, &bytes).map_err(|e| Failure::wrong("outside-memory", format!("{shown} does not fit: {e}")))?;
    }
    let mut exit = Exit::Done;
    for (file, words) in &buffers {
        let at = args.at.address(&device)?;
        let shown = file.display();
        device
            .write_dwords(at, words)
            .map_err(|e| Failure::wrong("outside-memory", format!("the command buffer {shown} does not fit: {e}")))?;
        let result = device.submit(at, u32::try_from(words.len()).unwrap_or(u32::MAX));
        tell(console, args, file, device.last_report())?;
        if let Err(error) = result {
            let is_fault = matches!(error.reason, CommandErrorReason::Fault(_));
            let rule = if is_fault { "fault" } else { "bad-command" };
            let report = Report::bare(Diagnostic::error(rule, format!("{shown}: {error}")));
            if args.json {
                console.json(&report)?
            } else {
                console.report(&report)
            }
            exit = if is_fault { Exit::Fault } else { Exit::Wrong };
            break;
        }
    }
    for dump in &args.dump {
        let at = dump.place.address(&device)?;
        let bytes = device
            .read(at, dump.bytes)
            .map_err(|e| Failure::wrong("outside-memory", format!("{} cannot be written: {e}", dump.file.display())))?
            .to_vec();
        console.write(&dump.file, &bytes)?;
    }
    Ok(exit)
}

/// The report of a buffer, and findings of checks.
fn tell(console: &Console, args: &ExecArgs, file: &Path, report: &SubmitReport) -> Result<(), Failure> {
    let shown = file.display();
    let of_command = |f: &CommandFinding| Diagnostic::warning(f.rule, format!("{shown}: {f}"));
    let mut reports: Vec<Report> = report.findings.iter().map(|f| Report::bare(of_command(f))).collect();
    for finding in report.launches.iter().flat_map(|launch| &launch.findings) {
        let message = format!("{shown}: {}", finding.message);
        reports.push(Report::bare(Diagnostic::warning(finding.rule, message).pc(finding.pc)));
    }
    if args.json {
        reports.iter().try_for_each(|report| console.json(report))?;
        let value = json!({
            "file": shown.to_string(),
            "commands": report.commands,
            "launches": report.launches.len(),
            "counters": ctm::job::json::counters(&report.counters()),
        });
        console.print(&format!("{value}\n"))
    } else {
        console.reports(&reports);
        console.print(&format!("{shown}: {} commands, {} launches\n", report.commands, report.launches.len()))
    }
}

/// The words of a command buffer: bytes (`.bin`), or text as `ctm dis` prints it.
fn words(file: &Path) -> Result<Vec<u32>, Failure> {
    let (bytes, named) = input(file, FileKind::Commands)?;
    let name = named.display().to_string();
    if file.extension().is_some_and(|e| e == "bin") {
        if !bytes.len().is_multiple_of(4) {
            let message = format!("{name} has {} bytes, a command buffer is made of dwords of 4", bytes.len());
            return Err(Failure::wrong("wrong-file", message));
        }
        return Ok(ByteOrder::Little.words(&bytes));
    }
    let text = text_of(&bytes, &name)?;
    commands::parse(text).map_err(|found| {
        let source = Arc::new(Source::new(&name, text));
        let report = |diagnostic| Report { diagnostic, source: Some(Arc::clone(&source)) };
        JobError::Wrong(found.into_iter().map(report).collect()).into()
    })
}

/// The initial memory: programs in text become images, every other file is its bytes.
fn contents(file: &Path) -> Result<Vec<u8>, Failure> {
    let is_program = file.extension().is_some_and(|e| ["x1k", "ps", "pso"].iter().any(|text| e == *text));
    if !is_program {
        return Ok(input_called(file, FileKind::Array, "the file")?.0);
    }
    let (bytes, file) = program_bytes(file)?;
    let loaded = Loaded::from_bytes(&bytes, file, Some(Isa::X1k), None)?;
    encode(&loaded.program, Path::new("image.elf"))
}

/// A place in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryPlace {
    /// An offset in an arena, in bytes.
    Arena(ArenaId, u32),
    /// An address.
    Address(u32),
}

impl MemoryPlace {
    fn address(self, device: &Device) -> Result<GpuAddr, Failure> {
        let Self::Arena(arena, offset) = self else {
            let Self::Address(address) = self else { return Ok(GpuAddr(0)) };
            return Ok(GpuAddr(address));
        };
        let range = device.options().arenas.range(arena);
        if offset >= range.bytes {
            let message = format!("{arena}+0x{offset:x} lies outside the arena, which has 0x{:x} bytes", range.bytes);
            return Err(Failure::usage("bad-flag", message));
        }
        Ok(GpuAddr(range.base.0 + offset))
    }
}

/// Parses `gpu`, `sys+0x1000` or `0x80001000`.
pub(crate) fn place(text: &str) -> Result<MemoryPlace, String> {
    let allowed = || {
        let names = ArenaId::ALL.map(|id| id.name().to_ascii_lowercase()).join(", ");
        format!(
            "`{text}` is no place in memory; write an arena ({names}), an arena and an offset (sys+0x1000), or an address (0x80001000)"
        )
    };
    let (name, offset) = text.split_once('+').map_or((text, None), |(name, offset)| (name, Some(offset)));
    if offset.is_none() && name.starts_with(|c: char| c.is_ascii_digit()) {
        return number(name).map(MemoryPlace::Address).ok_or_else(allowed);
    }
    let arena = ArenaId::ALL.into_iter().find(|id| id.name().eq_ignore_ascii_case(name)).ok_or_else(allowed)?;
    let offset = offset.map_or(Some(0), number).ok_or_else(allowed)?;
    Ok(MemoryPlace::Arena(arena, offset))
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A file that is put into memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MemoryLoad {
    place: MemoryPlace,
    file: PathBuf,
}

/// Parses `sys+0x1000=program.x1k`.
pub(crate) fn load(text: &str) -> Result<MemoryLoad, String> {
    let (to, file) = text.split_once('=').ok_or("write PLACE=FILE, as in gpu=image.raw")?;
    Ok(MemoryLoad { place: place(to)?, file: file.into() })
}

/// Memory that is saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dump {
    place: MemoryPlace,
    bytes: usize,
    file: PathBuf,
}

/// Parses `gpu+0x1000:4096=out.raw`.
pub(crate) fn dump(text: &str) -> Result<Dump, String> {
    let allowed = "write PLACE:BYTES=FILE, as in gpu+0x1000:4096=out.raw";
    let (what, file) = text.split_once('=').ok_or(allowed)?;
    let (from, bytes) = what.split_once(':').ok_or(allowed)?;
    let bytes = number(bytes).ok_or_else(|| format!("`{bytes}` is no number of bytes; {allowed}"))?;
    Ok(Dump { place: place(from)?, bytes: bytes as usize, file: file.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_arenas_offsets_and_addresses() {
        assert_eq!(place("gpu"), Ok(MemoryPlace::Arena(ArenaId::Gpu, 0)));
        assert_eq!(place("SYSc+0x800"), Ok(MemoryPlace::Arena(ArenaId::SysC, 2048)));
        assert_eq!(place("0x80000000"), Ok(MemoryPlace::Address(0x8000_0000)));
        for wrong in ["", "vram", "gpu+", "gpu+x", "-1", "0xg"] {
            assert!(place(wrong).unwrap_err().contains("sys+0x1000"), "{wrong}");
        }
        assert!(dump("gpu=f").is_err() && dump("gpu:x=f").is_err() && load("gpu").is_err());
    }
}
