//! Whether operations fit into one instruction slot: three RGB and three alpha addresses, a presubtract of each kind (CTM §3.3.1, §3.3.2).

use crate::ir::{ALPHA, Alu, Comp, Op, Pre, RGB, Reg};

/// The needs of one operand of one unit.
#[derive(Clone, Copy, Default)]
struct Need {
    rgb: Option<Reg>,
    alpha: Option<Reg>,
    /// A constant that either kind of address can hold.
    either: Option<Reg>,
    /// It must be the first address.
    first: bool,
}

#[derive(Clone, Copy, Default)]
struct AddressSlots {
    rgb: [Option<Reg>; 3],
    alpha: [Option<Reg>; 3],
    rgb_pre: Option<Pre>,
    alpha_pre: Option<Pre>,
}

fn put(slot: &mut Option<Reg>, reg: Option<Reg>) -> bool {
    match (reg, *slot) {
        (None, _) => true,
        (Some(reg), Some(held)) => reg == held,
        (Some(reg), None) => {
            *slot = Some(reg);
            true
        }
    }
}

impl AddressSlots {
    fn presubtract(&mut self, pre: Pre, alpha: bool) -> bool {
        let (held, list) =
            if alpha { (&mut self.alpha_pre, &mut self.alpha) } else { (&mut self.rgb_pre, &mut self.rgb) };
        let [first, second] = pre.sources();
        *held.get_or_insert(pre) == pre && put(&mut list[0], first) && put(&mut list[1], second)
    }

    fn place(self, needs: &[Need]) -> bool {
        let Some((need, rest)) = needs.split_first() else { return true };
        let forms: &[(Option<Reg>, Option<Reg>)] = &match need.either {
            Some(reg) => [(Some(reg), None), (None, Some(reg))],
            None => [(need.rgb, need.alpha); 2],
        };
        for &(rgb, alpha) in &forms[..if need.either.is_some() { 2 } else { 1 }] {
            for n in 0..if need.first { 1 } else { 3 } {
                let mut next = self;
                if put(&mut next.rgb[n], rgb) && put(&mut next.alpha[n], alpha) && next.place(rest) {
                    return true;
                }
            }
        }
        false
    }
}

/// The needs of the components of one operand in one unit; `None` if no address can give it.
fn need(comps: impl Iterator<Item = Comp>, pre: Option<Pre>, slots: &mut AddressSlots) -> Option<Need> {
    let mut need = Need::default();
    let mut presubtracts = false;
    for comp in comps {
        match comp {
            Comp::Absent | Comp::Zero | Comp::Half | Comp::One => {}
            Comp::Read(reg @ Reg::Inline(_), _) => {
                if *need.either.get_or_insert(reg) != reg {
                    return None;
                }
            }
            Comp::Read(reg, c) => {
                let part = if c == 3 { &mut need.alpha } else { &mut need.rgb };
                if *part.get_or_insert(reg) != reg {
                    return None;
                }
            }
            Comp::Pre(c) => {
                presubtracts = true;
                if !slots.presubtract(pre?, c == 3) {
                    return None;
                }
            }
        }
    }
    // One selection per operand: an address or the presubtract. Numbers are alone.
    let plain = need.rgb.is_some() || need.alpha.is_some();
    let mixed = presubtracts && (plain || need.either.is_some()) || plain && need.either.is_some();
    (!mixed).then_some(need)
}

/// Whether the operations, of different units, fit into one slot.
pub(crate) fn fits(list: &[&Alu]) -> bool {
    let mut slots = AddressSlots::default();
    let mut needs = Vec::with_capacity(6);
    for alu in list {
        for n in 0..alu.op.operands() {
            let operand = alu.src[n].masked(alu.components(n));
            for unit in [RGB, ALPHA] {
                let comps = operand.masked(unit).comps.into_iter();
                let Some(mut found) = need(comps, operand.pre, &mut slots) else { return false };
                found.first = matches!(alu.op, Op::Mdh | Op::Mdv) && n == 0;
                needs.push(found);
            }
        }
    }
    // Fewest choices first.
    needs.retain(|n| n.rgb.is_some() || n.alpha.is_some() || n.either.is_some());
    needs.sort_by_key(|n| (!n.first, n.rgb.is_none() || n.alpha.is_none(), n.either.is_some()));
    slots.place(&needs)
}
