//! File names that are no text, in flags: bytes that are not UTF-8 are mapped to characters that no file name has.

use std::ffi::OsStr;
use std::path::PathBuf;

/// The character of byte 0x80; those of 0x81 to 0xff follow (Supplementary Private Use Area-B).
#[cfg(unix)]
const FIRST: u32 = 0x0010_ff00;

/// A flag's value as text.
#[cfg(unix)]
pub(crate) fn text_of_name(value: &OsStr) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut text = String::new();
    for chunk in value.as_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().filter_map(|&byte| char::from_u32(FIRST + u32::from(byte) - 0x80)));
    }
    text
}

/// The file name of such a text, or of a part of one.
#[cfg(unix)]
pub(crate) fn name_of_text(text: &str) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    let mut bytes = Vec::new();
    for c in text.chars() {
        match u32::from(c).checked_sub(FIRST).filter(|&n| n < 0x80) {
            #[allow(clippy::cast_possible_truncation, reason = "below 0x80")]
            Some(n) => bytes.push(n as u8 + 0x80),
            None => bytes.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
pub(crate) fn text_of_name(value: &OsStr) -> String {
    value.to_string_lossy().into_owned()
}

#[cfg(not(unix))]
pub(crate) fn name_of_text(text: &str) -> PathBuf {
    text.into()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn names_that_are_no_text_come_back() {
        for name in [&b"o0=a.npy"[..], b"o0=\xff\xfe.npy:flip_y", "s0=grün.png".as_bytes(), b"\x80"] {
            let text = text_of_name(OsStr::from_bytes(name));
            assert_eq!(name_of_text(&text).as_os_str().as_bytes(), name);
        }
    }
}
