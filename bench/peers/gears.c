// Three gears that turn, 300 x 300, without a window: frames a second, and the processor time of one. On the software Radeon: `ctm radeon -- ./gears`.
//
//     cc -O2 bench/peers/gears.c -o gears -lEGL -lOpenGL -lm
//     ./gears [seconds]
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

enum { SIZE = 300, MOST = 1 << 16 };
static float vertices[MOST][6];
static int count;

static const char *vertex_text =
    "#version 120\n"
    "attribute vec3 at; attribute vec3 normal; uniform mat4 view; uniform mat4 turn; varying float light;\n"
    "void main() { gl_Position = view * (turn * vec4(at, 1.0));\n"
    "  light = max(dot(normalize((turn * vec4(normal, 0.0)).xyz), normalize(vec3(1.0, 1.0, 2.0))), 0.0); }\n";
static const char *pixel_text =
    "#version 120\n"
    "uniform vec3 colour; varying float light;\n"
    "void main() { gl_FragColor = vec4(colour * (0.2 + 0.8 * light), 1.0); }\n";

static void put(float x, float y, float z, float nx, float ny, float nz) {
    float v[6] = {x, y, z, nx, ny, nz};
    if (count < MOST) memcpy(vertices[count++], v, sizeof v);
}

// A wall or a ring piece between two edges.
static void quad(const float a[3], const float b[3], const float c[3], const float d[3]) {
    float u[3], v[3], n[3];
    for (int k = 0; k < 3; k++) { u[k] = b[k] - a[k]; v[k] = d[k] - a[k]; }
    for (int k = 0; k < 3; k++) n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    const float *order[6] = {a, b, c, a, c, d};
    for (int k = 0; k < 6; k++) put(order[k][0], order[k][1], order[k][2], n[0], n[1], n[2]);
}

// Returns the number of the first vertex.
static int gear(float inner, float outer, float width, int teeth, float depth) {
    int first = count, steps = teeth * 4;
    for (int k = 0; k < steps; k++) {
        float t[2] = {2 * (float)M_PI * k / steps, 2 * (float)M_PI * (k + 1) / steps};
        // Rising, top, falling and bottom of a tooth.
        int phase = k % 4;
        float low = outer - depth / 2, high = outer + depth / 2;
        float r[2] = {phase == 1 || phase == 2 ? high : low, phase == 0 || phase == 1 ? high : low};
        float in[2][2][3], out[2][2][3];
        for (int e = 0; e < 2; e++)
            for (int s = 0; s < 2; s++) {
                float z = s ? width / 2 : -width / 2;
                in[e][s][0] = inner * cosf(t[e]); in[e][s][1] = inner * sinf(t[e]); in[e][s][2] = z;
                out[e][s][0] = r[e] * cosf(t[e]); out[e][s][1] = r[e] * sinf(t[e]); out[e][s][2] = z;
            }
        quad(in[0][1], out[0][1], out[1][1], in[1][1]);
        quad(in[1][0], out[1][0], out[0][0], in[0][0]);
        quad(out[0][0], out[1][0], out[1][1], out[0][1]);
        quad(in[1][0], in[0][0], in[0][1], in[1][1]);
    }
    return first;
}

