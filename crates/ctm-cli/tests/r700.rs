//! R700 programs on the command line: listings, words and containers.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use std::path::{Path, PathBuf};
use std::process::Command;

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(name)
}

/// Runs `ctm`; exit code, stdout, stderr.
fn ctm(arguments: &[&Path]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_ctm")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Prints a program and assembles the text; returns the words.
fn round_trip(program: &Path, name: &str) -> Vec<u32> {
    let text = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.r700"));
    let words = text.with_extension("hex");
    for arguments in [["dis".as_ref(), program, "-o".as_ref(), &text], ["asm".as_ref(), &text, "-o".as_ref(), &words]] {
        let (code, _, stderr) = ctm(&arguments);
        assert_eq!((code, stderr.as_str()), (0, ""), "{}", program.display());
    }
    words_of(&words)
}

fn words_of(hex: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(hex).unwrap();
    let code = text.lines().filter(|line| !line.starts_with('#'));
    code.flat_map(str::split_whitespace).map(|word| u32::from_str_radix(word, 16).unwrap()).collect()
}

fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(corpus(folder)).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == extension));
    files.sort();
    files
}

#[test]
fn what_dis_prints_asm_reads() {
    let programs = files("mesa/r700", "hex");
    assert_eq!(programs.len(), 33);
    for program in programs {
        assert_eq!(round_trip(&program, "mesa"), words_of(&program), "{}", program.display());
    }
    for object in files("llvm", "o") {
        assert_eq!(round_trip(&object, "llvm"), words_of(&object.with_extension("hex")), "{}", object.display());
    }
}

#[test]
fn check_names_the_one_evergreen_opcode() {
    for object in files("llvm", "o") {
        let (code, _, stderr) = ctm(&["check".as_ref(), &object]);
        let planted = object.ends_with("11_indirect_ps.o");
        assert_eq!(code, i32::from(planted), "{}: {stderr}", object.display());
        assert_eq!(stderr.contains("MOVA_INT of Evergreen"), planted, "{stderr}");
    }
}

#[test]
fn garbled_listings_show_every_line_that_is_wrong() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("garbled.r700");
    std::fs::write(
        &file,
        "00 ALU: ADDR(32) CNT(2)\n    0  x: MOVE R0.x, R1.x\n       x: MOV R0.x, R1.q\nEND_OF_PROGRAM\n",
    )
    .unwrap();
    let (code, _, stderr) = ctm(&["asm".as_ref(), &file]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("garbled.r700:2:") && stderr.contains("garbled.r700:3:"), "{stderr}");
}

