//! Findings of checked runs of R700 programs: every rule with a program that breaks it, and programs that break none.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::r700::checks::RULES;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::{BufferData, Image, TextureKind};
use ctm_exec::r700::{Arrays, Constants, Launch, Plane, Sampler, Space, Texture};
use ctm_exec::{Domain, Engine, Finding, Interp};
use ctm_isa::r700::program::Stage;
use ctm_isa::r700::text::{TextOptions, assemble};
use std::collections::BTreeSet;

/// R0.x = i as an integer.
const THREAD: Plane = Plane { temp: 0, origin: [0.0; 4], di: [1.0, 0.0, 0.0, 0.0], dj: [0.0; 4], bits: true };

fn memory() -> Arrays {
    let mut memory = Arrays::default();
    memory.spaces.insert(Space::Scatter, vec![0; 256]);
    memory.spaces.insert(Space::Ring, vec![0; 256]);
    memory.bind_constants(0, None, vec![[0; 4]; 64]);
    memory.buffers.insert(1, BufferData { stride_bytes: 4, format: Format::default(), bytes: vec![0; 16] });
    let texture = Texture { kind: TextureKind::TwoD, width: 4, height: 4, depth: 1, levels: 1, ..Default::default() };
    memory.textures.insert(0, Image { texture, levels: vec![[0; 4]; 16].into() });
    memory.samplers.insert(0, Sampler::default());
    memory
}

/// The findings of a program over columns x 2 pixels, or x 1 threads, and that its results are those of an unchecked run.
fn findings(source: &str, stage: Stage, columns: u32) -> Vec<Finding> {
    let assembly = assemble(source, &TextOptions::default());
    let mut program = assembly.program.unwrap_or_else(|| panic!("{source}\n{:?}", assembly.diagnostics));
    if source.contains("; no stack") {
        program.stack = 0;
    }
    let mut constants = Constants::default();
    constants.loops[0] = ctm_exec::r700::LoopConstant { count: 2, start: 100, step: 1 };
    let rows = if stage == Stage::Pixel { 2 } else { 1 };
    let domain = Domain { i0: 0, j0: 0, i1: columns - 1, j1: rows - 1 };
    let launch = Launch { stage, planes: &[THREAD], checks: true, ..Launch::new(&program, &constants, domain) };
    let (mut checked, mut plain) = (memory(), memory());
    let outcome = Interp.run_r700(&launch, &mut checked).unwrap();
    let unchecked = Interp.run_r700(&Launch { checks: false, ..launch }, &mut plain).unwrap();
    assert_eq!((outcome.counters, checked.spaces), (unchecked.counters, plain.spaces));
    assert!(unchecked.findings.is_empty());
    outcome.findings
}

