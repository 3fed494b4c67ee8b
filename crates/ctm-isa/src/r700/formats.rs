//! The words of R700 microcode: every field, every reserved bit.
//!
//! | instruction | words | manual |
//! |---|---|---|
//! | control flow | `CF_WORD0`, `CF_WORD1` | R700 §10.1 |
//! | ALU clause | `CF_ALU_WORD0`, `CF_ALU_WORD1` | R700 §10.1 |
//! | export, memory write | `CF_ALLOC_EXPORT_WORD0`, `CF_ALLOC_EXPORT_WORD1_SWIZ` or `_BUF` | R700 §10.1 |
//! | ALU | `ALU_WORD0`, `ALU_WORD1_OP2` or `ALU_WORD1_OP3` | R700 §10.2 |
//! | vertex fetch | `VTX_WORD0`, `VTX_WORD1_GPR` or `_SEM`, `VTX_WORD2`, padding | R700 §10.3 |
//! | texture fetch | `TEX_WORD0`..`TEX_WORD2`, padding | R700 §10.4 |
//! | memory read | `MEM_RD_WORD0`..`MEM_RD_WORD2`, padding | R700 §10.5 |
//! | data share | `MEM_DSW_WORD0`..`2`, `MEM_DSR_WORD0`..`2`, padding | R700 §10.6 |
//!
//! Where the manual's text and real programs differ, the resolution of the errata list is used (`docs/manuals.md`).

use super::ops::{
    CfAluOp, CfOp, Chan, Cond, DataFormat, EndianSwap, ExportOp, FetchType, FormatComp, IndexMode, KcacheMode, MemOp,
    MuxCntl, NumFormat, Omod, Op2, Op3, PredSel, RelMode, Sel, SrfMode, TexOp, VtxOp,
};
use crate::table::WordFormat;

word_format! {
    /// Address of a control-flow instruction.
    pub struct CfWord0 "CF_WORD0" dword 0 cite "R700 §10.1" {
        /// Clause or jump target in 64-bit slots from the program start; for WAIT_ACK the number of acknowledgements that may be outstanding.
        31:0    addr: u32 = "ADDR";
    }
}

word_format! {
    /// A control-flow instruction.
    pub struct CfWord1 "CF_WORD1" dword 1 cite "R700 §10.1" {
        /// How many stack entries to pop.
        2:0     pop_count: u8 = "POP_COUNT";
        /// Boolean constant (`COND`) or loop constant.
        7:3     cf_const: u8 = "CF_CONST";
        /// Condition test of each pixel.
        9:8     cond: Cond = "COND";
        /// Low bits of the number of fetches, less one.
        12:10   count: u8 = "COUNT";
        /// How much a CALL adds to the nesting depth, 0..=31.
        18:13   call_count: u8 = "CALL_COUNT";
        /// Bit 3 of the number of fetches, less one.
        19:19   count_3: bool = "COUNT_3";
        /// The program ends after this instruction.
        21:21   end_of_program: bool = "END_OF_PROGRAM";
        /// Execute as if invalid pixels were inactive.
        22:22   valid_pixel_mode: bool = "VALID_PIXEL_MODE";
        /// Operation.
        29:23   op: CfOp = "CF_INST";
        /// Execute as if all pixels were active and valid.
        30:30   whole_quad_mode: bool = "WHOLE_QUAD_MODE";
        /// Wait for all prior instructions.
        31:31   barrier: bool = "BARRIER";
        reserved 20:20;
    }
}

word_format! {
    /// Address and first constant-cache lock of an ALU clause.
    pub struct CfAluWord0 "CF_ALU_WORD0" dword 0 cite "R700 §10.1" {
        /// The clause, in 64-bit slots from the program start.
        21:0    addr: u32 = "ADDR";
        /// Constant buffer of the first set of locked lines.
        25:22   kcache_bank0: u8 = "KCACHE_BANK0";
        /// Constant buffer of the second set.
        29:26   kcache_bank1: u8 = "KCACHE_BANK1";
        /// The lines that the first set locks.
        31:30   kcache_mode0: KcacheMode = "KCACHE_MODE0";
    }
}

