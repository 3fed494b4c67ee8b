//! Registers, sources and destinations of an instruction.

use crate::cursor::{Cursor, Parse, error};
use crate::lexer::Tok;
use crate::syntax::{Dest, Reg, RegisterFile, SourceOperand};
use ctm_isa::diag::Span;

/// The register that a word names, without its suffix.
fn register_of(word: &str, major: u8) -> Option<(RegisterFile, Option<u16>)> {
    for (name, file) in [
        ("aL", RegisterFile::Loop),
        ("vFace", RegisterFile::Face),
        ("vPos", RegisterFile::Position),
        ("oDepth", RegisterFile::Depth),
    ] {
        if word.eq_ignore_ascii_case(name) {
            return Some((file, None));
        }
    }
    let digits = word.trim_start_matches(|c: char| !c.is_ascii_digit());
    let name = &word[..word.len() - digits.len()];
    let file = match name.to_ascii_lowercase().as_str() {
        "r" => RegisterFile::Temp,
        "v" => RegisterFile::Input,
        "t" if major < 3 => RegisterFile::TexCoord,
        "c" => RegisterFile::Const,
        "i" => RegisterFile::Int,
        "b" => RegisterFile::Bool,
        "s" => RegisterFile::Sampler,
        "p" => RegisterFile::Predicate,
        "oc" => RegisterFile::Color,
        "l" => RegisterFile::Label,
        _ => return None,
    };
    if digits.is_empty() {
        return Some((file, None));
    }
    // Numbers that no register has are reported as such, however long they are.
    digits.bytes().all(|c| c.is_ascii_digit()).then(|| (file, Some(digits.parse().unwrap_or(u16::MAX))))
}

/// A register and whether `_abs` follows it.
fn register(cursor: &mut Cursor<'_, '_>, wanted: &str) -> Parse<(Reg, bool)> {
    let start = cursor.span();
    let word = cursor.word(wanted)?;
    let (bare, absolute) = match word.len().checked_sub(4).and_then(|n| word.split_at_checked(n)) {
        Some((bare, suffix)) if suffix.eq_ignore_ascii_case("_abs") => (bare, true),
        _ => (word, false),
    };
    let Some((file, index)) = register_of(bare, cursor.major) else {
        return Err(Box::new(
            (*error("register", format!("`{bare}` is no register"), start)).help(
                "registers are r0-r31, v0-v9, c0-c223, i0-i15, b0-b15, s0-s15, p0, aL, vPos, vFace, oC0-oC3, oDepth and labels l0-l2047",
            ),
        ));
    };
    let (name, count) = file.form();
    let mut reg = Reg { file, index: index.unwrap_or(0), relative: false };
    if cursor.peek() == Some(Tok::Punct('[')) {
        cursor.at += 1;
        relative(cursor, &mut reg)?;
        if !matches!(file, RegisterFile::Input | RegisterFile::Const) {
            return Err(Box::new(
                (*error("relative", format!("{name}# cannot be relative to aL"), cursor.since(start)))
                    .help("inputs can: v[aL+2]"),
            ));
        }
    } else if index.is_none() && count > 0 {
        return Err(error("register", format!("`{bare}` has no number: {name}0 to {name}{} exist", count - 1), start));
    }
    if count > 0 && reg.index >= count {
        let last = count - 1;
        let range = if last == 0 { format!("{name}0 exists") } else { format!("{name}0 to {name}{last} exist") };
        return Err(error("range", format!("there is no {name}{}: {range}", reg.index), cursor.since(start)));
    }
    Ok((reg, absolute))
}

