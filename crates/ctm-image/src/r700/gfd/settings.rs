//! `; $NAME = value` lines of listings: fields of a header block that do not follow from the program's words.
//!
//! The names are those of the registers, their fields and the header's tables, in large or small letters, as the console's tools
//! write them: `$SPI_VS_OUT_ID[0].SEMANTIC_1 = 1`, `$UNIFORM_VARS[0].type = "mat4x4"`, `$MODE = "UniformBlock"`.

use super::header::{HeaderLayout, VariableKind, VariableType, WordMeaning};
use super::{LONGEST_NAME, MOST_VARIABLES, NewVariable, OtherWord};
use crate::r700::registers::{self, Register};
use ctm_isa::diag::Diagnostic;
use ctm_isa::r700::program::Setting;
use ctm_isa::suggest::closest;
use ctm_isa::table::Field;

/// A setting that cannot be.
const RULE: &str = "setting";

/// The name that a table has in settings, and the default of a row: a number for each column, or
/// `None` for the row's own number.
#[rustfmt::skip]
pub(super) const TABLES: &[(&str, VariableKind, &[Option<u32>])] = &[
    ("UNIFORM_BLOCKS", VariableKind::UniformBlock, &[None, Some(16)]),
    ("UNIFORM_VARS",   VariableKind::Uniform,      &[Some(VariableType::Float4.code()), Some(1), Some(0), Some(u32::MAX)]),
    ("INITIAL_VALUES", VariableKind::InitialValue, &[Some(0), Some(0), Some(0), Some(0), None]),
    ("LOOP_VARS",      VariableKind::Loop,         &[None, Some(0)]),
    ("SAMPLER_VARS",   VariableKind::Sampler,      &[Some(1), None]),
    ("ATTRIB_VARS",    VariableKind::Attribute,    &[Some(VariableType::Float4.code()), Some(0), None]),
];

/// How uniforms reach a program, by number ([`Part::Mode`]).
const MODES: &[&str] = &["UniformRegister", "UniformBlock", "GeometryShader", "ComputeShader"];

/// Kinds of samplers, with their numbers.
pub(super) const SAMPLERS: &[(&str, u32)] = &[("sampler1D", 0), ("sampler2D", 1), ("sampler3D", 3), ("samplerCube", 4)];

/// Fields whose register has another name for them in AMD's reference than the table has: register, name, field.
const FIELD_NAMES: &[(&str, &str, &str)] = &[
    ("VGT_PRIMITIVEID_EN", "PRIMITIVEID_EN", "ENABLE"),
    ("VGT_VERTEX_REUSE_BLOCK_CNTL", "VTX_REUSE_DEPTH", "DEPTH"),
    ("VGT_HOS_REUSE_DEPTH", "REUSE_DEPTH", "DEPTH"),
    ("SQ_VTX_SEMANTIC_CLEAR", "CLEAR", "VALUE"),
];

/// Words for the numbers of fields: field, words from 0 up.
const FIELD_WORDS: &[(&str, &[&str])] = &[
    ("BARYC_SAMPLE_CNTL", &["CENTROIDS_ONLY", "CENTERS_ONLY", "CENTROIDS_AND_CENTERS"]),
    ("Z_ORDER", &["LATE_Z", "EARLY_Z_THEN_LATE_Z", "RE_Z", "EARLY_Z_THEN_RE_Z"]),
];

/// The settings of a listing, which override values derived from the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Parts of registers: byte address, bits that are set, their value.
    pub registers: Vec<(u32, u32, u32)>,
    /// How many registers of a list count, by the address of the first.
    pub counts: Vec<(u32, u32)>,
    /// Variables of all tables.
    pub variables: Vec<NewVariable>,
    /// How uniforms reach the program.
    pub mode: Option<u32>,
    /// Words without a register.
    pub words: Vec<OtherWord>,
}

