//! The back ends for x86-64: machine code made from the form.
//!
//! | file | what |
//! |---|---|
//! | `select`, `select/plan`, `scalar` | from the form to vector instructions |
//! | `lir` | those |
//! | `allocate` | registers |
//! | `isa` | the instruction sets, and what differs between them |
//! | `frame` | the memory that code works on |
//! | `emit`, `lines` | machine code: the whole, single instructions |
//! | `flows` | what is known of flow control beforehand |
//! | `jumps`, `together`, `joint` | flow control: each copy by itself, all at once where that is the same, all as one large group |
//! | `needs` | which masks are looked at |
//! | `breaks` | breaks that lead to breaks |
//! | `whole` | loops while all lanes run, on AVX2 |
//! | `kept` | literals and constants with registers |
//! | `lookups` | fetches: gathers, calls |
//! | `sampling` | routines for fetches that weigh elements, repeat, or have a border |
//! | `elements` | whole elements of four channels, for the lookups of both kinds of programs |
//! | `texels` | what lookups of both kinds of programs have in common |
//! | `span`, `quads` | groups that lie side by side in one call: start values, outputs |
//! | `vectors` | instructions on vectors, for both instruction sets |
//! | `avx512`, `avx2` | masks of lanes, which each instruction set has in its own way |
//! | `asm` | bytes |
//! | `r700/` | from the form of R700 programs to machine code |
//!
//! Code is made executable only after it has been written (W^X). The processor flushes denormals (MXCSR) while it runs; whoever is called
//! from it runs with the host's MXCSR.

mod allocate;
mod asm;
mod avx2;
mod avx512;
mod breaks;
mod elements;
mod emit;
mod flows;
mod frame;
mod isa;
mod joint;
mod jumps;
mod kept;
mod lines;
mod lir;
mod lookups;
mod needs;
#[cfg(test)]
#[path = "../../../tests/unit/occurs.rs"]
mod occurs;
mod quads;
pub mod r700;
mod sampling;
mod scalar;
mod select;
mod span;
pub mod stream;
mod texels;
mod together;
mod vectors;
mod weighed;
mod whole;

use crate::ir::x1k::{Code, Op, Var};
use crate::launch::lanes::{BailOut, ENTRY, LANES, Lanes, Mask, Row, Visits, mask_of};
use crate::launch::source::Source;
use crate::passes::table::Pass;
use crate::passes::x1k::{Liveness, VarSet, optimise, parts};
use allocate::Ranges;
use ctm_exec::float::ONE;
use ctm_exec::x1k::{Constants, Form, sample};
use flows::Flows;
pub use frame::Frame;
use frame::{Layout, Line, head, input, part, target};
pub use isa::Isa;
use isa::{MAX_COPIES, MAX_COPIES_DIVERGED};
use lir::{Lines, Vars};
use lookups::{Fetch, REFERENCES, Reference, WRITES, Write};
use memmap2::{Mmap, MmapOptions};
use sampling::Kind;
pub use select::factors;
use select::{Facts, Select};
pub use span::{Partial, Span, SpanEnd, StartsOfSpan, TargetOfSpan};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU32;

/// Flush denormal results and operands; no exceptions; round to nearest.
const MXCSR: u32 = 0x9fc0;
/// The largest frame.
const FRAME_LIMIT: i32 = 1 << 20;

/// What code is made for, beside the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Options {
    /// What to make code for.
    pub isa: Isa,
    /// Lanes of a group.
    pub lanes: usize,
    /// Instructions have to be counted down.
    pub fuel: bool,
    /// Visits of blocks have to be counted.
    pub counters: bool,
    /// Sums that an output modifier makes larger are looked at whether they fell out of the range of single precision before. Without
    /// it, code says when one has fallen below, and its results count for nothing.
    pub careful: bool,
    /// Groups that run at once, where the program allows more than one; otherwise as many as fit.
    pub copies: Option<u8>,
}

