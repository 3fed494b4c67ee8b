//! What back ends read inputs of X1K programs from.

use crate::launch::direct::Views;
use crate::launch::lanes::BailOut;
use crate::launch::wavefronts::wave::{LANES, Row, lanes_of};
use ctm_exec::x1k::{Memory, sample};

/// What back ends read inputs from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// Through this, always.
    pub memory: &'a dyn Memory,
    /// From these, where it is the same.
    pub views: &'a Views<'a>,
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
        if source.views.lends(self.input) {
            self.of_memory(source.views, at)
        } else {
            self.of_memory(source.memory, at)
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
