// The kernels in C++: for compilers to vectorise ("auto"), and by hand for AVX-512 ("hand"): native PEER
#include "common.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <immintrin.h>
#include <omp.h>
#include <string>
#include <sys/mman.h>

static std::string peer;

static float *floats(size_t count) {
  void *memory = nullptr;
  if (posix_memalign(&memory, 2 << 20, count * 4)) abort();
  madvise(memory, count * 4, MADV_HUGEPAGE);
  memset(memory, 0, count * 4);
  return static_cast<float *>(memory);
}

static void time_of(const char *kind, const char *kernel, const std::function<void()> &f, const std::function<double()> &check) {
  double times[15];
  int runs = 0;
  f();
  const double begin = now();
  while (runs < 15 && (runs < 3 || now() - begin < 3)) {
    const double start = now();
    f();
    times[runs++] = now() - start;
  }
  report((peer + "-" + kind).c_str(), kernel, median(times, runs), check());
}

static void saxpy() {
  const size_t n = SAXPY;
  float *x = floats(n), *y = floats(n), *out = floats(n);
  fill(x, n, 0, 1);
  fill(y, n, 0, 1);
  const float a = 1.7f;
  const auto check = [&] { return out[12345]; };
  time_of("auto", "saxpy", [&] {
    #pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) out[i] = a * x[i] + y[i];
  }, check);
#ifdef __AVX512F__
  time_of("hand", "saxpy", [&] {
    #pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i += 16)
      _mm512_stream_ps(out + i, _mm512_fmadd_ps(_mm512_set1_ps(a), _mm512_load_ps(x + i), _mm512_load_ps(y + i)));
  }, check);
#endif
  free(x), free(y), free(out);
}

