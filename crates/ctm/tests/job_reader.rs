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
        ("isa = \"r700\"", "3:7: r700 execution is not part of this build yet; x1k programs can be run"),
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
    assert_eq!(errors("program = \"a.x1k\"\ndomain = [0, 0, 4096, 7]"), ["2:17: `i1` is 4096, it must be 0 to 4095"]);
    // All errors at once, in the order of the file.
    assert_eq!(errors("program = 1\ndomain = 2\nx = 3").len(), 3);
}

#[test]
fn broken_toml_is_shown_with_its_line() {
    let found = errors("program = \"a.x1k\"\ndomain = [0, 0\n");
    assert!(found[0].starts_with("2:") || found[0].starts_with("3:"), "{found:?}");
    // Nothing but that is told.
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
    assert_eq!(pass.int[&Ref::Index(1)].value, [255, 1, 255, 0]);
    assert!(pass.bool[&Ref::Index(3)].value);
    let register = pass.registers.as_ref().unwrap()[0];
    assert_eq!((register.temp, register.origin[0], register.di[0], register.bits), (5, 0.5, 1.0, true));
    assert_eq!(pass.conditional.as_ref().unwrap().test, ctm::commands::CondTest::Less);
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
    assert_eq!(texture.filter, ctm_exec::x1k::Filter::Linear);
    assert_eq!(job.run.group.lanes(), 8);
    assert_eq!(job.passes[0].program.value, Path::new("dir/a.x1k"));
}

#[test]
fn wrong_flags_are_usage_errors_that_quote_the_flag() {
    for (flag, value, message) in [
        ("const", "c0", "`--const` takes NAME=R,G,B,A"),
        ("const", "c0=1,2", "constant c0 is a list of 2, it must have four numbers r, g, b, a"),
        ("size", "64", "`--size` takes WxH"),
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
    assert!(one.outputs[0].save.is_none() && two.outputs[0].save.is_some());
    assert_eq!(two.outputs[0].clear[0], 1.0f32.to_bits());
    assert!(!two.outputs[0].fresh);
}

#[test]
fn the_documentation_names_every_key() {
    let page = include_str!("../../../docs/jobs.md");
    for section in keys::SECTIONS {
        for key in section.keys.iter().filter(|k| k.isa != keys::For::R700) {
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
        let text = if text.starts_with("[constants]") { format!("{SMALL}{text}") } else { text.to_owned() };
        parse(&text).unwrap_or_else(|e| panic!("{text}\n{e}"));
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
