//! Job files of `ctm draw`: the tree of values into a [`Drawing`]; every key checked, every error reported with its place.

mod state;

use super::keys::{BUFFER, CAMERA, DEPTH, DRAW, DRAWING, RUN, TARGET, TEXTURE};
use super::names::{DEPTHS, NUMBERS, SWAPS, TOPOLOGIES};
use super::plan::{
    BlockBinding, BlockData, DepthPlan, DrawPlan, Drawing, ProgramSource, TargetPlan, TextureBinding, TextureData,
};
use super::{Camera, Channel, MatrixKind};
use crate::job::keys::{DRAW_KEYS, is_draw_job};
use crate::job::r700::{COMPARES, FILTERS, KINDS, MIPS, WRAPS};
use crate::job::tree::{Origin, PlacedValue, Table, Value};
use crate::job::{JobError, Reader};
use ctm_device::EngineKind;
use ctm_draw::format::{ColourFormat, Colours, NumberType};
use ctm_isa::r700::ops::DataFormat;
use ctm_launch::Ref;
use std::path::Path;

impl Drawing {
    /// Reads a job file's text. `name` is for messages; file names in it are relative to `directory`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(text: &str, name: &str, directory: &Path) -> Result<Self, JobError> {
        drawing(Reader::for_job(text, name, directory))
    }

    /// Takes a reader's input: a job file's text, and the directories of its files ([`Reader::within`]).
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn from_reader(reader: Reader) -> Result<Self, JobError> {
        drawing(reader)
    }

    /// Whether a text is a draw job, and no other job, by its keys.
    ///
    /// ```
    /// use ctm::Drawing;
    /// assert!(Drawing::is_job("programs = [\"a.vsh\", \"a.psh\"]"));
    /// assert!(!Drawing::is_job("program = \"a.x1k\""));
    /// ```
    #[must_use]
    pub fn is_job(text: &str) -> bool {
        is_draw_job(text)
    }

    /// Reads a job file.
    ///
    /// # Errors
    /// When it cannot be read, and everything that is wrong with it.
    pub fn read(path: &Path) -> Result<Self, JobError> {
        drawing(Reader::for_file(path)?)
    }
}

fn drawing(mut reader: Reader) -> Result<Drawing, JobError> {
    let root = reader.take_root()?;
    let is_draw_job = DRAW_KEYS.iter().any(|key| root.get(key).is_some());
    if let Some(key) = ["program", "pass"].iter().find_map(|key| root.get(key))
        && !is_draw_job
    {
        reader.error(key.origin, "run-job", "this is a key of jobs of passes; `ctm run` runs them");
        return Err(reader.done().err().unwrap_or(JobError::Wrong(Vec::new())));
    }
    reader.known_keys(&root, &DRAWING);
    let mut drawing = Drawing::new(Vec::<ProgramSource>::new());
    if let Some([width, height]) = root.get("size").and_then(|node| reader.two("size", node, 1..=16384)) {
        drawing.size = [width as u32, height as u32];
    }
    if let Some(node) = root.get("samples") {
        match reader.integer("samples", node, 1..=8) {
            Some(samples @ (1 | 2 | 4 | 8)) => drawing.samples = samples as u32,
            Some(other) => {
                reader.error(node.origin, "bad-value", format!("`samples` is {other}, it must be 1, 2, 4 or 8"));
            }
            None => {}
        }
    }
    if root.get("target").is_some() {
        drawing.targets.clear();
        for node in reader.tables(&root, "target") {
            let Some(target) = reader.colour_target(node, drawing.targets.len()) else { continue };
            if drawing.targets.iter().any(|other| other.number == target.number) {
                reader.error(node.origin, "duplicate-slot", format!("target {} is given twice", target.number));
            }
            drawing.targets.push(target);
        }
    }
    match root.get("depth") {
        Some(PlacedValue { value: Value::Boolean(false), .. }) => drawing.depth = None,
        Some(node) => drawing.depth = reader.depth(node),
        None => {}
    }
    if let Some(table) = root.get("run").and_then(|node| reader.section(node, &RUN)) {
        reader.run_section(table, &mut drawing);
    }
    let mut base = DrawPlan::new(Vec::<ProgramSource>::new());
    // Without a depth target there is nothing to test against.
    reader.draw(&root, &mut base);
    match root.get("draw") {
        None => drawing.draws = vec![base],
        Some(all) => {
            drawing.draws.clear();
            for node in reader.tables(&root, "draw") {
                let Some(table) = reader.section(node, &DRAW) else { continue };
                let mut plan = base.clone();
                plan.name = table.get("name").and_then(|node| reader.string("name", node));
                reader.draw(table, &mut plan);
                drawing.draws.push(plan);
            }
            if drawing.draws.is_empty() {
                reader.error(all.origin, "no-draw", "`draw` is an empty list, a picture has at least one draw");
            }
        }
    }
    let sliders = reader.sliders(&root);
    drawing.sliders = reader.sliders_have_values(sliders, |slider| drawing.slider_value(slider));
    for (n, plan) in drawing.draws.iter().enumerate() {
        if plan.programs.is_empty() {
            let name = plan.name.clone().unwrap_or_else(|| n.to_string());
            let message = format!("draw {name} has no `programs`: a container, or a vertex and a pixel program");
            reader.error(Origin::File(ctm_isa::diag::Span::new(0, 0)), "missing-key", message);
        }
    }
    reader.done()?;
    Ok(drawing)
}

