//! Containers of R700 programs: contents, unchanged and changed programs, hostile files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ctm_image::elf::{self, Elf, ElfSymbol};
use ctm_image::info::{InfoValue, describe};
use ctm_image::r700::gfd::header::{GEOMETRY, HeaderLayout, PIXEL, VERTEX, VariableKind};
use ctm_image::r700::gfd::{self, BlockKind, Gfd, NewProgram, NewVariable, OtherWord};
use ctm_image::r700::llvm_elf::{Mach, Object};
use ctm_image::r700::{Container, ExtractedProgram, RegisterValue, ShaderStage, cal, registers};
use ctm_image::{ImageError, hex};
use ctm_testkit::seeded::Random;

const LLVM: [(&str, &[u8], &str); 6] = [
    ("float_ps", include_bytes!("corpus/llvm/01_float_ps.o"), include_str!("corpus/llvm/01_float_ps.hex")),
    ("loop_ps", include_bytes!("corpus/llvm/04_loop_ps.o"), include_str!("corpus/llvm/04_loop_ps.hex")),
    ("trans_ps", include_bytes!("corpus/llvm/05_trans_ps.o"), include_str!("corpus/llvm/05_trans_ps.hex")),
    ("tex_ps", include_bytes!("corpus/llvm/06_tex_ps.o"), include_str!("corpus/llvm/06_tex_ps.hex")),
    ("const_vs", include_bytes!("corpus/llvm/07_const_vs.o"), include_str!("corpus/llvm/07_const_vs.hex")),
    ("indirect_ps", include_bytes!("corpus/llvm/11_indirect_ps.o"), include_str!("corpus/llvm/11_indirect_ps.hex")),
];

fn set(name: &str, value: u32) -> RegisterValue {
    RegisterValue { address: registers::address(name).unwrap_or_else(|| panic!("no register {name}")), value }
}

fn variable(kind: VariableKind, name: &str, values: &[u32]) -> NewVariable {
    NewVariable { kind, name: name.to_owned(), values: values.to_vec() }
}

/// A container with a program of every stage, every table of variables, and a list of each kind of register.
fn container() -> Gfd {
    let words = |n: u32| (0..n).map(|i| i * 0x0101_0101).collect::<Vec<u32>>();
    let vertex = NewProgram {
        code: ExtractedProgram {
            stage: ShaderStage::Vertex,
            words: words(6),
            registers: vec![
                set("SQ_PGM_RESOURCES_VS", 0x0020_0104),
                set("SPI_VS_OUT_CONFIG", 2),
                set("SPI_VS_OUT_ID_0", 0xffff_0100),
                set("SQ_VTX_SEMANTIC_0", 0),
                set("SQ_VTX_SEMANTIC_1", 1),
            ],
        },
        copy: None,
        mode: 1,
        words: vec![OtherWord { name: "stream out stride", index: 2, value: 24 }],
        variables: vec![
            variable(VariableKind::UniformBlock, "Globals", &[0, 64]),
            variable(VariableKind::Uniform, "matrix", &[29, 1, 0, u32::MAX]),
            variable(VariableKind::Uniform, "scale", &[4, 1, 16, 0]),
            variable(VariableKind::InitialValue, "", &[0x3f80_0000, 0, 0, 0x4000_0000, 16]),
            variable(VariableKind::Loop, "", &[0, 0x0100_00ff]),
            variable(VariableKind::Sampler, "height", &[1, 3]),
            variable(VariableKind::Attribute, "position", &[11, 0, 0]),
        ],
    };
    let pixel = NewProgram {
        code: ExtractedProgram {
            stage: ShaderStage::Pixel,
            words: words(4),
            registers: vec![
                set("SQ_PGM_RESOURCES_PS", 0x0000_0002),
                set("SQ_PGM_EXPORTS_PS", 5),
                set("SPI_PS_IN_CONTROL_0", 0x1400_0002),
                set("SPI_PS_INPUT_CNTL_0", 0x100),
                set("SPI_PS_INPUT_CNTL_1", 0x101),
                set("CB_SHADER_MASK", 0xf),
            ],
        },
        copy: None,
        mode: 0,
        words: Vec::new(),
        variables: vec![variable(VariableKind::Sampler, "image", &[1, 0])],
    };
    let geometry = NewProgram {
        code: ExtractedProgram {
            stage: ShaderStage::Geometry,
            words: words(8),
            registers: vec![
                set("SQ_PGM_RESOURCES_GS", 7),
                set("SQ_PGM_RESOURCES_VS", 3),
                set("VGT_GS_OUT_PRIM_TYPE", 2),
            ],
        },
        copy: Some(ExtractedProgram { stage: ShaderStage::Copy, words: words(2), registers: Vec::new() }),
        mode: 0,
        words: Vec::new(),
        variables: Vec::new(),
    };
    gfd::build(&[vertex, pixel, geometry]).unwrap()
}

