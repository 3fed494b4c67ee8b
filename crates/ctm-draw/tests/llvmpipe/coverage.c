/* Which samples OpenGL covers: reads shapes, draws each by itself, and writes what it covered.
 *
 * Standard input: one line `KIND SAMPLES COUNT WIDTH PATTERN REPEAT` (KIND 3 triangles, 2 lines, 1 points; WIDTH of lines and size of points, in pixels;
 * PATTERN of stippled lines, 0: none, and pixels of its steps), then for each shape KIND pairs of positions in 1/256 pixel of a cell of 64 x 64, y upwards. Standard output: for each sample its place in a pixel as two numbers of 1/16, as text in the first line; then
 * for each shape 64 rows of 64 bytes, y upwards: bit n = sample n.
 *
 * build: cc coverage.c -lEGL -lOpenGL
 */
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

/* Shapes that reach out of their cells stay within the viewport, so that they are not cut. */
enum { VIEW = 1024, CELL = 64, SIDE = 32, CELLS = SIDE * SIDE, PIXELS = CELL * SIDE };

static GLuint shader(GLenum kind, const char *text) {
    GLuint s = glCreateShader(kind);
    GLint good;
    glShaderSource(s, 1, &text, 0);
    glCompileShader(s);
    glGetShaderiv(s, GL_COMPILE_STATUS, &good);
    if (!good) FAIL("a shader does not compile");
    return s;
}

static GLuint program(const char *vertex, const char *fragment) {
    GLuint p = glCreateProgram();
    GLint good;
    glAttachShader(p, shader(GL_VERTEX_SHADER, vertex));
    glAttachShader(p, shader(GL_FRAGMENT_SHADER, fragment));
    glBindAttribLocation(p, 0, "at");
    glLinkProgram(p);
    glGetProgramiv(p, GL_LINK_STATUS, &good);
    if (!good) FAIL("a program does not link");
    return p;
}

static void context(void) {
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLConfig config;
    EGLint count = 0;
    EGLDisplay display;
    EGLContext c;
    PFNEGLGETPLATFORMDISPLAYEXTPROC get = (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
    if (!get) FAIL("EGL has no platform displays");
    display = get(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, 0);
    if (!eglInitialize(display, 0, 0)) FAIL("EGL has no display without a surface");
    eglBindAPI(EGL_OPENGL_API);
    if (!eglChooseConfig(display, wanted, &config, 1, &count) || !count) FAIL("EGL has no configuration for OpenGL");
    c = eglCreateContext(display, config, EGL_NO_CONTEXT, 0);
    if (!c || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, c)) FAIL("EGL makes no context for OpenGL");
}

