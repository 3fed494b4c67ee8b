//! Small programs whose results the manual states, or known programs rely on, by every back end and by the reference
//! interpreter.
#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_exec::arrays::Picture;
use ctm_exec::r700::resources::BufferData;
use ctm_exec::r700::{Arrays, Constants, Launch, LoopConstant, Plane, Space, Target};
use ctm_exec::{Domain, Engine, Interp};
use ctm_isa::r700::Program;
use ctm_isa::r700::program::Stage;
use ctm_isa::r700::text::{TextOptions, assemble};
use ctm_jit::{Backend, Jit};
use ctm_verify::Verify;

/// The value of elements that no export writes.
const UNTOUCHED: u32 = 0xdead_beef;

/// R0 = (i, j, 0, 0) as integers.
const PLACE: Plane =
    Plane { temp: 0, origin: [0.0; 4], di: [1.0, 0.0, 0.0, 0.0], dj: [0.0, 1.0, 0.0, 0.0], bits: true };

fn text(source: &str) -> Program {
    let assembly = assemble(source, &TextOptions::default());
    assembly.program.unwrap_or_else(|| panic!("{source}\n{:#?}", assembly.diagnostics))
}

/// A launch that every engine runs alike.
struct Case<'a> {
    source: &'a str,
    stage: Stage,
    columns: u32,
    constants: Constants,
    memory: Arrays,
    dx10_clamp: bool,
    group_threads: u32,
}

impl<'a> Case<'a> {
    fn new(source: &'a str, stage: Stage, columns: u32) -> Self {
        let mut memory = Arrays::default();
        let rows = 2;
        let blank = Picture { width: columns, height: rows, elements: vec![[UNTOUCHED; 4]; (columns * rows) as usize] };
        memory.targets.insert(Target::Pixel(0), blank);
        Self { source, stage, columns, constants: Constants::default(), memory, dx10_clamp: true, group_threads: 0 }
    }

    /// The memory afterwards, the same from each engine.
    fn run(&self) -> Arrays {
        let program = text(self.source);
        let domain = Domain { i0: 0, j0: 0, i1: self.columns - 1, j1: 1 };
        let launch = Launch {
            stage: self.stage,
            planes: &[PLACE],
            dx10_clamp: self.dx10_clamp,
            group_threads: self.group_threads,
            ..Launch::new(&program, &self.constants, domain)
        };
        let mut expected = self.memory.clone();
        let outcome =
            Interp.run_r700(&launch, &mut expected).unwrap_or_else(|fault| panic!("{fault}\n{}", self.source));
        for backend in Backend::available() {
            let mut found = self.memory.clone();
            let other = Jit::with_backend(backend).run_r700(&launch, &mut found).unwrap();
            assert_eq!(other.counters, outcome.counters, "{backend}\n{}", self.source);
            assert_eq!(
                (&found.targets, &found.spaces),
                (&expected.targets, &expected.spaces),
                "{backend}\n{}",
                self.source
            );
            let verify = Verify::new(Jit::with_backend(backend));
            for lends_nothing in [false, true] {
                let mut memory = Arrays { lends_nothing, ..self.memory.clone() };
                let (result, difference) = verify.compare_r700(&launch, &mut memory);
                assert!(result.is_ok() && difference.is_none(), "{backend}: {difference:?}\n{}", self.source);
            }
        }
        expected
    }

    /// An element of pixel export 0 of row 0.
    fn row(&self, element: usize) -> Vec<u32> {
        let picture = &self.run().targets[&Target::Pixel(0)];
        (0..self.columns).map(|i| picture.get(i, 0).unwrap()[element]).collect()
    }
}

