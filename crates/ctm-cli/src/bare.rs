//! `ctm pm4 run`: streams of programs on the bare chip, with absolute addresses, on a memory image.

use crate::args::streams::Pm4Args;
use crate::console::{Console, Ending, Exit, Failure, input};
use crate::interrupt;
use crate::ranges::{Dump, DumpShape, LAST, Range, RangeItems};
use crate::stream_output::{finding_report, save};
use ctm::array::{Array, ArrayError, ArrayFileKind, ItemType, Values, npy_bytes};
use ctm::job::Isa;
use ctm::r700::Loaded;
use ctm::render::Report;
use ctm_files::FileKind;
use ctm_image::hex;
use ctm_isa::diag::{Diagnostic, Severity};
use ctm_radeon::check;
use ctm_radeon::execute::{Buffers, Deadline, Device, DrawOptions, GpuMemory, Next, Stepped};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

/// Bytes of all memory that can be given.
const MOST: u64 = 4 << 30;

/// The bytes of a file for memory: as they are, words of hexadecimal text, or the words of an R700 program that is text.
fn contents(file: &Path) -> Result<Vec<u8>, Failure> {
    let (bytes, name) = input(file, FileKind::Array)?;
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let words = match extension.as_str() {
        "hex" => {
            let wrong = |why: String| Failure::wrong("wrong-file", format!("{}: {why}", name.display()));
            let text = std::str::from_utf8(&bytes).map_err(|_| wrong("this is no text".into()))?;
            hex::read_words(text, 0).map_err(|error| wrong(error.to_string()))?
        }
        "vsh" | "psh" | "gsh" | "csh" if std::str::from_utf8(&bytes).is_ok() => {
            let options = ctm_isa::r700::text::TextOptions::default();
            Loaded::from_bytes(&bytes, name, Some(Isa::R700), None, &options)?.program.words
        }
        _ => return Ok(bytes),
    };
    Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// The memory that flags describe. Ranges that touch are one.
pub(crate) fn image(ranges: &[Range]) -> Result<Buffers, Failure> {
    let mut parts: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    let mut total = 0;
    for range in ranges {
        let mut bytes = range.file.as_deref().map_or(Ok(Vec::new()), contents)?;
        let found = bytes.len() as u64;
        let wanted = range.bytes.unwrap_or(found);
        let shown = range.file.as_deref().map_or_else(String::new, |file| format!("{} ", file.display()));
        let wrong = |why: String| Failure::wrong("bad-memory", format!("--mem {:#x}: {shown}{why}", range.address));
        if found > wanted {
            return Err(wrong(format!("has {found} bytes, {wanted} are given to it")));
        }
        if wanted == 0 {
            return Err(wrong("is empty".into()));
        }
        total += wanted;
        if total > MOST {
            return Err(wrong(format!("all memory together is {total} bytes, allowed is {MOST}")));
        }
        if range.address + wanted > LAST {
            return Err(wrong(format!("{wanted} bytes end outside the 40 bits of addresses")));
        }
        bytes.resize(usize::try_from(wanted).unwrap_or(usize::MAX), 0);
        let end = range.address + wanted;
        let other = parts.range(..end).next_back().filter(|(at, bytes)| *at + bytes.len() as u64 > range.address);
        if let Some((at, bytes)) = other {
            let last = at + bytes.len() as u64 - 1;
            return Err(wrong(format!("overlaps the memory from {at:#x} to {last:#x}")));
        }
        parts.insert(range.address, bytes);
    }
    let mut joined: Vec<(u64, Vec<u8>)> = Vec::new();
    for (at, bytes) in parts {
        match joined.last_mut().filter(|(start, before)| start + before.len() as u64 == at) {
            Some((_, before)) => before.extend(bytes),
            None => joined.push((at, bytes)),
        }
    }
    let mut memory = Buffers::default();
    joined.into_iter().for_each(|(at, bytes)| memory.insert(at, bytes));
    Ok(memory)
}

/// Checks and runs a stream, and prints or saves memory.
pub(crate) fn run(console: &Console, args: &Pm4Args, words: &[u32], file: &Path) -> Ending {
    let mut memory = image(&args.mem)?;
    for dump in &args.dump {
        if memory.bytes(dump.address, dump.shape.bytes()).is_none() {
            let message = format!("{} lie outside the memory that --mem gives", shown(dump));
            return Err(Failure::wrong("outside-memory", message));
        }
    }
    let findings = check::check_absolute(words, Some(&memory));
    let kind = args.engine.unwrap_or_default();
    let engine = kind.engine().map_err(|error| Failure::wrong("no-engine", error.to_string()))?;
    let mut device = Device::new(engine);
    device.set_options(DrawOptions {
        control: interrupt::control(),
        deadline: args.budget_seconds.0.and_then(Deadline::after),
        // The time is that of all draws together.
        budget: ctm_exec::Budget::default(),
        ..DrawOptions::default()
    });
    let (mut draws, mut pixels) = (0u32, 0);
    let submitted = device.submit_absolute(words, &mut memory, &mut |stepped: &Stepped<'_>| {
        draws += 1;
        pixels += stepped.outline.counts.pixels;
        Next::Continue
    });
    let mut reports: Vec<Report> = findings.iter().map(|finding| finding_report(file, None, finding)).collect();
    reports.extend(submitted.problems.iter().map(|problem| {
        let diagnostic = Diagnostic::error(problem.error.kind, format!("{}: {problem}", file.display()));
        Report::bare(match problem.error.kind {
            "time-budget" => diagnostic.help("--budget-seconds S gives all draws more time, 0 any"),
            _ => diagnostic,
        })
    }));
    let mut saved = Vec::new();
    let mut texts = Vec::new();
    for dump in &args.dump {
        let bytes = memory.bytes(dump.address, dump.shape.bytes()).unwrap_or_default();
        match &dump.file {
            None => texts.push(hex_dump(dump.address, bytes)),
            Some(path) => {
                console.write(path, &encoded(dump, path, bytes)?)?;
                saved.push(path.display().to_string());
            }
        }
    }
    if let Some(folder) = &args.output {
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::wrong("cannot-write", format!("{}: {e}", folder.display())))?;
        let pictures = device.targets(&memory).map_err(|error| Failure::wrong(error.kind, error.message))?;
        for picture in &pictures {
            saved.extend(save(console, folder, picture)?.iter().map(|path| path.display().to_string()));
        }
    }
    if args.json {
        reports.iter().try_for_each(|report| console.json(report))?;
        let memory: Vec<Value> = args
            .dump
            .iter()
            .filter(|dump| dump.file.is_none())
            .map(|dump| {
                let bytes = memory.bytes(dump.address, dump.shape.bytes()).unwrap_or_default();
                let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                json!({ "address": dump.address, "bytes": bytes.len(), "hex": digits })
            })
            .collect();
        let told = json!({ "words": words.len(), "draws": draws, "pixels": pixels, "problems": submitted.problems.len(),
            "memory": memory, "saved": saved });
        console.print(&format!("{told}\n"))?;
    } else {
        console.reports(&reports);
        texts.iter().try_for_each(|text| console.print(text))?;
        let problems = submitted.problems.len();
        console.print(&format!("{} words, {draws} draws, {pixels} pixels, {problems} problems\n", words.len()))?;
        saved.iter().for_each(|path| console.note(path));
    }
    let errors = findings.iter().any(|finding| finding.severity == Severity::Error);
    Ok(match (submitted.problems.is_empty(), errors) {
        (false, _) => Exit::Fault,
        (true, true) => Exit::Wrong,
        (true, false) => Exit::Done,
    })
}

