//! Pictures of buffers as a display shows them: linear or tiled memory of four formats as red, green, blue.

use crate::Error;
use ctm_draw::layout::{ArrayMode, Layout, Tiling};

word_fields! {
    /// The layout of a buffer's elements, as GEM_SET_TILING records it for other processes and for displays.
    BufferTiling {
        macro_tiled MACRO flag 0:0 "2D_TILED_THIN1";
        micro_tiled MICRO flag 1:1 "1D_TILED_THIN1";
    }
}

word_fields! {
    /// A pixel of XRGB8888 or ARGB8888.
    Argb8888 {
        blue BLUE number 7:0 "";
        green GREEN number 15:8 "";
        red RED number 23:16 "";
    }
    /// A pixel of RGB565.
    Rgb565 {
        blue BLUE number 4:0 "";
        green GREEN number 10:5 "";
        red RED number 15:11 "";
    }
}

/// A format that displays show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PixelFormat {
    /// `XR24` and `AR24`: 32 bits, blue in the low byte.
    Argb8888,
    /// `XB24` and `AB24`: 32 bits, red in the low byte.
    Abgr8888,
    /// `RG16`: 16 bits.
    Rgb565,
}

impl PixelFormat {
    /// The formats by the codes that ADDFB2 and planes have.
    pub const CODES: [(u32, Self); 5] = [
        (u32::from_le_bytes(*b"XR24"), Self::Argb8888),
        (u32::from_le_bytes(*b"AR24"), Self::Argb8888),
        (u32::from_le_bytes(*b"XB24"), Self::Abgr8888),
        (u32::from_le_bytes(*b"AB24"), Self::Abgr8888),
        (u32::from_le_bytes(*b"RG16"), Self::Rgb565),
    ];

    /// The format with a code.
    #[must_use]
    pub fn of(code: u32) -> Option<Self> {
        Self::CODES.iter().find(|(of, _)| *of == code).map(|(_, format)| *format)
    }

    /// Bytes of a pixel.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Argb8888 | Self::Abgr8888 => 4,
            Self::Rgb565 => 2,
        }
    }

    /// Red, green and blue of a pixel.
    fn rgb(self, pixel: u32) -> [u8; 3] {
        // 5 and 6 bits: the largest number is 255.
        let spread = |number: u32, most: u32| ((number * 255 + most / 2) / most) as u8;
        let argb = Argb8888(pixel);
        let small = Rgb565(pixel);
        match self {
            Self::Argb8888 => [argb.red(), argb.green(), argb.blue()].map(|of| of as u8),
            Self::Abgr8888 => [argb.blue(), argb.green(), argb.red()].map(|of| of as u8),
            Self::Rgb565 => [spread(small.red(), 31), spread(small.green(), 63), spread(small.blue(), 31)],
        }
    }
}

/// A buffer that a display shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Columns of pixels.
    pub width: u32,
    /// Rows of pixels.
    pub height: u32,
    /// Bytes from one row to the next.
    pub pitch_bytes: u32,
    /// The format of a pixel.
    pub format: PixelFormat,
    /// How the pixels lie.
    pub tiling: BufferTiling,
}

impl Shown {
    /// Red, green and blue of every pixel, row by row from the top. Pixels after the end of `bytes` are black.
    ///
    /// # Errors
    /// Sizes and pitches that a surface cannot have.
    pub fn picture(&self, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let wrong = |message: String| Error::new("unsupported-surface", message);
        let element_bytes = self.format.bytes();
        let (mode, columns) = match (self.tiling.macro_tiled(), self.tiling.micro_tiled()) {
            (true, _) => (ArrayMode::Tiled2d, 32),
            (false, true) => (ArrayMode::Tiled1d, 8),
            (false, false) => (ArrayMode::Linear, 1),
        };
        let pitch = self.pitch_bytes / element_bytes;
        if pitch < self.width {
            return Err(wrong(format!("a pitch of {} bytes for {} columns", self.pitch_bytes, self.width)));
        }
        let layout = Layout {
            mode,
            pitch: pitch.next_multiple_of(columns),
            height: self.height.next_multiple_of(8),
            element_bytes,
            samples: 1,
            depth_order: false,
            tiling: Tiling::default(),
        };
        layout.check().map_err(|error| wrong(error.to_string()))?;
        let mut picture = Vec::with_capacity(self.width as usize * self.height as usize * 3);
        for y in 0..self.height {
            for x in 0..self.width {
                let at = usize::try_from(layout.offset(x, y, 0, 0)).unwrap_or(usize::MAX);
                let pixel = bytes.get(at..).and_then(|rest| rest.get(..element_bytes as usize)).unwrap_or_default();
                picture.extend(self.format.rgb(crate::table::little_endian(pixel) as u32));
            }
        }
        Ok(picture)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_of_each_format_and_arrangement() {
        let code = |text: &[u8; 4]| PixelFormat::of(u32::from_le_bytes(*text)).unwrap();
        let shown = |format, tiling| Shown { width: 9, height: 2, pitch_bytes: 128, format, tiling };
        let mut bytes = vec![0; 4096];
        bytes[128..132].copy_from_slice(&[1, 2, 3, 255]);
        let of = |format, tiling: u32, bytes: &[u8]| shown(format, BufferTiling(tiling)).picture(bytes).unwrap();
        assert_eq!(of(code(b"XR24"), 0, &bytes)[27..30], [3, 2, 1]);
        assert_eq!(of(code(b"AB24"), 0, &bytes)[27..30], [1, 2, 3]);
        // The second row of a displayable tile of 4-byte elements begins 16 bytes after the first: two rows of four alternate.
        let mut bytes = vec![0; 4096];
        bytes[16..20].copy_from_slice(&[7, 8, 9, 0]);
        let tiled = of(code(b"XR24"), 2, &bytes);
        assert_eq!(tiled.iter().position(|&channel| channel == 9), Some(27));
        // 565: all ones is white.
        assert_eq!(of(code(b"RG16"), 0, &[0xff; 8])[..3], [255; 3]);
        assert_eq!(PixelFormat::of(u32::from_le_bytes(*b"NV12")), None);
        let narrow = Shown { pitch_bytes: 8, ..shown(code(b"XR24"), BufferTiling(0)) };
        assert!(narrow.picture(&[]).unwrap_err().message.contains("a pitch of 8 bytes for 9 columns"));
    }
}
