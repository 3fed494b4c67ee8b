//! Checked mode: missing invalidations, flushes and waits are reported with the command that should have been there.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss, reason = "tests")]

use crate::device_support;

use ctm_device::commands::{CommandBuffer, CommandKind, CondTest};
use ctm_device::device::{CommandFinding, DeviceOptions};
use ctm_device::mc::{Format, Surface, Tiling};
use ctm_device::memory::{ArenaId, GpuAddr};
use ctm_exec::Domain;
use device_support::*;

const D: Domain = Domain { i0: 0, j0: 0, i1: 15, j1: 7 };

/// Two arrays in GPU memory, programs, constants, and a device that looks at everything.
struct Bench {
    rig: Rig,
    copy: GpuAddr,
    constant: GpuAddr,
    constants: GpuAddr,
    a: Surface,
    b: Surface,
    cond: Surface,
}

impl Bench {
    fn new(options: DeviceOptions) -> Self {
        let mut rig = Rig::new(options);
        let copy = rig.program(&copy_program(0, 0));
        let constant = rig.program(&constant_program(0));
        let constants = rig.bytes(&[0; 4096]);
        let mut surface = |format| rig.surface(16, 8, format, Tiling::Linear);
        let (a, b, cond) = (surface(Format::Float32x4), surface(Format::Float32x4), surface(Format::Float32x1));
        Self { rig, copy, constant, constants, a, b, cond }
    }

    fn checked() -> Self {
        Self::new(DeviceOptions::checked())
    }

    /// b = a.
    fn copy(&self) -> CommandBuffer {
        CommandBuffer::new().set_inst_fmt(self.copy).set_inp_fmt(0, &self.a).set_out_fmt(0, &self.b).set_domain(D)
    }

    /// The rules and missing commands of the findings.
    fn run(&mut self, buffer: &CommandBuffer) -> Vec<(&'static str, CommandKind)> {
        let report = self.rig.submit(buffer).unwrap();
        report.findings.iter().map(brief).collect()
    }
}

fn brief(f: &CommandFinding) -> (&'static str, CommandKind) {
    (f.rule, f.missing.unwrap())
}

const NOTHING: [(&str, CommandKind); 0] = [];

#[test]
fn the_known_client_is_clean() {
    let mut t = Bench::checked();
    let params = t.rig.bytes(&[0; 384]);
    for pass in 0..3u8 {
        // Data, program and constants are written anew for each pass; then the commands in the order of that client.
        t.rig.fill(&t.a.clone(), 16, 8, |x, _| [x as f32 + f32::from(pass); 4]);
        let program = if pass == 1 { constant_program(1) } else { copy_program(0, 0) };
        t.rig.device.write(t.copy, &ctm_image::ctm_elf::write(&program).unwrap()).unwrap();
        t.rig.device.write(t.constants, &[pass; 4096]).unwrap();
        let buffer = CommandBuffer::new()
            .flush_out_cache()
            .flush_cond_out_cache()
            .set_inp_fmt(0, &t.a)
            .set_out_fmt(0, &t.b)
            .inv_inp_cache()
            .inv_cond_out_cache()
            .set_inst_fmt(t.copy)
            .inv_inst_cache()
            .set_constf_fmt(t.constants)
            .inv_constf_cache()
            .set_consti_fmt(t.constants)
            .inv_consti_cache()
            .set_domain(D)
            .set_params(params)
            .start_program()
            .flush_out_cache()
            .flush_cond_out_cache();
        assert_eq!(t.run(&buffer), NOTHING, "pass {pass}");
        t.rig.floats(&t.b, 16, 8);
        assert!(t.rig.device.take_findings().is_empty());
        std::mem::swap(&mut t.a, &mut t.b);
    }
}

#[test]
fn inputs_that_changed_need_an_invalidation() {
    let mut t = Bench::checked();
    assert_eq!(t.run(&t.copy().start_program().flush_out_cache()), NOTHING);
    // Nothing changed: the cache may hold any block.
    assert_eq!(t.run(&t.copy().start_program().flush_out_cache()), NOTHING);
    t.rig.fill(&t.a.clone(), 16, 8, |_, _| [1.0; 4]);
    let stale = t.rig.submit(&t.copy().start_program().flush_out_cache()).unwrap().findings;
    assert_eq!(stale.iter().map(brief).collect::<Vec<_>>(), [("missing-invalidate", CommandKind::InvInpCache)]);
    assert_eq!(stale[0].command, Some(CommandKind::StartProgram));
    assert_eq!(
        stale[0].to_string(),
        format!(
            "input 0 at {} is read through the input cache, which may hold it from before it was changed, at `start_program` \
             (dword 18); `inv_inp_cache` should have come before",
            t.a.base
        )
    );
    assert_eq!(t.run(&t.copy().inv_inp_cache().start_program().flush_out_cache()), NOTHING);
}

