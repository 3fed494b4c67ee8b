//! The builder of launches, their binding, and the way to the runner of each instruction set.

use crate::client::Client;
use crate::error::{ArgumentError, Error};
use crate::model::{Binding, Done, Extent, Launch};
use crate::source::{InputArray, OutputArray};
use crate::{r700, x1k};
use ctm_device::EngineKind;
use ctm_device::device::DeviceKind;
use ctm_device::mc::Surface;
use ctm_exec::r700::{LoopConstant, Space};
use ctm_exec::x1k::{Plane, Sampler};
use ctm_exec::{Budget, Control, Domain, Engine, GroupSize};
use ctm_files::error::not_cancelled;
use ctm_files::load::Isa;
use ctm_files::program::{Code, Program};
use ctm_files::render::Report;

/// A run of one program over a domain, with arrays. Begin with [`Run::of`]; [`Run::run`] runs it.
///
/// Inputs, outputs and constants go by the names that the program gives them, or by their registers: `s0`, `o0`, `c0` of the X1K; `t0` (textures), `b0`
/// (buffers), `pix0`, `C0` of the R700. Names that the program does not have are errors of [`Run::run`].
#[derive(Debug)]
pub struct Run<'a> {
    launch: Launch<'a>,
}

impl<'a> Run<'a> {
    /// A run of a program that has nothing yet.
    #[must_use]
    pub fn of(program: &'a Program) -> Self {
        Self { launch: Launch::of(program) }
    }

    /// Any binding.
    #[must_use]
    pub fn bind(mut self, binding: Binding<'a>) -> Self {
        self.launch.bindings.push(binding);
        self
    }

    /// Over `columns` x `rows`, 1 to 4096 each.
    #[must_use]
    pub fn size(mut self, columns: u32, rows: u32) -> Self {
        let last = |n: u32| n.wrapping_sub(1);
        let (i1, j1) = (last(columns), last(rows));
        let empty = columns == 0 || rows == 0;
        let domain = if empty { Domain { i0: 1, j0: 1, i1: 0, j1: 0 } } else { Domain { i0: 0, j0: 0, i1, j1 } };
        self.launch.domain = Some(Extent::Whole(domain));
        self
    }

    /// Over a rectangle, whose last column and row are at most 4095: a part of arrays that may be larger. Outputs begin at (0, 0) all the same.
    #[must_use]
    pub fn domain(mut self, domain: Domain) -> Self {
        self.launch.domain = Some(Extent::Part(domain));
        self
    }

    /// Over a line of 1 to 4096 x 4096 elements. Element `n` is processor (n mod 4096, n div 4096), in arrays of one dimension, too. Beyond 4096 elements
    /// whole rows run: processors after the last element read zeros, and their writes are dropped.
    #[must_use]
    pub fn elements(mut self, count: usize) -> Self {
        self.launch.domain = Some(Extent::Line(count));
        self
    }

    /// An array that the program reads, to the nearest element. Where it is read at each processor's own place only, it is as large as the domain
    /// ([`misfit`](crate::misfit)); a larger or smaller one is given by [`Self::sampled`]. Other reads outside of it return its edge.
    #[must_use]
    pub fn input(self, name: &str, array: impl Into<InputArray<'a>>) -> Self {
        self.bind(Binding::Input(name.into(), array.into(), None))
    }

    /// An array of any size that the program reads by a sampler, which defines reads outside of it.
    #[must_use]
    pub fn sampled(self, name: &str, array: impl Into<InputArray<'a>>, sampler: Sampler) -> Self {
        self.bind(Binding::Input(name.into(), array.into(), Some(sampler)))
    }

    /// A floating-point constant: r, g, b, a.
    #[must_use]
    pub fn constant(self, name: &str, value: [f32; 4]) -> Self {
        self.constant_bits(name, value.map(f32::to_bits))
    }

    /// A floating-point constant by its bits.
    #[must_use]
    pub fn constant_bits(self, name: &str, bits: [u32; 4]) -> Self {
        self.uniform_bits(name, bits.to_vec())
    }

    /// R700: a uniform that the program's container declares, as a whole: column by column, element by element, with padding to four numbers or without.
    #[must_use]
    pub fn uniform(self, name: &str, numbers: &[f32]) -> Self {
        self.uniform_bits(name, numbers.iter().map(|x| x.to_bits()).collect())
    }

    /// The same by its bits.
    #[must_use]
    pub fn uniform_bits(self, name: &str, bits: Vec<u32>) -> Self {
        self.bind(Binding::Float(name.into(), bits.into()))
    }

