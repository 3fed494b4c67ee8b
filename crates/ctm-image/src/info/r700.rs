//! Containers of R700 programs, part by part.

use super::{InfoValue, ctm_elf, word_fields};
use crate::elf::{Elf, ehdr};
use crate::error::{ImageError, Remark};
use crate::r700::gfd::header::{VariableKind, VariableType};
use crate::r700::gfd::{BLOCK_FIELDS, FILE_FIELDS, Gfd, Variable};
use crate::r700::{ExtractedProgram, RegisterValue, ShaderStage, cal, llvm_elf, registers};
use ctm_isa::r700::inst::{self, Cf, ClauseBody};
use std::collections::BTreeMap;

/// A `Gfx2` file.
pub fn gfd(bytes: &[u8]) -> Result<(InfoValue, Vec<Remark>), ImageError> {
    let gfd = Gfd::read(bytes)?;
    let header = FILE_FIELDS.iter().zip(&gfd.header).skip(1);
    let header = header.map(|(name, &word)| ((*name).to_owned(), InfoValue::Number(word.into()))).collect();
    let blocks = gfd.blocks.iter().map(|block| {
        let kind = block.kind().map_or_else(|| block.header[4].to_string(), |k| k.name().to_owned());
        let fields = BLOCK_FIELDS.iter().zip(&block.header).skip(2).filter(|(name, _)| **name != "type");
        let mut record = vec![("offset".to_owned(), InfoValue::Number(block.at)), ("type".to_owned(), kind.into())];
        record.extend(fields.map(|(name, &word)| ((*name).to_owned(), InfoValue::Number(word.into()))));
        InfoValue::Record(record)
    });
    let programs = gfd.shaders()?.into_iter().map(|shader| {
        let mut fields = code(&shader.code);
        for &kind in VariableKind::ALL {
            let rows: Vec<InfoValue> = shader.variables.iter().filter(|v| v.kind == kind).map(variable).collect();
            if !rows.is_empty() {
                fields.push((format!("{}s", kind.name()), InfoValue::List(rows)));
            }
        }
        InfoValue::Record(fields)
    });
    let contents = InfoValue::record([
        ("header", InfoValue::Record(header)),
        ("blocks", InfoValue::List(blocks.collect())),
        ("programs", InfoValue::List(programs.collect())),
        ("bytes after the end", gfd.rest.len().into()),
    ]);
    let remarks = gfd.remarks();
    Ok((contents, remarks))
}

fn variable(variable: &Variable) -> InfoValue {
    let mut fields = Vec::new();
    if variable.kind.has_name() {
        fields.push(("name".to_owned(), InfoValue::from(variable.name.as_str())));
    }
    let typed = matches!(variable.kind, VariableKind::Uniform | VariableKind::Attribute);
    for (name, &word) in variable.kind.columns().iter().zip(&variable.values) {
        let value = match *name {
            "type" if typed => VariableType::from_code(word)
                .map_or_else(|| InfoValue::Number(word.into()), |t| InfoValue::from(t.name())),
            "x" | "y" | "z" | "w" => InfoValue::Float(f32::from_bits(word)),
            // A uniform outside every block.
            "block" if word == u32::MAX => InfoValue::None,
            _ => InfoValue::Number(word.into()),
        };
        fields.push(((*name).to_owned(), value));
    }
    InfoValue::Record(fields)
}

