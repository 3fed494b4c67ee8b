//! Sends of a wavefront: exports, memory writes, vertex events; and the places where wavefronts of a group take
//! turns.

use super::clauses::element_of;
use super::{After, Build, Lower, Result, StackState, Stop, TestedLanes};
use crate::masked::{M, MaskOp, Op, Store, Var, Yield};
use ctm_exec::r700::VertexEvent;
use ctm_exec::r700::memory::space;
use ctm_isa::r700::inst::{Cf, CfExport, CfMem, ClauseBody, Fetch as Inst};
use ctm_isa::r700::ops::MemOp;
use ctm_isa::r700::program::Stage;

impl Lower<'_> {
    /// Yields before an instruction whose effects other wavefronts of the group may see, or that may see theirs.
    pub(super) fn yields_at(&mut self, b: &mut Build, cf: &Cf, clause: &ClauseBody) {
        if self.takes_turns && self.is_seen(cf, clause) {
            let number = self.code.yields.len() as u16;
            self.code.yields.push(Yield { block: self.current, before: b.tally.steps() });
            b.effect(Op::Yield(number));
        }
    }

    /// Whether other wavefronts of the group may see the effects of an instruction, or it may see theirs.
    fn is_seen(&self, cf: &Cf, clause: &ClauseBody) -> bool {
        let fetches = |inst: &Inst| match inst {
            Inst::MemRd(read) => read.word0.mem_op != MemOp::RdScratch,
            Inst::MemDsw(_) | Inst::MemDsr(_) => true,
            Inst::Tex(_) | Inst::Vtx(_) => false,
        };
        match (cf, clause) {
            (Cf::Mem(cf), _) => space(cf.word1.op).is_some(),
            (_, ClauseBody::Fetch(clause)) => {
                clause.fetches.iter().any(|fetch| fetch.inst.as_ref().is_ok_and(|inst| fetches(&inst.fetch)))
            }
            _ => false,
        }
    }

    /// `EMIT_VERTEX` and similar instructions.
    pub(super) fn vertex_event(&mut self, b: &mut Build, test: TestedLanes, event: VertexEvent) -> Result<After> {
        if self.launch.stage != Stage::Geometry {
            return Err(Stop::BailOut);
        }
        let pass = self.test(b, test, M::ACTIVE);
        let zero = b.bits(0);
        let number = self.store_number(Store::Event(event));
        b.effect(Op::Store { number, operands: [zero; 5], under: pass });
        Ok(b.on())
    }

    /// A memory write.
    pub(super) fn store(&mut self, b: &mut Build, state: &StackState, cf: &CfMem) -> Result {
        let word = &cf.word1;
        let test = TestedLanes::of(word.whole_quad_mode, word.valid_pixel_mode);
        let executes = self.concerned(b, test);
        b.forget_beside(executes);
        // Lanes that are not valid write nothing.
        b.mask(MaskOp::And(M::TEMP2, executes, M::VALID));
        let zero = b.bits(0);
        let index = if cf.kind.is_indexed() {
            self.source(b, (cf.word0.index_gpr, false), 0, state.index_place(), false)
        } else {
            zero
        };
        for burst in 0..=word.burst_count {
            let mut values = [index, zero, zero, zero, zero];
            for element in (0..4u8).filter(|element| word.comp_mask >> element & 1 == 1) {
                let from = (cf.word0.rw_gpr.saturating_add(burst), cf.word0.rw_rel);
                values[usize::from(element) + 1] = self.source(b, from, element, state.index_place(), false);
            }
            let number = self.store_number(Store::Memory(*cf, burst));
            b.effect(Op::Store { number, operands: values, under: M::TEMP2 });
        }
        b.forget_beside(executes);
        Ok(())
    }

    /// `EXPORT`, `EXPORT_DONE`.
    pub(super) fn export(&mut self, b: &mut Build, state: &StackState, cf: &CfExport) -> Result {
        let word = &cf.word1;
        let test = TestedLanes::of(word.whole_quad_mode, word.valid_pixel_mode);
        let under = self.concerned(b, test);
        b.forget_beside(under);
        for burst in 0..=word.burst_count {
            let index = u32::from(cf.word0.array_base) + u32::from(burst);
            let target = ctm_exec::r700::Target::from_fields(cf.kind, index).map_err(|_| Stop::BailOut)?;
            let place = ctm_exec::r700::Target::all().position(|t| t == target).ok_or(Stop::BailOut)?;
            let from = (cf.word0.rw_gpr.saturating_add(burst), cf.word0.rw_rel);
            for (element, sel) in cf.swizzle().into_iter().enumerate() {
                let value = match element_of(sel) {
                    Ok(of) => self.source(b, from, of, state.index_place(), false),
                    Err(Some(bits)) => b.bits(bits),
                    Err(None) => continue,
                };
                let var = Var::export(place, element);
                b.set(var, value, under);
                // Epilogues read colours; nothing else does.
                if self.launch.epilogues.is_empty() || !matches!(target, ctm_exec::r700::Target::Pixel(_)) {
                    b.effect(Op::Mark(var, under));
                }
            }
        }
        b.forget_beside(under);
        Ok(())
    }
}
