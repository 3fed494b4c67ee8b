//! Recordings: replays equal the original, differences are found at their place, and no file, however damaged, panics.
#![allow(clippy::unwrap_used, clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "tests")]

use crate::device_support;

use ctm_device::commands::{CommandBuffer, CondTest};
use ctm_device::device::{Device, DeviceOptions};
use ctm_device::mc::{Format, Tiling};
use ctm_device::memory::{ArenaId, ArenaOptions, GpuAddr};
use ctm_device::record::{
    Found, ReadError, RecordError, Recording, RecordingEnd, ReplayOptions, ReplayReport, SubmissionId, replay,
};
use ctm_device::{EngineKind, SubmitReport};
use ctm_exec::x1k::{Launch, Memory, Outputs};
use ctm_exec::{Budget, Control, Domain, Engine, Fault, Interp, Outcome};
use ctm_testkit::tape::Tape;
use device_support::*;
use std::io::{self, Write};
use std::sync::Arc;

fn small() -> DeviceOptions {
    DeviceOptions {
        arenas: ArenaOptions::with_sizes([1 << 20, 0, 1 << 20, 1 << 16]).unwrap(),
        threads: 1,
        ..DeviceOptions::default()
    }
}

fn recorded(recording: &Arc<Recording>, engine: Box<dyn Engine>, options: DeviceOptions) -> Rig {
    let mut device = Device::open(engine, options).unwrap();
    device.record(recording).unwrap();
    Rig { device }
}

fn again(bytes: &[u8], engine: Option<EngineKind>) -> ReplayReport {
    replay(bytes, &ReplayOptions { engine, ..ReplayOptions::default() }, |_| ()).unwrap()
}

const D: Domain = Domain { i0: 0, j0: 0, i1: 15, j1: 7 };

/// Two devices with different options: host writes between submissions, a result that is read by the next launch, a conditional buffer, counters,
/// memory that the host changes past the device, a fault, garbage, and a reset.
fn session(tape: &Tape, engine: fn() -> Box<dyn Engine>) {
    let recording = Recording::to(Box::new(tape.clone()));
    let mut a = recorded(&recording, engine(), small());
    let mut b =
        recorded(&recording, engine(), DeviceOptions { group: ctm_exec::GroupSize::new(8).unwrap(), ..small() });
    for rig in [&mut a, &mut b] {
        let (copy, constant) = (rig.program(&copy_program(0, 0)), rig.program(&constant_program(3)));
        let input = rig.surface(16, 8, Format::Float32x4, Tiling::Tiled);
        let middle = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
        let out = rig.surface(16, 8, Format::Uint8x4, Tiling::Linear);
        let cond = rig.surface(16, 8, Format::Float32x1, Tiling::Linear);
        let constants = rig.bytes(&[0; 4096]);
        let perf = rig.bytes(&[0; 8]);
        rig.fill(&input, 16, 8, |x, y| [x as f32 / 15.0, y as f32 / 7.0, 0.5, 1.0]);
        // A launch reads writes of the previous launch in the same buffer.
        let chain = CommandBuffer::new()
            .set_inst_fmt(copy)
            .set_inp_fmt(0, &input)
            .set_out_fmt(0, &middle)
            .set_domain(D)
            .init_perf_counters(true)
            .start_perf_counters()
            .start_program()
            .set_inp_fmt(0, &middle)
            .set_out_fmt(0, &out)
            .start_program()
            .read_perf_counters(perf);
        rig.submit(&chain).unwrap();
        // Registers stay; the host changes one element past the device.
        let at = input.address_of(9, 5);
        rig.device.memory_mut().write(at, &0.125f32.to_le_bytes()).unwrap();
        rig.submit(&CommandBuffer::new().set_inp_fmt(0, &input).start_program()).unwrap();
        assert_eq!(rig.floats(&out, 16, 8)[5 * 16 + 9][0], (0.125f32 * 255.0).round_ties_even() / 255.0);
        // A conditional buffer that is read and written, and constants.
        rig.device.write(GpuAddr(constants.0 + 48), &2.5f32.to_le_bytes()).unwrap();
        rig.fill(&cond, 16, 8, |x, _| [x as f32, 0.0, 0.0, 0.0]);
        let conditional = CommandBuffer::new()
            .set_inst_fmt(constant)
            .set_constf_fmt(constants)
            .set_cond_out_fmt(&cond)
            .set_cond_test(CondTest::Less)
            .set_cond_val(7.5)
            .set_out_fmt(0, &middle)
            .start_program();
        rig.submit(&conditional).unwrap();
        // A fault: the output is too small. Garbage. A domain of nothing.
        let short = rig.surface(4, 4, Format::Float32x4, Tiling::Linear);
        rig.submit(&CommandBuffer::new().set_cond_test(CondTest::Always).set_out_fmt(0, &short).start_program())
            .unwrap_err();
        rig.submit_words(&[0x1234_5678]).unwrap_err();
        rig.device.submit(GpuAddr(16), 3).unwrap_err();
        rig.device.reset();
        rig.submit(&CommandBuffer::new().set_domain(D).start_program()).unwrap_err();
        rig.submit(
            &CommandBuffer::new()
                .set_inst_fmt(constant)
                .set_constf_fmt(constants)
                .set_out_fmt(0, &middle)
                .set_domain(D)
                .start_program(),
        )
        .unwrap();
    }
    // The other device once more.
    let empty = CommandBuffer::new().wait_for_idle();
    a.submit(&empty).unwrap();
}

