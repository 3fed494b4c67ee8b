//! The device: memory, registers and units, driven by command buffers (CTM chapter 2).
//!
//! | file | content |
//! |---|---|
//! | `pe` | the Processor Execution Unit: reads and executes commands, starts programs |
//! | `registers` | state set by commands |
//! | `loader` | from memory to the engine's launch: program, constants, planes |
//! | `launch` | the memory of a running program: inputs, outputs, conditional test |
//! | `co` | the Conditional Output Unit |
//! | `cache` | the caches, as checked mode models them |
//! | `r700` | the R700 part: registers, program loader, memory of programs |
//! | `report` | results of a submission, findings, errors |
//! | `watch` | observers of submissions: recordings, which this module does not know |
//!
//! **Invariants.** Registers and memory keep their values from one buffer to the next, also after an error. Nothing a buffer or a program
//! says panics, or reaches memory outside the arenas. When [`Device::submit`] returns, everything is in memory.
//!
//! A device that executes a buffer, and the error of one that cannot be decoded:
//!
//! ```
//! use ctm_device::device::CommandErrorReason;
//! use ctm_device::{ArenaId, CommandBuffer, Device, DeviceOptions};
//!
//! let mut device = Device::new(DeviceOptions::checked())?;
//! let at = device.allocate(ArenaId::Gpu, 64)?;
//! device.write_dwords(at, CommandBuffer::new().set_out_mask(0b0011).words())?;
//! let report = device.submit(at, 2)?;
//! assert!(report.commands == 1 && report.launches.is_empty() && report.findings.is_empty());
//! assert_eq!(device.registers().out_mask, 0b0011);
//!
//! device.write_dwords(at, &[0])?;
//! let wrong = device.submit(at, 1).unwrap_err();
//! assert!(matches!(wrong.reason, CommandErrorReason::Decode(_)) && wrong.offset_dwords == 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cache;
mod co;
mod launch;
mod loader;
mod parameter;
mod pe;
mod r700;
mod registers;
mod report;
mod watch;

pub use co::{ConditionalUnit, passes};
pub use loader::{PLANE_BYTES, ParamsStride, plane_bytes, vertex_plane};
pub use r700::{BoundTexture, LoopConstants, R700Registers, Resources, Strip, strips, vertex_events};
pub use registers::{CommandRegisters, InputSampler, PerfCounters};
pub use report::{CommandError, CommandErrorReason, CommandFinding, LaunchReport, SubmitReport};
pub(crate) use watch::{Submission, SubmissionWatcher};

use crate::mc::{ByteOrder, MAX_INDEX, Surface};
use crate::memory::{ArenaId, ArenaOptions, DeviceMemory, GpuAddr, MemoryError};
use cache::{CacheModel, Way};
use ctm_exec::{Budget, Control, Engine, GroupSize};
use ctm_isa::r700::program::Chip;
use launch::lock;
use loader::LoadedProgram;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// How the MC's caches behave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Caches {
    /// Every read sees every earlier write, whether caches were flushed and invalidated or not. Costs nothing.
    #[default]
    Coherent,
    /// As `Coherent`, and where a real cache might have given something else, or a `wait_for_idle` is missing, it is reported.
    Modelled,
}

/// Which processor a device has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// The X1K (R5xx) processor array.
    #[default]
    X1k,
    /// An R700 shader core.
    R700,
}

impl DeviceKind {
    /// The name that people read: `X1K`, `R700`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::X1k => "X1K",
            Self::R700 => "R700",
        }
    }
}

/// How a device is opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceOptions {
    /// Which processor it has.
    pub kind: DeviceKind,
    /// R700 devices: the chip, until a `set_chip`.
    pub chip: Chip,
    /// Sizes and places of the memory arenas.
    pub arenas: ArenaOptions,
    /// How many processors decide a jump together; R700 devices: threads of a wavefront, until a `set_chip`.
    pub group: GroupSize,
    /// Limits of each launch.
    pub budget: Budget,
    /// Worker threads; 0 means one per core. Never changes results.
    pub threads: usize,
    /// Look for mistakes in commands and running programs.
    pub checks: bool,
    /// Maintain costly counters in every launch, and not only while performance counters run: reports have
    /// [`Counters::cheap`](ctm_exec::Counters::cheap) otherwise.
    pub counters: bool,
    /// How the caches behave.
    pub caches: Caches,
    /// How long parameter records are.
    pub params_stride: ParamsStride,
    /// How the channels of `UINT8_4` lie in memory.
    pub uint8_order: ByteOrder,
}

impl Default for DeviceOptions {
    fn default() -> Self {
        Self {
            kind: DeviceKind::X1k,
            chip: Chip::Rv770,
            arenas: ArenaOptions::default(),
            group: GroupSize::X1K,
            budget: Budget::default(),
            threads: 0,
            checks: false,
            counters: false,
            caches: Caches::Coherent,
            params_stride: ParamsStride::Floats32,
            uint8_order: ByteOrder::Rgba,
        }
    }
}

