/* Scenes with OpenGL 3.3, each of which uses one thing that hardware does around programs. Draws all of them, or those that are named, without a
 * window, and writes each picture as NAME.rgba: columns and rows as two little-endian 32-bit numbers, then rows of RGBA bytes from the bottom.
 *
 * build: cc -O1 scenes.c -lEGL -lOpenGL -lm -o scenes; run: ./scenes FOLDER [NAME...]
 */
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

/* Plain drawing. */

static void smooth(void) { program(PLAIN_VS, NULL, COLOUR_FS), draw(GL_TRIANGLES, TRIANGLE, 3); }

static void flat_last(void) {
    program("layout(location=0) in vec4 p; layout(location=1) in vec4 c; flat out vec4 v; void main() { gl_Position = p; v = c; }", NULL,
            "flat in vec4 v; out vec4 o; void main() { o = v; }");
    draw(GL_TRIANGLES, TRIANGLE, 3);
}

static void flat_first(void) { glProvokingVertex(GL_FIRST_VERTEX_CONVENTION), flat_last(); }

static void perspective_of(const char *how) {
    char vs[300], fs[200];
    snprintf(vs, sizeof vs, "layout(location=0) in vec4 p; layout(location=1) in vec4 c; %s out vec4 v; void main() { gl_Position = p; v = c; }", how);
    snprintf(fs, sizeof fs, "%s in vec4 v; out vec4 o; void main() { o = vec4(fract(v.xy * 8.0) * 0.5 + 0.25, v.x, 1); }", how);
    program(vs, NULL, fs);
    const float data[] = {-0.9f, -0.9f, 0, 1, 0, 0, 0, 1, 1.8f, -1.6f, 0, 2, 1, 0, 0, 1, -0.3f, 3.2f, 0, 4, 0, 1, 0, 1};
    draw(GL_TRIANGLES, data, 3);
}

static void perspective(void) { perspective_of("smooth"); }
static void no_perspective(void) { perspective_of("noperspective"); }

static void fragment_coordinates(void) {
    program(PLAIN_VS, NULL, "in vec4 v; out vec4 o; void main() { o = vec4(gl_FragCoord.xy / 200.0, gl_FragCoord.z, gl_FrontFacing ? 1.0 : 0.3); }");
    draw(GL_TRIANGLES, TRIANGLE, 3);
}

static void derivatives(void) {
    program(PLAIN_VS, NULL, "in vec4 v; out vec4 o; void main() { float f = v.x * v.x + v.y; o = vec4(abs(dFdx(f)), abs(dFdy(f)), fwidth(f), 0.02) * 40.0; }");
    quad_of(0, 0, 1, 2);
}

static void discards(void) {
    program(PLAIN_VS, NULL, "in vec4 v; out vec4 o; void main() { if (fract(v.x * 9.0) + fract(v.y * 7.0) < 0.7) discard; o = v; }");
    quad_of(0, 0, 1, 1);
}

/* Textures. */

static void textured(GLint mag, GLint wrap, float from, float to) {
    texture_2d(16, 16, mag, mag, wrap);
    program(PLAIN_VS, NULL, TEXTURE_FS);
    quad_of(from, from, to, to);
}

static void texture_nearest(void) { textured(GL_NEAREST, GL_REPEAT, 0, 1); }
static void texture_linear(void) { textured(GL_LINEAR, GL_CLAMP_TO_EDGE, -0.1f, 1.1f); }
static void texture_repeat(void) { textured(GL_LINEAR, GL_REPEAT, -0.7f, 2.3f); }
static void texture_mirror(void) { textured(GL_LINEAR, GL_MIRRORED_REPEAT, -1.6f, 2.3f); }
static void texture_border(void) {
    const float border[] = {1, 0.5f, 0, 1};
    texture_2d(16, 16, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_BORDER);
    glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, border);
    program(PLAIN_VS, NULL, TEXTURE_FS);
    quad_of(-0.4f, -0.4f, 1.4f, 1.4f);
}

static void floor_with(GLint min, float bias) {
    texture_2d(64, 64, GL_LINEAR, min, GL_REPEAT);
    glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_LOD_BIAS, bias);
    program(PLAIN_VS, NULL, TEXTURE_FS);
    floor_of(3);
}

