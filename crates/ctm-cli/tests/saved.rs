//! Jobs that flags describe: saved with their files, and taken by every command as they are.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use crate::dir;

use dir::Dir;
use std::path::Path;

const SCALED: &str = "\
.input  map = s0
.output colour = o0
.const  scale = c0
        tex r1, map, r0.rg
        mul colour, r1, scale
        end
";

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A directory with the programs and the picture of the cube.
fn cube(name: &str) -> Dir {
    let d = Dir::new(name);
    for file in ["cube.vsh", "cube.psh"] {
        d.file(file, std::fs::read(root().join("examples/draw/cube").join(file)).unwrap());
    }
    d.file("photo.png", std::fs::read(root().join("docs/mandelbrot.png")).unwrap());
    d.good(&["asm", "cube.vsh", "cube.psh", "-o", "cube.gsh"]);
    d
}

/// The flags of the cube.
const CUBE: [&str; 8] =
    ["--mesh", "cube", "--camera", "mvp:turn=25,40,0", "--in", "colour=photo.png", "--size", "64x48"];

#[test]
fn a_run_is_saved_with_its_files_and_runs_again() {
    let d = Dir::new("saved-run");
    d.file("scaled.x1k", SCALED);
    std::fs::create_dir_all(d.0.join("data")).unwrap();
    let floats: Vec<u8> = (0..64u32).flat_map(|n| (n as f32 / 7.0).to_le_bytes()).collect();
    d.file("data/a.raw", floats);
    let flags = [
        "--size",
        "4x4",
        "--in",
        "map=data/a.raw:size=4,4:format=float32_4:filter=nearest",
        "--const",
        "scale=0x3F000001,-2,1e-3,inf",
        "--out",
        "colour=first.npy:flip_y=1",
        "--group",
        "4",
    ];
    let command = |rest: &[&str]| d.good(&[&["run", "scaled.x1k"][..], &flags, rest].concat());
    command(&["--save-job", "kept"]);
    for gone in ["data/a.raw", "scaled.x1k"] {
        std::fs::remove_file(d.0.join(gone)).unwrap();
    }
    d.good(&["run", "kept/job.toml"]);
    assert_eq!(d.read("first.npy"), d.read("kept/first.npy"));
    // A saved job takes the place of an earlier one, and of nothing else.
    d.good(&["run", "kept/job.toml", "--const", "scale=1,1,1,1", "--save-job", "other"]);
    d.good(&["run", "other/job.toml", "--save-job", "kept"]);
    assert_ne!(d.read("first.npy"), d.read("kept/first.npy"));
    d.bad(&["run", "other/job.toml", "--save-job", "."], 1, &["error[cannot-write]", "holds no saved job"]);
    assert!(!d.0.join("job.toml").exists());
}

#[test]
fn flags_over_a_job_file_are_saved_in_its_place() {
    let d = Dir::new("saved-over");
    d.file("scaled.x1k", SCALED);
    d.file("a.npy", {
        let dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2, 4), }";
        let mut npy = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
        npy.extend(format!("{dict:<117}\n").bytes());
        npy.extend((0..16u32).flat_map(|n| (n as f32).to_le_bytes()));
        npy
    });
    d.file(
        "job.toml",
        "program = \"scaled.x1k\"\ndomain = [0, 0, 1, 1]\n[constants.float]\nc0 = [1, 1, 1, 1]\n\
         [[texture]]\nslot = \"map\"\ndata = \"a.npy\"\n[[output]]\nslot = \"colour\"\nsave = \"out/of/the/way.npy\"\n",
    );
    std::fs::create_dir_all(d.0.join("out/of/the")).unwrap();
    // The flag names the constant otherwise than the file does.
    d.good(&["run", "job.toml", "--const", "scale=3,5,7,9", "--save-job", "saved"]);
    let job = String::from_utf8(d.read("saved/job.toml")).unwrap();
    assert!(job.contains("scale = [3, 5, 7, 9]") && !job.contains("c0"), "{job}");
    d.good(&["run", "saved/job.toml"]);
    assert_eq!(d.read("saved/way.npy"), d.read("out/of/the/way.npy"));
    // The name of the program from stdin.
    let names: Vec<_> = std::fs::read_dir(d.0.join("saved")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
}

