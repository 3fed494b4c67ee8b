//! Coverage of triangles beside a reference that is written apart: a sample is moved by an infinitely small step to the right, and by one
//! infinitely smaller downwards, and lies then within a triangle or not, never on an edge.
//!
//! Truth: derived, from the rule that samples on left and top edges belong to a triangle; arithmetic is exact.

use ctm_draw::raster::{Triangle, cover_box, cover_triangle, inside_box, inside_triangle, triangle_spans};
use ctm_draw::state::{PositionUnit, RasterState, Rect, SamplePattern, SamplePoints};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn within(&mut self, least: i64, most: i64) -> i64 {
        least + (self.next() >> 16) as i64 % (most - least + 1)
    }
}

const SIDE: i32 = 12;
const SCISSOR: Rect = Rect { left: 0, top: 0, right: SIDE, bottom: SIDE };

fn points(samples: SamplePattern) -> SamplePoints {
    points_in(PositionUnit::Of256, samples)
}

fn points_in(unit: PositionUnit, samples: SamplePattern) -> SamplePoints {
    RasterState { unit, samples, ..RasterState::default() }.sample_points()
}

/// The sign of the moved sample's side of the line from a to b: of a sum of a number, one infinitely smaller, one infinitely smaller again.
fn side(a: [i64; 2], b: [i64; 2], p: [i64; 2]) -> i32 {
    let [ax, ay, bx, by, px, py] = [a[0], a[1], b[0], b[1], p[0], p[1]].map(i128::from);
    let terms = [(bx - ax) * (py - ay) - (by - ay) * (px - ax), -(by - ay), bx - ax];
    terms.iter().map(|term| term.signum() as i32).find(|&sign| sign != 0).unwrap_or(0)
}

fn contains(at: &[[i64; 2]; 3], p: [i64; 2]) -> bool {
    let sides = [side(at[0], at[1], p), side(at[1], at[2], p), side(at[2], at[0], p)];
    let area = side(at[0], at[1], at[2]);
    let degenerate = {
        let [[ax, ay], [bx, by], [cx, cy]] = at.map(|v| v.map(i128::from));
        (bx - ax) * (cy - ay) == (by - ay) * (cx - ax)
    };
    area != 0 && !degenerate && (sides == [1; 3] || sides == [-1; 3])
}

fn expected(at: &[[i64; 2]; 3], points: &SamplePoints) -> Vec<u8> {
    let mut all = Vec::new();
    for y in 0..i64::from(SIDE) {
        for x in 0..i64::from(SIDE) {
            let covers = |place: [i64; 2]| {
                contains(at, [x * points.unit.count() + place[0], y * points.unit.count() + place[1]])
            };
            all.push(points.iter().filter(|&(place, _)| covers(place)).fold(0, |sum, (_, mask)| sum | mask));
        }
    }
    all
}

fn found(at: [[i64; 2]; 3], points: &SamplePoints) -> Vec<u8> {
    let mut all = vec![0; (SIDE * SIDE) as usize];
    cover_triangle(&Triangle::new(at), points, SCISSOR, &mut |quad| {
        for (n, mask) in quad.masks.into_iter().enumerate() {
            let (x, y) = (quad.x + (n as i32 & 1), quad.y + (n as i32 >> 1));
            if mask != 0 {
                let place = &mut all[(y * SIDE + x) as usize];
                assert_eq!(*place, 0, "pixel ({x}, {y}) came twice");
                *place = mask;
            }
        }
    });
    all
}

/// The same pixels as spans of rows, and as columns that are covered in some rows.
fn spans_and_insides_say_the_same(at: [[i64; 2]; 3], points: &SamplePoints, expected: &[u8]) {
    let (triangle, place) = (Triangle::new(at), points.first());
    let mut found = vec![0; expected.len()];
    triangle_spans(&triangle, place, SCISSOR, &mut |y, left, right| {
        (left..right).for_each(|x| found[(y * SIDE + x) as usize] = 1);
    });
    assert_eq!(found, expected, "{at:?}");
    for [top, bottom] in [[0, 1], [3, 4], [2, 9], [0, SIDE]] {
        let within = Rect { left: 1, top, right: SIDE - 1, bottom };
        let inside = inside_triangle(&triangle, place, within);
        for x in within.left..within.right {
            let whole = (top..bottom).all(|y| expected[(y * SIDE + x) as usize] == 1);
            assert_eq!(inside.contains(x, top), whole, "{at:?}, column {x} of rows {top} to {bottom}");
        }
    }
}

