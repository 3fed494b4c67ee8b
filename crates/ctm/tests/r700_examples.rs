//! Every R700 example runs, has no findings, and agrees with a plain computation here.

use ctm::array::{Array, ArrayFileKind};
use ctm::job::{EngineKind, Job, JobReport, OwnSaves, Reader};
use ctm_exec::r700::{Space, VertexEvent};
use ctm_exec::{Domain, GroupSize};
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

/// Runs an example's job without writing its files.
fn run(name: &str) -> JobReport {
    run_changed(name, |_| {})
}

fn run_changed(name: &str, change: impl FnOnce(&mut Job)) -> JobReport {
    let path = folder("r700").join(name).join("job.toml");
    let mut job = Reader::for_file(&path).and_then(Reader::finish).expect("the job is right");
    job.saves.clear();
    job.own_saves = OwnSaves::none(job.program_isa());
    for pass in &mut job.passes {
        pass.outputs.iter_mut().for_each(|o| o.saves.clear());
        if let Some(own) = pass.r700_mut() {
            own.vertices = None;
            own.memories.iter_mut().for_each(|m| m.save = None);
        }
    }
    if ctm_testkit::in_emulator() {
        job.run.budget.time = None;
    }
    change(&mut job);
    let report = job.run(|_| {}).unwrap_or_else(|e| panic!("{name}: {e}"));
    let findings: Vec<_> = report.reports.iter().map(|r| ctm::render::text(r, false)).collect();
    assert!(findings.is_empty(), "{name}: {}", findings.join("\n"));
    report
}

fn floats(report: &JobReport, output: &str) -> Vec<f32> {
    report.named(output).expect("the output").to_f32()
}

fn bits(report: &JobReport, output: &str) -> Vec<u32> {
    floats(report, output).iter().map(|v| v.to_bits()).collect()
}

fn input(file: &str) -> Vec<f64> {
    let path = folder(file);
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
    // Single precision without fused operations, as on the R700: every turn exactly.
    let turns = |i: u32, j: u32| {
        let (cx, cy) = (i as f32 * 0.005_859_375 + -2.25, j as f32 * 0.005_859_375 + -1.5);
        let (mut x, mut y) = (0f32, 0f32);
        for n in 1..=256 {
            (x, y) = ((x * x - y * y) + cx, (x * y) * 2.0 + cy);
            if x * x + y * y >= 4.0 {
                return Some(n);
            }
        }
        None
    };
    let (i0, j0) = (120, 190);
    let domain = Domain { i0, j0, i1: i0 + 127, j1: j0 + 95 };
    let report = run_changed("mandelbrot", |job| job.passes[0].domain = domain);
    let picture = floats(&report, "pix0");
    let (mut inside, mut outside) = (0, 0);
    for (n, pixel) in picture.chunks_exact(4).enumerate() {
        let n = u32::try_from(n).expect("a small number");
        let (i, j) = (i0 + n % 128, j0 + n / 128);
        let expected = match turns(i, j) {
            None => {
                inside += 1;
                [0.0; 3]
            }
            Some(turns) => {
                outside += 1;
                let angle = |phase: f64| std::f64::consts::TAU * (f64::from(turns) * 0.03125 + phase);
                [0.55, 0.65, 0.8].map(|phase| 0.5 - 0.5 * angle(phase).cos())
            }
        };
        for c in 0..3 {
            near(|| format!("({i}, {j}), channel {c}"), pixel[c], expected[c], 2e-5);
        }
        assert_eq!(pixel[3], 1.0);
    }
    assert!(inside > 1000 && outside > 3000, "{inside} inside, {outside} outside");
}

#[test]
fn conv5x5_softens_the_photograph() {
    const BINOMIAL: [f64; 5] = [1.0, 4.0, 6.0, 4.0, 1.0];
    let (w, h) = (288usize, 192usize);
    let photo = input("conv5x5/photo.png");
    let found = floats(&run("conv5x5"), "pix0");
    assert_eq!(found.len(), w * h * 4);
    for (n, pixel) in found.chunks_exact(4).enumerate() {
        let (i, j) = (n % w, n / w);
        for (c, &value) in pixel.iter().enumerate().take(3) {
            let mut sum = 0.0;
            for (dj, wj) in BINOMIAL.iter().enumerate() {
                for (di, wi) in BINOMIAL.iter().enumerate() {
                    let (x, y) = ((i + di).saturating_sub(2).min(w - 1), (j + dj).saturating_sub(2).min(h - 1));
                    sum += wi * wj / 256.0 * photo[(y * w + x) * 3 + c];
                }
            }
            near(|| format!("pixel ({i}, {j}), channel {c}"), value, sum, 1e-5);
        }
    }
}

