//! The part of a large piece in a band of rows: one launch over its bounding box, which stores colours itself.
//!
//! That is done where every pixel of the program exports its colours and no test follows it. Where colours replace those of the targets, they are
//! stored there; elsewhere into memory beside, from where they are blended. Pixels that are not covered, or do not pass the tests before the program,
//! are lanes whose exports go nowhere. Small pieces go the way of quads ([`super::shade`]).

use crate::lanes::{LANES, ROWS, Shape, blocks, whole};
use crate::pixel::shade::{QuadProgram, Shader, x1k_launch};
use crate::pixel::starts::{Starts, starts};
use crate::program::{LaunchOutput, StageMemory, Staged, Window, X1kMemory};
use crate::rect::Rect;
use crate::setup::piece::{Coverer, Piece};
use crate::state::StageProgram;
use crate::vertex::Vertices;
use ctm_exec::r700::{Launch, LaunchPart};
use ctm_exec::rows::covered_from;
use ctm_exec::x1k::{self, DrawParts};
use ctm_exec::{Domain, Fault, LaneOrder, LaneRows, Position};
use ctm_isa::r700::inst::{Cf, ClauseBody, Decoded, Fetch};
use ctm_isa::r700::program::{Stage as StageKind, Usage};
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The least approximate number of quads of a piece that is drawn so.
const LEAST_QUADS: u64 = 800;
/// Pixels of a band from which on a launch is worth it.
const LEAST_PIXELS: u64 = 800;

/// Whether a piece is drawn so: by its bounding box.
pub(crate) const fn is_large(piece: &Piece) -> bool {
    piece.most_quads() >= LEAST_QUADS
}

/// Columns of a hidden square, roughly.
const SQUARE: i32 = 64;

/// Pixels of a band that are hidden by later pieces that cover it wholly, where only the last colour stays.
pub(crate) struct Hidden {
    left: i32,
    /// The number of the first visible piece in each [`SQUARE`] columns.
    first: Vec<u32>,
}

impl Hidden {
    /// Of these pieces, all of them in layer 0, within a band; `large`: the numbers of those that can hide others. `None` where nothing is hidden.
    pub(crate) fn of(pieces: &[Piece], large: &[u32], coverer: &Coverer<'_>, within: Rect) -> Option<Self> {
        let left = within.left.div_euclid(SQUARE) * SQUARE;
        let columns = (within.right - left).max(0) as usize;
        let mut first = vec![0; columns.div_ceil(SQUARE as usize)];
        for &number in large.iter().filter(|&&number| number > 0) {
            let piece = &pieces[number as usize];
            let inside = coverer.inside(piece, within);
            if inside.is_empty() || (inside.top, inside.bottom) != (within.top, within.bottom) {
                continue;
            }
            for (square, first) in (0..).zip(&mut first) {
                let from = (left + square * SQUARE).max(within.left);
                let to = (left + (square + 1) * SQUARE).min(within.right);
                *first = if inside.left <= from && to <= inside.right { number } else { *first };
            }
        }
        first.iter().any(|&first| first > 0).then_some(Self { left, first })
    }

    /// A band as columns where a piece is visible and columns where it is hidden.
    pub(crate) fn parts(&self, number: u32, within: Rect) -> Vec<(Rect, bool)> {
        let mut parts: Vec<(Rect, bool)> = Vec::new();
        for (square, &first) in (0..).zip(&self.first) {
            let left = (self.left + square * SQUARE).max(within.left);
            let right = (self.left + (square + 1) * SQUARE).min(within.right);
            let is_hidden = number < first;
            match parts.last_mut() {
                Some((last, was_hidden)) if *was_hidden == is_hidden => last.right = right,
                _ => parts.push((Rect { left, right, ..within }, is_hidden)),
            }
        }
        parts
    }
}

/// Which pixels of a band are to be drawn.
pub(crate) struct Covered {
    /// The box of quads around them.
    pub(crate) rect: Rect,
    /// The covered columns of each row of the box, from the first up to the one after the last.
    pub(crate) spans: Vec<[i32; 2]>,
    /// The lanes of pixels to draw, as in [`Launch::covered`]; `None`: all of the box.
    words: Option<Vec<u64>>,
    /// Some pixels of spans are not to be drawn.
    has_holes: bool,
}

