//! One run of a program on the caller's arrays.
//!
//! A run of an X1K program is a client of a device of its own: arrays go to memory, a command buffer runs, arrays come back. R700 programs: `run_r700`.

use super::control::Control;
use super::findings::{Findings, tell};
use super::object::borrow;
use super::program::{Code, Program};
use super::{Failure, Status, call, numbers, run_r700};
use crate::boundary::{elements, store};
use ctm::EngineKind;
use ctm::commands::CommandBuffer;
use ctm::device::{Caches, CommandErrorReason, Device, DeviceOptions};
use ctm::job::Loaded;
use ctm::mc::{Format, Surface, Tiling};
use ctm::memory::{ArenaId, ArenaOptions, GpuAddr};
use ctm::render::{Report, Source};
use ctm::run::{Fit, misfit};
use ctm_exec::x1k::{Filter, Sampler, Wrap};
use ctm_exec::{Counters as EngineCounters, Domain, GroupSize};
use ctm_image::ctm_elf;
use ctm_isa::diag::Diagnostic;
use std::ffi::c_int;
use std::sync::Arc;
use std::time::Duration;

/// `ctm_input`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Input {
    /// 0 to 15.
    pub slot: u32,
    /// Elements of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// 1, 2 or 4.
    pub channels: u32,
    /// The numbers, row by row.
    pub data: *const f32,
    /// 0 nearest, 1 linear.
    pub filter: c_int,
    /// 0 clamp, 1 repeat, 2 mirror, 3 border.
    pub wrap_x: c_int,
    /// For rows.
    pub wrap_y: c_int,
    /// The value of reads outside, with `border`.
    pub border: [f32; 4],
}

/// `ctm_output`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Output {
    /// 0 to 3.
    pub slot: u32,
    /// Elements of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// 1, 2 or 4.
    pub channels: u32,
    /// The numbers, row by row.
    pub data: *mut f32,
}

/// `ctm_constant_buffer`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ConstantBuffer {
    /// 0 to 15.
    pub bank: u32,
    /// 0.
    pub reserved: u32,
    /// Four numbers for each constant.
    pub data: *const f32,
    /// How many constants.
    pub count: usize,
}

/// `ctm_run_options`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RunOptions {
    /// Bytes of this structure, as the caller knows it.
    pub size: usize,
    /// i0, j0, i1, j1, inclusive.
    pub domain: [u32; 4],
    /// Four numbers for each floating-point constant.
    pub floats: *const f32,
    /// How many constants.
    pub float_count: usize,
    /// Four bytes for each integer constant.
    pub ints: *const u8,
    /// How many constants.
    pub int_count: usize,
    /// A byte for each boolean constant.
    pub bools: *const u8,
    /// How many constants.
    pub bool_count: usize,
    /// The inputs.
    pub inputs: *const Input,
    /// How many.
    pub input_count: usize,
    /// The outputs.
    pub outputs: *const Output,
    /// How many.
    pub output_count: usize,
    /// 0: one per core.
    pub threads: u32,
    /// 0: 16.
    pub group: u32,
    /// 0: the default.
    pub instructions: u64,
    /// Not 0: look for mistakes.
    pub check: u32,
    /// `ctm_engine`.
    pub engine: u32,
    /// Wall time; 0: no limit.
    pub seconds: f64,
    /// A control that may end the run; null: none.
    pub control: *const Control,
    /// R700: constant buffers.
    pub constant_buffers: *const ConstantBuffer,
    /// How many.
    pub constant_buffer_count: usize,
    /// Not 0: inputs that clamp may be smaller than the domain.
    pub clamp: u32,
    /// 0.
    pub reserved: u32,
}

impl RunOptions {
    /// The size of the first version of the structure.
    const FIRST_SIZE: usize = std::mem::offset_of!(Self, seconds);

    /// The options as far as the caller knows them; the rest is 0.
    ///
    /// # Safety
    /// `options` is null or points to as many bytes as its `size` says.
    unsafe fn read(options: *const Self) -> Result<Self, Failure> {
        // SAFETY: as the caller promises; the size is the first field.
        let size = unsafe { *borrow(options.cast::<usize>(), "options")? };
        if size < Self::FIRST_SIZE {
            return Err(Failure::argument(format!(
                "the options have {size} bytes, this version of the library needs {}; set `size` to sizeof(ctm_run_options)",
                Self::FIRST_SIZE
            )));
        }
        let mut own = std::mem::MaybeUninit::<Self>::zeroed();
        let known = size.min(size_of::<Self>());
        // SAFETY: the caller promises `size` bytes, and `own` has as many as are copied. All of it is initialised, and zeros are numbers and null pointers.
        Ok(unsafe {
            own.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(options.cast(), known);
            own.assume_init()
        })
    }
}

