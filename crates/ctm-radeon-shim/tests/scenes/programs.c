/* Scenes of what programs of each stage do. */
#include "drawing.h"

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
