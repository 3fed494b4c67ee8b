//! Random shaders, executed and compared with the evaluator. `CTM_RANDOM=n` runs so many.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use crate::harness;

use harness::Compared;
use std::fmt::Write;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }
}

/// Temporaries that a shader uses.
const TEMPS: u64 = 5;
/// Constants that the text defines, from c20 on.
const DEFINED: u64 = 10;
/// Values of every kind that the machine has: swizzle constants, inline constants, constant registers only; and negative ones.
const KINDS: [&[&str]; 5] = [
    &["0", "1", "0.5"],
    &["2", "6", "10", "14", "0.25", "0.125"],
    &["0.3", "3.7", "17", "1.1"],
    &["-1", "-0.5", "-2", "-6"],
    &["-0.7"],
];
const LETTERS: [&str; 4] = ["x", "y", "z", "w"];
const RELATIONS: [&str; 6] = ["gt", "lt", "ge", "le", "eq", "ne"];

struct Writer {
    random: Random,
    text: String,
    /// Open loops that have aL, open loops, open branches.
    counters: u32,
    loops: u32,
    branches: u32,
    in_subroutine: bool,
}

impl Writer {
    fn register(&mut self) -> String {
        let r = &mut self.random;
        match r.below(12) {
            0..=5 => format!("r{}", r.below(TEMPS)),
            6 | 7 => format!("c{}", r.below(8)),
            8 => format!("c{}", 20 + r.below(DEFINED)),
            9 if self.counters > 0 => "v[aL]".to_owned(),
            _ => format!("v{}", r.below(3)),
        }
    }

    fn swizzle(&mut self, scalar: bool) -> String {
        let r = &mut self.random;
        if scalar || r.chance(30) {
            return format!(".{}", LETTERS[r.below(4) as usize]);
        }
        if r.chance(50) {
            return String::new();
        }
        (0..4).fold(".".to_owned(), |s, _| s + LETTERS[r.below(4) as usize])
    }

    fn source(&mut self, scalar: bool) -> String {
        let register = self.register();
        let sign = if self.random.chance(25) { "-" } else { "" };
        let abs = if self.random.chance(12) && !register.contains('[') { "_abs" } else { "" };
        format!("{sign}{register}{abs}{}", self.swizzle(scalar))
    }

    fn mask(&mut self, of: &str) -> String {
        if of == "xyzw" && self.random.chance(45) {
            return String::new();
        }
        loop {
            let letters: String = of.chars().filter(|_| self.random.chance(50)).collect();
            if !letters.is_empty() {
                return format!(".{letters}");
            }
        }
    }

    /// The definition of a constant: components of one kind, or of all kinds.
    fn definition(&mut self, n: u64) {
        let r = &mut self.random;
        let mixed = r.chance(60);
        let one = r.below(KINDS.len() as u64) as usize;
        let values: Vec<&str> = (0..4)
            .map(|_| {
                let kind = if mixed { r.below(KINDS.len() as u64) as usize } else { one };
                r.of(KINDS[kind])
            })
            .collect();
        self.line(&format!("def c{}, {}", 20 + n, values.join(", ")));
    }

    /// A register that is put together from constants of several kinds, and read as a whole or in part by operations on several components.
    fn constants_moved(&mut self) {
        let temp = format!("r{}", self.random.below(TEMPS));
        for _ in 0..1 + self.random.below(3) {
            let mask = self.mask("xyzw");
            let from = format!("c{}", 20 + self.random.below(DEFINED));
            let sign = if self.random.chance(15) { "-" } else { "" };
            let swizzle = self.swizzle(false);
            self.line(&format!("mov {temp}{mask}, {sign}{from}{swizzle}"));
        }
        let other = self.source(false);
        let swizzle = self.swizzle(false);
        let name = self.random.of(&["dp4", "dp3", "dp2add", "mad", "mul", "add", "cmp"]);
        let dest = self.dest("xyzw");
        let sources = match name {
            "dp2add" => format!("{temp}{swizzle}, {other}, {}", self.source(true)),
            "mad" | "cmp" => format!("{other}, {temp}{swizzle}, {}", self.source(false)),
            _ if self.random.chance(50) => format!("{temp}{swizzle}, {other}"),
            _ => format!("{other}, {temp}{swizzle}"),
        };
        self.line(&format!("{name} {dest}, {sources}"));
    }

