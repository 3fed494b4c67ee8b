//! A client of the device interface, as the tests of it need one.
#![allow(unsafe_code, reason = "the interface is one of pointers")]
#![allow(dead_code, reason = "each test file uses a part")]

use ctm::commands::CommandBuffer;
use ctm::mc::{Format, Surface, Tiling};
use ctm::memory::GpuAddr;
use ctm_capi::managed::{
    AMmanagedDevice, AMmanagedDeviceInfo, amCloseManagedConnection, amCommandBufferConsumed, amOpenManagedConnection,
    amSubmitCommandBuffer,
};
use ctm_exec::Domain;
use std::ffi::{CStr, CString};

/// A device with little memory.
pub const SMALL: &str = "ctm:x1k,gpu=1M,gpub=0,sys=16M,sysc=1M,threads=1";

/// An open device.
#[derive(Clone, Copy)]
pub struct Device {
    pub handle: usize,
    pub base: u32,
    cpu: usize,
}

pub fn open(name: &str) -> Device {
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
    pub fn handle(self) -> AMmanagedDevice {
        self.handle as AMmanagedDevice
    }

    pub fn write(self, offset: u32, bytes: &[u8]) {
        // SAFETY: within the 16 MiB of SYS, and no pending buffer touches it.
        unsafe { ((self.cpu + offset as usize) as *mut u8).copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    pub fn read(self, offset: u32) -> u32 {
        // SAFETY: as in `write`.
        unsafe { ((self.cpu + offset as usize) as *const u32).read() }
    }

    pub fn submit(self, offset: u32, size: u32) -> u32 {
        amSubmitCommandBuffer(self.handle(), self.base + offset, size)
    }

    pub fn wait(self, id: u32) {
        while amCommandBufferConsumed(self.handle(), id) == 0 {}
    }
}

pub fn close(device: Device) {
    amCloseManagedConnection(device.handle());
}

pub fn last_error() -> String {
    // SAFETY: a C string that stays until the next failure on this thread.
    unsafe { CStr::from_ptr(ctm_capi::api::ctm_last_error()) }.to_str().unwrap().to_owned()
}

/// A program that writes a constant to the element of its index pair.
pub fn image() -> Vec<u8> {
    let assembly = ctm_isa::x1k::text::assemble(".output o = o0\n.const k = c0\n mov o, k\n end\n");
    ctm_image::ctm_elf::write(&assembly.program.unwrap()).unwrap()
}

/// The buffer of one client: its constant to its own output.
pub fn commands(base: u32, place: u32) -> CommandBuffer {
    let out = Surface::for_size(8, 1, Format::Float32x1, Tiling::Linear).unwrap().at(GpuAddr(base + place + 4096));
    CommandBuffer::new()
        .set_inst_fmt(GpuAddr(base))
        .set_constf_fmt(GpuAddr(base + place + 2048))
        .set_out_fmt(0, &out)
        .set_domain(Domain { i0: 0, j0: 0, i1: 3, j1: 0 })
        .start_program()
        .flush_out_cache()
}
