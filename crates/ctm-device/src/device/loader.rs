//! The program loader: from memory at the start of a program to the engine's launch.

use super::cache::{Cache, CacheModel};
use super::registers::CommandRegisters;
use super::report::CommandErrorReason as Reason;
use crate::memory::{DeviceMemory, GpuAddr, MemoryError};
use ctm_exec::x1k::{Constants, Plane};
use ctm_image::ctm_elf::{self, Notes};
use ctm_image::{ImageError, Remark};
use ctm_isa::x1k::program::{Literal, Preload, Usage};
use ctm_isa::x1k::{Program, TEMPORARIES};

/// Programs that a device keeps beside the one that is set.
pub(super) const KEPT_PROGRAMS: usize = 16;

/// How many single-precision numbers a parameter record has; the two known generations of clients differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ParamsStride {
    /// 32: the position and seven interpolants.
    #[default]
    Floats32,
    /// 36: the position and eight interpolants.
    Floats36,
}

impl ParamsStride {
    /// Single-precision numbers per record.
    #[must_use]
    pub const fn floats(self) -> u8 {
        match self {
            Self::Floats32 => 32,
            Self::Floats36 => 36,
        }
    }

    /// Interpolants per record: four numbers each, after the four of the position.
    #[must_use]
    pub const fn interpolants(self) -> u8 {
        self.floats() / 4 - 1
    }
}

/// A program as it was read from memory.
#[derive(Clone, Debug)]
pub(super) struct LoadedProgram {
    pub address: GpuAddr,
    /// The size of its image.
    pub bytes: u64,
    pub program: Program,
    /// References of instructions, as the notes list them. The loader reads references from no other place (CTM §4.1.4).
    pub usage: Usage,
    /// Whether instructions write outputs that the note does not list.
    pub writes_unlisted: bool,
    /// Remarks on the image, until they are reported.
    pub remarks: Vec<Remark>,
    listed: Listed,
    image: Vec<u8>,
}

/// Constants that the notes list; without a note none (CTM §4.1.4).
#[derive(Clone, Debug)]
struct Listed {
    float: Indices,
    int: Indices,
}

/// Indices up to 255, a bit each.
#[derive(Clone, Copy, Debug)]
struct Indices([u64; 4]);

impl Indices {
    fn of(list: Option<&Vec<u32>>) -> Self {
        let mut bits = [0; 4];
        list.into_iter().flatten().for_each(|&n| bits[n as usize / 64 % 4] |= 1 << (n % 64));
        Self(bits)
    }

    const ALL: Self = Self([u64::MAX; 4]);

    fn has(self, index: usize) -> bool {
        self.0[index / 64 % 4] >> (index % 64) & 1 == 1
    }

    /// In order.
    fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().zip((0..).step_by(64)).flat_map(|(mut bits, first)| {
            std::iter::from_fn(move || {
                let index = first + bits.trailing_zeros() as usize;
                (bits != 0).then(|| {
                    bits &= bits - 1;
                    index
                })
            })
        })
    }
}

/// Removes references of instructions that are not in the notes.
fn restrict(usage: &mut Usage, notes: &Notes) -> Listed {
    let (inputs, outputs) = (Indices::of(notes.inputs.as_ref()), Indices::of(notes.outputs.as_ref()));
    let float = Indices::of(notes.float32_constants.as_ref());
    let int = Indices::of(notes.int32_constants.as_ref());
    usage.inputs.retain(|&n| inputs.has(n.into()));
    usage.outputs.retain(|&n| outputs.has(n.into()));
    usage.float_constants.retain(|&n| float.has(n.into()));
    usage.int_constants.retain(|&n| int.has(n.into()));
    Listed { float, int }
}

