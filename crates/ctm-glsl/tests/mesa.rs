//! Pairs that the installed Mesa compiles. Skipped with a message where Mesa or the preloaded library is absent
//! (`cargo build -p ctm-radeon-shim` makes the latter).

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stderr, clippy::print_stdout)] // A test, which talks to the process that it starts.

use ctm_glsl::{Pair, Pixel, ShaderSources, StartInput, pair, pixel, reflect};
use ctm_image::r700::gfd::header::VariableKind;
use ctm_image::r700::gfd::{NewProgram, build};
use ctm_isa::x1k::program::{Literal, Preload, SymbolKind};
use serde_json::Value;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Command;

const VERTEX: &str = "#version 330 core
layout(location = 3) in vec3 position;
layout(location = 1) in vec2 place;
uniform mat4 camera;
uniform float shift;
out vec2 at;
out vec3 tint;
void main() { gl_Position = camera * vec4(position, 1.0) + shift; at = place; tint = position; }
";
const FRAGMENT: &str = "#version 330 core
in vec2 at;
in vec3 tint;
uniform sampler2D first;
uniform sampler2D second;
uniform vec4 colour;
out vec4 result;
void main() { result = texture(second, at) * colour + texture(first, at.yx) * vec4(tint, 1.0); }
";

/// The client's output, when this process was started as one.
#[test]
fn client() {
    if let (Ok(vertex), Ok(fragment)) = (std::env::var("CTM_GLSL_VERTEX"), std::env::var("CTM_GLSL_FRAGMENT")) {
        match reflect(&ShaderSources { vertex, fragment }) {
            Ok(told) => println!("\ntold {told}"),
            Err(failed) => println!("\nfailed {failed}"),
        }
    }
}

/// The library, if it was built.
fn library() -> Option<PathBuf> {
    let here = std::env::current_exe().ok()?;
    here.ancestors().skip(2).map(|d| d.join("libctm_radeon_shim.so")).find(|p| p.is_file())
}

/// Compiles a pair for R700; `None` where something is absent, with a message.
fn compile(name: &str, vertex: &str, fragment: &str) -> Option<Result<Pair, String>> {
    let drawn = draw(name, vertex, fragment, "rv770")?;
    Some(drawn.and_then(|(capture, told)| {
        pair(|| File::open(&capture).map(BufReader::new), &told).map_err(|e| e.to_string())
    }))
}

/// Compiles a pixel program for X1K; `None` where something is absent, with a message.
fn compile_x1k(name: &str, vertex: &str, fragment: &str) -> Option<Result<Pixel, String>> {
    let drawn = draw(name, vertex, fragment, "r580")?;
    Some(drawn.and_then(|(capture, told)| {
        pixel(|| File::open(&capture).map(BufReader::new), &told).map_err(|e| e.to_string())
    }))
}

/// Draws a pair on a chip: the capture and the client's output, or the compiler's message.
fn draw(name: &str, vertex: &str, fragment: &str, chip: &str) -> Option<Result<(PathBuf, Value), String>> {
    let Some(library) = library() else {
        eprintln!("skipped: libctm_radeon_shim.so is not built");
        return None;
    };
    let captures = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&captures);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "client", "--nocapture"])
        .env("LD_PRELOAD", library)
        .env("CTM_RADEON_CAPTURE", &captures)
        .env("CTM_RADEON_EXECUTE", "0")
        .env("CTM_RADEON_CHIP", chip)
        .env("MESA_SHADER_CACHE_DISABLE", "true")
        .env("CTM_GLSL_VERTEX", vertex)
        .env("CTM_GLSL_FRAGMENT", fragment)
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    if let Some(failed) = out.lines().find_map(|line| line.strip_prefix("failed ")) {
        if failed.contains("on Debian") {
            eprintln!("skipped: {failed}");
            return None;
        }
        return Some(Err(failed.to_owned()));
    }
    let told = out.lines().find_map(|line| line.strip_prefix("told ")).unwrap_or_else(|| panic!("{out}{output:?}"));
    let told: Value = serde_json::from_str(told).unwrap();
    let capture = fs::read_dir(&captures).unwrap().next().unwrap().unwrap().path();
    Some(Ok((capture, told)))
}

