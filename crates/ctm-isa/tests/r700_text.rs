//! The R700 listing syntax: printed text is read again, for programs and for noise.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use ctm_isa::r700::Program;
use ctm_isa::r700::inst::{ClauseBody, decode_program};
use ctm_isa::r700::ports;
use ctm_isa::r700::text::{TextOptions, assemble, disassemble};
use std::path::{Path, PathBuf};

fn read_hex(path: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| line.split('#').next().unwrap())
        .flat_map(str::split_whitespace)
        .map(|word| u32::from_str_radix(word, 16).unwrap())
        .collect()
}

fn corpus() -> Vec<(PathBuf, Vec<u32>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let mut files = Vec::new();
    for directory in ["mesa/r700", "llvm"] {
        files.extend(std::fs::read_dir(root.join(directory)).unwrap().map(|f| f.unwrap().path()));
    }
    files.retain(|f| f.extension().is_some_and(|e| e == "hex"));
    files.sort();
    files.into_iter().map(|f| (f.clone(), read_hex(&f))).collect()
}

fn exact(words: &[u32], name: &str) -> String {
    let program = Program { words: words.to_vec(), ..Program::default() };
    let text = disassemble(&program, &TextOptions { header: false, ..TextOptions::default() });
    let again = assemble(&text, &TextOptions::default());
    let Some(assembled) = again.program else { panic!("{name}: {:#?}\n{text}", again.diagnostics) };
    if assembled.words != words {
        let at = assembled.words.iter().zip(words).position(|(a, b)| a != b);
        panic!(
            "{name}: {} dwords became {}, first difference {at:?}: {:08X?} became {:08X?}\n{text}",
            words.len(),
            assembled.words.len(),
            at.map(|i| words[i]),
            at.map(|i| assembled.words[i]),
        );
    }
    text
}

#[test]
fn corpus_round_trips_exactly() {
    for (path, words) in corpus() {
        let name = path.display().to_string();
        let text = exact(&words, &name);
        let invalid = name.contains("11_indirect");
        assert!(!text.contains(".unchecked"), "{name}\n{text}");
        assert_eq!(text.contains(".word"), invalid || name.contains("llvm"), "{name}\n{text}");
    }
}

/// A small generator with a seed (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(n)) >> 32) as u32
    }

    fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// A control-flow instruction that is often one that makes sense.
    fn cf(&mut self, slots: u32) -> [u32; 2] {
        let addr = self.below(slots + 2);
        let flags = self.next() & 0xc040_0000;
        match self.below(8) {
            0 => [self.next(), self.next()],
            1..=3 => {
                let kcache = if self.one_in(3) { self.next() } else { 0 };
                let count = self.below(6) << 18;
                [
                    addr | (kcache & 0xffc0_0000),
                    (kcache & 0x0203_ffff) | count | ((8 + self.below(8)) << 26) | (flags & 0xc000_0000),
                ]
            }
            4..=5 => {
                let fields = if self.one_in(3) { self.next() & 0x000f_ffff } else { self.below(3) << 10 };
                let op = if self.one_in(2) { 1 + self.below(3) } else { self.below(28) };
                [addr, fields | (op << 23) | flags | if self.one_in(4) { 1 << 21 } else { 0 }]
            }
            _ => {
                let op = if self.one_in(9) { 58 } else { 32 + self.below(9) };
                [self.next(), (self.next() & 0x003f_ffff) | (op << 23) | flags]
            }
        }
    }

    /// An ALU instruction whose fields mostly have a meaning.
    fn alu(&mut self) -> [u32; 2] {
        let sel = |r: &mut Self| {
            if r.one_in(2) {
                r.below(8)
            } else if r.one_in(2) {
                244 + r.below(12)
            } else {
                r.below(512)
            }
        };
        let (s0, s1) = (sel(self), sel(self));
        let rare = |r: &mut Self, mask: u32| if r.one_in(4) { r.next() & mask } else { 0 };
        let w0 = s0
            | (s1 << 13)
            | (self.next() & 0x0180_0c00)
            | rare(self, 0x0240_1200)
            | rare(self, 0x1c00_0000)
            | rare(self, 0x6000_0000)
            | (u32::from(self.one_in(2)) << 31);
        let common = (self.next() & 0x6060_0000) | rare(self, 0x9f9c_0000);
        let w1 = if self.one_in(3) {
            common | ((4 + self.below(28)) << 13) | sel(self) | rare(self, 0x1e00)
        } else {
            common | (self.below(128) << 7) | if self.one_in(2) { 0x10 } else { 0 } | rare(self, 0x7f)
        };
        [w0, w1]
    }

    /// A fetch whose fields mostly have a meaning.
    fn fetch(&mut self) -> [u32; 4] {
        let op = if self.one_in(2) { self.below(3) } else { self.below(32) };
        let mut words = [(self.next() & 0x07ff_ff80) | op, self.next(), self.next(), 0];
        for bit in [9, 12, 15, 18] {
            if (words[1] >> bit) & 7 == 6 {
                words[1] &= !(7 << bit);
            }
        }
        if self.one_in(2) {
            words[0] &= !(1 << 6 | 1 << 15 | 0x60);
            words[1] &= !(1 << 8 | 1 << 21);
            words[2] &= 0x001f_ffff;
        }
        if self.one_in(5) {
            words[3] = self.next();
        }
        words
    }

    /// One clause that its instruction names, and the end of the program.
    fn one_clause(&mut self) -> Vec<u32> {
        let alu = !self.one_in(4);
        let n = 1 + self.below(5);
        let flags = self.next() & 0xc000_0000;
        let mut words = if alu {
            let op = if self.one_in(2) { 8 } else { 8 + self.below(8) };
            vec![2, flags | (op << 26) | ((n - 1) << 18)]
        } else {
            vec![2, flags | ((1 + self.below(3)) << 23) | ((n - 1) << 10)]
        };
        words.extend([0, 0x8020_0000]);
        for i in 0..n {
            if alu {
                let mut pair = self.alu();
                pair[0] |= u32::from(i + 1 == n) << 31;
                words.extend(pair);
            } else {
                words.extend(self.fetch());
            }
        }
        words
    }

    fn words(&mut self) -> Vec<u32> {
        if self.one_in(8) {
            let n = self.below(16);
            return (0..n).map(|_| self.next()).collect();
        }
        if !self.one_in(3) {
            return self.one_clause();
        }
        let control = 1 + self.below(3);
        let slots = control + self.below(8);
        let mut words = Vec::new();
        for _ in 0..control {
            words.extend(self.cf(slots));
        }
        while words.len() < slots as usize * 2 {
            match self.below(8) {
                0 => words.extend([self.next(), self.next()]),
                1..=2 => words.extend(self.fetch()),
                3 => words.extend([0, 0]),
                _ => words.extend(self.alu()),
            }
        }
        if self.one_in(16) {
            words.pop();
        }
        words
    }
}

