//! TA and TD: texture units.

registers! {
    TA_CNTL_AUX = 0x09508, 1 every 4, number, "cube edges and synchronisation" {
        DISABLE_CUBE_WRAP 0:0 [] "0: filter across cube faces, 1: clamp at the face's edge, in pixel programs";
        DISABLE_CUBE_ANISO 1:1 [] "";
        SYNC_GRADIENT 24:24 [] "";
        SYNC_WALKER 25:25 [] "";
        SYNC_ALIGNER 26:26 [] "";
        BILINEAR_PRECISION 31:31 [] "weights of 8 bits, not 6. UNVERIFIED";
    }
    TD_PS_SAMPLER0_BORDER_RED = 0x0a400, 18 every 16, float, "border colour of a sampler of the pixel program: red" {}
    TD_PS_SAMPLER0_BORDER_GREEN = 0x0a404, 18 every 16, float, "border colour of a sampler of the pixel program: green" {}
    TD_PS_SAMPLER0_BORDER_BLUE = 0x0a408, 18 every 16, float, "border colour of a sampler of the pixel program: blue" {}
    TD_PS_SAMPLER0_BORDER_ALPHA = 0x0a40c, 18 every 16, float, "border colour of a sampler of the pixel program: alpha" {}
    TD_VS_SAMPLER0_BORDER_RED = 0x0a600, 18 every 16, float, "border colour of a sampler of the vertex program: red" {}
    TD_VS_SAMPLER0_BORDER_GREEN = 0x0a604, 18 every 16, float, "border colour of a sampler of the vertex program: green" {}
    TD_VS_SAMPLER0_BORDER_BLUE = 0x0a608, 18 every 16, float, "border colour of a sampler of the vertex program: blue" {}
    TD_VS_SAMPLER0_BORDER_ALPHA = 0x0a60c, 18 every 16, float, "border colour of a sampler of the vertex program: alpha" {}
    TD_GS_SAMPLER0_BORDER_RED = 0x0a800, 18 every 16, float, "border colour of a sampler of the geometry program: red" {}
    TD_GS_SAMPLER0_BORDER_GREEN = 0x0a804, 18 every 16, float, "border colour of a sampler of the geometry program: green" {}
    TD_GS_SAMPLER0_BORDER_BLUE = 0x0a808, 18 every 16, float, "border colour of a sampler of the geometry program: blue" {}
    TD_GS_SAMPLER0_BORDER_ALPHA = 0x0a80c, 18 every 16, float, "border colour of a sampler of the geometry program: alpha" {}
}

