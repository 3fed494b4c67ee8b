//! Texts of single values: registers by number and name, formats, hexadecimal numbers.

use ctm_device::mc::{Format, Tiling};
use ctm_isa::x1k::{BOOL_CONSTANTS, FLOAT_CONSTANTS, INPUTS, INT_CONSTANTS, OUTPUTS, TEMPORARIES};

/// Advice about domains that are too large.
pub(super) const BEYOND: &str = "run it in parts of 4096: passes whose [[register]] adds the part's origin to the index pair; R700 programs other than pixel programs number their threads row by row, so 10000 of them are 2500 columns and 4 rows";

/// Device formats by their names in job files: those of the commands, in lower case.
#[must_use]
pub fn formats() -> Vec<(&'static str, Format)> {
    let names = ["uint16_1", "uint8_4", "float32_1", "float32_2", "float32_4"];
    names.into_iter().zip(Format::ALL.iter().copied()).collect()
}

/// Orders in memory by their names in job files: those of the commands, in lower case.
pub(crate) fn tilings() -> Vec<(&'static str, Tiling)> {
    ["linear", "tiled", "linear_inp_2x2", "tiled_inp_2x2"].into_iter().zip(Tiling::ALL.iter().copied()).collect()
}

/// `"0x3F800000"`: up to 32 bits.
pub(crate) fn hex(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))
}

/// Registers of one kind, as jobs number them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    /// Their kind in the plural, for messages.
    pub what: &'static str,
    /// The letters that their names begin with.
    pub letters: &'static [char],
    /// How many there are.
    pub limit: usize,
}

const fn slots(what: &'static str, letters: &'static [char], limit: usize) -> Slots {
    Slots { what, letters, limit }
}

impl Slots {
    pub const FLOAT: Self = slots("float constants", &['c', 'C'], FLOAT_CONSTANTS);
    pub const INT: Self = slots("int constants", &['i'], INT_CONSTANTS);
    pub const BOOL: Self = slots("bool constants", &['b'], BOOL_CONSTANTS);
    pub const X1K_INPUT: Self = slots("X1K inputs", &['s'], INPUTS);
    pub const X1K_OUTPUT: Self = slots("X1K outputs", &['o'], OUTPUTS);
    pub const REGISTER: Self = slots("registers", &['r', 'R'], TEMPORARIES);
    /// A texture of the R700; its sampler often has the same number, and names it as well.
    pub const RESOURCE: Self = slots("texture resources", &['t', 's'], 256);
    pub const BUFFER: Self = slots("buffers", &['b'], 256);
    pub const SAMPLER: Self = slots("samplers", &['s'], 32);
    /// Pixel exports of the R700, which X1K calls outputs.
    pub const EXPORT: Self = slots("pixel exports", &['o'], 8);

    /// The kind of an X1K register by its name, and the flag that sets it.
    pub fn of(name: &str) -> Option<(&'static str, &'static str)> {
        let all = [
            (Self::FLOAT, "--const"),
            (Self::INT, "--int"),
            (Self::BOOL, "--bool"),
            (Self::X1K_INPUT, "--in"),
            (Self::X1K_OUTPUT, "--out"),
            (Self::REGISTER, "--register"),
        ];
        let is_one = |slots: Self| name.starts_with(slots.letters) && register_number(name, slots.letters).is_some();
        all.into_iter().find(|(slots, _)| is_one(*slots)).map(|(slots, flag)| (slots.what, flag))
    }

    /// The registers, for messages: `c0 to c255`.
    pub fn range(self) -> String {
        let letter = self.letters.first().copied().unwrap_or_default();
        format!("{letter}0 to {letter}{}", self.limit - 1)
    }
}

/// `12`, or `s12` where `s` is one of the letters.
pub(crate) fn register_number(text: &str, letters: &[char]) -> Option<i128> {
    let digits = text.strip_prefix(letters).unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok()).flatten()
}

/// The largest single-precision number, for messages.
pub(super) const SINGLE: &str = "single precision holds numbers up to 3.4028235e38 (inf is written `inf`)";

/// A number in single precision; `None`: a finite number that would become infinite.
#[allow(clippy::cast_possible_truncation, reason = "rounded once")]
pub(super) fn single(value: f64) -> Option<f32> {
    let single = value as f32;
    (single.is_finite() || !value.is_finite()).then_some(single)
}

/// Whether a text is a finite number that double precision does not hold, such as `1e400`.
pub(super) fn is_beyond(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') && text.parse::<f64>().is_ok_and(f64::is_infinite)
}

pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && chars.all(|c| c.is_alphanumeric() || "_.".contains(c))
}