/// Rule, stage, columns, program, and the message.
const CASES: &[(&str, Stage, u32, &str, &str)] = &[
    (
        "uninitialised-register",
        Stage::Pixel,
        2,
        "ALU:\n x: MOV R1.x, R2.y\nEXP_DONE: PIX0, R1.x___\nEND_OF_PROGRAM\n",
        "R2.y is read, and nothing has written it",
    ),
    (
        "uninitialised-register",
        Stage::Pixel,
        2,
        "EXP_DONE: PIX0, R0.xyzw\nEXP_DONE: PIX1, R1.x_z_\nEND_OF_PROGRAM\n",
        "R1.xz is read, and nothing has written it",
    ),
    (
        "uninitialised-register",
        Stage::Pixel,
        2,
        "ALU:\n x: MOV R124.x, R0.x\nALU:\n x: MOV R1.x, R124.x\nEXP_DONE: PIX0, R1.x___\nEND_OF_PROGRAM\n",
        "R124.x is read, and nothing has written it",
    ),
    (
        "undefined-address-register",
        Stage::Pixel,
        2,
        "ALU:\n x: MOV R1.x, C[AR.y+3].x\nEXP_DONE: PIX0, R1.x___\nEND_OF_PROGRAM\n",
        "AR.y is an index, and no MOVA of the clause has set it",
    ),
    (
        "undefined-previous-result",
        Stage::Pixel,
        2,
        "ALU:\n 0 x: MOV R1.x, R0.x\n 1 y: MOV R1.y, PV.z\nEXP_DONE: PIX0, R1.x___\nEND_OF_PROGRAM\n",
        "PV.z is read, and the group before gave no result there",
    ),
    (
        "loop-index-outside-loop",
        Stage::Pixel,
        2,
        "ALU:\n x: MOV R1.x, C[AL].x\nEXP_DONE: PIX0, R1.x___\nEND_OF_PROGRAM\n",
        "the loop index is used where no loop has one",
    ),
    (
        "register-out-of-bounds",
        Stage::Pixel,
        2,
        "LOOP_START CF_CONST(0) ADDR(end)\nbody:\nALU:\n x: MOV R1.x, R[AL].x\nLOOP_END CF_CONST(0) ADDR(body)\nend:\nEXP_DONE: PIX0, R1.x___\nEND_OF_PROGRAM\n",
        "R[0+100] is read, the program has R0 to R1; it reads R0",
    ),
    (
        "register-out-of-bounds",
        Stage::Pixel,
        2,
        "LOOP_START CF_CONST(0) ADDR(end)\nbody:\nALU:\n x: MOV R[1+AL].x, R0.x\nLOOP_END CF_CONST(0) ADDR(body)\nend:\nEXP_DONE: PIX0, R0.x___\nEND_OF_PROGRAM\n",
        "R[1+100] is written, the program has R0 to R1; the write is lost",
    ),
    (
        "constant-out-of-bounds",
        Stage::Pixel,
        2,
        "LOOP_START CF_CONST(0) ADDR(end)\nbody:\nALU:\n x: MOV R1.x, C[AL+200].x\nLOOP_END CF_CONST(0) ADDR(body)\nend:\nEXP_DONE: PIX0, R1.x___\nEND_OF_PROGRAM\n",
        "C[200+100] is read, there are C0..C255",
    ),
    (
        "unlocked-constant",
        Stage::Pixel,
        2,
        "ALU: KCACHE0(CB0:0-15)\n x: MOV R1.x, KC0[16].x\nEXP_DONE: PIX0, R1.x___\nEND_OF_PROGRAM\n",
        "set 0 of locked constants has 16, and the address is Some(16) there",
    ),
    (
        "fetch-out-of-bounds",
        Stage::Vertex,
        6,
        "VTX:\n FETCH R1.x___, R0.x, b1 FORMAT(32 INT)\nEXP_DONE: POS0, R1.x___\nEND_OF_PROGRAM\n",
        "index 4 lies outside buffer 1; 0 is read",
    ),
    (
        "fetch-out-of-bounds",
        Stage::Pixel,
        6,
        "TEX:\n LD R1.x___, R0.x000, t0, s0\nEXP_DONE: PIX0, R1.x___\nEND_OF_PROGRAM\n",
        "the texture has no texel (4, 0, 0) in level 0; 0 is read",
    ),
    (
        "unbound-sampler",
        Stage::Pixel,
        2,
        "TEX:\n SAMPLE_LZ R1.x___, R0.xxxx, t0, s3\nEXP_DONE: PIX0, R1.x___\nEND_OF_PROGRAM\n",
        "nothing is bound as sampler 3",
    ),
    (
        "unknown-semantic",
        Stage::Vertex,
        2,
        "VTX:\n SEMANTIC SEM[9].x___, R0.x, b1 FORMAT(32 INT)\nEXP_DONE: POS0, R0.x___\nEND_OF_PROGRAM\n",
        "the semantic table has no identifier 9",
    ),
    (
        "divergent-gradient",
        Stage::Pixel,
        2,
        "ALU_PUSH_BEFORE:\n x: PRED_SETE_INT ____, R0.x, 0.0f UPDATE_EXEC_MASK UPDATE_PRED\nTEX:\n SAMPLE R1.x___, R0.xxxx, t0, s0\nPOP POP_CNT(1)\nEXP_DONE: PIX0, R0.x___\nEND_OF_PROGRAM\n",
        "2 of the 4 pixels of the quad execute the fetch",
    ),
    (
        "data-share-out-of-bounds",
        Stage::Compute,
        2,
        "TEX:\n LOCAL_DS_READ R1.x___, R0.01 OFFSET(4)\nMEM_EXPORT: WRITE(0 + R0), R0.x___ ARRAY_SIZE(0)\nEND_OF_PROGRAM\n",
        "dword 1065353220 of a bank is read, a bank has 1024",
    ),
    (
        "uninitialised-data-share",
        Stage::Compute,
        2,
        "TEX:\n LOCAL_DS_READ R1.x___, R0.00\nMEM_EXPORT: WRITE(0 + R0), R0.x___ ARRAY_SIZE(0)\nEND_OF_PROGRAM\n",
        "no thread of the group has written dword 0 of the local data share",
    ),
    (
        "racing-writes",
        Stage::Compute,
        2,
        "MEM_EXPORT: WRITE(12), R0.x___ ARRAY_SIZE(0)\nNOP\nEND_OF_PROGRAM\n",
        "another thread has written dword 3 of scatter memory too",
    ),
    (
        "unflushed-read",
        Stage::Compute,
        2,
        "MEM_EXPORT: WRITE(0 + R0), R0.x___ ARRAY_SIZE(0)\nVTX:\n RD_SCRATCH R2.x___, READ(0) ARRAY_SIZE(0) FORMAT(32 INT)\n RD_SCATTER R1.x___, READ(4) ARRAY_SIZE(0) ELEM_SIZE(0) FORMAT(32 INT) UNCACHED\nNOP\nEND_OF_PROGRAM\n",
        "another thread has written dword 1 of scatter memory",
    ),
    (
        "unflushed-read",
        Stage::Compute,
        2,
        "VTX:\n RD_SCATTER R1.x___, READ(4) ARRAY_SIZE(0) ELEM_SIZE(0) FORMAT(32 INT)\nMEM_EXPORT: WRITE(0 + R0), R0.x___ ARRAY_SIZE(0)\nNOP\nEND_OF_PROGRAM\n",
        "another thread has read dword 1 of scatter memory before",
    ),
    (
        "cached-read",
        Stage::Compute,
        2,
        "MEM_EXPORT: WRITE(0 + R0), R0.x___ ARRAY_SIZE(0)\nVTX:\n RD_SCATTER R1.x___, READ(0 + R0.x) ARRAY_SIZE(0) ELEM_SIZE(0) FORMAT(32 INT)\nNOP\nEND_OF_PROGRAM\n",
        "the thread itself has written dword 0 of scatter memory, UNCACHED must be set",
    ),
    (
        "write-behind-array",
        Stage::Compute,
        6,
        "MEM_SCRATCH: WRITE(0 + R0), R0.x___ ARRAY_SIZE(3) ELEM_SIZE(3)\nNOP\nEND_OF_PROGRAM\n",
        "element 4 is written, the array has 4",
    ),
    (
        "export-not-done",
        Stage::Vertex,
        2,
        "EXP_DONE: POS0, R0.x___\nEXP: PARAM0, R0.x___\nNOP\nEND_OF_PROGRAM\n",
        "the program exports parameters and ends without their EXPORT_DONE",
    ),
    (
        "shift-beyond-31",
        Stage::Pixel,
        2,
        "ALU:\n x: LSHL_INT R1.x, R0.x, (0x00000020, 4.5e-44f).x\nEXP_DONE: PIX0, R1.x___\nEND_OF_PROGRAM\n",
        "LSHL_INT by 32: its low five bits count, 0",
    ),
    (
        "stack-beyond-declared",
        Stage::Pixel,
        2,
        "; no stack\nPUSH ADDR(out)\nPOP POP_CNT(1)\nout:\nEXP_DONE: PIX0, R0.x___\nEND_OF_PROGRAM\n",
        "1 entries are in use, the program declares 0",
    ),
];

