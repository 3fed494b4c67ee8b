//! The inspection commands: their output and exit codes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn temporary(name: &str) -> String {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name).display().to_string()
}

/// Runs `ctm` at the root of the project; exit code, stdout, stderr.
fn ctm_with(arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ctm"))
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that ends early does not read all of it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn good(arguments: &[&str]) -> String {
    let (code, stdout, stderr) = ctm_with(arguments, "");
    assert_eq!(code, 0, "{arguments:?}: {stdout}{stderr}");
    stdout
}

fn bad(arguments: &[&str], code: i32, part: &str) {
    let (found, stdout, stderr) = ctm_with(arguments, "");
    assert_eq!(found, code, "{arguments:?}\n{stdout}{stderr}");
    assert!(stderr.contains(part), "{arguments:?}: no `{part}` in\n{stderr}");
}

const MANDELBROT: &str = "examples/mandelbrot/job.toml";

#[test]
fn a_trace_as_text_lines_of_json_perfetto_and_a_page() {
    let text = good(&["trace", MANDELBROT, "--at", "35,22"]);
    assert!(text.starts_with("processor (35, 22): lane 5 of 16, pass 0"), "{text}");
    assert!(text.contains("* o0.r = "), "{text}");
    let lines = good(&["trace", MANDELBROT, "--at", "35,22", "--format", "jsonl"]);
    let values: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(values[0]["executed"], values.len() - 1);
    assert_eq!(values[1]["line"], 16);
    let perfetto: Value =
        serde_json::from_str(&good(&["trace", MANDELBROT, "--at", "35,22", "--format", "perfetto"])).unwrap();
    assert!(perfetto["traceEvents"].as_array().unwrap().len() > values.len());
    let page = temporary("trace.html");
    good(&["trace", MANDELBROT, "--at", "35,22", "-o", &page]);
    let page = std::fs::read_to_string(page).unwrap();
    assert!(!page.contains("src=") && !page.contains("href=") && !page.contains("http"), "the page needs nothing else");
    assert!(page.contains("mad   z.r, z.r, z.r, t.r") && !page.contains("@DATA@"));
}

#[test]
fn a_trace_can_be_narrowed() {
    let writes = good(&["trace", MANDELBROT, "--at", "35,22", "--writes", "r3.a", "--range", "0..7"]);
    assert_eq!(writes.matches("r3.a = ").count(), 2, "{writes}");
    let group = good(&["trace", MANDELBROT, "--group-index", "3", "--lanes", "0-1,4"]);
    assert!(group.contains("lane 4 r1.r = ") && !group.contains("lane 2 r1.r"), "{group}");
    let r700 = good(&["trace", "examples/r700/mandelbrot/job.toml", "--at", "35,22"]);
    assert!(r700.contains("PIX0.x = "), "{r700}");
    bad(&["trace", MANDELBROT, "--until", "fault"], 1, "without a fault");
    bad(&["trace", MANDELBROT, "--at", "900,1"], 2, "not in the domain");
    bad(&["trace", MANDELBROT, "--at", "35"], 2, "no processor");
    bad(&["trace", MANDELBROT, "--writes", "q7"], 2, "names no register");
    bad(&["trace", MANDELBROT, "--lanes", "16"], 2, "names no lanes");
    bad(&["trace", MANDELBROT, "--range", "9..4"], 2, "no range");
    bad(&["trace", MANDELBROT, "-o", "t.doc"], 2, "names no form of trace");
    bad(&["trace", MANDELBROT, "--pass", "4"], 2, "passes 0 to 0");
    bad(&["trace", MANDELBROT, "--group-index", "99999999"], 2, "there is no group");
    bad(&["trace", "nothing.toml"], 1, "nothing.toml");
}

#[test]
fn why_prints_what_made_a_value() {
    let tree = good(&["why", "examples/nbody/job.toml", "--at", "3,0", "--value", "o0.r"]);
    assert!(tree.starts_with("o0.r = ") && tree.contains("from memory") && tree.contains("constant"), "{tree}");
    let json: Value =
        serde_json::from_str(&good(&["why", "examples/nbody/job.toml", "--at", "3,0", "--value", "o0.r", "--json"]))
            .unwrap();
    assert_eq!(json["nodes"][0]["place"], "o0.r");
    let nan = good(&["why", MANDELBROT, "--at", "35,22", "--nan"]);
    assert!(nan.contains("no NaN"), "{nan}");
    bad(&["why", MANDELBROT, "--value", "o3.r"], 1, "no instruction of processor (0, 0) writes o3.r");
}

#[test]
fn profiles_beside_the_listing_and_as_pictures() {
    let job = ["profile", MANDELBROT, "--domain", "100,180,163,243"];
    let with = |more: &[&str]| good(&[&job[..], more].concat());
    assert!(with(&[]).contains("% of covered lanes active"));
    let json: Value = serde_json::from_str(&with(&["--json"])).unwrap();
    assert_eq!(json["instructions"][0]["executed"], 64 * 64 / 16);
    let map = temporary("map.npy");
    with(&["--map", "instructions", "-o", &map]);
    assert!(std::fs::read(map).unwrap().len() >= 64 * 64 * 4);
    let dot = temporary("flow.dot");
    with(&["-o", &dot]);
    assert!(std::fs::read_to_string(dot).unwrap().contains("b0 -> b1"));
    let html = temporary("profile.html");
    with(&["-o", &html]);
    assert!(std::fs::read_to_string(html).unwrap().contains("<svg"));
    let live = with(&["--live", "--at", "110,190"]);
    assert!(live.contains("live at once") && live.contains("longest chain"), "{live}");
    let r700 = good(&["profile", "examples/r700/saxpy/job.toml"]);
    assert!(r700.contains("slots of executed groups are used"), "{r700}");
    bad(&["profile", MANDELBROT, "-o", "p.doc"], 2, "names no form of profile");
}

/// The walk of docs/inside.md equals the debugger's output.
#[test]
fn the_documented_session_is_true() {
    let walk = std::fs::read_to_string(root().join("docs/inside.md")).unwrap();
    let session = good(&["debug", MANDELBROT, "-x", "docs/session.txt"]);
    let session = if cfg!(windows) { session.replace('\\', "/") } else { session };
    let indented: String =
        session.lines().map(|line| if line.is_empty() { "\n".into() } else { format!("    {line}\n") }).collect();
    assert!(walk.contains(&indented), "docs/inside.md should contain:\n{indented}");
}

#[test]
fn the_debugger_answers_what_is_wrong_and_goes_on() {
    let commands = "break 999\nbreak if r3.a\nbreak if r3 > 1\nprint q\nlane 99\nflip\nset c0.r = 1\nstep 3\nwhere\ngoto 1000000\nback 5\nquit\nstep\n";
    let (code, out, _) = ctm_with(&["debug", MANDELBROT, "--at", "35,22"], commands);
    assert_eq!(code, 0, "{out}");
    for part in [
        "no instruction on line 999",
        "is no condition",
        "say which channel",
        "names no register",
        "there are 0 to 15",
        "no command `flip`",
        "c0.r cannot be set",
        "time 3,",
        "time 19: the program has ended",
        "time 14,",
    ] {
        assert!(out.contains(part), "no `{part}` in\n{out}");
    }
    let (_, json, _) =
        ctm_with(&["debug", MANDELBROT, "--at", "35,22", "--json"], "step 4\nprint r1.r\nreverse\nquit\n");
    let answers: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&answers[0]["time"], &answers[0]["line"]), (&4.into(), &20.into()));
    assert_eq!(answers[1]["values"][0]["place"], "r1.r");
    assert_eq!(answers[2]["stop"], "start");
    let (_, r700, _) = ctm_with(
        &["debug", "examples/r700/mandelbrot/job.toml", "--at", "200,100"],
        "step\nprint PV R1\nback\ninstruction\n",
    );
    assert!(r700.contains("PV.x = ") && r700.contains("writes R"), "{r700}");
}

