//! Saving on Windows: other programs may have a file open.
#![cfg(windows)]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs::{self, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::path::PathBuf;

/// A directory that goes with the test.
struct Dir(PathBuf);

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Dir {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ctm-windows-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }
}

#[test]
fn a_file_is_replaced_as_a_whole() {
    let d = Dir::new("whole");
    let path = d.0.join("a.npy");
    ctm_files::save(&path, b"long contents").unwrap();
    ctm_files::save(&path, b"short").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"short");
    assert_eq!(d.names(), ["a.npy"]);
}

/// `FILE_SHARE_READ` and `FILE_SHARE_WRITE`: others may read and write the file, and not replace it.
const SHARED: u32 = 3;

#[test]
fn a_file_that_another_program_has_open_stays_as_it_was() {
    let d = Dir::new("open");
    let path = d.0.join("a.npy");
    for share in [0, SHARED] {
        fs::write(&path, b"old").unwrap();
        let holder = OpenOptions::new().read(true).share_mode(share).open(&path).unwrap();
        let error = ctm_files::save(&path, b"new").unwrap_err();
        assert!(share != SHARED || error.to_string().contains("another program has it open"), "{error}");
        drop(holder);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(d.names(), ["a.npy"], "no temporary file is left");
        ctm_files::save(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}

/// A virus scanner reads a new file for a moment.
#[test]
fn a_save_waits_for_a_moment() {
    let d = Dir::new("moment");
    let path = d.0.join("a.npy");
    fs::write(&path, b"old").unwrap();
    let holder = OpenOptions::new().read(true).share_mode(SHARED).open(&path).unwrap();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(40));
        drop(holder);
    });
    ctm_files::save(&path, b"new").unwrap();
    thread.join().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn a_directory_is_no_file() {
    let d = Dir::new("directory");
    for end in ["\\", "/"] {
        let error = ctm_files::save(format!("{}{end}", d.0.display()).as_ref(), b"x").unwrap_err();
        assert!(error.to_string().contains("names no file"), "{error}");
    }
}
