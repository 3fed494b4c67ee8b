//! Direct access of fetches: textures and buffers that memory maps as arrays.

use ctm_exec::r700::formats::{Format, keeps_single, unsigned_fraction};
use ctm_exec::r700::resources::{Filter, MipFilter, NumberConstants, TextureKind, Wrap};
use ctm_exec::r700::sample::{FACES, filtered_axes, is_cube};
use ctm_exec::r700::texture::{self, Detail};
use ctm_exec::r700::vertex::{VertexFetch, index_offset};
use ctm_exec::r700::{Launch, Memory, Sampler, Texels as Data, Texture, Tiles};
use ctm_exec::x1k::{Elements, Form, Input};
use ctm_ir::masked::Fetch;
use ctm_isa::r700::inst::{TexFetch, VtxFetch, lod_bias};
use ctm_isa::r700::ops::{Sel, TexOp};
use ctm_isa::r700::program::Stage;

/// The array of a fetch with direct access.
pub enum Binding<'a> {
    /// Texels of a texture.
    Texels(Texels<'a>),
    /// Texels of a texture with mipmap levels, layers or faces, or looked up in other ways.
    Levels(Box<Levels<'a>>),
    /// Items of a buffer.
    Items(Items<'a>),
}

/// A texture or an input whose elements can be looked up.
#[derive(Clone, Copy)]
pub struct Texels<'a> {
    /// All elements of the columns and rows, in the layout of tiles and form.
    pub data: Data<'a>,
    /// The form of elements.
    pub form: Form,
    /// Channels of an element.
    pub channels: u8,
    /// Elements from row to row.
    pub pitch: u32,
    /// The layout of tiles, if elements are not row by row.
    pub tiles: Option<&'a Tiles>,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Bytes of memory that one texel counts.
    pub texel_bytes: u32,
    /// The wrap modes of columns and rows.
    pub wrap: [Wrap; 2],
    /// Channels of a border.
    pub border: [u32; 4],
    /// Four texels are weighed, instead of sampling the nearest one.
    pub linear: bool,
}

/// A buffer whose items can be copied.
#[derive(Clone, Copy)]
pub struct Items<'a> {
    /// All of it, from item 0 on.
    pub bytes: &'a [u8],
    /// Items within the buffer: at most 2^31 bytes.
    pub count: u32,
    /// Bytes from item to item.
    pub stride: u32,
    /// Bytes of memory that one item counts.
    pub item_bytes: u32,
    /// Added to an index, modulo 2^32.
    pub first: u32,
}

/// The form of texels of bytes: [`Memory::byte_texels`].
pub const BYTES: Form = Form::Bytes { swapped: false };
/// The most texels of a [`Binding`].
const MOST_TEXELS: usize = 1 << 28;
/// The longest row or column, so that every index is a single-precision number.
const MOST_ALONG: u32 = 1 << 23;

impl<'a> Binding<'a> {
    /// The binding of a fetch.
    pub fn of(launch: &Launch<'_>, memory: &'a dyn Memory, fetch: &Fetch) -> Option<Self> {
        let memory = resources(memory, fetch.alternate())?;
        match fetch {
            Fetch::Texture(inst) => Self::of_texture(launch.stage == Stage::Pixel, memory, inst),
            Fetch::Vertex(inst) => Items::of(launch, memory, inst).map(Self::Items),
            Fetch::Memory(..) | Fetch::Share(..) | Fetch::Input { .. } => None,
        }
    }

    /// The binding of a texture fetch. `quads`: lanes are pixels of quads.
    pub fn of_texture(quads: bool, memory: &'a dyn Memory, inst: &TexFetch) -> Option<Self> {
        let levels = || Levels::of(quads, memory, inst).map(Box::new).map(Self::Levels);
        Texels::of(memory, inst).map(Self::Texels).or_else(levels)
    }

    /// Bytes of memory that one lane counts.
    pub const fn bytes(&self) -> u32 {
        match self {
            Self::Texels(texels) => texels.texel_bytes,
            Self::Levels(levels) => levels.texture.texel_bytes,
            Self::Items(items) => items.item_bytes,
        }
    }
}