/// Results are printed by the exports' names, and everything a job file can say can be said by flags.
#[test]
fn run_prints_and_saves_what_programs_export() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("r700_run");
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("thread.vsh");
    std::fs::write(
        &program,
        "ALU:\n x: ADD_INT R1.x, R0.x, 40\nMEM_EXPORT: WRITE(0 + R0), R1.x___ ARRAY_SIZE(0)\n\
         EXP: POS0, R0.xyzw\nEXP_DONE: PARAM2, R1.x___\nEND_OF_PROGRAM\n",
    )
    .unwrap();
    let run = |more: &[&str]| {
        let mut arguments = vec![Path::new("run"), &program];
        arguments.extend(["--stage", "compute", "--size", "3x1", "--memory", "scatter:size_bytes=16"].map(Path::new));
        arguments.extend(more.iter().map(Path::new));
        ctm(&arguments)
    };
    let (code, stdout, stderr) =
        run(&["--set", "output=[{slot=\"pos0\",format=\"int32_4\"},{slot=\"param2\",format=\"int32_1\"}]"]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let expected = "pos0 (0, 0) = 0 0 0 0\npos0 (1, 0) = 1 1 0 0\npos0 (2, 0) = 2 2 0 0\n\
        param2 (0, 0) = 40\nparam2 (1, 0) = 41\nparam2 (2, 0) = 42\n\
        scatter: 16 bytes; --memory scatter:save=FILE saves them (.npy, .raw)\n";
    assert_eq!(stdout, expected);
    let saved = folder.join("scatter.raw");
    let (code, _, stderr) = run(&["--memory", &format!("scatter:save={}", saved.display())]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(std::fs::read(&saved).unwrap(), [40, 0, 0, 0, 41, 0, 0, 0, 42, 0, 0, 0, 0, 0, 0, 0]);
    let (code, _, stderr) = run(&["--program", "first"]);
    assert!(code == 1 && stderr.contains("`which` chooses a program of a container"), "{stderr}");
}

/// The extension names the container; the written file has the source's contents, and runs.
#[test]
fn asm_writes_containers() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("r700_containers");
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let pixel = write(
        "paint.psh",
        "ALU_PUSH_BEFORE:\n x: PRED_SETGT ____, R0.x, 0.5f UPDATE_EXEC_MASK UPDATE_PRED\nJUMP POP_CNT(1) ADDR(out)\n\
         ALU_POP_AFTER:\n x: MOV R5.x, 2.0f\nout:\nEXP: PIX0, R5.xxxx\nEXP_DONE: PIX2, R0.xyzw\nEND_OF_PROGRAM\n",
    );
    let hex = folder.join("paint.hex");
    assert_eq!(ctm(&[Path::new("asm"), &pixel, Path::new("-o"), &hex]).0, 0);
    let run = |program: &Path, stage: &[&str]| {
        let mut arguments = vec![Path::new("run"), program];
        arguments.extend(["--size", "2x1"].iter().chain(stage).map(Path::new));
        let (code, stdout, stderr) = ctm(&arguments);
        assert_eq!((code, stderr.as_str()), (0, ""), "{}", program.display());
        stdout
    };
    let expected = run(&pixel, &[]);
    assert!(
        expected.starts_with("pix0 (0, 0) = 0 0 0 0\npix0 (1, 0) = 2 2 2 2\npix2 (0, 0) = 0 0 0 0\n"),
        "{expected}"
    );
    for (extension, kind) in [("gsh", "gfd"), ("cal", "cal"), ("o", "llvm-r600")] {
        let container = folder.join(format!("paint.{extension}"));
        let (code, _, stderr) = ctm(&[Path::new("asm"), &pixel, Path::new("-o"), &container]);
        assert_eq!((code, stderr.as_str()), (0, ""), "{extension}");
        let (_, stdout, _) = ctm(&[Path::new("info"), &container]);
        for part in [format!("kind: {kind}"), "NUM_GPRS 6, STACK_SIZE 1".to_owned(), "EXPORT_MODE 6".to_owned()] {
            assert!(stdout.contains(&part), "{extension}: no `{part}` in\n{stdout}");
        }
        let (code, stdout, _) = ctm(&[Path::new("dis"), &container]);
        let listing = write("again.psh", &stdout);
        let again = folder.join("again.hex");
        assert_eq!((code, ctm(&[Path::new("asm"), &listing, Path::new("-o"), &again]).0), (0, 0));
        assert_eq!(words_of(&again), words_of(&hex), "{extension}");
        assert_eq!(run(&container, &[]), expected, "{extension}");
    }
    // Not every container has a place for every kind of program.
    let compute = write("store.csh", "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    for (extension, allowed) in [("gsh", false), ("cal", false), ("o", true)] {
        let container = folder.join(format!("store.{extension}"));
        let (code, _, stderr) = ctm(&[Path::new("asm"), &compute, Path::new("-o"), &container]);
        assert_eq!(code == 0, allowed, "{extension}: {stderr}");
        assert!(allowed || stderr.contains("compute program"), "{stderr}");
        if allowed {
            // It is still a compute program: its threads are integers.
            assert!(
                run(&container, &["--set", "output=[{slot=0,format=\"int32_4\"}]"]).contains("pix0 (1, 0) = 1 1 0 0")
            );
        }
    }
}

/// A shader of the console's tools: a vertex and a pixel program in one file.
#[test]
fn several_listings_make_one_container() {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = |name: &str| dir.join(format!("several-{name}"));
    let [vertex, pixel, wrong, out] = ["a.vsh", "a.psh", "b.psh", "a.gsh"].map(path);
    std::fs::write(
        &vertex,
        "00 CALL_FS NO_BARRIER\n01 EXP_DONE: POS0, R1.xyzw\n02 EXP_DONE: PARAM0, R2.xyzw\nEND_OF_PROGRAM\n",
    )
    .unwrap();
    // No EXP_DONE: the checker says so.
    std::fs::write(&pixel, "00 EXP: PIX0, R0.xyzw\nEND_OF_PROGRAM\n").unwrap();
    let bad = "; $SPI_PS_INPUT_CNTL[0].SEMANTIK = 1\n00 EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n";
    std::fs::write(&wrong, bad).unwrap();
    let (to, program): (&Path, &Path) = ("-o".as_ref(), "--program".as_ref());
    let (asm, check): (&Path, &Path) = ("asm".as_ref(), "check".as_ref());
    let _ = std::fs::remove_file(&out);

    let (code, _, stderr) = ctm(&[asm, &vertex, &wrong, to, &out]);
    assert_eq!(code, 1);
    assert!(stderr.contains("did you mean `SEMANTIC`?") && stderr.contains("b.psh:1:3"), "{stderr}");
    assert!(!out.exists());

    let (code, _, stderr) = ctm(&[asm, &vertex, &pixel, to, &out]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let (code, _, stderr) = ctm(&[check, &out]);
    assert_eq!(code, 1);
    assert!(stderr.contains("program 1 (pixel): ") && !stderr.contains("program 0"), "{stderr}");
    assert_eq!(ctm(&[check, &out, program, "vertex".as_ref()]).0, 0);

    let (code, _, stderr) = ctm(&[asm, &vertex, &pixel, to, &path("a.cal")]);
    assert_eq!(code, 2);
    assert!(stderr.contains("A container (.gsh) takes several"), "{stderr}");
}

/// The assembler and the checker both know the order of slots; one of them speaks.
#[test]
fn the_order_of_slots_is_told_once() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("slot-order.r700");
    let text = "ALU:\n 0 x: MOV R1.x, R0.x\n   w: MOV R1.w, R0.w\n   z: MOV R1.z, R0.z\nEXP_DONE: PIX0, R1.xxzw\nEND_OF_PROGRAM\n";
    std::fs::write(&file, text).unwrap();
    let (code, _, stderr) = ctm(&["check".as_ref(), &file]);
    assert_eq!((code, stderr.matches("warning[slot-order]").count()), (0, 1), "{stderr}");
}

