//! PA_CL: clipping and viewports.

registers! {
    PA_CL_VPORT_XSCALE_0 = 0x2843c, 16 every 24, float, "what x is multiplied by" {}
    PA_CL_VPORT_XOFFSET_0 = 0x28440, 16 every 24, float, "what is added to x" {}
    PA_CL_VPORT_YSCALE_0 = 0x28444, 16 every 24, float, "what y is multiplied by" {}
    PA_CL_VPORT_YOFFSET_0 = 0x28448, 16 every 24, float, "what is added to y" {}
    PA_CL_VPORT_ZSCALE_0 = 0x2844c, 16 every 24, float, "what z is multiplied by" {}
    PA_CL_VPORT_ZOFFSET_0 = 0x28450, 16 every 24, float, "addend of z" {}
    PA_CL_CLIP_CNTL = 0x28810, 1 every 4, number, "how primitives are clipped" {
        UCP_ENA 5:0 [] "user clip plane n on (dot product of the clip-space position and PA_CL_UCP_n must be >= 0)";
        PS_UCP_Y_SCALE_NEG 13:13 [] "for points and sprites: sign of y in the plane test";
        PS_UCP_MODE 15:14 [] "points against user planes: 0 cull by centre distance, 1 cull by radius, 2 cull by radius and expand, 3 expand and clip as a quad";
        CLIP_DISABLE 16:16 [] "1: no clipping at all (also no w test)";
        UCP_CULL_ONLY_ENA 17:17 [] "planes only reject whole primitives, do not cut";
        BOUNDARY_EDGE_FLAG_ENA 18:18 [] "edges made by clipping get edge flag 1";
        DX_CLIP_SPACE_DEF 19:19 [] "0: -w <= z <= w; 1: 0 <= z <= w";
        DIS_CLIP_ERR_DETECT 20:20 [] "";
        VTX_KILL_OR 21:21 [] "1: a primitive is dropped if any vertex has the kill flag, 0: only if all have";
        DX_RASTERIZATION_KILL 22:22 [] "drop every primitive after streamout";
        DX_LINEAR_ATTR_CLIP_ENA 24:24 [] "interpolate non-perspective attributes correctly at cut points";
        VTE_VPORT_PROVOKE_DISABLE 25:25 [] "0: viewport index of the provoking vertex is used for the primitive";
        ZCLIP_NEAR_DISABLE 26:26 [] "no near plane";
        ZCLIP_FAR_DISABLE 27:27 [] "no far plane";
    }
    PA_CL_VTE_CNTL = 0x28818, 1 every 4, number, "which steps of the viewport transform run" {
        VPORT_X_SCALE_ENA 0:0 [] "multiply x by XSCALE";
        VPORT_X_OFFSET_ENA 1:1 [] "add XOFFSET";
        VPORT_Y_SCALE_ENA 2:2 [] "";
        VPORT_Y_OFFSET_ENA 3:3 [] "";
        VPORT_Z_SCALE_ENA 4:4 [] "";
        VPORT_Z_OFFSET_ENA 5:5 [] "";
        VTX_XY_FMT 8:8 [] "1: x and y are already divided by w: no multiplication by 1/w";
        VTX_Z_FMT 9:9 [] "1: same for z";
        VTX_W0_FMT 10:10 [] "1: the exported w is w (its reciprocal is taken); 0: the exported w is already 1/w";
        PERFCOUNTER_REF 11:11 [] "";
    }
    PA_CL_NANINF_CNTL = 0x28820, 1 every 4, number, "treatment of NaN and infinity" {
        VTE_XY_INF_DISCARD 0:0 [] "";
        VTE_Z_INF_DISCARD 1:1 [] "";
        VTE_W_INF_DISCARD 2:2 [] "";
        VTE_0XNANINF_IS_0 3:3 [] "";
        VTE_XY_NAN_RETAIN 4:4 [] "";
        VTE_Z_NAN_RETAIN 5:5 [] "";
        VTE_W_NAN_RETAIN 6:6 [] "";
        VTE_W_RECIP_NAN_IS_0 7:7 [] "";
        VS_XY_NAN_TO_INF 8:8 [] "";
        VS_XY_INF_RETAIN 9:9 [] "";
        VS_Z_NAN_TO_INF 10:10 [] "";
        VS_Z_INF_RETAIN 11:11 [] "";
        VS_W_NAN_TO_INF 12:12 [] "";
        VS_W_INF_RETAIN 13:13 [] "";
        VS_CLIP_DIST_INF_DISCARD 14:14 [] "";
        VTE_NO_OUTPUT_NEG_0 20:20 [] "";
    }
    PA_CL_GB_VERT_CLIP_ADJ = 0x28c0c, 1 every 4, float, "y is cut off beyond this multiple of w" {}
    PA_CL_GB_VERT_DISC_ADJ = 0x28c10, 1 every 4, float, "what lies wholly beyond this multiple of w in y is dropped" {}
    PA_CL_GB_HORZ_CLIP_ADJ = 0x28c14, 1 every 4, float, "x is cut off beyond this multiple of w" {}
    PA_CL_GB_HORZ_DISC_ADJ = 0x28c18, 1 every 4, float, "what lies wholly beyond this multiple of w in x is dropped" {}
    PA_CL_UCP_0_X = 0x28e20, 6 every 16, float, "user plane: x" {}
    PA_CL_UCP_0_Y = 0x28e24, 6 every 16, float, "user plane: y" {}
    PA_CL_UCP_0_Z = 0x28e28, 6 every 16, float, "user plane: z" {}
    PA_CL_UCP_0_W = 0x28e2c, 6 every 16, float, "user plane: w" {}
}

