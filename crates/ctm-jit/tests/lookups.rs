//! Lookups at places that other lookups found, outside of streams, against the reference interpreter: elements of any number of channels,
//! coordinates of every kind, lanes at rest.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod kit;

use ctm_exec::x1k::{Filter, Interp, Sampler, Wrap};
use ctm_jit::{Backend, Jit};
use kit::{Array, Case, Surfaces};

/// Every coordinate comes from the first input; half of the processors rest at the last lookup.
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

/// Inside, between, outside, and no numbers.
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
    let repeat = Sampler { wrap: [Wrap::Repeat, Wrap::Clamp], ..Sampler::default() };
    let linear = Sampler { filter: Filter::Linear, ..Sampler::default() };
    let samplers = [Sampler::default(), repeat, linear];
    for channels in (0..16).map(|n| [1 + n % 4, 1 + n / 4]) {
        for size in [[7, 5], [1, 1], [1, 9]] {
            // Domains reach beyond the inputs, too.
            let domain = [1, 0, 39, 8];
            let arrays = [Array::with_pitch(37, [33, 7], channels[0], place), {
                let [w, h] = size;
                Array::with_pitch(w + 2, size, channels[1], |x, y, c| {
                    0x3f80_0000 | x << 12 | (h - y) << 4 | u32::from(c)
                })
            }];
            let mut memory = Surfaces { inputs: arrays.into(), direct: true, ..Surfaces::default() };
            for _ in 0..4 {
                memory.outputs.push(Array::with_pitch(42, [40, 9], 4, |_, _, _| 3));
            }
            // One engine for all of them: what it keeps must not depend on what inputs are.
            let engines: Vec<(String, Jit)> = Backend::available()
                .flat_map(|backend| [1, 2, 4].map(|copies| (backend, copies)))
                .map(|(backend, copies)| {
                    (format!("{backend}, {copies} copies"), Jit::with_backend(backend).with_copies(copies))
                })
                .collect();
            for (number, sampler) in samplers.into_iter().enumerate() {
                memory.samplers[1] = sampler;
                for counters in [false, true] {
                    let case = Case { threads: 1, counters, ..Case::new(DEPENDENT, domain) };
                    let mut expected = memory.clone();
                    let outcome = case.run(&Interp, &mut expected);
                    assert!(outcome.is_ok());
                    for (name, engine) in &engines {
                        let mut found = memory.clone();
                        let what = format!("{channels:?}, {size:?}, sampler {number}, {name}");
                        assert_eq!(case.run(engine, &mut found), outcome, "{what}");
                        assert_eq!(found.first_difference(&expected), None, "{what}");
                    }
                }
            }
        }
    }
}
