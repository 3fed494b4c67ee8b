//! Draws that are joined leave the same in memory as each of them by itself.

use ctm_jit::Jit;
use ctm_radeon::execute::Next;
use ctm_radeon::replay::Replay;
use std::path::{Path, PathBuf};

/// The targets after each submission, and how many draws were joined. `at_once`: without a watcher, which sees each draw by itself.
fn targets(path: &Path, at_once: bool) -> (Vec<Vec<[u32; 4]>>, u64) {
    let mut replay = Replay::new(std::fs::File::open(path).unwrap(), Box::<Jit>::default()).unwrap();
    let mut all = Vec::new();
    while let Some(submission) = replay.read().unwrap() {
        let replayed =
            if at_once { replay.run_at_once(submission) } else { replay.run(submission, &mut |_| Next::Continue) };
        assert!(replayed.submitted.problems.is_empty(), "{}: {:?}", path.display(), replayed.submitted.problems);
        all.extend(replay.targets().unwrap().into_iter().map(|picture| picture.pixels));
    }
    (all, replay.device().joined_draws())
}

/// 211 draws of nine kinds of primitives, from arrays of the process and from one buffer, with and without indices, with restarts, a colour for all vertices, blending, depth, and an
/// occlusion query, whose result the process reads.
#[test]
fn joined_draws_leave_what_each_by_itself_leaves() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures");
    let sprites = folder.join("joined/sprites.capture");
    let ((joined, count), (expected, none)) = (targets(&sprites, true), targets(&sprites, false));
    assert!(joined == expected, "pictures differ");
    assert_eq!(none, 0);
    assert!(count > 80, "{count} draws were joined");
    let scenes = std::fs::read_dir(folder.join("scenes")).unwrap().map(|entry| entry.unwrap().path());
    let scenes: Vec<PathBuf> = scenes.filter(|path| path.extension().is_some_and(|e| e == "capture")).collect();
    assert!(scenes.len() >= 10);
    for path in scenes {
        assert!(targets(&path, true).0 == targets(&path, false).0, "{}: pictures differ", path.display());
    }
}
