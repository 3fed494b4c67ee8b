/* amuCbufPack.h: packs command buffers. C++; C programs write the words of amuCbufTypes.h themselves. */
#ifndef AMU_CBUF_PACK_H
#define AMU_CBUF_PACK_H

#include "amuCbufTypes.h"

#ifdef __cplusplus

#include <cstring>

/* Writes commands to memory, one after another.
 *
 * A command that has no room or whose parameters cannot be (a format without a number, a pitch that is no multiple of 4) is
 * not written; the buffer is then not valid, its size is 0xFFFFFFFF, and submitting it fails. */
class AMUcbufPack {
public:
    /* Commands go to the `sizeDwords` dwords at `cpuBuffer`. */
    AMUcbufPack(unsigned int *cpuBuffer, AMuint32 sizeDwords)
        : words_(cpuBuffer), capacity_(cpuBuffer ? sizeDwords : 0), size_(0), valid_(true) {}

    /* The size so far in dwords, as amSubmitCommandBuffer takes it. */
    AMuint32 getCommandBufferSize() const { return valid_ ? size_ : 0xFFFFFFFFu; }
    /* Whether every command was written. */
    bool isValid() const { return valid_; }
    /* Begins again at the start. */
    void reset() { size_ = 0; valid_ = true; }

    /* Performance counters. */
    void appendInitPerfCounters(bool enable = true) { two(AMU_CBUF_CMD_INIT_PERF_COUNTERS, enable ? 1u : 0u, 0); }
    void appendStartPerfCounters() { one(AMU_CBUF_CMD_START_PERF_COUNTERS, 0); }
    void appendStopPerfCounters() { one(AMU_CBUF_CMD_STOP_PERF_COUNTERS, 0); }
    void appendReadPerfCounters(AMuint32 addr) { two(AMU_CBUF_CMD_READ_PERF_COUNTERS, addr, 0); }

    /* Conditional value; domain, inclusive; running. */
    void appendSetCondVal(float value) {
        AMuint32 bits;
        std::memcpy(&bits, &value, sizeof bits);
        one(AMU_CBUF_CMD_SET_COND_VAL, bits);
    }
    void appendSetDomain(AMuint32 x0, AMuint32 y0, AMuint32 x1, AMuint32 y1) {
        four(AMU_CBUF_CMD_SET_DOMAIN, x0, y0, x1, y1);
    }
    void appendStartProgram() { one(AMU_CBUF_CMD_START_PROGRAM, 0); }
    void appendWaitForIdle() { one(AMU_CBUF_CMD_WAIT_FOR_IDLE, 0); }

    /* Where the program lies: a whole ELF image. Format, tiling and pitch are ignored by the device. */
    void appendSetInstFmt(AMuint32 addr, AMuint32 format = 0, AMuint32 tiling = 0, AMuint32 pitch = 0) {
        place(AMU_CBUF_CMD_SET_INST_FMT, addr, format, tiling, pitch);
    }
    /* Inputs 0 to 15 and outputs 0 to 3. `width` is the pitch. */
    void appendSetInpFmt(AMuint32 index, AMuint32 addr, AMuint32 format, AMuint32 tiling, AMuint32 width,
                         AMuint32 height) {
        array(AMU_CBUF_CMD_SET_INP_FMT, index, addr, format, tiling, width, height);
    }
    void appendSetOutFmt(AMuint32 index, AMuint32 addr, AMuint32 format, AMuint32 tiling, AMuint32 width,
                         AMuint32 height) {
        array(AMU_CBUF_CMD_SET_OUT_FMT, index, addr, format, tiling, width, height);
    }
    void appendSetCondOutFmt(AMuint32 addr, AMuint32 format, AMuint32 tiling, AMuint32 width, AMuint32 height) {
        if (formatIsGood(format, tiling, width)) {
            const AMuint32 words[4] = {AMU_CBUF_CMD_SET_COND_OUT_FMT, addr, AMU_CBUF_FORMAT_WORD(width, tiling, format),
                                       height};
            append(words, 4);
        }
    }
    /* Where constants lie: float 16 bytes each, integer 4, boolean 4. Format, tiling and pitch are ignored by the device. */
    void appendSetConstfFmt(AMuint32 addr, AMuint32 format = 0, AMuint32 tiling = 0, AMuint32 pitch = 0) {
        place(AMU_CBUF_CMD_SET_CONSTF_FMT, addr, format, tiling, pitch);
    }
    void appendSetConstiFmt(AMuint32 addr, AMuint32 format = 0, AMuint32 tiling = 0, AMuint32 pitch = 0) {
        place(AMU_CBUF_CMD_SET_CONSTI_FMT, addr, format, tiling, pitch);
    }
    void appendSetConstbFmt(AMuint32 addr, AMuint32 format = 0, AMuint32 tiling = 0, AMuint32 pitch = 0) {
        place(AMU_CBUF_CMD_SET_CONSTB_FMT, addr, format, tiling, pitch);
    }

