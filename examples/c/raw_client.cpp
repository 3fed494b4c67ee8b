/* A CTM client as they were written in 2006 and 2007: the device interface, a command packer, the client's own memory map.
 *
 * It opens a device, lays out system memory by hand, compiles ps_3_0 shaders, packs a command buffer for each pass, submits,
 * polls, and reads results where the device wrote them. Each result is compared with what C++ computes.
 *
 * build: c++ raw_client.cpp $(pkg-config --cflags --libs ctm)
 */
#include "amDeviceManaged.h"
#include "amuABI.h"
#include "amuAsm.h"
#include "amuCbufPack.h"
#include "amuComp.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

const unsigned int MIB = 1024 * 1024;

/* Where things lie in the arena of system memory, in MiB. */
enum Place { COMMANDS = 0, PROGRAM = 1, FLOATS = 2, INTEGERS = 3, PARAMETERS = 4, STAGING = 5 };

const unsigned int WIDTH = 64;
const unsigned int HEIGHT = 32;
const unsigned int ELEMENTS = WIDTH * HEIGHT;

void print(const char *text) { std::fputs(text, stderr); }

/* The text goes through the compiler; its two other arguments are what clients pass. */
struct Client {
    AMmanagedDevice device;
    AMuint32 base;       /* GPU address of the arena in use */
    unsigned char *cpu;  /* the same for this process */
    AMuint32 gpu;        /* next free byte of local memory */
    AMUcompCompiler compiler;
    int failures;

    bool open() {
        AMmanagedDeviceInfo info = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
        char name[64];
        std::sprintf(name, "/dev/pcie%d", 0);
        device = amOpenManagedConnection(name, &info);
        if (device == NULL)
            return false;
        std::printf("memory: GPU %d MiB, SYS %d MiB, SYSc %d MiB\n", (int)(info.arenaSizeGPU / MIB),
                    (int)(info.arenaSizeSYS / MIB), (int)(info.arenaSizeSYSc / MIB));
        const bool cached = info.arenaSizeSYSc > info.arenaSizeSYS;
        base = cached ? info.baseAddressSYSc : info.baseAddressSYS;
        cpu = static_cast<unsigned char *>(cached ? info.baseAddressCPUc : info.baseAddressCPU);
        gpu = info.baseAddressGPU;
        compiler = amuCompOpenCompiler();
        failures = 0;
        return true;
    }

    AMuint32 address(unsigned int place) const { return base + place * MIB; }
    void *pointer(unsigned int place) const { return cpu + place * MIB; }

    /* Local memory, aligned as commands want it. */
    AMuint32 allocate(unsigned int bytes) {
        const AMuint32 here = gpu;
        gpu += (bytes + 2047) / 2048 * 2048 + 8192;
        return here;
    }

    /* Puts a program and the literals it brings where the commands of run() look for them. */
    bool load(const char *text) {
        AMUcompMacro macros[] = {{"AMU_LANG_PS3", "1"}, {0, 0}};
        AMuint32 size = 0;
        void *binary = NULL;
        if (!amuCompCompile(compiler, text, (unsigned int)std::strlen(text), macros, NULL, "main", &size, &binary, print))
            return false;
        std::memcpy(pointer(PROGRAM), binary, size);
        AMUabiConstsInfo constants = amuABIExtractConstants(binary);
        /* Clients of that time keep integer constants by pointers to unsigned numbers. */
        const unsigned int *bits = constants.litConsts[0].value.int32;
        if (constants.litConstsCount > 0)
            std::printf("  %u literals, the first begins with 0x%08x\n", constants.litConstsCount, bits[0]);
        void *none = reinterpret_cast<void *>(1); /* there is no boolean literal: must not be looked at */
        amuABISetLiteralConstants(constants, pointer(FLOATS), pointer(INTEGERS), none);
        for (AMuint32 n = 0; n < constants.userConstsCount; n++)
            std::printf("  constant %s is c%u\n", constants.userConsts[n].name.str, constants.userConsts[n].addr);
        std::free(binary);
        return true;
    }

