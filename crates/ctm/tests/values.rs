//! Values that do not fit: constants, registers, sizes. Each is an error that lists the allowed values.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm::draw::Draw;
use ctm::job::{Job, JobError, Reader};
use ctm::run::{ArgumentError, Error};
use ctm::{Isa, Program, Run, View};
use ctm_exec::x1k::{Sampler, Wrap};
use std::path::Path;

const ADD: &str = ".input x = s0\n.output y = o0\n.const k = c0\n.int n = i0\n.bool b = b0\ntex r1, x, r0.rg\nrep n\nadd r1, r1, k\nendrep\nif b\nadd r1, r1, 1\nendif\nmov y, r1\n";

fn messages(error: &JobError) -> Vec<String> {
    let line = |r: &ctm::render::Report| match &r.diagnostic.help {
        Some(help) => format!("{} ({help})", r.diagnostic.message),
        None => r.diagnostic.message.clone(),
    };
    error.reports().iter().map(line).collect()
}

/// A job of flags over the program.
fn flags(program: &str, name: &str, flags: &[(&str, &str)]) -> Result<Job, JobError> {
    let mut reader = Reader::for_program_bytes(name, program.as_bytes().to_vec());
    reader.flag("size", "4x1");
    flags.iter().for_each(|(flag, value)| reader.flag(flag, value));
    reader.finish()
}

fn run(program: &str, name: &str, all: &[(&str, &str)]) -> Result<(), Vec<String>> {
    let job = flags(program, name, all).map_err(|e| messages(&e))?;
    job.run(|_| {}).map(drop).map_err(|e| messages(&e))
}

#[test]
fn a_register_of_another_kind_is_no_constant() {
    let cases = [
        (
            ("const", "i0=1,2,3,4"),
            "the program has no float constant `i0`; it has k (`i0` is one of the int constants, which --int sets)",
        ),
        (
            ("const", "s0=1,2,3,4"),
            "the program has no float constant `s0`; it has k (`s0` is one of the X1K inputs, which --in sets)",
        ),
        (
            ("int", "c5=1,0,0"),
            "the program has no integer constant `c5`; it has n (`c5` is one of the float constants, which --const sets)",
        ),
        (
            ("bool", "o1=true"),
            "the program has no boolean constant `o1`; it has b (`o1` is one of the X1K outputs, which --out sets)",
        ),
        (
            ("const", "c0=1e400,0,0,0"),
            "constant c0 has 1e400, single precision holds numbers up to 3.4028235e38 (inf is written `inf`)",
        ),
        (
            ("const", "c0=1e39,0,0,0"),
            "constant c0 has 1e39, single precision holds numbers up to 3.4028235e38 (inf is written `inf`)",
        ),
        (("const", "c0=1,2,3"), "constant c0 is a list of 3, it must have four numbers r, g, b, a"),
        (
            ("const", "k=1,2,3,4,5,6,7,8"),
            "constant `k` has 2 rows of four numbers, one for each launch, and its program runs once",
        ),
        (("const", "c256=0,0,0,0"), "`float` is 256, float constants are 0 to 255"),
        (("int", "i32=0,0,0"), "`int` is 32, int constants are 0 to 31"),
        (("int", "n=256,0,0"), "`count` is 256, it must be 0 to 255"),
        (("int", "n=1.5,0,0"), "`count` is a number, it must be an integer"),
        (("bool", "b=2"), "`b` is an integer, it must be true or false"),
        (("budget-seconds", "nan"), "`budget_seconds` is NaN, it must be a number of seconds, 0 for no limit"),
    ];
    for ((flag, value), expected) in cases {
        let mut all = vec![("const", "k=1,2,3,4"), ("int", "n=1,0,0"), ("bool", "b=true"), ("in", "x=none.npy")];
        // The right constant makes way for the wrong one.
        all.retain(|(_, given)| given.split('=').next() != value.split('=').next());
        if value.starts_with("c0") {
            all.retain(|(_, given)| !given.starts_with('k'));
        }
        all.push((flag, value));
        let found = run(ADD, "add.x1k", &all).unwrap_err();
        assert!(found.iter().any(|message| message == expected), "--{flag} {value}: {found:#?}");
    }
    let found = flags(ADD, "add.x1k", &[("in", "c0=a.npy"), ("out", "s0=a.npy")]).unwrap();
    let found = messages(&found.run(|_| {}).unwrap_err());
    assert!(found.iter().any(|m| m.starts_with("the program has no input `c0`")), "{found:#?}");
    assert!(found.iter().any(|m| m.starts_with("the program has no output `s0`")), "{found:#?}");
}

#[test]
fn infinity_is_meant_where_it_is_written() {
    let text = "program = \"a.x1k\"\ndomain = [0, 0, 0, 0]\n[constants]\nfloat = { 0 = [inf, -inf, nan, 1e400] }\n";
    let error = Job::parse(text, "job.toml", Path::new("")).unwrap_err();
    let expected = "constant 0 has 1e400, single precision holds numbers up to 3.4028235e38 (inf is written `inf`)";
    assert_eq!(messages(&error), [expected]);
    let job = Job::parse(&text.replace("1e400", "1e-60"), "job.toml", Path::new("")).unwrap();
    assert_eq!(job.passes[0].float.values().next().unwrap().value[3], 0);
}

