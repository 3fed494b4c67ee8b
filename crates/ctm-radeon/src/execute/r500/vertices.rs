//! Vertex fetch: from the words of a vertex to the vectors of the programmable stream, and to the outputs of a vertex.

use super::super::device::Device;
use super::super::memory::GpuMemory;
use super::half::half;
use super::units::VertexInput;
use crate::Error;
use crate::registers::vgt::r500 as vap;
use crate::table::{bit, bits_at, halfwords, little_endian, one_bit, signed};

/// Input vectors of a vertex program.
const INPUTS: usize = 16;
/// Elements of a vertex.
const ELEMENTS: u32 = 16;
/// Bits of a vertex number.
const NUMBER_BITS: u32 = 24;
/// Most vertices of a draw that differ.
pub(super) const MOST_VERTICES: usize = 1 << 20;

/// Vertices that a vertex program runs for at a time.
pub(super) const PER_LAUNCH: usize = 1 << 14;

/// An element of a vertex, as VAP_PROG_STREAM_CNTL and VAP_PROG_STREAM_CNTL_EXT describe it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Element {
    kind: u32,
    /// Dwords that are left out after it.
    skip: u32,
    /// The vector that it is loaded into.
    vector: u32,
    signed: bool,
    normalised: bool,
    /// How signed fractions are made.
    method: u32,
    selects: [u32; 4],
    written: u32,
}

/// The names of types by their numbers are those of the table of registers.
const FLOAT_4: u32 = 3;
const FLOAT_8: u32 = 10;

impl Element {
    /// Dwords of the type; `None` for those that are not fetched.
    const fn dwords(self) -> Option<u32> {
        match self.kind {
            0..=FLOAT_4 => Some(self.kind + 1),
            4..=6 | 8 | 9 | 11 => Some(1),
            7 | 12 => Some(2),
            FLOAT_8 => Some(8),
            _ => None,
        }
    }

    /// An integer of `width` bits as a number.
    fn number(self, bits: u32, width: u32) -> f32 {
        let most = f64::from(one_bit(width) - 1);
        if !self.signed {
            let value = f64::from(bits);
            return (if self.normalised { value / most } else { value }) as f32;
        }
        let value = f64::from(signed(bits, width));
        if !self.normalised {
            return value as f32;
        }
        let half = f64::from(one_bit(width - 1) - 1);
        (match self.method {
            0 => value / half,
            1 => (value / half).max(-1.0),
            _ => (2.0 * value + 1.0) / most,
        }) as f32
    }

    /// The four components of the type; those that it lacks are 0, 0, 0, 1.
    fn components(self, words: &[u32]) -> [u32; 4] {
        const ONE: u32 = 1f32.to_bits();
        let mut all = [0, 0, 0, ONE];
        let word = |n: usize| words.get(n).copied().unwrap_or(0);
        let part = |from: u32, width: u32| {
            let bits = bits_at(word((from / 32) as usize), from % 32, width);
            self.number(bits, width).to_bits()
        };
        match self.kind {
            0..=FLOAT_4 => (0..=self.kind as usize).for_each(|n| all[n] = word(n)),
            4 => all = [part(0, 8), part(8, 8), part(16, 8), part(24, 8)],
            5 => all = [part(16, 8), part(8, 8), part(0, 8), part(24, 8)],
            6 => all[..2].copy_from_slice(&[part(0, 16), part(16, 16)]),
            7 => all = [part(0, 16), part(16, 16), part(32, 16), part(48, 16)],
            8 => all[..3].copy_from_slice(&[part(0, 10), part(10, 10), part(20, 10)]),
            9 => all[..3].copy_from_slice(&[part(0, 11), part(11, 11), part(22, 10)]),
            _ => {
                let halves = words.iter().flat_map(|&word| halfwords(word));
                all.iter_mut().zip(halves).for_each(|(to, bits)| *to = half(bits).to_bits());
            }
        }
        all
    }

    /// Loads it into its vector. Eight floats go to two vectors, one after the other, both with the selects of the element (UNVERIFIED: no driver uses them).
    fn load(self, words: &[u32], vectors: &mut [[u32; 4]; INPUTS]) {
        if self.kind == FLOAT_8 {
            let (first, second) = words.split_at(words.len().min(4));
            let four = Self { kind: FLOAT_4, ..self };
            four.load(first, vectors);
            return Self { vector: self.vector + 1, ..four }.load(second, vectors);
        }
        let all = self.components(words);
        let Some(vector) = vectors.get_mut(self.vector as usize) else { return };
        for (n, (to, select)) in vector.iter_mut().zip(self.selects).enumerate() {
            if bit(self.written, n as u32) {
                *to = match select {
                    0..=3 => all[select as usize],
                    5 => 1f32.to_bits(),
                    _ => 0,
                };
            }
        }
    }
}

