//! Instructions of texture, vertex, memory-read and data-share clauses.

use crate::r700::formats::{
    MemDsrWord0, MemDsrWord1, MemDsrWord2, MemDswWord0, MemDswWord1, MemDswWord2, MemRdWord0, MemRdWord1, MemRdWord2,
    TexWord0, TexWord1, TexWord2, VtxWord0, VtxWord1Gpr, VtxWord1Sem, VtxWord2,
};
use crate::r700::ops::{MemOp, Sel, VtxOp};
use crate::table::{Field, FieldError, WordFormat};

/// Dword 1 of a vertex fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VtxWord1 {
    /// FETCH.
    Gpr(VtxWord1Gpr),
    /// SEMANTIC.
    Sem(VtxWord1Sem),
}

/// A vertex fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VtxFetch {
    /// Dword 0.
    pub word0: VtxWord0,
    /// Dword 1.
    pub word1: VtxWord1,
    /// Dword 2.
    pub word2: VtxWord2,
}

/// A texture fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TexFetch {
    /// Dword 0.
    pub word0: TexWord0,
    /// Dword 1.
    pub word1: TexWord1,
    /// Dword 2.
    pub word2: TexWord2,
}

/// A memory read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemRd {
    /// Dword 0.
    pub word0: MemRdWord0,
    /// Dword 1.
    pub word1: MemRdWord1,
    /// Dword 2.
    pub word2: MemRdWord2,
}

/// A local data share write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemDsw {
    /// Dword 0.
    pub word0: MemDswWord0,
    /// Dword 1.
    pub word1: MemDswWord1,
    /// Dword 2.
    pub word2: MemDswWord2,
}

/// A local data share read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MemDsr {
    /// Dword 0.
    pub word0: MemDsrWord0,
    /// Dword 1.
    pub word1: MemDsrWord1,
    /// Dword 2.
    pub word2: MemDsrWord2,
}

/// One fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fetch {
    /// Vertex or constant fetch.
    Vtx(VtxFetch),
    /// Texture fetch.
    Tex(TexFetch),
    /// Memory read.
    MemRd(MemRd),
    /// Local data share write.
    MemDsw(MemDsw),
    /// Local data share read.
    MemDsr(MemDsr),
}

/// One fetch with its fourth dword, which the machine ignores and compilers fill as they like (r700-encoding §10 E13).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FetchInst {
    /// The fetch.
    pub fetch: Fetch,
    /// The fourth dword.
    pub padding: u32,
}

const VTX_INST: Field = VtxWord0::FORMAT.known_field("VTX_INST");
const MEM_OP: Field = MemRdWord0::FORMAT.known_field("MEM_OP");

impl Fetch {
    /// Reads three dwords. A vertex clause (`texture_clause` false) holds no texture fetches; a texture clause holds any
    /// kind. Reserved bits are ignored: see [`Self::stray`].
    ///
    /// # Errors
    /// The first field that holds a number without a meaning.
    pub fn decode(words: [u32; 3], texture_clause: bool) -> Result<Self, FieldError> {
        let [w0, w1, w2] = words;
        // The three opcode fields lie in the same bits; numbers 0..=2 are the vertex formats (R700 §10.3-10.6).
        Ok(match VtxOp::from_code(VTX_INST.extract(w0)) {
            Some(op @ (VtxOp::Fetch | VtxOp::Semantic)) => Self::Vtx(VtxFetch {
                word0: VtxWord0::decode(w0)?,
                word1: if op == VtxOp::Fetch {
                    VtxWord1::Gpr(VtxWord1Gpr::decode(w1)?)
                } else {
                    VtxWord1::Sem(VtxWord1Sem::decode(w1)?)
                },
                word2: VtxWord2::decode(w2)?,
            }),
            Some(VtxOp::Mem) => match MemOp::from_code(MEM_OP.extract(w0)) {
                Some(MemOp::LocalDsWrite) => Self::MemDsw(MemDsw {
                    word0: MemDswWord0::decode(w0)?,
                    word1: MemDswWord1::decode(w1)?,
                    word2: MemDswWord2::decode(w2)?,
                }),
                Some(MemOp::LocalDsRead) => Self::MemDsr(MemDsr {
                    word0: MemDsrWord0::decode(w0)?,
                    word1: MemDsrWord1::decode(w1)?,
                    word2: MemDsrWord2::decode(w2)?,
                }),
                Some(MemOp::RdScratch | MemOp::RdReduc | MemOp::RdScatter) | None => Self::MemRd(MemRd {
                    word0: MemRdWord0::decode(w0)?,
                    word1: MemRdWord1::decode(w1)?,
                    word2: MemRdWord2::decode(w2)?,
                }),
            },
            None if texture_clause => Self::Tex(TexFetch {
                word0: TexWord0::decode(w0)?,
                word1: TexWord1::decode(w1)?,
                word2: TexWord2::decode(w2)?,
            }),
            None => {
                VtxWord0::decode(w0)?;
                unreachable!("VTX_WORD0 has no such operation")
            }
        })
    }

