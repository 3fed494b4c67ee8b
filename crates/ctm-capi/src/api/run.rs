//! One run of a program on the caller's arrays: options of C into a launch of `ctm`, for programs of both instruction sets.

mod structures;

use super::findings::{Findings, tell};
use super::object::borrow;
use super::program::ProgramHandle;
use super::{Failure, Status, call, numbers};
use crate::boundary::{elements, elements_mut, store, string};
use ctm::ctm_exec::r700::{LoopConstant, Space};
use ctm::run::{Binding, Extent, Options, OutputArray, Ref};
use ctm::{Done, EngineKind, Error, Launch, Plane, View};
use ctm_exec::x1k::{Filter, Sampler, Wrap};
use ctm_exec::{Counters as EngineCounters, Domain, GroupSize};
use ctm_isa::x1k::program::Literal;
use std::ffi::{c_char, c_int};
use std::time::Duration;

pub use structures::{Constant, ConstantBuffer, Input, MemoryDwords, Output, RegisterStart, RunOptions};

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
/// counts say, and names that are C strings; the numbers of outputs and memories may be written and belong to nothing else; `counters` and `findings` are
/// null or may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ctm_run(
    program: *const ProgramHandle,
    options: *const RunOptions,
    counters: *mut Counters,
    findings: *mut *mut Findings,
) -> Status {
    call("ctm_run", || {
        // SAFETY: as the caller promises.
        unsafe {
            store(findings, std::ptr::null_mut());
            store(counters, Counters::default());
            let (program, options) = (borrow(program, "program")?, &RunOptions::read(options)?);
            let memories = options.memories()?;
            let launch = options.launch(&program.0, &memories, !counters.is_null())?;
            match launch.run() {
                Ok(done) => {
                    store(counters, Counters::from(&done.counters));
                    deliver(&memories, &done);
                    tell(findings, done.findings);
                    Ok(())
                }
                Err(error) => {
                    tell(findings, error.findings().to_vec());
                    Err(failure(&error))
                }
            }
        }
    })
}

/// The failure of a run.
fn failure(error: &Error) -> Failure {
    let status = match error {
        Error::Argument(_) => Status::Argument,
        Error::Fault(_) if error.is_cancelled() => Status::Cancelled,
        Error::Fault(_) => Status::Fault,
        Error::Unsupported(_) => Status::Unsupported,
        Error::Engine(_) => Status::Host,
        _ => Status::Wrong,
    };
    let first = error.findings().iter().find(|r| r.is_error()).or(error.findings().first());
    Failure(status, first.map_or_else(|| error.to_string(), |r| r.diagnostic.message.clone()))
}

/// Gives the caller the final contents of its memories.
///
/// # Safety
/// The dwords of each may be written, and have no other reference.
unsafe fn deliver(memories: &[(Space, MemoryDwords)], done: &Done) {
    for (space, MemoryDwords { data, count, .. }) in memories {
        // SAFETY: as the caller promises.
        if let (Some(to), Some(from)) = (unsafe { elements_mut(*data, *count) }, done.memories.get(space)) {
            to.copy_from_slice(from);
        }
    }
}

/// The elements of one of the options' lists, at most `most`.
///
/// # Safety
/// `data` is null, or `count * size` elements are there that do not change during `'a`.
unsafe fn list<'a, T>(what: &str, data: *const T, count: usize, size: usize, most: usize) -> Result<&'a [T], Failure> {
    if count > most {
        return Err(Failure::argument(format!("there are {count} {what}, at most {most} are allowed")));
    }
    // SAFETY: as the caller promises.
    unsafe { elements(data, count * size) }
        .ok_or_else(|| Failure::argument(format!("`{what}` is NULL or not aligned, and its count is not 0")))
}

/// How many numbers an array has.
fn count(what: &str, [width, height, channels]: [u32; 3]) -> Result<usize, Failure> {
    if width == 0 || height == 0 || width > 8192 || height > 8192 {
        let why = format!("{what} has {width} x {height} elements; 1 x 1 to 8192 x 8192 are possible");
        return Err(Failure::argument(why));
    }
    if !matches!(channels, 1 | 2 | 4) {
        return Err(Failure::argument(format!("{what} has {channels} channels; 1, 2 and 4 are possible")));
    }
    Ok(width as usize * height as usize * channels as usize)
}

