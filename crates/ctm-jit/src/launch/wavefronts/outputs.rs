//! What wavefronts export, in arrays that memory lends: no two threads write the same element, so wavefronts store in any order.

use super::places::Places;
use super::wave::{Row, lanes_of, mask_of};
use crate::launch::direct::cells_of;
use ctm_exec::arrays::scaled;
use ctm_exec::r700::{Cells, Direct, Elements, Launch, Memory, Target, Tiles, Written};
use ctm_exec::x1k::Form;
use ctm_exec::{Domain, Position};
use ctm_isa::r700::program::Stage;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// What an element is.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// So many channels of single precision, 1 to 4.
    Floats(u8),
    /// Four channels of 8 bits.
    Bytes,
    /// One channel of 16 bits.
    Words,
}

/// One target, and where its elements lie.
pub struct Output<'a> {
    target: Target,
    /// From element (0, 0) on, up to all that lie in the domain: less than 2^31 bytes.
    pub cells: &'a [AtomicU32],
    /// What elements are.
    form: Form,
    /// Bytes of an element.
    pub element_bytes: usize,
    /// Bytes of a channel.
    channel_bytes: u64,
    /// Elements from one row to the next.
    pub pitch: usize,
    /// Where its elements lie, if not row by row; every column and row of the domain is there.
    pub tiles: Option<Tiles>,
    /// Channels of an element, 1 to 4.
    pub channels: usize,
    /// Channels that may be written.
    mask: u8,
    /// Which of the exported elements each channel takes, by its place in the program's list. Channels that the mask does not let pass take none.
    pub from: [Option<usize>; 4],
}

impl Output<'_> {
    /// Where an element begins, in bytes, and the cells from there on.
    fn element(&self, at: Position) -> (usize, &[AtomicU32]) {
        let bytes = match &self.tiles {
            Some(tiles) => tiles.offset(at.i, at.j).map_or(usize::MAX, |offset| offset as usize),
            None => (at.j as usize * self.pitch + at.i as usize) * self.element_bytes,
        };
        (bytes, self.cells.get(bytes / 4..).unwrap_or_default())
    }

    /// Stores channels of an element.
    pub fn put(&self, at: Position, bits: [u32; 4], channels: u8) {
        let (bytes, cells) = self.element(at);
        let channels = (0..self.channels).filter(|channel| channels >> channel & 1 == 1);
        // Neighbours may share a dword.
        let part = |first: usize, most: u32, bits: u32| {
            if let Some(cell) = cells.first() {
                let change = |all: u32| Some(all & !(most << first) | scaled(bits, most) << first);
                let _ = cell.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
            }
        };
        for channel in channels {
            match self.form {
                Form::Bytes { .. } => part(8 * self.form.channel(channel).0, u8::MAX.into(), bits[channel]),
                Form::Words => part(8 * (bytes % 4), u16::MAX.into(), bits[channel]),
                Form::Floats | Form::Square => {
                    if let Some(cell) = cells.get(channel) {
                        cell.store(bits[channel], Ordering::Relaxed);
                    }
                }
            }
        }
    }

    /// Stores what lanes have written of each channel: 32 bits for each channel and lane.
    pub fn store(&self, places: &Places, written: [u64; 4], bits: impl Fn(usize, usize) -> u32) {
        for lane in lanes_of(written.iter().fold(0, |any, lanes| any | lanes)) {
            let channels = (0..4).fold(0, |set, channel| set | ((written[channel] >> lane & 1) as u8) << channel);
            self.put(places.position(lane), std::array::from_fn(|channel| bits(channel, lane)), channels);
        }
    }

    /// Counts what lanes have written of each channel.
    #[inline(always)]
    pub fn count(&self, written: &[u64; 4], done: &mut Written) {
        let any = written.iter().fold(0, |any, lanes| any | lanes);
        let channels: u32 = written.iter().map(|lanes| lanes.count_ones()).sum();
        done.elements += u64::from(any.count_ones());
        done.bytes += self.channel_bytes * u64::from(channels);
    }

    /// What an element is.
    #[cfg(target_arch = "x86_64")]
    pub const fn kind(&self) -> Kind {
        match self.form {
            Form::Floats | Form::Square => Kind::Floats(self.channels as u8),
            Form::Bytes { .. } => Kind::Bytes,
            Form::Words => Kind::Words,
        }
    }

    /// By how many bits a channel is shifted, where an element is one dword.
    #[cfg(target_arch = "x86_64")]
    pub fn shift(&self, channel: usize) -> u32 {
        8 * self.form.channel(channel).0 as u32
    }

    fn written(&self, channels: u8) -> Written {
        Written { elements: u64::from(channels != 0), bytes: self.channel_bytes * u64::from(channels.count_ones()) }
    }
}

/// All targets there are, by their numbers.
pub fn targets() -> &'static [Target] {
    static TARGETS: OnceLock<Vec<Target>> = OnceLock::new();
    TARGETS.get_or_init(|| Target::all().collect())
}

/// The numbers of the targets of exported elements, which are in order.
fn numbers(exports: &[usize]) -> impl Iterator<Item = usize> {
    exports.chunk_by(|a, b| a / 4 == b / 4).map(|elements| elements[0] / 4)
}

