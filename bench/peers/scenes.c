/* The scenes of crates/ctm-draw/examples/speed with OpenGL: prints `NAME MILLISECONDS PROCESSOR-MILLISECONDS`, medians.
 *
 * build: cc -O2 scenes.c -lEGL -lOpenGL -lm -o scenes; run: LP_NUM_THREADS=2 ./scenes 10 [last picture of the gears.ppm]
 */
#define GL_GLEXT_PROTOTYPES
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>
#include <math.h>
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

static GLuint linked(const char *vertex, const char *fragment) {
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
    glBindAttribLocation(p, 1, "normal");
    glLinkProgram(p);
    glGetProgramiv(p, GL_LINK_STATUS, &good);
    if (!good) FAIL("a program does not link");
    return p;
}

static GLuint program(const char *fragment) {
    return linked("#version 130\nin vec2 at; uniform float scale; out vec2 st;\n"
                  "void main() { gl_Position = vec4(at * scale, 0, 1); st = at * scale * 0.5 + 0.5; }", fragment);
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

/* Gears: corners with normals. */
enum { GEAR_WIDTH = 640, GEAR_HEIGHT = 480, MOST = 1 << 14 };
static float corners[MOST][8];
static int corner_count;

static void quad(float at[4][3], float normals[4][3]) {
    static const int order[6] = {0, 1, 2, 0, 2, 3};
    int k, c;
    for (k = 0; k < 6 && corner_count < MOST; k++, corner_count++) {
        for (c = 0; c < 3; c++) corners[corner_count][c] = at[order[k]][c], corners[corner_count][4 + c] = normals[order[k]][c];
        corners[corner_count][3] = 1, corners[corner_count][7] = 0;
    }
}

static void flat_quad(float at[4][3]) {
    float u[3], v[3], n[4][3], length = 0;
    int c, k;
    for (c = 0; c < 3; c++) u[c] = at[1][c] - at[0][c], v[c] = at[3][c] - at[0][c];
    for (c = 0; c < 3; c++) n[0][c] = u[(c + 1) % 3] * v[(c + 2) % 3] - u[(c + 2) % 3] * v[(c + 1) % 3], length += n[0][c] * n[0][c];
    for (c = 0; c < 3; c++) n[0][c] /= sqrtf(length);
    for (k = 1; k < 4; k++) memcpy(n[k], n[0], sizeof n[0]);
    quad(at, n);
}

/* The flat sides of a gear, or the round one of its hole; gives how many corners. */
static int gear(const float size[4], int teeth, int hole) {
    const int steps = teeth * 4, first = corner_count;
    int k, e, z;
    for (k = 0; k < steps; k++) {
        float in[2][2][3], out[2][2][3], normal[2][3];
        for (e = 0; e < 2; e++)
            for (z = 0; z < 2; z++) {
                const float t = 2 * (float)M_PI * (float)(k + e) / (float)steps;
                const int phase = (k + e) % 4;
                const float r = size[1] + (phase == 1 || phase == 2 ? size[3] : -size[3]) / 2;
                in[e][z][0] = size[0] * cosf(t), in[e][z][1] = size[0] * sinf(t), in[e][z][2] = z ? size[2] / 2 : -size[2] / 2;
                out[e][z][0] = r * cosf(t), out[e][z][1] = r * sinf(t), out[e][z][2] = in[e][z][2];
                normal[e][0] = -cosf(t), normal[e][1] = -sinf(t), normal[e][2] = 0;
            }
#define FOUR(to, a, b, c, d) float to[4][3]; memcpy(to[0], a, 12), memcpy(to[1], b, 12), memcpy(to[2], c, 12), memcpy(to[3], d, 12)
        if (hole) {
            FOUR(at, in[1][0], in[0][0], in[0][1], in[1][1]);
            FOUR(normals, normal[1], normal[0], normal[0], normal[1]);
            quad(at, normals);
        } else {
            FOUR(front, in[0][1], out[0][1], out[1][1], in[1][1]);
            FOUR(back, in[1][0], out[1][0], out[0][0], in[0][0]);
            FOUR(side, out[0][0], out[1][0], out[1][1], out[0][1]);
            flat_quad(front), flat_quad(back), flat_quad(side);
        }
    }
    return corner_count - first;
}

/* Three gears: a frame clears colour and depth and draws the flat and the round sides of each. */
static void gears(int runs, const char *picture) {
    static const float sizes[3][4] = {{1, 4, 1, 0.7f}, {0.5f, 2, 2, 0.7f}, {1.3f, 2, 0.5f, 0.7f}};
    static const float places[3][2] = {{-3, -2}, {3.1f, -2}, {-3.1f, 4.2f}}, colours[3][3] = {{0.8f, 0.1f, 0}, {0, 0.8f, 0.2f}, {0.2f, 0.2f, 1}};
    static const int teeth[3] = {20, 10, 10};
    static unsigned char pixels[GEAR_WIDTH * GEAR_HEIGHT * 4];
    int first[3][2], count[3][2], g, h, k, frame;
    GLuint programs[2], buffer, target, planes[2];
    GLint uniforms[2][3];
    double *times = malloc(sizeof(double) * (size_t)runs), busy = 0;
    if (!times) FAIL("no memory");
    for (h = 0; h < 2; h++) {
        char vertex[1024], fragment[256];
        const char *kind = h ? "smooth" : "flat";
        sprintf(vertex, "#version 130\nin vec4 at, normal; uniform mat4 view; uniform vec4 light, colour; %s out vec4 lit;\n"
                        "void main() { gl_Position = view * at; lit = vec4(colour.rgb * (max(dot(normal, light), 0.0) * 0.8 + 0.2), 1.0); }", kind);
        sprintf(fragment, "#version 130\n%s in vec4 lit; out vec4 c; void main() { c = lit; }", kind);
        programs[h] = linked(vertex, fragment);
        uniforms[h][0] = glGetUniformLocation(programs[h], "view");
        uniforms[h][1] = glGetUniformLocation(programs[h], "light");
        uniforms[h][2] = glGetUniformLocation(programs[h], "colour");
        for (g = 0; g < 3; g++) first[g][h] = corner_count, count[g][h] = gear(sizes[g], teeth[g], h);
    }
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, corner_count * (GLsizeiptr)sizeof *corners, corners, GL_STATIC_DRAW);
    for (k = 0; k < 2; k++) {
        glEnableVertexAttribArray((GLuint)k);
        glVertexAttribPointer((GLuint)k, 4, GL_FLOAT, GL_FALSE, sizeof *corners, (void *)(16l * k));
    }
    glGenFramebuffers(1, &target);
    glGenRenderbuffers(2, planes);
    glBindFramebuffer(GL_FRAMEBUFFER, target);
    for (k = 0; k < 2; k++) {
        glBindRenderbuffer(GL_RENDERBUFFER, planes[k]);
        glRenderbufferStorage(GL_RENDERBUFFER, k ? GL_DEPTH24_STENCIL8 : GL_RGBA8, GEAR_WIDTH, GEAR_HEIGHT);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, k ? GL_DEPTH_STENCIL_ATTACHMENT : GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, planes[k]);
    }
    glViewport(0, 0, GEAR_WIDTH, GEAR_HEIGHT);
    glDisable(GL_BLEND);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_CULL_FACE);
    for (frame = -1; frame < runs; frame++) {
        const double start = seconds(CLOCK_MONOTONIC);
        const float near = 5, far = 60, eye = 40, c = cosf(0.35f), s = sinf(0.35f), angle = 0.03f * (float)(frame + 1);
        const float a = -(far + near) / (far - near), b = -2 * far * near / (far - near), aspect = (float)GEAR_HEIGHT / GEAR_WIDTH;
        const float turns[3] = {angle, -2 * angle - (float)M_PI / 20, -2 * angle - 25 * (float)M_PI / 180};
        if (frame == 0) busy = seconds(CLOCK_PROCESS_CPUTIME_ID);
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT);
        for (g = 0; g < 3; g++) {
            const float tc = cosf(turns[g]), ts = sinf(turns[g]);
            const float columns[4][4] = {{tc, ts, 0, 0}, {-ts, tc, 0, 0}, {0, 0, 1, 0}, {places[g][0], places[g][1], 0, 1}};
            float view[4][4];
            for (k = 0; k < 4; k++) {
                const float *v = columns[k], away = s * v[1] + c * v[2] - eye * v[3];
                view[k][0] = near * aspect * v[0], view[k][1] = near * (c * v[1] - s * v[2]), view[k][2] = a * away + b * v[3], view[k][3] = -away;
            }
            for (h = 0; h < 2; h++) {
                glUseProgram(programs[h]);
                glUniformMatrix4fv(uniforms[h][0], 1, GL_FALSE, &view[0][0]);
                glUniform4f(uniforms[h][1], (tc + ts) / sqrtf(6), (tc - ts) / sqrtf(6), 2 / sqrtf(6), 0);
                glUniform4f(uniforms[h][2], colours[g][0], colours[g][1], colours[g][2], 1);
                glDrawArrays(GL_TRIANGLES, first[g][h], count[g][h]);
            }
        }
        glFinish();
        if (frame >= 0) times[frame] = (seconds(CLOCK_MONOTONIC) - start) * 1e3;
    }
    busy = (seconds(CLOCK_PROCESS_CPUTIME_ID) - busy) * 1e3 / runs;
    qsort(times, (size_t)runs, sizeof *times, by_size);
    printf("gears %.4f %.4f\n", times[runs / 2], busy);
    free(times);
    if (picture) {
        FILE *file = fopen(picture, "wb");
        if (!file) FAIL("%s cannot be written", picture);
        glReadPixels(0, 0, GEAR_WIDTH, GEAR_HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
        fprintf(file, "P6 %d %d 255\n", GEAR_WIDTH, GEAR_HEIGHT);
        for (k = 0; k < GEAR_WIDTH * GEAR_HEIGHT; k++)
            fwrite(pixels + 4 * (GEAR_WIDTH * (GEAR_HEIGHT - 1 - k / GEAR_WIDTH) + k % GEAR_WIDTH), 1, 3, file);
        fclose(file);
    }
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
    gears(20 * runs, argc > 2 ? argv[2] : 0);
    if (glGetError()) FAIL("OpenGL reports an error");
    fflush(stdout);
    _Exit(0);
}
