//! Draws that follow each other and differ in nothing but their vertices: they become one draw.
//!
//! Programs of two dimensions draw one picture after the other, each with four vertices in memory of their own. Their items are copied side by side, under numbers of
//! vertices that no other draw has; so their vertices run together, and so do their pixels. A restart comes between the draws.

use super::memory::GpuMemory;
use super::registers::Registers;
use super::resources::{Bound, BufferWords};
use super::set::Set;
use super::surfaces::overlap;
use crate::registers::resource::{VALID_BUFFER, kind_of};
use crate::registers::{RESOURCES, sq, vgt};
use ctm_exec::r700::Buffer;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Most vertices of a draw that is joined to others: larger ones have less to gain.
pub(super) const MOST_VERTICES: u32 = 256;
/// Most numbers of vertices, with those that no draw uses.
const MOST_NUMBERS: u32 = 1 << 14;
/// The number that ends a primitive.
pub(super) const RESTART: u32 = u32::MAX;

/// Registers that say which vertices a draw has: all that is wanted of them is taken when it is joined.
const OF_VERTICES: [&crate::Register; 8] = [
    vgt::VGT_INDX_OFFSET::REGISTER,
    vgt::VGT_MIN_VTX_INDX::REGISTER,
    vgt::VGT_MAX_VTX_INDX::REGISTER,
    vgt::VGT_MULTI_PRIM_IB_RESET_EN::REGISTER,
    vgt::VGT_MULTI_PRIM_IB_RESET_INDX::REGISTER,
    vgt::VGT_DMA_INDEX_TYPE::REGISTER,
    vgt::VGT_NUM_INSTANCES::REGISTER,
    sq::SQ_VTX_BASE_VTX_LOC::REGISTER,
];

/// A buffer of vertices.
#[derive(Clone)]
pub(super) struct JoinedBuffer {
    pub(super) id: u8,
    pub(super) buffer: Buffer,
    /// Bytes from the beginning of an item to the end of the bytes that fetches read of it.
    reach: u64,
    /// The items of all draws, side by side.
    pub(super) bytes: Vec<u8>,
}

/// Joined draws that have not run.
pub(super) struct Joined {
    pub(super) items: Vec<JoinedBuffer>,
    /// Numbers of vertices, in order.
    pub(super) numbers: Vec<u32>,
    /// The first number that no draw has.
    next: u32,
    /// Memory that they write.
    targets: Vec<(u64, u64)>,
    /// Registers that have been changed since, and their values before.
    old: FxHashMap<u32, u32>,
    /// The same of the ends of buffers.
    old_ends: FxHashMap<u32, Option<u64>>,
    /// How many draws there are.
    pub(super) draws: u64,
    /// The first draw: the dword of its packet, and its number.
    pub(super) first: (usize, u32),
}

impl Joined {
    /// None yet; `fetched`: buffers of vertices, and how far fetches of them reach; `targets`: memory that the draws write.
    pub(super) fn new(fetched: Vec<(u8, Buffer, u64)>, targets: Vec<(u64, u64)>, first: (usize, u32)) -> Self {
        let items = |(id, buffer, reach)| JoinedBuffer { id, buffer, reach, bytes: Vec::new() };
        Self {
            items: fetched.into_iter().map(items).collect(),
            numbers: Vec::new(),
            next: 0,
            targets,
            old: FxHashMap::default(),
            old_ends: FxHashMap::default(),
            draws: 0,
            first,
        }
    }

    /// Whether the draws write memory of a range.
    pub(super) fn writes(&self, range: (u64, u64)) -> bool {
        self.targets.iter().any(|&target| overlap(target, range))
    }

    /// The memory of its buffers of vertices, as registers say now.
    pub(super) fn read_ranges(&self, registers: &Registers) -> Vec<(u64, u64)> {
        let of = |items: &JoinedBuffer| {
            let words = registers.resource(Set::Vertex.first_resource() + u32::from(items.id));
            let BufferWords { address, buffer } = BufferWords::of(&words);
            (kind_of(&words) == VALID_BUFFER).then_some((address, buffer.size_bytes))
        };
        self.items.iter().filter_map(of).collect()
    }

    /// Notes a register's value before it changes.
    pub(super) fn note(&mut self, registers: &Registers, offset: u32) {
        let of_vertices = offset >= RESOURCES && {
            let id = ((offset - RESOURCES) / 28).checked_sub(Set::Vertex.first_resource());
            id.is_some_and(|id| self.items.iter().any(|items| u32::from(items.id) == id))
        };
        let is_free = of_vertices || OF_VERTICES.iter().any(|register| register.offset == offset);
        if !is_free {
            self.old.entry(offset).or_insert_with(|| registers.at(offset));
        }
    }

