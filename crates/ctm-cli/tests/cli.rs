//! The program as a new user meets it: output and exit codes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use crate::dir;

use dir::{Dir, npy};
use std::path::Path;
use std::process::Command;

const GRADIENT: &str = "\
.output colour = o0
.const step = c0
        mul colour.rg, r0.rg, step.rr | mov colour.a, 1
        end
";

const READS: &str = "\
.input  map = s0
.output colour = o0
        tex r1, map, r0.rg
        mov colour, r1
        end
";

const ENDLESS: &str = "\
.output colour = o0
again:  mov r1, r0
        fc jump func=0xff to=again
        mov colour, r1
        end
";

fn corpus(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa/x1k").join(file).display().to_string()
}

#[test]
fn a_program_runs_from_its_text() {
    let d = Dir::new("gradient");
    d.file("gradient.x1k", GRADIENT);
    let printed = d.good(&["run", "gradient.x1k", "--size", "2x2", "--const", "step=0.5,0,0,0"]);
    assert_eq!(
        printed,
        "colour (0, 0) = 0 0 0 1\ncolour (1, 0) = 0.5 0 0 1\ncolour (0, 1) = 0 0.5 0 1\ncolour (1, 1) = 0.5 0.5 0 1\n"
    );
    let out =
        d.good(&["run", "gradient.x1k", "--size", "64x64", "--const", "c0=0.015625,0,0,0", "--out", "colour=a.png"]);
    assert_eq!(out, "");
    assert!(d.read("a.png").starts_with(b"\x89PNG"));
    let stats = d.good(&["run", "gradient.x1k", "--size", "64x64", "--const", "step=1,0,0,0", "--stats"]);
    assert!(stats.contains("processors     4096 in 256 groups"), "{stats}");
    let json = d.good(&["run", "gradient.x1k", "--size", "1x1", "--const", "step=1,0,0,0", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["outputs"][0]["bits"][3], "0x3f800000");
    assert_eq!(json["counters"]["processors"], 1);
}

#[test]
fn assembling_goes_both_ways() {
    let d = Dir::new("assemble");
    d.file("gradient.x1k", GRADIENT);
    d.good(&["asm", "gradient.x1k"]);
    d.good(&["asm", "gradient.x1k", "-o", "a.hex"]);
    for form in ["a.elf", "a.hex", "a.bin"] {
        d.good(&["asm", "gradient.x1k", "-o", form]);
        let text = d.good(&["dis", form]);
        d.file("again.x1k", &text);
        d.good(&["asm", "again.x1k", "-o", "again.hex"]);
        assert_eq!(d.read("again.hex"), d.read("a.hex"), "{form}: {text}");
        assert_eq!(d.good(&["dis", "again.x1k"]), text, "{form}");
    }
    assert_eq!(d.read("gradient.elf"), d.read("a.elf"));
    assert_eq!(d.good(&["asm", "gradient.x1k", "-o", "-"]).as_bytes(), d.read("a.hex"));
    let explained = d.good(&["asm", "--explain", "gradient.x1k"]);
    assert!(explained.contains("mul colour.rg"), "{explained}");
    d.bad(&["asm", "gradient.x1k", "again.x1k", "-o", "b.elf"], 2, &["-o names one file and 2 are to be assembled"]);
    d.bad(&["asm", "gradient.x1k", "-o", "b.exe"], 2, &["`.exe` names no form of program; .elf, .hex and .bin"]);
    d.bad(&["asm", "a.elf"], 1, &["a.elf is a program without a text; `ctm dis a.elf` prints it as text"]);
    d.file("wrong.x1k", "        mov r1, r128\n        mvo r1, r2\n");
    // All errors of a file, and the other files all the same.
    d.bad(&["asm", "wrong.x1k", "again.x1k"], 1, &["wrong.x1k:1:", "r128", "mvo"]);
    assert!(d.0.join("again.elf").exists());
}

#[test]
fn command_buffers_run_without_a_job() {
    let dir = Dir::new("exec");
    dir.file("add.x1k", "tex r1, s0, r0.rg\nadd o0, r1, c0\nend\n");
    dir.file("c.raw", [1f32, 2., 3., 4.].map(f32::to_le_bytes).concat());
    let floats: Vec<u8> = (0..128u16).flat_map(|n| f32::from(n).to_le_bytes()).collect();
    dir.file("in.raw", &floats);
    // Program at SYS, constants after it; input and output in local memory, rows of 8 elements of 16 bytes.
    let buffer = "set_inst_fmt address=0x80000000\nset_constf_fmt address=0x80010000\n\
set_inp_fmt input=0, address=0x10000000, pitch=8, tiling=linear, format=float32_4, height=4\n\
set_out_fmt output=0, address=0x10001000, pitch=8, tiling=linear, format=float32_4, height=4\n\
set_domain i0=0, j0=0, i1=7, j1=3\nstart_program\nflush_out_cache\n";
    dir.file("add.cmd", buffer);
    let memory = ["--memory", "sys=add.x1k", "--memory", "sys+0x10000=c.raw", "--memory", "0x10000000=in.raw"];
    let run = |dir: &Dir, more: &[&str]| {
        let arguments: Vec<&str> = ["exec", "add.cmd"].iter().chain(&memory).chain(more).copied().collect();
        dir.ctm(&arguments)
    };
    let (code, stdout, stderr) = run(&dir, &["--dump", "gpu+0x1000:512=out.raw", "--check"]);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (0, "add.cmd: 7 commands, 1 launches\n", ""));
    let found: Vec<f32> =
        dir.read("out.raw").chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let wanted: Vec<f32> = (0..128u16).map(|n| f32::from(n) + f32::from(n % 4 + 1)).collect();
    assert_eq!(found, wanted);
    let (code, _, stderr) = run(&dir, &["--dump", "vram:1=x"]);
    assert!(code == 2 && stderr.contains("`vram` is no place in memory"), "{stderr}");
    let (code, _, stderr) = run(&dir, &["--memory", "gpu+0x3fffffff=in.raw"]);
    assert!(code == 1 && stderr.contains("in.raw does not fit"), "{stderr}");
    dir.file("bad.cmd", "start_program\n");
    dir.bad(&["exec", "bad.cmd"], 1, &["bad.cmd", "set_inst_fmt"]);
    dir.file("odd.cmd", "start_progam\n");
    dir.bad(&["exec", "odd.cmd"], 1, &["start_program"]);
}

