//! Launches on arrays in a device's memory give the bits of launches on the caller's arrays, for both instruction sets.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm_device::commands::{CondLoc, CondTest};
use ctm_device::device::DeviceOptions;
use ctm_device::mc::{Format, Surface, Tiling};
use ctm_device::memory::ArenaOptions;
use ctm_device::{ArenaId, Device, EngineKind};
use ctm_exec::r700::{LoopConstant, Space};
use ctm_exec::x1k::{Filter, Sampler, Wrap};
use ctm_files::{Isa, Program};
use ctm_isa::r700::program::Chip;
use ctm_launch::{Binding, Client, Conditional, DeviceArray, Done, InputArray, OutputArray, Plane, Run, View};

const WIDTH: u32 = 12;
const HEIGHT: u32 = 5;

fn program(isa: Isa, text: &str) -> Program {
    Program::assemble_for(isa, text).unwrap_or_else(|e| panic!("{e}"))
}

fn client(isa: Isa, kind: EngineKind) -> Client {
    let options = match isa {
        Isa::X1k => DeviceOptions::checked(),
        // Quads at the edge of an odd count of rows would be reported.
        Isa::R700 => DeviceOptions::r700(Chip::Rv770),
    };
    Client::new(Device::open(kind.engine().unwrap(), options).unwrap())
}

/// A surface of the domain's size, with these elements.
fn surface(client: &mut Client, format: Format, tiling: Tiling, elements: Option<&[[u32; 4]]>) -> Surface {
    let surface = Surface::for_size(WIDTH, HEIGHT, format, tiling).unwrap();
    let device = client.device_mut();
    let surface = surface.at(device.allocate(ArenaId::Gpu, surface.bytes()).unwrap());
    if let Some(elements) = elements {
        device.write_surface(&surface, WIDTH, elements).unwrap();
    }
    surface
}

fn elements(client: &Client, surface: &Surface) -> Vec<u32> {
    client.device().read_surface(surface, (0, 0), (WIDTH, HEIGHT)).unwrap().into_flattened()
}

fn bits(done: &Done, name: &str) -> Vec<u32> {
    done.values(name).iter().map(|x| x.to_bits()).collect()
}

const X1K: &str = ".input x = s0\n.output y = o0\n.const k = c3\ntex r1, x, r0.rg\nmad y, r1, k, 0.5\n";
const R700: &str = ".stage pixel\n.resource map t0\n.sampler near s2\n.const k C7\nTEX:\n SAMPLE R1.xyzw, R0.xy__, map, near DENORM(XY)\nALU:\n x: MULADD_IEEE R1.x, R1.x, k.x, 0.5f\n y: MULADD_IEEE R1.y, R1.y, k.y, 0.5f\n z: MULADD_IEEE R1.z, R1.z, k.z, 0.5f\n w: MULADD_IEEE R1.w, R1.w, k.w, 0.5f\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n";

#[test]
fn both_memories_give_the_same_bits() {
    let x: Vec<f32> = (0..WIDTH * HEIGHT * 4).map(|n| n as f32 * 0.37 - 9.0).collect();
    let input: Vec<[u32; 4]> = x.chunks(4).map(|c| [c[0], c[1], c[2], c[3]].map(f32::to_bits)).collect();
    let k = [2.0, -0.25, 1e20, 3.5];
    for (isa, text, map, output) in [(Isa::X1k, X1K, "x", "y"), (Isa::R700, R700, "map", "pix0")] {
        let program = program(isa, text);
        let run = || Run::of(&program).size(WIDTH, HEIGHT).constant("k", k);
        let near = run().input(map, View::rows(&x, [HEIGHT as usize, WIDTH as usize, 4])).run();
        let near = bits(&near.unwrap_or_else(|e| panic!("{e}")), output);
        assert_eq!(near[4 * 17], (x[4 * 17].mul_add(2.0, 0.5)).to_bits());
        for kind in [EngineKind::Interp, EngineKind::Jit] {
            let mut client = client(isa, kind);
            for (from, to) in
                [(Tiling::Linear, Tiling::Linear), (Tiling::Tiled, Tiling::Linear), (Tiling::Linear, Tiling::Tiled)]
            {
                let from = surface(&mut client, Format::Float32x4, from, Some(&input));
                let to = surface(&mut client, Format::Float32x4, to, None);
                // The pitch may have more columns than the array.
                let from = DeviceArray { surface: from, columns: WIDTH };
                let done = run().input(map, from).output_at(output, to).run_on(&mut client);
                let done = done.unwrap_or_else(|e| panic!("{e}"));
                assert!(done.outputs.is_empty() && done.findings.is_empty(), "{:?}", done.findings);
                assert_eq!(done.counters.processors, u64::from(WIDTH * HEIGHT));
                assert!(elements(&client, &to) == near, "{isa:?} by {kind}");
                assert!(!client.commands().is_empty());
            }
        }
    }
}

