//! The register state that commands set. It stays from one command buffer to the next.

use super::co::ConditionalUnit;
use super::r700::registers::R700Registers;
use crate::mc::Surface;
use crate::memory::GpuAddr;
use ctm_exec::Domain;
use ctm_exec::x1k::Sampler;
use ctm_isa::x1k::{INPUTS, OUTPUTS};

/// How an input is sampled (`set_inp_sampler`).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InputSampler {
    /// How coordinates become elements.
    pub sampler: Sampler,
    /// Elements of a row that may be read; 0: the pitch.
    pub width: u32,
}

/// Everything that commands set.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandRegisters {
    /// Where the program lies.
    pub instructions: Option<GpuAddr>,
    /// The inputs.
    pub inputs: [Option<Surface>; INPUTS],
    /// How the inputs are sampled.
    pub samplers: [InputSampler; INPUTS],
    /// The outputs.
    pub outputs: [Option<Surface>; OUTPUTS],
    /// Which channels of outputs reach memory; bit 0 is channel 0.
    pub out_mask: u8,
    /// Where the floating-point constants lie. Without an address they are 0.
    pub float_constants: Option<GpuAddr>,
    /// Where the integer constants lie. Without an address they are 0.
    pub int_constants: Option<GpuAddr>,
    /// Where the boolean constants lie. Without an address they are false.
    pub bool_constants: Option<GpuAddr>,
    /// The Conditional Output Unit.
    pub conditional: ConditionalUnit,
    /// The domain.
    pub domain: Option<Domain>,
    /// Where the parameter records lie.
    pub params: Option<GpuAddr>,
    /// Where the plane records lie, and how many there are.
    pub planes: Option<(GpuAddr, u8)>,
    /// State of R700 devices only.
    pub r700: R700Registers,
    /// The performance counters.
    pub perf: PerfCounters,
}

impl Default for CommandRegisters {
    fn default() -> Self {
        Self {
            instructions: None,
            inputs: [None; INPUTS],
            samplers: [InputSampler::default(); INPUTS],
            outputs: [None; OUTPUTS],
            out_mask: 0xf,
            float_constants: None,
            int_constants: None,
            bool_constants: None,
            conditional: ConditionalUnit::default(),
            domain: None,
            params: None,
            planes: None,
            r700: R700Registers::default(),
            perf: PerfCounters::default(),
        }
    }
}

/// The performance counters of the PE (CTM §2.1.2).
///
/// The clock model is that of `docs/clocks.md` for launches; reading the command buffer takes one clock per dword.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PerfCounters {
    /// `init_perf_counters` turned them on.
    pub enabled: bool,
    /// They are counting.
    pub counting: bool,
    /// Clocks since the last start.
    pub total_clocks: u64,
    /// Those during which a processor was active.
    pub active_clocks: u64,
}

impl PerfCounters {
    /// Lets clocks pass.
    pub(super) const fn pass(&mut self, clocks: u64, active: bool) {
        if self.counting {
            self.total_clocks = self.total_clocks.wrapping_add(clocks);
            if active {
                self.active_clocks = self.active_clocks.wrapping_add(clocks);
            }
        }
    }

    /// `init_perf_counters`.
    pub(super) const fn init(&mut self, enable: bool) {
        *self = Self { enabled: enable, counting: false, total_clocks: 0, active_clocks: 0 };
    }

    /// `start_perf_counters`.
    pub(super) const fn start(&mut self) {
        if self.enabled {
            *self = Self { enabled: true, counting: true, total_clocks: 0, active_clocks: 0 };
        }
    }

    /// `stop_perf_counters`.
    pub(super) const fn stop(&mut self) {
        self.counting = false;
    }

    /// The values of `read_perf_counters`: the low 32 bits of total and active clocks.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "the counters have 32 bits and wrap")]
    pub const fn words(&self) -> [u32; 2] {
        [self.total_clocks as u32, self.active_clocks as u32]
    }
}
