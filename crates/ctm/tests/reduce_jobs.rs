//! Planted failures that depend on inputs: whole jobs shrink to the cause of the failure, and run on their own.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm::Control;
use ctm::array::{ItemType, Items, npy_bytes};
use ctm::draw::Drawing;
use ctm::job::{Job, Reader};
use ctm::trace::{Kept, reduce_job};
use ctm_testkit::seeded::Random;
use std::path::{Path, PathBuf};

/// A fresh directory.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reduce").join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    std::fs::write(path, bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
}

fn floats(path: &Path, shape: &[usize], values: &[f32]) {
    let bits: Vec<u32> = values.iter().map(|value| value.to_bits()).collect();
    write(path, npy_bytes(ItemType::Float32, shape, &bits).unwrap());
}

fn read(path: &Path) -> Option<Job> {
    Reader::for_file(path).and_then(Reader::finish).ok()
}

/// Whether output 0 has a NaN.
fn gives_nan(job: &Path) -> bool {
    let Some(report) = read(job).and_then(|job| job.without_files().run(|_| {}).ok()) else { return false };
    let output = report.outputs.first().and_then(|output| report.array(output.slot));
    output.is_some_and(|output| (0..output.height * output.row_values()).any(|n| output.value(n).is_nan()))
}

/// Elements of a picture of 48 x 40: all positive but one.
fn picture(random: &mut Random) -> (Vec<f32>, [usize; 2]) {
    let mut values: Vec<f32> = (0..48 * 40 * 4).map(|_| 0.25 + random.below(1000) as f32 / 512.0).collect();
    let at = [random.below(48), random.below(40)];
    values[(at[1] * 48 + at[0]) * 4] = -3.5;
    (values, at)
}

/// The square root of an input that is less than nothing at one place, among 200 instructions that do not matter, for the X1K.
fn plant_x1k(place: &Path, seed: u64) -> [usize; 2] {
    let mut random = Random::new(seed);
    let mut lines: Vec<String> = (0..220)
        .map(|_| {
            let (to, a, b) = (3 + random.below(4), 2 + random.below(5), 3 + random.below(4));
            let op = ["add", "mul", "max", "min"][random.below(4)];
            format!("        {op}   r{to}.rgb, r{a}.rgb, r{b}.rgb")
        })
        .collect();
    let at = 40 + random.below(120);
    lines.insert(at, "        mul   r9.rgba, r1.rrrr, scale.rrrr".into());
    lines.insert(at + 25, "        rsq   r9.r, r9.a".into());
    let head = ".input  x = s0, y = s1\n.output sum = o0\n.const  scale = c0\n.const  unused = c1\n\
                \n        tex   r1, x, r0.rg\n        tex   r2, y, r0.rg\n        mov   r3.rgb, unused.rgb\n";
    let tail = "        add   sum.rgb, r9.rrr, r3.rgb | mov sum.a, 1\n        end\n";
    write(&place.join("long.x1k"), format!("{head}{}\n{tail}", lines.join("\n")));
    let (values, at) = picture(&mut random);
    floats(&place.join("x.npy"), &[40, 48, 4], &values);
    let (values, _) = picture(&mut random);
    floats(&place.join("y.npy"), &[40, 48, 4], &values);
    let job = "# A comment.\nprogram = \"long.x1k\"\ndomain = [0, 0, 47, 39]\n\n[constants.float]\nscale = [2.625, 7.5, 1, 1]\n\
               unused = [0.123456, 1, 2, 3]\n\n[[texture]]\nslot = \"x\"\ndata = \"x.npy\"\n\n[[texture]]\nslot = \"y\"\ndata = \"y.npy\"\n\n\
               [[output]]\nslot = \"sum\"\nsave = \"sum.npy\"\n\n[run]\nengine = \"interp\"\nbudget_instructions = 100000\n";
    write(&place.join("job.toml"), job);
    at
}

