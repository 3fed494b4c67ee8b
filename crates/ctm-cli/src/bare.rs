//! `ctm pm4 run`: streams of programs on the bare chip, with absolute addresses, on a memory image.

use crate::Ending;
use crate::console::{Console, Exit, Failure, input};
use crate::interrupt;
use crate::streams::{Pm4Args, finding_report, save};
use ctm::array::{Array, ArrayError, ItemType, Kind, Values, npy_bytes};
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
use std::path::{Path, PathBuf};

/// Addresses end here: the chips have 40 bits.
const LAST: u64 = 1 << 40;
/// Bytes of all memory that can be given.
const MOST: u64 = 4 << 30;

/// Memory that is there: at an address, of a size, of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    address: u64,
    /// Without it as much as the file has.
    bytes: Option<u64>,
    file: Option<PathBuf>,
}

/// How bytes that are saved are numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DumpFormat {
    name: &'static str,
    /// Bytes of an element.
    bytes: usize,
    /// Numbers of an element.
    channels: usize,
    items: Items,
}

/// The numbers of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Items {
    /// Bytes that mean 0 to 1 in pictures; the order of the channels in memory.
    Bytes(&'static [usize]),
    /// Numbers of 32 bits.
    Words(ItemType),
}

#[rustfmt::skip]
const FORMATS: &[DumpFormat] = &[
    DumpFormat { name: "u8",      bytes: 1,  channels: 1, items: Items::Bytes(&[0]) },
    DumpFormat { name: "u32",     bytes: 4,  channels: 1, items: Items::Words(ItemType::Uint32) },
    DumpFormat { name: "i32",     bytes: 4,  channels: 1, items: Items::Words(ItemType::Int32) },
    DumpFormat { name: "f32",     bytes: 4,  channels: 1, items: Items::Words(ItemType::Float32) },
    DumpFormat { name: "rgba8",   bytes: 4,  channels: 4, items: Items::Bytes(&[0, 1, 2, 3]) },
    DumpFormat { name: "bgra8",   bytes: 4,  channels: 4, items: Items::Bytes(&[2, 1, 0, 3]) },
    DumpFormat { name: "rgba32f", bytes: 16, channels: 4, items: Items::Words(ItemType::Float32) },
];

/// Memory that is shown or saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dump {
    address: u64,
    shape: DumpShape,
    file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DumpShape {
    Bytes(u64),
    /// Columns, rows and elements from one row to the next.
    Picture {
        size: [u64; 2],
        pitch: u64,
        format: DumpFormat,
    },
}

impl DumpShape {
    /// Bytes from the first to the last.
    fn bytes(self) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Picture { size: [width, height], pitch, format } => {
                let rows = height.saturating_sub(1).saturating_mul(pitch);
                rows.saturating_add(width).saturating_mul(format.bytes as u64)
            }
        }
    }
}

fn number(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    parsed.ok_or_else(|| format!("`{text}` is no number; write 4096 or 0x1000"))
}

fn address(text: &str) -> Result<u64, String> {
    number(text).and_then(|at| if at < LAST { Ok(at) } else { Err(format!("{at:#x} is no address of 40 bits")) })
}

/// A number of bytes from an address on.
fn length(at: u64, text: &str) -> Result<u64, String> {
    let bytes = number(text)?;
    match at.checked_add(bytes) {
        _ if bytes == 0 => Err("0 bytes are asked for".into()),
        Some(end) if end <= LAST => Ok(bytes),
        _ => Err(format!("{bytes} bytes at {at:#x} end outside the 40 bits of addresses")),
    }
}

/// Parses `0x100000=vs.bin`, `0x200000:65536` or `0x100000:4096=vs.bin`.
pub(crate) fn memory(text: &str) -> Result<Range, String> {
    let (what, file) = text.split_once('=').map_or((text, None), |(what, file)| (what, Some(PathBuf::from(file))));
    let (at, bytes) = what.split_once(':').map_or((what, None), |(at, bytes)| (at, Some(bytes)));
    let at = address(at)?;
    let bytes = bytes.map(|bytes| length(at, bytes)).transpose()?;
    if bytes.is_none() && file.is_none() {
        return Err(format!("write {text}=FILE, or {text}:BYTES for bytes that are 0"));
    }
    Ok(Range { address: at, bytes, file })
}

