//! An R700 device and small programs for it.
#![allow(dead_code, clippy::unwrap_used, reason = "each test file uses a part; tests may unwrap")]

use super::Rig;
use ctm_device::commands::{CommandBuffer, ProgramPlace, ProgramSlot};
use ctm_device::device::DeviceOptions;
use ctm_device::mc::{Format, Surface, Tiling};
use ctm_device::memory::GpuAddr;
use ctm_exec::Domain;
use ctm_isa::r700::Program;
use ctm_isa::r700::program::{Chip, Stage};
use ctm_isa::r700::text::{TextOptions, assemble};
use std::path::{Path, PathBuf};

pub fn rig() -> Rig {
    Rig::new(DeviceOptions::r700(Chip::Rv770))
}

pub fn row(columns: u32) -> Domain {
    Domain { i0: 0, j0: 0, i1: columns - 1, j1: 0 }
}

pub fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|w| w.to_le_bytes()).collect()
}

pub fn floats(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|f| f.to_le_bytes()).collect()
}

/// Stores a program's words.
pub fn stored(rig: &mut Rig, program: &Program) -> ProgramPlace {
    ProgramPlace::words(rig.bytes(&words(&program.words)), program)
}

pub fn text(rig: &mut Rig, source: &str) -> ProgramPlace {
    let assembly = assemble(source, &TextOptions::default());
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    stored(rig, &program)
}

pub fn array(rig: &mut Rig, width: u32, height: u32) -> Surface {
    rig.surface(width, height, Format::Float32x4, Tiling::Linear)
}

/// A buffer that starts a program of a stage over a domain.
pub fn start(stage: Stage, program: &ProgramPlace, domain: Domain, setup: CommandBuffer) -> CommandBuffer {
    setup.set_stage(stage).set_program(ProgramSlot::Main, program).set_domain(domain).start_program().flush_out_cache()
}

pub fn bits(rig: &Rig, surface: &Surface, width: u32, height: u32) -> Vec<[u32; 4]> {
    rig.device.read_surface(surface, (0, 0), (width, height)).unwrap()
}

pub fn dwords(rig: &Rig, at: GpuAddr, count: usize) -> Vec<u32> {
    let bytes = rig.device.read(at, count * 4).unwrap();
    bytes.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect()
}

pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus")
}
