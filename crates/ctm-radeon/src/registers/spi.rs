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
