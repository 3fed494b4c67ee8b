//! Direct3D 9 byte code of pixel shaders, printed as the text that [`crate::compile`] reads.
//!
//! Byte code is a list of little-endian dwords: a version, instructions, the end (0x0000ffff). The layout is that of the Windows driver kit's
//! "Direct3D Shader Codes". Shaders of versions 2 and 3 say in each instruction how many dwords follow. Comments hold, among others, the
//! constant table `CTAB`: names for registers.

use crate::table::{self, To, USAGES};
use ctm_isa::diag::Diagnostic;
use std::fmt::Write;

/// The end of every shader.
const END: u32 = 0x0000_ffff;
/// Opcodes with a meaning of their own.
const DCL: u16 = 31;
const DEFB: u16 = 47;
const DEFI: u16 = 48;
const TEX: u16 = 66;
const DEF: u16 = 81;
const COMMENT: u16 = 0xfffe;

/// Opcodes and the names that they have in text; where there are two, `if` for instance, comparisons have their own number.
const CODES: &[(u16, &str)] = &[
    (0, "nop"),
    (1, "mov"),
    (2, "add"),
    (3, "sub"),
    (4, "mad"),
    (5, "mul"),
    (6, "rcp"),
    (7, "rsq"),
    (8, "dp3"),
    (9, "dp4"),
    (10, "min"),
    (11, "max"),
    (12, "slt"),
    (13, "sge"),
    (14, "exp"),
    (15, "log"),
    (18, "lrp"),
    (19, "frc"),
    (20, "m4x4"),
    (21, "m4x3"),
    (22, "m3x4"),
    (23, "m3x3"),
    (24, "m3x2"),
    (25, "call"),
    (26, "callnz"),
    (27, "loop"),
    (28, "ret"),
    (29, "endloop"),
    (30, "label"),
    (32, "pow"),
    (33, "crs"),
    (35, "abs"),
    (36, "nrm"),
    (37, "sincos"),
    (38, "rep"),
    (39, "endrep"),
    (40, "if"),
    (41, "if"),
    (42, "else"),
    (43, "endif"),
    (44, "break"),
    (45, "break"),
    (65, "texkill"),
    (TEX, "texld"),
    (78, "expp"),
    (79, "logp"),
    (88, "cmp"),
    (90, "dp2add"),
    (91, "dsx"),
    (92, "dsy"),
    (93, "texldd"),
    (94, "setp"),
    (95, "texldl"),
    (96, "breakp"),
];
/// Lookups by the control bits of [`TEX`].
const LOOKUPS: [&str; 3] = ["texld", "texldp", "texldb"];
/// Comparisons by the control bits; 0 and 7 are none.
const COMPARISONS: [&str; 8] = ["", "gt", "eq", "ge", "lt", "ne", "le", ""];
/// Numbers of usages in declarations.
const USAGE_NUMBERS: [&str; 13] = [
    "position",
    "blendweight",
    "blendindices",
    "normal",
    "psize",
    "texcoord",
    "tangent",
    "binormal",
    "tessfactor",
    "positiont",
    "color",
    "fog",
    "depth",
];
/// Kinds of textures in declarations of samplers.
const TEXTURES: [&str; 5] = ["", "1d", "2d", "cube", "volume"];

/// A name of the constant table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As the source has it.
    pub name: String,
    /// `c`, `i`, `b` or `s`.
    pub file: char,
    /// The first register.
    pub index: u16,
    /// How many registers.
    pub count: u16,
}

/// Decoded byte code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// The shader as text; names are in comments.
    pub text: String,
    /// The names of its constant table, in its order.
    pub names: Vec<Name>,
}

fn dword(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))
}

fn wrong(at: usize, message: &str) -> Box<Diagnostic> {
    Box::new(Diagnostic::error("byte-code", format!("dword {at} (byte {}): {message}", at * 4)))
}

type Read<T> = Result<T, Box<Diagnostic>>;

