//! A kernel on a device: arrays in memory, one command buffer, submitted again and again.

use super::kernels::{Kernel, Size, kernel};
use crate::console::Failure;
use ctm::CommandBuffer;
use ctm::device::{Device, DeviceOptions};
use ctm::mc::{Format, Surface, Tiling};
use ctm::memory::{ArenaId, ArenaOptions, GpuAddr};
use ctm_exec::{Domain, Engine};
use ctm_image::ctm_elf;
use ctm_isa::x1k::text::assemble;
use std::time::{Duration, Instant};

/// A kernel that is ready to be run.
pub(super) struct Session {
    pub(super) kernel: Kernel,
    device: Device,
    buffer: (GpuAddr, u32),
    inputs: Vec<(u8, Surface)>,
    outputs: Vec<Surface>,
}

fn broken(kernel: &Kernel, what: impl std::fmt::Display) -> Failure {
    Failure::wrong("bench", format!("{}: {what}", kernel.name))
}

impl Session {
    /// Sets a kernel up on a device of its own.
    pub(super) fn new(name: &str, size: Size, engine: Box<dyn Engine>, threads: usize) -> Result<Self, Failure> {
        let Some(kernel) = kernel(name, size) else {
            let names = super::kernels::NAMES.join(", ");
            return Err(Failure::usage("unknown-kernel", format!("there is no kernel `{name}`; there are {names}")));
        };
        let fail = |what: &dyn std::fmt::Display| broken(&kernel, what);
        let assembly = assemble(kernel.text);
        let Some(program) = assembly.program else {
            let first = assembly.diagnostics.first().map_or_else(String::new, |d| format!("{}: {}", d.rule, d.message));
            return Err(fail(&format!("{}: {first}", kernel.file)));
        };
        let image = ctm_elf::write(&program).map_err(|e| fail(&e))?;

        let arenas = ArenaOptions::with_sizes([1 << 29, 0, 1 << 20, 0]).map_err(|e| fail(&e))?;
        let options = DeviceOptions { arenas, threads, ..DeviceOptions::default() };
        let mut device = Device::open(engine, options).map_err(|e| fail(&e))?;
        let mut place = |bytes: &[u8]| {
            let address = device.allocate(ArenaId::Gpu, bytes.len() as u64)?;
            device.write(address, bytes).map(|()| address)
        };
        let mut floats = [[0f32; 4]; 256];
        // What the program defines itself is laid over these by the loader.
        kernel.floats.iter().for_each(|&(n, value)| floats[usize::from(n)] = value);
        let mut ints = [[0u8; 4]; 32];
        kernel.ints.iter().for_each(|&(n, value)| ints[usize::from(n)] = value);
        let floats: Vec<u8> = floats.iter().flatten().flat_map(|f| f.to_le_bytes()).collect();
        let image = place(&image).map_err(|e| fail(&e))?;
        let floats = place(&floats).map_err(|e| fail(&e))?;
        let ints = place(ints.as_flattened()).map_err(|e| fail(&e))?;

        let mut commands = CommandBuffer::new().set_inst_fmt(image).set_constf_fmt(floats).set_consti_fmt(ints);
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

    /// Compares some processors' results with what the kernel's definition gives.
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

fn surface(
    device: &mut Device,
    [width, height]: [u32; 2],
    format: Format,
    tiling: Tiling,
) -> Result<Surface, Box<dyn std::error::Error>> {
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