/// An export whose elements are all masked counts as done and stores nothing; so does a program without exports.
#[test]
fn masked_exports_store_nothing() {
    for (source, stage) in [
        ("EXP_DONE: PIX0, R0.____\nEND_OF_PROGRAM\n", Stage::Pixel),
        ("ALU:\n x: KILLE ____, R0.x, 1\nEXP_DONE: PIX0, R0.____\nEND_OF_PROGRAM\n", Stage::Pixel),
        ("NOP\nEND_OF_PROGRAM\n", Stage::Geometry),
        ("EXP: PIX0, R0.____\nEXP_DONE: PIX1, R0.____ BURSTCNT(2)\nEND_OF_PROGRAM\n", Stage::Pixel),
    ] {
        assert_eq!(Case::new(source, stage, 4).row(0), [UNTOUCHED; 4], "{source}");
    }
    // Masked here, stored there.
    let both = "EXP: PIX1, R0.____\nEXP_DONE: PIX0, R0.x___\nEND_OF_PROGRAM\n";
    assert_eq!(Case::new(both, Stage::Pixel, 4).row(0), [0, 1, 2, 3]);
}

/// A pixel dies if any of the kills of a group says so; the instructions of a group act by the element they write, in
/// any order.
#[test]
fn groups_as_drivers_write_them() {
    let kills = "ALU:\n x: KILLE_INT ____, R0.x, 0\n y: KILLE_INT ____, R0.x, 1\n z: KILLE_INT ____, R0.y, 7\n \
                 w: KILLE_INT ____, R0.x, (0x00000003, 4.2e-45f).x\nEXP_DONE: PIX0, R0.x___\nEND_OF_PROGRAM\n";
    assert_eq!(Case::new(kills, Stage::Pixel, 5).row(0), [UNTOUCHED, UNTOUCHED, 2, UNTOUCHED, 4]);
    let order = "ALU:\n x: MOV R1.x, R0.x\n y: MOV R1.y, 1\n w: MOV R1.w, -1\n z: MOV R1.z, R0.x\nALU:\n x: MOV R2.x, R1.z\n \
                 y: MOV R2.y, R1.w\nEXP_DONE: PIX0, R2.xy__\nEND_OF_PROGRAM\n";
    let case = Case::new(order, Stage::Pixel, 2);
    assert_eq!((case.row(0), case.row(1)), (vec![0, 1], vec![u32::MAX; 2]));
}

/// VALID_PIXEL_MODE on an instruction that pops: restoring the state does not revive killed pixels (R700 §3.6.2).
#[test]
fn invalid_pixels_stay_out_after_pops() {
    // Killed pixels store nothing, so the counters show which lanes are active.
    let active = |source: &str| {
        let program = text(source);
        let mut constants = Constants::default();
        constants.loops[0].count = 1;
        let launch =
            Launch { planes: &[PLACE], ..Launch::new(&program, &constants, Domain { i0: 0, j0: 0, i1: 3, j1: 1 }) };
        let mut counted = vec![Interp.run_r700(&launch, &mut Arrays::default()).unwrap().counters.active_lanes];
        for backend in Backend::available() {
            let outcome = Jit::with_backend(backend).run_r700(&launch, &mut Arrays::default()).unwrap();
            counted.push(outcome.counters.active_lanes);
        }
        assert!(counted.iter().all(|&n| n == counted[0]), "{counted:?}\n{source}");
        counted[0]
    };
    let kill = "ALU:\n x: KILLE_INT ____, R0.x, 1\n";
    for (name, source) in [
        ("POP", format!("PUSH ADDR(out)\n{kill}out:\nPOP POP_CNT(1) MODE ADDR(0)\n")),
        ("POP_JUMP", format!("PUSH ADDR(out)\n{kill}out:\nPOP_JUMP POP_CNT(1) MODE ADDR(end)\n")),
        ("POP_PUSH", format!("PUSH ADDR(out)\n{kill}out:\nPOP_PUSH POP_CNT(1) MODE ADDR(end)\n")),
        ("JUMP", format!("PUSH ADDR(out)\n{kill}out:\nJUMP POP_CNT(1) CND(FALSE) MODE ADDR(end)\n")),
        ("PUSH", format!("PUSH ADDR(out)\n{kill}out:\nPUSH POP_CNT(1) CND(FALSE) MODE ADDR(end)\n")),
        ("ELSE", format!("PUSH ADDR(out)\n{kill}out:\nELSE POP_CNT(1) MODE ADDR(end)\n")),
        (
            "LOOP_START_DX10",
            format!("PUSH ADDR(out)\n{kill}out:\nLOOP_START_DX10 POP_CNT(1) CND(FALSE) MODE ADDR(end)\n"),
        ),
        ("POP_PUSH_ELSE", format!("PUSH ADDR(out)\n{kill}out:\nPOP_PUSH_ELSE POP_CNT(1) CND(FALSE) MODE ADDR(end)\n")),
        ("LOOP_START", format!("PUSH ADDR(out)\n{kill}out:\nLOOP_START POP_CNT(1) CND(FALSE) MODE ADDR(end)\n")),
        (
            "LOOP_START_NO_AL",
            format!("PUSH ADDR(out)\n{kill}out:\nLOOP_START_NO_AL POP_CNT(1) CND(FALSE) MODE ADDR(end)\n"),
        ),
        ("LOOP_END", format!("LOOP_START_NO_AL ADDR(out)\n{kill}LOOP_END MODE ADDR(0)\nout:\n")),
    ] {
        let rest = "NOP\nend:\nNOP\nNOP\nNOP\nEXP_DONE: PIX0, R0.x___\nEND_OF_PROGRAM\n";
        let [without, with] = ["", "VALID_PIX"].map(|mode| active(&(source.replace("MODE", mode) + rest)));
        assert!(with < without, "{name}: {with} lanes with the mode, {without} without");
    }
}