/// The sampler of an input, and whether it is the one of an input without any: nearest, clamped.
fn sampler(what: &str, input: &Input) -> Result<(Sampler, bool), Failure> {
    let wrap = |wrap| match wrap {
        numbers::CLAMP => Ok(Wrap::Clamp),
        numbers::REPEAT => Ok(Wrap::Repeat),
        numbers::MIRROR => Ok(Wrap::Mirror),
        numbers::BORDER => Ok(Wrap::Border),
        _ => Err(Failure::argument(format!("{what}: a wrap is {wrap}; 0 to 3 are possible"))),
    };
    let filter = match input.filter {
        numbers::NEAREST => Filter::Nearest,
        numbers::LINEAR => Filter::Linear,
        n => return Err(Failure::argument(format!("{what}: the filter is {n}; 0 and 1 are possible"))),
    };
    let wrap = [wrap(input.wrap_x)?, wrap(input.wrap_y)?];
    let plain = filter == Filter::Nearest && wrap == [Wrap::Clamp; 2];
    Ok((Sampler { filter, wrap, border: input.border.map(f32::to_bits) }, plain))
}

impl RunOptions {
    /// The launch that they describe.
    ///
    /// # Safety
    /// As for [`ctm_run`].
    unsafe fn launch<'a>(
        &'a self,
        program: &'a ctm::Program,
        memories: &[(Space, MemoryDwords)],
        counters: bool,
    ) -> Result<Launch<'a>, Failure> {
        let [i0, j0, i1, j1] = self.domain;
        let mut launch = Launch::of(program);
        launch.domain = Some(Extent::Part(Domain { i0, j0, i1, j1 }));
        // SAFETY: as the caller promises.
        unsafe {
            launch.options = self.how(counters)?;
            self.numbered_constants(program, &mut launch.bindings)?;
            self.named_constants(&mut launch.bindings)?;
            self.inputs(program, &mut launch.bindings)?;
            self.outputs(program, &mut launch.bindings)?;
            for register in list("registers", self.registers, self.register_count, 1, 128)? {
                let &RegisterStart { index, bits, origin, di, dj } = register;
                let temp = u8::try_from(index)
                    .map_err(|_| Failure::argument(format!("register {index}: registers are 0 to 127")))?;
                launch.bindings.push(Binding::Register(Plane { temp, origin, di, dj, bits: bits != 0 }));
            }
            for (space, MemoryDwords { data, count, .. }) in memories {
                let dwords = elements(data.cast_const(), *count).unwrap_or_default();
                launch.bindings.push(Binding::Memory { space: *space, dwords: dwords.to_vec(), item: 0 });
            }
        }
        Ok(launch)
    }

    /// How to run.
    ///
    /// # Safety
    /// The control is null or lives until the run has ended.
    unsafe fn how(&self, counters: bool) -> Result<Options<'static>, Failure> {
        let mut options = Options {
            kind: engine(self.engine)?,
            threads: self.threads.min(1024) as usize,
            checks: self.check != 0,
            counters,
            ..Options::default()
        };
        if self.group != 0 {
            let group = u16::try_from(self.group).ok().and_then(GroupSize::new);
            options.group = Some(group.ok_or_else(|| {
                Failure::argument(format!("a group of {}: a multiple of 4 up to 1024 is possible", self.group))
            })?);
        }
        if self.instructions > 0 {
            options.budget.instructions_per_group = Some(self.instructions);
        }
        if self.seconds != 0.0 {
            let time = Duration::try_from_secs_f64(self.seconds);
            let wrong = |e| Failure::argument(format!("`seconds` is {}: {e}", self.seconds));
            options.budget.time = Some(time.map_err(wrong)?);
        }
        // SAFETY: as the caller promises.
        if let Some(control) = unsafe { self.control.as_ref() } {
            options.control = control.of().clone();
        }
        Ok(options)
    }

    /// Constants by number. Of the X1K a literal of the program counts more than a number in its place, as on a device.
    ///
    /// # Safety
    /// As for [`ctm_run`].
    unsafe fn numbered_constants(
        &self,
        program: &ctm::Program,
        bindings: &mut Vec<Binding<'_>>,
    ) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        let (floats, ints, bools, buffers) = unsafe {
            (
                list("floats", self.floats, self.float_count, 4, 256)?,
                list("ints", self.ints, self.int_count, 4, 32)?,
                list("bools", self.bools, self.bool_count, 1, 32)?,
                list("constant buffers", self.constant_buffers, self.constant_buffer_count, 1, 16)?,
            )
        };
        let literals = program.as_x1k().map_or(&[][..], |program| &program.literals);
        let is_literal = |kind: c_int, n: u8| {
            literals.iter().any(|literal| match *literal {
                Literal::Float { index, .. } => (kind, n) == (numbers::FLOAT_CONSTANT, index),
                Literal::Int { index, .. } => (kind, n) == (numbers::INT_CONSTANT, index),
                Literal::Bool { index, .. } => (kind, n) == (numbers::BOOL_CONSTANT, index),
            })
        };
        for (n, value) in (0..=u8::MAX).zip(floats.as_chunks::<4>().0) {
            if !is_literal(numbers::FLOAT_CONSTANT, n) {
                bindings.push(Binding::Float(Ref::Index(n), value.map(f32::to_bits).to_vec().into()));
            }
        }
        for (n, &[count, start, step, _]) in (0..=u8::MAX).zip(ints.as_chunks::<4>().0) {
            if !is_literal(numbers::INT_CONSTANT, n) {
                let step = i8::from_le_bytes([step]);
                let value = LoopConstant { count: count.into(), start: start.into(), step };
                bindings.push(Binding::Integer(Ref::Index(n), value));
            }
        }
        for (n, &value) in (0..=u8::MAX).zip(bools) {
            if !is_literal(numbers::BOOL_CONSTANT, n) {
                bindings.push(Binding::Boolean(Ref::Index(n), value != 0));
            }
        }
        for &ConstantBuffer { bank, data, count, .. } in buffers {
            // SAFETY: as the caller promises.
            let values = count.checked_mul(4).and_then(|count| unsafe { elements(data, count) });
            let values =
                values.ok_or_else(|| Failure::argument(format!("constant buffer {bank}: its data is NULL")))?;
            let bank = u8::try_from(bank).map_err(|_| Failure::argument("constant buffers are 0 to 15"))?;
            let rows: Vec<[u32; 4]> = values.as_chunks::<4>().0.iter().map(|v| v.map(f32::to_bits)).collect();
            bindings.push(Binding::ConstantBuffer(bank, rows.into()));
        }
        Ok(())
    }

    /// Constants by name.
    ///
    /// # Safety
    /// As for [`ctm_run`].
    unsafe fn named_constants(&self, bindings: &mut Vec<Binding<'_>>) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        for constant in unsafe { list("constants", self.constants, self.constant_count, 1, 65536)? } {
            let &Constant { name, kind, data, count, .. } = constant;
            // SAFETY: as the caller promises.
            let name = unsafe { string(name) }.ok_or_else(|| Failure::argument("a constant's name is NULL"))?;
            let missing = || Failure::argument(format!("constant `{name}`: its data is NULL or not aligned"));
            let wrong = |what: &str| Failure::argument(format!("constant `{name}`: {what}"));
            // SAFETY: as the caller promises, of all but floating-point constants.
            let integers = || unsafe { elements(data.cast::<i32>(), count) }.ok_or_else(missing);
            let binding = match kind {
                numbers::FLOAT_CONSTANT => {
                    // SAFETY: as the caller promises.
                    let values = unsafe { elements(data.cast::<f32>(), count) }.ok_or_else(missing)?;
                    Binding::Float(Ref::from(name.as_str()), values.iter().map(|v| v.to_bits()).collect())
                }
                numbers::INT_CONSTANT => {
                    let integers = integers()?;
                    let part = |at: usize| integers.get(at).copied().unwrap_or(0);
                    let (count, start) = (u16::try_from(part(0)), u16::try_from(part(1)));
                    // Negative steps of the X1K have both forms, -1 and 255.
                    let step = i8::try_from(part(2)).or(u8::try_from(part(2)).map(|n| i8::from_le_bytes([n])));
                    match (count, start, step) {
                        (Ok(count), Ok(start), Ok(step)) if (1..=3).contains(&integers.len()) => {
                            Binding::Integer(Ref::from(name.as_str()), LoopConstant { count, start, step })
                        }
                        _ => {
                            let range = "one to three integers: the count and the first value, 0 to 4095, and the step";
                            return Err(wrong(&format!("it is given {integers:?}, it is {range}")));
                        }
                    }
                }
                numbers::BOOL_CONSTANT => match *integers()? {
                    [value] => Binding::Boolean(Ref::from(name.as_str()), value != 0),
                    ref other => {
                        return Err(wrong(&format!("it is given {} integers, a boolean is one", other.len())));
                    }
                },
                _ => return Err(wrong(&format!("its kind is {kind}; 2, 3 and 4 are possible (ctm_symbol_kind)"))),
            };
            bindings.push(binding);
        }
        Ok(())
    }

    /// The name of each of `count` arrays, where there is one.
    ///
    /// # Safety
    /// `names` is null, or so many pointers are there, each null or a C string.
    unsafe fn names(names: *const *const c_char, count: usize) -> Result<Vec<Option<String>>, Failure> {
        if names.is_null() {
            return Ok(vec![None; count]);
        }
        // SAFETY: as the caller promises.
        unsafe {
            let names = list("names", names, count, 1, usize::MAX)?;
            Ok(names.iter().map(|&name| string(name)).collect())
        }
    }

    /// # Safety
    /// As for [`ctm_run`].
    unsafe fn inputs(&self, program: &ctm::Program, bindings: &mut Vec<Binding<'_>>) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        let (inputs, names) = unsafe {
            let inputs = list("inputs", self.inputs, self.input_count, 1, 512)?;
            (inputs, Self::names(self.input_names, inputs.len())?)
        };
        let registers = program.inputs();
        for (input, name) in inputs.iter().zip(names) {
            let Input { slot, width, height, channels, data, .. } = *input;
            let what = name.as_ref().map_or_else(|| format!("input {slot}"), |name| format!("input `{name}`"));
            let name = match name {
                Some(name) => name,
                None if program.as_x1k().is_some() => format!("s{slot}"),
                None if slot < numbers::BUFFER => format!("t{slot}"),
                None if slot < 2 * numbers::BUFFER => format!("b{}", slot - numbers::BUFFER),
                None => {
                    let range = "textures are 0 to 255, buffers CTM_BUFFER + 0 to CTM_BUFFER + 255";
                    return Err(Failure::argument(format!("{what}: {range}")));
                }
            };
            // SAFETY: as the caller promises.
            let values = unsafe { elements(data, count(&what, [width, height, channels])?) };
            let values = values.ok_or_else(|| Failure::argument(format!("{what}: its data is NULL")))?;
            let [height, width, channels] = [height, width, channels].map(|n| n as usize);
            let register = registers.iter().find(|(known, _)| *known == name).map_or(&name, |(_, register)| register);
            let (sampler, plain) = sampler(&what, input)?;
            let view = match register.starts_with('b') {
                true => View::line(values, channels),
                false => View::rows(values, [height, width, channels]),
            };
            let sampler = (!plain || self.clamp != 0).then_some(sampler);
            bindings.push(Binding::Input(Ref::from(name.as_str()), view.into(), sampler));
        }
        Ok(())
    }

    /// # Safety
    /// As for [`ctm_run`].
    unsafe fn outputs(&self, program: &ctm::Program, bindings: &mut Vec<Binding<'_>>) -> Result<(), Failure> {
        // SAFETY: as the caller promises.
        let (outputs, names) = unsafe {
            let outputs = list("outputs", self.outputs, self.output_count, 1, 45)?;
            (outputs, Self::names(self.output_names, outputs.len())?)
        };
        for (output, name) in outputs.iter().zip(names) {
            let &Output { slot, width, height, channels, data } = output;
            let what = name.as_ref().map_or_else(|| format!("output {slot}"), |name| format!("output `{name}`"));
            let prefix = if program.as_x1k().is_some() { "o" } else { "pix" };
            let name = name.unwrap_or_else(|| format!("{prefix}{slot}"));
            // SAFETY: as the caller promises, they have no other reference.
            let values = unsafe { elements_mut(data, count(&what, [width, height, channels])?) };
            let values = values.ok_or_else(|| Failure::argument(format!("{what}: its data is NULL")))?;
            let [height, width, channels] = [height, width, channels].map(|n| n as usize);
            let place = OutputArray::Into { numbers: values, channels, size: Some([height, width]), mask: 0xf };
            bindings.push(Binding::Output(Ref::from(name.as_str()), place));
        }
        Ok(())
    }

    /// The memories by their spaces.
    ///
    /// # Safety
    /// As for [`ctm_run`].
    unsafe fn memories(&self) -> Result<Vec<(Space, MemoryDwords)>, Failure> {
        // SAFETY: as the caller promises.
        let memories = unsafe { list("memories", self.memories, self.memory_count, 1, 7)? };
        let space = |memory: &MemoryDwords| {
            // SAFETY: as the caller promises.
            let name = unsafe { string(memory.name) }.unwrap_or_default();
            let space = Space::ALL.into_iter().find(|space| space.name() == name).ok_or_else(|| {
                let all = Space::ALL.map(Space::name).join(", ");
                Failure::argument(format!("there is no memory `{name}`; there are {all}"))
            })?;
            // SAFETY: as the caller promises.
            let dwords = unsafe { elements(memory.data.cast_const(), memory.count) };
            dwords.ok_or_else(|| Failure::argument(format!("memory `{name}`: its data is NULL or not aligned")))?;
            Ok((space, *memory))
        };
        memories.iter().map(space).collect()
    }
}
