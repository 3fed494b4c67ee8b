/* Scenes with OpenGL 3.3, each of which uses one thing that hardware does around programs. Draws all of them, or those that are named, without a
 * window, and writes each picture as NAME.rgba: columns and rows as two little-endian 32-bit numbers, then rows of RGBA bytes from the bottom.
 *
 * build: cc -O1 scenes.c -lEGL -lOpenGL -lm -o scenes; run: ./scenes FOLDER [NAME...]
 */
#include "programs.c"
#include "targets.c"
#include "textures.c"
#include "window.c"

static const struct {
    const char *name;
    void (*draw)(void);
} SCENES[] = {
#define SCENE(name) {#name, name}
    SCENE(smooth), SCENE(flat_last), SCENE(flat_first), SCENE(perspective), SCENE(no_perspective), SCENE(fragment_coordinates), SCENE(derivatives),
    SCENE(discards), SCENE(texture_nearest), SCENE(texture_linear), SCENE(texture_repeat), SCENE(texture_mirror), SCENE(texture_border),
    SCENE(mip_linear), SCENE(mip_nearest), SCENE(mip_bias), SCENE(texture_functions), SCENE(cube_map), SCENE(texture_array), SCENE(texture_3d),
    SCENE(texture_3d_nearest), SCENE(texture_1d), SCENE(texture_buffer), SCENE(shadow), SCENE(formats), SCENE(depth_less), SCENE(depth_functions),
    SCENE(depth_range), SCENE(depth_clamp), SCENE(depth_written), SCENE(polygon_offset), SCENE(stencil_mask), SCENE(stencil_sides),
    SCENE(blend_over), SCENE(blend_equations), SCENE(blend_two_sources), SCENE(logic_operations), SCENE(colour_mask), SCENE(several_targets),
    SCENE(target_float), SCENE(target_integer), SCENE(target_small), SCENE(target_srgb), SCENE(scissor), SCENE(viewport), SCENE(clipping),
    SCENE(clip_distances), SCENE(culling), SCENE(primitives), SCENE(points), SCENE(restart), SCENE(indexed), SCENE(instanced), SCENE(attributes),
    SCENE(polygon_modes), SCENE(lit_vertices), SCENE(lit_pixels), SCENE(fogged), SCENE(uniform_block), SCENE(integers), SCENE(geometry_points),
    SCENE(geometry_adjacency), SCENE(geometry_primitive_id), SCENE(feedback), SCENE(feedback_numbers), SCENE(multisample_4),
    SCENE(multisample_depth), SCENE(alpha_to_coverage), SCENE(blits), SCENE(copies), SCENE(occlusion),
};

static void save(const char *folder, const char *name) {
    static uint8_t pixels[4 * SIDE * SIDE];
    glBindFramebuffer(GL_READ_FRAMEBUFFER, MAIN.frame);
    glReadPixels(0, 0, SIDE, SIDE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    char path[1000];
    snprintf(path, sizeof path, "%s/%s.rgba", folder, name);
    FILE *f = fopen(path, "wb");
    if (!f) FAIL("cannot write %s", path);
    const uint8_t size[] = {SIDE & 255, SIDE >> 8, 0, 0, SIDE & 255, SIDE >> 8, 0, 0};
    fwrite(size, 1, sizeof size, f), fwrite(pixels, 1, sizeof pixels, f);
    fclose(f);
}

/* Each scene has a context of its own. */
static void in_context(EGLDisplay display, const char *folder, const char *name, void (*scene)(void)) {
    const EGLint attributes[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK, EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
    const EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, attributes);
    if (context == EGL_NO_CONTEXT) FAIL("no OpenGL 3.3");
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context);
    GLuint array;
    glGenVertexArrays(1, &array);
    glBindVertexArray(array);
    MAIN = target(GL_RGBA8, 0);
    scene();
    const GLenum error = glGetError();
    if (error) fprintf(stderr, "%s: GL error 0x%x\n", name, error);
    save(folder, name);
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display, context);
}

int main(int argc, char **argv) {
    if (argc < 2) FAIL("usage: %s FOLDER [NAME...]", argv[0]);
    const EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API)) FAIL("no EGL");
    size_t drawn = 0;
    for (size_t n = 0; n < sizeof SCENES / sizeof *SCENES; n++) {
        int wanted = argc == 2;
        for (int k = 2; k < argc; k++) wanted |= !strcmp(argv[k], SCENES[n].name);
        if (wanted) in_context(display, argv[1], SCENES[n].name, SCENES[n].draw), printf("%s\n", SCENES[n].name), fflush(stdout), drawn++;
    }
    return drawn ? 0 : 1;
}
