//! Coverage beside llvmpipe's, Mesa's software OpenGL, where it is there: a small C program of ours draws the same shapes and says what it covered.
//!
//! Without a C compiler, EGL or llvmpipe the tests say so and pass.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test stops at what it did not expect, and says why it is skipped"
)]

use ctm_draw::raster::{
    LinePixels, QuadCoverage, RasterState, Rect, SamplePattern, Triangle, cover_box, cover_triangle,
};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Side of what a shape is drawn in, in pixels.
const CELL: usize = 64;

/// The built program; `None`, and a word why, where it cannot be built or run.
fn program(name: &str) -> Option<PathBuf> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/llvmpipe/coverage.c");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    let built = Command::new("cc").arg("-O1").arg(&source).arg("-o").arg(&out).args(["-lEGL", "-lOpenGL"]).output();
    match built {
        Ok(done) if done.status.success() => Some(out),
        Ok(_) => {
            eprintln!("skipped: the program that asks llvmpipe cannot be built (EGL or OpenGL is missing)");
            None
        }
        Err(_) => {
            eprintln!("skipped: there is no C compiler");
            None
        }
    }
}

/// What OpenGL covers of shapes of so many corners: where samples lie, and the rows of each shape.
fn opengl(program: &Path, corners: usize, samples: u32, shapes: &[Vec<[i64; 2]>]) -> Option<(Vec<[i8; 2]>, Vec<u8>)> {
    let mut text = format!("{corners} {samples} {}\n", shapes.len());
    for shape in shapes {
        for [x, y] in shape {
            text += &format!("{x} {y} ");
        }
        text.push('\n');
    }
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join();
    if !output.status.success() {
        eprintln!("skipped: {}", String::from_utf8_lossy(&output.stderr).trim());
        return None;
    }
    let end = output.stdout.iter().position(|&b| b == b'\n').unwrap();
    let numbers: Vec<i8> =
        String::from_utf8_lossy(&output.stdout[..end]).split_whitespace().map(|n| n.parse().unwrap()).collect();
    Some((numbers.chunks(2).map(|at| [at[0], at[1]]).collect(), output.stdout[end + 1..].to_vec()))
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n) as i64
    }
}

/// Triangles of all kinds, in 1/256 pixel of a cell: small and large ones, slivers, some that reach far out, some without area, corners on
/// centres of pixels and samples.
fn triangles(random: &mut Random, count: usize) -> Vec<Vec<[i64; 2]>> {
    let whole = CELL as i64 * 256;
    (0..count)
        .map(|n| {
            let mut any = |low: i64, high: i64| low + random.below((high - low) as u64);
            match n % 8 {
                0 => (0..3).map(|_| [any(0, whole), any(0, whole)]).collect(),
                1 => {
                    let [x, y] = [any(0, whole - 1024), any(0, whole - 1024)];
                    (0..3).map(|_| [x + any(0, 1024), y + any(0, 1024)]).collect()
                }
                2 => {
                    let (a, b) = ([any(0, whole), any(0, whole)], [any(0, whole), any(0, whole)]);
                    vec![a, b, [(a[0] + b[0]) / 2 + any(-3, 4), (a[1] + b[1]) / 2 + any(-3, 4)]]
                }
                3 => (0..3).map(|_| [any(-whole * 4, whole * 5), any(-whole * 4, whole * 5)]).collect(),
                4 => (0..3).map(|_| [any(0, 64) * 256 + 128, any(0, 64) * 256 + 128]).collect(),
                5 => (0..3).map(|_| [any(0, 1024) * 16, any(0, 1024) * 16]).collect(),
                6 => {
                    let (x, y) = (any(0, whole), any(0, whole));
                    vec![[x, any(0, whole)], [x, any(0, whole)], [any(0, whole), y]]
                }
                _ => {
                    let [a, b] = [0, 1].map(|_| [any(0, whole), any(0, whole)]);
                    vec![a, b, if n % 16 == 7 { a } else { [any(0, whole), a[1]] }]
                }
            }
        })
        .collect()
}

