//! The bindings of a pass: constants, buffers, textures with their samplers, memories; and the program's inputs that are missing.

use super::super::elements::{bytes, constants, texels};
use super::super::uses::{Uses, textures_at_position};
use crate::job::checker::{Checker, not_read, unknown_name, unread};
use crate::job::frames::Varying;
use crate::job::located::{Data, Located};
use crate::job::model::{FromOutput, Pass, Texture};
use crate::job::r700::model::{ConstantBuffer, Contents, FetchBuffer, R700Pass, R700Texture, target_slot};
use crate::job::ready::{NumberedArrays, OutputRead, ReadyMemory};
use crate::job::slots::Slots;
use ctm_exec::r700::resources::{BufferData, Image, TextureKind};
use ctm_exec::r700::{Constants, Space};
use ctm_files::FileKind;
use ctm_files::array::dwords;
use ctm_files::load::read_file;
use ctm_files::r700::uniform::Uniform;
use ctm_isa::diag::Diagnostic;
use ctm_isa::r700::Program;
use ctm_isa::r700::program::SymbolKind;
use ctm_launch::Ref;
use ctm_launch::fit::{Fit, size_misfit};
use ctm_launch::r700::constants::{not_given, store_in_window, store_uniform};
use ctm_launch::r700::target_of;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Where a named constant lies.
enum Constant {
    /// In the constant file.
    File(u8),
    /// In a constant buffer, where it has been stored.
    Buffer,
}

/// A uniform with its numbers: dwords from the beginning of its place, and their bits.
type LaidOut<'u> = (&'u Uniform, Result<Vec<(usize, u32)>, String>);

/// A uniform that a container declares, where a pass gives it as a whole. Rows of four numbers for a uniform of one constant differ from launch to launch,
/// which a matrix or an array cannot.
pub(super) fn whole<'u>(pass: &Pass, uniforms: &'u [Uniform], which: &Ref) -> Option<LaidOut<'u>> {
    let Ref::Name(name) = which else { return None };
    let uniform = uniforms.iter().find(|uniform| uniform.name == *name)?;
    let laid_out = match (pass.varying.get(which), pass.float.get(which)) {
        (Some(Varying::Line { .. }), _) if uniform.constants() > 1 || uniform.component > 0 => {
            Err(format!("{which} is the same in every launch of a pass"))
        }
        (Some(Varying::Rows(rows)), _) if uniform.constants() > 1 || uniform.component > 0 => {
            uniform.lay_out(rows.as_flattened())
        }
        (Some(Varying::Line { .. } | Varying::Rows(_)), _) | (None, None) => return None,
        (Some(Varying::Numbers(numbers)), _) => uniform.lay_out(numbers),
        // Constant by constant: `name`, `name.1`, `name.2`.
        (None, Some(_)) if uniform.constants() > 1 && pass.float.keys().any(|other| is_part(other, name)) => {
            return None;
        }
        (None, Some(value)) => uniform.lay_out(&value.value),
    };
    Some((uniform, laid_out))
}

/// Whether a name is that of a further constant of a uniform: `name.1`.
fn is_part(other: &Ref, name: &str) -> bool {
    let Ref::Name(other) = other else { return false };
    other.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
}

