//! Wavefronts of a launch, of either instruction set: their shared state, and a thread's state to run one.

use crate::codegen::backend::Backend;
use crate::codegen::portable::masked::WavefrontState;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use crate::codegen::x86::Frame;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use crate::codegen::x86::masked::{Native, Variant};
use crate::compile::program::CompiledProgram;
use crate::launch::kept::Kept;
use crate::launch::lanes::BailOut;
use crate::launch::wavefronts::bindings::Binding;
use crate::launch::wavefronts::places::{Starts, Waves};
use crate::launch::wavefronts::wave::{Guest, Ran, Reads, Shared, Wave, mask_of};
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
use crate::passes::table::Pass;
use ctm_exec::watch::{Part, Watch};
use ctm_exec::{Budget, Counters, Domain};
use std::ops::Range;
use std::sync::atomic::AtomicU64;

/// Instructions of a wavefront after which machine code has to test the stop flag; fewer where it calls for fetches, as
/// they may take long.
const INSTRUCTIONS_PER_LOOK: u64 = 1 << 19;
const INSTRUCTIONS_PER_LOOK_FETCHING: u64 = INSTRUCTIONS_PER_LOOK / 16;

/// The state that all wavefronts of a launch share.
pub struct Wavefronts<'a> {
    pub program: &'a CompiledProgram,
    pub waves: Waves<'a>,
    pub starts: Starts<'a>,
    pub domain: Domain,
    /// Lanes of a wavefront.
    pub lanes: usize,
    /// Lanes whose exports are sent, 64 a word, if not all are.
    pub covered: Option<&'a [u64]>,
    /// Where lanes are marked that end, are covered and valid.
    pub survivors: Option<&'a [AtomicU64]>,
    /// The launch asks for counters.
    pub counters: bool,
    /// The requested number of threads.
    pub threads: usize,
    pub watch: &'a Watch,
    /// Instructions that a wavefront may issue.
    pub fuel: u64,
    /// Instructions after which it has to test the stop flag.
    pub per_look: u64,
    /// Groups that were left to the reference interpreter.
    pub bailed_out: AtomicU64,
    pub backend: Backend,
    /// Its wavefronts may be narrower than the program's: machine code has chosen their width.
    pub narrows: bool,
    /// Wavefronts of a group.
    pub per_group: u64,
    /// A wavefront is several groups of the X1K that decide as one.
    pub joint: bool,
    /// It reads memory that it writes.
    pub reads_back: bool,
    /// The sends of groups keep their order.
    pub waits: bool,
    /// The launch ends as soon as a wavefront is left to the reference interpreter: wavefronts of the launch's own size
    /// have to run.
    pub gives_up: bool,
}

/// The results of wavefronts: counters, and block counters of full ones and of a short last one, if the launch asks for
/// counters.
pub struct Done {
    pub counters: Counters,
    pub visits: [Vec<u64>; 2],
}

impl Done {
    /// No results.
    pub fn new(of: &Wavefronts<'_>) -> Self {
        let blocks = if of.counters { of.program.code.blocks.len() } else { 0 };
        Self { counters: Counters::default(), visits: [vec![0; blocks], vec![0; blocks]] }
    }

    /// Adds the results of others.
    pub fn add(&mut self, other: &Self) {
        self.counters.add(&other.counters);
        for (all, more) in self.visits.iter_mut().zip(&other.visits) {
            all.iter_mut().zip(more).for_each(|(all, n)| *all += n);
        }
    }

    /// Adds ended wavefronts with `processors` processors, the last of which is the runner's.
    pub fn ended(
        &mut self,
        of: &Wavefronts<'_>,
        (waves, processors): (u64, u64),
        Runner { wave, .. }: &Runner<'_>,
        guest: Guest<'_>,
    ) {
        self.counters.groups += waves;
        self.counters.processors += processors;
        of.watch.done(processors);
        if of.counters && waves > 0 {
            guest.count(wave, &mut self.counters);
            // Only the last wavefront may be short.
            let is_short = usize::from(wave.places.lanes < of.lanes);
            self.visits[is_short].iter_mut().zip(&wave.visits).for_each(|(all, n)| *all += n);
        }
    }
}

impl<'a> Wavefronts<'a> {
    /// Wavefronts of a program, of `lanes` lanes (quads, or one beside the other); all else is as most launches have
    /// it.
    pub fn new(
        program: &'a CompiledProgram,
        (domain, lanes, quads): (Domain, usize, bool),
        starts: Starts<'a>,
        budget: Budget,
        (watch, backend): (&'a Watch, Backend),
    ) -> Self {
        let fuel = budget.instructions_per_group.unwrap_or(u64::MAX);
        let often =
            if program.code.fetches.is_empty() { INSTRUCTIONS_PER_LOOK } else { INSTRUCTIONS_PER_LOOK_FETCHING };
        Self {
            program,
            waves: Waves::new(domain, lanes, quads),
            starts,
            domain,
            lanes,
            covered: None,
            survivors: None,
            counters: false,
            threads: 1,
            watch,
            fuel,
            per_look: fuel.min(often),
            bailed_out: AtomicU64::new(0),
            backend,
            narrows: false,
            per_group: 1,
            joint: false,
            reads_back: false,
            waits: false,
            gives_up: false,
        }
    }

    /// The same launch in narrower wavefronts.
    pub fn of_lanes(&self, lanes: usize) -> Self {
        let (waves, starts, bailed_out) = (self.waves.of_lanes(lanes), self.starts.clone(), AtomicU64::new(0));
        Self { waves, starts, lanes, narrows: true, bailed_out, ..*self }
    }

    /// Whether it can be stopped, for any length of its wavefronts.
    pub fn can_stop(&self) -> bool {
        !self.program.may_exceed(self.per_look) || self.watch.sets_flags() || self.backend == Backend::Portable
    }

    /// The assumptions of machine code.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    pub fn variant(&self) -> Option<Variant> {
        Some(Variant {
            target: self.backend.target()?,
            ordinary: false,
            // The order of turns follows from the executed blocks.
            counts: self.counters || !self.program.code.yields.is_empty(),
            fuel: self.program.bound.is_none_or(|bound| bound > self.per_look),
            narrows: self.narrows,
        })
    }