#[test]
fn random_triangles_cover_what_the_reference_says() {
    let mut random = Random(0x5eed);
    let patterns = [PositionUnit::Of256, PositionUnit::Of192].map(|unit| {
        [SamplePattern::ONE, SamplePattern::FOUR, SamplePattern::EIGHT].map(|samples| points_in(unit, samples))
    });
    for n in 0..ctm_testkit::tries::part(40_000) as u32 {
        let patterns = &patterns[n as usize / 8 % 2];
        let units = patterns[0].unit.count();
        let side = i64::from(SIDE) * units;
        let mut at = [[0; 2]; 3];
        for vertex in &mut at {
            *vertex = std::array::from_fn(|_| match n % 8 {
                // On pixel and sample corners, where edges pass through samples.
                0 => random.within(-1, 13) * units,
                1 => random.within(0, 12) * units + units / 2,
                2 => random.within(0, 96) * units / 8,
                // Off the screen and very large.
                3 => random.within(-4 * side, 4 * side),
                4 => random.within(-(256 << 20), 256 << 20),
                _ => random.within(-512, side + 512),
            });
        }
        // Slivers, and none at all.
        if n % 16 == 5 {
            at[2] = [at[1][0] + random.within(-2, 2), at[1][1] + random.within(-2, 2)];
        }
        spans_and_insides_say_the_same(at, &patterns[0], &expected(&at, &patterns[0]));
        for points in &patterns[..1 + usize::from(n % 4 == 0) * 2] {
            assert_eq!(found(at, points), expected(&at, points), "triangle {at:?} of {} samples", points.count);
        }
    }
}

#[test]
fn meshes_cover_every_sample_once() {
    let mut random = Random(77);
    for round in 0..300 {
        // A grid of 5 x 5 cells around the screen, its inner corners moved about so that cells stay convex; each cell is cut in two.
        let corner = |random: &mut Random, i: i64, j: i64| {
            let inner = (1..5).contains(&i) && (1..5).contains(&j);
            let moved = |random: &mut Random| if inner { random.within(-120, 120) } else { 0 };
            let grid = if round % 2 == 0 { 0 } else { 128 };
            [i * 800 - 400 + grid + moved(random), j * 800 - 400 + grid + moved(random)]
        };
        let corners: Vec<Vec<[i64; 2]>> = (0..6).map(|j| (0..6).map(|i| corner(&mut random, i, j)).collect()).collect();
        let points = points([SamplePattern::ONE, SamplePattern::FOUR][round % 2]);
        let mut times = vec![[0u32; 8]; (SIDE * SIDE) as usize];
        for j in 0..5 {
            for i in 0..5 {
                let [a, b, c, d] = [corners[j][i], corners[j][i + 1], corners[j + 1][i + 1], corners[j + 1][i]];
                let halves = if random.next() & 1 == 0 { [[a, b, c], [a, c, d]] } else { [[b, a, d], [b, c, d]] };
                for half in halves {
                    for (times, mask) in times.iter_mut().zip(found(half, &points)) {
                        times.iter_mut().enumerate().for_each(|(n, times)| *times += u32::from(mask >> n & 1));
                    }
                }
            }
        }
        for (pixel, times) in times.iter().enumerate() {
            assert_eq!(times[..points.count], [1; 8][..points.count], "pixel {pixel} of round {round}");
        }
    }
}

#[test]
fn boxes_are_two_triangles() {
    let mut random = Random(3);
    let points = points(SamplePattern::FOUR);
    for _ in 0..2000 {
        let mut of = || [random.within(-300, 3300), random.within(-300, 3300)];
        let (a, c) = (of(), of());
        let (b, d) = ([c[0], a[1]], [a[0], c[1]]);
        let mut halves = found([a, b, c], &points);
        halves.iter_mut().zip(found([a, c, d], &points)).for_each(|(all, mask)| *all |= mask);
        let mut whole = vec![0; halves.len()];
        cover_box([a, c], &points, SCISSOR, &mut |quad| {
            for (n, mask) in quad.masks.into_iter().enumerate().filter(|&(_, mask)| mask != 0) {
                whole[((quad.y + (n as i32 >> 1)) * SIDE + quad.x + (n as i32 & 1)) as usize] = mask;
            }
        });
        assert_eq!(whole, halves, "{a:?} {c:?}");
        // By one place of each pixel.
        let inside = inside_box([a, c], points.first(), SCISSOR);
        let is_inside = (0..SIDE * SIDE).map(|n| u8::from(inside.contains(n % SIDE, n / SIDE)));
        assert!(is_inside.eq(whole.iter().map(|mask| mask & 1)), "{a:?} {c:?}");
    }
}
