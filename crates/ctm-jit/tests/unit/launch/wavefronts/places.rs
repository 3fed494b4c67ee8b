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

/// Truth: the values of the reference. Between wavefronts the processor may flush denormals where `are_normal` says that there are none.
#[test]
fn quotients_that_count_as_normal_are_no_denormals() {
    let program = Program { gprs: 2, ..Program::from_words(Vec::new()) };
    let (constants, domain) = (Constants::default(), Domain { i0: 0, j0: 0, i1: 15, j1: 3 });
    let variables: Vec<Var> = (0..4).map(|n| Var::gpr(1, n)).collect();
    let power = |n: i32| 2f64.powi(n);
    let (mut normal, mut denormal) = (0, 0);
    for of_plane in -140..4 {
        for of_divisor in -70..90 {
            let [plane, other] = [power(of_plane), power(of_divisor)];
            let of = [other, 3.0 * other, -2.0 * other];
            let divisor = Divisor { of, elements: &[(1, 0b0111)] };
            let plane = Plane { origin: [plane; 4], di: [5.0 * plane; 4], dj: [plane; 4], ..Plane::position(1) };
            let planes = [plane];
            let launch = Launch {
                stage: Stage::Pixel,
                planes: &planes,
                divisor: Some(divisor),
                ..Launch::new(&program, &constants, domain)
            };
            let are_normal = Starts::of(&variables, &launch).are_normal;
            let is_denormal = |bits: u32| f32::from_bits(bits).is_subnormal();
            let places = (0..4).flat_map(|j| (0..16).map(move |i| (i, j)));
            let meets_some = places.into_iter().any(|(i, j)| divisor.at(&planes[0], i, j).into_iter().any(is_denormal));
            assert!(!(are_normal && meets_some), "2^{of_plane} by 2^{of_divisor}");
            normal += u32::from(are_normal);
            denormal += u32::from(meets_some);
        }
    }
    assert!(normal > 5000 && denormal > 500, "{normal} cases are normal, {denormal} have denormals");
}
