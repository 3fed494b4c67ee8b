//! Which channels of which temporaries an instruction reads and writes.
//!
//! Only components that reach a result count: a component that an operation does not use, or that no write mask lets through, is
//! not read. Compilers leave arbitrary addresses in such places.

pub(crate) use crate::live::Channels;
use crate::x1k::inst::{AluInst, FcInstruction, Inst, Source, TexInstruction};
use crate::x1k::ops::{AlphaOp, AluResultSel, Channel, PredSel, RgbOp, Sel, SrcpOp, Swizzle, TexReads};

impl Channels {
    /// Adds the reads or writes of an instruction; aL can select any temporary.
    pub(crate) fn add(&mut self, access: TemporaryAccess) {
        if access.relative {
            self.insert_everywhere(access.mask);
        } else {
            self.insert(access.temp, access.mask);
        }
    }
}

/// Channels of one temporary, or of the temporary that aL selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TemporaryAccess {
    /// 0..=127.
    pub(crate) temp: u8,
    /// aL is added.
    pub(crate) relative: bool,
    /// Bit 0 is red.
    pub(crate) mask: u8,
}

impl TemporaryAccess {
    /// The register as text, with those of its channels that are in `mask`: `r3.rg`, `r[aL+2].a`.
    pub(crate) fn name(self, mask: u8) -> String {
        let letters: String = "rgba".chars().enumerate().filter(|&(i, _)| mask >> i & 1 == 1).map(|(_, c)| c).collect();
        if self.relative { format!("r[aL+{}].{letters}", self.temp) } else { format!("r{}.{letters}", self.temp) }
    }

    /// Whether both may be the same temporary. Within one iteration aL does not change, so two relative addresses meet
    /// only when their bases are equal.
    pub(crate) fn may_alias(self, other: Self) -> bool {
        self.relative != other.relative || self.temp == other.temp
    }
}

/// The channels `(rgb, alpha)` of an ALU instruction's result that go anywhere: a register, an output, a predicate bit, the
/// ALU result, or the other unit.
pub(crate) fn needed(alu: &AluInst) -> (u8, bool) {
    let (cmn, wmask) = (&alu.cmn, alu.rgb.alu_wmask);
    let mut rgb = cmn.rgb_wmask | cmn.rgb_omask;
    let mut alpha = cmn.alpha_wmask || cmn.alpha_omask || alu.alpha.w_omask;
    if wmask {
        match cmn.alu_result_sel {
            AluResultSel::Red => rgb |= 1,
            AluResultSel::Alpha => alpha = true,
        }
    }
    // Each unit's copy operation needs the other unit's result (CTM §3.3.4).
    if alu.rgba.op == RgbOp::Sop && rgb != 0 {
        alpha = true;
    }
    if alu.alpha.op == AlphaOp::Dp && alpha {
        rgb |= 1;
    }
    (rgb, alpha)
}

/// The operand components that reach a result, as the source and the component that they select.
pub(crate) fn components(alu: &AluInst) -> Vec<(Sel, Swizzle)> {
    let (rgb, alpha) = needed(alu);
    let mut read = Vec::new();
    let (rgb_operands, alpha_operands) = (alu.rgb_operands(), alu.alpha_operands());
    let (rgb_op, alpha_op) = (alu.rgba.op, alu.alpha.op);
    let units = [(rgb_op.info(), rgb_op.is_quad(), rgb), (alpha_op.info(), alpha_op.is_quad(), u8::from(alpha) << 3)];
    for (info, is_quad, wanted) in units {
        read.extend(info.looked_at(wanted).map(|(n, channel)| match channel {
            3 => (alpha_operands[n].sel, alpha_operands[n].swizzle),
            _ => (rgb_operands[n].sel, rgb_operands[n].swizzle[channel]),
        }));
        if is_quad {
            let own = [Swizzle::R, Swizzle::G, Swizzle::B, Swizzle::A];
            read.extend((0..4).filter(|&i| wanted >> i & 1 == 1).map(|i| (Sel::Src0, own[i])));
        }
    }
    read
}

/// The sources that reach a result, with the channels that are read of them.
///
/// A presubtract reads src0, and for SUB and ADD src1 (CTM §3.3.2).
pub(crate) fn sources(alu: &AluInst) -> Vec<(Source, u8)> {
    let (rgb, alpha) = (alu.rgb_sources(), alu.alpha_sources());
    let mut read: Vec<(Source, u8)> = Vec::new();
    let mut add = |source: Source, mask: u8| match read.iter_mut().find(|(known, _)| *known == source) {
        Some((_, known)) => *known |= mask,
        None => read.push((source, mask)),
    };
    for (sel, swizzle) in components(alu) {
        let (unit, op, mask) = match swizzle {
            Swizzle::R => (&rgb, alu.rgb_addr.srcp_op, 1),
            Swizzle::G => (&rgb, alu.rgb_addr.srcp_op, 2),
            Swizzle::B => (&rgb, alu.rgb_addr.srcp_op, 4),
            Swizzle::A => (&alpha, alu.alpha_addr.srcp_op, 8),
            Swizzle::Zero | Swizzle::Half | Swizzle::One | Swizzle::Unused => continue,
        };
        match sel {
            Sel::Src0 => add(unit[0], mask),
            Sel::Src1 => add(unit[1], mask),
            Sel::Src2 => add(unit[2], mask),
            Sel::Srcp => {
                add(unit[0], mask);
                if matches!(op, SrcpOp::Sub | SrcpOp::Add) {
                    add(unit[1], mask);
                }
            }
        }
    }
    read
}

