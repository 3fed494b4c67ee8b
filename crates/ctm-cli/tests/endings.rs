//! How runs end that do not end by themselves, and errors found before they begin.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use crate::dir;

use dir::Dir;
use std::time::{Duration, Instant};

const ENDLESS: &str = "\
.output colour = o0
        mov r1, 0
again:  add r1, r1, r0
        fc jump func=0xff to=again
        mov colour, r1
        end
";

/// Long in all, short for each processor.
const SLOW: &str = "\
.output colour = o0
        .int n = i0
        mov r1, 0
        rep n
        rep n
        mad r1, r1, r0, r0
        endrep
        endrep
        mov colour, r1
        end
";

/// These tests run beside others.
const SLACK: Duration = Duration::from_secs(8);

/// Ctrl-C ends a command soon, with its own exit code and these words.
#[cfg(unix)]
fn interrupted(child: std::process::Child, says: &str) {
    let interrupt = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let since = Instant::now();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains(says), "{stderr}");
    assert!(since.elapsed() < SLACK);
}

#[test]
fn time_ends_a_run_of_any_size_at_a_named_instruction() {
    let d = Dir::new("time");
    d.file("endless.x1k", ENDLESS).file("slow.x1k", SLOW);
    for engine in ["interp", "jit", "verify"] {
        for (program, size) in [("endless.x1k", "2x2"), ("endless.x1k", "512x512"), ("slow.x1k", "1024x1024")] {
            let mut arguments =
                vec!["run", program, "--size", size, "--engine", engine, "--budget-seconds", "0.2", "--json"];
            if program == "slow.x1k" {
                arguments.extend(["--int", "i0=255,0,1"]);
            }
            let since = Instant::now();
            let (code, stdout, stderr) = d.ctm(&arguments);
            let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
            assert_eq!(
                (code, &json["fault"]["code"]),
                (3, &"time-budget".into()),
                "{engine}, {program}: {stdout}{stderr}"
            );
            assert!(json["fault"]["pc"].as_u64().unwrap() > 0, "{engine}, {program}, {size}: {stdout}");
            assert!(since.elapsed() < SLACK, "{engine}, {program}, {size}: {:?}", since.elapsed());
        }
    }
}

