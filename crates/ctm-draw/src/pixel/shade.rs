//! The pixel program for quads of any primitives: start values as rows of lanes, one launch, rows of exports.

use crate::lanes::widely;
pub(crate) use crate::pixel::exports::Exports;
use crate::pixel::rows::{
    Mixed, PlacedQuads, Positioned, QuadElements, QuadPlaces, TOGETHER, by_element, covered, pixels, places,
};
pub(crate) use crate::pixel::rows::{Scratch, ShadeQuad, count_covered};
use crate::program::{LaunchOutput, MOST_QUADS, Runner, StageMemory, X1kMemory, ints};
use crate::setup::piece::Piece;
use crate::state::{DrawState, Interpolation, PixelInput, Place, SpriteElement, StageProgram, X1kStage};
use crate::vertex::Vertices;
use ctm_exec::r700::{Launch, Target};
use ctm_exec::x1k::DrawParts;
use ctm_exec::{Budget, Domain, Fault, GroupSize, LaneOrder, LaneRows, Position, StartRow, x1k};
use ctm_isa::r700::GPRS;
use ctm_isa::r700::program::Stage as StageKind;
use ctm_isa::x1k::TEMPORARIES;

/// Quads of one launch.
pub(crate) const PER_LAUNCH: usize = MOST_QUADS;

/// A parameter of all vertices, in back and in front faces; `None` where there is none.
type ByFace<'v> = [Option<&'v [[u32; 4]]>; 2];

/// The domain of a launch for quads: side by side.
fn domain(quads: &[ShadeQuad]) -> Domain {
    Domain { i0: 0, j0: 0, i1: (2 * ints(quads.len())).saturating_sub(1), j1: 1 }
}

/// The pixel of a lane in such a domain.
fn place_of(quads: &[ShadeQuad], at: Position) -> Position {
    let quad = quads.get(at.i as usize / 2).map(|quad| &quad.quad);
    let [x, y] = quad.map_or([0; 2], |quad| pixels(quad)[(at.i % 2 + 2 * (at.j % 2)) as usize]);
    Position { i: x.cast_unsigned(), j: y.cast_unsigned() }
}

/// Whether a lane's pixel is covered.
fn counts(quads: &[ShadeQuad], at: Position) -> bool {
    let quad = quads.get(at.i as usize / 2).map(|quad| &quad.quad);
    quad.is_some_and(|quad| quad.masks[(at.i % 2 + 2 * (at.j % 2)) as usize] != 0)
}

/// The rows of those elements that are read, with their values.
fn with_values<'r, 'e>(
    rows: &'r mut QuadElements<'e>,
    values: [u32; 4],
) -> impl Iterator<Item = (&'r mut &'e mut [[u32; 4]], u32)> {
    rows.iter_mut().zip(values).filter_map(|(row, bits)| Some((row.as_mut()?, bits)))
}

/// The program that runs for quads.
pub(crate) enum QuadProgram<'a> {
    /// With the used exports.
    R700(StageProgram<'a>, Vec<Target>),
    X1k(X1kStage<'a>, Vec<x1k::Target>),
}

/// The program for a batch of quads.
pub(crate) struct Shader<'a> {
    pub(crate) runner: &'a Runner<'a>,
    pub(crate) state: &'a DrawState<'a>,
    pub(crate) program: QuadProgram<'a>,
}

/// A launch of an X1K program for pixels.
pub(crate) fn x1k_launch<'l>(
    stage: &X1kStage<'l>,
    rows: &'l [StartRow<'l>],
    domain: Domain,
    draw: DrawParts<'l>,
) -> x1k::Launch<'l> {
    x1k::Launch {
        program: stage.program,
        constants: stage.constants,
        planes: &[],
        rows,
        domain,
        group: GroupSize::X1K,
        draw,
        budget: Budget::default(),
        // Bands are the threads.
        threads: 1,
        checks: false,
        counters: false,
    }
}