/// Parses `0x104000:1024`, `0x104000:1024=out.raw` or `0x200000:64x64/64:rgba8=out.png`.
pub(crate) fn dump(text: &str) -> Result<Dump, String> {
    let (what, file) = text.split_once('=').map_or((text, None), |(what, file)| (what, Some(PathBuf::from(file))));
    let mut parts = what.split(':');
    let (at, size, format) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let at = address(at)?;
    let size = size.ok_or_else(|| format!("write {text}:BYTES, or {text}:WIDTHxHEIGHT:FORMAT"))?;
    if parts.next().is_some() {
        return Err("write ADDRESS:BYTES or ADDRESS:WIDTHxHEIGHT:FORMAT, and =FILE behind it".into());
    }
    let shape = match (size.split_once('x').filter(|(width, _)| *width != "0"), format) {
        (None, None) => DumpShape::Bytes(length(at, size)?),
        (_, Some(name)) => {
            let format = FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
                let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
                format!("`{name}` is no format; there are {}", names.join(", "))
            })?;
            let (width, rest) = size.split_once('x').ok_or("a format wants WIDTHxHEIGHT, as in 64x64")?;
            let (height, pitch) = rest.split_once('/').map_or((rest, None), |(rows, pitch)| (rows, Some(pitch)));
            let size = [number(width)?, number(height)?];
            let pitch = pitch.map_or(Ok(size[0]), number)?;
            if size.iter().any(|side| !(1..=16384).contains(side)) || !(size[0]..=1 << 20).contains(&pitch) {
                return Err(format!(
                    "{size:?} with a pitch of {pitch}: sides are 1 to 16384, a pitch is no less than the width"
                ));
            }
            DumpShape::Picture { size, pitch, format: *format }
        }
        (Some(_), None) => return Err("a picture wants a format, as in 64x64:rgba8".into()),
    };
    if at.checked_add(shape.bytes()).is_none_or(|end| end > LAST) {
        return Err(format!("{} bytes at {at:#x} end outside the 40 bits of addresses", shape.bytes()));
    }
    Ok(Dump { address: at, shape, file })
}

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
            let options = ctm_isa::r700::text::Options::default();
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
        "png" => Kind::Png,
        "npy" => Kind::Npy,
        "hex" if packed.len().is_multiple_of(4) => return Ok(hex::write_words(&dwords(&packed), 4).into_bytes()),
        _ => return Ok(packed),
    };
    match format.items {
        Items::Words(item) if kind == Kind::Npy => {
            npy_bytes(item, &[height, width, format.channels], &dwords(&packed)).map_err(array)
        }
        Items::Words(ItemType::Float32) => {
            let values = Values::F32(dwords(&packed).into_iter().map(f32::from_bits).collect());
            Array { height, width, channels: format.channels, values }.to_bytes(kind).map_err(array)
        }
        Items::Words(_) => Err(wrong(format!("a picture of {} cannot be made; .npy takes it", format.name))),
        Items::Bytes(order) => {
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
    fn flags_are_addresses_sizes_and_files() {
        let at = memory("0x100000=vs.bin").unwrap();
        assert_eq!((at.address, at.bytes, at.file.is_some()), (1 << 20, None, true));
        assert_eq!(memory("4096:0x100").unwrap(), Range { address: 4096, bytes: Some(256), file: None });
        assert!(memory("4096:8=x").unwrap().file.is_some());
        let picture = dump("0x200000:60x4/64:bgra8=a.png").unwrap();
        assert_eq!(picture.shape.bytes(), 4 * (3 * 64 + 60));
        assert_eq!(dump("0:16").unwrap().shape, DumpShape::Bytes(16));
        assert_eq!(dump("0:0x10").unwrap().shape, DumpShape::Bytes(16));
        for (text, told) in [
            ("0x100", "write 0x100=FILE, or 0x100:BYTES"),
            ("x=a", "`x` is no number"),
            ("0x10000000000=a", "no address of 40 bits"),
            ("0:0", "0 bytes are asked for"),
            ("0xffffffffff:2", "end outside the 40 bits"),
        ] {
            let found = memory(text).unwrap_err();
            assert!(found.contains(told), "{text}: {found}");
        }
        for (text, told) in [
            ("0", "write 0:BYTES"),
            ("0:4x4", "a picture wants a format"),
            ("0:4x4:rgb", "there are u8, u32"),
            ("0:16:f32", "WIDTHxHEIGHT"),
            ("0:4x4/2:f32", "a pitch is no less than the width"),
            ("0:4:f32:4", "=FILE behind it"),
        ] {
            let found = dump(text).unwrap_err();
            assert!(found.contains(told), "{text}: {found}");
        }
    }

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
