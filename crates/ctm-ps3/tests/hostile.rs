//! Wrong text: each mistake is reported in its place, and nothing makes the compiler panic.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_isa::diag::Severity;
use ctm_isa::x1k::check;
use ctm_ps3::{Options, compile};

/// A shader's lines after the version, and for each error its line (1 is the version) and a part of its message.
const REJECTS: &[(&str, &[(usize, &str)])] = &[
    ("mvo r0, c0", &[(2, "`mvo` is no instruction of ps_3_0")]),
    ("mov r32, c0", &[(2, "there is no r32: r0 to r31 exist")]),
    ("mov r0, c224", &[(2, "there is no c224: c0 to c223 exist")]),
    ("mov r0, x0\nmov r1", &[(2, "`x0` is no register"), (3, "`mov` has 0 source operands here, it takes 1")]),
    ("mov r0, c0.xq", &[(2, "`.xq` is no swizzle")]),
    ("mov r0.yx, c0", &[(2, "`.yx` is no write mask")]),
    ("mov c0, c1", &[(2, "c0 cannot be what `mov` writes")]),
    ("rcp r0, c0", &[(2, "`rcp` reads one channel of this operand")]),
    ("mov_satt r0, c0", &[(2, "`_satt` is no modifier of `mov`")]),
    ("setp p0, c0, c1", &[(2, "`setp` needs a comparison")]),
    ("add_lt r0, c0, c1", &[(2, "`add` compares nothing")]),
    ("mov oC0, v0", &[(2, "v0 is read here, and not all of that is declared")]),
    ("dcl_texcoord v0.xy\nmov oC0, v0", &[(3, "v0 is read here, and not all")]),
    ("texld r0, c0, s0\nmov oC0, r0", &[(2, "s0 is not declared")]),
    ("dcl_1d s0", &[(2, "the device has no 1d textures")]),
    ("dcl s0", &[(2, "the kind of the texture is missing")]),
    ("dcl_texcord v0", &[(2, "`texcord` is no usage")]),
    ("dcl_texcoord v0.xy\ndcl_texcoord1 v0.yz", &[(3, "a channel of v0 is declared twice")]),
    ("def c0, 1, 2, 3", &[(2, "the line ends where `,` and four numbers is expected")]),
    ("def c0, 1, 2, 3, 4\ndef c0, 1, 2, 3, 4", &[(3, "c0 is defined twice")]),
    ("defi i0, 256, 0, 0, 0", &[(2, "the count is 256, allowed are whole numbers from 0 to 255")]),
    ("defb b0, maybe", &[(2, "a boolean is true or false")]),
    ("if b0\nmov oC0, c0", &[(2, "`if` has no `endif`")]),
    ("endif", &[(2, "`endif` closes nothing")]),
    ("rep i0\nendloop\nendrep", &[(3, "`endloop` closes a `rep`")]),
    ("break", &[(2, "there is no loop here to break")]),
    ("else", &[(2, "`else` belongs to no `if`")]),
    ("call l0", &[(2, "there is no `label l0`")]),
    ("call l0\nret\nlabel l0\ncall l0\nret", &[(5, "the subroutine calls itself")]),
    ("call l0\nret\nlabel l0\nmov r0, c0", &[(4, "the subroutine has no `ret`")]),
    ("if b0\nret\nendif", &[(3, "`ret` stands inside a branch or loop")]),
    ("dcl_texcoord v0\nrep i0\nmov oC0, v[aL]\nendrep", &[(4, "aL exists inside `loop` only")]),
    (
        "rep i0\nrep i0\nrep i0\nrep i0\nrep i0\nendrep\nendrep\nendrep\nendrep\nendrep",
        &[(6, "loops nest no deeper than 4")],
    ),
    ("(p0.xy) mov oC0, c0", &[(2, "a predicate is used as a whole or by one channel")]),
    ("(r0.x) mov oC0, c0", &[(2, "r0 is no predicate")]),
    ("(p0) if b0\nendif", &[(2, "`if` has no predicate in front")]),
    ("if p0\nendif", &[(2, "a branch needs one channel of the predicate")]),
    ("loop i0, aL\nendloop", &[(2, "i0 cannot be this operand of `loop`")]),
    ("m4x4 r0, c0, c222", &[(2, "`m4x4` reads 4 rows, and c222 is not followed by so many")]),
    ("m3x3 r0, c0, c1", &[(2, "`m3x3` writes no other channels than .xyz")]),
    ("sincos r0.xyz, c0.x", &[(2, "`sincos` writes no other channels than .xy")]),
    ("mova r0, c0", &[(2, "`mova` is no instruction")]),
    ("+mov r0, c0", &[(2, "pairs marked with `+` belong to ps_1_x")]),
    ("mov r0, c0 c1", &[(2, "found `c1` where the end of the line is expected")]),
    ("mov r0, $0", &[(2, "`$` means nothing here")]),
    ("#define X", &[(2, "lines of the preprocessor are not understood")]),
    ("mov r0, c0 /* no end", &[(2, "the comment has no end")]),
    ("def c0, 1, 2, 3x, 4", &[(2, "`3x` is no number")]),
    ("ps_3_0", &[(2, "the version stands on the first line only")]),
    ("mov r0, c0", &[(0, "the shader writes no output")]),
    ("mov r0, !c0", &[(2, "`!` stands before booleans and predicates only")]),
    ("mov oC0, r[aL]", &[(2, "r# cannot be relative to aL")]),
];