#[test]
fn compare_says_what_differs_and_where() {
    let saxpy = "examples/saxpy/job.toml";
    assert_eq!(good(&["compare", saxpy, "--engines", "interp,jit"]), "the same\n");
    let text = std::fs::read_to_string(root().join("examples/saxpy/saxpy.x1k")).unwrap();
    let changed = temporary("changed.x1k");
    std::fs::write(&changed, text.replace("a.rrrr", "-a.rrrr")).unwrap();
    let (code, out, err) = ctm_with(&["compare", saxpy, "--program-b", &changed], "");
    assert_eq!(code, 4, "{out}{err}");
    assert!(out.contains("differs in") && out.contains("b: "), "{out}");
    bad(&["compare", saxpy, "--engines", "interp"], 2, "are not two engines");
}

#[test]
fn random_programs_assemble_and_are_the_same_again() {
    let seven = good(&["random", "--isa", "r700", "--seed", "7", "--shape", "clauses=3,flow=no"]);
    assert_eq!(seven, good(&["random", "--isa", "r700", "--seed", "7", "--shape", "clauses=3,flow=no"]));
    let file = temporary("random.x1k");
    good(&["random", "--isa", "x1k", "--seed", "3", "-o", &file]);
    good(&["asm", &file, "-o", &temporary("random.hex")]);
    bad(&["random", "--isa", "x1k", "--shape", "colour=red"], 2, "there is no shape `colour`");
}

