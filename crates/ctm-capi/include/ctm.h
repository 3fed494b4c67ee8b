/* ctm.h: programs, findings, jobs, runs and devices of libctm.
 *
 * Every function may be called from any thread. An object (program, findings, job, result, bytes) may be read by several
 * threads at a time; functions that change or free one must have it to themselves. Nothing here throws or exits.
 *
 * Functions that make an object give it through their last pointer arguments; *_free() gives it back and takes NULL. Upon
 * failure they store NULL and return what kind of failure it is; ctm_last_error() says it in words. Where findings are
 * asked for, they are given upon success (warnings) and upon failure (what is wrong), unless the call was wrong itself.
 * Strings are UTF-8. Pointers into an object are good until it is freed.
 */
#ifndef CTM_H
#define CTM_H

#include "amDeviceManaged.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes when a program that was built with an older header might not work any more. */
#define CTM_API_VERSION 1
uint32_t ctm_api_version(void);
/* The version of the library, such as "0.2.0". */
const char *ctm_version(void);

typedef enum ctm_status {
    CTM_OK = 0,
    CTM_WRONG = 1,       /* a text, program or job is wrong: see the findings */
    CTM_ARGUMENT = 2,    /* the call is wrong: NULL, a size or a number that cannot be */
    CTM_FAULT = 3,       /* the running program did wrong */
    CTM_UNSUPPORTED = 4, /* legal, but not part of this build */
    CTM_HOST = 5,        /* memory, files or the device handle */
    CTM_INTERNAL = 6,    /* a bug in the library */
    CTM_TIMEOUT = 7,     /* the time was over first */
    CTM_CANCELLED = 8    /* somebody cancelled it */
} ctm_status;

/* Why the last call of this thread that failed did. Never NULL; good until the next failure on this thread. */
const char *ctm_last_error(void);

/* ---- bytes that the library made -------------------------------------------------------------------------- */

typedef struct ctm_bytes ctm_bytes;
const uint8_t *ctm_bytes_data(const ctm_bytes *bytes); /* a 0 follows the last byte */
size_t ctm_bytes_size(const ctm_bytes *bytes);
void ctm_bytes_free(ctm_bytes *bytes);

/* ---- findings --------------------------------------------------------------------------------------------- */

typedef struct ctm_findings ctm_findings;

typedef enum ctm_severity { CTM_NOTE = 0, CTM_WARNING = 1, CTM_ERROR = 2 } ctm_severity;

typedef struct ctm_finding {
    ctm_severity severity;
    uint32_t start;      /* bytes start to end of the text; equal where there is no place */
    uint32_t end;
    uint32_t line;       /* from 1; 0 where there is no place */
    uint32_t column;     /* characters, from 1 */
    int32_t pc;          /* instruction, -1 where it is about none */
    const char *rule;    /* stable name */
    const char *message;
    const char *file;    /* NULL where there is none, as the next two */
    const char *cite;    /* section of the manual */
    const char *help;    /* what would be right */
    const char *text;    /* all of it, with source line and carets */
    uint32_t submission; /* of a device, 0 where there is none */
    uint32_t reserved;   /* 0 */
} ctm_finding;

size_t ctm_findings_count(const ctm_findings *findings);
/* Finding `index`; NULL beyond the last. */
const ctm_finding *ctm_findings_get(const ctm_findings *findings, size_t index);
/* An array of objects, as `ctm check --json` prints them. */
ctm_status ctm_findings_json(const ctm_findings *findings, ctm_bytes **json);
void ctm_findings_free(ctm_findings *findings);

/* ---- programs --------------------------------------------------------------------------------------------- */

typedef struct ctm_program ctm_program;

typedef enum ctm_form {
    CTM_FORM_ELF = 0, /* a CTM executable */
    CTM_FORM_HEX = 1, /* six hexadecimal words a line */
    CTM_FORM_BIN = 2  /* little-endian words */
} ctm_form;

