//! Findings of a checked device on images, constants, domains and uncached writes; the loader without notes.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "tests")]

use crate::device_support;

use ctm_device::commands::{CommandBuffer, CondLoc, CondTest};
use ctm_device::device::{DeviceOptions, SubmitReport};
use ctm_device::mc::{Format, Surface, Tiling};
use ctm_device::memory::{ArenaId, GpuAddr};
use ctm_exec::Domain;
use ctm_isa::x1k::ops::{Swizzle, TexOp};
use ctm_isa::x1k::program::Literal;
use ctm_isa::x1k::{Inst, Program, text};
use device_support::*;

const D: Domain = Domain { i0: 0, j0: 0, i1: 7, j1: 3 };

fn checked() -> Rig {
    Rig::new(DeviceOptions::checked())
}

fn rules(report: &SubmitReport) -> Vec<&'static str> {
    let mut rules: Vec<_> = report.findings.iter().map(|f| f.rule).collect();
    rules.extend(report.launches.iter().flat_map(|l| &l.findings).map(|f| f.rule));
    rules
}

/// The image without its note of this type.
fn without_note(program: &Program, kind: u32) -> Vec<u8> {
    let mut image = ctm_image::ctm_elf::write(program).unwrap();
    // A note's head: 8, size, type, "ATI DPP". Another owner's notes are ignored.
    let owner = b"ATI DPP\0";
    let at = (0..image.len() - 20)
        .find(|&n| {
            image[n..n + 4] == 8u32.to_le_bytes()
                && image[n + 8..n + 12] == kind.to_le_bytes()
                && image[n + 12..n + 20] == *owner
        })
        .unwrap();
    image[at + 12] = b'X';
    image
}

#[test]
fn a_program_without_notes_has_no_inputs_outputs_and_constants() {
    // o0 = s0 at (i, j) plus c0.
    let source = "tex r1, s0, r0.rg\nadd o0, r1, c0\nend";
    let program = text::assemble(source).program.unwrap();
    let mut rig = Rig::new(DeviceOptions::default());
    let (input, out) =
        (rig.surface(8, 4, Format::Float32x4, Tiling::Linear), rig.surface(8, 4, Format::Float32x4, Tiling::Linear));
    rig.fill(&input, 8, 4, |x, _| [x as f32; 4]);
    let constants = rig.bytes(&[100f32; 4].map(f32::to_le_bytes).concat());
    let mut run = |image: &[u8]| {
        let program = rig.bytes(image);
        rig.fill(&out, 8, 4, |_, _| [-1.0; 4]);
        let buffer = CommandBuffer::new()
            .set_inst_fmt(program)
            .inv_inst_cache()
            .set_inp_fmt(0, &input)
            .set_out_fmt(0, &out)
            .set_constf_fmt(constants)
            .set_domain(D);
        let result = rig.submit(&buffer.start_program().flush_out_cache());
        (result.err().map(|e| e.to_string()), rig.floats(&out, 8, 4)[3][0])
    };
    assert_eq!(run(&ctm_image::ctm_elf::write(&program).unwrap()), (None, 103.0));
    let (error, _) = run(&without_note(&program, 2));
    assert!(error.unwrap().contains("no input is bound there"));
    assert_eq!(run(&without_note(&program, 3)), (None, -1.0));
    assert_eq!(run(&without_note(&program, 5)), (None, 3.0));
}

#[test]
fn remarks_on_an_image_are_told_once() {
    let mut rig = checked();
    let out = rig.surface(8, 4, Format::Float32x4, Tiling::Linear);
    let program = rig.bytes(&without_note(&position_program(), 3));
    let buffer =
        CommandBuffer::new().set_inst_fmt(program).set_out_fmt(0, &out).set_domain(D).start_program().flush_out_cache();
    let report = rig.submit(&buffer).unwrap();
    let remarks: Vec<_> =
        report.findings.iter().filter(|f| f.rule == "image-remark").map(|f| f.message.as_str()).collect();
    assert!(remarks.iter().any(|m| m.contains("note leaves out what instructions refer to: 0")), "{remarks:?}");
    assert!(!rules(&rig.submit(&buffer).unwrap()).contains(&"image-remark"));
}

