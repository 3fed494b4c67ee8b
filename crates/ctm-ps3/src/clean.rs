//! Passes that make code smaller without changing results.

use crate::graph::{BlockGraph, backwards, slot};
use crate::ir::{Alu, Comp, FlowStatement, Reg, UnitKind, V, VirtualProgram, VirtualStatement, channels};
use ctm_isa::x1k::inst::inline_code;

/// Takes out subroutines that nothing calls, and the marks of labels are kept for the others.
pub(crate) fn uncalled(code: &mut VirtualProgram) {
    let called = crate::structure::called(&code.insts);
    let mut keep = true;
    code.insts.retain(|inst| {
        if let VirtualStatement::Flow(FlowStatement::Label(label), _) = inst {
            keep = called.contains(label);
        }
        keep
    });
    // Without subroutines the end needs no mark.
    if called.is_empty() && matches!(code.insts.last(), Some(VirtualStatement::Flow(FlowStatement::End, _))) {
        code.insts.pop();
    }
}

/// Components with values that every instruction has (0, 0.5, 1, and the inline constants) need no constant register.
pub(crate) fn constants(code: &mut VirtualProgram) {
    let VirtualProgram { insts, floats, .. } = code;
    for inst in insts {
        let VirtualStatement::Alu(alu) = inst else { continue };
        for n in 0..alu.op.operands() {
            let wanted = alu.components(n);
            let operand = &mut alu.src[n];
            if operand.pre.is_some() {
                continue;
            }
            let value = |comp: Comp| match comp {
                Comp::Read(Reg::Const(c), channel) => floats.get(&c).map(|v| f32::from_bits(v[usize::from(channel)])),
                Comp::Zero => Some(0.0),
                Comp::Half => Some(0.5),
                Comp::One => Some(1.0),
                _ => None,
            };
            // One negative number for all components: the sign becomes the operand's.
            let first = channels(wanted).next().and_then(|c| value(operand.comps[usize::from(c)]));
            let same = channels(wanted)
                .all(|c| value(operand.comps[usize::from(c)]).map(f32::to_bits) == first.map(f32::to_bits));
            let (mut sign, mut all) = (false, None);
            if let Some(first) = first.filter(|f| same && !f.is_nan()) {
                sign = first.is_sign_negative();
                all = Some(first.abs());
            }
            let fixed = |v: f32| match v {
                v if v.to_bits() == 0 => Some(Comp::Zero),
                0.5 => Some(Comp::Half),
                1.0 => Some(Comp::One),
                _ => None,
            };
            // How a number is read; by its alpha address or its RGB address is decided later.
            let inline = |v: f32| inline_code(v).map(|_| Comp::Read(Reg::Inline(v.to_bits()), 3));
            if let Some(comp) = all.and_then(|v| fixed(v).or_else(|| inline(v))) {
                channels(wanted).for_each(|c| operand.comps[usize::from(c)] = comp);
                if sign && !operand.abs {
                    operand.neg = !operand.neg;
                }
                continue;
            }
            for c in channels(wanted) {
                let comp = &mut operand.comps[usize::from(c)];
                if let Some(fixed) = value(*comp).and_then(fixed) {
                    *comp = fixed;
                }
            }
        }
    }
}

/// Dead code elimination: removes writes of channels that are never read, and narrows partly dead ones.
pub(crate) fn dead(code: &mut VirtualProgram) -> bool {
    let graph = BlockGraph::of(&code.insts);
    let live_out = graph.live_out(code);
    let mut keep = vec![true; code.insts.len()];
    let mut changed = false;
    for (n, block) in graph.blocks.iter().enumerate() {
        let mut live = live_out[n].clone();
        for i in block.range.clone().rev() {
            let wanted = |v: Option<V>, c: u8| v.is_some_and(|v| live.has(slot(v, c)));
            match &mut code.insts[i] {
                VirtualStatement::Alu(alu) if alu.dest.temp.is_some() => {
                    let mask =
                        channels(alu.dest.mask).filter(|&c| wanted(alu.dest.temp_of(c), c)).fold(0, |m, c| m | 1 << c);
                    changed |= narrow(alu, mask);
                    keep[i] = mask != 0;
                }
                VirtualStatement::Tex(tex) => {
                    let mask = channels(tex.mask).filter(|&c| wanted(Some(tex.dest), c)).fold(0, |m, c| m | 1 << c);
                    changed |= mask != tex.mask;
                    tex.mask = mask;
                    keep[i] = mask != 0;
                }
                _ => {}
            }
            if keep[i] {
                backwards(&code.insts[i], code, &mut live);
            }
        }
    }
    let mut keep = keep.into_iter();
    code.insts.retain(|_| keep.next().unwrap_or(true));
    changed
}

fn narrow(alu: &mut Alu, mask: u8) -> bool {
    if mask == alu.dest.mask {
        return false;
    }
    // A copy of a dot product into alpha, or of a scalar into RGB, can are alone with its own register.
    if alu.op.kind() != UnitKind::Wide && mask == 8 {
        alu.dest.temp = alu.dest.temp_of(3);
        alu.dest.alpha_temp = None;
    } else if mask & 8 == 0 {
        alu.dest.alpha_temp = None;
    } else if mask == 8 {
        alu.dest.temp = alu.dest.temp_of(3);
        alu.dest.alpha_temp = None;
    }
    alu.dest.mask = mask;
    true
}