const SUBMISSIONS: u64 = 17;

#[test]
fn what_was_run_runs_again_on_every_engine() {
    for recorder in [EngineKind::Interp, EngineKind::Jit] {
        let tape = Tape::default();
        session(
            &tape,
            if recorder == EngineKind::Interp { || Box::new(Interp) } else { || EngineKind::Jit.engine().unwrap() },
        );
        for engine in [None, Some(EngineKind::Interp), Some(EngineKind::Jit), Some(EngineKind::Verify)] {
            let report = again(&tape.bytes(), engine);
            assert_eq!(report.difference, None, "{engine:?}");
            assert_eq!((report.devices, report.submissions, report.end), (2, SUBMISSIONS, RecordingEnd::Complete));
            assert!(report.compared_bytes > 2 * 3 * 16 * 8 * 4, "{}", report.compared_bytes);
            assert!(report.noticed.is_empty());
        }
        let checked = ReplayOptions { checks: true, ..ReplayOptions::default() };
        let report = replay(&tape.bytes()[..], &checked, |_| ()).unwrap();
        assert_eq!(report.difference, None);
        // The first buffer of each device starts a program while another may run, and so on.
        assert!(report.noticed.iter().any(|n| n.rule == "missing-wait-for-idle" && n.place.submission == 1));
    }
}

/// The interpreter, with one wrong bit in one element.
struct Wrong;

impl Engine for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }

    fn run_x1k_under(&self, control: &Control, launch: &Launch<'_>, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
        let outcome = Interp.run_x1k_under(control, launch, memory)?;
        let mut outputs = Outputs::default();
        (outputs.values[0][2], outputs.written[0]) = (0x4000_0001, 4);
        let at = ctm_exec::Position { i: 5, j: 3 };
        memory.commit(at, &outputs).unwrap();
        Ok(outcome)
    }
}

#[test]
fn the_first_difference_is_found() {
    let tape = Tape::default();
    let recording = Recording::to(Box::new(tape.clone()));
    let mut rig = recorded(&recording, Box::new(Wrong), small());
    let program = rig.program(&position_program());
    let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
    rig.submit(&CommandBuffer::new().wait_for_idle()).unwrap();
    let buffer = CommandBuffer::new().set_inst_fmt(program).set_out_fmt(0, &out).set_domain(D).start_program();
    rig.submit(&buffer).unwrap();
    rig.submit(&buffer).unwrap();
    drop(rig);
    let report = again(&tape.bytes(), Some(EngineKind::Interp));
    let difference = report.difference.unwrap();
    assert_eq!(difference.place, SubmissionId { device: 0, submission: 2 });
    let address = GpuAddr(out.address_of(5, 3).0 + 8);
    let expected = Found::Memory { address, arena: ArenaId::Gpu, expected: 0x4000_0001, found: 0, dwords: 1 };
    assert_eq!(difference.found, expected);
    assert_eq!((report.end, report.submissions), (RecordingEnd::Difference, 2));
}

