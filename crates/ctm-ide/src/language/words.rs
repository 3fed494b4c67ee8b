//! A text as words with their places. Comments and quoted names are left out; all other characters are punctuation.

use super::Language;

/// The kind of a word by its letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordForm {
    /// Letters, digits and `_`, not beginning with a digit.
    Name,
    /// As [`WordForm::Name`] right after a point: a directive, or channels.
    Dotted,
    /// Begins with a digit.
    Number,
    /// One character of punctuation.
    Punctuation(char),
}

/// A word and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) form: WordForm,
    /// First byte; of [`WordForm::Dotted`], after the point.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
    /// The line, from 0.
    pub(super) line: usize,
    /// Whether it is the first of its line.
    pub(super) first: bool,
    /// Whether nothing but words with colons is before it on its line: `one: two: three`.
    pub(super) leads: bool,
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Where the comment of a line begins, or its end.
pub(super) fn code_end(language: Language, line: &str) -> usize {
    let mut quoted = false;
    let bytes = line.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'"' if language.has_quotes() && (at == 0 || bytes[at - 1] != b'\\') => quoted = !quoted,
            b';' if !quoted => return at,
            b'/' if !quoted && bytes.get(at + 1) == Some(&b'/') => return at,
            _ => {}
        }
    }
    line.len()
}

/// Every word of a text.
pub(super) fn words(language: Language, text: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let mut base = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let code = &line[..code_end(language, line.trim_end_matches(['\n', '\r']))];
        let (mut first, mut leads, mut colon) = (true, true, true);
        let mut chars = code.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let mut end = at + c.len_utf8();
            let mut start = at;
            let form = if c.is_whitespace() {
                continue;
            } else if c == '"' && language.has_quotes() {
                // A quoted name, which only those who bind it know.
                while chars.next_if(|&(_, c)| c != '"').is_some() {}
                chars.next();
                (first, leads) = (false, false);
                continue;
            } else if c == '.' && chars.peek().is_some_and(|&(_, c)| is_word(c)) {
                start = end;
                WordForm::Dotted
            } else if c.is_ascii_digit() {
                WordForm::Number
            } else if is_word(c) {
                WordForm::Name
            } else {
                WordForm::Punctuation(c)
            };
            if !matches!(form, WordForm::Punctuation(_)) {
                while let Some((at, c)) = chars.next_if(|&(_, c)| is_word(c) || form == WordForm::Number && c == '.') {
                    end = at + c.len_utf8();
                }
            }
            // A word follows a colon, and a colon a word.
            leads &= colon != (form == WordForm::Punctuation(':'));
            colon = form == WordForm::Punctuation(':');
            found.push(Word { form, start: base + start, end: base + end, line: number, first, leads });
            first = false;
        }
        base += line.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_their_places() {
        let text = "  mov r1.rg, \"a ; b\" ; r2\nend // x\n";
        let found = words(Language::X1k, text);
        let shown: Vec<&str> = found.iter().map(|w| &text[w.start..w.end]).collect();
        assert_eq!(shown, ["mov", "r1", "rg", ",", "end"]);
        assert_eq!(found[2].form, WordForm::Dotted);
        assert_eq!(found.iter().map(|w| w.first).collect::<Vec<_>>(), [true, false, false, false, true]);
        assert_eq!(found[4].line, 1);
        assert_eq!(words(Language::R700, "  0  x: MUL R1.x, 0.5f, PV.x")[7].form, WordForm::Number);
    }
}
