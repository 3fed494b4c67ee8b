//! R700 vertex, geometry and compute programs started by command buffers, and errors. The whole chain is in `r700_chain.rs`.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "tests")]

use crate::device_support;

use ctm::EngineKind;
use ctm::commands::{BufferPlace, CommandBuffer, ConstantsPlace, MemoryKind, MemoryPlace, ProgramPlace, ProgramSlot};
use ctm::device::{DeviceOptions, vertex_events};
use ctm::mc::TextureSurface;
use ctm::memory::GpuAddr;
use ctm::record::{Recording, ReplayOptions, replay};
use ctm::trace::observe::Place;
use ctm::trace::{Ancestry, Choice, Limits, Profile, Subject, Trace};
use ctm_exec::r700::formats::Format as FetchFormat;
use ctm_exec::r700::{Space, Target, VertexEvent};
use ctm_exec::{Domain, Position};
use ctm_isa::r700::ops::DataFormat;
use ctm_isa::r700::program::{Chip, Stage};
use ctm_testkit::tape::Tape;
use device_support::Rig;
use device_support::r700::*;
use std::path::Path;

// ---- vertex programs ------------------------------------------------------------------------------------------

/// LLVM's vertex program out of its object file, by `set_inst_fmt` and by `set_program`, with a fetch subroutine.
#[test]
fn a_vertex_program_from_an_image_transforms() {
    let mut rig = rig();
    let object = std::fs::read(corpus().join("llvm/07_const_vs.o")).unwrap();
    let image = rig.bytes(&object);
    let fetch = text(
        &mut rig,
        "VTX:\n FETCH R1.xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT)\n FETCH R2.xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT) OFFSET(16)\nRETURN\n",
    );
    let value = |n: u32| [0, 1, 2, 3].map(|c| (n * 4 + c) as f32 * 0.25 - 3.0);
    let buffers = [0..20, 20..40].map(|range| {
        let base = rig.bytes(&floats(&range.flat_map(value).collect::<Vec<_>>()));
        ConstantsPlace { base, constants: 20 }
    });
    let attribute = |v: u32| [0, 1, 2, 3, 4, 5, 6, 7].map(|c| (v * 8 + c) as f32 * 0.5 - 4.0);
    let vertices = rig.bytes(&floats(&(0..5).flat_map(attribute).collect::<Vec<_>>()));
    let format = FetchFormat::default();
    let whole = ProgramPlace::image(image, object.len() as u32, 0);
    for by_guide in [true, false] {
        let (position, parameter) = (array(&mut rig, 5, 1), array(&mut rig, 5, 1));
        let buffer = CommandBuffer::new()
            .set_program(ProgramSlot::Fetch, &fetch)
            .set_stage(Stage::Vertex)
            .set_const_buffer(0, &buffers[0])
            .set_const_buffer(1, &buffers[1])
            .set_vtx_buffer(0, &BufferPlace { base: vertices, bytes: 160, stride_bytes: 32, format })
            .set_export(Target::Position(0), &position)
            .set_export(Target::Parameter(0), &parameter)
            .set_domain(row(5));
        let buffer = if by_guide { buffer.set_inst_fmt(image) } else { buffer.set_program(ProgramSlot::Main, &whole) };
        rig.submit(&buffer.start_program().flush_out_cache()).unwrap();
        let (positions, parameters) = (rig.floats(&position, 5, 1), rig.floats(&parameter, 5, 1));
        for v in 0..5 {
            let a = attribute(v);
            let dot = |row: [f32; 4]| ((a[3] * row[3] + a[2] * row[2]) + a[1] * row[1]) + a[0] * row[0];
            assert_eq!(positions[v as usize], [0, 1, 2, 17].map(|n| dot(value(n))), "{v}");
            assert_eq!(parameters[v as usize], std::array::from_fn(|c| a[4 + c] * value(25)[c]), "{v}");
        }
    }
}

