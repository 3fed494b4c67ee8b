//! No page is ever writable and executable at once: the maps of this process, read while programs are compiled and run.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use ctm_exec::Engine;
use ctm_jit::{Backend, Jit};
use ctm_testkit::x1k::surfaces::{Case, PaddedArray, Surfaces};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Permissions of the process's mappings, and whether one is memory without a file.
fn mappings() -> Vec<(String, bool)> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let of = |line: &str| {
        let mut words = line.split_whitespace();
        let permissions = words.nth(1)?.to_owned();
        Some((permissions, words.nth(3).is_none()))
    };
    maps.lines().filter_map(of).collect()
}

/// A program that no other number has: code of its own.
fn text(number: usize) -> String {
    format!(
        ".input a = s0\n.output o = o0\n.int n = i0 (3, 0, 0)\nmov r2, {number}.0\nrep n\ntex r1, a, r0.rg\ndp3 r2.rgb, r1, r2 *2\n\
         add res(r lt), r2.r, -{number}.5\nif res\nmad r2, r1, r1, r2\nendif\nendrep\nmov o, r2\n"
    )
}

#[test]
fn code_is_written_or_executed() {
    let (ends, looks, seen) = (AtomicBool::new(false), AtomicUsize::new(0), AtomicBool::new(false));
    let engines: Vec<Jit> = Backend::available().map(Jit::with_backend).collect();
    let has_code = Backend::available().any(|backend| backend != Backend::Portable);
    let run = |numbers: std::ops::Range<usize>| {
        for number in numbers {
            // Streams take domains of this size, groups the others.
            for [i1, j1] in [[3, 3], [63, 31]] {
                let case = Case { threads: 2, counters: number % 2 == 0, ..Case::new(&text(number), [0, 0, i1, j1]) };
                let output = PaddedArray::with_pitch(64, [64, 32], 4, |x, y, _| x ^ y);
                let input = PaddedArray::new(16, 4, 4, |x, y, c| (x as f32 - 2.5 * y as f32 + f32::from(c)).to_bits());
                let memory = Surfaces {
                    inputs: vec![input],
                    outputs: vec![output],
                    direct: true,
                    lends: true,
                    ..Surfaces::default()
                };
                for engine in &engines {
                    let outcome = case.run(engine as &dyn Engine, &mut memory.clone());
                    assert!(outcome.is_ok(), "{outcome:?}");
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            loop {
                let is_last = ends.load(Ordering::Acquire);
                for (permissions, is_memory) in mappings() {
                    assert!(!(permissions.contains('w') && permissions.contains('x')), "{permissions}");
                    if permissions.contains('x') && is_memory {
                        seen.store(true, Ordering::Relaxed);
                    }
                }
                looks.fetch_add(1, Ordering::Relaxed);
                if is_last {
                    break;
                }
            }
        });
        let workers = [scope.spawn(|| run(1..24)), scope.spawn(|| run(24..48))];
        let results = workers.map(|worker| worker.join());
        ends.store(true, Ordering::Release);
        assert!(watcher.join().is_ok(), "a page was writable and executable");
        assert!(results.iter().all(Result::is_ok));
    });
    assert!(looks.into_inner() > 2);
    assert_eq!(seen.into_inner(), has_code, "no page of machine code was found");
}
