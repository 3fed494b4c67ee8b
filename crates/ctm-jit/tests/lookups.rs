//! Dependent lookups, outside of streams, against the reference interpreter: elements of any number of channels,
//! coordinates of every kind, inactive lanes.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::Interp;
use ctm_exec::x1k::{Filter, Form, Sampler, Wrap};
use ctm_jit::{Backend, Jit};
use ctm_testkit::x1k::surfaces::{Case, PaddedArray, Surfaces};

/// Every coordinate comes from the first input; half of the processors are inactive at the last lookup.
const DEPENDENT: &str = "
.input  places = s0, found = s1
.output at = o0, whole = o1, scaled = o2, some = o3
.const  limit = c0 (9, 0, 0, 0)
        tex   r1, places, r0.rg
        tex   r2, found, r1.rg
        tex   r3, found, r1.gb scaled
        mov   r4, 7
        add   res(r ge), r0.r, -limit.r
        if    res
          tex   r4.ga, found.ar, r1.br
        endif
        mov   at, r1
        mov   whole, r2
        mov   scaled, r3
        mov   some, r4
";

/// Each axis with every wrap, alone and with another.
const WRAPS: [[Wrap; 2]; 6] = [
    [Wrap::Clamp, Wrap::Clamp],
    [Wrap::Repeat, Wrap::Clamp],
    [Wrap::Clamp, Wrap::Mirror],
    [Wrap::Mirror, Wrap::Border],
    [Wrap::Border, Wrap::Repeat],
    [Wrap::Border, Wrap::Border],
];

/// Inside, between, outside, and NaNs.
fn place(x: u32, y: u32, c: u8) -> u32 {
    let n = x * 5 + y * 11 + u32::from(c) * 3;
    let large = (1u64 << (n % 40)) as f32;
    match n % 13 {
        0..5 => n as f32 % 8.0 + 0.25,
        5 => 0.999_999_94,
        6 => (n % 16) as f32 / 16.0,
        7 => -large,
        8 => large,
        9 => f32::from_bits([1, 0x8000_0001, 0x007f_ffff, 0x8000_0000][n as usize / 13 % 4]),
        10 => f32::from_bits([0x7fc0_0000, 0xffff_ffff, 0x7f80_0001][n as usize / 13 % 3]),
        11 => [f32::INFINITY, f32::NEG_INFINITY][n as usize / 13 % 2],
        _ => [f32::MAX, f32::MIN, 6.999_999_5, 7.0, 4.999_999_5][n as usize / 13 % 5],
    }
    .to_bits()
}

#[test]
fn lookups_that_depend() {
    let border = [1.5f32.to_bits(), 0x8000_0000, 0x7fc0_1234, (-3f32).to_bits()];
    let samplers: Vec<Sampler> = [Filter::Nearest, Filter::Linear]
        .into_iter()
        .flat_map(|filter| WRAPS.map(|wrap| Sampler { filter, wrap, border }))
        .collect();
    for channels in (0..16).map(|n| [1 + n % 4, 1 + n / 4]) {
        for size in [[7, 5], [1, 1], [1, 9]] {
            // Domains reach beyond the inputs, too.
            let domain = [1, 0, 39, 8];
            let arrays = [PaddedArray::with_pitch(37, [33, 7], channels[0], place), {
                let [w, h] = size;
                PaddedArray::with_pitch(w + 2, size, channels[1], |x, y, c| {
                    0x3f80_0000 | x << 12 | (h - y) << 4 | u32::from(c)
                })
            }];
            let mut memory = Surfaces { inputs: arrays.into(), direct: true, ..Surfaces::default() };
            for _ in 0..4 {
                memory.outputs.push(PaddedArray::with_pitch(42, [40, 9], 4, |_, _, _| 3));
            }
            // One engine for all of them: its remembered code must not depend on the forms of inputs.
            let engines: Vec<(String, Jit)> =
                Backend::available().map(|backend| (backend.to_string(), Jit::with_backend(backend))).collect();
            for &sampler in &samplers {
                memory.samplers[1] = sampler;
                for counters in [false, true] {
                    let case = Case { threads: 1, counters, ..Case::new(DEPENDENT, domain) };
                    let mut expected = memory.clone();
                    let outcome = case.run(&Interp, &mut expected);
                    assert!(outcome.is_ok());
                    for (name, engine) in &engines {
                        let mut found = memory.clone();
                        let what = format!("{channels:?}, {size:?}, {sampler:?}, {name}");
                        assert_eq!(case.run(engine, &mut found), outcome, "{what}");
                        assert_eq!(found.first_difference(&expected), None, "{what}");
                    }
                }
            }
        }
    }
}

