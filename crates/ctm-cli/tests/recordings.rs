//! Recordings of devices, looked into as jobs are.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use crate::dir;

use dir::Dir;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn ctm(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ctm")).args(arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A job of two launches, recorded; and the same job with another program.
fn recorded(dir: &Dir) -> (String, String, String) {
    let program = ".input a = s0\n.output out = o0\n        tex   r1, a, r0.rg\n        mul   r1, r1, 2\n        add   out, r1, 1\n";
    dir.file("p.x1k", program);
    dir.file("q.x1k", program.replace("r1, 2", "r1, 3"));
    let job = "program = \"p.x1k\"\ndomain = [0, 0, 15, 15]\n[[texture]]\nslot = \"a\"\ndata = \"x.npy\"\n[[output]]\nslot = \"out\"\nformat = \"float32_4\"\nsave = \"out.npy\"\n";
    std::fs::copy(root().join("examples/saxpy/x.npy"), dir.0.join("x.npy")).unwrap();
    dir.file("job.toml", job);
    dir.file("other.toml", job.replace("p.x1k", "q.x1k"));
    let tape = dir.0.join("tape");
    let run = Command::new(env!("CARGO_BIN_EXE_ctm"))
        .arg("run")
        .arg(dir.0.join("job.toml"))
        .env("CTM_RECORD", &tape)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", text(&run));
    let path = |name: &str| dir.0.join(name).display().to_string();
    (path("tape"), path("job.toml"), path("other.toml"))
}

#[test]
fn a_recording_is_traced_explained_counted_and_debugged() {
    let dir = Dir::new("recording-inside");
    let (tape, job, _) = recorded(&dir);
    let lines = |arguments: &[&str]| {
        let output = ctm(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output));
        let all = String::from_utf8(output.stdout).unwrap();
        // The names of programs and the places of lines are those of a listing, of a recording.
        all.lines().filter(|line| line.contains(" = ")).map(str::to_owned).collect::<Vec<_>>()
    };
    let (of_tape, of_job) = (lines(&["trace", &tape, "--at", "3,2"]), lines(&["trace", &job, "--at", "3,2"]));
    assert!(of_tape.len() > 8 && of_tape == of_job, "{of_tape:?}\n{of_job:?}");
    let why = text(&ctm(&["why", &tape, "--at", "3,2", "--value", "o0.r"]));
    assert!(why.starts_with("o0.r = ") && why.contains("s0[3,2].r"), "{why}");
    let profile = text(&ctm(&["profile", &tape]));
    assert!(profile.contains("48 instructions, 16.0 lanes"), "{profile}");
    dir.file("session", "break write o0.r\ncontinue\nback\nprint r1.r\n");
    let debug = text(&ctm(&["debug", &tape, "--at", "3,2", "-x", &dir.0.join("session").display().to_string()]));
    assert!(debug.contains("breakpoint 1") && debug.contains("r1.r = "), "{debug}");
}

#[test]
fn a_job_is_compared_with_a_recording() {
    let dir = Dir::new("recording-compare");
    let (tape, job, other) = recorded(&dir);
    let same = ctm(&["compare", &job, &tape]);
    assert_eq!((same.status.code(), text(&same).as_str()), (Some(0), "the same\n"));
    let differs = ctm(&["compare", &other, &tape]);
    let said = text(&differs);
    assert_eq!(differs.status.code(), Some(4), "{said}");
    assert!(said.contains("values differ, first o0.r of (") && said.contains("q.x1k:4, time 1: mul"), "{said}");
    assert!(said.contains("  b: "), "{said}");
}

#[test]
fn what_a_recording_does_not_have_is_said() {
    let dir = Dir::new("recording-wrong");
    let (tape, job, _) = recorded(&dir);
    for (arguments, why) in [
        (vec!["trace", &tape, "--at", "99,2"], "is in the domain of no launch"),
        (vec!["trace", &tape, "--launch", "7"], "the recording has 1 launches, there is no launch 7"),
        (vec!["trace", &tape, "--pass", "0"], "no passes"),
        (vec!["trace", &tape, "--size", "4x4"], "takes no flags of jobs"),
        (vec!["trace", &tape, "--until", "fault"], "--at says which processor"),
        (vec!["compare", &job, &tape, "--engines", "interp,jit"], ""),
    ] {
        let output = ctm(&arguments);
        assert!(!output.status.success() && text(&output).contains(why), "{arguments:?}: {}", text(&output));
    }
    // A recording that is cut is looked into as far as it goes.
    let bytes = std::fs::read(dir.0.join("tape")).unwrap();
    std::fs::write(dir.0.join("cut"), &bytes[..bytes.len() / 3]).unwrap();
    let output = ctm(&["trace", &dir.0.join("cut").display().to_string()]);
    assert!(text(&output).contains("no launches"), "{}", text(&output));
}
