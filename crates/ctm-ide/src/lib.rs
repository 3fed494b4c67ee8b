//! Services of `ctm` for editors, debug adapters and the local page.
//!
//! | module | content |
//! |---|---|
//! | [`language`] | the assembly languages as an editor sees them: findings, hover, completion, definitions, renaming, formatting, live ranges |
//! | [`grammar`] | their syntax for colouring, as TextMate grammars made from the opcode tables |
//! | [`lsp`] | the language server of `ctm lsp` |
//! | [`debugger`] | the commands of `ctm debug`, on [`ctm::Session`] |
//! | [`dap`] | the debug adapter of `ctm dap`, on the same |
//! | [`serve`] | the page of `ctm serve` |
//! | [`captures`] | captures of command streams as something to look into |
//! | [`folder`] | temporary folders, and the removal of those that killed processes left |
//!
//! It holds no knowledge of the instruction sets: words, opcodes and rules come from `ctm-isa`, runs from `ctm`.
//!
//! **Invariants.** Whatever a client sends is answered or refused with a reason; nothing here panics on it. The debugger reaches a launch through
//! [`ctm::Session`] only.

pub mod captures;
pub mod dap;
pub mod debugger;
pub mod folder;
mod foreign;
mod framing;
pub mod grammar;
pub mod language;
pub mod lsp;
pub mod serve;
