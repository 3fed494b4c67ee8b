//! "Did you mean": the nearest of the words that are known. Everything that takes names asks here.

/// The candidate nearest to `word`, if it is near enough to be a slip of the hand, or continues what `word` begins.
///
/// ```
/// use ctm_isa::suggest::closest;
/// assert_eq!(closest("MDA", ["mad", "mul"]), Some("mad"));
/// assert_eq!(closest("xyzzy", ["mad", "mul"]), None);
/// ```
#[must_use]
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_ascii_lowercase();
    let allowed = (word.len() / 3).max(1);
    candidates
        .into_iter()
        .map(|candidate| (candidate, candidate.to_ascii_lowercase()))
        .map(|(candidate, name)| (distance(&lower, &name), name.starts_with(&lower), candidate))
        .filter(|&(d, begins, _)| d <= allowed || begins && lower.len() > 2)
        .min_by_key(|&(d, ..)| d)
        .map(|(.., candidate)| candidate)
}

/// Insertions, deletions, replacements and exchanges of neighbours that turn `a` into `b`, counted in bytes. Words of more than 64
/// bytes are no slips of the hand: `usize::MAX`.
#[must_use]
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len().max(b.len()) > 64 {
        return usize::MAX;
    }
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{closest, distance};

    #[test]
    fn suggests_slips_and_nothing_else() {
        for (word, want) in [
            ("mda", Some("mad")),
            ("maad", Some("mad")),
            ("MAD", Some("mad")),
            ("endlop", Some("endloop")),
            ("endl", Some("endloop")),
            ("xyzzy", None),
            ("", None),
        ] {
            assert_eq!(closest(word, ["mad", "mul", "endloop"]), want, "{word}");
        }
    }

    #[test]
    fn distances_are_the_same_both_ways() {
        for (a, b, want) in [("", "abc", 3), ("domian", "domain", 1), ("filter", "filt", 2), ("é", "e", 2)] {
            assert_eq!((distance(a, b), distance(b, a)), (want, want), "{a} {b}");
        }
        assert_eq!(distance("a", &"b".repeat(65)), usize::MAX);
    }
}
