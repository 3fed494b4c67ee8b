//! Listings with settings as GFD containers: registers, variables, and errors.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm_files::JobError;
use ctm_files::r700::{
    ContainerKind, Loaded, assemble_gfd, every_program, not_stored, print_gfd, replace_in_gfd, unmet_semantics,
    write_container,
};
use ctm_image::r700::gfd::header::VariableKind;
use ctm_image::r700::gfd::{Gfd, Shader};
use ctm_isa::r700::text::TextOptions;
use std::path::Path;

fn load(name: &str, text: &str) -> Loaded {
    Loaded::from_bytes(text.as_bytes(), Path::new(name), None, None, &TextOptions::default()).unwrap()
}

fn container(files: &[(&str, &str)]) -> Result<Vec<u8>, JobError> {
    let loaded: Vec<Loaded> = files.iter().map(|(name, text)| load(name, text)).collect();
    write_container(&loaded.iter().map(|l| ("main", l)).collect::<Vec<_>>(), ContainerKind::Gfd)
}

fn shaders(files: &[(&str, &str)]) -> Vec<Shader> {
    let bytes = container(files).unwrap();
    let gfd = Gfd::read(&bytes).unwrap();
    assert_eq!(gfd.remarks(), []);
    gfd.shaders().unwrap()
}

/// The rule, line and message of each finding.
fn wrong(name: &str, text: &str) -> Vec<(usize, String)> {
    let JobError::Wrong(reports) = container(&[(name, text)]).unwrap_err() else { panic!("wrong kind of error") };
    let line = |r: &ctm_files::render::Report| {
        let label = r.diagnostic.labels.first()?;
        Some(r.source.as_ref()?.line_column(label.span.start).0)
    };
    reports.iter().map(|r| (line(r).unwrap_or(0), r.diagnostic.message.clone())).collect()
}

/// The listed registers, as the words they are.
fn registers(shader: &Shader, names: &[&str]) -> Vec<Option<u32>> {
    names.iter().map(|name| shader.code.register(name)).collect()
}

const VERTEX: &str = "\
; $MODE = \"UniformRegister\"
; $ATTRIB_VARS[0].name = \"place\"
; $ATTRIB_VARS[0].type = \"Float2\"
; $ATTRIB_VARS[0].location = 3
; $attrib_vars[1].NAME = \"tint\"
; $UNIFORM_VARS[0].name = \"matrix\"
; $UNIFORM_VARS[0].type = \"mat4\"
; $UNIFORM_VARS[0].block = -1
; $NUM_SPI_VS_OUT_ID = 1
; $SPI_VS_OUT_ID[0].SEMANTIC_0 = 7
; $SPI_VS_OUT_ID[0].semantic_1 = 0x08
00 CALL_FS NO_BARRIER
01 EXP_DONE: POS0, R1.xyzw
02 EXP: PARAM0, R2.xyzw NO_BARRIER
03 EXP_DONE: PARAM1, R2.xyzw NO_BARRIER
END_OF_PROGRAM
";

const PIXEL: &str = "\
; $NUM_SPI_PS_INPUT_CNTL = 2
; $SPI_PS_INPUT_CNTL[0].SEMANTIC = 7
; $SPI_PS_INPUT_CNTL[0].DEFAULT_VAL = 1
; $SPI_PS_INPUT_CNTL[1].SEMANTIC = 8
; $SPI_PS_INPUT_CNTL[1].FLAT_SHADE = true
; $SAMPLER_VARS[0].name = \"image\"
; $SAMPLER_VARS[0].type = \"samplerCube\"
; $SAMPLER_VARS[0].location = 2
00 EXP_DONE: PIX0, R0.xyzw
END_OF_PROGRAM
";

