//! Streams of chips as text: each chip is a value with its own packets and registers.

#![allow(clippy::unwrap_used)]

use ctm_radeon::check::check_for;
use ctm_radeon::packets::r500::{R580, RV530};
use ctm_radeon::packets::r700::R700;
use ctm_radeon::text::{assemble_for, disassemble_for};

/// A port of an R500 takes all words of a packet of type 0; an R700 has no such bit.
#[test]
fn a_port_is_written_in_text() {
    // Two words to 0x4254, a register, and a draw of one vertex that follows.
    let words = [0x0001_9095, 5, 6, 0x0000_1094, 7, 0xc001_3500, 0x0001_0031, 0];
    let text = disassemble_for(&R580, &words, &[]);
    assert!(text.contains("REGISTERS one"), "{text}");
    assert_eq!(text.matches("GA_US_VECTOR_DATA = ").count(), 2, "{text}");
    assert!(
        text.contains("3D_DRAW_IMMD_2 initiator={PRIM_TYPE: POINTS, PRIM_WALK: VERTEX_EMBEDDED, NUM_VERTICES: 1}"),
        "{text}"
    );
    assert!(text.contains("draw 1: "), "{text}");
    assert_eq!(assemble_for(&R580, &text).unwrap(), words);

    let errors = assemble_for(&R700, "REGISTERS one\n    0x04254 = 5\n").unwrap_err();
    assert!(errors[0].message.contains("packets of an R700 write registers one after the other"), "{errors:?}");
    let errors = assemble_for(&R580, "REGISTERS one\n    0x04254 = 5\n    0x04258 = 5\n").unwrap_err();
    assert!(errors[0].message.contains("GA_US_VECTOR_DATA is next"), "{errors:?}");
    // Registers end with the field of the header.
    let errors = assemble_for(&R580, "REGISTERS\n    0x08000 = 5\n").unwrap_err();
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
        for chip in [&R580, &R700] {
            let text = disassemble_for(chip, &words, &[]);
            assert_eq!(assemble_for(chip, &text).as_ref(), Ok(&words), "{}: {text}", chip.name);
        }
    }
}

/// Ranges of the registers that the kernel lets programs write on these chips, checked or not: first and last byte offset.
const WRITABLE: &[(u32, u32)] = &[
    (0x1428, 0x142c),
    (0x1434, 0x143c),
    (0x146c, 0x146c),
    (0x1474, 0x1484),
    (0x1598, 0x1598),
    (0x15c0, 0x15cc),
    (0x15d8, 0x15dc),
    (0x1600, 0x1608),
    (0x16c0, 0x16c0),
    (0x16cc, 0x16d0),
    (0x16e8, 0x16f4),
    (0x1714, 0x1714),
    (0x1720, 0x1720),
    (0x172c, 0x172c),
    (0x1d98, 0x1dac),
    (0x2080, 0x2094),
    (0x20b0, 0x20b4),
    (0x2134, 0x2140),
    (0x2150, 0x216c),
    (0x2180, 0x21c4),
    (0x21dc, 0x2208),
    (0x2218, 0x226c),
    (0x2284, 0x2288),
    (0x2290, 0x22dc),
    (0x2500, 0x257c),
    (0x342c, 0x342c),
    (0x4000, 0x4008),
    (0x4010, 0x4014),
    (0x401c, 0x4028),
    (0x4074, 0x40b0),
    (0x4100, 0x4104),
    (0x4114, 0x4120),
    (0x4200, 0x420c),
    (0x4214, 0x4214),
    (0x421c, 0x421c),
    (0x4230, 0x4238),
    (0x4250, 0x4258),
    (0x4260, 0x4268),
    (0x4278, 0x4280),
    (0x4288, 0x4298),
    (0x42a0, 0x42b8),
    (0x42c0, 0x42c8),
    (0x4300, 0x4304),
    (0x4320, 0x435c),
    (0x43a4, 0x43a8),
    (0x43b0, 0x43d0),
    (0x43e0, 0x43e8),
    (0x4400, 0x45fc),
    (0x4600, 0x4604),
    (0x4620, 0x4624),
    (0x4630, 0x4638),
    (0x4640, 0x467c),
    (0x46a4, 0x46b4),
    (0x4bc0, 0x4bd8),
    (0x4be0, 0x4be0),
    (0x4be8, 0x4be8),
    (0x4c00, 0x4e88),
    (0x4ea0, 0x4ea4),
    (0x4ef8, 0x4f08),
    (0x4f10, 0x4f28),
    (0x4f30, 0x4f34),
    (0x4f44, 0x4f44),
    (0x4f54, 0x4f5c),
    (0x4fd4, 0x4fd4),
];

/// Registers in those ranges that the kernel refuses.
const BETWEEN: &[u32] = &[0x213c];

/// The checker refuses exactly the registers that the kernel does; 0x4be8 is one of the RV530.
#[test]
fn registers_of_the_kernels_list_may_be_written() {
    let mut allowed = 0;
    for offset in (0..0x8000).step_by(4) {
        let is_allowed =
            WRITABLE.iter().any(|range| (range.0..=range.1).contains(&offset)) && !BETWEEN.contains(&offset);
        allowed += u32::from(is_allowed);
        for chip in [&RV530, &R580] {
            let words = [offset / 4, 0, 0xc000_1000, 0];
            let found = check_for(chip, &words, None, None);
            let refused = found.iter().any(|of| matches!(of.rule, "unknown-register" | "refused-register"));
            let expected = !is_allowed || offset == 0x4be8 && chip.name == "R580";
            assert_eq!(refused, expected, "{} {offset:#x} {}: {found:?}", chip.name, chip.registers.name(offset));
            assert_eq!(assemble_for(chip, &disassemble_for(chip, &words, &[])).unwrap(), words);
        }
    }
    assert!(allowed > 500, "{allowed}");
}
