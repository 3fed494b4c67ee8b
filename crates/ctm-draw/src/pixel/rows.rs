//! Start values of quads' pixels as rows of lanes.

use crate::lanes::Wide;
use crate::pixel::exports::Exports;
use crate::raster::QuadCoverage;
use crate::setup::piece::Piece;
use crate::setup::{Mix, ParameterPlanes, Setup, Weights};
use crate::state::{Interpolation, Place, RasterState};
use ctm_exec::StartRow;
use std::cell::Cell;

/// Quads whose parameters are interpolated together.
pub(super) const TOGETHER: usize = 32;

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

/// The highest bit of each byte of a quad's masks, where its pixel is covered.
#[inline]
const fn covered_pixels(quad: &ShadeQuad) -> u32 {
    const LOW: u32 = 0x7f7f_7f7f;
    let masks = u32::from_le_bytes(quad.quad.masks);
    (masks | (masks & LOW).wrapping_add(LOW)) & !LOW
}

/// The count of covered pixels of quads.
pub(crate) fn count_covered(quads: &[ShadeQuad]) -> u64 {
    quads.iter().map(|quad| u64::from(covered_pixels(quad).count_ones())).sum()
}

/// The lanes of covered pixels, as in [`ctm_exec::r700::Launch::covered`].
pub(super) fn covered(quads: &[ShadeQuad]) -> Vec<u64> {
    let four = |quad: &ShadeQuad| {
        // Each byte becomes a bit.
        let bits = covered_pixels(quad) >> 7;
        u64::from((bits | bits >> 7 | bits >> 14 | bits >> 21) & 15)
    };
    quads.chunks(16).map(|quads| quads.iter().rev().fold(0, |set, quad| set << 4 | four(quad))).collect()
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

/// Whether values are evaluated at the centres of a quad's pixels.
#[inline(always)]
fn is_at_centres(raster: &RasterState, of: Place, quad: &ShadeQuad) -> bool {
    quad.sample.is_none() && (of != Place::Centroid || !raster.multisample || raster.samples.count <= 1)
}

/// The same of the pixels of a quad.
#[inline(always)]
pub(super) fn places(raster: &RasterState, of: Place, quad: &ShadeQuad) -> [[i64; 2]; 4] {
    let at = pixels(&quad.quad);
    if is_at_centres(raster, of, quad) {
        let centre = raster.centre();
        return at.map(|at| at.map(|pixel| raster.unit.corner(pixel) + centre));
    }
    std::array::from_fn(|n| place(raster, of, at[n], quad.quad.masks[n], quad.sample))
}

/// The sums of a plane in the pixels of a quad.
#[inline(always)]
fn sums([origin, di, dj]: [f64; 3], quad: &QuadCoverage) -> [f64; 4] {
    // All sums are exact.
    let first = origin + f64::from(quad.x) * di + f64::from(quad.y) * dj;
    [first, first + di, first + dj, first + (di + dj)]
}

/// How the parameters of quads are interpolated that are evaluated at the same place in their pixels.
pub(super) struct QuadPlaces {
    /// By the first of quads that follow each other of one piece: its planes, if values at the centres of a triangle's pixels are wanted.
    planes: [Option<ParameterPlanes>; TOGETHER],
    /// w of each quad's pixels, where there are planes that are divided by 1/w.
    ws: [[f64; 4]; TOGETHER],
    /// The weights of each quad's pixels, where there are no planes.
    weights: [Weights; TOGETHER],
}

impl QuadPlaces {
    pub(super) fn new() -> Self {
        Self { planes: [None; TOGETHER], ws: [[0.0; 4]; TOGETHER], weights: [Weights::default(); TOGETHER] }
    }
}

/// The places of quads, to be computed.
pub(super) struct PlacedQuads<'m> {
    pub(super) at: &'m mut QuadPlaces,
    pub(super) quads: &'m [ShadeQuad],
    pub(super) pieces: &'m [Piece],
    pub(super) raster: &'m RasterState,
    pub(super) of: Place,
}

impl Wide for PlacedQuads<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { at: QuadPlaces { planes, ws, weights }, quads, pieces, raster, of } = self;
        let mut begin = 0;
        for quads in quads.chunk_by(|a, b| a.setup == b.setup) {
            let part = begin..begin + quads.len();
            let setup = &pieces[quads[0].setup as usize].setup;
            let at_centres = is_at_centres(raster, of, &quads[0]);
            planes[begin] = if at_centres { ParameterPlanes::of(setup, raster.centre()) } else { None };
            match &planes[begin] {
                None => {
                    for (quad, weights) in quads.iter().zip(&mut weights[part.clone()]) {
                        *weights = setup.weights(places(raster, of, quad));
                    }
                }
                Some(planes) => {
                    if let Some(divisor) = planes.divisor() {
                        for (quad, ws) in quads.iter().zip(&mut ws[part.clone()]) {
                            *ws = sums(divisor, &quad.quad);
                            for w in ws {
                                *w = 1.0 / *w;
                            }
                        }
                    }
                }
            }
            begin = part.end;
        }
    }
}

