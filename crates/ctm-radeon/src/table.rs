//! Rows of the tables of registers and packets, and their fields: the only code that shifts and masks.

use ctm_isa::table::{Field, Value};

/// The kind of a register, besides its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RegisterKind {
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
    /// Its name; for several registers that of the first: the last `0` of the name is the number.
    pub name: &'static str,
    /// Byte offset of the first.
    pub offset: u32,
    /// How many there are.
    pub count: u32,
    /// Bytes from one to the next.
    pub stride: u32,
    /// Their kind.
    pub kind: RegisterKind,
    /// Their effect.
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

/// A word of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its name.
    pub name: &'static str,
    /// Its fields; empty for plain numbers.
    pub fields: &'static [Field],
}

/// The kind of a packet's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketShape {
    /// These words.
    Words(&'static [Word]),
    /// A place, then values of registers from this offset up to (not including) the other; the place counts dwords from the first offset.
    Registers(u32, u32),
}

/// The number of words that the kernel allows after a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// This number.
    Exactly(usize),
    /// One of these.
    OneOf(&'static [usize]),
    /// This number or more.
    AtLeast(usize),
    /// One word, and a multiple of this number.
    OneAnd(usize),
}

impl Length {
    /// Whether a packet may have this number of words.
    #[must_use]
    pub fn allows(self, words: usize) -> bool {
        match self {
            Self::Exactly(n) => words == n,
            Self::OneOf(all) => all.contains(&words),
            Self::AtLeast(n) => words >= n,
            Self::OneAnd(n) => words > n && (words - 1).is_multiple_of(n),
        }
    }
}

impl std::fmt::Display for Length {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exactly(n) => write!(f, "{n}"),
            Self::OneOf(all) => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                f.write_str(&all.join(" or "))
            }
            Self::AtLeast(n) => write!(f, "{n} or more"),
            Self::OneAnd(n) => write!(f, "1 and a multiple of {n}"),
        }
    }
}

/// Who may send a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sender {
    /// Programs: the kernel lets it through.
    Program,
    /// Only the kernel, or firmware.
    Kernel,
    /// Programs, on chips of the first generation only (R6xx).
    R600,
    /// A console's programs.
    Console,
}

/// A row of the table of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info {
    /// Its name.
    pub name: &'static str,
    /// Its opcode.
    pub opcode: u8,
    /// Who may send it.
    pub sender: Sender,
    /// The number of words that the kernel allows.
    pub length: Length,
    /// The kind of its words.
    pub shape: PacketShape,
    /// Whether it draws: it has an initiator.
    pub draws: bool,
    /// Its effect.
    pub doc: &'static str,
}

impl Info {
    /// Its words; none for packets that write registers.
    #[must_use]
    pub const fn words(&self) -> &'static [Word] {
        match self.shape {
            PacketShape::Words(words) => words,
            PacketShape::Registers(..) => &[],
        }
    }
}

/// Whether one of the words is the initiator of a draw.
pub(crate) const fn has_initiator(words: &[Word]) -> bool {
    let mut n = 0;
    while n < words.len() {
        if matches!(words[n].name.as_bytes(), b"initiator") {
            return true;
        }
        n += 1;
    }
    false
}

/// A field, with the register that it is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// The register.
    pub register: &'static Register,
    /// The field.
    pub field: Field,
}

/// A word with a field set to a number; bits outside the field's width are dropped.
#[must_use]
pub const fn insert(field: Field, word: u32, number: u32) -> u32 {
    word & !field.mask() | number << field.lsb & field.mask()
}

/// Two dwords as 64 bits.
#[must_use]
pub const fn join(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// 64 bits as two dwords, the lower first.
#[must_use]
pub const fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// Bytes in memory order, at most eight of them, as a number.
#[must_use]
pub fn little_endian(bytes: &[u8]) -> u64 {
    little_endian_128(bytes) as u64
}

/// Bytes in memory order, at most sixteen of them, as a number.
#[must_use]
pub fn little_endian_128(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u128::from(byte))
}

/// Whether bit `n` of a word is set, in words that have a bit for each of several things.
#[must_use]
pub const fn bit(word: u32, n: u32) -> bool {
    n < u32::BITS && word >> n & 1 == 1
}

/// `width` bits of a word, at most 31, from bit `at` on, in words that have such a field for each of several things.
#[must_use]
pub const fn bits_at(word: u32, at: u32, width: u32) -> u32 {
    if at < u32::BITS { word >> at & (one_bit(width) - 1) } else { 0 }
}

