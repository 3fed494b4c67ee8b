//! Reads the run vectors of `tests/vectors/x1k/run` and turns each line into programs with expected results.
//!
//! The files explain their lines. Every line becomes one or more whole programs that go through an engine; other engines' tests use
//! this file too.

use ctm_exec::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Filter, Launch, Plane, Sampler, Wrap};
use ctm_exec::{Budget, Domain, Engine, GroupSize};
use ctm_isa::x1k::formats::{CmnInst, FcAddr, FcInst, TexAddr, TexAddrDxDy, TexInst};
use ctm_isa::x1k::inst::{AluInst, FcInstruction, TexInstruction};
use ctm_isa::x1k::ops::{
    AlphaOp, AluResultSel, Channel, CompareOp, Imod, InstType, Omod, PredSel, RenderTarget, RgbOp, Sel, SrcpOp,
    Swizzle, TexOp,
};
use ctm_isa::x1k::{Inst, Program, Words};
use std::collections::BTreeSet;

/// One program and its expected results.
pub struct Case {
    /// Instructions.
    pub words: Vec<Words>,
    /// Constants c0, c1, ...
    pub constants: Vec<[u32; 4]>,
    /// r0 at the start.
    pub r0: [u32; 4],
    /// US_CONFIG bit 1.
    pub zero_times_anything: bool,
    /// Input 0.
    pub sampler: Sampler,
    /// Per output and channel: the bits, or `None` for one that is left alone.
    pub expected: [[Option<u32>; 4]; 4],
}

/// A line of a file.
pub struct RunVector {
    /// `file:line: text`.
    pub at: String,
    /// The citation above it.
    pub truth: String,
    /// Verb and name, such as `alu MAD`.
    pub subject: (String, String),
    /// Its programs.
    pub cases: Vec<Case>,
}

/// Every line of every file.
pub fn all() -> Vec<RunVector> {
    let mut vectors = Vec::new();
    for file in ["alu.txt", "fields.txt", "tex.txt"] {
        let text = crate::run_vectors(&format!("x1k/run/{file}"));
        let mut truth = String::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if let Some(citation) = line.strip_prefix("truth ") {
                truth = citation.to_string();
            } else if !line.is_empty() && !line.starts_with('#') {
                assert!(!truth.is_empty(), "{file}:{}: no truth", number + 1);
                let at = format!("{file}:{}: {line}", number + 1);
                vectors.push(parse(&at, &truth, line));
            }
        }
    }
    vectors
}

/// The value that a token means.
pub fn value(token: &str) -> u32 {
    if let Some(rest) = token.strip_prefix('-') {
        return value(rest) ^ 0x8000_0000;
    }
    match token {
        "inf" => 0x7f80_0000,
        "nan" => 0x7fff_ffff,
        "den" => 1,
        "max" => 0x7f7f_ffff,
        "tiny" => 0x0080_0000,
        _ => match token.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).unwrap(),
            None => token.parse::<f32>().unwrap_or_else(|_| panic!("`{token}` is no value")).to_bits(),
        },
    }
}

/// `r,g,b,a`; one value means all four, missing ones are 0.
fn vector(token: &str) -> [u32; 4] {
    let values: Vec<u32> = token.split(',').map(value).collect();
    if let [x] = values[..] { [x; 4] } else { std::array::from_fn(|c| values.get(c).copied().unwrap_or(0)) }
}

fn parse(at: &str, truth: &str, line: &str) -> RunVector {
    let (head, rest) = line.split_once(" :").unwrap_or_else(|| panic!("{at}: no `:`"));
    let (inputs, result) = rest.split_once('=').unwrap_or_else(|| panic!("{at}: no `=`"));
    let mut words = head.split_whitespace();
    let (verb, name) = (words.next().unwrap(), words.next().unwrap());
    let flags: Vec<&str> = words.collect();
    let operands: Vec<[u32; 4]> = inputs.split_whitespace().map(vector).collect();
    let result = result.trim();
    let line = VectorLine { at, name, flags: &flags, operands: &operands, result };
    let cases = match verb {
        "alu" => line.alu(),
        "fn" => line.function(),
        "imod" => line.imod(),
        "swizzle" => line.swizzle(),
        "source" => line.source(),
        "srcp" => line.presubtract(),
        "inline" => line.inline_constant(),
        "compare" => line.compare(),
        "pred" => line.predicate(),
        "target" => line.target(),
        "tex" => line.texture(),
        "kill" => line.kill(),
        _ => panic!("{at}: `{verb}` is no verb"),
    };
    RunVector { at: at.into(), truth: truth.into(), subject: (verb.into(), name.into()), cases }
}

