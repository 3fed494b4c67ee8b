//! "Did you mean": the nearest of the words that are known. Everything that takes names asks here.

use std::cell::Cell;

/// The candidate nearest to `word`, if it is near enough to be a typing error, or continues `word`.
///
/// ```
/// use ctm_isa::suggest::closest;
/// assert_eq!(closest("MDA", ["mad", "mul"]), Some("mad"));
/// assert_eq!(closest("xyzzy", ["mad", "mul"]), None);
/// ```
#[must_use]
pub fn closest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.len() / 3).max(1);
    let distance_to = |candidate: &str| {
        let begin = candidate.as_bytes().get(..word.len());
        if begin.is_some_and(|begin| begin.eq_ignore_ascii_case(word.as_bytes())) && word.len() > 2 {
            // The rest is inserted.
            return Some(candidate.len() - word.len());
        }
        if candidate.len().abs_diff(word.len()) > allowed {
            return None;
        }
        Some(folded_distance(word.as_bytes(), candidate.as_bytes(), u8::to_ascii_lowercase)).filter(|&d| d <= allowed)
    };
    let near = candidates.into_iter().filter_map(|candidate| Some((distance_to(candidate)?, candidate)));
    near.min_by_key(|&(d, _)| d).map(|(_, candidate)| candidate)
}

/// Looks for the nearest of a text's own names, as long as it has not compared too many: a text full of mistakes and names would be compared with itself.
#[derive(Debug, Default)]
pub(crate) struct Suggester {
    compared: Cell<usize>,
}

impl Suggester {
    /// Names that are compared for one text.
    const MOST: usize = 500_000;

    /// Whether the budget allows comparing this number of words again.
    pub(crate) fn allows(&self, words: usize) -> bool {
        let compared = self.compared.get().saturating_add(words);
        if compared <= Self::MOST {
            self.compared.set(compared);
        }
        compared <= Self::MOST
    }

    /// As [`closest`]. Of several that are as near it is the first by its letters.
    pub(crate) fn closest<'a>(&self, word: &str, names: impl ExactSizeIterator<Item = &'a str>) -> Option<&'a str> {
        if !self.allows(names.len()) {
            return None;
        }
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        closest(word, names)
    }
}

/// Insertions, deletions, replacements and exchanges of neighbours that turn `a` into `b`, counted in bytes. Words of more than 64
/// bytes are no slips of the hand: `usize::MAX`.
#[must_use]
pub fn distance(a: &str, b: &str) -> usize {
    folded_distance(a.as_bytes(), b.as_bytes(), |&byte| byte)
}

/// The longest word that is compared.
const LONGEST: usize = 64;

/// The edit distance of two words by this key of each byte. Three rows of the table are stored: a transposition needs two.
fn folded_distance(a: &[u8], b: &[u8], fold: impl Fn(&u8) -> u8) -> usize {
    if a.len().max(b.len()) > LONGEST {
        return usize::MAX;
    }
    let same = |i: usize, j: usize| fold(&a[i]) == fold(&b[j]);
    let mut rows = [[0usize; LONGEST + 1]; 3];
    rows[0] = std::array::from_fn(|j| j);
    for i in 1..=a.len() {
        let (now, before, older) = (i % 3, (i + 2) % 3, (i + 1) % 3);
        rows[now][0] = i;
        for j in 1..=b.len() {
            let replace = rows[before][j - 1] + usize::from(!same(i - 1, j - 1));
            let mut best = replace.min(rows[before][j] + 1).min(rows[now][j - 1] + 1);
            if i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1) {
                best = best.min(rows[older][j - 2] + 1);
            }
            rows[now][j] = best;
        }
    }
    rows[a.len() % 3][b.len()]
}

#[cfg(test)]
mod tests {
    use super::{Suggester, closest, distance};

    #[test]
    fn a_text_has_only_so_many_suggestions() {
        let names: Vec<String> = (0..1000).map(|n| format!("name{n}")).collect();
        let suggester = Suggester::default();
        let found = || suggester.closest("nmae7", names.iter().map(String::as_str));
        assert_eq!(found(), Some("name7"));
        assert_eq!((0..1000).filter(|_| found().is_some()).count(), 499);
    }

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
