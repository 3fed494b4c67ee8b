//! Listings as a GFD container: the registers and variables of each program, from its words and from its settings.

use super::uniform::{Uniform, UniformPlace, UniformType};
use super::{Loaded, exports, registers_of, stored_stage};
use crate::error::JobError;
use crate::render::Report;
use ctm_exec::r700::Target;
use ctm_image::ImageError;
use ctm_image::r700::gfd::header::{GEOMETRY, PIXEL, VERTEX, VariableKind, unset};
use ctm_image::r700::gfd::print::Described;
use ctm_image::r700::gfd::settings::Settings;
use ctm_image::r700::gfd::{self, NewProgram};
use ctm_image::r700::registers;
use ctm_image::r700::{ExtractedProgram, RegisterValue, ShaderStage};
use ctm_isa::diag::Diagnostic;
use ctm_isa::r700::inst::Cf;
use ctm_isa::r700::program::{Chip, Program, Stage as IsaStage, Symbol, SymbolKind, Usage};
use ctm_isa::r700::text::{TextOptions, assemble};

/// Default values of the console's tools: vertices are kept for reuse.
const VERTEX_REUSE: [(&str, u32); 2] = [("VGT_VERTEX_REUSE_BLOCK_CNTL", 14), ("VGT_HOS_REUSE_DEPTH", 16)];
/// `SPI_PS_IN_CONTROL_0.BARYC_SAMPLE_CNTL`: at the centres only.
const CENTERS_ONLY: u32 = 1;
/// `DB_SHADER_CONTROL.Z_ORDER`: early, then late.
const EARLY_Z_THEN_LATE_Z: u32 = 1;
/// [`NewProgram::mode`]: uniforms are constant buffers, not the constant file.
const UNIFORM_BLOCKS: u32 = 1;

/// The bytes of a GFD container with these programs, in this order. A copy program belongs to the geometry program before it.
///
/// Registers follow from the words (GPRs, stack, exports, killing), else they are the defaults of the console's tools; the listing's settings (`;
/// $NAME = value`) override both.
///
/// # Errors
/// Invalid settings, with their places; programs that the container has no place for.
pub fn write_gfd(programs: &[&Loaded]) -> Result<Vec<u8>, JobError> {
    let mut out: Vec<NewProgram> = Vec::new();
    let mut wrong: Vec<Report> = Vec::new();
    for loaded in programs {
        let image = |e: ImageError| JobError::Wrong(vec![Report::bare(Diagnostic::error(e.name(), e.to_string()))]);
        let stage = stored_stage(&loaded.program).map_err(image)?;
        if stage == ShaderStage::Copy {
            let before = out.last_mut().filter(|p| p.code.stage == ShaderStage::Geometry && p.copy.is_none());
            let Some(geometry) = before else {
                let message =
                    "a copy program stands behind the geometry program whose vertices it copies, in the same container";
                wrong.push(Report::bare(Diagnostic::error("copy-program-alone", message)));
                continue;
            };
            copy_program(geometry, &loaded.program);
            continue;
        }
        match read_program(loaded, stage) {
            Ok(program) => out.push(program),
            Err(found) => wrong.extend(found),
        }
    }
    if !wrong.is_empty() {
        return Err(JobError::Wrong(wrong));
    }
    let built = gfd::build(&out)
        .map_err(|e| JobError::Wrong(vec![Report::bare(Diagnostic::error(e.name(), e.to_string()))]))?;
    Ok(built.write())
}

