//! Quads merged many at a time after the program: kills, the alpha test, tests of depth and stencil, blending and stores. Pixels of several samples are merged sample by sample; what replaces
//! their contents is computed once.

use super::rows::ColourRows;
use super::{Merger, OpenDepth};
use crate::lanes::{LANES, wide};
use crate::output::blend;
use crate::pixel::shade::{Exports, ShadeQuad};
use crate::setup::piece::Piece;
use crate::surface::format::{ChannelRow, Fractions, TOGETHER};
use crate::surface::samples::Surface;
use ctm_exec::ExportRow;
use std::ops::Range;

/// Quads whose lanes are merged together.
const QUADS: usize = TOGETHER / 4;

/// How many quads, from the first on, have no pixel in common. Those of one piece never have.
fn apart(quads: &[ShadeQuad]) -> usize {
    let meets = |n: usize| {
        let ShadeQuad { setup, quad, .. } = &quads[n];
        quads[..n].iter().any(|other| other.setup != *setup && (other.quad.x, other.quad.y) == (quad.x, quad.y))
    };
    let most = quads.len().min(QUADS);
    (1..most).find(|&n| meets(n)).unwrap_or(most)
}

/// Puts exports of some lanes into rows; zeros where there are none.
fn set(rows: &mut [ChannelRow; 4], from: Option<&[ExportRow; 4]>, lanes: &Range<usize>) {
    for (element, row) in rows.iter_mut().enumerate() {
        match from.and_then(|from| from[element].bits.get(lanes.clone())) {
            Some(bits) => row.iter_mut().zip(bits).for_each(|(to, &bits)| *to = f32::from_bits(bits)),
            None => row.fill(0.0),
        }
    }
}

/// The two pixels of each row of quads: where they lie, and the first of their two lanes.
fn pairs(quads: &[ShadeQuad]) -> impl Iterator<Item = ([i32; 2], usize)> {
    quads.iter().enumerate().flat_map(|(n, quad)| {
        let (x, y) = (quad.quad.x, quad.quad.y);
        [([x, y], 4 * n), ([x, y + 1], 4 * n + 2)]
    })
}

/// Some lanes of quads in a sample.
#[derive(Clone, Copy)]
struct Marked<'q> {
    quads: &'q [ShadeQuad],
    sample: u32,
    marks: u64,
}

fn read(surface: &Surface<'_>, Marked { quads, sample, marks }: Marked<'_>, (bytes, size): (&mut [u8], usize)) {
    for (at, lane) in pairs(quads).filter(|(_, lane)| marks >> lane & 3 != 0) {
        surface.read_row(at, sample, &mut bytes[lane * size..(lane + 2) * size]);
    }
}

/// Stores marked pixels alone: beside others may lie those of another row.
fn write(surface: &mut Surface<'_>, Marked { quads, sample, marks }: Marked<'_>, (bytes, size): (&[u8], usize)) {
    let mut left = marks;
    for (n, ShadeQuad { quad, .. }) in quads.iter().enumerate().filter(|(n, _)| marks >> (4 * n) & 15 == 15) {
        if size == 4
            && let Some(four) = bytes[16 * n..].first_chunk()
            && surface.write_quad([quad.x, quad.y], sample, four)
        {
            left &= !(15 << (4 * n));
        }
    }
    if left == 0 {
        return;
    }
    for ([x, y], lane) in pairs(quads) {
        match left >> lane & 3 {
            3 => surface.write_row([x, y], sample, &bytes[lane * size..(lane + 2) * size]),
            1 => surface.write_row([x, y], sample, &bytes[lane * size..(lane + 1) * size]),
            2 => surface.write_row([x + 1, y], sample, &bytes[(lane + 1) * size..(lane + 2) * size]),
            _ => {}
        }
    }
}

impl Merger<'_, '_> {
    /// Whether quads can be merged many at a time.
    pub(crate) const fn merges_quads(&self) -> bool {
        self.groups
    }

