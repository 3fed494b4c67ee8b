//! Lookups of texels and of items of buffers, which machine code calls: Rust code on vectors, compiled for each instruction set.
//!
//! Denormals are flushed while it runs, as the program's code has set the processor; so every operation is one of the
//! reference's, which flush. Indices are clamped to their arrays, for any coordinates. A coordinate that repeats and is
//! too large for single precision is left to the reference.
//!
//! | file | contents |
//! |---|---|
//! | `texels` | coordinates; elements of every form, in every layout |
//! | `levels` | textures with mipmap levels, layers or faces, and all their fetches |
//! | `plain` | the usual lookups in textures with levels |
//! | `detail` | gradients, levels of detail, and the steps of anisotropic lookups |
//! | `level_lookup` | a lookup in a texture with levels |
//! | `edges` | filters across the edges of a cube's faces, and gradients there |

mod detail;
mod edges;
mod level_lookup;
mod levels;
mod plain;
mod texels;

use super::isa::Isa;
use crate::launch::wavefronts::bindings::{Binding, Items, Levels, TexelForm, Texels, takes_level_0};
use crate::launch::wavefronts::wave::{GRADIENTS, Row};
use crate::passes::table::Pass;
use ctm_exec::r700::texture::{self, Detail, is_comparison};
use ctm_exec::r700::vertex::own_plain_dwords;
use ctm_ir::masked::Fetch;
use ctm_isa::r700::inst::texel_offset;
use ctm_isa::r700::ops::TexOp;
use ctm_x86::simd::{self, Array, Do, Simd, each};
use level_lookup::LevelLookup;
use plain::Details;
use texels::LookupArray;
pub use texels::REPEATS_BELOW;

/// The kind of a lookup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Looked {
    /// The nearest texel, or a weighted sum of several; whether coordinates count texels, the offset in texels, the
    /// kind of result, and the source of the level of detail.
    Sample { unnormalised: [bool; 3], offset: [f32; 3], what: What, detail: Detail },
    /// The texel with these numbers, or zeros.
    Load { offset: [i32; 3] },
    /// The sizes of a level.
    Sizes,
    /// The item with this number, or zeros: its dwords, and the fourth element where there are fewer.
    Item { dwords: u8, one: u32 },
}

/// The result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Texels.
    Texels,
    /// The outcomes of comparing texels with a coordinate.
    Compared,
    /// The first element of the four texels that are weighed elsewhere.
    Four,
    /// The level of detail.
    Detail,
}

/// The inputs and results of a lookup.
pub struct Rows<'a> {
    /// Coordinates.
    pub at: &'a [Row; 4],
    /// Gradients and a cube that were set before.
    pub set: &'a [Row; GRADIENTS],
    /// The result. The values of lanes without a lookup are undefined.
    pub to: &'a mut [Row; 4],
    /// Lanes that look up.
    pub lanes: u64,
    /// Lanes that exist.
    pub existing: u64,
    /// Lanes of the wavefront: whole vectors.
    pub count: usize,
}

impl Looked {
    /// The kind of lookup of a fetch, if memory maps its array.
    pub fn of(fetch: &Fetch) -> Option<Self> {
        match fetch {
            Fetch::Texture(inst) => {
                let (op, word1, word2) = (inst.word0.op, &inst.word1, &inst.word2);
                let offset = [word2.offset_x, word2.offset_y, word2.offset_z].map(texel_offset);
                let unnormalised = [!word1.coord_type_x, !word1.coord_type_y, !word1.coord_type_z];
                let computed = Detail::Computed { set: false };
                let (what, detail) = match op {
                    TexOp::Ld => return Some(Self::Load { offset: offset.map(|x| x.floor() as i32) }),
                    op if takes_level_0(op) => {
                        (if is_comparison(op) { What::Compared } else { What::Texels }, texture::detail(op)?)
                    }
                    TexOp::GetTextureResinfo => return Some(Self::Sizes),
                    TexOp::Fetch4 => (What::Four, computed),
                    TexOp::GetCompTexLod => (What::Detail, computed),
                    _ => return None,
                };
                Some(Self::Sample { unnormalised, offset, what, detail })
            }
            Fetch::Vertex(inst) => {
                let (dwords, one) = own_plain_dwords(inst)?;
                Some(Self::Item { dwords: dwords as u8, one })
            }
            &Fetch::Input { unscaled, uncached: false, .. } => {
                let (unnormalised, offset, detail) = ([unscaled; 3], [0.0; 3], Detail::Zero);
                Some(Self::Sample { unnormalised, offset, what: What::Texels, detail })
            }
            Fetch::Memory(..) | Fetch::Share(..) | Fetch::Input { .. } => None,
        }
    }
}

