//! Streams of chips as text: each chip is a value with its own packets and registers.

#![allow(clippy::unwrap_used)]

use ctm_radeon::packets::r500::R500;
use ctm_radeon::packets::r700::R700;
use ctm_radeon::text::{assemble_for, disassemble_for};

/// A port of an R500 takes all words of a packet of type 0; an R700 has no such bit.
#[test]
fn a_port_is_written_in_text() {
    // Two words to 0x4254, a register, and a draw of one vertex that follows.
    let words = [0x0001_9095, 5, 6, 0x0000_1094, 7, 0xc001_3500, 0x0001_0031, 0];
    let text = disassemble_for(&R500, &words, &[]);
    assert!(text.contains("REGISTERS one"), "{text}");
    assert_eq!(text.matches("0x04254 = ").count(), 2, "{text}");
    assert!(text.contains("3D_DRAW_IMMD_2 initiator={PRIM_TYPE: 1, PRIM_WALK: 3, NUM_VERTICES: 1}"), "{text}");
    assert!(text.contains("draw 1: "), "{text}");
    assert_eq!(assemble_for(&R500, &text).unwrap(), words);

    let errors = assemble_for(&R700, "REGISTERS one\n    0x04254 = 5\n").unwrap_err();
    assert!(errors[0].message.contains("packets of an R700 write registers one after the other"), "{errors:?}");
    let errors = assemble_for(&R500, "REGISTERS one\n    0x04254 = 5\n    0x04258 = 5\n").unwrap_err();
    assert!(errors[0].message.contains("0x04254 is next"), "{errors:?}");
    // Registers end with the field of the header.
    let errors = assemble_for(&R500, "REGISTERS\n    0x08000 = 5\n").unwrap_err();
    assert!(errors[0].message.contains("allowed is up to 0x7ffc"), "{errors:?}");
}

/// Any words are text and come back, for both chips: also headers with bits that a chip does not have.
#[test]
fn any_words_come_back() {
    let mut state = 5u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32
    };
    for _ in 0..2000 {
        let mut words = Vec::new();
        for _ in 0..1 + random() % 6 {
            let count = 1 + random() % 4;
            let low = if random() % 2 == 0 { random() & 0xffff } else { (random() & 0x3f) << 8 };
            words.push((random() % 4) << 30 | (count - 1) << 16 | low);
            words.extend((0..count).map(|_| random() >> (random() % 32)));
        }
        for chip in [&R500, &R700] {
            let text = disassemble_for(chip, &words, &[]);
            assert_eq!(assemble_for(chip, &text).as_ref(), Ok(&words), "{}: {text}", chip.name);
        }
    }
}