#[test]
fn byte_code_is_a_program_and_has_a_text() {
    // A constant table that names c0 `Tint`; mov oC0, c0.
    let mut words: Vec<u32> =
        vec![0xffff_0300, 0x000f_fffe, u32::from_le_bytes(*b"CTAB"), 28, 0, 0xffff_0300, 1, 28, 0, 0];
    words.extend([48, 2, 1, 0, 0, u32::from_le_bytes(*b"Tint"), 0]);
    words.extend([0x0200_0001, 0x800f_0800, 0xa0e4_0000, 0x0000_ffff]);
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let dir = Dir::new("byte_code");
    dir.file("tint.pso", &bytes);
    let text = dir.good(&["dis", "tint.pso"]);
    assert_eq!(text, "ps_3_0\n// names of registers:\n//   c0  Tint\nmov oC0, c0\n");
    assert!(dir.good(&["compile", "tint.pso", "-o", "-"]).contains(".const \"Tint\" = c0"));
    dir.good(&["check", "tint.pso"]);
    dir.good(&["run", "tint.pso", "--size", "2x1", "--const", "Tint=1,2,3,4", "--out", "o0=a.npy"]);
    assert!(dir.read("a.npy").ends_with(&npy("(1, 2, 4)", &[1., 2., 3., 4., 1., 2., 3., 4.])[128..]));
    dir.file("cut.pso", &bytes[..bytes.len() - 4]);
    dir.bad(&["compile", "cut.pso"], 1, &["cut.pso"]);
}

#[test]
fn corpus_words_go_through_text() {
    let d = Dir::new("corpus");
    for name in ["mandelbrot", "life", "conv5x5", "nested_if", "loop_break_continue"] {
        let hex = corpus(&format!("{name}.hex"));
        let text = d.good(&["dis", &hex]);
        d.file("a.x1k", &text).good(&["asm", "a.x1k", "-o", "a.hex"]);
        assert_eq!(d.read("a.hex"), std::fs::read(&hex).unwrap(), "{name}");
    }
    d.good(&["run", &corpus("mandelbrot.toml"), "--group", "64", "--out", "o0=m.npy"]);
    assert_eq!(d.read("m.npy").len(), 128 + 64 * 64 * 16);
}

