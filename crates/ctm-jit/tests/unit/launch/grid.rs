//! Tests of `src/launch/grid.rs`.

use super::*;

#[test]
fn an_order_has_every_group_once() {
    let domains = [[0, 0, 63, 11], [0, 0, 63, 9], [8, 2, 8 + 31, 2 + 6], [1, 1, 40, 8], [0, 0, 36, 9], [4, 4, 11, 5]];
    for [i0, j0, i1, j1] in domains {
        for (lanes, copies) in [(LANES, 4), (LANES, 2), (LANES, 3), (8, 4)] {
            let grid = Grid::new(Domain { i0, j0, i1, j1 }, lanes);
            let order = grid.order(copies);
            let mut groups: Vec<u64> = (0..grid.groups()).map(|n| order.group(n)).collect();
            for (n, &group) in groups.iter().enumerate() {
                let strip = order.strip(n as u64, grid.groups());
                let place = grid.places(group).position(0);
                for after in 0..strip.groups {
                    let places = grid.places(groups[n + after as usize]);
                    let (column, row) = ((after / strip.rows) as u32, (after % strip.rows) as u32);
                    assert_eq!(places.position(0), Position { i: place.i + 8 * column, j: place.j + 2 * row });
                    assert!(places.in_row() && grid.inside(&places) == Mask::MAX);
                }
            }
            groups.sort_unstable();
            assert!(groups.into_iter().eq(0..grid.groups()), "{i0} {j0} {i1} {j1}, {lanes} lanes");
        }
    }
}

#[test]
fn quads_side_by_side_start_as_planes_have_it() {
    let numbers =
        [0.0, -0.0, 1.0, -3.0, 0.1, 0.75, 1.0 / 2048.0, 1e9, -262_143.0, 262_144.0, 1e-300, f64::INFINITY, f64::NAN];
    let grid = Grid::new(Domain { i0: 2, j0: 4, i1: 41, j1: 9 }, LANES);
    for origin in numbers {
        for di in numbers {
            for dj in numbers {
                let plane = Plane { temp: 0, origin: [origin; 4], di: [di; 4], dj: [dj; 4], bits: false };
                let Some(ramp) = Ramp::of(Var::temp(0, 0), &[plane]) else { continue };
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
