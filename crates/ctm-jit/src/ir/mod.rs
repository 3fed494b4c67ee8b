//! Intermediate representation: micro-operations on lane vectors, in one form for both instruction sets.
//!
//! | file | contents |
//! |---|---|
//! | `masked` | the form: operations on the lanes that run together, with masks of lanes as values; streams are made of it, too |
//! | `x1k` | the graph of an X1K program's states |
//! | `values` | the results of pure operations, lane by lane |
//! | `awake` | the places where some lane runs for any data |
//! | `order` | orders of blocks |
//! | `verify` | the rules of every form |
//! | `text` | the text form: printer and parser |

pub mod awake;
pub mod masked;
pub mod names;
pub mod numbering;
pub mod order;
pub mod text;
pub mod values;
pub mod verify;
pub mod x1k;
