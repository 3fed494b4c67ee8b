//! Programs started by command buffers: what they read, what they write, and what the registers keep.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "tests")]

mod device_support;

use ctm::commands::{Command, CommandBuffer, CommandKind, CondLoc, CondTest};
use ctm::device::{CommandErrorReason, DeviceOptions, ParamsStride, plane_bytes};
use ctm::mc::{ByteOrder, Format, Tiling};
use ctm::memory::{ArenaId, GpuAddr};
use ctm_exec::x1k::{Filter, Plane, Sampler, Wrap};
use ctm_exec::{Domain, FaultKind};
use ctm_isa::x1k::ops::TexOp;
use ctm_isa::x1k::program::{Literal, Preload};
use ctm_isa::x1k::{Inst, Program};
use ctm_jit::Jit;
use device_support::*;

const D: Domain = Domain { i0: 0, j0: 0, i1: 15, j1: 7 };

fn rig() -> Rig {
    Rig::new(DeviceOptions::default())
}

#[test]
fn index_pairs_arrive_in_every_tiling() {
    let mut rig = rig();
    let program = rig.program(&position_program());
    for &tiling in Tiling::ALL {
        for format in [Format::Float32x1, Format::Float32x2, Format::Float32x4] {
            let out = rig.surface(70, 40, format, tiling);
            let domain = Domain { i0: 3, j0: 2, i1: 66, j1: 38 };
            let buffer = CommandBuffer::new()
                .set_inst_fmt(program)
                .inv_inst_cache()
                .set_out_fmt(0, &out)
                .set_domain(domain)
                .start_program()
                .flush_out_cache();
            let report = rig.submit(&buffer).unwrap();
            assert_eq!((report.commands, report.launches.len(), report.findings.len()), (6, 1, 0));
            assert_eq!(report.counters().processors, 64 * 37);
            let channels = format.info().channels;
            for (n, found) in rig.floats(&out, 70, 40).into_iter().enumerate() {
                let (x, y) = (n as u32 % 70, n as u32 / 70);
                let inside = (3..=66).contains(&x) && (2..=38).contains(&y);
                let mut expected = [x as f32, y as f32, 0.0, 0.0];
                for (c, e) in expected.iter_mut().enumerate() {
                    if c >= channels {
                        *e = if c == 3 { 1.0 } else { 0.0 };
                    } else if !inside {
                        *e = 0.0;
                    }
                }
                assert_eq!(found, expected, "{tiling:?} {format:?} ({x}, {y})");
            }
        }
    }
}

#[test]
fn copies_between_all_formats_and_tilings() {
    let mut rig = rig();
    for &from in Format::ALL {
        for tiling in [Tiling::Linear, Tiling::Tiled] {
            let (input, out) = (rig.surface(16, 8, from, tiling), rig.surface(16, 8, Format::Float32x4, Tiling::Tiled));
            rig.fill(&input, 16, 8, |x, y| [x as f32 / 15.0, y as f32 / 7.0, 0.25, 1.0]);
            let program = rig.program(&copy_program(5, 2));
            let buffer =
                CommandBuffer::new().set_inst_fmt(program).set_inp_fmt(5, &input).set_out_fmt(2, &out).set_domain(D);
            rig.submit(&buffer.start_program()).unwrap();
            assert_eq!(rig.floats(&input, 16, 8), rig.floats(&out, 16, 8), "{from:?} {tiling:?}");
        }
    }
}

#[test]
fn superfine_reads_give_four_elements_and_clamp_at_the_edge() {
    let mut rig = rig();
    let program = rig.program(&copy_program(0, 0));
    for tiling in [Tiling::LinearInp2x2, Tiling::TiledInp2x2] {
        for format in [Format::Float32x1, Format::Uint16x1] {
            let (input, out) =
                (rig.surface(64, 40, format, tiling), rig.surface(64, 40, Format::Float32x4, Tiling::Linear));
            let value = |x: u32, y: u32| (64 * y + x) as f32 / 65535.0;
            rig.fill(&input, 64, 40, |x, y| [value(x, y); 4]);
            let buffer = CommandBuffer::new()
                .set_inst_fmt(program)
                .set_inp_fmt(0, &input)
                .set_out_fmt(0, &out)
                .set_domain(Domain { i0: 0, j0: 0, i1: 63, j1: 39 });
            rig.submit(&buffer.start_program()).unwrap();
            for (n, found) in rig.floats(&out, 64, 40).into_iter().enumerate() {
                let (x, y) = (n as u32 % 64, n as u32 / 64);
                let (right, below) = ((x + 1).min(63), (y + 1).min(39));
                // CTM §2.1.4: (x+1, y), (x, y+1), (x+1, y+1), (x, y)
                assert_eq!(found, [value(right, y), value(x, below), value(right, below), value(x, y)]);
            }
        }
    }
}

