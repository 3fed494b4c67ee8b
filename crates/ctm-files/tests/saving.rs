//! A target has its old content or the whole new one, and nothing is left beside it.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_files::{Saving, can_save, save};
use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A directory of its own for a test; it goes with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ctm-saving-test-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Every name in it.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The variable that makes this program, started again, a child that saves to a file.
const CHILD: &str = "CTM_TEST_SAVES_TO";

/// The variable that says how often the child saves.
const TIMES: &str = "CTM_TEST_SAVES_TIMES";

/// The contents that a child saves: as many of one byte, another with each turn.
const BYTES: usize = 3 << 20;

/// A child of the tests; for itself it is an empty test.
#[test]
fn child() {
    let Ok(path) = std::env::var(CHILD) else { return };
    let times = std::env::var(TIMES).unwrap().parse().unwrap();
    for turn in (1..=u8::MAX).cycle().take(times) {
        if let Err(e) = save(Path::new(&path), &vec![turn; BYTES]) {
            println!("refused: {e}");
            return;
        }
    }
}

/// The command of a child that saves to `path` until it is killed, 10,000 times at most.
fn start(before: &str, path: &Path) -> Command {
    let again = ctm_testkit::again();
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{before} exec \"$0\" \"$@\" --exact saving::child --nocapture")])
        .arg(again.get_program())
        .args(again.get_args());
    command.env(CHILD, path).env(TIMES, "10000").stdout(Stdio::piped());
    command
}

/// How many temporary files there are.
fn temporary(place: &Place) -> usize {
    place.names().iter().filter(|name| name.starts_with(ctm_files::save::PREFIX)).count()
}

#[test]
fn a_killed_process_leaves_a_whole_file_and_the_next_save_tidies() {
    let place = Place::new("kill");
    let file = place.at("a.bin");
    let mut leftovers = 0;
    for turn in 0..40 {
        save(&file, b"old").unwrap();
        assert_eq!(place.names(), ["a.bin"], "the save before the child removes leftovers");
        let mut child = start("", &file).spawn().unwrap();
        // From its first file on it saves without a pause.
        while temporary(&place) == 0 {
            assert!(child.try_wait().unwrap().is_none(), "turn {turn}");
        }
        std::thread::sleep(Duration::from_micros(530 * turn));
        child.kill().unwrap();
        child.wait().unwrap();
        let found = fs::read(&file).unwrap();
        assert!(found == b"old" || found.len() == BYTES && found.iter().all(|&byte| byte == found[0]), "turn {turn}");
        leftovers += temporary(&place);
    }
    assert!(leftovers > 5, "{leftovers} of 40 were killed while they saved");
}

#[test]
fn the_file_of_a_living_process_is_no_leftover() {
    let place = Place::new("living");
    let mut child = start("", &place.at("a.bin")).spawn().unwrap();
    for turn in 0..200 {
        save(&place.at("b.bin"), &[turn]).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(!String::from_utf8_lossy(&output.stdout).contains("refused"), "{output:?}");
    assert_eq!(fs::read(place.at("a.bin")).unwrap().len(), BYTES);
}

#[test]
fn a_file_that_cannot_grow_is_not_replaced() {
    let place = Place::new("limit");
    let file = place.at("a.bin");
    fs::write(&file, "old").unwrap();
    // Blocks of 512 or 1024 bytes.
    let output = start("ulimit -f 100;", &file).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("refused: it would be larger than"), "{output:?}");
    assert_eq!(fs::read(&file).unwrap(), b"old");
    assert_eq!(place.names(), ["a.bin"]);
}

