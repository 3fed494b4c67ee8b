//! What goes into a launch and comes out of it, whatever runs it: lanes and their start values, arrays that memory lends, exports.
//!
//! | file | what |
//! |---|---|
//! | `lanes` | what goes into a group of X1K lanes and comes out |
//! | `grid` | where the lanes of a group lie, and what they start with |
//! | `direct` | arrays that memory lends; outputs written without asking it for each |
//! | `source` | what back ends read inputs from, and write to past the cache |
//! | `wavefronts/` | the same for wavefronts |

pub mod direct;
pub mod grid;
pub mod lanes;
pub mod source;
pub mod wavefronts;