impl Checker {
    pub(super) fn constants(
        &mut self,
        pass: &Pass,
        own: &R700Pass,
        (program, uniforms): (&Program, &[Uniform]),
        uses: &Uses,
        arrays: &mut NumberedArrays,
    ) -> BTreeMap<u8, [u32; 4]> {
        let mut out = Constants::default();
        for ConstantBuffer { bank, fetch_resource, contents } in &own.constant_buffers {
            let values = match contents {
                Contents::Values(values) => Some(values.clone()),
                Contents::Data(data) => self.keep(constants(data)),
                // The reader lets constant buffers have values and data only.
                Contents::Memory(_) => None,
            };
            if let Some(values) = values {
                arrays.bind_constants(bank.value, *fetch_resource, values);
            }
        }
        let mut given = BTreeSet::new();
        for (which, value) in &pass.float {
            match (whole(pass, uniforms, which), pass.varying.get(which)) {
                (Some((uniform, Ok(dwords))), _) => {
                    self.uniform(value, uniform, &dwords, (&mut out, arrays, &mut given));
                    continue;
                }
                (Some((_, Err(message))), _) => {
                    self.error(value, "constant-count", message);
                    continue;
                }
                (None, Some(Varying::Numbers(numbers))) => {
                    let message = format!(
                        "constant {which} is a list of {}, it must have four numbers r, g, b, a",
                        numbers.len()
                    );
                    self.error(value, "bad-value", message);
                    continue;
                }
                (None, _) => {}
            }
            let at = Located { value: which.clone(), place: value.place.clone() };
            if let Some(Constant::File(index)) = self.constant(&at, program, uses, value.value, arrays) {
                out.file[usize::from(index)] = value.value;
                given.insert(index);
            }
        }
        for (which, value) in &pass.int {
            if let Ref::Name(name) = which {
                self.push(value.place.as_ref(), unknown_name("loop constant", name, &[], Some(Slots::INT)));
            }
        }
        for (which, value) in &pass.bool {
            if let Ref::Name(name) = which {
                self.push(value.place.as_ref(), unknown_name("boolean constant", name, &[], Some(Slots::BOOL)));
            }
        }
        // Constants at the top of a job may be another pass's; errors come first.
        if !self.several && self.errors() == 0 {
            let mut all = Vec::new();
            if !uses.relative_constants {
                all.extend(unread("C", pass.float.keys(), &uses.constants));
            }
            all.extend(unread("i", pass.int.keys(), &uses.loops));
            all.extend(unread("b", pass.bool.keys(), &uses.bools));
            let bank = |b: &&ConstantBuffer| b.fetch_resource.is_none() && !uses.banks.contains(&b.bank.value);
            all.extend(own.constant_buffers.iter().filter(bank).map(|b| format!("constant buffer {}", b.bank.value)));
            if !all.is_empty() {
                self.warn(&pass.program, "constant-not-read", not_read(&all));
            }
        }
        let by_number = |map: BTreeSet<&Ref>, n: u8| map.contains(&Ref::Index(n));
        let mut missing: Vec<String> = Vec::new();
        let absent = |bank: &&u8| !arrays.constants.contains_key(bank);
        missing.extend(uses.banks.iter().filter(absent).map(|n| format!("constant buffer {n}")));
        if !uses.relative_constants {
            missing.extend(uses.constants.difference(&given).map(|n| format!("C{n}")));
        }
        let absent = |n: &&u8| !by_number(pass.int.keys().collect(), **n);
        missing.extend(uses.loops.iter().filter(absent).map(|n| format!("loop constant {n}")));
        let absent = |n: &&u8| !by_number(pass.bool.keys().collect(), **n);
        missing.extend(uses.bools.iter().filter(absent).map(|n| format!("boolean constant {n}")));
        if !missing.is_empty() {
            self.warn(&pass.program, "constant-not-given", not_given(&missing));
        }
        given.into_iter().map(|n| (n, out.file[usize::from(n)])).collect()
    }

    /// Stores a uniform of a container.
    fn uniform(
        &mut self,
        at: &Located<[u32; 4]>,
        uniform: &Uniform,
        dwords: &[(usize, u32)],
        (out, arrays, given): (&mut Constants, &mut NumberedArrays, &mut BTreeSet<u8>),
    ) {
        if let Err(message) = store_uniform(uniform, dwords, (out, &mut arrays.constants, given)) {
            self.error(at, "bad-constant", message);
        }
    }

    /// The place of a floating-point constant; those of constant buffers are stored.
    fn constant(
        &mut self,
        at: &Located<Ref>,
        program: &Program,
        uses: &Uses,
        value: [u32; 4],
        arrays: &mut NumberedArrays,
    ) -> Option<Constant> {
        let name = match &at.value {
            Ref::Index(n) => return Some(Constant::File(*n)),
            Ref::Name(name) => name,
        };
        if let Some(index) = program.symbol(SymbolKind::Constant, name) {
            return Some(Constant::File(index));
        }
        if let Some(stored) = store_in_window(program, uses, name, value, &mut arrays.constants) {
            return match stored {
                Ok(()) => Some(Constant::Buffer),
                Err(message) => {
                    self.error(at, "ambiguous-constant", message);
                    None
                }
            };
        }
        let is_constant = |k| matches!(k, SymbolKind::Constant | SymbolKind::Kcache(_));
        let names: Vec<&str> =
            program.symbols.iter().filter(|s| is_constant(s.kind)).map(|s| s.name.as_str()).collect();
        self.push(at.place.as_ref(), unknown_name("constant", name, &names, Some(Slots::FLOAT)));
        None
    }

