//! Putting a command buffer together.

use super::Command;
use super::table::{
    CommandKind, CondLoc, CondMaskWord, CondTest, CondTestWord, InputWord, LocWord, OutputWord, PerfFlagsWord,
    PlaneCountWord, SamplerWidthWord, SamplerWord,
};
use crate::mc::Surface;
use crate::memory::GpuAddr;
use ctm_exec::Domain;
use ctm_exec::x1k::Sampler;

/// A command buffer in the making: methods add one command each, in order.
///
/// ```
/// use ctm_device::commands::CommandBuffer;
/// use ctm_device::memory::GpuAddr;
/// use ctm_exec::Domain;
/// let buffer = CommandBuffer::new()
///     .set_inst_fmt(GpuAddr(0x8000_0000))
///     .set_domain(Domain { i0: 0, j0: 0, i1: 63, j1: 31 })
///     .start_program()
///     .flush_out_cache();
/// assert_eq!(buffer.words()[..4], [0xc001_0a00, 0x8000_0000, 0, 0xc003_0700]);
/// assert_eq!(buffer.len_dwords(), 12);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandBuffer {
    words: Vec<u32>,
}

impl CommandBuffer {
    /// An empty buffer.
    #[must_use]
    pub const fn new() -> Self {
        Self { words: Vec::new() }
    }

    /// The words.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The words.
    #[must_use]
    pub fn into_words(self) -> Vec<u32> {
        self.words
    }

    /// The number of words.
    #[must_use]
    pub const fn len_dwords(&self) -> usize {
        self.words.len()
    }

    /// Whether no command was added.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The bytes as they lie in memory.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    /// Adds any command.
    #[must_use]
    pub fn command(mut self, command: &Command) -> Self {
        self.words.push(command.header());
        self.words.extend_from_slice(command.params());
        self
    }

    /// Adds all commands of another buffer.
    #[must_use]
    pub fn append(mut self, other: &Self) -> Self {
        self.words.extend_from_slice(&other.words);
        self
    }

    pub(super) fn with(self, kind: CommandKind, params: &[u32]) -> Self {
        self.command(&Command::new(kind, params))
    }

    /// Initialises the performance counters and turns them on or off.
    #[must_use]
    pub fn init_perf_counters(self, enable: bool) -> Self {
        self.with(CommandKind::InitPerfCounters, &[PerfFlagsWord { enable }.encode()])
    }

    /// Sets the performance counters to zero and starts them.
    #[must_use]
    pub fn start_perf_counters(self) -> Self {
        self.with(CommandKind::StartPerfCounters, &[])
    }

    /// Stops the performance counters.
    #[must_use]
    pub fn stop_perf_counters(self) -> Self {
        self.with(CommandKind::StopPerfCounters, &[])
    }

    /// Writes total clocks and active clocks, a dword each, to `address`.
    #[must_use]
    pub fn read_perf_counters(self, address: GpuAddr) -> Self {
        self.with(CommandKind::ReadPerfCounters, &[address.0])
    }

    /// Sets the conditional value of the PE.
    #[must_use]
    pub fn set_cond_val(self, value: f32) -> Self {
        self.with(CommandKind::SetCondVal, &[value.to_bits()])
    }

    /// Sets the domain; coordinates are at most 4095.
    #[must_use]
    pub fn set_domain(self, domain: Domain) -> Self {
        self.with(CommandKind::SetDomain, &[domain.i0, domain.j0, domain.i1, domain.j1])
    }

    /// Starts the program.
    #[must_use]
    pub fn start_program(self) -> Self {
        self.with(CommandKind::StartProgram, &[])
    }

    /// Waits until all processors are idle.
    #[must_use]
    pub fn wait_for_idle(self) -> Self {
        self.with(CommandKind::WaitForIdle, &[])
    }

    /// The program is the ELF image at `address`.
    #[must_use]
    pub fn set_inst_fmt(self, address: GpuAddr) -> Self {
        self.with(CommandKind::SetInstFmt, &[address.0])
    }

    /// Input `input` (0..=15) is `surface`.
    #[must_use]
    pub fn set_inp_fmt(self, input: u8, surface: &Surface) -> Self {
        let params = [InputWord { input }.encode(), surface.base.0, surface.format_word(), surface.height];
        self.with(CommandKind::SetInpFmt, &params)
    }

    /// Output `output` (0..=3) is `surface`.
    #[must_use]
    pub fn set_out_fmt(self, output: u8, surface: &Surface) -> Self {
        let params = [OutputWord { output }.encode(), surface.base.0, surface.format_word(), surface.height];
        self.with(CommandKind::SetOutFmt, &params)
    }