/// A constant at the loop index, of lines that are locked by the loop index: the index counts once (R700 §10.1,
/// §4.6.1).
#[test]
fn constants_locked_by_the_loop_index() {
    let source = "LOOP_START CF_CONST(0) ADDR(out)\nALU: KCACHE0(CB2:AL+0-AL+31)\n x: MOV R[AL+0].x, KC0[AL+1].x\n \
                  y: MOV R[AL+0].y, KC0[2].x\nLOOP_END ADDR(1)\nout:\nALU:\n x: MOV R0.x, R21.x\n y: MOV R0.y, R21.y\n \
                  z: MOV R0.z, R37.y\nEXP_DONE: PIX0, R0.xyz_\nEND_OF_PROGRAM\n";
    let mut case = Case::new(source, Stage::Pixel, 2);
    // aL is 21, then 37.
    case.constants.loops[0] = LoopConstant { count: 2, start: 21, step: 16 };
    case.memory.bind_constants(2, None, (0..128).map(|n| [n; 4]).collect());
    // Constant 21 + 1 is number 22 of the buffer; KC0[2] is number 2 of the window, which begins at line aL / 16.
    assert_eq!((case.row(0)[0], case.row(1)[0], case.row(2)[0]), (22, 18, 34));
}

/// Counters of lanes that leave a loop one after the other, from start values that adding 0 would change: -0, a
/// denormal, a NaN that is not the canonical one; and sums that are denormals.
#[test]
fn lanes_that_left_keep_what_they_counted() {
    for (addend, others) in
        [("1.0f", "(0x00A00000, 1.5e-38f).y"), ("(0xBF800000, -1.0f).x", "(0x80A00000, -1.5e-38f).y")]
    {
        for first in ["0x00000000", "0x80000000", "0x80000001", "0x7FA00001", "0x80900000"] {
            let source = format!(
                "ALU:\n x: MOV R1.x, ({first}, 0.0f).x\n y: MOV R1.y, 0.0f\n z: MOV R1.z, ({first}, 0.0f).x\n w: MOV R1.w, 1.0f\n \
                 t: INT_TO_FLT R2.x, R0.x\nLOOP_START i0 FAIL_JUMP_ADDR(done)\nturn:\nALU_BREAK:\n \
                 x: PRED_SETGT ____, R2.x, 0.0f UPDATE_EXEC_MASK UPDATE_PRED\nALU:\n 0 x: ADD R1.x, R1.x, {addend}\n \
                 1 y: ADD R1.y, R1.y, {addend}\n 2 z: ADD R1.z, R1.z, {others}\n 3 w: ADD R1.w, R1.w, {others}\n \
                 4 x: ADD R2.x, R2.x, -1.0f\nLOOP_END i0 PASS_JUMP_ADDR(turn)\ndone:\nEXP_DONE: PIX0, R1\nEND_OF_PROGRAM\n"
            );
            let mut case = Case::new(&source, Stage::Pixel, 40);
            case.constants.loops[0] = LoopConstant { count: 20, start: 0, step: 0 };
            let counted = |column: usize| f32::from_bits(case.row(1)[column]).abs();
            assert_eq!([0, 1, 19, 30].map(counted), [0.0, 1.0, 19.0, 20.0], "{source}");
        }
    }
}

