//! Rules on exports, memory writes, and operations of some kinds of program only.

use super::graph::Node;
use super::{Facts, Finding};
use crate::r700::inst::{Cf, CfExport, Fetch, VtxWord1};
use crate::r700::ops::{CfOp, DataFormat, ExportOp, ExportType, MemOp, SideEffect, Source, TexOp};
use crate::r700::program::Stage;

fn each_export<'a>(facts: &'a Facts<'_>) -> impl Iterator<Item = (u32, &'a CfExport)> {
    facts.each_cf().filter_map(|(entry, cf)| match cf {
        Cf::Export(export) => Some((entry.addr, export)),
        Cf::Plain(_) | Cf::Alu(_) | Cf::Mem(_) => None,
    })
}

/// Pixel programs export pixels; vertex and copy programs export positions and parameters; others export nothing.
pub(super) fn export_type(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(stage) = facts.stage() else { return Vec::new() };
    let allowed: &[ExportType] = match stage {
        Stage::Pixel => &[ExportType::Pixel],
        // The copy program puts a geometry program's vertices where a vertex program puts its own (R700 §2.1).
        Stage::Vertex | Stage::Copy => &[ExportType::Pos, ExportType::Param],
        Stage::Geometry | Stage::Export | Stage::Fetch | Stage::Compute => &[],
    };
    each_export(facts)
        .filter(|(_, export)| !allowed.contains(&export.kind))
        .map(|(pc, export)| {
            let names: Vec<&str> = allowed.iter().map(|kind| kind.name()).collect();
            let may = if names.is_empty() { "nothing".to_owned() } else { names.join(" and ") };
            let message =
                format!("{} export in a program of kind {}, which exports {may}", export.kind.name(), stage.name());
            Finding::at(pc, message)
        })
        .collect()
}

/// Exports go to targets that exist.
pub(super) fn export_index(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, export) in each_export(facts) {
        let first = u32::from(export.word0.array_base);
        let last = first + u32::from(export.word1.burst_count);
        let (ok, allowed) = match export.kind {
            ExportType::Pixel => (last <= 7 || (first, last) == (61, 61), "0 to 7, and 61 for computed Z"),
            ExportType::Pos => (first >= 60 && last <= 63, "60 to 63"),
            ExportType::Param => (last <= 31, "0 to 31"),
        };
        if !ok {
            let what = if first == last { first.to_string() } else { format!("{first} to {last}") };
            findings.push(Finding::at(
                pc,
                format!("`ARRAY_BASE` of a {} export is {what}; allowed are {allowed}", export.kind.name()),
            ));
        }
    }
    findings
}

/// Possible export states on the paths to a place: for each type a set of the states below.
type ExportStates = [u8; 3];
const NOTHING: u8 = 1;
const OPEN: u8 = 2;
const DONE: u8 = 4;

/// The progress of each node of the main program, on entry. Subroutines that export are not followed: after a call of one
/// every state is possible and nothing is said.
struct NodeExports {
    entry: Vec<ExportStates>,
    gave_up: bool,
}

impl NodeExports {
    fn of(facts: &Facts<'_>) -> Self {
        let graph = &facts.graph;
        let Some(main) = graph.functions.first() else { return Self { entry: Vec::new(), gave_up: true } };
        let nodes = &graph.nodes[main.nodes.clone()];
        let exports = |node: &Node| matches!(facts.decoded.entries[node.entry].cf, Ok(Cf::Export(_)));
        let gave_up = graph.incomplete || graph.nodes.iter().any(|node| node.function != 0 && exports(node));
        let mut entry = vec![[0u8; 3]; nodes.len()];
        let mut work = Vec::new();
        if let Some(first) = entry.first_mut() {
            *first = [NOTHING; 3];
            work.push(0);
        }
        while let Some(at) = work.pop() {
            let after = transfer(facts, &nodes[at], entry[at]);
            for to in nodes[at].next.into_iter().flatten() {
                let to = to - main.nodes.start;
                let mut changed = false;
                for (into, from) in entry[to].iter_mut().zip(after) {
                    changed |= from & !*into != 0;
                    *into |= from;
                }
                if changed {
                    work.push(to);
                }
            }
        }
        Self { entry, gave_up }
    }
}

fn transfer(facts: &Facts<'_>, node: &Node, mut progress: ExportStates) -> ExportStates {
    if let Ok(Cf::Export(export)) = &facts.decoded.entries[node.entry].cf {
        progress[export.kind as usize] = if export.word1.op == ExportOp::ExportDone { DONE } else { OPEN };
    }
    progress
}

