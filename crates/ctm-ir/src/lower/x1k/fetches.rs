//! Texture instructions of the X1K as operations of the form.

use super::{Builder, Under, channels, number_of, under};
use crate::masked::{ChannelOp, Counter, Fetch, M, MaskOp, Op, Value};
use ctm_exec::float::SIGN;
use ctm_exec::x1k::{tex, unit};
use ctm_isa::x1k::inst::{Source, TexInstruction};
use ctm_isa::x1k::ops::{AlphaOp, Channel, CompareOp, Omod, TexOp};
use ctm_isa::x1k::program::Lookups;

impl Builder {
    /// A texture instruction.
    pub fn tex(&mut self, inst: &TexInstruction) {
        self.tally.tex += 1;
        self.tally.tex_wide += u32::from(inst.inst.op != TexOp::Nop);
        let (addr, cmn) = (&inst.addr, &inst.cmn);
        let source = Source::Temp { index: addr.src_addr, relative: addr.src_addr_rel };
        if addr.src_addr_rel && !tex::source_channels(inst).is_empty() {
            self.guard(source);
        }
        if tex::writes_destination(inst) {
            self.guard(Source::Temp { index: addr.dst_addr, relative: addr.dst_addr_rel });
        }
        let written = || channels(cmn.rgb_wmask, cmn.alpha_wmask);
        let covered = inst.inst.ignore_uncovered && self.sees_uncovered;
        let unders: [Under; 4] = std::array::from_fn(|channel| Under { covered, ..under(cmn, channel) });
        match inst.inst.op {
            TexOp::Nop => {}
            TexOp::KillLt0 => {
                let mut values: Vec<_> = written().map(|c| (self.source(source, c), unders[c])).collect();
                // Compilers write the same to all channels.
                values.dedup();
                for (value, under) in values {
                    let under = self.under(under);
                    let kills = self.compared(CompareOp::Less, value);
                    self.mask(MaskOp::Lanes(M::TEMP, kills));
                    self.mask(MaskOp::And(M::TEMP2, M::TEMP, under));
                    self.mask(MaskOp::AndNot(M::VALID, M::VALID, M::TEMP2));
                    self.unders.retain(|known| !known.0.covered);
                }
            }
            TexOp::Lookup | TexOp::LookupProj | TexOp::LodBias | TexOp::Lod | TexOp::Dxdy | TexOp::LookupUncached => {
                if let Lookups::Textures { cubes } = self.lookups {
                    let fetch = self.lookup_texture(inst, cubes);
                    return self.set_texels(inst, fetch, unders);
                }
                let channel = |c: Channel| c as usize;
                let mut s = self.source(source, channel(addr.src_s_swiz));
                let mut t = self.source(source, channel(addr.src_t_swiz));
                if inst.inst.op == TexOp::LookupProj {
                    let q = self.source(source, channel(addr.src_q_swiz));
                    let reciprocal = self.unit(ChannelOp::Scalar(AlphaOp::Rcp), q, q, q);
                    // A product alone: adding -0 changes no sum.
                    let nothing = self.block.bits(SIGN);
                    s = self.mad([s, reciprocal, nothing], false, Omod::U1);
                    t = self.mad([t, reciprocal, nothing], false, Omod::U1);
                }
                // Uncovered lanes read nothing, even if their values are visible.
                let reading =
                    Under { predicate: None, inactive: cmn.write_inactive, covered: inst.inst.ignore_uncovered };
                let input = inst.inst.tex_id;
                if self.counts {
                    let lanes = self.under(Under { covered: true, ..reading });
                    self.block.effect(Op::Tally { counter: Counter::Lookups(input), weight: 1, under: lanes });
                }
                let lanes = self.under(reading);
                let uncached = inst.inst.op == TexOp::LookupUncached;
                self.code.inputs |= 1 << (input & 15);
                let fetch = Fetch::Input { input: input & 15, unscaled: inst.inst.unscaled, uncached };
                let number = number_of(&mut self.code.fetches, fetch);
                let fetch = self.block.effect(Op::Fetch { number, at: [s, t, s, t], under: lanes });
                self.set_texels(inst, fetch, unders);
            }
        }
    }

    /// Stores the result of a lookup.
    fn set_texels(&mut self, inst: &TexInstruction, fetch: Value, unders: [Under; 4]) {
        let (addr, cmn) = (&inst.addr, &inst.cmn);
        let written = || channels(cmn.rgb_wmask, cmn.alpha_wmask);
        let swizzle = [addr.dst_r_swiz, addr.dst_g_swiz, addr.dst_b_swiz, addr.dst_a_swiz];
        let mut texels = [fetch; 4];
        written().for_each(|c| texels[c] = self.block.once(Op::Fetched(fetch, swizzle[c] as u8)));
        written().for_each(|c| self.set_temp(addr.dst_addr, addr.dst_addr_rel, c, texels[c], unders[c]));
    }

    /// A lookup of a draw's texture, as `ctm_exec::x1k::unit` defines it: the fetch.
    fn lookup_texture(&mut self, inst: &TexInstruction, cubes: u16) -> Value {
        let source = Source::Temp { index: inst.addr.src_addr, relative: inst.addr.src_addr_rel };
        let [mut s, mut t, mut r, q] = unit::coordinate_swizzle(inst).map(|c| self.source(source, c as usize));
        if inst.inst.op == TexOp::LookupProj {
            let reciprocal = self.unit(ChannelOp::Scalar(AlphaOp::Rcp), q, q, q);
            let nothing = self.block.bits(SIGN);
            [s, t, r] = [s, t, r].map(|c| self.mad([c, reciprocal, nothing], false, Omod::U1));
        }
        if cubes >> (inst.inst.tex_id & 15) & 1 == 1 {
            let omod = ctm_isa::r700::ops::Omod::Off;
            let [down, right, major, face] = [0, 1, 2, 3]
                .map(|element| self.block.make(Op::Cube { element, operands: [s, t, r], omod, clamp: false }));
            let major = self.block.make(Op::Abs(major));
            let reciprocal = self.unit(ChannelOp::Scalar(AlphaOp::Rcp), major, major, major);
            let middle = self.block.bits(unit::FACE_MIDDLE.to_bits());
            [s, t] = [right, down].map(|along| self.mad([along, reciprocal, middle], false, Omod::U1));
            r = face;
        }
        let (covered, inactive) = (inst.inst.ignore_uncovered, inst.cmn.write_inactive);
        let zero = self.block.bits(0);
        let mut gradients = Vec::new();
        if inst.inst.op == TexOp::Dxdy {
            for (set, (index, relative, of)) in unit::set_gradients(inst).into_iter().zip(unit::gradient_sources(inst))
            {
                let source = Source::Temp { index, relative };
                self.guard(source);
                let [s, t, r] = of.map(|c| self.source(source, c as usize));
                gradients.push((Fetch::Texture(set), [s, t, r, zero]));
            }
        }
        let lanes = self.under(Under { predicate: None, inactive, covered });
        for (fetch, at) in gradients {
            let number = number_of(&mut self.code.fetches, fetch);
            self.block.effect(Op::Fetch { number, at, under: lanes });
        }
        // Instructions that look nothing up do not come here.
        let Some(fetch) = unit::fetch(inst) else { return zero };
        let number = number_of(&mut self.code.fetches, Fetch::Texture(fetch));
        self.block.effect(Op::Fetch { number, at: [s, t, r, q], under: lanes })
    }
}
