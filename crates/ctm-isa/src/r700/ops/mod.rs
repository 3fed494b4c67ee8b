//! Opcodes and field values of the R700, in the order of the manual's chapter 10.
//!
//! | file | content |
//! |---|---|
//! | `cf` | control flow: opcodes, conditions, constant-cache modes, export types |
//! | `alu`, `alu_fields` | ALU: opcodes with operand counts, units and 64-bit slots; the values of its fields |
//! | `notes` | special values, open questions and reference functions of ALU operations |
//! | `fetch` | texture, vertex and memory fetches: opcodes, formats |

mod alu;
mod alu_fields;
mod cf;
mod columns;
mod fetch;
pub mod notes;

pub use alu::{AluOp, Op2, Op3};
pub use alu_fields::{
    AluUnit, CFILE_BASE, Chan, IndexMode, KCACHE_WINDOW, KCACHE0_BASE, KCACHE1_BASE, Omod, PredSel, SclSwizzle, Source,
    SpecialSel, VecSwizzle,
};
pub use cf::{Addr, CfAluInfo, CfAluOp, CfInfo, CfOp, Clause, Cond, ExportOp, ExportType, KcacheMode, MemWriteType};
pub use columns::{AluInfo, Available, Decides, Domain, SideEffect, Slots, Test, Units};
pub use fetch::{
    DataFormat, EndianSwap, FetchType, FormatComp, MemOp, MuxCntl, NumFormat, RelMode, Sel, SrfMode, TexOp, VtxOp,
};
