//! Execution of a draw's programs, and their resources: they read the bindings of their stage, and return rows of exports.

use crate::state::{DrawError, LaunchNotice, Note, Notice, Options};
use crate::surface::format::Colours;
use crate::surface::targets::OpenColour;
use ctm_exec::engine::{Finding, MemoryFault};
use ctm_exec::epilogue::Epilogue;
use ctm_exec::r700::formats::Format;
use ctm_exec::r700::resources::TextureKind;
use ctm_exec::r700::{
    Buffer, Cells, Direct, Exports, Launch, LaunchPart, Memory, NumberTexels, Sampler, Space, Target, TargetEpilogue,
    Texels, Texture, Tiles, VertexEvent, Written,
};
use ctm_exec::x1k::{Elements, Form};
use ctm_exec::{Budget, Control, Engine, Fault, FaultKind, Instant, LaneRows, Position, x1k};
use ctm_isa::x1k::OUTPUTS;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Runs the programs of a draw: all under one control and one budget of time.
pub(crate) struct Runner<'a> {
    engine: &'a dyn Engine,
    control: Control,
    budget: Budget,
    /// When the time of the draw is over, and how much it is.
    deadline: Option<(Instant, Duration)>,
    checks: bool,
    notice: Notice,
    /// Notes of checked runs: for each stage, rule and instruction the one of the first place.
    notes: Mutex<BTreeMap<(&'static str, u32, &'static str), Note>>,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(engine: &'a dyn Engine, options: &Options) -> Self {
        let Options { control, budget, checks, notice, .. } = options;
        let deadline = budget.time.and_then(|time| Some((Instant::now().checked_add(time)?, time)));
        let control = deadline.map_or_else(|| control.clone(), |(deadline, _)| control.until(deadline));
        // The time is that of the whole draw, which the control has.
        let budget = Budget { time: None, ..*budget };
        let (checks, notice) = (*checks, notice.clone());
        Self { engine, control, budget, deadline, checks, notice, notes: Mutex::default() }
    }

    /// Whether a watcher inspects the programs of each pixel.
    pub(crate) fn is_observed(&self) -> bool {
        self.checks || self.notice.is_heard()
    }

    /// Runs a launch. `place`: the place of each lane, and whether it counts.
    pub(crate) fn r700(
        &self,
        stage: &'static str,
        launch: Launch<'_>,
        memory: &mut dyn Memory,
        (place, counts): (&dyn Fn(Position) -> Position, &dyn Fn(Position) -> bool),
    ) -> Result<(), Fault> {
        self.notice.tell(&LaunchNotice { stage, domain: launch.domain, place, counts });
        let launch = Launch { budget: self.budget, checks: self.checks, counters: false, ..launch };
        let outcome = self.engine.run_r700_under(&self.control, &launch, memory);
        let outcome = outcome.map_err(|fault| Fault { position: fault.position.map(place), ..fault })?;
        self.note(stage, outcome.findings, place);
        Ok(())
    }

    /// Runs a launch of several parts, which nobody observes.
    pub(crate) fn r700_parts(
        &self,
        stage: &'static str,
        launch: Launch<'_>,
        parts: &[LaunchPart<'_>],
        memory: &mut dyn Memory,
        place: &dyn Fn(Position) -> Position,
    ) -> Result<(), Fault> {
        let launch = Launch { budget: self.budget, checks: self.checks, counters: false, ..launch };
        let outcome = self.engine.run_r700_parts(&self.control, &launch, parts, memory);
        let outcome = outcome.map_err(|fault| Fault { position: fault.position.map(place), ..fault })?;
        self.note(stage, outcome.findings, place);
        Ok(())
    }

    /// Runs a launch of an X1K program.
    pub(crate) fn x1k(
        &self,
        launch: x1k::Launch<'_>,
        memory: &mut dyn x1k::Memory,
        (place, counts): (&dyn Fn(Position) -> Position, &dyn Fn(Position) -> bool),
    ) -> Result<(), Fault> {
        self.notice.tell(&LaunchNotice { stage: "pixel", domain: launch.domain, place, counts });
        let launch = x1k::Launch { budget: self.budget, checks: self.checks, counters: false, ..launch };
        let outcome = self.engine.run_x1k_under(&self.control, &launch, memory);
        let outcome = outcome.map_err(|fault| Fault { position: fault.position.map(place), ..fault })?;
        self.note("pixel", outcome.findings, place);
        Ok(())
    }

    fn note(&self, stage: &'static str, findings: Vec<Finding>, place: &dyn Fn(Position) -> Position) {
        if findings.is_empty() {
            return;
        }
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        for finding in findings {
            let finding = Finding { position: finding.position.map(place), ..finding };
            let order = |finding: &Finding| finding.position.map(|at| (at.j, at.i));
            let key = (stage, finding.pc, finding.rule);
            match notes.get(&key) {
                Some(known) if order(&known.finding) <= order(&finding) => {}
                _ => drop(notes.insert(key, Note { stage, finding })),
            }
        }
    }

    /// Notes of checked runs, by stage and instruction.
    pub(crate) fn notes(self) -> Vec<Note> {
        self.notes.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
    }

    /// Whether the draw was cancelled, or has used up its time.
    pub(crate) fn goes_on(&self, stage: &'static str) -> Result<(), DrawError> {
        let ends = |kind| Err(DrawError::Program { stage, fault: Fault { kind, pc: 0, position: None } });
        if self.control.is_cancelled() {
            return ends(FaultKind::Cancelled);
        }
        match self.deadline {
            Some((deadline, limit)) if Instant::now() >= deadline => ends(FaultKind::TimeBudget { limit }),
            _ => Ok(()),
        }
    }
}