impl Covered {
    /// Pixels of a large piece within a rectangle; `None` where quads are faster.
    ///
    /// `columns`: the box begins and ends at multiples of this power of two.
    pub(crate) fn of(piece: &Piece, coverer: &Coverer<'_>, within: Rect, columns: i32) -> Option<Self> {
        if piece.setup.layer != 0 || !is_large(piece) || !coverer.has_spans(piece) {
            return None;
        }
        let mut spans = Vec::with_capacity(64);
        let mut rect = Rect { left: i32::MAX, right: i32::MIN, top: 0, bottom: 0 };
        coverer.spans(piece, within, &mut |y, left, right| {
            if spans.is_empty() {
                rect.top = y;
            }
            // Slivers have rows without pixels among others.
            spans.resize((y - rect.top) as usize, [left; 2]);
            (rect.left, rect.right, rect.bottom) = (rect.left.min(left), rect.right.max(right), y + 1);
            spans.push([left, right]);
        });
        if spans.is_empty() {
            return None;
        }
        // Quads are whole: their uncovered pixels run, too.
        if rect.top & 1 == 1 {
            rect.top -= 1;
            spans.insert(0, [rect.left; 2]);
        }
        if rect.bottom & 1 == 1 {
            rect.bottom += 1;
            spans.push([rect.left; 2]);
        }
        (rect.left, rect.right) = (rect.left & -columns, (rect.right + columns - 1) & -columns);
        let is_whole = spans.iter().all(|&span| span == [rect.left, rect.right]);
        let mut covered = Self { rect, spans, words: None, has_holes: false };
        if covered.count()[1] < LEAST_PIXELS {
            return None;
        }
        if !is_whole {
            covered.words = Some(covered.all());
        }
        Some(covered)
    }

    /// Whether some pixels of spans are not to be drawn.
    pub(crate) const fn has_holes(&self) -> bool {
        self.has_holes
    }

    /// Quads and pixels to be drawn.
    pub(crate) fn count(&self) -> [u64; 2] {
        let pixels = self.spans.iter().map(|[left, right]| u64::from(right.abs_diff(*left))).sum();
        match &self.words {
            None => [RectangleLanes::of(self.rect).count as u64 / 4, pixels],
            Some(words) => {
                // One bit for each quad that has one.
                let quads =
                    |word: u64| ((word | word >> 1 | word >> 2 | word >> 3) & 0x1111_1111_1111_1111).count_ones();
                words
                    .iter()
                    .fold([0; 2], |[q, p], &word| [q + u64::from(quads(word)), p + u64::from(word.count_ones())])
            }
        }
    }

    /// The lanes that are covered pixels.
    fn all(&self) -> Vec<u64> {
        let lanes = RectangleLanes::of(self.rect);
        let mut words = vec![0; lanes.count.div_ceil(64)];
        for (y, &[left, right]) in (self.rect.top..).zip(&self.spans) {
            if left >= right {
                continue;
            }
            let (first, last) = (lanes.lane(left, y), lanes.lane(right - 1, y));
            // The two lanes of a row of each quad, from the quad of the first pixel to that of the last.
            let (from, to) = (first & !3, last | 3);
            let of_row = 0x3333_3333_3333_3333 << (2 * (y & 1));
            for (n, word) in words[from / 64..=to / 64].iter_mut().enumerate() {
                let begin = 64 * (from / 64 + n);
                let low = u64::MAX << from.saturating_sub(begin);
                let high = u64::MAX >> (begin + 63).saturating_sub(to);
                *word |= of_row & low & high;
            }
            if left & 1 == 1 {
                words[first / 64] &= !(1 << ((first - 1) % 64));
            }
            if right & 1 == 1 {
                words[last / 64] &= !(1 << ((last + 1) % 64));
            }
        }
        words
    }

    /// No lanes yet, as many words as [`Self::keep`] takes.
    pub(crate) fn no_lanes(&self) -> Vec<AtomicU64> {
        (0..RectangleLanes::of(self.rect).count.div_ceil(64)).map(|_| AtomicU64::new(0)).collect()
    }

    /// Restricts the covered pixels to these lanes, which are covered.
    pub(crate) fn keep(&mut self, lanes: Vec<AtomicU64>) {
        self.words = Some(lanes.into_iter().map(AtomicU64::into_inner).collect());
        self.has_holes = true;
    }

