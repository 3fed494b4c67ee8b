//! SQ: programs, constants, rings.

use ctm_isa::table::Field;

/// The size of a constant buffer in units of 256 bytes, in ALU_CONST_BUFFER_SIZE_PS and its like.
pub(crate) const CONSTANT_BUFFER_SIZE: Field = Field { name: "DATA", msb: 8, lsb: 0, doc: "bytes / 256", values: &[] };

registers! {
    SQ_THREAD_RESOURCE_MGMT = 0x08c0c, 1 every 4, number, "how threads are shared out" {
        NUM_PS_THREADS 7:0 [] "";
        NUM_VS_THREADS 15:8 [] "";
        NUM_GS_THREADS 23:16 [] "";
        NUM_ES_THREADS 31:24 [] "";
    }
    SQ_STACK_RESOURCE_MGMT_1 = 0x08c10, 1 every 4, number, "how stack entries are shared out, first half" {
        NUM_PS_STACK_ENTRIES 11:0 [] "";
        NUM_VS_STACK_ENTRIES 27:16 [] "";
    }
    SQ_STACK_RESOURCE_MGMT_2 = 0x08c14, 1 every 4, number, "how stack entries are shared out, second half" {
        NUM_GS_STACK_ENTRIES 11:0 [] "";
        NUM_ES_STACK_ENTRIES 27:16 [] "";
    }
    SQ_ESGS_RING_BASE = 0x08c40, 1 every 4, address, "ring between vertex and geometry program" {}
    SQ_ESGS_RING_SIZE = 0x08c44, 1 every 4, number, "ring between vertex and geometry program: bytes / 256" {}
    SQ_GSVS_RING_BASE = 0x08c48, 1 every 4, address, "ring between geometry and copy program" {}
    SQ_GSVS_RING_SIZE = 0x08c4c, 1 every 4, number, "ring between geometry and copy program: bytes / 256" {}
    SQ_ESTMP_RING_BASE = 0x08c50, 1 every 4, address, "scratch memory of export programs" {}
    SQ_ESTMP_RING_SIZE = 0x08c54, 1 every 4, number, "scratch memory of export programs: bytes / 256" {}
    SQ_GSTMP_RING_BASE = 0x08c58, 1 every 4, address, "scratch memory of geometry programs: address / 256" {}
    SQ_GSTMP_RING_SIZE = 0x08c5c, 1 every 4, number, "scratch memory of geometry programs: bytes / 256" {}
    SQ_VSTMP_RING_BASE = 0x08c60, 1 every 4, address, "scratch memory of vertex programs: address / 256" {}
    SQ_VSTMP_RING_SIZE = 0x08c64, 1 every 4, number, "scratch memory of vertex programs: bytes / 256" {}
    SQ_PSTMP_RING_BASE = 0x08c68, 1 every 4, address, "scratch memory of pixel programs: address / 256" {}
    SQ_PSTMP_RING_SIZE = 0x08c6c, 1 every 4, number, "scratch memory of pixel programs: bytes / 256" {}
    SQ_FBUF_RING_BASE = 0x08c70, 1 every 4, number, "fetch buffer: address / 256" {}
    SQ_FBUF_RING_SIZE = 0x08c74, 1 every 4, number, "fetch buffer: bytes / 256" {}
    SQ_REDUC_RING_BASE = 0x08c78, 1 every 4, number, "reduction buffer: address / 256" {}
    SQ_REDUC_RING_SIZE = 0x08c7c, 1 every 4, number, "reduction buffer: bytes / 256" {}
    ALU_CONST_CACHE_PS_0 = 0x28940, 16 every 4, address, "constant buffer of the pixel program" {}
    ALU_CONST_CACHE_VS_0 = 0x28980, 16 every 4, address, "constant buffer of the vertex or export program" {}
    ALU_CONST_CACHE_GS_0 = 0x289c0, 16 every 4, address, "constant buffer of the geometry program" {}
    SQ_VTX_BASE_VTX_LOC = 0x3cff0, 1 every 4, number, "added to the index of fetches of vertex data" {}
    SQ_VTX_START_INST_LOC = 0x3cff4, 1 every 4, number, "added to the index of fetches of instance data" {}
    SQ_LOOP_CONST_0 = 0x3e200, 96 every 4, number, "loop constant: 32 each for pixel, vertex and geometry programs" {
        COUNT 11:0 [] "trip count";
        INIT 23:12 [] "first value";
        INC 31:24 [] "step";
    }
    SQ_BOOL_CONST_0 = 0x3e380, 3 every 4, number, "32 booleans: pixel, vertex, geometry program" {}
}

