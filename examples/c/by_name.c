/* Programs of both instruction sets with ctm.h: inputs, outputs and constants by their names, start values of registers, a memory.
 *
 * build: cc by_name.c $(pkg-config --cflags --libs ctm)
 */
#include "ctm.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 6
#define HEIGHT 3

/* sum = map * scale + r1, whose start value is a ramp. */
static const char x1k_text[] = ".input  map = s2\n"
                               ".output sum = o0\n"
                               ".const  scale = c7\n"
                               "        tex   r2, map, r0.rg\n"
                               "        mad   sum, r2, scale, r1\n"
                               "        end\n";

/* The same of a pixel, with a matrix of the container: scale is m[1][1]. */
static const char r700_text[] = "; $UNIFORM_VARS[0].name = \"m\"\n"
                                "; $UNIFORM_VARS[0].type = \"mat3x3\"\n"
                                "; $UNIFORM_VARS[0].block = -1\n"
                                "; $UNIFORM_VARS[0].offset = 4\n"
                                ".stage pixel\n"
                                ".resource map t3\n"
                                ".sampler near s0\n"
                                "TEX:\n"
                                " SAMPLE R2.xyzw, R0.xy__, map, near DENORM(XY)\n"
                                "ALU:\n"
                                " 0 x: MUL R2.x, R2.x, C2.y\n"
                                " 1 x: ADD R1.x, R2.x, R1.x\n"
                                "EXP_DONE: PIX0, R1.xyzw\n"
                                "END_OF_PROGRAM\n";

/* Each thread stores its number's double. */
static const char scatter_text[] = ".stage compute\n"
                                   "ALU:\n"
                                   " x: ADD_INT R1.x, R0.x, R0.x\n"
                                   "MEM_EXPORT: WRITE(0 + R0), R1.x___ ARRAY_SIZE(0)\n"
                                   "NOP\n"
                                   "END_OF_PROGRAM\n";

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, ctm_last_error());
    return 1;
}

