//! Coverage beside llvmpipe's, Mesa's software OpenGL, where it is installed: a small C program of ours draws the same shapes and reports its
//! coverage.
//!
//! Without a C compiler, EGL or llvmpipe the tests say so and pass.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test stops at what it did not expect, and says why it is skipped"
)]

use ctm_draw::raster::{LinePixels, QuadCoverage, Triangle, cover_box, cover_triangle, point_box};
use ctm_draw::state::{RasterState, Rect, SamplePattern};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Side of the square that a shape is drawn in, in pixels.
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

/// OpenGL's coverage of shapes of `corners` corners: the places of samples, and the rows of each shape.
fn opengl(
    program: &Path,
    corners: usize,
    samples: u32,
    style: Style,
    shapes: &[Vec<[i64; 2]>],
) -> Option<(Vec<[i8; 2]>, Vec<u8>)> {
    let mut text = format!("{corners} {samples} {} {} {} {}\n", shapes.len(), style.width, style.pattern, style.repeat);
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

/// The rasteriser's coverage of a triangle. Both number rows in memory order, and llvmpipe's rule of edges is that of a
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
        let Some((places, rows)) = opengl(&program, 3, samples, Style::THIN, &shapes) else { return };
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

/// How lines and points are drawn: width or size, and a pattern with the pixels of its steps.
#[derive(Clone, Copy, Debug)]
struct Style {
    width: i64,
    pattern: u16,
    repeat: u16,
}

impl Style {
    const THIN: Self = Self { width: 1, pattern: 0, repeat: 1 };
}

/// The pixels of a line within a cell.
fn line(shape: &[[i64; 2]], style: Style) -> Vec<u8> {
    let mut found = vec![0u8; CELL * CELL];
    let cell = Rect { left: 0, top: 0, right: CELL as i32, bottom: CELL as i32 };
    let pixels = LinePixels::new(shape[0], shape[1], style.width, &RasterState::default());
    for (step, (first, last)) in pixels.enumerate() {
        if style.pattern != 0 && style.pattern >> (step / usize::from(style.repeat) % 16) & 1 == 0 {
            continue;
        }
        for (x, y) in (first[0]..=last[0]).flat_map(|x| (first[1]..=last[1]).map(move |y| (x, y))) {
            if cell.contains(x as i32, y as i32) {
                found[y as usize * CELL + x as usize] = 1;
            }
        }
    }
    found
}

/// The pixels of a point within a cell.
fn point(at: [i64; 2], size: i64) -> Vec<u8> {
    let mut found = vec![0u8; CELL * CELL];
    let cell = Rect { left: 0, top: 0, right: CELL as i32, bottom: CELL as i32 };
    cover_box(point_box(at, [256 * size; 2]), &RasterState::default().sample_points(), cell, &mut |quad| {
        for (n, mask) in quad.masks.into_iter().enumerate().filter(|(_, mask)| *mask != 0) {
            found[(quad.y as usize + n / 2) * CELL + quad.x as usize + n % 2] = mask;
        }
    });
    found
}

/// Whether OpenGL's rule (GL §3.5.1) draws a pixel of a line: the line reaches its diamond and ends outside, all positions being moved to the left by a very little
/// and upwards by its square. Truth: the rule, in whole numbers.
fn by_the_rule(from: [i64; 2], to: [i64; 2], pixel: [i64; 2]) -> bool {
    // The square is one of these parts of a unit. Only samples on borders are nearer to them than that.
    const PARTS: i128 = 1 << 80;
    const MOVED: [i128; 2] = [1 << 40, 1];
    let start = [0, 1].map(|c: usize| i128::from(from[c] - pixel[c] * 256 - 128) * PARTS - MOVED[c]);
    let way = [0, 1].map(|c: usize| i128::from(to[c] - from[c]));
    // The distance from the centre at a share of the way is a sum of two convex functions, which is least at an end or where one of them is 0.
    let is_inside = |above: i128, below: i128| {
        let sum: i128 = [0, 1].map(|c: usize| (start[c] * below + way[c] * above).abs()).iter().sum();
        sum < 128 * PARTS * below
    };
    let zero_of = |c: usize| {
        let (above, below) = if way[c] < 0 { (start[c], -way[c]) } else { (-start[c], way[c]) };
        below > 0 && (0..=below * PARTS).contains(&above) && is_inside(above, below)
    };
    !is_inside(PARTS, 1) && (is_inside(0, 1) || zero_of(0) || zero_of(1))
}

/// Lines anywhere, with corners on centres and borders of pixels and on diamonds among them.
fn lines(random: &mut Random, count: usize) -> Vec<Vec<[i64; 2]>> {
    let mut corner = |n: usize| {
        let step = [1, 1, 128, 64][n % 4];
        [random.below(CELL as u64 * 256 / step as u64) * step, random.below(CELL as u64 * 256 / step as u64) * step]
    };
    (0..count).map(|n| vec![corner(n), corner(n)]).collect()
}

/// Every pixel of 10,000 lines.
#[test]
fn lines_have_the_pixels_of_opengls_rule() {
    let mut drawn = 0;
    for shape in lines(&mut Random(4), 10_000) {
        let found = line(&shape, Style::THIN);
        let bounds = |c: usize| {
            let [a, b] = [shape[0][c] / 256, shape[1][c] / 256];
            (a.min(b) - 2).max(0)..=(a.max(b) + 1).min(CELL as i64 - 1)
        };
        for (x, y) in bounds(0).flat_map(|x| bounds(1).map(move |y| (x, y))) {
            let is_drawn = by_the_rule(shape[0], shape[1], [x, y]);
            drawn += usize::from(is_drawn);
            assert_eq!(found[y as usize * CELL + x as usize] == 1, is_drawn, "{shape:?}, pixel ({x}, {y})");
        }
    }
    assert!(drawn > 200_000, "{drawn}");
}

/// Every pixel of lines and points: points are llvmpipe's but for their sides; pixels where its lines differ are counted, and those where its lines
/// break the rule.
#[test]
fn lines_and_points_are_those_of_llvmpipe() {
    let Some(program) = program("lines") else { return };
    let wide = |width| Style { width, ..Style::THIN };
    let dashed = Style { pattern: 0x3c6f, repeat: 2, ..Style::THIN };
    // Corners, style, and how many of a thousand pixels may differ. Points may where their sides go through the centres of pixels, nowhere else.
    let table = [
        (1, Style::THIN, 1000),
        (1, wide(4), 1000),
        (1, wide(5), 1000),
        (2, Style::THIN, 10),
        (2, wide(3), 10),
        (2, wide(4), 10),
        (2, dashed, 60),
    ];
    for (corners, style, most) in table {
        let count = if corners == 1 || style.width == 1 && style.pattern == 0 { 10_000 } else { 2_000 };
        let all = lines(&mut Random(3), count).into_iter();
        let shapes: Vec<_> = all.map(|shape| shape[..corners].to_vec()).collect();
        let Some((_, rows)) = opengl(&program, corners, 1, style, &shapes) else { return };
        let (mut pixels, mut differing, mut ruled) = (0, 0, 0);
        for (shape, expected) in shapes.iter().zip(rows.chunks_exact(CELL * CELL)) {
            let found = if corners == 2 { line(shape, style) } else { point(shape[0], style.width) };
            pixels += expected.iter().filter(|&&mask| mask != 0).count();
            for k in (0..CELL * CELL).filter(|&k| found[k] != expected[k]) {
                differing += 1;
                let (x, y) = (k % CELL, k / CELL);
                let is_on_a_side =
                    |c: usize, at: usize| 2 * (at as i64 * 256 + 128 - shape[0][c]).abs() == 256 * style.width;
                assert!(corners == 2 || is_on_a_side(0, x) || is_on_a_side(1, y), "{style:?} {shape:?}: ({x}, {y})");
                let is_thin = corners == 2 && style.width == 1 && style.pattern == 0;
                ruled +=
                    usize::from(is_thin && by_the_rule(shape[0], shape[1], [x as i64, y as i64]) == (found[k] == 1));
                if std::env::var_os("CTM_SHOW").is_some() {
                    eprintln!("{style:?} {shape:?}: ({x}, {y}) is {}, llvmpipe has {}", found[k], expected[k]);
                }
            }
        }
        eprintln!("{corners} corners, {style:?}: {differing} of {pixels} pixels differ, {ruled} of them by the rule");
        assert!(
            pixels >= count && differing * 1000 <= pixels * most,
            "{style:?}: {differing} of {pixels} pixels differ"
        );
    }
    let _ = std::fs::remove_file(program);
}
