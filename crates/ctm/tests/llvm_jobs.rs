//! The R700 programs that LLVM made, run from their job files. Truth: each source (`.ll`) computed again here, not by the project.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm::job::{JobError, JobReport, Reader};
use std::path::Path;

fn run(name: &str) -> Result<JobReport, JobError> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../tests/corpus/llvm/{name}.toml"));
    let report = Reader::for_file(&path).and_then(Reader::finish)?.run(|_| {})?;
    let findings: Vec<String> = report.reports.iter().map(|r| ctm::render::text(r, false)).collect();
    assert!(findings.is_empty(), "{name}: {}", findings.join("\n"));
    Ok(report)
}

/// The elements of an output, row by row.
fn elements(report: &JobReport, output: &str) -> Vec<[f32; 4]> {
    report.named(output).unwrap().to_f32().as_chunks().0.to_vec()
}

#[test]
fn float_operations() {
    let found = elements(&run("01_float_ps").unwrap(), "pix0");
    assert_eq!(found.len(), 24);
    for (i, found) in (0u8..).map(f32::from).zip(found) {
        let [x, y, z, w] = [-2.5 + i * 0.375, 0.75 + i * 0.25, 1.5, -0.25 + i * 0.5];
        let [p, q] = [-3.0 + i * 0.25, 0.5];
        let s = x * y + z - w;
        let (least, most) = (s.abs().min(-p), s.abs().max(q));
        let fraction = most - most.floor();
        let pi = f32::from_bits(0x4048_f5c3);
        let expected = [least.ceil() + x.trunc(), (y.round_ties_even() + fraction) * pi + 0.5, least, most];
        assert_eq!(found, expected, "{i}");
    }
}

#[test]
fn a_loop_counts_like_its_source() {
    let found = elements(&run("04_loop_ps").unwrap(), "pix0");
    assert_eq!(found.len(), 160);
    for (at, [count, .., one]) in found.into_iter().enumerate() {
        let (i, j) = ((at % 40) as f32, (at / 40) as f32);
        let (cx, cy) = (i * 0.0625 - 1.75, j * 0.375 - 0.5);
        let (mut x, mut y, mut n) = (0f32, 0f32, 0u32);
        while n < 64 && x * x + y * y <= 4.0 {
            (x, y) = (x * x - y * y + cx, x * y * 2.0 + cy);
            n += 1;
        }
        assert_eq!((count, one), (n as f32 * 0.015625, 1.0), "({i}, {j})");
    }
}

#[test]
fn transcendental_operations() {
    for (i, found) in elements(&run("05_trans_ps").unwrap(), "pix0").into_iter().enumerate() {
        let i = i as f64;
        let [x, y, z, w] = [0.5 + i * 0.25, 1.25 + i * 0.5, 0.75 + i * 0.125, 2.0 + i * 0.75];
        let expected = [
            x.sin() + y.cos() + x.trunc() + y.trunc(),
            z.exp2() + w.log2(),
            1.0 / x.sqrt() + 1.0 / y.sqrt(),
            z.sqrt() + 1.0 / w,
        ];
        for (found, expected) in found.into_iter().zip(expected) {
            let close = (f64::from(found) - expected).abs() <= 2e-6 * expected.abs().max(1.0);
            assert!(close, "{i}: {found} for {expected}");
        }
    }
}

/// Texel (x, y) of the picture that all resources of `06_tex_ps` show.
fn texel(x: i64, y: i64) -> [f64; 4] {
    [0, 7, 14, 21].map(|c| ((3 * x + 5 * y + c) & 15) as f64 / 16.0)
}

fn repeat(x: i64, n: i64) -> i64 {
    x.rem_euclid(n)
}

fn mirror(x: i64, n: i64) -> i64 {
    let x = x.rem_euclid(2 * n);
    if x < n { x } else { 2 * n - 1 - x }
}

#[test]
fn texture_fetches() {
    const BORDER: [f64; 4] = [0.5, -0.25, 2.0, 1.0];
    let found = elements(&run("06_tex_ps").unwrap(), "pix0");
    assert_eq!(found.len(), 256);
    for (at, found) in found.into_iter().enumerate() {
        let (i, j) = ((at % 32) as f64, (at / 32) as f64);
        let (s, t) = (-0.46875 + i * 0.0625, 1.40625 - j * 0.3125);
        // A register's value is rounded to single precision, and coordinates near a texel's edge depend on it.
        let [p, q, reference] = [-1.4 + i * 0.35, 5.3 - j * 0.9, 0.34375].map(|v| f64::from(v as f32));
        let nearest = |u: f64| u.floor() as i64;
        // Offsets of 1 and -1.5 texels.
        let (u, v) = (nearest(s * 8.0 + 1.0), nearest(t * 4.0 - 1.5));
        let shifted = texel(repeat(u, 8), repeat(v, 4));
        let plain = texel(mirror(nearest(s * 8.0), 8), nearest(t * 4.0).clamp(0, 3));
        let product: [f64; 4] = std::array::from_fn(|c| shifted[c] * plain[c]);
        let dependent = texel(nearest(product[0] * 8.0).clamp(0, 7), nearest(product[1] * 4.0).clamp(0, 3));
        // SAMPLE_C: one where the reference is less than the texel's first element.
        let depth = texel(repeat(nearest(p * 8.0), 8), repeat(nearest(q * 4.0), 4))[0];
        let compared = [f64::from(u8::from(reference < depth)), 0.0, 0.0, 1.0];
        // Linear, coordinates in texels, a border around.
        let (a, b) = (p - 0.5, q - 0.5);
        let (x, y) = (a.floor(), b.floor());
        let at = |dx: i64, dy: i64, c: usize| {
            let (x, y) = (x as i64 + dx, y as i64 + dy);
            if (0..8).contains(&x) && (0..4).contains(&y) { texel(x, y)[c] } else { BORDER[c] }
        };
        for c in 0..4 {
            let row = |dy| at(0, dy, c) * (1.0 - (a - x)) + at(1, dy, c) * (a - x);
            let linear = row(0) * (1.0 - (b - y)) + row(1) * (b - y);
            let expected = dependent[c] * (linear + compared[c]);
            let close = (f64::from(found[c]) - expected).abs() <= 2e-6;
            assert!(close, "({i}, {j}) element {c}: {} for {expected}", found[c]);
        }
    }
}

#[test]
fn a_vertex_program_transforms_what_its_fetch_program_reads() {
    let report = run("07_const_vs").unwrap();
    let (positions, parameters) = (elements(&report, "pos0"), elements(&report, "param0"));
    let constant = |n: usize| [0, 1, 2, 3].map(|c| (n * 4 + c) as f32 * 0.25 - 3.0);
    for v in 0..5 {
        let attribute = |c: usize| (v * 8 + c) as f32 * 0.5 - 4.0;
        let dot = |n: usize| (0..4).map(|c| attribute(c) * constant(n)[c]).sum::<f32>();
        // All products and sums are exact.
        assert_eq!(positions[v], [dot(0), dot(1), dot(2), dot(17)], "{v}");
        assert_eq!(parameters[v], std::array::from_fn(|c| attribute(4 + c) * constant(25)[c]), "{v}");
    }
}

#[test]
fn an_invalid_program_is_a_fault() {
    let error = run("11_indirect_ps").unwrap_err();
    assert_eq!(error.exit_code(), 3);
    assert!(error.to_string().contains("cannot be decoded"), "{error}");
}