/// The same for the R700; a row of a constant buffer matters as well.
fn plant_r700(place: &Path, seed: u64) -> [usize; 2] {
    let mut random = Random::new(seed);
    let mut groups: Vec<String> = (0..210)
        .map(|_| {
            let (to, a, b) = (3 + random.below(4), 2 + random.below(5), 3 + random.below(4));
            let op = ["ADD", "MUL", "MAX", "MIN"][random.below(4)];
            let channel = ["x", "y", "z", "w"][random.below(4)];
            format!("     {channel}: {op} R{to}.{channel}, R{a}.{channel}, R{b}.{channel}\n")
        })
        .collect();
    let at = 30 + random.below(70);
    groups.insert(at, "     x: MUL R9.x, R1.x, KC0[5].z\n".into());
    groups.insert(at + 25, "     t: RECIPSQRT_IEEE R9.y, R9.x\n".into());
    let clause = |groups: &[String]| format!("ALU: KCACHE0(CB0:0-15)\n{}", groups.join("\n"));
    let text = format!(
        ".stage pixel\nALU:\n     x: ADD R0.x, R0.x, 0.5f\n     y: ADD R0.y, R0.y, 0.5f\nTEX:\n     SAMPLE R1.xyzw, R0.xy__, t0, s0 DENORM(XY)\n     \
         SAMPLE R2.xyzw, R0.xy__, t1, s0 DENORM(XY)\n{}{}ALU:\n     x: ADD R10.x, R9.y, R3.x\n     y: MOV R10.y, R3.y\n     z: MOV R10.z, R3.z\n     \
         w: MOV R10.w, 1.0f\nEXP_DONE: PIX0, R10.xyzw\nEND_OF_PROGRAM\n",
        clause(&groups[..110]),
        clause(&groups[110..])
    );
    write(&place.join("long.psh"), text);
    let (values, at) = picture(&mut random);
    floats(&place.join("x.npy"), &[40, 48, 4], &values);
    let (values, _) = picture(&mut random);
    floats(&place.join("y.npy"), &[40, 48, 4], &values);
    let rows: Vec<String> = (0..12).map(|n| format!("[{n}.5, 1, {n}.25, 3]")).collect();
    let job = format!(
        "program = \"long.psh\"\ndomain = [0, 0, 47, 39]\n\n[[constant_buffer]]\nbank = 0\nvalues = [{}]\n\n[[texture]]\nslot = 0\ndata = \"x.npy\"\n\n\
         [[texture]]\nslot = 1\ndata = \"y.npy\"\n\n[[output]]\nslot = 0\nsave = \"sum.npy\"\n\n[run]\nengine = \"interp\"\n",
        rows.join(", ")
    );
    write(&place.join("job.toml"), job);
    at
}

/// Moves a directory elsewhere: the reduced job needs nothing of its old place.
fn moved(from: &Path, to: &Path) -> PathBuf {
    let _ = std::fs::remove_dir_all(to);
    std::fs::rename(from, to).unwrap();
    to.join("job.toml")
}

fn instructions(job: &Path) -> usize {
    let programs = read(job).unwrap().programs().unwrap_or_else(|e| panic!("{e}"));
    match &programs[0].program {
        ctm::job::AnyProgram::X1k(program) => program.words.len(),
        ctm::job::AnyProgram::R700(program) => {
            // Groups, fetches and control-flow instructions, as the listing has them.
            let text = ctm_isa::r700::text::disassemble(program, &ctm_isa::r700::text::TextOptions::default());
            let is_one = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with(['.', ';']);
            text.lines().filter(is_one).count()
        }
    }
}

