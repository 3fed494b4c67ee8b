//! Launches of both instruction sets read and write arrays where they lie: nothing as large as an input is allocated.

#![allow(unsafe_code, reason = "an allocator that counts")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm_device::EngineKind;
use ctm_files::{Isa, Program};
use ctm_launch::{Run, View};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// The system's allocator, and the largest block that it was asked for.
struct Largest;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Largest {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), SeqCst);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), SeqCst);
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LARGEST.fetch_max(size, SeqCst);
        // SAFETY: as the caller promises.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Largest = Largest;

const SIDE: usize = 512;

#[test]
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