/// Whether memory can be made executable here.
pub fn executes() -> bool {
    executable(&[0xc3]).is_some()
}

/// Code in memory that can be executed, and no longer written.
fn executable(bytes: &[u8]) -> Option<Mmap> {
    // All of it is written at once.
    let mut writable = MmapOptions::new().len(bytes.len()).populate().map_anon().ok()?;
    writable.copy_from_slice(bytes);
    writable.make_exec().ok()
}

/// A program in machine code.
pub struct Native {
    text: Mmap,
    isa: Isa,
    layout: Layout,
    /// Groups that run at once.
    pub copies: usize,
    fetches: Vec<Fetch>,
    writes: Vec<Write>,
    references: Vec<Reference>,
    outputs: Vec<usize>,
    starts: usize,
    existing: Mask,
    /// Vector registers that it uses between instructions.
    registers: u8,
    /// Whether it has code for spans.
    pub spans: bool,
    /// Whether it counts visits of blocks.
    pub counts: bool,
    /// First and last blocks of loops: visits of the first are those of the last, and what the code counts for it.
    iterations: Vec<(usize, usize)>,
}

impl Native {
    /// Makes the code of a program; `None` when memory cannot be made executable or a frame would be too large.
    ///
    /// `lowered` is as lowered; `single` is optimised for one group at a time, with its liveness. `ordinary`: the constants that are known to be numbers
    /// other than zero, in order.
    pub fn new(
        lowered: &Code,
        single: (&Code, &Liveness),
        start: &[Var],
        outputs: &[usize],
        ordinary: &[u16],
        options: Options,
    ) -> Option<Self> {
        let choose = |code: &Code, live: &Liveness, copies, joint| {
            Self::choose(code, live, start, copies, ordinary, options, joint)
        };
        let one_copy = lowered.watches_idle_lanes || lowered.relative_temps;
        let joint =
            !options.counters && !options.fuel && Pass::Joint.is_on() && crate::lower::x1k::joint::holds(single.0);
        let most = if joint { MAX_COPIES } else { MAX_COPIES_DIVERGED };
        let copies = options.copies.map(|n| n.clamp(1, most)).or((!Pass::Copies.is_on()).then_some(1));
        if joint {
            let joined = Pass::Breaks.is_on().then(|| breaks::joined(single.0)).flatten();
            let joined = joined.filter(crate::lower::x1k::joint::holds).map(|mut code| {
                let live = optimise(&mut code, false);
                (code, live)
            });
            let (code, live) = joined.as_ref().map_or(single, |(code, live)| (code, live));
            let choice = choose(code, live, copies, true);
            return Self::make(code, live, &choice, start, outputs, options);
        }
        let several = if one_copy || copies == Some(1) || copies.is_none() && one_fits(single, options.isa) {
            None
        } else if parts(lowered) {
            let mut code = lowered.clone();
            let live = optimise(&mut code, true);
            let choice = choose(&code, &live, copies, false);
            (choice.copies > 1).then_some(((code, live), choice))
        } else {
            // Several are made as one is.
            let choice = choose(single.0, single.1, copies, false);
            return Self::make(single.0, single.1, &choice, start, outputs, options);
        };
        match several {
            Some(((code, live), choice)) => Self::make(&code, &live, &choice, start, outputs, options),
            None => {
                let choice = choose(single.0, single.1, Some(1), false);
                Self::make(single.0, single.1, &choice, start, outputs, options)
            }
        }
    }

