//! Rules on streams of the R500: the kernel's checks, with the same values of registers before a stream writes them.
//!
//! The kernel tracks the registers of targets, arrays and textures, and compares their sizes with those of the buffers at each draw. Targets and textures are compared again
//! only after a register of theirs was written.

use super::checker::Placed;
use super::rules::{Finding, rule as find_rule};
use crate::chip::Chip;
use crate::execute::Registers;
use crate::packets::Kind;
use crate::packets::r500::{Command, DrawImmd, DrawImmd2, IndxBuffer, LoadVbpntr, MOST_ARRAYS, VertexArray};
use crate::packets::words::{IndexSize, VertexFetch, Walk};
use crate::registers::{colour, depth, scan, setup, spi, texture, vgt};
use crate::stream::Relocation;
use crate::table::{Bits, Info, Register, bit, one_bit, set_bits};
use colour::r500 as rb;
use ctm_isa::diag::Severity;
use depth::r500 as zb;
use std::collections::{HashMap, HashSet};
use texture::r500 as tx;
use vgt::r500 as vap;

/// Registers with names that programs may not write.
const REFUSED: &[&Register] = &[
    vap::VAP_PORT_DATA0::REGISTER,
    vap::VAP_PORT_IDX0::REGISTER,
    vap::VAP_PORT_DATA_IDX_128::REGISTER,
    setup::r500::GB_TILE_CONFIG::REGISTER,
    setup::r500::GB_PIPE_SELECT::REGISTER,
    setup::r500::GB_FIFO_SIZE1::REGISTER,
    setup::r500::GA_FILL_R::REGISTER,
    setup::r500::GA_FILL_G::REGISTER,
    setup::r500::GA_FILL_B::REGISTER,
    setup::r500::GA_FILL_A::REGISTER,
    setup::r500::GA_IDLE::REGISTER,
    setup::r500::GA_FIFO_CNTL::REGISTER,
    setup::r500::GA_ENHANCE::REGISTER,
    tx::TX_FILTER4::REGISTER,
    rb::RB3D_COLOR_CLEAR_VALUE_AR::REGISTER,
    rb::RB3D_COLOR_CLEAR_VALUE_GB::REGISTER,
    rb::RB3D_FIFO_SIZE::REGISTER,
    zb::ZB_ZMASK_WRINDEX::REGISTER,
    zb::ZB_ZMASK_DWORD::REGISTER,
    zb::ZB_ZMASK_RDINDEX::REGISTER,
    zb::ZB_HIZ_WRINDEX::REGISTER,
    zb::ZB_HIZ_DWORD::REGISTER,
    zb::ZB_HIZ_RDINDEX::REGISTER,
    zb::ZB_DEPTHXY_OFFSET::REGISTER,
];

/// Fields that only the owner of coarse depth, or of the masks of tiles, may set.
const OWNED: &[Bits] = &[
    rb::RB3D_CCTL::CMASK_ENABLE,
    zb::ZB_BW_CNTL::HIZ_ENABLE,
    zb::ZB_BW_CNTL::FAST_FILL,
    zb::ZB_BW_CNTL::RD_COMP_ENABLE,
    zb::ZB_BW_CNTL::WR_COMP_ENABLE,
];

/// The same for whole registers.
const OWNED_WORDS: &[&Register] = &[
    zb::ZB_ZMASK_OFFSET::REGISTER,
    zb::ZB_ZMASK_PITCH::REGISTER,
    zb::ZB_HIZ_OFFSET::REGISTER,
    zb::ZB_HIZ_PITCH::REGISTER,
    zb::GB_Z_PEQ_CONFIG::REGISTER,
];

/// Registers that a relocation without an effect may follow: it names the buffer's tiles.
const PITCHES: &[&Register] = &[rb::RB3D_COLORPITCH0::REGISTER, zb::ZB_DEPTHPITCH::REGISTER];

/// Bytes of a pixel by the number of a colour format; `None` for those that the kernel refuses.
const fn pixel_bytes(format: u32) -> Option<u64> {
    Some(match format {
        9 | 11 | 12 => 1,
        3 | 4 | 13 | 15 => 2,
        5 | 6 => 4,
        10 => 8,
        7 => 16,
        _ => return None,
    })
}