#[test]
fn settings_become_registers_and_variables() {
    let all = shaders(&[("a.vsh", VERTEX), ("a.psh", PIXEL)]);
    let [vertex, pixel] = all.as_slice() else { panic!("{} programs", all.len()) };
    assert_eq!(
        registers(vertex, &["SPI_VS_OUT_CONFIG", "SPI_VS_OUT_ID_0", "SPI_VS_OUT_ID_1", "PA_CL_VS_OUT_CNTL"]),
        // Two parameters, less 1, in bits 5:1; the other two have no number.
        [Some(1 << 1), Some(0xffff_0807), None, Some(0)]
    );
    assert_eq!(
        registers(vertex, &["SQ_VTX_SEMANTIC_0", "SQ_VTX_SEMANTIC_1", "SQ_VTX_SEMANTIC_2", "SQ_VTX_SEMANTIC_CLEAR"]),
        [Some(3), Some(1), None, Some(0xffff_fffc)]
    );
    assert_eq!(registers(vertex, &["VGT_VERTEX_REUSE_BLOCK_CNTL", "VGT_HOS_REUSE_DEPTH"]), [Some(14), Some(16)]);
    let rows: Vec<_> = vertex.variables.iter().map(|v| (v.kind, v.name.as_str(), v.values.as_slice())).collect();
    assert_eq!(
        rows,
        [
            (VariableKind::Uniform, "matrix", [29, 1, 0, u32::MAX].as_slice()),
            (VariableKind::Attribute, "place", &[9, 0, 3]),
            (VariableKind::Attribute, "tint", &[11, 0, 1]),
        ]
    );
    assert_eq!(
        registers(pixel, &["SPI_PS_INPUT_CNTL_0", "SPI_PS_INPUT_CNTL_1", "SPI_PS_INPUT_CNTL_2", "SPI_PS_IN_CONTROL_0"]),
        [Some(0x107), Some(0x408), None, Some(0x1400_0002)]
    );
    assert_eq!(
        registers(pixel, &["SQ_PGM_EXPORTS_PS", "CB_SHADER_MASK", "CB_SHADER_CONTROL", "DB_SHADER_CONTROL"]),
        [Some(2), Some(0xf), Some(1), Some(0x10)]
    );
    assert_eq!(pixel.variables.len(), 1);
    assert_eq!(pixel.variables[0].values, [4, 2]);
}

#[test]
fn what_nothing_says_follows_from_the_program() {
    let listing = "ALU: KCACHE0(CB0:0-15)\n 0 x: KILLGT ____, R0.x, KC0[0].x\nEXP: PIX61, R0.x___\nEXP: PIX0, R0.xyzw\n\
        EXP_DONE: PIX2, R1.xyzw\nEND_OF_PROGRAM\n";
    let bytes = container(&[("a.psh", listing)]).unwrap();
    let gfd = Gfd::read(&bytes).unwrap();
    let pixel = &gfd.shaders().unwrap()[0];
    assert_eq!(
        registers(pixel, &["SQ_PGM_RESOURCES_PS", "SQ_PGM_EXPORTS_PS", "CB_SHADER_MASK", "CB_SHADER_CONTROL"]),
        [Some(2), Some(3 << 1 | 1), Some(0xf0f), Some(0b101)]
    );
    // A depth, early and late tests, killing.
    assert_eq!(registers(pixel, &["DB_SHADER_CONTROL"]), [Some(1 | 1 << 4 | 1 << 6)]);
    // The mode of a program that locks constants: the third word after 4 + 32 + 4 registers and a count.
    let mode = &gfd.blocks[0].data[(41 + 2) * 4..][..4];
    assert_eq!(mode, [0, 0, 0, 1]);

    let vertex = "EXP: POS0, R0.xyzw\nEXP_DONE: POS1, R0.x___\nEXP_DONE: PARAM0, R1.xyzw BURSTCNT(4)\nEND_OF_PROGRAM\n";
    let vertex = &shaders(&[("a.vsh", vertex)])[0];
    assert_eq!(
        registers(vertex, &["SPI_VS_OUT_CONFIG", "SPI_VS_OUT_ID_0", "SPI_VS_OUT_ID_1", "PA_CL_VS_OUT_CNTL"]),
        [Some(4 << 1), Some(0x0302_0100), Some(0xffff_ff04), Some(1 << 21)]
    );
    assert_eq!(registers(vertex, &["SQ_VTX_SEMANTIC_CLEAR"]), [Some(u32::MAX)]);
}

