//! The bindings that a program can access, by its instructions.

use ctm_exec::r700::Target;
use ctm_isa::r700::inst::{Cf, CfExport, ClauseBody, Fetch};
use ctm_isa::r700::ops::KcacheMode;
use ctm_isa::r700::program::Program;
use std::collections::BTreeSet;

/// Resources by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Some of the program was not read, so it may touch anything.
    everything: bool,
    /// The memories of MEM instructions and MEM_RD fetches.
    memories: bool,
    constants: BTreeSet<u8>,
    buffers: BTreeSet<u8>,
    textures: BTreeSet<u8>,
    targets: BTreeSet<Target>,
}

impl Touched {
    /// By a program.
    pub fn of(program: &Program) -> Self {
        let mut touched = Self::default();
        for entry in program.decode().entries {
            match &entry.clause {
                ClauseBody::Fetch(clause) => {
                    for fetch in clause.fetches.iter().filter_map(|fetch| fetch.inst.as_ref().ok()) {
                        touched.fetch(&fetch.fetch);
                    }
                }
                ClauseBody::Unread => touched.everything = true,
                ClauseBody::Alu(_) | ClauseBody::None | ClauseBody::Outside => {}
            }
            match &entry.cf {
                Ok(Cf::Alu(alu)) => {
                    let locks = alu.kcache().into_iter().filter(|kcache| kcache.mode != KcacheMode::Nop);
                    touched.constants.extend(locks.map(|kcache| kcache.bank));
                }
                Ok(Cf::Export(export)) => touched.export(export),
                Ok(Cf::Mem(_)) => touched.memories = true,
                // Undecodable words are a fault.
                Ok(Cf::Plain(_)) | Err(_) => {}
            }
        }
        touched
    }

    fn fetch(&mut self, fetch: &Fetch) {
        match fetch {
            Fetch::Vtx(vtx) => {
                self.buffers.insert(vtx.word0.buffer_id);
            }
            Fetch::Tex(tex) => {
                self.textures.insert(tex.word0.resource_id);
            }
            Fetch::MemRd(_) => self.memories = true,
            Fetch::MemDsw(_) | Fetch::MemDsr(_) => {}
        }
    }

    fn export(&mut self, export: &CfExport) {
        let numbers = (0..=export.word1.burst_count).map(|n| u32::from(export.word0.array_base) + u32::from(n));
        // An index that does not exist is a fault.
        self.targets.extend(numbers.filter_map(|number| Target::from_fields(export.kind, number).ok()));
    }

    /// The bindings that either program accesses.
    pub fn and(mut self, other: &Self) -> Self {
        self.everything |= other.everything;
        self.memories |= other.memories;
        self.constants.extend(&other.constants);
        self.buffers.extend(&other.buffers);
        self.textures.extend(&other.textures);
        self.targets.extend(&other.targets);
        self
    }

    /// A constant buffer.
    pub fn constants(&self, bank: u8) -> bool {
        self.everything || self.constants.contains(&bank)
    }

    /// A buffer of vertex fetches.
    pub fn buffer(&self, id: u8) -> bool {
        self.everything || self.buffers.contains(&id)
    }

    /// A texture.
    pub fn texture(&self, id: u8) -> bool {
        self.everything || self.textures.contains(&id)
    }

    /// The memory of a target.
    pub fn target(&self, target: Target) -> bool {
        self.everything || self.targets.contains(&target)
    }

    /// The memories of MEM instructions.
    pub const fn memories(&self) -> bool {
        self.everything || self.memories
    }
}

/// Whether a clause or a fetch of the program says ALT_CONST.
pub fn names_alternates(program: &Program) -> bool {
    let fetch = |fetch: &Fetch| match fetch {
        Fetch::Tex(tex) => tex.word0.alt_const,
        Fetch::Vtx(vtx) => vtx.word2.alt_const,
        Fetch::MemRd(_) | Fetch::MemDsw(_) | Fetch::MemDsr(_) => false,
    };
    program.decode().entries.iter().any(|entry| {
        let clause = match &entry.clause {
            ClauseBody::Fetch(clause) => clause.fetches.iter().any(|f| f.inst.as_ref().is_ok_and(|i| fetch(&i.fetch))),
            ClauseBody::Alu(_) | ClauseBody::None | ClauseBody::Outside | ClauseBody::Unread => false,
        };
        clause || matches!(&entry.cf, Ok(Cf::Alu(alu)) if alu.word1.alt_const)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ctm_isa::r700::text::{TextOptions, assemble};

    fn of(source: &str) -> Touched {
        let assembly = assemble(source, &TextOptions::default());
        let Some(program) = assembly.program else { panic!("{:?}", assembly.diagnostics) };
        Touched::of(&program)
    }

    #[test]
    fn only_what_instructions_name_is_touched() {
        let touched = of("ALU: KCACHE0(CB3:0-15)\n 0 x: MOV R1.x, KC0[1].x\nTEX:\n SAMPLE R2.xyzw, R0.xy__, t5, s0\n\
            EXP: PIX1, R1.xxxx\nEXP_DONE: PIX2, R2.xyzw\nEND_OF_PROGRAM\n");
        for n in 0..16 {
            assert_eq!(touched.constants(n), n == 3);
            assert_eq!(touched.texture(n), n == 5);
            assert!(!touched.buffer(n));
        }
        for n in 0..8 {
            assert_eq!(touched.target(Target::Pixel(n)), n == 1 || n == 2);
        }
        assert!(!touched.memories() && !touched.target(Target::Depth));
        let both = touched.and(&of("EXP_DONE: PIX61, R0.x___\nEND_OF_PROGRAM\n"));
        assert!(both.target(Target::Depth) && both.target(Target::Pixel(1)) && both.texture(5));
    }
}