/// `ctm_engine`: the number of an engine, 0 for the preferred one.
pub const ENGINES: [(EngineKind, u32); 3] = [(EngineKind::Interp, 1), (EngineKind::Jit, 2), (EngineKind::Verify, 3)];

pub(super) fn engine(number: u32) -> Result<EngineKind, Failure> {
    if number == 0 {
        return EngineKind::preferred().map_err(|e| Failure(Status::Host, e.to_string()));
    }
    let found = ENGINES.iter().find(|(_, n)| *n == number).map(|(kind, _)| *kind);
    found.ok_or_else(|| Failure::argument(format!("the engine is {number}; 0 to 3 are possible (ctm_engine)")))
}

/// `ctm_counters`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
#[allow(missing_docs, reason = "as ctm_exec::Counters")]
pub struct Counters {
    pub groups: u64,
    pub processors: u64,
    pub alu: u64,
    pub output: u64,
    pub tex: u64,
    pub fc: u64,
    pub active_lanes: u64,
    pub total_lanes: u64,
    pub fetches: u64,
    pub fetch_bytes: u64,
    pub writes: u64,
    pub write_bytes: u64,
    pub clocks: u64,
}

impl From<&EngineCounters> for Counters {
    fn from(c: &EngineCounters) -> Self {
        Self {
            groups: c.groups,
            processors: c.processors,
            alu: c.alu,
            output: c.output,
            tex: c.tex,
            fc: c.fc,
            active_lanes: c.active_lanes,
            total_lanes: c.total_lanes,
            fetches: c.fetches,
            fetch_bytes: c.fetch_bytes,
            writes: c.writes,
            write_bytes: c.write_bytes,
            clocks: c.clocks(),
        }
    }
}

/// Runs a program.
///
/// # Safety
/// `program` is null, or was given by this library and is not freed; `options` is null or a structure whose pointers have as many elements as their
/// counts say; the outputs' numbers may be written and belong to nothing else; `counters` and `findings` are null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_run(
    program: *const Program,
    options: *const RunOptions,
    counters: *mut Counters,
    findings: *mut *mut Findings,
) -> Status {
    call("ctm_run", || {
        // SAFETY: as the caller promises.
        let (program, options) = unsafe {
            store(findings, std::ptr::null_mut());
            store(counters, Counters::default());
            (borrow(program, "program")?, &RunOptions::read(options)?)
        };
        // SAFETY: as the caller promises.
        let arrays = unsafe { Arrays::of(options)? };
        let program = match &program.0 {
            Code::X1k(program) => program,
            Code::R700(r700) => {
                // SAFETY: as the caller promises.
                return unsafe {
                    match run_r700::run(r700, options, &arrays, !counters.is_null())? {
                        Ok(done) => {
                            store(counters, Counters::from(&done.counters));
                            tell(findings, done.findings);
                            Ok(())
                        }
                        Err(failed) => {
                            tell(findings, failed.1);
                            Err(failed.0)
                        }
                    }
                };
            }
        };
        if !arrays.constant_buffers.is_empty() {
            return Err(Failure::argument("only R700 programs have constant buffers"));
        }
        let mut session = Session::open(program, options, &arrays, !counters.is_null())?;
        let ran = session.run();
        // SAFETY: as the caller promises.
        unsafe {
            store(counters, Counters::from(&session.device.last_report().counters()));
            tell(findings, session.reports(program.source.as_ref(), ran.as_ref().err().map(|failed| &failed.1)));
            ran.map_err(|failed| failed.0)?;
            session.deliver(&arrays)
        }
    })
}

/// The arrays of the options' pointers.
pub(super) struct Arrays<'a> {
    pub floats: &'a [f32],
    pub ints: &'a [u8],
    pub bools: &'a [u8],
    pub inputs: &'a [Input],
    pub outputs: &'a [Output],
    pub constant_buffers: &'a [ConstantBuffer],
}

