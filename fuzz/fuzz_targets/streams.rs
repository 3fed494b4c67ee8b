//! Command streams of Radeons on buffers: text and words agree, checks end, and the device always ends and changes only its buffers.
//!
//! The input is a number of words (4 bytes; bit 31: of an R500, else of an R700), the words, and then pages of 4096 bytes: the first page of each buffer that relocations name.
//! `cargo run -p ctm-radeon --example streams -- --seeds DIR CAPTURE...` makes such files of captures.
#![no_main]

use ctm_exec::Budget;
use ctm_image::ByteOrder;
use ctm_jit::Jit;
use ctm_radeon::execute::{Buffers, Device, DrawOptions};
use ctm_radeon::packets::{R700, r500::RV530};
use ctm_radeon::{Relocation, check, text};
use libfuzzer_sys::fuzz_target;
use std::time::Duration;

/// Buffers, and bytes of each.
const BUFFERS: usize = 24;
const BYTES: usize = 1 << 17;

fuzz_target!(|bytes: &[u8]| {
    let Some((count, rest)) = bytes.split_first_chunk::<4>() else { return };
    let count = u32::from_le_bytes(*count);
    let chip = if count >> 31 == 1 { &RV530 } else { &R700 };
    let count = ((count & 0x7fff_ffff) as usize).min(rest.len() / 4);
    let (words, mut pages) = rest.split_at(4 * count);
    let words = ByteOrder::Little.words(words);
    let mut memory = Buffers::default();
    let mut relocations = Vec::new();
    for n in 0..BUFFERS {
        let base = (n as u64 + 1) << 20;
        let (page, after) = pages.split_at(pages.len().min(4096));
        pages = after;
        let mut buffer = page.to_vec();
        buffer.resize(BYTES, 0);
        memory.insert(base, buffer);
        relocations.push(Relocation { handle: n as u32 + 1, base, size: BYTES as u64 });
    }
    let shown = text::disassemble_for(chip, &words, &relocations);
    assert_eq!(text::assemble_for(chip, &shown).ok().as_deref(), Some(&words[..]));
    let _ = check::check_for(chip, &words, Some(&relocations), Some(&memory));
    let mut device = Device::new(Box::new(Jit::default()));
    device.set_chip(chip);
    let budget = Budget { instructions_per_group: Some(2000), time: Some(Duration::from_millis(50)) };
    device.set_options(DrawOptions { one_thread: true, budget, checks: count % 2 == 1, ..DrawOptions::default() });
    let _ = device.submit(&words, &relocations, &mut memory);
    assert_eq!(memory.iter().map(|(_, buffer)| buffer.len()).collect::<Vec<_>>(), [BYTES; BUFFERS]);
});
