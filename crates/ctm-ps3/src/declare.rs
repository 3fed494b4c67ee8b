//! `dcl` and `def`: kinds of inputs, and the values of constants.

use crate::cursor::{Cursor, Parse, error};
use crate::lexer::Tok;
use crate::operands::destination;
use crate::syntax::{Declared, DefValue, RegisterFile, Shader, Texture};
use crate::table::USAGES;
use ctm_isa::diag::Span;
use ctm_isa::suggest::closest;

/// `dcl`, after the word: inputs and samplers.
pub(crate) fn declaration(
    cursor: &mut Cursor<'_, '_>,
    shader: &mut Shader,
    suffixes: &[&str],
    start: Span,
    name: Span,
) -> Parse<()> {
    let mut usage: Option<(&'static str, u16)> = None;
    let mut kind = None;
    for suffix in suffixes {
        let digits = suffix.trim_start_matches(|c: char| !c.is_ascii_digit());
        let stem = &suffix[..suffix.len() - digits.len()];
        match *suffix {
            "pp" | "centroid" => {}
            "2d" | "cube" | "volume" | "1d" => kind = Some((*suffix).to_owned()),
            _ => match USAGES.iter().find(|u| **u == stem) {
                Some(found) if usage.is_none() => usage = Some((found, digits.parse().unwrap_or(0))),
                Some(_) => return Err(error("declaration", "an input has one usage".to_owned(), name)),
                None => {
                    let finding = *error("declaration", format!("`{suffix}` is no usage and no kind of texture"), name);
                    return Err(Box::new(match closest(stem, USAGES.iter().copied().chain(["2d"])) {
                        Some(near) => finding.help(format!("did you mean `{near}`?")),
                        None => finding.help(format!("the usages are {}; textures are 2d", USAGES.join(", "))),
                    }));
                }
            },
        }
    }
    let dest = destination(cursor)?;
    cursor.end()?;
    let span = cursor.since(start);
    let wrong =
        |message: String, help: &str| Err(Box::new((*error("declaration", message, dest.span)).help(help.to_owned())));
    match dest.reg.file {
        RegisterFile::Sampler => {
            if usage.is_some() {
                return wrong(format!("{} is a sampler and has no usage", dest.reg.name()), "write dcl_2d");
            }
            let texture = match kind.as_deref() {
                Some("2d") => Texture::Flat,
                Some("cube") => Texture::Cube,
                Some("volume") => Texture::Volume,
                Some(kind) => {
                    return Err(Box::new(
                        (*error(
                            "texture-kind",
                            format!("the device has no {kind} textures: its inputs are two-dimensional"),
                            name,
                        ))
                        .help("declare it as 2d, and compute both coordinates"),
                    ));
                }
                None => return wrong("the kind of the texture is missing".to_owned(), "write dcl_2d s0"),
            };
            shader.samplers.push((dest.reg.index, texture, span));
        }
        RegisterFile::Input | RegisterFile::TexCoord | RegisterFile::Position | RegisterFile::Face => {
            if kind.is_some() {
                return wrong(format!("{} is no sampler", dest.reg.name()), "2d belongs to samplers");
            }
            let (usage, usage_index) = match (dest.reg.file, usage) {
                (RegisterFile::Input, None) if cursor.major == 2 => ("color", dest.reg.index),
                (RegisterFile::TexCoord, None) => ("texcoord", dest.reg.index),
                (RegisterFile::Position | RegisterFile::Face, None) => ("", 0),
                (RegisterFile::Position | RegisterFile::Face, Some(_)) => {
                    return wrong(format!("{} has no usage", dest.reg.name()), "write dcl vPos.xy, dcl vFace");
                }
                (_, Some(usage)) => usage,
                (_, None) => {
                    return wrong("the usage of the input is missing".to_owned(), "write dcl_texcoord0 v0.xy");
                }
            };
            if usage_index > 15 {
                return wrong(
                    format!("{usage} has the index {usage_index}, allowed are 0 to 15"),
                    "write dcl_texcoord0",
                );
            }
            shader.declared.push(Declared { reg: dest.reg, usage, usage_index, mask: dest.mask, span });
        }
        _ => {
            return wrong(
                format!("{} needs no declaration", dest.reg.name()),
                "inputs and samplers are declared; constants are defined with def, defi and defb",
            );
        }
    }
    Ok(())
}

/// `def`, `defi`, `defb`, after the word.
pub(crate) fn definition(cursor: &mut Cursor<'_, '_>, shader: &mut Shader, base: &str, start: Span) -> Parse<()> {
    let dest = destination(cursor)?;
    let wanted = match base {
        "def" => RegisterFile::Const,
        "defi" => RegisterFile::Int,
        _ => RegisterFile::Bool,
    };
    if dest.reg.file != wanted || dest.masked || dest.reg.relative {
        return Err(Box::new(
            (*error("definition", format!("`{base}` does not define this"), dest.span))
                .help("def defines c0 to c223, defi i0 to i15, defb b0 to b15, each without a mask"),
        ));
    }
    let index = dest.reg.index;
    let value = if base == "defb" {
        cursor.expect(',', "before the value")?;
        let span = cursor.span();
        DefValue::Bool(
            index,
            match cursor.peek() {
                Some(Tok::Word(w)) if w.eq_ignore_ascii_case("true") => true,
                Some(Tok::Word(w)) if w.eq_ignore_ascii_case("false") => false,
                Some(Tok::Number(n)) => n != 0.0,
                _ => return Err(error("definition", "a boolean is true or false".to_owned(), span)),
            },
        )
    } else {
        let mut values = [(0.0, Span::default()); 4];
        for value in &mut values {
            cursor.expect(',', "and four numbers")?;
            *value = cursor.number("a number")?;
        }
        if base == "def" {
            #[allow(clippy::cast_possible_truncation, reason = "registers hold single precision")]
            DefValue::Float(index, values.map(|v| v.0 as f32))
        } else {
            let names = ["the count", "the initial aL", "the step of aL", "the fourth number"];
            let ranges = [(0.0, 255.0), (0.0, 255.0), (-128.0, 127.0), (-128.0, 255.0)];
            for (((value, span), what), (least, most)) in values.iter().zip(names).zip(ranges) {
                if !(least..=most).contains(value) || value.fract() != 0.0 {
                    return Err(error(
                        "range",
                        format!("{what} is {value}, allowed are whole numbers from {least} to {most}"),
                        *span,
                    ));
                }
            }
            #[allow(clippy::cast_possible_truncation, reason = "whole numbers in a small range")]
            DefValue::Int(index, values.map(|v| v.0 as i32))
        }
    };
    if base == "defb" {
        cursor.at += 1;
    }
    cursor.end()?;
    shader.values.push((value, cursor.since(start)));
    Ok(())
}
