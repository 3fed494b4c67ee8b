//! `cargo xtask install` puts the command and the C library where people and C programs find them; `cargo xtask c-examples` builds and runs `examples/c` against the installed files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use xtask::{cargo, root, run, say};

/// The version in the shared library's name; it changes when programs must be linked again.
const SONAME: &str = "libctm.so.0";

/// Warnings are errors.
const STRICT: &[&str] = &["-Wall", "-Wextra", "-Wpedantic", "-Werror"];
/// Compiler, its variable, the sources it takes, and the versions of its language that the headers are for.
const LANGUAGES: &[(&str, &str, &str, &[&str])] =
    &[("cc", "CC", "c", &["c99", "c11", "c17"]), ("c++", "CXX", "cpp", &["c++98", "c++11", "c++14", "c++17", "c++20"])];

/// A profile of cargo.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Profile {
    /// The profile of tests: after these, hardly anything is left to compile.
    Dev,
    /// The profile of everything that is installed.
    Release,
}

impl Profile {
    /// The folder of its artefacts below `target`.
    fn folder(self) -> &'static str {
        match self {
            Self::Dev => "debug",
            Self::Release => "release",
        }
    }

    /// Whether symbols and lines of the command go to a file of their own. Elsewhere they are removed.
    fn splits(self) -> bool {
        self == Self::Release && cfg!(target_os = "linux") && has("objcopy")
    }

    /// Variables of cargo for it: backtraces of an installed command have lines, where these can lie in a file of their own.
    fn environment(self) -> &'static [(&'static str, &'static str)] {
        if self.splits() {
            &[
                ("CTM_SONAME", SONAME),
                ("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only"),
                ("CARGO_PROFILE_RELEASE_STRIP", "none"),
            ]
        } else {
            &[("CTM_SONAME", SONAME)]
        }
    }

    /// Its command, once that is built.
    pub(crate) fn binary(self) -> PathBuf {
        target().join(self.folder()).join(format!("ctm{}", std::env::consts::EXE_SUFFIX))
    }
}

/// The command to `bin`, its pages and completions to `share`, headers to `include/ctm`, libraries to `lib`, `ctm.pc` to `lib/pkgconfig`.
pub(crate) fn install(prefix: &Path, profile: Profile) -> Result<(), String> {
    install_with(prefix, profile, false)
}

/// The same; `alone`: the command needs no library of the system, where that can be.
pub(crate) fn install_with(prefix: &Path, profile: Profile, alone: bool) -> Result<(), String> {
    fs::create_dir_all(prefix).map_err(|e| told(prefix, &e))?;
    let prefix = prefix.canonicalize().map_err(|e| told(prefix, &e))?;
    build(profile)?;
    let (include, lib) = (prefix.join("include/ctm"), prefix.join("lib"));
    copy_tree(&root().join("crates/ctm-capi/include"), &include)?;
    let built = target().join(profile.folder());
    for (from, to) in libraries() {
        let (from, to) = (built.join(from), lib.join(to));
        copy(&from, &to)?;
        if profile.splits() && to.extension().is_some_and(|end| end == "a") {
            run(Command::new("objcopy").arg("--strip-debug").arg(&to))?;
        }
    }
    link(&lib)?;
    let pc = lib.join("pkgconfig/ctm.pc");
    write(&pc, &pkg_config(&prefix.display().to_string()))?;
    let command = install_command(&prefix, profile, alone)?;
    let bytes = fs::metadata(&command).map_err(|e| told(&command, &e))?.len();
    say(&format!(
        "{} ({bytes} bytes), headers in {}, libraries in {}, {}",
        command.display(),
        include.display(),
        lib.display(),
        pc.display()
    ));
    Ok(())
}

/// Lets `ctm.pc` below a prefix go wherever the prefix goes.
pub(crate) fn make_relocatable(prefix: &Path) -> Result<(), String> {
    write(&prefix.join("lib/pkgconfig/ctm.pc"), &pkg_config("${pcfiledir}/../.."))
}

/// Where shells look for completions of a command, below a prefix.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "share/bash-completion/completions/ctm"),
    ("zsh", "share/zsh/site-functions/_ctm"),
    ("fish", "share/fish/vendor_completions.d/ctm.fish"),
];