    /// Merges quads in layer 0 with their exports. The first of them is the quad of this number in the launch.
    pub(crate) fn merge_quads(&mut self, quads: &[ShadeQuad], number: usize, pieces: &[Piece], exports: &Exports) {
        let colours = exports.colours(self.state);
        let (mut rows, mut blended) = (blend::Rows::default(), [[0.0; TOGETHER]; 4]);
        let mut bytes = [0; 16 * TOGETHER];
        let samples = self.state.raster.samples.count as usize % 9;
        let targets = &self.state.colour.targets;
        let fractions: [Option<Fractions>; 8] = std::array::from_fn(|n| {
            let target = self.open.colour[n].as_ref().filter(|_| !targets[n].truncate)?;
            Fractions::of(&target.colours)
        });
        let mut done = 0;
        while done < quads.len() {
            let group = &quads[done..done + apart(&quads[done..])];
            let first = 4 * (number + done);
            let lanes = first..first + 4 * group.len();
            done += group.len();
            let mut of_samples = [0; 8];
            for (n, quad) in group.iter().enumerate() {
                let all = u32::from_le_bytes(quad.quad.masks);
                for (sample, marks) in of_samples[..samples].iter_mut().enumerate() {
                    // A bit of each byte.
                    let four = u64::from((all >> sample & 0x0101_0101).wrapping_mul(0x0102_0408) >> 24);
                    *marks |= four << (4 * n);
                }
            }
            if !self.early {
                of_samples[0] = self.late_tests(group, of_samples[0], pieces, (exports, first), colours[0]);
            }
            let marks = of_samples.into_iter().fold(0, |all, marks| all | marks);
            if marks == 0 {
                continue;
            }
            let of_samples = || {
                let of = (0u32..).zip(of_samples).map(|(sample, marks)| Marked { quads: group, sample, marks });
                of.filter(|of| of.marks != 0)
            };
            let state = &self.state.colour;
            let mut is_written = false;
            for (n, (target, plan)) in self.open.colour.iter_mut().zip(&self.plans.of).enumerate() {
                let (Some(target), Some(plan)) = (target, plan) else { continue };
                is_written = true;
                set(&mut rows.source, colours[n], &lanes);
                if plan.blend.is_some_and(|blend| blend.reads_source1()) {
                    set(&mut rows.source1, colours[1], &lanes);
                }
                let size = target.colours.bytes();
                let bytes = &mut bytes[..lanes.len() * size];
                let of_rows = ColourRows { state, n, plan };
                let mut merge = |bytes: &mut [u8], marks| match &fractions[n] {
                    Some(fractions) => of_rows.merge_fractions(fractions, (bytes, size), marks, &mut rows),
                    None => of_rows.merge_others(&target.colours, (bytes, size), marks, (&mut rows, &mut blended)),
                };
                if plan.replaces {
                    merge(bytes, marks);
                    of_samples().for_each(|of| write(&mut target.surface, of, (bytes, size)));
                    continue;
                }
                for of in of_samples() {
                    read(&target.surface, of, (bytes, size));
                    merge(bytes, of.marks);
                    write(&mut target.surface, of, (bytes, size));
                }
            }
            self.pixels_written += if is_written { u64::from(marks.count_ones()) } else { 0 };
        }
    }

    /// The lanes that are left after kills, the alpha test, and tests of depth and stencil.
    fn late_tests(
        &mut self,
        quads: &[ShadeQuad],
        mut marks: u64,
        pieces: &[Piece],
        (exports, first): (&Exports, usize),
        colour: Option<&[ExportRow; 4]>,
    ) -> u64 {
        let keep = |marks: u64, keeps: &dyn Fn(usize) -> bool| {
            let lanes = (0..TOGETHER).filter(|lane| marks >> lane & 1 == 1 && keeps(*lane));
            lanes.fold(0, |set, lane| set | 1 << lane)
        };
        if self.state.depth.kill {
            marks = keep(marks, &|lane| exports.survived(first + lane));
        }
        if let Some(test) = &self.state.colour.alpha_test {
            let alpha = |lane: usize| colour.map_or(0.0, |row| f32::from_bits(row[3].bits[first + lane]));
            marks = keep(marks, &|lane| test.passes(alpha(lane)));
        }
        if let (Some(tests), Some(target)) = (&self.lanes, &mut self.open.depth) {
            let centre = self.state.raster.centre();
            let mut passed = 0;
            for (half, quads) in quads.chunks(LANES / 4).enumerate() {
                let mut depths = [0.0; LANES];
                let place = |target: &OpenDepth<'_>, lane: usize| {
                    let quad = &quads[lane / 4].quad;
                    target.surface.place(quad.x + (lane as i32 & 1), quad.y + (lane as i32 >> 1 & 1), 0, 0)
                };
                let mut begin = 0;
                for same in quads.chunk_by(|a, b| a.setup == b.setup) {
                    let setup = &pieces[same[0].setup as usize].setup;
                    for (of, quad) in depths[4 * begin..].chunks_mut(4).zip(same) {
                        of.copy_from_slice(&setup.depths_of_quad([quad.quad.x, quad.quad.y], [centre; 2]));
                    }
                    let lanes = u32::MAX >> (LANES - 4 * same.len()) << (4 * begin);
                    begin += same.len();
                    let marked = (marks >> (LANES * half)) as u32 & lanes;
                    if marked != 0 {
                        let test = &tests[usize::from(!setup.is_front)];
                        let range = setup.depth_range;
                        let found = wide!(target.test_places(test, place, depths, range, marked));
                        passed |= u64::from(found) << (LANES * half);
                    }
                }
            }
            marks = passed;
        }
        if !self.state.depth.counts_nothing {
            self.samples_passed += u64::from(marks.count_ones());
        }
        marks
    }
}
