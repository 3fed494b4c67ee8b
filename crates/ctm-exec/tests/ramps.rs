//! Channels of planes give the same bits however they are made.

use ctm_exec::plane::Plane;
use ctm_exec::ramp::{Makes, Ramp};
use ctm_testkit::seeded::Random;

/// Origins and steps: whole and small numbers, sums that round, denormals, ends of the range.
const NUMBERS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    0.1,
    2.0 / 3.0,
    1.0 / 1024.0,
    -37.25,
    4.0e6,
    2.2e7,
    3.0e9,
    1.0e17,
    1.0e-40,
    3.0e38,
    -5.0e-324,
];

#[test]
fn channels_are_those_of_planes() {
    let mut random = Random::new(5);
    let mut number = || NUMBERS[random.below(NUMBERS.len())];
    let mut made = [0; 4];
    for n in 0..20_000 {
        let [origin, di, dj] = [(); 3].map(|()| [(); 4].map(|()| number()));
        let plane = Plane { temp: 3, origin, di, dj, bits: n % 4 == 0 };
        let (columns, rows) = ([7, 63, 1023, 1 << 20][n % 4] as u32, [3, 255, 4095][n % 3] as u32);
        for channel in 0..4 {
            let ramp = Ramp::of(3, channel, &[plane]).unwrap();
            assert!(Ramp::of(2, channel, &[plane]).is_none() && Ramp::of(3, channel + 4, &[plane]).is_none());
            let makes = ramp.makes(columns, rows);
            made[makes as usize] += 1;
            for at in [[0, 0], [1, 0], [0, 1], [columns / 3, rows / 2], [columns, rows]] {
                let bits = match makes {
                    Makes::Single => ramp.single().at(at).to_bits(),
                    Makes::Rounded => ramp.rounded(at, 1.0),
                    Makes::Bits => ramp.bits(at),
                    Makes::AnyBits => ramp.any_bits(at),
                };
                let wanted = plane.at(at[0].into(), at[1].into())[channel];
                assert_eq!(bits, wanted, "{plane:?}, channel {channel} at {at:?}: {makes:?}");
            }
            if makes == Makes::Single {
                // The first lane's sum and the steps of the others.
                let (first, by) = ([columns / 4 * 2, rows / 4 * 2], [1, 1]);
                let sum = ramp.single().at(first) + ramp.offset(by);
                let wanted = plane.at(i64::from(first[0]) + 1, i64::from(first[1]) + 1)[channel];
                assert_eq!(sum.to_bits(), wanted, "{plane:?}, channel {channel} beside {first:?}");
            }
        }
    }
    assert!(made.iter().all(|&count| count > 100), "{made:?}");
}
