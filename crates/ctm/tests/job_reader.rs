//! The job reader: keys, flags, messages.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

use ctm::job::{Job, JobError, Reader, Ref, keys};
use ctm::render;
use proptest::prelude::*;
use std::path::Path;

const SMALL: &str = "program = \"a.x1k\"\ndomain = [0, 0, 7, 7]\n";

fn parse(text: &str) -> Result<Job, JobError> {
    Job::parse(text, "job.toml", Path::new("dir"))
}

/// The errors as `line:column: message (help)`.
fn errors(text: &str) -> Vec<String> {
    let error = parse(text).expect_err("the job is wrong");
    let line = |r: &render::Report| {
        let d = &r.diagnostic;
        let place = d.labels.first().zip(r.source.as_ref()).map(|(l, s)| s.line_column(l.span.start));
        let (line, column) = place.unwrap_or((0, 0));
        let help = d.help.as_ref().map(|h| format!(" ({h})")).unwrap_or_default();
        format!("{line}:{column}: {}{help}", d.message)
    };
    error.reports().iter().map(line).collect()
}

#[test]
fn every_error_says_where_and_what_is_allowed() {
    #[rustfmt::skip]
    let cases: &[(&str, &str)] = &[
        ("domian = [0, 0, 7, 7]", "3:1: the job has no key `domian` (did you mean `domain`?)"),
        ("save = \"a.png\"", "3:1: the job has no key `save` (`save` is a key of [[memory]])"),
        ("[run]\ngroup = 5", "4:9: `group` is 5, it must be a multiple of 4"),
        ("[run]\ngroup = 2000", "4:9: `group` is 2000, it must be 4 to 1024"),
        ("[run]\nthreads = -1", "4:11: `threads` is -1, it must be 0 to 1024"),
        ("[run]\nengine = \"jitt\"", "4:10: `engine` is \"jitt\", it must be one of interp, jit, verify (did you mean \"jit\"?)"),
        ("[run]\ncheck = 1", "4:9: `check` is an integer, it must be true or false"),
        ("[[texture]]\nslot = 16\ndata = \"a.npy\"", "4:8: `slot` is 16, X1K inputs are 0 to 15"),
        ("[[texture]]\ndata = \"a.npy\"", "3:1: [[texture]] has no `slot`"),
        ("[[texture]]\nslot = 0\n[[texture]]\nslot = \"s0\"", "6:8: texture 0 is given twice"),
        ("[[texture]]\nslot = 0\nfilter = \"lineer\"", "5:10: `filter` is \"lineer\", it must be one of nearest, linear (did you mean \"linear\"?)"),
        ("[texture]\nslot = 0", "3:1: `texture` is a table, it must be a list of tables: [[texture]]"),
        ("[[output]]\nslot = 4", "4:8: `slot` is 4, X1K outputs are 0 to 3"),
        ("[[output]]\nslot = 0\nclear = [1, 2]", "5:9: `clear` is a list of 2, it must have four numbers r, g, b, a"),
        ("[[output]]\nslot = 0\nmask = \"rx\"", "5:8: `mask` is \"rx\", it is made of the letters rgba"),
        ("[constants]\nfloat = { 256 = [0, 0, 0, 0] }", "4:11: `float` is 256, float constants are 0 to 255"),
        ("[constants]\nfloat = { 0 = [0, 0, 0, \"1.0\"] }", "4:25: constant 0 has \"1.0\", a bit pattern is written \"0x3F800000\""),
        ("[constants]\nint = { 0 = [256, 0, 0] }", "4:14: `count` is 256, it must be 0 to 255"),
        ("[constants]\nfloats = {}", "4:1: [constants] has no key `floats` (did you mean `float`?)"),
        ("[[memory]]\nkind = \"ring\"", "3:3: `memory` is a key of an R700 job (scatter, scratch, ring, reduction and stream memory), and this is an X1K job"),
        ("[conditional]\ntest = \"smaller\"", "4:8: `test` is \"smaller\", it must be one of never, less, less_equal, equal, greater_equal, greater, not_equal, always"),
        ("[[pass]]\nname = \"a\"\n[[pass]]\nname = \"a\"", "6:8: two passes are named `a`"),
        ("[[pass]]\n[[pass.texture]]\nslot = 0\noutput = 0\npass = \"b\"", "6:10: no pass is named `b`"),
        ("repeat = 0", "3:10: `repeat` is 0, it must be 1 to 1000000"),
    ];
    for (text, expected) in cases {
        let found = errors(&format!("{SMALL}{text}\n"));
        assert_eq!(found, [*expected], "{text}");
    }
    assert_eq!(
        errors("domain = [0, 0, 7, 7]")[0],
        "1:1: the job has no `program` (name the program file: program = \"fill.x1k\")"
    );
    assert_eq!(
        errors("program = \"a.x1k\"\ndomain = [8, 0, 7, 7]"),
        ["2:10: the domain [8, 0, 7, 7] is empty: it is i0, j0, i1, j1, inclusive, and i1 >= i0, j1 >= j0"]
    );
    assert_eq!(
        errors("program = \"a.x1k\"\ndomain = [0, 0, 4096, 7]"),
        [
            "2:17: `i1` is 4096, a launch has columns and rows 0 to 4095 (run it in parts of 4096: passes whose [[register]] adds the part's origin to the index pair; R700 programs other than pixel programs number their threads row by row, so 10000 of them are 2500 columns and 4 rows)"
        ]
    );
    // All errors at once, in the order of the file.
    assert_eq!(errors("program = 1\ndomain = 2\nx = 3").len(), 3);
}