#[test]
#[cfg(unix)]
fn reduce_leaves_what_the_command_needs() {
    let file = temporary("long.x1k");
    let mut text: String = (0..40).map(|n| format!("        add r{}.rgb, r0.rgb, r0.rgb\n", 1 + n % 5)).collect();
    text += "        rcp r6.a, r1.a\n        mov o0, r6\n        end\n";
    std::fs::write(&file, text).unwrap();
    let small = good(&["reduce", &file, "--while", "grep -q rcp {}"]);
    assert_eq!(small.trim(), "rcp r6.a, 0");
    bad(&["reduce", &file, "--while", "false"], 1, "nothing to keep");
}

const CUBE: &str = "examples/draw/cube/job.toml";

#[test]
fn a_pixel_and_a_vertex_of_a_draw() {
    let text = good(&["trace", CUBE, "--at", "160,120"]);
    assert!(text.starts_with("processor (160, 120): lane "), "{text}");
    assert!(text.contains("PIX0.x = "), "{text}");
    let why = good(&["why", CUBE, "--at", "160,120", "--value", "PIX0.x"]);
    assert!(why.starts_with("PIX0.x = ") && why.contains("SAMPLE"), "{why}");
    let vertex = good(&["trace", CUBE, "--draw-stage", "vertex", "--at", "7,0"]);
    assert!(vertex.starts_with("processor (7, 0): lane ") && vertex.contains("POS0.x = "), "{vertex}");
    let script = temporary("draw.txt");
    std::fs::write(&script, "step 3\nback 1\nprint R0.x\n").unwrap();
    let session = good(&["debug", CUBE, "--at", "160,120", "-x", &script]);
    assert!(session.contains("(160, 120)") && session.contains("R0.x = "), "{session}");
    bad(&["trace", CUBE, "--at", "0,0"], 2, "the pixel program does not run for pixel (0, 0)");
    bad(&["trace", CUBE, "--at", "160,120", "--pass", "1"], 2, "there is no draw 1");
    bad(&["trace", CUBE, "--at", "160,120", "--group", "4"], 2, "--group is a flag of `ctm run`");
    bad(&["trace", CUBE, "--at", "160,120", "--size", "4x4"], 2, "the pixel program does not run for pixel (160, 120)");
    bad(&["trace", MANDELBROT, "--draw-stage", "vertex"], 2, "--draw-stage is for draws");
    bad(&["trace", CUBE, "--until", "fault"], 2, "of draws, --at says which pixel or vertex");
}

#[test]
fn draws_are_counted_and_their_programs_made_smaller() {
    let counts = good(&["profile", CUBE]);
    assert!(counts.contains("slots of executed groups are used") && counts.contains("SAMPLE"), "{counts}");
    assert!(good(&["profile", CUBE, "--draw-stage", "vertex"]).contains("EXP_DONE: PARAM1"));
    let page = temporary("draw-profile.html");
    good(&["profile", CUBE, "-o", &page]);
    assert!(std::fs::read_to_string(page).unwrap().contains("<svg"));
    let map = temporary("draw-map.png");
    good(&["profile", CUBE, "--map", "instructions", "-o", &map]);
    assert!(std::fs::read(map).unwrap().starts_with(b"\x89PNG"));
    assert!(good(&["profile", CUBE, "--live", "--at", "160,120"]).contains("live at once"));
    let page = temporary("draw-trace.html");
    good(&["trace", CUBE, "--at", "160,120", "-o", &page]);
    assert!(std::fs::read_to_string(page).unwrap().contains("SAMPLE"));
    bad(&["profile", CUBE, "--launch", "1"], 2, "no pixel is named");
    // The texture lookup is all that is wanted; a dot product goes with all four of its slots only, so it may stay.
    if cfg!(unix) {
        let small = good(&["reduce", CUBE, "--while", "grep -q SAMPLE {}"]);
        assert!(small.contains("SAMPLE") && small.lines().count() <= 7, "{small}");
        let vertex = good(&["reduce", CUBE, "--draw-stage", "vertex", "--while", "grep -q POS0 {}"]);
        assert!(vertex.contains("POS0") && !vertex.contains("SAMPLE"), "{vertex}");
    }
    bad(&["reduce", MANDELBROT, "--draw-stage", "vertex", "--while", "true"], 2, "--draw-stage is for draws");
}

