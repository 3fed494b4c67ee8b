//! The floating-point mode of a processor, and its cache of instructions.
//!
//! | processor | mode | flushing |
//! |---|---|---|
//! | x86-64 | MXCSR | FTZ and DAZ: a result is flushed if it is below the range after rounding |
//! | 64-bit ARM | FPCR | FZ: a result is flushed if it is below the range before rounding. The reference rounds first, so a result just below the range differs: [`underflowed`] |

#![allow(unsafe_code, reason = "instructions are asked for")]

use std::arch::asm;

/// Flush denormal results and operands; no exceptions; round to nearest.
#[cfg(target_arch = "x86_64")]
pub const FLUSHING: u32 = 0x9fc0;
/// Flush denormal results and operands; no exceptions; round to nearest.
#[cfg(target_arch = "aarch64")]
pub const FLUSHING: u32 = 1 << 24;

/// Sets the mode, and returns the old one.
#[cfg(target_arch = "x86_64")]
pub fn exchange_mode(bits: u32) -> u32 {
    let mut before = 0;
    // SAFETY: all x86-64 processors have it. Under other bits than the host's run only machine code, and Rust code that
    // gives the same results under both; compilers move no access to memory over it, and start values and results are
    // in memory.
    unsafe { asm!("stmxcsr [{}]", "ldmxcsr [{}]", in(reg) &raw mut before, in(reg) &raw const bits) }
    before
}

/// Sets the mode, and returns the old one.
#[cfg(target_arch = "aarch64")]
pub fn exchange_mode(bits: u32) -> u32 {
    let before: u64;
    // SAFETY: all processors have it; as on x86-64.
    unsafe { asm!("mrs {}, fpcr", "msr fpcr, {}", out(reg) before, in(reg) u64::from(bits)) }
    before as u32
}

/// The present mode.
#[cfg(target_arch = "x86_64")]
pub fn mode_now() -> u32 {
    let mut now = 0;
    // SAFETY: all x86-64 processors have it; it only writes the number.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut now, options(nostack, preserves_flags)) }
    now
}

/// The present mode.
#[cfg(target_arch = "aarch64")]
pub fn mode_now() -> u32 {
    let now: u64;
    // SAFETY: all processors have it; it only reads the number.
    unsafe { asm!("mrs {}, fpcr", out(reg) now, options(nomem, nostack, preserves_flags)) }
    now as u32
}

/// Forgets results that were flushed.
pub fn forget_underflow() {
    #[cfg(target_arch = "aarch64")]
    // SAFETY: all processors have it; no Rust code reads these flags.
    unsafe {
        asm!("msr fpsr, xzr");
    }
}

/// Whether a result has been flushed since [`forget_underflow`] that the reference may have rounded up into the range. Never on x86-64, which rounds before it flushes.
pub fn underflowed() -> bool {
    #[cfg(target_arch = "aarch64")]
    {
        /// The cumulative flag of underflow: with FZ, of flushed results.
        const UFC: u64 = 1 << 3;
        let flags: u64;
        // SAFETY: all processors have it.
        unsafe { asm!("mrs {}, fpsr", out(reg) flags) }
        flags & UFC != 0
    }
    #[cfg(not(target_arch = "aarch64"))]
    false
}

/// Makes code that has been written visible to the processor's fetches of instructions.
#[cfg(target_arch = "x86_64")]
pub const fn synchronise(_code: &[u8]) {}

/// Makes code that has been written visible to the processor's fetches of instructions.
#[cfg(all(target_arch = "aarch64", target_vendor = "apple"))]
pub fn synchronise(code: &[u8]) {
    unsafe extern "C" {
        fn sys_icache_invalidate(start: *const u8, bytes: usize);
    }
    // SAFETY: the system's function for mapped memory.
    unsafe { sys_icache_invalidate(code.as_ptr(), code.len()) }
}

/// Makes code that has been written visible to the processor's fetches of instructions.
#[cfg(all(target_arch = "aarch64", windows))]
pub fn synchronise(code: &[u8]) {
    unsafe extern "system" {
        fn GetCurrentProcess() -> isize;
        fn FlushInstructionCache(process: isize, start: *const u8, bytes: usize) -> i32;
    }
    // SAFETY: the system's functions, for mapped memory of this process.
    unsafe { FlushInstructionCache(GetCurrentProcess(), code.as_ptr(), code.len()) };
}

/// Makes code that has been written visible to the processor's fetches of instructions.
#[cfg(all(target_arch = "aarch64", not(target_vendor = "apple"), not(windows)))]
pub fn synchronise(code: &[u8]) {
    let sizes: u64;
    // SAFETY: systems let programs read it.
    unsafe { asm!("mrs {}, ctr_el0", out(reg) sizes, options(nomem, nostack, preserves_flags)) }
    let [instructions, data] = [sizes & 15, sizes >> 16 & 15].map(|log_words| 4usize << log_words);
    let range = code.as_ptr_range();
    for line in (range.start.addr() / data * data..range.end.addr()).step_by(data) {
        // SAFETY: the line is mapped.
        unsafe { asm!("dc cvau, {}", in(reg) line, options(nostack, preserves_flags)) }
    }
    // SAFETY: barriers.
    unsafe { asm!("dsb ish", options(nostack, preserves_flags)) }
    for line in (range.start.addr() / instructions * instructions..range.end.addr()).step_by(instructions) {
        // SAFETY: as above.
        unsafe { asm!("ic ivau, {}", in(reg) line, options(nostack, preserves_flags)) }
    }
    // SAFETY: as above.
    unsafe { asm!("dsb ish", "isb", options(nostack, preserves_flags)) }
}
