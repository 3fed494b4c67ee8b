//! CB and SX: colour targets.

registers! {
    CB_COLOR0_BASE = 0x28040, 8 every 4, address, "where the target lies" {}
    CB_COLOR0_SIZE = 0x28060, 8 every 4, number, "its pitch and slice" {
        PITCH_TILE_MAX 9:0 [] "pitch in pixels / 8 - 1";
        SLICE_TILE_MAX 29:10 [] "pitch * height / 64 - 1 (whole slice, padded height)";
    }
    CB_COLOR0_VIEW = 0x28080, 8 every 4, number, "its slices" {
        SLICE_START 10:0 [] "first array slice (offset into the surface: start * slice bytes)";
        SLICE_MAX 23:13 [] "last slice";
    }
    CB_COLOR0_INFO = 0x280a0, 8 every 4, number, "its format; 0: there is no target" {
        ENDIAN 1:0 [0 "NONE", 1 "8IN16", 2 "8IN32", 3 "8IN64"] "";
        FORMAT 7:2 FORMATS "";
        ARRAY_MODE 11:8 ARRAY_MODES "";
        NUMBER_TYPE 14:12 [0 "UNORM", 1 "SNORM", 2 "USCALED", 3 "SSCALED", 4 "UINT", 5 "SINT", 6 "SRGB", 7 "FLOAT"] "";
        READ_SIZE 15:15 [] "";
        COMP_SWAP 17:16 [0 "STD", 1 "ALT", 2 "STD_REV", 3 "ALT_REV"] "";
        TILE_MODE 19:18 [0 "DISABLE", 1 "CLEAR_ENABLE", 2 "FRAG_ENABLE"] "";
        BLEND_CLAMP 20:20 [] "clamp source, destination, result of blending to the format's range";
        CLEAR_COLOR 21:21 [] "fast-clear colour is in CB_CLEAR_*";
        BLEND_BYPASS 22:22 [] "no blending whatever TARGET_BLEND_ENABLE says";
        BLEND_FLOAT32 23:23 [] "blend at 32-bit precision";
        SIMPLE_FLOAT 24:24 [] "relaxed rules for 0 * NaN and the like in blending";
        ROUND_MODE 25:25 [] "numbers are cut off instead of rounded";
        TILE_COMPACT 26:26 [] "";
        SOURCE_FORMAT 27:27 [] "exports have 16 bits a channel";
    }
    CB_COLOR0_TILE = 0x280c0, 8 every 4, address, "its CMASK" {}
    CB_COLOR0_FRAG = 0x280e0, 8 every 4, address, "its FMASK" {}
    CB_COLOR0_MASK = 0x28100, 8 every 4, number, "sizes of CMASK and FMASK" {
        CMASK_BLOCK_MAX 11:0 [] "blocks of 128 x 128 pixels - 1";
        FMASK_TILE_MAX 31:12 [] "tiles of 8 x 8 pixels - 1";
    }
    CB_CLEAR_RED = 0x28120, 1 every 4, float, "colour of a fast clear" {}
    CB_CLEAR_GREEN = 0x28124, 1 every 4, float, "colour of a fast clear" {}
    CB_CLEAR_BLUE = 0x28128, 1 every 4, float, "colour of a fast clear" {}
    CB_CLEAR_ALPHA = 0x2812c, 1 every 4, float, "colour of a fast clear" {}
    SX_MISC = 0x28350, 1 every 4, number, "drops everything" {
        MULTIPASS 0:0 [] "1 drops all (R6xx rasteriser discard)";
    }
    SX_SURFACE_SYNC = 0x28354, 1 every 4, number, "synchronisation" {
        SURFACE_SYNC_MASK 8:0 [] "";
    }
    SX_ALPHA_TEST_CONTROL = 0x28410, 1 every 4, number, "alpha test on output 0" {
        ALPHA_FUNC 2:0 COMPARES "";
        ALPHA_TEST_ENABLE 3:3 [] "";
        ALPHA_TEST_BYPASS 8:8 [] "1: test off";
    }
    CB_BLEND_RED = 0x28414, 1 every 4, float, "constant colour of blending: red" {}
    CB_BLEND_GREEN = 0x28418, 1 every 4, float, "constant colour of blending: green" {}
    CB_BLEND_BLUE = 0x2841c, 1 every 4, float, "constant colour of blending: blue" {}
    CB_BLEND_ALPHA = 0x28420, 1 every 4, float, "constant colour of blending: alpha" {}
    CB_FOG_RED = 0x28424, 1 every 4, float, "colour of fixed-function fog" {}
    CB_FOG_GREEN = 0x28428, 1 every 4, float, "colour of fixed-function fog" {}
    CB_FOG_BLUE = 0x2842c, 1 every 4, float, "colour of fixed-function fog" {}
    SX_ALPHA_REF = 0x28438, 1 every 4, float, "reference of the alpha test" {}
    CB_BLEND0_CONTROL = 0x28780, 8 every 4, number, "a target's blending" {
        COLOR_SRCBLEND 4:0 FACTORS "";
        COLOR_COMB_FCN 7:5 COMBINES "";
        COLOR_DESTBLEND 12:8 FACTORS "";
        OPACITY_WEIGHT 13:13 [] "weight by opacity";
        ALPHA_SRCBLEND 20:16 FACTORS "";
        ALPHA_COMB_FCN 23:21 COMBINES "";
        ALPHA_DESTBLEND 28:24 FACTORS "";
        SEPARATE_ALPHA_BLEND 29:29 [] "0: alpha uses the colour factors";
    }
    CB_BLEND_CONTROL = 0x28804, 1 every 4, number, "blending of all targets, without PER_MRT_BLEND" {
        COLOR_SRCBLEND 4:0 FACTORS "";
        COLOR_COMB_FCN 7:5 COMBINES "";
        COLOR_DESTBLEND 12:8 FACTORS "";
        OPACITY_WEIGHT 13:13 [] "";
        ALPHA_SRCBLEND 20:16 FACTORS "";
        ALPHA_COMB_FCN 23:21 COMBINES "";
        ALPHA_DESTBLEND 28:24 FACTORS "";
        SEPARATE_ALPHA_BLEND 29:29 [] "";
    }
    CB_COLOR_CONTROL = 0x28808, 1 every 4, number, "what is done with colours" {
        FOG_ENABLE 0:0 [] "fixed-function fog";
        MULTIWRITE_ENABLE 1:1 [] "output 0 goes to all enabled targets";
        DITHER_ENABLE 2:2 [] "";
        DEGAMMA_ENABLE 3:3 [] "";
        SPECIAL_OP 6:4 [0 "NORMAL", 1 "DISABLE", 2 "FAST_CLEAR", 3 "FORCE_CLEAR", 4 "EXPAND_COLOR", 5 "EXPAND_TEXTURE", 6 "EXPAND_SAMPLES", 7 "RESOLVE_BOX"] "";
        PER_MRT_BLEND 7:7 [] "1: CB_BLENDn_CONTROL per target; 0: CB_BLEND_CONTROL for all";
        TARGET_BLEND_ENABLE 15:8 [] "one bit a target";
        ROP3 23:16 [] "8-bit raster operation; 0xCC copy";
    }
    CB_CLRCMP_CONTROL = 0x28c30, 1 every 4, number, "colour key compare" {
        CLRCMP_FCN_SRC 2:0 [] "0 always draw, 1 never, 4 draw on not equal, 5 on equal";
        CLRCMP_FCN_DST 10:8 [] "";
        CLRCMP_FCN_SEL 25:24 [] "0 destination, 1 source, 2 both";
    }
    CB_CLRCMP_SRC = 0x28c34, 1 every 4, number, "colour key of the source" {}
    CB_CLRCMP_DST = 0x28c38, 1 every 4, number, "colour key of the destination" {}
    CB_CLRCMP_MSK = 0x28c3c, 1 every 4, number, "bits of the colour key" {}
}

