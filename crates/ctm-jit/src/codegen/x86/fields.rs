//! Fields of machine instructions with a text form of their own: numbers of calls, mask registers and opcodes.

use ctm_ir::numbered;
use ctm_ir::text::fields::Field;
use ctm_ir::text::{TextError, TextLine};
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

            fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
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

/// The text of an instruction of the encoder's tables: its name there.
#[derive(Clone, Copy, PartialEq)]
pub struct Opcode(V);

impl From<V> for Opcode {
    fn from(op: V) -> Self {
        Self(op)
    }
}

impl From<Opcode> for V {
    fn from(op: Opcode) -> Self {
        op.0
    }
}

impl Field for Opcode {
    const NAMED: bool = false;

    fn print(&self, out: &mut String) {
        out.push_str(self.0.name().unwrap_or("unnamed"));
    }

    fn parse(line: &mut TextLine<'_>) -> Result<Self, TextError> {
        line.parsed("instruction of the encoder's tables (`ctm-x86`)", |word, _| V::from_name(word).map(Self))
    }
}