/// The lower and the upper 16 bits of a word.
#[must_use]
pub const fn halfwords(word: u32) -> [u32; 2] {
    [bits_at(word, 0, 16), bits_at(word, 16, 16)]
}

/// The word in which only bit `n` is set; 0 for bits that a word does not have.
#[must_use]
pub const fn one_bit(n: u32) -> u32 {
    if n < u32::BITS { 1 << n } else { 0 }
}

/// The numbers of the bits that are set in a word.
pub fn set_bits(word: u32) -> impl Iterator<Item = u32> {
    (0..u32::BITS).filter(move |&n| bit(word, n))
}

/// The number of `width` bits (1 to 32) that a field holds in two's complement.
#[must_use]
pub const fn signed(number: u32, width: u32) -> i32 {
    let unused = u32::BITS - width;
    (number << unused).cast_signed() >> unused
}

/// The address in a register in units of 256 bytes.
#[must_use]
pub const fn from_256(word: u32) -> u64 {
    (word as u64) << 8
}

/// An address in units of 256 bytes, as registers hold it.
#[must_use]
pub const fn in_256(address: u64) -> u32 {
    (address >> 8) as u32
}

/// Fields of a word of a packet. Numbers without fields have none.
pub trait FieldLayout {
    /// The fields, from low to high bits.
    const FIELDS: &'static [Field];
}

impl FieldLayout for u32 {
    const FIELDS: &'static [Field] = &[];
}

/// The named values of a field of a packet's word, by the type of the field.
macro_rules! field_values {
    (flag) => {
        &[]
    };
    (number) => {
        &[]
    };
    ($of:ident) => {
        <$of as ctm_isa::table::FieldValue>::VALUES
    };
}

/// The function that reads a field of a packet's word, by the type of the field.
macro_rules! field_accessor {
    ($method:ident $field:ident flag) => {
        #[doc = concat!("Whether `", stringify!($field), "` is set.")]
        #[must_use]
        pub const fn $method(self) -> bool {
            Self::$field.extract(self.0) != 0
        }
    };
    ($method:ident $field:ident number) => {
        #[doc = concat!("The number in `", stringify!($field), "`.")]
        #[must_use]
        pub const fn $method(self) -> u32 {
            Self::$field.extract(self.0)
        }
    };
    ($method:ident $field:ident $of:ident) => {
        #[doc = concat!("The value of `", stringify!($field), "`; `None` for numbers without meaning.")]
        #[must_use]
        pub const fn $method(self) -> Option<$of> {
            $of::from_code(Self::$field.extract(self.0))
        }
    };
}

/// Words of packets as rows: the name of the accessor, of the field, its type (`flag`, `number` or an enumeration), its bits.
///
/// ```text
/// /// Both sides of COPY_DW.
/// CopyControl {
///     src_mem SRC_MEM flag 0:0 "from memory, not a register";
/// }
/// ```
///
/// Each becomes a type around its word, with the fields as constants and a function for each field.
macro_rules! word_fields {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident {
            $($method:ident $field:ident $kind:ident $msb:literal : $lsb:literal $field_doc:literal;)+
        }
    )+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub u32);

        impl $name {
            $(
                #[doc = concat!("The field `", stringify!($field), "`.")]
                pub const $field: ctm_isa::table::Field = ctm_isa::table::Field {
                    name: stringify!($field),
                    msb: $msb,
                    lsb: $lsb,
                    doc: $field_doc,
                    values: field_values!($kind),
                };
                field_accessor!($method $field $kind);
            )+

            /// The number in one of the fields.
            #[must_use]
            pub const fn get(self, field: ctm_isa::table::Field) -> u32 {
                field.extract(self.0)
            }

            /// The word with one of the fields set.
            #[must_use]
            pub const fn with(self, field: ctm_isa::table::Field, number: u32) -> Self {
                Self(crate::table::insert(field, self.0, number))
            }
        }

        impl crate::table::FieldLayout for $name {
            const FIELDS: &'static [ctm_isa::table::Field] = &[$(Self::$field),+];
        }

        impl From<u32> for $name {
            fn from(word: u32) -> Self {
                Self(word)
            }
        }
    )+};
}

