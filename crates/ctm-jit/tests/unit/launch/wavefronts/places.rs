//! Tests of `src/launch/wavefronts/places.rs`.

use super::*;
use ctm_exec::GroupSize;
use ctm_exec::r700::interp::Order;
use ctm_exec::r700::{Constants, Divisor, Plane};
use ctm_isa::r700::Program;

#[test]
fn lanes_lie_and_start_where_the_reference_has_them() {
    let program = Program { gprs: 4, ..Program::from_words(Vec::new()) };
    let constants = Constants::default();
    let planes =
        [Plane::position(0), Plane { temp: 1, origin: [0.1; 4], di: [3.7, -1.0, 0.0, 1e9], ..Plane::position(1) }];
    let variables: Vec<Var> = (0..8).map(|n| Var::gpr(n / 4, n % 4)).collect();
    for stage in [Stage::Pixel, Stage::Vertex, Stage::Compute] {
        for lanes in [16, 32, 64] {
            for (i0, j0, i1, j1) in [(0, 0, 63, 3), (1, 1, 40, 8), (3, 2, 3, 2), (0, 5, 6, 40), (2, 0, 129, 0)] {
                let domain = Domain { i0, j0, i1, j1 };
                let Some(wavefront) = GroupSize::new(lanes) else { panic!("{lanes} lanes") };
                // Some elements are divided.
                let divisor = Divisor { of: [0.3, 0.07, 0.011], elements: &[(1, 0b1011)] };
                let divisor = (lanes != 32).then_some(divisor);
                let launch =
                    Launch { stage, wavefront, planes: &planes, divisor, ..Launch::new(&program, &constants, domain) };
                let (order, waves) = (Order::of(&launch), Waves::of(&launch));
                assert_eq!(waves.count(), order.count(&launch), "{launch:?}");
                let (mut places, mut rows) = (Places::new(), vec![[0; LANES]; variables.len()]);
                // Each wavefront alone, all of them in order, and every third one.
                let ways = [(false, 1), (true, 1), (true, 3)];
                let indices = |(follows, step)| (0..waves.count()).step_by(step).map(move |wave| (follows, wave));
                for (follows, wave) in ways.into_iter().flat_map(indices) {
                    if follows && wave > 0 {
                        waves.follow(wave, &mut places);
                    } else {
                        waves.place(wave, &mut places);
                    }
                    Starts::of(&variables, &launch).fill(&places, &mut rows);
                    let expected = order.positions(&launch, wave);
                    assert_eq!(places.lanes, expected.len());
                    for (lane, &at) in expected.iter().enumerate() {
                        assert_eq!(places.position(lane), at, "{stage:?}, {lanes} lanes, {domain:?}");
                        assert_eq!(places.inside >> lane & 1 == 1, domain.contains(at));
                        for (n, row) in rows.iter().enumerate() {
                            let ([i, j], plane) = ([at.i, at.j].map(i64::from), &planes[n / 4]);
                            let expected = divisor.map_or_else(|| plane.at(i, j), |divisor| divisor.at(plane, i, j));
                            assert_eq!(row[lane], expected[n % 4]);
                        }
                    }
                    assert_eq!(places.inside & !mask_of(places.lanes), 0);
                }
            }
        }
    }
}
