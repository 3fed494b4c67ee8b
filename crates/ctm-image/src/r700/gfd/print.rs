//! A header block as settings: the inverse of [`super::settings`].
//!
//! Only differences from the registers derived from the program's words are printed. Whether the settings give the block back, byte for
//! byte, is for the caller to try: names may lie elsewhere, or words may have no setting.

use super::header::{HeaderLayout, VariableKind, VariableType, WordMeaning, unset};
use super::settings::{SAMPLERS, TABLES, setting_name};
use super::{GfdBlock, NewVariable, OtherWord, read_variables};
use crate::error::ImageError;
use crate::r700::RegisterValue;
use crate::r700::registers::Register;

/// The contents of a header block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// Every register with its address, those of lists beyond their count included.
    pub registers: Vec<RegisterValue>,
    /// How many registers of a list count, by the address of the first.
    pub counts: Vec<(u32, u32)>,
    /// How uniforms reach the program.
    pub mode: u32,
    /// The variables of all tables.
    pub variables: Vec<NewVariable>,
    /// Words without a register that are not 0.
    pub words: Vec<OtherWord>,
}

impl Described {
    /// Of a block with this layout.
    ///
    /// # Errors
    /// The block is too short for its contents, or has an offset beyond its end.
    pub fn of(block: &GfdBlock, layout: &HeaderLayout) -> Result<Self, ImageError> {
        let input = block.input();
        let mut out = Self::default();
        let mut count = None;
        let mut others: Vec<&str> = Vec::new();
        for (at, part) in layout.words() {
            let value = input.u32("a word of the header", at).map_err(|e| block.place(e))?;
            match part {
                WordMeaning::Count => count = Some(value),
                WordMeaning::Register(row, index) => {
                    if index == 0 && row.count > 1 {
                        out.counts.extend(count.take().map(|count| (row.address, count)));
                    }
                    out.registers.push(RegisterValue { address: row.address + index * 4, value });
                }
                WordMeaning::Mode => out.mode = value,
                WordMeaning::Other(name) => {
                    let index = others.iter().filter(|other| **other == name).count() as u32;
                    others.push(name);
                    if value != 0 {
                        out.words.push(OtherWord { name, index, value });
                    }
                }
                WordMeaning::ProgramSize | WordMeaning::CopySize | WordMeaning::Pointer | WordMeaning::Table(_) => {}
            }
        }
        let variables = read_variables(block, layout).map_err(|e| block.place(e))?;
        let new = |v: super::Variable| NewVariable { kind: v.kind, name: v.name, values: v.values };
        out.variables = variables.into_iter().map(new).collect();
        Ok(out)
    }

    /// The settings for differences from `base`, the registers derived from the program; `None` for values without a setting.
    #[must_use]
    pub fn settings(&self, layout: &HeaderLayout, base: &[RegisterValue]) -> Option<Vec<(String, String)>> {
        let mut out = Vec::new();
        if self.mode != 0 || !base.is_empty() {
            out.push(("MODE".to_owned(), self.mode.to_string()));
        }
        let value = |list: &[RegisterValue], address| list.iter().find(|r| r.address == address).map(|r| r.value);
        for (_, part) in layout.words() {
            let WordMeaning::Register(row, 0) = part else { continue };
            let addresses = || (0..row.count).map(|i| row.address + i * 4);
            if row.count == 1 {
                let wanted = value(&self.registers, row.address).unwrap_or(0);
                let before = value(base, row.address).unwrap_or_else(|| unset(row));
                fields(row, None, before, wanted, &mut out);
                continue;
            }
            let count = self.counts.iter().find(|c| c.0 == row.address).map_or(0, |c| c.1);
            let given =
                addresses().zip(1..).filter(|(a, _)| value(base, *a).is_some()).map(|(_, n)| n).last().unwrap_or(0);
            let same = addresses().all(|a| value(&self.registers, a) == value(base, a).or(Some(unset(row))));
            if given == count && same {
                continue;
            }
            out.push((format!("NUM_{}", row.name), count.to_string()));
            for (index, address) in (0..count.min(row.count)).zip(addresses()) {
                let wanted = value(&self.registers, address).unwrap_or(0);
                fields(row, Some(index), unset(row), wanted, &mut out);
            }
        }
        for &(object, kind, defaults) in TABLES {
            for (index, variable) in self.variables.iter().filter(|v| v.kind == kind).enumerate() {
                let row = format!("{object}[{index}]");
                if kind.has_name() {
                    // A setting ends with its line.
                    if variable.name.is_empty() || variable.name.contains(['\n', '\r']) {
                        return None;
                    }
                    out.push((format!("{row}.name"), format!("\"{}\"", variable.name)));
                }
                for ((column, &value), default) in kind.columns().iter().zip(&variable.values).zip(defaults) {
                    let text = column_text(kind, column, value)?;
                    if *column == "type" || value != default.unwrap_or(index as u32) {
                        out.push((format!("{row}.{column}"), text));
                    }
                }
            }
        }
        for word in &self.words {
            let several = layout.words().filter(|(_, part)| *part == WordMeaning::Other(word.name)).count() > 1;
            let index = if several { format!("[{}]", word.index) } else { String::new() };
            out.push((format!("{}{index}", setting_name(word.name)), word.value.to_string()));
        }
        Some(out)
    }
}

/// Says the fields of a register that differ; the whole, where bits differ that belong to none.
fn fields(row: &Register, index: Option<u32>, before: u32, wanted: u32, out: &mut Vec<(String, String)>) {
    let name = index.map_or_else(|| row.name.to_owned(), |i| format!("{}[{i}]", row.name));
    let known = row.format.fields.iter().fold(0, |bits, f| bits | f.mask());
    if (before ^ wanted) & !known != 0 {
        out.push((name, format!("0x{wanted:08X}")));
        return;
    }
    let plain = row.format.fields.len() == 1 && known == u32::MAX;
    for field in row.format.fields.iter().filter(|f| (before ^ wanted) & f.mask() != 0) {
        let value = field.extract(wanted);
        out.push(if plain {
            (name.clone(), value.to_string())
        } else {
            (format!("{name}.{}", field.name), value.to_string())
        });
    }
}

/// A column of a variable as text, as settings are read.
fn column_text(kind: VariableKind, column: &str, value: u32) -> Option<String> {
    Some(match (kind, column) {
        (VariableKind::Uniform | VariableKind::Attribute, "type") => {
            format!("\"{}\"", VariableType::from_code(value)?.name())
        }
        (VariableKind::Sampler, "type") => format!("\"{}\"", SAMPLERS.iter().find(|s| s.1 == value)?.0),
        (VariableKind::InitialValue, "x" | "y" | "z" | "w") => format!("{:?}", f32::from_bits(value)),
        _ if value > i32::MAX as u32 => value.cast_signed().to_string(),
        _ => value.to_string(),
    })
}
