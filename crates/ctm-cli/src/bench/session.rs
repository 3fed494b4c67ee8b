//! A kernel on a device: arrays in memory, one command buffer, submitted again and again.

use super::kernels::{Kernel, R700Program, Size, Text, X1kProgram, kernel};
use crate::console::Failure;
use ctm::CommandBuffer;
use ctm::commands::{ConstantsPlace, ProgramPlace, ProgramSlot};
use ctm::device::{Device, DeviceOptions};
use ctm::job::Isa;
use ctm::mc::{Format, Surface, Tiling};
use ctm::memory::{ArenaId, ArenaOptions, GpuAddr};
use ctm_exec::{Domain, Engine};
use ctm_image::ctm_elf;
use ctm_isa::diag::Diagnostic;
use ctm_isa::r700::program::{Chip, Stage};
use ctm_isa::x1k::{FLOAT_CONSTANTS, INT_CONSTANTS};
use ctm_isa::{r700, x1k};
use std::error::Error;
use std::time::{Duration, Instant};

/// A kernel that is ready to be run.
pub(super) struct BenchSession {
    pub(super) kernel: Kernel,
    device: Device,
    buffer: (GpuAddr, u32),
    inputs: Vec<(u8, Surface)>,
    outputs: Vec<Surface>,
}

fn broken(kernel: &Kernel, what: impl std::fmt::Display) -> Failure {
    Failure::wrong("bench", format!("{}: {what}", kernel.name))
}

/// Bytes that hold a kernel's arrays, as if each element had four channels, and 16 MiB for all else.
fn bytes(kernel: &Kernel) -> u32 {
    let outputs = kernel.outputs.iter().map(|_| kernel.domain);
    let sizes = kernel.inputs.iter().map(|input| input.size).chain(outputs);
    sizes.fold(1 << 24, |all, [width, height]| all + 16 * (width.max(64) * height.max(64)))
}

impl BenchSession {
    /// Sets a kernel up on a device of its own.
    pub(super) fn new(
        name: &str,
        isa: Isa,
        size: Size,
        engine: Box<dyn Engine>,
        threads: usize,
    ) -> Result<Self, Failure> {
        let Some(kernel) = kernel(name, size) else {
            let names = super::kernels::names().join(", ");
            return Err(Failure::usage("unknown-kernel", format!("there is no kernel `{name}`; there are {names}")));
        };
        let fail = |what: &dyn std::fmt::Display| broken(&kernel, what);
        let arenas = ArenaOptions::with_sizes([bytes(&kernel), 0, 1 << 20, 0]).map_err(|e| fail(&e))?;
        let kind = match isa {
            Isa::X1k => DeviceOptions::default(),
            Isa::R700 => DeviceOptions::r700(Chip::Rv770),
        };
        let mut device = Device::open(engine, DeviceOptions { arenas, threads, ..kind }).map_err(|e| fail(&e))?;
        let mut commands = match isa {
            Isa::X1k => x1k_program(&mut device, &kernel.x1k),
            Isa::R700 => r700_program(&mut device, &kernel.r700),
        }
        .map_err(|e| fail(&e))?;
        let mut inputs = Vec::new();
        let mut seed = 1;
        for input in &kernel.inputs {
            let surface = surface(&mut device, input.size, Format::Float32x4, input.tiling).map_err(|e| fail(&e))?;
            fill(&mut device, &surface, input.range, &mut seed).map_err(|e| fail(&e))?;
            commands = commands.set_inp_fmt(input.slot, &surface);
            inputs.push((input.slot, surface));
        }
        let mut outputs = Vec::new();
        for output in &kernel.outputs {
            let surface = surface(&mut device, kernel.domain, output.format, Tiling::Linear).map_err(|e| fail(&e))?;
            commands = commands.set_out_fmt(output.slot, &surface);
            outputs.push(surface);
        }
        let [width, height] = kernel.domain;
        let commands = commands
            .set_domain(Domain { i0: 0, j0: 0, i1: width - 1, j1: height - 1 })
            .start_program()
            .wait_for_idle()
            .flush_out_cache();
        let dwords = commands.len_dwords();
        let at = device.allocate(ArenaId::Sys, 4 * dwords as u64).map_err(|e| fail(&e))?;
        device.write_dwords(at, commands.words()).map_err(|e| fail(&e))?;
        let buffer = (at, u32::try_from(dwords).unwrap_or(u32::MAX));
        Ok(Self { kernel, device, buffer, inputs, outputs })
    }

    /// Submits the command buffer; how long it took until the results were in memory.
    pub(super) fn run(&mut self) -> Result<Duration, Failure> {
        let start = Instant::now();
        match self.device.submit(self.buffer.0, self.buffer.1) {
            Ok(_) => Ok(start.elapsed()),
            Err(e) => Err(broken(&self.kernel, e)),
        }
    }

