//! ATI's Close To the Metal device in software, and the public interface of the project.
pub mod mc;
pub mod memory;