impl LoadedProgram {
    /// Reads the image at `address`.
    ///
    /// It is copied first, up to its stated size: the memory after it may have other owners.
    pub fn load(memory: &DeviceMemory, address: GpuAddr) -> Result<Self, Reason> {
        let lies_outside = |error| outside("the program", error);
        let available = memory.bytes_after(address).map_err(lies_outside)?;
        let mut size = available.min(IMAGE_BYTES);
        loop {
            let bytes = memory.slice(address, size).map_err(lies_outside)?.to_vec();
            let extent = ctm_elf::extent(&bytes);
            let needed = match &extent {
                Ok(extent) => *extent,
                Err(ImageError::Truncated { offset, size, .. }) => offset.saturating_add(*size),
                Err(_) => 0,
            };
            if needed > size as u64 && size < available {
                size = usize::try_from(needed).unwrap_or(usize::MAX).max(2 * size).min(available);
                continue;
            }
            let image = |error| Reason::Image { address, error };
            let ctm_elf::Image { program, notes, remarks, .. } = ctm_elf::read_image(&bytes).map_err(image)?;
            let extent = extent.map_err(image)?;
            let mut image = bytes;
            image.truncate(usize::try_from(extent).unwrap_or(usize::MAX));
            let mut usage = program.usage();
            let written = usage.outputs.len();
            let listed = restrict(&mut usage, &notes);
            let writes_unlisted = usage.outputs.len() < written;
            return Ok(Self { address, bytes: extent, usage, program, writes_unlisted, remarks, listed, image });
        }
    }

    /// Whether memory still holds this image at this address: then reading it again would give the same.
    pub fn is_at(&self, memory: &DeviceMemory, address: GpuAddr) -> bool {
        self.address == address && memory.slice(address, self.image.len()).is_ok_and(|bytes| bytes == self.image)
    }
}

/// The usual maximum size of images; larger ones are read in steps.
const IMAGE_BYTES: usize = 16 << 10;

fn outside(what: impl Into<String>, error: MemoryError) -> Reason {
    Reason::Memory { what: what.into(), error }
}

/// Where one kind of constants lies, and which of them the program uses.
struct Bank<'a> {
    name: &'static str,
    base: Option<GpuAddr>,
    bytes_each: u32,
    cache: Cache,
    /// Those that are loaded.
    listed: Indices,
    /// Used by the program and not carried by it.
    used: &'a dyn Fn(u8) -> bool,
}

impl Bank<'_> {
    /// Reads those of constants `0..count` that are loaded and lie in memory. One that is used must.
    fn read(
        &self,
        memory: &DeviceMemory,
        mut model: Option<&mut CacheModel>,
        count: usize,
        mut set: impl FnMut(usize, &[u8]),
    ) -> Result<(), Reason> {
        let Some(base) = self.base else { return Ok(()) };
        if model.is_none()
            && let Ok(bytes) = memory.slice(base, count * self.bytes_each as usize)
        {
            // The usual case: all of them lie in memory.
            let each = self.bytes_each as usize;
            let loaded = self.listed.iter().take_while(|&index| index < count);
            loaded.for_each(|index| set(index, &bytes[each * index..each * (index + 1)]));
            return Ok(());
        }
        for index in 0..count {
            #[allow(clippy::cast_possible_truncation, reason = "there are at most 256 constants of a kind")]
            let (number, offset) = (index as u8, index as u32 * self.bytes_each);
            let used = (self.used)(number);
            let address = GpuAddr(base.0.wrapping_add(offset));
            match memory.slice(address, self.bytes_each as usize) {
                Ok(bytes) if self.listed.has(index) => set(index, bytes),
                Ok(_) => {}
                Err(error) if used => return Err(outside(format!("{} constant {index}", self.name), error)),
                Err(_) => {}
            }
            if used && let Some(model) = model.as_deref_mut() {
                let what = || format!("{} constants", self.name);
                model.reads(Some(self.cache), address, u64::from(self.bytes_each), what);
            }
        }
        Ok(())
    }
}

