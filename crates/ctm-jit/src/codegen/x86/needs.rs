//! Which masks of a copy code has to keep, where it decides for all copies together: most programs ask for few of them.

use super::lir::{Lines, Lir};
use crate::ir::x1k::leaves_loop;
use crate::ir::x1k::{Code, End, Flow, Target, Under};
use crate::passes::table::Pass;

/// What is looked at.
#[derive(Clone, Debug, Default)]
pub struct Needs {
    /// Some predicate bit.
    pub predicates: bool,
    /// Covered lanes may become fewer.
    pub covered: bool,
    /// Which lanes wrote an output; otherwise all lanes there are have written all outputs when the program ends.
    pub written: bool,
    /// For each frame of the loop stack, who runs behind its loops.
    pub behind: Vec<bool>,
}

impl Needs {
    /// Works them out. `outputs`: the output components that the program may write.
    pub fn of(code: &Code, lines: &[Lines], outputs: &[usize]) -> Self {
        let all = || lines.iter().flat_map(|lines| &lines.lir);
        let flows = || code.blocks.iter().filter_map(|b| if let End::Flow(flow) = b.end { Some(flow) } else { None });
        let calls = all().any(|lir| matches!(lir, Lir::Write(..)));
        let predicates = calls
            || all().filter_map(under).any(|under| under.predicate.is_some())
            || flows().any(|flow| flow.predicate.is_some());
        let covered = all().any(|lir| matches!(lir, Lir::Kill(..)));
        let everywhere = Under { inactive: true, ..Under::default() };
        let writes_all =
            |lines: &Lines| outputs.iter().all(|&output| lines.lir.contains(&Lir::Written(output as u8, everywhere)));
        let ends = code.blocks.iter().zip(lines).filter(|(block, _)| block.end == End::Stop);
        let written = covered || !ends.into_iter().all(|(_, lines)| writes_all(lines));
        let running = running(code, lines);
        let frames = flows().map(|flow| usize::from(flow.frame) + 1).max().unwrap_or(0);
        let mut behind = vec![false; frames];
        for flow in flows() {
            for (target, jumps) in [(flow.stay, false), (flow.jump, true)] {
                if let Target::Block(next) = target
                    && leaves_loop(flow.op, jumps)
                {
                    behind[usize::from(flow.frame)] |= running[next.index()];
                }
            }
        }
        if !Pass::Needs.is_on() {
            return Self { predicates: true, covered: true, written: true, behind: vec![true; frames] };
        }
        Self { predicates, covered, written, behind }
    }
}

/// The lanes of an instruction's effect.
const fn under(lir: &Lir) -> Option<Under> {
    match *lir {
        Lir::Set(_, _, Some(under))
        | Lir::TwoUnder(.., under)
        | Lir::FmaUnder(.., under)
        | Lir::Written(_, under)
        | Lir::SetMask(_, _, under)
        | Lir::Kill(_, under)
        | Lir::Fetch(_, under)
        | Lir::Write(_, under)
        | Lir::SetTempRelative { under, .. } => Some(under),
        _ => None,
    }
}

/// For each block, whether it matters at its beginning or later who runs.
fn running(code: &Code, lines: &[Lines]) -> Vec<bool> {
    let asks =
        |lir: &Lir| matches!(lir, Lir::Fetch(..) | Lir::Write(..)) || under(lir).is_some_and(|under| !under.inactive);
    let own = |(block, lines): (&crate::ir::x1k::Block, &Lines)| {
        matches!(block.end, End::Flow(Flow { .. })) || lines.lir.iter().any(asks)
    };
    let mut running: Vec<bool> = code.blocks.iter().zip(lines).map(own).collect();
    let mut changed = true;
    while changed {
        changed = false;
        for (index, block) in code.blocks.iter().enumerate() {
            if !running[index] && block.successors().any(|next| running[next.index()]) {
                running[index] = true;
                changed = true;
            }
        }
    }
    running
}
