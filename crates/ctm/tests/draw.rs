//! Pictures of pairs of programs: the example, both engines, and messages about missing parts.
//!
//! Truth: the example's picture was inspected; engines agree bit for bit.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm::EngineKind;
use ctm::array::{Array, ArrayFileKind, Values};
use ctm::draw::{
    BUILT_IN, Camera, Channel, DepthPlan, DrawPlan, Drawing, Drawn, Mixing, ProgramSource, TargetPlan, TextureBinding,
    TextureData, animation,
};
use ctm::job::Ref;
use ctm_draw::format::{ColourFormat, NumberType};
use ctm_exec::r700::resources::Image;
use ctm_isa::r700::ops::DataFormat;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn cube() -> Drawing {
    let example = root().join("examples/draw/cube");
    let mut drawing = Drawing::new(vec![example.join("cube.vsh"), example.join("cube.psh")]);
    drawing.size = [320, 240];
    let plan = &mut drawing.draws[0];
    plan.mesh = "cube".into();
    plan.cameras.push(("mvp".into(), Camera::default()));
    plan.textures.push(TextureBinding::file("colour", root().join("docs/mandelbrot.png")));
    drawing
}

fn drawn(drawing: &Drawing) -> Drawn {
    drawing.prepare().unwrap().draw(0.0).unwrap()
}

#[test]
fn the_example_draws_its_picture() {
    let picture = drawn(&cube());
    assert_eq!(picture.findings, <Vec<String>>::new());
    let bytes = std::fs::read(root().join("examples/draw/cube/cube.png")).unwrap();
    let expected = Array::from_bytes(ArrayFileKind::Png, &bytes, None).unwrap();
    assert_eq!(expected.values, Values::U8(picture.pixels()));
}

#[test]
fn engines_and_threads_draw_the_same() {
    let mut drawing = cube();
    drawing.samples = 4;
    drawing.size = [96, 64];
    let jit = drawn(&drawing);
    drawing.engine = EngineKind::Interp;
    drawing.one_thread = true;
    let interp = drawn(&drawing);
    assert!(jit.pixels() == interp.pixels() && jit.counts == interp.counts);
    assert!(jit.depths.iter().zip(&interp.depths).all(|(a, b)| a.to_bits() == b.to_bits()));
}

#[test]
fn every_mesh_and_an_animation() {
    let mut drawing = cube();
    drawing.size = [40, 30];
    for mesh in BUILT_IN {
        drawing.draws[0].mesh = mesh.into();
        assert!(drawn(&drawing).counts.pixels > 40, "{mesh}");
    }
    let mut prepared = drawing.prepare().unwrap();
    let frames: Vec<Drawn> = [0.0, 0.25].iter().map(|&time| prepared.draw(time).unwrap()).collect();
    assert!(frames[0].pixels() != frames[1].pixels());
    let bytes = animation(&frames, 40).unwrap();
    let first = Array::from_bytes(ArrayFileKind::Png, &bytes, None).unwrap();
    assert_eq!(first.values, Values::U8(frames[0].pixels()));
    assert!(bytes.windows(4).any(|four| four == b"acTL"));
}

