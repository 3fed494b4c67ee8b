//! Drafts into passes and the job's own settings.

use super::Reader;
use crate::job::draft::Draft;
use crate::job::keys;
use crate::job::model::{OwnPass, Pass, Run};
use crate::job::tree::PlacedValue;
use ctm_device::engine::EngineKind;
use ctm_exec::GroupSize;
use ctm_files::load::Isa;
use ctm_files::render::Report;
use ctm_files::render::{TextPlace, report_at};
use ctm_isa::diag::{Diagnostic, Span};
use ctm_isa::suggest::closest;

impl Reader {
    pub(super) fn run(&mut self, node: Option<&PlacedValue>) -> Run {
        const ENGINES: [(&str, EngineKind); 3] = [
            (EngineKind::Interp.name(), EngineKind::Interp),
            (EngineKind::Jit.name(), EngineKind::Jit),
            (EngineKind::Verify.name(), EngineKind::Verify),
        ];
        let mut run = Run::of(self.program_isa());
        match EngineKind::preferred() {
            Ok(engine) => run.engine = engine.into(),
            Err(e) => self.reports.push(Report::bare(Diagnostic::error("bad-value", e.to_string()))),
        }
        let Some(table) = node.and_then(|node| self.section(node, &keys::RUN)) else { return run };
        if let Some(n) = table.get("engine")
            && let Some(engine) = self.choice("engine", n, &ENGINES)
        {
            run.engine = self.located(engine, n.origin);
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the ranges are checked")]
        {
            if let Some(n) = table.get("threads").and_then(|n| self.integer("threads", n, 0..=1024)) {
                run.threads = n as usize;
            }
            if let Some(node) = table.get("group")
                && let Some(n) = self.integer("group", node, 4..=i128::from(GroupSize::MAX))
            {
                match GroupSize::new(n as u16) {
                    Some(group) => run.group = group,
                    None => self.error(node.origin, "bad-value", format!("`group` is {n}, it must be a multiple of 4")),
                }
            }
            if let Some(n) = table.get("budget_instructions") {
                let limit = self.integer("budget_instructions", n, 0..=i128::from(u64::MAX));
                if let Some(limit) = limit {
                    run.budget.instructions_per_group = (limit > 0).then_some(limit as u64);
                }
            }
        }
        if let Some(node) = table.get("budget_seconds")
            && let Some(time) = self.seconds("budget_seconds", node)
        {
            run.budget.time = time;
        }
        if let Some(check) = table.get("check").and_then(|n| self.boolean("check", n)) {
            run.check = check;
        }
        run
    }

    pub(super) fn pass(&mut self, draft: Draft) -> Option<Pass> {
        if draft.program.is_none() || draft.domain.is_none() {
            let place = draft
                .origin
                .and_then(|o| self.place(o))
                .or_else(|| self.file.clone().map(|source| TextPlace { source, span: Span::default() }));
            let domain_flag_failed = self.domain_flag_failed;
            let mut missing = |key: &str, help: &str| {
                let what = if draft.origin.is_some() { "neither this pass nor the job has" } else { "the job has no" };
                let diagnostic = Diagnostic::error("missing-key", format!("{what} `{key}`")).help(help);
                self.reports.push(report_at(place.as_ref(), diagnostic));
            };
            // A key that is there but wrong has been reported already.
            if draft.program.is_none() && !draft.has_program {
                missing("program", "name the program file: program = \"fill.x1k\"");
            }
            if draft.domain.is_none() && !draft.has_domain && !domain_flag_failed {
                missing("domain", "give i0, j0, i1, j1, inclusive: domain = [0, 0, 63, 63], or --size 64x64");
            }
            return None;
        }
        let textures = draft.textures.iter().filter_map(|part| self.texture(&part.table)).collect();
        let outputs = draft.outputs.iter().filter_map(|part| self.output(&part.table, part.fresh)).collect();
        let own = match self.program_isa() {
            Isa::X1k => OwnPass::X1k(draft.conditional.and_then(|node| self.conditional(&node))),
            Isa::R700 => OwnPass::R700(Box::new(draft.r700)),
        };
        Some(Pass {
            name: draft.name,
            repeat: if draft.origin.is_some() { draft.repeat.unwrap_or(1) } else { 1 },
            program: draft.program?,
            program_info: draft.program_info,
            domain: draft.domain?,
            one_dimensional: draft.one_dimensional,
            registers: draft.registers,
            float: draft.float,
            varying: draft.varying,
            int: draft.int,
            bool: draft.bool,
            textures,
            outputs,
            own,
        })
    }

    /// A texture can name only passes that have run when it is read.
    pub(super) fn pass_references(&mut self, passes: &[Pass]) {
        let names: Vec<&str> = passes.iter().filter_map(|p| p.name.as_ref().map(|n| n.value.as_str())).collect();
        for texture in passes.iter().flat_map(|p| &p.textures) {
            let Some(from) = &texture.output else { continue };
            if let Some(name) = &from.value.pass
                && !names.contains(&name.as_str())
            {
                let mut diagnostic = Diagnostic::error("unknown-pass", format!("no pass is named `{name}`"));
                if let Some(near) = closest(name, names.iter().copied()) {
                    diagnostic = diagnostic.help(format!("there is a pass `{near}`"));
                }
                self.reports.push(report_at(from.place.as_ref(), diagnostic));
            }
        }
    }
}