#[test]
fn constants_and_programs_that_changed_need_an_invalidation() {
    let mut t = Bench::checked();
    let base =
        CommandBuffer::new().set_inst_fmt(t.constant).set_out_fmt(0, &t.b).set_domain(D).set_constf_fmt(t.constants);
    assert_eq!(t.run(&base.clone().start_program().flush_out_cache()), NOTHING);
    t.rig.device.write(t.constants, &[1; 16]).unwrap();
    let buffer = base.clone().start_program().flush_out_cache();
    assert_eq!(t.run(&buffer), [("missing-invalidate", CommandKind::InvConstfCache)]);
    assert_eq!(t.run(&base.clone().inv_constf_cache().start_program().flush_out_cache()), NOTHING);
    t.rig.device.write(t.constant, &ctm_image::ctm_elf::write(&constant_program(0)).unwrap()).unwrap();
    assert_eq!(
        t.run(&base.clone().start_program().flush_out_cache()),
        [("missing-invalidate", CommandKind::InvInstCache)]
    );
    assert_eq!(t.run(&base.inv_inst_cache().start_program().flush_out_cache()), NOTHING);
}

#[test]
fn passes_in_one_buffer_need_wait_flush_and_invalidation() {
    // The second pass copies b back to a.
    let second = |t: &Bench| CommandBuffer::new().set_inp_fmt(0, &t.b).set_out_fmt(0, &t.a);
    use CommandKind::{FlushOutCache, InvInpCache, WaitForIdle};
    // All there.
    let mut t = Bench::checked();
    let first = t.copy().start_program().wait_for_idle().flush_out_cache().inv_inp_cache();
    let buffer = first.append(&second(&t).start_program().flush_out_cache());
    assert_eq!(t.run(&buffer), NOTHING);
    // No wait: the two set commands are not pipelined, and the data may not be there yet.
    let mut t = Bench::checked();
    let first = t.copy().start_program().flush_out_cache().inv_inp_cache();
    let buffer = first.append(&second(&t).start_program().flush_out_cache());
    assert_eq!(t.run(&buffer), [("missing-wait-for-idle", WaitForIdle); 3]);
    // No flush.
    let mut t = Bench::checked();
    let first = t.copy().start_program().wait_for_idle().inv_inp_cache();
    let buffer = first.append(&second(&t).start_program().flush_out_cache());
    assert_eq!(t.run(&buffer), [("missing-flush", FlushOutCache)]);
    // No invalidation, and the input cache has held b since before it was written.
    let mut t = Bench::checked();
    assert_eq!(t.run(&t.copy().set_inp_fmt(0, &t.b).set_out_fmt(0, &t.a).start_program().flush_out_cache()), NOTHING);
    let first = t.copy().start_program().wait_for_idle().flush_out_cache();
    let buffer = first.append(&second(&t).start_program().flush_out_cache());
    assert_eq!(t.run(&buffer), [("missing-invalidate", InvInpCache)]);
}

#[test]
fn the_host_needs_flushes_too() {
    use CommandKind::FlushOutCache;
    // The host cannot look into GPU memory on its own; when it does here, the cache must have been flushed.
    let mut t = Bench::checked();
    assert_eq!(t.run(&t.copy().start_program()), NOTHING);
    t.rig.floats(&t.b, 16, 8);
    let found = t.rig.device.take_findings();
    assert_eq!(found.iter().map(brief).collect::<Vec<_>>(), [("missing-flush", FlushOutCache)]);
    assert_eq!((found[0].command, found[0].offset_dwords), (None, None));
    // System memory may be read as soon as the buffer is over.
    let at = t.rig.device.allocate(ArenaId::Sys, 4096).unwrap();
    let out = t.b.at(at);
    assert_eq!(t.run(&t.copy().set_out_fmt(0, &out).start_program()), [("missing-flush", FlushOutCache)]);
    assert_eq!(t.run(&t.copy().set_out_fmt(0, &out).start_program().flush_out_cache()), NOTHING);
}

