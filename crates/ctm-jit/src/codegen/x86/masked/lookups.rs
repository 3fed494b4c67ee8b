//! Lookups of texels and of items of buffers, and the tables by which code finds them.

use super::forms::Routines;
use crate::codegen::x86::Frame;
use crate::codegen::x86::isa::Isa;
use crate::codegen::x86::lir::{Src, Vector};
use crate::ir::masked::M;
use crate::launch::wavefronts::bindings::{Binding, Texels};
use ctm_exec::float::ONE;
use ctm_exec::r700::resources::Compare;
use ctm_exec::r700::sample::compared;
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
        matches!(self, Self::Sizes | Self::Nearest { what: What::Four | What::Detail, .. })
    }

    /// Whether texels may lie where routines find them (`forms`).
    pub const fn has_forms(self) -> bool {
        matches!(self, Self::Nearest { what: What::Texels, .. })
    }
}

/// Offsets in the table that a sample finds its texture or buffer by.
pub mod table {
    /// 1 if there is a binding, 2 if it weighs texels, 3 if it has mipmap levels, layers or faces, 4 if a routine looks up (`forms`).
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
    /// What a comparison gives if the reference value is no number or the texel is none; then by what that changes where the reference is less,
    /// where it is equal, and where it is greater.
    pub const COMPARED: i32 = 80;
    /// Pointer to the routine that looks up, and to the one that it calls for elements.
    pub const ROUTINE: i32 = 96;
    pub const ELEMENTS: i32 = 104;
    /// Pointers to where columns and rows begin, in tiles.
    pub const COLUMNS: i32 = 112;
    pub const ROW_PLACES: i32 = 120;
    /// The bits of a place within a tile, and of whole tiles.
    pub const WITHIN: i32 = 128;
    pub const WHOLE_TILES: i32 = 132;
    /// All bits where columns, and rows, have a border; and its channels.
    pub const BORDERED: i32 = 136;
    pub const BORDER: i32 = 144;
    /// Its size.
    pub const BYTES: i32 = 160;
}

/// See [`table::COMPARED`].
pub fn outcomes(compare: Compare) -> [u32; 4] {
    let of = |reference: f32| compared(compare, reference, 1f32.to_bits())[0];
    let unordered = of(f32::NAN);
    [unordered, of(0.0) ^ unordered, of(1.0) ^ unordered, of(2.0) ^ unordered]
}

/// Fills in a lookup's table.
pub fn put(frame: &mut Frame, isa: Isa, at: i32, binding: Option<&Binding<'_>>) {
    let bound = match binding {
        None => 0,
        Some(Binding::Texels(texture)) if !texture.is_plain() => {
            put_routines(frame, isa, at, texture).map_or(0, |()| 4)
        }
        Some(binding) => 1 + u64::from(binding.is_linear()),
    };
    frame.put(at + table::BOUND, &bound.to_le_bytes());
    frame.put(at + table::LANES, &0u64.to_le_bytes());
    let Some(binding) = binding else { return };
    match binding {
        Binding::Texels(texture) => {
            frame.put(at + table::DATA, &texture.address().to_le_bytes());
            let mut number =
                |place: i32, axis: i32, x: f32| frame.put(at + place + 4 * axis, &x.to_bits().to_le_bytes());
            for (axis, size) in [texture.width, texture.height].into_iter().enumerate() {
                let (axis, period) = (axis as i32, texture.periods[axis]);
                number(table::LAST, axis, (size - 1) as f32);
                number(table::SIZE, axis, size as f32);
                number(table::PERIOD, axis, period as f32);
                number(table::INVERSE, axis, 1.0 / period as f32);
            }
            for (n, bits) in (0..).zip(outcomes(texture.compare)) {
                frame.put(at + table::COMPARED + 4 * n, &bits.to_le_bytes());
            }
            frame.put(at + table::WIDTH, &texture.pitch.to_le_bytes());
            frame.put(at + table::HEIGHT, &texture.height.to_le_bytes());
        }
        Binding::Levels(_) => {}
        Binding::Items(items) => {
            frame.put(at + table::DATA, &(items.bytes.as_ptr() as usize).to_le_bytes());
            frame.put(at + table::FIRST, &items.first.to_le_bytes());
            frame.put(at + table::WIDTH, &items.stride.to_le_bytes());
            frame.put(at + table::HEIGHT, &items.count.to_le_bytes());
        }
    }
}

/// Names the routines for elements of every form, and what only they need; `None` when there are none.
fn put_routines(frame: &mut Frame, isa: Isa, at: i32, texture: &Texels<'_>) -> Option<()> {
    let Texels { form, channels, tiles, borders, border, linear, .. } = *texture;
    let routines = Routines::of(isa)?;
    let elements = routines.elements(form, channels, tiles.is_some())?;
    let mut pointer = |place: i32, address: usize| frame.put(at + place, &address.to_le_bytes());
    pointer(table::ROUTINE, routines.lookup(linear, borders != [false; 2]));
    pointer(table::ELEMENTS, elements);
    let mut number = |place: i32, x: u32| frame.put(at + place, &x.to_le_bytes());
    for (axis, bordered) in (0..).zip(borders) {
        number(table::BORDERED + 4 * axis, if bordered { u32::MAX } else { 0 });
    }
    (0..).zip(border).for_each(|(n, bits)| number(table::BORDER + 4 * n, bits));
    if let Some(tiles) = tiles {
        number(table::WITHIN, tiles.tile_bytes - 1);
        number(table::WHOLE_TILES, !(tiles.tile_bytes - 1));
        for (place, of) in [(table::COLUMNS, &tiles.columns), (table::ROW_PLACES, &tiles.rows)] {
            frame.put(at + place, &(of.as_ptr() as usize).to_le_bytes());
        }
    }
    Some(())
}
