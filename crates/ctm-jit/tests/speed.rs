//! How fast the engine is; run with `cargo test --release -p ctm-jit --test speed -- --ignored --nocapture`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at what it did not expect, and says what it measured"
)]

use ctm_exec::x1k::arrays::Picture;
use ctm_exec::x1k::{Arrays, Constants, Interp, Launch, Plane};
use ctm_exec::{Budget, Domain, Engine, GroupSize};
use ctm_isa::x1k::formats::{CmnInst, FcAddr, FcInst, TexAddr, TexAddrDxDy, TexInst};
use ctm_isa::x1k::inst::{AluInst, FcInstruction, Inst, Source, TexInstruction};
use ctm_isa::x1k::ops::Sel;
use ctm_isa::x1k::ops::{AOp, AlphaOp, BOp, Channel, CompareOp, FcOp, InstType, Omod, RgbOp, Swizzle, TexOp};
use ctm_isa::x1k::{Program, Words};
use ctm_jit::{Backend, Jit};
use std::time::Instant;

const R: Swizzle = Swizzle::R;
const G: Swizzle = Swizzle::G;
const B: Swizzle = Swizzle::B;
const A: Swizzle = Swizzle::A;
const ONE: Swizzle = Swizzle::One;
const ZERO: Swizzle = Swizzle::Zero;

fn temp(index: u8) -> Source {
    Source::Temp { index, relative: false }
}

fn constant(index: u8) -> Source {
    Source::Const { index, relative: false }
}

/// A MAD of both units on the same three sources, with one swizzle for each operand.
fn mad(dst: u8, sources: [Source; 3], swizzles: [[Swizzle; 4]; 3], wmask: u8) -> AluInst {
    let mut alu = AluInst::idle(InstType::Alu);
    let fields = sources.map(Source::fields);
    (alu.rgb_addr.addr0, alu.rgb_addr.addr0_const, _) = fields[0];
    (alu.rgb_addr.addr1, alu.rgb_addr.addr1_const, _) = fields[1];
    (alu.rgb_addr.addr2, alu.rgb_addr.addr2_const, _) = fields[2];
    (alu.alpha_addr.addr0, alu.alpha_addr.addr0_const, _) = fields[0];
    (alu.alpha_addr.addr1, alu.alpha_addr.addr1_const, _) = fields[1];
    (alu.alpha_addr.addr2, alu.alpha_addr.addr2_const, _) = fields[2];
    (alu.rgb.sel_a, alu.rgb.sel_b, alu.rgba.rgb_sel_c) = (Sel::Src0, Sel::Src1, Sel::Src2);
    (alu.alpha.sel_a, alu.alpha.sel_b, alu.rgba.alpha_sel_c) = (Sel::Src0, Sel::Src1, Sel::Src2);
    let [a, b, c] = swizzles;
    [alu.rgb.red_swiz_a, alu.rgb.green_swiz_a, alu.rgb.blue_swiz_a, alu.alpha.swiz_a] = a;
    [alu.rgb.red_swiz_b, alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b, alu.alpha.swiz_b] = b;
    [alu.rgba.red_swiz_c, alu.rgba.green_swiz_c, alu.rgba.blue_swiz_c, alu.rgba.alpha_swiz_c] = c;
    (alu.rgba.op, alu.alpha.op) = (RgbOp::Mad, AlphaOp::Mad);
    (alu.rgba.addrd, alu.alpha.addrd) = (dst, dst);
    (alu.cmn.rgb_wmask, alu.cmn.alpha_wmask) = (wmask & 7, wmask & 8 != 0);
    alu
}

fn words(instructions: &[Inst]) -> Vec<Words> {
    instructions.iter().map(Inst::encode).collect()
}

fn output(source: u8) -> Inst {
    let mut alu = mad(0, [temp(source); 3], [[R, G, B, A]; 3], 0);
    (alu.cmn.kind, alu.cmn.rgb_omask, alu.cmn.alpha_omask) = (InstType::Output, 7, true);
    (alu.rgba.op, alu.alpha.op) = (RgbOp::Max, AlphaOp::Max);
    (alu.rgb.omod, alu.alpha.omod) = (Omod::Disabled, Omod::Disabled);
    (alu.rgb.sel_b, alu.alpha.sel_b) = (Sel::Src0, Sel::Src0);
    Inst::Alu(alu)
}

fn flow(op: FcOp, func: u8, any: bool, target: u16) -> Inst {
    let mut cmn = CmnInst::decode(0).unwrap();
    cmn.kind = InstType::Fc;
    let inst = FcInst {
        op,
        b_else: false,
        jump_any: any,
        a_op: AOp::None,
        jump_func: func,
        b_pop_cnt: 0,
        b_op0: BOp::None,
        b_op1: if op == FcOp::BreakRep { BOp::Decr } else { BOp::None },
        ignore_uncovered: false,
    };
    let addr = FcAddr { bool_addr: 0, int_addr: 0, jump_addr: target, jump_global: false };
    Inst::Fc(FcInstruction { cmn, inst, addr })
}