/// A CAL image.
pub fn cal(bytes: &[u8]) -> Result<(InfoValue, Vec<Remark>), ImageError> {
    let image = cal::Image::read(bytes)?;
    let parsed = Elf::read(bytes)?;
    let encodings = image.encodings.iter().map(|encoding| {
        let machine = cal::EncodingMachine::from_code(encoding.machine).map(cal::EncodingMachine::name);
        let kind = cal::ProgramType::from_code(encoding.program_type).map(cal::ProgramType::name);
        let named = |name: Option<&str>, number: u32| name.map_or(InfoValue::Number(number.into()), InfoValue::from);
        let keys =
            encoding.program_information().filter(|(address, _)| *address >= cal::FIRST_ABI_KEY).map(|(key, value)| {
                let name = cal::AbiKey::from_code(key - cal::FIRST_ABI_KEY)
                    .map_or_else(|| format!("0x{key:08X}"), |k| k.name().to_owned());
                InfoValue::record([("name", name.into()), ("value", InfoValue::Hex(value))])
            });
        let notes = encoding.notes.iter().filter(|n| n.kind != cal::NoteKind::ProgInfo.code()).map(note);
        let symbols = encoding.symbols.iter().map(|s| {
            let kind = crate::ctm_elf::DataKind::from_code(s.kind.into());
            InfoValue::record([
                ("name", s.name.as_str().into()),
                ("type", kind.map_or(InfoValue::Number(s.kind.into()), |k| k.name().into())),
                ("value", InfoValue::Number(s.value.into())),
            ])
        });
        let mut fields = vec![
            ("machine".to_owned(), named(machine, encoding.machine)),
            ("program type".to_owned(), named(kind, encoding.program_type)),
            ("text size".to_owned(), encoding.text.len().into()),
        ];
        if let Some(program) = encoding.code() {
            fields.extend(code(&program));
        }
        fields.push(("ABI keys".to_owned(), InfoValue::List(keys.collect())));
        fields.push(("notes".to_owned(), InfoValue::List(notes.collect())));
        fields.push(("symbols".to_owned(), InfoValue::List(symbols.collect())));
        InfoValue::Record(fields)
    });
    let contents = InfoValue::record([
        ("header", ctm_elf::header(&parsed)),
        ("segments", ctm_elf::segments(&parsed)),
        ("sections", ctm_elf::sections(&parsed)),
        ("encodings", InfoValue::List(encodings.collect())),
    ]);
    Ok((contents, image.remarks))
}

fn note(note: &cal::NoteWords) -> InfoValue {
    let Some(kind) = cal::NoteKind::from_code(note.kind) else {
        let words = note.words.iter().map(|&w| InfoValue::Hex(w)).collect();
        return InfoValue::record([("type", InfoValue::Number(note.kind.into())), ("words", InfoValue::List(words))]);
    };
    let columns = kind.info();
    let rows = match columns.len() {
        1 => InfoValue::numbers(note.words.iter().copied()),
        count => InfoValue::List(
            note.words
                .chunks(count)
                .map(|row| {
                    let cells =
                        columns.iter().zip(row).map(|(name, &w)| ((*name).to_owned(), InfoValue::Number(w.into())));
                    InfoValue::Record(cells.collect())
                })
                .collect(),
        ),
    };
    InfoValue::record([("type", kind.name().into()), ("contents", rows)])
}

/// An object of LLVM's.
pub fn llvm(bytes: &[u8]) -> Result<(InfoValue, Vec<Remark>), ImageError> {
    let object = llvm_elf::Object::read(bytes)?;
    let parsed = Elf::read(bytes)?;
    let functions = object.functions.iter().map(|function| {
        let mut fields = vec![("name".to_owned(), InfoValue::from(function.name.as_str()))];
        fields.extend(code(&function.code));
        InfoValue::Record(fields)
    });
    let mut remarks = Vec::new();
    if !object.mach.is_some_and(llvm_elf::Mach::is_r700) {
        let name = object.mach.map_or("an unknown chip", llvm_elf::Mach::name);
        remarks.push(Remark {
            offset: ehdr::FLAGS.at,
            message: format!("the object is for {name}, which is not an R700 chip"),
        });
    }
    let chip = object.mach.map_or(InfoValue::None, |m| m.name().into());
    let contents = InfoValue::record([
        ("header", ctm_elf::header(&parsed)),
        ("sections", ctm_elf::sections(&parsed)),
        ("chip", chip),
        ("functions", InfoValue::List(functions.collect())),
    ]);
    Ok((contents, remarks))
}

/// Bare words, which say nothing but their instructions.
pub fn words(words: &[u32]) -> InfoValue {
    InfoValue::record([("slots", (words.len() / 2).into()), ("statistics", statistics(words))])
}