/// The temporaries whose value an instruction reads.
pub(crate) fn reads(inst: &Inst) -> Vec<TemporaryAccess> {
    match inst {
        Inst::Alu(alu) => sources(alu)
            .into_iter()
            .filter_map(|(source, mask)| match source {
                Source::Temp { index, relative } => Some(TemporaryAccess { temp: index, relative, mask }),
                Source::Const { .. } | Source::Inline { .. } => None,
            })
            .collect(),
        Inst::Tex(tex) => tex_reads(tex),
        Inst::Fc(_) => Vec::new(),
    }
}

/// S and T of a lookup, Q where the operation uses it, the gradients of DXDY; the masked channels of a kill.
fn tex_reads(tex: &TexInstruction) -> Vec<TemporaryAccess> {
    let bits = |channels: &[Channel]| channels.iter().fold(0u8, |mask, channel| mask | 1 << channel.code());
    let a = &tex.addr;
    let source = |mask| TemporaryAccess { temp: a.src_addr, relative: a.src_addr_rel, mask };
    let (s, t, q) = (a.src_s_swiz, a.src_t_swiz, a.src_q_swiz);
    match tex.inst.op.info() {
        TexReads::Nothing => Vec::new(),
        TexReads::St => vec![source(bits(&[s, t]))],
        TexReads::Stq => vec![source(bits(&[s, t, q]))],
        TexReads::Masked => vec![source(tex.cmn.rgb_wmask | u8::from(tex.cmn.alpha_wmask) << 3)],
        TexReads::StGradients => {
            let d = &tex.dxdy;
            vec![
                source(bits(&[s, t])),
                TemporaryAccess { temp: d.dx_addr, relative: d.dx_addr_rel, mask: bits(&[d.dx_s_swiz, d.dx_t_swiz]) },
                TemporaryAccess { temp: d.dy_addr, relative: d.dy_addr_rel, mask: bits(&[d.dy_s_swiz, d.dy_t_swiz]) },
            ]
        }
    }
}

/// The temporaries that an instruction writes.
pub(crate) fn writes(inst: &Inst) -> Vec<TemporaryAccess> {
    let cmn = inst.cmn();
    let alpha = u8::from(cmn.alpha_wmask) << 3;
    let all = match inst {
        Inst::Alu(alu) => vec![
            TemporaryAccess { temp: alu.rgba.addrd, relative: alu.rgba.addrd_rel, mask: cmn.rgb_wmask },
            TemporaryAccess { temp: alu.alpha.addrd, relative: alu.alpha.addrd_rel, mask: alpha },
        ],
        Inst::Tex(tex) if tex.inst.op.is_lookup() => {
            vec![TemporaryAccess {
                temp: tex.addr.dst_addr,
                relative: tex.addr.dst_addr_rel,
                mask: cmn.rgb_wmask | alpha,
            }]
        }
        Inst::Tex(_) | Inst::Fc(_) => Vec::new(),
    };
    all.into_iter().filter(|access| access.mask != 0).collect()
}

/// The predicate bits (bit 0 is R) that a write through `rgb` and `alpha` channels depends on.
pub(crate) fn predicate_bits(inst: &Inst) -> u8 {
    let cmn = inst.cmn();
    let select = |sel: PredSel, own: u8| match sel {
        PredSel::None => 0,
        PredSel::Rgba => own,
        PredSel::Rrrr => 1,
        PredSel::Gggg => 2,
        PredSel::Bbbb => 4,
        PredSel::Aaaa => 8,
    };
    match inst {
        // RGBA on a flow-control instruction means R; another rule speaks of it.
        Inst::Fc(_) => select(cmn.rgb_pred_sel, 1),
        Inst::Alu(_) | Inst::Tex(_) => {
            let rgb = if cmn.rgb_wmask == 0 { 0 } else { select(cmn.rgb_pred_sel, cmn.rgb_wmask) };
            let alpha = if cmn.alpha_wmask { select(cmn.alpha_pred_sel, 8) } else { 0 };
            rgb | alpha
        }
    }
}

/// The half of the jump table that can be reached: with `RGB_PRED_SEL` NONE the predicate is true.
pub(crate) fn reachable_jump_bits(fc: &FcInstruction) -> u8 {
    if fc.cmn.rgb_pred_sel == PredSel::None { 0xcc } else { 0xff }
}
