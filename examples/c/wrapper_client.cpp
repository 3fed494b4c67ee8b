/* A CTM client as they were written in June 2007: the classes of CTM/. Each result is compared with what C++ computes.
 *
 * build: c++ wrapper_client.cpp $(pkg-config --cflags --libs ctm)
 */
#include "CTM/Buffer.h"
#include "CTM/Device.h"
#include "CTM/Pass.h"

#include <cstdio>
#include <cstring>

namespace {

const unsigned int WIDTH = 64;
const unsigned int HEIGHT = 16;
const unsigned int NUMBERS = WIDTH * HEIGHT * 4;

int failures = 0;

void expect(bool good, const char *what) {
    std::printf("%s: %s\n", what, good ? "right" : "WRONG");
    if (!good)
        failures++;
}

void print(const char *text) { std::fputs(text, stderr); }

float *numbers(CTM::Buffer *buffer) { return static_cast<float *>(buffer->getCPUAddress()); }

/* A stream in local memory, filled through system memory that is given back at once. */
CTM::Buffer *upload(CTM::Device *device, float scale) {
    CTM::Buffer *stream = device->alloc(CTM::MEM_GPU, WIDTH, HEIGHT, CTM::FLOAT32_4, CTM::LINEAR);
    device->pushMemory();
    CTM::Buffer *staging = device->alloc(CTM::MEM_SYS, WIDTH, HEIGHT, CTM::FLOAT32_4, CTM::LINEAR);
    for (unsigned int n = 0; n < NUMBERS; n++)
        numbers(staging)[n] = scale * (float)n;
    expect(device->copy(1, &staging, 1, &stream), "upload");
    device->popMemory();
    delete staging;
    return stream;
}

/* Whether number n of a stream is `scale` times n. */
bool holds(CTM::Device *device, CTM::Buffer *stream, float scale) {
    device->pushMemory();
    CTM::Buffer *staging = device->alloc(CTM::MEM_SYS, WIDTH, HEIGHT, CTM::FLOAT32_4, CTM::LINEAR);
    std::memset(staging->getCPUAddress(), 0, NUMBERS * sizeof(float));
    bool good = device->copy(1, &stream, 1, &staging);
    for (unsigned int n = 0; n < NUMBERS; n++)
        good = good && numbers(staging)[n] == scale * (float)n;
    device->popMemory();
    delete staging;
    return good;
}

} /* namespace */

int main() {
    CTM::Device *device = CTM::Device::open(0);
    if (!device) {
        std::fprintf(stderr, "%s\n", ctm_last_error());
        return 1;
    }
    expect(device->getDeviceCaps()->getMaxBufferWidth() == 4096, "device");

    CTM::Buffer *floats = device->alloc(CTM::MEM_SYS, 256 * 1024);
    CTM::Buffer *integers = device->alloc(CTM::MEM_SYS, 256 * 1024);
    CTM::Buffer *params = device->alloc(CTM::MEM_SYS, 256 * 1024);
    CTM::Buffer *x = upload(device, 1.0f);
    CTM::Buffer *y = upload(device, 0.5f);
    CTM::Buffer *out = device->alloc(CTM::MEM_GPU, WIDTH, HEIGHT, CTM::FLOAT32_4, CTM::LINEAR);
    expect(holds(device, x, 1.0f), "copy");

    CTM::Buffer *saxpy = device->compileProgram(".input x = s0, y = s1\n.output sum = o0\n.const a = c0\n"
                                                " tex r1, x, r0.rg\n tex r2, y, r0.rg\n mad sum, a.rrrr, r1, r2\n end\n",
                                                CTM::PROG_X1K, print);
    expect(saxpy != NULL, "compile");
    numbers(floats)[0] = 2.0f;
    {
        CTM::Pass pass(device);
        pass.setProgram(saxpy);
        pass.setInput(0, x);
        pass.setInput(1, y);
        pass.setOutput(0, out);
        pass.setFloatConst(floats);
        pass.setIntegerConst(integers);
        pass.setDomain(0, 0, WIDTH - 1, HEIGHT - 1);
        pass.setParams(params);
        expect(pass.execute() && holds(device, out, 2.5f), "saxpy");
    }

    /* Interpolant 0 holds the index of the element: biased as clients do, so that its floor is exact. */
    CTM::Buffer *gather = device->compileProgram("ps_3_0\ndef c0, 1, 0, 0, 0\ndcl_texcoord0 v0.xy\ndcl_2d s0\n"
                                                 "mul r0, v0.xyxx, c0.xxyy\ntexldl r0, r0, s0\nadd oC0, r0, r0\n",
                                                 CTM::PROG_PS3, print);
    expect(gather != NULL, "compile with an interpolant");
    if (gather) {
        float *p = numbers(params);
        std::memset(p, 0, 3 * 36 * sizeof(float));
        for (unsigned int v = 0; v < 3; v++) {
            const float u = v == 1 ? 3.0f * WIDTH : 0.0f, w = v == 2 ? 3.0f * HEIGHT : 0.0f;
            p[36 * v] = u;
            p[36 * v + 1] = w;
            p[36 * v + 3] = 1.0f;
            p[36 * v + 4] = u - 0.5f + 0.05f;
            p[36 * v + 5] = w - 0.5f + 0.05f;
        }
        CTM::Pass pass(device);
        pass.setProgram(gather);
        pass.setInput(0, x);
        pass.setOutput(0, out);
        pass.setDomain(0, 0, WIDTH - 1, HEIGHT - 1);
        pass.setParams(params);
        expect(pass.execute() && holds(device, out, 2.0f), "gather by an interpolant");
    }

    CTM::Buffer *four = device->compileProgram("ps_3_0\ndef c0, 2, 4, 0, 0\ndcl vPos.xy\ndcl_2d s0\n"
                                               "texld r0, vPos, s0\nmov oC0, r0\nadd oC1, r0, r0\nmad oC2, r0, c0.x, r0\n"
                                               "mul oC3, r0, c0.y\n",
                                               CTM::PROG_PS3, print);
    CTM::Buffer *outs[4];
    CTM::Pass pass(device);
    pass.setProgram(four);
    pass.setInput(0, x);
    for (unsigned int n = 0; n < 4; n++) {
        outs[n] = device->alloc(CTM::MEM_GPU, WIDTH, HEIGHT, CTM::FLOAT32_4, n % 2 ? CTM::TILED0 : CTM::LINEAR);
        pass.setOutput(n, outs[n]);
    }
    pass.setDomain(0, 0, WIDTH - 1, HEIGHT - 1);
    bool good = pass.execute();
    for (unsigned int n = 0; n < 4; n++)
        good = good && holds(device, outs[n], (float)(n + 1));
    expect(good, "four outputs");

    /* What fails, fails with a message. */
    expect(device->compileProgram("ps_3_0\nmov oC0, c0\nmov oC1, r40\n", CTM::PROG_PS3) == NULL &&
               std::strstr(ctm_last_error(), "source:3:10") != NULL,
           "a wrong shader is refused");
    expect(!CTM::Pass(device).execute(), "a pass without a program is refused");
    expect(device->alloc(CTM::MEM_GPU, 0x7fffffffu) == NULL, "too much memory is refused");

    CTM::Buffer *const all[] = {floats, integers, params, x, y, out, saxpy, gather, four, outs[0], outs[1], outs[2], outs[3]};
    for (unsigned int n = 0; n < sizeof all / sizeof *all; n++)
        delete all[n];
    delete device;
    return failures == 0 ? 0 : 1;
}
