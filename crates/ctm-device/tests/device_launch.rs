//! Programs started by command buffers: their reads, their writes, and persistent registers.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "tests")]

use crate::device_support;

use ctm_device::commands::{Command, CommandBuffer, CommandKind, CondLoc, CondTest};
use ctm_device::device::{CommandErrorReason, DeviceOptions, ParamsStride, plane_bytes};
use ctm_device::mc::{Format, Tiling};
use ctm_device::memory::{ArenaId, GpuAddr};
use ctm_exec::x1k::Plane;
use ctm_exec::{Domain, FaultKind};
use ctm_isa::x1k::program::{Literal, Preload};
use ctm_isa::x1k::{Inst, Program};
use device_support::*;

const D: Domain = Domain { i0: 0, j0: 0, i1: 15, j1: 7 };

fn rig() -> Rig {
    Rig::new(DeviceOptions::default())
}

#[test]
fn constants_come_from_memory_and_literals_go_first() {
    let mut rig = rig();
    let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
    let floats: Vec<u8> = (0..1024u16).flat_map(|n| f32::from(n).to_le_bytes()).collect();
    let constants = rig.bytes(&floats);
    let base = CommandBuffer::new().set_out_fmt(0, &out).set_domain(D).set_constf_fmt(constants);
    for index in [0, 7, 255] {
        let program = rig.program(&constant_program(index));
        rig.submit(&base.clone().set_inst_fmt(program).start_program()).unwrap();
        let first = f32::from(index) * 4.0;
        assert_eq!(rig.floats(&out, 16, 8), vec![[first, first + 1.0, first + 2.0, first + 3.0]; 128]);
    }
    let mut literal = constant_program(7);
    literal.literals.push(Literal::Float { index: 7, bits: [2.5f32.to_bits(); 4] });
    let program = rig.program(&literal);
    rig.submit(&base.set_inst_fmt(program).start_program()).unwrap();
    assert_eq!(rig.floats(&out, 16, 8), vec![[2.5; 4]; 128]);
    // A literal needs no memory for constants.
    let unset = CommandBuffer::new().set_constf_fmt(GpuAddr(0)).start_program();
    rig.submit(&unset).unwrap();
    let program = rig.program(&constant_program(3));
    let error = rig.submit(&CommandBuffer::new().set_inst_fmt(program).start_program()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "floating-point constant 3: 16 bytes at 0x00000030 lie in no arena, at dword 3 (0xc0000800) of the command buffer"
    );
}

#[test]
fn write_masks_hold_channels_back() {
    let mut rig = rig();
    let program = rig.program(&position_program());
    let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
    rig.fill(&out, 16, 8, |_, _| [-1.0; 4]);
    let buffer = CommandBuffer::new().set_inst_fmt(program).set_out_fmt(0, &out).set_domain(D).set_out_mask(0b0110);
    let report = rig.submit(&buffer.start_program()).unwrap();
    assert_eq!((report.counters().writes, report.counters().write_bytes), (128, 128 * 8));
    for (n, found) in rig.floats(&out, 16, 8).into_iter().enumerate() {
        assert_eq!(found, [-1.0, (n / 16) as f32, 0.0, -1.0]);
    }
    // With every channel masked, not even an output is needed.
    let masked = CommandBuffer::new().set_out_mask(0).set_domain(Domain { i0: 0, j0: 0, i1: 4095, j1: 0 });
    assert_eq!(rig.submit(&masked.start_program()).unwrap().counters().writes, 0);
}

/// A program that writes o0 and gives the conditional value i.
fn conditional_program() -> Program {
    let mut i = output(0, temp(0));
    // Alpha reads red of the RGB address: i.
    i.alpha.swiz_a = ctm_isa::x1k::ops::Swizzle::R;
    i.alpha.w_omask = true;
    Program::from_words(vec![Inst::Alu(i).encode()])
}

