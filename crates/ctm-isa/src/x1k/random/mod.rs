//! Random legal programs, for tests that compare engines and for fuzzing.
//!
//! The same seed gives the same program. Programs use few registers, so that instructions depend on each other, and every field
//! that an engine looks at: swizzles, input and output modifiers, presubtract, predicates, partial masks, relative addresses, KILL,
//! lookups, and flow control either from the statements of CTM §3.5.4 or with every field at random. [`stream`] makes programs in which
//! every processor does the same.

mod stream;

use super::formats::{AlphaAddr, AlphaInst, CmnInst, FcAddr, FcInst, RgbAddr, RgbInst, RgbaInst, TexAddr, TexInst};
use super::inst::{AluInst, FcInstruction, Inst, Source, TexInstruction, Words};
use super::ops::{
    AOp, AlphaOp, AluResultSel, BOp, Channel, CompareOp, FcOp, Imod, InstType, Omod, PredSel, RgbOp, Sel, SrcpOp,
    Swizzle, TexOp,
};
use super::program::Program;
pub use stream::{COORDINATES, StreamShape, stream};

/// Values on which arithmetic goes wrong first: zeros, ones, extremes, denormals, infinities, NaNs of several patterns.
pub const SPECIAL: &[u32] = &[
    0x0000_0000,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0xbf00_0000,
    0x0080_0000,
    0x8080_0000,
    0x007f_ffff,
    0x807f_ffff,
    0x0000_0001,
    0x8000_0001,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f00_0000,
    0x0100_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fff_ffff,
    0xffff_ffff,
    0x7fc0_0000,
    0x7f80_0001,
    0xffc1_2345,
    0x4b80_0000,
    0x4b7f_ffff,
    0x3eff_ffff,
    0x3f00_0001,
    0x42fe_0000,
    0xc2fc_0000,
    // What the output modifiers move over the ends of the range, or just not.
    0x7eff_ffff,
    0xfeff_ffff,
    0x7e80_0000,
    0x7dff_ffff,
    0x7c7f_ffff,
    0x00ff_ffff,
    0x80ff_ffff,
    0x017f_ffff,
    0x0180_0000,
    0x03ff_ffff,
    0x8280_0000,
    // 2^-75 and 2^64: their squares are at the ends.
    0x1a00_0000,
    0x5f80_0000,
    // Where coordinates leave what integers hold, or what is exact: +-2^31, 2^32, 2^40, 65536 and its neighbours, 4095.5, -1/256.
    0x4f00_0000,
    0xcf00_0000,
    0x4eff_ffff,
    0x4f80_0000,
    0x5380_0000,
    0xd380_0000,
    0x4780_0000,
    0x477f_ff80,
    0x4780_0040,
    0xc780_0000,
    0x457f_f800,
    0xbb80_0000,
    // Steps and halves below them; arguments of EX2 at its ends.
    0x3f7f_ffff,
    0x3f80_0001,
    0x4300_0000,
    0x42ff_ffff,
    0xc315_0000,
    0xc315_8000,
];

/// A small generator of random numbers (splitmix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// A generator with this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub const fn below(&mut self, limit: u32) -> u32 {
        (((self.bits() >> 32) * limit as u64) >> 32) as u32
    }

    /// True once in `n` times.
    pub const fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// One of the items.
    pub const fn of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u32) as usize]
    }

    /// The bits of a single-precision number: often a special one, often of moderate size, sometimes anything.
    pub fn value(&mut self) -> u32 {
        match self.below(8) {
            0 | 1 => self.of(SPECIAL),
            2 => self.bits() as u32,
            3 => (self.below(17) as f32 - 8.0).to_bits(),
            _ => ((self.below(1 << 24) as f32 / (1 << 20) as f32 - 8.0) * 0.75).to_bits(),
        }
    }
}

/// How jumps are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowControl {
    /// None.
    None,
    /// By the statements of CTM §3.5.4, properly nested.
    Statements,
    /// Every field of every flow-control instruction at random.
    Raw,
}

/// What a random program may contain.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// About how many instructions.
    pub instructions: usize,
    /// How jumps are made.
    pub flow: FlowControl,
    /// Inputs that lookups name: so many from 0 on; 0: no lookups.
    pub inputs: u32,
    /// WRITE_INACTIVE and quad operations may occur.
    pub watches_idle_lanes: bool,
    /// Relative addresses may occur.
    pub relative: bool,
}

