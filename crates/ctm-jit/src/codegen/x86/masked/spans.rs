//! Spans: consecutive wavefronts in one call of machine code.
//!
//! Rust code, which is compiled for the same instructions, calls the program's: it stores the exports of a wavefront,
//! and sets the start values of the next one, right in the program's frame. A wavefront that the reference interpreter
//! has to run ends the span before anything of it is stored.

#![allow(unsafe_code, reason = "machine code is called, and what it leaves in its frame is read")]

mod stores;

use super::layout::{UNDERFLOWED, gradient, head};
use super::{EntryPoint, Frame, Native, Shared, Wave};
use crate::codegen::x86::mode::{FLUSHING, exchange_mode, forget_underflow, underflowed};
use crate::launch::events::note;
use crate::launch::wavefronts::conditional::ConditionalRows;
use crate::launch::wavefronts::outputs::Outputs;
use crate::launch::wavefronts::places::{Places, Starts, Waves};
use crate::launch::wavefronts::wave::{GRADIENTS, LANES, Row};
use ctm_exec::r700::Written;
use ctm_exec::rows::survive;
use ctm_ir::masked::M;
use ctm_x86::simd::{Do, Simd, with};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use stores::ExportTarget;

/// The parameters that all spans of a launch share.
pub struct SpanParameters<'a> {
    /// The wavefronts.
    pub waves: &'a Waves<'a>,
    /// The source of start values, as many as the program has.
    pub starts: &'a Starts<'a>,
    /// The destination of exports.
    pub outputs: &'a Outputs<'a>,
    /// The lanes whose exports are stored, 64 a word; `None`: all.
    pub covered: Option<&'a [u64]>,
    /// Where lanes are marked that end, are covered and valid.
    pub survivors: Option<&'a [AtomicU64]>,
}

/// The results of a span.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ended {
    /// Wavefronts that ended.
    pub waves: u64,
    /// Their lanes in the domain.
    pub processors: u64,
    /// The size of the writes.
    pub stored: Written,
}

/// A span in progress.
struct Span<'a> {
    given: &'a SpanParameters<'a>,
    targets: Vec<ExportTarget<'a>>,
    /// The test before stores, the lanes that gave a value for it, and the row of these.
    conditional: Option<(&'a ConditionalRows<'a>, *mut u64, *const u32)>,
    frame: *mut u8,
    /// The offsets of start values' rows in the frame.
    start: i32,
    /// Whether gradients can be set.
    gradients: bool,
    /// Instructions that a wavefront may issue.
    fuel: u64,
    /// Wavefronts that have not begun.
    left: Range<u64>,
    /// Whether one has begun, and the positions of its lanes.
    runs: bool,
    places: &'a mut Places,
    /// Its covered lanes.
    covered: u64,
    ended: Ended,
    /// The program's code, which is for such frames and this processor.
    program: EntryPoint,
    /// The host's MXCSR, if it is needed between wavefronts.
    host: Option<u32>,
    /// The last return value of the code.
    end: u32,
}

impl Native {
    /// Runs wavefronts, the first of which is the one of `wave`; they have as many lanes. Block counters, active lanes
    /// and counts of fetches are those of all that began.
    pub fn run_span(
        &self,
        frame: &mut Frame,
        shared: &Shared<'_>,
        wave: &mut Wave,
        given: &SpanParameters<'_>,
        waves: Range<u64>,
    ) -> Ended {
        if given.starts.count() != wave.start.len() || given.starts.count_stored() != given.outputs.stored.len() {
            return Ended::default();
        }
        note(|events| events.spans += 1);
        self.begin(frame, shared, wave);
        let mut ended = Ended::default();
        let Wave { places, visits, fetched, .. } = &mut *wave;
        self.enter(frame, shared, visits, fetched, |frame, host| {
            let outputs = given.outputs;
            // SAFETY: the text is code that `emit` made for this signature; it is mapped executable, and `self` owns
            // it.
            let program = unsafe { std::mem::transmute::<*const u8, EntryPoint>(self.text.as_ptr()) };
            let mut span = Span {
                given,
                targets: outputs.targets.iter().map(|output| ExportTarget::new(output, self, frame.cast())).collect(),
                conditional: outputs.conditional.as_ref().map(|of| {
                    let (written, row) = self.exported(of.from, frame.cast());
                    (of, written, row)
                }),
                frame: frame.cast(),
                start: self.layout.start,
                gradients: self.gradients,
                fuel: shared.fuel,
                left: waves,
                runs: false,
                places,
                covered: u64::MAX,
                ended,
                program,
                // The span's own results are the same with flushed denormals where there are none; setting MXCSR takes
                // as long as a short program.
                host: (!given.starts.are_normal).then_some(host),
                end: 0,
            };
            // SAFETY: the processor has the code's instruction set.
            unsafe { with(self.target.isa, &mut span) };
            ended = span.ended;
            span.end
        });
        Self::collect_counts(frame, wave);
        ended
    }
}

