//! Exports of wavefronts into mapped arrays: no two threads write the same element, so wavefronts store in any order.

use super::conditional::ConditionalRows;
use super::places::{LaneShape, Places};
use super::wave::{Row, lanes_of, mask_of};
use crate::launch::direct::cells_of;
use ctm_exec::arrays::scaled;
use ctm_exec::r700::{Cells, Direct, Elements, Launch, Memory, Target, TargetEpilogue, Written};
use ctm_exec::x1k::Form;
use ctm_exec::{Domain, Position};
use ctm_isa::r700::program::Stage;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// One target, and the layout of its elements.
pub struct TargetOutput<'a> {
    target: Target,
    /// It has every column and row of the domain, in less than 2^31 bytes. An element has four channels of 8 bits, one
    /// of 16 bits, or 1 to 4 numbers.
    pub array: Elements<&'a [AtomicU32]>,
    /// Bytes of an element, and of a channel.
    pub element_bytes: usize,
    channel_bytes: u64,
    /// The exported element of each channel, by its place in the program's list. Channels that may not be written have
    /// none.
    pub from: [Option<usize>; 4],
    /// How elements of 4 bytes lie that the lanes of two adjacent quads store.
    pub pairs: Pairs,
}

/// How elements of 4 bytes lie in an array, of the lanes of each two quads side by side that begin at a multiple of 4 columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// As [`Self::Block`], and those of each four quads from a multiple of 8 columns on are 64 contiguous bytes.
    Line,
    /// 32 contiguous bytes: the four elements of the upper row, then those of the lower one.
    Block,
    /// 16 contiguous bytes in each of two rows.
    Rows,
    /// Quads lie anywhere: the elements of each row of a quad are contiguous, and the two rows of each equally far apart.
    Quads,
    /// In any way.
    Apart,
}

impl Pairs {
    fn of(array: &Elements<&[AtomicU32]>, domain: &Domain, element_bytes: usize) -> Self {
        if element_bytes != 4 {
            return Self::Apart;
        }
        let Some(tiles) = &array.tiles else { return Self::Rows };
        let [columns, rows] = [(&tiles.columns, domain.i0, domain.i1), (&tiles.rows, domain.j0, domain.j1)]
            .map(|(all, first, last)| all.get(first as usize..=last as usize).unwrap_or_default());
        let ((fours, rest), (twos, odd)) = (columns.as_chunks::<4>(), rows.as_chunks::<2>());
        let is_contiguous = |&[a, b, c, d]: &[u32; 4]| a & 15 == 0 && [b, c, d] == [a | 4, a | 8, a | 12];
        let is_pair = |&[a, b]: &[u32; 2]| b == a + 4;
        if domain.i0.is_multiple_of(2)
            && tiles.tile_bytes == 4
            && rows.len() == 2
            && columns.len().is_multiple_of(2)
            && columns.as_chunks().0.iter().all(is_pair)
        {
            return Self::Quads;
        }
        let is_whole = domain.i0.is_multiple_of(4) && domain.j0.is_multiple_of(2) && rest.is_empty() && odd.is_empty();
        if !is_whole
            || tiles.tile_bytes < 32
            || !fours.iter().all(is_contiguous)
            || rows.iter().any(|row| row & 15 != 0)
        {
            return Self::Apart;
        }
        let is_block =
            fours.iter().all(|four| four[0] & 31 == 0) && twos.iter().all(|&[a, b]| a & 31 == 0 && b == a | 16);
        let (eights, rest) = columns.as_chunks::<8>();
        let is_line = tiles.tile_bytes >= 64
            && domain.i0.is_multiple_of(8)
            && rest.is_empty()
            && eights.iter().all(|eight| eight[0] & 63 == 0 && eight[4] == eight[0] | 32)
            && twos.iter().all(|two| two[0] & 63 == 0);
        match (is_block, is_line) {
            (true, true) => Self::Line,
            (true, false) => Self::Block,
            (false, _) => Self::Rows,
        }
    }
}