/// Bytes in memory are fractions, and a sampler defines reads outside, on both sides.
#[test]
fn formats_and_samplers_are_those_of_the_device() {
    let program =
        program(Isa::X1k, ".input x = s0\n.output y = o0\n.const k = c0\nadd r2, r0, k\ntex r1, x, r2.rg\nmov y, r1\n");
    let bytes: Vec<u8> = (0..WIDTH * HEIGHT * 4).map(|n| (n * 7 % 256) as u8).collect();
    let input: Vec<[u32; 4]> =
        bytes.chunks(4).map(|c| [0, 1, 2, 3].map(|n| (f32::from(c[n]) / 255.0).to_bits())).collect();
    for wrap in [Wrap::Repeat, Wrap::Mirror, Wrap::Clamp, Wrap::Border] {
        let sampler = Sampler { filter: Filter::Linear, wrap: [wrap; 2], border: [7f32.to_bits(); 4] };
        let run = || Run::of(&program).size(WIDTH, HEIGHT).constant("k", [4.25, -3.5, 0.0, 0.0]);
        let view = View::rows(&bytes, [HEIGHT as usize, WIDTH as usize, 4]);
        let near = run().sampled("x", view, sampler).run().unwrap_or_else(|e| panic!("{e}"));
        let mut client = client(Isa::X1k, EngineKind::Jit);
        let from = surface(&mut client, Format::Uint8x4, Tiling::Linear, Some(&input));
        let to = surface(&mut client, Format::Float32x4, Tiling::Linear, None);
        let from = DeviceArray { surface: from, columns: WIDTH };
        run().sampled("x", from, sampler).output_at("y", to).run_on(&mut client).unwrap_or_else(|e| panic!("{e}"));
        assert!(elements(&client, &to) == bits(&near, "y"), "{wrap:?}");
    }
}

/// Everything that a launch binds beside arrays is there on a device, too, and a launch leaves nothing to the next.
#[test]
fn constants_registers_and_memories_are_the_same() {
    let x1k = program(
        Isa::X1k,
        ".output y = o0\n.int n = i2\n.bool flip = b1\nmov r3, 0\nloop i2\n add r3, r3, r1\nendloop\nadd y, r3, r0\n",
    );
    let plane = |temp, origin: f64| Plane { temp, origin: [origin; 4], di: [0.5; 4], dj: [2.0; 4], bits: false };
    let mut on = client(Isa::X1k, EngineKind::Jit);
    let to = surface(&mut on, Format::Float32x4, Tiling::Linear, None);
    for planes in [vec![plane(0, 1.0), plane(1, 3.0)], vec![], vec![plane(1, -2.0)]] {
        let run = |run: Run<'_>| -> Vec<u32> { bits(&run.run().unwrap_or_else(|e| panic!("{e}")), "y") };
        let launch = || {
            let run = Run::of(&x1k).size(WIDTH, HEIGHT).integer("n", LoopConstant { count: 3, start: 0, step: 1 });
            planes.iter().fold(run.boolean("b1", true), |run, plane| run.register(*plane))
        };
        launch().output_at("y", to).run_on(&mut on).unwrap_or_else(|e| panic!("{e}"));
        assert!(elements(&on, &to) == run(launch()), "{planes:?}");
    }
    let r700 = program(
        Isa::R700,
        ".stage compute\nALU: KCACHE0(CB1:0-15)\n x: MOV R2.x, KC0[2].y\n y: MOV R2.y, R0.x\n z: MOV R1.x, R0.x\nMEM_EXPORT: WRITE(0 + R1), R2.xy__ ARRAY_SIZE(0) ELEM_SIZE(1)\nNOP\nEND_OF_PROGRAM\n",
    );
    let launch = || {
        let rows = (0..16).map(|n| [n, n + 100, 0, 0]).collect();
        let run = Run::of(&r700).size(WIDTH, HEIGHT).constant_buffer(1, rows);
        run.memory(Space::Scatter, vec![9; 4 * (WIDTH * HEIGHT) as usize + 64])
    };
    let near = launch().run().unwrap_or_else(|e| panic!("{e}"));
    let mut on = client(Isa::R700, EngineKind::Jit);
    for _ in 0..2 {
        let done = launch().run_on(&mut on).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(done.memories, near.memories);
    }
    assert!(near.memories[&Space::Scatter].contains(&102), "{:?}", near.memories);
}

