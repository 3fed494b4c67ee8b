//! The devices: any words as a command buffer, any bytes as the program, constants and inputs that it names.
#![no_main]

use ctm::device::{Device, DeviceKind, DeviceOptions};
use ctm::memory::ArenaId;
use ctm_exec::{Budget, Interp};
use ctm_image::ByteOrder;
use libfuzzer_sys::fuzz_target;
use std::time::Duration;

fuzz_target!(|bytes: &[u8]| {
    let budget = Budget { instructions_per_group: Some(1000), time: Some(Duration::from_millis(50)) };
    for kind in [DeviceKind::X1k, DeviceKind::R700] {
        let options = DeviceOptions { kind, budget, threads: 1, ..DeviceOptions::checked() };
        let mut device = Device::open(Box::new(Interp), options).expect("the default arenas");
        let words = ByteOrder::Little.words(bytes);
        let Ok(buffer) = device.allocate(ArenaId::Sys, bytes.len() as u64 + 4) else { return };
        device.write_dwords(buffer, &words).expect("the buffer was allocated");
        let _ = device.submit(buffer, words.len() as u32);
    }
});
