//! The registers of a device.

use crate::registers::{self, RESOURCES, SAMPLERS, at, colour, offset_of, sq};
use crate::table::{Bits, Register, RegisterKind, from_256, set_bits, signed};
pub(super) use ctm_image::r700::registers::Register as ContainerRegister;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Registers lie below this byte offset.
const END: u32 = 0x40000;

/// Words of a part whose changes are noted together.
const PART: usize = 256;
/// Words that note parts, a bit for each.
const PARTS: usize = END as usize / 4 / PART / 64;

/// Registers with addresses that a relocation is added to, in units of 256 bytes.
static RELOCATED: LazyLock<Vec<bool>> = LazyLock::new(|| {
    let is_address = |dword: u32| {
        let offset = 4 * dword;
        offset < RESOURCES && at(offset, false).is_some_and(|named| named.kind == RegisterKind::Address)
    };
    (0..END / 4).map(is_address).collect()
});

/// The number of registers from each dword on whose writes take nothing but their values: no relocation, and they are no actions.
static PLAIN: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let mut plain = vec![0; END as usize / 4];
    let mut count = 0;
    for (dword, plain) in plain.iter_mut().enumerate().rev() {
        let offset = 4 * dword as u32;
        let is_special = follows_base(offset).is_some() || is_relocated(offset) || Registers::acts(offset);
        count = if is_special { 0 } else { count + 1 };
        *plain = count;
    }
    plain
});

/// Registers that take the address of their target's base where no relocation follows them.
pub(crate) fn follows_base(offset: u32) -> Option<u32> {
    let n = colour::CB_COLOR0_TILE::REGISTER
        .index_at(offset)
        .or_else(|| colour::CB_COLOR0_FRAG::REGISTER.index_at(offset))?;
    Some(colour::CB_COLOR0_BASE::REGISTER.at(n))
}

/// The number of registers from an offset on whose writes take nothing but their values.
pub(super) fn plain_from(offset: u32) -> usize {
    PLAIN.get(offset as usize / 4).map_or(0, |&count| count as usize)
}

/// The row of a register that containers of programs also have, by its name there, as a constant.
macro_rules! container {
    ($name:literal) => {
        const { ctm_image::r700::registers::row($name) }
    };
}
pub(crate) use container;

/// The offsets of SQ_VTX_SEMANTIC_CLEAR and SQ_VTX_SEMANTIC_0.
static SEMANTICS: LazyLock<Option<[u32; 2]>> =
    LazyLock::new(|| Some([offset_of("SQ_VTX_SEMANTIC_CLEAR")?, offset_of("SQ_VTX_SEMANTIC_0")?]));

/// Whether a register (not a resource) takes a relocation.
#[must_use]
pub fn is_relocated(offset: u32) -> bool {
    RELOCATED.get(offset as usize / 4).copied().unwrap_or(false)
}

/// The values of registers, resources and samplers among them. Everything is 0 at first.
#[derive(Clone, Debug)]
pub struct Registers {
    words: Vec<u32>,
    /// The end of the buffer of a register's address, for those that a relocation was added to.
    ends: FxHashMap<u32, u64>,
    /// The parts of [`PART`] words that may differ from 0, bit by bit.
    changed: [u64; PARTS],
}

impl Default for Registers {
    fn default() -> Self {
        let mut registers = Self { words: vec![0; END as usize / 4], ..Self::without_memory() };
        registers.restart();
        registers
    }
}

impl Registers {
    /// Registers that are all 0 and cannot be set.
    pub(crate) fn without_memory() -> Self {
        Self { words: Vec::new(), ends: FxHashMap::default(), changed: [0; PARTS] }
    }

    /// Makes all registers those of a chip that starts.
    pub(crate) fn restart(&mut self) {
        for (parts, words) in self.changed.iter_mut().zip(self.words.chunks_mut(64 * PART)) {
            while *parts != 0 {
                let part = parts.trailing_zeros() as usize;
                *parts &= *parts - 1;
                if let Some(words) = words.get_mut(PART * part..PART * (part + 1)) {
                    words.fill(0);
                }
            }
        }
        self.ends.clear();
        // A chip starts with one instance; streams say it before every draw.
        if let Some(offset) = offset_of("VGT_NUM_INSTANCES") {
            self.set(offset, 1);
        }
    }

    /// The word at a byte offset; 0 where there is none.
    #[must_use]
    pub fn at(&self, offset: u32) -> u32 {
        self.words.get(offset as usize / 4).copied().unwrap_or(0)
    }

    /// Sets the word at a byte offset.
    pub fn set(&mut self, offset: u32, value: u32) {
        if let Some(word) = self.words.get_mut(offset as usize / 4) {
            *word = value;
            self.note(offset as usize / 4 / PART);
        }
        // SQ_VTX_SEMANTIC_CLEAR is an action: bit n empties row n.
        if let Some([clear, first]) = *SEMANTICS
            && offset == clear
        {
            for n in set_bits(value) {
                self.set(first + 4 * n, 0xff);
            }
        }
    }