    fn dest(&mut self, of: &str) -> String {
        let mask = self.mask(of);
        match self.random.below(14) {
            0 => format!("oC{}{mask}", self.random.below(4)),
            _ => format!("r{}{mask}", self.random.below(TEMPS)),
        }
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{text}");
    }

    fn guard(&mut self) -> String {
        if !self.random.chance(15) {
            return String::new();
        }
        let not = if self.random.chance(40) { "!" } else { "" };
        let channel =
            if self.random.chance(50) { format!(".{}", LETTERS[self.random.below(4) as usize]) } else { String::new() };
        format!("({not}p0{channel}) ")
    }

    fn arithmetic(&mut self) {
        let guard = self.guard();
        let sat = if self.random.chance(12) { "_sat" } else { "" };
        let line = match self.random.below(24) {
            0..=11 => {
                let (name, count) = [
                    ("mov", 1),
                    ("add", 2),
                    ("add", 2),
                    ("sub", 2),
                    ("mul", 2),
                    ("mul", 2),
                    ("mad", 3),
                    ("mad", 3),
                    ("min", 2),
                    ("max", 2),
                    ("cmp", 3),
                    ("lrp", 3),
                    ("slt", 2),
                    ("sge", 2),
                    ("frc", 1),
                    ("abs", 1),
                ][self.random.below(16) as usize];
                let dest = self.dest("xyzw");
                let sources: Vec<String> = (0..count).map(|_| self.source(false)).collect();
                format!("{name}{sat} {dest}, {}", sources.join(", "))
            }
            12 => {
                let d = self.dest("xyzw");
                let (a, b) = (self.source(false), self.source(false));
                format!("dp3{sat} {d}, {a}, {b}")
            }
            13 => {
                let d = self.dest("xyzw");
                let (a, b) = (self.source(false), self.source(false));
                format!("dp4{sat} {d}, {a}, {b}")
            }
            14 => {
                let d = self.dest("xyzw");
                let (a, b, c) = (self.source(false), self.source(false), self.source(true));
                format!("dp2add{sat} {d}, {a}, {b}, {c}")
            }
            15 | 16 => {
                let name = self.random.of(&["rcp", "rsq", "exp", "log"]);
                let d = self.dest("xyzw");
                let a = self.source(true);
                format!("{name}{sat} {d}, {a}")
            }
            17 => {
                let d = self.dest("xy");
                let a = self.source(true);
                format!("sincos {d}, {a}")
            }
            18 => {
                let d = self.dest("xyz");
                let (a, b) = (self.source(false), self.source(false));
                format!("crs {d}, {a}, {b}")
            }
            19 => {
                let d = self.dest("xyzw");
                let a = self.source(false);
                format!("nrm {d}, {a}")
            }
            20 => {
                let (name, of) =
                    [("m3x2", "xy"), ("m3x3", "xyz"), ("m4x4", "xyzw"), ("m4x3", "xyz")][self.random.below(4) as usize];
                let d = self.dest(of);
                let a = self.source(false);
                let row = self.random.of(&["c2", "c4", "r1", "c20"]);
                format!("{name} {d}, {a}, {row}")
            }
            21 => {
                let d = self.dest("xyzw");
                let d = d.replace("oC", "r");
                let a = self.source(false);
                let s = self.random.of(&["s0", "s1.wzyx", "s2.xxyw", "s0.y"]);
                let name = self.random.of(&["texld", "texldl", "texldb"]);
                format!("{name} {d}, {a}, {s}")
            }
            22 => {
                let d = format!("p0{}", self.mask("xyzw"));
                let relation = self.random.of(&RELATIONS);
                let (a, b) = (self.source(false), self.source(false));
                self.line(&format!("setp_{relation} {d}, {a}, {b}"));
                return;
            }
            _ => {
                let d = self.dest("xyzw");
                let (a, b) = (self.source(true), self.source(true));
                format!("pow {d}, {a}, {b}")
            }
        };
        self.line(&format!("{guard}{line}"));
    }

