//! The text form: one operation a line, for dumps and for the tests of passes. It knows no form: [`crate::listing`] has the text of one.
//!
//! | file | contents |
//! |---|---|
//! | `table` | the macro that makes an enum, its printer and its parser of one table of operations |
//! | `line` | the parser of one line, and its errors |
//! | `fields` | the text of numbers, flags, arrays and names of elements |
//!
//! A line is `[result =] name operand, operand, field=value`. A field with its usual value is left out. A comment
//! begins with `;`. The parser accepts all output of the printer, and gives an equal program (round trip).

pub mod fields;
pub mod line;
mod table;

pub use line::{TextError, TextLine};
