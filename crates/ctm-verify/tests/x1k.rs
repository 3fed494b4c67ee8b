//! X1K launches by an engine whose registers begin otherwise: the first difference is found, whether outputs are sent or lent.
#![allow(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod stores;

use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Launch, Plane, Sampler};
use ctm_exec::{Budget, Domain, Engine, GroupSize, Interp, Position};
use ctm_isa::x1k::text::assemble;
use ctm_testkit::changed::Begins;
use ctm_verify::{Difference, Verify};
use stores::Stores;

/// The difference found when the processor's row begins as `j` of each column instead of 0, by each way to output the same.
fn found(text: &str, memory: &Arrays, j: f64) -> Option<Difference> {
    let [sent, stored] = [found_in(Interp, text, memory, j), found_in(Stores, text, memory, j)];
    assert_eq!(sent, stored);
    sent
}

fn found_in(engine: impl Engine, text: &str, memory: &Arrays, j: f64) -> Option<Difference> {
    let program = assemble(text).program.unwrap();
    let domain = Domain { i0: 0, j0: 0, i1: 63, j1: 31 };
    let planes = [Plane::position(0)];
    let launch = Launch {
        program: &program,
        constants: &Constants::default(),
        planes: &planes,
        rows: &[],
        domain,
        group: GroupSize::X1K,
        draw: ctm_exec::x1k::DrawParts::default(),
        budget: Budget::default(),
        threads: 1,
        checks: false,
        counters: false,
    };
    let (mut left, mut expected) = (memory.clone(), memory.clone());
    let plane = Plane { di: [1.0, j, 0.0, 0.0], ..planes[0] };
    let (outcome, difference) = Verify::new(Begins { engine, plane }).compare(&launch, &mut left);
    assert_eq!(outcome, Interp.run_x1k(&launch, &mut expected));
    assert_eq!(left.outputs, expected.outputs, "memory has what the reference interpreter sent");
    difference
}

fn memory() -> Arrays {
    let mut memory = Arrays::default();
    memory.inputs[0] = Some((Picture::from_fn(64, 64, |x, y| [x as f32, y as f32, 2.0, 3.0]), Sampler::default()));
    memory.outputs[0] = Some(Picture::filled(64, 64, [-1.0; 4]));
    memory
}

const MOVES: &str = ".output o = o0\nmad r1.rgb, r0, r0, 1\nmad o, r0, 1, r1\nend\n";

#[test]
fn memory_that_is_lent_is_compared() {
    assert_eq!(found(MOVES, &memory(), 0.0), None);
    let difference = found(MOVES, &memory(), 2.0).unwrap();
    // The instruction that comes first has the register for a factor.
    assert_eq!((difference.pc, difference.position), (Some(0), Some(Position { i: 1, j: 0 })));
    assert_eq!(difference.message, "the engine gave 0x40a00000 for g of output 0, the reference 0x3f800000");
}

#[test]
fn what_is_read_back_is_as_it_was() {
    let aliased = Arrays { feedback: Some(1), ..memory() };
    let text = ".input i = s1\n.output o = o0\ntex r1, i, r0.rg\nadd o, r1, r0\nend\n";
    assert_eq!(found(text, &aliased, 0.0), None);
    let difference = found(text, &aliased, 1.0).unwrap();
    // The other lanes of the group have read (1, 1).
    assert_eq!(difference.message, "the engine read element (1, 2) of input 1, the reference did not");
}

#[test]
fn uncached_writes_are_compared() {
    let text = ".uncached\nmov r1, r0.rrg0\nmov umrt[each], r1\nend\n";
    for feedback in [None, Some(1)] {
        let memory = Arrays { feedback, ..memory() };
        assert_eq!(found(text, &memory, 0.0), None);
        let difference = found(text, &memory, 1.0).unwrap();
        let [found, expected] = ["(1, 1)", "(1, 0)"].map(|at| format!("0x3f800000 uncached to element {at}"));
        assert_eq!(difference.message, format!("the engine sent {found}, the reference {expected}"));
    }
}
