//! Skins, morph targets, uniform blocks, elements of arrays and matrices by usual names.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use crate::dir;

use dir::{Dir, npy};
use std::path::Path;

const ONE: [f32; 16] = [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];

fn example(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/draw").join(name)).unwrap()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// A matrix that moves, column by column.
fn moving(x: f32, y: f32, z: f32) -> [f32; 16] {
    let mut all = ONE;
    (all[12], all[13], all[14]) = (x, y, z);
    all
}

fn list(values: &[f32]) -> String {
    values.iter().map(f32::to_string).collect::<Vec<_>>().join(",")
}

/// A triangle in the plane z = 0 as glTF: its first vertex belongs to joint 0, its second to joint 1, its third half to each. Joint 1 is above joint 0 and is bound at
/// the origin. One morph target moves the third vertex.
fn triangle() -> String {
    let hex = |bytes: &[u8]| -> String {
        const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::new();
        for three in bytes.chunks(3) {
            let bits = three.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
            (0..=three.len()).for_each(|n| out.push(LETTERS[(bits >> (18 - 6 * n) & 63) as usize] as char));
        }
        while !out.len().is_multiple_of(4) {
            out.push('=');
        }
        out
    };
    let mut data = floats(&[-0.5, -0.5, 0.0, 0.5, -0.5, 0.0, 0.0, 0.5, 0.0]);
    data.extend(floats(&[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]));
    data.extend([0u8, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0]);
    data.extend(floats(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0]));
    data.extend(floats(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25, 0.0]));
    data.extend(floats(&[ONE, ONE].concat()));
    format!(
        r#"{{"asset":{{"version":"2.0"}},"buffers":[{{"byteLength":{},"uri":"data:;base64,{}"}}],"bufferViews":[
        {{"buffer":0,"byteLength":36}},{{"buffer":0,"byteOffset":36,"byteLength":36}},{{"buffer":0,"byteOffset":72,"byteLength":12}},
        {{"buffer":0,"byteOffset":84,"byteLength":48}},{{"buffer":0,"byteOffset":132,"byteLength":36}},{{"buffer":0,"byteOffset":168,"byteLength":128}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"}},{{"bufferView":1,"componentType":5126,"count":3,"type":"VEC3"}},
        {{"bufferView":2,"componentType":5121,"count":3,"type":"VEC4"}},{{"bufferView":3,"componentType":5126,"count":3,"type":"VEC4"}},
        {{"bufferView":4,"componentType":5126,"count":3,"type":"VEC3"}},{{"bufferView":5,"componentType":5126,"count":2,"type":"MAT4"}}],
        "meshes":[{{"weights":[0.5],"primitives":[{{"attributes":{{"POSITION":0,"NORMAL":1,"JOINTS_0":2,"WEIGHTS_0":3}},"targets":[{{"POSITION":4}}]}}]}}],
        "skins":[{{"joints":[1,2],"inverseBindMatrices":5}}],
        "nodes":[{{"mesh":0,"skin":0,"translation":[9,9,9]}},{{"children":[2]}},{{"translation":[0.25,0.125,0]}}],"scenes":[{{"nodes":[0,1]}}]}}"#,
        data.len(),
        hex(&data)
    )
}

/// A directory with the example's program, the cube's and the triangle.
fn place(name: &str) -> Dir {
    let d = Dir::new(name);
    d.file("skin.gsh", example("skin/skin.gsh")).file("cube.vsh", example("cube/cube.vsh"));
    d.file("cube.psh", example("cube/cube.psh")).file("triangle.gltf", triangle());
    d
}

/// x and y of a vertex's position.
fn position(d: &Dir, flags: &[&str], vertex: usize) -> [f32; 2] {
    let at = format!("{vertex},0");
    let text = d.good(
        &[&["trace"], flags, &["--draw-stage", "vertex", "--at", &at, "--writes", "POS0.x", "--writes", "POS0.y"]]
            .concat(),
    );
    let value = |channel: &str| {
        let rest = text.rsplit_once(&format!("POS0.{channel} = ")).unwrap_or_else(|| panic!("{text}")).1;
        rest.split_whitespace().next().unwrap().parse().unwrap()
    };
    [value("x"), value("y")]
}