#[test]
fn every_error_of_an_r700_job_says_where_and_what_is_allowed() {
    const SMALL: &str = "program = \"a.r700\"\ndomain = [0, 0, 7, 7]\n";
    #[rustfmt::skip]
    let cases: &[(&str, &str)] = &[
        ("stage = \"pixle\"", "3:9: `stage` is \"pixle\", it must be one of vertex, geometry, export, pixel, fetch, copy, compute (did you mean \"pixel\"?)"),
        ("chip = \"rv670\"", "3:8: `chip` is \"rv670\", it must be one of rv710, rv730, rv740, rv770 (did you mean \"rv770\"?)"),
        ("group_threads = 2048", "3:17: `group_threads` is 2048, it must be 1 to 1024"),
        ("global_gprs = 125", "3:15: `global_gprs` is 125, it must be 0 to 124"),
        ("semantics = 3", "3:13: `semantics` is an integer, it must be a table from semantic number to register: { 3 = 2 }"),
        ("semantics = { 300 = 2 }", "3:15: `semantics` has \"300\", semantic numbers are 0 to 255"),
        ("semantics = { 3 = 128 }", "3:19: `semantic 3` is 128, registers are 0 to 127"),
        ("[program_info]\ngprs = 129", "4:8: `gprs` is 129, it must be 0 to 128"),
        ("[program_info]\nfirst = 0", "4:1: `first` is a key of an X1K job (first instruction), and this is an R700 job"),
        ("[conditional]", "3:2: `conditional` is a key of an X1K job (the conditional operation unit), and this is an R700 job"),
        ("[constants]\nint = { 0 = [4096, 0, 0] }", "4:14: `count` is 4096, it must be 0 to 4095"),
        ("[constants]\nint = { 0 = [1, 0, 128] }", "4:20: `step` is 128, it must be -128 to 127"),
        ("[constants]\nint = { 0 = 5 }", "4:13: loop constant 0 is an integer, it must be [count, first index, step]"),
        ("[constants]\nfloat = { 256 = [0, 0, 0, 0] }", "4:11: `float` is 256, float constants are 0 to 255"),
        ("[constants]\nbool = { 32 = true }", "4:10: `bool` is 32, bool constants are 0 to 31"),
        ("[[constant_buffer]]\nvalues = []", "3:1: [[constant_buffer]] has no `bank`"),
        ("[[constant_buffer]]\nbank = 16\nvalues = []", "4:8: `bank` is 16, it must be 0 to 15"),
        ("[[constant_buffer]]\nbank = 0", "3:1: [[constant_buffer]] has none of `values`, `data`, it must have one"),
        ("[[constant_buffer]]\nbank = 0\nvalues = [[1, 2]]", "5:11: a row of `values` is a list of 2, it must have four numbers r, g, b, a"),
        ("[[constant_buffer]]\nbank = 0\nvalues = []\n[[constant_buffer]]\nbank = 0\nvalues = []", "7:8: constant buffer 0 is given twice"),
        ("[[buffer]]\nslot = 3\ndata = \"a.npy\"\nmemory = \"ring\"", "3:1: [[buffer]] has 2 of `values`, `data`, `memory`, it must have one"),
        ("[[buffer]]\nslot = 256\nvalues = []", "4:8: `slot` is 256, buffers are 0 to 255"),
        ("[[buffer]]\nslot = 1\nvalues = []\nformat = \"32_32_32_FLAOT\"", "6:10: `format` is \"32_32_32_FLAOT\", it must begin with a DATA_FORMAT such as 32_32_32_32_FLOAT or 8_8_8_8 (did you mean \"32_32_32_FLOAT\"?)"),
        ("[[buffer]]\nslot = 1\nvalues = []\nformat = \"8_8 INTS\"", "6:10: `format` has \"INTS\", behind the DATA_FORMAT stand NORM, INT or SCALED, and SIGNED or UNSIGNED"),
        ("[[texture]]\nslot = 256\ndata = \"a.npy\"", "4:8: `slot` is 256, texture resources are 0 to 255"),
        ("[[texture]]\nslot = 0\nsampler = 32\ndata = \"a.npy\"", "5:11: `sampler` is 32, samplers are 0 to 31"),
        ("[[texture]]\nslot = 0\ntiling = \"tiled\"", "5:1: `tiling` is a key of an X1K job (linear, tiled, linear_inp_2x2 or tiled_inp_2x2), and this is an R700 job"),
        ("[[texture]]\nslot = 0\nkind = \"cubes\"", "5:8: `kind` is \"cubes\", it must be one of 1d, 2d, 3d, cube, 1d_array, 2d_array, cube_array (did you mean \"cube\"?)"),
        ("[[memory]]\nkind = \"lds\"", "4:8: `kind` is \"lds\", it must be one of scatter, reduction, ring, stream0, stream1, stream2, stream3, scratch"),
        ("[[memory]]\nkind = \"scatter\"\nsize_bytes = 6", "5:14: `size_bytes` is 6, memories are made of dwords: a multiple of 4"),
        ("[[memory]]\nkind = \"scratch\"\nsave = \"a.npy\"", "5:8: `save` is for memories that outlive a thread; scratch memory is each thread's own"),
        ("[[memory]]\nkind = \"scatter\"\nitem_dwords = 4", "5:15: `item_dwords` is for ring and stream memories"),
        ("[[memory]]\nkind = \"ring\"\n[[memory]]\nkind = \"ring\"", "6:8: the ring memory is given twice"),
        ("[[memory]]\nkind = \"ring\"\ntype = \"int\"", "5:8: `type` is \"int\", it must be one of float32, float64, int32, uint32 (did you mean \"int32\"?)"),
        ("[[output]]\nslot = 8", "4:8: `slot` is 8, R700 outputs are pix0 to pix7 (or 0 to 7), depth, pos0 to pos3 and param0 to param31"),
        ("[[output]]\nslot = \"param32\"", "4:8: `slot` is \"param32\", R700 outputs are pix0 to pix7 (or 0 to 7), depth, pos0 to pos3 and param0 to param31"),
        ("[[output]]\nslot = 0\n[[output]]\nslot = \"pix0\"", "6:8: output 0 is given twice"),
        ("[[output]]\nslot = 0\nformat = \"uint8_4\"", "5:10: `format` is \"uint8_4\", it must be one of float32_1, float32_2, float32_4, int32_1, int32_2, int32_4, uint32_1, uint32_2, uint32_4 (did you mean \"uint32_4\"?)"),
        ("repeats = 2", "3:1: the job has no key `repeats` (did you mean `repeat`?)"),
    ];
    for (text, expected) in cases {
        let found = errors(&format!("{SMALL}{text}\n"));
        assert_eq!(found, [*expected], "{text}");
    }
    // Marks of a job for the R700: the program's name, the job, or none.
    assert_eq!(parse(SMALL).unwrap().program_isa(), ctm::Isa::R700);
    let bare = "program = \"a.hex\"\ndomain = [0, 0, 7, 7]\n";
    assert_eq!(parse(bare).unwrap().program_isa(), ctm::Isa::X1k);
    assert_eq!(parse(&format!("isa = \"r700\"\n{bare}")).unwrap().program_isa(), ctm::Isa::R700);
    assert_eq!(parse(SMALL).unwrap().run.group.lanes(), 64);
}