fn encoding(machine: u32, text: Vec<u8>) -> cal::Encoding {
    let note = |kind: cal::NoteKind, words: &[u32]| cal::NoteWords { kind: kind.code(), words: words.to_vec() };
    cal::Encoding {
        machine,
        program_type: 0,
        notes: vec![
            // SQ_PGM_RESOURCES_PS, SQ_PGM_EXPORTS_PS, SPI_PS_INPUT_CNTL_0, and two ABI keys.
            note(cal::NoteKind::ProgInfo, &[0xa214, 0x7200_0003, 0xa215, 2, 0xa191, 0, 0x8000_0000, 1, 0x8000_0001, 0]),
            note(cal::NoteKind::Inputs, &[0, 1]),
            note(cal::NoteKind::Outputs, &[0]),
            note(cal::NoteKind::CondOut, &[0]),
            note(cal::NoteKind::ConstantBuffers, &[0, 2]),
            note(cal::NoteKind::InputSamplers, &[0, 0, 1, 1]),
        ],
        text,
        data: vec![0; cal::DATA_BYTES as usize],
        symbols: vec![ElfSymbol { at: 0, name: "cb0".to_owned(), value: 4, size: 0, kind: 13, section: 0xfff1 }],
    }
}

fn image() -> Vec<u8> {
    let isa = |n: u8| (0..n * 8).collect::<Vec<u8>>();
    cal::build(&[encoding(4, isa(3)), encoding(8, b"il_ps_2_0\n".to_vec()), encoding(11, isa(2))])
}

/// The places are those that tools agree on (`docs/image.md`); a row too many or too few would shift the end.
#[test]
fn header_blocks_have_their_known_sizes() {
    for (layout, size, program_size) in [(&VERTEX, 0x134, 0xd0), (&PIXEL, 0xe8, 0xa4), (&GEOMETRY, 0xc0, 0x4c)] {
        assert_eq!(layout.words().count() as u64 * 4, size);
        assert_eq!(layout.size, size);
        let place = layout.words().find(|(_, p)| *p == gfd::header::WordMeaning::ProgramSize).unwrap().0;
        assert_eq!(place, program_size);
    }
    assert!(HeaderLayout::of(BlockKind::ComputeHeader).is_none());
}

#[test]
fn registers_have_names_and_addresses() {
    for row in registers::REGISTERS {
        for index in [0, row.count - 1] {
            let address = row.address + index * 4;
            assert_eq!(registers::address(&registers::name(address)), Some(address));
        }
    }
    assert_eq!(registers::name(0x28850), "SQ_PGM_RESOURCES_PS");
    assert_eq!(registers::name(0x28648), "SPI_PS_INPUT_CNTL_1");
    assert_eq!(registers::name(0x286c0), "SPI_PS_INPUT_CNTL_31");
    assert_eq!(registers::name(0x12344), "0x12344");
    assert_eq!(registers::at(0x28851), None);
}

#[test]
fn llvm_objects_say_what_their_words_say() {
    for (name, bytes, text) in LLVM {
        let object = Object::read(bytes).unwrap();
        assert_eq!(object.mach, Some(Mach::Rv770));
        let [function] = &object.functions[..] else { panic!("one function") };
        assert_eq!(function.name, name);
        assert_eq!(function.code.words, hex::read_words(text, 2).unwrap());
        let stage = if name.ends_with("_vs") { ShaderStage::Vertex } else { ShaderStage::Pixel };
        assert_eq!(function.code.stage, stage);
    }
    let resources = Object::read(LLVM[1].1).unwrap().functions[0].code.resources().unwrap();
    assert_eq!((resources.num_gprs, resources.stack_size), (6, 2));
}

fn containers() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = LLVM.iter().map(|(_, bytes, _)| bytes.to_vec()).collect();
    all.extend([container().write(), image()]);
    all
}