impl<'a> Texels<'a> {
    /// The binding of a lookup of a two-dimensional texture, if its level of detail does not matter.
    fn of(memory: &'a dyn Memory, inst: &TexFetch) -> Option<Self> {
        let (op, id) = (inst.word0.op, inst.word0.resource_id);
        let texture = memory.texture(id)?;
        let sampler = memory.sampler(inst.word2.sampler_id).unwrap_or_default();
        let one_level =
            sampler.mip == MipFilter::None && sampler.magnify == sampler.minify && sampler.max_anisotropy <= 1;
        let loads = op == TexOp::Ld && inst.word2.src_sel_w == Sel::Zero;
        let level_matters = !(loads || is_plain_sample(op) && one_level);
        let is_unusual = inst.word0.bc_frac_mode || sampler.bends() || texture.samples > 1;
        if texture.kind != TextureKind::TwoD || texture.levels == 0 || level_matters || is_unusual {
            return None;
        }
        let (data, form, count) = match memory.texels(id, 0) {
            Some(texels) => (Data::Dwords(texels), Form::Floats, texels.len()),
            None => {
                let texels = memory.byte_texels(id, 0)?;
                (Data::Bytes(texels.as_flattened()), BYTES, texels.len())
            }
        };
        let (width, height) = (texture.width, texture.height);
        let is_whole = count != 0 && count == width as usize * height as usize;
        if !is_whole || count > MOST_TEXELS || width.max(height) > MOST_ALONG {
            return None;
        }
        let linear = !loads && sampler.magnify == Filter::Linear;
        // Coordinates in texels do not repeat.
        let normalised = [inst.word1.coord_type_x, inst.word1.coord_type_y];
        let wrap = std::array::from_fn(|axis| match sampler.wrap[axis] {
            _ if loads => Wrap::Clamp,
            Wrap::Repeat | Wrap::Mirror if !normalised[axis] => Wrap::Clamp,
            wrap => wrap,
        });
        Some(Self {
            data,
            form,
            channels: 4,
            pitch: width,
            tiles: None,
            width,
            height,
            texel_bytes: texture.texel_bytes,
            wrap,
            border: sampler.border,
            linear,
        })
    }

    /// For an input of an X1K program; `None` when code does not look it up by itself.
    pub fn of_input(input: &Input, elements: &'a Elements<&'a [u8]>) -> Option<Self> {
        let &Elements { bytes, pitch, form, channels, ref tiles, .. } = elements;
        let (width, height, sampler) = (input.width, input.height, &input.sampler);
        let places = match tiles {
            Some(tiles) => tiles.tile_bytes.is_power_of_two() && form.element_bytes(channels).is_power_of_two(),
            // Code counts dwords in 31 bits.
            None => u64::from(pitch) * u64::from(elements.height) * u64::from(channels) <= i32::MAX as u64,
        };
        if !places || width.max(height) > MOST_ALONG || !holds(elements, input) {
            return None;
        }
        Some(Self {
            data: Data::Bytes(bytes),
            form,
            channels,
            pitch,
            tiles: tiles.as_ref(),
            width,
            height,
            texel_bytes: input.element_bytes,
            wrap: sampler.wrap,
            border: sampler.border,
            linear: sampler.filter == Filter::Linear,
        })
    }
}

impl Texels<'_> {
    /// Whether elements are four numbers each, row by row, without a border.
    pub fn are_plain(&self) -> bool {
        self.form == Form::Floats && self.are_in_rows()
    }

    /// The same of elements that may also be [`BYTES`].
    pub fn are_in_rows(&self) -> bool {
        let Self { form, channels, tiles, wrap, .. } = self;
        let are_four = *channels == 4 && matches!(*form, Form::Floats | BYTES);
        are_four && tiles.is_none() && !wrap.contains(&Wrap::Border)
    }

    /// The numbers of columns, and of rows: their count; the last one; their negated period; and 1 over the period.
    pub fn numbers(&self) -> [[f32; 4]; 2] {
        [axis_numbers(self.width, self.wrap[0]), axis_numbers(self.height, self.wrap[1])]
    }

    /// The array.
    pub fn bytes(&self) -> &[u8] {
        match self.data {
            Data::Bytes(bytes) => bytes,
            Data::Dwords(texels) => bytemuck::cast_slice(texels),
        }
    }
}