#[test]
fn a_pixel_of_a_capture() {
    const CAPTURE: &str = "crates/ctm-radeon/tests/captures/plasma.capture";
    let text = good(&["trace", CAPTURE, "--draw", "2", "--at", "17,40"]);
    assert!(text.starts_with("processor (17, 40): lane ") && text.contains("PIX0.x = "), "{text}");
    let why = good(&["why", CAPTURE, "--draw", "2", "--at", "17,40", "--value", "PIX0.x"]);
    assert!(why.starts_with("PIX0.x = "), "{why}");
    let script = temporary("capture.txt");
    std::fs::write(&script, "break write PIX0.x\ncontinue\nback\nat 3,3\nwhere\n").unwrap();
    let session = good(&["debug", CAPTURE, "--draw", "2", "--at", "17,40", "-x", &script]);
    assert!(session.contains("breakpoint 1") && session.contains("(3, 3)"), "{session}");
    assert!(good(&["profile", CAPTURE, "--draw", "2"]).contains("instructions"));
    bad(&["trace", CAPTURE, "--draw", "9"], 2, "there is no draw 9, there are draws 1 to 3");
    bad(&["trace", CAPTURE, "--draw", "0"], 2, "draws count from 1");
    bad(&["trace", CAPTURE, "--pass", "0"], 2, "of a capture, --draw says which draw");
    bad(&["trace", CUBE, "--draw", "1"], 2, "--draw is for captures");
    bad(&["trace", CAPTURE, "--size", "4x4"], 2, "a capture takes no flags of jobs");
}

#[test]
fn the_debugger_goes_to_other_groups_and_waits_for_memory() {
    let script = temporary("elsewhere.txt");
    std::fs::write(&script, "break 24\nat 0,1\nat 300,40\nbreak\ncontinue\n").unwrap();
    let text = good(&["debug", MANDELBROT, "-x", &script]);
    assert!(text.contains("lane 2 (0, 1)") && text.contains("(300, 40)"), "{text}");
    assert!(text.contains("1: line 24: break res") && text.ends_with("running\n"), "{text}");
    std::fs::write(&script, "step\nat 9,9999\nstep\n").unwrap();
    bad(&["debug", MANDELBROT, "-x", &script], 1, "9,9999");
    std::fs::write(&script, "at 600,9\nwhere\n").unwrap();
    bad(&["debug", MANDELBROT, "-x", &script], 2, "not in the domain");
    // From a pipe a wrong processor leaves the user where he was.
    let (code, stdout, stderr) = ctm_with(&["debug", MANDELBROT, "--at", "5,5"], "at 600,9\nstep\n");
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert!(
        stderr.contains("not in the domain") && stdout.contains("time 1,") && stdout.contains("(5, 5)"),
        "{stdout}"
    );
    // Memory: where the value of an input is read, and where a scattered one is written.
    std::fs::write(&script, "break write scatter[3]\ncontinue\nback\ninstruction\nbreak write lds[9999]\n").unwrap();
    let program = temporary("scatter.r700");
    let text = "ALU:\n  0  x: MOV R1.x, 1.0f\nMEM_EXPORT: WRITE(0 + R0), R1.x___ ARRAY_SIZE(0)\nNOP\nEND_OF_PROGRAM\n";
    std::fs::write(&program, text).unwrap();
    let job = [
        "debug",
        &program,
        "--isa",
        "r700",
        "--stage",
        "compute",
        "--size",
        "8x1",
        "--memory",
        "scatter:size_bytes=64",
    ];
    let (_, stdout, stderr) = ctm_with(&[&job[..], &["--at", "3,0", "-x", &script]].concat(), "");
    assert!(stdout.contains("breakpoint 1") && stdout.contains("writes scatter[3] = 1"), "{stdout}{stderr}");
    assert!(stdout.contains("error: `lds[9999]` names no register"), "{stdout}{stderr}");
}

