//! Where the arrays of a launch lie: in the caller's memory, or in a device's.

use crate::view::View;
use ctm_device::commands::{CondLoc, CondTest};
use ctm_device::mc::Surface;
use ctm_exec::arrays::Picture;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::Image;
use ctm_exec::{r700, x1k};

/// An array that a program reads.
#[derive(Clone, Copy, Debug)]
pub enum InputArray<'a> {
    /// Numbers of the caller's.
    View(View<'a>),
    /// R700: a texture with levels, slices or faces.
    Texture(&'a Image),
    /// An array in the memory of the device that runs the launch.
    Device(DeviceArray),
}

impl<'a, T: Into<View<'a>>> From<T> for InputArray<'a> {
    fn from(view: T) -> Self {
        Self::View(view.into())
    }
}

impl From<DeviceArray> for InputArray<'_> {
    fn from(array: DeviceArray) -> Self {
        Self::Device(array)
    }
}

/// R700: the bytes of a buffer of vertex fetches.
#[derive(Clone, Copy, Debug)]
pub struct Items<'a> {
    /// The bytes.
    pub bytes: &'a [u8],
    /// Bytes from one item to the next.
    pub stride_bytes: u32,
    /// The format for fetches that take it from the buffer.
    pub format: Format,
}

/// An array in a device's memory: address, format, pitch, rows and order as its commands have them (CTM §2.1.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceArray {
    /// The array.
    pub surface: Surface,
    /// Columns that are read, at most the pitch.
    pub columns: u32,
}

impl From<Surface> for DeviceArray {
    /// The array with all columns of its pitch.
    fn from(surface: Surface) -> Self {
        Self { surface, columns: surface.width() }
    }
}

impl DeviceArray {
    /// Rows and columns.
    pub(crate) fn size(&self) -> [usize; 2] {
        [self.surface.rows() as usize, self.columns.min(self.surface.width()) as usize]
    }
}

/// The sampler of an X1K input: of three coordinates two, of the filters that of magnification, and no levels.
///
/// ```
/// use ctm_exec::r700::Sampler;
/// assert_eq!(ctm_launch::source::of_input(&Sampler::default()), ctm_exec::x1k::Sampler::default());
/// ```
#[must_use]
pub const fn of_input(sampler: &r700::Sampler) -> x1k::Sampler {
    let [x, y, _] = sampler.wrap;
    x1k::Sampler { filter: sampler.magnify, wrap: [x, y], border: sampler.border }
}

/// The array of an output.
#[derive(Debug)]
pub enum OutputArray<'a> {
    /// A new array of 1, 2 or 4 channels, zero at the start.
    New(usize),
    /// The caller's numbers.
    Into {
        /// The numbers.
        numbers: &'a mut [f32],
        /// Channels of an element: 1, 2 or 4.
        channels: usize,
        /// Rows and columns, if they are not the domain's.
        size: Option<[usize; 2]>,
        /// Channels that are written (bit 0 = the first).
        mask: u8,
    },
    /// An array in the memory of the device that runs the launch.
    Device {
        /// The array.
        surface: Surface,
        /// Channels that are written (bit 0 = r): the same of all outputs of a launch.
        mask: u8,
    },
}

impl<'a> OutputArray<'a> {
    /// The elements of a picture, of which the channels in `mask` are written.
    #[must_use]
    pub fn picture(picture: &'a mut Picture, mask: u8) -> Self {
        let size = Some([picture.height as usize, picture.width as usize]);
        Self::Into { numbers: bytemuck::cast_slice_mut(&mut picture.elements), channels: 4, size, mask }
    }
}

/// The Conditional Output Unit of a device during a launch (CTM §2.1.3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conditional {
    /// Its buffer.
    pub buffer: Surface,
    /// Whether the test comes before a processor runs (PE) or when it has ended (DPP).
    pub location: CondLoc,
    /// The test.
    pub test: CondTest,
    /// The PE's conditional value, as bits.
    pub value: u32,
    /// Whether values that pass are written to the buffer.
    pub write: bool,
}
