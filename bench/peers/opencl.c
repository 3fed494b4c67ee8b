// The kernels on the first OpenCL platform: opencl PEER kernels.cl [BUILD OPTIONS]
#define CL_TARGET_OPENCL_VERSION 120
#include "common.h"
#include <CL/cl.h>

#define CHECK(call)                                                                  \
  do {                                                                               \
    const cl_int error_ = (call);                                                    \
    if (error_) fprintf(stderr, "%s:%d: error %d\n", __FILE__, __LINE__, error_), exit(1); \
  } while (0)

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static const char *peer;

static cl_mem buffer(size_t floats, const float *from) {
  cl_int error;
  cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, floats * 4, 0, &error);
  CHECK(error);
  const float zero = 0;
  if (from) CHECK(clEnqueueWriteBuffer(queue, memory, 1, 0, floats * 4, from, 0, 0, 0));
  else CHECK(clEnqueueFillBuffer(queue, memory, &zero, 4, 0, floats * 4, 0, 0, 0));
  CHECK(clFinish(queue));
  return memory;
}

struct argument {
  size_t size;
  const void *value;
};
#define MEMORY(m) {sizeof(cl_mem), &(m)}
#define VALUE(v) {sizeof(v), &(v)}

static void run(const char *function, const char *kernel_name, const struct argument *arguments, int count,
                const size_t *global, int dimensions, cl_mem out, size_t sample) {
  enum { RUNS = 15 };
  cl_int error;
  cl_kernel kernel = clCreateKernel(program, function, &error);
  CHECK(error);
  for (int i = 0; i < count; i++) CHECK(clSetKernelArg(kernel, (cl_uint)i, arguments[i].size, arguments[i].value));
  double times[RUNS];
  const double begin = now();
  int runs = 0;
  for (int i = -1; i < RUNS && (runs < 3 || now() - begin < 3); i++) {
    const double start = now();
    CHECK(clEnqueueNDRangeKernel(queue, kernel, (cl_uint)dimensions, 0, global, 0, 0, 0, 0));
    CHECK(clFinish(queue));
    if (i >= 0) times[runs++] = now() - start;
  }
  float value;
  CHECK(clEnqueueReadBuffer(queue, out, 1, sample * 4, 4, &value, 0, 0, 0));
  report(peer, kernel_name, median(times, runs), value);
  clReleaseKernel(kernel);
}
#define RUN(function, name, global, dimensions, out, sample, ...) \
  run(function, name, (struct argument[]){__VA_ARGS__}, sizeof((struct argument[]){__VA_ARGS__}) / sizeof(struct argument), global, dimensions, out, sample)

static void build(cl_device_id device, const char *path, const char *options) {
  static char source[1 << 16], log[1 << 16];
  FILE *file = fopen(path, "r");
  if (!file) fprintf(stderr, "%s cannot be read\n", path), exit(1);
  source[fread(source, 1, sizeof source - 1, file)] = 0;
  fclose(file);
  const char *text = source;
  cl_int error;
  program = clCreateProgramWithSource(context, 1, &text, 0, &error);
  CHECK(error);
  if (clBuildProgram(program, 1, &device, options, 0, 0)) {
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, 0);
    fprintf(stderr, "%s\n", log);
    exit(1);
  }
}

int main(int argc, char **argv) {
  if (argc < 3) return fprintf(stderr, "usage: opencl PEER kernels.cl [BUILD OPTIONS]\n"), 2;
  peer = argv[1];
  cl_platform_id platform;
  cl_device_id device;
  cl_int error;
  CHECK(clGetPlatformIDs(1, &platform, 0));
  CHECK(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, 0));
  char name[256], version[256];
  clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, 0);
  clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof version, version, 0);
  printf("VERSION\t%s\t%s, %s\n", peer, name, version);
  context = clCreateContext(0, 1, &device, 0, 0, &error);
  CHECK(error);
  queue = clCreateCommandQueue(context, device, 0, &error);
  CHECK(error);
  build(device, argv[2], argc > 3 ? argv[3] : "");

  float *host = malloc((size_t)SAXPY * 4);
  fill(host, SAXPY, 0, 1);
  cl_mem x = buffer(SAXPY, host), y = buffer(SAXPY, host), out = buffer(SAXPY, 0);
  const float a = 1.7f;
  size_t global[2] = {SAXPY / 4};
  RUN("saxpy", "saxpy", global, 1, out, 12345, MEMORY(x), MEMORY(y), MEMORY(out), VALUE(a));

  int elements = SAXPY / 4;
  global[0] = 8192;
  RUN("sum", "sum", global, 1, out, 5, MEMORY(x), MEMORY(out), VALUE(elements));

  int side = MANDELBROT, turns = TURNS;
  global[0] = global[1] = MANDELBROT;
  RUN("mandelbrot", "mandelbrot", global, 2, out, 512 * MANDELBROT + 100, MEMORY(out), VALUE(side), VALUE(turns));

  int n = SGEMM;
  global[0] = global[1] = SGEMM / 4;
  RUN("sgemm", "sgemm", global, 2, out, 5 * SGEMM + 7, MEMORY(x), MEMORY(y), MEMORY(out), VALUE(n));

  side = CONV;
  global[0] = global[1] = CONV;
  RUN("conv5x5", "conv5x5", global, 2, out, (1000 * CONV + 777) * 4 + 1, MEMORY(x), MEMORY(out), VALUE(side));

  fill_bodies(host, BODIES);
  cl_mem body = buffer(4 * BODIES, host);
  n = BODIES;
  global[0] = BODIES;
  RUN("nbody", "nbody", global, 1, out, 17 * 4, MEMORY(body), MEMORY(out), VALUE(n));

  float *price = host, *strike = host + OPTIONS, *years = host + 2 * (size_t)OPTIONS;
  fill_options(price, strike, years, OPTIONS);
  cl_mem s = buffer(OPTIONS, price), k = buffer(OPTIONS, strike), t = buffer(OPTIONS, years);
  cl_mem call = buffer(OPTIONS, 0), put = buffer(OPTIONS, 0);
  global[0] = OPTIONS;
  RUN("black_scholes", "black-scholes", global, 1, call, 777, MEMORY(s), MEMORY(k), MEMORY(t), MEMORY(call), MEMORY(put));
  return 0;
}
