//! `cargo xtask site DIR`: a static site of the book and the page. The page's engine is WebAssembly, so any host of files will do, below any path.

use crate::book;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::{cargo, root, run, say};

const TARGET: &str = "wasm32-unknown-unknown";
/// Vectors of 128 bits, and room for deep expressions. They replace flags for this machine's linker.
const FLAGS: &str = "-C target-feature=+simd128 -C link-arg=-z -C link-arg=stack-size=8388608";
/// The most bytes of the page's first load, compressed as hosts do it.
const FIRST_LOAD: usize = 3_000_000;

/// Makes the site in a folder. The book is part of it where mdBook is there, whose help pages come from a built command.
pub(crate) fn site(ctm: &Path, to: &Path) -> Result<(), String> {
    let page = to.join("page");
    engine(&page, "")?;
    fs::copy(root().join("crates/ctm-web/assets/worker.js"), page.join("worker.js"))
        .map_err(|e| format!("worker.js: {e}"))?;
    for file in ctm_ide::serve::site() {
        write(&page.join(file.name), file.text.as_bytes())?;
    }
    let load = first_load(&page)?;
    say(&format!("{}: the first load takes {load} bytes, compressed", page.join("index.html").display()));
    if load > FIRST_LOAD {
        return Err(format!("the first load of the page takes {load} bytes, compressed; at most {FIRST_LOAD}"));
    }
    book::book(ctm)?;
    let html = root().join("target/book/html");
    if html.join("index.html").is_file() && has("mdbook") {
        return copied(&html, to);
    }
    say("skipped: the site has no book, because there is no mdbook; its first page leads to the page");
    write(&to.join("index.html"), b"<!DOCTYPE html>\n<meta charset=\"utf-8\">\n<title>ctm</title>\n<meta http-equiv=\"refresh\" content=\"0; url=page/\">\n<a href=\"page/\">the page</a>\n")
}

/// Makes the engine with run vectors and random programs in a folder, for tests.
pub(crate) fn checks(to: &Path) -> Result<(), String> {
    engine(to, "checks")
}

/// Builds the engine into a folder: `ctm_web.js` and `ctm_web_bg.wasm`.
fn engine(to: &Path, features: &str) -> Result<(), String> {
    let version = bindgen_version()?;
    let install = format!("cargo install wasm-bindgen-cli --version {version}");
    let found = Command::new("wasm-bindgen").arg("--version").output();
    let found = found.map_err(|_| format!("the site needs the program wasm-bindgen: {install}"))?;
    let found = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    if found.split_whitespace().nth(1) != Some(version.as_str()) {
        return Err(format!("{found} is there, and the site needs version {version}: {install}"));
    }
    let build = ["build", "--profile", "site", "--target", TARGET, "--package", "ctm-web", "--features", features];
    cargo("the engine as WebAssembly", &build, &[("RUSTFLAGS", FLAGS)])?;
    fs::create_dir_all(to).map_err(|e| format!("{}: {e}", to.display()))?;
    let built = target().join(TARGET).join("site/ctm_web.wasm");
    let flags =
        ["--target", "web", "--no-typescript", "--remove-name-section", "--remove-producers-section", "--out-dir"];
    // wasm-opt would make a smaller file, but a larger one once compressed, and no faster.
    run(Command::new("wasm-bindgen").args(flags).arg(to).arg(built))
}

/// The folder of built programs.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The version of the library, which the program must have, too.
fn bindgen_version() -> Result<String, String> {
    let lock = fs::read_to_string(root().join("Cargo.lock")).map_err(|e| format!("Cargo.lock: {e}"))?;
    let after = lock.split("name = \"wasm-bindgen\"\nversion = \"").nth(1);
    let version = after.and_then(|rest| rest.split('"').next());
    version.map(str::to_owned).ok_or_else(|| "Cargo.lock names no wasm-bindgen".to_owned())
}

/// The bytes of everything that the page loads at first, each file compressed.
fn first_load(page: &Path) -> Result<usize, String> {
    let files = ["index.html", "page.css", "page.js", "worker.js", "ctm_web.js", "ctm_web_bg.wasm"];
    files.iter().try_fold(0, |sum, name| {
        let bytes = fs::read(page.join(name)).map_err(|e| format!("{name}: {e}"))?;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(6));
        let packed = encoder.write_all(&bytes).and_then(|()| encoder.finish()).map_err(|e| format!("{name}: {e}"))?;
        Ok(sum + packed.len())
    })
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    fs::write(path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}

/// Copies a folder into another one.
fn copied(from: &Path, to: &Path) -> Result<(), String> {
    let wrong = |e: std::io::Error| format!("{}: {e}", from.display());
    fs::create_dir_all(to).map_err(wrong)?;
    for entry in fs::read_dir(from).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let place = to.join(entry.file_name());
        if entry.path().is_dir() {
            copied(&entry.path(), &place)?;
        } else {
            fs::copy(entry.path(), place).map_err(wrong)?;
        }
    }
    Ok(())
}