static void mandelbrot() {
  const int side = MANDELBROT;
  float *out = floats(side * side);
  const auto check = [&] { return out[512 * side + 100]; };
  // Written over blocks of 32 points, so that compilers can vectorise the loop that points leave at different turns.
  time_of("auto", "mandelbrot", [&] {
    #pragma omp parallel for schedule(dynamic, 8)
    for (int y = 0; y < side; y++)
      for (int x0 = 0; x0 < side; x0 += 32) {
        float cr[32], zr[32], zi[32], n[32];
        const float ci = -1.5f + 3.0f * y / side;
        for (int l = 0; l < 32; l++) cr[l] = -2.0f + 3.0f * (x0 + l) / side, zr[l] = zi[l] = n[l] = 0;
        for (int k = 0, any = 1; k < TURNS && any; k++) {
          any = 0;
          #pragma omp simd reduction(| : any)
          for (int l = 0; l < 32; l++) {
            const float a = zr[l] * zr[l], b = zi[l] * zi[l];
            const int live = (a + b) < 4.0f;
            const float i = 2.0f * zr[l] * zi[l] + ci, r = a - b + cr[l];
            zi[l] = live ? i : zi[l], zr[l] = live ? r : zr[l], n[l] += live ? 1.0f : 0.0f, any |= live;
          }
        }
        std::copy(n, n + 32, out + y * side + x0);
      }
  }, check);
#ifdef __AVX512F__
  time_of("hand", "mandelbrot", [&] {
    #pragma omp parallel for schedule(dynamic, 8)
    for (int y = 0; y < side; y++) {
      const __m512 ci = _mm512_set1_ps(-1.5f + 3.0f * y / side), four = _mm512_set1_ps(4), one = _mm512_set1_ps(1);
      const __m512 lane = _mm512_set_ps(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
      for (int x0 = 0; x0 < side; x0 += 64) {
        __m512 cr[4], zr[4], zi[4], n[4];
        __mmask16 live[4];
        for (int u = 0; u < 4; u++) {
          const __m512 x = _mm512_add_ps(lane, _mm512_set1_ps(x0 + 16 * u));
          cr[u] = _mm512_fmadd_ps(x, _mm512_set1_ps(3.0f / side), _mm512_set1_ps(-2));
          zr[u] = zi[u] = n[u] = _mm512_setzero_ps();
          live[u] = 0xffff;
        }
        for (int k = 0; k < TURNS; k++) {
          unsigned any = 0;
          #pragma GCC unroll 4
          for (int u = 0; u < 4; u++) {
            const __m512 b = _mm512_mul_ps(zi[u], zi[u]);
            live[u] = _mm512_mask_cmp_ps_mask(live[u], _mm512_fmadd_ps(zr[u], zr[u], b), four, _CMP_LT_OQ);
            const __m512 r = _mm512_add_ps(_mm512_fmsub_ps(zr[u], zr[u], b), cr[u]);
            zi[u] = _mm512_fmadd_ps(_mm512_add_ps(zr[u], zr[u]), zi[u], ci);
            zr[u] = r;  // points that have left may go on: only n is looked at
            n[u] = _mm512_mask_add_ps(n[u], live[u], n[u], one);
            any |= live[u];
          }
          if (!any) break;
        }
        for (int u = 0; u < 4; u++) _mm512_store_ps(out + y * side + x0 + 16 * u, n[u]);
      }
    }
  }, check);
#endif
  free(out);
}

static void sgemm() {
  const int n = SGEMM;
  float *a = floats(n * n), *b = floats(n * n), *c = floats(n * n);
  fill(a, n * n, -1, 1);
  fill(b, n * n, -1, 1);
  time_of("auto", "sgemm", [&] {
    #pragma omp parallel for schedule(dynamic, 8)
    for (int i = 0; i < n; i += 4)
      for (int j = 0; j < n; j += 64) {
        float sum[4][64] = {};
        for (int k = 0; k < n; k++)
          for (int r = 0; r < 4; r++) {
            const float v = a[(i + r) * n + k];
            #pragma omp simd
            for (int l = 0; l < 64; l++) sum[r][l] += v * b[k * n + j + l];
          }
        for (int r = 0; r < 4; r++) std::copy(sum[r], sum[r] + 64, c + (i + r) * n + j);
      }
  }, [&] { return c[5 * n + 7]; });
  free(a), free(b), free(c);
}

static void conv5x5() {
  static const float weights[25] = {1, 4, 6, 4, 1, 4, 16, 24, 16, 4, 6, 24, 36, 24, 6, 4, 16, 24, 16, 4, 1, 4, 6, 4, 1};
  const int side = CONV;
  float *in = floats((size_t)side * side * 4), *out = floats((size_t)side * side * 4);
  fill(in, (size_t)side * side * 4, 0, 1);
  time_of("auto", "conv5x5", [&] {
    #pragma omp parallel for schedule(dynamic, 16)
    for (int y = 0; y < side; y++) {
      const float *row[5];
      for (int j = 0; j < 5; j++) row[j] = in + (size_t)std::clamp(y + j - 2, 0, side - 1) * side * 4;
      float *to = out + (size_t)y * side * 4;
      const auto edge = [&](int x) {
        for (int c = 0; c < 4; c++) {
          float sum = 0;
          for (int j = 0; j < 5; j++)
            for (int i = 0; i < 5; i++) sum += weights[j * 5 + i] * (1 / 256.f) * row[j][std::clamp(x + i - 2, 0, side - 1) * 4 + c];
          to[x * 4 + c] = sum;
        }
      };
      int x = 0;
      for (; x < 2; x++) edge(x);
      for (; x + 16 <= side - 2; x += 16) {
        float sum[64] = {};
        #pragma GCC unroll 5
        for (int j = 0; j < 5; j++)
          #pragma GCC unroll 5
          for (int i = 0; i < 5; i++) {
            const float weight = weights[j * 5 + i] * (1 / 256.f), *from = row[j] + (x + i - 2) * 4;
            #pragma omp simd
            for (int l = 0; l < 64; l++) sum[l] += weight * from[l];
          }
        std::copy(sum, sum + 64, to + x * 4);
      }
      for (; x < side; x++) edge(x);
    }
  }, [&] { return out[(1000 * side + 777) * 4 + 1]; });
  free(in), free(out);
}

static void nbody() {
  const int n = BODIES;
  float *all = floats(4 * n), *x = floats(n), *y = floats(n), *z = floats(n), *m = floats(n);
  float *ax = floats(n), *ay = floats(n), *az = floats(n);
  fill_bodies(all, n);
  for (int i = 0; i < n; i++) x[i] = all[4 * i], y[i] = all[4 * i + 1], z[i] = all[4 * i + 2], m[i] = all[4 * i + 3];
  const auto check = [&] { return ax[17]; };
  time_of("auto", "nbody", [&] {
    #pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i++) {
      float sx = 0, sy = 0, sz = 0;
      #pragma omp simd reduction(+ : sx, sy, sz)
      for (int j = 0; j < n; j++) {
        const float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
        const float inverse = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f), q = m[j] * inverse * inverse * inverse;
        sx += dx * q, sy += dy * q, sz += dz * q;
      }
      ax[i] = sx, ay[i] = sy, az[i] = sz;
    }
  }, check);
