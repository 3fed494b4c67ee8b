//! R700 jobs: stages, memories, state between passes, names, containers, and messages when parts do not fit.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm::array::{Array, ArrayFileKind, Items, Values};
use ctm::job::{Job, JobError, JobReport};
use ctm_exec::r700::Space;
use std::path::{Path, PathBuf};

/// A directory of a test's own.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("r700_jobs").join(name);
        std::fs::create_dir_all(&path).unwrap();
        for (file, text) in files {
            std::fs::write(path.join(file), text).unwrap();
        }
        Self(path)
    }

    fn job(&self, text: &str) -> Result<Job, JobError> {
        Job::parse(text, "job.toml", &self.0)
    }

    fn try_run(&self, text: &str) -> Result<JobReport, JobError> {
        self.job(text)?.run(|_| {})
    }

    /// Runs a job that must find nothing to complain about.
    fn run(&self, text: &str) -> JobReport {
        let report = self.try_run(text).unwrap_or_else(|e| panic!("{text}\n{e}"));
        let findings: Vec<String> = report.reports.iter().map(|r| ctm::render::text(r, false)).collect();
        assert!(findings.is_empty(), "{}", findings.join("\n"));
        report
    }

    fn save(&self, name: &str, height: usize, width: usize, channels: usize, values: &[f32]) {
        let array = Array { height, width, channels, values: Values::F32(values.to_vec()) };
        std::fs::write(self.0.join(name), array.to_bytes(ArrayFileKind::Npy).unwrap()).unwrap();
    }

    fn items(&self, name: &str) -> Items {
        Items::from_npy(&std::fs::read(self.0.join(name)).unwrap()).unwrap()
    }
}

fn bits(report: &JobReport, output: &str) -> Vec<u32> {
    report.named(output).unwrap_or_else(|| panic!("{output}")).to_f32().iter().map(|v| v.to_bits()).collect()
}

fn messages(error: &JobError) -> Vec<&str> {
    error.reports().iter().map(|r| r.diagnostic.message.as_str()).collect()
}

#[test]
fn registers_start_with_the_thread() {
    let d = Dir::new("threads", &[("r0.r700", "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n")]);
    let job = "program = \"r0.r700\"\ndomain = [2, 1, 4, 2]\n[[output]]\nslot = 0\nsave = \"r0.npy\"\n";
    let pixels: Vec<f32> = [[2, 1], [3, 1], [4, 1], [2, 2], [3, 2], [4, 2]]
        .iter()
        .flat_map(|&[i, j]| [i as f32, j as f32, 0.0, 0.0])
        .collect();
    assert_eq!(d.run(job).named("pix0").unwrap().to_f32(), pixels);
    let report = d.run(&format!("stage = \"compute\"\n{job}format = \"int32_4\"\n"));
    assert_eq!(bits(&report, "pix0")[16..], [4, 3, 2, 0, 5, 4, 2, 0]);
    let saved = d.items("r0.npy");
    assert_eq!((saved.class, saved.shape.as_slice()), (b'i', &[2, 3, 4][..]));
    assert_eq!(saved.dwords(), bits(&report, "pix0"));
}

const SCATTER: &str = "ALU:\n x: LSHL_INT R1.x, R0.x, 1\n t: MULLO_INT R2.x, R0.x, R0.x\n\ny: ADD_INT R2.y, R0.x, 1\n\
    MEM_EXPORT: WRITE(0 + R1), R2.xy__ ARRAY_SIZE(0) ELEM_SIZE(1)\nNOP\nEND_OF_PROGRAM\n";