struct VectorLine<'a> {
    at: &'a str,
    name: &'a str,
    flags: &'a [&'a str],
    operands: &'a [[u32; 4]],
    result: &'a str,
}

/// An OUTPUT instruction that writes all of output 0: A, B, C are c0, c1, c2, each channel its own.
fn output() -> AluInst {
    let mut alu = AluInst::idle(InstType::Output);
    (alu.cmn.rgb_omask, alu.cmn.alpha_omask) = (7, true);
    for addr in [&mut alu.rgb_addr.addr0, &mut alu.alpha_addr.addr0] {
        *addr = 0;
    }
    for addr in [&mut alu.rgb_addr.addr1, &mut alu.alpha_addr.addr1] {
        *addr = 1;
    }
    for addr in [&mut alu.rgb_addr.addr2, &mut alu.alpha_addr.addr2] {
        *addr = 2;
    }
    let a = &mut alu.rgb_addr;
    (a.addr0_const, a.addr1_const, a.addr2_const) = (true, true, true);
    let a = &mut alu.alpha_addr;
    (a.addr0_const, a.addr1_const, a.addr2_const) = (true, true, true);
    let identity = [Swizzle::R, Swizzle::G, Swizzle::B];
    [alu.rgb.red_swiz_a, alu.rgb.green_swiz_a, alu.rgb.blue_swiz_a] = identity;
    [alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b] = identity;
    [alu.rgba.red_swiz_c, alu.rgba.green_swiz_c, alu.rgba.blue_swiz_c] = identity;
    (alu.alpha.swiz_a, alu.alpha.swiz_b, alu.rgba.alpha_swiz_c) = (Swizzle::A, Swizzle::A, Swizzle::A);
    (alu.rgb.sel_b, alu.alpha.sel_b) = (Sel::Src1, Sel::Src1);
    (alu.rgba.rgb_sel_c, alu.rgba.alpha_sel_c) = (Sel::Src2, Sel::Src2);
    alu
}

/// As [`output`], copying operand A bit by bit: CMP with a C of 0.
fn copy_a() -> AluInst {
    let mut alu = output();
    (alu.rgba.op, alu.alpha.op) = (RgbOp::Cmp, AlphaOp::Cmp);
    (alu.rgb.omod, alu.alpha.omod) = (Omod::Disabled, Omod::Disabled);
    [alu.rgba.red_swiz_c, alu.rgba.green_swiz_c, alu.rgba.blue_swiz_c] = [Swizzle::Zero; 3];
    alu.rgba.alpha_swiz_c = Swizzle::Zero;
    alu
}

/// Turns `OUTPUT o0 = c0` into `r0 = ...` or `... = r0`.
fn read_r0(alu: &mut AluInst) {
    (alu.rgb_addr.addr0, alu.rgb_addr.addr0_const) = (0, false);
    (alu.alpha_addr.addr0, alu.alpha_addr.addr0_const) = (0, false);
}

fn all_of(bits: u32) -> [[Option<u32>; 4]; 4] {
    [[Some(bits); 4], [None; 4], [None; 4], [None; 4]]
}

fn case(insts: &[Inst], constants: Vec<[u32; 4]>, expected: [[Option<u32>; 4]; 4]) -> Case {
    Case {
        words: insts.iter().map(Inst::encode).collect(),
        constants,
        r0: [0; 4],
        zero_times_anything: false,
        sampler: Sampler::default(),
        expected,
    }
}