/// Inactive lanes have coordinates outside of every array; code loads their elements with those of the others.
#[test]
fn lanes_at_rest_read_what_exists() {
    let text = "
.input  places = s0, found = s1
.output at = o0
.const  limit = c0 (9, 0, 0, 0)
        tex   r1, places, r0.rg
        mov   r2, 7
        add   res(r ge), r0.r, -limit.r
        if    res
          tex   r2, found, r1.rg
        endif
        mov   at, r2
";
    let far = [3e12, -3e12, f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY, f32::NAN];
    let places = PaddedArray::with_pitch(40, [40, 9], 4, |x, y, c| {
        let n = x + 3 * y + u32::from(c);
        if x < 9 { far[n as usize % far.len()].to_bits() } else { (n as f32 * 0.37 - 4.0).to_bits() }
    });
    let found = PaddedArray::with_pitch(7, [7, 5], 4, |x, y, c| 0x3f80_0000 | x << 12 | y << 4 | u32::from(c));
    let mut memory = Surfaces { inputs: vec![places, found], direct: true, ..Surfaces::default() };
    memory.outputs.push(PaddedArray::with_pitch(40, [40, 9], 4, |_, _, _| 3));
    let case = Case { threads: 1, counters: false, ..Case::new(text, [0, 0, 39, 8]) };
    for filter in [Filter::Nearest, Filter::Linear] {
        for wrap in [Wrap::Repeat, Wrap::Mirror] {
            memory.samplers[1] = Sampler { filter, wrap: [wrap; 2], border: [0; 4] };
            let mut expected = memory.clone();
            let outcome = case.run(&Interp, &mut expected);
            for backend in Backend::available() {
                let mut seen = memory.clone();
                assert_eq!(
                    case.run(&Jit::with_backend(backend), &mut seen),
                    outcome,
                    "{filter:?}, {wrap:?}, {backend}"
                );
                assert_eq!(seen.first_difference(&expected), None, "{filter:?}, {wrap:?}, {backend}");
            }
        }
    }
}

/// Lookups of two arrays in a loop that ends after three turns, but could go on.
fn in_launch(what: &str) -> String {
    let [within, behind] = match what {
        "relative" => ["add r4.r, r4.r, c[aL+190].r", ""],
        "value" => ["", "mov w, r4"],
        _ => ["", ""],
    };
    format!(
        "
.input  places = s0, found = s1
.output sum = o0
.const  limit = c0 (3, 0, 0, 0)
.int    turns = i0 (200, 60, 1)
        loop  turns
          tex   r1, places, r0.rg
          tex   r2, found, r1.rg scaled
          mad   r4, r2, r2, r4
          {within}
          add   r5, r5, 1
          add   res(r ge), r5.r, -limit.r
          break res
        endloop
        mov   sum, r4
        {behind}
"
    )
}

#[test]
fn lookups_in_every_launch() {
    let border = [0.5f32.to_bits(), 3, 0xffff_ffff, 0x4000_0000];
    let samplers = [
        Sampler::default(),
        Sampler { filter: Filter::Linear, wrap: [Wrap::Mirror, Wrap::Border], border },
        Sampler { filter: Filter::Nearest, wrap: [Wrap::Border, Wrap::Repeat], border },
    ];
    let domain = [0, 1, 21, 9];
    for backend in Backend::available() {
        let engine = Jit::with_backend(backend);
        for (n, what) in ["time", "counted", "relative", "value", "feedback", "refused"].into_iter().enumerate() {
            for (m, sampler) in samplers.into_iter().enumerate() {
                let channels = [1 + (n + m) as u8 % 4, 1 + n as u8 % 4];
                let mut memory = Surfaces {
                    inputs: vec![
                        PaddedArray::with_pitch(41, [33, 7], channels[0], place),
                        PaddedArray::with_pitch(14, [13, 5], channels[1], ctm_testkit::x1k::surfaces::noise),
                    ],
                    outputs: vec![PaddedArray::with_pitch(42, [40, 12], 4, place)],
                    lends: true,
                    ..Surfaces::default()
                };
                memory.samplers[1] = sampler;
                let mut case = Case { threads: 1, ..Case::new(&in_launch(what), domain) };
                match what {
                    "time" => case.budget.time = Some(std::time::Duration::from_secs(3600)),
                    // Enough, but not for all turns.
                    "counted" => case.budget.instructions_per_group = Some(100),
                    "feedback" => memory.feedback = Some(0),
                    "refused" => memory.refuses = true,
                    _ => {}
                }
                for counters in [false, true] {
                    case.counters = counters;
                    let (mut expected, mut found) = (memory.clone(), memory.clone());
                    let outcome = case.run(&Interp, &mut expected);
                    assert_eq!(case.run(&engine, &mut found), outcome, "{what}, {sampler:?}, {backend}");
                    assert!(outcome.is_ok(), "{what}: {outcome:?}");
                    assert_eq!(found.first_difference(&expected), None, "{what}, {sampler:?}, {backend}");
                }
            }
        }
    }
}