/// Prints byte code as text.
///
/// ```
/// // mov oC0, c0
/// let words = [0xffff_0300u32, 0x0200_0001, 0x800f_0800, 0xa0e4_0000, 0x0000_ffff];
/// let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
/// assert_eq!(ctm_ps3::bytecode::disassemble(&bytes).unwrap().text, "ps_3_0\nmov oC0, c0\n");
/// ```
///
/// # Errors
/// When it is cut off, or a dword is none that pixel shaders of versions 2 and 3 have. Other errors are in the text too, and the
/// compiler reports them.
pub fn disassemble(bytes: &[u8]) -> Result<Listing, Box<Diagnostic>> {
    let words: Vec<u32> = bytes.chunks_exact(4).map(dword).collect();
    let mut listing = Listing { text: String::new(), names: Vec::new() };
    let version = words.first().copied().unwrap_or(0);
    let name = match version {
        0xffff_0300 => "ps_3_0",
        0xffff_03ff => "ps_3_sw",
        0xffff_0200 => "ps_2_0",
        0xffff_02ff => "ps_2_sw",
        0xffff_0201 => "ps_2_x",
        _ => {
            let message = match version >> 16 {
                0xfffe => "a vertex shader; pixel shaders are compiled".to_owned(),
                0xffff => format!(
                    "version {}.{}; pixel shaders of versions 2 and 3 are compiled",
                    version >> 8 & 0xff,
                    version & 0xff
                ),
                _ => format!("{version:#010x} is no version of a shader"),
            };
            return Err(wrong(0, &message));
        }
    };
    let mut body = String::new();
    let mut at = 1;
    let mut depth = 0usize;
    loop {
        let word = *words.get(at).ok_or_else(|| wrong(at, "the end (0x0000ffff) is missing"))?;
        if word == END {
            break;
        }
        let code = (word & 0xffff) as u16;
        let length = if code == COMMENT { word >> 16 & 0x7fff } else { word >> 24 & 15 } as usize;
        let rest = words
            .get(at + 1..at + 1 + length)
            .ok_or_else(|| wrong(at, &format!("{length} dwords should follow, there are {}", words.len() - at - 1)))?;
        if code == COMMENT {
            if let Some(names) = constant_table(rest) {
                listing.names = names;
            }
        } else {
            let line = Statement { at, word, code, rest, major: (version >> 8 & 0xff) as u8 }.print()?;
            let closes = ["else", "endif", "endloop", "endrep"].iter().any(|w| line.starts_with(w));
            let opens = ["if", "else", "loop", "rep"].iter().any(|w| line.starts_with(w));
            depth -= usize::from(closes && depth > 0);
            let _ = writeln!(body, "{:1$}{line}", "", 4 * depth);
            depth += usize::from(opens);
        }
        at += 1 + length;
    }
    let _ = writeln!(listing.text, "{name}");
    if !listing.names.is_empty() {
        let _ = writeln!(listing.text, "// names of registers:");
    }
    for n in &listing.names {
        let last = if n.count > 1 {
            format!("-{}{}", n.file, u32::from(n.index) + u32::from(n.count) - 1)
        } else {
            String::new()
        };
        let _ = writeln!(listing.text, "//   {}{}{last}  {}", n.file, n.index, n.name);
    }
    listing.text += &body;
    Ok(listing)
}

/// The names of a comment that is a constant table: `CTAB`, then a header whose fourth and fifth dword are the number of constants and where they are
/// described, five dwords each. Offsets are bytes after `CTAB`. A table that is damaged gives no names.
fn constant_table(comment: &[u32]) -> Option<Vec<Name>> {
    let (&mark, table) = comment.split_first()?;
    if mark != u32::from_le_bytes(*b"CTAB") {
        return None;
    }
    let bytes: Vec<u8> = table.iter().flat_map(|w| w.to_le_bytes()).collect();
    let (count, first) = (*table.get(3)?, *table.get(4)? as usize / 4);
    (0..count as usize)
        .map(|n| {
            let info = table.get(first.checked_add(n.checked_mul(5)?)?..)?.get(..5)?;
            let name = bytes.get(info[0] as usize..)?;
            let name = &name[..name.iter().position(|&b| b == 0)?];
            let file = ['b', 'i', 'c', 's'].get((info[1] & 0xffff) as usize)?;
            Some(Name {
                // Line ends within the comment are left out.
                name: String::from_utf8_lossy(name).chars().filter(|c| !c.is_control()).collect(),
                file: *file,
                index: (info[1] >> 16) as u16,
                count: (info[2] & 0xffff) as u16,
            })
        })
        .collect()
}

/// One instruction.
struct Statement<'a> {
    /// Its offset in dwords.
    at: usize,
    word: u32,
    code: u16,
    /// The dwords after it.
    rest: &'a [u32],
    major: u8,
}