#[test]
fn matmul_multiplies() {
    let (a, b) = (input("matmul/a.npy"), input("matmul/b.npy"));
    let c = floats(&run("matmul"), "pix0");
    assert_eq!(c.len(), 64 * 64);
    for row in 0..64 {
        for column in 0..64 {
            let expected: f64 = (0..64).map(|k| a[row * 64 + k] * b[k * 64 + column]).sum();
            near(|| format!("c[{row}][{column}]"), c[row * 64 + column], expected, 1e-5);
        }
    }
}

#[test]
fn saxpy_adds() {
    let (x, y) = (input("saxpy/x.npy"), input("saxpy/y.npy"));
    let sum = floats(&run("saxpy"), "pix0");
    assert_eq!(sum.len(), 16 * 16 * 4);
    for (n, &found) in sum.iter().enumerate() {
        // Two roundings: the R700's MULADD is not fused.
        assert_eq!(found, 2.5 * x[n] as f32 + y[n] as f32, "element {n}");
    }
}

#[test]
fn nbody_moves_ten_steps() {
    let (mut body, mut speed) = (input("nbody/body.npy"), input("nbody/speed.npy"));
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
    let (moved, faster) = (floats(&report, "pix0"), floats(&report, "pix1"));
    assert_eq!((moved.len(), faster.len()), (n * 4, n * 4));
    for k in 0..n * 4 {
        near(|| format!("body {}, channel {}", k / 4, k % 4), moved[k], body[k], 2e-4);
        near(|| format!("speed of {}, channel {}", k / 4, k % 4), faster[k], speed[k], 2e-3);
    }
}

#[test]
fn black_scholes_prices_options() {
    /// The normal distribution by Simpson's rule over its density, not by the program's polynomial.
    fn normal(d: f64) -> f64 {
        const STEPS: u32 = 400;
        let density = |x: f64| (-x * x / 2.0).exp() / std::f64::consts::TAU.sqrt();
        let step = d.clamp(-8.0, 8.0) / f64::from(STEPS);
        let weight = |n: u32| match n {
            0 | STEPS => 1.0,
            n if n % 2 == 1 => 4.0,
            _ => 2.0,
        };
        0.5 + step / 3.0 * (0..=STEPS).map(|n| weight(n) * density(step * f64::from(n))).sum::<f64>()
    }
    let value = floats(&run("black-scholes"), "pix0");
    for (n, o) in input("black-scholes/option.npy").chunks(4).enumerate() {
        let (s, k, t, r, v) = (o[0], o[1], o[2], 0.02, 0.3);
        let d1 = ((s / k).ln() + (r + v * v / 2.0) * t) / (v * t.sqrt());
        let d2 = d1 - v * t.sqrt();
        let call = s * normal(d1) - k * (-r * t).exp() * normal(d2);
        near(|| format!("call {n}"), value[n * 4], call, 1e-4);
        near(|| format!("put {n}"), value[n * 4 + 1], call - s + k * (-r * t).exp(), 1e-4);
    }
}

#[test]
fn reduce_adds_everything() {
    let values = input("reduce/values.npy");
    let report = run("reduce");
    let [sum] = report.memories[&Space::Scatter][..] else { panic!("one number") };
    near(|| "sum".into(), f32::from_bits(sum), values.iter().sum(), 1e-6);
    // The first pass alone: a sum for each 4096 numbers.
    let report = run_changed("reduce", |job| job.passes.truncate(1));
    let groups = &report.memories[&Space::Scatter];
    assert_eq!(groups.len(), 16);
    for (n, &found) in groups.iter().enumerate() {
        near(|| format!("group {n}"), f32::from_bits(found), values[n * 4096..][..4096].iter().sum(), 1e-6);
    }
}

#[test]
fn deep_zoom_counts_turns_in_double_precision() {
    let report = run_changed("deep-zoom", |job| job.passes[0].domain = Domain { i0: 64, j0: 40, i1: 127, j1: 87 });
    let (turns, picture) = (floats(&report, "pix1"), floats(&report, "pix0"));
    let step = 2f64.powi(-33);
    let mut different = std::collections::BTreeSet::new();
    for (n, &found) in turns.iter().enumerate() {
        let (i, j) = ((64 + n % 64) as f64, (40 + n / 64) as f64);
        let (cx, cy) = (i * step - 96.0 * step, j * step + (1.0 - 64.0 * step));
        let (mut x, mut y, mut count) = (0f64, 0f64, 0u8);
        while count < 96 {
            (x, y) = ((x * x - y * y) + cx, x * y + x * y + cy);
            count += 1;
            if x * x + y * y >= 4.0 {
                break;
            }
        }
        assert_eq!(found, f32::from(count), "({i}, {j})");
        different.insert(count);
        let angle = std::f64::consts::TAU * (f64::from(count) * 0.0625 + 0.2);
        let green = if count < 96 { 0.5 - 0.5 * angle.cos() } else { 0.0 };
        near(|| format!("({i}, {j})"), picture[n * 4 + 1], green, 2e-5);
    }
    // In single precision all points of a row would be one.
    assert!(different.len() > 20, "{different:?}");
}