/// Installs the command, its manual pages and completions; returns the command's path.
fn install_command(prefix: &Path, profile: Profile, alone: bool) -> Result<PathBuf, String> {
    // Where symbols go to a file of their own, the build has linked the command with them already.
    if profile == Profile::Release && (alone || !profile.splits()) {
        link_command(alone, profile)?;
    }
    let built = profile.binary();
    let command = prefix.join("bin").join(built.file_name().unwrap_or_default());
    copy(&built, &command)?;
    if profile.splits() {
        split(&built, &command)?;
    }
    let pages = prefix.join("share/man/man1");
    fs::create_dir_all(&pages).map_err(|e| told(&pages, &e))?;
    run(Command::new(&command).arg("man").arg(&pages))?;
    for (shell, place) in COMPLETIONS {
        let mut complete = Command::new(&command);
        let output = complete.args(["completions", shell]).output();
        let output = output.map_err(|e| format!("{complete:?} cannot be run: {e}"))?;
        write(&prefix.join(place), &String::from_utf8_lossy(&output.stdout))?;
    }
    Ok(command)
}

/// Links the command that is installed: without the names of private functions, which are in a file beside it or nowhere.
fn link_command(alone: bool, profile: Profile) -> Result<(), String> {
    let strip = if profile.splits() { "strip=none" } else { "strip=symbols" };
    let mut build = vec!["rustc", "--release", "-p", "ctm-cli", "--bin", "ctm", "--", "-C", strip];
    if alone && STATIC {
        // Libraries are compiled alike either way; only the final link differs.
        build.extend(["-C", "target-feature=+crt-static"]);
        cargo("the command, static", &build, profile.environment())
    } else {
        cargo("the command", &build, profile.environment())
    }
}

/// Copies a program without its symbols and lines. They go to the folder `.debug` beside the copy, where debuggers and the backtraces of Rust look for them.
fn split(program: &Path, to: &Path) -> Result<(), String> {
    let name = to.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let place = to.with_file_name(".debug");
    fs::create_dir_all(&place).map_err(|e| told(&place, &e))?;
    let symbols = place.join(format!("{name}.debug"));
    run(Command::new("objcopy").args(["--only-keep-debug", "--compress-debug-sections"]).arg(program).arg(&symbols))?;
    let link = format!("--add-gnu-debuglink={}", symbols.display());
    run(Command::new("objcopy").args(["--strip-all", &link]).arg(program).arg(to))
}

/// Whether a command can be linked on this host that needs no shared library.
const STATIC: bool = cfg!(all(target_os = "linux", target_env = "gnu"));