/// The outputs of a vertex, before clipping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ShadedVertex {
    pub(super) position: [u32; 4],
    /// The size of points, if the vertex has one.
    pub(super) point_size: Option<u32>,
    pub(super) colours: [[u32; 4]; 4],
    pub(super) textures: [[u32; 4]; 8],
}

impl Device {
    /// The elements of a vertex.
    fn elements(&self) -> Result<Vec<Element>, Error> {
        use vap::{VAP_PROG_STREAM_CNTL_0 as Stream, VAP_PROG_STREAM_CNTL_EXT_0 as Ext};
        let r = &self.registers;
        let methods = r.word(vap::VAP_PSC_SGN_NORM_CNTL::REGISTER, 0);
        let mut elements = Vec::new();
        for n in 0..ELEMENTS {
            // Two elements a register: the second has the fields of the first, 16 bits further.
            let word = halfwords(r.word(Stream::REGISTER, n / 2))[n as usize % 2];
            let ext = halfwords(r.word(Ext::REGISTER, n / 2))[n as usize % 2];
            let element = Element {
                kind: Stream::DATA_TYPE_0.field.extract(word),
                skip: Stream::SKIP_DWORDS_0.field.extract(word),
                vector: Stream::DST_VEC_LOC_0.field.extract(word),
                signed: Stream::SIGNED_0.field.extract(word) == 1,
                normalised: Stream::NORMALIZE_0.field.extract(word) == 1,
                method: bits_at(methods, 2 * n, 2),
                selects: [
                    Ext::SWIZZLE_SELECT_X_0,
                    Ext::SWIZZLE_SELECT_Y_0,
                    Ext::SWIZZLE_SELECT_Z_0,
                    Ext::SWIZZLE_SELECT_W_0,
                ]
                .map(|bits| bits.field.extract(ext)),
                written: Ext::WRITE_ENA_0.field.extract(ext),
            };
            if element.dwords().is_none() {
                let message = format!("element {n} of a vertex has the type {}, which is not fetched", element.kind);
                return Err(Error::new("unsupported-element", message));
            }
            elements.push(element);
            if Stream::LAST_VEC_0.field.extract(word) == 1 {
                break;
            }
        }
        Ok(elements)
    }

    /// The vertex numbers of a draw: sums of index and offset of 24 bits, then within the limits. UNVERIFIED: the order; drivers set limits of arrays, which
    /// sums are compared with.
    pub(super) fn vertex_numbers(&self, source: &VertexInput, count: u32) -> Vec<u32> {
        let r = &self.registers;
        let least = r.get(vap::VAP_VF_MIN_VTX_INDX::MIN_INDX);
        let most = r.get(vap::VAP_VF_MAX_VTX_INDX::MAX_INDX);
        let offset = r.signed(vap::VAP_INDEX_OFFSET::INDEX_OFFSET);
        let placed = |index: u32| {
            let sum = bits_at(index.wrapping_add_signed(offset), 0, NUMBER_BITS);
            sum.max(least).min(most)
        };
        match source {
            // Vertices of the packet have no limits.
            VertexInput::Embedded(_) => (0..count).collect(),
            VertexInput::List => (0..count).map(placed).collect(),
            VertexInput::Indices(all) => all.iter().take(count as usize).map(|&index| placed(index)).collect(),
        }
    }

