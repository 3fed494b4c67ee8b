//! Arrays that lanes read at an index of their own.

#![allow(unsafe_code, unused_unsafe, reason = "memory at an index")]

use crate::simd::Simd;
#[cfg(target_arch = "aarch64")]
use std::arch::aarch64::{uint32x4_t as Quarter, vld1q_u32 as load_quarter};
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m128 as Quarter, _mm_loadu_ps as load_quarter};
use std::marker::PhantomData;

/// An array that lanes read at an index.
#[derive(Clone, Copy)]
pub struct Array<'a> {
    pub(crate) first: *const u8,
    bytes: usize,
    lives: PhantomData<&'a [u8]>,
}

impl<'a> Array<'a> {
    /// These bytes.
    #[inline(always)]
    pub const fn of(bytes: &'a [u8]) -> Self {
        Self { first: bytes.as_ptr(), bytes: bytes.len(), lives: PhantomData }
    }

    /// The `bytes` bytes from the first of several arrays on, which lie among them.
    ///
    /// # Safety
    /// Every index is of an element of one of the arrays.
    #[inline(always)]
    pub const unsafe fn among(first: &'a [u8], bytes: usize) -> Self {
        Self { first: first.as_ptr(), bytes, lives: PhantomData }
    }

    /// The whole elements of four dwords, `count` side by side: an array of at least these, and the index of the first
    /// of the last ones.
    #[inline(always)]
    pub(crate) fn whole(self, count: usize) -> (Self, u32) {
        let array = if self.bytes < 16 * count { Self::of(&[0; 32]) } else { self };
        (array, array.last(16 * count, 16).unwrap_or(0))
    }

    /// The same of whole elements of four bytes.
    #[inline(always)]
    pub(crate) fn whole_bytes(self, count: usize) -> (Self, u32) {
        let array = if self.bytes < 4 * count { Self::of(&[0; 8]) } else { self };
        (array, array.last(4 * count, 4).unwrap_or(0))
    }

    /// The dword that begins at `index * BYTES`; the last one, where the array ends before, and 0 where it has none.
    #[inline(always)]
    pub fn dword<const BYTES: i32>(&self, index: u32) -> u32 {
        let Some(last) = self.last(4, BYTES as usize) else { return 0 };
        // SAFETY: it lies in the array.
        unsafe { self.first.add(BYTES as usize * index.min(last) as usize).cast::<u32>().read_unaligned() }
    }

    /// The dword that begins at `index * BYTES`.
    ///
    /// # Safety
    /// It lies in the array.
    #[inline(always)]
    pub(crate) unsafe fn within<const BYTES: i32>(&self, index: u32) -> u32 {
        // SAFETY: as above.
        unsafe { self.first.add(BYTES as usize * index as usize).cast::<u32>().read_unaligned() }
    }

    /// An element of four dwords that lies in the array.
    #[inline(always)]
    pub(crate) fn quarter(&self, index: u32) -> Quarter {
        // SAFETY: every such processor has these instructions; the element lies in the array.
        unsafe { load_quarter(self.first.add(16 * index as usize).cast()) }
    }

    /// The index of the last element of `size` bytes, where elements begin `step` bytes apart.
    #[inline(always)]
    pub(crate) fn last(&self, size: usize, step: usize) -> Option<u32> {
        Some((self.bytes.checked_sub(size)? / step).min(i32::MAX as usize) as u32)
    }
}

/// Elements of four dwords, `COUNT` side by side for each lane: one or two.
pub struct Whole<'a, const COUNT: usize> {
    array: Array<'a>,
    /// The place of each, in halves of elements; each lies in the array.
    halves: &'a [u32; 16],
}

impl<'a, const COUNT: usize> Whole<'a, COUNT> {
    /// Those of an array at an index; the last ones are repeated beyond, and zeros where there are none. `halves`: memory for the places.
    #[inline(always)]
    pub fn new<S: Simd>(s: S, array: Array<'a>, index: S::V, halves: &'a mut [u32; 16]) -> Self {
        let (array, last) = array.whole(COUNT);
        *halves = [0; 16];
        s.store(s.left(s.least(index, s.splat(last)), 1), halves);
        Self { array, halves }
    }

    /// A lane's element, which lies in the array.
    #[inline(always)]
    pub(crate) fn at(&self, lane: usize) -> *const f32 {
        // One by one: compilers would make addresses in vectors, and take those apart.
        // SAFETY: it is a number of the table.
        let halves = unsafe { (&raw const self.halves[lane]).read_volatile() };
        self.array.first.wrapping_add(8 * halves as usize).cast()
    }
}

/// Elements of four bytes, `COUNT` side by side for each lane: one or two.
pub struct WholeBytes<'a, const COUNT: usize> {
    array: Array<'a>,
    /// The place of each, in elements; each lies in the array.
    places: &'a [u32; 16],
}

impl<'a, const COUNT: usize> WholeBytes<'a, COUNT> {
    /// As [`Whole::new`].
    #[inline(always)]
    pub fn new<S: Simd>(s: S, array: Array<'a>, index: S::V, places: &'a mut [u32; 16]) -> Self {
        let (array, last) = array.whole_bytes(COUNT);
        *places = [0; 16];
        s.store(s.least(index, s.splat(last)), places);
        Self { array, places }
    }

    /// A lane's element, which lies in the array.
    #[inline(always)]
    pub(crate) fn at(&self, lane: usize) -> *const u8 {
        // SAFETY: it is a number of the table; as in [`Whole`].
        let place = unsafe { (&raw const self.places[lane]).read_volatile() };
        self.array.first.wrapping_add(4 * place as usize)
    }
}
