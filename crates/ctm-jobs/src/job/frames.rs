//! Differences between launches: numbered file names, and constants.

use std::path::{Path, PathBuf};

/// A floating-point constant that differs between the launches of its pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Varying {
    /// Bits of r, g, b, a for each launch; the last row stays.
    Rows(Vec<[u32; 4]>),
    /// Bits of numbers that are no rows of four: those of one uniform, the same in each launch, which its container lays out by its type.
    Numbers(Vec<u32>),
    /// `start + n * step` in launch n, rounded once.
    Line {
        /// In the first launch.
        start: [f64; 4],
        /// From one launch to the next.
        step: [f64; 4],
    },
}

impl Varying {
    /// Bits of r, g, b, a in a launch of the pass, counted from 0.
    #[must_use]
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "the one rounding that is documented"
    )]
    pub fn at(&self, launch: u64) -> [u32; 4] {
        match self {
            Self::Rows(rows) => {
                let place = usize::try_from(launch).unwrap_or(usize::MAX).min(rows.len().saturating_sub(1));
                rows.get(place).copied().unwrap_or_default()
            }
            Self::Numbers(numbers) => std::array::from_fn(|c| numbers.get(c).copied().unwrap_or_default()),
            Self::Line { start, step } => {
                std::array::from_fn(|c| ((start[c] + launch as f64 * step[c]) as f32).to_bits())
            }
        }
    }
}

/// The place of `%d` or `%03d` in a file's name, and its least count of digits.
fn number_of(name: &str) -> Option<(std::ops::Range<usize>, usize)> {
    let start = name.find('%')?;
    let rest = &name[start + 1..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let is_number = rest[digits..].starts_with('d') && digits <= 3;
    let width = rest[..digits].parse().unwrap_or(0);
    is_number.then(|| (start..start + digits + 2, width))
}

/// Whether there is a file for each launch or repetition.
pub(super) fn is_numbered(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).and_then(number_of).is_some()
}

/// The file of number `n`.
pub(super) fn frame(path: &Path, n: u64) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str());
    match name.and_then(|name| Some((name, number_of(name)?))) {
        Some((name, (place, width))) => {
            let number = format!("{n:0width$}");
            path.with_file_name(format!("{}{number}{}", &name[..place.start], &name[place.end..]))
        }
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_in_names() {
        for (name, n, wanted) in [
            ("a/frame-%03d.png", 7, "a/frame-007.png"),
            ("%d.npy", 12, "12.npy"),
            ("100%.npy", 1, "100%.npy"),
            ("%d/a.npy", 1, "%d/a.npy"),
            ("%03d-%d.npy", 1, "001-%d.npy"),
        ] {
            assert_eq!(frame(Path::new(name), n), Path::new(wanted));
            assert_eq!(is_numbered(Path::new(name)), wanted != name);
        }
    }

    #[test]
    fn constants_go_on_by_launches() {
        let bits = |v: [f32; 4]| v.map(f32::to_bits);
        let rows = Varying::Rows(vec![[1; 4], [2; 4]]);
        assert_eq!([rows.at(0), rows.at(1), rows.at(9)], [[1; 4], [2; 4], [2; 4]]);
        let line = Varying::Line { start: [1.0, 0.0, 0.0, 0.0], step: [0.5, 0.0, -1.0, 0.0] };
        assert_eq!(line.at(3), bits([2.5, 0.0, -3.0, 0.0]));
    }
}
