//! CTM executables: round trips, requirements of the Guide's chapter 4, and hostile files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ctm_image::ctm_elf::{self, NoteKind, program_info};
use ctm_image::elf::{self, Elf, ehdr};
use ctm_image::{ImageError, hex};
use ctm_isa::x1k::ops::InstType;
use ctm_isa::x1k::program::{Literal, Preload, Symbol, SymbolKind};
use ctm_isa::x1k::{Inst, Program};
use ctm_testkit::seeded::Random;

fn corpus() -> Vec<Program> {
    [
        include_str!("corpus/x1k/absneg_sat.hex"),
        include_str!("corpus/x1k/mandelbrot.hex"),
        include_str!("corpus/x1k/tex2d.hex"),
    ]
    .iter()
    .map(|text| hex::read(text).unwrap())
    .collect()
}

/// A program that uses everything an image can hold.
fn full() -> Program {
    let mut program = corpus().remove(1);
    program.zero_times_anything = true;
    program.uncached = true;
    program.conditional_value = true;
    program.full_flow_control = true;
    program.first = 1;
    program.last = 3;
    program.preloads = vec![
        Preload::Interpolant { index: 3, temp: 9 },
        Preload::Position { temp: 4 },
        Preload::Interpolant { index: 15, temp: 127 },
        Preload::Position { temp: 0 },
    ];
    program.symbols = vec![
        Symbol { name: "image".to_owned(), kind: SymbolKind::Input, index: 15 },
        Symbol { name: "result".to_owned(), kind: SymbolKind::Output, index: 3 },
        Symbol { name: "schr\u{f6}der".to_owned(), kind: SymbolKind::Float, index: 255 },
        Symbol { name: "turns".to_owned(), kind: SymbolKind::Int, index: 31 },
        Symbol { name: String::new(), kind: SymbolKind::Bool, index: 0 },
    ];
    program.literals = vec![
        Literal::Float { index: 200, bits: [0x7fc0_1234, 0x8000_0000, 1, 0x3f80_0000] },
        Literal::Int { index: 2, value: [255, 1, 0xff, 7] },
        Literal::Bool { index: 31, value: true },
        Literal::Bool { index: 30, value: false },
    ];
    program
}

fn random_program(random: &mut Random) -> Program {
    let count = 1 + random.below(20);
    let mut program = Program::from_words((0..count).map(|_| std::array::from_fn(|_| random.word())).collect());
    program.first = random.below(count) as u16;
    program.last = random.below(count) as u16;
    program.full_flow_control = random.flag();
    program.uncached = random.flag();
    program.zero_times_anything = random.flag();
    program.conditional_value = random.flag();
    program.preloads = (0..random.below(16))
        .map(|_| {
            let temp = random.below(128) as u8;
            match random.flag() {
                true => Preload::Position { temp },
                false => Preload::Interpolant { index: random.below(16) as u8, temp },
            }
        })
        .collect();
    program.symbols = (0..random.below(6))
        .map(|i| Symbol { name: format!("name{i}"), kind: SymbolKind::Float, index: random.word() as u8 })
        .collect();
    program.literals = (0..random.below(6))
        .map(|_| Literal::Float { index: random.word() as u8, bits: std::array::from_fn(|_| random.word()) })
        .collect();
    program
}

#[test]
fn what_is_written_is_read() {
    let mut random = Random::new(1);
    let programs = corpus().into_iter().chain([full()]).chain((0..200).map(|_| random_program(&mut random)));
    for program in programs {
        let file = ctm_elf::write(&program).unwrap();
        let image = ctm_elf::read_image(&file).unwrap();
        assert_eq!(image.program, program);
        assert_eq!(ctm_elf::write(&image.program).unwrap(), file);
        assert_eq!(ctm_elf::extent(&file).unwrap(), file.len() as u64);
    }
}

#[test]
fn compiled_programs_give_no_remarks() {
    for program in corpus() {
        let file = ctm_elf::write(&program).unwrap();
        assert_eq!(ctm_elf::read_image(&file).unwrap().remarks, []);
    }
}

