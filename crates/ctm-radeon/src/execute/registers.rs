//! The registers of a device.

use crate::registers::{self, RESOURCES, SAMPLERS, at, offset_of, sq};
use crate::table::{Bits, Register, RegisterKind, from_256, set_bits, signed};
use ctm_image::r700::registers as container;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Registers lie below this byte offset.
const END: u32 = 0x40000;

/// Words of a part whose changes are noted together: a 64th of all.
const PART: usize = END as usize / 4 / 64;

/// Registers with addresses that a relocation is added to, in units of 256 bytes.
static RELOCATED: LazyLock<Vec<bool>> = LazyLock::new(|| {
    let is_address = |dword: u32| {
        let offset = 4 * dword;
        offset < RESOURCES && at(offset, false).is_some_and(|named| named.kind == RegisterKind::Address)
    };
    (0..END / 4).map(is_address).collect()
});

/// Registers that containers of programs also have, by name: a draw reads dozens of them.
static OF_CONTAINERS: LazyLock<FxHashMap<&str, &container::Register>> =
    LazyLock::new(|| container::REGISTERS.iter().rev().map(|row| (row.name, row)).collect());

/// The row of a register that containers of programs also have.
fn of_containers(name: &str) -> Option<&'static container::Register> {
    OF_CONTAINERS.get(name).copied()
}

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
    /// The parts of [`PART`] words that may differ from 0: bit n is part n.
    changed: u64,
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
        Self { words: Vec::new(), ends: FxHashMap::default(), changed: 0 }
    }

    /// Makes all registers those of a chip that starts.
    pub(crate) fn restart(&mut self) {
        for part in set_bits(self.changed as u32).chain(set_bits((self.changed >> 32) as u32).map(|n| n + 32)) {
            if let Some(words) = self.words.get_mut(PART * part as usize..PART * (part as usize + 1)) {
                words.fill(0);
            }
        }
        self.changed = 0;
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
            self.changed |= 1 << (offset as usize / 4 / PART);
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

    /// A register that containers of programs also have, by its name there.
    #[must_use]
    pub fn named(&self, name: &str, index: u32) -> u32 {
        of_containers(name).map_or(0, |row| self.at(row.address + 4 * index))
    }

    /// The first `count` registers of a row that containers of programs also have.
    pub fn named_row(&self, name: &str, count: u32) -> impl Iterator<Item = u32> {
        let row = of_containers(name);
        (0..count).map(move |n| row.map_or(0, |row| self.at(row.address + 4 * n)))
    }

    /// Field `n`, from low to high bits, of a register that containers of programs also have: registers with a field for each of several things.
    #[must_use]
    pub fn named_field(&self, name: &str, n: usize) -> u32 {
        self.named_fields(name)(n)
    }

    /// The same for several fields.
    pub(super) fn named_fields(&self, name: &str) -> impl Fn(usize) -> u32 {
        let (fields, word) = of_containers(name).map_or((&[][..], 0), |row| (row.format.fields, self.at(row.address)));
        move |n| fields.get(n).map_or(0, |field| field.extract(word))
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