    /// Writes the three dwords.
    #[must_use]
    pub fn encode(&self) -> [u32; 3] {
        match self {
            Self::Vtx(i) => [
                i.word0.encode(),
                match &i.word1 {
                    VtxWord1::Gpr(w) => w.encode(),
                    VtxWord1::Sem(w) => w.encode(),
                },
                i.word2.encode(),
            ],
            Self::Tex(i) => [i.word0.encode(), i.word1.encode(), i.word2.encode()],
            Self::MemRd(i) => [i.word0.encode(), i.word1.encode(), i.word2.encode()],
            Self::MemDsw(i) => [i.word0.encode(), i.word1.encode(), i.word2.encode()],
            Self::MemDsr(i) => [i.word0.encode(), i.word1.encode(), i.word2.encode()],
        }
    }

    /// The formats of its three dwords.
    #[must_use]
    pub const fn formats(&self) -> [&'static WordFormat; 3] {
        match self {
            Self::Vtx(VtxFetch { word1: VtxWord1::Gpr(_), .. }) => {
                [&VtxWord0::FORMAT, &VtxWord1Gpr::FORMAT, &VtxWord2::FORMAT]
            }
            Self::Vtx(VtxFetch { word1: VtxWord1::Sem(_), .. }) => {
                [&VtxWord0::FORMAT, &VtxWord1Sem::FORMAT, &VtxWord2::FORMAT]
            }
            Self::Tex(_) => [&TexWord0::FORMAT, &TexWord1::FORMAT, &TexWord2::FORMAT],
            Self::MemRd(_) => [&MemRdWord0::FORMAT, &MemRdWord1::FORMAT, &MemRdWord2::FORMAT],
            Self::MemDsw(_) => [&MemDswWord0::FORMAT, &MemDswWord1::FORMAT, &MemDswWord2::FORMAT],
            Self::MemDsr(_) => [&MemDsrWord0::FORMAT, &MemDsrWord1::FORMAT, &MemDsrWord2::FORMAT],
        }
    }

    /// The reserved bits that are set in `words`.
    #[must_use]
    pub fn stray(&self, words: [u32; 3]) -> [u32; 3] {
        let encoded = self.encode();
        std::array::from_fn(|i| words[i] & !encoded[i])
    }

    /// The manual's name of the operation.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Vtx(i) => i.word0.op.name(),
            Self::Tex(i) => i.word0.op.name(),
            Self::MemRd(i) => i.word0.mem_op.name(),
            Self::MemDsw(i) => i.word0.mem_op.name(),
            Self::MemDsr(i) => i.word0.mem_op.name(),
        }
    }
}

impl FetchInst {
    /// Reads the four dwords.
    ///
    /// # Errors
    /// As [`Fetch::decode`].
    pub fn decode(words: [u32; 4], texture_clause: bool) -> Result<Self, FieldError> {
        let [w0, w1, w2, padding] = words;
        Ok(Self { fetch: Fetch::decode([w0, w1, w2], texture_clause)?, padding })
    }

    /// Writes the four dwords.
    #[must_use]
    pub fn encode(&self) -> [u32; 4] {
        let [w0, w1, w2] = self.fetch.encode();
        [w0, w1, w2, self.padding]
    }
}

impl VtxWord1 {
    /// Source of each element of the result.
    #[must_use]
    pub const fn swizzle(&self) -> [Sel; 4] {
        match self {
            Self::Gpr(w) => [w.dst_sel_x, w.dst_sel_y, w.dst_sel_z, w.dst_sel_w],
            Self::Sem(w) => [w.dst_sel_x, w.dst_sel_y, w.dst_sel_z, w.dst_sel_w],
        }
    }
}

impl TexFetch {
    /// Source of each element of the result.
    #[must_use]
    pub const fn destination_swizzle(&self) -> [Sel; 4] {
        [self.word1.dst_sel_x, self.word1.dst_sel_y, self.word1.dst_sel_z, self.word1.dst_sel_w]
    }

    /// Source of each coordinate.
    #[must_use]
    pub const fn source_swizzle(&self) -> [Sel; 4] {
        [self.word2.src_sel_x, self.word2.src_sel_y, self.word2.src_sel_z, self.word2.src_sel_w]
    }
}

/// The value of an `OFFSET` field, in texels: 5 bits, two's complement, halves (r700-encoding §2).
#[must_use]
pub fn texel_offset(field: u8) -> f32 {
    let value = i16::from(field & 0x1f);
    f32::from(if value >= 16 { value - 32 } else { value }) / 2.0
}

/// The value of the `LOD_BIAS` field: 7 bits, two's complement, 4 fraction bits (R700 §10.4).
#[must_use]
pub fn lod_bias(field: u8) -> f32 {
    let value = i16::from(field & 0x7f);
    f32::from(if value >= 64 { value - 128 } else { value }) / 16.0
}

/// One place of a fetch clause: the four dwords and their decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchEntry {
    /// The dwords.
    pub words: [u32; 4],
    /// The fetch, or why it cannot be read.
    pub inst: Result<FetchInst, FieldError>,
}

/// The instructions of a fetch clause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchClause {
    /// The fetches in order.
    pub fetches: Vec<FetchEntry>,
}

impl FetchClause {
    /// Reads the words of a clause.
    #[must_use]
    pub fn decode(clause: &[u32], texture_clause: bool) -> Self {
        let fetches = clause
            .as_chunks::<4>()
            .0
            .iter()
            .map(|&words| FetchEntry { words, inst: FetchInst::decode(words, texture_clause) })
            .collect();
        Self { fetches }
    }
}
