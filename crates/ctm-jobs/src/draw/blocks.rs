//! Uniform blocks, constant buffers and attributes from arrays; and numbers that uniforms with usual names get from the camera and the mesh.

use super::bound::{BANKS, BoundPair, CONSTANTS_OF_BUFFER, DrawPrograms, PreparedDraw};
use super::camera::Camera;
use super::matrices::{MatrixKind, names_joints, names_morph_weights};
use super::pair::{Attribute, Part};
use super::plan::{BlockBinding, BlockData, DrawPlan};
use super::reach::numbered;
use super::{Error, UniformPlace, unknown};
use crate::job::r700::uses::Uses;
use crate::job::read_file;
use ctm_files::FileKind;
use ctm_files::array::Items;
use ctm_files::mesh::{Channel, Mesh};
use ctm_files::r700::uniform::Uniform;
use ctm_launch::Ref;
use std::path::Path;

fn wrong(message: String) -> Error {
    Error::wrong("bad-buffer", message)
}

/// The name of a binding and its numbers, each of 32 bits.
pub(super) fn read(binding: &BlockBinding) -> Result<(String, Items), Error> {
    let name = binding.slot.register("cb");
    let items = match &binding.data {
        BlockData::Given(items) => Items::clone(items),
        BlockData::File(path) => file(path)?,
    };
    Ok((name.clone().into_owned(), narrow(items).map_err(|why| wrong(format!("buffer `{name}`: {why}")))?))
}

fn file(path: &Path) -> Result<Items, Error> {
    let bytes = read_file(path, FileKind::Array, None).map_err(Error::Job)?;
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match extension.as_str() {
        "npy" => Items::from_npy(&bytes).map_err(|why| wrong(format!("{}: {why}", path.display()))),
        "raw" | "bin" => {
            if !bytes.len().is_multiple_of(4) {
                return Err(wrong(format!("{} has {} bytes, which are no whole dwords", path.display(), bytes.len())));
            }
            Ok(Items { class: b'u', item_bytes: 4, shape: vec![bytes.len() / 4], bytes })
        }
        _ => Err(wrong(format!("{} is no array of numbers; .npy, .raw and .bin can be read", path.display()))),
    }
}

/// Items of other widths as items of 32 bits.
#[allow(clippy::cast_possible_truncation, reason = "numbers become 32 bits wide")]
fn narrow(items: Items) -> Result<Items, String> {
    let (class, width) = (items.class, items.item_bytes);
    if width == 4 {
        return Ok(items);
    }
    let each = items.bytes.chunks_exact(width.max(1));
    let bits = |item: &[u8]| -> Option<u32> {
        Some(match (class, width) {
            (b'f', 8) => (f64::from_le_bytes(item.try_into().ok()?) as f32).to_bits(),
            (b'i', 8) => i32::try_from(i64::from_le_bytes(item.try_into().ok()?)).ok()?.cast_unsigned(),
            (b'u', 8) => u32::try_from(u64::from_le_bytes(item.try_into().ok()?)).ok()?,
            (b'i', 2) => i32::from(i16::from_le_bytes(item.try_into().ok()?)).cast_unsigned(),
            (b'u', 2) => u16::from_le_bytes(item.try_into().ok()?).into(),
            (b'i', 1) => i32::from(item.first()?.cast_signed()).cast_unsigned(),
            (b'u' | b'b', 1) => (*item.first()?).into(),
            _ => return None,
        })
    };
    let known = matches!((class, width), (b'f', 8) | (b'i' | b'u', 1 | 2 | 8) | (b'b', 1));
    let all: Option<Vec<u32>> = each.map(bits).collect();
    match all {
        Some(all) => {
            let bytes = all.iter().flat_map(|bits| bits.to_le_bytes()).collect();
            Ok(Items { class, item_bytes: 4, shape: items.shape, bytes })
        }
        None if known => Err("an integer takes more than 32 bits".to_owned()),
        None => Err(format!("its items are {}{}; float32, float64 and integers can be read", char::from(class), width)),
    }
}

