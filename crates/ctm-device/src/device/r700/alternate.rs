//! The constants and resources of another program type (`ALT_CONST`, R700 §4.6.4.6, §5.2, §6.4): a copy, made when a program that names them
//! starts.

use super::registers::texel_format;
use super::{BoundTexture, Resources, load};
use crate::device::cache::{Cache, CacheModel};
use crate::device::registers::CommandRegisters;
use crate::device::report::CommandErrorReason as Reason;
use crate::mc::{ByteOrder, TextureSurface};
use crate::memory::{DeviceMemory, GpuAddr, MemoryError};
use ctm_exec::r700::Arrays;
use ctm_exec::r700::resources::{BufferData, Image, Texture};

/// Copies everything that is bound for the other program type.
///
/// # Errors
/// When some of it lies outside memory.
pub fn copy(
    memory: &DeviceMemory,
    mut model: Option<&mut CacheModel>,
    registers: &CommandRegisters,
    order: ByteOrder,
) -> Result<Arrays, Reason> {
    let Resources { constant_buffers, buffers, textures, samplers } = &registers.r700.alternate;
    let mut note = |cache, base: GpuAddr, bytes: u64, what: &str| {
        if let Some(model) = model.as_deref_mut() {
            model.reads(Some(cache), base, bytes, || what.to_owned());
        }
    };
    let mut arrays = Arrays { samplers: samplers.clone(), ..Arrays::default() };
    for (&bank, place) in constant_buffers {
        let what = format!("constant buffer {bank} of the other program type");
        let bytes = bytes(memory, place.base, u64::from(place.constants) * 16, &what)?;
        note(Cache::Float, place.base, bytes.len() as u64, &what);
        let constants = bytes.as_chunks::<16>().0.iter().map(|constant| load::dwords(*constant));
        arrays.constants.insert(bank, constants.collect());
    }
    for (&id, place) in buffers {
        let what = format!("buffer {id} of the other program type");
        let bytes = bytes(memory, place.base, place.bytes.into(), &what)?.to_vec();
        note(Cache::Input, place.base, bytes.len() as u64, &what);
        let data = BufferData { stride_bytes: place.stride_bytes, format: place.format, bytes };
        arrays.buffers.insert(id, data);
    }
    for (&id, bound) in textures {
        let what = format!("texture {id} of the other program type");
        let outside = |error| load::outside(what.clone(), error);
        let image = match bound {
            BoundTexture::Texture(texture) => {
                bytes(memory, texture.base, texture.bytes(), &what)?;
                note(Cache::Input, texture.base, texture.bytes(), &what);
                texels(memory, texture).map_err(outside)?
            }
            BoundTexture::Input(surface) => {
                let (width, height) = super::input_size(surface, registers, id);
                note(Cache::Input, surface.base, surface.bytes(), &what);
                let at = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
                let level = at.map(|(x, y)| surface.load(memory, x, y, order)).collect::<Result<Vec<_>, _>>();
                let texel_bytes = surface.format.element_bytes();
                let texture =
                    Texture { width, height, texel_bytes, format: texel_format(surface.format), ..Texture::default() };
                Some(Image { texture, levels: level.map_err(outside)?.into() })
            }
        };
        if let Some(image) = image {
            arrays.textures.insert(id, image);
        }
    }
    Ok(arrays)
}

fn bytes<'a>(memory: &'a DeviceMemory, base: GpuAddr, bytes: u64, what: &str) -> Result<&'a [u8], Reason> {
    let count = usize::try_from(bytes).unwrap_or(usize::MAX);
    memory.slice(base, count).map_err(|error| load::outside(what, error))
}

/// All texels of a texture.
fn texels(memory: &DeviceMemory, texture: &TextureSurface) -> Result<Option<Image>, MemoryError> {
    let Some(shape) = texture.texture().filter(|_| texture.is_plain()) else { return texture.image(memory) };
    let mut levels = Vec::new();
    for level in 0..shape.levels {
        let [width, height, depth] = shape.size(level);
        let rows = (0..depth).flat_map(|z| (0..height).map(move |y| (y, z)));
        let at = rows.flat_map(|(y, z)| (0..width).map(move |x| [x, y, z]));
        let texels = at.map(|at| texture.load(memory, level, at).map(Option::unwrap_or_default));
        levels.push(texels.collect::<Result<Vec<_>, _>>()?);
    }
    Ok(Some(Image { texture: shape, levels: levels.into() }))
}
