//! Launches whose groups write their own outputs, against the reference interpreter: positions of domains, start values
//! of variables, and layouts of outputs.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use ctm_exec::Interp;
use ctm_jit::{Backend, Jit};
use ctm_testkit::starts::planes;
use ctm_testkit::x1k::surfaces::{Case, PaddedArray, Surfaces};

/// The number of times that x = x * x + c can be taken, and the final x; lanes leave a loop at different turns.
const TURNS: &str = "
.output turns = o0, number = o1, both = o2
.int    most = i0 (9, 0, 0)
.const  limit = c0 (4, 0, 0, 0)
        mov   r1, 0
        mov   r2, 0
        rep   most
          mad   r2, r2, r2, r0
          add   res(r ge), r2.r, -limit.r | add r1.a, r1.a, 1
          break res
        endrep
        mov   turns, r1.a
        mov   number, r2
        mov   both.rg, r0.rgb
        mov   both.ba, r1.a
";

/// A loop in a loop, which lanes leave at two places: their values are then read outside, and by the lanes that come
/// back.
const NESTED: &str = "
.output turns = o0, number = o1, both = o2
.int    outer = i0 (3, 0, 0), inner = i1 (5, 0, 0)
.const  limit = c0 (9, 500, 0.25, 0)
        mov   r1, 0
        mov   r2, r0
        rep   outer
          rep   inner
            mad   r2.rg, r2.rgb, limit.b, r0.rgb
            add   res(r ge), r2.r, -limit.r | add r1.a, r1.a, 1
            break res
            mad   r2, r2.gbra, r2.r, r2
            mov   r1.r, r1.a
            add   res(r ge), r2.g, -limit.g
            break res
          endrep
          mad   r2.b, r2.b, limit.b, 1
          add   res(r ge), r2.b, -limit.r
          break res
        endrep
        mov   turns, r1.a
        mov   number, r2
        mov   both.rg, r2.bgr
        mov   both.ba, r1.r
";

/// Some processors are killed.
const KILLED: &str = "
.output all = o0, one = o1
        add   r1, r0, -9.0
        texkill r1.rgb
        mov   all, r0
        mov   one, r0.g
";

/// Some processors write only some channels.
const PARTLY: &str = "
.output all = o0, one = o1
.const  limit = c0 (17, 3, 0, 0)
        mov   all, r0
        mov   one, r0.r
        add   res(r ge), r0.r, -limit.r
        if    res
          mov   one, r0.g
        else
          add   res(r ge), r0.g, -limit.g
          if    res
            mov   all, 1
          endif
        endif
";

/// Of outputs only some channels.
const CHANNELS: &str = "
.output first = o0, second = o1
        mov   first.r, r0.g
        mov   second.rg, r0.gr0
";

#[test]
fn groups_side_by_side() {
    let domains = [
        [0, 0, 63, 3],
        // Not aligned to quads; half quads at every side.
        [3, 1, 70, 6],
        // Groups continue across row ends.
        [2, 2, 2 + 27, 9],
        [0, 0, 36, 4],
        [16, 4, 16 + 39, 4 + 1],
        [5, 5, 5, 5],
        [0, 0, 6, 30],
        // Groups below each other, in an odd number of rows of quads; half quads in the first row.
        [8, 2, 8 + 39, 2 + 9],
        [0, 1, 31, 8],
    ];
    // Channels of the outputs, and which of them may be written.
    let outputs: [[(u8, u8); 3]; 4] = [
        [(1, 15), (4, 15), (2, 15)],
        [(4, 15), (1, 15), (4, 15)],
        [(2, 15), (2, 15), (1, 15)],
        [(4, 11), (4, 15), (1, 0)],
    ];
    for (name, text) in
        [("turns", TURNS), ("nested", NESTED), ("killed", KILLED), ("partly", PARTLY), ("channels", CHANNELS)]
    {
        for (number, domain) in domains.into_iter().enumerate() {
            for (of, planes) in planes().into_iter().enumerate() {
                let channels = outputs[(number + of) % outputs.len()];
                let mut memory = Surfaces { direct: true, ..Surfaces::default() };
                for (channels, mask) in channels {
                    let (width, height) = (domain[2] + 1 + of as u32, domain[3] + 1);
                    let mut output =
                        PaddedArray::with_pitch(width + 3, [width, height], channels, |x, y, c| x ^ y ^ u32::from(c));
                    output.mask = mask;
                    memory.outputs.push(output);
                }
                let counters = (number + of).is_multiple_of(3);
                let case = Case { planes, threads: 1, counters, ..Case::new(text, domain) };
                let mut expected = memory.clone();
                let outcome = case.run(&Interp, &mut expected);
                for backend in Backend::available() {
                    let mut found = memory.clone();
                    let what = format!("{name}, {domain:?}, planes {of}, {backend}");
                    assert_eq!(case.run(&Jit::with_backend(backend), &mut found), outcome, "{what}");
                    assert_eq!(found.first_difference(&expected), None, "{what}");
                }
            }
        }
    }
}

/// Sums that fall below the range of single precision before they are made larger: passes in the middle of a span are
/// repeated.
#[test]
fn passes_that_are_repeated() {
    let text = "
.output o = o0
.const  tiny = c0
        mad   r1, r0.r, tiny, 0
        mad   r2, r1, 0.5, 0 *4
        mov   o, r2
";
    // 2^-126 times some columns: half of the first ones is a denormal.
    for tiny in [f32::from_bits(0x0080_0000), f32::from_bits(0x0080_0001), -f32::MIN_POSITIVE] {
        for origin in [0.0, 40.0, -40.0] {
            let mut case = Case::new(text, [0, 0, 95, 5]).float("tiny", [tiny, tiny, -tiny, 1.0]);
            case.planes[0].origin[0] = origin;
            case.planes[0].di[0] = if origin > 0.0 { -1.0 } else { 1.0 };
            let memory = Surfaces {
                outputs: vec![PaddedArray::with_pitch(100, [96, 6], 4, |_, _, _| 5)],
                direct: true,
                ..Surfaces::default()
            };
            for counters in [false, true] {
                let case = Case { counters, threads: 1, ..case.clone() };
                let mut expected = memory.clone();
                let outcome = case.run(&Interp, &mut expected);
                for backend in Backend::available() {
                    let mut found = memory.clone();
                    assert_eq!(case.run(&Jit::with_backend(backend), &mut found), outcome, "{tiny:e}, {backend}");
                    assert_eq!(found.first_difference(&expected), None, "{tiny:e}, from {origin}, {backend}");
                }
            }
        }
    }
}