impl DeviceOptions {
    /// An R700 device with the chip's own wavefronts.
    #[must_use]
    pub fn r700(chip: Chip) -> Self {
        let group = u16::try_from(chip.wavefront()).ok().and_then(GroupSize::new).unwrap_or(GroupSize::R700);
        Self { kind: DeviceKind::R700, chip, group, ..Self::default() }
    }

    /// The default with every check turned on.
    #[must_use]
    pub fn checked() -> Self {
        Self { checks: true, caches: Caches::Modelled, ..Self::default() }
    }
}

/// A CTM device.
///
/// ```
/// use ctm_device::commands::CommandBuffer;
/// use ctm_device::device::{Device, DeviceOptions};
/// use ctm_device::mc::{Format, Surface, Tiling};
/// use ctm_device::memory::ArenaId;
/// use ctm_exec::Domain;
/// use ctm_isa::x1k::Program;
///
/// let mut device = Device::new(DeviceOptions::default())?;
///
/// // One OUTPUT instruction: red and green of r0, which holds the index pair (i, j), to output 0.
/// let program = Program::from_words(vec![[0x0001_8005, 0x0802_0000, 0x0802_0000, 0x00db_0220, 0x00c0_c000, 0x2049_0000]]);
/// let image = ctm_image::ctm_elf::write(&program)?;
/// let code = device.allocate(ArenaId::Sys, image.len() as u64)?;
/// device.write(code, &image)?;
///
/// let out = Surface::for_size(4, 4, Format::Float32x2, Tiling::Linear)?;
/// let out = out.at(device.allocate(ArenaId::Gpu, out.bytes())?);
///
/// let buffer = CommandBuffer::new()
///     .set_inst_fmt(code)
///     .set_out_fmt(0, &out)
///     .set_domain(Domain { i0: 0, j0: 0, i1: 3, j1: 3 })
///     .start_program()
///     .flush_out_cache();
/// let at = device.allocate(ArenaId::Sys, 4 * buffer.len_dwords() as u64)?;
/// device.write_dwords(at, buffer.words())?;
/// let report = device.submit(at, buffer.len_dwords() as u32)?;
///
/// assert_eq!(report.counters().processors, 16);
/// assert_eq!(device.read_surface(&out, (3, 2), (1, 1))?[0][..2], [3f32.to_bits(), 2f32.to_bits()]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Device {
    engine: Box<dyn Engine>,
    options: DeviceOptions,
    memory: DeviceMemory,
    registers: CommandRegisters,
    /// The program at the address of `set_inst_fmt`; `None` when it is to be read again.
    program: Option<Box<LoadedProgram>>,
    /// Programs that were set before, in case memory still holds them when they are set again.
    #[allow(clippy::vec_box, reason = "a program changes hands at every launch")]
    kept: Vec<Box<LoadedProgram>>,
    /// The programs of an R700 device that were read.
    programs: r700::Programs,
    /// Only when caches are modelled.
    model: Option<Mutex<CacheModel>>,
    report: SubmitReport,
    /// Only with an observer of submissions.
    watcher: Option<Box<dyn SubmissionWatcher>>,
    control: Control,
    /// Commands that the next submission executes at most, for replays of submissions that ran out of time.
    stop_after: Option<u32>,
}

// A device may be opened on one thread and used on another.
const _: fn() = || {
    fn moves_between_threads<T: Send + Sync>() {}
    moves_between_threads::<Device>();
};

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device")
            .field("engine", &self.engine.name())
            .field("options", &self.options)
            .field("registers", &self.registers)
            .finish_non_exhaustive()
    }
}

impl Device {
    /// A device in its initial state, without an observer.
    pub(crate) fn unwatched(engine: Box<dyn Engine>, options: DeviceOptions, memory: DeviceMemory) -> Self {
        Self {
            engine,
            memory,
            registers: CommandRegisters::default(),
            program: None,
            kept: Vec::new(),
            programs: r700::Programs::default(),
            model: (options.caches == Caches::Modelled).then(Mutex::default),
            report: SubmitReport::default(),
            options,
            watcher: None,
            control: Control::new(),
            stop_after: None,
        }
    }

    /// Sets the observer of submissions.
    pub(crate) const fn watcher(&mut self) -> &mut Option<Box<dyn SubmissionWatcher>> {
        &mut self.watcher
    }

    /// Whether there is an observer of submissions.
    pub(crate) const fn is_watched(&self) -> bool {
        self.watcher.is_some()
    }

    /// Whether registers have their initial values and no program is set.
    pub(crate) fn is_initial(&self) -> bool {
        self.registers == CommandRegisters::default() && self.program.is_none()
    }

    /// The hold under which submissions run: another thread may cancel them, and see how far the launch is.
    ///
    /// A cancelled submission ends soon, with [`CommandErrorReason::Cancelled`] or [`FaultKind::Cancelled`](ctm_exec::FaultKind::Cancelled), and so do later ones until
    /// [`Control::reset`].
    #[must_use]
    pub const fn control(&self) -> &Control {
        &self.control
    }

    /// Lets submissions run under this hold, which may be that of others too.
    pub fn set_control(&mut self, control: Control) {
        self.control = control;
    }

