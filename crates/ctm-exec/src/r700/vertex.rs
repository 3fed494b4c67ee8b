//! Vertex fetches (R700 chapter 5, §9.3): an item of a buffer at an index.

use super::formats::{Elements, Format, convert, elements, size_bytes, swapped};
use super::{Launch, Memory, resources::Buffer};
use crate::fault::{FaultKind, MemoryFault};
use ctm_isa::r700::inst::{VtxFetch, VtxWord1};
use ctm_isa::r700::ops::{DataFormat, EndianSwap, FetchType, FormatComp, NumFormat, SrfMode};

/// A fetch with its resources.
#[derive(Debug)]
pub struct VertexFetch<'a> {
    inst: &'a VtxFetch,
    buffer: Buffer,
    format: Format,
}

/// The format of an instruction's own fields.
fn written_format(data: DataFormat, numbers: NumFormat, sign: FormatComp, srf: SrfMode, endian: EndianSwap) -> Format {
    Format { data, numbers, sign, srf, endian }
}

/// The format that an instruction names; `None` where it is the buffer's.
fn own_format(inst: &VtxFetch) -> Option<Format> {
    let endian = inst.word2.endian_swap;
    let (from_buffer, format) = match &inst.word1 {
        VtxWord1::Gpr(w) => (
            w.use_const_fields,
            written_format(w.data_format, w.num_format_all, w.format_comp_all, w.srf_mode_all, endian),
        ),
        VtxWord1::Sem(w) => (
            w.use_const_fields,
            written_format(w.data_format, w.num_format_all, w.format_comp_all, w.srf_mode_all, endian),
        ),
    };
    (!from_buffer).then_some(format)
}

/// [`VertexFetch::plain_dwords`] of an instruction that names its format itself.
#[must_use]
pub fn own_plain_dwords(inst: &VtxFetch) -> Option<(usize, u32)> {
    own_format(inst).as_ref().and_then(plain_dwords)
}

/// The bits that SEL_1 means: 1 where the instruction itself names a format of integers, otherwise 1.0 (`docs/r700-open-questions.md`).
#[must_use]
pub fn one(inst: &VtxFetch) -> u32 {
    let integers =
        |format: &Format| format.numbers == NumFormat::Int && matches!(elements(format.data), Elements::Packed(_));
    if own_format(inst).as_ref().is_some_and(integers) { 1 } else { 1f32.to_bits() }
}

/// See [`VertexFetch::plain_dwords`].
fn plain_dwords(format: &Format) -> Option<(usize, u32)> {
    if format.endian != EndianSwap::None {
        return None;
    }
    let integers = format.numbers == NumFormat::Int;
    let (dwords, floats) = match format.data {
        DataFormat::Fmt32Float => (1, true),
        DataFormat::Fmt32_32Float => (2, true),
        DataFormat::Fmt32_32_32Float => (3, true),
        DataFormat::Fmt32_32_32_32Float => (4, true),
        DataFormat::Fmt32 if integers => (1, false),
        DataFormat::Fmt32_32 if integers => (2, false),
        DataFormat::Fmt32_32_32 if integers => (3, false),
        DataFormat::Fmt32_32_32_32 if integers => (4, false),
        _ => return None,
    };
    Some((dwords, if floats { 1f32.to_bits() } else { 1 }))
}

/// The offset that a fetch adds to the index in a register, modulo 2^32 (FETCH_TYPE, R700 §10.3).
#[must_use]
pub const fn index_offset(launch: &Launch<'_>, fetch_type: FetchType) -> u32 {
    match fetch_type {
        FetchType::VertexData => launch.vertex_offset,
        FetchType::InstanceData => launch.instance_offset,
        FetchType::NoIndexOffset => 0,
    }
}

impl<'a> VertexFetch<'a> {
    /// Looks up the buffer.
    ///
    /// # Errors
    /// Nothing is bound, or the format cannot be fetched.
    pub fn new(memory: &dyn Memory, inst: &'a VtxFetch) -> Result<Self, FaultKind> {
        let id = inst.word0.buffer_id;
        let buffer = memory.buffer(id).ok_or_else(|| {
            let reason = "nothing is bound there".into();
            FaultKind::Memory(MemoryFault { what: format!("buffer {id}"), address: None, reason })
        })?;
        let format = own_format(inst).unwrap_or(buffer.format);
        size_bytes(format.data)?;
        Ok(Self { inst, buffer, format })
    }

    /// Bytes that one fetch asks memory for.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        size_bytes(self.format.data).unwrap_or(0) as u64
    }

    /// Whole dwords that elements are copied from, and the default of the fourth element if there are fewer; `None` for other formats and byte
    /// orders.
    #[must_use]
    pub fn plain_dwords(&self) -> Option<(usize, u32)> {
        plain_dwords(&self.format)
    }

    /// Bytes of the buffer from which fetches read.
    #[must_use]
    pub const fn buffer_bytes(&self) -> u64 {
        self.buffer.size_bytes
    }

    /// The first byte of the item at `index`.
    #[must_use]
    pub fn offset(&self, index: u32) -> u64 {
        let (stride, first) = self.steps();
        u64::from(index) * u64::from(stride) + u64::from(first)
    }

    /// Bytes from item to item, and the first byte of item 0.
    #[must_use]
    pub fn steps(&self) -> (u32, u32) {
        let stride = if self.inst.word2.const_buf_no_stride { 0 } else { self.buffer.stride_bytes };
        (stride, u32::from(self.inst.word2.offset))
    }

    /// Whether the item at `index` lies in the buffer.
    #[must_use]
    pub fn is_within(&self, index: u32) -> bool {
        self.offset(index) + self.size_bytes() <= self.buffer.size_bytes
    }

    /// The four elements at `index`: byte `index * stride + OFFSET` of the buffer. An item that does not lie in the buffer reads 0.
    ///
    /// The caller adds [`index_offset`]. A mega-fetch only says how much to read at once, so mini-fetches and mega-fetches read the same.
    ///
    /// # Errors
    /// When memory refuses to read.
    pub fn at(&self, memory: &dyn Memory, index: u32) -> Result<[u32; 4], FaultKind> {
        let offset = self.offset(index);
        let mut item = [0u8; 16];
        let size = size_bytes(self.format.data)?;
        if !self.is_within(index) {
            return Ok([0; 4]);
        }
        let id = self.inst.word0.buffer_id;
        if self.format.endian == EndianSwap::None {
            memory.read_buffer(id, offset, &mut item[..size]).map_err(FaultKind::Memory)?;
            return convert(&self.format, &item[..size]);
        }
        for (at, byte) in (offset..).zip(&mut item[..size]) {
            let at = swapped(at, self.format.endian);
            if at < self.buffer.size_bytes {
                let mut one = [0];
                memory.read_buffer(id, at, &mut one).map_err(FaultKind::Memory)?;
                *byte = one[0];
            }
        }
        convert(&self.format, &item[..size])
    }
}
