// A context of OpenGL without a window, a target of 640 x 480 pixels, and the lines that bench/frames reads: `NAME<TAB>MILLISECONDS` of processor time.
#pragma once
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

enum { WIDTH = 640, HEIGHT = 480 };

static double busy(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void begin(void) {
    static const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    EGLConfig config;
    EGLContext context;
    EGLint count = 0;
    if (!eglInitialize(display, 0, 0)) FAIL("EGL has no display without a surface");
    eglBindAPI(EGL_OPENGL_API);
    if (!eglChooseConfig(display, wanted, &config, 1, &count) || !count) FAIL("EGL has no configuration for OpenGL");
    context = eglCreateContext(display, config, EGL_NO_CONTEXT, NULL);
    if (!context || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) FAIL("EGL makes no context");
    fprintf(stderr, "%s, %s\n", (const char *)glGetString(GL_RENDERER), (const char *)glGetString(GL_VERSION));
}

// Makes and binds a framebuffer; 0: without depth.
static void target(GLenum colour, GLenum depth, int samples) {
    GLuint frame, buffers[2];
    GLenum where = depth == GL_DEPTH24_STENCIL8 || depth == GL_DEPTH32F_STENCIL8 ? GL_DEPTH_STENCIL_ATTACHMENT : GL_DEPTH_ATTACHMENT;
    glGenFramebuffers(1, &frame);
    glGenRenderbuffers(2, buffers);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glBindRenderbuffer(GL_RENDERBUFFER, buffers[0]);
    glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, colour, WIDTH, HEIGHT);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, buffers[0]);
    if (depth) {
        glBindRenderbuffer(GL_RENDERBUFFER, buffers[1]);
        glRenderbufferStorageMultisample(GL_RENDERBUFFER, samples, depth, WIDTH, HEIGHT);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, where, GL_RENDERBUFFER, buffers[1]);
    }
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) FAIL("a framebuffer is not complete");
    glViewport(0, 0, WIDTH, HEIGHT);
}

static inline GLuint shader(GLenum kind, const char *text) {
    GLuint s = glCreateShader(kind);
    GLint good;
    glShaderSource(s, 1, &text, NULL);
    glCompileShader(s);
    glGetShaderiv(s, GL_COMPILE_STATUS, &good);
    if (!good) FAIL("a shader does not compile");
    return s;
}

// A program of a pixel shader behind the fixed vertex functions.
static inline GLuint pixels(const char *text) {
    GLuint p = glCreateProgram();
    glAttachShader(p, shader(GL_FRAGMENT_SHADER, text));
    glLinkProgram(p);
    return p;
}

// A line of the mean of so many calls; one goes before them.
static void measure(const char *name, int times, void (*draw)(int)) {
    double start;
    int n;
    draw(0);
    glFinish();
    start = busy();
    for (n = 0; n < times; n++) {
        draw(n);
        glFinish();
    }
    printf("%s\t%.4f\n", name, (busy() - start) / times);
    fflush(stdout);
}

static void finish(void) {
    if (glGetError()) FAIL("OpenGL reports an error");
    fflush(stdout);
    _Exit(0);
}
