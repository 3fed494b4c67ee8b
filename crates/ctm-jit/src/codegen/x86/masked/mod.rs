//! The back end for the form with masks: machine code for x86-64 with AVX-512 or AVX2, for programs of both instruction sets.
//!
//! | file | contents |
//! |---|---|
//! | `ins` | instructions, and the live ranges of their vectors |
//! | `facts` | analyses before selection |
//! | `select`, `selected` | from the form to vector instructions; those of a whole program |
//! | `text`, `verify` | the text of instructions; their rules |
//! | `runs` | strips: instructions emitted for one register part after the other |
//! | `fused` | instructions that are emitted as one |
//! | `layout` | the layout of the frame |
//! | `kept` | literals and constants that loops keep in registers, or rows |
//! | `unrolled`, `live_items` | programs with loops whose parts are unrolled; their live variables and masks |
//! | `narrow` | narrower wavefronts for programs of high register pressure |
//! | `alu`, `doubles` | operations as instructions |
//! | `emit`, `emit/vectors` | machine code: the whole; single vector instructions |
//! | `emit/active`, `emit/masks`, `emit/under` | the location of the active lanes; other masks; instructions under masks |
//! | `emit/relative` | registers and constants at an index |
//! | `spans` | several wavefronts in one call: start values, and the destination of exports |
//!
//! A vector takes one register for each part (*piece*) of the wavefront's lanes: 1, 2 or 4 of 16 lanes with AVX-512, 2,
//! 4 or 8 of 8 lanes on AVX2. Masks of lanes have 64 bits and lie in general registers or in the frame, those of the
//! active lanes in mask registers (on AVX2 in a vector), too. Operations without instructions of their own call their
//! reference functions, and lookups of mapped arrays call `../lookups`.

pub mod alu;
mod doubles;
pub mod emit;
pub(in crate::codegen::x86) mod facts;
pub mod fused;
mod ins;
pub mod kept;
pub mod layout;
#[cfg(feature = "cranelift")]
pub mod live_items;
pub mod narrow;
#[cfg(test)]
#[path = "../../../../tests/unit/occurs_r700.rs"]
pub(crate) mod occurs;
pub mod runs;
mod select;
mod selected;
pub mod spans;
pub mod text;
pub mod unrolled;
pub mod verify;
pub mod wide;

use super::isa::{Isa, X86Target};
use super::lookups::{Looked, Rows, look_up};
use super::mode::{forget_underflow, underflowed};
use super::{CacheLine, Frame, exchange_mode, executable, flushing, mode_now};
use crate::launch::events::note;
use crate::launch::kept::{Kept, Pool};
use crate::launch::lanes::BailOut;
use crate::launch::wavefronts::bindings::Binding;
use crate::launch::wavefronts::wave::{EXPORTS, Fetched, GRADIENTS, LANES, Ran, Row, Shared, Wave};
use ctm_ir::masked::{Code, Counter, Fetch, M};
use ctm_ir::values;

use ctm_exec::r700::texture::needs_set_gradients;
use ctm_isa::r700::ops::TexOp;
use ins::Call;
pub use ins::{Indexed, Ins, ranges};
pub use layout::ROW;
use layout::{
    ARGUMENTS, Layout, RESULTS, SPENT, UNDERFLOWED, copies, existing_lanes, gradient, head, lane_numbers, lookup, table,
};
use memmap2::Mmap;
pub use select::exists;
pub use selected::{Assumed, SelectedCode, are_ordinary, ordinary};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The assumptions of the code.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The target.
    pub target: X86Target,
    /// Factors among uniform values that were numbers other than zero in the first launch are so in this one.
    pub ordinary: bool,
    /// It counts executions of blocks and active lanes.
    pub counts: bool,
    /// It counts instructions down.
    pub fuel: bool,
    /// It may be for fewer lanes than the launch has, where that is faster: [`Native::lanes`].
    pub narrows: bool,
}

impl Variant {
    /// The number of them.
    pub const COUNT: usize = 16 * X86Target::ALL.len();

    /// Its number.
    pub fn number(self) -> usize {
        let Self { target, ordinary, counts, fuel, narrows } = self;
        let facts = [ordinary, counts, fuel, narrows];
        facts.into_iter().fold(target.isa as usize, |number, fact| 2 * number + usize::from(fact))
    }
}

