//! The text of the operands of the form: vectors, variables, masks, operations and instruction words.

use crate::masked::{ChannelOp, Counter, Dot, Doubts, JumpTarget, M, MemoryFetch, RegisterFile, Value, Var};
use crate::text::fields::Field;
use crate::text::{TextError, TextLine};
use ctm_exec::r700::VertexEvent;
use ctm_exec::r700::exports;
use ctm_exec::r700::memory::MemoryRead;
use ctm_isa::r700::inst::{Cf, CfMem, Fetch, MemDsr, MemRd, TexFetch, VtxFetch};
use ctm_isa::r700::ops::{AluOp, Omod, Op2, Op3};
use ctm_isa::r700::program::Chip;
use ctm_isa::x1k::ops as x1k;

impl Field for Value {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        out.push_str(&format!("v{}", self.0));
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        line.parsed("vector of this block: `v` and the number of a line that makes one", |word, line| {
            line.place(word.strip_prefix('v')?.parse().ok()?).map(Self)
        })
    }

    fn is_like(word: &str) -> bool {
        word.strip_prefix('v').is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
    }
}

/// The names of elements.
const ELEMENTS: [&str; 4] = ["x", "y", "z", "w"];

impl Field for Var {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        let (of, element) = (self.index() / 4, ELEMENTS[self.index() % 4]);
        let name = match self.export_index().map(|index| exports::Target::all().nth(index / 4)) {
            None => format!("r{of}"),
            Some(Some(exports::Target::Pixel(n))) => format!("color{n}"),
            Some(Some(exports::Target::Depth) | None) => "depth".to_owned(),
            Some(Some(exports::Target::Position(n))) => format!("position{n}"),
            Some(Some(exports::Target::Parameter(n))) => format!("parameter{n}"),
        };
        out.push_str(&format!("{name}.{element}"));
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        let expected = "variable: `r0.x` to `r127.w`, or `.x` to `.w` of `color0` to `color7`, `depth`, `position0` to \
                        `position3`, `parameter0` to `parameter31`";
        line.parsed(expected, |word, _| {
            let (of, element) = word.split_once('.')?;
            let element = ELEMENTS.iter().position(|&name| name == element)?;
            let number = |prefix: &str| of.strip_prefix(prefix)?.parse::<usize>().ok();
            if let Some(register) = number("r").filter(|&n| n < ctm_isa::r700::GPRS) {
                return Some(Self::gpr(register, element));
            }
            let target = exports::Target::all().position(|target| match target {
                exports::Target::Pixel(n) => number("color") == Some(n.into()),
                exports::Target::Depth => of == "depth",
                exports::Target::Position(n) => number("position") == Some(n.into()),
                exports::Target::Parameter(n) => number("parameter") == Some(n.into()),
            });
            target.map(|target| Self::export(target, element))
        })
    }
}

/// The masks and numbers that have names of their own.
const NAMED_MASKS: [(&str, M); 9] = [
    ("active", M::ACTIVE),
    ("valid", M::VALID),
    ("existing", M::EXISTING),
    ("none", M::NONE),
    ("concerned", M::CONCERNED),
    ("pass", M::PASS),
    ("temp", M::TEMP),
    ("temp2", M::TEMP2),
    ("first", M::FIRST),
];

/// The name of a mask of the stack, and the mask of an entry.
type EntryMask = (&'static str, fn(usize) -> M);

/// Those of each entry of the stack.
const ENTRY_MASKS: [EntryMask; 5] = [
    ("saved", M::saved),
    ("broken", M::broken),
    ("continued", M::continued),
    ("count", M::count),
    ("loop_index", M::loop_index),
];

/// X1K: masks in the last entries of the stack, which no program of that instruction set reaches.
fn x1k_masks() -> impl Iterator<Item = (String, M)> {
    let predicates =
        (0..4).map(|bit| (format!("predicate.{}", ["r", "g", "b", "a"][usize::from(bit)]), M::predicate(bit)));
    let unders = (0..M::UNDERS).map(|n| (format!("under.{n}"), M::under(n)));
    [("result".to_owned(), M::RESULT), ("writing".to_owned(), M::WRITING)].into_iter().chain(predicates).chain(unders)
}

impl Field for M {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        if let Some((name, _)) = NAMED_MASKS.iter().find(|(_, m)| m == self) {
            out.push_str(name);
        } else if let Some((name, _)) = x1k_masks().find(|(_, m)| m == self) {
            out.push_str(&name);
        } else {
            let entries = (0..M::ENTRIES).flat_map(|entry| ENTRY_MASKS.map(|(name, of)| (name, entry, of(entry))));
            let found = entries.into_iter().find(|(_, _, m)| m == self);
            out.push_str(&found.map_or_else(String::new, |(name, entry, _)| format!("{name}.{entry}")));
        }
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        let expected = "mask: `active`, `valid`, `existing`, `none`, `concerned`, `pass`, `temp`, `temp2`, `first`, `result`, \
                        `writing`, `predicate.r` to `.a`, `under.0` to `.7`, or `saved`, `broken`, `continued`, `count` or \
                        `loop_index` with `.` and an entry of the stack from 0 to 47";
        line.parsed(expected, |word, _| {
            let named = NAMED_MASKS.iter().find(|(name, _)| *name == word).map(|&(_, m)| m);
            named.or_else(|| x1k_masks().find(|(name, _)| name == word).map(|(_, m)| m)).or_else(|| {
                let (name, entry) = word.split_once('.')?;
                let (_, of) = ENTRY_MASKS.iter().find(|(of, _)| *of == name)?;
                entry.parse().ok().filter(|&entry| entry < M::ENTRIES).map(of)
            })
        })
    }
}