/// Writes nothing where it should write.
struct Idle;

impl Engine for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn run_x1k_under(&self, _: &Control, _: &Launch<'_>, _: &mut dyn Memory) -> Result<Outcome, Fault> {
        Ok(Outcome::default())
    }
}

#[test]
fn what_should_not_have_been_written_is_found_and_so_is_another_outcome() {
    let tape = Tape::default();
    let recording = Recording::to(Box::new(tape.clone()));
    let mut rig = recorded(&recording, Box::new(Idle), small());
    let program = rig.program(&position_program());
    let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
    let buffer = CommandBuffer::new().set_inst_fmt(program).set_out_fmt(0, &out).set_domain(D).start_program();
    rig.submit(&buffer).unwrap();
    drop(rig);
    let Found::Memory { address, expected, found, dwords, .. } = again(&tape.bytes(), None).difference.unwrap().found
    else {
        panic!("memory differs")
    };
    // (0, 0) and the channels that are 0 are unchanged.
    assert_eq!((address, expected, found), (out.address_of(1, 0), 0, 1f32.to_bits()));
    assert_eq!(dwords, 15 * 8 + 16 * 7);

    let tape = Tape::default();
    let recording = Recording::to(Box::new(tape.clone()));
    let mut rig = recorded(&recording, Box::new(Idle), small());
    let program = rig.program(&position_program());
    let buffer = CommandBuffer::new().set_inst_fmt(program).set_domain(D).start_program();
    rig.submit(&buffer).unwrap();
    drop(rig);
    let difference = again(&tape.bytes(), None).difference.unwrap();
    assert!(matches!(difference.found, Found::Outcome { .. }), "{difference}");
    assert!(difference.to_string().contains("output 0"), "{difference}");
}

#[test]
fn only_what_changed_is_recorded_again() {
    let tape = Tape::default();
    let recording = Recording::to(Box::new(tape.clone()));
    let mut rig = recorded(&recording, EngineKind::Jit.engine().unwrap(), small());
    let program = rig.program(&copy_program(0, 0));
    let (input, out) = (
        rig.surface(128, 128, Format::Float32x4, Tiling::Linear),
        rig.surface(128, 128, Format::Float32x4, Tiling::Linear),
    );
    let mut noise = 1u32;
    let elements: Vec<[u32; 4]> = (0..128 * 128)
        .map(|_| {
            std::array::from_fn(|_| {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                0x3f00_0000 | noise >> 9
            })
        })
        .collect();
    rig.device.write_surface(&input, 128, &elements).unwrap();
    let domain = Domain { i0: 0, j0: 0, i1: 127, j1: 127 };
    let buffer =
        CommandBuffer::new().set_inst_fmt(program).set_inp_fmt(0, &input).set_out_fmt(0, &out).set_domain(domain);
    let buffer = buffer.start_program();
    let run = |rig: &mut Rig| {
        let before = tape.bytes().len();
        rig.submit(&buffer).unwrap();
        tape.bytes().len() - before
    };
    // Noise does not compress: a quarter of a megabyte twice, and the rest.
    let first = run(&mut rig);
    assert!(first < 2 * 128 * 128 * 16 + 50_000, "{first}");
    let second = run(&mut rig);
    assert!(second < 2000, "{second}");
    rig.device.memory_mut().write_u32(input.address_of(77, 99), 1f32.to_bits()).unwrap();
    let third = run(&mut rig);
    assert!(third < 2000 + 2 * 4096, "{third}");
    drop(rig);
    let report = again(&tape.bytes(), Some(EngineKind::Interp));
    assert_eq!((report.difference, report.submissions), (None, 3));
}

