//! The tables of R700 jobs: every key checked, every error with its place and the allowed values.

use crate::job::keys;
use crate::job::names::name_of_text;
use crate::job::r700::model::{ConstantBuffer, Contents, FetchBuffer, MemoryBlock, R700Pass};
use crate::job::read::Reader;
use crate::job::slots::{Slots, register_number};
use crate::job::tree::{Origin, PlacedValue, Table, Value};
use ctm_exec::r700::formats::Format;
use ctm_files::r700::target_name;
use ctm_launch::Ref;
use ctm_launch::r700::target_of;

use ctm_exec::r700::{Space, Target};
use ctm_files::FileKind;
use ctm_files::array::ItemType;
use ctm_isa::r700::ops::{DataFormat, FormatComp, NumFormat};
use ctm_isa::r700::program::{CLAUSE_TEMPORARIES, Chip, Stage};
use std::path::Path;

/// Fetch resources: textures and buffers.
const RESOURCES: usize = 256;
/// Constant buffers.
const BANKS: i128 = 16;
/// Most bytes of a memory.
const MEMORY_BYTES: i128 = 1 << 30;

/// The memories by their names in job files.
fn memories() -> Vec<(&'static str, Option<Space>)> {
    let spaces = [Space::Scatter, Space::Reduction, Space::Ring].into_iter().chain((0..4).map(Space::Stream));
    spaces.map(|s| (s.name(), Some(s))).chain([("scratch", None)]).collect()
}

fn names<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str) -> Vec<(&'static str, T)> {
    all.iter().map(|&one| (name(one), one)).collect()
}

/// An output by number or name, pixel exports as their numbers; `None` if there is no such export.
pub(in crate::job) fn target_ref(which: &Ref) -> Option<Ref> {
    target_of(which).map(|target| match target {
        Target::Pixel(n) => Ref::Index(n),
        other => Ref::Name(target_name(other)),
    })
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "integers are checked against their ranges")]
impl Reader {
    /// The keys of an R700 table that an X1K table lacks.
    pub(in crate::job) fn r700_draft(&mut self, table: &Table) -> R700Pass {
        let mut draft = R700Pass {
            which: table.get("which").and_then(|n| self.string("which", n).map(|s| self.located(s, n.origin))),
            stage: table.get("stage").and_then(|n| self.choice("stage", n, &names(Stage::ALL, |s| s.name()))),
            chip: table.get("chip").and_then(|n| self.choice("chip", n, &names(Chip::ALL, |c| c.name()))),
            fetch_program: table.get("fetch_program").and_then(|n| self.path("fetch_program", n)),
            group_threads: self.optional(table, "group_threads", 1..=1024).map(|n| n as u32),
            global_gprs: self.optional(table, "global_gprs", 0..=i128::from(CLAUSE_TEMPORARIES)).map(|n| n as u8),
            vertex_offset: self.optional(table, "vertex_offset", 0..=i128::from(u32::MAX)).map(|n| n as u32),
            instance_offset: self.optional(table, "instance_offset", 0..=i128::from(u32::MAX)).map(|n| n as u32),
            vertices: table.get("vertices").and_then(|n| self.path("vertices", n)),
            ..R700Pass::default()
        };
        if let Some(node) = table.get("semantics") {
            self.semantics(node, &mut draft);
        }
        for node in self.tables(table, "constant_buffer") {
            if let Some(buffer) = self.constant_buffer(node) {
                if draft.constant_buffers.iter().any(|b| b.bank.value == buffer.bank.value) {
                    let message = format!("constant buffer {} is given twice", buffer.bank.value);
                    self.reports.push(buffer.bank.error("duplicate-slot", message));
                }
                draft.constant_buffers.push(buffer);
            }
        }
        for node in self.tables(table, "buffer") {
            if let Some(buffer) = self.fetch_buffer(node) {
                self.once("buffer", draft.buffers.iter().map(|b| &b.slot), &buffer.slot);
                draft.buffers.push(buffer);
            }
        }
        for node in self.tables(table, "memory") {
            if let Some(memory) = self.memory(node) {
                if draft.memories.iter().any(|m| m.space.value == memory.space.value) {
                    let name = memory.space.value.map_or("scratch", Space::name);
                    let message = format!("the {name} memory is given twice");
                    self.reports.push(memory.space.error("duplicate-slot", message));
                }
                draft.memories.push(memory);
            }
        }
        draft
    }