#[test]
fn an_untouched_container_is_written_as_it_was() {
    for bytes in containers() {
        let mut read = Container::read(&bytes).unwrap();
        assert_eq!(read.write(), bytes);
        for entry in read.programs().unwrap() {
            read.replace(entry.index, &entry.code).unwrap();
        }
        assert_eq!(read.write(), bytes);
    }
}

#[test]
fn a_program_can_be_replaced_by_a_longer_or_shorter_one() {
    for bytes in containers() {
        let before = Container::read(&bytes).unwrap().programs().unwrap();
        for entry in &before {
            for slots in [1, 2, 37] {
                let mut read = Container::read(&bytes).unwrap();
                let mut code = entry.code.clone();
                code.words = (0..slots * 2).map(|i| 0x1000 + i).collect();
                if let Some(first) = code.registers.first_mut() {
                    first.value = 0x0020_0307;
                }
                read.replace(entry.index, &code).unwrap();
                let read = Container::read(&read.write()).unwrap();
                for (old, new) in before.iter().zip(read.programs().unwrap()) {
                    // A copy program's registers are its geometry program's.
                    let shared = [entry.code.stage, old.code.stage] == [ShaderStage::Geometry, ShaderStage::Copy]
                        || [entry.code.stage, old.code.stage] == [ShaderStage::Copy, ShaderStage::Geometry];
                    let expected = if old.index == entry.index { &code } else { &old.code };
                    assert_eq!(new.code.words, expected.words);
                    assert!(shared || new.code.registers == expected.registers);
                }
                if let Container::Gfd(gfd) = &read {
                    assert_eq!(gfd.remarks(), []);
                }
            }
        }
    }
}

#[test]
fn a_container_says_what_was_put_in() {
    let gfd = container();
    assert_eq!(gfd.remarks(), []);
    let shaders = gfd.shaders().unwrap();
    let stages: Vec<ShaderStage> = shaders.iter().map(|s| s.code.stage).collect();
    assert_eq!(stages, [ShaderStage::Vertex, ShaderStage::Pixel, ShaderStage::Geometry, ShaderStage::Copy]);
    let vertex = &shaders[0];
    assert_eq!(vertex.code.register("SQ_PGM_RESOURCES_VS"), Some(0x0020_0104));
    assert_eq!(vertex.code.register("SQ_VTX_SEMANTIC_1"), Some(1));
    assert_eq!(vertex.code.register("SQ_VTX_SEMANTIC_2"), None);
    let names: Vec<&str> = vertex.variables.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["Globals", "matrix", "scale", "", "", "height", "position"]);
    assert_eq!(vertex.variables[1].values, [29, 1, 0, u32::MAX]);
    assert_eq!(shaders[3].code.words, [0, 0x0101_0101]);
    // The list of pointers: every one names a word that holds a pointer.
    let block = &gfd.blocks[0].data;
    let word = |at: usize| u32::from_be_bytes(block[at..at + 4].try_into().unwrap());
    let head = block.len() - 40;
    assert_eq!(&block[head..head + 4], b"}BLK");
    let (count, list) = (word(head + 32) as usize, (word(head + 36) & 0xf_ffff) as usize);
    assert_eq!(list + count * 4, head);
    for i in 0..count {
        let at = (word(list + i * 4) & 0xf_ffff) as usize;
        assert!(word(at) & 0xf_ffff < list as u32, "pointer {i} at {at:#x}");
    }
}

#[test]
fn containers_refuse_what_they_have_no_room_for() {
    let mut gfd = container();
    let pixel = gfd.shaders().unwrap()[1].code.clone();
    for (index, code, message) in [
        (9, pixel.clone(), "the program cannot be stored: the container has 4 programs; there is none at 9"),
        (
            0,
            pixel.clone(),
            "the program cannot be stored: a pixel program cannot stand in the place of a vertex program",
        ),
        (
            1,
            ExtractedProgram { registers: vec![set("SQ_CONFIG", 0)], ..pixel },
            "a register cannot be stored: a pixel program's header has no place for SQ_CONFIG",
        ),
    ] {
        assert_eq!(gfd.replace(index, &code).unwrap_err().to_string(), message);
    }
    let mut read = cal::Image::read(&image()).unwrap();
    let code = read.encodings[0].code().unwrap();
    assert_eq!(
        read.replace(1, &code).unwrap_err().to_string(),
        "the program cannot be stored: encoding 1 is not a pixel program of an R700 chip"
    );
    let mut object = Object::read(LLVM[0].1).unwrap();
    let code = ExtractedProgram { registers: vec![set("SQ_CONFIG", 0)], ..object.functions[0].code.clone() };
    assert_eq!(
        object.replace(0, &code).unwrap_err().to_string(),
        "a register cannot be stored: the object does not set SQ_CONFIG"
    );
}