impl Field for JumpTarget {
    fn print(&self, out: &mut String) {
        match self {
            Self::Block(id) => out.push_str(&format!("b{id}")),
            Self::Reference => out.push_str("reference"),
        }
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        line.parsed("target: `b` and the number of a block, or `reference`", |word, _| match word {
            "reference" => Some(Self::Reference),
            _ => word.strip_prefix('b')?.parse().ok().map(Self::Block),
        })
    }
}

impl Field for RegisterFile {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        match self {
            Self::Gprs(count) => out.push_str(&format!("gprs:{count}")),
            Self::Constants(first, count) => out.push_str(&format!("constants:{first}:{count}")),
            Self::Share => out.push_str("share"),
        }
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        let expected = "file: `gprs:` and how many, `constants:` with the first one, `:` and how many, or `share`";
        line.parsed(expected, |word, _| {
            let parts: Vec<&str> = word.split(':').collect();
            match parts[..] {
                ["gprs", count] => count.parse().ok().map(Self::Gprs),
                ["constants", first, count] => Some(Self::Constants(first.parse().ok()?, count.parse().ok()?)),
                ["share"] => Some(Self::Share),
                _ => None,
            }
        })
    }
}

impl Field for Counter {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        match self {
            Self::Lanes => out.push_str("lanes"),
            Self::Lookups(input) => out.push_str(&format!("lookups:{input}")),
        }
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        line.parsed("counter: `lanes`, or `lookups:` and an input", |word, _| match word.strip_prefix("lookups:") {
            Some(input) => input.parse().ok().map(Self::Lookups),
            None => (word == "lanes").then_some(Self::Lanes),
        })
    }
}

/// A word that is a name of the manual, of a table of the instruction set.
macro_rules! manual_names {
    ($($ty:ty, $kind:literal, $named:literal, $usual:expr;)*) => { $(
        impl Field for $ty {
            const NAMED: bool = $named;

            fn print(&self, out: &mut String) {
                out.push_str(self.name());
            }

            fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
                let names: Vec<&str> = Self::ALL.iter().map(|of| of.name()).collect();
                line.one_of(&names, $kind).map(|number| Self::ALL[number])
            }

            fn usual() -> Option<Self> {
                $usual
            }
        }
    )* };
}

manual_names! {
    Omod, "output modifier", true, Some(Self::Off);
    Op2, "operation of the R700", false, None;
}

impl Field for AluOp {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        out.push_str(match self {
            Self::Op2(op) => op.name(),
            Self::Op3(op) => op.name(),
        });
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        line.parsed("operation of an ALU slot of the R700", |word, _| {
            Op2::from_name(word).map(Self::Op2).or_else(|| Op3::from_name(word).map(Self::Op3))
        })
    }
}

impl Field for ChannelOp {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        out.push_str(&match *self {
            Self::Mad { zero_wins, omod } => {
                format!("MAD.{}{}", omod.name(), if zero_wins { ".zero_wins" } else { "" })
            }
            Self::Scale(omod) => format!("SCALE.{}", omod.name()),
            Self::Min => "MIN".to_owned(),
            Self::Max => "MAX".to_owned(),
            Self::Clamp => "CLAMP".to_owned(),
            Self::Fraction(omod) => format!("FRC.{}", omod.name()),
            Self::Scalar(op) => format!("{}.alpha", op.name()),
        });
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        let expected = "operation of the X1K: `MAD`, `SCALE` or `FRC` with `.` and an output modifier (`.zero_wins` after that of \
                        `MAD`), `MIN`, `MAX`, `CLAMP`, or an operation of the alpha unit with `.alpha`";
        line.parsed(expected, |word, _| {
            let parts: Vec<&str> = word.split('.').collect();
            Some(match parts[..] {
                ["MAD", omod] => Self::Mad { zero_wins: false, omod: x1k::Omod::from_name(omod)? },
                ["MAD", omod, "zero_wins"] => Self::Mad { zero_wins: true, omod: x1k::Omod::from_name(omod)? },
                ["SCALE", omod] => Self::Scale(x1k::Omod::from_name(omod)?),
                ["MIN"] => Self::Min,
                ["MAX"] => Self::Max,
                ["CLAMP"] => Self::Clamp,
                ["FRC", omod] => Self::Fraction(x1k::Omod::from_name(omod)?),
                [op, "alpha"] => Self::Scalar(x1k::AlphaOp::from_name(op)?),
                _ => return None,
            })
        })
    }
}

