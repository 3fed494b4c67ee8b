//! The size of tiles, and the vectors with registers.

use super::types::{Chosen, Lines, Load, Location, Tile, Varies, use_masks};
use crate::codegen::target::{SCRATCH, Target};
use crate::codegen::x86::allocate::{Lives, SingleAllocation};
use crate::codegen::x86::lir::{Lir, Src, Vector};
use crate::stream::affine::{Fetch, Linear};
use crate::stream::prepare::WHOLE;
use rustc_hash::FxHashMap as Map;

/// The share of memory reads among all uses of vectors up to which several chains are made instead of one.
const READS_FOR_CHAINS: u64 = 4;

/// Vectors side by side to try, the best first.
const WIDE: [u8; 4] = [8, 4, 2, 1];

/// Rows and vectors of tiles to try where rows share fetches that columns do not, the best first.
const SHARED: [(u8, u8); 7] = [(8, 2), (4, 4), (6, 2), (4, 2), (2, 2), (2, 1), (1, 1)];

impl Chosen {
    /// Columns of a vector.
    pub fn columns(&self) -> u32 {
        columns(self.target.target, self.prepared.packed)
    }

    /// Whether outputs can bypass the caches.
    pub fn stores_past_caches(&self) -> bool {
        self.target.has.stores_past_caches
    }

    /// The most registers for vectors, literals and constants. Scratch registers that this program does not need count
    /// as well.
    pub(in crate::codegen) fn register_count(&self) -> u8 {
        let needs_third = !self.target.has_mask_registers() && !self.lines.iter().all(only_mends);
        let scratch = if needs_third || !self.prepared.packed { SCRATCH } else { SCRATCH - 1 };
        self.target.tile_registers - scratch
    }

    /// The machine's register of a number: scratch registers that are not needed come last.
    pub(in crate::codegen) fn isa_register(&self, number: u8) -> u8 {
        let first_scratch = self.target.registers;
        if number < first_scratch || !self.target.has_encoder() {
            number
        } else {
            self.target.all_registers - 1 - (number - first_scratch)
        }
    }

