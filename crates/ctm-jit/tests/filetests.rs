//! Text tests of the compiler's stages: `tests/filetests/*/*`, one program a file.
//!
//! A file is a program (`.ir`: the text of a stage's form, `.x1k` and `.psh`: assembly) with these directives in
//! comments:
//!
//! | comment | meaning |
//! |---|---|
//! | `; stage: masks` | the stage whose result is tested (`Stage::name`) |
//! | `; target: avx2` | the back end; else `avx512`, which need not run on this host |
//! | `; lanes: 64` | lanes of a wavefront; else 16 |
//! | `; whole`, `; counts`, `; narrows` | all lanes lie in the domain; passages are counted; wavefronts may be narrower |
//! | `; stream` | the program runs tile by tile (`stage: tile` needs no such line) |
//! | `; check: text` | a line of the result has this text, after the line of the check before |
//! | `; check-not: text` | no line has it |
//! | `; run` | in place of a stage: the program is launched, and the result is the launch's events (`ctm_jit::Events`); passes over hosts without the back end |
//! | `; precise` | the checks are the whole result, line by line: `UPDATE_EXPECT=1` writes them, to be read as a diff |
//!
//! `passes/NAME.fires.*` and `passes/NAME.silent.*` are programs on which a pass of `passes/table.rs` changes the result of the stage, and on which it does not: the
//! result is compared with that of a process that leaves the pass out (`CTM_PASSES=-NAME`).
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test stops at what it did not expect")]

use ctm_exec::arrays::Picture;
use ctm_exec::r700::resources::{Image, MipFilter, Texture, TextureKind};
use ctm_exec::x1k::{Constants, Launch, Plane};
use ctm_exec::{Budget, Domain, Engine, GroupSize, r700, x1k};
use ctm_isa::x1k::program::Literal;
use ctm_jit::{Backend, EmitError, EmitLaunch, Jit, Stage, TextOptions, emit, emit_stream, emit_text, events, passes};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The events of a launch on a host that lacks the file's back end.
const NOT_RUN: &str = "not run";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/filetests")
}

/// The files of a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The values of a directive, in order.
fn comments<'a>(text: &'a str, name: &str) -> Vec<&'a str> {
    let prefix = format!("; {name}: ");
    text.lines().filter_map(|line| line.strip_prefix(&prefix)).map(str::trim_end).collect()
}

fn has(text: &str, name: &str) -> bool {
    text.lines().any(|line| line.trim_end() == format!("; {name}"))
}

/// The result of a file's stage.
fn result(path: &Path, text: &str) -> String {
    if has(text, "run") {
        return run(path, text);
    }
    let [name] = comments(text, "stage")[..] else { panic!("{}: expected one `; stage: NAME`", path.display()) };
    let stage = Stage::ALL.iter().copied().find(|stage| stage.name() == name);
    let stage = stage.unwrap_or_else(|| panic!("{}: `{name}` is no stage", path.display()));
    let backend = backend(text);
    let done = match path.extension().and_then(|e| e.to_str()).unwrap() {
        "ir" => {
            let lanes = comments(text, "lanes").first().map_or(16, |lanes| lanes.parse().unwrap());
            let (is_whole, counts, narrows) = (has(text, "whole"), has(text, "counts"), has(text, "narrows"));
            emit_text(
                text,
                stage,
                &TextOptions { backend, lanes, is_whole, counts, narrows, is_stream: has(text, "stream") },
            )
        }
        "x1k" => x1k(text, stage, backend),
        _ => r700(text, stage, backend),
    };
    // A pass may decide whether there is a stage at all.
    let is_of_pass = path.parent().is_some_and(|folder| folder.ends_with("passes"));
    match done {
        Err(error) if !is_of_pass => panic!("{}: {error}", path.display()),
        Ok(text) | Err(text) => text,
    }
}

/// The back end of a file.
fn backend(text: &str) -> Backend {
    let target = comments(text, "target").first().copied().unwrap_or("avx512");
    Backend::ALL.into_iter().find(|backend| backend.name() == target).unwrap()
}

