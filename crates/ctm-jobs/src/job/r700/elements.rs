//! Files into constants, buffers, textures and memories.

use crate::job::load::read_file;
use crate::job::located::{Data, Located};
use ctm_device::mc::Format;
use ctm_exec::arrays::Picture;
use ctm_exec::r700::formats::Format as TexelFormat;
use ctm_files::array::{Array, ArrayError, ArrayFileKind, Items, RawFormat, RawShape, Values, dwords};
use ctm_files::render::Report;
use std::path::Path;

/// An error of a file.
type Wrong = Box<Report>;

fn bad(at: &Located<Data>, e: &ArrayError) -> Wrong {
    Box::new(at.error("bad-array", format!("{}: {e}", at.value)))
}

fn file(path: &Path, at: &Located<Data>) -> Result<Vec<u8>, Wrong> {
    read_file(path, ArrayFileKind::file_kind(path), at.place.as_ref()).map_err(|e| Box::new(e.reports()[0].clone()))
}

fn array_bytes(array: &Array) -> Vec<u8> {
    match &array.values {
        Values::U8(v) => v.clone(),
        Values::U16(v) => v.iter().flat_map(|x| x.to_le_bytes()).collect(),
        Values::F32(v) => v.iter().flat_map(|x| x.to_bits().to_le_bytes()).collect(),
    }
}

/// The bytes of an array without conversion: items of `.npy` files, samples of pictures, all of any other file.
pub(super) fn bytes(data: &Located<Data>) -> Result<Vec<u8>, Wrong> {
    let path = match &data.value {
        Data::Array(array) => return Ok(array_bytes(array)),
        Data::File(path) => path,
    };
    let bytes = file(path, data)?;
    match ArrayFileKind::of(path) {
        Some(ArrayFileKind::Npy) => Items::from_npy(&bytes).map(|items| items.bytes).map_err(|e| bad(data, &e)),
        Some(kind @ (ArrayFileKind::Png | ArrayFileKind::Pfm)) => {
            Array::samples(kind, &bytes).map(|array| array_bytes(&array)).map_err(|e| bad(data, &e))
        }
        Some(ArrayFileKind::Raw) | None => Ok(bytes),
    }
}

/// The constants of a file: four items of 32 bits make one constant.
pub(super) fn constants(data: &Located<Data>) -> Result<Vec<[u32; 4]>, Wrong> {
    let wrong = |message: String| bad(data, &ArrayError::new(message));
    let words = match &data.value {
        Data::Array(array) => array.to_f32().iter().map(|v| v.to_bits()).collect(),
        Data::File(path) if ArrayFileKind::of(path) == Some(ArrayFileKind::Npy) => {
            let items = Items::from_npy(&file(path, data)?).map_err(|e| bad(data, &e))?;
            if items.item_bytes != 4 {
                let message = format!("items have {} bytes, constants are made of items of 4 bytes", items.item_bytes);
                return Err(wrong(message));
            }
            items.dwords()
        }
        Data::File(_) => dwords(&bytes(data)?),
    };
    let (four, rest) = words.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(wrong(format!("it has {} numbers, constants have four each", words.len())));
    }
    Ok(four.to_vec())
}

/// The texels of a file, row by row: single precision, integers of 8 and 16 bits normalised; integers of 32
/// bits as they are. Channels that the file lacks are 0, the fourth 1. With it comes the format that reference values of comparisons are
/// converted to (R700 §9.4).
pub(super) fn texels(
    data: &Located<Data>,
    size: Option<[u32; 2]>,
    format: Option<&Located<Format>>,
) -> Result<(Picture, TexelFormat), Wrong> {
    let whole;
    let array = match &data.value {
        Data::Array(array) => array,
        Data::File(path) => {
            let Some(kind) = ArrayFileKind::of(path) else {
                let message =
                    format!("{} names no kind of array; known are {}", path.display(), ArrayFileKind::EXTENSIONS);
                return Err(Box::new(data.error("unknown-extension", message)));
            };
            let bytes = file(path, data)?;
            if kind == ArrayFileKind::Npy
                && let Ok(items) = Items::from_npy(&bytes)
                && items.item_bytes == 4
                && items.class != b'f'
            {
                let picture = integers(&items).map_err(|e| bad(data, &e))?;
                return Ok((picture, TexelFormat::default()));
            }
            let shape = match (size, format.map(|f| f.value)) {
                (Some([width, height]), Some(format)) => {
                    let format = match format {
                        Format::Uint16x1 => RawFormat::Uint16x1,
                        Format::Uint8x4 => RawFormat::Uint8x4,
                        Format::Float32x1 | Format::Float32x2 | Format::Float32x4 => {
                            RawFormat::Float32(format.info().channels)
                        }
                    };
                    Some(RawShape { width: width as usize, height: height as usize, format })
                }
                _ => None,
            };
            whole = Array::from_bytes(kind, &bytes, shape).map_err(|e| bad(data, &e))?;
            &whole
        }
    };
    let words: Vec<u32> = array.to_f32().iter().map(|v| v.to_bits()).collect();
    let picture = picture([array.height, array.width, array.channels], &words, 1f32.to_bits());
    Ok((picture.map_err(|e| bad(data, &e))?, array.texel_format()))
}

fn integers(items: &Items) -> Result<Picture, ArrayError> {
    let shape = match items.shape[..] {
        [w] => [1, w, 1],
        [h, w] => [h, w, 1],
        [h, w, c @ 1..=4] => [h, w, c],
        ref other => {
            return Err(ArrayError::new(format!(
                "the shape is {other:?}, textures have [w], [h, w] or [h, w, c] with c from 1 to 4"
            )));
        }
    };
    picture(shape, &items.dwords(), 1)
}

fn picture([height, width, channels]: [usize; 3], words: &[u32], one: u32) -> Result<Picture, ArrayError> {
    const MOST: usize = 1 << 16;
    if height == 0 || width == 0 || height > MOST || width > MOST {
        return Err(ArrayError::new(format!("it is {width}x{height}, textures have 1 to {MOST} columns and rows")));
    }
    let element = |c: &[u32]| std::array::from_fn(|n| c.get(n).copied().unwrap_or(if n == 3 { one } else { 0 }));
    let elements = words.chunks_exact(channels.max(1)).map(element).collect();
    let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Ok(Picture { width: side(width), height: side(height), elements })
}
