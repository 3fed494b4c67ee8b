// Time, data and the lines that bench/run reads; for the peers in C and in C++.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline int by_size(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline double median(double *times, int count) {
  qsort(times, (size_t)count, sizeof *times, by_size);
  return times[count / 2];
}

// One result: seconds, and a number of the output to be compared between peers.
static inline void report(const char *peer, const char *kernel, double seconds, double check) {
  printf("RESULT\t%s\t%s\t%.6f\t%.6g\n", peer, kernel, seconds * 1e3, check);
  fflush(stdout);
}

// xorshift32; every array begins with seed 1.
static inline float number(uint32_t *seed, float low, float high) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 17;
  *seed ^= *seed << 5;
  return low + (high - low) * ((float)(*seed >> 8) * (1.0f / 16777216.0f));
}

static inline void fill(float *to, size_t count, float low, float high) {
  uint32_t seed = 1;
  for (size_t i = 0; i < count; i++) to[i] = number(&seed, low, high);
}

// Four numbers a body: position, mass.
static inline void fill_bodies(float *to, size_t bodies) {
  uint32_t seed = 1;
  for (size_t i = 0; i < 4 * bodies; i++) to[i] = i % 4 == 3 ? number(&seed, 0.5f, 1) : number(&seed, -1, 1);
}

// Price, strike and years of each option.
static inline void fill_options(float *price, float *strike, float *years, size_t count) {
  uint32_t seed = 1;
  for (size_t i = 0; i < count; i++) {
    price[i] = number(&seed, 5, 30);
    strike[i] = number(&seed, 1, 100);
    years[i] = number(&seed, 0.25f, 10);
  }
}

enum { SAXPY = 16 << 20, MANDELBROT = 1024, TURNS = 256, SGEMM = 1024, CONV = 2048, BODIES = 4096, OPTIONS = 4 << 20 };
