//! NumPy's `.npy` files, format versions 1 to 3.
//!
//! Read: `float32`, `float64` and integers of 8, 32 and 64 bits with sign, 32 and 64 without (each rounded once to single precision), `float16`, `int16`,
//! `bool` (0 and 1), and `uint8` and `uint16`, which are normalised; little or big endian; C or Fortran
//! order; shapes `[w]` (one row), `[h, w]`, `[h, w, c]`. Written: version 1, little endian, C order, `[h, w]` for one channel
//! and `[h, w, c]` otherwise.

use super::layout::{Dtype, Layout};
use super::{Array, ArrayError, Values, checked_count};

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Readable types, for messages.
const READABLE: &str = "bool, int8 to int64, uint8 to uint64 and float16 to float64 can be read";

impl Dtype {
    /// The element type of a picture's numbers.
    fn of(header: &Header) -> Result<Self, ArrayError> {
        match (header.class, header.item_bytes) {
            (b'f', 2) => Ok(Self::F2),
            (b'f', 4) => Ok(Self::F4),
            (b'f', 8) => Ok(Self::F8),
            (b'i', 1) => Ok(Self::I1),
            (b'i', 2) => Ok(Self::I2),
            (b'i', 4) => Ok(Self::I4),
            (b'i', 8) => Ok(Self::I8),
            (b'u', 1) => Ok(Self::U1),
            (b'u', 2) => Ok(Self::U2),
            (b'u', 4) => Ok(Self::U4),
            (b'u', 8) => Ok(Self::U8),
            (b'b', 1) => Ok(Self::Bool),
            _ => Err(ArrayError::at(header.descr_at, format!("elements are `{}`; {READABLE}", header.descr))),
        }
    }
}

pub(super) struct Header {
    /// `f`, `i`, `u` or `b`, and the bytes of one item.
    pub class: u8,
    pub item_bytes: usize,
    pub descr: String,
    pub descr_at: usize,
    pub big_endian: bool,
    pub fortran_order: bool,
    pub shape: Vec<usize>,
}

pub(super) fn read(bytes: &[u8]) -> Result<Array, ArrayError> {
    let (layout, fortran_order) = layout(bytes)?;
    let Layout { height, width, channels, .. } = layout;
    let (start, size) = (layout.offset as usize, height * width * channels * layout.dtype.bytes());
    let data = bytes.get(start..).unwrap_or_default();
    if data.len() < size {
        return Err(ArrayError::at(
            bytes.len(),
            format!(
                "the file ends after {} of the {size} bytes that its shape {height}x{width}x{channels} takes",
                data.len()
            ),
        ));
    }
    let mut values = values(&data[..size], layout.dtype, layout.big_endian);
    if fortran_order {
        let shape = [height, width, channels];
        values = match values {
            Values::U8(v) => Values::U8(in_c_order(&v, shape)),
            Values::U16(v) => Values::U16(in_c_order(&v, shape)),
            Values::F32(v) => Values::F32(in_c_order(&v, shape)),
        };
    }
    Ok(Array { height, width, channels, values })
}

/// The header, and where the items begin.
pub(super) fn header_at(bytes: &[u8]) -> Result<(Header, usize), ArrayError> {
    if bytes.get(..6) != Some(MAGIC.as_slice()) {
        return Err(ArrayError::at(0, "this is no NPY file: it does not begin with \\x93NUMPY"));
    }
    let ended = || ArrayError::at(bytes.len(), "the file ends within its header");
    let version = *bytes.get(6).ok_or_else(ended)?;
    let byte = |at: usize| bytes.get(at).copied().map(usize::from).ok_or_else(ended);
    let (start, length): (usize, usize) = match version {
        1 => (10, byte(8)? | byte(9)? << 8),
        2 | 3 => (12, byte(8)? | byte(9)? << 8 | byte(10)? << 16 | byte(11)? << 24),
        other => return Err(ArrayError::at(6, format!("the format version is {other}, 1 to 3 can be read"))),
    };
    let text = start.checked_add(length).and_then(|end| bytes.get(start..end)).ok_or_else(ended)?;
    Ok((parse_header(text, start)?, start + length))
}

/// The header's layout, and whether the values are in Fortran order.
pub(super) fn layout(bytes: &[u8]) -> Result<(Layout, bool), ArrayError> {
    let (header, offset) = header_at(bytes)?;
    let dtype = Dtype::of(&header)?;
    let (height, width, channels) = match header.shape[..] {
        [w] => (1, w, 1),
        [h, w] => (h, w, 1),
        [h, w, c @ 1..=4] => (h, w, c),
        ref other => {
            return Err(ArrayError::new(format!(
                "the shape is {other:?}, arrays have [w], [h, w] or [h, w, c] with c from 1 to 4"
            )));
        }
    };
    checked_count(height, width, channels)?;
    let Header { big_endian, fortran_order, .. } = header;
    let layout = Layout { height, width, channels, offset: offset as u64, dtype, big_endian };
    Ok((layout, fortran_order))
}

