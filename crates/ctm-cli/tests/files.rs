//! Files of commands: inputs that are none or too large, outputs when the process or the disk ends, files that name files.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use crate::dir;

use dir::Dir;
use serde_json::json;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The index pair times a constant.
const SCALED: &str = ".output colour = o0\nmul colour, r0, c0\nend\n";
const CONSTANT: [&str; 2] = ["--const", "c0=0.001,0.002,0.003,0.004"];

/// The message of a command on an input; it must come soon.
fn refused(d: &Dir, variables: &[(&str, &str)], arguments: &[&str], stdin: Stdio) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctm"));
    command.args(arguments).envs(variables.iter().copied()).current_dir(&d.0);
    let child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (code, said) = ended(child, arguments);
    assert!(matches!(code, Some(1 | 2)), "{arguments:?} ends with {code:?}: {said}");
    said
}

/// The exit code and all that was said, within a time that a test machine takes for nothing.
fn ended(mut child: Child, arguments: &[&str]) -> (Option<i32>, String) {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

fn pipe(d: &Dir, name: &str) {
    assert!(Command::new("mkfifo").arg(d.0.join(name)).status().unwrap().success());
}

/// Every command that reads a file, with a name in place of `IN`.
const READERS: &[&[&str]] = &[
    &["asm", "IN"],
    &["asm", "a.psh", "--into", "IN"],
    &["dis", "IN"],
    &["dis", "IN", "--isa", "r700"],
    &["check", "IN"],
    &["info", "IN"],
    &["compile", "IN"],
    &["run", "IN", "--size", "2x2"],
    &["run", "a.x1k", "--size", "2x2", "--const", "c0=1,1,1,1", "--compare", "colour=IN.npy"],
    &["draw", "a.vsh", "IN", "--mesh", "cube", "-o", "a.png"],
    &["draw", "a.vsh", "a.psh", "--mesh", "IN.gltf", "-o", "a.png"],
    &["draw", "a.vsh", "a.psh", "--mesh", "IN.obj", "-o", "a.png"],
    &["draw", "a.vsh", "a.psh", "--mesh", "IN.npy", "-o", "a.png"],
    &["draw", "IN.toml"],
    &["run", "IN.toml"],
    &["check", "IN.toml"],
    &["trace", "IN", "--size", "2x2"],
    &["trace", "IN.toml"],
    &["why", "IN", "--size", "2x2", "--at", "0,0"],
    &["profile", "IN", "--size", "2x2"],
    &["debug", "IN", "--size", "2x2"],
    &["debug", "a.x1k", "--size", "2x2", "--const", "c0=1,1,1,1", "--script", "IN"],
    &["compare", "IN.toml", "IN.toml"],
    &["reduce", "IN", "--while", "true"],
    &["exec", "IN"],
    &["replay", "IN"],
    &["pm4", "dis", "IN"],
    &["pm4", "check", "IN"],
    &["tile", "IN.npy", "a.raw"],
    &["untile", "IN.raw", "a.npy", "--size", "2x2", "--format", "float32_1"],
    &["serve", "IN.toml"],
];

#[test]
fn no_command_reads_what_does_not_end() {
    let d = Dir::new("files-endless");
    d.file("a.x1k", SCALED).file("a.psh", "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    d.file("a.vsh", "EXP_DONE: POS0, R0.xyzw\nEXP_DONE: PARAM0, R0.xyzw\nEND_OF_PROGRAM\n");
    for extension in ["", ".toml", ".npy", ".raw", ".obj", ".gltf"] {
        symlink("/dev/zero", d.0.join(format!("zero{extension}"))).unwrap();
        pipe(&d, &format!("pipe{extension}"));
        fs::create_dir(d.0.join(format!("folder{extension}"))).unwrap();
    }
    for arguments in READERS {
        for (name, what) in [("zero", "it is a device"), ("pipe", "it is a pipe"), ("folder", "it is a directory")] {
            let arguments: Vec<String> = arguments.iter().map(|argument| argument.replace("IN", name)).collect();
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let said = refused(&d, &[], &arguments, Stdio::null());
            assert!(said.contains(what) && said.contains(name), "{arguments:?}: {said}");
        }
    }
}

/// A command of the debugger that does not end.
#[test]
fn a_line_without_an_end_is_not_read_to_it() {
    let d = Dir::new("files-debug");
    d.file("a.x1k", SCALED);
    let arguments = [&["debug", "a.x1k", "--size", "2x2"][..], &CONSTANT].concat();
    let said = refused(&d, &[], &arguments, File::open("/dev/zero").unwrap().into());
    assert!(said.contains("a command from stdin has more than 65536 bytes"), "{said}");
}

/// Files of a job are opened in the same way.
#[test]
fn no_job_reads_what_does_not_end() {
    let d = Dir::new("files-jobs");
    d.file("a.x1k", ".input t = s0\n.output colour = o0\ntex r1, t, r0\nmov colour, r1\n");
    for (name, isa, rest) in [
        ("program", "x1k", "program = \"zero\"\n"),
        ("r700", "r700", "program = \"zero\"\n"),
        ("input", "x1k", "program = \"a.x1k\"\n[[texture]]\nslot = 0\ndata = \"zero.npy\"\n"),
        ("picture", "x1k", "program = \"a.x1k\"\n[[texture]]\nslot = 0\ndata = \"zero.png\"\n"),
        ("pipe", "x1k", "program = \"a.x1k\"\n[[texture]]\nslot = 0\ndata = \"pipe.npy\"\n"),
    ] {
        let (first, tables) = rest.split_once("[[").map_or((rest, String::new()), |(a, b)| (a, format!("[[{b}")));
        let text = format!("isa = \"{isa}\"\n{first}domain = [0, 0, 3, 3]\n{tables}[[output]]\nslot = 0\n");
        d.file(&format!("{name}.toml"), text);
    }
    for extension in ["", ".npy", ".png"] {
        symlink("/dev/zero", d.0.join(format!("zero{extension}"))).unwrap();
    }
    pipe(&d, "pipe.npy");
    for job in ["program", "r700", "input", "picture", "pipe"] {
        for command in ["run", "check"] {
            let said = refused(&d, &[], &[command, &format!("{job}.toml")], Stdio::null());
            let what = if job == "pipe" { "it is a pipe" } else { "it is a device" };
            assert!(said.contains(what), "{command} {job}: {said}");
        }
    }
}

#[test]
fn limits_are_named_and_raised() {
    let d = Dir::new("files-limits");
    d.file("a.x1k", format!("{SCALED}{}", "; a line of nothing\n".repeat(4000)));
    let size = d.read("a.x1k").len();
    let small = [("CTM_FILE_LIMITS", "program=1K")];
    let said = refused(&d, &small, &["check", "a.x1k"], Stdio::null());
    let wanted = format!(
        "the program a.x1k cannot be read: it has {size} bytes, and a program may have 1024; CTM_FILE_LIMITS=program=79K raises this"
    );
    assert!(said.contains(&wanted), "{said}");
    assert_eq!(d.ctm_under(&[("CTM_FILE_LIMITS", "program=79K")], &["check", "a.x1k"]).0, 0);
    assert_eq!(d.ctm_under(&[("CTM_FILE_LIMITS", "1K,program=79K")], &["check", "a.x1k"]).0, 0);
    // Standard input has no size beforehand.
    for name in ["-", "/dev/stdin"] {
        let mut zeros = Command::new("cat").arg("/dev/zero").stdout(Stdio::piped()).spawn().unwrap();
        let said = refused(&d, &small, &["dis", name], zeros.stdout.take().unwrap().into());
        assert!(said.contains("it has more than 1024 bytes, and a program may have 1024"), "{said}");
        zeros.kill().unwrap();
        zeros.wait().unwrap();
    }
    let said = refused(&d, &small, &["dis", "-"], File::open("/dev/zero").unwrap().into());
    assert!(said.contains("it has more than 1024 bytes"), "{said}");
    let said = refused(&d, &[("CTM_FILE_LIMITS", "words=1")], &["check", "a.x1k"], Stdio::null());
    assert!(said.contains("CTM_FILE_LIMITS: `words` is no kind of file; there are program, "), "{said}");
    // Of a large file nothing is read.
    File::create(d.0.join("large.bin")).unwrap().set_len(1 << 40).unwrap();
    let said = refused(&d, &[], &["dis", "large.bin"], Stdio::null());
    assert!(said.contains("1099511627776 bytes") && said.contains("CTM_FILE_LIMITS=program=1T"), "{said}");
    let said = refused(&d, &[], &["dis", "/proc/self/maps"], Stdio::null());
    assert!(said.contains("it says that it is empty and is not"), "{said}");
}

/// A job that writes an array and a picture, large enough to be killed in the middle.
fn saving_job(d: &Dir) {
    d.file("a.x1k", SCALED);
    let text = "program = \"a.x1k\"\ndomain = [0, 0, 1023, 1023]\n[constants.float]\n0 = [0.001, 0.002, 0.003, 0.004]\n\
        [[output]]\nslot = 0\nsave = [\"big.npy\", \"big.png\"]\n";
    d.file("job.toml", text);
}

#[test]
fn a_killed_run_leaves_old_or_new_files() {
    let d = Dir::new("files-kill");
    saving_job(&d);
    d.good(&["run", "job.toml"]);
    let names = ["big.npy", "big.png"];
    let new = names.map(|name| d.read(name));
    let temporary = || {
        let names = fs::read_dir(&d.0).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with(".ctm-saving-")).count()
    };
    let mut killed_while_saving = 0;
    for turn in 0..24 {
        names.iter().for_each(|name| {
            d.file(name, "old");
        });
        let mut command = Command::new(env!("CARGO_BIN_EXE_ctm"));
        let mut child = command.args(["run", "job.toml"]).current_dir(&d.0).spawn().unwrap();
        // Half of the turns end in the array, half in the picture.
        while child.try_wait().unwrap().is_none() && (temporary() == 0 || turn % 2 == 1 && d.read("big.npy") == b"old")
        {
        }
        std::thread::sleep(Duration::from_micros(700 * turn));
        child.kill().unwrap();
        child.wait().unwrap();
        killed_while_saving += temporary();
        for (name, new) in names.iter().zip(&new) {
            let found = d.read(name);
            assert!(found == b"old" || found == *new, "turn {turn}: {name} has {} bytes", found.len());
        }
    }
    assert!(killed_while_saving > 3, "{killed_while_saving}");
    // The next save beside a leftover removes it.
    d.good(&["asm", "a.x1k", "-o", "a.elf"]);
    assert_eq!(temporary(), 0);
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let d = Dir::new("files-full");
    saving_job(&d);
    d.file("small.x1k", SCALED);
    let names = || {
        let mut names: Vec<_> = fs::read_dir(&d.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort_unstable();
        names
    };
    for name in ["big.npy", "big.png", "a.hex"] {
        d.file(name, "old");
    }
    let before = names();
    let asm = "exec \"$0\" asm a.x1k -o a.hex";
    for (blocks, command, kept) in
        [(100, "exec \"$0\" run job.toml", ["big.npy", "big.png"]), (0, asm, ["a.hex", "a.hex"])]
    {
        let line = format!("ulimit -f {blocks}; {command}");
        let output =
            Command::new("sh").args(["-c", &line, env!("CARGO_BIN_EXE_ctm")]).current_dir(&d.0).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains("it would be larger than this process may make files"), "{said}");
        kept.iter().for_each(|name| assert_eq!(d.read(name), b"old", "{name}"));
        assert_eq!(names(), before);
    }
}

#[test]
fn devices_are_written_and_stay() {
    let d = Dir::new("files-devices");
    d.file("a.x1k", SCALED);
    for device in ["full", "null"] {
        for extension in ["npy", "png", "elf", "hex"] {
            symlink(format!("/dev/{device}"), d.0.join(format!("{device}.{extension}"))).unwrap();
        }
    }
    let run = |file: &str| d.ctm(&[&["run", "a.x1k", "--size", "64x64", "--out", file][..], &CONSTANT].concat());
    for extension in ["npy", "png"] {
        assert_eq!(run(&format!("colour=null.{extension}")).0, 0);
        let (code, _, said) = run(&format!("colour=full.{extension}"));
        assert!(code == 1 && said.contains("No space left on device"), "{said}");
    }
    for extension in ["elf", "hex"] {
        d.good(&["asm", "a.x1k", "-o", &format!("null.{extension}")]);
        d.bad(&["asm", "a.x1k", "-o", &format!("full.{extension}")], 1, &["No space left on device"]);
        assert!(d.0.join(format!("full.{extension}")).is_symlink());
    }
    let text = d.good(&["dis", "a.x1k"]);
    assert!(text.contains("mul"), "{text}");
    assert_eq!(d.good(&["dis", "a.x1k", "-o", "/dev/stdout"]), text);
}

#[test]
fn links_and_permissions_stay() {
    let d = Dir::new("files-links");
    d.file("a.x1k", SCALED).file("real.hex", "old");
    symlink("real.hex", d.0.join("link.hex")).unwrap();
    fs::set_permissions(d.0.join("real.hex"), Permissions::from_mode(0o640)).unwrap();
    d.good(&["asm", "a.x1k", "-o", "link.hex"]);
    assert!(d.0.join("link.hex").is_symlink());
    assert_ne!(d.read("real.hex"), b"old");
    assert_eq!(fs::metadata(d.0.join("real.hex")).unwrap().mode() & 0o777, 0o640);
    d.file("real.npy", "old");
    symlink("real.npy", d.0.join("link.npy")).unwrap();
    fs::set_permissions(d.0.join("real.npy"), Permissions::from_mode(0o600)).unwrap();
    assert_eq!(d.ctm(&[&["run", "a.x1k", "--size", "4x4", "--out", "colour=link.npy"][..], &CONSTANT].concat()).0, 0);
    assert!(d.0.join("link.npy").is_symlink() && d.read("real.npy").starts_with(b"\x93NUMPY"));
    assert_eq!(fs::metadata(d.0.join("real.npy")).unwrap().mode() & 0o777, 0o600);
}

/// A recording takes an old file's place when it has begun, and an old one stays when it cannot.
#[test]
fn recordings_replace_old_files_when_they_have_begun() {
    let d = Dir::new("files-record");
    d.file("a.x1k", SCALED).file("a.rec", "old").file("a.toml", "program = \"none.x1k\"\n");
    fs::set_permissions(d.0.join("a.rec"), Permissions::from_mode(0o600)).unwrap();
    let run = [&["run", "a.x1k", "--size", "4x4", "--out", "colour=a.npy"][..], &CONSTANT].concat();
    let line = format!("ulimit -f 0; CTM_RECORD=a.rec exec \"$0\" {}", run.join(" "));
    Command::new("sh").args(["-c", &line, env!("CARGO_BIN_EXE_ctm")]).current_dir(&d.0).output().unwrap();
    assert_eq!(d.read("a.rec"), b"old");
    assert_eq!(d.ctm_under(&[("CTM_RECORD", "a.rec")], &run).0, 0);
    assert_eq!(fs::metadata(d.0.join("a.rec")).unwrap().mode() & 0o777, 0o600);
    assert_eq!(d.ctm(&["replay", "a.rec"]).0, 0);
}

/// A triangle whose buffer is at `uri`.
fn gltf(uri: &str, bytes: u64) -> String {
    json!({
        "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }],
        "nodes": [{ "mesh": 0 }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }],
        "buffers": [{ "byteLength": bytes, "uri": uri }],
        "bufferViews": [{ "buffer": 0, "byteLength": 36 }],
        "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" }],
    })
    .to_string()
}

