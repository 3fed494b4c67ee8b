//! Random programs in which every processor does the same: counted loops, lookups by linear functions of the index pair and of turns.

use super::{AlphaAddr, CONSTANTS, FlowControl, FlowRow, INTS, Maker, Random, RandomContents, TEMPS};
use crate::x1k::formats::TexAddr;
use crate::x1k::inst::{AluInst, Inst, Source};
use crate::x1k::ops::{AlphaOp, BOp, Channel, Class, FcOp, Imod, Omod, PredSel, RgbOp, SrcpOp, Swizzle, TexOp};
use crate::x1k::program::Program;

/// The number of floating-point constants for coordinates, from [`CONSTANTS`] on.
pub const COORDINATES: u32 = 8;
/// The first temporary that holds data; those before it hold the index pair and coordinates.
const DATA: u32 = 3;

/// The permitted contents of a program of [`stream`].
#[derive(Clone, Copy, Debug)]
pub struct StreamShape {
    /// About how many instructions.
    pub instructions: usize,
    /// The number of inputs that lookups name, from 0 on; 0: no lookups.
    pub inputs: u32,
    /// The number of outputs that get all channels, from 0 on, at most 4.
    pub outputs: u32,
    /// How deep counted loops are nested at most.
    pub loops: u32,
    /// Every instruction does the same to the four channels, or gives all of them one scalar.
    pub alike: bool,
    /// Constants may be addressed with aL.
    pub relative: bool,
}

/// A random program without any flow control but counted loops and branches on booleans, whose lookups are UNSCALED at linear functions
/// of r0 and of turns.
///
/// The integer constants 0 to 3 are the loops' turns. The host is to give r0 the index pair, or something linear; constants
/// [`CONSTANTS`] and up are factors, offsets and steps of coordinates.
#[must_use]
pub fn stream(seed: u64, shape: &StreamShape) -> Program {
    let mut random = Random::new(seed ^ 0x0057_12ea);
    let zero_times_anything = random.one_in(2);
    let of = RandomContents {
        instructions: shape.instructions,
        flow: FlowControl::Statements,
        inputs: shape.inputs,
        watches_idle_lanes: false,
        relative: false,
    };
    let mut make = Stream { make: Maker::new(random, of), shape: *shape, in_loop: false, depth: 0 };
    make.coordinates();
    make.body(shape.instructions, 0);
    for target in 0..shape.outputs.min(4) {
        let temp = if make.flag(6) { make.below(TEMPS) } else { DATA + make.below(TEMPS - DATA) };
        make.make.store(target as u8, temp as u8);
    }
    let mut program = Program::from_words(make.make.words);
    program.zero_times_anything = zero_times_anything;
    program
}

struct Stream {
    make: Maker,
    shape: StreamShape,
    /// A LOOP is around, so that aL means something.
    in_loop: bool,
    /// Loops around.
    depth: u32,
}

const CHANNELS: [Swizzle; 4] = [Swizzle::R, Swizzle::G, Swizzle::B, Swizzle::A];

impl Stream {
    fn flag(&mut self, one_in: u32) -> bool {
        self.make.flag(one_in)
    }

    fn below(&mut self, limit: u32) -> u32 {
        self.make.random.below(limit)
    }

    fn body(&mut self, budget: usize, depth: u32) {
        let end = self.make.words.len() + budget;
        loop {
            for _ in 0..1 + self.below(4) {
                self.instruction();
            }
            let left = end.saturating_sub(self.make.words.len());
            if left == 0 {
                return;
            }
            match self.below(5) {
                0 | 1 if depth < self.shape.loops => self.repeat(left / 2, depth),
                2 => self.by_boolean(left / 3, depth),
                _ => {}
            }
        }
    }

    fn instruction(&mut self) {
        match self.below(8) {
            0 | 1 if self.shape.inputs > 0 => self.lookup(),
            2 => self.coordinates(),
            _ => {
                let alu = self.data();
                self.make.push(Inst::Alu(alu));
            }
        }
    }

    /// LOOP or REP, with a step of coordinates in its body.
    fn repeat(&mut self, budget: usize, depth: u32) {
        let is_loop = self.flag(2);
        let (head, tail) = if is_loop { (FcOp::Loop, FcOp::EndLoop) } else { (FcOp::Rep, FcOp::EndRep) };
        let begin = self.make.flow(FlowRow { op: head, ..FlowRow::JUMP }, 0);
        let outer = self.in_loop;
        self.in_loop = is_loop;
        self.depth += 1;
        let late = self.flag(2);
        if !late {
            self.step();
        }
        self.body(budget, depth + 1);
        if late {
            self.step();
        }
        self.in_loop = outer;
        self.depth -= 1;
        let end = self.make.flow(FlowRow { func: 0xff, any: true, op: tail, ..FlowRow::JUMP }, begin as u16 + 1);
        self.make.patch(begin, end + 1);
        self.instruction();
    }

