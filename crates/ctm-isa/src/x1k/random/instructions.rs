//! Random ALU and texture instructions.

use super::super::formats::{AlphaAddr, AlphaInst, CmnInst, RgbAddr, RgbInst, RgbaInst, TexAddr, TexInst};
use super::super::inst::{AluInst, Inst, Source, TexInstruction};
use super::super::ops::{
    AlphaOp, AluResultSel, Channel, CompareOp, Imod, InstType, Omod, PredSel, RgbOp, Sel, SrcpOp, Swizzle, TexOp,
};
use super::{CONSTANTS, Maker, TEMPS};

impl Maker {
    pub(super) fn temp(&mut self) -> u8 {
        self.random.below(TEMPS) as u8
    }

    pub(super) fn relative(&mut self) -> bool {
        self.shape.relative && self.flag(5)
    }

    fn source(&mut self) -> (u8, bool, bool) {
        let relative = self.relative();
        match self.random.below(6) {
            0 => Source::Inline { code: self.random.below(128) as u8, relative: false },
            1 | 2 => Source::Const { index: self.random.below(CONSTANTS) as u8, relative },
            _ => Source::Temp { index: self.temp(), relative },
        }
        .fields()
    }

    pub(super) fn swizzle(&mut self) -> Swizzle {
        self.random.of(&[
            Swizzle::R,
            Swizzle::G,
            Swizzle::B,
            Swizzle::A,
            Swizzle::R,
            Swizzle::G,
            Swizzle::B,
            Swizzle::A,
            Swizzle::Zero,
            Swizzle::Half,
            Swizzle::One,
        ])
    }

    fn imod(&mut self) -> Imod {
        if self.flag(2) { Imod::Off } else { self.random.of(Imod::ALL) }
    }

    fn predicate(&mut self) -> (PredSel, bool) {
        if self.flag(3) { (self.random.of(PredSel::ALL), self.flag(2)) } else { (PredSel::None, false) }
    }

    pub(super) fn cmn(&mut self, kind: InstType) -> CmnInst {
        let (rgb_pred_sel, rgb_pred_inv) = self.predicate();
        let (alpha_pred_sel, alpha_pred_inv) = self.predicate();
        CmnInst {
            kind,
            tex_sem_wait: self.flag(2),
            rgb_pred_sel,
            rgb_pred_inv,
            write_inactive: self.shape.watches_idle_lanes && self.flag(8),
            last: self.flag(8),
            nop: self.flag(8),
            alu_wait: self.flag(2),
            rgb_wmask: if self.flag(3) { self.random.below(8) as u8 } else { 7 },
            alpha_wmask: !self.flag(3),
            rgb_omask: if self.flag(3) { self.random.below(8) as u8 } else { 0 },
            alpha_omask: self.flag(4),
            rgb_clamp: self.flag(6),
            alpha_clamp: self.flag(6),
            alu_result_sel: self.random.of(AluResultSel::ALL),
            alpha_pred_inv,
            alu_result_op: self.random.of(CompareOp::ALL),
            alpha_pred_sel,
            stat_we: 0,
        }
    }

    pub(super) fn omod(&mut self, disabled: bool) -> Omod {
        match self.random.below(4) {
            0 => self.random.of(&Omod::ALL[..7]),
            1 if disabled => Omod::Disabled,
            _ => Omod::U1,
        }
    }

