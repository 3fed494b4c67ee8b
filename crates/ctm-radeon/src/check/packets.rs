//! Rules on packets: the kernel's checks of each.

use super::checker::{Checker, Placed};
use crate::execute::{BufferWords, Registers, VALID_BUFFER, VALID_TEXTURE, follows_base, is_relocated, kind_of};
use crate::packets::r700::{DrawIndexImmd, DrawIndexImmdBe, EventWrite, StrmoutBaseUpdate};
use crate::packets::words::{DataSelect, EventType, OffsetSource, PredicateOp, PredicationControl};
use crate::packets::{Command, Kind};
use crate::registers::{self, RESOURCES, SAMPLERS, colour, depth, resource, scan, sq, vgt};
use crate::stream::Relocation;
use crate::table::{Info, PacketShape, Sender, from_256, in_256, join};
use std::fmt::{self, Display};
use std::sync::LazyLock;

/// Registers that only packets set, or that the kernel reserves.
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

/// Registers whose values the kernel tracks, besides those with addresses.
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

/// The same for registers that containers of programs also have: names, with all that have this prefix.
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

/// Kinds of registers, by the things that a write takes besides the value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WriteKind {
    /// Nothing.
    Plain,
    /// There is no such register.
    Unknown,
    /// See [`REFUSED`].
    Refused,
    /// A relocation, or the address of its target: see [`follows_base`].
    FollowsBase,
    /// A relocation.
    Relocated,
    /// It is an action.
    Acts,
}

/// The kind of each register below the resources, by dword.
static WRITES: LazyLock<Vec<WriteKind>> = LazyLock::new(|| {
    let of = |offset: u32| match offset {
        _ if !registers::is_known(offset) => WriteKind::Unknown,
        _ if REFUSED.iter().any(|row| row.index_at(offset).is_some()) => WriteKind::Refused,
        _ if follows_base(offset).is_some() => WriteKind::FollowsBase,
        _ if is_relocated(offset) => WriteKind::Relocated,
        _ if Registers::acts(offset) => WriteKind::Acts,
        _ => WriteKind::Plain,
    };
    (0..RESOURCES / 4).map(|dword| of(4 * dword)).collect()
});

/// A register by its byte offset: its name is made where a message has it.
struct RegisterName(u32);

impl Display for RegisterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&registers::name(self.0))
    }
}