/// A listing as a program of a container, with its settings.
pub(super) fn read_program(loaded: &Loaded, stage: ShaderStage) -> Result<NewProgram, Vec<Report>> {
    let layout = match stage {
        ShaderStage::Vertex => &VERTEX,
        ShaderStage::Pixel => &PIXEL,
        ShaderStage::Geometry => &GEOMETRY,
        ShaderStage::Fetch | ShaderStage::Copy | ShaderStage::Compute => {
            let message = format!("GFD containers have no place for {} programs", stage.name());
            return Err(vec![Report::bare(Diagnostic::error("no-place", message))]);
        }
    };
    let settings = Settings::read(&loaded.program.settings, layout).map_err(|found| {
        let report = |diagnostic| Report { diagnostic, source: loaded.source.clone() };
        found.into_iter().map(report).collect::<Vec<_>>()
    })?;
    Ok(new_program(&loaded.program, stage, settings))
}

/// A program with the variables, mode and other words of a header, and the registers that follow from it and from them.
pub(super) fn described_program(program: &Program, stage: ShaderStage, described: &Described) -> NewProgram {
    let settings = Settings {
        variables: described.variables.clone(),
        mode: Some(described.mode),
        words: described.words.clone(),
        ..Settings::default()
    };
    new_program(program, stage, settings)
}

/// The registers of one program while they are put together.
struct ProgramRegisters(Vec<RegisterValue>);

impl ProgramRegisters {
    fn set(&mut self, name: &str, value: u32) {
        if let Some(address) = registers::address(name) {
            self.set_at(address, u32::MAX, value, 0);
        }
    }

    fn set_field(&mut self, name: &str, field: &str, value: u32) {
        let Some(row) = registers::named(name) else { return };
        if let Some(field) = row.format.fields.iter().find(|f| f.name == field) {
            self.set_at(row.address, field.mask(), value << field.lsb, 0);
        }
    }

    /// Sets the bits of `mask`; `before` is the register's default, used if it has no value yet.
    fn set_at(&mut self, address: u32, mask: u32, bits: u32, before: u32) {
        match self.0.iter_mut().find(|r| r.address == address) {
            Some(r) => r.value = r.value & !mask | bits & mask,
            None => self.0.push(RegisterValue { address, value: before & !mask | bits & mask }),
        }
    }

    /// Overrides values with settings.
    fn overlay(&mut self, settings: &Settings) {
        for &(first, count) in &settings.counts {
            let Some((row, _)) = registers::at(first) else { continue };
            for address in (0..count).map(|i| first + i * 4) {
                self.set_at(address, 0, 0, unset(row));
            }
        }
        for &(address, mask, bits) in &settings.registers {
            let before = registers::at(address).map_or(0, |(row, _)| unset(row));
            self.set_at(address, mask, bits, before);
        }
    }

    /// The count of registers in a list: up to the last existing one.
    fn listed(&self, name: &str) -> u32 {
        let Some(list) = registers::named(name) else { return 0 };
        let there = |i: &u32| self.0.iter().any(|r| r.address == list.address + i * 4);
        (0..list.count).rev().find(there).map_or(0, |i| i + 1)
    }
}

fn new_program(program: &Program, stage: ShaderStage, settings: Settings) -> NewProgram {
    let mut registers = ProgramRegisters(registers_of(program, stage));
    match stage {
        ShaderStage::Vertex => vertex_registers(&mut registers, program, &settings),
        ShaderStage::Pixel => pixel_registers(&mut registers, program),
        ShaderStage::Geometry | ShaderStage::Fetch | ShaderStage::Copy | ShaderStage::Compute => {}
    }
    registers.overlay(&settings);
    // Values that follow from the length of lists; a setting overrides them.
    match stage {
        ShaderStage::Vertex => {
            let attributes = registers.listed("SQ_VTX_SEMANTIC");
            // A bit for each attribute that is not there.
            registers.set("SQ_VTX_SEMANTIC_CLEAR", u32::MAX.checked_shl(attributes).unwrap_or(0));
        }
        ShaderStage::Pixel => {
            let inputs = registers.listed("SPI_PS_INPUT_CNTL");
            registers.set_field("SPI_PS_IN_CONTROL_0", "NUM_INTERP", inputs);
        }
        ShaderStage::Geometry | ShaderStage::Fetch | ShaderStage::Copy | ShaderStage::Compute => {}
    }
    registers.overlay(&settings);
    NewProgram {
        variables: settings.variables,
        mode: settings.mode.unwrap_or(if locks_constants(program) { UNIFORM_BLOCKS } else { 0 }),
        words: settings.words,
        ..NewProgram::new(ExtractedProgram { stage, words: program.words.clone(), registers: registers.0 })
    }
}