#[test]
fn what_is_missing_or_wrong_is_told() {
    let mut bare = cube();
    bare.draws[0].cameras.clear();
    bare.draws[0].textures.clear();
    let findings = bare.prepare().unwrap().draw(0.0).map(|drawn| drawn.findings);
    // A lookup without a texture is a fault.
    assert!(findings.is_err() || findings.is_ok_and(|all| all.len() == 2));
    let told = |change: fn(&mut Drawing)| {
        let mut drawing = cube();
        change(&mut drawing);
        drawing.prepare().err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(
        told(|d| d.draws[0].constants.push(("mpv".into(), vec![1.0]))),
        "the programs have no constant `mpv`; they have mvp; did you mean `mvp`?"
    );
    assert_eq!(told(|d| d.size = [0, 5]), "the picture is 0 x 5, allowed is 1..=16384 each");
    assert_eq!(told(|d| d.samples = 3), "3 samples, allowed is 1, 2, 4 or 8");
    // A drawing that needs too much memory is refused before any is taken: a depth of 4 bytes, and one target or eight of 16.
    let format = ctm_draw::format::ColourFormat::RGBA32F;
    let large = |count: u8| {
        let mut drawing = cube();
        (drawing.size, drawing.samples) = ([16384; 2], 8);
        drawing.targets = (0..count).map(|n| TargetPlan { format, ..TargetPlan::new(n) }).collect();
        drawing.prepare().err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert_eq!(large(1), "targets of 16384 x 16384 take 42949672960 bytes, allowed is 2147483648");
    assert_eq!(large(8), "targets of 16384 x 16384 take 283467841536 bytes, allowed is 2147483648");
    assert!(told(|d| d.draws[0].mesh = "sofa".into()).starts_with("there is no mesh `sofa`; there are triangle, quad"));
    assert!(told(|d| d.draws[0].textures[0].slot = "color".into()).ends_with("did you mean `colour`?"));
    assert!(
        told(|d| d.draws[0].attributes.push(("x".into(), ctm::draw::Channel::Colour)))
            .contains("position, normal, texcoord")
    );
    assert!(told(|d| d.draws[0].programs.truncate(1)).contains("is no GFD container"));
}

#[test]
fn the_jobs_of_the_examples_draw_their_pictures() {
    for name in ["cube", "pair"] {
        let folder = root().join("examples/draw").join(name);
        let picture = drawn(&Drawing::read(&folder.join("job.toml")).unwrap());
        assert_eq!(picture.findings, <Vec<String>>::new());
        let bytes = std::fs::read(folder.join(format!("{name}.png"))).unwrap();
        let expected = Array::from_bytes(ArrayFileKind::Png, &bytes, None).unwrap();
        assert_eq!(expected.values, Values::U8(picture.pixels()), "{name}");
    }
}

/// A quad over a cube, by halves; the quad's texture is the target of the cube.
#[test]
fn draws_follow_one_another_and_read_what_was_drawn() {
    let mut drawing = cube();
    drawing.size = [64, 48];
    drawing.samples = 4;
    drawing.at = Some([32, 24]);
    let mut over = DrawPlan::new(drawing.draws[0].programs.clone());
    over.cameras = drawing.draws[0].cameras.clone();
    over.textures = vec![TextureBinding { data: TextureData::Target(0), ..TextureBinding::file("colour", "") }];
    over.mesh = "sphere".into();
    over.name = Some("ball".into());
    over.mix(Mixing::Add);
    // It lies within the cube, and is drawn over it.
    over.depth.test = None;
    let alone = drawn(&drawing).pixels();
    drawing.draws.push(over);
    let both = drawn(&drawing);
    assert!(both.pixels() != alone);
    assert_eq!(both.draws.len(), 2);
    assert_eq!(both.counts.pixels, both.draws[0].1.pixels + both.draws[1].1.pixels);
    // The events of the middle are reported in order.
    let names: Vec<&str> = both.events.iter().map(|event| event.draw.as_str()).collect();
    assert!(names.contains(&"0") && names.contains(&"ball"), "{names:?}");
    let last = both.events.iter().rev().find(|event| !event.fragment.stored.is_empty()).unwrap();
    assert_eq!(last.fragment.exported.len(), 1);
    assert!(last.fragment.tests.iter().all(|test| test.depth_passes == (test.depth <= test.stored_depth)));
    drawing.one_thread = true;
    drawing.engine = EngineKind::Interp;
    let interp = drawn(&drawing);
    assert!(interp.pixels() == both.pixels() && interp.events == both.events);
}

#[test]
fn targets_of_other_formats_and_depths_are_kept() {
    let text = |format: &str| {
        format!(
            r#"size = [16, 8]
            programs = ["cube.vsh", "cube.psh"]
            mesh = "quad"
            [constants]
            mvp = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
            [[texture]]
            name = "colour"
            data = "cube.png"
            [[target]]
            format = "{format}"
            clear = [2, 3, 4, 5]
            [depth]
            format = "s8d24"
            stencil = 7
            [[draw]]
            scissor = [0, 0, 8, 8]
            stencil = {{ compare = "equal", reference = 7, pass = "replace", write_mask = 1 }}
            "#
        )
    };
    for format in ["16_16_16_16_FLOAT", "32_32_32_32_FLOAT", "10_11_11_FLOAT", "2_10_10_10", "5_6_5"] {
        let drawing = Drawing::parse(&text(format), "job", &root().join("examples/draw/cube")).unwrap();
        let picture = drawn(&drawing);
        let texels: Vec<[u32; 4]> = picture.targets[0].texels().collect();
        assert!(texels[0] != texels[15], "{format}");
        assert_eq!(picture.depths[15], 1.0);
        assert!((picture.depths[0] - 0.5).abs() < 1e-6);
        assert_eq!(picture.stencils.iter().map(|&s| u32::from(s)).sum::<u32>(), 16 * 8 * 7);
        assert_eq!(f32::from_bits(texels[15][0]), if format.ends_with("FLOAT") { 2.0 } else { 1.0 }, "{format}");
        assert!(picture.targets[0].to_bytes(ArrayFileKind::Npy).is_ok());
    }
}

/// R700 §9.4, SAMPLE_C: the reference is converted to the format of the texture: of a picture, of a target that is shown, of the depth.
#[test]
fn references_are_compared_in_the_format_of_the_texture() {
    let directory = std::env::temp_dir().join(format!("ctm-draw-references-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let grey = Array { height: 1, width: 1, channels: 1, values: Values::U8(vec![77]) };
    std::fs::write(directory.join("grey.png"), grey.to_bytes(ArrayFileKind::Png).unwrap()).unwrap();
    // A quarter of a step beside 77/255 and 1/2; 1/2 lies between two steps of 16 and of 24 bits, and goes to the even one.
    let (grey, half) = (0.300_781_25_f32, 0.5_f32);
    for (texture, depth, target, reference, expected) in [
        ("data = \"grey.png\"", "d32_float", "8_8_8_8", grey, 255),
        ("target = 0", "d32_float", "8_8_8_8", grey, 255),
        ("target = 0", "d32_float", "32_32_32_32_FLOAT", grey, 0),
        ("depth = true", "d16", "8_8_8_8", half, 255),
        ("depth = true", "x8d24", "8_8_8_8", half, 255),
        ("depth = true", "d16", "8_8_8_8", 0.501, 0),
        ("depth = true", "d32_float", "8_8_8_8", half, 255),
    ] {
        let program = format!(
            "; $MODE = \"UniformRegister\"\n; $SPI_PS_INPUT_CNTL[0].SEMANTIC = 0\n; $SPI_PS_INPUT_CNTL[1].SEMANTIC = 1\n\
            ; $NUM_SPI_PS_INPUT_CNTL = 2\n; $SAMPLER_VARS[0].name = \"shown\"\n; $SAMPLER_VARS[0].type = \"SAMPLER2D\"\n\
            ; $SAMPLER_VARS[0].location = 0\nALU:\n x: MOV R2.x, 0.5\n y: MOV R2.y, 0.5\n z: MOV R2.z, 0.0f\n w: MOV R2.w, ({:#010x}, {reference:?}f)\n\
            TEX:\n SAMPLE_C_LZ R3.xyzw, R2.xyzw, t0, s0\nEXP_DONE: PIX0, R3.xyzw\nEND_OF_PROGRAM\n",
            reference.to_bits()
        );
        std::fs::write(directory.join("compare.psh"), program).unwrap();
        let text = format!(
            r#"size = [8, 8]
            programs = ['{}', "compare.psh"]
            mesh = "quad"
            [constants]
            mvp = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
            [[texture]]
            name = "shown"
            {texture}
            compare = "equal"
            [[target]]
            format = "{target}"
            clear = [0.3019608, 0, 0, 1]
            [depth]
            format = "{depth}"
            clear = 0.5
            [[draw]]
            depth_test = "always"
            "#,
            // With its drive on Windows, where the folder may be on another one.
            std::path::absolute(root().join("examples/draw/cube/cube.vsh")).unwrap().display()
        );
        let mut drawing = Drawing::parse(&text, "job", &directory).unwrap();
        for engine in [EngineKind::Interp, EngineKind::Jit] {
            drawing.engine = engine;
            let red = drawn(&drawing).targets[0].texels().next().unwrap()[0];
            assert_eq!(f32::from_bits(red) * 255.0, expected as f32, "{texture}, {depth}, {target}, {reference}");
        }
    }
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn checks_tell_what_does_not_fit() {
    let mut drawing = cube();
    drawing.size = [32, 24];
    drawing.check = true;
    drawing.targets.push(TargetPlan::new(1));
    drawing.draws[0].depth.stencil = Some(ctm_draw::state::StencilFace::default());
    let told = drawn(&drawing).findings;
    let has = |what: &str| assert!(told.iter().any(|finding| finding.contains(what)), "{what}: {told:?}");
    has("target 1 is drawn to, and the pixel program exports nothing to it");
    has("a stencil test is asked for");
    has("nothing is drawn to target 1");
    drawing.depth = Some(DepthPlan::default());
    drawing.at = Some([32, 0]);
    assert!(drawing.prepare().is_err());
}

#[test]
fn budgets_and_controls_end_draws() {
    let mut drawing = cube();
    drawing.budget.instructions_per_group = Some(3);
    let error = drawing.prepare().unwrap().draw(0.0).unwrap_err().to_string();
    assert!(error.contains("instructions"), "{error}");
    let mut drawing = cube();
    drawing.control = ctm_exec::Control::new();
    drawing.control.cancel();
    let error = drawing.prepare().unwrap().draw(0.0).unwrap_err().to_string();
    assert!(error.contains("cancelled"), "{error}");
    let mut drawing = cube();
    drawing.budget.time = Some(std::time::Duration::from_nanos(1));
    let error = drawing.prepare().unwrap().draw(0.0).unwrap_err().to_string();
    assert!(error.contains("used up its"), "{error}");
}

/// Draws bind by the slots of launches: a number, a register and the program's name are the same constant and the same texture.
#[test]
fn slots_go_by_number_register_and_name() {
    let text = ".input picture = s0\n.output colour = o0\n.const tint = c1\ntex r1, picture, r0.rg scaled\nmul colour, r1, tint";
    let program = ctm::Program::assemble(text).unwrap();
    let white = vec![[1.0f32.to_bits(); 4]; 4];
    let texture = ctm_exec::r700::Texture { width: 2, height: 2, ..Default::default() };
    let picture = TextureData::Given(std::sync::Arc::new(Image { texture, levels: vec![white].into() }));
    for slots in [[Ref::Index(1), Ref::Index(0)], ["c1".into(), "s0".into()], ["tint".into(), "picture".into()]] {
        let mut drawing = Drawing::new(vec![program.clone()]);
        drawing.size = [4, 4];
        let [constant, input] = slots.clone();
        drawing.draws[0].constants.push((constant, vec![1.0, 0.5, 0.0, 1.0]));
        drawing.draws[0].textures.push(TextureBinding::new(input, picture.clone()));
        assert_eq!(drawn(&drawing).pixels()[..4], [255, 128, 0, 255], "{slots:?}");
    }
    let job = "size = [4, 4]\nprograms = [\"a.x1k\"]\nconstants = { 1 = [0, 1, 0, 1] }";
    let parsed = Drawing::parse(job, "job.toml", Path::new("")).unwrap();
    assert_eq!(parsed.draws[0].constants[0].0, Ref::Index(1));
}

#[test]
fn an_x1k_program_makes_the_colours() {
    let directory = std::env::temp_dir().join(format!("ctm-draw-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let program = directory.join("tint.x1k");
    std::fs::write(&program, ".output colour = o0\n        mul   colour.rgb, r0.rgb, c0.rgb  | mov  colour.a, 1\n")
        .unwrap();
    let mut drawing = Drawing::new(vec![program]);
    drawing.size = [32, 32];
    drawing.draws[0].constants.push(("c0".into(), vec![1.0, 0.5, 0.0, 0.0]));
    let picture = drawn(&drawing);
    // Texture coordinates begin in the upper left corner.
    let pixel = |x: usize, y: usize| picture.pixels()[4 * (32 * y + x)..][..4].to_vec();
    assert_eq!(pixel(0, 0), [4, 2, 0, 255]);
    assert_eq!(pixel(31, 31), [251, 126, 0, 255]);
    drawing.engine = EngineKind::Interp;
    assert!(drawn(&drawing).pixels() == picture.pixels());
    std::fs::remove_dir_all(&directory).unwrap();
}

/// Every key of the tables is in the page, in its section, with the table's words.
#[test]
fn the_page_of_jobs_has_every_key() {
    let page = std::fs::read_to_string(root().join("docs/draw-jobs.md")).unwrap();
    for section in ctm::draw::keys::SECTIONS.iter().filter(|section| section.name != "[[draw]]") {
        for key in section.keys {
            let row = format!("| `{}` | {} |", key.name, key.summary);
            assert!(page.contains(&row), "{}: {row}", section.name);
        }
    }
}

/// The example's programs, read into memory, with the mesh and the texture as arrays.
#[test]
fn draws_with_arrays_in_memory_are_those_with_files() {
    let example = root().join("examples/draw/cube");
    let [vertex, pixel] = ["cube.vsh", "cube.psh"].map(|name| ctm::Program::open(example.join(name)).unwrap());
    let bytes = std::fs::read(root().join("docs/mandelbrot.png")).unwrap();
    let texture = Array::from_bytes(ArrayFileKind::Png, &bytes, None).unwrap();
    let Values::U8(texels) = &texture.values else { panic!("bytes") };
    let shape = [texture.height, texture.width, texture.channels];
    let draw = || {
        ctm::Draw::of(&vertex, &pixel)
            .size(320, 240)
            .camera("mvp", Camera::default())
            .texture("colour", ctm::View::rows(texels, shape))
    };
    let expected = drawn(&cube());
    assert!(draw().mesh("cube").run().unwrap().pixels() == expected.pixels());
    let mesh = ctm::draw::Mesh::built_in("cube").unwrap();
    let channel = |which| mesh.channel(which).into_iter().flatten().collect::<Vec<f32>>();
    use ctm::draw::Channel;
    let [position, normal, texcoord] = [Channel::Position, Channel::Normal, Channel::Texcoord].map(channel);
    let given = |normal: &[f32]| {
        let line = |numbers| ctm::View::line(numbers, 4);
        draw()
            .attribute("position", line(&position[..]))
            .attribute("normal", line(normal))
            .attribute("2", line(&texcoord[..]))
            .indices(&mesh.indices)
    };
    let found = given(&normal).run().unwrap();
    assert!(found.pixels() == expected.pixels());
    assert_eq!(found.target(0).unwrap().array().values, Values::U8(expected.pixels()));
    let told = |draw: ctm::Draw| draw.run().err().map(|error| error.to_string()).unwrap_or_default();
    assert_eq!(told(given(&normal[4..])), "attribute `normal` has 23 elements, `position` has 24");
    assert_eq!(told(given(&normal).indices(&[0, 1, 24])), "index 24 names no vertex, there are 24");
    assert_eq!(
        told(draw().attribute("colour", ctm::View::line(&position[..], 5))),
        "attribute `colour` is no array of elements of 1 to 4 channels"
    );
    assert!(told(given(&normal).attribute("tangent", &position[..24])).contains("position, normal, texcoord"));
    assert_eq!(told(draw().indices(&[0])), "indices are the order of `attribute`s, and there are none");
    assert_eq!(
        told(draw().texture("colour", ctm::View::rows(&position[..], [2, 2, 4]))),
        "texture `colour` is no picture of 1 to 4 channels"
    );
}

/// An X1K program shades vertices that come transformed; its colours go to a target of floats, over the earlier ones.
#[test]
fn draws_of_x1k_programs_take_arrays_too() {
    let program = ctm::Program::assemble(".output o = o0\n.const k = c0\nmul o, r0, k").unwrap();
    let corners = [-1.0, -1.0, 1.0, -1.0, -1.0, 1.0, 1.0, 1.0];
    let texcoords = [0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0];
    let found = ctm::Draw::whole(&program)
        .size(4, 2)
        .attribute("position", ctm::View::line(&corners, 2))
        .attribute("texcoord", ctm::View::line(&texcoords, 2))
        .indices(&[0, 1, 2, 2, 1, 3])
        .constant("k", &[8.0, 8.0, 8.0, 8.0])
        .target(0, ctm::ctm_draw::format::ColourFormat::RGBA32F, [0.0; 4])
        .depth(None)
        .run()
        .unwrap();
    let Values::F32(values) = found.target(0).unwrap().array().values else { panic!("floats") };
    // Texture coordinates at the centres of pixels, times 8.
    assert_eq!(values[..8], [1.0, 2.0, 0.0, 8.0, 3.0, 2.0, 0.0, 8.0]);
    assert_eq!(values[16..20], [1.0, 6.0, 0.0, 8.0]);
    assert!(found.depths.is_empty());
}

/// The example's two programs as one GFD container.
fn container() -> Vec<u8> {
    let options = ctm::ctm_isa::r700::text::TextOptions::default();
    let load = |name: &str| {
        let path = root().join("examples/draw/cube").join(name);
        ctm::r700::Loaded::from_file(&path, None, None, &options).unwrap()
    };
    ctm::r700::write_gfd(&[&load("cube.vsh"), &load("cube.psh")]).unwrap()
}

/// A container with both programs is drawn from its file, from its bytes, and by its two programs one by one; names are the container's.
#[test]
fn a_container_of_both_programs_is_drawn_as_it_is() {
    let bytes = container();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("both.gsh");
    std::fs::write(&file, &bytes).unwrap();
    let white = [1.0; 16];
    let dressed = |draw: ctm::Draw| {
        let draw = draw.size(64, 48).mesh("cube").camera("mvp", Camera::default());
        draw.texture("colour", ctm::View::rows(&white[..], [2, 2, 4])).run()
    };
    let part = |which| ctm::Program::load(&bytes, "both.gsh", None, Some(which)).unwrap();
    let (vertex, pixel) = (part("0"), part("pixel"));
    let expected = dressed(ctm::Draw::open(&file)).unwrap();
    assert!(expected.counts.pixels > 100);
    for draw in [ctm::Draw::container(&bytes, "both.gsh"), ctm::Draw::of(&vertex, &pixel)] {
        let found = dressed(draw).unwrap();
        assert!(found.pixels() == expected.pixels() && found.depths == expected.depths);
    }
    assert_eq!(pixel.inputs(), [("colour".to_owned(), "t0".to_owned())]);
    let constants = vertex.constants();
    assert_eq!(constants[0], ("mvp".to_owned(), "C0".to_owned()));
    assert_eq!((constants.len(), constants[3].0.as_str()), (4, "mvp.3"));
    assert_eq!(vertex.inputs()[2], ("texcoord".to_owned(), "b162".to_owned()));
}

/// Messages of the library name its argument, not the flag of the command line.
#[test]
fn one_program_of_a_container_is_chosen_by_the_argument() {
    let message = ctm::Program::read(&container(), "both.gsh").unwrap_err().to_string();
    assert!(message.contains("both.gsh holds 2 programs, 0 (vertex), 1 (pixel); choose one with `which`"), "{message}");
    assert!(!message.contains("--program"), "{message}");
}

/// A run of one program of a container takes the container's names.
#[test]
fn a_program_of_a_container_runs_with_its_names() {
    let pixel = ctm::Program::load(&container(), "both.gsh", None, Some("1")).unwrap();
    let texels = [0.5; 4];
    let view = || ctm::View::rows(&texels[..], [1, 1, 4]);
    let done = ctm::Run::of(&pixel).size(2, 2).input("colour", view()).output("pix0", 4).run().unwrap();
    let numbered = ctm::Run::of(&pixel).size(2, 2).input("t0", view()).output("pix0", 4).run().unwrap();
    assert_eq!(done.outputs["pix0"].to_f32(), numbered.outputs["pix0"].to_f32());
    let unknown = ctm::Run::of(&pixel).size(2, 2).input("color", view()).run().unwrap_err().to_string();
    assert!(unknown.contains("colour"), "{unknown}");
}

/// A pair of the R5xx from these texts, drawn in 8 x 4.
fn r5xx(vertex: &str, pixel: &str) -> Drawing {
    let of = |text: &str, name: &str| ProgramSource::Bytes(text.as_bytes().to_vec().into(), name.into());
    let mut drawing = Drawing::new(vec![of(vertex, "a.pvs"), of(pixel, "a.x1k")]);
    drawing.size = [8, 4];
    drawing.depth = None;
    drawing.targets[0].format = ColourFormat { data: DataFormat::Fmt32_32_32_32Float, ..ColourFormat::RGBA8 };
    drawing.targets[0].format.number = NumberType::Float;
    drawing.draws[0].mesh = "quad".into();
    drawing
}

/// Truth: the numbers that the texts say, at the middles of pixels.
#[test]
fn vertex_programs_of_the_r5xx_feed_interpolants() {
    // The left half of the picture, with the mesh's s and t and a constant in two interpolants, the second of them first in order.
    let vertex = ".input position = v3, texcoord = v1\n.output clip = o0, st = o1, more = o2\n.const half = c7\n.const moved = c9 (-0.5, 0, 0, 0)\n\
                  mul r0, position, half\nadd clip, r0, moved\nmov st, texcoord\nmov more, half.wzyx\n";
    let pixel = ".output o = o0\n.interp more = t1 -> r2\n.interp st = t0 -> r5\n.const k = c0\nmad o.rgb, st.rgb, k.rgb, 0 | mov o.a, more.r\n";
    let mut drawing = r5xx(vertex, pixel);
    drawing.draws[0].constants.push(("half".into(), vec![0.5, 1.0, 1.0, 1.0]));
    drawing.draws[0].constants.push(("k".into(), vec![2.0, 4.0, 1.0, 1.0]));
    for engine in [EngineKind::Jit, EngineKind::Interp, EngineKind::Verify] {
        drawing.engine = engine;
        let drawn = drawn(&drawing);
        assert_eq!(drawn.findings, <Vec<String>>::new());
        let texels: Vec<[f32; 4]> = drawn.targets[0].texels().map(|texel| texel.map(f32::from_bits)).collect();
        for (n, texel) in texels.into_iter().enumerate() {
            let (x, y) = ((n % 8) as f32, (n / 8) as f32);
            let expected = if x < 4.0 { [(x + 0.5) / 2.0, y + 0.5, 0.0, 1.0] } else { [0.0, 0.0, 0.0, 1.0] };
            assert_eq!(texel, expected, "({x}, {y}), {engine:?}");
        }
    }
}

/// Names of columns, as `ctm glsl` gives them, and of rows take one camera's matrix.
#[test]
fn cameras_give_columns_and_rows() {
    let columns = ".input position = v0\n.output clip = o0, moved = o1\n.const \"mvp[0]\" = c0, \"mvp[1]\" = c1, \"mvp[2]\" = c2, \"mvp[3]\" = c3\n\
                   mul r0, position.x, c0\nmad r0, position.y, c1, r0\nmad r0, position.z, c2, r0\nmad clip, position.w, c3, r0\nmov moved, position\n";
    let rows = ".input position = v0\n.output clip = o0, moved = o1\n.const mvp = c4\n\
                dp4 clip.x, position, mvp\ndp4 clip.y, position, c5\ndp4 clip.z, position, c6\ndp4 clip.w, position, c7\nmov moved, position\n";
    let pixel = ".output o = o0\nmov o, r0\n";
    let picture = |text: &str, name: Option<&str>| {
        let mut drawing = r5xx(text, pixel);
        drawing.size = [64, 48];
        drawing.draws[0].mesh = "cube".into();
        drawing.draws[0].cameras.extend(name.map(|name| (name.into(), Camera::default())));
        drawn(&drawing)
    };
    let [a, b] = [columns, rows].map(|text| picture(text, Some("mvp")));
    let covered = |drawn: &Drawn| drawn.targets[0].texels().map(|of| of[0] != 0).collect::<Vec<_>>();
    assert_eq!(covered(&a), covered(&b));
    assert!(a.counts.pixels > 300 && b.counts.pixels == a.counts.pixels, "{:?}", a.counts);
    // A program of the X1K alone takes a camera without a name.
    let mut alone = r5xx(rows, ".output o = o0\nmov o, 1\n");
    alone.draws[0].programs.remove(0);
    alone.draws[0].cameras.push(("".into(), Camera::default()));
    (alone.size, alone.draws[0].mesh) = ([64, 48], "cube".into());
    assert_eq!(drawn(&alone).counts.pixels, b.counts.pixels);
    // The usual name is enough.
    let usual = picture(rows, None);
    assert!(usual.counts.pixels == b.counts.pixels && usual.findings[0].contains("no camera is given: mvp"));
}

#[test]
fn mistakes_in_pairs_of_the_r5xx_are_named() {
    let vertex = ".input position = v0\n.output clip = o0\n.const by = c0\nmul clip, position, by\n";
    let pixel = ".output o = o0\n.input s = s0\ntex r0, s, r0.rg\nmov o, r0\n";
    let failed = |change: &dyn Fn(&mut Drawing)| {
        let mut drawing = r5xx(vertex, pixel);
        change(&mut drawing);
        drawing.prepare().map(|_| ()).unwrap_err().to_string()
    };
    let text = failed(&|drawing| drawing.draws[0].constants.push(("bye".into(), vec![1.0])));
    assert!(text.contains("no constant `bye`; they have by"), "{text}");
    let text = failed(&|drawing| drawing.draws[0].programs.reverse());
    assert!(text.contains("a.pvs is a vertex program: it comes first, before a.x1k"), "{text}");
    let text = failed(&|drawing| drawing.draws[0].programs.truncate(1));
    assert!(text.contains("is drawn with a pixel program of X1K"), "{text}");
    let text = failed(&|drawing| drawing.draws[0].attributes.push(("normal".into(), Channel::Normal)));
    assert!(text.contains("no attribute `normal`; they have position"), "{text}");
}

/// The picture beside the example is the one that its job draws; both are ours, so this keeps them together and proves no more.
#[test]
fn the_picture_of_the_r5xx_example_is_up_to_date() {
    let example = root().join("examples/draw/lit");
    let mut drawing = Drawing::read(&example.join("job.toml")).unwrap();
    let bytes = std::fs::read(example.join("lit.png")).unwrap();
    let expected = Array::from_bytes(ArrayFileKind::Png, &bytes, None).unwrap();
    for engine in [EngineKind::Jit, EngineKind::Verify] {
        drawing.engine = engine;
        let picture = drawn(&drawing);
        assert_eq!(picture.findings, <Vec<String>>::new());
        assert_eq!(expected.values, Values::U8(picture.pixels()));
    }
}
