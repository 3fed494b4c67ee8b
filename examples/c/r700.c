/* An R700 program with ctm.h: text to words and back, checks, a run on arrays, and the same as a job.
 *
 * build: cc r700.c $(pkg-config --cflags --libs ctm)
 */
#include "ctm.h"

#include <stdio.h>
#include <string.h>

/* PIX0 = C0 * (i, j, i, j). */
static const char program_text[] = "00 ALU: ADDR(32) CNT(4)\n"
                                   "      0  x: MUL         R1.x,  R0.x,  C0.x\n"
                                   "         y: MUL         R1.y,  R0.y,  C0.y\n"
                                   "         z: MUL         R1.z,  R0.x,  C0.z\n"
                                   "         w: MUL         R1.w,  R0.y,  C0.w\n"
                                   "01 EXP_DONE: PIX0, R1\n"
                                   "END_OF_PROGRAM\n";

static const char job_text[] = "program = \"r700_example.psh\"\n"
                               "domain = [0, 0, 7, 3]\n"
                               "[constants.float]\n"
                               "0 = [2.0, 3.0, 0.5, -1.0]\n"
                               "[[output]]\n"
                               "slot = 0\n";

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, ctm_last_error());
    return 1;
}

int main(void) {
    ctm_program *program, *again;
    ctm_findings *findings;
    ctm_bytes *words, *text;
    ctm_job *job;
    ctm_result *result;
    ctm_array array;
    ctm_run_options options;
    ctm_output output;
    ctm_counters counters;
    ctm_control *control;
    static float numbers[8 * 4 * 4];
    FILE *file;
    uint32_t i, j, c;
    static const float factors[4] = {2.0f, 3.0f, 0.5f, -1.0f};

    if (ctm_program_read(program_text, strlen(program_text), "multiply.psh", &program, NULL) != CTM_OK)
        return fail("assemble");
    if (ctm_program_isa(program) != CTM_ISA_R700 || ctm_program_instructions(program) == 0)
        return fail("this is an R700 program");
    if (ctm_program_check(program, &findings) != CTM_OK)
        return fail("check");
    ctm_findings_free(findings);
    /* Its words, its text, and the words of its text. */
    if (ctm_program_write(program, CTM_FORM_HEX, &words) != CTM_OK || ctm_disassemble(program, &text) != CTM_OK)
        return fail("words and text");
    printf("%s\n", (const char *)ctm_bytes_data(text));
    if (ctm_program_read(ctm_bytes_data(words), ctm_bytes_size(words), "words.hex", &again, NULL) != CTM_OK)
        return fail("read words");
    ctm_program_free(again);
    ctm_bytes_free(words);
    ctm_bytes_free(text);
    /* On arrays in memory. */
    memset(&options, 0, sizeof options);
    memset(&output, 0, sizeof output);
    options.size = sizeof options;
    options.domain[2] = 7;
    options.domain[3] = 3;
    options.floats = factors;
    options.float_count = 1;
    output.width = 8;
    output.height = 4;
    output.channels = 4;
    output.data = numbers;
    options.outputs = &output;
    options.output_count = 1;
    if (ctm_run(program, &options, &counters, &findings) != CTM_OK || counters.processors != 32)
        return fail("run on arrays");
    ctm_findings_free(findings);
    /* What does not fit is told. */
    output.slot = 3;
    if (ctm_run(program, &options, NULL, NULL) == CTM_OK)
        return fail("there is no PIX3");
    /* A control that was cancelled ends it. */
    output.slot = 0;
    if (ctm_control_new(&control) != CTM_OK || ctm_control_cancel(control) != CTM_OK)
        return fail("control");
    options.control = control;
    if (ctm_run(program, &options, NULL, NULL) != CTM_CANCELLED)
        return fail("it was cancelled");
    ctm_control_free(control);
    ctm_program_free(program);

    file = fopen("r700_example.psh", "w");
    if (file == NULL || fputs(program_text, file) == EOF || fclose(file) != 0)
        return fail("the program's file");
    if (ctm_job_parse(job_text, strlen(job_text), "job.toml", ".", &job) != CTM_OK)
        return fail("parse");
    if (ctm_job_run(job, &result, &findings) != CTM_OK) {
        if (ctm_findings_count(findings) > 0)
            fprintf(stderr, "%s\n", ctm_findings_get(findings, 0)->text);
        return fail("run");
    }
    ctm_findings_free(findings);
    if (ctm_result_output(result, 0, &array) != CTM_OK || array.width != 8 || array.height != 4 || array.channels != 4)
        return fail("output");
    for (j = 0; j < 4; j++)
        for (i = 0; i < 8; i++)
            for (c = 0; c < 4; c++) {
                float expected = factors[c] * (float)(c % 2 == 0 ? i : j);
                float found = array.data[(j * 8 + i) * 4 + c];
                if (found != expected || numbers[(j * 8 + i) * 4 + c] != expected) {
                    fprintf(stderr, "(%u, %u) channel %u is %g\n", (unsigned)i, (unsigned)j, (unsigned)c, (double)found);
                    return 1;
                }
            }
    ctm_result_free(result);
    ctm_job_free(job);
    remove("r700_example.psh");
    return 0;
}
