//! What a draw writes: colour targets and a depth target in memory of the caller.

use crate::depth::DepthFormat;
use crate::format::{ColourFormat, Colours, FormatError};
use crate::layout::{ArrayMode, Layout, LayoutError};
use crate::raster::Rect;
use ctm_exec::r700::{Cells, Lent, Tiles};
use ctm_exec::x1k::Elements;
use std::sync::{Arc, OnceLock};

/// A colour target.
#[derive(Debug)]
pub struct ColourTarget<'a> {
    /// All slices, from the first byte of slice 0 on.
    pub bytes: &'a mut [u8],
    /// Where samples lie; its element size is that of the format.
    pub layout: Layout,
    /// What colours are stored as.
    pub format: ColourFormat,
    /// Columns and rows that may be drawn to.
    pub size: [u32; 2],
    /// The slice that layer 0 is, and the last slice. What is sent to a layer behind the last one is dropped.
    pub slices: [u32; 2],
}

/// A depth target.
#[derive(Debug)]
pub struct DepthTarget<'a> {
    /// All slices, from the first byte of slice 0 on.
    pub bytes: &'a mut [u8],
    /// Where samples lie; its element size is that of the format.
    pub layout: Layout,
    /// What depth and stencil are stored as.
    pub format: DepthFormat,
    /// Columns and rows that may be drawn to.
    pub size: [u32; 2],
    /// The slice that layer 0 is, and the last slice.
    pub slices: [u32; 2],
}

/// A buffer of stream output.
#[derive(Debug)]
pub struct StreamBuffer<'a> {
    /// Its memory.
    pub bytes: &'a mut [u8],
    /// Where the next vertex goes, in dwords; moves on.
    pub offset_dwords: u32,
    /// What is stored ends before this dword. At most as many as there are bytes for.
    pub size_dwords: u32,
}

/// The targets of a draw. Only pixels that lie in all of them are drawn.
#[derive(Debug, Default)]
pub struct Targets<'a> {
    /// Colour targets, by number.
    pub colour: [Option<ColourTarget<'a>>; 8],
    /// The depth target. Without one, tests pass and nothing is written.
    pub depth: Option<DepthTarget<'a>>,
    /// Buffers of stream output.
    pub streams: [Option<StreamBuffer<'a>>; 4],
}

/// Why a target cannot be drawn to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetError {
    /// Its format.
    Format(FormatError),
    /// Its layout.
    Layout(LayoutError),
    /// The element size of its layout is not that of its format.
    ElementSize {
        /// Bytes of an element of the layout.
        layout: u32,
        /// Bytes of one of the format.
        format: u32,
    },
    /// It is larger than its layout.
    Size {
        /// Columns and rows.
        size: [u32; 2],
        /// Pitch and height of the layout.
        layout: [u32; 2],
    },
    /// It has another number of samples than the draw.
    Samples {
        /// Its samples.
        found: u32,
        /// Those of the draw.
        wanted: u32,
    },
    /// Its memory does not hold its slices.
    Bytes {
        /// Bytes there are.
        found: u64,
        /// Bytes of all slices up to the last one.
        wanted: u64,
    },
}

impl std::fmt::Display for TargetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Format(error) => write!(f, "{error}"),
            Self::Layout(error) => write!(f, "{error}"),
            Self::ElementSize { layout, format } => {
                write!(f, "its layout has elements of {layout} bytes, its format {format}")
            }
            Self::Size { size, layout } => write!(
                f,
                "it is {} x {}, its layout has a pitch of {} and a height of {}",
                size[0], size[1], layout[0], layout[1]
            ),
            Self::Samples { found, wanted } => write!(f, "it has {found} samples, the draw {wanted}"),
            Self::Bytes { found, wanted } => write!(f, "its memory has {found} bytes, its slices need {wanted}"),
        }
    }
}

impl std::error::Error for TargetError {}

fn check(layout: &Layout, format_bytes: usize, size: [u32; 2], last: u32, bytes: usize) -> Result<(), TargetError> {
    layout.check().map_err(TargetError::Layout)?;
    let format = format_bytes as u32;
    if layout.element_bytes != format {
        return Err(TargetError::ElementSize { layout: layout.element_bytes, format });
    }
    if size[0] > layout.pitch || size[1] > layout.height {
        return Err(TargetError::Size { size, layout: [layout.pitch, layout.height] });
    }
    let wanted = layout.slice_bytes().saturating_mul(u64::from(last) + 1);
    if (bytes as u64) < wanted {
        return Err(TargetError::Bytes { found: bytes as u64, wanted });
    }
    Ok(())
}

