//! The registers that R700 containers set beside a program: address, name, every field (table).
//!
//! The names and positions are those of AMD's R6xx/R7xx 3D register reference, which Mesa, Linux and the console's tools share.

use ctm_isa::table::WordFormat;
use ctm_isa::word_format;
use std::collections::HashMap;
use std::sync::LazyLock;

word_format! {
    /// Resources of a program.
    pub struct PgmResources "SQ_PGM_RESOURCES" dword 0 cite "R6xx/R7xx 3D registers" {
        /// GPRs of one thread.
        7:0     num_gprs: u8 = "NUM_GPRS";
        /// Stack entries of one wavefront.
        15:8    stack_size: u8 = "STACK_SIZE";
        /// Clamping turns NaN into 0.
        21:21   dx10_clamp: bool = "DX10_CLAMP";
        /// Load the instruction cache before the program starts.
        22:22   prime_cache_pgm_en: bool = "PRIME_CACHE_PGM_EN";
        /// Load it at every draw.
        23:23   prime_cache_on_draw: bool = "PRIME_CACHE_ON_DRAW";
        /// How many lines of it.
        26:24   fetch_cache_lines: u8 = "FETCH_CACHE_LINES";
        /// The first instruction is not cached.
        28:28   uncached_first_inst: bool = "UNCACHED_FIRST_INST";
        /// Load the constant cache.
        29:29   prime_cache_enable: bool = "PRIME_CACHE_ENABLE";
        /// Load it when constants change.
        30:30   prime_cache_on_const: bool = "PRIME_CACHE_ON_CONST";
        /// Clamp constants to -1..1; pixel programs only.
        31:31   clamp_consts: bool = "CLAMP_CONSTS";
        reserved 20:16, 27:27;
    }
}

word_format! {
    /// Exports of a pixel program.
    pub struct PgmExportsPs "SQ_PGM_EXPORTS_PS" dword 0 cite "R6xx/R7xx 3D registers" {
        /// Bit 0: a depth. Bits 4:1: how many colours.
        4:0     export_mode: u8 = "EXPORT_MODE";
        reserved 31:5;
    }
}

impl PgmExportsPs {
    /// How many colours are exported.
    #[must_use]
    pub const fn colours(&self) -> u8 {
        self.export_mode >> 1
    }

    /// Whether a depth is exported.
    #[must_use]
    pub const fn depth(&self) -> bool {
        self.export_mode & 1 != 0
    }
}

word_format! {
    /// A register that is one number: an address, an offset or a size.
    pub struct Plain "VALUE" dword 0 cite "R6xx/R7xx 3D registers" {
        /// The number.
        31:0    value: u32 = "VALUE";
    }
}

word_format! {
    /// Which values the interpolators deliver to GPRs.
    pub struct PsInControl0 "SPI_PS_IN_CONTROL_0" dword 0 cite "R6xx/R7xx 3D registers" {
        /// How many parameters.
        5:0     num_interp: u8 = "NUM_INTERP";
        /// Deliver the position.
        8:8     position_ena: bool = "POSITION_ENA";
        /// At the centroid.
        9:9     position_centroid: bool = "POSITION_CENTROID";
        /// The position's GPR.
        14:10   position_addr: u8 = "POSITION_ADDR";
        /// Which parameters are generated.
        18:15   param_gen: u8 = "PARAM_GEN";
        /// The GPR for them.
        25:19   param_gen_addr: u8 = "PARAM_GEN_ADDR";
        /// Which barycentric coordinates are sampled.
        27:26   baryc_sample_cntl: u8 = "BARYC_SAMPLE_CNTL";
        /// Perspective gradients.
        28:28   persp_gradient_ena: bool = "PERSP_GRADIENT_ENA";
        /// Linear gradients.
        29:29   linear_gradient_ena: bool = "LINEAR_GRADIENT_ENA";
        /// The position at the sample.
        30:30   position_sample: bool = "POSITION_SAMPLE";
        /// Barycentric coordinates at the sample.
        31:31   baryc_at_sample_ena: bool = "BARYC_AT_SAMPLE_ENA";
        reserved 7:6;
    }
}

