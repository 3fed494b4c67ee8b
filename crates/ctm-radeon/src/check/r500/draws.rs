//! The parts of a draw: targets, arrays of vertices, textures, and the state that keeps all pixels from the targets.

use super::sizes::{depth_bytes, pixel_bytes};
use super::{R500Checker, TARGETS, TrackedUnit, UNITS, UNSET_SIDE};
use crate::packets::words::{VertexFetch, Walk};
use crate::registers::{colour, depth, scan, setup, spi, texture, vgt};
use crate::table::{Bits, bit, one_bit, set_bits};
use colour::r500 as rb;
use depth::r500 as zb;
use texture::r500 as tx;
use vgt::r500 as vap;

impl R500Checker<'_> {
    /// A draw: `vertex_words` words of vertices follow its initiator.
    pub(super) fn draw(&mut self, initiator: VertexFetch, vertex_words: usize) {
        self.registers.set(vap::VAP_VF_CNTL::REGISTER.offset, initiator.0);
        self.index_size = initiator.index_size();
        self.colour_targets();
        self.depth_target();
        self.resolve_target();
        self.vertices(initiator, vertex_words);
        if std::mem::take(&mut self.changed.textures) {
            let enabled = self.registers.get(tx::TX_ENABLE::TEX_ENABLE);
            for n in set_bits(enabled).filter(|&n| n < UNITS) {
                self.texture(n);
            }
        }
        self.state();
    }

    /// Rows of the targets that draws may reach.
    fn rows(&self) -> u64 {
        self.field_or(scan::r500::SC_SCISSOR1::YS1, 0, 4095) + 1
    }

    /// Compares a target with its buffer: `base` is the register with its address.
    fn target(&mut self, name: &str, base: u32, pitch: u64, bytes: u64) {
        if self.list.is_none() {
            return;
        }
        let Some(buffer) = self.bounds.get(&base).copied() else {
            let message = format!("{name} is drawn to, and its address had no relocation");
            return self.found("target-without-buffer", message);
        };
        let (rows, offset) = (self.rows(), u64::from(self.registers.at(base)));
        let end = pitch * bytes * rows + offset;
        if end > buffer.size {
            let message = format!(
                "{name} has {rows} rows of {pitch} pixels of {bytes} bytes from {offset:#x} on and ends at {end:#x}, the buffer {} has {:#x} bytes",
                buffer.handle, buffer.size
            );
            self.found("target-outside-buffer", message);
        }
    }

    fn pixel_bytes_of(&self, n: u32) -> u64 {
        let written = self.written.contains(&rb::RB3D_COLORPITCH0::REGISTER.at(n));
        let format = self.registers.nth(rb::RB3D_COLORPITCH0::COLORFORMAT, n);
        pixel_bytes(format).filter(|_| written).unwrap_or(16)
    }

    fn colour_targets(&mut self) {
        if !std::mem::take(&mut self.changed.colour) {
            return;
        }
        let r = &self.registers;
        let clears = r.flag(zb::ZB_BW_CNTL::ZB_CB_CLEAR);
        let reads = r.flag(rb::RB3D_BLENDCNTL::READ_ENABLE);
        let mask = r.word(rb::RB3D_COLOR_CHANNEL_MASK::REGISTER, 0);
        if !clears && !reads && mask == 0 {
            return;
        }
        let count = self.field_or(rb::RB3D_CCTL::NUM_MULTIWRITES, 0, u64::from(TARGETS) - 1) as u32 + 1;
        for n in 0..count {
            let pitch = self.field_or(rb::RB3D_COLORPITCH0::COLORPITCH, n, 4096) * 2;
            let base = rb::RB3D_COLOROFFSET0::REGISTER.at(n);
            self.target(&format!("colour target {n}"), base, pitch, self.pixel_bytes_of(n));
        }
    }

    fn depth_target(&mut self) {
        if !std::mem::take(&mut self.changed.depth) || self.field_or(zb::ZB_CNTL::Z_ENABLE, 0, 1) == 0 {
            return;
        }
        let pitch = self.field_or(zb::ZB_DEPTHPITCH::DEPTHPITCH, 0, 2048) * 4;
        let format = self.field_or(zb::ZB_FORMAT::DEPTHFORMAT, 0, 2) as u32;
        let base = zb::ZB_DEPTHOFFSET::REGISTER.offset;
        self.target("the depth target", base, pitch, depth_bytes(format).unwrap_or(4));
    }

    fn resolve_target(&mut self) {
        let resolves = self.registers.flag(rb::RB3D_AARESOLVE_CTL::AARESOLVE_MODE);
        if !std::mem::take(&mut self.changed.resolve) || !resolves {
            return;
        }
        let pitch = u64::from(self.registers.get(rb::RB3D_AARESOLVE_PITCH::AARESOLVE_PITCH)) * 2;
        let base = rb::RB3D_AARESOLVE_OFFSET::REGISTER.offset;
        self.target("the target of the resolve", base, pitch, self.pixel_bytes_of(0));
    }

    /// The vertices of a draw: in arrays, or in the packet.
    fn vertices(&mut self, initiator: VertexFetch, vertex_words: usize) {
        let count = if initiator.use_alt_num_verts() {
            self.registers.get(vap::VAP_ALT_NUM_VERTICES::NUM_VERTICES)
        } else {
            initiator.num_vertices()
        };
        let last = match initiator.prim_walk() {
            Some(Walk::Indices) => self.field_or(vap::VAP_VF_MAX_VTX_INDX::MAX_INDX, 0, 0x00ff_ffff),
            Some(Walk::VertexList) => u64::from(count.saturating_sub(1)),
            Some(Walk::Embedded) => {
                let size = self.field_or(vap::VAP_VTX_SIZE::DWORDS_PER_VTX, 0, 0x7f);
                if size * u64::from(count) != vertex_words as u64 {
                    let message = format!(
                        "{count} vertices of {size} dwords (VAP_VTX_SIZE) need {} words, {vertex_words} follow",
                        size * u64::from(count)
                    );
                    self.found("vertex-count", message);
                }
                return;
            }
            Some(Walk::State) | None => {
                let message =
                    "PRIM_WALK is 0 (STATE), allowed are 1 (INDICES), 2 (VERTEX_LIST) and 3 (VERTEX_EMBEDDED)";
                return self.found("bad-walk", message.into());
            }
        };
        if self.list.is_none() {
            return;
        }
        let Some(arrays) = &self.arrays else {
            return self.found("array-without-buffer", "vertices come from arrays, and the stream sets none".into());
        };
        let mut wrong = Vec::new();
        for (n, (array, buffer)) in arrays.iter().enumerate() {
            // A missing relocation has been reported.
            let Some(buffer) = buffer else { continue };
            let bytes = 4 * u64::from(array.stride) * last;
            let end = u64::from(array.address) + bytes + 4 * u64::from(array.size);
            let told = format!("array {n} (stride {} dwords, last vertex {last})", array.stride);
            if bytes > buffer.size {
                let message = format!("{told} has {bytes} bytes, the buffer {} has {}", buffer.handle, buffer.size);
                wrong.push(("array-outside-buffer", message));
            } else if initiator.prim_walk() == Some(Walk::VertexList) && end > buffer.size {
                let message = format!(
                    "{told} begins at {:#x} and ends at {end:#x}, the buffer {} has {:#x} bytes",
                    array.address, buffer.handle, buffer.size
                );
                wrong.push(("vertices-outside-buffer", message));
            }
        }
        wrong.into_iter().for_each(|(rule, message)| self.found(rule, message));
    }

    /// A texture unit that is on.
    fn texture(&mut self, n: u32) {
        if self.list.is_none() {
            return;
        }
        let base = tx::TX_OFFSET_0::REGISTER.at(n);
        let Some(buffer) = self.bounds.get(&base).copied() else {
            return self
                .found("texture-without-buffer", format!("texture unit {n} is on, and its address had no relocation"));
        };
        let kind = self.field_or(tx::TX_FORMAT1_0::TEX_COORD_TYPE, n, 1);
        if kind > 2 {
            let message = format!("texture unit {n}: TEX_COORD_TYPE 3, allowed are 0 (2D), 1 (3D) and 2 (CUBE)");
            return self.found("texture-format", message);
        }
        let upper = |bits: Bits| self.field_or(bits, n, 1) * u64::from(one_bit(11));
        let side = |bits: Bits, upper: u64| match self.written.contains(&bits.register.at(n)) {
            true => (u64::from(self.registers.nth(bits, n)) + 1) | upper,
            false => UNSET_SIDE | upper,
        };
        let width = side(tx::TX_FORMAT0_0::TXWIDTH, upper(tx::TX_FORMAT2_0::TXWIDTH_11));
        let height = side(tx::TX_FORMAT0_0::TXHEIGHT, upper(tx::TX_FORMAT2_0::TXHEIGHT_11));
        let pitch = self.field_or(tx::TX_FORMAT2_0::TXPITCH, n, UNSET_SIDE - 1) + 1;
        let has_pitch = self.registers.nth(tx::TX_FORMAT0_0::TXPITCH_EN, n) == 1;
        let levels = self.field_or(tx::TX_FORMAT0_0::NUM_LEVELS, n, 12);
        let depth = self.field_or(tx::TX_FORMAT0_0::TXDEPTH, n, 16);
        let TrackedUnit { bytes, blocks, rounds } = self.units[n as usize];
        let rounded = |side: u64, rounds: bool| if rounds { side.next_power_of_two() } else { side };
        let mut size = 0u64;
        for level in 0..=levels {
            let w = if has_pitch { pitch >> level } else { rounded(width >> level, rounds[0]) };
            let h = rounded(height >> level, rounds[1]);
            let slices = if kind == 1 { (1u64 << depth >> level).max(1) } else { 1 };
            size += blocks.size(w, h) * slices;
        }
        size *= bytes * if kind == 2 { 6 } else { 1 };
        if size > buffer.size {
            let message = format!(
                "texture unit {n}: {width} x {height} with {} levels needs {size} bytes, the buffer {} has {}",
                levels + 1,
                buffer.handle,
                buffer.size
            );
            self.found("texture-outside-buffer", message);
        }
    }

    /// State that keeps all pixels of a draw from the targets.
    fn state(&mut self) {
        if self.registers.flag(vap::VAP_CNTL::VAP_NO_RENDER) {
            return self.found("no-render", "VAP_CNTL.VAP_NO_RENDER is set: nothing is drawn".into());
        }
        let corner = |x: Bits, y: Bits| [self.registers.get(x), self.registers.get(y)];
        let first = corner(scan::r500::SC_SCISSOR0::XS0, scan::r500::SC_SCISSOR0::YS0);
        let last = corner(scan::r500::SC_SCISSOR1::XS1, scan::r500::SC_SCISSOR1::YS1);
        let written = self.written.contains(&scan::r500::SC_SCISSOR1::REGISTER.offset);
        if written && (first[0] > last[0] || first[1] > last[1]) {
            let message = format!(
                "the scissor is empty, {},{} to {},{} (SC_SCISSOR0 and SC_SCISSOR1): no pixel is drawn",
                first[0], first[1], last[0], last[1]
            );
            self.found("empty-scissor", message);
        }
        self.inputs();
    }

    /// Interpolated values that the vertex has not.
    fn inputs(&mut self) {
        use spi::r500 as rs;
        let r = &self.registers;
        let mut components = 0;
        let stuffed = r.word(setup::r500::GB_ENABLE::REGISTER, 0);
        let sources: [Bits; 8] = [
            setup::r500::GB_ENABLE::TEX0_SOURCE,
            setup::r500::GB_ENABLE::TEX1_SOURCE,
            setup::r500::GB_ENABLE::TEX2_SOURCE,
            setup::r500::GB_ENABLE::TEX3_SOURCE,
            setup::r500::GB_ENABLE::TEX4_SOURCE,
            setup::r500::GB_ENABLE::TEX5_SOURCE,
            setup::r500::GB_ENABLE::TEX6_SOURCE,
            setup::r500::GB_ENABLE::TEX7_SOURCE,
        ];
        for (source, count) in sources.iter().zip(rs::VAP_OUT_VTX_FMT_1::FIELDS) {
            let of_vertex = count.extract(r.word(rs::VAP_OUT_VTX_FMT_1::REGISTER, 0));
            components += of_vertex.max(match source.field.extract(stuffed) {
                0 => 0,
                1 => 2,
                _ => 3,
            });
        }
        let colours = r.word(rs::VAP_OUT_VTX_FMT_0::REGISTER, 0);
        let count = r.get(rs::RS_INST_COUNT::INST_COUNT) + 1;
        let mut missing = Vec::new();
        for n in 0..count {
            if r.nth(rs::RS_INST_0::TEX_CN, n) == 1 {
                let ip = r.nth(rs::RS_INST_0::TEX_ID, n);
                let pointers =
                    [rs::RS_IP_0::TEX_PTR_S, rs::RS_IP_0::TEX_PTR_T, rs::RS_IP_0::TEX_PTR_R, rs::RS_IP_0::TEX_PTR_Q];
                // Components 62 and 63 are constants.
                let beyond = pointers.map(|bits| r.nth(bits, ip)).into_iter().find(|&of| of < 62 && of >= components);
                if let Some(component) = beyond {
                    missing.push(format!(
                        "RS_INST_{n} loads component {component} of texture coordinates, a vertex has {components}"
                    ));
                }
            }
            if r.nth(rs::RS_INST_0::COL_CN, n) == 1 {
                let colour = r.nth(rs::RS_IP_0::COL_PTR, r.nth(rs::RS_INST_0::COL_ID, n));
                if !bit(colours, 1 + colour) && colour < 4 {
                    missing.push(format!("RS_INST_{n} loads colour {colour}, which a vertex does not have"));
                }
            }
        }
        missing.into_iter().for_each(|message| self.found("missing-input", message));
    }
}