    /* One pass, in the order of a known client. */
    bool run(AMUcbufPack &pack, unsigned int width, unsigned int height) {
        pack.appendSetInstFmt(address(PROGRAM), 0, 0, 0);
        pack.appendInvInstCache();
        pack.appendInvCondOutCache();
        pack.appendSetConstfFmt(address(FLOATS), 0, 0, 0);
        pack.appendInvConstfCache();
        pack.appendSetConstiFmt(address(INTEGERS), 0, 0, 0);
        pack.appendInvConstiCache();
        pack.appendSetDomain(0, 0, width - 1, height - 1);
        pack.appendSetParams(address(PARAMETERS));
        pack.appendStartProgram();
        pack.appendFlushOutCache();
        const AMuint32 id = amSubmitCommandBuffer(device, address(COMMANDS), pack.getCommandBufferSize());
        if (id == 0)
            return false;
        while (!amCommandBufferConsumed(device, id)) {
        }
        return true;
    }

    void expect(bool good, const char *what) {
        std::printf("%s: %s\n", what, good ? "right" : "WRONG");
        if (!good)
            failures++;
    }
};

const char COPY[] = "ps_3_0\ndcl vPos.xy\ndcl_2d s0\ntexld r0, vPos, s0\nmov oC0, r0\n";

/* Copies between arrays of four channels with a program, as clients moved streams. */
bool copy(Client &c, AMuint32 from, AMuint32 to) {
    if (!c.load(COPY))
        return false;
    AMUcbufPack pack(static_cast<unsigned int *>(c.pointer(COMMANDS)), 1024 * 256);
    pack.appendFlushOutCache();
    pack.appendFlushCondOutCache();
    pack.appendSetInpFmt(0, from, AMU_CBUF_FLD_FORMAT_FLOAT32_4, AMU_CBUF_FLD_TILING_LINEAR, WIDTH, HEIGHT);
    pack.appendSetOutFmt(0, to, AMU_CBUF_FLD_FORMAT_FLOAT32_4, AMU_CBUF_FLD_TILING_LINEAR, WIDTH, HEIGHT);
    pack.appendInvInpCache();
    return c.run(pack, WIDTH, HEIGHT);
}

float value(unsigned int n) { return (float)(n % 251) * 0.5f - 20.0f; }

/* Fills the staging buffer and copies it to local memory. */
AMuint32 upload(Client &c, unsigned int seed) {
    float *staging = static_cast<float *>(c.pointer(STAGING));
    for (unsigned int n = 0; n < 4 * ELEMENTS; n++)
        staging[n] = value(n + seed);
    const AMuint32 to = c.allocate(16 * ELEMENTS);
    return copy(c, c.address(STAGING), to) ? to : 0;
}

const float *download(Client &c, AMuint32 from) {
    std::memset(c.pointer(STAGING), 0xff, 16 * ELEMENTS);
    return copy(c, from, c.address(STAGING)) ? static_cast<const float *>(c.pointer(STAGING)) : NULL;
}

