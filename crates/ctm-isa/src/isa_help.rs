//! The manual on the command line: the meaning of words, fields, opcodes and field values, printed from the tables.
//!
//! [`Isa`] holds the tables of one instruction set; [`Isa::find`] gives [`Topic`]s as data (for JSON and editors) and
//! [`Isa::describe`] the same as text. Nothing here knows a bit position or an opcode: a new row of a table is found at once.
//!
//! ```
//! let text = ctm_isa::isa_help::describe_x1k("rcp").unwrap();
//! assert!(text.contains("1 / A"));
//! assert!(ctm_isa::isa_help::describe_x1k("no such thing").is_none());
//! ```

mod page;

use crate::suggest::distance;
use crate::table::{Field, FieldValue as _, Value, WordFormat};
use crate::{pvs, r700, x1k};
pub use page::draw;
use page::{LETTERS, entry, heading, line, one_line, range};

/// A further fact about an opcode: label and text, such as `formula` and `1 / A`.
pub type Column = (&'static str, String);

/// A word of an instruction set and the instruction types that use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Name, fields, reserved ranges.
    pub format: WordFormat,
    /// Instruction types by their manual names; empty when the word's own name says it.
    pub used_by: Vec<&'static str>,
}

impl Word {
    /// The place of the word: `dword 2 of FC`.
    #[must_use]
    pub fn place(&self) -> String {
        let of = if self.used_by.is_empty() { String::new() } else { format!(" of {}", self.used_by.join(", ")) };
        format!("dword {}{of}", self.format.dword)
    }
}

/// A field and its word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordField {
    /// The word.
    pub word: Word,
    /// The field.
    pub field: Field,
}

impl WordField {
    /// `bits 3:0 of ALU_ALPHA_INST (dword 4 of ALU, OUTPUT)`.
    #[must_use]
    pub fn text(&self) -> String {
        let bits = if self.field.width() == 1 { "bit" } else { "bits" };
        format!("{bits} {} of {} ({})", range(&self.field), self.word.format.name, self.word.place())
    }
}

/// Something that the manual explains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Topic {
    /// A word, with all its fields.
    Word(Word),
    /// A field.
    Field {
        /// Where it is.
        place: WordField,
        /// Its named values: those of the table, and those that depend on the kind of program.
        values: Vec<Value>,
        /// Further facts.
        notes: Vec<Column>,
    },
    /// A named value, or an opcode.
    Value {
        /// The row.
        value: Value,
        /// Every field that can hold it.
        places: Vec<WordField>,
        /// The further columns of an opcode.
        columns: Vec<Column>,
    },
}

impl Topic {
    /// The manual's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Word(word) => word.format.name,
            Self::Field { place, .. } => place.field.name,
            Self::Value { value, .. } => value.name,
        }
    }

    /// `word`, `field` or `value`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Word(_) => "word",
            Self::Field { .. } => "field",
            Self::Value { .. } => "value",
        }
    }

    /// The manual's section.
    #[must_use]
    pub const fn cite(&self) -> &'static str {
        match self {
            Self::Word(word) => word.format.cite,
            Self::Field { place, .. } => place.word.format.cite,
            Self::Value { value, .. } => value.cite,
        }
    }

    /// Its meaning, on one line.
    #[must_use]
    pub fn doc(&self) -> String {
        one_line(match self {
            Self::Word(word) => word.format.doc,
            Self::Field { place, .. } => place.field.doc,
            Self::Value { value, .. } => value.doc,
        })
    }
}

/// Values of a field whose meaning depends on more than the field.
struct Further {
    field: &'static str,
    /// The width of the field, where words have fields of that name of several widths.
    width: Option<u32>,
    values: &'static [Value],
}

/// The tables of one instruction set.
pub struct Isa {
    /// `X1K`, `R700` or `PVS`.
    pub name: &'static str,
    words: Vec<Word>,
    further: Vec<Further>,
    /// Fields that hold opcodes, in the order of the listing.
    opcode_fields: &'static [&'static str],
    columns: fn(&WordFormat, &Field, &Value) -> Vec<Column>,
    notes: fn(&WordFormat, &Field) -> Vec<Column>,
    /// How the manual's prose writes values: prefix, and the fields it belongs to (see [`Isa::find`]).
    prefixes: &'static [(&'static str, &'static str)],
    /// The meaning of words of the assembly.
    meaning: Meaning,
}