impl Reader {
    /// A list of `N` numbers.
    fn reals<const N: usize>(&mut self, key: &str, node: &PlacedValue) -> Option<[f32; N]> {
        let Value::Array(list) = &node.value else {
            self.wrong_kind(key, node, &format!("a list of {N} numbers"));
            return None;
        };
        let Ok(all) = <&[PlacedValue; N]>::try_from(list.as_slice()) else {
            let message = format!("`{key}` has {} numbers, it must have {N}", list.len());
            self.error(node.origin, "bad-value", message);
            return None;
        };
        let mut out = [0.0; N];
        for (out, node) in out.iter_mut().zip(all) {
            *out = f32::from_bits(self.bits(&format!("`{key}`"), node)?);
        }
        Some(out)
    }

    fn two(&mut self, key: &str, node: &PlacedValue, range: std::ops::RangeInclusive<i128>) -> Option<[i128; 2]> {
        match &node.value {
            Value::Array(list) if list.len() == 2 => {
                Some([self.integer(key, &list[0], range.clone())?, self.integer(key, &list[1], range)?])
            }
            _ => {
                self.wrong_kind(key, node, "a list of two integers");
                None
            }
        }
    }

    /// One element, or a list of them.
    fn each(node: &PlacedValue) -> Vec<&PlacedValue> {
        match &node.value {
            Value::Array(list) => list.iter().collect(),
            _ => vec![node],
        }
    }

    fn colour_target(&mut self, node: &PlacedValue, place: usize) -> Option<TargetPlan> {
        let table = self.section(node, &TARGET)?;
        let mut plan = TargetPlan::new(place.min(7) as u8);
        if let Some(node) = table.get("number") {
            plan.number = self.integer("number", node, 0..=7)? as u8;
        } else if place > 7 {
            self.error(node.origin, "bad-value", "there are 8 targets");
        }
        if let Some(node) = table.get("format") {
            let text = self.string("format", node)?;
            let name = format!("FMT_{}", text.to_ascii_uppercase().trim_start_matches("FMT_"));
            let Some(data) = DataFormat::from_name(&name) else {
                let message = format!("`format` is \"{text}\", it must be a format of the manual, such as 8_8_8_8");
                self.error(node.origin, "bad-value", message);
                return None;
            };
            plan.format = ColourFormat { data, ..plan.format };
            if name.ends_with("FLOAT") {
                plan.format.number = NumberType::Float;
            }
        }
        if let Some(node) = table.get("numbers") {
            plan.format.number = self.choice("numbers", node, &NUMBERS)?;
        }
        if let Some(node) = table.get("swap") {
            plan.format.swap = self.choice("swap", node, &SWAPS)?;
        }
        if let Err(error) = Colours::new(plan.format) {
            self.error(node.origin, "bad-format", error.to_string());
        }
        if let Some(node) = table.get("clear") {
            plan.clear = self.reals("clear", node)?;
        }
        if let Some(node) = table.get("save") {
            plan.saves = self.paths("save", node).into_iter().map(|path| path.value).collect();
        }
        Some(plan)
    }

