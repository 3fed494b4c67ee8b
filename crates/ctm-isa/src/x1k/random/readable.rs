//! Random programs for people: text in statements, with every constant that it reads, which the assembler, the checker and a run take as it is.
//!
//! [`program`](super::program) is for tests of engines, and sets every field of every word at random: its output is legal for the decoder, but has no line form,
//! and it may fault.

use super::Random;
use std::fmt::Write as _;

/// The permitted contents of a random text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextShape {
    /// About how many instructions, without those that begin and end every program.
    pub instructions: usize,
    /// Branches, loops, BREAK, CONTINUE and a subroutine.
    pub flow: bool,
    /// Inputs that lookups name: this many from `s0` on; 0: no lookups.
    pub inputs: u32,
    /// WRITE_INACTIVE and the operations on quads may occur.
    pub watches_idle_lanes: bool,
    /// Constants relative to aL may occur, in `loop`.
    pub relative: bool,
}

impl Default for TextShape {
    fn default() -> Self {
        Self { instructions: 24, flow: true, inputs: 0, watches_idle_lanes: false, relative: false }
    }
}

/// Temporaries: r0 holds the index pair, the others are set first.
const TEMPS: u32 = 6;
/// Constants with a value in the text. Relative addresses stay within them: see [`LOOPS`].
const CONSTANTS: u32 = 12;
/// Integer constants: iteration count, initial aL, step. The largest aL is 2 + 3 * 1.
const LOOPS: [&str; 3] = ["(3, 0, 1)", "(2, 1, 0)", "(4, 2, 1)"];
/// Most statements within each other: the branch counters and stacks of CTM §3.5 hold more.
const NESTING: u32 = 4;
/// Most loops within each other.
const LOOP_NESTING: usize = 2;

/// A random program's text. The same seed and shape give the same text.
///
/// ```
/// use ctm_isa::x1k::{check, random, text};
/// let listing = random::text(7, &random::TextShape::default());
/// let made = text::assemble(&listing);
/// assert!(made.diagnostics.is_empty());
/// let program = made.program.ok_or("no program")?;
/// assert!(check::check(&program).iter().all(|finding| finding.severity != ctm_isa::diag::Severity::Error));
/// # Ok::<(), &str>(())
/// ```
#[must_use]
pub fn text(seed: u64, shape: &TextShape) -> String {
    let mut make = Maker {
        random: Random::new(seed),
        shape: *shape,
        out: String::new(),
        instructions: 0,
        indent: 1,
        open: Vec::new(),
        has_subroutine: false,
        in_subroutine: false,
    };
    make.whole();
    make.out
}

/// A loop that is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenLoop {
    Loop,
    Rep,
}

struct Maker {
    random: Random,
    shape: TextShape,
    out: String,
    instructions: usize,
    indent: usize,
    open: Vec<OpenLoop>,
    has_subroutine: bool,
    in_subroutine: bool,
}