/// Builds the examples outside the project with the flags of `ctm.pc`, against the shared and the static library, and runs them; once under
/// valgrind, and once recorded and run again.
pub(crate) fn c_examples(profile: Profile) -> Result<(), String> {
    if !LANGUAGES.iter().any(|l| compiler(l).is_some()) {
        say("skipped: there is no C or C++ compiler");
        return Ok(());
    }
    let place = target().join("c-examples");
    // Examples name other examples' files from where they lie.
    let beside = root().join("examples/c");
    let prefix = place.join("prefix");
    install(&prefix, profile)?;
    let prefix = prefix.canonicalize().map_err(|e| told(&prefix, &e))?;
    let shared = pkg_config_flags(&prefix)?;
    let valgrind = has("valgrind");
    if !valgrind {
        say("skipped: programs are not run under valgrind, which is not there");
    }
    for language in LANGUAGES {
        let Some(compiler) = compiler(language) else {
            say(&format!("skipped: there is no compiler `{}`", language.0));
            continue;
        };
        for source in sources(language.2)? {
            let name = source.file_stem().and_then(|n| n.to_str()).unwrap_or("example").to_owned();
            for standard in language.3 {
                let program = place.join(&name);
                let mut compile = Command::new(&compiler);
                compile.arg(format!("-std={standard}")).args(STRICT).arg(&source).arg("-o").arg(&program);
                compile.args(&shared).arg(format!("-Wl,-rpath,{}", prefix.join("lib").display()));
                run(&mut compile)?;
                say(&format!("== {name} ({standard})"));
                example(Command::new(&program).arg("quick").current_dir(&beside))?;
                // One version is enough to show the rest.
                if *standard != language.3[0] {
                    continue;
                }
                if valgrind {
                    say(&format!("== {name}, under valgrind"));
                    let known = root().join("crates/ctm-capi/tests/valgrind.supp");
                    let mut command = Command::new("valgrind");
                    command.args(VALGRIND).arg(format!("--suppressions={}", known.display()));
                    example(command.arg(&program).arg("quick").current_dir(&beside))?;
                }
                say(&format!("== {name}, recorded and run again"));
                let trace = place.join(format!("{name}.trace"));
                if trace.exists() {
                    fs::remove_file(&trace).map_err(|e| told(&trace, &e))?;
                }
                example(Command::new(&program).arg("quick").current_dir(&beside).env("CTM_RECORD", &trace))?;
                if trace.exists() {
                    let ctm = prefix.join(format!("bin/ctm{}", std::env::consts::EXE_SUFFIX));
                    example(Command::new(ctm).arg("replay").arg(&trace).args(["--engine", "verify"]))?;
                } else {
                    say("it opens no device, so there is nothing to run again");
                }
                let program = place.join(format!("{name}-static"));
                let mut compile = Command::new(&compiler);
                compile.arg(format!("-std={standard}")).args(STRICT).arg(&source).arg("-o").arg(&program);
                compile.arg(format!("-I{}", prefix.join("include/ctm").display()));
                compile.arg(prefix.join("lib/libctm.a")).args(PRIVATE);
                run(&mut compile)?;
                say(&format!("== {name} ({standard}, static)"));
                example(Command::new(&program).arg("quick").current_dir(&beside))?;
            }
        }
    }
    Ok(())
}

/// How programs run under valgrind: everything that it finds is an error, and so is leaked memory.
const VALGRIND: &[&str] = &[
    "--quiet",
    "--error-exitcode=99",
    "--leak-check=full",
    "--show-leak-kinds=definite",
    "--errors-for-leak-kinds=definite",
];

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success())
}