typedef enum ctm_isa { CTM_ISA_X1K = 0, CTM_ISA_R700 = 1 } ctm_isa;

typedef enum ctm_symbol_kind {
    CTM_INPUT = 0,
    CTM_OUTPUT = 1,
    CTM_FLOAT_CONSTANT = 2,
    CTM_INT_CONSTANT = 3,
    CTM_BOOL_CONSTANT = 4
} ctm_symbol_kind;

/* Assembles X1K text. `name` stands for it in findings; NULL: "text". `findings` may be NULL. */
ctm_status ctm_assemble(const char *text, size_t size, const char *name, ctm_program **program,
                        ctm_findings **findings);
/* Reads a program of any kind that `ctm dis` reads, of either instruction set. The extension of `name` tells text and bare
 * words: .x1k, .hex, .bin, .elf; .r700, .psh, .vsh, .gsh, .csh for R700 text. */
ctm_status ctm_program_read(const void *data, size_t size, const char *name, ctm_program **program,
                            ctm_findings **findings);
/* R700 programs are written as CTM_FORM_HEX (two words a line) and CTM_FORM_BIN. */
ctm_status ctm_program_write(const ctm_program *program, ctm_form form, ctm_bytes **image);
/* Text that ctm_assemble() turns into the same words. */
ctm_status ctm_disassemble(const ctm_program *program, ctm_bytes **text);
/* What the rules on programs say: CTM_WRONG when a finding is an error. `findings` may be NULL. */
ctm_status ctm_program_check(const ctm_program *program, ctm_findings **findings);
/* The number of a name's slot or constant, as in ctm_run_options (inputs of R700 programs: textures 0 to 255, buffers CTM_BUFFER + 0 to 255); -1 where
 * the program has no such name, and for names of constant buffers. */
int32_t ctm_program_symbol(const ctm_program *program, ctm_symbol_kind kind, const char *name);
/* X1K: instructions. R700: pairs of words, of control flow and clauses together. */
uint32_t ctm_program_instructions(const ctm_program *program);
/* A ctm_isa; -1 for NULL. */
int32_t ctm_program_isa(const ctm_program *program);
void ctm_program_free(ctm_program *program);

/* ---- running a program on arrays -------------------------------------------------------------------------- */

typedef enum ctm_filter { CTM_NEAREST = 0, CTM_LINEAR = 1 } ctm_filter;
typedef enum ctm_wrap { CTM_CLAMP = 0, CTM_REPEAT = 1, CTM_MIRROR = 2, CTM_BORDER = 3 } ctm_wrap;

/* Added to the slot of an input of an R700 program: a buffer of vertex fetches. */
#define CTM_BUFFER 256

/* An input: `height` rows of `width` elements of `channels` (1, 2 or 4) numbers, row by row, at most 4096 x 4096 (R700: 8192 x 8192). */
typedef struct ctm_input {
    uint32_t slot; /* 0 to 15; R700: texture 0 to 255, or CTM_BUFFER + 0 to 255. Not read where options have a name for it. */
    uint32_t width;
    uint32_t height;
    uint32_t channels;
    const float *data;
    ctm_filter filter;
    ctm_wrap wrap_x;
    ctm_wrap wrap_y;
    float border[4];
} ctm_input;

/* An output, laid out in the same way. Its numbers stay where the program writes nothing. */
typedef struct ctm_output {
    uint32_t slot; /* 0 to 3; R700: pixel export 0 to 7 */
    uint32_t width;
    uint32_t height;
    uint32_t channels;
    float *data;
} ctm_output;

/* Engines give the same results at different speeds. */
typedef enum ctm_engine {
    CTM_ENGINE_DEFAULT = 0, /* what the environment variable CTM_ENGINE names (interp, jit, verify); otherwise jit */
    CTM_ENGINE_INTERP = 1,  /* the reference interpreter */
    CTM_ENGINE_JIT = 2,     /* the fast engine */
    CTM_ENGINE_VERIFY = 3   /* both; a difference is a finding, "engine-difference" */
} ctm_engine;