impl TargetOutput<'_> {
    /// The element at a position, of 4 bytes.
    fn load(&self, at: Position) -> u32 {
        let cell = self.array.offset(at.i, at.j).and_then(|first| self.array.bytes.get(first / 4));
        cell.map_or(0, |cell| cell.load(Ordering::Relaxed))
    }

    /// The elements of all lanes in the domain.
    pub fn load_each(&self, places: &Places, row: &mut Row) {
        lanes_of(places.inside).for_each(|lane| row[lane] = self.load(places.position(lane)));
    }

    /// Stores channels of an element. Gives the size of the write.
    pub fn put(&self, at: Position, bits: [u32; 4], channels: u8) -> Written {
        let Elements { bytes: cells, form, mask, .. } = &self.array;
        let mut done = Written::default();
        let Some(first) = self.array.offset(at.i, at.j) else { return done };
        for channel in (0..self.array.channels.into()).filter(|channel| (channels & mask) >> channel & 1 == 1) {
            let (begin, bytes) = form.channel(channel);
            let Some(cell) = cells.get((first + begin) / 4) else { continue };
            if bytes == 4 {
                cell.store(bits[channel], Ordering::Relaxed);
            } else {
                // Neighbours may share a dword.
                let (shift, most) = (8 * ((first + begin) % 4), (1 << (8 * bytes)) - 1);
                let change = |all: u32| Some(all & !(most << shift) | scaled(bits[channel], most) << shift);
                let _ = cell.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
            }
            done.elements = 1;
            done.bytes += bytes as u64;
        }
        done
    }

    /// Stores the written channels of lanes: 32 bits for each channel and lane.
    pub fn store(&self, places: &Places, written: [u64; 4], bits: impl Fn(usize, usize) -> u32) {
        for lane in lanes_of(written.iter().fold(0, |any, lanes| any | lanes)) {
            let channels = (0..4).fold(0, |set, channel| set | ((written[channel] >> lane & 1) as u8) << channel);
            self.put(places.position(lane), std::array::from_fn(|channel| bits(channel, lane)), channels);
        }
    }

    /// Counts the written channels of lanes.
    pub fn count_lanes(&self, written: &[u64; 4], done: &mut Written) {
        let any = written.iter().fold(0, |any, lanes| any | lanes);
        done.elements += u64::from(any.count_ones());
        done.bytes += self.channel_bytes * written.iter().map(|lanes| u64::from(lanes.count_ones())).sum::<u64>();
    }
}

/// All targets, by their numbers.
pub fn targets() -> &'static [Target] {
    static TARGETS: OnceLock<Vec<Target>> = OnceLock::new();
    TARGETS.get_or_init(|| Target::all().collect())
}

/// The numbers of the targets of exported elements, which are in order.
fn numbers(exports: &[usize]) -> impl Iterator<Item = usize> {
    exports.chunk_by(|a, b| a / 4 == b / 4).map(|elements| elements[0] / 4)
}

/// The destinations of a launch's exports.
pub struct Outputs<'a> {
    /// Its targets, in order, without those that drop their exports.
    pub targets: Vec<TargetOutput<'a>>,
    /// The test before the store, if there is one.
    pub conditional: Option<ConditionalRows<'a>>,
    /// The operations that made the targets' elements, in the order of these; they are part of the program.
    pub epilogues: &'a [TargetEpilogue],
    /// The targets whose elements are start values of the program, in the order of these.
    pub stored: Vec<usize>,
}

impl<'a> Outputs<'a> {
    /// The outputs of a launch of an R700 program that may write these exported elements (`4 * target + element`, in
    /// order), given the arrays that the launch reads; `None` when exports have to be committed.
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

    /// The outputs of a launch whose epilogues are part of the program; `stored`: the targets whose elements are its last start values. `None` when exports have to be committed.
    pub fn merged(
        memory: &'a mut dyn Memory,
        (exports, stored): (&[usize], &[u8]),
        launch: &Launch<'a>,
    ) -> Option<(Self, Box<dyn Memory + 'a>)> {
        let numbers: Vec<u8> = launch.epilogues.iter().map(|of| of.target).collect();
        let Direct { targets: lent, reads, .. } = memory.merged(&numbers)?;
        Some((Self::with_epilogues((exports, stored), launch.epilogues, lent, &launch.domain)?, reads))
    }

    /// The outputs of a launch whose epilogues are part of the program, in the arrays that memory maps for their targets, in the order of these; `stored`: the targets whose
    /// elements are its last start values. `None` when exports have to be committed.
    pub fn with_epilogues(
        (exports, stored): (&[usize], &[u8]),
        epilogues: &'a [TargetEpilogue],
        mut lent: Vec<Option<Elements<Cells<'a>>>>,
        domain: &Domain,
    ) -> Option<Self> {
        let numbers: Vec<u8> = epilogues.iter().map(|of| of.target).collect();
        let place = |target: Target| numbers.iter().position(|&number| target == Target::Pixel(number));
        let mapped = |number: usize| lent.get_mut(place(targets()[number])?)?.take();
        let mut outputs = Self::lent(exports, mapped, domain, true)?;
        let are_dwords = outputs.targets.iter().all(|output| output.element_bytes == 4 && output.array.channels == 1);
        if !are_dwords || outputs.targets.len() != numbers.len() {
            return None;
        }
        outputs.epilogues = epilogues;
        let place = |&number: &u8| outputs.targets.iter().position(|output| output.target == Target::Pixel(number));
        outputs.stored = stored.iter().map(place).collect::<Option<_>>()?;
        Some(outputs)
    }

    /// Fills the last rows of start values with the elements that targets hold: in all lanes in the domain.
    pub fn load(&self, places: &Places, rows: &mut [Row]) {
        let first = rows.len().saturating_sub(self.stored.len());
        for (row, &n) in rows[first..].iter_mut().zip(&self.stored) {
            self.targets[n].load_each(places, row);
        }
    }

