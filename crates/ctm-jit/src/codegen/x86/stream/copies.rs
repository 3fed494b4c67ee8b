//! Programs that do nothing but move elements from arrays to others of the same form: no code need run.

use super::super::transfer::Stored;
use super::panels::{covered, part};
use super::run::{Rect, Surfaces};
use super::{Chosen, Kernel, Load};
use crate::codegen::x86::lir::{Lir, Src};
use crate::codegen::x86::masked::facts::UNORDERED;
use crate::ir::masked::Var;
use crate::stream::affine::depth;
use ctm_exec::arrays::Form;
use ctm_exec::float::NAN;
use ctm_isa::x1k::OUTPUTS;
use ctm_x86::{ADD, CMP_F32};

/// What such a program does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copies {
    /// The input whose elements each output gets.
    inputs: [Option<u8>; OUTPUTS],
    /// Also -0, denormals and NaNs stay as they are, which no element of 8 or 16 bits is.
    exact: bool,
}

impl Chosen {
    /// What it does if it does nothing but that.
    pub(super) fn copies(&self) -> Option<Copies> {
        if !self.is_by_element() || depth(&self.items) > 0 {
            return None;
        }
        let mut exact = true;
        // The element that each vector is.
        let mut loads: Vec<Option<Load>> = vec![None; self.vectors];
        for lir in self.lines.iter().flatten().flatten() {
            let (dst, load) = match *lir {
                Lir::Copy(dst, Src::Row(load)) => (dst, Some(self.loads[load as usize])),
                Lir::Copy(dst, Src::Vector(a)) => (dst, loads[a.index()]),
                Lir::Two(ADD, dst, Src::Vector(a), Src::Literal(0))
                | Lir::Two(ADD, dst, Src::Literal(0), Src::Vector(a)) => {
                    exact = false;
                    (dst, loads[a.index()])
                }
                Lir::Test(CMP_F32, UNORDERED, 1, a, b, 0) if a == b => continue,
                Lir::Merge(_, 1, Src::Literal(NAN)) => {
                    exact = false;
                    continue;
                }
                _ => return None,
            };
            loads[dst.index()] = load;
        }
        let input_of = |target: usize| {
            let channels = self.geometry.outputs[target];
            let of = |channel: u8| loads[self.vars[Var::export(target, channel.into()).index()]?.index()];
            let input = of(0)?.fetch.input;
            // In the packed form one vector has all channels.
            let mut others = if self.prepared.packed { 0..0 } else { 0..channels };
            let alike = others.all(|c| of(c).is_some_and(|load| (load.fetch.input, load.channel) == (input, c)));
            (alike && self.geometry.inputs[usize::from(input)] == channels).then_some(input)
        };
        Some(Copies { inputs: std::array::from_fn(input_of), exact })
    }
}

impl Kernel {
    /// Moves elements for these tiles, if the program does nothing else and arrays take them as they are; `false`, and nothing has happened, where that is not so.
    pub(super) fn copy(&self, rect: &Rect, surfaces: &Surfaces<'_>, past_caches: bool) -> bool {
        let Some(Copies { inputs, exact }) = self.copies else { return false };
        let part = part(covered(self, rect));
        let outputs = surfaces.outputs.iter().zip(inputs).filter_map(|(to, input)| Some((to.as_ref()?, input)));
        let pairs = outputs.map(|(to, input)| {
            let from = surfaces.inputs[usize::from(input?)].as_ref()?;
            let alike = from.form == to.form && (exact || from.form != Form::Floats);
            let inside = part.x.end <= from.width && part.y.end <= from.height;
            let [in_tiles, to_tiles] = [&from.stored, &to.stored].map(|of| of.as_ref().is_some_and(Stored::has_tiles));
            let stored = if in_tiles { &from.stored } else { &to.stored };
            (alike && inside && !(in_tiles && to_tiles)).then_some((from, to, stored.as_ref()?, in_tiles))
        });
        let Some(pairs) = pairs.collect::<Option<Vec<_>>>() else { return false };
        for (from, to, stored, in_tiles) in pairs {
            if in_tiles {
                stored.read_rows(from.data, &part, (to.data, to.pitch), past_caches);
            } else {
                let rows = stored.rows(from.data.len(), from.pitch);
                stored.write_elements(to.data, &part, &rows, from.data, past_caches);
            }
        }
        true
    }
}
