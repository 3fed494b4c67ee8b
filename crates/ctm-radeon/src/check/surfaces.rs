//! Rules on surfaces: targets, textures and buffers of stream output, their addresses and the needs of their array modes.
//!
//! The numbers are those of the kernel's checker for the chip that the shim shows: one pipe, four banks, groups of 256 bytes ([`Tiling::default`]).

use super::checker::Checker;
use crate::execute::{
    SpecialOp, TargetWords, TextureWords, colour_target, container, depth_target, extent, samples, special_op,
    stream_output, write_masks,
};
use crate::registers::{self, colour, depth, resource, scan, vgt};
use crate::stream::Relocation;
use crate::table::{bit, from_256, one_bit, set_bits};
use ctm_draw::layout::Tiling;
use ctm_isa::r700::ops::DataFormat;
use ctm_isa::table::FieldValue;

/// The kernel's sample count before a stream sets one.
const UNSET_SAMPLES: u32 = 16;
/// Rows that the kernel counts at most.
const MOST_ROWS: u64 = 8192;

/// A format that the kernel knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Element {
    /// Bytes of a texel, or of a block of them.
    bytes: u32,
    /// It is legal for colour targets.
    is_target: bool,
}

/// The formats that the kernel knows, by number (FORMAT, DATA_FORMAT): first and last number, bytes of an element, whether colour targets may have them.
#[rustfmt::skip]
const FORMATS: &[(u32, u32, u32, bool)] = &[
    (1,  3,  1,  true),  // 8, 4_4, 3_3_2
    (5,  12, 2,  true),  // 16 to 5_5_5_1
    (13, 27, 4,  true),  // 32 to 10_10_10_2
    (28, 32, 8,  true),  // X24_8_32_FLOAT to 16_16_16_16_FLOAT
    (34, 35, 16, true),  // 32_32_32_32, 32_32_32_32_FLOAT
    (37, 37, 1,  false), // 1
    (39, 44, 4,  false), // GB_GR, BG_RG, 32_AS_8, 32_AS_8_8, 5_9_9_9_SHAREDEXP, 8_8_8
    (45, 46, 8,  false), // 16_16_16, 16_16_16_FLOAT
    (47, 48, 12, false), // 32_32_32, 32_32_32_FLOAT
    (49, 49, 8,  false), // BC1
    (50, 51, 16, false), // BC2, BC3
    (52, 52, 8,  false), // BC4
    (53, 53, 16, false), // BC5
];

impl Element {
    fn of(format: u32) -> Option<Self> {
        let row = FORMATS.iter().find(|row| (row.0..=row.1).contains(&format))?;
        Some(Self { bytes: row.2, is_target: row.3 })
    }
}

/// The name of a format.
fn format_name(format: u32) -> String {
    DataFormat::from_bits(format).map_or_else(|| format!("format {format}"), |data| data.name().to_owned())
}

/// Alignment of a surface's pitch, rows and first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alignment {
    /// Elements of a row.
    pub pitch: u32,
    /// Rows.
    pub rows: u32,
    /// Bytes.
    pub base: u64,
}

impl Alignment {
    /// The alignment of an array mode by its number; `None` for those that the kernel refuses.
    pub(super) fn of(mode: u32, element_bytes: u32, samples: u32) -> Option<Self> {
        const TILE: u32 = 8;
        let Tiling { pipes, banks, group_bytes, .. } = Tiling::default();
        let bytes = (element_bytes * samples).max(1);
        Some(match mode {
            LINEAR_GENERAL => Self { pitch: 1, rows: 1, base: 1 },
            LINEAR_ALIGNED => {
                Self { pitch: (group_bytes / element_bytes.max(1)).max(64), rows: 1, base: group_bytes.into() }
            }
            2 => Self { pitch: (group_bytes / (TILE * bytes)).max(TILE), rows: TILE, base: group_bytes.into() },
            4 => {
                let pitch = (group_bytes * banks / (TILE * bytes)).max(banks * TILE);
                let rows = pipes * TILE;
                let tile = u64::from(banks * pipes) * u64::from(TILE * TILE * bytes);
                Self { pitch, rows, base: tile.max(u64::from(pitch) * u64::from(bytes) * u64::from(rows)) }
            }
            _ => return None,
        })
    }
}