    /// Sets consecutive registers, none of which is an action.
    pub(crate) fn set_all(&mut self, first: u32, values: &[u32]) {
        let at = first as usize / 4;
        let Some(words) = self.words.get_mut(at..at + values.len()) else { return };
        words.copy_from_slice(values);
        for part in at / PART..=(at + values.len()).saturating_sub(1) / PART {
            self.note(part);
        }
    }

    /// Notes that a part changes.
    fn note(&mut self, part: usize) {
        self.changed[part / 64 % PARTS] |= 1 << (part % 64);
    }

    /// Whether setting a register does more than to change it.
    pub(crate) fn acts(offset: u32) -> bool {
        SEMANTICS.is_some_and(|[clear, _]| clear == offset)
    }

    /// The registers that setting one changes, besides itself.
    pub(super) fn changed_with(offset: u32, value: u32) -> impl Iterator<Item = u32> {
        let first = SEMANTICS.filter(|[clear, _]| *clear == offset).map(|[_, first]| first);
        first.into_iter().flat_map(move |first| set_bits(value).map(move |n| first + 4 * n))
    }

    /// Exchanges a word, without any other effect; returns the old one.
    pub(super) fn replace(&mut self, offset: u32, value: u32) -> u32 {
        let word = self.words.get_mut(offset as usize / 4);
        word.map_or(0, |word| std::mem::replace(word, value))
    }

    /// Exchanges the end of the buffer of a register's address.
    pub(super) fn replace_end(&mut self, offset: u32, end: Option<u64>) -> Option<u64> {
        match end {
            Some(end) => self.ends.insert(offset, end),
            None => self.ends.remove(&offset),
        }
    }

    /// Sets the end of the buffer of a register's address.
    pub fn set_end(&mut self, offset: u32, end: u64) {
        self.ends.insert(offset, end);
    }

    /// The end of the buffer of a register's address, if it is known.
    #[must_use]
    pub fn end(&self, offset: u32) -> Option<u64> {
        self.ends.get(&offset).copied()
    }

    /// A field of register `index` of a row.
    #[must_use]
    pub const fn nth(&self, bits: Bits, index: u32) -> u32 {
        bits.field.extract(self.word(bits.register, index))
    }

    /// A field.
    #[must_use]
    pub const fn get(&self, bits: Bits) -> u32 {
        self.nth(bits, 0)
    }

    /// A field of one bit.
    #[must_use]
    pub const fn flag(&self, bits: Bits) -> bool {
        self.get(bits) != 0
    }

    /// A field in two's complement.
    #[must_use]
    pub const fn signed(&self, bits: Bits) -> i32 {
        signed(self.get(bits), bits.field.width())
    }

    /// Register `index` of a row.
    #[must_use]
    pub const fn word(&self, register: &Register, index: u32) -> u32 {
        let at = register.at(index) as usize / 4;
        let words = self.words.as_slice();
        if at < words.len() { words[at] } else { 0 }
    }

    /// Register `index` of a row, a float.
    #[must_use]
    pub fn float(&self, register: &Register, index: u32) -> f32 {
        f32::from_bits(self.word(register, index))
    }

    /// Register `index` of a row, an address in units of 256 bytes, as an address.
    #[must_use]
    pub fn address(&self, register: &Register, index: u32) -> u64 {
        from_256(self.word(register, index))
    }

    /// A register that containers of programs also have.
    #[must_use]
    pub fn named(&self, row: &ContainerRegister, index: u32) -> u32 {
        self.at(row.address + 4 * index)
    }

    /// The first `count` registers of a row that containers of programs also have.
    pub fn named_row(&self, row: &ContainerRegister, count: u32) -> impl Iterator<Item = u32> {
        (0..count).map(|n| self.named(row, n))
    }

    /// Field `n`, from low to high bits, of a register that containers of programs also have: registers with a field for each of several things.
    #[must_use]
    pub fn named_field(&self, row: &ContainerRegister, n: usize) -> u32 {
        row.format.fields.get(n).map_or(0, |field| field.extract(self.named(row, 0)))
    }

    /// The words of a fetch resource.
    #[must_use]
    pub fn resource(&self, number: u32) -> [u32; 7] {
        std::array::from_fn(|n| self.at(RESOURCES + 28 * number + 4 * n as u32))
    }

    /// The words of a sampler.
    #[must_use]
    pub fn sampler(&self, number: u32) -> [u32; 3] {
        std::array::from_fn(|n| self.at(SAMPLERS + 12 * number + 4 * n as u32))
    }

    /// Loop constant `n` (0..=31) of a stage's set: 0 pixel, 1 vertex, 2 geometry.
    #[must_use]
    pub const fn loop_constant(&self, set: u32, n: u32) -> [u32; 3] {
        let index = 32 * set + n;
        [
            self.nth(sq::SQ_LOOP_CONST_0::COUNT, index),
            self.nth(sq::SQ_LOOP_CONST_0::INIT, index),
            self.nth(sq::SQ_LOOP_CONST_0::INC, index),
        ]
    }

    /// Constant `n` of the constant file of a stage's set.
    #[must_use]
    pub fn file_constant(&self, set: u32, n: u32) -> [u32; 4] {
        std::array::from_fn(|c| self.at(registers::ALU_CONSTANTS + 16 * (256 * set + n) + 4 * c as u32))
    }
}
