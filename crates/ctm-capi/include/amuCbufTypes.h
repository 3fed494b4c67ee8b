/* amuCbufTypes.h: the words of command buffers (CTM Guide 2.2, docs/commands.md).
 *
 * The numbers are those of the device's own table; the library's tests compare them. */
#ifndef AMU_CBUF_TYPES_H
#define AMU_CBUF_TYPES_H

#include "amDeviceManaged.h"

/* Data formats. The Guide numbers the first five; the device knows no others. The further names exist so that sources that
 * name them build: a command with one of them fails. */
typedef enum AMUcbufFldFormat {
    AMU_CBUF_FLD_FORMAT_UINT16_1 = 0,
    AMU_CBUF_FLD_FORMAT_UINT8_4 = 1,
    AMU_CBUF_FLD_FORMAT_FLOAT32_1 = 2,
    AMU_CBUF_FLD_FORMAT_FLOAT32_2 = 3,
    AMU_CBUF_FLD_FORMAT_FLOAT32_4 = 4,
    AMU_CBUF_FLD_FORMAT_UINT8_1 = 5,
    AMU_CBUF_FLD_FORMAT_UINT8_2 = 6,
    AMU_CBUF_FLD_FORMAT_UINT16_2 = 7,
    AMU_CBUF_FLD_FORMAT_UINT16_4 = 8
} AMUcbufFldFormat;

typedef enum AMUcbufFldTiling {
    AMU_CBUF_FLD_TILING_LINEAR = 0,
    AMU_CBUF_FLD_TILING_TILED0 = 1,
    AMU_CBUF_FLD_TILING_LINEAR_INP_2X2 = 2,
    AMU_CBUF_FLD_TILING_TILED_INP_2X2 = 3
} AMUcbufFldTiling;

/* Conditional tests. */
typedef enum AMUcbufFldCondTest {
    AMU_CBUF_FLD_COND_TEST_NEVER = 0,
    AMU_CBUF_FLD_COND_TEST_LESS = 1,
    AMU_CBUF_FLD_COND_TEST_LESS_EQUAL = 2,
    AMU_CBUF_FLD_COND_TEST_EQUAL = 3,
    AMU_CBUF_FLD_COND_TEST_GREATER_EQUAL = 4,
    AMU_CBUF_FLD_COND_TEST_GREATER = 5,
    AMU_CBUF_FLD_COND_TEST_NOT_EQUAL = 6,
    AMU_CBUF_FLD_COND_TEST_ALWAYS = 7
} AMUcbufFldCondTest;

/* For whom the conditional test is made. */
typedef enum AMUcbufFldCondLoc {
    AMU_CBUF_FLD_COND_LOC_DPP = 0,
    AMU_CBUF_FLD_COND_LOC_PE = 1
} AMUcbufFldCondLoc;

/* What only R700 devices know (docs/commands.md). */
typedef enum AMUcbufFldStage {
    AMU_CBUF_FLD_STAGE_VERTEX = 0,
    AMU_CBUF_FLD_STAGE_GEOMETRY = 1,
    AMU_CBUF_FLD_STAGE_EXPORT = 2,
    AMU_CBUF_FLD_STAGE_PIXEL = 3,
    AMU_CBUF_FLD_STAGE_FETCH = 4,
    AMU_CBUF_FLD_STAGE_COPY = 5,
    AMU_CBUF_FLD_STAGE_COMPUTE = 6
} AMUcbufFldStage;

typedef enum AMUcbufFldChip {
    AMU_CBUF_FLD_CHIP_RV710 = 0,
    AMU_CBUF_FLD_CHIP_RV730 = 1,
    AMU_CBUF_FLD_CHIP_RV740 = 2,
    AMU_CBUF_FLD_CHIP_RV770 = 3
} AMUcbufFldChip;

typedef enum AMUcbufFldMemory {
    AMU_CBUF_FLD_MEMORY_SCRATCH = 0,
    AMU_CBUF_FLD_MEMORY_REDUCTION = 1,
    AMU_CBUF_FLD_MEMORY_RING = 2,
    AMU_CBUF_FLD_MEMORY_STREAM0 = 3,
    AMU_CBUF_FLD_MEMORY_STREAM1 = 4,
    AMU_CBUF_FLD_MEMORY_STREAM2 = 5,
    AMU_CBUF_FLD_MEMORY_STREAM3 = 6,
    AMU_CBUF_FLD_MEMORY_SCATTER = 7
} AMUcbufFldMemory;

typedef enum AMUcbufFldExport {
    AMU_CBUF_FLD_EXPORT_PIXEL = 0,
    AMU_CBUF_FLD_EXPORT_DEPTH = 1,
    AMU_CBUF_FLD_EXPORT_POSITION = 2,
    AMU_CBUF_FLD_EXPORT_PARAMETER = 3
} AMUcbufFldExport;

typedef enum AMUcbufFldShape {
    AMU_CBUF_FLD_SHAPE_1D = 0,
    AMU_CBUF_FLD_SHAPE_2D = 1,
    AMU_CBUF_FLD_SHAPE_3D = 2,
    AMU_CBUF_FLD_SHAPE_CUBE = 3,
    AMU_CBUF_FLD_SHAPE_1D_ARRAY = 4,
    AMU_CBUF_FLD_SHAPE_2D_ARRAY = 5,
    AMU_CBUF_FLD_SHAPE_CUBE_ARRAY = 6
} AMUcbufFldShape;