impl VectorLine<'_> {
    fn has(&self, flag: &str) -> bool {
        self.flags.contains(&flag)
    }

    fn omod(&self) -> Omod {
        self.flags.iter().find_map(|flag| Omod::from_name(flag)).unwrap_or(Omod::U1)
    }

    fn named<T>(&self, value: Option<T>) -> T {
        value.unwrap_or_else(|| panic!("{}: no such row: {}", self.at, self.name))
    }

    fn modify(&self, alu: &mut AluInst) {
        (alu.rgb.omod, alu.alpha.omod) = (self.omod(), self.omod());
        (alu.cmn.rgb_clamp, alu.cmn.alpha_clamp) = (self.has("clamp"), self.has("clamp"));
    }

    fn alu(&self) -> Vec<Case> {
        let mut alu = output();
        self.modify(&mut alu);
        alu.rgba.op = self.named(RgbOp::from_name(self.name));
        // A dot product is copied by the alpha unit; DP4 takes its fourth pair from the alpha unit's operands.
        alu.alpha.op =
            if alu.rgba.op.is_dot_product() { AlphaOp::Dp } else { self.named(AlphaOp::from_name(self.name)) };
        let mut case = case(&[Inst::Alu(alu)], self.operands.to_vec(), all_of(value(self.result)));
        case.zero_times_anything = self.has("zta");
        vec![case]
    }

    fn function(&self) -> Vec<Case> {
        let mut alu = output();
        self.modify(&mut alu);
        alu.rgba.op = RgbOp::Sop;
        alu.alpha.op = self.named(AlphaOp::from_name(self.name));
        vec![case(&[Inst::Alu(alu)], self.operands.to_vec(), all_of(value(self.result)))]
    }

    /// Through operand A of CMP with C = 0, operand B of MIN with a NaN for A, and operand C as the sign of a CMP.
    fn imod(&self) -> Vec<Case> {
        let imod = self.named(Imod::from_name(self.name));
        let (x, result) = (self.operands[0], value(self.result));
        let mut a = copy_a();
        (a.rgb.imod_a, a.alpha.imod_a) = (imod, imod);
        let mut b = output();
        (b.rgba.op, b.alpha.op) = (RgbOp::Min, AlphaOp::Min);
        (b.rgb.omod, b.alpha.omod) = (Omod::Disabled, Omod::Disabled);
        (b.rgb.imod_b, b.alpha.imod_b) = (imod, imod);
        let mut c = output();
        (c.rgba.op, c.alpha.op) = (RgbOp::Cmp, AlphaOp::Cmp);
        (c.rgba.rgb_imod_c, c.rgba.alpha_imod_c) = (imod, imod);
        let is_positive = if f32::from_bits(result) >= 0.0 || result & 0x7fff_ffff < 0x0080_0000 { 1f32 } else { 2f32 };
        vec![
            case(&[Inst::Alu(a)], vec![x], all_of(result)),
            case(&[Inst::Alu(b)], vec![[value("nan"); 4], x], all_of(result)),
            case(&[Inst::Alu(c)], vec![[value("1"); 4], [value("2"); 4], x], all_of(is_positive.to_bits())),
        ]
    }

    fn swizzle(&self) -> Vec<Case> {
        let swizzle = self.named(Swizzle::from_name(self.name));
        let x = self.operands[0];
        let zeros = [0; 4];
        let identity = vec![[value("1"); 4]; 3];
        let set = |which: usize| {
            let mut alu = output();
            let swizzles = [swizzle; 3];
            match which {
                0 => {
                    [alu.rgb.red_swiz_a, alu.rgb.green_swiz_a, alu.rgb.blue_swiz_a] = swizzles;
                    alu.alpha.swiz_a = swizzle;
                }
                1 => {
                    [alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b] = swizzles;
                    alu.alpha.swiz_b = swizzle;
                }
                _ => {
                    [alu.rgba.red_swiz_c, alu.rgba.green_swiz_c, alu.rgba.blue_swiz_c] = swizzles;
                    alu.rgba.alpha_swiz_c = swizzle;
                }
            }
            // A*1 + 0, 1*B + 0 or 1*0 + C.
            let mut constants = identity.clone();
            constants[which] = x;
            if which == 2 {
                constants[1] = zeros
            } else {
                constants[2] = zeros
            }
            case(&[Inst::Alu(alu)], constants, all_of(value(self.result)))
        };
        vec![set(0), set(1), set(2)]
    }

    fn source(&self) -> Vec<Case> {
        let sel = self.named(Sel::from_name(self.name));
        let mut a = copy_a();
        (a.rgb.sel_a, a.alpha.sel_a) = (sel, sel);
        let constants = self.operands.to_vec();
        let mut cases = vec![case(&[Inst::Alu(a)], constants.clone(), all_of(value(self.result)))];
        // 0*B + C and 1*B + 0.
        let mut c = output();
        (c.rgba.rgb_sel_c, c.rgba.alpha_sel_c) = (sel, sel);
        [c.rgb.red_swiz_a, c.rgb.green_swiz_a, c.rgb.blue_swiz_a] = [Swizzle::Zero; 3];
        c.alpha.swiz_a = Swizzle::Zero;
        let mut b = c;
        (b.rgba.rgb_sel_c, b.rgba.alpha_sel_c) = (Sel::Src0, Sel::Src0);
        [b.rgba.red_swiz_c, b.rgba.green_swiz_c, b.rgba.blue_swiz_c] = [Swizzle::Zero; 3];
        b.rgba.alpha_swiz_c = Swizzle::Zero;
        [b.rgb.red_swiz_a, b.rgb.green_swiz_a, b.rgb.blue_swiz_a] = [Swizzle::One; 3];
        b.alpha.swiz_a = Swizzle::One;
        (b.rgb.sel_b, b.alpha.sel_b) = (sel, sel);
        cases.push(case(&[Inst::Alu(b)], constants.clone(), all_of(value(self.result))));
        cases.push(case(&[Inst::Alu(c)], constants, all_of(value(self.result))));
        cases
    }

    fn presubtract(&self) -> Vec<Case> {
        let op = self.named(SrcpOp::from_name(self.name));
        let mut alu = copy_a();
        (alu.rgb_addr.srcp_op, alu.alpha_addr.srcp_op) = (op, op);
        (alu.rgb.sel_a, alu.alpha.sel_a) = (Sel::Srcp, Sel::Srcp);
        // Each unit with an operation of its own: here only RGB's is the one under test, alpha adds.
        let mut apart = alu;
        apart.alpha_addr.srcp_op = SrcpOp::Add;
        let result = value(self.result);
        let sum = f32::from_bits(self.operands[0][3]) + f32::from_bits(self.operands[1][3]);
        let mut cases = vec![case(&[Inst::Alu(alu)], self.operands.to_vec(), all_of(result))];
        if sum.is_normal() && sum.fract() == 0.0 {
            let expected = [Some(result), Some(result), Some(result), Some(sum.to_bits())];
            cases.push(case(&[Inst::Alu(apart)], self.operands.to_vec(), [expected, [None; 4], [None; 4], [None; 4]]));
        }
        cases
    }

    fn inline_constant(&self) -> Vec<Case> {
        let code = u8::from_str_radix(self.name.trim_start_matches("0x"), 16).unwrap();
        let mut alu = copy_a();
        (alu.rgb_addr.addr0, alu.rgb_addr.addr0_const) = (0x80 | code, false);
        (alu.alpha_addr.addr0, alu.alpha_addr.addr0_const) = (0x80 | code, false);
        vec![case(&[Inst::Alu(alu)], vec![], all_of(value(self.result)))]
    }

    /// Sets all predicate bits and shows them by predication; sets the ALU result from either unit and shows it by a jump.
    fn compare(&self) -> Vec<Case> {
        let op = self.named(CompareOp::from_name(self.name));
        let set = self.result == "1";
        let one = value("1");
        let mut test = copy_a();
        test.cmn.kind = InstType::Alu;
        (test.rgb.target, test.alpha.target) = (op.code() as u8, op.code() as u8);
        let mut show = copy_a();
        [show.rgb.red_swiz_a, show.rgb.green_swiz_a, show.rgb.blue_swiz_a] = [Swizzle::One; 3];
        show.alpha.swiz_a = Swizzle::One;
        let mut predicated = show;
        (predicated.cmn.rgb_pred_sel, predicated.cmn.alpha_pred_sel) = (PredSel::Rgba, PredSel::Rgba);
        let shown = |set: bool| [[set.then_some(one); 4], [None; 4], [None; 4], [None; 4]];
        let mut cases = vec![case(&[Inst::Alu(test), Inst::Alu(predicated)], self.operands.to_vec(), shown(set))];
        for sel in AluResultSel::ALL {
            let mut test = test;
            (test.cmn.rgb_omask, test.cmn.alpha_omask) = (0, false);
            test.rgb.alu_wmask = true;
            (test.cmn.alu_result_sel, test.cmn.alu_result_op) = (*sel, op);
            // Jump over the output if the ALU result is clear.
            let inst = FcInst { jump_func: 0x0f, ..FcInst::decode(0).unwrap() };
            let addr = FcAddr { jump_addr: 3, ..FcAddr::decode(0).unwrap() };
            let cmn = CmnInst { kind: InstType::Fc, alu_wait: true, ..CmnInst::decode(0).unwrap() };
            let insts = [
                Inst::Alu(test),
                Inst::Fc(FcInstruction { cmn, inst, addr }),
                Inst::Alu(show),
                Inst::Alu(AluInst::idle(InstType::Output)),
            ];
            cases.push(case(&insts, self.operands.to_vec(), shown(set)));
        }
        cases
    }

    fn predicate(&self) -> Vec<Case> {
        let sel = self.named(PredSel::from_name(self.name));
        let mut test = copy_a();
        test.cmn.kind = InstType::Alu;
        (test.rgb.target, test.alpha.target) = (CompareOp::NotEqual.code() as u8, CompareOp::NotEqual.code() as u8);
        let mut show = copy_a();
        (show.cmn.rgb_pred_sel, show.cmn.alpha_pred_sel) = (sel, sel);
        (show.cmn.rgb_pred_inv, show.cmn.alpha_pred_inv) = (self.has("inv"), self.has("inv"));
        [show.rgb.red_swiz_a, show.rgb.green_swiz_a, show.rgb.blue_swiz_a] = [Swizzle::One; 3];
        show.alpha.swiz_a = Swizzle::One;
        let written: Vec<Option<u32>> =
            self.result.split(',').map(|bit| (bit.trim() == "1").then_some(value("1"))).collect();
        let expected = [written.clone().try_into().unwrap(), [None; 4], [None; 4], [None; 4]];
        let to_output = case(&[Inst::Alu(test), Inst::Alu(show)], self.operands.to_vec(), expected);
        // The same for a write to a temporary, which holds 0 before.
        let mut to_temp = show;
        to_temp.cmn.kind = InstType::Alu;
        (to_temp.cmn.rgb_omask, to_temp.cmn.alpha_omask) = (0, false);
        (to_temp.cmn.rgb_wmask, to_temp.cmn.alpha_wmask) = (7, true);
        let mut copy = copy_a();
        read_r0(&mut copy);
        let values = written.iter().map(|w| Some(w.unwrap_or(0))).collect::<Vec<_>>();
        let expected = [values.try_into().unwrap(), [None; 4], [None; 4], [None; 4]];
        let insts = [Inst::Alu(test), Inst::Alu(to_temp), Inst::Alu(copy)];
        vec![to_output, case(&insts, self.operands.to_vec(), expected)]
    }

    fn target(&self) -> Vec<Case> {
        let target = self.named(RenderTarget::from_name(self.name));
        let index: usize = self.result.parse().unwrap();
        // RGB to the target, alpha to the one after it.
        let mut alu = copy_a();
        alu.rgb.target = target.code() as u8;
        alu.alpha.target = (target.code() as u8 + 1) % 4;
        let mut expected = [[None; 4]; 4];
        expected[index][..3].fill(Some(value("7")));
        expected[(index + 1) % 4][3] = Some(value("7"));
        vec![case(&[Inst::Alu(alu)], vec![[value("7"); 4]], expected)]
    }

    fn texture(&self) -> Vec<Case> {
        let op = self.named(TexOp::from_name(self.name));
        let channels = |key: &str, default: &str| -> [Channel; 4] {
            let text = self.flags.iter().find_map(|f| f.strip_prefix(key)).unwrap_or(default);
            let names: Vec<String> = text.chars().map(String::from).collect();
            std::array::from_fn(|c| Channel::from_name(&names[c]).unwrap())
        };
        let (source, destination) = (channels("swz=", "RGBA"), channels("dst=", "RGBA"));
        let cmn = CmnInst {
            kind: InstType::Tex,
            rgb_wmask: 7,
            alpha_wmask: true,
            tex_sem_wait: true,
            ..CmnInst::decode(0).unwrap()
        };
        let inst = TexInst { op, unscaled: !self.has("scaled"), tex_sem_acquire: true, ..TexInst::decode(0).unwrap() };
        let [src_s_swiz, src_t_swiz, src_r_swiz, src_q_swiz] = source;
        let [dst_r_swiz, dst_g_swiz, dst_b_swiz, dst_a_swiz] = destination;
        let addr = TexAddr {
            src_addr: 0,
            src_addr_rel: false,
            src_s_swiz,
            src_t_swiz,
            src_r_swiz,
            src_q_swiz,
            dst_addr: 5,
            dst_addr_rel: false,
            dst_r_swiz,
            dst_g_swiz,
            dst_b_swiz,
            dst_a_swiz,
        };
        let tex = Inst::Tex(TexInstruction { cmn, inst, addr, dxdy: TexAddrDxDy::decode(0).unwrap() });
        // The destination holds c0 before.
        let mut before = copy_a();
        before.cmn.kind = InstType::Alu;
        (before.cmn.rgb_omask, before.cmn.alpha_omask) = (0, false);
        (before.cmn.rgb_wmask, before.cmn.alpha_wmask) = (7, true);
        (before.rgba.addrd, before.alpha.addrd) = (5, 5);
        let mut copy = copy_a();
        read_r0(&mut copy);
        (copy.rgb_addr.addr0, copy.alpha_addr.addr0) = (5, 5);
        let expected = [vector(self.result).map(Some), [None; 4], [None; 4], [None; 4]];
        let insts = [Inst::Alu(before), tex, Inst::Alu(copy)];
        let mut case = case(&insts, vec![[value("-9"); 4]], expected);
        case.r0 = self.operands[0];
        case.sampler = Sampler {
            filter: if self.has("linear") { Filter::Linear } else { Filter::Nearest },
            wrap: [if self.has("repeat") {
                Wrap::Repeat
            } else if self.has("mirror") {
                Wrap::Mirror
            } else if self.has("border") {
                Wrap::Border
            } else {
                Wrap::Clamp
            }; 2],
            border: ["-1", "-2", "-3", "-4"].map(value),
        };
        vec![case]
    }

    fn kill(&self) -> Vec<Case> {
        let mask = |channel: char| self.name.contains(channel);
        let cmn = CmnInst {
            kind: InstType::Tex,
            rgb_wmask: u8::from(mask('r')) | u8::from(mask('g')) << 1 | u8::from(mask('b')) << 2,
            alpha_wmask: mask('a'),
            ..CmnInst::decode(0).unwrap()
        };
        let inst = TexInst { op: TexOp::KillLt0, ..TexInst::decode(0).unwrap() };
        let tex =
            TexInstruction { cmn, inst, addr: TexAddr::decode(0).unwrap(), dxdy: TexAddrDxDy::decode(0).unwrap() };
        let one = (self.result == "0").then_some(value("1"));
        let mut case = case(
            &[Inst::Tex(tex), Inst::Alu(copy_a())],
            vec![[value("1"); 4]],
            [[one; 4], [None; 4], [None; 4], [None; 4]],
        );
        case.r0 = self.operands[0];
        vec![case]
    }
}