#[test]
fn flags_are_keys_of_r700_jobs() {
    let mut reader = Reader::for_program("p.vsh");
    for (flag, value) in [
        ("size", "4x1"),
        ("stage", "vertex"),
        ("chip", "rv730"),
        ("fetch-program", "a,b.vsh"),
        ("program", "1"),
        ("group-threads", "256"),
        ("global-gprs", "4"),
        ("semantic", "3=R2"),
        ("constant-buffer", "1=cb.npy:fetch_resource=7"),
        ("buffer", "b160=v.npy:stride_bytes=12:format=32_32_32_FLOAT"),
        ("memory", "scatter:size_bytes=64:save=s.npy:type=uint32:shape=4,4"),
        ("memory", "ring=r.npy:item_dwords=8"),
        ("in", "t18=tex.npy:sampler=3:wrap=repeat,mirror,clamp:mip=linear"),
        ("out", "pos0=p.npy"),
        ("out", "o1=c.npy:format=uint32_2"),
        ("int", "i3=7,1,-2"),
        ("vertices", "v.npy"),
    ] {
        reader.flag(flag, value);
    }
    let job = reader.finish().unwrap();
    let (pass, own) = (&job.passes[0], job.passes[0].r700().unwrap());
    assert_eq!(own.stage.unwrap().name(), "vertex");
    assert_eq!(own.chip.unwrap().name(), "rv730");
    assert_eq!(own.fetch_program.as_ref().unwrap().value, Path::new("a,b.vsh"));
    assert_eq!(
        (own.which.as_ref().unwrap().value.as_str(), own.group_threads, own.global_gprs),
        ("1", Some(256), Some(4))
    );
    assert_eq!(own.semantics[&3], 2);
    assert_eq!((own.constant_buffers[0].bank.value, own.constant_buffers[0].fetch_resource), (1, Some(7)));
    assert_eq!((&own.buffers[0].slot.value, own.buffers[0].stride_bytes), (&Ref::Index(160), 12));
    let [scatter, ring] = own.memories.as_slice() else { panic!("two memories") };
    assert_eq!((scatter.size_bytes, scatter.shape.as_deref()), (Some(64), Some(&[4, 4][..])));
    assert_eq!((scatter.items, ring.item_dwords), (ctm::array::ItemType::Uint32, Some(8)));
    assert_eq!(job.own_saves.memories()[0].save.as_ref().unwrap().value, Path::new("s.npy"));
    let texture = &pass.textures[0];
    assert_eq!(
        (&texture.slot.value, texture.r700().unwrap().sampler_slot.as_ref().unwrap().value.clone()),
        (&Ref::Index(18), Ref::Index(3))
    );
    assert_eq!(
        (texture.sampler.wrap[1], texture.sampler.wrap[2]),
        (ctm_exec::x1k::Wrap::Mirror, ctm_exec::x1k::Wrap::Clamp)
    );
    assert_eq!(pass.outputs[0].slot.value, Ref::Name("pos0".into()));
    assert_eq!((&pass.outputs[1].slot.value, pass.outputs[1].elements().channels), (&Ref::Index(1), 2));
    let constant = pass.int[&Ref::Index(3)].value;
    assert_eq!((constant.count, constant.start, constant.step), (7, 1, -2));
    assert_eq!(own.vertices.as_ref().unwrap().value, Path::new("v.npy"));
}

