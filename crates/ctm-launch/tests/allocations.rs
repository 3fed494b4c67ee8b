//! Launches of both instruction sets read and write arrays where they lie: nothing as large as an input is allocated, and nothing for each binding.

#![allow(unsafe_code, reason = "an allocator that counts")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm_device::EngineKind;
use ctm_files::{Isa, Program};
use ctm_launch::{Binding, Ref, Run, View};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// The system's allocator, the largest block that it was asked for, and the number of requests.
struct Watched;

static LARGEST: AtomicUsize = AtomicUsize::new(0);
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn note(bytes: usize) {
    LARGEST.fetch_max(bytes, SeqCst);
    COUNT.fetch_add(1, SeqCst);
}

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Watched = Watched;

const SIDE: usize = 512;

#[test]
fn arrays_are_used_where_they_lie() {
    no_input_and_no_output_is_copied();
    no_binding_takes_an_allocation();
}

fn no_input_and_no_output_is_copied() {
    let x1k = ".input first = s0, second = s1\n.output sum = o0\ntex r1, first, r0.rg\ntex r2, second, r0.rg\nadd sum, r1, r2\n";
    let r700 = ".stage pixel\n.resource first t0\n.resource second t1\n.sampler near s0\nTEX:\n SAMPLE R1.xyzw, R0.xy__, first, near DENORM(XY)\n SAMPLE R2.xyzw, R0.xy__, second, near DENORM(XY)\nALU:\n x: ADD R1.x, R1.x, R2.x\n y: ADD R1.y, R1.y, R2.y\n z: ADD R1.z, R1.z, R2.z\n w: ADD R1.w, R1.w, R2.w\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n";
    let shape = [SIDE, SIDE, 4];
    let x: Vec<f32> = (0..SIDE * SIDE * 4).map(|n| (n % 1021) as f32).collect();
    let y: Vec<f32> = x.iter().rev().copied().collect();
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    for (isa, text, output) in [(Isa::X1k, x1k, "sum"), (Isa::R700, r700, "pix0")] {
        let program = Program::assemble_for(isa, text).unwrap_or_else(|e| panic!("{e}"));
        for engine in [EngineKind::Jit, EngineKind::Interp] {
            let mut sum = vec![0.0_f32; SIDE * SIDE * 4];
            let side = SIDE as u32;
            let run = Run::of(&program).size(side, side).engine(engine).threads(1);
            let run = run.input("first", View::rows(&x, shape)).input("second", View::rows(&y, shape));
            let run = run.output_into(output, &mut sum, 4);
            LARGEST.store(0, SeqCst);
            run.run().unwrap_or_else(|e| panic!("{e}"));
            let largest = LARGEST.load(SeqCst);
            assert!(sum == expected, "{isa:?} by {engine}");
            assert!(largest < size_of_val(&*x) / 2, "{isa:?} by {engine}: a block of {largest} bytes");
        }
    }
}

/// Allocations of a launch that binds and runs a program with this many constants, when everything that lasts exists.
fn allocations(isa: Isa, constants: u8) -> usize {
    let adds: String = (0..constants)
        .map(|n| match isa {
            Isa::X1k => format!("add r0, r0, c{n}\n"),
            Isa::R700 => format!(" x: ADD R0.x, R0.x, C{n}.x\n"),
        })
        .collect();
    let text = match isa {
        Isa::X1k => format!(".output sum = o0\n{adds}mov sum, r0\n"),
        Isa::R700 => format!(".stage pixel\nALU:\n{adds}EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n"),
    };
    let program = Program::assemble_for(isa, &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let values: Vec<[u32; 4]> = (0..constants).map(|n| [f32::from(n).to_bits(); 4]).collect();
    let mut sum = [0.0_f32; 16];
    let mut least = usize::MAX;
    for _ in 0..4 {
        let output = if isa == Isa::X1k { "sum" } else { "pix0" };
        let mut run = Run::of(&program).size(2, 2).engine(EngineKind::Interp).threads(1);
        run = run.output_into(output, &mut sum, 4);
        // As a job makes them: by number and borrowed.
        let mut launch = run.launch();
        launch.bindings.reserve(values.len());
        for (n, value) in values.iter().enumerate() {
            launch.bindings.push(Binding::Float(Ref::Index(n as u8), value[..].into()));
        }
        let before = COUNT.load(SeqCst);
        let bound = launch.bind().unwrap_or_else(|e| panic!("{e}"));
        least = least.min(COUNT.load(SeqCst) - before);
        bound.run().unwrap_or_else(|e| panic!("{e}"));
    }
    assert_eq!(sum[4], 1.0 + (0..constants).map(f32::from).sum::<f32>(), "the constants were added");
    least
}

fn no_binding_takes_an_allocation() {
    for isa in [Isa::X1k, Isa::R700] {
        let (few, many) = (allocations(isa, 2), allocations(isa, 40));
        assert_eq!(few, many, "{isa:?}: allocations to bind 2 constants, and 40");
    }
}
