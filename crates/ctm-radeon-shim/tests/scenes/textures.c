/* Textures. */
#include "drawing.h"

static void textured(GLint mag, GLint wrap, float from, float to) {
    texture_2d(16, 16, mag, mag, wrap);
    program(PLAIN_VS, NULL, TEXTURE_FS);
    quad_of(from, from, to, to);
}

static void texture_nearest(void) { textured(GL_NEAREST, GL_REPEAT, 0, 1); }
static void texture_linear(void) { textured(GL_LINEAR, GL_CLAMP_TO_EDGE, -0.1f, 1.1f); }
static void texture_repeat(void) { textured(GL_LINEAR, GL_REPEAT, -0.7f, 2.3f); }
static void texture_mirror(void) { textured(GL_LINEAR, GL_MIRRORED_REPEAT, -1.6f, 2.3f); }
static void texture_border(void) {
    const float border[] = {1, 0.5f, 0, 1};
    texture_2d(16, 16, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_BORDER);
    glTexParameterfv(GL_TEXTURE_2D, GL_TEXTURE_BORDER_COLOR, border);
    program(PLAIN_VS, NULL, TEXTURE_FS);
    quad_of(-0.4f, -0.4f, 1.4f, 1.4f);
}

static void floor_with(GLint min, float bias) {
    texture_2d(64, 64, GL_LINEAR, min, GL_REPEAT);
    glTexParameterf(GL_TEXTURE_2D, GL_TEXTURE_LOD_BIAS, bias);
    program(PLAIN_VS, NULL, TEXTURE_FS);
    floor_of(3);
}

static void mip_linear(void) { floor_with(GL_LINEAR_MIPMAP_LINEAR, 0); }
static void mip_nearest(void) { floor_with(GL_LINEAR_MIPMAP_NEAREST, 0); }
static void mip_bias(void) { floor_with(GL_LINEAR_MIPMAP_LINEAR, 1.5f); }

static void texture_functions(void) {
    texture_2d(32, 32, GL_LINEAR, GL_LINEAR_MIPMAP_LINEAR, GL_REPEAT);
    program(PLAIN_VS, NULL,
            "in vec4 v; uniform sampler2D t; out vec4 o; void main() { vec2 c = v.xy; float n = floor(v.x * 3.0) + 3.0 * floor(v.y * 3.0);"
            " if (n < 1.0) o = textureLod(t, c, 1.5); else if (n < 2.0) o = textureGrad(t, c, vec2(0.1, 0), vec2(0, 0.05));"
            " else if (n < 3.0) o = textureOffset(t, c, ivec2(2, -3)); else if (n < 4.0) o = texelFetch(t, ivec2(c * 16.0), 1);"
            " else if (n < 5.0) o = textureProj(t, vec3(c, 0.7)); else if (n < 6.0) o = vec4(textureSize(t, 2), 0, 8) / 8.0;"
            " else o = texture(t, c, n - 5.0); }");
    quad_of(0, 0, 1, 1);
}

static void cube_map(void) {
    GLuint t;
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_CUBE_MAP, t);
    uint8_t data[4 * 16 * 16];
    for (GLuint face = 0; face < 6; face++) {
        texels(data, 16, 16, face + 3);
        glTexImage2D(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL_RGBA8, 16, 16, 0, GL_RGBA, GL_UNSIGNED_BYTE, data);
    }
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_CUBE_MAP, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    program(PLAIN_VS, NULL,
            "in vec4 v; uniform samplerCube t; out vec4 o; void main() { vec2 p = v.xy * 2.0 - 1.0; float r = dot(p, p); if (r > 1.0) discard;"
            " vec3 n = vec3(p, sqrt(1.0 - r)); o = texture(t, reflect(vec3(0.1, 0.2, -1), n)); }");
    quad_of(0, 0, 1, 1);
}

static void layered(GLenum kind, const char *sampler, GLint filter) {
    GLuint t;
    glGenTextures(1, &t);
    glBindTexture(kind, t);
    uint8_t data[4][4 * 16 * 16];
    for (uint32_t n = 0; n < 4; n++) texels(data[n], 16, 16, n + 20);
    glTexImage3D(kind, 0, GL_RGBA8, 16, 16, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, data);
    glTexParameteri(kind, GL_TEXTURE_MIN_FILTER, filter);
    glTexParameteri(kind, GL_TEXTURE_MAG_FILTER, filter);
    char fs[300];
    const char *scale = kind == GL_TEXTURE_3D ? "1.0" : "4.0";
    snprintf(fs, sizeof fs, "in vec4 v; uniform %s t; out vec4 o; void main() { o = texture(t, vec3(v.xy * 1.5, v.x * %s)); }", sampler, scale);
    program(PLAIN_VS, NULL, fs);
    quad_of(0, 0, 1, 1);
}

