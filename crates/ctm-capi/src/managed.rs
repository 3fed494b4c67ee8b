//! `amDeviceManaged.h`: the device interface (CTM §5).

#![allow(non_snake_case, reason = "the names are the Guide's and the SDK's")]

use crate::boundary::{guard, store, string};
use crate::connection::Connection;
use crate::{log, registry};
use ctm::memory::ArenaId;
use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::sync::Arc;
use std::thread;

/// `AMuint32`.
pub type AMuint32 = u32;

/// `AMmanagedDevice`: a handle, null when there is no device. It points to nothing.
pub type AMmanagedDevice = *mut c_void;

/// The places of a device's arenas. Addresses and sizes are bytes.
///
/// *The SDK had at least twelve scalar members, ten of whose names are known; their order is not.* The last two are ours to fill.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AMmanagedDeviceInfo {
    /// Size of local memory.
    pub arenaSizeGPU: AMuint32,
    /// Size of the second region of local memory.
    pub arenaSizeGPUb: AMuint32,
    /// Size of uncached system memory.
    pub arenaSizeSYS: AMuint32,
    /// Size of cached system memory.
    pub arenaSizeSYSc: AMuint32,
    /// First address of local memory.
    pub baseAddressGPU: AMuint32,
    /// First address of the second region of local memory.
    pub baseAddressGPUb: AMuint32,
    /// First address of uncached system memory.
    pub baseAddressSYS: AMuint32,
    /// First address of cached system memory.
    pub baseAddressSYSc: AMuint32,
    /// Uncached system memory for the host processor.
    pub baseAddressCPU: *mut c_void,
    /// Cached system memory for the host processor.
    pub baseAddressCPUc: *mut c_void,
    /// 0.
    pub reserved0: AMuint32,
    /// 0.
    pub reserved1: AMuint32,
}

/// The client's information about a device.
///
/// One known client reckons cached addresses from the base of uncached memory: where only cached memory exists, both bases and both pointers are the same.
fn info_of(connection: &Connection) -> AMmanagedDeviceInfo {
    let arenas = connection.arenas();
    let pointer = |arena| connection.pointer(arena) as *mut c_void;
    let mut info = AMmanagedDeviceInfo {
        arenaSizeGPU: arenas.gpu.bytes,
        arenaSizeGPUb: arenas.gpu_b.bytes,
        arenaSizeSYS: arenas.sys.bytes,
        arenaSizeSYSc: arenas.sys_c.bytes,
        baseAddressGPU: arenas.gpu.base.0,
        baseAddressGPUb: arenas.gpu_b.base.0,
        baseAddressSYS: arenas.sys.base.0,
        baseAddressSYSc: arenas.sys_c.base.0,
        baseAddressCPU: pointer(ArenaId::Sys),
        baseAddressCPUc: pointer(ArenaId::SysC),
        reserved0: 0,
        reserved1: 0,
    };
    if arenas.sys.bytes == 0 && arenas.sys_c.bytes > 0 {
        info.baseAddressSYS = info.baseAddressSYSc;
        info.baseAddressCPU = info.baseAddressCPUc;
    }
    info
}

/// Opens a device. Null upon failure.
///
/// # Safety
/// `dev` is null or a C string; `info` is null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn amOpenManagedConnection(
    dev: *const c_char,
    info: *mut AMmanagedDeviceInfo,
) -> AMmanagedDevice {
    guard(std::ptr::null_mut(), || {
        // SAFETY: the caller promises a C string or null.
        let Some(name) = (unsafe { string(dev) }) else {
            log::fail("amOpenManagedConnection: the name is NULL; /dev/pcie0 is a device");
            return std::ptr::null_mut();
        };
        let opened = Connection::open(&name).and_then(|connection| {
            let connection = Arc::new(connection);
            let about = info_of(&connection);
            registry::insert(connection).map(|handle| (handle, about))
        });
        match opened {
            Ok((handle, about)) => {
                // SAFETY: the caller promises that it may be written, or null.
                unsafe { store(info, about) };
                handle as AMmanagedDevice
            }
            Err(why) => {
                log::fail(&format!("amOpenManagedConnection: {why}"));
                std::ptr::null_mut()
            }
        }
    })
}

/// Closes a device when everything submitted is done. Its memory and its handle are invalid then.
#[unsafe(no_mangle)]
pub extern "C" fn amCloseManagedConnection(dev: AMmanagedDevice) {
    guard((), || {
        if let Some(connection) = registry::remove(dev as usize) {
            connection.close();
        }
    });
}

/// Submits a command buffer of `size` dwords at GPU address `addr`; returns its identifier, 0 upon failure.
#[unsafe(no_mangle)]
pub extern "C" fn amSubmitCommandBuffer(dev: AMmanagedDevice, addr: AMuint32, size: AMuint32) -> AMuint32 {
    guard(0, || {
        let submitted = registry::with(dev as usize, |connection| connection.submit(addr, size));
        match submitted {
            Some(Ok(identifier)) => identifier,
            Some(Err(why)) => {
                log::fail(&format!("amSubmitCommandBuffer: {why}"));
                0
            }
            None => 0,
        }
    })
}

thread_local! {
    /// How often in a row this thread was answered that a buffer is not consumed.
    static IMPATIENCE: Cell<u32> = const { Cell::new(0) };
}

/// A client that polls in a tight loop yields once in this many calls; the device's thread may be waiting for the core.
const YIELD_EVERY: u32 = 64;

/// 1 when all writes of the submission can be seen, 0 otherwise and upon failure.
#[unsafe(no_mangle)]
pub extern "C" fn amCommandBufferConsumed(dev: AMmanagedDevice, buf: AMuint32) -> AMuint32 {
    guard(0, || {
        match registry::with(dev as usize, |connection| {
            connection.consumed(buf).map(|done| (done, if done { connection.failure(buf) } else { None }))
        }) {
            Some(Ok((true, failure))) => {
                let _ = IMPATIENCE.try_with(|n| n.set(0));
                if let Some(why) = failure {
                    // The device has logged it already.
                    log::remember(&format!("submission {buf}: {why}"));
                }
                1
            }
            Some(Ok((false, _))) => {
                let times = IMPATIENCE.try_with(|n| {
                    n.set(n.get().wrapping_add(1));
                    n.get()
                });
                if times.is_ok_and(|n| n.is_multiple_of(YIELD_EVERY)) {
                    thread::yield_now();
                }
                0
            }
            Some(Err(why)) => {
                log::fail(&format!("amCommandBufferConsumed: {why}"));
                0
            }
            None => 0,
        }
    })
}
