//! Address translation: tables 1 and 2 of CTM §2.1.4.

use super::MAX_INDEX;

/// Bytes of one element, the first column of both tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ElementSize {
    /// 1 byte. No data format of the Guide has it.
    B1,
    /// 2 bytes.
    B2,
    /// 4 bytes.
    B4,
    /// 8 bytes.
    B8,
    /// 16 bytes.
    B16,
}

impl ElementSize {
    /// All sizes, in the order of the tables.
    pub const ALL: [Self; 5] = [Self::B1, Self::B2, Self::B4, Self::B8, Self::B16];

    /// The number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        1 << self.log2()
    }

    const fn log2(self) -> u32 {
        self as u32
    }

    /// Where x and y enter table 2: the bit of x in address bit 5 and the bit of y in address bit 6.
    ///
    /// With these two numbers all rows of table 2 are one formula: address bits 4:0 take the bits of x and y below them, bits 10:7 the
    /// next two bits of each, folded by XOR with a bit of the other coordinate that may already count tiles.
    const fn tile_bits(self) -> (u32, u32) {
        match self {
            Self::B1 => (3, 2),
            Self::B2 => (2, 2),
            Self::B4 => (2, 1),
            Self::B8 => (1, 1),
            Self::B16 => (1, 0),
        }
    }

    /// Columns and rows of a tile of 2048 bytes (table 2).
    #[must_use]
    pub const fn tile(self) -> (u32, u32) {
        let (x, y) = self.tile_bits();
        (1 << (x + 3), 1 << (y + 3))
    }

    /// The pitch must be a multiple of this to be used whole.
    ///
    /// The tables take the pitch in units of 32 bytes (linear) or of tiles, and drop the rest; commands carry it in multiples of 4.
    #[must_use]
    pub const fn pitch_unit(self, tiled: bool) -> u32 {
        if tiled {
            self.tile().0
        } else if self.bytes() < 8 {
            32 / self.bytes()
        } else {
            4
        }
    }
}

/// Table 1: the address of element (x, y) of a linear array. `pitch` counts elements.
///
/// The sum wraps at 32 bits; `x` and `y` have twelve bits.
#[must_use]
pub const fn linear_address(size: ElementSize, x: u32, y: u32, pitch: u32, offset: u32) -> u32 {
    let (x, y) = (x % MAX_INDEX, y % MAX_INDEX);
    let per_line = 5 - size.log2();
    let line = y.wrapping_mul(pitch >> per_line).wrapping_add(x >> per_line).wrapping_add(offset >> 5);
    (line << 5) | (x << size.log2()) & 31
}

