/* What the scenes draw with: programs, vertices, textures and targets. */
#pragma once

#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

enum { SIDE = 200 };

static const char *HEAD = "#version 330\n";
static const char *PLAIN_VS = "layout(location=0) in vec4 p; layout(location=1) in vec4 c; out vec4 v; void main() { gl_Position = p; v = c; }";
static const char *COLOUR_FS = "in vec4 v; out vec4 o; void main() { o = v; }";
static const char *TEXTURE_FS = "in vec4 v; uniform sampler2D t; out vec4 o; void main() { o = texture(t, v.xy); }";

static GLuint stage(GLenum kind, const char *source) {
    const GLuint shader = glCreateShader(kind);
    const char *parts[] = {HEAD, source};
    glShaderSource(shader, 2, parts, NULL);
    glCompileShader(shader);
    GLint ok = 0;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (!ok) {
        char log[2000];
        glGetShaderInfoLog(shader, sizeof log, NULL, log);
        FAIL("%s\n%s", source, log);
    }
    return shader;
}

static const char *FEEDBACK;

static GLuint program(const char *vertex, const char *geometry, const char *fragment) {
    const GLuint p = glCreateProgram();
    glAttachShader(p, stage(GL_VERTEX_SHADER, vertex));
    if (geometry) glAttachShader(p, stage(GL_GEOMETRY_SHADER, geometry));
    if (fragment) glAttachShader(p, stage(GL_FRAGMENT_SHADER, fragment));
    if (FEEDBACK) glTransformFeedbackVaryings(p, 1, &FEEDBACK, GL_INTERLEAVED_ATTRIBS);
    FEEDBACK = NULL;
    glLinkProgram(p);
    GLint ok = 0;
    glGetProgramiv(p, GL_LINK_STATUS, &ok);
    if (!ok) {
        char log[2000];
        glGetProgramInfoLog(p, sizeof log, NULL, log);
        FAIL("%s", log);
    }
    glUseProgram(p);
    return p;
}

static GLint uniform(const char *name) {
    GLint p = 0;
    glGetIntegerv(GL_CURRENT_PROGRAM, &p);
    return glGetUniformLocation((GLuint)p, name);
}

/* Vertices of position and colour (or whatever else), four floats each. */
static void vertices(const float *data, size_t count) {
    GLuint buffer;
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, (GLsizeiptr)(count * 8 * sizeof(float)), data, GL_STATIC_DRAW);
    for (GLuint n = 0; n < 2; n++) {
        glEnableVertexAttribArray(n);
        glVertexAttribPointer(n, 4, GL_FLOAT, GL_FALSE, 32, (const void *)(uintptr_t)(16 * n));
    }
}

static void draw(GLenum mode, const float *data, size_t count) {
    vertices(data, count);
    glDrawArrays(mode, 0, (GLsizei)count);
}

static const float TRIANGLE[] = {-0.8f, -0.7f, 0, 1, 1, 0, 0, 1, 0.9f, -0.5f, 0, 1, 0, 1, 0, 1, -0.1f, 0.85f, 0, 1, 0, 0, 1, 1};

/* A rectangle as a strip, with a second attribute from one corner to the other. */
static void rectangle(float x0, float y0, float x1, float y1, float z, const float *lo, const float *hi) {
    const float data[] = {
        x0, y0, z, 1, lo[0], lo[1], lo[2], lo[3], x1, y0, z, 1, hi[0], lo[1], lo[2], lo[3],
        x0, y1, z, 1, lo[0], hi[1], hi[2], hi[3], x1, y1, z, 1, hi[0], hi[1], hi[2], hi[3],
    };
    draw(GL_TRIANGLE_STRIP, data, 4);
}

static void plain(float x0, float y0, float x1, float y1, float z, float r, float g, float b, float a) {
    const float colour[] = {r, g, b, a};
    rectangle(x0, y0, x1, y1, z, colour, colour);
}

