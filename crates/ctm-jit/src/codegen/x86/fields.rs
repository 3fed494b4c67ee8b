//! Fields of machine instructions with a text form of their own: numbers of calls and mask registers.

use crate::ir::text::fields::{Field, numbered};
use crate::ir::text::{Line, TextError};

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
