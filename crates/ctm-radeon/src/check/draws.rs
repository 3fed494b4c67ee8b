//! Rules on what is set when a draw comes: targets, programs, and how they fit together.

use super::Checker;
use crate::execute::{
    Geometry, Lists, Loaded, Set, SpecialOp, TargetWords, TextureWords, VALID_BUFFER, VALID_TEXTURE, colour_target,
    depth_target, geometry, kind_of, samples, special_op, stream_output, write_mask,
};
use crate::registers::{colour, depth, vgt};
use ctm_draw::layout::ArrayMode;
use ctm_image::r700::registers::{self as image, DbShaderControl, PsInControl0, PsInControl1};
use ctm_isa::r700::inst::Cf;
use ctm_isa::r700::ops::ExportType;
use ctm_isa::r700::program::{Chip, Stage, Usage};

/// A program's registers: where it starts, and what it is given.
struct Place {
    start: &'static str,
    resources: &'static str,
    stage: Stage,
    set: Set,
}

const VERTEX: Place =
    Place { start: "SQ_PGM_START_VS", resources: "SQ_PGM_RESOURCES_VS", stage: Stage::Vertex, set: Set::Vertex };
const COPY: Place = Place { stage: Stage::Copy, ..VERTEX };
const EXPORT: Place =
    Place { start: "SQ_PGM_START_ES", resources: "SQ_PGM_RESOURCES_ES", stage: Stage::Export, set: Set::Vertex };
const GEOMETRY: Place =
    Place { start: "SQ_PGM_START_GS", resources: "SQ_PGM_RESOURCES_GS", stage: Stage::Geometry, set: Set::Geometry };
const PIXEL: Place =
    Place { start: "SQ_PGM_START_PS", resources: "SQ_PGM_RESOURCES_PS", stage: Stage::Pixel, set: Set::Pixel };
const FETCH: Place =
    Place { start: "SQ_PGM_START_FS", resources: "SQ_PGM_RESOURCES_FS", stage: Stage::Fetch, set: Set::Vertex };

/// What a pixel program exports.
#[derive(Default)]
struct Exports {
    colours: u8,
    depth: bool,
}

fn exports(program: &Loaded) -> Exports {
    let mut exports = Exports::default();
    for entry in &program.program.decode().entries {
        let Ok(Cf::Export(export)) = &entry.cf else { continue };
        if export.kind != ExportType::Pixel {
            continue;
        }
        for burst in 0..=u32::from(export.word1.burst_count) {
            match u32::from(export.word0.array_base) + burst {
                n @ 0..=7 => exports.colours |= 1 << n,
                61 => exports.depth = true,
                _ => {}
            }
        }
    }
    exports
}