#[test]
fn devices_and_pipes_are_written_directly() {
    save(Path::new("/dev/null"), b"gone").unwrap();
    let full = save(Path::new("/dev/full"), b"too much").unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    assert!(fs::metadata("/dev/full").unwrap().mode() & 0o170_000 == 0o020_000, "it is a device still");
    let place = Place::new("pipe");
    let pipe = place.at("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    can_save(&pipe).unwrap();
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    save(&pipe, b"through").unwrap();
    assert_eq!(reader.join().unwrap(), b"through");
    assert_eq!(place.names(), ["pipe"]);
}

/// The process's own output is written where it is, and not replaced under the shell.
#[test]
fn dev_stdout_adds_to_a_redirected_file() {
    let place = Place::new("stdout");
    let out = place.at("out");
    let mut child = start("echo before;", Path::new("/dev/stdout"));
    let status = child.env(TIMES, "2").stdout(fs::File::create(&out).unwrap()).status().unwrap();
    assert!(status.success());
    let found = fs::read(&out).unwrap();
    assert!(found.starts_with(b"before\n"), "{:?}", String::from_utf8_lossy(&found[..20]));
    for turn in [1, 2] {
        assert_eq!(found.iter().filter(|&&byte| byte == turn).count(), BYTES, "turn {turn}");
    }
    assert_eq!(place.names(), ["out"]);
}

#[test]
fn links_lead_to_the_file_that_is_replaced() {
    let place = Place::new("links");
    fs::create_dir(place.at("other")).unwrap();
    fs::write(place.at("other/real"), "old").unwrap();
    symlink("other/middle", place.at("link")).unwrap();
    symlink("real", place.at("other/middle")).unwrap();
    save(&place.at("link"), b"new").unwrap();
    assert_eq!(fs::read(place.at("other/real")).unwrap(), b"new");
    assert!(place.at("link").is_symlink() && place.at("other/middle").is_symlink());
    // A link to nothing yet.
    symlink("other/later", place.at("dangling")).unwrap();
    save(&place.at("dangling"), b"made").unwrap();
    assert_eq!(fs::read(place.at("other/later")).unwrap(), b"made");
    symlink("/dev/null", place.at("null")).unwrap();
    save(&place.at("null"), b"gone").unwrap();
    assert!(place.at("null").is_symlink());
    symlink("round", place.at("round")).unwrap();
    assert!(save(&place.at("round"), b"").unwrap_err().to_string().contains("links lead to each other"));
    assert_eq!(place.names(), ["dangling", "link", "null", "other", "round"]);
}

#[test]
fn permissions_are_kept() {
    let place = Place::new("mode");
    let file = place.at("a");
    fs::write(&file, "old").unwrap();
    for mode in [0o600, 0o644, 0o664, 0o755, 0o666] {
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let before = fs::metadata(&file).unwrap();
        save(&file, b"new").unwrap();
        let after = fs::metadata(&file).unwrap();
        assert_eq!(after.mode() & 0o777, mode);
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
        assert_ne!(after.ino(), before.ino(), "it is replaced");
    }
    // A new file has the system's defaults for new files.
    fs::write(place.at("plain"), "").unwrap();
    save(&place.at("new"), b"").unwrap();
    let mode = |name| fs::metadata(place.at(name)).unwrap().mode();
    assert_eq!(mode("new"), mode("plain"));
}

#[test]
fn targets_that_cannot_be_saved_are_named() {
    let place = Place::new("wrong");
    fs::create_dir(place.at("folder")).unwrap();
    fs::write(place.at("file"), "").unwrap();
    for (name, why) in [
        ("folder", "it is a directory"),
        ("new/", "it names no file"),
        ("none/a", "there is no directory"),
        ("file/a", ""),
    ] {
        let errors =
            [save(&place.at(name), b""), can_save(&place.at(name))].map(|result| result.unwrap_err().to_string());
        assert!(errors.iter().all(|error| error.contains(why)), "{name}: {errors:?}");
    }
    assert!(save(Path::new(""), b"").is_err());
    // A process with all rights may write these, too.
    fs::set_permissions(place.at("file"), Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().append(true).open(place.at("file")).is_err() {
        let error = save(&place.at("file"), b"").unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
    }
    assert_eq!(place.names(), ["file", "folder"]);
}

#[test]
fn an_unfinished_file_leaves_nothing() {
    let place = Place::new("dropped");
    fs::write(place.at("a"), "old").unwrap();
    for name in ["a", "b"] {
        can_save(&place.at(name)).unwrap();
        let mut saving = Saving::begin(&place.at(name)).unwrap();
        saving.write_all(&[0; 1 << 20]).unwrap();
        assert_eq!(place.names().len(), 2);
    }
    assert_eq!(place.names(), ["a"]);
    assert_eq!(fs::read(place.at("a")).unwrap(), b"old");
}

/// A file that is written as it comes replaces the old one when its beginning is whole.
#[test]
fn a_published_file_grows() {
    let place = Place::new("published");
    let file = place.at("a");
    fs::write(&file, "old").unwrap();
    let mut saving = Saving::begin(&file).unwrap();
    saving.write_all(b"head").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"old");
    let mut out = saving.publish().unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"head");
    out.write_all(b" and more").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"head and more");
    assert_eq!(place.names(), ["a"]);
}

#[test]
fn two_that_save_one_file_leave_one_of_both() {
    let place = Place::new("both");
    let file = place.at("a");
    std::thread::scope(|scope| {
        for byte in [1, 2] {
            let file = &file;
            scope.spawn(move || (0..100).for_each(|_| save(file, &[byte; 10_000]).unwrap()));
        }
        for _ in 0..100 {
            if let Ok(found) = fs::read(&file) {
                assert!(found == [1; 10_000] || found == [2; 10_000]);
            }
        }
    });
    assert_eq!(place.names(), ["a"]);
}
