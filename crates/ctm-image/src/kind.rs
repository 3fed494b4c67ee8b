//! Kinds of files that hold programs.

use std::fmt;

/// The kinds of files that hold programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// CTM executable (CTM §4).
    CtmElf,
    /// Image of AMD's Compute Abstraction Layer.
    Cal,
    /// Object of LLVM's R600 back end.
    LlvmR600,
    /// An ELF file that is none of these.
    OtherElf,
    /// `Gfx2` container of shaders.
    Gfd,
    /// Six hexadecimal words a line.
    X1kHex,
    /// Two hexadecimal words a line.
    R700Hex,
    /// X1K assembly.
    X1kText,
    /// Direct3D `ps_3_0` assembly.
    Ps3Text,
    /// Direct3D 9 byte code of a pixel shader of version 2 or 3.
    Ps3Code,
    /// R700 assembly.
    R700Text,
    /// A log of Mesa's r300 driver with fragment programs of the R500.
    X1kDump,
    /// A log of Mesa's r600 driver with programs.
    R700Dump,
    /// Nothing known.
    Unknown,
}

impl Kind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::CtmElf,
        Self::Cal,
        Self::LlvmR600,
        Self::OtherElf,
        Self::Gfd,
        Self::X1kHex,
        Self::R700Hex,
        Self::X1kText,
        Self::Ps3Text,
        Self::Ps3Code,
        Self::R700Text,
        Self::X1kDump,
        Self::R700Dump,
        Self::Unknown,
    ];

    /// A short name for machines; stable.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::CtmElf => "ctm-elf",
            Self::Cal => "cal",
            Self::LlvmR600 => "llvm-r600",
            Self::OtherElf => "elf",
            Self::Gfd => "gfd",
            Self::X1kHex => "x1k-hex",
            Self::R700Hex => "r700-hex",
            Self::X1kText => "x1k-text",
            Self::Ps3Text => "ps3-text",
            Self::Ps3Code => "ps3-code",
            Self::R700Text => "r700-text",
            Self::X1kDump => "x1k-dump",
            Self::R700Dump => "r700-dump",
            Self::Unknown => "unknown",
        }
    }

    /// Its name in a sentence.
    #[must_use]
    pub const fn describe(self) -> &'static str {
        match self {
            Self::CtmElf => "a CTM executable",
            Self::Cal => "a CAL image",
            Self::LlvmR600 => "an object of LLVM's R600 back end",
            Self::OtherElf => "an ELF file for another machine",
            Self::Gfd => "a GFD container",
            Self::X1kHex => "X1K words in hexadecimal",
            Self::R700Hex => "R700 words in hexadecimal",
            Self::X1kText => "X1K assembly",
            Self::Ps3Text => "ps_3_0 assembly",
            Self::Ps3Code => "Direct3D 9 byte code of a pixel shader",
            Self::R700Text => "R700 assembly",
            Self::X1kDump => "a dump of Mesa's r300 driver",
            Self::R700Dump => "a dump of Mesa's r600 driver",
            Self::Unknown => "of no known kind",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
