//! ATI's Close To the Metal device in software, and the public interface of the project.
//!
//! | module | what |
//! |---|---|
//! | [`memory`] | the 32-bit address space and its arenas |
//! | [`mc`] | the Memory Controller: address translation, data formats |
//! | [`commands`] | command buffers: table, encoding, text, builder |

pub mod commands;
pub mod mc;
pub mod memory;