/// The events of a launch of 64 x 64 processors on this thread. Inputs have 64 x 64 elements; texture 0 has three levels, texture 1 has one.
fn run(path: &Path, text: &str) -> String {
    let jit = Jit::with_backend(backend(text));
    if jit.backend() != backend(text) {
        return NOT_RUN.to_owned();
    }
    let before = events();
    if path.extension().is_some_and(|of| of == "x1k") {
        let mut memory = x1k::Arrays::default();
        let picture = || Some((Picture::filled(64, 64, [0.5, 0.25, 1.0, 0.0]), x1k::Sampler::default()));
        memory.inputs.iter_mut().take(4).for_each(|input| *input = picture());
        memory.outputs[0] = Some(Picture::filled(64, 64, [0.0; 4]));
        x1k_launch(text, |launch| jit.run_x1k(launch, &mut memory).map(drop)).unwrap();
    } else {
        let mut memory = r700::Arrays::default();
        for (id, levels) in [(0, 3), (1, 1)] {
            let texture =
                Texture { kind: TextureKind::TwoD, width: 16, height: 16, depth: 1, levels, ..Texture::default() };
            let size = |level| texture.size(level).iter().product::<u32>() as usize;
            let mip = if levels == 1 { MipFilter::None } else { MipFilter::Nearest };
            let levels = (0..levels).map(|level| vec![[0x3f00_0000; 4]; size(level)]).collect();
            memory.textures.insert(id, Image { texture, levels });
            memory.samplers.insert(id, r700::Sampler { mip, ..r700::Sampler::default() });
        }
        memory.targets.insert(r700::Target::Pixel(0), Picture::filled(64, 64, [0.0; 4]));
        r700_launch(text, |launch| jit.run_r700(launch, &mut memory).map(drop)).unwrap();
    }
    events().since(before).to_string()
}

