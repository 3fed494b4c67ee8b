//! Rules on packets: what the kernel looks at in each.

use super::{Checker, Placed};
use crate::execute::{BufferWords, VALID_BUFFER, VALID_TEXTURE, is_relocated, kind_of};
use crate::packets::{Info, Kind, Sender, Shape};
use crate::registers::{self, RESOURCES, SAMPLERS, colour, depth, scan, sq, vgt};
use crate::stream::Relocation;

/// Registers that only packets set, or that the kernel keeps for itself.
const REFUSED: &[&crate::Register] = &[
    vgt::VGT_STRMOUT_BUFFER_OFFSET_0::REGISTER,
    vgt::VGT_STRMOUT_BASE_OFFSET_0::REGISTER,
    vgt::VGT_EVENT_INITIATOR::REGISTER,
    vgt::VGT_STRMOUT_BUFFER_FILLED_SIZE_0::REGISTER,
    vgt::VGT_DMA_INDEX_TYPE::REGISTER,
    vgt::VGT_DMA_NUM_INSTANCES::REGISTER,
    sq::SQ_FBUF_RING_BASE::REGISTER,
    sq::SQ_REDUC_RING_BASE::REGISTER,
];

/// Registers whose values the kernel keeps track of, besides those with addresses.
const TRACKED: &[&crate::Register] = &[
    sq::SQ_ESGS_RING_SIZE::REGISTER,
    sq::SQ_GSVS_RING_SIZE::REGISTER,
    sq::SQ_ESTMP_RING_SIZE::REGISTER,
    sq::SQ_GSTMP_RING_SIZE::REGISTER,
    sq::SQ_VSTMP_RING_SIZE::REGISTER,
    sq::SQ_PSTMP_RING_SIZE::REGISTER,
    sq::SQ_FBUF_RING_SIZE::REGISTER,
    sq::SQ_REDUC_RING_SIZE::REGISTER,
    vgt::VGT_STRMOUT_BUFFER_SIZE_0::REGISTER,
    colour::CB_COLOR0_SIZE::REGISTER,
    colour::CB_COLOR0_VIEW::REGISTER,
    colour::CB_COLOR0_INFO::REGISTER,
    colour::CB_COLOR0_MASK::REGISTER,
    colour::CB_COLOR_CONTROL::REGISTER,
    colour::SX_MISC::REGISTER,
    depth::DB_DEPTH_SIZE::REGISTER,
    depth::DB_DEPTH_VIEW::REGISTER,
    depth::DB_DEPTH_INFO::REGISTER,
    depth::DB_DEPTH_CONTROL::REGISTER,
    depth::DB_HTILE_SURFACE::REGISTER,
    scan::PA_SC_AA_CONFIG::REGISTER,
];

/// The same of those that containers of programs have too: names, with all that begin so.
const TRACKED_NAMES: &[&str] = &[
    "SQ_CONFIG",
    "CB_TARGET_MASK",
    "CB_SHADER_MASK",
    "VGT_STRMOUT_EN",
    "VGT_STRMOUT_BUFFER_EN",
    "SQ_GS_VERT_ITEMSIZE",
];

/// Why COPY_DW may not touch a register; `None` where it may.
fn not_copied(offset: u32) -> Option<&'static str> {
    let among = |rows: &[&crate::Register]| rows.iter().any(|row| row.index_at(offset).is_some());
    let config_or_context = (0x8000..0xac00).contains(&offset) || (0x28000..0x29000).contains(&offset);
    let has_name =
        config_or_context && registers::is_known(offset) || offset == sq::SQ_VTX_START_INST_LOC::REGISTER.offset;
    if !has_name || among(REFUSED) {
        return Some("programs may not write it");
    }
    let name = registers::name(offset);
    let tracked = among(TRACKED) || TRACKED_NAMES.contains(&name.as_str()) || name.ends_with("_RING_ITEMSIZE");
    (tracked || is_relocated(offset)).then_some("the kernel keeps track of its value")
}

/// Registers that take the address of their target's base where no relocation follows them.
fn follows_base(offset: u32) -> Option<u32> {
    let n = colour::CB_COLOR0_TILE::REGISTER
        .index_at(offset)
        .or_else(|| colour::CB_COLOR0_FRAG::REGISTER.index_at(offset))?;
    Some(colour::CB_COLOR0_BASE::REGISTER.at(n))
}

fn address(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high & 0xff) << 32
}

