//! The kinds of files that are opened, and the largest size of each.

use std::fmt;
use std::sync::OnceLock;

/// The environment variable that raises or lowers the limits.
pub const ENVIRONMENT: &str = "CTM_FILE_LIMITS";

/// The purpose for which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Program text, words, or a container of programs.
    Program,
    /// A shader in a language that another compiler reads.
    Shader,
    /// A command buffer or a command stream, as words or text.
    Commands,
    /// A job file.
    Job,
    /// Commands of the debugger.
    Script,
    /// An array: `.npy` or raw bytes.
    Array,
    /// A picture: `.png`, `.pfm`.
    Picture,
    /// A texture with levels: DDS, KTX2, GTX.
    Texture,
    /// A mesh, or a buffer of one.
    Mesh,
    /// A capture of command streams.
    Capture,
    /// A recording of a device; it is read as a stream.
    Recording,
}

/// A row of the table of limits.
struct LimitRow {
    kind: FileKind,
    name: &'static str,
    noun: &'static str,
    bytes: u64,
}

const fn row(kind: FileKind, name: &'static str, noun: &'static str, bytes: u64) -> LimitRow {
    LimitRow { kind, name, noun, bytes }
}

/// Each kind in the order of [`FileKind`]: its name in [`ENVIRONMENT`], its noun in messages, and its limit in bytes.
#[rustfmt::skip]
const ROWS: [LimitRow; 11] = [
    row(FileKind::Program,   "program",   "the program",   64 << 20),
    row(FileKind::Shader,    "shader",    "the shader",    16 << 20),
    row(FileKind::Commands,  "commands",  "the command buffer", 64 << 20),
    row(FileKind::Job,       "job",       "the job",       16 << 20),
    row(FileKind::Script,    "script",    "the script",    16 << 20),
    row(FileKind::Array,     "array",     "the array",      4 << 30),
    row(FileKind::Picture,   "picture",   "the picture",    1 << 30),
    row(FileKind::Texture,   "texture",   "the texture",    1 << 30),
    row(FileKind::Mesh,      "mesh",      "the mesh",       1 << 30),
    row(FileKind::Capture,   "capture",   "the capture",    4 << 30),
    row(FileKind::Recording, "recording", "the recording", 64 << 30),
];

impl FileKind {
    /// Every kind.
    pub const ALL: [Self; ROWS.len()] = {
        let mut all = [Self::Program; ROWS.len()];
        let mut n = 0;
        while n < ROWS.len() {
            assert!(ROWS[n].kind as usize == n, "the rows are in the order of the kinds");
            all[n] = ROWS[n].kind;
            n += 1;
        }
        all
    };

    const fn row(self) -> &'static LimitRow {
        &ROWS[self as usize]
    }

    /// Its name in [`ENVIRONMENT`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Its name in messages, with an article.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        self.row().noun
    }

    /// The most bytes of a file of this kind, unless the user sets another limit.
    #[must_use]
    pub const fn default_limit(self) -> u64 {
        self.row().bytes
    }

    /// The most bytes of a file of this kind: of [`ENVIRONMENT`], or the default.
    ///
    /// # Errors
    /// The variable has no such form. The text is complete.
    pub fn limit(self) -> Result<u64, String> {
        static LIMITS: OnceLock<Result<Limits, String>> = OnceLock::new();
        let limits = LIMITS.get_or_init(|| match std::env::var_os(ENVIRONMENT) {
            None => Ok(Limits::default()),
            Some(text) => Limits::parse(&text.to_string_lossy()),
        });
        limits.as_ref().map(|limits| limits.of(self)).map_err(String::clone)
    }
}

/// The limits that a user has set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits([Option<u64>; ROWS.len()]);

