/* amDeviceManaged.h: the device interface of the CTM Guide, chapter 5.
 *
 * A device has its own memory and its own thread. Command buffers run on that thread, one after another, in the order in
 * which they were submitted. Every function may be called from any thread, for one device or for several.
 *
 * A function that is given NULL, the handle of a closed device or anything else that is no handle fails as documented;
 * ctm_last_error() of ctm.h says why, and so does the log that the environment variable CTM_LOG chooses.
 *
 * Memory. The client reaches system memory through baseAddressCPU and baseAddressCPUc. From amSubmitCommandBuffer until
 * amCommandBufferConsumed returns 1 it must not write what that command buffer reads (the buffer itself, program,
 * constants, inputs), and not read or write what it writes. Everything else it may use meanwhile.
 */
#ifndef AM_DEVICE_MANAGED_H
#define AM_DEVICE_MANAGED_H

#ifdef __cplusplus
extern "C" {
#endif

/* 32 bits, unsigned. */
typedef unsigned int AMuint32;

/* A handle; NULL is no device. */
typedef void *AMmanagedDevice;

/* Where the memory of a device lies. Sizes are bytes; addresses are those of commands. */
typedef struct AMmanagedDeviceInfo {
    AMuint32 arenaSizeGPU;     /* local memory */
    AMuint32 arenaSizeGPUb;    /* second region of local memory */
    AMuint32 arenaSizeSYS;     /* uncached system memory */
    AMuint32 arenaSizeSYSc;    /* cached system memory */
    AMuint32 baseAddressGPU;
    AMuint32 baseAddressGPUb;
    AMuint32 baseAddressSYS;   /* that of SYSc where there is no SYS */
    AMuint32 baseAddressSYSc;
    void *baseAddressCPU;      /* SYS for the client; good until the device is closed */
    void *baseAddressCPUc;     /* SYSc for the client */
    AMuint32 reserved0;        /* 0 */
    AMuint32 reserved1;        /* 0 */
} AMmanagedDeviceInfo;

/* Opens a device.
 *
 * dev: "/dev/pcie0" to "/dev/pcie255", "ctm:x1k" or "ctm:r700". Each call opens a device of its own, whatever the name. Options may
 *      follow: "ctm:x1k,threads=1,sys=64M" (docs/c-api.md has the list).
 * info: receives where the memory lies; may be NULL.
 * Returns a handle, or NULL upon failure. */
AMmanagedDevice amOpenManagedConnection(const char *dev, AMmanagedDeviceInfo *info);

/* Closes a device. What was submitted runs to its end first, so the call may take as long as that.
 * Then the handle and the pointers to system memory are no longer good. */
void amCloseManagedConnection(AMmanagedDevice dev);

/* Submits the command buffer of `size` dwords at the address `addr`, a multiple of 4 in any arena. Does not wait.
 * Returns what identifies the submission, never 0; or 0 upon failure: no device, or a buffer that is not in memory. */
AMuint32 amSubmitCommandBuffer(AMmanagedDevice dev, AMuint32 addr, AMuint32 size);

/* Whether the submission `buf` is consumed: 1 when everything that it did can be seen by the client, 0 when it is not
 * done, and upon failure (no device, or no submission has this identifier).
 *
 * A buffer that cannot be executed to its end is consumed too; ctm_last_error() says then why it stopped, and so does
 * ctm_submission_error() of ctm.h. The call is cheap; it may be made in a loop. */
AMuint32 amCommandBufferConsumed(AMmanagedDevice dev, AMuint32 buf);

#ifdef __cplusplus
}
#endif

#endif
