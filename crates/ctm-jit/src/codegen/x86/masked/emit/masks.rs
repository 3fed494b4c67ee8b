//! Masks other than the active lanes, and numbers: in registers or in the frame; operations on all of them.

use super::{ACTIVE, Emit, Input, head};
use crate::codegen::x86::allocate::MOST_PIECES;
use crate::codegen::x86::masked::Ins;
use crate::codegen::x86::masked::wide;
use crate::ir::masked::{End, M, MaskOp};
use ctm_x86::{Gpr, Int, RAX, RBX, RCX, RDI, RSI};

/// Registers for the masks that are used most.
const REGISTERS: [Gpr; 5] = [9, 10, RSI, RDI, 11];

/// Registers for the masks and numbers that are used most, weighted by the depth of loops. Those with uses outside of
/// the code stay in the frame.
pub(super) fn locations(input: &Input<'_>) -> Vec<Option<Gpr>> {
    let mut locations = vec![None; M::COUNT];
    if input.leaves || input.pieces > MOST_PIECES {
        return locations;
    }
    let mut uses = vec![0u64; M::COUNT];
    let shared = [M::ACTIVE, M::EXISTING, M::NONE, M::VALID];
    for ((block, list), iterations) in input.code.blocks.iter().zip(input.lists).zip(input.iterations) {
        let weight = 1 << (3 * u64::from(block.loops.min(8)));
        let mut note = |m: M| uses[m.index()] += weight;
        for ins in list {
            match *ins {
                Ins::Mask(op) => op.reads().into_iter().flatten().chain([op.writes()]).for_each(&mut note),
                Ins::Set { under: m, .. }
                | Ins::SetTwo { under: m, .. }
                | Ins::SetRelative { under: m, .. }
                | Ins::Keep { under: m, .. }
                | Ins::Guard { number: m, .. }
                | Ins::Mark(_, m)
                | Ins::EndLeave(m)
                | Ins::EndLanes(m) => note(m),
                _ => {}
            }
        }
        if let End::Branch { mask, .. } = block.end {
            note(mask);
        }
        iterations.iter().for_each(|iterations| note(iterations.left));
    }
    // Vectors are made of these.
    let numbers =
        input.lists.iter().flatten().filter_map(|ins| if let Ins::Number(_, m) = *ins { Some(m) } else { None });
    numbers.chain(shared).for_each(|m| uses[m.index()] = 0);
    for register in REGISTERS {
        let most = (0..M::COUNT).max_by_key(|&m| (uses[m], std::cmp::Reverse(m))).filter(|&m| uses[m] > 0);
        let Some(m) = most else { break };
        locations[m] = Some(register);
        uses[m] = 0;
    }
    locations
}

impl Emit<'_> {
    /// The register of a mask.
    pub(super) fn mask_location(&self, m: M) -> Option<Gpr> {
        if m == M::ACTIVE { Some(ACTIVE) } else { self.masks[m.index()] }
    }

    /// A register that holds a mask: its own, or `scratch`.
    pub(super) fn mask_register(&mut self, m: M, scratch: Gpr) -> Gpr {
        if m == M::ACTIVE {
            self.whole();
        }
        self.mask_location(m).unwrap_or_else(|| {
            self.asm.int_load(Int::Mov, true, scratch, RBX, head::mask(m));
            scratch
        })
    }

    pub(super) fn load_mask(&mut self, register: Gpr, m: M) {
        let from = self.mask_register(m, register);
        if from != register {
            self.asm.wide(Int::Mov, register, from);
        }
    }

    pub(super) fn store_mask(&mut self, m: M, register: Gpr) {
        match self.mask_location(m) {
            Some(location) if location == register => {}
            Some(location) => self.asm.wide(Int::Mov, location, register),
            None => self.asm.int_store(Int::Mov, true, RBX, head::mask(m), register),
        }
        if m == M::ACTIVE {
            (self.is_whole, self.is_spread) = (true, false);
        }
    }

    /// `register op= m`.
    fn with_mask(&mut self, op: Int, register: Gpr, m: M) {
        if m == M::ACTIVE {
            self.whole();
        }
        match self.mask_location(m) {
            Some(location) => self.asm.wide(op, register, location),
            None => self.asm.int_load(op, true, register, RBX, head::mask(m)),
        }
    }

    /// `d = a op b`.
    fn combine(&mut self, op: Int, d: M, a: M, b: M) {
        let location = self.mask_location(d).filter(|_| d != b || a == b).unwrap_or(RAX);
        self.load_mask(location, a);
        self.with_mask(op, location, b);
        self.store_mask(d, location);
    }

    pub(super) fn mask_op(&mut self, op: MaskOp) {
        match op {
            MaskOp::Copy(d, a) => {
                let from = self.mask_register(a, RAX);
                return self.store_mask(d, from);
            }
            MaskOp::And(d, a, b) => return self.combine(Int::And, d, a, b),
            MaskOp::Or(d, a, b) => return self.combine(Int::Or, d, a, b),
            MaskOp::Xor(d, a, b) => return self.combine(Int::Xor, d, a, b),
            MaskOp::AndNot(_, a, b) => {
                self.load_mask(RAX, b);
                self.asm.wide_not(RAX);
                self.with_mask(Int::And, RAX, a);
            }
            MaskOp::Quads(_, a) => {
                self.load_mask(RAX, a);
                wide::whole_quads(&mut self.asm);
                self.with_mask(Int::And, RAX, M::EXISTING);
            }
            MaskOp::Number(d, number) => {
                self.asm.int_imm(RAX, 0);
                self.asm.wide_imm(Int::Add, RAX, number);
                return self.store_mask(d, RAX);
            }
            MaskOp::Add(d, number, thirteen_bits) => {
                let location = self.mask_location(d).unwrap_or(RAX);
                self.load_mask(location, d);
                wide::add(&mut self.asm, location, number, thirteen_bits);
                return self.store_mask(d, location);
            }
            MaskOp::IfNot0(_, a, b) => {
                self.load_mask(RAX, a);
                self.load_mask(RCX, b);
                wide::unless_zero(&mut self.asm);
            }
            MaskOp::Lanes(..) => return,
        }
        self.store_mask(op.writes(), RAX);
    }
}