/// The initial value of outputs; a value that no vector writes.
const UNTOUCHED: u32 = 0x7fab_cdef;

/// Runs a case; returns the difference.
pub fn run(case: &Case, engine: &dyn Engine) -> Result<(), String> {
    let mut program = Program::from_words(case.words.clone());
    program.zero_times_anything = case.zero_times_anything;
    program.full_flow_control = true;
    let mut constants = Constants::default();
    constants.float[..case.constants.len()].copy_from_slice(&case.constants);
    // A plane holds numbers; bits such as NaNs come from a constant that the program copies to r0 first.
    constants.float[255] = case.r0;
    let mut load = copy_a();
    load.cmn.kind = InstType::Alu;
    (load.cmn.rgb_omask, load.cmn.alpha_omask) = (0, false);
    (load.cmn.rgb_wmask, load.cmn.alpha_wmask) = (7, true);
    (load.rgb_addr.addr0, load.alpha_addr.addr0) = (255, 255);
    program.words.push(Inst::Alu(load).encode());
    let last = program.words.len() as u16 - 1;
    // `first` is the load after the program, which jumps to its beginning.
    let inst = FcInst { jump_func: 0xff, ..FcInst::decode(0).unwrap() };
    let cmn = CmnInst { kind: InstType::Fc, ..CmnInst::decode(0).unwrap() };
    let addr = FcAddr::decode(0).unwrap();
    program.words.push(Inst::Fc(FcInstruction { cmn, inst, addr }).encode());
    (program.first, program.last) = (last, last - 1);
    let launch = Launch {
        program: &program,
        constants: &constants,
        planes: &[] as &[Plane],
        rows: &[],
        domain: Domain { i0: 0, j0: 0, i1: 0, j1: 0 },
        group: GroupSize::new(4).unwrap(),
        draw: ctm_exec::x1k::DrawParts::default(),
        budget: Budget::default(),
        threads: 1,
        checks: false,
        counters: true,
    };
    let mut memory = Arrays::default();
    let picture = Picture::from_fn(4, 2, |x, y| [x as f32, y as f32, (10 * y + x) as f32, 0.5]);
    memory.inputs[0] = Some((picture, case.sampler));
    for output in &mut memory.outputs {
        *output = Some(Picture { width: 1, height: 1, elements: vec![[UNTOUCHED; 4]] });
    }
    engine.run_x1k(&launch, &mut memory).map_err(|fault| fault.to_string())?;
    for (target, expected) in case.expected.iter().enumerate() {
        let got = memory.outputs[target].as_ref().unwrap().elements[0];
        let expected = expected.map(|e| e.unwrap_or(UNTOUCHED));
        if got != expected {
            return Err(format!("output {target} is {got:08x?}, not {expected:08x?}"));
        }
    }
    Ok(())
}