/* ---- ending what runs, and how far it is ------------------------------------------------------------------ */

/* A hold on runs and jobs. It may be cancelled and asked from any thread while something runs under it. */
typedef struct ctm_control ctm_control;

ctm_status ctm_control_new(ctm_control **control);
/* Ends what runs under it, soon, with CTM_CANCELLED; what begins later too, until ctm_control_reset(). */
ctm_status ctm_control_cancel(const ctm_control *control);
ctm_status ctm_control_reset(const ctm_control *control);

/* How far a launch is. */
typedef struct ctm_progress {
    uint64_t done;       /* processors of the domain whose programs have ended */
    uint64_t processors; /* all of them; 0: no launch has begun */
    double seconds;      /* since it began */
    double seconds_left; /* if it goes on like that; below 0: not known yet */
} ctm_progress;

/* The launch that runs under it, or ran last. */
ctm_status ctm_control_progress(const ctm_control *control, ctm_progress *progress);
/* When nothing runs under it any more. */
void ctm_control_free(ctm_control *control);

/* A constant buffer of an R700 program: KC0 and KC1 show lines of it. */
typedef struct ctm_constant_buffer {
    uint32_t bank; /* 0 to 15 */
    uint32_t reserved; /* 0 */
    const float *data; /* four numbers for each constant */
    size_t count;      /* constants */
} ctm_constant_buffer;

/* A constant by name: of the program's text or container, or of a register ("c3", "i0", "b1"; of the R700 "C3"). `data` points to
 *   CTM_FLOAT_CONSTANT: float; four numbers, or as many as a container's uniform takes, column by column and element by element
 *   CTM_INT_CONSTANT:   int32_t; the count, the first value of aL, the step: one to three
 *   CTM_BOOL_CONSTANT:  int32_t; one, not 0: true */
typedef struct ctm_constant {
    const char *name;
    ctm_symbol_kind kind;
    uint32_t reserved; /* 0 */
    const void *data;
    size_t count;      /* numbers */
} ctm_constant;

/* The start value of a register: origin + column * di + row * dj, channel by channel. With any of them, the position and the program's own
 * preloads are start values, too, or are absent; registers without one hold 0. */
typedef struct ctm_register {
    uint32_t index; /* 0 to 127 */
    uint32_t bits;  /* not 0: values are rounded to integers, whose 32 bits are stored */
    double origin[4];
    double di[4];
    double dj[4];
} ctm_register;

/* A memory of an R700 program: "scatter", "reduction", "ring", "stream0" to "stream3". After the run it has the final dwords. */
typedef struct ctm_memory {
    const char *name;
    uint32_t *data;
    size_t count; /* dwords */
} ctm_memory;

/* One run. Set everything to 0 first, then `size`; what is 0 has its default. */
typedef struct ctm_run_options {
    size_t size;             /* sizeof(ctm_run_options) */
    uint32_t domain[4];      /* i0, j0, i1, j1, inclusive */
    const float *floats;     /* floating-point constants 0.., four numbers each; literals of an X1K program count more */
    size_t float_count;      /* constants, at most 256 */
    const uint8_t *ints;     /* integer constants 0.. (R700: loop constants), four bytes each: count, first aL, step, 0 */
    size_t int_count;        /* at most 32 */
    const uint8_t *bools;    /* boolean constants 0.., a byte each */
    size_t bool_count;       /* at most 32 */
    const ctm_input *inputs;
    size_t input_count;
    const ctm_output *outputs;
    size_t output_count;
    uint32_t threads;        /* 0: one per core */
    uint32_t group;          /* processors that decide a jump together; 0: 16, of R700 programs 64 */
    uint64_t instructions;   /* what a group may issue; 0: 100000000 */
    uint32_t check;          /* not 0: look for mistakes while running; findings tell */
    uint32_t engine;         /* a ctm_engine */
    double seconds;          /* wall time; 0: no limit */
    const ctm_control *control; /* what may end it; NULL: nothing */
    const ctm_constant_buffer *constant_buffers; /* R700 programs only */
    size_t constant_buffer_count; /* at most 16 */
    uint32_t clamp;          /* not 0: an input that clamps may be smaller than the domain, where the program reads it at
                                each processor's own place only; otherwise that is CTM_ARGUMENT */
    uint32_t reserved;       /* 0 */
    const char *const *input_names;  /* of `inputs`, in their order; NULL, or NULL for one of them: its slot counts */
    const char *const *output_names; /* of `outputs` */
    const ctm_constant *constants;   /* constants by name */
    size_t constant_count;
    const ctm_register *registers;   /* start values */
    size_t register_count;   /* at most 128 */
    const ctm_memory *memories;      /* R700 programs only */
    size_t memory_count;     /* at most 7 */
} ctm_run_options;