/// What the rasteriser covers of a triangle. Both number rows in the order in which they lie in memory, and llvmpipe's rule of edges is that of a
/// picture whose row 0 is on top, whichever way OpenGL draws it.
fn ours(triangle: &[[i64; 2]], state: &RasterState) -> Vec<u8> {
    let mut rows = vec![0; CELL * CELL];
    let cell = Rect { left: 0, top: 0, right: CELL as i32, bottom: CELL as i32 };
    let at = [triangle[0], triangle[1], triangle[2]];
    cover_triangle(&Triangle::new(at), &state.sample_points(), cell, &mut |quad: QuadCoverage| {
        for (n, mask) in quad.masks.into_iter().enumerate() {
            let (x, y) = (quad.x as usize + n % 2, quad.y as usize + n / 2);
            if mask != 0 {
                rows[y * CELL + x] |= mask;
            }
        }
    });
    rows
}

/// Every pixel and sample of 100,000 triangles.
#[test]
fn triangles_cover_what_llvmpipe_covers() {
    let Some(program) = program("triangles") else { return };
    for (samples, count, seed) in [(1, 80_000, 1), (4, 20_000, 2)] {
        let shapes = triangles(&mut Random(seed), count);
        let Some((places, rows)) = opengl(&program, 3, samples, &shapes) else { return };
        let mut pattern = SamplePattern::of(samples).unwrap();
        for (place, [x, y]) in pattern.at.iter_mut().zip(places) {
            *place = if samples == 1 { [0, 0] } else { [x, y] };
        }
        let state = RasterState { samples: pattern, ..RasterState::default() };
        let mut differing = 0;
        for (n, (shape, expected)) in shapes.iter().zip(rows.chunks_exact(CELL * CELL)).enumerate() {
            let found = ours(shape, &state);
            if found != expected {
                differing += 1;
                if differing <= 5 {
                    let first = (0..CELL * CELL).find(|&k| found[k] != expected[k]).unwrap();
                    let (x, y) = (first % CELL, first / CELL);
                    eprintln!(
                        "{samples} samples, triangle {n} (kind {}) {shape:?}: pixel ({x}, {y}) is {:#x}, llvmpipe has {:#x}",
                        n % 8,
                        found[first],
                        expected[first]
                    );
                }
            }
        }
        assert_eq!(differing, 0, "of {count} triangles with {samples} samples");
    }
    let _ = std::fs::remove_file(program);
}

/// Every pixel of lines and points of one pixel's width. OpenGL lets lines differ by a pixel (GL §3.5.1), so what llvmpipe's have otherwise is counted.
#[test]
fn lines_and_points_are_near_those_of_llvmpipe() {
    let Some(program) = program("lines") else { return };
    let mut random = Random(3);
    let whole = CELL as u64 * 256;
    let centre = RasterState::default().centre();
    let cell = Rect { left: 0, top: 0, right: CELL as i32, bottom: CELL as i32 };
    for corners in [2, 1] {
        let shapes: Vec<Vec<[i64; 2]>> =
            (0..4000).map(|_| (0..corners).map(|_| [random.below(whole), random.below(whole)]).collect()).collect();
        let Some((_, rows)) = opengl(&program, corners, 1, &shapes) else { return };
        let (mut pixels, mut differing) = (0, 0);
        for (shape, expected) in shapes.iter().zip(rows.chunks_exact(CELL * CELL)) {
            let mut found = vec![0u8; CELL * CELL];
            if corners == 2 {
                for ([x, y], _) in LinePixels::new(shape[0], shape[1], 1, centre) {
                    if cell.contains(x as i32, y as i32) {
                        found[y as usize * CELL + x as usize] = 1;
                    }
                }
            } else {
                let [x, y] = shape[0];
                let corners = [[x - 128, y - 128], [x + 128, y + 128]];
                cover_box(corners, &RasterState::default().sample_points(), cell, &mut |quad| {
                    for (n, mask) in quad.masks.into_iter().enumerate().filter(|(_, mask)| *mask != 0) {
                        found[(quad.y as usize + n / 2) * CELL + quad.x as usize + n % 2] = mask;
                    }
                });
            }
            pixels += expected.iter().filter(|&&mask| mask != 0).count();
            differing += found.iter().zip(expected).filter(|(a, b)| a != b).count();
        }
        eprintln!("{corners} corners: {differing} of {pixels} pixels differ");
        assert!(pixels > 3900 && differing * 50 <= pixels, "{corners} corners: {differing} of {pixels} pixels differ");
    }
    let _ = std::fs::remove_file(program);
}