/// Flags to compile and link a program: pkg-config's, or their equivalent without it.
fn pkg_config_flags(prefix: &Path) -> Result<Vec<String>, String> {
    let lib = prefix.join("lib");
    if !has("pkg-config") {
        say("skipped: there is no pkg-config; its flags are written out");
        let include = format!("-I{}", prefix.join("include/ctm").display());
        return Ok(vec![include, format!("-L{}", lib.display()), "-lctm".to_owned()]);
    }
    let mut command = Command::new("pkg-config");
    command.args(["--cflags", "--libs", "ctm"]).env("PKG_CONFIG_PATH", lib.join("pkgconfig"));
    let output = command.output().map_err(|e| format!("{command:?} cannot be run: {e}"))?;
    if !output.status.success() {
        return Err(format!("{command:?} ended with {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).split_whitespace().map(str::to_owned).collect())
}

/// Runs a program that must end well; otherwise its output.
fn example(command: &mut Command) -> Result<(), String> {
    // Cargo's own search path may name an older build of the library.
    command.env_remove("LD_LIBRARY_PATH");
    let output = command.output().map_err(|e| format!("{command:?} cannot be run: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Err(format!("{command:?} ended with {}\n{}{}", output.status, said(&output.stdout), said(&output.stderr)))
}

/// Libraries of a program besides the static one.
const PRIVATE: &[&str] = &["-lpthread", "-lm", "-ldl"];

fn told(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Builds everything that is installed by one cargo command: packages that are built one by one select other features of their dependencies, and
/// each selection compiles most of the workspace again. In the profile of tests it is the selection of tests, which have been built already.
pub(crate) fn build(profile: Profile) -> Result<(), String> {
    let mut packages = vec!["build"];
    match profile {
        Profile::Dev => packages.push("--workspace"),
        Profile::Release => {
            packages.extend(["--release", "-p", "ctm-cli", "-p", "ctm-capi"]);
            if cfg!(target_os = "linux") {
                packages.extend(["-p", "ctm-radeon-shim"]);
            }
        }
    }
    cargo("the command and the libraries", &packages, profile.environment())
}

/// Cargo's artefacts, and their installed names.
fn libraries() -> &'static [(&'static str, &'static str)] {
    if cfg!(target_os = "macos") {
        &[("libctm_capi.a", "libctm.a"), ("libctm_capi.dylib", "libctm.dylib")]
    } else if cfg!(target_os = "windows") {
        &[("ctm_capi.lib", "ctm.lib"), ("ctm_capi.dll", "ctm.dll")]
    } else {
        &[
            ("libctm_capi.a", "libctm.a"),
            ("libctm_capi.so", SONAME),
            // The library that `ctm radeon` preloads.
            ("libctm_radeon_shim.so", "libctm_radeon.so"),
        ]
    }
}

/// The name by which linkers look for the shared library.
fn link(lib: &Path) -> Result<(), String> {
    #[cfg(all(unix, not(target_os = "macos")))]
    {
        let name = lib.join("libctm.so");
        if name.symlink_metadata().is_ok() {
            fs::remove_file(&name).map_err(|e| told(&name, &e))?;
        }
        std::os::unix::fs::symlink(SONAME, &name).map_err(|e| told(&name, &e))?;
    }
    let _ = lib;
    Ok(())
}

fn pkg_config(prefix: &str) -> String {
    format!(
        "prefix={}\nlibdir=${{prefix}}/lib\nincludedir=${{prefix}}/include/ctm\n\nName: ctm\nDescription: ATI's Close To the Metal device in software\n\
         Version: {}\nLibs: -L${{libdir}} -lctm\nLibs.private: {}\nCflags: -I${{includedir}}\n",
        prefix,
        env!("CARGO_PKG_VERSION"),
        PRIVATE.join(" ")
    )
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(|e| told(directory, &e))?;
    }
    fs::write(path, text).map_err(|e| told(path, &e))
}

pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    if let Some(directory) = to.parent() {
        fs::create_dir_all(directory).map_err(|e| told(directory, &e))?;
    }
    fs::copy(from, to).map(drop).map_err(|e| format!("{} to {}", told(from, &e), to.display()))
}

pub(crate) fn copy_tree(from: &Path, to: &Path) -> Result<(), String> {
    for entry in fs::read_dir(from).map_err(|e| told(from, &e))? {
        let path = entry.map_err(|e| told(from, &e))?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() { copy_tree(&path, &to.join(name))? } else { copy(&path, &to.join(name))? }
    }
    Ok(())
}

fn compiler((name, variable, ..): &(&str, &str, &str, &[&str])) -> Option<String> {
    let compiler = std::env::var(variable).unwrap_or_else(|_| (*name).to_owned());
    let works = Command::new(&compiler).arg("--version").output().is_ok_and(|o| o.status.success());
    works.then_some(compiler)
}

fn sources(end: &str) -> Result<Vec<PathBuf>, String> {
    let directory = root().join("examples/c");
    let entries = fs::read_dir(&directory).map_err(|e| told(&directory, &e))?;
    let mut all: Vec<PathBuf> =
        entries.filter_map(|e| e.ok().map(|e| e.path())).filter(|p| p.extension().is_some_and(|e| e == end)).collect();
    all.sort();
    Ok(all)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// This test's own program, without its symbols, still runs; they lie beside it.
    #[test]
    fn a_split_program_runs_and_names_its_symbols() {
        if !Profile::Release.splits() {
            say("skipped: there is no objcopy");
            return;
        }
        let place = std::env::temp_dir().join(format!("ctm-split-{}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        let (program, copy) = (std::env::current_exe().unwrap(), place.join("program"));
        split(&program, &copy).unwrap();
        let bytes = |path: &Path| fs::metadata(path).unwrap().len();
        assert!(bytes(&copy) < bytes(&program));
        let stripped = fs::read(&copy).unwrap();
        assert!(stripped.windows(13).any(|name| name == b"program.debug"), "the copy names the file");
        let listed = Command::new(&copy).arg("--list").output().unwrap();
        assert!(String::from_utf8_lossy(&listed.stdout).contains("a_split_program_runs_and_names_its_symbols"));
        let symbols = fs::read(place.join(".debug/program.debug")).unwrap();
        assert!(symbols.starts_with(b"\x7fELF") && symbols.len() > 1000);
        fs::remove_dir_all(&place).unwrap();
    }
}
