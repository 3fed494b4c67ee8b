//! VGT: from indices to vertices.

registers! {
    CP_STRMOUT_CNTL = 0x08490, 1 every 4, number, "whether the filled sizes of stream output are up to date" {
        OFFSET_UPDATE_DONE 0:0 [] "they are";
    }
    VGT_GS_PER_ES = 0x088c8, 1 every 4, number, "geometry threads in a batch" {}
    VGT_ES_PER_GS = 0x088cc, 1 every 4, number, "vertex threads in a batch of geometry threads" {}
    VGT_GS_PER_VS = 0x088e8, 1 every 4, number, "geometry threads in a batch of the copy program" {
        GS_PER_VS 3:0 [] "";
    }
    VGT_PRIMITIVE_TYPE = 0x08958, 1 every 4, number, "what primitives are made of the vertices of a draw" {
        PRIM_TYPE 5:0 PRIMITIVES "";
    }
    VGT_INDEX_TYPE = 0x0895c, 1 every 4, number, "width of indices in packets" {
        INDEX_TYPE 1:0 [0 "16_BIT", 1 "32_BIT"] "";
    }
    VGT_STRMOUT_BUFFER_FILLED_SIZE_0 = 0x08960, 4 every 4, number, "dwords that stream output has stored; read-only" {}
    VGT_NUM_INDICES = 0x08970, 1 every 4, number, "number of indices; draw packets set it" {}
    VGT_NUM_INSTANCES = 0x08974, 1 every 4, number, "number of instances; NUM_INSTANCES sets it" {}
    VGT_MAX_VTX_INDX = 0x28400, 1 every 4, number, "larger indices become this one" {}
    VGT_MIN_VTX_INDX = 0x28404, 1 every 4, number, "smaller indices become this one" {}
    VGT_INDX_OFFSET = 0x28408, 1 every 4, number, "signed number that is added to every index, fetched or counted" {}
    VGT_MULTI_PRIM_IB_RESET_INDX = 0x2840c, 1 every 4, number, "the index that ends a primitive" {}
    VGT_DMA_INDEX_TYPE = 0x28a7c, 1 every 4, number, "width and byte order of indices in memory; INDEX_TYPE sets it" {
        INDEX_TYPE 1:0 [0 "16_BIT", 1 "32_BIT"] "";
        SWAP_MODE 3:2 [0 "NONE", 1 "16_BIT", 2 "32_BIT", 3 "WORD"] "";
    }
    VGT_DMA_NUM_INSTANCES = 0x28a88, 1 every 4, number, "number of instances; NUM_INSTANCES sets it" {}
    VGT_EVENT_INITIATOR = 0x28a90, 1 every 4, number, "the event that EVENT_WRITE starts" {
        EVENT_TYPE 5:0 [] "";
        ADDRESS_HI 26:19 [] "";
        EXTENDED_EVENT 27:27 [] "";
    }
    VGT_MULTI_PRIM_IB_RESET_EN = 0x28a94, 1 every 4, number, "primitive restart" {
        RESET_EN 0:0 [] "the reset index ends a primitive";
    }
    VGT_INSTANCE_STEP_RATE_0 = 0x28aa0, 1 every 4, number, "R0.y of vertex programs is the instance divided by it" {}
    VGT_INSTANCE_STEP_RATE_1 = 0x28aa4, 1 every 4, number, "R0.z of vertex programs is the instance divided by it, unless it is the primitive number" {}
    VGT_REUSE_OFF = 0x28ab4, 1 every 4, number, "whether vertices are used again" {
        REUSE_OFF 0:0 [] "1 = every index runs the vertex program again";
    }
    VGT_VTX_CNT_EN = 0x28ab8, 1 every 4, number, "counter of vertices" {
        VTX_CNT_EN 0:0 [] "vertex counter for auto index continuation";
    }
    VGT_STRMOUT_BUFFER_SIZE_0 = 0x28ad0, 4 every 16, number, "where the buffer ends, in dwords from its base" {}
    VGT_STRMOUT_VTX_STRIDE_0 = 0x28ad4, 4 every 16, number, "dwords from one vertex to the next" {
        STRIDE 9:0 [] "";
    }
    VGT_STRMOUT_BUFFER_BASE_0 = 0x28ad8, 4 every 16, address, "start of the buffer" {}
    VGT_STRMOUT_BUFFER_OFFSET_0 = 0x28adc, 4 every 16, number, "where the next vertex goes, in dwords; STRMOUT_BUFFER_UPDATE sets it" {}
    VGT_STRMOUT_BASE_OFFSET_0 = 0x28b10, 4 every 4, number, "base of the buffer once more; STRMOUT_BASE_UPDATE sets it" {}
    VGT_STRMOUT_DRAW_OPAQUE_OFFSET = 0x28b28, 1 every 4, number, "what is taken off the filled size in draws of stream output" {}
    VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE = 0x28b2c, 1 every 4, number, "filled size for draws of stream output, in dwords" {}
    VGT_STRMOUT_DRAW_OPAQUE_VERTEX_STRIDE = 0x28b30, 1 every 4, number, "dwords of a vertex in draws of stream output" {}
    VGT_GS_MAX_VERT_OUT = 0x28b38, 1 every 4, number, "most vertices that one run of a geometry program may emit" {
        MAX_VERT_OUT 10:0 [] "";
    }
    VGT_STRMOUT_BASE_OFFSET_HI_0 = 0x28b44, 4 every 4, number, "upper bits of the base" {
        BASE_OFFSET 5:0 [] "bits above 32 of the base offset";
    }
}

