//! Shaders as Mesa's Direct3D 9 state tracker ("nine") prints them while it translates them: `NINE_DEBUG=shader`.
//!
//! A line is an instruction in capitals with blanks between its operands. [`text`] gives the same lines as `ps_3_0` assembly, so that numbers of lines stay.

use std::fmt::Write as _;

/// Mnemonics that differ: the name in the dump, and the name in `ps_3_0` text.
const NAMES: &[(&str, &str)] = &[
    ("TEX", "texld"),
    ("TEXp", "texldp"),
    ("TEXb", "texldb"),
    ("SINCOS", "sincos"),
    ("NRM", "nrm"),
    ("CRS", "crs"),
    ("LABEL", "label"),
];
/// Comparisons of IFC, BREAKC and SETP: the number after the underscore.
const COMPARISONS: &[(&str, &str)] =
    &[("_1", "_gt"), ("_2", "_eq"), ("_3", "_ge"), ("_4", "_lt"), ("_5", "_ne"), ("_6", "_le")];

/// The version in the first line of a dump: `PS3.0`.
fn version(line: &str) -> Option<(char, char)> {
    let mut digits = line.trim().strip_prefix("PS")?.chars();
    let version = (digits.next()?, digits.next()?, digits.next()?);
    let whole = digits.next().is_none() && version.1 == '.' && version.0.is_ascii_digit() && version.2.is_ascii_digit();
    whole.then_some((version.0, version.2))
}

/// A dump as `ps_3_0` assembly; `None` for any other text.
#[must_use]
pub fn text(dump: &str) -> Option<String> {
    let mut lines = dump.lines();
    let mut out = String::with_capacity(dump.len() + 16);
    // Only empty lines and comments may precede the version.
    let (major, minor) = loop {
        let line = lines.next()?;
        if let Some(version) = version(line) {
            break version;
        }
        let line = line.trim();
        if !line.is_empty() && !line.starts_with(';') && !line.starts_with("//") {
            return None;
        }
        out.push('\n');
    };
    let _ = writeln!(out, "ps_{major}_{minor}");
    for line in lines {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with("//") && !line.starts_with(';') {
            out.push_str(&instruction(line));
        }
        out.push('\n');
    }
    Some(out)
}

fn instruction(line: &str) -> String {
    let mut tokens: Vec<&str> = line.split_whitespace().collect();
    let guard = if tokens[0].starts_with('@') { Some(tokens.remove(0)) } else { None };
    if tokens.is_empty() {
        return line.to_owned();
    }
    let name = tokens.remove(0);
    let mut out = String::new();
    if let Some(guard) = guard {
        let guard = &guard[1..];
        let inner = guard.strip_prefix("not(").map(|rest| rest.replacen(')', "", 1));
        let _ = match inner {
            Some(inner) => write!(out, "(!{inner}) "),
            None => write!(out, "({guard}) "),
        };
    }
    if name == "DCL" {
        out.push_str(&declaration(&tokens));
        return out;
    }
    let known = NAMES.iter().find(|row| row.0 == name).map(|row| row.1.to_owned());
    out.push_str(&known.unwrap_or_else(|| {
        let comparison = COMPARISONS.iter().find_map(|(number, word)| Some((name.strip_suffix(number)?, word)));
        match comparison {
            // The language's IFC, with a comparison, is an IF.
            Some(("IFC", word)) => format!("if{word}"),
            Some(("BREAKC", word)) => format!("break{word}"),
            Some((plain, word)) => format!("{}{word}", plain.to_ascii_lowercase()),
            None => name.to_ascii_lowercase(),
        }
    }));
    // Modifiers of the result precede it.
    while let Some(suffix) = tokens.first().and_then(|token| match *token {
        "sat" => Some("_sat"),
        "pp" => Some("_pp"),
        "centroid" => Some("_centroid"),
        _ => None,
    }) {
        out.push_str(suffix);
        tokens.remove(0);
    }
    let operands: Vec<String> =
        tokens.iter().filter(|token| !matches!(**token, "{" | "}")).map(|t| operand(t)).collect();
    if !operands.is_empty() {
        out.push(' ');
        out.push_str(&operands.join(", "));
    }
    out
}

