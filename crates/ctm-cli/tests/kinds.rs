//! A file that is given to a command for other files: the error says which command takes it.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::dir;

use dir::Dir;
use std::path::Path;

/// A directory with a file of each kind.
fn directory(name: &str) -> Dir {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let read = |path: &str| std::fs::read(root.join(path)).unwrap();
    let d = Dir::new(name);
    d.file("run.toml", "program = \"a.x1k\"\ndomain = [0, 0, 3, 3]\n");
    d.file(
        "draw.toml",
        "size = [8, 8]\nprograms = [\"cube.gsh\"]\nmesh = \"cube\"\n[[texture]]\nname = \"colour\"\ndata = \"a.npy\"\n",
    );
    d.file("a.x1k", "mov o0, 0.5\n").file("a.ps", "ps_3_0\nmov oC0, c0\n").file("a.cmd", "noop\n");
    d.file("cube.vsh", read("examples/draw/cube/cube.vsh")).file("cube.psh", read("examples/draw/cube/cube.psh"));
    d.file("a.capture", read("crates/ctm-radeon/tests/captures/plasma.capture")).file("a.ib", [0u8; 8]);
    d.file("a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    d.good(&["asm", "a.x1k"]);
    d.good(&["asm", "cube.vsh", "cube.psh", "-o", "cube.gsh"]);
    d.good(&["run", "a.x1k", "--size", "2x2", "--out", "o0=a.npy"]);
    let (code, ..) = d.ctm_under(&[("CTM_RECORD", "tape")], &["run", "a.x1k", "--size", "2x2", "--out", "o0=a.npy"]);
    assert_eq!(code, 0);
    d
}

#[test]
fn errors_name_the_command_that_takes_the_file() {
    let d = directory("kinds");
    let draws = "draw.toml is a job of `ctm draw`; `ctm draw draw.toml` draws it";
    let runs = "run.toml is a job of `ctm run`; `ctm run run.toml` runs it";
    let pair = "cube.gsh is a container of a vertex and a pixel program; `ctm draw cube.gsh` draws with both";
    let capture = "a.capture is a capture of a Radeon's driver; `ctm replay a.capture` draws it";
    let tape = "tape is a recording of devices; `ctm replay tape` runs it again";
    let cases: [(&[&str], &str); 23] = [
        (&["run", "draw.toml"], draws),
        (&["check", "draw.toml"], draws),
        (&["asm", "draw.toml"], draws),
        (&["replay", "draw.toml"], draws),
        (&["exec", "draw.toml"], draws),
        (&["draw", "run.toml"], runs),
        (&["replay", "run.toml"], runs),
        (&["dis", "run.toml"], runs),
        (&["info", "run.toml"], runs),
        (&["pm4", "check", "run.toml"], runs),
        (&["run", "cube.gsh"], pair),
        (&["pm4", "check", "cube.gsh"], pair),
        (&["asm", "cube.gsh"], pair),
        (&["run", "a.capture"], capture),
        (&["dis", "a.capture"], capture),
        (&["run", "tape", "--size", "2x2"], tape),
        (&["draw", "tape"], tape),
        (&["run", "a.cmd"], "a.cmd is a command buffer of the CTM device; `ctm exec a.cmd` runs it"),
        (&["exec", "a.ib"], "a.ib is a Radeon's command stream; `ctm pm4 check a.ib` checks it"),
        (&["replay", "a.elf"], "a.elf is a program without a text; `ctm dis a.elf` prints it as text"),
        (&["compile", "a.x1k"], "a.x1k is an X1K program; `ctm run a.x1k --size 64x64` runs it"),
        (&["run", "a.npy"], "a.npy is an array; `ctm run` and `ctm draw` take it as an input: --in NAME=a.npy"),
        (&["draw", "a.obj"], "a.obj is a mesh; `ctm draw` takes it beside programs: --mesh a.obj"),
    ];
    for (arguments, says) in cases {
        let takes = format!("help: `ctm {}` takes ", arguments[0]);
        d.bad(arguments, 1, &["error[wrong-file]", says, &takes]);
    }
    d.bad(&["run", "cube.gsh"], 1, &["`ctm run cube.gsh --program N` takes one of them"]);
}

#[test]
fn files_go_where_the_table_says() {
    let d = directory("kinds-right");
    let one = ["--at", "1,1", "--size", "2x2"];
    let all: [&[&str]; 11] = [
        &["check", "run.toml"],
        &["draw", "draw.toml"],
        &["draw", "cube.gsh", "--in", "colour=a.npy"],
        &["check", "cube.gsh"],
        &["trace", "cube.gsh", "--draw-stage", "vertex"],
        &["profile", "cube.gsh", "--draw-stage", "vertex"],
        &["info", "a.elf"],
        &["replay", "a.capture"],
        &["replay", "tape"],
        &[&["trace", "a.elf"][..], &one].concat(),
        &[&["profile", "a.x1k"][..], &one[2..]].concat(),
    ];
    for arguments in all {
        let (code, _, stderr) = d.ctm(arguments);
        assert_eq!(code, 0, "{arguments:?}: {stderr}");
    }
    let (_, _, stderr) = d.ctm(&["run", "cube.gsh", "--program", "1", "--size", "2x2"]);
    assert!(!stderr.contains("wrong-file"), "{stderr}");
}

#[test]
fn with_json_the_finding_is_an_object_on_stdout() {
    let d = directory("kinds-json");
    for arguments in [&["run", "draw.toml", "--json"][..], &["check", "draw.toml", "--json"]] {
        let (code, stdout, stderr) = d.ctm(arguments);
        assert_eq!((code, stderr.as_str()), (1, ""), "{arguments:?}");
        let value: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        let finding = value["findings"].get(0).unwrap_or(&value);
        assert_eq!(finding["rule"], "wrong-file", "{stdout}");
    }
}

/// Programs that use the library read jobs without the command's table.
#[test]
fn the_library_tells_jobs_of_passes_from_draw_jobs() {
    let d = directory("kinds-library");
    let run = ctm::Job::parse("size = [8, 8]\nprograms = [\"a.gsh\"]\n", "draw.toml", &d.0).unwrap_err();
    assert_eq!(run.reports()[0].diagnostic.rule, "draw-job");
    assert_eq!(run.reports().len(), 1);
    let draw = ctm::Drawing::read(&d.0.join("run.toml")).unwrap_err();
    assert_eq!(draw.reports()[0].diagnostic.rule, "run-job");
    assert_eq!(draw.reports().len(), 1);
}