    fn depth(&mut self, node: &PlacedValue) -> Option<DepthPlan> {
        let table = self.section(node, &DEPTH)?;
        let mut plan = DepthPlan::default();
        if let Some(node) = table.get("format") {
            plan.format = self.choice("format", node, &DEPTHS)?;
        }
        if let Some(node) = table.get("clear") {
            plan.clear = self.real("clear", node)?;
        }
        if let Some(node) = table.get("stencil") {
            plan.stencil = self.integer("stencil", node, 0..=255)? as u8;
        }
        plan.save = table.get("save").and_then(|node| self.path("save", node)).map(|path| path.value);
        plan.save_stencil =
            table.get("save_stencil").and_then(|node| self.path("save_stencil", node)).map(|path| path.value);
        Some(plan)
    }

    fn run_section(&mut self, table: &Table, drawing: &mut Drawing) {
        let engines = EngineKind::ALL.map(|kind| (kind.name(), kind));
        if let Some(engine) = table.get("engine").and_then(|node| self.choice("engine", node, &engines)) {
            drawing.engine = engine;
        }
        if let Some(threads) = table.get("threads").and_then(|node| self.integer("threads", node, 0..=1024)) {
            drawing.one_thread = threads == 1;
        }
        if let Some(node) = table.get("budget_instructions") {
            let limit = self.integer("budget_instructions", node, 0..=i128::from(u64::MAX)).unwrap_or(0);
            drawing.budget.instructions_per_group = (limit > 0).then_some(limit as u64);
        }
        if let Some(time) = table.get("budget_seconds").and_then(|node| self.seconds("budget_seconds", node)) {
            drawing.budget.time = time;
        }
        if let Some(check) = table.get("check").and_then(|node| self.boolean("check", node)) {
            drawing.check = check;
        }
    }

    /// Applies a table's keys for a draw to its plan.
    fn draw(&mut self, table: &Table, plan: &mut DrawPlan) {
        if let Some(node) = table.get("programs") {
            plan.programs = self.paths("programs", node).into_iter().map(|path| path.value.into()).collect();
        }
        if let Some(node) = table.get("glsl") {
            let paths = self.paths("glsl", node);
            if paths.len() != 2 {
                let message =
                    format!("`glsl` names {} files, it must name 2: a vertex and a fragment shader", paths.len());
                self.error(node.origin, "bad-value", message);
            }
            plan.glsl = paths.into_iter().map(|path| path.value).collect();
        }
        if let Some(node) = table.get("mesh")
            && let Some(name) = self.string("mesh", node)
        {
            if Path::new(&name).extension().is_none() {
                plan.mesh = name.into();
            } else {
                plan.mesh = self
                    .path("mesh", node)
                    .map_or(plan.mesh.clone(), |path| path.value.to_string_lossy().into_owned().into());
            }
        }
        if let Some(node) = table.get("topology") {
            plan.topology = self.choice("topology", node, &TOPOLOGIES);
        }
        if let Some(count) = table.get("instances").and_then(|node| self.integer("instances", node, 0..=1_000_000)) {
            plan.instances = count as u32;
        }
        if let Some(node) = table.get("restart") {
            plan.restart = self.integer("restart", node, 0..=i128::from(u32::MAX)).map(|n| n as u32);
        }
        self.draw_constants(table, plan);
        for node in self.tables(table, "camera") {
            if let Some((name, camera)) = self.camera(node) {
                plan.cameras.retain(|(other, _)| *other != name);
                plan.cameras.push((name, camera));
            }
        }
        for node in self.tables(table, "buffer") {
            if let Some(block) = self.block(node) {
                plan.blocks.retain(|other| other.slot != block.slot);
                plan.blocks.push(block);
            }
        }
        for node in self.tables(table, "texture") {
            if let Some(texture) = self.draw_texture(node) {
                plan.textures.retain(|other| other.slot != texture.slot);
                plan.textures.push(texture);
            }
        }
        if let Some(PlacedValue { value: Value::Table(all), .. }) = table.get("attributes") {
            for entry in &all.entries {
                if let Some(channel) = self.choice(&entry.key, &entry.node, &Channel::ALL) {
                    let slot = Ref::of_key(&entry.key);
                    plan.attributes.retain(|(other, _)| *other != slot);
                    plan.attributes.push((slot, channel));
                }
            }
        } else if let Some(node) = table.get("attributes") {
            self.wrong_kind("attributes", node, "a table");
        }
        if let Some(node) = table.get("interpolants") {
            let all = Self::each(node).into_iter().map(|node| self.choice("interpolants", node, &Channel::ALL));
            plan.interpolants = all.collect::<Option<_>>().unwrap_or_default();
        }
        if let Some(node) = table.get("targets") {
            let all = Self::each(node).into_iter().map(|node| self.integer("targets", node, 0..=7).map(|n| n as u8));
            plan.targets = all.collect();
        }
        self.draw_window(table, plan);
        self.draw_raster(table, plan);
        self.draw_pixels(table, plan);
    }