    /// Initial values of a register, processor by processor. With any of them, the position and the program's own preloads must be given as initial
    /// values, too, or are absent; registers without one hold 0.
    ///
    /// ```
    /// use ctm_launch::{Plane, Run};
    /// use ctm_files::Program;
    ///
    /// let program = Program::assemble(".output y = o0\nadd y, r1, r0")?;
    /// let ramp = Plane { temp: 1, origin: [1.0; 4], di: [0.5; 4], dj: [0.0; 4], bits: false };
    /// let done = Run::of(&program).elements(3).register(ramp).output("y", 1).run()?;
    /// assert_eq!(done.values("y"), [1.0, 1.5, 2.0]);
    /// # Ok::<(), ctm_launch::Error>(())
    /// ```
    #[must_use]
    pub fn register(self, plane: Plane) -> Self {
        self.bind(Binding::Register(plane))
    }

    /// An integer constant of the X1K (CTM §3.5.3), or a loop constant of the R700: count, first value of aL, step.
    ///
    /// Of the X1K all are 0 to 255; of the R700 the count is 0 to 4095.
    #[must_use]
    pub fn integer(self, name: &str, value: LoopConstant) -> Self {
        self.bind(Binding::Integer(name.into(), value))
    }

    /// A boolean constant.
    #[must_use]
    pub fn boolean(self, name: &str, value: bool) -> Self {
        self.bind(Binding::Boolean(name.into(), value))
    }

    /// R700: constant buffer `bank`, 0 to 15, as bits of x, y, z, w.
    #[must_use]
    pub fn constant_buffer(self, bank: u8, rows: Vec<[u32; 4]>) -> Self {
        self.bind(Binding::ConstantBuffer(bank, rows.into()))
    }

    /// R700: a memory of MEM instructions with its initial contents; [`Done::memories`] has the final ones.
    #[must_use]
    pub fn memory(self, space: Space, dwords: Vec<u32>) -> Self {
        self.bind(Binding::Memory { space, dwords, item: 0 })
    }

    /// An output with 1, 2 or 4 channels. Other outputs have 4.
    #[must_use]
    pub fn output(self, name: &str, channels: usize) -> Self {
        self.bind(Binding::Output(name.into(), OutputArray::New(channels)))
    }

    /// An output into the caller's numbers, as many as the domain has processors, times the channels. Elements that the program does not write stay.
    #[must_use]
    pub fn output_into(self, name: &str, numbers: &'a mut [f32], channels: usize) -> Self {
        self.bind(Binding::Output(name.into(), OutputArray::Into { numbers, channels, size: None, mask: 0xf }))
    }

    /// The same, of rows and columns of its own: at least as far as the domain reaches, or, in programs with uncached writes, any.
    #[must_use]
    pub fn output_into_rows(self, name: &str, numbers: &'a mut [f32], [rows, columns, channels]: [usize; 3]) -> Self {
        let size = Some([rows, columns]);
        self.bind(Binding::Output(name.into(), OutputArray::Into { numbers, channels, size, mask: 0xf }))
    }

    /// An output in the memory of the device that runs the launch: [`Self::run_on`].
    #[must_use]
    pub fn output_at(self, name: &str, surface: Surface) -> Self {
        self.bind(Binding::Output(name.into(), OutputArray::Device { surface, mask: 0xf }))
    }

    /// The engine by its kind; the fast one, if nothing is said.
    #[must_use]
    pub fn engine(mut self, kind: EngineKind) -> Self {
        self.launch.options.kind = kind;
        self
    }

    /// An engine of the caller's.
    #[must_use]
    pub fn on(mut self, engine: &'a dyn Engine) -> Self {
        self.launch.options.engine = Some(engine);
        self
    }

    /// How many processors decide a jump together: by default 16 of the X1K, 64 of the R700.
    #[must_use]
    pub fn group(mut self, group: GroupSize) -> Self {
        self.launch.options.group = Some(group);
        self
    }

    /// Worker threads; 0, the default: one per core. Never changes results.
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.launch.options.threads = threads;
        self
    }

    /// Its limits: by default, 100 million instructions for each group.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.launch.options.budget = budget;
        self
    }

    /// Checks the program while running: [`Done::findings`].
    #[must_use]
    pub fn checked(mut self, checks: bool) -> Self {
        self.launch.options.checks = checks;
        self
    }

    /// Counts the expensive counters, too.
    #[must_use]
    pub fn counted(mut self, counters: bool) -> Self {
        self.launch.options.counters = counters;
        self
    }

    /// Runs under a control, by which another thread can cancel the run and read its progress.
    #[must_use]
    pub fn under(mut self, control: &Control) -> Self {
        self.launch.options.control = control.clone();
        self
    }

    /// Runs it.
    ///
    /// # Errors
    /// Arguments that do not fit together, before anything runs; or the fault that ended it.
    pub fn run(self) -> Result<Done, Error> {
        self.launch.run()
    }

    /// Runs it on arrays in the memory of the client's device: [`Launch::run_on`].
    ///
    /// # Errors
    /// As there.
    pub fn run_on(self, client: &mut Client) -> Result<Done, Error> {
        self.launch.run_on(client)
    }

    /// The launch that was built.
    #[must_use]
    pub fn launch(self) -> Launch<'a> {
        self.launch
    }
}