impl Shader<'_> {
    /// Runs the program for these quads; returns their exports, quad by quad. Reuses the rows of another launch.
    pub(crate) fn run(
        &self,
        quads: &[ShadeQuad],
        pieces: &[Piece],
        vertices: &Vertices,
        scratch: &mut Scratch,
    ) -> Result<Exports, Fault> {
        scratch.restart(4 * quads.len());
        self.parameters(scratch, quads, pieces, vertices);
        self.others(scratch, quads, pieces);
        let old = scratch.exports.take();
        let start = scratch.start();
        let domain = domain(quads);
        let (place, counts) = (|at| place_of(quads, at), |at| counts(quads, at));
        match &self.program {
            QuadProgram::R700(stage, targets) => {
                let order = LaneOrder::quads(domain);
                let rows = match old {
                    Some(Exports::R700(mut rows)) if rows.targets() == targets => {
                        rows.restart(order);
                        rows
                    }
                    _ => LaneRows::new(order, targets),
                };
                let mut memory = StageMemory::new(stage.memory, rows);
                self.runner.r700("pixel", self.launch(stage, &start, domain), &mut memory, (&place, &counts))?;
                Ok(Exports::R700(memory.rows))
            }
            QuadProgram::X1k(stage, targets) => {
                let order = LaneOrder::quads(domain);
                let rows = match old {
                    Some(Exports::X1k(mut rows)) if rows.targets() == targets => {
                        rows.restart(order);
                        rows
                    }
                    _ => LaneRows::new(order, targets),
                };
                let mut memory = X1kMemory { inner: stage.memory, rows, window: None };
                let launch = x1k_launch(stage, &start, domain, DrawParts::default());
                self.runner.x1k(launch, &mut memory, (&place, &counts))?;
                self.finish(&mut memory.rows, scratch);
                Ok(Exports::X1k(memory.rows))
            }
        }
    }

    /// Whether exports of the program are changed before they are tested: by fog, or by a depth that is a start value.
    pub(crate) const fn changes_exports(&self) -> bool {
        self.state.colour.fog.is_some() || self.state.depth.export_start.is_some()
    }

    /// Changes an X1K program's exports where [`Self::changes_exports`] says so. Start values are still in their rows.
    fn finish(&self, rows: &mut LaneRows<x1k::Target>, starts: &Scratch) {
        if !self.changes_exports() {
            return;
        }
        let (fog, depth) = (&self.state.colour.fog, self.state.depth.export_start);
        let targets = rows.targets().to_vec();
        for (target, row) in targets.into_iter().zip(rows.parts().0) {
            match (target, fog, depth) {
                (x1k::Target::Colour(_), Some(fog), _) => {
                    let Some(distances) = starts.values(fog.register) else { continue };
                    for (element, row) in row.iter_mut().enumerate().take(3) {
                        for (bits, &distance) in row.bits.iter_mut().zip(distances) {
                            let value = fog.mixed(element, f32::from_bits(*bits), f32::from_bits(distance));
                            *bits = value.to_bits();
                        }
                    }
                }
                (x1k::Target::ConditionalValue, _, Some(register)) => {
                    let Some(depths) = starts.values(register) else { continue };
                    row[0].bits.iter_mut().zip(depths).for_each(|(to, bits)| *to = *bits);
                    row[0].written.fill(u64::MAX);
                }
                _ => {}
            }
        }
    }

    /// Runs the program for these quads, no two of them at one place, with the epilogues of targets: in a window with their places.
    pub(crate) fn run_merged(
        &self,
        (quads, pieces, vertices): (&[ShadeQuad], &[Piece], &Vertices),
        scratch: &mut Scratch,
        LaunchOutput { window, epilogues, keeps, survivors }: LaunchOutput<'_, '_>,
    ) -> Result<(), Fault> {
        scratch.restart(4 * quads.len());
        self.parameters(scratch, quads, pieces, vertices);
        self.others(scratch, quads, pieces);
        let start = scratch.start();
        let (domain, covered) = (domain(quads), covered(quads));
        let (place, counts) = (|at| place_of(quads, at), |at| counts(quads, at));
        let (window, no_lanes) = (Some(window), LaneOrder::quads(Domain { i1: 0, j1: 0, ..domain }));
        let covered = Some(covered.as_slice());
        match &self.program {
            QuadProgram::R700(stage, _) => {
                let nothing = LaneRows::new(no_lanes, &[]);
                let mut memory = StageMemory { window, ..StageMemory::new(stage.memory, nothing) };
                let launch = self.launch(stage, &start, domain);
                let launch = Launch { epilogues, keeps, survivors, covered, once: true, ..launch };
                self.runner.r700("pixel", launch, &mut memory, (&place, &counts))
            }
            QuadProgram::X1k(stage, _) => {
                let mut memory = X1kMemory { inner: stage.memory, rows: LaneRows::new(no_lanes, &[]), window };
                let draw = DrawParts { epilogues, covered, once: true, ..DrawParts::default() };
                self.runner.x1k(x1k_launch(stage, &start, domain, draw), &mut memory, (&place, &counts))
            }
        }
    }

    /// A launch of an R700 program for quads.
    fn launch<'l>(&self, stage: &StageProgram<'l>, rows: &'l [StartRow<'l>], domain: Domain) -> Launch<'l> {
        Launch {
            stage: StageKind::Pixel,
            chip: self.state.chip,
            fetch_program: stage.fetch_program,
            semantics: stage.semantics,
            rows,
            ..Launch::new(stage.program, stage.constants, domain)
        }
    }

    /// Registers that parameters can go to.
    pub(crate) fn registers(&self) -> usize {
        match &self.program {
            QuadProgram::R700(stage, _) => usize::from(stage.program.gprs).clamp(1, GPRS),
            QuadProgram::X1k(..) => TEMPORARIES,
        }
    }

    /// The elements of an initial register that anything uses: bit 0 is x.
    fn used(&self, register: u8) -> u8 {
        if self.runner.is_observed() {
            return 0b1111;
        }
        let DrawState { inputs, colour, depth, .. } = self.state;
        let changes = [colour.fog.as_ref().map(|fog| fog.register), depth.export_start];
        !inputs.unused.of(register) & 0b1111 | u8::from(changes.contains(&Some(register)))
    }

    /// Parameters: the entries of the list, in register order.
    fn parameters(&self, scratch: &mut Scratch, quads: &[ShadeQuad], pieces: &[Piece], vertices: &Vertices) {
        let inputs = &self.state.inputs;
        let list = (0u8..).zip(inputs.parameters).take(self.registers());
        // The parameters of back and of front faces, with the elements that are read and the first of their rows.
        let found: Vec<(&PixelInput, ByFace<'_>, u8, usize)> = list
            .filter_map(|(register, input)| {
                let (elements, first) = (self.used(register), scratch.used);
                for element in (0..4).filter(|element| elements >> element & 1 == 1) {
                    scratch.row(register, element);
                }
                let of = |is_front| vertices.parameters.get(input.parameter(&self.state.outputs, is_front)?);
                let of = [false, true].map(|is_front| of(is_front).map(Vec::as_slice));
                (elements != 0).then_some((input, of, elements, first))
            })
            .collect();
        let is_front = |quad: &ShadeQuad| pieces[quad.setup as usize].setup.is_front;
        let raster = &self.state.raster;
        // Of quads that are interpolated together.
        let mut at = QuadPlaces::new();
        for (first, quads) in (0..).step_by(TOGETHER).zip(quads.chunks(TOGETHER)) {
            let mut held: Option<Place> = None;
            for &(input, parameters, elements, first_row) in &found {
                // The rows are in the order of registers, then elements.
                let mut rows = scratch.rows[first_row..].iter_mut();
                let lanes = 4 * first..4 * (first + quads.len());
                let mut rows: QuadElements<'_> = std::array::from_fn(|element| {
                    let row = if elements >> element & 1 == 1 { rows.next()? } else { return None };
                    Some(row.2[lanes.clone()].as_chunks_mut().0)
                });
                let interpolation = input.interpolation;
                if interpolation == Interpolation::PixelNumber {
                    for (number, quad) in quads.iter().enumerate() {
                        let of = pixels(&quad.quad);
                        for (row, axis) in with_values(&mut rows, [0, 1, 2, 3]) {
                            row[number] = of.map(|at| at.get(axis as usize).map_or(0, |&at| (at as f32).to_bits()));
                        }
                    }
                    continue;
                }
                let is_mixed = interpolation != Interpolation::Flat && parameters.iter().any(Option::is_some);
                if is_mixed && held != Some(input.place) {
                    widely(PlacedQuads { at: &mut at, quads, pieces, raster, of: input.place });
                    held = Some(input.place);
                }
                let mut begin = 0;
                for quads in quads.chunk_by(|a, b| input.back.is_none() || is_front(a) == is_front(b)) {
                    let part = begin..begin + quads.len();
                    begin = part.end;
                    let mut rows = rows.each_mut().map(|row| row.as_deref_mut().map(|row| &mut row[part.clone()]));
                    let face = input.back.is_none() || quads.first().is_some_and(is_front);
                    match parameters[usize::from(face)] {
                        None => {
                            with_values(&mut rows, input.default).for_each(|(row, bits)| row.fill([bits; 4]));
                        }
                        Some(all) if interpolation == Interpolation::Flat => {
                            for (number, quad) in quads.iter().enumerate() {
                                let value = all[pieces[quad.setup as usize].setup.provoking as usize];
                                with_values(&mut rows, value).for_each(|(row, bits)| row[number] = [bits; 4]);
                            }
                        }
                        Some(all) => {
                            let (rows, at, first) = (&mut rows, &at, part.start);
                            widely(Mixed { rows, at, first, quads, pieces, all, interpolation });
                        }
                    }
                }
                for (number, quad) in quads.iter().enumerate().filter(|_| input.sprite) {
                    let Some(&sprite) = pieces[quad.setup as usize].setup.sprite.as_deref() else { continue };
                    for (pixel, at) in places(raster, input.place, quad).into_iter().enumerate() {
                        let mut value = rows.each_ref().map(|row| row.as_ref().map_or(0, |row| row[number][pixel]));
                        self.replace(&mut value, self.sprite(sprite, at));
                        with_values(&mut rows, value).for_each(|(row, bits)| row[number][pixel] = bits);
                    }
                }
            }
        }
    }

    /// s and t of a place in a point.
    fn sprite(&self, [left, top, width, height]: [i64; 4], [x, y]: [i64; 2]) -> [f32; 2] {
        let part = |at: i64, from: i64, size: i64| if size == 0 { 0.0 } else { (at - from) as f64 / size as f64 };
        let t = part(y, top, height);
        [part(x, left, width) as f32, if self.state.inputs.sprite_top_is_one { 1.0 - t } else { t } as f32]
    }

    fn replace(&self, value: &mut [u32; 4], [s, t]: [f32; 2]) {
        for (bits, by) in value.iter_mut().zip(self.state.inputs.sprite) {
            match by {
                SpriteElement::Zero => *bits = 0,
                SpriteElement::One => *bits = 1f32.to_bits(),
                SpriteElement::S => *bits = s.to_bits(),
                SpriteElement::T => *bits = t.to_bits(),
                SpriteElement::Parameter => {}
            }
        }
    }

    /// Position, face, fixed-point position, generated coordinates.
    fn others(&self, rows: &mut Scratch, quads: &[ShadeQuad], pieces: &[Piece]) {
        let inputs = &self.state.inputs;
        let raster = &self.state.raster;
        if let Some((register, elements)) = inputs.generated {
            let value = |quad: &ShadeQuad| {
                let sprite = pieces[quad.setup as usize].setup.sprite.as_deref();
                let of = places(raster, Place::Centre, quad).map(|at| match sprite {
                    Some(&sprite) => {
                        let [s, t] = self.sprite(sprite, at);
                        [s, t, 0.0, 1.0].map(f32::to_bits)
                    }
                    None => [0; 4],
                });
                by_element(of)
            };
            rows.fill(register, elements & self.used(register), quads, &value);
        }
        if let Some((register, elements)) = inputs.position.map(|register| (register, self.used(register)))
            && elements != 0
        {
            for (first, quads) in (0..).step_by(TOGETHER).zip(quads.chunks(TOGETHER)) {
                let mut of = [[[0; 4]; TOGETHER]; 4];
                widely(Positioned { of: &mut of, quads, pieces, raster, place: inputs.position_place, elements });
                rows.put(register, elements, first, &of, quads.len());
            }
        }
        if let Some((register, element)) = inputs.face {
            let value = |quad: &ShadeQuad| {
                let face = if pieces[quad.setup as usize].setup.is_front { 1f32 } else { -1f32 };
                let mut of = [[0; 4], [0; 4], quad.quad.masks.map(u32::from), [0; 4]];
                of[usize::from(element % 4)] = [face.to_bits(); 4];
                of
            };
            rows.fill(register, (0b0100 | 1 << (element % 4)) & self.used(register), quads, &value);
        }
        if let Some(register) = inputs.fixed_position {
            let value = |quad: &ShadeQuad| {
                let at = pixels(&quad.quad);
                let [x, y] = [0, 1].map(|axis: usize| at.map(|at| at[axis].cast_unsigned()));
                [x, y, quad.quad.masks.map(u32::from), [quad.sample.unwrap_or(0).into(); 4]]
            };
            rows.fill(register, self.used(register), quads, &value);
        }
    }
}
