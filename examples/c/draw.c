/* A picture with ctm.h: the cube of another example, smaller, and what its middle looks like.
 *
 * build: cc draw.c $(pkg-config --cflags --libs ctm)
 */
#include "ctm.h"

#include <stdio.h>

static int fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, ctm_last_error());
    return 1;
}

int main(void) {
    ctm_drawing *drawing;
    ctm_picture *picture;
    ctm_array colours, depths;
    const float *middle;
    static const float one[4] = {1.0f, 0.0f, 0.0f, 1.0f};

    if (ctm_drawing_open("../draw/cube/job.toml", &drawing) != CTM_OK)
        return fail("open");
    if (ctm_drawing_set_size(drawing, 64, 48) != CTM_OK)
        return fail("size");
    if (ctm_drawing_draw(drawing, 0.0f, NULL, &picture) != CTM_OK)
        return fail("draw");
    if (ctm_picture_target(picture, 0, &colours) != CTM_OK || ctm_picture_depths(picture, &depths) != CTM_OK)
        return fail("arrays");
    if (colours.width != 64 || colours.height != 48 || colours.channels != 4 || depths.channels != 1)
        return fail("shape");
    middle = colours.data + 4 * (24 * 64 + 32);
    printf("%.3f %.3f %.3f, depth %.3f\n", middle[0], middle[1], middle[2], depths.data[24 * 64 + 32]);
    /* The cube is there, and nothing in the corner. */
    if (!(depths.data[24 * 64 + 32] < 1.0f) || depths.data[0] != 1.0f || colours.data[3] != 1.0f)
        return fail("the picture");
    if (ctm_picture_target(picture, 5, &colours) != CTM_ARGUMENT || colours.data != NULL)
        return fail("a target that is not there was given");
    ctm_picture_free(picture);

    /* A constant of a name that nobody has. */
    if (ctm_drawing_set_constant(drawing, "mpv", one, 4) != CTM_OK)
        return fail("constant");
    if (ctm_drawing_draw(drawing, 0.0f, NULL, &picture) != CTM_WRONG || picture != NULL)
        return fail("a wrong name was taken");
    printf("%s\n", ctm_last_error());
    ctm_drawing_free(drawing);
    return 0;
}
