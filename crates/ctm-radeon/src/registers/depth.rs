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
