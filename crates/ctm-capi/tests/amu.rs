//! The companion libraries: damaged images, and sources that the compiler refuses.

#![allow(clippy::unwrap_used, reason = "tests")]
#![allow(unsafe_code, reason = "the interface is C's")]

use ctm_capi::amu::{amuABIExtractConstants, amuCompCompile, amuCompOpenCompiler};
#[cfg(target_os = "linux")]
use std::ffi::c_int;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};

unsafe extern "C" {
    fn free(memory: *mut c_void);
}

#[cfg(target_os = "linux")]
unsafe extern "C" {
    fn mmap(at: *mut c_void, size: usize, access: c_int, flags: c_int, file: c_int, offset: i64) -> *mut c_void;
    fn munmap(at: *mut c_void, size: usize) -> c_int;
}

fn compile(text: &[u8], entry: Option<&CStr>) -> Option<Vec<u8>> {
    let (mut size, mut binary) = (0u32, null_mut());
    // SAFETY: the text has its length, the entry is null or a C string, the results can be written.
    let done = unsafe {
        amuCompCompile(
            amuCompOpenCompiler(),
            text.as_ptr().cast::<c_char>(),
            text.len() as u32,
            null(),
            null_mut(),
            entry.map_or(null(), CStr::as_ptr),
            &raw mut size,
            &raw mut binary,
            None,
        )
    };
    (done == 1).then(|| {
        // SAFETY: the compiler gave `size` bytes, which belong to us.
        unsafe {
            let image = std::slice::from_raw_parts(binary.cast::<u8>(), size as usize).to_vec();
            free(binary);
            image
        }
    })
}

const SHADER: &[u8] = b"ps_3_0\ndef c1, 1, 2, 3, 4\ndefi i0, 3, 250, 1, 0\nadd r0, c0, c1\nloop aL, i0\nadd r0, r0, c1\nendloop\nmov oC0, r0\n";

#[test]
fn programs_begin_at_main() {
    for entry in [None, Some("main")] {
        let entry = entry.map(|e| CString::new(e).unwrap());
        assert!(compile(SHADER, entry.as_deref()).is_some());
    }
    for entry in ["", "Main", "other"] {
        assert!(compile(SHADER, Some(&CString::new(entry).unwrap())).is_none(), "{entry}");
    }
}

#[test]
fn byte_code_is_compiled() {
    // mov oC0, c3
    let words = [0xffff_0300u32, 0x0200_0001, 0x800f_0800, 0xa0e4_0003, 0x0000_ffff];
    let code: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    assert_eq!(compile(&code, None), compile(b"ps_3_0\nmov oC0, c3\n", None));
    assert!(compile(&code[..16], None).is_none());
}

#[test]
fn integers_are_unsigned() {
    let image = compile(SHADER, None).unwrap();
    // SAFETY: the image is whole.
    let info = unsafe { amuABIExtractConstants(image.as_ptr().cast()) };
    let literals = &info.litConsts[..info.litConstsCount as usize];
    // SAFETY: plain numbers.
    let values: Vec<[u32; 4]> = literals.iter().filter(|l| l.r#type == 2).map(|l| unsafe { l.value.int32 }).collect();
    assert_eq!(values, [[3, 250, 1, 0]]);
}

/// Every header byte is damaged in turn; the page after the image is unmapped.
#[test]
#[cfg(target_os = "linux")]
fn a_damaged_image_is_not_read_beyond_its_mapping() {
    const PAGE: usize = 4096;
    let image = compile(SHADER, None).unwrap();
    let pages = image.len().div_ceil(PAGE) * PAGE;
    // SAFETY: a new mapping, whose last page is unmapped again: a read of it is a crash.
    let start = unsafe {
        let start = mmap(null_mut(), pages + PAGE, 3, 0x22, -1, 0).cast::<u8>();
        assert_eq!(munmap(start.add(pages).cast(), PAGE), 0);
        start
    };
    // SAFETY: inside of the mapping.
    let at = unsafe { start.add(pages - image.len()) };
    let extract = |bytes: &[u8]| {
        // SAFETY: inside of the mapping; the library finds out where it ends.
        unsafe {
            at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            amuABIExtractConstants(at.cast())
        }
    };
    assert_eq!(extract(&image).litConstsCount, 2);
    for n in 0..image.len().min(400) {
        for value in [0x00, 0x01, 0x7f, 0xff] {
            let mut damaged = image.clone();
            damaged[n] = value;
            let info = extract(&damaged);
            assert!(info.litConstsCount as usize <= info.litConsts.len());
        }
    }
    // An image that is cut off, at the end of the mapping.
    for length in [0, 1, 51, 52, 53, 100, image.len() - 1] {
        // SAFETY: inside of the mapping, or one past it.
        let info = unsafe {
            let at = start.add(pages - length);
            at.copy_from_nonoverlapping(image.as_ptr(), length);
            amuABIExtractConstants(at.cast())
        };
        assert_eq!(info.litConstsCount, 0, "{length} bytes");
    }
}