/// The rows that the instructions of the vectors use: `(type, row)`.
pub fn rows_used(vectors: &[RunVector]) -> BTreeSet<(&'static str, &'static str)> {
    let mut rows = BTreeSet::new();
    for words in vectors.iter().flat_map(|v| &v.cases).flat_map(|case| &case.words) {
        match Inst::decode(words).unwrap() {
            Inst::Alu(alu) => {
                rows.insert(("RgbOp", alu.rgba.op.name()));
                rows.insert(("AlphaOp", alu.alpha.op.name()));
                rows.insert(("Omod", alu.rgb.omod.name()));
                rows.insert(("InstType", alu.cmn.kind.name()));
            }
            Inst::Tex(tex) => {
                rows.insert(("TexOp", tex.inst.op.name()));
                rows.insert(("InstType", tex.cmn.kind.name()));
                rows.insert(("Channel", tex.addr.src_s_swiz.name()));
                rows.insert(("Channel", tex.addr.dst_r_swiz.name()));
                rows.insert(("Channel", tex.addr.src_t_swiz.name()));
                rows.insert(("Channel", tex.addr.dst_g_swiz.name()));
            }
            Inst::Fc(fc) => {
                rows.insert(("InstType", fc.cmn.kind.name()));
            }
        }
    }
    for vector in vectors {
        let (verb, name) = (vector.subject.0.as_str(), vector.subject.1.as_str());
        let known = |table: &'static str, row: Option<&'static str>| row.map(|row| (table, row));
        rows.extend(match verb {
            "imod" => known("Imod", Imod::from_name(name).map(Imod::name)),
            "swizzle" => known("Swizzle", Swizzle::from_name(name).map(Swizzle::name)),
            "source" => known("Sel", Sel::from_name(name).map(Sel::name)),
            "srcp" => known("SrcpOp", SrcpOp::from_name(name).map(SrcpOp::name)),
            "compare" => known("CompareOp", CompareOp::from_name(name).map(CompareOp::name)),
            "pred" => known("PredSel", PredSel::from_name(name).map(PredSel::name)),
            "target" => known("RenderTarget", RenderTarget::from_name(name).map(RenderTarget::name)),
            _ => None,
        });
    }
    rows
}
