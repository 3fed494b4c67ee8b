//! Every command, every parameter, every field: table 3 of the Guide and its §2.2.1-2.2.3, and our extensions.

use super::param::{Param, Reserved, SamplerFilter, SamplerWrap, Show, bits, strict};
use super::r700;
use crate::mc::FormatWord;
use ctm_isa::{ops, word_format};

/// The unit that a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandUnit {
    /// Processor Execution Unit.
    Pe,
    /// Memory Controller Unit.
    Mc,
    /// Conditional Output Unit.
    Co,
}

impl CommandUnit {
    /// The Guide's abbreviation.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pe => "PE",
            Self::Mc => "MC",
            Self::Co => "CO",
        }
    }
}

/// The further columns of [`CommandKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandInfo {
    /// The unit it is for.
    pub unit: CommandUnit,
    /// May be issued while a program is running.
    pub pipelined: bool,
    /// Not in the Guide.
    pub extension: bool,
    /// Only R700 devices take it.
    pub r700_only: bool,
    /// The parameters.
    pub params: &'static [Param],
    /// The fewest parameters that a header may announce.
    pub fewest: usize,
}

word_format! {
    /// A parameter that carries nothing.
    pub struct ReservedWord "reserved" dword 0 cite "CTM §2.2" {
        /// Ignored.
        31:0    reserved: u32 = "reserved";
    }
}

word_format! {
    /// A parameter that is one 32-bit number.
    pub struct RawWord "value" dword 0 cite "CTM §2.2.1" {
        /// The 32 bits.
        31:0    value: u32 = "value";
    }
}

word_format! {
    /// A 2K-aligned address.
    pub struct AddressWord "address" dword 0 cite "CTM §2.2.2" {
        /// The address, in units of 2048 bytes.
        31:11   base: u32 = "address";
        reserved 10:0;
    }
}

word_format! {
    /// Switches of the performance counters.
    pub struct PerfFlagsWord "flags" dword 0 cite "CTM §2.2.1" {
        /// Turn the counters on or off.
        0:0     enable: bool = "enable";
        reserved 31:1;
    }
}

word_format! {
    /// First column of the domain.
    pub struct DomainI0 "i0" dword 0 cite "CTM §2.2.1" {
        /// First column.
        11:0    i0: u16 = "i0";
        reserved 31:12;
    }
}

word_format! {
    /// First row of the domain.
    pub struct DomainJ0 "j0" dword 1 cite "CTM §2.2.1" {
        /// First row.
        11:0    j0: u16 = "j0";
        reserved 31:12;
    }
}

word_format! {
    /// Last column of the domain.
    pub struct DomainI1 "i1" dword 2 cite "CTM §2.2.1" {
        /// Last column, inclusive.
        11:0    i1: u16 = "i1";
        reserved 31:12;
    }
}

word_format! {
    /// Last row of the domain.
    pub struct DomainJ1 "j1" dword 3 cite "CTM §2.2.1" {
        /// Last row, inclusive.
        11:0    j1: u16 = "j1";
        reserved 31:12;
    }
}

word_format! {
    /// The input that the other parameters are for.
    pub struct InputWord "input" dword 0 cite "CTM §2.2.2" {
        /// Which input.
        3:0     input: u8 = "input";
        reserved 31:4;
    }
}

word_format! {
    /// The output that the other parameters are for.
    pub struct OutputWord "output" dword 0 cite "CTM §2.2.2" {
        /// Which output.
        1:0     output: u8 = "output";
        reserved 31:2;
    }
}

word_format! {
    /// The height of an array.
    pub struct HeightWord "height" dword 3 cite "CTM §2.2.2" {
        /// Rows.
        12:0    height: u16 = "height";
        reserved 31:13;
    }
}

word_format! {
    /// Which channels reach memory.
    pub struct WriteMaskWord "writemask" dword 0 cite "CTM §2.2.2" {
        /// Write channel 0.
        0:0     c0: bool = "c0";
        /// Write channel 1.
        1:1     c1: bool = "c1";
        /// Write channel 2.
        2:2     c2: bool = "c2";
        /// Write channel 3.
        3:3     c3: bool = "c3";
        reserved 31:4;
    }
}

word_format! {
    /// Whether conditional values reach the conditional buffer.
    pub struct CondMaskWord "writemask" dword 0 cite "CTM §2.2.2" {
        /// Write the conditional value.
        0:0     write: bool = "write";
        reserved 31:1;
    }
}

