//! Elements of tiles as rows.

use std::ops::Range;

/// Copies elements of `BYTES` bytes out of tiles of 8x8 into consecutive rows. `tile`: the offsets of a tile's elements from its first one;
/// `first`: the offset in the slice of the tile with a column and row. Elements after the slice's end stay.
pub(super) fn untile<const BYTES: usize>(
    slice: &[u8],
    tile: &[u32; 64],
    lines: Range<u32>,
    to: &mut [u8],
    first: impl Fn(u32, u32) -> usize,
) {
    // Elements that follow each other in each row are copied together.
    let follow = |count: usize| {
        tile.chunks(count).all(|run| run.iter().zip((0..).step_by(BYTES)).all(|(&at, more)| at == run[0] + more))
    };
    match BYTES {
        ..=2 if follow(8) => untile_runs::<BYTES, 8>(slice, tile, lines, to, first),
        ..=4 if follow(4) => untile_runs::<BYTES, 4>(slice, tile, lines, to, first),
        ..=8 if follow(2) => untile_runs::<BYTES, 2>(slice, tile, lines, to, first),
        _ => untile_runs::<BYTES, 1>(slice, tile, lines, to, first),
    }
}

/// The same, `RUN` elements at a time.
fn untile_runs<const BYTES: usize, const RUN: usize>(
    slice: &[u8],
    tile: &[u32; 64],
    lines: Range<u32>,
    to: &mut [u8],
    first: impl Fn(u32, u32) -> usize,
) {
    let to = to.as_chunks_mut::<BYTES>().0;
    let columns = to.len() / lines.len().max(1);
    let size = tile.iter().max().map_or(0, |&last| last as usize + BYTES);
    let mut y = lines.start;
    while y < lines.end {
        // Rows of this tile.
        let end = (y / 8 * 8 + 8).min(lines.end);
        for (x, column) in (0..).step_by(8).zip((0..columns).step_by(8)) {
            let elements = slice.get(first(x, y)..).unwrap_or_default();
            let count = (columns - column).min(8);
            let whole = elements.get(..size).filter(|_| count == 8);
            for y in y..end {
                let row = &mut to[(y - lines.start) as usize * columns + column..][..count];
                let places = &tile[y as usize % 8 * 8..][..8];
                if let Some(elements) = whole {
                    for (run, places) in row.as_chunks_mut::<RUN>().0.iter_mut().zip(places.as_chunks::<RUN>().0) {
                        if let Some(found) = elements.get(places[0] as usize..) {
                            let run = run.as_flattened_mut();
                            run.copy_from_slice(&found[..run.len()]);
                        }
                    }
                    continue;
                }
                for (element, &place) in row.iter_mut().zip(places) {
                    if let Some(found) = elements.get(place as usize..).and_then(|rest| rest.first_chunk()) {
                        *element = *found;
                    }
                }
            }
        }
        y = end;
    }
}