word_format! {
    /// Which further values are delivered to GPRs.
    pub struct PsInControl1 "SPI_PS_IN_CONTROL_1" dword 0 cite "R6xx/R7xx 3D registers" {
        /// Deliver the pixel's index.
        0:0     gen_index_pix: bool = "GEN_INDEX_PIX";
        /// Its GPR.
        7:1     gen_index_pix_addr: u8 = "GEN_INDEX_PIX_ADDR";
        /// Deliver the face.
        8:8     front_face_ena: bool = "FRONT_FACE_ENA";
        /// Its element.
        10:9    front_face_chan: u8 = "FRONT_FACE_CHAN";
        /// All bits instead of the sign.
        11:11   front_face_all_bits: bool = "FRONT_FACE_ALL_BITS";
        /// Its GPR.
        16:12   front_face_addr: u8 = "FRONT_FACE_ADDR";
        /// The fog's GPR.
        23:17   fog_addr: u8 = "FOG_ADDR";
        /// Deliver the position as integers.
        24:24   fixed_pt_position_ena: bool = "FIXED_PT_POSITION_ENA";
        /// Its GPR.
        29:25   fixed_pt_position_addr: u8 = "FIXED_PT_POSITION_ADDR";
        /// The position is the pixel's upper left corner.
        30:30   position_ulc: bool = "POSITION_ULC";
        reserved 31:31;
    }
}

word_format! {
    /// One interpolated parameter: GPR n receives the vertex program's export with the same semantic number.
    pub struct PsInputCntl "SPI_PS_INPUT_CNTL" dword 0 cite "R6xx/R7xx 3D registers" {
        /// The semantic number.
        7:0     semantic: u8 = "SEMANTIC";
        /// The default without an export: 0 (0,0,0,0), 1 (0,0,0,1), 2 (1,1,1,0), 3 (1,1,1,1).
        9:8     default_val: u8 = "DEFAULT_VAL";
        /// Not interpolated.
        10:10   flat_shade: bool = "FLAT_SHADE";
        /// At the centroid.
        11:11   sel_centroid: bool = "SEL_CENTROID";
        /// Linear, not perspective.
        12:12   sel_linear: bool = "SEL_LINEAR";
        /// Cylindrical wrapping of each element.
        16:13   cyl_wrap: u8 = "CYL_WRAP";
        /// Replaced by the point sprite's coordinates.
        17:17   pt_sprite_tex: bool = "PT_SPRITE_TEX";
        /// At the sample.
        18:18   sel_sample: bool = "SEL_SAMPLE";
        reserved 31:19;
    }
}

word_format! {
    /// Whether pixel programs receive the depth.
    pub struct InputZ "SPI_INPUT_Z" dword 0 cite "R6xx/R7xx 3D registers" {
        /// They do.
        0:0     provide_z_to_spi: bool = "PROVIDE_Z_TO_SPI";
        reserved 31:1;
    }
}

word_format! {
    /// Exports of a vertex program.
    pub struct VsOutConfig "SPI_VS_OUT_CONFIG" dword 0 cite "R6xx/R7xx 3D registers" {
        /// Semantics are given for each component.
        0:0     vs_per_component: bool = "VS_PER_COMPONENT";
        /// How many parameters, minus 1.
        5:1     vs_export_count: u8 = "VS_EXPORT_COUNT";
        /// A fog value among them.
        8:8     vs_exports_fog: bool = "VS_EXPORTS_FOG";
        /// Which one.
        13:9    vs_out_fog_vec_addr: u8 = "VS_OUT_FOG_VEC_ADDR";
        reserved 7:6, 31:14;
    }
}