/// Reached main-program nodes, with the exports before them.
fn each_main<'a>(
    facts: &'a Facts<'_>,
    exports: &'a NodeExports,
) -> impl Iterator<Item = (&'a Node, &'a Cf, ExportStates)> {
    let nodes = facts.graph.functions.first().map_or(0..0, |f| f.nodes.clone());
    facts.graph.nodes[nodes]
        .iter()
        .zip(&exports.entry)
        .filter_map(|(node, progress)| Some((node, facts.decoded.entries[node.entry].cf.as_ref().ok()?, *progress)))
}

/// Nothing of a type is exported after its EXPORT_DONE.
pub(super) fn export_after_done(facts: &Facts<'_>) -> Vec<Finding> {
    let exports = NodeExports::of(facts);
    if exports.gave_up {
        return Vec::new();
    }
    each_main(facts, &exports)
        .filter_map(|(node, cf, progress)| {
            let Cf::Export(export) = cf else { return None };
            (progress[export.kind as usize] & DONE != 0).then(|| {
                let message = format!("{} is exported after the EXPORT_DONE of its type", export.kind.name());
                Finding::at(node.pc, message).help("only the last export of a type is EXPORT_DONE")
            })
        })
        .collect()
}

/// The last export of each type is EXPORT_DONE.
pub(super) fn export_not_done(facts: &Facts<'_>) -> Vec<Finding> {
    let exports = NodeExports::of(facts);
    if exports.gave_up {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (node, _, progress) in each_main(facts, &exports).filter(|(_, cf, _)| cf.ends_program()) {
        for (kind, state) in ExportType::ALL.iter().zip(transfer(facts, node, progress)) {
            if state & OPEN != 0 {
                let message = format!("the program ends, and the last {} export was not EXPORT_DONE", kind.name());
                findings.push(Finding::at(node.pc, message));
            }
        }
    }
    findings
}

/// Pixel programs export a pixel, vertex programs a position and a parameter.
pub(super) fn missing_export(facts: &Facts<'_>) -> Vec<Finding> {
    let exports = NodeExports::of(facts);
    let needed: &[ExportType] = match facts.stage() {
        Some(Stage::Pixel) => &[ExportType::Pixel],
        Some(Stage::Vertex | Stage::Copy) => &[ExportType::Pos, ExportType::Param],
        Some(Stage::Geometry | Stage::Export | Stage::Fetch | Stage::Compute) | None => &[],
    };
    // A vertex program in front of a geometry program writes the ring instead; so does a pixel program to memory.
    let writes_memory = facts.each_cf().any(|(_, cf)| matches!(cf, Cf::Mem(_)));
    if exports.gave_up || writes_memory {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for (node, _, progress) in each_main(facts, &exports).filter(|(_, cf, _)| cf.ends_program()) {
        let after = transfer(facts, node, progress);
        for kind in needed {
            if after[*kind as usize] == NOTHING {
                findings.push(Finding::at(node.pc, format!("the program ends without a {} export", kind.name())));
            }
        }
    }
    findings
}

/// Memory writes go where this kind of program may write.
pub(super) fn memory_write_stage(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(stage) = facts.stage() else { return Vec::new() };
    let mut findings = Vec::new();
    for (entry, cf) in facts.each_cf() {
        let Cf::Mem(write) = cf else { continue };
        let (ok, allowed) = match write.word1.op {
            ExportOp::MemStream0 | ExportOp::MemStream1 | ExportOp::MemStream2 | ExportOp::MemStream3 => {
                (matches!(stage, Stage::Vertex | Stage::Copy), "vertex")
            }
            ExportOp::MemRing => {
                (!matches!(stage, Stage::Fetch | Stage::Compute), "geometry, copy, pixel, export and vertex")
            }
            ExportOp::MemScratch
            | ExportOp::MemReduction
            | ExportOp::MemExport
            | ExportOp::Export
            | ExportOp::ExportDone => (true, ""),
        };
        if !ok {
            let message =
                format!("{} in a program of kind {}; allowed are {allowed}", write.word1.op.name(), stage.name());
            findings.push(Finding::at(entry.addr, message));
        }
    }
    findings
}

/// Elements of the scratch and reduction buffers are four dwords.
pub(super) fn element_size(facts: &Facts<'_>) -> Vec<Finding> {
    facts
        .each_cf()
        .filter_map(|(entry, cf)| match cf {
            Cf::Mem(write)
                if matches!(write.word1.op, ExportOp::MemScratch | ExportOp::MemReduction)
                    && write.word0.elem_size != 3 =>
            {
                let (name, size) = (write.word1.op.name(), write.word0.elem_size);
                Some(Finding::at(entry.addr, format!("`ELEM_SIZE` of {name} is {size}; it must be 3, four dwords")))
            }
            Cf::Mem(write) if write.word0.elem_size == 2 => {
                let name = write.word1.op.name();
                Some(Finding::at(
                    entry.addr,
                    format!("`ELEM_SIZE` of {name} is 2; elements have 1, 2 or 4 dwords, less one"),
                ))
            }
            Cf::Plain(_) | Cf::Alu(_) | Cf::Export(_) | Cf::Mem(_) => None,
        })
        .collect()
}

/// The kinds of program that have a control-flow instruction, where not all have it.
const fn only(op: CfOp) -> Option<(&'static [Stage], &'static str)> {
    match op {
        CfOp::EmitVertex | CfOp::EmitCutVertex | CfOp::CutVertex => Some((&[Stage::Geometry], "geometry")),
        CfOp::Kill => Some((&[Stage::Pixel], "pixel")),
        CfOp::CallFs => Some((&[Stage::Vertex, Stage::Export], "vertex")),
        CfOp::Nop
        | CfOp::Tex
        | CfOp::Vtx
        | CfOp::VtxTc
        | CfOp::LoopStart
        | CfOp::LoopEnd
        | CfOp::LoopStartDx10
        | CfOp::LoopStartNoAl
        | CfOp::LoopContinue
        | CfOp::LoopBreak
        | CfOp::Jump
        | CfOp::Push
        | CfOp::PushElse
        | CfOp::Else
        | CfOp::Pop
        | CfOp::PopJump
        | CfOp::PopPush
        | CfOp::PopPushElse
        | CfOp::Call
        | CfOp::Return
        | CfOp::WaitAck => None,
    }
}

/// Instructions that only some kinds of program have.
pub(super) fn stage_only(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(stage) = facts.stage() else { return Vec::new() };
    let mut findings = Vec::new();
    let mut report = |pc: u32, name: &str, only: &str| {
        let message = format!("{name} in a program of kind {}; only {only} programs have it", stage.name());
        findings.push(Finding::at(pc, message));
    };
    for (pc, plain) in facts.each_plain() {
        if let Some((stages, name)) = only(plain.word1.op)
            && !stages.contains(&stage)
        {
            report(pc, plain.word1.op.name(), name);
        }
    }
    for place in facts.each_group() {
        for (i, slot) in place.group.slots.iter().enumerate() {
            if slot.inst.op().info().kind == SideEffect::Kill && stage != Stage::Pixel {
                report(place.slot(i), slot.inst.op().name(), "pixel");
            }
            if matches!(stage, Stage::Geometry | Stage::Copy | Stage::Compute)
                && slot.inst.operands().any(|o| matches!(o.source, Source::Constant(_)))
            {
                report(place.slot(i), "the constant file", "vertex and pixel");
            }
        }
    }
    findings
}

/// Only vertex and geometry programs borrow each other's constants.
pub(super) fn alt_const(facts: &Facts<'_>) -> Vec<Finding> {
    let may = |stage| matches!(stage, Stage::Vertex | Stage::Geometry | Stage::Export | Stage::Fetch | Stage::Copy);
    let Some(stage) = facts.stage().filter(|&stage| !may(stage)) else { return Vec::new() };
    let message =
        || format!("`ALT_CONST` is set in a program of kind {}; vertex and geometry programs have it", stage.name());
    let alu = facts.each_cf().filter_map(|(entry, cf)| match cf {
        Cf::Alu(alu) if alu.word1.alt_const => Some(entry.addr),
        Cf::Plain(_) | Cf::Alu(_) | Cf::Export(_) | Cf::Mem(_) => None,
    });
    let fetch = facts.each_fetch().filter_map(|(pc, _, inst)| match &inst.fetch {
        Fetch::Vtx(i) => i.word2.alt_const.then_some(pc),
        Fetch::Tex(i) => i.word0.alt_const.then_some(pc),
        Fetch::MemRd(_) | Fetch::MemDsw(_) | Fetch::MemDsr(_) => None,
    });
    alu.chain(fetch).map(|pc| Finding::at(pc, message())).collect()
}

/// Written memory is read back past the cache.
pub(super) fn cached_read_back(facts: &Facts<'_>) -> Vec<Finding> {
    let written = |op: MemOp| {
        facts.each_cf().any(|(_, cf)| match cf {
            Cf::Mem(write) => match op {
                MemOp::RdScratch => write.word1.op == ExportOp::MemScratch,
                MemOp::RdReduc => write.word1.op == ExportOp::MemReduction,
                MemOp::RdScatter => write.word1.op == ExportOp::MemExport,
                MemOp::LocalDsWrite | MemOp::LocalDsRead => false,
            },
            Cf::Plain(_) | Cf::Alu(_) | Cf::Export(_) => false,
        })
    };
    let mut findings = Vec::new();
    for (pc, _, inst) in facts.each_fetch() {
        if let Fetch::MemRd(read) = &inst.fetch
            && !read.word0.uncached
            && written(read.word0.mem_op)
        {
            let message = format!("{} reads through the cache what this program writes", read.word0.mem_op.name());
            findings.push(Finding::at(pc, message).help("set `UNCACHED`"));
        }
    }
    findings
}

/// Only pixel programs have lookups whose level of detail is computed.
pub(super) fn computed_level(facts: &Facts<'_>) -> Vec<Finding> {
    let Some(stage) = facts.stage().filter(|&stage| stage != Stage::Pixel) else { return Vec::new() };
    let computes =
        |op| matches!(op, TexOp::Sample | TexOp::SampleLb | TexOp::SampleC | TexOp::SampleCLb | TexOp::GetCompTexLod);
    let found = facts.each_fetch().filter_map(|(pc, _, inst)| match &inst.fetch {
        Fetch::Tex(i) if computes(i.word0.op) => {
            let message = format!(
                "{} in a program of kind {}: the level of detail is computed in pixel programs only",
                i.word0.op.name(),
                stage.name()
            );
            Some(Finding::at(pc, message).help("give the level (`SAMPLE_L`), or take level 0 (`SAMPLE_LZ`)"))
        }
        _ => None,
    });
    found.collect()
}

/// Vertex fetches read formats whose items are bytes.
pub(super) fn texture_format(facts: &Facts<'_>) -> Vec<Finding> {
    let only_textures = |format| {
        matches!(
            format,
            DataFormat::Fmt1
                | DataFormat::Fmt1Reversed
                | DataFormat::FmtGbGr
                | DataFormat::FmtBgRg
                | DataFormat::FmtBc1
                | DataFormat::FmtBc2
                | DataFormat::FmtBc3
                | DataFormat::FmtBc4
                | DataFormat::FmtBc5
        )
    };
    let found = facts.each_fetch().filter_map(|(pc, _, inst)| {
        let Fetch::Vtx(i) = &inst.fetch else { return None };
        let (format, by_buffer) = match &i.word1 {
            VtxWord1::Gpr(w) => (w.data_format, w.use_const_fields),
            VtxWord1::Sem(w) => (w.data_format, w.use_const_fields),
        };
        let message =
            || format!("{} is a format of textures; a vertex fetch reads items of whole bytes", format.name());
        (!by_buffer && only_textures(format)).then(|| Finding::at(pc, message()))
    });
    found.collect()
}

/// Most samplers of a kind of program, its resources, and those of fetch programs after them.
const SAMPLERS: u8 = 18;
const RESOURCES: u8 = 160;
const WITH_FETCH: u8 = 176;

/// Samplers and resources that there are.
pub(super) fn resource_limits(facts: &Facts<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (pc, _, inst) in facts.each_fetch() {
        match &inst.fetch {
            Fetch::Tex(i) => {
                if i.word0.resource_id >= RESOURCES {
                    let message = format!("t{} is named, there are t0 to t{}", i.word0.resource_id, RESOURCES - 1);
                    findings.push(Finding::at(pc, message));
                }
                if i.word2.sampler_id >= SAMPLERS {
                    let message = format!("s{} is named, there are s0 to s{}", i.word2.sampler_id, SAMPLERS - 1);
                    findings.push(Finding::at(pc, message));
                }
            }
            Fetch::Vtx(i) if i.word0.buffer_id >= WITH_FETCH => {
                let message = format!("b{} is named, there are b0 to b{}", i.word0.buffer_id, WITH_FETCH - 1);
                findings.push(Finding::at(pc, message));
            }
            Fetch::Vtx(_) | Fetch::MemRd(_) | Fetch::MemDsw(_) | Fetch::MemDsr(_) => {}
        }
    }
    findings
}