/// Temporaries that programs use.
pub const TEMPS: u32 = 6;
/// Floating-point constants that programs use.
pub const CONSTANTS: u32 = 12;
/// Integer constants that programs use.
pub const INTS: u32 = 4;

/// A random program.
#[must_use]
pub fn program(seed: u64, shape: &Shape) -> Program {
    let mut random = Random::new(seed);
    let zero_times_anything = random.one_in(2);
    let mut make =
        Maker { random, shape: *shape, words: Vec::new(), subroutine: None, in_subroutine: false, compiled: false };
    let mut first = 0;
    match shape.flow {
        FlowControl::None => make.straight(shape.instructions),
        FlowControl::Statements => {
            make.compiled = make.random.one_in(3);
            if make.random.one_in(3) {
                make.in_subroutine = true;
                make.statements(shape.instructions / 4, 1, 0);
                make.flow(Row { func: 0xff, a_op: AOp::Pop, b1: BOp::Decr, count: 1, ..Row::JUMP }, 0);
                make.in_subroutine = false;
                make.subroutine = Some(0);
                first = make.words.len() as u16;
            }
            make.statements(shape.instructions, 0, 0);
        }
        FlowControl::Raw => {
            for _ in 0..shape.instructions {
                if make.random.one_in(3) {
                    make.raw_flow(shape.instructions as u32);
                } else {
                    make.straight(1);
                }
            }
        }
    }
    make.stores();
    let mut program = Program::from_words(make.words);
    program.first = first;
    program.zero_times_anything = zero_times_anything;
    program.conditional_value = make.random.one_in(2);
    if shape.flow == FlowControl::Raw && make.random.one_in(4) {
        program.full_flow_control = false;
    }
    program
}

/// A row of the table of CTM §3.5.4.
#[derive(Clone, Copy)]
struct Row {
    func: u8,
    any: bool,
    op: FcOp,
    a_op: AOp,
    b0: BOp,
    b1: BOp,
    count: u8,
    b_else: bool,
}

impl Row {
    const JUMP: Self = Self {
        func: 0,
        any: false,
        op: FcOp::Jump,
        a_op: AOp::None,
        b0: BOp::None,
        b1: BOp::None,
        count: 0,
        b_else: false,
    };
}

struct Maker {
    random: Random,
    shape: Shape,
    words: Vec<Words>,
    subroutine: Option<u16>,
    in_subroutine: bool,
    /// As Mesa's compiler writes flow control: uncovered processors never vote, and a loop that nobody enters jumps to its end.
    compiled: bool,
}

/// A loop that is open: where it begins, whether it is a LOOP, branch blocks opened in it, and the jumps to patch.
struct Loop {
    is_loop: bool,
    branches: u8,
    to_end: Vec<usize>,
    behind: Vec<usize>,
}

impl Maker {
    fn flag(&mut self, one_in: u32) -> bool {
        self.random.one_in(one_in)
    }

    fn push(&mut self, inst: Inst) -> usize {
        self.words.push(inst.encode());
        self.words.len() - 1
    }

    fn straight(&mut self, count: usize) {
        for _ in 0..count {
            let inst = if self.shape.inputs > 0 && self.flag(6) { self.tex() } else { Inst::Alu(self.alu()) };
            self.push(inst);
        }
    }

    /// Writes what most temporaries hold to the outputs, bit for bit.
    fn stores(&mut self) {
        for target in 0..4 {
            self.store(target, target);
        }
    }

    /// Writes what a temporary holds to an output, bit for bit.
    fn store(&mut self, target: u8, temp: u8) {
        let mut alu = AluInst::idle(InstType::Output);
        alu.cmn.rgb_omask = 7;
        alu.cmn.alpha_omask = true;
        alu.rgb_addr = RgbAddr { addr0: temp, addr0_const: false, ..alu.rgb_addr };
        alu.alpha_addr = AlphaAddr { addr0: temp, addr0_const: false, ..alu.alpha_addr };
        alu.rgba.op = RgbOp::Max;
        alu.alpha.op = AlphaOp::Max;
        let rgb = [Swizzle::R, Swizzle::G, Swizzle::B];
        [alu.rgb.red_swiz_a, alu.rgb.green_swiz_a, alu.rgb.blue_swiz_a] = rgb;
        [alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b] = rgb;
        (alu.alpha.swiz_a, alu.alpha.swiz_b) = (Swizzle::A, Swizzle::A);
        (alu.rgb.omod, alu.alpha.omod) = (Omod::Disabled, Omod::Disabled);
        (alu.rgb.target, alu.alpha.target) = (target, target);
        self.push(Inst::Alu(alu));
    }

