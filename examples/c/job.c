/* A job with ctm.h: another example's job file, its size changed by a flag; and a device by hand.
 *
 * build: cc job.c $(pkg-config --cflags --libs ctm)
 */
#include "ctm.h"

#include <stdio.h>
#include <string.h>

static const char job_text[] = "program = \"../saxpy/saxpy.x1k\"\n"
                               "domain = [0, 0, 3, 1]\n"
                               "[constants.float]\n"
                               "a = [2.0, 0.0, 0.0, 0.0]\n"
                               "[[texture]]\n"
                               "slot = \"x\"\n"
                               "data = \"x.npy\"\n";

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, ctm_last_error());
    return 1;
}

int main(void) {
    ctm_job *job;
    ctm_result *result;
    ctm_findings *findings;
    ctm_bytes *json;
    AMmanagedDevice device;
    AMuint32 address, id;
    uint32_t words[2] = {0xC0000900u, 0}, back[2] = {0, 0};

    /* The array is not there: the job is wrong, and the finding says what is missing, in words and as JSON. */
    if (ctm_job_parse(job_text, strlen(job_text), "job.toml", ".", &job) != CTM_OK)
        return fail("parse");
    if (ctm_job_set(job, "threads", "1") != CTM_OK)
        return fail("set");
    if (ctm_job_run(job, &result, &findings) != CTM_WRONG || result != NULL || ctm_findings_count(findings) == 0)
        return fail("a job without its array ran");
    if (ctm_findings_json(findings, &json) != CTM_OK)
        return fail("json");
    printf("%s\n", (const char *)ctm_bytes_data(json));
    ctm_bytes_free(json);
    ctm_findings_free(findings);
    ctm_job_free(job);

    /* A device: memory, a command buffer (wait_for_idle), waiting. */
    device = amOpenManagedConnection("ctm:x1k,gpu=1M,gpub=0,sys=1M,sysc=0", NULL);
    if (device == NULL)
        return fail("open");
    if (ctm_device_allocate(device, CTM_ARENA_SYS, sizeof words, &address) != CTM_OK ||
        ctm_device_write(device, address, words, sizeof words) != CTM_OK)
        return fail("memory");
    id = amSubmitCommandBuffer(device, address, 2);
    if (id == 0 || ctm_device_wait(device, id, 10000) != CTM_OK || ctm_submission_error(device, id) != NULL)
        return fail("submit");
    if (ctm_device_read(device, address, back, sizeof back) != CTM_OK || memcmp(words, back, sizeof back) != 0)
        return fail("read");

    /* One that is no command: consumed, and the reason can be read. */
    words[0] = 7;
    if (ctm_device_write(device, address, words, sizeof words) != CTM_OK)
        return fail("write");
    id = amSubmitCommandBuffer(device, address, 2);
    if (ctm_device_wait(device, id, 10000) != CTM_FAULT || ctm_submission_error(device, id) == NULL)
        return fail("garbage was taken");
    printf("%s\n", ctm_submission_error(device, id));
    amCloseManagedConnection(device);
    return 0;
}