/// Indices of memory reads and of scatter are signed (R700 §7.1).
#[test]
fn negative_indices() {
    let scatter = "ALU:\n x: SUB_INT R1.x, R0.x, (0x00000003, 4.2e-45f).x\n\
                   MEM_EXPORT: WRITE(32 + R1), R0.x___ ARRAY_SIZE(0) ELEM_SIZE(0)\nEXP_DONE: PIX0, R0.x___\nEND_OF_PROGRAM\n";
    let mut case = Case::new(scatter, Stage::Vertex, 4);
    case.memory.spaces.insert(Space::Scatter, vec![99; 16]);
    let memory = case.run();
    // The second row of threads writes the same numbers.
    assert_eq!(memory.spaces[&Space::Scatter][4..10], [99, 0, 1, 2, 3, 99]);
    // A negative index of an array reads its first element.
    let reads = "ALU:\n x: SUB_INT R1.x, R0.x, (0x00000002, 2.8e-45f).x\n\
                 MEM_SCRATCH: WRITE(0), R1.xyzw ARRAY_SIZE(3)\nVTX:\n \
                 RD_SCRATCH R2.x___, READ(0 + R1.x) ARRAY_SIZE(3) ELEM_SIZE(3) FORMAT(32_32_32_32 INT)\n\
                 EXP_DONE: PIX0, R2.x___\nEND_OF_PROGRAM\n";
    // Element 0 holds the index itself; the others are zeros.
    assert_eq!(Case::new(reads, Stage::Pixel, 4).row(0), [-2i32 as u32, u32::MAX, 0, 0]);
}

/// Items of buffers lie as far apart as the buffer's stride, only whole ones are read, and those outside are zeros.
#[test]
fn items_of_every_size_and_distance() {
    let formats = [
        ("32_FLOAT", [0, 0x3f80_0000]),
        ("32_32_FLOAT", [1, 0x3f80_0000]),
        ("32_32_32_FLOAT", [2, 0x3f80_0000]),
        ("32_32_32_32_FLOAT", [3, 0]),
    ];
    for ((format, [last, one]), stride) in formats.into_iter().flat_map(|f| [0, 4, 16, 20, 32, 48].map(|s| (f, s))) {
        let fetch = format!(
            "ALU:\n x: SUB_INT R1.x, R0.x, (0x00000004, 5.6e-45f).x\nVTX:\n \
             FETCH R1.xyzw, R1.x, b3 FETCH_TYPE(NO_INDEX_OFFSET) FORMAT({format} SCALED SIGNED) MEGA(17) OFFSET(4)\n\
             EXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n"
        );
        let mut case = Case::new(&fetch, Stage::Pixel, 40);
        let count = 121u32;
        let bytes = (1..=count).flat_map(u32::to_le_bytes).collect();
        case.memory.buffers.insert(3, BufferData { stride_bytes: stride, bytes, ..BufferData::default() });
        let expected = |lane: u32, element: u32| {
            let item = if stride == 0 { Some(0) } else { lane.checked_sub(4) };
            let first = item.map(|item| item * stride / 4 + 1);
            match first.filter(|first| first + last < count) {
                Some(first) if element <= last => first + element + 1,
                Some(_) if element == 3 => one,
                _ => 0,
            }
        };
        for element in 0..4 {
            let found = case.row(element as usize);
            assert_eq!(found, (0..40).map(|lane| expected(lane, element)).collect::<Vec<_>>(), "{format}, {stride}");
        }
    }
}

