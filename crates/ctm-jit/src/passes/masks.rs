//! Mask propagation: a forward data-flow analysis of the masks, and the removal of mask operations with a known or dead
//! result.
//!
//! The abstract state of a block is the set of *rows*. A row has one bit for each mask: the values that one lane has in
//! all masks at once. Nearly every mask operation treats lanes independently, so one set covers all lanes; join is
//! union. The sets are small, because a lane of a structured program runs, waits in an enclosing branch or loop, or
//! does not exist. Two masks that agree in all rows of a place are equal there. This shows that the lane mask of a loop
//! without CONTINUE is empty and that the lanes that go on at its end are the active ones; masks that are dead then are
//! removed.

use crate::passes::table::Pass;
use ctm_ir::masked::{Block, Code, End, JumpTarget, M, MaskOp, Op};
use ctm_ir::order::postorder;

/// The most rows at one place; programs that need more stay as they are.
const MOST_ROWS: usize = 256;
/// Duplicate rows are tolerated up to this number.
const FEW_ROWS: usize = 24;
/// The most steps of a row over a mask operation, in all.
const MOST_STEPS: usize = 200_000;

/// Replaces operations with a dead result by `Copy(d, d)`, and those with a known result by a copy of an equal mask.
/// `whole`: all existing lanes lie in the domain.
pub fn simplify(code: &mut Code, whole: bool) {
    if !Pass::Masks.is_on() {
        return;
    }
    let Some(mut bits) = MaskSet::of(code) else { return };
    bits.followed = bits.followed(code);
    // Other masks may become copies of these and add uses; so the masks that they are computed from are tracked, too.
    let live = bits.live(code, ALWAYS_BITS);
    bits.note_after(code, &live);
    let Some(ends) = bits.follow(code, &live, whole) else { return };
    for (index, (block, end)) in code.blocks.iter_mut().zip(ends).enumerate() {
        block.end = end;
        bits.rewrite(block, index);
    }
    // The active lanes have to be exact everywhere: they determine the lanes for which a variable is read.
    let active = bits.bit(M::ACTIVE);
    let live = bits.live(code, active);
    for (block, places) in code.blocks.iter_mut().zip(&bits.places) {
        let mut reads = bits.live_out(block.end, &live) | active;
        for place in places.iter().rev() {
            match &mut block.ops[place.at] {
                Op::Mask(MaskOp::Copy(d, a)) if d == a => {}
                Op::Mask(of) if reads & place.writes == 0 => *of = MaskOp::Copy(of.writes(), of.writes()),
                _ => reads = place.step_back(reads) | active,
            }
        }
    }
}

/// The live masks of a program.
pub struct Live {
    bits: MaskSet,
    live: Vec<u64>,
}

impl Live {
    /// In a program; `None` when it has too many.
    pub fn of(code: &Code) -> Option<Self> {
        let bits = MaskSet::of(code)?;
        let live = bits.live(code, 0);
        Some(Self { bits, live })
    }

    /// Whether a mask is live after the end of a block.
    pub fn after(&self, end: End, m: M) -> bool {
        let end =
            if let End::Branch { none, some, .. } = end { End::Branch { mask: M::NONE, none, some } } else { end };
        self.bits.live_out(end, &self.live) & self.bits.bit(m) != 0
    }
}

/// The masks and numbers of a program, each as one bit of a row.
struct MaskSet {
    /// The bit of each; 0 for those that the program does not use.
    of: Vec<u64>,
    masks: Vec<M>,
    /// The tracked masks: those that decide which lanes run, and those computed from such masks alone.
    followed: u64,
    /// The operations of each block that write or read masks.
    places: Vec<Vec<MaskSite>>,
    /// The blocks in postorder: each after its successors, but for loops.
    order: Vec<usize>,
}

/// An operation that writes a mask, or several in a row that only read: the first one, and the masks that they write and read.
#[derive(Clone, Copy)]
struct MaskSite {
    at: usize,
    writes: u64,
    reads: u64,
    /// The masks that are tracked and live after it.
    after: u64,
    /// An equivalent operation; for operations that only read, some operation if all existing lanes are active.
    known: Option<MaskOp>,
}

impl MaskSite {
    /// The masks that are live before it, given those live after it; an operation with a dead result reads nothing.
    const fn step_back(&self, live: u64) -> u64 {
        if self.writes != 0 && live & self.writes == 0 { live } else { live & !self.writes | self.reads }
    }
}