#[test]
fn vertex_fetches_have_offsets() {
    let mut rig = rig();
    let program = text(
        &mut rig,
        "VTX:\n FETCH R1.x___, R0.x, b0 FORMAT(32 INT)\n FETCH R2.x___, R0.x, b0 FORMAT(32 INT) FETCH_TYPE(INSTANCE_DATA)\n\
         FETCH R3.x___, R0.x, b0 FORMAT(32 INT) FETCH_TYPE(NO_INDEX_OFFSET)\n\
         ALU:\n  0  y: MOV R1.y, R2.x\n     z: MOV R1.z, R3.x\nEXP_DONE: PARAM0, R1.xyz0\nEND_OF_PROGRAM\n",
    );
    let numbers = rig.bytes(&words(&(0..100).collect::<Vec<_>>()));
    let format = FetchFormat::default();
    let out = array(&mut rig, 4, 1);
    let setup = CommandBuffer::new()
        .set_vtx_buffer(0, &BufferPlace { base: numbers, bytes: 400, stride_bytes: 4, format })
        .set_index_offsets(10, 50)
        .set_export(Target::Parameter(0), &out);
    rig.submit(&start(Stage::Vertex, &program, row(4), setup)).unwrap();
    assert_eq!(bits(&rig, &out, 4, 1), [0, 1, 2, 3].map(|n| [n + 10, n + 50, n, 0]));
}

#[test]
fn vertex_programs_write_streams() {
    let mut rig = rig();
    let program = text(
        &mut rig,
        "MEM_STREAM0: WRITE(0), R0.x___ ARRAY_SIZE(4095)\nMEM_STREAM3: WRITE(4), R0.x___ ARRAY_SIZE(4095)\nNOP\nEND_OF_PROGRAM\n",
    );
    let (first, last) = (rig.bytes(&[0xff; 400]), rig.bytes(&[0xff; 800]));
    let setup = CommandBuffer::new()
        .set_memory(MemoryKind::Stream0, &MemoryPlace { base: first, bytes: 400, item: 1 })
        .set_memory(MemoryKind::Stream3, &MemoryPlace { base: last, bytes: 800, item: 2 });
    rig.submit(&start(Stage::Vertex, &program, row(100), setup)).unwrap();
    assert_eq!(dwords(&rig, first, 100), (0..100).collect::<Vec<_>>());
    let expected: Vec<u32> = (0..100).flat_map(|n| [u32::MAX, n]).collect();
    assert_eq!(dwords(&rig, last, 200), expected);
}

// ---- geometry and copy programs (the whole chain is in r700_chain.rs) --------------------------------------------

#[test]
fn geometry_programs_write_their_ring_and_report_vertices() {
    let mut rig = rig();
    let program =
        text(&mut rig, "MEM_RING: WRITE(4), R0.x___ ARRAY_SIZE(4095)\nEMIT_VERTEX\nCUT_VERTEX\nNOP\nEND_OF_PROGRAM\n");
    let (ring, events) = (rig.bytes(&[0; 66 * 8]), rig.bytes(&[0xff; 4 * 133]));
    let setup = CommandBuffer::new()
        .set_memory(MemoryKind::Ring, &MemoryPlace { base: ring, bytes: 66 * 8, item: 2 })
        .set_vertex_events(events, 133);
    rig.submit(&start(Stage::Geometry, &program, row(66), setup.clone())).unwrap();
    assert_eq!(dwords(&rig, ring, 132), (0..66).flat_map(|n| [0, n]).collect::<Vec<_>>());
    let found = vertex_events(&dwords(&rig, events, 133));
    assert_eq!(found.len(), 132);
    let of = |i| found.iter().filter(|(at, _)| at.i == i).map(|(_, event)| *event).collect::<Vec<_>>();
    assert!((0..66).all(|i| of(i) == [VertexEvent::Emit, VertexEvent::Cut]));
    let error = rig.submit(&start(Stage::Geometry, &program, row(66), setup.set_vertex_events(events, 100)));
    let error = error.unwrap_err();
    assert_eq!(error.reason.code(), "memory");
    assert!(error.to_string().contains("there is room for 99 events"), "{error}");
    let error = rig.submit(&start(Stage::Vertex, &program, row(1), CommandBuffer::new())).unwrap_err();
    assert_eq!(error.reason.code(), "unsupported");
}