impl Limits {
    /// Reads `KIND=SIZE,...`; a SIZE alone is for all kinds that are not named. SIZE is a number of bytes, or of units of 1024 with K, M, G or T.
    ///
    /// ```
    /// use ctm_files::{FileKind, kinds::Limits};
    ///
    /// let limits = Limits::parse("array=8G,100M").unwrap();
    /// assert_eq!((limits.of(FileKind::Array), limits.of(FileKind::Job)), (8 << 30, 100 << 20));
    /// assert!(Limits::parse("arrays=8G").unwrap_err().contains("`arrays` is no kind of file"));
    /// ```
    ///
    /// # Errors
    /// Another form. The text is complete.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (mut limits, mut all) = ([None; ROWS.len()], None);
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, digits) = part.split_once('=').map_or((None, part), |(name, size)| (Some(name.trim()), size));
            let Some(bytes) = bytes(digits.trim()) else {
                return Err(format!(
                    "{ENVIRONMENT}: `{digits}` is no size; it is bytes, or a number with K, M, G or T"
                ));
            };
            match name {
                None => all = Some(bytes),
                Some(name) => match ROWS.iter().position(|row| row.name == name) {
                    Some(n) => limits[n] = Some(bytes),
                    None => {
                        let names = ROWS.map(|row| row.name).join(", ");
                        return Err(format!("{ENVIRONMENT}: `{name}` is no kind of file; there are {names}"));
                    }
                },
            }
        }
        Ok(Self(limits.map(|limit| limit.or(all))))
    }

    /// The most bytes of a file of a kind.
    #[must_use]
    pub const fn of(&self, kind: FileKind) -> u64 {
        match self.0[kind as usize] {
            Some(bytes) => bytes,
            None => kind.default_limit(),
        }
    }
}

/// The units of sizes, from the largest.
const UNITS: [(char, u64); 4] = [('T', 1 << 40), ('G', 1 << 30), ('M', 1 << 20), ('K', 1 << 10)];

fn bytes(text: &str) -> Option<u64> {
    let last = text.chars().last()?.to_ascii_uppercase();
    let unit = UNITS.iter().find(|(letter, _)| *letter == last);
    let digits = if unit.is_some() { &text[..text.len() - 1] } else { text };
    // `parse` would take a sign.
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(unit.map_or(1, |unit| unit.1))
}

/// A size as [`Limits::parse`] reads it: the largest unit that divides it.
#[derive(Clone, Copy, Debug)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().find(|(_, unit)| self.0 >= *unit && self.0.is_multiple_of(*unit)) {
            Some((letter, unit)) => write!(f, "{}{letter}", self.0 / unit),
            None => write!(f, "{}", self.0),
        }
    }
}

/// A limit that lets a size pass, rounded up to a whole unit.
pub(crate) fn enough_for(size: u64) -> Size {
    let unit = UNITS.iter().map(|(_, unit)| *unit).find(|unit| size >= *unit).unwrap_or(1);
    Size(size.checked_next_multiple_of(unit).unwrap_or(size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_printed() {
        for (text, bytes_of) in [("12", 12), ("1k", 1 << 10), ("3M", 3 << 20), ("8G", 8 << 30), ("2T", 2 << 40)] {
            assert_eq!(bytes(text), Some(bytes_of), "{text}");
            assert_eq!(bytes(&Size(bytes_of).to_string()), Some(bytes_of));
        }
        for text in ["", "K", "-1", "+1", "1.5G", "99999999999999999999", "18446744073709551615K", "1Gi", "é"] {
            let read = Limits::parse(&format!("job={text}"));
            assert!(read.is_err_and(|e| e.contains("is no size")), "{text}");
        }
        assert_eq!(Limits::parse(""), Ok(Limits::default()));
        let limits = Limits::parse(" 2G , job = 1M ").unwrap_or_default();
        assert_eq!([FileKind::Job, FileKind::Program].map(|kind| limits.of(kind)), [1 << 20, 2 << 30]);
        assert_eq!(enough_for((8 << 30) + 1).to_string(), "9G");
        assert_eq!(enough_for(1023).to_string(), "1023");
    }
}