/// The numbers of an axis: its size; the last column, row or slice; the negated period; and 1 over the period.
fn axis_numbers(size: u32, wrap: Wrap) -> [f32; 4] {
    let size = size as f32;
    let period = if wrap == Wrap::Mirror { 2.0 * size } else { size };
    [size, size - 1.0, -period, 1.0 / period]
}

/// Whether coordinates repeat with a power of two.
pub const fn folds(size: u32, wrap: Wrap) -> bool {
    matches!(wrap, Wrap::Repeat) && size.is_power_of_two()
}

/// A texture of any kind, for any fetch: see [`Texels`] for the simple case.
pub struct Levels<'a> {
    /// Its kind and layout.
    pub texture: Texture,
    /// Its sampler.
    pub sampler: Sampler,
    /// The bias of the instruction and of the sampler.
    pub bias: f32,
    /// Whether anything depends on the level of detail.
    pub detail_matters: bool,
    /// Lanes are pixels of quads, so that a level of detail can be computed.
    pub quads: bool,
    /// The coordinate that a comparison compares.
    pub reference: usize,
    /// The conversion of that coordinate.
    pub compared: References,
    /// The most lookups along the longer gradient; 1: anisotropy does not matter.
    pub most_steps: u8,
    /// Linear filters read texels of other faces.
    pub over_edges: bool,
    /// The wrap modes of columns, rows and slices.
    pub wrap: [Wrap; 3],
    /// The level at the lowest address. Levels mostly lie in one allocation, but may be arrays of their own: only
    /// machine code, for which all addresses are alike, goes from this one to another.
    pub first: &'a [u8],
    /// Texels from there to the end of the last one.
    pub texels: usize,
    /// Its form of texels.
    pub form: TexelForm,
    /// Where texels are [numbers](TexelForm::Number): the elements that are not the number.
    pub constants: NumberConstants,
    /// Of each level: columns; its first texel, counted from there; texels of a slice, layer or face; then columns,
    /// rows and slices, layers or faces, as numbers.
    pub tables: [[u32; MOST_LEVELS]; 6],
    /// Of each axis in each level: the last column, row or slice; the negated period; and 1 over the period.
    pub axes: [[[u32; MOST_LEVELS]; 3]; 3],
    /// Axes that repeat with a power of two in every level.
    pub folds: [bool; 3],
}

/// A texel of a [`Levels`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TexelForm {
    /// Four numbers ([`Memory::texels`]).
    Numbers,
    /// Four bytes ([`Memory::byte_texels`]).
    Bytes,
    /// One number ([`Memory::number_texels`]).
    Number,
}

impl TexelForm {
    /// That of a texture, and its constants.
    fn of(memory: &dyn Memory, id: u8) -> (Self, NumberConstants) {
        if let Some(texels) = memory.number_texels(id, 0) {
            return (Self::Number, texels.constants);
        }
        let form = if memory.byte_texels(id, 0).is_some() { Self::Bytes } else { Self::Numbers };
        (form, [None; 4])
    }

    /// Bytes of a texel.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Numbers => 16,
            Self::Bytes | Self::Number => 4,
        }
    }

    /// The texels of a level.
    fn level(self, memory: &dyn Memory, id: u8, level: u32) -> Option<&[u8]> {
        match self {
            Self::Numbers => memory.texels(id, level).map(bytemuck::cast_slice),
            Self::Bytes => memory.byte_texels(id, level).map(<[_]>::as_flattened),
            Self::Number => memory.number_texels(id, level).map(|texels| bytemuck::cast_slice(texels.numbers)),
        }
    }
}

/// The conversion of a reference value to a number of the texture's format (R700 §9.4, SAMPLE_C).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum References {
    /// It is compared unchanged.
    AsTheyAre,
    /// It becomes the nearest fraction with this denominator, an integer of at most 2^24 - 1.
    Fractions(u32),
}

impl References {
    /// The conversion for a format; `None` where machine code has none.
    fn of(format: &Format) -> Option<Self> {
        if keeps_single(format) {
            return Some(Self::AsTheyAre);
        }
        unsigned_fraction(format).filter(|&most| most < 1 << 24).map(Self::Fractions)
    }
}

/// The most mipmap levels of a [`Binding`].
pub const MOST_LEVELS: usize = 16;