    pub(super) fn alu(&mut self) -> AluInst {
        let kind = if self.flag(4) { InstType::Output } else { InstType::Alu };
        let quads = self.shape.watches_idle_lanes;
        let alpha_op = loop {
            let op = self.random.of(AlphaOp::ALL);
            if quads || !op.is_quad() {
                break op;
            }
        };
        let rgb_op = loop {
            let op = self.random.of(RgbOp::ALL);
            let copies = op == RgbOp::Sop && !alpha_op.is_transcendental();
            if (quads || !op.is_quad()) && !copies && (alpha_op != AlphaOp::Dp || op.is_dot_product()) {
                break op;
            }
        };
        let mut addresses = || [self.source(), self.source(), self.source()];
        let (rgb, alpha) = (addresses(), addresses());
        let rgb_addr = rgb_addr(rgb, self.random.of(SrcpOp::ALL));
        let alpha_addr = alpha_addr(alpha, self.random.of(SrcpOp::ALL));
        AluInst {
            cmn: self.cmn(kind),
            rgb_addr,
            alpha_addr,
            rgb: RgbInst {
                sel_a: self.random.of(Sel::ALL),
                red_swiz_a: self.swizzle(),
                green_swiz_a: self.swizzle(),
                blue_swiz_a: self.swizzle(),
                imod_a: self.imod(),
                sel_b: self.random.of(Sel::ALL),
                red_swiz_b: self.swizzle(),
                green_swiz_b: self.swizzle(),
                blue_swiz_b: self.swizzle(),
                imod_b: self.imod(),
                omod: self.omod(rgb_op.info().omod_disabled()),
                target: self.random.below(4) as u8,
                alu_wmask: self.flag(2),
            },
            alpha: AlphaInst {
                op: alpha_op,
                addrd: self.temp(),
                addrd_rel: self.relative(),
                sel_a: self.random.of(Sel::ALL),
                swiz_a: self.swizzle(),
                imod_a: self.imod(),
                sel_b: self.random.of(Sel::ALL),
                swiz_b: self.swizzle(),
                imod_b: self.imod(),
                omod: self.omod(alpha_op.info().omod_disabled()),
                target: self.random.below(4) as u8,
                w_omask: kind == InstType::Output && self.flag(4),
            },
            rgba: RgbaInst {
                op: rgb_op,
                addrd: self.temp(),
                addrd_rel: self.relative(),
                rgb_sel_c: self.random.of(Sel::ALL),
                red_swiz_c: self.swizzle(),
                green_swiz_c: self.swizzle(),
                blue_swiz_c: self.swizzle(),
                rgb_imod_c: self.imod(),
                alpha_sel_c: self.random.of(Sel::ALL),
                alpha_swiz_c: self.swizzle(),
                alpha_imod_c: self.imod(),
            },
        }
    }

    pub(super) fn tex(&mut self) -> Inst {
        let op = self.random.of(&[
            TexOp::Nop,
            TexOp::Lookup,
            TexOp::Lookup,
            TexOp::Lookup,
            TexOp::LookupProj,
            TexOp::LodBias,
            TexOp::KillLt0,
            TexOp::Lod,
            TexOp::Dxdy,
        ]);
        let mut cmn = self.cmn(InstType::Tex);
        if op == TexOp::KillLt0 {
            // Otherwise nothing would be left.
            (cmn.rgb_wmask, cmn.alpha_wmask) = (1 << self.random.below(4) & 7, false);
        }
        let mut channel = || self.random.of(Channel::ALL);
        let swizzles: [Channel; 8] = std::array::from_fn(|_| channel());
        let addr = TexAddr {
            src_addr: self.temp(),
            src_addr_rel: self.relative(),
            src_s_swiz: swizzles[0],
            src_t_swiz: swizzles[1],
            src_r_swiz: swizzles[2],
            src_q_swiz: swizzles[3],
            dst_addr: self.temp(),
            dst_addr_rel: self.relative(),
            dst_r_swiz: swizzles[4],
            dst_g_swiz: swizzles[5],
            dst_b_swiz: swizzles[6],
            dst_a_swiz: swizzles[7],
        };
        let inst = TexInst {
            tex_id: self.random.below(self.shape.inputs.max(1)) as u8,
            op,
            tex_sem_acquire: self.flag(2),
            ignore_uncovered: self.flag(3),
            unscaled: self.flag(2),
        };
        let dxdy = crate::x1k::formats::TexAddrDxDy::decode(0)
            .unwrap_or_else(|_| unreachable!("every field of TEX_ADDR_DXDY allows 0"));
        Inst::Tex(TexInstruction { cmn, inst, addr, dxdy })
    }
}

/// An address word of sources: number, whether a constant, whether relative. Both words have the same fields.
macro_rules! addresses {
    ($name:ident, $word:ident) => {
        pub(in crate::x1k) const fn $name([a, b, c]: [(u8, bool, bool); 3], srcp_op: SrcpOp) -> $word {
            $word {
                addr0: a.0,
                addr0_const: a.1,
                addr0_rel: a.2,
                addr1: b.0,
                addr1_const: b.1,
                addr1_rel: b.2,
                addr2: c.0,
                addr2_const: c.1,
                addr2_rel: c.2,
                srcp_op,
            }
        }
    };
}

addresses!(rgb_addr, RgbAddr);
addresses!(alpha_addr, AlphaAddr);
