//! Lookups of texels and of items of buffers, and the tables by which code finds them.

use super::forms::Routines;
use crate::codegen::x86::Frame;
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{Src, Vector};
use crate::ir::masked::M;
use crate::launch::wavefronts::bindings::{Binding, Texels};
use ctm_exec::float::ONE;
use ctm_exec::r700::texture::Detail;

/// A lookup of texels or items: directly where the fetch has a binding, otherwise by a call.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The fetch.
    pub fetch: u16,
    /// The call.
    pub call: u16,
    pub at: [Src; 4],
    /// The elements that somebody reads.
    pub dst: [Option<Vector>; 4],
    pub under: M,
    pub looked: Looked,
}

/// How a lookup finds what it reads.
#[derive(Clone, Copy, Debug)]
pub enum Looked {
    /// The nearest texel, or several that are weighed; whether coordinates count texels, what is added to them in texels, what is found, and where
    /// the level of detail comes from.
    Nearest { unnormalised: [bool; 3], offset: [f32; 3], what: What, detail: Detail },
    /// The texel with these numbers, or zeros.
    Load { offset: [i32; 3] },
    /// The sizes of a level.
    Sizes,
    /// The item with this number, or zeros: so many dwords, and the fourth element where they are fewer.
    Item { dwords: u8, one: u32 },
}

/// What a lookup finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Texels.
    Texels,
    /// What comparisons of texels with a coordinate give.
    Compared,
    /// The first element of the four texels that are weighed elsewhere.
    Four,
    /// The level of detail.
    Detail,
}

/// What a comparison gives besides its first element.
pub const UNCOMPARED: [u32; 4] = [0, 0, 0, ONE];

impl Looked {
    /// Whether texels are compared with a reference value.
    pub const fn compares(self) -> bool {
        matches!(self, Self::Nearest { what: What::Compared, .. })
    }

    /// Whether only textures with mipmap levels have a binding.
    pub const fn needs_levels(self) -> bool {
        matches!(self, Self::Sizes | Self::Nearest { what: What::Compared | What::Four | What::Detail, .. })
    }
}

/// Offsets in the table that a sample finds its texture or buffer by.
pub mod table {
    /// 1 if there is a binding, 2 if it has mipmap levels, layers or faces.
    pub const BOUND: i32 = 0;
    /// Pointer to the texels or items.
    pub const DATA: i32 = 8;
    /// The largest column and row, as numbers.
    pub const LAST: i32 = 16;
    /// Columns and rows, with levels slices, too: as numbers.
    pub const SIZE: i32 = 24;
    /// Columns; bytes from item to item.
    pub const WIDTH: i32 = 36;
    /// Rows; items.
    pub const HEIGHT: i32 = 40;
    /// Lanes that have looked up.
    pub const LANES: i32 = 64;
    /// After how many of them they repeat, as numbers; 0: they do not.
    pub const PERIOD: i32 = 48;
    /// One over that.
    pub const INVERSE: i32 = 72;
    /// What is added to the number of an item. It stands where textures have columns.
    pub const FIRST: i32 = LAST;
    /// Pointer to the routine that looks up, and to the one that it calls for elements (`forms`).
    pub const ROUTINE: i32 = 80;
    pub const ELEMENTS: i32 = 88;
    /// Pointers to where columns and rows begin, in tiles.
    pub const COLUMNS: i32 = 96;
    pub const ROW_PLACES: i32 = 104;
    /// The bits of a place within a tile, and of whole tiles.
    pub const WITHIN: i32 = 112;
    pub const WHOLE_TILES: i32 = 116;
    /// All bits where columns, and rows, have a border; and its channels.
    pub const BORDERED: i32 = 120;
    pub const BORDER: i32 = 128;
    /// Its size.
    pub const BYTES: i32 = 144;
}

/// Fills in a lookup's table. Without code for levels, a texture that has any has no binding.
pub fn put(frame: &mut Frame, isa: Isa, at: i32, looked: Looked, binding: Option<&Binding<'_>>) {
    let bound = match binding {
        Some(Binding::Texels(texture)) => put_texels(frame, isa, at, looked, texture).is_some(),
        Some(Binding::Items(items)) => {
            frame.put(at + table::DATA, &(items.bytes.as_ptr() as usize).to_le_bytes());
            for (place, number) in
                [(table::FIRST, items.first), (table::WIDTH, items.stride), (table::HEIGHT, items.count)]
            {
                frame.put(at + place, &number.to_le_bytes());
            }
            true
        }
        Some(Binding::Levels(_)) | None => false,
    };
    frame.put(at + table::BOUND, &u64::from(bound).to_le_bytes());
    frame.put(at + table::LANES, &0u64.to_le_bytes());
}

/// The same for texels; `None` when there are no routines for them.
fn put_texels(frame: &mut Frame, isa: Isa, at: i32, looked: Looked, texture: &Texels<'_>) -> Option<()> {
    let Texels { form, channels, tiles, borders, border, periods, width, height, .. } = *texture;
    let routines = Routines::of(isa)?;
    let (routine, elements) = (routines.lookup(looked, texture), routines.elements(form, channels, tiles.is_some())?);
    let mut pointer = |place: i32, address: usize| frame.put(at + place, &address.to_le_bytes());
    pointer(table::DATA, texture.address());
    pointer(table::ROUTINE, routine);
    pointer(table::ELEMENTS, elements);
    if let Some(tiles) = tiles {
        pointer(table::COLUMNS, tiles.columns.as_ptr() as usize);
        pointer(table::ROW_PLACES, tiles.rows.as_ptr() as usize);
    }
    let mut number = |place: i32, x: u32| frame.put(at + place, &x.to_le_bytes());
    for (axis, size) in (0..).zip([width, height]) {
        let (period, bordered) = (periods[axis as usize], borders[axis as usize]);
        for (place, x) in [
            (table::LAST, (size - 1) as f32),
            (table::SIZE, size as f32),
            (table::PERIOD, period as f32),
            (table::INVERSE, 1.0 / period as f32),
        ] {
            number(place + 4 * axis, x.to_bits());
        }
        number(table::BORDERED + 4 * axis, if bordered { u32::MAX } else { 0 });
    }
    number(table::WIDTH, texture.pitch);
    number(table::HEIGHT, height);
    (0..).zip(border).for_each(|(n, bits)| number(table::BORDER + 4 * n, bits));
    if let Some(tiles) = tiles {
        number(table::WITHIN, tiles.tile_bytes - 1);
        number(table::WHOLE_TILES, !(tiles.tile_bytes - 1));
    }
    Some(())
}