/* Headers of commands. */
#define AMU_CBUF_CMD_INIT_PERF_COUNTERS   0xC0010200u
#define AMU_CBUF_CMD_START_PERF_COUNTERS  0xC0000300u
#define AMU_CBUF_CMD_STOP_PERF_COUNTERS   0xC0000400u
#define AMU_CBUF_CMD_READ_PERF_COUNTERS   0xC0010500u
#define AMU_CBUF_CMD_SET_COND_VAL         0xC0000600u
#define AMU_CBUF_CMD_SET_DOMAIN           0xC0030700u
#define AMU_CBUF_CMD_START_PROGRAM        0xC0000800u
#define AMU_CBUF_CMD_WAIT_FOR_IDLE        0xC0000900u
#define AMU_CBUF_CMD_SET_INST_FMT         0xC0010A00u
#define AMU_CBUF_CMD_SET_INP_FMT          0xC0030B00u
#define AMU_CBUF_CMD_SET_OUT_FMT          0xC0030C00u
#define AMU_CBUF_CMD_SET_COND_OUT_FMT     0xC0020D00u
#define AMU_CBUF_CMD_SET_CONSTF_FMT       0xC0010E00u
#define AMU_CBUF_CMD_SET_CONSTI_FMT       0xC0010F00u
#define AMU_CBUF_CMD_SET_CONSTB_FMT       0xC0011000u
#define AMU_CBUF_CMD_INV_INST_CACHE       0xC0001100u
#define AMU_CBUF_CMD_INV_CONSTF_CACHE     0xC0001200u
#define AMU_CBUF_CMD_INV_CONSTI_CACHE     0xC0001300u
#define AMU_CBUF_CMD_INV_CONSTB_CACHE     0xC0001400u
#define AMU_CBUF_CMD_INV_COND_OUT_CACHE   0xC0001500u
#define AMU_CBUF_CMD_INV_INP_CACHE        0xC0001600u
#define AMU_CBUF_CMD_FLUSH_OUT_CACHE      0xC0001700u
#define AMU_CBUF_CMD_FLUSH_COND_OUT_CACHE 0xC0001800u
#define AMU_CBUF_CMD_SET_OUT_MASK         0xC0001900u
#define AMU_CBUF_CMD_SET_COND_OUT_MASK    0xC0001A00u
#define AMU_CBUF_CMD_SET_COND_TEST        0xC0001B00u
#define AMU_CBUF_CMD_SET_COND_LOC         0xC0001C00u
#define AMU_CBUF_CMD_SET_PARAMS           0xC0001D00u
/* Commands beyond the Guide. */
#define AMU_CBUF_CMD_SET_INP_SAMPLER      0xC0064000u
#define AMU_CBUF_CMD_SET_PLANES           0xC0014100u
/* Commands of R700 devices (docs/commands.md). */
#define AMU_CBUF_CMD_SET_PROGRAM          0xC0044200u
#define AMU_CBUF_CMD_SET_STAGE            0xC0004300u
#define AMU_CBUF_CMD_SET_CHIP             0xC0004400u
#define AMU_CBUF_CMD_SET_THREAD_GROUP     0xC0004500u
#define AMU_CBUF_CMD_SET_GLOBAL_GPRS      0xC0004600u
#define AMU_CBUF_CMD_SET_LOOP_CONSTS      0xC0004700u
#define AMU_CBUF_CMD_SET_CONST_BUFFER     0xC0024800u
#define AMU_CBUF_CMD_SET_VTX_BUFFER       0xC0044900u
#define AMU_CBUF_CMD_SET_TEXTURE          0xC0054A00u
#define AMU_CBUF_CMD_SET_SAMPLER          0xC0074B00u
#define AMU_CBUF_CMD_SET_MEMORY           0xC0034C00u
#define AMU_CBUF_CMD_SET_SEMANTICS        0xC0014D00u
#define AMU_CBUF_CMD_SET_EXPORT           0xC0034E00u
#define AMU_CBUF_CMD_SET_VERTEX_EVENTS    0xC0014F00u
#define AMU_CBUF_CMD_SET_INTERPOLANTS     0xC0005000u
#define AMU_CBUF_CMD_SET_INDEX_OFFSETS    0xC0015100u
#define AMU_CBUF_CMD_SELECT_RESOURCES     0xC0005200u

/* The format word: pitch in elements (a multiple of 4, below 8192), tiling, data format. */
#define AMU_CBUF_FORMAT_WORD(pitch, tiling, format) \
    (((AMuint32)(pitch) & 0x1FFCu) | (((AMuint32)(tiling) & 3u) << 16) | (((AMuint32)(format) & 7u) << 24))

/* What an item or a texel is on an R700: DATA_FORMAT, NUM_FORMAT_ALL (0 fractions, 1 integers, 2 integers as floats), FORMAT_COMP_ALL,
 * ENDIAN_SWAP, as the manual numbers them. AMU_CBUF_FETCH_FORMAT(35, 0, 0, 0) is four floats, (13, 1, 0, 0) an integer. */
#define AMU_CBUF_FETCH_FORMAT(data, num, comp, endian) \
    (((AMuint32)(data) & 0x3Fu) | (((AMuint32)(num) & 3u) << 8) | (((AMuint32)(comp) & 1u) << 12) | \
     (((AMuint32)(endian) & 3u) << 16))

#endif
