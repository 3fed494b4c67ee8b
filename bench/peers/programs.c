// Draws one fragment shader on desktop OpenGL without a window and says how long a draw takes:
//   programs PEER COLUMNS ROWS RUNS SHADER.frag [PICTURES]
// One result: RESULT, peer, program, median, fastest and median processor time of all threads (milliseconds). With PICTURES each colour target k
// is saved as PICTURES.f32 or PICTURES.k.f32: RGBA float, little-endian, row 0 at the bottom.
//
// A shader is fed as tests/corpus/mesa/README.md says: `varying vec2 v`, samplers `tex` and `tex1`, and lines in it,
//   //@ NAME a b c d      a vec4 uniform
//   //@ targets N         the number of colour targets
// Besides there are, made as tests/corpus/compiled/README.md says, `lin`, `mip` and `cube`.
#define GL_GLEXT_PROTOTYPES
#include "common.h"
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GL/gl.h>
#include <GL/glext.h>

#define FAIL(...) (fprintf(stderr, __VA_ARGS__), fputc('\n', stderr), exit(1))

static const char *const vertex_shader =
    "#version 120\n"
    "attribute vec2 pos;\n"
    "varying vec2 v;\n"
    "void main() { v = pos * 0.5 + 0.5; gl_Position = vec4(pos, 0.0, 1.0); }\n";

static char *slurp(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) FAIL("%s cannot be read", path);
  enum { MOST = 1 << 20 };
  char *text = calloc(1, MOST);
  if (!text || !fread(text, 1, MOST - 1, f)) FAIL("%s cannot be read", path);
  fclose(f);
  return text;
}

static GLuint shader(GLenum kind, const char *text) {
  const GLuint s = glCreateShader(kind);
  glShaderSource(s, 1, &text, 0);
  glCompileShader(s);
  GLint good;
  glGetShaderiv(s, GL_COMPILE_STATUS, &good);
  if (!good) {
    char log[4096];
    glGetShaderInfoLog(s, sizeof log, 0, log);
    FAIL("%s", log);
  }
  return s;
}

// Element (i, j) of `tex`, and of `tex1`; every value is exact.
static void texel(int i, int j, float *t) {
  t[0] = (float)((7 * i + 13 * j) & 31) / 32;
  t[1] = (float)((i * i + 3 * j) & 63) / 64;
  t[2] = (float)((i ^ j) & 15) / 16;
  t[3] = (float)((5 * i + 11 * j) & 15) / 16 - 0.25f;
}

static void texel1(int i, int j, float *t) {
  t[0] = (float)((3 * i + 5 * j) & 7) / 8;
  t[1] = (float)(i * j) / 32;
  t[2] = (float)(i + j) / 16;
  t[3] = 1 - (float)i / 8;
}

static float *picture(int width, int height, void (*element)(int, int, float *), int i0, int j0) {
  float *p = malloc((size_t)(width * height) * 16);
  if (!p) FAIL("no memory");
  for (int j = 0; j < height; j++)
    for (int i = 0; i < width; i++) element(i + i0, j + j0, p + 4 * (j * width + i));
  return p;
}

// Binds a texture to a unit, if the program has a sampler of this name.
static int sampler(GLuint program, int unit, const char *name, GLenum kind, GLenum minify, GLenum magnify, GLenum wrap) {
  const GLint location = glGetUniformLocation(program, name);
  if (location < 0) return 0;
  GLuint t;
  glGenTextures(1, &t);
  glActiveTexture(GL_TEXTURE0 + (GLenum)unit);
  glBindTexture(kind, t);
  glTexParameteri(kind, GL_TEXTURE_MIN_FILTER, (GLint)minify);
  glTexParameteri(kind, GL_TEXTURE_MAG_FILTER, (GLint)magnify);
  glTexParameteri(kind, GL_TEXTURE_WRAP_S, (GLint)wrap);
  glTexParameteri(kind, GL_TEXTURE_WRAP_T, (GLint)wrap);
  glUniform1i(location, unit);
  return 1;
}

static void image(GLenum target, int level, int width, int height, float *data) {
  glTexImage2D(target, level, GL_RGBA32F, width, height, 0, GL_RGBA, GL_FLOAT, data);
  free(data);
}

static void textures(GLuint program) {
  if (sampler(program, 0, "tex", GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_REPEAT))
    image(GL_TEXTURE_2D, 0, 16, 16, picture(16, 16, texel, 0, 0));
  if (sampler(program, 1, "tex1", GL_TEXTURE_2D, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE))
    image(GL_TEXTURE_2D, 0, 8, 4, picture(8, 4, texel1, 0, 0));
  if (sampler(program, 2, "lin", GL_TEXTURE_2D, GL_LINEAR, GL_LINEAR, GL_REPEAT))
    image(GL_TEXTURE_2D, 0, 16, 16, picture(16, 16, texel, 0, 0));
  if (sampler(program, 3, "mip", GL_TEXTURE_2D, GL_LINEAR_MIPMAP_LINEAR, GL_LINEAR, GL_REPEAT))
    for (int level = 0; level <= 6; level++)
      image(GL_TEXTURE_2D, level, 64 >> level, 64 >> level, picture(64 >> level, 64 >> level, texel, level, 0));
  if (sampler(program, 4, "cube", GL_TEXTURE_CUBE_MAP, GL_NEAREST, GL_NEAREST, GL_CLAMP_TO_EDGE))
    for (int face = 0; face < 6; face++)
      image(GL_TEXTURE_CUBE_MAP_POSITIVE_X + (GLenum)face, 0, 16, 16, picture(16, 16, texel, 0, face));
}