static void mip_linear(void) { floor_with(GL_LINEAR_MIPMAP_LINEAR, 0); }
static void mip_nearest(void) { floor_with(GL_LINEAR_MIPMAP_NEAREST, 0); }
static void mip_bias(void) { floor_with(GL_LINEAR_MIPMAP_LINEAR, 1.5f); }

static void texture_functions(void) {
    texture_2d(32, 32, GL_LINEAR, GL_LINEAR_MIPMAP_LINEAR, GL_REPEAT);
    program(PLAIN_VS, NULL,
            "in vec4 v; uniform sampler2D t; out vec4 o; void main() { vec2 c = v.xy; float n = floor(v.x * 3.0) + 3.0 * floor(v.y * 3.0);"
            " if (n < 1.0) o = textureLod(t, c, 1.5); else if (n < 2.0) o = textureGrad(t, c, vec2(0.1, 0), vec2(0, 0.05));"
            " else if (n < 3.0) o = textureOffset(t, c, ivec2(2, -3)); else if (n < 4.0) o = texelFetch(t, ivec2(c * 16.0), 1);"
            " else if (n < 5.0) o = textureProj(t, vec3(c, 0.7)); else if (n < 6.0) o = vec4(textureSize(t, 2), 0, 8) / 8.0;"
            " else o = texture(t, c, n - 5.0); }");
    quad_of(0, 0, 1, 1);
}

static void cube_map(void) {
    GLuint t;
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_CUBE_MAP, t);
    uint8_t data[4 * 16 * 16];
    for (GLuint face = 0; face < 6; face++) {
        texels(data, 16, 16, face + 3);
        glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, data);
    }
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    program(PLAIN_VS, NULL,
            "in vec4 v; uniform samplerCube t; out vec4 o; void main() { vec2 p = v.xy * 2.0 - 1.0; float r = dot(p, p); if (r > 1.0) discard;"
            " vec3 n = vec3(p, sqrt(1.0 - r)); o = texture(t, reflect(vec3(0.1, 0.2, -1), n)); }");
    quad_of(0, 0, 1, 1);
}

static void layered(GLenum kind, const char *sampler, GLint filter) {
    GLuint t;
    glGenTextures(1, &t);
    glBindTexture(kind, t);
    uint8_t data[4][4 * 16 * 16];
    for (uint32_t n = 0; n < 4; n++) texels(data[n], 16, 16, n + 20);
    glTexImage3D(kind, 0, GL_RGBA8, 16, 16, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, data);
    glTexParameteri(kind, GL_TEXTURE_MIN_FILTER, filter);
    glTexParameteri(kind, GL_TEXTURE_MAG_FILTER, filter);
    char fs[300];
    const char *scale = kind == GL_TEXTURE_3D ? "1.0" : "4.0";
    snprintf(fs, sizeof fs, "in vec4 v; uniform %s t; out vec4 o; void main() { o = texture(t, vec3(v.xy * 1.5, v.x * %s)); }", sampler, scale);
    program(PLAIN_VS, NULL, fs);
    quad_of(0, 0, 1, 1);
}

static void texture_array(void) { layered(GL_TEXTURE_2D_ARRAY, "sampler2DArray", GL_LINEAR); }
static void texture_3d(void) { layered(GL_TEXTURE_3D, "sampler3D", GL_LINEAR); }
static void texture_3d_nearest(void) { layered(GL_TEXTURE_3D, "sampler3D", GL_NEAREST); }

static void texture_1d(void) {
    GLuint t;
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_1D, t);
    uint8_t data[4 * 32];
    texels(data, 32, 1, 9);
    glTexImage1D(GL_TEXTURE_1D, 0, GL_RGBA8, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, data);
    glTexParameteri(GL_TEXTURE_1D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    program(PLAIN_VS, NULL, "in vec4 v; uniform sampler1D t; out vec4 o; void main() { o = texture(t, v.x + 0.2 * v.y); }");
    quad_of(0, 0, 1.2f, 1);
}

static void texture_buffer(void) {
    GLuint t, b;
    float data[64 * 4];
    for (int n = 0; n < 256; n++) data[n] = (float)(hashed((uint32_t)n) & 255) / 255.0f;
    glGenBuffers(1, &b);
    glBindBuffer(GL_TEXTURE_BUFFER, b);
    glBufferData(GL_TEXTURE_BUFFER, sizeof data, data, GL_STATIC_DRAW);
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_BUFFER, t);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_RGBA32F, b);
    program(PLAIN_VS, NULL, "in vec4 v; uniform samplerBuffer t; out vec4 o; void main() { o = texelFetch(t, int(v.x * 8.0) + 8 * int(v.y * 8.0)); }");
    quad_of(0, 0, 1, 1);
}

