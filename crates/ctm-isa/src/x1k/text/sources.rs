//! From the two halves to the six words: which of the three RGB and three alpha addresses holds which source.
//!
//! Operand `srcN` is the vector `{rgb_addrN.rgb, alpha_addrN.a}` (CTM §3.3.3), and both units select from the same three. So
//! an operand that reads `r0.r` needs r0 in an RGB address, one that reads `r0.a` needs it in an alpha address, and one
//! that reads both needs them at the same number. The search is small and its order is fixed: fewest new addresses first,
//! then the lowest number; operand A of the RGB unit, A of the alpha unit, B of both, C of both.

use super::constants::{Pool, unit_comps};
use super::operand::{ALPHA, Base, Comp, Operand, Presub, RGB};
use super::pair::{Half, Pair};
use crate::x1k::inst::{AluInst, Source, inline_code};
use crate::x1k::ops::{AluResultSel, CompareOp, Imod, InstType, RgbOp, Sel, SrcpOp, Swizzle};

/// Why no assignment exists.
#[derive(Debug)]
pub(super) enum NoAssignment {
    /// Two different presubtracts in one unit.
    Presubtracts,
    /// One operand mixes sources in a way that no selection can make.
    Operand,
    /// More than three addresses of a kind, or sources that exclude each other: RGB and alpha sources.
    Addresses(Vec<Source>, Vec<Source>),
}

/// The addresses while they are being assigned.
#[derive(Clone, Copy)]
struct AddressSlots {
    rgb: [Option<Source>; 3],
    alpha: [Option<Source>; 3],
    rgb_presub: Option<Presub>,
    alpha_presub: Option<Presub>,
}

/// One operand with its components' places decided.
#[derive(Clone, Copy)]
struct Routed {
    swizzle: [Swizzle; 4],
    rgb: Option<Base>,
    alpha: Option<Base>,
    /// A quad operation's A: its source must be source 0.
    first: bool,
}

impl Routed {
    fn is_presub(&self) -> bool {
        matches!(self.rgb.or(self.alpha), Some(Base::Presub(_)))
    }
}

/// The ways in which an operand's components can be read.
fn routes(comps: &[Comp], offset: usize, first: bool, pool: &Pool) -> Vec<Routed> {
    let mut open = vec![Routed { swizzle: [Swizzle::R; 4], rgb: None, alpha: None, first }];
    for (i, comp) in comps.iter().enumerate() {
        let at = i + offset;
        let read = |routed: &Routed, base: Base, channel: Swizzle| -> Option<Routed> {
            let mut routed = *routed;
            routed.swizzle[at] = channel;
            let part = if channel == Swizzle::A { &mut routed.alpha } else { &mut routed.rgb };
            if *part.get_or_insert(base) != base {
                return None;
            }
            let presub = |b: Base| matches!(b, Base::Presub(_));
            let mixed = routed.rgb.zip(routed.alpha).is_some_and(|(a, b)| presub(a) != presub(b));
            (!mixed).then_some(routed)
        };
        match *comp {
            Comp::Absent => {}
            Comp::Fixed(swizzle) => open.iter_mut().for_each(|r| r.swizzle[at] = swizzle),
            Comp::Read(base, channel) => open = open.iter().filter_map(|r| read(r, base, channel)).collect(),
            Comp::Number(bits) => {
                let inline = inline_code(f32::from_bits(bits)).map(|code| Source::Inline { code, relative: false });
                // Alpha addresses first: fewer operands need them.
                let places =
                    inline.into_iter().flat_map(|s| [(s, Swizzle::A), (s, Swizzle::R)]).chain(pool.places(bits));
                let places: Vec<_> = places.collect();
                open = open
                    .iter()
                    .flat_map(|r| places.iter().filter_map(|&(s, channel)| read(r, Base::Plain(s), channel)))
                    .collect();
            }
        }
    }
    open
}

/// The order in which operands (A, B, C of the RGB unit, then of the alpha unit) get their addresses: those that are often
/// the same register get the same number.
const ORDER: [usize; 6] = [0, 3, 1, 4, 2, 5];

/// The assignment: addresses, and for each of the six operands its selection and swizzle.
struct Search {
    routes: [Vec<Routed>; 6],
    fixed_rgb: bool,
    fixed_alpha: bool,
}