/// The meaning of a word of an assembly, in words and as names of the tables.
type Meaning = fn(&str) -> Option<(&'static str, Vec<&'static str>)>;

impl Isa {
    /// The X1K tables.
    #[must_use]
    pub fn x1k() -> Self {
        use x1k::ops::{CompareOp, RenderTarget, UmrtTarget};
        let names = |kinds: &[x1k::ops::InstType]| kinds.iter().map(|kind| kind.name()).collect();
        let words =
            x1k::formats::WORDS.iter().map(|(kinds, format)| Word { format: *format, used_by: names(kinds) }).collect();
        let target = |field| {
            [RenderTarget::VALUES, UmrtTarget::VALUES, CompareOp::VALUES].map(|values| Further {
                field,
                width: None,
                values,
            })
        };
        Self {
            name: "X1K",
            words,
            further: target("RGB_TARGET").into_iter().chain(target("ALPHA_TARGET")).collect(),
            opcode_fields: &["RGB_OP", "ALPHA_OP", "INST", "OP"],
            columns: x1k_columns,
            notes: x1k_notes,
            prefixes: &[
                ("OP_RGB_", "RGB_OP"),
                ("OP_ALPHA_", "ALPHA_OP"),
                ("INST_TYPE_", "TYPE"),
                ("TEX_INST_", "INST"),
                ("FC_OP_", "OP"),
                ("FC_A_OP_", "A_OP"),
                ("FC_B_OP_", "B_OP"),
                ("SRCP_OP_", "SRCP_OP"),
                ("IMOD_", "IMOD"),
                ("OMOD_", "OMOD"),
                ("RNDR_TGT_", "TARGET"),
                ("PRED_OP_", "TARGET"),
                ("ALU_RESULT_SEL_", "ALU_RESULT_SEL"),
                ("ALU_RESULT_OP_", "ALU_RESULT_OP"),
            ],
            meaning: x1k::text::meaning,
        }
    }

    /// The R700 tables.
    #[must_use]
    pub fn r700() -> Self {
        Self {
            name: "R700",
            words: r700::formats::WORDS.iter().map(|format| Word { format: *format, used_by: Vec::new() }).collect(),
            further: Vec::new(),
            opcode_fields: &["CF_INST", "ALU_INST", "TEX_INST", "VTX_INST", "MEM_INST"],
            columns: r700_columns,
            notes: |_, _| Vec::new(),
            prefixes: &[
                ("CF_INST_", "CF_INST"),
                ("OP2_INST_", "ALU_INST"),
                ("OP3_INST_", "ALU_INST"),
                ("TEX_INST_", "TEX_INST"),
                ("VTX_INST_", "VTX_INST"),
            ],
            meaning: r700::text::meaning,
        }
    }

    /// The tables of vertex programs.
    #[must_use]
    pub fn pvs() -> Self {
        use pvs::ops::{MacroOp, MathOp, VectorOp};
        let words = pvs::formats::WORDS.iter().map(|format| Word { format: **format, used_by: Vec::new() });
        let registers = pvs::formats::REGISTERS.iter().map(|format| Word { format: **format, used_by: Vec::new() });
        let opcode = |values| Further {
            field: "PVS_DST_OPCODE",
            width: pvs::formats::OpDst::FORMAT.field("PVS_DST_OPCODE").map(Field::width),
            values,
        };
        Self {
            name: "PVS",
            words: words.chain(registers).collect(),
            further: [VectorOp::VALUES, MacroOp::VALUES, MathOp::VALUES].map(opcode).into(),
            opcode_fields: &["PVS_DST_OPCODE"],
            columns: pvs_columns,
            notes: |_, _| Vec::new(),
            prefixes: &[],
            meaning: pvs::text::meaning,
        }
    }