/// VAP of the R500: clipping and the viewport.
pub(crate) mod r500 {
    registers! {
        VAP_VPORT_XSCALE = 0x01d98, 1 every 4, float, "what x is multiplied by" {}
        VAP_VPORT_XOFFSET = 0x01d9c, 1 every 4, float, "what is added to x" {}
        VAP_VPORT_YSCALE = 0x01da0, 1 every 4, float, "what y is multiplied by" {}
        VAP_VPORT_YOFFSET = 0x01da4, 1 every 4, float, "what is added to y" {}
        VAP_VPORT_ZSCALE = 0x01da8, 1 every 4, float, "what z is multiplied by" {}
        VAP_VPORT_ZOFFSET = 0x01dac, 1 every 4, float, "addend of z" {}
        VAP_VTE_CNTL = 0x020b0, 1 every 4, number, "which steps of the viewport transform run" {
            VPORT_X_SCALE_ENA 0:0 [] "multiply x by XSCALE";
            VPORT_X_OFFSET_ENA 1:1 [] "add XOFFSET";
            VPORT_Y_SCALE_ENA 2:2 [] "";
            VPORT_Y_OFFSET_ENA 3:3 [] "";
            VPORT_Z_SCALE_ENA 4:4 [] "";
            VPORT_Z_OFFSET_ENA 5:5 [] "";
            VTX_XY_FMT 8:8 [] "x and y are already divided by w";
            VTX_Z_FMT 9:9 [] "z is already divided by w";
            VTX_W0_FMT 10:10 [] "1: the fourth component is w; 0: it is 1/w";
            SERIAL_PROC_ENA 11:11 [] "one step after another";
        }
        VAP_CLIP_CNTL = 0x0221c, 1 every 4, number, "how primitives are clipped" {
            UCP_ENA 5:0 [] "user planes, a bit each";
            PS_UCP_MODE 15:14 [0 "CULL_CENTRE", 1 "CULL_RADIUS", 2 "RADIUS_EXPAND", 3 "EXPAND"] "points against planes";
            CLIP_DISABLE 16:16 [] "no clipping at all";
            UCP_CULL_ONLY_ENA 17:17 [] "planes only reject whole primitives";
            BOUNDARY_EDGE_FLAG_ENA 18:18 [] "edges made by clipping are drawn in the line mode of polygons";
            COLOR2_IS_TEXTURE 20:20 [] "colour 2 is texture coordinate 8";
            COLOR3_IS_TEXTURE 21:21 [] "colour 3 is texture coordinate 9";
        }
        VAP_GB_VERT_CLIP_ADJ = 0x02220, 1 every 4, float, "y is cut off beyond this multiple of w" {}
        VAP_GB_VERT_DISC_ADJ = 0x02224, 1 every 4, float, "primitives wholly beyond this multiple of w in y are dropped" {}
        VAP_GB_HORZ_CLIP_ADJ = 0x02228, 1 every 4, float, "x is cut off beyond this multiple of w" {}
        VAP_GB_HORZ_DISC_ADJ = 0x0222c, 1 every 4, float, "primitives wholly beyond this multiple of w in x are dropped" {}
    }
}