#[test]
fn a_cut_recording_runs_up_to_the_cut() {
    let tape = Tape::default();
    session(&tape, || Box::new(Interp));
    let bytes = tape.bytes();
    let mut last = 0;
    let step = (bytes.len() / 400).max(1);
    for length in (0..bytes.len()).step_by(step).chain(0..40).chain(bytes.len() - 40..bytes.len()) {
        let result = replay(&bytes[..length], &ReplayOptions::default(), |_| ());
        let report = match result {
            Ok(report) => report,
            Err(ReadError::NotARecording) if length == 0 => continue,
            Err(e) => panic!("{length}: {e}"),
        };
        assert_eq!(report.difference, None);
        match report.end {
            RecordingEnd::Cut { offset } => assert!(offset <= length as u64),
            RecordingEnd::Open { devices } => assert!(devices <= 2),
            RecordingEnd::Complete if length == 16 || report.devices == 0 => {}
            other => panic!("{length}: {other:?}"),
        }
        if length > 1000 && length < bytes.len() - 40 {
            assert!(report.submissions >= last);
            last = report.submissions;
        }
    }
    assert!(last >= SUBMISSIONS - 2);
}

#[test]
fn a_damaged_recording_is_told_from_a_good_one() {
    let tape = Tape::default();
    session(&tape, || Box::new(Interp));
    let bytes = tape.bytes();
    let mut noise = 7u64;
    for _ in 0..400 {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (at, bit) = ((noise >> 33) as usize % bytes.len(), 1 << (noise >> 29 & 7));
        let mut bad = bytes.clone();
        bad[at] ^= bit;
        match replay(&bad[..], &ReplayOptions::default(), |_| ()) {
            // The word of the header that is 0 means nothing yet.
            Ok(report) if (12..16).contains(&at) => assert_eq!(report.end, RecordingEnd::Complete),
            Ok(report) => {
                assert_eq!(report.difference, None);
                assert!(
                    matches!(report.end, RecordingEnd::Damaged { .. } | RecordingEnd::Cut { .. }),
                    "byte {at}: {:?}",
                    report.end
                );
            }
            Err(ReadError::NotARecording) => assert!(at < 8),
            Err(ReadError::Version { .. }) => assert!((8..12).contains(&at)),
            Err(e) => panic!("{e}"),
        }
    }
}

/// The records of a recording: kind and stored body, without compression.
fn put_together(records: &[(Vec<u8>, Vec<u8>)], header: &[u8]) -> Vec<u8> {
    let mut out = header.to_vec();
    for (head, body) in records {
        let mut head = head.clone();
        head[12..16].copy_from_slice(&(body.len() as u32).to_le_bytes());
        if head[4] & 1 == 0 {
            head[8..12].copy_from_slice(&(body.len() as u32).to_le_bytes());
        }
        let mut checksum = crc32fast::Hasher::new();
        checksum.update(&head[..16]);
        checksum.update(body);
        out.extend(&head[..16]);
        out.extend(checksum.finalize().to_le_bytes());
        out.extend(body);
    }
    out
}