/// The number of LINEAR_GENERAL, which may lie anywhere.
const LINEAR_GENERAL: u32 = 0;
/// The number of LINEAR_ALIGNED.
const LINEAR_ALIGNED: u32 = 1;

/// A target as the kernel sees it.
struct Seen<'a> {
    name: &'a str,
    /// The register with its address.
    base: u32,
    /// The number of its array mode.
    mode: u32,
    element_bytes: u32,
    samples: u32,
    pitch: u32,
    height: u64,
    /// Bytes of one slice, and slices.
    slice: u64,
    slices: u64,
}

/// The name of a colour target in messages.
fn colour_target_name(n: u32) -> &'static str {
    const NAMES: [&str; 8] = [
        "colour target 0",
        "colour target 1",
        "colour target 2",
        "colour target 3",
        "colour target 4",
        "colour target 5",
        "colour target 6",
        "colour target 7",
    ];
    NAMES[n as usize % NAMES.len()]
}

impl Checker<'_> {
    /// Samples of a pixel, as the kernel counts them: 16 until the stream sets a number.
    fn kernel_samples(&self) -> u32 {
        if self.written.contains(scan::PA_SC_AA_CONFIG::REGISTER.offset) || self.list.is_none() {
            samples(&self.registers)
        } else {
            UNSET_SAMPLES
        }
    }

    /// The targets of a draw; gives where they lie.
    pub(super) fn targets(&mut self) -> Vec<(u64, u64)> {
        let special = special_op(&self.registers);
        let mut ranges = Vec::new();
        // The kernel checks no target where every primitive is dropped.
        if self.registers.flag(colour::SX_MISC::MULTIPASS) {
            return ranges;
        }
        let (count, masks) = (self.kernel_samples(), write_masks(&self.registers));
        for n in 0..8u32 {
            let mask = self.registers.named_field(container!("CB_TARGET_MASK"), n as usize);
            let resolved = special == SpecialOp::Resolve && n < 2;
            if (mask == 0 && !resolved) || self.registers.nth(colour::CB_COLOR0_INFO::FORMAT, n) == 0 {
                continue;
            }
            let samples = if special == SpecialOp::Resolve && n == 1 { 1 } else { count };
            self.colour_target(n, samples);
            if let Ok(Some(target)) = colour_target(&self.registers, n, samples.min(8))
                && masks[n as usize] != 0
            {
                ranges.push((target.address, target.bytes()));
                self.in_memory(colour_target_name(n), colour::CB_COLOR0_BASE::REGISTER.at(n), &target);
            }
            let number = self.registers.nth(colour::CB_COLOR0_INFO::NUMBER_TYPE, n);
            let blends = bit(self.registers.get(colour::CB_COLOR_CONTROL::TARGET_BLEND_ENABLE), n);
            let bypasses = self.registers.nth(colour::CB_COLOR0_INFO::BLEND_BYPASS, n) == 1;
            if special == SpecialOp::Normal && matches!(number, 4 | 5) && blends && !bypasses {
                let message = format!("colour target {n} holds integers, and is blended without BLEND_BYPASS");
                self.found("integer-blend", message);
            }
        }
        use depth::DB_DEPTH_CONTROL as Control;
        if self.registers.flag(Control::Z_ENABLE) || self.registers.flag(Control::STENCIL_ENABLE) {
            self.depth_target(count);
            if let Ok(Some(target)) = depth_target(&self.registers, count.min(8)) {
                self.in_memory("the depth target", depth::DB_DEPTH_BASE::REGISTER.offset, &target);
            }
        }
        ranges
    }

    fn colour_target(&mut self, n: u32, samples: u32) {
        use colour::{CB_COLOR0_INFO as Info, CB_COLOR0_MASK as Mask, CB_COLOR0_SIZE as Size, CB_COLOR0_VIEW as View};
        let r = &self.registers;
        let (format, mode) = (r.nth(Info::FORMAT, n), r.nth(Info::ARRAY_MODE, n));
        let [pitch, _] = extent(r.nth(Size::PITCH_TILE_MAX, n), r.nth(Size::SLICE_TILE_MAX, n));
        let elements = (u64::from(r.nth(Size::SLICE_TILE_MAX, n)) + 1) * 64;
        let (tiles, masks) = (r.nth(Info::TILE_MODE, n), r.word(Mask::REGISTER, n));
        let slices = u64::from(r.nth(View::SLICE_MAX, n)) + 1;
        let name = colour_target_name(n);
        let Some(Element { bytes: element_bytes, .. }) = Element::of(format).filter(|of| of.is_target) else {
            let message = format!("{name}: {} is no format of a colour target", format_name(format));
            return self.found("target-format", message);
        };
        let mut height = (elements / u64::from(pitch)).min(MOST_ROWS);
        // The kernel allows 1D tiles whose last rows are no whole tile.
        if mode == 2 && height > 7 {
            height = height / 8 * 8;
        }
        let slice = height * u64::from(pitch) * u64::from(element_bytes * samples);
        let slices = if mode > LINEAR_ALIGNED { slices } else { 1 };
        let base = colour::CB_COLOR0_BASE::REGISTER.at(n);
        let seen = Seen { name, base, mode, element_bytes, samples, pitch, height, slice, slices };
        self.target(&seen);
        if self.list.is_none() {
            return;
        }
        // CMASK and FMASK.
        let mut parts: Vec<(&str, u32, u64)> = Vec::new();
        if tiles == 2 && samples > 1 {
            let bytes =
                u64::from(samples * samples.ilog2() * 8) * (u64::from(Mask::FMASK_TILE_MAX.field.extract(masks)) + 1);
            parts.push(("FMASK", colour::CB_COLOR0_FRAG::REGISTER.at(n), bytes));
        }
        if matches!(tiles, 1 | 2) {
            let bytes = 128 * (u64::from(Mask::CMASK_BLOCK_MAX.field.extract(masks)) + 1);
            parts.push(("CMASK", colour::CB_COLOR0_TILE::REGISTER.at(n), bytes));
        }
        if tiles == 3 {
            let message =
                format!("{name}: TILE_MODE is 3, allowed are 0 (DISABLE), 1 (CLEAR_ENABLE) and 2 (FRAG_ENABLE)");
            self.found("target-format", message);
        }
        for (what, register, bytes) in parts {
            let told = format!("the {what} of {name}");
            match self.bounds.get(&register).copied() {
                None => {
                    let message = format!("{told} is used, and its address had no relocation");
                    self.found("target-without-buffer", message);
                }
                Some(buffer) => self.reaches(&told, register, buffer, bytes, "compression-outside-buffer"),
            }
        }
    }

    fn depth_target(&mut self, samples: u32) {
        use depth::{DB_DEPTH_INFO as Info, DB_DEPTH_SIZE as Size, DB_DEPTH_VIEW as View};
        let r = &self.registers;
        let format = r.get(Info::FORMAT);
        if format == 0 {
            return;
        }
        let unset = !self.written.contains(depth::DB_DEPTH_CONTROL::REGISTER.offset);
        let name = if unset && self.list.is_some() {
            "the depth target (DB_DEPTH_CONTROL was not written: the test counts as on)"
        } else {
            "the depth target"
        };
        let element_bytes = match format {
            1 => 2,
            7 => 8,
            _ => 4,
        };
        let mode = r.get(Info::ARRAY_MODE);
        let [pitch, _] = extent(r.get(Size::PITCH_TILE_MAX), r.get(Size::SLICE_TILE_MAX));
        let elements = (u64::from(r.get(Size::SLICE_TILE_MAX)) + 1) * 64;
        let mut height = (elements / u64::from(pitch)).min(MOST_ROWS);
        if mode == 2 {
            height = height / 8 * 8;
        }
        // All ones, as drivers of old kernels left it, means the buffer's size.
        let open = Size::SLICE_TILE_MAX.field.extract(u32::MAX) == r.get(Size::SLICE_TILE_MAX);
        let slices = u64::from(r.get(View::SLICE_MAX)) + 1;
        let has_htile = r.flag(Info::TILE_SURFACE_ENABLE);
        if !matches!(mode, 2 | 4) && !open {
            let message = format!("{name}: array mode {mode}, allowed are 2 (1D_TILED_THIN1) and 4 (2D_TILED_THIN1)");
            self.found("target-format", message);
        }
        let slice = elements * u64::from(element_bytes * samples);
        let base = depth::DB_DEPTH_BASE::REGISTER.offset;
        let seen = Seen { name, base, mode, element_bytes, samples, pitch, height, slice, slices };
        if open {
            if self.list.is_some() && !self.bounds.contains_key(&base) {
                self.found("target-without-buffer", format!("{name} is used, and its address had no relocation"));
            } else if self.list.is_some() && !self.written.contains(Size::REGISTER.offset) {
                self.found("target-format", format!("{name} has no size: DB_DEPTH_SIZE was not written"));
            }
        } else {
            self.target(&seen);
        }
        if has_htile && self.list.is_some() {
            self.htile(pitch, height, open);
        }
    }

    /// The surface of coarse depth.
    fn htile(&mut self, pitch: u32, height: u64, open: bool) {
        let register = depth::DB_HTILE_DATA_BASE::REGISTER.offset;
        let Some(buffer) = self.bounds.get(&register).copied() else {
            let message = "HTILE is on (DB_DEPTH_INFO.TILE_SURFACE_ENABLE), and its address had no relocation";
            return self.found("target-without-buffer", message.into());
        };
        if open {
            let message = "HTILE is on (DB_DEPTH_INFO.TILE_SURFACE_ENABLE), and DB_DEPTH_SIZE says no size";
            return self.found("target-alignment", message.into());
        }
        let pipes = u64::from(Tiling::default().pipes);
        let linear = self.registers.flag(depth::DB_HTILE_SURFACE::LINEAR);
        let unit = if linear { [16 * 8, pipes * 8] } else { [32 * 8, 16 * 8] };
        let tiles = u64::from(pitch).next_multiple_of(unit[0]) / 8 * (height.next_multiple_of(unit[1]) / 8);
        let bytes = (4 * tiles).next_multiple_of(pipes * 2048);
        self.reaches("HTILE", register, buffer, bytes, "compression-outside-buffer");
    }

    /// Whether `bytes` from the address that a register holds on lie in its buffer.
    fn reaches(&mut self, what: &str, register: u32, buffer: Relocation, bytes: u64, rule: &'static str) {
        let offset = from_256(self.registers.at(register)).wrapping_sub(buffer.base);
        if offset.saturating_add(bytes) > buffer.size {
            let message = format!(
                "{what} has {bytes} bytes from {offset:#x} on, the buffer {} has {}",
                buffer.handle, buffer.size
            );
            self.found(rule, message);
        }
    }

    /// Pitch, rows, first byte and size of a target.
    fn target(&mut self, seen: &Seen<'_>) {
        let &Seen { name, base, mode, element_bytes, samples, pitch, height, slice, slices } = seen;
        let Some(alignment) = Alignment::of(mode, element_bytes, samples) else {
            let message = format!(
                "{name}: array mode {mode}, allowed are 0 (LINEAR_GENERAL), 1 (LINEAR_ALIGNED), 2 (1D_TILED_THIN1) and 4 (2D_TILED_THIN1)"
            );
            return self.found("target-format", message);
        };
        if !pitch.is_multiple_of(alignment.pitch) {
            let message = format!("{name} has a pitch of {pitch}, allowed are multiples of {}", alignment.pitch);
            self.found("target-alignment", message);
        }
        if !height.is_multiple_of(alignment.rows.into()) {
            let message = format!("{name} has {height} rows, allowed are multiples of {}", alignment.rows);
            self.found("target-alignment", message);
        }
        let address = from_256(self.registers.at(base));
        // Without relocations the address is an offset into a buffer that is not known.
        let Some(buffer) = self.bounds.get(&base).copied() else {
            if self.absolute && !address.is_multiple_of(alignment.base) {
                let message = format!("{name} begins at {address:#x}, allowed are multiples of {}", alignment.base);
                self.found("target-alignment", message);
            }
            if self.list.is_some() {
                self.found("target-without-buffer", format!("{name} is drawn to, and its address had no relocation"));
            }
            return;
        };
        if !address.is_multiple_of(alignment.base) {
            let message = format!(
                "{name} begins at {:#x} of its buffer, allowed are multiples of {}",
                address.wrapping_sub(buffer.base),
                alignment.base
            );
            self.found("target-alignment", message);
        }
        let offset = address.wrapping_sub(buffer.base);
        let end = offset.saturating_add(slice.saturating_mul(slices));
        // The kernel allows LINEAR_GENERAL to end after its buffer, as old drivers gave it too many rows.
        if mode != LINEAR_GENERAL && end > buffer.size {
            let message = format!(
                "{name} is {pitch} x {height} with {slices} slices from {offset:#x} on and ends at {end:#x}, the buffer {} has {:#x} bytes",
                buffer.handle, buffer.size
            );
            self.found("target-outside-buffer", message);
        }
    }

    /// Of absolute addresses: whether a target lies in memory.
    fn in_memory(&mut self, name: &str, register: u32, target: &TargetWords) {
        // A register's name is an allocation, which streams with relocations do without.
        if self.absolute {
            self.reached(name, &registers::name(register), target.address, target.bytes());
        }
    }

    /// The buffers of stream output.
    pub(super) fn streams(&mut self) {
        let Some(streams) = stream_output(&self.registers) else { return };
        for n in set_bits(streams.buffers.into()) {
            let base = vgt::VGT_STRMOUT_BUFFER_BASE_0::REGISTER.at(n);
            let size = u64::from(self.registers.word(vgt::VGT_STRMOUT_BUFFER_SIZE_0::REGISTER, n)) * 4;
            let name = format!("stream output buffer {n}");
            let address = from_256(self.registers.at(base));
            self.reached(&name, &registers::name(base), address, size);
            match self.bounds.get(&base).copied() {
                Some(buffer) => self.reaches(&name, base, buffer, size, "stream-outside-buffer"),
                None if self.list.is_some() => {
                    let message = format!("{name} is written, and its address had no relocation");
                    self.found("target-without-buffer", message);
                }
                None => {}
            }
        }
    }

    /// A texture of seven words with absolute addresses, with the buffers of level 0 and of the others.
    pub(super) fn texture(&mut self, number: u32, words: &[u32; 7], buffers: [Option<Relocation>; 2]) {
        use resource::{
            SQ_TEX_RESOURCE_WORD0_0 as Word0, SQ_TEX_RESOURCE_WORD1_0 as Word1, SQ_TEX_RESOURCE_WORD5_0 as Word5,
        };
        let of = |bits| resource::field(words, bits);
        let format = of(Word1::DATA_FORMAT);
        let Some(element) = Element::of(format) else {
            let message = format!("resource {number}: {} is no format of a texture", format_name(format));
            return self.found("texture-format", message);
        };
        let (mode, dim) = (of(Word0::TILE_MODE), of(Word0::DIM));
        let samples = if matches!(dim, 6 | 7) { one_bit(of(Word5::LAST_LEVEL).min(3)) } else { 1 };
        let Some(alignment) = Alignment::of(mode, element.bytes, samples) else {
            let message = format!(
                "resource {number}: array mode {mode}, allowed are 0 (LINEAR_GENERAL), 1 (LINEAR_ALIGNED), 2 (1D_TILED_THIN1) and 4 (2D_TILED_THIN1)"
            );
            return self.found("texture-format", message);
        };
        let pitch = (of(Word0::PITCH) + 1) * 8;
        if !pitch.is_multiple_of(alignment.pitch) {
            let message =
                format!("resource {number}: a pitch of {pitch} texels, allowed are multiples of {}", alignment.pitch);
            self.found("texture-alignment", message);
        }
        for (word, (what, buffer)) in [("level 0", buffers[0]), ("level 1", buffers[1])].into_iter().enumerate() {
            let address = from_256(words[2 + word]);
            if (buffer.is_some() || self.absolute) && !address.is_multiple_of(alignment.base) {
                let place = match buffer {
                    Some(buffer) => format!("{:#x} of its buffer", address.wrapping_sub(buffer.base)),
                    None => format!("{address:#x}"),
                };
                let message =
                    format!("resource {number}: {what} begins at {place}, allowed are multiples of {}", alignment.base);
                self.found("texture-alignment", message);
            }
        }
        let of = match TextureWords::of(words) {
            Ok(of) => of,
            Err(error) => return self.found("texture-not-read", format!("resource {number}: {}", error.message)),
        };
        let ranges = of.ranges();
        // The kernel ignores the padding of the last slices; only bytes that programs can reach count.
        let reach = |level: &ctm_draw::levels::Level, layers: u32| {
            let slices = match of.surface.kind {
                ctm_exec::r700::resources::TextureKind::ThreeD => level.size[2],
                _ => of.first[1] + layers,
            };
            level.layout.slice_bytes() * u64::from(slices)
        };
        for (n, (range, buffer)) in ranges.iter().zip(buffers).enumerate() {
            let Some(buffer) = buffer else { continue };
            let layers = of.surface.depth;
            let end = if n == 0 {
                of.levels.first().map_or(0, |(at, level)| at.saturating_add(reach(level, layers)))
            } else {
                of.levels.iter().skip(1).map(|(at, level)| at.saturating_add(reach(level, layers))).max().unwrap_or(0)
            };
            if range.1 > 0 && end > buffer.base.saturating_add(buffer.size) {
                let message = format!(
                    "resource {number}: {} ends {:#x} bytes behind the start of the buffer {}, which has {:#x}",
                    if n == 0 { "level 0" } else { "its last level" },
                    end.saturating_sub(buffer.base),
                    buffer.handle,
                    buffer.size
                );
                self.found(if n == 0 { "texture-outside-buffer" } else { "levels-outside-buffer" }, message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formulas of the kernel's checker, worked out by hand for one pipe, four banks and groups of 256 bytes.
    #[test]
    fn alignments_are_the_kernels() {
        let table = [
            ((0, 16, 1), Some((1, 1, 1))),
            ((1, 1, 1), Some((256, 1, 256))),
            ((1, 2, 1), Some((128, 1, 256))),
            ((1, 4, 1), Some((64, 1, 256))),
            ((1, 16, 1), Some((64, 1, 256))),
            ((2, 1, 1), Some((32, 8, 256))),
            ((2, 4, 1), Some((8, 8, 256))),
            ((4, 1, 1), Some((128, 8, 1024))),
            ((4, 4, 1), Some((32, 8, 1024))),
            ((4, 16, 1), Some((32, 8, 4096))),
            ((4, 4, 4), Some((32, 8, 4096))),
            ((3, 4, 1), None),
        ];
        for ((mode, bytes, samples), expected) in table {
            let found = Alignment::of(mode, bytes, samples).map(|of| (of.pitch, of.rows, of.base));
            assert_eq!(found, expected, "mode {mode}, {bytes} bytes, {samples} samples");
        }
    }
}
