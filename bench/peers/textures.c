// A rectangle over a whole target, textured, tested and blended in many ways.
//
//     cc -O2 bench/peers/textures.c -o textures -lEGL -lOpenGL
#include "frames.h"

static float far;

// Coordinates go three times over the texture; the upper side may lie further away.
static void quad(int n) {
    const float w = 1.0f + far;
    glBegin(GL_QUADS);
    glColor4f(1.0f, (float)(n % 30) / 30.0f, 1.0f, 0.5f);
    glTexCoord2f(0, 0), glVertex4f(-1, -1, 0.5f, 1);
    glTexCoord2f(3, 0), glVertex4f(1, -1, 0.5f, 1);
    glTexCoord2f(3, 3), glVertex4f(w, w, 0.5f * w, w);
    glTexCoord2f(0, 3), glVertex4f(-w, w, 0.5f * w, w);
    glEnd();
}

// 400 rectangles of 32 x 24 pixels.
static void small(int n) {
    int x, y;
    glBegin(GL_QUADS);
    glColor4f(1.0f, (float)(n % 30) / 30.0f, 1.0f, 0.5f);
    for (y = 0; y < 20; y++)
        for (x = 0; x < 20; x++) {
            const float l = (float)x / 10.0f - 1.0f, t = (float)y / 10.0f - 1.0f, r = l + 0.1f, b = t + 0.1f;
            glTexCoord2f(0, 0), glVertex3f(l, t, 0.5f), glTexCoord2f(1, 0), glVertex3f(r, t, 0.5f);
            glTexCoord2f(1, 1), glVertex3f(r, b, 0.5f), glTexCoord2f(0, 1), glVertex3f(l, b, 0.5f);
        }
    glEnd();
}

int main(void) {
    static const char *texts[] = {
        "void main() { gl_FragColor = gl_Color; }",
        "void main() { gl_FragColor = vec4(gl_TexCoord[0].xy * 0.25, 0.5, 0.75); }",
        "uniform sampler2D t; void main() { gl_FragColor = texture2D(t, gl_TexCoord[0].xy); }",
        "uniform sampler2D t; void main() { gl_FragColor = texture2D(t, gl_TexCoord[0].xy) * texture2D(t, gl_TexCoord[0].yx); }",
        "uniform sampler2D t; void main() { vec4 c = texture2D(t, gl_TexCoord[0].xy); if (c.a < 0.5) discard; gl_FragColor = c; }"};
    enum { FLAT, RAMP, ONE, TWO, DISCARD, FIXED = -1 };
    enum { BLEND = 1, ADD = 2, DEPTH = 4, ALPHA = 8, SMALL = 16 };
    static const GLint nearest = GL_NEAREST, linear = GL_LINEAR, trilinear = GL_LINEAR_MIPMAP_LINEAR, between = GL_LINEAR_MIPMAP_NEAREST;
    const struct { const char *name; GLint minify; float most, far; int text, state; } ways[] = {
        {"flat", nearest, 1, 0, FLAT, 0}, {"flat, fixed functions", nearest, 1, 0, FIXED, 0}, {"ramp", nearest, 1, 0, RAMP, 0},
        {"nearest", nearest, 1, 0, ONE, 0}, {"linear", linear, 1, 0, ONE, 0}, {"linear, nearest level", between, 1, 0, ONE, 0},
        {"trilinear", trilinear, 1, 0, ONE, 0}, {"trilinear, fixed functions", trilinear, 1, 0, FIXED, 0}, {"trilinear twice", trilinear, 1, 0, TWO, 0},
        {"anisotropy 8, facing", trilinear, 8, 0, ONE, 0}, {"anisotropy 8, slanted", trilinear, 8, 9, ONE, 0},
        {"flat, blend", nearest, 1, 0, FLAT, BLEND}, {"ramp, blend", nearest, 1, 0, RAMP, BLEND}, {"ramp, add", nearest, 1, 0, RAMP, ADD},
        {"ramp, depth", nearest, 1, 9, RAMP, DEPTH}, {"trilinear, blend", trilinear, 1, 0, ONE, BLEND}, {"trilinear, depth", trilinear, 1, 0, ONE, DEPTH},
        {"trilinear, blend, depth", trilinear, 1, 0, ONE, BLEND | DEPTH}, {"linear, discard", linear, 1, 0, DISCARD, 0},
        {"linear, discard, depth", linear, 1, 0, DISCARD, DEPTH}, {"linear, alpha test, depth", linear, 1, 0, FIXED, DEPTH | ALPHA},
        {"400 rectangles, flat", nearest, 1, 0, FLAT, SMALL}, {"400 rectangles, linear", linear, 1, 0, ONE, SMALL},
        {"400 rectangles, linear, blend, depth", linear, 1, 0, ONE, SMALL | BLEND | DEPTH}};
    static const int sizes[] = {256, 512};
    GLuint texture, programs[sizeof texts / sizeof *texts];
    unsigned k, s, n;
    begin();
    target(GL_RGBA8, GL_DEPTH24_STENCIL8, 0);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
    for (k = 0; k < sizeof texts / sizeof *texts; k++) programs[k] = pixels(texts[k]);
    glDepthFunc(GL_LEQUAL);
    glAlphaFunc(GL_GREATER, 0.5f);
    for (s = 0; s < 2; s++) {
        const int size = sizes[s];
        unsigned char *texels = malloc((size_t)size * (size_t)size * 4);
        if (!texels) FAIL("no memory");
        for (n = 0; n < (unsigned)(size * size * 4); n++) texels[n] = (unsigned char)(n * 2654435761u >> 24);
        glGenTextures(1, &texture);
        glBindTexture(GL_TEXTURE_2D, texture);
        glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size, size, 0, GL_RGBA, GL_UNSIGNED_BYTE, texels);
        glGenerateMipmap(GL_TEXTURE_2D);
        free(texels);
        for (k = 0; k < sizeof ways / sizeof *ways; k++) {
            const int state = ways[k].state;
            char name[96];
            if (s && ways[k].text != ONE) continue;
            glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, ways[k].minify);
            glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, ways[k].minify == nearest ? nearest : linear);
            glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_MAX_ANISOTROPY_EXT, ways[k].most);
            glUseProgram(ways[k].text == FIXED ? 0 : programs[ways[k].text]);
            (ways[k].text == FIXED && k > 1 ? glEnable : glDisable)(GL_TEXTURE_2D);
            (state & (BLEND | ADD) ? glEnable : glDisable)(GL_BLEND);
            glBlendFunc(GL_SRC_ALPHA, state & ADD ? GL_ONE : GL_ONE_MINUS_SRC_ALPHA);
            (state & DEPTH ? glEnable : glDisable)(GL_DEPTH_TEST);
            (state & ALPHA ? glEnable : glDisable)(GL_ALPHA_TEST);
            far = ways[k].far;
            sprintf(name, s ? "%s, 512" : "%s", ways[k].name);
            measure(name, 8, state & SMALL ? small : quad);
        }
    }
    finish();
}