static double cpu(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void context(void) {
  PFNEGLGETPLATFORMDISPLAYEXTPROC get_display = (PFNEGLGETPLATFORMDISPLAYEXTPROC)eglGetProcAddress("eglGetPlatformDisplayEXT");
  if (!get_display) FAIL("EGL has no platform displays");
  const EGLDisplay display = get_display(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, 0);
  if (!eglInitialize(display, 0, 0)) FAIL("EGL has no display without a surface");
  eglBindAPI(EGL_OPENGL_API);
  const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config;
  EGLint count = 0;
  if (!eglChooseConfig(display, wanted, &config, 1, &count) || !count) FAIL("EGL has no configuration for OpenGL");
  const EGLContext c = eglCreateContext(display, config, EGL_NO_CONTEXT, 0);
  if (!c || !eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, c)) FAIL("EGL makes no context for OpenGL");
}

int main(int argc, char **argv) {
  if (argc < 6) FAIL("programs PEER COLUMNS ROWS RUNS SHADER.frag [PICTURES]");
  const char *peer = argv[1], *path = argv[5];
  const int width = atoi(argv[2]), height = atoi(argv[3]), runs = atoi(argv[4]);
  if (width < 1 || height < 1 || runs < 1) FAIL("columns, rows and runs are 1 or more");
  char *text = slurp(path);
  context();
  printf("VERSION\t%s\t%s, %s\n", peer, (const char *)glGetString(GL_RENDERER), (const char *)glGetString(GL_VERSION));

  enum { TARGETS = 4 };
  int targets = 1;
  const char *directive = strstr(text, "//@ targets ");
  if (directive) targets = atoi(directive + 12);
  if (targets < 1 || targets > TARGETS) FAIL("%s: 1 to %d targets", path, TARGETS);

  GLuint frame, colours[TARGETS];
  GLenum buffers[TARGETS];
  glGenTextures(TARGETS, colours);
  glGenFramebuffers(1, &frame);
  glBindFramebuffer(GL_FRAMEBUFFER, frame);
  for (int k = 0; k < targets; k++) {
    buffers[k] = GL_COLOR_ATTACHMENT0 + (GLenum)k;
    glBindTexture(GL_TEXTURE_2D, colours[k]);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA32F, width, height, 0, GL_RGBA, GL_FLOAT, 0);
    glFramebufferTexture2D(GL_FRAMEBUFFER, buffers[k], GL_TEXTURE_2D, colours[k], 0);
  }
  glDrawBuffers(targets, buffers);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) FAIL("no frame buffer of floating-point numbers");
  glClampColor(GL_CLAMP_FRAGMENT_COLOR, GL_FALSE);
  glClampColor(GL_CLAMP_READ_COLOR, GL_FALSE);
  glViewport(0, 0, width, height);
  glDisable(GL_DITHER);
  glClearColor(-1, -1, -1, -1);
  glClear(GL_COLOR_BUFFER_BIT);

  const GLuint program = glCreateProgram();
  glAttachShader(program, shader(GL_VERTEX_SHADER, vertex_shader));
  glAttachShader(program, shader(GL_FRAGMENT_SHADER, text));
  glBindAttribLocation(program, 0, "pos");
  glLinkProgram(program);
  GLint good;
  glGetProgramiv(program, GL_LINK_STATUS, &good);
  if (!good) FAIL("%s does not link", path);
  glUseProgram(program);
  textures(program);
  for (const char *line = text; (line = strstr(line, "//@ ")); line += 4) {
    char name[64];
    float value[4];
    if (sscanf(line + 4, "%63s %f %f %f %f", name, value, value + 1, value + 2, value + 3) != 5) continue;
    const GLint location = glGetUniformLocation(program, name);
    if (location >= 0) glUniform4fv(location, 1, value);
  }

  static const float corners[8] = {-1, -1, 1, -1, -1, 1, 1, 1};
  GLuint vertices;
  glGenBuffers(1, &vertices);
  glBindBuffer(GL_ARRAY_BUFFER, vertices);
  glBufferData(GL_ARRAY_BUFFER, sizeof corners, corners, GL_STATIC_DRAW);
  glEnableVertexAttribArray(0);
  glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, 0, 0);
  glFinish();

  double *times = malloc((size_t)runs * sizeof *times), *cpus = malloc((size_t)runs * sizeof *cpus), fastest = 1e9;
  if (!times || !cpus) FAIL("no memory");
  // The first draw compiles.
  for (int i = -1; i < runs; i++) {
    const double busy = cpu(), start = now();
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glFinish();
    const double time = now() - start;
    if (i < 0) continue;
    times[i] = time;
    cpus[i] = cpu() - busy;
    if (time < fastest) fastest = time;
  }
  if (glGetError()) FAIL("%s: OpenGL reports an error", path);
  char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : argv[5];
  const int letters = (int)strcspn(name, ".");
  printf("RESULT\t%s\t%.*s\t%.6f\t%.6f\t%.6f\n", peer, letters, name, median(times, runs) * 1e3, fastest * 1e3, median(cpus, runs) * 1e3);

  for (int k = 0; argc > 6 && k < targets; k++) {
    const size_t bytes = (size_t)width * (size_t)height * 16;
    float *out = malloc(bytes);
    char file[4096];
    if (k) snprintf(file, sizeof file, "%s.%d.f32", argv[6], k);
    else snprintf(file, sizeof file, "%s.f32", argv[6]);
    FILE *f = fopen(file, "wb");
    glReadBuffer(buffers[k]);
    if (out) glReadPixels(0, 0, width, height, GL_RGBA, GL_FLOAT, out);
    if (!out || !f || fwrite(out, bytes, 1, f) != 1 || fclose(f)) FAIL("%s cannot be written", file);
    free(out);
  }
  fflush(0);
  // The driver's threads need no farewell.
  _Exit(0);
}
