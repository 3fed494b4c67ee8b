//! The chip R700: its packets (table).

use super::words::{
    Coherency, CopyControl, DmaCommand, DmaSource, DwordAddress, Enables, EopControl, Event, High, IndexFormat,
    Initiator, MemWriteControl, PredicationControl, QuadAddress, StreamUpdate, WaitControl,
};
use crate::chip::{Chip, Family, RegisterHeader, places};
use crate::registers::{self, ALU_CONSTANTS, RESOURCES, SAMPLERS};

/// The R7xx, and the R6xx as far as its streams are the same.
pub static R700: Chip = Chip {
    name: "R700",
    family: Family::R700,
    register_header: RegisterHeader { register: super::words::R700Type0::REGISTER, one_register: None },
    packets: PACKETS,
    places: places(PACKETS),
    registers: &registers::R700,
    refused: &[],
};

#[rustfmt::skip]
packets! {
    Nop "NOP" 0x10 Program AtLeast(1) {} "nothing; of one word: a relocation";
    IndirectBufferEnd "INDIRECT_BUFFER_END" 0x17 Kernel AtLeast(1) {} "ends an indirect buffer";
    SetPredication "SET_PREDICATION" 0x20 Program Exactly(2) { address: QuadAddress, control: PredicationControl } "whether predicated packets run";
    RegRmw "REG_RMW" 0x21 Kernel AtLeast(1) {} "changes bits of a register";
    CondExec "COND_EXEC" 0x22 Kernel AtLeast(1) {} "skips what follows";
    PredExec "PRED_EXEC" 0x23 Kernel AtLeast(1) {} "skips what follows on some chips";
    Start3dCmdbuf "START_3D_CMDBUF" 0x24 R600 Exactly(1) { zero: u32 } "begins a stream of the first generation";
    DrawIndex2 "DRAW_INDEX_2" 0x27 Console Exactly(5) { max: u32, address: u32, high: High, count: u32, initiator: Initiator } "draws with indices from memory";
    ContextControl "CONTEXT_CONTROL" 0x28 Program Exactly(2) { load: Enables, shadow: Enables } "loading and shadowing of state";
    DrawIndexImmdBe "DRAW_INDEX_IMMD_BE" 0x29 Program AtLeast(3) { count: u32, initiator: Initiator } "draws with indices that follow, the first in the upper half";
    IndexType "INDEX_TYPE" 0x2a Program Exactly(1) { kind "type": IndexFormat } "width of the indices of draws";
    DrawIndex "DRAW_INDEX" 0x2b Program Exactly(4) { address: u32, high: High, count: u32, initiator: Initiator } "draws with indices from memory";
    DrawIndexAuto "DRAW_INDEX_AUTO" 0x2d Program Exactly(2) { count: u32, initiator: Initiator } "draws vertices 0, 1, 2 and so on";
    DrawIndexImmd "DRAW_INDEX_IMMD" 0x2e Program AtLeast(3) { count: u32, initiator: Initiator } "draws with indices that follow";
    NumInstances "NUM_INSTANCES" 0x2f Program Exactly(1) { count: u32 } "how often draws are repeated";
    IndirectBuffer "INDIRECT_BUFFER" 0x32 Kernel AtLeast(1) {} "runs another stream";
    StrmoutBufferUpdate "STRMOUT_BUFFER_UPDATE" 0x34 Program Exactly(5) { control: StreamUpdate, destination: u32, destination_high: High, source: u32, source_high: High } "sets or stores where stream output writes";
    IndirectBufferMp "INDIRECT_BUFFER_MP" 0x38 Kernel AtLeast(1) {} "runs another stream";
    MemSemaphore "MEM_SEMAPHORE" 0x39 Kernel AtLeast(1) {} "waits for a semaphore, or signals it";
    MpegIndex "MPEG_INDEX" 0x3a Kernel AtLeast(1) {} "indices of video decoding";
    CopyDw "COPY_DW" 0x3b Program Exactly(5) { control: CopyControl, source: u32, source_high: High, destination: u32, destination_high: High } "copies a dword between memory and a register";
    WaitRegMem "WAIT_REG_MEM" 0x3c Program Exactly(6) { control: WaitControl, address: DwordAddress, high: High, reference: u32, mask: u32, interval: u32 } "waits until a dword has a value";
    MemWrite "MEM_WRITE" 0x3d Program Exactly(4) { address: DwordAddress, control: MemWriteControl, low: u32, high: u32 } "writes 8 bytes";
    CpInterrupt "CP_INTERRUPT" 0x40 Kernel AtLeast(1) {} "interrupts the host";
    CpDma "CP_DMA" 0x41 Program Exactly(5) { source: u32, source_high: DmaSource, destination: u32, destination_high: High, command: DmaCommand } "copies memory";
    PfpSyncMe "PFP_SYNC_ME" 0x42 Kernel AtLeast(1) {} "the parser waits";
    SurfaceSync "SURFACE_SYNC" 0x43 Program Exactly(4) { actions: Coherency, size: u32, base: u32, interval: u32 } "flushes caches";
    MeInitialize "ME_INITIALIZE" 0x44 Kernel AtLeast(1) {} "starts the command processor";
    CondWrite "COND_WRITE" 0x45 Kernel AtLeast(1) {} "writes if a dword has a value";
    EventWrite "EVENT_WRITE" 0x46 Program OneOf(&[1, 3]) { event: Event, address: u32, high: High } "starts an event; some write to memory";
    EventWriteEop "EVENT_WRITE_EOP" 0x47 Program Exactly(5) { event: Event, address: u32, control: EopControl, low: u32, data_high: u32 } "writes when all that came before has ended";
    OneRegWrite "ONE_REG_WRITE" 0x57 Kernel AtLeast(1) {} "writes a register";
    LoadConfigReg "LOAD_CONFIG_REG" 0x60 Console AtLeast(1) {} "loads registers from memory";
    LoadContextReg "LOAD_CONTEXT_REG" 0x61 Console AtLeast(1) {} "loads registers from memory";
    LoadAluConst "LOAD_ALU_CONST" 0x62 Console AtLeast(1) {} "loads constants from memory";
    LoadBoolConst "LOAD_BOOL_CONST" 0x63 Console AtLeast(1) {} "loads booleans from memory";
    LoadLoopConst "LOAD_LOOP_CONST" 0x64 Console AtLeast(1) {} "loads loop constants from memory";
    LoadResource "LOAD_RESOURCE" 0x65 Console AtLeast(1) {} "loads resources from memory";
    LoadSampler "LOAD_SAMPLER" 0x66 Console AtLeast(1) {} "loads samplers from memory";
    LoadCtlConst "LOAD_CTL_CONST" 0x67 Console AtLeast(1) {} "loads control constants from memory";
    SetConfigReg "SET_CONFIG_REG" 0x68 Program AtLeast(1) [0x8000, 0xac00] "writes registers of the whole chip";
    SetContextReg "SET_CONTEXT_REG" 0x69 Program AtLeast(1) [0x28000, 0x29000] "writes registers of draws";
    SetAluConst "SET_ALU_CONST" 0x6a Program AtLeast(1) [ALU_CONSTANTS, 0x32000] "writes the constant file";
    SetBoolConst "SET_BOOL_CONST" 0x6b Program AtLeast(1) [0x3e380, 0x3e38c] "writes boolean constants";
    SetLoopConst "SET_LOOP_CONST" 0x6c Program AtLeast(1) [0x3e200, 0x3e380] "writes loop constants";
    SetResource "SET_RESOURCE" 0x6d Program OneAnd(7) [RESOURCES, SAMPLERS] "writes textures and buffers";
    SetSampler "SET_SAMPLER" 0x6e Program OneAnd(3) [SAMPLERS, 0x3cff0] "writes samplers";
    SetCtlConst "SET_CTL_CONST" 0x6f Program AtLeast(1) [0x3cff0, 0x3e200] "writes base vertex and start instance";
    StrmoutBaseUpdate "STRMOUT_BASE_UPDATE" 0x72 Program Exactly(2) { buffer: u32, base: u32 } "repeats the base of a stream output buffer";
    SurfaceBaseUpdate "SURFACE_BASE_UPDATE" 0x73 R600 Exactly(1) { mask: u32 } "tells that bases have changed";
}