#[test]
fn lookups_of_other_elements() {
    let border = [0.5f32.to_bits(), 3, 0xffff_ffff, 0x4000_0000];
    let forms = [Form::Square, Form::Bytes { swapped: false }, Form::Bytes { swapped: true }, Form::Words];
    for backend in Backend::available() {
        let engine = Jit::with_backend(backend);
        for (form, size) in forms.into_iter().flat_map(|form| [[6, 5], [1, 1], [1, 4]].map(|size| (form, size))) {
            for (filter, wrap) in
                [Filter::Nearest, Filter::Linear].into_iter().flat_map(|filter| WRAPS.map(|wrap| (filter, wrap)))
            {
                let mut found = PaddedArray::with_pitch(size[0] + 1, size, 1, |x, y, _| {
                    ctm_testkit::x1k::surfaces::noise(x, y, 0).wrapping_mul(77)
                });
                found = found.read_as(form);
                if form == Form::Words && size[1] == 4 {
                    // An odd number of columns.
                    (found.width, found.pitch) = (3, 3);
                }
                let mut memory = Surfaces {
                    inputs: vec![PaddedArray::with_pitch(41, [33, 7], 4, place), found],
                    outputs: vec![PaddedArray::with_pitch(42, [40, 12], 4, |_, _, _| 3); 4],
                    ..Surfaces::default()
                };
                memory.samplers[1] = Sampler { filter, wrap, border };
                let case = Case { threads: 1, ..Case::new(DEPENDENT, [1, 0, 39, 8]) };
                let mut expected = memory.clone();
                let outcome = case.run(&Interp, &mut expected);
                assert!(outcome.is_ok());
                for (direct, lends) in [(true, false), (false, true)] {
                    let mut found = Surfaces { direct, lends, ..memory.clone() };
                    let what = format!("{form:?}, {size:?}, {filter:?}, {wrap:?}, {backend}");
                    assert_eq!(case.run(&engine, &mut found), outcome, "{what}");
                    assert_eq!(found.first_difference(&expected), None, "{what}");
                }
            }
        }
    }
}

/// A picture made 4 times as wide and high, as lookups without UNSCALED do it.
const ENLARGE: &str = "
.input  picture = s0
.output out = o0
        mad   r1, r0, c0, c1
        tex   r2, picture, r1.rg scaled
        mov   out, r2
";

#[test]
#[ignore = "measures"]
fn speed() {
    let side = 512;
    let mut case = Case { threads: 1, counters: false, ..Case::new(ENLARGE, [0, 0, side - 1, side - 1]) };
    let step = 1.0 / side as f32;
    case.constants.float[0] = [step, step, 0.0, 0.0].map(f32::to_bits);
    case.constants.float[1] = [step / 2.0, step / 2.0, 0.0, 0.0].map(f32::to_bits);
    let border = [0; 4];
    for backend in Backend::available() {
        for (filter, wrap) in [Filter::Nearest, Filter::Linear]
            .into_iter()
            .flat_map(|f| [Wrap::Clamp, Wrap::Mirror, Wrap::Border].map(|w| (f, w)))
        {
            for channels in [1, 4] {
                let mut memory = Surfaces {
                    inputs: vec![PaddedArray::new(side / 4, side / 4, channels, ctm_testkit::x1k::surfaces::noise)],
                    outputs: vec![PaddedArray::new(side, side, 4, |_, _, _| 0)],
                    ..Surfaces::default()
                };
                memory.samplers[0] = Sampler { filter, wrap: [wrap; 2], border };
                let mut line = format!("{backend}, {filter:?}, {wrap:?}, {channels} channels:");
                for (name, direct, lends) in [("calls", false, false), ("inputs", false, true), ("all", true, false)] {
                    (memory.direct, memory.lends) = (direct, lends);
                    let engine = Jit::with_backend(backend);
                    let times = (0..5).map(|_| {
                        let before = ctm_testkit::clock::thread_time();
                        case.run(&engine, &mut memory).unwrap();
                        ctm_testkit::clock::thread_time() - before
                    });
                    let best = times.min().unwrap_or(0) as f64;
                    line += &format!("  {name} {:.2} ns", best / f64::from(side * side));
                }
                println!("{line}");
            }
        }
    }
}
