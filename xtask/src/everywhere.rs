//! Other processors and systems: their code is type-checked where their standard libraries are installed, and their tests run where this machine has a linker and an emulator for them.

use super::install::target as artefacts;
use super::with_libraries;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;
use xtask::{cargo, say};

/// The checked packages of a system.
#[derive(Clone, Copy)]
enum Scope {
    /// Every package but these, with tests.
    Workspace { without: &'static [&'static str] },
    /// The library packages of the registry, without packages that open files and sockets.
    Libraries,
}

/// How tests of a system run here.
enum Tests {
    /// Nothing on Linux runs its programs.
    No,
    /// Those of the workspace.
    Emulated(Emulated),
    /// Run vectors and random programs, by the engine of the site.
    InNode,
}

/// Tests by a program that runs those of another system.
struct Emulated {
    /// The linker, a program of this machine.
    linker: &'static str,
    /// Programs that run a test of that system, with their arguments: the first that this machine has.
    runners: &'static [&'static [&'static str]],
    /// Arguments with which a runner succeeds if it can run programs of Rust, and the requirement that it lacks otherwise.
    probe: (&'static [&'static str], &'static str),
    /// Whether a test can start its own program there.
    starts_itself: bool,
    /// Packages whose tests do not run, and why.
    without: &'static [(&'static str, &'static str)],
    /// Tests that do not run, by a part of their names, and why.
    skipped: &'static [(&'static str, &'static str)],
}

/// A target of Rust.
struct System {
    target: &'static str,
    scope: Scope,
    /// Whether CI checks it too.
    in_ci: bool,
    tests: Tests,
}

/// The preloaded library: a render node is a device of Linux.
const LINUX_ONLY: &[&str] = &["ctm-radeon-shim"];

/// Why tests that trace every job do not run in an emulator.
const TRACED: &str = "it traces every job on the reference interpreter, which takes minutes, and knows no processor";

const SYSTEMS: &[System] = &[
    System {
        target: "aarch64-unknown-linux-gnu",
        scope: Scope::Workspace { without: &[] },
        in_ci: true,
        tests: Tests::Emulated(Emulated {
            linker: "aarch64-linux-gnu-gcc",
            runners: &[&["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]],
            probe: (&["--version"], "a version"),
            starts_itself: false,
            without: &[
                ("ctm-radeon-shim", "its tests preload the library into programs of this machine"),
                ("ctm-cli", "its tests start the command themselves, which runs only by the emulator"),
                ("ctm-capi", "its tests run a C compiler's programs"),
                ("ctm-verify", "its solver is a program of this machine"),
                ("xtask", "chores of a developer's machine"),
                ("chores", "chores of a developer's machine"),
            ],
            skipped: &[
                ("each_pass_may_be_left_out", "it runs the longest tests once for each pass, which takes hours"),
                ("take_time_in_proportion", "they measure, which an emulator does not show"),
                ("largest_targets_need_64_megabytes", "it measures memory, of which an emulator needs its own"),
                ("live_ranges_hold_every_read_of_a_run", TRACED),
                ("results_are_what_the_reference_functions_make_of_the_operands", TRACED),
                ("steps_back_give_the_same_states", TRACED),
                ("the_last_values_are_the_outputs_of_the_run", TRACED),
                ("trees_compute_their_values", TRACED),
                (
                    "rare_cases_occur",
                    "it counts what the generator of random programs makes, on any processor the same",
                ),
            ],
        }),
    },
    System { target: "wasm32-unknown-unknown", scope: Scope::Libraries, in_ci: true, tests: Tests::InNode },
    System {
        target: "x86_64-pc-windows-gnu",
        scope: Scope::Workspace { without: LINUX_ONLY },
        in_ci: false,
        tests: Tests::Emulated(Emulated {
            linker: "x86_64-w64-mingw32-gcc",
            runners: &[&["wine64"], &["/usr/lib/wine/wine64"], &["wine"]],
            probe: (
                &["cmd", "/c", "if exist C:\\windows\\system32\\bcryptprimitives.dll (exit 0) else (exit 1)"],
                "bcryptprimitives.dll, which Wine 9 has and Wine 8 has not: Rust takes random numbers from it",
            ),
            starts_itself: true,
            without: &[
                ("ctm-capi", "its tests run a C compiler's programs"),
                ("ctm-verify", "its solver is a program of this machine"),
                ("xtask", "chores of a developer's machine"),
                ("chores", "chores of a developer's machine"),
            ],
            skipped: &[("the_default_features_bring_few_crates", "it runs cargo, a program of this machine")],
        }),
    },
    System {
        target: "aarch64-apple-darwin",
        scope: Scope::Workspace { without: LINUX_ONLY },
        in_ci: false,
        tests: Tests::No,
    },
    System {
        target: "x86_64-apple-darwin",
        scope: Scope::Workspace { without: LINUX_ONLY },
        in_ci: false,
        tests: Tests::No,
    },
];

/// Packages that need a system: a C library, Python, sockets, processes, or its random numbers.
const NEED_A_SYSTEM: [&str; 7] =
    ["chores", "close-to-metal-python", "ctm-capi", "ctm-cli", "ctm-glsl", "ctm-radeon-shim", "xtask"];

/// Type-checks the systems of CI.
pub(crate) fn check() -> Result<(), String> {
    SYSTEMS.iter().filter(|system| system.in_ci).try_for_each(System::check)
}

/// Type-checks every system, or the named ones, and runs their tests where that is possible here.
pub(crate) fn everywhere(named: &[&str]) -> Result<(), String> {
    if let Some(unknown) = named.iter().find(|name| SYSTEMS.iter().all(|system| system.target != **name)) {
        let known: Vec<&str> = SYSTEMS.iter().map(|system| system.target).collect();
        return Err(format!("`{unknown}` is none of the systems: {}", known.join(", ")));
    }
    let (mut report, mut failures) = (Vec::new(), Vec::new());
    for system in SYSTEMS.iter().filter(|system| named.is_empty() || named.contains(&system.target)) {
        let begun = Instant::now();
        let result = system.check().and_then(|()| system.test());
        let ended = if result.is_ok() { "" } else { ": failed" };
        report.push(format!("{:5.0} s  {}{ended}", begun.elapsed().as_secs_f64(), system.target));
        failures.extend(result.err());
    }
    say(&format!("== systems\n{}", report.join("\n")));
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

impl System {
    /// Type-checks it with warnings as errors. Without its standard library it is skipped, and that is said.
    fn check(&self) -> Result<(), String> {
        let target = self.target;
        if !self.is_installed() {
            say(&format!("skipped: {target}: no standard library is installed (rustup target add {target})"));
            return Ok(());
        }
        let packages: Vec<String> = match self.scope {
            Scope::Workspace { without } => {
                let excluded = without.iter().flat_map(|name| ["--exclude".to_owned(), (*name).to_owned()]);
                ["--workspace".to_owned(), "--all-targets".to_owned()].into_iter().chain(excluded).collect()
            }
            Scope::Libraries => libraries()?.into_iter().flat_map(|name| ["--package".to_owned(), name]).collect(),
        };
        let arguments: Vec<&str> =
            ["check", "--target", target].into_iter().chain(packages.iter().map(String::as_str)).collect();
        cargo(target, &arguments, &[("RUSTFLAGS", "-D warnings")])
    }

    /// Runs its tests, or prints the programs that are missing for them.
    fn test(&self) -> Result<(), String> {
        match &self.tests {
            Tests::Emulated(tests) => self.emulate(tests),
            Tests::InNode => self.test_in_node(),
            Tests::No => {
                say(&format!("skipped: {}: nothing on Linux runs its programs; it is only type-checked", self.target));
                Ok(())
            }
        }
    }

    /// Compares the results of the site's engine with those of this machine.
    fn test_in_node(&self) -> Result<(), String> {
        let target = self.target;
        if let Some(missing) = ["node", "wasm-bindgen"].into_iter().find(|program| !has(program)) {
            say(&format!("skipped: {target}: its run vectors and random programs need {missing}"));
            return Ok(());
        }
        if !self.is_installed() {
            return Ok(());
        }
        let folder = artefacts().join("site-checks").display().to_string();
        with_libraries(&["site-checks", &folder])?;
        let tests = ["test", "--package", "ctm-web"];
        cargo(&format!("{target}: tests in node"), &tests, &[("CTM_SITE_CHECKS", &folder)])
    }

    /// Runs its tests in an emulator.
    fn emulate(&self, tests: &Emulated) -> Result<(), String> {
        let target = self.target;
        let runner = tests.runners.iter().find(|runner| has(runner[0]));
        let Some(runner) = runner.filter(|_| self.is_installed() && has(tests.linker)) else {
            let programs: Vec<&str> = tests.runners.iter().map(|runner| runner[0]).collect();
            let missing = format!("its tests need {} and one of {}", tests.linker, programs.join(", "));
            say(&format!("skipped: {target}: {missing}"));
            return Ok(());
        };
        let (probe, has_to_have) = tests.probe;
        let probed = Command::new(runner[0]).args(probe).env("WINEDEBUG", "-all").output();
        if !probed.is_ok_and(|output| output.status.success()) {
            say(&format!("skipped: {target}: {} has to have {has_to_have}", runner[0]));
            return Ok(());
        }
        for (package, reason) in tests.without {
            say(&format!("skipped: {target}: tests of {package}: {reason}"));
        }
        for (test, reason) in tests.skipped {
            say(&format!("skipped: {target}: tests with `{test}` in their names: {reason}"));
        }
        let Scope::Workspace { without } = self.scope else { return Ok(()) };
        let excluded = without.iter().copied().chain(tests.without.iter().map(|(package, _)| *package));
        let excluded: Vec<&str> = excluded.flat_map(|package| ["--exclude", package]).collect();
        let skipped: Vec<&str> = tests.skipped.iter().flat_map(|(test, _)| ["--skip", test]).collect();
        let arguments =
            [&["test", "--workspace", "--no-fail-fast", "--target", target], &excluded[..], &["--"], &skipped[..]]
                .concat();
        let variable = |name: &str| format!("CARGO_TARGET_{}_{name}", target.to_uppercase().replace('-', "_"));
        let (linker, runs) = (variable("LINKER"), variable("RUNNER"));
        let runner = runner.join(" ");
        let again = if tests.starts_itself { "" } else { runner.as_str() };
        let environment = [
            (linker.as_str(), tests.linker),
            (runs.as_str(), runner.as_str()),
            // Tests that start themselves again: see `ctm_testkit::again`.
            ("CTM_TEST_RUNNER", again),
            ("WINEDEBUG", "-all"),
        ];
        cargo(&format!("{target}: tests"), &arguments, &environment)
    }

    /// Whether the compiler finds its standard library.
    fn is_installed(&self) -> bool {
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
        let asked = Command::new(rustc).args(["--print", "target-libdir", "--target", self.target]).output();
        let Ok(output) = asked else { return false };
        let directory = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        let files = std::fs::read_dir(directory).into_iter().flatten().flatten();
        output.status.success()
            && files.map(|file| file.file_name()).any(|name| name.to_string_lossy().starts_with("libcore-"))
    }
}

/// Whether this machine has a program.
fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// The packages of the workspace that need no system.
fn libraries() -> Result<Vec<String>, String> {
    let packages = xtask::packages()?;
    let names = packages.iter().filter_map(|package| package["name"].as_str());
    Ok(names.filter(|name| !NEED_A_SYSTEM.contains(name)).map(str::to_owned).collect())
}
