//! Vectors: words and listing lines, checked both ways, for every opcode.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ctm_isa::r700::Program;
use ctm_isa::r700::inst::{AluInst, Cf, Fetch};
use ctm_isa::r700::ops::{AluOp, CfAluOp, CfOp, ExportOp, MemOp, TexOp, VtxOp};
use ctm_isa::r700::text::{TextOptions, assemble, disassemble};
use std::collections::BTreeSet;

/// Words and text of each line, in blocks that blank lines separate.
fn blocks(file: &str) -> Vec<Vec<(Vec<u32>, String)>> {
    let path = ctm_testkit::vectors("r700/text").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let mut all = vec![Vec::new()];
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let Some((words, text)) = line.split_once('\t') else {
            assert!(line.is_empty(), "{line}");
            all.push(Vec::new());
            continue;
        };
        let words = words.split(' ').map(|w| u32::from_str_radix(w, 16).unwrap()).collect();
        all.last_mut().unwrap().push((words, text.to_owned()));
    }
    all.retain(|b| !b.is_empty());
    all
}

fn words_of(text: &str) -> Vec<u32> {
    let assembly = assemble(text, &TextOptions::default());
    assembly.program.unwrap_or_else(|| panic!("{text}\n{:#?}", assembly.diagnostics)).words
}

/// The lines of a listing with blanks collapsed and numbers in front taken off.
fn lines_of(words: &[u32]) -> Vec<String> {
    let program = Program { words: words.to_vec(), ..Program::default() };
    let text = disassemble(&program, &TextOptions { header: false, ..TextOptions::default() });
    text.lines()
        .map(|line| {
            let mut words: Vec<&str> = line.split_whitespace().collect();
            if words.first().is_some_and(|w| w.bytes().all(|b| b.is_ascii_digit())) {
                words.remove(0);
            }
            words.join(" ")
        })
        .collect()
}

#[test]
fn alu_vectors() {
    let mut seen = BTreeSet::new();
    for block in blocks("alu.txt") {
        let text: String = block.iter().map(|(_, line)| format!("{line}\n")).collect();
        let expected: Vec<u32> = block.iter().flat_map(|(words, _)| words.clone()).collect();
        // The clause lies after its instruction and the one that ends the program.
        let words = words_of(&format!("ALU:\n{text}END_OF_PROGRAM\n"));
        assert_eq!(format!("{:08X?}", &words[4..]), format!("{expected:08X?}"), "{text}");
        let lines = lines_of(&words);
        let printed: Vec<&String> =
            lines.iter().skip_while(|l| !l.starts_with("ALU")).skip(1).take(block.len()).collect();
        assert_eq!(printed, block.iter().map(|(_, line)| line).collect::<Vec<_>>());
        for pair in expected.chunks(2) {
            seen.insert(AluInst::decode([pair[0], pair[1]]).unwrap().op());
        }
    }
    let missing: Vec<_> = AluOp::all().filter(|op| !seen.contains(op)).map(AluOp::name).collect();
    assert!(missing.is_empty(), "no vector for {missing:?}");
}

#[test]
fn control_flow_vectors() {
    let mut seen = BTreeSet::new();
    for (words, line) in blocks("cf.txt").into_iter().flatten() {
        assert_eq!(format!("{:08X?}", words_of(&line)), format!("{words:08X?}"), "{line}");
        assert!(lines_of(&words).contains(&line), "{line}\n{:?}", lines_of(&words));
        seen.insert(Cf::decode([words[0], words[1]]).unwrap().name());
    }
    let names = CfOp::ALL.iter().map(|op| op.name());
    let names = names.chain(CfAluOp::ALL.iter().map(|op| op.name())).chain(ExportOp::ALL.iter().map(|op| op.name()));
    let missing: Vec<_> = names.filter(|name| !seen.contains(name)).collect();
    assert!(missing.is_empty(), "no vector for {missing:?}");
}

#[test]
fn fetch_vectors() {
    let mut seen = BTreeSet::new();
    for (words, line) in blocks("fetch.txt").into_iter().flatten() {
        let all = words_of(&format!("TEX:\n{line}\nNOP\nEND_OF_PROGRAM\n"));
        assert_eq!(format!("{:08X?}", &all[4..]), format!("{words:08X?}"), "{line}");
        assert!(lines_of(&all).contains(&line), "{line}\n{:#?}", lines_of(&all));
        seen.insert(Fetch::decode([words[0], words[1], words[2]], true).unwrap().name());
    }
    let names = TexOp::ALL
        .iter()
        .filter(|op| !matches!(op, TexOp::VtxFetch | TexOp::VtxSemantic | TexOp::Mem))
        .map(|op| op.name());
    let names = names.chain(VtxOp::ALL.iter().filter(|op| **op != VtxOp::Mem).map(|op| op.name()));
    let names = names.chain(MemOp::ALL.iter().map(|op| op.name()));
    let missing: Vec<_> = names.filter(|name| !seen.contains(name)).collect();
    assert!(missing.is_empty(), "no vector for {missing:?}");
}