impl Checker<'_> {
    /// The next buffer of a packet. `None` where it is missing (which is told) or not known.
    fn relocation(&mut self, placed: &mut Placed<'_>, what: &str) -> Option<Relocation> {
        if self.absolute {
            return None;
        }
        let operand = placed.operands.get(placed.next).copied();
        placed.next += 1;
        let Some(operand) = operand else {
            self.found(
                "missing-relocation",
                format!("{what} is an address, and no relocation stands behind the packet"),
            );
            return None;
        };
        let list = self.list?;
        let found = list.get(operand as usize / 4).copied();
        if found.is_none() || !operand.is_multiple_of(4) {
            let message = format!("the relocation {operand} is none of 0, 4, .. {}", list.len().saturating_sub(1) * 4);
            self.found("bad-relocation", message);
            return None;
        }
        found
    }

    /// A range of a buffer that a packet touches, and the rule that finds it outside.
    fn range(&mut self, rule: &'static str, what: &str, buffer: Option<Relocation>, offset: u64, length: u64) {
        self.reached(what, "an address of the packet", offset, length);
        let Some(buffer) = buffer else { return };
        if offset.checked_add(length).is_none_or(|end| end > buffer.size) {
            let message =
                format!("{what}: {length} bytes from {offset:#x} on, the buffer {} has {}", buffer.handle, buffer.size);
            self.found(rule, message);
        }
    }

    pub(super) fn packet(&mut self, placed: &mut Placed<'_>) {
        let packet = placed.packet;
        match packet.kind {
            Kind::Filler => return self.extra(placed),
            Kind::Registers(first) if self.absolute => {
                for (&value, offset) in packet.words.iter().zip((first..).step_by(4)) {
                    self.registers.set(offset, value);
                    self.written.insert(offset);
                }
                return;
            }
            Kind::Registers(first) => {
                let message = format!("a packet of type 0 writes {}; allowed are SET_ packets", registers::name(first));
                return self.found("register-packet", message);
            }
            Kind::Packet { opcode, .. } => {
                let Some(row) = packet.info() else {
                    return self.found("unknown-packet", format!("opcode {opcode:#04x} is that of no packet"));
                };
                if self.absolute && row.sender == Sender::Kernel {
                    return;
                }
                if row.sender != Sender::Program {
                    let who = match row.sender {
                        Sender::Kernel => "the kernel",
                        Sender::R600 => "programs on R6xx chips",
                        Sender::Console | Sender::Program => "a console's programs",
                    };
                    return self.found("refused-packet", format!("{} is for {who}", row.name));
                }
                if !row.length.allows(packet.words.len()) {
                    let (name, length) = (row.name, row.length);
                    let message = format!("{name} has {} words, allowed is {length}", packet.words.len());
                    return self.found("packet-length", message);
                }
                self.known(placed, row);
            }
        }
        self.extra(placed);
    }

    fn extra(&mut self, placed: &Placed<'_>) {
        if placed.operands.len() > placed.next {
            let message = format!(
                "{} relocations stand behind the packet, it has addresses for {}",
                placed.operands.len(),
                placed.next
            );
            self.found("extra-relocation", message);
        }
    }

    fn known(&mut self, placed: &mut Placed<'_>, row: &'static Info) {
        let words = placed.packet.words;
        let word = |n: usize| words.get(n).copied().unwrap_or(0);
        if let Shape::Registers(first, end) = row.shape {
            return self.set(placed, row, (first, end));
        }
        match row.name {
            "INDEX_TYPE" => self.registers.set(vgt::VGT_DMA_INDEX_TYPE::REGISTER.offset, word(0)),
            "NUM_INSTANCES" => self.registers.set(vgt::VGT_NUM_INSTANCES::REGISTER.offset, word(0)),
            "DRAW_INDEX" => {
                let buffer = self.relocation(placed, "where indices lie");
                let wide = self.registers.get(vgt::VGT_DMA_INDEX_TYPE::INDEX_TYPE) == 1;
                let length = u64::from(word(2)) * if wide { 4 } else { 2 };
                let from = address(word(0), word(1));
                self.reached("indices", "an address of the packet", from, length);
                if let Some(buffer) = buffer.filter(|buffer| from.saturating_add(length) > buffer.size) {
                    let message =
                        format!("{} indices from {from:#x} on, the buffer has {} bytes", word(2), buffer.size);
                    self.found("indices-outside-buffer", message);
                }
                self.draw();
            }
            "DRAW_INDEX_AUTO" => self.draw(),
            "DRAW_INDEX_IMMD" | "DRAW_INDEX_IMMD_BE" => {
                let wide = self.registers.get(vgt::VGT_DMA_INDEX_TYPE::INDEX_TYPE) == 1;
                let wanted = if wide { word(0) as usize } else { word(0).div_ceil(2) as usize };
                if words.len().saturating_sub(2) < wanted {
                    let message = format!("{} indices need {wanted} words, {} follow", word(0), words.len() - 2);
                    self.found("indices-outside-buffer", message);
                }
                self.draw();
            }
            "SET_PREDICATION" => {
                let op = word(1) >> 16 & 7;
                if op > 2 {
                    self.found("bad-predication", format!("operation {op}, allowed is 0..=2"));
                } else if op > 0 {
                    let buffer = self.relocation(placed, "where the result lies");
                    let length = if op == 1 { 16 } else { 32 };
                    self.range("event-outside-buffer", "the result", buffer, address(word(0), word(1)), length);
                }
            }
            "EVENT_WRITE" if words.len() == 3 => {
                let buffer = self.relocation(placed, "where the event writes");
                let length = match word(0) & 0x3f {
                    30 => 64,
                    32 => 16,
                    _ => 8,
                };
                self.range("event-outside-buffer", "the event", buffer, address(word(1), word(2)), length);
            }
            "EVENT_WRITE_EOP" => {
                let buffer = self.relocation(placed, "where the end of the pipe writes");
                let length = match word(2) >> 29 {
                    0 => 0,
                    1 => 4,
                    _ => 8,
                };
                self.range("event-outside-buffer", "the end of the pipe", buffer, address(word(1), word(2)), length);
            }
            "MEM_WRITE" => {
                let buffer = self.relocation(placed, "where it is written");
                let to = address(word(0), word(1));
                if !to.is_multiple_of(8) {
                    self.found("unaligned-write", format!("MEM_WRITE to {to:#x}, allowed are multiples of 8"));
                }
                self.range("outside-buffer", "MEM_WRITE", buffer, to, 8);
            }
            "COPY_DW" => {
                for (n, side) in [(0, "the source"), (1, "the destination")] {
                    if word(0) >> n & 1 == 1 {
                        let buffer = self.relocation(placed, side);
                        let at = address(word(1 + 2 * n), word(2 + 2 * n));
                        if !at.is_multiple_of(4) {
                            let message = format!("{side} of COPY_DW is {at:#x}, allowed are multiples of 4");
                            self.found("unaligned-copy", message);
                        }
                        self.range("outside-buffer", side, buffer, at, 4);
                        continue;
                    }
                    let offset = word(1 + 2 * n).wrapping_mul(4);
                    if let Some(why) = not_copied(offset).filter(|_| !self.absolute) {
                        let message = format!("{side} of COPY_DW is the register {}: {why}", registers::name(offset));
                        self.found("copied-register", message);
                    }
                }
            }
            "WAIT_REG_MEM" => {
                let (memory, parser) = (word(0) >> 4 & 1 == 1, word(0) >> 8 & 1 == 1);
                if parser && !memory {
                    self.found("bad-wait", "the parser waits for a register, allowed is memory".into());
                }
                if memory {
                    let buffer = self.relocation(placed, "what is waited for");
                    self.range("event-outside-buffer", "WAIT_REG_MEM", buffer, address(word(1) & !3, word(2)), 4);
                }
            }
            "CP_DMA" => {
                let command = word(4);
                if command >> 26 & 15 != 0 {
                    let message = format!("CP_DMA with the command {command:#x}: registers, or in place");
                    self.found("bad-copy", message);
                }
                let length = u64::from(command & 0x1f_ffff);
                let source = self.relocation(placed, "the source");
                self.range("outside-buffer", "the source", source, address(word(0), word(1)), length);
                let destination = self.relocation(placed, "the destination");
                self.range("outside-buffer", "the destination", destination, address(word(2), word(3)), length);
            }
            "SURFACE_SYNC" if (word(1), word(2)) != (u32::MAX, 0) => {
                self.relocation(placed, "what is flushed");
            }
            "STRMOUT_BUFFER_UPDATE" => {
                if word(0) & 1 == 1 {
                    let buffer = self.relocation(placed, "where the filled size goes");
                    self.range("outside-buffer", "the filled size", buffer, address(word(1), word(2)), 4);
                }
                if word(0) >> 1 & 3 == 2 {
                    let buffer = self.relocation(placed, "where the offset lies");
                    self.range("outside-buffer", "the offset", buffer, address(word(3), word(4)), 4);
                }
            }
            "STRMOUT_BASE_UPDATE" => {
                let buffer = self.relocation(placed, "the base");
                if word(0) > 3 {
                    return self.found("stream-base", format!("buffer {}, allowed is 0..=3", word(0)));
                }
                let base = vgt::VGT_STRMOUT_BUFFER_BASE_0::REGISTER;
                let told = self.registers.word(base, word(0));
                if let Some(buffer) = buffer
                    && word(1).wrapping_add((buffer.base >> 8) as u32) != told
                {
                    let message = format!("buffer {} begins elsewhere than {} says", word(0), base.numbered(word(0)));
                    self.found("stream-base", message);
                } else if let Some(buffer) = buffer.filter(|buffer| (u64::from(word(1)) << 8) + 4 > buffer.size) {
                    let at = u64::from(word(1)) << 8;
                    let message = format!(
                        "the base of buffer {} is {at:#x}, the buffer {} has {}",
                        word(0),
                        buffer.handle,
                        buffer.size
                    );
                    self.found("stream-base", message);
                }
            }
            _ => {}
        }
    }

    /// A packet that writes registers.
    fn set(&mut self, placed: &mut Placed<'_>, row: &'static Info, (first, end): (u32, u32)) {
        let packet = placed.packet;
        let count = packet.words.len() as u64 - 1;
        let from = u64::from(first) + 4 * u64::from(packet.words[0]);
        if from + 4 * count > u64::from(end) {
            let message = format!(
                "{} writes {from:#x} up to {:#x}, allowed is {first:#x} up to {end:#x}",
                row.name,
                from + 4 * count
            );
            return self.found("register-range", message);
        }
        let Some((offset, values)) = packet.registers() else { return };
        if row.name == "SET_RESOURCE" {
            return self.resources(placed, offset, values);
        }
        for (&value, offset) in values.iter().zip((offset..).step_by(4)) {
            self.written.insert(offset);
            if self.absolute {
                self.registers.set(offset, value);
                continue;
            }
            if offset < RESOURCES && !registers::is_known(offset) {
                let message = format!("{} writes {offset:#x}, where no register is that programs may write", row.name);
                self.found("unknown-register", message);
                continue;
            }
            if REFUSED.iter().any(|row| row.index_at(offset).is_some()) {
                let message = format!("{} is set by packets or the kernel alone", registers::name(offset));
                self.found("refused-register", message);
                continue;
            }
            if let Some(base) = follows_base(offset)
                && placed.next >= placed.operands.len()
                && (self.list.is_none() || self.bounds.contains_key(&base))
            {
                self.registers.set(offset, self.registers.at(base));
                if let Some(&buffer) = self.bounds.get(&base) {
                    self.bounds.insert(offset, buffer);
                }
            } else if is_relocated(offset) {
                let buffer = self.relocation(placed, &registers::name(offset));
                match buffer {
                    Some(buffer) => {
                        self.bounds.insert(offset, buffer);
                        self.registers.set(offset, value.wrapping_add((buffer.base >> 8) as u32));
                        self.registers.set_end(offset, buffer.base.saturating_add(buffer.size));
                    }
                    None => self.registers.set(offset, value),
                }
            } else {
                self.registers.set(offset, value);
            }
        }
    }

    fn resources(&mut self, placed: &mut Placed<'_>, first: u32, values: &[u32]) {
        if !(first - RESOURCES).is_multiple_of(28) || first >= SAMPLERS {
            return self.found("register-range", format!("{first:#x} is not the first word of a resource"));
        }
        for (n, words) in values.chunks_exact(7).enumerate() {
            let number = (first - RESOURCES) / 28 + n as u32;
            let Ok(mut words) = <[u32; 7]>::try_from(words) else { continue };
            match kind_of(&words) {
                VALID_TEXTURE => {
                    let buffers = [
                        self.relocation(placed, "a texture's level 0"),
                        self.relocation(placed, "a texture's level 1"),
                    ];
                    for (word, buffer) in (2..4).zip(&buffers) {
                        let base = buffer.map_or(0, |buffer| buffer.base);
                        words[word] = words[word].wrapping_add((base >> 8) as u32);
                    }
                    self.texture(number, &words, buffers);
                }
                VALID_BUFFER => {
                    let buffer = self.relocation(placed, "a buffer");
                    let of = BufferWords::of(&words);
                    if let Some(buffer) = buffer {
                        let end = of.address.saturating_add(of.buffer.size_bytes);
                        if end > buffer.size {
                            let message = format!(
                                "resource {number}: {} bytes from {:#x} on, the buffer {} has {}",
                                of.buffer.size_bytes, of.address, buffer.handle, buffer.size
                            );
                            self.found("buffer-outside-buffer", message);
                        }
                        let base = of.address.wrapping_add(buffer.base);
                        words[0] = base as u32;
                        words[2] = words[2] & !0xff | (base >> 32) as u32 & 0xff;
                    }
                }
                other => {
                    let message =
                        format!("resource {number} has the type {other}, allowed are 2 (texture) and 3 (buffer)");
                    self.found("resource-type", message);
                }
            }
            for (offset, word) in (RESOURCES + 28 * number..).step_by(4).zip(words) {
                self.registers.set(offset, word);
            }
        }
    }
}