word_format! {
    /// An ALU clause.
    pub struct CfAluWord1 "CF_ALU_WORD1" dword 1 cite "R700 §10.1" {
        /// The lines that the second set locks.
        1:0     kcache_mode1: KcacheMode = "KCACHE_MODE1";
        /// First line of the first set, in lines of 16 constants.
        9:2     kcache_addr0: u8 = "KCACHE_ADDR0";
        /// First line of the second set.
        17:10   kcache_addr1: u8 = "KCACHE_ADDR1";
        /// Number of slots in the clause, literals counted, less one.
        24:18   count: u8 = "COUNT";
        /// Use the constants of the other program type (R600: `USES_WATERFALL`).
        25:25   alt_const: bool = "ALT_CONST";
        /// Operation.
        29:26   op: CfAluOp = "CF_INST";
        /// Execute as if all pixels were active and valid.
        30:30   whole_quad_mode: bool = "WHOLE_QUAD_MODE";
        /// Wait for all prior instructions.
        31:31   barrier: bool = "BARRIER";
    }
}

word_format! {
    /// Where an export or memory write goes, and its source register.
    pub struct CfExportWord0 "CF_ALLOC_EXPORT_WORD0" dword 0 cite "R700 §10.1" {
        /// Export index, or base of the array in elements.
        12:0    array_base: u16 = "ARRAY_BASE";
        /// `ExportType` with EXPORT and EXPORT_DONE, `MemWriteType` with MEM_*.
        14:13   kind: u8 = "TYPE";
        /// First register.
        21:15   rw_gpr: u8 = "RW_GPR";
        /// Add aL to the register.
        22:22   rw_rel: bool = "RW_REL";
        /// Register whose X element is the offset of an indexed write.
        29:23   index_gpr: u8 = "INDEX_GPR";
        /// Dwords of an element, less one; ignored by exports.
        31:30   elem_size: u8 = "ELEM_SIZE";
    }
}

word_format! {
    /// An export.
    pub struct CfExportSwiz "CF_ALLOC_EXPORT_WORD1_SWIZ" dword 1 cite "R700 §10.1" {
        /// Source of element x.
        2:0     sel_x: Sel = "SEL_X";
        /// Source of element y.
        5:3     sel_y: Sel = "SEL_Y";
        /// Source of element z.
        8:6     sel_z: Sel = "SEL_Z";
        /// Source of element w.
        11:9    sel_w: Sel = "SEL_W";
        /// How many registers, less one.
        20:17   burst_count: u8 = "BURST_COUNT";
        /// The program ends after this instruction.
        21:21   end_of_program: bool = "END_OF_PROGRAM";
        /// Execute as if invalid pixels were inactive.
        22:22   valid_pixel_mode: bool = "VALID_PIXEL_MODE";
        /// Operation.
        29:23   op: ExportOp = "CF_INST";
        /// Execute as if all pixels were active and valid.
        30:30   whole_quad_mode: bool = "WHOLE_QUAD_MODE";
        /// Wait for all prior instructions.
        31:31   barrier: bool = "BARRIER";
        reserved 16:12;
    }
}

word_format! {
    /// A memory write.
    pub struct CfExportBuf "CF_ALLOC_EXPORT_WORD1_BUF" dword 1 cite "R700 §10.1" {
        /// Size of the array in elements.
        11:0    array_size: u16 = "ARRAY_SIZE";
        /// Which elements are written (bit 0 = x).
        15:12   comp_mask: u8 = "COMP_MASK";
        /// How many registers, less one.
        20:17   burst_count: u8 = "BURST_COUNT";
        /// The program ends after this instruction.
        21:21   end_of_program: bool = "END_OF_PROGRAM";
        /// Execute as if invalid pixels were inactive.
        22:22   valid_pixel_mode: bool = "VALID_PIXEL_MODE";
        /// Operation.
        29:23   op: ExportOp = "CF_INST";
        /// Execute as if all pixels were active and valid.
        30:30   whole_quad_mode: bool = "WHOLE_QUAD_MODE";
        /// Wait for all prior instructions.
        31:31   barrier: bool = "BARRIER";
        reserved 16:16;
    }
}