fn line_of(text: &str, at: u32) -> usize {
    text[..at as usize].matches('\n').count() + 1
}

#[test]
fn mistakes_are_told_where_they_are() {
    for (body, wanted) in REJECTS {
        let text = format!("ps_3_0\n{body}\n");
        let result = compile(&text, &Options::default());
        assert!(result.program.is_none(), "{text} is compiled");
        for (line, message) in *wanted {
            let found = result.diagnostics.iter().any(|d| {
                d.severity == Severity::Error
                    && d.message.contains(message)
                    && d.labels.first().is_some_and(|l| *line == 0 || line_of(&text, l.span.start) == *line)
            });
            assert!(found, "{text}\nno `{message}` in line {line}: {:#?}", result.diagnostics);
        }
    }
    for text in ["", "vs_3_0\n", "mov r0, c0\n", "ps_1_4\nmov r0, c0\n", "ps_3_0 mov oC0, c0\n"] {
        assert!(compile(text, &Options::default()).program.is_none(), "{text}");
    }
}

/// As other assemblers take them: with a warning. Unwritten registers are 0.
#[test]
fn what_nothing_has_written_is_zero_with_a_warning() {
    let text = "ps_3_0\nmov oC0, r1\nmov oC1, r1.y\ndp3 r2.x, c0, c1\nmov oC2, r2\ntexkill r3\n";
    let result = compile(text, &Options::default());
    assert!(result.program.is_some(), "{:?}", result.diagnostics);
    let found: Vec<(usize, &str)> = result
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Warning)
        .map(|d| (line_of(text, d.labels[0].span.start), d.message.as_str()))
        .collect();
    let wanted = [
        (2, "r1.xyzw is read and nothing has written it"),
        (3, "r1.y is read and nothing has written it"),
        (5, "r2.yzw is read and nothing has written it"),
        (6, "r3.xyzw is read and nothing has written it"),
    ];
    assert_eq!(found, wanted);
    assert!(result.text.contains("o0.rgb, 0"), "{}", result.text);
}

#[test]
fn one_run_tells_every_mistake() {
    let text = "ps_3_0\nmvo r0, c0\nmov r77, c0\ndcl_1d s0\nif b0\nmov oC0, r3\n";
    let lines: Vec<usize> = compile(text, &Options::default())
        .diagnostics
        .iter()
        .filter_map(|d| d.labels.first().map(|l| line_of(text, l.span.start)))
        .collect();
    assert_eq!(lines, [2, 3, 4, 5]);
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % limit.max(1) as u64) as usize
    }
}