/// A launch whose names are numbers and whose bindings are checked: the common path of both kinds of memory ends here.
pub struct Bound<'a> {
    of: RunSubject<'a>,
    warnings: Vec<Report>,
    control: Control,
}

enum RunSubject<'a> {
    X1k(Box<x1k::BoundX1k<'a>>),
    R700(Box<r700::BoundR700<'a>>),
}

impl<'a> Bound<'a> {
    /// Findings on the launch itself, before it runs.
    #[must_use]
    pub fn warnings(&self) -> &[Report] {
        &self.warnings
    }

    /// Runs it on arrays of the caller's. [`Done::findings`] has no [`warnings`](Self::warnings).
    ///
    /// # Errors
    /// An array in a device's memory, or the fault that ended it.
    pub fn run(self) -> Result<Done, Error> {
        not_cancelled(&self.control)?;
        match self.of {
            RunSubject::X1k(bound) => bound.run(),
            RunSubject::R700(bound) => bound.run(),
        }
    }

    /// Runs it on arrays in the memory of the client's device, as one submission. [`Done::findings`] has no [`warnings`](Self::warnings).
    ///
    /// # Errors
    /// An array that does not lie there, a program for another device, or the fault that ended it.
    pub fn run_on(self, client: &mut Client) -> Result<Done, Error> {
        not_cancelled(&self.control)?;
        let kind = client.device().options().kind;
        let isa = if kind == DeviceKind::R700 { Isa::R700 } else { Isa::X1k };
        match self.of {
            RunSubject::X1k(bound) if isa == Isa::X1k => bound.run_on(client),
            RunSubject::R700(bound) if isa == Isa::R700 => bound.run_on(client),
            RunSubject::X1k(_) | RunSubject::R700(_) => {
                Err(ArgumentError::WrongIsa { what: "a launch on this device", isa: kind.name() }.into())
            }
        }
    }
}

impl std::fmt::Debug for Bound<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bound").field("warnings", &self.warnings.len()).finish_non_exhaustive()
    }
}

impl<'a> Launch<'a> {
    /// Names into numbers, and every check that needs no run.
    ///
    /// # Errors
    /// Arguments that do not fit together.
    pub fn bind(self) -> Result<Bound<'a>, Error> {
        let (program, control) = (self.program, self.options.control.clone());
        let (of, warnings) = match program.code() {
            Code::X1k(loaded) => (RunSubject::X1k(Box::new(x1k::BoundX1k::of(self, loaded)?)), Vec::new()),
            Code::R700(loaded) => {
                let mut bound = r700::BoundR700::of(self, loaded)?;
                let warnings = std::mem::take(&mut bound.warnings);
                (RunSubject::R700(Box::new(bound)), warnings)
            }
        };
        Ok(Bound { of, warnings, control })
    }

    /// Runs it on arrays of the caller's.
    ///
    /// # Errors
    /// Arguments that do not fit together, before anything runs; or the fault that ended it.
    pub fn run(self) -> Result<Done, Error> {
        not_cancelled(&self.options.control)?;
        let mut bound = self.bind()?;
        let warnings = std::mem::take(&mut bound.warnings);
        Ok(bound.run()?.after(warnings))
    }

    /// Runs it on arrays in the memory of the client's device, as one submission: inputs, outputs and the conditional buffer lie there. The options of the
    /// device count, not the launch's. Textures with levels and lists of emitted vertices are arrays of the caller's only.
    ///
    /// # Errors
    /// As [`run`](Self::run); an array that does not lie in the device's memory, and a program that emits vertices.
    pub fn run_on(self, client: &mut Client) -> Result<Done, Error> {
        let mut bound = self.bind()?;
        let warnings = std::mem::take(&mut bound.warnings);
        Ok(bound.run_on(client)?.after(warnings))
    }
}

impl Done {
    /// The same with findings on the launch before all others.
    fn after(mut self, mut warnings: Vec<Report>) -> Self {
        warnings.append(&mut self.findings);
        self.findings = warnings;
        self
    }
}