#ifdef __AVX512F__
  time_of("hand", "nbody", [&] {
    #pragma omp parallel for schedule(static)
    for (int i = 0; i < n; i += 32) {
      __m512 px[2], py[2], pz[2], sx[2], sy[2], sz[2];
      for (int u = 0; u < 2; u++) {
        px[u] = _mm512_load_ps(x + i + 16 * u), py[u] = _mm512_load_ps(y + i + 16 * u), pz[u] = _mm512_load_ps(z + i + 16 * u);
        sx[u] = sy[u] = sz[u] = _mm512_setzero_ps();
      }
      for (int j = 0; j < n; j++)
        #pragma GCC unroll 2
        for (int u = 0; u < 2; u++) {
          const __m512 dx = _mm512_sub_ps(_mm512_set1_ps(x[j]), px[u]), dy = _mm512_sub_ps(_mm512_set1_ps(y[j]), py[u]);
          const __m512 dz = _mm512_sub_ps(_mm512_set1_ps(z[j]), pz[u]);
          const __m512 r2 = _mm512_fmadd_ps(dx, dx, _mm512_fmadd_ps(dy, dy, _mm512_fmadd_ps(dz, dz, _mm512_set1_ps(0.01f))));
          __m512 v = _mm512_rsqrt14_ps(r2);  // and one step of Newton's method
          v = _mm512_mul_ps(v, _mm512_fnmadd_ps(_mm512_mul_ps(_mm512_mul_ps(r2, v), v), _mm512_set1_ps(0.5f), _mm512_set1_ps(1.5f)));
          const __m512 q = _mm512_mul_ps(_mm512_mul_ps(_mm512_set1_ps(m[j]), v), _mm512_mul_ps(v, v));
          sx[u] = _mm512_fmadd_ps(dx, q, sx[u]), sy[u] = _mm512_fmadd_ps(dy, q, sy[u]), sz[u] = _mm512_fmadd_ps(dz, q, sz[u]);
        }
      for (int u = 0; u < 2; u++) {
        _mm512_store_ps(ax + i + 16 * u, sx[u]), _mm512_store_ps(ay + i + 16 * u, sy[u]), _mm512_store_ps(az + i + 16 * u, sz[u]);
      }
    }
  }, check);
#endif
  for (float *p : {all, x, y, z, m, ax, ay, az}) free(p);
}

#ifdef __AVX512F__
// Exponential, logarithm and reciprocals by short polynomials and one step of Newton's method.
namespace hand {
using V = __m512;
static V all(float x) { return _mm512_set1_ps(x); }
template <size_t N> static V polynomial(V x, const float (&c)[N]) {
  V p = all(c[0]);
  for (size_t i = 1; i < N; i++) p = _mm512_fmadd_ps(p, x, all(c[i]));
  return p;
}
static V ex2(V x) {
  const V n = _mm512_roundscale_ps(x, 8);
  const float c[] = {1.5352e-4f, 1.339887e-3f, 9.618437e-3f, 5.550332e-2f, 2.402265e-1f, 6.931472e-1f, 1.f};
  return _mm512_scalef_ps(polynomial(_mm512_sub_ps(x, n), c), n);
}
static V lg2(V x) {
  const V m = _mm512_sub_ps(_mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src), all(1));
  const float c[] = {-0.0064535f, 0.0360885f, -0.0953294f, 0.1676541f, -0.2407338f, 0.3317990f, -0.4998741f, 0.9999964f};
  return _mm512_fmadd_ps(_mm512_mul_ps(polynomial(m, c), all(1.442695041f)), m, _mm512_getexp_ps(x));
}
static V rcp(V a) {
  const V r = _mm512_rcp14_ps(a);
  return _mm512_fmadd_ps(_mm512_fnmadd_ps(a, r, all(1)), r, r);
}
static V rsq(V a) {
  const V r = _mm512_rsqrt14_ps(a);
  return _mm512_mul_ps(r, _mm512_fnmadd_ps(_mm512_mul_ps(_mm512_mul_ps(a, r), r), all(.5f), all(1.5f)));
}
static V normal(V d) {
  const V k = rcp(_mm512_fmadd_ps(all(0.2316419f), _mm512_abs_ps(d), all(1)));
  const float c[] = {1.330274429f, -1.821255978f, 1.781477937f, -0.356563782f, 0.31938153f};
  const V density = _mm512_mul_ps(all(0.39894228040f), ex2(_mm512_mul_ps(all(-0.5f * 1.442695041f), _mm512_mul_ps(d, d))));
  const V q = _mm512_mul_ps(density, _mm512_mul_ps(k, polynomial(k, c)));
  return _mm512_mask_sub_ps(q, _mm512_cmp_ps_mask(d, _mm512_setzero_ps(), _CMP_GT_OQ), all(1), q);
}
}  // namespace hand
#endif