#[test]
fn the_conditional_buffer_has_its_own_cache() {
    use CommandKind::{FlushCondOutCache, InvCondOutCache};
    let mut t = Bench::checked();
    let base = t.copy().set_cond_out_fmt(&t.cond).set_cond_test(CondTest::GreaterEqual).set_cond_val(1.0);
    // Its own writes it sees, with and without a flush.
    let twice = base.clone().start_program().wait_for_idle().start_program().flush_out_cache();
    assert_eq!(t.run(&twice), NOTHING);
    // Its contents are lost when it is invalidated.
    assert_eq!(t.run(&CommandBuffer::new().inv_cond_out_cache()), [("lost-writes", FlushCondOutCache)]);
    assert_eq!(t.run(&base.clone().start_program().flush_out_cache()), NOTHING);
    t.rig.floats(&t.cond, 16, 8);
    let found = t.rig.device.take_findings();
    assert_eq!(found.iter().map(brief).collect::<Vec<_>>(), [("missing-flush", FlushCondOutCache)]);
    assert_eq!(t.run(&CommandBuffer::new().flush_cond_out_cache()), NOTHING);
    t.rig.fill(&t.cond.clone(), 16, 8, |_, _| [0.0; 4]);
    assert_eq!(
        t.run(&base.clone().start_program().flush_out_cache().flush_cond_out_cache()),
        [("missing-invalidate", InvCondOutCache)]
    );
    assert_eq!(t.run(&base.inv_cond_out_cache().start_program().flush_out_cache().flush_cond_out_cache()), NOTHING);
}

#[test]
fn what_is_not_pipelined_waits() {
    use CommandKind::WaitForIdle;
    let mut t = Bench::checked();
    let start = t.copy().start_program().flush_out_cache();
    let to = t.constants;
    // command, whether it must wait
    type Add = fn(CommandBuffer, GpuAddr) -> CommandBuffer;
    let table: [(Add, bool); 8] = [
        (|b, to| b.set_inst_fmt(to), true),
        (|b, to| b.set_constf_fmt(to), true),
        (|b, to| b.set_consti_fmt(to), true),
        (|b, to| b.set_constb_fmt(to), true),
        (|b, to| b.init_perf_counters(true).read_perf_counters(to), true),
        (|b, _| b.set_out_mask(0xf), false),
        (|b, to| b.set_params(to), false),
        (|b, _| b.set_cond_val(0.0).set_domain(D).inv_inp_cache().stop_perf_counters(), false),
    ];
    for (n, (add, waits)) in table.into_iter().enumerate() {
        let expected = if waits { vec![("missing-wait-for-idle", WaitForIdle)] } else { vec![] };
        assert_eq!(t.run(&add(start.clone(), to)), expected, "row {n}");
        assert_eq!(t.run(&add(start.clone().wait_for_idle(), to)), NOTHING, "row {n}");
        // When a buffer is over, the processors are idle.
        assert_eq!(t.run(&add(CommandBuffer::new(), to)), NOTHING, "row {n}");
    }
}

#[test]
fn coherent_devices_find_nothing() {
    let mut t = Bench::new(DeviceOptions::default());
    for _ in 0..2 {
        t.rig.fill(&t.a.clone(), 16, 8, |_, _| [1.0; 4]);
        let buffer = t.copy().start_program().set_inp_fmt(0, &t.b).set_out_fmt(0, &t.a).start_program();
        assert_eq!(t.run(&buffer), NOTHING);
        assert!(t.rig.device.take_findings().is_empty());
    }
}

#[test]
fn pitches_that_the_tables_cut_are_found() {
    let mut rig = Rig::new(DeviceOptions::checked());
    let surface = Surface { pitch: 36, ..rig.surface(64, 4, Format::Uint8x4, Tiling::Tiled) };
    let report = rig.submit(&CommandBuffer::new().set_out_fmt(0, &surface)).unwrap();
    assert_eq!(
        report.findings[0].message,
        "the pitch is 36, of which the address tables use 32 for TILED UINT8_4; it must be a multiple of 32 (CTM §2.1.4)"
    );
}
