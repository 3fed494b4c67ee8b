//! Tests of `src/launch/grid.rs`.

use super::*;

#[test]
fn quads_side_by_side_start_as_planes_have_it() {
    let numbers =
        [0.0, -0.0, 1.0, -3.0, 0.1, 0.75, 1.0 / 2048.0, 1e9, -262_143.0, 262_144.0, 1e-300, f64::INFINITY, f64::NAN];
    let grid = Grid::new(Domain { i0: 2, j0: 4, i1: 41, j1: 9 }, LANES);
    for origin in numbers {
        for di in numbers {
            for dj in numbers {
                let plane = Plane { temp: 0, origin: [origin; 4], di: [di; 4], dj: [dj; 4], bits: false };
                let Some(ramp) = Ramp::of(Var::gpr(0, 0), &[plane]) else { continue };
                for group in 0..grid.groups() {
                    let places = grid.places(group);
                    let row = ramp.row(&places);
                    for (lane, &bits) in row.iter().enumerate() {
                        let expected = plane.at(places.i[lane].into(), places.j[lane].into())[0];
                        let nan = |bits| f32::from_bits(bits).is_nan();
                        let same = bits == expected || nan(bits) && nan(expected);
                        assert!(same, "{origin} + i * {di} + j * {dj}, group {group}, lane {lane}");
                    }
                }
            }
        }
    }
}
