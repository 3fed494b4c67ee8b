//! Tests of `src/runtime/r700/launched.rs`.

use super::*;
use crate::launch::wavefronts::wave::Reads;
use crate::runtime::options::LoweringOptions;
use crate::runtime::worker::Worker;
use ctm_exec::arrays::Picture;
use ctm_exec::r700::{Arrays, Constants};
use ctm_exec::{Control, Domain};
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
        let Some(artifact) = Artifact::new(&launch, &LoweringOptions::default()) else {
            panic!("{} is not lowered", path.display())
        };
        let watch = Watch::new(&launch.budget, &Control::none(), 0);
        let of = R700::wavefronts(&launch, &artifact, (&watch, Backend::detect()));
        let mut memory = Arrays::default();
        memory.textures.insert(18, Picture::filled(4, 4, [0.5; 4]).into());
        memory.textures.insert(19, Picture::filled(4, 4, [0.5; 4]).into());
        memory.bind_constants(0, Some(0), vec![[0; 4]; 64]);
        let uniforms = uniforms(&launch, &artifact, &memory).unwrap_or_default();
        let given = Reads { guest: Guest::R700(&launch, &memory), uniforms: &uniforms, bindings: &[] };
        let job = Job { group: 0, lanes: u64::MAX };
        let mut done = Done::new(&of);
        let ran = Worker::default().here((&of, &watch.part(0)), job, given, &mut done);
        assert!(ran.is_ok(), "{} is bailed_out", path.display());
        #[cfg(target_arch = "x86_64")]
        for target in Backend::available().filter_map(Backend::target) {
            let of = crate::codegen::x86::masked::Variant {
                target,
                ordinary: false,
                counts: true,
                fuel: true,
                narrows: false,
            };
            let native = artifact.native(of, (&uniforms, &[]));
            assert!(native.is_some(), "{} has no machine code for {target:?}", path.display());
        }
        #[cfg(target_arch = "x86_64")]
        if of.backend == Backend::Avx512 {
            // Programs that keep many texels at once take fewer lanes, others take all.
            let name = path.file_stem().unwrap_or_default();
            let bindings = bindings(&launch, &artifact, &memory);
            let fewer = narrower(&of, &launch, &artifact, (&uniforms, &bindings)).is_some();
            assert!(fewer || name != "conv5x5", "{} is not narrowed", path.display());
            assert!(!fewer || !["tex2d", "varying"].iter().any(|few| name == *few), "{} is narrowed", path.display());
        }
        programs += 1;
    }
    assert_eq!(programs, 33);
}
