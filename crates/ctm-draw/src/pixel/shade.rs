//! The pixel program for quads of any primitives: start values as rows of lanes, one launch, rows of exports.

use crate::lanes::{Wide, widely};
use crate::program::{LaunchOutput, MOST_QUADS, Runner, StageMemory, X1kMemory, ints};
use crate::raster::QuadCoverage;
use crate::setup::Weights;
use crate::setup::piece::Piece;
use crate::state::{DrawState, Interpolation, PixelInput, Place, RasterState, SpriteElement, StageProgram, X1kStage};
use crate::vertex::Vertices;
use ctm_exec::r700::{Launch, Target};
use ctm_exec::x1k::DrawParts;
use ctm_exec::{Budget, Domain, ExportRow, Fault, GroupSize, LaneOrder, LaneRows, Position, StartRow, x1k};
use ctm_isa::r700::GPRS;
use ctm_isa::r700::program::Stage as StageKind;
use ctm_isa::x1k::TEMPORARIES;

/// Quads of one launch.
pub(crate) const PER_LAUNCH: usize = MOST_QUADS;

/// Quads whose parameters are interpolated together.
const TOGETHER: usize = 32;

/// Adjacent quads of a piece from which on it pays to compute their common parts once.
const LEAST_SHARED: usize = 3;

/// A quad of the pixel program. Its uncovered pixels run, too, and are not counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShadeQuad {
    /// Its place among the setups.
    pub(crate) setup: u32,
    /// Its pixels, and which samples passed so far.
    pub(crate) quad: QuadCoverage,
    /// The sample that it runs for, where it runs for each.
    pub(crate) sample: Option<u8>,
}

/// The count of covered pixels of quads.
pub(crate) fn count_covered(quads: &[ShadeQuad]) -> u64 {
    quads.iter().flat_map(|quad| quad.quad.masks).filter(|&mask| mask != 0).count() as u64
}

/// Where in the window a pixel's value is evaluated, in units.
fn place(raster: &RasterState, place: Place, at: [i32; 2], mask: u8, sample: Option<u8>) -> [i64; 2] {
    let centre = raster.centre();
    let middle = at.map(|pixel| raster.unit.corner(pixel) + centre);
    let moved = |[x, y]: [i8; 2]| [middle[0] + 16 * i64::from(x), middle[1] + 16 * i64::from(y)];
    let covered = mask & raster.samples.all();
    match (place, sample) {
        // A program that runs for a sample evaluates everything there.
        (Place::Sample, Some(sample)) | (Place::Centre | Place::Centroid, Some(sample)) => {
            moved(raster.samples.at[usize::from(sample) % 8])
        }
        (Place::Centroid, None) if covered != 0 && covered != raster.samples.all() && raster.multisample => {
            let all = (0..8).filter(|n| covered >> n & 1 == 1).map(|n| raster.samples.at[n]);
            let sum = all.fold([0i64; 2], |sum, at| [sum[0] + i64::from(at[0]), sum[1] + i64::from(at[1])]);
            let count = i64::from(covered.count_ones());
            [middle[0] + 16 * sum[0] / count, middle[1] + 16 * sum[1] / count]
        }
        (Place::Centre | Place::Centroid | Place::Sample, None) => middle,
    }
}

/// The same of the pixels of a quad.
#[inline]
fn places(raster: &RasterState, of: Place, quad: &ShadeQuad) -> [[i64; 2]; 4] {
    let at = pixels(&quad.quad);
    if of == Place::Centre && quad.sample.is_none() {
        let centre = raster.centre();
        return at.map(|at| at.map(|pixel| raster.unit.corner(pixel) + centre));
    }
    std::array::from_fn(|n| place(raster, of, at[n], quad.quad.masks[n], quad.sample))
}

/// The weights of quads, to be computed.
struct Weighed<'m> {
    weights: &'m mut [Weights],
    quads: &'m [ShadeQuad],
    pieces: &'m [Piece],
    raster: &'m RasterState,
    of: Place,
}