    /// The outputs in the arrays that memory maps for the targets of these exported elements; `quads`: lanes are quads.
    /// `None` when exports have to be committed.
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
            let array = lent.with(());
            let array = array.with(cells_of(lent.bytes)?);
            let channels = usize::from(array.channels);
            let stores = match array.form {
                Form::Floats => (1..=4).contains(&channels),
                Form::Bytes { .. } => channels == 4,
                // Two of a quad share a dword, and no others.
                Form::Words => channels == 1 && quads && array.pitch % 2 == 0,
                Form::Square => false,
            };
            if !stores || domain.i1 >= array.width || domain.j1 >= array.height {
                return None;
            }
            let last = match &array.tiles {
                // Tiles are whole.
                Some(tiles) if tiles.tile_bytes.is_power_of_two() => tiles.last(domain.i1, domain.j1)?,
                None if array.width <= array.pitch => {
                    let inside = Elements { width: domain.i1 + 1, height: domain.j1 + 1, ..array.with(()) };
                    inside.bytes_needed()
                }
                _ => return None,
            };
            // Code counts bytes in 31 bits.
            if last > 4 * array.bytes.len() as u64 || last >= 1 << 31 {
                return None;
            }
            let passes = |&channel: &usize| channel < channels && array.mask >> channel & 1 == 1;
            let place = |channel: usize| exports.iter().position(|&export| export == 4 * number + channel);
            let from = std::array::from_fn(|channel| Some(channel).filter(passes).and_then(place));
            let element_bytes = array.form.element_bytes(array.channels) as usize;
            let channel_bytes = array.form.channel(0).1 as u64;
            let pairs = if quads { Pairs::of(&array, domain, element_bytes) } else { Pairs::Apart };
            outputs.push(TargetOutput { target, array, element_bytes, channel_bytes, from, pairs });
        }
        Some(Self { targets: outputs, conditional: None, epilogues: &[], stored: Vec::new() })
    }

    /// Stores the exports of a wavefront's valid lanes: the lanes that wrote each exported element, by its place in the
    /// list, and its row. Gives the size of the writes.
    pub fn store(&self, places: &Places, valid: u64, written: impl Fn(usize) -> u64, rows: &[Row]) -> Written {
        let mut done = Written::default();
        let valid = self.conditional.as_ref().map_or(valid, |of| {
            let value =
                |lane: usize| of.from.filter(|&from| written(from) >> lane & 1 == 1).map(|from| rows[from][lane]);
            of.passing(places, valid, value)
        });
        for output in &self.targets {
            let lanes = output.from.map(|from| from.map_or(0, |place| written(place) & valid));
            output.count_lanes(&lanes, &mut done);
            let bits = |channel: usize, lane: usize| output.from[channel].map_or(0, |place| rows[place][lane]);
            output.store(places, lanes, bits);
        }
        done
    }

    /// The cells that a wavefront's lanes may store to, and no others: neighbours store theirs at the same time. The order is always the same.
    pub fn cells(&self, places: &Places) -> impl Iterator<Item = &[AtomicU32]> {
        self.targets.iter().flat_map(move |TargetOutput { array, element_bytes, .. }| {
            // Quads side by side are two rows, which begin with the first quad's lanes 0 and 2.
            let is_rows =
                places.order == LaneShape::Strip && places.inside == mask_of(places.lanes) && array.tiles.is_none();
            let (lanes, count) = if is_rows { (0b101, places.lanes / 2) } else { (places.inside, 1) };
            lanes_of(lanes).filter_map(move |lane| {
                let Position { i, j } = places.position(lane);
                let first = array.offset(i, j)?;
                array.bytes.get(first / 4..(first + count * element_bytes).div_ceil(4))
            })
        })
    }

    /// Stores the exports of a thread: bits and elements of each target, if its conditional value passes. Gives the
    /// size of the writes.
    pub fn send(&self, at: Position, value: Option<u32>, sent: &dyn Fn(Target) -> Option<([u32; 4], u8)>) -> Written {
        let mut done = Written::default();
        let given = |of: &ConditionalRows<'_>| value.filter(|_| of.from.is_some());
        if self.conditional.as_ref().is_some_and(|of| !of.passes(at, given(of))) {
            return done;
        }
        for of in self.epilogues {
            let Some(output) = self.targets.iter().find(|output| output.target == Target::Pixel(of.target)) else {
                continue;
            };
            let exported = |output: u8, element: u8| {
                sent(Target::Pixel(output)).map_or(0, |(bits, _)| bits[usize::from(element % 4)])
            };
            let Written { elements, bytes } =
                output.put(at, [of.epilogue.apply(exported, output.load(at)), 0, 0, 0], 1);
            done.elements += elements;
            done.bytes += bytes;
        }
        for output in self.targets.iter().filter(|_| self.epilogues.is_empty()) {
            let Some((bits, elements)) = sent(output.target) else { continue };
            let Written { elements, bytes } = output.put(at, bits, elements);
            done.elements += elements;
            done.bytes += bytes;
        }
        done
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/launch/wavefronts/outputs.rs"]
mod tests;