    fn draw_constants(&mut self, table: &Table, plan: &mut DrawPlan) {
        let Some(node) = table.get("constants") else { return };
        let Value::Table(all) = &node.value else {
            self.wrong_kind("constants", node, "a table");
            return;
        };
        for entry in &all.entries {
            let what = format!("constant `{}`", entry.key);
            let mut values = Vec::new();
            let mut whole = true;
            for node in Self::each(&entry.node) {
                for node in Self::each(node) {
                    match self.bits(&what, node) {
                        Some(bits) => values.push(f32::from_bits(bits)),
                        None => whole = false,
                    }
                }
            }
            if whole {
                let slot = Ref::of_key(&entry.key);
                plan.constants.retain(|(other, _)| *other != slot);
                plan.constants.push((slot, values));
            }
        }
    }

    fn block(&mut self, node: &PlacedValue) -> Option<BlockBinding> {
        let table = self.section(node, &BUFFER)?;
        let [name, data] = ["name", "data"].map(|key| self.required(node, table, key, "[[buffer]]"));
        let (name, data) = (name?, data?);
        let slot = Ref::of_key(&self.string("name", name)?);
        Some(BlockBinding { slot, data: BlockData::File(self.path("data", data)?.value) })
    }

    fn camera(&mut self, node: &PlacedValue) -> Option<(Ref, Camera)> {
        let table = self.section(node, &CAMERA)?;
        let name = match table.get("constant") {
            Some(name) => self.string("constant", name)?,
            None => String::new(),
        };
        let mut camera = Camera::default();
        if let Some(node) = table.get("matrix") {
            camera.matrix = self.choice("matrix", node, &MatrixKind::ALL);
        }
        let mut three = |key: &str, place: &mut [f32; 3]| {
            if let Some(values) = table.get(key).and_then(|node| self.reals(key, node)) {
                *place = values;
            }
        };
        three("eye", &mut camera.eye);
        three("at", &mut camera.at);
        three("turn", &mut camera.turn);
        three("spin", &mut camera.spin);
        if let Some(node) = table.get("fov") {
            camera.fov = self.real("fov", node)?;
            if !(camera.fov > 0.0 && camera.fov < 180.0) {
                let message = format!("`fov` is {}, it must lie between 0 and 180", camera.fov);
                self.error(node.origin, "bad-value", message);
            }
        }
        if let Some(rows) = table.get("rows").and_then(|node| self.boolean("rows", node)) {
            camera.rows = rows;
        }
        Some((Ref::of_key(&name), camera))
    }