    fn places(&self) -> impl Iterator<Item = WordField> + '_ {
        self.words
            .iter()
            .flat_map(|word| word.format.fields.iter().map(|field| WordField { word: word.clone(), field: *field }))
    }

    fn values_of(&self, field: &Field) -> Vec<Value> {
        let further = self
            .further
            .iter()
            .filter(|further| further.field == field.name && further.width.is_none_or(|width| width == field.width()));
        field.values.iter().chain(further.flat_map(|further| further.values)).copied().collect()
    }

    /// Everything that `query` names: a word (`FC_INST`), a field (`JUMP_FUNC`, `ALU_RGB_ADDR.ADDR0`), a value or an opcode
    /// (`MAD`, `ALPHA_OP.MAD`, `OP_ALPHA_MAD`), in any case. Empty when nothing has that name.
    #[must_use]
    pub fn find(&self, query: &str) -> Vec<Topic> {
        let query = query.trim().to_ascii_uppercase();
        let exact = self.find_in(None, &query);
        if !exact.is_empty() {
            return exact;
        }
        let parts: Vec<&str> = query.split(['.', '=', ' ']).filter(|part| !part.is_empty()).collect();
        match parts[..] {
            [name] => {
                // `OP_ALPHA_RCP`: the manual's prose puts the field before the value.
                let prefixed = self.prefixes.iter().filter_map(|&(prefix, field)| {
                    let value = name.strip_prefix(prefix)?;
                    let mut topics = self.find_in(Some(field), value);
                    topics.retain(|topic| matches!(topic, Topic::Value { .. }));
                    Some(topics)
                });
                prefixed.flatten().collect()
            }
            [owner, name] => self.find_in(Some(owner), name),
            _ => Vec::new(),
        }
    }

    /// `owner` is a word, a field, or else a part of the names of fields.
    fn find_in(&self, owner: Option<&str>, name: &str) -> Vec<Topic> {
        let mut topics = Vec::new();
        let exact = self.places().any(|place| Some(place.field.name) == owner);
        if owner.is_none() {
            topics.extend(self.words.iter().filter(|word| same(word.format.name, name)).cloned().map(Topic::Word));
        }
        for place in self.places() {
            if same(place.field.name, name) && owner.is_none_or(|owner| same(place.word.format.name, owner)) {
                let values = self.values_of(&place.field);
                let notes = (self.notes)(&place.word.format, &place.field);
                topics.push(Topic::Field { place, values, notes });
            }
        }
        for place in self.places() {
            let owned = owner.is_none_or(|owner| {
                let (word, field) = (place.word.format.name, place.field.name);
                word == owner || if exact { field == owner } else { field.contains(owner) }
            });
            for value in self.values_of(&place.field).into_iter().filter(|_| owned) {
                let columns = (self.columns)(&place.word.format, &place.field, &value);
                let listed = columns.iter().any(|(label, text)| *label == "listing" && same(text, name));
                if !same(value.name, name) && !listed {
                    continue;
                }
                let known = topics.iter_mut().find_map(|topic| match topic {
                    Topic::Value { value: v, places, columns: c } if *v == value && *c == columns => Some(places),
                    Topic::Word(_) | Topic::Field { .. } | Topic::Value { .. } => None,
                });
                match known {
                    Some(places) => places.push(place.clone()),
                    None => topics.push(Topic::Value { value, places: vec![place.clone()], columns }),
                }
            }
        }
        topics
    }

    /// Every name that [`Self::find`] knows, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.words.iter().map(|word| word.format.name).collect();
        for place in self.places() {
            names.push(place.field.name);
            names.extend(self.values_of(&place.field).iter().map(|value| value.name));
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The names nearest to one that nothing has; at most five, the nearest first.
    #[must_use]
    pub fn suggest(&self, query: &str) -> Vec<&'static str> {
        let query = query.trim().to_ascii_uppercase();
        let allowed = 1 + query.chars().count() / 4;
        let mut near: Vec<(usize, &str)> = self
            .names()
            .into_iter()
            .filter_map(|name| {
                let contains = query.len() >= 3 && (name.contains(&query) || query.contains(name) && name.len() >= 3);
                let d = distance(&query, name);
                (d <= allowed || contains).then_some((d, name))
            })
            .collect();
        near.sort_unstable();
        near.into_iter().take(5).map(|(_, name)| name).collect()
    }

    /// As [`Self::find`]; a word of the assembly that is no name of the tables gives its meaning.
    #[must_use]
    pub fn topics(&self, query: &str) -> Vec<Topic> {
        let topics = self.find(query);
        if !topics.is_empty() {
            return topics;
        }
        let meaning = (self.meaning)(&query.trim().to_ascii_lowercase());
        meaning.into_iter().flat_map(|(_, names)| names).flat_map(|name| self.find(name)).collect()
    }

    /// The item that `query` names, as text; `None` when nothing has that name ([`Self::suggest`] then helps).
    #[must_use]
    pub fn describe(&self, query: &str) -> Option<String> {
        let topics = self.topics(query);
        let word = query.trim().to_ascii_lowercase();
        let meaning = (self.meaning)(&word).filter(|_| self.find(query).is_empty());
        let mut texts: Vec<String> =
            meaning.iter().map(|(says, _)| format!("`{word}` in assembly: {says}\n")).collect();
        texts.extend(topics.iter().map(|topic| self.text(topic)));
        (!topics.is_empty()).then(|| texts.join("\n"))
    }

    fn text(&self, topic: &Topic) -> String {
        let mut out = String::new();
        match topic {
            Topic::Word(word) => {
                heading(&mut out, &format!("{}, {}", word.format.name, word.place()), topic.cite());
                line(&mut out, &topic.doc());
                out.push('\n');
                out.push_str(&draw(&word.format));
                out.push('\n');
                for (letter, field) in LETTERS.chars().zip(word.format.fields) {
                    let values = self.values_of(field);
                    let label = format!("{letter}  {:<6} {:<18} ", range(field), field.name);
                    entry(&mut out, &label, &one_line(field.doc));
                    if !values.is_empty() {
                        let list: Vec<String> = values.iter().map(|v| format!("{} {}", v.code, v.name)).collect();
                        entry(&mut out, &" ".repeat(label.len()), &list.join(", "));
                    }
                }
                if !word.format.reserved.is_empty() {
                    line(&mut out, ".  reserved");
                }
            }
            Topic::Field { place, values, notes } => {
                heading(&mut out, &format!("{}, {}", place.field.name, place.text()), topic.cite());
                line(&mut out, &topic.doc());
                for (label, text) in notes {
                    entry(&mut out, &format!("{label:<12}"), text);
                }
                if values.is_empty() {
                    let largest = place.field.extract(u32::MAX);
                    entry(&mut out, &format!("{:<12}", "values"), &format!("0 to {largest}"));
                }
                let width = values.iter().map(|value| value.name.len()).max().unwrap_or_default();
                for value in values {
                    entry(&mut out, &format!("{:>3}  {:<width$}  ", value.code, value.name), &one_line(value.doc));
                }
            }
            Topic::Value { value, places, columns } => {
                let mut fields: Vec<&str> = places.iter().map(|place| place.field.name).collect();
                fields.dedup();
                let title = match fields[..] {
                    [..] if fields.len() > 3 => format!("{} = {} in {} fields", value.name, value.code, fields.len()),
                    _ => format!("{} = {} in {}", value.name, value.code, fields.join(", ")),
                };
                heading(&mut out, &title, topic.cite());
                line(&mut out, &topic.doc());
                for (label, text) in columns {
                    entry(&mut out, &format!("{label:<12}"), text);
                }
                if let [place] = &places[..] {
                    entry(&mut out, &format!("{:<12}", "encoded"), &place.text());
                } else {
                    for same in places.chunk_by(|a, b| a.word == b.word) {
                        let fields: Vec<String> =
                            same.iter().map(|place| format!("{} {}", place.field.name, range(&place.field))).collect();
                        let word = &same[0].word;
                        let text = format!("{} ({}): {}", word.format.name, word.place(), fields.join(", "));
                        entry(&mut out, &format!("{:<12}", "encoded"), &text);
                    }
                }
            }
        }
        out
    }

    /// Every word and every opcode, as text.
    #[must_use]
    pub fn list(&self) -> String {
        let mut out = String::new();
        heading(&mut out, &format!("{} words", self.name), "");
        for word in &self.words {
            entry(
                &mut out,
                &format!("{:<28}", word.format.name),
                &format!("{}: {}", word.place(), one_line(word.format.doc)),
            );
        }
        for &name in self.opcode_fields {
            let mut seen: Vec<Vec<Value>> = Vec::new();
            for place in self.places().filter(|place| place.field.name == name) {
                let values = self.values_of(&place.field);
                if values.is_empty() || seen.contains(&values) {
                    continue;
                }
                out.push('\n');
                heading(&mut out, &format!("{} of {}", place.field.name, place.word.format.name), "");
                for value in &values {
                    let columns = (self.columns)(&place.word.format, &place.field, value);
                    let formula = columns.iter().find(|(label, text)| *label == "formula" && !text.is_empty());
                    let text = formula.map_or_else(|| one_line(value.doc), |(_, text)| text.clone());
                    entry(&mut out, &format!("{:>3}  {:<22}", value.code, value.name), &text);
                }
                seen.push(values);
            }
        }
        out
    }
}