impl<'a> Levels<'a> {
    fn of(quads: bool, memory: &'a dyn Memory, inst: &TexFetch) -> Option<Self> {
        let (op, word1) = (inst.word0.op, &inst.word1);
        let texture = memory.texture(inst.word0.resource_id)?;
        let loads = matches!(op, TexOp::Ld | TexOp::GetTextureResinfo);
        let sampler = if loads { None } else { memory.sampler(inst.word2.sampler_id) }.unwrap_or_default();
        let detail = match op {
            _ if loads => Detail::Zero,
            TexOp::Fetch4 | TexOp::GetCompTexLod => Detail::Computed { set: false },
            op => texture::detail(op)?,
        };
        let detail_matters =
            sampler.mip != MipFilter::None || sampler.magnify != sampler.minify || op == TexOp::GetCompTexLod;
        let axes = filtered_axes(texture.kind);
        let cube = is_cube(texture.kind);
        // Code flushes them.
        let ordinary =
            [sampler.min_lod, sampler.max_lod, sampler.lod_bias].into_iter().all(|x| x == 0.0 || x.is_normal());
        let linear = sampler.magnify == Filter::Linear || sampler.minify == Filter::Linear;
        let over_edges = cube && linear && sampler.seamless;
        // Cubes without all faces are the reference's.
        let whole_cubes =
            texture.depth == FACES || texture.kind == TextureKind::CubeArray && texture.depth.is_multiple_of(FACES);
        let others = inst.word0.bc_frac_mode || texture.samples > 1 && op != TexOp::Ld;
        let others = others || cube && op == TexOp::Ld || over_edges && !whole_cubes;
        let others = others || op == TexOp::GetCompTexLod && !quads;
        let filters = sampler.minify == Filter::Linear && texture::detail(op).is_some() && !loads;
        let flat = matches!(texture.kind, TextureKind::TwoD | TextureKind::TwoDArray);
        let most_steps = if filters && flat { sampler.max_anisotropy.clamp(1, 16) } else { 1 };
        let compared = texture::is_comparison(op).then(|| References::of(&texture.format));
        if others || !ordinary || compared == Some(None) {
            return None;
        }
        let compared = compared.flatten().unwrap_or(References::AsTheyAre);
        let normalised = [word1.coord_type_x, word1.coord_type_y, word1.coord_type_z];
        let wrap = std::array::from_fn(|axis| match sampler.wrap[axis] {
            _ if axis >= axes => Wrap::Clamp,
            Wrap::Repeat | Wrap::Mirror if cube || !normalised[axis] => Wrap::Clamp,
            wrap => wrap,
        });
        let levels = usize::try_from(texture.levels).ok().filter(|levels| (1..=MOST_LEVELS).contains(levels))?;
        let id = inst.word0.resource_id;
        let (form, constants) = TexelForm::of(memory, id);
        let texel_bytes = form.bytes();
        let mut slices: [&[u8]; MOST_LEVELS] = [&[]; MOST_LEVELS];
        for (level, slice) in (0..).zip(&mut slices).take(levels) {
            let size = texture.size(level);
            *slice = form.level(memory, id, level)?;
            let count = slice.len() / texel_bytes;
            let fits = count <= MOST_TEXELS && size.into_iter().all(|size| (1..=MOST_ALONG).contains(&size));
            if !fits || count as u64 != size.iter().map(|&size| u64::from(size)).product::<u64>() {
                return None;
            }
        }
        let address = |slice: &[u8]| slice.as_ptr() as usize;
        let first = slices[..levels].iter().copied().min_by_key(|slice| address(slice))?;
        let (mut offsets, mut texels) = ([0; MOST_LEVELS], 0);
        for (slice, offset) in slices.iter().zip(&mut offsets).take(levels) {
            let bytes = address(slice) - address(first);
            // Code counts their dwords in 32 bits.
            let end = (bytes + slice.len()) / texel_bytes;
            let fits = bytes.is_multiple_of(texel_bytes) && end <= 1 << 30;
            *offset = u32::try_from(bytes / texel_bytes).ok().filter(|_| fits)?;
            texels = texels.max(end);
        }
        let bias = match detail {
            Detail::Computed { .. } | Detail::Biased { .. } => lod_bias(word1.lod_bias) + sampler.lod_bias,
            Detail::Given => sampler.lod_bias,
            Detail::Zero => 0.0,
        };
        let reference = texture::reference_element(op, texture.kind);
        let mut tables = [[0; MOST_LEVELS]; 6];
        let (mut axes_of_levels, mut folding) = ([[[0; MOST_LEVELS]; 3]; 3], [true; 3]);
        for (level, offset) in (0..texture.levels).zip(offsets) {
            let size = texture.size(level);
            let [width, height, depth] = size;
            for axis in 0..3 {
                folding[axis] &= folds(size[axis], wrap[axis]);
                let [_, numbers @ ..] = axis_numbers(size[axis], wrap[axis]);
                let rows = axes_of_levels[axis].iter_mut();
                rows.zip(numbers).for_each(|(row, number)| row[level as usize] = number.to_bits());
            }
            // For a one-dimensional array the layers take the place of rows, and for an array of cubes the depth is the
            // number of cubes.
            let sizes = match texture.kind {
                TextureKind::OneDArray if op == TexOp::GetTextureResinfo => [width, depth, height],
                TextureKind::CubeArray if op == TexOp::GetTextureResinfo => [width, height, depth / FACES],
                _ => [width, height, depth],
            };
            let [x, y, z] = sizes.map(|size| (size as f32).to_bits());
            let row = [width, offset, width * height, x, y, z];
            tables.iter_mut().zip(row).for_each(|(table, number)| table[level as usize] = number);
        }
        Some(Self {
            texture,
            sampler,
            bias,
            detail_matters,
            quads,
            reference,
            compared,
            most_steps,
            over_edges,
            wrap,
            first,
            texels,
            form,
            constants,
            tables,
            axes: axes_of_levels,
            folds: folding,
        })
    }
}

