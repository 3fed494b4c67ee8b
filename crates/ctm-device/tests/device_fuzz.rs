//! Random and mutated command buffers: no panic, no hang, nothing outside the arenas, and the device goes on.
//! `CTM_RANDOM=n` tries n buffers on the R700 device.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]

use crate::device_support;

use ctm_device::commands::{
    BufferPlace, Command, CommandBuffer, CommandKind, CondTest, ConstantsPlace, MemoryKind, MemoryPlace, ProgramPlace,
    ProgramSlot, parse, print,
};
use ctm_device::device::{Device, DeviceKind, DeviceOptions};
use ctm_device::mc::{Format, TextureSurface, Tiling};
use ctm_device::memory::{ArenaId, ArenaOptions, GpuAddr};
use ctm_exec::engine::MemoryFault;
use ctm_exec::x1k::{Launch, Memory, Outputs};
use ctm_exec::{Budget, Control, Domain, Engine, Fault, FaultKind, Interp, Outcome, Position};
use ctm_isa::r700::program::{Chip, Stage};
use device_support::*;

/// A few processors at the corners of the domain, reading and writing everything there is.
struct Corners;

impl Engine for Corners {
    fn name(&self) -> &'static str {
        "corners"
    }

    fn run_x1k_under(&self, _: &Control, launch: &Launch<'_>, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
        let Domain { i0, j0, i1, j1 } = launch.domain;
        let mut run = |at: Position| -> Result<(), MemoryFault> {
            if !memory.schedule(at)? {
                return Ok(());
            }
            let mut outputs = Outputs { written: [0xf; 4], conditional_value: Some(at.i), ..Outputs::default() };
            for index in 0..16 {
                if let Some(input) = memory.input(index) {
                    let (x, y) = (at.i.min(input.width - 1), at.j.min(input.height - 1));
                    outputs.values[usize::from(index) % 4] = memory.read(index, x, y, false)?;
                    memory.read(index, input.width - 1, input.height - 1, true)?;
                }
            }
            if launch.program.uncached {
                memory.write_uncached(at.i, at.j, 1).map(drop)
            } else {
                memory.commit(at, &outputs).map(drop)
            }
        };
        for (i, j) in [(i0, j0), (i1, j0), (i0, j1), (i1, j1)] {
            let position = Some(Position { i, j });
            run(Position { i, j }).map_err(|m| Fault { kind: FaultKind::Memory(m), pc: 0, position })?;
        }
        Ok(Outcome::default())
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as u32
    }

    fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n
    }
}

fn options() -> DeviceOptions {
    DeviceOptions {
        arenas: ArenaOptions::with_sizes([1 << 20, 1 << 16, 1 << 20, 1 << 16]).unwrap(),
        budget: Budget { instructions_per_group: Some(1000), time: Some(std::time::Duration::from_millis(20)) },
        ..DeviceOptions::checked()
    }
}

/// A buffer that uses most features, on a device whose system memory holds programs, constants and records.
fn seed(rig: &mut Rig) -> Vec<u32> {
    let (program, constants) = (rig.program(&copy_program(0, 0)), rig.bytes(&[1; 4096]));
    let (a, b) =
        (rig.surface(16, 16, Format::Float32x4, Tiling::Tiled), rig.surface(16, 16, Format::Float32x4, Tiling::Linear));
    let cond = rig.surface(16, 16, Format::Uint16x1, Tiling::TiledInp2x2);
    let buffer = CommandBuffer::new()
        .init_perf_counters(true)
        .start_perf_counters()
        .set_inst_fmt(program)
        .inv_inst_cache()
        .set_inp_fmt(0, &a)
        .set_inp_sampler(0, &ctm_exec::x1k::Sampler::default(), 16)
        .set_out_fmt(0, &b)
        .set_cond_out_fmt(&cond)
        .set_cond_test(CondTest::LessEqual)
        .set_cond_val(1.0)
        .set_constf_fmt(constants)
        .set_consti_fmt(constants)
        .set_constb_fmt(constants)
        .set_params(constants)
        .set_planes(constants, 0)
        .set_domain(Domain { i0: 0, j0: 0, i1: 15, j1: 15 })
        .start_program()
        .wait_for_idle()
        .flush_out_cache()
        .flush_cond_out_cache()
        .read_perf_counters(constants);
    buffer.words().to_vec()
}

fn hammer(engine: fn() -> Box<dyn Engine>, rounds: u32, seed_number: u64) {
    hammer_device(Device::open(engine(), options()).unwrap(), seed, rounds, seed_number);
}

