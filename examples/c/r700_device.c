/* R700 programs on a device of their own: command buffers, written word by word.
 *
 * A compute program scatters squares, a vertex program moves vertices and exports their positions. The words of the programs are what
 * `ctm asm` makes of the listings beside them. A buffer that is wrong is told apart, and the device goes on.
 *
 * build: cc r700_device.c $(pkg-config --cflags --libs ctm)
 */
#include "amDeviceManaged.h"
#include "amuCbufTypes.h"
#include "ctm.h"

#include <stdio.h>
#include <string.h>

/* ALU:
 *   0  t: MULLO_INT R1.x, R0.x, R0.x
 * MEM_EXPORT: WRITE(0 + R0), R1.x___ ARRAY_SIZE(0)
 * NOP
 * END_OF_PROGRAM */
static const AMuint32 SQUARES[] = {
    0x00000003u, 0xA0000000u, 0x0000A000u, 0x9D001000u, 0x00000000u, 0x80200000u,
    0x80000000u, 0x00203990u
};

/* VTX:
 *   FETCH R1.xyzw, R0.x, b0 FORMAT(32_32_32_32_FLOAT)
 * ALU: KCACHE0(CB0:0-15)
 *   0  x: MUL_e R1.x, R1.x, KC0[0].x
 *      y: MUL_e R1.y, R1.y, KC0[0].y
 *      z: MUL_e R1.z, R1.z, KC0[0].z
 *   1  x: ADD R1.x, R1.x, KC0[1].x
 *      y: ADD R1.y, R1.y, KC0[1].y
 *      z: ADD R1.z, R1.z, KC0[1].z
 * EXP_DONE: POS0, R1.xyzw
 * END_OF_PROGRAM */
static const AMuint32 TRANSFORM[] = {
    0x00000004u, 0x81000000u, 0x40000006u, 0xA0140000u, 0x0000A03Cu, 0x94200688u,
    0x00000000u, 0x00000000u, 0x3C000000u, 0x08CD1001u, 0x00080000u, 0x00000000u,
    0x00100001u, 0x00200110u, 0x00900401u, 0x20200110u, 0x81100801u, 0x40200110u,
    0x00102001u, 0x00200010u, 0x00902401u, 0x20200010u, 0x81102801u, 0x40200010u
};

/* Where things lie in system memory: commands want multiples of 2048 bytes. */
enum { COMMANDS = 0, PROGRAM = 4096, MEMORY = 8192, VERTICES = 16384, CONSTANTS = 20480, POSITIONS = 24576 };
enum { THREADS = 100, POINTS = 8 };

static AMmanagedDevice device;
static AMmanagedDeviceInfo info;
static AMuint32 commands;

static unsigned char *memory(AMuint32 place) { return (unsigned char *)info.baseAddressCPU + place; }
static AMuint32 address(AMuint32 place) { return info.baseAddressSYS + place; }

/* Adds a command: its header and as many words as the header says. */
static void command(AMuint32 header, AMuint32 a, AMuint32 b, AMuint32 c, AMuint32 d, AMuint32 e) {
    AMuint32 words[6];
    const AMuint32 count = ((header >> 16) & 0x3FFFu) + 2;
    words[0] = header;
    words[1] = a;
    words[2] = b;
    words[3] = c;
    words[4] = d;
    words[5] = e;
    memcpy(memory(COMMANDS) + commands * 4, words, count * 4);
    commands += count;
}

static void start(AMuint32 stage, const AMuint32 *words, AMuint32 bytes, AMuint32 threads) {
    memcpy(memory(PROGRAM), words, bytes);
    command(AMU_CBUF_CMD_SET_STAGE, stage, 0, 0, 0, 0);
    command(AMU_CBUF_CMD_SET_PROGRAM, 0, address(PROGRAM), bytes, 0, 0);
    command(AMU_CBUF_CMD_SET_DOMAIN, 0, 0, threads - 1, 0, 0);
    command(AMU_CBUF_CMD_START_PROGRAM, 0, 0, 0, 0, 0);
    command(AMU_CBUF_CMD_FLUSH_OUT_CACHE, 0, 0, 0, 0, 0);
}