/// The targets of a launch, in order, without those that drop what they are sent.
pub struct Outputs<'a>(pub Vec<Output<'a>>);

impl<'a> Outputs<'a> {
    /// Of a launch of an R700 program that may write these exported elements (`4 * target + element`, in order), and what the launch reads; `None` when exports
    /// have to be committed.
    pub fn of(
        memory: &'a mut dyn Memory,
        exports: &[usize],
        launch: &Launch<'_>,
    ) -> Option<(Self, Box<dyn Memory + 'a>)> {
        let targets: Vec<Target> = numbers(exports).map(|number| targets()[number]).collect();
        let Direct { targets: lent, reads, .. } = memory.direct(&[], &targets)?;
        let (mut lent, quads) = (lent.into_iter(), launch.stage == Stage::Pixel);
        Some((Self::lent(exports, |_| lent.next()?, &launch.domain, quads)?, reads))
    }

    /// Of what is lent for each target of these exported elements, by its number; `quads`: lanes are quads. `None` when exports have to be committed.
    pub fn lent(
        exports: &[usize],
        mut lent: impl FnMut(usize) -> Option<Elements<Cells<'a>>>,
        domain: &Domain,
        quads: bool,
    ) -> Option<Self> {
        let mut outputs = Vec::new();
        for number in numbers(exports) {
            let target = targets()[number];
            let Some(lent) = lent(number) else { continue };
            let tiles = lent.tiles;
            let cells = cells_of(lent.bytes)?;
            let channels = usize::from(lent.channels);
            let element_bytes = lent.form.element_bytes(lent.channels) as usize;
            let channel_bytes = lent.form.channel(0).1 as u64;
            // One channel of 16 bits: two of a quad share a dword, and no others.
            let pairs = quads && lent.pitch % 2 == 0;
            let stores = match lent.form {
                Form::Floats => (1..=4).contains(&channels),
                Form::Bytes { .. } => channels == 4,
                Form::Words => channels == 1 && pairs,
                Form::Square => false,
            };
            let last = match &tiles {
                // Tiles are whole.
                Some(tiles) if tiles.tile_bytes.is_power_of_two() => tiles.last(domain.i1, domain.j1)?,
                Some(_) => return None,
                None => {
                    let last = u64::from(domain.j1) * u64::from(lent.pitch) + u64::from(domain.i1);
                    ((last + 1) * element_bytes as u64).next_multiple_of(4)
                }
            };
            let holds =
                domain.i1 < lent.width && domain.j1 < lent.height && (tiles.is_some() || lent.width <= lent.pitch);
            // Code counts bytes in 31 bits.
            let fits = last <= 4 * cells.len() as u64 && last < 1 << 31;
            if !stores || !holds || !fits {
                return None;
            }
            let passes = |&channel: &usize| channel < channels && lent.mask >> channel & 1 == 1;
            let place = |channel: usize| exports.iter().position(|&export| export == 4 * number + channel);
            let from = std::array::from_fn(|channel| Some(channel).filter(passes).and_then(place));
            let mask = lent.mask & ((1 << channels) - 1) as u8;
            let (form, pitch) = (lent.form, lent.pitch as usize);
            outputs.push(Output {
                target,
                cells,
                form,
                element_bytes,
                channel_bytes,
                pitch,
                tiles,
                channels,
                mask,
                from,
            });
        }
        Some(Self(outputs))
    }

    /// Stores what the valid lanes of a wavefront exported: the lanes that wrote each exported element, by its place in the list, and its row. Says
    /// what that was.
    pub fn store(&self, places: &Places, valid: u64, written: impl Fn(usize) -> u64, rows: &[Row]) -> Written {
        let mut done = Written::default();
        for output in &self.0 {
            let lanes = output.from.map(|from| from.map_or(0, |place| written(place) & valid));
            output.count(&lanes, &mut done);
            let bits = |channel: usize, lane: usize| output.from[channel].map_or(0, |place| rows[place][lane]);
            output.store(places, lanes, bits);
        }
        done
    }

    /// The cells that a wavefront's lanes may store to, in an order that is always the same.
    pub fn cells<'s>(&'s self, places: &Places) -> impl Iterator<Item = &'s [AtomicU32]> {
        self.0.iter().flat_map(move |output| {
            // Quads side by side are two rows, which begin with the first quad's lanes 0 and 2.
            let is_rows = places.strip && places.inside == mask_of(places.lanes) && output.tiles.is_none();
            let (lanes, count) = if is_rows { (0b101, places.lanes / 2) } else { (places.inside, 1) };
            lanes_of(lanes).map(move |lane| {
                let (bytes, cells) = output.element(places.position(lane));
                let dwords = (bytes % 4 + count * output.element_bytes).div_ceil(4);
                &cells[..dwords.min(cells.len())]
            })
        })
    }

    /// Stores what a thread exported: bits and elements of each target. Says what that was.
    pub fn send(&self, at: Position, exports: &dyn Fn(Target) -> Option<([u32; 4], u8)>) -> Written {
        let mut done = Written::default();
        for output in &self.0 {
            let Some((bits, elements)) = exports(output.target) else { continue };
            let channels = elements & output.mask;
            output.put(at, bits, channels);
            let written = output.written(channels);
            done.elements += written.elements;
            done.bytes += written.bytes;
        }
        done
    }
}