impl Do for &mut Span<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> bool {
        while self.end == 0 {
            self.host.map(exchange_mode);
            // SAFETY: as of `run_span`, where `enter` has prepared the frame; an instruction set's value shows that the
            // processor has it.
            unsafe {
                if !self.next(S::LANES) {
                    break;
                }
                self.host.map(|_| exchange_mode(FLUSHING));
                forget_underflow();
                self.end = (self.program)(self.frame.cast());
                if underflowed() {
                    self.end = UNDERFLOWED;
                }
            }
        }
        true
    }
}

impl Span<'_> {
    /// Stores the exports of the wavefront that ran, and sets the start values of the next one; `false`: there is none.
    /// The frame has to be that of the program's code, without other users, and the processor has to have AVX2 and FMA,
    /// and AVX-512 if vectors have 16 lanes; those of 4 need none of these.
    #[inline(always)]
    unsafe fn next(&mut self, width: usize) -> bool {
        if std::mem::take(&mut self.runs) {
            // SAFETY: masks lie in the frame, and the targets are made for it.
            unsafe {
                let mut valid = *self.at::<u64>(head::mask(M::VALID)) & self.covered;
                if let Some(survivors) = self.given.survivors {
                    survive(survivors, self.places.first, valid);
                }
                if let Some((of, written, row)) = self.conditional {
                    let given = written.replace(0);
                    let value = |lane: usize| (given >> lane & 1 == 1).then(|| *row.add(lane));
                    valid = of.passing(self.places, valid, value);
                }
                for target in &self.targets {
                    target.store(width, self.places, valid, &mut self.ended.stored);
                }
            }
            self.ended.waves += 1;
            self.ended.processors += u64::from(self.places.inside.count_ones());
        }
        for index in self.left.by_ref() {
            self.given.waves.follow(index, self.places);
            if let Some(covered) = self.given.covered {
                let first = self.places.first;
                self.covered = covered.get((first / 64) as usize).map_or(0, |lanes| lanes >> (first % 64));
                if self.covered & self.places.inside == 0 {
                    self.ended.waves += 1;
                    continue;
                }
            }
            // SAFETY: all of it lies in the frame, aligned; each of them has a row of start values.
            unsafe {
                for mask in [M::VALID, M::ACTIVE] {
                    *self.at(head::mask(mask)) = self.places.inside;
                }
                *self.at(head::FUEL) = self.fuel;
                let starts = self.given.starts;
                let rows: &mut [Row] = std::slice::from_raw_parts_mut(self.at(self.start), starts.count());
                starts.fill(self.places, rows);
                let stored = &self.given.outputs.stored;
                let first = rows.len().saturating_sub(stored.len());
                for (row, &target) in rows[first..].iter_mut().zip(stored) {
                    self.targets[target].load(width, self.places, row);
                }
                self.targets.iter().for_each(|target| target.prefetch(self.places));
                if self.gradients {
                    *self.at::<[Row; GRADIENTS]>(gradient(0)) = [[0; LANES]; GRADIENTS];
                }
            }
            self.runs = true;
            return true;
        }
        false
    }

    /// A pointer into the frame.
    const fn at<T>(&self, offset: i32) -> *mut T {
        self.frame.wrapping_add(offset as usize).cast()
    }
}
