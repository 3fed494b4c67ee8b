//! The device interface from Rust: many threads and devices, and everything that must fail.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(unsafe_code, reason = "the interface is one of pointers")]

use crate::client;

use client::{SMALL, close, commands, image, last_error, open};
use ctm::commands::{CommandBuffer, MemoryKind, MemoryPlace, ProgramPlace, ProgramSlot};
use ctm::memory::GpuAddr;
use ctm_capi::api::Status;
use ctm_capi::api::device::ctm_device_findings;
use ctm_capi::api::findings::{ctm_findings_count, ctm_findings_free, ctm_findings_get};
use ctm_capi::managed::{
    AMmanagedDevice, AMmanagedDeviceInfo, amCloseManagedConnection, amCommandBufferConsumed, amOpenManagedConnection,
    amSubmitCommandBuffer,
};
use ctm_exec::Domain;
use ctm_isa::r700::program::Stage;
use std::ffi::CStr;
use std::ptr::null_mut;

#[test]
fn buffers_run_in_order_and_closing_finishes_them() {
    let device = open(SMALL);
    device.write(0, &image());
    let buffer = commands(device.base, 65536);
    device.write(65536, &buffer.to_bytes());
    device.write(65536 + 2048, &2.5f32.to_le_bytes());
    let ids: Vec<u32> = (0..500).map(|_| device.submit(65536, buffer.len_dwords() as u32)).collect();
    assert!(ids.windows(2).all(|w| w[1] == w[0] + 1) && ids[0] != 0);
    // The last is done only when all are.
    device.wait(ids[499]);
    assert!(ids.iter().all(|&id| amCommandBufferConsumed(device.handle(), id) == 1));
    assert_eq!(device.read(65536 + 4096), 2.5f32.to_bits());
    for _ in 0..200 {
        device.submit(65536, buffer.len_dwords() as u32);
    }
    close(device);
}

#[test]
fn handles_that_are_none_fail_with_a_message() {
    let stale = open(SMALL);
    close(stale);
    let alive = open(SMALL);
    for (handle, message) in [
        (null_mut(), "the device handle is NULL"),
        (stale.handle(), "is no handle of an open device"),
        ((alive.handle + 1) as AMmanagedDevice, "is no handle of an open device"),
        (usize::MAX as AMmanagedDevice, "is no handle of an open device"),
        ((&raw const MESSAGE).cast_mut().cast(), "is no handle of an open device"),
    ] {
        assert_eq!(amSubmitCommandBuffer(handle, alive.base, 0), 0);
        assert!(last_error().contains(message), "{}", last_error());
        assert_eq!(amCommandBufferConsumed(handle, 1), 0);
        amCloseManagedConnection(handle);
    }
    assert_ne!(alive.submit(0, 0), 0);
    close(alive);
}

/// A compute program's squares by scattered writes; then a buffer that is wrong, and the device goes on.
#[test]
fn r700_programs_run_and_wrong_buffers_do_not_stop_the_device() {
    let source = "ALU:\n  0  t: MULLO_INT R1.x, R0.x, R0.x\nMEM_EXPORT: WRITE(0 + R0), R1.x___ ARRAY_SIZE(0)\nNOP\nEND_OF_PROGRAM\n";
    let program = ctm_isa::r700::text::assemble(source, &ctm_isa::r700::text::TextOptions::default()).program.unwrap();
    for name in ["ctm:r700", "ctm:r700,chip=rv710", "ctm:r700,wavefront=32,engine=interp"] {
        let device = open(&format!("{name},gpu=1M,gpub=0,sys=16M,sysc=1M"));
        let words: Vec<u8> = program.words.iter().flat_map(|w| w.to_le_bytes()).collect();
        device.write(4096, &words);
        let memory = MemoryPlace { base: GpuAddr(device.base + 8192), bytes: 400, item: 0 };
        let commands = |memory: &MemoryPlace| {
            CommandBuffer::new()
                .set_stage(Stage::Compute)
                .set_program(ProgramSlot::Main, &ProgramPlace::words(GpuAddr(device.base + 4096), &program))
                .set_memory(MemoryKind::Scatter, memory)
                .set_domain(Domain { i0: 0, j0: 0, i1: 99, j1: 0 })
                .start_program()
        };
        let run = |buffer: &CommandBuffer| {
            device.write(0, &buffer.to_bytes());
            let id = device.submit(0, buffer.len_dwords() as u32);
            assert_ne!(id, 0, "{}", last_error());
            device.wait(id);
        };
        run(&commands(&MemoryPlace { bytes: 200, ..memory }));
        assert!(last_error().contains("scatter memory"), "{}", last_error());
        run(&commands(&memory));
        for i in 0..100 {
            assert_eq!(device.read(8192 + 4 * i), i * i);
        }
        close(device);
    }
}

static MESSAGE: u64 = 0;

#[test]
fn names_that_are_none_fail_with_a_message() {
    for (name, message) in [
        (c"/dev/fb0", "there is no device `/dev/fb0`"),
        (c"ctm:r700,chip=x", "`chip` is `x`"),
        (c"ctm:x1k,gpu=3G", "`gpu` is `3G`"),
    ] {
        // SAFETY: a C string, and no information asked for.
        assert!(unsafe { amOpenManagedConnection(name.as_ptr(), null_mut()) }.is_null());
        assert!(last_error().contains(message), "{}", last_error());
    }
    // SAFETY: null is allowed.
    assert!(unsafe { amOpenManagedConnection(std::ptr::null(), null_mut()) }.is_null());
    assert!(last_error().contains("the name is NULL"));
}