    fn make(
        code: &Code,
        live: &Liveness,
        choice: &Choice,
        start: &[Var],
        outputs: &[usize],
        options: Options,
    ) -> Option<Self> {
        let variables_in_rows = code.relative_temps.then_some(choice.vars.used.len());
        let locations = choice.ranges.locations(options.isa.bundles(choice.copies), variables_in_rows);
        let layout = Layout::new(start.len(), outputs.len(), locations.rows, choice.copies);
        if layout.size > FRAME_LIMIT {
            return None;
        }
        let spans = Pass::Spans.is_on() && !options.fuel && !options.careful && options.lanes == LANES;
        let flows = Flows::of(code, &choice.lines, &live.waits);
        let iterations =
            (0..).zip(&flows.iterations).filter_map(|(first, last)| Some((first, (*last)?.index()))).collect();
        let input = emit::Input {
            isa: options.isa,
            code,
            lines: &choice.lines,
            vars: &choice.vars,
            locations: &locations,
            layout,
            copies: choice.copies,
            existing: mask_of(options.lanes),
            start,
            live_in: live.at(ENTRY).iter().collect(),
            fetches: &choice.fetches,
            outputs,
            waited: &live.waited,
            flows: &flows,
            assumed: choice.assumed,
            fuel: options.fuel,
            counters: options.counters,
            joint: choice.joint,
            spans,
        };
        let (text, registers) = emit::emit(&input);
        Some(Self {
            text: executable(&text)?,
            registers,
            isa: options.isa,
            layout,
            copies: usize::from(choice.copies),
            fetches: choice.fetches.clone(),
            writes: choice.writes.clone(),
            references: choice.references.clone(),
            outputs: outputs.to_vec(),
            starts: start.len(),
            existing: mask_of(options.lanes),
            iterations,
            spans,
            counts: options.counters,
        })
    }

    /// Chooses instructions, and how many copies fit.
    fn choose(
        code: &Code,
        live: &Liveness,
        start: &[Var],
        copies: Option<u8>,
        ordinary: &[u16],
        options: Options,
        joint: bool,
    ) -> Choice {
        let mut used = VarSet::default();
        for (index, block) in code.blocks.iter().enumerate() {
            used.add(&live.at(crate::ir::x1k::BlockId(index as u16)));
            for op in &block.ops {
                if let Op::Set(var, ..) | Op::Get(var) = op {
                    used.insert(*var);
                }
            }
        }
        if code.relative_temps {
            used = VarSet::ALL;
        }
        let vars = Vars::new(used.iter().collect());
        let facts = Facts::of(code, start);
        let choose = |defers: bool| {
            let mut select = Select::new(options.isa, &vars, &facts, Layout::ROWS);
            select.careful = options.careful;
            (select.defers, select.ordinary) = (defers, ordinary);
            select.merges = Pass::Merges.is_on() && options.isa == Isa::Avx512 && !code.watches_idle_lanes;
            let blocks = (0..).zip(&code.blocks).zip(&live.waited);
            let lines: Vec<Lines> = blocks.map(|((n, block), &waited)| select.block(n, block, waited)).collect();
            let ranges = Ranges::of(code, &lines, live, &vars, select.vectors as usize);
            let copies = copies.unwrap_or_else(|| options.isa.copies(ranges.pressure, joint));
            let Select { fetches, writes, references, assumed, has_deferred, .. } = select;
            let choice =
                Choice { lines, vars: vars.clone(), ranges, copies, fetches, writes, references, assumed, joint };
            (choice, has_deferred)
        };
        let (choice, has_deferred) = choose(Pass::Deferred.is_on());
        if has_deferred && copies.is_none() && choice.copies < MAX_COPIES {
            // What is put off needs registers; more copies are worth more.
            let (without, _) = choose(false);
            if without.copies > choice.copies {
                return without;
            }
        }
        choice
    }

    /// The code.
    #[cfg(test)]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// A frame for this code.
    pub fn frame(&self) -> Frame {
        let mut frame = Frame::new(self.layout.size);
        for (number, row) in quads::TABLES.iter().enumerate() {
            frame.put_row(self.layout.tables + 64 * number as i32, row);
        }
        frame.put_row(self.layout.units, &[ONE; LANES]);
        frame
    }