/// Reads an element of 1 to 16 bytes. Elements lie within the bytes: [`check`] has seen to it.
#[inline]
fn load(bytes: &[u8], at: u64, size: usize) -> u128 {
    let at = at as usize;
    if size == 4 {
        let four = bytes.get(at..at.saturating_add(4)).and_then(|four| four.try_into().ok());
        return four.map_or(0, |four| u32::from_le_bytes(four).into());
    }
    let mut whole = [0; 16];
    if let Some(element) = bytes.get(at..at.saturating_add(size)) {
        whole[..size].copy_from_slice(element);
    }
    u128::from_le_bytes(whole)
}

#[inline]
fn store(bytes: &mut [u8], at: u64, size: usize, bits: u128) {
    let at = at as usize;
    if size == 4 {
        if let Some(element) = bytes.get_mut(at..at.saturating_add(4)) {
            element.copy_from_slice(&(bits as u32).to_le_bytes());
        }
        return;
    }
    if let Some(element) = bytes.get_mut(at..at.saturating_add(size)) {
        element.copy_from_slice(&bits.to_le_bytes()[..size]);
    }
}

/// A linear surface, looked up once: where its first slice begins, and bytes from row to row, pixel to pixel and sample to sample.
#[derive(Clone, Copy, Debug)]
struct Rows {
    first: u64,
    row: u64,
    pixel: u64,
    sample: u64,
}

impl Rows {
    fn of(layout: &Layout, [slice, last]: [u32; 2]) -> Option<Self> {
        (layout.mode == ArrayMode::Linear && slice <= last).then(|| {
            let sample = u64::from(layout.element_bytes);
            let pixel = sample * u64::from(layout.samples);
            let first = u64::from(slice) * layout.slice_bytes();
            Self { first, row: u64::from(layout.pitch) * pixel, pixel, sample }
        })
    }

    #[inline]
    fn place(&self, x: i32, y: i32, sample: u32) -> u64 {
        self.first + u64::from(y as u32) * self.row + u64::from(x as u32) * self.pixel + u64::from(sample) * self.sample
    }
}

/// A colour target that was found to be sound.
#[derive(Debug)]
pub(crate) struct OpenColour<'t> {
    bytes: &'t mut [u8],
    /// Where these bytes lie among those of the whole target.
    first_byte: u64,
    rows: Option<Rows>,
    layout: Layout,
    pub(crate) colours: Colours,
    slices: [u32; 2],
    /// Where columns lie among tiles, once somebody has asked; of all bands.
    columns: Arc<OnceLock<Arc<[u32]>>>,
}

impl OpenColour<'_> {
    /// The place of a sample; `None` in a layer that there is not.
    #[inline]
    pub(crate) fn place(&self, x: i32, y: i32, layer: u32, sample: u32) -> Option<u64> {
        if let (Some(rows), 0) = (&self.rows, layer) {
            return Some(rows.place(x, y, sample));
        }
        let slice = self.slices[0].checked_add(layer).filter(|&slice| slice <= self.slices[1])?;
        Some(self.layout.offset(x as u32, y as u32, slice, sample))
    }

    pub(crate) fn load(&self, place: u64) -> u128 {
        load(self.bytes, place.wrapping_sub(self.first_byte), self.colours.bytes())
    }

    pub(crate) fn store(&mut self, place: u64, bits: u128) {
        store(self.bytes, place.wrapping_sub(self.first_byte), self.colours.bytes(), bits);
    }

    /// Stores two pixels side by side, of four bytes each; `false` where they do not lie side by side.
    #[inline]
    pub(crate) fn store_two(&mut self, x: i32, y: i32, layer: u32, [left, right]: [u32; 2]) -> bool {
        let (Some(rows), 0) = (&self.rows, layer) else { return false };
        if rows.pixel != 4 {
            return false;
        }
        let at = rows.place(x, y, 0).wrapping_sub(self.first_byte) as usize;
        let Some(two) = self.bytes.get_mut(at..at.saturating_add(8)) else { return false };
        two.copy_from_slice(&(u64::from(right) << 32 | u64::from(left)).to_le_bytes());
        true
    }

    /// Whether engines can store colours of layer 0 themselves: linear or tiled, one sample, in a format that they know.
    pub(crate) fn can_be_lent(&self) -> bool {
        let aligned = (self.bytes.as_ptr() as usize).is_multiple_of(4);
        let laid_out = self.rows.is_some() && self.layout.samples == 1 || self.layout.folded_bytes().is_some();
        laid_out && self.slices[0] <= self.slices[1] && self.colours.form().is_some() && aligned
    }

    /// Layer 0 for engines that store themselves, whose row 0 is this row.
    pub(crate) fn lent(&mut self, first_row: u32) -> Option<Lent<'_>> {
        let (form, channels) = self.colours.form()?;
        let (pitch, mask) = (self.layout.pitch, 0b1111);
        let of = |bytes, height| Elements { bytes, pitch, width: pitch, height, form, channels, mask };
        if let Some(rows) = &self.rows {
            let first = rows.place(0, first_row.cast_signed(), 0).checked_sub(self.first_byte)?;
            let bytes = self.bytes.get_mut(usize::try_from(first).ok()?..)?;
            let height = (bytes.len() as u64 / rows.row.max(1)) as u32;
            return Some(of(Cells::Bytes(bytes), height).into());
        }
        let height = self.layout.height.saturating_sub(first_row);
        let tiles = self.tiles(first_row, height)?;
        Some(Lent { tiles: Some(tiles), elements: of(Cells::Bytes(self.bytes), height) })
    }

    /// Where the elements of layer 0 lie among these bytes, from a row on; fewer rows where they end before.
    fn tiles(&self, first_row: u32, rows: u32) -> Option<Tiles> {
        let tile_bytes = self.layout.folded_bytes()?;
        let tile = u64::from(tile_bytes);
        let place = |x: u32, y: u32| self.layout.offset(x, y, self.slices[0], 0);
        // What the slice adds belongs to rows.
        let first = place(0, 0);
        let column = |x: u32| {
            let at = place(x, 0);
            u32::try_from(at / tile * tile - first / tile * tile).ok().map(|whole| whole | ((at ^ first) % tile) as u32)
        };
        let columns = self.columns.get_or_init(|| (0..self.layout.pitch).map_while(column).collect());
        let row = |y: u32| u32::try_from(place(0, y).checked_sub(self.first_byte)?).ok();
        let ends = |at: &u32| (*at as usize) < self.bytes.len();
        let rows = (first_row..first_row.saturating_add(rows)).map_while(row).take_while(ends).collect();
        Some(Tiles { columns: columns.clone(), rows, tile_bytes })
    }

    pub(crate) const fn samples(&self) -> u32 {
        self.layout.samples
    }
}