ops! {
    /// The test of the Conditional Output Unit: conditional value against the value in the conditional buffer.
    pub enum CondTest cite "CTM §2.2.3" {
        /// Always fails.
        Never "NEVER" 0;
        /// Passes if the conditional value is less.
        Less "LESS" 1;
        /// Passes if the conditional value is less or equal.
        LessEqual "LESS_EQUAL" 2;
        /// Passes if both are equal.
        Equal "EQUAL" 3;
        /// Passes if the conditional value is greater or equal.
        GreaterEqual "GREATER_EQUAL" 4;
        /// Passes if the conditional value is greater.
        Greater "GREATER" 5;
        /// Passes if both are not equal.
        NotEqual "NOT_EQUAL" 6;
        /// Always passes.
        Always "ALWAYS" 7;
    }
}

word_format! {
    /// The test of the Conditional Output Unit.
    pub struct CondTestWord "condition" dword 0 cite "CTM §2.2.3" {
        /// The test.
        2:0     test: CondTest = "test";
        reserved 31:3;
    }
}

ops! {
    /// For whom the conditional test is made; the other one is always answered with yes.
    pub enum CondLoc cite "CTM §2.2.3" {
        /// The processors: whether their outputs are written.
        Dpp "DPP" 0;
        /// The PE: whether an index pair is scheduled.
        Pe "PE" 1;
    }
}

word_format! {
    /// Where the conditional test is made.
    pub struct LocWord "loc" dword 0 cite "CTM §2.2.3" {
        /// The location.
        0:0     loc: CondLoc = "location";
        reserved 31:1;
    }
}

word_format! {
    /// How coordinates become elements.
    pub struct SamplerWord "sampler" dword 1 cite "docs/commands.md" {
        /// Nearest or linear.
        0:0     filter: SamplerFilter = "filter";
        /// Columns outside the input.
        9:8     wrap_x: SamplerWrap = "wrap_x";
        /// Rows outside the input.
        17:16   wrap_y: SamplerWrap = "wrap_y";
        reserved 7:1, 15:10, 31:18;
    }
}

word_format! {
    /// Elements per row that may be read.
    pub struct SamplerWidthWord "width" dword 2 cite "docs/commands.md" {
        /// Elements; 0: the pitch.
        12:0    width: u16 = "width";
        reserved 31:13;
    }
}

word_format! {
    /// Red of the border colour.
    pub struct BorderR "border_r" dword 3 cite "docs/commands.md" {
        /// The bits of a single-precision number.
        31:0    value: u32 = "border_r";
    }
}

word_format! {
    /// Green of the border colour.
    pub struct BorderG "border_g" dword 4 cite "docs/commands.md" {
        /// The bits of a single-precision number.
        31:0    value: u32 = "border_g";
    }
}

word_format! {
    /// Blue of the border colour.
    pub struct BorderB "border_b" dword 5 cite "docs/commands.md" {
        /// The bits of a single-precision number.
        31:0    value: u32 = "border_b";
    }
}

word_format! {
    /// Alpha of the border colour.
    pub struct BorderA "border_a" dword 6 cite "docs/commands.md" {
        /// The bits of a single-precision number.
        31:0    value: u32 = "border_a";
    }
}

word_format! {
    /// The number of plane records.
    pub struct PlaneCountWord "count" dword 1 cite "docs/commands.md" {
        /// Records, at most one for each temporary; 0: none.
        7:0     count: u8 = "count";
        reserved 31:8;
    }
}

const RESERVED: Param =
    Param { format: &ReservedWord::FORMAT, show: Show::Hex, reserved: Reserved::Ignored, optional: true };
const VALUE: Param = Param { show: Show::Hex, ..strict(&RawWord::FORMAT) };
/// The low bits are ignored by the Guide's own words.
const ADDRESS: Param =
    Param { format: &AddressWord::FORMAT, show: Show::Hex, reserved: Reserved::Ignored, optional: false };
const FORMAT: Param = Param { show: Show::InPlace, ..strict(&FormatWord::FORMAT) };
/// Known clients send 0, which would be UINT16_1 with a pitch of 0: the word is ignored.
const IGNORED_FORMAT: Param =
    Param { format: &FormatWord::FORMAT, show: Show::Hex, reserved: Reserved::Ignored, optional: true };