word_format! {
    /// Semantic numbers of four exported parameters; 255 for none.
    pub struct VsOutId "SPI_VS_OUT_ID" dword 0 cite "R6xx/R7xx 3D registers" {
        /// Of the first.
        7:0     semantic_0: u8 = "SEMANTIC_0";
        /// Of the second.
        15:8    semantic_1: u8 = "SEMANTIC_1";
        /// Of the third.
        23:16   semantic_2: u8 = "SEMANTIC_2";
        /// Of the fourth.
        31:24   semantic_3: u8 = "SEMANTIC_3";
    }
}

word_format! {
    /// Which vertex attribute goes to GPR n + 1.
    pub struct VtxSemantic "SQ_VTX_SEMANTIC" dword 0 cite "R6xx/R7xx 3D registers" {
        /// The attribute's semantic number; 255 for none.
        7:0     semantic_id: u8 = "SEMANTIC_ID";
        reserved 31:8;
    }
}

word_format! {
    /// Exports of a vertex program besides position and parameters.
    pub struct VsOutCntl "PA_CL_VS_OUT_CNTL" dword 0 cite "R6xx/R7xx 3D registers" {
        /// Which clip distances.
        7:0     clip_dist_ena: u8 = "CLIP_DIST_ENA";
        /// Which cull distances.
        15:8    cull_dist_ena: u8 = "CULL_DIST_ENA";
        /// The point size.
        16:16   use_vtx_point_size: bool = "USE_VTX_POINT_SIZE";
        /// The edge flag.
        17:17   use_vtx_edge_flag: bool = "USE_VTX_EDGE_FLAG";
        /// The layer.
        18:18   use_vtx_render_target_indx: bool = "USE_VTX_RENDER_TARGET_INDX";
        /// The viewport.
        19:19   use_vtx_viewport_indx: bool = "USE_VTX_VIEWPORT_INDX";
        /// The kill flag.
        20:20   use_vtx_kill_flag: bool = "USE_VTX_KILL_FLAG";
        /// POS1 is exported.
        21:21   vs_out_misc_vec_ena: bool = "VS_OUT_MISC_VEC_ENA";
        /// The first four distances are exported.
        22:22   vs_out_ccdist0_vec_ena: bool = "VS_OUT_CCDIST0_VEC_ENA";
        /// The other four distances are exported.
        23:23   vs_out_ccdist1_vec_ena: bool = "VS_OUT_CCDIST1_VEC_ENA";
        /// POS1 goes over the side bus.
        24:24   vs_out_misc_side_bus_ena: bool = "VS_OUT_MISC_SIDE_BUS_ENA";
        /// The geometry program's cut flag.
        25:25   use_vtx_gs_cut_flag: bool = "USE_VTX_GS_CUT_FLAG";
        reserved 31:26;
    }
}

word_format! {
    /// Which components of which colours are written: four bits each.
    pub struct ShaderMask "CB_SHADER_MASK" dword 0 cite "R6xx/R7xx 3D registers" {
        /// Colour 0.
        3:0     output0: u8 = "OUTPUT0_ENABLE";
        /// Colour 1.
        7:4     output1: u8 = "OUTPUT1_ENABLE";
        /// Colour 2.
        11:8    output2: u8 = "OUTPUT2_ENABLE";
        /// Colour 3.
        15:12   output3: u8 = "OUTPUT3_ENABLE";
        /// Colour 4.
        19:16   output4: u8 = "OUTPUT4_ENABLE";
        /// Colour 5.
        23:20   output5: u8 = "OUTPUT5_ENABLE";
        /// Colour 6.
        27:24   output6: u8 = "OUTPUT6_ENABLE";
        /// Colour 7.
        31:28   output7: u8 = "OUTPUT7_ENABLE";
    }
}

word_format! {
    /// Which colour targets are written.
    pub struct ShaderControl "CB_SHADER_CONTROL" dword 0 cite "R6xx/R7xx 3D registers" {
        /// One bit for each target.
        7:0     rt_enable: u8 = "RT_ENABLE";
        reserved 31:8;
    }
}

