/* Scenes of what becomes of pixels behind the program, and of targets. */
#include "drawing.h"

/* Depth and stencil. */

static void depth_less(void) {
    glEnable(GL_DEPTH_TEST);
    program(PLAIN_VS, NULL, COLOUR_FS);
    const float a[] = {-0.9f, -0.8f, -0.9f, 1, 1, 0, 0, 1, 0.9f, -0.3f, 0.9f, 1, 1, 1, 0, 1, -0.5f, 0.9f, 0.1f, 1, 1, 0, 1, 1};
    const float b[] = {0.9f, -0.8f, -0.9f, 1, 0, 1, 0, 1, 0.7f, 0.9f, 0.3f, 1, 0, 1, 1, 1, -0.9f, 0.1f, 0.8f, 1, 0, 0, 1, 1};
    draw(GL_TRIANGLES, a, 3), draw(GL_TRIANGLES, b, 3);
}

static void depth_functions(void) {
    static const GLenum all[] = {GL_NEVER, GL_LESS, GL_EQUAL, GL_LEQUAL, GL_GREATER, GL_NOTEQUAL, GL_GEQUAL, GL_ALWAYS};
    glEnable(GL_DEPTH_TEST);
    program(PLAIN_VS, NULL, COLOUR_FS);
    for (int n = 0; n < 8; n++) {
        const float x = -0.95f + 0.24f * (float)n;
        glDepthFunc(GL_ALWAYS);
        plain(x, -0.9f, x + 0.2f, 0.9f, 0.25f, 0.5f, 0.5f, 0.5f, 1);
        glDepthFunc(all[n]);
        plain(x, -0.8f, x + 0.2f, -0.4f, 0, 1, 0, 0, 1), plain(x, -0.2f, x + 0.2f, 0.2f, 0.25f, 0, 1, 0, 1), plain(x, 0.4f, x + 0.2f, 0.8f, 0.5f, 0, 0, 1, 1);
    }
}

static void depth_range(void) {
    glEnable(GL_DEPTH_TEST);
    glDepthRange(0.75, 0.25);
    program(PLAIN_VS, NULL, "in vec4 v; out vec4 o; void main() { o = vec4(v.rg, gl_FragCoord.z, 1); }");
    const float a[] = {-0.9f, -0.8f, -0.9f, 1, 1, 0, 0, 1, 0.9f, -0.3f, 0.9f, 1, 1, 1, 0, 1, -0.5f, 0.9f, 0.1f, 1, 1, 0, 1, 1};
    draw(GL_TRIANGLES, a, 3);
    plain(-0.5f, -0.5f, 0.5f, 0.5f, -0.1f, 0, 1, 0, 1);
}

static void depth_clamp(void) {
    glEnable(GL_DEPTH_TEST), glEnable(GL_DEPTH_CLAMP);
    program(PLAIN_VS, NULL, COLOUR_FS);
    const float a[] = {-0.9f, -0.8f, -3, 1, 1, 0, 0, 1, 0.9f, -0.3f, 3, 1, 1, 1, 0, 1, -0.5f, 0.9f, 0.1f, 1, 1, 0, 1, 1};
    draw(GL_TRIANGLES, a, 3);
}

static void depth_written(void) {
    glEnable(GL_DEPTH_TEST);
    program(PLAIN_VS, NULL, "in vec4 v; out vec4 o; void main() { o = v; gl_FragDepth = fract(v.x * 5.0); }");
    quad_of(0, 0, 1, 1);
    program(PLAIN_VS, NULL, COLOUR_FS);
    plain(-0.7f, -0.7f, 0.7f, 0.7f, 0, 1, 1, 1, 1);
}

static void polygon_offset(void) {
    glEnable(GL_DEPTH_TEST);
    program(PLAIN_VS, NULL, COLOUR_FS);
    draw(GL_TRIANGLES, TRIANGLE, 3);
    glEnable(GL_POLYGON_OFFSET_FILL);
    glPolygonOffset(0, -4);
    plain(-0.4f, -0.4f, 0, 0.4f, 0, 1, 1, 1, 1);
    glPolygonOffset(0, 4);
    plain(0, -0.4f, 0.4f, 0.4f, 0, 0, 0, 0, 1);
}