    pub(super) fn buffers(
        &mut self,
        own: &R700Pass,
        program: &Program,
        uses: &Uses,
        arrays: &mut NumberedArrays,
    ) -> Vec<(u8, Space, FetchBuffer)> {
        let mut from_memory = Vec::new();
        for buffer in &own.buffers {
            let Some(slot) = self.r700_number(&buffer.slot, program, SymbolKind::Buffer, "buffer") else { continue };
            if !uses.buffers.contains(&slot) {
                let message = format!("buffer {slot} is given, and the program does not fetch from it");
                self.warn(&buffer.slot, "buffer-not-read", message);
            }
            let contents = match &buffer.contents {
                Contents::Values(values) => {
                    Some(values.as_flattened().iter().flat_map(|dword| dword.to_le_bytes()).collect())
                }
                Contents::Data(data) => self.keep(bytes(data)),
                Contents::Memory(space) => {
                    from_memory.push((slot, *space, buffer.clone()));
                    None
                }
            };
            if let Some(bytes) = contents {
                let data = BufferData { stride_bytes: buffer.stride_bytes, format: buffer.format, bytes };
                if arrays.buffers.insert(slot, data).is_some() {
                    let message = format!("buffer {slot} is given twice, once by name or as a constant buffer");
                    self.error(&buffer.slot, "duplicate-slot", message);
                }
            }
        }
        from_memory
    }

    pub(super) fn textures(
        &mut self,
        pass: &Pass,
        program: &Program,
        uses: &Uses,
        arrays: &mut NumberedArrays,
    ) -> Vec<OutputRead> {
        let mut from_outputs = Vec::new();
        for texture in &pass.textures {
            let Some(slot) = self.r700_number(&texture.slot, program, SymbolKind::Resource, "texture") else {
                continue;
            };
            let read_with = uses.textures.get(&slot);
            if read_with.is_none() {
                let message = format!("texture {slot} is given, and the program does not read it");
                self.warn(&texture.slot, "input-not-read", message);
            }
            let samplers = match texture.r700().and_then(|own| own.sampler_slot.as_ref()) {
                Some(which) => self.r700_number(which, program, SymbolKind::Sampler, "sampler").into_iter().collect(),
                None => read_with.cloned().unwrap_or_default(),
            };
            let sampler = texture.sampler;
            for id in samplers {
                if arrays.samplers.insert(id, sampler).is_some_and(|other| other != sampler) {
                    let message = format!("two textures describe sampler {id}, and not in the same way");
                    self.error(&texture.slot, "duplicate-sampler", message);
                }
            }
            if let Some(from) = &texture.output {
                let FromOutput { output, pass } = &from.value;
                match target_of(output) {
                    Some(target) => from_outputs.push(OutputRead {
                        texture: slot,
                        output: target_slot(target),
                        pass: pass.clone(),
                        has_data: texture.data.is_some(),
                        place: from.place.clone(),
                    }),
                    None => self.error(from, "bad-value", format!("there is no output {output}")),
                }
            } else if texture.data.is_none() {
                let message = format!("texture {slot} has neither `data` nor `output`");
                self.error(&texture.slot, "missing-key", message);
            }
            let image = self.image(texture);
            if let (Some(image), Some(data)) = (&image, &texture.data)
                && !texture.has_wrap
                && texture.output.is_none()
                && pass.registers.is_none()
                && textures_at_position(program).contains(&slot)
                && let [width, height] = [image.texture.width, image.texture.height].map(|n| n as usize)
                && let Some(message) = size_misfit([height, width], pass.domain, Fit::Reaches)
            {
                let diagnostic = Diagnostic::error("input-too-small", format!("{}: {message}", data.value));
                let help = "wrap = \"clamp\" (:wrap=clamp) repeats its edge, \"repeat\" the whole";
                self.push(data.place.as_ref(), diagnostic.help(help));
            }
            if let Some(image) = image
                && arrays.textures.insert(slot, image).is_some()
            {
                let message = format!("texture {slot} is given twice, once by name");
                self.error(&texture.slot, "duplicate-slot", message);
            }
        }
        from_outputs
    }

    /// A texture of a file that has a format, a kind and levels of its own.
    fn texture_file(
        &mut self,
        (texture, own): (&Texture, &R700Texture),
        data: &Located<Data>,
        path: &Path,
    ) -> Option<Image> {
        let of_file = [
            ("depth", own.depth.is_some()),
            ("levels", !own.levels.is_empty()),
            ("size", texture.size.is_some()),
            ("format", texture.format.is_some()),
        ];
        if let Some((key, _)) = of_file.into_iter().find(|(_, given)| *given) {
            let message = format!("`{key}` is given, and {} says it itself", path.display());
            self.error(&texture.slot, "bad-value", message);
            return None;
        }
        let bytes = read_file(path, FileKind::Texture, data.place.as_ref());
        let bytes = self.keep(bytes.map_err(|e| Box::new(e.reports()[0].clone())))?;
        match ctm_files::texture::read(path, &bytes) {
            Ok(image) => Some(image),
            Err(error) => {
                let report = data.error("bad-array", format!("{}: {error}", path.display()));
                self.reports.push(report);
                None
            }
        }
    }