#[test]
fn conditional_test_in_both_places() {
    let program = conditional_program();
    assert!(program.conditional_value);
    let plain = position_program();
    for location in [CondLoc::Dpp, CondLoc::Pe] {
        for &test in CondTest::ALL {
            for from_program in [false, true] {
                let mut rig = rig();
                let image = rig.program(if from_program { &program } else { &plain });
                let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
                let cond = rig.surface(16, 8, Format::Float32x1, Tiling::Tiled);
                rig.fill(&cond, 16, 8, |_, y| [y as f32 * 2.0; 4]);
                rig.fill(&out, 16, 8, |_, _| [-1.0; 4]);
                let buffer = CommandBuffer::new()
                    .set_inst_fmt(image)
                    .set_out_fmt(0, &out)
                    .set_cond_out_fmt(&cond)
                    .set_cond_val(6.0)
                    .set_cond_test(test)
                    .set_cond_loc(location)
                    .set_domain(D)
                    .start_program();
                let report = rig.submit(&buffer).unwrap();
                let (outs, conds) = (rig.floats(&out, 16, 8), rig.floats(&cond, 16, 8));
                let mut ran = 0;
                for n in 0..128 {
                    let (x, y) = ((n % 16) as f32, (n / 16) as f32);
                    // The PE has only its own value to test with.
                    let v = if from_program && location == CondLoc::Dpp { x } else { 6.0 };
                    let b = y * 2.0;
                    let pass = match test {
                        CondTest::Never => false,
                        CondTest::Less => v < b,
                        CondTest::LessEqual => v <= b,
                        CondTest::Equal => v == b,
                        CondTest::GreaterEqual => v >= b,
                        CondTest::Greater => v > b,
                        CondTest::NotEqual => v != b,
                        CondTest::Always => true,
                    };
                    ran += u64::from(pass || location == CondLoc::Dpp);
                    let at = format!("{location:?} {test:?} {from_program} ({x}, {y})");
                    assert_eq!(outs[n][..2], if pass { [x, y] } else { [-1.0, -1.0] }, "{at}");
                    assert_eq!(conds[n][0], if pass { v } else { b }, "{at}");
                }
                assert_eq!(report.counters().processors, ran, "{location:?} {test:?}");
            }
        }
    }
}

#[test]
fn conditional_mask_keeps_the_buffer() {
    let mut rig = rig();
    let image = rig.program(&position_program());
    let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
    let cond = rig.surface(16, 8, Format::Uint16x1, Tiling::Linear);
    rig.fill(&cond, 16, 8, |_, _| [0.5; 4]);
    let buffer = CommandBuffer::new()
        .set_inst_fmt(image)
        .set_out_fmt(0, &out)
        .set_cond_out_fmt(&cond)
        .set_cond_val(1.0)
        .set_cond_test(CondTest::Greater)
        .set_domain(D);
    rig.submit(&buffer.clone().set_cond_out_mask(false).start_program()).unwrap();
    assert!(rig.floats(&cond, 16, 8).iter().all(|c| (c[0] - 0.5).abs() < 1e-4));
    rig.submit(&CommandBuffer::new().set_cond_out_mask(true).start_program()).unwrap();
    assert!(rig.floats(&cond, 16, 8).iter().all(|c| c[0] == 1.0));
}