impl Settings {
    /// Whether a register, or any of its list, is set.
    #[must_use]
    pub fn mentions(&self, row: &Register) -> bool {
        let list = row.address..row.address + row.count * 4;
        self.registers.iter().any(|r| list.contains(&r.0)) || self.counts.iter().any(|c| c.0 == row.address)
    }

    /// Reads the settings of a program with this header. All errors are reported, each with its place.
    ///
    /// # Errors
    /// Names that the header has not, and values that do not fit.
    pub fn read(settings: &[Setting], layout: &HeaderLayout) -> Result<Self, Vec<Diagnostic>> {
        let mut reader = SettingsReader { layout, out: Self::default(), rows: Vec::new() };
        let mut wrong: Vec<Diagnostic> = settings
            .iter()
            .filter_map(|s| {
                let problem = reader.setting(s).err()?;
                let found = Diagnostic::error(RULE, format!("`${}`: {}", s.name, problem.message)).at(s.span, "");
                Some(match problem.help {
                    Some(help) => found.help(help),
                    None => found,
                })
            })
            .collect();
        wrong.extend(reader.missing_rows());
        wrong.extend(reader.counts());
        if wrong.is_empty() { Ok(reader.out) } else { Err(wrong) }
    }
}

struct Problem {
    message: String,
    help: Option<String>,
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Self { message, help: None }
    }
}

/// The error that `what` has no `name`, with a suggestion from `names`.
fn unknown<'a>(what: &str, name: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> Problem {
    let help = match closest(name, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are {}", names.into_iter().collect::<Vec<_>>().join(", ")),
    };
    Problem { message: format!("{what} has no `{name}`"), help: Some(help) }
}

struct SettingsReader<'a> {
    layout: &'a HeaderLayout,
    out: Settings,
    /// The rows of tables so far, with their numbers.
    rows: Vec<(VariableKind, u32)>,
}

/// `OBJECT[index].MEMBER[element]`, in capitals.
struct Name {
    object: String,
    index: Option<u32>,
    member: Option<String>,
    element: Option<u32>,
}

impl Name {
    fn parse(name: &str) -> Result<Self, Problem> {
        let part = |text: &str| -> Result<(String, Option<u32>), Problem> {
            let (word, index) = match text.split_once('[') {
                None => (text, None),
                Some((word, rest)) => match rest.strip_suffix(']').and_then(|n| n.trim().parse().ok()) {
                    Some(index) => (word, Some(index)),
                    None => return Err(format!("`[{rest}` is no number in brackets").into()),
                },
            };
            Ok((word.trim().to_ascii_uppercase(), index))
        };
        let (object, member) = match name.split_once('.') {
            None => (name, None),
            Some((object, member)) => (object, Some(part(member)?)),
        };
        let (object, index) = part(object)?;
        let (member, element) = member.map_or((None, None), |(word, element)| (Some(word), element));
        Ok(Self { object, index, member, element })
    }

    /// For settings that are one value.
    fn alone(&self) -> Result<(), Problem> {
        match (self.index, &self.member) {
            (None, None) => Ok(()),
            _ => Err(format!("{} is one value, without index or member", self.object).into()),
        }
    }
}

