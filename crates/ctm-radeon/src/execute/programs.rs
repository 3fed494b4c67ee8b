//! Programs of a stream: where they end, and what they reach.

use super::memory::GpuMemory;
use ctm_exec::r700::texture::is_comparison;
use ctm_isa::r700::Program;
use ctm_isa::r700::inst::{Cf, ClauseBody, Fetch, walk};
use ctm_isa::r700::ops::{CfOp, KcacheMode, TexOp};
use ctm_isa::r700::program::Stage;
use std::collections::HashMap;
use std::sync::Arc;

/// Most dwords of a program that are looked at.
const MOST_DWORDS: u64 = 1 << 16;

/// A program of a stream.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The program, as long as it reaches.
    pub program: Program,
    /// What it fetches from: textures with their samplers.
    pub textures: Vec<Lookup>,
    /// Buffers that it fetches from.
    pub buffers: Vec<u8>,
    /// Constant buffers that it locks, bit 0 = buffer 0.
    pub banks: u16,
    /// Whether it calls a fetch program.
    pub calls_fetch: bool,
}

/// Whether a texture instruction looks at its resource; those on gradients and cube numbers do not.
const fn reaches_texture(op: TexOp) -> bool {
    !matches!(
        op,
        TexOp::GetGradientsH
            | TexOp::GetGradientsV
            | TexOp::KeepGradients
            | TexOp::SetGradientsH
            | TexOp::SetGradientsV
            | TexOp::SetCubemapIndex
    )
}

/// How many slots (of two dwords) the program at the start of these words has: up to its last control-flow instruction, or the end of its last clause. `None` if
/// that lies behind the words.
#[must_use]
pub fn length_slots(words: &[u32]) -> Option<usize> {
    let mut end = 0;
    let mut ends_itself = false;
    for (addr, _, cf) in walk(words, 0) {
        end = end.max(addr as usize + 1);
        let Ok(cf) = cf else { continue };
        if let Some((first, slots)) = cf.clause() {
            end = end.max(first as usize + slots as usize);
        }
        let returns = matches!(cf, Cf::Plain(plain) if plain.word1.op == CfOp::Return);
        ends_itself |= cf.ends_program() || returns;
    }
    (ends_itself && end * 2 <= words.len()).then_some(end)
}

impl Loaded {
    /// Of words that begin with a program.
    #[must_use]
    pub fn of(words: &[u32], stage: Stage) -> Option<Self> {
        let slots = length_slots(words)?;
        let program = Program { stage: Some(stage), ..Program::from_words(words.get(..2 * slots)?.to_vec()) };
        let mut loaded = Self { program, textures: Vec::new(), buffers: Vec::new(), banks: 0, calls_fetch: false };
        for entry in &loaded.program.decode().entries {
            match &entry.cf {
                Ok(Cf::Alu(alu)) => {
                    for lock in alu.kcache().iter().filter(|lock| lock.mode != KcacheMode::Nop) {
                        loaded.banks |= 1 << (lock.bank & 15);
                    }
                }
                Ok(Cf::Plain(plain)) if plain.word1.op == CfOp::CallFs => {
                    loaded.calls_fetch = true;
                }
                _ => {}
            }
            let ClauseBody::Fetch(clause) = &entry.clause else { continue };
            for fetch in clause.fetches.iter().filter_map(|fetch| fetch.inst.ok()) {
                match fetch.fetch {
                    Fetch::Vtx(inst) => loaded.buffers.push(inst.word0.buffer_id),
                    Fetch::Tex(inst) if reaches_texture(inst.word0.op) => {
                        let compares = is_comparison(inst.word0.op);
                        let (texture, sampler) = (inst.word0.resource_id, inst.word2.sampler_id);
                        loaded.textures.push(Lookup { texture, sampler, compares });
                    }
                    _ => {}
                }
            }
        }
        loaded.buffers.sort_unstable();
        loaded.buffers.dedup();
        loaded.textures.sort_unstable();
        loaded.textures.dedup();
        Some(loaded)
    }
}

/// A texture that a program looks up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lookup {
    /// The resource.
    pub texture: u8,
    /// Its sampler.
    pub sampler: u8,
    /// Texels are compared with a reference value.
    pub compares: bool,
}

/// Programs that have been read, by address and stage. They are compared with memory whenever they are asked for.
#[derive(Debug, Default)]
pub(super) struct Programs {
    known: HashMap<(u64, Stage), Arc<Loaded>>,
}

/// Most programs that are kept.
const MOST_KNOWN: usize = 4096;

impl Programs {
    /// The program at an address, in a buffer that ends before `end`, if that is known.
    pub(super) fn load(
        &mut self,
        memory: &dyn GpuMemory,
        address: u64,
        end: Option<u64>,
        stage: Stage,
    ) -> Option<Arc<Loaded>> {
        if let Some(known) = self.known.get(&(address, stage)) {
            let length = known.program.words.len() as u64 * 4;
            let is_same = memory.bytes(address, length).is_some_and(|bytes| {
                bytes.chunks_exact(4).zip(&known.program.words).all(|(bytes, word)| *bytes == word.to_le_bytes())
            });
            if is_same {
                return Some(known.clone());
            }
        }
        // As many words as there are; without an end, as many as memory has.
        let most = end.map_or(MOST_DWORDS, |end| (end.saturating_sub(address) / 4).min(MOST_DWORDS));
        let mut dwords = most.min(512);
        let loaded = loop {
            let bytes = memory.bytes(address, 4 * dwords);
            let words: Option<Vec<u32>> = bytes.map(|bytes| {
                bytes
                    .chunks_exact(4)
                    .map(|four| four.iter().rev().fold(0, |sum, &byte| sum << 8 | u32::from(byte)))
                    .collect()
            });
            match words.and_then(|words| Loaded::of(&words, stage)) {
                Some(loaded) => break Some(loaded),
                None if bytes.is_some() && dwords < most => dwords = (dwords * 4).min(most),
                None if bytes.is_none() && dwords > 64 && end.is_none() => dwords /= 2,
                None => break None,
            }
        }?;
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        let loaded = Arc::new(loaded);
        self.known.insert((address, stage), loaded.clone());
        Some(loaded)
    }
}
