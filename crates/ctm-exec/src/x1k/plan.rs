//! A program decoded once, with the static properties of each instruction.

use ctm_isa::table::FieldError;
use ctm_isa::x1k::inst::{AlphaOperand, AluInst, FcInstruction, RgbOperand, Source, TexInstruction};
use ctm_isa::x1k::ops::{AlphaOp, AluResultSel, RgbOp, Sel, SrcpOp, Swizzle};
use ctm_isa::x1k::{Inst, Program};

/// One channel of one source register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Component {
    /// The register.
    pub source: Source,
    /// 0 = r to 3 = a.
    pub channel: usize,
}

/// An ALU or OUTPUT instruction and the values derived from its fields.
#[derive(Clone, Debug)]
pub struct AluPlan {
    /// The instruction.
    pub inst: AluInst,
    /// Sources 0, 1, 2 of the RGB unit.
    pub rgb_sources: [Source; 3],
    /// Sources 0, 1, 2 of the alpha unit.
    pub alpha_sources: [Source; 3],
    /// Operands A, B, C of the RGB unit.
    pub rgb_operands: [RgbOperand; 3],
    /// Operands A, B, C of the alpha unit.
    pub alpha_operands: [AlphaOperand; 3],
    /// Which channels of the RGB result anything stores.
    pub rgb_stored: [bool; 3],
    /// Whether anything stores the alpha result.
    pub alpha_stored: bool,
    /// The components that stored results depend on, each once.
    pub reads: Vec<Component>,
}

/// One slot, ready to run.
#[derive(Clone, Debug)]
pub enum PlannedSlot {
    /// ALU or OUTPUT.
    Alu(Box<AluPlan>),
    /// Texture.
    Tex(TexInstruction),
    /// Flow control.
    Fc(FcInstruction),
    /// The slot holds a number without a meaning; executing it is a fault.
    Undecodable(FieldError),
}

/// Decodes every slot of a program.
#[must_use]
pub fn plan(program: &Program) -> Vec<PlannedSlot> {
    let step = |words| match Inst::decode(words) {
        Ok(Inst::Alu(alu)) => PlannedSlot::Alu(Box::new(AluPlan::new(alu))),
        Ok(Inst::Tex(tex)) => PlannedSlot::Tex(tex),
        Ok(Inst::Fc(fc)) => PlannedSlot::Fc(fc),
        Err(error) => PlannedSlot::Undecodable(error),
    };
    program.words.iter().map(step).collect()
}

impl AluPlan {
    /// Computes the stored results and their operands.
    #[must_use]
    pub fn new(inst: AluInst) -> Self {
        let mut plan = Self::without_reads(inst);
        plan.reads = plan.collect_reads();
        plan
    }

    /// The same, with [`Self::reads`] left empty.
    #[must_use]
    pub fn without_reads(inst: AluInst) -> Self {
        let cmn = &inst.cmn;
        let is_result = |sel| inst.rgb.alu_wmask && cmn.alu_result_sel == sel;
        let rgb_mask = cmn.rgb_wmask | cmn.rgb_omask | u8::from(is_result(AluResultSel::Red));
        let alpha_stored = cmn.alpha_wmask
            || cmn.alpha_omask
            || is_result(AluResultSel::Alpha)
            || (inst.alpha.w_omask && inst.is_output());
        Self {
            inst,
            rgb_sources: inst.rgb_sources(),
            alpha_sources: inst.alpha_sources(),
            rgb_operands: inst.rgb_operands(),
            alpha_operands: inst.alpha_operands(),
            rgb_stored: std::array::from_fn(|channel| rgb_mask >> channel & 1 == 1),
            alpha_stored,
            reads: Vec::new(),
        }
    }

    /// Whether the RGB unit's operation has to be computed: for itself or for `ALPHA_DP`.
    #[must_use]
    pub fn rgb_computed(&self) -> bool {
        self.rgb_stored.contains(&true) || (self.alpha_stored && self.inst.alpha.op == AlphaOp::Dp)
    }

