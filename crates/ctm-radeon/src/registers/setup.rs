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
