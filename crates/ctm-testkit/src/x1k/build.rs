//! Instructions for tests, field by field, and a run of them.

use ctm_exec::x1k::{Arrays, Constants, Launch, Memory, Plane};
use ctm_exec::{Budget, Domain, Engine, Fault, GroupSize, Interp, Outcome};
use ctm_isa::x1k::formats::{CmnInst, FcAddr, FcInst, TexAddr, TexAddrDxDy, TexInst};
use ctm_isa::x1k::inst::{AluInst, FcInstruction, Source, TexInstruction};
use ctm_isa::x1k::ops::{AlphaOp, Channel, FcOp, InstType, Omod, RgbOp, Sel, Swizzle, TexOp};
use ctm_isa::x1k::{Inst, Program, Words};

/// A temporary.
pub fn r(index: u8) -> Source {
    Source::Temp { index, relative: false }
}

/// A constant.
pub fn c(index: u8) -> Source {
    Source::Const { index, relative: false }
}

/// An instruction of both halves, `A op B`, sources 0, 1, 2 being `sources`; nothing is stored yet.
pub fn op(rgb: RgbOp, alpha: AlphaOp, sources: &[Source]) -> AluInst {
    let mut alu = AluInst::idle(InstType::Alu);
    (alu.rgba.op, alu.alpha.op) = (rgb, alpha);
    let fields = |i: usize| sources.get(i).copied().unwrap_or(Source::IDLE).fields();
    let a = &mut alu.rgb_addr;
    (a.addr0, a.addr0_const, a.addr0_rel) = fields(0);
    (a.addr1, a.addr1_const, a.addr1_rel) = fields(1);
    (a.addr2, a.addr2_const, a.addr2_rel) = fields(2);
    let a = &mut alu.alpha_addr;
    (a.addr0, a.addr0_const, a.addr0_rel) = fields(0);
    (a.addr1, a.addr1_const, a.addr1_rel) = fields(1);
    (a.addr2, a.addr2_const, a.addr2_rel) = fields(2);
    let identity = [Swizzle::R, Swizzle::G, Swizzle::B];
    [alu.rgb.red_swiz_a, alu.rgb.green_swiz_a, alu.rgb.blue_swiz_a] = identity;
    [alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b] = identity;
    [alu.rgba.red_swiz_c, alu.rgba.green_swiz_c, alu.rgba.blue_swiz_c] = identity;
    (alu.alpha.swiz_a, alu.alpha.swiz_b, alu.rgba.alpha_swiz_c) = (Swizzle::A, Swizzle::A, Swizzle::A);
    (alu.rgb.sel_b, alu.alpha.sel_b) = (Sel::Src1, Sel::Src1);
    (alu.rgba.rgb_sel_c, alu.rgba.alpha_sel_c) = (Sel::Src2, Sel::Src2);
    alu
}

/// A copy of the bits of a whole register: MAX with itself, the output modifier disabled.
pub fn copy(source: Source) -> AluInst {
    let mut alu = op(RgbOp::Max, AlphaOp::Max, &[source, source]);
    (alu.rgb.omod, alu.alpha.omod) = (Omod::Disabled, Omod::Disabled);
    alu
}

/// `A + B`, as `A*1 + B`.
pub fn add(a: Source, b: Source) -> AluInst {
    let mut alu = op(RgbOp::Mad, AlphaOp::Mad, &[a, a, b]);
    [alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b] = [Swizzle::One; 3];
    alu.alpha.swiz_b = Swizzle::One;
    alu
}

/// Building an instruction further.
pub trait Build: Sized {
    /// The words.
    fn words(self) -> Words;
    /// After a change.
    fn with(self, change: impl FnOnce(&mut Self)) -> Self {
        let mut changed = self;
        change(&mut changed);
        changed
    }
}

impl Build for AluInst {
    fn words(self) -> Words {
        Inst::Alu(self).encode()
    }
}

impl Build for TexInstruction {
    fn words(self) -> Words {
        Inst::Tex(self).encode()
    }
}

