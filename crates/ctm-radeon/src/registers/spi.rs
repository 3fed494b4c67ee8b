//! SPI: from vertex exports to the registers of pixel programs.

registers! {
    SPI_THREAD_GROUPING = 0x286c8, 1 every 4, number, "how threads are grouped" {
        PS_GROUPING 4:0 [] "";
        VS_GROUPING 12:8 [] "";
        GS_GROUPING 20:16 [] "";
        ES_GROUPING 28:24 [] "";
    }
    SPI_INTERP_CONTROL_0 = 0x286d4, 1 every 4, number, "flat shading and point sprites" {
        FLAT_SHADE_ENA 0:0 [] "lets FLAT_SHADE bits act";
        PNT_SPRITE_ENA 1:1 [] "lets PT_SPRITE_TEX bits act";
        PNT_SPRITE_OVRD_X 4:2 [0 "ZERO", 1 "ONE", 2 "S", 3 "T", 4 "NONE"] "what replaces x";
        PNT_SPRITE_OVRD_Y 7:5 [0 "ZERO", 1 "ONE", 2 "S", 3 "T", 4 "NONE"] "what replaces y";
        PNT_SPRITE_OVRD_Z 10:8 [0 "ZERO", 1 "ONE", 2 "S", 3 "T", 4 "NONE"] "what replaces z";
        PNT_SPRITE_OVRD_W 13:11 [0 "ZERO", 1 "ONE", 2 "S", 3 "T", 4 "NONE"] "what replaces w";
        PNT_SPRITE_TOP_1 14:14 [] "0: T is 0 at the top edge (smallest y), 1: T is 1 there";
    }
    SPI_FOG_CNTL = 0x286dc, 1 every 4, number, "fixed-function fog" {
        PASS_FOG_THROUGH_PS 0:0 [] "";
        PIXEL_FOG_FUNC 2:1 [] "0 none, 1 exp, 2 exp2, 3 linear";
        PIXEL_FOG_SRC_SEL 3:3 [] "0 z, 1 w";
        VS_FOG_CLAMP_DISABLE 4:4 [] "";
    }
    SPI_FOG_FUNC_SCALE = 0x286e0, 1 every 4, float, "fixed-function fog" {}
    SPI_FOG_FUNC_BIAS = 0x286e4, 1 every 4, float, "fixed-function fog" {}
}