/// Name and columns of a program's variables of a kind.
fn variables(program: &NewProgram, kind: VariableKind) -> Vec<(&str, &[u32])> {
    program.variables.iter().filter(|v| v.kind == kind).map(|v| (v.name.as_str(), v.values.as_slice())).collect()
}

#[test]
fn programs_have_their_names_and_places() {
    let Some(pair) = compile("places", VERTEX, FRAGMENT) else { return };
    let pair = pair.unwrap();
    assert!(pair.remarks.is_empty(), "{:?}", pair.remarks);
    let mut attributes = variables(&pair.vertex, VariableKind::Attribute);
    attributes.sort_unstable();
    assert_eq!(attributes, [("place", &[9, 0, 1][..]), ("position", &[10, 0, 3])]);
    let mut uniforms = variables(&pair.vertex, VariableKind::Uniform);
    uniforms.sort_unstable();
    let names: Vec<&str> = uniforms.iter().map(|u| u.0).collect();
    assert_eq!(names, ["camera", "shift"]);
    // Four constants of the matrix and one of the number, one after the other.
    let mut offsets: Vec<u32> = uniforms.iter().map(|u| u.1[2]).collect();
    offsets.sort_unstable();
    assert!(offsets == [0, 16] || offsets == [0, 4], "{offsets:?}");
    assert_eq!(variables(&pair.pixel, VariableKind::Uniform), [("colour", &[11, 0, 0, 0][..])]);
    let mut samplers = variables(&pair.pixel, VariableKind::Sampler);
    samplers.sort_unstable_by_key(|s| s.1[1]);
    assert_eq!(samplers.iter().map(|s| s.1).collect::<Vec<_>>(), [[1, 0], [1, 1]]);
    // Attributes come by location: R1 holds 1, R2 holds 3.
    let first = ctm_image::r700::registers::named("SQ_VTX_SEMANTIC").unwrap().address;
    let semantic = |n: u32| pair.vertex.code.registers.iter().find(|r| r.address == first + 4 * n).map(|r| r.value);
    assert_eq!([semantic(0), semantic(1), semantic(2)], [Some(1), Some(3), None]);
    let container = build(&[pair.vertex, pair.pixel]).unwrap();
    assert_eq!(container.shaders().unwrap().len(), 2);
}

/// Drivers compile no output that has no target, so there are as many as the shader writes.
#[test]
fn every_output_has_a_target() {
    let shaders = [
        (
            "old",
            OLD_VERTEX,
            "varying vec2 v;\nvoid main() { gl_FragData[0] = v.xyxy; gl_FragData[1] = v.xxyy; gl_FragData [ 2 ] = v.yyxx; }",
            3,
        ),
        (
            "constant",
            OLD_VERTEX,
            "varying vec2 v;\nconst int last = 1;\nvoid main() { gl_FragData[0] = v.xyxy; gl_FragData[last] = v.yyxx; }",
            2,
        ),
        (
            "array",
            "#version 330 core\nin vec4 p;\nvoid main() { gl_Position = p; }",
            "#version 330 core\nlayout(location = 0) out vec4 c[2];\nvoid main() { c[0] = vec4(1.0); c[1] = vec4(0.5); }",
            2,
        ),
    ];
    let mask = ctm_image::r700::registers::named("CB_SHADER_MASK").unwrap().address;
    for (name, vertex, fragment, targets) in shaders {
        let Some(pair) = compile(&format!("targets-{name}"), vertex, fragment) else { return };
        let registers = pair.unwrap().pixel.code.registers;
        let written = registers.iter().find(|r| r.address == mask).map(|r| r.value);
        // Four bits a target.
        let last = written.map(|mask| mask.ilog2() / 4 + 1);
        assert_eq!(last, Some(targets), "{name}: {written:x?}");
    }
}