    /// A block that is jumped over when a boolean says so.
    fn by_boolean(&mut self, budget: usize, depth: u32) {
        let branch = self.make.flow(FlowRow { func: 0x55, b0: BOp::None, ..FlowRow::JUMP }, 0);
        self.body(budget, depth);
        self.make.patch(branch, self.make.words.len());
        self.instruction();
    }

    /// A MAD of whole registers: source 0 a register of coordinates, 1 and 2 constants or registers; both units alike.
    fn mad(&mut self, to: u32, sources: [Source; 3], swizzles: [[Swizzle; 4]; 3], masks: (u8, bool)) {
        let mut alu = self.make.both((RgbOp::Mad, AlphaOp::Mad), sources, swizzles, [Imod::Off; 3]);
        (alu.cmn.rgb_wmask, alu.cmn.alpha_wmask) = masks;
        (alu.rgba.addrd, alu.alpha.addrd) = (to as u8, to as u8);
        let negated = self.flag(5);
        if negated {
            (alu.rgb.imod_a, alu.alpha.imod_a) = (Imod::Neg, Imod::Neg);
        }
        self.make.push(Inst::Alu(alu));
    }

    fn constant(&mut self) -> Source {
        Source::Const { index: (CONSTANTS + self.below(COORDINATES)) as u8, relative: false }
    }

    fn any_channels(&mut self) -> [Swizzle; 4] {
        std::array::from_fn(|_| self.make.random.of(&CHANNELS))
    }

    /// New coordinates from old ones: times a constant plus a constant, or plus other coordinates. In loops r2 alone is made anew, from
    /// r0 and r1, and r1 alone takes steps: otherwise little would be linear.
    fn coordinates(&mut self) {
        let in_order = self.depth > 0 && !self.flag(24);
        let (to, from) = if in_order { (2, self.below(2)) } else { (1 + self.below(DATA - 1), self.below(DATA)) };
        let from = from as u8;
        let a = self.any_channels();
        let a_from = Source::Temp { index: if self.flag(2) { 0 } else { from }, relative: false };
        let (b_from, c_from) = (self.constant(), self.constant());
        let b = if self.flag(2) { [Swizzle::One; 4] } else { self.any_channels() };
        let (c_from, c) = match self.below(4) {
            0 => (c_from, [Swizzle::Zero; 4]),
            1 => (Source::Temp { index: from, relative: false }, self.any_channels()),
            2 => (c_from, [Swizzle::Half; 4]),
            _ => (c_from, self.any_channels()),
        };
        let masks = if self.flag(4) && !in_order { (self.below(8) as u8, self.flag(2)) } else { (7, true) };
        self.mad(to, [a_from, b_from, c_from], [a, b, c], masks);
    }

    /// Moves coordinates on by a constant.
    fn step(&mut self) {
        let to = if self.flag(24) { 2 } else { 1 };
        let c_from = self.constant();
        let register = Source::Temp { index: to as u8, relative: false };
        let c = self.any_channels();
        let masks = if self.flag(2) { (1 + self.below(3) as u8, false) } else { (7, true) };
        self.mad(to, [register, register, c_from], [CHANNELS, [Swizzle::One; 4], c], masks);
    }

    fn lookup(&mut self) {
        let Inst::Tex(mut tex) = self.make.tex() else { return };
        if matches!(tex.inst.op, TexOp::KillLt0 | TexOp::Dxdy | TexOp::Lod | TexOp::LookupProj) || !self.flag(12) {
            tex.inst.op = TexOp::Lookup;
        }
        tex.inst.unscaled = true;
        tex.inst.ignore_uncovered = false;
        (tex.cmn.rgb_pred_sel, tex.cmn.alpha_pred_sel) = (PredSel::None, PredSel::None);
        if tex.cmn.rgb_wmask == 0 || self.shape.alike {
            (tex.cmn.rgb_wmask, tex.cmn.alpha_wmask) = (7, true);
        }
        let mut from = self.below(DATA);
        if from == 2 && self.depth > 0 {
            // Its value from the last iteration is linear only by chance.
            self.coordinates();
            from = if self.flag(24) { 1 } else { 2 };
        }
        tex.addr.src_addr = from as u8;
        tex.addr.dst_addr = self.data_temp();
        if self.shape.alike && !self.flag(8) {
            let [dst_r_swiz, dst_g_swiz, dst_b_swiz, dst_a_swiz] = [Channel::R, Channel::G, Channel::B, Channel::A];
            tex.addr = TexAddr { dst_r_swiz, dst_g_swiz, dst_b_swiz, dst_a_swiz, ..tex.addr };
        }
        self.make.push(Inst::Tex(tex));
    }