fn fetch(input: u8, dst: u8) -> Inst {
    let mut cmn = CmnInst::decode(0).unwrap();
    (cmn.kind, cmn.rgb_wmask, cmn.alpha_wmask) = (InstType::Tex, 7, true);
    let inst =
        TexInst { tex_id: input, op: TexOp::Lookup, tex_sem_acquire: true, ignore_uncovered: false, unscaled: true };
    let addr = TexAddr {
        src_addr: 0,
        src_addr_rel: false,
        src_s_swiz: Channel::R,
        src_t_swiz: Channel::G,
        src_r_swiz: Channel::R,
        src_q_swiz: Channel::R,
        dst_addr: dst,
        dst_addr_rel: false,
        dst_r_swiz: Channel::R,
        dst_g_swiz: Channel::G,
        dst_b_swiz: Channel::B,
        dst_a_swiz: Channel::A,
    };
    Inst::Tex(TexInstruction { cmn, inst, addr, dxdy: TexAddrDxDy::decode(0).unwrap() })
}

/// z = z*z + c, at most 255 times: r1 = (zr, zi, n, zi*zi), r2.rg = c. Counts the turns of each processor.
fn mandelbrot() -> Vec<Words> {
    let z = temp(1);
    // r2.rg = r0.rg * c0.x + c0.yz ; r1 = 0
    let c = mad(2, [temp(0), constant(0), constant(0)], [[R, G, R, R], [R; 4], [G, B, R, R]], 3);
    let start = mad(1, [temp(0); 3], [[ZERO; 4]; 3], 15);
    // r1.a = zi * zi
    let square = mad(1, [z; 3], [[G; 4], [G; 4], [ZERO; 4]], 8);
    // the ALU result: zr*zr + zi*zi - 4 >= 0
    let mut norm = mad(3, [z, z, z], [[R; 4], [R; 4], [A; 4]], 1);
    norm.cmn.rgb_wmask = 1;
    let mut test = mad(3, [temp(3), constant(1), constant(1)], [[R; 4], [ONE; 4], [R; 4]], 0);
    (test.rgb.alu_wmask, test.cmn.alu_result_op) = (true, CompareOp::GreaterEqual);
    // r3.rg = (zr*zr - zi*zi, 2*zr); r1.rg = (r3.r + cr, r3.g*zi + ci)
    let real = {
        let mut m = mad(3, [z, z, z], [[R; 4], [R; 4], [A; 4]], 1);
        m.rgba.rgb_imod_c = ctm_isa::x1k::ops::Imod::Neg;
        m
    };
    let double = mad(3, [z, z, z], [[R; 4], [ONE; 4], [R; 4]], 2);
    let imaginary = mad(1, [temp(3), z, temp(2)], [[G; 4], [G; 4], [G; 4]], 2);
    let add = mad(1, [temp(3), temp(3), temp(2)], [[R; 4], [ONE; 4], [R; 4]], 1);
    let count = mad(1, [z, z, z], [[B; 4], [ONE; 4], [ONE; 4]], 4);
    let instructions = [
        Inst::Alu(c),
        Inst::Alu(start),
        flow(FcOp::Rep, 0, false, 13),
        Inst::Alu(square),
        Inst::Alu(norm),
        Inst::Alu(test),
        flow(FcOp::BreakRep, 0xf0, false, 13),
        Inst::Alu(real),
        Inst::Alu(double),
        Inst::Alu(imaginary),
        Inst::Alu(add),
        Inst::Alu(count),
        flow(FcOp::EndRep, 0xff, true, 3),
        output(1),
    ];
    words(&instructions)
}

/// o0 = c0.x * s0 + s1
fn saxpy() -> Vec<Words> {
    let sum = mad(1, [temp(1), constant(0), temp(2)], [[R, G, B, A], [R; 4], [R, G, B, A]], 15);
    words(&[fetch(0, 1), fetch(1, 2), Inst::Alu(sum), output(1)])
}

/// Nanoseconds that this thread has run: other work on the host does not count.
fn thread_time() -> Option<u64> {
    std::fs::read_to_string("/proc/thread-self/schedstat").ok()?.split_whitespace().next()?.parse().ok()
}

