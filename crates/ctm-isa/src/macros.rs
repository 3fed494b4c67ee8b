//! The two macros that turn rows of the manuals' tables into Rust.
//!
//! Both ISAs use them, and so do the program registers that images carry; nothing else in the project states a bit
//! position or an opcode number.

/// Declares an enumeration of the manual: opcodes, or the values of a field.
///
/// ```text
/// ops! {
///     /// Input modifier of one operand.
///     pub enum Imod cite "CTM §3.3.3" {
///         /// No modification.
///         Off "OFF" 0;
///         /// Negate.
///         Neg "NEG" 1;
///         /// Absolute value.
///         Abs "ABS" 2;
///     }
/// }
/// ```
///
/// turns into `enum Imod { Off, Neg, Abs }` with `ALL` (in the manual's order), `code()`, `name()`, `doc()`, `cite()`,
/// `from_code()`, `from_name()` and [`FieldValue`](crate::table::FieldValue), so that a word format can name it as the type of a field.
/// A row may end in `=> VALUE` when the enumeration declares `info TYPE`; `info()` then returns that row's value.
/// A row may carry its own `cite "…"` after the code; otherwise the enumeration's holds.
#[macro_export]
macro_rules! ops {
    (
        $(#[doc = $edoc:literal])+
        pub enum $name:ident cite $ecite:literal $(info $info:ty)? {
            $( $(#[doc = $doc:literal])+ $variant:ident $text:literal $code:literal $(cite $cite:literal)? $(=> $row:expr)?; )+
        }
    ) => {
        $(#[doc = $edoc])+
        #[doc = concat!("\n\nSource: ", $ecite, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $( $(#[doc = $doc])+ $variant = $code ),+ }

        impl $name {
            /// Every row, in the manual's order.
            pub const ALL: &'static [Self] = &[ $( Self::$variant ),+ ];

            /// The number that is in the instruction word.
            #[must_use]
            pub const fn code(self) -> u32 { self as u32 }

            /// The manual's name.
            #[must_use]
            pub const fn name(self) -> &'static str { match self { $( Self::$variant => $text ),+ } }

            /// The manual's description, in our words.
            #[must_use]
            pub const fn doc(self) -> &'static str { match self { $( Self::$variant => concat!($($doc, "\n"),+) ),+ } }

            /// Where the manual says it.
            #[must_use]
            pub const fn cite(self) -> &'static str {
                match self { $( Self::$variant => $crate::first_of!($($cite,)? $ecite) ),+ }
            }

            /// The row with this number, if there is one.
            #[must_use]
            pub const fn from_code(code: u32) -> Option<Self> {
                match code { $( $code => Some(Self::$variant), )+ _ => None }
            }

            /// The row with this name (exactly as the manual spells it), if there is one.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|row| row.name() == name)
            }
        }

        impl $crate::table::FieldValue for $name {
            const VALUES: &'static [$crate::table::Value] = &[ $( $crate::table::Value {
                code: $code,
                name: $text,
                doc: concat!($($doc, "\n"),+),
                cite: $crate::first_of!($($cite,)? $ecite),
            } ),+ ];
            fn from_bits(bits: u32) -> Option<Self> { Self::from_code(bits) }
            fn to_bits(self) -> u32 { self.code() }
        }

        $crate::ops!(@info $name [$($info)?] $( $variant [$($row)?] )+);
    };
    (@info $name:ident [] $( $variant:ident [] )+) => {};
    (@info $name:ident [$info:ty] $( $variant:ident [$row:expr] )+) => {
        impl $name {
            /// The further columns of this row.
            #[must_use]
            pub const fn info(self) -> $info { match self { $( Self::$variant => $row ),+ } }
        }
    };
}

/// The first of its arguments: a row's own citation, or else the table's.
#[doc(hidden)]
#[macro_export]
macro_rules! first_of {
    ($first:literal, $rest:literal) => {
        $first
    };
    ($only:literal) => {
        $only
    };
}

/// Declares the format of one 32-bit word.
///
/// ```text
/// word_format! {
///     /// Flow control, dword 3.
///     pub struct FcAddr "FC_ADDR" dword 3 cite "CTM §3.5.3" {
///         /// Which boolean constant takes part in the jump condition.
///         4:0     bool_addr:   u8   = "BOOL_ADDR";
///         /// Whether `JUMP_ADDR` is absolute.
///         31:31   jump_global: bool = "JUMP_GLOBAL";
///         reserved 7:5, 30:8;
///     }
/// }
/// ```
///
/// turns into `struct FcAddr { pub bool_addr: u8, pub jump_global: bool }` with `FORMAT` (its [`WordFormat`](crate::table::WordFormat),
/// every field and reserved range), `decode`, `encode` and `RESERVED` (the mask of reserved bits).
/// It does not compile unless fields and reserved ranges tile the 32 bits exactly.
#[macro_export]
macro_rules! word_format {
    (
        $(#[doc = $sdoc:literal])+
        pub struct $name:ident $manual:literal dword $dword:literal cite $cite:literal {
            $( $(#[doc = $doc:literal])+ $msb:literal : $lsb:literal  $field:ident : $ty:ty = $fname:literal; )+
            $( reserved $($rmsb:literal : $rlsb:literal),+ ; )?
        }
    ) => {
        $(#[doc = $sdoc])+
        #[doc = concat!("\n\nThe manual's `", $manual, "`; source: ", $cite, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct $name { $( $(#[doc = $doc])+ #[doc = concat!("(`", $fname, "`, bits ", $msb, ":", $lsb, ")")] pub $field: $ty ),+ }

        impl $name {
            /// The manual's name, the place in the instruction, the fields and the reserved ranges.
            pub const FORMAT: $crate::table::WordFormat = $crate::table::WordFormat {
                name: $manual,
                dword: $dword,
                doc: concat!($($sdoc, "\n"),+),
                cite: $cite,
                fields: &[ $( $crate::table::Field {
                    name: $fname,
                    msb: $msb,
                    lsb: $lsb,
                    doc: concat!($($doc, "\n"),+),
                    values: <$ty as $crate::table::FieldValue>::VALUES,
                } ),+ ],
                reserved: &[ $( $( ($rmsb, $rlsb) ),+ )? ],
            };

            /// The bits that belong to no field.
            pub const RESERVED: u32 = Self::FORMAT.reserved_mask();

            /// Reads the fields of `word`. Reserved bits are ignored: see [`Self::RESERVED`].
            ///
            /// # Errors
            /// The first field that holds a number without a meaning.
            pub fn decode(word: u32) -> Result<Self, $crate::table::FieldError> {
                Ok(Self { $( $field: $crate::table::decode_field::<$ty>(&Self::FORMAT, $fname, word, $msb, $lsb)? ),+ })
            }

            /// Writes the fields; reserved bits are 0. A number too wide for its field is cut to the field's width.
            #[must_use]
            pub fn encode(&self) -> u32 {
                0 $( | (($crate::table::FieldValue::to_bits(self.$field) & $crate::table::mask($msb - $lsb, 0)) << $lsb) )+
            }
        }

        const _: () = <$name>::FORMAT.assert_tiles();
    };
}