#[test]
fn memories_begin_as_data_and_are_saved_by_type_and_shape() {
    let d = Dir::new("scatter", &[("s.csh", SCATTER)]);
    d.save("start.npy", 1, 6, 1, &[1.5; 6]);
    let job = "program = \"s.csh\"\nstage = \"compute\"\ndomain = [0, 0, 3, 0]\n\
               [[memory]]\nkind = \"scatter\"\nsize_bytes = 48\ndata = \"start.npy\"\nsave = \"s.npy\"\n";
    let report = d.run(&format!("{job}type = \"uint32\"\nshape = [4, 2]\n"));
    assert_eq!(report.memories[&Space::Scatter], [0, 1, 1, 2, 4, 3, 9, 4, 0, 0, 0, 0]);
    let saved = d.items("s.npy");
    assert_eq!((saved.class, saved.shape.as_slice()), (b'u', &[4, 2][..]));
    assert_eq!(saved.dwords(), [0, 1, 1, 2, 4, 3, 9, 4]);
    d.run(job);
    assert_eq!(d.items("s.npy").shape, [12]);
    // A second launch over fewer threads keeps the first one's values; a fresh memory does not.
    let more = |fresh: &str| {
        let text = job.replace("save = \"s.npy\"\n", "");
        format!("{text}[[pass]]\n[[pass]]\ndomain = [0, 0, 0, 0]\n[[pass.memory]]\nkind = \"scatter\"\n{fresh}")
    };
    assert_eq!(d.run(&more("")).memories[&Space::Scatter][2..8], [1, 2, 4, 3, 9, 4]);
    assert_eq!(d.run(&more("size_bytes = 16\n")).memories[&Space::Scatter], [0, 1, 0, 0]);
    let error = d.try_run(&job.replace("size_bytes = 48", "size_bytes = 16")).unwrap_err();
    assert_eq!(messages(&error), ["scatter has 24 bytes, `size_bytes` is 16"]);
    let error = d.try_run(&format!("{job}shape = [5, 5]\n")).unwrap_err();
    assert_eq!(messages(&error), ["the shape [5, 5] takes more than the 12 dwords of this memory"]);
    // Outside the memory is a fault that names the thread.
    let small = job.replace("size_bytes = 48\ndata = \"start.npy\"", "size_bytes = 16");
    let Err(JobError::Fault(fault)) = d.try_run(&small) else { panic!("a fault") };
    assert_eq!((fault.code, fault.position.unwrap().i), ("memory", 2));
    assert!(fault.report.source.is_some());
}

#[test]
fn threads_of_a_group_share_the_data_share() {
    let program = "ALU:\n x: SUB_INT R1.x, 127, R0.x\n y: MOV R1.y, 0.0f\n\n x: AND_INT R1.x, R1.x, 127\n\
         TEX:\n LOCAL_DS_WRITE LDS[0], R0.xxxx STRIDE(4) WAVE_REL\nTEX:\n LOCAL_DS_READ R2.xyzw, R1.xy OFFSET(0)\n\
         EXP_DONE: PIX0, R2.xyzw\nEND_OF_PROGRAM\n";
    let d = Dir::new("lds", &[("lds.csh", program)]);
    let job = "program = \"lds.csh\"\nstage = \"compute\"\ngroup_threads = 128\ndomain = [0, 0, 127, 1]\n\
               [[output]]\nslot = \"pix0\"\nformat = \"uint32_1\"\n";
    for group in ["16", "32", "64"] {
        let report = d.run(&format!("{job}[run]\ngroup = {group}\n"));
        let expected: Vec<u32> = (0..256).map(|t| (t & !127) | (127 - (t & 127))).collect();
        assert_eq!(bits(&report, "pix0"), expected);
    }
}

