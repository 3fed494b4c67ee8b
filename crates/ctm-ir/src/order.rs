//! Orders of the blocks of a graph.

use std::mem::replace;

/// The blocks reachable from these ones in postorder: each after its successors, but for loops. Those that have been
/// `seen` are left out.
pub fn postorder<I: Iterator<Item = usize>>(
    mut seen: Vec<bool>,
    starts: impl IntoIterator<Item = usize>,
    successors: impl Fn(usize) -> I,
) -> Vec<usize> {
    let mut order = Vec::with_capacity(seen.len());
    // Blocks, each with those of its successors that have not been followed.
    let mut path = Vec::with_capacity(16);
    for start in starts {
        if !replace(&mut seen[start], true) {
            path.push((start, successors(start)));
        }
        while let Some((block, left)) = path.last_mut() {
            match left.next() {
                Some(next) if replace(&mut seen[next], true) => {}
                Some(next) => path.push((next, successors(next))),
                None => {
                    order.push(*block);
                    path.pop();
                }
            }
        }
    }
    order
}
