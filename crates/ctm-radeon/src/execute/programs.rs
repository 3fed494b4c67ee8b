//! Programs of a stream: their ends, and their resources.

use super::memory::{GpuMemory, available};
use super::numbering::{self, VertexFetches};
use super::registers::{ContainerRegister, Registers, container};
use super::set::Set;
use super::state::Geometry;
use crate::table::{from_256, one_bit};
use ctm_exec::r700::texture::{detail, is_comparison, needs_no_resource};
use ctm_image::r700::registers::PgmResources;
use ctm_isa::live::Channels;
use ctm_isa::r700::Program;
use ctm_isa::r700::check::unused_at_start;
use ctm_isa::r700::inst::{Cf, ClauseBody, Fetch, TexFetch, walk};
use ctm_isa::r700::ops::{CfOp, KcacheMode, Sel, TexOp};
use ctm_isa::r700::program::Stage;
use ctm_isa::table::FieldError;
use std::collections::HashMap;
use std::sync::Arc;

/// Most dwords that are searched for a program's end.
const MOST_DWORDS: u64 = 1 << 16;

/// Bytes that are searched first for a program's end.
const FIRST_BYTES: usize = 2048;

/// A program of a stream.
#[derive(Clone, Debug)]
pub struct LoadedProgram {
    /// The program, as long as it reaches.
    pub program: Program,
    /// The textures that it fetches from, with their samplers.
    pub textures: Vec<Lookup>,
    /// Buffers that it fetches from.
    pub buffers: Vec<u8>,
    /// Constant buffers that it locks, bit 0 = buffer 0.
    pub banks: u16,
    /// Whether it calls a fetch program.
    pub calls_fetch: bool,
    /// As a vertex program: only the fetch program reads the number of the vertex.
    pub(super) leaves_number: bool,
    /// As a fetch program: its fetches, if it does nothing else.
    pub(super) fetches: Option<VertexFetches>,
    /// As a pixel program: the elements of registers whose initial values do not matter.
    pub(super) unused: Channels,
}

/// Why no program that ends begins at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEnd {
    /// An instruction that control flow reaches cannot be decoded.
    Undecodable {
        /// Its slot, of two dwords.
        slot: u32,
        /// Why.
        error: FieldError,
    },
    /// A clause goes beyond the words.
    ClauseOutside {
        /// The slot of the control-flow instruction that names it.
        slot: u32,
        /// The first slot of the clause.
        first: u32,
        /// Its slots.
        slots: u32,
    },
    /// The words end before the control-flow program: none of its instructions has END_OF_PROGRAM.
    Open,
}

impl std::fmt::Display for NoEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Undecodable { slot, error } => {
                write!(f, "has an instruction that cannot be decoded, in slot {slot}: {error}")
            }
            Self::ClauseOutside { slot, first, slots } => {
                let last = u64::from(*first) + u64::from(*slots).saturating_sub(1);
                write!(f, "the clause of instruction {slot} is in slots {first} to {last}, outside the buffer")
            }
            Self::Open => f.write_str("no instruction that control flow reaches has END_OF_PROGRAM"),
        }
    }
}

/// The length of the program at the start of these words, in slots of two dwords: up to its last control-flow instruction, or the end of its last
/// clause.
///
/// # Errors
/// The reason why there is no end within the words.
pub fn length_slots(words: &[u32]) -> Result<usize, NoEnd> {
    let mut end = 0;
    let (mut ends_itself, mut outside, mut undecodable) = (false, None, None);
    for (addr, _, cf) in walk(words, 0) {
        end = end.max(addr as usize + 1);
        let cf = match cf {
            Ok(cf) => cf,
            Err(error) => {
                undecodable.get_or_insert(NoEnd::Undecodable { slot: addr, error });
                continue;
            }
        };
        if let Some((first, slots)) = cf.clause() {
            let last = first as usize + slots as usize;
            end = end.max(last);
            if last * 2 > words.len() {
                outside.get_or_insert(NoEnd::ClauseOutside { slot: addr, first, slots });
            }
        }
        let returns = matches!(cf, Cf::Plain(plain) if plain.word1.op == CfOp::Return);
        ends_itself |= cf.ends_program() || returns;
    }
    if ends_itself && end * 2 <= words.len() {
        return Ok(end);
    }
    Err(undecodable.or(outside).unwrap_or(NoEnd::Open))
}