const PIECES: &[&str] = &[
    "r0",
    "r31",
    "c223",
    "v[aL]",
    "c[aL+3]",
    "p0.x",
    "!p0",
    "(p0) ",
    "-",
    ".wzyx",
    "_abs",
    "_sat",
    "oDepth",
    "oC3.w",
    "aL",
    "i15",
    "b0",
    "endif",
    "endrep",
    "else",
    "rep i0",
    "loop aL, i0",
    "if_gt r0.x, c0.x",
    "call l0",
    "label l0",
    "ret",
    "break",
    "99999999999",
    "1e39",
    "1.#INF",
    "\u{00e9}",
    "//",
    "/*",
    "#",
    ",",
    "[",
    "]",
    "m4x4 r0, r0, c0",
    "nrm r0, r0",
    "texkill r0",
    "dcl_texcoord9 v9",
    "def c0, 0, 1, 2, 3",
    "ps_2_0",
    "vFace",
    "vPos",
    "\n",
    ".",
];

#[test]
fn mutated_shaders_do_not_panic() {
    let rounds: usize = std::env::var("CTM_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(1500);
    let random = &mut Random(3);
    let all: Vec<String> =
        include_str!("shaders.txt").split("# ").map(|s| s.split_once('\n').map_or("", |p| p.1).to_owned()).collect();
    let mut good = 0;
    for _ in 0..rounds {
        let mut text = all[random.below(all.len())].clone();
        for _ in 0..=random.below(3) {
            let places: Vec<usize> = (0..=text.len()).filter(|&i| text.is_char_boundary(i)).collect();
            let (a, b) = (places[random.below(places.len())], places[random.below(places.len())]);
            let (a, b) = (a.min(b), a.max(b).min(a.min(b) + 12));
            let b = places.iter().copied().find(|&p| p >= b).unwrap_or(text.len());
            match random.below(4) {
                0 => text.replace_range(a..b, ""),
                1 => text.insert_str(a, PIECES[random.below(PIECES.len())]),
                2 => text.replace_range(a..b, PIECES[random.below(PIECES.len())]),
                _ => {
                    let mut lines: Vec<&str> = text.lines().collect();
                    if lines.len() > 2 {
                        let (x, y) = (1 + random.below(lines.len() - 1), 1 + random.below(lines.len() - 1));
                        lines.swap(x, y);
                    }
                    text = lines.join("\n");
                }
            }
        }
        let result = compile(&text, &Options::default());
        for d in &result.diagnostics {
            for l in &d.labels {
                assert!(l.span.start <= l.span.end && l.span.end as usize <= text.len(), "{d:?}\n{text}");
            }
        }
        match result.program {
            Some(program) => {
                good += 1;
                let wrong: Vec<_> =
                    check::check(&program).into_iter().filter(|d| d.severity == Severity::Error).collect();
                assert!(wrong.is_empty(), "{wrong:?}\n{text}");
            }
            None => assert!(result.diagnostics.iter().any(|d| d.severity == Severity::Error), "{text}"),
        }
    }
    assert!(good > rounds / 20, "only {good} of {rounds} are still shaders");
}

#[test]
fn long_shaders_end_with_a_message() {
    let long = format!("ps_3_0\n{}mov oC0, r0\n", "mad r0, c0, c1, c2\nadd r0, r0, c3\n".repeat(40_000));
    let result = compile(&long, &Options::default());
    assert!(result.program.is_none() && result.diagnostics.iter().any(|d| d.message.contains("at most")));
    let deep = format!("ps_3_0\n{}mov oC0, c0\n{}", "if b0\n".repeat(1000), "endif\n".repeat(1000));
    assert!(compile(&deep, &Options::default()).program.is_none());
}