#[test]
fn noise_round_trips_exactly() {
    // A million sequences, a twentieth of them in an emulator, or as many as CTM_NOISE says.
    let all = if ctm_testkit::in_emulator() { 50_000 } else { 1_000_000 };
    let count: u32 = std::env::var("CTM_NOISE").map_or(all, |n| n.parse().unwrap());
    let threads = 2;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (thread + 1));
                for i in 0..count / threads as u32 {
                    let words = random.words();
                    exact(&words, &format!("thread {thread} sequence {i} {words:08X?}"));
                }
            });
        }
    });
}

/// Programs of compilers with some bits changed: words that almost equal those of a listing. Fields that nothing reads (unused
/// operands, masked destinations, fields of other operations) then have arbitrary values.
#[test]
fn almost_compiled_programs_round_trip_exactly() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for (path, words) in corpus() {
        for i in 0..150 {
            let mut changed = words.clone();
            for _ in 0..1 + random.below(12) {
                let at = random.below(changed.len() as u32) as usize;
                changed[at] = match random.below(4) {
                    // A field's worth of bits from another instruction, which is how compilers differ from each other.
                    0 => {
                        let other = words[(at + 2 * random.below(16) as usize) % words.len()];
                        let mask = 0x1fff << random.below(32);
                        changed[at] & !mask | other & mask
                    }
                    _ => changed[at] ^ 1 << random.below(32),
                };
            }
            exact(&changed, &format!("{} change {i}", path.display()));
        }
    }
}

/// Removes derived parts: numbers in front of control-flow lines, ADDR and CNT of clauses, bank
/// swizzles, the numbers of PV and PS.
fn stripped(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let clause = line.contains(" CNT(");
        let mut words: Vec<String> = Vec::new();
        for (i, word) in line.split_whitespace().enumerate() {
            let number = i == 0 && !line.starts_with(' ') && word.bytes().all(|b| b.is_ascii_digit());
            let annotation = word.starts_with("VEC_") || word.starts_with("SCL_");
            let layout = clause && (word.starts_with("ADDR(") || word.starts_with("CNT("));
            if number || annotation || layout {
                continue;
            }
            words.push(word.to_owned());
        }
        let mut line = words.join(" ");
        for name in ["PV", "PS"] {
            let mut rest = line.as_str();
            let mut kept = String::new();
            while let Some(at) = rest.find(name) {
                kept.push_str(&rest[..at + 2]);
                rest = rest[at + 2..].trim_start_matches(|c: char| c.is_ascii_digit());
            }
            line = kept + rest;
        }
        out.push_str(&line);
        out.push('\n');
    }
    out
}