/// VAP of the R500: vertex fetch.
pub(crate) mod r500 {
    registers! {
        VAP_CNTL = 0x02080, 1 every 4, number, "sizes of the vertex engine's queues, and the clip space" {
            PVS_NUM_SLOTS 3:0 [] "vertices in flight / 2";
            PVS_NUM_CNTLRS 7:4 [] "controllers in use";
            PVS_NUM_FPUS 11:8 [] "vertex engines in use";
            VAP_NO_RENDER 17:17 [] "draws are ignored";
            VF_MAX_VTX_NUM 21:18 [] "entries of the vertex cache";
            DX_CLIP_SPACE_DEF 22:22 [] "0: -w <= z <= w; 1: 0 <= z <= w";
            TCL_STATE_OPTIMIZATION 23:23 [] "state is sent on only where it changes";
        }
        VAP_VF_CNTL = 0x02084, 1 every 4, number, "the primitives of a draw; draw packets set it" {
            PRIM_TYPE 3:0 R500_PRIMITIVES "which primitives";
            PRIM_WALK 5:4 WALKS "where vertices come from";
            INDEX_SIZE 11:11 [0 "16_BIT", 1 "32_BIT"] "width of indices";
            VTX_REUSE_DIS 12:12 [] "no vertex is used twice";
            DUAL_INDEX_MODE 13:13 [] "an index of its own for array 0";
            USE_ALT_NUM_VERTS 14:14 [] "the count is in VAP_ALT_NUM_VERTICES";
            NUM_VERTICES 31:16 [] "vertices or indices";
        }
        VAP_ALT_NUM_VERTICES = 0x02088, 1 every 4, number, "number of vertices or indices of draws with USE_ALT_NUM_VERTS" {
            NUM_VERTICES 23:0 [] "how many";
        }
        VAP_INDEX_OFFSET = 0x0208c, 1 every 4, number, "added to every index" {
            INDEX_OFFSET 24:0 [] "signed";
        }
        VAP_VTX_SIZE = 0x020b4, 1 every 4, number, "size of a vertex in packets" {
            DWORDS_PER_VTX 6:0 [] "dwords";
        }
        VAP_PORT_DATA0 = 0x02000, 16 every 4, number, "port of vertices" {}
        VAP_PORT_IDX0 = 0x02040, 16 every 4, number, "port of indices; INDX_BUFFER writes it" {}
        VAP_PORT_DATA_IDX_128 = 0x020b8, 1 every 4, number, "port of four words of vertices or indices" {}
        VAP_VF_MAX_VTX_INDX = 0x02134, 1 every 4, number, "larger indices become this one" {
            MAX_INDX 23:0 [] "index";
        }
        VAP_VF_MIN_VTX_INDX = 0x02138, 1 every 4, number, "smaller indices become this one" {
            MIN_INDX 23:0 [] "index";
        }
        VAP_CNTL_STATUS = 0x02140, 1 every 4, number, "byte order of vertices, and the bypass of the vertex program" {
            VC_SWAP 1:0 [0 "NONE", 1 "16_BIT", 2 "32_BIT", 3 "HALF_DWORD"] "byte order of vertices in memory";
            PVS_BYPASS 8:8 [] "no vertex program and no clipping: fetched vectors are the outputs";
        }
        VAP_PROG_STREAM_CNTL_0 = 0x02150, 8 every 4, number, "two elements of a vertex" {
            DATA_TYPE_0 3:0 STREAM_TYPES "type of the first";
            SKIP_DWORDS_0 7:4 [] "dwords that are left out after it";
            DST_VEC_LOC_0 12:8 [] "input vector that it is loaded into";
            LAST_VEC_0 13:13 [] "it is the last element";
            SIGNED_0 14:14 [] "integers are signed";
            NORMALIZE_0 15:15 [] "integers are fractions";
            DATA_TYPE_1 19:16 STREAM_TYPES "type of the second";
            SKIP_DWORDS_1 23:20 [] "dwords that are left out after it";
            DST_VEC_LOC_1 28:24 [] "input vector that it is loaded into";
            LAST_VEC_1 29:29 [] "it is the last element";
            SIGNED_1 30:30 [] "integers are signed";
            NORMALIZE_1 31:31 [] "integers are fractions";
        }
        VAP_PSC_SGN_NORM_CNTL = 0x021dc, 1 every 4, number, "signed fractions: two bits an element, from bit 0 on" {
            SGN_NORM_METHOD_0 1:0 SIGN_NORMALS "of element 0";
            SGN_NORM_METHOD_1 3:2 SIGN_NORMALS "of element 1";
            SGN_NORM_METHOD_2 5:4 SIGN_NORMALS "of element 2";
            SGN_NORM_METHOD_3 7:6 SIGN_NORMALS "of element 3";
            SGN_NORM_METHOD_4 9:8 SIGN_NORMALS "of element 4";
            SGN_NORM_METHOD_5 11:10 SIGN_NORMALS "of element 5";
            SGN_NORM_METHOD_6 13:12 SIGN_NORMALS "of element 6";
            SGN_NORM_METHOD_7 15:14 SIGN_NORMALS "of element 7";
            SGN_NORM_METHOD_8 17:16 SIGN_NORMALS "of element 8";
            SGN_NORM_METHOD_9 19:18 SIGN_NORMALS "of element 9";
            SGN_NORM_METHOD_10 21:20 SIGN_NORMALS "of element 10";
            SGN_NORM_METHOD_11 23:22 SIGN_NORMALS "of element 11";
            SGN_NORM_METHOD_12 25:24 SIGN_NORMALS "of element 12";
            SGN_NORM_METHOD_13 27:26 SIGN_NORMALS "of element 13";
            SGN_NORM_METHOD_14 29:28 SIGN_NORMALS "of element 14";
            SGN_NORM_METHOD_15 31:30 SIGN_NORMALS "of element 15";
        }
        VAP_PROG_STREAM_CNTL_EXT_0 = 0x021e0, 8 every 4, number, "selects and write enables of two elements of a vertex" {
            SWIZZLE_SELECT_X_0 2:0 STREAM_SELECTS "x of the first";
            SWIZZLE_SELECT_Y_0 5:3 STREAM_SELECTS "y of the first";
            SWIZZLE_SELECT_Z_0 8:6 STREAM_SELECTS "z of the first";
            SWIZZLE_SELECT_W_0 11:9 STREAM_SELECTS "w of the first";
            WRITE_ENA_0 15:12 [] "components of the first that are loaded: x in the lowest bit";
            SWIZZLE_SELECT_X_1 18:16 STREAM_SELECTS "x of the second";
            SWIZZLE_SELECT_Y_1 21:19 STREAM_SELECTS "y of the second";
            SWIZZLE_SELECT_Z_1 24:22 STREAM_SELECTS "z of the second";
            SWIZZLE_SELECT_W_1 27:25 STREAM_SELECTS "w of the second";
            WRITE_ENA_1 31:28 [] "components of the second that are loaded: x in the lowest bit";
        }
        VAP_VTX_STATE_CNTL = 0x02180, 1 every 4, number, "where colours come from without a vertex program" {
            COLOR_0_ASSEMBLY_CNTL 1:0 [] "0: the colour, 1: user colour 0, 2: user colour 1";
            COLOR_1_ASSEMBLY_CNTL 3:2 [] "";
            COLOR_2_ASSEMBLY_CNTL 5:4 [] "";
            COLOR_3_ASSEMBLY_CNTL 7:6 [] "";
            COLOR_4_ASSEMBLY_CNTL 9:8 [] "";
            COLOR_5_ASSEMBLY_CNTL 11:10 [] "";
            COLOR_6_ASSEMBLY_CNTL 13:12 [] "";
            COLOR_7_ASSEMBLY_CNTL 15:14 [] "";
            UPDATE_USER_COLOR_0_ENA 16:16 [] "";
        }
        VAP_VSM_VTX_ASSM = 0x02184, 1 every 4, number, "the parts of a vertex" {
            POSITION 0:0 [] "a position";
            NORMAL 1:1 [] "a normal";
            COLOR_0 2:2 [] "colour 0";
            COLOR_1 3:3 [] "colour 1";
            TEXTURES 17:10 [] "texture coordinates, a bit a set";
        }
        VAP_VTX_STATE_IND_REG_0 = 0x02188, 16 every 4, number, "state of vertices without a vertex program" {}
    }
}
