//! Streams of any kind: text comes back as the same words, checks and devices end, and nothing panics.

#![allow(clippy::unwrap_used, reason = "a test")]

use ctm_exec::Budget;
use ctm_jit::Jit;
use ctm_radeon::capture::Submission;
use ctm_radeon::execute::{Buffers, Device, DrawOptions};
use ctm_radeon::replay::Replay;
use ctm_radeon::{Relocation, check, packets, text};
use std::path::Path;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }

    fn below(&mut self, most: usize) -> usize {
        self.next() as usize % most.max(1)
    }
}

/// Words that are packets more often than not.
fn stream(random: &mut Random) -> Vec<u32> {
    let mut words = Vec::new();
    for _ in 0..random.below(40) {
        match random.below(8) {
            0 => words.push(random.next()),
            1 => words.push(packets::FILLER),
            2 => words.extend([0xc000_1000, 4 * (random.next() % 16)]),
            _ => {
                let row = packets::PACKETS[random.below(packets::PACKETS.len())];
                let count = 1 + random.below(9);
                words.push(3 << 30 | (count as u32 - 1) << 16 | u32::from(row.opcode) << 8 | (random.next() & 1));
                words.push(random.next() % 0x400);
                words.extend((1..count).map(|_| random.next() >> random.below(31)));
            }
        }
    }
    words
}

#[test]
fn any_words_become_text_and_the_same_words_again() {
    let mut random = Random(1);
    for _ in 0..3000 {
        let words = stream(&mut random);
        let shown = text::disassemble(&words, &[]);
        assert_eq!(text::assemble(&shown).as_ref(), Ok(&words), "{shown}");
        let _ = check::check(&words, None, None);
    }
}

/// Registers of a packet of type 0 may go on after the last one that such a packet can begin at.
#[test]
fn packets_that_end_behind_the_registers() {
    let words = [0x0002_ffff, 1, 2, 3];
    let shown = text::disassemble(&words, &[]);
    assert_eq!(text::assemble(&shown).as_deref(), Ok(&words[..]), "{shown}");
    let found = text::assemble("REGISTERS\n 0x40000 = 1").unwrap_err();
    assert!(found[0].message.contains("allowed is up to 0x3fffc"), "{found:?}");
}

#[test]
fn bad_text_is_told() {
    let table = [
        ("SET_CONTEXT_RAG", "no packet is named `SET_CONTEXT_RAG`; is `SET_CONTEXT_REG` meant?"),
        ("    CB_COLOR0_BASE = 1", "`CB_COLOR0_BASE` stands in no packet that writes registers"),
        ("SET_CONTEXT_REG", "the packet writes no register: lines `REGISTER = value` follow it"),
        (
            "SET_CONTEXT_REG\n CB_COLOR0_BASE = 1\n CB_COLOR2_BASE = 1",
            "the registers of a packet follow one another: CB_COLOR1_BASE is next, not `CB_COLOR2_BASE`",
        ),
        (
            "SET_CONFIG_REG\n CB_COLOR0_BASE = 1",
            "`CB_COLOR0_BASE` lies at 0x28040, the packet writes 0x8000 up to 0xac00",
        ),
        ("NUM_INSTANCES count=x", "`x` is no number of 32 bits"),
        ("NUM_INSTANCES cuont=1", "word 1 is called `count`, not `cuont`"),
        ("NUM_INSTANCES", "the packet has 0 words, allowed is 1..=16384"),
        ("DRAW_INDEX_AUTO count=1, initiator={SOURCE_SELECT: 4}", "`SOURCE_SELECT` is 4, the field holds 0..=3"),
        ("DRAW_INDEX_AUTO count=1, initiator={SOURCE: 4}", "there is no field `SOURCE`"),
        ("SET_CONTEXT_REG\n CB_COLOR0_INFO = {FORMAT: RGBA}", "`RGBA` is no value of FORMAT; allowed are"),
        ("PACKET 0x100 word=1", "opcode 0x100, allowed is 0..=0xff"),
        ("FILL 99999999", "99999999 fillers, allowed are 1048576"),
    ];
    for (source, expected) in table {
        let errors = text::assemble(source).unwrap_err();
        assert!(errors[0].message.starts_with(expected), "{source}: {}", errors[0].message);
    }
}

/// A driver's streams with changed words: the device ends with or without an error, and only its buffers change.
#[test]
fn changed_streams_end() {
    let mut random = Random(7);
    for name in ["tex2d", "mrt2", "discard"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/captures/{name}.capture"));
        for _ in 0..8 {
            let mut replay = Replay::new(std::fs::File::open(&path).unwrap(), Box::new(ctm_exec::Interp)).unwrap();
            let mut device = Device::new(Box::new(Jit::default()));
            let mut options = DrawOptions { one_thread: true, ..DrawOptions::default() };
            options.budget =
                Budget { instructions_per_group: Some(20_000), time: Some(std::time::Duration::from_millis(100)) };
            device.set_options(options);
            while let Some(Submission { words, relocations, number }) = replay.read().unwrap() {
                let submission = Submission { number, words: Vec::new(), relocations };
                let placed: Vec<Relocation> = replay.relocations(&submission);
                let mut memory = Buffers::default();
                for relocation in &placed {
                    memory.insert(relocation.base, replay.buffers()[&relocation.handle].bytes.clone());
                }
                let mut words = words;
                for _ in 0..1 + random.below(6) {
                    let at = random.below(words.len());
                    words[at] ^= 1 << random.below(32);
                }
                let _ = check::check(&words, Some(&placed), Some(&memory));
                let _ = device.submit(&words, &placed, &mut memory);
            }
        }
    }
}