    /// The dependence of each vector on row and column.
    pub(in crate::codegen) fn varies(&self) -> Vec<Varies> {
        let mut varies = vec![Varies::default(); self.selected.vectors];
        for (var, value) in &self.starts {
            if let Some(vector) = self.selected.vars[var.index()] {
                varies[vector.index()] = Varies { rows: value.j != 0, columns: value.i != 0 };
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for group in self.lines.iter().flatten() {
                let mut together = Varies::default();
                if use_masks(group) {
                    // Each unit runs all of the group: intermediate results belong to the unit.
                    for lir in group {
                        lir.each_vector(|vector| together = together.with(varies[vector.index()]));
                    }
                }
                for lir in group {
                    let Some((dst, _)) = lir.touches().0 else { continue };
                    let mut of = together.with(varies[dst.index()]);
                    lir.each_read(|vector| of = of.with(varies[vector.index()]));
                    if let Lir::Copy(_, Src::Row(load)) = *lir {
                        let Fetch { x, y, .. } = self.loads[load as usize].fetch;
                        of = of.with(Varies { rows: x.j != 0 || y.j != 0, columns: x.i != 0 || y.i != 0 });
                    }
                    if of != varies[dst.index()] {
                        varies[dst.index()] = of;
                        changed = true;
                    }
                }
            }
        }
        varies
    }

    /// Whether rows of a tile share fetches that its columns do not, inside a loop.
    pub fn shares_rows(&self) -> bool {
        let looped = |block: usize| self.prepared.code.blocks[block].loops > 0;
        self.prepared
            .fetches
            .iter()
            .enumerate()
            .filter(|(block, _)| looped(*block))
            .flat_map(|(_, fetches)| fetches)
            .any(|fetch| (fetch.x.i != 0 || fetch.y.i != 0) && fetch.x.j == 0 && fetch.y.j == 0)
    }

    /// The largest tile whose vectors have registers.
    pub fn tile(&self, columns: u32) -> Tile {
        let looped = self.prepared.code.blocks.iter().any(|block| block.loops > 0);
        let first = match (self.prepared.packed, looped) {
            (true, true) => 0,
            // The iterations of a loop are one chain, which ends where the next begins; outside of loops the processor sees the next tile.
            (true, false) | (false, true) => 1,
            (false, false) => 2,
        };
        let shared = SHARED.into_iter().filter(|_| self.shares_rows());
        let others = WIDE[first..].iter().map(|&vectors| (1, vectors)).filter(|_| !self.shares_rows());
        let candidates: Vec<(u8, u8)> = shared.chain(others).collect();
        // Long chains of arithmetic have too little parallelism; some chains side by side pay for some reads of memory;
        // measured.
        let chains = !self.prepared.packed && !self.shares_rows();
        let count = self.register_count();
        let mut best = Tile { rows: 1, vectors: 1 };
        for (rows, vectors) in candidates {
            let tile = Tile { rows, vectors };
            if u32::from(vectors) * self.columns() > columns {
                continue;
            }
            best = tile;
            let instances = self.instances(tile);
            let most = if chains { self.ranges.weight(&instances) / READS_FOR_CHAINS } else { 0 };
            if self.registers(&instances, count, most).is_some() {
                break;
            }
        }
        best
    }

    /// Allocates registers, as long as vectors without one weigh no more than `most`.
    pub(in crate::codegen) fn registers(&self, instances: &[u8], count: u8, most: u64) -> Option<SingleAllocation> {
        self.ranges.registers(&self.lives, instances, &self.varies, count, most)
    }

    /// The places at which vectors have to have registers, and up to where.
    pub(in crate::codegen) fn lives(&self) -> Lives {
        // One unit runs all of a group with masks before the next one begins.
        let mut together = Vec::new();
        for lines in &self.lines {
            together.push(together.len());
            for group in lines {
                let first = together.len();
                let last = first + group.len() - 1;
                together.extend((first..=last).map(|place| if use_masks(group) { last } else { place }));
            }
            together.push(together.len());
        }
        self.ranges.lives(&together)
    }

    /// The number of registers that each vector needs.
    pub(in crate::codegen) fn instances(&self, tile: Tile) -> Vec<u8> {
        let count = |v: &Varies| if v.rows { tile.rows } else { 1 } * if v.columns { tile.vectors } else { 1 };
        let mut instances: Vec<u8> = self.varies.iter().map(count).collect();
        self.in_place(tile).keys().for_each(|vector| instances[vector.index()] = 0);
        instances
    }

    /// Vectors that are read in place, as each instance has one use, with their addresses.
    pub(in crate::codegen) fn in_place(&self, tile: Tile) -> Map<Vector, Location> {
        let count = |v: Varies| if v.rows { u32::from(tile.rows) } else { 1 } * if v.columns { u32::from(tile.vectors) } else { 1 };
        // The address of each, the uses of its instances, and the instructions with these uses.
        let mut found: Map<Vector, (Location, u32, u32)> = Map::default();
        for lir in self.lines.iter().flatten().flatten() {
            let written = lir.touches().0.map(|(dst, _)| dst);
            lir.each_read(|vector| {
                if let Some((_, uses, readers)) = found.get_mut(&vector) {
                    *uses += count(written.map_or(Varies::ALL, |dst| self.varies[dst.index()]));
                    *readers += 1;
                }
            });
            let Some(dst) = written else { continue };
            let location = match *lir {
                Lir::Copy(_, Src::Row(load)) if self.is_operand(&self.loads[load as usize]) => {
                    Location::Load(load as u16)
                }
                Lir::ConstRelative { number, dword, .. } => Location::Constant(number, dword),
                _ => {
                    // A changed vector needs a place of its own.
                    found.remove(&dst);
                    continue;
                }
            };
            if dst.index() >= self.selected.used.len() {
                found.insert(dst, (location, 0, 0));
            }
        }
        let is_whole = |load: u16| self.loads[usize::from(load)].channel == WHOLE;
        let kept = found.into_iter().filter(|&(vector, (location, uses, readers))| {
            // Where an instruction cannot read it directly, the units of one instruction share it.
            let is_each = !matches!(location, Location::Load(load) if is_whole(load));
            let is_shared = !self.target.has.broadcast_operands && readers == 1 && is_each;
            uses <= count(self.varies[vector.index()]) || is_shared
        });
        kept.map(|(vector, (location, ..))| (vector, location)).collect()
    }

    /// Whether an instruction can read the load as its last operand.
    fn is_operand(&self, load: &Load) -> bool {
        let is_whole = load.channel == WHOLE;
        if load.fetch.is_uniform() { !is_whole } else { self.prepared.packed && is_whole }
    }

    /// Whether processors compute only with the elements at their own places, and write theirs.
    pub fn is_by_element(&self) -> bool {
        let [column, row] = [Linear { i: 1, ..Linear::default() }, Linear { j: 1, ..Linear::default() }];
        self.starts.is_empty() && self.loads.iter().all(|load| load.fetch.x == column && load.fetch.y == row)
    }

    /// In the plain form: lane 4a + b is column `quarters * b + a`, which saves permutations when elements have four channels.
    pub(in crate::codegen) fn transposed(&self) -> bool {
        let mut inputs = self.loads.iter().filter(|load| !load.fetch.is_uniform());
        !self.prepared.packed
            && (inputs.any(|load| self.geometry.input(&load.fetch) == 4) || self.geometry.outputs.contains(&4))
    }
}

/// Whether masks are used only to make NaNs canonical, at once and without another operand: any register will do for
/// them.
fn only_mends(lines: &Lines) -> bool {
    let mut masks = lines.iter().flatten().filter(|lir| lir.uses_masks());
    while let Some(first) = masks.next() {
        match (*first, masks.next()) {
            (Lir::Test { dst: 1, a, b, under: 0, .. }, Some(&Lir::Merge { k: 1, a: Src::Literal(_), .. }))
                if a == b => {}
            _ => return false,
        }
    }
    true
}

/// Columns of a vector.
pub(in crate::codegen) const fn columns(target: &Target, packed: bool) -> u32 {
    target.lanes as u32 / if packed { 4 } else { 1 }
}