#[test]
fn r700_passes_inherit_and_override() {
    let job = parse(
        "program = \"a.vsh\"\ndomain = [0, 0, 7, 0]\nstage = \"vertex\"\nsemantics = { 1 = 1 }\n\
         [[constant_buffer]]\nbank = 0\nvalues = []\n[[constant_buffer]]\nbank = 1\nvalues = []\n\
         [[memory]]\nkind = \"ring\"\nsize_bytes = 64\nitem_dwords = 2\nsave = \"end.npy\"\n\
         [[pass]]\n[[pass]]\nprogram = \"b.gsh\"\nsemantics = { 2 = 5 }\n\
         [[pass.constant_buffer]]\nbank = 1\nvalues = [[1, 2, 3, 4]]\n\
         [[pass.memory]]\nkind = \"ring\"\nsize_bytes = 128\nsave = \"two.npy\"\n",
    )
    .unwrap();
    let [one, two] = [0, 1].map(|n: usize| job.passes[n].r700().cloned().unwrap());
    // Another program may be of another kind.
    assert_eq!((one.stage.map(|s| s.name()), two.stage), (Some("vertex"), None));
    assert_eq!((one.semantics.len(), two.semantics.len(), two.constant_buffers.len()), (1, 2, 2));
    assert!(!one.memories[0].fresh && one.memories[0].save.is_none());
    let memory = &two.memories[0];
    assert_eq!((memory.size_bytes, memory.item_dwords, memory.fresh), (Some(128), Some(2), true));
    assert_eq!(memory.save.as_ref().unwrap().value, Path::new("dir/two.npy"));
    assert_eq!(job.own_saves.memories().len(), 1);
}

