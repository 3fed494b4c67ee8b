//! What a row of a table of registers turns into.

use ctm_isa::table::{Field, Value};

/// What a register holds, beside its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A number, or fields.
    Number,
    /// A float of 32 bits.
    Float,
    /// An address, divided by 256 in most registers; a relocation says which buffer it lies in.
    Address,
}

/// A register, or several of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its name; of several that of the first: the last `0` of the name is the number.
    pub name: &'static str,
    /// Byte offset of the first.
    pub offset: u32,
    /// How many there are.
    pub count: u32,
    /// Bytes from one to the next.
    pub stride: u32,
    /// What they hold.
    pub kind: Kind,
    /// What they do.
    pub doc: &'static str,
    /// Their fields; empty for those that are one value.
    pub fields: &'static [Field],
}

impl Register {
    /// Which of the registers lies at a byte offset.
    #[must_use]
    pub const fn index_at(&self, offset: u32) -> Option<u32> {
        if offset < self.offset {
            return None;
        }
        let index = (offset - self.offset) / self.stride;
        if index < self.count && (offset - self.offset).is_multiple_of(self.stride) { Some(index) } else { None }
    }

    /// The name of one of the registers.
    #[must_use]
    pub fn numbered(&self, index: u32) -> String {
        match self.name.rfind('0') {
            Some(at) if self.count > 1 => format!("{}{index}{}", &self.name[..at], &self.name[at + 1..]),
            _ => self.name.to_owned(),
        }
    }

    /// Which of the registers has a name.
    #[must_use]
    pub fn index_of(&self, name: &str) -> Option<u32> {
        let Some(at) = self.name.rfind('0').filter(|_| self.count > 1) else {
            return (self.name == name).then_some(0);
        };
        let number = name.strip_prefix(&self.name[..at])?.strip_suffix(&self.name[at + 1..])?;
        let plain = number == "0" || !number.starts_with(['0', '+']);
        number.parse().ok().filter(|&index| plain && index < self.count)
    }

    /// The byte offset of one of the registers.
    #[must_use]
    pub const fn at(&self, index: u32) -> u32 {
        self.offset + self.stride * index
    }
}

/// A field, with the register that it is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// The register.
    pub register: &'static Register,
    /// The field.
    pub field: Field,
}

/// A named value of a field.
pub(crate) const fn value(code: u32, name: &'static str) -> Value {
    Value { code, name, doc: "", cite: "R6xx/R7xx 3D registers" }
}

/// The named values of a field: a list, or the name of one.
macro_rules! named_values {
    ([$($code:literal $name:literal),*]) => { &[$($crate::table::value($code, $name)),*] };
    ($list:ident) => { $list };
}

/// Registers as rows:
///
/// ```text
/// CB_COLOR0_VIEW = 0x28080, 8 every 4, number, "its slices" {
///     SLICE_START 10:0 [] "first array slice";
/// }
/// ```
///
/// Each row becomes a module of its name that has the register as `REGISTER` and each field as a constant of its name; all rows become `ROWS`.
macro_rules! registers {
    ($(
        $name:ident = $offset:literal, $count:literal every $stride:literal, $kind:ident, $doc:literal {
            $($field:ident $msb:literal : $lsb:literal $values:tt $field_doc:literal;)*
        }
    )*) => {
        $(
            #[doc = $doc]
            #[allow(non_snake_case, dead_code, reason = "the names of the registers; not every field has an effect")]
            pub(crate) mod $name {
                #[allow(unused_imports, clippy::wildcard_imports, reason = "the names of a table")]
                use super::super::values::*;
                #[allow(unused_imports, reason = "rows without fields")]
                use crate::table::{Bits, Register};
                use ctm_isa::table::Field;

                pub(crate) const FIELDS: &[Field] = &[$(Field {
                    name: stringify!($field),
                    msb: $msb,
                    lsb: $lsb,
                    doc: $field_doc,
                    values: named_values!($values),
                }),*];
                pub(crate) const REGISTER: &Register = &Register {
                    name: stringify!($name),
                    offset: $offset,
                    count: $count,
                    stride: $stride,
                    kind: crate::registers::$kind,
                    doc: $doc,
                    fields: FIELDS,
                };
                $(
                    pub(crate) const $field: Bits = Bits {
                        register: REGISTER,
                        field: Field {
                            name: stringify!($field),
                            msb: $msb,
                            lsb: $lsb,
                            doc: $field_doc,
                            values: named_values!($values),
                        },
                    };
                )*
            }
        )*
        pub(super) const ROWS: &[&crate::table::Register] = &[$($name::REGISTER),*];
    };
}