impl Field for Dot {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        out.push_str(&format!("{}.{}.negated:{}", self.op.name(), self.omod.name(), self.negated));
        let flags = [(self.zero_wins, ".zero_wins"), (self.doubts.small, ".small"), (self.doubts.large, ".large")];
        flags.into_iter().filter(|(is_set, _)| *is_set).for_each(|(_, name)| out.push_str(name));
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        let expected = "dot product: `DP3`, `DP4` or `D2A`, `.` and an output modifier, `.negated:` and a bit for each term, then any \
                        of `.zero_wins`, `.small`, `.large`";
        line.parsed(expected, |word, _| {
            let parts: Vec<&str> = word.split('.').collect();
            let [op, omod, negated, ref flags @ ..] = parts[..] else { return None };
            let is_set = |name: &str| flags.contains(&name);
            let known = flags.iter().all(|flag| ["zero_wins", "small", "large"].contains(flag));
            known.then_some(())?;
            Some(Self {
                op: x1k::RgbOp::from_name(op)?,
                zero_wins: is_set("zero_wins"),
                omod: x1k::Omod::from_name(omod)?,
                negated: negated.strip_prefix("negated:")?.parse().ok()?,
                doubts: Doubts { small: is_set("small"), large: is_set("large") },
            })
        })
    }
}

/// Instruction words, as the manual has them.
fn put_words(words: &[u32], name: &str, out: &mut String) {
    out.push_str(name);
    words.iter().for_each(|word| out.push_str(&format!(" {word:#010x}")));
}

/// Reads the manual's name, which the words repeat, and the words.
fn take_words<const N: usize>(line: &mut TextLine<'_>) -> Result<[u32; N], TextError> {
    line.word();
    let mut words = [0; N];
    for word in &mut words {
        *word = u32::parse(line)?;
    }
    Ok(words)
}

macro_rules! fetch_words {
    ($($ty:ty, $variant:ident, $kind:literal;)*) => { $(
        impl Field for $ty {
            const NAMED: bool = false;

            fn print(&self, out: &mut String) {
                let fetch = Fetch::$variant(*self);
                put_words(&fetch.encode(), fetch.name(), out);
            }

            fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
                let before = line.clone();
                match Fetch::decode(take_words(line)?, true) {
                    Ok(Fetch::$variant(inst)) => Ok(inst),
                    _ => Err(before.error(concat!("expected the name and the three words of ", $kind))),
                }
            }
        }
    )* };
}

fetch_words! {
    TexFetch, Tex, "a texture fetch";
    VtxFetch, Vtx, "a vertex fetch";
    MemRd, MemRd, "a memory read";
    MemDsr, MemDsr, "a local data share read";
}

impl Field for MemoryFetch {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        self.inst.print(out);
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        let before = line.clone();
        let inst = MemRd::parse(line)?;
        // The chip only determines whether there are bursts.
        let read = MemoryRead::new(&inst, Chip::Rv710);
        read.map(|read| Self { inst, read }).map_err(|_| before.error("the memory read has a format that is not done"))
    }
}

impl Field for CfMem {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        put_words(&Cf::Mem(*self).encode(), self.word1.op.name(), out);
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        let before = line.clone();
        match Cf::decode(take_words(line)?) {
            Ok(Cf::Mem(inst)) => Ok(inst),
            _ => Err(before.error("expected the name and the two words of a memory write")),
        }
    }
}

impl Field for VertexEvent {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        out.push_str(match self {
            Self::Emit => "EMIT_VERTEX",
            Self::EmitCut => "EMIT_CUT_VERTEX",
            Self::Cut => "CUT_VERTEX",
        });
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        let number = line.one_of(&["EMIT_VERTEX", "EMIT_CUT_VERTEX", "CUT_VERTEX"], "vertex event")?;
        Ok([Self::Emit, Self::EmitCut, Self::Cut][number])
    }
}
