//! The first instruction whose result differs: programs that are cut after each instruction in turn.

use super::Difference;
use super::replay::{Recorder, replay};
use super::shadow::{self, Shadow};
use ctm_exec::x1k::{DrawParts, Elements, Form, Launch, Memory, Target};
use ctm_exec::{Control, Engine, Interp};
use ctm_isa::x1k::inst::AluInst;
use ctm_isa::x1k::ops::{AlphaOp, InstType, Omod, RgbOp, Swizzle};
use ctm_isa::x1k::{Inst, Program};

/// The most elements of a mapped array in a probe. Larger outputs are sent element by element.
const LENT: u64 = 1 << 26;

/// The first instruction whose register differs, and how. `lends`: the engine writes outputs directly, as in launches where memory maps
/// them.
pub fn first(
    (engine, control): (&dyn Engine, &Control),
    launch: &Launch<'_>,
    memory: &mut dyn Memory,
    lends: bool,
) -> Option<(u32, Difference)> {
    let (width, height) = (u64::from(launch.domain.i1) + 1, u64::from(launch.domain.j1) + 1);
    let [columns, rows] = [width as u32, height as u32];
    let shape = Elements {
        bytes: (),
        pitch: columns,
        width: columns,
        height: rows,
        form: Form::Floats,
        channels: 4,
        mask: 0xf,
        tiles: None,
    };
    let shape = (lends && width * height <= LENT).then_some(shape);
    for pc in 0..launch.program.words.len() {
        let Some(program) = cut(launch.program, pc) else { continue };
        let draw = DrawParts { epilogues: &[], ..launch.draw };
        let launch = Launch { program: &program, draw, ..*launch };
        let shadow = shape.clone().map(|shape| (Target::Colour(0), Shadow::zeros(shape)));
        let shadows = shadow::Shadows(shadow.into_iter().collect());
        let mut recorder = Recorder::apart(memory, shadows.clone());
        let expected = Interp.run_x1k_under(control, &launch, &mut recorder);
        let Recorder { log, apart: left, .. } = recorder;
        if let Some(difference) = replay((engine, control), &launch, memory, &log, &expected, shadows, left) {
            return Some((pc as u32, difference));
        }
    }
    None
}

/// The program cut after instruction `pc` and made to output the registers that it writes; `None` when it writes none.
fn cut(program: &Program, pc: usize) -> Option<Program> {
    let (rgb, alpha) = match Inst::decode(program.words.get(pc)?).ok()? {
        Inst::Alu(alu) if alu.rgba.addrd_rel || alu.alpha.addrd_rel => return None,
        Inst::Alu(alu) if alu.cmn.rgb_wmask != 0 || alu.cmn.alpha_wmask => (alu.rgba.addrd, alu.alpha.addrd),
        Inst::Tex(tex) if tex.inst.op.is_lookup() && !tex.addr.dst_addr_rel => (tex.addr.dst_addr, tex.addr.dst_addr),
        Inst::Alu(_) | Inst::Tex(_) | Inst::Fc(_) => return None,
    };
    let mut alu = AluInst::idle(InstType::Output);
    (alu.cmn.rgb_omask, alu.cmn.alpha_omask) = (7, true);
    (alu.rgb_addr.addr0, alu.rgb_addr.addr0_const) = (rgb, false);
    (alu.alpha_addr.addr0, alu.alpha_addr.addr0_const) = (alpha, false);
    (alu.rgba.op, alu.alpha.op) = (RgbOp::Max, AlphaOp::Max);
    (alu.rgb.green_swiz_a, alu.rgb.blue_swiz_a) = (Swizzle::G, Swizzle::B);
    (alu.rgb.green_swiz_b, alu.rgb.blue_swiz_b) = (Swizzle::G, Swizzle::B);
    (alu.alpha.swiz_a, alu.alpha.swiz_b) = (Swizzle::A, Swizzle::A);
    (alu.rgb.omod, alu.alpha.omod) = (Omod::Disabled, Omod::Disabled);
    let mut program = program.clone();
    program.words.truncate(pc + 1);
    program.words.push(Inst::Alu(alu).encode());
    program.last = u16::try_from(pc + 1).ok()?;
    Some(program)
}
