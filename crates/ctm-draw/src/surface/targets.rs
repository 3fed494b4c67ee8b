//! The targets of a draw: colour targets and a depth target in memory of the caller.

use crate::rect::Rect;
use crate::surface::cleared::FastClear;
use crate::surface::depth::DepthFormat;
use crate::surface::format::{ColourFormat, Colours, FormatError};
use crate::surface::layout::{Layout, LayoutError};
use crate::surface::samples::{Lines, Surface};
use ctm_exec::r700::Cells;
use ctm_exec::x1k::{Elements, Form};

/// A colour target.
#[derive(Debug)]
pub struct ColourTarget<'a> {
    /// All slices, from the first byte of slice 0 on.
    pub bytes: &'a mut [u8],
    /// Where samples lie; its element size is that of the format.
    pub layout: Layout,
    /// The stored format of colours.
    pub format: ColourFormat,
    /// Columns and rows that may be drawn to.
    pub size: [u32; 2],
    /// The slice of layer 0, and the last slice. Pixels of later layers are dropped.
    pub slices: [u32; 2],
}

/// A depth target.
#[derive(Debug)]
pub struct DepthTarget<'a> {
    /// All slices, from the first byte of slice 0 on.
    pub bytes: &'a mut [u8],
    /// Where samples lie; its element size is that of the format.
    pub layout: Layout,
    /// The stored format of depth and stencil.
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
    /// Stores end before this dword. At most as many as there are bytes for.
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
    /// Fast clears of layer 0 of each colour target. One of another layout or slice has no effect: all of it must have been stored before.
    pub colour_clears: [Option<&'a mut FastClear>; 8],
    /// The same of the depth target.
    pub depth_clear: Option<&'a mut FastClear>,
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

/// A colour target that was found to be sound.
#[derive(Debug)]
pub(crate) struct OpenColour<'t> {
    pub(crate) surface: Surface<'t>,
    pub(crate) colours: Colours,
}

impl OpenColour<'_> {
    /// Whether engines can store colours of layer 0 themselves.
    pub(crate) fn can_be_lent(&self) -> bool {
        self.surface.can_be_lent() && self.colours.form().is_some()
    }

    /// Layer 0 as elements of 32 bits, for engines that merge themselves; `None`: elements have another size.
    pub(crate) fn dwords(&mut self) -> Option<Elements<Cells<'_>>> {
        if self.colours.bytes() != 4 {
            return None;
        }
        let Lines { bytes, pitch, height, tiles } = self.surface.lines()?;
        let (bytes, form) = (Cells::Bytes(bytes), Form::Floats);
        Some(Elements { bytes, pitch, width: pitch, height, form, channels: 1, mask: 1, tiles })
    }

    /// Layer 0 for engines that store themselves, whose row 0 is the first row of these bytes.
    pub(crate) fn lent(&mut self) -> Option<Elements<Cells<'_>>> {
        let (form, channels) = self.colours.form()?;
        let Lines { bytes, pitch, height, tiles } = self.surface.lines()?;
        let bytes = Cells::Bytes(bytes);
        Some(Elements { bytes, pitch, width: pitch, height, form, channels, mask: 0b1111, tiles })
    }
}

/// A depth target that was found to be sound.
#[derive(Debug)]
pub(crate) struct OpenDepth<'t> {
    pub(crate) surface: Surface<'t>,
    pub(crate) format: DepthFormat,
}

impl OpenDepth<'_> {
    pub(crate) fn load(&self, place: u64) -> u64 {
        self.surface.load(place) as u64
    }

    pub(crate) fn store(&mut self, place: u64, bits: u64) {
        self.surface.store(place, bits.into());
    }
}

/// All targets, sound, with the pixels that lie in all of them.
#[derive(Debug)]
pub(crate) struct Open<'t> {
    pub(crate) colour: [Option<Box<OpenColour<'t>>>; 8],
    pub(crate) depth: Option<OpenDepth<'t>>,
    pub(crate) bounds: Rect,
    /// Buffers of stream output, each with the place for its new offset.
    pub(crate) streams: [Option<(StreamBuffer<'t>, &'t mut u32)>; 4],
}

