//! The compiler's intermediate representation: micro-operations on lane vectors, in one form for both instruction
//! sets, and the lowering of programs to it.
//!
//! | file | contents |
//! |---|---|
//! | `text/` | lines of text and the table of operations that makes their printer and parser |
//! | `names` | the names of values, variables and masks |
//! | `masked` | the form: operations on the lanes that run together, with masks of lanes as values |
//! | `listing/` | the text of programs: printer and parser |
//! | `values` | the results of pure operations, lane by lane |
//! | `numbering` | value numbering: equal operations of a block become one |
//! | `order` | orders of blocks |
//! | `x1k` | the graph of an X1K program's states |
//! | `awake` | the places where some lane runs for any data |
//! | `verify` | the rules of every form |
//! | `lower/` | from instructions of X1K, PVS and R700 programs to the form |
//!
//! A file uses only those above it (`tests/layout.rs`). The crate has no passes over the form and no code generator:
//! `ctm-jit` has both. Begin with `masked`; `docs/engine/form.md` describes it with examples.
//!
//! **Invariants.** The text of a form parses to an equal form. Every operation means one function of `ctm-exec`
//! ([`values`]). Lowering makes only forms that [`verify`] accepts.

pub mod awake;
pub mod listing;
pub mod lower;
pub mod masked;
pub mod names;
pub mod numbering;
pub mod order;
pub mod text;
pub mod values;
pub mod verify;
pub mod x1k;
