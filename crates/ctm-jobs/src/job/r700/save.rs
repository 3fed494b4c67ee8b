//! Saves the final state to files.

use crate::job::located::Located;
use crate::job::r700::model::{MemoryBlock, SavedElements, Vertex};
use crate::job::report::part;
use crate::job::surface::Rect;
use ctm_exec::arrays::Picture;
use ctm_exec::r700::VertexEvent;
use ctm_files::array::{Array, ArrayError, ArrayFileKind, ItemType, Values, npy_bytes, sides};
use ctm_files::error::JobError;
use std::path::PathBuf;

fn write(path: &Located<PathBuf>, bytes: Result<Vec<u8>, ArrayError>) -> Result<(), JobError> {
    let wrong = |message: String| JobError::Wrong(vec![path.error("cannot-write", message)]);
    let shown = path.value.display();
    let bytes = bytes.map_err(|e| wrong(format!("{shown}: {e}")))?;
    ctm_files::save(&path.value, &bytes).map_err(|e| wrong(format!("{shown} cannot be written: {e}")))
}

fn kind(path: &Located<PathBuf>) -> Result<ArrayFileKind, JobError> {
    ArrayFileKind::of(&path.value).ok_or_else(|| {
        let message =
            format!("{} names no kind of array; known are {}", path.value.display(), ArrayFileKind::EXTENSIONS);
        JobError::Wrong(vec![path.error("unknown-extension", message)])
    })
}

/// Dwords of an array of any shape. Pictures take single-precision numbers only, which was checked.
fn encode(kind: ArrayFileKind, items: ItemType, shape: &[usize], words: &[u32]) -> Result<Vec<u8>, ArrayError> {
    match kind {
        ArrayFileKind::Npy => npy_bytes(items, shape, words),
        ArrayFileKind::Raw => Ok(words.iter().flat_map(|dword| dword.to_le_bytes()).collect()),
        ArrayFileKind::Png | ArrayFileKind::Pfm => {
            let (height, width, channels) = match *shape {
                [width] => (1, width, 1),
                [height, width] => (height, width, 1),
                [height, width, channels] => (height, width, channels),
                _ => return Err(ArrayError::new("pictures have up to three sides")),
            };
            let values = Values::F32(words.iter().map(|&bits| f32::from_bits(bits)).collect());
            Array { height, width, channels, values }.to_bytes(kind)
        }
    }
}

/// Saves a rectangle of an output: with `flip` the last row first, with `flat` an `.npy` of one row without a side for rows.
pub(super) fn output(
    path: &Located<PathBuf>,
    picture: &Picture,
    rect: Rect,
    elements: SavedElements,
    (flip, flat): (bool, bool),
) -> Result<(), JobError> {
    let mut array = part(picture, rect, elements);
    if flip {
        array = array.flipped();
    }
    let kind = kind(path)?;
    if elements.items == ItemType::Float32 && kind != ArrayFileKind::Npy {
        return write(path, array.to_bytes(kind));
    }
    let words: Vec<u32> = array.to_f32().iter().map(|v| v.to_bits()).collect();
    let shape = [array.height, array.width, array.channels];
    write(path, encode(kind, elements.items, sides(&shape, flat), &words))
}

/// Saves a memory, or as much of it as its shape takes.
pub(super) fn memory(path: &Located<PathBuf>, block: &MemoryBlock, words: &[u32]) -> Result<(), JobError> {
    let per_item = block.items.bytes() / 4;
    let shape = block.shape.clone().unwrap_or_else(|| vec![words.len() / per_item]);
    let wanted = shape.iter().try_fold(per_item, |n, &side| n.checked_mul(side));
    let Some(words) = wanted.and_then(|n| words.get(..n)) else {
        let message = format!("the shape {shape:?} takes more than the {} dwords of this memory", words.len());
        return Err(JobError::Wrong(vec![path.error("bad-array", message)]));
    };
    write(path, encode(kind(path)?, block.items, &shape, words))
}

/// Saves the vertices that were emitted: i, j, number of the vertex in its thread, number of its strip.
pub(super) fn vertices(path: &Located<PathBuf>, list: &[Vertex]) -> Result<(), JobError> {
    let emitted = list.iter().filter(|v| v.event != VertexEvent::Cut);
    let words: Vec<u32> = emitted.flat_map(|v| [v.at.i, v.at.j, v.number, v.strip]).collect();
    write(path, encode(kind(path)?, ItemType::Int32, &[words.len() / 4, 4], &words))
}
