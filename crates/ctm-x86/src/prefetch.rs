//! Loads ahead of need.

#![allow(unsafe_code, reason = "an instruction")]

use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

/// Bytes of a cache line.
const LINE: usize = 64;

/// Begins to load a part of some bytes into the cache, if it lies in them.
#[inline(always)]
pub fn prefetch(bytes: &[u8], first: usize, length: usize) {
    if let Some(part) = bytes.get(first..first.saturating_add(length)) {
        for line in part.chunks(LINE) {
            // SAFETY: every such processor has the instruction. It changes nothing but the cache.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
        }
    }
}