    /* Caches. */
    void appendInvInstCache() { one(AMU_CBUF_CMD_INV_INST_CACHE, 0); }
    void appendInvConstfCache() { one(AMU_CBUF_CMD_INV_CONSTF_CACHE, 0); }
    void appendInvConstiCache() { one(AMU_CBUF_CMD_INV_CONSTI_CACHE, 0); }
    void appendInvConstbCache() { one(AMU_CBUF_CMD_INV_CONSTB_CACHE, 0); }
    void appendInvCondOutCache() { one(AMU_CBUF_CMD_INV_COND_OUT_CACHE, 0); }
    void appendInvInpCache() { one(AMU_CBUF_CMD_INV_INP_CACHE, 0); }
    void appendFlushOutCache() { one(AMU_CBUF_CMD_FLUSH_OUT_CACHE, 0); }
    void appendFlushCondOutCache() { one(AMU_CBUF_CMD_FLUSH_COND_OUT_CACHE, 0); }

    /* Write masks: bit n is channel n. */
    void appendSetOutMask(AMuint32 mask) { one(AMU_CBUF_CMD_SET_OUT_MASK, mask); }
    void appendSetCondOutMask(AMuint32 mask) { one(AMU_CBUF_CMD_SET_COND_OUT_MASK, mask); }

    /* Conditional test (AMUcbufFldCondTest) and for whom it is made (AMUcbufFldCondLoc). */
    void appendSetCondTest(AMuint32 test) { one(AMU_CBUF_CMD_SET_COND_TEST, test); }
    void appendSetCondLoc(AMuint32 loc) { one(AMU_CBUF_CMD_SET_COND_LOC, loc); }

    /* Where the three parameter records lie: position and interpolants of three vertices. */
    void appendSetParams(AMuint32 addr) { one(AMU_CBUF_CMD_SET_PARAMS, addr); }

    /* Beyond the Guide (docs/commands.md): sampler 0 is nearest and clamped; width 0 is the pitch. */
    void appendSetInpSampler(AMuint32 index, AMuint32 sampler, AMuint32 width, float r, float g, float b, float a) {
        const float border[4] = {r, g, b, a};
        AMuint32 words[8] = {AMU_CBUF_CMD_SET_INP_SAMPLER, index, sampler, width, 0, 0, 0, 0};
        std::memcpy(words + 4, border, sizeof border);
        append(words, 8);
    }
    void appendSetPlanes(AMuint32 addr, AMuint32 count) { two(AMU_CBUF_CMD_SET_PLANES, addr, count); }

