//! DB: depth and stencil.

registers! {
    DB_DEBUG = 0x09830, 1 every 4, number, "debugging" {}
    DB_WATERMARKS = 0x09838, 1 every 4, number, "fill levels" {}
    DB_DEPTH_SIZE = 0x28000, 1 every 4, number, "pitch and slice of the depth surface" {
        PITCH_TILE_MAX 9:0 [] "pitch / 8 - 1";
        SLICE_TILE_MAX 29:10 [] "pitch * height / 64 - 1";
    }
    DB_DEPTH_VIEW = 0x28004, 1 every 4, number, "its slices" {
        SLICE_START 10:0 [] "first slice";
        SLICE_MAX 23:13 [] "last slice";
    }
    DB_DEPTH_BASE = 0x2800c, 1 every 4, address, "where it lies" {}
    DB_DEPTH_INFO = 0x28010, 1 every 4, number, "its format; 0: there is none" {
        FORMAT 2:0 [0 "INVALID", 1 "16", 2 "X8_24", 3 "8_24", 4 "X8_24_FLOAT", 5 "8_24_FLOAT", 6 "32_FLOAT", 7 "X24_8_32_FLOAT"] "";
        READ_SIZE 3:3 [] "";
        ARRAY_MODE 18:15 ARRAY_MODES "";
        TILE_SURFACE_ENABLE 25:25 [] "HTILE in use";
        TILE_COMPACT 26:26 [] "";
        ZRANGE_PRECISION 31:31 [] "accuracy of HTILE's range";
    }
    DB_HTILE_DATA_BASE = 0x28014, 1 every 4, address, "its HTILE" {}
    DB_STENCIL_CLEAR = 0x28028, 1 every 4, number, "value of a fast stencil clear" {
        CLEAR 7:0 [] "value";
        MIN 23:16 [] "lower bound of the range kept for HiS";
    }
    DB_DEPTH_CLEAR = 0x2802c, 1 every 4, float, "value of a fast depth clear" {}
    DB_STENCILREFMASK = 0x28430, 1 every 4, number, "stencil reference and masks" {
        STENCILREF 7:0 [] "reference";
        STENCILMASK 15:8 [] "compare mask";
        STENCILWRITEMASK 23:16 [] "write mask";
    }
    DB_STENCILREFMASK_BF = 0x28434, 1 every 4, number, "stencil reference and masks of back faces" {
        STENCILREF_BF 7:0 [] "";
        STENCILMASK_BF 15:8 [] "";
        STENCILWRITEMASK_BF 23:16 [] "";
    }
    DB_DEPTH_CONTROL = 0x28800, 1 every 4, number, "depth and stencil tests" {
        STENCIL_ENABLE 0:0 [] "";
        Z_ENABLE 1:1 [] "depth test on; off: passes and does not write";
        Z_WRITE_ENABLE 2:2 [] "";
        ZFUNC 6:4 COMPARES "new f stored";
        BACKFACE_ENABLE 7:7 [] "back faces use the _BF fields and DB_STENCILREFMASK_BF; else the front ones";
        STENCILFUNC 10:8 COMPARES "(reference & mask) f (stored & mask)";
        STENCILFAIL 13:11 STENCIL_OPS "stencil test fails";
        STENCILZPASS 16:14 STENCIL_OPS "both pass";
        STENCILZFAIL 19:17 STENCIL_OPS "stencil passes, depth fails";
        STENCILFUNC_BF 22:20 COMPARES "back";
        STENCILFAIL_BF 25:23 STENCIL_OPS "back";
        STENCILZPASS_BF 28:26 STENCIL_OPS "back";
        STENCILZFAIL_BF 31:29 STENCIL_OPS "back";
    }
    DB_RENDER_CONTROL = 0x28d0c, 1 every 4, number, "clears, copies, counts" {
        DEPTH_CLEAR_ENABLE 0:0 [] "DB_DEPTH_CLEAR is written instead of the depth";
        STENCIL_CLEAR_ENABLE 1:1 [] "DB_STENCIL_CLEAR is written instead of the stencil";
        DEPTH_COPY 2:2 [] "stored depth goes to target 0";
        STENCIL_COPY 3:3 [] "stored stencil goes to target 0";
        RESUMMARIZE_ENABLE 4:4 [] "rebuild HTILE";
        STENCIL_COMPRESS_DISABLE 5:5 [] "decompress in place: nothing to do";
        DEPTH_COMPRESS_DISABLE 6:6 [] "";
        COPY_CENTROID 7:7 [] "copy the first covered sample";
        COPY_SAMPLE 10:8 [] "sample to copy";
        ZPASS_INCREMENT_DISABLE 11:11 [] "do not count passing samples";
        CONSERVATIVE_Z_EXPORT 14:13 [] "promise about exported depth: 0 any, 1 less than, 2 greater than the interpolated one";
        R700_PERFECT_ZPASS_COUNTS 15:15 [] "exact counts";
    }
    DB_RENDER_OVERRIDE = 0x28d10, 1 every 4, number, "overrides of the hierarchical tests" {
        FORCE_HIZ_ENABLE 1:0 [0 "OFF", 1 "ENABLE", 2 "DISABLE", 3 "RESERVED"] "";
        FORCE_HIS_ENABLE0 3:2 [] "";
        FORCE_HIS_ENABLE1 5:4 [] "";
        FORCE_SHADER_Z_ORDER 6:6 [] "obey Z_ORDER strictly";
        FAST_Z_DISABLE 7:7 [] "";
        FAST_STENCIL_DISABLE 8:8 [] "";
        NOOP_CULL_DISABLE 9:9 [] "do not skip draws without effect";
        FORCE_COLOR_KILL 10:10 [] "drop colour";
        FORCE_Z_READ 11:11 [] "";
        FORCE_STENCIL_READ 12:12 [] "";
        FORCE_FULL_Z_RANGE 14:13 [] "";
        FORCE_QC_SMASK_CONFLICT 15:15 [] "";
        DISABLE_VIEWPORT_CLAMP 16:16 [] "no clamp to ZMIN..ZMAX";
        IGNORE_SC_ZRANGE 17:17 [] "";
        MAX_TILES_IN_DTT 25:21 [] "";
    }
    DB_HTILE_SURFACE = 0x28d24, 1 every 4, number, "shape of HTILE" {
        HTILE_WIDTH 0:0 [] "1: tiles of 8 pixels wide (0: 4)";
        HTILE_HEIGHT 1:1 [] "1: 8 high";
        LINEAR 2:2 [] "";
        FULL_CACHE 3:3 [] "";
        HTILE_USES_PRELOAD_WIN 4:4 [] "";
        PRELOAD 5:5 [] "";
        PREFETCH_WIDTH 11:6 [] "";
        PREFETCH_HEIGHT 17:12 [] "";
    }
    DB_SRESULTS_COMPARE_STATE0 = 0x28d28, 1 every 4, number, "hierarchical stencil" {}
    DB_SRESULTS_COMPARE_STATE1 = 0x28d2c, 1 every 4, number, "hierarchical stencil" {}
    DB_PRELOAD_CONTROL = 0x28d30, 1 every 4, number, "preloading" {}
    DB_PREFETCH_LIMIT = 0x28d34, 1 every 4, number, "prefetching" {}
    DB_ALPHA_TO_MASK = 0x28d44, 1 every 4, number, "alpha to coverage" {
        ALPHA_TO_MASK_ENABLE 0:0 [] "";
        ALPHA_TO_MASK_OFFSET0 9:8 [] "dither offset of quad pixel 0";
        ALPHA_TO_MASK_OFFSET1 11:10 [] "pixel 1";
        ALPHA_TO_MASK_OFFSET2 13:12 [] "pixel 2";
        ALPHA_TO_MASK_OFFSET3 15:14 [] "pixel 3";
        OFFSET_ROUND 16:16 [] "rounding";
    }
}

