//! Opening any name ends, and the message names the kind of file.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests")]

use ctm_files::{FileKind, begins_with, open, read, read_beside, read_text};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("ctm-opening-test-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn refused(path: &Path, kind: FileKind) -> String {
    read(path, kind).unwrap_err().to_string()
}

#[test]
fn only_regular_files_are_read() {
    let place = Place::new("regular");
    let pipe = place.at("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let socket = place.at("socket");
    let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    symlink("/dev/zero", place.at("link")).unwrap();
    for (path, what) in [
        (Path::new("/dev/zero"), "device"),
        (&place.at("link"), "device"),
        (Path::new("/dev/tty"), "device"),
        (&pipe, "pipe"),
        (&socket, "socket"),
        (&place.0, "directory"),
    ] {
        let message = refused(path, FileKind::Program);
        assert_eq!(
            message,
            format!("the program {} cannot be read: it is a {what}, and files are read", path.display())
        );
        assert!(!begins_with(path, b"\0\0"));
    }
    assert!(refused(&place.at("none"), FileKind::Job).ends_with("cannot be read: there is no such file"));
}

/// The system makes these as they are read, and says that they are empty.
#[test]
fn files_without_a_size_are_refused() {
    let message = refused(Path::new("/proc/self/limits"), FileKind::Program);
    assert!(message.contains("it says that it is empty and is not"), "{message}");
}

#[test]
fn files_end_where_they_ended() {
    let place = Place::new("grows");
    let path = place.at("a");
    fs::write(&path, "0123456789").unwrap();
    let mut input = open(&path, FileKind::Array).unwrap();
    fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"more").unwrap();
    let mut text = String::new();
    input.read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), input.size()), ("0123456789", 10));
    assert_eq!(input.seek(SeekFrom::End(-2)).unwrap(), 8);
    text.clear();
    input.read_to_string(&mut text).unwrap();
    assert_eq!(text, "89");
    assert!(input.seek(SeekFrom::Current(-20)).is_err());
}

#[test]
fn a_size_beyond_the_limit_names_the_way_out() {
    let place = Place::new("limit");
    for kind in FileKind::ALL {
        let path = place.at(kind.name());
        let limit = kind.default_limit();
        File::create(&path).unwrap().set_len(limit + 1).unwrap();
        let message = refused(&path, kind);
        let noun = kind.noun().strip_prefix("the ").unwrap();
        let says =
            format!("it has {} bytes, and a {noun} may have {limit}; CTM_FILE_LIMITS={}=", limit + 1, kind.name());
        assert!(message.contains(&says), "{message}");
        assert!(message.contains(&path.display().to_string()), "{message}");
        fs::remove_file(path).unwrap();
    }
}

/// The page of the command has the table of limits.
#[test]
fn the_documents_have_every_limit() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let text = fs::read_to_string(page).unwrap();
    let rows = text.lines().skip_while(|line| !line.starts_with("| kind | files |")).skip(2);
    let rows: Vec<_> = rows.take_while(|line| line.starts_with("| `")).collect();
    assert_eq!(rows.len(), FileKind::ALL.len());
    for (row, kind) in rows.into_iter().zip(FileKind::ALL) {
        let size = ctm_files::kinds::Size(kind.default_limit());
        assert!(row.starts_with(&format!("| `{}` |", kind.name())) && row.ends_with(&format!("| {size} |")), "{row}");
    }
}

#[test]
fn text_is_utf_8() {
    let place = Place::new("text");
    fs::write(place.at("a"), b"ab\xff").unwrap();
    assert!(read_text(&place.at("a"), FileKind::Script).unwrap_err().to_string().ends_with("byte 2 is not UTF-8"));
}

#[test]
fn a_file_names_its_neighbours_only() {
    let place = Place::new("beside");
    for folder in ["model", "model/data", "modelled"] {
        fs::create_dir(place.at(folder)).unwrap();
    }
    for file in ["secret", "model/a b.bin", "model/data/b.bin", "modelled/c.bin"] {
        fs::write(place.at(file), "0123456789").unwrap();
    }
    symlink("../secret", place.at("model/out")).unwrap();
    symlink("data/b.bin", place.at("model/in")).unwrap();
    symlink("..", place.at("model/up")).unwrap();
    symlink("/dev/zero", place.at("model/zero")).unwrap();
    assert!(Command::new("mkfifo").arg(place.at("model/pipe")).status().unwrap().success());
    let owner = place.at("model/a.gltf");
    let get = |uri: &str| read_beside(&owner, uri, 10, FileKind::Mesh).map_err(|e| e.to_string());
    for uri in ["a%20b.bin", "data/b.bin", "./data/b.bin", "data/../a b.bin", "in", "data%2Fb.bin", "../model/in"] {
        assert_eq!(get(uri).as_deref(), Ok(&b"0123456789"[..]), "{uri}");
    }
    let leaves = "it leads out of the folder of the file that names it";
    let secret = place.at("secret").display().to_string();
    for (uri, why) in [
        ("../secret", leaves),
        ("../none", leaves),
        ("%2e%2e/secret", leaves),
        ("data/../../secret", leaves),
        ("../modelled/c.bin", leaves),
        ("out", leaves),
        ("up/secret", leaves),
        ("zero", leaves),
        (&secret, "it is no relative path"),
        ("/dev/zero", "it is no relative path"),
        ("%2Fetc/passwd", "it is no relative path"),
        ("..\\secret", "it is no relative path"),
        ("file:///etc/passwd", "it has a scheme"),
        ("file:in", "it has a scheme"),
        ("http://localhost/a", "it has a scheme"),
        ("", "it names no file"),
        ("a%00", "it names no file"),
        ("%zz", "its percent-encoding is wrong"),
        ("pipe", "it is a pipe"),
        ("data", "it is a directory"),
        (".", "it is a directory"),
        ("none", "there is no such file"),
    ] {
        let message = get(uri).unwrap_err();
        assert!(message.contains(why), "{uri}: {message}");
    }
    for bytes in [9, 11, 0, u64::MAX] {
        let message = read_beside(&owner, "in", bytes, FileKind::Mesh).unwrap_err().to_string();
        assert!(message.ends_with(&format!("it has 10 bytes, and {bytes} are stated")), "{message}");
    }
}
