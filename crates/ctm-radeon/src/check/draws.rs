//! Rules on registers at a draw: targets, programs, and how they fit together.

use super::checker::Checker;
use crate::execute::{
    BufferWords, Lists, LoadedProgram, ProgramRegisters, SpecialOp, TextureWords, VALID_BUFFER, VALID_TEXTURE,
    container, geometry, kind_of, raster_scissor, special_op, write_masks,
};
use crate::registers::{clip, colour, depth, resource, scan};
use crate::table::{bit, one_bit, set_bits};
use ctm_image::r700::registers::{DbShaderControl, PgmExportsPs, PsInControl0, PsInControl1};
use ctm_isa::r700::inst::{Cf, CfEntry};
use ctm_isa::r700::ops::ExportType;
use ctm_isa::r700::program::{Chip, Stage, Usage};
use std::fmt::Write as _;
use std::rc::Rc;

/// ARRAY_BASE of the export of a position (R700 §3.4.1).
const POSITION: u16 = 60;

/// The exports of a pixel program.
#[derive(Default)]
struct Exports {
    colours: u32,
    depth: bool,
}

fn exports(program: &LoadedProgram) -> Exports {
    let mut exports = Exports::default();
    for entry in &program.program.decode().entries {
        let Ok(Cf::Export(export)) = &entry.cf else { continue };
        if export.kind != ExportType::Pixel {
            continue;
        }
        for burst in 0..=u32::from(export.word1.burst_count) {
            match u32::from(export.word0.array_base) + burst {
                n @ 0..=7 => exports.colours |= one_bit(n),
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
        let targets = self.targets();
        self.streams();
        if special == SpecialOp::Expand {
            return;
        }
        self.pixels(special);
        if self.memory.is_none() {
            return self.links();
        }
        let mut pixel = None;
        for registers in ProgramRegisters::of_draw(geometry(&self.registers)) {
            if registers.address(&self.registers) == 0 {
                continue;
            }
            let Some(loaded) = self.program(registers) else { continue };
            let fetch = if loaded.calls_fetch { self.program(&ProgramRegisters::FETCH) } else { None };
            if let Some(fetch) = &fetch {
                self.resources_of(fetch, registers, &targets);
            }
            self.resources_of(&loaded, registers, &targets);
            match registers.stage {
                Stage::Pixel => pixel = Some(loaded),
                Stage::Geometry => {}
                _ => self.vertex_program(registers, &loaded, fetch.as_deref()),
            }
        }
        self.links();
        if let Some(pixel) = pixel {
            self.pixel_program(&pixel, special);
        }
    }

    /// A program, if it ends within its buffer.
    fn program(&mut self, registers: &ProgramRegisters) -> Option<Rc<LoadedProgram>> {
        let memory = self.memory?;
        let given = registers.gprs(&self.registers);
        let place = registers.place(&self.registers, given);
        // A missing relocation has been reported already.
        if place.end.is_none() && !self.absolute {
            return None;
        }
        let known = self.programs.get(&place).cloned();
        let is_new = known.is_none();
        let read = known.unwrap_or_else(|| place.read(memory).map(Rc::new));
        self.programs.insert(place, read.clone());
        let (start, address) = (registers.start, place.address);
        let loaded = match read {
            Ok(loaded) => loaded,
            Err(why) => {
                self.found("program-outside-buffer", format!("{}: the program at {address:#x} {why}", start.name));
                return None;
            }
        };
        if registers.stage != Stage::Fetch && is_new {
            let used = Usage::of(&loaded.program.words, 0, Chip::Rv770).gprs;
            if used > given {
                let resources = registers.resources;
                let message = format!("the program uses {used} registers, {}.NUM_GPRS gives {given}", resources.name);
                self.found("few-registers", message);
            }
        }
        Some(loaded)
    }

    /// A program whose exports become vertices: it must export a position.
    fn vertex_program(&mut self, registers: &ProgramRegisters, program: &LoadedProgram, fetch: Option<&LoadedProgram>) {
        let name = registers.name();
        let ends = |entry: &CfEntry| entry.cf.as_ref().is_ok_and(Cf::ends_program).then_some(entry.addr);
        if let Some(slot) = fetch.and_then(|fetch| fetch.program.decode().entries.iter().find_map(ends)) {
            let lost = if registers.stage == Stage::Export { "exports nothing" } else { "exports no position" };
            let message = format!(
                "the {name} program ends in its fetch program and {lost}: instruction {slot} of the fetch program at {:#x} has END_OF_PROGRAM; \
                 a fetch program ends with a RETURN without it",
                ProgramRegisters::FETCH.address(&self.registers)
            );
            self.found("ends-in-fetch", message);
            return;
        }
        let exports_position = |entry: &CfEntry| {
            matches!(&entry.cf, Ok(Cf::Export(export)) if export.kind == ExportType::Pos
                && export.word0.array_base == POSITION)
        };
        let is_drawn = !self.registers.flag(clip::PA_CL_CLIP_CNTL::DX_RASTERIZATION_KILL);
        if registers.stage != Stage::Export
            && is_drawn
            && !program.program.decode().entries.iter().any(exports_position)
        {
            self.found("no-position", format!("the {name} program exports no position: nothing is drawn"));
        }
    }

    /// Checks the resources that a program fetches from.
    fn resources_of(&mut self, program: &LoadedProgram, registers: &ProgramRegisters, targets: &[(u64, u64)]) {
        let (stage, first) = (registers.name(), registers.set.first_resource());
        for &id in &program.buffers {
            let kind = kind_of(&self.registers.resource(first + u32::from(id)));
            if kind != VALID_BUFFER {
                let message = format!(
                    "the {stage} program fetches vertices from {}",
                    self.wrong_resource(registers, 'b', id, VALID_BUFFER)
                );
                self.found("wrong-resource", message);
                continue;
            }
            let number = first + u32::from(id);
            let of = BufferWords::of(&self.registers.resource(number));
            let name = resource::SQ_VTX_CONSTANT_WORD0_0::REGISTER.numbered(number);
            self.reached(
                &format!("fetch buffer b{id} of the {stage} program"),
                &name,
                of.address,
                of.buffer.size_bytes,
            );
        }
        for bank in set_bits(program.banks.into()) {
            let (address, bytes) = registers.set.constants(&self.registers, bank);
            let name = registers.set.constant_register().numbered(bank);
            self.reached(&format!("constant buffer {bank} of the {stage} program"), &name, address, bytes);
        }
        for id in program.textures.iter().map(|lookup| lookup.texture) {
            let words = self.registers.resource(first + u32::from(id));
            if kind_of(&words) == VALID_TEXTURE {
                let Ok(of) = TextureWords::of(&words) else { continue };
                let number = first + u32::from(id);
                let rows = [resource::SQ_TEX_RESOURCE_WORD2_0::REGISTER, resource::SQ_TEX_RESOURCE_WORD3_0::REGISTER];
                for (what, ((address, bytes), row)) in
                    ["level 0", "level 1 and on"].iter().zip(of.ranges().into_iter().zip(rows))
                {
                    let what = format!("{what} of texture t{id} of the {stage} program");
                    self.reached(&what, &row.numbered(number), address, bytes);
                }
                let overlaps = |&(at, bytes): &(u64, u64)| {
                    of.ranges().iter().any(|&(from, length)| at < from + length && from < at + bytes)
                };
                // The depth target is read for copies; a level of a texture may be drawn from another one.
                if of.levels.len() == 1 && of.surface.depth == 1 && targets.iter().any(overlaps) {
                    let message = format!("the {stage} program reads texture {id}, which the draw writes");
                    self.found("feedback", message);
                }
            } else if kind_of(&words) != VALID_BUFFER {
                let message = format!(
                    "the {stage} program reads texels from {}",
                    self.wrong_resource(registers, 't', id, VALID_TEXTURE)
                );
                self.found("wrong-resource", message);
            }
        }
    }

    /// A resource of a wrong kind, with both of its numbers: the instruction's, and that of SET_RESOURCE, which counts the resources of all
    /// stages. The message says so where a mix-up of the two explains the registers.
    fn wrong_resource(&self, registers: &ProgramRegisters, letter: char, id: u8, wanted: u32) -> String {
        let (stage, first) = (registers.name(), registers.set.first_resource());
        let number = first + u32::from(id);
        let name = |kind: u32| match kind {
            VALID_TEXTURE => "a texture",
            VALID_BUFFER => "a buffer",
            _ => "nothing",
        };
        let kind = kind_of(&self.registers.resource(number));
        let mut told = format!(
            "resource {number} ({letter}{id} of the program; the {stage} stage's resources begin with {first}), which is {}",
            name(kind)
        );
        let same = u32::from(id);
        if first > 0 && kind_of(&self.registers.resource(same)) == wanted {
            let _ = write!(told, "; resource {same} is {}", name(wanted));
            match same.checked_sub(first) {
                Some(own) => {
                    let _ = write!(told, ", and {letter}{own} in a {stage} program");
                }
                None => {
                    let _ = write!(told, ", and belongs to another stage");
                }
            }
        }
        told
    }

    /// Finds state that keeps all pixels of a draw from the targets, whatever its programs do.
    fn pixels(&mut self, special: SpecialOp) {
        use scan::{
            PA_SC_GENERIC_SCISSOR_BR as GenericBr, PA_SC_GENERIC_SCISSOR_TL as GenericTl,
            PA_SC_SCREEN_SCISSOR_BR as ScreenBr, PA_SC_SCREEN_SCISSOR_TL as ScreenTl,
            PA_SC_VPORT_SCISSOR_0_BR as ViewportBr, PA_SC_VPORT_SCISSOR_0_TL as ViewportTl,
            PA_SC_WINDOW_SCISSOR_BR as WindowBr, PA_SC_WINDOW_SCISSOR_TL as WindowTl,
        };
        if self.registers.flag(clip::PA_CL_CLIP_CNTL::DX_RASTERIZATION_KILL) {
            return;
        }
        let viewport = self.registers.flag(scan::PA_SC_MODE_CNTL::R700_VPORT_SCISSOR_ENABLE);
        let mut all = vec![
            ("the screen scissor", ScreenTl::REGISTER, ScreenBr::REGISTER),
            ("the window scissor", WindowTl::REGISTER, WindowBr::REGISTER),
            ("the generic scissor", GenericTl::REGISTER, GenericBr::REGISTER),
        ];
        all.extend(viewport.then_some(("the scissor of viewport 0", ViewportTl::REGISTER, ViewportBr::REGISTER)));
        let mut is_empty = false;
        for (what, first, second) in all {
            let [left, top] = scan::corner(self.registers.word(first, 0));
            let [right, bottom] = scan::corner(self.registers.word(second, 0));
            if left >= right || top >= bottom {
                is_empty = true;
                let names = [first, second].map(|register| register.numbered(0));
                let unset =
                    names.iter().zip([first, second]).all(|(_, register)| !self.written.contains(register.offset));
                let unset = if unset { ", which the stream does not write" } else { "" };
                let message = format!(
                    "{what} is empty, {left},{top} to {right},{bottom} ({} and {}{unset}): no pixel is drawn",
                    names[0], names[1]
                );
                self.found("empty-scissor", message);
            }
        }
        if !is_empty && raster_scissor(&self.registers).is_empty() {
            let message = "the screen, window and generic scissors have no pixel in common: no pixel is drawn";
            self.found("empty-scissor", message.into());
        }
        let writes = write_masks(&self.registers) != [0; 8];
        if special == SpecialOp::Normal && writes && self.registers.get(colour::CB_COLOR_CONTROL::ROP3) == 0 {
            let message =
                "CB_COLOR_CONTROL.ROP3 is 0: every colour that is written becomes 0; 0xcc stores what is exported";
            self.found("raster-operation", message.into());
        }
    }

    /// Checks the links between the vertex and the pixel program.
    fn links(&mut self) {
        // A resolve, and a copy of depth, take nothing from the pixel program.
        use depth::DB_RENDER_CONTROL as Render;
        let copies = self.registers.flag(Render::DEPTH_COPY) || self.registers.flag(Render::STENCIL_COPY);
        if copies || special_op(&self.registers) != SpecialOp::Normal {
            return;
        }
        let lists = Lists::of(&self.registers);
        let first = PsInControl0::decode(self.registers.named(container!("SPI_PS_IN_CONTROL_0"), 0)).ok();
        let second = PsInControl1::decode(self.registers.named(container!("SPI_PS_IN_CONTROL_1"), 0)).ok();
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

    fn pixel_program(&mut self, pixel: &LoadedProgram, special: SpecialOp) {
        let exports = exports(pixel);
        let control = DbShaderControl::decode(self.registers.named(container!("DB_SHADER_CONTROL"), 0)).ok();
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
        if let Ok(mode) = PgmExportsPs::decode(self.registers.named(container!("SQ_PGM_EXPORTS_PS"), 0)) {
            let count = exports.colours.count_ones();
            if count > u32::from(mode.colours()) {
                let message = format!(
                    "the pixel program exports {count} colours, SQ_PGM_EXPORTS_PS.EXPORT_MODE is {}, which is {} colours",
                    mode.export_mode,
                    mode.colours()
                );
                self.found("export-mode", message);
            }
            if exports.depth && !mode.depth() {
                let message = format!(
                    "the pixel program exports a depth, SQ_PGM_EXPORTS_PS.EXPORT_MODE is {}, which is none",
                    mode.export_mode
                );
                self.found("export-mode", message);
            }
        }
        let multiwrite = self.registers.flag(colour::CB_COLOR_CONTROL::MULTIWRITE_ENABLE);
        let masks = write_masks(&self.registers);
        for n in 0..8u32 {
            let exported = bit(exports.colours, n);
            let taken = self.registers.named_field(container!("CB_SHADER_MASK"), n as usize) != 0;
            if exported && !taken {
                let message =
                    format!("the pixel program exports colour {n}, CB_SHADER_MASK lets nothing of it through");
                self.found("export-without-target", message);
            }
            let there = self.registers.nth(colour::CB_COLOR0_INFO::FORMAT, n) != 0;
            if !exported && !multiwrite && there && masks[n as usize] != 0 {
                let message = format!("colour target {n} is written, the pixel program does not export colour {n}");
                self.found("target-without-export", message);
            }
        }
    }
}