/// A depth target that was found to be sound.
#[derive(Debug)]
pub(crate) struct OpenDepth<'t> {
    bytes: &'t mut [u8],
    /// Where these bytes lie among those of the whole target.
    first_byte: u64,
    rows: Option<Rows>,
    layout: Layout,
    pub(crate) format: DepthFormat,
    slices: [u32; 2],
}

impl OpenDepth<'_> {
    #[inline]
    pub(crate) fn place(&self, x: i32, y: i32, layer: u32, sample: u32) -> Option<u64> {
        if let (Some(rows), 0) = (&self.rows, layer) {
            return Some(rows.place(x, y, sample));
        }
        let slice = self.slices[0].checked_add(layer).filter(|&slice| slice <= self.slices[1])?;
        Some(self.layout.offset(x as u32, y as u32, slice, sample))
    }

    pub(crate) fn load(&self, place: u64) -> u64 {
        load(self.bytes, place.wrapping_sub(self.first_byte), self.format.bytes()) as u64
    }

    pub(crate) fn store(&mut self, place: u64, bits: u64) {
        store(self.bytes, place.wrapping_sub(self.first_byte), self.format.bytes(), bits.into());
    }
}

/// All targets, sound, with the pixels that lie in all of them.
#[derive(Debug)]
pub(crate) struct Open<'t> {
    pub(crate) colour: [Option<OpenColour<'t>>; 8],
    pub(crate) depth: Option<OpenDepth<'t>>,
    pub(crate) bounds: Rect,
    /// Buffers of stream output, each with where its offset is to go when it has moved.
    pub(crate) streams: [Option<(StreamBuffer<'t>, &'t mut u32)>; 4],
}

/// Fewest rows of a band; every layout's tiles have fewer.
const BAND_ROWS: u32 = 64;
/// Most bands.
const BANDS: u32 = 32;

/// The bytes of one slice, cut into bands of so many rows: each with its first byte. `None` where the rows of a band do not lie together.
fn bands<'t>(
    bytes: &'t mut [u8],
    layout: &Layout,
    [slice, _]: [u32; 2],
    rows: u32,
) -> Option<Vec<(u64, &'t mut [u8])>> {
    let of_band = layout.bytes_of_rows(rows).filter(|&bytes| bytes > 0)?;
    let (slice, of_slice) = (u64::from(slice) * layout.slice_bytes(), layout.slice_bytes());
    let parts = bytes.get_mut(slice as usize..(slice + of_slice) as usize)?.chunks_mut(of_band as usize);
    Some((0u64..).zip(parts).map(|(n, part)| (slice + n * of_band, part)).collect())
}

