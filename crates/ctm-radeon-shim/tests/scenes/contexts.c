// Opens and closes OpenGL contexts one after the other, as many as the argument says, each with its own display. Each clears a pixel and reads it. Exit code 1:
// a pixel is wrong, or files stay open.
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static int open_files(void) {
    int count = 0;
    DIR *all = opendir("/proc/self/fd");
    while (all && readdir(all)) count++;
    if (all) closedir(all);
    return count;
}

static int one(int number) {
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    if (!eglInitialize(display, NULL, NULL) || !eglBindAPI(EGL_OPENGL_API)) return fprintf(stderr, "no display\n"), 2;
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, NULL);
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) return fprintf(stderr, "no context\n"), 2;
    GLuint frame, buffer;
    glGenFramebuffers(1, &frame);
    glGenRenderbuffers(1, &buffer);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glBindRenderbuffer(GL_RENDERBUFFER, buffer);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, 16, 16);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, buffer);
    glClearColor((number % 256) / 255.0f, 0, 1, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    unsigned char pixel[4] = {0};
    glReadPixels(7, 7, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, pixel);
    eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    eglDestroyContext(display, context);
    eglTerminate(display);
    return pixel[0] == number % 256 && pixel[2] == 255 ? 0 : 1;
}

int main(int argc, char **argv) {
    int most = argc > 1 ? atoi(argv[1]) : 1;
    int first = one(0), files = open_files();
    if (first) return first;
    for (int k = 1; k < most; k++)
        if (one(k)) return fprintf(stderr, "context %d has a wrong pixel\n", k), 1;
    if (open_files() > files) return fprintf(stderr, "%d files are open, %d after the first context\n", open_files(), files), 1;
    return 0;
}
