//! The numbers of outputs in answers.

use serde::{Serialize, Serializer};

/// Floats of 32 bits, little end first. In a text they are in base 64.
#[derive(Clone, Debug)]
pub(super) struct OutputFloats(pub(super) Vec<u8>);

impl OutputFloats {
    pub(super) fn of(values: &[f32]) -> Self {
        let mut bytes = vec![0; 4 * values.len()];
        for (to, value) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(values) {
            *to = value.to_bits().to_le_bytes();
        }
        Self(bytes)
    }
}

impl Serialize for OutputFloats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&base64(&self.0))
    }
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// RFC 4648 §4.
pub(super) fn base64(bytes: &[u8]) -> String {
    let mut out = vec![b'='; bytes.len().div_ceil(3) * 4];
    for (from, to) in bytes.chunks(3).zip(out.as_chunks_mut::<4>().0) {
        let byte = |n: usize| from.get(n).map_or(0, |&byte| u32::from(byte));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (n, letter) in to.iter_mut().enumerate().take(from.len() + 1) {
            *letter = LETTERS[(word >> (18 - 6 * n) & 63) as usize];
        }
    }
    // All letters are ASCII.
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_letters() {
        let pairs =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("\u{ff}", "w78=")];
        for (bytes, letters) in pairs {
            assert_eq!(base64(bytes.as_bytes()), letters);
        }
    }

    #[test]
    fn numbers_are_little_endian() {
        let numbers = OutputFloats::of(&[1.0, -2.5]);
        assert_eq!(numbers.0, [0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc0]);
        assert_eq!(serde_json::to_string(&numbers).unwrap(), "\"AACAPwAAIMA=\"");
    }
}