impl Checker<'_> {
    /// The next buffer of a packet. `None` where it is missing (which is reported) or not known.
    fn relocation(&mut self, placed: &mut Placed<'_>, what: impl Display) -> Option<Relocation> {
        if self.absolute {
            return None;
        }
        let operand = placed.operands.get(placed.next);
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
            Kind::Registers { .. } if self.absolute => {
                for (offset, value) in packet.direct_registers() {
                    self.registers.set(offset, value);
                    self.written.insert(offset);
                }
                return;
            }
            Kind::Registers { first, .. } => {
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
        if let PacketShape::Registers(first, end) = row.shape {
            return self.set(placed, row, (first, end));
        }
        let Some(command) = placed.packet.command() else { return };
        match command {
            Command::IndexType(packet) => self.registers.set(vgt::VGT_DMA_INDEX_TYPE::REGISTER.offset, packet.kind.0),
            Command::NumInstances(packet) => self.registers.set(vgt::VGT_NUM_INSTANCES::REGISTER.offset, packet.count),
            Command::DrawIndex(packet) => {
                let buffer = self.relocation(placed, "where indices lie");
                let length = u64::from(packet.count) * if self.has_wide_indices() { 4 } else { 2 };
                let from = join(packet.address, packet.high.high());
                self.reached("indices", "an address of the packet", from, length);
                if let Some(buffer) = buffer.filter(|buffer| from.saturating_add(length) > buffer.size) {
                    let message =
                        format!("{} indices from {from:#x} on, the buffer has {} bytes", packet.count, buffer.size);
                    self.found("indices-outside-buffer", message);
                }
                self.draw();
            }
            Command::DrawIndexAuto(_) => self.draw(),
            Command::DrawIndexImmd(DrawIndexImmd { count, .. })
            | Command::DrawIndexImmdBe(DrawIndexImmdBe { count, .. }) => {
                let wanted = if self.has_wide_indices() { count } else { count.div_ceil(2) } as usize;
                let found = placed.packet.words.len().saturating_sub(DrawIndexImmd::WORDS.len());
                if found < wanted {
                    let message = format!("{count} indices need {wanted} words, {found} follow");
                    self.found("indices-outside-buffer", message);
                }
                self.draw();
            }
            Command::SetPredication(packet) => match packet.control.op() {
                None => {
                    let op = packet.control.get(PredicationControl::OP);
                    self.found("bad-predication", format!("operation {op}, allowed is 0..=2"));
                }
                Some(PredicateOp::Clear) => {}
                Some(op) => {
                    let buffer = self.relocation(placed, "where the result lies");
                    // The kernel takes all bits.
                    let at = join(packet.address.0, packet.control.high());
                    self.range("event-outside-buffer", "the result", buffer, at, op.bytes());
                }
            },
            Command::EventWrite(packet) if placed.packet.words.len() == EventWrite::WORDS.len() => {
                let buffer = self.relocation(placed, "where the event writes");
                let length = match packet.event.event() {
                    Some(EventType::SamplePipelinestat) => 64,
                    Some(EventType::SampleStreamoutstats) => 16,
                    _ => 8,
                };
                let at = join(packet.address, packet.high.high());
                self.range("event-outside-buffer", "the event", buffer, at, length);
            }
            Command::EventWriteEop(packet) => {
                let buffer = self.relocation(placed, "where the end of the pipe writes");
                let length = packet.control.data_sel().map_or(8, DataSelect::bytes);
                let at = join(packet.address, packet.control.high());
                self.range("event-outside-buffer", "the end of the pipe", buffer, at, length);
            }
            Command::MemWrite(packet) => {
                let buffer = self.relocation(placed, "where it is written");
                let to = join(packet.address.0, packet.control.high());
                if !to.is_multiple_of(8) {
                    self.found("unaligned-write", format!("MEM_WRITE to {to:#x}, allowed are multiples of 8"));
                }
                self.range("outside-buffer", "MEM_WRITE", buffer, to, 8);
            }
            Command::CopyDw(packet) => {
                let source = join(packet.source, packet.source_high.high());
                let destination = join(packet.destination, packet.destination_high.high());
                for (is_memory, low, at, side) in [
                    (packet.control.src_mem(), packet.source, source, "the source"),
                    (packet.control.dst_mem(), packet.destination, destination, "the destination"),
                ] {
                    if is_memory {
                        let buffer = self.relocation(placed, side);
                        if !at.is_multiple_of(4) {
                            let message = format!("{side} of COPY_DW is {at:#x}, allowed are multiples of 4");
                            self.found("unaligned-copy", message);
                        }
                        self.range("outside-buffer", side, buffer, at, 4);
                        continue;
                    }
                    let offset = low.wrapping_mul(4);
                    if let Some(why) = not_copied(offset).filter(|_| !self.absolute) {
                        let message = format!("{side} of COPY_DW is the register {}: {why}", registers::name(offset));
                        self.found("copied-register", message);
                    }
                }
            }
            Command::WaitRegMem(packet) => {
                if packet.control.pfp() && !packet.control.mem() {
                    self.found("bad-wait", "the parser waits for a register, allowed is memory".into());
                }
                if packet.control.mem() {
                    let buffer = self.relocation(placed, "what is waited for");
                    let at = join(packet.address.address(), packet.high.high());
                    self.range("event-outside-buffer", "WAIT_REG_MEM", buffer, at, 4);
                }
            }
            Command::CpDma(packet) => {
                let command = packet.command;
                if command.sas() || command.das() || command.saic() || command.daic() {
                    let message = format!("CP_DMA with the command {:#x}: registers, or in place", command.0);
                    self.found("bad-copy", message);
                }
                let length = u64::from(command.bytes());
                let buffer = self.relocation(placed, "the source");
                let at = join(packet.source, packet.source_high.high());
                self.range("outside-buffer", "the source", buffer, at, length);
                let buffer = self.relocation(placed, "the destination");
                let at = join(packet.destination, packet.destination_high.high());
                self.range("outside-buffer", "the destination", buffer, at, length);
            }
            Command::SurfaceSync(packet) if (packet.size, packet.base) != (u32::MAX, 0) => {
                self.relocation(placed, "what is flushed");
            }
            Command::StrmoutBufferUpdate(packet) => {
                if packet.control.store_filled_size() {
                    let buffer = self.relocation(placed, "where the filled size goes");
                    let at = join(packet.destination, packet.destination_high.high());
                    self.range("outside-buffer", "the filled size", buffer, at, 4);
                }
                if packet.control.source() == Some(OffsetSource::Memory) {
                    let buffer = self.relocation(placed, "where the offset lies");
                    let at = join(packet.source, packet.source_high.high());
                    self.range("outside-buffer", "the offset", buffer, at, 4);
                }
            }
            Command::StrmoutBaseUpdate(StrmoutBaseUpdate { buffer: number, base }) => {
                let buffer = self.relocation(placed, "the base");
                let row = vgt::VGT_STRMOUT_BUFFER_BASE_0::REGISTER;
                if number >= row.count {
                    let most = row.count - 1;
                    return self.found("stream-base", format!("buffer {number}, allowed is 0..={most}"));
                }
                let expected = self.registers.word(row, number);
                let at = from_256(base);
                if let Some(buffer) = buffer
                    && base.wrapping_add(in_256(buffer.base)) != expected
                {
                    let message = format!("buffer {number} begins elsewhere than {} says", row.numbered(number));
                    self.found("stream-base", message);
                } else if let Some(buffer) = buffer.filter(|buffer| at + 4 > buffer.size) {
                    let message = format!(
                        "the base of buffer {number} is {at:#x}, the buffer {} has {}",
                        buffer.handle, buffer.size
                    );
                    self.found("stream-base", message);
                }
            }
            _ => {}
        }
    }

    /// Whether indices have 32 bits.
    fn has_wide_indices(&self) -> bool {
        self.registers.get(vgt::VGT_DMA_INDEX_TYPE::INDEX_TYPE) == 1
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
        let writes = WRITES.get(offset as usize / 4..).filter(|_| !self.absolute).unwrap_or_default();
        let mut n = 0;
        while let Some(&value) = values.get(n) {
            let at = offset + 4 * n as u32;
            // All that are not in the table are plain.
            let special = writes.iter().take(values.len()).skip(n).position(|&write| write != WriteKind::Plain);
            let plain = special.unwrap_or(values.len() - n);
            if plain > 0 {
                self.written.insert_from(at, plain);
                self.registers.set_all(at, &values[n..n + plain]);
                n += plain;
            } else {
                self.written.insert(at);
                self.set_special(placed, row, (at, value), writes[n]);
                n += 1;
            }
        }
    }

    /// Checks and sets a register whose write takes more than its value.
    fn set_special(
        &mut self,
        placed: &mut Placed<'_>,
        row: &'static Info,
        (offset, value): (u32, u32),
        write: WriteKind,
    ) {
        match write {
            WriteKind::Unknown => {
                let message = format!("{} writes {offset:#x}, where no register is that programs may write", row.name);
                return self.found("unknown-register", message);
            }
            WriteKind::Refused => {
                let message = format!("{} is set by packets or the kernel alone", registers::name(offset));
                return self.found("refused-register", message);
            }
            WriteKind::FollowsBase | WriteKind::Relocated | WriteKind::Plain | WriteKind::Acts => {}
        }
        if let Some(base) = follows_base(offset)
            && placed.next >= placed.operands.len()
            && (self.list.is_none() || self.bounds.contains_key(&base))
        {
            let word = self.registers.at(base);
            self.registers.set(offset, word);
            if let Some(&buffer) = self.bounds.get(&base) {
                self.bounds.insert(offset, buffer);
            }
        } else if is_relocated(offset) {
            let buffer = self.relocation(placed, RegisterName(offset));
            match buffer {
                Some(buffer) => {
                    self.bounds.insert(offset, buffer);
                    self.registers.set(offset, value.wrapping_add(in_256(buffer.base)));
                    self.registers.set_end(offset, buffer.base.saturating_add(buffer.size));
                }
                None => self.registers.set(offset, value),
            }
        } else {
            self.registers.set(offset, value);
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
                        words[word] = words[word].wrapping_add(in_256(base));
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
                        resource::set_buffer_address(&mut words, base);
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
