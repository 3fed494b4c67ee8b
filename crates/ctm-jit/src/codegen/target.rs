//! Targets: all properties of a back end that stages and passes ask about, once for each.
//!
//! Passes and instruction selection read these values and never a target's name. `docs/engine/adding.md` lists the parts
//! of a further target.

/// A target.
#[derive(Debug)]
pub struct Target {
    /// The name in `CTM_ENGINE_ISA`.
    pub name: &'static str,
    /// Lanes of 32 bits in a register, or in a row of the portable machine.
    pub lanes: usize,
    /// All vector registers; 0: the target runs the masked form, or its compiler allocates them.
    pub all_registers: u8,
    /// Registers that vectors may have; [`SCRATCH`] registers after them are scratch.
    pub registers: u8,
    /// Registers that tiles of streams may fill, scratch registers included.
    pub tile_registers: u8,
    /// The form of lane masks.
    pub masks: Masks,
    /// The length of strips.
    pub strips: Strips,
    /// Short programs with loops have code for each part of a wavefront of 16 lanes, in which all variables are values (`codegen/x86/masked/unrolled.rs`).
    pub unrolls: bool,
    /// Operations that not every target has.
    pub has: Operations,
    /// Estimates for the width of wavefronts.
    pub costs: Costs,
}

/// The most vector registers of a target.
pub const MOST_REGISTERS: u8 = 32;
/// Scratch registers: for results, for operands, for masks that are vectors.
pub const SCRATCH: u8 = 3;

/// The form of the lane masks that instructions use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Masks {
    /// Mask registers: every operation, load and store can work under one.
    Registers,
    /// Vectors with all bits of a lane set or clear: a choice between two vectors takes one, other operations none.
    Vectors,
    /// Words with a bit for each lane.
    Words,
}

/// The length of strips. A strip is a group of instructions; its code handles the first part of all registers, then the next part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strips {
    /// Single instructions: the code of a part is beside that of the others. For targets with many registers.
    Short,
    /// As long as possible: a vector that lives within a strip takes one register. For targets with few.
    Long,
}

/// Operations that not every target has.
#[derive(Clone, Copy, Debug)]
pub struct Operations {
    /// Instructions take four bytes in memory as an operand, the same for all lanes.
    pub broadcast_operands: bool,
    /// Shifts by a number take their operand from memory.
    pub shifts_of_memory: bool,
    /// Unsigned integers become numbers in one instruction.
    pub unsigned_to_float: bool,
    /// Stores that bypass the caches.
    pub stores_past_caches: bool,
    /// Stores at an index of each lane.
    pub scatter: bool,
    /// The smaller magnitude of two numbers, with the sign of the first.
    pub range: bool,
    /// Results are replaced by the class of an operand.
    pub fix_by_class: bool,
    /// A number less its nearest integer.
    pub reduce: bool,
    /// A number times a power of two.
    pub scale: bool,
    /// The fraction and the exponent of a number.
    pub split_number: bool,
}

/// Cycles of an instruction.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Cycles on one register.
    pub cycles: u64,
    /// Cycles until its result is available.
    pub latency_cycles: u64,
}

/// Estimates by which the width of wavefronts is chosen (`codegen/x86/masked/narrow.rs`).
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// An instruction, on average.
    pub instruction: Cost,
    /// Loading the elements of a part's lanes.
    pub elements: Cost,
    /// A call.
    pub call: Cost,
    /// The share of its cycles that an instruction takes beside others.
    pub beside_share: f64,
    /// The start of a wavefront and the stores to one target. Targets disturb each other, so it grows with the square of their number.
    pub wavefront_cycles: f64,
    /// The end of a block.
    pub block_cycles: f64,
    /// A use of one register's spill slot.
    pub spill_cycles: f64,
    /// Bytes of spill slots at which a use takes one cycle more: the extra time grows with the share of the first-level cache that they fill.
    pub spill_bytes_per_cycle: f64,
    /// Iterations of a loop for each one that its weight assumes.
    pub loop_factor: f64,
    /// The most lanes of wavefronts whose lanes diverge, for targets on which it matters: the slowest of many lanes takes much longer than that of 16.
    pub divergent_lanes: Option<usize>,
    /// A smaller width has to be estimated to take less than this share of the time: in general; with divergence; with divergence in loops, whose
    /// iterations wait for each other, which the estimate underrates.
    pub narrow_share: f64,
    pub divergent_share: f64,
    pub divergent_loop_share: f64,
}

