//! PA_SU: faces, points, offsets.

registers! {
    PA_SU_SC_MODE_CNTL = 0x28814, 1 every 4, number, "faces, fill modes, offsets, provoking vertex" {
        CULL_FRONT 0:0 [] "drop front faces";
        CULL_BACK 1:1 [] "drop back faces";
        FACE 2:2 [] "clockwise triangles, as seen with row 0 on top, are front faces";
        POLY_MODE 4:3 [0 "FILL", 1 "BY_FACE"] "";
        POLYMODE_FRONT_PTYPE 7:5 [0 "POINTS", 1 "LINES", 2 "TRIANGLES"] "";
        POLYMODE_BACK_PTYPE 10:8 [0 "POINTS", 1 "LINES", 2 "TRIANGLES"] "";
        POLY_OFFSET_FRONT_ENABLE 11:11 [] "";
        POLY_OFFSET_BACK_ENABLE 12:12 [] "";
        POLY_OFFSET_PARA_ENABLE 13:13 [] "";
        VTX_WINDOW_OFFSET_ENABLE 16:16 [] "add PA_SC_WINDOW_OFFSET to vertices";
        PROVOKING_VTX_LAST 19:19 [] "1: last vertex gives flat values (OpenGL), 0: first";
        PERSP_CORR_DIS 20:20 [] "linear interpolation for all";
        MULTI_PRIM_IB_ENA 21:21 [] "restart handling in the set-up of strips";
    }
    PA_SU_POINT_SIZE = 0x28a00, 1 every 4, number, "size of points" {
        HEIGHT 15:0 [] "half of it, in 1/16 pixel";
        WIDTH 31:16 [] "half of it, in 1/16 pixel";
    }
    PA_SU_POINT_MINMAX = 0x28a04, 1 every 4, number, "limits of exported point sizes" {
        MIN_SIZE 15:0 [] "";
        MAX_SIZE 31:16 [] "";
    }
    PA_SU_LINE_CNTL = 0x28a08, 1 every 4, number, "width of lines" {
        WIDTH 15:0 [] "half of it, in 1/16 pixel";
    }
    PA_SU_VTX_CNTL = 0x28c08, 1 every 4, number, "grid of positions" {
        PIX_CENTER 0:0 [] "1: pixel centres at .5 (OpenGL), 0: at integers";
        ROUND_MODE 2:1 [0 "TRUNCATE", 1 "ROUND", 2 "ROUND_TO_EVEN", 3 "ROUND_TO_ODD"] "";
        QUANT_MODE 5:3 [0 "1_16TH", 1 "1_8TH", 2 "1_4TH", 3 "1_2", 4 "1", 5 "1_256TH"] "grid of vertex positions";
    }
    PA_SU_POLY_OFFSET_DB_FMT_CNTL = 0x28df8, 1 every 4, number, "smallest step of depth" {
        POLY_OFFSET_NEG_NUM_DB_BITS 7:0 [] "signed 8 bits: exponent of the smallest depth step";
        POLY_OFFSET_DB_IS_FLOAT_FMT 8:8 [] "step depends on the exponent of z";
    }
    PA_SU_POLY_OFFSET_CLAMP = 0x28dfc, 1 every 4, float, "bound of the depth offset; 0: none" {}
    PA_SU_POLY_OFFSET_FRONT_SCALE = 0x28e00, 1 every 4, float, "factor of the slope, times 16, of front faces" {}
    PA_SU_POLY_OFFSET_FRONT_OFFSET = 0x28e04, 1 every 4, float, "factor of the step, of front faces" {}
    PA_SU_POLY_OFFSET_BACK_SCALE = 0x28e08, 1 every 4, float, "factor of the slope, times 16, of back faces" {}
    PA_SU_POLY_OFFSET_BACK_OFFSET = 0x28e0c, 1 every 4, float, "factor of the step, of back faces" {}
    PA_CL_POINT_X_RAD = 0x28e10, 1 every 4, float, "point clip radius in x" {}
    PA_CL_POINT_Y_RAD = 0x28e14, 1 every 4, float, "point clip radius in y" {}
    PA_CL_POINT_SIZE = 0x28e18, 1 every 4, float, "point size for clipping" {}
    PA_CL_POINT_CULL_RAD = 0x28e1c, 1 every 4, float, "point cull radius" {}
}