/// Bytes of a pixel by the number of a depth format.
const fn depth_bytes(format: u32) -> Option<u64> {
    match format {
        0 | 1 => Some(2),
        2 => Some(4),
        _ => None,
    }
}

/// Blocks of 4 by 4 texels, as the kernel counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Blocks {
    #[default]
    None,
    /// 8 bytes, at least four in a row.
    Dxt1,
    /// 16 bytes, at least two in a row.
    Dxt35,
}

impl Blocks {
    /// Bytes of a level, or texels where there are no blocks.
    fn size(self, width: u64, height: u64) -> u64 {
        let (bytes, least) = match self {
            Self::None => return width * height,
            Self::Dxt1 => (8, 4),
            Self::Dxt35 => (16, 2),
        };
        width.div_ceil(4).max(least) * height.div_ceil(4) * bytes
    }
}

/// Bytes of a texel, or 1 for blocks, by the number of a texture format; `None` for those that the kernel refuses.
const fn texel_bytes(format: u32) -> Option<(u64, Blocks)> {
    Some(match format {
        0 | 2 | 5 => (1, Blocks::None),
        1 | 3 | 6 | 7 | 10 | 11 | 18 | 20 | 21 | 24 => (2, Blocks::None),
        4 | 8 | 9 | 12 | 13 | 23 | 25 | 27 | 30 => (4, Blocks::None),
        14 | 26 | 28 => (8, Blocks::None),
        29 => (16, Blocks::None),
        15 => (1, Blocks::Dxt1),
        16 | 17 | 31 => (1, Blocks::Dxt35),
        _ => return None,
    })
}

/// Texture units.
const UNITS: u32 = 16;
/// Colour targets.
const TARGETS: u32 = 4;

/// A texture unit as the kernel tracks it.
#[derive(Clone, Copy, Debug)]
struct Unit {
    bytes: u64,
    blocks: Blocks,
    /// Sides are rounded up to powers of two: until a wrap mode that clamps is set.
    rounds: [bool; 2],
}

/// Sides and pitch of a texture before they are written.
const UNSET_SIDE: u64 = 16536;

/// Whether the kernel compares a part with its buffers at the next draw.
#[derive(Clone, Copy, Debug)]
struct Changed {
    colour: bool,
    depth: bool,
    resolve: bool,
    textures: bool,
}

/// The stream under check.
pub(super) struct R500Checker<'a> {
    chip: &'static Chip,
    /// The relocations, if they are known.
    list: Option<&'a [Relocation]>,
    /// Values as the stream has them: addresses are offsets into buffers.
    registers: Registers,
    written: HashSet<u32>,
    /// The buffers of registers with addresses.
    bounds: HashMap<u32, Relocation>,
    /// Arrays of vertices with their buffers; `None`: the stream has set none.
    arrays: Option<Vec<(VertexArray, Option<Relocation>)>>,
    units: [Unit; UNITS as usize],
    changed: Changed,
    /// The width of the indices of the last draw.
    index_size: Option<IndexSize>,
    at: usize,
    draws: u32,
    in_draw: bool,
    pub(super) findings: Vec<Finding>,
}

impl<'a> R500Checker<'a> {
    pub(super) fn new(chip: &'static Chip, list: Option<&'a [Relocation]>) -> Self {
        Self {
            chip,
            list,
            registers: Registers::default(),
            written: HashSet::new(),
            bounds: HashMap::new(),
            arrays: None,
            units: [Unit { bytes: 64, blocks: Blocks::None, rounds: [true; 2] }; UNITS as usize],
            changed: Changed { colour: true, depth: true, resolve: true, textures: true },
            index_size: None,
            at: 0,
            draws: 0,
            in_draw: false,
            findings: Vec::new(),
        }
    }

    /// Goes to the packet at a dword.
    pub(super) const fn begin(&mut self, at: usize, draws: bool) {
        self.at = at;
        self.draws += draws as u32;
        self.in_draw = draws;
    }

    pub(super) fn found(&mut self, rule: &'static str, message: String) {
        let severity = find_rule(rule).map_or(Severity::Error, |row| row.severity);
        let draw = self.in_draw.then_some(self.draws);
        self.findings.push(Finding { dword: self.at, draw, rule, severity, message });
    }

