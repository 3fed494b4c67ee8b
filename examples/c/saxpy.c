/* y = a * x + y with ctm.h: assemble, check, run on the caller's arrays. And what is told when a text is wrong.
 *
 * build: cc saxpy.c $(pkg-config --cflags --libs ctm)
 */
#include "ctm.h"

#include <stdio.h>
#include <string.h>

#define WIDTH 20
#define HEIGHT 10

static const char program_text[] = ".input  x = s0, y = s1\n"
                                   ".output sum = o0\n"
                                   ".const  a = c0\n"
                                   "        tex   r1, x, r0.rg\n"
                                   "        tex   r2, y, r0.rg\n"
                                   "        mad   sum, a.rrrr, r1, r2\n"
                                   "        end\n";

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, ctm_last_error());
    return 1;
}

int main(void) {
    ctm_program *program;
    ctm_findings *findings;
    ctm_bytes *listing;
    ctm_input inputs[2];
    ctm_output output;
    ctm_run_options options;
    ctm_counters counters;
    static float x[HEIGHT * WIDTH], y[HEIGHT * WIDTH], sum[HEIGHT * WIDTH];
    const float a[4] = {3.0f, 0.0f, 0.0f, 0.0f};
    size_t n;

    if (ctm_api_version() != CTM_API_VERSION) {
        fprintf(stderr, "the library is version %s, with another interface\n", ctm_version());
        return 1;
    }
    if (ctm_assemble(program_text, strlen(program_text), "saxpy", &program, NULL) != CTM_OK)
        return fail("assemble");
    if (ctm_program_check(program, &findings) != CTM_OK)
        return fail("check");
    ctm_findings_free(findings);
    if (ctm_disassemble(program, &listing) != CTM_OK)
        return fail("disassemble");
    printf("%s\n", (const char *)ctm_bytes_data(listing));
    ctm_bytes_free(listing);

    for (n = 0; n < HEIGHT * WIDTH; n++) {
        x[n] = (float)n;
        y[n] = 1000.0f - (float)n;
    }
    memset(inputs, 0, sizeof inputs);
    for (n = 0; n < 2; n++) {
        inputs[n].slot = (uint32_t)n;
        inputs[n].width = WIDTH;
        inputs[n].height = HEIGHT;
        inputs[n].channels = 1;
        inputs[n].data = n == 0 ? x : y;
    }
    memset(&output, 0, sizeof output);
    output.width = WIDTH;
    output.height = HEIGHT;
    output.channels = 1;
    output.data = sum;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.domain[2] = WIDTH - 1;
    options.domain[3] = HEIGHT - 1;
    options.floats = a;
    options.float_count = 1;
    options.inputs = inputs;
    options.input_count = 2;
    options.outputs = &output;
    options.output_count = 1;
    if (ctm_run(program, &options, &counters, NULL) != CTM_OK)
        return fail("run");
    for (n = 0; n < HEIGHT * WIDTH; n++)
        if (sum[n] != 3.0f * x[n] + y[n]) {
            fprintf(stderr, "element %u is %g\n", (unsigned)n, (double)sum[n]);
            return 1;
        }
    printf("%u processors, %u clocks\n", (unsigned)counters.processors, (unsigned)counters.clocks);
    ctm_program_free(program);

    /* A text with a mistake: the finding says where. */
    if (ctm_assemble("mov o0, r1\nmvo o0, r2\n", 22, "wrong", &program, &findings) != CTM_WRONG || program != NULL)
        return fail("a wrong text was taken");
    for (n = 0; n < ctm_findings_count(findings); n++) {
        const ctm_finding *finding = ctm_findings_get(findings, n);
        printf("line %u, column %u: %s\n", (unsigned)finding->line, (unsigned)finding->column, finding->message);
    }
    if (n == 0 || ctm_findings_get(findings, 0)->line != 2)
        return fail("findings");
    ctm_findings_free(findings);
    return 0;
}
