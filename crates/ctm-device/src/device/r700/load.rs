//! From memory at the start of a program to the engine's launch: programs, constants, semantics, planes.

use super::registers::at_most;
use super::touched::{Touched, names_alternates};
use super::{LoopConstants, R700Registers};
use crate::commands::{ProgramForm, ProgramPlace};
use crate::device::cache::{Cache, CacheModel};
use crate::device::loader::{self, ParamsStride};
use crate::device::registers::CommandRegisters;
use crate::device::report::CommandErrorReason as Reason;
use crate::memory::{DeviceMemory, GpuAddr, MemoryError};
use ctm_exec::r700::{Constants, LoopConstant, Plane, Semantic};
use ctm_image::ImageError;
use ctm_image::r700::{Container, ContainerProgram};
use ctm_isa::r700::program::{Program, Stage};

/// Largest program of words, and largest image.
const WORDS_BYTES: u32 = 1 << 20;
const IMAGE_BYTES: u32 = 16 << 20;

/// A program as it was read from memory.
#[derive(Clone, Debug)]
pub struct LoadedProgram {
    pub base: GpuAddr,
    /// The size of its image.
    pub bytes: u64,
    pub program: Program,
    /// Whether it reads constants or resources of another program type.
    pub names_alternates: bool,
    /// The bindings that it can access.
    pub touched: Touched,
    /// The values of `set_program`; `None` for an ELF image.
    place: Option<ProgramPlace>,
    /// The image it was read from.
    source: Vec<u8>,
}

pub fn outside(what: impl Into<String>, error: MemoryError) -> Reason {
    Reason::Memory { what: what.into(), error }
}

impl LoadedProgram {
    fn new((base, bytes): (GpuAddr, u64), place: Option<ProgramPlace>, source: &[u8], program: Program) -> Self {
        let (names_alternates, touched) = (names_alternates(&program), Touched::of(&program));
        Self { base, bytes, names_alternates, touched, program, place, source: source.to_vec() }
    }

    /// Whether reading it again, as this place says or as an ELF image at `base`, would give the same.
    pub fn is_at(&self, memory: &DeviceMemory, base: GpuAddr, place: Option<ProgramPlace>) -> bool {
        let is_there = || memory.slice(base, self.source.len()).is_ok_and(|bytes| bytes == self.source);
        self.base == base && self.place == place && is_there()
    }

    /// Reads the program that `set_program` named.
    pub fn load(memory: &DeviceMemory, place: &ProgramPlace, what: &'static str) -> Result<Self, Reason> {
        let most = match place.form {
            ProgramForm::Words => WORDS_BYTES,
            ProgramForm::Image => IMAGE_BYTES,
        };
        at_most("bytes", place.bytes, most)?;
        let bytes = memory.slice(place.base, place.bytes as usize).map_err(|error| outside(what, error))?;
        let program = match place.form {
            ProgramForm::Words => {
                if !place.bytes.is_multiple_of(8) {
                    let allowed = "multiples of 8".to_owned();
                    return Err(Reason::OutOfRange { what: "bytes", found: place.bytes, allowed });
                }
                let words = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
                of_words(words, place)
            }
            ProgramForm::Image => of_image(bytes, place.base, place.entry)?,
        };
        Ok(Self::new((place.base, place.bytes.into()), Some(*place), bytes, program))
    }

    /// Reads the ELF image that `set_inst_fmt` named. It is copied up to its stated size.
    pub fn load_elf(memory: &DeviceMemory, base: GpuAddr) -> Result<Self, Reason> {
        let lies_outside = |error| outside("the program", error);
        let available = memory.bytes_after(base).map_err(lies_outside)?.min(IMAGE_BYTES as usize);
        let image = |error| Reason::Image { address: base, error };
        let mut size = available.min(16 << 10);
        loop {
            let bytes = memory.slice(base, size).map_err(lies_outside)?;
            match ctm_image::ctm_elf::extent(bytes) {
                Ok(extent) => {
                    let end = usize::try_from(extent).unwrap_or(size).min(size);
                    let program = of_image(&bytes[..end], base, 0)?;
                    return Ok(Self::new((base, extent), None, &bytes[..end], program));
                }
                Err(ImageError::Truncated { .. }) if size < available => size = (2 * size).min(available),
                Err(error) => return Err(image(error)),
            }
        }
    }
}

fn of_words(words: Vec<u32>, place: &ProgramPlace) -> Program {
    let mut program = Program::from_words(words);
    program.entry = place.entry.into();
    if place.entry > 0 {
        let usage =
            ctm_isa::r700::program::Usage::of(&program.words, program.entry, ctm_isa::r700::program::Chip::Rv770);
        (program.gprs, program.stack) = (usage.gprs, usage.stack);
    }
    if place.gprs > 0 {
        program.gprs = place.gprs;
    }
    if place.stack > 0 {
        program.stack = place.stack;
    }
    program
}