/// ZB and FG of the R500: depth and stencil.
pub(crate) mod r500 {
    registers! {
        FG_DEPTH_SRC = 0x04bd8, 1 every 4, number, "where depths come from" {
            DEPTH_SRC 0:0 [0 "SCAN", 1 "SHADER"] "";
        }
        FG_ZBREG_DEST = 0x04be8, 1 every 4, number, "depth pipes that take what is written; of RV530 alone" {
            SELECT 1:0 [] "a bit a pipe";
        }
        ZB_CNTL = 0x04f00, 1 every 4, number, "depth and stencil tests" {
            STENCIL_ENABLE 0:0 [] "";
            Z_ENABLE 1:1 [] "depth test on; off: passes and does not write";
            ZWRITEENABLE 2:2 [] "";
            ZSIGNED_COMPARE 3:3 [] "";
            STENCIL_FRONT_BACK 4:4 [] "back faces use the _BF fields";
            ZSIGNED_MAGNITUDE 5:5 [] "";
            STENCIL_REFMASK_FRONT_BACK 6:6 [] "back faces use ZB_STENCILREFMASK_BF";
        }
        ZB_ZSTENCILCNTL = 0x04f04, 1 every 4, number, "functions of the tests" {
            ZFUNC 2:0 Z_COMPARES "new f stored";
            STENCILFUNC 5:3 Z_COMPARES "(reference & mask) f (stored & mask)";
            STENCILFAIL 8:6 STENCIL_OPS "stencil test fails";
            STENCILZPASS 11:9 STENCIL_OPS "both pass";
            STENCILZFAIL 14:12 STENCIL_OPS "stencil passes, depth fails";
            STENCILFUNC_BF 17:15 Z_COMPARES "back";
            STENCILFAIL_BF 20:18 STENCIL_OPS "back";
            STENCILZPASS_BF 23:21 STENCIL_OPS "back";
            STENCILZFAIL_BF 26:24 STENCIL_OPS "back";
            ZERO_OUTPUT_MASK 27:27 [] "tests do not change the mask";
        }
        ZB_STENCILREFMASK = 0x04f08, 1 every 4, number, "stencil reference and masks" {
            STENCILREF 7:0 [] "reference";
            STENCILMASK 15:8 [] "compare mask";
            STENCILWRITEMASK 23:16 [] "write mask";
        }
        ZB_FORMAT = 0x04f10, 1 every 4, number, "format of the depth target" {
            DEPTHFORMAT 3:0 [0 "16_BIT_INTEGER", 1 "16_BIT_13E3", 2 "24_BIT_INTEGER"] "";
            INVERT 4:4 [] "";
        }
        ZB_ZTOP = 0x04f14, 1 every 4, number, "when the tests run" {
            ZTOP 0:0 [] "before the pixel program";
        }
        ZB_ZCACHE_CTLSTAT = 0x04f18, 1 every 4, number, "depth cache" {
            ZC_FLUSH 0:0 [] "";
            ZC_FREE 1:1 [] "";
            ZC_BUSY 31:31 [] "";
        }
        ZB_BW_CNTL = 0x04f1c, 1 every 4, number, "coarse depth, compression, and clears of colour targets" {
            HIZ_ENABLE 0:0 [] "";
            HIZ_MIN 1:1 [] "";
            FAST_FILL 2:2 [] "";
            RD_COMP_ENABLE 3:3 [] "";
            WR_COMP_ENABLE 4:4 [] "";
            ZB_CB_CLEAR 5:5 [] "every covered pixel stores ZB_DEPTHCLEARVALUE";
            FORCE_COMPRESSED_STENCIL_VALUE 6:6 [] "";
            ZEQUAL_OPTIMIZE_DISABLE 7:7 [] "";
            SEQUAL_OPTIMIZE_DISABLE 8:8 [] "";
            BMASK_DISABLE 10:10 [] "";
            HIZ_EQUAL_REJECT_ENABLE 11:11 [] "";
            HIZ_FP_EXP_BITS 14:12 [] "";
            HIZ_FP_INVERT 15:15 [] "";
            TILE_OVERWRITE_RECOMPRESSION_DISABLE 16:16 [] "";
            CONTIGUOUS_6XAA_SAMPLES_DISABLE 17:17 [] "";
            PEQ_PACKING_ENABLE 18:18 [] "";
            COVERED_PTR_MASKING_ENABLE 19:19 [] "";
        }
        ZB_DEPTHOFFSET = 0x04f20, 1 every 4, address, "where the depth target lies" {}
        ZB_DEPTHPITCH = 0x04f24, 1 every 4, number, "its pitch and tiles" {
            DEPTHPITCH 13:2 [] "pixels of a row / 4";
            DEPTHMACROTILE 16:16 [] "tiles of 2 KB";
            DEPTHMICROTILE 18:17 MICRO_TILES "tiles of 32 bytes";
            DEPTHENDIAN 20:19 ENDIANS "";
        }
        ZB_DEPTHCLEARVALUE = 0x04f28, 1 every 4, number, "value of clears" {}
        ZB_ZMASK_OFFSET = 0x04f30, 1 every 4, number, "mask of depth tiles" {}
        ZB_ZMASK_PITCH = 0x04f34, 1 every 4, number, "mask of depth tiles: its pitch" {}
        ZB_ZMASK_WRINDEX = 0x04f38, 1 every 4, number, "mask of depth tiles: where it is written" {}
        ZB_ZMASK_DWORD = 0x04f3c, 1 every 4, number, "mask of depth tiles: port" {}
        ZB_ZMASK_RDINDEX = 0x04f40, 1 every 4, number, "mask of depth tiles: where it is read" {}
        ZB_HIZ_OFFSET = 0x04f44, 1 every 4, number, "coarse depth" {}
        ZB_HIZ_WRINDEX = 0x04f48, 1 every 4, number, "coarse depth: where it is written" {}
        ZB_HIZ_DWORD = 0x04f4c, 1 every 4, number, "coarse depth: port" {}
        ZB_HIZ_RDINDEX = 0x04f50, 1 every 4, number, "coarse depth: where it is read" {}
        ZB_HIZ_PITCH = 0x04f54, 1 every 4, number, "coarse depth: its pitch" {}
        ZB_ZPASS_DATA = 0x04f58, 1 every 4, number, "samples that passed so far" {}
        ZB_ZPASS_ADDR = 0x04f5c, 1 every 4, address, "stores the number of samples that passed" {}
        ZB_DEPTHXY_OFFSET = 0x04f60, 1 every 4, number, "place in the depth target" {
            DEPTHX_OFFSET 11:1 [] "columns / 2";
            DEPTHY_OFFSET 27:17 [] "rows / 2";
        }
        ZB_STENCILREFMASK_BF = 0x04fd4, 1 every 4, number, "stencil reference and masks of back faces" {
            STENCILREF 7:0 [] "reference";
            STENCILMASK 15:8 [] "compare mask";
            STENCILWRITEMASK 23:16 [] "write mask";
        }
        GB_Z_PEQ_CONFIG = 0x04028, 1 every 4, number, "planes of compressed depth" {
            Z_PEQ_SIZE 0:0 [0 "4X4", 1 "8X8"] "";
        }
    }
}