static void texture_array(void) { layered(GL_TEXTURE_2D_ARRAY, "sampler2DArray", GL_LINEAR); }
static void texture_3d(void) { layered(GL_TEXTURE_3D, "sampler3D", GL_LINEAR); }
static void texture_3d_nearest(void) { layered(GL_TEXTURE_3D, "sampler3D", GL_NEAREST); }

static void texture_1d(void) {
    GLuint t;
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_1D, t);
    uint8_t data[4 * 32];
    texels(data, 32, 1, 9);
    glTexImage1D(GL_TEXTURE_1D, 0, GL_RGBA8, 32, 0, GL_RGBA, GL_UNSIGNED_BYTE, data);
    glTexParameteri(GL_TEXTURE_1D, GL_TEXTURE_MIN_FILTER, GL_LINEAR);
    program(PLAIN_VS, NULL, "in vec4 v; uniform sampler1D t; out vec4 o; void main() { o = texture(t, v.x + 0.2 * v.y); }");
    quad_of(0, 0, 1.2f, 1);
}

static void texture_buffer(void) {
    GLuint t, b;
    float data[64 * 4];
    for (int n = 0; n < 256; n++) data[n] = (float)(hashed((uint32_t)n) & 255) / 255.0f;
    glGenBuffers(1, &b);
    glBindBuffer(GL_TEXTURE_BUFFER, b);
    glBufferData(GL_TEXTURE_BUFFER, sizeof data, data, GL_STATIC_DRAW);
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_BUFFER, t);
    glTexBuffer(GL_TEXTURE_BUFFER, GL_RGBA32F, b);
    program(PLAIN_VS, NULL, "in vec4 v; uniform samplerBuffer t; out vec4 o; void main() { o = texelFetch(t, int(v.x * 8.0) + 8 * int(v.y * 8.0)); }");
    quad_of(0, 0, 1, 1);
}

static void shadow(void) {
    GLuint t;
    float data[16 * 16];
    for (int n = 0; n < 256; n++) data[n] = (float)(n % 16) / 16.0f * 0.5f + (float)(n / 16) / 40.0f;
    glGenTextures(1, &t);
    glBindTexture(GL_TEXTURE_2D, t);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_DEPTH_COMPONENT32F, 16, 16, 0, GL_DEPTH_COMPONENT, GL_FLOAT, data);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_MODE, GL_COMPARE_REF_TO_TEXTURE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_COMPARE_FUNC, GL_LEQUAL);
    program(PLAIN_VS, NULL, "in vec4 v; uniform sampler2DShadow t; out vec4 o; void main() { o = vec4(v.xy, texture(t, vec3(v.xy, 0.37)), 1); }");
    quad_of(0, 0, 1, 1);
}

static void formats(void) {
    static const struct {
        GLint format;
        GLenum channels, type;
    } all[] = {
        {GL_RGB565, GL_RGB, GL_FLOAT}, {GL_RGBA4, GL_RGBA, GL_FLOAT}, {GL_RGB5_A1, GL_RGBA, GL_FLOAT}, {GL_RGB10_A2, GL_RGBA, GL_FLOAT},
        {GL_R11F_G11F_B10F, GL_RGB, GL_FLOAT}, {GL_RGB9_E5, GL_RGB, GL_FLOAT}, {GL_RGBA16F, GL_RGBA, GL_FLOAT}, {GL_RGBA16_SNORM, GL_RGBA, GL_FLOAT},
        {GL_R8, GL_RED, GL_FLOAT}, {GL_RG16, GL_RG, GL_FLOAT}, {GL_SRGB8_ALPHA8, GL_RGBA, GL_FLOAT}, {GL_RGBA8_SNORM, GL_RGBA, GL_FLOAT},
    };
    program(PLAIN_VS, NULL, TEXTURE_FS);
    float data[8 * 8 * 4];
    for (int n = 0; n < 256; n++) data[n] = (float)(hashed((uint32_t)n + 77) & 1023) / 1023.0f;
    for (int n = 0; n < 12; n++) {
        GLuint t;
        glGenTextures(1, &t);
        glBindTexture(GL_TEXTURE_2D, t);
        glTexImage2D(GL_TEXTURE_2D, 0, all[n].format, 8, 8, 0, all[n].channels, all[n].type, data);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        const float lo[] = {0, 0, 0, 1}, hi[] = {1, 1, 0, 1};
        const float x = -0.95f + 0.48f * (float)(n % 4), y = -0.9f + 0.62f * (float)(n / 4);
        rectangle(x, y, x + 0.4413f, y + 0.5571f, 0, lo, hi);
    }
}
