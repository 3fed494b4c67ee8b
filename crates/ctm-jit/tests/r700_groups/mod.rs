//! Thread groups: the local data share, SIMD-global registers (which are left to the reference interpreter), memory that is written and read, vertex events; and that the programs of the corpora and the
//! examples run without the reference interpreter.

use super::*;
use ctm_isa::r700::text::{TextOptions, assemble};
use std::sync::atomic::{AtomicU64, Ordering};

/// A case in which groups mostly have several wavefronts, and all shared resources.
fn case(seed: u64, stage: Stage) -> Case {
    let mut case = Case::new(seed, stage);
    case.add_targets(seed);
    let r = &mut Random::new(seed ^ 0x5a_a11d);
    if stage == Stage::Compute {
        case.group_threads = r.of(&[0, 40, 64, 128, 192, 256, 1024]);
    }
    case.global_gprs = r.of(&[0, 0, 1, 3]);
    if r.one_in(3) {
        case.chip = Chip::Rv730;
    }
    if !r.one_in(4) {
        let other = Case::new(seed ^ 0xa17e_44a7e, stage).memory;
        case.memory.alternate = Some(Box::new(other));
    }
    if r.one_in(8) {
        case.memory.spaces.remove(&Space::Scatter);
    }
    for constant in &mut case.constants.loops {
        if r.one_in(4) {
            *constant =
                LoopConstant { count: r.below(4) as u16, start: r.of(&[20, 100, 4090]), step: r.of(&[-30, 17, 127]) };
        }
    }
    case
}

/// Compares such a program; gives the number of engines that left some of it to the reference interpreter.
pub(super) fn program_that_shares(engines: &[Jit], seed: u64, differences: &Differences) -> usize {
    let stages = [Stage::Compute, Stage::Compute, Stage::Compute, Stage::Geometry, Stage::Export, Stage::Pixel];
    let r = &mut Random::new(seed ^ 0x6a0_0d5);
    let stage = r.of(&stages);
    let shape = RandomContents {
        clauses: 1 + r.below(12) as usize,
        groups: 1 + r.below(4) as usize,
        flow: !r.one_in(4),
        fetches: r.one_in(4),
        relative: r.one_in(2),
        doubles: false,
        memory: r.one_in(2),
        sharing: true,
        ..RandomContents::all(stage)
    };
    let before: Vec<u64> = engines.iter().map(Jit::r700_bail_outs).collect();
    compare(engines, seed, &case(seed, stage), &program(seed, &shape), differences);
    engines.iter().map(Jit::r700_bail_outs).zip(before).filter(|(after, before)| after > before).count()
}

