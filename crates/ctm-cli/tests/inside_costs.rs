//! Cost of inspection: time and memory of a trace, and of steps there and back. Linux reports a process's use.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Processor time of a process so far, in steps of 10 ms.
fn time(process: u32) -> Duration {
    // After the name in parentheses: user and system time are the twelfth and thirteenth, in hundredths of a second.
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let fields: Vec<u64> =
        stat.rsplit_once(')').unwrap().1.split_whitespace().map(|field| field.parse().unwrap_or(0)).collect();
    Duration::from_millis(10 * (fields[11] + fields[12]))
}

/// Processor time, and the most memory at once in bytes, of a command.
fn used(arguments: &[&str]) -> (Duration, u64) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ctm"))
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let place = format!("/proc/{}", child.id());
    let mut most = 0;
    loop {
        let status = std::fs::read_to_string(format!("{place}/status")).unwrap();
        let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("").trim().to_owned();
        if line("State:").starts_with('Z') {
            break;
        }
        most = most.max(line("VmHWM:").trim_end_matches(" kB").parse().unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    let time = time(child.id());
    assert!(child.wait().unwrap().success(), "{arguments:?}");
    (time, most * 1024)
}

#[test]
fn a_pixel_of_a_million_takes_a_second_and_200_megabytes_at_most() {
    for job in ["examples/mandelbrot/job.toml", "examples/r700/mandelbrot/job.toml", "examples/r700/deep-zoom/job.toml"]
    {
        let (time, memory) =
            used(&["trace", job, "--size", "1024x1024", "--at", "700,500", "-o", "/dev/null", "--format", "html"]);
        println!("{job}: {time:?}, {} MB", memory >> 20);
        assert!(time < Duration::from_secs(1), "{job}: {time:?}");
        assert!(memory < 200 << 20, "{job}: {} MB", memory >> 20);
    }
}

/// A debugger that is asked command by command.
struct Asked {
    child: std::process::Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Asked {
    /// The answer, and how much processor time it took; of short ones, how long it took.
    fn ask(&mut self, command: &str) -> (String, Duration) {
        let (since, before) = (Instant::now(), time(self.child.id()));
        writeln!(self.child.stdin.as_mut().unwrap(), "{command}").unwrap();
        let mut line = String::new();
        assert!(self.answers.read_line(&mut line).unwrap() > 0, "{command}");
        (line, since.elapsed().min(time(self.child.id()) - before + Duration::from_millis(10)))
    }
}

#[test]
fn steps_take_50_milliseconds_and_a_million_back_a_second_at_most() {
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("million.x1k");
    let text = ".int t = i0 (255, 0, 0)\n rep t\n rep t\n rep t\n add r1, r1, 1\n mul r2, r1, r1\n endrep\n endrep\n endrep\n mov o0, r1\n";
    std::fs::write(&program, text).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_ctm"))
        .args(["debug", &program.display().to_string(), "--size", "64x64", "--at", "9,9", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let answers = BufReader::new(child.stdout.take().unwrap());
    let mut asked = Asked { child, answers };
    asked.ask("where");
    let (there, _) = asked.ask("goto 1000100");
    assert!(there.contains("\"time\":1000100"), "{there}");
    // The best of some tries: others may have the machine now and then.
    let mut best = |command: &str, other: &str| {
        let times = (0..5).map(|_| {
            let (said, time) = asked.ask(command);
            assert!(said.contains("\"time\":"), "{said}");
            asked.ask(other);
            time
        });
        times.min().unwrap()
    };
    for (command, other) in [("step", "back"), ("back", "step"), ("next", "previous"), ("previous", "next")] {
        let time = best(command, other);
        println!("{command}: {time:?}");
        assert!(time < Duration::from_millis(50), "{command}: {time:?}");
    }
    let time = best("back 1000000", "goto 1000100");
    println!("back 1000000: {time:?}");
    assert!(time < Duration::from_secs(1), "a million back: {time:?}");
    drop(asked.child.stdin.take());
    asked.child.wait().unwrap();
}