fn measure(name: &str, program: &Program, size: u32, constants: &Constants, memory: &mut Arrays, engine: &dyn Engine) {
    for threads in [1, 0] {
        let (mut wall, mut own) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..9 {
            let launch = Launch {
                program,
                constants,
                planes: &[Plane::position(0)],
                domain: Domain { i0: 0, j0: 0, i1: size - 1, j1: size - 1 },
                group: GroupSize::X1K,
                budget: Budget::default(),
                threads,
                checks: false,
            };
            let (start, busy) = (Instant::now(), thread_time());
            engine.run_x1k(&launch, memory).unwrap();
            wall = wall.min(start.elapsed().as_secs_f64());
            if let (1, Some(from), Some(to)) = (threads, busy, thread_time()) {
                own = own.min((to - from) as f64 * 1e-9);
            }
        }
        let (wall, own) = (wall * 1e3, own * 1e3);
        println!(
            "{name}, {size} x {size}, {}, {threads} threads: {wall:.2} ms, thread time {own:.2} ms",
            engine.name()
        );
    }
}

#[test]
#[ignore = "a measurement"]
fn kernels() {
    let mut constants = Constants::default();
    constants.float[0] = [3.0 / 1024.0, -2.0, -1.5, 0.0].map(f32::to_bits);
    constants.float[1] = [-4f32; 4].map(f32::to_bits);
    constants.int[0] = [255, 0, 0, 0];
    for (name, words, size) in [("mandelbrot", mandelbrot(), 1024), ("saxpy", saxpy(), 2048)] {
        let program = Program::from_words(words);
        let picture = |value| Picture::from_fn(size, size, |x, y| [x as f32, y as f32, value, 1.0]);
        let mut memory = Arrays::default();
        for (index, input) in memory.inputs.iter_mut().enumerate().take(2) {
            *input = Some((picture(index as f32), ctm_exec::x1k::Sampler::default()));
        }
        memory.outputs[0] = Some(Picture::filled(size, size, [0.0; 4]));
        let mut expected = memory.clone();
        if std::env::var("CTM_SLOW").is_ok() {
            measure(name, &program, size, &constants, &mut expected, &Interp);
        }
        for backend in Backend::available().filter(|&b| b != Backend::Portable || std::env::var("CTM_SLOW").is_ok()) {
            print!("{backend} ");
            measure(name, &program, size, &constants, &mut memory, &Jit::with_backend(backend));
            print!("{backend} without counters ");
            measure(name, &program, size, &constants, &mut memory, &Jit::with_backend(backend).without_counters());
        }
    }
}

#[test]
#[ignore = "a measurement"]
fn compilation() {
    use ctm_isa::x1k::random::{FlowControl, Shape, program};
    for (name, flow, instructions) in [("straight", FlowControl::None, 60), ("statements", FlowControl::Statements, 40)]
    {
        let shape = Shape { instructions, flow, inputs: 2, watches_idle_lanes: false, relative: false };
        let constants = Constants::default();
        let mut times: Vec<(u64, usize)> = Vec::new();
        for seed in 0..60 {
            let program = program(seed, &shape);
            let launch = Launch {
                program: &program,
                constants: &constants,
                planes: &[Plane::position(0)],
                domain: Domain { i0: 0, j0: 0, i1: 1, j1: 1 },
                group: GroupSize::new(4).unwrap(),
                budget: Budget::default(),
                threads: 1,
                checks: false,
            };
            // The first launch compiles, the second does not; the best of several, as other work on the host disturbs.
            let mut best = [u64::MAX; 2];
            for _ in 0..15 {
                let engine = Jit::new();
                for best in &mut best {
                    let start = Instant::now();
                    let _ = engine.run_x1k(&launch, &mut Arrays::default());
                    *best = (*best).min(start.elapsed().as_micros() as u64);
                }
            }
            times.push((best[0].saturating_sub(best[1]), program.words.len()));
        }
        times.sort_unstable();
        let (median, most) = (times[30], times[59]);
        println!(
            "compilation, {name}: median {} us ({} instructions), most {} us ({})",
            median.0, median.1, most.0, most.1
        );
    }
}

/// For `valgrind --tool=callgrind`: what the compilation of programs costs in instructions.
#[test]
#[ignore = "a measurement"]
fn compile_each_once() {
    use ctm_isa::x1k::random::{FlowControl, Shape, program};
    let constants = Constants::default();
    for seed in 0..20 {
        let flow = if seed % 2 == 0 { FlowControl::None } else { FlowControl::Statements };
        let shape = Shape { instructions: 50, flow, inputs: 2, watches_idle_lanes: false, relative: false };
        let program = program(seed, &shape);
        let launch = Launch {
            program: &program,
            constants: &constants,
            planes: &[Plane::position(0)],
            domain: Domain { i0: 0, j0: 0, i1: 1, j1: 1 },
            group: GroupSize::new(4).unwrap(),
            budget: Budget::default(),
            threads: 1,
            checks: false,
        };
        let _ = Jit::new().run_x1k(&launch, &mut Arrays::default());
    }
}
