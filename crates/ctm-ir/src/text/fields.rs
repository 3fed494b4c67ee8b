//! The text of fields: the trait, and numbers, flags, arrays and names of elements.

use super::{TextError, TextLine};

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
    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError>;

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
    fn take(line: &mut TextLine<'_>, name: &str, is_named: bool) -> Result<Self, TextError> {
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
pub fn take<T: Field>(line: &mut TextLine<'_>, name: &str, is_named: bool) -> Result<T, TextError> {
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

            fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
                let expected = format!("number from {} to {}", Self::MIN, Self::MAX);
                line.parsed(&expected, |word, _| number(word)?.try_into().ok())
            }
        }
    )* };
}

numbers! { u8 u16 u32 i32 }

/// A number that may be left out.
impl Field for Option<u8> {
    fn print(&self, out: &mut String) {
        out.push_str(&self.map_or_else(|| "none".to_owned(), |number| number.to_string()));
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        u8::parse(line).map(Some)
    }

    fn usual() -> Option<Self> {
        Some(None)
    }
}

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

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        u32::parse(line).map(Self)
    }
}

/// The number of a definition at the head of a text: a letter and the number.
#[macro_export]
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

        impl $crate::text::fields::Field for $name {
            const NAMED: bool = false;

            fn print(&self, out: &mut String) {
                out.push_str(&format!(concat!($letter, "{}"), self.0));
            }

            fn parse(line: &mut $crate::text::TextLine<'_>) -> Result<Self, $crate::text::TextError> {
                let expected = concat!($kind, ": `", $letter, "` and its number");
                line.parsed(expected, |word, _| word.strip_prefix($letter)?.parse().ok().map(Self))
            }
        }
    )* };
}

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
pub struct RegisterElement(u8);

impl From<u8> for RegisterElement {
    fn from(number: u8) -> Self {
        Self(number)
    }
}

impl From<RegisterElement> for u8 {
    fn from(element: RegisterElement) -> Self {
        element.0
    }
}

/// The names of elements; in streams the last one is all of them.
const NAMES: [&str; 5] = ["x", "y", "z", "w", "all"];

impl Field for RegisterElement {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        out.push_str(NAMES[usize::from(self.0).min(4)]);
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        line.one_of(&NAMES, "element").map(|number| Self(number as u8))
    }
}

/// A flag: its name, or nothing.
impl Field for bool {
    fn print(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
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

    fn take(line: &mut TextLine<'_>, name: &str, is_named: bool) -> Result<Self, TextError> {
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

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        let mut found = vec![T::parse(line)?];
        while found.len() < N && line.peek().is_some_and(T::is_like) {
            found.push(T::parse(line)?);
        }
        Ok(std::array::from_fn(|n| *found.get(n).unwrap_or(&found[0])))
    }
}
