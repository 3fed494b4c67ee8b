/* The window. */
#include "drawing.h"

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
