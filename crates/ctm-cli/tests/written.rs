//! Commands that write files say so on a terminal: which, how large, and how long it took.

#![allow(clippy::unwrap_used, reason = "a test")]
#![cfg(target_os = "linux")]

use crate::dir;

use dir::Dir;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::{Command, Stdio};

/// The output of `ctm` on stderr when that is a terminal.
fn on_terminal(d: &Dir, arguments: &[&str]) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_ctm"))
        .args(arguments)
        .current_dir(&d.0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::from(slave))
        .status()
        .unwrap();
    assert!(status.success(), "{arguments:?}");
    // When no end of the terminal is open any more, reading ends with an error.
    let mut text = Vec::new();
    let _ = File::from(master).read_to_end(&mut text);
    String::from_utf8(text).unwrap().replace("\r\n", "\n")
}

/// A directory with a program of each kind and a drawing.
fn directory(name: &str) -> Dir {
    let d = Dir::new(name);
    let cube = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/draw/cube");
    d.file("a.x1k", "mov o0, 0.5\n");
    d.file("a.ps", "ps_3_0\nmov oC0, c0\n");
    d.file("cube.vsh", std::fs::read(cube.join("cube.vsh")).unwrap());
    d.file("cube.psh", std::fs::read(cube.join("cube.psh")).unwrap());
    d.file("a.npy", "");
    d
}

/// Every command that writes files, each with the files that it writes.
const COMMANDS: [(&[&str], &[&str]); 12] = [
    (&["asm", "a.x1k"], &["a.elf"]),
    (&["asm", "cube.vsh", "cube.psh", "-o", "cube.gsh"], &["cube.gsh"]),
    (&["compile", "a.ps", "-o", "b.hex"], &["b.hex"]),
    (&["dis", "a.elf", "-o", "again.x1k"], &["again.x1k"]),
    (&["run", "a.x1k", "--size", "8x4", "--out", "o0=a.npy"], &["a.npy"]),
    (&["run", "a.x1k", "--size", "8x4", "--out", "o0=a.png", "--dump-commands", "a.cmd"], &["a.png", "a.cmd"]),
    (
        &["draw", "cube.gsh", "--in", "colour=a.png", "--size", "8x8", "-o", "d.png", "--depth", "d.npy"],
        &["d.png", "d.npy"],
    ),
    (&["trace", "a.x1k", "--size", "8x4", "-o", "a.jsonl"], &["a.jsonl"]),
    (&["profile", "a.x1k", "--size", "8x4", "-o", "a.html"], &["a.html"]),
    (&["profile", "a.x1k", "--size", "8x4", "--map", "instructions", "-o", "map.png"], &["map.png"]),
    (&["random", "--isa", "x1k", "-o", "r.x1k"], &["r.x1k"]),
    (&["tile", "a.npy", "t.raw"], &["t.raw"]),
];

#[test]
fn every_command_names_its_files_with_their_sizes_and_the_time() {
    let d = directory("written");
    for (arguments, files) in COMMANDS {
        let said = on_terminal(&d, arguments);
        let lines: Vec<&str> = said.lines().filter(|line| line.contains("wrote")).collect();
        assert_eq!(lines.len(), files.len(), "{arguments:?}: {said}");
        for (line, file) in lines.iter().zip(files) {
            let bytes = std::fs::metadata(d.0.join(file)).unwrap().len();
            let size = if bytes < 10_000 { format!("{bytes} bytes") } else { "KB".to_owned() };
            assert!(line.contains(&format!("wrote {file}: ")) && line.contains(&size), "{arguments:?}: {said}");
        }
        let last = said.trim_end().lines().last().unwrap();
        assert!(last.ends_with(" s") && last.contains(", in "), "{arguments:?}: {said}");
    }
}

#[test]
fn what_was_written_is_told_on_a_terminal_or_when_asked_for() {
    let d = directory("written-flags");
    let run = ["run", "a.x1k", "--size", "8x4", "--out", "o0=a.npy"];
    assert!(on_terminal(&d, &run).contains("wrote a.npy: "));
    assert_eq!(on_terminal(&d, &[&run[..], &["--quiet"]].concat()), "");
    assert_eq!(on_terminal(&d, &[&run[..], &["--json"]].concat()), "");
    assert_eq!(d.ctm(&run).2, "");
    assert!(d.ctm(&[&run[..], &["-v"]].concat()).2.contains("wrote a.npy: "));
    // Nothing is written to stdout, and a device has no size.
    assert_eq!(d.ctm(&["-v", "asm", "a.x1k", "-o", "-"]).2, "");
    d.bad(&["-v", "-q", "asm", "a.x1k"], 2, &["cannot be used with"]);
}
