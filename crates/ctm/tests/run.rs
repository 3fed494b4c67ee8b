//! Runs on arrays in memory: their results, that jobs give the same, and messages about arguments that do not fit.

use ctm::device::CommandErrorReason;
use ctm::job::Reader;
use ctm::{
    ArenaId, ArgumentError, Budget, Control, Device, DeviceOptions, Domain, EngineKind, Error, Isa, JobError, Program,
    Run, View,
};
use ctm_exec::x1k::Sampler;
use std::path::PathBuf;
use std::time::Duration;

fn example(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

const AXPY: &str = ".input x = s0, y = s1
.output sum = o0
.const a = c0
  tex r1, x, r0.rg
  tex r2, y, r0.rg
  mad sum, a.rrrr, r1, r2";

fn axpy() -> Program {
    Program::assemble(AXPY).expect("a program")
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n).map(|k| (k % 977) as f32 - 400.0).collect()
}

#[test]
fn a_run_gives_what_its_job_gives() {
    let path = example("mandelbrot/job.toml");
    let report = Reader::for_file(&path).and_then(Reader::finish).expect("a job").without_files().run(|_| {});
    let wanted = report.expect("it runs").named("colour").expect("its output");
    let program = Program::open(example("mandelbrot/mandelbrot.x1k")).expect("a program");
    let view = [-2.25, -1.5, 0.005_859_375, 0.0];
    for kind in [EngineKind::Interp, EngineKind::Jit] {
        let size = if kind == EngineKind::Interp { (512, 4) } else { (512, 512) };
        let done = Run::of(&program).size(size.0, size.1).constant("view", view).engine(kind).run().expect("it runs");
        let found: Vec<u32> = done.values("colour").iter().map(|v| v.to_bits()).collect();
        let wanted: Vec<u32> = wanted.to_f32().iter().take(found.len()).map(|v| v.to_bits()).collect();
        assert_eq!(found.len(), (size.0 * size.1 * 4) as usize);
        assert!(found == wanted, "{kind}");
    }
}

#[test]
fn a_part_of_a_domain_gives_that_part() {
    let program = Program::open(example("mandelbrot/mandelbrot.x1k")).expect("a program");
    let view = [-2.25, -1.5, 0.046_875, 0.0];
    let run = |domain| Run::of(&program).domain(domain).constant("view", view).run().expect("it runs");
    let whole = run(Domain { i0: 0, j0: 0, i1: 63, j1: 63 });
    let part = run(Domain { i0: 0, j0: 20, i1: 63, j1: 41 });
    let row = 64 * 4;
    let [whole, part] = [&whole, &part].map(|done| done.values("colour"));
    assert_eq!(part.len(), 42 * row);
    assert!(part[20 * row..] == whole[20 * row..42 * row]);
    assert!(part[..20 * row].iter().all(|&v| v == 0.0));
}

#[test]
fn lines_of_every_length_stay_lines() {
    let program = axpy();
    for n in [1, 4, 4095, 4096, 4097, 8192, 10_000] {
        for channels in [1, 2, 4] {
            let (x, y) = (numbers(n * channels), numbers(n * channels));
            let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 3.0 * x + y).collect();
            let run = || {
                let run = Run::of(&program).elements(n).constant("a", [3.0, 0.0, 0.0, 0.0]);
                run.input("x", View::line(&x, channels)).input("y", View::line(&y, channels))
            };
            let done = run().output("sum", channels).run().expect("it runs");
            let array = done.array("sum").expect("the output");
            assert_eq!((array.height, array.width, array.channels), (1, n, channels));
            assert!(done.values("sum") == expected, "{n} elements of {channels}");
            let mut own = vec![f32::NAN; n * channels];
            let done = run().output_into("sum", &mut own, channels).run().expect("it runs");
            assert!(own == expected && done.outputs.is_empty(), "{n} elements of {channels}");
        }
    }
}

#[test]
fn pictures_of_bytes_and_shorts_are_read_as_the_device_reads_them() {
    let program =
        Program::assemble(".input pic = s0\n.output o = o0\n tex r1, pic, r0.rg\n mov o, r1").expect("a program");
    let bytes: Vec<u8> = (0..=255).collect();
    let floats: Vec<f32> = bytes.iter().map(|&b| f32::from(b) / 255.0).collect();
    let run = |view: View<'_>, channels| {
        let done = Run::of(&program)
            .size(8, 8)
            .sampled("pic", view, Sampler::default())
            .output("o", channels)
            .run()
            .expect("it runs");
        done.values("o").to_vec()
    };
    assert!(run(View::rows(&bytes, [8, 8, 4]), 4) == floats);
    let three = run(View::rows(&bytes[..192], [8, 8, 3]), 4);
    assert!(three.chunks(4).zip(floats.chunks(3)).all(|(found, wanted)| found[..3] == *wanted && found[3] == 1.0));
    let shorts: Vec<u16> = (0..64).map(|n| n * 1024).collect();
    let wanted: Vec<f32> = shorts.iter().map(|&s| f32::from(s) / 65535.0).collect();
    assert!(run(View::rows(&shorts, [8, 8, 1]), 1) == wanted);
    // An odd number of them is copied; reads beyond the edge see the edge.
    let odd = run(View::rows(&shorts[..63], [7, 9, 1]), 1);
    assert_eq!((odd[0], odd[8]), (wanted[0], wanted[9]));
}