    pub(in crate::job) fn optional(
        &mut self,
        table: &Table,
        key: &str,
        range: std::ops::RangeInclusive<i128>,
    ) -> Option<i128> {
        table.get(key).and_then(|n| self.integer(key, n, range))
    }

    /// A register by number or as `R5`.
    fn register_index(&mut self, key: &str, node: &PlacedValue) -> Option<u8> {
        match self.slot(key, node, Slots::REGISTER)? {
            Ref::Index(n) => Some(n),
            Ref::Name(name) => {
                self.error(
                    node.origin,
                    "bad-value",
                    format!("`{key}` is `{name}`, registers are 0 to 127 or R0 to R127"),
                );
                None
            }
        }
    }

    /// `{ 3 = 2 }`: semantic number to register.
    fn semantics(&mut self, node: &PlacedValue, draft: &mut R700Pass) {
        let Value::Table(table) = &node.value else {
            let allowed = "a table from semantic number to register: { 3 = 2 }";
            self.wrong_kind("semantics", node, allowed);
            return;
        };
        for entry in &table.entries {
            match entry.key.parse::<u8>() {
                Ok(id) => {
                    if let Some(gpr) = self.register_index(&format!("semantic {id}"), &entry.node) {
                        draft.semantics.insert(id, gpr);
                    }
                }
                Err(_) => {
                    let message = format!("`semantics` has \"{}\", semantic numbers are 0 to 255", entry.key);
                    self.error(entry.origin, "bad-value", message);
                }
            }
        }
    }

    /// One of `values`, `data` and `memory`.
    fn contents(&mut self, node: &PlacedValue, table: &Table, what: &str, keys: &[&str]) -> Option<Contents> {
        let given: Vec<&str> = keys.iter().copied().filter(|key| table.get(key).is_some()).collect();
        if given.len() != 1 {
            let found = if given.is_empty() { "none of".to_owned() } else { format!("{} of", given.len()) };
            self.error(
                node.origin,
                "missing-key",
                format!("{what} has {found} `{}`, it must have one", keys.join("`, `")),
            );
            return None;
        }
        let inner = table.get(given[0])?;
        match given[0] {
            "values" => {
                let Value::Array(rows) = &inner.value else {
                    self.wrong_kind("values", inner, "a list of rows of four numbers");
                    return None;
                };
                let rows: Vec<_> = rows.iter().map(|row| self.four_bits("a row of `values`", row)).collect();
                Some(Contents::Values(rows.into_iter().collect::<Option<_>>()?))
            }
            "data" => self.data("data", inner).map(Contents::Data),
            _ => {
                let spaces: Vec<_> = memories().into_iter().filter_map(|(name, space)| Some((name, space?))).collect();
                self.choice("memory", inner, &spaces).map(Contents::Memory)
            }
        }
    }

    fn constant_buffer(&mut self, node: &PlacedValue) -> Option<ConstantBuffer> {
        let table = self.section(node, &keys::CONSTANT_BUFFER)?;
        let bank_node = self.required(node, table, "bank", "[[constant_buffer]]")?;
        let bank = self.integer("bank", bank_node, 0..=BANKS - 1)? as u8;
        Some(ConstantBuffer {
            bank: self.located(bank, bank_node.origin),
            fetch_resource: self.optional(table, "fetch_resource", 0..=RESOURCES as i128 - 1).map(|n| n as u8),
            contents: self.contents(node, table, "[[constant_buffer]]", &["values", "data"])?,
        })
    }