// ---- compute programs -----------------------------------------------------------------------------------------

#[test]
fn compute_threads_know_themselves_and_scatter_and_gather() {
    let mut rig = rig();
    // Element i + 32 * j of the shared memory: read it, add 1000, write it back.
    let program = text(
        &mut rig,
        "ALU:\n  0  x: LSHL_INT R1.x, R0.y, (0x00000005, 0.0f).x\n  1  x: ADD_INT R1.x, R1.x, R0.x\n\
         VTX:\n RD_SCATTER R2.x___, READ(0 + R1.x) ARRAY_SIZE(0) ELEM_SIZE(0) FORMAT(32 INT)\n\
         ALU:\n  2  x: ADD_INT R2.x, R2.x, (0x000003e8, 0.0f).x\n\
         MEM_EXPORT: WRITE_ACK(0 + R1), R2.x___ ARRAY_SIZE(0)\nWAIT_ACK ADDR(0)\nNOP\nEND_OF_PROGRAM\n",
    );
    let before: Vec<u32> = (0..32 * 20).map(|n| n * 7).collect();
    let shared = rig.bytes(&words(&before));
    let place = MemoryPlace { base: shared, bytes: 32 * 20 * 4, item: 0 };
    let setup = CommandBuffer::new().set_memory(MemoryKind::Scatter, &place);
    let domain = Domain { i0: 2, j0: 1, i1: 30, j1: 18 };
    let report = rig.submit(&start(Stage::Compute, &program, domain, setup)).unwrap();
    assert_eq!(report.counters().processors, 29 * 18);
    for (n, found) in dwords(&rig, shared, before.len()).into_iter().enumerate() {
        let (i, j) = (n as u32 % 32, n as u32 / 32);
        let inside = (2..=30).contains(&i) && (1..=18).contains(&j);
        assert_eq!(found, before[n] + if inside { 1000 } else { 0 }, "({i}, {j})");
    }
    // Half of the memory: the first thread beyond it is named.
    let half = CommandBuffer::new().set_memory(MemoryKind::Scatter, &MemoryPlace { bytes: 32 * 10 * 4, ..place });
    let error = rig.submit(&start(Stage::Compute, &program, domain, half)).unwrap_err();
    assert_eq!(error.reason.code(), "memory");
    assert!(error.to_string().contains("for processor ("), "{error}");
}

#[test]
fn thread_groups_share_local_data() {
    let mut rig = rig();
    // Thread t of a group writes its own number, then reads that of thread 127 - t: another wavefront's.
    let program = text(
        &mut rig,
        "ALU:\n x: SUB_INT R1.x, (0x7f, 0.0f), R0.x\n y: MOV R1.y, 0.0f\n\n x: AND_INT R1.x, R1.x, (0x7f, 0.0f)\n\
         TEX:\n LOCAL_DS_WRITE LDS[0], R0.xxxx STRIDE(4) WAVE_REL\n\
         TEX:\n LOCAL_DS_READ R2.xyzw, R1.xy OFFSET(0)\n\
         EXP_DONE: PIX0, R2.xyzw\nEND_OF_PROGRAM\n",
    );
    let out = array(&mut rig, 256, 1);
    for (chip, wavefront) in [(Chip::Rv770, 0), (Chip::Rv710, 0), (Chip::Rv730, 64)] {
        let setup = CommandBuffer::new().set_chip(chip, wavefront).set_thread_group(128).set_out_fmt(0, &out);
        rig.submit(&start(Stage::Compute, &program, row(256), setup)).unwrap();
        for (i, found) in (0..).zip(bits(&rig, &out, 256, 1)) {
            assert_eq!(found, [(i & !127) | (127u32.wrapping_sub(i) & 127); 4], "{chip:?} {i}");
        }
    }
}