#[test]
fn uniforms_of_jobs_are_laid_out() {
    let program = "; $UNIFORM_VARS[0].name = \"m\"\n; $UNIFORM_VARS[0].type = \"mat3x3\"\n; $UNIFORM_VARS[0].block = -1\n; $UNIFORM_VARS[0].offset = 0\n\
                   ; $UNIFORM_VARS[1].name = \"w\"\n; $UNIFORM_VARS[1].type = \"float\"\n; $UNIFORM_VARS[1].count = 5\n; $UNIFORM_VARS[1].block = -1\n; $UNIFORM_VARS[1].offset = 12\n\
                   ALU:\n 0 x: MOV R0.x, C2.x\n y: MOV R0.y, C7.x\n 1 z: MOV R0.z, C1.z\n w: MOV R0.w, C3.x\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM\n";
    let job = flags(program, "u.psh", &[("const", "m=1,2,3,4,5,6,7,8,9"), ("const", "w=10,20,30,40,50")]).unwrap();
    let report = job.run(|_| {}).unwrap_or_else(|e| panic!("{:#?}", messages(&e)));
    assert_eq!(report.array(0).unwrap().to_f32()[..4], [7.0, 50.0, 6.0, 10.0]);
    for (value, expected) in [
        (
            "m=1,2,3,4,5,6,7",
            "`m` is mat3x3 and takes 9 numbers, column by column (or 12, four for each constant); 7 are given",
        ),
        ("w=1,2,3", "`w` is float[5] and takes 5 numbers (or 20, four for each constant); 3 are given"),
        ("w=1", "`w` is float[5] and takes 5 numbers (or 20, four for each constant); 1 are given"),
    ] {
        let found = run(program, "u.psh", &[("const", value)]).unwrap_err();
        assert!(found.iter().any(|message| message == expected), "{value}: {found:#?}");
    }
}

/// The colour that a pair with uniforms draws, at one pixel.
fn drawn(constants: &[(&str, &[f32])]) -> Result<[f32; 4], String> {
    let vertex = "; $ATTRIB_VARS[0].name = \"position\"\n; $ATTRIB_VARS[0].location = 0\nCALL_FS\nEXP_DONE: POS0, R1.xyzw\nEXP_DONE: PARAM0, R1.xyzw\nEND_OF_PROGRAM";
    let pixel = "; $UNIFORM_BLOCKS[0].name = \"block\"\n; $UNIFORM_BLOCKS[0].offset = 1\n; $UNIFORM_BLOCKS[0].size = 128\n\
                 ; $UNIFORM_VARS[0].name = \"m\"\n; $UNIFORM_VARS[0].type = \"mat3x3\"\n; $UNIFORM_VARS[0].block = 0\n; $UNIFORM_VARS[0].offset = 0\n\
                 ; $UNIFORM_VARS[1].name = \"w\"\n; $UNIFORM_VARS[1].type = \"float\"\n; $UNIFORM_VARS[1].count = 5\n; $UNIFORM_VARS[1].block = 0\n; $UNIFORM_VARS[1].offset = 12\n\
                 ; $UNIFORM_VARS[2].name = \"v\"\n; $UNIFORM_VARS[2].type = \"vec3\"\n; $UNIFORM_VARS[2].block = 0\n; $UNIFORM_VARS[2].offset = 32\n\
                 ALU: KCACHE0(CB1:0-15)\n 0 x: MOV R0.x, KC0[2].x\n y: MOV R0.y, KC0[7].x\n 1 z: MOV R0.z, KC0[1].z\n w: MOV R0.w, KC0[8].z\nEXP_DONE: PIX0, R0.xyzw\nEND_OF_PROGRAM";
    let [vertex, pixel] =
        [vertex, pixel].map(|text| Program::assemble_for(Isa::R700, text).unwrap_or_else(|e| panic!("{e}")));
    let triangle: [f32; 8] = [-4.0, -4.0, 8.0, -4.0, -4.0, 8.0, 0.0, 0.0];
    let mut draw = Draw::of(&vertex, &pixel).size(2, 2).attribute("position", View::line(&triangle[..6], 2));
    draw = draw.target(0, ctm::ctm_draw::format::ColourFormat::RGBA32F, [0.0; 4]);
    for (name, values) in constants {
        draw = draw.constant(name, values);
    }
    let done = draw.run().map_err(|e| e.to_string())?;
    Ok(done.targets[0].texels().next().unwrap().map(f32::from_bits))
}