word_format! {
    /// Effects of a pixel program on depth and coverage.
    pub struct DbShaderControl "DB_SHADER_CONTROL" dword 0 cite "R6xx/R7xx 3D registers" {
        /// Exports a depth.
        0:0     z_export_enable: bool = "Z_EXPORT_ENABLE";
        /// Exports a stencil reference.
        1:1     stencil_ref_export_enable: bool = "STENCIL_REF_EXPORT_ENABLE";
        /// When the depth test is made: 0 late, 1 early then late, 2 re-Z, 3 early then re-Z.
        5:4     z_order: u8 = "Z_ORDER";
        /// Kills pixels.
        6:6     kill_enable: bool = "KILL_ENABLE";
        /// Coverage goes to the mask.
        7:7     coverage_to_mask_enable: bool = "COVERAGE_TO_MASK_ENABLE";
        /// Exports a mask.
        8:8     mask_export_enable: bool = "MASK_EXPORT_ENABLE";
        /// Two exports at a time.
        9:9     dual_export_enable: bool = "DUAL_EXPORT_ENABLE";
        /// Runs although the hierarchical test failed.
        10:10   exec_on_hier_fail: bool = "EXEC_ON_HIER_FAIL";
        /// Runs although nothing would be written.
        11:11   exec_on_noop: bool = "EXEC_ON_NOOP";
        /// No alpha to mask.
        12:12   alpha_to_mask_disable: bool = "ALPHA_TO_MASK_DISABLE";
        reserved 3:2, 31:13;
    }
}

word_format! {
    /// The size of one item in a ring.
    pub struct RingItemsize "RING_ITEMSIZE" dword 0 cite "R6xx/R7xx 3D registers" {
        /// In dwords.
        14:0    itemsize: u16 = "ITEMSIZE";
        reserved 31:15;
    }
}

word_format! {
    /// Geometry mode.
    pub struct GsMode "VGT_GS_MODE" dword 0 cite "R6xx/R7xx 3D registers" {
        /// 0 off, 1 scenario A, 2 scenario B, 3 scenario G.
        1:0     mode: u8 = "MODE";
        /// Export-shader pass-through.
        2:2     es_passthru: bool = "ES_PASSTHRU";
        /// How many vertices until a cut: 0 1024, 1 512, 2 256, 3 128.
        4:3     cut_mode: u8 = "CUT_MODE";
        /// High bit of the mode.
        8:8     mode_hi: bool = "MODE_HI";
        /// Constants are packed.
        11:11   gs_c_pack_en: bool = "GS_C_PACK_EN";
        /// Compute.
        14:14   compute_mode: bool = "COMPUTE_MODE";
        /// Fast compute.
        15:15   fast_compute_mode: bool = "FAST_COMPUTE_MODE";
        /// Element information.
        16:16   element_info_en: bool = "ELEMENT_INFO_EN";
        /// A partial thread at the end of an instance.
        17:17   partial_thd_at_eoi: bool = "PARTIAL_THD_AT_EOI";
        reserved 7:5, 10:9, 13:12, 31:18;
    }
}

word_format! {
    /// The output primitive of a geometry program.
    pub struct GsOutPrimType "VGT_GS_OUT_PRIM_TYPE" dword 0 cite "R6xx/R7xx 3D registers" {
        /// 0 points, 1 line strips, 2 triangle strips.
        5:0     prim_type: u8 = "PRIM_TYPE";
        reserved 31:6;
    }
}

word_format! {
    /// One flag.
    pub struct Enable "ENABLE" dword 0 cite "R6xx/R7xx 3D registers" {
        /// It is set.
        0:0     enable: bool = "ENABLE";
        reserved 31:1;
    }
}

word_format! {
    /// Which stream-out buffers are written.
    pub struct StrmoutBufferEn "VGT_STRMOUT_BUFFER_EN" dword 0 cite "R6xx/R7xx 3D registers" {
        /// One bit for each buffer.
        3:0     buffer_en: u8 = "BUFFER_EN";
        reserved 31:4;
    }
}

