//! `CTM_RECORD` and `ctm replay`.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn place(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Runs `ctm`; exit code, stdout, stderr.
fn ctm(arguments: &[&str], record: Option<&Path>) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctm"));
    command.args(arguments).env_remove("CTM_RECORD");
    if let Some(path) = record {
        command.env("CTM_RECORD", path);
    }
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Records the example that sums an array in eight launches.
fn recording(name: &str) -> PathBuf {
    let job = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/reduce/job.toml");
    let trace = place(name);
    let (code, _, stderr) = ctm(&["run", job.to_str().unwrap(), "--json"], Some(&trace));
    assert_eq!((code, stderr.as_str()), (0, ""));
    trace
}

#[test]
fn a_run_is_recorded_and_runs_again_on_every_engine() {
    let trace = recording("reduce.trace");
    let trace = trace.to_str().unwrap();
    for engine in ["interp", "jit", "verify"] {
        let (code, stdout, stderr) = ctm(&["replay", trace, "--engine", engine], None);
        assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
        assert!(stdout.starts_with("8 submissions, 8 launches, 1 devices, "), "{stdout}");
        assert!(stdout.ends_with("bytes compared: as recorded\n"), "{stdout}");
    }
    let (code, stdout, _) = ctm(&["replay", trace, "--json", "--check", "--threads", "2"], None);
    let json: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &json["status"], &json["submissions"]), (0, &"same".into(), &8.into()));
    assert_eq!((&json["end"]["kind"], &json["difference"]), (&"complete".into(), &Value::Null));
    assert_eq!(json["findings"].as_array().unwrap().len(), 0, "{stdout}");
}

#[test]
fn a_cut_or_damaged_recording_says_so() {
    let bytes = std::fs::read(recording("whole.trace")).unwrap();
    let cut = place("cut.trace");
    std::fs::write(&cut, &bytes[..bytes.len() - 100]).unwrap();
    let (code, stdout, stderr) = ctm(&["replay", cut.to_str().unwrap()], None);
    assert_eq!(code, 0);
    assert!(stdout.starts_with("7 submissions"), "{stdout}");
    assert!(stderr.contains("is cut within the record at byte") && stderr.contains("warning"), "{stderr}");
    let mut bad = bytes.clone();
    bad[bytes.len() / 2] ^= 4;
    std::fs::write(&cut, bad).unwrap();
    let (code, _, stderr) = ctm(&["replay", cut.to_str().unwrap()], None);
    assert_eq!(code, 1);
    assert!(stderr.contains("is damaged (its checksum is wrong); what stands before it was run"), "{stderr}");
    std::fs::write(&cut, b"not one").unwrap();
    let (code, _, stderr) = ctm(&["replay", cut.to_str().unwrap()], None);
    assert_eq!(code, 1);
    assert!(stderr.contains("this is no recording; recordings begin with `CTMTRACE`"), "{stderr}");
    let (code, _, stderr) = ctm(&["replay", "nowhere.trace"], None);
    assert!(code == 1 && stderr.contains("the recording nowhere.trace cannot be read"), "{stderr}");
    let (code, _, stderr) = ctm(&["replay", "x", "--engine", "fast"], None);
    assert!(code == 2 && stderr.contains("there are interp, jit, verify"), "{stderr}");
    let (code, _, stderr) = ctm(&["run", "x.toml"], Some(Path::new("/nowhere/at/all")));
    assert!(code == 1 && stderr.contains("the recording /nowhere/at/all cannot be written"), "{stderr}");
}
