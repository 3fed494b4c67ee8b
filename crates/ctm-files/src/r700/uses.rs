//! The names in a program's words: exports, memories, resources and constants. Operands addressed relative to a register are not known.

use super::targets;
use ctm_exec::r700::memory::space;
use ctm_exec::r700::texture::needs_no_resource;
use ctm_exec::r700::{Space, Target};
use ctm_isa::r700::Program;
use ctm_isa::r700::inst::{AluInst, Cf, CfAlu, CfPlain, ClauseBody, Decoded, Fetch};
use ctm_isa::r700::ops::{CfAluOp, CfOp, Cond, KcacheMode, MemOp, Sel, Source, TexOp};
use ctm_isa::r700::program::Stage;
use std::collections::{BTreeMap, BTreeSet};

/// Constants of a line of a constant buffer.
const LINE: u32 = 16;
/// Constants of a constant buffer.
const CONSTANTS: u32 = 4096;

/// The uses of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Exports.
    pub targets: BTreeSet<Target>,
    /// Memories that are written or read.
    pub spaces: BTreeSet<Space>,
    /// Texture resources, and the samplers that each is read with.
    pub textures: BTreeMap<u8, BTreeSet<u8>>,
    /// Buffers of vertex fetches.
    pub buffers: BTreeSet<u8>,
    /// Constant buffers.
    pub banks: BTreeSet<u8>,
    /// Bank and first constant of each window that clauses lock as set 0 or 1.
    pub windows: [BTreeSet<(u8, u32)>; 2],
    /// Bank, first constant and number of constants of each of them.
    pub locks: BTreeSet<(u8, u32, u32)>,
    /// Constants of the constant file, by number.
    pub constants: BTreeSet<u8>,
    /// Whether the constant file is also read at computed places.
    pub relative_constants: bool,
    /// Loop constants.
    pub loops: BTreeSet<u8>,
    /// Boolean constants.
    pub bools: BTreeSet<u8>,
    /// Registers that ALU instructions, exports and fetches read; relative ones count as their base.
    pub registers: BTreeSet<u8>,
    /// Whether it calls the fetch subroutine.
    pub calls_fetch: bool,
    /// Whether it emits vertices or cuts strips.
    pub emits: bool,
}

impl Uses {
    /// The uses of a program.
    #[must_use]
    pub fn of(decoded: &Decoded) -> Self {
        let mut uses = Self::default();
        for entry in &decoded.entries {
            match &entry.cf {
                Ok(Cf::Export(e)) => {
                    uses.targets.extend(targets(e));
                    uses.read(e.word0.rw_gpr, e.word1.burst_count);
                }
                Ok(Cf::Mem(m)) => {
                    uses.spaces.extend(space(m.word1.op));
                    uses.read(m.word0.rw_gpr, m.word1.burst_count);
                }
                Ok(Cf::Alu(alu)) => uses.windows_of(alu),
                Ok(Cf::Plain(plain)) => uses.plain(plain),
                Err(_) => {}
            }
            match &entry.clause {
                ClauseBody::Alu(clause) => {
                    for slot in clause.groups.iter().flat_map(|g| &g.slots) {
                        uses.alu(&slot.inst);
                    }
                }
                ClauseBody::Fetch(clause) => {
                    for fetch in clause.fetches.iter().filter_map(|f| f.inst.ok()) {
                        uses.fetch(&fetch.fetch);
                    }
                }
                ClauseBody::None | ClauseBody::Outside | ClauseBody::Unread => {}
            }
        }
        uses
    }

