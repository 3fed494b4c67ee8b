//! What is known of masks before a program runs, and what need not be computed for that reason.
//!
//! What the masks say of one lane is a row of bits. Nearly every operation on masks does the same to each lane, whatever the other lanes do, so the rows
//! that any lane can have at a place of the program are found by following the program with all of them at once: a few rows,
//! as a lane of a structured program runs, waits in one of the branches or loops around, or does not exist. Two masks that agree in all rows are
//! the same mask there. So a lane mask of a loop without CONTINUE is seen to be empty, those that go on at its end to be the active ones,
//! and what nobody reads then is left out.

use crate::ir::masked::{Block, Code, End, M, MaskOp, Op, Target};
use crate::passes::table::Pass;

/// The most rows at one place; programs that need more stay as they are.
const MOST_ROWS: usize = 256;
/// So many rows may be the same ones.
const FEW_ROWS: usize = 24;
/// How many rows are followed through one operation on masks at most, all in all.
const MOST_STEPS: usize = 200_000;

/// Finds what is known or read by nobody: it becomes `Copy(d, d)`; gives masks that are the same one name. `whole`: all lanes that exist lie in the domain.
pub fn simplify(code: &mut Code, whole: bool) {
    if !Pass::Masks.is_on() {
        return;
    }
    let Some(bits) = Bits::of(code) else { return };
    // These get new readers, as they give their names to others; so what they are made of is followed, too.
    let always = ALWAYS.into_iter().fold(0, |set, m| set | bits.bit(m));
    let live = bits.live(code, always);
    let after: Vec<Vec<u64>> = (0..code.blocks.len()).map(|block| bits.after(code, block, &live, always)).collect();
    let Some(entries) = bits.follow(code, (&live, &after), whole) else { return };
    for (index, block) in code.blocks.iter_mut().enumerate() {
        bits.rewrite(block, &bits.places[index], &entries[index], &after[index]);
    }
    let live = bits.live(code, 0);
    for (block, places) in code.blocks.iter_mut().zip(&bits.places) {
        let mut reads = bits.live_out(block.end, &live);
        for &place in places.iter().rev() {
            let op = &mut block.ops[place as usize];
            let touches = bits.touches(op);
            match op {
                Op::Mask(MaskOp::Copy(d, a)) if d == a => {}
                Op::Mask(of) if reads & touches.0 == 0 => *of = MaskOp::Copy(of.writes(), of.writes()),
                _ => reads = step_back(reads, touches),
            }
        }
    }
}

/// Which masks somebody reads.
pub struct Live {
    bits: Bits,
    live: Vec<u64>,
}

impl Live {
    /// In a program; `None` when it has too many.
    pub fn of(code: &Code) -> Option<Self> {
        let bits = Bits::of(code)?;
        let live = bits.live(code, 0);
        Some(Self { bits, live })
    }

    /// Whether somebody reads a mask behind the end of a block.
    pub fn after(&self, end: End, m: M) -> bool {
        let end =
            if let End::Branch { none, some, .. } = end { End::Branch { mask: M::NONE, none, some } } else { end };
        self.bits.live_out(end, &self.live) & self.bits.bit(m) != 0
    }
}

/// The masks and numbers of a program, each as one bit of a row.
struct Bits {
    of: Vec<Option<u8>>,
    masks: Vec<M>,
    /// Those that are numbers, not masks.
    numbers: u64,
    /// Those that count as read at the program's end.
    at_end: u64,
    /// Of each block, the places of operations that write or read some.
    places: Vec<Vec<u32>>,
}

/// What lanes can be at the beginning of a block.
#[derive(Clone, Default)]
struct Entry {
    rows: Vec<u64>,
    /// The masks that have been written, whichever way led here.
    defined: u64,
}

/// What can be somewhere in a block.
struct Here {
    /// Rows, apart for what a number decides for all lanes.
    worlds: Vec<Vec<u64>>,
    defined: u64,
}

/// The operations at these places.
fn at<'a>(ops: &'a [Op], places: &'a [u32]) -> impl DoubleEndedIterator<Item = &'a Op> {
    places.iter().map(|&place| &ops[place as usize])
}

/// A bit in every place.
const fn all(bit: bool) -> u64 {
    if bit { u64::MAX } else { 0 }
}

/// Rows that are the same become one, where they are many.
fn unite(rows: &mut Vec<u64>) {
    if rows.len() > FEW_ROWS {
        rows.sort_unstable();
        rows.dedup();
    }
}

/// The masks that somebody reads before an operation which writes and reads these; what nobody reads counts for nothing.
const fn step_back(live: u64, (writes, reads): (u64, u64)) -> u64 {
    if writes != 0 && live & writes == 0 { live } else { live & !writes | reads }
}