#[test]
fn broken_toml_is_shown_with_its_line() {
    let found = errors("program = \"a.x1k\"\ndomain = [0, 0\n");
    assert!(found[0].starts_with("2:") || found[0].starts_with("3:"), "{found:?}");
    // Only that error is reported.
    assert_eq!(errors("domian = 1\n[[output]\nslot = 0\n"), ["2:10: unclosed array table, expected `]`"]);
}

#[test]
fn flags_are_keys() {
    let mut reader = Reader::for_program("p.x1k");
    for (flag, value) in [
        ("size", "64x32"),
        ("in", "s0=C:\\a,b.png:filter=linear:wrap=repeat,mirror"),
        ("in", "map=data.raw:size=4,2:format=float32_4"),
        ("out", "o0=x.png:clear=0,0,0,1:flip_y"),
        ("const", "c0=1,0x40000000,-2.5,nan"),
        ("const", "view=1,2,3,4"),
        ("int", "i1=255,1,-1"),
        ("bool", "b3=true"),
        ("register", "r5=0.5,0,0,0:di=1,0,0,0:bits"),
        ("conditional", "test=less:value=0.5:location=pe"),
        ("group", "64"),
        ("budget-seconds", "1.5"),
        ("check", ""),
        ("set", "output.0.tiling=tiled"),
        ("set", "run.threads = 2"),
    ] {
        reader.flag(flag, value);
    }
    let job = reader.finish().unwrap();
    let pass = &job.passes[0];
    assert_eq!((pass.domain.width(), pass.domain.height()), (64, 32));
    assert_eq!(pass.textures[0].data.as_ref().unwrap().value.to_string(), "C:\\a,b.png");
    assert_eq!(pass.textures[1].slot.value, Ref::Name("map".into()));
    assert_eq!(pass.textures[1].size, Some([4, 2]));
    assert_eq!(job.saves[0].path.value, Path::new("x.png"));
    assert!(job.saves[0].flip_y);
    assert_eq!(pass.outputs[0].tiling, ctm::mc::Tiling::Tiled);
    let c0 = &pass.float[&Ref::Index(0)].value;
    assert_eq!((c0[0], c0[1], c0[2]), (0x3f80_0000, 0x4000_0000, 0xc020_0000));
    assert_eq!(pass.float[&Ref::Name("view".into())].value[3], 4.0f32.to_bits());
    let int = pass.int[&Ref::Index(1)].value;
    assert_eq!((int.count, int.start, int.step), (255, 1, -1));
    assert!(pass.bool[&Ref::Index(3)].value);
    let register = pass.registers.as_ref().unwrap()[0];
    assert_eq!((register.temp, register.origin[0], register.di[0], register.bits), (5, 0.5, 1.0, true));
    assert_eq!(pass.conditional().unwrap().test, ctm::commands::CondTest::Less);
    assert_eq!((job.run.group.lanes(), job.run.threads, job.run.check), (64, 2, true));
}

