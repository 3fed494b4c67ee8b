//! Rules on streams of the R500: the kernel's checks, with the same values of registers before a stream writes them.
//!
//! The kernel tracks the registers of targets, arrays and textures, and compares their sizes with those of the buffers at each draw. Targets and textures are compared again
//! only after a register of theirs was written.
//!
//! | file | subject |
//! |---|---|
//! | `sizes` | sizes of pixels and texels |
//! | `draws` | the parts of a draw |

mod draws;
mod sizes;

use super::checker::Placed;
use super::rules::{Finding, rule as find_rule};
use super::scratch::Scratch;
use crate::chip::Chip;
use crate::packets::Kind;
use crate::packets::r500::{Command, DrawImmd, DrawImmd2, IndxBuffer, LoadVbpntr, MOST_ARRAYS, VertexArray};
use crate::packets::words::{IndexSize, VertexFetch, Walk};
use crate::registers::{colour, depth, scan, setup, texture, vgt};
use crate::stream::Relocation;
use crate::table::{Bits, Info, Register};
use colour::r500 as rb;
use ctm_isa::diag::Severity;
use depth::r500 as zb;
use rustc_hash::{FxHashMap, FxHashSet};
use sizes::{Blocks, depth_bytes, pixel_bytes, texel_bytes};
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

/// Texture units.
const UNITS: u32 = 16;
/// Colour targets.
const TARGETS: u32 = 4;

/// A texture unit as the kernel tracks it.
#[derive(Clone, Copy, Debug)]
struct TrackedUnit {
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
    registers: Scratch,
    written: FxHashSet<u32>,
    /// The buffers of registers with addresses.
    bounds: FxHashMap<u32, Relocation>,
    /// Arrays of vertices with their buffers; `None`: the stream has set none.
    arrays: Option<Vec<(VertexArray, Option<Relocation>)>>,
    units: [TrackedUnit; UNITS as usize],
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
            registers: Scratch::default(),
            written: FxHashSet::default(),
            bounds: FxHashMap::default(),
            arrays: None,
            units: [TrackedUnit { bytes: 64, blocks: Blocks::None, rounds: [true; 2] }; UNITS as usize],
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
        let operand = placed.operands.get(placed.next);
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
}

#[cfg(test)]
mod tests {
    use crate::registers::other;

    #[test]
    fn two_dimensional_drawing_takes_relocations() {
        for register in [other::r500::SRC_PITCH_OFFSET::REGISTER, other::r500::DST_PITCH_OFFSET::REGISTER] {
            assert!(crate::registers::R500.takes_relocation(register.offset));
        }
    }
}