#[test]
fn vertices_go_through_rings_from_pass_to_pass() {
    let d = Dir::new(
        "chain",
        &[
            // A vertex: its number and its square, to the ring.
            (
                "a.vsh",
                "ALU:\n t: MULLO_INT R0.y, R0.x, R0.x\nMEM_RING: WRITE(0), R0.xy__ ELEM_SIZE(1) ARRAY_SIZE(1)\nNOP\nEND_OF_PROGRAM\n",
            ),
            // A point becomes two: itself and its negative, in strips of their own.
            (
                "b.gsh",
                "VTX:\n FETCH R1.xy__, R0.x, b3 FORMAT(32_32 INT)\nALU:\n x: SUB_INT R2.x, 0.0f, R1.x\n y: SUB_INT R2.y, 0.0f, R1.y\n\
                 MEM_RING: WRITE(0), R1.xy__ ELEM_SIZE(1) ARRAY_SIZE(1)\nEMIT_VERTEX\nCUT_VERTEX\n\
                 MEM_RING: WRITE(8), R2.xy__ ELEM_SIZE(1) ARRAY_SIZE(1)\nEMIT_VERTEX\nNOP\nEND_OF_PROGRAM\n",
            ),
            (
                "c.r700",
                ".stage copy\nVTX:\n FETCH R1.xy__, R0.x, b0 FORMAT(32_32 INT)\nEXP_DONE: POS0, R1.xy__\nEND_OF_PROGRAM\n",
            ),
        ],
    );
    let job = "domain = [0, 0, 4, 0]\nvertices = \"v.npy\"\n[[output]]\nslot = \"pos0\"\nformat = \"int32_2\"\nsave = \"p.npy\"\n\
        [[pass]]\nprogram = \"a.vsh\"\nstage = \"vertex\"\n[[pass.memory]]\nkind = \"ring\"\nsize_bytes = 40\nitem_dwords = 2\n\
        [[pass]]\nprogram = \"b.gsh\"\nstage = \"geometry\"\n[[pass.buffer]]\nslot = 3\nmemory = \"ring\"\nstride_bytes = 8\n\
        [[pass.memory]]\nkind = \"ring\"\nsize_bytes = 80\nitem_dwords = 4\n\
        [[pass]]\nprogram = \"c.r700\"\ndomain = [0, 0, 9, 0]\n[[pass.buffer]]\nslot = 0\nmemory = \"ring\"\nstride_bytes = 8\n";
    let report = d.run(job);
    let expected: Vec<u32> = (0..5u32).flat_map(|n| [n, n * n, n.wrapping_neg(), (n * n).wrapping_neg()]).collect();
    assert_eq!(bits(&report, "pos0"), expected);
    assert_eq!(d.items("p.npy").shape, [1, 10, 2]);
    let list = d.items("v.npy");
    assert_eq!(list.shape, [10, 4]);
    let mut rows: Vec<[u32; 4]> = list.dwords().as_chunks().0.to_vec();
    rows.sort_unstable();
    let expected: Vec<[u32; 4]> = (0..5).flat_map(|i| [[i, 0, 0, 0], [i, 0, 1, 1]]).collect();
    assert_eq!(rows, expected);
}

#[test]
fn outputs_become_textures_of_later_passes() {
    let d = Dir::new(
        "feedback",
        &[(
            "grow.psh",
            ".stage pixel\n.resource before t3\n.sampler near s2\n.const step KC0[1]\n\
             TEX:\n SAMPLE R1.xyzw, R0.xy__, before, near DENORM(XY)\nALU: KCACHE0(CB4:16-31)\n x: ADD R1.x, R1.x, step.x\n\
             EXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n",
        )],
    );
    d.save("zero.npy", 2, 2, 1, &[0.0, 10.0, 20.0, 30.0]);
    let job = "program = \"grow.psh\"\ndomain = [0, 0, 1, 1]\nrepeat = 3\n\
        [[register]]\nindex = 0\norigin = [0.5, 0.5, 0, 0]\ndi = [1, 0, 0, 0]\ndj = [0, 1, 0, 0]\n\
        [constants]\nfloat = { step = [2, 0, 0, 0] }\n\
        [[texture]]\nslot = \"before\"\nsampler = \"near\"\ndata = \"zero.npy\"\noutput = 0\n\
        [[output]]\nslot = 0\nformat = \"float32_1\"\n";
    assert_eq!(d.run(job).named("pix0").unwrap().to_f32(), [6.0, 16.0, 26.0, 36.0]);
    // A mask keeps the old values.
    let masked = format!("{}clear = [7, 7, 7, 7]\nmask = \"a\"\n", job.replace("float32_1", "float32_4"));
    let masked = d.run(&masked.replace("repeat = 3\n", "")).named("pix0").unwrap().to_f32();
    assert_eq!(masked[..4], [7.0, 7.0, 7.0, 1.0]);
    let error = d.try_run(&job.replace("slot = \"before\"", "slot = \"befor\"")).unwrap_err();
    assert!(error.to_string().contains("did you mean `before`?"), "{error}");
}