/// US outputs, FG and RB3D of the R500: alpha test, fog, colour targets.
pub(crate) mod r500 {
    registers! {
        US_OUT_FMT_0 = 0x046a4, 4 every 4, number, "format of a colour output" {
            OUT_FMT 4:0 OUTPUT_FORMATS "";
            C0_SEL 9:8 OUTPUT_SELECTS "stored component 0";
            C1_SEL 11:10 OUTPUT_SELECTS "stored component 1";
            C2_SEL 13:12 OUTPUT_SELECTS "stored component 2";
            C3_SEL 15:14 OUTPUT_SELECTS "stored component 3";
            OUT_SIGN 19:16 [] "components that are signed, a bit each";
            ROUND_ADJ 20:20 [0 "NORMAL", 1 "MODIFIED"] "rounding";
        }
        US_W_FMT = 0x046b4, 1 every 4, number, "what the W output becomes" {
            W_FMT 1:0 [0 "W0", 1 "W24", 2 "W24_FP"] "";
            W_SRC 2:2 [0 "US", 1 "RAS"] "the program, or interpolation";
        }
        RB3D_COLOR_CLEAR_VALUE_AR = 0x046c0, 1 every 4, number, "colour of compressed tiles that were cleared" {
            RED 15:0 [] "";
            ALPHA 31:16 [] "";
        }
        RB3D_COLOR_CLEAR_VALUE_GB = 0x046c4, 1 every 4, number, "colour of compressed tiles that were cleared" {
            BLUE 15:0 [] "";
            GREEN 31:16 [] "";
        }
        FG_FOG_BLEND = 0x04bc0, 1 every 4, number, "fog" {
            ENABLE 0:0 [] "";
            FN 2:1 [0 "LINEAR", 1 "EXP", 2 "EXP2", 3 "CONSTANT"] "";
        }
        FG_FOG_FACTOR = 0x04bc4, 1 every 4, number, "fog: its factor" {
            FACTOR 9:0 [] "";
        }
        FG_FOG_COLOR_R = 0x04bc8, 1 every 4, number, "fog: red" {
            RED 9:0 [] "";
        }
        FG_FOG_COLOR_G = 0x04bcc, 1 every 4, number, "fog: green" {
            GREEN 9:0 [] "";
        }
        FG_FOG_COLOR_B = 0x04bd0, 1 every 4, number, "fog: blue" {
            BLUE 9:0 [] "";
        }
        FG_ALPHA_FUNC = 0x04bd4, 1 every 4, number, "alpha test on output 0, alpha to coverage" {
            AF_VAL 7:0 [] "reference of 8 bits";
            AF_FUNC 10:8 COMPARES "";
            AF_EN 11:11 [] "the test is on";
            AF_EN_8BIT 12:12 [] "8 bits are compared, not 10";
            AM_EN 16:16 [] "alpha becomes coverage";
            AM_CFG 17:17 [0 "2_OR_4", 1 "3_OR_6"] "samples of that coverage";
            DITH_EN 20:20 [] "dithered";
            ALP_OFF_EN 24:24 [] "";
            DISCARD_ZERO_MASK_QUAD 25:25 [] "";
            FP16 28:28 [] "half floats are compared: FG_ALPHA_VALUE";
        }
        FG_ALPHA_VALUE = 0x04be0, 1 every 4, number, "reference of the alpha test" {
            AF_VAL 15:0 [] "10 bits or a half float";
        }
        RB3D_CCTL = 0x04e00, 1 every 4, number, "colour targets" {
            NUM_MULTIWRITES 6:5 [] "targets that take output 0, - 1";
            CLRCMP_ENABLE 7:7 [] "colour key";
            AA_COMPRESSION_ENABLE 9:9 [] "samples are compressed";
            CMASK_ENABLE 10:10 [] "tiles are compressed";
            INDEPENDENT_COLOR_CHANNEL_MASK_ENABLE 12:12 [] "a mask a target";
            WRITE_COMPRESSION_DISABLE 13:13 [] "";
            INDEPENDENT_COLORFORMAT_ENABLE 14:14 [] "a format a target";
        }
        RB3D_BLENDCNTL = 0x04e04, 1 every 4, number, "blending of colours" {
            ALPHA_BLEND_ENABLE 0:0 [] "";
            SEPARATE_ALPHA_ENABLE 1:1 [] "alpha by RB3D_ABLENDCNTL";
            READ_ENABLE 2:2 [] "the target is read";
            DISCARD_SRC_PIXELS 5:3 [0 "NONE", 1 "SRC_ALPHA_0", 2 "SRC_COLOR_0", 3 "SRC_COLOR_ALPHA_0", 4 "SRC_ALPHA_1", 5 "SRC_COLOR_1", 6 "SRC_COLOR_ALPHA_1"] "pixels that would change nothing";
            COMB_FCN 14:12 R500_COMBINES "";
            SRCBLEND 21:16 R500_FACTORS "";
            DESTBLEND 29:24 R500_FACTORS "";
            SRC_ALPHA_0_NO_READ 30:30 [] "";
            SRC_ALPHA_1_NO_READ 31:31 [] "";
        }
        RB3D_ABLENDCNTL = 0x04e08, 1 every 4, number, "blending of alpha" {
            COMB_FCN 14:12 R500_COMBINES "";
            SRCBLEND 21:16 R500_FACTORS "";
            DESTBLEND 29:24 R500_FACTORS "";
        }
        RB3D_COLOR_CHANNEL_MASK = 0x04e0c, 1 every 4, number, "components that are written, a bit each: blue in the lowest" {
            MASK_0 3:0 [] "target 0, or all";
            MASK_1 7:4 [] "target 1";
            MASK_2 11:8 [] "target 2";
            MASK_3 15:12 [] "target 3";
        }
        RB3D_CONSTANT_COLOR = 0x04e10, 1 every 4, number, "constant colour of blending, of older chips" {
            BLUE 7:0 [] "";
            GREEN 15:8 [] "";
            RED 23:16 [] "";
            ALPHA 31:24 [] "";
        }
        RB3D_COLOR_CLEAR_VALUE = 0x04e14, 1 every 4, number, "colour of compressed tiles that were cleared" {}
        RB3D_ROPCNTL = 0x04e18, 1 every 4, number, "logic operation" {
            ROP_ENABLE 2:2 [] "";
            ROP 11:8 LOGIC_OPS "";
        }
        RB3D_CLRCMP_FLIPE = 0x04e1c, 1 every 4, number, "colour key" {}
        RB3D_CLRCMP_CLR = 0x04e20, 1 every 4, number, "colour key" {}
        RB3D_CLRCMP_MSK = 0x04e24, 1 every 4, number, "bits of the colour key" {}
        RB3D_COLOROFFSET0 = 0x04e28, 4 every 4, address, "where a target lies" {}
        RB3D_COLORPITCH0 = 0x04e38, 4 every 4, number, "pitch, tiles and format of a target" {
            COLORPITCH 13:1 [] "pixels of a row / 2";
            COLORTILE 16:16 [] "tiles of 2 KB";
            COLORMICROTILE 18:17 MICRO_TILES "tiles of 32 bytes";
            COLORENDIAN 20:19 ENDIANS "";
            COLORFORMAT 24:21 R500_COLOUR_FORMATS "";
        }
        RB3D_DEBUG_CTL = 0x04e48, 1 every 4, number, "chip settings" {}
        RB3D_DITHER_CTL = 0x04e50, 1 every 4, number, "how components of few bits are rounded" {
            DITHER_MODE 1:0 [0 "TRUNCATE", 1 "ROUND", 2 "LUT"] "colours";
            ALPHA_DITHER_MODE 3:2 [0 "TRUNCATE", 1 "ROUND", 2 "LUT"] "alpha";
        }
        RB3D_CMASK_OFFSET0 = 0x04e54, 4 every 4, number, "mask of a target's tiles" {}
        RB3D_CMASK_PITCH0 = 0x04e64, 4 every 4, number, "mask of a target's tiles: its pitch" {}
        RB3D_CMASK_WRINDEX = 0x04e74, 1 every 4, number, "mask of tiles: where it is written" {}
        RB3D_CMASK_DWORD = 0x04e78, 1 every 4, number, "mask of tiles: port" {}
        RB3D_CMASK_RDINDEX = 0x04e7c, 1 every 4, number, "mask of tiles: where it is read" {}
        RB3D_AARESOLVE_OFFSET = 0x04e80, 1 every 4, address, "where resolved pixels go" {}
        RB3D_AARESOLVE_PITCH = 0x04e84, 1 every 4, number, "pitch of resolved pixels" {
            AARESOLVE_PITCH 13:1 [] "pixels of a row / 2";
        }
        RB3D_AARESOLVE_CTL = 0x04e88, 1 every 4, number, "resolve" {
            AARESOLVE_MODE 0:0 [0 "NORMAL", 1 "RESOLVE"] "";
            AARESOLVE_GAMMA 1:1 [0 "1_0", 1 "2_2"] "";
            AARESOLVE_ALPHA 2:2 [0 "SAMPLE_0", 1 "AVERAGE"] "";
        }
        RB3D_DISCARD_SRC_PIXEL_LTE_THRESHOLD = 0x04ea0, 1 every 4, number, "largest components that count as 0" {
            BLUE 7:0 [] "";
            GREEN 15:8 [] "";
            RED 23:16 [] "";
            ALPHA 31:24 [] "";
        }
        RB3D_DISCARD_SRC_PIXEL_GTE_THRESHOLD = 0x04ea4, 1 every 4, number, "smallest components that count as 1" {
            BLUE 7:0 [] "";
            GREEN 15:8 [] "";
            RED 23:16 [] "";
            ALPHA 31:24 [] "";
        }
        RB3D_FIFO_SIZE = 0x04ef4, 1 every 4, number, "sizes of queues" {}
        RB3D_CONSTANT_COLOR_AR = 0x04ef8, 1 every 4, number, "constant colour of blending" {
            RED 15:0 [] "10 bits or a half float";
            ALPHA 31:16 [] "10 bits or a half float";
        }
        RB3D_CONSTANT_COLOR_GB = 0x04efc, 1 every 4, number, "constant colour of blending" {
            BLUE 15:0 [] "10 bits or a half float";
            GREEN 31:16 [] "10 bits or a half float";
        }
    }
}
