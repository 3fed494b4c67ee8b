//! The R500: its packets (table), and its chips.

use super::words::{ArrayCount, ArrayPair, IndexPort, R500Type0, VertexFetch};
use crate::chip::{Chip, Family, RegisterHeader, places};
use crate::registers::{self, depth};

/// The RV530: Radeon X1600. A packet of type 0 may write all its words to one register, a port.
pub static RV530: Chip = Chip { name: "RV530", refused: &[], ..R580 };

/// The R580: Radeon X1900.
pub static R580: Chip = Chip {
    name: "R580",
    family: Family::R500,
    register_header: RegisterHeader { register: R500Type0::REGISTER, one_register: Some(R500Type0::ONE_REG_WR) },
    packets: PACKETS,
    places: places(PACKETS),
    registers: &registers::R500,
    refused: &[depth::r500::FG_ZBREG_DEST::REGISTER],
};

#[rustfmt::skip]
packets! {
    Nop "NOP" 0x10 Program AtLeast(1) {} "nothing; of one word: a relocation";
    DrawVbuf "3D_DRAW_VBUF" 0x28 Program Exactly(2) { vertex_format: u32, initiator: VertexFetch } "draws with vertices from memory";
    DrawImmd "3D_DRAW_IMMD" 0x29 Program AtLeast(2) { vertex_format: u32, initiator: VertexFetch } "draws with vertices that follow";
    DrawIndx "3D_DRAW_INDX" 0x2a Program AtLeast(2) { vertex_format: u32, initiator: VertexFetch } "draws with indices that follow";
    LoadVbpntr "3D_LOAD_VBPNTR" 0x2f Program AtLeast(1) { count: ArrayCount } "sets the arrays of vertices";
    ClearZmask "3D_CLEAR_ZMASK" 0x32 Program Exactly(3) { start: u32, count: u32, value: u32 } "clears the mask of depth tiles";
    IndxBuffer "INDX_BUFFER" 0x33 Program Exactly(3) { port: IndexPort, offset: u32, dwords: u32 } "gives the indices of the draw before it";
    DrawVbuf2 "3D_DRAW_VBUF_2" 0x34 Program Exactly(1) { initiator: VertexFetch } "draws with vertices from memory";
    DrawImmd2 "3D_DRAW_IMMD_2" 0x35 Program AtLeast(1) { initiator: VertexFetch } "draws with vertices that follow";
    DrawIndx2 "3D_DRAW_INDX_2" 0x36 Program AtLeast(1) { initiator: VertexFetch } "draws with indices that follow";
    ClearHiz "3D_CLEAR_HIZ" 0x37 Program Exactly(3) { start: u32, count: u32, value: u32 } "clears coarse depth";
    ClearCmask "3D_CLEAR_CMASK" 0x38 Program Exactly(3) { start: u32, count: u32, value: u32 } "clears the mask of colour tiles";
}

/// An array of vertices, as 3D_LOAD_VBPNTR sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct VertexArray {
    /// Dwords of an element.
    pub size: u32,
    /// Dwords from one element to the next; 0: all vertices have the first.
    pub stride: u32,
    /// The byte address of the first element.
    pub address: u32,
}

impl VertexArray {
    /// The bytes before an element.
    pub(crate) const fn place(&self, number: u32) -> u64 {
        4 * self.stride as u64 * number as u64
    }
}

/// Most arrays of vertices.
pub const MOST_ARRAYS: u32 = 16;

impl LoadVbpntr {
    /// The arrays of the words after a header; those that the packet is too short for are missing.
    pub fn arrays(words: &[u32]) -> impl Iterator<Item = VertexArray> + '_ {
        let count = Self::of(words).count.arrays() as usize;
        let pairs = words.get(1..).unwrap_or_default().chunks(3);
        let of = |pair: &[u32]| {
            let sizes = ArrayPair(pair[0]);
            let both =
                [(sizes.size_0(), sizes.stride_0(), pair.get(1)), (sizes.size_1(), sizes.stride_1(), pair.get(2))];
            both.map(|(size, stride, address)| address.map(|&address| VertexArray { size, stride, address }))
        };
        pairs.flat_map(of).flatten().take(count)
    }
}