/// Reads the constants and lays the program's literals over them; `constants` are zeros before.
pub(super) fn constants(
    memory: &DeviceMemory,
    mut model: Option<&mut CacheModel>,
    registers: &CommandRegisters,
    loaded: &LoadedProgram,
    constants: &mut Constants,
) -> Result<(), Reason> {
    let usage = &loaded.usage;
    let literals = &loaded.program.literals;
    // Registers of constants that no note lists are not loaded.
    let float = Bank {
        name: "floating-point",
        base: registers.float_constants,
        bytes_each: 16,
        cache: Cache::Float,
        listed: loaded.listed.float,
        used: &|n| {
            usage.float_constants.contains(&n)
                && !literals.iter().any(|l| matches!(l, Literal::Float { index, .. } if *index == n))
        },
    };
    let count = constants.float.len();
    float.read(memory, model.as_deref_mut(), count, |n, bytes| {
        for (to, from) in constants.float[n].iter_mut().zip(bytes.chunks_exact(4)) {
            *to = u32::from_le_bytes([from[0], from[1], from[2], from[3]]);
        }
    })?;
    let int = Bank {
        name: "integer",
        base: registers.int_constants,
        bytes_each: 4,
        cache: Cache::Int,
        listed: loaded.listed.int,
        used: &|n| {
            usage.int_constants.contains(&n)
                && !literals.iter().any(|l| matches!(l, Literal::Int { index, .. } if *index == n))
        },
    };
    let count = constants.int.len();
    int.read(memory, model.as_deref_mut(), count, |n, bytes| constants.int[n].copy_from_slice(bytes))?;
    let boolean = Bank {
        name: "boolean",
        base: registers.bool_constants,
        bytes_each: 4,
        cache: Cache::Bool,
        listed: Indices::ALL,
        used: &|n| {
            usage.bool_constants.contains(&n)
                && !literals.iter().any(|l| matches!(l, Literal::Bool { index, .. } if *index == n))
        },
    };
    let count = constants.bool.len();
    boolean.read(memory, model, count, |n, bytes| constants.bool[n] = bytes[0] != 0)?;
    for literal in literals {
        match *literal {
            Literal::Float { index, bits } => constants.float[usize::from(index)] = bits,
            Literal::Int { index, value } => {
                if let Some(to) = constants.int.get_mut(usize::from(index)) {
                    *to = value;
                }
            }
            Literal::Bool { index, value } => {
                if let Some(to) = constants.bool.get_mut(usize::from(index)) {
                    *to = value;
                }
            }
        }
    }
    Ok(())
}

/// The literals of the program that lie over another value that the client has set, as `c1`.
pub(super) fn covered_constants(memory: &DeviceMemory, registers: &CommandRegisters, program: &Program) -> Vec<String> {
    let there = |base: Option<GpuAddr>, offset: u32, bytes: usize| {
        memory.slice(GpuAddr(base?.0.wrapping_add(offset)), bytes).ok().map(<[u8]>::to_vec)
    };
    let differs = |found: Option<Vec<u8>>, literal: &[u8]| {
        found.is_some_and(|found| found != literal && found.iter().any(|&byte| byte != 0))
    };
    let mut covered = Vec::new();
    for literal in &program.literals {
        let name = match *literal {
            Literal::Float { index, bits } => {
                let bytes: Vec<u8> = bits.iter().flat_map(|word| word.to_le_bytes()).collect();
                differs(there(registers.float_constants, 16 * u32::from(index), 16), &bytes)
                    .then(|| format!("c{index}"))
            }
            Literal::Int { index, value } => {
                differs(there(registers.int_constants, 4 * u32::from(index), 4), &value).then(|| format!("i{index}"))
            }
            Literal::Bool { index, value } => there(registers.bool_constants, 4 * u32::from(index), 1)
                .is_some_and(|found| found != [0] && !value)
                .then(|| format!("b{index}")),
        };
        covered.extend(name);
    }
    covered
}