#[test]
fn uniforms_of_draws_are_laid_out() {
    let m: &[f32] = &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];
    let w: &[f32] = &[10.0, 20.0, 30.0, 40.0, 50.0];
    let v: &[f32] = &[0.25, 0.5, 0.75];
    assert_eq!(drawn(&[("m", m), ("w", w), ("v", v)]).unwrap(), [7.0, 50.0, 6.0, 0.75]);
    // By number: constants of the bank that the program locks.
    assert_eq!(drawn(&[("m", m), ("w", w), ("cb1[8]", &[0.0, 0.0, 9.0, 0.0])]).unwrap()[3], 9.0);
    let seven = [0.0; 7];
    for (name, values, expected) in [
        ("v", &seven[..], "`v` is vec3 and takes 3 numbers (or 4, four for each constant); 7 are given"),
        ("w", &seven[..4], "`w` is float[5] and takes 5 numbers (or 20, four for each constant); 4 are given"),
        ("cb1[8]", &seven[..], "`cb1[8]` has 7 numbers; a constant has 1 to 4, several constants have four each"),
        (
            "cb1[99]",
            &seven[..4],
            "`cb1[99]` is a constant that no program reads: the vertex program reads none of cb1, the pixel program reads cb1[0] to cb1[15]",
        ),
        (
            "cb0[0]",
            &seven[..4],
            "`cb0[0]` is a constant that no program reads: the vertex program reads none of cb0, the pixel program reads none of cb0",
        ),
        (
            "c3",
            &seven[..4],
            "`c3` is a constant that no program reads: the vertex program reads none by number, the pixel program reads none by number",
        ),
    ] {
        let error = drawn(&[(name, values)]).unwrap_err();
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn inputs_that_are_read_in_place_are_as_large_as_the_domain() {
    let program = Program::assemble(".input x = s0\n.output y = o0\ntex r1, x, r0.rg\nmul y, r1, 10\n").unwrap();
    let (two, four, eight) = ([1.0, 2.0], [1.0, 2.0, 3.0, 4.0], [0.0; 8]);
    let line = |x: &[f32]| Run::of(&program).elements(4).input("x", View::line(x, 1)).output("y", 1).run();
    assert_eq!(line(&four).unwrap().values("y"), [10.0, 20.0, 30.0, 40.0]);
    for (wrong, count) in [(&two[..], 2), (&eight[..], 8)] {
        let Err(Error::Argument(ArgumentError::Shape { message, .. })) = line(wrong) else { panic!("{count}") };
        let expected = format!(
            "it has {count} elements, and the program reads it at each processor's own place only, of which the domain has 4 elements"
        );
        assert!(message.starts_with(&expected), "{message}");
    }
    // A sampler defines reads outside of it.
    let clamped = Run::of(&program).elements(4).sampled("x", &two, Sampler::default()).output("y", 1).run().unwrap();
    assert_eq!(clamped.values("y"), [10.0, 20.0, 20.0, 20.0]);
    let repeat = Sampler { wrap: [Wrap::Repeat; 2], ..Sampler::default() };
    let repeated = Run::of(&program).elements(4).sampled("x", &two, repeat).output("y", 1).run().unwrap();
    assert_eq!(repeated.values("y"), [10.0, 20.0, 10.0, 20.0]);
    // A part of an array is no other size.
    let part = ctm::Domain { i0: 2, j0: 0, i1: 3, j1: 0 };
    assert!(Run::of(&program).domain(part).input("x", &eight).run().is_ok());
    assert!(Run::of(&program).domain(part).input("x", &two).run().is_err());
    // Gathers and stencils have arrays of their own size.
    for text in [
        ".input x = s0\n.output y = o0\ntex r1, x, r0.rg\nadd r2, r0, 1\ntex r3, x, r2.rg\nadd y, r1, r3\n",
        ".input x = s0\n.output y = o0\nmul r0, r0, 0.5\ntex r1, x, r0.rg\nmov y, r1\n",
        ".input x = s0\n.output y = o0\ntex r1, x, r0.rr\nmov y, r1\n",
    ] {
        let gather = Program::assemble(text).unwrap();
        assert!(Run::of(&gather).elements(4).input("x", &two).run().is_ok(), "{text}");
    }
    let r700 = ".stage pixel\n.resource map t0\n.sampler near s0\nTEX:\n  SAMPLE R1.xyzw, R0.xy__, map, near DENORM(XY)\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n";
    let r700 = Program::assemble_for(Isa::R700, r700).unwrap();
    assert!(Run::of(&r700).elements(4).input("map", &four).run().is_ok());
    let error = Run::of(&r700).elements(4).input("map", &two).run().unwrap_err();
    assert!(error.to_string().contains("it has 2 elements"), "{error}");
}

#[test]
fn a_file_smaller_than_the_domain_needs_a_wrap() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("values");
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join("two.npy");
    let array = ctm::array::Array { height: 1, width: 2, channels: 1, values: ctm::array::Values::F32(vec![1.0, 2.0]) };
    std::fs::write(&file, array.to_bytes(ctm::array::ArrayFileKind::Npy).unwrap()).unwrap();
    let program = ".input x = s0\n.output y = o0\ntex r1, x, r0.rg\nmov y, r1\n";
    let given = format!("x={}", file.display());
    let found = run(program, "copy.x1k", &[("in", &given)]).unwrap_err();
    assert!(found[0].contains("it has 2 elements"), "{found:#?}");
    assert!(found[0].contains("wrap = \"clamp\""), "{found:#?}");
    run(program, "copy.x1k", &[("in", &format!("{given}:wrap=clamp"))]).unwrap();
}