static GLuint shader(GLenum kind, const char *text) {
    GLuint s = glCreateShader(kind);
    glShaderSource(s, 1, &text, NULL);
    glCompileShader(s);
    return s;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    EGLDisplay display = eglGetPlatformDisplay(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
    eglInitialize(display, NULL, NULL);
    eglBindAPI(EGL_OPENGL_API);
    EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, NULL);
    if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) return fprintf(stderr, "no context\n"), 1;
    GLuint frame, buffers[2], buffer;
    glGenFramebuffers(1, &frame);
    glGenRenderbuffers(2, buffers);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    GLenum formats[2] = {GL_RGBA8, GL_DEPTH24_STENCIL8}, places[2] = {GL_COLOR_ATTACHMENT0, GL_DEPTH_STENCIL_ATTACHMENT};
    for (int k = 0; k < 2; k++) {
        glBindRenderbuffer(GL_RENDERBUFFER, buffers[k]);
        glRenderbufferStorage(GL_RENDERBUFFER, formats[k], SIZE, SIZE);
        glFramebufferRenderbuffer(GL_FRAMEBUFFER, places[k], GL_RENDERBUFFER, buffers[k]);
    }
    struct { int first, count; float at[2], speed, start, colour[3]; } gears[3] = {
        {0, 0, {-3, -2}, 1, 0, {0.8f, 0.1f, 0}}, {0, 0, {3.1f, -2}, -2, -9, {0, 0.8f, 0.2f}}, {0, 0, {-3.1f, 4.2f}, -2, -25, {0.2f, 0.2f, 1}}};
    float shape[3][5] = {{1, 4, 1, 20, 0.7f}, {0.5f, 2, 2, 10, 0.7f}, {1.3f, 2, 0.5f, 10, 0.7f}};
    for (int k = 0; k < 3; k++) {
        gears[k].first = gear(shape[k][0], shape[k][1], shape[k][2], (int)shape[k][3], shape[k][4]);
        gears[k].count = count - gears[k].first;
    }
    glGenBuffers(1, &buffer);
    glBindBuffer(GL_ARRAY_BUFFER, buffer);
    glBufferData(GL_ARRAY_BUFFER, count * sizeof *vertices, vertices, GL_STATIC_DRAW);
    GLuint program = glCreateProgram();
    glAttachShader(program, shader(GL_VERTEX_SHADER, vertex_text));
    glAttachShader(program, shader(GL_FRAGMENT_SHADER, pixel_text));
    glBindAttribLocation(program, 0, "at");
    glBindAttribLocation(program, 1, "normal");
    glLinkProgram(program);
    glUseProgram(program);
    for (int k = 0; k < 2; k++) {
        glEnableVertexAttribArray(k);
        glVertexAttribPointer(k, 3, GL_FLOAT, GL_FALSE, sizeof *vertices, (void *)(12l * k));
    }
    glViewport(0, 0, SIZE, SIZE);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_CULL_FACE);
    // Seen from above and the side: columns of a perspective with the eye 40 away.
    float c = cosf(0.35f), s = sinf(0.35f), near = 5, far = 60, eye = 40;
    float a = -(far + near) / (far - near), b = -2 * far * near / (far - near);
    float view[16] = {0};
    // x' = 5 x, y' = 5 (c y - s z), z' = a (s y + c z - eye) + b, w = eye - (s y + c z).
    view[0] = near; view[5] = near * c; view[6] = a * s; view[7] = -s;
    view[9] = -near * s; view[10] = a * c; view[11] = -c; view[14] = b - a * eye; view[15] = eye;
    GLint places_of[3] = {glGetUniformLocation(program, "view"), glGetUniformLocation(program, "turn"), glGetUniformLocation(program, "colour")};
    glUniformMatrix4fv(places_of[0], 1, GL_FALSE, view);
    double start = now();
    clock_t worked = clock();
    int frames = 0;
    do {
        float angle = 0.03f * frames++;
        glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
        for (int k = 0; k < 3; k++) {
            float t = angle * gears[k].speed + gears[k].start * (float)M_PI / 180, x = cosf(t), y = sinf(t);
            float turn[16] = {x, y, 0, 0, -y, x, 0, 0, 0, 0, 1, 0, gears[k].at[0], gears[k].at[1], 0, 1};
            glUniformMatrix4fv(places_of[1], 1, GL_FALSE, turn);
            glUniform3fv(places_of[2], 1, gears[k].colour);
            glDrawArrays(GL_TRIANGLES, gears[k].first, gears[k].count);
        }
        glFinish();
    } while (now() - start < seconds);
    double time = now() - start, each = 1000.0 * (clock() - worked) / CLOCKS_PER_SEC / frames;
    static unsigned char pixels[SIZE * SIZE * 4];
    glReadPixels(0, 0, SIZE, SIZE, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
    int drawn = 0;
    for (int k = 0; k < SIZE * SIZE; k++) drawn += pixels[4 * k] + pixels[4 * k + 1] + pixels[4 * k + 2] > 0;
    printf("%s: %.0f frames a second, %.2f ms of processor time each (%d triangles; %d pixels of the last frame are of gears)\n",
           (const char *)glGetString(GL_RENDERER), frames / time, each, count / 3, drawn);
    if (argc > 2) {
        FILE *file = fopen(argv[2], "wb");
        fprintf(file, "P6 %d %d 255\n", SIZE, SIZE);
        for (int k = 0; k < SIZE * SIZE; k++) fwrite(pixels + 4 * (SIZE * (SIZE - 1 - k / SIZE) + k % SIZE), 1, 3, file);
        fclose(file);
    }
    return 0;
}