#[test]
fn settings_count_more_than_the_program() {
    let pixel = "\
; $DB_SHADER_CONTROL.Z_ORDER = \"LATE_Z\"
; $CB_SHADER_CONTROL.RT1_ENABLE = TRUE
; $CB_SHADER_MASK.OUTPUT1_ENABLE = true
; $SQ_PGM_RESOURCES_PS.NUM_GPRS = 9
; $SPI_PS_IN_CONTROL_0.NUM_INTERP = 5
; $SPI_INPUT_Z = 1
EXP_DONE: PIX0, R0.xyzw
END_OF_PROGRAM
";
    let pixel = &shaders(&[("a.psh", pixel)])[0];
    let names = ["DB_SHADER_CONTROL", "CB_SHADER_CONTROL", "CB_SHADER_MASK", "SQ_PGM_RESOURCES_PS", "SPI_INPUT_Z"];
    assert_eq!(registers(pixel, &names), [Some(0), Some(0b11), Some(0xff), Some(9), Some(1)]);
    assert_eq!(registers(pixel, &["SPI_PS_IN_CONTROL_0"]), [Some(0x1400_0005)]);
    let vertex = "\
; $SQ_VTX_SEMANTIC[1].SEMANTIC_ID = 4
; $PA_CL_VS_OUT_CNTL.CLIP_DIST_ENA_3 = true
; $VGT_STRMOUT_BUFFER_EN.BUFFER_0_EN = true
; $VGT_HOS_REUSE_DEPTH.REUSE_DEPTH = 3
; $STREAM_OUT_STRIDE[2] = 24
; $HAS_STREAM_OUT = true
EXP_DONE: POS0, R1.xyzw
END_OF_PROGRAM
";
    let bytes = container(&[("a.vsh", vertex)]).unwrap();
    let gfd = Gfd::read(&bytes).unwrap();
    let vertex = &gfd.shaders().unwrap()[0];
    let names = ["SQ_VTX_SEMANTIC_0", "SQ_VTX_SEMANTIC_1", "SQ_VTX_SEMANTIC_CLEAR", "PA_CL_VS_OUT_CNTL"];
    assert_eq!(registers(vertex, &names), [Some(0xff), Some(4), Some(0xffff_fffc), Some(1 << 3)]);
    assert_eq!(registers(vertex, &["VGT_STRMOUT_BUFFER_EN", "VGT_HOS_REUSE_DEPTH"]), [Some(1), Some(3)]);
    // Ring item size, stream out, four strides, and the buffer's four words close the header of 0x134 bytes.
    let tail = &gfd.blocks[0].data[0x134 - 40..0x134];
    let words: Vec<u32> = tail.chunks(4).map(|b| u32::from_be_bytes(b.try_into().unwrap())).collect();
    assert_eq!(words, [0, 1, 0, 0, 24, 0, 0, 0, 0, 0]);
}

#[test]
fn a_copy_program_belongs_to_its_geometry_program() {
    let geometry = "; $VGT_GS_OUT_PRIM_TYPE.PRIM_TYPE = 2\n; $SPI_VS_OUT_CONFIG.VS_EXPORT_COUNT = 3\nEMIT_VERTEX\nEND_OF_PROGRAM\n";
    let copy = ".stage copy\nEXP_DONE: POS0, R1.xyzw\nEXP_DONE: PARAM0, R2.xyzw\nEND_OF_PROGRAM\n";
    let all = shaders(&[("a.gsh", geometry), ("b.vsh", copy)]);
    assert_eq!(all.len(), 2);
    let names = ["VGT_GS_OUT_PRIM_TYPE", "SPI_VS_OUT_CONFIG", "SPI_VS_OUT_ID_0", "SQ_PGM_RESOURCES_VS"];
    assert_eq!(registers(&all[0], &names), [Some(2), Some(3 << 1), Some(0xffff_ff00), Some(3)]);
    assert_eq!(all[1].code.words, load("b.vsh", copy).program.words);
    assert_eq!(wrong("b.vsh", copy).len(), 1);
}

