//! From a capture of the client to programs with their registers and bindings.

use crate::types::{ComponentType, by_number, sampler_by_number};
use ctm_exec::Interp;
use ctm_exec::r700::texture::needs_no_resource;
use ctm_image::r700::gfd::header::{HeaderLayout, PIXEL, VERTEX, VariableKind, WordMeaning};
use ctm_image::r700::gfd::{NewProgram, NewVariable};
use ctm_image::r700::registers::{self, PsInControl0, Register, VsOutConfig};
use ctm_image::r700::{ExtractedProgram, RegisterValue, ShaderStage};
use ctm_isa::r700::inst::{Cf, ClauseBody, Fetch};
use ctm_isa::r700::ops::KcacheMode;
use ctm_isa::r700::program::{Program, Stage as IsaStage};
use ctm_radeon::capture::ReadError;
use ctm_radeon::execute::{GpuMemory, Next, Registers, length_slots};
use ctm_radeon::replay::Replay;
use serde_json::Value;
use std::fmt;

/// Mesa's textures have numbers after those of its constant buffers.
const FIRST_TEXTURE: u8 = 18;
/// Primitive types of the draw: triangles.
const TRIANGLES: ctm_draw::state::Topology = ctm_draw::state::Topology::Triangles;
/// Uniforms are constant buffers, not the constant file ([`Part::Mode`]).
const UNIFORM_BLOCKS: u32 = 1;
/// Constant buffers of a stage.
const BANKS: u32 = 16;

/// Why a capture has no pair.
#[derive(Debug)]
#[non_exhaustive]
pub enum PairError {
    /// It cannot be read.
    Capture(ReadError),
    /// It has no draw of triangles.
    NoDraw,
    /// A stream is not made of packets.
    Stream,
    /// A program does not end within its buffer.
    Program(&'static str),
    /// The client's output cannot be read.
    Client(&'static str),
}

impl fmt::Display for PairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Capture(e) => write!(f, "the capture cannot be read: {e}"),
            Self::NoDraw => f.write_str("the driver's streams have no draw of triangles"),
            Self::Stream => f.write_str("a stream of the driver's is not made of packets"),
            Self::Program(which) => write!(f, "the {which} program does not end within its buffer"),
            Self::Client(what) => write!(f, "the client does not say `{what}`"),
        }
    }
}

impl std::error::Error for PairError {}

impl From<ReadError> for PairError {
    fn from(e: ReadError) -> Self {
        Self::Capture(e)
    }
}

/// A vertex and a pixel program.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The vertex program.
    pub vertex: NewProgram,
    /// The pixel program.
    pub pixel: NewProgram,
    /// Their inexpressible parts.
    pub remarks: Vec<String>,
}

/// The pair that the last draw of triangles in a capture has. `open` opens the capture, `told` is the result of [`reflect`](crate::reflect).
///
/// # Errors
/// A capture that is damaged or has no such draw.
pub fn pair<R: std::io::Read>(open: impl Fn() -> std::io::Result<R>, told: &Value) -> Result<Pair, PairError> {
    let again = || open().map_err(|e| PairError::Capture(ReadError::Io(e)));
    // First which draw it is, then up to there.
    let mut replay = Replay::new(again()?, Box::new(Interp))?;
    let mut last = None;
    let mut submission = 0u64;
    loop {
        let mut watcher = |stepped: &ctm_radeon::execute::Stepped<'_>| {
            if stepped.outline.topology == Some(TRIANGLES) {
                last = Some((submission, stepped.outline.draw));
            }
            Next::Continue
        };
        if replay.step(&mut watcher)?.is_none() {
            break;
        }
        submission += 1;
    }
    let (wanted, draw) = last.ok_or(PairError::NoDraw)?;
    let mut replay = Replay::new(again()?, Box::new(Interp))?;
    for number in 0..=wanted {
        replay.step(&mut |stepped| {
            if number == wanted && stepped.outline.draw == draw { Next::Stop } else { Next::Continue }
        })?;
    }
    let registers = replay.device().registers().clone();
    let memory = replay.memory();
    let bound = Bound { registers, memory: &memory, told };
    let mut remarks = Vec::new();
    let vertex = bound.program(&VERTEX_ROW, &mut remarks)?;
    let pixel = bound.program(&PIXEL_ROW, &mut remarks)?;
    Ok(Pair { vertex, pixel, remarks })
}

