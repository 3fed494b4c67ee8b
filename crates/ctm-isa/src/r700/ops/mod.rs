//! Opcodes and field values of the R700, in the order of the manual's chapter 10.
//!
//! | file | content |
//! |---|---|
//! | `cf` | control flow: opcodes, conditions, constant-cache modes, export types |
//! | `alu` | ALU: opcodes with operand counts, units, 64-bit slots, and the values of ALU fields |
//! | `notes` | special values, open questions and reference functions of ALU operations |
//! | `fetch` | texture, vertex and memory fetches: opcodes, formats |

mod alu;
mod cf;
mod columns;
mod fetch;
pub mod notes;

pub use alu::{
    AluOp, CFILE_BASE, Chan, IndexMode, KCACHE_WINDOW, KCACHE0_BASE, KCACHE1_BASE, Omod, Op2, Op3, PredSel, SclSwizzle,
    Source, SpecialSel, Unit, VecSwizzle,
};
pub use cf::{Addr, CfAluInfo, CfAluOp, CfInfo, CfOp, Clause, Cond, ExportOp, ExportType, KcacheMode, MemWriteType};
pub use columns::{AluInfo, Available, Decides, Domain, Kind, Slots, Test, Units};
pub use fetch::{
    DataFormat, EndianSwap, FetchType, FormatComp, MemOp, MuxCntl, NumFormat, RelMode, Sel, SrfMode, TexOp, VtxOp,
};