impl Wide for Weighed<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { weights, quads, pieces, raster, of } = self;
        let mut all = weights.iter_mut();
        for quads in quads.chunk_by(|a, b| a.setup == b.setup) {
            let piece = &pieces[quads[0].setup as usize];
            let setup = &piece.setup;
            let is_shared = quads.len() >= LEAST_SHARED && of == Place::Centre && quads[0].sample.is_none();
            let shared = if is_shared { setup.quad_weights(piece.bounds(), raster.centre()) } else { None };
            for (quad, weights) in quads.iter().zip(all.by_ref()) {
                let at = [quad.quad.x, quad.quad.y];
                *weights = match &shared {
                    Some(shared) => shared.at(at),
                    None if of == Place::Centre && quad.sample.is_none() => setup.weights_of_quad(at, raster.centre()),
                    None => setup.weights(places(raster, of, quad)),
                };
            }
        }
    }
}

/// The elements of a parameter, in the pixels of each quad.
type QuadElements<'r> = [&'r mut [[u32; 4]]; 4];

/// A parameter, to be interpolated in quads.
struct Mixed<'m, 'r> {
    rows: &'m mut QuadElements<'r>,
    weights: &'m [Weights],
    quads: &'m [ShadeQuad],
    pieces: &'m [Piece],
    /// Of all vertices.
    all: &'m [[u32; 4]],
    interpolation: Interpolation,
}

impl Wide for Mixed<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { rows, weights, quads, pieces, all, interpolation } = self;
        for (number, (quad, weights)) in quads.iter().zip(weights).enumerate() {
            let [a, b, c] = pieces[quad.setup as usize].setup.slots;
            let (a, b, c) = (&all[a as usize], &all[b as usize], &all[c as usize]);
            for (element, row) in rows.iter_mut().enumerate() {
                let of = [f32::from_bits(a[element]), f32::from_bits(b[element]), f32::from_bits(c[element])];
                let mixed = weights.mix(interpolation, of);
                for (to, value) in row[number].iter_mut().zip(mixed) {
                    *to = value.to_bits();
                }
            }
        }
    }
}

/// A parameter of all vertices, in back and in front faces; `None` where there is none.
type ByFace<'v> = [Option<&'v [[u32; 4]]>; 2];

/// A start value of a pixel: of its quad, its place, its mask.
type OfPixel<'a> = dyn Fn(&ShadeQuad, [i32; 2], u8) -> [u32; 4] + 'a;

/// Rows under construction: a row for each element of an initial register. Reused from launch to launch.
#[derive(Default)]
pub(crate) struct Scratch {
    lanes: usize,
    /// How many of the rows are in use.
    used: usize,
    /// Register, element, values.
    rows: Vec<(u8, u8, Vec<u32>)>,
}

impl Scratch {
    fn restart(&mut self, lanes: usize) {
        (self.lanes, self.used) = (lanes, 0);
    }

    /// The rows in use, as a launch takes them.
    fn start(&self) -> Vec<StartRow<'_>> {
        self.rows[..self.used]
            .iter()
            .map(|&(register, element, ref bits)| StartRow { register, element, bits })
            .collect()
    }

    /// The values of element x of a register, of all lanes.
    fn values(&self, register: u8) -> Option<&[u32]> {
        self.rows[..self.used].iter().find(|row| (row.0, row.1) == (register, 0)).map(|row| row.2.as_slice())
    }

    fn row(&mut self, register: u8, element: u8) -> &mut [u32] {
        let found = self.rows[..self.used].iter().position(|row| (row.0, row.1) == (register, element));
        let place = found.unwrap_or_else(|| {
            if self.used == self.rows.len() {
                self.rows.push((0, 0, Vec::new()));
            }
            let row = &mut self.rows[self.used];
            (row.0, row.1) = (register, element);
            row.2.clear();
            row.2.resize(self.lanes, 0);
            self.used += 1;
            self.used - 1
        });
        &mut self.rows[place].2
    }
}

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

/// The lanes of covered pixels, as in [`Launch::covered`].
fn covered(quads: &[ShadeQuad]) -> Vec<u64> {
    let lanes = |quads: &[ShadeQuad]| {
        let four = |quad: &ShadeQuad| (0..4).fold(0, |set, n| set | u64::from(quad.quad.masks[n] != 0) << n);
        quads.iter().rev().fold(0, |set, quad| set << 4 | four(quad))
    };
    quads.chunks(16).map(lanes).collect()
}