void saxpy(Client &c, AMuint32 x, AMuint32 y) {
    const AMuint32 out = c.allocate(16 * ELEMENTS);
    bool good = c.load("ps_3_0\ndcl vPos.xy\ndcl_2d s0\ndcl_2d s1\n"
                       "texld r0, vPos, s0\ntexld r1, vPos, s1\nmad oC0, c0.x, r0, r1\n");
    const float a[4] = {3.0f, 0.0f, 0.0f, 0.0f};
    std::memcpy(c.pointer(FLOATS), a, sizeof a);
    AMUcbufPack pack(static_cast<unsigned int *>(c.pointer(COMMANDS)), 1024 * 256);
    pack.appendSetInpFmt(0, x, AMU_CBUF_FLD_FORMAT_FLOAT32_4, AMU_CBUF_FLD_TILING_LINEAR, WIDTH, HEIGHT);
    pack.appendSetInpFmt(1, y, AMU_CBUF_FLD_FORMAT_FLOAT32_4, AMU_CBUF_FLD_TILING_LINEAR, WIDTH, HEIGHT);
    pack.appendInvInpCache();
    pack.appendSetOutFmt(0, out, AMU_CBUF_FLD_FORMAT_FLOAT32_4, AMU_CBUF_FLD_TILING_LINEAR, WIDTH, HEIGHT);
    good = good && c.run(pack, WIDTH, HEIGHT);
    const float *result = good ? download(c, out) : NULL;
    for (unsigned int n = 0; result && n < 4 * ELEMENTS; n++)
        good = good && result[n] == 3.0f * value(n + 1) + value(n + 7);
    c.expect(result && good, "saxpy");
}

/* Element n of the result is the element of the input that an index array names. */
void gather(Client &c, AMuint32 x) {
    const AMuint32 indices = c.allocate(16 * ELEMENTS), out = c.allocate(16 * ELEMENTS);
    float *staging = static_cast<float *>(c.pointer(STAGING));
    for (unsigned int n = 0; n < ELEMENTS; n++) {
        staging[4 * n] = (float)((n * 7) % WIDTH) + 0.5f;
        staging[4 * n + 1] = (float)((n * 5) % HEIGHT) + 0.5f;
        staging[4 * n + 2] = staging[4 * n + 3] = 0.0f;
    }
    bool good = copy(c, c.address(STAGING), indices);
    good = good && c.load("ps_3_0\ndef c0, 1, 0, 0, 0\ndcl vPos.xy\ndcl_2d s0\ndcl_2d s1\n"
                          "texld r0, vPos, s0\nmul r0, r0.xyxx, c0.xxyy\ntexldl r0, r0, s1\nmov oC0, r0\n");
    AMUcbufPack pack(static_cast<unsigned int *>(c.pointer(COMMANDS)), 1024 * 256);
    pack.appendSetInpFmt(0, indices, AMU_CBUF_FLD_FORMAT_FLOAT32_4, AMU_CBUF_FLD_TILING_LINEAR, WIDTH, HEIGHT);
    pack.appendSetInpFmt(1, x, AMU_CBUF_FLD_FORMAT_FLOAT32_4, AMU_CBUF_FLD_TILING_LINEAR, WIDTH, HEIGHT);
    pack.appendInvInpCache();
    pack.appendSetOutFmt(0, out, AMU_CBUF_FLD_FORMAT_FLOAT32_4, AMU_CBUF_FLD_TILING_LINEAR, WIDTH, HEIGHT);
    good = good && c.run(pack, WIDTH, HEIGHT);
    const float *result = good ? download(c, out) : NULL;
    for (unsigned int n = 0; result && n < ELEMENTS; n++)
        for (unsigned int k = 0; k < 4; k++)
            good = good && result[4 * n + k] == value(4 * ((n * 5) % HEIGHT * WIDTH + (n * 7) % WIDTH) + k + 1);
    c.expect(result && good, "gather");
}