#[test]
fn outputs_keep_what_the_program_does_not_write() {
    let program = Program::assemble(".output o = o0\n mov o.rg, 1").expect("a program");
    let mut own = vec![7.0; 16];
    Run::of(&program).size(2, 2).output_into("o", &mut own, 4).run().expect("it runs");
    assert_eq!(own, [1.0, 1.0, 7.0, 7.0].repeat(4));
}

#[test]
fn uncached_writes_go_anywhere_within_the_output() {
    // Every processor writes its column to the mirrored element.
    let text = ".uncached\n.const last = c0\n.reg cell = r1\n mov cell.r, r0.r\n add cell.g, last.r, -r0.r\n mov cell.b, 0\n mov umrt[each], cell";
    let program = Program::assemble(text).unwrap_or_else(|e| panic!("{e}"));
    assert!(program.scatters() && !axpy().scatters());
    let run = || Run::of(&program).size(8, 1).constant("last", [7.0; 4]);
    assert_eq!(run().run().expect("it runs").values("o0"), [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0]);
    let mut large = vec![-1.0; 20];
    run().output_into_rows("o0", &mut large, [2, 10, 1]).run().expect("it runs");
    assert_eq!(large[..10], [7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0, -1.0, -1.0]);
    let mut small = vec![-1.0; 4];
    let error = run().output_into_rows("o0", &mut small, [1, 4, 1]).run().expect_err("it writes outside");
    assert_eq!(error.code(), "memory");
    assert!(refused(run().output("o0", 4)).to_string().contains("one channel"));
}

#[test]
fn r700_programs_run_in_the_same_shape() {
    let program = Program::open(example("r700/saxpy/saxpy.psh")).expect("a program");
    assert_eq!(program.isa(), Isa::R700);
    let (x, y) = (numbers(16 * 16 * 4), numbers(16 * 16 * 4));
    let expected: Vec<f32> = x.iter().zip(&y).map(|(x, y)| 2.5 * x + y).collect();
    let run = || {
        let run = Run::of(&program).size(16, 16).constant("factor", [2.5, 0.0, 0.0, 0.0]);
        run.input("first", View::rows(&x, [16, 16, 4])).input("second", View::rows(&y, [16, 16, 4]))
    };
    let done = run().run().expect("it runs");
    assert!(done.values("pix0") == expected);
    assert!(done.findings.is_empty(), "{:?}", done.findings);
    let mut own = vec![0.0; 16 * 16 * 4];
    run().output_into("pix0", &mut own, 4).engine(EngineKind::Interp).run().expect("it runs");
    assert!(own == expected);
}

#[test]
fn r700_lines_and_integers() {
    let text = ".stage pixel\n.resource numbers t0\n.sampler near s0\nALU:\n  0 x: ADD R0.x, R0.x, 0.5f\n    y: ADD R0.y, R0.y, 0.5f\nTEX:\n  SAMPLE R1.xyzw, R0.xy__, numbers, near DENORM(XY)\nALU:\n  1 x: ADD_INT R1.x, R1.x, 1\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n";
    let program = Program::assemble(text).unwrap_or_else(|e| panic!("{e}"));
    let n = 5000_usize;
    let numbers: Vec<u32> = (0..n as u32).collect();
    let done = Run::of(&program)
        .elements(n)
        .input("numbers", &numbers)
        .output("pix0", 1)
        .run()
        .unwrap_or_else(|e| panic!("{e}"));
    let found: Vec<u32> = done.values("pix0").iter().map(|v| v.to_bits()).collect();
    assert!(found == (1..=n as u32).collect::<Vec<u32>>());
}

