//! Makes a case that fails smaller, for whoever looks for the reason.

use super::Case;
use ctm_isa::x1k::inst::AluInst;
use ctm_isa::x1k::ops::{AlphaOp, Imod, InstType, Omod, PredSel, RgbOp};
use ctm_isa::x1k::{Inst, Program};

/// Ways to make an instruction simpler.
const SIMPLER: [fn(&mut AluInst); 12] = [
    |alu| alu.cmn.rgb_omask = 0,
    |alu| alu.cmn.alpha_omask = false,
    |alu| alu.cmn.rgb_wmask = 0,
    |alu| alu.cmn.alpha_wmask = false,
    |alu| (alu.cmn.rgb_clamp, alu.cmn.alpha_clamp) = (false, false),
    |alu| (alu.cmn.rgb_pred_sel, alu.cmn.alpha_pred_sel) = (PredSel::None, PredSel::None),
    |alu| (alu.rgb.imod_a, alu.rgb.imod_b, alu.rgba.rgb_imod_c) = (Imod::Off, Imod::Off, Imod::Off),
    |alu| (alu.alpha.imod_a, alu.alpha.imod_b, alu.rgba.alpha_imod_c) = (Imod::Off, Imod::Off, Imod::Off),
    |alu| (alu.rgb.omod, alu.alpha.omod) = (Omod::U1, Omod::U1),
    |alu| alu.rgb.alu_wmask = false,
    |alu| alu.rgba.op = RgbOp::Mad,
    |alu| alu.alpha.op = AlphaOp::Mad,
];

/// The smallest program and case, found by leaving things out, for which `differs` still finds something; as text, with what it finds.
pub fn reduced(program: &Program, case: &Case, differs: impl Fn(&Program, &Case) -> Option<String>) -> String {
    let fails = |program: &Program, case: &Case| differs(program, case).is_some();
    let (mut program, mut case) = (program.clone(), case.clone());
    let mut again = true;
    while again {
        again = false;
        for place in (0..program.words.len()).rev() {
            let mut without = program.clone();
            without.words[place] = Inst::Alu(AluInst::idle(InstType::Alu)).encode();
            if without.words != program.words && fails(&without, &case) {
                (program, again) = (without, true);
                continue;
            }
            for simpler in SIMPLER {
                let Ok(Inst::Alu(mut alu)) = Inst::decode(&program.words[place]) else { break };
                simpler(&mut alu);
                let mut changed = program.clone();
                changed.words[place] = Inst::Alu(alu).encode();
                if changed.words != program.words && fails(&changed, &case) {
                    (program, again) = (changed, true);
                }
            }
        }
        let domain = case.domain;
        let smaller =
            [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)].into_iter().filter_map(|(i0, j0, i1, j1)| {
                let (i1, j1) = (domain.i1.checked_sub(i1)?, domain.j1.checked_sub(j1)?);
                Some(ctm_exec::Domain { i0: domain.i0 + i0, j0: domain.j0 + j0, i1, j1 })
            });
        for domain in smaller.filter(|d| d.i0 <= d.i1 && d.j0 <= d.j1) {
            let changed = Case { domain, ..case.clone() };
            if fails(&program, &changed) {
                (case, again) = (changed, true);
                break;
            }
        }
    }
    // Whoever watches engines at work sees this one last.
    let difference = differs(&program, &case).unwrap_or_default();
    let arrays = |all: &[crate::x1k::surfaces::Array]| -> Vec<_> {
        all.iter().map(|a| (a.width, a.height, a.pitch, a.channels, a.mask)).collect()
    };
    format!(
        "made smaller: {difference}\n{}\n{:?}, groups of {}\nplanes {:?}\ninputs {:?}, outputs {:?}, direct {}\nints {:?}\nbooleans {:?}\nconstants {:08x?}",
        ctm_isa::x1k::text::disassemble(&program, &ctm_isa::x1k::text::Options::default()),
        case.domain,
        case.group.lanes(),
        case.planes,
        arrays(&case.memory.inputs),
        arrays(&case.memory.outputs),
        case.memory.direct,
        &case.constants.int[..4],
        &case.constants.bool[..4],
        &case.constants.float[..20],
    )
}
