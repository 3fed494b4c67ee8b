//! Vertex programs on the command line: text and words both ways, checks, the manual.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use crate::dir;

use dir::Dir;

/// Each program of the compiler through `dis` and `asm`, byte for byte.
#[test]
fn programs_of_a_real_compiler_come_back() {
    let d = Dir::new("pvs-corpus");
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/pvs/programs.hex");
    let text = std::fs::read_to_string(path).unwrap();
    // A program of each size is enough for the command; the library's tests have them all.
    let mut sizes = std::collections::BTreeSet::new();
    for block in text.split("\n\n") {
        let (_, hex) = block.split_once('\n').unwrap();
        let hex = format!("{}\n", hex.trim_end());
        if !sizes.insert(hex.lines().count()) {
            continue;
        }
        d.file("a.hex", &hex);
        d.good(&["dis", "--isa", "pvs", "a.hex", "-o", "t.pvs"]);
        d.good(&["asm", "t.pvs", "-o", "t.hex"]);
        assert_eq!(d.read("t.hex"), hex.as_bytes());
        d.good(&["check", "--strict", "--isa", "pvs", "a.hex"]);
        d.good(&["check", "--strict", "t.pvs"]);
    }
    assert!(sizes.len() > 20);
}

#[test]
fn texts_words_and_errors() {
    let d = Dir::new("pvs-files");
    d.file("a.pvs", "mul o0, v0, c0\nrcp_sat r0.x, v0.w\n");
    d.good(&["asm", "a.pvs"]);
    d.good(&["asm", "a.pvs", "-o", "a.bin"]);
    let listing = d.good(&["dis", "--isa", "pvs", "a.hex"]);
    assert!(listing.contains("mul    o0, v0, c0") && listing.contains("rcp_sat r0.x, v0.w"), "{listing}");
    assert_eq!(d.good(&["dis", "--isa", "pvs", "a.bin"]), listing);
    assert!(d.good(&["dis", "--isa", "pvs", "--words", "a.hex"]).contains("00F00202 00D10001 00D10002 01248002"));
    d.file("b.pvs", "mul o0, c0, c1\n");
    d.bad(
        &["check", "b.pvs"],
        1,
        &["b.pvs:1:1", "error[constant-port]", "2 different constants are read; allowed is 1"],
    );
    d.good(&["check", "--allow", "constant-port", "b.pvs"]);
    d.bad(&["check", "--isa", "x1k", "b.pvs"], 1, &["error[wrong-isa]", "b.pvs is a vertex program of the R5xx (PVS)"]);
    d.file("c.pvs", "mvo o0, v0\n");
    d.bad(&["asm", "c.pvs"], 1, &["c.pvs:1:1", "`mvo` is not an instruction", "did you mean `mov`?"]);
    d.file("d.hex", "00F00203 00D10001 01248001\n00F00203 00D10001 01248001 01248001\n");
    d.bad(&["dis", "--isa", "pvs", "d.hex"], 1, &["found the end of a line of 3 words; allowed: 4 words"]);
    d.bad(&["asm", "--isa", "pvs", "a.hex"], 1, &["a.hex is a program without a text"]);
    d.bad(&["asm", "a.pvs", "-o", "a.elf"], 2, &["`.elf` names no form of vertex program"]);
    d.file("e.pvs", ".const c0 (1, 1, 1, 1)\n.flow 0 jump after 0 to 1\nmov o0, c0\nnop\n");
    let (code, _, stderr) = d.ctm(&["asm", "e.pvs", "-o", "e.hex"]);
    assert_eq!(code, 0);
    assert!(stderr.contains("words do not hold constants, flow control"), "{stderr}");
    assert!(d.good(&["check", "--rules", "--isa", "pvs"]).contains("constant-port"));
}

#[test]
fn the_manual_has_vertex_programs() {
    let d = Dir::new("pvs-isa");
    assert!(d.good(&["isa", "pvs"]).contains("VE_COND_MUX_GTE"));
    assert!(d.good(&["isa", "pvs", "rcp"]).contains("ME_RECIP_DX"));
    assert!(d.good(&["isa", "ve_multiply_add"]).contains("PVS:\nVE_MULTIPLY_ADD = 4 in PVS_DST_OPCODE"));
    d.bad(&["isa", "x1k", "ME_SIN"], 1, &["the PVS has it: `ctm isa pvs ME_SIN`"]);
}