/// The meaning of `name` on the X1K, as text; `None` when nothing has that name.
#[must_use]
pub fn describe_x1k(name: &str) -> Option<String> {
    Isa::x1k().describe(name)
}

/// Every word and opcode of the X1K, as text.
#[must_use]
pub fn list_x1k() -> String {
    Isa::x1k().list()
}

/// The meaning of `name` on the R700, as text; `None` when nothing has that name.
#[must_use]
pub fn describe_r700(name: &str) -> Option<String> {
    Isa::r700().describe(name)
}

/// Every word and opcode of the R700, as text.
#[must_use]
pub fn list_r700() -> String {
    Isa::r700().list()
}

/// Names are compared in any case: the manuals have `JUMP_FUNC` as well as `AR.x`.
fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

fn x1k_columns(_: &WordFormat, field: &Field, value: &Value) -> Vec<Column> {
    use x1k::ops::{AlphaOp, RgbOp, TexOp, TexReads};
    let (info, partner) = match field.name {
        "RGB_OP" => {
            let Some(op) = RgbOp::from_code(value.code) else { return Vec::new() };
            let partner = match op {
                RgbOp::Sop => {
                    let names = AlphaOp::ALL.iter().filter(|op| op.is_transcendental()).map(|op| op.name());
                    Some(format!("the alpha unit's operation must be {}", one_of(names.collect())))
                }
                _ if op.is_dot_product() => Some("ALPHA_DP copies the result to alpha".to_owned()),
                _ => None,
            };
            (op.info(), partner)
        }
        "ALPHA_OP" => {
            let Some(op) = AlphaOp::from_code(value.code) else { return Vec::new() };
            let partner = match op {
                AlphaOp::Dp => {
                    let names = RgbOp::ALL.iter().filter(|op| op.is_dot_product()).map(|op| op.name());
                    Some(format!("the RGB unit's operation must be {}", one_of(names.collect())))
                }
                _ if op.is_transcendental() => Some("RGB_SOP copies the result to red, green and blue".to_owned()),
                _ => None,
            };
            (op.info(), partner)
        }
        "INST" => {
            let reads = TexOp::from_code(value.code).map(|op| match op.info() {
                TexReads::Nothing => "nothing",
                TexReads::St => "S and T of the source",
                TexReads::Stq => "S, T and Q of the source",
                TexReads::Masked => "the channels of the source that the write mask names; swizzles are ignored",
                TexReads::StGradients => "S and T of the source, and the gradients of TEX_ADDR_DXDY",
            });
            return reads.map(|text| ("reads", text.to_owned())).into_iter().collect();
        }
        _ => return Vec::new(),
    };
    let operands = ["none", "A", "A, B", "A, B, C"][usize::from(info.operands().min(3))].to_owned();
    let omod =
        if info.omod_disabled() { "any modifier, and OMOD_DISABLED" } else { "any modifier, but not OMOD_DISABLED" };
    let mut columns =
        vec![("formula", info.formula.to_owned()), ("operands", operands), ("modifiers", omod.to_owned())];
    columns.extend(partner.map(|text| ("pairing", text)));
    columns
}