/// The code: leaves 0 where a wavefront ended.
#[cfg(target_arch = "x86_64")]
type EntryPoint = unsafe extern "sysv64" fn(*mut CacheLine) -> u32;
/// The code: leaves 0 where a wavefront ended.
#[cfg(not(target_arch = "x86_64"))]
type EntryPoint = unsafe extern "C" fn(*mut CacheLine) -> u32;

/// The parts of a program in machine code, as the compiler's stages leave them.
pub struct Parts<'a> {
    /// Machine code.
    pub bytes: &'a [u8],
    /// Lanes of a wavefront.
    pub lanes: usize,
    /// The layout of the frame.
    pub layout: Layout,
    /// The target.
    pub target: X86Target,
    /// The instructions, and the calls and lookups that they make.
    pub selected: SelectedCode,
    /// The program's masked form.
    pub code: &'a Code,
    /// Exported elements, in order.
    pub exports: Vec<usize>,
    /// The offsets of their rows.
    pub rows: Vec<i32>,
    /// Rows that never change, and their bits.
    pub fixed: Vec<(i32, u32)>,
}

/// A program in machine code.
pub struct Native {
    text: Mmap,
    /// Lanes of a wavefront.
    lanes: usize,
    layout: Layout,
    target: X86Target,
    calls: Vec<Call>,
    /// The fetches that are inlined, in the order of their numbers in the frame.
    plain: Vec<usize>,
    exports: Vec<usize>,
    /// The offsets of their rows.
    rows: Vec<i32>,
    /// The offsets of the rows of `SelectedCode::fixed`, and their numbers.
    fixed: Vec<(i32, u32)>,
    /// Whether the code itself reads or writes the local data share.
    shares: bool,
    /// Some fetch needs gradients that are set, or sets a cube.
    gradients: bool,
    /// Some fetch needs the differences between lanes of a quad.
    slopes: bool,
    frames: Pool<Frame>,
}

impl Native {
    /// Makes the code of a program executable; `None` when memory cannot be.
    pub fn new(parts: Parts<'_>) -> Option<Self> {
        let Parts { bytes, lanes, layout, target, selected, code, exports, rows, fixed } = parts;
        let SelectedCode { lists, calls, plain, .. } = selected;
        let text = executable(bytes)?;
        let share = |ins: &Ins| {
            matches!(ins, Ins::GetRelative { from: Indexed::Share, .. } | Ins::SetRelative { to: Indexed::Share, .. })
        };
        let shares = lists.iter().flatten().any(share);
        let needs = |fetch: &Fetch| matches!(fetch, Fetch::Texture(inst) if needs_set_gradients(inst.word0.op));
        let gradients = code.fetches.iter().any(|fetch| needs(fetch) || fetch.sets_cube());
        let differs = |op: TexOp| matches!(op, TexOp::GetGradientsH | TexOp::GetGradientsV);
        let slopes = code.fetches.iter().any(|fetch| matches!(fetch, Fetch::Texture(inst) if differs(inst.word0.op)));
        let frames = Pool::default();
        Some(Self {
            text,
            lanes,
            layout,
            target,
            calls,
            plain,
            exports,
            rows,
            fixed,
            shares,
            gradients,
            slopes,
            frames,
        })
    }

    /// Lanes of its wavefronts.
    pub const fn lanes(&self) -> usize {
        self.lanes
    }

