/* CTM/Buffer.h: a piece of device memory. C++; see CTM/Device.h. */
#ifndef CTM_BUFFER_H
#define CTM_BUFFER_H

#include "../amuCbufTypes.h"

#ifdef __cplusplus

#include <cstddef>

namespace CTM {

/* Data formats and tilings: the numbers of commands. */
enum BufferFormat {
    UINT16_1 = AMU_CBUF_FLD_FORMAT_UINT16_1,
    UINT8_4 = AMU_CBUF_FLD_FORMAT_UINT8_4,
    FLOAT32_1 = AMU_CBUF_FLD_FORMAT_FLOAT32_1,
    FLOAT32_2 = AMU_CBUF_FLD_FORMAT_FLOAT32_2,
    FLOAT32_4 = AMU_CBUF_FLD_FORMAT_FLOAT32_4
};
enum BufferTiling { LINEAR = AMU_CBUF_FLD_TILING_LINEAR, TILED0 = AMU_CBUF_FLD_TILING_TILED0 };

/* Where memory is: system memory, which the client reaches by pointer, or local memory. */
enum MemoryType { MEM_SYS, MEM_GPU };

/* A piece of memory. Deleting it does not free the memory: that is what Device::popMemory() is for. */
class Buffer {
public:
    /* The memory for the client; NULL in local memory. */
    void *getCPUAddress() const { return cpu_; }
    /* The same for commands. */
    AMuint32 getGPUAddress() const { return gpu_; }
    /* Columns, the padding that the device needs included, and rows; 0 for memory that is no array. */
    unsigned int getWidth() const { return width_; }
    unsigned int getHeight() const { return height_; }
    unsigned int getFormat() const { return format_; }
    unsigned int getTiling() const { return tiling_; }
    /* Bytes asked for, padding included. */
    unsigned int getSize() const { return size_; }

private:
    friend class Device;
    Buffer(AMuint32 gpu, void *cpu, unsigned int size, unsigned int width, unsigned int height, unsigned int format,
           unsigned int tiling)
        : gpu_(gpu), cpu_(cpu), size_(size), width_(width), height_(height), format_(format), tiling_(tiling) {}

    AMuint32 gpu_;
    void *cpu_;
    unsigned int size_;
    unsigned int width_;
    unsigned int height_;
    unsigned int format_;
    unsigned int tiling_;
};

} /* namespace CTM */

#endif /* __cplusplus */

#endif
