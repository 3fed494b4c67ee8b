//! Tests of `src/codegen/x86/masked/fused.rs`.

use super::*;
use ctm_ir::masked::Tally;

/// The variable, and the vector that is stored into it.
const VARIABLE: Vector = Vector(0);
const MADE: Vector = Vector(1);

/// A list of one block, fused with AVX-512.
fn fused(list: &[Ins]) -> Vec<Ins> {
    let block = Block { loops: 0, ops: Vec::new(), tally: Tally::default(), end: End::Stop };
    let code = Code { blocks: vec![block], ..Code::default() };
    let mut lists = [list.to_vec()];
    fuse(&crate::codegen::target::AVX512, &code, &mut lists, (1, 2, &[]));
    let [list] = lists;
    list
}

/// A sum that is stored at once under a mask is made under it, also after a mark; not where it has another use, where
/// an instruction is between, or where all lanes store it.
#[test]
fn sums_are_made_under_the_mask_of_their_store() {
    let [of, one] = [Src::Vector(VARIABLE), Src::Literal(1f32.to_bits())];
    let sum = Ins::Lir(Lir::Two { op: ADD, dst: MADE, a: of, b: one });
    let store = |under| Ins::Set { dst: VARIABLE, src: Src::Vector(MADE), under };
    let both = Ins::SetTwo { op: ADD, dst: VARIABLE, a: of, b: one, under: M::PASS };
    assert_eq!(fused(&[sum, store(M::PASS)]), [both]);
    assert!(fused(&[sum, Ins::Split, store(M::PASS)]).contains(&both));
    let shown = Ins::Keep { row: 0, src: Src::Vector(MADE), under: M::PASS };
    let other = Ins::Number(VARIABLE, M::FIRST);
    for apart in [vec![sum, store(M::PASS), shown], vec![sum, other, store(M::PASS)], vec![sum, store(M::EXISTING)]] {
        assert_eq!(fused(&apart), apart);
    }
}