word_format! {
    /// Operands 0 and 1 of an ALU instruction, and its predication.
    pub struct AluWord0 "ALU_WORD0" dword 0 cite "R700 §10.2" {
        /// Source of operand 0: register, constant, literal, PV, PS.
        8:0     src0_sel: u16 = "SRC0_SEL";
        /// Add the index of `INDEX_MODE`.
        9:9     src0_rel: bool = "SRC0_REL";
        /// Which element.
        11:10   src0_chan: Chan = "SRC0_CHAN";
        /// Negate (after the absolute value).
        12:12   src0_neg: bool = "SRC0_NEG";
        /// Source of operand 1: register, constant, literal, PV, PS.
        21:13   src1_sel: u16 = "SRC1_SEL";
        /// Add the index of `INDEX_MODE`.
        22:22   src1_rel: bool = "SRC1_REL";
        /// Which element.
        24:23   src1_chan: Chan = "SRC1_CHAN";
        /// Negate (after the absolute value).
        25:25   src1_neg: bool = "SRC1_NEG";
        /// The index that relative operands add.
        28:26   index_mode: IndexMode = "INDEX_MODE";
        /// Which pixels execute it.
        30:29   pred_sel: PredSel = "PRED_SEL";
        /// Last instruction of the group.
        31:31   last: bool = "LAST";
    }
}

word_format! {
    /// Operation with up to two operands (the R700 form, `_V2`; R600 has other bit positions).
    pub struct AluOp2 "ALU_WORD1_OP2" dword 1 cite "R700 §10.2" {
        /// Absolute value of operand 0.
        0:0     src0_abs: bool = "SRC0_ABS";
        /// Absolute value of operand 1.
        1:1     src1_abs: bool = "SRC1_ABS";
        /// Make the predicate the active mask at the end of the clause.
        2:2     update_execute_mask: bool = "UPDATE_EXECUTE_MASK";
        /// Store the predicate.
        3:3     update_pred: bool = "UPDATE_PRED";
        /// Write the result to the register.
        4:4     write_mask: bool = "WRITE_MASK";
        /// Output modifier.
        6:5     omod: Omod = "OMOD";
        /// Operation; bits 17:15 are 0.
        17:7    op: Op2 = "ALU_INST";
        /// On which cycle each operand is loaded: `VecSwizzle` in x, y, z, w, `SclSwizzle` in t.
        20:18   bank_swizzle: u8 = "BANK_SWIZZLE";
        /// Destination register.
        27:21   dst_gpr: u8 = "DST_GPR";
        /// Add the index of `INDEX_MODE`.
        28:28   dst_rel: bool = "DST_REL";
        /// Destination element (`DST_ELEM`); with the operation it decides the unit.
        30:29   dst_chan: Chan = "DST_CHAN";
        /// Clamp the result to 0..1.
        31:31   clamp: bool = "CLAMP";
    }
}

word_format! {
    /// Operation with up to two operands as R600 chips have it: only for telling R600 programs from R700 programs.
    pub struct AluOp2R600 "ALU_WORD1_OP2 (R600)" dword 1 cite "r700-encoding §2" {
        /// Absolute value of operand 0.
        0:0     src0_abs: bool = "SRC0_ABS";
        /// Absolute value of operand 1.
        1:1     src1_abs: bool = "SRC1_ABS";
        /// Make the predicate the active mask at the end of the clause.
        2:2     update_execute_mask: bool = "UPDATE_EXECUTE_MASK";
        /// Store the predicate.
        3:3     update_pred: bool = "UPDATE_PRED";
        /// Write the result to the register.
        4:4     write_mask: bool = "WRITE_MASK";
        /// Fog.
        5:5     fog_merge: bool = "FOG_MERGE";
        /// Output modifier.
        7:6     omod: Omod = "OMOD";
        /// Operation.
        17:8    op: Op2 = "ALU_INST";
        /// As on R700.
        20:18   bank_swizzle: u8 = "BANK_SWIZZLE";
        /// Destination register.
        27:21   dst_gpr: u8 = "DST_GPR";
        /// Add the index of `INDEX_MODE`.
        28:28   dst_rel: bool = "DST_REL";
        /// Destination element.
        30:29   dst_chan: Chan = "DST_CHAN";
        /// Clamp the result to 0..1.
        31:31   clamp: bool = "CLAMP";
    }
}