#[test]
fn interpolants_are_taken_at_centres() {
    for (stride, index) in [(ParamsStride::Floats32, 6), (ParamsStride::Floats36, 7)] {
        let mut rig = Rig::new(DeviceOptions { params_stride: stride, ..DeviceOptions::default() });
        let mut program = Program::from_words(vec![Inst::Alu(output(0, temp(9))).encode()]);
        program.preloads = vec![Preload::Interpolant { index, temp: 9 }];
        let image = rig.program(&program);
        let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
        // The plane of a known client for a copy of 16 x 8: T = i + 0.05, j + 0.05 when taken at centres.
        let (w, h) = (16.0, 8.0);
        let mut floats = vec![0f32; 3 * usize::from(stride.floats())];
        let corners = [[0.0, 0.0], [3.0 * w, 0.0], [0.0, 3.0 * h]];
        for (record, [x, y]) in floats.chunks_exact_mut(usize::from(stride.floats())).zip(corners) {
            record[..4].copy_from_slice(&[x, y, 0.0, 1.0]);
            let at = 4 + 4 * usize::from(index);
            record[at..at + 4].copy_from_slice(&[x - 0.5 + 0.05, y - 0.5 + 0.05, 7.0, -0.0]);
        }
        let params = rig.bytes(&floats.iter().flat_map(|f| f.to_le_bytes()).collect::<Vec<_>>());
        let buffer = CommandBuffer::new().set_inst_fmt(image).set_out_fmt(0, &out).set_domain(D).set_params(params);
        rig.submit(&buffer.start_program()).unwrap();
        for (n, found) in rig.floats(&out, 16, 8).into_iter().enumerate() {
            let (x, y) = ((n % 16) as f32 + 0.05, (n / 16) as f32 + 0.05);
            assert!((found[0] - x).abs() < 1e-5 && (found[1] - y).abs() < 1e-5 && found[2] == 7.0, "{n} {found:?}");
        }
        // One interpolant more than a record holds, positions on a line, no records.
        program.preloads = vec![Preload::Interpolant { index: index + 1, temp: 0 }];
        let image = rig.program(&program);
        let error = rig.submit(&CommandBuffer::new().set_inst_fmt(image).start_program()).unwrap_err();
        assert_eq!(error.reason, CommandErrorReason::Interpolant { interpolant: index + 1, limit: index + 1 });
        let holds = format!("interpolant {}, the parameter records hold interpolants 0 to {index}", index + 1);
        assert!(error.to_string().contains(&holds), "{error}");
        program.preloads = vec![Preload::Interpolant { index: 0, temp: 0 }];
        let image = rig.program(&program);
        let zero = rig.bytes(&[0; 512]);
        let error = rig.submit(&CommandBuffer::new().set_inst_fmt(image).set_params(zero).start_program()).unwrap_err();
        assert_eq!(error.reason, CommandErrorReason::DegenerateParams);
    }
}

#[test]
fn planes_come_after_the_rasteriser() {
    let mut rig = rig();
    let image = rig.program(&position_program());
    let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
    let planes = [
        Plane {
            origin: [0.5, 1.0, 2.0, 3.0],
            di: [2.0, 0.0, 0.0, 0.0],
            dj: [0.0, 0.25, 0.0, 0.0],
            ..Plane::position(0)
        },
        Plane::position(5),
    ];
    let records = rig.bytes(&planes.map(|p| plane_bytes(&p)).concat());
    let buffer = CommandBuffer::new().set_inst_fmt(image).set_out_fmt(0, &out).set_domain(D).set_planes(records, 2);
    rig.submit(&buffer.start_program()).unwrap();
    for (n, found) in rig.floats(&out, 16, 8).into_iter().enumerate() {
        assert_eq!(found, [0.5 + 2.0 * (n % 16) as f32, 1.0 + 0.25 * (n / 16) as f32, 2.0, 3.0]);
    }
    rig.submit(&CommandBuffer::new().set_planes(records, 0).start_program()).unwrap();
    assert_eq!(rig.floats(&out, 16, 8)[17], [1.0, 1.0, 0.0, 0.0]);
    let bad = rig.bytes(&[200; 104]);
    let error = rig.submit(&CommandBuffer::new().set_planes(bad, 1).start_program()).unwrap_err();
    assert_eq!(error.reason, CommandErrorReason::PlaneTemporary { record: 0, temp: 0xc8c8_c8c8 });
}