/// Looks up in mapped arrays; returns whether that could be done. If not, the result rows are undefined.
///
/// # Safety
/// The processor has the instruction set.
#[allow(unsafe_code, reason = "the processor may lack instructions")]
pub unsafe fn look_up(isa: Isa, looked: &Looked, binding: &Binding<'_>, rows: &mut Rows<'_>) -> bool {
    // SAFETY: as above.
    unsafe {
        match binding {
            Binding::Levels(_) if !Pass::Levels.is_on() => false,
            Binding::Levels(of) if of.is_plain() && plain::is_plain(looked) => {
                let lookup = Lookup { looked, of: &**of, rows };
                match (plain::axes(of), of.form == TexelForm::Bytes) {
                    (plain::FOLDED, true) => simd::with(isa, Plain::<{ plain::FOLDED }, true>(lookup)),
                    (plain::CLAMPED, true) => simd::with(isa, Plain::<{ plain::CLAMPED }, true>(lookup)),
                    (_, true) => simd::with(isa, Plain::<{ plain::ANY }, true>(lookup)),
                    (plain::FOLDED, false) => simd::with(isa, Plain::<{ plain::FOLDED }, false>(lookup)),
                    (plain::CLAMPED, false) => simd::with(isa, Plain::<{ plain::CLAMPED }, false>(lookup)),
                    (_, false) => simd::with(isa, Plain::<{ plain::ANY }, false>(lookup)),
                }
            }
            Binding::Levels(of) => simd::with(isa, Lookup { looked, of: &**of, rows }),
            Binding::Texels(of) if of.linear && of.are_in_rows() => {
                simd::with(isa, Weighed(Lookup { looked, of, rows }))
            }
            Binding::Texels(of) => simd::with(isa, Lookup { looked, of, rows }),
            Binding::Items(of) => simd::with(isa, Lookup { looked, of, rows }),
        }
    }
}

/// A lookup of texels, of a texture with levels, or of items.
struct Lookup<'a, 'r, T> {
    looked: &'a Looked,
    of: &'a T,
    rows: &'a mut Rows<'r>,
}

/// A lookup of plain texels that are weighed.
struct Weighed<'a, 'r>(Lookup<'a, 'r, Texels<'a>>);

/// A plain lookup in levels of a plain texture: [`plain::is_plain`], [`Levels::is_plain`]. `BYTES`: [`TexelForm::Bytes`].
struct Plain<'a, 'r, const AXES: plain::Axes, const BYTES: bool>(Lookup<'a, 'r, Levels<'a>>);

/// A vector's lanes of a lookup.
struct Lanes<'a, S: Simd> {
    s: S,
    looked: &'a Looked,
    at: [S::V; 4],
    /// The values set earlier, for all lanes.
    set: &'a [Row; GRADIENTS],
    /// The number of the first lane.
    first: usize,
    existing: u32,
    /// Lanes that look up.
    wanted: u32,
    /// The reference value of comparisons.
    reference: S::V,
    /// Lanes whose coordinates are too large.
    large: S::M,
}

/// Does something for each vector with lanes that look up.
macro_rules! vectors {
    ($s:ident, $looked:expr, $rows:expr, $lanes:ident => $done:expr) => {{
        let &Rows { at, set, lanes, existing, count, .. } = &*$rows;
        for first in (0..count).step_by(S::LANES) {
            let wanted = (lanes >> first) as u32 & ((1 << S::LANES) - 1);
            if wanted == 0 {
                continue;
            }
            let (at, existing) = (each!(4, n => $s.load(&at[n][first..])), (existing >> first) as u32);
            let (large, reference) = ($s.mask(0), at[3]);
            #[allow(unused_mut, reason = "not all lookups find coordinates too large")]
            let mut $lanes = Lanes { s: $s, looked: $looked, at, set, first, existing, wanted, reference, large };
            $done
        }
    }};
}

/// Looks up each vector, and stores the result; `$found`: the result for these lanes.
macro_rules! each_vector {
    ($s:ident, $looked:expr, $rows:expr, $of:ident => $found:expr) => {{
        vectors!($s, $looked, $rows, $of => {
            let Some(found) = $found else { return false };
            if $s.bits($of.large) & $of.wanted != 0 {
                return false;
            }
            for n in 0..4 {
                $s.store(found[n], &mut $rows.to[n][$of.first..]);
            }
        });
        true
    }};
}

impl Do for Weighed<'_, '_> {
    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> bool {
        let texels = texels::TexelArray::new(s, self.0.of);
        each_vector!(s, self.0.looked, self.0.rows, lanes => lanes.texels::<true>(&texels))
    }
}

impl Do for Lookup<'_, '_, Texels<'_>> {
    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> bool {
        let texels = texels::TexelArray::new(s, self.of);
        each_vector!(s, self.looked, self.rows, lanes => lanes.texels::<false>(&texels))
    }
}

