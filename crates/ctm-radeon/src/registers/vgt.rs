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
