//! Where programs come from, and inputs and outputs of jobs: pipes, names that are no text, words of any shape, frames, comparisons.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use crate::dir;

use dir::Dir;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};

/// The index pair times a constant.
const SCALED: &str = "\
.output colour = o0
.const step = c0
        mul colour, r0, step
        end
";

/// Runs `ctm` with this on its standard input; exit code, stdout, stderr.
fn piped(d: &Dir, arguments: &[&str], input: &[u8]) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ctm"))
        .args(arguments)
        .current_dir(&d.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn every_subcommand_reads_standard_input() {
    let d = Dir::new("stdin");
    d.file("a.x1k", SCALED);
    d.good(&["asm", "a.x1k", "-o", "a.elf"]);
    d.good(&["asm", "a.x1k", "-o", "a.hex"]);
    let run = ["--size", "2x1", "--const", "c0=2,2,2,2"];
    let expected = d.good(&[&["run", "a.x1k"][..], &run].concat());
    let names: &[&str] = if cfg!(unix) { &["-", "/dev/stdin"] } else { &["-"] };
    for name in names {
        for file in ["a.x1k", "a.elf", "a.hex"] {
            let bytes = d.read(file);
            let (code, stdout, stderr) = piped(&d, &["dis", name], &bytes);
            assert_eq!(code, 0, "dis {name} < {file}: {stderr}");
            assert!(stdout.contains("mul"), "{stdout}");
            let (code, _, stderr) = piped(&d, &["check", name], &bytes);
            assert_eq!(code, 0, "check {name} < {file}: {stderr}");
            let (code, stdout, stderr) = piped(&d, &["info", name], &bytes);
            assert_eq!(code, 0, "info {name} < {file}: {stdout}{stderr}");
            let (code, stdout, stderr) = piped(&d, &[&["run", name][..], &run].concat(), &bytes);
            assert_eq!((code, stderr.as_str()), (0, ""), "run {name} < {file}");
            // Words and images have no names for outputs.
            let numbers = |text: &str| {
                text.lines().filter_map(|line| Some(line.split_once('=')?.1.to_owned())).collect::<Vec<_>>()
            };
            assert_eq!(numbers(&stdout), numbers(&expected), "run {name} < {file}");
        }
        let (code, stdout, stderr) = piped(&d, &["compile", name, "-o", "-"], b"ps_3_0\nmov oC0, c0\n");
        assert_eq!(code, 0, "compile {name}: {stderr}");
        assert!(stdout.contains("mov"), "{stdout}");
    }
}

/// Other languages are recognised from any input.
#[test]
fn other_languages_are_named_on_standard_input() {
    let d = Dir::new("foreign-stdin");
    let glsl = "#version 330\nout vec4 c;\nvoid main() { c = vec4(1.0); }\n";
    let spirv: Vec<u8> =
        [0x0723_0203u32, 0x0001_0000, 0, 8, 0, 0x0002_0011].iter().flat_map(|w| w.to_le_bytes()).collect();
    let texts: [(&[u8], &str); 4] = [
        (glsl.as_bytes(), "stdin is GLSL"),
        (b"float4 main() : SV_Target { return 1; }\n", "stdin is HLSL"),
        (&spirv, "stdin is SPIR-V"),
        (b"; ModuleID = 'a'\n", "stdin is LLVM's intermediate language"),
    ];
    for (bytes, name) in texts {
        for command in ["asm", "check", "compile", "dis", "info", "run"] {
            let size = if command == "run" { &["--size", "1x1"][..] } else { &[] };
            let (code, stdout, stderr) = piped(&d, &[&[command, "-"], size].concat(), bytes);
            assert_eq!(code, 1, "{command}: {stdout}");
            assert!(stderr.contains("error[foreign-language]") && stderr.contains(name), "{command}: {stderr}");
        }
        std::fs::write(d.0.join("other"), bytes).unwrap();
        for command in ["draw", "exec", "replay", "trace", "profile"] {
            let (code, stdout, stderr) = piped(&d, &[command, "other"], b"");
            assert_eq!(code, 1, "{command}: {stdout}");
            assert!(stderr.contains(&name.replace("stdin", "other")), "{command}: {stderr}");
        }
    }
}

#[cfg(unix)]
#[test]
fn file_names_need_not_be_text() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let d = Dir::new("names");
    let name = OsStr::from_bytes(b"pr\xff\xfe.x1k");
    std::fs::write(d.0.join(name), SCALED).unwrap();
    let out = OsString::from_vec(b"colour=out\xff.npy".to_vec());
    let ctm = |arguments: &[&OsStr]| {
        let output = Command::new(env!("CARGO_BIN_EXE_ctm")).args(arguments).current_dir(&d.0).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    let words = OsStr::from_bytes(b"pr\xff.hex");
    ctm(&["asm".as_ref(), name, "-o".as_ref(), words]);
    ctm(&["dis".as_ref(), words]);
    ctm(&["check".as_ref(), name]);
    ctm(&["info".as_ref(), name]);
    ctm(&[
        "run".as_ref(),
        name,
        "--size".as_ref(),
        "2x2".as_ref(),
        "--const".as_ref(),
        "c0=1,1,1,1".as_ref(),
        "--out".as_ref(),
        &out,
    ]);
    assert!(d.0.join(OsStr::from_bytes(b"out\xff.npy")).exists());
}

#[test]
fn words_come_in_any_shape() {
    let d = Dir::new("shapes");
    d.file("a.x1k", SCALED);
    d.good(&["asm", "a.x1k", "-o", "a.hex"]);
    let text = String::from_utf8(d.read("a.hex")).unwrap();
    let words: Vec<&str> = text.split_whitespace().collect();
    let listing = d.good(&["dis", "a.hex"]);
    let prefixed = |separator: &str| words.iter().map(|w| format!("0x{w}")).collect::<Vec<_>>().join(separator);
    for (name, text) in [
        ("lines.hex", words.join("\n")),
        ("commas.hex", prefixed(",")),
        ("array.hex", format!("{},\n", prefixed(", "))),
        ("four.hex", words.chunks(4).map(|four| four.join(" ")).collect::<Vec<_>>().join("\n")),
    ] {
        d.file(name, text);
        assert_eq!(d.good(&["dis", name]), listing, "{name}");
    }
    // Binary words from a pipe are of the set in `--isa`.
    d.good(&["asm", "a.x1k", "-o", "a.bin"]);
    let binary = d.read("a.bin");
    let (code, listed, stderr) = piped(&d, &["dis", "-", "--isa", "x1k"], &binary);
    assert_eq!((code, listed), (0, listing.clone()), "{stderr}");
    let (code, _, stderr) = piped(&d, &["dis", "-"], &binary);
    assert!(code == 1 && stderr.contains("--isa x1k or r700"), "{stderr}");
    // A line that is too short among others is a mistake.
    d.file("short.hex", text.replacen(words[3], "", 1));
    d.bad(&["dis", "short.hex"], 1, &["the end of a line of 5 words"]);
    // One slot of the R700 on a line, and one dword.
    let r700 = "00000002\nA0000000\n00000000\n88000000\n00000000\n00000010\n";
    d.file("r700.hex", r700);
    assert!(d.good(&["dis", "r700.hex", "--isa", "r700"]).contains("ALU"));
}

#[test]
fn bare_words_of_another_machine_are_not_taken_silently() {
    let d = Dir::new("bare");
    // Words of the R700, as many as four instructions of the X1K have.
    let words = [0x2u32, 0xA000_0000, 0xC000_1000, 0x9420_0688, 0x0000_00f8, 0x0020_0c90];
    let bytes: Vec<u8> = words.iter().cycle().take(24).flat_map(|w| w.to_le_bytes()).collect();
    d.file("a.bin", bytes);
    let (_, _, stderr) = d.ctm(&["dis", "a.bin"]);
    assert!(stderr.contains("which-isa") && stderr.contains("--isa r700"), "{stderr}");
    assert_eq!(d.ctm(&["dis", "a.bin", "--isa", "r700"]).2, "");
    d.file("b.bin", [0u8; 16]);
    d.bad(&["dis", "b.bin"], 1, &["--isa r700 reads it as words of the R700"]);
}

#[test]
fn the_manual_knows_the_assembly_and_the_other_machine() {
    let d = Dir::new("spellings");
    for (word, parts) in [
        ("mul", ["MAD(a, b, 0)", "MAD"]),
        ("mov", ["MAX(a, a)", "MAX"]),
        ("lrp", ["MAD(a, b - c, c)", "MAD"]),
        ("texkill", ["a texture instruction", "KILL"]),
        ("jump", ["", "JUMP"]),
        ("endif", ["a jump", "JUMP"]),
    ] {
        let text = d.good(&["isa", "x1k", word]);
        assert!(parts.iter().all(|part| text.contains(part)), "{word}: {text}");
    }
    d.bad(&["isa", "x1k", "MULADD"], 1, &["the R700 has it: `ctm isa r700 MULADD`"]);
    d.bad(&["rnu"], 2, &["'run'"]);
}

fn run_json(d: &Dir, arguments: &[&str]) -> Value {
    let (code, stdout, stderr) = d.ctm(&[&["run"], arguments, &["--json"]].concat());
    assert_eq!(code, 0, "{stdout}{stderr}");
    serde_json::from_str(&stdout).unwrap()
}

#[test]
fn results_have_names_and_numbers() {
    let d = Dir::new("results");
    d.file("a.x1k", SCALED);
    let json = run_json(&d, &["a.x1k", "--size", "3x1", "--const", "step=0.1,1,1,0x7f800000"]);
    let output = &json["outputs"][0];
    assert_eq!((&output["name"], &output["slot"]), (&json!("colour"), &json!(0)));
    assert_eq!(output["values"].as_array().unwrap()[4], json!(0.1));
    // Zero times infinity: a NaN, by its bits.
    assert_eq!((&output["values"][3], &output["bits"][3]), (&Value::Null, &json!("0x7fffffff")));
    assert!(d.good(&["run", "a.x1k", "--size", "1x1", "--const", "step=1,1,1,1"]).starts_with("colour (0, 0) ="));
}

#[test]
fn repetitions_have_frames_and_constants_of_their_own() {
    let d = Dir::new("frames");
    d.file("a.x1k", SCALED);
    let both = ["--out", "colour=frame-%02d.npy:format=float32_1", "--out", "colour=last.npy"];
    let constants = ["--const", "step=1,1,1,1,2,2,2,2,5,5,5,5"];
    d.good(&[&["run", "a.x1k", "--size", "2x1", "--repeat", "3"][..], &both, &constants].concat());
    let at = |name: &str| f32::from_le_bytes(*d.read(name).last_chunk().unwrap());
    assert_eq!(["frame-00.npy", "frame-01.npy", "frame-02.npy", "last.npy"].map(at), [1.0, 2.0, 5.0, 5.0]);
    d.file(
        "job.toml",
        "program = \"a.x1k\"\ndomain = [0, 0, 1, 0]\n[constants.float]\nstep = { start = [1, 0, 0, 0], step = [0.5, 0, 0, 0] }\n[[pass]]\nrepeat = 3\n[[pass.output]]\nslot = 0\nformat = \"float32_1\"\nsave = [\"p%d.npy\", \"end.npy\"]\n",
    );
    d.good(&["check", "job.toml"]);
    assert!(!d.0.join("end.npy").exists(), "a check runs nothing");
    d.good(&["run", "job.toml"]);
    assert_eq!(["p0.npy", "p1.npy", "p2.npy", "end.npy"].map(at), [1.0, 1.5, 2.0, 2.0]);
    d.file("bad.toml", "program = \"a.x1k\"\ndomain = [0, 0, 1, 0]\n[[output]]\nslot = 0\nsave = \"none/a.npy\"\n");
    d.bad(&["check", "bad.toml"], 1, &["step"]);
}

#[test]
fn outputs_are_compared_with_files() {
    let d = Dir::new("compare");
    d.file("a.x1k", SCALED);
    let run =
        |scale: &str, more: &[&str]| d.ctm(&[&["run", "a.x1k", "--size", "4x4", "--const", scale], more].concat());
    assert_eq!(run("step=1,1,1,1", &["--out", "colour=ref.npy"]).0, 0);
    let (code, stdout, _) = run("step=1,1,1,1", &["--compare", "colour=ref.npy"]);
    assert_eq!(code, 0, "{stdout}");
    let (code, stdout, _) = run("step=1.001,1,1,1", &["--compare", "o0=ref.npy", "--tolerance", "1e-4"]);
    assert!(
        code == 4 && stdout.contains("12 of 64 values differ") && stdout.contains("first (1, 0) channel 0"),
        "{code}: {stdout}"
    );
    let (code, ..) = run("step=1.001,1,1,1", &["--compare", "o0=ref.npy", "--tolerance", "0.01"]);
    assert_eq!(code, 0);
    d.bad(
        &["run", "a.x1k", "--size", "4x4", "--const", "step=1,1,1,1", "--compare", "o3=ref.npy"],
        2,
        &["no output `o3`"],
    );
}

#[test]
fn large_domains_are_told_what_to_do() {
    let d = Dir::new("large");
    d.file("a.x1k", SCALED);
    d.bad(&["run", "a.x1k", "--size", "5000x1"], 2, &["1 to 4096", "parts of 4096"]);
}

#[test]
fn constant_buffers_are_numbers_too() {
    let d = Dir::new("buffers");
    d.file("a.r700", "ALU: KCACHE0(CB0:0-15)\n  0  x: MOV R1.x, KC0[1].y\nEXP_DONE: PIX0, R1.xxxx\nEND_OF_PROGRAM\n");
    let out = d.good(&["run", "a.r700", "--size", "1x1", "--constant-buffer", "0=1,2,3,4,5,6,7,8"]);
    assert!(out.contains("= 6 "), "{out}");
}
