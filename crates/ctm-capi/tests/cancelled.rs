//! Cancelling and progress by the C interface, while things run.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(unsafe_code, reason = "the interface is one of pointers")]

use crate::client;

use client::{SMALL, close, last_error, open};
use ctm::commands::{CommandBuffer, MemoryKind, MemoryPlace, ProgramPlace, ProgramSlot};
use ctm::mc::{Format, Surface, Tiling};
use ctm::memory::GpuAddr;
use ctm_capi::api::Status;
use ctm_capi::api::control::{
    Progress, ctm_control_cancel, ctm_control_free, ctm_control_new, ctm_control_progress, ctm_control_reset,
};
use ctm_capi::api::device::{ctm_device_cancel, ctm_device_progress, ctm_device_wait};
use ctm_capi::api::program::{ctm_assemble, ctm_program_free};
use ctm_capi::api::run::{Output, RunOptions, ctm_run};
use ctm_exec::Domain;
use ctm_isa::r700::program::Stage;
use std::ptr::{null, null_mut};

const X1K: &str = ".output c = o0\n mov r1, 0\nagain: add r1, r1, r0\n fc jump func=0xff to=again\n mov c, r1\n";
const R700: &str = "ALU:\n x: MOV R1.x, 0\nagain:\nALU:\n x: ADD R1.x, R0.x, R1.x\nJUMP CND(FALSE) ADDR(again)\n\
                    MEM_EXPORT: WRITE(0 + R0), R1.x___ ARRAY_SIZE(0)\nNOP\nEND_OF_PROGRAM\n";
const D: Domain = Domain { i0: 0, j0: 0, i1: 63, j1: 63 };
const NOTHING: Progress = Progress { done: 9, processors: 9, seconds: 9.0, seconds_left: 9.0 };

fn endless_x1k(base: u32) -> (Vec<u8>, CommandBuffer) {
    let image = ctm_image::ctm_elf::write(&ctm_isa::x1k::text::assemble(X1K).program.unwrap()).unwrap();
    let out = Surface::for_size(64, 64, Format::Float32x4, Tiling::Linear).unwrap().at(GpuAddr(base + 65536));
    let buffer = CommandBuffer::new().set_inst_fmt(GpuAddr(base)).set_out_fmt(0, &out).set_domain(D);
    (image, buffer.start_program())
}

fn endless_r700(base: u32) -> (Vec<u8>, CommandBuffer) {
    let program = ctm_isa::r700::text::assemble(R700, &ctm_isa::r700::text::TextOptions::default()).program.unwrap();
    let memory = MemoryPlace { base: GpuAddr(base + 65536), bytes: 4096, item: 0 };
    let buffer = CommandBuffer::new()
        .set_stage(Stage::Compute)
        .set_program(ProgramSlot::Main, &ProgramPlace::words(GpuAddr(base), &program))
        .set_memory(MemoryKind::Scatter, &memory)
        .set_domain(D);
    (program.words.iter().flat_map(|w| w.to_le_bytes()).collect(), buffer.start_program())
}

