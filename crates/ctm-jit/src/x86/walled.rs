//! Hostile programs in machine code: no access outside of what they were given.
//!
//! Everything that code works on lies between pages that may not be touched: frames (in all tests inside this crate), constants, inputs
//! and outputs. Every other block touches the page behind it, the rest the page before it. An access beyond ends the test process by a
//! signal; what stays inside but is wrong shows as a difference from the reference interpreter.

use crate::{Backend, Jit};
use ctm_exec::engine::MemoryFault;
use ctm_exec::x1k::{Arrays, Constants, Direct, Elements, Input, Interp, Memory, Outputs, Written};
use ctm_exec::{Outcome, Position};
use ctm_isa::x1k::random::{FlowControl, Random, Shape, program};
use ctm_isa::x1k::{Program, Words};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

#[path = "../../tests/case/mod.rs"]
mod case;
use case::{Case, first_difference, seeds};

const PAGE: usize = 4096;

/// Values between two pages that may not be touched; zeros at first.
pub struct Walled<T> {
    mapping: NonNull<libc::c_void>,
    mapped: usize,
    values: NonNull<T>,
    count: usize,
}

// SAFETY: the memory belongs to this value alone.
unsafe impl<T: Send> Send for Walled<T> {}
// SAFETY: as above; it is shared as a slice is.
unsafe impl<T: Sync> Sync for Walled<T> {}

impl<T> Walled<T> {
    /// So many values, whose bytes may all be 0; by turns at the end and at the beginning of their pages.
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
        let mut walled = Self::new(from.len());
        walled.copy_from_slice(from);
        walled
    }
}

impl<T> Drop for Walled<T> {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and nobody borrows from it any more.
        unsafe { libc::munmap(self.mapping.as_ptr(), self.mapped) };
    }
}

impl<T> std::ops::Deref for Walled<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: so many values lie there: zeros or copies.
        unsafe { std::slice::from_raw_parts(self.values.as_ptr(), self.count) }
    }
}

impl<T> std::ops::DerefMut for Walled<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.values.as_ptr(), self.count) }
    }
}

/// [`Arrays`] whose elements lie between walls.
struct WalledArrays {
    /// Dimensions and samplers; the elements count for nothing.
    shapes: Arrays,
    inputs: Vec<Option<Walled<[u32; 4]>>>,
    outputs: Vec<Option<Walled<[u32; 4]>>>,
}

impl WalledArrays {
    fn new(shapes: Arrays) -> Self {
        let inputs = shapes.inputs.iter().map(|i| i.as_ref().map(|(p, _)| Walled::of(&p.elements))).collect();
        let outputs = shapes.outputs.iter().map(|o| o.as_ref().map(|p| Walled::of(&p.elements))).collect();
        Self { shapes, inputs, outputs }
    }

    /// As arrays that can be compared.
    fn arrays(mut self) -> Arrays {
        for (to, from) in self.shapes.outputs.iter_mut().zip(&self.outputs) {
            if let (Some(to), Some(from)) = (to, from) {
                to.elements.copy_from_slice(from);
            }
        }
        self.shapes
    }
}

impl Memory for WalledArrays {
    fn schedule(&mut self, at: Position) -> Result<bool, MemoryFault> {
        self.shapes.schedule(at)
    }

    fn input(&self, index: u8) -> Option<Input> {
        self.shapes.input(index)
    }

    fn read(&self, index: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        self.shapes.read(index, x, y, uncached)?;
        let width = self.shapes.input(index).map_or(0, |input| input.width);
        let elements = self.inputs[usize::from(index)].as_ref().expect("the shapes have it");
        Ok(elements[y as usize * width as usize + x as usize])
    }

    fn commit(&mut self, at: Position, outputs: &Outputs) -> Result<Written, MemoryFault> {
        let written = self.shapes.commit(at, outputs)?;
        for (target, elements) in self.outputs.iter_mut().enumerate() {
            let (Some(elements), Some(shape)) = (elements, &self.shapes.outputs[target]) else { continue };
            for channel in (0..4).filter(|c| outputs.written[target] >> c & 1 == 1) {
                elements[at.j as usize * shape.width as usize + at.i as usize][channel] =
                    outputs.values[target][channel];
            }
        }
        Ok(written)
    }

    fn write_uncached(&mut self, x: u32, y: u32, bits: u32) -> Result<Written, MemoryFault> {
        let written = self.shapes.write_uncached(x, y, bits)?;
        if let (Some(elements), Some(shape)) = (&mut self.outputs[0], &self.shapes.outputs[0]) {
            elements[y as usize * shape.width as usize + x as usize][0] = bits;
        }
        Ok(written)
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn direct(&mut self) -> Option<Direct<'_>> {
        let mut direct = Direct::default();
        for (index, to) in direct.inputs.iter_mut().enumerate() {
            let (Some((shape, _)), Some(elements)) = (&self.shapes.inputs[index], &self.inputs[index]) else {
                continue;
            };
            let (width, height) = (shape.width, shape.height);
            *to = Some(Elements { bytes: bytes(elements), pitch: width, width, height, channels: 4, mask: 0xf });
        }
        for ((to, shape), elements) in direct.outputs.iter_mut().zip(&self.shapes.outputs).zip(&mut self.outputs) {
            let (Some(shape), Some(elements)) = (shape, elements) else { continue };
            let (width, height) = (shape.width, shape.height);
            *to = Some(Elements { bytes: bytes_mut(elements), pitch: width, width, height, channels: 4, mask: 0xf });
        }
        Some(direct)
    }
}

fn bytes(elements: &[[u32; 4]]) -> &[u8] {
    // SAFETY: dwords are bytes.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

fn bytes_mut(elements: &mut [[u32; 4]]) -> &mut [u8] {
    // SAFETY: dwords are bytes, and any bytes are dwords.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements)) }
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

fn attempt(seed: u64, program: &Program, engines: &[Jit]) {
    let case = Case::new(seed);
    // The reference interpreter, which has no `unsafe` code, says what is right.
    let (expected, memory): (Result<Outcome, _>, Arrays) = case.run(program, &Interp, 1);
    for engine in engines {
        let mut walled = WalledArrays::new(case.memory.clone());
        let mut constants = Walled::<Constants>::new(1);
        constants[0].clone_from(&case.constants);
        let found = case.run_on(program, engine, 1, &constants[0], &mut walled);
        assert_eq!(found, expected, "seed {seed}, {}", engine.backend());
        if found.is_ok() {
            assert_eq!(first_difference(&walled.arrays(), &memory), None, "seed {seed}, {}", engine.backend());
        }
    }
}

#[test]
fn programs_stay_inside() {
    let native = || Backend::available().filter(|&b| b != Backend::Portable).map(Jit::with_backend);
    let engines: Vec<Jit> = native().chain(native().map(|engine| engine.with_copies(1))).collect();
    let shape = |flow| Shape { instructions: 24, flow, inputs: 2, watches_idle_lanes: false, relative: false };
    for seed in seeds(120) {
        let mut r = Random::new(seed ^ 0xa77a_c4ed);
        let flow = [FlowControl::None, FlowControl::Statements, FlowControl::Raw][(seed % 3) as usize];
        let (watches_idle_lanes, relative) = (r.one_in(4), r.one_in(3));
        let program = program(seed, &Shape { watches_idle_lanes, relative, ..shape(flow) });
        attempt(seed, &program, &engines);
        attempt(seed, &mutated(&program, &mut r), &engines);
    }
}