impl<'a> Arrays<'a> {
    /// # Safety
    /// Each pointer has as many elements as its count says, for `'a`.
    unsafe fn of(o: &'a RunOptions) -> Result<Self, Failure> {
        for (what, count, limit) in [
            ("floats", o.float_count, 256),
            ("ints", o.int_count, 32),
            ("bools", o.bool_count, 32),
            ("inputs", o.input_count, 512),
            ("outputs", o.output_count, 8),
            ("constant buffers", o.constant_buffer_count, 16),
        ] {
            if count > limit {
                return Err(Failure::argument(format!("there are {count} {what}, at most {limit} are allowed")));
            }
        }
        let null = |what: &'static str| {
            move || Failure::argument(format!("`{what}` is NULL or not aligned, and its count is not 0"))
        };
        // SAFETY: as the caller promises.
        unsafe {
            Ok(Self {
                floats: elements(o.floats, 4 * o.float_count).ok_or_else(null("floats"))?,
                ints: elements(o.ints, 4 * o.int_count).ok_or_else(null("ints"))?,
                bools: elements(o.bools, o.bool_count).ok_or_else(null("bools"))?,
                inputs: elements(o.inputs, o.input_count).ok_or_else(null("inputs"))?,
                outputs: elements(o.outputs, o.output_count).ok_or_else(null("outputs"))?,
                constant_buffers: elements(o.constant_buffers, o.constant_buffer_count)
                    .ok_or_else(null("constant_buffers"))?,
            })
        }
    }
}

struct Session {
    device: Device,
    outputs: Vec<Surface>,
    buffer: GpuAddr,
    size_dwords: u32,
}

/// An array in memory, and how many numbers it has.
fn surface(what: &str, slots: u32, [slot, width, height, channels]: [u32; 4]) -> Result<(Surface, usize), Failure> {
    if slot >= slots {
        return Err(Failure::argument(format!("{what} {slot}: there are slots 0 to {}", slots - 1)));
    }
    let format = match channels {
        1 => Format::Float32x1,
        2 => Format::Float32x2,
        4 => Format::Float32x4,
        _ => return Err(Failure::argument(format!("{what} {slot} has {channels} channels; 1, 2 and 4 are possible"))),
    };
    if width == 0 || height == 0 {
        return Err(Failure::argument(format!(
            "{what} {slot} has {width} x {height} elements; at least one is needed"
        )));
    }
    let surface = Surface::for_size(width, height, format, Tiling::Linear);
    let surface = surface.map_err(|e| Failure::argument(format!("{what} {slot}: {e}")))?;
    Ok((surface, (width * height * channels) as usize))
}

pub(super) fn sampler(input: &Input) -> Result<Sampler, Failure> {
    let wrap = |wrap| match wrap {
        numbers::CLAMP => Ok(Wrap::Clamp),
        numbers::REPEAT => Ok(Wrap::Repeat),
        numbers::MIRROR => Ok(Wrap::Mirror),
        numbers::BORDER => Ok(Wrap::Border),
        _ => Err(Failure::argument(format!("input {}: a wrap is {wrap}; 0 to 3 are possible", input.slot))),
    };
    let filter = match input.filter {
        numbers::NEAREST => Filter::Nearest,
        numbers::LINEAR => Filter::Linear,
        n => return Err(Failure::argument(format!("input {}: the filter is {n}; 0 and 1 are possible", input.slot))),
    };
    Ok(Sampler { filter, wrap: [wrap(input.wrap_x)?, wrap(input.wrap_y)?], border: input.border.map(f32::to_bits) })
}

/// The rows of an array in memory: the start of each, and its bytes in the caller's numbers. Rows without gaps are one.
fn rows(surface: &Surface, width: u32, height: u32) -> impl Iterator<Item = (GpuAddr, std::ops::Range<usize>)> {
    let row = width as usize * surface.format.element_bytes() as usize;
    let (count, bytes) = if surface.effective_pitch() == width { (1, row * height as usize) } else { (height, row) };
    let surface = *surface;
    (0..count).map(move |y| (surface.address_of(0, y), y as usize * bytes..(y as usize + 1) * bytes))
}

/// Copies the caller's numbers to memory.
fn upload(device: &mut Device, surface: &Surface, width: u32, height: u32, numbers: &[f32]) -> Result<(), Failure> {
    // SAFETY: any four bytes of a number may be read, and the numbers stay borrowed.
    let bytes = unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast::<u8>(), size_of_val(numbers)) };
    for (at, range) in rows(surface, width, height) {
        device.write(at, &bytes[range]).map_err(|e| Failure(Status::Host, e.to_string()))?;
    }
    Ok(())
}

// Numbers are copied to memory unchanged: the device's memory is little-endian, and so is every host that the library is built for.
const _: () = assert!(cfg!(target_endian = "little"), "the library needs a little-endian host");