/// The pixels of a quad.
pub(super) fn pixels(quad: &QuadCoverage) -> [[i32; 2]; 4] {
    let (x, y) = (quad.x, quad.y);
    [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]]
}

/// The elements of a parameter, in the pixels of each quad; `None` for those that the program does not read.
pub(super) type QuadElements<'r> = [Option<&'r mut [[u32; 4]]>; 4];

/// A parameter, to be interpolated in quads.
pub(super) struct Mixed<'m, 'r> {
    pub(super) rows: &'m mut QuadElements<'r>,
    pub(super) at: &'m QuadPlaces,
    /// Some of the quads of the places, beginning with this one.
    pub(super) first: usize,
    pub(super) quads: &'m [ShadeQuad],
    pub(super) pieces: &'m [Piece],
    /// Of all vertices.
    pub(super) all: &'m [[u32; 4]],
    pub(super) interpolation: Interpolation,
}

impl Wide for Mixed<'_, '_> {
    type Out = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { rows, at, first, quads, pieces, all, interpolation } = self;
        let mut begin = 0;
        for quads in quads.chunk_by(|a, b| a.setup == b.setup) {
            let part = begin..begin + quads.len();
            let of_launch = first + begin..first + part.end;
            begin = part.end;
            let setup = &pieces[quads[0].setup as usize].setup;
            let [first, second, third] = setup.slots;
            let vertices = [&all[first as usize], &all[second as usize], &all[third as usize]];
            let Some(planes) = &at.planes[of_launch.start] else {
                for (element, row) in rows.iter_mut().enumerate() {
                    let Some(row) = row else { continue };
                    let mix = Mix::of(vertices.map(|of| f32::from_bits(of[element])));
                    for (to, weights) in row[part.clone()].iter_mut().zip(&at.weights[of_launch.clone()]) {
                        *to = mix.at(weights, interpolation).map(f32::to_bits);
                    }
                }
                continue;
            };
            let elements = planes.parameter(setup, interpolation == Interpolation::Perspective, vertices);
            for (element, row) in rows.iter_mut().enumerate() {
                let Some(row) = row else { continue };
                let [origins, by_column, by_row] = &elements.of;
                let plane = [origins[element], by_column[element], by_row[element]];
                let row = row[part.clone()].iter_mut().zip(quads);
                if elements.divided[element] {
                    for ((to, quad), ws) in row.zip(&at.ws[of_launch.clone()]) {
                        let sums = sums(plane, &quad.quad);
                        for n in 0..4 {
                            to[n] = ((sums[n] * ws[n]) as f32).to_bits();
                        }
                    }
                } else {
                    for (to, quad) in row {
                        let sums = sums(plane, &quad.quad);
                        for n in 0..4 {
                            to[n] = (sums[n] as f32).to_bits();
                        }
                    }
                }
            }
        }
    }
}

/// The start values of a quad: of each element in its pixels.
pub(super) type OfQuad<'a> = dyn Fn(&ShadeQuad) -> [[u32; 4]; 4] + 'a;

/// The elements of the values of four pixels.
pub(super) fn by_element(of: [[u32; 4]; 4]) -> [[u32; 4]; 4] {
    std::array::from_fn(|element| of.map(|value| value[element]))
}

/// The positions of quads' pixels, to be computed: column, row, depth and w.
pub(super) struct Positioned<'m> {
    pub(super) of: &'m mut [[[u32; 4]; TOGETHER]; 4],
    pub(super) quads: &'m [ShadeQuad],
    pub(super) pieces: &'m [Piece],
    pub(super) raster: &'m RasterState,
    pub(super) place: Place,
    /// Bits 2 and 3: whether depth and w are wanted; otherwise they are 0.
    pub(super) elements: u8,
}

impl Wide for Positioned<'_> {
    type Out = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { of, quads, pieces, raster, place, elements } = self;
        let at_centre = |quad: &ShadeQuad| is_at_centres(raster, place, quad);
        let in_pixels = |at: i64| (raster.unit.in_pixels(at) as f32).to_bits();
        for (number, quad) in quads.iter().enumerate() {
            if at_centre(quad) {
                let middle = |pixel| in_pixels(raster.unit.corner(pixel) + raster.centre());
                let (x, y) = (quad.quad.x, quad.quad.y);
                let ([left, right], [top, bottom]) = ([x, x + 1].map(middle), [y, y + 1].map(middle));
                of[0][number] = [left, right, left, right];
                of[1][number] = [top, top, bottom, bottom];
            } else {
                for (pixel, at) in places(raster, place, quad).into_iter().enumerate() {
                    for (element, at) in at.into_iter().enumerate() {
                        of[element][number][pixel] = in_pixels(at);
                    }
                }
            }
            if elements & 0b1100 == 0 {
                continue;
            }
            let setup = &pieces[quad.setup as usize].setup;
            let planes = if at_centre(quad) { ParameterPlanes::of(setup, raster.centre()) } else { None };
            let [depths, ws] = match planes {
                Some(planes) => depths_and_ws(setup, &planes, &quad.quad),
                None => {
                    let places = places(raster, place, quad);
                    let depths = places.map(|at| setup.clamped(setup.depth(at)));
                    [depths, setup.ws_by(&setup.shares_of_four(&places))]
                }
            };
            of[2][number] = depths.map(|depth| (depth as f32).to_bits());
            of[3][number] = ws.map(|w| (w as f32).to_bits());
        }
    }
}

