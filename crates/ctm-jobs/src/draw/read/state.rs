//! The keys of a draw's section for viewport, rasteriser, stencil, blending and colours.

use crate::draw::keys::{BLEND, STENCIL};
use crate::draw::names::{COMBINES, FACTORS, LOGIC, STENCIL_OPS};
use crate::draw::plan::{Cull, DrawPlan, Mixing};
use crate::job::Reader;
use crate::job::r700::COMPARES;
use crate::job::tree::{PlacedValue, Table, Value};
use ctm_draw::state::{AlphaTest, Blend, BlendEquation, DepthOffset, Fill, Rect, StencilFace, Stipple};

impl Reader {
    pub(super) fn draw_window(&mut self, table: &Table, plan: &mut DrawPlan) {
        if let Some(viewport) = table.get("viewport").and_then(|node| self.reals("viewport", node)) {
            plan.viewport = Some(viewport);
        }
        if let Some(range) = table.get("depth_range").and_then(|node| self.reals("depth_range", node)) {
            plan.depth_range = range;
        }
        for (key, place) in [("half_z", &mut plan.half_z), ("depth_clamp", &mut plan.depth_clamp)] {
            if let Some(set) = table.get(key).and_then(|node| self.boolean(key, node)) {
                *place = set;
            }
        }
        if let Some(node) = table.get("clip_planes") {
            let planes = Self::each(node).into_iter().map(|node| self.reals("clip_planes", node));
            plan.clip_planes = planes.collect::<Option<_>>().unwrap_or_default();
            if plan.clip_planes.len() > 6 {
                let message = format!("`clip_planes` has {}, there are 6", plan.clip_planes.len());
                self.error(node.origin, "bad-value", message);
            }
        }
        if let Some([left, top, width, height]) = table.get("scissor").and_then(|node| self.reals::<4>("scissor", node))
        {
            let limit = |x: f32| x.clamp(0.0, 16384.0) as i32;
            let (left, top, right, bottom) = (limit(left), limit(top), limit(left + width), limit(top + height));
            plan.raster.scissor = Rect { left, top, right, bottom };
        }
    }

    pub(super) fn draw_raster(&mut self, table: &Table, plan: &mut DrawPlan) {
        let raster = &mut plan.raster;
        if let Some(cull) = table.get("cull").and_then(|node| self.choice("cull", node, &Cull::ALL)) {
            cull.of(raster);
        }
        let fronts = [("counter_clockwise", false), ("clockwise", true)];
        if let Some(clockwise) = table.get("front").and_then(|node| self.choice("front", node, &fronts)) {
            raster.clockwise_is_front = clockwise;
        }
        let fills = [("triangles", Fill::Triangles), ("lines", Fill::Lines), ("points", Fill::Points)];
        if let Some(fill) = table.get("fill").and_then(|node| self.choice("fill", node, &fills)) {
            (raster.fill_front, raster.fill_back) = (fill, fill);
        }
        let vertices = [("first", false), ("last", true)];
        if let Some(last) = table.get("provoking").and_then(|node| self.choice("provoking", node, &vertices)) {
            raster.last_provokes = last;
        }
        if let Some(node) = table.get("offset") {
            let three = match &node.value {
                Value::Array(list) if list.len() == 3 => self.reals("offset", node),
                _ => self.reals("offset", node).map(|[scale, units]: [f32; 2]| [scale, units, 0.0]),
            };
            let offset = three.map(|[scale, units, clamp]| DepthOffset { scale, units, clamp });
            (raster.offset_front, raster.offset_back) = (offset, offset);
        }
        if let Some(width) = table.get("line_width").and_then(|node| self.real("line_width", node)) {
            raster.line_width = width;
        }
        if let Some(size) = table.get("point_size").and_then(|node| self.real("point_size", node)) {
            raster.point_size = [size; 2];
        }
        if let Some(node) = table.get("stipple") {
            let pattern = self.integer("stipple", node, 0..=0xffff).map(|pattern| pattern as u16);
            let repeat = table.get("stipple_repeat").and_then(|node| self.integer("stipple_repeat", node, 1..=256));
            let repeat = repeat.unwrap_or(1) as u16;
            raster.stipple = pattern.map(|pattern| Stipple { pattern, repeat, high_first: false, restarts: true });
        }
        for (key, place) in [
            ("rectangular_lines", &mut raster.rectangular_lines),
            ("multisample", &mut raster.multisample),
            ("per_sample", &mut raster.per_sample),
        ] {
            if let Some(set) = table.get(key).and_then(|node| self.boolean(key, node)) {
                *place = set;
            }
        }
        if let Some(mask) = table.get("sample_mask").and_then(|node| self.integer("sample_mask", node, 0..=255)) {
            raster.sample_mask = [mask as u8; 4];
        }
    }