/// Room for the commands: at most sixteen inputs of 14 dwords, four outputs of 5, and some more.
const COMMAND_DWORDS: u32 = 512;

impl Session {
    fn open(program: &Loaded, o: &RunOptions, arrays: &Arrays<'_>, counters: bool) -> Result<Self, Failure> {
        let host = |e: &dyn std::fmt::Display| Failure(Status::Host, e.to_string());
        for (what, count, limit) in [("inputs", arrays.inputs.len(), 16), ("outputs", arrays.outputs.len(), 4)] {
            if count > limit {
                return Err(Failure::argument(format!("there are {count} {what}, X1K programs have at most {limit}")));
            }
        }
        let image = ctm_elf::write(&program.program).map_err(|e| Failure(Status::Wrong, e.to_string()))?;
        let mut inputs = Vec::new();
        for i in arrays.inputs {
            inputs.push(surface("input", 16, [i.slot, i.width, i.height, i.channels])?);
        }
        let mut outputs = Vec::new();
        for i in arrays.outputs {
            outputs.push(surface("output", 4, [i.slot, i.width, i.height, i.channels])?);
        }
        let group = match o.group {
            0 => GroupSize::X1K,
            n => u16::try_from(n)
                .ok()
                .and_then(GroupSize::new)
                .ok_or_else(|| Failure::argument(format!("a group of {n}: a multiple of 4 up to 1024 is possible")))?,
        };
        if let Some(n) = o.domain.iter().find(|&&n| n > 4095) {
            return Err(Failure::argument(format!("the domain reaches {n}; 4095 is the last column and row")));
        }
        // Everything is aligned to 2048 bytes.
        let [i0, j0, i1, j1] = o.domain;
        for input in arrays.inputs.iter().filter(|input| o.clamp == 0 && (input.wrap_x, input.wrap_y) == (0, 0)) {
            let (size, domain) = ([input.height as usize, input.width as usize], Domain { i0, j0, i1, j1 });
            let slot = u8::try_from(input.slot).unwrap_or(u8::MAX);
            if let Some(message) = misfit(&program.program, slot, size, domain, Fit::Reaches) {
                let help = "set `clamp` to 1 if its edge is to be repeated";
                return Err(Failure::argument(format!("input {}: {message}; {help}", input.slot)));
            }
        }
        let need: u64 = inputs.iter().chain(&outputs).map(|(s, _)| s.bytes() + 2048).sum();
        let need = u32::try_from(need.next_multiple_of(2048)).ok().filter(|&n| n < 1 << 31);
        let need =
            need.ok_or_else(|| Failure(Status::Host, "the arrays need 2 GiB or more of device memory".to_owned()))?;
        let mut options = DeviceOptions { group, threads: o.threads.min(1024) as usize, ..DeviceOptions::default() };
        options.arenas = ArenaOptions::with_sizes([need.max(2048), 0, 1 << 20, 0]).map_err(|e| host(&e))?;
        if o.instructions > 0 {
            options.budget.instructions_per_group = Some(o.instructions);
        }
        if o.seconds != 0.0 {
            let time = Duration::try_from_secs_f64(o.seconds);
            options.budget.time =
                Some(time.map_err(|e| Failure::argument(format!("`seconds` is {}: {e}", o.seconds)))?);
        }
        if o.check != 0 {
            (options.checks, options.caches) = (true, Caches::Modelled);
        }
        options.counters = counters;
        let mut device =
            Device::open(engine(o.engine)?.engine().map_err(|e| host(&e))?, options).map_err(|e| host(&e))?;
        // SAFETY: the caller of `ctm_run` promises that it is null or lives until the run has ended.
        if let Some(control) = unsafe { o.control.as_ref() } {
            device.set_control(control.of().clone());
        }
        let mut place = |bytes: &[u8]| {
            let at = device.allocate(ArenaId::Sys, bytes.len() as u64).map_err(|e| host(&e))?;
            device.write(at, bytes).map_err(|e| host(&e))?;
            Ok::<GpuAddr, Failure>(at)
        };
        let padded = |mut bytes: Vec<u8>, size: usize| {
            bytes.resize(size, 0);
            bytes
        };
        let code = place(&image)?;
        let floats = place(&padded(arrays.floats.iter().flat_map(|v| v.to_le_bytes()).collect(), 4096))?;
        let ints = place(&padded(arrays.ints.to_vec(), 128))?;
        let bools = place(&padded(arrays.bools.iter().flat_map(|&b| u32::from(b != 0).to_le_bytes()).collect(), 128))?;
        let buffer = place(&padded(Vec::new(), COMMAND_DWORDS as usize * 4))?;
        let mut commands = CommandBuffer::new()
            .set_inst_fmt(code)
            .set_constf_fmt(floats)
            .set_consti_fmt(ints)
            .set_constb_fmt(bools)
            .set_domain(Domain { i0, j0, i1, j1 });
        for (input, (surface, count)) in arrays.inputs.iter().zip(&inputs) {
            // SAFETY: the caller of `ctm_run` promises the numbers of each input.
            let numbers = unsafe { elements(input.data, *count) };
            let numbers =
                numbers.ok_or_else(|| Failure::argument(format!("input {}: its data is NULL", input.slot)))?;
            let at = surface.at(device.allocate(ArenaId::Gpu, surface.bytes()).map_err(|e| host(&e))?);
            upload(&mut device, &at, input.width, input.height, numbers)?;
            #[allow(clippy::cast_possible_truncation, reason = "slots and widths were checked")]
            let (slot, width) = (input.slot as u8, input.width as u16);
            commands = commands.set_inp_fmt(slot, &at).set_inp_sampler(slot, &sampler(input)?, width);
        }
        let mut placed = Vec::new();
        for (output, (surface, count)) in arrays.outputs.iter().zip(&outputs) {
            // SAFETY: as above.
            let numbers = unsafe { elements(output.data.cast_const(), *count) };
            let numbers =
                numbers.ok_or_else(|| Failure::argument(format!("output {}: its data is NULL", output.slot)))?;
            let at = surface.at(device.allocate(ArenaId::Gpu, surface.bytes()).map_err(|e| host(&e))?);
            upload(&mut device, &at, output.width, output.height, numbers)?;
            #[allow(clippy::cast_possible_truncation, reason = "slots were checked")]
            let slot = output.slot as u8;
            commands = commands.set_out_fmt(slot, &at);
            placed.push(at);
        }
        let commands = commands.start_program().flush_out_cache();
        device.write_dwords(buffer, commands.words()).map_err(|e| host(&e))?;
        let size_dwords = u32::try_from(commands.len_dwords()).unwrap_or(COMMAND_DWORDS);
        Ok(Self { device, outputs: placed, buffer, size_dwords })
    }