impl SettingsReader<'_> {
    fn setting(&mut self, setting: &Setting) -> Result<(), Problem> {
        let name = Name::parse(&setting.name)?;
        let value = setting.value.as_str();
        if name.object == "MODE" {
            name.alone()?;
            self.out.mode = Some(word_or_number(value, MODES, 31)?);
            return Ok(());
        }
        if let Some(&(_, kind, defaults)) = TABLES.iter().find(|t| t.0 == name.object) {
            return self.variable(kind, defaults, &name, value);
        }
        if let Some(list) = name.object.strip_prefix("NUM_").and_then(|list| self.register_row(list)) {
            name.alone()?;
            let count = number(value, 31)?;
            if count > list.count {
                return Err(format!("there are {} registers {}, not {count}", list.count, list.name).into());
            }
            self.out.counts.push((list.address, count));
            return Ok(());
        }
        if let Some(row) = self.register_row(&name.object) {
            return self.register(row, &name, value);
        }
        let words: Vec<&'static str> = self.others();
        if let Some(&word) = words.iter().find(|w| setting_name(w) == name.object) {
            let most = words.iter().filter(|w| **w == word).count() as u32;
            let index = match name.index {
                None if most == 1 => 0,
                Some(index) if most > 1 && index < most => index,
                _ if most == 1 => return Err(format!("{} is one value, without an index", name.object).into()),
                _ => return Err(format!("{} takes an index, 0 to {}", name.object, most - 1).into()),
            };
            self.out.words.push(OtherWord { name: word, index, value: word_or_number(value, &["false", "true"], 31)? });
            return Ok(());
        }
        let names: Vec<String> = self.names();
        Err(unknown("a program of this stage", &name.object, names.iter().map(String::as_str)))
    }

    /// Every object that this header has.
    fn names(&self) -> Vec<String> {
        let mut names = vec!["MODE".to_owned()];
        for (_, part) in self.layout.words() {
            match part {
                WordMeaning::Register(row, 0) => {
                    if row.count > 1 {
                        names.push(format!("NUM_{}", row.name));
                    }
                    names.push(row.name.to_owned());
                }
                WordMeaning::Table(kind) => names.extend(TABLES.iter().find(|t| t.1 == kind).map(|t| t.0.to_owned())),
                _ => {}
            }
        }
        names.extend(self.others().iter().map(|w| setting_name(w)));
        names.dedup();
        names
    }

    /// The words that have no register and that settings give, one for each word of the header.
    fn others(&self) -> Vec<&'static str> {
        let words = self.layout.words().filter_map(|(_, part)| match part {
            WordMeaning::Other(name) => Some(name),
            _ => None,
        });
        words.filter(|name| !name.ends_with("buffer")).collect()
    }

    fn register_row(&self, name: &str) -> Option<&'static Register> {
        let row = registers::named(name)?;
        self.layout.words().any(|(_, part)| part == WordMeaning::Register(row, 0)).then_some(row)
    }

    fn register(&mut self, row: &'static Register, name: &Name, value: &str) -> Result<(), Problem> {
        let index = match name.index {
            None if row.count == 1 => 0,
            Some(index) if index < row.count => index,
            Some(index) if row.count > 1 => {
                return Err(format!("the index is {index}, there are {} registers {}", row.count, row.name).into());
            }
            None => return Err(format!("{} takes an index, 0 to {}", row.name, row.count - 1).into()),
            Some(_) => return Err(format!("{} is one register, without an index", row.name).into()),
        };
        let (mask, bits) = match &name.member {
            None => (u32::MAX, number(value, 32)?),
            Some(member) => field(row, member, value)?,
        };
        self.out.registers.push((row.address + index * 4, mask, bits));
        Ok(())
    }

    fn variable(
        &mut self,
        kind: VariableKind,
        defaults: &[Option<u32>],
        name: &Name,
        value: &str,
    ) -> Result<(), Problem> {
        if !self.layout.words().any(|(_, part)| part == WordMeaning::Table(kind)) {
            return Err(format!("a program of this stage has no table {}", name.object).into());
        }
        let (Some(index), Some(member)) = (name.index, &name.member) else {
            return Err(format!("a row of {} is written {}[0].NAME", name.object, name.object).into());
        };
        if u64::from(index) >= MOST_VARIABLES {
            return Err(format!("a table has at most {MOST_VARIABLES} rows").into());
        }
        let at = match self.rows.iter().position(|r| *r == (kind, index)) {
            Some(at) => at,
            None => {
                let values = defaults.iter().map(|d| d.unwrap_or(index)).collect();
                self.rows.push((kind, index));
                self.out.variables.push(NewVariable { kind, name: String::new(), values });
                self.rows.len() - 1
            }
        };
        let row = &mut self.out.variables[at];
        if member == "NAME" && kind.has_name() {
            let text = unquoted(value);
            if text.is_empty() || text.contains('\0') || text.len() as u64 >= LONGEST_NAME {
                return Err(format!("a name has 1 to {} bytes, none of them 0", LONGEST_NAME - 1).into());
            }
            row.name = text.to_owned();
            return Ok(());
        }
        let column = match (member.as_str(), name.element, kind) {
            ("VALUE", Some(element), VariableKind::InitialValue) => (element < 4).then_some(element as usize),
            _ => kind.columns().iter().position(|c| c.eq_ignore_ascii_case(member)),
        };
        let Some(column) = column else {
            let own = kind.has_name().then_some("name");
            return Err(unknown(&name.object, member, own.into_iter().chain(kind.columns().iter().copied())));
        };
        row.values[column] = match (kind, kind.columns()[column]) {
            (VariableKind::Uniform | VariableKind::Attribute, "type") => variable_type(value)?,
            (VariableKind::Sampler, "type") => sampler_type(value)?,
            (VariableKind::InitialValue, "x" | "y" | "z" | "w") => match unquoted(value).parse::<f32>() {
                Ok(v) => v.to_bits(),
                Err(_) => return Err(format!("`{value}` is no number").into()),
            },
            _ => number(value, 32)?,
        };
        Ok(())
    }

    /// Rows are numbered from 0 without gaps. Puts them in order.
    fn missing_rows(&mut self) -> Vec<Diagnostic> {
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_by_key(|&i| self.rows[i].1);
        self.out.variables = order.iter().map(|&i| self.out.variables[i].clone()).collect();
        let mut wrong = Vec::new();
        for (object, kind, _) in TABLES {
            let mut indices: Vec<u32> = self.rows.iter().filter(|r| r.0 == *kind).map(|r| r.1).collect();
            indices.sort_unstable();
            if let Some((expected, _)) = (0u32..).zip(&indices).find(|(expected, index)| expected != *index) {
                wrong.push(Diagnostic::error(RULE, format!("{object} has no row {expected}, and rows behind it")));
            }
        }
        let unnamed = self.out.variables.iter().find(|v| v.kind.has_name() && v.name.is_empty());
        wrong.extend(unnamed.map(|v| Diagnostic::error(RULE, format!("a {} has no name", v.kind.name()))));
        wrong
    }

    /// Registers set beyond the count.
    fn counts(&self) -> Vec<Diagnostic> {
        let mut wrong = Vec::new();
        for &(first, count) in &self.out.counts {
            let Some((row, _)) = registers::at(first) else { continue };
            let beyond = first + count * 4..first + row.count * 4;
            if let Some(lost) = self.out.registers.iter().find(|r| beyond.contains(&r.0)) {
                let index = (lost.0 - first) / 4;
                let message = format!("NUM_{} is {count}, and {}[{index}] is set", row.name, row.name);
                wrong.push(Diagnostic::error(RULE, message));
            }
        }
        wrong
    }
}