/// An emulator tries one of each machine.
#[test]
fn planted_jobs_of_both_machines_become_small() {
    for seed in 1..=if ctm_testkit::in_emulator() { 2 } else { 10u64 } {
        let name = format!("planted-{seed}");
        let place = directory(&name);
        let at = if seed % 2 == 1 { plant_x1k(&place, seed) } else { plant_r700(&place, seed) };
        let job = place.join("job.toml");
        assert!(
            gives_nan(&job),
            "seed {seed}: {:?}",
            Reader::for_file(&job).and_then(Reader::finish).and_then(|job| job.run(|_| {})).map(|_| ())
        );
        assert!(instructions(&job) > 200);
        let small = directory(&format!("{name}-small"));
        let made = reduce_job(&job, &small, &Control::none(), &mut |kept: Kept<'_>| gives_nan(kept.job))
            .unwrap_or_else(|e| panic!("{e}"));
        let _ = std::fs::remove_dir_all(&place);
        let job = moved(&small, &small.with_extension("elsewhere"));
        assert!(gives_nan(&job), "seed {seed}");
        let left = instructions(&job);
        let text = std::fs::read_to_string(&job).unwrap();
        assert!(left <= 10, "seed {seed}: {left} instructions are left\n{text}");
        let read = read(&job).unwrap();
        let domain = read.passes[0].domain;
        assert_eq!(
            (domain.width(), domain.height()),
            (1, 1),
            "seed {seed}: of all processors the one at {at:?}\n{text}"
        );
        assert!(!text.contains("unused") && !text.contains("save"), "seed {seed}:\n{text}");
        // One element of one input is left, where the program reads it, and of the constants only those that matter.
        for file in std::fs::read_dir(job.parent().unwrap()).unwrap().flatten() {
            let path = file.path();
            if path.extension().is_some_and(|e| e == "npy") {
                let items = Items::from_npy(&std::fs::read(&path).unwrap()).unwrap();
                let count: usize = items.shape.iter().product();
                assert!(count <= 16, "seed {seed}: {} has {:?}", path.display(), items.shape);
            }
        }
        assert!(made.bytes[1] < 1500 && made.bytes[0] > 60_000, "seed {seed}: {:?}", made.bytes);
        println!("seed {seed}: {left} instructions, {:?} bytes, {} tries", made.bytes, made.tries);
    }
}

/// Whether a pixel is green without red.
fn is_green(job: &Path) -> bool {
    let drawn = Drawing::read(job).ok().and_then(|drawing| {
        let mut prepared = drawing.prepare().ok()?;
        prepared.draw(0.0).ok()
    });
    drawn.is_some_and(|drawn| drawn.pixels().chunks(4).any(|texel| texel[1] > 200 && texel[0] < 50))
}

#[test]
fn a_planted_draw_job_keeps_one_triangle() {
    let place = directory("draw");
    // Forty triangles in rows of positions, normals, texture coordinates and colours; one of them is green.
    let mut rows = Vec::new();
    for n in 0..40u8 {
        let (x, y) = (f32::from(n % 8) / 4.0 - 1.0, f32::from(n / 8) / 2.5 - 1.0);
        let colour = if n == 29 { [0.0, 1.0, 0.0, 1.0] } else { [0.75, 0.5, 0.25, 1.0] };
        for corner in [[0.0, 0.0], [0.24, 0.0], [0.0, 0.35]] {
            rows.extend([x + corner[0], y + corner[1], 0.125, 0.0, 0.0, 1.0, 0.0, 0.0]);
            rows.extend(colour);
        }
    }
    floats(&place.join("mesh.npy"), &[120, 12], &rows);
    write(
        &place.join("colour.x1k"),
        "        mul r1, r0, r0\n        add r2, r1, r1\n        max r3, r2, r1\n        mov o0, r0\n        end\n",
    );
    let job = "size = [96, 80]\n\n[[target]]\nsave = \"picture.png\"\n\n[[draw]]\nname = \"behind\"\nprograms = [\"colour.x1k\"]\nmesh = \"cube\"\ninterpolants = [\"normal\"]\n\
               [draw.depth_test]\n";
    let job = job.replace("[draw.depth_test]\n", "depth_write = false\n")
        + "\n[[draw.camera]]\nconstant = \"c0\"\n\n[[draw]]\nprograms = [\"colour.x1k\"]\nmesh = \"mesh.npy\"\ninterpolants = [\"colour\"]\ninstances = 3\n";
    write(&place.join("job.toml"), job);
    let job = place.join("job.toml");
    let drawing = Drawing::read(&job).unwrap_or_else(|e| panic!("{e}"));
    assert!(drawing.prepare().and_then(|mut prepared| prepared.draw(0.0)).map_err(|e| panic!("{e}")).is_ok());
    assert!(is_green(&job));
    let small = directory("draw-small");
    let made = reduce_job(&job, &small, &Control::none(), &mut |kept: Kept<'_>| is_green(kept.job))
        .unwrap_or_else(|e| panic!("{e}"));
    let _ = std::fs::remove_dir_all(&place);
    let job = moved(&small, &small.with_extension("elsewhere"));
    assert!(is_green(&job));
    let text = std::fs::read_to_string(&job).unwrap();
    let drawing = Drawing::read(&job).unwrap();
    assert_eq!(drawing.draws.len(), 1, "{text}");
    assert!(drawing.size[0] <= 48 && drawing.size[1] <= 40, "{text}");
    assert!(!text.contains("instances") && !text.contains("camera") && !text.contains("save"), "{text}");
    let mesh = std::fs::read_dir(job.parent().unwrap()).unwrap().flatten().map(|file| file.path());
    let mesh = mesh.filter(|path| path.extension().is_some_and(|e| e == "npy")).collect::<Vec<_>>();
    assert_eq!(mesh.len(), 1, "{mesh:?}");
    assert_eq!(Items::from_npy(&std::fs::read(&mesh[0]).unwrap()).unwrap().shape, [3, 12]);
    println!("{} tries, {:?} lines, {:?} bytes\n{text}", made.tries, made.lines, made.bytes);
}

/// A DDS file of RGBA floats: all levels of all faces, face by face.
fn dds_floats(path: &Path, side: u32, levels: u32, is_cube: bool, texel: impl Fn(u32, u32, u32, u32) -> [f32; 4]) {
    let mut head = [0u32; 37];
    head[0] = u32::from_le_bytes(*b"DDS ");
    (head[1], head[2], head[3], head[4], head[7], head[19]) = (124, 0x21007, side, side, levels, 32);
    (head[20], head[21]) = (4, u32::from_le_bytes(*b"DX10"));
    // DXGI_FORMAT_R32G32B32A32_FLOAT, a texture of two dimensions, cube or not, one of them.
    (head[32], head[33], head[34], head[35]) = (2, 3, if is_cube { 4 } else { 0 }, 1);
    let mut words = head.to_vec();
    for face in 0..if is_cube { 6 } else { 1 } {
        for level in 0..levels {
            let side = (side >> level).max(1);
            for (y, x) in (0..side).flat_map(|y| (0..side).map(move |x| (y, x))) {
                words.extend(texel(face, level, x, y).map(f32::to_bits));
            }
        }
    }
    write(path, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
}

/// The npy files of a directory with their contents, and whether textures of other formats are there.
fn left_in(directory: &Path) -> (Vec<Vec<usize>>, bool) {
    let files: Vec<PathBuf> = std::fs::read_dir(directory).unwrap().flatten().map(|file| file.path()).collect();
    let is = |path: &Path, wanted: &str| path.extension().is_some_and(|e| e == wanted);
    let arrays = files.iter().filter(|path| is(path, "npy"));
    let shapes = arrays.map(|path| Items::from_npy(&std::fs::read(path).unwrap()).unwrap().shape).collect();
    (shapes, files.iter().any(|path| is(path, "dds")))
}

/// Only the negative texel of a DDS file stays; of a cube its face, of a chain of levels the one that is read.
#[test]
fn textures_in_containers_become_small() {
    let bad = |is_it: bool| if is_it { [-2.0, 0.0, 0.0, 1.0] } else { [0.5, 0.25, 0.0, 1.0] };
    let program = |fetch: &str| {
        format!(
            ".stage pixel\nALU:\n     x: ADD R0.x, R0.x, 0.5f\n     y: ADD R0.y, R0.y, 0.5f\n     z: MOV R0.z, 0\n     w: MOV R0.w, 1.0f\nTEX:\n     {fetch}\n\
             ALU:\n     t: RECIPSQRT_IEEE R1.x, R1.x\nEXP_DONE: PIX0, R1.xyzw\nEND_OF_PROGRAM\n"
        )
    };
    let job = |more: &str| {
        format!(
            "program = \"p.psh\"\ndomain = [0, 0, 31, 31]\n\n[[texture]]\nslot = 0\ndata = \"t.dds\"\n{more}\n[[output]]\nslot = 0\nsave = \"o.npy\"\n\n[run]\nengine = \"interp\"\n"
        )
    };
    let flat = "SAMPLE R1.xyzw, R0.xy__, t0, s0 DENORM(XY)";
    let of_level = "SAMPLE_L R1.xyzw, R0.xyzw, t0, s0 DENORM(XY)";
    for (name, fetch, levels, more, most) in
        [("flat", flat, 1, "", 1), ("levels", of_level, 3, "mip = \"nearest\"\n", 32 * 32)]
    {
        let place = directory(&format!("dds-{name}"));
        // With levels, it is in level 1 that something is wrong.
        dds_floats(&place.join("t.dds"), 32, levels, false, |_, level, x, y| {
            bad((level, x, y) == (levels.min(2) - 1, 9, 5))
        });
        write(&place.join("p.psh"), program(fetch));
        write(&place.join("job.toml"), job(more));
        assert!(
            gives_nan(&place.join("job.toml")),
            "{name}: {:?}",
            read(&place.join("job.toml")).map(|job| job.run(|_| {}).map(|_| ()))
        );
        let small = directory(&format!("dds-{name}-small"));
        let made =
            reduce_job(&place.join("job.toml"), &small, &Control::none(), &mut |kept: Kept<'_>| gives_nan(kept.job));
        let made = made.unwrap_or_else(|e| panic!("{name}: {e}"));
        let (shapes, has_dds) = left_in(&small);
        let text = std::fs::read_to_string(small.join("job.toml")).unwrap();
        assert!(!has_dds, "{name}: {text}");
        assert!(shapes.iter().all(|shape| shape[0] * shape[1] <= most), "{name}: {shapes:?}\n{text}");
        println!("{name}: {shapes:?}, {:?} bytes", made.bytes);
    }

    // A draw whose texture is a cube of which the program reads the first face: that one is left.
    let (place, example) =
        (directory("dds-draw"), Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/draw/cube"));
    for file in ["cube.vsh", "cube.psh"] {
        std::fs::copy(example.join(file), place.join(file)).unwrap();
    }
    dds_floats(&place.join("t.dds"), 8, 1, true, |face, _, x, y| bad((face, x, y) == (0, 4, 4)));
    let job = "size = [8, 8]\nprograms = [\"cube.vsh\", \"cube.psh\"]\nmesh = \"quad\"\n\n[[texture]]\nname = \"colour\"\ndata = \"t.dds\"\n";
    write(&place.join("job.toml"), job);
    let is_drawn = |kept: Kept<'_>| {
        let drawing = Drawing::read(kept.job).ok().filter(|drawing| !drawing.draws[0].textures.is_empty());
        drawing.is_some_and(|drawing| drawing.prepare().and_then(|mut prepared| prepared.draw(0.0)).is_ok())
    };
    let small = directory("dds-draw-small");
    reduce_job(&place.join("job.toml"), &small, &Control::none(), &mut |kept| is_drawn(kept))
        .unwrap_or_else(|e| panic!("{e}"));
    let (shapes, has_dds) = left_in(&small);
    assert!(
        !has_dds && shapes == [[1, 1, 4]],
        "{shapes:?} {}",
        std::fs::read_to_string(small.join("job.toml")).unwrap()
    );
    // All faces are needed: they are arrays, too.
    let has_faces = |kept: Kept<'_>| {
        let text = std::fs::read_to_string(kept.job).unwrap_or_default();
        is_drawn(kept) && (text.contains("t.dds") || text.contains("kind = \"cube\""))
    };
    let small = directory("dds-draw-small");
    reduce_job(&place.join("job.toml"), &small, &Control::none(), &mut |kept| has_faces(kept))
        .unwrap_or_else(|e| panic!("{e}"));
    let (shapes, has_dds) = left_in(&small);
    assert!(!has_dds && shapes.len() == 6, "{shapes:?} {}", std::fs::read_to_string(small.join("job.toml")).unwrap());
}

/// Cancelled after any number of tries, the directory has the smallest job so far, which passes the test and runs on its own.
#[test]
fn a_job_that_is_cancelled_stays_whole() {
    let place = directory("cancelled");
    plant_x1k(&place, 5);
    let mut bytes = 0;
    for tries in [2, 9, 40, 150] {
        let small = directory("cancelled-small");
        let (control, mut asked) = (Control::new(), 0);
        let made = reduce_job(&place.join("job.toml"), &small, &control, &mut |kept: Kept<'_>| {
            asked += 1;
            if asked == tries {
                control.cancel();
            }
            gives_nan(kept.job)
        });
        let made = made.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((made.tries, asked), (tries, tries));
        assert!(gives_nan(&moved(&small, &small.with_extension("elsewhere"))));
        bytes = made.bytes[1];
    }
    assert!(bytes < 70_000, "{bytes}");
    let (control, small) = (Control::new(), directory("cancelled-first"));
    control.cancel();
    let error = reduce_job(&place.join("job.toml"), &small, &control, &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("before the command had succeeded once"), "{error}");
}

/// A built-in mesh becomes triangles of which most go; passes that do not matter go.
#[test]
fn built_in_meshes_and_passes_go() {
    let place = directory("sphere");
    write(&place.join("colour.x1k"), "        mov o0, r0\n        end\n");
    let job = "size = [64, 64]\nprograms = [\"colour.x1k\"]\nmesh = \"torus\"\ninterpolants = [\"normal\"]\ncull = \"none\"\n\n[[camera]]\nconstant = \"c0\"\n";
    write(&place.join("job.toml"), job);
    let is_drawn = |kept: Kept<'_>| {
        // A quad is drawn without a mesh.
        let drawing = Drawing::read(kept.job).ok().filter(|drawing| drawing.draws[0].mesh != "quad".into());
        let drawn = drawing.and_then(|drawing| drawing.prepare().ok()?.draw(0.0).ok());
        drawn.is_some_and(|drawn| drawn.pixels().chunks(4).any(|texel| texel[0] > 100))
    };
    let small = directory("sphere-small");
    reduce_job(&place.join("job.toml"), &small, &Control::none(), &mut |kept| is_drawn(kept))
        .unwrap_or_else(|e| panic!("{e}"));
    let items = Items::from_npy(&std::fs::read(small.join("mesh0.npy")).unwrap()).unwrap();
    assert_eq!(items.shape, [3, 12]);

    let place = directory("passes");
    write(&place.join("one.x1k"), "        mov o0, c0.rrrr\n        end\n");
    write(&place.join("two.x1k"), "        mov o0, c0.gggg\n        end\n");
    let pass = |program: &str| format!("\n[[pass]]\nprogram = \"{program}.x1k\"\nrepeat = 3\n");
    let job = format!(
        "domain = [0, 15]\nrepeat = 2\n[constants.float]\nc0 = [5, 9, 0, 0]\n[[output]]\nslot = 0\n{}{}{}",
        pass("two"),
        pass("one"),
        pass("two")
    );
    write(&place.join("job.toml"), job);
    let nine = |kept: Kept<'_>| {
        let report = read(kept.job).and_then(|job| job.without_files().run(|_| {}).ok());
        report.is_some_and(|report| {
            report.outputs.first().and_then(|o| report.array(o.slot)).is_some_and(|array| array.value(0) == 9.0)
        })
    };
    let small = directory("passes-small");
    reduce_job(&place.join("job.toml"), &small, &Control::none(), &mut |kept| nine(kept))
        .unwrap_or_else(|e| panic!("{e}"));
    let text = std::fs::read_to_string(small.join("job.toml")).unwrap();
    assert!(text.matches("[[pass]]").count() <= 1 && !text.contains("repeat") && !text.contains("one.x1k"), "{text}");
    assert!(!small.join("one.x1k").exists() && small.join("two.x1k").exists());
}