impl LoadedProgram {
    /// The same for words that begin with a program that has `gprs` registers (NUM_GPRS of SQ_PGM_RESOURCES), independent of its instructions (R700
    /// §4.6.3).
    ///
    /// # Errors
    /// Why it does not end within the words.
    pub fn of(words: &[u32], stage: Stage, gprs: u8) -> Result<Self, NoEnd> {
        let slots = length_slots(words)?;
        let words = words.get(..2 * slots).ok_or(NoEnd::Open)?.to_vec();
        let program = Program { stage: Some(stage), gprs, ..Program::from_words(words) };
        let decoded = program.decode();
        let unused = if stage == Stage::Pixel { unused_at_start(&program) } else { Channels::default() };
        let mut loaded = Self {
            program,
            unused,
            textures: Vec::new(),
            buffers: Vec::new(),
            banks: 0,
            calls_fetch: false,
            leaves_number: stage == Stage::Vertex && numbering::is_left(&decoded),
            fetches: if stage == Stage::Fetch { VertexFetches::of(&decoded) } else { None },
        };
        for entry in &decoded.entries {
            match &entry.cf {
                Ok(Cf::Alu(alu)) => {
                    for lock in alu.kcache().iter().filter(|lock| lock.mode != KcacheMode::Nop) {
                        loaded.banks |= one_bit((lock.bank % 16).into()) as u16;
                    }
                }
                Ok(Cf::Plain(plain)) if plain.word1.op == CfOp::CallFs => {
                    loaded.calls_fetch = true;
                }
                _ => {}
            }
            let ClauseBody::Fetch(clause) = &entry.clause else { continue };
            for fetch in clause.fetches.iter().filter_map(|fetch| fetch.inst.ok()) {
                match fetch.fetch {
                    Fetch::Vtx(inst) => loaded.buffers.push(inst.word0.buffer_id),
                    Fetch::Tex(inst) if !needs_no_resource(inst.word0.op) => {
                        let compares = is_comparison(inst.word0.op);
                        let (texture, sampler) = (inst.word0.resource_id, inst.word2.sampler_id);
                        let elements = used_elements(&inst);
                        loaded.textures.push(Lookup { texture, sampler, compares, elements });
                    }
                    _ => {}
                }
            }
        }
        loaded.buffers.sort_unstable();
        loaded.buffers.dedup();
        loaded.textures.sort_unstable();
        // Lookups of a texture by one sampler are one.
        loaded.textures.dedup_by(|next, of| {
            let is_same = (next.texture, next.sampler, next.compares) == (of.texture, of.sampler, of.compares);
            of.elements |= if is_same { next.elements } else { 0 };
            is_same
        });
        Ok(loaded)
    }
}

/// A texture that a program looks up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lookup {
    /// The resource.
    pub texture: u8,
    /// Its sampler.
    pub sampler: u8,
    /// Texels are compared with a reference value.
    pub compares: bool,
    /// The selected elements of texels that the result depends on: bit 0 is x.
    pub elements: u8,
}

/// See [`Lookup::elements`].
fn used_elements(inst: &TexFetch) -> u8 {
    let op = inst.word0.op;
    if is_comparison(op) || !(detail(op).is_some() || op == TexOp::Ld) {
        return 0b1111;
    }
    let of = |select: Sel| match select {
        Sel::X | Sel::Y | Sel::Z | Sel::W => one_bit(select as u32) as u8,
        Sel::Zero | Sel::One | Sel::Mask => 0,
    };
    inst.destination_swizzle().into_iter().map(of).fold(0, |all, element| all | element)
}

/// The registers of a stage's program: its address and resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProgramRegisters {
    /// SQ_PGM_START of the stage.
    pub(crate) start: &'static ContainerRegister,
    /// SQ_PGM_RESOURCES of the stage.
    pub(crate) resources: &'static ContainerRegister,
    /// The kind of program.
    pub(crate) stage: Stage,
    /// The set of its resources and constants.
    pub(crate) set: Set,
}

impl ProgramRegisters {
    /// Vertex programs.
    pub(crate) const VERTEX: Self = Self {
        start: container!("SQ_PGM_START_VS"),
        resources: container!("SQ_PGM_RESOURCES_VS"),
        stage: Stage::Vertex,
        set: Set::Vertex,
    };
    /// Copy programs: with a geometry program, they use the registers of vertex programs.
    pub(crate) const COPY: Self = Self { stage: Stage::Copy, ..Self::VERTEX };
    /// Vertex programs in front of a geometry program.
    pub(crate) const EXPORT: Self = Self {
        start: container!("SQ_PGM_START_ES"),
        resources: container!("SQ_PGM_RESOURCES_ES"),
        stage: Stage::Export,
        set: Set::Vertex,
    };
    /// Geometry programs.
    pub(crate) const GEOMETRY: Self = Self {
        start: container!("SQ_PGM_START_GS"),
        resources: container!("SQ_PGM_RESOURCES_GS"),
        stage: Stage::Geometry,
        set: Set::Geometry,
    };
    /// Pixel programs.
    pub(crate) const PIXEL: Self = Self {
        start: container!("SQ_PGM_START_PS"),
        resources: container!("SQ_PGM_RESOURCES_PS"),
        stage: Stage::Pixel,
        set: Set::Pixel,
    };
    /// Fetch programs.
    pub(crate) const FETCH: Self = Self {
        start: container!("SQ_PGM_START_FS"),
        resources: container!("SQ_PGM_RESOURCES_FS"),
        stage: Stage::Fetch,
        set: Set::Vertex,
    };