/// Differences of the stages.
struct StageRow {
    stage: ShaderStage,
    isa: IsaStage,
    start: &'static str,
    layout: &'static HeaderLayout,
    banks: &'static str,
    sizes: &'static Register,
    /// The number of the stage's first resource.
    resources: u32,
}

static VERTEX_ROW: StageRow = StageRow {
    stage: ShaderStage::Vertex,
    isa: IsaStage::Vertex,
    start: "SQ_PGM_START_VS",
    layout: &VERTEX,
    banks: "ALU_CONST_CACHE_VS_0",
    sizes: registers::row("ALU_CONST_BUFFER_SIZE_VS"),
    resources: 160,
};
static PIXEL_ROW: StageRow = StageRow {
    stage: ShaderStage::Pixel,
    isa: IsaStage::Pixel,
    start: "SQ_PGM_START_PS",
    layout: &PIXEL,
    banks: "ALU_CONST_CACHE_PS_0",
    sizes: registers::row("ALU_CONST_BUFFER_SIZE_PS"),
    resources: 0,
};

/// The resources of a program.
#[derive(Default)]
struct Reached {
    /// Textures, counted from the first.
    textures: Vec<u8>,
    /// Constant buffers that it locks or fetches, bit 0 = buffer 0.
    banks: u32,
}

/// The state of the draw.
struct Bound<'a> {
    registers: Registers,
    memory: &'a dyn GpuMemory,
    told: &'a Value,
}