const HEIGHT: Param = strict(&HeightWord::FORMAT);
const PERF_FLAGS: Param = strict(&PerfFlagsWord::FORMAT);
const I0: Param = strict(&DomainI0::FORMAT);
const J0: Param = strict(&DomainJ0::FORMAT);
const I1: Param = strict(&DomainI1::FORMAT);
const J1: Param = strict(&DomainJ1::FORMAT);
const INPUT: Param = strict(&InputWord::FORMAT);
const OUTPUT: Param = strict(&OutputWord::FORMAT);
const WRITE_MASK: Param = strict(&WriteMaskWord::FORMAT);
const COND_MASK: Param = strict(&CondMaskWord::FORMAT);
const COND_TEST: Param = strict(&CondTestWord::FORMAT);
const LOC: Param = strict(&LocWord::FORMAT);
const SAMPLER: Param = strict(&SamplerWord::FORMAT);
const SAMPLER_WIDTH: Param = strict(&SamplerWidthWord::FORMAT);
const BORDER_R: Param = bits(&BorderR::FORMAT);
const BORDER_G: Param = bits(&BorderG::FORMAT);
const BORDER_B: Param = bits(&BorderB::FORMAT);
const BORDER_A: Param = bits(&BorderA::FORMAT);
const PLANE_COUNT: Param = strict(&PlaneCountWord::FORMAT);

const fn guide(unit: CommandUnit, pipelined: bool, params: &'static [Param]) -> CommandInfo {
    CommandInfo { unit, pipelined, extension: false, r700_only: false, params, fewest: params.len() }
}

const fn extension(unit: CommandUnit, params: &'static [Param]) -> CommandInfo {
    CommandInfo { extension: true, ..guide(unit, false, params) }
}

const fn r700(unit: CommandUnit, params: &'static [Param]) -> CommandInfo {
    CommandInfo { r700_only: true, ..extension(unit, params) }
}

/// *The Guide's header announces two parameters and its text describes one.* Both forms are accepted.
const fn one_or_two(info: CommandInfo) -> CommandInfo {
    CommandInfo { fewest: 1, ..info }
}