    /// Lets the next submission end before the command with this number.
    pub(crate) const fn stop_after(&mut self, commands: u32) {
        self.stop_after = Some(commands);
    }

    /// How the device was opened.
    #[must_use]
    pub const fn options(&self) -> &DeviceOptions {
        &self.options
    }

    /// The engine's name.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        self.engine.name()
    }

    /// The current register state.
    #[must_use]
    pub const fn registers(&self) -> &CommandRegisters {
        &self.registers
    }

    /// Gives all registers their initial values. Memory stays.
    pub fn reset(&mut self) {
        self.registers = CommandRegisters::default();
        self.program = None;
        self.kept.clear();
        self.programs.clear();
        if let Some(watcher) = &mut self.watcher {
            watcher.reset();
        }
    }

    /// The report of the last submission, up to its end or to the command that stopped it.
    #[must_use]
    pub const fn last_report(&self) -> &SubmitReport {
        &self.report
    }

    /// The memory, past caches and checks.
    #[must_use]
    pub const fn memory(&self) -> &DeviceMemory {
        &self.memory
    }

    /// The memory, past caches and checks: the cache model does not see writes through it.
    #[must_use]
    pub const fn memory_mut(&mut self) -> &mut DeviceMemory {
        &mut self.memory
    }

    /// Reserves memory for use as a base address in commands.
    ///
    /// # Errors
    /// When the arena has no room left.
    pub fn allocate(&mut self, arena: ArenaId, bytes: u64) -> Result<GpuAddr, MemoryError> {
        self.memory.allocate(arena, bytes)
    }

    /// Writes `bytes` at `address`, as the host processor would.
    ///
    /// # Errors
    /// When some of them lie in no arena; then nothing is written.
    pub fn write(&mut self, address: GpuAddr, bytes: &[u8]) -> Result<(), MemoryError> {
        self.memory.write(address, bytes)?;
        self.host_writes(address, bytes.len() as u64);
        Ok(())
    }

    /// Writes little-endian dwords at `address`: a command buffer, for example.
    ///
    /// # Errors
    /// When some of them lie in no arena; then nothing is written.
    pub fn write_dwords(&mut self, address: GpuAddr, words: &[u32]) -> Result<(), MemoryError> {
        let to = self.memory.slice_mut(address, words.len() * 4)?;
        for (to, word) in to.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        self.host_writes(address, words.len() as u64 * 4);
        Ok(())
    }

    /// Reads `bytes` bytes at `address`, as the host processor would.
    ///
    /// # Errors
    /// When some of them lie in no arena.
    pub fn read(&self, address: GpuAddr, bytes: usize) -> Result<&[u8], MemoryError> {
        let slice = self.memory.slice(address, bytes)?;
        if let Some(model) = &self.model {
            lock(model).reads(None, address, bytes as u64, || "memory".to_owned());
        }
        Ok(slice)
    }

    /// Notifies the cache model of host writes that bypassed [`Self::write`].
    pub fn host_writes(&mut self, address: GpuAddr, bytes: u64) {
        if let Some(model) = &mut self.model {
            model.get_mut().unwrap_or_else(PoisonError::into_inner).writes(Way::Host, address, bytes);
        }
    }

    /// Findings of checked mode on the host's accesses since the last submission or call.
    pub fn take_findings(&mut self) -> Vec<CommandFinding> {
        match &mut self.model {
            Some(model) => model.get_mut().unwrap_or_else(PoisonError::into_inner).take_findings(),
            None => Vec::new(),
        }
    }

    /// Fills elements (0, 0) to (`width` - 1, ...) of an array, row by row: bits of r, g, b, a, converted to its format.
    ///
    /// # Errors
    /// When an element lies outside memory.
    pub fn write_surface(&mut self, surface: &Surface, width: u32, elements: &[[u32; 4]]) -> Result<(), MemoryError> {
        let order = self.options.uint8_order;
        for (y, row) in (0..).zip(elements.chunks(width.max(1) as usize)) {
            for (x, &bits) in (0..).zip(row) {
                surface.store(&mut self.memory, (x, y), bits, 0xf, order)?;
            }
        }
        self.host_writes(surface.base, surface.bytes());
        Ok(())
    }

    /// Reads elements (x0, y0) to (x0 + width - 1, y0 + height - 1) of an array, row by row: bits of r, g, b, a.
    ///
    /// # Errors
    /// When an element lies outside memory.
    pub fn read_surface(
        &self,
        surface: &Surface,
        (x0, y0): (u32, u32),
        (width, height): (u32, u32),
    ) -> Result<Vec<[u32; 4]>, MemoryError> {
        let order = self.options.uint8_order;
        if let Some(model) = &self.model {
            lock(model).reads(None, surface.base, surface.bytes(), || "memory".to_owned());
        }
        let (columns, rows) = (x0..x0.saturating_add(width), y0..y0.saturating_add(height));
        let mut elements =
            Vec::with_capacity(columns.len().min(MAX_INDEX as usize) * rows.len().min(MAX_INDEX as usize));
        for y in rows {
            for x in columns.clone() {
                elements.push(surface.load(&self.memory, x, y, order)?);
            }
        }
        Ok(elements)
    }
}