#[test]
fn uncached_writes_go_where_the_program_says() {
    let mut rig = rig();
    // Red: value 3 (inline would do; here c0), green and blue: the index pair (j, i), alpha: 0.
    let mut i = output(0, temp(0));
    i.rgb.target = 2;
    i.rgb.red_swiz_a = ctm_isa::x1k::ops::Swizzle::One;
    i.rgb.green_swiz_a = ctm_isa::x1k::ops::Swizzle::G;
    i.rgb.blue_swiz_a = ctm_isa::x1k::ops::Swizzle::R;
    i.alpha.swiz_a = ctm_isa::x1k::ops::Swizzle::Zero;
    let mut program = Program::from_words(vec![Inst::Alu(i).encode()]);
    program.uncached = true;
    let image = rig.program(&program);
    let out = rig.surface(16, 16, Format::Float32x1, Tiling::Tiled);
    let buffer = CommandBuffer::new().set_inst_fmt(image).set_out_fmt(0, &out).set_domain(D);
    let report = rig.submit(&buffer.start_program()).unwrap();
    assert_eq!((report.counters().writes, report.counters().write_bytes), (128, 512));
    for (n, found) in rig.floats(&out, 16, 16).into_iter().enumerate() {
        let (x, y) = (n % 16, n / 16);
        assert_eq!(found[0], if x < 8 && y < 16 { 1.0 } else { 0.0 }, "({x}, {y})");
    }
    let wide = rig.surface(16, 16, Format::Float32x4, Tiling::Linear);
    let error = rig.submit(&CommandBuffer::new().set_out_fmt(0, &wide).start_program()).unwrap_err();
    assert!(error.to_string().contains("its format is FLOAT32_4, uncached writes need FLOAT32_1"), "{error}");
}

#[test]
fn domains_beyond_an_output_fault_by_name() {
    let mut rig = rig();
    let image = rig.program(&position_program());
    let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
    let buffer = CommandBuffer::new().set_inst_fmt(image).set_out_fmt(0, &out).set_domain(Domain { j1: 8, ..D });
    let error = rig.submit(&buffer.start_program()).unwrap_err();
    let CommandErrorReason::Fault(fault) = &error.reason else { panic!("{error}") };
    assert!(matches!(&fault.kind, FaultKind::Memory(m) if m.what == "output 0"), "{fault}");
    assert!(fault.to_string().contains("element (0, 8) lies outside its 16 x 8 elements"), "{fault}");
    // The device goes on, and remembers everything.
    let report = rig.submit(&CommandBuffer::new().set_domain(D).start_program()).unwrap();
    assert_eq!(report.counters().writes, 128);
    let error = rig.submit(&CommandBuffer::new().set_out_fmt(0, &out.at(GpuAddr(0x800))).start_program()).unwrap_err();
    assert!(error.to_string().contains("lie in no arena (address 0x00000800)"), "{error}");
}

#[test]
fn unset_inputs_and_outputs_are_named() {
    let mut rig = rig();
    let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
    let image = rig.program(&copy_program(11, 3));
    let base = CommandBuffer::new().set_inst_fmt(image).set_domain(D);
    let error = rig.submit(&base.clone().start_program()).unwrap_err().to_string();
    assert!(error.contains("input 11"), "{error}");
    let error = rig.submit(&base.set_inp_fmt(11, &out).start_program()).unwrap_err().to_string();
    assert!(error.contains("output 3: it is not set; `set_out_fmt` says where it lies"), "{error}");
}

#[test]
fn what_start_program_needs_is_named() {
    let mut rig = rig();
    let start = CommandBuffer::new().start_program();
    assert_eq!(rig.submit(&start).unwrap_err().reason, CommandErrorReason::NoProgram);
    let image = rig.program(&position_program());
    let error = rig.submit(&CommandBuffer::new().set_inst_fmt(image).start_program()).unwrap_err();
    assert_eq!((error.reason, error.offset_dwords, error.word), (CommandErrorReason::NoDomain, 3, 0xc000_0800));
    let buffer = CommandBuffer::new().set_domain(D).set_cond_test(CondTest::Less).start_program();
    let error = rig.submit(&buffer).unwrap_err();
    assert_eq!(error.reason, CommandErrorReason::NoConditionalBuffer { test: CondTest::Less });
    let error = rig.submit(&CommandBuffer::new().set_inst_fmt(GpuAddr(0x1234)).start_program()).unwrap_err();
    assert!(error.to_string().starts_with("the program: 1 bytes at 0x00001000 lie in no arena"), "{error}");
    let garbage = rig.bytes(&[7; 4096]);
    let error = rig.submit(&CommandBuffer::new().set_inst_fmt(garbage).start_program()).unwrap_err();
    assert!(matches!(error.reason, CommandErrorReason::Image { address, .. } if address == garbage), "{error}");
    rig.device.reset();
    assert_eq!(rig.submit(&start).unwrap_err().reason, CommandErrorReason::NoProgram);
}