/// Counts of operations, exports, and undecodable words.
fn statistics(words: &[u32]) -> InfoValue {
    let mut operations: BTreeMap<String, usize> = BTreeMap::new();
    let (mut groups, mut alu, mut fetches, mut unreadable) = (0, 0, 0, Vec::new());
    let mut exports = Vec::new();
    let decoded = inst::decode_program(words, 0);
    for entry in &decoded.entries {
        let cf = match &entry.cf {
            Ok(cf) => cf,
            Err(error) => {
                unreadable.push(InfoValue::from(format!("slot {}: {error}", entry.addr)));
                continue;
            }
        };
        *operations.entry(format!("CF {}", cf.name())).or_default() += 1;
        if let Cf::Export(export) = cf {
            exports.push(InfoValue::from(format!("{} {}", export.kind.name(), export.word0.array_base)));
        }
        match &entry.clause {
            ClauseBody::Alu(clause) => {
                groups += clause.groups.len();
                for slot in clause.groups.iter().flat_map(|g| &g.slots) {
                    alu += 1;
                    *operations.entry(format!("ALU {}", slot.inst.op().name())).or_default() += 1;
                }
                if let Some(broken) = &clause.broken {
                    let slot = cf.clause().map_or(0, |(first, _)| first) + broken.offset;
                    unreadable.push(InfoValue::from(format!("slot {slot}: {}", broken.why)));
                }
            }
            ClauseBody::Fetch(clause) => {
                for (i, fetch) in clause.fetches.iter().enumerate() {
                    fetches += 1;
                    match &fetch.inst {
                        Ok(inst) => *operations.entry(format!("FETCH {}", inst.fetch.name())).or_default() += 1,
                        Err(error) => {
                            let slot = cf.clause().map_or(0, |(first, _)| first) as usize + i * 2;
                            unreadable.push(InfoValue::from(format!("slot {slot}: {error}")));
                        }
                    }
                }
            }
            ClauseBody::Outside => {
                unreadable.push(InfoValue::from(format!("slot {}: its clause is outside the program", entry.addr)));
            }
            ClauseBody::Unread => {
                unreadable.push(InfoValue::from(format!("slot {}: its clause overlaps too many others", entry.addr)));
            }
            ClauseBody::None => {}
        }
    }
    let operations = operations.into_iter().map(|(name, n)| (name, n.into())).collect();
    InfoValue::record([
        ("control-flow instructions", decoded.entries.len().into()),
        ("ALU groups", InfoValue::from(groups)),
        ("ALU instructions", InfoValue::from(alu)),
        ("fetches", InfoValue::from(fetches)),
        ("exports", InfoValue::List(exports)),
        ("operations", InfoValue::Record(operations)),
        ("unreadable", InfoValue::List(unreadable)),
        ("looks like R600", inst::looks_like_r600(words, 0).map_or(false.into(), |finding| finding.to_string().into())),
    ])
}

/// A program: stage, size, resources, exports, and every register.
fn code(code: &ExtractedProgram) -> Vec<(String, InfoValue)> {
    let mut fields = vec![
        ("stage".to_owned(), InfoValue::from(code.stage.name())),
        ("slots".to_owned(), InfoValue::from(code.words.len() / 2)),
    ];
    if let Some(resources) = code.resources() {
        fields.push(("GPRs".to_owned(), InfoValue::Number(resources.num_gprs.into())));
        fields.push(("stack entries".to_owned(), InfoValue::Number(resources.stack_size.into())));
    }
    if code.stage == ShaderStage::Pixel
        && let Some(Ok(exports)) = code.register("SQ_PGM_EXPORTS_PS").map(registers::PgmExportsPs::decode)
    {
        fields.push(("exported colours".to_owned(), InfoValue::Number(exports.colours().into())));
        fields.push(("exports a depth".to_owned(), InfoValue::Flag(exports.depth())));
    }
    if matches!(code.stage, ShaderStage::Vertex | ShaderStage::Geometry | ShaderStage::Copy)
        && let Some(Ok(exports)) = code.register("SPI_VS_OUT_CONFIG").map(registers::VsOutConfig::decode)
    {
        let count = u64::from(exports.vs_export_count) + 1;
        fields.push(("exported parameters".to_owned(), InfoValue::Number(count)));
    }
    let registers = code.registers.iter().map(register).collect();
    fields.push(("registers".to_owned(), InfoValue::Record(registers)));
    fields.push(("statistics".to_owned(), statistics(&code.words)));
    fields
}

fn register(register: &RegisterValue) -> (String, InfoValue) {
    let value = match registers::at(register.address) {
        Some((row, _)) => word_fields(&row.format, register.value),
        None => InfoValue::Hex(register.value),
    };
    (registers::name(register.address), value)
}
