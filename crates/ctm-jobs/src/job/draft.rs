//! The values of one table, before the job's own keys are mixed in.

use super::tree::Origin;
use crate::job::frames::Varying;
use crate::job::located::{Data, Located};
use crate::job::model::{FromOutput, ProgramInfo, Save};
use crate::job::r700::draft::LookupDraft;
use crate::job::r700::model::{Elements, R700Pass};
use ctm_device::commands::{CondLoc, CondTest};
use ctm_device::mc::{Format, Tiling};
use ctm_exec::Domain;
use ctm_exec::r700::LoopConstant;
use ctm_exec::x1k::{Filter, Plane, Wrap};
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
    pub textures: Vec<TextureDraft>,
    pub outputs: Vec<OutputDraft>,
    pub conditional: Option<ConditionalDraft>,
    /// Where the buffer goes after this very pass.
    pub conditional_save: Option<Located<PathBuf>>,
    /// The part for R700 passes.
    pub r700: R700Pass,
}

#[derive(Clone, Debug)]
pub(super) struct TextureDraft {
    pub slot: Located<Ref>,
    pub data: Option<Located<Data>>,
    pub output: Option<Located<FromOutput>>,
    pub filter: Option<Filter>,
    pub wrap: Option<[Wrap; 2]>,
    pub border: Option<[u32; 4]>,
    pub format: Option<Located<Format>>,
    pub tiling: Option<Tiling>,
    pub size: Option<[u32; 2]>,
    pub lookup: LookupDraft,
}

#[derive(Clone, Debug)]
pub(super) struct OutputDraft {
    pub slot: Located<Ref>,
    pub clear: Option<[u32; 4]>,
    pub format: Option<Format>,
    pub elements: Option<Elements>,
    pub tiling: Option<Tiling>,
    pub size: Option<[u32; 2]>,
    pub mask: Option<u8>,
    /// Saved at the end of the job (in the job's own table) or of the pass (in a pass's).
    pub paths: Vec<Located<PathBuf>>,
    pub flip_y: Option<bool>,
    pub fresh: bool,
    pub pass_paths: Vec<Located<PathBuf>>,
}

#[derive(Clone, Debug)]
pub(super) struct ConditionalDraft {
    pub location: Option<CondLoc>,
    pub test: Option<CondTest>,
    pub value: Option<u32>,
    pub clear: Option<u32>,
    pub buffer: Option<Located<Data>>,
    pub write: Option<bool>,
    pub save: Option<Located<PathBuf>>,
}

impl Draft {
    /// This pass's values, else those of the job.
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
            outputs: base.outputs.iter().map(|o| OutputDraft { paths: Vec::new(), ..o.clone() }).collect(),
            conditional: base.conditional.clone(),
            conditional_save: self.conditional.as_ref().and_then(|c| c.save.clone()),
            r700: self.r700.over(&base.r700, own_program),
        };
        // A constant of the pass's own does not vary as the job's did.
        out.varying.retain(|which, _| !self.float.contains_key(which));
        out.varying.extend(self.varying);
        out.float.extend(self.float);
        out.int.extend(self.int);
        out.bool.extend(self.bool);
        for own in self.textures {
            match out.textures.iter_mut().find(|t| t.slot.value == own.slot.value) {
                Some(t) => {
                    // A file of the pass's own takes the place of an output, and an output that of the file, which
                    // then serves until the output has been written.
                    t.output = if own.data.is_some() { own.output } else { own.output.or(t.output.take()) };
                    t.data = own.data.or(t.data.take());
                    t.filter = own.filter.or(t.filter);
                    t.wrap = own.wrap.or(t.wrap);
                    t.border = own.border.or(t.border);
                    t.format = own.format.or(t.format.take());
                    t.tiling = own.tiling.or(t.tiling);
                    t.size = own.size.or(t.size);
                    t.lookup = own.lookup.over(&t.lookup);
                }
                None => out.textures.push(own),
            }
        }
        for own in self.outputs {
            let fresh = own.clear.is_some();
            match out.outputs.iter_mut().find(|o| o.slot.value == own.slot.value) {
                Some(o) => {
                    o.clear = own.clear.or(o.clear);
                    o.format = own.format.or(o.format);
                    o.elements = own.elements.or(o.elements);
                    o.tiling = own.tiling.or(o.tiling);
                    o.size = own.size.or(o.size);
                    o.mask = own.mask.or(o.mask);
                    o.flip_y = own.flip_y.or(o.flip_y);
                    o.fresh = fresh;
                    o.pass_paths = own.paths;
                }
                None => {
                    out.outputs.push(OutputDraft { fresh, pass_paths: own.paths.clone(), paths: Vec::new(), ..own })
                }
            }
        }
        if let Some(own) = self.conditional {
            out.conditional = Some(match out.conditional.take() {
                None => own,
                Some(c) => ConditionalDraft {
                    location: own.location.or(c.location),
                    test: own.test.or(c.test),
                    value: own.value.or(c.value),
                    clear: own.clear.or(c.clear),
                    buffer: own.buffer.or(c.buffer),
                    write: own.write.or(c.write),
                    save: None,
                },
            });
        }
        out
    }
}

impl OutputDraft {
    pub fn saves(&self, of_pass: bool) -> Vec<Save> {
        let paths = if of_pass { &self.pass_paths } else { &self.paths };
        let save = |path: &Located<PathBuf>| Save {
            slot: self.slot.clone(),
            path: path.clone(),
            flip_y: self.flip_y.unwrap_or(false),
        };
        paths.iter().map(save).collect()
    }
}
