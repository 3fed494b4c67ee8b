//! Every example runs, has no findings, and agrees with a plain computation in double precision.

use ctm::array::{Array, ArrayFileKind};
use ctm::job::{EngineKind, Job, JobReport, OwnSaves, Reader};
use ctm_exec::{Domain, GroupSize};
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// Runs an example's job without writing its files, with all checks on.
fn run(name: &str) -> JobReport {
    run_changed(name, |_| {})
}

fn run_changed(name: &str, change: impl FnOnce(&mut Job)) -> JobReport {
    let mut job = Reader::for_file(&folder(name).join("job.toml")).and_then(Reader::finish).expect("the job is right");
    job.saves.clear();
    job.own_saves = OwnSaves::none(job.program_isa());
    for pass in &mut job.passes {
        pass.outputs.iter_mut().for_each(|o| o.saves.clear());
        if let ctm::job::OwnPass::X1k(Some(conditional)) = &mut pass.own {
            conditional.save = None;
        }
    }
    // Checks are the reference interpreter's, which takes minutes in an emulator, and a launch is given 30 seconds.
    job.run.check = !ctm_testkit::in_emulator();
    if ctm_testkit::in_emulator() {
        job.run.budget.time = None;
    }
    change(&mut job);
    let report = job.run(|_| {}).unwrap_or_else(|e| panic!("{name}: {e}"));
    // The convolution means to read the edge of its picture past the edge.
    let expected = |rule| name == "conv5x5" && rule == "fetch-out-of-bounds";
    let findings = report.reports.iter().filter(|r| !expected(r.diagnostic.rule));
    let findings: Vec<_> = findings.map(|r| ctm::render::text(r, false)).collect();
    assert!(findings.is_empty(), "{name}: {}", findings.join("\n"));
    report
}

/// The final contents of an output, as `[row][column][channel]` flattened, and its width and channels.
fn output(report: &JobReport, slot: u8) -> (Vec<f32>, usize, usize) {
    let array = report.array(slot).expect("the output");
    (array.to_f32(), array.width, array.channels)
}

fn input(example: &str, file: &str) -> Vec<f64> {
    let path = folder(example).join(file);
    let bytes = std::fs::read(&path).expect("the input");
    let array =
        Array::from_bytes(ArrayFileKind::of(&path).expect("a known extension"), &bytes, None).expect("an array");
    array.to_f32().into_iter().map(f64::from).collect()
}

#[track_caller]
fn near(what: impl FnOnce() -> String, found: f32, expected: f64, tolerance: f64) {
    let error = (f64::from(found) - expected).abs();
    assert!(error <= tolerance * expected.abs().max(1.0), "{}: found {found}, expected {expected}", what());
}

#[test]
fn mandelbrot_counts_turns_and_paints_by_them() {
    let turns = |i: usize, j: usize| {
        let (cx, cy) = (-2.25 + i as f64 * 0.005_859_375, -1.5 + j as f64 * 0.005_859_375);
        let (mut x, mut y) = (0.0f64, 0.0f64);
        for n in 1..=256 {
            (x, y) = (x * x - y * y + cx, 2.0 * x * y + cy);
            if x * x + y * y >= 4.0 {
                return Some(n);
            }
        }
        None
    };
    let (picture, width, channels) = output(&run("mandelbrot"), 0);
    assert_eq!((width, channels, picture.len()), (512, 4, 512 * 512 * 4));
    let (mut outside, mut inside, mut differ) = (0, 0, 0);
    for j in 0..512 {
        for i in 0..512 {
            let pixel = &picture[(j * 512 + i) * 4..][..4];
            let expected = match turns(i, j) {
                None => {
                    inside += 1;
                    [0.0; 3]
                }
                Some(n) => {
                    outside += 1;
                    [0.55, 0.65, 0.8]
                        .map(|phase| 0.5 - 0.5 * (std::f64::consts::TAU * (f64::from(n) * 0.03125 + phase)).cos())
                }
            };
            differ += usize::from((0..3).any(|c| (f64::from(pixel[c]) - expected[c]).abs() > 1e-4));
            assert_eq!(pixel[3], 1.0);
        }
    }
    assert!(inside > 20_000 && outside > 150_000, "{inside} inside, {outside} outside");
    // Single precision leaves the circle a turn earlier or later for some points near the border of the set.
    assert!(differ < 1000, "{differ} pixels differ");
}

