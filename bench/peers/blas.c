// SGEMM through a CBLAS library: blas PEER LIBRARY
#include "common.h"
#include <dlfcn.h>

typedef void (*sgemm_fn)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);

int main(int argc, char **argv) {
  if (argc != 3) return fprintf(stderr, "usage: blas PEER LIBRARY\n"), 2;
  void *library = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
  sgemm_fn sgemm = (sgemm_fn)dlsym(library, "cblas_sgemm");
  if (!sgemm) return fprintf(stderr, "%s\n", dlerror()), 1;
  enum { N = SGEMM, RUNS = 15 };
  float *a = aligned_alloc(64, N * N * 4), *b = aligned_alloc(64, N * N * 4), *c = aligned_alloc(64, N * N * 4);
  fill(a, N * N, -1, 1);
  fill(b, N * N, -1, 1);
  memset(c, 0, N * N * 4);
  double times[RUNS];
  for (int i = -3; i < RUNS; i++) {
    const double start = now();
    sgemm(101, 111, 111, N, N, N, 1, a, N, b, N, 0, c, N);  // row by row, nothing transposed
    if (i >= 0) times[i] = now() - start;
  }
  report(argv[1], "sgemm", median(times, RUNS), c[5 * N + 7]);
  return 0;
}
