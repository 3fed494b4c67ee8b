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
    /// Vectors of 128 bits.
    pub const CRANELIFT: Self = Self { isa: Isa::Four, target: &target::CRANELIFT };
    /// All of them, by the numbers of their encodings.
    pub const ALL: [Self; 3] = [Self::AVX512, Self::AVX2, Self::CRANELIFT];

    /// Whether this host runs its code, and this build makes it.
    pub fn is_available(self) -> bool {
        self.isa.is_available() && (self.has_encoder() || cfg!(feature = "cranelift"))
    }

    /// Whether instructions are encoded here. Otherwise Cranelift makes the code.
    pub fn has_encoder(self) -> bool {
        self.isa != Isa::Four
    }
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