/// The kinds of constants that the program uses, does not carry, and has no address for.
pub(super) fn unset_constants(registers: &CommandRegisters, loaded: &LoadedProgram) -> Vec<&'static str> {
    let usage = &loaded.usage;
    let carried = |wanted: &dyn Fn(&Literal) -> bool| loaded.program.literals.iter().any(wanted);
    let float = |n: &u8| !carried(&|l| matches!(l, Literal::Float { index, .. } if index == n));
    let int = |n: &u8| !carried(&|l| matches!(l, Literal::Int { index, .. } if index == n));
    let boolean = |n: &u8| !carried(&|l| matches!(l, Literal::Bool { index, .. } if index == n));
    let mut unset = Vec::new();
    if registers.float_constants.is_none() && usage.float_constants.iter().any(float) {
        unset.push("floating-point");
    }
    if registers.int_constants.is_none() && usage.int_constants.iter().any(int) {
        unset.push("integer");
    }
    if registers.bool_constants.is_none() && usage.bool_constants.iter().any(boolean) {
        unset.push("boolean");
    }
    unset
}

/// Start values of temporaries: the program's rasteriser instructions, then the plane records.
pub(super) fn planes(
    memory: &DeviceMemory,
    registers: &CommandRegisters,
    program: &Program,
    stride: ParamsStride,
) -> Result<Vec<Plane>, Reason> {
    let mut planes: Vec<Plane> = Vec::new();
    let mut params = None;
    for preload in &program.preloads {
        let plane = match *preload {
            Preload::Position { temp } => Plane::position(temp),
            Preload::Interpolant { index, temp } => {
                if params.is_none() {
                    let address = registers.params.ok_or(Reason::NoParams { interpolant: index })?;
                    params = Some(Params::read(memory, address, stride)?);
                }
                match &params {
                    Some(params) => params.plane(index, temp)?,
                    None => continue,
                }
            }
        };
        set(&mut planes, plane);
    }
    plane_records(memory, registers, &mut planes)?;
    Ok(planes)
}

/// Adds the plane records of `set_planes`.
pub(super) fn plane_records(
    memory: &DeviceMemory,
    registers: &CommandRegisters,
    planes: &mut Vec<Plane>,
) -> Result<(), Reason> {
    if let Some((address, count)) = registers.planes {
        if usize::from(count) > TEMPORARIES {
            return Err(Reason::PlaneCount { count });
        }
        let bytes = usize::from(count) * PLANE_BYTES;
        let records = memory.slice(address, bytes).map_err(|e| outside("the plane records", e))?;
        for (record, bytes) in (0..).zip(records.chunks_exact(PLANE_BYTES)) {
            set(planes, plane_record(record, bytes)?);
        }
    }
    Ok(())
}

/// The plane of an interpolant of `set_params` for a register.
pub(super) fn interpolant(
    memory: &DeviceMemory,
    registers: &CommandRegisters,
    stride: ParamsStride,
    index: u8,
    temp: u8,
) -> Result<Plane, Reason> {
    let address = registers.params.ok_or(Reason::NoParams { interpolant: index })?;
    Params::read(memory, address, stride)?.plane(index, temp)
}

/// The last plane of a temporary counts.
pub(super) fn set(planes: &mut Vec<Plane>, plane: Plane) {
    planes.retain(|p| p.temp != plane.temp);
    planes.push(plane);
}

/// Bytes of a plane record (`docs/commands.md`, set_planes).
pub const PLANE_BYTES: usize = 104;

/// The record of `set_planes` for one plane.
///
/// ```
/// use ctm_exec::x1k::Plane;
/// let record = ctm_device::device::plane_bytes(&Plane::position(3));
/// assert_eq!(record[..4], [3, 0, 0, 0]);
/// ```
#[must_use]
pub fn plane_bytes(plane: &Plane) -> [u8; PLANE_BYTES] {
    let mut out = [0; PLANE_BYTES];
    out[0] = plane.temp;
    out[4] = u8::from(plane.bits);
    let numbers = plane.origin.iter().chain(&plane.di).chain(&plane.dj);
    for (to, from) in out[8..].chunks_exact_mut(8).zip(numbers) {
        to.copy_from_slice(&from.to_le_bytes());
    }
    out
}

