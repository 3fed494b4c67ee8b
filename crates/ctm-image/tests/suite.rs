//! The tests of this crate, in one program: each program more is linked with the whole library once more.

mod ctm_elf;
mod dumps;
mod hex;
mod info;
mod r700;
