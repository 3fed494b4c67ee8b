//! What back ends read inputs from, and write to past the cache.

use crate::launch::direct;
use crate::launch::lanes::BailOut;
use crate::launch::wavefronts::wave::{LANES, Row, lanes_of};
use ctm_exec::x1k::group::uncached_index;
use ctm_exec::x1k::{Memory, sample};

/// What back ends read inputs from, and write to past the cache.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Through this, always.
    pub reach: Reach<'a>,
    /// From these, where it is the same.
    pub views: Option<&'a direct::Views<'a>>,
}

/// Who reads memory.
#[derive(Clone, Copy)]
pub enum Reach<'a> {
    /// Many groups read it.
    Shared(&'a dyn Memory),
    /// One group has it to itself, and writes.
    Alone(&'a dyn Exclusive),
}

impl<'a> Source<'a> {
    /// Memory that one group has to itself.
    pub const fn alone(memory: &'a dyn Exclusive) -> Self {
        Self { reach: Reach::Alone(memory), views: None }
    }

    /// Reads.
    ///
    /// # Errors
    /// When no more may be read here.
    pub fn read<T>(&self, mut with: impl FnMut(&dyn Memory) -> T) -> Result<T, BailOut> {
        match self.reach {
            Reach::Shared(memory) => Ok(with(memory)),
            Reach::Alone(memory) => {
                let mut result = None;
                memory.read(&mut |memory| result = Some(with(memory)))?;
                result.ok_or(BailOut)
            }
        }
    }

    /// Uncached writes of some lanes in order: column, row and bits of each. `shared`: all take the index of this lane.
    ///
    /// # Errors
    /// When one of them is refused; those before it are made.
    pub fn write(&self, [x, y, bits]: [&Row; 3], lanes: u64, shared: Option<usize>) -> Result<(), BailOut> {
        let Reach::Alone(memory) = self.reach else { return Err(BailOut) };
        lanes_of(lanes).try_for_each(|lane| {
            let of = shared.unwrap_or(lane);
            let index = uncached_index(x[of]).zip(uncached_index(y[of]));
            index.map_or(Err(BailOut), |(x, y)| memory.write(x, y, bits[lane]))
        })
    }

    /// A memory, and its arrays, if there are any.
    pub const fn reading(memory: &'a dyn Memory, views: Option<&'a direct::Views<'a>>) -> Self {
        Self { reach: Reach::Shared(memory), views }
    }
}

/// Memory that one group has to itself.
pub trait Exclusive {
    /// Lets somebody read.
    ///
    /// # Errors
    /// When the journal is full.
    fn read(&self, with: &mut dyn FnMut(&dyn Memory)) -> Result<(), BailOut>;

    /// Writes one value (`Memory::write_uncached`).
    ///
    /// # Errors
    /// When memory refuses it, or the journal is full: then nothing has been written.
    fn write(&self, x: u32, y: u32, bits: u32) -> Result<(), BailOut>;

    /// Lets the reference interpreter run the group from its start.
    fn again(&self, with: &mut dyn FnMut(&mut dyn Memory));
}

/// A lookup of one input, lane by lane.
#[derive(Clone, Copy)]
pub struct InputRead {
    /// Which input.
    pub input: u8,
    /// Coordinates are in elements.
    pub unscaled: bool,
    /// Sees uncached writes.
    pub uncached: bool,
    /// The lanes that read.
    pub working: u64,
    /// Those for which a fault is one.
    pub covered: u64,
}

impl InputRead {
    /// What lanes read; those that do not get 0.
    ///
    /// # Errors
    /// When a covered lane would fault.
    pub fn of(&self, source: Source<'_>, at: [&Row; 2]) -> Result<[Row; 4], BailOut> {
        match source.views.filter(|views| views.lends(self.input)) {
            Some(views) => self.of_memory(views, at),
            None => source.read(|memory| self.of_memory(memory, at))?,
        }
    }

    fn of_memory<M: Memory + ?Sized>(&self, memory: &M, [s, t]: [&Row; 2]) -> Result<[Row; 4], BailOut> {
        let input = memory.input(self.input).ok_or(BailOut)?;
        let mut texels = [[0; LANES]; 4];
        for lane in lanes_of(self.working) {
            match sample::lookup(memory, self.input, &input, (s[lane], t[lane]), self.unscaled, self.uncached) {
                Ok(sampled) => texels.iter_mut().zip(sampled.texel).for_each(|(row, bits)| row[lane] = bits),
                Err(_) if self.covered >> lane & 1 == 1 => return Err(BailOut),
                // An uncovered lane cannot fault: it reads 0.
                Err(_) => {}
            }
        }
        Ok(texels)
    }
}
