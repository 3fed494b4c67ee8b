// The kernels as fragment shaders on OpenGL ES 3.2 without a window (llvmpipe, where there is no card): gles PEER
#include "common.h"
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl32.h>

static const char *peer;

static const char *const vertex_shader =
    "#version 320 es\n"
    "void main() { gl_Position = vec4(float((gl_VertexID & 1) * 4 - 1), float((gl_VertexID >> 1) * 4 - 1), 0.0, 1.0); }\n";

static const char *const prelude =
    "#version 320 es\n"
    "precision highp float; precision highp int; precision highp sampler2D;\n"
    "uniform sampler2D a, b, c;\n"
    "layout(location = 0) out vec4 o;\n";

static GLuint shader(GLenum kind, const char *first, const char *second) {
  const GLuint s = glCreateShader(kind);
  const char *parts[2] = {first, second};
  glShaderSource(s, 2, parts, 0);
  glCompileShader(s);
  GLint good;
  glGetShaderiv(s, GL_COMPILE_STATUS, &good);
  if (!good) {
    char log[4096];
    glGetShaderInfoLog(s, sizeof log, 0, log);
    fprintf(stderr, "%s\n", log);
    exit(1);
  }
  return s;
}

static GLuint texture(int width, int height, const float *data) {
  GLuint t;
  glGenTextures(1, &t);
  glBindTexture(GL_TEXTURE_2D, t);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, width, height, 0, GL_RGBA, GL_FLOAT, data);
  return t;
}

static void run(const char *kernel, int targets, int width, int height, const GLuint inputs[3], const char *fragment_shader) {
  const GLuint program = glCreateProgram();
  glAttachShader(program, shader(GL_VERTEX_SHADER, vertex_shader, ""));
  glAttachShader(program, shader(GL_FRAGMENT_SHADER, prelude, fragment_shader));
  glLinkProgram(program);
  glUseProgram(program);
  static const char *const names[3] = {"a", "b", "c"};
  for (int i = 0; i < 3; i++) {
    glActiveTexture(GL_TEXTURE0 + (GLenum)i);
    glBindTexture(GL_TEXTURE_2D, inputs[i]);
    glUniform1i(glGetUniformLocation(program, names[i]), i);
  }
  GLuint frame;
  glGenFramebuffers(1, &frame);
  glBindFramebuffer(GL_FRAMEBUFFER, frame);
  glActiveTexture(GL_TEXTURE5);
  static const GLenum buffers[2] = {GL_COLOR_ATTACHMENT0, GL_COLOR_ATTACHMENT1};
  for (int i = 0; i < targets; i++) glFramebufferTexture2D(GL_FRAMEBUFFER, buffers[i], GL_TEXTURE_2D, texture(width, height, 0), 0);
  glDrawBuffers(targets, buffers);
  glViewport(0, 0, width, height);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
    fprintf(stderr, "%s: no frame buffer\n", kernel);
    return;
  }
  enum { RUNS = 11 };
  double times[RUNS];
  const double begin = now();
  int runs = 0;
  for (int i = -1; i < RUNS && (runs < 3 || now() - begin < 4); i++) {
    const double start = now();
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glFinish();
    if (i >= 0) times[runs++] = now() - start;
  }
  float value[4];
  glReadBuffer(GL_COLOR_ATTACHMENT0);
  glReadPixels(width / 3, height / 3, 1, 1, GL_RGBA, GL_FLOAT, value);
  report(peer, kernel, median(times, runs), value[0]);
}

#define MAIN "void main() { ivec2 p = ivec2(gl_FragCoord.xy); "