#[test]
fn a_draw_is_saved_and_draws_the_same() {
    let d = cube("saved-draw");
    let programs: [&[&str]; 2] = [&["cube.vsh", "cube.psh"], &["cube.gsh"]];
    for (n, programs) in programs.into_iter().enumerate() {
        let (picture, directory) = (format!("{n}.png"), format!("saved-{n}"));
        let saving = [
            "-o",
            &picture,
            "--save-job",
            &directory,
            "--depth",
            "depth.npy",
            "--cull",
            "back",
            "--clear",
            "0,0.5,1,1",
        ];
        d.good(&[&["draw"], programs, &CUBE[..], &saving].concat());
        d.good(&["draw", &format!("{directory}/job.toml")]);
        assert_eq!(d.read(&picture), d.read(&format!("{directory}/{picture}")), "{programs:?}");
        assert_eq!(d.read("depth.npy"), d.read(&format!("{directory}/depth.npy")), "{programs:?}");
    }
    assert_eq!(d.read("0.png"), d.read("1.png"));
    // Flags over a job file: of each draw, also of one that has its own.
    let job = "size = [16, 16]\nprograms = [\"cube.gsh\"]\n[[draw]]\nmesh = \"cube\"\n[[draw.camera]]\nconstant = \"mvp\"\n\
               [[draw.texture]]\nname = \"colour\"\ndata = \"photo.png\"\n[[draw]]\nmesh = \"sphere\"\ncull = \"front\"\n";
    d.file("two.toml", job);
    let flags =
        ["--camera", "mvp:eye=0,2,5", "--in", "colour=photo.png:filter=nearest", "--cull", "back", "-o", "two.png"];
    d.good(&[&["draw", "two.toml"][..], &flags, &["--save-job", "two"]].concat());
    d.good(&["draw", "two/job.toml"]);
    assert_eq!(d.read("two.png"), d.read("two/two.png"));
    assert_eq!(String::from_utf8(d.read("two/job.toml")).unwrap().matches("cull = \"back\"").count(), 2);
}

