//! Whole tiles as rows: elements in memory order.

use super::panel::PanelPart;
use super::{Blocks, Range, Stored};

/// Whole tiles side by side as one row of elements in memory order; and those below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileRows {
    /// The first byte of the first element.
    pub first: usize,
    /// Elements of a row.
    pub columns: u32,
    /// Rows of tiles.
    pub rows: u32,
    /// Elements from one row to the next.
    pub pitch: u32,
}

impl Stored {
    /// The whole tiles of a part, without those at its sides if fewer columns than `least` would be left there.
    pub fn whole_tiles(&self, part: &PanelPart, least: u32) -> Option<PanelPart> {
        let [columns, rows] = self.blocks.as_ref()?.tile;
        let [mut x, y] = [(&part.x, columns), (&part.y, rows)]
            .map(|(of, each)| of.start.next_multiple_of(each)..of.end / each * each);
        let is_narrow = |left: u32| (1..least).contains(&left);
        while !x.is_empty() && is_narrow(x.start - part.x.start) {
            x.start += columns;
        }
        while !x.is_empty() && is_narrow(part.x.end - x.end) {
            x.end -= columns;
        }
        (!x.is_empty() && !y.is_empty()).then_some(PanelPart { x, y })
    }

    /// Whole tiles as rows; `None` where they are not contiguous.
    pub fn as_rows(&self, whole: &PanelPart) -> Option<TileRows> {
        let blocks = self.blocks.as_ref()?;
        let Blocks { tiles, tile: [tile_columns, tile_rows], .. } = blocks;
        let elements = tile_columns * tile_rows;
        let tiles_across = whole.x.len() as u32 / tile_columns;
        let of = |table: &[u32], at: u32| table.get(at as usize).map(|&place| blocks.tile_of(place));
        let [first_column, first_row] = [of(&tiles.columns, whole.x.start)?, of(&tiles.rows, whole.y.start)?];
        let below = whole.y.start + tile_rows;
        let pitch =
            if below < whole.y.end { of(&tiles.rows, below)? - first_row } else { tiles_across * tiles.tile_bytes };
        // Consecutive tiles lie at a fixed step from the first one's place.
        let follow = |table: &[u32], of: &Range<u32>, each: u32, first: u32, step: u32| {
            let places = table.get(of.start as usize..of.end as usize).unwrap_or(&[]);
            let mut parts = places.chunks(each as usize).zip(0..);
            !places.is_empty()
                && parts.all(|(part, n)| part.iter().all(|&place| blocks.tile_of(place) == first + n * step))
        };
        let columns = follow(&tiles.columns, &whole.x, *tile_columns, first_column, tiles.tile_bytes);
        let rows = follow(&tiles.rows, &whole.y, *tile_rows, first_row, pitch);
        let fills = elements * self.element_bytes == tiles.tile_bytes && pitch >= tiles_across * tiles.tile_bytes;
        (columns && rows && fills).then_some(TileRows {
            first: (first_column + first_row) as usize,
            columns: tiles_across * elements,
            rows: whole.y.len() as u32 / tile_rows,
            pitch: pitch / self.element_bytes,
        })
    }

    /// Whether elements of these whole tiles have the same places within them as another array's.
    pub fn lies_like(&self, other: &Self, whole: &PanelPart) -> bool {
        let (Some(a), Some(b)) = (&self.blocks, &other.blocks) else { return false };
        let within = |of: &Blocks, place: u32| place & (of.tiles.tile_bytes - 1);
        let same = |at: std::ops::Range<u32>, tables: [&[u32]; 2]| {
            let at = at.start as usize..at.end as usize;
            let [Some(of_a), Some(of_b)] = tables.map(|table| table.get(at.clone())) else { return false };
            of_a.iter().zip(of_b).all(|(&of_a, &of_b)| within(a, of_a) == within(b, of_b))
        };
        a.tile == b.tile
            && self.element_bytes == other.element_bytes
            && same(whole.x.clone(), [&a.tiles.columns, &b.tiles.columns])
            && same(whole.y.clone(), [&a.tiles.rows, &b.tiles.rows])
    }
}
