//! The project's own chores: `cargo xtask check` runs in CI, `cargo xtask examples` checks and runs the examples.

use install::Profile;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;
use xtask::{cargo, root, say};

mod dist;
mod everywhere;
mod examples;
mod install;
mod minimum;
mod page;
mod python;
mod tidy;

const USAGE: &str = "usage: cargo xtask check [STAGE] | everywhere [TARGET...] | seeds | examples | example-data | grammars | page | install --prefix DIR | c-examples | python [INTERPRETER...] | book | site DIR | site-checks DIR | packages | dist | tidy

check         formatting, lints, features, minimum Rust version, other processors, tests, documentation, fuzz targets, examples, C programs: what must hold before a change lands; from the named stage on, to go on after a mended failure
everywhere    type-checks the project for other processors and systems whose standard libraries are installed, and runs their tests where there is an emulator: ARM64, WebAssembly, Windows, macOS; or only the named targets
seeds         checks that every fuzz target has seeds that it reads
examples      checks every program of examples/ and runs every job
example-data  writes the input arrays of the examples anew
grammars      writes the syntax of both languages to editors/vscode/syntaxes
page          bundles editors/page, by npm and esbuild, into what `ctm serve` has embedded
install       puts the command with its manual pages and completions, and the C library, below DIR: headers, static and shared library, pkg-config file
c-examples    builds examples/c against an installed library, in every version of C and C++, and runs them
python        builds the Python package, installs it into an environment of its own, and tests it, with python3 or with each interpreter that is named; skipped where there is no Python or no network
book          makes the book of the documentation below target/book, and checks its links; HTML where mdbook is there
site          makes a static site in DIR: the book, where mdbook is there, and the page with its engine as WebAssembly; needs the target wasm32-unknown-unknown and wasm-bindgen
site-checks   makes the engine of the site with run vectors and random programs in DIR, for tests
packages      packs every package of the workspace and builds each from its archive, as publishing would; publishes nothing
dist          what a release consists of, below target/dist: an archive, the packages of the registry, the wheel where Python is there, check sums
tidy          counts crooked words in comments and pages, and type names that many modules define, against budgets that only sink";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["check"] => check(STAGES),
        ["check", from] => stages_from(from).and_then(check),
        ["examples"] => examples::run(),
        [chore @ ("example-data" | "grammars" | "seeds")] => with_libraries(&[chore]),
        ["page"] => page::bundle(&root()),
        ["install", "--prefix", prefix] => install::install(Path::new(prefix), Profile::Release),
        ["c-examples"] => install::c_examples(Profile::Release),
        ["book"] => examples::binary().and_then(|ctm| book(&ctm)),
        ["site", to] => examples::binary().and_then(|ctm| {
            let to = std::path::absolute(to).map_err(|e| format!("{to}: {e}"))?;
            let [ctm, to] = [ctm, to].map(|path| path.display().to_string());
            with_libraries(&["site", &ctm, &to])
        }),
        ["site-checks", to] => {
            let to = std::path::absolute(to).map_err(|e| format!("{to}: {e}")).map(|to| to.display().to_string());
            to.and_then(|to| with_libraries(&["site-checks", &to]))
        }
        ["packages"] => dist::packages(),
        ["dist"] => dist::dist(),
        ["tidy"] => tidy::check(),
        ["everywhere", ref targets @ ..] => everywhere::everywhere(targets),
        ["python", ref interpreters @ ..] => python::check(interpreters),
        _ => {
            say(USAGE);
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            say(&format!("xtask: {message}"));
            ExitCode::FAILURE
        }
    }
}

/// Everything that must hold before a change lands; `.ci/run` calls it.
///
/// `cargo deny` and `cargo audit` are left out: the advisories that they compare with come over the network, and a merge must not depend on it.
fn check(stages: &[(&str, Stage)]) -> Result<(), String> {
    let started = Instant::now();
    let mut times = Vec::new();
    for (name, stage) in stages {
        let begun = Instant::now();
        stage()?;
        times.push(format!("{:5.0} s  {name}", begun.elapsed().as_secs_f64()));
    }
    let all = if stages.len() == STAGES.len() {
        "every stage passed"
    } else {
        "these stages passed; the earlier ones did not run"
    };
    say(&format!("== {all}\n{}\n{:5.0} s  in all", times.join("\n"), started.elapsed().as_secs_f64()));
    Ok(())
}