/// The same of a text that nothing ends.
#[test]
fn a_missing_end_is_told_once() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-end.r700");
    std::fs::write(&file, "EXP_DONE: PIX0, R0.xyzw\n").unwrap();
    let (code, _, stderr) = ctm(&["check".as_ref(), &file]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("error[runs-off]") && stderr.ends_with("1 error\n"), "{stderr}");
}

/// Truth: addresses of the chips' published address library (32 bits an element, one pipe, four banks).
#[test]
fn surfaces_are_tiled_and_untiled() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let [rows, tiled, back] = ["rows.raw", "tiled.raw", "back.raw"].map(|name| folder.join(name));
    let words: Vec<u8> = (0..64 * 64u32).flat_map(u32::to_le_bytes).collect();
    std::fs::write(&rows, &words).unwrap();
    let flags = ["--isa", "r700", "--size", "64x64", "--element", "4"].map(Path::new);
    let (code, _, stderr) = ctm(&[&["tile".as_ref(), rows.as_path(), &tiled][..], &flags].concat());
    assert_eq!(code, 0, "{stderr}");
    let bytes = std::fs::read(&tiled).unwrap();
    for (x, y, address) in [(1u32, 0u32, 4usize), (0, 1, 16), (7, 7, 252), (37, 21, 5556), (63, 63, 15612)] {
        assert_eq!(bytes[address..address + 4], (64 * y + x).to_le_bytes(), "({x}, {y})");
    }
    let (code, _, stderr) = ctm(&[&["untile".as_ref(), tiled.as_path(), &back][..], &flags].concat());
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(std::fs::read(&back).unwrap(), words);
    let (code, _, stderr) = ctm(&[&["untile".as_ref(), tiled.as_path(), &back][..], &flags[..4]].concat());
    assert_eq!(code, 2, "{stderr}");
}

#[test]
fn draw_takes_jobs_and_tells_of_one_pixel() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/draw/pair");
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pair.png");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pair");
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["pair.vsh", "pair.psh", "job.toml"] {
        std::fs::copy(root.join(name), folder.join(name)).unwrap();
    }
    let job = folder.join("job.toml");
    let (code, stdout, stderr) = ctm(&["draw".as_ref(), &job, "-o".as_ref(), &out, "--at".as_ref(), "128,96".as_ref()]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.contains("draw triangle, primitive 0, front face, samples 0xf: stored"), "{stdout}");
    let picture = std::fs::read(root.join("pair.png")).unwrap();
    assert!(std::fs::read(&out).unwrap() == picture && std::fs::read(folder.join("pair.png")).unwrap() == picture);
    let (code, stdout, _) = ctm(&["draw".as_ref(), &job, "--json".as_ref(), "--at".as_ref(), "0,0".as_ref()]);
    let value: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(
        (code, value["fragments"].as_array().unwrap().len(), value["draws"].as_array().unwrap().len()),
        (0, 0, 2)
    );
    let (code, _, stderr) = ctm(&["draw".as_ref(), &job, "--at".as_ref(), "256,0".as_ref()]);
    assert_eq!(code, 1, "{stderr}");
}

/// Why nothing is drawn: every primitive of the first draw is culled, and the state says so.
#[test]
fn a_funnel_names_the_state_that_ends_primitives() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/draw/pair");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("funnel");
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["pair.vsh", "pair.psh"] {
        std::fs::copy(root.join(name), folder.join(name)).unwrap();
    }
    let job = folder.join("job.toml");
    let text = std::fs::read_to_string(root.join("job.toml")).unwrap();
    let text =
        text.replace("name = \"ground\"", "name = \"ground\"\ncull = \"front\"").replace("save = \"pair.png\"", "");
    std::fs::write(&job, text).unwrap();
    let (code, stdout, stderr) = ctm(&["draw".as_ref(), job.as_path(), "--funnel".as_ref()]);
    assert_eq!((code, stderr.as_str()), (0, ""));
    let (ground, triangle) = stdout.split_once("draw triangle").unwrap();
    assert!(
        ground.contains("- 2  front faces, which are culled (front faces are culled, counter-clockwise"),
        "{stdout}"
    );
    assert!(ground.contains("0  rasterised") && !ground.contains("stored"), "{stdout}");
    assert!(triangle.contains("1  rasterised") && triangle.contains("stored"), "{stdout}");
    let (code, stdout, _) = ctm(&["draw".as_ref(), job.as_path(), "--funnel".as_ref(), "--json".as_ref()]);
    let value: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let lost = &value["draws"][0]["funnel"]["lost"];
    assert_eq!((code, &lost[0]["stage"], &lost[0]["count"]), (0, &"front-face".into(), &2.into()), "{value}");
}