/* The sum of all elements: each pass adds neighbouring columns or rows, until one element is left. */
void reduction(Client &c, AMuint32 x) {
    AMuint32 from = x, to = c.allocate(16 * ELEMENTS), spare = c.allocate(16 * ELEMENTS);
    bool good = true;
    for (unsigned int width = WIDTH, height = HEIGHT; good && width * height > 1;) {
        const bool columns = width > 1;
        (columns ? width : height) /= 2;
        /* a = (i, j) scaled, b = its neighbour */
        good = c.load(columns ? "ps_3_0\ndef c1, 2, 1, 1, 0\ndcl vPos.xy\ndcl_2d s0\n"
                                "mul r0.xy, vPos, c1\nadd r1.xy, r0, c1.zwzw\n"
                                "texld r0, r0, s0\ntexld r1, r1, s0\nadd oC0, r0, r1\n"
                              : "ps_3_0\ndef c1, 1, 2, 0, 1\ndcl vPos.xy\ndcl_2d s0\n"
                                "mul r0.xy, vPos, c1\nadd r1.xy, r0, c1.zwzw\n"
                                "texld r0, r0, s0\ntexld r1, r1, s0\nadd oC0, r0, r1\n");
        AMUcbufPack pack(static_cast<unsigned int *>(c.pointer(COMMANDS)), 1024 * 256);
        pack.appendSetInpFmt(0, from, AMU_CBUF_FLD_FORMAT_FLOAT32_4, AMU_CBUF_FLD_TILING_LINEAR, WIDTH, HEIGHT);
        pack.appendInvInpCache();
        pack.appendSetOutFmt(0, to, AMU_CBUF_FLD_FORMAT_FLOAT32_4, AMU_CBUF_FLD_TILING_LINEAR, WIDTH, HEIGHT);
        good = good && c.run(pack, width, height);
        from = to;
        to = spare;
        spare = from;
    }
    float sums[4] = {0, 0, 0, 0};
    for (unsigned int n = 0; n < 4 * ELEMENTS; n++)
        sums[n % 4] += value(n + 1); /* halves below 2^24: exact in any order */
    const float *result = good ? download(c, from) : NULL;
    c.expect(result && std::memcmp(result, sums, sizeof sums) == 0, "reduction");
}

void four_outputs(Client &c, AMuint32 x) {
    bool good = c.load("ps_3_0\ndef c1, 2, 3, 4, 5\ndcl vPos.xy\ndcl_2d s0\ntexld r0, vPos, s0\n"
                       "mul oC0, r0, c1.x\nmul oC1, r0, c1.y\nmul oC2, r0, c1.z\nmul oC3, r0, c1.w\n");
    AMuint32 out[4];
    AMUcbufPack pack(static_cast<unsigned int *>(c.pointer(COMMANDS)), 1024 * 256);
    pack.appendSetInpFmt(0, x, AMU_CBUF_FLD_FORMAT_FLOAT32_4, AMU_CBUF_FLD_TILING_LINEAR, WIDTH, HEIGHT);
    pack.appendInvInpCache();
    for (unsigned int n = 0; n < 4; n++) {
        out[n] = c.allocate(16 * ELEMENTS);
        pack.appendSetOutFmt(n, out[n], AMU_CBUF_FLD_FORMAT_FLOAT32_4, AMU_CBUF_FLD_TILING_LINEAR, WIDTH, HEIGHT);
    }
    good = good && c.run(pack, WIDTH, HEIGHT);
    for (unsigned int k = 0; good && k < 4; k++) {
        const float *result = download(c, out[k]);
        good = result != NULL;
        for (unsigned int n = 0; good && n < 4 * ELEMENTS; n++)
            good = result[n] == value(n + 1) * (float)(k + 2);
    }
    c.expect(good, "four outputs");
}

} /* namespace */

int main() {
    Client c;
    if (!c.open()) {
        std::fprintf(stderr, "the device cannot be opened; CTM_LOG=error says why\n");
        return 1;
    }
    const AMuint32 x = upload(c, 1), y = upload(c, 7);
    const float *result = download(c, x);
    bool good = x != 0 && y != 0 && result != NULL;
    for (unsigned int n = 0; good && n < 4 * ELEMENTS; n++)
        good = result[n] == value(n + 1);
    c.expect(good, "copy");
    saxpy(c, x, y);
    gather(c, x);
    reduction(c, x);
    four_outputs(c, x);
    amCloseManagedConnection(c.device);
    amuCompCloseCompiler(c.compiler);
    return c.failures == 0 ? 0 : 1;
}
