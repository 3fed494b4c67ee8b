//! Jobs on the device: passes, surfaces, the conditional unit, formats, checks.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm::array::{Array, Values};
use ctm::job::{Data, Job, JobError, JobReport};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A directory with programs.
struct Dir(PathBuf);

impl Dir {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        for (name, text) in files {
            std::fs::write(path.join(name), text).unwrap();
        }
        Self(path)
    }

    fn job(&self, text: &str) -> Job {
        Job::parse(text, "job.toml", &self.0).unwrap_or_else(|e| panic!("{e}"))
    }

    fn run(&self, text: &str) -> JobReport {
        self.job(text).run(|_| {}).unwrap_or_else(|e| panic!("{e}"))
    }

    fn wrong(&self, text: &str) -> String {
        Job::parse(text, "job.toml", &self.0).and_then(|job| job.run(|_| {})).expect_err("wrong").to_string()
    }

    fn save(&self, name: &str, array: &Array) {
        let kind = ctm::array::ArrayFileKind::of(Path::new(name)).unwrap();
        std::fs::write(self.0.join(name), array.to_bytes(kind).unwrap()).unwrap();
    }

    fn load(&self, name: &str) -> Array {
        let kind = ctm::array::ArrayFileKind::of(Path::new(name)).unwrap();
        Array::from_bytes(kind, &std::fs::read(self.0.join(name)).unwrap(), None).unwrap()
    }
}

fn array(height: usize, width: usize, channels: usize, values: &[f32]) -> Array {
    assert_eq!(height * width * channels, values.len());
    Array { height, width, channels, values: Values::F32(values.to_vec()) }
}

/// The contents of output `slot` at the end.
fn output(report: &JobReport, slot: u8) -> Vec<f32> {
    report.array(slot).unwrap().to_f32()
}

/// Adds one to its input.
const NEXT: &str = ".input a = s0\n.output b = o0\n tex r1, a, r0.rg\n add b, r1, 1\n end\n";
/// Writes the index pair.
const INDEX: &str = ".output b = o0\n mov b, r0\n end\n";
/// Writes a constant.
const PAINT: &str = ".output b = o0\n.const paint = c0\n mov b, paint\n end\n";

#[test]
fn a_pass_that_reads_its_output_reads_what_was_there_before() {
    let d = Dir::new("feedback", &[("next.x1k", NEXT)]);
    d.save("start.npy", &array(2, 2, 1, &[1.0, 2.0, 3.0, 4.0]));
    let job = "program = \"next.x1k\"\ndomain = [0, 0, 1, 1]\nrepeat = 5\n[[texture]]\nslot = \"a\"\ndata = \"start.npy\"\noutput = \"b\"\n\
               [[output]]\nslot = \"b\"\nformat = \"float32_1\"\nsave = \"end.npy\"\n";
    let report = d.run(job);
    assert_eq!(output(&report, 0), [6.0, 7.0, 8.0, 9.0]);
    assert_eq!(d.load("end.npy"), array(2, 2, 1, &[6.0, 7.0, 8.0, 9.0]));
    assert_eq!((report.passes[0].launches, report.files.len()), (5, 1));
    // In tiles, and repeated by a pass instead: the same.
    let tiled = job.replace("repeat = 5\n", "").replace("save", "tiling = \"tiled\"\nsave") + "[[pass]]\nrepeat = 5\n";
    assert_eq!(output(&d.run(&tiled), 0), [6.0, 7.0, 8.0, 9.0]);
    // The memory of earlier launches is used again: two surfaces are enough for any number.
    let many = job.replace("repeat = 5", "repeat = 3000").replace("[0, 0, 1, 1]", "[0, 0, 255, 255]");
    let many = many.replace("repeat = 3000", "repeat = 12");
    assert_eq!(output(&d.run(&many), 0)[..2], [13.0, 14.0]);
}

