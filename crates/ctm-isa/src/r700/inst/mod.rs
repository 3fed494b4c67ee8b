//! Decoded R700 instructions, clauses and programs.
//!
//! | file | content |
//! |---|---|
//! | `cf` | one control-flow instruction |
//! | `alu` | one ALU instruction, a group with its literals, a clause |
//! | `fetch` | one fetch of a texture or vertex clause, a clause |
//! | `walk` | a whole program: its control flow and the clauses it names |
//!
//! Decoding keeps everything: an instruction encodes to words that differ from the decoded ones in reserved bits
//! only, and each type says which (`stray`).

mod alu;
mod cf;
mod fetch;
mod walk;

pub use alu::{AluClause, AluInst, AluWord1, Broken, BrokenGroup, Group, Operand, Slot, assign_units};
pub use cf::{Cf, CfAlu, CfExport, CfMem, CfPlain, Kcache};
pub use fetch::{
    Fetch, FetchClause, FetchEntry, FetchInst, MemDsr, MemDsw, MemRd, TexFetch, VtxFetch, VtxWord1, lod_bias,
    texel_offset,
};
pub(crate) use walk::clause_words;
pub use walk::{CfEntry, ClauseBody, Decoded, R600Finding, decode_program, looks_like_r600, walk};