/// A glTF file with its buffer beside it, in a folder.
#[test]
fn meshes_are_saved_with_the_files_that_they_name() {
    let d = cube("saved-mesh");
    std::fs::create_dir_all(d.0.join("mesh/deep")).unwrap();
    let corners: Vec<u8> =
        [-0.5f32, -0.5, 0.0, 0.5, -0.5, 0.0, 0.0, 0.5, 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    d.file("mesh/deep/a b.bin", corners);
    d.file(
        "mesh/a.gltf",
        r#"{"asset":{"version":"2.0"},"buffers":[{"byteLength":36,"uri":"deep/a%20b.bin"}],"bufferViews":[{"buffer":0,"byteLength":36}],
        "accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0}}]}],"nodes":[{"mesh":0}],"scenes":[{"nodes":[0]}]}"#,
    );
    let flags =
        ["--mesh", "mesh/a.gltf", "--camera", "mvp", "--in", "colour=photo.png", "-o", "a.png", "--save-job", "saved"];
    d.good(&[&["draw", "cube.gsh"][..], &flags].concat());
    std::fs::remove_dir_all(d.0.join("mesh")).unwrap();
    d.good(&["draw", "saved/job.toml"]);
    assert_eq!(d.read("a.png"), d.read("saved/a.png"));
}

#[test]
fn commands_that_look_inside_take_what_run_takes() {
    let d = Dir::new("taken-run");
    d.file("a.x1k", ".output colour = o0\n.const scale = c0\nmul r1, r0, scale\nadd colour, r1, c1\nend\n");
    d.file("b.x1k", ".output colour = o0\n.const scale = c0\nmul r1, r0, scale\nadd colour, r1, -c1\nend\n");
    let flags = ["--size", "4x4", "--const", "scale=2,3,4,5", "--const", "c1=1,1,1,1"];
    let at = ["--at", "3,1"];
    let why = d.good(&[&["why", "a.x1k"][..], &flags, &at, &["--value", "colour.g"]].concat());
    assert!(why.starts_with("o0.g = 4 ") && why.contains("line 4") && why.contains("line 3"), "{why}");
    let trace = d.good(&[&["trace", "a.x1k"][..], &flags, &at].concat());
    assert!(trace.contains("o0.g = 4"), "{trace}");
    d.good(&[&["profile", "a.x1k"][..], &flags].concat());
    assert!(d.good(&[&["compare", "a.x1k", "--engines", "jit,interp"][..], &flags].concat()).contains("the same"));
    let (code, parted, _) = d.ctm(&[&["compare", "a.x1k", "b.x1k"][..], &flags].concat());
    assert_eq!(code, 4);
    assert!(parted.contains("a.x1k:4") && parted.contains("b.x1k:4"), "{parted}");
    d.bad(&[&["compare", "a.x1k"][..], &flags].concat(), 2, &["is to be compared with another one"]);
    d.bad(&["why", "a.x1k", "--size", "4x4", "--cull", "back", "--group", "4"], 2, &["--group is a flag of `ctm run`"]);
    if cfg!(unix) {
        let small = d.good_noted(&[&["reduce", "a.x1k", "--while", "grep -q add {}"][..], &flags].concat());
        assert!(small.contains("add") && !small.contains("mul"), "{small}");
        let ctm = env!("CARGO_BIN_EXE_ctm");
        let holds = format!("{ctm} run {{job}} --size 1x1 --json | grep -q '\"status\":\"done\"'");
        d.good_noted(&[&["reduce", "a.x1k", "--while", &holds, "-o", "small"][..], &flags].concat());
        d.good_noted(&["run", "small/job.toml"]);
    }
}

#[test]
fn commands_that_look_inside_take_what_draw_takes() {
    let d = cube("taken-draw");
    let at = ["--at", "32,24"];
    let programs: [&[&str]; 2] = [&["cube.vsh", "cube.psh"], &["cube.gsh"]];
    d.good(&[&["draw", "cube.gsh"][..], &CUBE, &["--save-job", "saved"]].concat());
    let saved = d.good(&[&["why", "saved/job.toml"][..], &at, &["--value", "PIX0.x"]].concat());
    for programs in programs {
        let why = d.good(&[&["why"], programs, &CUBE[..], &at, &["--value", "PIX0.x"]].concat());
        let values =
            |text: &str| text.lines().map(|line| line.split("  ").next().unwrap().to_owned()).collect::<Vec<_>>();
        assert_eq!(why.lines().next().unwrap().split(" <-").next(), saved.lines().next().unwrap().split(" <-").next());
        assert_eq!(values(&why).len(), values(&saved).len());
        let vertex = d.good(&[&["trace"], programs, &CUBE[..], &["--draw-stage", "vertex", "--at", "7,0"]].concat());
        assert!(vertex.contains("POS0.x = "), "{vertex}");
        d.good(&[&["profile"], programs, &CUBE[..]].concat());
        assert!(
            d.good(&[&["compare"], programs, &CUBE[..], &["--engines", "jit,interp"]].concat()).contains("the same")
        );
        if cfg!(unix) {
            let small = d.good_noted(&[&["reduce"], programs, &CUBE[..], &["--while", "grep -q SAMPLE {}"]].concat());
            assert!(small.contains("SAMPLE"), "{small}");
        }
    }
    // Lines of a container are those of `ctm dis`.
    let listing = d.good(&["dis", "cube.gsh"]);
    let why = d.good(&[&["why", "cube.gsh"][..], &CUBE, &at, &["--value", "PIX0.x"]].concat());
    for line in why.lines().filter(|line| line.contains(" line ")) {
        let (number, text) = line.split_once(" line ").unwrap().1.split_once(", time").unwrap();
        let (number, text) = (number.split(' ').next().unwrap(), text.split_once(": ").unwrap().1);
        assert_eq!(listing.lines().nth(number.parse::<usize>().unwrap() - 1).unwrap().trim(), text);
    }
    let planted = String::from_utf8(d.read("cube.psh")).unwrap().replacen("MUL ", "ADD ", 1);
    d.file("other.psh", planted);
    let (code, parted, stderr) =
        d.ctm(&[&["compare", "cube.vsh", "cube.psh", "cube.vsh", "other.psh"][..], &CUBE].concat());
    assert_eq!(code, 4, "{parted}{stderr}");
    assert!(parted.contains("other.psh:"), "{parted}");
    d.bad(
        &["why", "cube.gsh", "--group", "16", "--at", "1,1"],
        2,
        &["--group is a flag of `ctm run`, and cube.gsh is a draw"],
    );
    d.bad(&["run", "saved/job.toml"], 1, &["is a job of `ctm draw`", "`ctm draw saved/job.toml` draws it"]);
}

#[test]
fn errors_of_flags_are_those_of_keys() {
    let d = cube("saved-wrong");
    let wrong: [(&[&str], &str); 7] = [
        (&["--cull", "bakc"], "`cull` is \"bakc\", it must be one of none, front, back"),
        (&["--samples", "3"], "`samples` is 3, it must be 1, 2, 4 or 8"),
        (&["--size", "64"], "`--size` takes WxH"),
        (&["--const", "mvp"], "`--const` takes NAME=NUMBERS"),
        (&["--const", "mvp=1,x"], "constant `mvp` has \"x\""),
        (&["--in", "colour=photo.png:wrong=1"], "[[texture]] has no key `wrong`"),
        (&["--camera", "mvp:fov=200"], "`fov` is 200, it must lie between 0 and 180"),
    ];
    for (flags, says) in wrong {
        d.bad(&[&["draw", "cube.gsh"], flags].concat(), 2, &[says]);
        d.bad(&[&["why", "cube.gsh", "--at", "1,1"], flags].concat(), 2, &[says]);
    }
}