static void quad_of(float s0, float t0, float s1, float t1) {
    /* Not in step with pixels, so that no pixel's centre lies between two texels. */
    const float lo[] = {s0, t0, 0, 1}, hi[] = {s1, t1, 0, 1};
    rectangle(-0.9013f, -0.8971f, 0.9037f, 0.8917f, 0, lo, hi);
}

/* A floor that goes away from the viewer. */
static void floor_of(float repeats) {
    const float data[] = {
        -1, -1, 0, 1, 0, 0, 0, 1, 1, -1, 0, 1, repeats, 0, 0, 1, -8, 4, 0, 8, 0, repeats * 4, 0, 1, 8, 4, 0, 8, repeats, repeats * 4, 0, 1,
    };
    draw(GL_TRIANGLE_STRIP, data, 4);
}

static uint32_t hashed(uint32_t x) {
    x ^= x >> 16, x *= 0x7feb352du, x ^= x >> 15, x *= 0x846ca68bu, x ^= x >> 16;
    return x;
}

static void texels(uint8_t *to, int columns, int rows, uint32_t seed) {
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) {
            const int checker = (x / 4 + y / 4) % 2;
            const uint32_t h = hashed(seed * 7919u + (uint32_t)(y / 4 * 64 + x / 4));
            uint8_t *t = to + 4 * (y * columns + x);
            t[0] = (uint8_t)(checker ? 230 : h & 127), t[1] = (uint8_t)(h >> 8 & 255), t[2] = (uint8_t)(255 * x / columns);
            t[3] = (uint8_t)(128 + 127 * y / rows);
        }
}

static GLuint texture_2d(int columns, int rows, GLint mag, GLint min, GLint wrap) {
    GLuint t;
    uint8_t *data = malloc((size_t)(4 * columns * rows));
    texels(data, columns, rows, 1);
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_2D, t);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, columns, rows, 0, GL_RGBA, GL_UNSIGNED_BYTE, data);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, mag);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, min);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, wrap);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, wrap);
    glGenerateMipmap(GL_TEXTURE_2D);
    free(data);
    return t;
}

/* A target with depth and stencil. */
struct target {
    GLuint frame, colour, depth;
    int samples;
};

static struct target target(GLenum format, int samples) {
    struct target t = {.samples = samples};
    glGenFramebuffers(1, &t.frame);
    glBindFramebuffer(GL_FRAMEBUFFER, t.frame);
    glGenRenderbuffers(1, &t.depth);
    glBindRenderbuffer(GL_RENDERBUFFER, t.depth);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, GL_DEPTH24_STENCIL8, SIDE, SIDE);
    if (samples) {
        glGenRenderbuffers(1, &t.colour);
        glBindRenderbuffer(GL_RENDERBUFFER, t.colour);
        glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, format, SIDE, SIDE);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, t.colour);
    } else {
        glGenTextures(1, &t.colour);
        glBindTexture(GL_TEXTURE_2D, t.colour);
        const int integer = format == GL_RGBA8UI || format == GL_RGBA16I;
        glTexImage2D(GL_TEXTURE_2D, 0, (GLint)format, SIDE, SIDE, 0, integer ? GL_RGBA_INTEGER : GL_RGBA, integer ? GL_INT : GL_FLOAT, NULL);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, t.colour, 0);
    }
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_STENCIL_ATTACHMENT, GL_RENDERBUFFER, t.depth);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) FAIL("no such target");
    glViewport(0, 0, SIDE, SIDE);
    glClearColor(0.1f, 0.2f, 0.3f, 1);
    if (!(format == GL_RGBA8UI || format == GL_RGBA16I)) glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    return t;
}

static struct target MAIN;

static void back_to_main(void) {
    glBindFramebuffer(GL_FRAMEBUFFER, MAIN.frame);
    glViewport(0, 0, SIDE, SIDE);
}

static void resolve(const struct target *from) {
    glBindFramebuffer(GL_READ_FRAMEBUFFER, from->frame);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, MAIN.frame);
    glBlitFramebuffer(0, 0, SIDE, SIDE, 0, 0, SIDE, SIDE, GL_COLOR_BUFFER_BIT, GL_NEAREST);
    back_to_main();
}
