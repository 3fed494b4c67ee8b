//! Registers that have no effect on pictures here.

registers! {
    WAIT_UNTIL = 0x08040, 1 every 4, number, "waits until parts of the chip are idle" {}
    CP_COHER_CNTL = 0x085f0, 1 every 4, number, "what SURFACE_SYNC flushes" {}
    CP_COHER_SIZE = 0x085f4, 1 every 4, number, "size of what is flushed" {}
    CP_COHER_BASE = 0x085f8, 1 every 4, address, "start of what is flushed" {}
    VGT_VTX_VECT_EJECT_REG = 0x088b0, 1 every 4, number, "when vectors of vertices are sent" {}
    VGT_CACHE_INVALIDATION = 0x088c4, 1 every 4, number, "vertex cache invalidation" {}
    VGT_GS_VERTEX_REUSE = 0x088d4, 1 every 4, number, "reuse of vertices in front of geometry programs" {}
    PA_CL_ENHANCE = 0x08a14, 1 every 4, number, "chip settings of the clipper" {}
    PA_SC_LINE_STIPPLE_STATE = 0x08b10, 1 every 4, number, "where the pattern of lines stands" {}
    PA_SC_MULTI_CHIP_CNTL = 0x08b20, 1 every 4, number, "several chips" {}
    PA_SC_AA_SAMPLE_LOCS_2S = 0x08b40, 1 every 4, number, "places of 2 samples, on the first chip alone" {}
    PA_SC_AA_SAMPLE_LOCS_4S = 0x08b44, 1 every 4, number, "places of 4 samples, on the first chip alone" {}
    PA_SC_AA_SAMPLE_LOCS_8S_WD0 = 0x08b48, 1 every 4, number, "places of samples 0 to 3 of 8, on the first chip alone" {}
    PA_SC_AA_SAMPLE_LOCS_8S_WD1 = 0x08b4c, 1 every 4, number, "places of samples 4 to 7 of 8, on the first chip alone" {}
    PA_SC_ENHANCE = 0x08bf0, 1 every 4, number, "chip settings of the scan converter" {}
    SQ_DYN_GPR_CNTL_PS_FLUSH_REQ = 0x08d8c, 1 every 4, number, "sharing out of registers while running" {}
    SX_MEMORY_EXPORT_BASE = 0x09010, 1 every 4, address, "where scattered writes go" {}
    SX_MEMORY_EXPORT_SIZE = 0x09014, 1 every 4, number, "how much memory scattered writes have" {}
    SPI_CONFIG_CNTL = 0x09100, 1 every 4, number, "chip settings of the interpolators" {}
    SPI_CONFIG_CNTL_1 = 0x0913c, 1 every 4, number, "chip settings of the interpolators" {}
    TD_FILTER4_0 = 0x09400, 36 every 4, number, "weights of 4-tap filters" {}
    TC_INVALIDATE = 0x09604, 1 every 4, number, "texture cache" {}
    VC_CNTL = 0x09700, 1 every 4, number, "vertex cache" {}
    VC_ENHANCE = 0x09714, 1 every 4, number, "vertex cache" {}
    TD_PS_SAMPLER0_CLEARTYPE_KERNEL = 0x0aa00, 18 every 4, number, "kernel of ClearType filters" {}
    VGT_OUTPUT_PATH_CNTL = 0x28a10, 1 every 4, number, "which path vertices take" {}
    VGT_HOS_CNTL = 0x28a14, 1 every 4, number, "higher-order surfaces" {}
    VGT_HOS_MAX_TESS_LEVEL = 0x28a18, 1 every 4, number, "higher-order surfaces: largest level" {}
    VGT_HOS_MIN_TESS_LEVEL = 0x28a1c, 1 every 4, number, "higher-order surfaces: smallest level" {}
    VGT_GROUP_PRIM_TYPE = 0x28a24, 1 every 4, number, "groups of indices: primitives" {}
    VGT_GROUP_FIRST_DECR = 0x28a28, 1 every 4, number, "groups of indices: size of the first" {}
    VGT_GROUP_DECR = 0x28a2c, 1 every 4, number, "groups of indices: size" {}
    VGT_GROUP_VECT_0_CNTL = 0x28a30, 1 every 4, number, "groups of indices: first vector" {}
    VGT_GROUP_VECT_1_CNTL = 0x28a34, 1 every 4, number, "groups of indices: second vector" {}
    VGT_GROUP_VECT_0_FMT_CNTL = 0x28a38, 1 every 4, number, "groups of indices: format of the first vector" {}
    VGT_GROUP_VECT_1_FMT_CNTL = 0x28a3c, 1 every 4, number, "groups of indices: format of the second vector" {}
    VGT_ENHANCE = 0x28a50, 1 every 4, number, "chip settings of the vertex grouper" {}
    VGT_OUT_DEALLOC_CNTL = 0x28c5c, 1 every 4, number, "when vertices are freed" {}
}