/// Types of words that are written as plain numbers.
macro_rules! plain_words {
    ($($name:ident),+) => {$(
        impl crate::table::FieldLayout for $name {
            const FIELDS: &'static [ctm_isa::table::Field] = &[];
        }

        impl From<u32> for $name {
            fn from(word: u32) -> Self {
                Self(word)
            }
        }
    )+};
}

/// The shape of a packet's words: fields of a type in braces, or a range of registers in brackets.
macro_rules! packet_shape {
    ($name:ident { $($words:tt)* }) => {
        $crate::table::PacketShape::Words($name::WORDS)
    };
    ($name:ident [$first:expr, $end:expr]) => {
        $crate::table::PacketShape::Registers($first, $end)
    };
}

/// The type of a packet, for packets whose words have names.
macro_rules! packet_type {
    ($name:ident $doc:literal { $($word:ident $($text:literal)? : $of:ident),* }) => {
        #[doc = concat!("Words of a packet that ", $doc, ".")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name {
            $(
                #[doc = concat!("The word `", stringify!($word), "`.")]
                pub $word: $of,
            )*
        }

        impl $name {
            /// Its words as rows.
            pub const WORDS: &'static [$crate::table::Word] = &[$($crate::table::Word {
                name: word_name!($word $($text)?),
                fields: <$of as $crate::table::FieldLayout>::FIELDS,
            }),*];

            /// The words after a header; 0 for those that are missing.
            #[must_use]
            #[allow(unused_mut, unused_variables, reason = "packets whose words have no names")]
            pub fn of(words: &[u32]) -> Self {
                let mut words = words.iter().copied();
                Self { $($word: words.next().unwrap_or_default().into()),* }
            }
        }
    };
    ($name:ident $doc:literal [$first:expr, $end:expr]) => {
        #[doc = concat!("A packet that ", $doc, "; its values are those of `Packet::registers`.")]
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name;

        impl $name {
            const fn of(_: &[u32]) -> Self {
                Self
            }
        }
    };
}

/// The name of a word in text: that of the field of its type, unless it is a keyword of Rust.
macro_rules! word_name {
    ($word:ident) => {
        stringify!($word)
    };
    ($word:ident $text:literal) => {
        $text
    };
}

/// Packets of a chip as rows: the type, the name, the opcode, who sends it, the length, its words or its registers, its effect.
///
/// ```text
/// NumInstances "NUM_INSTANCES" 0x2f Program Exactly(1) { count: u32 } "how often draws are repeated";
/// SetSampler "SET_SAMPLER" 0x6e Program OneAnd(3) [SAMPLERS, 0x3cff0] "writes samplers";
/// ```
///
/// Each row becomes a type with its words; all become the enumeration `Command` and the table `PACKETS`.
macro_rules! packets {
    ($($name:ident $text:literal $opcode:literal $sender:ident $length:ident ($count:expr) $body:tt $doc:literal;)+) => {
        $(packet_type!($name $doc $body);)+

        /// A packet of type 3 with its words.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Command {
            $(
                #[doc = concat!("`", $text, "`: ", $doc, ".")]
                $name($name),
            )+
        }

        impl Command {
            /// The packet with an opcode and these words after its header; `None` for opcodes without a row.
            #[must_use]
            pub fn of(opcode: u8, words: &[u32]) -> Option<Self> {
                match opcode {
                    $($opcode => Some(Self::$name($name::of(words))),)+
                    _ => None,
                }
            }
        }

        /// Every packet of type 3, by opcode.
        pub const PACKETS: &[$crate::table::Info] = &[$($crate::table::Info {
            name: $text,
            opcode: $opcode,
            sender: $crate::table::Sender::$sender,
            length: $crate::table::Length::$length($count),
            shape: packet_shape!($name $body),
            draws: match packet_shape!($name $body) {
                $crate::table::PacketShape::Words(words) => $crate::table::has_initiator(words),
                $crate::table::PacketShape::Registers(..) => false,
            },
            doc: $doc,
        }),+];
    };
}

/// The kinds of registers by the words of rows.
#[allow(non_upper_case_globals, reason = "the words of rows")]
pub(crate) mod kinds {
    use crate::table::RegisterKind;

    pub(crate) const number: RegisterKind = RegisterKind::Number;
    pub(crate) const float: RegisterKind = RegisterKind::Float;
    pub(crate) const address: RegisterKind = RegisterKind::Address;
}

/// A named value of a field.
pub(crate) const fn value(code: u32, name: &'static str) -> Value {
    Value { code, name, doc: "", cite: "AMD's guides to 3D registers" }
}