    /// Restricts the covered pixels to those that pass: asks for blocks or rows of lanes side by side, from a pixel on, which of the marked lanes do.
    pub(crate) fn only(&mut self, shape: Shape, mut passes: impl FnMut([i32; 2], &mut [u32])) {
        let (lanes, rect) = (RectangleLanes::of(self.rect), self.rect);
        let mut words = vec![0; lanes.count.div_ceil(64)];
        let old = self.words.as_ref().filter(|_| self.has_holes);
        // Of the blocks of a row of them: the marked lanes, and those that pass.
        let (mut marks, mut passed) = (Vec::new(), Vec::new());
        let (mut all_pass, step) = (true, shape.columns());
        let mut pass = |at: [i32; 2], marks: &[u32], passed: &mut Vec<u32>| {
            passed.clear();
            passed.extend_from_slice(marks);
            passes(at, passed);
            all_pass &= marks == *passed;
        };
        if shape == Shape::Row {
            for (y, &[left, right]) in (rect.top..).zip(&self.spans).filter(|(_, [left, right])| left < right) {
                let from = left & !1;
                marks.clear();
                marks.extend((from..right).step_by(LANES).map(|x| {
                    let (first, last) = ((left - x).max(0), (right - x).min(LANES as i32));
                    let marked = (u32::MAX << first) & (u32::MAX >> (LANES as i32 - last));
                    let half = |old: &Vec<u64>| columns_of_quads(get(old, lanes.lane(x, y & !1)) >> (2 * (y & 1)));
                    marked & old.map_or(u32::MAX, half)
                }));
                pass([from, y], &marks, &mut passed);
                for (x, &passed) in (from..).step_by(LANES).zip(&passed) {
                    put(&mut words, lanes.lane(x, y & !1), pairs(passed) << (2 * (y & 1)));
                }
            }
        } else {
            // Every other eight lanes of a block are two of its rows.
            let pairs_of = |lanes: u32| [0, 8].into_iter().filter(move |pair| lanes >> pair & 0x00ff_00ff != 0);
            let all = whole(rect);
            for y in (all.top..all.bottom).step_by(ROWS as usize) {
                let span = |row: i32| self.spans.get(usize::try_from(y + row - rect.top).ok()?).copied();
                let spans = [0, 1, 2, 3].map(|row| span(row).unwrap_or([0; 2]));
                let from = blocks(spans, &mut marks);
                if let Some(old) = old {
                    for (x, marked) in (from..).step_by(step as usize).zip(&mut marks) {
                        // Columns before the rectangle's are not marked.
                        let first = x.max(rect.left);
                        let of = |pair: i32| {
                            let two = (get(old, lanes.lane(first, y + pair / 4)) << (2 * (first - x))) as u32;
                            (two & 0xff) << pair | (two & 0xff00) << (pair + 8)
                        };
                        *marked &= pairs_of(*marked).fold(0, |all, pair| all | of(pair));
                    }
                }
                pass([from, y], &marks, &mut passed);
                for (x, &passed) in (from..).step_by(step as usize).zip(&passed) {
                    let first = x.max(rect.left);
                    for pair in pairs_of(passed) {
                        let two = u64::from(passed >> pair & 0xff | passed >> (pair + 8) & 0xff00);
                        put(&mut words, lanes.lane(first, y + pair / 4), two >> (2 * (first - x)));
                    }
                }
            }
        }
        if !all_pass || self.has_holes {
            (self.words, self.has_holes) = (Some(words), true);
        }
    }

    /// The pixels to draw among up to 64 of a row's span, from a column on, bit by bit.
    pub(crate) fn marks(&self, [x, y]: [i32; 2], count: usize) -> u64 {
        let all = u64::MAX >> (64 - count.clamp(1, 64));
        let Some(words) = self.words.as_ref().filter(|_| self.has_holes) else { return all };
        let first = RectangleLanes::of(self.rect).lane(x & !1, y);
        let half = |at: usize| u64::from(columns_of_quads(get(words, at)));
        // An odd column is the second of its quad: 64 from there on need a bit of a third part.
        let odd = x & 1;
        let mut marks = (half(first) | half(first + 64) << 32) >> odd;
        if odd == 1 {
            marks |= half(first + 128) << 63;
        }
        marks & all
    }
}

