//! The chip R500: its packets (table).
//!
//! Its registers have no rows yet: text has their offsets.

use super::words::{R500Type0, VertexFetch};
use crate::chip::{Chip, RegisterHeader};
use crate::registers;

/// The R3xx to R5xx. A packet of type 0 may write all its words to one register, a port.
pub static R500: Chip = Chip {
    name: "R500",
    register_header: RegisterHeader { register: R500Type0::REGISTER, one_register: Some(R500Type0::ONE_REG_WR) },
    packets: PACKETS,
    registers: &registers::R500,
};

#[rustfmt::skip]
packets! {
    Nop "NOP" 0x10 Program AtLeast(1) {} "nothing; of one word: a relocation";
    DrawVbuf "3D_DRAW_VBUF" 0x28 Program Exactly(2) { vertex_format: u32, initiator: VertexFetch } "draws with vertices from memory";
    DrawImmd "3D_DRAW_IMMD" 0x29 Program AtLeast(2) { vertex_format: u32, initiator: VertexFetch } "draws with vertices that follow";
    DrawIndx "3D_DRAW_INDX" 0x2a Program AtLeast(2) { vertex_format: u32, initiator: VertexFetch } "draws with indices that follow";
    LoadVbpntr "3D_LOAD_VBPNTR" 0x2f Program AtLeast(1) { count: u32 } "sets the arrays of vertices";
    ClearZmask "3D_CLEAR_ZMASK" 0x32 Program Exactly(3) { start: u32, count: u32, value: u32 } "clears the mask of depth tiles";
    IndxBuffer "INDX_BUFFER" 0x33 Program Exactly(3) { port: u32, offset: u32, dwords: u32 } "gives the indices of the draw before it";
    DrawVbuf2 "3D_DRAW_VBUF_2" 0x34 Program Exactly(1) { initiator: VertexFetch } "draws with vertices from memory";
    DrawImmd2 "3D_DRAW_IMMD_2" 0x35 Program AtLeast(1) { initiator: VertexFetch } "draws with vertices that follow";
    DrawIndx2 "3D_DRAW_INDX_2" 0x36 Program AtLeast(1) { initiator: VertexFetch } "draws with indices that follow";
    ClearHiz "3D_CLEAR_HIZ" 0x37 Program Exactly(3) { start: u32, count: u32, value: u32 } "clears coarse depth";
    ClearCmask "3D_CLEAR_CMASK" 0x38 Program Exactly(3) { start: u32, count: u32, value: u32 } "clears the mask of colour tiles";
}