#[test]
fn reduction_memory_and_global_registers() {
    let mut rig = rig();
    let program = text(&mut rig, "MEM_REDUCTION: WRITE(0), R0.xyzw ARRAY_SIZE(0) ELEM_SIZE(3)\nNOP\nEND_OF_PROGRAM\n");
    let reduction = rig.bytes(&[0; 128 * 16]);
    let setup = CommandBuffer::new()
        .set_memory(MemoryKind::Reduction, &MemoryPlace { base: reduction, bytes: 128 * 16, item: 1 })
        .set_global_gprs(8);
    rig.submit(&start(Stage::Compute, &program, row(128), setup)).unwrap();
    assert_eq!(rig.device.registers().r700.global_gprs, 8);
    assert_eq!(dwords(&rig, reduction, 512), (0..128).flat_map(|n| [n, 0, 0, 0]).collect::<Vec<_>>());
}

// ---- errors ------------------------------------------------------------------------------------------

#[test]
fn wrong_commands_stop_their_buffer_only() {
    let mut rig = rig();
    let good = text(&mut rig, "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    let out = array(&mut rig, 4, 4);
    let domain = Domain { i0: 0, j0: 0, i1: 3, j1: 3 };
    let nowhere = GpuAddr(0x0800_0000);
    let texture = TextureSurface::two_d(4, 4, FetchFormat::default());
    let reserved = FetchFormat { data: DataFormat::FmtApc0, ..FetchFormat::default() };
    let compressed = FetchFormat { data: DataFormat::FmtBc1, ..FetchFormat::default() };
    let new = CommandBuffer::new;
    let begin = |setup: CommandBuffer| setup.set_domain(domain).start_program();
    // commands, code, part of the message
    let table = [
        (begin(new()), "no-program", "`set_program`"),
        (new().set_chip(Chip::Rv770, 6), "parameter-out-of-range", "`wavefront` is 6, allowed are multiples of 4"),
        (new().set_thread_group(1025), "parameter-out-of-range", "`threads` is 1025, allowed are 0..=1024"),
        (new().set_global_gprs(125), "parameter-out-of-range", "`gprs` is 125, allowed are 0..=124"),
        (new().set_texture(1, &TextureSurface { width: 9000, ..texture }), "parameter-out-of-range", "`width` is 9000"),
        (new().set_texture(1, &TextureSurface { height: 0, ..texture }), "parameter-out-of-range", "`height` is 0"),
        (new().set_texture(1, &TextureSurface { levels: 15, ..texture }), "parameter-out-of-range", "`levels` is 15"),
        (new().set_texture(1, &TextureSurface { format: reserved, ..texture }), "unsupported", "FMT_APC0"),
        (
            new().set_texture(1, &TextureSurface { format: compressed, pitch: 4, ..texture }),
            "parameter-out-of-range",
            "`pitch` is 4, allowed are 0",
        ),
        (new().set_export(Target::Pixel(8), &out), "parameter-out-of-range", "`index` is 8, allowed are 0..=7"),
        (
            begin(new().set_program(ProgramSlot::Main, &ProgramPlace { bytes: 12, ..good })),
            "parameter-out-of-range",
            "`bytes` is 12, allowed are multiples of 8",
        ),
        (
            begin(new().set_program(ProgramSlot::Main, &ProgramPlace { base: nowhere, ..good })),
            "outside-memory",
            "the program: 8 bytes at 0x08000000 lie in no arena",
        ),
        (
            begin(new().set_program(ProgramSlot::Main, &ProgramPlace::image(good.base, 16, 0))),
            "image-kind",
            "cannot be loaded",
        ),
        (begin(new().set_inst_fmt(good.base)), "image-field", "cannot be loaded"),
        (
            begin(new().set_program(ProgramSlot::Main, &good).set_loop_consts(nowhere)),
            "outside-memory",
            "the loop constants",
        ),
        (
            begin(new().set_program(ProgramSlot::Main, &good).set_semantics(nowhere, 1)),
            "outside-memory",
            "the semantic table",
        ),
        (
            begin(
                new()
                    .set_program(ProgramSlot::Main, &good)
                    .set_memory(MemoryKind::Ring, &MemoryPlace { base: nowhere, bytes: 4, item: 1 }),
            ),
            "outside-memory",
            "ring memory",
        ),
        (
            begin(new().set_program(ProgramSlot::Main, &good)),
            "memory",
            "output 0: it is not set; `set_out_fmt` or `set_export` says where it lies",
        ),
        (
            begin(new().set_program(ProgramSlot::Main, &good).set_interpolants(0, 1)),
            "no-params",
            "`set_params` says where",
        ),
    ];
    for (buffer, code, message) in table {
        rig.device.reset();
        let error = rig.submit(&buffer).unwrap_err();
        let shown = error.to_string();
        assert!(shown.contains(message) && shown.contains("at dword "), "{shown}");
        assert_eq!(error.reason.code(), code, "{shown}");
        // The device goes on.
        rig.device.reset();
        rig.submit(&start(Stage::Pixel, &good, domain, new().set_out_fmt(0, &out))).unwrap();
    }
    let mut x1k = Rig::new(DeviceOptions::default());
    let error = x1k.submit(&new().set_stage(Stage::Vertex)).unwrap_err();
    assert_eq!(error.reason.code(), "wrong-device");
    assert!(error.to_string().starts_with("`set_stage` is a command of R700 devices"), "{error}");
}

#[test]
fn programs_are_read_again_when_commands_say_so() {
    let mut rig = rig();
    let (one, zero) = ("EXP_DONE: PIX0, R0.1111\nEND_OF_PROGRAM\n", "EXP_DONE: PIX0, R0.0000\nEND_OF_PROGRAM\n");
    let (place, other) = (text(&mut rig, one), text(&mut rig, zero));
    let out = array(&mut rig, 1, 1);
    let again = CommandBuffer::new().start_program();
    rig.submit(&start(Stage::Pixel, &place, row(1), CommandBuffer::new().set_out_fmt(0, &out))).unwrap();
    let bytes = rig.device.read(other.base, 16).unwrap().to_vec();
    rig.device.write(place.base, &bytes).unwrap();
    rig.submit(&again).unwrap();
    assert_eq!(rig.floats(&out, 1, 1), [[1.0; 4]]);
    rig.submit(&CommandBuffer::new().inv_inst_cache().append(&again)).unwrap();
    assert_eq!(rig.floats(&out, 1, 1), [[0.0; 4]]);
}

#[test]
fn checked_mode_misses_commands_of_r700_chains_too() {
    let options = DeviceOptions { group: ctm_exec::GroupSize::R700, ..DeviceOptions::checked() };
    let mut rig = Rig::new(DeviceOptions { kind: ctm::device::DeviceKind::R700, ..options });
    let write = text(&mut rig, "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    let read = text(
        &mut rig,
        "VTX:\n FETCH R1.xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT)\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n",
    );
    let (between, out) = (array(&mut rig, 8, 1), array(&mut rig, 8, 1));
    let format = FetchFormat::default();
    let place = BufferPlace { base: between.base, bytes: 128, stride_bytes: 16, format };
    let first = start(Stage::Compute, &write, row(8), CommandBuffer::new().set_out_fmt(0, &between));
    let second = |setup: CommandBuffer| {
        start(Stage::Compute, &read, row(8), setup.set_vtx_buffer(0, &place).set_out_fmt(0, &out))
    };
    let hasty = first.clone().append(&second(CommandBuffer::new()));
    let rules: Vec<_> = rig.submit(&hasty).unwrap().findings.into_iter().map(|f| f.rule).collect();
    assert!(rules.contains(&"missing-wait-for-idle"), "{rules:?}");
    let patient = first.append(&second(CommandBuffer::new().wait_for_idle().inv_inp_cache()));
    assert_eq!(rig.submit(&patient).unwrap().findings, []);
    assert_eq!(bits(&rig, &out, 8, 1)[5], [5, 0, 0, 0]);
}

#[test]
fn recordings_of_r700_devices_run_again_on_every_engine() {
    let tape = Tape::default();
    let recording = Recording::to(Box::new(tape.clone()));
    let mut rig = rig();
    rig.device.record(&recording).unwrap();
    let program = text(
        &mut rig,
        "VTX:\n FETCH R1.x___, R0.x, b0 FORMAT(32 INT)\nALU:\n  0  t: MULLO_INT R1.x, R1.x, R1.x\n\
         MEM_EXPORT: WRITE(0 + R0), R1.x___ ARRAY_SIZE(0)\nEMIT_VERTEX\nNOP\nEND_OF_PROGRAM\n",
    );
    let numbers = rig.bytes(&words(&(0..100).map(|n| n + 7).collect::<Vec<_>>()));
    let (squares, events) = (rig.bytes(&[0; 400]), rig.bytes(&[0; 404]));
    let format = FetchFormat::default();
    let setup = CommandBuffer::new()
        .set_vtx_buffer(0, &BufferPlace { base: numbers, bytes: 400, stride_bytes: 4, format })
        .set_memory(MemoryKind::Scatter, &MemoryPlace { base: squares, bytes: 400, item: 0 })
        .set_vertex_events(events, 101);
    rig.submit(&start(Stage::Geometry, &program, row(100), setup)).unwrap();
    assert_eq!(dwords(&rig, squares, 100)[99], 106 * 106);
    assert!(rig.submit(&CommandBuffer::new().set_vertex_events(events, 9).start_program()).is_err());
    let recorded = tape.bytes();
    for engine in EngineKind::ALL {
        let options = ReplayOptions { engine: Some(engine), ..ReplayOptions::default() };
        let report = replay(&recorded[..], &options, |_| ()).unwrap();
        assert_eq!(report.difference, None, "{engine}");
        assert_eq!(report.submissions, 2, "{engine}");
    }
}

#[test]
fn launches_of_recorded_r700_devices_are_looked_into() {
    let tape = Tape::default();
    let recording = Recording::to(Box::new(tape.clone()));
    let mut rig = rig();
    rig.device.record(&recording).unwrap();
    let program = text(
        &mut rig,
        "VTX:\n FETCH R1.x___, R0.x, b0 FORMAT(32 INT)\nALU:\n  0  t: MULLO_INT R1.x, R1.x, R1.x\n\
         MEM_EXPORT: WRITE(0 + R0), R1.x___ ARRAY_SIZE(0)\nNOP\nEND_OF_PROGRAM\n",
    );
    let numbers = rig.bytes(&words(&(0..100).map(|n| n + 7).collect::<Vec<_>>()));
    let squares = rig.bytes(&[0; 400]);
    let format = FetchFormat::default();
    let setup = CommandBuffer::new()
        .set_vtx_buffer(0, &BufferPlace { base: numbers, bytes: 400, stride_bytes: 4, format })
        .set_memory(MemoryKind::Scatter, &MemoryPlace { base: squares, bytes: 400, item: 0 });
    rig.submit(&start(Stage::Compute, &program, row(100), setup)).unwrap();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("r700.tape");
    std::fs::write(&path, tape.bytes()).unwrap();
    assert!(Subject::is_recording(&path));
    let (subject, at) = (Subject::Recording(path), Position { i: 42, j: 0 });
    let chosen = subject.choose(Choice::default(), Some(at)).unwrap();
    let trace = Trace::of(&subject, &chosen, at, &Limits::default()).unwrap();
    assert!(trace.fault.is_none() && trace.positions[trace.lane] == at);
    let place = Place::Dword(Space::Scatter, 42);
    assert_eq!(trace.end.get(&(trace.lane, place)), Some(&(49 * 49)));
    assert_eq!(dwords(&rig, squares, 100)[42], 49 * 49);
    let tree = Ancestry::of(&trace, trace.lane, place, None).unwrap();
    let reads = |place: Place| tree.nodes.iter().any(|node| node.place == place);
    assert!(reads(Place::Buffer(0, 42 * 4)), "{}", tree.text(&trace, 9, 99));
    let profile = Profile::of(&subject, &subject.choose(Choice::default(), None).unwrap()).unwrap();
    // Two wavefronts of 64, the second with 36 threads; 100 fetches of 4 bytes.
    assert_eq!((profile.total().cost.fetches, profile.total().cost.fetch_bytes), (100, 400));
    let beyond = subject.choose(Choice::default(), Some(Position { i: 100, j: 0 })).unwrap_err().to_string();
    assert!(beyond.contains("is in the domain of no launch"), "{beyond}");
}
