//! Tests of `src/codegen/x86/masked/emit/active.rs`.

use super::*;
use crate::codegen::x86::lir::Src;
use ctm_ir::masked::{JumpTarget, Tally};

/// Three blocks in a ring, one of which jumps by the active lanes: to the next of the ring, or to a block that needs
/// them as mask registers. Each block's need is the one of the block that comes after it in the ring, and blocks are
/// visited in the other direction.
#[test]
fn needs_in_a_ring_settle() {
    let [last, third, second, first] = [0, 1, 2, 3];
    let ends = [
        End::Stop,
        End::Next(JumpTarget::Block(first)),
        End::Branch { mask: M::ACTIVE, none: JumpTarget::Block(last), some: JumpTarget::Block(third) },
        End::Next(JumpTarget::Block(second)),
    ];
    let block = |end| Block { loops: 0, ops: Vec::new(), tally: Tally::default(), end };
    let code = Code {
        blocks: ends.map(block).into(),
        fetches: Vec::new(),
        stores: Vec::new(),
        yields: Vec::new(),
        locked: Vec::new(),
        computed: Vec::new(),
        watches_idle_lanes: false,
        keeps_idle_lanes: false,
    };
    let store = Ins::Set { dst: Vector(0), src: Src::Literal(0), under: M::ACTIVE };
    let needs =
        |last: Vec<Ins>| Needs::of(Lies::InMasks, &code, &[last, Vec::new(), Vec::new(), Vec::new()], &[None; 4]);
    assert_eq!(needs(vec![store]), [Needs::PIECES; 4]);
    // No block needs them, so the jump tests the general register.
    assert_eq!(needs(Vec::new())[1..], [Needs::WHOLE; 3]);
}