#[test]
fn what_the_host_changes_behind_the_device_is_seen() {
    let mut rig = checked();
    let (a, b) =
        (rig.surface(8, 4, Format::Float32x4, Tiling::Linear), rig.surface(8, 4, Format::Float32x4, Tiling::Linear));
    let program = rig.program(&copy_program(0, 0));
    let set = || CommandBuffer::new().set_inst_fmt(program).set_inp_fmt(0, &a).set_out_fmt(0, &b).set_domain(D);
    assert_eq!(rules(&rig.submit(&set().start_program().flush_out_cache()).unwrap()), [""; 0]);
    // As a client does it: through a pointer of its own, without a word to the device.
    let offset = (a.base.0 - rig.device.options().arenas.gpu.base.0) as usize;
    rig.device.memory_mut().arena_mut(ArenaId::Gpu)[offset + 40] = 0x3f;
    assert_eq!(rules(&rig.submit(&set().start_program().flush_out_cache()).unwrap()), ["missing-invalidate"]);
    rig.device.memory_mut().arena_mut(ArenaId::Gpu)[offset + 40] = 0x40;
    assert_eq!(rules(&rig.submit(&set().inv_inp_cache().start_program().flush_out_cache()).unwrap()), [""; 0]);
    // Writes of the program are no writes of the host.
    assert_eq!(rules(&rig.submit(&set().start_program().flush_out_cache()).unwrap()), [""; 0]);
}

#[test]
fn literals_over_set_constants_and_formats_of_constants_are_told() {
    let mut rig = checked();
    let out = rig.surface(8, 4, Format::Float32x4, Tiling::Linear);
    let mut program = constant_program(1);
    program.literals.push(Literal::Float { index: 1, bits: [1f32.to_bits(); 4] });
    let image = rig.program(&program);
    let mut run = |value: f32, format: u32| {
        let constants =
            rig.bytes(&[[0f32; 4], [value; 4]].concat().iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>());
        let mut words = CommandBuffer::new().set_constf_fmt(constants).words().to_vec();
        words[2] = format;
        let buffer = CommandBuffer::new()
            .set_inst_fmt(image)
            .set_out_fmt(0, &out)
            .set_domain(D)
            .start_program()
            .flush_out_cache();
        words.extend(buffer.words());
        rules(&rig.submit_words(&words).unwrap())
    };
    let plain = CommandBuffer::new().set_constf_fmt(GpuAddr(0)).words()[2];
    assert_eq!(run(0.0, plain), [""; 0]);
    assert_eq!(run(1.0, plain), [""; 0]);
    assert_eq!(run(7.0, plain), ["literal-over-constant"]);
    let tiled = ctm_device::mc::FormatWord { pitch: 4, tiling: Tiling::Tiled, format: Format::Float32x4 }.encode();
    assert_eq!(run(1.0, tiled), ["constant-format-ignored"]);
    let bytes = ctm_device::mc::FormatWord { pitch: 4, tiling: Tiling::Linear, format: Format::Uint8x4 }.encode();
    assert_eq!(run(1.0, bytes), ["constant-format-ignored"]);
}

#[test]
fn outputs_that_are_inputs_and_domains_beyond_the_pitch_are_told() {
    let mut rig = checked();
    let a = rig.surface(8, 4, Format::Float32x4, Tiling::Linear);
    let program = rig.program(&copy_program(0, 0));
    let set = CommandBuffer::new().set_inst_fmt(program).set_inp_fmt(0, &a).set_domain(D);
    assert_eq!(
        rules(&rig.submit(&set.clone().set_out_fmt(0, &a).start_program().flush_out_cache()).unwrap()),
        ["reads-own-output"]
    );
    // 12 elements of 4 bytes: the tables cut the pitch to 8.
    let cut = Surface { pitch: 12, ..rig.surface(32, 4, Format::Float32x1, Tiling::Linear) };
    let position = rig.program(&position_program());
    let mut run = |i1| {
        let buffer = CommandBuffer::new().set_inst_fmt(position).set_out_fmt(0, &cut).set_domain(Domain { i1, ..D });
        let report = rig.submit(&buffer.start_program().flush_out_cache()).unwrap();
        rules(&report).contains(&"domain-beyond-pitch")
    };
    assert!(!run(7));
    // Still within the pitch that the command says: rows run into each other.
    assert!(run(8));
    assert!(run(11));
}