impl Statement<'_> {
    fn wrong(&self, message: &str) -> Box<Diagnostic> {
        wrong(self.at, message)
    }

    /// Dword n after the instruction.
    fn parameter(&self, n: usize) -> Read<u32> {
        self.rest.get(n).copied().ok_or_else(|| self.wrong(&format!("operand {n} of opcode {} is missing", self.code)))
    }

    fn print(&self) -> Read<String> {
        match self.code {
            DCL => self.declaration(),
            DEF => {
                let values = (1..5).map(|n| self.parameter(n).map(float)).collect::<Read<Vec<_>>>()?;
                Ok(format!("def {}, {}", self.register(self.parameter(0)?, None)?, values.join(", ")))
            }
            DEFI => {
                let values = (1..5).map(|n| self.parameter(n).map(|v| v.cast_signed().to_string()));
                let values = values.collect::<Read<Vec<_>>>()?;
                Ok(format!("defi {}, {}", self.register(self.parameter(0)?, None)?, values.join(", ")))
            }
            DEFB => Ok(format!("defb {}, {}", self.register(self.parameter(0)?, None)?, self.parameter(1)? != 0)),
            _ => self.instruction(),
        }
    }

    fn declaration(&self) -> Read<String> {
        let (usage, to) = (self.parameter(0)?, self.parameter(1)?);
        let register = self.destination(to)?;
        let mut name = "dcl".to_owned();
        if file_of(to) == 10 {
            match TEXTURES.get((usage >> 27 & 15) as usize) {
                Some(&"") => {}
                Some(kind) => name = format!("dcl_{kind}"),
                None => return Err(self.wrong(&format!("{} is no kind of texture", usage >> 27 & 15))),
            }
        } else if file_of(to) == 1 && self.major > 2 {
            let usage_name = USAGE_NUMBERS.get((usage & 15) as usize).filter(|name| USAGES.contains(name));
            let Some(usage_name) = usage_name else {
                return Err(self.wrong(&format!("{} is no usage of an input", usage & 15)));
            };
            name = format!("dcl_{usage_name}{}", usage >> 16 & 15);
        }
        Ok(format!("{name}{} {register}", modifiers(to)))
    }

    fn instruction(&self) -> Read<String> {
        let control = (self.word >> 16 & 0xff) as usize;
        let Some(&(_, mut name)) = CODES.iter().find(|row| row.0 == self.code) else {
            return Err(self.wrong(&format!("{} is no opcode of pixel shaders of versions 2 and 3", self.code)));
        };
        let compares = matches!(self.code, 41 | 45 | 94);
        if self.code == TEX {
            name = LOOKUPS.get(control).ok_or_else(|| self.wrong(&format!("{control} is no kind of lookup")))?;
        }
        let mut text = name.to_owned();
        if compares {
            text = format!(
                "{name}_{}",
                COMPARISONS
                    .get(control)
                    .filter(|c| !c.is_empty())
                    .ok_or_else(|| { self.wrong(&format!("{control} is no comparison")) })?
            );
        }
        let has_dest = table::named(name).any(|row| row.to != To::Nothing);
        let mut operands = Vec::new();
        let mut guard = String::new();
        let mut n = 0;
        if has_dest {
            let to = self.parameter(0)?;
            if to >> 24 & 15 != 0 {
                return Err(self.wrong("a destination with a shift; those belong to ps_1_x"));
            }
            text += &modifiers(to);
            operands.push(self.destination(to)?);
            n = 1;
        }
        if self.word >> 28 & 1 == 1 {
            guard = format!("({}) ", self.source(&mut n)?);
        }
        while n < self.rest.len() {
            operands.push(self.source(&mut n)?);
        }
        let separator = if operands.is_empty() { "" } else { " " };
        Ok(format!("{guard}{text}{separator}{}", operands.join(", ")))
    }

    /// A register without mask or swizzle; `relative` is its index register.
    fn register(&self, token: u32, relative: Option<&str>) -> Read<String> {
        if token >> 31 == 0 {
            return Err(self.wrong(&format!("{token:#010x} is no operand: its highest bit is 0")));
        }
        let number = token & 0x7ff;
        let file = file_of(token);
        let name = match (file, number) {
            (0, _) => "r",
            (1, _) => "v",
            (2, _) => "c",
            (3, _) => "t",
            (7, _) => "i",
            (8, _) => "oC",
            (9, 0) => return Ok("oDepth".to_owned()),
            (10, _) => "s",
            (14, _) => "b",
            (15, 0) => return Ok("aL".to_owned()),
            (17, 0) => return Ok("vPos".to_owned()),
            (17, 1) => return Ok("vFace".to_owned()),
            (18, _) => "l",
            (19, _) => "p",
            _ => return Err(self.wrong(&format!("register {number} of file {file} is none of pixel shaders"))),
        };
        Ok(match relative {
            Some(counter) => format!("{name}[{counter}+{number}]"),
            None => format!("{name}{number}"),
        })
    }

    fn destination(&self, token: u32) -> Read<String> {
        let mask = token >> 16 & 15;
        let letters: String = "xyzw".chars().enumerate().filter(|(c, _)| mask >> c & 1 == 1).map(|(_, l)| l).collect();
        let register = self.register(token, None)?;
        match (mask, file_of(token)) {
            // One value, or none that a mask could choose from.
            (_, 9 | 10 | 18) | (15, _) => Ok(register),
            (_, 17) if token & 0x7ff == 1 => Ok(register),
            (0, _) => Err(self.wrong("a destination with an empty mask")),
            _ => Ok(format!("{register}.{letters}")),
        }
    }

    /// The operand at dword n, which goes on to the next.
    fn source(&self, n: &mut usize) -> Read<String> {
        let token = self.parameter(*n)?;
        *n += 1;
        let mut counter = None;
        if token >> 13 & 1 == 1 {
            let to = self.parameter(*n)?;
            *n += 1;
            counter = Some(self.register(to, None)?);
        }
        let register = self.register(token, counter.as_deref())?;
        let (before, behind) = match token >> 24 & 15 {
            0 => ("", ""),
            1 => ("-", ""),
            11 => ("", "_abs"),
            12 => ("-", "_abs"),
            13 => ("!", ""),
            other => return Err(self.wrong(&format!("source modifier {other}; it belongs to ps_1_x"))),
        };
        let channels: Vec<usize> = (0..4).map(|c| (token >> (16 + 2 * c) & 3) as usize).collect();
        let letters: String = channels.iter().map(|&c| ["x", "y", "z", "w"][c]).collect();
        let swizzle = match file_of(token) {
            // Counters, integers, booleans and labels have no channels.
            7 | 14 | 15 | 18 => String::new(),
            _ if channels == [0, 1, 2, 3] => String::new(),
            17 if token & 0x7ff == 1 => String::new(),
            _ if channels.iter().all(|&c| c == channels[0]) => format!(".{}", &letters[..1]),
            _ => format!(".{letters}"),
        };
        Ok(format!("{before}{register}{behind}{swizzle}"))
    }
}

