//! Mismatches of a draw's parts that do not prevent drawing.

use super::bound::{BoundPair, DrawPrograms};
use super::mesh::Channel;
use super::plan::DrawPlan;
use super::prepare::Prepared;
use crate::job::r700::uses::Uses;
use ctm_draw::format::Colours;
use ctm_exec::r700::Target;
use ctm_isa::r700::program::{Chip, Usage};

impl Prepared<'_> {
    /// Looks at every draw; adds to its findings.
    pub(super) fn check(&mut self) {
        let targets: Vec<u8> = self.drawing.targets.iter().map(|target| target.number).collect();
        let mut written: Vec<u8> = Vec::new();
        for draw in &mut self.draws {
            let drawn_to: Vec<u8> = targets
                .iter()
                .copied()
                .filter(|n| draw.plan.targets.as_ref().is_none_or(|all| all.contains(n)))
                .collect();
            match &draw.programs {
                DrawPrograms::Pair(bound) => {
                    let uses = Uses::of(&bound.pair.pixel.program.decode());
                    let exports: Vec<u8> = pixel_exports(&uses);
                    written.extend(exports.iter().filter(|n| drawn_to.contains(n)));
                    draw.findings.extend(attributes(bound));
                    draw.findings.extend(parameters(bound));
                    draw.findings.extend(outputs(bound, draw.plan, &exports, &targets, &drawn_to));
                }
                DrawPrograms::X1k(_) => written.extend(&drawn_to),
            }
            for target in self.drawing.targets.iter().filter(|target| drawn_to.contains(&target.number)) {
                let blends = draw.plan.colour.targets[usize::from(target.number) % 8].blend.is_some();
                let is_integer = Colours::new(target.format).is_ok_and(|c| c.format().number.is_integer());
                if blends && is_integer {
                    let message = "holds integers and is to be blended: integers are stored as they are";
                    draw.findings.push(format!("target {} {message}", target.number));
                }
            }
            if draw.plan.depth.stencil.is_some() && !self.drawing.depth.as_ref().is_some_and(|d| d.format.has_stencil())
            {
                draw.findings.push("a stencil test is asked for, and there are no stencil values: it passes".into());
            }
        }
        if let Some(last) = self.draws.last_mut() {
            for number in targets.iter().filter(|number| !written.contains(number)) {
                last.findings.push(format!("nothing is drawn to target {number}: it keeps its first colour"));
            }
        }
    }
}

/// The colour outputs that a pixel program exports.
fn pixel_exports(uses: &Uses) -> Vec<u8> {
    let number = |target: &Target| match target {
        Target::Pixel(n) => Some(*n),
        Target::Position(_) | Target::Parameter(_) | Target::Depth => None,
    };
    uses.targets.iter().filter_map(number).collect()
}

/// Attributes that the vertex program declares and does not read, and those whose channel is a guess.
fn attributes(bound: &BoundPair) -> Vec<String> {
    let uses = Uses::of(&bound.pair.vertex.program.decode());
    let mut told = Vec::new();
    for attribute in bound.pair.attributes() {
        let name = if attribute.name.is_empty() {
            format!("at location {}", attribute.location)
        } else {
            format!("`{}`", attribute.name)
        };
        if !uses.registers.contains(&attribute.gpr) {
            told.push(format!("the vertex program never reads its attribute {name}, which is in R{}", attribute.gpr));
        }
        if Channel::of_attribute(&attribute.name).is_none() {
            told.push(format!("the name of attribute {name} says nothing of what it takes; `attributes` can"));
        }
    }
    told
}

/// Parameters without an input, and numbers that two exports share.
fn parameters(bound: &BoundPair) -> Vec<String> {
    let links = bound.pair.links();
    let exported = Uses::of(&bound.pair.vertex.program.decode()).targets;
    let mut told = Vec::new();
    for (n, semantic) in (0u8..).zip(&links.semantics) {
        if !exported.contains(&Target::Parameter(n)) {
            continue;
        }
        if !links.inputs.iter().any(|input| input.semantic == *semantic) {
            let message = "is taken by no input of the pixel program";
            told.push(format!("parameter {n} of the vertex program (semantic number {semantic}) {message}"));
        }
        if links.semantics[..usize::from(n)].contains(semantic) {
            told.push(format!(
                "parameters of the vertex program share the semantic number {semantic}: the first counts"
            ));
        }
    }
    if !exported.contains(&Target::Position(0)) {
        told.push("the vertex program exports no position: nothing is drawn".into());
    }
    told
}

/// Exports without a target, targets without an export, special exports and kills that the registers leave out.
fn outputs(bound: &BoundPair, plan: &DrawPlan, exports: &[u8], targets: &[u8], drawn_to: &[u8]) -> Vec<String> {
    let links = bound.pair.links();
    let program = &bound.pair.pixel.program;
    let uses = Uses::of(&program.decode());
    let mut told = Vec::new();
    let blends = plan.colour.targets.iter().filter_map(|target| target.blend);
    let second_source =
        blends.flat_map(|blend| [Some(blend.colour), blend.alpha]).flatten().any(|of| of.reads_source1());
    for n in exports.iter().filter(|n| !(targets.contains(n) || **n == 1 && second_source)) {
        told.push(format!("the pixel program exports to target {n}, and there is none"));
    }
    if !plan.colour.multiwrite {
        for n in drawn_to.iter().filter(|n| !exports.contains(n)) {
            told.push(format!("target {n} is drawn to, and the pixel program exports nothing to it: it gets zeros"));
        }
    }
    let depth = links.depth.export_depth || links.depth.export_stencil || links.depth.export_mask;
    if uses.targets.contains(&Target::Depth) && !depth {
        told.push("the pixel program exports a depth, and DB_SHADER_CONTROL lets none of it pass".into());
    }
    if Usage::of(&program.words, program.entry, Chip::Rv770).kills && !links.depth.kill {
        told.push("the pixel program kills pixels, and DB_SHADER_CONTROL.KILL_ENABLE is 0: kills are ignored".into());
    }
    told
}
