/* amuAsm.h: the X1K assembler and disassembler (docs/x1k-assembly.md describes the language). */
#ifndef AMU_ASM_H
#define AMU_ASM_H

#include "amDeviceManaged.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Receives messages and listings, a line or more at a time, with their line ends. */
typedef void (*AMUasmLogFunction)(const char *text);

/* Assembles `length` bytes of text.
 * binary, size: receive the CTM executable and its bytes; give it back with free() or amuAsmFree().
 * log: receives what is wrong with the text, and warnings; may be NULL.
 * Returns 1, or 0 upon failure; then *binary is NULL and *size 0. */
int amuAsmAssemble(const char *source, AMuint32 length, AMuint32 *size, void **binary, AMUasmLogFunction log);

/* Prints the CTM executable at `binary` through `log`. Returns 1, or 0 upon failure. */
int amuAsmDisassemble(const void *binary, AMUasmLogFunction log);

/* Gives back what amuAsmAssemble or amuCompCompile made; NULL is allowed. */
void amuAsmFree(void *binary);

#ifdef __cplusplus
}
#endif

#endif