word_format! {
    /// Operation with three operands.
    pub struct AluOp3 "ALU_WORD1_OP3" dword 1 cite "R700 §10.2" {
        /// Source of operand 2: register, constant, literal, PV, PS.
        8:0     src2_sel: u16 = "SRC2_SEL";
        /// Add the index of `INDEX_MODE`.
        9:9     src2_rel: bool = "SRC2_REL";
        /// Which element.
        11:10   src2_chan: Chan = "SRC2_CHAN";
        /// Negate (after the absolute value).
        12:12   src2_neg: bool = "SRC2_NEG";
        /// Operation; bits 17:15 are not all 0.
        17:13   op: Op3 = "ALU_INST";
        /// On which cycle each operand is loaded: `VecSwizzle` in x, y, z, w, `SclSwizzle` in t.
        20:18   bank_swizzle: u8 = "BANK_SWIZZLE";
        /// Destination register.
        27:21   dst_gpr: u8 = "DST_GPR";
        /// Add the index of `INDEX_MODE`.
        28:28   dst_rel: bool = "DST_REL";
        /// Destination element (`DST_ELEM`); with the operation it decides the unit.
        30:29   dst_chan: Chan = "DST_CHAN";
        /// Clamp the result to 0..1.
        31:31   clamp: bool = "CLAMP";
    }
}

word_format! {
    /// Source of a vertex fetch.
    pub struct VtxWord0 "VTX_WORD0" dword 0 cite "R700 §10.3" {
        /// Operation.
        4:0     op: VtxOp = "VTX_INST";
        /// Which index offset is added.
        6:5     fetch_type: FetchType = "FETCH_TYPE";
        /// Fetch for invalid pixels too.
        7:7     fetch_whole_quad: bool = "FETCH_WHOLE_QUAD";
        /// Which buffer (fetch constant).
        15:8    buffer_id: u8 = "BUFFER_ID";
        /// Register with the index.
        22:16   src_gpr: u8 = "SRC_GPR";
        /// Add aL to it.
        23:23   src_rel: bool = "SRC_REL";
        /// Which element of it.
        25:24   src_sel_x: Chan = "SRC_SEL_X";
        /// Bytes to fetch at once, less one.
        31:26   mega_fetch_count: u8 = "MEGA_FETCH_COUNT";
    }
}

word_format! {
    /// Destination and format of FETCH.
    pub struct VtxWord1Gpr "VTX_WORD1_GPR" dword 1 cite "R700 §10.3" {
        /// Destination register.
        6:0     dst_gpr: u8 = "DST_GPR";
        /// Add aL to it.
        7:7     dst_rel: bool = "DST_REL";
        /// Source of x of the result.
        11:9    dst_sel_x: Sel = "DST_SEL_X";
        /// Source of y of the result.
        14:12   dst_sel_y: Sel = "DST_SEL_Y";
        /// Source of z of the result.
        17:15   dst_sel_z: Sel = "DST_SEL_Z";
        /// Source of w of the result.
        20:18   dst_sel_w: Sel = "DST_SEL_W";
        /// Take the format from the fetch constant.
        21:21   use_const_fields: bool = "USE_CONST_FIELDS";
        /// Format of the data in memory.
        27:22   data_format: DataFormat = "DATA_FORMAT";
        /// How its numbers are returned.
        29:28   num_format_all: NumFormat = "NUM_FORMAT_ALL";
        /// Whether its numbers are signed.
        30:30   format_comp_all: FormatComp = "FORMAT_COMP_ALL";
        /// How signed fractions become floats.
        31:31   srf_mode_all: SrfMode = "SRF_MODE_ALL";
        reserved 8:8;
    }
}

word_format! {
    /// Destination and format of SEMANTIC.
    pub struct VtxWord1Sem "VTX_WORD1_SEM" dword 1 cite "R700 §10.3" {
        /// Looks up the destination in the semantic table.
        7:0     semantic_id: u8 = "SEMANTIC_ID";
        /// Source of x of the result.
        11:9    dst_sel_x: Sel = "DST_SEL_X";
        /// Source of y of the result.
        14:12   dst_sel_y: Sel = "DST_SEL_Y";
        /// Source of z of the result.
        17:15   dst_sel_z: Sel = "DST_SEL_Z";
        /// Source of w of the result.
        20:18   dst_sel_w: Sel = "DST_SEL_W";
        /// Take the format from the fetch constant.
        21:21   use_const_fields: bool = "USE_CONST_FIELDS";
        /// Format of the data in memory.
        27:22   data_format: DataFormat = "DATA_FORMAT";
        /// How its numbers are returned.
        29:28   num_format_all: NumFormat = "NUM_FORMAT_ALL";
        /// Whether its numbers are signed.
        30:30   format_comp_all: FormatComp = "FORMAT_COMP_ALL";
        /// How signed fractions become floats.
        31:31   srf_mode_all: SrfMode = "SRF_MODE_ALL";
        reserved 8:8;
    }
}