/// The abstract state at a place of a block.
#[derive(Clone, Default)]
struct Here {
    /// Rows, in one set for each outcome of a number that decides for all lanes; the second set is empty before such a
    /// decision.
    worlds: [Vec<u64>; 2],
    /// The masks that have been written on every path to here.
    defined: u64,
}

/// A bit in every place.
const fn all(bit: bool) -> u64 {
    if bit { u64::MAX } else { 0 }
}

/// Changes a set until it is a fixed point.
fn settle(set: &mut u64, change: impl Fn(&mut u64)) {
    loop {
        let before = *set;
        change(set);
        if *set == before {
            return;
        }
    }
}

/// A mask as a function of two others, `a` and `b`. In a row with the values a and b, the result is bit `a + 2 * b` of
/// `holds`; where that bit of `open` is set, it can be either.
struct TruthTable {
    a: u64,
    b: u64,
    holds: u8,
    open: u8,
}

impl TruthTable {
    /// The result in a row, as the lowest bit: 0 where it can be either. As a polynomial, so that no row needs a
    /// branch.
    fn holds(&self) -> impl Fn(u64) -> u64 + use<> {
        let (a, b) = (self.a.trailing_zeros(), self.b.trailing_zeros());
        let [n, x, y, z] = [0, 1, 2, 3].map(|case| u64::from(self.holds >> case & 1));
        move |row| n ^ row >> a & (n ^ x) ^ row >> b & (n ^ y) ^ row >> a & row >> b & (n ^ x ^ y ^ z)
    }

    /// Applies it to rows.
    fn put(&self, rows: &mut Vec<u64>, bit: u64) {
        let (at, holds) = (bit.trailing_zeros(), self.holds());
        let is_open = |row: u64| self.open >> (u8::from(row & self.a != 0) | u8::from(row & self.b != 0) << 1) & 1 == 1;
        let is_always = self.open == 0b1111;
        let open = rows.iter().filter(|&&row| !is_always && self.open != 0 && is_open(row));
        let mut others: Vec<u64> = open.map(|row| row | bit).collect();
        rows.iter_mut().for_each(|row| *row = *row & !bit | holds(*row) << at);
        if is_always {
            // Each becomes two.
            unite(rows, FEW_ROWS / 2);
            others.extend(rows.iter().map(|row| row | bit));
        }
        if !others.is_empty() {
            rows.append(&mut others);
            unite(rows, if is_always { usize::MAX } else { FEW_ROWS });
        }
    }
}

/// Removes duplicate rows, where there are more than `few`.
fn unite(rows: &mut Vec<u64>, few: usize) {
    if rows.len() > few {
        rows.sort_unstable();
        rows.dedup();
    }
}

/// Masks with a value from the start, live or not. Of equal masks, the later ones become copies of the first.
const ALWAYS: [M; 4] = [M::NONE, M::ACTIVE, M::EXISTING, M::VALID];
/// They have the first bits.
const ALWAYS_BITS: u64 = (1 << ALWAYS.len()) - 1;

impl MaskSet {
    /// `None` when there are too many.
    fn of(code: &Code) -> Option<Self> {
        let count = code.blocks.len();
        let order = postorder(vec![false; count], 0..count, |block| code.blocks[block].end.successors());
        let places = Vec::with_capacity(count);
        let mut bits = Self { of: vec![0; M::COUNT], masks: Vec::with_capacity(64), followed: 0, places, order };
        ALWAYS.into_iter().for_each(|m| _ = bits.note(m));
        for block in &code.blocks {
            let mut places: Vec<MaskSite> = Vec::with_capacity(block.ops.len() / 4);
            for (at, op) in block.ops.iter().enumerate().filter(|(_, op)| !op.is_pure() || matches!(op, Op::Number(_)))
            {
                let place = bits.place(op, at);
                match places.last_mut() {
                    Some(last) if last.writes | place.writes == 0 => last.reads |= place.reads,
                    _ => places.push(place),
                }
            }
            bits.places.push(places);
            if let End::Branch { mask, .. } = block.end {
                bits.note(mask);
            }
        }
        (bits.masks.len() <= 64).then_some(bits)
    }

