//! Tokens to a [`Shader`]: one statement a line, every wrong line reported.

use crate::cursor::{Cursor, Parse, error};
use crate::declare::{declaration, definition};
use crate::lexer::{Line, Tok, Token};
use crate::operands::{destination, source};
use crate::syntax::{Dest, Guard, Inst, RegisterFile, Shader, SourceOperand};
use crate::table::{self, Compare, From, Row, TableOp, To};
use ctm_isa::diag::{Diagnostic, Span};
use ctm_isa::suggest::closest;

/// Reads the lines of a shader. Unreadable lines are reported and left out.
pub(crate) fn parse(lines: &[Line<'_>], findings: &mut Vec<Diagnostic>) -> Shader {
    let mut shader = Shader::default();
    let mut rest = lines;
    match lines.first() {
        None => findings.push(
            Diagnostic::error("version", "the text is empty: it must begin with a version")
                .at(Span::new(0, 0), "")
                .help("the first line is `ps_3_0`"),
        ),
        Some(line) => match version(line) {
            Ok(major) => {
                shader.major = major;
                rest = &lines[1..];
            }
            Err((finding, is_version)) => {
                findings.push(*finding);
                shader.major = 3;
                rest = &lines[usize::from(is_version)..];
            }
        },
    }
    for line in rest {
        let mut cursor = Cursor { tokens: &line.tokens, at: 0, end: line.span(), major: shader.major };
        if let Err(finding) = statement(&mut cursor, &mut shader) {
            findings.push(*finding);
        }
    }
    shader
}

/// The major version, or its error and whether the line was meant as a version.
fn version(line: &Line<'_>) -> Result<u8, (Box<Diagnostic>, bool)> {
    let allowed = "ps_3_0, and ps_2_0, ps_2_x, ps_2_a, ps_2_b, ps_2_sw and ps_3_sw, can be compiled";
    let finding = |message: String| Box::new(Diagnostic::error("version", message).at(line.span(), "").help(allowed));
    match line.tokens.as_slice() {
        [Token { tok: Tok::Word(word), .. }, rest @ ..] => {
            let version = word.to_ascii_lowercase();
            match version.as_str() {
                _ if !rest.is_empty() && is_version(&version) => {
                    Err((finding("the version stands alone on its line".to_owned()), true))
                }
                "ps_3_0" | "ps_3_sw" => Ok(3),
                "ps_2_0" | "ps_2_x" | "ps_2_a" | "ps_2_b" | "ps_2_sw" => Ok(2),
                _ if is_version(&version) => {
                    Err((finding(format!("`{word}` is a version that is not compiled")), true))
                }
                _ => Err((finding("the text does not begin with a version".to_owned()), false)),
            }
        }
        _ => Err((finding("the text does not begin with a version".to_owned()), false)),
    }
}

fn is_version(word: &str) -> bool {
    ["ps_", "vs_", "tx_", "cs_", "gs_"].iter().any(|p| word.starts_with(p))
}

fn statement(cursor: &mut Cursor<'_, '_>, shader: &mut Shader) -> Parse<()> {
    let start = cursor.span();
    if cursor.eat('+') {
        return Err(Box::new(
            (*error("syntax", "pairs marked with `+` belong to ps_1_x".to_owned(), start))
                .help("leave the `+` out: instructions are paired by the compiler"),
        ));
    }
    let guard = if cursor.eat('(') { Some(guard(cursor, start)?) } else { None };
    let name = cursor.span();
    let word = cursor.word("an instruction")?;
    let lower = word.to_ascii_lowercase();
    let mut parts = lower.split('_');
    let base = parts.next().unwrap_or("");
    if matches!(base, "dcl" | "def" | "defi" | "defb")
        && let Some(guard) = guard
    {
        return Err(error("predicate", format!("`{base}` has no predicate"), guard.span));
    }
    let suffixes: Vec<&str> = parts.collect();
    match base {
        "dcl" => return declaration(cursor, shader, &suffixes, start, name),
        "def" | "defi" | "defb" if suffixes.is_empty() => return definition(cursor, shader, base, start),
        "ps" | "vs" if is_version(&lower) => {
            return Err(error("version", "the version stands on the first line only".to_owned(), name));
        }
        // The mark of the end that disassemblers print.
        "end" if suffixes.is_empty() && guard.is_none() => return cursor.end(),
        _ => {}
    }
    let inst = instruction(cursor, base, &suffixes, guard, start, name)?;
    cursor.end()?;
    shader.code.push(inst);
    Ok(())
}

/// `(p0.x)` after the opening parenthesis.
fn guard(cursor: &mut Cursor<'_, '_>, start: Span) -> Parse<Guard> {
    let source = source(cursor)?;
    cursor.expect(')', "after the predicate")?;
    let span = cursor.since(start);
    if source.reg.file != RegisterFile::Predicate {
        return Err(error("predicate", format!("{} is no predicate; p0 is", source.reg.name()), source.span));
    }
    let channel = match source.swizzle {
        _ if !source.swizzled => None,
        [0, 1, 2, 3] => None,
        [a, b, c, d] if a == b && b == c && c == d => Some(a),
        _ => {
            return Err(Box::new(
                (*error("predicate", "a predicate is used as a whole or by one channel".to_owned(), source.span))
                    .help("write (p0), (p0.x), (p0.y), (p0.z) or (p0.w), with `!` in front for the inverse"),
            ));
        }
    };
    Ok(Guard { not: source.not, channel, span })
}

fn unknown(word: &str, base: &str, span: Span) -> Box<Diagnostic> {
    let names = table::ROWS.iter().map(|r| r.name).chain(["dcl", "def", "defi", "defb"]);
    let finding = Diagnostic::error("instruction", format!("`{word}` is no instruction of ps_3_0")).at(span, "");
    let known_elsewhere = match base {
        "mova" | "dst" | "lit" | "sgn" => Some("it belongs to vertex shaders"),
        "cnd" | "tex" | "texcoord" | "texcrd" | "phase" | "bem" | "texbem" | "texm3x3" => Some("it belongs to ps_1_x"),
        _ => None,
    };
    Box::new(match (known_elsewhere, closest(base, names)) {
        (Some(help), _) => finding.help(help),
        (None, Some(near)) => finding.help(format!("did you mean `{near}`?")),
        (None, None) => finding.help("docs/ps3.md lists the instructions"),
    })
}

fn instruction(
    cursor: &mut Cursor<'_, '_>,
    base: &str,
    suffixes: &[&str],
    guard: Option<Guard>,
    start: Span,
    name: Span,
) -> Parse<Inst> {
    let rows: Vec<&Row> = table::named(base).collect();
    let word = || std::iter::once(base).chain(suffixes.iter().copied()).collect::<Vec<_>>().join("_");
    let Some(first) = rows.first() else { return Err(unknown(&word(), base, name)) };
    let (mut saturate, mut compare) = (false, None);
    for suffix in suffixes {
        match *suffix {
            "pp" | "centroid" => {}
            "sat" if matches!(first.to, To::Vector(_)) => saturate = true,
            "sat" => {
                return Err(error("modifier", format!("`{base}` writes no numbers, so `_sat` has no meaning"), name));
            }
            other => match Compare::ALL.iter().find(|c| c.0 == other) {
                Some(found) if rows.iter().any(|r| r.compares) => compare = Some(found.1),
                Some(_) => return Err(error("modifier", format!("`{base}` compares nothing"), name)),
                None => {
                    return Err(Box::new(
                        (*error("modifier", format!("`_{other}` is no modifier of `{base}`"), name)).help(
                            if rows.iter().any(|r| r.compares) {
                                "the comparisons are _gt, _lt, _ge, _le, _eq and _ne"
                            } else {
                                "the modifiers are _sat, _pp and _centroid"
                            },
                        ),
                    ));
                }
            },
        }
    }
    if compare.is_none() && rows.iter().all(|r| r.compares) {
        return Err(Box::new(
            (*error("modifier", format!("`{base}` needs a comparison"), name))
                .help(format!("write {base}_gt, {base}_lt, {base}_ge, {base}_le, {base}_eq or {base}_ne")),
        ));
    }
    let rows: Vec<&Row> = rows.into_iter().filter(|r| r.compares == compare.is_some()).collect();
    let Some(first) = rows.first() else { return Err(unknown(&word(), base, name)) };

    let dest = if first.to == To::Nothing { None } else { Some(destination(cursor)?) };
    let mut sources = Vec::new();
    let mut more = if dest.is_some() { cursor.eat(',') } else { cursor.peek().is_some() };
    while more {
        sources.push(source(cursor)?);
        more = cursor.eat(',');
    }
    let Some(row) = rows.iter().find(|r| r.from.len() == sources.len()) else {
        let counts: Vec<String> = rows.iter().map(|r| r.from.len().to_string()).collect();
        return Err(error(
            "operands",
            format!("`{base}` has {} source operands here, it takes {}", sources.len(), counts.join(" or ")),
            cursor.since(start),
        ));
    };
    if let Some(dest) = &dest {
        check_dest(row, dest)?;
    }
    for (source, &from) in sources.iter().zip(row.from) {
        check_source(row, source, from)?;
    }
    let texture = row.from.contains(&From::Sampler);
    if let Some(guard) = guard
        && !(matches!(row.to, To::Vector(_) | To::Examined) || texture)
    {
        return Err(error("predicate", format!("`{base}` has no predicate in front"), guard.span));
    }
    let sources = sources.into_iter().zip(row.from).filter(|(_, f)| **f != From::Ignored).map(|(s, _)| s).collect();
    Ok(Inst { op: row.op, compare, saturate, guard, dest, sources, span: cursor.since(start), name })
}

fn check_dest(row: &Row, dest: &Dest) -> Parse<()> {
    let allowed = |what: &str| {
        Box::new(
            (*error("destination", format!("{} cannot be what `{}` writes", dest.reg.name(), row.name), dest.span))
                .help(what.to_owned()),
        )
    };
    match (row.to, dest.reg.file) {
        (To::Vector(_), RegisterFile::Temp | RegisterFile::Color | RegisterFile::Depth) => {}
        (To::Vector(_), _) => return Err(allowed("r0 to r31, oC0 to oC3 and oDepth can be written")),
        (To::Predicate, RegisterFile::Predicate) => {}
        (To::Predicate, _) => return Err(allowed("p0 is the only predicate")),
        (To::Examined, RegisterFile::Temp | RegisterFile::Input | RegisterFile::TexCoord | RegisterFile::Position) => {}
        (To::Examined, _) => return Err(allowed("temporaries and inputs can be examined")),
        (To::Nothing, _) => {}
    }
    if dest.reg.relative {
        return Err(allowed("destinations are not relative to aL"));
    }
    if let To::Vector(channels) = row.to
        && dest.reg.file != RegisterFile::Depth
        && dest.mask & !channels != 0
    {
        let written: String =
            "xyzw".chars().enumerate().filter(|(i, _)| channels & 1 << i != 0).map(|(_, c)| c).collect();
        return Err(Box::new(
            (*error("mask", format!("`{}` writes no other channels than .{written}", row.name), dest.span))
                .help(format!("write {}.{written}, or a part of it", dest.reg.name())),
        ));
    }
    Ok(())
}

fn check_source(row: &Row, source: &SourceOperand, from: From) -> Parse<()> {
    let name = source.reg.name();
    let wrong = |allowed: &str| {
        Box::new(
            (*error("operand", format!("{name} cannot be this operand of `{}`", row.name), source.span))
                .help(allowed.to_owned()),
        )
    };
    let file = source.reg.file;
    let numbers = matches!(
        file,
        RegisterFile::Temp
            | RegisterFile::Input
            | RegisterFile::TexCoord
            | RegisterFile::Const
            | RegisterFile::Position
            | RegisterFile::Face
    );
    let plain = !source.negate && !source.absolute;
    if source.not && !matches!(from, From::Condition | From::Predicate) {
        return Err(error("operand", "`!` stands before booleans and predicates only".to_owned(), source.span));
    }
    match from {
        From::Vector if !numbers => Err(wrong("temporaries, inputs and constants hold numbers")),
        From::Scalar if !numbers => Err(wrong("temporaries, inputs and constants hold numbers")),
        From::Scalar if !source.swizzle.iter().all(|&s| s == source.swizzle[0]) && file != RegisterFile::Face => {
            Err(Box::new(
                (*error("swizzle", format!("`{}` reads one channel of this operand", row.name), source.span))
                    .help(format!("name it: {name}.x, {name}.y, {name}.z or {name}.w")),
            ))
        }
        From::Vector | From::Scalar => Ok(()),
        From::Rows(rows) => {
            let (_, count) = file.form();
            if !matches!(file, RegisterFile::Const | RegisterFile::Temp | RegisterFile::Input) || source.reg.relative {
                Err(wrong("the rows are constants, temporaries or inputs that follow each other"))
            } else if !plain || source.swizzled {
                Err(error("operand", "the rows of a matrix have no modifiers and no swizzle".to_owned(), source.span))
            } else if source.reg.index + u16::from(rows) > count {
                Err(error(
                    "range",
                    format!("`{}` reads {rows} rows, and {name} is not followed by so many", row.name),
                    source.span,
                ))
            } else {
                Ok(())
            }
        }
        From::Sampler if file != RegisterFile::Sampler => Err(wrong("this operand is a sampler, s0 to s15")),
        From::Int if file != RegisterFile::Int => Err(wrong("the count comes from an integer constant, i0 to i15")),
        From::LoopCounter if file != RegisterFile::Loop => Err(wrong("`loop` is written `loop aL, i0`")),
        From::Label if file != RegisterFile::Label => Err(wrong("labels are l0 to l2047")),
        From::Condition if !matches!(file, RegisterFile::Bool | RegisterFile::Predicate) => {
            Err(wrong("a condition is b0 to b15, or p0 with one channel; comparisons have a suffix, as in if_lt"))
        }
        From::Predicate if file != RegisterFile::Predicate => {
            Err(wrong("this operand is the predicate with one channel, p0.x"))
        }
        From::Condition | From::Predicate
            if file == RegisterFile::Predicate && !source.swizzle.iter().all(|&s| s == source.swizzle[0]) =>
        {
            Err(Box::new(
                (*error("swizzle", "a branch needs one channel of the predicate".to_owned(), source.span))
                    .help("name it: p0.x, p0.y, p0.z or p0.w"),
            ))
        }
        From::Sampler | From::Int | From::LoopCounter | From::Label | From::Condition | From::Predicate => {
            if plain {
                Ok(())
            } else {
                Err(wrong("it takes no modifiers"))
            }
        }
        From::Ignored => Ok(()),
    }
}

/// Whether an instruction is a lookup.
pub(crate) const fn is_lookup(op: TableOp) -> bool {
    matches!(op, TableOp::Texld | TableOp::Texldp | TableOp::Texldb | TableOp::Texldl | TableOp::Texldd)
}
