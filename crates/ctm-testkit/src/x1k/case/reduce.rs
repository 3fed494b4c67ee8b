//! Reduces a failing case.

use super::Case;
use ctm_exec::Domain;
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

/// The smallest program and case, found by removing parts, for which `differs` still reports a difference; as text, with that difference.
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
        for domain in smaller(case.domain) {
            let changed = Case { domain, ..case.clone() };
            if fails(&program, &changed) {
                (case, again) = (changed, true);
                break;
            }
        }
    }
    for row in (0..case.rows.len()).rev() {
        let mut changed = case.clone();
        changed.rows.remove(row);
        if fails(&program, &changed) {
            case = changed;
        }
    }
    // Watchers of engines see this one last.
    let difference = differs(&program, &case).unwrap_or_default();
    let arrays = |all: &[crate::x1k::surfaces::PaddedArray]| -> Vec<_> {
        all.iter().map(|a| (a.width, a.height, a.pitch, a.channels, a.mask)).collect()
    };
    let text = ctm_isa::x1k::text::disassemble(&program, &ctm_isa::x1k::text::ListingOptions::default());
    // Places are written after every line.
    let text: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("idle ")).collect();
    format!(
        "made smaller: {difference}\n{}\n{:?}, groups of {}\nplanes {:?}\nrows {:x?}\ninputs {:?}, outputs {:?}, direct {}\nints {:?}\nbooleans {:?}\nconstants {:08x?}",
        text.join("\n"),
        case.domain,
        case.group.lanes(),
        case.planes,
        case.rows,
        arrays(&case.memory.inputs),
        arrays(&case.memory.outputs),
        case.memory.direct,
        &case.constants.int[..4],
        &case.constants.bool[..4],
        &case.constants.float[..20],
    )
}

/// The domains that lack one column or one row.
fn smaller(domain: Domain) -> impl Iterator<Item = Domain> {
    let Domain { i0, j0, i1, j1 } = domain;
    let without_first =
        [i0.checked_add(1).map(|i0| Domain { i0, ..domain }), j0.checked_add(1).map(|j0| Domain { j0, ..domain })];
    let without_last =
        [i1.checked_sub(1).map(|i1| Domain { i1, ..domain }), j1.checked_sub(1).map(|j1| Domain { j1, ..domain })];
    without_first.into_iter().chain(without_last).flatten().filter(|d| d.i0 <= d.i1 && d.j0 <= d.j1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctm_isa::x1k::random::{FlowControl, RandomContents, program};

    #[test]
    fn domains_lose_a_column_or_a_row_and_never_all() {
        let all =
            |i0, j0, i1, j1| smaller(Domain { i0, j0, i1, j1 }).map(|d| (d.i0, d.j0, d.i1, d.j1)).collect::<Vec<_>>();
        assert_eq!(all(2, 3, 4, 6), [(3, 3, 4, 6), (2, 4, 4, 6), (2, 3, 3, 6), (2, 3, 4, 5)]);
        assert_eq!(all(0, 0, 0, 2), [(0, 1, 0, 2), (0, 0, 0, 1)]);
        for corner in [0, 7, u32::MAX] {
            assert_eq!(all(corner, corner, corner, corner), [], "one processor at {corner}");
        }
    }

    #[test]
    fn what_fails_always_becomes_one_processor_that_does_nothing() {
        let shape = RandomContents {
            instructions: 12,
            flow: FlowControl::None,
            inputs: 0,
            watches_idle_lanes: false,
            relative: false,
        };
        for seed in 0..8 {
            let text = reduced(&program(seed, &shape), &Case::new(seed), |_, _| Some("always".to_owned()));
            let domain = text.lines().find_map(|line| line.strip_prefix("Domain { ")).unwrap_or(&text);
            let number = |text: &str| text.split([',', ' ']).next().and_then(|n| n.parse::<u32>().ok());
            let numbers: Vec<_> = domain.split(": ").skip(1).take(4).map(number).collect();
            assert!(numbers.iter().all(Option::is_some), "{text}");
            assert_eq!(numbers[..2], numbers[2..4], "{text}");
            assert!(text.starts_with("made smaller: always\n"), "{text}");
        }
    }
}