    /// An operation with the masks that it writes and reads.
    fn place(&mut self, op: &Op, at: usize) -> MaskSite {
        let (writes, reads) = match op {
            Op::Mask(op) => (self.note(op.writes()), op.reads()),
            _ => (0, [op.mask(), None]),
        };
        let [first, second] = reads.map(|m| m.map_or(0, |m| self.note(m)));
        MaskSite { at, writes, reads: first | second, after: 0, known: None }
    }

    /// The masks that decide which lanes run, with those that they are computed from, and those computed from nothing
    /// else.
    fn followed(&self, code: &Code) -> u64 {
        let branches =
            code.blocks.iter().map(|block| if let End::Branch { mask, .. } = block.end { self.bit(mask) } else { 0 });
        let mut decide = branches.fold(ALWAYS_BITS, |all, bit| all | bit);
        let places = || self.places.iter().rev().flat_map(|places| places.iter().rev());
        settle(&mut decide, |set| {
            places().for_each(|place| *set |= if *set & place.writes == 0 { 0 } else { place.reads });
        });
        let blocks = || code.blocks.iter().zip(&self.places).rev();
        let mut all = u64::MAX;
        settle(&mut all, |set| {
            for (block, place) in blocks().flat_map(|(block, of)| of.iter().rev().map(move |place| (block, place))) {
                let is_open = place.reads & !*set != 0 || matches!(block.ops[place.at], Op::Mask(MaskOp::Lanes(..)));
                *set &= !if is_open { place.writes & !decide } else { 0 };
            }
        });
        all
    }

    fn note(&mut self, m: M) -> u64 {
        let bit = &mut self.of[m.index()];
        if *bit == 0 {
            *bit = 1 << (self.masks.len() & 63);
            self.masks.push(m);
        }
        *bit
    }

    fn bit(&self, m: M) -> u64 {
        self.of[m.index()]
    }

    /// The masks live at the end of a block: those that its end or a successor reads.
    fn live_out(&self, end: End, live: &[u64]) -> u64 {
        let mut out = if end == End::Stop { self.bit(M::VALID) | self.bit(M::ACTIVE) } else { 0 };
        if let End::Branch { mask, .. } = end {
            out |= self.bit(mask);
        }
        end.successors().fold(out, |out, next| out | live[next])
    }

    /// The masks that are live at the beginning of each block; a mask that is only used to compute itself is dead.
    /// `always`: these are live everywhere.
    fn live(&self, code: &Code, always: u64) -> Vec<u64> {
        let mut live = vec![0; code.blocks.len()];
        // The masks that were live after each block at its last visit.
        let mut outs = vec![None; code.blocks.len()];
        loop {
            let mut changed = false;
            for &index in &self.order {
                let out = self.live_out(code.blocks[index].end, &live) | always;
                if outs[index].replace(out) != Some(out) {
                    let of = self.places[index].iter().rev().fold(out, |of, place| place.step_back(of) | always);
                    changed |= std::mem::replace(&mut live[index], of) != of;
                }
            }
            if !changed {
                return live;
            }
        }
    }

    /// Records the masks that are tracked and live after each place. Masks made from vectors count as live in the rest
    /// of their block, as they may decide which lanes stay active.
    fn note_after(&mut self, code: &Code, live: &[u64]) {
        for (index, block) in code.blocks.iter().enumerate() {
            let mut of = self.live_out(block.end, live) | ALWAYS_BITS;
            for place in self.places[index].iter_mut().rev() {
                place.after = of & self.followed;
                of = place.step_back(of) | ALWAYS_BITS;
            }
            let mut made = 0;
            for place in &mut self.places[index] {
                let is_made = matches!(block.ops[place.at], Op::Mask(MaskOp::Lanes(..)));
                made |= if is_made { place.writes & place.after } else { 0 };
                place.after |= made;
            }
        }
    }

