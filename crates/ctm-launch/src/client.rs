//! The client of a device: programs, constants and commands of launches in its memory, each launch one submission.

use crate::error::Error;
use crate::model::Done;
use crate::source::Conditional;
use ctm_device::commands::{CommandBuffer, CondTest};
use ctm_device::device::{CommandError, CommandErrorReason, Device, plane_bytes};
use ctm_device::memory::{ArenaId, GpuAddr, MemoryError};
use ctm_exec::x1k::Plane;
use ctm_exec::{Domain, Instant};
use ctm_files::error::{RunFault, finding_report, run_fault};
use ctm_files::render::{Report, Source};
use ctm_isa::diag::{Diagnostic, Span};
use std::borrow::Cow;
use std::sync::Arc;

/// A device, and the blocks of its memory that hold programs, constants and start values of launches.
///
/// Arrays of launches lie in the device's memory, where the caller puts them.
///
/// ```
/// use ctm_device::mc::{Format, Surface, Tiling};
/// use ctm_device::{ArenaId, Device, DeviceOptions};
/// use ctm_files::Program;
/// use ctm_launch::{Client, DeviceArray, Run};
///
/// let mut device = Device::new(DeviceOptions::default())?;
/// let mut array = |format| -> Result<Surface, Box<dyn std::error::Error>> {
///     let surface = Surface::for_size(4, 2, format, Tiling::Linear)?;
///     Ok(surface.at(device.allocate(ArenaId::Gpu, surface.bytes())?))
/// };
/// let (x, y) = (array(Format::Uint8x4)?, array(Format::Float32x4)?);
/// device.write_surface(&x, 4, &[[1f32.to_bits(); 4]; 8])?;
///
/// let mut client = Client::new(device);
/// let program = Program::assemble(".input x = s0\n.output y = o0\ntex r1, x, r0.rg\nmul y, r1, 3.0")?;
/// // Four columns of a row are read, whatever its pitch.
/// let x = DeviceArray { surface: x, columns: 4 };
/// Run::of(&program).size(4, 2).input("x", x).output_at("y", y).run_on(&mut client)?;
/// assert_eq!(client.device().read_surface(&y, (3, 1), (1, 1))?[0], [3f32.to_bits(); 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Client {
    device: Device,
    blocks: Vec<DeviceBlock>,
    /// Submissions so far, by which blocks age.
    clock: u64,
    /// The commands of the last launch.
    words: Vec<u32>,
    /// A launch has set the conditional unit or start values, which later launches reset.
    has_conditional: bool,
    has_planes: bool,
}

/// The use of a block of device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Commands,
    Program,
    Floats,
    Integers,
    Booleans,
    Planes,
    Semantics,
    /// A constant buffer.
    Bank(u8),
    /// A memory of MEM instructions.
    Space(ctm_exec::r700::Space),
}

impl Use {
    /// Blocks with different contents that stay: launches that take turns do not write them again.
    const fn most(self) -> usize {
        match self {
            Self::Commands | Self::Space(_) => 1,
            _ => 64,
        }
    }
}

#[derive(Debug)]
struct DeviceBlock {
    of: Use,
    address: GpuAddr,
    bytes: Vec<u8>,
    used: u64,
}

impl Client {
    /// The client of this device. Its options count, not those of launches.
    #[must_use]
    pub const fn new(device: Device) -> Self {
        Self { device, blocks: Vec::new(), clock: 0, words: Vec::new(), has_conditional: false, has_planes: false }
    }

    /// The device.
    #[must_use]
    pub const fn device(&self) -> &Device {
        &self.device
    }

    /// The device, for memory of arrays.
    pub const fn device_mut(&mut self) -> &mut Device {
        &mut self.device
    }

    /// The device alone.
    #[must_use]
    pub fn into_device(self) -> Device {
        self.device
    }

    /// The command buffer of the last launch.
    #[must_use]
    pub fn commands(&self) -> &[u32] {
        &self.words
    }

    /// Where these bytes lie in device memory: where an earlier launch left them, in place of the oldest of their use and size, or in a new block.
    pub(crate) fn put(&mut self, of: Use, bytes: &[u8]) -> Result<GpuAddr, Error> {
        let used = self.clock;
        if let Some(block) = self.blocks.iter_mut().find(|block| block.of == of && block.bytes == bytes)
            && !matches!(of, Use::Space(_))
        {
            block.used = used;
            return Ok(block.address);
        }
        let same = |block: &&mut DeviceBlock| block.of == of && block.bytes.len() == bytes.len() && block.used != used;
        let count = self.blocks.iter().filter(|block| block.of == of && block.bytes.len() == bytes.len()).count();
        let oldest = self.blocks.iter_mut().filter(same).min_by_key(|block| block.used);
        if let Some(block) = oldest.filter(|_| count >= of.most()) {
            block.bytes.copy_from_slice(bytes);
            block.used = used;
            let address = block.address;
            self.device.write(address, bytes).map_err(|e| no_room(&e))?;
            return Ok(address);
        }
        let arena = if of == Use::Commands { ArenaId::Sys } else { ArenaId::Gpu };
        let address = self.device.allocate(arena, bytes.len() as u64).map_err(|e| no_room(&e))?;
        self.device.write(address, bytes).map_err(|e| no_room(&e))?;
        self.blocks.push(DeviceBlock { of, address, bytes: bytes.to_vec(), used });
        Ok(address)
    }

