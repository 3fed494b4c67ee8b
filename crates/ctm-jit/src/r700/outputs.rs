//! What wavefronts export, in arrays that memory lends: no two threads write the same element, so wavefronts store in any order.

use super::places::Places;
use super::wave::{LANES, Row, lanes_of};
use crate::direct::cells;
#[cfg(target_arch = "x86_64")]
use crate::x86::r700::spans::Surface;
use ctm_exec::r700::{Cells, Launch, Memory, Target, Written};
use std::sync::atomic::{AtomicU32, Ordering};

/// One target.
struct Output<'a> {
    cells: &'a [AtomicU32],
    /// Elements from one row to the next.
    pitch: usize,
    channels: usize,
    /// Which of the exported elements each channel takes: its place in the artifact's list. Channels that the mask does not let pass take none.
    from: [Option<usize>; 4],
}

impl Output<'_> {
    /// Stores whole elements of all lanes, which lie side by side: two rows of elements.
    fn store_strip(&self, places: &Places, rows: [&Row; 4]) {
        let columns = places.lanes / 2;
        let first = places.j[0] as usize * self.pitch + places.i[0] as usize;
        for below in 0..2 {
            let at = (first + below * self.pitch) * self.channels;
            let cells = &self.cells[at..at + columns * self.channels];
            // In a quad the upper two lanes come first.
            let lane = |column: usize| 4 * (column / 2) + 2 * below + column % 2;
            match self.channels {
                1 => {
                    let quads = rows[0].as_chunks::<4>().0;
                    for (cells, quad) in cells.as_chunks::<2>().0.iter().zip(quads) {
                        cells[0].store(quad[2 * below], Ordering::Relaxed);
                        cells[1].store(quad[2 * below + 1], Ordering::Relaxed);
                    }
                }
                channels => {
                    for (column, element) in cells.chunks_exact(channels).enumerate() {
                        let lane = lane(column);
                        element.iter().zip(rows).for_each(|(cell, row)| cell.store(row[lane], Ordering::Relaxed));
                    }
                }
            }
        }
    }
}

/// The targets of a launch, in order; `None`: what it is sent is dropped.
pub struct Outputs<'a>(Vec<Option<Output<'a>>>);

impl<'a> Outputs<'a> {
    /// Of a launch whose program may write these exported elements (`4 * target + element`, in order); `None` when they have to be committed.
    pub fn of(memory: &'a mut dyn Memory, exports: &[usize], launch: &Launch<'_>) -> Option<Self> {
        let all: Vec<Target> = Target::all().collect();
        let mut numbers: Vec<usize> = exports.iter().map(|export| export / 4).collect();
        numbers.dedup();
        let targets: Vec<Target> = numbers.iter().map(|&number| all[number]).collect();
        let lent = memory.direct(&[], &targets)?.targets;
        let domain = &launch.domain;
        let mut outputs = Vec::new();
        for (number, lent) in numbers.into_iter().zip(lent) {
            let Some(lent) = lent else {
                outputs.push(None);
                continue;
            };
            let cells = match lent.bytes {
                // They are little-endian.
                Cells::Bytes(_) if cfg!(target_endian = "big") => return None,
                Cells::Bytes(bytes) => cells(bytes)?,
                Cells::Dwords(elements) => cells(elements)?,
            };
            let channels = usize::from(lent.channels);
            let last = u64::from(domain.j1) * u64::from(lent.pitch) + u64::from(domain.i1);
            let holds = domain.i1 < lent.width && domain.j1 < lent.height && lent.width <= lent.pitch;
            if !(1..=4).contains(&channels) || !holds || (last + 1) * channels as u64 > cells.len() as u64 {
                return None;
            }
            let passes = |&channel: &usize| channel < channels && lent.mask >> channel & 1 == 1;
            let place = |channel: usize| exports.iter().position(|&export| export == 4 * number + channel);
            let from = std::array::from_fn(|channel| Some(channel).filter(passes).and_then(place));
            outputs.push(Some(Output { cells, pitch: lent.pitch as usize, channels, from }));
        }
        Some(Self(outputs))
    }

    /// Where wavefronts store that follow one another from these places on, if code can do that: whole elements of 1, 2 or 4 channels.
    #[cfg(target_arch = "x86_64")]
    pub fn of_span(&self, places: &Places, waves: u64) -> Option<Vec<Option<Surface<'a>>>> {
        let surface = |output: &Output<'a>| {
            let &Output { cells, pitch, channels, ref from } = output;
            let whole = from[..channels].iter().all(Option::is_some) && matches!(channels, 1 | 2 | 4);
            let first = places.j[0] as usize * pitch + places.i[0] as usize;
            let end = first + pitch + waves as usize * places.lanes / 2;
            let cells = cells.get(first * channels..end * channels)?;
            whole.then_some(Surface { cells, pitch, channels })
        };
        self.0.iter().map(|output| output.as_ref().map_or(Some(None), |output| surface(output).map(Some))).collect()
    }

    /// Stores what the valid lanes of a wavefront exported: the lanes that wrote each exported element, by its place in the list, and its row. Says
    /// what that was.
    pub fn store(&self, places: &Places, valid: u64, written: impl Fn(usize) -> u64, rows: &[Row]) -> Written {
        let mut done = Written::default();
        for output in self.0.iter().flatten() {
            let lanes = output.from.map(|from| from.map_or(0, |place| written(place) & valid));
            let any = lanes.iter().fold(0, |any, lanes| any | lanes);
            done.elements += u64::from(any.count_ones());
            done.bytes += lanes.iter().map(|lanes| 4 * u64::from(lanes.count_ones())).sum::<u64>();
            let from = |channel: usize| output.from[channel].map_or(&[0; LANES], |place| &rows[place]);
            let at = |lane: usize| (places.j[lane] as usize * output.pitch + places.i[lane] as usize) * output.channels;
            let put = |cell: &AtomicU32, bits: u32| cell.store(bits, Ordering::Relaxed);
            if places.strip && lanes[..output.channels] == [places.inside; 4][..output.channels] {
                output.store_strip(places, std::array::from_fn(from));
                continue;
            }
            match output.channels {
                // Whole elements, and single numbers.
                4 if lanes == [any; 4] => {
                    let [x, y, z, w] = std::array::from_fn(from);
                    for lane in lanes_of(any) {
                        let at = at(lane);
                        let values = [x[lane], y[lane], z[lane], w[lane]];
                        output.cells[at..at + 4].iter().zip(values).for_each(|(cell, bits)| put(cell, bits));
                    }
                }
                1 => {
                    let x = from(0);
                    lanes_of(any).for_each(|lane| put(&output.cells[at(lane)], x[lane]));
                }
                _ => {
                    for (channel, &lanes) in lanes.iter().enumerate() {
                        let row = from(channel);
                        lanes_of(lanes).for_each(|lane| put(&output.cells[at(lane) + channel], row[lane]));
                    }
                }
            }
        }
        done
    }
}
