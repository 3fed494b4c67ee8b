//! Programs that only move elements from arrays to others of the same form: no code need run.

use super::super::transfer::{Stored, Way, is_wide};
use super::panels::{covered, part};
use super::run::{Rect, Surfaces};
use super::types::{Chosen, Copies, Kernel, Load, Sum};
use crate::codegen::x86::lir::{Lir, Src};
use crate::codegen::x86::masked::facts::UNORDERED;
use crate::stream::affine::{Fetch, depth};
use ctm_exec::arrays::Form;
use ctm_exec::float::NAN;
use ctm_ir::masked::Var;
use ctm_x86::{ADD, CMP_F32};

impl Chosen {
    /// The copies of a program that does nothing else.
    pub(super) fn copies(&self) -> Option<Copies> {
        if !self.is_by_element() || depth(&self.items) > 0 {
            return None;
        }
        // The source of each vector.
        let mut loads: Vec<Option<(Load, Sum)>> = vec![None; self.selected.vectors];
        let mut tested = None;
        for lir in self.lines.iter().flatten().flatten() {
            let (dst, load) = match (*lir, tested.take()) {
                (Lir::Copy(dst, Src::Row(load)), _) => (dst, Some((self.loads[load as usize], Sum::default()))),
                (Lir::Copy(dst, Src::Vector(a)), _) => (dst, loads[a.index()]),
                (Lir::Two { op: ADD, dst, a: Src::Vector(a), b: Src::Literal(0) }, _) => {
                    (dst, loads[a.index()].map(|(load, sum)| (load, Sum { adds: true, ..sum })))
                }
                (Lir::Test { op: CMP_F32, how: UNORDERED, dst: 1, a: Src::Vector(a), b, under: 0 }, _)
                    if b == Src::Vector(a) =>
                {
                    tested = Some(a);
                    continue;
                }
                (Lir::Merge { dst, k: 1, a: Src::Literal(NAN) }, Some(a)) if a == dst => {
                    (dst, loads[dst.index()].map(|(load, sum)| (load, Sum { one_nan: true, ..sum })))
                }
                _ => return None,
            };
            loads[dst.index()] = load;
        }
        let of_target = |target: usize| {
            let channels = self.geometry.outputs[target];
            let of = |channel: u8| loads[self.selected.vars[Var::export(target, channel.into()).index()]?.index()];
            let (Load { fetch: Fetch { input, .. }, .. }, sum) = of(0)?;
            // In the packed form one vector has all channels.
            let mut others = if self.prepared.packed { 0..0 } else { 0..channels };
            let is_like = |(load, of): (Load, Sum), c: u8| (load.fetch.input, load.channel, of) == (input, c, sum);
            let alike = others.all(|c| of(c).is_some_and(|of| is_like(of, c)));
            (alike && self.geometry.inputs[usize::from(input)] == channels).then_some((input, sum))
        };
        Some(Copies(std::array::from_fn(of_target)))
    }
}

impl Kernel {
    /// Moves elements for these tiles, if the program only copies and arrays take elements unchanged; otherwise
    /// `false`, and no effect.
    pub(super) fn copy(&self, rect: &Rect, surfaces: &Surfaces<'_>, past_caches: bool) -> bool {
        let Some(Copies(inputs)) = self.copies else { return false };
        let (part, is_wide) = (part(covered(self, rect)), is_wide(self.target.isa));
        let outputs = surfaces.outputs.iter().zip(inputs).filter_map(|(to, input)| Some((to.as_ref()?, input)));
        let pairs = outputs.map(|(to, input)| {
            let (input, sum) = input?;
            let from = surfaces.inputs[usize::from(input)].as_ref()?;
            let sums = from.form == Form::Floats && sum != Sum::default();
            let alike = from.form == to.form && (!sums || sum == Sum { adds: true, one_nan: true });
            let inside = part.x.end <= from.width && part.y.end <= from.height;
            let [in_tiles, to_tiles] = [&from.stored, &to.stored].map(|of| of.as_ref().is_some_and(Stored::has_tiles));
            let stored = if in_tiles { from.stored.as_ref()? } else { to.stored.as_ref()? };
            let moves = alike && inside && !(in_tiles && to_tiles) && (!sums || stored.whole_blocks(&part) == part);
            moves.then_some((from, to, stored, Way { reads: in_tiles, past_caches, sums, is_wide }))
        });
        let Some(pairs) = pairs.collect::<Option<Vec<_>>>() else { return false };
        for (from, to, stored, way) in pairs {
            if way.reads {
                stored.read_rows(from.data, &part, (to.data, to.pitch), way);
            } else {
                let rows = stored.rows(from.data.len(), from.pitch);
                stored.write_elements(to.data, &part, &rows, from.data, way);
            }
        }
        true
    }
}