/// Registers of the R500 that have no effect on pictures here: caches, and drawing in two dimensions.
pub(crate) mod r500 {
    registers! {
        SRC_PITCH_OFFSET = 0x01428, 1 every 4, address, "source of 2D copies" {}
        DST_PITCH_OFFSET = 0x0142c, 1 every 4, address, "destination of 2D drawing" {}
        SRC_Y_X = 0x01434, 1 every 4, number, "2D source" {}
        DST_Y_X = 0x01438, 1 every 4, number, "2D destination" {}
        DST_HEIGHT_WIDTH = 0x0143c, 1 every 4, number, "2D size" {}
        DP_GUI_MASTER_CNTL = 0x0146c, 1 every 4, number, "2D operation" {}
        BRUSH_Y_X = 0x01474, 1 every 4, number, "2D brush" {}
        DP_BRUSH_BKGD_CLR = 0x01478, 1 every 4, number, "2D brush" {}
        DP_BRUSH_FRGD_CLR = 0x0147c, 1 every 4, number, "2D brush" {}
        BRUSH_DATA0 = 0x01480, 2 every 4, number, "2D brush" {}
        DST_WIDTH_HEIGHT = 0x01598, 1 every 4, number, "2D size" {}
        CLR_CMP_CNTL = 0x015c0, 1 every 4, number, "2D colour key" {}
        CLR_CMP_CLR_SRC = 0x015c4, 1 every 4, number, "2D colour key" {}
        CLR_CMP_CLR_DST = 0x015c8, 1 every 4, number, "2D colour key" {}
        CLR_CMP_MSK = 0x015cc, 1 every 4, number, "2D colour key" {}
        DP_SRC_FRGD_CLR = 0x015d8, 1 every 4, number, "2D colour" {}
        DP_SRC_BKGD_CLR = 0x015dc, 1 every 4, number, "2D colour" {}
        DST_LINE_START = 0x01600, 1 every 4, number, "2D line" {}
        DST_LINE_END = 0x01604, 1 every 4, number, "2D line" {}
        DST_LINE_PATCOUNT = 0x01608, 1 every 4, number, "2D line" {}
        DP_CNTL = 0x016c0, 1 every 4, number, "2D direction" {}
        DP_WRITE_MSK = 0x016cc, 1 every 4, number, "2D mask" {}
        DP_CNTL_XDIR_YDIR_YMAJOR = 0x016d0, 1 every 4, number, "2D direction" {}
        DEFAULT_SC_BOTTOM_RIGHT = 0x016e8, 1 every 4, number, "2D scissor" {}
        SC_TOP_LEFT = 0x016ec, 1 every 4, number, "2D scissor" {}
        SC_BOTTOM_RIGHT = 0x016f0, 1 every 4, number, "2D scissor" {}
        SRC_SC_BOTTOM_RIGHT = 0x016f4, 1 every 4, number, "2D scissor" {}
        DSTCACHE_CTLSTAT = 0x01714, 1 every 4, number, "2D cache" {}
        WAIT_UNTIL = 0x01720, 1 every 4, number, "waits until parts of the chip are idle" {
            WAIT_2D_IDLECLEAN 16:16 [] "";
            WAIT_3D_IDLECLEAN 17:17 [] "";
        }
        RBBM_GUICNTL = 0x0172c, 1 every 4, number, "byte order of 2D data" {}
        RB2D_DSTCACHE_CTLSTAT = 0x0342c, 1 every 4, number, "2D cache" {}
        RB3D_DSTCACHE_CTLSTAT = 0x04e4c, 1 every 4, number, "colour cache" {
            DC_FLUSH 1:0 [0 "NONE", 2 "FLUSH_DIRTY_3D", 3 "FLUSH_DIRTY_3D_TOO"] "";
            DC_FREE 3:2 [0 "NONE", 2 "FREE_3D_TAGS", 3 "FREE_3D_TAGS_TOO"] "";
            DC_FINISH 4:4 [] "";
        }
    }
}
