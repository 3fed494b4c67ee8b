//! `ctm pm4`, and `ctm replay` of captures.

#![allow(clippy::unwrap_used, reason = "a test")]

use crate::dir;

use dir::Dir;
use std::path::Path;

fn capture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ctm-radeon/tests/captures").join(name);
    path.to_str().unwrap().to_owned()
}

#[test]
fn streams_become_text_and_words_again() {
    let d = Dir::new("pm4");
    let shown = d.good(&["pm4", "dis", &capture("plasma.capture"), "--submission", "1"]);
    assert!(shown.contains("VGT_PRIMITIVE_TYPE = {PRIM_TYPE: TRISTRIP}"), "{shown}");
    assert!(shown.contains("; draw 1") && shown.contains("; buffer "), "{shown}");
    std::fs::write(d.0.join("a.pm4"), &shown).unwrap();
    d.good(&["pm4", "asm", "a.pm4", "-o", "a.ib"]);
    d.good(&["pm4", "dis", "a.ib", "-o", "b.pm4"]);
    d.good(&["pm4", "asm", "b.pm4", "-o", "b.ib"]);
    assert_eq!(std::fs::read(d.0.join("a.ib")).unwrap(), std::fs::read(d.0.join("b.ib")).unwrap());
    assert_eq!(d.good(&["pm4", "check", "a.pm4"]), "");
    assert!(d.good(&["pm4", "check", "--rules"]).contains("missing-relocation"));
    std::fs::write(d.0.join("bad.pm4"), "NUM_INSTANCES count=1\nDRAW_INDEX_AUTO count=3\n").unwrap();
    let (code, _, stderr) = d.ctm(&["pm4", "check", "bad.pm4"]);
    assert!(code == 1 && stderr.contains("dword 2, draw 1: DRAW_INDEX_AUTO has 1 words, allowed is 2"), "{stderr}");
    std::fs::write(d.0.join("worse.pm4"), "NUM_INSTANCE count=1\n").unwrap();
    let (code, _, stderr) = d.ctm(&["pm4", "asm", "worse.pm4"]);
    assert!(code == 1 && stderr.contains("is `NUM_INSTANCES` meant?"), "{stderr}");
}