static void shadow(void) {
    GLuint t;
    float data[16 * 16];
    for (int n = 0; n < 256; n++) data[n] = (float)(n % 16) / 16.0f * 0.5f + (float)(n / 16) / 40.0f;
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_2D, t);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT32F, 16, 16, 0, GL_DEPTH_COMPONENT, GL_FLOAT, data);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
    program(PLAIN_VS, NULL, "in vec4 v; uniform sampler2DShadow t; out vec4 o; void main() { o = vec4(v.xy, texture(t, vec3(v.xy, 0.37)), 1); }");
    quad_of(0, 0, 1, 1);
}

static void formats(void) {
    static const struct {
        GLint format;
        GLenum channels, type;
    } all[] = {
        {GL_RGB565, GL_RGB, GL_FLOAT}, {GL_RGBA4, GL_RGBA, GL_FLOAT}, {GL_RGB5_A1, GL_RGBA, GL_FLOAT}, {GL_RGB10_A2, GL_RGBA, GL_FLOAT},
        {GL_R11F_G11F_B10F, GL_RGB, GL_FLOAT}, {GL_RGB9_E5, GL_RGB, GL_FLOAT}, {GL_RGBA16F, GL_RGBA, GL_FLOAT}, {GL_RGBA16_SNORM, GL_RGBA, GL_FLOAT},
        {GL_R8, GL_RED, GL_FLOAT}, {GL_RG16, GL_RG, GL_FLOAT}, {GL_SRGB8_ALPHA8, GL_RGBA, GL_FLOAT}, {GL_RGBA8_SNORM, GL_RGBA, GL_FLOAT},
    };
    program(PLAIN_VS, NULL, TEXTURE_FS);
    float data[8 * 8 * 4];
    for (int n = 0; n < 256; n++) data[n] = (float)(hashed((uint32_t)n + 77) & 1023) / 1023.0f;
    for (int n = 0; n < 12; n++) {
        GLuint t;
        glGenTextures(1, &t);
        glBindTexture(GL_TEXTURE_2D, t);
        glTexImage2D(GL_TEXTURE_2D, 0, all[n].format, 8, 8, 0, all[n].channels, all[n].type, data);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        const float lo[] = {0, 0, 0, 1}, hi[] = {1, 1, 0, 1};
        const float x = -0.95f + 0.48f * (float)(n % 4), y = -0.9f + 0.62f * (float)(n / 4);
        rectangle(x, y, x + 0.4413f, y + 0.5571f, 0, lo, hi);
    }
}

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

/* The window. */

static void scissor(void) {
    glEnable(GL_SCISSOR_TEST), glScissor(37, 51, 101, 77);
    program(PLAIN_VS, NULL, COLOUR_FS), draw(GL_TRIANGLES, TRIANGLE, 3);
    glClearColor(1, 1, 0, 1), glScissor(10, 10, 20, 30), glClear(GL_COLOR_BUFFER_BIT);
}

static void viewport(void) {
    glViewport(31, -40, 133, 290);
    program(PLAIN_VS, NULL, COLOUR_FS), draw(GL_TRIANGLES, TRIANGLE, 3);
}

static void clipping(void) {
    program(PLAIN_VS, NULL, COLOUR_FS);
    const float data[] = {-2, -0.5f, -3, 0.5f, 1, 0, 0, 1, 3, -1, 0, 1, 0, 1, 0, 1, 0.2f, 2.5f, 1.5f, 1, 0, 0, 1, 1, 0, 0, 0, -1, 1, 1, 1, 1, -0.9f, 0.9f, 0, 1, 1, 0, 1, 1, -0.5f, 0.1f, 0, 1, 1, 1, 0, 1};
    draw(GL_TRIANGLES, data, 6);
}

static void clip_distances(void) {
    program("layout(location=0) in vec4 p; layout(location=1) in vec4 c; out vec4 v; out float gl_ClipDistance[2]; void main() { gl_Position = p; v = c; gl_ClipDistance[0] = p.x + 0.3; gl_ClipDistance[1] = 0.4 - p.y + 0.2 * p.x; }", NULL, COLOUR_FS);
    glEnable(GL_CLIP_DISTANCE0), glEnable(GL_CLIP_DISTANCE1);
    draw(GL_TRIANGLES, TRIANGLE, 3);
}

