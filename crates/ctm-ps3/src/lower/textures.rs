//! Cube and volume textures: the machine reads inputs of two dimensions, so their faces or slices lie in one, below each other.

use super::{Lower, small};
use crate::ir::{ALPHA, Comp, Dest, Op, Reg, V, VirtualOperand};
use crate::syntax::{self, SourceOperand, Texture};

/// The distance of a coordinate to the edge of its face or slice, as a fraction of its size: inputs have at most 4096 rows.
const EDGE: f32 = 1.0 / 8192.0;

/// One component of an operand, in the first.
fn at(operand: VirtualOperand, channel: u8) -> VirtualOperand {
    operand.swizzled([channel; 4]).masked(1)
}

impl Lower<'_> {
    /// The declared kind of a sampler.
    pub(super) fn texture(&self, sampler: u16) -> Texture {
        self.shader.samplers.iter().find(|s| s.0 == sampler).map_or(Texture::Flat, |s| s.1)
    }

    /// The constant in which the client says how many columns, rows and slices the texture has.
    fn size(&mut self, sampler: u8) -> VirtualOperand {
        let index = match self.sizes.get(&sampler) {
            Some(&index) => index,
            None => {
                let index = self.free_constant();
                let name = self.code.names.get(&('s', sampler)).cloned().unwrap_or_else(|| format!("s{sampler}"));
                self.code.names.insert(('c', index), format!("{name}_size"));
                self.sizes.insert(sampler, index);
                index
            }
        };
        self.register(Reg::Const(index))
    }

    /// One number.
    fn one(&mut self, op: Op, src: &[VirtualOperand], inst: &syntax::Inst) -> VirtualOperand {
        let src: Vec<VirtualOperand> = src.iter().map(|o| at(*o, 0)).collect();
        at(self.step(op, 1, &src, inst), 0)
    }

    fn within(
        &mut self,
        x: VirtualOperand,
        least: VirtualOperand,
        most: VirtualOperand,
        inst: &syntax::Inst,
    ) -> VirtualOperand {
        let x = self.one(Op::Max, &[x, least], inst);
        self.one(Op::Min, &[x, most], inst)
    }

    /// The register whose first two channels are the place in the input.
    pub(super) fn three_coordinates(
        &mut self,
        inst: &syntax::Inst,
        coord: &SourceOperand,
        kind: Texture,
        sampler: u8,
        project: bool,
    ) -> V {
        let one = VirtualOperand::all(Comp::One);
        let zero = VirtualOperand::all(Comp::Zero);
        let operand = self.operand(coord, if project { 15 } else { 7 });
        let mut p = self.step(Op::Mov, 7, &[operand.masked(7)], inst);
        if project {
            let w = self.scalar_step(Op::Rcp, &[operand.swizzled([3; 4]).masked(ALPHA)], inst);
            p = self.step(Op::Mad, 7, &[p.masked(7), w.masked(7), zero.masked(7)], inst);
        }
        let [x, y, z] = [0, 1, 2].map(|c| at(p, c));
        let (edge, far_edge) = (self.number(EDGE), self.number(1.0 - EDGE));
        let (s, t) = if kind == Texture::Volume {
            let size = self.size(small(u16::from(sampler)));
            let (rows, slices) = (at(size, 1), at(size, 2));
            let z = if self.normalized { self.one(Op::Mad, &[z, slices, zero], inst) } else { z };
            let last = self.one(Op::Mad, &[slices, one, one.negated()], inst);
            let z = self.within(z, zero, last, inst);
            let fraction = self.one(Op::Frc, &[z], inst);
            let slice = self.one(Op::Mad, &[z, one, fraction.negated()], inst);
            if self.normalized {
                let y = self.within(y, edge, far_edge, inst);
                let sum = self.one(Op::Mad, &[slice, one, y], inst);
                let part = self.scalar_step(Op::Rcp, &[slices.swizzled([0; 4]).masked(ALPHA)], inst);
                (x, self.one(Op::Mad, &[sum, part, zero], inst))
            } else {
                let last = self.one(Op::Mad, &[rows, one, one.negated()], inst);
                let y = self.within(y, zero, last, inst);
                (x, self.one(Op::Mad, &[slice, rows, y], inst))
            }
        } else {
            let [s, t, face] = self.face([x, y, z], inst);
            let s = self.within(s, edge, far_edge, inst);
            let t = self.within(t, edge, far_edge, inst);
            let row = self.one(Op::Mad, &[face, one, t], inst);
            if self.normalized {
                let part = self.number(1.0 / 6.0);
                (s, self.one(Op::Mad, &[row, part, zero], inst))
            } else {
                let columns = at(self.size(small(u16::from(sampler))), 0);
                (self.one(Op::Mad, &[s, columns, zero], inst), self.one(Op::Mad, &[row, columns, zero], inst))
            }
        };
        let v = self.code.fresh();
        for (mask, value) in [(1, s), (2, t)] {
            let dest = Dest { temp: Some(v), mask, ..Dest::default() };
            self.emit(Op::Mov, dest, &[value.swizzled([0; 4]).masked(mask)], inst, false);
        }
        v
    }

    /// Where a direction meets the cube: the place on its face, 0 to 1 from its left and upper edge, and which face: +x, -x, +y, -y, +z, -z.
    /// Where two components are the largest, z goes before y, and y before x.
    fn face(&mut self, [x, y, z]: [VirtualOperand; 3], inst: &syntax::Inst) -> [VirtualOperand; 3] {
        let one = VirtualOperand::all(Comp::One);
        let half = VirtualOperand::all(Comp::Half);
        let zero = VirtualOperand::all(Comp::Zero);
        let [ax, ay, az] = [x, y, z].map(VirtualOperand::absolute);
        let [two, three, four, five] = [2.0, 3.0, 4.0, 5.0].map(|n| self.number(n));
        // A - B >= 0
        let mut over = |a: VirtualOperand, b: VirtualOperand| self.one(Op::Mad, &[a, one, b.negated()], inst);
        let (z_over_x, z_over_y, is_y) = (over(az, ax), over(az, ay), over(ay, ax));
        let is_z = self.one(Op::Min, &[z_over_x, z_over_y], inst);
        // The machine compares its third operand with zero: first operand if it is not below.
        let mut choose =
            |a: VirtualOperand, b: VirtualOperand, by: VirtualOperand| self.one(Op::Cmp, &[a, b, by], inst);
        let of_x = [choose(z.negated(), z, x), y.negated(), ax, choose(zero, one, x)];
        let of_y = [x, choose(z, z.negated(), y), ay, choose(two, three, y)];
        let of_z = [choose(x, x.negated(), z), y.negated(), az, choose(four, five, z)];
        let mut found = [zero; 4];
        for n in 0..4 {
            let flat = choose(of_y[n], of_x[n], is_y);
            found[n] = choose(of_z[n], flat, is_z);
        }
        let [sc, tc, ma, face] = found;
        let part = self.scalar_step(Op::Rcp, &[ma.swizzled([0; 4]).masked(ALPHA)], inst);
        let part = self.one(Op::Mad, &[part, half, zero], inst);
        let s = self.one(Op::Mad, &[sc, part, half], inst);
        let t = self.one(Op::Mad, &[tc, part, half], inst);
        [s, t, face]
    }
}
