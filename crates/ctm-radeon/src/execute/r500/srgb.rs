//! Colours in sRGB.

/// The first three of an sRGB colour made linear.
pub(super) fn linear([x, y, z, w]: [u32; 4]) -> [u32; 4] {
    let of = |bits: u32| {
        let value = f64::from(f32::from_bits(bits));
        let linear = if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) };
        (linear as f32).to_bits()
    };
    [of(x), of(y), of(z), w]
}
