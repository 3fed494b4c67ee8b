//! Tests of `src/stream/interleave.rs`.

#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use super::*;
use crate::lower::x1k::masks;
use crate::stream::affine::Given;
use crate::stream::uniform::Uniform;
use crate::stream::{affine, prepare};
use ctm_exec::x1k::{Constants, Launch, Plane};
use ctm_exec::{Budget, Domain, GroupSize};

/// The loop of this body, of so many iterations, as it is joined.
fn joined_loop(body: &str, iterations: u8) -> Option<(Prepared, Vec<Item>)> {
    let text = format!(
        ".input a = s0\n.output c = o0\n.const k = c0\n.int n = i0\nmov r1, 0\nmov r2, 0\nrep n\n{body}\nendrep\nmov c, r2"
    );
    let assembly = ctm_isa::x1k::text::assemble(&text);
    let program = assembly.program.unwrap_or_else(|| panic!("{:?}", assembly.diagnostics));
    let mut constants = Constants::default();
    constants.int[0] = [iterations, 0, 0, 0];
    constants.float[0] = [1.0f32, 2.0, 0.0, 0.0].map(f32::to_bits);
    let planes = [Plane::position(0)];
    let launch = Launch {
        program: &program,
        constants: &constants,
        planes: &planes,
        rows: &[],
        domain: Domain { i0: 0, j0: 0, i1: 63, j1: 63 },
        group: GroupSize::X1K,
        budget: Budget::default(),
        threads: 1,
        checks: false,
        counters: false,
    };
    let code = crate::lower::x1k::lower(&program, &constants, false).unwrap();
    let uniform = Uniform::of(&masks::lower(&code, false), |_| true, vec![0, 1, 2, 3]).unwrap();
    let tree = affine::analyse(&uniform.code, uniform.parts.clone(), &Given::of(&launch, None)).unwrap();
    let mut plain = prepare::plain(&uniform, &tree, |_| 4, uniform.outputs);
    crate::passes::masked::optimise(&mut plain.code, true);
    joined(&plain, &tree.items)
}

const CHAIN: &str = "tex r3, a, r1.rg\nadd r1.r, r1.r, k.r | rsq r3.a, r3.a\nmad r2.rgb, r3.rgb, r3.aaa, r2.rgb";

#[test]
fn the_second_turn_reads_what_the_next_one_would() {
    let (prepared, items) = joined_loop(CHAIN, 6).unwrap();
    let iterations =
        items.iter().find_map(|item| if let Item::Loop { iterations, .. } = item { Some(*iterations) } else { None });
    assert_eq!(iterations, Some(3));
    let fetches: Vec<&Fetch> = prepared.fetches.iter().flatten().collect();
    let [first, second] = fetches[..] else { panic!("two fetches") };
    assert_eq!((first.x.c, first.x.iterations[0], first.iterations[0]), (0, 2, 3));
    assert_eq!((second.x.c, second.x.iterations[0], second.iterations[0]), (1, 2, 3));
    // Each variable is stored once.
    let block = prepared.code.blocks.iter().find(|block| block.loops > 0).unwrap();
    assert_eq!(block.ops.iter().filter(|op| matches!(op, Op::Set(..))).count(), 3);
    assert_eq!(block.ops.iter().filter(|op| matches!(op, Op::Unit(Unit::Scalar(_), _))).count(), 2);
}

#[test]
fn what_gains_nothing_stays_as_it_is() {
    assert!(joined_loop(CHAIN, 5).is_none(), "an odd number of iterations");
    let sum = "tex r3, a, r1.rg\nadd r1.r, r1.r, k.r\nadd r2, r2, r3";
    assert!(joined_loop(sum, 6).is_none(), "nothing but a sum");
    let carried = "tex r3, a, r1.rg\nadd r1.r, r1.r, k.r | rsq r2.a, r2.a\nadd r2.rgb, r2.rgb, r3.rgb";
    assert!(joined_loop(carried, 6).is_none(), "each iteration waits for the last one");
}
