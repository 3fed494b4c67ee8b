//! Tests of `src/runtime/r700/engine.rs`.

use super::*;
use ctm_exec::Domain;
use ctm_exec::arrays::Picture;
use ctm_exec::r700::{Arrays, Constants};
use std::path::Path;

/// None of the compiled programs is left to the reference interpreter.
#[test]
fn corpus_programs_run_here() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa/r700");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut programs = 0;
    for path in files.filter(|path| path.extension().is_some_and(|e| e == "hex")) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let words = text.split_whitespace().flat_map(|word| u32::from_str_radix(word.trim_start_matches("0x"), 16));
        let program = ctm_isa::r700::Program::from_words(words.collect());
        let constants = Constants::default();
        let domain = Domain { i0: 0, j0: 0, i1: 15, j1: 3 };
        let launch = Launch { counters: false, ..Launch::new(&program, &constants, domain) };
        let Some(artifact) = Artifact::new(&launch, Streams::new(Default::default(), Default::default())) else {
            panic!("{} is not lowered", path.display())
        };
        let watch = Watch::new(&launch.budget, &Control::none(), 0);
        let run = Run::new(&launch, &artifact, &watch, Backend::detect());
        let mut memory = Arrays::default();
        memory.textures.insert(18, Picture::filled(4, 4, [0.5; 4]).into());
        memory.textures.insert(19, Picture::filled(4, 4, [0.5; 4]).into());
        memory.bind_constants(0, Some(0), vec![[0; 4]; 64]);
        let uniforms = run.uniforms(&memory).unwrap_or_default();
        let ran =
            Worker::new(&run).here((&run, &run.watch.part(0)), 0, &uniforms, &[], &memory, &mut Counters::default());
        assert!(ran.is_ok(), "{} is bailed_out", path.display());
        #[cfg(target_arch = "x86_64")]
        for isa in Backend::available().filter_map(Backend::isa) {
            let of = crate::codegen::x86::masked::Variant {
                isa,
                moderate: false,
                ordinary: false,
                careful: false,
                linear: false,
                levels: false,
                counts: true,
                fuel: true,
                narrows: false,
            };
            let native = artifact.native(of, &uniforms, true);
            assert!(native.is_some(), "{} has no machine code for {isa:?}", path.display());
        }
        #[cfg(target_arch = "x86_64")]
        if run.backend == Backend::Avx512 {
            // What keeps many texels at once takes fewer lanes, what keeps little takes all.
            let name = path.file_stem().unwrap_or_default();
            let fewer = run.narrower(&memory, &uniforms).is_some();
            assert!(fewer || name != "conv5x5", "{} is not narrowed", path.display());
            assert!(!fewer || !["tex2d", "varying"].iter().any(|few| name == *few), "{} is narrowed", path.display());
        }
        programs += 1;
    }
    assert_eq!(programs, 33);
}