#[test]
fn captures_are_checked_and_drawn() {
    let d = Dir::new("captures");
    let mrt = capture("mrt2.capture");
    assert_eq!(d.good(&["pm4", "check", &mrt]), "");
    let listed = d.good(&["replay", &mrt, "--list"]);
    assert!(listed.contains("draw 2 (dword ") && listed.contains("TriangleStrip, 4 vertices"), "{listed}");
    assert!(listed.ends_with("4 submissions, 4 draws, 0 problems\n"), "{listed}");
    let json = d.good(&["replay", &mrt, "--draw", "2", "-o", "at2", "--json", "--list"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["draws"], &json["list"][1]["pixels"]), (&2.into(), &4096.into()));
    for file in ["colour0.npy", "colour0.png", "colour1.npy"] {
        assert!(d.0.join("at2").join(file).exists(), "{file}");
    }
    // Where primitives and pixels end: two triangles cover the whole picture.
    let json = d.good(&["replay", &mrt, "--draw", "2", "--funnel", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let funnel = &json["funnels"][0];
    assert_eq!((&funnel["draw"], &funnel["primitives"], &funnel["covered"]), (&2.into(), &2.into(), &4096.into()));
    let killed = d.good(&["replay", &capture("discard.capture"), "--funnel"]);
    assert!(killed.contains("killed by the program (DB_SHADER_CONTROL = 0x"), "{killed}");
    let (code, _, stderr) = d.ctm(&["replay", &mrt, "--draw", "9"]);
    assert!(code == 1 && stderr.contains("has 4 draws, 9 is asked for"), "{stderr}");
    // Cut in the middle: earlier draws are drawn.
    let bytes = std::fs::read(&mrt).unwrap();
    std::fs::write(d.0.join("cut.capture"), &bytes[..bytes.len() * 2 / 3]).unwrap();
    let (code, stdout, stderr) = d.ctm(&["replay", "cut.capture"]);
    assert!(code == 1 && stdout.contains("submissions") && stderr.contains("cut.capture"), "{stdout}{stderr}");
}

/// The example of a stream without a kernel, by the command line: memory of every kind in, every kind of result out.
#[test]
fn a_stream_without_a_kernel_runs_on_a_memory_image() {
    let d = Dir::new("bare-metal");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/bare-metal");
    for file in ["triangle.pm4", "vertex.vsh", "pixel.psh", "vertices.hex"] {
        std::fs::copy(example.join(file), d.0.join(file)).unwrap();
    }
    let memory = [
        "--mem",
        "0x100000=vertex.vsh",
        "--mem",
        "0x101000:256=pixel.psh",
        "--mem",
        "0x102000=vertices.hex",
        "--mem",
        "0x200000:16384",
        "--mem",
        "0x300000:4096",
    ];
    let with = |more: &[&'static str]| -> Vec<&str> {
        let mut all = vec!["pm4", "run", "triangle.pm4"];
        all.extend(memory.iter().chain(more));
        all
    };
    let told = d.good(&with(&["--dump", "0x300000:16"]));
    assert!(told.starts_with("0x00300000: 600df00d 00000000 00000000 00000000\n"), "{told}");
    assert!(told.contains(" words, 1 draws, ") && told.ends_with(" pixels, 0 problems\n"), "{told}");
    let files = [
        "--dump",
        "0x200000:64x64:rgba8=a.png",
        "--dump",
        "0x200000:16384=a.raw",
        "--dump",
        "0x200000:64x64:rgba8=a.npy",
        "--dump",
        "0x200000:60x2/64:u32=b.npy",
        "--dump",
        "0x300000:4=fence.hex",
        "-o",
        "targets",
        "--engine",
        "interp",
    ];
    let (code, _, stderr) = d.ctm(&with(&files));
    assert_eq!(code, 0, "{stderr}");
    let raw = d.read("a.raw");
    // The first row begins red, the middle of the last row that is drawn is blue.
    assert!(raw[4] > 240 && raw[4 * (64 * 62 + 31) + 2] > 240, "{:?}", &raw[..8]);
    assert!(d.read("a.png").starts_with(b"\x89PNG") && d.read("a.npy").ends_with(&raw));
    assert!(d.read("b.npy").ends_with(&raw[256..256 + 240]));
    assert_eq!(String::from_utf8(d.read("fence.hex")).unwrap().trim(), "600DF00D");
    assert!(d.0.join("targets/colour0.png").is_file());
    // The same stream as words of either order, and as hexadecimal text.
    d.good(&["pm4", "asm", "triangle.pm4", "-o", "little.ib"]);
    let little = d.read("little.ib");
    let big: Vec<u8> = little.chunks_exact(4).flat_map(|word| word.iter().rev().copied()).collect();
    let digits: String = big
        .chunks_exact(4)
        .map(|word| format!("{:02x}{:02x}{:02x}{:02x}\n", word[0], word[1], word[2], word[3]))
        .collect();
    d.file("big.ib", &big).file("text.hex", &digits);
    let shown = d.good(&["pm4", "dis", "little.ib"]);
    assert_eq!(d.good(&["pm4", "dis", "big.ib", "--big-endian"]), shown);
    assert_eq!(d.good(&["pm4", "dis", "text.hex"]), shown);
    let (_, _, stderr) = d.ctm(&["pm4", "dis", "big.ib"]);
    assert!(stderr.contains("byte-order") && stderr.contains("it does with --big-endian"), "{stderr}");
    // Without a kernel nothing is wrong with it, with one much is.
    assert_eq!(d.good(&["pm4", "check", "--absolute", "little.ib"]), "");
    let (code, _, stderr) = d.ctm(&["pm4", "check", "little.ib"]);
    assert!(code == 1 && stderr.contains("missing-relocation") && stderr.contains("register-packet"), "{stderr}");
    // Addresses outside memory are reported with the register that holds them.
    let without = ["pm4", "run", "little.ib", "--mem", "0x100000=vertex.vsh", "--mem", "0x101000=pixel.psh"];
    d.bad(&without, 3, &["outside-memory", "(CB_COLOR0_BASE)", "(SQ_VTX_CONSTANT_WORD0_320)", "0x300000"]);
    d.bad(&["pm4", "run", "little.ib"], 3, &["SQ_PGM_START_VS: the program at 0x100000 lies outside memory"]);
    d.bad(&["pm4", "run", "little.ib", "--mem", "0x100000:8=vertex.vsh"], 1, &["8 are given to it"]);
    d.bad(
        &["pm4", "run", "little.ib", "--mem", "0x1000:8", "--mem", "0x1004:8"],
        1,
        &["overlaps the memory from 0x1000 to 0x1007"],
    );
    d.bad(
        &["pm4", "run", "little.ib", "--mem", "0x1000:8", "--dump", "0x1004:8"],
        1,
        &["lie outside the memory that --mem gives"],
    );
    d.bad(&["pm4", "run", "little.ib", "--mem", "0x1000"], 2, &["write 0x1000=FILE"]);
    d.bad(&["pm4", "dis", "little.ib", "--mem", "0x1000:8"], 2, &["--mem is for run"]);
    d.bad(&["pm4", "run", &capture("tex2d.capture")], 1, &["is a capture"]);
    let (_, stdout, _) = d.ctm(&with(&["--json", "--dump", "0x300000:4"]));
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&json["draws"], &json["memory"][0]["hex"]), (&1.into(), &"0df00d60".into()));
}