impl Build for FcInstruction {
    fn words(self) -> Words {
        Inst::Fc(self).encode()
    }
}

/// Writes all channels to a temporary.
pub fn to(alu: AluInst, temp: u8) -> AluInst {
    alu.with(|alu| {
        (alu.cmn.rgb_wmask, alu.cmn.alpha_wmask) = (7, true);
        (alu.rgba.addrd, alu.alpha.addrd) = (temp, temp);
    })
}

/// Writes all channels to output 0.
pub fn out(alu: AluInst) -> AluInst {
    alu.with(|alu| {
        alu.cmn.kind = InstType::Output;
        (alu.cmn.rgb_omask, alu.cmn.alpha_omask) = (7, true);
    })
}

/// A lookup of all channels at unscaled (r, g) of `from`.
pub fn tex(operation: TexOp, id: u8, from: u8, dst: u8) -> TexInstruction {
    TexInstruction {
        cmn: CmnInst { kind: InstType::Tex, rgb_wmask: 7, alpha_wmask: true, ..CmnInst::decode(0).unwrap() },
        inst: TexInst { op: operation, tex_id: id, unscaled: true, ..TexInst::decode(0).unwrap() },
        addr: TexAddr {
            src_addr: from,
            dst_addr: dst,
            src_t_swiz: Channel::G,
            src_r_swiz: Channel::B,
            src_q_swiz: Channel::A,
            dst_g_swiz: Channel::G,
            dst_b_swiz: Channel::B,
            dst_a_swiz: Channel::A,
            ..TexAddr::decode(0).unwrap()
        },
        dxdy: TexAddrDxDy::decode(0).unwrap(),
    }
}

/// A flow-control instruction.
pub fn fc(operation: FcOp, jump_func: u8, target: u16) -> FcInstruction {
    FcInstruction {
        cmn: CmnInst { kind: InstType::Fc, ..CmnInst::decode(0).unwrap() },
        inst: FcInst { op: operation, jump_func, ..FcInst::decode(0).unwrap() },
        addr: FcAddr { jump_addr: target, ..FcAddr::decode(0).unwrap() },
    }
}

/// A program in full flow-control mode.
pub fn program(words: Vec<Words>) -> Program {
    Program { full_flow_control: true, ..Program::from_words(words) }
}

/// How a test launches.
pub struct Setup {
    pub constants: Constants,
    pub planes: Vec<Plane>,
    pub domain: Domain,
    pub group: u16,
    pub budget: Budget,
    pub threads: usize,
    pub checks: bool,
}

impl Default for Setup {
    /// Columns and rows 0..=3 in groups of 16, the index pair in r0, constant n being (n, n + 0.25, n + 0.5, n + 0.75).
    fn default() -> Self {
        let mut constants = Constants::default();
        for (n, constant) in constants.float.iter_mut().enumerate() {
            *constant = [0.0, 0.25, 0.5, 0.75].map(|f| (n as f32 + f).to_bits());
        }
        Self {
            constants,
            planes: vec![Plane::position(0)],
            domain: Domain { i0: 0, j0: 0, i1: 3, j1: 3 },
            group: 16,
            budget: Budget { instructions_per_group: Some(10_000), time: None },
            threads: 1,
            checks: false,
        }
    }
}

impl Setup {
    pub fn run(&self, program: &Program, memory: &mut dyn Memory) -> Result<Outcome, Fault> {
        let launch = Launch {
            program,
            constants: &self.constants,
            planes: &self.planes,
            rows: &[],
            domain: self.domain,
            group: GroupSize::new(self.group).unwrap(),
            draw: ctm_exec::x1k::DrawParts::default(),
            budget: self.budget,
            threads: self.threads,
            checks: self.checks,
            counters: true,
        };
        Interp.run_x1k(&launch, memory)
    }
}

/// Element (x, y) of output 0 as numbers.
pub fn at(memory: &Arrays, x: u32, y: u32) -> [f32; 4] {
    memory.outputs[0].as_ref().unwrap().get(x, y).unwrap().map(f32::from_bits)
}
