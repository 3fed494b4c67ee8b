//! Elements of every format and tiling: reads by programs and samplers, and memory after writes.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "tests")]

use crate::device_support;

use ctm_device::commands::{CommandBuffer, CondLoc, CondTest};
use ctm_device::device::DeviceOptions;
use ctm_device::mc::{ByteOrder, ElementSize, Format, Tiling, tiled_address};
use ctm_device::memory::ArenaId;
use ctm_exec::Domain;
use ctm_exec::x1k::{Filter, Sampler, Wrap};
use ctm_isa::x1k::ops::TexOp;
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

/// Copies between all formats and tilings, and other programs, of special numbers, at places that fit no tile: memory after each engine.
#[test]
fn engines_store_the_same_in_every_format_and_tiling() {
    let domains = [(0, 0, 63, 31), (3, 5, 66, 37), (1, 2, 45, 40), (0, 0, 65, 39)];
    let programs = READERS.map(|text| {
        let head = ".input a = s5\n.output c = o2\n.const k = c0 (2.0, 0.0, 0.0, 0.0)\n";
        let assembly = ctm_isa::x1k::text::assemble(&format!("{head}{text}"));
        assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
    });
    let (sum, orders) = (copy_program(5, 2), [ByteOrder::Rgba, ByteOrder::Bgra]);
    // An emulator tries a fifth.
    let step = if ctm_testkit::in_emulator() { 5 } else { 1 };
    for &from in Format::ALL {
        for &to in Format::ALL {
            let [rows, tiles] = [Tiling::Linear, Tiling::Tiled];
            let tilings = [[rows, rows], [rows, tiles], [tiles, rows], [tiles, tiles]].into_iter();
            let all =
                tilings.flat_map(|tilings| programs.iter().zip(0..).map(move |(program, n)| (tilings, program, n)));
            let all = all.zip(0..).map(|(of, case)| (of, domains[(case + case / 4) % 4]));
            // Copies by arithmetic: of whole blocks, and of others.
            let sums = [([rows, tiles], &sum, 4), ([tiles, rows], &sum, 5)];
            let sums = domains.into_iter().take(2).flat_map(|domain| sums.map(|of| (of, domain)));
            for (case, ((tilings, program, number), (i0, j0, i1, j1))) in all.chain(sums).enumerate().step_by(step) {
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

/// Programs that read input 5 and write output 2: all of it; a value for the test, too; both where lanes have branched, and some are killed.
const TESTED: [&str; 3] = [
    "tex r1, a, r0.rg\nmov c, r1\n",
    "tex r1, a, r0.rg\nmov c, r1\nadd w, r1.a, r1.r\n",
    "tex r1, a, r0.rg\nadd r2, r1, -k.bbbb\nadd res(r ge), r1.r, -k.g\nif res\ntexkill r2\nmov c.rg, r1.rg\nadd w, r1.a, r1.g\nendif\nmov c.ba, r1.ba\n",
];

/// Conditional tests of outputs (CTM §2.1.3), against numbers and NaNs, with and without a buffer in rows and in tiles: outputs, the buffer and counters.
#[test]
fn engines_make_the_same_conditional_tests() {
    let programs = TESTED.map(|text| {
        let head = ".input a = s5\n.output c = o2\n.const k = c0 (2.0, 0.25, 0.2, 0.0)\n";
        let assembly = ctm_isa::x1k::text::assemble(&format!("{head}{text}"));
        assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics))
    });
    let buffers = [None, Some(Tiling::Linear), Some(Tiling::Tiled)];
    let cases = programs.iter().flat_map(|program| CondTest::ALL.iter().map(move |&test| (program, test)));
    let cases = cases.flat_map(|case| buffers.map(|buffer| (case, buffer)));
    let without_buffer = |test| matches!(test, CondTest::Always | CondTest::Never);
    for (n, ((program, test), tiling)) in
        (0..).zip(cases.filter(|((_, test), buffer)| buffer.is_some() || without_buffer(*test)))
    {
        let domain = [(0, 0, 63, 31), (3, 5, 64, 37)][n % 2];
        let (writes, counters) = (n % 3 > 0, n % 4 > 1);
        let to = Format::ALL[n % Format::ALL.len()];
        let run = |mut rig: Rig| {
            let (input, out) =
                (rig.surface(66, 40, Format::Float32x4, Tiling::Linear), rig.surface(66, 40, to, Tiling::Tiled));
            rig.fill(&input, 66, 40, special);
            rig.fill(&out, 66, 40, |x, y| [x as f32 / 66.0, y as f32 / 40.0, 0.25, 1.0]);
            let (program, constants) = (rig.program(program), [2.0f32, 0.25, 0.2, 0.0].map(f32::to_le_bytes).concat());
            let constants = rig.bytes(&constants);
            let cond = tiling.map(|tiling| rig.surface(66, 40, Format::Float32x1, tiling));
            let mut buffer = CommandBuffer::new().set_inst_fmt(program).set_inp_fmt(5, &input).set_out_fmt(2, &out);
            if let Some(cond) = &cond {
                rig.fill(cond, 66, 40, |x, y| special(x + 3, y));
                buffer = buffer.set_cond_out_fmt(cond);
            }
            let buffer = buffer
                .set_cond_val([0.5, 1e-40][n / 2 % 2])
                .set_cond_test(test)
                .set_cond_loc(CondLoc::Dpp)
                .set_cond_out_mask(writes);
            let (i0, j0, i1, j1) = domain;
            let buffer = buffer.set_constf_fmt(constants).set_domain(Domain { i0, j0, i1, j1 });
            let report = rig.submit(&buffer.start_program()).unwrap();
            let bits =
                |surface| rig.floats(surface, 66, 40).into_iter().map(|of| of.map(f32::to_bits)).collect::<Vec<_>>();
            (bits(&out), cond.as_ref().map(bits), report.counters())
        };
        let options = || DeviceOptions { counters, ..DeviceOptions::default() };
        let expected = run(Rig::with_engine(Box::new(ctm_exec::Interp), options()));
        for backend in ctm_jit::Backend::available() {
            let found = run(Rig::with_engine(Box::new(Jit::with_backend(backend)), options()));
            assert!(found == expected, "{test:?}, {tiling:?}, {to:?}, {writes}, {counters}, case {n}, {backend}");
        }
    }
}

/// Arrays that caches do not hold, from rows to tiles and back: elements lie where table 2 of the Guide says, and all come back.
#[test]
fn large_arrays_are_copied_to_tiles_and_back() {
    for (format, size) in [
        (Format::Uint16x1, ElementSize::B2),
        (Format::Uint8x4, ElementSize::B4),
        (Format::Float32x1, ElementSize::B4),
        (Format::Float32x2, ElementSize::B8),
        (Format::Float32x4, ElementSize::B16),
    ] {
        const WIDTH: u32 = 4096;
        let (bytes, height) = (size.bytes() as usize, 2560 / size.bytes());
        let mut rig = Rig::with_engine(Box::new(Jit::new()), DeviceOptions::default());
        let [from, tiles, back] =
            [Tiling::Linear, Tiling::Tiled, Tiling::Linear].map(|tiling| rig.surface(WIDTH, height, format, tiling));
        // Numbers from 1 to 2, no two of which are the same.
        let numbers: Vec<u8> = (0..from.bytes() / 4).flat_map(|n| (0x3f80_0000 + n as u32).to_le_bytes()).collect();
        rig.device.write(from.base, &numbers).unwrap();
        let program = rig.program(&copy_program(5, 2));
        // Back in two parts, neither of which ends with a block.
        for (from, to, i0, i1) in
            [(&from, &tiles, 0, WIDTH), (&tiles, &back, 0, WIDTH - 21), (&tiles, &back, WIDTH - 21, WIDTH)]
        {
            let domain = Domain { i0, j0: 0, i1: i1 - 1, j1: height - 1 };
            let buffer = CommandBuffer::new().set_inst_fmt(program).set_inp_fmt(5, from).set_out_fmt(2, to);
            rig.submit(&buffer.set_domain(domain).start_program()).unwrap();
        }
        let found = rig.device.read(tiles.base, numbers.len()).unwrap();
        for (x, y) in (0..20_000u32).map(|n| (n * 2_435 % WIDTH, n * 40_503 % height)) {
            let at = tiled_address(size, x, y, WIDTH, 0) as usize;
            let first = (y * WIDTH + x) as usize * bytes;
            assert_eq!(found[at..at + bytes], numbers[first..first + bytes], "{format:?}, ({x}, {y})");
        }
        assert!(rig.device.read(back.base, numbers.len()).unwrap() == numbers, "{format:?} comes back");
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
        // Unwritten memory is one page of zeros, which a copy would read from the caches.
        rig.device.write(input.base, &vec![0x3c; usize::try_from(input.bytes()).unwrap()]).unwrap();
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
    // Those of 16 bits once more with as many bytes as four floats, the others with as few as these have, which caches hold.
    let sizes = Format::ALL.iter().map(|&format| (format, 512)).chain([
        (Format::Uint16x1, 4096),
        (Format::Uint8x4, 256),
        (Format::Float32x1, 256),
        (Format::Float32x2, 128),
        (Format::Float32x4, 64),
    ]);
    for ((format, height), from, to) in
        sizes.flat_map(|size| tilings.into_iter().flat_map(move |a| tilings.map(|b| (size, a, b))))
    {
        let rows = (height * format.element_bytes() / Format::Float32x4.element_bytes()).max(1);
        let (own, linear) = (time(format, [from, to], height), time(Format::Float32x4, [Tiling::Linear; 2], rows));
        println!(
            "{format:?}, {height} rows, {from:?} to {to:?}: {own:.2} ms, linear {linear:.2} ms, {:.1} times",
            own / linear
        );
    }
}