impl Levels<'_> {
    /// Whether the texture is two-dimensional, and its sampler only clamps, repeats and mirrors.
    pub fn is_plain(&self) -> bool {
        self.texture.kind == TextureKind::TwoD && !self.sampler.bends() && !self.wrap.contains(&Wrap::Border)
    }
}

impl<'a> Items<'a> {
    fn of(launch: &Launch<'_>, memory: &'a dyn Memory, inst: &VtxFetch) -> Option<Self> {
        let fetch = VertexFetch::new(memory, inst).ok()?;
        fetch.plain_dwords()?;
        let bytes = memory.buffer_bytes(inst.word0.buffer_id)?;
        let (stride, first_byte) = fetch.steps();
        let whole = bytes.len() as u64 == fetch.buffer_bytes() && bytes.len() <= i32::MAX as usize;
        let last = (bytes.len() as u64).checked_sub(u64::from(first_byte) + fetch.size_bytes())?;
        let count = last.checked_div(stride.into())? + 1;
        let first = index_offset(launch, inst.word0.fetch_type);
        let bytes = bytes.get(first_byte as usize..)?;
        let item_bytes = fetch.size_bytes() as u32;
        whole.then_some(Self { bytes, count: u32::try_from(count).ok()?, stride, item_bytes, first })
    }
}

/// Whether an array holds all elements of an input.
pub fn holds(elements: &Elements<&[u8]>, &Input { width, height, .. }: &Input) -> bool {
    let there = width.min(height) > 0 && width <= elements.width && height <= elements.height;
    let in_rows = elements.tiles.is_some() || elements.width <= elements.pitch;
    let whole = (1..=4).contains(&elements.channels) && elements.bytes_needed() <= elements.bytes.len() as u64;
    there && in_rows && whole
}

/// The memory whose constants and resources are named; `None` where the other program type has none.
pub fn resources(memory: &dyn Memory, alternate: bool) -> Option<&dyn Memory> {
    if alternate { memory.alternate() } else { Some(memory) }
}

/// Whether a lookup samples without comparing. It takes level 0 when there is one filter and no mipmap.
pub const fn is_plain_sample(op: TexOp) -> bool {
    takes_level_0(op) && !texture::is_comparison(op)
}

/// Whether a lookup takes level 0 of any texture with one filter and no mipmap: all SAMPLE instructions do.
pub const fn takes_level_0(op: TexOp) -> bool {
    texture::detail(op).is_some()
}
