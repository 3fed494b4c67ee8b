//! The pixel program for quads of any primitives: start values as rows of lanes, one launch, rows of exports.

use crate::raster::{QuadCoverage, RasterState};
use crate::setup::Setup;
use crate::stage::{StageMemory, ints};
use crate::state::{DrawState, Interpolation, PixelInput, Place, SpriteElement, Stage};
use crate::vertices::Vertices;
use ctm_exec::r700::{Launch, Target};
use ctm_exec::{Domain, Engine, Fault, LaneOrder, LaneRows, StartRow};
use ctm_isa::r700::GPRS;
use ctm_isa::r700::program::Stage as StageKind;

/// Quads of one launch.
pub(crate) const PER_LAUNCH: usize = 512;

/// A quad that the pixel program runs for. Its uncovered pixels run, too, and count for nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShadeQuad {
    /// Its place among the setups.
    pub(crate) setup: u32,
    /// Its pixels, and which samples passed so far.
    pub(crate) quad: QuadCoverage,
    /// The sample that it runs for, where it runs for each.
    pub(crate) sample: Option<u8>,
}

/// Where in the window a pixel's value is evaluated, in units.
fn place(raster: &RasterState, place: Place, at: [i32; 2], mask: u8, sample: Option<u8>) -> [i64; 2] {
    let centre = raster.centre();
    let middle = at.map(|pixel| i64::from(pixel) * crate::raster::UNITS + centre);
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

/// A start value of a pixel: of its quad, its place, its mask.
type OfPixel<'a> = dyn Fn(&ShadeQuad, [i32; 2], u8) -> [u32; 4] + 'a;

/// Rows under construction: a row for each element that a register starts with.
struct Rows {
    lanes: usize,
    /// Register, element, values.
    rows: Vec<(u8, u8, Vec<u32>)>,
}

impl Rows {
    fn row(&mut self, register: u8, element: u8) -> &mut [u32] {
        let found = self.rows.iter().position(|row| (row.0, row.1) == (register, element));
        let place = found.unwrap_or_else(|| {
            self.rows.push((register, element, vec![0; self.lanes]));
            self.rows.len() - 1
        });
        &mut self.rows[place].2
    }
}

/// What runs for a batch of quads.
pub(crate) struct Shader<'a> {
    pub(crate) engine: &'a dyn Engine,
    pub(crate) state: &'a DrawState<'a>,
    pub(crate) stage: Stage<'a>,
    /// What is wanted of the exports.
    pub(crate) targets: Vec<Target>,
}

impl Shader<'_> {
    /// Runs the program for these quads; gives what they export, quad by quad.
    pub(crate) fn run(
        &self,
        quads: &[ShadeQuad],
        setups: &[Setup],
        vertices: &Vertices,
    ) -> Result<LaneRows<Target>, Fault> {
        let mut rows = Rows { lanes: 4 * quads.len(), rows: Vec::new() };
        self.parameters(&mut rows, quads, setups, vertices);
        self.others(&mut rows, quads, setups);
        let start: Vec<StartRow<'_>> =
            rows.rows.iter().map(|&(register, element, ref bits)| StartRow { register, element, bits }).collect();
        let domain = Domain { i0: 0, j0: 0, i1: (2 * ints(quads.len())).saturating_sub(1), j1: 1 };
        let lanes = LaneRows::new(LaneOrder::quads(domain), &self.targets);
        let mut memory = StageMemory::new(self.stage.memory, lanes);
        let launch = Launch {
            stage: StageKind::Pixel,
            chip: self.state.chip,
            fetch_program: self.stage.fetch_program,
            semantics: self.stage.semantics,
            rows: &start,
            counters: false,
            ..Launch::new(self.stage.program, self.stage.constants, domain)
        };
        self.engine.run_r700(&launch, &mut memory)?;
        Ok(memory.rows)
    }

    /// Parameters: the entries of the list, in register order.
    fn parameters(&self, rows: &mut Rows, quads: &[ShadeQuad], setups: &[Setup], vertices: &Vertices) {
        let inputs = &self.state.inputs;
        let registers = usize::from(self.stage.program.gprs).clamp(1, GPRS);
        let list = (0u8..).zip(inputs.parameters).take(registers);
        let found: Vec<(u8, &PixelInput, Option<usize>)> = list
            .map(|(register, input)| {
                let parameter = self.state.outputs.semantics.iter().position(|&id| id == input.semantic);
                (register, input, parameter.filter(|&n| n < vertices.parameters.len()))
            })
            .collect();
        for &(register, ..) in &found {
            (0..4).for_each(|element| {
                rows.row(register, element);
            });
        }
        let raster = &self.state.raster;
        let places: Vec<Place> = {
            let mut all: Vec<Place> = found.iter().map(|(_, input, _)| input.place).collect();
            all.dedup();
            all
        };
        // The rows lie register by register, element by element, as they were made.
        for (number, quad) in quads.iter().enumerate() {
            let setup = &setups[quad.setup as usize];
            for pixel in 0..4 {
                let lane = 4 * number + pixel;
                let at = [quad.quad.x + (pixel as i32 & 1), quad.quad.y + (pixel as i32 >> 1)];
                let mask = quad.quad.masks[pixel];
                let weigh = |of: Place| setup.weights(place(raster, of, at, mask, quad.sample));
                // Mostly all parameters are evaluated in one place.
                let common = places.first().map(|&first| (first, weigh(first)));
                for (n, &(_, input, parameter)) in found.iter().enumerate() {
                    let mut value = input.default;
                    if let Some(parameter) = parameter {
                        let all = &vertices.parameters[parameter];
                        if input.interpolation == Interpolation::Flat {
                            value = all[setup.provoking as usize];
                        } else {
                            let weights = match common {
                                Some((of, weights)) if of == input.place => weights,
                                _ => weigh(input.place),
                            };
                            let corners = setup.slots.map(|slot| all[slot as usize]);
                            for (element, value) in value.iter_mut().enumerate() {
                                let of = corners.map(|corner| f32::from_bits(corner[element]));
                                *value = weights.mix(input.interpolation, of).to_bits();
                            }
                        }
                    }
                    if input.sprite
                        && let Some(sprite) = setup.sprite
                    {
                        let st = self.sprite(sprite, place(raster, input.place, at, mask, quad.sample));
                        self.replace(&mut value, st);
                    }
                    for (element, bits) in value.into_iter().enumerate() {
                        rows.rows[4 * n + element].2[lane] = bits;
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
    fn others(&self, rows: &mut Rows, quads: &[ShadeQuad], setups: &[Setup]) {
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
                let Some(sprite) = setups[quad.setup as usize].sprite else { return [0; 4] };
                let [s, t] = self.sprite(sprite, place(raster, Place::Centre, at, mask, quad.sample));
                [s, t, 0.0, 1.0].map(f32::to_bits)
            };
            fill(register, &value, elements);
        }
        if let Some(register) = inputs.position {
            let value = |quad: &ShadeQuad, at: [i32; 2], mask: u8| {
                let where_ = place(raster, inputs.position_place, at, mask, quad.sample);
                let setup = &setups[quad.setup as usize];
                let weights = setup.weights(where_);
                let [x, y] = where_.map(|units| (units as f64 / 256.0) as f32);
                [x, y, setup.clamped(weights.z) as f32, weights.w as f32].map(f32::to_bits)
            };
            fill(register, &value, 0b1111);
        }
        if let Some((register, element)) = inputs.face {
            let value = |quad: &ShadeQuad, _: [i32; 2], mask: u8| {
                let face = if setups[quad.setup as usize].is_front { 1f32 } else { -1f32 };
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