/// Masks that hold something from the start, whether somebody reads it or not.
const ALWAYS: [M; 4] = [M::EXISTING, M::NONE, M::VALID, M::ACTIVE];

impl Bits {
    /// `None` when there are too many.
    fn of(code: &Code) -> Option<Self> {
        let places = Vec::with_capacity(code.blocks.len());
        let mut bits = Self { of: vec![None; M::COUNT], masks: Vec::new(), numbers: 0, at_end: 0, places };
        [M::NONE, M::ACTIVE, M::EXISTING, M::VALID].into_iter().for_each(|m| bits.note(m));
        for block in &code.blocks {
            let mut places = Vec::new();
            for (op, place) in block.ops.iter().zip(0..) {
                let mut touches = false;
                let written = if let Op::Mask(op) = op { Some(op.writes()) } else { None };
                for m in op.masks().chain(written) {
                    bits.note(m);
                    touches = true;
                }
                if touches {
                    places.push(place);
                }
            }
            bits.places.push(places);
            if let End::Branch { mask, .. } = block.end {
                bits.note(mask);
            }
        }
        if bits.masks.len() > 64 {
            return None;
        }
        // Where something concerns others than the active lanes by name, who is active has to be true to the end: by that it is known which lanes of
        // variables matter.
        let mut by_name = false;
        for op in code.blocks.iter().zip(&bits.places).flat_map(|(block, places)| at(&block.ops, places)) {
            bits.numbers |= match *op {
                Op::Mask(MaskOp::Number(m, _) | MaskOp::Add(m, ..) | MaskOp::IfNot0(_, _, m))
                | Op::Number(m)
                | Op::Guard(m, ..) => bits.bit(m),
                _ => 0,
            };
            by_name |= op.clone().under().is_some_and(|under| *under != M::ACTIVE);
        }
        bits.at_end = bits.bit(M::VALID) | if by_name { bits.bit(M::ACTIVE) } else { 0 };
        Some(bits)
    }

    fn note(&mut self, m: M) {
        if self.of[m.index()].is_none() {
            self.of[m.index()] = Some(self.masks.len() as u8);
            self.masks.push(m);
        }
    }

    fn bit(&self, m: M) -> u64 {
        self.of[m.index()].map_or(0, |bit| 1 << (bit & 63))
    }

    /// What the end of a block and its successors read.
    fn live_out(&self, end: End, live: &[u64]) -> u64 {
        let mut out = if end == End::Stop { self.at_end } else { 0 };
        if let End::Branch { mask, .. } = end {
            out |= self.bit(mask);
        }
        end.successors().fold(out, |out, next| out | live[next])
    }

    /// The masks that somebody reads, at the beginning of each block; a mask that only makes itself anew counts for nothing. `always`: these count as read everywhere.
    fn live(&self, code: &Code, always: u64) -> Vec<u64> {
        let touches: Vec<Vec<(u64, u64)>> = code
            .blocks
            .iter()
            .zip(&self.places)
            .map(|(block, places)| at(&block.ops, places).rev().map(|op| self.touches(op)).collect())
            .collect();
        let mut live = vec![0; code.blocks.len()];
        loop {
            let mut changed = false;
            for (index, block) in code.blocks.iter().enumerate().rev() {
                let out = self.live_out(block.end, &live) | always;
                let of = touches[index].iter().fold(out, |of, touches| step_back(of, *touches) | always);
                changed |= std::mem::replace(&mut live[index], of) != of;
            }
            if !changed {
                return live;
            }
        }
    }

    /// The masks that somebody reads behind each operation on masks of a block.
    fn after(&self, code: &Code, block: usize, live: &[u64], always: u64) -> Vec<u64> {
        let (block, places) = (&code.blocks[block], &self.places[block]);
        let mut of = self.live_out(block.end, live) | always;
        let mut after = Vec::new();
        for op in at(&block.ops, places).rev() {
            if matches!(op, Op::Mask(_)) {
                after.push(of);
            }
            of = step_back(of, self.touches(op)) | always;
        }
        after.reverse();
        after
    }

    /// What an operation writes and reads.
    fn touches(&self, op: &Op) -> (u64, u64) {
        let writes = if let Op::Mask(op) = op { self.bit(op.writes()) } else { 0 };
        (writes, op.masks().fold(0, |reads, m| reads | self.bit(m)))
    }