#[test]
fn semantic_fetches_find_their_registers() {
    let program = "VTX:\n SEMANTIC SEM[3].xyzw, R0.x, b7 FORMAT(8_8 INT)\n FETCH R2.xyzw, R0.x, b8\n\
        EXP: PARAM0, R5.xyzw\nEXP_DONE: PARAM1, R2.xyzw\nEND_OF_PROGRAM\n";
    let d = Dir::new("semantic", &[("v.vsh", program)]);
    std::fs::write(d.0.join("bytes.bin"), [1u8, 2, 3, 4]).unwrap();
    let job = "program = \"v.vsh\"\nstage = \"vertex\"\nsemantics = { 3 = \"R5\" }\ndomain = [0, 0, 1, 0]\n\
        [[buffer]]\nslot = 7\nstride_bytes = 2\ndata = \"bytes.bin\"\n\
        [[buffer]]\nslot = 8\nstride_bytes = 1\nformat = \"8 SCALED SIGNED\"\ndata = \"bytes.bin\"\n\
        [[output]]\nslot = \"param0\"\nformat = \"uint32_2\"\n[[output]]\nslot = \"param1\"\nformat = \"float32_1\"\n";
    let report = d.run(job);
    assert_eq!(bits(&report, "param0"), [1, 2, 3, 4]);
    assert_eq!(report.named("param1").unwrap().to_f32(), [1.0, 2.0]);
}

