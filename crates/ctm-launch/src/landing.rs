//! Outputs while they are written: the caller's numbers in place, or new arrays.

use crate::error::ArgumentError;
use crate::model::Place;
use crate::view::COLUMNS;
use ctm_exec::Domain;
use ctm_exec::x1k::{Elements, Form};
use ctm_files::array::{Array, Values};

/// An output.
pub(crate) struct Landing<'a> {
    numbers: Numbers<'a>,
    like: Elements<()>,
    /// Elements of a line that is cut to its length.
    line: Option<usize>,
}

enum Numbers<'a> {
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

impl<'a> Landing<'a> {
    /// The output `name` of `channels` channels in its place.
    pub fn new(name: &str, channels: usize, place: Place<'a>, demands: Demands) -> Result<Self, ArgumentError> {
        let wrong = |message: String| ArgumentError::Shape { name: name.to_owned(), message };
        let Demands { domain, line, uncached } = demands;
        if !matches!(channels, 1 | 2 | 4) {
            return Err(wrong(format!("an output has 1, 2 or 4 channels, not {channels}")));
        }
        if uncached && channels != 1 {
            return Err(wrong(format!("uncached writes need one channel (CTM §3.3.8), not {channels}")));
        }
        let reaches = [domain.j1 as usize + 1, domain.i1 as usize + 1];
        let [rows, columns] = match &place {
            Place::Into(_, Some(size)) => *size,
            _ => reaches,
        };
        let most = COLUMNS as usize;
        let small = rows < reaches[0] || columns < reaches[1];
        if small && !uncached || rows == 0 || columns == 0 || rows > most || columns > most {
            return Err(wrong(format!(
                "it has {rows} rows and {columns} columns, the domain reaches {} and {}, and {most} are the most",
                reaches[0], reaches[1]
            )));
        }
        let like = Elements {
            bytes: (),
            pitch: u32::try_from(columns).unwrap_or(u32::MAX),
            width: u32::try_from(columns).unwrap_or(u32::MAX),
            height: u32::try_from(rows).unwrap_or(u32::MAX),
            form: Form::Floats,
            channels: u8::try_from(channels).unwrap_or(4),
            mask: 0xf,
            tiles: None,
        };
        let count = rows * columns * channels;
        let cut = line.filter(|_| !matches!(place, Place::Into(_, Some(_))));
        let expected = cut.map_or(count, |n| n * channels);
        let numbers = match place {
            Place::New => Numbers::Own(vec![0.0; count]),
            Place::Into(numbers, _) if numbers.len() != expected => {
                return Err(wrong(format!("it has room for {} numbers, the run gives {expected}", numbers.len())));
            }
            Place::Into(numbers, _) if expected == count => Numbers::Caller(numbers),
            Place::Into(numbers, _) => {
                let mut copy = numbers.to_vec();
                copy.resize(count, 0.0);
                Numbers::Copy(copy, numbers)
            }
        };
        Ok(Self { numbers, like, line: cut })
    }

    /// The array that engines write.
    pub fn elements(&mut self) -> Elements<&mut [u8]> {
        let numbers: &mut [f32] = match &mut self.numbers {
            Numbers::Own(own) | Numbers::Copy(own, _) => own,
            Numbers::Caller(numbers) => numbers,
        };
        self.like.with(bytemuck::cast_slice_mut(numbers))
    }

    /// The array, if it is not the caller's.
    pub fn finish(self) -> Option<Array> {
        let channels = usize::from(self.like.channels);
        match self.numbers {
            Numbers::Caller(_) => None,
            Numbers::Copy(own, to) => {
                let count = to.len();
                to.copy_from_slice(&own[..count]);
                None
            }
            Numbers::Own(mut own) => {
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