word_format! {
    /// Place within the buffer.
    pub struct VtxWord2 "VTX_WORD2" dword 2 cite "R700 §10.3" {
        /// Byte offset.
        15:0    offset: u16 = "OFFSET";
        /// Byte order.
        17:16   endian_swap: EndianSwap = "ENDIAN_SWAP";
        /// Force the stride to zero.
        18:18   const_buf_no_stride: bool = "CONST_BUF_NO_STRIDE";
        /// This is a mega-fetch.
        19:19   mega_fetch: bool = "MEGA_FETCH";
        /// Use the constants of the other program type.
        20:20   alt_const: bool = "ALT_CONST";
        reserved 31:21;
    }
}

word_format! {
    /// Operation, resource and source of a texture fetch.
    pub struct TexWord0 "TEX_WORD0" dword 0 cite "R700 §10.4" {
        /// Operation.
        4:0     op: TexOp = "TEX_INST";
        /// Black texture and white border: returns the fraction that hits the border.
        5:5     bc_frac_mode: bool = "BC_FRAC_MODE";
        /// Fetch for invalid pixels too.
        7:7     fetch_whole_quad: bool = "FETCH_WHOLE_QUAD";
        /// Which texture.
        15:8    resource_id: u8 = "RESOURCE_ID";
        /// Register with the coordinates.
        22:16   src_gpr: u8 = "SRC_GPR";
        /// Add aL to it.
        23:23   src_rel: bool = "SRC_REL";
        /// Use the constants of the other program type.
        24:24   alt_const: bool = "ALT_CONST";
        reserved 6:6, 31:25;
    }
}

word_format! {
    /// Destination of a texture fetch.
    pub struct TexWord1 "TEX_WORD1" dword 1 cite "R700 §10.4" {
        /// Destination register.
        6:0     dst_gpr: u8 = "DST_GPR";
        /// Add aL to it.
        7:7     dst_rel: bool = "DST_REL";
        /// Source of x of the result.
        11:9    dst_sel_x: Sel = "DST_SEL_X";
        /// Source of y of the result.
        14:12   dst_sel_y: Sel = "DST_SEL_Y";
        /// Source of z of the result.
        17:15   dst_sel_z: Sel = "DST_SEL_Z";
        /// Source of w of the result.
        20:18   dst_sel_w: Sel = "DST_SEL_W";
        /// Level-of-detail bias, two's complement with 4 fraction bits, -4..4.
        27:21   lod_bias: u8 = "LOD_BIAS";
        /// Coordinate x is normalised.
        28:28   coord_type_x: bool = "COORD_TYPE_X";
        /// Coordinate y is normalised.
        29:29   coord_type_y: bool = "COORD_TYPE_Y";
        /// Coordinate z is normalised.
        30:30   coord_type_z: bool = "COORD_TYPE_Z";
        /// Coordinate w is normalised.
        31:31   coord_type_w: bool = "COORD_TYPE_W";
        reserved 8:8;
    }
}

word_format! {
    /// Offsets, sampler and coordinate swizzle.
    pub struct TexWord2 "TEX_WORD2" dword 2 cite "R700 §10.4" {
        /// Texel offset along x in halves, two's complement.
        4:0     offset_x: u8 = "OFFSET_X";
        /// Texel offset along y in halves, two's complement.
        9:5     offset_y: u8 = "OFFSET_Y";
        /// Texel offset along z in halves, two's complement.
        14:10   offset_z: u8 = "OFFSET_Z";
        /// Which sampler.
        19:15   sampler_id: u8 = "SAMPLER_ID";
        /// Source of coordinate x.
        22:20   src_sel_x: Sel = "SRC_SEL_X";
        /// Source of coordinate y.
        25:23   src_sel_y: Sel = "SRC_SEL_Y";
        /// Source of coordinate z.
        28:26   src_sel_z: Sel = "SRC_SEL_Z";
        /// Source of coordinate w.
        31:29   src_sel_w: Sel = "SRC_SEL_W";
    }
}