#[test]
fn what_is_missing_or_wrong_is_told_before_anything_runs() {
    let d = Dir::new(
        "missing",
        &[
            (
                "tex.psh",
                "TEX:\n SAMPLE R1.xyzw, R0.xy__, t18, s0\nVTX:\n FETCH R2.xyzw, R0.x, b5\nALU: KCACHE0(CB2:0-15)\n x: ADD R1.x, C9.x, KC0[0].x\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n",
            ),
            ("mem.csh", SCATTER),
            ("one.psh", "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n"),
            ("x.x1k", " mov o0, r0\n end\n"),
            ("words.hex", "00000000 80000000\n"),
        ],
    );
    d.save("five.npy", 1, 5, 1, &[0.0; 5]);
    let at = "domain = [0, 0, 1, 1]\n";
    #[rustfmt::skip]
    let cases: &[(&str, &[&str])] = &[
        ("program = \"tex.psh\"\n", &[
            "constant buffer 2, C9 are read and not given; they read 0",
            "the program reads texture 18, and it is not given",
            "the program fetches from buffer 5, and it is not given",
        ]),
        ("program = \"mem.csh\"\n", &["the program uses the scatter memory, and it is not given"]),
        ("program = \"mem.csh\"\n[[memory]]\nkind = \"scatter\"\n", &["the scatter memory has neither `size_bytes` nor `data`"]),
        ("program = \"one.psh\"\n[[output]]\nslot = \"pos0\"\nsave = \"a.npy\"\n", &["output pos0 is asked for, and the program exports pix0 only"]),
        ("program = \"one.psh\"\n[[output]]\nslot = 0\nformat = \"uint32_4\"\nsave = \"a.png\"\n", &["dir/a.png cannot be written so; known are .npy, .raw"]),
        ("program = \"one.psh\"\n[[output]]\nslot = 0\nsize = [1, 9]\n", &["output pix0 has 1 columns and 9 rows, and the domain reaches to (1, 1)"]),
        ("program = \"one.psh\"\n[program_info]\ngprs = 3\n", &["this program says itself what [program_info] is for: only bare words (.hex, .bin) need one"]),
        ("program = \"one.psh\"\n[constants]\nfloat = { a = [0, 0, 0, 0] }\n", &["the program has no constant `a`: it names none, and they go by number, c0 to c255"]),
        ("program = \"one.psh\"\n[[constant_buffer]]\nbank = 0\ndata = \"five.npy\"\n", &["dir/five.npy: it has 5 numbers, constants have four each"]),
        ("program = \"one.psh\"\n[[buffer]]\nslot = 0\nmemory = \"ring\"\n", &["buffer 0 is given, and the program does not fetch from it", "buffer 0 shows the ring memory, and no pass before this one has it"]),
        ("program = \"tex.psh\"\n[[texture]]\nslot = 18\nkind = \"3d\"\ndepth = 2\ndata = \"five.npy\"\n[[buffer]]\nslot = 5\nvalues = []\n", &[
            "constant buffer 2, C9 are read and not given; they read 0",
            "dir/five.npy has 1 rows, this texture has a multiple of 2",
        ]),
        ("isa = \"r700\"\nprogram = \"x.x1k\"\n", &["dir/x.x1k is no R700 program, and this is an R700 job"]),
        ("isa = \"x1k\"\nprogram = \"one.psh\"\n", &["dir/one.psh is an R700 program, and an X1K program is wanted; text (.x1k, .ps), words (.hex, .bin) and CTM executables (.elf) can be read"]),
        ("program = \"none.psh\"\n", &["the program dir/none.psh cannot be read: there is no such file"]),
    ];
    for (text, expected) in cases {
        let (first, rest) = text.split_once("program = ").unwrap();
        let job = format!("{first}{at}program = {rest}");
        let error = d.job(&job).and_then(|job| job.check().map(|_| ())).expect_err(text);
        let here = d.0.display().to_string();
        let found: Vec<String> =
            messages(&error).iter().map(|m| m.replace(&here, "dir").replace("dir\\", "dir/")).collect();
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn an_engine_that_does_not_run_r700_says_so() {
    struct Quiet;
    impl ctm_exec::Engine for Quiet {
        fn name(&self) -> &'static str {
            "quiet"
        }
        fn run_x1k_under(
            &self,
            _: &ctm_exec::Control,
            _: &ctm_exec::x1k::Launch<'_>,
            _: &mut dyn ctm_exec::x1k::Memory,
        ) -> Result<ctm_exec::Outcome, ctm_exec::Fault> {
            Ok(ctm_exec::Outcome::default())
        }
    }
    let program = ctm_isa::r700::Program::default();
    let constants = ctm_exec::r700::Constants::default();
    let domain = ctm_exec::Domain { i0: 0, j0: 0, i1: 0, j1: 0 };
    let launch = ctm_exec::r700::Launch::new(&program, &constants, domain);
    let fault = ctm_exec::Engine::run_r700(&Quiet, &launch, &mut ctm_exec::r700::Arrays::default()).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "not supported: the engine quiet does not run R700 programs (R700), at instruction 0"
    );
}

const NAMED_VERTEX: &str = "\
; $UNIFORM_VARS[0].name = \"matrix\"
; $UNIFORM_VARS[0].type = \"mat4\"
; $UNIFORM_VARS[0].offset = 8
; $ATTRIB_VARS[0].name = \"place\"
; $ATTRIB_VARS[0].location = 1
; $ATTRIB_VARS[1].name = \"tint\"
; $ATTRIB_VARS[1].location = 0
CALL_FS
ALU:
 0 x: ADD R1.x, R1.x, C2.x
   y: ADD R1.y, R2.x, C5.w
EXP_DONE: POS0, R1.xyzw
EXP_DONE: PARAM0, R2.xyzw
END_OF_PROGRAM
";

const NAMED_PIXEL: &str = "\
; $SAMPLER_VARS[0].name = \"picture\"
; $SAMPLER_VARS[0].location = 3
TEX:
 SAMPLE R0.xyzw, R0.xy__, t3, s3 DENORM(XY)
EXP_DONE: PIX0, R0.xyzw
END_OF_PROGRAM
";