    /// The code.
    #[cfg(all(test, unix, target_arch = "x86_64"))]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// A frame for this code.
    pub fn frame(&self) -> Kept<'_, Frame> {
        self.frames.take(|| {
            let mut frame = Frame::new(self.layout.size);
            (0..LANES as i32).for_each(|lane| frame.put(lane_numbers() + 4 * lane, &lane.to_le_bytes()));
            for (row, bits) in &self.fixed {
                (0..LANES as i32).for_each(|lane| frame.put(row + 4 * lane, &bits.to_le_bytes()));
            }
            frame
        })
    }

    /// Sets the start state of a wavefront.
    fn begin(&self, frame: &mut Frame, shared: &Shared<'_>, wave: &Wave) {
        let Wave { start, valid, .. } = wave;
        frame.put(head::YIELD, &0u64.to_le_bytes());
        frame.put(head::ACTIVE_LANES, &0u64.to_le_bytes());
        frame.bytes()[head::LOOKUPS as usize..head::MASKS as usize].fill(0);
        frame.put(head::QUADS, &0x1111_1111_1111_1111u64.to_le_bytes());
        frame.put(head::FUEL, &shared.fuel.to_le_bytes());
        frame.put(head::mask(M::EXISTING), &wave.existing.to_le_bytes());
        frame.put(head::mask(M::NONE), &0u64.to_le_bytes());
        frame.put(head::mask(M::VALID), &valid.to_le_bytes());
        frame.put(head::mask(M::FIRST), &(wave.fetched.first_in_group as u64).to_le_bytes());
        frame.put(head::mask(M::ACTIVE), &valid.to_le_bytes());
        for &export in &self.exports {
            frame.put(head::WRITTEN + 8 * export as i32, &0u64.to_le_bytes());
        }
        for (place, row) in start.iter().enumerate() {
            let to = frame.bytes()[(self.layout.start + ROW * place as i32) as usize..].as_chunks_mut().0;
            to.iter_mut().zip(row).for_each(|(to, bits)| *to = bits.to_le_bytes());
        }
        if self.slopes {
            for (lane, at) in (existing_lanes()..).step_by(4).take(LANES).enumerate() {
                frame.put(at, &(((wave.existing >> lane) as u32 & 1).wrapping_neg()).to_le_bytes());
            }
        }
        if self.gradients {
            frame.bytes()[gradient(0) as usize..gradient(GRADIENTS) as usize].fill(0);
        }
        for (place, &fetch) in self.plain.iter().enumerate() {
            let Some(Some(Binding::Texels(texels))) = shared.bindings.get(fetch) else { continue };
            let mut put = |first: i32, numbers: &[u32]| {
                for (number, bits) in (first..).zip(numbers) {
                    let at = lookup(&self.target, place, number);
                    (0..copies(&self.target)).for_each(|copy| frame.put(at + 4 * copy, &bits.to_le_bytes()));
                }
            };
            put(table::NUMBERS, texels.numbers().map(|axis| axis.map(f32::to_bits)).as_flattened());
            put(table::PITCH, &[texels.pitch]);
            put(table::LAST, &[texels.width - 1, texels.height - 1]);
            let data = texels.bytes().as_ptr().addr();
            frame.put(lookup(&self.target, place, table::DATA), &data.to_le_bytes());
        }
    }

    /// Runs a wavefront to its end or to its next yield: from its start, or (`goes_on`) from the yield that it came to in this frame.
    ///
    /// # Errors
    /// [`BailOut`]: the reference interpreter has to.
    #[allow(unsafe_code, reason = "machine code is called, and calls back")]
    pub fn run(&self, frame: &mut Frame, shared: &Shared<'_>, wave: &mut Wave, goes_on: bool) -> Result<Ran, BailOut> {
        if !goes_on {
            self.begin(frame, shared, wave);
        }
        let Wave { visits, fetched, .. } = &mut *wave;
        let call = |frame: *mut CacheLine, _| {
            // SAFETY: the text is code that `emit` made for this signature; it is mapped executable, and `self` owns
            // it.
            let entry = unsafe { std::mem::transmute::<*const u8, EntryPoint>(self.text.as_ptr()) };
            forget_underflow();
            // SAFETY: `enter` has prepared the frame.
            let end = unsafe { entry(frame) };
            if underflowed() { UNDERFLOWED } else { end }
        };
        match self.enter(frame, shared, visits, fetched, call) {
            0 => {
                self.collect(frame, wave);
                Ok(Ran::ToEnd)
            }
            2 => Ok(Ran::ToYield((number(frame, head::YIELD) as u16).wrapping_sub(1))),
            end => {
                wave.is_spent = end == SPENT;
                wave.underflowed = end == UNDERFLOWED;
                Err(BailOut)
            }
        }
    }

    /// Prepares the frame for the code, and calls it; writes the fields of the frame's head that are the same for all
    /// calls.
    ///
    /// The frame has the layout's size, and its head points to uniform values (as many as the program's form names),
    /// block counters (one for each block; the code adds to no other) and a context that outlive the call; so does the
    /// local data share, whose dwords the code reads and writes at indices compared with their number. The code writes
    /// only frame and block counters, and `call` only the context's referents.
    fn enter(
        &self,
        frame: &mut Frame,
        shared: &Shared<'_>,
        visits: &mut [u64],
        fetched: &mut Fetched,
        run: impl FnOnce(*mut CacheLine, u32) -> u32,
    ) -> u32 {
        if self.shares {
            frame.put(head::SHARE, &(fetched.group.dwords().as_mut_ptr() as usize).to_le_bytes());
        }
        frame.put(head::FUNCTION, &(call as *const () as usize).to_le_bytes());
        frame.put(head::STOP, &(shared.stop.as_ptr() as usize).to_le_bytes());
        frame.put(head::VISITS, &(visits.as_mut_ptr() as usize).to_le_bytes());
        frame.put(head::UNIFORMS, &(shared.uniforms.as_ptr() as usize).to_le_bytes());
        let host = mode_now();
        let mut context = CallContext { isa: self.target.isa, host, calls: &self.calls, shared, fetched };
        frame.put(head::CONTEXT, &((&raw mut context) as usize).to_le_bytes());
        let frame = frame.bytes.as_mut_ptr();
        flushing(|| run(frame, host))
    }

    /// Reads the counters from the frame.
    fn collect_counts(frame: &mut Frame, wave: &mut Wave) {
        let tallies = &mut wave.tallies;
        tallies[Counter::Lanes.index()] = number(frame, head::ACTIVE_LANES);
        for input in 0..16u8 {
            tallies[Counter::Lookups(input).index()] = number(frame, head::LOOKUPS + 8 * i32::from(input));
        }
    }

    /// Reads the results of a wavefront from the frame.
    fn collect(&self, frame: &mut Frame, wave: &mut Wave) {
        Self::collect_counts(frame, wave);
        let Wave { valid, written, exports, .. } = wave;
        *valid = number(frame, head::mask(M::VALID));
        for ((&export, &at), row) in self.exports.iter().zip(&self.rows).zip(exports) {
            written[export] = number(frame, head::WRITTEN + 8 * export as i32);
            let from = frame.bytes()[at as usize..].as_chunks::<4>().0;
            row.iter_mut().zip(from).for_each(|(to, bits)| *to = u32::from_le_bytes(*bits));
        }
    }
}