word_format! {
    /// Source of a memory read.
    pub struct MemRdWord0 "MEM_RD_WORD0" dword 0 cite "R700 §10.5" {
        /// Always MEM.
        4:0     op: VtxOp = "VTX_INST";
        /// Dwords of an element, less one.
        6:5     elem_size: u8 = "ELEM_SIZE";
        /// Fetch for invalid pixels too.
        7:7     fetch_whole_quad: bool = "FETCH_WHOLE_QUAD";
        /// Which buffer.
        10:8    mem_op: MemOp = "MEM_OP";
        /// Bypass the cache.
        11:11   uncached: bool = "UNCACHED";
        /// Add the source register to the address.
        12:12   indexed: bool = "INDEXED";
        /// 0 on R700.
        14:13   mem_req_size: u8 = "MEM_REQ_SIZE";
        /// Register with the index.
        22:16   src_gpr: u8 = "SRC_GPR";
        /// Add aL to it.
        23:23   src_rel: bool = "SRC_REL";
        /// Which element of it.
        25:24   src_sel_x: Chan = "SRC_SEL_X";
        /// How many reads, less one (not on RV770 and RV790).
        29:26   burst_cnt: u8 = "BURST_CNT";
        reserved 15:15, 31:30;
    }
}

word_format! {
    /// Destination and format of a memory read.
    pub struct MemRdWord1 "MEM_RD_WORD1" dword 1 cite "R700 §10.5" {
        /// Destination register.
        6:0     dst_gpr: u8 = "DST_GPR";
        /// Add aL to it.
        7:7     dst_rel: bool = "DST_REL";
        /// Source of x of the result.
        11:9    dst_sel_x: Sel = "DST_SEL_X";
        /// Source of y of the result.
        14:12   dst_sel_y: Sel = "DST_SEL_Y";
        /// Source of z of the result.
        17:15   dst_sel_z: Sel = "DST_SEL_Z";
        /// Source of w of the result.
        20:18   dst_sel_w: Sel = "DST_SEL_W";
        /// Format of the data in memory.
        27:22   data_format: DataFormat = "DATA_FORMAT";
        /// How its numbers are returned.
        29:28   num_format_all: NumFormat = "NUM_FORMAT_ALL";
        /// Whether its numbers are signed.
        30:30   format_comp_all: FormatComp = "FORMAT_COMP_ALL";
        /// How signed fractions become floats.
        31:31   srf_mode_all: SrfMode = "SRF_MODE_ALL";
        reserved 8:8, 21:21;
    }
}

word_format! {
    /// The array of a memory read.
    pub struct MemRdWord2 "MEM_RD_WORD2" dword 2 cite "R700 §10.5" {
        /// Base of the array in elements.
        12:0    array_base: u16 = "ARRAY_BASE";
        /// Byte order.
        17:16   endian_swap: EndianSwap = "ENDIAN_SWAP";
        /// Must be 1.
        19:19   mega_fetch: bool = "MEGA_FETCH";
        /// Size of the array in elements.
        31:20   array_size: u16 = "ARRAY_SIZE";
        reserved 15:13, 18:18;
    }
}

word_format! {
    /// Source of a local data share write.
    pub struct MemDswWord0 "MEM_DSW_WORD0" dword 0 cite "R700 §10.6" {
        /// Always MEM.
        4:0     op: VtxOp = "VTX_INST";
        /// Always LOCAL_DS_WRITE.
        10:8    mem_op: MemOp = "MEM_OP";
        /// Register with the data.
        17:11   src_gpr: u8 = "SRC_GPR";
        /// How it is addressed.
        19:18   src_rel_mode: RelMode = "SRC_REL_MODE";
        /// The element written as dword 0.
        22:20   src_sel_x: Sel = "SRC_SEL_X";
        /// The element written as dword 1.
        25:23   src_sel_y: Sel = "SRC_SEL_Y";
        /// The element written as dword 2.
        28:26   src_sel_z: Sel = "SRC_SEL_Z";
        /// The element written as dword 3.
        31:29   src_sel_w: Sel = "SRC_SEL_W";
        reserved 7:5;
    }
}

