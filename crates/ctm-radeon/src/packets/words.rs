//! The words of R700 packets: their fields, and the values of fields (tables).

pub use crate::registers::values::{R500Primitive, Walk};
use ctm_isa::ops;

ops! {
    /// Where the indices of a draw come from.
    pub enum SourceSelect cite "R6xx/R7xx 3D registers" {
        /// Memory.
        Memory "MEMORY" 0;
        /// The packet.
        Packet "PACKET" 1;
        /// They are counted.
        Counted "COUNTED" 2;
    }
}

ops! {
    /// Width of indices.
    pub enum IndexWidth cite "R6xx/R7xx 3D registers" {
        /// 2 bytes.
        Bits16 "16_BIT" 0;
        /// 4 bytes.
        Bits32 "32_BIT" 1;
    }
}

ops! {
    /// Byte order of indices.
    pub enum IndexSwap cite "R6xx/R7xx 3D registers" {
        /// As they are.
        None "NONE" 0;
        /// Bytes of 16 bits.
        Bits16 "16_BIT" 1;
        /// Bytes of 32 bits.
        Bits32 "32_BIT" 2;
        /// Halves of 32 bits.
        Word "WORD" 3;
    }
}

ops! {
    /// Events of EVENT_WRITE and EVENT_WRITE_EOP.
    pub enum EventType cite "R6xx/R7xx 3D registers" {
        /// The event `CACHE_FLUSH_TS`.
        CacheFlushTs "CACHE_FLUSH_TS" 4;
        /// The event `CONTEXT_DONE`.
        ContextDone "CONTEXT_DONE" 5;
        /// The event `CACHE_FLUSH`.
        CacheFlush "CACHE_FLUSH" 6;
        /// The event `VIZQUERY_START`.
        VizqueryStart "VIZQUERY_START" 7;
        /// The event `VIZQUERY_END`.
        VizqueryEnd "VIZQUERY_END" 8;
        /// The event `SC_WAIT_WC`.
        ScWaitWc "SC_WAIT_WC" 9;
        /// The event `MPASS_PS_CP_REFETCH`.
        MpassPsCpRefetch "MPASS_PS_CP_REFETCH" 10;
        /// The event `MPASS_PS_RST_START`.
        MpassPsRstStart "MPASS_PS_RST_START" 11;
        /// The event `MPASS_PS_INCR_START`.
        MpassPsIncrStart "MPASS_PS_INCR_START" 12;
        /// The event `RST_PIX_CNT`.
        RstPixCnt "RST_PIX_CNT" 13;
        /// The event `RST_VTX_CNT`.
        RstVtxCnt "RST_VTX_CNT" 14;
        /// The event `VS_PARTIAL_FLUSH`.
        VsPartialFlush "VS_PARTIAL_FLUSH" 15;
        /// The event `PS_PARTIAL_FLUSH`.
        PsPartialFlush "PS_PARTIAL_FLUSH" 16;
        /// The event `CACHE_FLUSH_AND_INV_TS_EVENT`.
        CacheFlushAndInvTsEvent "CACHE_FLUSH_AND_INV_TS_EVENT" 20;
        /// The event `ZPASS_DONE`.
        ZpassDone "ZPASS_DONE" 21;
        /// The event `CACHE_FLUSH_AND_INV_EVENT`.
        CacheFlushAndInvEvent "CACHE_FLUSH_AND_INV_EVENT" 22;
        /// The event `PERFCOUNTER_START`.
        PerfcounterStart "PERFCOUNTER_START" 23;
        /// The event `PERFCOUNTER_STOP`.
        PerfcounterStop "PERFCOUNTER_STOP" 24;
        /// The event `PIPELINESTAT_START`.
        PipelinestatStart "PIPELINESTAT_START" 25;
        /// The event `PIPELINESTAT_STOP`.
        PipelinestatStop "PIPELINESTAT_STOP" 26;
        /// The event `PERFCOUNTER_SAMPLE`.
        PerfcounterSample "PERFCOUNTER_SAMPLE" 27;
        /// The event `FLUSH_ES_OUTPUT`.
        FlushEsOutput "FLUSH_ES_OUTPUT" 28;
        /// The event `FLUSH_GS_OUTPUT`.
        FlushGsOutput "FLUSH_GS_OUTPUT" 29;
        /// The event `SAMPLE_PIPELINESTAT`.
        SamplePipelinestat "SAMPLE_PIPELINESTAT" 30;
        /// The event `SO_VGTSTREAMOUT_FLUSH`.
        SoVgtstreamoutFlush "SO_VGTSTREAMOUT_FLUSH" 31;
        /// The event `SAMPLE_STREAMOUTSTATS`.
        SampleStreamoutstats "SAMPLE_STREAMOUTSTATS" 32;
        /// The event `RESET_VTX_CNT`.
        ResetVtxCnt "RESET_VTX_CNT" 33;
        /// The event `BLOCK_CONTEXT_DONE`.
        BlockContextDone "BLOCK_CONTEXT_DONE" 34;
        /// The event `CR_CONTEXT_DONE`.
        CrContextDone "CR_CONTEXT_DONE" 35;
        /// The event `VGT_FLUSH`.
        VgtFlush "VGT_FLUSH" 36;
        /// The event `CR_DONE_TS`.
        CrDoneTs "CR_DONE_TS" 37;
        /// The event `SQ_NON_EVENT`.
        SqNonEvent "SQ_NON_EVENT" 38;
        /// The event `SC_SEND_DB_VPZ`.
        ScSendDbVpz "SC_SEND_DB_VPZ" 39;
        /// The event `BOTTOM_OF_PIPE_TS`.
        BottomOfPipeTs "BOTTOM_OF_PIPE_TS" 40;
        /// The event `FLUSH_SX_TS`.
        FlushSxTs "FLUSH_SX_TS" 41;
        /// The event `DB_CACHE_FLUSH_AND_INV`.
        DbCacheFlushAndInv "DB_CACHE_FLUSH_AND_INV" 42;
        /// The event `FLUSH_AND_INV_DB_DATA_TS`.
        FlushAndInvDbDataTs "FLUSH_AND_INV_DB_DATA_TS" 43;
        /// The event `FLUSH_AND_INV_DB_META`.
        FlushAndInvDbMeta "FLUSH_AND_INV_DB_META" 44;
        /// The event `FLUSH_AND_INV_CB_DATA_TS`.
        FlushAndInvCbDataTs "FLUSH_AND_INV_CB_DATA_TS" 45;
        /// The event `FLUSH_AND_INV_CB_META`.
        FlushAndInvCbMeta "FLUSH_AND_INV_CB_META" 46;
    }
}