fn of_image(bytes: &[u8], address: GpuAddr, number: u16) -> Result<Program, Reason> {
    let image = |error| Reason::Image { address, error };
    let entries = Container::read(bytes).and_then(|container| container.programs()).map_err(image)?;
    let found = entries.iter().find(|entry| entry.index == usize::from(number)).or(match number {
        0 => entries.first(),
        _ => None,
    });
    let Some(ContainerProgram { code, .. }) = found else {
        let allowed = format!("0..{} in this image", entries.len());
        return Err(Reason::OutOfRange { what: "entry", found: number.into(), allowed });
    };
    Ok(code.program())
}

/// Reads a table of `count` items of `N` bytes; items past the end of the arena keep their value.
fn table<const N: usize>(
    memory: &DeviceMemory,
    model: Option<&mut CacheModel>,
    (base, cache, what): (GpuAddr, Cache, &'static str),
    count: usize,
    mut set: impl FnMut(usize, [u8; N]),
) -> Result<(), Reason> {
    let available = memory.bytes_after(base).map_err(|error| outside(what, error))?;
    let bytes = memory.slice(base, available.min(count * N)).map_err(|error| outside(what, error))?;
    for (index, item) in bytes.as_chunks::<N>().0.iter().enumerate() {
        set(index, *item);
    }
    if let Some(model) = model {
        model.reads(Some(cache), base, bytes.len() as u64, || what.to_owned());
    }
    Ok(())
}

/// The constants that are not in constant buffers.
pub fn constants(
    memory: &DeviceMemory,
    mut model: Option<&mut CacheModel>,
    registers: &CommandRegisters,
) -> Result<Constants, Reason> {
    let mut constants = Constants::default();
    if let Some(base) = registers.float_constants {
        let of = (base, Cache::Float, "the constant file");
        let count = constants.file.len();
        table::<16>(memory, model.as_deref_mut(), of, count, |n, bytes| constants.file[n] = dwords(bytes))?;
    }
    if let Some(base) = registers.bool_constants {
        let of = (base, Cache::Bool, "the boolean constants");
        let count = constants.bool.len();
        table::<4>(memory, model.as_deref_mut(), of, count, |n, bytes| constants.bool[n] = bytes[0] != 0)?;
    }
    if let Some(place) = registers.r700.loop_constants {
        let (base, read): (_, fn([u8; 4]) -> LoopConstant) = match place {
            LoopConstants::Bytes(base) => (base, |[count, start, step, _]| LoopConstant {
                count: count.into(),
                start: start.into(),
                step: step.cast_signed(),
            }),
            LoopConstants::Words(base) => (base, |bytes| {
                let word = u32::from_le_bytes(bytes);
                #[allow(clippy::cast_possible_truncation, reason = "twelve bits")]
                let twelve = |bits: u32| (bits & 0xfff) as u16;
                LoopConstant { count: twelve(word), start: twelve(word >> 12), step: bytes[3].cast_signed() }
            }),
        };
        let of = (base, Cache::Int, "the loop constants");
        let count = constants.loops.len();
        table::<4>(memory, model, of, count, |n, bytes| constants.loops[n] = read(bytes))?;
    }
    Ok(constants)
}

pub fn dwords(bytes: [u8; 16]) -> [u32; 4] {
    std::array::from_fn(|c| u32::from_le_bytes([bytes[4 * c], bytes[4 * c + 1], bytes[4 * c + 2], bytes[4 * c + 3]]))
}

/// The semantic table.
pub fn semantics(memory: &DeviceMemory, registers: &CommandRegisters) -> Result<Vec<Semantic>, Reason> {
    let Some((base, count)) = registers.r700.semantics else { return Ok(Vec::new()) };
    let bytes = memory.slice(base, usize::from(count) * 4).map_err(|error| outside("the semantic table", error))?;
    Ok(bytes.chunks_exact(4).map(|row| Semantic { id: row[0], gpr: row[1] }).collect())
}

/// Start values of registers: the index pair, interpolants, plane records; the last one of a register counts.
pub fn planes(
    memory: &DeviceMemory,
    registers: &CommandRegisters,
    stage: Stage,
    stride: ParamsStride,
) -> Result<Vec<Plane>, Reason> {
    let mut planes = vec![Plane { bits: stage != Stage::Pixel, ..Plane::position(0) }];
    let R700Registers { interpolants, .. } = registers.r700;
    if let Some((first, count)) = interpolants.filter(|_| stage == Stage::Pixel) {
        for index in 0..count {
            loader::set(
                &mut planes,
                loader::interpolant(memory, registers, stride, index, first.saturating_add(index))?,
            );
        }
    }
    loader::plane_records(memory, registers, &mut planes)?;
    Ok(planes)
}