    /// A texture's levels, from its files.
    fn image(&mut self, texture: &Texture) -> Option<Image> {
        let (data, own) = (texture.data.as_ref()?, texture.r700()?);
        if let Data::File(path) = &data.value
            && ctm_files::texture::is_texture(path)
        {
            return self.texture_file((texture, own), data, path);
        }
        let (first, format) = self.keep(texels(data, texture.size, texture.format.as_ref()))?;
        let kind = own.kind;
        let depth = match (kind, own.depth) {
            (TextureKind::OneD | TextureKind::TwoD, Some(depth)) if depth != 1 => {
                let message = format!("`depth` is {depth}, textures of one and two dimensions have no depth");
                self.error(&texture.slot, "bad-value", message);
                return None;
            }
            (TextureKind::Cube, _) => 6,
            (TextureKind::OneDArray, None) => first.height,
            (TextureKind::CubeArray, depth) if !depth.unwrap_or(6).is_multiple_of(6) => {
                let message = "`depth` of an array of cubes counts faces: a multiple of 6";
                self.error(&texture.slot, "bad-value", message);
                return None;
            }
            (TextureKind::CubeArray, None) => 6,
            (_, depth) => depth.unwrap_or(1),
        };
        let size = [first.width, first.height / depth, depth];
        let rows = match kind {
            TextureKind::OneD | TextureKind::OneDArray if size[1] != 1 => format!("{depth}"),
            _ if first.height % depth != 0 => format!("a multiple of {depth}"),
            _ => String::new(),
        };
        if !rows.is_empty() {
            let message = format!("{} has {} rows, this texture has {rows}", data.value, first.height);
            self.error(data, "bad-array", message);
            return None;
        }
        let levels = u32::try_from(own.levels.len()).unwrap_or(u32::MAX).saturating_add(1);
        let [width, height, depth] = size;
        let shape = ctm_exec::r700::Texture { kind, width, height, depth, levels, format, ..Default::default() };
        let mut images = vec![first.elements];
        for (level, data) in (1u32..).zip(&own.levels) {
            let (picture, _) = self.keep(texels(data, None, None))?;
            let [w, h, d] = shape.size(level);
            if (picture.width, picture.height) != (w, h * d) {
                let message = format!(
                    "{} is {}x{}, level {level} of this texture has {w} columns and {} rows",
                    data.value,
                    picture.width,
                    picture.height,
                    h * d
                );
                self.error(data, "bad-array", message);
                return None;
            }
            images.push(picture.elements);
        }
        Some(Image { texture: shape, levels: images.into() })
    }

    /// Inputs of the program that are not given.
    pub(super) fn missing(
        &mut self,
        pass: &Pass,
        uses: &Uses,
        arrays: &NumberedArrays,
        reads: &[OutputRead],
        buffers: &[(u8, Space, FetchBuffer)],
    ) {
        let place = pass.program.place.clone();
        for slot in uses.textures.keys() {
            if arrays.textures.contains_key(slot) || reads.iter().any(|read| read.texture == *slot) {
                continue;
            }
            let message = format!("the program reads texture {slot}, and it is not given");
            let help = format!("give it as [[texture]] with slot = {slot}, or --in t{slot}=FILE");
            self.push(place.as_ref(), Diagnostic::error("missing-input", message).help(help));
        }
        for slot in &uses.buffers {
            if arrays.buffers.contains_key(slot) || buffers.iter().any(|b| b.0 == *slot) {
                continue;
            }
            let message = format!("the program fetches from buffer {slot}, and it is not given");
            let help = format!(
                "give it as [[buffer]] with slot = {slot}, as a constant buffer with fetch_resource = {slot}, or --buffer b{slot}=FILE"
            );
            self.push(place.as_ref(), Diagnostic::error("missing-buffer", message).help(help));
        }
    }

    pub(super) fn memories(&mut self, own: &R700Pass) -> Vec<ReadyMemory> {
        let mut out = Vec::new();
        for memory in &own.memories {
            let Some(space) = memory.space.value else { continue };
            let mut initial = match &memory.data {
                Some(data) => match self.keep(bytes(data)) {
                    Some(bytes) => Some(dwords(&bytes)),
                    None => continue,
                },
                None => memory.size_bytes.map(|_| Vec::new()),
            };
            if let (Some(initial), Some(size)) = (&mut initial, memory.size_bytes) {
                let size = usize::try_from(size / 4).unwrap_or(usize::MAX);
                if initial.len() > size {
                    let message =
                        format!("{} has {} bytes, `size_bytes` is {}", space.name(), initial.len() * 4, size * 4);
                    self.error(&memory.space, "bad-array", message);
                    continue;
                }
                initial.resize(size, 0);
            }
            self.memory_path(memory);
            out.push(ReadyMemory { space, initial: initial.map(Arc::new), fresh: memory.fresh });
        }
        out
    }
}