#[test]
fn flags_override_the_file() {
    let text = format!("{SMALL}[[texture]]\nslot = 0\ndata = \"a.npy\"\nfilter = \"linear\"\n[run]\ngroup = 4\n");
    let mut reader = Reader::for_job(&text, "job.toml", Path::new("dir"));
    reader.flag("in", "s0=b.npy");
    reader.flag("group", "8");
    let job = reader.finish().unwrap();
    let texture = &job.passes[0].textures[0];
    assert_eq!(job.passes[0].textures.len(), 1);
    assert_eq!(texture.data.as_ref().unwrap().value.to_string(), "b.npy");
    assert_eq!(texture.sampler.magnify, ctm_exec::x1k::Filter::Linear);
    assert_eq!(job.run.group.lanes(), 8);
    assert_eq!(job.passes[0].program.value, Path::new("dir/a.x1k"));
}

#[test]
fn wrong_flags_are_usage_errors_that_quote_the_flag() {
    for (flag, value, message) in [
        ("const", "c0", "`--const` takes NAME=R,G,B,A"),
        ("const", "c0=1,2", "constant c0 is a list of 2, it must have four numbers r, g, b, a"),
        ("size", "6y4", "`--size` takes WxH|W"),
        ("size", "0x9", "the size is `0x9`, columns and rows are 1 to 4096"),
        ("group", "7", "`group` is 7, it must be a multiple of 4"),
        ("in", "s0=a.png:flter=linear", "[[texture]] has no key `flter`"),
        ("set", "run.groups=4", "[run] has no key `groups`"),
    ] {
        let mut reader = Reader::for_program("p.x1k");
        reader.flag("size", "8x8");
        reader.flag(flag, value);
        let error = reader.finish().unwrap_err();
        assert_eq!(error.exit_code(), 2);
        let text = error.to_string();
        assert!(text.contains(message), "{text}");
        assert!(text.contains(&format!("--{flag} {value}")), "{text}");
    }
    let error = Reader::for_program("p.x1k").finish().unwrap_err();
    assert!(error.to_string().contains("or --size 64x64"), "{error}");
}

#[test]
fn passes_inherit_and_override() {
    let text = format!(
        "{SMALL}[constants]\nfloat = {{ 0 = [1, 1, 1, 1], 1 = [2, 2, 2, 2] }}\n\
         [[texture]]\nslot = 0\ndata = \"a.npy\"\noutput = 0\n\
         [[output]]\nslot = 0\nsave = \"end.npy\"\nclear = [1, 0, 0, 0]\n\
         [[pass]]\nname = \"one\"\nrepeat = 3\n\
         [[pass]]\nprogram = \"b.x1k\"\ndomain = [0, 0, 3, 3]\n\
         [pass.constants]\nfloat = {{ 1 = [3, 3, 3, 3] }}\n\
         [[pass.output]]\nslot = 0\nsave = \"two.npy\"\n"
    );
    let job = parse(&text).unwrap();
    assert_eq!(job.passes.len(), 2);
    assert_eq!(job.saves.len(), 1);
    let (one, two) = (&job.passes[0], &job.passes[1]);
    assert_eq!((one.repeat, two.repeat), (3, 1));
    assert_eq!(
        (one.program.value.as_path(), two.program.value.as_path()),
        (Path::new("dir/a.x1k"), Path::new("dir/b.x1k"))
    );
    assert_eq!(two.float[&Ref::Index(0)].value[0], 1.0f32.to_bits());
    assert_eq!(two.float[&Ref::Index(1)].value[0], 3.0f32.to_bits());
    assert_eq!(two.textures[0].output.as_ref().unwrap().value.output, Ref::Index(0));
    assert!(one.outputs[0].saves.is_empty() && !two.outputs[0].saves.is_empty());
    assert_eq!(two.outputs[0].clear[0], 1.0f32.to_bits());
    assert!(!two.outputs[0].fresh);
}