/// `aL + 3]`, `3 + aL]`, `aL]`, `3]`.
fn relative(cursor: &mut Cursor<'_, '_>, reg: &mut Reg) -> Parse<()> {
    let mut terms = 0;
    loop {
        let span = cursor.span();
        match cursor.peek() {
            Some(Tok::Word(word)) if word.eq_ignore_ascii_case("aL") && !reg.relative => reg.relative = true,
            Some(Tok::Number(n)) if n.fract() == 0.0 && (0.0..1000.0).contains(&n) => {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an integer below 1000")]
                let n = n as u16;
                reg.index = reg.index.saturating_add(n);
            }
            Some(Tok::Word("a0")) => {
                return Err(error("relative", "a0 belongs to vertex shaders; aL is the index here".to_owned(), span));
            }
            _ => return Err(cursor.unexpected("`aL` or a number")),
        }
        cursor.at += 1;
        terms += 1;
        if terms == 4 || !cursor.eat('+') {
            break;
        }
    }
    cursor.expect(']', "after the index")
}

/// The letters after a point: channels, and whether `_abs` follows.
fn channels<'a>(cursor: &mut Cursor<'a, '_>) -> Parse<Option<(&'a str, bool, Span)>> {
    if !cursor.eat('.') {
        return Ok(None);
    }
    let span = cursor.span();
    let word = cursor.word("channels such as `xyz`")?;
    let (letters, absolute) = match word.strip_suffix("_abs") {
        Some(letters) => (letters, true),
        None => (word, false),
    };
    Ok(Some((letters, absolute, span)))
}

fn channel(letter: char) -> Option<u8> {
    match letter.to_ascii_lowercase() {
        'x' | 'r' => Some(0),
        'y' | 'g' => Some(1),
        'z' | 'b' => Some(2),
        'w' | 'a' => Some(3),
        _ => None,
    }
}

/// A source operand.
pub(crate) fn source(cursor: &mut Cursor<'_, '_>) -> Parse<SourceOperand> {
    let start = cursor.span();
    let not = cursor.eat('!');
    let negate = cursor.eat('-');
    let (reg, mut absolute) = register(cursor, "an operand")?;
    let mut swizzle = [0, 1, 2, 3];
    let mut swizzled = false;
    if let Some((letters, abs, span)) = channels(cursor)? {
        absolute |= abs;
        let list: Option<Vec<u8>> = letters.chars().map(channel).collect();
        let Some(list) = list.filter(|l| (1..=4).contains(&l.len())) else {
            return Err(Box::new(
                (*error("swizzle", format!("`.{letters}` is no swizzle"), span))
                    .help("a swizzle has one to four of the letters x, y, z, w"),
            ));
        };
        let last = list[list.len() - 1];
        swizzle = std::array::from_fn(|i| list.get(i).copied().unwrap_or(last));
        swizzled = true;
    }
    Ok(SourceOperand { reg, swizzle, swizzled, negate, absolute, not, span: cursor.since(start) })
}

/// A destination.
pub(crate) fn destination(cursor: &mut Cursor<'_, '_>) -> Parse<Dest> {
    let start = cursor.span();
    if cursor.peek() == Some(Tok::Punct('-')) || cursor.peek() == Some(Tok::Punct('!')) {
        return Err(error("destination", "a destination has no sign".to_owned(), start));
    }
    let (reg, absolute) = register(cursor, "a destination")?;
    let (mut mask, mut masked) = (15, false);
    if let Some((letters, abs, span)) = channels(cursor)? {
        let list: Option<Vec<u8>> = letters.chars().map(channel).collect();
        let ascending = |l: &Vec<u8>| (1..=4).contains(&l.len()) && l.windows(2).all(|w| w[0] < w[1]);
        let Some(list) = list.filter(ascending).filter(|_| !abs) else {
            return Err(Box::new(
                (*error("mask", format!("`.{letters}` is no write mask"), span))
                    .help("a mask has some of the letters x, y, z, w, in this order"),
            ));
        };
        mask = list.iter().fold(0, |m, c| m | 1 << c);
        masked = true;
    }
    if absolute {
        return Err(error("destination", "a destination has no `_abs`".to_owned(), start));
    }
    Ok(Dest { reg, mask, masked, span: cursor.since(start) })
}
