// One work-item for each element; of sgemm for four rows by four columns.

__kernel void saxpy(__global const float4 *x, __global const float4 *y, __global float4 *out, float a) {
  const size_t i = get_global_id(0);
  out[i] = a * x[i] + y[i];
}

__kernel void mandelbrot(__global float *out, int side, int turns) {
  const int x = get_global_id(0), y = get_global_id(1);
  const float cr = -2.0f + 3.0f * x / side, ci = -1.5f + 3.0f * y / side;
  float zr = 0, zi = 0, n = 0;
  for (int k = 0; k < turns; k++) {
    const float a = zr * zr, b = zi * zi;
    if (!(a + b < 4.0f)) break;
    zi = 2.0f * zr * zi + ci;
    zr = a - b + cr;
    n += 1.0f;
  }
  out[y * side + x] = n;
}

__kernel void sgemm(__global const float *a, __global const float4 *b, __global float4 *c, int n) {
  const int column = get_global_id(0), row = get_global_id(1) * 4;
  float4 c0 = 0, c1 = 0, c2 = 0, c3 = 0;
  for (int k = 0; k < n; k++) {
    const float4 v = b[k * (n / 4) + column];
    c0 += a[(row + 0) * n + k] * v;
    c1 += a[(row + 1) * n + k] * v;
    c2 += a[(row + 2) * n + k] * v;
    c3 += a[(row + 3) * n + k] * v;
  }
  c[(row + 0) * (n / 4) + column] = c0;
  c[(row + 1) * (n / 4) + column] = c1;
  c[(row + 2) * (n / 4) + column] = c2;
  c[(row + 3) * (n / 4) + column] = c3;
}

__constant float WEIGHTS[25] = {1, 4, 6, 4, 1, 4, 16, 24, 16, 4, 6, 24, 36, 24, 6, 4, 16, 24, 16, 4, 1, 4, 6, 4, 1};

__kernel void conv5x5(__global const float4 *in, __global float4 *out, int side) {
  const int x = get_global_id(0), y = get_global_id(1);
  float4 sum = 0;
  for (int j = 0; j < 5; j++)
    for (int i = 0; i < 5; i++)
      sum += WEIGHTS[j * 5 + i] * (1 / 256.f) * in[clamp(y + j - 2, 0, side - 1) * side + clamp(x + i - 2, 0, side - 1)];
  out[y * side + x] = sum;
}

__kernel void nbody(__global const float4 *body, __global float4 *out, int bodies) {
  const int i = get_global_id(0);
  const float4 me = body[i];
  float sx = 0, sy = 0, sz = 0;
  for (int j = 0; j < bodies; j++) {
    const float4 q = body[j];
    const float dx = q.x - me.x, dy = q.y - me.y, dz = q.z - me.z;
    const float inverse = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f), w = q.w * inverse * inverse * inverse;
    sx += dx * w;
    sy += dy * w;
    sz += dz * w;
  }
  out[i] = (float4)(sx, sy, sz, 0);
}

// The normal distribution by the polynomial 26.2.17 of Abramowitz and Stegun.
float normal(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabs(d));
  const float p = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
  const float q = 0.39894228040f * exp(-0.5f * d * d) * p;
  return d > 0 ? 1.0f - q : q;
}

__kernel void black_scholes(__global const float *price, __global const float *strike, __global const float *years,
                            __global float *call, __global float *put) {
  const size_t i = get_global_id(0);
  const float rate = 0.02f, volatility = 0.30f;
  const float s = price[i], x = strike[i], t = years[i], root = sqrt(t);
  const float d1 = (log(s / x) + (rate + 0.5f * volatility * volatility) * t) / (volatility * root);
  const float d2 = d1 - volatility * root;
  const float n1 = normal(d1), n2 = normal(d2), paid = x * exp(-rate * t);
  call[i] = s * n1 - paid * n2;
  put[i] = paid * (1.0f - n2) - s * (1.0f - n1);
}

__kernel void sum(__global const float4 *x, __global float *out, int elements) {
  const int first = get_global_id(0), step = get_global_size(0);
  float4 s = 0;
  for (int i = first; i < elements; i += step) s += x[i];
  out[first] = s.x + s.y + s.z + s.w;
}
