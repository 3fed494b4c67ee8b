//! Small programs and a device to run them on, for the tests of the device.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "each test file uses a part; tests may unwrap"
)]

pub mod r700;

use ctm_device::commands::CommandBuffer;
use ctm_device::device::{CommandError, Device, DeviceOptions, SubmitReport};
use ctm_device::mc::{Format, Surface, Tiling};
use ctm_device::memory::{ArenaId, GpuAddr};
use ctm_exec::{Engine, Interp};
use ctm_isa::x1k::formats::{CmnInst, TexAddr, TexAddrDxDy, TexInst};
use ctm_isa::x1k::inst::{AluInst, Source, TexInstruction};
use ctm_isa::x1k::ops::{InstType, Swizzle, TexOp};
use ctm_isa::x1k::{Inst, Program, Words};

/// `OUTPUT target = source`: all four channels, through MAD with 1 and 0.
pub fn output(target: u8, source: Source) -> AluInst {
    let mut i = AluInst::idle(InstType::Output);
    let (addr, is_const, relative) = source.fields();
    i.cmn.tex_sem_wait = true;
    (i.rgb_addr.addr0, i.rgb_addr.addr0_const, i.rgb_addr.addr0_rel) = (addr, is_const, relative);
    (i.alpha_addr.addr0, i.alpha_addr.addr0_const, i.alpha_addr.addr0_rel) = (addr, is_const, relative);
    (i.cmn.rgb_omask, i.cmn.alpha_omask) = (7, true);
    (i.rgb.target, i.alpha.target) = (target, target);
    (i.rgb.red_swiz_a, i.rgb.green_swiz_a, i.rgb.blue_swiz_a) = (Swizzle::R, Swizzle::G, Swizzle::B);
    (i.rgb.red_swiz_b, i.rgb.green_swiz_b, i.rgb.blue_swiz_b) = (Swizzle::One, Swizzle::One, Swizzle::One);
    (i.rgba.red_swiz_c, i.rgba.green_swiz_c, i.rgba.blue_swiz_c) = (Swizzle::Zero, Swizzle::Zero, Swizzle::Zero);
    (i.alpha.swiz_a, i.alpha.swiz_b, i.rgba.alpha_swiz_c) = (Swizzle::A, Swizzle::One, Swizzle::Zero);
    i
}

pub fn temp(index: u8) -> Source {
    Source::Temp { index, relative: false }
}

pub fn constant(index: u8) -> Source {
    Source::Const { index, relative: false }
}

/// `temp[dst] = input at (temp[src].r, temp[src].g)`, coordinates in elements.
pub fn lookup(op: TexOp, input: u8, dst: u8, src: u8) -> Words {
    let mut inst = TexInst::decode(0).unwrap();
    (inst.op, inst.tex_id, inst.unscaled, inst.tex_sem_acquire) = (op, input, true, true);
    let mut addr = TexAddr::decode(0xe400_e400).unwrap();
    (addr.src_addr, addr.dst_addr) = (src, dst);
    let mut cmn = CmnInst::decode(3).unwrap();
    (cmn.rgb_wmask, cmn.alpha_wmask) = (7, true);
    Inst::Tex(TexInstruction { cmn, inst, addr, dxdy: TexAddrDxDy::decode(0).unwrap() }).encode()
}

/// o0 = (i, j, 0, 0).
pub fn position_program() -> Program {
    Program::from_words(vec![Inst::Alu(output(0, temp(0))).encode()])
}

/// o`target` = input[i, j].
pub fn copy_program(input: u8, target: u8) -> Program {
    Program::from_words(vec![lookup(TexOp::Lookup, input, 1, 0), Inst::Alu(output(target, temp(1))).encode()])
}

/// An element of an array with special numbers among others.
pub fn special(x: u32, y: u32) -> [f32; 4] {
    const SPECIAL: [f32; 8] = [f32::NAN, -1.0, 1.0, 2.0, f32::INFINITY, 1e-40, 0.5, -0.0];
    let n = x * 7 + y * 131;
    let plain = n as f32 / 4000.0;
    [if n.is_multiple_of(5) { SPECIAL[n as usize / 5 % 8] } else { plain }, plain * plain, 1.0 - plain, 0.4]
}

/// o0 = c`index`.
pub fn constant_program(index: u8) -> Program {
    Program::from_words(vec![Inst::Alu(output(0, constant(index))).encode()])
}

/// A device with its program, command buffer and outputs where known clients put them.
pub struct Rig {
    pub device: Device,
}

impl Rig {
    pub fn new(options: DeviceOptions) -> Self {
        Self::with_engine(Box::new(Interp), options)
    }

    pub fn with_engine(engine: Box<dyn Engine>, options: DeviceOptions) -> Self {
        Self { device: Device::open(engine, options).unwrap() }
    }

    /// Stores the image of a program.
    pub fn program(&mut self, program: &Program) -> GpuAddr {
        self.bytes(&ctm_image::ctm_elf::write(program).unwrap())
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> GpuAddr {
        let at = self.device.allocate(ArenaId::Sys, bytes.len() as u64).unwrap();
        self.device.write(at, bytes).unwrap();
        at
    }

    pub fn surface(&mut self, width: u32, height: u32, format: Format, tiling: Tiling) -> Surface {
        let surface = Surface::for_size(width, height, format, tiling).unwrap();
        let at = self.device.allocate(ArenaId::Gpu, surface.bytes()).unwrap();
        surface.at(at)
    }

    pub fn submit(&mut self, buffer: &CommandBuffer) -> Result<SubmitReport, CommandError> {
        self.submit_words(buffer.words())
    }

    pub fn submit_words(&mut self, words: &[u32]) -> Result<SubmitReport, CommandError> {
        let at = self.device.allocate(ArenaId::SysC, words.len() as u64 * 4).unwrap();
        self.device.write_dwords(at, words).unwrap();
        let result = self.device.submit(at, u32::try_from(words.len()).unwrap());
        self.device.memory_mut().free_all(ArenaId::SysC);
        result
    }

    /// The elements as numbers, row by row.
    pub fn floats(&self, surface: &Surface, width: u32, height: u32) -> Vec<[f32; 4]> {
        let elements = self.device.read_surface(surface, (0, 0), (width, height)).unwrap();
        elements.into_iter().map(|e| e.map(f32::from_bits)).collect()
    }

    pub fn fill(&mut self, surface: &Surface, width: u32, height: u32, value: impl Fn(u32, u32) -> [f32; 4]) {
        let elements: Vec<_> = (0..height)
            .flat_map(|y| (0..width).map(move |x| (x, y)))
            .map(|(x, y)| value(x, y).map(f32::to_bits))
            .collect();
        self.device.write_surface(surface, width, &elements).unwrap();
    }
}