    /* Only for R700 devices (docs/commands.md). A program of words: `which` 0 is the program, 1 the fetch subroutine; gprs and stack 0 are found. */
    void appendSetProgram(AMuint32 which, AMuint32 addr, AMuint32 bytes, AMuint32 entry = 0, AMuint32 gprs = 0,
                          AMuint32 stack = 0) {
        const AMuint32 words[6] = {AMU_CBUF_CMD_SET_PROGRAM, which, addr, bytes, entry, gprs | stack << 16};
        append(words, 6);
    }
    /* Program `number` of a container: a CAL image, an object of LLVM's, a GFD file. */
    void appendSetProgramImage(AMuint32 which, AMuint32 addr, AMuint32 bytes, AMuint32 number = 0) {
        const AMuint32 words[6] = {AMU_CBUF_CMD_SET_PROGRAM, which | 1u << 8, addr, bytes, number, 0};
        append(words, 6);
    }
    void appendSetStage(AMuint32 stage) { one(AMU_CBUF_CMD_SET_STAGE, stage); }
    /* `wavefront` 0 is the chip's. */
    void appendSetChip(AMuint32 chip, AMuint32 wavefront = 0) { one(AMU_CBUF_CMD_SET_CHIP, chip | wavefront << 16); }
    void appendSetThreadGroup(AMuint32 threads) { one(AMU_CBUF_CMD_SET_THREAD_GROUP, threads); }
    void appendSetGlobalGprs(AMuint32 gprs) { one(AMU_CBUF_CMD_SET_GLOBAL_GPRS, gprs); }
    void appendSetLoopConsts(AMuint32 addr) { one(AMU_CBUF_CMD_SET_LOOP_CONSTS, addr); }
    void appendSetConstBuffer(AMuint32 bank, AMuint32 addr, AMuint32 constants) {
        const AMuint32 words[4] = {AMU_CBUF_CMD_SET_CONST_BUFFER, bank, addr, constants};
        append(words, 4);
    }
    /* `format` is an AMU_CBUF_FETCH_FORMAT. */
    void appendSetVtxBuffer(AMuint32 buffer, AMuint32 addr, AMuint32 bytes, AMuint32 stride, AMuint32 format) {
        const AMuint32 words[6] = {AMU_CBUF_CMD_SET_VTX_BUFFER, buffer, addr, bytes, stride, format};
        append(words, 6);
    }
    /* `pitch` 0 is the width. */
    void appendSetTexture(AMuint32 texture, AMuint32 shape, AMuint32 addr, AMuint32 width, AMuint32 height, AMuint32 depth,
                          AMuint32 levels, AMuint32 pitch, AMuint32 format, bool gamma = false) {
        if (width > 0xFFFFu || height > 0xFFFFu || depth > 0xFFFFu) {
            valid_ = false;
            return;
        }
        const AMuint32 words[7] = {AMU_CBUF_CMD_SET_TEXTURE, texture | shape << 8, addr, width | height << 16,
                                   depth | levels << 16 | (gamma ? 1u << 24 : 0u), pitch, format};
        append(words, 7);
    }
    /* `sampler`: number, filters, wraps and comparison in one word. */
    void appendSetSampler(AMuint32 sampler, float minLod, float maxLod, float lodBias, float r, float g, float b, float a) {
        const float numbers[7] = {minLod, maxLod, lodBias, r, g, b, a};
        AMuint32 words[9] = {AMU_CBUF_CMD_SET_SAMPLER, sampler, 0, 0, 0, 0, 0, 0, 0};
        std::memcpy(words + 2, numbers, sizeof numbers);
        append(words, 9);
    }
    /* `item`: dwords of a thread in the ring and in streams, elements in the reduction buffer. */
    void appendSetMemory(AMuint32 memory, AMuint32 addr, AMuint32 bytes, AMuint32 item = 0) {
        four(AMU_CBUF_CMD_SET_MEMORY, memory, addr, bytes, item);
    }
    void appendSetSemantics(AMuint32 addr, AMuint32 count) { two(AMU_CBUF_CMD_SET_SEMANTICS, addr, count); }
    void appendSetExport(AMuint32 kind, AMuint32 index, AMuint32 addr, AMuint32 format, AMuint32 tiling, AMuint32 width,
                         AMuint32 height) {
        array(AMU_CBUF_CMD_SET_EXPORT, index | kind << 8, addr, format, tiling, width, height);
    }
    void appendSetVertexEvents(AMuint32 addr, AMuint32 dwords) { two(AMU_CBUF_CMD_SET_VERTEX_EVENTS, addr, dwords); }
    void appendSetInterpolants(AMuint32 first, AMuint32 count) { one(AMU_CBUF_CMD_SET_INTERPOLANTS, first | count << 8); }
    /* 0: the program's own constants and resources; 1: those that ALT_CONST names. */
    void appendSelectResources(AMuint32 set) { one(AMU_CBUF_CMD_SELECT_RESOURCES, set); }
    void appendSetIndexOffsets(AMuint32 vertex, AMuint32 instance) { two(AMU_CBUF_CMD_SET_INDEX_OFFSETS, vertex, instance); }

private:
    void append(const AMuint32 *words, AMuint32 count) {
        if (!valid_ || capacity_ - size_ < count) {
            valid_ = false;
            return;
        }
        std::memcpy(words_ + size_, words, count * sizeof *words);
        size_ += count;
    }
    void one(AMuint32 header, AMuint32 a) {
        const AMuint32 words[2] = {header, a};
        append(words, 2);
    }
    void two(AMuint32 header, AMuint32 a, AMuint32 b) {
        const AMuint32 words[3] = {header, a, b};
        append(words, 3);
    }
    void four(AMuint32 header, AMuint32 a, AMuint32 b, AMuint32 c, AMuint32 d) {
        const AMuint32 words[5] = {header, a, b, c, d};
        append(words, 5);
    }
    void place(AMuint32 header, AMuint32 addr, AMuint32 format, AMuint32 tiling, AMuint32 pitch) {
        two(header, addr, AMU_CBUF_FORMAT_WORD(pitch, tiling, format));
    }
    void array(AMuint32 header, AMuint32 index, AMuint32 addr, AMuint32 format, AMuint32 tiling, AMuint32 width,
               AMuint32 height) {
        if (formatIsGood(format, tiling, width))
            four(header, index, addr, AMU_CBUF_FORMAT_WORD(width, tiling, format), height);
    }
    /* Whether the format word has room for them. */
    bool formatIsGood(AMuint32 format, AMuint32 tiling, AMuint32 width) {
        if (format > 7 || tiling > 3 || width > 8188 || width % 4 != 0)
            valid_ = false;
        return valid_;
    }

    unsigned int *words_;
    AMuint32 capacity_;
    AMuint32 size_;
    bool valid_;
};

#endif /* __cplusplus */

#endif