    /// Dwords of device memory.
    pub(crate) fn dwords(&self, at: GpuAddr, count: usize) -> Result<Vec<u32>, Error> {
        let bytes = self.device.read(at, count * 4).map_err(|e| no_room(&e))?;
        Ok(bytes.as_chunks().0.iter().map(|dword| u32::from_le_bytes(*dword)).collect())
    }

    /// Adds the end of a launch's commands, which is the same for both instruction sets, submits them, and gives the result.
    pub(crate) fn launch(&mut self, commands: CommandBuffer, start: &Start<'_>) -> Result<Done, Error> {
        let mut commands = commands
            .set_out_mask(start.mask)
            .inv_inst_cache()
            .inv_constf_cache()
            .inv_consti_cache()
            .inv_constb_cache()
            .inv_inp_cache();
        // Settings of an earlier launch are reset.
        if start.conditional.is_some() || self.has_conditional {
            self.has_conditional = true;
            commands = match start.conditional {
                Some(unit) => commands
                    .set_cond_out_fmt(&unit.buffer)
                    .set_cond_test(unit.test)
                    .set_cond_loc(unit.location)
                    .set_cond_val(f32::from_bits(unit.value))
                    .set_cond_out_mask(unit.write),
                None => commands.set_cond_test(CondTest::Always).set_cond_out_mask(false),
            }
            .inv_cond_out_cache();
        }
        if let Some(planes) = start.planes {
            self.has_planes = true;
            let bytes: Vec<u8> = planes.iter().flat_map(plane_bytes).collect();
            let count = u8::try_from(planes.len()).unwrap_or(u8::MAX);
            commands = commands.set_planes(self.put(Use::Planes, &bytes)?, count);
        } else if self.has_planes {
            commands = commands.set_planes(GpuAddr(0), 0);
        }
        let commands =
            commands.set_domain(start.domain).start_program().flush_out_cache().flush_cond_out_cache().wait_for_idle();
        // One block holds the buffers of all launches, which differ in length.
        let count = commands.len_dwords();
        let size = u32::try_from(count).unwrap_or(u32::MAX);
        let mut words = commands.into_words();
        words.resize(count.next_multiple_of(BUFFER_DWORDS), 0);
        let address = self.put(Use::Commands, &bytes_of(&words))?;
        self.clock += 1;
        words.truncate(count);
        self.words = words;
        let (spans, source) = start.text;
        let started = Instant::now();
        let result = self.device.submit(address, size);
        let elapsed = started.elapsed();
        let report = result.map_err(|error| Error::Fault(Box::new(fault(&error, spans, source))))?;
        let of_program = report.launches.iter().flat_map(|launch| &launch.findings);
        let of_program = of_program.map(|finding| finding_report(finding, spans, source));
        let of_commands = report.findings.iter();
        let of_commands = of_commands.map(|of| Report::bare(Diagnostic::warning(of.rule, of.to_string())));
        let findings = of_program.chain(of_commands).collect();
        Ok(Done { counters: report.counters(), findings, elapsed, ..Done::default() })
    }
}

/// The settings of a launch after its program, constants and arrays.
pub(crate) struct Start<'s> {
    pub mask: u8,
    pub conditional: Option<&'s Conditional>,
    /// Start values of registers; `None`: the program's own.
    pub planes: Option<&'s [Plane]>,
    pub domain: Domain,
    /// The text of the program.
    pub text: (&'s [Span], Option<&'s Arc<Source>>),
}

/// Dwords as a device's memory has them.
pub(crate) fn bytes_of(dwords: &[u32]) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        return Cow::Borrowed(bytemuck::cast_slice(dwords));
    }
    Cow::Owned(dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect())
}

/// Room for the commands of a launch; most take less.
const BUFFER_DWORDS: usize = 1024;

/// The error that ended a submission.
fn fault(error: &CommandError, spans: &[Span], source: Option<&Arc<Source>>) -> RunFault {
    let CommandErrorReason::Fault(fault) = &error.reason else {
        let code = if error.reason == CommandErrorReason::Cancelled { "cancelled" } else { "device" };
        let report = Report::bare(Diagnostic::error(code, error.to_string()));
        return RunFault { pass: 0, pass_name: None, code, pc: None, position: None, report };
    };
    run_fault(0, None, fault, spans, source)
}

fn no_room(error: &MemoryError) -> Error {
    let message = format!("the launch does not fit the device: {error}");
    Error::Wrong(vec![Report::bare(Diagnostic::error("device-memory", message))])
}