    fn draw_texture(&mut self, node: &PlacedValue) -> Option<TextureBinding> {
        let table = self.section(node, &TEXTURE)?;
        let name = self.required(node, table, "name", "[[texture]]")?;
        let mut binding = TextureBinding::file(Ref::of_key(&self.string("name", name)?), "");
        let given: Vec<&str> = ["data", "target", "depth"].into_iter().filter(|key| table.get(key).is_some()).collect();
        binding.data = match given.as_slice() {
            ["data"] => {
                let node = table.get("data")?;
                TextureData::Files(self.paths("data", node).into_iter().map(|path| path.value).collect())
            }
            ["target"] => TextureData::Target(self.integer("target", table.get("target")?, 0..=7)? as u8),
            ["depth"] => TextureData::Depth,
            _ => {
                let message = format!("texture {} has one of `data`, `target` and `depth`", binding.slot);
                self.error(node.origin, "missing-key", message);
                return None;
            }
        };
        let sampler = &mut binding.sampler;
        if let Some(filter) = table.get("filter").and_then(|node| self.choice("filter", node, &FILTERS)) {
            (sampler.magnify, sampler.minify) = (filter, filter);
        }
        if let Some(filter) = table.get("minify").and_then(|node| self.choice("minify", node, &FILTERS)) {
            sampler.minify = filter;
        }
        if let Some(mip) = table.get("mip").and_then(|node| self.choice("mip", node, &MIPS)) {
            sampler.mip = mip;
        }
        if let Some(make) =
            table.get("levels").and_then(|node| self.choice("levels", node, &[("file", false), ("make", true)]))
        {
            binding.make_levels = make;
        }
        if let Some(node) = table.get("wrap") {
            let all: Option<Vec<_>> =
                Self::each(node).into_iter().map(|node| self.choice("wrap", node, &WRAPS)).collect();
            let all = all?;
            let Some(last) = all.last().filter(|_| all.len() <= 3) else {
                self.error(node.origin, "bad-value", "`wrap` has one, two or three entries");
                return None;
            };
            sampler.wrap = std::array::from_fn(|axis| all.get(axis).copied().unwrap_or(*last));
        }
        if let Some(border) = table.get("border").and_then(|node| self.four_bits("`border`", node)) {
            sampler.border = border;
        }
        let mut real = |key: &str, place: &mut f32| {
            if let Some(value) = table.get(key).and_then(|node| self.real(key, node)) {
                *place = value;
            }
        };
        real("min_lod", &mut sampler.min_lod);
        real("max_lod", &mut sampler.max_lod);
        real("lod_bias", &mut sampler.lod_bias);
        if let Some(most) = table.get("anisotropy").and_then(|node| self.integer("anisotropy", node, 1..=16)) {
            sampler.max_anisotropy = most as u8;
        }
        if let Some(seamless) = table.get("seamless").and_then(|node| self.boolean("seamless", node)) {
            sampler.seamless = seamless;
        }
        if let Some(compare) = table.get("compare").and_then(|node| self.choice("compare", node, &COMPARES)) {
            sampler.compare = compare;
        }
        binding.kind = table.get("kind").and_then(|node| self.choice("kind", node, &KINDS));
        Some(binding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctm_draw::state::{Combine, Factor, StencilOp};

    fn messages(text: &str) -> Vec<String> {
        match Drawing::parse(text, "job.toml", Path::new("")) {
            Ok(_) => Vec::new(),
            Err(error) => error.reports().iter().map(|report| report.diagnostic.message.clone()).collect(),
        }
    }

    #[test]
    fn what_stands_at_the_top_holds_for_all_draws() {
        let text = r#"
            size = [64, 32]
            samples = 4
            programs = ["a.vsh", "a.psh"]
            mesh = "cube"
            constants = { tint = [1, 0, 0, 1] }
            [[target]]
            format = "16_16_16_16_FLOAT"
            [[draw]]
            cull = "back"
            [[draw]]
            name = "second"
            mesh = "sphere"
            blend = { source = "source_alpha", destination = "one", alpha_combine = "max" }
            constants = { tint = [0, 1, 0, 1], other = [1, 2] }
            stencil = { compare = "equal", reference = 3, pass = "increment" }
        "#;
        let drawing = Drawing::parse(text, "job.toml", Path::new("dir")).unwrap();
        assert_eq!((drawing.size, drawing.samples, drawing.draws.len()), ([64, 32], 4, 2));
        assert_eq!(drawing.targets[0].format.number, NumberType::Float);
        let [first, second] = &drawing.draws[..] else { panic!() };
        assert_eq!((&first.mesh, &second.mesh), (&"cube".into(), &"sphere".into()));
        assert!(matches!(&first.programs[1], ProgramSource::File(path) if path == Path::new("dir/a.psh")));
        assert!(first.raster.cull_back && !second.raster.cull_back);
        assert_eq!(second.constants.len(), 2);
        assert_eq!(second.constants[0].1, [0.0, 1.0, 0.0, 1.0]);
        let blend = second.colour.targets[3].blend.unwrap();
        assert_eq!(blend.colour.destination, Factor::One);
        assert_eq!(blend.alpha.unwrap().combine, Combine::Max);
        assert_eq!(second.depth.stencil.unwrap().pass, StencilOp::IncrementClamp);
    }

    #[test]
    fn all_that_is_wrong_is_told() {
        let text = r#"
            size = [64]
            sampels = 2
            mesh = "cube"
            cull = "bakc"
            [[target]]
            format = "BC1"
            [[texture]]
            name = "t0"
        "#;
        let found = messages(text);
        let told = |what: &str| assert!(found.iter().any(|message| message.contains(what)), "{what}: {found:?}");
        told("`size` is a list");
        told("has no key `sampels`");
        told("`cull` is \"bakc\", it must be one of none, front, back");
        told("cannot be the format of a colour target");
        told("has one of `data`, `target` and `depth`");
        told("has no `programs`");
    }
}