int main(int argc, char **argv) {
  peer = argc > 1 ? argv[1] : "gles";
  PFNEGLGETPLATFORMDISPLAYEXTPROC get_display = (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
  if (!get_display) return fprintf(stderr, "EGL has no platform displays\n"), 1;
  EGLDisplay display = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, 0);
  if (!eglInitialize(display, 0, 0)) return fprintf(stderr, "EGL does not start\n"), 1;
  eglBindAPI(EGL_OPENGL_ES_API);
  static const EGLint wanted[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 2, EGL_NONE};
  EGLContext context = eglCreateContext(display, EGL_NO_CONFIG_KHR, EGL_NO_CONTEXT, wanted);
  if (!eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context)) return fprintf(stderr, "no OpenGL ES 3.2\n"), 1;
  printf("VERSION\t%s\t%s, %s\n", peer, (const char *)glGetString(GL_RENDERER), (const char *)glGetString(GL_VERSION));
  GLuint vertices;
  glGenVertexArrays(1, &vertices);
  glBindVertexArray(vertices);

  float *host = malloc((size_t)SAXPY * 4);
  fill(host, SAXPY, 0, 1);
  const GLuint x = texture(2048, 2048, host), y = texture(2048, 2048, host);
  const GLuint left = texture(SGEMM / 4, SGEMM, host), right = texture(SGEMM / 4, SGEMM, host + 77);
  fill_bodies(host, BODIES);
  const GLuint bodies = texture(64, 64, host);
  fill_options(host, host + OPTIONS, host + 2 * (size_t)OPTIONS, OPTIONS);
  const GLuint price = texture(1024, 1024, host), strike = texture(1024, 1024, host + OPTIONS);
  const GLuint years = texture(1024, 1024, host + 2 * (size_t)OPTIONS);

  run("saxpy", 1, 2048, 2048, (GLuint[]){x, y, y}, MAIN "o = 1.7 * texelFetch(a, p, 0) + texelFetch(b, p, 0); }");
  run("sum", 1, 128, 64, (GLuint[]){x, y, y},
      MAIN "vec4 s = vec4(0.0);"
           "for (int y = p.y; y < 2048; y += 64) for (int x = p.x; x < 2048; x += 128) s += texelFetch(a, ivec2(x, y), 0);"
           "o = s; }");
  run("mandelbrot", 1, MANDELBROT, MANDELBROT, (GLuint[]){x, y, y},
      MAIN "float cr = -2.0 + 3.0 * float(p.x) / 1024.0, ci = -1.5 + 3.0 * float(p.y) / 1024.0, zr = 0.0, zi = 0.0, n = 0.0;"
           "for (int k = 0; k < 256; k++) {"
           "  float u = zr * zr, v = zi * zi;"
           "  if (!(u + v < 4.0)) break;"
           "  zi = 2.0 * zr * zi + ci; zr = u - v + cr; n += 1.0;"
           "}"
           "o = vec4(n, zr, zi, 1.0); }");
  run("sgemm", 1, SGEMM / 4, SGEMM, (GLuint[]){left, right, y},
      MAIN "vec4 s = vec4(0.0);"
           "for (int k = 0; k < 256; k++) {"
           "  vec4 q = texelFetch(a, ivec2(k, p.y), 0);"
           "  s += q.x * texelFetch(b, ivec2(p.x, 4 * k), 0) + q.y * texelFetch(b, ivec2(p.x, 4 * k + 1), 0)"
           "     + q.z * texelFetch(b, ivec2(p.x, 4 * k + 2), 0) + q.w * texelFetch(b, ivec2(p.x, 4 * k + 3), 0);"
           "}"
           "o = s; }");
  run("conv5x5", 1, CONV, CONV, (GLuint[]){x, y, y},
      "const float W[5] = float[5](1.0, 4.0, 6.0, 4.0, 1.0);" MAIN
      "vec4 s = vec4(0.0);"
      "for (int j = 0; j < 5; j++) for (int i = 0; i < 5; i++)"
      "  s += W[j] * W[i] * (1.0 / 256.0) * texelFetch(a, clamp(p + ivec2(i - 2, j - 2), ivec2(0), ivec2(2047)), 0);"
      "o = s; }");
  run("nbody", 1, 64, 64, (GLuint[]){bodies, y, y},
      MAIN "vec4 me = texelFetch(a, p, 0); vec3 s = vec3(0.0);"
           "for (int j = 0; j < 4096; j++) {"
           "  vec4 q = texelFetch(a, ivec2(j & 63, j >> 6), 0); vec3 d = q.xyz - me.xyz;"
           "  float v = inversesqrt(dot(d, d) + 0.01); s += d * (q.w * v * v * v);"
           "}"
           "o = vec4(s, 0.0); }");
  run("black-scholes", 2, 1024, 1024, (GLuint[]){price, strike, years},
      "layout(location = 1) out vec4 put;"
      "vec4 normal(vec4 d) {"
      "  vec4 k = 1.0 / (1.0 + 0.2316419 * abs(d));"
      "  vec4 q = 0.39894228040 * exp(-0.5 * d * d) * (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));"
      "  return mix(q, 1.0 - q, vec4(greaterThan(d, vec4(0.0))));"
      "}" MAIN
      "vec4 S = texelFetch(a, p, 0), X = texelFetch(b, p, 0), T = texelFetch(c, p, 0);"
      "vec4 root = sqrt(T), d1 = (log(S / X) + 0.065 * T) / (0.3 * root), d2 = d1 - 0.3 * root;"
      "vec4 n1 = normal(d1), n2 = normal(d2), paid = X * exp(-0.02 * T);"
      "o = S * n1 - paid * n2; put = paid * (1.0 - n2) - S * (1.0 - n1); }");
  return 0;
}
