//! `assemble(disassemble(p))` gives `p` back: for real programs, for random words, and for everything beside the words.

use ctm_isa::diag::Severity;
use ctm_isa::x1k::check::check;
use ctm_isa::x1k::formats::WORDS;
use ctm_isa::x1k::inst::{AluInst, Inst, Source, Words, stray_bits};
use ctm_isa::x1k::ops::{AlphaOp, Imod, InstType, Omod, PredSel, RgbOp, Sel, SrcpOp, Swizzle};
use ctm_isa::x1k::program::{Literal, Preload, Program, Symbol, SymbolKind};
use ctm_isa::x1k::text::{ListingOptions, assemble, disassemble};
use std::path::Path;

/// SplitMix64: the same numbers on every host.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn word(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Everything that must survive, without the spans, which belong to one text.
fn without_spans(mut program: Program) -> Program {
    program.spans = Vec::new();
    program
}

fn round_trip(program: &Program, options: &ListingOptions) -> String {
    let listing = disassemble(program, options);
    let assembly = assemble(&listing);
    let errors: Vec<_> = assembly.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    if let Some(first) = errors.first() {
        let at = first.labels.first().map_or(0, |l| l.span.start as usize);
        let line = listing[..at].matches('\n').count();
        panic!("{first:?}\nin line: {}\n", listing.lines().nth(line).unwrap_or(""));
    }
    let back = assembly.program.expect("no error, so a program");
    for (pc, (found, expected)) in back.words.iter().zip(&program.words).enumerate() {
        if found != expected {
            panic!("slot {pc}: {expected:08x?} became {found:08x?}\nin:\n{}", near(&listing, pc));
        }
    }
    assert_eq!(without_spans(back), without_spans(program.clone()), "in:\n{listing}");
    listing
}

fn near(listing: &str, pc: usize) -> String {
    listing.lines().filter(|l| l.contains(&format!("; {pc}"))).take(3).collect::<Vec<_>>().join("\n")
}