    /// What lanes can be at the beginning of each block; no rows where nothing leads.
    fn follow(&self, code: &Code, (live, after): (&[u64], &[Vec<u64>]), whole: bool) -> Option<Vec<Entry>> {
        let mut entries = vec![Entry::default(); code.blocks.len()];
        let [existing, valid, active] = [M::EXISTING, M::VALID, M::ACTIVE].map(|m| self.bit(m));
        let always = ALWAYS.into_iter().fold(0, |set, m| set | self.bit(m));
        let mut first = vec![0, existing | valid | active];
        if !whole {
            first.insert(1, existing);
        }
        entries[0] = Entry { rows: first, defined: always };
        let mut open = vec![0];
        let mut steps = 0;
        while let Some(index) = open.pop() {
            let block = &code.blocks[index];
            let mut here = Here::of(&entries[index]);
            let ops = at(&block.ops, &self.places[index]).filter(|op| matches!(op, Op::Mask(_)));
            for (op, &after) in ops.zip(&after[index]) {
                steps += here.worlds.iter().map(Vec::len).sum::<usize>();
                self.step(op, after, &mut here);
                if steps > MOST_STEPS || here.worlds.iter().any(|rows| rows.len() > MOST_ROWS) {
                    return None;
                }
            }
            let mut reach =
                |target: Target, here: &Here, goes: &dyn Fn(&[u64]) -> bool, stays: &dyn Fn(u64) -> bool| {
                    let Target::Block(id) = target else { return };
                    let entry = &mut entries[usize::from(id)];
                    let is_new = entry.rows.is_empty();
                    let kept = live[usize::from(id)] | always;
                    let before = entry.clone();
                    let worlds = here.worlds.iter().filter(|rows| goes(rows)).flatten();
                    entry.rows.extend(worlds.filter(|&&row| stays(row)).map(|row| row & kept));
                    entry.rows.sort_unstable();
                    entry.rows.dedup();
                    entry.defined = here.defined & kept & if is_new { u64::MAX } else { entry.defined };
                    let changed = before.rows != entry.rows || before.defined != entry.defined;
                    if changed && !entry.rows.is_empty() && !open.contains(&usize::from(id)) {
                        open.push(usize::from(id));
                    }
                };
            match block.end {
                End::Stop => {}
                End::Next(target) => reach(target, &here, &|_| true, &|_| true),
                End::Branch { mask, none, some } => {
                    let bit = self.bit(mask);
                    reach(none, &here, &|_| true, &|row| row & bit == 0);
                    reach(some, &here, &|rows| rows.iter().any(|row| row & bit != 0), &|_| true);
                }
            }
        }
        Some(entries)
    }

    /// What an operation makes of a row, if that follows from the row.
    fn result(&self, op: MaskOp, row: u64) -> Option<bool> {
        let has = |m: M| row & self.bit(m) != 0;
        match op {
            MaskOp::Copy(_, a) => Some(has(a)),
            MaskOp::And(_, a, b) => Some(has(a) && has(b)),
            MaskOp::AndNot(_, a, b) => Some(has(a) && !has(b)),
            MaskOp::Or(_, a, b) => Some(has(a) || has(b)),
            MaskOp::Xor(_, a, b) => Some(has(a) != has(b)),
            MaskOp::Quads(_, a) if has(a) || !has(M::EXISTING) => Some(has(M::EXISTING)),
            MaskOp::Quads(..) => None,
            // Lanes beyond those there are hold anything.
            MaskOp::Lanes(..) => None,
            MaskOp::Number(..) | MaskOp::Add(..) => Some(false),
            MaskOp::IfNot0(_, a, _) if has(a) => None,
            MaskOp::IfNot0(..) => Some(false),
        }
    }

    /// Steps over an operation on masks, behind which somebody reads some of them (`after`); the others are forgotten.
    fn step(&self, op: &Op, after: u64, here: &mut Here) {
        self.make(op, here);
        if here.defined & !after != 0 {
            here.defined &= after;
            for rows in &mut here.worlds {
                rows.iter_mut().for_each(|row| *row &= after);
                unite(rows);
            }
        }
    }

    fn make(&self, op: &Op, here: &mut Here) {
        let Op::Mask(op) = *op else { return };
        let bit = self.bit(op.writes());
        here.defined |= bit;
        if let (MaskOp::IfNot0(_, a, _), [rows]) = (op, &mut here.worlds[..]) {
            // All lanes of the mask, or none.
            let none: Vec<u64> = rows.iter().map(|row| row & !bit).collect();
            self.each(rows, bit, |row| Some(row & self.bit(a) != 0));
            here.worlds.push(none);
            return;
        }
        for rows in &mut here.worlds {
            self.each(rows, bit, |row| self.result(op, row));
        }
    }

    fn each(&self, rows: &mut Vec<u64>, bit: u64, result: impl Fn(u64) -> Option<bool>) {
        let put = |row: u64, set: bool| if set { row | bit } else { row & !bit };
        let mut more = Vec::new();
        for row in &mut *rows {
            match result(*row) {
                Some(set) => *row = put(*row, set),
                None => {
                    more.push(put(*row, true));
                    *row = put(*row, false);
                }
            }
        }
        if !more.is_empty() {
            rows.append(&mut more);
            unite(rows);
        }
    }