#[test]
fn a_cal_image_says_what_was_put_in() {
    let read = cal::Image::read(&image()).unwrap();
    assert_eq!(read.remarks, []);
    let machines: Vec<u32> = read.encodings.iter().map(|e| e.machine).collect();
    assert_eq!(machines, [4, 8, 11]);
    assert_eq!(read.encodings[1].text, b"il_ps_2_0\n");
    assert_eq!(read.encodings[1].code(), None);
    let code = read.encodings[0].code().unwrap();
    assert_eq!(code.stage, ShaderStage::Pixel);
    assert_eq!(code.register("SQ_PGM_RESOURCES_PS"), Some(0x7200_0003));
    assert_eq!(code.resources().unwrap().num_gprs, 3);
    assert_eq!(code.registers.len(), 3);
    assert_eq!(read.encodings[2].symbols[0].name, "cb0");
    let again: Vec<cal::Encoding> = read
        .encodings
        .iter()
        .map(|e| cal::Encoding {
            symbols: e.symbols.iter().map(|s| ElfSymbol { at: 0, ..s.clone() }).collect(),
            ..e.clone()
        })
        .collect();
    assert_eq!(cal::build(&again), image());
}

#[test]
fn a_grown_section_keeps_everything_else() {
    for (_, bytes, _) in LLVM {
        let before = Elf::read(bytes).unwrap();
        let text = before.sections.iter().position(|s| s.name == ".text").unwrap();
        let edited = elf::replace_section(&before, text, &vec![0x5a; 4096]).unwrap();
        let after = Elf::read(&edited.bytes).unwrap();
        for (i, (old, new)) in before.sections.iter().zip(&after.sections).enumerate() {
            assert_eq!(old.name, new.name);
            if i == text {
                assert_eq!(after.bytes(&new.range), vec![0x5a; 4096]);
            } else if old.name == ".symtab" {
                assert_eq!(after.symbols(new).unwrap()[0].size, 4096);
            } else {
                assert_eq!(before.bytes(&old.range), after.bytes(&new.range));
            }
        }
    }
}

/// Found by fuzzing: an empty section outside the file.
#[test]
fn an_empty_section_may_name_any_offset() {
    for name in [".text", ".symtab", ".AMDGPU.config"] {
        for bytes in [LLVM[0].1.to_vec(), image(), {
            let program = hex::read("5 0 0 0 0 0").unwrap();
            ctm_image::ctm_elf::write(&program).unwrap()
        }] {
            let parsed = Elf::read(&bytes).unwrap();
            let headers: Vec<u64> = parsed.sections.iter().filter(|s| s.name == name).map(|s| s.at).collect();
            for at in headers {
                let mut bad = bytes.clone();
                let at = (at + elf::shdr::OFFSET.at) as usize;
                bad[at..at + 8].copy_from_slice(&[0xf0, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
                let _ = (describe(&bad), ctm_image::ctm_elf::read(&bad));
                if let Ok(mut read) = Container::read(&bad) {
                    assert_eq!(read.write(), bad);
                    let entry = read.programs().unwrap().remove(0);
                    let code = ExtractedProgram { words: vec![7; 10], ..entry.code };
                    read.replace(0, &code).unwrap();
                    assert_eq!(Container::read(&read.write()).unwrap().programs().unwrap()[0].code.words, code.words);
                }
            }
        }
    }
}

fn path<'v>(value: &'v InfoValue, names: &[&str]) -> &'v InfoValue {
    names.iter().fold(value, |v, name| match (v, name.parse::<usize>()) {
        (InfoValue::List(items), Ok(i)) => &items[i],
        _ => v.get(name).unwrap_or_else(|| panic!("no {name} in {}", v.to_text())),
    })
}

