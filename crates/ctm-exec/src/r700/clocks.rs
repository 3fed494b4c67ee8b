//! The clock model of R700 launches: the cost of an instruction for a wavefront, by its words alone (`docs/clocks.md`).

use ctm_isa::r700::inst::{AluClause, AluInst, Fetch};
use ctm_isa::r700::ops::{IndexMode, SideEffect};

/// Lanes that execute a group in one clock: 1.25 operations for each of 64 elements make 16 groups of five (R700, glossary, *VLIW design*).
pub const GROUP_LANES: u64 = 16;
/// Lanes that fetch in one clock, as of the local data share (R700 §2.6.2).
pub const FETCH_LANES: u64 = 4;
/// Clocks of a control-flow instruction.
pub const CONTROL_CLOCKS: u64 = 4;
/// Groups that must lie between a MOVA* and the first use of its index; the machine waits for those that do not (R700 §4.6.4.5).
pub const MOVA_DELAY: u32 = 2;

/// Whether an instruction uses the address register.
fn uses_address(inst: &AluInst) -> bool {
    let by_address = match inst.word0.index_mode {
        IndexMode::ArX | IndexMode::ArY | IndexMode::ArZ | IndexMode::ArW | IndexMode::GlobalArX => true,
        IndexMode::Loop | IndexMode::Global => false,
    };
    let operands = usize::from(inst.op().info().operands);
    by_address && (inst.destination().1 || (0..operands).any(|index| inst.operand(index).relative))
}

/// Groups that a wavefront waits in a clause for the address register.
#[must_use]
pub fn delays(clause: &AluClause) -> u32 {
    let mut waited = 0;
    // Groups since the last MOVA*, waits included.
    let mut since = MOVA_DELAY;
    for group in &clause.groups {
        if group.slots.iter().any(|slot| uses_address(&slot.inst)) {
            let wait = MOVA_DELAY.saturating_sub(since);
            waited += wait;
            since += wait;
        }
        let sets = group.slots.iter().any(|slot| slot.inst.op().info().kind == SideEffect::Mova);
        since = if sets { 0 } else { since.saturating_add(1) };
    }
    waited
}

/// Passes of a fetch over its lanes: a read of the local data share with WATERFALL takes four (R700 §10.6).
#[must_use]
pub const fn passes(fetch: &Fetch) -> u64 {
    match fetch {
        Fetch::MemDsr(read) if read.word1.waterfall => 4,
        Fetch::MemDsr(_) | Fetch::MemDsw(_) | Fetch::MemRd(_) | Fetch::Vtx(_) | Fetch::Tex(_) => 1,
    }
}