/// The values of a file's bytes; a rest below one value is left out.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "the one rounding that is documented")]
pub(super) fn values(data: &[u8], dtype: Dtype, big_endian: bool) -> Values {
    /// Items of N bytes, little endian, each as single precision.
    fn floats<const N: usize>(data: &[u8], big_endian: bool, one: impl Fn([u8; N]) -> f32) -> Values {
        let item = |&(mut item): &[u8; N]| {
            if big_endian {
                item.reverse();
            }
            one(item)
        };
        Values::F32(data.as_chunks().0.iter().map(item).collect())
    }
    match dtype {
        Dtype::Bool => floats(data, false, |[byte]| f32::from(u8::from(byte != 0))),
        Dtype::I1 => floats(data, false, |item| f32::from(i8::from_le_bytes(item))),
        Dtype::I2 => floats(data, big_endian, |item| f32::from(i16::from_le_bytes(item))),
        Dtype::I4 => floats(data, big_endian, |item| i32::from_le_bytes(item) as f32),
        Dtype::I8 => floats(data, big_endian, |item| i64::from_le_bytes(item) as f32),
        Dtype::U4 => floats(data, big_endian, |item| u32::from_le_bytes(item) as f32),
        Dtype::U8 => floats(data, big_endian, |item| u64::from_le_bytes(item) as f32),
        Dtype::F2 => floats(data, big_endian, |item| half(u16::from_le_bytes(item))),
        Dtype::U1 => Values::U8(data.to_vec()),
        Dtype::U2 => {
            let get = |c: [u8; 2]| if big_endian { u16::from_be_bytes(c) } else { u16::from_le_bytes(c) };
            Values::U16(data.as_chunks().0.iter().map(|&c| get(c)).collect())
        }
        Dtype::F4 => {
            let get = |c: [u8; 4]| if big_endian { u32::from_be_bytes(c) } else { u32::from_le_bytes(c) };
            Values::F32(data.as_chunks().0.iter().map(|&c| f32::from_bits(get(c))).collect())
        }
        Dtype::F8 => {
            let get = |c: [u8; 8]| if big_endian { f64::from_be_bytes(c) } else { f64::from_le_bytes(c) };
            #[allow(clippy::cast_possible_truncation, reason = "the one rounding that is documented")]
            Values::F32(data.as_chunks().0.iter().map(|&c| get(c) as f32).collect())
        }
    }
}

/// A half-precision number; NaN keeps its upper bits.
fn half(bits: u16) -> f32 {
    let (sign, exponent, fraction) = (u32::from(bits >> 15), u32::from(bits >> 10 & 0x1f), u32::from(bits & 0x3ff));
    #[allow(clippy::cast_precision_loss, reason = "ten bits")]
    let magnitude = match exponent {
        // Multiples of 2^-24.
        0 => (fraction as f32 * f32::from_bits(0x3380_0000)).to_bits(),
        0x1f => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign << 31 | magnitude)
}

pub(super) fn write(array: &Array) -> Vec<u8> {
    let descr = match array.values {
        Values::U8(_) => "|u1",
        Values::U16(_) => "<u2",
        Values::F32(_) => "<f4",
    };
    let mut out = header(descr, [array.height, array.width, array.channels]);
    out.extend_from_slice(&super::raw::write(array));
    out
}

/// Everything before the values: `[h, w]` for one channel, `[h, w, c]` otherwise.
fn header(descr: &str, shape: [usize; 3]) -> Vec<u8> {
    header_of(descr, super::sides(&shape, false))
}

/// Everything before the items of an array of any shape.
pub(super) fn header_of(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sides: Vec<String> = shape.iter().map(usize::to_string).collect();
    let shape = if sides.len() == 1 { format!("({},)", sides[0]) } else { format!("({})", sides.join(", ")) };
    let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    // Magic, version, length, dictionary and the newline together are a multiple of 64, so that the data is aligned.
    let length = (10 + dict.len() + 1).next_multiple_of(64) - 10;
    let mut out = Vec::with_capacity(10 + length);
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&[1, 0]);
    #[allow(clippy::cast_possible_truncation, reason = "the header has some hundred bytes")]
    out.extend_from_slice(&(length as u16).to_le_bytes());
    out.extend_from_slice(dict.as_bytes());
    out.resize(10 + length - 1, b' ');
    out.push(b'\n');
    out
}