#[test]
fn records_that_lie_do_no_harm() {
    let tape = Tape::default();
    session(&tape, || Box::new(Interp));
    let bytes = tape.bytes();
    let mut records = Vec::new();
    let mut at = 16;
    while at < bytes.len() {
        let stored = u32::from_le_bytes(bytes[at + 12..at + 16].try_into().unwrap()) as usize;
        records.push((bytes[at..at + 20].to_vec(), bytes[at + 20..at + 20 + stored].to_vec()));
        at += 20 + stored;
    }
    assert_eq!(put_together(&records, &bytes[..16]), bytes);
    // Bodies that compression hid are mutated too: their checksums are right, their contents are not.
    let rounds = std::env::var("CTM_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    let mut noise = 3u64;
    let mut next = |below: usize| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (noise >> 33) as usize % below.max(1)
    };
    let mut ends = std::collections::BTreeMap::<&str, u32>::new();
    for _ in 0..rounds {
        let mut mutated = records.clone();
        for _ in 0..=next(3) {
            let n = next(mutated.len());
            match next(6) {
                0 => drop(mutated.remove(n)),
                1 => {
                    let copy = mutated[n].clone();
                    let to = next(mutated.len());
                    mutated.insert(to, copy);
                }
                2 => {
                    let length = next(mutated[n].1.len());
                    mutated[n].1.truncate(length);
                }
                3 => mutated[n].0[8 + next(4)] = next(256) as u8,
                _ => {
                    let body = &mut mutated[n].1;
                    if !body.is_empty() {
                        let at = next(body.len());
                        body[at] = next(256) as u8;
                    }
                }
            }
        }
        let file = put_together(&mutated, &bytes[..16]);
        let options = ReplayOptions { checks: next(2) == 0, ..ReplayOptions::default() };
        let name = replay(&file[..], &options, |_| ()).map_or("unreadable", |report| report.end.name());
        *ends.entry(name).or_default() += 1;
    }
    // All of these happen.
    assert!(ends.contains_key("damaged") && ends.contains_key("difference"), "{ends:?}");
}

#[test]
fn a_recording_begins_with_the_first_submission() {
    let recording = Recording::to(Box::new(io::sink()));
    let mut rig = Rig::new(small());
    rig.submit(&CommandBuffer::new().set_domain(D)).unwrap();
    assert_eq!(rig.device.record(&recording), Err(RecordError::Late));
    rig.device.reset();
    assert_eq!(rig.device.record(&recording), Ok(()));
    assert!(rig.device.is_recorded());
}

#[test]
fn a_recording_that_begins_late_has_what_memory_held() {
    let mut rig = Rig::new(small());
    let program = rig.program(&copy_program(0, 0));
    let input = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
    let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
    rig.fill(&input, 16, 8, |x, y| [x as f32, y as f32, 1.0, 2.0]);
    for _ in 0..2 {
        let tape = Tape::default();
        rig.device.reset();
        rig.device.record(&Recording::to(Box::new(tape.clone()))).unwrap();
        let buffer =
            CommandBuffer::new().set_inst_fmt(program).set_inp_fmt(0, &input).set_out_fmt(0, &out).set_domain(D);
        let report: SubmitReport = rig.submit(&buffer.start_program()).unwrap();
        assert_eq!(report.counters().processors, 128);
        let report = again(&tape.bytes(), Some(EngineKind::Verify));
        assert_eq!((report.difference, report.submissions, report.end), (None, 1, RecordingEnd::Open { devices: 1 }));
    }
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_device() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or_else(|| io::Error::other("no space left"))?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let recording = Recording::to(Box::new(Full(600)));
    let mut rig = recorded(&recording, Box::new(Interp), small());
    assert_eq!(recording.failure(), None);
    for _ in 0..10 {
        rig.submit(&CommandBuffer::new().wait_for_idle()).unwrap();
    }
    assert_eq!(recording.failure().as_deref(), Some("no space left"));
}

#[test]
fn a_time_limit_of_the_recorded_process_does_not_count() {
    let tape = Tape::default();
    let recording = Recording::to(Box::new(tape.clone()));
    let budget = Budget { time: Some(std::time::Duration::ZERO), ..Budget::default() };
    let mut rig = recorded(&recording, Box::new(Interp), DeviceOptions { budget, ..small() });
    let program = rig.program(&position_program());
    let out = rig.surface(16, 8, Format::Float32x4, Tiling::Linear);
    let buffer = CommandBuffer::new().set_inst_fmt(program).set_out_fmt(0, &out).set_domain(D).start_program();
    let error = rig.submit(&buffer);
    drop(rig);
    let report = again(&tape.bytes(), None);
    assert_eq!((report.difference, report.timed_out), (None, u64::from(error.is_err())));
}