word_format! {
    /// Destination of a local data share write.
    pub struct MemDswWord1 "MEM_DSW_WORD1" dword 1 cite "R700 §10.6" {
        /// Index in dwords, low bits.
        5:0     dst_index: u8 = "DST_INDEX";
        /// Index, high bits.
        7:6     dst_index_ext: u8 = "DST_INDEX_EXT";
        /// Stride in dwords, low bits.
        22:16   dst_stride: u8 = "DST_STRIDE";
        /// Stride, high bits.
        24:23   dst_stride_ext: u8 = "DST_STRIDE_EXT";
        /// The address is relative to each wavefront of a group.
        31:31   simd_wave_rel: bool = "SIMD_WAVE_REL";
        reserved 15:8, 30:25;
    }
}

word_format! {
    /// Burst of a local data share write.
    pub struct MemDswWord2 "MEM_DSW_WORD2" dword 2 cite "R700 §10.6" {
        /// How many writes, less one.
        3:0     burst_cnt: u8 = "BURST_CNT";
        reserved 31:4;
    }
}

word_format! {
    /// Source of a local data share read.
    pub struct MemDsrWord0 "MEM_DSR_WORD0" dword 0 cite "R700 §10.6" {
        /// Always MEM.
        4:0     op: VtxOp = "VTX_INST";
        /// Always LOCAL_DS_READ.
        10:8    mem_op: MemOp = "MEM_OP";
        /// Register with index (x) and address (y).
        17:11   src_gpr: u8 = "SRC_GPR";
        /// How it is addressed.
        19:18   src_rel_mode: RelMode = "SRC_REL_MODE";
        /// The index.
        22:20   src_sel_x: Sel = "SRC_SEL_X";
        /// The address.
        25:23   src_sel_y: Sel = "SRC_SEL_Y";
        /// Offset added to the address.
        31:26   rd_offset: u8 = "RD_OFFSET";
        reserved 7:5;
    }
}

word_format! {
    /// Destination of a local data share read.
    pub struct MemDsrWord1 "MEM_DSR_WORD1" dword 1 cite "R700 §10.6" {
        /// Destination register.
        6:0     dst_gpr: u8 = "DST_GPR";
        /// How it is addressed.
        8:7     dst_rel_mode: RelMode = "DST_REL_MODE";
        /// Write element x.
        9:9     dst_wr_x: bool = "DST_WR_X";
        /// Write element y.
        10:10   dst_wr_y: bool = "DST_WR_Y";
        /// Write element z.
        11:11   dst_wr_z: bool = "DST_WR_Z";
        /// Write element w.
        12:12   dst_wr_w: bool = "DST_WR_W";
        /// All threads receive the value read by the first valid one.
        16:16   broadcast: bool = "BROADCAST";
        /// Read in four passes: addresses are arbitrary.
        17:17   waterfall: bool = "WATERFALL";
        /// Read multiplexer.
        22:20   mux_cntl: MuxCntl = "MUX_CNTL";
        reserved 15:13, 19:18, 31:23;
    }
}

word_format! {
    /// Burst of a local data share read.
    pub struct MemDsrWord2 "MEM_DSR_WORD2" dword 2 cite "R700 §10.6" {
        /// How many reads, less one.
        3:0     burst_cnt: u8 = "BURST_CNT";
        reserved 31:4;
    }
}

/// Every word format, in the manual's order.
pub const WORDS: &[WordFormat] = &[
    CfWord0::FORMAT,
    CfWord1::FORMAT,
    CfAluWord0::FORMAT,
    CfAluWord1::FORMAT,
    CfExportWord0::FORMAT,
    CfExportSwiz::FORMAT,
    CfExportBuf::FORMAT,
    AluWord0::FORMAT,
    AluOp2::FORMAT,
    AluOp3::FORMAT,
    VtxWord0::FORMAT,
    VtxWord1Gpr::FORMAT,
    VtxWord1Sem::FORMAT,
    VtxWord2::FORMAT,
    TexWord0::FORMAT,
    TexWord1::FORMAT,
    TexWord2::FORMAT,
    MemRdWord0::FORMAT,
    MemRdWord1::FORMAT,
    MemRdWord2::FORMAT,
    MemDswWord0::FORMAT,
    MemDswWord1::FORMAT,
    MemDswWord2::FORMAT,
    MemDsrWord0::FORMAT,
    MemDsrWord1::FORMAT,
    MemDsrWord2::FORMAT,
];