static void culling(void) {
    glEnable(GL_CULL_FACE), glFrontFace(GL_CW);
    program(PLAIN_VS, NULL, COLOUR_FS), draw(GL_TRIANGLES, TRIANGLE, 3);
    glCullFace(GL_FRONT);
    plain(-0.3f, -0.3f, 0.3f, 0.3f, 0, 1, 1, 1, 1);
}

static void primitives(void) {
    static const GLenum all[] = {GL_POINTS, GL_LINES, GL_LINE_STRIP, GL_LINE_LOOP, GL_TRIANGLES, GL_TRIANGLE_STRIP, GL_TRIANGLE_FAN};
    program(PLAIN_VS, NULL, COLOUR_FS);
    glPointSize(5);
    for (int n = 0; n < 7; n++) {
        float data[6 * 8];
        for (int k = 0; k < 6; k++) {
            const float turn = 6.2831853f * (float)k / 6 + 0.2f, x = -0.7f + 0.5f * (float)(n % 4), y = n < 4 ? -0.5f : 0.5f;
            const float v[] = {x + 0.22f * cosf(turn), y + 0.4f * sinf(turn), 0, 1, (float)(k & 1), (float)(k >> 1 & 1), (float)(k >> 2), 1};
            memcpy(data + 8 * k, v, sizeof v);
        }
        draw(all[n], data, 6);
    }
}

static void points(void) {
    glEnable(GL_PROGRAM_POINT_SIZE);
    program("layout(location=0) in vec4 p; layout(location=1) in vec4 c; out vec4 v; void main() { gl_Position = p; v = c; gl_PointSize = c.w; }", NULL,
            "in vec4 v; out vec4 o; void main() { o = vec4(gl_PointCoord, v.z, 1); }");
    const float data[] = {-0.5f, -0.5f, 0, 1, 0, 0, 1, 31, 0.5f, -0.3f, 0, 1, 0, 0, 0.5f, 12, 0.1f, 0.6f, 0, 1, 0, 0, 0, 50, -0.7f, 0.7f, 0, 1, 0, 0, 1, 1};
    draw(GL_POINTS, data, 4);
}

static void restart(void) {
    program(PLAIN_VS, NULL, COLOUR_FS);
    float data[10 * 8];
    for (int k = 0; k < 10; k++) {
        const float v[] = {-0.9f + 0.2f * (float)k, k % 2 ? 0.6f : -0.6f, 0, 1, (float)k / 10, 1 - (float)k / 10, 0.5f, 1};
        memcpy(data + 8 * k, v, sizeof v);
    }
    vertices(data, 10);
    static const uint16_t indices[] = {0, 1, 2, 3, 65535, 4, 5, 6, 65535, 7, 8, 9};
    GLuint b;
    glGenBuffers(1, &b);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, b);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof indices, indices, GL_STATIC_DRAW);
    glEnable(GL_PRIMITIVE_RESTART), glPrimitiveRestartIndex(65535);
    glDrawElements(GL_TRIANGLE_STRIP, 12, GL_UNSIGNED_SHORT, NULL);
}

static void indexed(void) {
    program(PLAIN_VS, NULL, COLOUR_FS);
    float data[12 * 8];
    for (int k = 0; k < 12; k++) {
        const float v[] = {-0.8f + 0.5f * (float)(k % 4), -0.7f + 0.7f * (float)(k / 4), 0, 1, (float)(k % 4) / 3, (float)(k / 4) / 2, 0.4f, 1};
        memcpy(data + 8 * k, v, sizeof v);
    }
    vertices(data, 12);
    static const uint8_t bytes[] = {0, 1, 4};
    static const uint32_t wide[] = {1, 2, 6, 5, 6, 9};
    GLuint b[2];
    glGenBuffers(2, b);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, b[0]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof bytes, bytes, GL_STATIC_DRAW);
    glDrawElements(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, NULL), glDrawElementsBaseVertex(GL_TRIANGLES, 3, GL_UNSIGNED_BYTE, NULL, 6);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, b[1]);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, sizeof wide, wide, GL_STATIC_DRAW);
    glDrawElements(GL_TRIANGLES, 6, GL_UNSIGNED_INT, NULL);
}

