//! The expansion of a row of an ISA table: fields, values and word formats as data.

/// One named value of a field, or one opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value {
    /// The number in the word.
    pub code: u32,
    /// The manual's name.
    pub name: &'static str,
    /// Its meaning.
    pub doc: &'static str,
    /// Where the manual says so.
    pub cite: &'static str,
}

/// One field of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The manual's name.
    pub name: &'static str,
    /// Highest bit.
    pub msb: u32,
    /// Lowest bit.
    pub lsb: u32,
    /// Its meaning.
    pub doc: &'static str,
    /// Its named values; empty for plain numbers and flags.
    pub values: &'static [Value],
}

impl Field {
    /// The number of bits.
    #[must_use]
    pub const fn width(&self) -> u32 {
        self.msb - self.lsb + 1
    }

    /// The field's bits within its word.
    #[inline]
    #[must_use]
    pub const fn mask(&self) -> u32 {
        mask(self.msb, self.lsb)
    }

    /// The field's number within `word`.
    #[inline]
    #[must_use]
    pub const fn extract(&self, word: u32) -> u32 {
        (word & self.mask()) >> self.lsb
    }
}

/// The format of one 32-bit word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordFormat {
    /// The manual's name.
    pub name: &'static str,
    /// Which dword of the instruction it is.
    pub dword: usize,
    /// Its contents.
    pub doc: &'static str,
    /// Where the manual describes it.
    pub cite: &'static str,
    /// The fields, in the order of the table.
    pub fields: &'static [Field],
    /// Ranges `(msb, lsb)` that belong to no field.
    pub reserved: &'static [(u32, u32)],
}

impl WordFormat {
    /// The bits that belong to no field.
    #[inline]
    #[must_use]
    pub const fn reserved_mask(&self) -> u32 {
        let mut all = 0;
        let mut i = 0;
        while i < self.reserved.len() {
            all |= mask(self.reserved[i].0, self.reserved[i].1);
            i += 1;
        }
        all
    }

    /// Fails compilation unless fields and reserved ranges cover each of the 32 bits once.
    pub const fn assert_tiles(&self) {
        let mut seen: u32 = 0;
        let mut i = 0;
        while i < self.fields.len() {
            let bits = self.fields[i].mask();
            assert!(seen & bits == 0, "two fields overlap");
            seen |= bits;
            i += 1;
        }
        let mut i = 0;
        while i < self.reserved.len() {
            let bits = mask(self.reserved[i].0, self.reserved[i].1);
            assert!(seen & bits == 0, "a reserved range overlaps a field");
            seen |= bits;
            i += 1;
        }
        assert!(seen == u32::MAX, "some bits are neither field nor reserved");
    }

    /// The field with this manual name, for constants.
    ///
    /// # Panics
    /// When there is none; in a constant that is a compile-time error.
    #[must_use]
    pub const fn known_field(&self, name: &str) -> Field {
        let mut i = 0;
        while i < self.fields.len() {
            let (a, b) = (self.fields[i].name.as_bytes(), name.as_bytes());
            let mut same = a.len() == b.len();
            let mut k = 0;
            while same && k < a.len() {
                same = a[k] == b[k];
                k += 1;
            }
            if same {
                return self.fields[i];
            }
            i += 1;
        }
        panic!("no field of this name")
    }

    /// The field with this manual name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|f| f.name == name)
    }
}

/// A field holds a number that has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The word's manual name.
    pub word: &'static str,
    /// The field's manual name.
    pub field: &'static str,
    /// The found value.
    pub found: u32,
    /// The named values that are allowed.
    pub allowed: &'static [Value],
}

impl std::fmt::Display for FieldError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` of {} is {}, which has no meaning; allowed are", self.field, self.word, self.found)?;
        for (i, v) in self.allowed.iter().enumerate() {
            write!(f, "{} {} ({})", if i == 0 { "" } else { "," }, v.code, v.name)?;
        }
        Ok(())
    }
}

impl std::error::Error for FieldError {}

/// The values that a field may hold.
pub trait FieldValue: Copy {
    /// Named values; empty when every number is allowed.
    const VALUES: &'static [Value];
    /// The value for the field's number, or `None` when that number has no meaning.
    fn from_bits(bits: u32) -> Option<Self>;
    /// The field's number.
    fn to_bits(self) -> u32;
}

impl FieldValue for bool {
    const VALUES: &'static [Value] = &[];
    fn from_bits(bits: u32) -> Option<Self> {
        Some(bits != 0)
    }
    fn to_bits(self) -> u32 {
        u32::from(self)
    }
}

macro_rules! plain_numbers {
    ($($ty:ty)+) => { $(
        impl FieldValue for $ty {
            const VALUES: &'static [Value] = &[];
            #[allow(clippy::cast_possible_truncation, reason = "a word format gives a field a type that holds its width")]
            fn from_bits(bits: u32) -> Option<Self> {
                Some(bits as $ty)
            }
            fn to_bits(self) -> u32 {
                u32::from(self)
            }
        }
    )+ };
}
plain_numbers!(u8 u16 u32);

/// The bits `msb..=lsb`.
#[inline]
#[must_use]
pub const fn mask(msb: u32, lsb: u32) -> u32 {
    (u32::MAX >> (31 - (msb - lsb))) << lsb
}

/// Reads one field; used by the code that `word_format!` makes.
///
/// # Errors
/// The field holds a number without a meaning.
#[doc(hidden)]
pub fn decode_field<T: FieldValue>(
    format: &WordFormat,
    field: &'static str,
    word: u32,
    msb: u32,
    lsb: u32,
) -> Result<T, FieldError> {
    let found = (word & mask(msb, lsb)) >> lsb;
    T::from_bits(found).ok_or(FieldError { word: format.name, field, found, allowed: T::VALUES })
}