/// The values of CTM §4.1.2 and §4.1.4, by the offsets of the ELF standard.
#[test]
fn a_file_holds_what_the_guide_says() {
    let program = Program::from_words(vec![[5, 0, 0, 0, 0, 0]]);
    let file = ctm_elf::write(&program).unwrap();
    assert_eq!(file[..9], [0x7f, b'E', b'L', b'F', 1, 1, 1, 98, 1]);
    assert_eq!(file[16..20], [2, 0, 122, 0]);
    assert_eq!(file[24..28], [0; 4]);
    assert_eq!(file[36..40], [1, 0, 0, 0]);
    let parsed = Elf::read(&file).unwrap();
    let note = &parsed.notes(&parsed.segments[0].range).unwrap()[0];
    assert_eq!((note.owner.as_str(), note.kind, note.range.end - note.range.start), ("ATI DPP", 1, 112));
    assert_eq!(&file[note.at as usize..note.at as usize + 20], b"\x08\0\0\0\x70\0\0\0\x01\0\0\0ATI DPP\0");
    let image = ctm_elf::read_image(&file).unwrap();
    let mut guide = [0; 28];
    (guide[0], guide[7], guide[8], guide[27]) = (1, 0xc0, 0x20000, 1);
    assert_eq!(image.information, guide);
    assert_eq!(image.notes.inputs, Some(vec![]));
    assert_eq!(image.notes.early_exit, Some(false));
    assert_eq!(parsed.notes(&parsed.segments[0].range).unwrap().len(), NoteKind::ALL.len());
}

#[test]
fn the_file_may_lie_in_front_of_other_bytes() {
    let mut memory = ctm_elf::write(&full()).unwrap();
    let size = memory.len() as u64;
    memory.extend(std::iter::repeat_n(0xa5, 5000));
    assert_eq!(ctm_elf::extent(&memory).unwrap(), size);
    assert_eq!(ctm_elf::read(&memory).unwrap(), full());
}

fn header_error(field: elf::ElfField, value: u8) -> String {
    let mut file = ctm_elf::write(&full()).unwrap();
    file[field.at as usize] = value;
    ctm_elf::read(&file).unwrap_err().to_string()
}

#[test]
fn wrong_headers_are_named() {
    for (field, value, message) in [
        (
            ehdr::MAGIC,
            0,
            "`e_ident[EI_MAG]` at byte 0 (0x0) is 1179403520 (0x464c4500); allowed: 1179403647 (the bytes 7f 45 4c 46)",
        ),
        (ehdr::CLASS, 2, "`e_ident[EI_CLASS]` at byte 4 (0x4) is 2 (0x2); allowed: 1 (ELFCLASS32)"),
        (ehdr::DATA, 2, "`e_ident[EI_DATA]` at byte 5 (0x5) is 2 (0x2); allowed: 1 (ELFDATA2LSB)"),
        (ehdr::OSABI, 100, "`e_ident[EI_OSABI]` at byte 7 (0x7) is 100 (0x64); allowed: 98 (ELFOSABI_ATI)"),
        (ehdr::ABIVERSION, 0, "`e_ident[EI_ABIVERSION]` at byte 8 (0x8) is 0 (0x0); allowed: 1 (the ABI version)"),
        (ehdr::TYPE, 1, "`e_type` at byte 16 (0x10) is 1 (0x1); allowed: 2 (ET_EXEC)"),
        (ehdr::MACHINE, 125, "`e_machine` at byte 18 (0x12) is 125 (0x7d); allowed: 122 (EM_ATI_R5XX)"),
        (ehdr::FLAGS, 0, "`e_flags` at byte 36 (0x24) is 0 (0x0); allowed: 1 (EF_ATI_DPP)"),
    ] {
        assert_eq!(header_error(field, value), message);
    }
}

