//! Tests of `src/passes/bound.rs`.

use super::*;
use ctm_ir::masked::{M, Tally};

fn block(alu: u32, ops: Vec<MaskOp>, end: End) -> Block {
    let tally = Tally { alu, ..Tally::default() };
    Block { loops: 0, ops: ops.into_iter().map(Op::Mask).collect(), tally, end }
}

fn code(blocks: Vec<Block>) -> Code {
    let (fetches, stores, yields, locked, computed) = Default::default();
    Code { blocks, fetches, stores, yields, locked, computed, watches_idle_lanes: false, keeps_idle_lanes: false }
}

/// The end of a loop of some depth.
fn end(depth: usize, alu: u32, again: u16, left: u16) -> Block {
    let count = M::count(depth);
    let ops = vec![MaskOp::Add(count, -1, false), MaskOp::IfNot0(M::PASS, M::PASS, count)];
    block(alu, ops, End::Branch { mask: M::PASS, none: JumpTarget::Block(left), some: JumpTarget::Block(again) })
}

fn start(depth: usize, iterations: i32, next: u16) -> Block {
    block(0, vec![MaskOp::Number(M::count(depth), iterations)], End::Next(JumpTarget::Block(next)))
}

#[test]
fn loops_multiply() {
    // 3 * (10 + 4 * (100 + 1000) + 2) + 5, with both blocks of the inner loop in its cycle.
    let blocks = vec![
        start(0, 3, 1),
        Block { tally: Tally { alu: 10, ..Tally::default() }, ..start(1, 4, 2) },
        block(100, vec![], End::Next(JumpTarget::Block(3))),
        end(1, 1000, 2, 4),
        end(0, 2, 1, 5),
        block(5, vec![], End::Stop),
    ];
    assert_eq!(instructions(&code(blocks)), Some(3 * (10 + 4 * 1100 + 2) + 5));
}

#[test]
fn what_does_not_end_has_no_bound() {
    let forever = |next| vec![block(1, vec![], End::Next(next)), block(1, vec![], End::Stop)];
    assert_eq!(instructions(&code(forever(JumpTarget::Block(0)))), None);
    assert_eq!(instructions(&code(forever(JumpTarget::Reference))), None);
    assert_eq!(instructions(&code(forever(JumpTarget::Block(1)))), Some(2));
    // A loop that begins anew inside of itself.
    let blocks = vec![start(0, 3, 1), end(0, 1, 0, 2), block(1, vec![], End::Stop)];
    assert_eq!(instructions(&code(blocks)), None);
    // A loop with a path around its end.
    let round = End::Branch { mask: M::PASS, none: JumpTarget::Block(1), some: JumpTarget::Block(2) };
    let blocks = vec![start(0, 3, 1), block(1, vec![], round), end(0, 1, 1, 3), block(1, vec![], End::Stop)];
    assert_eq!(instructions(&code(blocks)), None);
}