#[test]
fn programs_are_read_again_only_when_told() {
    let mut rig = rig();
    let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
    let image = rig.program(&position_program());
    let start = CommandBuffer::new().start_program();
    rig.submit(&CommandBuffer::new().set_inst_fmt(image).set_out_fmt(0, &out).set_domain(D).start_program()).unwrap();
    // Clients write the next program over the last one.
    rig.device.write(image, &ctm_image::ctm_elf::write(&constant_program(0)).unwrap()).unwrap();
    rig.submit(&start).unwrap();
    assert_eq!(rig.floats(&out, 16, 8)[17], [1.0, 1.0, 0.0, 0.0]);
    rig.submit(&CommandBuffer::new().inv_inst_cache().start_program()).unwrap();
    assert_eq!(rig.floats(&out, 16, 8)[17], [0.0; 4]);
    rig.device.write(image, &ctm_image::ctm_elf::write(&position_program()).unwrap()).unwrap();
    rig.submit(&CommandBuffer::new().set_inst_fmt(image).start_program()).unwrap();
    assert_eq!(rig.floats(&out, 16, 8)[17], [1.0, 1.0, 0.0, 0.0]);
}

#[test]
fn counters_count_between_start_and_stop() {
    let mut rig = rig();
    let image = rig.program(&position_program());
    let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
    let to = rig.device.allocate(ArenaId::Sys, 8).unwrap();
    let read = |rig: &Rig| {
        let b = rig.device.read(to, 8).unwrap();
        [0, 4].map(|n| u32::from_le_bytes([b[n], b[n + 1], b[n + 2], b[n + 3]]))
    };
    let setup = CommandBuffer::new().set_inst_fmt(image).set_out_fmt(0, &out).set_domain(D);
    rig.device.write_dwords(to, &[9, 9]).unwrap();
    // Switched off they do nothing.
    let off = setup.clone().start_perf_counters().start_program().read_perf_counters(to);
    rig.submit(&off).unwrap();
    assert_eq!(read(&rig), [9, 9]);
    let on = CommandBuffer::new().init_perf_counters(true).start_program().start_perf_counters().start_program();
    let report = rig.submit(&on.wait_for_idle().stop_perf_counters().start_program().read_perf_counters(to)).unwrap();
    let clocks = u32::try_from(report.launches[1].counters.clocks()).unwrap();
    assert!(clocks > 0);
    // Between start and stop: start_program, wait_for_idle and stop_perf_counters, two dwords each.
    assert_eq!(read(&rig), [clocks + 6, clocks]);
    let error = rig.submit(&CommandBuffer::new().read_perf_counters(GpuAddr(0))).unwrap_err();
    assert_eq!(error.reason.code(), "outside-memory");
    rig.submit(&CommandBuffer::new().init_perf_counters(false).read_perf_counters(GpuAddr(0))).unwrap();
}

#[test]
fn an_empty_domain_runs_nothing() {
    let mut rig = Rig::new(DeviceOptions::checked());
    let image = rig.program(&position_program());
    let buffer = CommandBuffer::new().set_inst_fmt(image).set_domain(Domain { i0: 5, j0: 0, i1: 4, j1: 9 });
    let report = rig.submit(&buffer.start_program()).unwrap();
    assert_eq!((report.launches.len(), report.counters().processors), (1, 0));
    assert_eq!(report.findings[0].rule, "empty-domain");
}