    fn data_temp(&mut self) -> u8 {
        (DATA + self.below(TEMPS - DATA)) as u8
    }

    /// An instruction that computes with anything and writes data.
    fn data(&mut self) -> AluInst {
        let mut alu = self.make.alu();
        let cmn = &mut alu.cmn;
        (cmn.rgb_pred_sel, cmn.alpha_pred_sel) = (PredSel::None, PredSel::None);
        // Writes of a predicate or the ALU result stay: nothing reads them.
        cmn.write_inactive = false;
        alu.alpha.w_omask = false;
        alu.rgba.addrd = self.data_temp();
        alu.alpha.addrd = self.data_temp();
        if self.shape.relative && self.in_loop && self.flag(3) {
            alu.rgb_addr.addr1_const = true;
            alu.rgb_addr.addr1 %= CONSTANTS as u8;
            alu.rgb_addr.addr1_rel = true;
        }
        if self.shape.alike {
            self.make_alike(&mut alu);
        }
        alu
    }

    /// Makes the units do the same: every channel from its own place, or all from one.
    fn make_alike(&mut self, alu: &mut AluInst) {
        let single = |op: &&RgbOp| matches!(op.info().class, Class::Plain | Class::Choice);
        let pairs = RgbOp::ALL.iter().filter(single).filter_map(|&op| Some((op, op.alpha()?)));
        let pairs: Vec<_> = pairs.chain([(RgbOp::Mad, AlphaOp::Mad)]).collect();
        let scalars = [AlphaOp::Rcp, AlphaOp::Rsq, AlphaOp::Ex2, AlphaOp::Ln2, AlphaOp::Sin, AlphaOp::Cos];
        let one_for_all = self.flag(8);
        (alu.rgba.op, alu.alpha.op) =
            if one_for_all { (RgbOp::Sop, self.make.random.of(&scalars)) } else { self.make.random.of(&pairs) };
        (alu.cmn.rgb_wmask, alu.cmn.alpha_wmask) = (7, true);
        alu.cmn.alpha_omask = alu.cmn.rgb_omask != 0;
        if alu.cmn.alpha_omask {
            alu.cmn.rgb_omask = 7;
        }
        alu.cmn.alpha_clamp = alu.cmn.rgb_clamp;
        alu.alpha.target = alu.rgb.target;
        alu.alpha.addrd = alu.rgba.addrd;
        let sources = &alu.rgb_addr;
        alu.alpha_addr = AlphaAddr {
            addr0: sources.addr0,
            addr0_const: sources.addr0_const,
            addr0_rel: sources.addr0_rel,
            addr1: sources.addr1,
            addr1_const: sources.addr1_const,
            addr1_rel: sources.addr1_rel,
            addr2: sources.addr2,
            addr2_const: sources.addr2_const,
            addr2_rel: sources.addr2_rel,
            srcp_op: sources.srcp_op,
        };
        if !matches!(alu.rgb.omod, Omod::Disabled) || alu.rgba.op.info().omod_disabled() {
            alu.alpha.omod = alu.rgb.omod;
        }
        if matches!(alu.alpha.omod, Omod::Disabled) && !alu.alpha.op.info().omod_disabled() {
            (alu.rgb.omod, alu.alpha.omod) = (Omod::U1, Omod::U1);
        }
        if matches!(alu.rgb.omod, Omod::Disabled) && !alu.rgba.op.info().omod_disabled() {
            (alu.rgb.omod, alu.alpha.omod) = (Omod::U1, Omod::U1);
        }
        (alu.alpha.sel_a, alu.alpha.sel_b, alu.rgba.alpha_sel_c) = (alu.rgb.sel_a, alu.rgb.sel_b, alu.rgba.rgb_sel_c);
        (alu.alpha.imod_a, alu.alpha.imod_b, alu.rgba.alpha_imod_c) =
            (alu.rgb.imod_a, alu.rgb.imod_b, alu.rgba.rgb_imod_c);
        let [a, b, c]: [[Swizzle; 4]; 3] =
            std::array::from_fn(|_| if self.flag(3) { [self.make.swizzle(); 4] } else { CHANNELS });
        [alu.rgb.red_swiz_a, alu.rgb.green_swiz_a, alu.rgb.blue_swiz_a, alu.alpha.swiz_a] = a;
        [alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b, alu.alpha.swiz_b] = b;
        [alu.rgba.red_swiz_c, alu.rgba.green_swiz_c, alu.rgba.blue_swiz_c, alu.rgba.alpha_swiz_c] = c;
        if self.flag(3) {
            let srcp = self.make.random.of(SrcpOp::ALL);
            (alu.rgb_addr.srcp_op, alu.alpha_addr.srcp_op) = (srcp, srcp);
        }
    }
}

const _: () = assert!(INTS == 4 && DATA < TEMPS);