/// The stages from the named one on.
fn stages_from(name: &str) -> Result<&'static [(&'static str, Stage)], String> {
    let names: Vec<&str> = STAGES.iter().map(|(name, _)| *name).collect();
    let at = names.iter().position(|known| *known == name);
    at.map(|at| &STAGES[at..]).ok_or_else(|| format!("`{name}` is no stage: {}", names.join(", ")))
}

/// A stage of [`check`].
type Stage = fn() -> Result<(), String>;

/// The stages of [`check`], in order.
const STAGES: &[(&str, Stage)] = &[
    ("formatting", || cargo("formatting", &["fmt", "--all", "--check"], &[])),
    ("lints", || cargo("lints", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])),
    ("features", features),
    ("words and names", || {
        say("== words and names");
        tidy::check()
    }),
    ("the minimum Rust version", || {
        say("== the minimum Rust version");
        minimum::check()
    }),
    ("other processors", || {
        say("== other processors");
        everywhere::check()
    }),
    ("tests", || cargo("tests (the README's second command)", &["test", "--workspace"], &[])),
    ("documentation", documentation),
    ("seeds", || with_libraries(&["seeds"])),
    // Their libraries are built by a nightly compiler; without it nothing is linked.
    ("fuzz targets compile", || {
        let fuzz = ["check", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target/fuzz"];
        cargo("fuzz targets compile", &fuzz, &[("CUSTOM_LIBFUZZER_PATH", "target/no-libfuzzer.a")])
    }),
    // From here on commands are those that the tests were built with: other features or another profile would compile most of the tree once more.
    ("the README's first command", || {
        say("== the README's first command, by the command of the tests");
        let mut readme = Command::new(Profile::Dev.binary());
        xtask::run(readme.args(["run", "examples/mandelbrot/job.toml"]).current_dir(root()))
    }),
    ("examples", || {
        say("== examples");
        examples::run_with(&Profile::Dev.binary())
    }),
    ("the C library", || {
        say("== the C library: install it, build and run its C and C++ programs");
        install::c_examples(Profile::Dev)
    }),
    ("the Python package", || {
        say("== the Python package");
        python::check_built()
    }),
    ("the book", || book(&Profile::Dev.binary())),
];

/// A chore of the package `chores`, which uses the project's libraries. They are built as tests have them: the features of one package alone are another selection.
fn with_libraries(arguments: &[&str]) -> Result<(), String> {
    let build = ["build", "--quiet", "--workspace", "--bin", "chores"];
    cargo(arguments.first().copied().unwrap_or_default(), &build, &[])?;
    let chores = Profile::Dev.binary().with_file_name(format!("chores{}", std::env::consts::EXE_SUFFIX));
    xtask::run(Command::new(chores).args(arguments).current_dir(root()))
}

/// The book, by a built command.
fn book(ctm: &Path) -> Result<(), String> {
    let ctm = ctm.to_str().ok_or_else(|| format!("{} is no Unicode path", ctm.display()))?;
    with_libraries(&["book", ctm])
}

/// The documentation of all packages.
fn documentation() -> Result<(), String> {
    cargo("documentation", &["doc", "--workspace", "--no-deps"], &[("RUSTDOCFLAGS", "-D warnings")])
}

/// The library with none of its features and with each alone, and the command with its optional one.
fn features() -> Result<(), String> {
    for feature in ["", "jit", "cranelift", "ps3", "compressed-ktx2", "png", "toml"] {
        let what = if feature.is_empty() { "lints, without features" } else { feature };
        let arguments =
            ["clippy", "--package", "close-to-metal", "--lib", "--no-default-features", "--features", feature];
        cargo(what, &[&arguments[..], &["--", "-D", "warnings"]].concat(), &[])?;
    }
    let disassembler = ["clippy", "--package", "ctm-cli", "--features", "iced-x86", "--", "-D", "warnings"];
    cargo("lints, with the disassembler of machine code", &disassembler, &[])?;
    let tests = ["test", "--package", "close-to-metal", "--no-default-features", "--test", "features"];
    cargo("tests, without features", &tests, &[])
}