#[test]
fn the_documentation_names_every_key() {
    let page = [
        include_str!("../../../docs/jobs.md"),
        include_str!("../../../docs/passes.md"),
        include_str!("../../../docs/r700-jobs.md"),
    ]
    .join("\n");
    for section in keys::SECTIONS {
        for key in section.keys {
            let forms = ["`{}`", "[{}]", "{} = {", ".{}`"].map(|f| f.replacen("{}", key.name, 1));
            assert!(forms.iter().any(|f| page.contains(f.as_str())), "{}", key.name);
        }
    }
    for flag in ctm::job::FLAGS {
        assert!(page.contains(&format!("`--{}", flag.name)), "{}", flag.name);
    }
    // Its examples are jobs.
    for block in page.split("```toml\n").skip(1) {
        let text = block.split("```").next().unwrap();
        let text = if text.starts_with("[constants") { format!("{SMALL}{text}") } else { text.to_owned() };
        parse(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
    }
}

/// A viewer moves numbers of constants that the job gives; others are errors.
#[test]
fn sliders_are_for_numbers_that_the_job_gives() {
    let with = |slider: &str| {
        parse(&format!("{SMALL}[constants]\nfloat = {{ view = [1, 2, 3, 4], 3 = [5, 6, 7, 8] }}\n[[slider]]\n{slider}"))
    };
    let mut job = with("constant = \"view\"\nelement = 2\nfrom = 0\nto = 10\nseconds = 4\n").unwrap();
    let slider = job.sliders[0].clone();
    assert_eq!((slider.from, slider.to, slider.seconds, job.slider_value(&slider)), (0.0, 10.0, Some(4.0), Some(3.0)));
    job.slide(&slider, 7.5);
    let value: Vec<f32> = job.passes[0].float.values().flat_map(|c| c.value.map(f32::from_bits)).collect();
    assert!(value.contains(&7.5) && value.contains(&1.0) && !value.contains(&3.0), "{value:?}");
    let number = with("constant = \"c3\"\nfrom = -1\nto = 1\n").unwrap();
    assert_eq!(number.slider_value(&number.sliders[0]), Some(5.0));
    for (slider, rule, message) in [
        (
            "constant = \"other\"\nfrom = 0\nto = 1\n",
            "no-constant",
            "constant `other`, which `constants` does not give",
        ),
        ("constant = \"view\"\nelement = 4\nfrom = 0\nto = 1\n", "no-constant", "number 4 of constant `view`"),
        ("constant = \"view\"\nfrom = 1\nto = 1\n", "bad-value", "`from` must be below `to`"),
        ("constant = \"view\"\nfrom = 0\nto = 1\nseconds = 0\n", "bad-value", "above 0 and at most 3600"),
        ("constant = \"view\"\nfrom = 0\n", "missing-key", "[[slider]] has no `to`"),
        ("constant = \"view\"\nfrom = 0\nto = 1\nform = 2\n", "unknown-key", "did you mean `from`"),
    ] {
        let error = with(slider).unwrap_err();
        let reports = error.reports();
        assert!(reports.iter().any(|report| report.diagnostic.rule == rule), "{slider}: {error}");
        let said: String = reports.iter().map(|report| ctm::render::text(report, false)).collect();
        assert!(said.contains(message), "{slider}: {said}");
    }
}

const FULL: &str = r#"isa = "x1k"
program = "a.x1k"
domain = [0, 0, 63, 63]
repeat = 2
[program_info]
first = 0
[[register]]
index = 0
origin = [0.5, "0x3F800000", 0.0, 0.0]
[constants]
float = { 0 = [-0.75, 0.0, nan, inf], view = ["0x3F800000", 0, 0, 0] }
int = { 0 = [255, 0, -1] }
bool = { 3 = true }
[[texture]]
slot = 3
data = "tex.npy"
wrap = ["repeat", "border"]
[[output]]
slot = 0
save = "out.npy"
[conditional]
test = "less"
[run]
budget_seconds = 1e3
[[pass]]
name = "x"
"#;

proptest! {
    #[test]
    fn mutated_jobs_never_panic(
        edits in prop::collection::vec((0usize..FULL.len(), 0usize..8, "[ -~\n]{0,6}"), 1..6),
        flag in 0usize..ctm::job::FLAGS.len(),
        value in "[ -~]{0,24}",
    ) {
        let mut text = FULL.to_owned();
        for (at, remove, insert) in edits {
            let start = at.min(text.len());
            let end = (start + remove).min(text.len());
            text.replace_range(start..end, &insert);
        }
        if let Err(error) = parse(&text) {
            prop_assert!(!error.to_string().is_empty());
        }
        let mut reader = Reader::for_job(FULL, "job.toml", Path::new(""));
        reader.flag(ctm::job::FLAGS[flag].name, &value);
        if let Err(error) = reader.finish() {
            prop_assert!(!error.to_string().is_empty());
        }
    }

    #[test]
    fn any_text_never_panics(text in "\\PC{0,200}") {
        let _ = parse(&text).map_err(|e| e.to_string());
    }
}