fn draw(d: &Dir, mesh: &str) -> (Option<i32>, String) {
    let arguments = ["draw", "a.vsh", "a.psh", "--mesh", mesh, "-o", "a.png", "--size", "8x8"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctm"));
    command.args(arguments).current_dir(&d.0).stdout(Stdio::piped()).stderr(Stdio::piped());
    ended(command.spawn().unwrap(), &arguments)
}

fn drawing(name: &str) -> Dir {
    let d = Dir::new(name);
    d.file("a.psh", "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    let vertex = "; $ATTRIB_VARS[0].name = \"position\"\n; $ATTRIB_VARS[0].location = 0\nCALL_FS\nEXP_DONE: POS0, R1.xyzw\n\
        EXP_DONE: PARAM0, R1.xyzw\nEND_OF_PROGRAM\n";
    d.file("a.vsh", vertex);
    d
}

#[test]
fn a_meshs_buffers_are_neighbours_of_their_length() {
    let d = drawing("files-gltf");
    fs::create_dir_all(d.0.join("model/data")).unwrap();
    let corners: Vec<u8> =
        [-1f32, -1.0, 0.0, 3.0, -1.0, 0.0, -1.0, 3.0, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    for name in ["model/a b.bin", "model/data/b.bin", "outside.bin"] {
        d.file(name, &corners);
    }
    symlink("data/b.bin", d.0.join("model/inner")).unwrap();
    symlink("../outside.bin", d.0.join("model/outer")).unwrap();
    symlink("/dev/zero", d.0.join("model/zero")).unwrap();
    pipe(&d, "model/pipe");
    for uri in ["a%20b.bin", "data/b.bin", "inner", "./data/../data/b.bin"] {
        d.file("model/a.gltf", gltf(uri, 36));
        let (code, said) = draw(&d, "model/a.gltf");
        assert_eq!(code, Some(0), "{uri}: {said}");
    }
    let absolute = d.0.join("model/inner").display().to_string();
    for (uri, bytes, why) in [
        ("../outside.bin", 36, "it leads out of the folder"),
        ("../../../../../../../../etc/passwd", 36, "it leads out of the folder"),
        ("%2e%2e/outside.bin", 36, "it leads out of the folder"),
        ("outer", 36, "it leads out of the folder"),
        ("zero", 36, "it leads out of the folder"),
        ("/etc/passwd", 36, "it is no relative path"),
        ("/dev/zero", 36, "it is no relative path"),
        (&absolute, 36, "it is no relative path"),
        ("file:inner", 36, "it has a scheme"),
        ("pipe", 36, "it is a pipe"),
        ("data", 36, "it is a directory"),
        ("none", 36, "there is no such file"),
        ("inner", 35, "it has 36 bytes, and 35 are stated"),
        ("inner", 37, "it has 36 bytes, and 37 are stated"),
        ("inner", u64::MAX, "it has 36 bytes"),
        ("data:application/octet-stream;base64,AAAA", 36, "it has 3 bytes, and 36 are stated"),
    ] {
        d.file("model/a.gltf", gltf(uri, bytes));
        let (code, said) = draw(&d, "model/a.gltf");
        assert!(code == Some(1) && said.contains(why), "{uri}: {code:?} {said}");
    }
}

/// Children that are shared multiply: 41 nodes of two children each would be 2^40 triangles.
#[test]
fn instances_are_counted_before_they_are_made() {
    let d = drawing("files-dag");
    d.file("dag.glb", include_bytes!("dag.glb"));
    let (code, said) = draw(&d, "dag.glb");
    assert!(code == Some(1) && said.contains("it has more than 1048576 nodes and primitives"), "{said}");
    let scene = |nodes: serde_json::Value, primitives: serde_json::Value, count: u64| {
        json!({
            "asset": { "version": "2.0" }, "scene": 0, "scenes": [{ "nodes": [0] }],
            "nodes": nodes, "meshes": [{ "primitives": primitives }],
            "buffers": [{ "byteLength": 36, "uri": format!("data:;base64,{}", "A".repeat(48)) }],
            "bufferViews": [{ "buffer": 0, "byteLength": 36 }],
            "accessors": [
                { "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" },
                { "componentType": 5126, "count": count, "type": "VEC3" }
            ],
        })
        .to_string()
    };
    let one = json!([{ "attributes": { "POSITION": 0 } }]);
    let zeros = json!([{ "attributes": { "POSITION": 1 } }]);
    for (name, text, why) in [
        ("round", scene(json!([{ "children": [1] }, { "children": [0] }]), one.clone(), 3), "node 0 is below itself"),
        ("missing", scene(json!([{ "children": [7] }]), one, 3), "node 7 does not exist"),
        ("large", scene(json!([{ "mesh": 0 }]), zeros.clone(), 1 << 30), "it has more than 16777216 vertices"),
        ("zeros", scene(json!([{ "mesh": 0 }]), zeros, 1 << 24), "accessor 1: it has no bufferView"),
    ] {
        d.file(&format!("{name}.gltf"), text);
        let (code, said) = draw(&d, &format!("{name}.gltf"));
        assert!(code == Some(1) && said.contains(why), "{name}: {code:?} {said}");
    }
}