/// The depths and w in the pixels of a quad of a triangle.
#[inline(always)]
fn depths_and_ws(setup: &Setup, planes: &ParameterPlanes, quad: &QuadCoverage) -> [[f64; 4]; 2] {
    let (plane, is_inside) = planes.depths(setup);
    let mut depths = sums(plane, quad);
    // Pixels beside the triangle may lie beyond a range that contains all of its corners.
    if !is_inside {
        depths.iter_mut().for_each(|depth| *depth = setup.clamped(*depth));
    }
    let ws = match planes.divisor() {
        Some(divisor) => sums(divisor, quad).map(|sum| 1.0 / sum),
        None => [1.0 / setup.corners[0].reciprocal_w; 4],
    };
    [depths, ws]
}

/// Rows under construction: a row for each element of an initial register. Reused from launch to launch.
#[derive(Default)]
pub(crate) struct Scratch {
    /// The exports of the last launch, for their memory.
    pub(crate) exports: Option<Exports>,
    pub(super) lanes: usize,
    /// How many of the rows are in use.
    pub(super) used: usize,
    /// Register, element, values.
    pub(super) rows: Vec<(u8, u8, Vec<u32>)>,
}

thread_local! {
    /// The rows of the last draw: most draws are small, and memory for rows took a good part of their time.
    static KEPT: Cell<Scratch> = const { Cell::new(Scratch { exports: None, lanes: 0, used: 0, rows: Vec::new() }) };
}

impl Scratch {
    /// With the memory of this thread's last draw.
    pub(crate) fn kept() -> Self {
        KEPT.take()
    }

    /// Keeps its memory for this thread's next draw.
    pub(crate) fn keep(self) {
        KEPT.set(self);
    }

    pub(super) fn restart(&mut self, lanes: usize) {
        (self.lanes, self.used) = (lanes, 0);
    }

    /// The rows in use, as a launch takes them.
    pub(super) fn start(&self) -> Vec<StartRow<'_>> {
        self.rows[..self.used]
            .iter()
            .map(|&(register, element, ref bits)| StartRow { register, element, bits })
            .collect()
    }

    /// The values of element x of a register, of all lanes.
    pub(super) fn values(&self, register: u8) -> Option<&[u32]> {
        self.rows[..self.used].iter().find(|row| (row.0, row.1) == (register, 0)).map(|row| row.2.as_slice())
    }

    /// Puts the values of quads side by side, from this quad on, into the rows of a register. `of`: by element, then by quad.
    pub(super) fn put(
        &mut self,
        register: u8,
        elements: u8,
        first: usize,
        of: &[[[u32; 4]; TOGETHER]; 4],
        count: usize,
    ) {
        for element in (0..4u8).filter(|element| elements >> element & 1 == 1) {
            let row = self.row(register, element).as_chunks_mut().0;
            row[first..first + count].copy_from_slice(&of[usize::from(element)][..count]);
        }
    }

    /// Fills elements of a register (bit 0 is the first) with a value of each quad.
    pub(super) fn fill(&mut self, register: u8, elements: u8, quads: &[ShadeQuad], value: &OfQuad<'_>) {
        let mut all = [[[0; 4]; TOGETHER]; 4];
        for (first, quads) in (0..).step_by(TOGETHER).zip(quads.chunks(TOGETHER)) {
            for (number, quad) in quads.iter().enumerate() {
                all.iter_mut().zip(value(quad)).for_each(|(of, value)| of[number] = value);
            }
            self.put(register, elements, first, &all, quads.len());
        }
    }

    /// The row of an element. A new one has any values: all of them are to be filled.
    pub(super) fn row(&mut self, register: u8, element: u8) -> &mut [u32] {
        let found = self.rows[..self.used].iter().position(|row| (row.0, row.1) == (register, element));
        let place = found.unwrap_or_else(|| {
            if self.used == self.rows.len() {
                self.rows.push((0, 0, Vec::new()));
            }
            let row = &mut self.rows[self.used];
            (row.0, row.1) = (register, element);
            row.2.resize(self.lanes, 0);
            self.used += 1;
            self.used - 1
        });
        &mut self.rows[place].2
    }
}