int main(void) {
    int kind, samples, count, width, pattern, repeat, n, k, cell;
    GLuint frames[2], textures[2], white, copy, vertices;
    GLenum target;
    unsigned char *held = malloc(PIXELS * PIXELS), *all = malloc(PIXELS * PIXELS);
    if (!held || !all || scanf("%d %d %d %d %d %d", &kind, &samples, &count, &width, &pattern, &repeat) != 6 || kind < 1 || kind > 3) FAIL("bad input");
    context();
    if (!strstr((const char *)glGetString(GL_RENDERER), "llvmpipe")) FAIL("the renderer is not llvmpipe");
    target = samples > 1 ? GL_TEXTURE_2D_MULTISAMPLE : GL_TEXTURE_2D;
    glGenFramebuffers(2, frames);
    glGenTextures(2, textures);
    glBindTexture(target, textures[0]);
    if (samples > 1) glTexImage2DMultisample(target, samples, GL_R8, PIXELS, PIXELS, GL_TRUE);
    else {
        glTexParameteri(target, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexImage2D(target, 0, GL_R8, PIXELS, PIXELS, 0, GL_RED, GL_UNSIGNED_BYTE, 0);
    }
    glBindFramebuffer(GL_FRAMEBUFFER, frames[0]);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, target, textures[0], 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) FAIL("no frame buffer of %d samples", samples);
    for (k = 0; k < samples; k++) {
        GLfloat at[2] = {0.5f, 0.5f};
        if (samples > 1) glGetMultisamplefv(GL_SAMPLE_POSITION, (GLuint)k, at);
        printf("%d %d ", (int)(at[0] * 16.0f) - 8, (int)(at[1] * 16.0f) - 8);
    }
    printf("\n");
    glBindTexture(GL_TEXTURE_2D, textures[1]);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_R8, PIXELS, PIXELS, 0, GL_RED, GL_UNSIGNED_BYTE, 0);
    glBindFramebuffer(GL_FRAMEBUFFER, frames[1]);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, textures[1], 0);
    white = program("#version 130\nin vec2 at; void main() { gl_Position = vec4(at, 0, 1); }",
                    "#version 130\nout vec4 c; void main() { c = vec4(1); }");
    copy = program("#version 130\nin vec2 at; void main() { gl_Position = vec4(at, 0, 1); }",
                   samples > 1 ? "#version 130\n#extension GL_ARB_texture_multisample : require\n"
                                 "uniform sampler2DMS t; uniform int k; out vec4 c; void main() { c = texelFetch(t, ivec2(gl_FragCoord.xy), k); }"
                               : "#version 130\nuniform sampler2D t; uniform int k; out vec4 c; void main() { c = texelFetch(t, ivec2(gl_FragCoord.xy), 0); }");
    glGenBuffers(1, &vertices);
    glBindBuffer(GL_ARRAY_BUFFER, vertices);
    glEnableVertexAttribArray(0);
    glPixelStorei(GL_PACK_ALIGNMENT, 1);
    glPointSize((float)width);
    glLineStipple(repeat, (GLushort)pattern);
    for (n = 0; n < count; n += CELLS) {
        int here = count - n < CELLS ? count - n : CELLS;
        glBindFramebuffer(GL_FRAMEBUFFER, frames[0]);
        glDisable(GL_SCISSOR_TEST);
        glClear(GL_COLOR_BUFFER_BIT);
        glEnable(GL_SCISSOR_TEST);
        glUseProgram(white);
        glLineWidth((float)width);
        if (pattern) glEnable(GL_LINE_STIPPLE);
        glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, 0);
        for (cell = 0; cell < here; cell++) {
            float at[6];
            int left = cell % SIDE * CELL, low = cell / SIDE * CELL;
            for (k = 0; k < 2 * kind; k++) {
                int value;
                if (scanf("%d", &value) != 1) FAIL("bad input");
                at[k] = ((float)value / 256.0f - CELL / 2) / (VIEW / 2);
            }
            glViewport(left + (CELL - VIEW) / 2, low + (CELL - VIEW) / 2, VIEW, VIEW);
            glScissor(left, low, CELL, CELL);
            glBufferData(GL_ARRAY_BUFFER, 2 * kind * (GLsizei)sizeof(float), at, GL_STREAM_DRAW);
            glDrawArrays(kind == 3 ? GL_TRIANGLES : kind == 2 ? GL_LINES : GL_POINTS, 0, kind);
        }
        glDisable(GL_LINE_STIPPLE);
        memset(all, 0, PIXELS * PIXELS);
        glBindFramebuffer(GL_FRAMEBUFFER, frames[1]);
        glDisable(GL_SCISSOR_TEST);
        glViewport(0, 0, PIXELS, PIXELS);
        glUseProgram(copy);
        for (k = 0; k < samples; k++) {
            static const float corners[8] = {-1, -1, 1, -1, -1, 1, 1, 1};
            glBindTexture(target, textures[0]);
            glUniform1i(glGetUniformLocation(copy, "k"), k);
            glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STREAM_DRAW);
            glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
            glReadPixels(0, 0, PIXELS, PIXELS, GL_RED, GL_UNSIGNED_BYTE, held);
            for (cell = 0; cell < PIXELS * PIXELS; cell++) all[cell] |= (unsigned char)((held[cell] != 0) << k);
        }
        if (glGetError()) FAIL("OpenGL reports an error");
        for (cell = 0; cell < here; cell++) {
            int left = cell % SIDE * CELL, low = cell / SIDE * CELL, row;
            for (row = 0; row < CELL; row++) fwrite(all + (low + row) * PIXELS + left, CELL, 1, stdout);
        }
    }
    fflush(stdout);
    _Exit(0);
}