/// Table 2: the address of element (x, y) of a tiled array. `pitch` counts elements.
///
/// The sum wraps at 32 bits; `x` and `y` have twelve bits.
#[must_use]
pub const fn tiled_address(size: ElementSize, x: u32, y: u32, pitch: u32, offset: u32) -> u32 {
    let (x, y) = (x % MAX_INDEX, y % MAX_INDEX);
    let (xb, yb) = size.tile_bits();
    let tile = (y >> (yb + 3)).wrapping_mul(pitch >> (xb + 3)).wrapping_add(x >> (xb + 3)).wrapping_add(offset >> 11);
    // Address bits 4:0: the low bits of y above those of x, above the byte within the element.
    let low = ((y & ((1 << yb) - 1)) << xb | x & ((1 << xb) - 1)) << size.log2();
    // From here on `u` and `v` are x and y without those low bits.
    let (u, v) = (x >> xb, y >> yb);
    tile << 11
        | ((v >> 2 ^ u >> 3) & 1) << 10
        | ((u >> 2 ^ v >> 3) & 1) << 9
        | ((v >> 1 ^ u >> 2) & 1) << 8
        | ((u >> 1 ^ v >> 2) & 1) << 7
        | (v & 1) << 6
        | (u & 1) << 5
        | low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables 1 and 2 as the Guide prints them, evaluated bit by bit: the second derivation.
    const LINEAR: [(u32, &str, &str); 5] = [
        (1, "y[11:0]*pitch[13:5]+x[11:5]+offset[31:5]", "x[4:0]"),
        (2, "y[11:0]*pitch[13:4]+x[11:4]+offset[31:5]", "x[3:0],0"),
        (4, "y[11:0]*pitch[13:3]+x[11:3]+offset[31:5]", "x[2:0],00"),
        (8, "y[11:0]*pitch[13:2]+x[11:2]+offset[31:5]", "x[1:0],000"),
        (16, "y[11:0]*pitch[13:1]+x[11:1]+offset[31:5]", "x[0],0000"),
    ];
    const TILED: [(u32, &str, &str); 5] = [
        (
            1,
            "y[11:5]*pitch[13:6]+x[11:6]+offset[31:11]",
            "y[4]^x[6],x[5]^y[5],y[3]^x[5],x[4]^y[4],y[2],x[3],y[1:0],x[2:0]",
        ),
        (
            2,
            "y[11:5]*pitch[13:5]+x[11:5]+offset[31:11]",
            "y[4]^x[5],x[4]^y[5],y[3]^x[4],x[3]^y[4],y[2],x[2],y[1:0],x[1:0],0",
        ),
        (
            4,
            "y[11:4]*pitch[13:5]+x[11:5]+offset[31:11]",
            "y[3]^x[5],x[4]^y[4],y[2]^x[4],x[3]^y[3],y[1],x[2],y[0],x[1:0],00",
        ),
        (
            8,
            "y[11:4]*pitch[13:4]+x[11:4]+offset[31:11]",
            "y[3]^x[4],x[3]^y[4],y[2]^x[3],x[2]^y[3],y[1],x[1],y[0],x[0],000",
        ),
        (
            16,
            "y[11:3]*pitch[13:4]+x[11:4]+offset[31:11]",
            "y[2]^x[4],x[3]^y[3],y[1]^x[3],x[2]^y[2],y[0],x[1],x[0],0000",
        ),
    ];

    /// `x[11:5]` as variable, highest and lowest bit.
    type BitRange = (char, u32, u32);

    fn bits(text: &str) -> BitRange {
        let (name, rest) = text.split_once('[').expect("a bit range");
        let range = rest.strip_suffix(']').expect("a closed bit range");
        let (high, low) = range.split_once(':').unwrap_or((range, range));
        (name.chars().next().expect("a name"), high.parse().expect("a bit"), low.parse().expect("a bit"))
    }

    /// One row, parsed: the factors and summands of the high part, and the terms of each low bit from the highest down.
    struct AddressRow {
        product: (BitRange, BitRange),
        sum: Vec<BitRange>,
        low: Vec<Vec<BitRange>>,
    }

    impl AddressRow {
        fn parse(high: &str, low: &str) -> Self {
            let (product, rest) = high.split_once('+').expect("a sum");
            let (a, b) = product.split_once('*').expect("a product");
            let low = low
                .split(',')
                .flat_map(|term| {
                    if term.chars().all(|c| c == '0') {
                        vec![Vec::new(); term.len()]
                    } else if term.contains('^') {
                        vec![term.split('^').map(bits).collect()]
                    } else {
                        let (name, high, low) = bits(term);
                        (low..=high).rev().map(|b| vec![(name, b, b)]).collect()
                    }
                })
                .collect();
            Self { product: (bits(a), bits(b)), sum: rest.split('+').map(bits).collect(), low }
        }

        fn address(&self, x: u32, y: u32, pitch: u32, offset: u32) -> u32 {
            let value = |(name, high, low): BitRange| {
                let v = match name {
                    'x' => x,
                    'y' => y,
                    'p' => pitch,
                    _ => offset,
                };
                (low..=high).map(|b| (u64::from(v) >> b & 1) << (b - low)).sum::<u64>()
            };
            let high = value(self.product.0) * value(self.product.1) + self.sum.iter().map(|&s| value(s)).sum::<u64>();
            let low = self.low.iter().fold(0, |acc, terms| acc << 1 | terms.iter().fold(0, |x, &t| x ^ value(t)));
            u32::try_from((high << self.low.len() | low) & 0xffff_ffff).expect("32 bits")
        }
    }

    #[test]
    fn low_parts_have_the_width_of_the_column() {
        for (bytes, high, low) in LINEAR {
            assert_eq!(AddressRow::parse(high, low).low.len(), 5, "{bytes}");
        }
        for (bytes, high, low) in TILED {
            assert_eq!(AddressRow::parse(high, low).low.len(), 11, "{bytes}");
        }
    }

    #[test]
    fn closed_forms_equal_the_tables() {
        for (index, size) in ElementSize::ALL.into_iter().enumerate() {
            assert_eq!((LINEAR[index].0, TILED[index].0), (size.bytes(), size.bytes()));
            let linear = AddressRow::parse(LINEAR[index].1, LINEAR[index].2);
            let tiled = AddressRow::parse(TILED[index].1, TILED[index].2);
            let check = |x, y, pitch, offset| {
                let at = format!("{size:?} ({x}, {y}) pitch {pitch} offset {offset:#x}");
                assert_eq!(
                    linear_address(size, x, y, pitch, offset),
                    linear.address(x, y, pitch, offset),
                    "linear {at}"
                );
                assert_eq!(tiled_address(size, x, y, pitch, offset), tiled.address(x, y, pitch, offset), "tiled {at}");
            };
            // Pitches that are no multiple of the unit are part of the tables too: the rest is dropped.
            for pitch in [256, 260, 320] {
                for y in 0..256 {
                    for x in 0..256 {
                        check(x, y, pitch, 0x1000_0800);
                    }
                }
            }
            for pitch in [0, 4, 36, 4096, 8188] {
                for (x, y) in [(0, 0), (4095, 4095), (1, 4095), (4095, 1), (2730, 1365), (1365, 2730)] {
                    check(x, y, pitch, 0xffff_f800);
                }
            }
        }
    }

    #[test]
    fn elements_do_not_overlap_and_stay_in_their_rows() {
        for size in ElementSize::ALL {
            for pitch in [256, 320, 512] {
                for tiled in [false, true] {
                    let bytes = (256 * pitch * size.bytes()) as usize;
                    let mut seen = vec![false; bytes];
                    for y in 0..256 {
                        for x in 0..256 {
                            let at = if tiled {
                                tiled_address(size, x, y, pitch, 0)
                            } else {
                                linear_address(size, x, y, pitch, 0)
                            };
                            assert_eq!(at % size.bytes(), 0);
                            let slot = seen.get_mut(at as usize);
                            let slot = slot.unwrap_or_else(|| panic!("{size:?} tiled {tiled} ({x}, {y}) lies at {at}"));
                            assert!(!std::mem::replace(slot, true), "{size:?} tiled {tiled} ({x}, {y})");
                        }
                    }
                }
            }
        }
    }
}