/// The bits as the bits of floats: integers by their value.
#[allow(clippy::cast_precision_loss, reason = "rounded to the nearest float")]
fn floats(items: &Items) -> Vec<f32> {
    let number = |bits: u32| match items.class {
        b'f' => f32::from_bits(bits),
        b'i' => bits.cast_signed() as f32,
        _ => bits as f32,
    };
    items.dwords().into_iter().map(number).collect()
}

/// The name of an attribute, and x, y, z, w of each vertex.
type NamedRows = (Ref, Vec<[f32; 4]>);

/// The rows of arrays that name attributes: one for each vertex.
pub(super) fn attributes(
    attributes: &[Attribute],
    blocks: &[(String, Items)],
    vertices: usize,
) -> Result<Vec<NamedRows>, Error> {
    let mut found = Vec::new();
    for (name, items) in blocks.iter().filter(|(name, _)| attributes.iter().any(|of| of.name == *name)) {
        let numbers = floats(items);
        let columns = numbers.len().checked_div(vertices).unwrap_or(0);
        if !(1..=4).contains(&columns) || columns * vertices != numbers.len() {
            let message = format!(
                "attribute `{name}` has an array of shape {:?}; the mesh has {vertices} vertices, of 1 to 4 numbers each",
                items.shape
            );
            return Err(wrong(message));
        }
        let row = |row: &[f32]| std::array::from_fn(|n| row.get(n).copied().unwrap_or(if n == 3 { 1.0 } else { 0.0 }));
        found.push((name.as_str().into(), numbers.chunks(columns).map(row).collect()));
    }
    Ok(found)
}

impl DrawPrograms {
    /// Fills a block, a constant buffer or a uniform; findings about it.
    pub(super) fn block(&mut self, name: &str, items: &Items) -> Result<Vec<String>, Error> {
        match self {
            Self::Pair(bound) => bound.block(name, items),
            Self::X1k(_) => self.constant(name, &floats(items)).map(|()| Vec::new()),
        }
    }
}

impl BoundPair {
    /// Stores numbers in the uniforms of a name, or in one element of an array; whether there are any.
    pub(super) fn uniform(&mut self, stages: &[usize], name: &str, numbers: &[u32]) -> Result<bool, Error> {
        let wrong = |message: String| Error::wrong("bad-constant", message);
        let bare = name.strip_prefix("vs:").or_else(|| name.strip_prefix("ps:")).unwrap_or(name);
        let mut found = false;
        for &stage in stages {
            let part = if stage == 0 { &self.pair.vertex } else { &self.pair.pixel };
            let uniform = match (part.declared(bare), element_of(bare)) {
                (Some(uniform), _) => uniform,
                (None, Some((array, n))) => {
                    let Some(array) = part.declared(array).filter(|array| array.count > 1) else { continue };
                    array.element(n).ok_or_else(|| {
                        wrong(format!("there is no `{bare}`: `{}` has elements 0 to {}", array.name, array.count - 1))
                    })?
                }
                (None, None) => continue,
            };
            let dwords = uniform.lay_out(numbers).map_err(wrong)?;
            self.store(stage, name, (uniform.place, uniform.constants()), &dwords)?;
            found = true;
        }
        Ok(found)
    }

    /// Shows constant buffers to fetches of computed indices.
    pub(super) fn show_fetched(&mut self) {
        for (memory, fetched) in self.memory.iter_mut().zip(&self.fetched) {
            for &bank in fetched {
                let values = memory.constants.get(&bank).cloned().unwrap_or_default();
                memory.bind_constants(bank, Some(bank), values);
            }
        }
    }

    /// Poses a mesh whose skin or morph targets the vertex program does not read.
    pub(super) fn pose(&self, plan: &DrawPlan, mesh: &mut Mesh) {
        let attributes = self.pair.attributes();
        let reads = |wanted: fn(Channel) -> bool| {
            let by_name = attributes.iter().filter_map(|attribute| Channel::of_attribute(&attribute.name));
            by_name.chain(plan.attributes.iter().map(|of| of.1)).any(wanted)
        };
        let morphs = reads(|channel| matches!(channel, Channel::Morph(_)));
        let skin = reads(|channel| matches!(channel, Channel::Joints));
        mesh.pose(!morphs, !skin);
    }