/// The name that a word of a header without a register has in settings.
pub(super) fn setting_name(word: &str) -> String {
    word.replace(' ', "_").to_ascii_uppercase()
}

fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|v| v.strip_suffix('"')).unwrap_or(value)
}

/// A number that fits into this number of bits: decimal, hexadecimal, or negative in all 32.
fn number(value: &str, bits: u32) -> Result<u32, Problem> {
    let text = unquoted(value);
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let parsed = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u32::from_str_radix(hex, 16),
        None => digits.parse(),
    };
    let most = u32::MAX >> (32 - bits);
    match parsed {
        Ok(n) if !negative && n <= most => Ok(n),
        Ok(n) if negative && bits == 32 && n <= 1 << 31 => Ok(n.wrapping_neg()),
        _ => Err(format!("`{value}` is no number from 0 to {most}").into()),
    }
}

/// One of `words`, by its place, or a number.
fn word_or_number(value: &str, words: &[&str], bits: u32) -> Result<u32, Problem> {
    let text = unquoted(value);
    if let Some(at) = words.iter().position(|w| w.eq_ignore_ascii_case(text)) {
        return Ok(at as u32);
    }
    number(value, bits).map_err(|problem| {
        let help = format!("there are {}", words.join(", "));
        Problem { help: Some(help), ..problem }
    })
}