/// The program as entries whose clause addresses and bank swizzles are left out.
fn essence(words: &[u32]) -> Vec<String> {
    use ctm_isa::r700::inst::Cf;
    let mut all = Vec::new();
    for entry in decode_program(words, 0).entries {
        let mut cf = entry.cf.unwrap();
        match &mut cf {
            Cf::Alu(i) => i.word0.addr = 0,
            Cf::Plain(i) if !matches!(entry.clause, ClauseBody::None) => i.word0.addr = 0,
            _ => {}
        }
        all.push(format!("{} {:08X?}", entry.addr, cf.encode()));
        match &entry.clause {
            ClauseBody::Alu(clause) => {
                for group in &clause.groups {
                    assert_eq!(ports::check(&group.slots), Ok(()));
                    let mut group = group.clone();
                    group.slots.iter_mut().for_each(|s| s.inst.set_bank_swizzle(0));
                    all.push(format!("{group:?}"));
                }
                all.push(format!("{:?}", clause.rest));
            }
            ClauseBody::Fetch(clause) => all.push(format!("{:?}", clause.fetches)),
            ClauseBody::None | ClauseBody::Outside | ClauseBody::Unread => {}
        }
    }
    all
}

#[test]
fn corpus_survives_without_annotations() {
    for (path, words) in corpus() {
        let name = path.display().to_string();
        let text = stripped(&exact(&words, &name));
        assert!(!text.contains("VEC_") && !text.contains(" CNT(") && !text.contains("PV1"), "{text}");
        // The NOP that LLVM puts past the end, by address: the clauses now lie elsewhere.
        let text = text.split("\n.org").next().unwrap();
        let again = assemble(text, &TextOptions::default());
        let Some(program) = again.program else { panic!("{name}: {:#?}\n{text}", again.diagnostics) };
        assert_eq!(essence(&words), essence(&program.words), "{name}\n{text}");
        if name.contains("mesa") {
            // Mesa lays clauses out as the assembler does: only bank swizzles may differ.
            let swizzle = 7 << 18;
            assert_eq!(words.len(), program.words.len(), "{name}");
            assert!(words.iter().zip(&program.words).all(|(a, b)| a & !swizzle == b & !swizzle), "{name}");
        }
    }
}

#[test]
fn registers_and_stack_are_those_of_the_compiler() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa/r700");
    for (path, words) in corpus().into_iter().filter(|(p, _)| p.starts_with(&root)) {
        let json = std::fs::read_to_string(path.with_extension("json")).unwrap();
        let number = |key: &str| -> u8 {
            let at = json.find(&format!("\"{key}\":")).unwrap() + key.len() + 3;
            json[at..].trim_start().split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
        };
        let program = Program::from_words(words);
        let name = path.display();
        assert_eq!(program.stack, number("stack"), "{name}");
        assert!(program.gprs <= number("gprs"), "{name}: {} of {}", program.gprs, number("gprs"));
    }
}

/// One MiB of microcode: ALU clauses of the corpus's arithmetic and some texture clauses.
fn one_mebibyte() -> Vec<u32> {
    let source = |clauses: usize| {
        let mut text = String::new();
        for i in 0..clauses {
            if i % 8 == 7 {
                text.push_str("TEX:\n");
                for k in 0..16 {
                    text.push_str(&format!("SAMPLE R{k}.xyzw, R{}.xy__, t18, s0 LOD(0.5)\n", k + 1));
                }
                continue;
            }
            text.push_str("ALU: KCACHE0(CB0:0-15)\n");
            for k in 0..21 {
                text.push_str(&format!("{k} x: MULADD_e R{k}.x, R1.x, KC0[{}].x, PV.y\n", k % 16));
                text.push_str("y: MUL_e R2.y, R3.y, R4.y\nz: ADD R2.z, -|R3.z|, (0x40490FDB, 3.1415927f).x\n");
                text.push_str("w: SETGT_DX10 ____, R0.w, 0.5f\nt: RCP_e R5.w, PV.x CLAMP\n");
            }
        }
        text + "END_OF_PROGRAM\n"
    };
    let clauses = (1 << 18) / 2 / 118;
    let assembly = assemble(&source(clauses), &TextOptions::default());
    assembly.program.unwrap_or_else(|| panic!("{:#?}", assembly.diagnostics)).words
}

/// `cargo test --release -p ctm-isa --test suite -- r700_text --ignored --nocapture`
#[test]
#[ignore = "a measurement, for release builds"]
fn one_mebibyte_takes_less_than_a_second_each_way() {
    let words = one_mebibyte();
    let program = Program { words, ..Program::default() };
    let start = std::time::Instant::now();
    let text = disassemble(&program, &TextOptions::default());
    let printed = start.elapsed();
    let start = std::time::Instant::now();
    let again = assemble(&text, &TextOptions::default()).program.unwrap();
    let read = start.elapsed();
    println!("{} words, {} bytes of text: printed in {printed:?}, read in {read:?}", program.words.len(), text.len());
    assert!(program.words.len() * 4 > 1_000_000 && again.words == program.words);
    assert!(printed.as_secs_f64() < 1.0 && read.as_secs_f64() < 1.0);
}