/// As the documentation says, without a word about budgets; the instructions are used up after less than the half minute that a launch has.
#[test]
fn the_default_budget_ends_a_loop_without_an_end() {
    let d = Dir::new("half");
    d.file("endless.x1k", ENDLESS);
    let since = Instant::now();
    let (code, _, stderr) = d.ctm(&["run", "endless.x1k", "--size", "512x512"]);
    assert_eq!(code, 3, "{stderr}");
    assert!(stderr.contains("budget"), "{stderr}");
    assert!(since.elapsed() < Duration::from_secs(30) + SLACK, "{:?}", since.elapsed());
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_run() {
    let d = Dir::new("ctrl-c");
    d.file("endless.x1k", ENDLESS);
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_ctm"))
        .args(["run", "endless.x1k", "--size", "64x64", "--budget-seconds", "0", "--budget-instructions", "0"])
        .args(["--out", "o0=never.npy"])
        .current_dir(&d.0)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Long enough for the handler to be there.
    std::thread::sleep(Duration::from_secs(2));
    interrupted(child, "error[cancelled]");
    assert!(!d.0.join("never.npy").exists());
}

/// Ctrl-C in the middle of making something smaller leaves the smallest so far, and says so.
#[cfg(unix)]
#[test]
fn ctrl_c_leaves_the_smallest_so_far() {
    let lines: String = (0..200).map(|n| format!("        add r{}, r1, r0\n", 2 + n % 20)).collect();
    let text = format!("{lines}        mov o0, r0\n        end\n");
    let job = "program = \"long.x1k\"\ndomain = [0, 0, 3, 3]\n[[output]]\nslot = 0\nsave = \"o.npy\"\n";
    // The command says how often it was asked; it takes a moment, and holds.
    let asked = "echo asked >> tries; sleep 0.02; grep -q 'mov o0' ";
    for (file, command, left) in [
        ("long.x1k", format!("{asked} {{}}"), "small.x1k"),
        ("job.toml", format!("{asked} {{}} && test -e {{job}}"), "small/long.x1k"),
    ] {
        let d = Dir::new("ctrl-c-reduce");
        d.file("long.x1k", &text).file("job.toml", job);
        let output = left.split('/').next().unwrap();
        let child = std::process::Command::new(env!("CARGO_BIN_EXE_ctm"))
            .args(["reduce", file, "--while", &command, "-o", output])
            .current_dir(&d.0)
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let since = Instant::now();
        let tries = || std::fs::read_to_string(d.0.join("tries")).unwrap_or_default().lines().count();
        while tries() < 5 && since.elapsed() < SLACK {
            std::thread::sleep(Duration::from_millis(5));
        }
        interrupted(child, "ended by Ctrl-C; of the smallest so far");
        let small = std::fs::read_to_string(d.0.join(left)).unwrap();
        assert!(small.contains("mov o0"), "{small}");
        // Of a job the domain is first, of a program its lines.
        let is_smaller = match std::fs::read_to_string(d.0.join("small/job.toml")) {
            Ok(job) => !job.contains("[0, 0, 3, 3]"),
            Err(_) => small.lines().count() < text.lines().count(),
        };
        assert!(is_smaller, "{file}: {small}");
        // The rest may read unwritten values, which is a warning.
        d.bad(&["check", left], 0, &[]);
        if file == "job.toml" {
            d.bad(&["run", "small/job.toml"], 0, &[]);
        }
    }
}

/// Before the command has held once there is nothing to leave.
#[cfg(unix)]
#[test]
fn ctrl_c_at_once_leaves_nothing() {
    let d = Dir::new("ctrl-c-first");
    d.file("one.x1k", "        mov o0, r0\n        end\n");
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_ctm"))
        .args(["reduce", "one.x1k", "--while", "touch begun; exec sleep 600", "-o", "small.x1k"])
        .current_dir(&d.0)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let since = Instant::now();
    while !d.0.join("begun").exists() && since.elapsed() < SLACK {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let since = Instant::now();
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("before the command had succeeded once; nothing is written"), "{stderr}");
    assert!(since.elapsed() < SLACK && !d.0.join("small.x1k").exists());
}

/// Runs `ctm` on a pseudoterminal of 100 columns, which `script` of util-linux makes: exit code, and the terminal's output. Ctrl-C is
/// pressed when this has been seen.
#[cfg(target_os = "linux")]
fn on_a_terminal(d: &Dir, arguments: &str, ctrl_c: Option<&str>) -> Option<(Option<i32>, String)> {
    use std::io::{Read, Write};
    use std::process::{Command, Stdio};

    let line = format!("stty cols 100 rows 24; exec {} {arguments}", env!("CARGO_BIN_EXE_ctm"));
    let mut command = Command::new("script");
    command.args(["-qefc", &line, "/dev/null"]).current_dir(&d.0).env("TERM", "xterm").env("SHELL", "/bin/sh");
    let Ok(mut child) = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        #[allow(clippy::print_stderr, reason = "says why nothing is tested")]
        {
            eprintln!("skipped: there is no `script`");
        }
        return None;
    };
    let mut keys = child.stdin.take().unwrap();
    let mut screen = child.stdout.take().unwrap();
    let (mut seen, mut pressed, since) = (Vec::new(), ctrl_c.is_none(), Instant::now());
    let mut bytes = [0; 256];
    while let Ok(count @ 1..) = screen.read(&mut bytes) {
        seen.extend_from_slice(&bytes[..count]);
        let is_there = |text: &str| String::from_utf8_lossy(&seen).contains(text);
        if !pressed && (ctrl_c.is_some_and(is_there) || since.elapsed() > SLACK) {
            keys.write_all(b"\x03").unwrap();
            keys.flush().unwrap();
            pressed = true;
        }
    }
    let status = child.wait().unwrap();
    drop(keys);
    Some((status.code(), String::from_utf8_lossy(&seen).into_owned()))
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_sees_how_far_a_run_is() {
    let d = Dir::new("progress");
    d.file("slow.x1k", SLOW);
    // Groups that are done soon, however loaded the machine is, and too many of them.
    let run = "run slow.x1k --size 1024x1024 --int i0=60,0,1 --engine interp --threads 1 --budget-seconds 3";
    let Some((code, seen)) = on_a_terminal(&d, run, None) else { return };
    assert_eq!(code, Some(3), "{seen}");
    let shares: Vec<u32> = seen
        .match_indices(" %,")
        .filter_map(|(at, _)| seen[..at].rsplit(' ').next()?.trim_start_matches('\u{1b}').parse().ok())
        .collect();
    assert!(shares.len() >= 5, "{seen:?}");
    assert!(shares.is_sorted(), "{shares:?}");
    assert!(seen.contains(" s left, "), "{seen:?}");

    let (code, seen) = on_a_terminal(&d, &format!("{run} --no-progress"), None).unwrap();
    assert_eq!(code, Some(3), "{seen}");
    assert!(!seen.contains('%'), "{seen:?}");
}

/// The key itself, on a terminal that shows a run's progress.
#[cfg(target_os = "linux")]
#[test]
fn the_keys_ctrl_c_end_a_run() {
    let d = Dir::new("keys");
    d.file("endless.x1k", ENDLESS);
    let run = "run endless.x1k --size 64x64 --budget-seconds 0 --budget-instructions 0 --out o0=never.npy";
    let Some((code, seen)) = on_a_terminal(&d, run, Some("%")) else { return };
    assert_eq!(code, Some(130), "{seen}");
    assert!(seen.contains("error[cancelled]"), "{seen}");
    assert!(!d.0.join("never.npy").exists());
}

#[test]
fn files_that_cannot_be_written_are_found_before_anything_runs() {
    let d = Dir::new("unwritable");
    d.file("endless.x1k", ENDLESS);
    std::fs::create_dir(d.0.join("folder.npy")).unwrap();
    let since = Instant::now();
    for (out, why) in [("o0=none/a.npy", "there is no directory none"), ("o0=folder.npy", "it is a directory")] {
        d.bad(&["run", "endless.x1k", "--size", "64x64", "--out", out], 1, &["error[cannot-write]", why]);
    }
    assert!(since.elapsed() < SLACK);
}
