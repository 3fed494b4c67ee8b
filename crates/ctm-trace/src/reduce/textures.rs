//! Textures in files of their own formats as arrays, which can be cut.

use super::files::{JOB, JobFiles, NamedFile};
use super::tree::{self, PathStep, at_mut, node};
use ctm_exec::r700::resources::{Image, TextureKind};
use ctm_files::array::Items;
use ctm_files::texture;
use ctm_isa::r700::ops::NumFormat;
use ctm_jobs::job::r700::KINDS;
use ctm_jobs::job::tree::{PlacedValue, Value};
use std::path::Path;
use std::sync::Arc;

/// Jobs that name arrays where `state` names a texture's file at `place`, fewer texels first: the first picture alone, all of level 0, and all levels, as far as such a job
/// can say it. None for files that are no textures, and for textures of integers, as arrays give floats.
pub(super) fn as_arrays(state: &JobFiles, place: &[PathStep], is_drawing: bool) -> Vec<JobFiles> {
    let Some(name) = named(state, place) else { return Vec::new() };
    let Some(NamedFile::Other(bytes)) = state.files.get(&name) else { return Vec::new() };
    let image = match texture::read(Path::new(&name), bytes) {
        Ok(image) if image.texture.format.numbers != NumFormat::Int && image.texture.samples == 1 => image,
        _ => return Vec::new(),
    };
    let of = NamedTexture { state, place, name: &name, image: &image };
    let shape = image.texture;
    let is_flat = shape.kind == TextureKind::TwoD;
    // A file in a list is one picture of several.
    let is_one = matches!(place.last(), Some(PathStep::Key(_)));
    let mut states: Vec<_> = of.flat().into_iter().collect();
    if is_one && is_drawing && !is_flat {
        states.extend(of.of_draw());
    }
    if is_one && !is_drawing {
        states.extend((!is_flat).then(|| of.of_job(1)).flatten());
        states.extend((shape.levels > 1).then(|| of.of_job(shape.levels)).flatten());
    }
    states
}

/// The file that a place names.
pub(super) fn named(state: &JobFiles, place: &[PathStep]) -> Option<String> {
    let all = tree::all(&state.root).into_iter();
    let found = all.filter(|(at, _)| at == place).map(|(_, node)| &node.value).next()?;
    if let Value::String(name) = found { Some(name.clone()) } else { None }
}

/// A texture that a state names.
struct NamedTexture<'a> {
    state: &'a JobFiles,
    place: &'a [PathStep],
    name: &'a str,
    image: &'a Image,
}

impl NamedTexture<'_> {
    /// The first picture of level 0.
    fn flat(&self) -> Option<JobFiles> {
        let mut next = self.state.clone();
        let data = self.add(&mut next, 0, 0..1, "")?;
        self.tell(&mut next, data, &[]);
        if let Some(table) = tree::table_of(&mut next.root, self.place) {
            table.entries.retain(|entry| !["kind", "depth", "levels"].contains(&entry.key.as_str()));
        }
        Some(next)
    }

    /// `levels` levels with all their slices one below the other, as `[[texture]]` of a job has them.
    fn of_job(&self, levels: u32) -> Option<JobFiles> {
        let mut next = self.state.clone();
        let data = self.add(&mut next, 0, 0..self.slices(0), "")?;
        let smaller: Option<Vec<_>> =
            (1..levels).map(|level| self.add(&mut next, level, 0..self.slices(level), &format!("-{level}"))).collect();
        let depth = node(Value::Integer(self.image.texture.depth.into()));
        let mut keys = vec![("kind", node(self.kind()?))];
        if self.image.texture.depth > 1 {
            keys.push(("depth", depth));
        }
        if levels > 1 {
            keys.push(("levels", node(Value::Array(smaller?.into_iter().map(node).collect()))));
        }
        self.tell(&mut next, data, &keys);
        Some(next)
    }

    /// Level 0 with all its slices, as `[[draw.texture]]` has them.
    fn of_draw(&self) -> Option<JobFiles> {
        let mut next = self.state.clone();
        let count = self.slices(0);
        let data = match self.image.texture.kind {
            // Layers of one row are the rows of one picture.
            TextureKind::OneD | TextureKind::OneDArray => self.add(&mut next, 0, 0..count, "")?,
            _ => {
                let one = |slice: usize| self.add(&mut next, 0, slice..slice + 1, &format!("-{slice}"));
                let files: Option<Vec<_>> = (0..count).map(one).collect();
                Value::Array(files?.into_iter().map(node).collect())
            }
        };
        self.tell(&mut next, data, &[("kind", node(self.kind()?))]);
        Some(next)
    }

    fn kind(&self) -> Option<Value> {
        let name = KINDS.iter().find(|row| row.1 == self.image.texture.kind)?.0;
        Some(Value::String(name.to_owned()))
    }

    fn slices(&self, level: u32) -> usize {
        self.image.texture.size(level)[2] as usize
    }

    /// Adds an array of some slices of a level; its name.
    fn add(&self, next: &mut JobFiles, level: u32, slices: std::ops::Range<usize>, suffix: &str) -> Option<Value> {
        let [width, height, _] = self.image.texture.size(level).map(|side| side as usize);
        let texels = self.image.levels.get(level as usize)?;
        let texels = texels.get(slices.start * width * height..slices.end * width * height)?;
        let items = Items {
            class: b'f',
            item_bytes: 4,
            shape: vec![height * slices.len(), width, 4],
            bytes: texels.as_flattened().iter().flat_map(|bits| bits.to_le_bytes()).collect(),
        };
        let stem = Path::new(self.name).file_stem().unwrap_or_default().to_string_lossy();
        let mut name = format!("{stem}{suffix}.npy");
        while next.files.contains_key(&name) || name == JOB {
            name.insert(0, '_');
        }
        next.files.insert(name.clone(), NamedFile::Items(Arc::new(items), None));
        Some(Value::String(name))
    }

    /// Names the array where the file was, with further keys beside it.
    fn tell(&self, next: &mut JobFiles, data: Value, keys: &[(&str, PlacedValue)]) {
        if let Some(value) = at_mut(&mut next.root, self.place) {
            *value = data;
        }
        if let Some(table) = tree::table_of(&mut next.root, self.place) {
            keys.iter().for_each(|(key, node)| table.set(key, node.clone()));
        }
    }
}