#[test]
fn hash_mixes_every_number_exactly() {
    let hash = |mut v: u32| {
        v ^= v >> 16;
        v = v.wrapping_mul(0x7feb_352d);
        v ^= v >> 15;
        v = v.wrapping_mul(0x846c_a68b);
        v ^ v >> 16
    };
    let report = run("hash");
    let (hashes, gray) = (bits(&report, "pix0"), floats(&report, "pix1"));
    assert_eq!(hashes.len(), 512 * 512 * 4);
    for (t, found) in (0u32..).zip(hashes.as_chunks::<4>().0) {
        let expected = [0u32, 1, 2, 3].map(|k| hash(t + k * 0x4_0000));
        assert_eq!(*found, expected, "{t}");
        assert_eq!(gray[t as usize * 4], (expected[0] >> 9) as f32 / 8_388_608.0, "{t}");
    }
}

#[test]
fn billboard_turns_points_into_squares() {
    let report = run("billboard");
    let (position, place) = (floats(&report, "pos0"), floats(&report, "param0"));
    let mut emitted = 0;
    for k in 0..9u8 {
        // The points of the job file have four digits.
        let digits = |v: f64| f64::from(((v * 1e4).round() / 1e4) as f32);
        let angle = f64::from(k) * 0.7;
        let (x, y, z) = (digits(angle.cos()), digits(angle.sin()), digits(-0.3 + 0.2 * f64::from(k)));
        let center = [0.8 * x - 0.6 * y + 0.25, 0.6 * x + 0.8 * y - 0.5, z + 0.125];
        for corner in 0..4usize {
            let at = usize::from(k) * 4 + corner;
            let found = &position[at * 4..][..4];
            if center[2] < 0.0 {
                assert_eq!(found, [0.0; 4], "nothing was emitted for point {k}");
                continue;
            }
            emitted += 1;
            let (u, v) = ((corner & 1) as f64, (corner >> 1) as f64);
            let expected = [center[0] + (u - 0.5) * 0.125, center[1] + (v - 0.5) * 0.125, center[2], 1.0];
            for c in 0..4 {
                near(|| format!("point {k}, corner {corner}, element {c}"), found[c], expected[c], 1e-6);
            }
            assert_eq!(place[at * 2..][..2], [u as f32, v as f32]);
        }
    }
    let count = |event| report.vertices.iter().filter(|v| v.event == event).count();
    assert_eq!((emitted, count(VertexEvent::Emit), count(VertexEvent::Cut)), (32, 32, 9));
}

#[test]
fn transpose_turns_the_photograph_over() {
    let (w, h) = (288usize, 192usize);
    let photo = input("conv5x5/photo.png");
    let report = run("transpose");
    let turned = &report.memories[&Space::Scatter];
    assert_eq!(turned.len(), w * h * 4);
    for (n, element) in turned.as_chunks::<4>().0.iter().enumerate() {
        let (column, row) = (n / h, n % h);
        let texel = &photo[(row * w + column) * 3..][..3];
        let expected = [texel[0] as f32, texel[1] as f32, texel[2] as f32, 1.0];
        assert_eq!(element.map(f32::from_bits), expected, "({column}, {row})");
    }
}

/// Neither the wavefront's width nor the engine changes a bit. An emulator tries a few.
#[test]
fn widths_and_engines_agree() {
    let small = |job: &mut Job, name: &str| match name {
        "mandelbrot" => job.passes[0].domain = Domain { i0: 150, j0: 200, i1: 189, j1: 220 },
        "deep-zoom" => job.passes[0].domain = Domain { i0: 80, j0: 56, i1: 100, j1: 70 },
        "conv5x5" | "transpose" | "hash" => job.passes[0].domain = Domain { i0: 3, j0: 5, i1: 60, j1: 30 },
        _ => {}
    };
    let all = ["mandelbrot", "conv5x5", "matmul", "saxpy", "nbody", "black-scholes", "deep-zoom", "hash", "billboard"];
    let step = if ctm_testkit::in_emulator() { 4 } else { 1 };
    for name in all.into_iter().chain(["transpose", "reduce"]).step_by(step) {
        let results = |engine: EngineKind, lanes: u16| {
            let report = run_changed(name, |job| {
                small(job, name);
                job.run.engine = engine.into();
                job.run.group = GroupSize::new(lanes).expect("a width");
            });
            let outputs: Vec<Vec<u32>> = report.outputs.iter().map(|o| bits(&report, &o.name)).collect();
            (outputs, report.memories, report.vertices.len())
        };
        let reference = results(EngineKind::Interp, 64);
        assert!(results(EngineKind::Interp, 16) == reference, "{name} with wavefronts of 16");
        assert!(results(EngineKind::Verify, 64) == reference, "{name} with both engines");
    }
}