    fn fetch_buffer(&mut self, node: &PlacedValue) -> Option<FetchBuffer> {
        let table = self.section(node, &keys::BUFFER)?;
        let slot_node = self.required(node, table, "slot", "[[buffer]]")?;
        let slot = self.slot("slot", slot_node, Slots::BUFFER)?;
        Some(FetchBuffer {
            slot: self.located(slot, slot_node.origin),
            contents: self.contents(node, table, "[[buffer]]", &["values", "data", "memory"])?,
            stride_bytes: self.optional(table, "stride_bytes", 0..=65535).map_or(16, |n| n as u32),
            format: match table.get("format") {
                Some(node) => self.fetch_format(node)?,
                None => Format::default(),
            },
        })
    }

    /// `"16_16 INT SIGNED"`: a format of the manual's list, then how its numbers are returned.
    fn fetch_format(&mut self, node: &PlacedValue) -> Option<Format> {
        let text = self.string("format", node)?;
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let all: Vec<(&str, DataFormat)> = DataFormat::ALL
            .iter()
            .map(|&f| (f.name().trim_start_matches("FMT_"), f))
            .filter(|(n, _)| !n.starts_with("RESERVED") && *n != "INVALID")
            .collect();
        let Some((_, data)) = all.iter().find(|(n, _)| *n == name) else {
            let near = ctm_isa::suggest::closest(name, all.iter().map(|(n, _)| *n));
            let mut diagnostic = ctm_isa::diag::Diagnostic::error(
                "bad-value",
                format!(
                    "`format` is \"{text}\", it must begin with a DATA_FORMAT such as 32_32_32_32_FLOAT or 8_8_8_8"
                ),
            );
            if let Some(near) = near {
                diagnostic = diagnostic.help(format!("did you mean \"{near}\"?"));
            }
            self.push(node.origin, diagnostic);
            return None;
        };
        let mut format = Format { data: *data, ..Format::default() };
        for word in words {
            match (NumFormat::from_name(word), word) {
                (Some(numbers), _) => format.numbers = numbers,
                (None, "SIGNED") => format.sign = FormatComp::Signed,
                (None, "UNSIGNED") => format.sign = FormatComp::Unsigned,
                (None, _) => {
                    let message = format!(
                        "`format` has \"{word}\", behind the DATA_FORMAT stand NORM, INT or SCALED, and SIGNED or UNSIGNED"
                    );
                    self.error(node.origin, "bad-value", message);
                    return None;
                }
            }
        }
        Some(format)
    }

    fn memory(&mut self, node: &PlacedValue) -> Option<MemoryBlock> {
        let table = self.section(node, &keys::MEMORY)?;
        let kind_node = self.required(node, table, "kind", "[[memory]]")?;
        let space = self.choice("kind", kind_node, &memories())?;
        let of = |allowed: bool, key: &str, whose: &str| {
            (!allowed && table.get(key).is_some()).then(|| (key.to_owned(), whose.to_owned()))
        };
        let item = matches!(space, Some(Space::Ring | Space::Stream(_)));
        let wrong = [
            of(space.is_some(), "data", "memories that outlive a thread; scratch memory is each thread's own"),
            of(space.is_some(), "save", "memories that outlive a thread; scratch memory is each thread's own"),
            of(item, "item_dwords", "ring and stream memories"),
            of(space == Some(Space::Reduction), "stride", "the reduction memory"),
        ];
        for (key, whose) in wrong.into_iter().flatten() {
            let origin = table.get(&key).map_or(node.origin, |n| n.origin);
            self.error(origin, "bad-value", format!("`{key}` is for {whose}"));
        }
        let size_bytes = self.optional(table, "size_bytes", 4..=MEMORY_BYTES).map(|n| n as u64);
        if let (Some(size), Some(n)) = (size_bytes, table.get("size_bytes"))
            && !size.is_multiple_of(4)
        {
            self.error(
                n.origin,
                "bad-value",
                format!("`size_bytes` is {size}, memories are made of dwords: a multiple of 4"),
            );
        }
        let shape = match table.get("shape") {
            Some(n) => Some(self.shape(n)?),
            None => None,
        };
        Some(MemoryBlock {
            space: self.located(space, kind_node.origin),
            size_bytes,
            data: table.get("data").and_then(|n| self.data("data", n)),
            item_dwords: self.optional(table, "item_dwords", 0..=65535).map(|n| n as u32),
            stride: self.optional(table, "stride", 0..=65535).map(|n| n as u32),
            items: table
                .get("type")
                .and_then(|n| self.choice("type", n, &ItemType::NAMES))
                .unwrap_or(ItemType::Float32),
            shape,
            save: table.get("save").and_then(|n| self.path("save", n)),
            fresh: false,
        })
    }