    fn condition(&mut self) -> String {
        match self.random.below(4) {
            0 => format!(
                " {}p0.{}",
                if self.random.chance(50) { "!" } else { "" },
                LETTERS[self.random.below(4) as usize]
            ),
            1 => format!(" {}b{}", if self.random.chance(50) { "!" } else { "" }, self.random.below(2)),
            _ => {
                let (a, b) = (self.source(true), self.source(true));
                format!("_{} {a}, {b}", self.random.of(&RELATIONS))
            }
        }
    }

    fn block(&mut self, length: u64) {
        for _ in 0..length {
            match self.random.below(20) {
                0 | 1 if self.branches < 3 => {
                    let condition = self.condition();
                    self.line(&format!("if{condition}"));
                    self.branches += 1;
                    self.block(length / 2 + 1);
                    if self.random.chance(50) {
                        self.line("else");
                        self.block(length / 2 + 1);
                    }
                    self.branches -= 1;
                    self.line("endif");
                }
                2 if self.loops < 2 => {
                    let counted = self.random.chance(50);
                    self.line(if counted { "loop aL, i0" } else { "rep i0" });
                    self.loops += 1;
                    self.counters += u32::from(counted);
                    self.block(length / 2 + 1);
                    if self.random.chance(50) {
                        let condition = self.condition();
                        if condition.starts_with('_') {
                            self.line(&format!("break{condition}"));
                        } else if condition.contains("p0") {
                            self.line(&format!("breakp{condition}"));
                        }
                        self.block(1);
                    }
                    self.counters -= u32::from(counted);
                    self.loops -= 1;
                    self.line(if counted { "endloop" } else { "endrep" });
                }
                3 if !self.in_subroutine && self.branches < 2 => {
                    let label = self.random.below(2);
                    let line = match self.random.below(3) {
                        0 => format!("callnz l{label}, b{}", self.random.below(2)),
                        1 => format!("callnz l{label}, !p0.{}", LETTERS[self.random.below(4) as usize]),
                        _ => format!("call l{label}"),
                    };
                    self.line(&line);
                }
                4 | 5 => self.constants_moved(),
                _ => self.arithmetic(),
            }
        }
    }
}

fn shader(seed: u64) -> String {
    let mut w =
        Writer { random: Random(seed), text: String::new(), counters: 0, loops: 0, branches: 0, in_subroutine: false };
    w.line("ps_3_0");
    // Matrices and the first moves read these.
    w.line("def c20, 0, 1, 0.5, 2\ndef c21, -1, -1, -1, -1\ndef c22, 0.3, 4, 0.25, -0.5\ndef c23, 2, 2, 0.5, 0.5");
    for n in 4..DEFINED {
        w.definition(n);
    }
    w.line("defi i0, 3, 0, 1, 0\ndcl vPos.xy\ndcl_texcoord0 v0\ndcl_texcoord1 v1\ndcl_texcoord2 v2\ndcl_2d s0\ndcl_2d s1\ndcl_2d s2");
    for n in 0..TEMPS {
        let from = w.random.of(&["v0", "v1.wzyx", "c1", "c22", "vPos.xyxy", "v2"]);
        w.line(&format!("mov r{n}, {from}"));
    }
    let length = 3 + w.random.below(12);
    w.block(length);
    for n in 0..4 {
        w.line(&format!("mov oC{n}, r{n}"));
    }
    w.line("add oC0.y, r4.x, r4.y");
    w.line("ret");
    w.in_subroutine = true;
    for label in 0..2 {
        w.line(&format!("label l{label}"));
        let length = 1 + w.random.below(4);
        w.block(length);
        w.line("ret");
    }
    w.text
}

#[test]
fn random_shaders_give_what_the_language_says() {
    let count: u64 = std::env::var("CTM_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    let first: u64 = std::env::var("CTM_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut all = Compared::default();
    for seed in first..first + count {
        let compared = harness::compare(&shader(seed));
        all.known += compared.known;
        all.unknown += compared.unknown;
    }
    assert!(all.known > all.unknown, "too little is compared: {all:?}");
}