#[test]
fn the_conditional_unit_decides_which_outputs_are_written() {
    let program = program(Isa::X1k, ".output y = o0\nmov y, 1.0\n");
    let mut client = client(Isa::X1k, EngineKind::Jit);
    let values: Vec<[u32; 4]> = (0..WIDTH * HEIGHT).map(|n| [((n % 3) as f32).to_bits(), 0, 0, 0]).collect();
    let buffer = surface(&mut client, Format::Float32x1, Tiling::Linear, Some(&values));
    let to = surface(&mut client, Format::Float32x4, Tiling::Linear, Some(&[[0; 4]; (WIDTH * HEIGHT) as usize]));
    let value = 1f32.to_bits();
    let unit = Conditional { buffer, location: CondLoc::Pe, test: CondTest::Equal, value, write: false };
    let run = |unit: Option<Conditional>, mask| {
        let run = Run::of(&program)
            .size(WIDTH, HEIGHT)
            .bind(Binding::Output("y".into(), OutputArray::Device { surface: to, mask }));
        unit.into_iter().fold(run, |run, unit| run.bind(Binding::Conditional(unit)))
    };
    run(Some(unit), 0b0101).run_on(&mut client).unwrap_or_else(|e| panic!("{e}"));
    let one = 1f32.to_bits();
    for (n, element) in elements(&client, &to).chunks(4).enumerate() {
        assert_eq!(element, if n % 3 == 1 { [one, 0, one, 0] } else { [0; 4] }, "element {n}");
    }
    run(None, 0xf).run_on(&mut client).unwrap_or_else(|e| panic!("{e}"));
    assert!(elements(&client, &to).iter().all(|&bits| bits == one), "the next launch is not tested");
}

#[test]
fn arrays_on_the_wrong_side_are_argument_errors() {
    let x1k = program(Isa::X1k, X1K);
    let mut client = client(Isa::X1k, EngineKind::Interp);
    let there = surface(&mut client, Format::Float32x4, Tiling::Linear, Some(&[[0; 4]; (WIDTH * HEIGHT) as usize]));
    let there = DeviceArray { surface: there, columns: WIDTH };
    static NUMBERS: [f32; (WIDTH * HEIGHT) as usize] = [0.0; (WIDTH * HEIGHT) as usize];
    let here = View::rows(&NUMBERS, [HEIGHT as usize, WIDTH as usize, 1]);
    let run = |input: InputArray<'static>| {
        Run::of(&x1k).size(WIDTH, HEIGHT).constant("k", [1.0; 4]).input("x", input).launch()
    };
    let far = run(there.into()).run().unwrap_err().to_string();
    assert_eq!(far, "`x`: it lies in a device's memory: `run_on` runs launches there");
    let far = run(here.into()).run_on(&mut client).unwrap_err().to_string();
    assert!(far.starts_with("`x`: a launch on a device reads and writes arrays in the device's memory"), "{far}");
    let far = run(there.into()).run_on(&mut client).unwrap_err().to_string();
    assert!(far.starts_with("`y`: a launch on a device"), "{far}");
    let small = DeviceArray { columns: WIDTH - 1, ..there };
    let far = run(small.into()).run_on(&mut client).unwrap_err().to_string();
    assert!(far.contains("it has 11 columns and 5 rows"), "{far}");
    let r700 = program(Isa::R700, ".stage pixel\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    let far = Run::of(&r700).size(1, 1).output_at("pix0", there.surface).run_on(&mut client).unwrap_err().to_string();
    assert_eq!(far, "a launch on this device: only X1K programs have that");
    let emits = program(Isa::R700, ".stage geometry\nEMIT_VERTEX\nCUT_VERTEX\nNOP\nEND_OF_PROGRAM\n");
    assert_eq!(Run::of(&emits).size(1, 1).run().unwrap_or_else(|e| panic!("{e}")).events.len(), 2);
    let mut r700 = self::client(Isa::R700, EngineKind::Interp);
    let far = Run::of(&emits).size(1, 1).run_on(&mut r700).unwrap_err().to_string();
    assert!(far.contains("the program emits vertices"), "{far}");
}

/// Blocks of constants that differ from launch to launch are written again: memory does not fill up.
#[test]
fn memory_of_earlier_launches_is_used_again() {
    let program = program(Isa::X1k, ".output y = o0\n.const k = c0\nmov y, k\n");
    let arenas = ArenaOptions::with_sizes([1 << 20, 0, 1 << 16, 0]).unwrap();
    let device = Device::new(DeviceOptions { arenas, ..DeviceOptions::default() }).unwrap();
    let mut client = Client::new(device);
    let to = surface(&mut client, Format::Float32x4, Tiling::Linear, None);
    for n in 0..1000u16 {
        let run = Run::of(&program).size(WIDTH, HEIGHT).constant("k", [f32::from(n); 4]).output_at("y", to);
        run.run_on(&mut client).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(elements(&client, &to)[7], f32::from(n).to_bits());
    }
}
