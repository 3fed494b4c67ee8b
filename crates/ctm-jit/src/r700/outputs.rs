//! What wavefronts export, in arrays that memory lends: no two threads write the same element, so wavefronts store in any order.

use super::places::Places;
use super::wave::{Row, lanes_of};
use crate::direct::cells;
#[cfg(target_arch = "x86_64")]
use crate::x86::r700::spans::{Kind, Surface};
use ctm_exec::Position;
use ctm_exec::r700::{Cells, Direct, Exports, Launch, Memory, Target, Written};
use std::sync::atomic::{AtomicU32, Ordering};

/// One target.
struct Output<'a> {
    target: Target,
    cells: &'a [AtomicU32],
    /// Elements from one row to the next.
    pitch: usize,
    channels: usize,
    /// Channels that may be written.
    mask: u8,
    /// Which of the exported elements each channel takes: its place in the artifact's list. Channels that the mask does not let pass take none.
    from: [Option<usize>; 4],
}

impl Output<'_> {
    /// Stores channels of an element.
    fn put(&self, at: Position, bits: [u32; 4], channels: u8) {
        let first = (at.j as usize * self.pitch + at.i as usize) * self.channels;
        for (channel, cell) in self.cells[first..first + self.channels].iter().enumerate() {
            if channels >> channel & 1 == 1 {
                cell.store(bits[channel], Ordering::Relaxed);
            }
        }
    }

    /// Bytes of a channel.
    const fn channel_bytes(&self) -> u64 {
        4
    }

    fn written(&self, channels: u8) -> Written {
        Written { elements: u64::from(channels != 0), bytes: self.channel_bytes() * u64::from(channels.count_ones()) }
    }
}

/// The targets of a launch, in order, without those that drop what they are sent.
pub struct Outputs<'a>(Vec<Output<'a>>);

impl<'a> Outputs<'a> {
    /// Of a launch whose program may write these exported elements (`4 * target + element`, in order), and what the launch reads; `None` when exports have to be
    /// committed.
    pub fn of(
        memory: &'a mut dyn Memory,
        exports: &[usize],
        launch: &Launch<'_>,
    ) -> Option<(Self, Box<dyn Memory + 'a>)> {
        let all: Vec<Target> = Target::all().collect();
        let mut numbers: Vec<usize> = exports.iter().map(|export| export / 4).collect();
        numbers.dedup();
        let targets: Vec<Target> = numbers.iter().map(|&number| all[number]).collect();
        let Direct { targets: lent, reads, .. } = memory.direct(&[], &targets)?;
        let domain = &launch.domain;
        let mut outputs = Vec::new();
        for ((number, target), lent) in numbers.into_iter().zip(targets).zip(lent) {
            let Some(lent) = lent else { continue };
            let cells = match lent.bytes {
                // They are little-endian.
                Cells::Bytes(_) if cfg!(target_endian = "big") => return None,
                Cells::Bytes(bytes) => cells(bytes)?,
                Cells::Dwords(elements) => cells(elements)?,
            };
            let channels = usize::from(lent.channels);
            let last = u64::from(domain.j1) * u64::from(lent.pitch) + u64::from(domain.i1);
            let holds = domain.i1 < lent.width && domain.j1 < lent.height && lent.width <= lent.pitch;
            let dwords = (last + 1) * channels as u64;
            // Code counts bytes in 31 bits.
            let fits = dwords <= cells.len() as u64 && 4 * dwords < 1 << 31;
            if !(1..=4).contains(&channels) || !holds || !fits {
                return None;
            }
            let passes = |&channel: &usize| channel < channels && lent.mask >> channel & 1 == 1;
            let place = |channel: usize| exports.iter().position(|&export| export == 4 * number + channel);
            let from = std::array::from_fn(|channel| Some(channel).filter(passes).and_then(place));
            let mask = lent.mask & ((1 << channels) - 1) as u8;
            outputs.push(Output { target, cells, pitch: lent.pitch as usize, channels, mask, from });
        }
        Some((Self(outputs), reads))
    }

    /// Where code stores.
    #[cfg(target_arch = "x86_64")]
    pub fn surfaces(&self) -> Vec<Surface<'a>> {
        let surface = |output: &Output<'a>| {
            let &Output { cells, pitch, channels, from, .. } = output;
            let element_bytes = 4 * channels;
            let kind = Kind::Floats(channels as u8);
            Surface { cells, row_bytes: pitch * element_bytes, channels, element_bytes, kind, from }
        };
        self.0.iter().map(surface).collect()
    }

    /// Stores what the valid lanes of a wavefront exported: the lanes that wrote each exported element, by its place in the list, and its row. Says
    /// what that was.
    pub fn store(&self, places: &Places, valid: u64, written: impl Fn(usize) -> u64, rows: &[Row]) -> Written {
        let mut done = Written::default();
        for output in &self.0 {
            let lanes = output.from.map(|from| from.map_or(0, |place| written(place) & valid));
            let any = lanes.iter().fold(0, |any, lanes| any | lanes);
            done.elements += u64::from(any.count_ones());
            done.bytes += lanes.iter().map(|lanes| output.channel_bytes() * u64::from(lanes.count_ones())).sum::<u64>();
            for lane in lanes_of(any) {
                let channels = (0..4).fold(0, |set, channel| set | ((lanes[channel] >> lane & 1) as u8) << channel);
                let bits = output.from.map(|from| from.map_or(0, |place| rows[place][lane]));
                output.put(places.position(lane), bits, channels);
            }
        }
        done
    }

    /// Stores what a thread exported; says what that was.
    pub fn send(&self, at: Position, exports: &Exports) -> Written {
        let mut done = Written::default();
        for output in &self.0 {
            let Some((bits, elements)) = exports.get(output.target) else { continue };
            let channels = elements & output.mask;
            output.put(at, bits, channels);
            let written = output.written(channels);
            done.elements += written.elements;
            done.bytes += written.bytes;
        }
        done
    }
}