/// The number of the register file: its bits lie apart.
const fn file_of(token: u32) -> u32 {
    token >> 28 & 7 | token >> 8 & 0x18
}

/// `_sat`, `_pp` and `_centroid` of a destination.
fn modifiers(token: u32) -> String {
    let names = ["_sat", "_pp", "_centroid"];
    names.iter().enumerate().filter(|(bit, _)| token >> (20 + bit) & 1 == 1).map(|(_, name)| *name).collect()
}

/// A number that the same bits are read from again, except those of NaN.
fn float(bits: u32) -> String {
    let value = f32::from_bits(bits);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    match value {
        _ if value.is_nan() => "1.#QNAN".to_owned(),
        _ if value.is_infinite() => format!("{sign}1.#INF"),
        _ => format!("{value:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_instruction_of_the_language_has_a_code() {
        let coded: BTreeSet<&str> = CODES.iter().map(|row| row.1).chain(LOOKUPS).collect();
        let rows: BTreeSet<&str> = table::ROWS.iter().map(|row| row.name).collect();
        assert_eq!(coded, rows);
        let lookups = table::ROWS.iter().filter(|row| row.from.contains(&table::From::Sampler));
        assert!(lookups.into_iter().all(|row| coded.contains(row.name)));
        assert!(CODES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert_eq!(USAGE_NUMBERS.iter().collect::<BTreeSet<_>>(), USAGES.iter().collect::<BTreeSet<_>>());
    }
}