#[test]
fn passes_write_into_what_is_there_unless_they_clear() {
    let d = Dir::new("in-place", &[("paint.x1k", PAINT)]);
    let job = "program = \"paint.x1k\"\ndomain = [0, 0, 3, 0]\n[[output]]\nslot = 0\nsize = [4, 1]\nformat = \"float32_1\"\n\
               clear = [9, 9, 9, 9]\n[[pass]]\ndomain = [0, 0, 1, 0]\nconstants.float.paint = [1, 1, 1, 1]\n\
               [[pass]]\ndomain = [2, 0, 2, 0]\nconstants.float.paint = [2, 2, 2, 2]\n";
    assert_eq!(output(&d.run(job), 0), [1.0, 1.0, 2.0, 9.0]);
    let cleared = format!("{job}[[pass.output]]\nslot = 0\nclear = [5, 5, 5, 5]\n");
    assert_eq!(output(&d.run(&cleared), 0), [5.0, 5.0, 2.0, 5.0]);
}

#[test]
fn outputs_are_as_large_as_each_domain_and_passes_have_names() {
    let d = Dir::new("named", &[("next.x1k", NEXT), ("index.x1k", INDEX)]);
    let job = "[[pass]]\nname = \"index\"\nprogram = \"index.x1k\"\ndomain = [0, 0, 3, 1]\n\
               [[pass]]\nprogram = \"next.x1k\"\ndomain = [1, 1, 2, 1]\n[[pass.texture]]\nslot = 0\noutput = 0\n\
               [[pass]]\nprogram = \"next.x1k\"\ndomain = [0, 0, 1, 0]\n[[pass.texture]]\nslot = 0\noutput = 0\npass = \"index\"\n\
               [[pass.output]]\nslot = 0\nsave = \"last.npy\"\n";
    let report = d.run(job);
    // The third pass reads the output of the first, not of the second.
    assert_eq!(output(&report, 0), [1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0]);
    assert_eq!((d.load("last.npy").width, d.load("last.npy").height), (2, 1));
    let second = job.split("[[pass]]\nprogram = \"next.x1k\"\ndomain = [0, 0, 1, 0]").next().unwrap();
    let report = d.run(second);
    // Only the domain's rectangle.
    assert_eq!((report.outputs[0].rect.x, report.outputs[0].rect.y, report.outputs[0].rect.width), (1, 1, 2));
    assert_eq!(output(&report, 0), [2.0, 2.0, 1.0, 1.0, 3.0, 2.0, 1.0, 1.0]);
}

#[test]
fn the_conditional_buffer_lives_from_pass_to_pass() {
    // The depth is the first channel of `at`; the nearest colour stays.
    let program = ".output b = o0\n.const at = c0\n mov b, at | mov w, at.r\n end\n";
    let d = Dir::new("conditional", &[("draw.x1k", program), ("paint.x1k", PAINT)]);
    let job = "program = \"draw.x1k\"\ndomain = [0, 0, 0, 0]\n[[output]]\nslot = 0\nformat = \"float32_1\"\n\
               [conditional]\ntest = \"less\"\nclear = 100\nsave = \"depth.npy\"\n\
               [[pass]]\nconstants.float.at = [5, 0, 0, 0]\n[[pass]]\nconstants.float.at = [7, 0, 0, 0]\n\
               [[pass]]\nconstants.float.at = [3, 0, 0, 0]\n[[pass]]\nconstants.float.at = [4, 0, 0, 0]\n";
    let report = d.run(job);
    assert_eq!(output(&report, 0), [3.0]);
    assert_eq!(report.conditional().unwrap().to_f32(), [3.0]);
    assert_eq!(d.load("depth.npy"), array(1, 1, 1, &[3.0]));
    // Located in the PE, processors that fail are not run.
    d.save("buffer.npy", &array(1, 4, 1, &[0.0, 1.0, 2.0, 3.0]));
    let pe = "program = \"paint.x1k\"\ndomain = [0, 0, 3, 0]\n[constants]\nfloat = { paint = [8, 8, 8, 8] }\n\
              [[output]]\nslot = 0\nformat = \"float32_1\"\nclear = [-1, -1, -1, -1]\n\
              [conditional]\nlocation = \"pe\"\ntest = \"less\"\nvalue = 1.5\nbuffer = \"buffer.npy\"\nwrite = false\n";
    let report = d.run(pe);
    assert_eq!(output(&report, 0), [-1.0, -1.0, 8.0, 8.0]);
    assert_eq!(report.conditional().unwrap().to_f32(), [0.0, 1.0, 2.0, 3.0]);
}