/* What a run did. */
typedef struct ctm_counters {
    uint64_t groups;
    uint64_t processors;
    uint64_t alu;
    uint64_t output;
    uint64_t tex;
    uint64_t fc;
    uint64_t active_lanes;
    uint64_t total_lanes;
    uint64_t fetches;
    uint64_t fetch_bytes;
    uint64_t writes;
    uint64_t write_bytes;
    uint64_t clocks; /* docs/clocks.md */
} ctm_counters;

/* Runs a program of either instruction set on the caller's arrays, which are read and written in place; arrays of outputs overlap no other array. Names,
 * sizes and constants are checked before anything runs: CTM_ARGUMENT. Upon CTM_FAULT and CTM_CANCELLED outputs may hold a part of the result.
 * `counters` and `findings` may be NULL. */
ctm_status ctm_run(const ctm_program *program, const ctm_run_options *options, ctm_counters *counters,
                   ctm_findings **findings);

/* ---- jobs (docs/jobs.md) ---------------------------------------------------------------------------------- */

typedef struct ctm_job ctm_job;
typedef struct ctm_result ctm_result;

/* A job from the text of a job file; file names in it are relative to `directory` (NULL: the current one). */
ctm_status ctm_job_parse(const char *text, size_t size, const char *name, const char *directory, ctm_job **job);
ctm_status ctm_job_open(const char *path, ctm_job **job);
/* A job that is a program file; ctm_job_set() says the rest. */
ctm_status ctm_job_for_program(const char *path, ctm_job **job);
/* Sets a flag of `ctm run` without its dashes: "size", "64x64". What is wrong with it, ctm_job_run() tells. */
ctm_status ctm_job_set(ctm_job *job, const char *flag, const char *value);
/* Runs the job and writes the files that it names. The job stays and can be changed and run again. */
ctm_status ctm_job_run(const ctm_job *job, ctm_result **result, ctm_findings **findings);
/* The same under a control, or NULL. Each launch of a job has half a minute if it does not say `budget-seconds`. */
ctm_status ctm_job_run_under(const ctm_job *job, const ctm_control *control, ctm_result **result,
                             ctm_findings **findings);
void ctm_job_free(ctm_job *job);

/* What the output of a job holds at the end: rows of elements of single-precision numbers. */
typedef struct ctm_array {
    uint32_t width;
    uint32_t height;
    uint32_t channels;
    uint32_t reserved;
    const float *data;
} ctm_array;

/* Output `slot`; of R700 jobs pixel exports 0 to 7, the depth 8, positions 9 to 12, parameters 13 to 44, integers as the floats of their bits.
   CTM_ARGUMENT when the job has none such. */
ctm_status ctm_result_output(ctm_result *result, uint32_t slot, ctm_array *array);
/* The output of this name: the program's own, or o0, pix0, depth, pos0, param0. CTM_ARGUMENT when the job has none such. */
ctm_status ctm_result_output_named(ctm_result *result, const char *name, ctm_array *array);
void ctm_result_counters(const ctm_result *result, ctm_counters *counters);
/* The object that `ctm run --json` prints (docs/cli.md). */
ctm_status ctm_result_json(const ctm_result *result, ctm_bytes **json);
void ctm_result_free(ctm_result *result);