impl<const AXES: plain::Axes, const BYTES: bool> Do for Plain<'_, '_, AXES, BYTES> {
    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> bool {
        let Lookup { looked, of: levels, rows } = self.0;
        let Some(of) = LevelLookup::new(looked, levels) else { return false };
        let of = &plain::lookup::<BYTES>(of);
        let mut details = Details::new(levels);
        if let Some(details) = &mut details {
            vectors!(s, looked, rows, lanes => lanes.find_details::<AXES>(of, details));
        }
        let details = details.as_ref();
        each_vector!(s, looked, rows, lanes => Some(lanes.plain::<AXES>(of, details)))
    }
}

impl Do for Lookup<'_, '_, Levels<'_>> {
    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> bool {
        let Some(of) = &LevelLookup::new(self.looked, self.of) else { return false };
        each_vector!(s, self.looked, self.rows, lanes => Some(lanes.levels(of)))
    }
}

impl Do for Lookup<'_, '_, Items<'_>> {
    #[inline(always)]
    fn run<S: Simd>(self, s: S) -> bool {
        each_vector!(s, self.looked, self.rows, lanes => lanes.items(self.of))
    }
}

impl<S: Simd> Lanes<'_, S> {
    /// An integer clamped below a count, which is not 0, and whether it was in range.
    #[inline(always)]
    fn inside(&self, x: S::V, count: S::V) -> (S::V, S::M) {
        let s = self.s;
        let kept = s.least(x, s.sub_int(count, s.splat(1)));
        (kept, s.equal_bits(x, kept))
    }

    /// Items by integers, zeros outside.
    #[inline(always)]
    fn items(&self, items: &Items<'_>) -> Option<[S::V; 4]> {
        let &Looked::Item { dwords, one } = self.looked else { return None };
        let s = self.s;
        let (index, inside) = self.inside(s.add_int(self.at[0], s.splat(items.first)), s.splat(items.count));
        let found = if dwords == 4 && items.stride.is_multiple_of(16) {
            self.whole(
                LookupArray { array: Array::of(items.bytes), are_bytes: false, constants: None },
                s.mul_int(index, s.splat(items.stride / 16)),
            )
        } else {
            each!(4, n => if n < dwords.into() {
                let first = s.mul_int(index, s.splat(items.stride));
                self.dwords::<1>(Array::of(items.bytes), s.add_int(first, s.splat(4 * n as u32)))
            } else {
                s.splat([0, 0, 0, one][n])
            })
        };
        Some(each!(4, n => s.select(inside, found[n], s.splat(0))))
    }
}

#[cfg(all(test, unix, target_arch = "x86_64"))]
#[path = "../../../../tests/unit/codegen/x86/lookups/forms.rs"]
mod tests;
