//! Epilogues of the targets of a draw: for launches that compute and store the targets' elements.

use super::{Merger, Plan, Plans};
use crate::output::epilogue;
use crate::pixel::shade::ShadeQuad;
use crate::program::{QuadPlaces, Window};
use crate::state::ColourState;
use crate::surface::format::Colours;
use crate::surface::targets::Open;
use ctm_exec::epilogue::Epilogue;
use ctm_exec::r700::TargetEpilogue;

impl Plans {
    /// The epilogues of the targets that are written.
    fn epilogues(&self, state: &ColourState, open: &Open<'_>) -> Option<&[TargetEpilogue]> {
        let find = || {
            let written = self.of.iter().enumerate().filter_map(|(n, plan)| Some((n, plan.as_ref()?)));
            let of = |(n, plan): (usize, &Plan)| {
                let colours = &open.colour[n].as_ref()?.colours;
                Some(TargetEpilogue { target: n as u8, epilogue: epilogue::of_target(plan, colours, state, n)? })
            };
            written.map(of).collect()
        };
        self.epilogues.get_or_init(find).as_deref()
    }
}

impl<'t> Merger<'_, 't> {
    /// The epilogues of targets for launches that compute and store their elements, if every pixel exports these colours; `None` where that may not be.
    pub(crate) fn epilogues(&self, exported: u8) -> Option<&[TargetEpilogue]> {
        let is_mapped = |n: usize| self.open.colour[n].as_ref().is_some_and(|target| target.surface.can_be_lent());
        let are_mapped = (0..8).all(|n| self.plans.of[n].is_none() || is_mapped(n));
        if !are_mapped || self.staged(exported) == 0 {
            return None;
        }
        self.plans.epilogues(&self.state.colour, &self.open).filter(|all| !all.is_empty())
    }

    /// The alpha test as a test of exports.
    pub(crate) fn keeps(&self) -> Option<Epilogue> {
        epilogue::of_alpha_test(self.state.colour.alpha_test.as_ref()?)
    }

    /// The targets for a launch with their epilogues, whose row 0 is this row; and these.
    pub(crate) fn merged_window(&mut self, first_row: i32) -> (Window<'_, 't>, &[TargetEpilogue]) {
        self.merged(first_row.cast_unsigned(), None)
    }

    /// The same for a launch of quads of layer 0, no two of them at one place; `None` where they have no places that a launch can store to.
    pub(crate) fn window_of_quads(&mut self, quads: &[ShadeQuad]) -> Option<(Window<'_, 't>, &[TargetEpilogue])> {
        let places: Vec<[i32; 2]> = quads.iter().map(|quad| [quad.quad.x, quad.quad.y]).collect();
        let mut tiles = [const { None }; 8];
        for (n, tiles) in tiles.iter_mut().enumerate().filter(|(n, _)| self.plans.of[*n].is_some()) {
            let surface = &self.open.colour[n].as_ref()?.surface;
            *tiles = Some(surface.tiles_of_quads(places.iter().copied())?);
        }
        Some(self.merged(0, Some(Box::new(QuadPlaces { quads: places, tiles }))))
    }

    fn merged(&mut self, first_row: u32, places: Option<Box<QuadPlaces>>) -> (Window<'_, 't>, &[TargetEpilogue]) {
        let state = &self.state.colour;
        let epilogues = self.plans.epilogues(state, &self.open).unwrap_or_default();
        let plans = &self.plans;
        let merge = Box::new(move |n: u8, colours: &Colours, stored, value: &dyn Fn(u8) -> [u32; 4]| {
            let number = usize::from(n);
            let source = value(if state.multiwrite { 0 } else { n });
            Some(plans.of[number].as_ref()?.after(colours, state, number, stored, source, value(1)))
        });
        (Window::Merged { colour: &mut self.open.colour, first_row, places, merge }, epilogues)
    }

    /// The columns to which boxes of launches over targets are widened: a power of two.
    pub(crate) fn columns_together(&self) -> i32 {
        let columns = |columns: u32| {
            let mut targets = self.open.colour.iter().flatten();
            targets.all(|target| target.surface.layout().pitch.is_multiple_of(columns)).then_some(columns as i32)
        };
        [8].into_iter().find_map(columns).unwrap_or(2)
    }

    /// Whether all colour targets are whole tiles of 8x8 pixels, of 4 bytes each.
    pub(crate) fn has_tiles_of_dwords(&self) -> bool {
        self.open.colour.iter().flatten().all(|target| {
            let layout = target.surface.layout();
            target.colours.bytes() == 4 && layout.pitch.is_multiple_of(8) && layout.height.is_multiple_of(8)
        })
    }
}