/* ---- pictures (docs/draw-jobs.md) ------------------------------------------------------------------------- */

typedef struct ctm_drawing ctm_drawing;
typedef struct ctm_picture ctm_picture;

/* A drawing from the text of a job file; file names in it are relative to `directory` (NULL: the current one). */
ctm_status ctm_drawing_parse(const char *text, size_t size, const char *name, const char *directory,
                             ctm_drawing **drawing);
ctm_status ctm_drawing_open(const char *path, ctm_drawing **drawing);
ctm_status ctm_drawing_set_size(ctm_drawing *drawing, uint32_t width, uint32_t height);
/* Constants of all draws, by name, as in the job's `constants`. What is wrong with the name, ctm_drawing_draw() tells. */
ctm_status ctm_drawing_set_constant(ctm_drawing *drawing, const char *name, const float *values, size_t count);
/* Draws the picture at a point of an animation (0 to 1); files that the job names are not written. `control` may be NULL. */
ctm_status ctm_drawing_draw(const ctm_drawing *drawing, float time, const ctm_control *control,
                            ctm_picture **picture);
void ctm_drawing_free(ctm_drawing *drawing);

/* Red, green, blue and alpha of a colour target, row by row from the top; integers as the floats of their bits. They stay until the picture is
   freed. CTM_ARGUMENT when there is no such target. */
ctm_status ctm_picture_target(ctm_picture *picture, uint32_t number, ctm_array *array);
/* Depths, of the first sample. CTM_ARGUMENT without a depth target. */
ctm_status ctm_picture_depths(const ctm_picture *picture, ctm_array *array);
/* What seems wrong and did not keep it from being drawn: a line each. */
ctm_status ctm_picture_findings(const ctm_picture *picture, ctm_bytes **text);
void ctm_picture_free(ctm_picture *picture);

/* ---- devices, beyond amDeviceManaged.h -------------------------------------------------------------------- */

typedef enum ctm_arena { CTM_ARENA_GPU = 0, CTM_ARENA_GPUB = 1, CTM_ARENA_SYS = 2, CTM_ARENA_SYSC = 3 } ctm_arena;

/* Reserves memory, aligned for use in commands, from the start of an arena. It is never freed; clients that keep their own
 * map of an arena do not call this. */
ctm_status ctm_device_allocate(AMmanagedDevice device, ctm_arena arena, uint32_t size, AMuint32 *address);
/* Wait until everything that was submitted is done, then copy. */
ctm_status ctm_device_write(AMmanagedDevice device, AMuint32 address, const void *data, size_t size);
ctm_status ctm_device_read(AMmanagedDevice device, AMuint32 address, void *data, size_t size);
/* Waits for a submission: CTM_OK when it is done, CTM_FAULT when it failed, CTM_TIMEOUT after so many milliseconds
 * (UINT32_MAX: none). */
ctm_status ctm_device_wait(AMmanagedDevice device, AMuint32 submission, uint32_t milliseconds);
/* Ends a submission that runs or waits for its turn; it has failed then. One that is done stays as it is. */
ctm_status ctm_device_cancel(AMmanagedDevice device, AMuint32 submission);
/* How far the launch is that runs on the device, or ran last. */
ctm_status ctm_device_progress(AMmanagedDevice device, ctm_progress *progress);
/* Why a submission that is done failed; NULL when it did not, or is not among the last 1024 that failed. Good until the
 * next failure on this thread. */
const char *ctm_submission_error(AMmanagedDevice device, AMuint32 submission);
/* What a device with `check` (or the engine verify) has noticed since the last call, in the order of submissions; at most
 * the last 4096. Ask when a submission is done. */
ctm_status ctm_device_findings(AMmanagedDevice device, ctm_findings **findings);

#ifdef __cplusplus
}
#endif

#endif