impl Search {
    fn solve(&self, step: usize, slots: AddressSlots, chosen: &mut [(Sel, [Swizzle; 4]); 6]) -> Option<AddressSlots> {
        let Some(&operand) = ORDER.get(step) else { return Some(slots) };
        let routes = &self.routes[operand];
        for routed in routes {
            chosen[operand].1 = routed.swizzle;
            if routed.rgb.is_none() && routed.alpha.is_none() {
                chosen[operand].0 = Sel::Src0;
                return self.solve(step + 1, slots, chosen);
            }
            if routed.is_presub() {
                chosen[operand].0 = Sel::Srcp;
                // The addresses were set before the search.
                if let Some(found) = self.solve(step + 1, slots, chosen) {
                    return Some(found);
                }
                continue;
            }
            let plain = |base: Option<Base>| match base {
                Some(Base::Plain(source)) => Some(source),
                _ => None,
            };
            let (rgb, alpha) = (plain(routed.rgb), plain(routed.alpha));
            for new in 0..=2 {
                for (n, sel) in [Sel::Src0, Sel::Src1, Sel::Src2].into_iter().enumerate() {
                    let mut next = slots;
                    let mut added = 0;
                    if !put(&mut next.rgb[n], rgb, self.fixed_rgb, &mut added)
                        || !put(&mut next.alpha[n], alpha, self.fixed_alpha, &mut added)
                        || added != new
                        || (routed.first && n != 0)
                    {
                        continue;
                    }
                    chosen[operand].0 = sel;
                    if let Some(found) = self.solve(step + 1, next, chosen) {
                        return Some(found);
                    }
                }
            }
        }
        None
    }
}

/// Puts a source into an address, if that is free or holds it already.
fn put(slot: &mut Option<Source>, source: Option<Source>, fixed: bool, added: &mut u32) -> bool {
    match (source, *slot) {
        (None, _) => true,
        (Some(source), Some(held)) => source == held,
        (Some(source), None) => {
            *slot = Some(source);
            *added += 1;
            !fixed
        }
    }
}

/// Assigns addresses and writes the fields. Flags of `CMN_INST` that attributes set are left clear.
pub(super) fn encode(
    pair: &Pair,
    rgb_sources: Option<[Source; 3]>,
    alpha_sources: Option<[Source; 3]>,
    pool: &Pool,
) -> Result<AluInst, NoAssignment> {
    let mut slots = AddressSlots {
        rgb: rgb_sources.map_or([None; 3], |list| list.map(Some)),
        alpha: alpha_sources.map_or([None; 3], |list| list.map(Some)),
        rgb_presub: None,
        alpha_presub: None,
    };
    let operand = |i: usize| -> (&Operand, u8, bool) {
        if i < 3 {
            (&pair.rgb.operands[i], RGB, pair.rgb.op.is_quad() && i == 0)
        } else {
            (&pair.alpha.operands[i - 3], ALPHA, pair.alpha.op.is_quad() && i == 3)
        }
    };
    let routes: [Vec<Routed>; 6] = std::array::from_fn(|i| {
        let (operand, unit, first) = operand(i);
        routes(unit_comps(operand, unit), if unit == ALPHA { 3 } else { 0 }, first, pool)
    });
    if routes.iter().any(Vec::is_empty) {
        return Err(NoAssignment::Operand);
    }
    let search = Search { routes, fixed_rgb: rgb_sources.is_some(), fixed_alpha: alpha_sources.is_some() };
    // Presubtracts take src0, and src1 for SUB and ADD (CTM §3.3.2).
    for routed in search.routes.iter().flat_map(|r| r.iter().take(1)) {
        for (base, presub, list) in [
            (routed.rgb, &mut slots.rgb_presub, &mut slots.rgb),
            (routed.alpha, &mut slots.alpha_presub, &mut slots.alpha),
        ] {
            let Some(Base::Presub(wanted)) = base else { continue };
            if *presub.get_or_insert(wanted) != wanted {
                return Err(NoAssignment::Presubtracts);
            }
            if *list[0].get_or_insert(wanted.src0) != wanted.src0
                || wanted.src1.is_some_and(|s| *list[1].get_or_insert(s) != s)
            {
                return Err(addresses(&search));
            }
        }
    }
    let mut chosen = [(Sel::Src0, [Swizzle::R; 4]); 6];
    let Some(slots) = search.solve(0, slots, &mut chosen) else { return Err(addresses(&search)) };
    Ok(fields(pair, &slots, &chosen))
}

