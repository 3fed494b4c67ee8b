//! The PVS assembly there and back: programs of a compiler, every field, random words, random instructions, wrong texts.
#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_isa::pvs::flow::{self, FlowSlot, NO_FLOW};
use ctm_isa::pvs::formats::{DualMath, FlowLoopIndex, OpDst, Src};
use ctm_isa::pvs::inst::{Inst, stray_bits};
use ctm_isa::pvs::ops::{AddrMode, FlowOp, MacroOp, MathOp, Op, Select, VectorOp};
use ctm_isa::pvs::program::{Literal, SymbolKind, VertexSymbol};
use ctm_isa::pvs::text::{ListingOptions, assemble, disassemble};
use ctm_isa::pvs::{VertexProgram, Words};
use ctm_isa::table::WordFormat;
use std::path::PathBuf;

/// The programs of `tests/corpus/pvs`, each with its name.
fn corpus() -> Vec<(String, Vec<Words>)> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/pvs/programs.hex");
    let text = std::fs::read_to_string(path).unwrap();
    let program = |block: &str| {
        let (name, lines) = block.split_once('\n').unwrap();
        let words = |line: &str| -> Words {
            let words: Vec<u32> = line.split(' ').map(|w| u32::from_str_radix(w, 16).unwrap()).collect();
            words.try_into().unwrap()
        };
        (name.trim_start_matches("# ").to_owned(), lines.lines().map(words).collect())
    };
    text.split("\n\n").map(program).collect()
}

/// The program that a program's text gives, without its spans.
fn there_and_back(program: &VertexProgram) -> VertexProgram {
    let text = disassemble(program, &ListingOptions::default());
    let assembly = assemble(&text);
    assert!(assembly.diagnostics.is_empty(), "{:#?}\n{text}", assembly.diagnostics);
    VertexProgram { spans: Vec::new(), ..assembly.program.unwrap() }
}

#[test]
fn programs_of_a_real_compiler_come_back() {
    let corpus = corpus();
    assert_eq!(corpus.len(), 313);
    for (name, words) in corpus {
        for words in &words {
            assert_eq!(Inst::decode(words).map(|inst| inst.encode()), Ok(*words), "{name}");
        }
        let program = VertexProgram::from_words(words);
        let text = disassemble(&program, &ListingOptions::default());
        assert!(!text.contains(".word") && !text.contains("PVS_"), "{name}\n{text}");
        assert_eq!(there_and_back(&program), program, "{name}");
    }
}

/// xorshift64*: the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit
    }

    /// Every field at random, of its named values where it has some, reserved bits 0.
    fn word(&mut self, format: &WordFormat) -> u32 {
        format.fields.iter().fold(0, |word, field| {
            let value = match field.values {
                [] => field.extract(self.next()),
                values => values[self.below(values.len())].code << field.lsb >> field.lsb,
            };
            word | value << field.lsb & field.mask()
        })
    }

    /// A decodable instruction.
    fn inst(&mut self) -> Words {
        let ops: Vec<Op> = Op::all().collect();
        loop {
            let mut dst = OpDst::decode(self.word(&OpDst::FORMAT)).unwrap();
            dst.set_op(ops[self.below(ops.len())]);
            dst.dual_math &= self.below(2) == 0;
            let third = self.word(if dst.dual_math { &DualMath::FORMAT } else { &Src::FORMAT });
            let words = [dst.encode(), self.word(&Src::FORMAT), self.word(&Src::FORMAT), third];
            if Inst::decode(&words).is_ok() {
                return words;
            }
        }
    }
}

#[test]
fn every_legal_instruction_has_a_text() {
    let mut random = Random(0x0123_4567_89ab_cdef);
    let mut seen = std::collections::HashSet::new();
    for _ in 0..500 {
        let program = VertexProgram::from_words((0..40).map(|_| random.inst()).collect());
        for words in &program.words {
            let inst = Inst::decode(words).unwrap();
            assert_eq!(inst.encode(), *words);
            assert_eq!(stray_bits(words), Ok([0; 4]));
            seen.insert((inst.op, inst.dual().map(|(op, _)| op)));
        }
        let text = disassemble(&program, &ListingOptions { addresses: false, words: false });
        assert!(!text.contains(".word"), "{text}");
        assert_eq!(there_and_back(&program), program);
    }
    assert!(Op::all().all(|op| seen.iter().any(|(seen, _)| *seen == op)));
    assert!(MathOp::ALL.iter().all(|&op| seen.iter().any(|(_, dual)| *dual == Some(op))));
}

