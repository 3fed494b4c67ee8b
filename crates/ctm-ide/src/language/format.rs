//! The layout of lines: indentation by structure, operations and halves below each other, comments below each other.
//!
//! Nothing but blanks changes. The result is assembled again; if its words differ, the text stays unchanged.

use super::words::code_end;
use super::{Document, Language};
use ctm_isa::vocabulary::WordKind;

/// A line in its parts.
struct SourceLine {
    /// Indentation and code, the right half left out.
    left: String,
    /// X1K: the part after the `|` between the halves.
    right: Option<String>,
    /// The comment, with its `;`.
    comment: String,
}

/// Where X1K instructions begin.
const INDENT: usize = 8;
/// Deeper structures are indented no further.
const DEEPEST: usize = 32;
/// Wider lines do not move the columns of others.
const WIDEST: usize = 200;

impl Document {
    /// The text in the layout of the examples.
    #[must_use]
    pub fn formatted(&self) -> String {
        let mut depth = 0usize;
        let lines: Vec<SourceLine> = self.text.lines().map(|line| self.laid_out(line, &mut depth)).collect();
        let mut out = String::new();
        // Lines without an empty line or a lone comment between them are aligned.
        let mut first = 0;
        while first < lines.len() {
            let belongs = |line: &SourceLine| !line.left.trim().is_empty();
            let block = lines[first..].iter().take_while(|line| belongs(line)).count().max(1);
            print(&lines[first..first + block], &mut out);
            first += block;
        }
        if !self.text.ends_with('\n') && out.ends_with('\n') {
            out.pop();
        }
        let after = Self::new(self.language, out);
        let said = |document: &Self| document.findings.iter().map(|f| (f.rule, f.message.clone())).collect::<Vec<_>>();
        if after.program_words() == self.program_words() && said(&after) == said(self) {
            after.text
        } else {
            self.text.clone()
        }
    }

    fn laid_out(&self, line: &str, depth: &mut usize) -> SourceLine {
        let (code, comment) = line.split_at(code_end(self.language, line));
        let (code, comment) = (code.trim(), comment.trim_end().to_owned());
        if code.is_empty() {
            // A comment by itself stays where it is.
            let indent = line.len() - line.trim_start().len();
            let left = if comment.is_empty() { String::new() } else { " ".repeat(indent) };
            return SourceLine { left, right: None, comment };
        }
        match self.language {
            Language::X1k | Language::Pvs => self.r5xx_line(code, comment, depth),
            Language::R700 => SourceLine { left: self.r700_line(code), right: None, comment },
        }
    }

    /// A line of a language of the R5xx.
    fn r5xx_line(&self, code: &str, comment: String, depth: &mut usize) -> SourceLine {
        if code.starts_with('.') {
            let (name, rest) = code.split_once(char::is_whitespace).unwrap_or((code, ""));
            let left =
                if rest.is_empty() { name.to_owned() } else { format!("{name:<7} {}", squeezed(rest.trim_start())) };
            return SourceLine { left, right: None, comment };
        }
        // Labels are at the left.
        let mut label = String::new();
        let mut rest = code;
        while let Some((name, behind)) = rest.split_once(':') {
            if !name.trim().chars().all(|c| c.is_ascii_alphanumeric() || c == '_') || name.trim().is_empty() {
                break;
            }
            label.push_str(name.trim());
            label.push_str(": ");
            rest = behind.trim_start();
        }
        if rest.is_empty() {
            return SourceLine { left: label.trim_end().to_owned(), right: None, comment };
        }
        let word = rest.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or("");
        if matches!(word, "endif" | "endloop" | "endrep" | "else") {
            *depth = depth.saturating_sub(1);
        }
        let indent = INDENT + 2 * (*depth).min(DEEPEST);
        if matches!(word, "if" | "loop" | "rep" | "else") {
            *depth += 1;
        }
        let (left, right) = if self.language == Language::X1k { halves(rest) } else { (rest, None) };
        let mut out = format!("{label:<indent$}");
        out.push_str(&operation(left, 5));
        SourceLine { left: out, right: right.map(|half| operation(half, 4)), comment }
    }

    fn r700_line(&self, code: &str) -> String {
        let is = |word: &str, kinds: &[WordKind]| self.language.has(word, kinds);
        let (number, rest) = code.split_at(code.len() - code.trim_start_matches(|c: char| c.is_ascii_digit()).len());
        let rest = rest.trim_start();
        let (unit, rest) = match rest.split_once(':') {
            Some((unit, behind)) if unit.len() == 1 && "xyzwtXYZWT".contains(unit) => {
                (format!("{unit}: "), behind.trim_start())
            }
            _ => (String::new(), rest),
        };
        let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let flow = is(&name, &[WordKind::Flow, WordKind::Export]);
        // NOP is of both kinds: with a unit or a destination it belongs to a clause.
        let of_clause = is(&name, &[WordKind::Arithmetic, WordKind::Memory]) && (!flow || !unit.is_empty());
        if of_clause {
            let number = if number.is_empty() { "   ".to_owned() } else { format!("{number:>3}") };
            return format!("{number}  {unit}{}", operation(rest, 15));
        }
        let number = if number.is_empty() { String::new() } else { format!("{number} ") };
        format!("{number}{unit}{}", squeezed(rest))
    }
}

/// Blanks in a row are one.
fn squeezed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut quoted = false;
    for c in text.chars() {
        quoted ^= c == '"';
        if quoted || !c.is_whitespace() {
            out.push(c);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out.trim_end().to_owned()
}

/// The two halves of an X1K instruction: a bar with blanks around it, in no parentheses, is between them.
fn halves(code: &str) -> (&str, Option<&str>) {
    let mut depth = 0;
    let bytes = code.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b'|' if depth == 0
                && at > 0
                && bytes[at - 1].is_ascii_whitespace()
                && bytes.get(at + 1).is_some_and(u8::is_ascii_whitespace) =>
            {
                return (code[..at].trim(), Some(code[at + 1..].trim()));
            }
            _ => {}
        }
    }
    (code, None)
}

/// An operation with its operands in a column of their own.
fn operation(code: &str, width: usize) -> String {
    let code = squeezed(code);
    match code.split_once(' ') {
        Some((name, operands)) if !name.starts_with('(') => format!("{name:<width$} {operands}"),
        _ => code,
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Lines below each other.
fn print(lines: &[SourceLine], out: &mut String) {
    let widest = |widths: &mut dyn Iterator<Item = usize>| widths.filter(|&width| width <= WIDEST).max().unwrap_or(0);
    let halves = widest(&mut lines.iter().filter(|line| line.right.is_some()).map(|line| width(&line.left)));
    let code: Vec<String> = lines
        .iter()
        .map(|line| match &line.right {
            Some(right) => format!("{}{} | {right}", line.left, " ".repeat(halves.saturating_sub(width(&line.left)))),
            None => line.left.clone(),
        })
        .collect();
    let commented = lines.iter().zip(&code).filter(|(line, _)| !line.comment.is_empty());
    let comments = widest(&mut commented.map(|(_, code)| width(code)));
    for (line, code) in lines.iter().zip(code) {
        let lone = code.trim().is_empty();
        let text = if line.comment.is_empty() {
            code
        } else if lone {
            format!("{code}{}", line.comment)
        } else {
            format!("{code}{}  {}", " ".repeat(comments.saturating_sub(width(&code))), line.comment)
        };
        out.push_str(text.trim_end());
        out.push('\n');
    }
}