/// Lanes of a row, two of each quad, from the columns of 32 pixels.
const fn pairs(columns: u32) -> u64 {
    let x = columns as u64;
    let x = (x | x << 16) & 0x0000_ffff_0000_ffff;
    let x = (x | x << 8) & 0x00ff_00ff_00ff_00ff;
    let x = (x | x << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    (x | x << 2) & 0x3333_3333_3333_3333
}

/// The other way: the first two lanes of each of 16 quads.
const fn columns_of_quads(lanes: u64) -> u32 {
    let x = lanes & 0x3333_3333_3333_3333;
    let x = (x | x >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    let x = (x | x >> 4) & 0x00ff_00ff_00ff_00ff;
    let x = (x | x >> 8) & 0x0000_ffff_0000_ffff;
    (x | x >> 16) as u32
}

/// 64 bits from a lane on.
fn get(words: &[u64], lane: usize) -> u64 {
    let (word, bit) = (lane / 64, lane % 64);
    let of = |n: usize| words.get(n).copied().unwrap_or(0);
    if bit == 0 { of(word) } else { of(word) >> bit | of(word + 1) << (64 - bit) }
}

/// Sets bits from a lane on.
fn put(words: &mut [u64], lane: usize, bits: u64) {
    let (word, shift) = (lane / 64, lane % 64);
    if let Some(word) = words.get_mut(word) {
        *word |= bits << shift;
    }
    if shift > 0
        && bits >> (64 - shift) != 0
        && let Some(word) = words.get_mut(word + 1)
    {
        *word |= bits >> (64 - shift);
    }
}

/// The lanes of a rectangle of pixels, numbered by [`LaneOrder::quads`].
struct RectangleLanes {
    first: [i32; 2],
    columns: i32,
    count: usize,
}

impl RectangleLanes {
    fn of(rect: Rect) -> Self {
        let first = [rect.left / 2, rect.top / 2];
        let columns = (rect.right - 1) / 2 - first[0] + 1;
        let rows = (rect.bottom - 1) / 2 - first[1] + 1;
        Self { first, columns, count: 4 * columns as usize * rows as usize }
    }

    const fn lane(&self, x: i32, y: i32) -> usize {
        let quad = (y / 2 - self.first[1]) * self.columns + x / 2 - self.first[0];
        (4 * quad + 2 * (y & 1) + (x & 1)) as usize
    }
}

/// A rectangle of pixels as a launch's domain, counted from this column and row.
const fn domain(rect: Rect, [column, row]: [i32; 2]) -> Domain {
    Domain {
        i0: (rect.left - column).cast_unsigned(),
        i1: (rect.right - 1 - column).cast_unsigned(),
        j0: (rect.top - row).cast_unsigned(),
        j1: (rect.bottom - 1 - row).cast_unsigned(),
    }
}

/// Whether pixels whose registers start with the same values export the same, where all of their neighbours do: the program reads nothing else that belongs to a
/// pixel, and writes no memory.
fn is_uniform(decoded: &Decoded) -> bool {
    decoded.entries.iter().all(|entry| {
        let reads_alike = match &entry.clause {
            ClauseBody::Fetch(clause) => clause.fetches.iter().all(|fetch| {
                let fetch = fetch.inst.as_ref().map(|inst| &inst.fetch);
                matches!(fetch, Ok(Fetch::Tex(_) | Fetch::Vtx(_)))
            }),
            ClauseBody::Alu(_) | ClauseBody::None => true,
            ClauseBody::Outside | ClauseBody::Unread => false,
        };
        reads_alike && !matches!(entry.cf, Ok(Cf::Mem(_)) | Err(_))
    })
}

/// Whether a wavefront runs for less time than its pixels take to be found, interpolated and stored.
fn is_short(decoded: &Decoded) -> bool {
    /// Instructions that take as long as the lookup of a texture.
    const OF_LOOKUP: usize = 24;
    /// Instructions of the longest short program.
    const MOST: usize = 48;
    let instructions = decoded.entries.iter().map(|entry| match (&entry.cf, &entry.clause) {
        (Err(_), _) | (_, ClauseBody::Outside | ClauseBody::Unread) => usize::MAX,
        // Loops may run any number of times.
        (Ok(Cf::Plain(inst)), _) if inst.word1.op.starts_loop() => usize::MAX,
        (_, ClauseBody::Alu(clause)) => clause.groups.iter().map(|group| group.slots.len()).sum(),
        (_, ClauseBody::Fetch(clause)) => OF_LOOKUP * clause.fetches.len(),
        (_, ClauseBody::None) => 0,
    });
    instructions.fold(0, usize::saturating_add) <= MOST
}

/// Facts about a program's text.
#[derive(Clone, Copy)]
struct ProgramFacts {
    /// Where it begins.
    entry: u32,
    /// The outputs that every pixel exports (bit n = output n).
    exported: u8,
    /// The outputs that every pixel exports that is not killed.
    exported_by_survivors: u8,
    /// As of [`is_uniform`].
    is_uniform: bool,
    /// As of [`is_short`].
    is_short: bool,
}

/// Facts about the programs of earlier draws, by their words: to decode a program takes longer than a small draw.
static KNOWN_PROGRAMS: LazyLock<Mutex<HashMap<Vec<u32>, ProgramFacts>>> = LazyLock::new(Mutex::default);

/// Most of them.
const MOST_KNOWN: usize = 1024;

impl ProgramFacts {
    fn of(program: &ctm_isa::r700::Program) -> Self {
        let mut known = KNOWN_PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(facts) = known.get(program.words.as_slice()).filter(|facts| facts.entry == program.entry) {
            return *facts;
        }
        let decoded = program.decode();
        let (exported, is_uniform) = (Usage::always_exported(&decoded), is_uniform(&decoded));
        let exported_by_survivors = Usage::exported_by_survivors(&decoded);
        let is_short = is_short(&decoded);
        let facts = Self { entry: program.entry, exported, exported_by_survivors, is_uniform, is_short };
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(program.words.clone(), facts);
        facts
    }
}

impl Shader<'_> {
    /// The colour outputs that every pixel exports, if it has no other effect (bit n = output n).
    pub(crate) fn always_exported(&self) -> u8 {
        match &self.program {
            _ if self.changes_exports() => 0,
            QuadProgram::R700(stage, _) if stage.fetch_program.is_none() => ProgramFacts::of(stage.program).exported,
            QuadProgram::R700(..) => 0,
            QuadProgram::X1k(stage, _) => stage.program.always_written(),
        }
    }

    /// The colour outputs that every pixel exports that is not killed, if the program has no other effect (bit n = output n).
    pub(crate) fn exported_by_survivors(&self) -> u8 {
        match &self.program {
            _ if self.changes_exports() => 0,
            QuadProgram::R700(stage, _) if stage.fetch_program.is_none() => {
                ProgramFacts::of(stage.program).exported_by_survivors
            }
            QuadProgram::R700(..) => 0,
            QuadProgram::X1k(stage, _) => stage.program.always_written(),
        }
    }

    /// Whether launches take tests of exports, and mark their survivors.
    pub(crate) const fn takes_tests(&self) -> bool {
        matches!(self.program, QuadProgram::R700(..))
    }

    /// Whether launches may have several parts.
    pub(crate) const fn takes_parts(&self) -> bool {
        matches!(self.program, QuadProgram::R700(..))
    }

    /// Whether the program takes less time than all else that is done for a pixel.
    pub(crate) fn is_short(&self) -> bool {
        match &self.program {
            QuadProgram::R700(stage, _) => stage.fetch_program.is_none() && ProgramFacts::of(stage.program).is_short,
            QuadProgram::X1k(..) => false,
        }
    }

    /// Whether pixels with the same initial values export the same.
    pub(crate) fn is_uniform(&self) -> bool {
        match &self.program {
            QuadProgram::R700(stage, _) if stage.fetch_program.is_none() => ProgramFacts::of(stage.program).is_uniform,
            QuadProgram::R700(..) => false,
            // Start values are all that differs from pixel to pixel.
            QuadProgram::X1k(stage, _) => !stage.program.uncached,
        }
    }

    /// The initial values of a piece's pixels, counted from this column and row; `None` where planes cannot express them.
    pub(crate) fn starts(&self, piece: &Piece, first: [i32; 2], vertices: &Vertices) -> Option<Starts> {
        starts(self.state, &piece.setup, vertices, (self.registers(), first))
    }

    /// The exports of a pixel with these initial values, which are the same for all pixels: the colours of these outputs (bit n = output n).
    pub(crate) fn run_one(&self, starts: &Starts, outputs: u8) -> Result<[[u32; 4]; 8], Fault> {
        let quad = Rect { left: 0, top: 0, right: 2, bottom: 2 };
        let covered = Covered { rect: quad, spans: vec![[0, 2]; 2], words: None, has_holes: false };
        let mut colours: Staged = std::array::from_fn(|n| vec![[0; 4]; if outputs >> n & 1 == 1 { 4 } else { 0 }]);
        let window = Window::Staged { colours: &mut colours, width: 2 };
        self.run_band(&covered, starts, [0; 2], LaunchOutput::all(window, &[]))?;
        Ok(colours.map(|of| of.first().copied().unwrap_or_default()))
    }

    /// Runs the program for the pixels of a band. `first`: the column and row of the window of the launch's (0, 0).
    pub(crate) fn run_band(
        &self,
        covered: &Covered,
        starts: &Starts,
        first: [i32; 2],
        LaunchOutput { window, epilogues, keeps, survivors }: LaunchOutput<'_, '_>,
    ) -> Result<(), Fault> {
        let domain = domain(covered.rect, first);
        let [column, row] = first.map(i32::cast_unsigned);
        let place = |at: Position| Position { i: at.i + column, j: at.j + row };
        let order = LaneOrder::quads(domain);
        let (words, no_lanes) = (covered.words.as_deref(), LaneOrder::quads(Domain { i1: 0, j1: 0, ..domain }));
        let counts = |at: Position| {
            let counts = |lane: usize| covered_from(words, lane as u64) & 1 == 1;
            domain.contains(at) && order.lane(at).is_some_and(counts)
        };
        let window = Some(window);
        match &self.program {
            QuadProgram::R700(stage, _) => {
                let nothing = LaneRows::new(no_lanes, &[]);
                let mut memory = StageMemory { window, ..StageMemory::new(stage.memory, nothing) };
                let launch = Launch {
                    planes: &starts.planes,
                    divisor: starts.divisor(),
                    covered: words,
                    epilogues,
                    keeps,
                    survivors,
                    ..self.launch_of_pixels(stage, domain)
                };
                self.runner.r700("pixel", launch, &mut memory, (&place, &counts))
            }
            QuadProgram::X1k(stage, _) => {
                let mut memory = X1kMemory { inner: stage.memory, rows: LaneRows::new(no_lanes, &[]), window };
                let draw = DrawParts { divisor: starts.divisor(), covered: words, epilogues, once: true };
                let launch = x1k::Launch { planes: &starts.planes, ..x1k_launch(stage, &[], domain, draw) };
                self.runner.x1k(launch, &mut memory, (&place, &counts))
            }
        }
    }

    /// A launch for pixels of the window.
    fn launch_of_pixels<'l>(&self, stage: &StageProgram<'l>, domain: Domain) -> Launch<'l> {
        Launch {
            stage: StageKind::Pixel,
            chip: self.state.chip,
            semantics: stage.semantics,
            once: true,
            ..Launch::new(stage.program, stage.constants, domain)
        }
    }

    /// Runs the program for the pixels of parts, in order, without an observer. `first`: as of [`Self::run_band`].
    pub(crate) fn run_parts(
        &self,
        parts: &[LaunchPart<'_>],
        first: [i32; 2],
        LaunchOutput { window, epilogues, .. }: LaunchOutput<'_, '_>,
    ) -> Result<(), Fault> {
        let QuadProgram::R700(stage, _) = &self.program else { return Ok(()) };
        let mut domain = Domain { i0: u32::MAX, j0: u32::MAX, i1: 0, j1: 0 };
        for &[i, j] in parts.iter().flat_map(|part| part.tiles) {
            let last = [i, j].map(|first| first + (LaunchPart::SIDE - 1));
            (domain.i0, domain.j0) = (domain.i0.min(i), domain.j0.min(j));
            (domain.i1, domain.j1) = (domain.i1.max(last[0]), domain.j1.max(last[1]));
        }
        let no_lanes = LaneRows::new(LaneOrder::quads(Domain { i0: 0, j0: 0, i1: 0, j1: 0 }), &[]);
        let mut memory = StageMemory { window: Some(window), ..StageMemory::new(stage.memory, no_lanes) };
        let launch = Launch { epilogues, ..self.launch_of_pixels(stage, domain) };
        let [column, row] = first.map(i32::cast_unsigned);
        let place = |at: Position| Position { i: at.i + column, j: at.j + row };
        self.runner.r700_parts("pixel", launch, parts, &mut memory, &place)
    }
}