    /// Runs up to [`Self::copies`] groups, with so many instructions each, until `stop` is not 0. `visits` have to be 0. Says whether the results count; otherwise careful code has to run instead.
    ///
    /// # Errors
    /// [`BailOut`] when one of them has to be run by the reference interpreter; then nothing that was left means anything.
    pub fn run(
        &self,
        frame: &mut Frame,
        lanes: &mut [Lanes],
        constants: &Constants,
        source: &Source<'_>,
        visits: &mut [Visits],
        (fuel, stop): (u64, &AtomicU32),
    ) -> Result<bool, BailOut> {
        frame.put(head::FUEL, &fuel.to_le_bytes());
        frame.put(head::STOP, &(stop.as_ptr() as usize).to_le_bytes());
        frame.put(head::GROUPS, &(lanes.len() as u32).to_le_bytes());
        frame.put(head::SPAN, &span::NO_SPAN.to_le_bytes());
        for (copy, lanes) in lanes.iter().enumerate() {
            let at = self.layout.part(copy as u8);
            frame.put(at + part::COVERED, &u32::from(lanes.covered).to_le_bytes());
            frame.put(at + part::EXISTING, &u32::from(lanes.existing).to_le_bytes());
            for (place, row) in lanes.start.iter().enumerate() {
                frame.put_row(self.start_row(copy, place), row);
            }
        }
        let starts = frame.address(self.layout.starts);
        match self.enter(frame, starts, constants, source, visits) {
            emit::DONE => {}
            emit::UNDERFLOW => return Ok(false),
            _ => return Err(BailOut),
        }
        self.add_iterations(visits);
        self.collect(frame, lanes);
        Ok(true)
    }

    /// Runs groups that lie side by side, all of whose lanes are covered. `visits` have to be 0; with several passes they mean something
    /// only if all of them ran to their end.
    pub fn run_span(
        &self,
        frame: &mut Frame,
        span: &Span<'_>,
        constants: &Constants,
        source: &Source<'_>,
        visits: &mut [Visits],
    ) -> SpanEnd {
        frame.put(head::GROUPS, &span.groups.to_le_bytes());
        for (number, target) in (0..).zip(&span.targets) {
            let at = head::TARGETS + target::SIZE * number;
            frame.put(at + target::FORM, &target.form().to_le_bytes());
            [target::PARTIAL, target::ELEMENTS, target::CHANNELS]
                .into_iter()
                .for_each(|count| frame.put(at + count, &0u64.to_le_bytes()));
            if let TargetOfSpan::Rows { rows, row_elements, channels } = target {
                frame.put(at + target::POINTER, &(rows.as_ptr() as usize).to_le_bytes());
                let row_bytes = 4 * *row_elements * usize::from(*channels);
                frame.put(at + target::ROW_BYTES, &row_bytes.to_le_bytes());
                let beside = target::group_bytes((*channels).into()) as usize;
                let below = if span.rows == 2 { 2 * row_bytes } else { beside };
                // Where there are two rows of quads, every second group lies in the upper one again.
                let beside = if span.rows == 2 { beside.wrapping_sub(below) } else { beside };
                frame.put(at + target::STEPS, &below.to_le_bytes());
                frame.put(at + target::STEPS + 8, &beside.to_le_bytes());
            }
        }
        for copy in 0..self.copies {
            let at = self.layout.part(copy as u8);
            for mask in [part::COVERED, part::EXISTING] {
                frame.put(at + mask, &u32::from(self.existing).to_le_bytes());
            }
        }
        let (kind, starts) = match span.starts {
            StartsOfSpan::Steps { first, steps } => {
                debug_assert!(first.len() == self.copies * self.starts && steps.len() == self.starts);
                for (place, row) in first.iter().enumerate() {
                    frame.put_row(self.layout.starts + 64 * place as i32, row);
                }
                for (place, step) in steps.iter().enumerate() {
                    frame.put_row(self.layout.steps + 64 * place as i32, &[step.to_bits(); LANES]);
                }
                (span::STEPS, frame.address(self.layout.starts))
            }
            StartsOfSpan::Ready(rows) => {
                let passes = (span.groups as usize).div_ceil(self.copies);
                debug_assert!(rows.len() == passes * self.copies * self.starts);
                (span::READY, rows.as_ptr() as usize)
            }
        };
        frame.put(head::SPAN, &kind.to_le_bytes());
        let end = self.enter(frame, starts, constants, source, visits);
        self.add_iterations(visits);
        let left = frame.dword(head::GROUPS);
        match end {
            emit::DONE => SpanEnd::Done,
            emit::UNDERFLOW => SpanEnd::Underflow { left },
            span::LEFT => SpanEnd::Left { left },
            _ => SpanEnd::BailOut { left },
        }
    }

