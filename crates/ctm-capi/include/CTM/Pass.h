/* CTM/Pass.h: one run of a program. C++; see CTM/Device.h. */
#ifndef CTM_PASS_H
#define CTM_PASS_H

#include "Device.h"

#ifdef __cplusplus

namespace CTM {

/* What a program is run on. Buffers belong to the caller and must live until execute() returns. */
class Pass {
public:
    explicit Pass(Device *device)
        : device_(device), program_(NULL), floats_(NULL), integers_(NULL), booleans_(NULL), params_(NULL), good_(true) {
        for (unsigned int n = 0; n < 16; n++)
            inputs_[n] = NULL;
        for (unsigned int n = 0; n < 4; n++)
            outputs_[n] = NULL;
        domain_[0] = domain_[1] = domain_[2] = domain_[3] = 0;
    }

    void setProgram(Buffer *program) { program_ = program; }
    /* Inputs 0 to 15, outputs 0 to 3; with another number execute() fails. */
    void setInput(unsigned int index, Buffer *buffer) { index < 16 ? (void)(inputs_[index] = buffer) : (void)(good_ = false); }
    void setOutput(unsigned int index, Buffer *buffer) { index < 4 ? (void)(outputs_[index] = buffer) : (void)(good_ = false); }
    void setFloatConst(Buffer *constants) { floats_ = constants; }
    void setIntegerConst(Buffer *constants) { integers_ = constants; }
    void setBooleanConst(Buffer *constants) { booleans_ = constants; }
    /* Inclusive. */
    void setDomain(unsigned int x0, unsigned int y0, unsigned int x1, unsigned int y1) {
        domain_[0] = x0;
        domain_[1] = y0;
        domain_[2] = x1;
        domain_[3] = y1;
    }
    /* Three records of 36 numbers: position and eight interpolants. */
    void setParams(Buffer *params) { params_ = params; }

    /* Runs the program and waits. Whether it ran to its end. */
    bool execute() {
        if (!good_ || device_ == NULL || program_ == NULL)
            return false;
        AMUcbufPack pack(device_->getCommandBuffer(), Device::getCommandBufferCapacity());
        for (unsigned int n = 0; n < 16; n++)
            if (inputs_[n])
                pack.appendSetInpFmt(n, inputs_[n]->getGPUAddress(), inputs_[n]->getFormat(), inputs_[n]->getTiling(),
                                     inputs_[n]->getWidth(), inputs_[n]->getHeight());
        pack.appendInvInpCache();
        for (unsigned int n = 0; n < 4; n++)
            if (outputs_[n])
                pack.appendSetOutFmt(n, outputs_[n]->getGPUAddress(), outputs_[n]->getFormat(),
                                     outputs_[n]->getTiling(), outputs_[n]->getWidth(), outputs_[n]->getHeight());
        pack.appendSetInstFmt(program_->getGPUAddress());
        pack.appendInvInstCache();
        pack.appendInvCondOutCache();
        if (floats_)
            pack.appendSetConstfFmt(floats_->getGPUAddress());
        pack.appendInvConstfCache();
        if (integers_)
            pack.appendSetConstiFmt(integers_->getGPUAddress());
        pack.appendInvConstiCache();
        if (booleans_)
            pack.appendSetConstbFmt(booleans_->getGPUAddress());
        pack.appendInvConstbCache();
        pack.appendSetDomain(domain_[0], domain_[1], domain_[2], domain_[3]);
        if (params_)
            pack.appendSetParams(params_->getGPUAddress());
        pack.appendStartProgram();
        pack.appendFlushOutCache();
        return device_->run(pack.getCommandBufferSize());
    }

private:
    Device *device_;
    Buffer *program_;
    Buffer *inputs_[16];
    Buffer *outputs_[4];
    Buffer *floats_;
    Buffer *integers_;
    Buffer *booleans_;
    Buffer *params_;
    unsigned int domain_[4];
    bool good_;
};

} /* namespace CTM */

#endif /* __cplusplus */

#endif