/// TX of the R500: texture units.
pub(crate) mod r500 {
    registers! {
        TX_INVALTAGS = 0x04100, 1 every 4, number, "texture cache invalidation" {}
        TX_ENABLE = 0x04104, 1 every 4, number, "units that are on, a bit each; others give (0, 0, 0, 1)" {
            TEX_ENABLE 15:0 [] "";
        }
        TX_FILTER4 = 0x04110, 1 every 4, number, "weights of 4-tap filters" {
            WEIGHT_1 10:0 [] "";
            WEIGHT_0 21:11 [] "";
            WEIGHT_PAIR 22:22 [] "";
            PHASE 26:23 [] "";
            DIRECTION 27:27 [] "";
        }
        TX_FILTER0_0 = 0x04400, 16 every 4, number, "filter and wrap" {
            CLAMP_S 2:0 WRAPS "";
            CLAMP_T 5:3 WRAPS "";
            CLAMP_R 8:6 WRAPS "";
            MAG_FILTER 10:9 R500_FILTERS "between texels, magnified";
            MIN_FILTER 12:11 R500_FILTERS "between texels, reduced";
            MIP_FILTER 14:13 [0 "NONE", 1 "POINT", 2 "LINEAR"] "between levels";
            VOL_FILTER 16:15 [0 "AS_MAG_MIN", 1 "POINT", 2 "LINEAR"] "between slices";
            MAX_MIP_LEVEL 20:17 [] "finest level";
            MAX_ANISO 23:21 [0 "1_TO_1", 1 "2_TO_1", 2 "4_TO_1", 3 "8_TO_1", 4 "16_TO_1"] "largest anisotropy";
            ID 31:28 [] "the unit";
        }
        TX_FILTER1_0 = 0x04440, 16 every 4, number, "filter, second word" {
            CHROMA_KEY_MODE 1:0 [] "";
            MC_ROUND 2:2 [] "";
            LOD_BIAS 12:3 [] "signed, in 1/32 level";
            MC_COORD_TRUNCATE 14:14 [] "";
            TRI_PERF 16:15 [] "share of a level without a second one";
            DXTC_SWIZZLE 21:21 [] "components of DXT texels by their names";
            MACRO_SWITCH 22:22 [] "levels become linear by the rule of older chips";
            ANISO_DIFF 28:23 [] "";
            ANISO_HIGH_QUALITY 30:30 [] "";
            BORDER_FIX 31:31 [] "";
        }
        TX_FORMAT0_0 = 0x04480, 16 every 4, number, "size" {
            TXWIDTH 10:0 [] "columns - 1";
            TXHEIGHT 21:11 [] "rows - 1";
            TXDEPTH 25:22 [] "logarithm of the slices";
            NUM_LEVELS 29:26 [] "coarsest level";
            PROJECTED 30:30 [] "";
            TXPITCH_EN 31:31 [] "the pitch is in TX_FORMAT2";
        }
        TX_FORMAT1_0 = 0x044c0, 16 every 4, number, "format" {
            TXFORMAT 4:0 R500_TEXTURE_FORMATS "";
            SIGNED_COMP0 5:5 [] "component 0 is signed";
            SIGNED_COMP1 6:6 [] "component 1 is signed";
            SIGNED_COMP2 7:7 [] "component 2 is signed";
            SIGNED_COMP3 8:8 [] "component 3 is signed";
            SEL_ALPHA 11:9 TEXEL_SELECTS "";
            SEL_RED 14:12 TEXEL_SELECTS "";
            SEL_GREEN 17:15 TEXEL_SELECTS "";
            SEL_BLUE 20:18 TEXEL_SELECTS "";
            GAMMA 21:21 [] "colours are sRGB";
            YUV_TO_RGB 23:22 [0 "OFF", 1 "CLAMP", 2 "NO_CLAMP"] "";
            SWAP_YUV 24:24 [] "";
            TEX_COORD_TYPE 26:25 [0 "2D", 1 "3D", 2 "CUBE"] "";
            CACHE 31:27 [] "part of the texture cache";
        }
        TX_FORMAT2_0 = 0x04500, 16 every 4, number, "pitch" {
            TXPITCH 13:0 [] "texels of a row - 1";
            TXFORMAT_MSB 14:14 [] "formats of the second list";
            TXWIDTH_11 15:15 [] "bit 11 of the columns";
            TXHEIGHT_11 16:16 [] "bit 11 of the rows";
            POW2FIX2FLT 17:17 [] "fractions are divided by a power of two";
            SEL_FILTER4 19:18 [] "";
        }
        TX_OFFSET_0 = 0x04540, 16 every 4, address, "where the texture lies" {
            ENDIAN_SWAP 1:0 ENDIANS "";
            MACRO_TILE 2:2 [] "tiles of 2 KB";
            MICRO_TILE 4:3 MICRO_TILES "tiles of 32 bytes";
            TXOFFSET 31:5 [] "address / 32";
        }
        TX_CHROMA_KEY_0 = 0x04580, 16 every 4, number, "colour key" {}
        TX_BORDER_COLOR_0 = 0x045c0, 16 every 4, number, "border colour, in the format of the texture" {}
        US_FORMAT0_0 = 0x04640, 16 every 4, number, "size once more, on the first chip alone" {
            TXWIDTH 10:0 [] "columns - 1";
            TXHEIGHT 21:11 [] "rows - 1";
            TXDEPTH 25:22 [] "logarithm of the slices";
        }
    }
}