fn shown(dump: &Dump) -> String {
    format!("the {} bytes at {:#x} of --dump", dump.shape.bytes(), dump.address)
}

/// Sixteen bytes a line, as four words; lines that repeat the one before are one `*`.
fn hex_dump(address: u64, bytes: &[u8]) -> String {
    let mut out = String::new();
    let mut before: Option<&[u8]> = None;
    let mut is_skipping = false;
    let last = bytes.len().div_ceil(16).saturating_sub(1);
    for (n, line) in bytes.chunks(16).enumerate() {
        if before == Some(line) && n != last {
            if !is_skipping {
                out.push_str("*\n");
            }
            is_skipping = true;
            continue;
        }
        (before, is_skipping) = (Some(line), false);
        let _ = write!(out, "{:#010x}:", address + 16 * n as u64);
        let (words, rest) = line.as_chunks::<4>();
        for word in words {
            let _ = write!(out, " {:08x}", u32::from_le_bytes(*word));
        }
        for byte in rest {
            let _ = write!(out, " {byte:02x}");
        }
        out.push('\n');
    }
    out
}

/// The bytes of a memory file, in the format of its name.
fn encoded(dump: &Dump, path: &Path, bytes: &[u8]) -> Result<Vec<u8>, Failure> {
    let wrong = |why: String| Failure::wrong("cannot-save", format!("{}: {why}", path.display()));
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let dwords =
        |bytes: &[u8]| -> Vec<u32> { bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect() };
    let wants = || wrong("a format is wanted, as in --dump 0x200000:64x64:rgba8=FILE".into());
    let array = |error: ArrayError| wrong(error.to_string());
    let DumpShape::Picture { size, pitch, format } = dump.shape else {
        return match extension.as_str() {
            "hex" if bytes.len().is_multiple_of(4) => Ok(hex::write_words(&dwords(bytes), 4).into_bytes()),
            "hex" => Err(wrong(format!("{} bytes are no words of 4", bytes.len()))),
            "png" => Err(wants()),
            "npy" if bytes.len().is_multiple_of(4) => {
                npy_bytes(ItemType::Uint32, &[bytes.len() / 4], &dwords(bytes)).map_err(array)
            }
            "npy" => Err(wants()),
            _ => Ok(bytes.to_vec()),
        };
    };
    let [width, height] = size.map(|side| usize::try_from(side).unwrap_or(usize::MAX));
    // Rows without the gaps between them.
    let row = width * format.bytes;
    let stride = usize::try_from(pitch).unwrap_or(usize::MAX).saturating_mul(format.bytes).max(1);
    let packed: Vec<u8> =
        bytes.chunks(stride).take(height).flat_map(|line| &line[..row.min(line.len())]).copied().collect();
    let kind = match extension.as_str() {
        "png" => ArrayFileKind::Png,
        "npy" => ArrayFileKind::Npy,
        "hex" if packed.len().is_multiple_of(4) => return Ok(hex::write_words(&dwords(&packed), 4).into_bytes()),
        _ => return Ok(packed),
    };
    match format.items {
        RangeItems::Words(item) if kind == ArrayFileKind::Npy => {
            npy_bytes(item, &[height, width, format.channels], &dwords(&packed)).map_err(array)
        }
        RangeItems::Words(ItemType::Float32) => {
            let values = Values::F32(dwords(&packed).into_iter().map(f32::from_bits).collect());
            Array { height, width, channels: format.channels, values }.to_bytes(kind).map_err(array)
        }
        RangeItems::Words(_) => Err(wrong(format!("a picture of {} cannot be made; .npy takes it", format.name))),
        RangeItems::Bytes(order) => {
            let values: Vec<u8> =
                packed.chunks_exact(order.len()).flat_map(|element| order.iter().map(|&n| element[n])).collect();
            Array { height, width, channels: format.channels, values: Values::U8(values) }.to_bytes(kind).map_err(array)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test")]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_are_one_and_none_overlap() {
        let range = |address, bytes| Range { address, bytes: Some(bytes), file: None };
        let joined = image(&[range(4096, 16), range(4112, 16), range(8192, 16)]).unwrap();
        assert!(joined.bytes(4100, 24).is_some() && joined.bytes(4100, 64).is_none());
        assert!(image(&[range(4096, 16), range(4100, 4)]).is_err());
        assert!(image(&[range(0, MOST), range(LAST - 16, 16)]).is_err());
    }

    #[test]
    fn repeated_lines_are_one_star() {
        let mut bytes = vec![0; 64];
        bytes[0] = 1;
        assert_eq!(
            hex_dump(0x1000, &bytes),
            "0x00001000: 00000001 00000000 00000000 00000000\n0x00001010: 00000000 00000000 00000000 00000000\n*\n\
             0x00001030: 00000000 00000000 00000000 00000000\n"
        );
    }
}