#[test]
fn two_draws_part_at_an_instruction() {
    assert!(good(&["compare", CUBE, "--engines", "jit,interp"]).contains("same"));
    let folder = root().join("examples/draw/cube");
    let place = temporary("cube");
    std::fs::create_dir_all(&place).unwrap();
    let program = std::fs::read_to_string(folder.join("cube.psh")).unwrap();
    let planted = program.replacen("MUL ", "ADD ", 1);
    assert!(planted != program, "the pixel program multiplies");
    for (name, text) in [("cube.psh", planted), ("cube.vsh", std::fs::read_to_string(folder.join("cube.vsh")).unwrap())]
    {
        std::fs::write(Path::new(&place).join(name), text).unwrap();
    }
    let picture = root().join("docs/mandelbrot.png").display().to_string().replace('\\', "/");
    let job =
        std::fs::read_to_string(folder.join("job.toml")).unwrap().replace("../../../docs/mandelbrot.png", &picture);
    let job_path = Path::new(&place).join("job.toml");
    std::fs::write(&job_path, job).unwrap();
    let (code, stdout, stderr) = ctm_with(&["compare", CUBE, &job_path.display().to_string()], "");
    assert_eq!(code, 4, "{stdout}{stderr}");
    assert!(stdout.starts_with("target 0 differs in ") && stdout.contains("MUL") && stdout.contains("ADD"), "{stdout}");
    bad(&["compare", CUBE, MANDELBROT], 2, "is no draw and no capture");
}

#[test]
fn two_captures_part_at_a_draw_a_pixel_and_an_instruction() {
    let capture = |name: &str| format!("crates/ctm-radeon/tests/captures/{name}.capture");
    let (plasma, conv) = (capture("plasma"), capture("conv5x5"));
    assert_eq!(good(&["compare", &plasma, &plasma]), "the same\n");
    assert_eq!(good(&["compare", &plasma, "--engines", "interp,jit"]), "the same\n");
    let (code, text, error) = ctm_with(&["compare", &plasma, &conv], "");
    assert_eq!(code, 4, "{text}{error}");
    assert!(text.starts_with("draw 2: target 0 differs in ") && text.contains("first at pixel (0, 0)"), "{text}");
    assert!(text.contains("  a: disassembly:") && text.contains("  b: disassembly:"), "{text}");
    let (_, json, _) = ctm_with(&["compare", &plasma, &conv, "--json"], "");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["draw"], &json["output"]), (&2.into(), &"pix0".into()));
    assert!(json["instruction_a"]["text"].is_string() && json["program"]["stage"] == "pixel", "{json}");
    // A capture and a picture.
    let folder = temporary("capture-targets");
    good(&["replay", &plasma, "--draw", "2", "-o", &folder]);
    let exact = Path::new(&folder).join("colour0.npy").display().to_string();
    let rounded = Path::new(&folder).join("colour0.png").display().to_string();
    assert_eq!(good(&["compare", &plasma, &exact, "--draw", "2"]), "the same\n");
    assert_eq!(good(&["compare", &plasma, &rounded, "--draw", "2", "--tolerance", "0.002"]), "the same\n");
    let (code, text, _) = ctm_with(&["compare", &conv, &exact, "--draw", "2"], "");
    assert_eq!(code, 4, "{text}");
    assert!(text.contains(&format!("`ctm why {conv} --draw 2 --at 0,0` shows what made it")), "{text}");
    // A draw job and a picture.
    let picture = temporary("cube-picture.npy");
    good(&["draw", CUBE, "-o", &picture]);
    assert_eq!(good(&["compare", CUBE, &picture]), "the same\n");
    bad(&["compare", &plasma, &exact, "--draw", "9"], 2, "there is no draw 9, there are draws 1 to 3");
    bad(&["compare", &plasma, &conv, "--draw", "0"], 2, "draws count from 1");
    bad(&["compare", &plasma, &capture("mrt2")], 2, "draw 1: the targets are");
    bad(&["compare", &plasma, CUBE], 2, "the targets are");
    bad(&["compare", &plasma, MANDELBROT], 2, "is no draw and no capture");
    bad(&["compare", CUBE, CUBE, "--draw", "1"], 2, "--draw is for captures");
    bad(&["compare", MANDELBROT, MANDELBROT, "--draw", "1"], 2, "--draw is for captures");
    bad(&["compare", &plasma, "docs/mandelbrot.png"], 1, "columns, rows, channels");
    bad(&["compare", &plasma, "nothing.png"], 1, "cannot be read");
    bad(&["compare", &plasma, "nothing.capture"], 2, "is no draw and no capture");
    bad(&["compare", &plasma, "--engines", "interp,other"], 2, "are not two engines");
    bad(&["compare", &plasma, "--program-b", "x.psh"], 2, "name their own programs");
    // Damaged in the middle, and cut: the first is an error, the second is good as far as it goes.
    let mut bytes = std::fs::read(root().join(&plasma)).unwrap();
    let cut = temporary("cut.capture");
    std::fs::write(&cut, &bytes[..bytes.len() - bytes.len() / 8]).unwrap();
    let (code, text, error) = ctm_with(&["compare", &plasma, &cut], "");
    assert_eq!(code, 4, "{error}");
    assert!(text.contains("the draws that both have are the same; 3 and "), "{text}");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    let damaged = temporary("damaged.capture");
    std::fs::write(&damaged, &bytes).unwrap();
    bad(&["compare", &plasma, &damaged], 1, "bad-capture");
}