/// Thread groups share no data share with others, for any group size (R700 §2.6.2).
#[test]
fn small_thread_groups_have_a_data_share_of_their_own() {
    // Each thread writes its number to dword 0 of its place in its group; all read the first thread's dword of their
    // group.
    let source = "ALU:\n x: MOV R1.x, 0\n y: MOV R1.y, 0\nTEX:\n LOCAL_DS_WRITE LDS[0], R0.xxxx STRIDE(4) WAVE_REL\n \
                  LOCAL_DS_READ R2.x___, R1.xy OFFSET(0)\nEXP_DONE: PIX0, R2.x___\nEND_OF_PROGRAM\n";
    for group in [1u32, 4, 16, 40, 64] {
        let mut case = Case::new(source, Stage::Compute, 160);
        case.group_threads = group;
        let first: Vec<u32> = (0..160).map(|i| i / group * group).collect();
        assert_eq!(case.row(0), first, "groups of {group}");
    }
}

/// DX10_CLAMP: a clamped NaN is 0, or stays a NaN.
#[test]
fn clamped_nans() {
    let source = "ALU:\n x: MUL_IEEE R1.x, 0.0f, (0x7F800000, 1.0f).x CLAMP\n y: MOV R1.y, (0xC0000000, 0.0f).y CLAMP\n\
                  EXP_DONE: PIX0, R1.xy__\nEND_OF_PROGRAM\n";
    for (dx10_clamp, expected) in [(true, 0), (false, 0x7fff_ffff)] {
        let mut case = Case::new(source, Stage::Pixel, 2);
        case.dx10_clamp = dx10_clamp;
        assert_eq!((case.row(0)[0], case.row(1)[0]), (expected, 0));
    }
    // A setting of the listing.
    let program = text(&format!("; $SQ_PGM_RESOURCES_PS.DX10_CLAMP = 0\n{source}"));
    assert_eq!(program.dx10_clamp(), Some(false));
    assert!(!Launch::new(&program, &Constants::default(), Domain { i0: 0, j0: 0, i1: 0, j1: 0 }).dx10_clamp);
}

/// Two 64-bit comparisons of a group: both give their results, and the one in z and w decides which pixels go on (R700
/// §9.2).
#[test]
fn two_comparisons_of_doubles_in_a_group() {
    let half = |[low, high]: [&str; 2], number: &str, bits: &str| {
        format!(
            " {low}: PRED_SETE_64 R4.{low}, R1.y, {number} {bits}\n {high}: PRED_SETE_64 R4.{high}, R1.x, 0.0f {bits}\n"
        )
    };
    // Pixel i has the double 1 + i * 2^-20; the comparisons are with those of pixels 1 and 2.
    for (bits, expected) in [("UPDATE_EXEC_MASK UPDATE_PRED", [0, 0, 7, 0]), ("", [7, 7, 7, 7])] {
        let source = format!(
            "ALU:\n x: MOV R1.x, 0\n y: ADD_INT R1.y, R0.x, (0x3FF00000, 1.875f).x\n\
             ALU_PUSH_BEFORE:\n{}{}JUMP POP_CNT(1) ADDR(on)\nALU:\n x: MOV R3.x, (0x00000007, 9.8e-45f).x\nPOP POP_CNT(1) ADDR(on)\n\
             on:\nEXP_DONE: PIX0, R3.x___\nEND_OF_PROGRAM\n",
            half(["x", "y"], "(0x3FF00001, 1.8750001f).x", bits),
            half(["z", "w"], "(0x3FF00002, 1.8750002f).y", bits),
        );
        assert_eq!(Case::new(&source, Stage::Pixel, 4).row(0), expected, "{source}");
    }
}