#[test]
fn life_lives_a_hundred_generations() {
    const N: usize = 128;
    // Grey is read as equal red, green and blue.
    let mut cells: Vec<bool> = input("life", "start.png").chunks_exact(3).map(|rgb| rgb[0] == 1.0).collect();
    for _ in 0..100 {
        let mut next = vec![false; N * N];
        for j in 1..N - 1 {
            for i in 1..N - 1 {
                let around: usize = [(0, 0), (1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2), (2, 2)]
                    .iter()
                    .map(|&(di, dj)| usize::from(cells[(j + dj - 1) * N + i + di - 1]))
                    .sum();
                next[j * N + i] = around == 3 || around == 2 && cells[j * N + i];
            }
        }
        cells = next;
    }
    let report = run("life");
    let array = report.array(report.outputs[0].slot).expect("the output");
    let (found, width) = (array.to_f32(), array.width);
    let (i0, j0) = (report.outputs[0].rect.x as usize, report.outputs[0].rect.y as usize);
    assert!(cells.iter().filter(|&&c| c).count() > 50);
    for (n, &value) in found.iter().enumerate() {
        let (i, j) = (i0 + n % width, j0 + n / width);
        assert_eq!(value, f32::from(u8::from(cells[j * N + i])), "cell ({i}, {j})");
    }
    assert!(found.len() >= 126 * 126);
}

#[test]
fn conv5x5_softens_the_photograph() {
    const BINOMIAL: [f64; 5] = [1.0, 4.0, 6.0, 4.0, 1.0];
    let (w, h) = (288usize, 192usize);
    let photo = input("conv5x5", "photo.png");
    let (found, width, channels) = output(&run("conv5x5"), 0);
    assert_eq!((width, channels), (w, 4));
    for j in 0..h {
        for i in 0..w {
            for c in 0..3 {
                let mut sum = 0.0;
                for (dj, wj) in BINOMIAL.iter().enumerate() {
                    for (di, wi) in BINOMIAL.iter().enumerate() {
                        let (x, y) = ((i + di).saturating_sub(2).min(w - 1), (j + dj).saturating_sub(2).min(h - 1));
                        sum += wi * wj / 256.0 * photo[(y * w + x) * 3 + c];
                    }
                }
                near(|| format!("pixel ({i}, {j}), channel {c}"), found[(j * w + i) * 4 + c], sum, 1e-5);
            }
        }
    }
}

#[test]
fn matmul_multiplies() {
    let (a, b) = (input("matmul", "a.npy"), input("matmul", "b.npy"));
    let (c, width, channels) = output(&run("matmul"), 0);
    assert_eq!((width, channels), (16, 4));
    for row in 0..64 {
        for column in 0..64 {
            let expected: f64 = (0..64).map(|k| a[row * 64 + k] * b[k * 64 + column]).sum();
            near(|| format!("c[{row}][{column}]"), c[row * 64 + column], expected, 1e-5);
        }
    }
}

#[test]
fn saxpy_adds() {
    let (x, y) = (input("saxpy", "x.npy"), input("saxpy", "y.npy"));
    let (sum, ..) = output(&run("saxpy"), 0);
    assert_eq!(sum.len(), 16 * 16 * 4);
    for (n, &found) in sum.iter().enumerate() {
        // One rounding: the product of two single-precision numbers and the sum are exact enough in double precision.
        assert_eq!(found, (2.5 * x[n] + y[n]) as f32, "element {n}");
    }
}

#[test]
fn nbody_moves_ten_steps() {
    let (mut body, mut speed) = (input("nbody", "body.npy"), input("nbody", "speed.npy"));
    let n = body.len() / 4;
    for _ in 0..10 {
        let old = body.clone();
        for i in 0..n {
            let mut acceleration = [0.0; 3];
            for j in 0..n {
                let d: [f64; 3] = std::array::from_fn(|c| old[j * 4 + c] - old[i * 4 + c]);
                let r2 = d.iter().map(|x| x * x).sum::<f64>() + 0.01;
                (0..3).for_each(|c| acceleration[c] += old[j * 4 + 3] * d[c] / (r2 * r2.sqrt()));
            }
            for c in 0..3 {
                speed[i * 4 + c] += 0.01 * acceleration[c];
                body[i * 4 + c] += 0.01 * speed[i * 4 + c];
            }
        }
    }
    let report = run("nbody");
    let ((moved, ..), (faster, ..)) = (output(&report, 0), output(&report, 1));
    for k in 0..n * 4 {
        near(|| format!("body {}, channel {}", k / 4, k % 4), moved[k], body[k], 2e-4);
        near(|| format!("speed of {}, channel {}", k / 4, k % 4), faster[k], speed[k], 2e-3);
    }
}