/// Changes one word of the program information and reads the file.
fn with_information(index: usize, value: u32) -> Result<ctm_elf::Image, ImageError> {
    let mut file = ctm_elf::write(&full()).unwrap();
    let at = ctm_elf::read_image(&file).unwrap().information_offset as usize + index * 4;
    file[at..at + 4].copy_from_slice(&value.to_le_bytes());
    ctm_elf::read_image(&file)
}

#[test]
fn the_program_information_is_checked() {
    let count = full().words.len() as u32;
    for (index, value, message) in [
        (27, 0, "`INSTR_CNT`"),
        (27, count + 1, "`INSTR_CNT`"),
        (27, 0xffff_ffff, "`INSTR_CNT`"),
        (5, count, "`START_ADDR`"),
        (5, count << 16, "`END_ADDR`"),
    ] {
        let error = with_information(index, value).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
        assert!(matches!(error, ImageError::Field { .. }));
    }
    for (index, value, message) in [
        (27, count - 1, "`INSTR_CNT` is"),
        (6, 0, "`CODE_SIZE` of US_CODE_RANGE is 0"),
        (6, 7 | (count - 1) << 16, "`CODE_ADDR` of US_CODE_RANGE is 7"),
        (8, 0x10000, "a rasteriser instruction writes a colour"),
        (3, 0, "US_PIXSIZE is 0, but instructions refer to temporary"),
        (1, 0, "the CONDOUT note says 1; by FG_DEPTH_SRC it is 0"),
    ] {
        let image = with_information(index, value).unwrap();
        assert!(image.remarks.iter().any(|r| r.message.starts_with(message)), "{message}: {:?}", image.remarks);
    }
}

/// A file with the same sections but other notes.
fn with_notes(notes: &[(&str, u32, &[u32])]) -> Vec<u8> {
    let bytes: Vec<u8> = notes.iter().flat_map(|(owner, kind, words)| elf::note_bytes(owner, *kind, words)).collect();
    let header = [(ehdr::OSABI, 98), (ehdr::ABIVERSION, 1), (ehdr::TYPE, 2), (ehdr::MACHINE, 122), (ehdr::FLAGS, 1)];
    let segments = [
        elf::NewSegment { kind: elf::PT_NOTE, flags: 4, sections: (0, 0) },
        elf::NewSegment { kind: elf::PT_LOAD, flags: 5, sections: (1, 1) },
    ];
    let sections = [
        elf::NewSection { name: ".note", kind: elf::SHT_NOTE, bytes, ..elf::NewSection::default() },
        elf::NewSection {
            name: ".text",
            kind: elf::SHT_PROGBITS,
            flags: 6,
            bytes: [5u8].into_iter().chain([0; 23]).collect(),
            ..elf::NewSection::default()
        },
    ];
    elf::build(&header, &segments, &sections)
}

fn information() -> [u32; program_info::WORDS] {
    let file = ctm_elf::write(&Program::from_words(vec![[5, 0, 0, 0, 0, 0]])).unwrap();
    ctm_elf::read_image(&file).unwrap().information
}

#[test]
fn missing_notes_mean_none_but_the_first_is_required() {
    let info = information();
    let image = ctm_elf::read_image(&with_notes(&[("ATI DPP", 1, &info)])).unwrap();
    assert_eq!(image.notes, ctm_elf::Notes::default());
    assert_eq!(image.remarks, []);
    let error = ctm_elf::read(&with_notes(&[("ATI DPP", 2, &[])])).unwrap_err();
    assert_eq!(error, ImageError::Missing { what: "program information note", offset: 52, cite: "CTM §4.1.4" });
}