    fn temp(&mut self) -> u8 {
        self.random.below(TEMPS) as u8
    }

    fn relative(&mut self) -> bool {
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

    fn swizzle(&mut self) -> Swizzle {
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

    fn cmn(&mut self, kind: InstType) -> CmnInst {
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

    fn omod(&mut self, disabled: bool) -> Omod {
        match self.random.below(4) {
            0 => self.random.of(&Omod::ALL[..7]),
            1 if disabled => Omod::Disabled,
            _ => Omod::U1,
        }
    }

    fn alu(&mut self) -> AluInst {
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

    fn tex(&mut self) -> Inst {
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
        let dxdy = super::formats::TexAddrDxDy::decode(0)
            .unwrap_or_else(|_| unreachable!("every field of TEX_ADDR_DXDY allows 0"));
        Inst::Tex(TexInstruction { cmn, inst, addr, dxdy })
    }

    /// A flow-control instruction from a row; its condition's predicate and constants are random.
    fn flow(&mut self, row: Row, target: u16) -> usize {
        let mut cmn = CmnInst::decode(0).unwrap_or_else(|_| unreachable!("every field of CMN_INST allows 0"));
        cmn.kind = InstType::Fc;
        cmn.alu_wait = true;
        cmn.rgb_pred_sel = self.random.of(&[PredSel::Rrrr, PredSel::Gggg, PredSel::Bbbb, PredSel::Aaaa]);
        cmn.rgb_pred_inv = self.flag(2);
        let inst = FcInst {
            op: row.op,
            b_else: row.b_else,
            jump_any: row.any,
            a_op: row.a_op,
            jump_func: row.func,
            b_pop_cnt: row.count,
            b_op0: row.b0,
            b_op1: row.b1,
            ignore_uncovered: self.compiled || self.flag(4),
        };
        let addr = FcAddr {
            bool_addr: self.random.below(4) as u8,
            int_addr: self.random.below(INTS) as u8,
            jump_addr: target,
            jump_global: false,
        };
        self.push(Inst::Fc(FcInstruction { cmn, inst, addr }))
    }

    /// Sets the jump address of an instruction.
    fn patch(&mut self, at: usize, target: usize) {
        if let Ok(Inst::Fc(mut fc)) = Inst::decode(&self.words[at]) {
            fc.addr.jump_addr = target as u16;
            self.words[at] = Inst::Fc(fc).encode();
        }
    }

    fn statements(&mut self, budget: usize, depth: u32, loops: u32) {
        self.body(budget, depth, loops, &mut None);
    }

    fn body(&mut self, budget: usize, depth: u32, loops: u32, open: &mut Option<Loop>) {
        let end = self.words.len() + budget;
        while self.words.len() < end {
            let left = end - self.words.len();
            let straight = 1 + self.random.below(4) as usize;
            self.straight(straight);
            if depth >= 5 {
                continue;
            }
            let inner = (left / 2).min(12);
            match self.random.below(7) {
                0 | 1 => self.branch(inner, depth, loops, open),
                2 if loops < 3 && !self.in_subroutine => self.repeat(inner, depth, loops),
                3 | 4 => self.leave(open),
                5 => {
                    if let (Some(subroutine), false) = (self.subroutine, self.in_subroutine) {
                        let func = self.random.of(&[0xff, 0xaa, 0xcc, 0xf0]);
                        let row = Row { func, any: true, a_op: AOp::Push, b1: BOp::Incr, ..Row::JUMP };
                        self.flow(row, subroutine);
                    }
                }
                _ => {}
            }
        }
    }

    /// IF, with or without ELSE.
    fn branch(&mut self, budget: usize, depth: u32, loops: u32, open: &mut Option<Loop>) {
        let has_else = self.flag(2);
        if self.flag(5) {
            let branch = self.flow(Row { func: 0x55, ..Row::JUMP }, 0);
            self.body(budget, depth + 1, loops, open);
            if has_else {
                let over = self.flow(Row { func: 0xff, ..Row::JUMP }, 0);
                self.patch(branch, self.words.len());
                self.body(budget, depth + 1, loops, open);
                self.patch(over, self.words.len());
            } else {
                self.patch(branch, self.words.len());
            }
            // A jump to the very end would leave nothing there.
            self.straight(1);
            return;
        }
        let b1 = if has_else { BOp::Incr } else { BOp::None };
        let func = self.random.of(&[0x0f, 0x33]);
        let branch = self.flow(Row { func, b0: BOp::Incr, b1, ..Row::JUMP }, 0);
        if let Some(open) = open {
            open.branches += 1;
        }
        self.body(budget, depth + 1, loops, open);
        let mut to_end = branch;
        if has_else {
            to_end = self.flow(Row { b1: BOp::Decr, count: 1, b_else: true, ..Row::JUMP }, 0);
            self.patch(branch, self.words.len());
            self.body(budget, depth + 1, loops, open);
        }
        if let Some(open) = open {
            open.branches -= 1;
        }
        self.flow(Row { any: true, b0: BOp::Decr, count: 1, ..Row::JUMP }, 0);
        self.patch(to_end, self.words.len());
        self.straight(1);
    }

    /// LOOP or REP.
    fn repeat(&mut self, budget: usize, depth: u32, loops: u32) {
        let is_loop = self.flag(2);
        let (head, tail) = if is_loop { (FcOp::Loop, FcOp::EndLoop) } else { (FcOp::Rep, FcOp::EndRep) };
        let begin = self.flow(Row { op: head, ..Row::JUMP }, 0);
        let mut open = Some(Loop { is_loop, branches: 0, to_end: Vec::new(), behind: Vec::new() });
        self.body(budget, depth + 1, loops + 1, &mut open);
        let end = self.flow(Row { func: 0xff, any: true, op: tail, ..Row::JUMP }, begin as u16 + 1);
        self.patch(begin, if self.compiled { end } else { end + 1 });
        if let Some(open) = open {
            open.to_end.into_iter().for_each(|at| self.patch(at, end));
            open.behind.into_iter().for_each(|at| self.patch(at, end + 1));
        }
        self.straight(1);
    }

    /// BREAK or CONTINUE, conditional or not.
    fn leave(&mut self, open: &mut Option<Loop>) {
        let Some(open) = open else { return };
        let func = self.random.of(&[0xff, 0xaa, 0xcc, 0xf0, 0xf0, 0xf0]);
        let row = Row { func, b1: BOp::Decr, count: open.branches, ..Row::JUMP };
        if self.flag(3) {
            let at = self.flow(Row { op: FcOp::Continue, ..row }, 0);
            open.to_end.push(at);
        } else {
            let op = if open.is_loop { FcOp::BreakLoop } else { FcOp::BreakRep };
            let at = self.flow(Row { op, ..row }, 0);
            open.behind.push(at);
        }
    }

    fn raw_flow(&mut self, instructions: u32) {
        let row = Row {
            func: self.random.bits() as u8,
            any: self.flag(2),
            op: if self.flag(2) { FcOp::Jump } else { self.random.of(FcOp::ALL) },
            a_op: if self.flag(6) { self.random.of(AOp::ALL) } else { AOp::None },
            b0: self.random.of(BOp::ALL),
            b1: self.random.of(BOp::ALL),
            count: self.random.below(4) as u8,
            b_else: self.flag(4),
        };
        let target = self.random.below(instructions + 4) as u16;
        self.flow(row, target);
    }
}

/// An address word of these sources: number, whether a constant, whether relative.
pub(super) const fn rgb_addr([a, b, c]: [(u8, bool, bool); 3], srcp_op: SrcpOp) -> RgbAddr {
    RgbAddr {
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

/// An address word of these sources: number, whether a constant, whether relative.
pub(super) const fn alpha_addr([a, b, c]: [(u8, bool, bool); 3], srcp_op: SrcpOp) -> AlphaAddr {
    AlphaAddr {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_decodes_and_seeds_repeat() {
        for flow in [FlowControl::None, FlowControl::Statements, FlowControl::Raw] {
            let shape = Shape { instructions: 30, flow, inputs: 2, watches_idle_lanes: true, relative: true };
            for seed in 0..50 {
                let made = program(seed, &shape);
                assert_eq!(made.words, program(seed, &shape).words);
                assert!(made.words.len() <= super::super::INSTRUCTION_SLOTS);
                assert!(made.words.iter().all(|words| Inst::decode(words).is_ok()));
            }
        }
        for seed in 0..100 {
            let (alike, relative) = (seed % 2 == 0, seed % 3 == 0);
            let shape = StreamShape { instructions: 20, inputs: 4, outputs: 2, loops: 3, alike, relative };
            let made = stream(seed, &shape);
            assert_eq!(made.words, stream(seed, &shape).words);
            assert!(made.words.len() <= super::super::INSTRUCTION_SLOTS);
            assert!(made.words.iter().all(|words| Inst::decode(words).is_ok()));
        }
    }
}