/// Values of a Fortran-ordered file in row-major order.
fn in_c_order<T: Copy>(values: &[T], [h, w, c]: [usize; 3]) -> Vec<T> {
    let mut out = Vec::with_capacity(values.len());
    for row in 0..h {
        for column in 0..w {
            out.extend((0..c).map(|channel| values[row + h * (column + w * channel)]));
        }
    }
    out
}

/// The Python dictionary literal of the header: three keys, in any order.
fn parse_header(text: &[u8], base: usize) -> Result<Header, ArrayError> {
    let mut p = Parser { text, at: 0, base };
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    p.expect(b'{')?;
    loop {
        if p.peek() == Some(b'}') {
            break;
        }
        let (key_at, key) = p.string()?;
        p.expect(b':')?;
        match key {
            "descr" => descr = Some(p.string()?),
            "fortran_order" => fortran = Some(p.boolean()?),
            "shape" => shape = Some(p.tuple()?),
            other => return Err(ArrayError::at(key_at, format!("the header has an unknown key `{other}`"))),
        }
        if p.peek() == Some(b',') {
            p.at += 1;
        }
    }
    let missing = |key: &str| ArrayError::at(base, format!("the header has no `{key}`"));
    let (descr_at, descr) = descr.ok_or_else(|| missing("descr"))?;
    let (order, kind) = descr.split_at_checked(1).unwrap_or(("", descr));
    let big_endian = match order {
        "<" | "|" | "=" => false,
        ">" => true,
        _ => return Err(ArrayError::at(descr_at, format!("`{descr}` is no element type of NumPy's"))),
    };
    let (class, size) = kind.split_at_checked(1).unwrap_or(("", kind));
    let item_bytes = size.parse().ok().filter(|n| [1, 2, 4, 8].contains(n));
    let (Some(class @ (b'f' | b'i' | b'u' | b'b')), Some(item_bytes)) = (class.bytes().next(), item_bytes) else {
        return Err(ArrayError::at(descr_at, format!("elements are `{descr}`; {READABLE}")));
    };
    Ok(Header {
        class,
        item_bytes,
        descr: descr.to_owned(),
        descr_at,
        big_endian,
        fortran_order: fortran.ok_or_else(|| missing("fortran_order"))?,
        shape: shape.ok_or_else(|| missing("shape"))?,
    })
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    base: usize,
}

impl<'t> Parser<'t> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn bad(&self, expected: &str) -> ArrayError {
        let found = match self.text.get(self.at) {
            Some(&b) => format!("`{}`", char::from(b)),
            None => "its end".to_owned(),
        };
        ArrayError::at(self.base + self.at, format!("the header has {found} where {expected} belongs"))
    }

    fn expect(&mut self, byte: u8) -> Result<(), ArrayError> {
        if self.peek() != Some(byte) {
            return Err(self.bad(&format!("`{}`", char::from(byte))));
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Result<(usize, &'t str), ArrayError> {
        let Some(quote @ (b'\'' | b'"')) = self.peek() else { return Err(self.bad("a quoted string")) };
        let start = self.at + 1;
        let text = self.text;
        let length = text[start..].iter().position(|&b| b == quote);
        let Some(length) = length else { return Err(self.bad("a closed string")) };
        self.at = start + length + 1;
        let string = std::str::from_utf8(&text[start..start + length]);
        Ok((self.base + start, string.map_err(|_| ArrayError::at(self.base + start, "the header is no ASCII text"))?))
    }

    fn boolean(&mut self) -> Result<bool, ArrayError> {
        self.peek();
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[self.at..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.bad("True or False"))
    }

    fn tuple(&mut self) -> Result<Vec<usize>, ArrayError> {
        self.expect(b'(')?;
        let mut out = Vec::new();
        while self.peek() != Some(b')') {
            let digits = self.text[self.at..].iter().take_while(|b| b.is_ascii_digit()).count();
            let number = std::str::from_utf8(&self.text[self.at..self.at + digits]).ok().and_then(|t| t.parse().ok());
            out.push(number.ok_or_else(|| self.bad("a dimension"))?);
            self.at += digits;
            // Python 2 wrote long integers as `3L`.
            if self.text.get(self.at) == Some(&b'L') {
                self.at += 1;
            }
            if self.peek() == Some(b',') {
                self.at += 1;
            } else if self.peek() != Some(b')') {
                return Err(self.bad("`,` or `)`"));
            }
        }
        self.at += 1;
        Ok(out)
    }
}