#[test]
fn uncached_programs_read_what_they_write() {
    // Each processor adds one to the bin of its row twice.
    let program = ".uncached\n.input bins = s0\n mov r1, r0.0g00\n\
                   texu r2, bins, r1.gb\n add r1.r, r2.r, 1\n mov umrt[each], r1\n\
                   texu r2, bins, r1.gb\n add r1.r, r2.r, 1\n mov umrt[each], r1\n end\n";
    let d = Dir::new("uncached", &[("count.x1k", program)]);
    // Without a format the output has the one that uncached writes need.
    for format in ["", "format = \"float32_1\"\n"] {
        let report = d.run(&format!(
            "program = \"count.x1k\"\ndomain = [0, 0, 0, 2]\n[run]\ngroup = 4\n[[texture]]\nslot = \"bins\"\noutput = 0\n\
             [[output]]\nslot = 0\nsize = [4, 1]\n{format}"
        ));
        assert_eq!(output(&report, 0), [2.0, 2.0, 2.0, 0.0]);
    }
}

#[test]
fn formats_tilings_and_samplers() {
    let d =
        Dir::new("formats", &[("copy.x1k", ".input a = s0\n.output b = o0\n tex r1, a, r0.rg\n mov b, r1\n end\n")]);
    d.save("gray.png", &Array { height: 1, width: 2, channels: 1, values: Values::U8(vec![0, 255]) });
    d.save("rgb.png", &Array { height: 1, width: 1, channels: 3, values: Values::U8(vec![255, 0, 51]) });
    d.save("four.npy", &array(1, 1, 4, &[0.25, 0.5, 0.75, 1.0]));
    let job = |texture: &str, domain: &str, output: &str| {
        format!(
            "program = \"copy.x1k\"\ndomain = {domain}\n[[texture]]\nslot = 0\n{texture}\n[[output]]\nslot = 0\n{output}\n"
        )
    };
    let run = |texture: &str, domain: &str, out: &str| output(&d.run(&job(texture, domain, out)), 0);
    assert_eq!(run("data = \"gray.png\"", "[0, 0, 1, 0]", ""), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
    assert_eq!(run("data = \"rgb.png\"", "[0, 0, 0, 0]", ""), [1.0, 0.0, 0.2, 1.0]);
    for tiling in ["linear", "tiled"] {
        let texture = format!("data = \"four.npy\"\ntiling = \"{tiling}\"\nwrap = \"repeat\"");
        let out = format!("tiling = \"{tiling}\"\nformat = \"uint8_4\"");
        let found = run(&texture, "[0, 0, 40, 40]", &out);
        assert_eq!(found.len(), 41 * 41 * 4);
        assert_eq!(found[found.len() - 4..], [64.0 / 255.0, 128.0 / 255.0, 191.0 / 255.0, 1.0]);
    }
    // Outside: the border.
    let found =
        run("data = \"four.npy\"\nwrap = \"border\"\nborder = [7, 7, 7, 7]", "[0, 0, 1, 0]", "format = \"float32_1\"");
    assert_eq!(found, [0.25, 7.0]);
    // Only some channels are written.
    assert_eq!(run("data = \"four.npy\"", "[0, 0, 0, 0]", "mask = \"ga\"\nclear = [9, 9, 9, 9]"), [9.0, 0.5, 9.0, 1.0]);
    // Arrays can come without a file.
    let mut by_hand = d.job(&job("data = \"absent.npy\"", "[0, 0, 0, 0]", ""));
    by_hand.passes[0].textures[0].data = Some(Data::Array(Arc::new(array(1, 1, 2, &[3.0, 4.0]))).into());
    assert_eq!(output(&by_hand.run(|_| {}).unwrap(), 0), [3.0, 4.0, 0.0, 1.0]);
}

#[test]
fn registers_replace_the_index_pair() {
    let d = Dir::new("registers", &[("sum.x1k", ".output b = o0\n add b, r0, r1\n end\n")]);
    let job = "program = \"sum.x1k\"\ndomain = [0, 0, 1, 1]\n[[register]]\nindex = \"r1\"\norigin = [10, 0, 0, 1]\n\
               di = [1, 0, 0, 0]\ndj = [0, 100, 0, 0]\n";
    let found = output(&d.run(job), 0);
    assert_eq!(found[..8], [10.0, 0.0, 0.0, 1.0, 11.0, 0.0, 0.0, 1.0]);
    assert_eq!(found[12..], [11.0, 100.0, 0.0, 1.0]);
}

#[test]
fn checked_runs_find_nothing_in_good_jobs() {
    let d = Dir::new("checked", &[("next.x1k", NEXT)]);
    d.save("start.npy", &array(1, 1, 1, &[1.0]));
    let report = d.run(
        "program = \"next.x1k\"\ndomain = [0, 0, 0, 0]\nrepeat = 3\n[[texture]]\nslot = 0\ndata = \"start.npy\"\noutput = 0\n\
         [[output]]\nslot = 0\n[run]\ncheck = true\n",
    );
    assert!(report.reports.is_empty(), "{}", ctm::render::text(&report.reports[0], false));
    // Reads beyond the input are found, once.
    let report = d.run(
        "program = \"next.x1k\"\ndomain = [0, 0, 3, 0]\n[[texture]]\nslot = 0\ndata = \"start.npy\"\nwrap = \"clamp\"\n[run]\ncheck = true\n",
    );
    assert!(!report.reports.is_empty());
    assert!(report.reports.iter().all(|r| r.source.is_some()));
}

#[test]
fn what_does_not_fit_together_is_told_before_anything_runs() {
    let d = Dir::new("misfits", &[("next.x1k", NEXT), ("paint.x1k", PAINT)]);
    let next = "program = \"next.x1k\"\ndomain = [0, 0, 1, 1]\n";
    for (job, message) in [
        (format!("{next}[[texture]]\nslot = 0\n"), "input 0 has neither `data` nor `output`"),
        (format!("{next}[[texture]]\nslot = 0\ndata = \"absent.npy\"\n"), "absent.npy cannot be read: there is no such file"),
        (format!("{next}[[texture]]\nslot = 0\ndata = \"next.x1k\"\n"), "names no kind of array; known are .npy"),
        (format!("{next}[[texture]]\nslot = \"b\"\n"), "the program has no input `b`; it has a"),
        (
            "program = \"paint.x1k\"\ndomain = [0, 0, 1, 1]\n[constants]\nfloat = { paint = [1, 1, 1, 1], c0 = [2, 2, 2, 2] }\n"
                .to_owned(),
            "float constant 0 is given twice, once by name",
        ),
        (
            "program = \"paint.x1k\"\ndomain = [0, 0, 1, 1]\n[program_info]\nlast = 0\n".to_owned(),
            "only bare words (.hex, .bin) need one",
        ),
        (
            "program = \"paint.x1k\"\ndomain = [0, 0, 1, 1]\n[constants]\nfloat = { c0 = [1, 1, 1, 1] }\n\
             [[output]]\nslot = 2\nsave = \"a.npy\"\n"
                .to_owned(),
            "output 2 is to be saved, and the program writes output 0 only",
        ),
        (
            "program = \"paint.x1k\"\ndomain = [0, 0, 1, 1]\n[constants]\nfloat = { c0 = [1, 1, 1, 1] }\n[conditional]\nbuffer = \"absent.npy\"\n"
                .to_owned(),
            "absent.npy cannot be read",
        ),
    ] {
        let found = d.wrong(&job);
        assert!(found.contains(message), "{job}\n{found}");
    }
    // Every file that is missing is named, not only the first.
    let two =
        "[[pass]]\nprogram = \"x.x1k\"\ndomain = [0, 0, 1, 1]\n[[pass]]\nprogram = \"y.x1k\"\ndomain = [0, 0, 1, 1]\n";
    let found = d.wrong(two);
    assert!(found.contains("x.x1k") && found.contains("y.x1k"), "{found}");
    // A fault says which pass.
    std::fs::write(d.0.join("endless.x1k"), ".output b = o0\nl: fc jump func=0xff to=l\n mov b, r0\n end\n").unwrap();
    let job = d.job("[run]\nbudget_instructions = 9\n[[pass]]\nprogram = \"paint.x1k\"\ndomain = [0, 0, 0, 0]\nconstants.float.c0 = [0, 0, 0, 0]\n\
                     [[pass]]\nname = \"loop\"\nprogram = \"endless.x1k\"\ndomain = [0, 0, 0, 0]\n");
    match job.run(|_| {}) {
        Err(JobError::Fault(fault)) => {
            assert_eq!((fault.pass, fault.pass_name.as_deref(), fault.code), (1, Some("loop"), "instruction-budget"));
        }
        other => panic!("{other:?}"),
    }
}