    /// The lanes of narrower wavefronts that machine code prefers, if it does.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    pub fn narrower(&self, given: (&[u32], &[Option<Binding<'_>>])) -> Option<usize> {
        let of = Variant { narrows: true, ..self.variant().filter(|_| Pass::Narrow.is_on())? };
        let lanes = self.program.native(of, given)?.lanes();
        (lanes < self.lanes).then_some(lanes)
    }

    /// There is no machine code.
    #[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift"))))]
    pub fn narrower(&self, _given: (&[u32], &[Option<Binding<'_>>])) -> Option<usize> {
        None
    }

    /// The wavefronts of a group.
    pub fn waves_of(&self, group: u64) -> Range<u64> {
        let first = group * self.per_group;
        first..(first + self.per_group).min(self.waves.count())
    }

    /// The covered lanes of a wavefront that begins with this lane.
    pub fn covered_from(&self, first: u64) -> u64 {
        let Some(covered) = self.covered else { return u64::MAX };
        let at = |word: u64| usize::try_from(word).ok().and_then(|word| covered.get(word)).copied().unwrap_or(0);
        let (word, bit) = (first / 64, first % 64);
        at(word) >> bit | if bit == 0 { 0 } else { at(word + 1) << (64 - bit) }
    }
}

/// A wavefront under way, and its working memory.
pub struct Runner<'a> {
    program: &'a CompiledProgram,
    machine: Option<WavefrontState>,
    /// The machine code.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    frame: Option<(&'a Native, Kept<'a, Frame>)>,
    pub wave: Kept<'a, Box<Wave>>,
    /// Lanes whose exports are sent.
    pub covered: u64,
}

impl<'a> Runner<'a> {
    /// For a program.
    pub fn new(program: &'a CompiledProgram) -> Self {
        Self {
            program,
            machine: None,
            #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
            frame: None,
            wave: program.wave(),
            covered: u64::MAX,
        }
    }

    /// Sets the start state of wavefront `index`, number `n` of its group, with these lanes to run; with `fills`, start
    /// values are made here.
    pub fn begin(&mut self, of: &Wavefronts<'_>, index: u64, (n, lanes): (usize, u64), fills: bool) {
        let first = index * of.lanes as u64;
        let wave = &mut **self.wave;
        of.waves.place(index, &mut wave.places);
        wave.places.inside &= lanes;
        wave.reset();
        wave.fetched.first_thread = first;
        wave.fetched.first_in_group = n * of.lanes;
        self.covered = of.covered_from(first);
        wave.existing = mask_of(wave.places.lanes);
        wave.valid = wave.places.inside;
        if wave.places.inside & self.covered == 0 && of.covered.is_some() {
            // Nothing of it runs.
            wave.places.inside = 0;
        }
        if fills {
            of.starts.fill(&wave.places, &mut wave.start);
        }
    }

    /// The inputs of its fetches and stores.
    pub fn shared<'s>(
        &self,
        of: &Wavefronts<'_>,
        Reads { guest, uniforms, bindings }: Reads<'s>,
        part: &'s Part,
    ) -> Shared<'s>
    where
        'a: 's,
    {
        Shared {
            guest,
            fetches: &self.program.code.fetches,
            stores: &self.program.code.stores,
            reads_back: of.reads_back,
            uniforms,
            lanes: self.wave.places.lanes,
            fuel: of.fuel,
            stop: part.flag(),
            polled: (!of.watch.sets_flags()).then_some(part),
            bindings,
        }
    }

    /// The machine code of this launch, if there is any, its frame, and the wavefront.
    #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
    pub fn native(&mut self, of: &Wavefronts<'_>, shared: &Shared<'_>) -> Option<(&'a Native, &mut Frame, &mut Wave)> {
        let native = self.program.native(of.variant()?, (shared.uniforms, shared.bindings))?;
        debug_assert!(native.lanes() >= shared.lanes, "it is for these wavefronts");
        if !matches!(self.frame, Some((of, _)) if std::ptr::eq(of, native)) {
            self.frame = Some((native, native.frame()));
        }
        let (_, frame) = self.frame.as_mut()?;
        Some((native, frame, &mut self.wave))
    }

    /// Runs the wavefront to its end or to its next yield; `goes_on`: from the last one.
    ///
    /// # Errors
    /// [`BailOut`]: the reference interpreter has to.
    pub fn run(&mut self, of: &Wavefronts<'_>, shared: &Shared<'_>, goes_on: bool) -> Result<Ran, BailOut> {
        if of.covered.is_some() && self.wave.places.inside == 0 {
            return Ok(Ran::ToEnd);
        }
        #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
        let keeps = self.program.keeps;
        #[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", feature = "cranelift")))]
        if let Some((native, frame, wave)) = self.native(of, shared) {
            let ended = native.run(frame, shared, wave, goes_on);
            if !wave.underflowed || goes_on || keeps {
                return ended;
            }
            // The portable machine rounds before it flushes, as the reference does.
            wave.reset();
        }
        let program = self.program;
        let machine = self.machine.get_or_insert_with(|| WavefrontState::new(program.dense()));
        if !goes_on {
            machine.begin(&program.start, shared, &self.wave)?;
        }
        machine.run(&program.code, &program.exports, shared, &mut self.wave)
    }
}
