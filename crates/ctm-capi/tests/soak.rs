//! Many threads on several devices: every result right, nothing leaks, nothing stands still. Alone in its process, whose memory it looks at.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(unsafe_code, reason = "the interface is one of pointers")]

use ctm::commands::CommandBuffer;
use ctm::mc::{Format, Surface, Tiling};
use ctm::memory::GpuAddr;
use ctm_capi::managed::{
    AMmanagedDevice, AMmanagedDeviceInfo, amCloseManagedConnection, amCommandBufferConsumed, amOpenManagedConnection,
    amSubmitCommandBuffer,
};
use ctm_exec::Domain;
use std::ffi::{CStr, CString};
use std::sync::Barrier;

const SMALL: &str = "ctm:x1k,gpu=1M,gpub=0,sys=16M,sysc=1M,threads=1";

#[derive(Clone, Copy)]
struct Device {
    handle: usize,
    base: u32,
    cpu: usize,
}

fn open(name: &str) -> Device {
    let name = CString::new(name).unwrap();
    let mut info = std::mem::MaybeUninit::<AMmanagedDeviceInfo>::uninit();
    // SAFETY: a C string, and memory that may be written.
    let handle = unsafe { amOpenManagedConnection(name.as_ptr(), info.as_mut_ptr()) };
    assert!(!handle.is_null());
    // SAFETY: a successful call fills it.
    let info = unsafe { info.assume_init() };
    Device { handle: handle as usize, base: info.baseAddressSYS, cpu: info.baseAddressCPU as usize }
}

impl Device {
    fn handle(self) -> AMmanagedDevice {
        self.handle as AMmanagedDevice
    }

    fn write(self, offset: u32, bytes: &[u8]) {
        // SAFETY: within the 16 MiB of SYS, and no pending buffer touches it.
        unsafe { ((self.cpu + offset as usize) as *mut u8).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    fn read(self, offset: u32) -> u32 {
        // SAFETY: as in `write`.
        unsafe { ((self.cpu + offset as usize) as *const u32).read() }
    }

    fn submit(self, offset: u32, size: u32) -> u32 {
        amSubmitCommandBuffer(self.handle(), self.base + offset, size)
    }

    fn wait(self, id: u32) {
        while amCommandBufferConsumed(self.handle(), id) == 0 {}
    }
}

fn close(device: Device) {
    amCloseManagedConnection(device.handle());
}

fn last_error() -> String {
    // SAFETY: a C string that stays until the next failure on this thread.
    unsafe { CStr::from_ptr(ctm_capi::api::ctm_last_error()) }.to_str().unwrap().to_owned()
}

/// A program that writes a constant to the element of its index pair.
fn image() -> Vec<u8> {
    let assembly = ctm_isa::x1k::text::assemble(".output o = o0\n.const k = c0\n mov o, k\n end\n");
    ctm_image::ctm_elf::write(&assembly.program.unwrap()).unwrap()
}

/// The buffer of one client: its constant to its own output.
fn commands(base: u32, place: u32) -> CommandBuffer {
    let out = Surface::for_size(8, 1, Format::Float32x1, Tiling::Linear).unwrap().at(GpuAddr(base + place + 4096));
    CommandBuffer::new()
        .set_inst_fmt(GpuAddr(base))
        .set_constf_fmt(GpuAddr(base + place + 2048))
        .set_out_fmt(0, &out)
        .set_domain(Domain { i0: 0, j0: 0, i1: 3, j1: 0 })
        .start_program()
        .flush_out_cache()
}

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
    // What the first round left is what stays: engines, threads, what the allocator keeps.
    let before = resident();
    for _ in 1..ROUNDS {
        round(count);
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 24 << 20, "{grown} bytes more after {} submissions", 8 * submissions());
}