/// Costs that are the same on all targets.
const COSTS: Costs = Costs {
    instruction: Cost { cycles: 1, latency_cycles: 4 },
    elements: Cost { cycles: 15, latency_cycles: 40 },
    call: Cost { cycles: 20, latency_cycles: 60 },
    beside_share: 1.0,
    wavefront_cycles: 0.0,
    block_cycles: 0.0,
    spill_cycles: 0.0,
    spill_bytes_per_cycle: 22.0 * 1024.0,
    loop_factor: 1.0,
    divergent_lanes: None,
    narrow_share: 0.9,
    divergent_share: 1.15,
    divergent_loop_share: 0.98,
};

/// x86-64 with AVX-512 (F, DQ and BW).
pub const AVX512: Target = Target {
    name: "avx512",
    lanes: 16,
    all_registers: 32,
    registers: 28,
    tile_registers: 32,
    masks: Masks::Registers,
    strips: Strips::Short,
    unrolls: false,
    has: Operations {
        broadcast_operands: true,
        shifts_of_memory: true,
        unsigned_to_float: true,
        stores_past_caches: true,
        scatter: true,
        range: true,
        fix_by_class: true,
        reduce: true,
        scale: true,
        split_number: true,
    },
    costs: Costs { beside_share: 0.4, wavefront_cycles: 130.0, block_cycles: 10.0, spill_cycles: 0.65, ..COSTS },
};

/// The operations of every target.
const FEW: Operations = Operations {
    broadcast_operands: false,
    shifts_of_memory: false,
    unsigned_to_float: false,
    stores_past_caches: false,
    scatter: false,
    range: false,
    fix_by_class: false,
    reduce: false,
    scale: false,
    split_number: false,
};

/// x86-64 with AVX2 and FMA.
pub const AVX2: Target = Target {
    name: "avx2",
    lanes: 8,
    all_registers: 16,
    registers: 13,
    tile_registers: 16,
    masks: Masks::Vectors,
    strips: Strips::Long,
    unrolls: false,
    has: Operations { stores_past_caches: true, ..FEW },
    // A block's end costs little, as long strips are made for one register after the other. Loops run more often than their weight, which matters, as there is
    // hardly any other gain.
    costs: Costs {
        wavefront_cycles: 250.0,
        block_cycles: 2.0,
        spill_cycles: 1.0,
        loop_factor: 4.0,
        divergent_lanes: Some(32),
        ..COSTS
    },
};

/// Vectors of 128 bits, made by Cranelift, which allocates registers itself.
pub const CRANELIFT: Target = Target {
    name: "cranelift",
    lanes: 4,
    all_registers: 0,
    registers: 0,
    tile_registers: if cfg!(target_arch = "x86_64") { 17 } else { 33 },
    masks: Masks::Vectors,
    strips: Strips::Long,
    unrolls: true,
    has: FEW,
    costs: AVX2.costs,
};

/// Plain Rust on rows of 64 lanes.
pub const PORTABLE: Target = Target {
    name: "portable",
    lanes: 64,
    all_registers: 0,
    registers: 0,
    tile_registers: 0,
    masks: Masks::Words,
    strips: Strips::Short,
    unrolls: false,
    has: FEW,
    costs: COSTS,
};

impl Target {
    /// Bytes of a register.
    pub const fn bytes(&self) -> i32 {
        4 * self.lanes as i32
    }

    /// Registers that a vector of so many lanes takes: its *parts*.
    pub const fn pieces(&self, lanes: usize) -> u8 {
        (lanes / self.lanes) as u8
    }

    /// The scratch register for results.
    pub const fn scratch(&self) -> u8 {
        self.registers
    }

    /// The scratch register for operands.
    pub const fn operand_scratch(&self) -> u8 {
        self.registers + 1
    }

    /// The scratch register for masks, where they are vectors.
    pub const fn mask_scratch(&self) -> u8 {
        self.registers + 2
    }

    /// Whether masks have registers of their own.
    pub const fn has_mask_registers(&self) -> bool {
        matches!(self.masks, Masks::Registers)
    }

    /// Whether strips are single instructions.
    pub const fn has_short_strips(&self) -> bool {
        matches!(self.strips, Strips::Short)
    }
}
