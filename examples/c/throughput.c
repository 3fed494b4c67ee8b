/* What the way to the device and back costs: submissions of nothing, memory there and back, a run on large arrays.
 *
 * build: cc -O2 throughput.c $(pkg-config --cflags --libs ctm)
 * run:   ./throughput            64 MiB arrays, 20000 submissions; "quick" takes less of everything
 */
#if !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 199309L
#endif
#include "ctm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char copy_text[] = ".input  x = s0\n"
                                ".output y = o0\n"
                                "        tex   r1, x, r0.rg\n"
                                "        mov   y, r1\n"
                                "        end\n";

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, ctm_last_error());
    return 1;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tell(const char *what, double bytes, double seconds) {
    printf("%-44s %8.2f ms %8.2f GB/s\n", what, 1e3 * seconds, 1e-9 * bytes / seconds);
}

/* set_domain (1, 0) to (0, 0), which is empty; start_program. The program is nobody's: an empty domain asks for none of it
 * but the image, which has to be there. */
static int submissions(unsigned count, const ctm_program *program) {
    AMmanagedDeviceInfo info;
    AMmanagedDevice device = amOpenManagedConnection("ctm:x1k,gpu=1M,gpub=0,sys=1M,sysc=0", &info);
    unsigned char *memory;
    ctm_bytes *image;
    AMuint32 commands[10], id = 0;
    unsigned n;
    double start, each, behind;
    if (device == NULL)
        return fail("open");
    if (ctm_program_write(program, CTM_FORM_ELF, &image) != CTM_OK)
        return fail("image");
    memory = (unsigned char *)info.baseAddressCPU;
    memcpy(memory, ctm_bytes_data(image), ctm_bytes_size(image));
    ctm_bytes_free(image);
    commands[0] = 0xC0010A00u; /* set_inst_fmt */
    commands[1] = info.baseAddressSYS;
    commands[2] = 0;
    commands[3] = 0xC0030700u; /* set_domain */
    commands[4] = 1;
    commands[5] = 0;
    commands[6] = 0;
    commands[7] = 0;
    commands[8] = 0xC0000800u; /* start_program */
    commands[9] = 0;
    memcpy(memory + 65536, commands, sizeof commands);
    id = amSubmitCommandBuffer(device, info.baseAddressSYS + 65536, 10);
    if (ctm_device_wait(device, id, 10000) != CTM_OK)
        return fail("the first submission");
    /* Without set_inst_fmt the program stays loaded. */
    start = now();
    for (n = 0; n < count; n++) {
        id = amSubmitCommandBuffer(device, info.baseAddressSYS + 65536 + 12, 7);
        if (id == 0)
            return fail("submit");
        while (amCommandBufferConsumed(device, id) == 0) {
        }
    }
    each = (now() - start) / count;
    start = now();
    for (n = 0; n < count; n++)
        id = amSubmitCommandBuffer(device, info.baseAddressSYS + 65536 + 12, 7);
    if (ctm_device_wait(device, id, 10000) != CTM_OK)
        return fail("the last submission");
    behind = (now() - start) / count;
    printf("%-44s %8.2f us\n", "empty submission, each polled for", 1e6 * each);
    printf("%-44s %8.2f us\n", "empty submission, one behind the other", 1e6 * behind);
    amCloseManagedConnection(device);
    return 0;
}

static int transfers(size_t bytes, int rounds) {
    AMmanagedDevice device = amOpenManagedConnection("ctm:x1k,gpu=128M,gpub=0,sys=1M,sysc=0", NULL);
    unsigned char *from = (unsigned char *)malloc(bytes), *to = (unsigned char *)malloc(bytes);
    AMuint32 address;
    int n;
    if (device == NULL || from == NULL || to == NULL ||
        ctm_device_allocate(device, CTM_ARENA_GPU, (uint32_t)bytes, &address) != CTM_OK)
        return fail("transfers");
    memset(from, 0x5a, bytes);
    memset(to, 0, bytes);
    for (n = 0; n < rounds; n++) {
        double start = now(), copied, written, read;
        memcpy(to, from, bytes);
        copied = now();
        if (ctm_device_write(device, address, from, bytes) != CTM_OK)
            return fail("write");
        written = now();
        if (ctm_device_read(device, address, to, bytes) != CTM_OK)
            return fail("read");
        read = now();
        if (n + 1 == rounds) {
            tell("memcpy, to compare with", (double)bytes, copied - start);
            tell("ctm_device_write", (double)bytes, written - copied);
            tell("ctm_device_read", (double)bytes, read - written);
        }
    }
    n = memcmp(from, to, bytes);
    free(from);
    free(to);
    amCloseManagedConnection(device);
    return n == 0 ? 0 : fail("what was read is not what was written");
}

/* One element of a large array is copied: a run costs no more than it reads and writes. */
static int arrays(const ctm_program *program, unsigned width, unsigned height) {
    size_t numbers = (size_t)width * height * 4, n;
    float *x = (float *)malloc(numbers * sizeof(float)), *y = (float *)malloc(numbers * sizeof(float));
    ctm_input input;
    ctm_output output;
    ctm_run_options options;
    double start;
    if (x == NULL || y == NULL)
        return fail("memory");
    for (n = 0; n < numbers; n++) {
        x[n] = (float)(n % 1000);
        y[n] = -1.0f;
    }
    memset(&input, 0, sizeof input);
    memset(&output, 0, sizeof output);
    memset(&options, 0, sizeof options);
    input.width = output.width = width;
    input.height = output.height = height;
    input.channels = output.channels = 4;
    input.data = x;
    output.data = y;
    options.size = sizeof options;
    options.inputs = &input;
    options.input_count = 1;
    options.outputs = &output;
    options.output_count = 1;
    for (n = 0; n < 2; n++) {
        start = now();
        if (ctm_run(program, &options, NULL, NULL) != CTM_OK)
            return fail("run");
        start = now() - start;
    }
    printf("%-44s %8.2f ms\n", "ctm_run: one element of two arrays", 1e3 * start);
    for (n = 0; n < numbers; n++)
        if (y[n] != (n < 4 ? x[n] : -1.0f)) {
            fprintf(stderr, "number %lu is %g\n", (unsigned long)n, (double)y[n]);
            return 1;
        }
    free(x);
    free(y);
    return 0;
}

int main(int count, char **arguments) {
    int quick = count > 1 && strcmp(arguments[1], "quick") == 0, failed;
    ctm_program *program;
    if (ctm_assemble(copy_text, strlen(copy_text), "copy", &program, NULL) != CTM_OK)
        return fail("assemble");
    failed = submissions(quick ? 100 : 20000, program) || transfers(quick ? 1u << 20 : 64u << 20, quick ? 1 : 4) ||
             arrays(program, quick ? 100 : 2048, quick ? 50 : 2048);
    ctm_program_free(program);
    return failed;
}
