//! Arrays of the X1K's device: into the memory controller's tiled order and back.

use super::{Direction, size_of};
use crate::args::TileArgs;
use crate::console::{Console, Ending, Exit, Failure};
use ctm::array::{Array, ArrayFileKind, RawFormat, RawShape};
use ctm::job::surface::{self, Elements};
use ctm::job::{formats, read_file};
use ctm::mc::{Format, Surface, Tiling};
use ctm::memory::{ArenaId, ArenaOptions, DeviceMemory};
use std::path::Path;
use std::sync::Arc;

pub(super) fn run(console: &Console, args: &TileArgs, direction: Direction) -> Ending {
    let format = args.format.as_deref().map(format_of).transpose()?;
    let size = args.size.as_deref().map(size_of).transpose()?;
    match direction {
        Direction::Tile => tile(console, args, format, size),
        Direction::Untile => untile(console, args, format, size),
    }?;
    Ok(Exit::Done)
}

fn tile(console: &Console, args: &TileArgs, format: Option<Format>, size: Option<(u32, u32)>) -> Result<(), Failure> {
    if matches!(extension_of(&args.output)?, ArrayFileKind::Png | ArrayFileKind::Pfm | ArrayFileKind::Npy) {
        return Err(Failure::usage(
            "unknown-extension",
            format!("{}: elements in tiled order are raw bytes; name a .raw file", args.output.display()),
        ));
    }
    let kind = extension_of(&args.input)?;
    let bytes = read_file(&args.input, ArrayFileKind::file_kind(&args.input), None)?;
    let shape = match (kind, size, format) {
        (ArrayFileKind::Raw, Some((width, height)), Some(format)) => {
            let format = match format {
                Format::Uint16x1 => RawFormat::Uint16x1,
                Format::Uint8x4 => RawFormat::Uint8x4,
                Format::Float32x1 | Format::Float32x2 | Format::Float32x4 => RawFormat::Float32(format.info().channels),
            };
            Some(RawShape { width: width as usize, height: height as usize, format })
        }
        (ArrayFileKind::Raw, _, _) => return Err(Failure::usage("bad-flag", "a .raw file needs --size and --format")),
        _ => None,
    };
    let array = Array::from_bytes(kind, &bytes, shape)
        .map_err(|e| Failure::wrong("bad-array", format!("{}: {e}", args.input.display())))?;
    let elements = Elements::Array(Arc::new(array));
    let [height, width, _] = elements.shape().map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let format = format.unwrap_or_else(|| elements.natural_format());
    let (mut memory, s) = place(width, height, format)?;
    elements.upload(&mut memory, &s).map_err(|e| Failure::wrong("bad-array", e.to_string()))?;
    let bytes = memory.slice(s.base, length(&s)).map_err(|e| Failure::wrong("bad-array", e.to_string()))?;
    console.write(&args.output, bytes)?;
    console.note(&format!("{width}x{height} elements of {}, pitch {}: {} bytes", name_of(format), s.pitch, s.bytes()));
    Ok(())
}

fn untile(console: &Console, args: &TileArgs, format: Option<Format>, size: Option<(u32, u32)>) -> Result<(), Failure> {
    let (Some((width, height)), Some(format)) = (size, format) else {
        return Err(Failure::usage(
            "bad-flag",
            "bytes in tiled order say nothing about themselves: --size and --format are needed",
        ));
    };
    let kind = extension_of(&args.output)?;
    let bytes = read_file(&args.input, ArrayFileKind::file_kind(&args.input), None)?;
    let (mut memory, s) = place(width, height, format)?;
    if bytes.len() != length(&s) {
        return Err(Failure::wrong(
            "wrong-size",
            format!(
                "{} has {} bytes, {width}x{height} elements of {} in tiles take {}",
                args.input.display(),
                bytes.len(),
                name_of(format),
                s.bytes()
            ),
        ));
    }
    memory.write(s.base, &bytes).map_err(|e| Failure::wrong("bad-array", e.to_string()))?;
    if kind == ArrayFileKind::Raw {
        // Raw to raw keeps every bit.
        let element = format.element_bytes() as usize;
        let mut out = Vec::with_capacity(width as usize * height as usize * element);
        for y in 0..height {
            for x in 0..width {
                let from = memory
                    .slice(s.address_of(x, y), element)
                    .map_err(|e| Failure::wrong("bad-array", e.to_string()))?;
                out.extend_from_slice(from);
            }
        }
        return console.write(&args.output, &out);
    }
    let rect = surface::Rect { x: 0, y: 0, width, height };
    let array = surface::download(&memory, &s, rect).map_err(|e| Failure::wrong("bad-array", e.to_string()))?;
    let bytes =
        array.to_bytes(kind).map_err(|e| Failure::wrong("bad-array", format!("{}: {e}", args.output.display())))?;
    console.write(&args.output, &bytes)
}

/// Memory with room for one tiled array.
fn place(width: u32, height: u32, format: Format) -> Result<(DeviceMemory, Surface), Failure> {
    let s = Surface::for_size(width, height, format, Tiling::Tiled)
        .map_err(|e| Failure::wrong("bad-array", e.to_string()))?;
    let bytes = u32::try_from(s.bytes().max(1)).unwrap_or(u32::MAX).next_multiple_of(2048);
    let arenas = ArenaOptions::with_sizes([bytes, 0, 0, 0]).map_err(|e| Failure::wrong("bad-array", e.to_string()))?;
    let mut memory = DeviceMemory::new(&arenas).map_err(|e| Failure::wrong("bad-array", e.to_string()))?;
    let base = memory.allocate(ArenaId::Gpu, s.bytes()).map_err(|e| Failure::wrong("bad-array", e.to_string()))?;
    Ok((memory, s.at(base)))
}

fn length(s: &Surface) -> usize {
    usize::try_from(s.bytes()).unwrap_or(usize::MAX)
}

fn extension_of(path: &Path) -> Result<ArrayFileKind, Failure> {
    ArrayFileKind::of(path).ok_or_else(|| {
        Failure::usage(
            "unknown-extension",
            format!("{} names no kind of array; known are {}", path.display(), ArrayFileKind::EXTENSIONS),
        )
    })
}

fn format_of(name: &str) -> Result<Format, Failure> {
    formats().into_iter().find(|(n, _)| *n == name).map(|(_, f)| f).ok_or_else(|| {
        let names: Vec<&str> = formats().into_iter().map(|(n, _)| n).collect();
        Failure::usage("bad-flag", format!("`--format` is `{name}`, it must be one of {}", names.join(", ")))
    })
}

fn name_of(format: Format) -> &'static str {
    formats().into_iter().find(|(_, f)| *f == format).map_or("", |(n, _)| n)
}
