//! Start values for spans of groups or wavefronts: start values of every kind that their code distinguishes.

use ctm_exec::x1k::Plane;

/// Sets of planes for the first register.
pub fn planes() -> Vec<Vec<Plane>> {
    let of = |origin: [f64; 4], di: [f64; 4], dj: [f64; 4], bits| vec![Plane { temp: 0, origin, di, dj, bits }];
    vec![
        vec![Plane::position(0)],
        // Whole, of every sign; sums that become zero.
        of([-40.0, 7.0, 0.0, 262_143.0], [3.0, -2.0, 0.0, 0.0], [-1.0, 5.0, 0.0, -7.0], false),
        of([-0.0, 0.0, -24.0, 0.0], [0.0, -0.0, 1.0, 1.0], [0.0, 0.0, 0.0, -4.0], false),
        // Not whole, too large, and a mixture; whole numbers as bits.
        of([0.1, 1e9, 0.0, 0.5], [0.01, 1.0, 1.0, 0.25], [-0.02, 3.0, 1.0, 1e-40], false),
        of([1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0], true),
        // Denormals, which moves show, and which code must not flush while it makes them.
        of([1e-39, -1e-40, 0.0, 1e-45], [1e-41, 1e-42, 1e-45, 0.0], [-2e-41, 0.0, 1e-44, 1e-43], false),
    ]
}
