//! Arrays: cut, emptied, thinned.

use ctm_files::array::{Array, ArrayFileKind, Items, Values};
use ctm_jobs::draw::Mesh;
use std::ops::Range;

/// The items of an array file that can be cut; pictures become arrays of the same meaning. `None`: files of another kind.
pub(super) fn read(kind: ArrayFileKind, bytes: &[u8]) -> Option<Items> {
    match kind {
        ArrayFileKind::Npy => Items::from_npy(bytes).ok(),
        ArrayFileKind::Png | ArrayFileKind::Pfm => {
            Array::from_bytes(kind, bytes, None).ok().map(|array| of_picture(&array))
        }
        ArrayFileKind::Raw => None,
    }
}

/// The items of a picture: 8 and 16 bits stay normalised integers.
fn of_picture(array: &Array) -> Items {
    let (class, item_bytes, bytes) = match &array.values {
        Values::U8(values) => (b'u', 1, values.clone()),
        Values::U16(values) => (b'u', 2, values.iter().flat_map(|value| value.to_le_bytes()).collect()),
        Values::F32(values) => (b'f', 4, values.iter().flat_map(|value| value.to_le_bytes()).collect()),
    };
    let shape = match array.channels {
        1 => vec![array.height, array.width],
        channels => vec![array.height, array.width, channels],
    };
    Items { class, item_bytes, shape, bytes }
}

/// The vertices of a mesh in the order in which they are drawn: rows of position, normal, texture coordinate and colour.
pub(super) fn of_mesh(mesh: &Mesh) -> Items {
    let mut bytes = Vec::new();
    for &index in &mesh.indices {
        let Some([position, normal, st, colour]) = mesh.vertices.get(index as usize) else { continue };
        let row = position[..3].iter().chain(&normal[..3]).chain(&st[..2]).chain(colour);
        bytes.extend(row.flat_map(|value| value.to_le_bytes()));
    }
    Items { class: b'f', item_bytes: 4, shape: vec![bytes.len() / 48, 12], bytes }
}

/// The axes along which an array can be cut: not the channels of a picture.
pub(super) fn axes(items: &Items) -> Range<usize> {
    0..items.shape.len().min(2)
}

/// Those that stay along an axis, by their numbers.
pub(super) fn chosen(items: &Items, axis: usize, stay: impl Iterator<Item = usize> + Clone) -> Items {
    let length = items.shape.get(axis).copied().unwrap_or(1);
    let outer: usize = items.shape.iter().take(axis).product();
    let inner = items.shape.iter().skip(axis + 1).product::<usize>() * items.item_bytes;
    let mut bytes = Vec::new();
    for n in 0..outer {
        for at in stay.clone() {
            let from = (n * length + at) * inner;
            bytes.extend_from_slice(items.bytes.get(from..from + inner).unwrap_or_default());
        }
    }
    let mut shape = items.shape.clone();
    if let Some(side) = shape.get_mut(axis) {
        *side = stay.count();
    }
    Items { shape, bytes, ..*items }
}

/// Zeros in a range of bytes; `None` if all of them are zeros already.
pub(super) fn emptied(bytes: &[u8], range: Range<usize>) -> Option<Vec<u8>> {
    if bytes.get(range.clone())?.iter().all(|&byte| byte == 0) {
        return None;
    }
    let mut bytes = bytes.to_vec();
    bytes[range].fill(0);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_are_chosen() {
        let items = Items { class: b'u', item_bytes: 1, shape: vec![2, 3, 2], bytes: (0..12).collect() };
        assert_eq!(chosen(&items, 0, 1..2).bytes, [6, 7, 8, 9, 10, 11]);
        let columns = chosen(&items, 1, [0, 2].into_iter());
        assert_eq!(
            (columns.shape.as_slice(), columns.bytes.as_slice()),
            (&[2, 2, 2][..], &[0, 1, 4, 5, 6, 7, 10, 11][..])
        );
        assert_eq!(emptied(&[0, 0, 5], 0..2), None);
        assert_eq!(emptied(&[0, 4, 5], 0..2), Some(vec![0, 0, 5]));
    }
}