#[test]
#[cfg(unix)]
fn a_whole_job_is_made_smaller() {
    let ctm = env!("CARGO_BIN_EXE_ctm");
    let small = temporary("small-job");
    let _ = std::fs::remove_dir_all(&small);
    let saxpy = "examples/saxpy/job.toml";
    // The sum of the texel (3, 2) is wanted, whatever else goes.
    let command = format!("{ctm} run {{job}} --engine interp --json && grep -q tex {{}}");
    let said = good(&["reduce", saxpy, "--while", &command, "-o", &small]);
    assert_eq!(said.trim(), format!("{small}/job.toml"));
    let job = std::fs::read_to_string(said.trim()).unwrap();
    assert!(job.contains("domain = [0, 0, 0, 0]") && !job.contains("save"), "{job}");
    assert!(!Path::new(&small).join("sum.npy").exists(), "what runs wrote goes");
    let program = std::fs::read_to_string(Path::new(&small).join("saxpy.x1k")).unwrap();
    assert!(program.contains("tex") && !program.contains("mad"), "{program}");
    good(&["run", said.trim()]);
    bad(&["reduce", saxpy, "--while", "test -f {job}", "-o", &small], 2, "is not empty");
    bad(&["reduce", saxpy, "--while", "test -f {job}"], 2, "-o names the directory");
    bad(&["reduce", "examples/saxpy/saxpy.x1k", "--while", "test -f {job}", "-o", "x"], 2, "the job has no `domain`");
    bad(&["reduce", saxpy, "--while", "{job}", "--isa", "x1k", "-o", "x"], 2, "--draw-stage and --isa");
    let none = temporary("none-left");
    bad(&["reduce", saxpy, "--while", "! test -f {job}", "-o", &none], 1, "nothing to keep");
    assert!(!Path::new(&none).exists(), "a directory that was made for nothing goes");
    bad(&["reduce", "absent.toml", "--while", "test -f {job}", "-o", &none], 1, "absent.toml");
}

/// Programs of `ctm random` are texts without words, assemble, check without errors, and run with nothing but a size.
#[test]
fn random_programs_run() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-programs");
    std::fs::create_dir_all(&folder).unwrap();
    for seed in 0..10 {
        for (isa, extension) in [("x1k", "x1k"), ("r700", "psh")] {
            let file = folder.join(format!("{seed}.{extension}")).display().to_string();
            good(&["random", "--isa", isa, "--seed", &seed.to_string(), "-o", &file]);
            let text = std::fs::read_to_string(&file).unwrap();
            assert!(!text.contains(".word") && !text.contains("ctm run"), "{isa} {seed}: {text}");
            good(&["asm", &file, "-o", &format!("{file}.hex")]);
            good(&["check", &file]);
            good(&["run", &file, "--size", "8x8"]);
        }
    }
}

/// Those that need inputs say in a comment how they run; that every field is random has to be asked for.
#[test]
fn random_programs_say_what_they_need() {
    let random = |isa: &str, shape: &str| good(&["random", "--isa", isa, "--seed", "5", "--shape", shape]);
    assert!(random("x1k", "inputs=2").starts_with("; ctm run FILE --size 8x8 --in s0=FILE --in s1=FILE\n"));
    let compute = random("r700", "stage=compute,memory=yes");
    assert!(compute.starts_with("; ctm run FILE --size 8x8 --stage compute --memory scatter:size_bytes=65536\n"));
    assert!(random("x1k", "hostile=yes,flow=raw,instructions=60").contains(".word"));
    bad(&["random", "--isa", "x1k", "--shape", "flow=raw"], 2, "write hostile=yes,flow=raw");
}