    /// Runs the analysis to its fixed point: records the known operations, and gives the ends of blocks with known
    /// branches.
    fn follow(&mut self, code: &Code, live: &[u64], whole: bool) -> Option<Vec<End>> {
        let mut ends: Vec<End> = code.blocks.iter().map(|block| block.end).collect();
        let mut entries = vec![Here::default(); code.blocks.len()];
        let [existing, valid, active] = [M::EXISTING, M::VALID, M::ACTIVE].map(|m| self.bit(m));
        entries[0] = Here { worlds: [vec![0, existing | valid | active], Vec::new()], defined: ALWAYS_BITS };
        entries[0].worlds[0].extend((!whole).then_some(existing));
        let mut open = vec![false; code.blocks.len()];
        open[0] = true;
        let (mut steps, order) = (0, self.order.clone());
        while open.contains(&true) {
            for &index in order.iter().rev() {
                if !std::mem::replace(&mut open[index], false) {
                    continue;
                }
                let block = &code.blocks[index];
                let mut here = entries[index].clone();
                for number in 0..self.places[index].len() {
                    let MaskSite { at, writes, reads, after, .. } = self.places[index][number];
                    let Op::Mask(op) = block.ops[at] else {
                        let all = reads & active != 0 && here.same(active) & existing != 0;
                        self.places[index][number].known = all.then_some(MaskOp::Copy(M::ACTIVE, M::EXISTING));
                        continue;
                    };
                    self.places[index][number].known = Some(self.simpler(&here, op));
                    if writes & self.followed == 0 {
                        continue;
                    }
                    steps += here.worlds.iter().map(Vec::len).sum::<usize>();
                    self.step(op, after, &mut here);
                    if steps > MOST_STEPS || here.worlds.iter().any(|rows| rows.len() > MOST_ROWS) {
                        return None;
                    }
                }
                if let (End::Branch { mask, .. }, End::Branch { mask: of, .. }) = (&mut ends[index], block.end) {
                    *mask = self.name(&here, of);
                }
                // Rows without a bit of `without`, from sets with a bit of `some`, go on to a block.
                let mut reach = |target: JumpTarget, some: u64, without: u64| {
                    let JumpTarget::Block(id) = target else { return };
                    let id = usize::from(id);
                    let kept = live[id] & self.followed | ALWAYS_BITS;
                    open[id] |= entries[id].add(&here, (some, without), kept);
                };
                match block.end {
                    End::Stop => {}
                    End::Next(target) => reach(target, 0, 0),
                    End::Branch { mask, none, some } => {
                        reach(none, 0, self.bit(mask));
                        reach(some, self.bit(mask), 0);
                    }
                }
            }
        }
        Some(ends)
    }

    /// The result of an operation as a function of two masks.
    fn made(&self, op: MaskOp) -> TruthTable {
        let made = |a: M, b: M, holds: u8, open: u8| TruthTable { a: self.bit(a), b: self.bit(b), holds, open };
        match op {
            MaskOp::Copy(_, a) => made(a, a, 0b1000, 0),
            MaskOp::And(_, a, b) => made(a, b, 0b1000, 0),
            MaskOp::AndNot(_, a, b) => made(a, b, 0b0010, 0),
            MaskOp::Or(_, a, b) => made(a, b, 0b1110, 0),
            MaskOp::Xor(_, a, b) => made(a, b, 0b0110, 0),
            MaskOp::Quads(_, a) => made(a, M::EXISTING, 0b1000, 0b0100),
            // The values of lanes that do not exist are undefined.
            MaskOp::Lanes(d, _) => made(d, d, 0, 0b1111),
            // A number has no rows: it is never defined.
            MaskOp::Number(d, _) | MaskOp::Add(d, ..) => made(d, d, 0, 0),
            MaskOp::IfNot0(_, a, _) => made(a, a, 0, 0b1000),
        }
    }

    /// Steps over a mask operation; masks that are dead after it (not in `after`) leave the rows.
    fn step(&self, op: MaskOp, after: u64, here: &mut Here) {
        let bit = self.bit(op.writes());
        here.defined |= if matches!(op, MaskOp::Number(..) | MaskOp::Add(..)) { 0 } else { bit };
        let mut made = self.made(op);
        let [rows, others] = &mut here.worlds;
        if matches!(op, MaskOp::IfNot0(..)) && others.is_empty() {
            // All lanes of the mask, or none.
            others.extend(rows.iter().map(|row| row & !bit));
            (made.holds, made.open) = (made.open, 0);
            made.put(rows, bit);
        } else {
            made.put(rows, bit);
            made.put(others, bit);
        }
        if here.defined & !after != 0 {
            here.defined &= after;
            for rows in &mut here.worlds {
                rows.iter_mut().for_each(|row| *row &= after);
                unite(rows, FEW_ROWS);
            }
        }
    }

