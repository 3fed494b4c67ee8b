//! Where planes of coordinates begin in tests, besides small numbers.

/// Beyond the integers, beyond exact values, not numbers.
pub const FAR: &[f64] = &[
    2_147_483_648.0,
    -2_147_483_649.0,
    4_294_967_296.0,
    1_099_511_627_776.0,
    -1_099_511_627_776.0,
    65_536.0,
    65_535.5,
    -65_536.25,
    16_777_217.0,
    1e-40,
    -1e-40,
    -1e-46,
    3e38,
    -3e38,
    1e60,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];
