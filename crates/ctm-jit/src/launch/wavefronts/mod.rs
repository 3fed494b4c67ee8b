//! What goes into wavefronts and comes out of them.
//!
//! | file | what |
//! |---|---|
//! | `wave` | one wavefront: start values, exports, fetches |
//! | `group` | what the wavefronts of a thread group share; memory writes and reads |
//! | `bindings` | textures and buffers that memory lends as arrays |
//! | `places` | where lanes lie and what they start with |
//! | `outputs` | exports that are stored side by side |
//! | `conditional` | whether they are, on X1K devices |

pub mod bindings;
pub mod conditional;
pub mod group;
pub mod outputs;
pub mod places;
pub mod wave;
