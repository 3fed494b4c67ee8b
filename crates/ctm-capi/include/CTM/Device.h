/* CTM/Device.h: the wrapper classes of June 2007, over the device interface. C++, nothing but headers.
 *
 * An object must not be used by two threads at a time. What fails gives NULL or false; ctm_last_error() says why. */
#ifndef CTM_DEVICE_H
#define CTM_DEVICE_H

#include "../amDeviceManaged.h"
#include "../amuAsm.h"
#include "../amuCbufPack.h"
#include "../amuComp.h"
#include "../ctm.h"
#include "Buffer.h"

#ifdef __cplusplus

#include <cstdio>
#include <cstring>
#include <vector>

namespace CTM {

/* The languages of compileProgram(). */
enum ProgramType { PROG_PS3, PROG_X1K };

/* What a device can do. */
class DeviceCaps {
public:
    unsigned int getMaxBufferWidth() const { return 4096; }
    unsigned int getMaxBufferHeight() const { return 4096; }
};

class Device {
public:
    /* Opens device `number`; parameter records have 36 numbers, as in June 2007. NULL upon failure. */
    static Device *open(int number) {
        char name[64];
        std::sprintf(name, "/dev/pcie%d,params=36", number);
        return open(name);
    }
    /* Opens a device by its name, options included. */
    static Device *open(const char *name) {
        AMmanagedDeviceInfo info;
        AMmanagedDevice handle = amOpenManagedConnection(name, &info);
        return handle ? new Device(handle, info) : NULL;
    }
    ~Device() {
        delete copyProgram_;
        amCloseManagedConnection(handle_);
    }

    /* `size` bytes of memory. NULL when there is no room. */
    Buffer *alloc(MemoryType memory, unsigned int size) {
        return place(memory, size, 0, 0, FLOAT32_1, LINEAR);
    }
    /* An array of `width` columns and `height` rows; the width is rounded up to what the device can address. */
    Buffer *alloc(MemoryType memory, unsigned int width, unsigned int height, unsigned int format, unsigned int tiling) {
        const unsigned int bytes = elementBytes(format);
        if (bytes == 0 || tiling > 3 || width > 4096 || height > 4096)
            return NULL;
        /* Rows of whole 32-byte lines, or whole tiles. */
        const bool tiled = (tiling & 1) != 0;
        const unsigned int columns = !tiled ? 32 / bytes : bytes == 1 ? 64 : bytes <= 4 ? 32 : 16;
        const unsigned int unit = columns < 4 ? 4 : columns;
        const unsigned int rows = tiled ? (bytes <= 2 ? 32 : bytes <= 8 ? 16 : 8) : 1;
        width = (width + unit - 1) / unit * unit;
        const unsigned int padded = (height + rows - 1) / rows * rows;
        return place(memory, width * padded * bytes, width, height, format, tiling);
    }

    /* Remembers what is allocated; popMemory() frees everything that came after. */
    void pushMemory() { stack_.push_back(used_); }
    void popMemory() {
        if (!stack_.empty()) {
            used_ = stack_.back();
            stack_.pop_back();
        }
    }

    /* A program, ready for Pass::setProgram(). NULL when it is wrong; messages go to `log`. */
    Buffer *compileProgram(const char *text, ProgramType type, AMUcompLogFunction log = NULL) {
        const AMUcompMacro macros[] = {{type == PROG_PS3 ? "AMU_LANG_PS3" : "AMU_LANG_X1K", "1"}, {0, 0}};
        AMuint32 size = 0;
        void *binary = NULL;
        AMUcompCompiler compiler = amuCompOpenCompiler();
        const int good = amuCompCompile(compiler, text, (unsigned int)std::strlen(text), macros, NULL, "main", &size,
                                        &binary, log);
        amuCompCloseCompiler(compiler);
        Buffer *program = good ? alloc(MEM_SYS, size) : NULL;
        if (program)
            std::memcpy(program->getCPUAddress(), binary, size);
        amuAsmFree(binary);
        return program;
    }

    /* Copies array n of `from` to array n of `to`, for the first `nIn` of them; nOut is to be the same. */
    bool copy(unsigned int nIn, Buffer **from, unsigned int nOut, Buffer **to) {
        bool good = nIn == nOut;
        for (unsigned int n = 0; good && n < nIn; n++)
            good = copyOne(*from[n], *to[n]);
        return good;
    }

