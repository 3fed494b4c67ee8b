//! SQ: programs, constants, rings.

use ctm_isa::table::Field;

/// The size of a constant buffer in units of 256 bytes, in ALU_CONST_BUFFER_SIZE_PS and its like.
pub(crate) const CONSTANT_BUFFER_SIZE: Field = Field { name: "DATA", msb: 8, lsb: 0, doc: "bytes / 256", values: &[] };

registers! {
    SQ_THREAD_RESOURCE_MGMT = 0x08c0c, 1 every 4, number, "how threads are shared out" {
        NUM_PS_THREADS 7:0 [] "";
        NUM_VS_THREADS 15:8 [] "";
        NUM_GS_THREADS 23:16 [] "";
        NUM_ES_THREADS 31:24 [] "";
    }
    SQ_STACK_RESOURCE_MGMT_1 = 0x08c10, 1 every 4, number, "how stack entries are shared out, first half" {
        NUM_PS_STACK_ENTRIES 11:0 [] "";
        NUM_VS_STACK_ENTRIES 27:16 [] "";
    }
    SQ_STACK_RESOURCE_MGMT_2 = 0x08c14, 1 every 4, number, "how stack entries are shared out, second half" {
        NUM_GS_STACK_ENTRIES 11:0 [] "";
        NUM_ES_STACK_ENTRIES 27:16 [] "";
    }
    SQ_ESGS_RING_BASE = 0x08c40, 1 every 4, address, "ring between vertex and geometry program" {}
    SQ_ESGS_RING_SIZE = 0x08c44, 1 every 4, number, "ring between vertex and geometry program: bytes / 256" {}
    SQ_GSVS_RING_BASE = 0x08c48, 1 every 4, address, "ring between geometry and copy program" {}
    SQ_GSVS_RING_SIZE = 0x08c4c, 1 every 4, number, "ring between geometry and copy program: bytes / 256" {}
    SQ_ESTMP_RING_BASE = 0x08c50, 1 every 4, address, "scratch memory of export programs" {}
    SQ_ESTMP_RING_SIZE = 0x08c54, 1 every 4, number, "scratch memory of export programs: bytes / 256" {}
    SQ_GSTMP_RING_BASE = 0x08c58, 1 every 4, address, "scratch memory of geometry programs: address / 256" {}
    SQ_GSTMP_RING_SIZE = 0x08c5c, 1 every 4, number, "scratch memory of geometry programs: bytes / 256" {}
    SQ_VSTMP_RING_BASE = 0x08c60, 1 every 4, address, "scratch memory of vertex programs: address / 256" {}
    SQ_VSTMP_RING_SIZE = 0x08c64, 1 every 4, number, "scratch memory of vertex programs: bytes / 256" {}
    SQ_PSTMP_RING_BASE = 0x08c68, 1 every 4, address, "scratch memory of pixel programs: address / 256" {}
    SQ_PSTMP_RING_SIZE = 0x08c6c, 1 every 4, number, "scratch memory of pixel programs: bytes / 256" {}
    SQ_FBUF_RING_BASE = 0x08c70, 1 every 4, number, "fetch buffer: address / 256" {}
    SQ_FBUF_RING_SIZE = 0x08c74, 1 every 4, number, "fetch buffer: bytes / 256" {}
    SQ_REDUC_RING_BASE = 0x08c78, 1 every 4, number, "reduction buffer: address / 256" {}
    SQ_REDUC_RING_SIZE = 0x08c7c, 1 every 4, number, "reduction buffer: bytes / 256" {}
    ALU_CONST_CACHE_PS_0 = 0x28940, 16 every 4, address, "constant buffer of the pixel program" {}
    ALU_CONST_CACHE_VS_0 = 0x28980, 16 every 4, address, "constant buffer of the vertex or export program" {}
    ALU_CONST_CACHE_GS_0 = 0x289c0, 16 every 4, address, "constant buffer of the geometry program" {}
    SQ_VTX_BASE_VTX_LOC = 0x3cff0, 1 every 4, number, "added to the index of fetches of vertex data" {}
    SQ_VTX_START_INST_LOC = 0x3cff4, 1 every 4, number, "added to the index of fetches of instance data" {}
    SQ_LOOP_CONST_0 = 0x3e200, 96 every 4, number, "loop constant: 32 each for pixel, vertex and geometry programs" {
        COUNT 11:0 [] "trip count";
        INIT 23:12 [] "first value";
        INC 31:24 [] "step";
    }
    SQ_BOOL_CONST_0 = 0x3e380, 3 every 4, number, "32 booleans: pixel, vertex, geometry program" {}
}
