//! Uniform programs as streams: run tile by tile, without masks.
//!
//! | file | contents |
//! |---|---|
//! | `uniform` | programs as straight blocks and counted loops |
//! | `affine` | the condition of streams: fetches at linear functions of the index pair with whole results |
//! | `prepare` | those without coordinates, or with whole elements as values |
//!
//! `codegen/x86/stream` makes their code, `runtime/streams` runs them.

pub mod affine;
pub mod prepare;
pub mod text;
pub mod uniform;