/// Guide 2.1.4: element (x, y) lies at y * pitch + x, so columns beyond the pitch are elements of later rows, which other processors write too, in an
/// order that 2.1.1 leaves open. Every engine faults at the first such column, and the check says so before.
#[test]
fn a_domain_wider_than_the_pitch_faults_on_every_engine() {
    for kind in ctm_device::EngineKind::ALL {
        let options = DeviceOptions { checks: true, ..DeviceOptions::default() };
        let mut rig = Rig::with_engine(kind.engine().unwrap(), options);
        let out = rig.surface(8, 4, Format::Float32x1, Tiling::Linear);
        let position = rig.program(&position_program());
        let wide = |i1| {
            let buffer =
                CommandBuffer::new().set_inst_fmt(position).set_out_fmt(0, &out).set_domain(Domain { i1, ..D });
            buffer.start_program().flush_out_cache()
        };
        rig.submit(&wide(7)).unwrap();
        for i1 in [8, 9, 40] {
            let error = rig.submit(&wide(i1)).unwrap_err().to_string();
            assert!(error.contains("element (8, 0) lies outside its 8 x 4 elements"), "{}: {error}", kind.name());
            let found = &rig.device.last_report().findings;
            let told = found.iter().find(|f| f.rule == "domain-beyond-pitch").unwrap().to_string();
            assert!(told.contains(&format!("columns up to {i1}, output 0 a pitch of 8 elements")), "{told}");
            assert!(told.contains("here they are a fault"), "{told}");
        }
    }
}

/// `OUTPUT`: 1 at (x, y), uncached; per-processor or shared index.
fn scatter(x: Swizzle, y: Swizzle, target: u8) -> ctm_isa::x1k::Words {
    let mut i = output(0, temp(0));
    i.rgb.target = target;
    (i.rgb.red_swiz_a, i.rgb.green_swiz_a, i.rgb.blue_swiz_a) = (Swizzle::R, x, y);
    i.alpha.swiz_a = Swizzle::Zero;
    Inst::Alu(i).encode()
}

fn uncached(words: Vec<ctm_isa::x1k::Words>) -> Program {
    let mut program = Program::from_words(words);
    program.uncached = true;
    program
}

#[test]
fn uncached_writes_are_looked_at() {
    let mut rig = checked();
    let out = rig.surface(8, 8, Format::Float32x1, Tiling::Linear);
    let other = rig.surface(8, 8, Format::Float32x1, Tiling::Linear);
    let mut run = |program: &Program, input: &Surface, change: &dyn Fn(CommandBuffer) -> CommandBuffer| {
        let program = rig.program(program);
        let buffer =
            CommandBuffer::new().set_inst_fmt(program).set_out_fmt(0, &out).set_inp_fmt(0, input).set_domain(D);
        let report = rig.submit(&change(buffer.inv_inp_cache()).start_program()).unwrap();
        rules(&report)
    };
    let same = |buffer: CommandBuffer| buffer;
    // TARGET is the kind of write: nothing is said of outputs 2 and 0.
    assert_eq!(run(&uncached(vec![scatter(Swizzle::R, Swizzle::G, 2)]), &other, &same), [""; 0]);
    // Every processor of a column writes the same element.
    assert_eq!(run(&uncached(vec![scatter(Swizzle::R, Swizzle::Zero, 2)]), &other, &same), ["racing-writes"]);
    // One index for all, and other values.
    assert_eq!(run(&uncached(vec![scatter(Swizzle::R, Swizzle::G, 0)]), &other, &same), ["racing-writes"]);
    let rules = run(&uncached(vec![scatter(Swizzle::R, Swizzle::Half, 2)]), &other, &same);
    assert!(rules.contains(&"umrt-index"), "{rules:?}");
    // It reads its own writes: cached, and correct.
    for (op, found) in [(TexOp::Lookup, vec!["cached-read"]), (TexOp::LookupUncached, vec![])] {
        let mut first = Inst::decode(&scatter(Swizzle::R, Swizzle::G, 3)).unwrap();
        if let Inst::Alu(alu) = &mut first {
            alu.cmn.tex_sem_wait = true;
        }
        let words = vec![first.encode(), lookup(op, 0, 1, 0), scatter(Swizzle::R, Swizzle::G, 2)];
        assert_eq!(run(&uncached(words), &out, &same), found, "{op:?}");
    }
    // The test at DPP comes too late.
    let never = |buffer: CommandBuffer| buffer.set_cond_loc(CondLoc::Dpp).set_cond_test(CondTest::Never);
    assert_eq!(run(&uncached(vec![scatter(Swizzle::R, Swizzle::G, 2)]), &other, &never), ["umrt-conditional"]);
}