static void instanced(void) {
    program("layout(location=0) in vec4 p; layout(location=1) in vec4 c; layout(location=2) in vec4 i; out vec4 v; void main() { gl_Position = vec4(p.xy * 0.2 + i.xy, 0, 1); v = c * 0.5 + vec4(i.zw, float(gl_InstanceID) / 9.0, 0.5); }", NULL, COLOUR_FS);
    float of[9 * 4];
    for (int n = 0; n < 9; n++) of[4 * n] = -0.65f + 0.65f * (float)(n % 3), of[4 * n + 1] = -0.65f + 0.65f * (float)(n / 3), of[4 * n + 2] = (float)(n % 3) / 5, of[4 * n + 3] = (float)(n / 3) / 5;
    vertices(TRIANGLE, 3);
    GLuint b;
    glGenBuffers(1, &b);
    glBindBuffer(GL_ARRAY_BUFFER, b);
    glBufferData(GL_ARRAY_BUFFER, sizeof of, of, GL_STATIC_DRAW);
    glEnableVertexAttribArray(2);
    glVertexAttribPointer(2, 4, GL_FLOAT, GL_FALSE, 16, NULL), glVertexAttribDivisor(2, 1);
    glDrawArraysInstanced(GL_TRIANGLES, 0, 3, 9);
}

static void attributes(void) {
    program("layout(location=0) in vec2 p; layout(location=1) in vec4 c; layout(location=2) in ivec2 k; out vec4 v; void main() { gl_Position = vec4(p, 0, 1); v = c * float(k.x) / 100.0 + vec4(0, 0, float(k.y) / 300.0, 1); }", NULL, COLOUR_FS);
    struct { int16_t p[2]; uint8_t c[4]; int8_t k[2]; uint8_t pad[2]; } data[3] = {{{-26000, -20000}, {255, 0, 60, 255}, {100, -100}, {0}}, {{29000, -9000}, {0, 255, 90, 255}, {50, 20}, {0}}, {{1000, 28000}, {90, 60, 255, 255}, {80, 127}, {0}}};
    GLuint b;
    glGenBuffers(1, &b);
    glBindBuffer(GL_ARRAY_BUFFER, b);
    glBufferData(GL_ARRAY_BUFFER, sizeof data, data, GL_STATIC_DRAW);
    for (GLuint n = 0; n < 3; n++) glEnableVertexAttribArray(n);
    glVertexAttribPointer(0, 2, GL_SHORT, GL_TRUE, 12, NULL), glVertexAttribPointer(1, 4, GL_UNSIGNED_BYTE, GL_TRUE, 12, (const void *)4);
    glVertexAttribIPointer(2, 2, GL_BYTE, 12, (const void *)8);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

static void polygon_modes(void) {
    program(PLAIN_VS, NULL, COLOUR_FS);
    glPolygonMode(GL_FRONT_AND_BACK, GL_LINE), draw(GL_TRIANGLES, TRIANGLE, 3);
    glPolygonMode(GL_FRONT_AND_BACK, GL_POINT), glPointSize(9), plain(-0.6f, -0.6f, 0.6f, 0.6f, 0, 1, 1, 1, 1);
}

/* Lit bodies. */

static void sphere(const char *vs, const char *fs) {
    enum { RINGS = 16, PARTS = 24 };
    static float data[RINGS * PARTS * 6 * 8];
    size_t count = 0;
    for (int ring = 0; ring < RINGS; ring++)
        for (int part = 0; part < PARTS; part++)
            for (int corner = 0; corner < 6; corner++) {
                static const int to[6][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 0}, {1, 1}, {0, 1}};
                const float a = 3.14159265f * (float)(ring + to[corner][0]) / RINGS, b = 6.2831853f * (float)(part + to[corner][1]) / PARTS;
                const float n[] = {sinf(a) * cosf(b), cosf(a), sinf(a) * sinf(b)};
                const float v[] = {n[0] * 0.85f, n[1] * 0.85f, n[2] * 0.85f, 1, n[0], n[1], n[2], 0};
                memcpy(data + 8 * count++, v, sizeof v);
            }
    glEnable(GL_DEPTH_TEST);
    program(vs, NULL, fs);
    glUniform3f(uniform("light"), 0.5f, 0.6f, -0.62f);
    draw(GL_TRIANGLES, data, count);
}

