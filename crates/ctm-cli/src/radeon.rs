//! `ctm radeon`: a program with the preloaded library and the environment that leads drivers to it.

use crate::args::streams::RadeonArgs;
use crate::console::{Console, Ending, Failure};
use ctm_radeon::environment::Settings;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library's name where it is installed, and as cargo builds it.
const NAMES: [&str; 2] = ["libctm_radeon.so", "libctm_radeon_shim.so"];
/// Where it is looked for, from the directory of this program.
const PLACES: [&str; 3] = [".", "../lib", "../lib/ctm"];

#[cfg(target_os = "linux")]
mod window;

pub(crate) fn run(console: &Console, args: &RadeonArgs) -> Ending {
    let command = command(args)?;
    if args.show { show(console, command) } else { Err(become_program(command)) }
}

/// Runs the program beside a window with the display's pictures. The exit code is the program's.
#[cfg(target_os = "linux")]
fn show(console: &Console, command: Command) -> Ending {
    let code = window::run(console, command)?;
    console.tell_written();
    std::process::exit(code)
}

#[cfg(not(target_os = "linux"))]
fn show(_: &Console, command: Command) -> Ending {
    Err(become_program(command))
}

/// Replaces this process by the program; returns why it could not be started.
#[cfg(unix)]
fn become_program(mut command: Command) -> Failure {
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    let program = command.get_program().display();
    Failure::wrong("cannot-start", format!("{program} cannot be started: {error}"))
}

#[cfg(not(unix))]
fn become_program(_: Command) -> Failure {
    Failure::wrong("needs-linux", ELSEWHERE)
}

/// The way to Linux from another system: the drivers, the render node and preloading exist there only.
const ELSEWHERE: &str = if cfg!(windows) {
    "this command needs Linux, where Mesa has its Radeon drivers: run it in WSL2 (docs/start/console.md shows how)"
} else {
    "this command needs Linux, where Mesa has its Radeon drivers: run it in a container (docs/start/console.md shows how)"
};

/// The program with its environment.
pub(crate) fn command(args: &RadeonArgs) -> Result<Command, Failure> {
    if !cfg!(target_os = "linux") {
        return Err(Failure::wrong("needs-linux", ELSEWHERE));
    }
    let library = library(args.library.as_deref())?;
    // The program may run elsewhere.
    let directory = |flag: &str, given: Option<&Path>| {
        let wrong = |e| Failure::usage("bad-flag", format!("{flag} names no directory: {e}"));
        given.map(std::path::absolute).transpose().map_err(wrong)
    };
    let settings = Settings {
        capture: directory("--capture", args.capture.as_deref())?,
        frames: directory("--frames", args.frames.as_deref())?,
        show: None,
        check: args.check,
        stats: args.stats,
        execute: !args.no_execute,
        engine: args.engine.map(|engine| engine.to_string()),
        chip: args.chip,
    };
    let mut words = args.program.iter();
    let program = words.next().ok_or_else(|| Failure::usage("no-program", "a program is wanted behind `--`"))?;
    let mut command = Command::new(program);
    command.args(words).envs(settings.variables());
    let mut preload = OsString::from(library);
    if let Some(others) = env::var_os("LD_PRELOAD").filter(|others| !others.is_empty()) {
        preload.push(":");
        preload.push(others);
    }
    command.env("LD_PRELOAD", preload);
    // The user's settings stay; a display server's presence is an answer too.
    let display = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some());
    if !display {
        default(&mut command, "EGL_PLATFORM", "surfaceless");
    }
    default(&mut command, "PIGLIT_PLATFORM", "surfaceless_egl");
    default(&mut command, "WAFFLE_GBM_DEVICE", "/dev/dri/renderD128");
    // These would choose another driver.
    for name in ["LIBGL_ALWAYS_SOFTWARE", "GALLIUM_DRIVER", "MESA_LOADER_DRIVER_OVERRIDE"] {
        command.env_remove(name);
    }
    Ok(command)
}

fn default(command: &mut Command, name: &str, value: &str) {
    if env::var_os(name).is_none() {
        command.env(name, value);
    }
}

/// The command that makes the library beside a program in this directory: cargo names the directory after the profile.
fn build_command(directory: &Path) -> &'static str {
    if directory.ends_with("debug") {
        "cargo build -p ctm-radeon-shim"
    } else {
        "cargo build --release -p ctm-radeon-shim"
    }
}

/// Where the library is.
fn library(given: Option<&Path>) -> Result<PathBuf, Failure> {
    if let Some(given) = given {
        return std::path::absolute(given)
            .ok()
            .filter(|path| path.is_file())
            .ok_or_else(|| Failure::wrong("no-library", format!("--library {} is no file", given.display())));
    }
    let program = env::current_exe().and_then(std::fs::canonicalize).unwrap_or_default();
    let directory = program.parent().unwrap_or(Path::new("."));
    let places = PLACES.iter().flat_map(|place| NAMES.map(|name| directory.join(place).join(name)));
    places.clone().find(|path| path.is_file()).ok_or_else(|| {
        let looked = PLACES.map(|place| directory.join(place).display().to_string()).join(", ");
        let [installed, built] = NAMES;
        let build = build_command(directory);
        let message = format!(
            "neither {installed} nor {built} is in {looked}; in a clone of the project, `{build}` makes {built}; --library says where it is"
        );
        Failure::wrong("no-library", message)
    })
}