#[test]
fn every_rule_reports() {
    let mut seen = BTreeSet::new();
    for &(rule, stage, columns, source, message) in CASES {
        let found = findings(source, stage, columns);
        let one = found.iter().find(|f| f.rule == rule && f.message == message);
        assert!(one.is_some(), "{rule}: {message}\n{source}\n{found:#?}");
        assert!(found.iter().all(|f| f.rule == rule), "{rule}\n{source}\n{found:#?}");
        seen.insert(rule);
    }
    let all: BTreeSet<&str> = RULES.iter().map(|rule| rule.name).collect();
    assert_eq!(seen, all);
}

#[test]
fn sound_programs_are_not_reported() {
    for (stage, source) in [
        (
            Stage::Pixel,
            "ALU:\n 0 x: MOV R1.x, R0.x\n 1 y: MOV R1.y, PV.x\nTEX:\n SAMPLE R2.xyzw, R1.xy__, t0, s0\nEXP_DONE: PIX0, R2.xyzw\nEND_OF_PROGRAM\n",
        ),
        (
            Stage::Pixel,
            "ALU:\n x: MOVA_INT ____, R0.x\n\n x: MOV R1.x, C[AR.x+3].x\nEXP_DONE: PIX0, R1.x000\nEND_OF_PROGRAM\n",
        ),
        (
            Stage::Compute,
            "MEM_EXPORT: WRITE(0 + R0), R0.x___ ARRAY_SIZE(0)\nVTX:\n RD_SCATTER R1.x___, READ(0 + R0.x) ARRAY_SIZE(0) ELEM_SIZE(0) FORMAT(32 INT) UNCACHED\nNOP\nEND_OF_PROGRAM\n",
        ),
        (
            Stage::Compute,
            "TEX:\n LOCAL_DS_WRITE LDS[0], R0.xxxx STRIDE(4) WAVE_REL\nTEX:\n LOCAL_DS_READ R2.xyzw, R0.x0\nNOP\nEND_OF_PROGRAM\n",
        ),
    ] {
        let found = findings(source, stage, 4);
        assert!(found.is_empty(), "{source}\n{found:#?}");
    }
}

/// The documentation names every rule of both machines.
#[test]
fn the_documentation_lists_every_rule() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/checked-runs.md");
    let text = std::fs::read_to_string(path).unwrap();
    for rule in ctm_exec::x1k::checks::RULES.iter().chain(RULES) {
        let row = format!("| `{}` |{} | {} |", rule.name, rule.doc, rule.cite);
        assert!(text.contains(&row), "docs/checked-runs.md needs the row\n{row}");
    }
}