/* Submits what was packed and waits for it. */
static int run(void) {
    const AMuint32 id = amSubmitCommandBuffer(device, address(COMMANDS), commands);
    commands = 0;
    if (id == 0)
        return 0;
    while (!amCommandBufferConsumed(device, id)) {
    }
    return 1;
}

static int squares(void) {
    AMuint32 n, found;
    command(AMU_CBUF_CMD_SET_MEMORY, AMU_CBUF_FLD_MEMORY_SCATTER, address(MEMORY), THREADS * 4, 0, 0);
    start(AMU_CBUF_FLD_STAGE_COMPUTE, SQUARES, sizeof SQUARES, THREADS);
    if (!run())
        return 0;
    for (n = 0; n < THREADS; n++) {
        memcpy(&found, memory(MEMORY + 4 * n), 4);
        if (found != n * n)
            return 0;
    }
    return 1;
}

static int transform(void) {
    static const float constants[8] = {2.0f, 4.0f, 8.0f, 0.0f, 100.0f, 200.0f, 300.0f, 0.0f};
    float vertices[POINTS][4], positions[POINTS][4];
    int n, c;
    for (n = 0; n < POINTS; n++)
        for (c = 0; c < 4; c++)
            vertices[n][c] = (float)(4 * n + c);
    memcpy(memory(VERTICES), vertices, sizeof vertices);
    memcpy(memory(CONSTANTS), constants, sizeof constants);
    command(AMU_CBUF_CMD_SET_VTX_BUFFER, 0, address(VERTICES), sizeof vertices, 16, AMU_CBUF_FETCH_FORMAT(35, 0, 0, 0));
    command(AMU_CBUF_CMD_SET_CONST_BUFFER, 0, address(CONSTANTS), 2, 0, 0);
    command(AMU_CBUF_CMD_SET_EXPORT, AMU_CBUF_FLD_EXPORT_POSITION << 8, address(POSITIONS),
            AMU_CBUF_FORMAT_WORD(POINTS, AMU_CBUF_FLD_TILING_LINEAR, AMU_CBUF_FLD_FORMAT_FLOAT32_4), 1, 0);
    start(AMU_CBUF_FLD_STAGE_VERTEX, TRANSFORM, sizeof TRANSFORM, POINTS);
    if (!run())
        return 0;
    memcpy(positions, memory(POSITIONS), sizeof positions);
    for (n = 0; n < POINTS; n++)
        for (c = 0; c < 4; c++)
            if (positions[n][c] != (c == 3 ? vertices[n][3] : vertices[n][c] * constants[c] + constants[4 + c]))
                return 0;
    return 1;
}

/* Room for half of the threads: the device says so, and goes on. */
static int too_small(void) {
    command(AMU_CBUF_CMD_SET_MEMORY, AMU_CBUF_FLD_MEMORY_SCATTER, address(MEMORY), THREADS * 2, 0, 0);
    start(AMU_CBUF_FLD_STAGE_COMPUTE, SQUARES, sizeof SQUARES, THREADS);
    if (!run())
        return 0;
    printf("a wrong buffer: %s\n", ctm_last_error());
    return strstr(ctm_last_error(), "scatter memory") != NULL;
}

int main(void) {
    static const struct {
        const char *name;
        int (*test)(void);
    } tests[] = {{"squares", squares}, {"too small", too_small}, {"transform", transform}, {"squares again", squares}};
    size_t n;
    int failures = 0;
    device = amOpenManagedConnection("ctm:r700,chip=rv730", &info);
    if (device == NULL) {
        fprintf(stderr, "open: %s\n", ctm_last_error());
        return 1;
    }
    for (n = 0; n < sizeof tests / sizeof *tests; n++) {
        const int right = tests[n].test();
        printf("%s: %s\n", tests[n].name, right ? "right" : "WRONG");
        failures += !right;
    }
    amCloseManagedConnection(device);
    return failures != 0;
}