    /// The first mask, in order of names, that is the same as this one here.
    fn name(&self, here: &Here, m: M) -> M {
        let bit = self.bit(m);
        let equal = here.equal(|row| row & bit != 0);
        self.known(here).find(|&c| equal & self.bit(c) != 0).unwrap_or(m)
    }

    /// Masks with a value here.
    fn known<'a>(&'a self, here: &Here) -> impl Iterator<Item = M> + use<'a> {
        let usable = here.defined & !self.numbers;
        self.masks.iter().copied().filter(move |&m| usable & self.bit(m) != 0)
    }

    fn rewrite(&self, block: &mut Block, places: &[u32], entry: &Entry, after: &[u64]) {
        if entry.rows.is_empty() {
            return;
        }
        let mut here = Here::of(entry);
        // Masks that come from vectors of this block.
        let mut made: Vec<M> = Vec::new();
        let mut after = after.iter().peekable();
        for &place in places {
            let op = &mut block.ops[place as usize];
            let old = *op;
            match op {
                Op::Mask(op) => *op = self.simpler(&here, *op, &made),
                Op::Tally(_, _, m) => *m = self.name(&here, *m),
                Op::Number(_) | Op::Guard(..) => {}
                op => op.under().into_iter().for_each(|m| *m = self.name(&here, *m)),
            }
            if let (Op::Mask(op), Some(&after)) = (old, after.next_if(|_| matches!(old, Op::Mask(_)))) {
                self.step(&old, after, &mut here);
                made.retain(|&m| m != op.writes() && here.defined & self.bit(m) != 0);
                if let MaskOp::Lanes(d, _) = op
                    && here.defined & self.bit(d) != 0
                {
                    made.push(d);
                }
            }
        }
        if let End::Branch { mask, .. } = &mut block.end {
            *mask = self.name(&here, *mask);
        }
    }

    /// The same with less; `Copy(d, d)` when it changes nothing.
    fn simpler(&self, here: &Here, op: MaskOp, made: &[M]) -> MaskOp {
        let name = |m: M| self.name(here, m);
        let d = op.writes();
        let result = |row: u64| self.result(op, row).unwrap_or(false);
        match op {
            MaskOp::Lanes(..) | MaskOp::Number(..) | MaskOp::Add(..) => return op,
            MaskOp::IfNot0(d, a, b) => return MaskOp::IfNot0(d, name(a), b),
            MaskOp::Quads(d, a) => return MaskOp::Quads(d, name(a)),
            MaskOp::Copy(..) | MaskOp::And(..) | MaskOp::AndNot(..) | MaskOp::Or(..) | MaskOp::Xor(..) => {}
        }
        let equal = here.equal(result);
        let is = |m: M| equal & self.bit(m) != 0;
        if here.defined & self.bit(d) != 0 && is(d) {
            return MaskOp::Copy(d, d);
        }
        let active = |row: u64| row & self.bit(M::ACTIVE) != 0;
        if d == M::ACTIVE && here.rows().all(|row| active(row) || !result(row)) {
            // Fewer lanes are active: those of a mask, or those that are not in it.
            let before = here.rows().filter(|&row| active(row)).map(|row| row ^ all(result(row)));
            let (differs, never) = before.fold((0, u64::MAX), |(some, every), row| (some | row, every & row));
            let of = made.iter().copied().chain(self.known(here)).filter(|&m| m != M::ACTIVE);
            for m in of {
                if differs & self.bit(m) == 0 {
                    return MaskOp::And(d, d, m);
                }
                if never & self.bit(m) != 0 {
                    return MaskOp::AndNot(d, d, m);
                }
            }
        }
        if let Some(m) = self.known(here).find(|&m| m != d && is(m)) {
            return MaskOp::Copy(d, m);
        }
        match op {
            MaskOp::And(d, a, b) => MaskOp::And(d, name(a), name(b)),
            MaskOp::AndNot(d, a, b) => MaskOp::AndNot(d, name(a), name(b)),
            MaskOp::Or(d, a, b) => MaskOp::Or(d, name(a), name(b)),
            MaskOp::Xor(d, a, b) => MaskOp::Xor(d, name(a), name(b)),
            other => other,
        }
    }
}

impl Here {
    fn of(entry: &Entry) -> Self {
        Self { worlds: vec![entry.rows.clone()], defined: entry.defined }
    }

    fn rows(&self) -> impl Iterator<Item = u64> + use<'_> {
        self.worlds.iter().flatten().copied()
    }

    /// The masks that have, in every row, the bit that this gives.
    fn equal(&self, of: impl Fn(u64) -> bool) -> u64 {
        !self.rows().fold(0, |differs, row| differs | (row ^ all(of(row))))
    }
}