/// `v0.xy__ TEXCOORD0` or `s0 2D`.
fn declaration(tokens: &[&str]) -> String {
    let mut tokens = tokens.to_vec();
    let mut suffix = String::new();
    while let Some(modifier) = tokens.first().filter(|t| matches!(**t, "sat" | "pp" | "centroid")) {
        suffix.push('_');
        suffix.push_str(modifier);
        tokens.remove(0);
    }
    let register = tokens.first().map(|t| operand(t)).unwrap_or_default();
    let what = tokens.get(1).map(|t| t.to_ascii_lowercase()).unwrap_or_default();
    // The position and the face are declared without a usage.
    if register.starts_with("vPos") || register.starts_with("vFace") {
        return format!("dcl{suffix} {register}");
    }
    let what = if what == "3d" { "volume".to_owned() } else { what };
    format!("dcl_{what}{suffix} {register}")
}

/// A register with its modifiers and its swizzle or mask.
fn operand(token: &str) -> String {
    let (sign, rest) = token.strip_prefix('-').map_or(("", token), |rest| ("-", rest));
    // `-(r0).xyzw`, `abs(r0)`, `-abs(r0)`, `not(b0)`: the element follows the parenthesis.
    let wrapped = |prefix: &str| rest.strip_prefix(prefix).and_then(|inner| inner.split_once(')'));
    if let Some((inner, behind)) = wrapped("abs(") {
        return format!("{sign}{}_abs{}", register(inner), elements(behind));
    }
    if let Some((inner, behind)) = wrapped("not(") {
        return format!("!{}{}", register(inner), elements(behind));
    }
    if let Some((inner, behind)) = wrapped("(") {
        return format!("{sign}{}{}", register(inner), elements(behind));
    }
    let at = rest.rfind('.').filter(|&at| rest[at + 1..].chars().all(|c| "xyzw_".contains(c)) && at + 1 < rest.len());
    match at {
        Some(at) => format!("{sign}{}{}", register(&rest[..at]), elements(&rest[at..])),
        None => format!("{sign}{}", register(rest)),
    }
}

/// A mask without the elements that are not written.
fn elements(text: &str) -> String {
    text.replace('_', "")
}

fn register(name: &str) -> String {
    if let Some(index) = name.strip_prefix("iconst[").and_then(|rest| rest.strip_suffix(']')) {
        return format!("i{index}");
    }
    if let Some(index) = name.strip_prefix("bconst[").and_then(|rest| rest.strip_suffix(']')) {
        return format!("b{index}");
    }
    match name {
        "M0" => "vPos".to_owned(),
        "M1" => "vFace".to_owned(),
        "TRUE" => "true".to_owned(),
        "FALSE" => "false".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn dumps_become_assembly() {
        let dump = "PS3.0\nDCL v0.xy__ TEXCOORD0\nDCL s0 2D\nDEF c1 { 1.000000 0.500000 -2.000000 0.000000 }\nTEX r0 v0 s0 \nMUL sat pp oC0 r0 -(c0).xxxx \nIFC_1 r0.xxxx c1.yyyy \n  MAD r1.xyz_ abs(r0) c0 -abs(c1).wwww \nENDIF \n";
        let expected = "ps_3_0\ndcl_texcoord0 v0.xy\ndcl_2d s0\ndef c1, 1.000000, 0.500000, -2.000000, 0.000000\ntexld r0, v0, s0\nmul_sat_pp oC0, r0, -c0.xxxx\nif_gt r0.xxxx, c1.yyyy\nmad r1.xyz, r0_abs, c0, -c1_abs.wwww\nendif\n";
        assert_eq!(text(dump).as_deref(), Some(expected));
        assert_eq!(text("; a note\n\nPS3.0\nMOV oC0 c0\n").as_deref(), Some("\n\nps_3_0\nmov oC0, c0\n"));
        for other in ["", "ps_3_0\nmov oC0, c0\n", "PS3.0x\n", "mov r0, r1\nPS3.0\n"] {
            assert_eq!(text(other), None, "{other}");
        }
        // Nothing makes it panic.
        for odd in ["PS3.0\n@\n", "PS3.0\n@p0\nDCL\nDEF\n{ }\n", "PS3.0\nMOV . -\n"] {
            assert!(text(odd).is_some());
        }
    }

    #[test]
    fn a_dump_compiles() {
        let dump = "PS3.0\nDCL v0.xy__ TEXCOORD0\nDCL s0 2D\nTEX r0 v0 s0\nMUL oC0 r0 c0\n";
        let as_text = "ps_3_0\ndcl_texcoord0 v0.xy\ndcl_2d s0\ntexld r0, v0, s0\nmul oC0, r0, c0\n";
        let options = crate::Options::default();
        let found = crate::compile(&text(dump).unwrap_or_default(), &options);
        assert_eq!(found.diagnostics, []);
        let words = found.program.map(|program| program.words);
        assert!(words.is_some() && words == crate::compile(as_text, &options).program.map(|program| program.words));
    }
}