/// Each value of each field alone, and each pair of neighbouring ones, on instructions of every operation.
#[test]
fn every_field_has_a_text() {
    let mut programs = Vec::new();
    let base = |op: Op| {
        let mut dst = OpDst::nothing();
        dst.set_op(op);
        dst.set_write_mask(15);
        [dst.encode(), 0x00d1_0001, 0x00d1_0021, 0x00d1_0042]
    };
    for op in Op::all() {
        for dword in 0..4 {
            let format = if dword == 0 { OpDst::FORMAT } else { Src::FORMAT };
            for field in format.fields {
                for value in 0..=field.extract(u32::MAX).min(255) {
                    let mut words = base(op);
                    words[dword] = words[dword] & !field.mask() | value << field.lsb;
                    programs.push(words);
                }
            }
        }
    }
    for words in programs.chunks(1000) {
        let program = VertexProgram::from_words(words.to_vec());
        assert_eq!(there_and_back(&program), program);
        // Words without a text are those that cannot be decoded.
        for words in words {
            let one = VertexProgram::from_words(vec![*words]);
            let text = disassemble(&one, &ListingOptions::default());
            assert_eq!(text.contains(".word"), Inst::decode(words).is_err(), "{text}");
        }
    }
}

#[test]
fn any_words_come_back() {
    let mut random = Random(0xfeed_0000_1234_5678);
    for _ in 0..300 {
        let mut program = VertexProgram::from_words(
            (0..1 + random.below(60)).map(|_| std::array::from_fn(|_| random.next())).collect(),
        );
        if random.below(2) == 0 {
            program.first = random.next() as u16;
            program.last = random.next() as u16;
            (program.const_base, program.const_max) = (random.next() as u8, random.next() as u8);
        }
        for slot in &mut program.flow {
            if random.below(3) == 0 {
                let registers = std::array::from_fn(|_| {
                    let small = random.below(2) == 0;
                    [random.next(), random.next(), random.next()]
                        .map(|word| if small { word & 0x003f_003f } else { word })
                });
                *slot = flow::from_registers(random.next(), &registers)[0];
            }
        }
        assert_eq!(there_and_back(&program), program);
    }
}

#[test]
fn symbols_and_literals_come_back() {
    let symbol = |name: &str, kind, index| VertexSymbol { name: name.to_owned(), kind, index };
    let mut program = VertexProgram::from_words(vec![[0; 4]]);
    program.symbols = vec![
        symbol("position", SymbolKind::Input, 0),
        symbol("position", SymbolKind::Output, 0),
        symbol("a name \"with\" \\ everything\nin it", SymbolKind::Output, 127),
        symbol("mvp", SymbolKind::Constant, 4),
        symbol("r5", SymbolKind::Constant, 255),
        symbol("c", SymbolKind::Input, 255),
    ];
    let bits = [0x7fc0_0001, 0xff80_0000, 0x8000_0000, 1];
    program.literals =
        vec![Literal { index: 4, bits }, Literal { index: 0, bits: [1.5f32, -0.1, 1e30, 123.0].map(f32::to_bits) }];
    assert_eq!(there_and_back(&program), program);
}

#[test]
fn registers_of_flow_control_come_back() {
    let slots: flow::FlowTable = std::array::from_fn(|n| match n % 4 {
        0 => FlowSlot::repeat(1, 2, 5, 255, 7, -3),
        1 => FlowSlot::jump(6, 20),
        2 => FlowSlot::call(9, 30, 35, 10),
        _ => FlowSlot { index: FlowLoopIndex { init: 1, step: 2, inherit: true }, ..FlowSlot::IDLE },
    });
    let (opc, registers) = flow::to_registers(&slots);
    // Slots 0 to 3: loop 2, jump 1, call 3, none 0, two bits each.
    assert_eq!(opc, 0x3636_3636);
    assert_eq!(registers[0], [0x00ff_0001, 0x0002_0005, 0x0000_fd07]);
    assert_eq!(registers[1], [0x0014_0006, 0, 0]);
    assert_eq!(registers[2], [0x001e_0009, 0x000a_0023, 0]);
    assert_eq!(registers[3], [0, 0, 0x8000_0201]);
    assert_eq!(flow::from_registers(opc, &registers), slots);
    assert_eq!(NO_FLOW[0].op, FlowOp::None);
}

