//! Initial values of the pixels of a rectangle, as planes over the window, and their perspective divisors.
//!
//! Quads start with the same bits: [`ParameterPlanes`].

use crate::setup::{ParameterPlanes, Setup};
use crate::state::{DrawState, Interpolation};
use crate::vertex::Vertices;
use ctm_exec::r700::{Divisor, Plane};

/// One element of a register.
#[derive(Clone, Copy)]
enum Element {
    /// A number: at pixel (0, 0), and its change by column and row.
    Number([f64; 3]),
    /// A number that is divided by 1/w.
    Quotient([f64; 3]),
    /// These bits, and their change by column and row.
    Bits([f64; 3]),
}

impl Element {
    fn bits(bits: u32) -> Self {
        Self::Bits([bits.into(), 0.0, 0.0])
    }

    /// The same as a number, if arithmetic leaves its bits alone.
    fn number(self) -> Option<[f64; 3]> {
        match self {
            Self::Number(of) | Self::Quotient(of) => Some(of),
            Self::Bits([bits, di, dj]) => {
                let value = f32::from_bits(bits as u32);
                // Minus zero plus zero would be zero.
                let stays = value.is_normal() || bits == 0.0;
                (stays && di == 0.0 && dj == 0.0).then_some([value.into(), 0.0, 0.0])
            }
        }
    }

    /// The same as a whole number.
    const fn whole(self) -> Option<[f64; 3]> {
        match self {
            Self::Bits(of) => Some(of),
            Self::Number(_) | Self::Quotient(_) => None,
        }
    }
}

/// Elements of registers, the later ones over the earlier ones.
#[derive(Default)]
struct StartRegisters(Vec<(u8, [Element; 4])>);

impl StartRegisters {
    fn of(&mut self, register: u8) -> &mut [Element; 4] {
        let place = self.0.iter().position(|of| of.0 == register).unwrap_or_else(|| {
            self.0.push((register, [Element::bits(0); 4]));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }

    /// The elements that are divided.
    fn quotients(&self) -> Vec<(u8, u8)> {
        let divided = |of: &[Element; 4]| {
            let each = (0..).zip(of).filter(|(_, element)| matches!(element, Element::Quotient(_)));
            each.fold(0, |set, (n, _): (u8, _)| set | 1 << n)
        };
        self.0.iter().map(|(register, of)| (*register, divided(of))).filter(|of| of.1 != 0).collect()
    }

    /// A plane for each register; `None` where one mixes numbers with other bits.
    fn planes(&self) -> Option<Vec<Plane>> {
        let plane = |&(temp, of): &(u8, [Element; 4])| {
            let elements = |pick: fn(Element) -> Option<[f64; 3]>| -> Option<[[f64; 3]; 4]> {
                let [x, y, z, w] = of.map(pick);
                Some([x?, y?, z?, w?])
            };
            let (of, bits) = match elements(Element::number) {
                Some(of) => (of, false),
                None => (elements(Element::whole)?, true),
            };
            let part = |n: usize| of.map(|of| of[n]);
            Some(Plane { temp, origin: part(0), di: part(1), dj: part(2), bits })
        };
        self.0.iter().map(plane).collect()
    }
}

/// Initial values of pixels.
#[derive(Default)]
pub(crate) struct Starts {
    pub(crate) planes: Vec<Plane>,
    /// 1/w: at pixel (0, 0), and its change by column and row.
    divisor: [f64; 3],
    /// Registers with elements that are divided by it.
    quotients: Vec<(u8, u8)>,
}

impl Starts {
    /// Whether every pixel starts with the same.
    pub(crate) fn are_uniform(&self) -> bool {
        let stays = |of: &[f64; 4]| of.iter().all(|&change| change == 0.0);
        self.quotients.is_empty() && self.planes.iter().all(|plane| stays(&plane.di) && stays(&plane.dj))
    }

    /// The divisor of elements, if any are divided.
    pub(crate) fn divisor(&self) -> Option<Divisor<'_>> {
        (!self.quotients.is_empty()).then_some(Divisor { of: self.divisor, elements: &self.quotients })
    }
}

/// Initial values of the pixels of a piece; `None` where planes cannot express them.
///
/// `registers`: the count of registers for parameters; `first`: the column and row of the window of (0, 0).
pub(crate) fn starts(
    state: &DrawState<'_>,
    setup: &Setup,
    vertices: &Vertices,
    (registers, first): (usize, [i32; 2]),
) -> Option<Starts> {
    let (inputs, centre) = (&state.inputs, state.raster.centre());
    let triangle = ParameterPlanes::of(setup, centre)?;
    let mut all = StartRegisters::default();
    for (register, input) in (0u8..).zip(inputs.parameters).take(registers) {
        let parameter = input.parameter(&state.outputs, setup.is_front);
        *all.of(register) = match parameter.and_then(|n| vertices.parameters.get(n)) {
            _ if input.interpolation == Interpolation::PixelNumber => {
                [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0; 3], [0.0; 3]].map(Element::Number)
            }
            None => input.default.map(Element::bits),
            Some(of) if input.interpolation == Interpolation::Flat => of[setup.provoking as usize].map(Element::bits),
            Some(of) => {
                let of_vertices = setup.slots.map(|slot| &of[slot as usize]);
                let planes = triangle.parameter(setup, input.interpolation == Interpolation::Perspective, of_vertices);
                std::array::from_fn(|n| {
                    let of = planes.of.map(|of| of[n]);
                    if planes.divided[n] { Element::Quotient(of) } else { Element::Number(of) }
                })
            }
        };
    }
    if let Some((register, elements)) = inputs.generated {
        // Others than points have none.
        let of = all.of(register);
        (0..4).filter(|element| elements >> element & 1 == 1).for_each(|element| of[element] = Element::bits(0));
    }
    if let Some(register) = inputs.position {
        let place = setup.unit.in_pixels(centre);
        let (depths, is_inside) = triangle.depths(setup);
        if !is_inside {
            return None;
        }
        let [x, y] = [[place, 1.0, 0.0], [place, 0.0, 1.0]].map(Element::Number);
        let z = Element::Number(depths);
        let w = match triangle.divisor() {
            Some(_) => Element::Quotient([1.0, 0.0, 0.0]),
            None => Element::Number([1.0 / setup.corners[0].reciprocal_w, 0.0, 0.0]),
        };
        *all.of(register) = [x, y, z, w];
    }
    let mask = state.raster.samples.all().into();
    if let Some((register, element)) = inputs.face {
        let of = all.of(register);
        of[2] = Element::bits(mask);
        of[usize::from(element % 4)] = Element::bits(if setup.is_front { 1f32 } else { -1f32 }.to_bits());
    }
    if let Some(register) = inputs.fixed_position {
        *all.of(register) =
            [Element::Bits([0.0, 1.0, 0.0]), Element::Bits([0.0, 0.0, 1.0]), Element::bits(mask), Element::bits(0)];
    }
    let mut planes = all.planes()?;
    let mut divisor = triangle.divisor().unwrap_or_default();
    let [column, row] = first.map(f64::from);
    let from = |origin: &mut f64, di: f64, dj: f64| *origin += column * di + row * dj;
    for plane in &mut planes {
        for (origin, (di, dj)) in plane.origin.iter_mut().zip(plane.di.into_iter().zip(plane.dj)) {
            from(origin, di, dj);
        }
    }
    let [origin, di, dj] = &mut divisor;
    from(origin, *di, *dj);
    Some(Starts { planes, divisor, quotients: all.quotients() })
}