static void stencil_mask(void) {
    glEnable(GL_STENCIL_TEST);
    program(PLAIN_VS, NULL, COLOUR_FS);
    glStencilFunc(GL_ALWAYS, 5, 255), glStencilOp(GL_KEEP, GL_KEEP, GL_REPLACE);
    draw(GL_TRIANGLES, TRIANGLE, 3);
    glStencilFunc(GL_NOTEQUAL, 5, 7), glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
    plain(-0.9f, -0.9f, 0.9f, 0.9f, 0, 1, 1, 0, 1);
}

static void stencil_sides(void) {
    glEnable(GL_STENCIL_TEST);
    program(PLAIN_VS, NULL, COLOUR_FS);
    glStencilOpSeparate(GL_FRONT, GL_KEEP, GL_KEEP, GL_INCR_WRAP), glStencilOpSeparate(GL_BACK, GL_KEEP, GL_KEEP, GL_DECR_WRAP);
    glStencilFunc(GL_ALWAYS, 0, 255);
    draw(GL_TRIANGLES, TRIANGLE, 3);
    float back[24];
    for (int n = 0; n < 24; n++) back[n] = TRIANGLE[8 * (2 - n / 8) + n % 8] * (n % 8 < 2 ? 0.6f : 1);
    draw(GL_TRIANGLES, back, 3);
    draw(GL_TRIANGLES, back, 3);
    for (int n = 0; n < 3; n++) {
        static const int reference[] = {1, 255, 0};
        glStencilFunc(GL_EQUAL, reference[n], 255), glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
        plain(-0.9f, -0.9f, 0.9f, 0.9f, 0, n == 0, n == 1, n == 2, 1);
    }
}

/* Blending and stores. */

static void blend_over(void) {
    glEnable(GL_BLEND), glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    program(PLAIN_VS, NULL, COLOUR_FS);
    plain(-0.9f, -0.9f, 0.4f, 0.4f, 0, 1, 0, 0, 0.5f), plain(-0.4f, -0.4f, 0.9f, 0.9f, 0, 0, 1, 0, 0.3f), draw(GL_TRIANGLES, TRIANGLE, 3);
}

static void blend_equations(void) {
    static const GLenum all[] = {GL_FUNC_ADD, GL_FUNC_SUBTRACT, GL_FUNC_REVERSE_SUBTRACT, GL_MIN, GL_MAX};
    static const GLenum factors[] = {GL_ONE, GL_DST_COLOR, GL_ONE_MINUS_DST_ALPHA, GL_CONSTANT_COLOR, GL_SRC_ALPHA_SATURATE};
    program(PLAIN_VS, NULL, COLOUR_FS);
    for (int n = 0; n < 5; n++) {
        const float x = -0.95f + 0.38f * (float)n;
        glDisable(GL_BLEND);
        plain(x, -0.9f, x + 0.34f, 0.9f, 0, 0.6f, 0.4f, 0.2f, 0.7f);
        glEnable(GL_BLEND), glBlendColor(0.2f, 0.9f, 0.5f, 0.4f), glBlendEquation(all[n]);
        for (int m = 0; m < 5; m++) {
            const float y = -0.85f + 0.34f * (float)m;
            glBlendFuncSeparate(factors[m], GL_ONE_MINUS_SRC_COLOR, GL_ONE, GL_DST_ALPHA);
            plain(x, y, x + 0.34f, y + 0.3f, 0, 0.3f, 0.5f, 0.8f, 0.6f);
        }
    }
}

static void blend_two_sources(void) {
    glEnable(GL_BLEND), glBlendFunc(GL_ONE, GL_SRC1_COLOR);
    const GLuint p = program(PLAIN_VS, NULL, "in vec4 v; layout(location=0, index=0) out vec4 a; layout(location=0, index=1) out vec4 b; void main() { a = v * 0.5; b = vec4(v.yx, 0.25, 1); }");
    (void)p;
    quad_of(0, 0, 1, 1);
}