#[track_caller]
fn refused(run: Run<'_>) -> ArgumentError {
    match run.run() {
        Err(Error::Argument(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let program = axpy();
    let x = numbers(4);
    let right = || Run::of(&program).elements(4).input("x", &x).input("y", &x).constant("a", [1.0; 4]);
    assert!(right().run().is_ok());
    let mut short = [0.0; 3];
    let cases = [
        (refused(Run::of(&program)), "the run has no domain: say how many columns and rows, or how many elements"),
        (
            refused(right().size(5000, 1)),
            "the domain reaches 5000 columns and 1 rows; 1 to 4096 each are possible, or a line of 1 to 16777216",
        ),
        (
            refused(right().size(0, 1)),
            "the domain reaches 1 columns and 1 rows; 1 to 4096 each are possible, or a line of 1 to 16777216",
        ),
        (refused(right().input("z", &x)), "the program has no input `z`; it has x, y, s0 to s15; did you mean `x`?"),
        (refused(right().input("s1", &x)), "input `s1` is given twice"),
        (
            refused(right().constant("b", [0.0; 4])),
            "the program has no floating-point constant `b`; it has a, c0 to c255; did you mean `a`?",
        ),
        (
            refused(Run::of(&program).elements(4).input("x", &x).input("y", &x)),
            "the program needs constant `a`, which is not given",
        ),
        (
            refused(Run::of(&program).elements(4).constant("a", [0.0; 4]).input("x", &x)),
            "the program needs input `y`, which is not given",
        ),
        (refused(right().output("o1", 4)), "output `o1` is asked for, which the program does not write; it writes sum"),
        (refused(right().output("sum", 3)), "`sum`: an output has 1, 2 or 4 channels, not 3"),
        (refused(right().output_into("sum", &mut short, 1)), "`sum`: it has room for 3 numbers, the run gives 4"),
        (refused(right().constant_buffer(0, Vec::new())), "a constant buffer: only R700 programs have that"),
    ];
    for (found, expected) in cases {
        assert_eq!(found.to_string(), expected);
    }
    let uneven =
        refused(Run::of(&program).elements(4).constant("a", [0.0; 4]).input("x", View::line(&x, 3)).input("y", &x));
    assert!(uneven.to_string().contains("4 numbers are no line of elements of 3 channels"), "{uneven}");
    let wrong = Program::assemble_for(Isa::X1k, "mvo o0, r0").expect_err("no such instruction");
    assert!(matches!(&wrong, JobError::Wrong(reports) if reports[0].source.is_some()), "{wrong}");
}

#[test]
fn a_run_can_be_cancelled_and_has_a_budget() {
    let text = ".output o = o0\n.int n = i0 (255, 0, 0)\n rep n\n rep n\n rep n\n rep n\n add r1, r1, 1\n endrep\n endrep\n endrep\n endrep\n mov o, r1";
    let program = Program::assemble(text).unwrap_or_else(|e| panic!("{e}"));
    let control = Control::new();
    let other = control.clone();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        other.cancel();
    });
    let endless = Budget { instructions_per_group: None, time: None };
    let error = Run::of(&program).size(64, 64).budget(endless).under(&control).run().expect_err("it is cancelled");
    canceller.join().expect("the other thread");
    assert!(error.is_cancelled(), "{error}");
    // A cancelled run does not begin, however short it is.
    let short = [axpy(), Program::open(example("r700/saxpy/saxpy.psh")).expect("a program")];
    for program in &short {
        let error = Run::of(program).size(1, 1).under(&control).run().expect_err("it was cancelled before");
        assert!(error.is_cancelled(), "{error}");
    }
    for name in ["saxpy/job.toml", "r700/saxpy/job.toml"] {
        let job = Reader::for_file(&example(name)).and_then(Reader::finish).expect("a job").without_files();
        let Err(JobError::Fault(fault)) = job.run_under(&control, |_| {}) else {
            panic!("{name} was cancelled before")
        };
        assert_eq!(fault.code, "cancelled", "{name}");
    }
    let mut device = Device::new(DeviceOptions::default()).expect("a device");
    device.set_control(control.clone());
    let words = ctm::commands::parse("wait_for_idle\n").expect("a command");
    let address = device.allocate(ArenaId::Sys, 64).expect("room");
    device.write_dwords(address, &words).expect("it fits");
    let error = device.submit(address, u32::try_from(words.len()).expect("one")).expect_err("it was cancelled before");
    assert_eq!(error.reason, CommandErrorReason::Cancelled);
    let budget = Budget { instructions_per_group: Some(1000), time: None };
    let error = Run::of(&program).size(64, 64).budget(budget).run().expect_err("its budget is used up");
    assert_eq!(error.code(), "instruction-budget");
    assert!(error.to_string().contains("program.x1k"), "{error}");
}

#[test]
fn a_checked_run_reports_and_a_counted_one_counts() {
    let program = Program::assemble(".output o = o0\n mov o, r5").expect("a program");
    let done = Run::of(&program).size(4, 4).checked(true).counted(true).run().expect("it runs");
    assert!(done.findings.iter().any(|f| f.diagnostic.rule.contains("uninit")), "{:?}", done.findings);
    assert_eq!((done.counters.processors, done.counters.alu + done.counters.output > 0), (16, true));
}

#[test]
fn words_and_listings_come_back() {
    let program = axpy();
    assert_eq!(program.words().len(), 6 * program.instructions());
    let again = Program::assemble(&program.listing()).expect("its own listing");
    assert_eq!(again.words(), program.words());
    let elf = program.to_elf().expect("an image");
    assert_eq!(Program::read(&elf, "p.elf").expect("its own image").words(), program.words());
    let bytes: Vec<u8> = program.words().iter().flat_map(|word| word.to_le_bytes()).collect();
    assert_eq!(Program::load(&bytes, "p.bin", None, None).expect("its own words").words(), program.words());
    assert_eq!(program.inputs(), [("x".to_owned(), "s0".to_owned()), ("y".to_owned(), "s1".to_owned())]);
    assert_eq!(program.outputs(), [("sum".to_owned(), "o0".to_owned())]);
}
