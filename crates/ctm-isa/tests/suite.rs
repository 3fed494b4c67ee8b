//! The tests of this crate, in one program: each program more is linked with the whole library once more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at what it did not expect")]

mod add_an_opcode;
mod isa_help;
mod pvs_check;
mod pvs_docs;
mod pvs_text;
mod r700_check;
mod r700_check_random;
mod r700_corpus;
mod r700_docs;
mod r700_labels;
mod r700_layout;
mod r700_rejects;
mod r700_tables;
mod r700_text;
mod r700_vectors;
mod vocabulary;
mod x1k_check;
mod x1k_roundtrip;
mod x1k_text;
mod x1k_text_docs;
