//! The programs of a real compiler, run through their job files, give their pictures: X1K on the device, R700 on arrays.
//!
//! Truth: `refs` of `tests/corpus/mesa` and `tests/corpus/compiled`, drawn by another implementation; tolerance 1e-4, relative above 1.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm::job::{Job, Reader};
use ctm::render;
use ctm_exec::Domain;
use ctm_exec::x1k::Plane;
use std::path::{Path, PathBuf};

/// The one value outside the tolerance, as `ctm-exec/tests/corpus.rs` explains: a loop that multiplies rounding errors, drawn
/// there without and run here with a fused multiply-add. Program, (x, y, channel), and the tolerance there.
const FUSED_MAD_DIFFERENCE: (&str, (usize, usize, usize), f32) = ("loop_break_continue", (35, 22, 2), 1e-3);

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}

/// The jobs of both folders.
fn jobs(isa: &str) -> Vec<PathBuf> {
    let mut jobs = jobs_in("mesa", isa);
    jobs.extend(jobs_in("compiled", isa));
    jobs
}

fn jobs_in(folder: &str, isa: &str) -> Vec<PathBuf> {
    let mut jobs: Vec<PathBuf> = std::fs::read_dir(corpus().join(folder).join(isa))
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .collect();
    jobs.sort();
    jobs
}