#[test]
fn submissions_that_run_and_wait_are_cancelled() {
    type Endless = fn(u32) -> (Vec<u8>, CommandBuffer);
    let r700 = "ctm:r700,gpu=1M,gpub=0,sys=16M,sysc=1M";
    for (name, endless) in [(SMALL, endless_x1k as Endless), (r700, endless_r700)] {
        let device = open(name);
        let (program, buffer) = endless(device.base);
        device.write(0, &program);
        device.write(8192, &buffer.to_bytes());
        let idle = CommandBuffer::new().wait_for_idle();
        device.write(16384, &idle.to_bytes());
        let submit = || device.submit(8192, u32::try_from(buffer.len_dwords()).unwrap());
        let (runs, waits) = (submit(), submit());
        let last = device.submit(16384, u32::try_from(idle.len_dwords()).unwrap());
        let mut progress = NOTHING;
        loop {
            // SAFETY: it may be written.
            assert_eq!(unsafe { ctm_device_progress(device.handle(), &raw mut progress) }, Status::Ok);
            if progress.processors != 0 {
                break;
            }
        }
        assert_eq!((progress.done, progress.processors), (0, 64 * 64), "{name}");
        assert!(progress.seconds < 60.0 && progress.seconds_left < 0.0, "{name}: {progress:?}");
        assert_eq!(ctm_device_cancel(device.handle(), waits), Status::Ok);
        assert_eq!(ctm_device_wait(device.handle(), runs, 20), Status::Timeout, "{name}");
        assert_eq!(ctm_device_cancel(device.handle(), runs), Status::Ok);
        for submission in [runs, waits] {
            // Its budget would last longer than this.
            assert_eq!(ctm_device_wait(device.handle(), submission, 10_000), Status::Fault, "{name}");
            assert!(last_error().contains("cancelled"), "{name}: {}", last_error());
        }
        // A submission that was not cancelled runs.
        assert_eq!(ctm_device_wait(device.handle(), last, 10_000), Status::Ok, "{name}");
        // A finished one is left alone; an unknown one cannot be cancelled.
        assert_eq!(ctm_device_cancel(device.handle(), last), Status::Ok);
        assert_eq!(ctm_device_wait(device.handle(), last, 0), Status::Ok, "{name}");
        assert_eq!(ctm_device_cancel(device.handle(), 99), Status::Argument);
        close(device);
        assert_eq!(ctm_device_cancel(device.handle(), runs), Status::Host);
    }
}

#[test]
fn a_run_is_cancelled_by_another_thread_and_says_how_far_it_is() {
    let mut control = null_mut();
    // SAFETY: it may be written.
    assert_eq!(unsafe { ctm_control_new(&raw mut control) }, Status::Ok);
    let mut pixels = vec![0f32; 64 * 64];
    let output = Output { slot: 0, width: 64, height: 64, channels: 1, data: pixels.as_mut_ptr() };
    let options = RunOptions {
        size: size_of::<RunOptions>(),
        domain: [0, 0, 63, 63],
        outputs: &raw const output,
        output_count: 1,
        instructions: u64::MAX,
        control,
        ..RunOptions::default()
    };
    let run = |text: &str| {
        let mut program = null_mut();
        // SAFETY: the text has that many bytes; the pointers may be written, or are null where that is allowed.
        unsafe {
            let status = ctm_assemble(text.as_ptr().cast(), text.len(), null(), &raw mut program, null_mut());
            assert_eq!(status, Status::Ok);
            let status = ctm_run(program, &raw const options, null_mut(), null_mut());
            ctm_program_free(program);
            status
        }
    };
    let progress = |control: usize| {
        let mut progress = NOTHING;
        // SAFETY: the control is not freed before the threads have ended; the other may be written.
        assert_eq!(unsafe { ctm_control_progress(control as *const _, &raw mut progress) }, Status::Ok);
        progress
    };
    let held = control as usize;
    assert_eq!(progress(held).processors, 0);
    let other = std::thread::spawn(move || {
        while progress(held).processors == 0 {
            std::thread::yield_now();
        }
        // SAFETY: as above.
        assert_eq!(unsafe { ctm_control_cancel(held as *const _) }, Status::Ok);
    });
    assert_eq!(run(X1K), Status::Cancelled, "{}", last_error());
    other.join().unwrap();
    assert_eq!((progress(held).done, progress(held).processors), (0, 64 * 64));
    // SAFETY: as above.
    assert_eq!(unsafe { ctm_control_reset(control) }, Status::Ok);
    assert_eq!(run(".output c = o0\n mov c, r0\n"), Status::Ok, "{}", last_error());
    let now = progress(held);
    assert_eq!((now.done, now.processors, now.seconds_left), (64 * 64, 64 * 64, 0.0));
    assert_eq!(pixels[65], 1.0);
    // SAFETY: not used any more.
    unsafe { ctm_control_free(control) };
}
