//! Clients of the preloaded library: processes of this test alone. No driver is needed.
//!
//! Each test starts this program again with the library preloaded, which then plays one of the parts below. Captures are read with the
//! library's own reader.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, clippy::unwrap_used)] // A client of the kernel's interface, in a test.

mod client;
mod parts;

use client::{FILLER, Node};
use ctm_radeon::capture::{CaptureEvent, ReadError, Reader};
use parts::{
    bad_streams, forks, killed_sharer, look, malformed, names, open_library, share, show, thousand, threads, write,
};
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Which part a process plays.
const PART: &str = "CTM_RADEON_TEST_PART";

/// The library, which cargo builds beside this program.
fn library() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let found = here.ancestors().skip(1).map(|d| d.join("libctm_radeon_shim.so")).find(|p| p.is_file());
    found.expect("libctm_radeon_shim.so is built with the tests")
}

/// This program with a part and a directory for captures.
fn part(name: &str, captures: Option<&Path>) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "a_part", "--nocapture"]).env(PART, name).env("LD_PRELOAD", library());
    for variable in ctm_radeon::environment::VARIABLES {
        command.env_remove(variable.name);
    }
    if let Some(captures) = captures {
        command.env("CTM_RADEON_CAPTURE", captures);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs a part to its end; returns its stderr.
fn run(name: &str, captures: Option<&Path>) -> String {
    ended(part(name, captures).spawn().unwrap(), name)
}

fn ended(child: Child, name: &str) -> String {
    let output = child.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{name}: {}\n{out}\n{err}", output.status);
    err.into_owned()
}

/// An empty directory of this test.
fn directory(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    path
}

fn captures(directory: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

/// How many submissions a capture has, and how it ends. Each of our submissions is a stream of fillers, and its number is the first word of its
/// first buffer.
fn submissions(path: &Path) -> (u32, Option<ReadError>) {
    let mut reader = Reader::new(BufReader::new(File::open(path).unwrap())).unwrap();
    let mut count = 0u32;
    loop {
        match reader.next() {
            Ok(Some(CaptureEvent::Submission(submission))) => {
                assert!(submission.words.iter().all(|&word| word == FILLER));
                let buffer = &reader.buffers()[&submission.relocations[0].buffer];
                assert_eq!(buffer.bytes[..4], count.to_le_bytes(), "{}", path.display());
                count += 1;
            }
            Ok(Some(_)) => {}
            Ok(None) => return (count, None),
            Err(e) => return (count, Some(e)),
        }
    }
}

/// Submits `count` times, with the number of the submission in the buffer.
fn submit_numbers(node: &Node, count: u32) {
    let handle = node.create(10_000);
    let bytes = node.map(handle, 12_288);
    for number in 0..count {
        // SAFETY: mapped above.
        unsafe { bytes.cast::<u32>().write_volatile(number) };
        node.submit(&[FILLER; 8], &[handle]).unwrap();
    }
}

#[test]
fn a_program_sees_a_radeon() {
    run("look", None);
}

#[test]
fn submissions_are_captured_with_their_buffers() {
    let directory = directory("captured");
    run("submit", Some(&directory));
    let files = captures(&directory);
    assert_eq!(files.len(), 1);
    let (count, end) = submissions(&files[0]);
    assert_eq!((count, end.is_none()), (10, true));
}

#[test]
fn malformed_requests_are_errors() {
    run("malformed", None);
}

#[test]
fn bad_streams_are_refused_as_by_the_kernel_and_told_of() {
    let directory = directory("refused");
    let told = run("bad-streams", Some(&directory));
    for expected in ["[bad-packet]", "[unknown-packet]", "[missing-relocation]", "[unknown-register]"] {
        assert!(told.contains(expected), "{expected} in {told}");
    }
    // The capture has the answer that the process got.
    let mut reader = Reader::new(BufReader::new(File::open(&captures(&directory)[0]).unwrap())).unwrap();
    let mut errors = Vec::new();
    while let Some(event) = reader.next().unwrap() {
        if let CaptureEvent::Done(done) = event {
            assert_eq!(done.message.is_empty(), done.error == 0);
            errors.push(done.error);
        }
    }
    assert_eq!(errors[..4], [22; 4]);
    assert!(errors.len() > 100 && errors.contains(&0));
}

#[test]
fn writes_of_streams_are_seen_by_the_program() {
    for engine in ["interp", "jit"] {
        let child = part("write", None).env("CTM_RADEON_ENGINE", engine).spawn().unwrap();
        ended(child, "write");
    }
    let child = part("write-nothing", None).env("CTM_RADEON_EXECUTE", "0").spawn().unwrap();
    ended(child, "write-nothing");
}

#[test]
fn children_have_captures_of_their_own() {
    let directory = directory("forked");
    run("fork", Some(&directory));
    let mut counts: Vec<u32> = captures(&directory).iter().map(|path| submissions(path).0).collect();
    counts.sort_unstable();
    assert_eq!(counts, [3, 5, 7]);
}

#[test]
fn threads_work_at_once() {
    run("threads", None);
}

#[test]
fn eight_processes_work_at_once() {
    let directory = directory("eight");
    let children: Vec<Child> = (0..8).map(|_| part("submit", Some(&directory)).spawn().unwrap()).collect();
    for child in children {
        ended(child, "submit");
    }
    let files = captures(&directory);
    assert_eq!(files.len(), 8);
    assert!(files.iter().all(|path| submissions(path).0 == 10));
}

#[test]
fn a_thousand_nodes_leave_nothing_behind() {
    run("thousand", None);
}

#[test]
fn what_was_killed_leaves_a_readable_capture() {
    for (round, milliseconds) in [60, 90, 130].into_iter().enumerate() {
        let directory = directory(&format!("killed-{round}"));
        let mut child = part("endless", Some(&directory)).spawn().unwrap();
        let begun = std::time::Instant::now();
        // It must have begun.
        while !directory.is_dir() || captures(&directory).iter().all(|path| fs::metadata(path).unwrap().len() < 10_000)
        {
            assert!(begun.elapsed() < Duration::from_secs(60), "no capture begins");
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        let files = captures(&directory);
        assert_eq!(files.len(), 1);
        let (count, end) = submissions(&files[0]);
        assert!(count > 0, "{end:?}");
        assert!(end.is_none() || matches!(end, Some(ReadError::Cut { .. })), "{end:?}");
    }
}

#[test]
fn a_killed_process_does_not_hold_others_up() {
    run("killed-sharer", None);
}

#[test]
fn buffers_are_shared_with_other_processes() {
    run("share", None);
}

#[test]
fn cards_find_buffers_by_name() {
    run("names", None);
}

#[test]
fn the_card_shows_pictures() {
    let directory = directory("shown");
    let viewed = directory.with_extension("viewed");
    let file = fs::File::options().read(true).write(true).create(true).truncate(true).open(&viewed).unwrap();
    let mut command = part("show", None);
    ended(command.env("CTM_RADEON_FRAMES", &directory).env("CTM_RADEON_SHOW", &viewed).spawn().unwrap(), "show");
    // The mode, then a flip; the second picture is the second buffer.
    let pictures = captures(&directory);
    assert_eq!(pictures.len(), 2);
    for (path, expected) in pictures.iter().zip([[0x11, 0x22, 0x33], [0x44, 0x55, 0x66]]) {
        let array =
            ctm::array::Array::from_bytes(ctm::array::ArrayFileKind::Png, &fs::read(path).unwrap(), None).unwrap();
        assert_eq!((array.width, array.height, array.channels), (320, 200, 3));
        let ctm::array::Values::U8(values) = array.values else { panic!("8 bits") };
        assert!(values.chunks(3).all(|pixel| pixel == expected), "{}", path.display());
    }
    let picture = ctm_radeon::shared_picture::SharedPicture::from(file).newer_than(None).unwrap().unwrap();
    assert_eq!((picture.number, picture.width, picture.height), (2, 320, 200));
    assert!(picture.rgb.chunks(3).all(|pixel| pixel == [0x44, 0x55, 0x66]));
    fs::remove_file(viewed).unwrap();
}

/// A program that has a graphics library open, and submits nothing, drew with another renderer; one that made buffers did not.
#[test]
fn another_renderer_is_told() {
    let message = "no submission came to the Radeon, though swrast_dri.so is open";
    assert!(run("other-renderer", None).contains(message));
    assert!(!run("own-renderer", None).contains(message));
    assert!(!run("look", None).contains("no submission came"));
}

#[test]
fn wrong_settings_are_told() {
    let child = part("look", None).env("CTM_RADEON_CHECK", "yes").spawn().unwrap();
    let told = ended(child, "look");
    assert!(told.contains("ctm radeon: CTM_RADEON_CHECK is `yes`, 0 or 1 is wanted"), "{told}");
    let child = part("submit", None).env("CTM_RADEON_STATS", "1").spawn().unwrap();
    let told = ended(child, "submit");
    assert!(told.contains("10 submissions (0 refused), 80 words"), "{told}");
}

/// Plays a part in the processes that the tests start; nothing when a person runs the tests.
#[test]
fn a_part() {
    match std::env::var(PART).as_deref() {
        Ok("look") => look(),
        Ok("submit") => submit_numbers(&Node::open(), 10),
        Ok("malformed") => malformed(),
        Ok("bad-streams") => bad_streams(),
        Ok("write") => write(7),
        Ok("write-nothing") => write(0),
        Ok("fork") => forks(),
        Ok("threads") => threads(),
        Ok("thousand") => thousand(),
        Ok("endless") => submit_numbers(&Node::open(), u32::MAX),
        Ok("killed-sharer") => killed_sharer(),
        Ok("other-renderer") => {
            open_library();
        }
        Ok("own-renderer") => {
            open_library();
            Node::open().create(4096);
        }
        Ok("share") => share(),
        Ok("names") => names(),
        Ok("show") => show(),
        Ok(other) => panic!("there is no part {other}"),
        Err(_) => {}
    }
}