/// A program may begin after its subroutine; the label says where.
#[test]
fn entry_by_label_is_the_slot_behind_it() {
    let text = |entry: &str| {
        format!(
            ".entry {entry}\ndouble:\nALU:\n x: ADD R0.x, R0.x, R0.x\nRETURN\nmain:\nCALL ADDR(double)\n\
             EXP_DONE: PIX0, R0.xxxx\nEND_OF_PROGRAM\n"
        )
    };
    let read = |entry: &str| assemble(&text(entry), &TextOptions::default());
    let (by_label, by_slot) = (read("main").program.unwrap(), read("2").program.unwrap());
    assert_eq!((by_label.entry, &by_label.words), (2, &by_slot.words));
    // The registers and the stack are those of the instructions that are reached from there.
    assert_eq!((by_label.gprs, by_label.stack), (1, 1));
    let wrong = read("mian");
    let found = &wrong.diagnostics[0];
    assert_eq!((found.message.as_str(), found.help.as_deref()), ("no label `mian`", Some("did you mean `main`?")));
    let at = found.labels[0].span;
    assert_eq!(&text("mian")[at.start as usize..at.end as usize], ".entry mian");
}

/// Contents of listings of shipping shaders, and of AMD's own tools.
#[test]
fn listings_of_other_tools() {
    let words = |text: &str| {
        let found = assemble(text, &TextOptions::default());
        found.program.unwrap_or_else(|| panic!("{text}\n{:#?}", found.diagnostics)).words
    };
    // VEC_… names the code of the field where an operation of all units is in t.
    let t = |swizzle: &str| {
        words(&format!(
            "ALU:\n 0 x: MOV R0.x, R1.x\n   t: MUL R2.x, R1.y, R3.z {swizzle}\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n"
        ))
    };
    assert_eq!(t("VEC_021"), t("SCL_122"));
    assert_eq!(t("VEC_120"), t("SCL_212"));
    // A label in front of an instruction, and comments of both kinds.
    let labelled =
        "JUMP ADDR(out) // over\nALU: ; a clause\n 0 x: MOV R0.x, 2.0f\nout: EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n";
    let plain = "JUMP ADDR(2)\nALU:\n 0 x: MOV R0.x, 2.0f\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n";
    assert_eq!(words(labelled), words(plain));
    // A label may be an instruction's name in small letters.
    assert_eq!(words(&labelled.replace("out)", "end)").replace("out: ", "end:\n")), words(plain));
    let looped = "loop:\nNOP\nJUMP ADDR(loop)\nEND_OF_PROGRAM\n";
    assert_eq!(words(looped), words(&looped.replace("loop:\n", "").replace("loop", "0")));
}

/// Settings set a container's registers, so the program has those registers (R700 §4.6.3), whatever its instructions name; a directive counts more.
#[test]
fn settings_give_a_program_its_registers() {
    let end = "ALU:\n x: MOV R1.x, R0.x\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n";
    let table = [
        ("", (2, 0)),
        ("; $SQ_PGM_RESOURCES_PS.NUM_GPRS = 9\n; $SQ_PGM_RESOURCES_PS.STACK_SIZE = 2\n", (9, 2)),
        ("; $sq_pgm_resources_ps.num_gprs = 0x0a\n", (10, 0)),
        ("; $SQ_PGM_RESOURCES_PS.NUM_GPRS = 9\n; $SQ_PGM_RESOURCES_PS.NUM_GPRS = 7\n", (7, 0)),
        (".gprs 5\n; $SQ_PGM_RESOURCES_PS.NUM_GPRS = 9\n", (5, 0)),
        // The header of a geometry program has the registers of its copy program, too.
        (".stage pixel\n; $SQ_PGM_RESOURCES_VS.NUM_GPRS = 9\n", (2, 0)),
        (".stage geometry\n; $SQ_PGM_RESOURCES_GS.NUM_GPRS = 6\n; $SQ_PGM_RESOURCES_VS.NUM_GPRS = 9\n", (6, 0)),
    ];
    for (head, expected) in table {
        let program = assemble(&format!("{head}{end}"), &TextOptions::default()).program.unwrap();
        assert_eq!((program.gprs, program.stack), expected, "{head}");
        let again = assemble(&disassemble(&program, &TextOptions::default()), &TextOptions::default()).program.unwrap();
        assert_eq!((again.gprs, again.stack), expected, "{head}");
    }
}