/// `A, B or C`.
fn one_of(names: Vec<&str>) -> String {
    match names.as_slice() {
        [rest @ .., last] if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        names => names.concat(),
    }
}

fn x1k_notes(word: &WordFormat, field: &Field) -> Vec<Column> {
    use x1k::formats::{CmnInst, cmn_field_is_effective};
    use x1k::ops::InstType;
    if word.name != CmnInst::FORMAT.name {
        return Vec::new();
    }
    let kinds = InstType::ALL.iter().filter(|&&kind| cmn_field_is_effective(field.name, kind)).map(|kind| kind.name());
    vec![("effective", kinds.collect::<Vec<_>>().join(", "))]
}

fn pvs_columns(_: &WordFormat, field: &Field, value: &Value) -> Vec<Column> {
    use pvs::ops::{Class, Op, ReadComponents};
    if field.name != "PVS_DST_OPCODE" {
        return Vec::new();
    }
    let Some(op) = Op::all().find(|op| op.name() == value.name) else { return Vec::new() };
    let info = op.info();
    let sources: Vec<&str> = ["A", "B", "C"]
        .into_iter()
        .zip(info.reads)
        .filter(|(_, r)| *r != ReadComponents::Nothing)
        .map(|(name, _)| name)
        .collect();
    let operands = if sources.is_empty() { "none".to_owned() } else { sources.join(", ") };
    let mut columns =
        vec![("formula", info.formula.to_owned()), ("operands", operands), ("mnemonic", info.mnemonic.to_owned())];
    columns.retain(|(_, text)| !text.is_empty());
    columns.push((
        "engine",
        match op {
            Op::Vector(_) => "vector",
            Op::Macro(_) => "vector, two clocks (PVS_DST_MACRO_INST)",
            Op::Math(_) => "math (PVS_DST_MATH_INST)",
        }
        .to_owned(),
    ));
    match info.class {
        Class::Predicate => columns.push(("also", "sets the predicate".to_owned())),
        Class::Address => columns.push(("also", "is an integer in A0".to_owned())),
        Class::Conditional => columns.push(("also", "writes some of the components".to_owned())),
        Class::Nothing | Class::Plain => {}
    }
    columns
}