fn vertex_registers(registers: &mut ProgramRegisters, program: &Program, settings: &Settings) {
    for (name, value) in VERTEX_REUSE {
        registers.set(name, value);
    }
    exported_parameters(registers, program, settings);
    // Attribute n is fetched to GPR n + 1, by the number of its place.
    if let Some(list) = registers::named("SQ_VTX_SEMANTIC")
        && !settings.mentions(list)
    {
        let location = VariableKind::Attribute.columns().iter().position(|c| *c == "location").unwrap_or(0);
        let attributes = settings.variables.iter().filter(|v| v.kind == VariableKind::Attribute);
        for (n, attribute) in (0..list.count).zip(attributes) {
            registers.set_at(list.address + n * 4, u32::MAX, attribute.values[location] & 0xff, 0);
        }
    }
}

/// The exports of a vertex or copy program besides the position. Parameter n has the semantic number n, unless settings say.
fn exported_parameters(registers: &mut ProgramRegisters, program: &Program, settings: &Settings) {
    let mut parameters = 0;
    registers.set("PA_CL_VS_OUT_CNTL", 0);
    for target in exports(program) {
        match target {
            Target::Parameter(n) => parameters = parameters.max(u32::from(n) + 1),
            Target::Position(1) => registers.set_field("PA_CL_VS_OUT_CNTL", "VS_OUT_MISC_VEC_ENA", 1),
            Target::Position(2) => registers.set_field("PA_CL_VS_OUT_CNTL", "VS_OUT_CCDIST0_VEC_ENA", 1),
            Target::Position(3) => registers.set_field("PA_CL_VS_OUT_CNTL", "VS_OUT_CCDIST1_VEC_ENA", 1),
            Target::Position(_) | Target::Pixel(_) | Target::Depth => {}
        }
    }
    registers.set_field("SPI_VS_OUT_CONFIG", "VS_EXPORT_COUNT", parameters.saturating_sub(1));
    if let Some(list) = registers::named("SPI_VS_OUT_ID")
        && !settings.mentions(list)
    {
        for n in 0..parameters {
            registers.set_at(list.address + n / 4 * 4, 0xff << (n % 4 * 8), n << (n % 4 * 8), unset(list));
        }
    }
}

fn pixel_registers(registers: &mut ProgramRegisters, program: &Program) {
    let (mut mask, mut targets, mut depth) = (0, 0, 0);
    for target in exports(program) {
        match target {
            Target::Pixel(n) => {
                mask |= 0xf << (n * 4);
                targets |= 1 << n;
            }
            Target::Depth => depth = 1,
            Target::Position(_) | Target::Parameter(_) => {}
        }
    }
    let kills = Usage::of(&program.words, program.entry, Chip::Rv770).kills;
    registers.set("CB_SHADER_MASK", mask);
    registers.set("CB_SHADER_CONTROL", targets);
    registers.set_field("DB_SHADER_CONTROL", "Z_EXPORT_ENABLE", depth);
    registers.set_field("DB_SHADER_CONTROL", "Z_ORDER", EARLY_Z_THEN_LATE_Z);
    registers.set_field("DB_SHADER_CONTROL", "KILL_ENABLE", kills.into());
    registers.set_field("SPI_PS_IN_CONTROL_0", "BARYC_SAMPLE_CNTL", CENTERS_ONLY);
    registers.set_field("SPI_PS_IN_CONTROL_0", "PERSP_GRADIENT_ENA", 1);
}

