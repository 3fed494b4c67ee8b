//! Loads and stores of elements of quads side by side, on vectors of each width.

#[cfg(target_arch = "x86_64")]
use crate::launch::wavefronts::outputs::Pairs;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256i, _mm_loadu_si128, _mm_maskstore_epi32, _mm_shuffle_ps, _mm_storeu_ps, _mm_storeu_si128, _mm256_and_si256,
    _mm256_castps256_ps128, _mm256_castsi128_si256, _mm256_castsi256_si128, _mm256_cmpeq_epi32, _mm256_extractf128_ps,
    _mm256_extracti128_si256, _mm256_inserti128_si256, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_maskstore_epi32,
    _mm256_permute2f128_ps, _mm256_permute4x64_epi64, _mm256_set1_epi32, _mm256_setr_epi32, _mm256_shuffle_ps,
    _mm256_storeu_ps, _mm256_storeu_si256, _mm256_unpackhi_ps, _mm256_unpacklo_ps, _mm512_castps512_ps256,
    _mm512_extractf32x8_ps, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_mask_storeu_epi32, _mm512_permutex_epi64,
    _mm512_permutex2var_ps, _mm512_permutexvar_ps, _mm512_setr_epi32, _mm512_shuffle_ps, _mm512_storeu_ps,
    _mm512_storeu_si512, _mm512_unpackhi_ps, _mm512_unpacklo_ps,
};

/// Stores whole elements of four quads side by side to two rows. A vector has the upper two lanes of each in front of the lower two.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) unsafe fn store_sixteen<const N: usize>([upper, lower]: [*mut f32; 2], from: [*const f32; N]) {
    // SAFETY: as of `ExportTarget::store`.
    unsafe {
        match *from.map(|row| _mm512_loadu_ps(row)).as_slice() {
            [only] => {
                let order = _mm512_setr_epi32(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15);
                let rows = _mm512_permutexvar_ps(order, only);
                _mm256_storeu_ps(upper, _mm512_castps512_ps256(rows));
                _mm256_storeu_ps(lower, _mm512_extractf32x8_ps::<1>(rows));
            }
            [r, g] => {
                _mm512_storeu_ps(upper, _mm512_unpacklo_ps(r, g));
                _mm512_storeu_ps(lower, _mm512_unpackhi_ps(r, g));
            }
            [r, g, b, a] => {
                let low = [_mm512_unpacklo_ps(r, g), _mm512_unpacklo_ps(b, a)];
                let high = [_mm512_unpackhi_ps(r, g), _mm512_unpackhi_ps(b, a)];
                for (to, [rg, ba]) in [(upper, low), (lower, high)] {
                    let (left, right) = (_mm512_shuffle_ps::<0x44>(rg, ba), _mm512_shuffle_ps::<0xee>(rg, ba));
                    let first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
                    let second = _mm512_setr_epi32(8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31);
                    _mm512_storeu_ps(to, _mm512_permutex2var_ps(left, first, right));
                    _mm512_storeu_ps(to.add(16), _mm512_permutex2var_ps(left, second, right));
                }
            }
            _ => {}
        }
    }
}

/// From the order of the lanes of two quads to two rows of four elements, and back.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn in_rows(lanes: __m256i) -> __m256i {
    // SAFETY: as of `ExportTarget::store`.
    unsafe { _mm256_permute4x64_epi64::<0b11_01_10_00>(lanes) }
}

/// Stores elements of 4 bytes of four quads side by side, which are contiguous ([`Pairs::Line`]), in the marked lanes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) unsafe fn store_line(to: *mut u8, row: *const u32, marks: u16) {
    // SAFETY: as of `ExportTarget::store`.
    unsafe {
        let elements = _mm512_permutex_epi64::<0b11_01_10_00>(_mm512_loadu_si512(row.cast()));
        if marks == u16::MAX {
            _mm512_storeu_si512(to.cast(), elements);
        } else if marks != 0 {
            let marked = marks & 0xc3c3 | (marks & 0x0c0c) << 2 | (marks & 0x3030) >> 2;
            _mm512_mask_storeu_epi32(to.cast(), marked, elements);
        }
    }
}