impl<'t> Open<'t> {
    /// Cuts the targets into bands of rows that can be drawn by themselves; gives the rows of a band and the bands, from row 0 on as far as the
    /// bounds go. One band where memory does not allow more.
    pub(crate) fn split(self, bounds: Rect) -> (u32, Vec<Self>) {
        let end = u32::try_from(bounds.bottom).unwrap_or(0);
        let rows = end.div_ceil(BANDS).next_multiple_of(BAND_ROWS).max(BAND_ROWS);
        let can = |layout: &Layout, slices: [u32; 2]| slices[0] == slices[1] && layout.bytes_of_rows(rows).is_some();
        let colours_can = self.colour.iter().flatten().all(|target| can(&target.layout, target.slices));
        let depth_can = self.depth.as_ref().is_none_or(|target| can(&target.layout, target.slices));
        let nothing = self.depth.is_none() && self.colour.iter().all(Option::is_none);
        if !(colours_can && depth_can) || nothing || end <= rows {
            return (end.next_multiple_of(BAND_ROWS).max(BAND_ROWS), vec![self]);
        }
        let count = end.div_ceil(rows) as usize;
        let mut all: Vec<Self> = Vec::new();
        all.resize_with(count, || Self {
            colour: [const { None }; 8],
            depth: None,
            bounds,
            streams: [const { None }; 4],
        });
        for (n, target) in self.colour.into_iter().enumerate() {
            let Some(OpenColour { bytes, rows: of_rows, layout, colours, slices, columns, .. }) = target else {
                continue;
            };
            for (open, (first_byte, bytes)) in
                all.iter_mut().zip(bands(bytes, &layout, slices, rows).unwrap_or_default())
            {
                let columns = Arc::clone(&columns);
                open.colour[n] =
                    Some(OpenColour { bytes, first_byte, rows: of_rows, layout, colours, slices, columns });
            }
        }
        if let Some(OpenDepth { bytes, rows: of_rows, layout, format, slices, .. }) = self.depth {
            for (open, (first_byte, bytes)) in
                all.iter_mut().zip(bands(bytes, &layout, slices, rows).unwrap_or_default())
            {
                open.depth = Some(OpenDepth { bytes, first_byte, rows: of_rows, layout, format, slices });
            }
        }
        (rows, all)
    }
}

impl Targets<'_> {
    /// Looks at all of them. `samples`: those of the draw; `resolve`: target 1 has one sample.
    ///
    /// # Errors
    /// The name of the first target that cannot be drawn to, and why.
    pub(crate) fn open(&mut self, samples: u32, resolve: bool) -> Result<Open<'_>, (String, TargetError)> {
        let Self { colour: colour_targets, depth: depth_target, streams } = self;
        let mut bounds = Rect { left: 0, top: 0, right: i32::MAX, bottom: i32::MAX };
        let mut cut = |[width, height]: [u32; 2]| {
            bounds = bounds.and(Rect { left: 0, top: 0, right: width as i32, bottom: height as i32 });
        };
        let mut colour = [const { None }; 8];
        for (n, (place, target)) in colour.iter_mut().zip(colour_targets).enumerate() {
            let Some(ColourTarget { bytes, layout, format, size, slices }) = target else { continue };
            let named = |error| (format!("colour target {n}"), error);
            let colours = Colours::new(*format).map_err(|error| named(TargetError::Format(error)))?;
            check(layout, colours.bytes(), *size, slices[1], bytes.len()).map_err(named)?;
            let wanted = if resolve && n == 1 { 1 } else { samples };
            if layout.samples != wanted {
                return Err(named(TargetError::Samples { found: layout.samples, wanted }));
            }
            cut(*size);
            *place = Some(OpenColour {
                bytes,
                first_byte: 0,
                rows: Rows::of(layout, *slices),
                layout: *layout,
                colours,
                slices: *slices,
                columns: Arc::default(),
            });
        }
        let depth = match depth_target {
            None => None,
            Some(DepthTarget { bytes, layout, format, size, slices }) => {
                let named = |error| ("the depth target".to_owned(), error);
                check(layout, format.bytes(), *size, slices[1], bytes.len()).map_err(named)?;
                if layout.samples != samples {
                    return Err(named(TargetError::Samples { found: layout.samples, wanted: samples }));
                }
                cut(*size);
                Some(OpenDepth {
                    bytes,
                    first_byte: 0,
                    rows: Rows::of(layout, *slices),
                    layout: *layout,
                    format: *format,
                    slices: *slices,
                })
            }
        };
        let lent = streams.each_mut().map(|stream| {
            stream.as_mut().map(|StreamBuffer { bytes, offset_dwords, size_dwords }| {
                (StreamBuffer { bytes, offset_dwords: *offset_dwords, size_dwords: *size_dwords }, offset_dwords)
            })
        });
        Ok(Open { colour, depth, bounds, streams: lent })
    }
}