#[test]
fn what_cannot_be_made_smaller_is_said() {
    let place = directory("wrong");
    let small = directory("wrong-small");
    let said = |text: &str, holds: bool| {
        write(&place.join("job.toml"), text);
        reduce_job(&place.join("job.toml"), &small, &Control::none(), &mut |_| holds).unwrap_err().to_string()
    };
    assert!(said("program = \"none.x1k\"\ndomain = [0, 0]\n", true).contains("none.x1k"));
    assert!(said("domain = [0, 0\n", true).contains("toml-syntax"), "{}", said("domain = [0, 0\n", true));
    assert!(said("colour = 3\n", true).contains("colour"));
    write(&place.join("one.x1k"), "        mov o0, 1\n        end\n");
    assert!(said("program = \"one.x1k\"\ndomain = [0, 0]\n", false).contains("nothing to keep"));
    let error =
        reduce_job(&place.join("absent.toml"), &small, &Control::none(), &mut |_| true).unwrap_err().to_string();
    assert!(error.contains("absent.toml"), "{error}");
    write(&place.join("job.toml"), "program = \"one.x1k\"\ndomain = [0, 0]\n");
    let error = reduce_job(&place.join("job.toml"), &small.join("absent"), &Control::none(), &mut |_| true)
        .unwrap_err()
        .to_string();
    assert!(error.contains("cannot be written"), "{error}");
}