#[test]
fn joints_move_vertices() {
    let d = place("skin-joints");
    let (one, second) = (format!("mvp={}", list(&ONE)), moving(0.25, 0.125, 0.0));
    let all: Vec<f32> = [moving(0.0, 0.0, 0.0), second].concat().into_iter().chain((2..32).flat_map(|_| ONE)).collect();
    d.file("bones.npy", npy("(32, 4, 4)", &all))
        .file("few.npy", npy("(2, 4, 4)", &all[..32]))
        .file("bones.raw", floats(&all));
    let wide: Vec<u8> = all.iter().flat_map(|x| f64::from(*x).to_le_bytes()).collect();
    let head = npy("(32, 4, 4)", &[]);
    let head = String::from_utf8_lossy(&head[10..]).replace("<f4", "<f8");
    d.file(
        "wide.npy",
        [&b"\x93NUMPY\x01\x00"[..], &(head.len() as u16).to_le_bytes(), head.as_bytes(), &wide].concat(),
    );
    let elements = [format!("bones[0]={}", list(&ONE)), format!("bones[1]={}", list(&second))];
    let ways: [&[&str]; 6] = [
        &["--buffer", "Bones=bones.npy"],
        &["--buffer", "vs:Bones=bones.raw"],
        &["--buffer", "Bones=wide.npy"],
        &["--buffer", "cb1=bones.npy"],
        &["--const", &elements[0], "--const", &elements[1]],
        // The joints at rest, by the name of the uniform.
        &[],
    ];
    for way in ways {
        let flags = [&["skin.gsh", "--mesh", "triangle.gltf", "--const", &one][..], way].concat();
        // glTF 2.0, 3.7.3.3: the node of a skinned mesh moves nothing, the joints do, by their weights. The file's weight of the morph target is a half.
        assert_eq!(position(&d, &flags, 0), [-0.5, -0.5], "{way:?}");
        assert_eq!(position(&d, &flags, 1), [0.5 + 0.25, -0.5 + 0.125], "{way:?}");
        assert_eq!(position(&d, &flags, 2), [0.125, 0.5 + 0.5 * 0.25 + 0.5 * 0.125], "{way:?}");
    }
    // Of an array the first elements; the others are 0, which is said.
    let (code, stdout, stderr) =
        d.ctm(&["draw", "skin.gsh", "--mesh", "triangle.gltf", "--const", &one, "--buffer", "Bones=few.npy"]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert!(stderr.contains("buffer `Bones` has 2 of 32 elements"), "{stderr}");
    // Programs without joints get moved vertices.
    let cube = ["cube.vsh", "cube.psh", "--mesh", "triangle.gltf", "--const", &one];
    assert_eq!(position(&d, &cube, 1), [0.75, -0.375]);
    assert_eq!(position(&d, &cube, 2), [0.125, 0.6875]);
}

#[test]
fn morph_targets_are_attributes() {
    let d = place("skin-morph");
    // The position and three times the morph target, whose weight is the program's.
    let attributes = "; $MODE = \"UniformRegister\"\n; $ATTRIB_VARS[0].name = \"position\"\n; $ATTRIB_VARS[0].location = 0\n; $ATTRIB_VARS[1].name = \"morphTarget0\"\n; $ATTRIB_VARS[1].location = 1\n\
        ; $UNIFORM_VARS[0].name = \"morphInfluences\"\n; $UNIFORM_VARS[0].type = \"float\"\n; $UNIFORM_VARS[0].count = 4\n; $UNIFORM_VARS[0].block = -1\n; $UNIFORM_VARS[0].offset = 0\n";
    let body = "CALL_FS\nALU:\n 0 x: MULADD R1.x, R2.x, C0.x, R1.x\n   y: MULADD R1.y, R2.y, C0.x, R1.y\nEXP_DONE: POS0, R1.xyzw\nEXP_DONE: PARAM0, R0.xyzw\nEND_OF_PROGRAM\n";
    d.file("morph.vsh", format!("{attributes}{body}"));
    d.file("flat.psh", "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    let flags = ["morph.vsh", "flat.psh", "--mesh", "triangle.gltf"];
    // The skin moves the vertex, too, as the program has no joints.
    assert_eq!(position(&d, &flags, 2), [0.125, 0.5 + 0.0625 + 0.5 * 0.25]);
    let more = [&flags[..], &["--const", "morphInfluences[0]=2"]].concat();
    assert_eq!(position(&d, &more, 2), [0.125, 0.5 + 0.0625 + 2.0 * 0.25]);
    d.file("away.npy", npy("(3, 2)", &[0.0, 0.0, 0.0, 0.0, 1.0, 3.0]));
    let given = [&more[..], &["--buffer", "morphTarget0=away.npy"]].concat();
    assert_eq!(position(&d, &given, 2), [0.125 + 2.0, 0.5 + 0.0625 + 2.0 * 3.0]);
}

#[test]
fn matrices_go_to_uniforms_with_usual_names() {
    let d = place("skin-matrices");
    let flags = ["skin.gsh", "--mesh", "triangle.gltf", "--camera", "mvp:turn=0,90,0:spin=0,0,0"];
    let text = d.good(&[&["trace"], &flags[..], &["--draw-stage", "vertex", "--at", "0,0"]].concat());
    // Turned by 90 degrees about y, z is x; the viewer is on the z axis.
    let normals: Vec<f32> = ["x", "y", "z"]
        .map(|channel| {
            let mark = format!("PARAM0.{channel} = ");
            let other = format!("PARAM1.{channel} = ");
            let rest =
                text.rsplit_once(&mark).or_else(|| text.rsplit_once(&other)).unwrap_or_else(|| panic!("{text}")).1;
            rest.split_whitespace().next().unwrap().parse().unwrap()
        })
        .into();
    assert!((normals[0] - 1.0).abs() < 1e-5 && normals[1].abs() < 1e-5 && normals[2].abs() < 1e-5, "{normals:?}");
    // A camera without a name gives all of them; one that is given stays.
    let bare = ["skin.gsh", "--mesh", "triangle.gltf", "--camera", ":turn=0,90,0:spin=0,0,0"];
    assert_eq!(position(&d, &bare, 1), position(&d, &flags, 1));
    let (code, _, stderr) = d.ctm(&[&["draw"], &bare[..]].concat());
    assert_eq!((code, stderr.as_str()), (0, ""));
    d.file("none.vsh", "CALL_FS\nEXP_DONE: POS0, R1.xyzw\nEXP_DONE: PARAM0, R0.xyzw\nEND_OF_PROGRAM\n");
    d.file("flat.psh", "EXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n");
    d.bad(&["draw", "none.vsh", "flat.psh", "--camera", ":fov=30"], 1, &["uniforms with usual names"]);
}

#[test]
fn numbers_that_do_not_fit_are_errors() {
    let d = place("skin-wrong");
    d.file("odd.npy", npy("(5, 3)", &[0.0; 15])).file("a.txt", "1 2 3");
    let wrong: [(&[&str], &str); 6] = [
        (&["--const", "bones[32]=1"], "there is no `bones[32]`: `bones` has elements 0 to 31"),
        (&["--const", "bones[3]=1,2,3"], "`bones[3]` is mat4x4 and takes 16 numbers, column by column; 3 are given"),
        (&["--buffer", "Bones=odd.npy"], "buffer `Bones` has 60 bytes (shape [5, 3]), the block has 2048: bones"),
        (&["--buffer", "Bonse=odd.npy"], "no block, uniform or attribute `Bonse`"),
        (&["--buffer", "weights=odd.npy"], "attribute `weights` has an array of shape [5, 3]; the mesh has 3 vertices"),
        (&["--buffer", "Bones=a.txt"], "a.txt is no array of numbers"),
    ];
    for (flags, says) in wrong {
        d.bad(&[&["draw", "skin.gsh", "--mesh", "triangle.gltf"], flags].concat(), 1, &[says]);
    }
}

/// The whole case: from the block of matrices to a picture, a saved job and the reason of a pixel.
#[test]
fn a_skinned_picture_is_saved_and_explained() {
    let d = place("skin-whole");
    d.file("skin.glb", example("skin/skin.glb")).file("bones.npy", example("skin/bones.npy"));
    let flags = ["skin.gsh", "--mesh", "skin.glb", "--buffer", "Bones=bones.npy", "--camera", "mvp"];
    d.good(&[&["draw"], &flags[..], &["-o", "skin.png", "--save-job", "saved"]].concat());
    // Without a camera matrices with usual names are those of the default one, which is said.
    let (code, _, stderr) = d.ctm(&[&["draw"], &flags[..5], &["-o", "bare.png"]].concat());
    assert_eq!(code, 0);
    assert!(stderr.contains("no camera is given: mvp, normalMatrix get the matrices of the default one"), "{stderr}");
    assert_eq!(d.read("skin.png"), d.read("bare.png"));
    d.good(&["draw", "saved/job.toml"]);
    assert_eq!(d.read("skin.png"), d.read("saved/skin.png"));
    let why = d.good(&["why", "saved/job.toml", "--at", "60,60", "--value", "PIX0.x"]);
    assert!(why.starts_with("PIX0.x = "), "{why}");
    let vertex = d.good(&[
        "why",
        "saved/job.toml",
        "--draw-stage",
        "vertex",
        "--at",
        "200,0",
        "--value",
        "POS0.y",
        "--depth",
        "40",
        "--lines",
        "2000",
    ]);
    assert!(vertex.contains("b1[") || vertex.contains("from memory"), "{vertex}");
    // Bent and straight differ.
    d.good(&[&["draw"], &flags[..3], &flags[5..], &["-o", "straight.png"]].concat());
    assert_ne!(d.read("skin.png"), d.read("straight.png"));
}

/// Lines of GLSL beside lines of the container: in `why`, `trace`, `debug` and `profile`, of the vertex and of the pixel program. The lines are read from the shaders.
#[test]
fn answers_name_the_line_of_the_shader() {
    let d = Dir::new("skin-glsl");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/draw");
    let job = examples.join("skin/job.toml").display().to_string();
    let at = ["--at", "160,120"];
    let with = |words: &[&str]| {
        let mut all = vec![words[0], &*job];
        all.extend(&words[1..]);
        all.extend(at);
        d.good(&all)
    };
    let why = with(&["why", "--value", "PIX0.x"]);
    // The export is the assignment to the output; the light is made of the turned normal alone.
    assert!(why.lines().next().unwrap().ends_with("skin.frag line 8: result = vec4(tint.rgb * light, 1.0);]"), "{why}");
    assert!(why.contains("skin.frag line 7: float light = "), "{why}");
    let json: serde_json::Value = serde_json::from_str(&with(&["why", "--value", "PIX0.x", "--json"])).unwrap();
    let nodes = json["nodes"].as_array().unwrap();
    assert!(nodes.iter().any(|node| node["glsl_line"] == 7) && nodes[0]["glsl_line"] == 8, "{json}");
    // The line of the container is that of its text.
    let line: usize = why.split(" line ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let listing = d.good(&["dis", &examples.join("skin/skin.gsh").display().to_string()]);
    assert!(listing.lines().nth(line - 1).unwrap().contains("EXP_DONE: PIX0"), "{line}");
    let trace = with(&["trace"]);
    assert!(trace.contains("skin.frag line 7"), "{trace}");
    d.file("commands", "step\nquit\n");
    let debug = with(&["debug", "-x", "commands"]);
    assert!(debug.contains(" of ") && debug.contains("skin.gsh") && debug.contains("skin.frag line 7"), "{debug}");
    let profile = d.good(&["profile", &job]);
    assert!(profile.contains("\nlines of ") && profile.contains("skin.gsh"), "{profile}");
    let light = profile.lines().find(|line| line.contains("float light = ") && line.contains("<-")).unwrap();
    assert!(light.split_whitespace().next().unwrap().parse::<u64>().is_ok(), "{light}");
    // The vertex program: the matrices of the joints come from the block that line 17 indexes.
    let vertex = d.good(&["why", &job, "--draw-stage", "vertex", "--at", "0,0", "--value", "PARAM0.x"]);
    assert!(vertex.contains("skin.vert line 18: turned = normalMatrix"), "{vertex}");
    let position = d.good(&[
        "why",
        &job,
        "--draw-stage",
        "vertex",
        "--at",
        "0,0",
        "--value",
        "POS0.x",
        "--depth",
        "40",
        "--lines",
        "400",
    ]);
    assert!(
        position.contains("skin.vert line 20: gl_Position") && position.contains("skin.vert line 17: mat4 skin"),
        "{position}"
    );
    // As a flag, and its mistakes.
    let folder = examples.join("skin").display().to_string();
    let [gsh, glb, bones] = ["skin.gsh", "skin.glb", "bones.npy"].map(|name| format!("{folder}/{name}"));
    let given = |glsl: &str| {
        let (glsl, bones) = (format!("--glsl={glsl}"), format!("Bones={bones}"));
        let words = [
            "why", &gsh, "--mesh", &glb, "--camera", "mvp", "--buffer", &bones, "--size", "320x240", "--at", "160,120",
            "--value", "PIX0.x", &glsl,
        ];
        let (code, out, err) = d.ctm(&words);
        (code, format!("{out}{err}"))
    };
    let (code, said) = given(&format!("{folder}/skin.vert,{folder}/skin.frag"));
    assert!(code == 0 && said.contains("skin.frag line 8"), "{said}");
    let (code, said) = given("one.vert");
    assert!(code != 0 && said.contains("VERTEX,FRAGMENT"), "{said}");
    let (code, said) = given("absent.vert,absent.frag");
    assert!(code != 0 && said.contains("absent.vert"), "{said}");
}