/// The program that runs for quads.
pub(crate) enum QuadProgram<'a> {
    /// With the used exports.
    R700(StageProgram<'a>, Vec<Target>),
    X1k(X1kStage<'a>, Vec<x1k::Target>),
}

/// A program's exports for the pixels of its quads.
pub(crate) enum Exports {
    R700(LaneRows<Target>),
    X1k(LaneRows<x1k::Target>),
}

impl Exports {
    /// The rows of a colour output.
    pub(crate) fn colour(&self, n: u8) -> Option<&[ExportRow; 4]> {
        match self {
            Self::R700(rows) => rows.get(Target::Pixel(n)),
            Self::X1k(rows) => rows.get(x1k::Target::Colour(n)),
        }
    }

    /// The rows of each target.
    pub(crate) fn colours(&self, state: &DrawState<'_>) -> [Option<&[ExportRow; 4]>; 8] {
        if state.colour.multiwrite {
            return [self.colour(0); 8];
        }
        std::array::from_fn(|n| self.colour(n as u8))
    }

    /// The rows of the depth export.
    pub(crate) fn depth(&self) -> Option<&[ExportRow; 4]> {
        match self {
            Self::R700(rows) => rows.get(Target::Depth),
            Self::X1k(rows) => rows.get(x1k::Target::ConditionalValue),
        }
    }

    /// Whether a pixel was not killed.
    pub(crate) fn survived(&self, lane: usize) -> bool {
        match self {
            Self::R700(rows) => rows.survived(lane),
            Self::X1k(rows) => rows.survived(lane),
        }
    }
}

/// The program for a batch of quads.
pub(crate) struct Shader<'a> {
    pub(crate) runner: &'a Runner<'a>,
    pub(crate) state: &'a DrawState<'a>,
    pub(crate) program: QuadProgram<'a>,
}