impl Bound<'_> {
    fn program(&self, row: &StageRow, remarks: &mut Vec<String>) -> Result<NewProgram, PairError> {
        let mut words = self.words(row)?;
        let reached = reach(&mut words, row, remarks);
        let code = ExtractedProgram { stage: row.stage, words, registers: self.stored(row) };
        let mut program = NewProgram::new(code);
        program.mode = UNIFORM_BLOCKS;
        self.uniforms(row, &reached, &mut program, remarks)?;
        self.samplers(row, &reached, &mut program, remarks)?;
        if row.stage == ShaderStage::Vertex {
            self.attributes(&mut program)?;
        }
        Ok(program)
    }

    /// The words of the stage's program, as long as it reaches.
    fn words(&self, row: &StageRow) -> Result<Vec<u32>, PairError> {
        let unknown = || PairError::Program(row.stage.name());
        let offset = registers::address(row.start).ok_or_else(unknown)?;
        let address = u64::from(self.registers.at(offset)) << 8;
        let end = self.registers.end(offset).ok_or_else(unknown)?;
        let bytes = self.memory.bytes(address, end.saturating_sub(address) & !7).ok_or_else(unknown)?;
        let mut words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let slots = length_slots(&words).map_err(|_| unknown())?;
        words.truncate(2 * slots);
        Ok(words)
    }

    /// The registers that a container stores for the stage. Lists are as long as other registers say.
    fn stored(&self, row: &StageRow) -> Vec<RegisterValue> {
        let exports = VsOutConfig::decode(self.registers.named(const { registers::row("SPI_VS_OUT_CONFIG") }, 0))
            .map_or(0, |c| c.vs_export_count);
        let inputs = PsInControl0::decode(self.registers.named(const { registers::row("SPI_PS_IN_CONTROL_0") }, 0))
            .map_or(0, |c| c.num_interp);
        let mut out = Vec::new();
        for (_, part) in row.layout.words() {
            let WordMeaning::Register(register, n) = part else { continue };
            let is_stored = match register.name {
                "SPI_VS_OUT_ID" => n <= u32::from(exports) / 4,
                "SPI_PS_INPUT_CNTL" => n < u32::from(inputs),
                // Mesa's fetch programs know registers; the container's tables say them here.
                "SQ_VTX_SEMANTIC" | "SQ_VTX_SEMANTIC_CLEAR" => false,
                _ => true,
            };
            if is_stored {
                let address = register.address + 4 * n;
                out.push(RegisterValue { address, value: self.registers.at(address) });
            }
        }
        out
    }

    /// A list of the client's output.
    fn list(&self, name: &'static str) -> Result<&[Value], PairError> {
        self.told[name].as_array().map(Vec::as_slice).ok_or(PairError::Client(name))
    }

    /// The constant buffers that the program locks or fetches, with their bytes.
    fn banks(&self, row: &StageRow, reached: &Reached) -> Vec<(u32, &[u8])> {
        let Some(first) = ctm_radeon::registers::offset_of(row.banks) else { return Vec::new() };
        let bank = |n: u32| {
            let offset = first + 4 * n;
            let address = u64::from(self.registers.at(offset)) << 8;
            // In units of 16 constants; the buffer may end before.
            let bytes = 256 * u64::from(self.registers.named(row.sizes, n));
            let end = self.registers.end(offset)?;
            Some((n, self.memory.bytes(address, bytes.min(end.checked_sub(address)?))?))
        };
        (0..BANKS).filter(|n| reached.banks >> n & 1 == 1).filter_map(bank).collect()
    }

    /// Blocks and uniforms, found by the values that the client gave them.
    fn uniforms(
        &self,
        row: &StageRow,
        reached: &Reached,
        program: &mut NewProgram,
        remarks: &mut Vec<String>,
    ) -> Result<(), PairError> {
        let banks = self.banks(row, reached);
        let find = |pattern: &Value| {
            let pattern = u32::try_from(pattern.as_u64()?).ok()?.to_le_bytes();
            banks.iter().find_map(|(n, bytes)| {
                let at = bytes.as_chunks::<4>().0.iter().position(|word| *word == pattern)?;
                Some((*n, u32::try_from(at).ok()?))
            })
        };
        let variable = |kind, name: &str, values: Vec<u32>| NewVariable { kind, name: name.to_owned(), values };
        // Which row of the container's table a constant buffer has.
        let mut rows: Vec<u32> = Vec::new();
        let mut known = Vec::new();
        for block in self.list("blocks")? {
            let place = find(&block["pattern"]);
            let bytes = u32::try_from(block["bytes"].as_u64().unwrap_or(0)).unwrap_or(0);
            known.push(place.map(|(bank, _)| {
                rows.push(bank);
                let name = block["name"].as_str().unwrap_or_default();
                program.variables.push(variable(VariableKind::UniformBlock, name, vec![bank, bytes]));
                rows.len() - 1
            }));
        }
        for uniform in self.list("uniforms")? {
            let name = uniform["name"].as_str().unwrap_or_default();
            let number = u32::try_from(uniform["type"].as_u64().unwrap_or(0)).unwrap_or(0);
            let Some(of) = by_number(number) else {
                remarks.push(format!("uniform `{name}` is of a type ({number:#x}) that containers have no name for"));
                continue;
            };
            let count = u32::try_from(uniform["size"].as_u64().unwrap_or(1)).unwrap_or(1);
            let (block, at) = if let Some(block) = uniform["block"].as_u64() {
                let Some(block) = known.get(usize::try_from(block).unwrap_or(usize::MAX)).copied().flatten() else {
                    continue;
                };
                // Members have their names alone where the block has one.
                (block, u32::try_from(uniform["offset"].as_u64().unwrap_or(0)).unwrap_or(0) / 4)
            } else if of.of == ComponentType::Bool {
                remarks.push(format!("uniform `{name}` is a boolean, whose place cannot be seen"));
                continue;
            } else {
                // One that the other stage uses is not here.
                let Some((bank, at)) = find(&uniform["pattern"]) else { continue };
                let row = rows.iter().position(|&other| other == bank).unwrap_or_else(|| {
                    rows.push(bank);
                    let bytes = banks.iter().find(|b| b.0 == bank).map_or(0, |b| b.1.len());
                    let values = vec![bank, u32::try_from(bytes).unwrap_or(u32::MAX)];
                    program.variables.push(variable(VariableKind::UniformBlock, "uniforms", values));
                    rows.len() - 1
                });
                (row, at)
            };
            // Containers write none for one that is no array.
            let count = if count > 1 { count } else { 0 };
            let block = u32::try_from(block).unwrap_or(0);
            let values = vec![of.container.code(), count, at, block];
            program.variables.push(variable(VariableKind::Uniform, name, values));
        }
        Ok(())
    }

    /// Samplers, found by the sizes of the textures that the client bound.
    fn samplers(
        &self,
        row: &StageRow,
        reached: &Reached,
        program: &mut NewProgram,
        remarks: &mut Vec<String>,
    ) -> Result<(), PairError> {
        let list = self.list("samplers")?;
        for &texture in &reached.textures {
            // TEX_WIDTH of word 0, less one.
            let words = self.registers.resource(row.resources + u32::from(FIRST_TEXTURE) + u32::from(texture));
            let columns = u64::from(words[0] >> 19) + 1;
            let Some(sampler) = list.iter().find(|s| s["columns"].as_u64() == Some(columns)) else {
                remarks.push(format!("the {} program reads texture {texture}, which no sampler is", row.stage.name()));
                continue;
            };
            let name = sampler["name"].as_str().unwrap_or_default();
            let number = u32::try_from(sampler["type"].as_u64().unwrap_or(0)).unwrap_or(0);
            let kind = sampler_by_number(number).and_then(|sampler| sampler.container).unwrap_or_else(|| {
                remarks.push(format!(
                    "sampler `{name}` is of a kind that containers have no known number for; it is stored as sampler2D"
                ));
                1
            });
            let values = vec![kind, u32::from(texture)];
            program.variables.push(NewVariable { kind: VariableKind::Sampler, name: name.to_owned(), values });
        }
        Ok(())
    }

    /// Attributes, and which registers they come in: one after the other by location, from R1 on.
    fn attributes(&self, program: &mut NewProgram) -> Result<(), PairError> {
        let mut locations = Vec::new();
        for attribute in self.list("attributes")? {
            let number = |name: &str| u32::try_from(attribute[name].as_u64().unwrap_or(0)).unwrap_or(0);
            let (location, count) = (number("location"), number("size").max(1));
            let Some(of) = by_number(number("type")) else { continue };
            let name = attribute["name"].as_str().unwrap_or_default().to_owned();
            let values = vec![of.container.code(), if count > 1 { count } else { 0 }, location];
            program.variables.push(NewVariable { kind: VariableKind::Attribute, name, values });
            locations.extend((0..of.columns as u32 * count).map(|n| location + n));
        }
        locations.sort_unstable();
        let mut set = |name: &str, n: u32, value: u32| {
            if let Some(row) = registers::named(name) {
                program.code.registers.push(RegisterValue { address: row.address + 4 * n, value });
            }
        };
        for (n, &location) in (0..).zip(&locations) {
            set("SQ_VTX_SEMANTIC", n, location);
        }
        let count = u32::try_from(locations.len()).unwrap_or(32);
        set("SQ_VTX_SEMANTIC_CLEAR", 0, u32::MAX.checked_shl(count).unwrap_or(0));
        program.code.registers.sort_by_key(|register| register.address);
        Ok(())
    }
}

