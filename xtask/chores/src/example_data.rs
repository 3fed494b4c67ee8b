//! Writes the input arrays of the examples: `cargo xtask example-data`. They are checked in; this says where they come from.

use ctm::array::{Array, ArrayFileKind, Values};
use std::error::Error;
use std::path::Path;

/// A small generator of pseudo-random numbers (xorshift*), so that the files are the same everywhere.
struct Numbers(u64);

impl Numbers {
    /// The next number in 0..1.
    #[expect(clippy::cast_precision_loss, reason = "24 bits fit a single-precision number")]
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as f32 / 16_777_216.0
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.next()
    }
}

fn array(height: usize, width: usize, channels: usize, mut value: impl FnMut(usize, usize) -> f32) -> Array {
    let values = (0..height * width * channels).map(|n| value(n / channels, n % channels)).collect();
    Array { height, width, channels, values: Values::F32(values) }
}

/// A glider gun, an R-pentomino and an acorn on 128 x 128 dead cells.
fn life() -> Array {
    const PATTERNS: [(usize, usize, &[&str]); 3] = [
        (
            6,
            8,
            &[
                "........................#...........",
                "......................#.#...........",
                "............##......##............##",
                "...........#...#....##............##",
                "##........#.....#...##..............",
                "##........#...#.##....#.#...........",
                "..........#.....#.......#...........",
                "...........#...#....................",
                "............##......................",
            ],
        ),
        (84, 90, &[".##", "##.", ".#."]),
        (90, 34, &[".#.....", "...#...", "##..###"]),
    ];
    let mut cells = vec![0u8; 128 * 128];
    for (top, left, rows) in PATTERNS {
        for (j, row) in rows.iter().enumerate() {
            for (i, cell) in row.bytes().enumerate() {
                cells[(top + j) * 128 + left + i] = if cell == b'#' { 255 } else { 0 };
            }
        }
    }
    Array { height: 128, width: 128, channels: 1, values: Values::U8(cells) }
}

/// Writes all arrays below `examples`.
pub fn write(examples: &Path) -> Result<(), Box<dyn Error>> {
    let mut n = Numbers(0x9e37_79b9_7f4a_7c15);
    let save = |name: &str, array: &Array| -> Result<(), Box<dyn Error>> {
        let path = examples.join(name);
        let kind = ArrayFileKind::of(&path).ok_or("an array needs an extension")?;
        Ok(std::fs::write(path, array.to_bytes(kind)?)?)
    };
    save("saxpy/x.npy", &array(16, 16, 4, |_, _| n.between(-1.0, 1.0)))?;
    save("saxpy/y.npy", &array(16, 16, 4, |_, _| n.between(-1.0, 1.0)))?;
    save("reduce/values.npy", &array(256, 256, 1, |_, _| n.next()))?;
    save("matmul/a.npy", &array(64, 16, 4, |_, _| n.between(-1.0, 1.0)))?;
    save("matmul/b.npy", &array(64, 16, 4, |_, _| n.between(-1.0, 1.0)))?;
    save("histogram/image.npy", &array(128, 128, 1, |_, _| n.next() * n.next()))?;
    // Position within a ball's bounding cube, and a mass.
    save("nbody/body.npy", &array(8, 8, 4, |_, c| if c < 3 { n.between(-1.0, 1.0) } else { n.between(0.5, 1.5) }))?;
    save("nbody/speed.npy", &array(8, 8, 4, |_, c| if c < 3 { n.between(-0.5, 0.5) } else { 0.0 }))?;
    // Price, strike, years.
    save(
        "black-scholes/option.npy",
        &array(32, 32, 4, |_, c| match c {
            0 => n.between(5.0, 30.0),
            1 => n.between(1.0, 100.0),
            2 => n.between(0.25, 10.0),
            _ => 0.0,
        }),
    )?;
    save("life/start.png", &life())?;
    crate::skin::write(&examples.join("draw/skin"))
}
