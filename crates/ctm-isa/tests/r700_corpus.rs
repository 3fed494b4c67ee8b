//! Programs of real compilers: every word decodes, and encodes to the same word.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ctm_isa::r700::inst::{Broken, CfEntry, ClauseBody, Decoded, decode_program, looks_like_r600};
use std::path::{Path, PathBuf};

/// The words of a `.hex` file: dwords separated by space, `#` starts a comment.
pub fn read_hex(path: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| line.split('#').next().unwrap())
        .flat_map(str::split_whitespace)
        .map(|word| u32::from_str_radix(word, 16).unwrap_or_else(|_| panic!("{}: {word}", path.display())))
        .collect()
}

/// The programs of one corpus directory.
pub fn corpus(directory: &str) -> Vec<(PathBuf, Vec<u32>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(directory);
    let mut files: Vec<_> = std::fs::read_dir(path).unwrap().map(|f| f.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "hex"));
    files.sort();
    files.into_iter().map(|f| (f.clone(), read_hex(&f))).collect()
}

fn re_encode(entry: &CfEntry, words: &mut [u32], covered: &mut [bool]) {
    let at = entry.addr as usize * 2;
    let cf = entry.cf.as_ref().unwrap();
    words[at..at + 2].copy_from_slice(&cf.encode());
    covered[at..at + 2].fill(true);
    let Some((first, _)) = cf.clause() else { return };
    let body = match &entry.clause {
        ClauseBody::Alu(clause) => clause.encode(),
        ClauseBody::Fetch(clause) => clause.fetches.iter().flat_map(|f| f.inst.unwrap().encode()).collect(),
        other => panic!("{other:?}"),
    };
    let at = first as usize * 2;
    words[at..at + body.len()].copy_from_slice(&body);
    covered[at..at + body.len()].fill(true);
}

fn whole(name: &str, decoded: &Decoded, words: &[u32]) {
    let mut again = vec![0; words.len()];
    let mut covered = vec![false; words.len()];
    for entry in &decoded.entries {
        re_encode(entry, &mut again, &mut covered);
    }
    for (i, &word) in words.iter().enumerate() {
        if covered[i] {
            assert_eq!(word, again[i], "{name}: dword {i}");
        } else {
            // Words outside instructions are padding, or the NOP that LLVM puts past the end (r700-encoding L4).
            assert!(word == 0 || word == 0x8020_0000, "{name}: dword {i} is not reached");
        }
    }
}

#[test]
fn mesa_programs_decode_fully() {
    let programs = corpus("mesa/r700");
    assert_eq!(programs.len(), 33);
    for (path, words) in programs {
        let decoded = decode_program(&words, 0);
        for entry in &decoded.entries {
            if let ClauseBody::Alu(clause) = &entry.clause {
                assert_eq!(clause.broken, None, "{}", path.display());
            }
        }
        whole(&path.display().to_string(), &decoded, &words);
        assert_eq!(looks_like_r600(&words, 0), None);
    }
}

#[test]
fn llvm_programs_decode_fully_except_for_its_evergreen_mova() {
    for (path, words) in corpus("llvm") {
        let invalid = path.file_stem().is_some_and(|n| n == "11_indirect_ps");
        let decoded = decode_program(&words, 0);
        let mut broken = 0;
        for entry in &decoded.entries {
            let ClauseBody::Alu(clause) = &entry.clause else { continue };
            if let Some(found) = clause.broken {
                assert!(
                    matches!(found.why, Broken::Field(e) if e.field == "ALU_INST" && e.found == 0xcc),
                    "{}: {found:?}",
                    path.display()
                );
                broken += 1;
            }
        }
        // LLVM emits Evergreen's MOVA_INT for R700 (r700-encoding L1).
        assert_eq!(broken > 0, invalid, "{}", path.display());
        whole(&path.display().to_string(), &decoded, &words);
        assert_eq!(looks_like_r600(&words, 0), None);
    }
}

#[test]
fn r600_words_are_recognised() {
    // MOV R0.x, R1.x in the R600 form: opcode 0x19 from bit 8 on; the same word reads as opcode 0x32 (XOR_INT) on R700,
    // and the group's DOT4 (0x50 -> 0xa0) reads as nothing.
    let dot4 = |chan: u32, last: u32| [1 | (chan << 10) | (last << 31), (chan << 29) | (0x50 << 8) | (1 << 4)];
    let mut words = vec![0x0000_0002, 0xa00c_0000, 0, 0x8020_0000];
    for chan in 0..4 {
        words.extend(dot4(chan, u32::from(chan == 3)));
    }
    let finding = looks_like_r600(&words, 0).unwrap();
    assert_eq!(finding.slot, 2);
    assert!(finding.to_string().contains("R600 form"));
    // The same program in the R700 form is not.
    for pair in words[4..].chunks_mut(2) {
        pair[1] = (pair[1] & !(0x7ff << 7)) | (0x50 << 7);
    }
    assert_eq!(looks_like_r600(&words, 0), None);
}

#[test]
fn r600_words_that_read_as_r700_are_recognised_too() {
    // MOV R1.x, C0.x CLAMP and its neighbours in the R600 form: every word also decodes as R700 code (XOR_INT).
    let mut words = vec![0x0000_0002, 0xa00c_0000, 0, 0x8020_0000];
    for chan in 0..4u32 {
        words.extend([
            0x100 | (chan << 10) | (u32::from(chan == 3) << 31),
            (1 << 31) | (chan << 29) | (1 << 21) | (0x19 << 8) | 0x10,
        ]);
    }
    assert_eq!(looks_like_r600(&words, 0).map(|f| f.slot), Some(2));
}