    /// What the last span has stored of elements of an output that were not wholly written.
    pub fn partial(&self, frame: &mut Frame, output: usize) -> Partial {
        let at = head::TARGETS + target::SIZE * output as i32;
        let [groups, elements, channels] =
            [target::PARTIAL, target::ELEMENTS, target::CHANNELS].map(|count| frame.count(at + count));
        Partial { groups, elements, channels }
    }

    /// Where a start value of a copy lies.
    fn start_row(&self, copy: usize, place: usize) -> i32 {
        self.layout.starts + 64 * (copy * self.starts + place) as i32
    }

    /// Calls the code; what of the frame's head is the same for all calls is written here.
    #[allow(unsafe_code, reason = "machine code is called, and calls back")]
    fn enter(
        &self,
        frame: &mut Frame,
        starts: usize,
        constants: &Constants,
        source: &Source<'_>,
        visits: &mut [Visits],
    ) -> u32 {
        let context = Context {
            source,
            fetches: &self.fetches,
            writes: &self.writes,
            references: &self.references,
            layout: &self.layout,
        };
        self.put_inputs(frame, source);
        frame.put(head::CONSTANTS, &(constants.float.as_ptr() as usize).to_le_bytes());
        frame.put(head::INTS, &(constants.int.as_ptr() as usize).to_le_bytes());
        frame.put(head::FETCH, &(fetch as *const () as usize).to_le_bytes());
        frame.put(head::CONTEXT, &((&raw const context) as usize).to_le_bytes());
        frame.put(head::VISITS, &(visits.as_mut_ptr() as usize).to_le_bytes());
        frame.put(head::MXCSR, &MXCSR.to_le_bytes());
        frame.put(head::STARTS, &starts.to_le_bytes());
        type Entry = unsafe extern "sysv64" fn(*mut Line) -> u32;
        // SAFETY: the text is code that `emit` made for this signature, mapped executable and kept by `self`.
        let entry = unsafe { std::mem::transmute::<*const u8, Entry>(self.text.as_ptr()) };
        // SAFETY: the frame has the layout's size, and its head points to constants, start values (rows in the frame, or as many as the
        // passes of a span read), visits (one for each block; the code adds to no other), arrays and a context that outlive the call. The code
        // and the routines of `sampling`, which stay as long as the process, read arrays at columns and rows that they have clamped to what
        // `Views::array` promises to be there. They write nothing but frame, visits and, in a span, two rows of elements of each target for each group, all of which lie in the
        // cells that the caller holds; nobody else writes these elements meanwhile.
        unsafe { entry(frame.bytes.as_mut_ptr()) }
    }