fn hammer_device(device: Device, seed: fn(&mut Rig) -> Vec<u32>, rounds: u32, seed_number: u64) {
    let mut rig = Rig { device };
    let good = seed(&mut rig);
    let at = rig.device.allocate(ArenaId::Sys, 8192).unwrap();
    let mut random = Random(seed_number);
    rig.submit_words(&good).unwrap_or_else(|e| panic!("the unchanged buffer: {e}"));
    let mut stopped = 0;
    for round in 0..rounds {
        let mut words = good.clone();
        for _ in 0..=random.below(4) {
            let n = random.below(words.len());
            match random.below(7) {
                0 => words[n] ^= 1 << random.below(32),
                1 => words[n] = random.next(),
                2 => words[n] = at.0.wrapping_add(random.next() % 8192),
                3 => words.truncate(n + 1),
                4 => words.insert(n, CommandKind::ALL[random.below(CommandKind::ALL.len())].header()),
                5 => {
                    words.remove(n);
                    words.push(0);
                }
                _ => {
                    let kind = CommandKind::ALL[random.below(CommandKind::ALL.len())];
                    let params: Vec<u32> = kind
                        .info()
                        .params
                        .iter()
                        .map(|p| random.next() >> random.below(32) & !p.format.reserved_mask())
                        .collect();
                    let command = Command::new(kind, &params);
                    words.splice(n..n, command.words());
                }
            }
        }
        if round % 16 == 0 {
            words = (0..random.below(64)).map(|_| random.next()).collect();
        }
        // A buffer may also run over itself, or over memory that programs write.
        words.truncate(2000);
        rig.device.write_dwords(at, &words).unwrap();
        match rig.device.submit(at, words.len() as u32) {
            Ok(_) => {}
            Err(e) => {
                stopped += 1;
                assert!((e.offset_dwords as usize) < words.len());
                assert!(!e.to_string().is_empty() && !e.reason.code().is_empty());
            }
        }
        assert_eq!(parse(&print(&words)).unwrap(), words);
        rig.device.take_findings();
    }
    assert!(stopped > rounds / 4);
    rig.device.reset();
    rig.device.write_dwords(at, &good).unwrap();
    // The program's image may have been overwritten meanwhile; whatever comes, it is an answer.
    let _ = rig.device.submit(at, good.len() as u32);
}

#[test]
fn mutated_buffers_are_answered() {
    hammer(|| Box::new(Corners), 6000, 0x1234_5678_9abc_def1);
}

#[test]
fn mutated_buffers_are_answered_by_the_interpreter() {
    hammer(|| Box::new(Interp), 300, 0x0fed_cba9_8765_4321);
}

/// The same for an R700 device: a program that fetches, reads and writes memory, emits and exports.
fn r700_seed(rig: &mut Rig) -> Vec<u32> {
    let source = "CALL_FS\nALU: KCACHE0(CB0:0-15)\n  0  x: ADD R1.x, KC0[0].x, C1.x\n     y: MOV R1.y, 0.0f\n\
        TEX:\n SAMPLE R2.xyzw, R1.xyzw, t0, s0\n SAMPLE R3.xyzw, R1.xyzw, t1, s1\n\
        VTX:\n FETCH R4.xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT)\n RD_SCATTER R5.x___, READ(0 + R0.x) ARRAY_SIZE(0) ELEM_SIZE(0) FORMAT(32 INT)\n\
        MEM_RING: WRITE(0), R2.xyzw ARRAY_SIZE(255) ELEM_SIZE(3)\nMEM_EXPORT: WRITE(0 + R0), R5.x___ ARRAY_SIZE(0)\n\
        EMIT_VERTEX\nEXP: PIX0, R2.xyzw\nEXP_DONE: PARAM0, R3.xyzw\nEND_OF_PROGRAM\n";
    let assembly = ctm_isa::r700::text::assemble(source, &ctm_isa::r700::text::TextOptions::default());
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    let words: Vec<u8> = program.words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let (code, data) = (rig.bytes(&words), rig.bytes(&[1; 8192]));
    let place = ProgramPlace::words(code, &program);
    let (a, b) =
        (rig.surface(16, 16, Format::Float32x4, Tiling::Tiled), rig.surface(16, 16, Format::Float32x4, Tiling::Linear));
    let format = ctm_exec::r700::formats::Format::default();
    let memory = MemoryPlace { base: data, bytes: 8192, item: 8 };
    let buffer = CommandBuffer::new()
        .set_chip(Chip::Rv710, 0)
        .set_stage(Stage::Geometry)
        .set_program(ProgramSlot::Main, &place)
        .set_program(ProgramSlot::Fetch, &place)
        .set_thread_group(32)
        .set_global_gprs(4)
        .set_constf_fmt(data)
        .set_loop_consts(data)
        .set_constb_fmt(data)
        .set_const_buffer(0, &ConstantsPlace { base: data, constants: 16 })
        .set_vtx_buffer(0, &BufferPlace { base: data, bytes: 4096, stride_bytes: 16, format })
        .set_texture(0, &TextureSurface::two_d(8, 8, format).at(data))
        .set_inp_fmt(1, &a)
        .set_sampler(0, &ctm_exec::r700::Sampler::default())
        .set_memory(MemoryKind::Ring, &memory)
        .set_memory(MemoryKind::Scatter, &memory)
        .set_semantics(data, 4)
        .set_out_fmt(0, &b)
        .set_export(ctm_exec::r700::Target::Parameter(0), &a)
        .set_vertex_events(data, 100)
        .set_params(data)
        .set_planes(data, 0)
        .set_domain(Domain { i0: 0, j0: 0, i1: 15, j1: 1 })
        .start_program()
        .wait_for_idle()
        .flush_out_cache();
    buffer.words().to_vec()
}

#[test]
fn mutated_buffers_are_answered_by_an_r700_device() {
    let options = DeviceOptions { kind: DeviceKind::R700, ..options() };
    let rounds = std::env::var("CTM_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(1500);
    hammer_device(Device::open(Box::new(Interp), options).unwrap(), r700_seed, rounds, 0x0f0f_1234_5678_9abc);
}

#[test]
fn every_address_is_answered() {
    let mut rig = Rig { device: Device::open(Box::new(Corners), options()).unwrap() };
    let mut random = Random(99);
    for _ in 0..20_000 {
        let (address, size) = (random.next() >> random.below(32), random.next() >> random.below(32));
        let _ = rig.device.submit(GpuAddr(address), size.min(100));
        let _ = rig.device.submit(GpuAddr(address), size);
        let _ = rig.device.read(GpuAddr(address), size as usize);
    }
}