    fn block(&mut self, name: &str, items: &Items) -> Result<Vec<String>, Error> {
        if self.pair.attributes().iter().any(|attribute| attribute.name == name) {
            return Ok(Vec::new());
        }
        let (stages, bare): (&[usize], &str) = match name.split_once(':') {
            Some(("vs", rest)) => (&[0], rest),
            Some(("ps", rest)) => (&[1], rest),
            _ => (&[0, 1], name),
        };
        let dwords = items.dwords();
        let mut findings = Vec::new();
        let mut found = false;
        for &stage in stages {
            let part = if stage == 0 { &self.pair.vertex } else { &self.pair.pixel };
            let Some(block) = part.blocks().into_iter().find(|block| block.name == bare) else { continue };
            found = true;
            let (bytes, given) = (block.bytes, 4 * dwords.len());
            let place = UniformPlace::Buffer(block.bank, 0);
            let only = if let [only] = block.members.as_slice() { Some(only.beginning(dwords.len())) } else { None };
            if given == bytes {
                self.store(stage, name, (place, dwords.len().div_ceil(4)), &raw(&dwords))?;
                continue;
            }
            let Some(only) = only.filter(
                |only| matches!(dwords.len(), n if n == only.numbers() * only.count || n == 4 * only.constants()),
            ) else {
                let members: Vec<&str> = block.members.iter().map(|member| member.name.as_str()).collect();
                let message = format!(
                    "buffer `{name}` has {given} bytes (shape {:?}), the block has {bytes}: {}",
                    items.shape,
                    members.join(", ")
                );
                return Err(wrong(message));
            };
            // The block's only member, without its padding, or its first elements.
            self.store(stage, name, (only.place, only.constants()), &laid_out(&only, items)?)?;
            let whole = block.members.first().map_or(0, |member| member.count);
            if only.count < whole {
                findings.push(format!("buffer `{name}` has {} of {whole} elements: the others are 0", only.count));
            }
        }
        if found {
            return Ok(findings);
        }
        if let Some(bank) = bare.to_ascii_lowercase().strip_prefix("cb").and_then(|n| n.parse::<u8>().ok()) {
            let rows = dwords.len().div_ceil(4);
            if bank >= BANKS || rows > CONSTANTS_OF_BUFFER {
                let message = format!(
                    "`{name}` is {rows} constants of bank {bank}: banks 0 to {} have constants 0 to {}",
                    BANKS - 1,
                    CONSTANTS_OF_BUFFER - 1
                );
                return Err(wrong(message));
            }
            for &stage in stages {
                self.store(stage, name, (UniformPlace::Buffer(bank, 0), rows), &raw(&dwords))?;
            }
            return Ok(findings);
        }
        if numbered(bare).is_some() || self.uniform(stages, name, &as_floats(items))? {
            if numbered(bare).is_some() {
                self.constant(name, &floats(items))?;
            }
            return Ok(findings);
        }
        let parts = [&self.pair.vertex, &self.pair.pixel];
        let blocks: Vec<String> = parts.iter().flat_map(|part| part.blocks()).map(|block| block.name).collect();
        let attributes = self.pair.attributes();
        let mut names: Vec<&str> = blocks.iter().map(String::as_str).collect();
        names.extend(parts.iter().flat_map(|part| part.uniforms()));
        names.extend(attributes.iter().map(|attribute| attribute.name.as_str()));
        names.sort_unstable();
        names.dedup();
        Err(unknown("block, uniform or attribute", name, &names))
    }