/// A geometry program's header holds the registers of its copy program, too. Its settings override them.
pub(super) fn copy_program(geometry: &mut NewProgram, program: &Program) {
    let mut registers = ProgramRegisters(registers_of(program, ShaderStage::Copy));
    exported_parameters(&mut registers, program, &Settings::default());
    let given = std::mem::take(&mut geometry.code.registers);
    registers.0.retain(|r| !given.iter().any(|g| g.address == r.address));
    registers.0.extend(given);
    geometry.code.registers = registers.0;
    geometry.copy =
        Some(ExtractedProgram { stage: ShaderStage::Copy, words: program.words.clone(), registers: Vec::new() });
}

/// Whether an ALU clause locks lines of a constant buffer.
fn locks_constants(program: &Program) -> bool {
    program.decode().entries.iter().any(|entry| match entry.cf {
        Ok(Cf::Alu(alu)) => alu.word0.kcache_mode0.code() != 0 || alu.word1.kcache_mode1.code() != 0,
        Ok(Cf::Plain(_) | Cf::Export(_) | Cf::Mem(_)) | Err(_) => false,
    })
}

/// The first buffer of a fetch program's attributes, among the resources of vertex programs.
const ATTRIBUTE_BUFFERS: u32 = 160;

/// A program's settings, if they are right.
fn settings_of(program: &Program) -> Option<Settings> {
    let layout = match program.stage? {
        IsaStage::Vertex | IsaStage::Export => &VERTEX,
        IsaStage::Pixel => &PIXEL,
        IsaStage::Geometry => &GEOMETRY,
        IsaStage::Fetch | IsaStage::Copy | IsaStage::Compute => return None,
    };
    Settings::read(&program.settings, layout).ok()
}

/// Most elements of an array of uniforms that are named.
const MOST_ELEMENTS: u32 = 4096;

/// A row of a container's tables: its kind, its name, its further columns.
pub type TableRow<'a> = (VariableKind, &'a str, &'a [u32]);

/// A column of a variable's row.
#[must_use]
pub fn column((kind, _, values): TableRow<'_>, name: &str) -> Option<u32> {
    let at = kind.columns().iter().position(|column| *column == name)?;
    values.get(at).copied()
}

/// The uniforms among a program's variables. UNVERIFIED: that offsets count dwords in blocks as they do in the constant file; a container of the
/// console's own compiler with two uniforms in a block would settle it.
pub fn uniforms<'a>(rows: impl Iterator<Item = TableRow<'a>> + Clone) -> Vec<Uniform> {
    let place = |row: TableRow<'a>| {
        let constant = column(row, "offset")? as usize / 4;
        let block = column(row, "block")?.cast_signed();
        // -1: none; the constant file.
        let Ok(block) = usize::try_from(block) else { return Some(UniformPlace::File(constant)) };
        let block = rows.clone().filter(|row| row.0 == VariableKind::UniformBlock).nth(block)?;
        Some(UniformPlace::Buffer(u8::try_from(column(block, "offset")?).ok()?, constant))
    };
    let uniform = |row: TableRow<'a>| {
        let component = column(row, "offset")? as usize % 4;
        let of = UniformType::of(column(row, "type")?);
        let count = column(row, "count")?.clamp(1, MOST_ELEMENTS) as usize;
        Some(Uniform { name: row.1.to_owned(), place: place(row)?, component, of, count })
    };
    rows.clone().filter(|row| row.0 == VariableKind::Uniform).filter_map(uniform).collect()
}

/// The samplers among a program's variables, with the number of sampler and texture.
pub fn samplers<'a>(rows: impl Iterator<Item = TableRow<'a>>) -> Vec<(&'a str, u8)> {
    let samplers = rows.filter(|row| row.0 == VariableKind::Sampler);
    samplers.filter_map(|row| Some((row.1, u8::try_from(column(row, "location")?).ok()?))).collect()
}

