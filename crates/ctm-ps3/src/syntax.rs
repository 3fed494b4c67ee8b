//! Contents of a `ps_3_0` line: registers, operands, instructions.

use crate::table::{Compare, TableOp};
use ctm_isa::diag::Span;

/// The register files of pixel shaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum RegisterFile {
    /// `r#`: temporaries.
    Temp,
    /// `v#`: interpolated inputs; in `ps_2` colours.
    Input,
    /// `t#`: texture coordinates of `ps_2`.
    TexCoord,
    /// `c#`: floating-point constants.
    Const,
    /// `i#`: integer constants.
    Int,
    /// `b#`: boolean constants.
    Bool,
    /// `s#`: samplers.
    Sampler,
    /// `p0`: the predicate.
    Predicate,
    /// `aL`: the loop counter.
    Loop,
    /// `vFace`.
    Face,
    /// `vPos`.
    Position,
    /// `oC#`: colours.
    Color,
    /// `oDepth`.
    Depth,
    /// `l#`: labels.
    Label,
}

impl RegisterFile {
    /// Name in front of the number, and how many there are in `ps_3_0`; 0: the register has no number.
    pub const fn form(self) -> (&'static str, u16) {
        match self {
            Self::Temp => ("r", 32),
            Self::Input => ("v", 10),
            Self::TexCoord => ("t", 8),
            Self::Const => ("c", 224),
            Self::Int => ("i", 16),
            Self::Bool => ("b", 16),
            Self::Sampler => ("s", 16),
            Self::Predicate => ("p", 1),
            Self::Loop => ("aL", 0),
            Self::Face => ("vFace", 0),
            Self::Position => ("vPos", 0),
            Self::Color => ("oC", 4),
            Self::Depth => ("oDepth", 0),
            Self::Label => ("l", 2048),
        }
    }
}

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reg {
    pub file: RegisterFile,
    pub index: u16,
    /// `[aL + index]`.
    pub relative: bool,
}

impl Reg {
    /// As it is written.
    pub fn name(self) -> String {
        let (name, count) = self.file.form();
        match (self.relative, count) {
            (true, _) => format!("{name}[aL+{}]", self.index),
            (false, 0) => name.to_owned(),
            (false, _) => format!("{name}{}", self.index),
        }
    }
}

/// A source operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SourceOperand {
    pub reg: Reg,
    /// Channel 0..=3 that each component reads.
    pub swizzle: [u8; 4],
    /// Whether a swizzle was written.
    pub swizzled: bool,
    pub negate: bool,
    pub absolute: bool,
    /// `!`, on booleans and the predicate.
    pub not: bool,
    pub span: Span,
}

/// A destination.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dest {
    pub reg: Reg,
    /// Bit 0 = x.
    pub mask: u8,
    /// Whether a mask was written.
    pub masked: bool,
    pub span: Span,
}

/// `(p0.x)`, `(!p0)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Guard {
    pub not: bool,
    /// `None`: each channel its own bit.
    pub channel: Option<u8>,
    pub span: Span,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(crate) struct Inst {
    pub op: TableOp,
    pub compare: Option<Compare>,
    pub saturate: bool,
    pub guard: Option<Guard>,
    pub dest: Option<Dest>,
    pub sources: Vec<SourceOperand>,
    pub span: Span,
    /// The word in front.
    pub name: Span,
}

/// The kind of an input, from its `dcl`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Declared {
    pub reg: Reg,
    /// `texcoord`, `color`, …; empty for `vPos` and `vFace`.
    pub usage: &'static str,
    pub usage_index: u16,
    pub mask: u8,
    pub span: Span,
}

/// The value of a `def`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DefValue {
    Float(u16, [f32; 4]),
    Int(u16, [i32; 4]),
    Bool(u16, bool),
}

/// The texture kind of a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Texture {
    Flat,
    Cube,
    Volume,
}

/// A whole shader, as written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shader {
    /// Major version: 3, or 2.
    pub major: u8,
    pub declared: Vec<Declared>,
    pub samplers: Vec<(u16, Texture, Span)>,
    pub values: Vec<(DefValue, Span)>,
    pub code: Vec<Inst>,
}
