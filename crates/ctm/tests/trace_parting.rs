//! Planted mistakes: comparing finds the instruction, reducing leaves little but it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm::job::{Job, Reader};
use ctm::trace::{Choice, Limits, Trace, difference, parting, reduce};
use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Launch, Plane};
use ctm_exec::{Budget, Domain, Engine, GroupSize, Interp, Position};
use ctm_isa::x1k::text::assemble;
use ctm_testkit::seeded::Random;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> Job {
    Reader::for_file(path).and_then(Reader::finish).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The line with its first source negated, if it has one.
fn negated(line: &str) -> Option<String> {
    let code = line.split(';').next().unwrap_or("");
    let at = code.find(", ")? + 2;
    let starts = code[at..].chars().next()?;
    let instruction = code.split_whitespace().any(|word| {
        let word = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        ["mad", "mul", "add", "MULADD_e", "MUL_e", "ADD", "MULADD"].contains(&word)
    });
    (instruction && starts != '-' && !starts.is_ascii_digit()).then(|| format!("{}-{}", &line[..at], &line[at..]))
}

#[test]
fn changed_instructions_are_found() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("planted");
    std::fs::create_dir_all(&folder).unwrap();
    let examples = ["mandelbrot", "nbody", "matmul", "conv5x5", "saxpy", "black-scholes", "nearest-surface", "life"];
    let x1k = examples.iter().map(|name| root().join("examples").join(name).join("job.toml"));
    let r700 = ["mandelbrot", "nbody", "matmul", "conv5x5", "saxpy", "black-scholes"];
    let r700 = r700.iter().map(|name| root().join("examples/r700").join(name).join("job.toml"));
    let mut found = 0;
    for (n, path) in x1k.chain(r700).filter(|path| path.is_file()).enumerate() {
        let job = read(&path);
        let (pass, _) = Choice::default().resolve(&job, None).unwrap();
        let d = job.passes[pass].domain;
        let at = Position { i: (d.i0 + d.i1) / 2, j: (d.j0 + d.j1) / 2 };
        let limits = Limits { quad_only: true, ..Limits::default() };
        let trace = |job: &Job, at| Trace::of_job(job, Choice { pass: Some(pass), launch: None }, at, &limits).unwrap();
        let whole = trace(&job, at);
        let mut report = None;
        let source = std::fs::read_to_string(&job.passes[pass].program.value).unwrap();
        let lines: Vec<&str> = source.lines().collect();
        let extension = job.passes[pass].program.value.extension().unwrap().to_str().unwrap().to_owned();
        let mut planted = 0;
        for line in 1..=lines.len() {
            let own = |trace: &Trace| {
                trace.of_lane(trace.lane).any(|(step, _)| trace.listing.line(step.event.at) == Some(line))
            };
            let Some(changed) = negated(lines[line - 1]).filter(|_| planted < 8 && own(&whole)) else { continue };
            let mut text = lines.clone();
            text[line - 1] = &changed;
            let file = folder.join(format!("{n}-{line}.{extension}"));
            std::fs::write(&file, text.join("\n") + "\n").unwrap();
            let mut other = job.clone();
            // Earlier passes and launches are unchanged only where there are none.
            if other.passes.len() > 1 || other.repeat > 1 || other.passes[pass].repeat > 1 {
                other.passes[pass].repeat = 1;
            }
            other.passes[pass].program = file.into();
            let Ok(_) = other.programs() else { continue };
            let mut first = job.clone();
            first.passes[pass].repeat = other.passes[pass].repeat;
            if first.passes.len() > 1 || first.repeat > 1 {
                continue;
            }
            // As `ctm compare` does it: the first value that differs, then its cause. A change without an effect on outputs is not found, and need
            // not be.
            let left = report.get_or_insert_with(|| first.without_files().run(|_| {}).unwrap());
            let Ok(right) = other.without_files().run(|_| {}) else { continue };
            let Some(differs) = difference(left, &right, 0.0).unwrap() else { continue };
            let (a, b) = (trace(&first, differs.at), trace(&other, differs.at));
            let store = parting(&a, &b, 0.0).expect("the programs part").a.unwrap();
            let at = a.steps[store.step].event.at;
            assert_eq!(a.listing.line(at), Some(line), "{}: `{}`", path.display(), lines[line - 1]);
            found += 1;
            planted += 1;
        }
    }
    assert!(found >= 50, "{found} planted changes were found");
}

/// Whether a program of one processor gives NaN in o0.r.
fn gives_nan(text: &str) -> bool {
    let Some(program) = assemble(text).program.filter(|p| !p.words.is_empty()) else { return false };
    let constants = Constants { float: [[1.5f32.to_bits(); 4]; 256], ..Constants::default() };
    let planes = [Plane::position(0)];
    let launch = Launch {
        program: &program,
        constants: &constants,
        planes: &planes,
        rows: &[],
        domain: Domain { i0: 0, j0: 0, i1: 0, j1: 0 },
        group: GroupSize::X1K,
        draw: ctm_exec::x1k::DrawParts::default(),
        budget: Budget { instructions_per_group: Some(10_000), time: None },
        threads: 1,
        checks: false,
        counters: false,
    };
    let mut memory = Arrays::default();
    memory.outputs[0] = Some(Picture { width: 1, height: 1, elements: vec![[0; 4]] });
    Interp.run_x1k(&launch, &mut memory).is_ok()
        && memory.outputs[0].as_ref().is_some_and(|picture| f32::from_bits(picture.elements[0][0]).is_nan())
}

#[test]
fn failing_programs_of_200_instructions_become_10_at_most() {
    for seed in 0..if ctm_testkit::in_emulator() { 2 } else { 10 } {
        let mut random = Random::new(seed + 1);
        let mut lines: Vec<String> = (0..230)
            .map(|_| {
                let (to, a, b) = (1 + random.below(5), 1 + random.below(5), 1 + random.below(5));
                let op = ["add", "mul", "max", "min"][random.below(4)];
                format!("        {op}   r{to}.rgb, r{a}.rgb, r{b}.rgb")
            })
            .collect();
        // The mistake: the square root of less than nothing, which reaches the output.
        let at = 60 + random.below(100);
        lines.insert(at, "        mov   r9.a, -c0.a".into());
        lines.insert(at + 30, "        rsq   r9.r, r9.a".into());
        lines.push("        add   o0.rgb, r9.rrr, r1.rgb | mov o0.a, 1".into());
        let text = lines.join("\n") + "\n        end\n";
        assert!(gives_nan(&text), "seed {seed}:\n{:?}", assemble(&text).diagnostics);
        let small = reduce(&text, &ctm::Control::none(), &mut gives_nan);
        let left = assemble(&small).program.unwrap().words.len();
        assert!(gives_nan(&small) && left <= 10, "seed {seed}: {left} instructions are left:\n{small}");
    }
}