#[test]
fn buffers_that_are_none_fail_at_once_or_when_they_run() {
    let device = open(SMALL);
    for (address, size, message) in [
        (device.base + 2, 1, "not a multiple of 4"),
        (0, 1, "lies in no arena"),
        (device.base, u32::MAX, "passes the end of arena SYS"),
        (device.base + (16 << 20) - 4, 2, "passes the end of arena SYS"),
        (u32::MAX - 3, 1, "lies in no arena"),
    ] {
        assert_eq!(amSubmitCommandBuffer(device.handle(), address, size), 0, "{address:x} {size}");
        assert!(last_error().contains(message), "{}", last_error());
    }
    // Submissions that were never made.
    assert_eq!(amCommandBufferConsumed(device.handle(), 0), 0);
    assert_eq!(amCommandBufferConsumed(device.handle(), 1), 0);
    assert!(last_error().contains("1 identifies no submission"), "{}", last_error());
    // Garbage runs until the word that is no command, and is consumed; the device goes on.
    let mut noise = 0x1234_5678u32;
    for _ in 0..200 {
        let words: Vec<u8> = (0..64)
            .flat_map(|_| {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Every other word looks like a header.
                let word = if noise & 1 == 0 { 0xc000_0000 | (noise & 0x0003_1f00) } else { noise };
                word.to_le_bytes()
            })
            .collect();
        device.write(4096, &words);
        device.wait(device.submit(4096, 64));
    }
    device.write(4096, &[0xff; 64]);
    let id = device.submit(4096, 16);
    device.wait(id);
    assert!(last_error().contains("the word is no command"), "{}", last_error());
    device.write(0, &image());
    let buffer = commands(device.base, 65536);
    device.write(65536, &buffer.to_bytes());
    device.write(65536 + 2048, &1f32.to_le_bytes());
    let id = device.submit(65536, buffer.len_dwords() as u32);
    device.wait(id);
    assert_eq!(device.read(65536 + 4096), 1f32.to_bits());
    close(device);
}

#[test]
fn programs_that_are_garbage_fail_and_the_device_goes_on() {
    let device = open(SMALL);
    let good = image();
    let mut noise = 1u32;
    let buffer = commands(device.base, 65536);
    device.write(65536, &buffer.to_bytes());
    for round in 0..300 {
        let mut bad = good.clone();
        for _ in 0..=round % 8 {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let at = noise as usize % bad.len();
            bad[at] = (noise >> 16) as u8;
        }
        device.write(0, &bad);
        device.wait(device.submit(65536, buffer.len_dwords() as u32));
    }
    close(device);
}

#[test]
fn arenas_suit_known_clients() {
    let cached_only = {
        let name = c"ctm:x1k,gpu=1M,gpub=0,sys=0,sysc=16M";
        let mut info = std::mem::MaybeUninit::<AMmanagedDeviceInfo>::uninit();
        // SAFETY: a C string, and memory that may be written.
        let handle = unsafe { amOpenManagedConnection(name.as_ptr(), info.as_mut_ptr()) };
        amCloseManagedConnection(handle);
        // SAFETY: a successful call fills it.
        unsafe { info.assume_init() }
    };
    assert_eq!(cached_only.baseAddressSYS, cached_only.baseAddressSYSc);
    assert_eq!(cached_only.baseAddressCPU, cached_only.baseAddressCPUc);
    assert_eq!((cached_only.arenaSizeSYS, cached_only.arenaSizeSYSc), (0, 16 << 20));
}

#[test]
fn what_checks_notice_can_be_asked_for() {
    let device = open("ctm:x1k,gpu=1M,gpub=0,sys=16M,sysc=1M,threads=1,check");
    device.write(0, &image());
    let first = commands(device.base, 65536);
    // The same again without waiting: its commands are not pipelined.
    let twice = [first.to_bytes(), first.to_bytes()].concat();
    device.write(65536, &twice);
    let ids: Vec<u32> = (0..3).map(|_| device.submit(65536, 2 * first.len_dwords() as u32)).collect();
    device.wait(ids[2]);
    let ask = || {
        let mut findings = null_mut();
        // SAFETY: the pointer may be written.
        assert_eq!(unsafe { ctm_device_findings(device.handle(), &raw mut findings) }, Status::Ok);
        // SAFETY: given by the library and not freed.
        let count = unsafe { ctm_findings_count(findings) };
        let all: Vec<(u32, String)> = (0..count)
            .map(|n| {
                // SAFETY: as above; the strings are C strings that live as long as the findings.
                unsafe {
                    let finding = &*ctm_findings_get(findings, n);
                    (finding.submission, CStr::from_ptr(finding.rule).to_str().unwrap().to_owned())
                }
            })
            .collect();
        // SAFETY: not used any more.
        unsafe { ctm_findings_free(findings) };
        all
    };
    let all = ask();
    for id in ids {
        assert!(all.contains(&(id, "missing-wait-for-idle".to_owned())), "{all:?}");
    }
    assert!(all.is_sorted_by_key(|(submission, _)| *submission));
    assert!(ask().is_empty());
    close(device);
    let mut findings = null_mut();
    // SAFETY: the pointer may be written.
    assert_eq!(unsafe { ctm_device_findings(device.handle(), &raw mut findings) }, Status::Host);
    assert!(findings.is_null());
}