/// Memory of one launch.
pub(crate) struct StageMemory<'a, 't> {
    pub(crate) inner: &'a dyn Memory,
    pub(crate) rows: LaneRows<Target>,
    /// Where exports go instead of into rows.
    pub(crate) window: Option<Window<'a, 't>>,
    /// The ring that the program writes.
    pub(crate) ring: Option<Vec<u32>>,
    /// Dwords of each stream buffer that the program writes.
    pub(crate) streams: [u64; 4],
    /// Its writes there, in order: buffer, dword, bits.
    pub(crate) streamed: Vec<(u8, u64, u32)>,
    /// A ring that the program reads as a buffer: its number and its bytes.
    pub(crate) shown: Option<(u8, &'a [u8])>,
    /// Its vertex events.
    pub(crate) events: Vec<(Position, VertexEvent)>,
}

impl<'a> StageMemory<'a, '_> {
    /// For a program that writes nothing.
    pub(crate) fn new(inner: &'a dyn Memory, rows: LaneRows<Target>) -> Self {
        let (streamed, events) = (Vec::new(), Vec::new());
        Self { inner, rows, window: None, ring: None, streams: [0; 4], streamed, shown: None, events }
    }

    fn shows(&self, id: u8) -> Option<&'a [u8]> {
        self.shown.filter(|shown| shown.0 == id).map(|shown| shown.1)
    }
}

/// The element of a target after a pixel's colours: of its number, its format, its old element, and the colours by output. `None`: it is not written.
pub(crate) type MergePixel<'a> = dyn Fn(u8, &Colours, u128, &dyn Fn(u8) -> [u32; 4]) -> Option<u128> + Sync + 'a;

