//! The constants by number that a program reads, for errors about constants that it does not.

use super::bound::CONSTANTS_OF_BUFFER;
use super::{Error, UniformPlace};
use crate::job::r700::uses::Uses;
use ctm_isa::r700::Program;
use std::fmt;

/// The constants that a program reads in one place: the constant file, or one constant buffer.
pub(super) struct Reach {
    /// Ranges of constants, in order.
    ranges: Vec<std::ops::Range<usize>>,
    /// The name of the place before a number.
    prefix: String,
}

impl Reach {
    /// The program's constants of the kind of `place`.
    pub(super) fn of(program: &Program, place: UniformPlace) -> Self {
        let uses = Uses::of(&program.decode());
        let mut out = Self { ranges: Vec::new(), prefix: "c".to_owned() };
        let mut add = |range: std::ops::Range<usize>| match out.ranges.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            _ => out.ranges.push(range),
        };
        match place {
            UniformPlace::File(_) if uses.relative_constants => add(0..256),
            UniformPlace::File(_) => uses.constants.iter().for_each(|&n| add(n.into()..usize::from(n) + 1)),
            UniformPlace::Buffer(bank, _) => {
                out.prefix = format!("cb{bank}[");
                if uses.buffers.contains(&bank) {
                    add(0..CONSTANTS_OF_BUFFER);
                } else {
                    uses.locked(bank).for_each(add);
                }
            }
        }
        out
    }

    /// Whether the program reads any of the `count` constants from the place on.
    pub(super) fn holds(&self, place: UniformPlace, count: usize) -> bool {
        let (UniformPlace::File(first) | UniformPlace::Buffer(_, first)) = place;
        self.ranges.iter().any(|range| first < range.end && range.start < first + count)
    }
}

impl fmt::Display for Reach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let close = if self.prefix.ends_with('[') { "]" } else { "" };
        let one = |n: usize| format!("{}{n}{close}", self.prefix);
        let shown = |range: &std::ops::Range<usize>| match range.len() {
            1 => one(range.start),
            _ => format!("{} to {}", one(range.start), one(range.end - 1)),
        };
        let all: Vec<String> = self.ranges.iter().map(shown).collect();
        match all.as_slice() {
            [] if close.is_empty() => f.write_str("none by number"),
            [] => write!(f, "none of {}", self.prefix.trim_end_matches('[')),
            all => f.write_str(&all.join(", ")),
        }
    }
}

/// A constant by number: `c7`, `cb0[3]`.
pub(super) fn numbered(name: &str) -> Option<UniformPlace> {
    let name = name.to_ascii_lowercase();
    if let Some(rest) = name.strip_prefix("cb") {
        let (bank, rest) = rest.split_once('[')?;
        return Some(UniformPlace::Buffer(bank.parse().ok()?, rest.strip_suffix(']')?.parse().ok()?));
    }
    name.strip_prefix('c')?.parse().ok().filter(|&n| n < 256).map(UniformPlace::File)
}

/// Numbers of constants that no container declares: one constant, whose further numbers are 0, or several of four numbers.
pub(super) fn rows_of(name: &str, numbers: &[u32]) -> Result<Vec<[u32; 4]>, Error> {
    if numbers.is_empty() || numbers.len() > 4 && !numbers.len().is_multiple_of(4) {
        let message =
            format!("`{name}` has {} numbers; a constant has 1 to 4, several constants have four each", numbers.len());
        return Err(Error::wrong("bad-constant", message));
    }
    let row = |four: &[u32]| std::array::from_fn(|n| four.get(n).copied().unwrap_or_default());
    Ok(numbers.chunks(4).map(row).collect())
}