/// GB, GA and SU of the R500: points, lines, faces, colours.
pub(crate) mod r500 {
    registers! {
        GB_ENABLE = 0x04008, 1 every 4, number, "texture coordinates made of positions" {
            POINT_STUFF_ENABLE 0:0 [] "of points";
            LINE_STUFF_ENABLE 1:1 [] "of lines";
            TRIANGLE_STUFF_ENABLE 2:2 [] "of triangles";
            STENCIL_AUTO 5:4 [] "stencil values from facing";
            TEX0_SOURCE 17:16 STUFFED "set 0";
            TEX1_SOURCE 19:18 STUFFED "set 1";
            TEX2_SOURCE 21:20 STUFFED "set 2";
            TEX3_SOURCE 23:22 STUFFED "set 3";
            TEX4_SOURCE 25:24 STUFFED "set 4";
            TEX5_SOURCE 27:26 STUFFED "set 5";
            TEX6_SOURCE 29:28 STUFFED "set 6";
            TEX7_SOURCE 31:30 STUFFED "set 7";
        }
        GB_TILE_CONFIG = 0x04018, 1 every 4, number, "pipes and the grid of positions; the kernel sets it" {
            ENABLE 0:0 [] "";
            PIPE_COUNT 3:1 [] "";
            TILE_SIZE 5:4 [] "";
            SUBPIXEL 16:16 [0 "1_12TH", 1 "1_16TH"] "grid of positions";
            Z_EXTENDED 24:24 [] "depths beyond 0..1 are not clamped at vertices";
        }
        GB_SELECT = 0x0401c, 1 every 4, number, "sources of fog, depth and w" {
            FOG_SELECT 2:0 [] "";
            DEPTH_SELECT 3:3 [] "";
            W_SELECT 4:4 [] "w is 1: no perspective";
            FOG_STUFF_ENABLE 5:5 [] "";
            FOG_STUFF_TEX 9:6 [] "";
            FOG_STUFF_COMP 11:10 [] "";
        }
        GB_FIFO_SIZE = 0x04024, 1 every 4, number, "sizes of queues" {}
        GB_PIPE_SELECT = 0x0402c, 1 every 4, number, "pipes in use; the kernel sets it" {}
        GB_FIFO_SIZE1 = 0x04070, 1 every 4, number, "sizes of queues" {}
        SU_TEX_WRAP_PS3 = 0x04114, 1 every 4, number, "cylindrical wrap of texture coordinates 8 and 9" {}
        GA_POINT_S0 = 0x04200, 1 every 4, float, "s at the left of a point" {}
        GA_POINT_T0 = 0x04204, 1 every 4, float, "t at the largest row of a point" {}
        GA_POINT_S1 = 0x04208, 1 every 4, float, "s at the right of a point" {}
        GA_POINT_T1 = 0x0420c, 1 every 4, float, "t at the smallest row of a point" {}
        GA_TRIANGLE_STIPPLE = 0x04214, 1 every 4, number, "scale of texture coordinates made of triangles' positions" {
            X_SHIFT 3:0 [] "";
            Y_SHIFT 19:16 [] "";
        }
        GA_POINT_SIZE = 0x0421c, 1 every 4, number, "size of points" {
            HEIGHT 15:0 [] "half of it, in 1/12 pixel";
            WIDTH 31:16 [] "half of it, in 1/12 pixel";
        }
        GA_FILL_R = 0x04220, 1 every 4, number, "colour of fills: red" {}
        GA_FILL_G = 0x04224, 1 every 4, number, "colour of fills: green" {}
        GA_FILL_B = 0x04228, 1 every 4, number, "colour of fills: blue" {}
        GA_FILL_A = 0x0422c, 1 every 4, number, "colour of fills: alpha" {}
        GA_POINT_MINMAX = 0x04230, 1 every 4, number, "limits of the point sizes of vertices" {
            MIN_SIZE 15:0 [] "half of it, in 1/12 pixel";
            MAX_SIZE 31:16 [] "half of it, in 1/12 pixel";
        }
        GA_LINE_CNTL = 0x04234, 1 every 4, number, "width and ends of lines" {
            WIDTH 15:0 [] "half of it, in 1/12 pixel";
            END_TYPE 17:16 [0 "HORIZONTAL", 1 "VERTICAL", 2 "SQUARE", 3 "COMPUTED"] "";
            SORT 18:18 [] "vertices are sorted first";
        }
        GA_LINE_STIPPLE_CONFIG = 0x04238, 1 every 4, number, "pattern of lines" {
            LINE_RESET 1:0 [0 "NONE", 1 "LINE", 2 "PACKET"] "when it begins again";
            STIPPLE_SCALE 31:2 [] "upper bits of a float";
        }
        GA_COLOR_CONTROL_PS3 = 0x04258, 1 every 4, number, "shading of texture coordinates" {
            TEX0_SHADING 1:0 SHADINGS "set 0";
            TEX1_SHADING 3:2 SHADINGS "set 1";
            TEX2_SHADING 5:4 SHADINGS "set 2";
            TEX3_SHADING 7:6 SHADINGS "set 3";
            TEX4_SHADING 9:8 SHADINGS "set 4";
            TEX5_SHADING 11:10 SHADINGS "set 5";
            TEX6_SHADING 13:12 SHADINGS "set 6";
            TEX7_SHADING 15:14 SHADINGS "set 7";
            TEX8_SHADING 17:16 SHADINGS "set 8";
            TEX9_SHADING 19:18 SHADINGS "set 9";
            TEX10_SHADING 21:20 SHADINGS "set 10";
            COLOR0_TEX_OVERRIDE 25:22 [] "";
            COLOR1_TEX_OVERRIDE 29:26 [] "";
        }
        GA_IDLE = 0x0425c, 1 every 4, number, "parts that are idle; read-only" {}
        GA_LINE_STIPPLE_VALUE = 0x04260, 1 every 4, number, "pattern of lines, or where it is. UNVERIFIED" {}
        GA_LINE_S0 = 0x04264, 1 every 4, float, "s at the first end of a line" {}
        GA_LINE_S1 = 0x04268, 1 every 4, float, "s at the second end of a line" {}
        GA_FIFO_CNTL = 0x04270, 1 every 4, number, "sizes of queues" {}
        GA_ENHANCE = 0x04274, 1 every 4, number, "chip settings" {
            DEADLOCK_CNTL 0:0 [] "";
            FASTSYNC_CNTL 1:1 [] "";
            REG_READWRITE 2:2 [] "";
            REG_NOSTALL 3:3 [] "";
        }
        GA_COLOR_CONTROL = 0x04278, 1 every 4, number, "shading of colours" {
            RGB0_SHADING 1:0 SHADINGS "colour 0";
            ALPHA0_SHADING 3:2 SHADINGS "colour 0";
            RGB1_SHADING 5:4 SHADINGS "colour 1";
            ALPHA1_SHADING 7:6 SHADINGS "colour 1";
            RGB2_SHADING 9:8 SHADINGS "colour 2";
            ALPHA2_SHADING 11:10 SHADINGS "colour 2";
            RGB3_SHADING 13:12 SHADINGS "colour 3";
            ALPHA3_SHADING 15:14 SHADINGS "colour 3";
            PROVOKING_VERTEX 17:16 [0 "FIRST", 1 "SECOND", 2 "THIRD", 3 "LAST"] "the vertex that gives flat colours";
        }
        GA_SOLID_RG = 0x0427c, 1 every 4, number, "solid colour" {
            GREEN 15:0 [] "";
            RED 31:16 [] "";
        }
        GA_SOLID_BA = 0x04280, 1 every 4, number, "solid colour" {
            ALPHA 15:0 [] "";
            BLUE 31:16 [] "";
        }
        GA_POLY_MODE = 0x04288, 1 every 4, number, "polygons as points or lines" {
            POLY_MODE 1:0 [0 "FILL", 1 "DUAL"] "";
            FRONT_PTYPE 6:4 [0 "POINTS", 1 "LINES", 2 "TRIANGLES"] "";
            BACK_PTYPE 9:7 [0 "POINTS", 1 "LINES", 2 "TRIANGLES"] "";
        }
        GA_ROUND_MODE = 0x0428c, 1 every 4, number, "rounding of positions and colours" {
            GEOMETRY_ROUND 1:0 [0 "TRUNCATE", 1 "NEAREST"] "to the grid of positions";
            COLOR_ROUND 3:2 [0 "TRUNCATE", 1 "NEAREST"] "to floats of 20 bits";
            RGB_CLAMP 4:4 [0 "0_TO_1", 1 "FP20"] "";
            ALPHA_CLAMP 5:5 [0 "0_TO_1", 1 "FP20"] "";
            GEOMETRY_MASK 9:6 [] "bits of the grid that are dropped";
        }
        GA_OFFSET = 0x04290, 1 every 4, number, "added to positions" {
            X_OFFSET 15:0 [] "signed, in 1/12 pixel";
            Y_OFFSET 31:16 [] "signed, in 1/12 pixel";
        }
        GA_FOG_SCALE = 0x04294, 1 every 4, float, "fog at vertices" {}
        GA_FOG_OFFSET = 0x04298, 1 every 4, float, "fog at vertices" {}
        SU_TEX_WRAP = 0x042a0, 1 every 4, number, "cylindrical wrap: four bits a texture coordinate" {}
        SU_POLY_OFFSET_FRONT_SCALE = 0x042a4, 1 every 4, float, "factor of the slope, times 12, of front faces" {}
        SU_POLY_OFFSET_FRONT_OFFSET = 0x042a8, 1 every 4, float, "added to depths of front faces, in units of 24-bit depth" {}
        SU_POLY_OFFSET_BACK_SCALE = 0x042ac, 1 every 4, float, "factor of the slope, times 12, of back faces" {}
        SU_POLY_OFFSET_BACK_OFFSET = 0x042b0, 1 every 4, float, "added to depths of back faces, in units of 24-bit depth" {}
        SU_POLY_OFFSET_ENABLE = 0x042b4, 1 every 4, number, "where depths are offset" {
            FRONT_ENABLE 0:0 [] "front faces";
            BACK_ENABLE 1:1 [] "back faces";
            PARA_ENABLE 2:2 [] "points and lines";
        }
        SU_CULL_MODE = 0x042b8, 1 every 4, number, "faces" {
            CULL_FRONT 0:0 [] "drop front faces";
            CULL_BACK 1:1 [] "drop back faces";
            FACE 2:2 [0 "CCW", 1 "CW"] "the front face";
        }
        SU_DEPTH_SCALE = 0x042c0, 1 every 4, float, "largest depth as an integer" {}
        SU_DEPTH_OFFSET = 0x042c4, 1 every 4, float, "added to depths" {}
        SU_REG_DEST = 0x042c8, 1 every 4, number, "pipes that take what is written" {
            SELECT 3:0 [] "a bit a pipe";
        }
    }
}