#[test]
fn the_manuals_names_are_read_too() {
    for op in AluOp::all() {
        let operands = ", R1.x".repeat(usize::from(op.info().operands));
        let by_name = |name: &str| {
            let text = format!("ALU:\n{name} R0.x{operands}\nEND_OF_PROGRAM\n.unchecked\n");
            words_of(&text)
        };
        assert_eq!(by_name(op.name()), by_name(op.listing()), "{}", op.name());
    }
}

#[test]
fn other_spellings_are_read() {
    for (other, own) in [
        ("ALU:\nPREDNE_INT ____, R0.x, 0.0f\n", "ALU:\nPRED_SETNE_INT ____, R0.x, 0.0f\n"),
        ("ALU:\nLSHL R0.x, R1.x, R2.x\n", "ALU:\nLSHL_INT R0.x, R1.x, R2.x\n"),
        ("ALU:\nCMOVGT R0.x, R1.x, R2.x, R3.x\n", "ALU:\nCNDGT R0.x, R1.x, R2.x, R3.x\n"),
        ("TEX:\nVFETCH R0, R1.x, b2\n", "VTX_TC:\nVTX_FETCH R0.xyzw, R1.x, b2\n"),
        ("TEX:\nSAMPLE R0, R1, t0, s0 UNNORM(XY)\n", "TEX:\nSAMPLE R0.xyzw, R1.xyzw, t0, s0 NORM(ZW)\n"),
        ("LOOP_DX10 i0 ADDR(0)\n", "LOOP_START_DX10 FAIL_JUMP_ADDR(0)\n"),
        ("ENDLOOP i3 ADDR(0)\n", "LOOP_END CF_CONST(3) PASS_JUMP_ADDR(0)\n"),
    ] {
        let (a, b) = (words_of(other), words_of(own));
        // The clause's own instruction differs where the kind of clause does.
        assert_eq!(a[a.len() - 2..], b[b.len() - 2..], "{other}");
    }
}

/// Colours that every pixel exports: not those after a branch, in a loop, under a mask, of programs that kill or take lanes away for good.
#[test]
fn colours_that_are_always_exported() {
    use ctm_isa::r700::program::Usage;
    use ctm_isa::r700::text::{TextOptions, assemble};
    let table: [(&str, u8); 9] = [
        ("EXP: PIX0, R0.xyzw\nEXP_DONE: PIX2, R0.xy01\nEND_OF_PROGRAM\n", 0b101),
        ("EXP_DONE: PIX0, R0.xyzw BURSTCNT(1)\nEND_OF_PROGRAM\n", 0b11),
        ("EXP_DONE: PIX0, R0.xyz_\nEND_OF_PROGRAM\n", 0),
        ("ALU:\n 0 x: KILLGT ____, R0.x, 0.5f\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n", 0),
        (
            "ALU_PUSH_BEFORE:\n 0 x: PRED_SETGT ____, R0.x, 0.5f UPDATE_EXEC_MASK UPDATE_PRED\nJUMP POP_CNT(1) ADDR(end)\n\
             EXP: PIX1, R0.xyzw\nPOP POP_CNT(1)\nend:\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n",
            0b01,
        ),
        (
            "LOOP_START i0 FAIL_JUMP_ADDR(end)\nin:\nEXP: PIX1, R0.xyzw\nLOOP_END i0 PASS_JUMP_ADDR(in)\nend:\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n",
            0b01,
        ),
        (
            "ALU:\n 0 x: PRED_SETGT ____, R0.x, 0.5f UPDATE_EXEC_MASK UPDATE_PRED\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n",
            0,
        ),
        (
            "ALU_PUSH_BEFORE:\n 0 x: PRED_SETGT ____, R0.x, 0.5f UPDATE_EXEC_MASK UPDATE_PRED\nALU_POP_AFTER:\n 1 x: MOV R0.x, R0.y\n\
             EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n",
            0b01,
        ),
        ("CALL POP_CNT(0) ADDR(sub)\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\nsub:\nRETURN\n", 0),
    ];
    for (text, expected) in table {
        let assembly = assemble(text, &TextOptions::default());
        let program = assembly.program.unwrap_or_else(|| panic!("{text}{:?}", assembly.diagnostics));
        assert_eq!(Usage::always_exported(&program.decode()), expected, "{text}");
        let kills = text.contains("KILL");
        assert_eq!(Usage::exported_by_survivors(&program.decode()), if kills { 1 } else { expected }, "{text}");
    }
}
