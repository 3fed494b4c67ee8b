//! The order of a loop's instructions when two of its iterations are one: by how early they can run, so that those of both iterations alternate.
//!
//! Chains of both iterations then stand close together, and processors find instructions to run without looking far ahead. The second iteration is a little
//! behind the first one, so that not all its vectors are live where the first one's are.

use super::{Lines, Load, use_masks};
use crate::codegen::x86::asm::{ADD_I32, AND, OR, SUB_I32, XOR};
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::stream::prepare::WHOLE;

/// How many clocks the second iteration is behind; measured.
const BEHIND: u32 = 24;

/// A vector has waited long when it was this part of a block.
const LONG: usize = 4;

/// Instructions that stay together.
struct Node {
    lir: Vec<Lir>,
    /// The clock at which it can run if nothing but operands holds it up.
    ready: u32,
    /// It only loads, or makes a literal: it comes before the first that reads that.
    waits: bool,
}

/// Clocks until others can use what it makes.
const fn clocks(lir: &Lir) -> u32 {
    match lir {
        Lir::Copy(..) | Lir::ConstRelative { .. } => 0,
        Lir::Shift(..) | Lir::Two(ADD_I32 | SUB_I32 | AND | OR | XOR, ..) => 1,
        _ => 4,
    }
}

/// The instructions of a block in that order. `vars`: vectors that are variables, `vectors`: all vectors, `second`: whether a load belongs to the
/// second iteration.
pub fn by_readiness(
    lines: &Lines,
    vars: usize,
    vectors: &mut usize,
    loads: &[Load],
    second: impl Fn(&Load) -> bool,
) -> Lines {
    let count = *vectors;
    let mut nodes = nodes(lines, loads);
    // When the newest value of each vector is there, and when that was last read.
    let (mut there, mut read) = (vec![0; count], vec![0; count]);
    for node in &mut nodes {
        let lir = &node.lir;
        let mut ready = match lir[0] {
            Lir::Copy(_, Src::Row(load)) if second(&loads[load as usize]) => BEHIND,
            _ => 0,
        };
        let mut after = 0;
        for lir in lir {
            lir.reads().for_each(|vector| ready = ready.max(there[vector.index()]));
            if let Some((dst, _)) = lir.writes() {
                ready = ready.max(read[dst.index()]).max(there[dst.index()]);
            }
            after += clocks(lir);
        }
        for lir in lir {
            lir.reads().for_each(|vector| read[vector.index()] = read[vector.index()].max(ready));
            if let Some((dst, _)) = lir.writes() {
                there[dst.index()] = ready + after;
            }
        }
        node.ready = ready;
        node.waits = lir.iter().all(|lir| lir.writes().is_some_and(|(dst, _)| dst.index() >= vars))
            && lir.iter().all(|lir| lir.reads().next().is_none());
    }
    let mut wanted = vec![u32::MAX; count];
    for node in nodes.iter_mut().rev() {
        let lir = &node.lir;
        if node.waits {
            let first = lir.iter().filter_map(Lir::writes).map(|(dst, _)| wanted[dst.index()]).min();
            node.ready = first.filter(|&first| first < u32::MAX).unwrap_or(node.ready);
        }
        for vector in lir.iter().flat_map(Lir::reads) {
            wanted[vector.index()] = wanted[vector.index()].min(node.ready);
        }
    }
    // Those that are ready at once keep their order.
    nodes.sort_by_key(|node| node.ready);
    let mut new = Lines::default();
    for node in nodes {
        if use_masks(&node.lir) {
            new.push(node.lir);
        } else {
            new.extend(node.lir.into_iter().map(|lir| vec![lir]));
        }
    }
    parted(&new, vars, vectors)
}

/// The same, where a vector that is not used for long becomes another one meanwhile: the first may have a register, while the second waits in a
/// row of the frame. `vectors`: how many there are.
fn parted(lines: &Lines, vars: usize, vectors: &mut usize) -> Lines {
    /// How a vector is used.
    #[derive(Clone, Copy, Default)]
    struct Uses {
        writes: u32,
        /// The group of the newest use.
        newest: usize,
        /// The groups at both ends of the longest time without one.
        longest: (usize, usize),
    }
    let mut uses = vec![Uses::default(); *vectors];
    for (place, group) in lines.iter().enumerate() {
        for lir in group {
            for vector in lir.reads() {
                let of = &mut uses[vector.index()];
                if of.newest > 0 && place - of.newest > of.longest.1 - of.longest.0 {
                    of.longest = (of.newest, place);
                }
                of.newest = place;
            }
            if let Some((dst, _)) = lir.writes() {
                uses[dst.index()].writes += 1;
            }
        }
    }
    let is_parted = |vector: Vector| {
        let of = uses[vector.index()];
        vector.index() >= vars && of.writes == 1 && (of.longest.1 - of.longest.0) * LONG >= lines.len()
    };
    let mut new = Lines::default();
    // What stands for vectors from here on.
    let mut other: Vec<Option<Vector>> = vec![None; uses.len()];
    for (place, group) in lines.iter().enumerate() {
        new.push(group.iter().map(|lir| lir.with_reads(|v| other[v.index()].unwrap_or(v))).collect());
        for vector in group.iter().flat_map(Lir::reads) {
            if is_parted(vector) && uses[vector.index()].longest.0 == place && other[vector.index()].is_none() {
                let waiting = Vector(*vectors as u32);
                *vectors += 1;
                other[vector.index()] = Some(waiting);
                new.push(vec![Lir::Copy(waiting, Src::Vector(vector))]);
            }
        }
    }
    new
}

/// Single instructions, groups with masks, and channels that are loaded together.
fn nodes(lines: &Lines, loads: &[Load]) -> Vec<Node> {
    let together = |lir: &Lir| match *lir {
        Lir::Copy(_, Src::Row(load)) => {
            let Load { fetch, number, channel } = loads[load as usize];
            (channel != WHOLE && !fetch.is_uniform()).then_some(number)
        }
        _ => None,
    };
    let mut nodes: Vec<Node> = Vec::new();
    for group in lines {
        let units = if use_masks(group) { vec![&group[..]] } else { group.chunks(1).collect() };
        for lir in units {
            let of = together(&lir[0]);
            match nodes.last_mut() {
                Some(last) if of.is_some() && together(&last.lir[0]) == of => last.lir.extend_from_slice(lir),
                _ => nodes.push(Node { lir: lir.to_vec(), ready: 0, waits: false }),
            }
        }
    }
    nodes
}