/// A mask or number of the frame.
fn number(frame: &mut Frame, at: i32) -> u64 {
    let bytes = &frame.bytes()[at as usize..at as usize + 8];
    bytes.iter().rev().fold(0u64, |all, &byte| all << 8 | u64::from(byte))
}

#[cfg(test)]
thread_local! {
    static MODES: std::cell::Cell<(u64, u32)> = const { std::cell::Cell::new((0, 0)) };
}

/// The number of functions that this thread's code has called and that run in the host's mode, and all bits of MXCSR
/// that differed there.
#[cfg(test)]
pub fn modes_of_calls() -> (u64, u32) {
    MODES.get()
}

/// The arguments of calls.
struct CallContext<'a> {
    isa: Isa,
    /// The host's MXCSR.
    host: u32,
    calls: &'a [Call],
    shared: &'a Shared<'a>,
    fetched: &'a mut Fetched,
}

/// [`called`] with the calling convention of machine code.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "machine code calls it")]
unsafe extern "sysv64" fn call(frame: *mut u8, number: u32, mask: u64) -> u32 {
    // SAFETY: the same.
    unsafe { called(frame, number, mask) }
}

/// [`called`] with the calling convention of machine code.
#[cfg(not(target_arch = "x86_64"))]
#[allow(unsafe_code, reason = "machine code calls it")]
unsafe extern "C" fn call(frame: *mut u8, number: u32, mask: u64) -> u32 {
    // SAFETY: the same.
    unsafe { called(frame, number, mask) }
}