impl Maker {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:indent$}{text}", "", indent = 4 * self.indent);
    }

    fn instruction(&mut self, text: &str) {
        self.instructions += 1;
        self.line(text);
    }

    fn whole(&mut self) {
        for index in 0..CONSTANTS {
            let values: Vec<String> = (0..4).map(|_| self.number()).collect();
            let _ = writeln!(self.out, ".const c{index} ({})", values.join(", "));
        }
        if self.shape.flow {
            for (index, values) in LOOPS.iter().enumerate() {
                let _ = writeln!(self.out, ".int i{index} {values}");
            }
            let _ = writeln!(self.out, ".bool b0 (true), b1 (false)");
        }
        for temp in 1..TEMPS {
            self.line(&format!("mad r{temp}, r0.rgrg, {}, c{temp}", ["0.125", "0.25", "0.5"][temp as usize % 3]));
        }
        self.line("sub p.rgba(lt), r1, c0");
        self.has_subroutine = self.shape.flow && self.random.one_in(3);
        let end = self.shape.instructions;
        self.block(end, 0);
        for target in 0..4 {
            self.line(&format!("mov o{target}, r{}", target + 1));
        }
        if self.has_subroutine {
            self.line("end");
            self.in_subroutine = true;
            self.out.push_str("step:\n");
            let end = self.instructions + self.shape.instructions / 4 + 1;
            self.block(end, 1);
            self.line("ret");
        }
    }

    /// Statements until the program has this count of instructions.
    fn block(&mut self, end: usize, depth: u32) {
        loop {
            self.alu_or_lookup();
            if self.shape.flow && depth < NESTING && self.random.one_in(3) {
                let inner = self.instructions + (end.saturating_sub(self.instructions) / 2).min(8);
                match self.random.below(8) {
                    0..=2 => self.branch(inner, depth),
                    3 | 4 if self.open.len() < LOOP_NESTING && !self.in_subroutine => self.repeat(inner, depth),
                    5 if !self.open.is_empty() => self.leave(),
                    6 if self.has_subroutine && !self.in_subroutine => {
                        let condition = self.condition(true);
                        self.instruction(&format!("call step{condition}"));
                    }
                    7 => self.instruction("texkill r0.rgb"),
                    _ => {}
                }
            }
            if self.instructions >= end {
                return;
            }
        }
    }

    fn branch(&mut self, end: usize, depth: u32) {
        let condition = self.condition(false);
        self.instruction(&format!("if{condition}"));
        self.inside(end, depth);
        if self.random.one_in(2) {
            self.instruction("else");
            self.inside(end, depth);
        }
        self.instruction("endif");
        // A jump over the branch lands on an instruction of the same block.
        self.alu();
    }

    fn repeat(&mut self, end: usize, depth: u32) {
        let (open, begin, close) =
            self.random.of(&[(OpenLoop::Loop, "loop", "endloop"), (OpenLoop::Rep, "rep", "endrep")]);
        let constant = self.random.below(LOOPS.len() as u32);
        self.instruction(&format!("{begin} i{constant}"));
        self.open.push(open);
        self.inside(end, depth);
        self.open.pop();
        self.instruction(close);
        self.alu();
    }

    fn inside(&mut self, end: usize, depth: u32) {
        self.indent += 1;
        self.block(end, depth + 1);
        self.indent -= 1;
    }

    /// BREAK or CONTINUE, always with a condition: the following code is not dead.
    fn leave(&mut self) {
        let way = self.random.of(&["break", "break", "continue"]);
        let condition = self.condition(false);
        self.instruction(&format!("{way}{condition}"));
    }

    /// A condition after a statement, with the instruction before it that sets the ALU result.
    fn condition(&mut self, may_be_none: bool) -> String {
        let not = self.random.of(&["", "!"]);
        match self.random.below(if may_be_none { 5 } else { 4 }) {
            0 => format!(" {not}b{}", self.random.below(2)),
            1 => {
                let compare = self.compare();
                let (a, channel) = (self.temp(), self.channel());
                let constant = self.random.below(CONSTANTS);
                self.instruction(&format!("add res(r {compare}), {a}.{channel}, c{constant}.r"));
                format!(" {not}res")
            }
            4 => String::new(),
            _ => format!(" {not}p.{}", self.channel()),
        }
    }

    fn alu_or_lookup(&mut self) {
        if self.shape.inputs > 0 && self.random.one_in(5) {
            let (to, from) = (self.written(), self.temp());
            let input = self.random.below(self.shape.inputs);
            let scaled = self.random.of(&["", " scaled"]);
            self.instruction(&format!("tex {to}, s{input}, {from}.rg{scaled}"));
        } else {
            self.alu();
        }
    }

    fn alu(&mut self) {
        let predicate = match self.random.below(6) {
            0 => format!("({}p.{}) ", self.random.of(&["", "!"]), self.channel()),
            _ => String::new(),
        };
        let modifier = self.random.of(&["", "", "", "", " *2", " /2", " *4", " /8", " sat"]);
        let idle = if self.shape.watches_idle_lanes && self.random.one_in(8) { " inactive" } else { "" };
        let text = match self.random.below(10) {
            0 => {
                let (compare, a, b) = (self.compare(), self.operand(""), self.operand(""));
                return self.instruction(&format!("sub p.rgba({compare}), {a}, {b}"));
            }
            1 => {
                let op = self.random.of(&["ex2", "lg2", "rcp", "rsq", "sin", "cos"]);
                let (to, from, channel) = (self.written(), self.temp(), self.channel());
                format!("{op} {to}.a, |{from}.{channel}|")
            }
            2 => {
                let (op, to) = (self.random.of(&["dp3", "dp4"]), self.written());
                let (a, b) = (self.temp(), self.constant());
                format!("{op} {to}.rgb, {a}, {b}")
            }
            3 if self.shape.watches_idle_lanes => {
                let (op, to, a) = (self.random.of(&["mdh", "mdv"]), self.written(), self.temp());
                format!("{op} {to}.rgb, {a}.rgb, 1")
            }
            4 | 5 => {
                let op = self.random.of(&["mad", "mad", "cnd", "cmp", "lrp"]);
                let [a, b] = [self.operand(""), self.operand("")];
                // LRP presubtracts, which takes plain registers.
                let [b, c] = if op == "lrp" { [self.temp(), self.temp()] } else { [b, self.operand("")] };
                format!("{op} {}, {a}, {b}, {c}", self.written())
            }
            6 => format!("frc {}, {}", self.written(), self.operand("")),
            _ => {
                let op = self.random.of(&["add", "sub", "mul", "min", "max"]);
                let mask = self.random.of(&["", "", "", ".rgb"]);
                let (a, b) = (self.operand(mask), self.operand(mask));
                format!("{op} {}{mask}, {a}, {b}", self.written())
            }
        };
        self.instruction(&format!("{predicate}{text}{modifier}{idle}"));
    }

    fn temp(&mut self) -> String {
        format!("r{}", self.random.below(TEMPS))
    }

    /// A temporary that is written: r0 stays the index pair.
    fn written(&mut self) -> String {
        format!("r{}", 1 + self.random.below(TEMPS - 1))
    }

    fn constant(&mut self) -> String {
        let relative = self.shape.relative && self.open.last() == Some(&OpenLoop::Loop);
        if relative && self.random.one_in(2) {
            return format!("c[aL+{}]", self.random.below(5));
        }
        format!("c{}", self.random.below(CONSTANTS))
    }

    /// A source with a swizzle, a sign, or neither.
    fn operand(&mut self, mask: &str) -> String {
        let register = if self.random.one_in(3) { self.constant() } else { self.temp() };
        let swizzle = match (mask, self.random.below(3)) {
            ("", 0) => self.random.of(&[".gbra", ".bgra", ".argb", ".r", ".a", ".rgb1"]),
            ("", _) => "",
            (_, 0) => self.random.of(&[".gbr", ".bbr", ".aga", ".rh0"]),
            _ => ".rgb",
        };
        match self.random.below(6) {
            0 => format!("-{register}{swizzle}"),
            1 => format!("|{register}{swizzle}|"),
            _ => format!("{register}{swizzle}"),
        }
    }

    fn channel(&mut self) -> &'static str {
        self.random.of(&["r", "g", "b", "a"])
    }

    fn compare(&mut self) -> &'static str {
        self.random.of(&["eq", "lt", "ge", "ne"])
    }

    /// A number of moderate size, in sixteenths.
    fn number(&mut self) -> String {
        format!("{}", (f64::from(self.random.below(129)) - 64.0) / 16.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{check, text};
    use super::{TextShape, text as random_text};
    use crate::diag::Severity;

    #[test]
    fn every_text_assembles_and_has_no_errors() {
        for seed in 0..200 {
            let shape = TextShape {
                instructions: 4 + seed as usize % 90,
                flow: seed % 4 != 0,
                inputs: seed as u32 % 3,
                watches_idle_lanes: seed % 5 == 0,
                relative: seed % 2 == 0,
            };
            let listing = random_text(seed, &shape);
            assert_eq!(listing, random_text(seed, &shape));
            let made = text::assemble(&listing);
            assert!(made.diagnostics.is_empty(), "{seed}, {shape:?}: {:?}\n{listing}", made.diagnostics);
            let program = made.program.expect("a program without errors");
            let errors = check::check(&program).into_iter().find(|found| found.severity == Severity::Error);
            assert!(errors.is_none(), "{seed}, {shape:?}: {errors:?}\n{listing}");
            let printed = text::disassemble(&program, &text::ListingOptions::default());
            assert!(!printed.contains(".word"), "{seed}: {printed}");
        }
    }
}