word_format! {
    /// A depth of reuse.
    pub struct ReuseDepth "REUSE_DEPTH" dword 0 cite "R6xx/R7xx 3D registers" {
        /// In vertices.
        7:0     depth: u8 = "DEPTH";
        reserved 31:8;
    }
}

word_format! {
    /// How the sequencer works.
    pub struct SqConfig "SQ_CONFIG" dword 0 cite "R6xx/R7xx 3D registers" {
        /// There is a vertex cache.
        0:0     vc_enable: bool = "VC_ENABLE";
        /// Exports come from source C.
        1:1     export_src_c: bool = "EXPORT_SRC_C";
        /// The constant file is in use, not the constant cache.
        2:2     dx9_consts: bool = "DX9_CONSTS";
        /// ALU instructions prefer the vector units.
        3:3     alu_inst_prefer_vector: bool = "ALU_INST_PREFER_VECTOR";
        /// Clamping turns NaN into 0.
        4:4     dx10_clamp: bool = "DX10_CLAMP";
        /// Waterfalls.
        6:5     waterfall: u8 = "ALU_WATERFALL";
        /// Priority of clauses.
        9:8     clause_seq_prio: u8 = "CLAUSE_SEQ_PRIO";
        /// GPR numbers are not clamped.
        10:10   no_gpr_clamp: bool = "NO_GPR_CLAMP";
        /// Texture skew.
        11:11   en_tex_skew: bool = "EN_TEX_SKEW";
        /// Priority of pixel programs.
        25:24   ps_prio: u8 = "PS_PRIO";
        /// Of vertex programs.
        27:26   vs_prio: u8 = "VS_PRIO";
        /// Of geometry programs.
        29:28   gs_prio: u8 = "GS_PRIO";
        /// Of export programs.
        31:30   es_prio: u8 = "ES_PRIO";
        reserved 7:7, 23:12;
    }
}

word_format! {
    /// How the GPRs are shared out, first half.
    pub struct GprMgmt1 "SQ_GPR_RESOURCE_MGMT_1" dword 0 cite "R6xx/R7xx 3D registers" {
        /// For pixel programs.
        7:0     num_ps_gprs: u8 = "NUM_PS_GPRS";
        /// For vertex programs.
        23:16   num_vs_gprs: u8 = "NUM_VS_GPRS";
        /// Shared out while running.
        27:27   dyn_gpr_enable: bool = "DYN_GPR_ENABLE";
        /// Clause temporaries.
        31:28   num_clause_temp_gprs: u8 = "NUM_CLAUSE_TEMP_GPRS";
        reserved 15:8, 26:24;
    }
}

word_format! {
    /// How the GPRs are shared out, second half.
    pub struct GprMgmt2 "SQ_GPR_RESOURCE_MGMT_2" dword 0 cite "R6xx/R7xx 3D registers" {
        /// For geometry programs.
        7:0     num_gs_gprs: u8 = "NUM_GS_GPRS";
        /// For export programs.
        23:16   num_es_gprs: u8 = "NUM_ES_GPRS";
        reserved 15:8, 31:24;
    }
}

/// A register, or several of the same kind at consecutive addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// AMD's name; several registers carry a number after it.
    pub name: &'static str,
    /// Byte address of the first.
    pub address: u32,
    /// How many there are.
    pub count: u32,
    /// The fields.
    pub format: WordFormat,
}

impl Register {
    /// The name of the register at `index`: with a number where there are several.
    #[must_use]
    pub fn numbered(&self, index: u32) -> String {
        if self.count == 1 { self.name.to_owned() } else { format!("{}_{index}", self.name) }
    }
}

const fn one(name: &'static str, address: u32, format: WordFormat) -> Register {
    Register { name, address, count: 1, format }
}