/// A capture has one budget for all its draws, and says when it is used up.
#[test]
fn a_capture_has_one_budget() {
    let d = Dir::new("budget");
    let slow = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ctm-radeon/tests/slow.capture");
    let slow = slow.to_str().unwrap();
    for more in [&[][..], &["--check"], &["--at", "3,3"], &["--engine", "interp"]] {
        let mut arguments = vec!["replay", slow, "--budget-seconds", "0.5"];
        arguments.extend(more);
        let begun = std::time::Instant::now();
        let (code, stdout, stderr) = d.ctm(&arguments);
        assert!(begun.elapsed().as_secs() < 20, "{more:?}: {:?}", begun.elapsed());
        assert_eq!(code, 3, "{stdout}{stderr}");
        assert!(stderr.contains("the 0.5 s that all draws together may take are over"), "{stderr}");
        assert!(stderr.contains("--budget-seconds"), "{stderr}");
    }
    let (code, _, stderr) = d.ctm(&["trace", slow, "--budget-seconds", "0.5", "--at", "0,0"]);
    assert!(code == 1 && stderr.contains("the 0.5 s that all draws together may take are over"), "{code}: {stderr}");
    d.bad(&["replay", slow, "--budget-seconds", "soon"], 2, &["no number of seconds"]);
}

/// Without the preloaded library the message has the one command that makes it, in the profile of this program.
#[test]
#[cfg(target_os = "linux")]
fn a_missing_library_is_told_with_its_command() {
    let d = Dir::new("no-library");
    let program = d.0.join("ctm");
    std::fs::copy(env!("CARGO_BIN_EXE_ctm"), &program).unwrap();
    let told = |program: &Path| {
        let output = std::process::Command::new(program).args(["radeon", "--", "true"]).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let message = told(&program);
    assert!(message.contains("`cargo build --release -p ctm-radeon-shim` makes libctm_radeon_shim.so"), "{message}");
    std::fs::create_dir_all(d.0.join("debug")).unwrap();
    let program = d.0.join("debug/ctm");
    std::fs::copy(env!("CARGO_BIN_EXE_ctm"), &program).unwrap();
    assert!(told(&program).contains("`cargo build -p ctm-radeon-shim` makes"));
}

/// piglit's lists cut names at a #, so `bench/piglit/run` chooses tests with one by expressions that match their whole names.
#[cfg(unix)]
#[test]
fn piglit_runs_tests_with_a_number_sign_in_their_names() {
    use std::os::unix::fs::PermissionsExt;

    let d = Dir::new("piglit");
    // Prints its arguments and its list in place of running tests.
    let piglit = "#!/bin/bash\nif [ $1 = print-cmd ]; then\n  printf 'a@plain\\na@b #1 (1.5+2)\\n'\n  exit\nfi\n\
        printf '<%s>' \"$@\"\necho\nwhile [ $# -gt 0 ]; do\n  if [ \"$1\" = --test-list ]; then cat \"$2\"; fi\n  shift\ndone\n";
    std::fs::write(d.0.join("piglit"), piglit).unwrap();
    std::fs::set_permissions(d.0.join("piglit"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let run = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/piglit/run");
    let path = format!("{}:{}", d.0.display(), std::env::var("PATH").unwrap());
    let output = std::process::Command::new("bash")
        .arg(run)
        .args(["--on", "llvmpipe", "--jobs", "1"])
        .arg(d.0.join("results"))
        .env("PATH", path)
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{shown}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(shown.matches("\na@plain\n").count(), 2, "{shown}");
    assert_eq!(shown.matches(r"<-t><^a@b #1 \(1\.5\+2\)$>").count(), 2, "{shown}");
    assert!(shown.contains("/quick_gl-numbered>") && shown.contains("/quick_shader-numbered>"), "{shown}");
}
