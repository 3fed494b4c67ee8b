/* The scenes of crates/ctm-draw/examples/speed.rs with OpenGL: prints `NAME MILLISECONDS PROCESSOR-MILLISECONDS`, medians.
 *
 * build: cc -O2 scenes.c -lEGL -lOpenGL -o scenes; run: LP_NUM_THREADS=2 ./scenes 10
 */
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

enum { SIDE = 1024 };

static double seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static GLuint program(const char *fragment) {
    static const char *vertex = "#version 130\nin vec2 at; uniform float scale; out vec2 st;\n"
                                "void main() { gl_Position = vec4(at * scale, 0, 1); st = at * scale * 0.5 + 0.5; }";
    const char *texts[2] = {vertex, fragment};
    GLuint p = glCreateProgram();
    GLint good, n;
    for (n = 0; n < 2; n++) {
        GLuint s = glCreateShader(n ? GL_FRAGMENT_SHADER : GL_VERTEX_SHADER);
        glShaderSource(s, 1, &texts[n], 0);
        glCompileShader(s);
        glAttachShader(p, s);
    }
    glBindAttribLocation(p, 0, "at");
    glLinkProgram(p);
    glGetProgramiv(p, GL_LINK_STATUS, &good);
    if (!good) FAIL("a program does not link");
    return p;
}

static GLsizei grid(int columns, int rows) {
    float *at = malloc(sizeof(float) * 2 * (size_t)(columns + 1) * (size_t)(rows + 1)), *p = at;
    GLuint *order = malloc(sizeof(GLuint) * 6 * (size_t)columns * (size_t)rows), *o = order;
    int x, y;
    if (!at || !order) FAIL("no memory");
    for (y = 0; y <= rows; y++)
        for (x = 0; x <= columns; x++) *p++ = 2.0f * (float)x / (float)columns - 1.0f, *p++ = 2.0f * (float)y / (float)rows - 1.0f;
    for (y = 0; y < rows; y++)
        for (x = 0; x < columns; x++) {
            GLuint first = (GLuint)(y * (columns + 1) + x), above = first + (GLuint)columns + 1;
            *o++ = first, *o++ = first + 1, *o++ = above + 1, *o++ = first, *o++ = above + 1, *o++ = above;
        }
    glBufferData(GL_ARRAY_BUFFER, (p - at) * (GLsizeiptr)sizeof(float), at, GL_STATIC_DRAW);
    glBufferData(GL_ELEMENT_ARRAY_BUFFER, (o - order) * (GLsizeiptr)sizeof(GLuint), order, GL_STATIC_DRAW);
    free(at);
    free(order);
    return (GLsizei)(o - order);
}

int main(int argc, char **argv) {
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    static const char *names[] = {"one_triangle", "million_triangles", "million_bilinear_pixels", "overdraw_10", "heavy_pixels", "blended_10"};
    static const int squares[][2] = {{1, 1}, {1000, 500}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
    static unsigned char texels[256 * 256 * 4];
    const int runs = argc > 1 ? atoi(argv[1]) : 10;
    char heavy[8192] = "#version 130\nin vec2 st; out vec4 c; void main() { float x = st.x, y = st.y;\n";
    PFNEGLGETPLATFORMDISPLAYEXTPROC get = (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    EGLDisplay display = get ? get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, 0) : EGL_NO_DISPLAY;
    EGLConfig config;
    EGLContext context;
    EGLint count = 0;
    GLuint frame, buffers[2], textures[2], programs[6];
    int n, k;
    if (!eglInitialize(display, 0, 0)) FAIL("EGL has no display without a surface");
    eglBindAPI(EGL_OPENGL_API);
    if (!eglChooseConfig(display, wanted, &config, 1, &count) || !count) FAIL("EGL has no configuration for OpenGL");
    context = eglCreateContext(display, config, EGL_NO_CONTEXT, 0);
    if (!context || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) FAIL("EGL makes no context");
    fprintf(stderr, "%s, %s\n", (const char *)glGetString(GL_RENDERER), (const char *)glGetString(GL_VERSION));
    for (n = 0; n < 28; n++) strcat(heavy, "x = fract(x * 1.7 + y); y = fract(y * x + 0.3);\n");
    strcat(heavy, "c = vec4(x, y, x, y); }");
    programs[0] = programs[1] = programs[3] = programs[5] = program("#version 130\nin vec2 st; out vec4 c; void main() { c = vec4(st, 0.5, 1.0); }");
    programs[2] = program("#version 130\nin vec2 st; uniform sampler2D t; out vec4 c; void main() { c = texture(t, st); }");
    programs[4] = program(heavy);
    for (n = 0; n < 256 * 256; n++) texels[4 * n] = (unsigned char)n, texels[4 * n + 1] = (unsigned char)(n / 256), texels[4 * n + 2] = 128, texels[4 * n + 3] = 255;
    glGenTextures(2, textures);
    for (n = 0; n < 2; n++) {
        glBindTexture(GL_TEXTURE_2D, textures[n]);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
        if (n) glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, 256, 256, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        else glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, SIDE, SIDE, 0, GL_RGBA, GL_UNSIGNED_BYTE, 0);
    }
    glGenFramebuffers(1, &frame);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[0], 0);
    glViewport(0, 0, SIDE, SIDE);
    glGenBuffers(2, buffers);
    glBindBuffer(GL_ARRAY_BUFFER, buffers[0]);
    glBindBuffer(GL_ELEMENT_ARRAY_BUFFER, buffers[1]);
    glEnableVertexAttribArray(0);
    glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
    for (n = 0; n < 6; n++) {
        const int many = n == 0 ? 1000 * runs : runs, over = n == 3 || n == 5 ? 10 : 1;
        double *times = malloc(sizeof(double) * (size_t)many), busy = 0;
        GLsizei indices = grid(squares[n][0], squares[n][1]);
        if (!times) FAIL("no memory");
        glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, 0);
        if (n == 5) glEnable(GL_BLEND);
        glUseProgram(programs[n]);
        glUniform1f(glGetUniformLocation(programs[n], "scale"), n == 0 ? 1.0f / 64.0f : 1.0f);
        if (n == 0) indices = 3;
        for (k = -1; k < many; k++) {
            const double start = seconds(CLOCK_MONOTONIC);
            int turn;
            if (k == 0) busy = seconds(CLOCK_PROCESS_CPUTIME_ID);
            for (turn = 0; turn < over; turn++) glDrawElements(GL_TRIANGLES, indices, GL_UNSIGNED_INT, 0);
            glFinish();
            if (k >= 0) times[k] = (seconds(CLOCK_MONOTONIC) - start) * 1e3;
        }
        busy = (seconds(CLOCK_PROCESS_CPUTIME_ID) - busy) * 1e3 / many;
        qsort(times, (size_t)many, sizeof *times, by_size);
        printf("%s %.4f %.4f\n", names[n], times[many / 2], busy);
        free(times);
    }
    if (glGetError()) FAIL("OpenGL reports an error");
    fflush(stdout);
    _Exit(0);
}