ops! {
    /// Of which kind an event is.
    pub enum EventIndex cite "R6xx/R7xx 3D registers" {
        /// Counters of samples.
        Zpass "ZPASS" 1;
        /// Counters of the pipeline.
        Pipelinestat "PIPELINESTAT" 2;
        /// Counters of stream output.
        Streamoutstats "STREAMOUTSTATS" 3;
        /// A wait for programs.
        PartialFlush "PARTIAL_FLUSH" 4;
        /// A time stamp.
        TimeStamp "TIME_STAMP" 5;
        /// A flush of caches.
        CacheFlush "CACHE_FLUSH" 7;
    }
}

ops! {
    /// The data that EVENT_WRITE_EOP writes.
    pub enum DataSelect cite "R6xx/R7xx 3D registers" {
        /// None.
        Nothing "NOTHING" 0;
        /// The low dword of the packet's data.
        Low32 "LOW_32" 1;
        /// Both dwords of the packet's data.
        All64 "ALL_64" 2;
        /// The clock.
        Clock "CLOCK" 3;
    }
}

impl DataSelect {
    /// Bytes that are written.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Nothing => 0,
            Self::Low32 => 4,
            Self::All64 | Self::Clock => 8,
        }
    }
}

ops! {
    /// The result that SET_PREDICATION reads.
    pub enum PredicateOp cite "R6xx/R7xx 3D registers" {
        /// None: everything runs again.
        Clear "CLEAR" 0;
        /// Counters of samples.
        Zpass "ZPASS" 1;
        /// Counters of stream output.
        Primcount "PRIMCOUNT" 2;
    }
}

impl PredicateOp {
    /// Bytes that are read.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Clear => 0,
            Self::Zpass => 16,
            Self::Primcount => 32,
        }
    }
}