/// Everything that the operands read, for the message.
fn addresses(search: &Search) -> NoAssignment {
    let (mut rgb, mut alpha) = (Vec::new(), Vec::new());
    for routed in search.routes.iter().filter_map(|r| r.first()) {
        for (base, list) in [(routed.rgb, &mut rgb), (routed.alpha, &mut alpha)] {
            let sources = match base {
                None => [None, None],
                Some(Base::Plain(source)) => [Some(source), None],
                Some(Base::Presub(p)) => [Some(p.src0), p.src1],
            };
            for source in sources.into_iter().flatten() {
                if !list.contains(&source) {
                    list.push(source);
                }
            }
        }
    }
    NoAssignment::Addresses(rgb, alpha)
}

fn fields(pair: &Pair, slots: &AddressSlots, chosen: &[(Sel, [Swizzle; 4]); 6]) -> AluInst {
    let mut inst = AluInst::idle(InstType::Alu);
    let list = slots.rgb.map(|s| s.unwrap_or(Source::IDLE).fields());
    let r = &mut inst.rgb_addr;
    (r.addr0, r.addr0_const, r.addr0_rel) = list[0];
    (r.addr1, r.addr1_const, r.addr1_rel) = list[1];
    (r.addr2, r.addr2_const, r.addr2_rel) = list[2];
    r.srcp_op = slots.rgb_presub.map_or(SrcpOp::Bias, |p| p.op);
    let list = slots.alpha.map(|s| s.unwrap_or(Source::IDLE).fields());
    let a = &mut inst.alpha_addr;
    (a.addr0, a.addr0_const, a.addr0_rel) = list[0];
    (a.addr1, a.addr1_const, a.addr1_rel) = list[1];
    (a.addr2, a.addr2_const, a.addr2_rel) = list[2];
    a.srcp_op = slots.alpha_presub.map_or(SrcpOp::Bias, |p| p.op);

    let c = &mut inst.cmn;
    let rgb: &Half<RgbOp> = &pair.rgb;
    c.kind = pair.kind;
    (c.rgb_pred_sel, c.rgb_pred_inv) = (rgb.pred.sel, rgb.pred.invert);
    (c.rgb_wmask, c.rgb_omask, c.rgb_clamp) = (rgb.wmask & RGB, rgb.omask & RGB, rgb.clamp);
    let alpha = &pair.alpha;
    (c.alpha_pred_sel, c.alpha_pred_inv) = (alpha.pred.sel, alpha.pred.invert);
    (c.alpha_wmask, c.alpha_omask, c.alpha_clamp) = (alpha.wmask & ALPHA != 0, alpha.omask & ALPHA != 0, alpha.clamp);
    (c.alu_result_sel, c.alu_result_op) = pair.result.unwrap_or((AluResultSel::Red, CompareOp::Equal));

    // A half that writes no output has no target of its own: it gets the other half's, as compilers do.
    let mut targets = (rgb.target, alpha.target);
    if pair.kind == InstType::Output && rgb.omask == 0 {
        targets.0 = alpha.target;
    } else if pair.kind == InstType::Output && alpha.omask == 0 {
        targets.1 = rgb.target;
    }

    let imod = |i: usize| if i < 3 { rgb.operands[i].imod } else { alpha.operands[i - 3].imod };
    let imod: [Imod; 6] = std::array::from_fn(imod);
    let i = &mut inst.rgb;
    (i.sel_a, [i.red_swiz_a, i.green_swiz_a, i.blue_swiz_a, _], i.imod_a) = (chosen[0].0, chosen[0].1, imod[0]);
    (i.sel_b, [i.red_swiz_b, i.green_swiz_b, i.blue_swiz_b, _], i.imod_b) = (chosen[1].0, chosen[1].1, imod[1]);
    (i.omod, i.target, i.alu_wmask) = (rgb.omod, targets.0, pair.result.is_some());
    let i = &mut inst.alpha;
    (i.op, i.addrd, i.addrd_rel) = (alpha.op, alpha.addrd, alpha.addrd_rel);
    (i.sel_a, i.swiz_a, i.imod_a) = (chosen[3].0, chosen[3].1[3], imod[3]);
    (i.sel_b, i.swiz_b, i.imod_b) = (chosen[4].0, chosen[4].1[3], imod[4]);
    (i.omod, i.target, i.w_omask) = (alpha.omod, targets.1, pair.w);
    let i = &mut inst.rgba;
    (i.op, i.addrd, i.addrd_rel) = (rgb.op, rgb.addrd, rgb.addrd_rel);
    (i.rgb_sel_c, [i.red_swiz_c, i.green_swiz_c, i.blue_swiz_c, _], i.rgb_imod_c) = (chosen[2].0, chosen[2].1, imod[2]);
    (i.alpha_sel_c, i.alpha_swiz_c, i.alpha_imod_c) = (chosen[5].0, chosen[5].1[3], imod[5]);
    inst
}