/// Slopes are texture instructions that read no texture (R700 §9.4, GET_GRADIENTS_H): no sampler is missing.
#[test]
fn slopes_are_no_textures() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus/mesa/shaders/derivatives.frag");
    let fragment = fs::read_to_string(root).unwrap();
    let Some(pair) = compile("slopes", OLD_VERTEX, &fragment) else { return };
    let pair = pair.unwrap();
    assert!(pair.remarks.iter().all(|remark| !remark.contains("texture")), "{:?}", pair.remarks);
    assert_eq!(variables(&pair.pixel, VariableKind::Sampler), []);
}

#[test]
fn errors_are_those_of_the_compiler() {
    let bad = "#version 330 core\nout vec4 c;\nvoid main() { c = missing; }\n";
    let Some(pair) = compile("errors", VERTEX, bad) else { return };
    let error = pair.unwrap_err();
    assert!(error.contains("the fragment shader does not compile") && error.contains("missing"), "{error}");
}

/// The vertex shader that the programs of the corpus were compiled with, as far as it matters to them.
const OLD_VERTEX: &str = "#version 120
attribute vec4 p;
varying vec2 v;
void main() { gl_Position = p; v = p.xy * 0.5 + 0.5; }
";

#[test]
fn programs_of_the_corpus_come_out_word_for_word() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus");
    let names =
        [("mesa", "life"), ("mesa", "fragcoord"), ("mesa", "loop_dynamic"), ("mesa", "mrt2"), ("compiled", "worley")];
    for (folder, name) in
        names.into_iter().filter(|(folder, name)| root.join(folder).join(format!("x1k/{name}.hex")).exists())
    {
        let fragment = fs::read_to_string(root.join(folder).join(format!("shaders/{name}.frag"))).unwrap();
        let Some(pixel) = compile_x1k(&format!("x1k-{name}"), OLD_VERTEX, &fragment) else { return };
        let pixel = pixel.unwrap();
        let text = fs::read_to_string(root.join(folder).join(format!("x1k/{name}.hex"))).unwrap();
        assert_eq!(pixel.program.words, ctm_image::hex::read(&text).unwrap().words, "{name}");
        let record = fs::read_to_string(root.join(folder).join(format!("x1k/{name}.json"))).unwrap();
        let record: Value = serde_json::from_str(&record).unwrap();
        let known = |index: u8| -> Vec<u32> {
            let constants = record["constants"].as_array().unwrap();
            let constant = constants.iter().find(|c| c["index"].as_u64() == Some(index.into()));
            let hex = constant.unwrap_or_else(|| panic!("{name}: c{index}"))["hex"].as_array().unwrap();
            hex.iter().map(|hex| u32::from_str_radix(hex.as_str().unwrap(), 16).unwrap()).collect()
        };
        for literal in &pixel.program.literals {
            let Literal::Float { index, bits } = *literal else { continue };
            assert_eq!(known(index), bits, "{name}: c{index}");
        }
        // Constants that scale a position are a job's to give, not the program's.
        for &(index, of) in &pixel.of_target {
            assert_eq!(known(index), of.value(64.0, 64.0).map(f32::to_bits), "{name}: c{index}");
            assert!(
                pixel.program.symbols.iter().any(|symbol| symbol.index == index && symbol.name.starts_with("target_"))
            );
        }
        assert_eq!(pixel.of_target.len(), if name == "fragcoord" { 3 } else { 0 }, "{name}");
        let position = [StartInput::Position];
        assert_eq!(pixel.inputs, if name == "fragcoord" { &position[..] } else { &[StartInput::Varying(0)] }, "{name}");
        assert_eq!(pixel.program.usage().outputs.len(), if name == "mrt2" { 2 } else { 1 }, "{name}");
    }
}

