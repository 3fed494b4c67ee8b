//! Pages as plain text: words drawn bit by bit, labels with text broken into lines.

use crate::table::{Field, WordFormat};
use std::fmt::Write as _;

pub(super) const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const WIDTH: usize = 110;

/// The 32 bits of a word, the highest first, each with the letter of its field; reserved bits are dots.
///
/// ```text
///  31    28 27    24 23    20 19    16 15    12 11     8 7      4 3      0
/// |. . . a |b b c c |. . . d |d d d d |e e e e |e e e e |f f g h |. i i i |
/// ```
#[must_use]
pub fn draw(format: &WordFormat) -> String {
    let mut bits = [' '; 32];
    bits.fill('.');
    for (letter, field) in LETTERS.chars().zip(format.fields) {
        for bit in field.lsb..=field.msb {
            bits[bit as usize] = letter;
        }
    }
    let (mut ruler, mut cells) = (String::from("     "), String::from("    |"));
    for nibble in (0..8).rev() {
        let (high, low) = (nibble * 4 + 3, nibble * 4);
        let pad = 8 - high.to_string().len();
        let _ = write!(ruler, "{high}{low:>pad$} ");
        for bit in (low..=high).rev() {
            let _ = write!(cells, "{} ", bits[bit]);
        }
        cells.push('|');
    }
    format!("{}\n{cells}\n", ruler.trim_end())
}

/// `7`, or `15:8`.
pub(super) fn range(field: &Field) -> String {
    if field.msb == field.lsb { field.msb.to_string() } else { format!("{}:{}", field.msb, field.lsb) }
}

/// A doc comment without its line breaks.
pub(super) fn one_line(doc: &str) -> String {
    doc.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(super) fn heading(out: &mut String, title: &str, cite: &str) {
    let gap = WIDTH.saturating_sub(title.chars().count() + cite.chars().count()).max(2);
    let _ = if cite.is_empty() { writeln!(out, "{title}") } else { writeln!(out, "{title}{}{cite}", " ".repeat(gap)) };
}

pub(super) fn line(out: &mut String, text: &str) {
    entry(out, "", text);
}

/// `label` and `text`, indented, the text broken into lines below each other.
pub(super) fn entry(out: &mut String, label: &str, text: &str) {
    let indent = 4 + label.chars().count();
    let mut current = format!("    {label}");
    let mut used = indent;
    for word in text.split(' ') {
        let width = word.chars().count();
        if used > indent && used + 1 + width > WIDTH {
            let _ = writeln!(out, "{}", current.trim_end());
            current = " ".repeat(indent);
            used = indent;
        }
        if used > indent {
            current.push(' ');
            used += 1;
        }
        current.push_str(word);
        used += width;
    }
    let _ = writeln!(out, "{}", current.trim_end());
}