/// Random programs with all shared resources of wavefronts.
#[test]
fn random_programs_that_share() {
    let (ran, here) = (AtomicU64::new(0), AtomicU64::new(0));
    // These once differed: gradients with ALT_CONST are a fault where nothing is bound; the data share of a group held
    // the writes of the one before; lanes that had left a loop lost a register when BROADCAST wrote another one at an
    // index.
    on_all_cores(seeds(150).chain([332, 778, 8_079_592]), engines, |engines, seed, differences| {
        let left = program_that_shares(engines, seed, differences);
        ran.fetch_add(engines.len() as u64, Ordering::Relaxed);
        here.fetch_add((engines.len() - left) as u64, Ordering::Relaxed);
    });
    let (ran, here) = (ran.into_inner(), here.into_inner());
    println!("{here} of {ran} launches without the reference interpreter");
    // The rest are faults, or name SIMD-global registers.
    assert!(std::env::var("CTM_SEED").is_ok() || 4 * here > ran, "{here} of {ran}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The programs of the corpora, the examples and the benchmarks, with their names; and the programs of the run vectors.
fn programs() -> Vec<(String, Program)> {
    let mut found = Vec::new();
    let text = |name: &str, text: &str| {
        let assembly = assemble(text, &TextOptions::default());
        assembly.program.unwrap_or_else(|| panic!("{name}: {:?}", assembly.diagnostics))
    };
    let mut folders = vec![corpus().join("r700"), root().join("tests/corpus/llvm"), root().join("bench/r700")];
    folders.extend(files(&root().join("examples/r700")));
    for path in folders.iter().flat_map(|folder| files(folder)) {
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        let extension = path.extension().map(|e| e.to_string_lossy().into_owned()).unwrap_or_default();
        if extension == "hex" {
            let source = std::fs::read_to_string(&path).unwrap();
            let words = source.lines().flat_map(|line| line.split('#').next().unwrap_or("").split_whitespace());
            let mut program = Program::from_words(words.map(hex).collect());
            program.gprs = 32;
            found.push((name, program));
        } else if extension.ends_with("sh") && extension != "sh" {
            let program = text(&name, &std::fs::read_to_string(&path).unwrap());
            found.push((name, program));
        }
    }
    assert!(found.len() >= 56, "{} programs", found.len());
    let vectors = std::fs::read_to_string(root().join("tests/vectors/r700/run/fetch.txt")).unwrap();
    for (n, block) in vectors.split("\nvector\n").skip(1).enumerate() {
        let lines = block.lines().take_while(|line| line.starts_with(' '));
        let body: String = lines.map(|line| format!("{}\n", line.trim())).collect();
        let name = format!("vector {n}: {}", body.replace('\n', "; "));
        let program = text(&name, &format!("{body}EXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n"));
        found.push((name, program));
    }
    found
}

/// All resources that programs of the corpora may need.
fn plenty(stage: Stage) -> Case {
    let mut case = Case::new(1, stage);
    case.budget = Budget::default();
    case.wavefront = GroupSize::new(64).unwrap();
    case.domain = Domain { i0: 0, j0: 0, i1: 31, j1: 9 };
    case.constants.loops = [LoopConstant { count: 3, start: 0, step: 1 }; 32];
    // Whole numbers, as bits: small ones, wherever they index.
    case.planes = (0..2).map(|temp| Plane { temp, bits: true, ..Plane::position(0) }).collect();
    case.group_threads = 256;
    if let Some(rows) = case.memory.constants.get_mut(&0).and_then(|buffer| buffer.first_mut()) {
        rows[0] = 32;
    }
    let texture = |size: u32| Picture::from_fn(size, size, |i, j| [i as f32, j as f32, 0.5, 0.25].map(|x| x / 16.0));
    for id in 0..24 {
        case.memory.textures.entry(id).or_insert_with(|| texture(16).into());
        case.memory.samplers.entry(id).or_default();
    }
    let dwords = (0..1 << 16).flat_map(|n: u32| (n % 64).to_le_bytes()).collect();
    let buffer = BufferData { stride_bytes: 16, bytes: dwords, ..BufferData::default() };
    (0..32).for_each(|id| drop(case.memory.buffers.insert(id, buffer.clone())));
    case.memory.alternate = Some(Box::new(Arrays { alternate: None, ..case.memory.clone() }));
    for space in [
        Space::Scatter,
        Space::Ring,
        Space::Reduction,
        Space::Stream(0),
        Space::Stream(1),
        Space::Stream(2),
        Space::Stream(3),
    ] {
        case.memory.spaces.insert(space, vec![3; 1 << 20]);
    }
    case
}

/// Programs whose launch is a fault: a fetch program by itself, an operation that R700 does not have, and cases that
/// the manual excludes or leaves open.
const FAULTS: [&str; 4] = ["07_fetch_vs.vsh", "11_indirect_ps.hex", "BURSTCNT(1); ", "MUX(FFT_PERMUTE)"];

/// No occurring program is left to the reference interpreter, unless it is a fault or names SIMD-global registers.
#[test]
fn nothing_is_left_to_the_reference_interpreter() {
    let mut faults = Vec::new();
    let mut left = Vec::new();
    for (name, program) in programs() {
        let stage = program.stage.unwrap_or(Stage::Pixel);
        let case = plenty(stage);
        let expected = case.run(&program, &Interp, 1);
        for jit in engines() {
            assert_eq!(difference(&case, &program, &expected, &jit), None, "{name}, {}", jit.backend());
            match &expected.0 {
                Ok(_) if jit.r700_bail_outs() > 0 && !name.contains("[GLOBAL]") => {
                    left.push(format!("{name}, {}", jit.backend()))
                }
                Ok(_) => {}
                Err(_) => faults.push(name.clone()),
            }
        }
    }
    assert!(left.is_empty(), "left to the reference interpreter: {left:#?}");
    let wrong: Vec<_> = faults.iter().filter(|name| !FAULTS.iter().any(|fault| name.contains(fault))).collect();
    assert!(wrong.is_empty(), "faults: {wrong:#?}");
    assert!(faults.len() <= 6 * engines().len(), "{} faults", faults.len());
}