    /// One to three sides of an array.
    fn shape(&mut self, node: &PlacedValue) -> Option<Vec<usize>> {
        match &node.value {
            Value::Array(list) if (1..=3).contains(&list.len()) => {
                list.iter().map(|n| self.integer("shape", n, 1..=MEMORY_BYTES / 4).map(|n| n as usize)).collect()
            }
            _ => {
                self.wrong_kind(
                    "shape",
                    node,
                    "one to three numbers: [columns], [rows, columns] or [rows, columns, channels]",
                );
                None
            }
        }
    }

    /// An output by number or name.
    pub(in crate::job) fn target(&mut self, key: &str, node: &PlacedValue) -> Option<Ref> {
        let allowed = "pix0 to pix7 (or 0 to 7), depth, pos0 to pos3 and param0 to param31";
        let which = match &node.value {
            Value::Integer(n) => u8::try_from(*n).ok().map(Ref::Index),
            Value::String(s) => match register_number(s, Slots::EXPORT.letters) {
                Some(n) => u8::try_from(n).ok().map(Ref::Index),
                None => Some(Ref::Name(s.to_ascii_lowercase())),
            },
            _ => {
                self.wrong_kind(key, node, "a number or a name of an export");
                return None;
            }
        };
        let found = which.as_ref().and_then(target_ref);
        if found.is_none() {
            let shown = match &node.value {
                Value::String(s) => format!("\"{s}\""),
                Value::Integer(n) => n.to_string(),
                other => other.kind().to_owned(),
            };
            self.error(node.origin, "bad-value", format!("`{key}` is {shown}, R700 outputs are {allowed}"));
        }
        found
    }

    /// Whether the job's first program is for the R700, by its name or its contents.
    pub(in crate::job) fn finds_r700(&self, root: &Table) -> bool {
        let of_passes = match root.get("pass") {
            Some(PlacedValue { value: Value::Array(list), .. }) => list.as_slice(),
            _ => &[],
        };
        let of_passes = of_passes.iter().filter_map(|n| match &n.value {
            Value::Table(table) => table.get("program"),
            _ => None,
        });
        let program = root.get("program").into_iter().chain(of_passes).find_map(|n| match &n.value {
            Value::String(s) => Some((s, n.origin)),
            _ => None,
        });
        let Some((name, origin)) = program else { return false };
        let path = match origin {
            Origin::File(_) => self.directory.join(name),
            Origin::Flag(0) if self.given.path.is_some() => self.given.path.clone().unwrap_or_default(),
            Origin::Flag(_) => name_of_text(name),
        };
        if let Some(bytes) = self.given.bytes_of(&path) {
            return ctm_files::r700::is_r700(bytes, &path, None);
        }
        let by_name = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
        let said = matches!(by_name.as_str(), "r700" | "psh" | "vsh" | "gsh" | "csh");
        // A file that cannot be read is reported when it is loaded, one that may not be with its key.
        said || self.is_within(&path)
            && ctm_files::read(&path, FileKind::Program)
                .is_ok_and(|bytes| ctm_files::r700::is_r700(&bytes, &path, None))
    }
}