/// Where the colours of a launch go whose lanes are pixels.
pub(crate) enum Window<'a, 't> {
    /// They replace the contents of colour targets in layer 0.
    Targets {
        colour: &'a mut [Option<Box<OpenColour<'t>>>; 8],
        /// The window's row that is row 0 of the launch: the first of the targets' bytes.
        first_row: u32,
        /// Which targets are written.
        written: u8,
        /// Which of them take fractions towards zero.
        truncates: u8,
    },
    /// They are merged with the contents of colour targets in layer 0.
    Merged {
        colour: &'a mut [Option<Box<OpenColour<'t>>>; 8],
        /// As above.
        first_row: u32,
        /// Where the quads of the launch lie, if they are not a rectangle of the window.
        places: Option<Box<QuadPlaces>>,
        /// Of a pixel in each target.
        merge: Box<MergePixel<'a>>,
    },
    /// They wait for blending, as bits, in rows of `width` pixels: a vector for each output that is used.
    Staged { colours: &'a mut Staged, width: u32 },
}

/// The places in the window of quads that are side by side in a launch, no two of them at one place.
pub(crate) struct QuadPlaces {
    /// The first pixel of each.
    pub(crate) quads: Vec<[i32; 2]>,
    /// The places of their elements in each target.
    pub(crate) tiles: [Option<Tiles>; 8],
}

impl QuadPlaces {
    /// The pixel of a lane.
    fn pixel(&self, at: Position) -> Option<[i32; 2]> {
        let [x, y] = *self.quads.get(at.i as usize / 2)?;
        Some([x + (at.i & 1) as i32, y + (at.j & 1) as i32])
    }
}

/// Stored elements of a launch's exports for quads, by target, in the order of lanes; empty where no target takes them.
pub(crate) type Packed = [Vec<u32>; 8];

/// Most quads of a launch for quads.
pub(crate) const MOST_QUADS: usize = 512;

/// Colours that wait for blending, by output; empty where no target takes them.
pub(crate) type Staged = [Vec<[u32; 4]>; 8];

impl Window<'_, '_> {
    /// `colour`: of an output, as exported.
    fn commit(&mut self, at: Position, colour: &dyn Fn(u8) -> Option<[u32; 4]>) -> Written {
        let mut done = Written::default();
        match self {
            Self::Targets { colour: targets, first_row, written, truncates } => {
                for (n, target) in (0u8..).zip(targets.iter_mut()) {
                    let Some(target) = target.as_mut().filter(|_| *written >> n & 1 == 1) else { continue };
                    let Some(values) = colour(n) else { continue };
                    let row = (*first_row + at.j).cast_signed();
                    if let Some(place) = target.surface.place(at.i.cast_signed(), row, 0, 0) {
                        target.surface.store(place, target.colours.pack(values, *truncates >> n & 1 == 1));
                        done.elements += 1;
                        done.bytes += target.colours.bytes() as u64;
                    }
                }
            }
            Self::Merged { colour: targets, first_row, places, merge } => {
                let value = |n: u8| colour(n).unwrap_or_default();
                let pixel = match places {
                    Some(places) => places.pixel(at),
                    None => Some([at.i.cast_signed(), (*first_row + at.j).cast_signed()]),
                };
                let Some([x, y]) = pixel else { return done };
                for (n, target) in (0u8..).zip(targets.iter_mut()) {
                    let Some(target) = target else { continue };
                    let Some(place) = target.surface.place(x, y, 0, 0) else { continue };
                    if let Some(new) = merge(n, &target.colours, target.surface.load(place), &value) {
                        target.surface.store(place, new);
                        done.elements += 1;
                        done.bytes += target.colours.bytes() as u64;
                    }
                }
            }
            Self::Staged { colours, width } => {
                for (n, colours) in (0u8..).zip(colours.iter_mut()) {
                    let place = colours.get_mut(at.j as usize * *width as usize + at.i as usize);
                    if let (Some(place), Some(values)) = (place, colour(n)) {
                        *place = values;
                        done.elements += 1;
                        done.bytes += 16;
                    }
                }
            }
        }
        done
    }