#[test]
fn the_largest_domain_can_be_run() {
    let mut rig = rig();
    // Conditional execution skips all but one row.
    let image = rig.program(&position_program());
    let out = rig.surface(4096, 4096, Format::Uint16x1, Tiling::Tiled);
    let cond = rig.surface(4096, 4096, Format::Uint16x1, Tiling::Linear);
    let row: Vec<_> = (0..4096).map(|_| [1f32.to_bits(); 4]).collect();
    let last = ctm_device::mc::Surface { base: cond.address_of(0, 4095), height: 1, ..cond };
    rig.device.write_surface(&last, 4096, &row).unwrap();
    let buffer = CommandBuffer::new()
        .set_inst_fmt(image)
        .set_out_fmt(0, &out)
        .set_cond_out_fmt(&cond)
        .set_cond_val(1.0)
        .set_cond_test(CondTest::Equal)
        .set_cond_loc(CondLoc::Pe)
        .set_domain(Domain { i0: 0, j0: 0, i1: 4095, j1: 4095 });
    let report = rig.submit(&buffer.start_program()).unwrap();
    assert_eq!(report.counters().processors, 4096);
    let at = out.address_of(4095, 4095);
    assert_eq!(rig.device.read(at, 2).unwrap(), [255, 255]);
}

#[test]
fn garbage_stops_the_buffer_where_it_stands() {
    let mut rig = rig();
    let image = rig.program(&position_program());
    let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
    let good = CommandBuffer::new().set_inst_fmt(image).set_out_fmt(0, &out).set_domain(D).start_program();
    let length = u32::try_from(good.len_dwords()).unwrap();
    // words after the good ones, offset from there, message
    let table: [(&[u32], u32, &str); 5] = [
        (&[0xdead_beef], 0, "the word is no command"),
        (&[0xc000_0900, 0, 0xc000_7700, 0], 2, "no command has opcode 0x77"),
        (&[0xc003_0700, 0, 0], 0, "`set_domain` has 4 parameters, the buffer ends after 2"),
        (&[0xc003_0700, 0, 0, 0x8000_0003, 0], 3, "parameter 2 (`i1`) of `set_domain` sets reserved bits 0x80000000"),
        (&[0xc003_0b00, 0, 0, 0x0000_0012, 0], 3, "parameter 2 (`format`) of `set_inp_fmt` sets reserved bits 0x2"),
    ];
    for (garbage, offset, message) in table {
        rig.fill(&out, 16, 8, |_, _| [-1.0; 4]);
        let words = [good.words(), garbage, &[0xc000_0800, 0]].concat();
        let words = if garbage.len() == 3 { &words[..words.len() - 2] } else { &words[..] };
        let error = rig.submit_words(words).unwrap_err();
        assert_eq!((error.offset_dwords, error.word), (length + offset, words[(length + offset) as usize]), "{error}");
        assert!(error.to_string().starts_with(message), "{error}");
        // Earlier commands were executed and are reported.
        assert_eq!(rig.floats(&out, 16, 8)[17], [1.0, 1.0, 0.0, 0.0]);
        assert_eq!(rig.device.last_report().launches.len(), 1);
    }
    let error = rig.device.submit(GpuAddr(0x8000_0002), 1).unwrap_err();
    assert_eq!(error.reason.code(), "misaligned-command-buffer");
    for (address, size) in [(0x8000_0000, u32::MAX), (0, 1), (u32::MAX - 3, 2)] {
        assert_eq!(rig.device.submit(GpuAddr(address), size).unwrap_err().reason.code(), "outside-memory");
    }
    assert_eq!(rig.device.submit(GpuAddr(0), 0).unwrap().commands, 0);
}

#[test]
fn headers_with_one_parameter_are_taken_too() {
    let mut rig = rig();
    let to = rig.device.allocate(ArenaId::Sys, 8).unwrap();
    let report = rig.submit_words(&[0xc000_0200, 1, 0xc000_0500, to.0, 0xc000_0100, to.0]).unwrap();
    assert_eq!(report.commands, 3);
    assert_eq!(rig.device.registers().params, Some(to));
    // The count field is honoured: here it swallows a command, and checked mode says so.
    let mut rig = Rig::new(DeviceOptions::checked());
    let report = rig.submit_words(&[0xc001_0200, 1, 0xc000_0300, 0xc000_0900, 0]).unwrap();
    assert_eq!((report.commands, report.findings[0].rule), (2, "header-as-parameter"));
    let odd = Command::new(CommandKind::SetConstfFmt, &[0x8000_0010]);
    let report = rig.submit(&CommandBuffer::new().command(&odd)).unwrap();
    assert_eq!(report.findings[0].rule, "address-not-aligned");
}
