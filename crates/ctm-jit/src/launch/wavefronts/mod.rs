//! Inputs and results of wavefronts.
//!
//! | file | contents |
//! |---|---|
//! | `wave` | one wavefront: start values, exports, fetches |
//! | `group` | the shared state of a thread group's wavefronts; memory writes and reads |
//! | `bindings` | textures and buffers that memory maps as arrays |
//! | `places` | positions and start values of lanes |
//! | `outputs` | exports that are stored side by side |
//! | `conditional` | whether they are, on X1K devices |

pub mod bindings;
pub mod conditional;
pub mod group;
pub mod outputs;
pub mod places;
pub mod wave;