/// The words of a text of one instruction.
fn words_of(line: &str) -> Words {
    let assembly = assemble(line);
    assert!(assembly.diagnostics.is_empty(), "{line}: {:#?}", assembly.diagnostics);
    assembly.program.unwrap().words[0]
}

/// Vectors: words and the text that is printed for them, both ways; then texts that are read, but printed in another way.
#[test]
fn lines_and_their_words() {
    let path = ctm_testkit::vectors("pvs/text").join("lines.txt");
    let (mut fields, mut count) = (std::collections::BTreeSet::new(), 0);
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let Some((hex, text)) = line.split_once('\t') else {
            assert!(line.is_empty() || line.starts_with('#'), "{line}");
            continue;
        };
        let (hex, only_read) = hex.strip_prefix("< ").map_or((hex, false), |hex| (hex, true));
        let words: Vec<u32> = hex.split(' ').map(|w| u32::from_str_radix(w, 16).unwrap()).collect();
        let words: Words = words.try_into().unwrap();
        assert_eq!(words_of(text).map(|w| format!("{w:08X}")), words.map(|w| format!("{w:08X}")), "{text}");
        let listing =
            disassemble(&VertexProgram::from_words(vec![words]), &ListingOptions { addresses: false, words: false });
        let listing = listing.trim();
        assert_eq!(listing.split_whitespace().eq(text.split_whitespace()), !only_read, "{listing} for {text}");
        let inst = Inst::decode(&words).unwrap();
        fields.insert(inst.op.name());
        fields.extend(inst.dual().map(|(op, _)| op.name()));
        count += 1;
    }
    let missing: Vec<_> = Op::all().map(Op::name).filter(|name| !fields.contains(name)).collect();
    assert!(missing.is_empty(), "no line has {missing:?}");
    assert!(count >= 100, "{count}");
}

/// Wrong texts: below each text in the file the messages and helps that it gives.
#[test]
fn wrong_texts_say_what_is_allowed() {
    let path = ctm_testkit::vectors("pvs/text").join("rejects.txt");
    let text = std::fs::read_to_string(&path).unwrap();
    let (mut updated, mut count) = (String::new(), 0);
    let mut head = String::new();
    for block in text.split("\n\n") {
        let comment = block.lines().all(|line| line.starts_with('#'));
        if !updated.is_empty() || !head.is_empty() {
            updated.push('\n');
        }
        if comment {
            head = block.to_owned();
            updated.push_str(&format!("{block}\n"));
            continue;
        }
        let source: Vec<&str> =
            block.lines().filter(|line| !line.starts_with("= ") && !line.starts_with("  help")).collect();
        let source = source.join("\n");
        updated.push_str(&format!("{source}\n"));
        let found = assemble(&source).diagnostics;
        assert!(!found.is_empty(), "{source}: no finding");
        for finding in found {
            let at = finding.labels.first().map_or(0, |label| label.span.start as usize);
            let line = source[..at.min(source.len())].matches('\n').count() + 1;
            updated.push_str(&format!("= {line} {}: {}\n", finding.rule, finding.message));
            updated.extend(finding.help.map(|help| format!("  help {help}\n")));
            assert!(finding.message.starts_with(|c: char| !c.is_uppercase()) && !finding.message.ends_with('.'));
        }
        count += 1;
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, updated).unwrap();
    } else {
        assert_eq!(updated, text, "run with UPDATE_EXPECT=1");
    }
    assert!(count >= 30, "{count}");
}

#[test]
fn tables_are_as_the_register_text_says() {
    // r500 register chapters: 29 vector, 29 math, 2 macro opcodes without gaps.
    for (n, op) in VectorOp::ALL.iter().enumerate() {
        assert_eq!(op.code() as usize, n);
    }
    for (n, op) in MathOp::ALL.iter().enumerate() {
        assert_eq!(op.code() as usize, n);
    }
    assert_eq!((VectorOp::ALL.len(), MathOp::ALL.len(), MacroOp::ALL.len()), (29, 29, 2));
    assert_eq!((Select::One.code(), AddrMode::RelativeI0.code()), (5, 2));
    let mut mnemonics: Vec<&str> = Op::all().map(|op| op.info().mnemonic).collect();
    mnemonics.sort_unstable();
    assert!(mnemonics.windows(2).all(|pair| pair[0] != pair[1]));
    assert!(Op::all().all(|op| Op::from_mnemonic(op.info().mnemonic) == Some(op)));
}