#[test]
fn bad_input_is_told_what_where_and_what_is_allowed() {
    let d = Dir::new("bad");
    d.file("gradient.x1k", GRADIENT).file("reads.x1k", READS).file("endless.x1k", ENDLESS);
    d.file("empty.x1k", "").file("nothing.x1k", "        mov r1, r0\n        end\n");
    d.file("map.npy", npy("(2, 2, 4)", &[0.5; 16])).file("short.npy", &npy("(2, 2, 4)", &[0.5; 16])[..150]);
    d.good(&["asm", "gradient.x1k"]);
    d.file("cut.elf", &d.read("gradient.elf")[..90]);
    d.file("picture.png", b"\x89PNG\r\n\x1a\n");

    // Wrong files.
    d.bad(
        &["run", "absent.x1k", "--size", "2x2"],
        1,
        &["the program absent.x1k cannot be read: there is no such file"],
    );
    d.bad(&["run", "absent.toml"], 1, &["the job absent.toml cannot be read: there is no such file"]);
    d.bad(
        &["run", "picture.png", "--size", "2x2"],
        1,
        &["picture.png is an array; `ctm run` and `ctm draw` take it as an input: --in NAME=picture.png"],
    );
    d.bad(&["run", "empty.x1k", "--size", "2x2"], 1, &["empty.x1k is empty"]);
    d.bad(&["run", "cut.elf", "--size", "2x2"], 1, &["cut.elf: ", "byte"]);
    d.bad(&["info", "cut.elf"], 1, &["cut.elf: ", "byte"]);
    d.bad(&["dis", "picture.png"], 1, &["picture.png is an array; `ctm run` and `ctm draw` take it as an input"]);
    // Wrong sizes.
    d.bad(
        &["run", "reads.x1k", "--size", "2x2", "--in", "map=short.npy"],
        1,
        &["short.npy: the file ends after", "--in map=short.npy"],
    );
    d.bad(&["run", "reads.x1k", "--size", "5000x2"], 2, &["the size is `5000x2`, columns and rows are 1 to 4096"]);
    // Missing things.
    d.bad(&["run", "gradient.x1k"], 2, &["the job has no `domain`", "or --size 64x64"]);
    d.bad(
        &["run", "gradient.x1k", "--size", "2x2"],
        1,
        &["constants that the job does not give: `step` (c0)", "--const step=R,G,B,A"],
    );
    d.bad(
        &["run", "reads.x1k", "--size", "2x2"],
        1,
        &["the program reads input 0 (`map`), and none is given", "--in s0=FILE"],
    );
    d.bad(
        &["run", "gradient.x1k", "--size", "2x2", "--const", "stp=1,0,0,0"],
        1,
        &["no float constant `stp`; it has step", "did you mean `step`?"],
    );
    // A program without outputs.
    d.bad(
        &["run", "nothing.x1k", "--size", "2x2", "--out", "o0=a.npy"],
        1,
        &["output 0 is to be saved, and the program writes no output"],
    );
    // Without a file to save there is nothing to show, and that is said.
    let (code, stdout, stderr) = d.ctm(&["run", "nothing.x1k", "--size", "2x2"]);
    assert_eq!((code, stdout.as_str()), (0, ""));
    assert!(stderr.contains("warning[no-output]: the program writes no output"), "{stderr}");
    // A directory instead of a file: reported before its consequences.
    d.bad(&["run", "."], 1, &["error[cannot-read]: the program . cannot be read: it is a directory"]);
    for command in ["info", "dis"] {
        d.bad(&[command, "."], 1, &["error[cannot-read]: the file . cannot be read: it is a directory"]);
        d.bad(&[command, "absent.elf"], 1, &["the file absent.elf cannot be read: there is no such file"]);
    }
    // Consequences of a mistake are not reported.
    for size in ["0x0", "8y"] {
        let (code, _, stderr) = d.ctm(&["run", "nothing.x1k", "--size", size]);
        assert_eq!((code, stderr.matches("error[").count()), (2, 1), "{stderr}");
    }
    d.file("garbage.toml", "a = [[[\n");
    let (code, _, stderr) = d.ctm(&["run", "garbage.toml"]);
    assert_eq!((code, stderr.matches("unclosed array").count()), (1, 1), "{stderr}");
    // A domain larger than the output.
    d.bad(
        &["run", "gradient.x1k", "--size", "8x8", "--const", "step=1,0,0,0", "--out", "o0=a.npy:size=4,4"],
        1,
        &["output 0 has 4 columns and 4 rows, and the domain reaches to (7, 7)"],
    );
    // An endless loop.
    d.bad(
        &["run", "endless.x1k", "--size", "1x1", "--budget-instructions", "1000"],
        3,
        &["endless.x1k:2:9", "1000 instructions, its whole budget", "a loop without an end?"],
    );
    // Usage.
    d.bad(&["run", "gradient.x1k", "--sise", "2x2"], 2, &["--sise", "--size"]);
    d.bad(&["rnn"], 2, &["rnn", "--help"]);
    d.bad(
        &["check", "--allow", "no-such-rule", "gradient.x1k"],
        2,
        &["no rule is named `no-such-rule`; `ctm check --rules` lists them"],
    );
    d.bad(&["run", "gradient.x1k", "--size", "2x2", "--engine", "jti"], 2, &["`engine` is \"jti\", it must be one of"]);
    // An unknown kind of file to write.
    d.bad(
        &["run", "gradient.x1k", "--size", "2x2", "--const", "step=1,0,0,0", "--out", "o0=a.jpg"],
        1,
        &["a.jpg names no kind of array; known are .npy"],
    );
    // An R700 program in an X1K job, and the other way round.
    d.file("a.r700", "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    d.bad(&["run", "a.r700", "--size", "2x2", "--isa", "x1k"], 1, &["a.r700 is an R700 program"]);
    d.bad(&["run", "gradient.x1k", "--size", "2x2", "--isa", "r700"], 1, &["gradient.x1k is no R700 program"]);
    d.file("a.ps", "ps_3_0\nmov oC0, c0\n");
    d.bad(&["asm", "a.ps"], 1, &["a.ps is a ps_3_0 shader; `ctm compile` compiles it"]);
}

#[test]
fn a_nan_coordinate_reads_the_last_element() {
    let d = Dir::new("nan");
    d.file("reads.x1k", READS).file("map.npy", npy("(2, 2)", &[1.0, 2.0, 3.0, 4.0]));
    let out = d.good(&["run", "reads.x1k", "--size", "1x1", "--in", "map=map.npy", "--register", "r0=nan,nan,0,0"]);
    assert_eq!(out, "colour (0, 0) = 4 0 0 1\n");
}

#[test]
fn faults_as_json_carry_their_place() {
    let d = Dir::new("fault");
    d.file("endless.x1k", ENDLESS);
    let arguments = ["run", "endless.x1k", "--size", "1x1", "--budget-instructions", "50", "--json"];
    let (code, stdout, _) = d.ctm(&arguments);
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(code, 3);
    let fault = &json["fault"];
    assert_eq!((json["status"].as_str(), fault["code"].as_str()), (Some("fault"), Some("instruction-budget")));
    assert_eq!(json["findings"][0]["rule"], "instruction-budget");
    assert!(json["findings"][0]["labels"][0]["line"].as_u64().is_some(), "{json}");
}

#[test]
fn jobs_with_passes() {
    let d = Dir::new("passes");
    d.file(
        "half.x1k",
        ".input a = s0\n.output b = o0\n        tex r1, a, r0.rg\n        mul b, r1, 0.5\n        end\n",
    );
    d.file("map.npy", npy("(1, 2)", &[8.0, 4.0]));
    d.file(
        "job.toml",
        "program = \"half.x1k\"\ndomain = [0, 0, 1, 0]\nrepeat = 2\n\
         [[texture]]\nslot = \"a\"\ndata = \"map.npy\"\noutput = \"b\"\n\
         [[output]]\nslot = 0\nformat = \"float32_1\"\n[[pass]]\nname = \"first\"\n[[pass]]\nrepeat = 1\n",
    );
    assert_eq!(d.good(&["run", "job.toml"]), "b (0, 0) = 0.5\nb (1, 0) = 0.25\n");
    let stats = d.good(&["run", "job.toml", "--stats"]);
    assert!(stats.contains("pass 0 `first`: 2 launches of 2x1"), "{stats}");
    // The commands of all launches, as words and as text.
    d.good(&["run", "job.toml", "--dump-commands", "c.cmd"]);
    d.good(&["run", "job.toml", "--dump-commands", "c.txt"]);
    let text = d.good(&["dis", "c.cmd"]);
    assert_eq!(text.as_bytes(), d.read("c.txt"));
    assert_eq!(text.matches("start_program").count(), 4, "{text}");
    // Nothing to read before the first pass.
    d.file("bad.toml", "program = \"half.x1k\"\ndomain = [0, 0, 1, 0]\n[[texture]]\nslot = 0\noutput = 0\n");
    d.bad(
        &["run", "bad.toml"],
        1,
        &["bad.toml:5:10", "no pass has written output 0 when this pass begins, and there is no `data`"],
    );
}

/// Five mistakes of different kinds in one file: five findings, each at its line and column.
#[test]
fn all_mistakes_of_a_file_are_found_at_once() {
    let d = Dir::new("mistakes");
    d.file(
        "five.x1k",
        "\
.output colour = o0
.const k = c0

        mad   r1, r0, k
        foo   r1, r0
        mov   r200, r1
        mul   r2.rgb, r0.rgb, kk.rgb
        break
        mov   colour, r1
",
    );
    let (code, stdout, _) = d.ctm(&["check", "--json", "five.x1k"]);
    let found: Vec<(String, u64, u64)> = stdout
        .lines()
        .map(|line| {
            let finding: serde_json::Value = serde_json::from_str(line).unwrap();
            let label = &finding["labels"][0];
            let rule = finding["rule"].as_str().unwrap().to_owned();
            (rule, label["line"].as_u64().unwrap(), label["column"].as_u64().unwrap())
        })
        .collect();
    let want = [("operand", 4, 9), ("mnemonic", 5, 9), ("range", 6, 15), ("name", 7, 31), ("flow", 8, 9)];
    assert_eq!(found, want.map(|(rule, line, column)| (rule.to_owned(), line, column)));
    assert_eq!(code, 1);
}

#[test]
fn the_manual_answers_in_text_and_json() {
    let d = Dir::new("isa");
    assert!(d.good(&["isa", "x1k", "rcp"]).contains("1 / A"));
    for line in d.good(&["isa", "--json", "mad"]).lines() {
        let topic: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!((topic["name"].as_str(), topic["kind"].as_str()), (Some("MAD"), Some("value")), "{line}");
        assert!(topic["places"][0]["bits"].is_array() && topic["code"].is_u64() && topic["cite"].is_string(), "{line}");
    }
    assert_eq!(d.good(&["isa", "--json"]).lines().count(), 3);
    let (code, _, stderr) = d.ctm(&["isa", "MADD"]);
    assert_eq!((code, stderr.matches(" MAX,").count()), (1, 1), "{stderr}");
    assert!(stderr.contains("error[unknown-name]: nothing is called `MADD`; there is"), "{stderr}");
}

#[test]
fn checks_allow_rules() {
    let d = Dir::new("check");
    d.file("gradient.x1k", GRADIENT);
    d.good(&["check", "gradient.x1k"]);
    assert!(d.good(&["check", "--rules"]).contains("last-without-wait"));
    d.file("a.hex", "00000001 0 0 0 0 0\n");
    d.bad(&["check", "a.hex"], 1, &["a.hex: ", "error[last-without-wait]", "instruction 0", "1 error"]);
    let (code, stdout, _) = d.ctm(&["check", "--json", "a.hex"]);
    let first: serde_json::Value = serde_json::from_str(stdout.lines().next().unwrap()).unwrap();
    assert_eq!((code, first["rule"].as_str(), first["pc"].as_u64()), (1, Some("last-without-wait"), Some(0)));
    d.good(&["check", "--allow", "last-without-wait", "a.hex"]);
}

#[test]
fn arrays_go_into_tiles_and_back() {
    let d = Dir::new("tile");
    let values: Vec<f32> = (0..40u16 * 20).map(f32::from).collect();
    d.file("a.npy", npy("(20, 40)", &values));
    let (code, _, note) = d.ctm(&["tile", "a.npy", "a.raw"]);
    assert_eq!(code, 0);
    assert!(note.contains("40x20 elements of float32_1, pitch 64"), "{note}");
    assert_eq!(d.read("a.raw").len(), 4 * 64 * 32);
    d.good(&["untile", "a.raw", "b.npy", "--size", "40x20", "--format", "float32_1"]);
    assert_eq!(d.read("a.npy"), d.read("b.npy"));
    d.bad(&["untile", "a.raw", "b.npy"], 2, &["--size and --format are needed"]);
    d.bad(&["untile", "a.npy", "b.npy", "--size", "40x20", "--format", "float32_1"], 1, &["in tiles take 8192"]);
}

#[test]
fn help_completions_and_manual_pages_come_from_one_definition() {
    let d = Dir::new("help");
    for subcommand in ["asm", "dis", "check", "run", "draw", "isa", "info", "tile", "untile", "completions", "man"] {
        let help = d.good(&[subcommand, "--help"]);
        assert!(help.contains("Examples:\n  ctm "), "{subcommand}: {help}");
        let page = include_str!("../../../docs/cli.md");
        assert!(page.contains(&format!("`ctm {subcommand}`")), "{subcommand}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(d.good(&["completions", shell]).contains("budget-instructions"), "{shell}");
    }
    assert!(d.good(&["man"]).contains(".TH ctm 1"));
    d.good(&["man", "pages"]);
    assert!(d.0.join("pages/ctm-run.1").exists());
    assert!(d.good(&["isa", "x1k", "mad"]).to_lowercase().contains("mad"));
    d.bad(&["isa", "madd"], 1, &["nothing is called `madd`"]);
}

#[test]
fn an_environment_variable_chooses_the_engine() {
    let dir = Dir::new("engine");
    dir.file("gradient.x1k", GRADIENT);
    let run = |engine: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ctm"));
        command.args(["run", "gradient.x1k", "--size", "2x2", "--const", "c0=0.5,0,0,0"]).current_dir(&dir.0);
        let output = command.env("CTM_ENGINE", engine).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let (code, fast, _) = run("");
    assert_eq!(code, 0);
    for engine in ["interp", "jit", "verify"] {
        assert_eq!(run(engine), (0, fast.clone(), String::new()));
    }
    let (code, _, message) = run("fast");
    assert!(
        code == 2 && message.contains("CTM_ENGINE is `fast`") && message.contains("interp, jit, verify"),
        "{message}"
    );
}

#[test]
fn shaders_are_compiled_checked_and_run() {
    let d = Dir::new("ps3");
    d.file("twice.ps", "ps_3_0\ndef c1, 2, 0, 0, 0\ndcl vPos.xy\nmad r0, vPos.xyxy, c1.x, c0\nmov oC0, r0\n");
    d.good(&["compile", "twice.ps"]);
    assert!(!d.good(&["check", "twice.elf"]).contains("error"));
    let wanted = "oC0 (0, 0) = 0.5 0 0 0\noC0 (1, 0) = 2.5 0 2 0\n";
    for program in ["twice.elf", "twice.ps"] {
        let out = d.good(&["run", program, "--size", "2x1", "--const", "c0=0.5,0,0,0"]);
        assert_eq!(out, wanted, "{program}");
    }
    // The X1K text says the same.
    d.good(&["compile", "twice.ps", "-o", "again.x1k"]);
    d.good(&["asm", "again.x1k", "-o", "again.hex"]);
    d.good(&["compile", "twice.ps", "-o", "twice.hex"]);
    assert_eq!(d.read("again.hex"), d.read("twice.hex"));
    assert!(d.good(&["compile", "twice.ps", "-o", "-"]).contains("mad "));
    // Every error of a file, each with its line.
    d.file("bad.ps", "ps_3_0\ndcl_cube s0\nmvo r0, c0\nmov oC0, r99\n");
    d.bad(&["compile", "bad.ps"], 1, &["did you mean `mov`?", "bad.ps:3:1", "r0 to r31 exist", "bad.ps:4:10"]);
}

/// Editors put U+FEFF before texts saved as UTF-8.
#[test]
fn texts_may_begin_with_a_byte_order_mark() {
    let dir = Dir::new("mark");
    let marked = |text: &str| format!("\u{feff}{text}");
    let listing = "00 EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n";
    let files = [("g.x1k", GRADIENT), ("s.ps", "ps_3_0\nmov oC0, c0\n"), ("l.psh", listing)];
    for (name, text) in files {
        dir.file(name, marked(text)).file("plain", text);
        let isa = if name == "l.psh" { "r700" } else { "x1k" };
        let command = if name == "s.ps" { "compile" } else { "asm" };
        let words = dir.good(&[command, name, "-o", "-"]);
        assert!(!words.is_empty());
        if command == "asm" {
            assert_eq!(words, dir.good(&["asm", "plain", "--isa", isa, "-o", "-"]));
            // Words, and a file whose name does not have a known extension.
            dir.file("marked.hex", marked(&words)).file("w.hex", &words).file("marked", marked(text));
            assert_eq!(dir.good(&["dis", "marked.hex"]), dir.good(&["dis", "w.hex"]));
            assert_eq!(dir.good(&["dis", "marked"]), dir.good(&["dis", "plain"]));
        }
    }
    dir.file(
        "job.toml",
        marked("program = \"g.x1k\"\ndomain = [0, 0, 0, 0]\n[constants]\nfloat = { step = [1, 1, 1, 1] }\n"),
    );
    assert_eq!(dir.good(&["run", "job.toml"]), "colour (0, 0) = 0 0 0 1\n");
}

#[test]
fn nothing_is_said_twice() {
    let dir = Dir::new("twice");
    let job = "program = \"g.x1k\"\ndomain = [0, 0, 0, 0]\n";
    let two = ".output a = o0\n.output b = o1\n mov a, 1\n mov b, 1\n";
    dir.file("g.x1k", GRADIENT).file("two.x1k", two);
    dir.file(
        "register.toml",
        format!("{job}[[register]]\nindex = 0\n[[register]]\nindex = \"r0\"\norigin = [1, 1, 1, 1]\n"),
    );
    dir.bad(&["run", "register.toml"], 1, &["register 0 is given twice", "register.toml:5:"]);
    dir.file("constant.toml", format!("{job}[constants]\nfloat = {{ 0 = [1, 1, 1, 1], c0 = [2, 2, 2, 2] }}\n"));
    dir.bad(&["run", "constant.toml"], 1, &["duplicate-constant", "float constant 0 is given twice"]);
    let save = "[[output]]\nslot = 0\nsave = \"x.npy\"\n[[output]]\nslot = 1\nsave = \"x.npy\"\n";
    dir.file("files.toml", format!("program = \"two.x1k\"\ndomain = [0, 0, 0, 0]\n{save}"));
    dir.bad(&["run", "files.toml"], 1, &["duplicate-file", "two things are saved as x.npy", "files.toml:8:"]);
    assert!(!dir.0.join("x.npy").exists());
    dir.good(&["run", "files.toml", "--out", "o1=y.npy"]);
    assert!(dir.0.join("x.npy").exists() && dir.0.join("y.npy").exists());
}

/// Whichever way the job file and the flag name a constant.
#[test]
fn flags_override_constants_of_the_job_file() {
    let dir = Dir::new("override");
    dir.file("g.x1k", GRADIENT);
    for in_file in ["0", "c0", "step"] {
        let job = "program = \"g.x1k\"\ndomain = [1, 1, 1, 1]\n[constants]\n";
        dir.file("job.toml", format!("{job}float = {{ {in_file} = [2, 2, 2, 2] }}\n"));
        assert_eq!(dir.good(&["run", "job.toml"]), "colour (1, 1) = 2 2 0 1\n");
        for flag in ["c0=5,5,5,5", "step=5,5,5,5"] {
            assert_eq!(
                dir.good(&["run", "job.toml", "--const", flag]),
                "colour (1, 1) = 5 5 0 1\n",
                "{in_file}, {flag}"
            );
        }
    }
}

/// A domain of one number is one row, and its arrays have one side.
#[test]
fn one_dimension_stays_one_dimension() {
    let d = Dir::new("one-dimension");
    d.file("a.x1k", ".output o = o0\nmov o, r0\nend\n").file("a.psh", "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    let header = |name: &str| String::from_utf8_lossy(&d.read(name)[..80]).into_owned();
    d.good(&["run", "a.x1k", "--size", "6", "--out", "o0=a.npy"]);
    assert!(header("a.npy").contains("'shape': (6, 4)"), "{}", header("a.npy"));
    d.good(&["run", "a.x1k", "--size", "6", "--out", "o0=b.npy:format=float32_1"]);
    assert!(header("b.npy").contains("'shape': (6,)"), "{}", header("b.npy"));
    d.good(&["run", "a.x1k", "--size", "6x1", "--out", "o0=c.npy:format=float32_1"]);
    assert!(header("c.npy").contains("'shape': (1, 6)"), "{}", header("c.npy"));
    d.good(&["run", "a.psh", "--size", "6", "--out", "pix0=d.npy:format=float32_1"]);
    assert!(header("d.npy").contains("'shape': (6,)"), "{}", header("d.npy"));
    d.bad(&["run", "a.x1k", "--size", "5000"], 2, &["columns and rows are 1 to 4096; run it in parts"]);
    d.bad(&["run", "a.x1k", "--size", "sixty"], 2, &["WxH|W"]);
}

#[test]
fn a_text_that_says_another_instruction_set_is_refused() {
    let d = Dir::new("other_isa");
    d.file("gradient.x1k", GRADIENT);
    d.file("one.psh", "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    for (file, isa, other) in [("gradient.x1k", "r700", "X1K"), ("one.psh", "x1k", "R700")] {
        for command in ["asm", "check", "dis"] {
            let (code, _, told) = d.ctm(&[command, file, "--isa", isa]);
            assert_eq!(code, 1, "{command} {file}: {told}");
            assert!(told.contains("wrong-isa") && told.contains(other), "{command} {file}: {told}");
        }
    }
    assert!(!["gradient.hex", "gradient.elf", "one.hex"].iter().any(|file| d.0.join(file).exists()));
}

#[test]
fn textures_go_from_file_to_file() {
    let d = Dir::new("textures");
    d.file("a.npy", npy("(3, 5, 4)", &(0..60u8).map(|n| f32::from(n) / 64.0).collect::<Vec<_>>()));
    d.good(&["texture", "a.npy", "-o", "a.gtx", "--mode", "2d_thick", "--swizzle", "5"]);
    d.good(&["texture", "a.gtx", "-o", "a.dds"]);
    d.good(&["texture", "a.dds", "-o", "again.npy"]);
    assert_eq!(d.read("again.npy"), d.read("a.npy"));
    d.good(&["texture", "a.gtx", "-o", "b.gtx", "--format", "8_8_8_8", "--levels", "make", "--mode", "4"]);
    d.good(&["texture", "b.gtx", "-o", "b.png", "--level", "2"]);
    assert!(d.read("b.png").starts_with(b"\x89PNG"));
    for (arguments, expected) in [
        (&["--mode", "2d"][..], "allowed are 0 linear_general"),
        (&["--swizzle", "8"], "--swizzle is 8, it is 0 to 7"),
        (&["--format", "8_8_8_9"], "a format of the manual is wanted"),
        (&["--format", "8_8_8_8", "--numbers", "half"], "allowed are unorm"),
        (&["--levels", "many"], "it is a number or `make`"),
        (&["--levels", "9"], "9 levels are asked for, the texture has 1"),
        (&["--format", "BC1"], "nothing is compressed here"),
    ] {
        let (code, _, told) = d.ctm(&[&["texture", "a.gtx", "-o", "c.gtx"], arguments].concat());
        assert!(code != 0 && told.contains(expected), "{arguments:?}: {told}");
    }
}