#[test]
fn black_scholes_prices_options() {
    // The normal distribution by Simpson's rule over its density, not by the program's polynomial.
    fn normal(d: f64) -> f64 {
        const STEPS: usize = 400;
        let density = |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let end = d.clamp(-8.0, 8.0);
        let step = end / STEPS as f64;
        let weight = |n: usize| {
            if n == 0 || n == STEPS {
                1.0
            } else if n % 2 == 1 {
                4.0
            } else {
                2.0
            }
        };
        0.5 + step / 3.0 * (0..=STEPS).map(|n| weight(n) * density(step * n as f64)).sum::<f64>()
    }
    let option = input("black-scholes", "option.npy");
    let (value, ..) = output(&run("black-scholes"), 0);
    for (n, o) in option.chunks(4).enumerate() {
        let (s, k, t, r, v) = (o[0], o[1], o[2], 0.02, 0.3);
        let d1 = ((s / k).ln() + (r + v * v / 2.0) * t) / (v * t.sqrt());
        let d2 = d1 - v * t.sqrt();
        let call = s * normal(d1) - k * (-r * t).exp() * normal(d2);
        let put = call - s + k * (-r * t).exp();
        near(|| format!("call {n}"), value[n * 4], call, 1e-4);
        near(|| format!("put {n}"), value[n * 4 + 1], put, 1e-4);
    }
}

#[test]
fn reduce_adds_everything() {
    let expected: f64 = input("reduce", "values.npy").iter().sum();
    let (sum, width, channels) = output(&run("reduce"), 0);
    assert_eq!((width, channels, sum.len()), (1, 1, 1));
    near(|| "sum".into(), sum[0], expected, 1e-6);
}

#[test]
fn histogram_counts_every_element_once() {
    let mut bins = [0u32; 16];
    for value in input("histogram", "image.npy") {
        bins[((value * 16.0) as usize).min(15)] += 1;
    }
    let (total, ..) = output(&run("histogram"), 0);
    assert_eq!(total, bins.map(|n| n as f32).to_vec());
    assert_eq!(total.iter().sum::<f32>(), 128.0 * 128.0);
}

#[test]
fn nearest_surface_keeps_what_is_in_front() {
    const SPHERES: [[f64; 4]; 4] =
        [[-0.5, -0.1, 0.0, 0.64], [0.35, 0.2, -0.4, 0.3025], [0.1, -0.55, 0.3, 0.36], [-0.05, 0.5, -0.7, 0.09]];
    let report = run("nearest-surface");
    let depth = report.conditional().expect("a conditional buffer").to_f32();
    assert_eq!(depth.len(), 256 * 192);
    let mut covered = 0;
    for j in 0..192 {
        for i in 0..256 {
            let (x, y) = (-2.0 + i as f64 / 64.0, -1.5 + j as f64 / 64.0);
            let nearest = SPHERES.iter().filter_map(|&[cx, cy, cz, r2]| {
                let h2 = r2 - (x - cx).powi(2) - (y - cy).powi(2);
                // Exactly on the rim, single precision may say either.
                (h2 > 1e-5).then(|| cz - h2.sqrt())
            });
            let expected = nearest.fold(1000.0, f64::min);
            let found = f64::from(depth[j * 256 + i]);
            let on_a_rim =
                SPHERES.iter().any(|&[cx, cy, _, r2]| (r2 - (x - cx).powi(2) - (y - cy).powi(2)).abs() <= 1e-5);
            assert!(on_a_rim || (found - expected).abs() < 1e-4, "({i}, {j}): {found}, expected {expected}");
            covered += usize::from(found < 999.0);
        }
    }
    assert!(covered > 9_000);
}

/// Programs made of table 3.5.4 do not depend on how many processors decide a jump together. An emulator tries one.
#[test]
fn group_size_changes_nothing() {
    let all = ["mandelbrot", "nbody", "histogram", "conv5x5"];
    for name in all.into_iter().take(if ctm_testkit::in_emulator() { 1 } else { all.len() }) {
        let pixels = |lanes| {
            let report = run_changed(name, |job| {
                job.run.group = GroupSize::new(lanes).expect("a group size");
                if name == "mandelbrot" {
                    job.passes[0].domain = Domain { i0: 150, j0: 200, i1: 257, j1: 299 };
                }
            });
            output(&report, 0).0
        };
        let reference = pixels(16);
        assert!(pixels(4) == reference, "{name} with groups of 4");
        assert!(pixels(64) == reference, "{name} with groups of 64");
    }
}

/// The fast engine gives the reference interpreter's bits, faults and counters. An emulator tries a few.
#[test]
fn engines_agree() {
    let all = ["mandelbrot", "saxpy", "reduce", "matmul", "nbody", "black-scholes", "conv5x5", "nearest-surface"];
    for name in all.into_iter().step_by(if ctm_testkit::in_emulator() { 3 } else { 1 }) {
        run_changed(name, |job| {
            job.run.engine = EngineKind::Verify.into();
            job.run.check = false;
            if name == "mandelbrot" {
                job.passes[0].domain = Domain { i0: 150, j0: 200, i1: 257, j1: 299 };
            }
        });
    }
}