impl Checker<'_> {
    pub(super) fn draw(&mut self) {
        let special = special_op(&self.registers);
        if special == SpecialOp::Expand {
            return;
        }
        let targets = self.targets(special);
        self.streams();
        if self.memory.is_none() {
            return self.links();
        }
        let mut pixel = None;
        let places: &[&Place] = match geometry(&self.registers) {
            Geometry::Full => &[&EXPORT, &GEOMETRY, &COPY, &PIXEL],
            _ => &[&VERTEX, &PIXEL],
        };
        for place in places {
            if self.registers.named(place.start, 0) == 0 {
                continue;
            }
            let Some(loaded) = self.program(place) else { continue };
            if loaded.calls_fetch
                && let Some(fetch) = self.program(&FETCH)
            {
                self.resources_of(&fetch, place, &targets);
            }
            self.resources_of(&loaded, place, &targets);
            if place.stage == Stage::Pixel {
                pixel = Some(loaded);
            }
        }
        self.links();
        if let Some(pixel) = pixel {
            self.pixel_program(&pixel, special);
        }
    }

    /// A program, if it ends within its buffer.
    fn program(&mut self, place: &Place) -> Option<Loaded> {
        let address = u64::from(self.registers.named(place.start, 0)) << 8;
        let end = image::address(place.start).and_then(|offset| self.registers.end(offset));
        let (Some(memory), Some(end)) = (self.memory, end) else { return None };
        let length = end.saturating_sub(address).min(1 << 18);
        let bytes = memory.bytes(address, length).unwrap_or_default();
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|four| four.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte)))
            .collect();
        let Some(loaded) = Loaded::of(&words, place.stage) else {
            let message =
                format!("{}: the program at {address:#x} does not end within its {length} bytes", place.start);
            self.found("program-outside-buffer", message);
            return None;
        };
        if place.stage != Stage::Fetch && self.looked_at.insert((address, place.resources)) {
            let given = self.registers.named(place.resources, 0) & 0xff;
            let used = u32::from(Usage::of(&loaded.program.words, 0, Chip::Rv770).gprs);
            if used > given {
                let message = format!("the program uses {used} registers, {}.NUM_GPRS gives {given}", place.resources);
                self.found("few-registers", message);
            }
        }
        Some(loaded)
    }

    /// What a program fetches from.
    fn resources_of(&mut self, program: &Loaded, place: &Place, targets: &[(u64, u64)]) {
        let (stage, first) = (place.stage.name(), place.set.first_resource());
        for &id in &program.buffers {
            let kind = kind_of(&self.registers.resource(first + u32::from(id)));
            if kind != VALID_BUFFER {
                let what = if kind == VALID_TEXTURE { "a texture" } else { "nothing" };
                let message = format!("the {stage} program fetches vertices from resource {id}, which is {what}");
                self.found("wrong-resource", message);
            }
        }
        for id in program.textures.iter().map(|lookup| lookup.texture) {
            let words = self.registers.resource(first + u32::from(id));
            if kind_of(&words) == VALID_TEXTURE {
                let Ok(of) = TextureWords::of(&words) else { continue };
                let overlaps = |&(at, bytes): &(u64, u64)| {
                    of.ranges().iter().any(|&(from, length)| at < from + length && from < at + bytes)
                };
                // The depth target is read for copies; a level of a texture may be drawn from another one.
                if of.levels.len() == 1 && of.surface.depth == 1 && targets.iter().any(overlaps) {
                    let message = format!("the {stage} program reads texture {id}, which the draw writes");
                    self.found("feedback", message);
                }
            } else if kind_of(&words) != VALID_BUFFER {
                self.found("wrong-resource", format!("the {stage} program reads texture {id}, and there is none"));
            }
        }
    }

    /// The targets of a draw; gives where they lie.
    fn targets(&mut self, special: SpecialOp) -> Vec<(u64, u64)> {
        let mut ranges = Vec::new();
        let count = samples(&self.registers);
        for n in 0..8u32 {
            let mask = self.registers.named("CB_TARGET_MASK", 0) >> (4 * n) & 15;
            let resolved = special == SpecialOp::Resolve && n < 2;
            if (mask == 0 && !resolved) || special == SpecialOp::Disable {
                continue;
            }
            let samples = if special == SpecialOp::Resolve && n == 1 { 1 } else { count };
            let target = match colour_target(&self.registers, n, samples) {
                Ok(Some(target)) => target,
                Ok(None) => continue,
                Err(error) => {
                    self.found("target-format", error.message);
                    continue;
                }
            };
            let name = format!("colour target {n}");
            let range = self.target(&name, &target, colour::CB_COLOR0_BASE::REGISTER.at(n));
            if write_mask(&self.registers, n) != 0 {
                ranges.push(range);
            }
            let number = self.registers.nth(colour::CB_COLOR0_INFO::NUMBER_TYPE, n);
            let blends = self.registers.get(colour::CB_COLOR_CONTROL::TARGET_BLEND_ENABLE) >> n & 1 == 1;
            let bypasses = self.registers.nth(colour::CB_COLOR0_INFO::BLEND_BYPASS, n) == 1;
            if matches!(number, 4 | 5) && blends && !bypasses {
                self.found("integer-blend", format!("{name} holds integers, and is blended without BLEND_BYPASS"));
            }
        }
        use depth::DB_DEPTH_CONTROL as Control;
        if self.registers.flag(Control::Z_ENABLE) || self.registers.flag(Control::STENCIL_ENABLE) {
            match depth_target(&self.registers, count) {
                Ok(Some(target)) => {
                    if target.layout.mode == ArrayMode::Linear {
                        self.found("target-format", "the depth target is linear, allowed are 1D and 2D tiles".into());
                    }
                    self.target("the depth target", &target, depth::DB_DEPTH_BASE::REGISTER.offset);
                }
                Ok(None) => {}
                Err(error) => self.found("target-format", error.message),
            }
        }
        ranges
    }

    fn target(&mut self, name: &str, target: &TargetWords, base: u32) -> (u64, u64) {
        let whole = (target.address, target.bytes());
        if self.list.is_none() {
            return whole;
        }
        let Some(buffer) = self.bounds.get(&base).copied() else {
            self.found("target-without-buffer", format!("{name} is drawn to, and its address had no relocation"));
            return whole;
        };
        let offset = target.address.wrapping_sub(buffer.base);
        let layout = &target.layout;
        let bytes = layout.element_bytes * layout.samples;
        let pitch = match layout.mode {
            ArrayMode::Linear => (256 / layout.element_bytes).max(64).min(layout.pitch.max(8)),
            ArrayMode::Tiled1d => (256 / (8 * bytes)).max(8),
            ArrayMode::Tiled2d => (128 / bytes).max(32),
        };
        if !layout.pitch.is_multiple_of(pitch.max(8)) && layout.mode != ArrayMode::Linear {
            let message = format!("{name} has a pitch of {}, allowed are multiples of {pitch}", layout.pitch);
            self.found("target-alignment", message);
        }
        let alignment = if layout.mode == ArrayMode::Tiled2d { layout.alignment() } else { 256 };
        if !offset.is_multiple_of(alignment) {
            let message = format!("{name} begins at {offset:#x} of its buffer, allowed are multiples of {alignment}");
            self.found("target-alignment", message);
        }
        // Of linear targets the kernel counts one slice, and takes rows off that lie behind the buffer.
        let tall = layout.mode == ArrayMode::Linear;
        let row = u64::from(layout.pitch) * u64::from(bytes) * if tall { 1 } else { 8 };
        let wanted = if tall { row } else { layout.slice_bytes() * u64::from(target.slices[1]) + row };
        let slack = if tall { 0 } else { layout.slice_bytes().saturating_sub(row) };
        let end = offset.saturating_add(wanted).saturating_add(slack);
        if end > buffer.size {
            let message = format!(
                "{name} is {} x {} with {} slices from {offset:#x} on and ends at {end:#x}, the buffer {} has {:#x} bytes",
                layout.pitch,
                layout.height,
                target.slices[1] + 1,
                buffer.handle,
                buffer.size
            );
            self.found("target-outside-buffer", message);
        }
        whole
    }

    fn streams(&mut self) {
        let Some(streams) = stream_output(&self.registers) else { return };
        for n in (0..4u32).filter(|n| streams.buffers >> n & 1 == 1) {
            let base = vgt::VGT_STRMOUT_BUFFER_BASE_0::REGISTER.at(n);
            let Some(buffer) = self.bounds.get(&base).copied() else {
                if self.list.is_some() {
                    let message = format!("stream output buffer {n} is written, and its address had no relocation");
                    self.found("target-without-buffer", message);
                }
                continue;
            };
            let size = u64::from(self.registers.word(vgt::VGT_STRMOUT_BUFFER_SIZE_0::REGISTER, n)) * 4;
            let offset = (u64::from(self.registers.at(base)) << 8).wrapping_sub(buffer.base);
            if offset.saturating_add(size) > buffer.size {
                let message = format!(
                    "stream output buffer {n} has {size} bytes from {offset:#x} on, the buffer {} has {}",
                    buffer.handle, buffer.size
                );
                self.found("stream-outside-buffer", message);
            }
        }
    }

    /// What lies between the vertex and the pixel program.
    fn links(&mut self) {
        // A resolve, and a copy of depth, take nothing from the pixel program.
        use depth::DB_RENDER_CONTROL as Render;
        let copies = self.registers.flag(Render::DEPTH_COPY) || self.registers.flag(Render::STENCIL_COPY);
        if copies || special_op(&self.registers) != SpecialOp::Normal {
            return;
        }
        let lists = Lists::of(&self.registers);
        let first = PsInControl0::decode(self.registers.named("SPI_PS_IN_CONTROL_0", 0)).ok();
        let second = PsInControl1::decode(self.registers.named("SPI_PS_IN_CONTROL_1", 0)).ok();
        let special: Vec<(&str, u8)> = [
            first.as_ref().and_then(|c| c.position_ena.then_some(("the position", c.position_addr))),
            second.as_ref().and_then(|c| c.front_face_ena.then_some(("the face", c.front_face_addr))),
            second.as_ref().and_then(|c| {
                c.fixed_pt_position_ena.then_some(("the fixed-point position", c.fixed_pt_position_addr))
            }),
        ]
        .into_iter()
        .flatten()
        .collect();
        for (n, (what, register)) in special.iter().enumerate() {
            if let Some((other, _)) = special[..n].iter().find(|of| of.1 == *register) {
                self.found("shared-input", format!("{other} and {what} both go to R{register}"));
            }
        }
        // 0 and 255 are the numbers of inputs that are no parameters.
        let is_number = |semantic: u8| semantic != 0 && semantic != 0xff;
        for (n, semantic) in lists.semantics.iter().enumerate().filter(|(_, semantic)| is_number(**semantic)) {
            if lists.semantics[..n].contains(semantic) {
                self.found("same-semantic", format!("two parameters are exported with the semantic number {semantic}"));
            }
        }
        for (register, input) in (0u8..).zip(&lists.parameters) {
            let is_special = special.iter().any(|of| of.1 == register) || (input.sprite && is_number(input.semantic));
            if is_number(input.semantic) && !is_special && !lists.semantics.contains(&input.semantic) {
                let message = format!(
                    "R{register} of the pixel program takes the parameter with the semantic number {}, the vertex program exports {:?}: it has its default",
                    input.semantic, lists.semantics
                );
                self.found("unmet-semantic", message);
            }
        }
    }

    fn pixel_program(&mut self, pixel: &Loaded, special: SpecialOp) {
        let exports = exports(pixel);
        let control = DbShaderControl::decode(self.registers.named("DB_SHADER_CONTROL", 0)).ok();
        let usage = Usage::of(&pixel.program.words, 0, Chip::Rv770);
        if let Some(control) = control {
            if usage.kills && !control.kill_enable {
                self.found("ignored-kill", "the pixel program kills pixels, DB_SHADER_CONTROL.KILL_ENABLE is 0".into());
            }
            let takes = control.z_export_enable || control.stencil_ref_export_enable || control.mask_export_enable;
            if exports.depth && !takes {
                let message = "the pixel program exports depth, stencil or mask, DB_SHADER_CONTROL takes none of them";
                self.found("ignored-depth-export", message.into());
            }
        }
        if special != SpecialOp::Normal {
            return;
        }
        let shader = self.registers.named("CB_SHADER_MASK", 0);
        let multiwrite = self.registers.flag(colour::CB_COLOR_CONTROL::MULTIWRITE_ENABLE);
        for n in 0..8u32 {
            let exported = exports.colours >> n & 1 == 1;
            let taken = shader >> (4 * n) & 15 != 0;
            if exported && !taken {
                let message =
                    format!("the pixel program exports colour {n}, CB_SHADER_MASK lets nothing of it through");
                self.found("export-without-target", message);
            }
            let there = self.registers.nth(colour::CB_COLOR0_INFO::FORMAT, n) != 0;
            if !exported && !multiwrite && there && write_mask(&self.registers, n) != 0 {
                let message = format!("colour target {n} is written, the pixel program does not export colour {n}");
                self.found("target-without-export", message);
            }
        }
    }
}
