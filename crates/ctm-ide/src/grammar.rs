//! The syntax of the three languages for colouring: TextMate grammars, made from the words that the assemblers read.
//!
//! `cargo xtask grammars` writes them to `editors/vscode/syntaxes`; a test compares the files there.

use crate::language::Language;
use ctm_isa::vocabulary::WordKind;
use serde_json::{Value, json};

/// The scope of a kind of words, by the names that themes know.
const fn scope(kind: WordKind) -> &'static str {
    match kind {
        WordKind::Arithmetic => "support.function.arithmetic",
        WordKind::Memory => "support.function.memory",
        WordKind::Flow => "keyword.control.flow",
        WordKind::Export => "keyword.other.export",
        WordKind::Modifier => "storage.modifier",
        WordKind::Directive => "keyword.control.directive",
        WordKind::Special => "variable.language",
    }
}

/// The registers of a language, as a regular expression.
const fn registers(language: Language) -> &'static str {
    match language {
        Language::X1k => r"\b[rcsoibt][0-9]+\b",
        Language::R700 => r"\b(?:R|C|G|KC|CB|T|PIX|POS|PARAM|t|s|b|i)[0-9]+\b",
        Language::Pvs => r"\b(?:ox?|at|[rvc])[0-9]+\b",
    }
}

/// The name of the file of a language's grammar.
#[must_use]
pub fn file_name(language: Language) -> String {
    format!("{}.tmLanguage.json", language.id())
}

/// Its contents.
#[must_use]
pub fn file(language: Language) -> String {
    format!("{:#}\n", textmate(language))
}

/// The words of a kind as a regular expression, the longest first.
fn words(language: Language, kind: WordKind) -> String {
    let mut words: Vec<&str> =
        language.vocabulary().into_iter().filter(|(of, _)| *of == kind).map(|(_, w)| w).collect();
    words.sort_by_key(|word| (std::cmp::Reverse(word.len()), *word));
    format!("(?:{})", words.join("|"))
}

/// The TextMate grammar of a language.
#[must_use]
pub fn textmate(language: Language) -> Value {
    let id = language.id();
    let named = |name: &str, pattern: String| json!({ "name": format!("{name}.{id}"), "match": pattern });
    let mut patterns = vec![
        named("comment.line.semicolon", ";.*$".into()),
        named("comment.line.double-slash", "//.*$".into()),
        named(scope(WordKind::Directive), format!(r"^\s*\.{}\b", words(language, WordKind::Directive))),
    ];
    if language.has_quotes() {
        patterns.push(json!({
            "name": format!("string.quoted.double.{id}"),
            "begin": "\"",
            "end": "\"|$",
            "patterns": [{ "name": format!("constant.character.escape.{id}"), "match": r"\\." }],
        }));
    }
    // The unit of a slot, then a word with a colon that is no instruction: a label.
    if language == Language::R700 {
        patterns.push(named("entity.name.tag.unit", r"\b[xyzwtXYZWT]:".into()));
    }
    for kind in [WordKind::Flow, WordKind::Export, WordKind::Memory, WordKind::Arithmetic] {
        if language.vocabulary().iter().any(|(of, _)| *of == kind) {
            patterns.push(named(scope(kind), format!(r"(?<![.\w]){}\b", words(language, kind))));
        }
    }
    patterns.push(json!({
        "match": r"^\s*([A-Za-z_]\w*)\s*:",
        "captures": { "1": { "name": format!("entity.name.function.label.{id}") } },
    }));
    patterns.push(named(scope(WordKind::Modifier), format!(r"(?<![.\w]){}\b", words(language, WordKind::Modifier))));
    patterns.push(named("variable.other.register", registers(language).into()));
    patterns
        .push(named(scope(WordKind::Special), format!(r"(?<![.\w]){}[0-9]*\b", words(language, WordKind::Special))));
    patterns.push(named("entity.other.attribute-name.swizzle", r"\.[rgbaxyzwhRGBAXYZWH01_]{1,4}\b".into()));
    patterns
        .push(named("constant.numeric", r"\b(?:0[xX][0-9A-Fa-f]+|[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?f?)\b".into()));
    json!({
        "$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
        "name": language.title(),
        "scopeName": format!("source.{id}"),
        "fileTypes": language.extensions(),
        "patterns": patterns,
    })
}