/// The registers that a fetch program fills for a vertex program, with the locations of their attributes: `register` gives the words of
/// `SQ_VTX_SEMANTIC`.
pub fn fetched(register: impl Fn(u32) -> Option<u32>) -> Vec<(u8, u8)> {
    // 255: nothing is fetched there.
    let place = |n: u8| register(n.into()).map(|word| (n + 1, (word & 0xff) as u8)).filter(|place| place.1 != u8::MAX);
    (0..32).filter_map(place).collect()
}

/// The rows of a program's settings.
fn rows(settings: &Settings) -> impl Iterator<Item = TableRow<'_>> + Clone {
    settings.variables.iter().map(|v| (v.kind, v.name.as_str(), v.values.as_slice()))
}

/// The uniforms that a program's settings name.
#[must_use]
pub fn uniforms_of(program: &Program) -> Vec<Uniform> {
    settings_of(program).map(|settings| uniforms(rows(&settings))).unwrap_or_default()
}

/// Lets jobs bind the variables that settings name: uniforms of the constant file (the further constants of an array or matrix as `name.1`, `name.2`),
/// samplers with their textures, and attributes as the buffers that [`attribute_fetch`] reads.
pub fn name_variables(program: &mut Program) {
    let Some(settings) = settings_of(program) else { return };
    let mut found: Vec<(String, SymbolKind, usize)> = Vec::new();
    for uniform in uniforms(rows(&settings)) {
        // Uniforms of blocks are in constant buffers.
        let UniformPlace::File(first) = uniform.place else { continue };
        for n in 0..uniform.constants() {
            let name = if n == 0 { uniform.name.clone() } else { format!("{}.{n}", uniform.name) };
            found.push((name, SymbolKind::Constant, first + n));
        }
    }
    for (name, location) in samplers(rows(&settings)) {
        found.push((name.to_owned(), SymbolKind::Resource, location.into()));
        found.push((name.to_owned(), SymbolKind::Sampler, location.into()));
    }
    for (n, attribute) in (0..).zip(rows(&settings).filter(|row| row.0 == VariableKind::Attribute)) {
        found.push((attribute.1.to_owned(), SymbolKind::Buffer, ATTRIBUTE_BUFFERS as usize + n));
    }
    for (name, kind, index) in found {
        if let (Ok(index), None) = (u8::try_from(index), program.symbol(kind, &name)) {
            program.symbols.push(Symbol { name, kind, index });
        }
    }
}

/// The fetch program that a host makes of a vertex program's attributes: each comes from a buffer of its own, item R0.x, in the buffer's format, into
/// the register that `SQ_VTX_SEMANTIC` says for its location, or by its place from R1 on. `None` without attributes.
#[must_use]
pub fn attribute_fetch(program: &Program) -> Option<Program> {
    let settings = settings_of(program)?;
    let list = registers::named("SQ_VTX_SEMANTIC")?;
    let said = fetched(|n| {
        let register = settings.registers.iter().find(|r| r.0 == list.address + 4 * n && r.1 & 0xff == 0xff);
        register.map(|register| register.2)
    });
    let mut text = String::from("VTX:\n");
    let attributes: Vec<_> = rows(&settings).filter(|row| row.0 == VariableKind::Attribute).collect();
    for (n, &attribute) in (0u32..).zip(&attributes) {
        let at = column(attribute, "location")?;
        let gpr = said.iter().find(|(_, location)| u32::from(*location) == at).map_or(n + 1, |(gpr, _)| (*gpr).into());
        let buffer = ATTRIBUTE_BUFFERS + n;
        text.push_str(&format!(" FETCH R{gpr}.xyzw, R0.x, b{buffer} USE_CONST_FIELDS(1)\n"));
    }
    text.push_str("RETURN\n");
    let fetch = assemble(&text, &TextOptions::default()).program.filter(|_| !attributes.is_empty())?;
    Some(Program { stage: Some(IsaStage::Fetch), ..fetch })
}