    /// These targets, for engines that store themselves.
    fn lent(&mut self) -> Option<[Option<Elements<Cells<'_>>>; 8]> {
        let mut all = [const { None }; 8];
        match self {
            // They take no colours as they are.
            Self::Merged { .. } => return None,
            Self::Targets { colour, written, truncates, .. } => {
                for (n, (lent, target)) in all.iter_mut().zip(colour.iter_mut()).enumerate() {
                    if let Some(target) = target.as_mut().filter(|_| *written >> n & 1 == 1) {
                        *lent = Some(target.lent().filter(|_| *truncates == 0)?);
                    }
                }
            }
            Self::Staged { colours, width } => {
                for (lent, colours) in all.iter_mut().zip(colours.iter_mut()).filter(|(_, colours)| !colours.is_empty())
                {
                    let (pitch, height) = (*width, colours.len() as u32 / (*width).max(1));
                    let (bytes, form) = (Cells::Dwords(colours), Form::Floats);
                    let all =
                        Elements { bytes, pitch, width: pitch, height, form, channels: 4, mask: 0b1111, tiles: None };
                    *lent = Some(all);
                }
            }
        }
        Some(all)
    }
}

impl Window<'_, '_> {
    /// These colour targets as elements of 32 bits, for engines that merge themselves.
    fn merged(&mut self, targets: &[u8]) -> Option<Vec<Option<Elements<Cells<'_>>>>> {
        let mut all = [const { None }; 8];
        match self {
            Self::Merged { colour, places, .. } => {
                for (n, (mapped, target)) in all.iter_mut().zip(colour.iter_mut()).enumerate() {
                    let Some(elements) = target.as_mut().and_then(|target| target.dwords()) else { continue };
                    *mapped = match places {
                        None => Some(elements),
                        Some(places) => places.tiles[n].clone().map(|tiles| {
                            let width = ints(2 * places.quads.len());
                            Elements { pitch: width, width, height: 2, tiles: Some(tiles), ..elements }
                        }),
                    };
                }
            }
            Self::Targets { .. } | Self::Staged { .. } => return None,
        }
        targets.iter().map(|&n| all.get_mut(usize::from(n)).and_then(Option::take).map(Some)).collect()
    }
}

/// The destination of a launch's colours, and its tests.
pub(crate) struct LaunchOutput<'b, 't> {
    pub(crate) window: Window<'b, 't>,
    pub(crate) epilogues: &'b [TargetEpilogue],
    /// As of [`Launch::keeps`] and [`Launch::survivors`]: only where the program [takes tests](crate::pixel::shade::Shader::takes_tests).
    pub(crate) keeps: Option<&'b Epilogue>,
    pub(crate) survivors: Option<&'b [AtomicU64]>,
}

impl<'b, 't> LaunchOutput<'b, 't> {
    /// Every pixel is stored.
    pub(crate) const fn all(window: Window<'b, 't>, epilogues: &'b [TargetEpilogue]) -> Self {
        Self { window, epilogues, keeps: None, survivors: None }
    }
}

/// Memory of one launch of an X1K pixel program.
pub(crate) struct X1kMemory<'a, 't> {
    pub(crate) inner: &'a dyn x1k::Memory,
    pub(crate) rows: LaneRows<x1k::Target>,
    /// Where outputs go instead of into rows.
    pub(crate) window: Option<Window<'a, 't>>,
}

impl x1k::Memory for X1kMemory<'_, '_> {
    fn schedule(&mut self, _: Position) -> Result<bool, MemoryFault> {
        Ok(true)
    }

    fn input(&self, index: u8) -> Option<x1k::Input> {
        self.inner.input(index)
    }

    fn read(&self, index: u8, x: u32, y: u32, uncached: bool) -> Result<[u32; 4], MemoryFault> {
        self.inner.read(index, x, y, uncached)
    }

    fn textures(&self) -> Option<&dyn Memory> {
        self.inner.textures()
    }

    fn commit(&mut self, at: Position, outputs: &x1k::Outputs) -> Result<Written, MemoryFault> {
        let colour = |n: u8| {
            let written = outputs.written.get(usize::from(n)).is_some_and(|&written| written != 0);
            outputs.values.get(usize::from(n)).filter(|_| written).copied()
        };
        Ok(match &mut self.window {
            Some(window) => window.commit(at, &colour),
            None => outputs.store(at, &mut self.rows),
        })
    }

