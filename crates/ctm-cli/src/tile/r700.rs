//! `ctm tile --isa r700` and `ctm untile --isa r700`: surfaces as the texture and colour units of R6xx and R7xx have them.

use super::{Direction, size_pair};
use crate::args::TileArgs;
use crate::console::{Console, Ending, Exit, Failure};
use ctm::array::{Array, ArrayFileKind, Items, Values};
use ctm::job::read_file;
use ctm_draw::layout::{ArrayMode, Layout, Tiling};

const MODES: [(&str, ArrayMode); 3] =
    [("linear", ArrayMode::Linear), ("1d", ArrayMode::Tiled1d), ("2d", ArrayMode::Tiled2d)];

/// Elements in rows.
struct ElementRows {
    width: u32,
    height: u32,
    /// Bytes of an element.
    size: u32,
    bytes: Vec<u8>,
}

pub(super) fn run(console: &Console, args: &TileArgs, direction: Direction) -> Ending {
    if args.format.is_some() {
        return Err(usage("--format names formats of the X1K's device; --element says how many bytes an element has"));
    }
    let text = args.mode.as_deref().unwrap_or("2d");
    let found = MODES.iter().find(|row| row.0 == text).map(|row| row.1);
    let mode = found.ok_or_else(|| usage(format!("--mode `{text}`: allowed is linear, 1d, 2d")))?;
    let tiling = Tiling {
        pipes: args.pipes.unwrap_or(1),
        banks: args.banks.unwrap_or(4),
        swizzle: args.swizzle.unwrap_or(0),
        ..Tiling::default()
    };
    match direction {
        Direction::Tile => tile(console, args, mode, tiling),
        Direction::Untile => untile(console, args, mode, tiling),
    }?;
    Ok(Exit::Done)
}

fn usage(message: impl Into<String>) -> Failure {
    Failure::usage("bad-flag", message.into())
}

fn layout(args: &TileArgs, mode: ArrayMode, size: [u32; 2], element: u32, tiling: Tiling) -> Result<Layout, Failure> {
    let layout = Layout { depth_order: args.depth_order, ..Layout::padded(mode, size, element, 1, tiling) };
    layout.check().map_err(|error| Failure::wrong("bad-layout", error.to_string()))?;
    Ok(layout)
}

fn name_of(mode: ArrayMode) -> &'static str {
    MODES.iter().find(|row| row.1 == mode).map_or("", |row| row.0)
}

fn tile(console: &Console, args: &TileArgs, mode: ArrayMode, tiling: Tiling) -> Result<(), Failure> {
    let elements = read(args)?;
    let ElementRows { width, height, size, bytes } = &elements;
    let layout = layout(args, mode, [*width, *height], *size, tiling)?;
    let mut out = vec![0; usize::try_from(layout.slice_bytes()).unwrap_or(usize::MAX)];
    let size = *size as usize;
    for (n, element) in bytes.chunks_exact(size).enumerate() {
        let (x, y) = (n as u32 % width, n as u32 / width);
        let at = usize::try_from(layout.offset(x, y, 0, 0)).unwrap_or(usize::MAX);
        if let Some(place) = out.get_mut(at..at.saturating_add(size)) {
            place.copy_from_slice(element);
        }
    }
    console.write(&args.output, &out)?;
    let told = format!(
        "{width}x{height} elements of {size} bytes, {} (pitch {}, height {}): {} bytes",
        name_of(layout.mode),
        layout.pitch,
        layout.height,
        out.len()
    );
    console.note(&told);
    Ok(())
}

fn untile(console: &Console, args: &TileArgs, mode: ArrayMode, tiling: Tiling) -> Result<(), Failure> {
    let (Some(size), Some(element)) = (&args.size, args.element) else {
        return Err(usage("bytes in tiled order say nothing about themselves: --size and --element are needed"));
    };
    let [width, height] = size_pair(size)?;
    let layout = layout(args, mode, [width, height], element, tiling)?;
    let bytes = read_file(&args.input, ArrayFileKind::file_kind(&args.input), None)?;
    if bytes.len() as u64 != layout.slice_bytes() {
        let (found, wanted) = (bytes.len(), layout.slice_bytes());
        let message =
            format!("{} has {found} bytes, {width}x{height} elements in tiles take {wanted}", args.input.display());
        return Err(Failure::wrong("wrong-size", message));
    }
    let mut out = Vec::with_capacity(width as usize * height as usize * element as usize);
    for y in 0..height {
        for x in 0..width {
            let at = usize::try_from(layout.offset(x, y, 0, 0)).unwrap_or(usize::MAX);
            out.extend_from_slice(bytes.get(at..at.saturating_add(element as usize)).unwrap_or_default());
        }
    }
    let bytes = match ArrayFileKind::of(&args.output) {
        Some(ArrayFileKind::Raw) | None => out,
        Some(kind) if element <= 4 => {
            let (height, width) = (height as usize, width as usize);
            let array = Array { height, width, channels: element as usize, values: Values::U8(out) };
            array.to_bytes(kind).map_err(|e| Failure::wrong("bad-array", format!("{}: {e}", args.output.display())))?
        }
        Some(_) => return Err(usage(format!("elements of {element} bytes go to .raw files"))),
    };
    console.write(&args.output, &bytes)
}

/// The elements of the input: those of a picture or an array as they are, or raw bytes.
fn read(args: &TileArgs) -> Result<ElementRows, Failure> {
    let bytes = read_file(&args.input, ArrayFileKind::file_kind(&args.input), None)?;
    let bad = |message: String| Failure::wrong("bad-array", format!("{}: {message}", args.input.display()));
    let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let elements = match ArrayFileKind::of(&args.input) {
        Some(ArrayFileKind::Npy) => {
            let items = Items::from_npy(&bytes).map_err(|error| bad(error.to_string()))?;
            let (height, width, channels) = match items.shape[..] {
                [height, width] => (height, width, 1),
                [height, width, channels] => (height, width, channels),
                ref other => return Err(bad(format!("its shape is {other:?}, surfaces have rows and columns"))),
            };
            ElementRows {
                width: side(width),
                height: side(height),
                size: side(channels * items.item_bytes),
                bytes: items.bytes,
            }
        }
        Some(ArrayFileKind::Png) => {
            let array = Array::samples(ArrayFileKind::Png, &bytes).map_err(|error| bad(error.to_string()))?;
            let (width, height) = (side(array.width), side(array.height));
            match array.values {
                Values::U8(bytes) => ElementRows { width, height, size: side(array.channels), bytes },
                _ => return Err(bad("pictures of 8 bits can be tiled".into())),
            }
        }
        _ => {
            let (Some(size), Some(element)) = (&args.size, args.element) else {
                return Err(usage("a file of raw bytes needs --size and --element"));
            };
            let [width, height] = size_pair(size)?;
            let wanted = u64::from(width) * u64::from(height) * u64::from(element);
            if bytes.len() as u64 != wanted {
                return Err(bad(format!("it has {} bytes, {width}x{height} elements take {wanted}", bytes.len())));
            }
            ElementRows { width, height, size: element, bytes }
        }
    };
    if !matches!(elements.size, 1 | 2 | 4 | 8 | 16) {
        return Err(bad(format!("its elements have {} bytes; surfaces have 1, 2, 4, 8 or 16", elements.size)));
    }
    Ok(elements)
}
