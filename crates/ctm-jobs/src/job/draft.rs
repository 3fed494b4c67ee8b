//! The values of one table, before the job's own keys are mixed in.

use super::tree::{Origin, PlacedValue, Table, Value};
use crate::job::frames::Varying;
use crate::job::located::Located;
use crate::job::model::ProgramInfo;
use crate::job::r700::model::R700Pass;
use ctm_exec::Domain;
use ctm_exec::r700::LoopConstant;
use ctm_exec::x1k::Plane;
use ctm_launch::Ref;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    pub origin: Option<Origin>,
    pub name: Option<Located<String>>,
    pub repeat: Option<u32>,
    pub program: Option<Located<PathBuf>>,
    pub has_program: bool,
    pub program_info: Option<Located<ProgramInfo>>,
    pub domain: Option<Domain>,
    /// The domain was given as one side.
    pub one_dimensional: bool,
    pub has_domain: bool,
    pub registers: Option<Vec<Plane>>,
    pub float: BTreeMap<Ref, Located<[u32; 4]>>,
    pub varying: BTreeMap<Ref, Varying>,
    pub int: BTreeMap<Ref, Located<LoopConstant>>,
    pub bool: BTreeMap<Ref, Located<bool>>,
    pub textures: Vec<DraftTable>,
    pub outputs: Vec<DraftTable>,
    pub conditional: Option<PlacedValue>,
    /// The part for R700 passes.
    pub r700: R700Pass,
}

/// A table of a texture or output. It is read when the keys of a pass are over those of the job.
#[derive(Clone, Debug)]
pub(super) struct DraftTable {
    pub slot: Located<Ref>,
    pub table: PlacedValue,
    /// Of an output: its `clear` is the pass's own.
    pub fresh: bool,
}

/// Keys of a job's texture that give way to those of a pass. A file takes the place of an output; an output leaves the file, which serves until the output has
/// been written.
const TEXTURE_KEYS: [(&str, &[&str]); 2] = [("data", &["output", "pass"]), ("output", &["pass"])];

const NO_KEYS: &[(&str, &[&str])] = &[];

/// A table's own keys over those of `base`. With a key of `replaced`, the base's keys beside it do not count.
fn merged(base: &PlacedValue, own: &PlacedValue, replaced: &[(&str, &[&str])]) -> PlacedValue {
    let (Value::Table(base), Value::Table(table)) = (&base.value, &own.value) else { return own.clone() };
    let gone = replaced.iter().filter(|(key, _)| table.get(key).is_some()).flat_map(|(_, keys)| *keys);
    let gone: Vec<&&str> = gone.collect();
    let kept = base.entries.iter().filter(|entry| !gone.iter().any(|key| **key == entry.key));
    let mut out = Table { entries: kept.cloned().collect() };
    table.entries.iter().for_each(|entry| out.set(&entry.key, entry.node.clone()));
    PlacedValue { value: Value::Table(out), origin: own.origin }
}

/// A table without a key.
fn without(node: &PlacedValue, key: &str) -> PlacedValue {
    let mut node = node.clone();
    if let Value::Table(table) = &mut node.value {
        table.entries.retain(|entry| entry.key != key);
    }
    node
}

impl Draft {
    /// The values of the job for its passes. Saves of the job happen at its end.
    pub fn without_saves(&self) -> Self {
        let mut out = self.clone();
        out.outputs.iter_mut().for_each(|part| part.table = without(&part.table, "save"));
        out.conditional = out.conditional.map(|node| without(&node, "save"));
        out.r700.memories.iter_mut().for_each(|memory| memory.save = None);
        out
    }

    /// This pass's values, else those of the job, which are [without saves](Self::without_saves).
    pub fn over(self, base: &Self) -> Self {
        let own_program = self.program.is_some() || self.has_program;
        let mut out = Self {
            origin: self.origin,
            name: self.name,
            repeat: self.repeat,
            program: self.program.or_else(|| base.program.clone()),
            has_program: self.has_program || base.has_program,
            program_info: self.program_info.or_else(|| base.program_info.clone().filter(|_| !own_program)),
            one_dimensional: if self.domain.is_some() { self.one_dimensional } else { base.one_dimensional },
            domain: self.domain.or(base.domain),
            has_domain: self.has_domain || base.has_domain,
            registers: self.registers.or_else(|| base.registers.clone()),
            float: base.float.clone(),
            varying: base.varying.clone(),
            int: base.int.clone(),
            bool: base.bool.clone(),
            textures: base.textures.clone(),
            outputs: base.outputs.clone(),
            conditional: match (&base.conditional, self.conditional) {
                (Some(base), Some(own)) => Some(merged(base, &own, NO_KEYS)),
                (base, own) => own.or_else(|| base.clone()),
            },
            r700: self.r700.over(&base.r700, own_program),
        };
        // A constant of the pass's own does not vary as the job's did.
        out.varying.retain(|which, _| !self.float.contains_key(which));
        out.varying.extend(self.varying);
        out.float.extend(self.float);
        out.int.extend(self.int);
        out.bool.extend(self.bool);
        let both = [(self.textures, &mut out.textures, &TEXTURE_KEYS[..]), (self.outputs, &mut out.outputs, NO_KEYS)];
        for (parts, all, replaced) in both {
            for own in parts {
                let fresh = matches!(&own.table.value, Value::Table(table) if table.get("clear").is_some());
                match all.iter_mut().find(|part| part.slot.value == own.slot.value) {
                    Some(part) => {
                        let table = merged(&part.table, &own.table, replaced);
                        *part = DraftTable { slot: own.slot, table, fresh };
                    }
                    None => all.push(DraftTable { fresh, ..own }),
                }
            }
        }
        out
    }
}
