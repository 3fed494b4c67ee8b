// Clears of whole targets, and triangles that cover them: colour, depth and stencil of several formats, with partial masks and with four samples.
//
//     cc -O2 bench/peers/clears.c -o clears -lEGL -lOpenGL
#include "frames.h"

static GLbitfield parts;

static void clear(int n) {
    glClearColor((float)(n % 30) / 30.0f, 0.25f, 0.5f, 1.0f);
    glClear(parts);
}

static void triangle(int n) {
    glBegin(GL_TRIANGLES);
    glColor4f(1.0f, (float)(n % 30) / 30.0f, 0.5f, 0.75f);
    glVertex3f(-1, -1, 0.5f), glVertex3f(3, -1, 0.5f), glVertex3f(-1, 3, 0.5f);
    glEnd();
}

static void sloped(int n) {
    glBegin(GL_TRIANGLES);
    glColor4f(1.0f, (float)(n % 30) / 30.0f, 0.5f, 0.75f);
    glVertex3f(-1, -1, -0.5f), glVertex3f(3, -1, 0.75f), glVertex3f(-1, 3, 0.25f);
    glEnd();
}

int main(void) {
    static const struct { const char *name; GLenum format; } colours[] = {
        {"RGBA8", GL_RGBA8}, {"RGB565", GL_RGB565}, {"R8", GL_R8}, {"RGB10_A2", GL_RGB10_A2}, {"RGBA16F", GL_RGBA16F}, {"RGBA32F", GL_RGBA32F}};
    static const struct { const char *name; GLenum format; int stencil; } depths[] = {
        {"D16", GL_DEPTH_COMPONENT16, 0}, {"D24", GL_DEPTH_COMPONENT24, 0}, {"D24S8", GL_DEPTH24_STENCIL8, 1}, {"D32F", GL_DEPTH_COMPONENT32F, 0}, {"D32FS8", GL_DEPTH32F_STENCIL8, 1}};
    const GLbitfield depth = GL_DEPTH_BUFFER_BIT, stencil = GL_STENCIL_BUFFER_BIT, colour = GL_COLOR_BUFFER_BIT;
    char name[80];
    unsigned k;
    begin();
    for (k = 0; k < sizeof colours / sizeof *colours; k++) {
        target(colours[k].format, 0, 0);
        parts = colour;
        sprintf(name, "clear %s", colours[k].name), measure(name, 30, clear);
        sprintf(name, "triangle %s", colours[k].name), measure(name, 30, triangle);
    }
    target(GL_RGBA8, 0, 0);
    glColorMask(1, 0, 1, 1);
    parts = colour, measure("clear RGBA8 without green", 30, clear);
    glColorMask(1, 1, 1, 1);
    glEnable(GL_SCISSOR_TEST);
    glScissor(3, 5, 601, 431);
    measure("clear RGBA8 in a scissor", 30, clear);
    glDisable(GL_SCISSOR_TEST);
    for (k = 0; k < sizeof depths / sizeof *depths; k++) {
        const GLbitfield both = depth | (depths[k].stencil ? stencil : 0);
        target(GL_RGBA8, depths[k].format, 0);
        parts = both, sprintf(name, "clear %s", depths[k].name), measure(name, 30, clear);
        parts = both | colour, sprintf(name, "clear RGBA8 and %s", depths[k].name), measure(name, 30, clear);
        if (depths[k].stencil) {
            parts = depth, sprintf(name, "clear depth of %s", depths[k].name), measure(name, 30, clear);
            parts = stencil, sprintf(name, "clear stencil of %s", depths[k].name), measure(name, 30, clear);
        }
        glEnable(GL_DEPTH_TEST);
        glDepthFunc(GL_LEQUAL);
        sprintf(name, "triangle %s, test and write", depths[k].name), measure(name, 30, triangle);
        sprintf(name, "slope %s, test and write", depths[k].name), measure(name, 30, sloped);
        glDepthMask(0);
        sprintf(name, "slope %s, test", depths[k].name), measure(name, 30, sloped);
        glDepthFunc(GL_GREATER);
        sprintf(name, "triangle %s, hidden", depths[k].name), measure(name, 30, triangle);
        glDepthFunc(GL_ALWAYS);
        glDepthMask(1);
        glDisable(GL_DEPTH_TEST);
        if (depths[k].stencil) {
            glEnable(GL_STENCIL_TEST);
            glStencilFunc(GL_ALWAYS, 1, 255), glStencilOp(GL_KEEP, GL_KEEP, GL_INCR_WRAP);
            sprintf(name, "triangle %s, counts", depths[k].name), measure(name, 30, triangle);
            glStencilFunc(GL_NOTEQUAL, 200, 255), glStencilOp(GL_KEEP, GL_KEEP, GL_KEEP);
            sprintf(name, "slope %s, stencil test", depths[k].name), measure(name, 30, sloped);
            glDisable(GL_STENCIL_TEST);
        }
    }
    target(GL_RGBA8, GL_DEPTH24_STENCIL8, 4);
    parts = colour | depth | stencil, measure("clear RGBA8 and D24S8, 4 samples", 10, clear);
    glEnable(GL_DEPTH_TEST);
    glDepthFunc(GL_LEQUAL);
    measure("slope RGBA8 and D24S8, 4 samples", 10, sloped);
    finish();
}