fn hex_files(folder: &str) -> Vec<(String, Vec<Words>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .expect("the corpus is there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|e| e == "hex"))
        .collect();
    files.sort();
    let parse = |line: &str| -> Words {
        let words: Vec<u32> =
            line.split_whitespace().map(|w| u32::from_str_radix(w, 16).expect("a hexadecimal word")).collect();
        words.try_into().expect("six words")
    };
    files
        .iter()
        .map(|path| {
            let text = std::fs::read_to_string(path).expect("readable");
            let name = path.file_stem().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
            (name, text.lines().filter(|l| !l.trim().is_empty()).map(parse).collect())
        })
        .collect()
}

#[test]
fn programs_of_a_compiler() {
    let files = hex_files("tests/corpus/mesa/x1k");
    assert!(files.len() >= 26, "found {}", files.len());
    for (name, words) in files {
        let listing = round_trip(&Program::from_words(words), &ListingOptions::default());
        assert!(!listing.contains(".word"), "{name} needs .word:\n{listing}");
        assert!(!listing.contains(" fc "), "{name} has unstructured flow control:\n{listing}");
    }
}

#[test]
fn comments_change_nothing() {
    for (_, words) in hex_files("tests/corpus/mesa/x1k").into_iter().take(6) {
        for bits in 0..8 {
            let options = ListingOptions { addresses: bits & 1 != 0, explain: bits & 2 != 0, words: bits & 4 != 0 };
            round_trip(&Program::from_words(words.clone()), &options);
        }
    }
}

/// Words whose fields hold allowed values; some of them idle, so that the result is often printable as a line.
fn legal_words(random: &mut Random, targets: usize) -> Words {
    let kind = InstType::ALL[random.below(4)];
    let mut words = [0; 6];
    let idle = random.below(4);
    for (kinds, format) in WORDS.iter().filter(|(kinds, _)| kinds.contains(&kind)) {
        debug_assert!(kinds.contains(&kind));
        for field in format.fields {
            let value = if field.name == "TYPE" {
                kind.code()
            } else if field.name == "JUMP_ADDR" {
                random.below(targets + 2).min(511) as u32
            } else if idle > 0 && random.below(4) < idle {
                0
            } else if field.values.is_empty() {
                random.word() & (field.mask() >> field.lsb)
            } else {
                field.values[random.below(field.values.len())].code
            };
            words[format.dword] |= value << field.lsb;
        }
    }
    // Where nothing is written, no semaphore is derived for a target.
    if let Ok(Inst::Alu(mut alu)) = Inst::decode(&words)
        && alu.is_output()
        && alu.cmn.rgb_omask == 0
        && !alu.cmn.alpha_omask
    {
        alu.rgb.target = 0;
        words = Inst::Alu(alu).encode();
    }
    words
}

/// Flow control that looks like the Guide's, often wrongly nested.
fn flow_words(random: &mut Random, at: usize, count: usize) -> Words {
    const ROWS: [u32; 22] = [
        0x0a00_0f00,
        0x0401_0010,
        0x0101_0020,
        0x0200_0f00,
        0x0000_0001,
        0x0000_ff22,
        0x0400_ff05,
        0x0400_ff07,
        0x0000_5500,
        0x0000_ff00,
        0x0a00_3300,
        0x0200_3300,
        0x0000_0003,
        0x0000_ff24,
        0x0400_ff06,
        0x0401_aa05,
        0x0401_cc06,
        0x0402_f005,
        0x0800_ffa0,
        0x0800_f0a0,
        0x0401_ff40,
        0x0000_aa00,
    ];
    let cmn = 2 | (random.word() & 0x44) | if random.one_in(2) { (1 + random.below(5) as u32) << 3 } else { 0 };
    let row = ROWS[random.below(ROWS.len())] | (random.word() & 0x1000_0000);
    let target = (at + random.below(9)).saturating_sub(2).min(count) as u32;
    [cmn, 0, row, target << 16 | random.word() & 0x1f, 0, 0]
}

fn some_words(random: &mut Random, at: usize, count: usize, style: usize) -> Words {
    match style {
        0 => std::array::from_fn(|_| random.word()),
        1 => {
            // Mostly clear words, as in hand-written programs.
            let mut words = legal_words(random, count);
            words[1..].iter_mut().for_each(|w| *w &= random.word() | random.word());
            if random.one_in(16) {
                words[random.below(6)] ^= 1 << random.below(32);
            }
            words
        }
        2 => legal_words(random, count),
        _ if random.one_in(3) => flow_words(random, at, count),
        _ => legal_words(random, count),
    }
}

/// Random instructions in programs of every kind: uniformly random words, allowed fields, almost flow control.
fn random_instructions(seed: u64, wanted: usize) {
    let mut random = Random(seed);
    let (mut slots, mut lines) = (0usize, 0usize);
    while slots < wanted {
        let count = if random.one_in(8) { random.below(40) } else { 512 };
        let style = random.below(4);
        let words: Vec<Words> = (0..count).map(|at| some_words(&mut random, at, count, style)).collect();
        let mut program = Program::from_words(words);
        if random.one_in(4) {
            program.first = random.below(520) as u16;
            program.last = random.below(520) as u16;
            program.uncached = random.one_in(2);
            program.full_flow_control = random.one_in(2);
        }
        let listing = round_trip(&program, &ListingOptions { addresses: false, ..ListingOptions::default() });
        slots += count;
        lines +=
            listing.lines().filter(|l| l.starts_with("  ") && !l.contains(".word") && !l.contains("endif")).count();
    }
    // Not everything may hide after `.word`.
    assert!(lines * 4 > slots, "only {lines} of {slots} instructions were lines of the language");
}

// A million together; two tests, so that two processors can share them.
#[test]
fn half_a_million_random_instructions() {
    random_instructions(0x5eed_0001, ctm_testkit::tries::part(500_000) as usize);
}

#[test]
fn another_half_a_million_random_instructions() {
    random_instructions(0x5eed_0002, ctm_testkit::tries::part(500_000) as usize);
}

/// An instruction as compilers write it: both halves do the same on the same few sources, and components that the masks
/// make irrelevant hold any value of the compiler: the identity, a repeated channel, a constant or nothing.
fn compiler_words(random: &mut Random) -> Words {
    let mut inst = AluInst::idle([InstType::Alu, InstType::Output][random.below(2)]);
    let mut pool = [Source::IDLE; 3];
    for source in &mut pool[..1 + random.below(3)] {
        *source = match random.below(4) {
            0 => Source::Const { index: random.below(4) as u8, relative: false },
            1 => Source::Inline { code: random.below(128) as u8, relative: false },
            _ => Source::Temp { index: random.below(4) as u8, relative: false },
        };
    }
    let list = pool.map(Source::fields);
    let r = &mut inst.rgb_addr;
    (r.addr0, r.addr0_const, r.addr0_rel) = list[0];
    (r.addr1, r.addr1_const, r.addr1_rel) = list[1];
    (r.addr2, r.addr2_const, r.addr2_rel) = list[2];
    // The alpha half shares the sources, or some of them.
    let keep: [bool; 3] = std::array::from_fn(|_| !random.one_in(5));
    let idle = Source::IDLE.fields();
    let of = |n: usize| if keep[n] { list[n] } else { idle };
    let a = &mut inst.alpha_addr;
    (a.addr0, a.addr0_const, a.addr0_rel) = of(0);
    (a.addr1, a.addr1_const, a.addr1_rel) = of(1);
    (a.addr2, a.addr2_const, a.addr2_rel) = of(2);
    if random.one_in(6) {
        inst.rgb_addr.srcp_op = SrcpOp::ALL[random.below(4)];
        inst.alpha_addr.srcp_op = inst.rgb_addr.srcp_op;
    }

    let wmask = random.below(16) as u8;
    let written = if inst.is_output() {
        let omask = random.below(16) as u8;
        (inst.cmn.rgb_omask, inst.cmn.alpha_omask) = (omask & 7, omask & 8 != 0);
        let target = random.below(4) as u8;
        (inst.rgb.target, inst.alpha.target) = (target, if random.one_in(4) { 0 } else { target });
        if random.one_in(2) { omask } else { omask | wmask }
    } else {
        wmask
    };
    let wmask = if written & wmask == wmask { wmask } else { 0 };
    (inst.cmn.rgb_wmask, inst.cmn.alpha_wmask) = (wmask & 7, wmask & 8 != 0);
    let dest = random.below(6) as u8;
    inst.rgba.addrd = if written & 7 != 0 || random.one_in(3) { dest } else { 0 };
    inst.alpha.addrd = if written & 8 != 0 || random.one_in(3) { dest } else { 0 };
    let (rgb, alpha) = [
        (RgbOp::Mad, AlphaOp::Mad),
        (RgbOp::Mad, AlphaOp::Mad),
        (RgbOp::Max, AlphaOp::Max),
        (RgbOp::Min, AlphaOp::Min),
        (RgbOp::Cmp, AlphaOp::Cmp),
        (RgbOp::Cnd, AlphaOp::Cnd),
        (RgbOp::Frc, AlphaOp::Frc),
        (RgbOp::Dp3, AlphaOp::Dp),
        (RgbOp::Dp4, AlphaOp::Dp),
        (RgbOp::D2a, AlphaOp::Dp),
        (RgbOp::Sop, AlphaOp::Rcp),
        (RgbOp::Sop, AlphaOp::Ex2),
        (RgbOp::Mdh, AlphaOp::Mdh),
    ][random.below(13)];
    (inst.rgba.op, inst.alpha.op) = (rgb, alpha);
    match random.below(5) {
        // Only one half works; the other has the compilers' default.
        0 => inst.alpha.op = AlphaOp::Mad,
        1 => inst.rgba.op = RgbOp::Mad,
        _ => {}
    }
    let omod = if random.one_in(5) { Omod::ALL[random.below(Omod::ALL.len())] } else { Omod::U1 };
    (inst.rgb.omod, inst.alpha.omod) = (omod, omod);
    let clamp = random.one_in(5);
    (inst.cmn.rgb_clamp, inst.cmn.alpha_clamp) = (clamp, clamp);

    // Three operands of four channels; `filler` is the value of channels outside the mask.
    const CHANNELS: [Swizzle; 4] = [Swizzle::R, Swizzle::G, Swizzle::B, Swizzle::A];
    let filler = random.below(5);
    let mut operands = [(Sel::Src0, [Swizzle::R; 4], Imod::Off); 3];
    for (sel, swizzle, imod) in &mut operands {
        let presub = random.one_in(6);
        *sel = Sel::ALL[random.below(if presub { 4 } else { 3 })];
        let style = random.below(5);
        let constant = [Swizzle::Zero, Swizzle::Half, Swizzle::One][random.below(3)];
        let channel = CHANNELS[random.below(4)];
        for (i, swizzle) in swizzle.iter_mut().enumerate() {
            let wanted = match style {
                0 | 1 => CHANNELS[i],
                2 => channel,
                3 => constant,
                _ => Swizzle::ALL[random.below(8)],
            };
            let filled = match filler {
                0 => wanted,
                1 => CHANNELS[i],
                2 => [Swizzle::Zero, Swizzle::One, Swizzle::Unused][random.below(3)],
                3 => channel,
                _ => Swizzle::ALL[random.below(8)],
            };
            *swizzle = if written >> i & 1 == 1 { wanted } else { filled };
        }
        if random.one_in(4) {
            *imod = Imod::ALL[random.below(4)];
        }
    }
    let [a, b, c] = operands;
    let w = &mut inst.rgb;
    (w.sel_a, [w.red_swiz_a, w.green_swiz_a, w.blue_swiz_a, _], w.imod_a) = a;
    (w.sel_b, [w.red_swiz_b, w.green_swiz_b, w.blue_swiz_b, _], w.imod_b) = b;
    let w = &mut inst.alpha;
    (w.sel_a, w.swiz_a, w.imod_a) = (a.0, a.1[3], a.2);
    (w.sel_b, w.swiz_b, w.imod_b) = (b.0, b.1[3], b.2);
    let w = &mut inst.rgba;
    (w.rgb_sel_c, [w.red_swiz_c, w.green_swiz_c, w.blue_swiz_c, _], w.rgb_imod_c) = c;
    (w.alpha_sel_c, w.alpha_swiz_c, w.alpha_imod_c) = (c.0, c.1[3], c.2);
    if random.one_in(3) {
        let fixed = [Swizzle::Zero, Swizzle::One][random.below(2)];
        w.rgb_sel_c = Sel::Src0;
        (w.red_swiz_c, w.green_swiz_c, w.blue_swiz_c, w.alpha_swiz_c) = (fixed, fixed, fixed, fixed);
    }
    if random.one_in(5) {
        let pred = PredSel::ALL[random.below(PredSel::ALL.len())];
        (inst.cmn.rgb_pred_sel, inst.cmn.alpha_pred_sel) = (pred, pred);
    }
    Inst::Alu(inst).encode()
}

#[test]
fn what_compilers_leave_in_unwritten_channels_comes_back() {
    let mut random = Random(0x5eed_0003);
    for _ in 0..ctm_testkit::tries::part(400) {
        let words: Vec<Words> = (0..500).map(|_| compiler_words(&mut random)).collect();
        round_trip(&Program::from_words(words), &ListingOptions { addresses: false, ..ListingOptions::default() });
    }
}

/// Programs of a compiler with some bits changed.
#[test]
fn almost_compiled_programs_come_back() {
    let mut random = Random(0x5eed_0004);
    for (_, words) in hex_files("tests/corpus/mesa/x1k") {
        for _ in 0..100 {
            let mut words = words.clone();
            for _ in 0..1 + random.below(12) {
                let at = random.below(words.len());
                words[at][random.below(6)] ^= 1 << random.below(32);
            }
            round_trip(&Program::from_words(words), &ListingOptions { addresses: false, ..ListingOptions::default() });
        }
    }
}

/// `mul r4.ra, r1, (1, 1, 1, 1)` of a compiler, whose RGB half swizzles the channels that it does not write.
#[test]
fn unwritten_channels_of_a_four_channel_operand() {
    for rgb in [0x00db_0220, 0x00db_0280, 0x00db_0480, 0x0000_0220] {
        for masks in [0x4800, 0x5000, 0x6000, 0x5800, 0x7800] {
            let words = [masks, 0x0802_0001, 0x0802_0001, rgb, 0x0c60_c040, 0x2049_0040];
            let mut program = vec![words];
            program.push([5, 0, 0, 0, 0, 0]);
            round_trip(&Program::from_words(program), &ListingOptions::default());
        }
    }
}

/// The rules that derived bits must satisfy.
const WORKED_OUT: &[&str] = &[
    "presubtract-nop",
    "presubtract-nop-register",
    "quad-nop",
    "acquire-without-wait",
    "missing-tex-wait",
    "missing-tex-acquire",
    "overwritten-lookup",
    "missing-alu-wait",
    "fc-tex-wait-erratum",
    "last-without-wait",
];

/// The listing without the settings that the assembler can work out.
fn without_settings(listing: &str) -> String {
    let settings = ["wait", "nowait", "acquire", "noacquire", "aluwait", "noaluwait", "nop", "nonop"];
    let line = |line: &str| line.split(' ').filter(|word| !settings.contains(word)).collect::<Vec<_>>().join(" ");
    listing.lines().map(|l| line(l) + "\n").collect()
}

fn assert_hazards_are_met(name: &str, source: &str) {
    let assembly = assemble(source);
    let program = assembly.program.unwrap_or_else(|| panic!("{name}: {:?}\n{source}", assembly.diagnostics));
    let findings = check(&program);
    let missed: Vec<_> = findings.iter().filter(|f| WORKED_OUT.contains(&f.rule)).collect();
    assert!(missed.is_empty(), "{name}: {missed:#?}\n{}", disassemble(&program, &ListingOptions::default()));
}

#[test]
fn what_is_worked_out_satisfies_the_checker() {
    let options = ListingOptions { addresses: false, ..ListingOptions::default() };
    for (name, words) in hex_files("tests/corpus/mesa/x1k") {
        let listing = disassemble(&Program::from_words(words), &options);
        assert_hazards_are_met(&name, &without_settings(&listing));
    }
    let mut random = Random(0xa2);
    for round in 0..4_000 {
        let count = 2 + random.below(30);
        let mut words: Vec<Words> = (0..count)
            .map(|at| if random.one_in(4) { flow_words(&mut random, at, count - 1) } else { tidy_words(&mut random) })
            .collect();
        words[count - 1] = [5, 0, 0, 0, 0, 0];
        let mut program = Program::from_words(words);
        program.uncached = random.one_in(4);
        program.full_flow_control = true;
        let listing = without_settings(&disassemble(&program, &options));
        if !listing.contains(".word") {
            assert_hazards_are_met(&format!("program {round}"), &listing);
        }
    }
}

/// ALU and TEX instructions on few registers, without anything that has no effect.
fn tidy_words(random: &mut Random) -> Words {
    let kind = [InstType::Alu, InstType::Alu, InstType::Output, InstType::Tex][random.below(4)];
    let mut words = [0; 6];
    for (_, format) in WORDS.iter().filter(|(kinds, _)| kinds.contains(&kind)) {
        for field in format.fields {
            let value = match field.name {
                "TYPE" => kind.code(),
                "NOP" | "TEX_SEM_WAIT" | "TEX_SEM_ACQUIRE" | "ALU_WAIT" | "LAST" | "STAT_WE" | "WRITE_INACTIVE" => 0,
                "ADDR0" | "ADDR1" | "ADDR2" | "ALPHA_ADDRD" | "RGB_ADDRD" | "SRC_ADDR" | "DST_ADDR" => {
                    random.below(4) as u32
                }
                name if name.ends_with("_REL") || name.ends_with("_CONST") => u32::from(random.one_in(12)),
                _ if field.name.contains("MASK") && random.one_in(2) => 0,
                _ if field.values.is_empty() => random.word() & (field.mask() >> field.lsb),
                _ => field.values[random.below(field.values.len())].code,
            };
            words[format.dword] |= value << field.lsb;
        }
    }
    words
}

#[test]
fn allowed_fields_have_no_stray_bits() {
    let mut random = Random(7);
    for _ in 0..10_000 {
        let words = legal_words(&mut random, 512);
        assert_eq!(stray_bits(&words), Ok([0; 6]), "{words:08x?}");
    }
}

/// Everything that a program says beside its words.
#[test]
fn program_information() {
    let mut random = Random(0x1f0);
    let names = ["map", "r0", "a b", "L5", "k", "k", "", "\"q\"\\\n", "aL", "none", "ünïcode", "input"];
    let kinds = [SymbolKind::Input, SymbolKind::Output, SymbolKind::Float, SymbolKind::Int, SymbolKind::Bool];
    for _ in 0..2_000 {
        let count = random.below(12);
        let words: Vec<Words> = (0..count).map(|at| some_words(&mut random, at, count, 3)).collect();
        let mut program = Program::from_words(words);
        program.first = random.below(count + 3) as u16;
        program.last = random.below(count + 3) as u16;
        program.full_flow_control = random.one_in(2);
        program.uncached = random.one_in(2);
        program.zero_times_anything = random.one_in(2);
        program.conditional_value = random.one_in(2);
        program.preloads = (0..random.below(4))
            .map(|_| match random.below(2) {
                0 => Preload::Position { temp: random.below(128) as u8 },
                _ => Preload::Interpolant { index: random.below(16) as u8, temp: random.below(128) as u8 },
            })
            .collect();
        program.symbols = (0..random.below(6))
            .map(|_| {
                let kind = kinds[random.below(5)];
                let limit = match kind {
                    SymbolKind::Input => 16,
                    SymbolKind::Output => 4,
                    SymbolKind::Float => 256,
                    SymbolKind::Int | SymbolKind::Bool => 32,
                };
                let index = if random.one_in(2) { 1 } else { random.below(limit) as u8 };
                Symbol { name: names[random.below(names.len())].to_owned(), kind, index }
            })
            .collect();
        program.literals = (0..random.below(5))
            .map(|_| match random.below(3) {
                0 => Literal::Float {
                    index: random.below(256) as u8,
                    bits: std::array::from_fn(|_| if random.one_in(3) { 0x7f80_0000 } else { random.word() }),
                },
                1 => Literal::Int { index: 1, value: random.word().to_le_bytes() },
                _ => Literal::Bool { index: random.below(32) as u8, value: random.one_in(2) },
            })
            .collect();
        round_trip(&program, &ListingOptions::default());
    }
}