const fn several(name: &'static str, address: u32, count: u32, format: WordFormat) -> Register {
    Register { name, address, count, format }
}

/// Every register that is known, by address.
#[rustfmt::skip]
pub const REGISTERS: &[Register] = &[
    one("SQ_CONFIG", 0x8c00, SqConfig::FORMAT),
    one("SQ_GPR_RESOURCE_MGMT_1", 0x8c04, GprMgmt1::FORMAT),
    one("SQ_GPR_RESOURCE_MGMT_2", 0x8c08, GprMgmt2::FORMAT),
    several("ALU_CONST_BUFFER_SIZE_PS", 0x28140, 16, Plain::FORMAT),
    several("ALU_CONST_BUFFER_SIZE_VS", 0x28180, 16, Plain::FORMAT),
    several("ALU_CONST_BUFFER_SIZE_GS", 0x281c0, 16, Plain::FORMAT),
    one("CB_TARGET_MASK", 0x28238, ShaderMask::FORMAT),
    one("CB_SHADER_MASK", 0x2823c, ShaderMask::FORMAT),
    several("SQ_VTX_SEMANTIC", 0x28380, 32, VtxSemantic::FORMAT),
    several("SPI_VS_OUT_ID", 0x28614, 10, VsOutId::FORMAT),
    several("SPI_PS_INPUT_CNTL", 0x28644, 32, PsInputCntl::FORMAT),
    one("SPI_VS_OUT_CONFIG", 0x286c4, VsOutConfig::FORMAT),
    one("SPI_PS_IN_CONTROL_0", 0x286cc, PsInControl0::FORMAT),
    one("SPI_PS_IN_CONTROL_1", 0x286d0, PsInControl1::FORMAT),
    one("SPI_INPUT_Z", 0x286d8, InputZ::FORMAT),
    one("CB_SHADER_CONTROL", 0x287a0, ShaderControl::FORMAT),
    one("DB_SHADER_CONTROL", 0x2880c, DbShaderControl::FORMAT),
    one("PA_CL_VS_OUT_CNTL", 0x2881c, VsOutCntl::FORMAT),
    one("SQ_PGM_START_PS", 0x28840, Plain::FORMAT),
    one("SQ_PGM_RESOURCES_PS", 0x28850, PgmResources::FORMAT),
    one("SQ_PGM_EXPORTS_PS", 0x28854, PgmExportsPs::FORMAT),
    one("SQ_PGM_START_VS", 0x28858, Plain::FORMAT),
    one("SQ_PGM_RESOURCES_VS", 0x28868, PgmResources::FORMAT),
    one("SQ_PGM_START_GS", 0x2886c, Plain::FORMAT),
    one("SQ_PGM_RESOURCES_GS", 0x2887c, PgmResources::FORMAT),
    one("SQ_PGM_START_ES", 0x28880, Plain::FORMAT),
    one("SQ_PGM_RESOURCES_ES", 0x28890, PgmResources::FORMAT),
    one("SQ_PGM_START_FS", 0x28894, Plain::FORMAT),
    one("SQ_PGM_RESOURCES_FS", 0x288a4, PgmResources::FORMAT),
    one("SQ_ESGS_RING_ITEMSIZE", 0x288a8, RingItemsize::FORMAT),
    one("SQ_GSVS_RING_ITEMSIZE", 0x288ac, RingItemsize::FORMAT),
    one("SQ_ESTMP_RING_ITEMSIZE", 0x288b0, RingItemsize::FORMAT),
    one("SQ_GSTMP_RING_ITEMSIZE", 0x288b4, RingItemsize::FORMAT),
    one("SQ_VSTMP_RING_ITEMSIZE", 0x288b8, RingItemsize::FORMAT),
    one("SQ_PSTMP_RING_ITEMSIZE", 0x288bc, RingItemsize::FORMAT),
    one("SQ_FBUF_RING_ITEMSIZE", 0x288c0, RingItemsize::FORMAT),
    one("SQ_REDUC_RING_ITEMSIZE", 0x288c4, RingItemsize::FORMAT),
    one("SQ_GS_VERT_ITEMSIZE", 0x288c8, RingItemsize::FORMAT),
    one("SQ_PGM_CF_OFFSET_PS", 0x288cc, Plain::FORMAT),
    one("SQ_PGM_CF_OFFSET_VS", 0x288d0, Plain::FORMAT),
    one("SQ_PGM_CF_OFFSET_GS", 0x288d4, Plain::FORMAT),
    one("SQ_PGM_CF_OFFSET_ES", 0x288d8, Plain::FORMAT),
    one("SQ_PGM_CF_OFFSET_FS", 0x288dc, Plain::FORMAT),
    one("SQ_VTX_SEMANTIC_CLEAR", 0x288e0, Plain::FORMAT),
    one("SQ_LDS_ALLOC", 0x288e8, Plain::FORMAT),
    one("VGT_HOS_REUSE_DEPTH", 0x28a20, ReuseDepth::FORMAT),
    one("VGT_GS_MODE", 0x28a40, GsMode::FORMAT),
    one("VGT_GS_OUT_PRIM_TYPE", 0x28a6c, GsOutPrimType::FORMAT),
    one("VGT_PRIMITIVEID_EN", 0x28a84, Enable::FORMAT),
    one("VGT_STRMOUT_EN", 0x28ab0, Enable::FORMAT),
    one("VGT_STRMOUT_BUFFER_EN", 0x28b20, StrmoutBufferEn::FORMAT),
    one("VGT_VERTEX_REUSE_BLOCK_CNTL", 0x28c58, ReuseDepth::FORMAT),
];