/// The picture of a job's output.
fn reference(job: &Path, slot: u8) -> Vec<f32> {
    let name = job.file_stem().unwrap().to_str().unwrap();
    let file = if slot == 0 { format!("refs/{name}.f32") } else { format!("refs/{name}.{slot}.f32") };
    let bytes = std::fs::read(job.parent().unwrap().join("..").join(file)).unwrap();
    bytes.chunks_exact(4).map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

/// An emulator tries one size.
#[test]
fn every_job_gives_its_picture_for_every_group_size() {
    let jobs = jobs("x1k");
    let groups = if ctm_testkit::in_emulator() { &["16"][..] } else { &["16", "4", "64"] };
    assert_eq!(jobs.len(), 26 + 35);
    for path in &jobs {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let mut first: Option<Vec<u32>> = None;
        for &group in groups {
            let mut reader = Reader::for_file(path).unwrap();
            reader.flag("group", group);
            let report = reader.finish().and_then(|job| job.run(|_| {})).unwrap_or_else(|e| panic!("{name}:\n{e}"));
            assert!(report.reports.is_empty(), "{name}: {}", render::text(&report.reports[0], false));
            let mut bits = Vec::new();
            for output in &report.outputs {
                let expected = reference(path, output.slot);
                let found = report.array(output.slot).unwrap().to_f32();
                assert_eq!(found.len(), expected.len());
                for (n, (&f, &e)) in found.iter().zip(&expected).enumerate() {
                    let at = (n / 4 % 64, n / 256, n % 4);
                    let (other_name, other_at, other) = FUSED_MAD_DIFFERENCE;
                    let allowed = if (other_name, other_at) == (name, at) { other } else { 1e-4 };
                    let tolerance = allowed * e.abs().max(1.0);
                    assert!((f - e).abs() <= tolerance, "{name}, group {group}, (x, y, channel) {at:?}: {f}, not {e}");
                }
                bits.extend(found.iter().map(|v| v.to_bits()));
            }
            // The programs are built from structured flow control: the group size must not change a bit.
            assert_eq!(*first.get_or_insert_with(|| bits.clone()), bits, "{name}, group {group}");
        }
    }
}

/// The fast engine gives the reference interpreter's bits, faults and counters. An emulator tries a seventh of the jobs.
#[test]
fn engines_agree() {
    let step = if ctm_testkit::in_emulator() { 7 } else { 1 };
    for path in jobs("x1k").iter().chain(&jobs("r700")).step_by(step) {
        let mut reader = Reader::for_file(path).unwrap();
        reader.flag("engine", "verify");
        let report = reader.finish().and_then(|job| job.run(|_| {})).unwrap_or_else(|e| panic!("{e}"));
        assert!(report.reports.is_empty(), "{}: {}", path.display(), render::text(&report.reports[0], false));
    }
}

/// Integer programs give their pictures exactly, the others within the tolerance; the wavefront's width changes nothing. An emulator tries one width.
#[test]
fn every_r700_job_gives_its_picture_for_every_wavefront() {
    let jobs = jobs("r700");
    let groups = if ctm_testkit::in_emulator() { &["64"][..] } else { &["64", "16"] };
    assert_eq!(jobs.len(), 33 + 50);
    let mut compared = 0;
    for path in &jobs {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let tolerance = if name.starts_with("i_") { 0.0 } else { 1e-4 };
        let mut first: Option<Vec<u32>> = None;
        for &group in groups {
            let mut reader = Reader::for_file(path).unwrap();
            reader.flag("group", group);
            let report = reader.finish().and_then(|job| job.run(|_| {})).unwrap_or_else(|e| panic!("{name}:\n{e}"));
            assert!(report.reports.is_empty(), "{name}: {}", render::text(&report.reports[0], false));
            let mut bits = Vec::new();
            for output in &report.outputs {
                let expected = reference(path, output.slot);
                let found = report.array(output.slot).unwrap().to_f32();
                assert_eq!(found.len(), expected.len());
                for (n, (&f, &e)) in found.iter().zip(&expected).enumerate() {
                    let at = (n / 4 % 64, n / 256, n % 4);
                    let close = (f - e).abs() <= tolerance * e.abs().max(1.0);
                    assert!(close, "{name}, wavefront {group}, {} (x, y, element) {at:?}: {f}, not {e}", output.name);
                }
                compared += 1;
                bits.extend(found.iter().map(|v| v.to_bits()));
            }
            assert_eq!(*first.get_or_insert_with(|| bits.clone()), bits, "{name}, wavefront {group}");
        }
    }
    // One program has two targets, one has four.
    assert_eq!(compared, groups.len() * (33 + 1 + 50 + 3));
}

/// The planes of a job in this folder, when it is stretched over `size`.
fn stretched(folder: &str, name: &str, size: [u32; 2], change: impl Fn(&mut Job)) -> Vec<Plane> {
    let mut job =
        Reader::for_file(&corpus().join(folder).join(format!("{name}.toml"))).and_then(Reader::finish).unwrap();
    change(&mut job);
    job.stretch(size);
    assert_eq!(job.passes[0].domain, Domain { i0: 0, j0: 0, i1: size[0] - 1, j1: size[1] - 1 });
    job.passes[0].registers.clone().unwrap()
}

#[test]
fn a_stretched_job_keeps_what_lies_at_the_edges() {
    // v = ((i + 0.5) / columns, (j + 0.5) / rows).
    let planes = stretched("mesa/x1k", "varying", [128, 16], |_| {});
    assert_eq!(planes[0].origin, [0.5 / 128.0, 0.5 / 16.0, 0.0, 0.0]);
    assert_eq!((planes[0].di, planes[0].dj), ([1.0 / 128.0, 0.0, 0.0, 0.0], [0.0, 1.0 / 16.0, 0.0, 0.0]));
    // The place in the window goes on counting.
    let planes = stretched("mesa/r700", "fragcoord", [128, 16], |_| {});
    assert_eq!(planes[0].origin, [0.5, 0.5, 0.5, 1.0]);
    assert_eq!((planes[0].di, planes[0].dj), ([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]));
    // Ten columns from 10 on, with 0.5 a column: edges at 7.75 and 12.75 of a register that begins with 3.
    let planes = stretched("mesa/x1k", "varying", [20, 64], |job| {
        job.passes[0].domain = Domain { i0: 10, j0: 0, i1: 19, j1: 63 };
        if let Some(plane) = job.passes[0].registers.iter_mut().flatten().next() {
            (plane.origin[0], plane.di[0]) = (3.0, 0.5);
        }
    });
    assert_eq!((planes[0].origin[0], planes[0].di[0]), (7.75 + 0.125, 0.25));
}