/// Performs an operation that has no machine code: arguments and results are rows of the frame. 0: done, 1: bail out.
/// Lookups of mapped arrays run in the code's mode, all else in the host's.
#[allow(unsafe_code, reason = "machine code is called, and calls back")]
unsafe fn called(frame: *mut u8, number: u32, mask: u64) -> u32 {
    // SAFETY: the caller is code made by `emit`; its head holds the context that `run` has put there for the duration
    // of the call, and no other reference to it is used meanwhile.
    let context = unsafe { &mut *frame.add(head::CONTEXT as usize).cast::<*mut CallContext<'_>>().read() };
    // SAFETY: these rows lie in the frame, are aligned to 64 bytes, and have no other reader or writer meanwhile.
    let rows = unsafe { &mut *frame.add(head::ROWS as usize).cast::<[Row; ARGUMENTS + RESULTS + GRADIENTS]>() };
    // SAFETY: masks lie in the frame.
    let [covered, existing] =
        [M::VALID, M::EXISTING].map(|m| unsafe { frame.add(head::mask(m) as usize).cast::<u64>().read() });
    let (arguments, rows) = rows.split_at_mut(ARGUMENTS);
    let (results, gradients) = rows.split_at_mut(RESULTS);
    let (Ok(arguments), Ok(results), Ok(gradients)) = (arguments.try_into(), results.try_into(), gradients.try_into())
    else {
        return 1;
    };
    let arguments: &mut [Row; ARGUMENTS] = arguments;
    let (results, gradients): (&mut [Row; RESULTS], &mut [Row; GRADIENTS]) = (results, gradients);
    let Some(call) = context.calls.get(number as usize) else { return 1 };
    if let (Call::Fetch(fetch, Some(looked)), Some(at)) = (call, arguments.first_chunk()) {
        let count = context.shared.lanes;
        let mut rows = Rows { at, set: gradients, to: results, lanes: mask, existing, count };
        // A panic must not unwind into the calling code.
        let found = AssertUnwindSafe(|| context.look_up(*fetch, looked, &mut rows));
        if let Ok(true) = catch_unwind(found) {
            return 0;
        }
    }
    context.fetched.covered = covered;
    let flushes = exchange_mode(context.host);
    // As above; the reference interpreter will meet it again.
    let done = catch_unwind(AssertUnwindSafe(|| context.call(call, mask, arguments, results, gradients)));
    exchange_mode(flushes);
    if let Ok(Some(())) = done { 0 } else { 1 }
}

impl CallContext<'_> {
    /// A call of a reference function; `None`: bail out.
    fn call(
        &mut self,
        call: &Call,
        mask: u64,
        arguments: &[Row; ARGUMENTS],
        results: &mut [Row; RESULTS],
        gradients: &mut [Row; GRADIENTS],
    ) -> Option<()> {
        let shared = self.shared;
        #[cfg(test)]
        MODES.with(|modes| modes.set((modes.get().0 + 1, modes.get().1 | (mode_now() ^ self.host))));
        match call {
            Call::Fetch(fetch, _) => {
                note(|events| events.reference_fetches += 1);
                let at = [&arguments[0], &arguments[1], &arguments[2], &arguments[3]];
                self.fetched.run(shared, usize::from(*fetch), &at, (mask, results), gradients).ok()?;
            }
            Call::Store(store) => {
                let of = std::array::from_fn(|n| &arguments[n]);
                self.fetched.store(shared, usize::from(*store), &of, mask).ok()?;
            }
            Call::Pure(op) => {
                for lane in 0..shared.lanes {
                    let args = std::array::from_fn(|n| arguments.get(n).map_or(0, |row| row[lane]));
                    results[0][lane] = values::lane(op, &args);
                }
            }
        }
        Some(())
    }

    /// Whether memory maps the array of a fetch, and the lookup was done there.
    #[allow(unsafe_code, reason = "code is for an instruction set")]
    fn look_up(&mut self, fetch: u16, looked: &Looked, rows: &mut Rows<'_>) -> bool {
        let Some(Some(binding)) = self.shared.bindings.get(usize::from(fetch)) else { return false };
        let lanes = rows.lanes;
        // SAFETY: machine code for it has called.
        let done = unsafe { look_up(self.isa, looked, binding, rows) };
        if done {
            self.fetched.count(lanes, binding.bytes().into());
        }
        done
    }
}

/// The number of an exported element fits into 16 bits.
const _: () = assert!(EXPORTS < u16::MAX as usize);