/// Names of a container, or of a listing's settings, are bound by name; attributes are fetched as a host would.
#[test]
fn variables_of_containers_bind_by_name() {
    let d = Dir::new("named", &[("a.vsh", NAMED_VERTEX), ("a.psh", NAMED_PIXEL)]);
    d.save("places.npy", 1, 3, 4, &(0..12).map(|n| n as f32).collect::<Vec<_>>());
    d.save("tints.npy", 1, 3, 1, &[10.0, 20.0, 30.0]);
    d.save("picture.npy", 2, 2, 4, &(0..16).map(|n| n as f32).collect::<Vec<_>>());
    let load = |name: &str| ctm::r700::Loaded::from_file(&d.0.join(name), None, None, &Default::default()).unwrap();
    let (vertex, pixel) = (load("a.vsh"), load("a.psh"));
    let both = ctm::r700::write_gfd(&[&vertex, &pixel]).unwrap();
    std::fs::write(d.0.join("a.gsh"), both).unwrap();
    for program in ["program = \"a.vsh\"\n", "program = \"a.gsh\"\nwhich = \"vertex\"\n"] {
        let report = d.run(&format!(
            "{program}domain = [0, 0, 2, 0]\n[constants]\nfloat = {{ matrix = [0.5, 0, 0, 0], \"matrix.3\" = [0, 0, 0, 0.25] }}\n\
             [[buffer]]\nslot = \"place\"\nstride_bytes = 16\nformat = \"32_32_32_32_FLOAT\"\ndata = \"places.npy\"\n\
             [[buffer]]\nslot = \"tint\"\nstride_bytes = 4\nformat = \"32_FLOAT\"\ndata = \"tints.npy\"\n\
             [[output]]\nslot = \"pos0\"\nformat = \"float32_2\"\n[[output]]\nslot = \"param0\"\nformat = \"float32_1\"\n"
        ));
        assert_eq!(report.named("pos0").unwrap().to_f32(), [0.5, 10.25, 4.5, 20.25, 8.5, 30.25], "{program}");
        assert_eq!(report.named("param0").unwrap().to_f32(), [10.0, 20.0, 30.0], "{program}");
    }
    // A matrix as a whole: its columns, in order or as rows of the list.
    let rest = "domain = [0, 0, 2, 0]\n[[buffer]]\nslot = \"place\"\nstride_bytes = 16\nformat = \"32_32_32_32_FLOAT\"\ndata = \"places.npy\"\n\
        [[buffer]]\nslot = \"tint\"\nstride_bytes = 4\nformat = \"32_FLOAT\"\ndata = \"tints.npy\"\n\
        [[output]]\nslot = \"pos0\"\nformat = \"float32_2\"\n";
    for matrix in [
        "[0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.25]",
        "[[0.5, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0.25]]",
    ] {
        let report = d.run(&format!(
            "program = \"a.gsh\"\nwhich = \"vertex\"\n{rest}[constants]\nfloat = {{ matrix = {matrix} }}\n"
        ));
        assert_eq!(report.named("pos0").unwrap().to_f32(), [0.5, 10.25, 4.5, 20.25, 8.5, 30.25], "{matrix}");
    }
    let error = d
        .try_run(&format!("program = \"a.vsh\"\n{rest}[constants]\nfloat = {{ matrix = [1, 2, 3, 4, 5, 6, 7, 8] }}\n"))
        .unwrap_err();
    assert!(
        messages(&error)[0].contains("`matrix` is mat4x4 and takes 16 numbers, column by column; 8 are given"),
        "{error}"
    );
    for program in ["program = \"a.psh\"\n", "program = \"a.gsh\"\nwhich = \"pixel\"\n"] {
        let report = d.run(&format!(
            "{program}domain = [0, 0, 1, 1]\n[[texture]]\nslot = \"picture\"\ndata = \"picture.npy\"\n\
             [[output]]\nslot = \"pix0\"\nformat = \"float32_1\"\n"
        ));
        assert_eq!(report.named("pix0").unwrap().to_f32(), [0.0, 4.0, 8.0, 12.0], "{program}");
    }
}

