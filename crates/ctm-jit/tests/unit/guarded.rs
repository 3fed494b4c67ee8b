//! Hostile programs in machine code: no access outside of their memory.
//!
//! All memory of the code lies between pages that may not be touched: frames (in all tests inside this crate),
//! constants, inputs and outputs. Every other block touches the page after it, the rest the page before it. An access
//! beyond ends the test process by a signal; a wrong access inside shows as a difference from the reference
//! interpreter.

use crate::{Backend, Jit, StreamLimits};
use ctm_exec::Interp;
use ctm_exec::x1k::Constants;
use ctm_isa::x1k::random::Random;
use ctm_isa::x1k::{Program, Words};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use ctm_testkit::x1k::case::{Case, KINDS, seeds};

const PAGE: usize = 4096;

/// Values between two pages that may not be touched; zeros at first.
pub struct Guarded<T> {
    mapping: NonNull<libc::c_void>,
    mapped: usize,
    values: NonNull<T>,
    count: usize,
}

// SAFETY: the memory belongs to this value alone.
unsafe impl<T: Send> Send for Guarded<T> {}
// SAFETY: as above; it is shared as a slice is.
unsafe impl<T: Sync> Sync for Guarded<T> {}

impl<T> Guarded<T> {
    /// `count` values, whose bytes may all be 0; by turns at the end and at the beginning of their pages.
    pub fn new(count: usize) -> Self {
        static TURN: AtomicUsize = AtomicUsize::new(0);
        let bytes = count * size_of::<T>();
        let inner = bytes.next_multiple_of(PAGE).max(PAGE);
        let mapped = inner + 2 * PAGE;
        // SAFETY: a new private mapping, anywhere.
        let mapping = unsafe {
            libc::mmap(std::ptr::null_mut(), mapped, libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        assert_ne!(mapping, libc::MAP_FAILED);
        let mapping = NonNull::new(mapping).expect("a mapping is not at 0");
        // SAFETY: the pages inside belong to the mapping.
        let opened =
            unsafe { libc::mprotect(mapping.byte_add(PAGE).as_ptr(), inner, libc::PROT_READ | libc::PROT_WRITE) };
        assert_eq!(opened, 0);
        let at_end = TURN.fetch_add(1, Ordering::Relaxed).is_multiple_of(2);
        let offset = if at_end { (inner - bytes) / align_of::<T>() * align_of::<T>() } else { 0 };
        // SAFETY: within the mapping.
        let values = unsafe { mapping.byte_add(PAGE + offset) }.cast();
        Self { mapping, mapped, values, count }
    }

    /// A copy of values.
    pub fn of(from: &[T]) -> Self
    where
        T: Copy,
    {
        let mut guarded = Self::new(from.len());
        guarded.copy_from_slice(from);
        guarded
    }
}

impl<T> Drop for Guarded<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and nothing borrows from it any more.
        unsafe { libc::munmap(self.mapping.as_ptr(), self.mapped) };
    }
}

impl<T> std::ops::Deref for Guarded<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `count` values lie there: zeros or copies.
        unsafe { std::slice::from_raw_parts(self.values.as_ptr(), self.count) }
    }
}

impl<T> std::ops::DerefMut for Guarded<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.values.as_ptr(), self.count) }
    }
}

/// Some bits of some words flipped.
fn mutated(program: &Program, r: &mut Random) -> Program {
    let mut words: Vec<Words> = program.words.clone();
    for _ in 0..1 + r.below(6) {
        let (place, word, bit) = (r.below(words.len() as u32) as usize, r.below(6) as usize, r.below(32));
        words[place][word] ^= 1 << bit;
    }
    Program { words, ..program.clone() }
}

fn attempt(name: &str, seed: u64, program: &Program, case: &Case, engines: &[Jit]) {
    // The reference interpreter, which has no `unsafe` code, gives the expected result.
    let (expected, memory) = case.run(program, &Interp, 1);
    for engine in engines {
        let mut guarded = case.memory.in_memory(Guarded::of);
        let mut constants = Guarded::<Constants>::new(1);
        constants[0].clone_from(&case.constants);
        let found = case.run_on(program, engine, 1, &constants[0], &mut guarded);
        assert_eq!(found, expected, "{name}, seed {seed}, {}", engine.backend());
        if found.is_ok() {
            assert_eq!(guarded.first_difference(&memory), None, "{name}, seed {seed}, {}", engine.backend());
        }
    }
}

#[test]
fn programs_stay_inside() {
    let limits = StreamLimits { processors: 1, ..StreamLimits::default() };
    let native = || Backend::available().filter(|&b| b != Backend::Portable).map(Jit::with_backend);
    let engines: Vec<Jit> = native().map(|engine| engine.with_stream_limits(limits)).chain(native()).collect();
    for kind in &KINDS {
        for seed in seeds(kind.count / 8) {
            let (program, mut case) = kind.make(seed);
            // Mutated programs may not end.
            case.budget.instructions_per_group = Some(case.budget.instructions_per_group.unwrap_or(20_000));
            let mut r = Random::new(seed ^ 0xa77a_c4ed);
            attempt(kind.name, seed, &program, &case, &engines);
            attempt(kind.name, seed, &mutated(&program, &mut r), &case, &engines);
        }
    }
    for backend in Backend::available().filter(|backend| backend.has_streams()) {
        let mut of = engines.iter().filter(|engine| engine.backend() == backend);
        assert!(of.any(|engine| engine.streams_run() > 0), "{backend} ran no streams");
    }
}
