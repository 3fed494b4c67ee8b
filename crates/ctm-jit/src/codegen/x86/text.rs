//! The text of the fields of machine instructions.

use super::lir::{Class, Negated, Src, Vector};
use ctm_ir::text::fields::{Field, number};
use ctm_ir::text::{TextError, TextLine};

impl Field for Vector {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        out.push_str(&format!("x{}", self.0));
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        line.parsed("vector: `x` and its number", |word, _| word.strip_prefix('x')?.parse().ok().map(Self))
    }
}

impl Field for Src {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        match self {
            Self::Vector(vector) => vector.print(out),
            Self::Literal(bits) => out.push_str(&format!("{bits:#x}")),
            Self::Const(index) => out.push_str(&format!("uniform:{index}")),
            Self::Row(offset) => out.push_str(&format!("frame:{offset}")),
            Self::Each(offset) => out.push_str(&format!("broadcast:{offset}")),
        }
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        let expected = "operand: a vector `x0`, bits `0x3f800000`, `uniform:` and a place of the table of uniform values, `frame:` or \
                        `broadcast:` and an offset in the frame";
        line.parsed(expected, |word, _| {
            if let Some(vector) = word.strip_prefix('x') {
                return vector.parse().ok().map(|number| Self::Vector(Vector(number)));
            }
            match word.split_once(':') {
                None => u32::try_from(number(word)?).ok().map(Self::Literal),
                Some(("uniform", index)) => index.parse().ok().map(Self::Const),
                Some(("frame", offset)) => offset.parse().ok().map(Self::Row),
                Some(("broadcast", offset)) => offset.parse().ok().map(Self::Each),
                Some(_) => None,
            }
        })
    }
}

/// The roles of a multiply-add that may be negated, by [`Negated`] as two bits.
const NEGATED: [&str; 4] = ["none", "product", "summand", "both"];

impl Field for Negated {
    fn print(&self, out: &mut String) {
        out.push_str(NEGATED[usize::from(self.product) + 2 * usize::from(self.summand)]);
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        let number = line.one_of(&NEGATED, "role of a multiply-add")?;
        Ok(Self { product: number & 1 != 0, summand: number & 2 != 0 })
    }

    fn usual() -> Option<Self> {
        Some(Self::default())
    }
}

impl Field for Class {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        out.push_str(match self {
            Self::Infinite => "infinite",
            Self::NotFinite => "not_finite",
        });
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        let number = line.one_of(&["infinite", "not_finite"], "class of numbers")?;
        Ok([Self::Infinite, Self::NotFinite][number])
    }
}
