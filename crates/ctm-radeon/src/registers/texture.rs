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
