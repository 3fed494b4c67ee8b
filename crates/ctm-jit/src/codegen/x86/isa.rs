//! The targets of x86-64.

use crate::codegen::target::{self, Target};
pub use ctm_x86::Isa;
use std::fmt;
use std::ops::Deref;

/// A target with the encoding of its instructions.
#[derive(Clone, Copy)]
pub struct X86Target {
    /// The encoding.
    pub isa: Isa,
    /// The description.
    pub target: &'static Target,
}

impl X86Target {
    /// AVX-512.
    pub const AVX512: Self = Self { isa: Isa::Avx512, target: &target::AVX512 };
    /// AVX2.
    pub const AVX2: Self = Self { isa: Isa::Avx2, target: &target::AVX2 };
    /// All of them, by the numbers of their encodings.
    pub const ALL: [Self; 2] = [Self::AVX512, Self::AVX2];
}

impl Deref for X86Target {
    type Target = Target;

    fn deref(&self) -> &Target {
        self.target
    }
}

impl fmt::Debug for X86Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.target.name)
    }
}