    fn rewrite(&mut self, block: &mut Block, index: usize) {
        let mut next = block.ops.len();
        for number in (0..self.places[index].len()).rev() {
            let MaskSite { at, known, .. } = self.places[index][number];
            let ops = &mut block.ops[at..std::mem::replace(&mut next, at)];
            let Some(known) = known else { continue };
            let mut of = MaskSite { reads: 0, ..self.places[index][number] };
            for op in ops.iter_mut() {
                match op {
                    Op::Mask(op) => *op = known,
                    // No lane keeps its old value.
                    Op::Set { under: m @ M::ACTIVE, .. } if of.writes == 0 => *m = M::EXISTING,
                    _ => {}
                }
                of.reads |= self.place(op, at).reads;
            }
            self.places[index][number] = of;
        }
    }

    /// The fixed mask that is equal to the one that decides a branch, if there is one.
    fn name(&self, here: &Here, m: M) -> M {
        let is_known = here.defined & self.bit(m) != 0;
        let same = if is_known { here.same(self.bit(m)) & here.defined } else { 0 };
        ALWAYS.into_iter().find(|&known| same & self.bit(known) != 0).unwrap_or(m)
    }

    /// A copy of an equal mask, if there is one; of `d` itself when the operation changes nothing.
    fn simpler(&self, here: &Here, op: MaskOp) -> MaskOp {
        if let MaskOp::IfNot0(d, lanes, number) = op {
            return MaskOp::IfNot0(d, self.name(here, lanes), number);
        }
        let combines =
            matches!(op, MaskOp::Copy(..) | MaskOp::And(..) | MaskOp::AndNot(..) | MaskOp::Or(..) | MaskOp::Xor(..));
        let made = self.made(op);
        if !combines || (made.a | made.b) & !here.defined != 0 {
            return op;
        }
        let d = op.writes();
        let holds = made.holds();
        let same = here.equal(|row| all(holds(row) != 0)) & here.defined;
        let of = |set: u64| self.masks.iter().copied().find(|&m| set & self.bit(m) != 0);
        if same & self.bit(d) != 0 {
            return MaskOp::Copy(d, d);
        }
        let active = |row: &u64| row & self.bit(M::ACTIVE) != 0;
        if d == M::ACTIVE && here.rows().all(|row| active(&row) || holds(row) == 0) {
            // Fewer lanes are active: the lanes of a mask, which may be a comparison, or the lanes outside of it.
            let before = here.rows().filter(active).map(|row| row ^ all(holds(row) != 0));
            let (differs, never) = before.fold((0, u64::MAX), |(some, every), row| (some | row, every & row));
            let others = here.defined & !self.bit(M::ACTIVE);
            if let Some(m) = of(others & !differs) {
                return MaskOp::And(d, d, m);
            }
            if let Some(m) = of(others & never) {
                return MaskOp::AndNot(d, d, m);
            }
        }
        of(same).map_or(op, |m| MaskOp::Copy(d, m))
    }
}

impl Here {
    fn rows(&self) -> impl Iterator<Item = u64> + use<'_> {
        self.worlds.iter().flatten().copied()
    }

    /// The masks that are equal to this one, itself among them.
    fn same(&self, bit: u64) -> u64 {
        self.equal(|row| all(row & bit != 0))
    }

    /// The masks whose bit in every row is the result of this function.
    fn equal(&self, of: impl Fn(u64) -> u64) -> u64 {
        !self.worlds.iter().fold(0, |all, rows| rows.iter().fold(all, |differs, &row| differs | (row ^ of(row))))
    }

    /// Adds the bits `kept` of the rows without a bit of `without`, from sets in which some row has a bit of `some` (0:
    /// from all); returns whether that changed something.
    fn add(&mut self, here: &Here, (some, without): (u64, u64), kept: u64) -> bool {
        let rows = &mut self.worlds[0];
        let before = (rows.len(), self.defined);
        self.defined = here.defined & kept & if rows.is_empty() { u64::MAX } else { self.defined };
        rows.reserve(here.worlds[0].len());
        for of in here.worlds.iter().filter(|of| some == 0 || of.iter().any(|row| row & some != 0)) {
            rows.extend(of.iter().filter(|&row| row & without == 0).map(|row| row & kept));
        }
        rows.sort_unstable();
        rows.dedup();
        // Rows are only added.
        before != (rows.len(), self.defined) && !rows.is_empty()
    }
}

#[cfg(test)]
#[path = "../../tests/unit/passes/masks.rs"]
mod tests;