    pub(super) fn draw_pixels(&mut self, table: &Table, plan: &mut DrawPlan) {
        if let Some(node) = table.get("depth_test") {
            match &node.value {
                Value::String(text) if text == "none" => plan.depth.test = None,
                _ => plan.depth.test = self.choice("depth_test", node, &COMPARES).or(plan.depth.test),
            }
        }
        if let Some(write) = table.get("depth_write").and_then(|node| self.boolean("depth_write", node)) {
            plan.depth.write = write;
        }
        if let Some(node) = table.get("stencil") {
            plan.depth.stencil = self.stencil(node);
        }
        if let Some(node) = table.get("stencil_back") {
            plan.depth.stencil_back = self.stencil(node);
        }
        let colour = &mut plan.colour;
        if let Some(node) = table.get("blend") {
            let several = matches!(&node.value, Value::Array(_));
            let all: Vec<Option<Blend>> = Self::each(node).into_iter().map(|node| self.blend(node)).collect();
            for (n, target) in colour.targets.iter_mut().enumerate() {
                target.blend = if several { all.get(n).copied().flatten() } else { all[0] };
            }
        }
        if let Some(constant) = table.get("blend_constant").and_then(|node| self.reals("blend_constant", node)) {
            colour.constant = constant;
        }
        if let Some(logic) = table.get("logic").and_then(|node| self.choice("logic", node, &LOGIC)) {
            colour.logic = logic;
        }
        if let Some(node) = table.get("mask") {
            let several = matches!(&node.value, Value::Array(_));
            let all: Vec<u8> = Self::each(node).into_iter().map(|node| self.channels(node).unwrap_or(15)).collect();
            for (n, target) in colour.targets.iter_mut().enumerate() {
                target.write_mask = if several { all.get(n).copied().unwrap_or(15) } else { all[0] };
            }
        }
        if let Some(compare) = table.get("alpha_test").and_then(|node| self.choice("alpha_test", node, &COMPARES)) {
            let reference = table.get("alpha_reference").and_then(|node| self.real("alpha_reference", node));
            colour.alpha_test = Some(AlphaTest { compare, reference: reference.unwrap_or(0.0), steps: None });
        }
        if let Some(set) = table.get("alpha_to_coverage").and_then(|node| self.boolean("alpha_to_coverage", node)) {
            colour.alpha_to_coverage = set.then_some([0; 4]);
        }
    }

    fn stencil(&mut self, node: &PlacedValue) -> Option<StencilFace> {
        let table = self.section(node, &STENCIL)?;
        let mut face = StencilFace::default();
        if let Some(compare) = table.get("compare").and_then(|node| self.choice("compare", node, &COMPARES)) {
            face.compare = compare;
        }
        for (key, place) in
            [("reference", &mut face.reference), ("mask", &mut face.mask), ("write_mask", &mut face.write_mask)]
        {
            if let Some(value) = table.get(key).and_then(|node| self.integer(key, node, 0..=255)) {
                *place = value as u8;
            }
        }
        for (key, place) in [("fail", &mut face.fail), ("depth_fail", &mut face.depth_fail), ("pass", &mut face.pass)] {
            if let Some(op) = table.get(key).and_then(|node| self.choice(key, node, &STENCIL_OPS)) {
                *place = op;
            }
        }
        Some(face)
    }

    fn blend(&mut self, node: &PlacedValue) -> Option<Blend> {
        if matches!(node.value, Value::String(_)) {
            return self.choice("blend", node, &Mixing::ALL).and_then(Mixing::blend);
        }
        let table = self.section(node, &BLEND)?;
        let mut equation = |keys: [&str; 3], before: BlendEquation| {
            let mut factor = |key: &str| table.get(key).and_then(|node| self.choice(key, node, &FACTORS));
            let (source, destination) = (factor(keys[0]), factor(keys[1]));
            let combine = table.get(keys[2]).and_then(|node| self.choice(keys[2], node, &COMBINES));
            BlendEquation {
                source: source.unwrap_or(before.source),
                destination: destination.unwrap_or(before.destination),
                combine: combine.unwrap_or(before.combine),
            }
        };
        let colour = equation(["source", "destination", "combine"], BlendEquation::default());
        let alpha = equation(["alpha_source", "alpha_destination", "alpha_combine"], colour);
        Some(Blend { colour, alpha: (alpha != colour).then_some(alpha) })
    }

    fn channels(&mut self, node: &PlacedValue) -> Option<u8> {
        let text = self.string("mask", node)?;
        let mut mask = 0;
        for letter in text.chars() {
            match "rgba".find(letter) {
                Some(n) => mask |= 1 << n,
                None => {
                    let message = format!("`mask` is \"{text}\", it must be made of r, g, b and a");
                    self.error(node.origin, "bad-value", message);
                    return None;
                }
            }
        }
        Some(mask)
    }
}
