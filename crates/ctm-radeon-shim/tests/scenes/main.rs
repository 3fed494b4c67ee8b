//! Scenes of OpenGL 3.3 (`scenes.c`), drawn through Mesa's r600 driver on this machine's Radeon and by llvmpipe: nearly all pixels must be nearly the same.
//!
//! And contexts, many of them (`contexts.c`).
//!
//! Skipped with a message where there is no C compiler, no EGL or no such driver. `CTM_SCENES=FOLDER` keeps the pictures there; `CTM_SCENES_ONLY=NAME,NAME`
//! draws some of the scenes.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How far channels may be apart, of 255.
const STEP: u8 = 1;
/// Pixels that may be further apart, of a million.
const OTHERS: usize = 1000;

/// Scenes that may differ by more: steps, pixels of a million, and why.
const LOOSE: [(&str, u8, usize, &str); 14] = [
    ("alpha_to_coverage", 1, 3000, "columns where alpha changes are decided by the last bit of an interpolated number"),
    ("blits", 4, 3000, "both filter the copy that is made smaller by own rules, and its edge"),
    ("integers", 1, 6000, "a column where a coordinate becomes the next integer by its last bit"),
    ("mip_bias", 8, 1000, "llvmpipe's levels of detail are approximations"),
    ("mip_linear", 8, 1000, "llvmpipe's levels of detail are approximations"),
    ("mip_nearest", 2, 1000, "llvmpipe's levels of detail are approximations"),
    ("multisample_4", 1, 8000, "samples lie where the chip has them"),
    ("multisample_depth", 1, 15_000, "samples lie where the chip has them"),
    ("primitives", 2, 1000, "colours along lines"),
    ("target_float", 8, 15_000, "halves are rounded to the nearest, llvmpipe cuts them off"),
    ("target_integer", 1, 80_000, "columns where a number becomes the next integer by its last bit"),
    ("target_small", 16, 1000, "fields of 5 and 6 bits are rounded to the nearest, once"),
    ("target_srgb", 2, 1000, "llvmpipe's curve is an approximation"),
    ("texture_functions", 4, 1000, "llvmpipe's levels of detail are approximations"),
];

/// The library, which cargo builds beside this program.
fn library() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let found = here.ancestors().skip(1).map(|d| d.join("libctm_radeon_shim.so")).find(|p| p.is_file());
    found.expect("libctm_radeon_shim.so is built with the tests")
}

/// A program of this folder, or the reason why it cannot be built.
fn program(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/scenes/{name}.c"));
    let program = folder.join(name);
    let built =
        Command::new("cc").arg("-O1").arg(source).args(["-lEGL", "-lOpenGL", "-lm", "-o"]).arg(&program).output();
    match built {
        Ok(output) if output.status.success() => Ok(program),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("no message").to_owned()),
        Err(error) => Err(format!("no C compiler: {error}")),
    }
}

/// Draws the scenes into a folder; an error is why nothing was drawn.
fn drawn(program: &Path, folder: &Path, variables: &[(&str, &str)]) -> Result<BTreeMap<String, Vec<u8>>, String> {
    std::fs::create_dir_all(folder).unwrap();
    let mut command = Command::new(program);
    command.arg(folder);
    if let Ok(only) = std::env::var("CTM_SCENES_ONLY") {
        command.args(only.split(','));
    }
    for variable in ctm_radeon::environment::VARIABLES {
        command.env_remove(variable.name);
    }
    let output = command.envs(variables.iter().copied()).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
    }
    let pictures = std::fs::read_dir(folder).unwrap().flatten().filter_map(|entry| {
        let name = entry.file_name().to_string_lossy().strip_suffix(".rgba")?.to_owned();
        Some((name, std::fs::read(entry.path()).unwrap()))
    });
    Ok(pictures.collect())
}

#[test]
fn scenes_look_as_llvmpipe_draws_them() {
    let own = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("scenes");
    let folder = std::env::var_os("CTM_SCENES").map_or(own, PathBuf::from);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let program = match program(&folder, "scenes") {
        Ok(program) => program,
        Err(why) => return println!("skipped: the scenes are not built: {why}"),
    };
    let expected = match drawn(&program, &folder.join("llvmpipe"), &[("LIBGL_ALWAYS_SOFTWARE", "1")]) {
        Ok(pictures) => pictures,
        Err(why) => return println!("skipped: llvmpipe draws nothing: {why}"),
    };
    let library = library();
    let ours = [("LD_PRELOAD", library.to_str().unwrap()), ("MESA_SHADER_CACHE_DISABLE", "true")];
    if !has_driver(&program, &ours) {
        return println!("skipped: there is no r600 driver (Debian: libgl1-mesa-dri)");
    }
    let found = drawn(&program, &folder.join("radeon"), &ours).unwrap();
    let mut bad = Vec::new();
    for (name, expected) in &expected {
        let Some(found) = found.get(name) else {
            bad.push(format!("{name}: not drawn"));
            continue;
        };
        assert_eq!(found.len(), expected.len(), "{name}");
        let pixels = found.len() / 4;
        let (step, allowed) =
            LOOSE.iter().find(|loose| loose.0 == name).map_or((STEP, OTHERS), |loose| (loose.1, loose.2));
        let far = |(a, b): (&[u8], &[u8])| a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > step);
        let differ = found.chunks(4).zip(expected.chunks(4)).filter(|&pair| far(pair)).count();
        if differ * 1_000_000 > allowed * pixels {
            bad.push(format!("{name}: {differ} of {pixels} pixels differ by more than {step}"));
        }
    }
    assert!(bad.is_empty(), "{} of {} scenes:\n{}", bad.len(), expected.len(), bad.join("\n"));
}

/// A thousand contexts in sequence in one process leave no files open and draw the same as the first one.
#[test]
fn a_thousand_contexts_are_opened_and_closed() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("contexts");
    std::fs::create_dir_all(&folder).unwrap();
    let program = match program(&folder, "contexts") {
        Ok(program) => program,
        Err(why) => return println!("skipped: the program is not built: {why}"),
    };
    let of = |count: &str| {
        let mut command = Command::new(&program);
        command.arg(count).env("LD_PRELOAD", library()).env("MESA_SHADER_CACHE_DISABLE", "true");
        command.env("EGL_LOG_LEVEL", "fatal").output().unwrap()
    };
    if !of("1").status.success() {
        return println!("skipped: there is no r600 driver (Debian: libgl1-mesa-dri)");
    }
    let output = of("1000");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Whether the driver starts on this machine's Radeon.
fn has_driver(program: &Path, variables: &[(&str, &str)]) -> bool {
    let folder = program.with_file_name("probe");
    std::fs::create_dir_all(&folder).unwrap();
    let mut command = Command::new(program);
    command.arg(folder).arg("smooth").envs(variables.iter().copied()).env("EGL_LOG_LEVEL", "fatal");
    command.output().is_ok_and(|output| output.status.success())
}
