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