fn plane_record(record: u8, bytes: &[u8]) -> Result<Plane, Reason> {
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let temp = word(0);
    let temp = u8::try_from(temp).ok().filter(|&t| usize::from(t) < TEMPORARIES);
    let temp = temp.ok_or(Reason::PlaneTemporary { record, temp: word(0) })?;
    let numbers = |at: usize| {
        std::array::from_fn(|c| {
            let mut number = [0; 8];
            number.copy_from_slice(&bytes[at + 8 * c..at + 8 * c + 8]);
            f64::from_le_bytes(number)
        })
    };
    Ok(Plane { temp, origin: numbers(8), di: numbers(40), dj: numbers(72), bits: word(4) & 1 != 0 })
}

/// The three parameter records of `set_params`.
struct Params {
    records: [Vec<f64>; 3],
    stride: ParamsStride,
}

impl Params {
    fn read(memory: &DeviceMemory, address: GpuAddr, stride: ParamsStride) -> Result<Self, Reason> {
        let each = usize::from(stride.floats()) * 4;
        let bytes = memory.slice(address, 3 * each).map_err(|e| outside("the parameter records", e))?;
        let record = |n: usize| {
            let floats = bytes[n * each..(n + 1) * each].chunks_exact(4);
            floats.map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))).collect()
        };
        Ok(Self { records: [record(0), record(1), record(2)], stride })
    }

    /// The interpolant as a plane over (i, j): linear in the positions, taken at the centres (i + 0.5, j + 0.5).
    fn plane(&self, interpolant: u8, temp: u8) -> Result<Plane, Reason> {
        let limit = self.stride.interpolants();
        if interpolant >= limit {
            return Err(Reason::Interpolant { interpolant, limit });
        }
        let first = 4 + 4 * usize::from(interpolant);
        let positions = self.records.each_ref().map(|record| [record[0], record[1]]);
        let values = self.records.each_ref().map(|record| std::array::from_fn(|c| record[first + c]));
        vertex_plane(positions, values, temp).ok_or(Reason::DegenerateParams)
    }
}

/// The plane over (i, j) that has these values at three positions (x, y): linear in the positions, taken at the centres (i + 0.5, j + 0.5).
///
/// `None` when the positions lie on one line or are no numbers.
///
/// ```
/// use ctm_device::device::vertex_plane;
/// let plane = vertex_plane([[0.0, 0.0], [4.0, 0.0], [0.0, 2.0]], [[0.0; 4], [8.0; 4], [1.0; 4]], 0).unwrap();
/// assert_eq!(plane.at(3, 1)[0], 7.75f32.to_bits());
/// ```
#[must_use]
pub fn vertex_plane(positions: [[f64; 2]; 3], values: [[f64; 4]; 3], temp: u8) -> Option<Plane> {
    let [[x0, y0], a, b] = positions;
    let ([x1, y1], [x2, y2]) = ([a[0] - x0, a[1] - y0], [b[0] - x0, b[1] - y0]);
    let area = x1 * y2 - x2 * y1;
    // Also refuses positions that are no numbers.
    if area == 0.0 || !area.is_finite() {
        return None;
    }
    let [first, second, third] = values;
    let mut plane = Plane { temp, origin: [0.0; 4], di: [0.0; 4], dj: [0.0; 4], bits: false };
    for c in 0..4 {
        let start = first[c];
        let (t1, t2) = (second[c] - start, third[c] - start);
        // A right triangle along the axes, as known clients send it, needs no cross terms and so no rounding in them.
        (plane.di[c], plane.dj[c]) = if y1 == 0.0 && x2 == 0.0 {
            (t1 / x1, t2 / y2)
        } else {
            ((t1 * y2 - t2 * y1) / area, (t2 * x1 - t1 * x2) / area)
        };
        plane.origin[c] = start + plane.di[c] * (0.5 - x0) + plane.dj[c] * (0.5 - y0);
    }
    Some(plane)
}