    fn write_uncached(&mut self, x: u32, y: u32, _: u32) -> Result<Written, MemoryFault> {
        let (what, reason) = (format!("element ({x}, {y}) of output 0"), "programs of a draw write no memory".into());
        Err(MemoryFault { what, address: None, reason })
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn input_arrays(&self) -> [Option<x1k::Elements<&[u8]>>; ctm_isa::x1k::INPUTS] {
        self.inner.input_arrays()
    }

    fn direct(&mut self) -> Option<x1k::Direct<'_>> {
        let textures = self.inner.textures();
        let mut outputs = [const { None }; OUTPUTS];
        for (output, elements) in outputs.iter_mut().zip(self.window.as_mut()?.lent()?) {
            if let Some(elements) = elements {
                *output = Some(elements.with(()).with(elements.bytes.into_bytes()?));
            }
        }
        Some(x1k::Direct { outputs, textures, ..x1k::Direct::default() })
    }

    fn merged(&mut self, targets: &[u8]) -> Option<x1k::Merged<'_>> {
        let textures = self.inner.textures();
        Some(x1k::Merged { targets: self.window.as_mut()?.merged(targets)?, textures })
    }

    fn lane_rows(&mut self) -> Option<&mut LaneRows<x1k::Target>> {
        Some(&mut self.rows).filter(|_| self.window.is_none())
    }
}

/// The first level of a picture.
fn level_0(memory: &dyn Memory, id: u8) -> Option<Elements<Texels<'_>>> {
    let texture = memory.texture(id).filter(|texture| texture.kind == TextureKind::TwoD && texture.samples == 1)?;
    let (width, height) = (texture.width, texture.height);
    let (bytes, form) = match memory.texels(id, 0) {
        Some(texels) => (Texels::Dwords(texels), Form::Floats),
        None => (Texels::Bytes(memory.byte_texels(id, 0)?.as_flattened()), Form::Bytes { swapped: false }),
    };
    Some(Elements { bytes, pitch: width, width, height, form, channels: 4, mask: 0b1111, tiles: None })
}