/// Renumbers the resources of a program. Mesa numbers textures after its constant buffers; a container numbers them from 0, and so does the program now.
fn reach(words: &mut [u32], row: &StageRow, remarks: &mut Vec<String>) -> Reached {
    let program = Program { stage: Some(row.isa), ..Program::from_words(words.to_vec()) };
    let mut reached = Reached::default();
    for entry in &program.decode().entries {
        if let Ok(Cf::Alu(alu)) = &entry.cf {
            for lock in alu.kcache().iter().filter(|lock| lock.mode != KcacheMode::Nop) {
                reached.banks |= 1 << (lock.bank & 15);
            }
        }
        let (ClauseBody::Fetch(clause), Ok(cf)) = (&entry.clause, &entry.cf) else { continue };
        let Some((first, _)) = cf.clause() else { continue };
        for (n, fetch) in clause.fetches.iter().enumerate() {
            let Ok(inst) = &fetch.inst else { continue };
            match &inst.fetch {
                Fetch::Tex(texture) if texture.word0.resource_id >= FIRST_TEXTURE => {
                    let mut word0 = texture.word0;
                    word0.resource_id -= FIRST_TEXTURE;
                    if !needs_no_resource(word0.op) && !reached.textures.contains(&word0.resource_id) {
                        reached.textures.push(word0.resource_id);
                    }
                    // Four dwords an instruction.
                    if let Some(word) = words.get_mut(2 * first as usize + 4 * n) {
                        *word = word0.encode();
                    }
                }
                // Constants at a computed index are fetched: the resource of a constant buffer has its number.
                Fetch::Vtx(vertex) if u32::from(vertex.word0.buffer_id) < BANKS => {
                    reached.banks |= 1 << vertex.word0.buffer_id;
                }
                Fetch::Vtx(_) if row.stage == ShaderStage::Vertex || row.stage == ShaderStage::Pixel => {
                    remarks.push(format!(
                        "the {} program fetches from a buffer that is no constant buffer, and containers name none",
                        row.stage.name()
                    ))
                }
                _ => {}
            }
        }
    }
    reached.textures.sort_unstable();
    reached
}