static void logic_operations(void) {
    program(PLAIN_VS, NULL, COLOUR_FS);
    plain(-0.9f, -0.9f, 0.9f, 0.9f, 0, 0.8f, 0.4f, 0.6f, 1);
    glEnable(GL_COLOR_LOGIC_OP);
    for (int n = 0; n < 16; n++) {
        glLogicOp((GLenum)(GL_CLEAR + n));
        const float x = -0.85f + 0.43f * (float)(n % 4), y = -0.85f + 0.43f * (float)(n / 4);
        plain(x, y, x + 0.4f, y + 0.4f, 0, 0.3f, 0.7f, 0.55f, 1);
    }
}

static void colour_mask(void) {
    program(PLAIN_VS, NULL, COLOUR_FS);
    glColorMask(GL_TRUE, GL_FALSE, GL_TRUE, GL_FALSE);
    draw(GL_TRIANGLES, TRIANGLE, 3);
}

static void several_targets(void) {
    GLuint more[2];
    glGenTextures(2, more);
    for (GLuint n = 0; n < 2; n++) {
        glBindTexture(GL_TEXTURE_2D, more[n]);
        glTexImage2D(GL_TEXTURE_2D, 0, n ? GL_RGBA16F : GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_FLOAT, NULL);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    }
    const struct target t = target(GL_RGBA8, 0);
    for (GLuint n = 0; n < 2; n++) glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT1 + n, GL_TEXTURE_2D, more[n], 0);
    const GLenum buffers[] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1, GL_COLOR_ATTACHMENT2};
    glDrawBuffers(3, buffers);
    glClear(GL_COLOR_BUFFER_BIT);
    program(PLAIN_VS, NULL, "in vec4 v; layout(location=0) out vec4 a; layout(location=1) out vec4 b; layout(location=2) out vec4 c; void main() { a = v; b = v.brga; c = v * 3.0; }");
    draw(GL_TRIANGLES, TRIANGLE, 3);
    back_to_main();
    program(PLAIN_VS, NULL, TEXTURE_FS);
    const GLuint all[] = {t.colour, more[0], more[1]};
    const float lo[] = {0, 0, 0, 1}, hi[] = {1, 1, 0, 1};
    for (int n = 0; n < 3; n++) {
        glBindTexture(GL_TEXTURE_2D, all[n]);
        const float x = -0.95f + 0.64f * (float)n;
        rectangle(x, -0.9017f, x + 0.6031f, 0.8973f, 0, lo, hi);
    }
}

static void shown(GLenum format, const char *fs, const char *show) {
    const struct target t = target(format, 0);
    program(PLAIN_VS, NULL, fs);
    if (format == GL_RGBA8UI || format == GL_RGBA16I) {
        const GLint zero[] = {1, 2, 3, 4};
        glClearBufferiv(GL_COLOR, 0, zero);
    }
    quad_of(0, 0, 1, 1);
    back_to_main();
    glBindTexture(GL_TEXTURE_2D, t.colour);
    program(PLAIN_VS, NULL, show);
    const float lo[] = {0, 0, 0, 1}, hi[] = {1, 1, 0, 1};
    rectangle(-1, -1, 1, 1, 0, lo, hi);
}

static void target_float(void) { shown(GL_RGBA16F, "in vec4 v; out vec4 o; void main() { o = vec4(v.xy * 8.0 - 4.0, v.x * 100.0, 1); }", "in vec4 v; uniform sampler2D t; out vec4 o; void main() { o = fract(texture(t, v.xy) * 0.5); }"); }
static void target_integer(void) { shown(GL_RGBA16I, "in vec4 v; out ivec4 o; void main() { o = ivec4(v * 70000.0 - 20000.0); }", "in vec4 v; uniform isampler2D t; out vec4 o; void main() { o = vec4(texture(t, v.xy) & 255) / 255.0; }"); }
static void target_small(void) { shown(GL_RGB565, "in vec4 v; out vec4 o; void main() { o = v; }", TEXTURE_FS); }
static void target_srgb(void) { glEnable(GL_FRAMEBUFFER_SRGB), shown(GL_SRGB8_ALPHA8, "in vec4 v; out vec4 o; void main() { o = vec4(v.xy, v.x * v.y, 1); }", TEXTURE_FS); }