#[test]
fn programs_of_the_x1k_have_their_names() {
    let fragment = "#version 120
uniform sampler2D first, second;
uniform vec4 colour;
uniform mat2 turn;
uniform int count;
uniform bool whether;
varying vec2 v;
void main() {
    vec2 at = turn * v;
    vec4 sum = texture2D(second, at) * colour;
    for (int i = 0; i < count; i++) sum += texture2D(first, at * sum.x);
    if (whether) sum = sum.yxwz;
    gl_FragColor = sum + vec4(0.3);
}
";
    let Some(pixel) = compile_x1k("x1k-names", OLD_VERTEX, fragment) else { return };
    let pixel = pixel.unwrap();
    assert!(pixel.program.preloads.iter().all(|preload| matches!(preload, Preload::Interpolant { index: 0, .. })));
    let names = |kind| {
        let of_kind = pixel.program.symbols.iter().filter(|symbol| symbol.kind == kind);
        of_kind.map(|symbol| symbol.name.as_str()).collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(names(SymbolKind::Input), ["first", "second"].into());
    assert_eq!(names(SymbolKind::Float), ["colour", "count", "turn[0]", "turn[1]"].into());
    assert_eq!(pixel.remarks, ["uniform `whether` is a boolean, whose place cannot be seen"]);
}

/// Runs the vertex program of a pair on the reference interpreter. The expected outputs follow from the GLSL.
#[test]
fn vertex_programs_of_the_x1k_have_their_names() {
    use ctm_exec::pvs::{BUDGET, DecodedProgram, Vertex, run};
    use ctm_isa::pvs::program::SymbolKind::{Constant, Input, Output};
    let vertex = "#version 120
attribute vec3 position;
attribute vec2 place;
uniform mat4 camera;
uniform vec4 shift;
varying vec2 v;
void main() { gl_Position = camera * vec4(position, 1.0) + shift; v = place.yx * 0.25; }
";
    let fragment = "#version 120\nvarying vec2 v;\nvoid main() { gl_FragColor = v.xyxy; }\n";
    let Some(pixel) = compile_x1k("x1k-vertex", vertex, fragment) else { return };
    let program = pixel.unwrap().vertex;
    let errors = ctm_isa::pvs::check::check(&program);
    assert!(errors.iter().all(|found| found.severity != ctm_isa::diag::Severity::Error), "{errors:?}");
    let text = ctm_isa::pvs::text::disassemble(&program, &ctm_isa::pvs::text::ListingOptions::default());
    let again = ctm_isa::pvs::text::assemble(&text).program.unwrap();
    assert_eq!(again.words, program.words);
    assert_eq!(program.symbol(Output, "position"), Some(0));
    let bits = |of: [f32; 4]| of.map(f32::to_bits);
    let mut constants = [[0; 4]; 256];
    for literal in &program.literals {
        constants[usize::from(literal.index)] = literal.bits;
    }
    for n in 0..4 {
        // Twice the position.
        let column = std::array::from_fn(|row| if row == n { 2.0 } else { 0.0 });
        let place = program.symbol(Constant, &format!("camera[{n}]")).unwrap();
        constants[usize::from(place)] = bits(column);
    }
    constants[usize::from(program.symbol(Constant, "shift").unwrap())] = bits([0.5, 0.0, -0.5, 0.0]);
    let mut inputs = [[0; 4]; 16];
    inputs[usize::from(program.symbol(Input, "position").unwrap())] = bits([1.0, 2.0, 3.0, 1.0]);
    inputs[usize::from(program.symbol(Input, "place").unwrap())] = bits([8.0, 4.0, 0.0, 1.0]);
    let mut vertex = Vertex::new(&inputs);
    run(&DecodedProgram::new(&program), &constants, &mut vertex, BUDGET).unwrap();
    assert_eq!(vertex.outputs[0].map(f32::from_bits), [2.5, 4.0, 5.5, 2.0]);
    assert_eq!(vertex.outputs[1].map(f32::from_bits)[..2], [1.0, 2.0]);
}

#[test]
fn what_the_x1k_cannot_do_is_said_by_its_compiler() {
    let fragment = "#version 330 core\nout vec4 c;\nvoid main() { c = vec4(1); }\n";
    let Some(pixel) = compile_x1k("x1k-version", VERTEX, fragment) else { return };
    let error = pixel.unwrap_err();
    assert!(error.contains("version") || error.contains("context"), "{error}");
}