#[test]
fn what_cannot_be_is_told_with_its_line() {
    let text = "\
; $SPI_PS_INPUT_CNTL[32].SEMANTIC = 1
; $SPI_PS_INPUT_CNTL.SEMANTIC = 1
; $SPI_PS_INPUT_CNTL[0].SEMANTIK = 1
; $SPI_PS_INPUT_CNTL[0].DEFAULT_VAL = 4
; $SPI_VS_OUT_ID[0].SEMANTIC_0 = 1
; $ATTRIB_VARS[0].name = \"a\"
; $SAMPLER_VARS[0].type = \"sampler4D\"
; $UNIFORM_VARS[0].type = \"float5\"
; $MODE = \"Uniform\"
; $NUM_SPI_PS_INPUT_CNTL = 33
; $UNIFORM_VARS[1].name = \"b\"
; $DB_SHADER_CONTROL.Z_ORDER = \"NEVER\"
; $SPI_INPUT_Z[1] = 1
EXP_DONE: PIX0, R0.xyzw
END_OF_PROGRAM
";
    let found = wrong("a.psh", text);
    let expect = [
        (1, "the index is 32, there are 32 registers SPI_PS_INPUT_CNTL"),
        (2, "SPI_PS_INPUT_CNTL takes an index, 0 to 31"),
        (3, "SPI_PS_INPUT_CNTL has no `SEMANTIK`"),
        (4, "`4` is no number from 0 to 3"),
        (5, "a program of this stage has no `SPI_VS_OUT_ID`"),
        (6, "a program of this stage has no table ATTRIB_VARS"),
        (7, "a sampler's type has no `sampler4D`"),
        (8, "a type has no `float5`"),
        (9, "`\"Uniform\"` is no number"),
        (10, "there are 32 registers SPI_PS_INPUT_CNTL, not 33"),
        (12, "`\"NEVER\"` is no number from 0 to 3"),
        (13, "SPI_INPUT_Z is one register, without an index"),
    ];
    for (line, part) in expect {
        assert!(found.iter().any(|(l, m)| *l == line && m.contains(part)), "line {line}: {part}: {found:#?}");
    }
    let beyond =
        "; $NUM_SPI_PS_INPUT_CNTL = 1\n; $SPI_PS_INPUT_CNTL[1].SEMANTIC = 1\n00 EXP_DONE: PIX0, R0\nEND_OF_PROGRAM\n";
    assert!(wrong("a.psh", beyond)[0].1.contains("NUM_SPI_PS_INPUT_CNTL is 1, and SPI_PS_INPUT_CNTL[1] is set"));
    let gap = "; $SAMPLER_VARS[1].name = \"b\"\n00 EXP_DONE: PIX0, R0\nEND_OF_PROGRAM\n";
    assert!(wrong("a.psh", gap)[0].1.contains("SAMPLER_VARS has no row 0"));
}

#[test]
fn every_program_of_a_container_is_found() {
    let bytes = container(&[("a.vsh", VERTEX), ("a.psh", PIXEL)]).unwrap();
    let all = every_program(&bytes, Path::new("a.gsh"), None, &TextOptions::default()).unwrap();
    let names: Vec<_> = all.iter().map(|(name, _)| name.as_deref()).collect();
    assert_eq!(names, [Some("0 (vertex)"), Some("1 (pixel)")]);
    let alone = every_program(PIXEL.as_bytes(), Path::new("a.psh"), None, &TextOptions::default()).unwrap();
    assert_eq!(alone.len(), 1);
    assert_eq!(alone[0].0, None);
}