    /// A field, or another value before its register is written.
    fn field_or(&self, bits: Bits, n: u32, unset: u64) -> u64 {
        if self.written.contains(&bits.register.at(n)) { self.registers.nth(bits, n).into() } else { unset }
    }

    /// The next buffer of a packet. `None` where it is missing (which is reported) or not known.
    fn relocation(&mut self, placed: &mut Placed<'_>, what: &str) -> Option<Relocation> {
        let operand = placed.operands.get(placed.next).copied();
        placed.next += 1;
        let Some(operand) = operand else {
            let message = format!("{what} is an address, and no relocation follows the packet");
            self.found("missing-relocation", message);
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

    pub(super) fn packet(&mut self, placed: &mut Placed<'_>) {
        let packet = placed.packet;
        match packet.kind {
            Kind::Filler => {}
            Kind::Registers { .. } => {
                for (offset, value) in packet.direct_registers() {
                    self.register(placed, offset, value);
                }
            }
            Kind::Packet { opcode, .. } => {
                let Some(row) = packet.info() else {
                    return self.found("unknown-packet", format!("opcode {opcode:#04x} is that of no packet"));
                };
                if !row.length.allows(packet.words.len()) {
                    let (name, length) = (row.name, row.length);
                    let message = format!("{name} has {} words, allowed is {length}", packet.words.len());
                    return self.found("packet-length", message);
                }
                if let Some(command) = Command::of(opcode, packet.words) {
                    self.command(placed, row, &command);
                }
            }
        }
        if placed.operands.len() > placed.next {
            let message = format!(
                "{} relocations follow the packet, it has addresses for {}",
                placed.operands.len(),
                placed.next
            );
            self.found("extra-relocation", message);
        }
    }

    fn command(&mut self, placed: &mut Placed<'_>, row: &Info, command: &Command) {
        let words = placed.packet.words.len();
        match command {
            // A relocation belongs to the packet before it; other NOPs do nothing.
            Command::Nop(_) => {}
            Command::ClearZmask(_) | Command::ClearHiz(_) | Command::ClearCmask(_) => {
                self.found("refused-packet", format!("{} is for the owner of the masks of tiles", row.name));
            }
            Command::LoadVbpntr(packet) => self.load_arrays(placed, packet),
            Command::IndxBuffer(packet) => self.index_buffer(placed, packet),
            Command::DrawImmd(packet) => {
                self.embedded(row, packet.initiator);
                self.draw(packet.initiator, words - DrawImmd::WORDS.len());
            }
            Command::DrawImmd2(packet) => {
                self.embedded(row, packet.initiator);
                self.draw(packet.initiator, words - DrawImmd2::WORDS.len());
            }
            Command::DrawVbuf(packet) => self.draw(packet.initiator, 0),
            Command::DrawVbuf2(packet) => self.draw(packet.initiator, 0),
            Command::DrawIndx(packet) => self.draw(packet.initiator, 0),
            Command::DrawIndx2(packet) => self.draw(packet.initiator, 0),
        }
    }

    /// A register that a packet of type 0 writes.
    fn register(&mut self, placed: &mut Placed<'_>, offset: u32, value: u32) {
        let table = self.chip.registers;
        if !table.is_known(offset) {
            let message = format!("{offset:#x} is written, where no register is that programs may write");
            return self.found("unknown-register", message);
        }
        if REFUSED.iter().chain(self.chip.refused).any(|row| row.index_at(offset).is_some()) {
            let message = format!("programs may not write {} of an {}", table.name(offset), self.chip.name);
            return self.found("refused-register", message);
        }
        let owned = |bits: &&Bits| bits.register.offset == offset && bits.field.extract(value) != 0;
        if let Some(bits) = OWNED.iter().find(owned) {
            let message = format!(
                "{}.{} is set, which is for the owner of the masks of tiles",
                table.name(offset),
                bits.field.name
            );
            self.found("refused-value", message);
        } else if value != 0 && OWNED_WORDS.iter().any(|row| row.offset == offset) {
            let message = format!(
                "{} is {value:#x}; 0 is allowed, others are for the owner of the masks of tiles",
                table.name(offset)
            );
            self.found("refused-value", message);
        }
        if table.takes_relocation(offset) {
            match self.relocation(placed, &table.name(offset)) {
                Some(buffer) => self.bounds.insert(offset, buffer),
                None => self.bounds.remove(&offset),
            };
        } else if PITCHES.iter().any(|row| row.index_at(offset).is_some()) && placed.next < placed.operands.len() {
            placed.next += 1;
        }
        self.registers.set(offset, value);
        self.written.insert(offset);
        self.track(offset);
    }

    /// The effect of a register on the kernel's state.
    fn track(&mut self, offset: u32) {
        let index = |row: &Register| row.index_at(offset);
        let is = |rows: &[&Register]| rows.iter().any(|row| index(row).is_some());
        let (scissor, clear) = (scan::r500::SC_SCISSOR1::REGISTER, zb::ZB_BW_CNTL::REGISTER);
        self.changed.colour |= is(&[
            scissor,
            clear,
            rb::RB3D_COLOROFFSET0::REGISTER,
            rb::RB3D_COLORPITCH0::REGISTER,
            rb::RB3D_CCTL::REGISTER,
            rb::RB3D_COLOR_CHANNEL_MASK::REGISTER,
            rb::RB3D_BLENDCNTL::REGISTER,
        ]);
        self.changed.depth |= is(&[
            scissor,
            clear,
            zb::ZB_DEPTHOFFSET::REGISTER,
            zb::ZB_DEPTHPITCH::REGISTER,
            zb::ZB_CNTL::REGISTER,
            zb::ZB_FORMAT::REGISTER,
        ]);
        self.changed.resolve |= is(&[
            rb::RB3D_AARESOLVE_OFFSET::REGISTER,
            rb::RB3D_AARESOLVE_PITCH::REGISTER,
            rb::RB3D_AARESOLVE_CTL::REGISTER,
        ]);
        let of_textures = [
            tx::TX_ENABLE::REGISTER,
            tx::TX_FILTER0_0::REGISTER,
            tx::TX_FORMAT0_0::REGISTER,
            tx::TX_FORMAT1_0::REGISTER,
            tx::TX_FORMAT2_0::REGISTER,
            tx::TX_OFFSET_0::REGISTER,
        ];
        self.changed.textures |= is(&of_textures);
        if let Some(n) = index(rb::RB3D_COLORPITCH0::REGISTER) {
            let format = self.registers.nth(rb::RB3D_COLORPITCH0::COLORFORMAT, n);
            if pixel_bytes(format).is_none() {
                let message = format!("colour target {n}: format {format}, allowed are 3 to 7, 9 to 13 and 15");
                self.found("target-format", message);
            }
        }
        if index(zb::ZB_FORMAT::REGISTER).is_some() {
            let format = self.registers.get(zb::ZB_FORMAT::DEPTHFORMAT);
            if depth_bytes(format).is_none() {
                self.found("target-format", format!("the depth target: format {format}, allowed are 0, 1 and 2"));
            }
        }
        if let Some(n) = index(tx::TX_FILTER0_0::REGISTER) {
            let clamps = |bits| matches!(self.registers.nth(bits, n), 2 | 4 | 6);
            let both = [tx::TX_FILTER0_0::CLAMP_S, tx::TX_FILTER0_0::CLAMP_T].map(clamps);
            let unit = &mut self.units[n as usize];
            unit.rounds = std::array::from_fn(|side| unit.rounds[side] && !both[side]);
        }
        if let Some(n) = index(tx::TX_FORMAT1_0::REGISTER) {
            let format = self.registers.nth(tx::TX_FORMAT1_0::TXFORMAT, n);
            match texel_bytes(format) {
                Some((bytes, blocks)) => {
                    let unit = &mut self.units[n as usize];
                    (unit.bytes, unit.blocks) = (bytes, blocks);
                }
                None => {
                    let message = format!("texture unit {n}: format {format}, allowed are 0 to 31 but 19 and 22");
                    self.found("texture-format", message);
                }
            }
        }
        if let Some(n) = index(tx::TX_FORMAT2_0::REGISTER)
            && self.registers.nth(tx::TX_FORMAT2_0::TXFORMAT_MSB, n) == 1
        {
            self.units[n as usize].blocks = Blocks::Dxt1;
        }
    }

    fn load_arrays(&mut self, placed: &mut Placed<'_>, packet: &LoadVbpntr) {
        let count = packet.count.arrays();
        if count > MOST_ARRAYS {
            return self.found("array-count", format!("{count} arrays of vertices, allowed is 0..={MOST_ARRAYS}"));
        }
        let words = placed.packet.words;
        let wanted = 1 + count as usize + count.div_ceil(2) as usize;
        if words.len() < wanted {
            let message = format!("3D_LOAD_VBPNTR of {count} arrays has {} words, it needs {wanted}", words.len());
            return self.found("packet-length", message);
        }
        let mut arrays = Vec::new();
        for (n, array) in LoadVbpntr::arrays(words).enumerate() {
            let buffer = self.relocation(placed, &format!("where array {n} lies"));
            arrays.push((array, buffer));
        }
        self.arrays = Some(arrays);
    }

    fn index_buffer(&mut self, placed: &mut Placed<'_>, packet: &IndxBuffer) {
        let port = packet.port;
        if port.register() * 4 != vap::VAP_PORT_IDX0::REGISTER.offset || !port.one_reg_wr() {
            let message =
                format!("INDX_BUFFER writes {:#x}, indices go to VAP_PORT_IDX0 with ONE_REG_WR", port.register() * 4);
            self.found("index-port", message);
        }
        let Some(buffer) = self.relocation(placed, "where indices lie") else { return };
        let (offset, bytes) = (u64::from(packet.offset), 4 * u64::from(packet.dwords));
        if u64::from(packet.dwords) + 1 > buffer.size {
            let message = format!("{} dwords of indices, the buffer has {} bytes", packet.dwords, buffer.size);
            self.found("index-count", message);
        } else if offset + bytes > buffer.size {
            let message = format!(
                "{} dwords of indices from {offset:#x} on, the buffer has {} bytes",
                packet.dwords, buffer.size
            );
            self.found("indices-outside-buffer", message);
        }
    }

    fn embedded(&mut self, row: &Info, initiator: VertexFetch) {
        if initiator.prim_walk() != Some(Walk::Embedded) {
            let walk = initiator.get(VertexFetch::PRIM_WALK);
            self.found("bad-walk", format!("{} has PRIM_WALK {walk}, allowed is 3 (VERTEX_EMBEDDED)", row.name));
        }
    }

    /// A draw: `vertex_words` words of vertices follow its initiator.
    fn draw(&mut self, initiator: VertexFetch, vertex_words: usize) {
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
        let Unit { bytes, blocks, rounds } = self.units[n as usize];
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers::other;

    /// The kernel's sizes of compressed levels: short rows have padding.
    #[test]
    fn blocks_have_the_kernels_sizes() {
        for (blocks, [width, height], bytes) in [
            (Blocks::None, [5, 3], 15),
            (Blocks::Dxt1, [16, 4], 32),
            (Blocks::Dxt1, [1, 1], 32),
            (Blocks::Dxt35, [1, 1], 32),
            (Blocks::Dxt35, [9, 5], 96),
        ] {
            assert_eq!(blocks.size(width, height), bytes, "{blocks:?} {width} x {height}");
        }
    }

    /// Every format that the table of registers names has a size, or is refused.
    #[test]
    fn formats_of_the_tables_have_sizes() {
        let refused = |values: &[ctm_isa::table::Value], of: &dyn Fn(u32) -> bool| -> Vec<&'static str> {
            values.iter().filter(|value| !of(value.code)).map(|value| value.name).collect()
        };
        let textures = refused(crate::registers::values::R500_TEXTURE_FORMATS, &|n| texel_bytes(n).is_some());
        assert_eq!(textures, ["AVYU444", "16_MPEG"]);
        let colours = refused(crate::registers::values::R500_COLOUR_FORMATS, &|n| pixel_bytes(n).is_some());
        assert_eq!(colours, ["ARGB10101010", "UV1010", "CI8", "I10"]);
    }

    #[test]
    fn two_dimensional_drawing_takes_relocations() {
        for register in [other::r500::SRC_PITCH_OFFSET::REGISTER, other::r500::DST_PITCH_OFFSET::REGISTER] {
            assert!(crate::registers::R500.takes_relocation(register.offset));
        }
    }
}
