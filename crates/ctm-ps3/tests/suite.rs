//! The tests of this crate, in one program: each program more is linked with the whole library once more.

mod bytecode;
mod eval;
mod harness;
mod hostile;
mod instructions;
mod options;
mod quality;
mod random;