    /// Notes the end of a register's buffer before it changes.
    pub(super) fn note_end(&mut self, registers: &Registers, offset: u32) {
        self.old_ends.entry(offset).or_insert_with(|| registers.end(offset));
    }

    /// Whether registers have the values that they had when the draws began.
    pub(super) fn is_current(&mut self, registers: &Registers) -> bool {
        self.old.retain(|&offset, &mut value| registers.at(offset) != value);
        self.old_ends.retain(|&offset, &mut end| registers.end(offset) != end);
        self.old.is_empty() && self.old_ends.is_empty()
    }

    /// Exchanges the registers that have been changed since with their old values.
    pub(super) fn exchange(&mut self, registers: &mut Registers) {
        for (offset, value) in &mut self.old {
            *value = registers.replace(*offset, *value);
        }
        for (offset, end) in &mut self.old_ends {
            *end = registers.replace_end(*offset, *end);
        }
    }

    /// Adds a draw with these vertices, `None` where a restart ends the primitive; returns whether it could.
    pub(super) fn add(&mut self, memory: &dyn GpuMemory, registers: &Registers, vertices: &[Option<u32>]) -> bool {
        let offset = registers.word(sq::SQ_VTX_BASE_VTX_LOC::REGISTER, 0);
        let fetched = || vertices.iter().flatten().map(|vertex| vertex.wrapping_add(offset));
        let (Some(least), Some(most)) = (fetched().min(), fetched().max()) else { return false };
        let span = u64::from(most - least) + 1;
        // Fetches of the last vertices may reach beyond the next item.
        let beyond = self.items.iter().map(|items| items.reach.div_ceil(items.stride().max(1)));
        let step = span - 1 + beyond.max().unwrap_or(1).max(1);
        if span > 4 * vertices.len() as u64 || u64::from(self.next) + step > MOST_NUMBERS.into() {
            return false;
        }
        let read = |items: &JoinedBuffer| self.read(items, memory, registers, least..most);
        let Some(found) = self.items.iter().map(read).collect::<Option<Vec<_>>>() else { return false };
        for (items, bytes) in self.items.iter_mut().zip(found) {
            let first = usize::try_from(items.stride() * u64::from(self.next)).unwrap_or(usize::MAX);
            if items.stride() > 0 || items.bytes.is_empty() {
                items.bytes.resize(first, 0);
                items.bytes.extend_from_slice(bytes);
            }
        }
        if !self.numbers.is_empty() {
            self.numbers.push(RESTART);
        }
        let next = self.next;
        let number = |vertex: u32| next + (vertex.wrapping_add(offset) - least);
        self.numbers.extend(vertices.iter().map(|vertex| vertex.map_or(RESTART, number)));
        self.next += step as u32;
        self.draws += 1;
        true
    }

    /// The bytes of items, from the first one to the end of the last one; `None` where they cannot be copied.
    fn read<'m>(
        &self,
        items: &JoinedBuffer,
        memory: &'m dyn GpuMemory,
        registers: &Registers,
        Range { start, end }: Range<u32>,
    ) -> Option<&'m [u8]> {
        let words = registers.resource(Set::Vertex.first_resource() + u32::from(items.id));
        let BufferWords { address, buffer } = BufferWords::of(&words);
        let is_alike = kind_of(&words) == VALID_BUFFER
            && (buffer.stride_bytes, buffer.format) == (items.buffer.stride_bytes, items.buffer.format);
        let [first, last] = [start, end].map(|number| items.stride() * u64::from(number));
        let range = (address.checked_add(first)?, last + items.reach - first);
        if !is_alike || last + items.reach > buffer.size_bytes || self.writes(range) {
            return None;
        }
        let bytes = memory.bytes(range.0, range.1)?;
        // One item for all vertices is one for all draws.
        let is_same = items.stride() > 0 || items.bytes.is_empty() || items.bytes == bytes;
        is_same.then_some(bytes)
    }
}

impl JoinedBuffer {
    /// Makes it a resource of the program that fetches vertices.
    pub(super) fn bind_to<'b>(&'b self, bound: &mut Bound<'b>) {
        bound.bind(self.id, self.buffer, &self.bytes);
    }

    /// Bytes from item to item.
    fn stride(&self) -> u64 {
        self.buffer.stride_bytes.into()
    }
}