/// In a program with uncached writes TARGET is the kind of write: its one output is 0 (CTM §3.3.8).
#[test]
fn kinds_of_uncached_writes_are_no_outputs() {
    let text = ".uncached\n mov r1, r0.rrg0\n mov umrt[each], r1\n mov umrt[same], r1\n mov umrt[each], r1 acquire\n";
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/histogram/count.x1k");
    for text in [text.to_owned(), std::fs::read_to_string(example).unwrap()] {
        let assembly = ctm_isa::x1k::text::assemble(&text);
        let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
        let mut kinds = program.words.iter().filter_map(|words| match Inst::decode(words) {
            Ok(Inst::Alu(alu)) if alu.cmn.kind == InstType::Output => Some(alu.rgb.target),
            _ => None,
        });
        assert!(kinds.any(|kind| kind != 0), "{text}");
        let file = ctm_elf::write(&program).unwrap();
        let image = ctm_elf::read_image(&file).unwrap();
        assert_eq!((image.notes.outputs, image.remarks), (Some(vec![0]), vec![]), "{text}");
        let info = ctm_image::info::describe(&file).unwrap().to_value();
        let usage = info.get("program").and_then(|v| v.get("usage")).and_then(|v| v.get("outputs"));
        assert_eq!(usage, Some(&ctm_image::info::InfoValue::numbers([0u32])), "{text}");
    }
}

#[test]
fn notes_are_checked() {
    let info = information();
    let one = ("ATI DPP", 1, &info[..]);
    for (notes, message) in [
        (vec![one, one], "a second note of this type at byte 248"),
        (vec![("ATI DPP", 1, &info[..27])], "`descsz` at byte 120 (0x78) is 108 (0x6c); allowed: 112"),
        (vec![one, ("ATI DPP", 2, &[16])], "`INPUTS` at byte 268 (0x10c) is 16 (0x10); allowed: 0..=15"),
        (vec![one, ("ATI DPP", 3, &[0, 4])], "`OUTPUTS` at byte 272 (0x110) is 4 (0x4); allowed: 0..=3"),
        (vec![one, ("ATI DPP", 4, &[])], "`descsz` at byte 252 (0xfc) is 0 (0x0); allowed: 4 (one word)"),
        (vec![one, ("ATI DPP", 5, &[256])], "`FLOAT32CONSTS`"),
        (vec![one, ("ATI DPP", 6, &[32])], "`INT32CONSTS`"),
        (vec![one, ("ctm", 1, &[13, 256, 0, 0, 0, 0])], "`literal index`"),
        (vec![one, ("ctm", 1, &[0, 0, 0, 0, 0, 0])], "`literal kind`"),
        (vec![one, ("ctm", 1, &[13, 0, 0, 0, 0])], "`descsz`"),
    ] {
        let error = ctm_elf::read(&with_notes(&notes)).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}\n{message}");
    }
    for (notes, message) in [
        (vec![one, ("ATI CAL", 2, &[16])], "a note of owner `ATI CAL` and type 2, ignored"),
        (vec![one, ("ATI DPP", 8, &[])], "a note of owner `ATI DPP` and type 8, ignored"),
        (vec![one, ("ATI DPP", 7, &[2])], "the EARLYEXIT note holds 2; allowed are 0 and 1; taken as 1"),
        (vec![one, ("ATI DPP", 2, &[3])], "the INPUTS note lists what no instruction refers to: 3"),
    ] {
        let image = ctm_elf::read_image(&with_notes(&notes)).unwrap();
        assert!(image.remarks[0].message == message, "{:?}", image.remarks);
    }
}

#[test]
fn sections_and_segments_are_checked() {
    let file = ctm_elf::write(&corpus()[0]).unwrap();
    let parsed = Elf::read(&file).unwrap();
    let text = parsed.sections.iter().find(|s| s.name == ".text").unwrap().clone();
    for (base, field, value, message) in [
        (parsed.segments[1].at, elf::phdr::TYPE, 0, "there is no program header of type PT_LOAD"),
        (parsed.segments[0].at, elf::phdr::TYPE, 1, "a second program header of type PT_LOAD at byte 84"),
        (parsed.segments[0].at, elf::phdr::TYPE, 0, "there is no program header of type PT_NOTE"),
        (parsed.segments[1].at, elf::phdr::FILESZ, 4, "`p_offset` at byte 88"),
        (parsed.segments[1].at, elf::phdr::FILESZ, 0x00ff_ffff, "a segment at byte"),
        (text.at, elf::shdr::NAME, 0, "there is no .text"),
        (text.at, elf::shdr::NAME, 0x1000, "a section name at byte"),
        (text.at, elf::shdr::TYPE, 7, "`sh_type` at byte"),
        (text.at, elf::shdr::OFFSET, 0xffff_fff0, "a section at byte 4294967280"),
        (0, ehdr::PHNUM, 0xffff, "`e_phnum` at byte 44 (0x2c) is 65535 (0xffff); allowed: 0..=1024"),
        (0, ehdr::PHENTSIZE, 31, "`e_phentsize` at byte 42"),
        (0, ehdr::SHOFF, 0xffff_ffff, "a section header at byte 4294967295"),
        (0, ehdr::SHSTRNDX, 99, "`e_shstrndx` at byte 50"),
    ] {
        let mut bad = file.clone();
        let at = (base + field.at) as usize;
        let size = usize::from(field.size);
        bad[at..at + size].copy_from_slice(&u32::to_le_bytes(value)[..size]);
        let error = ctm_elf::read(&bad).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}\n{message}");
    }
}