/// Loads them into a row.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) unsafe fn load_line(from: *const u8, row: *mut u32) {
    // SAFETY: as of `ExportTarget::store`.
    unsafe {
        let elements = _mm512_loadu_si512(from.cast());
        _mm512_storeu_si512(row.cast(), _mm512_permutex_epi64::<0b11_01_10_00>(elements));
    }
}

/// Stores elements of 4 bytes of two quads side by side, in the marked lanes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) unsafe fn store_two_quads(pairs: Pairs, [upper, lower]: [*mut u8; 2], row: *const u32, marks: u8) {
    // SAFETY: as of `ExportTarget::store`.
    unsafe {
        let lanes = _mm256_loadu_si256(row.cast());
        let elements = in_rows(lanes);
        if marks == u8::MAX {
            if pairs == Pairs::Rows {
                _mm_storeu_si128(upper.cast(), _mm256_castsi256_si128(elements));
                _mm_storeu_si128(lower.cast(), _mm256_extracti128_si256::<1>(elements));
            } else {
                _mm256_storeu_si256(upper.cast(), elements);
            }
        } else if marks != 0 {
            let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let marked = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(marks.into()), bits), bits);
            let marked = in_rows(marked);
            if pairs == Pairs::Rows {
                let [first, second] = [_mm256_castsi256_si128(marked), _mm256_extracti128_si256::<1>(marked)];
                _mm_maskstore_epi32(upper.cast(), first, _mm256_castsi256_si128(elements));
                _mm_maskstore_epi32(lower.cast(), second, _mm256_extracti128_si256::<1>(elements));
            } else {
                _mm256_maskstore_epi32(upper.cast(), marked, elements);
            }
        }
    }
}

/// Loads elements of 4 bytes of two quads side by side into a row.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) unsafe fn load_two_quads(pairs: Pairs, [upper, lower]: [*mut u8; 2], row: *mut u32) {
    // SAFETY: as of `ExportTarget::store`.
    unsafe {
        let elements = if pairs == Pairs::Rows {
            let [upper, lower] = [upper, lower].map(|from| _mm_loadu_si128(from.cast()));
            _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(upper), lower)
        } else {
            _mm256_loadu_si256(upper.cast())
        };
        _mm256_storeu_si256(row.cast(), in_rows(elements));
    }
}

/// Stores whole elements of one quad.
#[inline(always)]
pub(super) unsafe fn store_four<const N: usize>(to: [*mut f32; 2], from: [*const f32; N]) {
    // SAFETY: as of `ExportTarget::store`.
    unsafe {
        let rows = from.map(|row| row.cast::<[u32; 4]>().read_unaligned());
        let element = |lane: usize| rows.map(|row| row[lane]);
        for (half, to) in to.into_iter().enumerate() {
            to.cast::<[[u32; N]; 2]>().write_unaligned([element(2 * half), element(2 * half + 1)]);
        }
    }
}

/// Stores whole elements of two quads.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) unsafe fn store_eight<const N: usize>([upper, lower]: [*mut f32; 2], from: [*const f32; N]) {
    // SAFETY: as of `ExportTarget::store`.
    unsafe {
        match *from.map(|row| _mm256_loadu_ps(row)).as_slice() {
            [only] => {
                let (first, second) = (_mm256_castps256_ps128(only), _mm256_extractf128_ps::<1>(only));
                _mm_storeu_ps(upper, _mm_shuffle_ps::<0x44>(first, second));
                _mm_storeu_ps(lower, _mm_shuffle_ps::<0xee>(first, second));
            }
            [r, g] => {
                _mm256_storeu_ps(upper, _mm256_unpacklo_ps(r, g));
                _mm256_storeu_ps(lower, _mm256_unpackhi_ps(r, g));
            }
            [r, g, b, a] => {
                let low = [_mm256_unpacklo_ps(r, g), _mm256_unpacklo_ps(b, a)];
                let high = [_mm256_unpackhi_ps(r, g), _mm256_unpackhi_ps(b, a)];
                for (to, [rg, ba]) in [(upper, low), (lower, high)] {
                    let (left, right) = (_mm256_shuffle_ps::<0x44>(rg, ba), _mm256_shuffle_ps::<0xee>(rg, ba));
                    _mm256_storeu_ps(to, _mm256_permute2f128_ps::<0x20>(left, right));
                    _mm256_storeu_ps(to.add(8), _mm256_permute2f128_ps::<0x31>(left, right));
                }
            }
            _ => {}
        }
    }
}