/// The container's bytes again, from its text.
fn again(bytes: &[u8]) -> Vec<u8> {
    let text = print_gfd(&Gfd::read(bytes).unwrap());
    let (found, _) =
        assemble_gfd(&text, Path::new("a.txt"), &TextOptions::default()).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    assert!(found == bytes, "{} bytes became {}:\n{text}", bytes.len(), found.len());
    found
}

const GEOMETRY: &str = "; $VGT_GS_OUT_PRIM_TYPE.PRIM_TYPE = 2\n; $RING_ITEM_SIZE = 8\n; $STREAM_OUT_STRIDE[2] = 24\nEMIT_VERTEX\nEND_OF_PROGRAM\n";
const COPY: &str = ".stage copy\nEXP_DONE: POS0, R1.xyzw\nEXP_DONE: PARAM0, R2.xyzw\nEND_OF_PROGRAM\n";

#[test]
fn a_container_is_its_text() {
    let bytes = container(&[("a.vsh", VERTEX), ("a.gsh", GEOMETRY), ("b.vsh", COPY), ("a.psh", PIXEL)]).unwrap();
    again(&bytes);
    let text = print_gfd(&Gfd::read(&bytes).unwrap());
    for part in [
        ".container gfd",
        ".program vertex",
        ".program geometry",
        ".program copy",
        ".program pixel",
        "; $SPI_VS_OUT_ID[0].SEMANTIC_1 = 8",
        "; $SAMPLER_VARS[0].name = \"image\"",
        "; $STREAM_OUT_STRIDE[2] = 24",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    assert!(!text.contains(".data"), "{text}");
    // Its programs are found by number and kind, as in the container.
    let load = |which| Loaded::from_bytes(text.as_bytes(), Path::new("t.txt"), None, which, &TextOptions::default());
    assert_eq!(load(Some("pixel")).unwrap().program.words, self::load("a.psh", PIXEL).program.words);
    assert!(matches!(load(None), Err(JobError::Wrong(_))));
    // One program of the container has its settings, too.
    let one = Loaded::from_bytes(&bytes, Path::new("a.gsh"), None, Some("pixel"), &TextOptions::default()).unwrap();
    assert!(one.program.settings.iter().any(|s| s.name == "SAMPLER_VARS[0].name" && s.value == "\"image\""));
}

/// The text of any blocks gives them back.
#[test]
fn changed_containers_come_back_from_their_text() {
    let original = container(&[("a.vsh", VERTEX), ("a.gsh", GEOMETRY), ("b.vsh", COPY), ("a.psh", PIXEL)]).unwrap();
    let mut state = 7u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut tried = 0;
    for _ in 0..1500 {
        let mut bytes = original.clone();
        for _ in 0..1 + below(3) {
            let at = below(bytes.len());
            bytes[at] = match below(3) {
                0 => bytes[at] ^ 1 << below(8),
                1 => below(256) as u8,
                _ => 0,
            };
        }
        match below(8) {
            0 => bytes.extend([1, 2, 3]),
            1 => bytes.truncate(bytes.len() - 32),
            _ => {}
        }
        if Gfd::read(&bytes).is_ok() {
            again(&bytes);
            tried += 1;
        }
    }
    assert!(tried > 1000, "only {tried} could be read");
}

#[test]
fn wrong_container_texts_are_told_with_their_lines() {
    for (text, line, message) in [
        (".container cal\n", 1, "`cal` is no container that has a text"),
        (".container gfd\n.program pixl\n", 2, "`pixl` is no program of a GFD container"),
        (".container gfd\nNOP\n", 2, "this line belongs to no program"),
        (".container gfd\n.block PADDING\n.data 1\n", 3, "`.data` takes bytes of two hexadecimal digits"),
        (".container gfd\n.data 00\n", 2, "`.data` stands behind `.block` or `.rest`"),
        (".container gfd\n.program pixel HEAD(1)\nNOP\nEND_OF_PROGRAM\n", 2, "HEAD has four words"),
        (".container gfd\n.program pixel\nMOVE R0.x\n", 3, "`MOVE` is not an instruction of the R700"),
        (
            ".container gfd\n.program pixel\n; $NOTHING = 1\nNOP\nEND_OF_PROGRAM\n",
            3,
            "`$NOTHING`: a program of this stage has no `NOTHING`",
        ),
    ] {
        let Err(JobError::Wrong(reports)) = assemble_gfd(text, Path::new("a.txt"), &TextOptions::default()) else {
            panic!("{text} is taken")
        };
        let report = &reports[0];
        assert!(report.diagnostic.message.contains(message), "{text}: {report:?}");
        let at = report.diagnostic.labels[0].span.start;
        assert_eq!(report.source.as_ref().unwrap().line_column(at).0, line, "{text}");
    }
}

#[test]
fn one_program_of_a_container_is_replaced() {
    let bytes = container(&[("a.vsh", VERTEX), ("a.psh", PIXEL)]).unwrap();
    let new = "; $DB_SHADER_CONTROL.Z_ORDER = 0\n; $SAMPLER_VARS[0].name = \"other\"\nEXP: PIX1, R5.xyzw\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n";
    let (changed, reports) = replace_in_gfd(&bytes, "a.gsh", &load("new.psh", new), None).unwrap();
    let all = Gfd::read(&changed).unwrap().shaders().unwrap();
    let before = Gfd::read(&bytes).unwrap().shaders().unwrap();
    assert_eq!(all[0], before[0]);
    assert_eq!(all[1].code.words, load("new.psh", new).program.words);
    assert_eq!(all[1].variables, before[1].variables);
    assert_eq!(
        registers(&all[1], &["SQ_PGM_RESOURCES_PS", "CB_SHADER_MASK", "DB_SHADER_CONTROL", "SPI_PS_INPUT_CNTL_1"]),
        [Some(6), Some(0xff), Some(0), Some(0x408)]
    );
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].diagnostic.rule, "kept-settings");
    // The old program brings back the old container.
    let old = load("a.psh", "; $DB_SHADER_CONTROL.Z_ORDER = 1\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    assert_eq!(replace_in_gfd(&changed, "a.gsh", &old, None).unwrap().0, bytes);
    let missing = replace_in_gfd(&bytes, "a.gsh", &load("a.gsh", GEOMETRY), None);
    assert!(matches!(missing, Err(JobError::Wrong(_))));
}

