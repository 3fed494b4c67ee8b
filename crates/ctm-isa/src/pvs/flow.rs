//! Flow control: slots outside the program, each with the address of the instruction after which it acts.

use super::FLOW_SLOTS;
use super::formats::{FlowLoopIndex, FlowLower, FlowOpc, FlowUpper};
use super::ops::FlowOp;

/// One flow-control slot: its operation and its three registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowSlot {
    /// What it does.
    pub op: FlowOp,
    /// Where it acts, and where it leads or how often.
    pub lower: FlowLower,
    /// Where it ends, and where the end leads.
    pub upper: FlowUpper,
    /// The loop index.
    pub index: FlowLoopIndex,
}

impl FlowSlot {
    /// A slot that does nothing.
    pub const IDLE: Self = Self {
        op: FlowOp::None,
        lower: FlowLower { act: 0, target_or_count: 0 },
        upper: FlowUpper { last: 0, back: 0 },
        index: FlowLoopIndex { init: 0, step: 0, inherit: false },
    };

    /// After `act`, go on at `target`.
    #[must_use]
    pub const fn jump(act: u16, target: u16) -> Self {
        let lower = FlowLower { act, target_or_count: target };
        Self { op: FlowOp::Jump, lower, ..Self::IDLE }
    }

    /// After `act`, run `first..=last` `count` times, with aL from `init` in steps of `step`.
    #[must_use]
    pub const fn repeat(act: u16, first: u16, last: u16, count: u16, init: u8, step: i8) -> Self {
        Self {
            op: FlowOp::Loop,
            lower: FlowLower { act, target_or_count: count },
            upper: FlowUpper { last, back: first },
            index: FlowLoopIndex { init, step: step.cast_unsigned(), inherit: false },
        }
    }

    /// After `act`, run `first..=last` and go on at `back`.
    #[must_use]
    pub const fn call(act: u16, first: u16, last: u16, back: u16) -> Self {
        Self {
            op: FlowOp::Jsr,
            lower: FlowLower { act, target_or_count: first },
            upper: FlowUpper { last, back },
            index: Self::IDLE.index,
        }
    }

    /// The first instruction that it leads to: of the loop, of the subroutine, or after the jump.
    #[must_use]
    pub const fn leads_to(&self) -> Option<u16> {
        match self.op {
            FlowOp::None => None,
            FlowOp::Jump | FlowOp::Jsr => Some(self.lower.target_or_count),
            FlowOp::Loop => Some(self.upper.back),
        }
    }

    /// The step of aL.
    #[must_use]
    pub const fn step(&self) -> i8 {
        self.index.step.cast_signed()
    }
}

/// The flow-control slots of a program.
pub type FlowTable = [FlowSlot; FLOW_SLOTS];

/// The slots of a program without flow control.
pub const NO_FLOW: FlowTable = [FlowSlot::IDLE; FLOW_SLOTS];

/// The slots that the registers describe: `VAP_PVS_FLOW_CNTL_OPC`, and of each slot `ADDRS_LW`, `ADDRS_UW` and `LOOP_INDEX`.
#[must_use]
pub fn from_registers(opc: u32, slots: &[[u32; 3]; FLOW_SLOTS]) -> FlowTable {
    // Two bits have four values, and each has a meaning; the other fields are numbers.
    let ops = FlowOpc::decode(opc).map_or([FlowOp::None; FLOW_SLOTS], |opc| opc.slots());
    std::array::from_fn(|n| {
        let [lower, upper, index] = slots[n];
        let plain = FlowSlot::IDLE;
        FlowSlot {
            op: ops[n],
            lower: FlowLower::decode(lower).unwrap_or(plain.lower),
            upper: FlowUpper::decode(upper).unwrap_or(plain.upper),
            index: FlowLoopIndex::decode(index).unwrap_or(plain.index),
        }
    })
}

/// The registers of slots, as [`from_registers`] reads them.
#[must_use]
pub fn to_registers(slots: &FlowTable) -> (u32, [[u32; 3]; FLOW_SLOTS]) {
    let opc = FlowOpc::from_slots(slots.map(|slot| slot.op)).encode();
    (opc, slots.map(|slot| [slot.lower.encode(), slot.upper.encode(), slot.index.encode()]))
}

/// What the end of an instruction does to the path, as far as it does not depend on counts (pvs-encoding §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The innermost open slot ends here: a loop goes back or is left, a subroutine returns.
    Ends(usize),
    /// This slot acts.
    Acts(usize),
    /// The next instruction follows.
    Falls,
}

/// The action after instruction `pc` with these slots open, the innermost one last.
///
/// The end of the innermost loop or subroutine comes first. The caller asks again without it when a loop is left: then the next
/// enclosing one may end at the same instruction, or another slot act.
#[must_use]
pub fn action(slots: &FlowTable, open: &[usize], pc: u16) -> Action {
    if let Some(&inner) = open.last()
        && slots[inner].upper.last == pc
    {
        return Action::Ends(inner);
    }
    let acts = slots.iter().position(|slot| slot.op != FlowOp::None && slot.lower.act == pc);
    acts.map_or(Action::Falls, Action::Acts)
}
