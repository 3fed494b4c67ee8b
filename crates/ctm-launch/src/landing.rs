//! Outputs while they are written: the caller's numbers in place, or new arrays.

use crate::error::ArgumentError;
use crate::source::OutputArray;
use crate::view::COLUMNS;
use ctm_device::mc::Surface;
use ctm_exec::Domain;
use ctm_exec::x1k::{Elements, Form};
use ctm_files::array::{Array, Values};

/// An output in the caller's memory.
pub(crate) struct Landing<'a> {
    numbers: OutputNumbers<'a>,
    like: Elements<()>,
    /// Elements of a line that is cut to its length.
    line: Option<usize>,
}

enum OutputNumbers<'a> {
    Own(Vec<f32>),
    Caller(&'a mut [f32]),
    /// The caller's, which are fewer than whole rows.
    Copy(Vec<f32>, &'a mut [f32]),
}

/// The demands on an output.
#[derive(Clone, Copy)]
pub(crate) struct Demands {
    /// The domain that writes it.
    pub domain: Domain,
    /// Elements of the line, if the domain is one.
    pub line: Option<usize>,
    /// Writes go to computed places: it has one channel, and any size.
    pub uncached: bool,
}

/// An output, bound.
pub(crate) enum BoundOutput<'a> {
    /// In the caller's memory, or new there.
    Here(Landing<'a>),
    /// In a device's memory.
    Device { surface: Surface, mask: u8 },
}

impl<'a> BoundOutput<'a> {
    /// The output `name` in its place.
    pub fn new(name: impl Fn() -> String, place: OutputArray<'a>, demands: Demands) -> Result<Self, ArgumentError> {
        let wrong = |message: String| ArgumentError::Shape { name: name(), message };
        let Demands { domain, line, uncached } = demands;
        let reaches = [domain.j1 as usize + 1, domain.i1 as usize + 1];
        let (channels, [rows, columns], mask) = match &place {
            OutputArray::New(channels) => (*channels, reaches, 0xf),
            OutputArray::Into { channels, size, mask, .. } => (*channels, size.unwrap_or(reaches), *mask),
            OutputArray::Device { surface, mask } => {
                let size = [surface.rows(), surface.width()].map(|n| n as usize);
                (surface.format.info().channels, size, *mask)
            }
        };
        if !matches!(channels, 1 | 2 | 4) {
            return Err(wrong(format!("an output has 1, 2 or 4 channels, not {channels}")));
        }
        if uncached && channels != 1 {
            return Err(wrong(format!("uncached writes need one channel (CTM §3.3.8), not {channels}")));
        }
        let most = COLUMNS as usize;
        let small = rows < reaches[0] || columns < reaches[1];
        if small && !uncached || rows == 0 || columns == 0 || rows > most || columns > most {
            return Err(wrong(format!(
                "it has {rows} rows and {columns} columns, the domain reaches {} and {}, and {most} are the most",
                reaches[0], reaches[1]
            )));
        }
        let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let like = Elements {
            bytes: (),
            pitch: side(columns),
            width: side(columns),
            height: side(rows),
            form: Form::Floats,
            channels: u8::try_from(channels).unwrap_or(4),
            mask,
            tiles: None,
        };
        let count = rows * columns * channels;
        let cut = line.filter(|_| !matches!(place, OutputArray::Into { size: Some(_), .. }));
        let expected = cut.map_or(count, |n| n * channels);
        let numbers = match place {
            OutputArray::Device { surface, mask } => return Ok(Self::Device { surface, mask }),
            OutputArray::New(_) => OutputNumbers::Own(vec![0.0; count]),
            OutputArray::Into { numbers, .. } if numbers.len() != expected => {
                return Err(wrong(format!("it has room for {} numbers, the run gives {expected}", numbers.len())));
            }
            OutputArray::Into { numbers, .. } if expected == count => OutputNumbers::Caller(numbers),
            OutputArray::Into { numbers, .. } => {
                let mut copy = numbers.to_vec();
                copy.resize(count, 0.0);
                OutputNumbers::Copy(copy, numbers)
            }
        };
        Ok(Self::Here(Landing { numbers, like, line: cut }))
    }

    /// The array in the caller's memory.
    pub fn here(&mut self, name: impl FnOnce() -> String) -> Result<&mut Landing<'a>, ArgumentError> {
        match self {
            Self::Here(landing) => Ok(landing),
            Self::Device { .. } => Err(elsewhere(name(), true)),
        }
    }

    /// The array in the device's memory.
    pub fn there(&self, name: impl FnOnce() -> String) -> Result<&Surface, ArgumentError> {
        match self {
            Self::Device { surface, .. } => Ok(surface),
            Self::Here(_) => Err(elsewhere(name(), false)),
        }
    }

    /// The array, if it is new.
    pub fn finish(self) -> Option<Array> {
        match self {
            Self::Here(landing) => landing.finish(),
            Self::Device { .. } => None,
        }
    }
}

/// The channels that a device writes in all of these outputs.
pub(crate) fn common_mask<'o, 'a: 'o>(outputs: impl Iterator<Item = &'o BoundOutput<'a>>) -> Result<u8, ArgumentError> {
    let mut masks =
        outputs.filter_map(|output| if let BoundOutput::Device { mask, .. } = output { Some(*mask) } else { None });
    let first = masks.next().unwrap_or(0xf);
    if masks.all(|mask| mask == first) {
        return Ok(first);
    }
    let message = "the write mask is one for all outputs of a launch on a device, and these differ".to_owned();
    Err(ArgumentError::Value { name: "mask".to_owned(), message })
}

/// The error of an array that lies on the wrong side: in a device's memory, or in the caller's.
pub(crate) fn elsewhere(name: String, on_device: bool) -> ArgumentError {
    let message = match on_device {
        true => "it lies in a device's memory: `run_on` runs launches there",
        false => "a launch on a device reads and writes arrays in the device's memory, and this one does not lie there",
    };
    ArgumentError::Shape { name, message: message.to_owned() }
}

impl Landing<'_> {
    /// The array that engines write.
    pub fn elements(&mut self) -> Elements<&mut [u8]> {
        let numbers: &mut [f32] = match &mut self.numbers {
            OutputNumbers::Own(own) | OutputNumbers::Copy(own, _) => own,
            OutputNumbers::Caller(numbers) => numbers,
        };
        self.like.with(bytemuck::cast_slice_mut(numbers))
    }

    /// The array, if it is not the caller's.
    fn finish(self) -> Option<Array> {
        let channels = usize::from(self.like.channels);
        match self.numbers {
            OutputNumbers::Caller(_) => None,
            OutputNumbers::Copy(own, to) => {
                let count = to.len();
                to.copy_from_slice(&own[..count]);
                None
            }
            OutputNumbers::Own(mut own) => {
                let (mut height, mut width) = (self.like.height as usize, self.like.width as usize);
                if let Some(n) = self.line {
                    own.truncate(n * channels);
                    (height, width) = (1, n);
                }
                Some(Array { height, width, channels, values: Values::F32(own) })
            }
        }
    }
}