/* Runs the program with a scale of 3 on a map of 0, 1, 2..; the ramp is column + 10 * row. */
static int run(const char *name, const char *text, const char *output_name, const char *scale_name, const float *scale,
               size_t count) {
    static float map[WIDTH * HEIGHT], sum[WIDTH * HEIGHT];
    ctm_program *program;
    ctm_run_options options;
    ctm_input input;
    ctm_output output;
    ctm_constant constant;
    ctm_register registers[2];
    ctm_counters counters;
    const char *input_names[1], *output_names[1];
    uint32_t n;

    if (ctm_program_read(text, strlen(text), name, &program, NULL) != CTM_OK)
        return fail(name);
    if (ctm_program_symbol(program, CTM_INPUT, "map") != (ctm_program_isa(program) == CTM_ISA_X1K ? 2 : 3) ||
        ctm_program_symbol(program, CTM_INPUT, "mop") != -1)
        return fail("the register of a name");
    for (n = 0; n < WIDTH * HEIGHT; n++) {
        map[n] = (float)n;
        sum[n] = -1.0f;
    }
    memset(&input, 0, sizeof input);
    memset(&output, 0, sizeof output);
    memset(&constant, 0, sizeof constant);
    memset(registers, 0, sizeof registers);
    memset(&options, 0, sizeof options);
    input.slot = 99; /* the name counts */
    input.width = output.width = WIDTH;
    input.height = output.height = HEIGHT;
    input.channels = output.channels = 1;
    input.data = map;
    output.data = sum;
    input_names[0] = "map";
    output_names[0] = output_name;
    constant.name = scale_name;
    constant.kind = CTM_FLOAT_CONSTANT;
    constant.data = scale;
    constant.count = count;
    /* Register 0 is the position, as without start values. */
    registers[0].di[0] = registers[0].dj[1] = 1.0;
    registers[1].index = 1;
    registers[1].di[0] = 1.0;
    registers[1].dj[0] = 10.0;
    options.size = sizeof options;
    options.domain[2] = WIDTH - 1;
    options.domain[3] = HEIGHT - 1;
    options.inputs = &input;
    options.input_count = 1;
    options.input_names = input_names;
    options.outputs = &output;
    options.output_count = 1;
    options.output_names = output_names;
    options.constants = &constant;
    options.constant_count = 1;
    options.registers = registers;
    options.register_count = 2;
    if (ctm_run(program, &options, &counters, NULL) != CTM_OK || counters.processors != WIDTH * HEIGHT)
        return fail(name);
    for (n = 0; n < WIDTH * HEIGHT; n++) {
        float expected = 3.0f * (float)n + (float)(n % WIDTH) + 10.0f * (float)(n / WIDTH);
        if (sum[n] != expected) {
            fprintf(stderr, "%s: element %u is %g, not %g\n", name, (unsigned)n, (double)sum[n], (double)expected);
            return 1;
        }
    }
    /* Names that the program does not have, and values that do not fit them, are errors of the call. */
    input_names[0] = "mop";
    if (ctm_run(program, &options, NULL, NULL) != CTM_ARGUMENT || strstr(ctm_last_error(), "did you mean `map`?") == NULL)
        return fail("an unknown name");
    input_names[0] = "map";
    constant.count = 2;
    if (ctm_run(program, &options, NULL, NULL) != CTM_ARGUMENT || strstr(ctm_last_error(), scale_name) == NULL)
        return fail("a constant of two numbers");
    constant.count = count;
    registers[1].index = 128;
    if (ctm_run(program, &options, NULL, NULL) != CTM_ARGUMENT || strstr(ctm_last_error(), "0 to 127") == NULL)
        return fail("register 128");
    registers[1].index = 1;
    /* An input that is read at each processor's own place is as large as the domain, unless its edge is to be repeated. */
    options.register_count = 0;
    input.width = WIDTH - 1;
    if (ctm_run(program, &options, NULL, NULL) != CTM_ARGUMENT || strstr(ctm_last_error(), "5 columns and 3 rows") == NULL)
        return fail("a small input");
    options.clamp = 1;
    if (ctm_run(program, &options, NULL, NULL) != CTM_OK)
        return fail("a small input that clamps");
    input.width = WIDTH;
    /* Clients that were built with an older header have no names, so that slots count: there is no slot 99. */
    options.size = offsetof(ctm_run_options, input_names);
    if (ctm_run(program, &options, NULL, NULL) != CTM_ARGUMENT)
        return fail("an older client");
    ctm_program_free(program);
    return 0;
}

static int scatter(void) {
    ctm_program *program;
    ctm_run_options options;
    ctm_memory memory;
    uint32_t dwords[9], n;
    if (ctm_program_read(scatter_text, strlen(scatter_text), "scatter.r700", &program, NULL) != CTM_OK)
        return fail("scatter");
    memset(dwords, 0xff, sizeof dwords);
    memory.name = "scatter";
    memory.data = dwords;
    memory.count = 9;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.domain[2] = 7;
    if (ctm_run(program, &options, NULL, NULL) != CTM_ARGUMENT)
        return fail("the program needs a memory");
    options.memories = &memory;
    options.memory_count = 1;
    if (ctm_run(program, &options, NULL, NULL) != CTM_OK)
        return fail("scatter");
    for (n = 0; n < 9; n++)
        if (dwords[n] != (n < 8 ? 2 * n : 0xffffffffu)) {
            fprintf(stderr, "dword %u is %u\n", (unsigned)n, (unsigned)dwords[n]);
            return 1;
        }
    memory.name = "scratch";
    if (ctm_run(program, &options, NULL, NULL) != CTM_ARGUMENT)
        return fail("there is no such memory");
    ctm_program_free(program);
    return 0;
}

int main(void) {
    static const float scale[4] = {3.0f, 3.0f, 3.0f, 3.0f};
    /* Column by column. */
    static const float matrix[9] = {0.0f, 0.0f, 0.0f, 0.0f, 3.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    return run("names.x1k", x1k_text, "sum", "scale", scale, 4) || run("names.r700", r700_text, "pix0", "m", matrix, 9) ||
           scatter();
}