    /// The uses of a program and its fetch subroutine together.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.targets.extend(other.targets);
        self.spaces.extend(other.spaces);
        for (resource, samplers) in other.textures {
            self.textures.entry(resource).or_default().extend(samplers);
        }
        self.buffers.extend(other.buffers);
        self.banks.extend(other.banks);
        self.constants.extend(other.constants);
        self.relative_constants |= other.relative_constants;
        self.loops.extend(other.loops);
        self.bools.extend(other.bools);
        self
    }

    /// The constants of a constant buffer that clauses lock, in order.
    pub fn locked(&self, bank: u8) -> impl Iterator<Item = std::ops::Range<usize>> {
        let of_bank = self.locks.iter().filter(move |lock| lock.0 == bank);
        of_bank.map(|&(_, first, count)| first as usize..(first + count) as usize)
    }

    fn read(&mut self, first: u8, more: u8) {
        self.registers.extend(first..=first.saturating_add(more));
    }

    fn windows_of(&mut self, alu: &CfAlu) {
        for (set, kcache) in alu.kcache().into_iter().enumerate() {
            if kcache.mode != KcacheMode::Nop {
                self.banks.insert(kcache.bank);
                let first = u32::from(kcache.line) * LINE;
                self.windows[set].insert((kcache.bank, first));
                let count = match kcache.mode {
                    KcacheMode::Nop | KcacheMode::Lock1 => LINE,
                    KcacheMode::Lock2 => 2 * LINE,
                    // Lines from a computed place on.
                    KcacheMode::LockLoopIndex => CONSTANTS.saturating_sub(first),
                };
                self.locks.insert((kcache.bank, first, count));
            }
        }
    }

    fn plain(&mut self, plain: &CfPlain) {
        let w = &plain.word1;
        if matches!(w.cond, Cond::Bool | Cond::NotBool) {
            self.bools.insert(w.cf_const);
        }
        self.calls_fetch |= w.op == CfOp::CallFs;
        self.emits |= matches!(w.op, CfOp::EmitVertex | CfOp::EmitCutVertex | CfOp::CutVertex);
        if matches!(w.op, CfOp::LoopStart | CfOp::LoopStartNoAl) {
            self.loops.insert(w.cf_const);
        }
    }

    fn alu(&mut self, inst: &AluInst) {
        for operand in inst.operands() {
            match operand.source {
                Source::Constant(index) => {
                    self.relative_constants |= operand.relative;
                    self.constants.insert(index);
                }
                Source::Gpr(register) => self.read(register, 0),
                Source::Kcache { .. } | Source::Special(_) | Source::Reserved(_) => {}
            }
        }
    }

    fn fetch(&mut self, fetch: &Fetch) {
        match fetch {
            Fetch::Vtx(v) => {
                self.buffers.insert(v.word0.buffer_id);
                self.read(v.word0.src_gpr, 0);
            }
            Fetch::Tex(t) if needs_no_resource(t.word0.op) => self.read(t.word0.src_gpr, 0),
            Fetch::Tex(t) => {
                self.read(t.word0.src_gpr, 0);
                let samplers = self.textures.entry(t.word0.resource_id).or_default();
                if samples(t.word0.op) {
                    samplers.insert(t.word2.sampler_id);
                }
            }
            Fetch::MemRd(m) => match m.word0.mem_op {
                MemOp::RdReduc => {
                    self.spaces.insert(Space::Reduction);
                }
                MemOp::RdScatter => {
                    self.spaces.insert(Space::Scatter);
                }
                MemOp::RdScratch | MemOp::LocalDsWrite | MemOp::LocalDsRead => {}
            },
            Fetch::MemDsw(_) | Fetch::MemDsr(_) => {}
        }
    }
}

/// Textures that a pixel program reads at the index pair and nowhere else: unnormalised lookups of R0.xy, which the launch filled and nothing has
/// overwritten. In a program with flow control nothing may overwrite it at all. Copies are not followed.
#[must_use]
pub fn textures_at_position(program: &Program) -> BTreeSet<u8> {
    if program.stage.is_some_and(|stage| stage != Stage::Pixel) {
        return BTreeSet::new();
    }
    let decoded = program.decode();
    let is_flow = |cf: &Cf| match cf {
        Cf::Plain(plain) => !matches!(plain.word1.op, CfOp::Nop | CfOp::Tex | CfOp::Vtx | CfOp::VtxTc),
        Cf::Alu(alu) => alu.word1.op != CfAluOp::Alu,
        Cf::Export(_) | Cf::Mem(_) => false,
    };
    let has_flow = decoded.entries.iter().any(|entry| entry.cf.as_ref().is_ok_and(is_flow));
    let (mut plain, mut elsewhere, mut written) = (BTreeSet::new(), BTreeSet::new(), false);
    // With flow control the second walk knows all registers that are written anywhere.
    for _ in 0..=usize::from(has_flow) {
        plain.clear();
        elsewhere.clear();
        for entry in &decoded.entries {
            match &entry.clause {
                ClauseBody::Alu(clause) => {
                    for slot in clause.groups.iter().flat_map(|g| &g.slots) {
                        let (register, relative, _) = slot.inst.destination();
                        written |= slot.inst.writes() && (register == 0 || relative);
                    }
                }
                ClauseBody::Fetch(clause) => {
                    for fetch in clause.fetches.iter().filter_map(|f| f.inst.ok()) {
                        let Fetch::Tex(t) = &fetch.fetch else {
                            // Loads that go to R0 are rare, and no reason to look closer.
                            written = true;
                            continue;
                        };
                        let at_position = t.word0.op == TexOp::Sample
                            && (t.word0.src_gpr, t.word0.src_rel) == (0, false)
                            && !t.word1.coord_type_x
                            && !t.word1.coord_type_y
                            && (t.word2.src_sel_x, t.word2.src_sel_y) == (Sel::X, Sel::Y)
                            && (t.word2.offset_x, t.word2.offset_y) == (0, 0)
                            && !written;
                        let resource = t.word0.resource_id;
                        if at_position {
                            plain.insert(resource)
                        } else {
                            elsewhere.insert(resource)
                        };
                        written |= t.word1.dst_gpr == 0 || t.word1.dst_rel;
                    }
                }
                ClauseBody::None | ClauseBody::Outside | ClauseBody::Unread => {}
            }
        }
    }
    plain.difference(&elsewhere).copied().collect()
}

/// Operations that look at the sampler.
const fn samples(op: TexOp) -> bool {
    !matches!(op, TexOp::Ld | TexOp::GetTextureResinfo | TexOp::GetNumberOfSamples)
}