/// Fewest rows of a band; every layout's tiles have fewer.
const BAND_ROWS: u32 = 64;
/// Most bands.
const BANDS: u32 = 32;

impl<'t> Open<'t> {
    /// Without targets.
    pub(crate) const fn nothing(bounds: Rect) -> Self {
        Self { colour: [const { None }; 8], depth: None, bounds, streams: [const { None }; 4] }
    }

    /// The rows of all targets as one band.
    pub(crate) fn rows_of_all(bounds: Rect) -> u32 {
        u32::try_from(bounds.bottom).unwrap_or(0).next_multiple_of(BAND_ROWS).max(BAND_ROWS)
    }

    /// Cuts the targets into bands of rows that can be drawn separately; returns the rows of a band and the bands, from row 0 on as far as the
    /// bounds go. One band where memory does not allow more.
    pub(crate) fn split(self, bounds: Rect) -> (u32, Vec<Self>) {
        let end = u32::try_from(bounds.bottom).unwrap_or(0);
        let rows = end.div_ceil(BANDS).next_multiple_of(BAND_ROWS).max(BAND_ROWS);
        let colours_can = self.colour.iter().flatten().all(|target| target.surface.splits(rows));
        let depth_can = self.depth.as_ref().is_none_or(|target| target.surface.splits(rows));
        let nothing = self.depth.is_none() && self.colour.iter().all(Option::is_none);
        if !(colours_can && depth_can) || nothing || end <= rows {
            return (Self::rows_of_all(bounds), vec![self]);
        }
        let count = end.div_ceil(rows) as usize;
        let mut all: Vec<Self> = Vec::new();
        all.resize_with(count, || Self::nothing(bounds));
        for (n, target) in self.colour.into_iter().enumerate() {
            let Some(OpenColour { surface, colours }) = target.map(|target| *target) else { continue };
            for (open, surface) in all.iter_mut().zip(surface.split(rows)) {
                open.colour[n] = Some(Box::new(OpenColour { surface, colours }));
            }
        }
        if let Some(OpenDepth { surface, format }) = self.depth {
            for (open, surface) in all.iter_mut().zip(surface.split(rows)) {
                open.depth = Some(OpenDepth { surface, format });
            }
        }
        (rows, all)
    }
}

impl Targets<'_> {
    /// Checks all of them. `samples`: those of the draw; `resolve`: target 1 has one sample.
    ///
    /// # Errors
    /// The name of the first target that cannot be drawn to, and the reason.
    pub(crate) fn open(&mut self, samples: u32, resolve: bool) -> Result<Open<'_>, (String, TargetError)> {
        let Self { colour: colour_targets, depth: depth_target, streams, colour_clears, depth_clear } = self;
        let mut bounds = Rect { left: 0, top: 0, right: i32::MAX, bottom: i32::MAX };
        let mut cut = |[width, height]: [u32; 2]| {
            bounds = bounds.and(Rect { left: 0, top: 0, right: width as i32, bottom: height as i32 });
        };
        let mut colour = [const { None }; 8];
        for (n, ((place, target), clear)) in colour.iter_mut().zip(colour_targets).zip(colour_clears).enumerate() {
            let Some(ColourTarget { bytes, layout, format, size, slices }) = target else { continue };
            let named = |error| (format!("colour target {n}"), error);
            let colours = Colours::new(*format).map_err(|error| named(TargetError::Format(error)))?;
            check(layout, colours.bytes(), *size, slices[1], bytes.len()).map_err(named)?;
            let wanted = if resolve && n == 1 { 1 } else { samples };
            if layout.samples != wanted {
                return Err(named(TargetError::Samples { found: layout.samples, wanted }));
            }
            cut(*size);
            let surface = Surface::new(bytes, *layout, *slices).with_clears(clear.as_deref_mut());
            *place = Some(Box::new(OpenColour { surface, colours }));
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
                let surface = Surface::new(bytes, *layout, *slices).with_clears(depth_clear.as_deref_mut());
                Some(OpenDepth { surface, format: *format })
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