/// PVS and US of the R500: vertex and pixel programs.
pub(crate) mod r500 {
    registers! {
        VAP_PVS_VECTOR_INDX_REG = 0x02200, 1 every 4, number, "where the ports of PVS memory go on" {
            OCTWORD_OFFSET 10:0 [] "vector of four dwords: instructions from 0, constants from 1024, user planes from 1536";
        }
        VAP_PVS_VECTOR_DATA_REG = 0x02204, 1 every 4, number, "port of PVS memory, a dword" {}
        VAP_PVS_VECTOR_DATA_REG_128 = 0x02208, 1 every 4, number, "port of PVS memory, whole vectors" {}
        VAP_PVS_FLOW_CNTL_ADDRS_0 = 0x02230, 16 every 4, number, "addresses of a flow control slot, of older chips" {
            ACT_ADRS 7:0 [] "after this instruction";
            LOOP_CNT_JMP_INST 15:8 [] "trip count, or target";
            LAST_INST 23:16 [] "last instruction of the loop or subroutine";
            RTN_INST 31:24 [] "first instruction of the loop, or where the subroutine returns to";
        }
        VAP_PVS_STATE_FLUSH_REG = 0x02284, 1 every 4, number, "waits until PVS memory is not in use" {}
        VAP_PVS_VTX_TIMEOUT_REG = 0x02288, 1 every 4, number, "clocks until a vector of vertices starts that is not full" {}
        VAP_PVS_FLOW_CNTL_LOOP_INDEX_0 = 0x02290, 16 every 4, number, "loop index of a flow control slot" {
            INIT_VAL 7:0 [] "first value";
            STEP_VAL 15:8 [] "step, signed";
            REPEAT_NO_FLI 31:31 [] "the index of the outer loop stays";
        }
        VAP_PVS_CODE_CNTL_0 = 0x022d0, 1 every 4, number, "the instructions of the vertex program" {
            PVS_FIRST_INST 9:0 [] "first";
            PVS_XYZW_VALID_INST 19:10 [] "last that writes the position";
            PVS_LAST_INST 29:20 [] "last";
        }
        VAP_PVS_CONST_CNTL = 0x022d4, 1 every 4, number, "the constants of the vertex program" {
            PVS_CONST_BASE_OFFSET 7:0 [] "constant 0 of the program";
            PVS_MAX_CONST_ADDR 23:16 [] "its last constant: addresses above it read 0";
        }
        VAP_PVS_CODE_CNTL_1 = 0x022d8, 1 every 4, number, "inputs of the vertex program" {
            PVS_LAST_VTX_SRC_INST 9:0 [] "last instruction that reads inputs";
        }
        VAP_PVS_FLOW_CNTL_OPC = 0x022dc, 1 every 4, number, "actions of the flow control slots" {
            OPC_0 1:0 FLOW_OPS "slot 0";
            OPC_1 3:2 FLOW_OPS "slot 1";
            OPC_2 5:4 FLOW_OPS "slot 2";
            OPC_3 7:6 FLOW_OPS "slot 3";
            OPC_4 9:8 FLOW_OPS "slot 4";
            OPC_5 11:10 FLOW_OPS "slot 5";
            OPC_6 13:12 FLOW_OPS "slot 6";
            OPC_7 15:14 FLOW_OPS "slot 7";
            OPC_8 17:16 FLOW_OPS "slot 8";
            OPC_9 19:18 FLOW_OPS "slot 9";
            OPC_10 21:20 FLOW_OPS "slot 10";
            OPC_11 23:22 FLOW_OPS "slot 11";
            OPC_12 25:24 FLOW_OPS "slot 12";
            OPC_13 27:26 FLOW_OPS "slot 13";
            OPC_14 29:28 FLOW_OPS "slot 14";
            OPC_15 31:30 FLOW_OPS "slot 15";
        }
        VAP_PVS_FLOW_CNTL_ADDRS_LW_0 = 0x02500, 16 every 8, number, "addresses of a flow control slot, first half" {
            ACT_ADRS 15:0 [] "after this instruction";
            LOOP_CNT_JMP_INST 31:16 [] "trip count, or target";
        }
        VAP_PVS_FLOW_CNTL_ADDRS_UW_0 = 0x02504, 16 every 8, number, "addresses of a flow control slot, second half" {
            LAST_INST 15:0 [] "last instruction of the loop or subroutine";
            RTN_INST 31:16 [] "first instruction of the loop, or where the subroutine returns to";
        }
        GA_US_VECTOR_INDEX = 0x04250, 1 every 4, number, "where the port of US memory goes on" {
            INDEX 8:0 [] "instruction or constant";
            TYPE 16:16 [0 "INSTRUCTIONS", 1 "CONSTANTS"] "six dwords an instruction, four a constant";
            CLAMP 17:17 [] "constants are clamped to -1..1";
        }
        GA_US_VECTOR_DATA = 0x04254, 1 every 4, number, "port of US memory" {}
        US_CONFIG = 0x04600, 1 every 4, number, "rules of the pixel program" {
            ZERO_TIMES_ANYTHING_EQUALS_ZERO 1:1 [] "0 * anything is 0, NaN and infinity too";
        }
        US_PIXSIZE = 0x04604, 1 every 4, number, "registers of the pixel program" {
            PIX_SIZE 6:0 [] "the last register";
        }
        US_FC_BOOL_CONST = 0x04620, 1 every 4, number, "32 booleans of the pixel program" {}
        US_FC_CTRL = 0x04624, 1 every 4, number, "flow control of the pixel program" {
            TEST_EN 30:30 [] "testing";
            FULL_FC_EN 31:31 [] "loops and subroutines may be used";
        }
        US_CODE_ADDR = 0x04630, 1 every 4, number, "the instructions of the pixel program" {
            START_ADDR 8:0 [] "first, from US_CODE_OFFSET on";
            END_ADDR 24:16 [] "last, from US_CODE_OFFSET on";
        }
        US_CODE_RANGE = 0x04634, 1 every 4, number, "instructions that are read into the cache" {
            CODE_ADDR 8:0 [] "first";
            CODE_SIZE 24:16 [] "how many - 1";
        }
        US_CODE_OFFSET = 0x04638, 1 every 4, number, "instruction 0 of the pixel program" {
            OFFSET_ADDR 8:0 [] "its place";
        }
        US_FC_INT_CONST_0 = 0x04c00, 32 every 4, number, "loop constant of the pixel program" {
            KR 7:0 [] "trip count";
            KG 15:8 [] "first value of the loop index";
            KB 23:16 [] "step of the loop index, signed";
        }
        US_ALU_CONST_0 = 0x04c80, 96 every 4, number, "a component of a constant, of older chips: from constant 8 on" {}
    }
}
