//! Many threads on several devices: every result right, nothing leaks, nothing hangs. Alone in its process, whose memory it measures.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(unsafe_code, reason = "the interface is one of pointers")]

mod client;

use client::{Device, SMALL, close, commands, image, last_error, open};
use std::sync::Barrier;

/// Rounds of submissions: all devices opened, used and closed in each.
const ROUNDS: u32 = 4;

/// Submissions of each thread in all rounds; CTM_CAPI_SUBMISSIONS says another number.
fn submissions() -> u32 {
    std::env::var("CTM_CAPI_SUBMISSIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(2000)
}

/// Bytes of memory that the process has; 0 where that is not known.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    pages.and_then(|text| text.split_whitespace().nth(1)?.parse::<usize>().ok()).unwrap_or(0) * 4096
}

/// Eight threads, each on all devices in turn.
fn round(count: u32) {
    let devices: Vec<Device> = (0..4).map(|_| open(SMALL)).collect();
    for device in &devices {
        device.write(0, &image());
    }
    let start = Barrier::new(8);
    std::thread::scope(|scope| {
        for thread in 0..8u32 {
            let (devices, start) = (&devices, &start);
            scope.spawn(move || {
                start.wait();
                for n in 0..count {
                    let device = devices[((thread + n) % 4) as usize];
                    let place = (thread + 1) * 65536;
                    let number = (thread * 1_000_000 + n) as f32;
                    let buffer = commands(device.base, place);
                    device.write(place + 2048, &number.to_le_bytes());
                    device.write(place, &buffer.to_bytes());
                    let id = device.submit(place, buffer.len_dwords() as u32);
                    assert_ne!(id, 0, "{}", last_error());
                    device.wait(id);
                    for i in 0..4 {
                        assert_eq!(
                            device.read(place + 4096 + 4 * i),
                            number.to_bits(),
                            "thread {thread}, submission {n}"
                        );
                    }
                }
            });
        }
    });
    devices.into_iter().for_each(close);
}

#[test]
fn eight_threads_on_four_devices() {
    let count = submissions() / ROUNDS;
    round(count);
    // The memory after the first round is permanent: engines, threads, the allocator's reserve.
    let before = resident();
    for _ in 1..ROUNDS {
        round(count);
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 24 << 20, "{grown} bytes more after {} submissions", 8 * submissions());
}