ops! {
    /// Comparison of a masked dword with a reference.
    pub enum WaitFunction cite "R6xx/R7xx 3D registers" {
        /// No comparison.
        Always "ALWAYS" 0;
        /// Below the reference.
        Less "LESS" 1;
        /// At most the reference.
        Lequal "LEQUAL" 2;
        /// The reference.
        Equal "EQUAL" 3;
        /// Other than the reference.
        Notequal "NOTEQUAL" 4;
        /// At least the reference.
        Gequal "GEQUAL" 5;
        /// Above the reference.
        Greater "GREATER" 6;
    }
}

ops! {
    /// Where the new offset of a stream output buffer comes from.
    pub enum OffsetSource cite "R6xx/R7xx 3D registers" {
        /// The packet.
        Packet "PACKET" 0;
        /// The filled size.
        FilledSize "FILLED_SIZE" 1;
        /// Memory.
        Memory "MEMORY" 2;
        /// The offset stays.
        None "NONE" 3;
    }
}

ops! {
    /// Width of indices of an R500.
    pub enum IndexSize cite "R5xx Acceleration" {
        /// 2 bytes.
        Bits16 "16_BIT" 0;
        /// 4 bytes.
        Bits32 "32_BIT" 1;
    }
}

word_fields! {
    /// The header of a packet of type 3.
    Type3Header {
        predicated PREDICATED flag 0:0 "dropped when the predicate says so";
        reserved RESERVED number 7:1 "no meaning";
        opcode OPCODE number 15:8 "which packet";
        count COUNT number 29:16 "words that follow - 1";
        packet_type TYPE number 31:30 "3";
    }
    /// The header of a packet of type 0.
    R700Type0 {
        register REGISTER number 15:0 "the first register / 4";
        count COUNT number 29:16 "words that follow - 1";
        packet_type TYPE number 31:30 "0";
    }
    /// The header of a packet of type 0 of an R500.
    R500Type0 {
        register REGISTER number 12:0 "the first register / 4";
        one_reg_wr ONE_REG_WR flag 15:15 "all words go to the first register";
        count COUNT number 29:16 "words that follow - 1";
        packet_type TYPE number 31:30 "0";
    }
    /// VF_CNTL, the word of an R500 that draws.
    VertexFetch {
        prim_type PRIM_TYPE R500Primitive 3:0 "which primitives";
        prim_walk PRIM_WALK Walk 5:4 "where vertices come from";
        index_size INDEX_SIZE IndexSize 11:11 "width of indices";
        vtx_reuse_dis VTX_REUSE_DIS flag 12:12 "no vertex is used twice";
        dual_index_mode DUAL_INDEX_MODE flag 13:13 "an index of its own for array 0";
        use_alt_num_verts USE_ALT_NUM_VERTS flag 14:14 "the count is in VAP_ALT_NUM_VERTICES";
        num_vertices NUM_VERTICES number 31:16 "vertices or indices";
    }
    /// The first word of 3D_LOAD_VBPNTR.
    ArrayCount {
        arrays ARRAYS number 4:0 "arrays of vertices";
        prefetch VC_FORCE_PREFETCH flag 5:5 "whole lines of the cache are read";
    }
    /// Sizes of two arrays of vertices.
    ArrayPair {
        size_0 SIZE_0 number 6:0 "dwords of an element of the first";
        stride_0 STRIDE_0 number 14:8 "dwords from one to the next";
        size_1 SIZE_1 number 22:16 "dwords of an element of the second";
        stride_1 STRIDE_1 number 30:24 "dwords from one to the next";
    }
    /// The register that INDX_BUFFER writes indices to.
    IndexPort {
        register REGISTER number 15:0 "the register / 4";
        skip SKIP number 30:16 "indices that are left out";
        one_reg_wr ONE_REG_WR flag 31:31 "all of them go to that register";
    }
    /// The last word of draws.
    Initiator {
        source_select SOURCE_SELECT SourceSelect 1:0 "where indices come from";
        major_mode MAJOR_MODE number 3:2 "1: VGT_GROUP_* say what is drawn";
        sprite_en SPRITE_EN flag 4:4 "point sprites of older chips";
        not_eop NOT_EOP flag 5:5 "the next draw goes on with the same primitives";
        use_opaque USE_OPAQUE flag 6:6 "the count comes from stream output";
    }
    /// Upper bits of an address.
    High {
        high HIGH number 7:0 "address bits 39:32";
    }
    /// Width and order of indices.
    IndexFormat {
        width TYPE IndexWidth 1:0 "width of indices";
        swap SWAP IndexSwap 3:2 "byte order";
    }
    /// An event.
    Event {
        event EVENT EventType 5:0 "which";
        index INDEX EventIndex 11:8 "of which kind it is";
    }
    /// Upper bits of an address, and the operation of EVENT_WRITE_EOP.
    EopControl {
        high HIGH number 7:0 "address bits 39:32";
        int_sel INT_SEL number 25:24 "interrupt";
        data_sel DATA_SEL DataSelect 31:29 "what is written";
    }
    /// Upper bits of an address, and the operation of SET_PREDICATION.
    PredicationControl {
        high HIGH number 7:0 "address bits 39:32";
        draw_visible DRAW_VISIBLE flag 8:8 "draw if something was visible, instead of if nothing was";
        nowait NOWAIT flag 12:12 "draw if the result is not there yet";
        op OP PredicateOp 18:16 "what is read";
        continues CONTINUE flag 31:31 "combined with what was read before";
    }
    /// Upper bits of an address, and the data of MEM_WRITE.
    MemWriteControl {
        high HIGH number 7:0 "address bits 39:32";
        cntr_sel CNTR_SEL flag 16:16 "the clock instead of the data";
        wr_confirm WR_CONFIRM flag 17:17 "waits until it is written";
        data32 DATA32 flag 18:18 "4 bytes instead of 8";
    }
    /// Both sides of COPY_DW.
    CopyControl {
        src_mem SRC_MEM flag 0:0 "from memory, not a register";
        dst_mem DST_MEM flag 1:1 "to memory, not a register";
    }
    /// The condition of WAIT_REG_MEM.
    WaitControl {
        function FUNCTION WaitFunction 2:0 "comparison of (value & mask) with the reference";
        mem MEM flag 4:4 "of memory, not a register";
        pfp PFP flag 8:8 "the parser waits";
    }
    /// Upper bits of the source of CP_DMA.
    DmaSource {
        high HIGH number 7:0 "address bits 39:32";
        cp_sync CP_SYNC flag 31:31 "what follows waits for it";
    }
    /// The length and options of CP_DMA.
    DmaCommand {
        bytes BYTES number 20:0 "how many";
        src_swap SRC_SWAP number 23:22 "byte order of the source";
        dst_swap DST_SWAP number 25:24 "byte order of the destination";
        sas SAS flag 26:26 "the source is a register";
        das DAS flag 27:27 "the destination is a register";
        saic SAIC flag 28:28 "the source stays where it is";
        daic DAIC flag 29:29 "the destination stays where it is";
    }
    /// The caches that SURFACE_SYNC flushes.
    Coherency {
        dest_base_0 DEST_BASE_0 flag 0:0 "";
        dest_base_1 DEST_BASE_1 flag 1:1 "";
        so SO number 5:2 "stream output buffers";
        cb_dest CB_DEST number 13:6 "colour targets";
        db_dest DB_DEST flag 14:14 "depth target";
        cr_dest CR_DEST flag 15:15 "";
        full_cache FULL_CACHE flag 20:20 "";
        tc_action TC_ACTION flag 23:23 "texture cache";
        vc_action VC_ACTION flag 24:24 "vertex cache";
        cb_action CB_ACTION flag 25:25 "colour cache";
        db_action DB_ACTION flag 26:26 "depth cache";
        sh_action SH_ACTION flag 27:27 "program and constant caches";
        smx_action SMX_ACTION flag 28:28 "export cache";
    }
    /// The operation of STRMOUT_BUFFER_UPDATE.
    StreamUpdate {
        store_filled_size STORE_FILLED_SIZE flag 0:0 "the filled size is stored";
        source SOURCE OffsetSource 2:1 "where the new offset comes from";
        buffer BUFFER number 9:8 "which";
    }
    /// Groups of state that CONTEXT_CONTROL loads or shadows.
    Enables {
        master MASTER flag 31:31 "";
    }
}

/// The lower dword of the address of dwords. Bits 1:0 are no part of the address: the kernel and drivers put a byte order there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DwordAddress(pub u32);

/// The lower dword of the address of 16 bytes. Bits 3:0 are no part of the address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QuadAddress(pub u32);

impl DwordAddress {
    /// The address.
    #[must_use]
    pub const fn address(self) -> u32 {
        self.0 & !3
    }
}

impl QuadAddress {
    /// The address.
    #[must_use]
    pub const fn address(self) -> u32 {
        self.0 & !15
    }
}

plain_words!(DwordAddress, QuadAddress);
