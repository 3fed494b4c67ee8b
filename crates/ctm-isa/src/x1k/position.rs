//! Inputs that a program reads at the processor's own index pair and nowhere else: their arrays are as large as the domain. An input that is also read
//! elsewhere (a gather, a stencil, a table) has a size of its own.

use super::access::{self, Channels};
use super::inst::Inst;
use super::ops::{Channel, TexOp};
use super::program::{Preload, Program};
use std::collections::BTreeSet;

impl Program {
    /// The inputs whose lookups all take the index pair as it is: unscaled coordinates that are red and green of the temporary that the rasteriser filled,
    /// which nothing has overwritten. In a program with flow control nothing may overwrite it at all. Copies of the index pair are not followed.
    ///
    /// ```
    /// use ctm_isa::x1k::text::assemble;
    /// let program = assemble("tex r1, s0, r0.rg\ntex r2, s1, r1.rg\nadd o0, r1, r2\n").program.unwrap();
    /// assert_eq!(program.inputs_at_position().into_iter().collect::<Vec<_>>(), [0]);
    /// ```
    #[must_use]
    pub fn inputs_at_position(&self) -> BTreeSet<u8> {
        let instructions: Vec<Inst> = self.words.iter().filter_map(|words| Inst::decode(words).ok()).collect();
        let all_written = |instructions: &[Inst]| {
            let mut written = Channels::default();
            instructions.iter().flat_map(access::writes).for_each(|access| written.add(access));
            written
        };
        let has_flow = instructions.iter().any(|inst| matches!(inst, Inst::Fc(_)));
        let mut written = if has_flow { all_written(&instructions) } else { Channels::default() };
        let (mut plain, mut elsewhere) = (BTreeSet::new(), BTreeSet::new());
        for inst in &instructions {
            if let Inst::Tex(tex) = inst
                && tex.inst.op.is_lookup()
            {
                let (a, input) = (&tex.addr, tex.inst.tex_id);
                let is_position = self.preloads.contains(&Preload::Position { temp: a.src_addr });
                let at_position = is_position
                    && matches!(tex.inst.op, TexOp::Lookup)
                    && tex.inst.unscaled
                    && !a.src_addr_rel
                    && (a.src_s_swiz, a.src_t_swiz) == (Channel::R, Channel::G)
                    && written.of(a.src_addr) & 3 == 0;
                if at_position {
                    plain.insert(input)
                } else {
                    elsewhere.insert(input)
                };
            }
            access::writes(inst).into_iter().for_each(|access| written.add(access));
        }
        plain.difference(&elsewhere).copied().collect()
    }
}