    /// Runs the commands; returns the failure, and a finding about it.
    fn run(&mut self) -> Result<(), Box<(Failure, Diagnostic)>> {
        self.device.submit(self.buffer, self.size_dwords).map(drop).map_err(|error| {
            let mut diagnostic = Diagnostic::error(error.reason.code(), error.reason.to_string());
            if let CommandErrorReason::Fault(fault) = &error.reason {
                diagnostic = diagnostic.pc(fault.pc);
            }
            let status = if error.reason.code() == "cancelled" { Status::Cancelled } else { Status::Fault };
            Box::new((Failure(status, error.reason.to_string()), diagnostic))
        })
    }

    /// Findings of checks, and the fault.
    fn reports(&self, source: Option<&Arc<Source>>, failed: Option<&Diagnostic>) -> Vec<Report> {
        let report = self.device.last_report();
        let launches = report.launches.iter().flat_map(|l| &l.findings);
        let of_program = launches.map(|f| Diagnostic::warning(f.rule, f.message.clone()).pc(f.pc));
        let of_commands = report.findings.iter().map(|f| Diagnostic::warning(f.rule, f.to_string()));
        let all = of_program.chain(of_commands).chain(failed.cloned());
        all.map(|diagnostic| Report { diagnostic, source: source.cloned() }).collect()
    }

    /// Gives the outputs to the caller.
    ///
    /// # Safety
    /// The numbers of each output may be written.
    unsafe fn deliver(&self, arrays: &Arrays<'_>) -> Result<(), Failure> {
        for (output, surface) in arrays.outputs.iter().zip(&self.outputs) {
            for (at, range) in rows(surface, output.width, output.height) {
                let bytes = self.device.read(at, range.len()).map_err(|e| Failure(Status::Host, e.to_string()))?;
                // SAFETY: the ranges lie within width x height x channels numbers, which the caller promises may be written and are not those of
                // the device.
                unsafe {
                    output.data.cast::<u8>().add(range.start).copy_from_nonoverlapping(bytes.as_ptr(), range.len())
                };
            }
        }
        Ok(())
    }
}