#[test]
fn what_is_left_out_is_told() {
    let rules = |name, text, gfd| -> Vec<&str> {
        not_stored(&load(name, text), gfd).iter().map(|r| r.diagnostic.rule).collect()
    };
    assert_eq!(rules("a.psh", PIXEL, false), ["dropped-settings"]);
    assert!(rules("a.psh", PIXEL, true).is_empty());
    let named = ".sampler map s0\nEXP_DONE: PIX0, R0\nEND_OF_PROGRAM\n";
    assert_eq!(rules("a.psh", named, true), ["dropped-names"]);
    assert!(rules("a.psh", named, false).is_empty());
}

#[test]
fn semantics_that_do_not_meet_are_told() {
    let met = container(&[("a.vsh", VERTEX), ("a.psh", PIXEL)]).unwrap();
    assert!(unmet_semantics(&met).is_empty());
    let other = PIXEL.replace("[1].SEMANTIC = 8", "[1].SEMANTIC = 9");
    let unmet = container(&[("a.vsh", VERTEX), ("a.psh", &other)]).unwrap();
    let found = unmet_semantics(&unmet);
    assert_eq!(found.len(), 1);
    assert!(found[0].diagnostic.message.starts_with("input 1 of the pixel program has semantic 9"), "{found:?}");
    assert!(unmet_semantics(&container(&[("a.psh", PIXEL)]).unwrap()).is_empty());
}
