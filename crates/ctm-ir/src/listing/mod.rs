//! The text of programs in the masked form.
//!
//! | file | contents |
//! |---|---|
//! | `operands` | the text of vectors, variables, masks, operations and instruction words |
//! | `code` | the text of a whole program |

pub mod code;
mod operands;
