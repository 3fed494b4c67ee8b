//! R700 programs on the command line: listings, words and containers.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(name)
}

/// Runs `ctm`; exit code, stdout, stderr.
fn ctm(arguments: &[&Path]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ctm")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Prints a program and assembles what was printed; the words.
fn round_trip(program: &Path, name: &str) -> Vec<u32> {
    let text = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.r700"));
    let words = text.with_extension("hex");
    for arguments in [["dis".as_ref(), program, "-o".as_ref(), &text], ["asm".as_ref(), &text, "-o".as_ref(), &words]] {
        let (code, _, stderr) = ctm(&arguments);
        assert_eq!((code, stderr.as_str()), (0, ""), "{}", program.display());
    }
    words_of(&words)
}

fn words_of(hex: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(hex).unwrap();
    let code = text.lines().filter(|line| !line.starts_with('#'));
    code.flat_map(str::split_whitespace).map(|word| u32::from_str_radix(word, 16).unwrap()).collect()
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(corpus(folder)).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == extension));
    files.sort();
    files
}

#[test]
fn what_dis_prints_asm_reads() {
    let programs = files("mesa/r700", "hex");
    assert_eq!(programs.len(), 33);
    for program in programs {
        assert_eq!(round_trip(&program, "mesa"), words_of(&program), "{}", program.display());
    }
    for object in files("llvm", "o") {
        assert_eq!(round_trip(&object, "llvm"), words_of(&object.with_extension("hex")), "{}", object.display());
    }
}

#[test]
fn check_names_the_one_evergreen_opcode() {
    for object in files("llvm", "o") {
        let (code, _, stderr) = ctm(&["check".as_ref(), &object]);
        let planted = object.ends_with("11_indirect_ps.o");
        assert_eq!(code, i32::from(planted), "{}: {stderr}", object.display());
        assert_eq!(stderr.contains("MOVA_INT of Evergreen"), planted, "{stderr}");
    }
}

#[test]
fn garbled_listings_show_every_line_that_is_wrong() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("garbled.r700");
    std::fs::write(
        &file,
        "00 ALU: ADDR(32) CNT(2)\n    0  x: MOVE R0.x, R1.x\n       x: MOV R0.x, R1.q\nEND_OF_PROGRAM\n",
    )
    .unwrap();
    let (code, _, stderr) = ctm(&["asm".as_ref(), &file]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("garbled.r700:2:") && stderr.contains("garbled.r700:3:"), "{stderr}");
}
