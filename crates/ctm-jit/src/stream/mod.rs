//! Programs in which every processor does the same, as streams: run tile by tile, without masks.
//!
//! | file | what |
//! |---|---|
//! | `affine` | what qualifies: fetches at whole linear functions of the index pair |
//! | `uniform` | R700 programs in the X1K's form |
//! | `prepare` | the form without masks, predicates and coordinates |
//! | `interleave` | two iterations of a loop as one |
//!
//! `codegen/x86/stream` makes their code, `runtime/streams` runs them.

pub mod affine;
pub mod interleave;
pub mod prepare;
pub mod uniform;