    /// The programs of a draw, in order; a fetch program is called by those of vertices.
    pub(crate) const fn of_draw(geometry: Geometry) -> &'static [Self] {
        match geometry {
            Geometry::Full => &[Self::EXPORT, Self::GEOMETRY, Self::COPY, Self::PIXEL],
            Geometry::Off | Geometry::Numbers | Geometry::Unknown => &[Self::VERTEX, Self::PIXEL],
        }
    }

    /// The name of the stage in notes.
    pub(crate) fn name(&self) -> &'static str {
        if self.stage == Stage::Export { Stage::Vertex.name() } else { self.stage.name() }
    }

    /// The start address of the program; 0 where there is none.
    pub(crate) fn address(&self, registers: &Registers) -> u64 {
        from_256(registers.named(self.start, 0))
    }

    /// The registers that the stream gives the program.
    pub(crate) fn gprs(&self, registers: &Registers) -> u8 {
        PgmResources::decode(registers.named(self.resources, 0)).map_or(0, |resources| resources.num_gprs)
    }

    /// Where the program is, with `gprs` registers.
    pub(crate) fn place(&self, registers: &Registers, gprs: u8) -> ProgramPlace {
        let end = registers.end(self.start.address);
        ProgramPlace { address: self.address(registers), end, stage: self.stage, gprs }
    }
}

/// The address of a program, and its stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ProgramPlace {
    /// Its first byte.
    pub(crate) address: u64,
    /// Where its buffer ends, if that is known.
    pub(crate) end: Option<u64>,
    /// The stage.
    pub(crate) stage: Stage,
    /// Its registers, NUM_GPRS.
    pub(crate) gprs: u8,
}

impl ProgramPlace {
    /// Reads the program. Without an end of its buffer, as many words as memory has are searched.
    ///
    /// # Errors
    /// The reason why no program begins there: a sentence without its subject, the program.
    pub(crate) fn read(&self, memory: &dyn GpuMemory) -> Result<LoadedProgram, String> {
        let &Self { address, end, stage, gprs } = self;
        let most = end.map_or(MOST_DWORDS, |end| (end.saturating_sub(address) / 4).min(MOST_DWORDS));
        let Some(bytes) = available(memory, address, 4 * most) else {
            return Err("lies outside memory".into());
        };
        // Most programs are short: the whole buffer is searched only for the others.
        let mut length = FIRST_BYTES;
        loop {
            let part = bytes.get(..length).unwrap_or(bytes);
            match LoadedProgram::of(&words_of(part), stage, gprs) {
                Ok(loaded) => return Ok(loaded),
                Err(NoEnd::Undecodable { slot, error }) if part.len() == bytes.len() => {
                    return Err(NoEnd::Undecodable { slot, error }.to_string());
                }
                Err(why) if part.len() == bytes.len() => {
                    return Err(format!("does not end within its {} bytes: {why}", bytes.len()));
                }
                Err(_) => length *= 4,
            }
        }
    }
}

/// Little-endian words of bytes.
fn words_of(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// Programs that have been read, by request. They are compared with memory for each request.
#[derive(Debug, Default)]
pub(super) struct Programs {
    known: HashMap<ProgramPlace, Arc<LoadedProgram>>,
}

/// Most programs in the cache.
const MOST_KNOWN: usize = 4096;

impl Programs {
    /// The program at a place.
    pub(super) fn load(&mut self, memory: &dyn GpuMemory, place: ProgramPlace) -> Result<Arc<LoadedProgram>, String> {
        if let Some(known) = self.known.get(&place) {
            let length = known.program.words.len() as u64 * 4;
            let is_same = memory.bytes(place.address, length).is_some_and(|bytes| {
                bytes
                    .as_chunks::<4>()
                    .0
                    .iter()
                    .zip(&known.program.words)
                    .all(|(bytes, word)| *bytes == word.to_le_bytes())
            });
            if is_same {
                return Ok(known.clone());
            }
        }
        let loaded = Arc::new(place.read(memory)?);
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(place, loaded.clone());
        Ok(loaded)
    }
}