ops! {
    /// The commands.
    pub enum CommandKind cite "CTM §2.2" info CommandInfo {
        /// Initialises the performance counters and turns them on or off.
        InitPerfCounters "init_perf_counters" 0x02 cite "CTM §2.2.1"
            => one_or_two(guide(CommandUnit::Pe, true, &[PERF_FLAGS, RESERVED]));
        /// Sets the performance counters to zero and starts them.
        StartPerfCounters "start_perf_counters" 0x03 cite "CTM §2.2.1" => guide(CommandUnit::Pe, true, &[RESERVED]);
        /// Stops the performance counters.
        StopPerfCounters "stop_perf_counters" 0x04 cite "CTM §2.2.1" => guide(CommandUnit::Pe, true, &[RESERVED]);
        /// Writes the performance counters to memory: total clocks, then active clocks, a dword each.
        ReadPerfCounters "read_perf_counters" 0x05 cite "CTM §2.2.1"
            => one_or_two(guide(CommandUnit::Pe, false, &[ADDRESS, RESERVED]));
        /// Sets the conditional value that the PE sends to the Conditional Output Unit and to the processors: a single-precision number.
        SetCondVal "set_cond_val" 0x06 cite "CTM §2.2.1" => guide(CommandUnit::Pe, true, &[VALUE]);
        /// Sets the domain to the index pairs (i0, j0) to (i1, j1), inclusive.
        SetDomain "set_domain" 0x07 cite "CTM §2.2.1" => guide(CommandUnit::Pe, true, &[
            I0, J0, I1, J1]);
        /// Starts the program, once for each index pair of the domain.
        StartProgram "start_program" 0x08 cite "CTM §2.2.1" => guide(CommandUnit::Pe, true, &[RESERVED]);
        /// Reads no further command until all processors are idle.
        WaitForIdle "wait_for_idle" 0x09 cite "CTM §2.2.1" => guide(CommandUnit::Pe, true, &[RESERVED]);
        /// Says where the program lies: a whole ELF image. The format word is ignored.
        SetInstFmt "set_inst_fmt" 0x0a cite "CTM §2.2.2" => guide(CommandUnit::Mc, false, &[ADDRESS, IGNORED_FORMAT]);
        /// Sets the address and format of an input.
        SetInpFmt "set_inp_fmt" 0x0b cite "CTM §2.2.2"
            => guide(CommandUnit::Mc, false, &[INPUT, ADDRESS, FORMAT, HEIGHT]);
        /// Sets the address and format of an output.
        SetOutFmt "set_out_fmt" 0x0c cite "CTM §2.2.2"
            => guide(CommandUnit::Mc, false, &[OUTPUT, ADDRESS, FORMAT, HEIGHT]);
        /// Sets the address and format of the conditional buffer.
        SetCondOutFmt "set_cond_out_fmt" 0x0d cite "CTM §2.2.2" => guide(CommandUnit::Mc, false, &[ADDRESS, FORMAT, HEIGHT]);
        /// Says where the floating-point constants lie: 256 of 16 bytes. The format word is ignored.
        SetConstfFmt "set_constf_fmt" 0x0e cite "CTM §2.2.2" => guide(CommandUnit::Mc, false, &[ADDRESS, IGNORED_FORMAT]);
        /// Says where the integer constants lie: 32 of 4 bytes. The format word is ignored.
        SetConstiFmt "set_consti_fmt" 0x0f cite "CTM §2.2.2" => guide(CommandUnit::Mc, false, &[ADDRESS, IGNORED_FORMAT]);
        /// Says where the boolean constants lie: 32 of 4 bytes, of which the first counts. The format word is ignored.
        SetConstbFmt "set_constb_fmt" 0x10 cite "CTM §2.2.2" => guide(CommandUnit::Mc, false, &[ADDRESS, IGNORED_FORMAT]);
        /// Invalidates the instruction cache: the image is read again at the next start.
        InvInstCache "inv_inst_cache" 0x11 cite "CTM §2.2.2" => guide(CommandUnit::Mc, true, &[RESERVED]);
        /// Invalidates the floating-point constant cache.
        InvConstfCache "inv_constf_cache" 0x12 cite "CTM §2.2.2" => guide(CommandUnit::Mc, true, &[RESERVED]);
        /// Invalidates the integer constant cache.
        InvConstiCache "inv_consti_cache" 0x13 cite "CTM §2.2.2" => guide(CommandUnit::Mc, true, &[RESERVED]);
        /// Invalidates the boolean constant cache.
        InvConstbCache "inv_constb_cache" 0x14 cite "CTM §2.2.2" => guide(CommandUnit::Mc, true, &[RESERVED]);
        /// Invalidates the conditional output cache.
        InvCondOutCache "inv_cond_out_cache" 0x15 cite "CTM §2.2.2" => guide(CommandUnit::Mc, true, &[RESERVED]);
        /// Invalidates the input cache.
        InvInpCache "inv_inp_cache" 0x16 cite "CTM §2.2.2" => guide(CommandUnit::Mc, true, &[RESERVED]);
        /// Flushes the output cache to memory.
        FlushOutCache "flush_out_cache" 0x17 cite "CTM §2.2.2" => guide(CommandUnit::Mc, true, &[RESERVED]);
        /// Flushes the conditional output cache to memory.
        FlushCondOutCache "flush_cond_out_cache" 0x18 cite "CTM §2.2.2" => guide(CommandUnit::Mc, true, &[RESERVED]);
        /// Sets which channels of outputs reach memory.
        SetOutMask "set_out_mask" 0x19 cite "CTM §2.2.2" => guide(CommandUnit::Mc, true, &[WRITE_MASK]);
        /// Sets whether conditional values reach the conditional buffer.
        SetCondOutMask "set_cond_out_mask" 0x1a cite "CTM §2.2.2"
            => guide(CommandUnit::Mc, true, &[COND_MASK]);
        /// Sets the conditional test.
        SetCondTest "set_cond_test" 0x1b cite "CTM §2.2.3" => guide(CommandUnit::Co, true, &[COND_TEST]);
        /// Sets for whom the conditional test is made.
        SetCondLoc "set_cond_loc" 0x1c cite "CTM §2.2.3" => guide(CommandUnit::Co, true, &[LOC]);
        /// Says where the three parameter records lie from which programs receive interpolants.
        SetParams "set_params" 0x1d cite "docs/commands.md" => CommandInfo { pipelined: true, ..extension(CommandUnit::Pe, &[ADDRESS]) };
        /// Says how coordinates become elements of an input.
        SetInpSampler "set_inp_sampler" 0x40 cite "docs/commands.md" => extension(CommandUnit::Mc, &[
            INPUT, SAMPLER, SAMPLER_WIDTH,
            BORDER_R, BORDER_G, BORDER_B, BORDER_A]);
        /// Sets start values of temporaries: plane records in memory.
        SetPlanes "set_planes" 0x41 cite "docs/commands.md"
            => extension(CommandUnit::Pe, &[ADDRESS, PLANE_COUNT]);
        /// Says where a program lies: the one that is started, or the fetch subroutine.
        SetProgram "set_program" 0x42 cite "docs/commands.md" => r700(CommandUnit::Mc, &[
            r700::PROGRAM, ADDRESS, r700::BYTES, r700::ENTRY, r700::NEEDS]);
        /// Sets the kind of program.
        SetStage "set_stage" 0x43 cite "docs/commands.md" => r700(CommandUnit::Pe, &[r700::STAGE]);
        /// Says which chip of the family the device is, and how wide its wavefronts are.
        SetChip "set_chip" 0x44 cite "docs/commands.md" => r700(CommandUnit::Pe, &[r700::CHIP]);
        /// Says how many threads of a compute program share the local data share.
        SetThreadGroup "set_thread_group" 0x45 cite "docs/commands.md" => r700(CommandUnit::Pe, &[r700::GROUP]);
        /// Says how many SIMD-global registers there are.
        SetGlobalGprs "set_global_gprs" 0x46 cite "docs/commands.md" => r700(CommandUnit::Pe, &[r700::GLOBALS]);
        /// Sets the address of the loop constants: 32 dwords.
        SetLoopConsts "set_loop_consts" 0x47 cite "docs/commands.md" => r700(CommandUnit::Mc, &[ADDRESS]);
        /// Says where a constant buffer lies.
        SetConstBuffer "set_const_buffer" 0x48 cite "docs/commands.md" => r700(CommandUnit::Mc, &[
            r700::BANK, ADDRESS, r700::CONSTANTS]);
        /// Sets the address and item format of a buffer of vertex fetches.
        SetVtxBuffer "set_vtx_buffer" 0x49 cite "docs/commands.md" => r700(CommandUnit::Mc, &[
            r700::BUFFER, ADDRESS, r700::BYTES, r700::STRIDE, r700::FETCH_FORMAT]);
        /// Sets the address and texel format of a texture.
        SetTexture "set_texture" 0x4a cite "docs/commands.md" => r700(CommandUnit::Mc, &[
            r700::TEXTURE, ADDRESS, r700::TEXTURE_SIZE, r700::TEXTURE_DEPTH, r700::TEXTURE_PITCH, r700::FETCH_FORMAT]);
        /// Says how textures are sampled.
        SetSampler "set_sampler" 0x4b cite "docs/commands.md" => r700(CommandUnit::Mc, &[
            r700::TEXTURE_SAMPLER, r700::MIN_LOD, r700::MAX_LOD, r700::LOD_BIAS, BORDER_R, BORDER_G, BORDER_B, BORDER_A]);
        /// Says where a memory of MEM instructions lies.
        SetMemory "set_memory" 0x4c cite "docs/commands.md" => r700(CommandUnit::Mc, &[
            r700::MEMORY, ADDRESS, r700::BYTES, r700::ITEM]);
        /// Says where the semantic table lies: which register a semantic fetch writes.
        SetSemantics "set_semantics" 0x4d cite "docs/commands.md" => r700(CommandUnit::Mc, &[ADDRESS, r700::SEMANTICS]);
        /// Says where exports go: colours, depth, positions, parameters.
        SetExport "set_export" 0x4e cite "docs/commands.md" => r700(CommandUnit::Mc, &[
            r700::EXPORT, ADDRESS, FORMAT, HEIGHT]);
        /// Sets the buffer for vertex events of geometry programs.
        SetVertexEvents "set_vertex_events" 0x4f cite "docs/commands.md" => r700(CommandUnit::Mc, &[ADDRESS, r700::EVENTS]);
        /// Says which registers receive the interpolants of `set_params`.
        SetInterpolants "set_interpolants" 0x50 cite "docs/commands.md" => r700(CommandUnit::Pe, &[r700::INTERPOLANTS]);
        /// Sets the offsets of the indices of vertex fetches.
        SetIndexOffsets "set_index_offsets" 0x51 cite "docs/commands.md"
            => r700(CommandUnit::Pe, &[r700::VERTEX_OFFSET, r700::INSTANCE_OFFSET]);
        /// Says whose constant buffers, buffers, textures and samplers the commands after it set.
        SelectResources "select_resources" 0x52 cite "docs/commands.md" => r700(CommandUnit::Mc, &[r700::RESOURCE_SET]);
    }
}