static float normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float p = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float q = 0.39894228040f * expf(-0.5f * d * d) * p;
  return d > 0 ? 1.0f - q : q;
}

static void black_scholes() {
  const size_t n = OPTIONS;
  float *price = floats(n), *strike = floats(n), *years = floats(n), *call = floats(n), *put = floats(n);
  fill_options(price, strike, years, n);
  const auto check = [&] { return call[777]; };
  time_of("auto", "black-scholes", [&] {
    #pragma omp parallel for simd schedule(static)
    for (size_t i = 0; i < n; i++) {
      const float root = sqrtf(years[i]), d1 = (logf(price[i] / strike[i]) + 0.065f * years[i]) / (0.3f * root), d2 = d1 - 0.3f * root;
      const float n1 = normal(d1), n2 = normal(d2), paid = strike[i] * expf(-0.02f * years[i]);
      call[i] = price[i] * n1 - paid * n2;
      put[i] = paid * (1.0f - n2) - price[i] * (1.0f - n1);
    }
  }, check);
#ifdef __AVX512F__
  time_of("hand", "black-scholes", [&] {
    using namespace hand;
    #pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i += 16) {
      const V s = _mm512_load_ps(price + i), x = _mm512_load_ps(strike + i), t = _mm512_load_ps(years + i), q = rsq(t);
      const V moneyness = _mm512_mul_ps(all(0.6931471806f), lg2(_mm512_mul_ps(s, rcp(x))));
      const V d1 = _mm512_mul_ps(_mm512_fmadd_ps(all(0.065f), t, moneyness), _mm512_mul_ps(q, all(1.f / 0.3f)));
      const V d2 = _mm512_fnmadd_ps(all(0.3f), _mm512_mul_ps(t, q), d1);
      const V paid = _mm512_mul_ps(x, ex2(_mm512_mul_ps(all(-0.02f * 1.442695041f), t)));
      const V c = _mm512_fmsub_ps(s, hand::normal(d1), _mm512_mul_ps(paid, hand::normal(d2)));
      _mm512_store_ps(call + i, c);
      _mm512_store_ps(put + i, _mm512_add_ps(c, _mm512_sub_ps(paid, s)));
    }
  }, check);
#endif
  for (float *p : {price, strike, years, call, put}) free(p);
}

static void sum() {
  const size_t n = SAXPY;
  float *x = floats(n), total = 0;
  fill(x, n, 0, 1);
  time_of("auto", "sum", [&] {
    float s = 0;
    #pragma omp parallel for simd reduction(+ : s) schedule(static)
    for (size_t i = 0; i < n; i++) s += x[i];
    total = s;
  }, [&] { return total; });
  free(x);
}

int main(int argc, char **argv) {
  peer = argc > 1 ? argv[1] : "native";
  printf("VERSION\t%s\t%s\n", peer.c_str(), __VERSION__);
  saxpy(), mandelbrot(), sgemm(), conv5x5(), nbody(), black_scholes(), sum();
}