type Emitter = fn(EmitLaunch<'_>, Stage, Backend) -> Result<String, EmitError>;

/// The compiler of a file: of streams, or of programs with masks.
fn emitter(text: &str) -> Emitter {
    if has(text, "stream") { emit_stream } else { emit }
}

fn x1k(text: &str, stage: Stage, backend: Backend) -> Result<String, String> {
    x1k_launch(text, |launch| emitter(text)(EmitLaunch::X1k(launch), stage, backend).map_err(|error| error.to_string()))
}

fn x1k_launch<T>(text: &str, with: impl FnOnce(&Launch<'_>) -> T) -> T {
    let assembly = ctm_isa::x1k::text::assemble(text);
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    let mut constants = Constants::default();
    for literal in &program.literals {
        match *literal {
            Literal::Float { index, bits } => constants.float[usize::from(index)] = bits,
            Literal::Int { index, value } => constants.int[usize::from(index)] = value,
            Literal::Bool { index, value } => constants.bool[usize::from(index)] = value,
        }
    }
    let launch = Launch {
        program: &program,
        constants: &constants,
        planes: &[Plane::position(0)],
        rows: &[],
        domain: Domain { i0: 0, j0: 0, i1: 63, j1: 63 },
        group: GroupSize::X1K,
        draw: ctm_exec::x1k::DrawParts::default(),
        budget: Budget::default(),
        threads: 1,
        checks: false,
        counters: has(text, "counts"),
    };
    with(&launch)
}

fn r700(text: &str, stage: Stage, backend: Backend) -> Result<String, String> {
    r700_launch(text, |launch| {
        emitter(text)(EmitLaunch::R700(launch), stage, backend).map_err(|error| error.to_string())
    })
}

fn r700_launch<T>(text: &str, with: impl FnOnce(&r700::Launch<'_>) -> T) -> T {
    let assembly = ctm_isa::r700::text::assemble(text, &ctm_isa::r700::text::TextOptions::default());
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    let constants = r700::Constants::default();
    let launch = r700::Launch::new(&program, &constants, Domain { i0: 0, j0: 0, i1: 63, j1: 63 });
    let stage_of = program.stage.unwrap_or(launch.stage);
    with(&r700::Launch { stage: stage_of, planes: &[r700::Plane::position(0)], threads: 1, ..launch })
}

/// The lines of a result that a precise file holds.
fn lines(result: &str) -> Vec<&str> {
    result.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// Compares a result with the checks of its file; gives the expected text of the file.
fn check(text: &str, result: &str) -> Result<(), String> {
    let found = lines(result);
    let checks = comments(text, "check");
    if checks.is_empty() {
        return Err("there is no `; check:`".to_owned());
    }
    if has(text, "precise") && checks != found {
        let line = (0..).find(|&n| checks.get(n) != found.get(n)).unwrap_or(0);
        let shown = |lines: &[&str]| lines.get(line).map_or("the end".to_owned(), |line| format!("`{line}`"));
        let (is, expected) = (shown(&found), shown(&checks));
        return Err(format!("line {} is {is}, expected is {expected} (UPDATE_EXPECT=1 writes the result)", line + 1));
    }
    let mut rest = found.iter();
    for check in checks {
        if !rest.any(|line| line.contains(check)) {
            return Err(format!("`{check}` is not found, or not in this order"));
        }
    }
    match comments(text, "check-not").iter().find(|&&not| found.iter().any(|line| line.contains(not))) {
        Some(not) => Err(format!("`{not}` is found")),
        None => Ok(()),
    }
}

#[test]
fn filetests() {
    let (mut count, mut failures) = (0, Vec::new());
    for path in files(&root()).iter().filter(|path| path.is_dir()).flat_map(|folder| files(folder)) {
        let text = std::fs::read_to_string(&path).unwrap();
        let result = result(&path, &text);
        count += 1;
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        if result == NOT_RUN || name.starts_with("passes") && comments(&text, "check").is_empty() {
            continue;
        }
        if has(&text, "precise") && std::env::var_os("UPDATE_EXPECT").is_some() {
            let input: Vec<&str> = text.lines().filter(|line| !line.starts_with("; check: ")).collect();
            let checks: Vec<String> = lines(&result).iter().map(|line| format!("; check: {line}\n")).collect();
            std::fs::write(&path, format!("{}\n{}", input.join("\n"), checks.concat())).unwrap();
        } else if let Err(failure) = check(&text, &result) {
            let stage = comments(&text, "stage").first().copied().unwrap_or("run");
            failures.push(format!("{name}: after stage `{stage}`: {failure}\n{result}"));
        }
    }
    assert!(failures.is_empty(), "{} of {count} files\n{}", failures.len(), failures.join("\n"));
    assert!(count > 20, "{count} files");
}

/// Each row of the table has its two files, and no others exist.
#[test]
fn every_pass_has_its_files() {
    let expected: BTreeSet<String> =
        passes().flat_map(|(name, _)| ["fires", "silent"].map(|how| format!("{name}.{how}"))).collect();
    let stem = |path: PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    let found: BTreeSet<String> = files(&root().join("passes")).into_iter().map(stem).collect();
    assert_eq!(found, expected);
}

/// Prints the results of the files of the pass that `CTM_FILETEST` names; run by the next test in a process of its own.
#[test]
#[ignore = "a part of the next test"]
fn print_results() {
    for how in ["fires", "silent"] {
        let (path, text) = of_pass(&std::env::var("CTM_FILETEST").unwrap(), how);
        println!("<<<{how}\n{}>>>", result(&path, &text));
    }
}

fn of_pass(name: &str, how: &str) -> (PathBuf, String) {
    let stem = format!("{name}.{how}");
    let found = files(&root().join("passes")).into_iter().find(|path| path.file_stem().is_some_and(|of| of == &*stem));
    let path = found.unwrap_or_else(|| panic!("there is no file {stem}"));
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

/// A pass changes the result of its first file, and does not change that of the second one.
#[test]
fn passes_fire_on_their_files_alone() {
    for (name, _) in passes() {
        let mut command = ctm_testkit::again();
        command.args(["print_results", "--exact", "--ignored", "--nocapture"]);
        let without = command.env("CTM_PASSES", format!("-{name}")).env("CTM_FILETEST", name).output().unwrap();
        let without = String::from_utf8(without.stdout).unwrap();
        for how in ["fires", "silent"] {
            let (path, text) = of_pass(name, how);
            let with = result(&path, &text);
            if with == NOT_RUN {
                continue;
            }
            let part = without.split(&format!("<<<{how}\n")).nth(1).and_then(|part| part.split(">>>").next());
            let part = part.unwrap_or_else(|| panic!("{name}: no result without it\n{without}"));
            assert_eq!(with != part, how == "fires", "{name}.{how}:\n{with}\nwithout it:\n{part}");
        }
    }
}
