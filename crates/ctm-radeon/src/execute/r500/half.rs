//! Half-precision floats of vertices and textures.

/// A half float.
pub(super) fn half(bits: u32) -> f32 {
    let (sign, exponent, fraction) = (bits >> 15 & 1, bits >> 10 & 0x1f, bits & 0x3ff);
    let value = match exponent {
        0 => fraction as f32 / 16_777_216.0,
        0x1f if fraction == 0 => f32::INFINITY,
        0x1f => f32::NAN,
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    if sign == 1 { -value } else { value }
}
