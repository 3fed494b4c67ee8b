/* amuComp.h: the compiler. */
#ifndef AMU_COMP_H
#define AMU_COMP_H

#include "amDeviceManaged.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct AMUcompCompilerRec *AMUcompCompiler;

/* A definition; {0, 0} ends a list of them. */
typedef struct AMUcompMacro {
    const char *name;
    const char *value;
} AMUcompMacro;

typedef void (*AMUcompLogFunction)(const char *text);

/* A compiler. Never NULL; it may be used by several threads. */
AMUcompCompiler amuCompOpenCompiler(void);
void amuCompCloseCompiler(AMUcompCompiler compiler);

/* Compiles `length` bytes of text, or of Direct3D 9 byte code (pixel shaders of version 2 or 3; its constant table names the constants).
 * macros: the definition AMU_LANG_X1K or AMU_LANG_PS3 says which language; without one, text that begins with ps_3_0 is
 *         that, everything else X1K assembly. Other definitions are not used, and the log says so. NULL: none.
 * reserved: NULL. entry: "main", or NULL; any other name is refused.
 * size, binary: receive the CTM executable and its bytes; give it back with free().
 * log: receives what is wrong with the text, and warnings; may be NULL.
 * Returns 1, or 0 upon failure; then *binary is NULL and *size 0. */
int amuCompCompile(AMUcompCompiler compiler, const char *source, unsigned int length, const AMUcompMacro *macros,
                   void *reserved, const char *entry, AMuint32 *size, void **binary, AMUcompLogFunction log);

#ifdef __cplusplus
}
#endif

#endif
