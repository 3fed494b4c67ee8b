/* amuABI.h: what a program image says about its constants. */
#ifndef AMU_ABI_H
#define AMU_ABI_H

#include "amDeviceManaged.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum AMUabiDataType {
    AMU_ABI_UNDEF = 0,
    AMU_ABI_BOOL32 = 1,
    AMU_ABI_INT32 = 2,
    AMU_ABI_FLOAT32 = 3,
    AMU_ABI_SAMPLER = 4,
    AMU_ABI_MAXTYPES = 255
} AMUabiDataType;

/* The most constants an image names: 256 of floating point, 32 integer, 32 boolean. */
#define AMU_ABI_MAX_CONSTS 320
#define AMU_ABI_MAX_STRING 256

typedef struct AMUabiString {
    char str[AMU_ABI_MAX_STRING]; /* ends with 0; longer names are cut */
} AMUabiString;

/* A constant whose value comes with the program. */
typedef struct AMUabiLiteralConst {
    AMuint32 addr;        /* which constant of its type */
    AMUabiDataType type;
    union AMUabiLiteralValue {
        float float32[4];
        AMuint32 int32[4]; /* count, first aL, step, unused; 0 to 255 each */
        AMuint32 bool32[1];
    } value;
} AMUabiLiteralConst;

/* A constant that the program names, and whose value is the client's to write. */
typedef struct AMUabiUserConst {
    AMuint32 addr;
    AMUabiDataType type;
    AMUabiString name;
} AMUabiUserConst;

typedef struct AMUabiConstsInfo {
    AMuint32 litConstsCount;
    AMuint32 userConstsCount;
    AMUabiLiteralConst litConsts[AMU_ABI_MAX_CONSTS];
    AMUabiUserConst userConsts[AMU_ABI_MAX_CONSTS];
} AMUabiConstsInfo;

/* The constants of the CTM executable at `elf`. The result belongs to the caller and needs no release.
 * The bytes that the image itself says it has are read. What is no image gives no constants; ctm_last_error() says why. */
AMUabiConstsInfo amuABIExtractConstants(const void *elf);

/* Writes the literals of `info` to the client's views of constant memory: floating-point constant n at byte 16 n of
 * `float32`, integer constant n at byte 4 n of `int32`, boolean constant n at byte 4 n of `bool32`.
 * A pointer of whose type there is no literal is not looked at. */
void amuABISetLiteralConstants(AMUabiConstsInfo info, void *float32, void *int32, void *bool32);

#ifdef __cplusplus
}
#endif

#endif