fn r700_columns(word: &WordFormat, field: &Field, value: &Value) -> Vec<Column> {
    use r700::ops::{AluInfo, Available, Op2, Op3, SideEffect, Slots, Units};
    if field.name != "ALU_INST" {
        return Vec::new();
    }
    let info: Option<AluInfo> = if word.name.contains("OP3") {
        Op3::from_code(value.code).map(Op3::info)
    } else {
        Op2::from_code(value.code).map(Op2::info)
    };
    let Some(info) = info else { return Vec::new() };
    let slots = match (info.slots, info.units) {
        (Slots::Reduction, _) => "x, y, z and w together",
        (Slots::Pair64, _) => "x and y, or z and w: 64 bits",
        (Slots::Quad64, _) => "x, y, z and w: 64 bits",
        (Slots::One, Units::Any) => "x, y, z, w or t",
        (Slots::One, Units::Vector) => "x, y, z or w",
        (Slots::One, Units::Trans) => "t",
    };
    let formula = (!info.formula.is_empty()).then(|| ("formula", info.formula.to_owned()));
    let mut columns: Vec<Column> = formula.into_iter().collect();
    columns.extend([("operands", info.operands.to_string()), ("slots", slots.to_owned())]);
    match info.kind {
        SideEffect::Plain => {}
        SideEffect::PredSet => columns.push(("also", "sets the predicate".to_owned())),
        SideEffect::Kill => columns.push(("also", "kills pixels".to_owned())),
        SideEffect::Mova => columns.push(("also", "writes the address register".to_owned())),
    }
    match info.available {
        Available::All => {}
        Available::Doubles => columns.push(("chips", "those with double precision: RV770, RV790".to_owned())),
        Available::R600Only => columns.push(("chips", "none of this family".to_owned())),
    }
    columns.extend(info.listing.map(|name| ("listing", name.to_owned())));
    let op = if word.name.contains("OP3") {
        Op3::from_code(value.code).map(r700::ops::AluOp::Op3)
    } else {
        Op2::from_code(value.code).map(r700::ops::AluOp::Op2)
    };
    if let Some(op) = op {
        use r700::ops::notes;
        columns.extend(notes::special_values(op).into_iter().map(|text| ("special", text.to_owned())));
        columns.extend(notes::open_questions(op).into_iter().map(|text| ("open", text.to_owned())));
        columns.extend(notes::reference_function(op).map(|name| ("reference", format!("ctm_exec::r700::{name}"))));
    }
    columns
}