    /// The numbers of a matrix as the uniform of this name takes them: all sixteen, or those of its first rows and columns.
    pub(super) fn matrix_numbers(&self, name: &str, sixteen: &[f32; 16]) -> Vec<f32> {
        let bare = name.trim_start_matches("vs:").trim_start_matches("ps:");
        let uniform = self.pair.vertex.declared(bare).or_else(|| self.pair.pixel.declared(bare));
        let Some([rows, columns]) = uniform.and_then(|uniform| uniform.matrix()) else { return sixteen.to_vec() };
        (0..columns).flat_map(|column| (0..rows).map(move |row| sixteen[4 * column + row])).collect()
    }
}

/// A constant's name without its program.
fn bare_name(name: &str) -> String {
    name.trim_start_matches("vs:").trim_start_matches("ps:").to_owned()
}

/// The names of the blocks that a draw gives.
fn given_blocks(plan: &DrawPlan) -> Vec<String> {
    plan.blocks.iter().map(|block| bare_name(&block.slot.register("cb"))).collect()
}

/// `bones[3]`: the name of the array and the number of the element.
pub(super) fn element_of(name: &str) -> Option<(&str, usize)> {
    let (array, rest) = name.rsplit_once('[')?;
    Some((array, rest.strip_suffix(']')?.parse().ok()?))
}

/// Constant buffers that a program fetches from by computed indices: drivers give them the resources of the same numbers (Mesa's r600).
pub(super) fn fetched_banks(part: &Part) -> Vec<u8> {
    Uses::of(&part.program.decode()).buffers.into_iter().filter(|&buffer| buffer < BANKS).collect()
}

/// Dwords one after the other.
fn raw(dwords: &[u32]) -> Vec<(usize, u32)> {
    dwords.iter().copied().enumerate().collect()
}

/// Numbers as the bits of floats, as uniforms take them.
fn as_floats(items: &Items) -> Vec<u32> {
    floats(items).into_iter().map(f32::to_bits).collect()
}

fn laid_out(uniform: &Uniform, items: &Items) -> Result<Vec<(usize, u32)>, Error> {
    uniform.lay_out(&as_floats(items)).map_err(wrong)
}