    /// The conditional buffer is `surface`.
    #[must_use]
    pub fn set_cond_out_fmt(self, surface: &Surface) -> Self {
        self.with(CommandKind::SetCondOutFmt, &[surface.base.0, surface.format_word(), surface.height])
    }

    /// The floating-point constants lie at `address`.
    #[must_use]
    pub fn set_constf_fmt(self, address: GpuAddr) -> Self {
        self.with(CommandKind::SetConstfFmt, &[address.0])
    }

    /// The integer constants lie at `address`.
    #[must_use]
    pub fn set_consti_fmt(self, address: GpuAddr) -> Self {
        self.with(CommandKind::SetConstiFmt, &[address.0])
    }

    /// The boolean constants lie at `address`.
    #[must_use]
    pub fn set_constb_fmt(self, address: GpuAddr) -> Self {
        self.with(CommandKind::SetConstbFmt, &[address.0])
    }

    /// Invalidates the instruction cache.
    #[must_use]
    pub fn inv_inst_cache(self) -> Self {
        self.with(CommandKind::InvInstCache, &[])
    }

    /// Invalidates the floating-point constant cache.
    #[must_use]
    pub fn inv_constf_cache(self) -> Self {
        self.with(CommandKind::InvConstfCache, &[])
    }

    /// Invalidates the integer constant cache.
    #[must_use]
    pub fn inv_consti_cache(self) -> Self {
        self.with(CommandKind::InvConstiCache, &[])
    }

    /// Invalidates the boolean constant cache.
    #[must_use]
    pub fn inv_constb_cache(self) -> Self {
        self.with(CommandKind::InvConstbCache, &[])
    }

    /// Invalidates the conditional output cache.
    #[must_use]
    pub fn inv_cond_out_cache(self) -> Self {
        self.with(CommandKind::InvCondOutCache, &[])
    }

    /// Invalidates the input cache.
    #[must_use]
    pub fn inv_inp_cache(self) -> Self {
        self.with(CommandKind::InvInpCache, &[])
    }

    /// Flushes the output cache.
    #[must_use]
    pub fn flush_out_cache(self) -> Self {
        self.with(CommandKind::FlushOutCache, &[])
    }

    /// Flushes the conditional output cache.
    #[must_use]
    pub fn flush_cond_out_cache(self) -> Self {
        self.with(CommandKind::FlushCondOutCache, &[])
    }

    /// Sets which channels reach memory: bit 0 is channel 0; bits above 3 are not allowed.
    #[must_use]
    pub fn set_out_mask(self, mask: u8) -> Self {
        self.with(CommandKind::SetOutMask, &[u32::from(mask)])
    }

    /// Sets whether conditional values reach the conditional buffer.
    #[must_use]
    pub fn set_cond_out_mask(self, write: bool) -> Self {
        self.with(CommandKind::SetCondOutMask, &[CondMaskWord { write }.encode()])
    }

    /// Sets the conditional test.
    #[must_use]
    pub fn set_cond_test(self, test: CondTest) -> Self {
        self.with(CommandKind::SetCondTest, &[CondTestWord { test }.encode()])
    }

    /// Sets for whom the conditional test is made.
    #[must_use]
    pub fn set_cond_loc(self, loc: CondLoc) -> Self {
        self.with(CommandKind::SetCondLoc, &[LocWord { loc }.encode()])
    }

    /// The parameter records lie at `address`.
    #[must_use]
    pub fn set_params(self, address: GpuAddr) -> Self {
        self.with(CommandKind::SetParams, &[address.0])
    }

    /// Sets the wrap modes and filter of input `input`, and the readable elements of a row (0: the pitch).
    #[must_use]
    pub fn set_inp_sampler(self, input: u8, sampler: &Sampler, width: u16) -> Self {
        let filter = sampler.filter.into();
        let [wrap_x, wrap_y] = sampler.wrap.map(Into::into);
        let [r, g, b, a] = sampler.border;
        let word = SamplerWord { filter, wrap_x, wrap_y }.encode();
        let width = SamplerWidthWord { width }.encode();
        self.with(CommandKind::SetInpSampler, &[InputWord { input }.encode(), word, width, r, g, b, a])
    }

    /// `count` plane records lie at `address`.
    #[must_use]
    pub fn set_planes(self, address: GpuAddr, count: u8) -> Self {
        self.with(CommandKind::SetPlanes, &[address.0, PlaneCountWord { count }.encode()])
    }
}