/// RS and VAP outputs of the R500: from vertex outputs to the registers of pixel programs.
pub(crate) mod r500 {
    registers! {
        VAP_OUT_VTX_FMT_0 = 0x02090, 1 every 4, number, "outputs of the vertex program" {
            VTX_POS_PRESENT 0:0 [] "position";
            VTX_COLOR_0_PRESENT 1:1 [] "colour 0, of front faces";
            VTX_COLOR_1_PRESENT 2:2 [] "colour 1, of front faces";
            VTX_COLOR_2_PRESENT 3:3 [] "colour 0 of back faces";
            VTX_COLOR_3_PRESENT 4:4 [] "colour 1 of back faces";
            VTX_PT_SIZE_PRESENT 16:16 [] "point size";
        }
        VAP_OUT_VTX_FMT_1 = 0x02094, 1 every 4, number, "components of texture coordinate outputs" {
            TEX_0_COMP_CNT 2:0 [] "set 0";
            TEX_1_COMP_CNT 5:3 [] "set 1";
            TEX_2_COMP_CNT 8:6 [] "set 2";
            TEX_3_COMP_CNT 11:9 [] "set 3";
            TEX_4_COMP_CNT 14:12 [] "set 4";
            TEX_5_COMP_CNT 17:15 [] "set 5";
            TEX_6_COMP_CNT 20:18 [] "set 6";
            TEX_7_COMP_CNT 23:21 [] "set 7";
        }
        VAP_TEX_TO_COLOR_CNTL = 0x02218, 1 every 4, number, "texture coordinates that become colours" {}
        GB_VAP_RASTER_VTX_FMT_0 = 0x04000, 1 every 4, number, "parts of a vertex, of older chips" {}
        GB_VAP_RASTER_VTX_FMT_1 = 0x04004, 1 every 4, number, "components of texture coordinates, of older chips" {}
        RS_IP_0 = 0x04074, 16 every 4, number, "a texture coordinate and a colour to be interpolated" {
            TEX_PTR_S 5:0 RS_POINTERS "component of the vertex that becomes s";
            TEX_PTR_T 11:6 RS_POINTERS "component of the vertex that becomes t";
            TEX_PTR_R 17:12 RS_POINTERS "component of the vertex that becomes r";
            TEX_PTR_Q 23:18 RS_POINTERS "component of the vertex that becomes q";
            COL_PTR 26:24 [] "colour";
            COL_FMT 30:27 COLOUR_SELECTS "its components";
            OFFSET_EN 31:31 [] "RS_INST_COUNT.TX_OFFSET is added";
        }
        PS3_ENABLE = 0x04118, 1 every 4, number, "ten texture coordinates" {
            PS3_MODE 0:0 [] "sets 8 and 9 in place of colours";
        }
        PS3_VTX_FMT = 0x0411c, 1 every 4, number, "components of ten texture coordinates" {
            TEX_0_COMP_CNT 2:0 [] "set 0";
            TEX_1_COMP_CNT 5:3 [] "set 1";
            TEX_2_COMP_CNT 8:6 [] "set 2";
            TEX_3_COMP_CNT 11:9 [] "set 3";
            TEX_4_COMP_CNT 14:12 [] "set 4";
            TEX_5_COMP_CNT 17:15 [] "set 5";
            TEX_6_COMP_CNT 20:18 [] "set 6";
            TEX_7_COMP_CNT 23:21 [] "set 7";
            TEX_8_COMP_CNT 26:24 [] "set 8";
            TEX_9_COMP_CNT 29:27 [] "set 9";
        }
        PS3_TEX_SOURCE = 0x04120, 1 every 4, number, "sources of ten texture coordinates" {
            TEX0_SOURCE 1:0 STUFFED "set 0";
            TEX1_SOURCE 3:2 STUFFED "set 1";
            TEX2_SOURCE 5:4 STUFFED "set 2";
            TEX3_SOURCE 7:6 STUFFED "set 3";
            TEX4_SOURCE 9:8 STUFFED "set 4";
            TEX5_SOURCE 11:10 STUFFED "set 5";
            TEX6_SOURCE 13:12 STUFFED "set 6";
            TEX7_SOURCE 15:14 STUFFED "set 7";
            TEX8_SOURCE 17:16 STUFFED "set 8";
            TEX9_SOURCE 19:18 STUFFED "set 9";
        }
        RS_COUNT = 0x04300, 1 every 4, number, "what is interpolated" {
            IT_COUNT 6:0 [] "texture components";
            IC_COUNT 10:7 [] "colours";
            W_ADDR 17:12 [] "component that holds w";
            HIRES_EN 18:18 [] "full precision";
        }
        RS_INST_COUNT = 0x04304, 1 every 4, number, "instructions of the interpolator" {
            INST_COUNT 3:0 [] "how many - 1";
            TX_OFFSET 7:5 [] "added to components of RS_IP with OFFSET_EN";
        }
        RS_INST_0 = 0x04320, 16 every 4, number, "loads a texture coordinate and a colour into registers of the pixel program" {
            TEX_ID 3:0 [] "RS_IP of the texture coordinate";
            TEX_CN 4:4 [] "it is written";
            TEX_ADDR 11:5 [] "register";
            COL_ID 15:12 [] "RS_IP of the colour";
            COL_CN 17:16 [0 "NO_WRITE", 1 "COLOR", 2 "FB_XY", 3 "BACK_FACE"] "what is written";
            COL_ADDR 24:18 [] "register";
            TEX_ADJ 25:25 [] "the texture coordinate of an adjacent pixel";
            W_CN 26:26 [] "w is written";
        }
    }
}