/// The pixels of a quad.
fn pixels(quad: &QuadCoverage) -> [[i32; 2]; 4] {
    let (x, y) = (quad.x, quad.y);
    [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]]
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
    /// Runs the program for these quads; returns their exports, quad by quad. Reuses the rows of another launch of it.
    pub(crate) fn run(
        &self,
        quads: &[ShadeQuad],
        pieces: &[Piece],
        vertices: &Vertices,
        scratch: &mut Scratch,
        old: Option<Exports>,
    ) -> Result<Exports, Fault> {
        scratch.restart(4 * quads.len());
        self.parameters(scratch, quads, pieces, vertices);
        self.others(scratch, quads, pieces);
        let start = scratch.start();
        let domain = domain(quads);
        let (place, counts) = (|at| place_of(quads, at), |at| counts(quads, at));
        match &self.program {
            QuadProgram::R700(stage, targets) => {
                let order = LaneOrder::quads(domain);
                let rows = match old {
                    Some(Exports::R700(mut rows)) => {
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
                    Some(Exports::X1k(mut rows)) => {
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

    /// Parameters: the entries of the list, in register order.
    fn parameters(&self, scratch: &mut Scratch, quads: &[ShadeQuad], pieces: &[Piece], vertices: &Vertices) {
        let inputs = &self.state.inputs;
        let list = (0u8..).zip(inputs.parameters).take(self.registers());
        // The parameters of back and of front faces.
        let found: Vec<(&PixelInput, ByFace<'_>)> = list
            .map(|(register, input)| {
                (0..4).for_each(|element| {
                    scratch.row(register, element);
                });
                let of = |is_front| vertices.parameters.get(input.parameter(&self.state.outputs, is_front)?);
                (input, [false, true].map(|is_front| of(is_front).map(Vec::as_slice)))
            })
            .collect();
        let is_front = |quad: &ShadeQuad| pieces[quad.setup as usize].setup.is_front;
        let raster = &self.state.raster;
        // The weights of quads that are interpolated together, in one place.
        let mut weights = [Weights::default(); TOGETHER];
        for (first, quads) in (0..).step_by(TOGETHER).zip(quads.chunks(TOGETHER)) {
            let mut held: Option<Place> = None;
            for (n, &(input, parameters)) in found.iter().enumerate() {
                // The rows are in the order of registers, then elements.
                let [x, y, z, w] = &mut scratch.rows[4 * n..4 * n + 4] else { continue };
                let lanes = 4 * first..4 * (first + quads.len());
                let mut rows = [x, y, z, w].map(|row| row.2[lanes.clone()].as_chunks_mut::<4>().0);
                let interpolation = input.interpolation;
                if interpolation == Interpolation::PixelNumber {
                    for (number, quad) in quads.iter().enumerate() {
                        let of = pixels(&quad.quad);
                        for (row, axis) in rows.iter_mut().zip(0..2) {
                            row[number] = of.map(|at| (at[axis] as f32).to_bits());
                        }
                    }
                    continue;
                }
                let is_mixed = interpolation != Interpolation::Flat && parameters.iter().any(Option::is_some);
                if is_mixed && held != Some(input.place) {
                    widely(Weighed { weights: &mut weights, quads, pieces, raster, of: input.place });
                    held = Some(input.place);
                }
                let mut begin = 0;
                for quads in quads.chunk_by(|a, b| input.back.is_none() || is_front(a) == is_front(b)) {
                    let part = begin..begin + quads.len();
                    begin = part.end;
                    let mut rows = rows.each_mut().map(|row| &mut row[part.clone()]);
                    let face = input.back.is_none() || quads.first().is_some_and(is_front);
                    match parameters[usize::from(face)] {
                        None => {
                            rows.iter_mut().zip(input.default).for_each(|(row, bits)| row.fill([bits; 4]));
                        }
                        Some(all) if interpolation == Interpolation::Flat => {
                            for (number, quad) in quads.iter().enumerate() {
                                let value = all[pieces[quad.setup as usize].setup.provoking as usize];
                                rows.iter_mut().zip(value).for_each(|(row, bits)| row[number] = [bits; 4]);
                            }
                        }
                        Some(all) => {
                            let weights = &weights[part];
                            widely(Mixed { rows: &mut rows, weights, quads, pieces, all, interpolation });
                        }
                    }
                }
                for (number, quad) in quads.iter().enumerate().filter(|_| input.sprite) {
                    let Some(&sprite) = pieces[quad.setup as usize].setup.sprite.as_deref() else { continue };
                    for (pixel, at) in places(raster, input.place, quad).into_iter().enumerate() {
                        let mut value = rows.each_ref().map(|row| row[number][pixel]);
                        self.replace(&mut value, self.sprite(sprite, at));
                        rows.iter_mut().zip(value).for_each(|(row, bits)| row[number][pixel] = bits);
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
        let pixels = || {
            quads.iter().enumerate().flat_map(|(number, quad)| {
                (0..4).map(move |pixel| {
                    let at = [quad.quad.x + (pixel as i32 & 1), quad.quad.y + (pixel as i32 >> 1)];
                    (4 * number + pixel, quad, at, quad.quad.masks[pixel])
                })
            })
        };
        let mut fill = |register: u8, value: &OfPixel<'_>, elements: u8| {
            let values: Vec<(usize, [u32; 4])> =
                pixels().map(|(lane, quad, at, mask)| (lane, value(quad, at, mask))).collect();
            for element in (0..4u8).filter(|element| elements >> element & 1 == 1) {
                let row = rows.row(register, element);
                values.iter().for_each(|(lane, value)| row[*lane] = value[usize::from(element)]);
            }
        };
        if let Some((register, elements)) = inputs.generated {
            let value = |quad: &ShadeQuad, at: [i32; 2], mask: u8| {
                let Some(&sprite) = pieces[quad.setup as usize].setup.sprite.as_deref() else { return [0; 4] };
                let [s, t] = self.sprite(sprite, place(raster, Place::Centre, at, mask, quad.sample));
                [s, t, 0.0, 1.0].map(f32::to_bits)
            };
            fill(register, &value, elements);
        }
        if let Some(register) = inputs.position {
            let value = |quad: &ShadeQuad, at: [i32; 2], mask: u8| {
                let where_ = place(raster, inputs.position_place, at, mask, quad.sample);
                let setup = &pieces[quad.setup as usize].setup;
                let [x, y] = where_.map(|at| raster.unit.in_pixels(at) as f32);
                [x, y, setup.clamped(setup.depth(where_)) as f32, setup.w(where_) as f32].map(f32::to_bits)
            };
            fill(register, &value, 0b1111);
        }
        if let Some((register, element)) = inputs.face {
            let value = |quad: &ShadeQuad, _: [i32; 2], mask: u8| {
                let face = if pieces[quad.setup as usize].setup.is_front { 1f32 } else { -1f32 };
                let mut value = [0, 0, u32::from(mask), 0];
                value[usize::from(element % 4)] = face.to_bits();
                value
            };
            fill(register, &value, 0b0100 | 1 << (element % 4));
        }
        if let Some(register) = inputs.fixed_position {
            let value = |quad: &ShadeQuad, [x, y]: [i32; 2], mask: u8| {
                [x.cast_unsigned(), y.cast_unsigned(), u32::from(mask), quad.sample.unwrap_or(0).into()]
            };
            fill(register, &value, 0b1111);
        }
    }
}