/// Uniforms of a block lie in the constant buffer that the block names.
#[test]
fn uniforms_of_blocks_bind_by_name() {
    let source = "\
; $UNIFORM_BLOCKS[0].name = \"view\"
; $UNIFORM_BLOCKS[0].offset = 2
; $UNIFORM_BLOCKS[0].size = 80
; $UNIFORM_VARS[0].name = \"scale\"
; $UNIFORM_VARS[0].type = \"vec4\"
; $UNIFORM_VARS[0].block = 0
; $UNIFORM_VARS[0].offset = 0
; $UNIFORM_VARS[1].name = \"turn\"
; $UNIFORM_VARS[1].type = \"mat4\"
; $UNIFORM_VARS[1].block = 0
; $UNIFORM_VARS[1].offset = 4
ALU: KCACHE0(CB2:0-15)
 0 x: ADD R0.x, KC0[0].x, KC0[4].w
EXP_DONE: PIX0, R0.xxxx
END_OF_PROGRAM
";
    let d = Dir::new("blocks", &[("a.psh", source)]);
    let turn = "turn = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]";
    let job = format!(
        "program = \"a.psh\"\ndomain = [0, 0, 0, 0]\n[constants]\nfloat = {{ scale = [10, 0, 0, 0], {turn} }}\n\
         [[output]]\nslot = \"pix0\"\nformat = \"float32_1\"\n"
    );
    assert_eq!(d.run(&job).named("pix0").unwrap().to_f32(), [17.0]);
}

/// R700 §9.4, SAMPLE_C: "the reference value is converted to the source format before the compare": to the nearest fraction of 8 or 16 bits, clamped
/// to
/// 0 and 1; floats stay as they are.
#[test]
fn references_are_compared_in_the_format_of_the_texture() {
    let d = Dir::new("references", &[]);
    let array = |values: Values| Array { height: 1, width: 1, channels: 1, values };
    let save = |name: &str, kind: ArrayFileKind, values: Values| {
        std::fs::write(d.0.join(name), array(values).to_bytes(kind).unwrap()).unwrap();
    };
    save("byte.png", ArrayFileKind::Png, Values::U8(vec![77]));
    save("white.png", ArrayFileKind::Png, Values::U8(vec![255]));
    save("float.npy", ArrayFileKind::Npy, Values::F32(vec![1.0]));
    std::fs::write(d.0.join("bytes.raw"), [77, 0, 0, 255]).unwrap();
    std::fs::write(d.0.join("word.raw"), 30000_u16.to_le_bytes()).unwrap();
    let word = "format = \"uint16_1\"\nsize = [1, 1]\n";
    let raw = "format = \"uint8_4\"\nsize = [1, 1]\n";
    for (data, more, compare, reference, expected) in [
        ("byte.png", "", "equal", 0.300_781_25_f32, 1.0),
        ("byte.png", "", "less", 0.300_781_25, 0.0),
        ("byte.png", "", "equal", 0.304, 0.0),
        ("bytes.raw", raw, "equal", 0.300_781_25, 1.0),
        ("white.png", "", "less_equal", 1.5, 1.0),
        ("word.raw", word, "equal", 30000.3 / 65535.0, 1.0),
        ("word.raw", word, "equal", 30000.7 / 65535.0, 0.0),
        ("float.npy", "", "less_equal", 1.5, 0.0),
        ("float.npy", "", "less_equal", 1.0, 1.0),
    ] {
        let program = format!(
            "ALU:\n x: MOV R1.x, 0.0f\n y: MOV R1.y, 0.0f\n z: MOV R1.z, 0.0f\n w: MOV R1.w, ({:#010x}, {reference:?}f)\n\
            TEX:\n SAMPLE_C_LZ R0.xyzw, R1.xyzw, t0, s0\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n",
            reference.to_bits()
        );
        std::fs::write(d.0.join("compare.r700"), program).unwrap();
        for engine in ["interp", "jit"] {
            let job = format!(
                "program = \"compare.r700\"\ndomain = [0, 0, 0, 0]\n[[texture]]\nslot = 0\ndata = \"{data}\"\n\
                compare = \"{compare}\"\n{more}[[output]]\nslot = 0\n[run]\nengine = \"{engine}\"\n"
            );
            let found = d.run(&job).named("pix0").unwrap().to_f32();
            assert_eq!(found[0], expected, "{engine}: {reference} {compare} the texel of {data}");
        }
    }
}
