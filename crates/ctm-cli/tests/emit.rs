//! `ctm emit`, and `CTM_DUMP` of a run.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::dir;

use dir::Dir;

/// A file of the repository.
fn file(path: &str) -> String {
    format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn stages_of_both_instruction_sets() {
    let d = Dir::new("emit");
    let mandelbrot = file("examples/mandelbrot/mandelbrot.x1k");
    let masks = d.good(&["emit", &mandelbrot, "--stage", "masks"]);
    assert!(masks.starts_with("code\n") && masks.contains("block b0 loops=0"), "{masks}");
    assert!(masks.contains("  active = copy existing"), "{masks}");
    for target in ["avx512", "avx2"] {
        let selected = d.good(&["emit", &mandelbrot, "--stage", "selected", "--target", target]);
        assert!(selected.starts_with("selected\n") && selected.contains(" = fma "), "{selected}");
        let allocated = d.good(&["emit", &mandelbrot, "--stage", "allocated", "--target", target]);
        assert!(
            allocated.starts_with(&format!("allocated {target} lanes=")) && allocated.contains("@r"),
            "{allocated}"
        );
        let code = d.good(&["emit", &mandelbrot, "--stage", "code", "--target", target]);
        assert!(code.trim_start().starts_with("0  "), "{code}");
    }
    let shader = file("examples/r700/black-scholes/black-scholes.psh");
    let lowered = d.good(&["emit", &shader, "--stage", "lowered"]);
    assert!(lowered.contains("f0 = texture SAMPLE 0x") && lowered.contains("= alu "), "{lowered}");
    d.good(&["emit", &shader, "--stage", "liveness", "--target", "portable", "-o", "out.ir"]);
    assert!(d.0.join("out.ir").exists());
    d.bad(&["emit", &shader, "--stage", "selected", "--target", "portable"], 1, &["`portable` has no `selected`"]);
    d.bad(&["emit", &shader, "--stage", "colours"], 2, &["lowered", "masks", "allocated", "code"]);
}

#[test]
fn dumps_of_a_run() {
    let d = Dir::new("emit-dump");
    let mandelbrot = file("examples/mandelbrot/mandelbrot.x1k");
    let run = |dump: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_ctm"));
        let view = "view=-2.25,-1.5,0.05,0";
        let arguments = ["run", &mandelbrot, "--size", "64x64", "--const", view, "--out", "colour=out.png"];
        let output = command.args(arguments).current_dir(&d.0).env("CTM_DUMP", dump).output().expect("it runs");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (good, dumps) = run("lower,masks");
    assert!(good && dumps.contains("; program 1, after `lower`\ncode\n"), "{dumps}");
    assert!(dumps.contains("; program 1, after `masks`\ncode\n") && !dumps.contains("after `liveness`"), "{dumps}");
    let (good, error) = run("masks,colours");
    let message = "CTM_DUMP: `colours` is no stage of the compiler; allowed: `lower`, `masks`,";
    assert!(!good && error.matches(message).count() == 1, "{error}");
}
