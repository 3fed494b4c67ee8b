//! The text of the fields of machine instructions.

use super::lir::{Class, Negated, Src, Vector};
use super::masked::Indexed;
use crate::ir::text::fields::{Field, number, numbered};
use crate::ir::text::{Line, TextError};
use ctm_x86::V;

numbered! {
    /// The number of a call.
    CallNumber "call" "call";
}

/// A mask register.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MaskRegister(u8);

/// The mask register under which another mask is made; 0: none.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct UnderMask(u8);

macro_rules! mask_registers {
    ($($ty:ident $named:literal $usual:expr;)*) => { $(
        impl From<u8> for $ty {
            fn from(number: u8) -> Self {
                Self(number)
            }
        }

        impl From<$ty> for u8 {
            fn from(register: $ty) -> Self {
                register.0
            }
        }

        impl Field for $ty {
            const NAMED: bool = $named;

            fn print(&self, out: &mut String) {
                out.push_str(&format!("k{}", self.0));
            }

            fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
                line.one_of(&["k0", "k1", "k2", "k3"], "mask register").map(|number| Self(number as u8))
            }

            fn usual() -> Option<Self> {
                $usual
            }
        }
    )* };
}

mask_registers! {
    MaskRegister false None;
    UnderMask true Some(Self(0));
}

impl Field for Vector {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        out.push_str(&format!("x{}", self.0));
    }

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
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

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
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

impl Field for V {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        out.push_str(self.name().unwrap_or("unnamed"));
    }

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
        line.parsed("instruction of the encoder's tables (`ctm-x86`)", |word, _| Self::from_name(word))
    }
}

impl Field for Option<u8> {
    fn print(&self, out: &mut String) {
        out.push_str(&self.map_or_else(|| "none".to_owned(), |imm| imm.to_string()));
    }

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
        u8::parse(line).map(Some)
    }

    fn usual() -> Option<Self> {
        Some(None)
    }
}

/// The roles of a multiply-add that may be negated, by [`Negated`] as two bits.
const NEGATED: [&str; 4] = ["none", "product", "summand", "both"];

impl Field for Negated {
    fn print(&self, out: &mut String) {
        out.push_str(NEGATED[usize::from(self.product) + 2 * usize::from(self.summand)]);
    }

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
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

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
        let number = line.one_of(&["infinite", "not_finite"], "class of numbers")?;
        Ok([Self::Infinite, Self::NotFinite][number])
    }
}

impl Field for Indexed {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        match *self {
            Self::Gprs { first, count } => out.push_str(&format!("gprs:{}:{count}", first.0)),
            Self::Constants { first, count } => out.push_str(&format!("constants:{first}:{count}")),
            Self::Share => out.push_str("share"),
        }
    }

    fn parse(line: &mut Line<'_>) -> Result<Self, TextError> {
        let expected = "file: `gprs:` or `constants:` with the first one, `:` and how many, or `share`";
        line.parsed(expected, |word, _| {
            let parts: Vec<&str> = word.split(':').collect();
            Some(match parts[..] {
                ["gprs", first, count] => Self::Gprs { first: Vector(first.parse().ok()?), count: count.parse().ok()? },
                ["constants", first, count] => {
                    Self::Constants { first: first.parse().ok()?, count: count.parse().ok()? }
                }
                ["share"] => Self::Share,
                _ => return None,
            })
        })
    }
}
