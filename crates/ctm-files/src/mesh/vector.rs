//! Vectors of three numbers.

/// The vector product.
#[must_use]
pub fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The scalar product.
#[must_use]
pub fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// `a` minus `b`.
#[must_use]
pub fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The same direction with length 1; of no length: itself.
#[must_use]
pub fn unit(a: [f32; 3]) -> [f32; 3] {
    let length = dot(a, a).sqrt();
    if length == 0.0 { a } else { a.map(|x| x / length) }
}

/// The normal of a triangle whose vertices follow each other counter-clockwise; zero of one without area.
#[must_use]
pub fn normal_of(a: [f32; 3], b: [f32; 3], c: [f32; 3]) -> [f32; 3] {
    let normal = cross(minus(b, a), minus(c, a));
    if dot(normal, normal) < 1e-12 { [0.0; 3] } else { unit(normal) }
}