static void lit_vertices(void) {
    sphere("layout(location=0) in vec4 p; layout(location=1) in vec4 n; uniform vec3 light; out vec4 v; void main() { gl_Position = p; v = vec4(vec3(0.1, 0.15, 0.2) + vec3(0.9, 0.6, 0.3) * max(dot(n.xyz, light), 0.0), 1); }", COLOUR_FS);
}

#define PIXEL_LIT "layout(location=0) in vec4 p; layout(location=1) in vec4 n; out vec3 m; out float z; void main() { gl_Position = vec4(p.xyz, 1.0 + 0.3 * p.z); m = n.xyz; z = p.z; }"

static void lit_pixels(void) {
    sphere(PIXEL_LIT, "in vec3 m; uniform vec3 light; out vec4 o; void main() { vec3 n = normalize(m); float d = max(dot(n, light), 0.0); float s = pow(max(reflect(-light, n).z * -1.0, 0.0), 20.0); o = vec4(vec3(0.1, 0.15, 0.2) + vec3(0.3, 0.6, 0.9) * d + s, 1); }");
}

static void fogged(void) {
    sphere(PIXEL_LIT, "in vec3 m; in float z; uniform vec3 light; out vec4 o; void main() { float d = max(dot(normalize(m), light), 0.0); float f = exp2(-2.0 * (z + 1.0) * (z + 1.0)); o = mix(vec4(0.7, 0.8, 0.9, 1), vec4(d, d * 0.5, 0.2, 1), clamp(f, 0.0, 1.0)); }");
}

static void uniform_block(void) {
    program(PLAIN_VS, NULL, "in vec4 v; layout(std140) uniform B { vec4 c[16]; int n; }; out vec4 o; void main() { vec4 s = vec4(0); for (int i = 0; i < n; i++) s += c[(i + int(v.x * 16.0)) & 15] * 0.3; o = s; }");
    float data[16 * 4 + 4];
    for (int n = 0; n < 64; n++) data[n] = (float)(hashed((uint32_t)n + 5) & 255) / 255.0f;
    const int32_t n = 3;
    memcpy(data + 64, &n, 4);
    GLuint b;
    glGenBuffers(1, &b);
    glBindBufferBase(GL_UNIFORM_BUFFER, 0, b);
    glBufferData(GL_UNIFORM_BUFFER, sizeof data, data, GL_STATIC_DRAW);
    quad_of(0, 0, 1, 1);
}

static void integers(void) {
    program(PLAIN_VS, NULL, "in vec4 v; out vec4 o; void main() { uint x = uint(v.x * 64.0), y = uint(v.y * 64.0), h = x * 2654435761u ^ y << 7; h ^= h >> 13; int q = int(h) / 7 % 256; o = vec4(float(h & 255u), float(h >> 8 & 255u), float(abs(q)), 255) / 255.0; }");
    quad_of(0, 0, 1, 1);
}

/* Geometry programs and stream output. */

static void geometry_points(void) {
    program(PLAIN_VS, "layout(points) in; layout(triangle_strip, max_vertices=4) out; in vec4 v[]; out vec4 w; void main() { for (int n = 0; n < 4; n++) { gl_Position = gl_in[0].gl_Position + vec4((n & 1) * 0.3 - 0.15, (n >> 1) * 0.2 - 0.1, 0, 0); w = v[0] * (float(n) * 0.2 + 0.4); EmitVertex(); } EndPrimitive(); }",
            "in vec4 w; out vec4 o; void main() { o = w; }");
    draw(GL_POINTS, TRIANGLE, 3);
}

static void geometry_adjacency(void) {
    program(PLAIN_VS, "layout(triangles_adjacency) in; layout(line_strip, max_vertices=12) out; in vec4 v[]; out vec4 w; void main() { for (int n = 0; n < 6; n += 2) { gl_Position = gl_in[n].gl_Position; w = v[n]; EmitVertex(); gl_Position = gl_in[n + 1].gl_Position; w = v[n + 1]; EmitVertex(); EndPrimitive(); } }",
            "in vec4 w; out vec4 o; void main() { o = w; }");
    float data[6 * 8];
    for (int k = 0; k < 6; k++) {
        const float turn = 6.2831853f * (float)k / 6, r = k % 2 ? 0.9f : 0.4f;
        const float v[] = {r * cosf(turn), r * sinf(turn), 0, 1, (float)(k & 1), (float)(k >> 1 & 1), (float)(k >> 2), 1};
        memcpy(data + 8 * k, v, sizeof v);
    }
    draw(GL_TRIANGLES_ADJACENCY, data, 6);
}