    /// Describes the inputs that are fetched.
    fn put_inputs(&self, frame: &mut Frame, source: &Source<'_>) {
        let mut seen: u16 = 0;
        for fetch in &self.fetches {
            if seen >> fetch.input & 1 == 1 {
                continue;
            }
            seen |= 1 << fetch.input;
            let at = self.layout.inputs + input::BYTES * i32::from(fetch.input);
            let Some((array, descriptor)) = source.views.and_then(|views| views.array(fetch.input)) else {
                frame.put(at + input::POINTER, &0u64.to_le_bytes());
                frame.put(at + input::ROUTINE, &0u64.to_le_bytes());
                continue;
            };
            let sampler = &descriptor.sampler;
            let (kind, data) = (Kind::of(sampler, array.form), array.bytes.as_ptr() as usize);
            let (pointer, routine) =
                if kind.is_plain() { (data, None) } else { (0, kind.routine(self.isa, self.registers)) };
            frame.put(at + input::POINTER, &pointer.to_le_bytes());
            frame.put(at + input::ROUTINE, &routine.unwrap_or(0).to_le_bytes());
            frame.put(at + input::DATA, &data.to_le_bytes());
            let channels = if array.form == Form::Floats { array.channels.into() } else { 1 };
            let strides = [array.pitch * channels, channels];
            for (axis, size) in [descriptor.width, descriptor.height].into_iter().enumerate() {
                let of_axis = |place: i32| at + place + 4 * axis as i32;
                let period = kind.period(axis, size) as f32;
                frame.put(of_axis(input::SIZE), &(size as f32).to_le_bytes());
                frame.put(of_axis(input::LAST), &((size - 1) as f32).to_le_bytes());
                frame.put(of_axis(input::STRIDES), &strides[axis].to_le_bytes());
                frame.put(of_axis(input::PERIOD), &period.to_le_bytes());
                frame.put(of_axis(input::INVERSE), &(1.0 / period).to_le_bytes());
            }
            for (channel, bits) in (0..).zip(sampler.border) {
                frame.put(at + input::BORDER + 4 * channel, &bits.to_le_bytes());
            }
        }
    }

    /// Adds to visits what code left out, as it follows from others.
    fn add_iterations(&self, visits: &mut [Visits]) {
        for &(first, last) in &self.iterations {
            let last = visits[last];
            let first = &mut visits[first];
            // What was taken away for the last iterations may have been more than what was added for the first ones.
            first.groups = first.groups.wrapping_add(last.groups);
            first.active = first.active.wrapping_add(last.active);
        }
    }

    /// What the groups of the last pass have left in the frame.
    pub fn collect(&self, frame: &mut Frame, lanes: &mut [Lanes]) {
        for (copy, lanes) in lanes.iter_mut().enumerate() {
            let at = self.layout.part(copy as u8);
            lanes.covered = frame.mask(at + part::COVERED) & self.existing;
            for (place, &output) in self.outputs.iter().enumerate() {
                lanes.written[output] = frame.mask(at + part::WRITTEN + 4 * output as i32);
                frame.get_row(at + self.layout.outputs + 64 * place as i32, &mut lanes.outputs[output]);
            }
        }
    }
}

/// Whether the variables alone leave room for one copy only, where it matters most: in the deepest loops.
fn one_fits((code, live): (&Code, &Liveness), isa: Isa) -> bool {
    let blocks = || (0..).zip(&code.blocks).map(|(id, block)| (block.frames.frames.len(), crate::ir::x1k::BlockId(id)));
    let deepest = blocks().map(|(depth, _)| depth).max().unwrap_or(0);
    let deep = blocks().filter(|&(depth, _)| depth == deepest);
    isa.copies(deep.map(|(_, id)| live.at(id).iter().count()).max().unwrap_or(0), false) == 1
}

/// Instructions, and what goes with them.
struct Choice {
    lines: Vec<Lines>,
    vars: Vars,
    ranges: Ranges,
    copies: u8,
    fetches: Vec<Fetch>,
    writes: Vec<Write>,
    references: Vec<Reference>,
    /// No sum may fall below the range of single precision.
    assumed: bool,
    /// All copies go the same way.
    joint: bool,
}

#[cfg(test)]
thread_local! {
    static LOOKUPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// How often this thread's code has called the reference function for a lookup.
#[cfg(test)]
fn reference_lookups() -> u64 {
    LOOKUPS.get()
}

/// What calls need.
struct Context<'a> {
    source: &'a Source<'a>,
    fetches: &'a [Fetch],
    writes: &'a [Write],
    references: &'a [Reference],
    layout: &'a Layout,
}

