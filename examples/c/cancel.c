/* A loop without an end, ended from outside: by time, by a control, and as a submission of a device.
 *
 * build: cc cancel.c $(pkg-config --cflags --libs ctm)
 */
#include "amDeviceManaged.h"
#include "amuCbufTypes.h"
#include "ctm.h"

#include <stdio.h>
#include <string.h>

static const char endless[] = ".output c = o0\n"
                              "        mov   r1, 0\n"
                              "again:  add   r1, r1, r0\n"
                              "        fc    jump func=0xff to=again\n"
                              "        mov   c, r1\n";

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, ctm_last_error());
    return 1;
}

int main(void) {
    ctm_program *program;
    ctm_bytes *image;
    ctm_control *control;
    ctm_progress progress;
    ctm_run_options options;
    ctm_output output;
    AMmanagedDevice device;
    AMmanagedDeviceInfo info;
    AMuint32 code, buffer, submission;
    AMuint32 commands[16];
    static float pixels[64 * 64];
    size_t n = 0;

    if (ctm_assemble(endless, strlen(endless), "endless", &program, NULL) != CTM_OK)
        return fail("assemble");

    memset(&output, 0, sizeof output);
    output.width = output.height = 64;
    output.channels = 1;
    output.data = pixels;
    memset(&options, 0, sizeof options);
    options.size = sizeof options;
    options.domain[2] = options.domain[3] = 63;
    options.outputs = &output;
    options.output_count = 1;
    options.seconds = 0.1;
    if (ctm_run(program, &options, NULL, NULL) != CTM_FAULT)
        return fail("a run whose time is over");
    printf("%s\n", ctm_last_error());

    /* Any other thread may cancel while it runs; here it is cancelled before. */
    if (ctm_control_new(&control) != CTM_OK || ctm_control_cancel(control) != CTM_OK)
        return fail("control");
    options.seconds = 0.0;
    options.control = control;
    if (ctm_run(program, &options, NULL, NULL) != CTM_CANCELLED)
        return fail("a run that is cancelled");
    printf("%s\n", ctm_last_error());
    if (ctm_control_reset(control) != CTM_OK || ctm_control_progress(control, &progress) != CTM_OK)
        return fail("control");
    ctm_control_free(control);

    /* A device: the submission runs on a thread of its own. */
    device = amOpenManagedConnection("ctm:x1k,gpu=1M,sys=1M", &info);
    if (device == 0 || ctm_program_write(program, CTM_FORM_ELF, &image) != CTM_OK)
        return fail("device");
    if (ctm_device_allocate(device, CTM_ARENA_SYS, (uint32_t)ctm_bytes_size(image), &code) != CTM_OK ||
        ctm_device_allocate(device, CTM_ARENA_SYS, sizeof commands, &buffer) != CTM_OK ||
        ctm_device_write(device, code, ctm_bytes_data(image), ctm_bytes_size(image)) != CTM_OK)
        return fail("memory");
    commands[n++] = AMU_CBUF_CMD_SET_INST_FMT;
    commands[n++] = code;
    commands[n++] = 0;
    commands[n++] = AMU_CBUF_CMD_SET_DOMAIN;
    commands[n++] = 0;
    commands[n++] = 0;
    commands[n++] = 63;
    commands[n++] = 63;
    commands[n++] = AMU_CBUF_CMD_START_PROGRAM;
    commands[n++] = 0;
    if (ctm_device_write(device, buffer, commands, n * sizeof commands[0]) != CTM_OK)
        return fail("memory");
    submission = amSubmitCommandBuffer(device, buffer, (AMuint32)n);
    if (submission == 0 || ctm_device_wait(device, submission, 50) != CTM_TIMEOUT)
        return fail("a submission without an end");
    do {
        if (ctm_device_progress(device, &progress) != CTM_OK)
            return fail("progress");
    } while (progress.processors == 0); /* it has not begun */
    printf("%u of %u processors are done\n", (unsigned)progress.done, (unsigned)progress.processors);
    if (ctm_device_cancel(device, submission) != CTM_OK)
        return fail("cancel");
    if (ctm_device_wait(device, submission, 60000) != CTM_FAULT || strstr(ctm_last_error(), "cancelled") == NULL)
        return fail("a submission that is cancelled");
    printf("%s\n", ctm_last_error());
    amCloseManagedConnection(device);
    ctm_bytes_free(image);
    ctm_program_free(program);
    return 0;
}