static void geometry_primitive_id(void) {
    program(PLAIN_VS, "layout(triangles) in; layout(triangle_strip, max_vertices=6) out; in vec4 v[]; flat out int id; void main() { for (int m = 0; m < 2; m++) { for (int n = 0; n < 3; n++) { gl_Position = vec4(gl_in[n].gl_Position.xy * (1.0 - 0.5 * m), 0, 1); id = gl_PrimitiveIDIn * 2 + m; EmitVertex(); } EndPrimitive(); } }",
            "flat in int id; out vec4 o; void main() { o = vec4(float(id & 1), float(id >> 1 & 1), 0.5, 1); }");
    const float data[] = {-0.9f, -0.9f, 0, 1, 0, 0, 0, 1, 0, -0.9f, 0, 1, 0, 0, 0, 1, -0.5f, 0.2f, 0, 1, 0, 0, 0, 1, 0.1f, 0.1f, 0, 1, 0, 0, 0, 1, 0.9f, 0.2f, 0, 1, 0, 0, 0, 1, 0.4f, 0.9f, 0, 1, 0, 0, 0, 1};
    draw(GL_TRIANGLES, data, 6);
}

static void feedback(void) {
    FEEDBACK = "gl_Position";
    program("layout(location=0) in vec4 p; layout(location=1) in vec4 c; out vec4 v; void main() { gl_Position = vec4(p.y, -p.x, 0, 1) * vec4(0.8, 0.6, 1, 1); v = c; }", NULL, COLOUR_FS);
    GLuint b;
    glGenBuffers(1, &b);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, b);
    glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 3 * 16, NULL, GL_STATIC_DRAW);
    vertices(TRIANGLE, 3);
    glBeginTransformFeedback(GL_TRIANGLES), glDrawArrays(GL_TRIANGLES, 0, 3), glEndTransformFeedback();
    program("layout(location=0) in vec4 p; void main() { gl_Position = vec4(-p.xy, 0, 1); }", NULL, "out vec4 o; void main() { o = vec4(1, 0.8, 0.1, 1); }");
    glDisableVertexAttribArray(1);
    glBindBuffer(GL_ARRAY_BUFFER, b);
    glVertexAttribPointer(0, 4, GL_FLOAT, GL_FALSE, 16, NULL);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

/* Numbers that lie apart in registers and side by side in the buffer. */
static void feedback_numbers(void) {
    static const char *const names[] = {"a", "b", "c"};
    const GLuint p = glCreateProgram();
    glAttachShader(p, stage(GL_VERTEX_SHADER, "layout(location=0) in vec4 p; layout(location=1) in vec4 k; out float a; out float b; out float c; void main() { gl_Position = p; a = p.x * 0.9; b = -p.y; c = k.x + 0.5; }"));
    glTransformFeedbackVaryings(p, 3, names, GL_INTERLEAVED_ATTRIBS);
    glLinkProgram(p), glUseProgram(p);
    GLuint b;
    glGenBuffers(1, &b);
    glBindBufferBase(GL_TRANSFORM_FEEDBACK_BUFFER, 0, b);
    glBufferData(GL_TRANSFORM_FEEDBACK_BUFFER, 3 * 12, NULL, GL_STATIC_DRAW);
    vertices(TRIANGLE, 3);
    glEnable(GL_RASTERIZER_DISCARD);
    glBeginTransformFeedback(GL_POINTS), glDrawArrays(GL_POINTS, 0, 3), glEndTransformFeedback();
    glDisable(GL_RASTERIZER_DISCARD);
    program("layout(location=0) in vec3 p; out vec4 v; void main() { gl_Position = vec4(p.xy, 0, 1); v = vec4(p.z * 0.6, 0.7, 1.0 - p.z * 0.5, 1); }", NULL, COLOUR_FS);
    glDisableVertexAttribArray(1);
    glBindBuffer(GL_ARRAY_BUFFER, b);
    glVertexAttribPointer(0, 3, GL_FLOAT, GL_FALSE, 12, NULL);
    glDrawArrays(GL_TRIANGLES, 0, 3);
}

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