    const DeviceCaps *getDeviceCaps() const { return &caps_; }
    /* The handle of the device interface. */
    AMmanagedDevice getHandle() const { return handle_; }
    /* Where Pass puts its commands. */
    unsigned int *getCommandBuffer() const { return commands_; }
    AMuint32 getCommandBufferAddress() const { return commandsAddress_; }
    static AMuint32 getCommandBufferCapacity() { return COMMAND_DWORDS; }

    /* Submits the `size` dwords in the command buffer and waits. Whether they ran to their end. */
    bool run(AMuint32 size) {
        const AMuint32 id = amSubmitCommandBuffer(handle_, commandsAddress_, size);
        if (id == 0)
            return false;
        while (!amCommandBufferConsumed(handle_, id)) {
        }
        return ctm_submission_error(handle_, id) == NULL;
    }

private:
    enum { COMMAND_DWORDS = 4096 };

    struct Used {
        AMuint32 sys;
        AMuint32 gpu;
    };

    Device(AMmanagedDevice handle, const AMmanagedDeviceInfo &info) : handle_(handle), copyProgram_(NULL) {
        const bool cached = info.arenaSizeSYSc > info.arenaSizeSYS;
        sysBase_ = cached ? info.baseAddressSYSc : info.baseAddressSYS;
        sysSize_ = cached ? info.arenaSizeSYSc : info.arenaSizeSYS;
        cpu_ = static_cast<unsigned char *>(cached ? info.baseAddressCPUc : info.baseAddressCPU);
        gpuBase_ = info.baseAddressGPU;
        gpuSize_ = info.arenaSizeGPU;
        commandsAddress_ = sysBase_;
        commands_ = reinterpret_cast<unsigned int *>(cpu_);
        used_.sys = COMMAND_DWORDS * 4;
        used_.gpu = 0;
    }
    Device(const Device &);
    Device &operator=(const Device &);

    static unsigned int elementBytes(unsigned int format) {
        switch (format) {
        case UINT16_1: return 2;
        case UINT8_4: return 4;
        case FLOAT32_1: return 4;
        case FLOAT32_2: return 8;
        case FLOAT32_4: return 16;
        default: return 0;
        }
    }

    Buffer *place(MemoryType memory, unsigned int size, unsigned int width, unsigned int height, unsigned int format,
                  unsigned int tiling) {
        AMuint32 &used = memory == MEM_SYS ? used_.sys : used_.gpu;
        const AMuint32 left = (memory == MEM_SYS ? sysSize_ : gpuSize_) - used;
        if (size > left || (size + 2047) / 2048 * 2048 > left)
            return NULL;
        const AMuint32 offset = used;
        used += (size + 2047) / 2048 * 2048;
        return new Buffer((memory == MEM_SYS ? sysBase_ : gpuBase_) + offset, memory == MEM_SYS ? cpu_ + offset : NULL,
                          size, width, height, format, tiling);
    }

    bool copyOne(const Buffer &from, const Buffer &to) {
        static const char program[] = ".input from = s0\n.output to = o0\n tex r1, from, r0.rg\n mov to, r1\n end\n";
        if (copyProgram_ == NULL) {
            copyProgram_ = compileProgram(program, PROG_X1K);
            /* It must outlast every popMemory(): each of them keeps what lies below it. */
            for (std::size_t n = 0; copyProgram_ && n < stack_.size(); n++)
                stack_[n].sys = used_.sys;
        }
        if (copyProgram_ == NULL || to.getWidth() == 0 || to.getHeight() == 0)
            return false;
        AMUcbufPack pack(commands_, COMMAND_DWORDS);
        pack.appendSetInpFmt(0, from.getGPUAddress(), from.getFormat(), from.getTiling(), from.getWidth(),
                             from.getHeight());
        pack.appendInvInpCache();
        pack.appendSetOutFmt(0, to.getGPUAddress(), to.getFormat(), to.getTiling(), to.getWidth(), to.getHeight());
        pack.appendSetInstFmt(copyProgram_->getGPUAddress());
        pack.appendInvInstCache();
        pack.appendSetDomain(0, 0, to.getWidth() - 1, to.getHeight() - 1);
        pack.appendStartProgram();
        pack.appendFlushOutCache();
        return run(pack.getCommandBufferSize());
    }

    AMmanagedDevice handle_;
    AMuint32 sysBase_, sysSize_, gpuBase_, gpuSize_;
    unsigned char *cpu_;
    unsigned int *commands_;
    AMuint32 commandsAddress_;
    Used used_;
    std::vector<Used> stack_;
    Buffer *copyProgram_;
    DeviceCaps caps_;
};

} /* namespace CTM */

#endif /* __cplusplus */

#endif