/// A field of a register, or one bit of a field that has a bit for each thing: `RT0_ENABLE` is bit 0 of `RT_ENABLE`,
/// `CLIP_DIST_ENA_3` bit 3 of `CLIP_DIST_ENA`. The mask and the bits within the register.
fn field(row: &Register, member: &str, value: &str) -> Result<(u32, u32), Problem> {
    let fields = row.format.fields;
    let named = |name: &str| fields.iter().find(|f| f.name == name);
    let other = FIELD_NAMES.iter().find(|n| n.0 == row.name && n.1 == member).map_or(member, |n| n.2);
    if let Some(f) = named(other) {
        return Ok((f.mask(), field_value(f, value)? << f.lsb));
    }
    let digit = member.char_indices().find(|(_, c)| c.is_ascii_digit());
    if let Some((at, digit)) = digit {
        let before = member[..at].strip_suffix('_').unwrap_or(&member[..at]);
        let bit = digit.to_digit(10).unwrap_or(0);
        if let Some(f) = named(&format!("{before}{}", &member[at + 1..])).filter(|f| bit < f.width() && f.width() > 1) {
            let mask = 1 << (f.lsb + bit);
            return Ok((mask, if word_or_number(value, &["false", "true"], 1)? == 0 { 0 } else { mask }));
        }
    }
    Err(unknown(row.name, member, fields.iter().map(|f| f.name)))
}

fn field_value(f: &Field, value: &str) -> Result<u32, Problem> {
    if let Some((_, words)) = FIELD_WORDS.iter().find(|w| w.0 == f.name) {
        return word_or_number(value, words, f.width());
    }
    match unquoted(value).to_ascii_lowercase().as_str() {
        "false" => Ok(0),
        // A field that has a bit for each channel: all of them.
        "true" => Ok(f.mask() >> f.lsb),
        _ => number(value, f.width()),
    }
}

/// A type by its name here, or as the console's tools write it: `Float4`, `Int2`, `Matrix4x4`, `mat4`.
fn variable_type(value: &str) -> Result<u32, Problem> {
    let text = unquoted(value).to_ascii_lowercase();
    let long = ["float", "int", "uint", "bool", "double"].iter().zip(["vec", "ivec", "uvec", "bvec", "dvec"]);
    let vector = long.filter_map(|(word, short)| Some(format!("{short}{}", text.strip_prefix(word)?)));
    let size = text.strip_prefix("matrix").or_else(|| text.strip_prefix("mat")).or_else(|| text.strip_prefix("float"));
    let matrix = size.map(|size| if size.len() == 1 { format!("mat{size}x{size}") } else { format!("mat{size}") });
    let names: Vec<String> = [text.clone()].into_iter().chain(vector).chain(matrix).collect();
    match VariableType::ALL.iter().find(|t| names.iter().any(|n| n == t.name())) {
        Some(t) => Ok(t.code()),
        None => Err(unknown("a type", unquoted(value), VariableType::ALL.iter().map(|t| t.name()))),
    }
}

fn sampler_type(value: &str) -> Result<u32, Problem> {
    let text = unquoted(value);
    match SAMPLERS.iter().find(|s| s.0.eq_ignore_ascii_case(text)) {
        Some(s) => Ok(s.1),
        None => Err(unknown("a sampler's type", text, SAMPLERS.iter().map(|s| s.0))),
    }
}
