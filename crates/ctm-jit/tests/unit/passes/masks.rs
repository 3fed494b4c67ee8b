//! Tests of `src/passes/masks.rs`.

use super::*;
use ctm_ir::masked::{Tally, Value, Var};

/// Variables are read between two writes of the active lanes: the first one determines for which lanes, though no
/// operation on masks reads it.
#[test]
fn who_is_active_stays_true_where_nothing_but_variables_is_read() {
    let m = M::TEMP;
    let block = |ops: &[Op], end: End| Block { loops: 0, ops: ops.to_vec(), tally: Tally::default(), end };
    let restored = Op::Mask(MaskOp::Copy(M::ACTIVE, M::EXISTING));
    let some = [Op::Get(Var(0)), Op::Mask(MaskOp::Lanes(m, Value(0))), Op::Mask(MaskOp::Copy(M::ACTIVE, m))];
    let read = [
        Op::Get(Var(1)),
        Op::Set { var: Var(2), value: Value(0), under: M::EXISTING },
        Op::Mask(MaskOp::Copy(M::ACTIVE, m)),
    ];
    let next = |id: u16| End::Next(JumpTarget::Block(id));
    let mut code = Code {
        blocks: vec![block(&some, next(1)), block(&[restored], next(2)), block(&read, End::Stop)],
        ..Code::default()
    };
    simplify(&mut code, false);
    assert_eq!(code.blocks[1].ops, [restored]);
}
