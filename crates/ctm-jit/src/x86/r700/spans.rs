//! Wavefronts that follow one another in a row of quads, in one call: a *span*. After each of them code stores what it has exported, and begins the next.
//!
//! What a span needs stands in the frame: how many wavefronts are left, what start values gain from one to the next, where exports go.
//! A wavefront that has lost a lane, or of which a lane has not written an element that the program may export, ends the call before anything of it is stored: its
//! caller does that.

use super::{Frame, Native, ROW, Shared, Wave, head, mask_of};
use crate::lanes::{LANES, Refer};
use crate::x86::frame::target::group_bytes;
use crate::x86::quads;
use std::sync::atomic::AtomicU32;

/// What code returns: it leaves a wavefront of a span to its caller.
pub(super) const LEFT: u32 = 3;

/// Offsets in the description of a target.
pub(super) mod target {
    /// Pointers to the first elements of a wavefront's groups of 16 lanes.
    pub const POINTERS: i32 = 0;
    /// Bytes from row to row.
    pub const ROW_BYTES: i32 = 32;
    /// Bytes from wavefront to wavefront.
    pub const STEP: i32 = 40;
    /// Channels of an element: 1, 2 or 4; 0: nothing is stored.
    pub const CHANNELS: i32 = 48;
    /// Its size.
    pub const SIZE: i32 = 64;
}

/// Where things for spans lie in the frame.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpanLayout {
    /// [`quads::TABLES`].
    pub quads: i32,
    /// What targets are: [`target`].
    pub targets: i32,
    /// What each start value gains, as numbers.
    pub gains: i32,
    /// Where all of it ends.
    pub end: i32,
}

impl SpanLayout {
    /// From this place on, for so many start values and targets.
    pub fn new(at: i32, start: usize, targets: usize) -> Self {
        let quads = (at + 63) & !63;
        let targets_at = quads + 64 * quads::TABLES.len() as i32;
        let gains = targets_at + target::SIZE * targets as i32;
        Self { quads, targets: targets_at, gains, end: gains + 4 * start as i32 }
    }
}

/// The targets among these exported elements, which are in order.
pub fn targets_of(exports: &[usize]) -> Vec<usize> {
    let mut targets: Vec<usize> = exports.iter().map(|export| export / 4).collect();
    targets.dedup();
    targets
}

/// Wavefronts that follow one another, whose start values stand in a [`Wave`].
pub struct Span<'a> {
    /// How many.
    pub waves: u32,
    /// What each start value gains from one to the next.
    pub gains: &'a [f32],
    /// Where the program's targets lie; `None` where what it sends is dropped.
    pub targets: &'a [Option<Surface<'a>>],
}

/// Elements that a span stores.
#[derive(Clone, Copy)]
pub struct Surface<'a> {
    /// From the first of the first row of lanes on, up to the last of the second one.
    pub cells: &'a [AtomicU32],
    /// Elements from row to row.
    pub pitch: usize,
    /// 1, 2 or 4, all of which the program may export.
    pub channels: usize,
}

/// How a span ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanEnd {
    /// All wavefronts have stored what they exported.
    Done,
    /// So many have not: one whose results are in the [`Wave`], and those behind it.
    Left(u32),
}

impl Native {
    /// Runs a span whose first wavefront, with all its lanes in the domain, is at its start; passages of blocks and active lanes are those of all that ended.
    ///
    /// # Errors
    /// [`Refer`]: the reference interpreter has to run a wavefront; so many have not ended.
    pub fn run_span(
        &self,
        frame: &mut Frame,
        shared: &Shared<'_>,
        wave: &mut Wave,
        span: &Span<'_>,
    ) -> Result<SpanEnd, (Refer, u32)> {
        let all = (Refer, span.waves);
        let groups = shared.lanes / LANES;
        let whole = self.spans && wave.valid == mask_of(shared.lanes) && span.waves > 0;
        if !whole || span.targets.len() != self.targets || span.gains.len() != wave.start.len() {
            return Err(all);
        }
        self.begin(frame, shared, wave);
        frame.put(head::WAVES, &span.waves.to_le_bytes());
        let layout = self.layout.span;
        for (place, gain) in (0..).zip(span.gains) {
            frame.put(layout.gains + 4 * place, &gain.to_le_bytes());
        }
        for (number, surface) in (0..).zip(span.targets) {
            let at = layout.targets + target::SIZE * number;
            let Some(Surface { cells, pitch, channels }) = *surface else {
                frame.put(at + target::CHANNELS, &0u32.to_le_bytes());
                continue;
            };
            // The code writes no further than this.
            let columns = span.waves as usize * shared.lanes / 2;
            if !matches!(channels, 1 | 2 | 4) || cells.len() < (pitch + columns) * channels {
                return Err(all);
            }
            let beside = group_bytes(channels as u32) as usize;
            for group in 0..groups {
                let pointer = cells.as_ptr() as usize + beside * group;
                frame.put(at + target::POINTERS + 8 * group as i32, &pointer.to_le_bytes());
            }
            frame.put(at + target::ROW_BYTES, &(4 * pitch * channels).to_le_bytes());
            frame.put(at + target::STEP, &(beside * groups).to_le_bytes());
            frame.put(at + target::CHANNELS, &(channels as u32).to_le_bytes());
        }
        let Wave { visits, fetched, .. } = &mut *wave;
        let end = self.enter(frame, shared, visits, fetched);
        let left = frame.dword(head::WAVES);
        frame.put(head::WAVES, &0u32.to_le_bytes());
        match end {
            0 | LEFT => self.collect(frame, shared, wave),
            _ => return Err((Refer, left)),
        }
        Ok(if end == LEFT { SpanEnd::Left(left) } else { SpanEnd::Done })
    }

    /// Rows that never change.
    pub(super) fn put_tables(&self, frame: &mut Frame) {
        if self.spans {
            for (place, row) in (0..).zip(&quads::TABLES) {
                frame.put_row(self.layout.span.quads + 64 * place, row);
            }
        }
    }
}

/// A row of start values holds all groups of a wavefront.
const _: () = assert!(ROW == 4 * 4 * LANES as i32);