#[test]
fn programs_that_cannot_be_stored_are_refused() {
    let base = corpus().remove(0);
    let with = |change: fn(&mut Program)| {
        let mut program = base.clone();
        change(&mut program);
        ctm_elf::write(&program).unwrap_err().to_string()
    };
    for (change, message) in [
        ((|p| p.words.clear()) as fn(&mut Program), "the program cannot be stored: it has no instruction"),
        (|p| p.words = vec![[0; 6]; 513], "the program has 513 instructions; the format holds 512"),
        (|p| p.first = 99, "the first instruction cannot be stored: it is 99; the program has 0..=7"),
        (|p| p.last = 8, "the last instruction cannot be stored: it is 8; the program has 0..=7"),
        (|p| p.preloads = vec![Preload::Position { temp: 0 }; 17], "the program has 17 preloads; the format holds 16"),
        (|p| p.preloads = vec![Preload::Position { temp: 128 }], "a preload cannot be stored"),
        (
            |p| p.symbols = vec![Symbol { name: "a".to_owned(), kind: SymbolKind::Output, index: 4 }],
            "a symbol cannot be stored: OUTPUT 4 does not exist; there are 0..=3",
        ),
        (
            |p| p.symbols = vec![Symbol { name: "a\0".to_owned(), kind: SymbolKind::Output, index: 0 }],
            "a symbol's name cannot be stored",
        ),
        (|p| p.literals = vec![Literal::Bool { index: 32, value: true }], "a literal cannot be stored"),
    ] {
        let error = with(change);
        assert!(error.starts_with(message), "{error}\n{message}");
    }
}

#[test]
fn every_truncation_is_an_error() {
    let file = ctm_elf::write(&full()).unwrap();
    for size in 0..file.len() {
        let error = ctm_elf::read(&file[..size]).unwrap_err();
        assert!(error.offset().is_some(), "{error}");
    }
}

/// Nothing panics, and read files can be written and read again.
#[test]
fn changed_and_random_files_do_not_panic() {
    let file = ctm_elf::write(&full()).unwrap();
    let mut random = Random::new(2);
    let mut read = 0;
    for round in 0..20_000 {
        let mut bad = file.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bad.len());
            bad[at] = if random.flag() { random.word() as u8 } else { bad[at] ^ 1 << random.below(8) };
        }
        if round % 16 == 0 {
            bad.truncate(random.below(bad.len()));
        }
        if let Ok(program) = ctm_elf::read(&bad) {
            read += 1;
            let again = ctm_elf::write(&program).unwrap();
            assert_eq!(ctm_elf::read(&again).unwrap(), program);
        }
        let _ = ctm_elf::extent(&bad);
    }
    assert!(read > 1000, "{read} of the changed files could be read: the changes are too coarse");
    for _ in 0..5000 {
        let noise: Vec<u8> = (0..random.below(400)).map(|_| random.word() as u8).collect();
        assert!(ctm_elf::read(&noise).is_err());
        let mut headed = file[..52].to_vec();
        headed.extend(noise);
        let _ = ctm_elf::read(&headed);
    }
}