/* Several samples. */

static void multisample(int samples) {
    const struct target t = target(GL_RGBA8, samples);
    program(PLAIN_VS, NULL, COLOUR_FS), draw(GL_TRIANGLES, TRIANGLE, 3);
    resolve(&t);
}

static void multisample_4(void) { multisample(4); }

static void multisample_depth(void) {
    const struct target t = target(GL_RGBA8, 4);
    depth_less();
    glDisable(GL_DEPTH_TEST);
    resolve(&t);
}

static void alpha_to_coverage(void) {
    const struct target t = target(GL_RGBA8, 4);
    glEnable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    program(PLAIN_VS, NULL, "in vec4 v; out vec4 o; void main() { o = vec4(1, 0.5, 0, floor(v.x * 5.0) / 4.0); }");
    quad_of(0, 0, 0.999f, 1);
    glDisable(GL_SAMPLE_ALPHA_TO_COVERAGE);
    resolve(&t);
}

/* Copies and queries. */

static void blits(void) {
    program(PLAIN_VS, NULL, COLOUR_FS);
    const struct target t = target(GL_RGBA8, 0);
    draw(GL_TRIANGLES, TRIANGLE, 3);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, t.frame), glBindFramebuffer(GL_DRAW_FRAMEBUFFER, MAIN.frame);
    glBlitFramebuffer(0, 0, SIDE, SIDE, 10, 10, 110, 60, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBlitFramebuffer(50, 50, 150, 150, 190, 100, 110, 190, GL_COLOR_BUFFER_BIT, GL_LINEAR);
    back_to_main();
}

static void copies(void) {
    program(PLAIN_VS, NULL, COLOUR_FS), draw(GL_TRIANGLES, TRIANGLE, 3);
    texture_2d(64, 64, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE);
    glCopyTexSubImage2D(GL_TEXTURE_2D, 0, 8, 8, 70, 60, 48, 40);
    program(PLAIN_VS, NULL, TEXTURE_FS);
    const float lo[] = {0, 0, 0, 1}, hi[] = {1, 1, 0, 1};
    rectangle(-1, -1, -0.1973f, -0.2031f, 0, lo, hi);
}

static void occlusion(void) {
    GLuint q[2];
    glGenQueries(2, q);
    glEnable(GL_DEPTH_TEST);
    program(PLAIN_VS, NULL, COLOUR_FS);
    plain(-0.5f, -0.5f, 0.5f, 0.5f, -0.5f, 0.3f, 0.3f, 0.3f, 1);
    glBeginQuery(GL_SAMPLES_PASSED, q[0]), draw(GL_TRIANGLES, TRIANGLE, 3), glEndQuery(GL_SAMPLES_PASSED);
    glBeginQuery(GL_SAMPLES_PASSED, q[1]), plain(-0.2f, -0.2f, 0.2f, 0.2f, 0, 1, 1, 1, 1), glEndQuery(GL_SAMPLES_PASSED);
    GLuint passed = 0;
    glGetQueryObjectuiv(q[0], GL_QUERY_RESULT, &passed);
    glDisable(GL_DEPTH_TEST);
    plain(-1, 0.8f, 1, 1, 0, (float)(passed & 255) / 255, (float)(passed >> 8 & 255) / 255, 0, 1);
    glBeginConditionalRender(q[1], GL_QUERY_WAIT);
    plain(-1, -1, 1, -0.8f, 0, 1, 0, 0, 1);
    glEndConditionalRender();
    glBeginConditionalRender(q[0], GL_QUERY_WAIT);
    plain(-1, -0.8f, 1, -0.7f, 0, 0, 1, 0, 1);
    glEndConditionalRender();
}