#[test]
fn several_channels_are_read_plainly_where_superfine_is_undefined() {
    let mut rig = Rig::new(DeviceOptions::checked());
    let program = rig.program(&copy_program(0, 0));
    let (input, out) = (
        rig.surface(16, 8, Format::Float32x2, Tiling::LinearInp2x2),
        rig.surface(16, 8, Format::Float32x4, Tiling::Linear),
    );
    rig.fill(&input, 16, 8, |x, y| [x as f32, y as f32, 0.0, 1.0]);
    let buffer = CommandBuffer::new().set_inst_fmt(program).set_inp_fmt(0, &input).set_out_fmt(0, &out).set_domain(D);
    let report = rig.submit(&buffer.start_program().flush_out_cache()).unwrap();
    assert_eq!(rig.floats(&out, 16, 8), rig.floats(&input, 16, 8));
    assert_eq!(report.findings.iter().map(|f| f.rule).collect::<Vec<_>>(), ["superfine-multi-channel"]);
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
        // What a known client sends for a copy of 16 x 8: T = i + 0.05, j + 0.05 when taken at centres.
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
fn samplers_wrap_and_filter() {
    let mut rig = rig();
    let image = rig.program(&copy_program(0, 0));
    let (input, out) =
        (rig.surface(4, 4, Format::Float32x1, Tiling::Linear), rig.surface(16, 8, Format::Float32x1, Tiling::Linear));
    rig.fill(&input, 4, 4, |x, y| [(10 * y + x) as f32; 4]);
    let base = CommandBuffer::new().set_inst_fmt(image).set_inp_fmt(0, &input).set_out_fmt(0, &out).set_domain(D);
    let mut run = |sampler: Sampler| {
        rig.submit(&base.clone().set_inp_sampler(0, &sampler, 4).start_program()).unwrap();
        rig.floats(&out, 16, 8).iter().map(|e| e[0]).collect::<Vec<_>>()
    };
    let at = |values: &[f32], x: usize, y: usize| values[16 * y + x];
    let clamp = run(Sampler::default());
    assert_eq!([at(&clamp, 3, 1), at(&clamp, 9, 1), at(&clamp, 2, 7)], [13.0, 13.0, 32.0]);
    let repeat = run(Sampler { wrap: [Wrap::Repeat, Wrap::Mirror], ..Sampler::default() });
    assert_eq!([at(&repeat, 5, 0), at(&repeat, 0, 4), at(&repeat, 0, 7)], [1.0, 30.0, 0.0]);
    let border = run(Sampler { wrap: [Wrap::Border; 2], border: [(-7f32).to_bits(); 4], ..Sampler::default() });
    assert_eq!([at(&border, 3, 3), at(&border, 4, 3), at(&border, 3, 4)], [33.0, -7.0, -7.0]);
    let linear = run(Sampler { filter: Filter::Linear, ..Sampler::default() });
    // The coordinate (2, 1) lies between columns 1 and 2 and rows 0 and 1.
    assert_eq!(at(&linear, 2, 1), 6.5);
}

#[test]
fn engines_look_up_the_same_elements() {
    for order in [ByteOrder::Rgba, ByteOrder::Bgra] {
        let options = || DeviceOptions { uint8_order: order, ..DeviceOptions::default() };
        let mut rigs = [Rig::new(options()), Rig::with_engine(Box::new(Jit::new()), options())];
        for (&format, &tiling) in Format::ALL.iter().flat_map(|format| Tiling::ALL.iter().map(move |t| (format, t))) {
            let found = rigs.each_mut().map(|rig| {
                let image = rig.program(&copy_program(0, 0));
                let input = rig.surface(36, 5, format, tiling);
                let out = rig.surface(48, 16, Format::Float32x4, Tiling::Linear);
                rig.fill(&input, 36, 5, |x, y| [7, 11, 13, 17].map(|n| ((n * x + y) % 256) as f32 / 255.0));
                let domain = Domain { i0: 0, j0: 0, i1: 47, j1: 15 };
                let buffer = CommandBuffer::new().set_inst_fmt(image).set_inp_fmt(0, &input).set_out_fmt(0, &out);
                let buffer = buffer.set_domain(domain);
                let mut found = Vec::new();
                for filter in [Filter::Nearest, Filter::Linear] {
                    for wrap in [Wrap::Clamp, Wrap::Repeat, Wrap::Mirror, Wrap::Border] {
                        let border = [1, 2, 3, 4].map(|n| (n as f32).to_bits());
                        let sampler = Sampler { filter, wrap: [wrap, Wrap::Clamp], border };
                        rig.submit(&buffer.clone().set_inp_sampler(0, &sampler, 35).start_program()).unwrap();
                        found.push(rig.floats(&out, 48, 16));
                    }
                }
                rig.device.memory_mut().free_all(ArenaId::Gpu);
                rig.device.memory_mut().free_all(ArenaId::Sys);
                found
            });
            // Not all of them read the same.
            assert_ne!(found[0][0], found[0][5], "{format:?}, {tiling:?}");
            assert_eq!(found[0], found[1], "{format:?}, {tiling:?}, {order:?}");
        }
    }
}

#[test]
fn byte_order_of_pictures_can_be_chosen() {
    for (order, bytes) in [(ByteOrder::Rgba, [255, 0, 0, 51]), (ByteOrder::Bgra, [0, 0, 255, 51])] {
        let mut rig = Rig::new(DeviceOptions { uint8_order: order, ..DeviceOptions::default() });
        let out = rig.surface(16, 8, Format::Uint8x4, Tiling::Linear);
        let floats: Vec<u8> = [1.0f32, -3.0, f32::NAN, 0.2].iter().flat_map(|f| f.to_le_bytes()).collect();
        let (image, constants) = (rig.program(&constant_program(0)), rig.bytes(&floats));
        let buffer =
            CommandBuffer::new().set_inst_fmt(image).set_out_fmt(0, &out).set_constf_fmt(constants).set_domain(D);
        rig.submit(&buffer.start_program()).unwrap();
        assert_eq!(rig.device.read(out.base, 4).unwrap(), bytes);
    }
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
    let last = ctm::mc::Surface { base: cond.address_of(0, 4095), height: 1, ..cond };
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
        // What came before has been executed and is told.
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

#[test]
fn lookups_past_the_cache_read_the_same_memory() {
    let mut rig = rig();
    let words = vec![lookup(TexOp::LookupUncached, 0, 1, 0), Inst::Alu(output(0, temp(1))).encode()];
    let image = rig.program(&Program::from_words(words));
    let (input, out) =
        (rig.surface(16, 8, Format::Float32x1, Tiling::Linear), rig.surface(16, 8, Format::Float32x1, Tiling::Linear));
    rig.fill(&input, 16, 8, |x, y| [(x * y) as f32; 4]);
    let buffer = CommandBuffer::new().set_inst_fmt(image).set_inp_fmt(0, &input).set_out_fmt(0, &out).set_domain(D);
    rig.submit(&buffer.start_program()).unwrap();
    assert_eq!(rig.floats(&input, 16, 8), rig.floats(&out, 16, 8));
}

/// Programs that read input 5 and write output 2: a copy; sums of neighbours, so that tiles at edges clamp; channels that are treated apart; one element for all.
const READERS: [&str; 4] = [
    "tex r1, a, r0.rg\nmov c, r1\n",
    "add r1.rg, r0.rg, -k.rr\ntex r2, a, r1.rg\ntex r3, a, r0.rg\nadd c, r2, r3\n",
    "add r1.rg, r0.rg, k.rr\ntex r2, a, r1.rg\nmov r3, r2.gbra\nmul c.rgb, r3.rgb, r2.rrr | mad c.a, r2.a, r3.r, k.r\n",
    "mov r3, k\ntex r1, a, r3.rr\ntex r2, a, r0.rg\nmad c, r1, r2, r2\n",
];

/// Copies between all formats and tilings, and other programs, of special numbers, at places that fit no tile: what the engines leave in memory.
#[test]
fn engines_store_the_same_in_every_format_and_tiling() {
    let domains = [(0, 0, 63, 31), (3, 5, 66, 37), (1, 2, 45, 40), (0, 0, 65, 39)];
    let programs = READERS.map(|text| {
        let head = ".input a = s5\n.output c = o2\n.const k = c0 (2.0, 0.0, 0.0, 0.0)\n";
        let assembly = ctm_isa::x1k::text::assemble(&format!("{head}{text}"));
        assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
    });
    let orders = [ByteOrder::Rgba, ByteOrder::Bgra];
    for &from in Format::ALL {
        for &to in Format::ALL {
            let tilings = [Tiling::Linear, Tiling::Tiled].into_iter().flat_map(|a| [a, Tiling::Tiled].map(|b| [a, b]));
            let all =
                tilings.flat_map(|tilings| programs.iter().zip(0..).map(move |(program, n)| (tilings, program, n)));
            for (case, (tilings, program, number)) in all.enumerate() {
                let (i0, j0, i1, j1) = domains[(case + case / 4) % 4];
                let options = || DeviceOptions { uint8_order: orders[case / 3 % 2], ..DeviceOptions::default() };
                let run = |mut rig: Rig| {
                    let (input, out) = (rig.surface(66, 40, from, tilings[0]), rig.surface(68, 43, to, tilings[1]));
                    rig.fill(&input, 66, 40, special);
                    rig.fill(&out, 68, 43, |x, y| [x as f32 / 68.0, y as f32 / 43.0, 0.25, 1.0]);
                    let program = rig.program(program);
                    let constants = rig.bytes(&[2.0f32, 0.0, 0.0, 0.0].map(f32::to_le_bytes).concat());
                    let buffer = CommandBuffer::new().set_inst_fmt(program).set_inp_fmt(5, &input).set_out_fmt(2, &out);
                    let buffer = buffer.set_constf_fmt(constants).set_domain(Domain { i0, j0, i1, j1 });
                    let report = rig.submit(&buffer.start_program()).unwrap();
                    let found = rig.floats(&out, 68, 43).into_iter().map(|element| element.map(f32::to_bits));
                    (found.collect::<Vec<_>>(), report.counters())
                };
                let expected = run(Rig::with_engine(Box::new(ctm_exec::Interp), options()));
                for backend in ctm_jit::Backend::available() {
                    let found = run(Rig::with_engine(Box::new(Jit::with_backend(backend)), options()));
                    assert!(
                        found == expected,
                        "{from:?} to {to:?}, {tilings:?}, ({i0}, {j0}), program {number}, {backend}"
                    );
                }
            }
        }
    }
}

/// Prints how long copies of every format and tiling take, beside a linear copy of four floats of as many bytes.
#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stdout, reason = "it says what it measured")]
fn copies_beside_linear_ones() {
    const WIDTH: u32 = 4096;
    let time = |format: Format, [from, to]: [Tiling; 2], height: u32| {
        let mut rig = Rig::with_engine(Box::new(Jit::new()), DeviceOptions::default());
        let (input, out) = (rig.surface(WIDTH, height, format, from), rig.surface(WIDTH, height, format, to));
        let program = rig.program(&copy_program(5, 2));
        let domain = Domain { i0: 0, j0: 0, i1: WIDTH - 1, j1: height - 1 };
        let buffer = CommandBuffer::new().set_inst_fmt(program).set_inp_fmt(5, &input).set_out_fmt(2, &out);
        let buffer = buffer.set_domain(domain).start_program();
        // The shortest, as others may use the machine.
        let times = (0..40).map(|_| {
            let begun = std::time::Instant::now();
            rig.submit(&buffer).unwrap();
            1e3 * begun.elapsed().as_secs_f64()
        });
        times.fold(f64::INFINITY, f64::min)
    };
    let tilings = [Tiling::Linear, Tiling::Tiled];
    for (&format, from, to) in
        Format::ALL.iter().flat_map(|format| tilings.into_iter().flat_map(move |a| tilings.map(|b| (format, a, b))))
    {
        let height = 512;
        let rows = (height * format.element_bytes() / Format::Float32x4.element_bytes()).max(1);
        let (own, linear) = (time(format, [from, to], height), time(Format::Float32x4, [Tiling::Linear; 2], rows));
        println!("{format:?}, {from:?} to {to:?}: {own:.2} ms, linear {linear:.2} ms, {:.1} times", own / linear);
    }
}
