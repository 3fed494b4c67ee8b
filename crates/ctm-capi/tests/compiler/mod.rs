//! The system's C and C++ compilers, for tests. Where there is none, a test says so and passes.

#![allow(dead_code, reason = "each test uses a part")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// Warnings are errors.
pub const STRICT: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// Every version of the languages that the headers are for.
pub const C: &[&str] = &["c99", "c11", "c17"];
pub const CPP: &[&str] = &["c++98", "c++11", "c++14", "c++17", "c++20"];

/// `cc` or `c++`, or the values of CC or CXX.
pub fn compiler(cpp: bool) -> Option<String> {
    let (variable, name) = if cpp { ("CXX", "c++") } else { ("CC", "cc") };
    let compiler = std::env::var(variable).unwrap_or_else(|_| name.to_owned());
    let works = Command::new(&compiler).arg("--version").output().is_ok_and(|o| o.status.success());
    if !works {
        // Not a failure: the library itself needs only Rust.
        #[allow(clippy::print_stderr, reason = "whoever runs the tests should know")]
        {
            eprintln!("skipped: there is no compiler `{compiler}`");
        }
    }
    works.then_some(compiler)
}

pub fn include() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("include")
}

pub fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c")
}

/// A place for the tests' files.
pub fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// Where cargo put the shared library: beside the test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    test.parent().expect("a directory").to_owned()
}

/// Checks a source without linking; the error has the compiler's messages.
pub fn check(compiler: &str, standard: &str, source: &Path) -> Result<(), String> {
    let mut command = Command::new(compiler);
    command.arg(format!("-std={standard}")).args(STRICT).arg("-fsyntax-only").arg("-I").arg(include()).arg(source);
    said(&mut command).map(drop)
}

/// Compiles, links with the shared library, and gives the program.
pub fn build(compiler: &str, standard: &str, source: &Path, name: &str) -> PathBuf {
    let program = scratch(name);
    let mut command = Command::new(compiler);
    command.arg(format!("-std={standard}")).args(STRICT).arg("-I").arg(include()).arg(source).arg("-o").arg(&program);
    command.arg("-L").arg(library()).arg("-lctm_capi").arg(format!("-Wl,-rpath,{}", library().display()));
    command.args(["-lpthread", "-lm"]);
    said(&mut command).unwrap_or_else(|e| panic!("{e}"));
    program
}

/// Runs a command; returns its output, or its messages when it failed.
pub fn said(command: &mut Command) -> Result<String, String> {
    let line = format!("{command:?}");
    // Cargo's own search path may name an older build of the library.
    let output = command.env_remove("LD_LIBRARY_PATH").output().map_err(|e| format!("{line}: {e}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(format!("{line} ended with {}\n{}{}", output.status, text(&output.stdout), text(&output.stderr)))
    }
}