impl PreparedDraw<'_> {
    /// Gives uniforms with usual names the joints and the morph weights of the mesh, and notes those that get
    /// matrices of the first camera, or of the default one.
    pub(super) fn usual_numbers(&mut self) -> Result<(), Error> {
        let bound = match &mut self.programs {
            DrawPrograms::Pair(bound) => bound,
            DrawPrograms::X1k(bound) => {
                let Some(vertex) = &bound.vertex else { return Ok(()) };
                self.usual = vertex.matrices();
                return self.choose_usual(&[]);
            }
        };
        let mut all: Vec<Uniform> = Vec::new();
        for uniform in [&bound.pair.vertex, &bound.pair.pixel].into_iter().flat_map(|part| part.all_uniforms()) {
            if all.iter().all(|known| known.name != uniform.name) {
                all.push(uniform);
            }
        }
        for uniform in all {
            let numbers = match (uniform.matrix(), &self.mesh.skin) {
                (Some(shape), Some(skin)) if names_joints(&uniform.name) => {
                    if skin.matrices.len() > uniform.count {
                        let message = format!(
                            "the mesh has {} joints, and `{}` has {} elements",
                            skin.matrices.len(),
                            uniform.name,
                            uniform.count
                        );
                        return Err(Error::wrong("bad-mesh", message));
                    }
                    skin.matrices.iter().flat_map(|matrix| joint(matrix, shape)).collect()
                }
                (None, _)
                    if uniform.is_float() && !self.mesh.morphs.is_empty() && names_morph_weights(&uniform.name) =>
                {
                    weights(&self.mesh, &uniform)
                }
                (Some(_), _) => {
                    let kind = MatrixKind::of_name(&uniform.name).filter(|_| uniform.count == 1);
                    self.usual.extend(kind.map(|kind| (uniform.name.clone(), kind)));
                    continue;
                }
                (None, _) => continue,
            };
            let bits: Vec<u32> = numbers.iter().map(|number: &f32| number.to_bits()).collect();
            let part = uniform.beginning(bits.len());
            let dwords = part.lay_out(&bits).map_err(wrong)?;
            for stage in [0, 1] {
                let of = if stage == 0 { &bound.pair.vertex } else { &bound.pair.pixel };
                if let Some(place) = of.uniform(&uniform.name) {
                    bound.store(stage, &uniform.name, (place, part.constants()), &dwords)?;
                }
            }
            self.from_mesh.push(uniform.name);
        }
        let blocks = given_blocks(self.plan);
        let members: Vec<String> = [&bound.pair.vertex, &bound.pair.pixel]
            .into_iter()
            .flat_map(|part| part.blocks())
            .filter(|block| blocks.contains(&block.name))
            .flat_map(|block| block.members)
            .map(|member| member.name)
            .collect();
        self.choose_usual(&members)
    }

    /// Drops usual matrices that have other sources: constants, cameras, and arrays; `members`: of the latter.
    fn choose_usual(&mut self, members: &[String]) -> Result<(), Error> {
        let plan = self.plan;
        let named = plan.constants.iter().map(|c| &c.0).chain(plan.cameras.iter().map(|c| &c.0));
        let given: Vec<String> = named.map(|slot| bare_name(&slot.register("c"))).collect();
        let blocks = given_blocks(plan);
        let is_given = |name: &String| given.contains(name) || blocks.contains(name) || members.contains(name);
        self.usual.retain(|(name, _)| !is_given(name));
        if plan.cameras.is_empty() && !self.usual.is_empty() {
            let names: Vec<&str> = self.usual.iter().map(|(name, _)| name.as_str()).collect();
            let get = if names.len() == 1 { "gets the matrix" } else { "get the matrices" };
            self.findings.push(format!("no camera is given: {} {get} of the default one", names.join(", ")));
        }
        let asks = plan.cameras.iter().any(|(slot, _)| slot.register("c").is_empty());
        if asks && self.usual.is_empty() {
            let message = "a camera without a name gives matrices to uniforms with usual names (mvp, model, view, projection, normalMatrix ...), and the programs have none";
            return Err(Error::wrong("unknown-name", message));
        }
        Ok(())
    }

    /// Sets the matrices of uniforms with usual names.
    pub(super) fn usual_matrices(&mut self, width_by_height: f32, time: f32) -> Result<(), Error> {
        let camera = self.plan.cameras.first().map_or_else(Camera::default, |(_, camera)| *camera);
        let bits = |numbers: Vec<f32>| numbers.into_iter().map(f32::to_bits).collect::<Vec<u32>>();
        for (name, kind) in &self.usual {
            let matrix = camera.matrix_of(*kind, width_by_height, time);
            match &mut self.programs {
                DrawPrograms::Pair(bound) => {
                    let numbers = bits(bound.matrix_numbers(name, &matrix));
                    bound.uniform(&[0, 1], name, &numbers)?;
                }
                DrawPrograms::X1k(bound) => {
                    let Some(vertex) = &mut bound.vertex else { continue };
                    let numbers = bits(vertex.matrix_numbers(name, &matrix));
                    vertex.constant(name, &numbers)?;
                }
            }
        }
        Ok(())
    }
}

/// The numbers of a joint's matrix, column by column: of a matrix of three columns and four rows its first three rows.
fn joint(matrix: &[[f32; 4]; 4], [rows, columns]: [usize; 2]) -> Vec<f32> {
    if [rows, columns] == [4, 3] {
        return matrix[..3].concat();
    }
    (0..columns.min(4)).flat_map(|column| (0..rows.min(4)).map(move |row| matrix[row][column])).collect()
}

/// The weights of morph targets as a uniform takes them.
fn weights(mesh: &Mesh, uniform: &Uniform) -> Vec<f32> {
    let most = uniform.numbers() * uniform.count;
    let all = mesh.morphs.iter().map(|morph| morph.weight).chain(std::iter::repeat(0.0));
    all.take(most).collect()
}