    /// Compares some processors' results with the kernel's definition.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let texel = |slot: u8, x: u32, y: u32| {
            let surface = self.inputs.iter().find(|&&(s, _)| s == slot).map(|(_, surface)| surface);
            let bits = surface.and_then(|s| self.device.read_surface(s, (x, y), (1, 1)).ok());
            bits.map_or([f64::NAN; 4], |bits| bits[0].map(|b| f64::from(f32::from_bits(b))))
        };
        let kernel = &self.kernel;
        let [width, height] = kernel.domain;
        let channels = kernel.outputs[0].format.info().channels;
        let mut compared = 0;
        for n in 0..64 {
            // Corners and edges, then anywhere.
            let i = [0, width - 1, width / 2][n as usize % 3].wrapping_add(n / 3 * 97) % width;
            let j = [0, height - 1][n as usize % 2].wrapping_add(n / 2 * 61) % height;
            let Some(expected) = (kernel.expected)(kernel, &texel, i, j) else { continue };
            let found = self.device.read_surface(&self.outputs[0], (i, j), (1, 1)).map_err(|e| broken(kernel, e))?[0];
            for c in 0..channels {
                let (found, expected) = (f64::from(f32::from_bits(found[c])), expected[c]);
                if (found - expected).abs() > kernel.tolerance * expected.abs().max(1.0) || found.is_nan() {
                    let what = format!("processor ({i}, {j}) wrote {found} to channel {c}, it should be {expected}");
                    return Err(broken(kernel, what));
                }
            }
            compared += 1;
        }
        if compared == 0 {
            return Err(broken(kernel, "nothing could be compared"));
        }
        Ok(())
    }
}

/// Bytes in memory of their own.
fn place(device: &mut Device, bytes: &[u8]) -> Result<GpuAddr, Box<dyn Error>> {
    let address = device.allocate(ArenaId::Gpu, bytes.len() as u64)?;
    device.write(address, bytes)?;
    Ok(address)
}

fn assembled<P>(text: &Text, program: Option<P>, diagnostics: &[Diagnostic]) -> Result<P, Box<dyn Error>> {
    program.ok_or_else(|| {
        let first = diagnostics.first().map_or_else(String::new, |d| format!("{}: {}", d.rule, d.message));
        format!("{}: {first}", text.file).into()
    })
}

/// An X1K program and its constants.
fn x1k_program(device: &mut Device, kernel: &X1kProgram) -> Result<CommandBuffer, Box<dyn Error>> {
    let assembly = x1k::text::assemble(kernel.text.text);
    let image = ctm_elf::write(&assembled(&kernel.text, assembly.program, &assembly.diagnostics)?)?;
    let mut floats = [[0f32; 4]; FLOAT_CONSTANTS];
    // Definitions of the program override these in the loader.
    kernel.floats.iter().for_each(|&(n, value)| floats[usize::from(n)] = value);
    let mut ints = [[0u8; 4]; INT_CONSTANTS];
    kernel.ints.iter().for_each(|&(n, value)| ints[usize::from(n)] = value);
    let floats: Vec<u8> = floats.iter().flatten().flat_map(|f| f.to_le_bytes()).collect();
    Ok(CommandBuffer::new()
        .set_inst_fmt(place(device, &image)?)
        .set_constf_fmt(place(device, &floats)?)
        .set_consti_fmt(place(device, ints.as_flattened())?))
}

/// An R700 program, its constant buffer and loop constants.
fn r700_program(device: &mut Device, kernel: &R700Program) -> Result<CommandBuffer, Box<dyn Error>> {
    let assembly = r700::text::assemble(kernel.text.text, &r700::text::TextOptions::default());
    let program = assembled(&kernel.text, assembly.program, &assembly.diagnostics)?;
    let words: Vec<u8> = program.words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let program = ProgramPlace::words(place(device, &words)?, &program);
    let mut turns = [0u32; 32];
    turns.iter_mut().zip(&kernel.turns).for_each(|(to, &turns)| *to = u32::from(turns));
    let turns: Vec<u8> = turns.iter().flat_map(|w| w.to_le_bytes()).collect();
    let commands = CommandBuffer::new()
        .set_stage(Stage::Pixel)
        .set_program(ProgramSlot::Main, &program)
        .set_loop_consts(place(device, &turns)?);
    if kernel.constants.is_empty() {
        return Ok(commands);
    }
    let bytes: Vec<u8> = kernel.constants.iter().flatten().flat_map(|f| f.to_le_bytes()).collect();
    let constants = u32::try_from(kernel.constants.len()).unwrap_or(u32::MAX);
    Ok(commands.set_const_buffer(0, &ConstantsPlace { base: place(device, &bytes)?, constants }))
}

fn surface(
    device: &mut Device,
    [width, height]: [u32; 2],
    format: Format,
    tiling: Tiling,
) -> Result<Surface, Box<dyn Error>> {
    let surface = Surface::for_size(width, height, format, tiling)?;
    let address = device.allocate(ArenaId::Gpu, surface.bytes())?;
    Ok(surface.at(address))
}

/// Fills a surface of four-channel elements with random numbers (xorshift32).
fn fill(
    device: &mut Device,
    surface: &Surface,
    range: [(f32, f32); 4],
    seed: &mut u32,
) -> Result<(), ctm::memory::MemoryError> {
    let bytes = usize::try_from(surface.bytes()).unwrap_or(usize::MAX);
    let memory = device.memory_mut().slice_mut(surface.base, bytes)?;
    for element in memory.chunks_exact_mut(16) {
        for (channel, (low, high)) in element.chunks_exact_mut(4).zip(range) {
            *seed ^= *seed << 13;
            *seed ^= *seed >> 17;
            *seed ^= *seed << 5;
            let number = low + (high - low) * ((*seed >> 8) as f32 / 16_777_216.0);
            channel.copy_from_slice(&number.to_le_bytes());
        }
    }
    Ok(())
}