/// Reads an input for the `lanes` of a copy, or writes past the cache ([`WRITES`]), or calls a reference function for all lanes ([`REFERENCES`]):
/// coordinates, indices, operands and results are rows of its part of the frame. 0: done, 1: bail out.
#[allow(unsafe_code, reason = "machine code is called, and calls back")]
unsafe extern "sysv64" fn fetch(frame: *mut u8, number: u32, copy: u32, lanes: u32) -> u32 {
    // SAFETY: called by code that `emit` made, whose head holds the context that `run` has put there for the duration of the call.
    let context = unsafe { &*frame.add(head::CONTEXT as usize).cast::<*const Context<'_>>().read() };
    let part_at = context.layout.part(copy as u8) as usize;
    // SAFETY: the rows of fetches lie in the copy's part, are aligned to 64 bytes, and nobody else looks at them meanwhile.
    let rows = unsafe { &mut *frame.add(part_at + part::ROWS as usize).cast::<[Row; 6]>() };
    // SAFETY: masks lie in the copy's part.
    let mask = |place: i32| unsafe { frame.add(part_at + place as usize).cast::<u32>().read() };
    // A group may have fewer lanes than code knows of.
    let (covered, lanes) = (mask(part::COVERED), lanes & mask(part::EXISTING));
    let source = context.source;
    if let Some(number) = number.checked_sub(REFERENCES) {
        let Some(&Reference { op, zero, omod, clamp }) = context.references.get(number as usize) else { return 1 };
        let results = catch_unwind(AssertUnwindSafe(|| {
            let [a, b, c, ..] = rows;
            std::array::from_fn(|lane| op.channel([a[lane], b[lane], c[lane]], zero, omod, clamp).unwrap_or(0))
        }));
        return results.map_or(1, |row| {
            rows[2] = row;
            0
        });
    }
    if let Some(number) = number.checked_sub(WRITES) {
        let Some(&Write { shared, set, clear }) = context.writes.get(number as usize) else { return 1 };
        let mut writing = lanes;
        for bit in 0..4 {
            let predicate = mask(part::PREDICATES + 4 * bit);
            writing &= if set >> bit & 1 == 1 { predicate } else { u32::MAX };
            writing &= if clear >> bit & 1 == 1 { !predicate } else { u32::MAX };
        }
        let first = shared.then_some(lanes.trailing_zeros() as usize);
        let wide = |row: &Row| std::array::from_fn(|lane| if lane < LANES { row[lane] } else { 0 });
        let [x, y, bits] = [&rows[0], &rows[1], &rows[2]].map(wide);
        let written = catch_unwind(AssertUnwindSafe(|| source.write([&x, &y, &bits], writing.into(), first)));
        return u32::from(!matches!(written, Ok(Ok(()))));
    }
    #[cfg(test)]
    LOOKUPS.with(|lookups| lookups.set(lookups.get() + 1));
    let Some(&Fetch { input, unscaled, uncached, .. }) = context.fetches.get(number as usize) else { return 1 };
    let mut look_up = |memory: &dyn ctm_exec::x1k::Memory| {
        let descriptor = memory.input(input)?;
        for lane in (0..LANES).filter(|lane| lanes >> lane & 1 == 1) {
            let (s, t) = (rows[0][lane], rows[1][lane]);
            let texel = match sample::lookup(memory, input, &descriptor, (s, t), unscaled, uncached) {
                Ok(sampled) => sampled.texel,
                Err(_) if covered >> lane & 1 == 1 => return None,
                // An uncovered lane cannot fault: it reads 0.
                Err(_) => [0; 4],
            };
            (0..4).for_each(|c| rows[2 + c][lane] = texel[c]);
        }
        Some(())
    };
    // A panic must not cross the code that called; the reference interpreter will meet it again.
    let result = catch_unwind(AssertUnwindSafe(|| source.read(&mut look_up)));
    u32::from(!matches!(result, Ok(Ok(Some(())))))
}