const _: () = {
    let mut i = 1;
    while i < REGISTERS.len() {
        let before = &REGISTERS[i - 1];
        assert!(before.address + before.count * 4 <= REGISTERS[i].address, "registers overlap or are not in order");
        i += 1;
    }
};

/// The register at a byte address, and which one of several it is.
#[must_use]
pub fn at(address: u32) -> Option<(&'static Register, u32)> {
    let row = REGISTERS.iter().find(|r| (r.address..r.address + r.count * 4).contains(&address))?;
    address.is_multiple_of(4).then(|| (row, (address - row.address) / 4))
}

/// The row of this name, without a number.
#[must_use]
pub fn named(name: &str) -> Option<&'static Register> {
    static BY_NAME: LazyLock<HashMap<&str, &Register>> =
        LazyLock::new(|| REGISTERS.iter().rev().map(|row| (row.name, row)).collect());
    BY_NAME.get(name).copied()
}

/// The row of this name, without a number, for constants.
///
/// # Panics
/// No register has this name: a constant with it does not compile.
#[must_use]
pub const fn row(name: &str) -> &'static Register {
    let (wanted, mut i) = (name.as_bytes(), 0);
    while i < REGISTERS.len() {
        let (found, mut at) = (REGISTERS[i].name.as_bytes(), 0);
        while at < found.len() && at < wanted.len() && found[at] == wanted[at] {
            at += 1;
        }
        if at == found.len() && at == wanted.len() {
            return &REGISTERS[i];
        }
        i += 1;
    }
    panic!("no register has this name")
}

/// The name of the register at an address, or the address itself.
#[must_use]
pub fn name(address: u32) -> String {
    at(address).map_or_else(|| format!("0x{address:05X}"), |(row, index)| row.numbered(index))
}

/// The address of a register given by its name, with its number where there are several.
#[must_use]
pub fn address(name: &str) -> Option<u32> {
    if let Some(row) = named(name).filter(|row| row.count == 1) {
        return Some(row.address);
    }
    REGISTERS.iter().filter(|row| row.count > 1).find_map(|row| {
        let index = name.strip_prefix(row.name)?.strip_prefix('_')?.parse().ok().filter(|&i| i < row.count);
        index.map(|i: u32| row.address + i * 4)
    })
}
