//! The text of the fields of operations.

use super::{Line, TextError};
use crate::ir::masked::{Counter, Dot, Doubts, File, M, MemoryFetch, Target, Unit, Value, Var};
use ctm_exec::r700::VertexEvent;
use ctm_exec::r700::exports;
use ctm_exec::r700::memory::MemoryRead;
use ctm_isa::r700::inst::{Cf, CfMem, Fetch, MemDsr, MemRd, TexFetch, VtxFetch};
use ctm_isa::r700::ops::{AluOp, Omod, Op2, Op3};
use ctm_isa::r700::program::Chip;
use ctm_isa::x1k::ops as x1k;

/// A part of an operation that has a text.
pub trait Field: Sized + Copy + PartialEq {
    /// Whether it is written with its name, as `name=text`, in operations whose fields have names.
    const NAMED: bool = true;

    /// Appends its text: a word, or words where it is not named.
    fn print(&self, out: &mut String);

    /// Reads it.
    ///
    /// # Errors
    /// The words are not its text.
    fn parse(line: &mut Line<'_>) -> Result<Self, TextError>;

    /// The value that is left out.
    fn usual() -> Option<Self> {
        None
    }

    /// Its text among the fields of an operation; `shown`: the least number of an array's elements to print.
    fn put(&self, name: &str, is_named: bool, shown: usize, out: &mut String) {
        let _ = shown;
        if Self::NAMED && is_named {
            out.push_str(name);
            out.push('=');
        }
        self.print(out);
    }

    /// Reads it among the fields of an operation.
    ///
    /// # Errors
    /// It is missing, or the text is another one.
    fn take(line: &mut Line<'_>, name: &str, is_named: bool) -> Result<Self, TextError> {
        if !(Self::NAMED && is_named) || line.takes(name, true) {
            return Self::parse(line);
        }
        Self::usual().ok_or_else(|| {
            let word = line.peek().unwrap_or_default();
            line.error(format!("`{word}` where `{name}=` is expected"))
        })
    }

    /// The names that a text of it may begin with, where it is an operation.
    fn names() -> Vec<&'static str> {
        Vec::new()
    }

    /// Whether a word may be its text: so arrays know their end.
    fn is_like(word: &str) -> bool {
        !word.contains('=')
    }

    /// The least number of array elements that an operation's text has.
    fn shown(&self) -> usize {
        usize::MAX
    }
}

/// The field that is a line's result.
const RESULT: &str = "dst";

/// Appends a field if it is the result of its operation.
pub fn put_result<T: Field>(field: &T, name: &str, out: &mut String) {
    if name == RESULT {
        field.print(out);
        out.push_str(" = ");
    }
}

/// Appends a field of an operation, but for the result and a usual value. `before`: fields so far, `None` where the operation has no name of its own; `shown`: see
/// [`Field::put`].
pub fn put<T: Field>(
    field: &T,
    name: &str,
    (is_named, shown): (bool, usize),
    before: &mut Option<usize>,
    out: &mut String,
) {
    if name != RESULT && !(is_named && T::usual() == Some(*field)) {
        out.push_str(before.map_or("", |before| if before == 0 { " " } else { ", " }));
        *before = before.map(|before| before + 1);
        field.put(name, is_named, shown, out);
    }
}

/// Reads a field of an operation.
///
/// # Errors
/// The words are no text of such a field.
pub fn take<T: Field>(line: &mut Line<'_>, name: &str, is_named: bool) -> Result<T, TextError> {
    if name == RESULT {
        let mut result = line.result()?;
        let field = T::parse(&mut result)?;
        result.end()?;
        return Ok(field);
    }
    T::take(line, name, is_named)
}

/// A number as texts have it: decimal, or `0x` and hexadecimal digits.
pub fn number(word: &str) -> Option<i64> {
    let (sign, digits) = word.strip_prefix('-').map_or((1, word), |digits| (-1, digits));
    let number = digits.strip_prefix("0x").map_or_else(|| digits.parse().ok(), |hex| i64::from_str_radix(hex, 16).ok());
    number.map(|number: i64| sign * number)
}

macro_rules! numbers {
    ($($ty:ty)*) => { $(
        impl Field for $ty {
            fn print(&self, out: &mut String) {
                out.push_str(&self.to_string());
            }

            fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
                let expected = format!("number from {} to {}", Self::MIN, Self::MAX);
                line.parsed(&expected, |word, _| number(word)?.try_into().ok())
            }
        }
    )* };
}

numbers! { u8 u16 u32 i32 }

/// Bits of a lane, which are written in hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Bits(u32);

impl From<u32> for Bits {
    fn from(bits: u32) -> Self {
        Self(bits)
    }
}

impl From<Bits> for u32 {
    fn from(bits: Bits) -> Self {
        bits.0
    }
}