#[test]
fn containers_are_described() {
    let value = describe(&container().write()).unwrap().to_value();
    assert_eq!(path(&value, &["programs", "0", "GPRs"]), &InfoValue::Number(4));
    assert_eq!(path(&value, &["programs", "0", "stack entries"]), &InfoValue::Number(1));
    assert_eq!(path(&value, &["programs", "0", "exported parameters"]), &InfoValue::Number(2));
    assert_eq!(path(&value, &["programs", "0", "uniforms", "0", "type"]), &InfoValue::from("mat4x4"));
    assert_eq!(path(&value, &["programs", "1", "exported colours"]), &InfoValue::Number(2));
    assert_eq!(path(&value, &["programs", "1", "exports a depth"]), &InfoValue::Flag(true));
    assert_eq!(path(&value, &["programs", "1", "registers", "SPI_PS_INPUT_CNTL_1", "SEMANTIC"]), &InfoValue::Number(1));
    let value = describe(&image()).unwrap().to_value();
    assert_eq!(path(&value, &["encodings", "0", "machine"]), &InfoValue::from("RV770"));
    assert_eq!(path(&value, &["encodings", "0", "GPRs"]), &InfoValue::Number(3));
    assert_eq!(path(&value, &["encodings", "0", "ABI keys", "0", "name"]), &InfoValue::from("PS_INPUT_COUNT"));
    let value = describe(LLVM[1].1).unwrap().to_value();
    assert_eq!(path(&value, &["chip"]), &InfoValue::from("rv770"));
    assert_eq!(path(&value, &["functions", "0", "GPRs"]), &InfoValue::Number(6));
    let statistics = path(&value, &["functions", "0", "statistics"]);
    assert_eq!(path(statistics, &["exports"]), &InfoValue::List(vec![InfoValue::from("PIX 0")]));
    assert_eq!(path(statistics, &["operations", "CF LOOP_START_DX10"]), &InfoValue::Number(1));
    assert_eq!(path(statistics, &["unreadable"]), &InfoValue::List(Vec::new()));
    assert_eq!(
        path(&value, &["functions", "0", "registers", "DB_SHADER_CONTROL", "KILL_ENABLE"]),
        &InfoValue::Flag(false)
    );
}

#[test]
fn wrong_containers_are_named() {
    let gfd = container().write();
    let cal = image();
    let change = |bytes: &[u8], at: usize, new: &[u8]| {
        let mut bad = bytes.to_vec();
        bad[at..at + new.len()].copy_from_slice(new);
        let error = Container::read(&bad).and_then(|c| c.programs()).unwrap_err();
        error.to_string()
    };
    let dictionary = Elf::read(&cal).unwrap().segments[0].range.start as usize;
    for (found, message) in [
        (change(&gfd, 7, &[0x21]), "`header size` at byte 4 (0x4) is 33 (0x21); allowed: 32 (bytes of a header)"),
        (change(&gfd, 33, b"X"), "`magic` at byte 32 (0x20)"),
        (change(&gfd, 52, &[0xff; 4]), "a block's contents at byte 64 (0x40) has 4294967295 bytes"),
        // The count of uniforms, and where they are.
        (change(&gfd, 64 + 0xe4, &[0, 0, 4, 1]), "`number of variables` at byte 292 (0x124) is 1025"),
        (change(&gfd, 64 + 0xe8, &[0xd0, 0x6f, 0xff, 0xff]), "a table of variables at byte"),
        (change(&cal, 7, &[98]), "the file is an ELF file for another machine"),
        (change(&cal, dictionary + 8, &[0xff; 4]), "an encoding at byte 4294967295"),
        (change(&cal, dictionary + 12, &[4, 0, 0, 0]), "there is no program header of type PT_NOTE of an encoding"),
    ] {
        assert!(found.starts_with(message), "{found}\n{message}");
    }
}

#[test]
fn truncated_changed_and_random_containers_do_not_panic() {
    let mut random = Random::new(6);
    let look = |bytes: &[u8]| -> Result<(), ImageError> {
        let _ = describe(bytes).map(|d| d.to_value().to_text());
        let mut read = Container::read(bytes)?;
        assert_eq!(read.write(), bytes);
        for entry in read.programs()? {
            let mut code = entry.code;
            code.words.extend([1, 2]);
            if read.replace(entry.index, &code).is_ok() {
                let _ = Container::read(&read.write());
            }
        }
        Ok(())
    };
    for bytes in [container().write(), image(), LLVM[0].1.to_vec()] {
        for size in (0..bytes.len()).step_by(1 + bytes.len() / 700) {
            let _ = look(&bytes[..size]);
        }
        for _ in 0..1500 {
            let mut bad = bytes.clone();
            for _ in 0..=random.below(4) {
                // Most bytes of an image are constants; change where the structure is.
                let at = if random.flag() { random.below(bad.len()) } else { random.below(bad.len().min(700)) };
                bad[at] = random.word() as u8;
            }
            let _ = look(&bad);
        }
    }
}
