//! Arrays of tiles as blocks: where those lie, and what routines that move them are told.

use super::panel::{Panel, Part};
use super::{LINE, Range};
use ctm_exec::arrays::Tiles;

/// A block.
pub struct Shape {
    pub element_bytes: u32,
    pub columns: u32,
    pub rows: u32,
    /// Blocks that a routine takes at once.
    pub together: u32,
}

impl Shape {
    pub const fn row_bytes(&self) -> u32 {
        self.element_bytes * self.columns
    }

    /// Columns that a routine takes at once.
    pub const fn step(&self) -> u32 {
        self.columns * self.together
    }
}

/// The blocks that have routines.
pub const SHAPES: [Shape; 4] = [
    Shape { element_bytes: 2, columns: 4, rows: 4, together: 2 },
    Shape { element_bytes: 4, columns: 4, rows: 2, together: 2 },
    Shape { element_bytes: 8, columns: 2, rows: 2, together: 2 },
    Shape { element_bytes: 16, columns: 4, rows: 1, together: 1 },
];

/// How many bytes ahead lines of tiles are prefetched, in the order of addresses: that one processors go on with by themselves; the order in which a tile's
/// lines are read they do not guess.
const PREFETCH_DISTANCE: usize = 4096;

/// An array's tiles, which consist of blocks.
#[derive(Clone)]
pub struct Blocks {
    /// Its place among [`SHAPES`].
    pub shape: usize,
    pub tiles: Tiles,
    /// Columns and rows of a tile.
    pub tile: [u32; 2],
    /// Columns and rows, up to the end of blocks.
    pub size: [u32; 2],
    /// Bytes that hold them.
    pub bytes: usize,
}

impl Blocks {
    /// `None` where there are no routines for them, or the bytes are too few.
    pub fn of(tiles: &Tiles, element_bytes: u32, [width, height]: [u32; 2], bytes: usize) -> Option<Self> {
        let shape = SHAPES.iter().position(|shape| shape.element_bytes == element_bytes)?;
        let Shape { columns, rows, .. } = SHAPES[shape];
        let (step, row) = (SHAPES[shape].step(), SHAPES[shape].row_bytes());
        let [width, height] = [width.next_multiple_of(step), height.next_multiple_of(rows)];
        // Elements of `each` columns or rows follow one another.
        let follow = |table: &[u32], count: u32, each: u32, step: u32| {
            let table = table.get(..count as usize).unwrap_or(&[]);
            let mut parts = table.chunks(each as usize);
            !table.is_empty() && parts.all(|of| of.iter().zip(0..).all(|(&place, n)| place == of[0] + n * step))
        };
        // Blocks that a routine takes at once, too, and they are whole lines.
        let lines = |table: &[u32], count: u32, each: u32| {
            let mut parts = table[..count as usize].chunks(each as usize);
            parts.all(|of| of[0].is_multiple_of(LINE as u32))
        };
        let heads: Vec<u32> = tiles.columns.iter().step_by(columns as usize).copied().collect();
        let fits = tiles.tile_bytes.is_power_of_two()
            && tiles.tile_bytes.is_multiple_of(LINE as u32)
            && follow(&tiles.columns, width, columns, element_bytes)
            && follow(&heads, width / columns, step / columns, rows * row)
            && follow(&tiles.rows, height, rows, row)
            && lines(&tiles.columns, width, step)
            && lines(&tiles.rows, height, rows)
            && tiles.last(width - 1, height - 1)? <= bytes as u64;
        // Up to where the next one begins.
        let tile = [&tiles.columns, &tiles.rows]
            .map(|table| table.iter().position(|&place| place >= tiles.tile_bytes).unwrap_or(table.len()) as u32);
        let are_whole = tile.iter().zip([step, rows]).all(|(&size, each)| size > 0 && size.is_multiple_of(each));
        (fits && are_whole).then(|| Self { shape, tiles: tiles.clone(), tile, size: [width, height], bytes })
    }

    /// What they look like.
    pub const fn shape(&self) -> &'static Shape {
        &SHAPES[self.shape]
    }

    /// Where the tile begins that a column or row lies in.
    pub const fn tile_of(&self, place: u32) -> u32 {
        place & !(self.tiles.tile_bytes - 1)
    }

    /// Whole blocks, tile by tile, as memory is fastest.
    pub fn by_tiles(&self, part: Part) -> impl Iterator<Item = Part> + use<> {
        let cut = |of: Range<u32>, step: u32| {
            let first = of.start / step;
            (first..of.end.div_ceil(step)).map(move |n| of.start.max(n * step)..of.end.min((n + 1) * step))
        };
        let [columns, rows] = self.tile;
        cut(part.y, rows).flat_map(move |y| cut(part.x.clone(), columns).map(move |x| Part { x, y: y.clone() }))
    }

    /// Whether so many bytes of tiles and so many of a panel hold whole blocks, of which there are some.
    pub fn are_held(&self, part: &Part, bytes: usize, panel: &Panel, left: usize) -> bool {
        let size = self.shape().element_bytes as usize;
        let wanted = panel.row_bytes * part.y.len().saturating_sub(1) + part.x.len() * size;
        let exists = part.x.end <= self.size[0] && part.y.end <= self.size[1];
        exists && !part.x.is_empty() && !part.y.is_empty() && self.bytes <= bytes && wanted <= left
    }

    /// What the routine is told of whole blocks that are held, of one tile.
    #[inline]
    pub fn rows(&self, array: *const u8, part: &Part, panel: &Panel) -> BlockRows {
        let [columns, rows] = [&self.tiles.columns[part.x.start as usize..], &self.tiles.rows[part.y.start as usize..]];
        let tile = [columns[0], rows[0]].map(|place| self.tile_of(place) as usize);
        BlockRows {
            columns: columns.as_ptr(),
            rows: rows.as_ptr(),
            prefetch: array.wrapping_add(tile[0] + tile[1] + PREFETCH_DISTANCE),
            count: part.y.len() as u64 / u64::from(self.shape().rows),
            within: (self.tiles.tile_bytes - 1).into(),
            pitch: panel.row_bytes as u64,
            array: 0,
            steps: 0,
            panel: 0,
        }
    }
}

/// What routines for blocks are told, and remember.
#[repr(C)]
#[derive(Debug)]
pub struct BlockRows {
    /// Where columns lie, and rows.
    pub columns: *const u32,
    pub rows: *const u32,
    /// The first line to prefetch.
    pub prefetch: *const u8,
    /// Rows of blocks.
    pub count: u64,
    /// The bits of a place within a tile.
    pub within: u64,
    /// Bytes from row to row of the panel.
    pub pitch: u64,
    /// What the routine remembers: the array, how often it takes blocks of a row, the next row of the panel.
    pub array: u64,
    pub steps: u64,
    pub panel: u64,
}