    /// The input vectors of vertices.
    pub(super) fn fetch(
        &self,
        memory: &dyn GpuMemory,
        source: &VertexInput,
        numbers: &[u32],
    ) -> Result<Vec<[[u32; 4]; INPUTS]>, Error> {
        let elements = self.elements()?;
        let size = self.registers.get(vap::VAP_VTX_SIZE::DWORDS_PER_VTX) as usize;
        let mut all = Vec::with_capacity(numbers.len());
        let mut words = Vec::new();
        // The bytes of all vertices of an array, where they lie in one buffer.
        let (least, most) = (numbers.iter().min().copied(), numbers.iter().max().copied());
        let is_embedded = matches!(source, VertexInput::Embedded(_));
        let arrays = if is_embedded { &[] } else { self.r500.arrays.as_slice() };
        let whole: Vec<Option<&[u8]>> = arrays
            .iter()
            .map(|(array, address)| {
                let (least, most) = (least?, most?);
                let from = address.wrapping_add(array.place(least));
                memory.bytes(from, array.place(most - least) + 4 * u64::from(array.size))
            })
            .collect();
        for &number in numbers {
            words.clear();
            if let VertexInput::Embedded(packet) = source {
                let from = number as usize * size;
                words.extend(packet.get(from..from + size).unwrap_or_default());
            } else {
                for ((array, address), whole) in arrays.iter().zip(&whole) {
                    let inside = array.place(number - least.unwrap_or(0)) as usize;
                    if let Some(bytes) = whole.and_then(|whole| whole.get(inside..inside + 4 * array.size as usize)) {
                        words.extend(bytes.as_chunks::<4>().0.iter().map(|four| u32::from_le_bytes(*four)));
                        continue;
                    }
                    let from = address.wrapping_add(array.place(number));
                    let bytes = memory.bytes(from, 4 * u64::from(array.size)).ok_or_else(|| {
                        let message =
                            format!("vertex {number}: {} bytes at {from:#x} lie outside their buffer", 4 * array.size);
                        Error::new("outside-memory", message)
                    })?;
                    words.extend(bytes.chunks_exact(4).map(|four| little_endian(four) as u32));
                }
            }
            let mut vectors = [[0; 4]; INPUTS];
            let mut at = 0;
            for element in &elements {
                let count = element.dwords().unwrap_or(0) as usize;
                let mut of = [0; 8];
                of.iter_mut().zip(words.get(at..).unwrap_or_default()).for_each(|(to, word)| *to = *word);
                element.load(&of[..count.min(8)], &mut vectors);
                at += count + element.skip as usize;
            }
            all.push(vectors);
        }
        Ok(all)
    }

    /// The outputs of vertices without a vertex program: vector 0 is the position, 1 the point size, 2 to 5 colours, 6 and on texture coordinates.
    pub(super) fn bypassed(&self, vectors: &[[[u32; 4]; INPUTS]]) -> Vec<ShadedVertex> {
        use crate::registers::spi::r500::VAP_OUT_VTX_FMT_0 as Format;
        let has_size = self.registers.flag(Format::VTX_PT_SIZE_PRESENT);
        let of = |vectors: &[[u32; 4]; INPUTS]| ShadedVertex {
            position: vectors[0],
            point_size: has_size.then_some(vectors[1][0]),
            colours: std::array::from_fn(|n| vectors[2 + n]),
            textures: std::array::from_fn(|n| vectors[6 + n]),
        };
        vectors.iter().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Element = Element {
        kind: 4,
        skip: 0,
        vector: 1,
        signed: false,
        normalised: true,
        method: 2,
        selects: [0, 1, 2, 3],
        written: 15,
    };

    fn loaded(element: Element, words: &[u32]) -> [f32; 4] {
        let mut vectors = [[0; 4]; INPUTS];
        element.load(words, &mut vectors);
        vectors[1].map(f32::from_bits)
    }

    /// The types of the reference's table of vertex elements.
    #[test]
    fn elements_become_vectors() {
        assert_eq!(loaded(PLAIN, &[0xff00_80ff]), [1.0, 128.0 / 255.0, 0.0, 1.0]);
        assert_eq!(loaded(Element { kind: 5, ..PLAIN }, &[0xff00_00ff]), [0.0, 0.0, 1.0, 1.0]);
        let shorts = Element { kind: 6, signed: true, normalised: false, ..PLAIN };
        assert_eq!(loaded(shorts, &[0xffff_0005]), [5.0, -1.0, 0.0, 1.0]);
        // Signed fractions by three methods.
        let signed = |method| loaded(Element { kind: 6, signed: true, method, ..PLAIN }, &[0x8000_7fff]);
        assert_eq!(signed(2), [1.0, -1.0, 0.0, 1.0]);
        assert_eq!(signed(1), [1.0, -1.0, 0.0, 1.0]);
        assert!(signed(0)[1] < -1.0);
        assert_eq!(loaded(Element { kind: 11, ..PLAIN }, &[0xc000_3c00]), [1.0, -2.0, 0.0, 1.0]);
        assert_eq!(loaded(Element { kind: 1, ..PLAIN }, &[1f32.to_bits(), 2f32.to_bits()]), [1.0, 2.0, 0.0, 1.0]);
        // Selects and write enables: x001.
        let selected = Element { kind: 0, selects: [0, 4, 4, 5], ..PLAIN };
        assert_eq!(loaded(selected, &[7f32.to_bits()]), [7.0, 0.0, 0.0, 1.0]);
        assert_eq!(loaded(Element { written: 1, ..PLAIN }, &[u32::MAX]), [1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn half_floats_are_exact() {
        for (bits, value) in
            [(0x0001, 5.960_464_5e-8), (0x3c00, 1.0), (0x7bff, 65504.0), (0x8000, -0.0), (0xfc00, f32::NEG_INFINITY)]
        {
            assert_eq!(half(bits).to_bits(), value.to_bits(), "{bits:#x}");
        }
        assert!(half(0x7e00).is_nan());
    }
}