/// A number of vertices or quads of a launch.
pub(crate) fn ints(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl Memory for StageMemory<'_, '_> {
    fn constant(&self, bank: u8, index: u32) -> Result<[u32; 4], MemoryFault> {
        self.inner.constant(bank, index)
    }

    fn alternate(&self) -> Option<&dyn Memory> {
        self.inner.alternate()
    }

    fn buffer(&self, id: u8) -> Option<Buffer> {
        match self.shows(id) {
            // Rings are read at dwords.
            Some(bytes) => Some(Buffer { size_bytes: bytes.len() as u64, stride_bytes: 4, format: Format::default() }),
            None => self.inner.buffer(id),
        }
    }

    fn read_buffer(&self, id: u8, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), MemoryFault> {
        let Some(shown) = self.shows(id) else { return self.inner.read_buffer(id, offset_bytes, bytes) };
        let first = usize::try_from(offset_bytes).ok();
        let found = first.and_then(|first| shown.get(first..first.checked_add(bytes.len())?));
        bytes.copy_from_slice(found.ok_or_else(|| MemoryFault {
            what: format!("buffer {id}, a ring"),
            address: Some(offset_bytes),
            reason: format!("it has {} bytes", shown.len()),
        })?);
        Ok(())
    }

    fn texture(&self, id: u8) -> Option<Texture> {
        self.inner.texture(id)
    }

    fn sampler(&self, id: u8) -> Option<Sampler> {
        self.inner.sampler(id)
    }

    fn texel(&self, id: u8, level: u32, at: [u32; 3]) -> Result<[u32; 4], MemoryFault> {
        self.inner.texel(id, level, at)
    }

    fn space(&self, space: Space) -> Option<u64> {
        match (space, &self.ring) {
            (Space::Ring, Some(ring)) => Some(ring.len() as u64),
            (Space::Stream(n), _) if self.streams[usize::from(n) % 4] > 0 => Some(self.streams[usize::from(n) % 4]),
            // A program's writes to a stream that the draw lacks are dropped.
            (Space::Stream(_), _) => Some(u64::from(u32::MAX)),
            _ => self.inner.space(space),
        }
    }

    fn load(&self, space: Space, dword: u64) -> Result<u32, MemoryFault> {
        let own = self.ring.as_ref().filter(|_| space == Space::Ring);
        match own.and_then(|ring| ring.get(usize::try_from(dword).ok()?)) {
            Some(&bits) => Ok(bits),
            None => self.inner.load(space, dword),
        }
    }

    fn store(&mut self, space: Space, dword: u64, bits: u32) -> Result<(), MemoryFault> {
        match (space, &mut self.ring) {
            (Space::Ring, Some(ring)) => {
                if let Some(place) = usize::try_from(dword).ok().and_then(|dword| ring.get_mut(dword)) {
                    *place = bits;
                    return Ok(());
                }
            }
            (Space::Stream(n), _) if dword < self.streams[usize::from(n) % 4] => {
                self.streamed.push((n % 4, dword, bits));
                return Ok(());
            }
            (Space::Stream(n), _) if self.streams[usize::from(n) % 4] == 0 => return Ok(()),
            _ => {}
        }
        Err(MemoryFault {
            what: format!("{} memory", space.name()),
            address: Some(dword * 4),
            reason: "programs of a draw write rings and streams only, where the draw has them".into(),
        })
    }

    fn vertex_event(&mut self, at: Position, event: VertexEvent) -> Result<(), MemoryFault> {
        self.events.push((at, event));
        Ok(())
    }

    fn commit(&mut self, at: Position, exports: &Exports) -> Result<Written, MemoryFault> {
        Ok(match &mut self.window {
            Some(window) => window.commit(at, &|n| exports.get(Target::Pixel(n)).map(|of| of.0)),
            None => exports.store(at, &mut self.rows),
        })
    }

    fn outputs_alias_inputs(&self) -> bool {
        false
    }

    fn buffer_bytes(&self, id: u8) -> Option<&[u8]> {
        self.shows(id).or_else(|| self.inner.buffer_bytes(id))
    }

    fn texels(&self, id: u8, level: u32) -> Option<&[[u32; 4]]> {
        self.inner.texels(id, level)
    }

    fn byte_texels(&self, id: u8, level: u32) -> Option<&[[u8; 4]]> {
        self.inner.byte_texels(id, level)
    }

    fn number_texels(&self, id: u8, level: u32) -> Option<NumberTexels<'_>> {
        self.inner.number_texels(id, level)
    }

    fn direct(&mut self, textures: &[u8], targets: &[Target]) -> Option<Direct<'_>> {
        let (inner, order) = (self.inner, self.rows.order());
        let mut all = self.window.as_mut()?.lent()?;
        let of = |target: &Target| match target {
            &Target::Pixel(n) => all.get_mut(usize::from(n)).and_then(Option::take),
            _ => None,
        };
        let targets = targets.iter().map(of).collect();
        let textures = textures.iter().map(|&id| level_0(inner, id)).collect::<Option<Vec<_>>>()?;
        Some(Direct { textures, targets, reads: Box::new(StageMemory::new(inner, LaneRows::new(order, &[]))) })
    }

    fn merged(&mut self, targets: &[u8]) -> Option<Direct<'_>> {
        let (inner, order) = (self.inner, self.rows.order());
        let targets = self.window.as_mut()?.merged(targets)?;
        let reads = Box::new(StageMemory::new(inner, LaneRows::new(order, &[])));
        Some(Direct { textures: Vec::new(), targets, reads })
    }

    fn lane_rows(&mut self) -> Option<&mut LaneRows<Target>> {
        Some(&mut self.rows).filter(|_| self.window.is_none())
    }
}