    /// Whether the alpha unit's operation has to be computed: for itself or for `RGB_SOP`.
    #[must_use]
    pub fn alpha_computed(&self) -> bool {
        self.alpha_stored || (self.rgb_stored.contains(&true) && self.inst.rgba.op == RgbOp::Sop)
    }

    /// The operands of one channel of the result (3 is alpha), whether anything stores it or not.
    #[must_use]
    pub fn reads_of(&self, channel: usize) -> Vec<Component> {
        let rgb_stored = std::array::from_fn(|c| c == channel);
        Self { rgb_stored, alpha_stored: channel == 3, reads: Vec::new(), ..self.clone() }.collect_reads()
    }

    fn collect_reads(&self) -> Vec<Component> {
        let mut reads = Vec::with_capacity(16);
        let (rgb_op, alpha_op) = (self.inst.rgba.op, self.inst.alpha.op);
        let alpha_dp = alpha_op == AlphaOp::Dp && self.alpha_stored && rgb_op.is_dot_product();
        if self.rgb_stored.contains(&true) || alpha_dp {
            let stored = self.rgb_stored.iter().enumerate().fold(0, |mask, (i, &stored)| mask | u8::from(stored) << i);
            // A dot product that only ALPHA_DP copies is read as a whole.
            let wanted = if alpha_dp { stored | 1 } else { stored };
            for (n, channel) in rgb_op.info().looked_at(wanted) {
                let (sel, swizzle) = match channel {
                    3 => (self.alpha_operands[n].sel, self.alpha_operands[n].swizzle),
                    _ => (self.rgb_operands[n].sel, self.rgb_operands[n].swizzle[channel]),
                };
                self.component(sel, swizzle, &mut reads);
            }
            if rgb_op.is_quad() {
                let stored = (0..3).filter(|&c| self.rgb_stored[c]);
                reads.extend(stored.map(|channel| Component { source: self.rgb_sources[0], channel }));
            }
        }
        if self.alpha_computed() {
            for (n, _) in alpha_op.info().looked_at(0b1000) {
                let operand = &self.alpha_operands[n];
                self.component(operand.sel, operand.swizzle, &mut reads);
            }
            if alpha_op.is_quad() {
                reads.push(Component { source: self.alpha_sources[0], channel: 3 });
            }
        }
        let mut once: Vec<Component> = Vec::with_capacity(reads.len());
        for read in reads {
            if !once.contains(&read) {
                once.push(read);
            }
        }
        once
    }

    /// Adds the read of one swizzled component: an alpha component comes from the alpha address, others from the RGB address (CTM
    /// §3.3.3); the presubtract reads src0, and src1 for SUB and ADD.
    fn component(&self, sel: Sel, swizzle: Swizzle, reads: &mut Vec<Component>) {
        let Some(channel) = channel_of(swizzle) else { return };
        let (sources, srcp_op) = if channel == 3 {
            (&self.alpha_sources, self.inst.alpha_addr.srcp_op)
        } else {
            (&self.rgb_sources, self.inst.rgb_addr.srcp_op)
        };
        let mut read = |index: usize| reads.push(Component { source: sources[index], channel });
        match sel {
            Sel::Src0 => read(0),
            Sel::Src1 => read(1),
            Sel::Src2 => read(2),
            Sel::Srcp => {
                read(0);
                if matches!(srcp_op, SrcpOp::Sub | SrcpOp::Add) {
                    read(1);
                }
            }
        }
    }
}

/// The channel that a swizzle reads, if it reads one.
#[must_use]
pub const fn channel_of(swizzle: Swizzle) -> Option<usize> {
    match swizzle {
        Swizzle::R => Some(0),
        Swizzle::G => Some(1),
        Swizzle::B => Some(2),
        Swizzle::A => Some(3),
        Swizzle::Zero | Swizzle::Half | Swizzle::One | Swizzle::Unused => None,
    }
}