impl Field for Bits {
    fn print(&self, out: &mut String) {
        out.push_str(&format!("{:#x}", self.0));
    }

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
        u32::parse(line).map(Self)
    }
}

/// The number of a definition at the head of a text: a letter and the number.
macro_rules! numbered {
    ($($(#[$doc:meta])* $name:ident $letter:literal $kind:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub struct $name(u16);

        impl From<u16> for $name {
            fn from(number: u16) -> Self {
                Self(number)
            }
        }

        impl From<$name> for u16 {
            fn from(number: $name) -> Self {
                number.0
            }
        }

        impl Field for $name {
            const NAMED: bool = false;

            fn print(&self, out: &mut String) {
                out.push_str(&format!(concat!($letter, "{}"), self.0));
            }

            fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
                let expected = concat!($kind, ": `", $letter, "` and its number");
                line.parsed(expected, |word, _| word.strip_prefix($letter)?.parse().ok().map(Self))
            }
        }
    )* };
}

pub(crate) use numbered;

numbered! {
    /// The number of a fetch.
    FetchNumber "f" "fetch";
    /// The number of a store.
    StoreNumber "s" "store";
    /// The number of a yield.
    YieldNumber "y" "yield";
}

/// An element of a register.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Element(u8);

impl From<u8> for Element {
    fn from(number: u8) -> Self {
        Self(number)
    }
}

impl From<Element> for u8 {
    fn from(element: Element) -> Self {
        element.0
    }
}

/// The names of elements; in streams the last one is all of them.
const NAMES: [&str; 5] = ["x", "y", "z", "w", "all"];

impl Field for Element {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        out.push_str(NAMES[usize::from(self.0).min(4)]);
    }

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
        line.one_of(&NAMES, "element").map(|number| Self(number as u8))
    }
}

/// A flag: its name, or nothing.
impl Field for bool {
    fn print(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
        Ok(line.one_of(&["false", "true"], "truth value")? == 1)
    }

    fn usual() -> Option<Self> {
        Some(false)
    }

    fn put(&self, name: &str, is_named: bool, _: usize, out: &mut String) {
        if is_named {
            out.push_str(name);
        } else {
            self.print(out);
        }
    }

    fn take(line: &mut Line<'_>, name: &str, is_named: bool) -> Result<Self, TextError> {
        if is_named { Ok(line.takes(name, false)) } else { Self::parse(line) }
    }
}

/// Operands: the last ones are left out where they repeat the first one and are not read.
impl<T: Field, const N: usize> Field for [T; N] {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        self.put("", false, N, out);
    }

    fn put(&self, _: &str, _: bool, shown: usize, out: &mut String) {
        let differ = self.iter().rposition(|of| Some(of) != self.first()).map_or(0, |last| last + 1);
        for (n, of) in self.iter().take(differ.max(shown.min(N))).enumerate() {
            if n > 0 {
                out.push_str(", ");
            }
            of.print(out);
        }
    }

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
        let mut found = vec![T::parse(line)?];
        while found.len() < N && line.peek().is_some_and(T::is_like) {
            found.push(T::parse(line)?);
        }
        Ok(std::array::from_fn(|n| *found.get(n).unwrap_or(&found[0])))
    }
}

impl Field for Value {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        out.push_str(&format!("v{}", self.0));
    }

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
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

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
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

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
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

impl Field for Target {
    fn print(&self, out: &mut String) {
        match self {
            Self::Block(id) => out.push_str(&format!("b{id}")),
            Self::Reference => out.push_str("reference"),
        }
    }

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
        line.parsed("target: `b` and the number of a block, or `reference`", |word, _| match word {
            "reference" => Some(Self::Reference),
            _ => word.strip_prefix('b')?.parse().ok().map(Self::Block),
        })
    }
}

impl Field for File {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        match self {
            Self::Gprs(count) => out.push_str(&format!("gprs:{count}")),
            Self::Constants(first, count) => out.push_str(&format!("constants:{first}:{count}")),
            Self::Share => out.push_str("share"),
        }
    }

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
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

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
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

            fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
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

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
        line.parsed("operation of an ALU slot of the R700", |word, _| {
            Op2::from_name(word).map(Self::Op2).or_else(|| Op3::from_name(word).map(Self::Op3))
        })
    }
}

impl Field for Unit {
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

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
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

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
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
fn take_words<const N: usize>(line: &mut Line<'_>) -> Result<[u32; N], TextError> {
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

            fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
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

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
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

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
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

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
        let number = line.one_of(&["EMIT_VERTEX", "EMIT_CUT_VERTEX", "CUT_VERTEX"], "vertex event")?;
        Ok([Self::Emit, Self::EmitCut, Self::Cut][number])
    }
}
