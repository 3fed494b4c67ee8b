//! Copies of outputs that memory lends: what the second engine writes by itself, beside what the first one wrote.

use ctm_exec::Position;
use ctm_exec::x1k::{Elements, Written};

/// A copy of one array of dwords.
#[derive(Clone)]
pub struct Shadow {
    shape: Elements<()>,
    dwords: Vec<u32>,
    bytes: usize,
}

/// Where two copies differ first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The element; one between the rows has a column beyond the width.
    pub element: Position,
    /// The channel.
    pub channel: usize,
    /// What the second engine left there.
    pub found: u32,
    /// What the first one left.
    pub expected: u32,
}

impl Shadow {
    /// A copy.
    pub fn of<B>(array: &Elements<B>, bytes: &[u8]) -> Self {
        let mut dwords = vec![0; bytes.len().div_ceil(size_of::<u32>())];
        bytemuck::cast_slice_mut(&mut dwords)[..bytes.len()].copy_from_slice(bytes);
        Self { shape: array.with(()), dwords, bytes: bytes.len() }
    }

    /// An array of zeros: elements of four channels, as many as these.
    pub fn zeros(shape: Elements<()>) -> Self {
        let dwords = vec![0; shape.pitch as usize * shape.height as usize * usize::from(shape.channels)];
        Self { shape, bytes: size_of_val(dwords.as_slice()), dwords }
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.dwords)[..self.bytes]
    }

    /// Lends it as memory does.
    pub fn lend(&mut self) -> Elements<&mut [u8]> {
        self.shape.with(&mut bytemuck::cast_slice_mut(&mut self.dwords)[..self.bytes])
    }

    /// Writes the channels of an element that are `written` (bit 0 = r), as far as there are such and they may be written. Says what that was.
    pub fn store(&mut self, at: Position, values: &[u32; 4], written: u8) -> Written {
        let channels = usize::from(self.shape.channels);
        let passes = written & self.shape.mask & ((1 << channels) - 1) as u8;
        let first = (at.j as usize * self.shape.pitch as usize + at.i as usize) * channels;
        let exists = passes != 0 && at.i < self.shape.width && at.j < self.shape.height;
        let Some(element) = self.dwords.get_mut(first..first + channels).filter(|_| exists) else {
            return Written::default();
        };
        for (channel, (to, bits)) in element.iter_mut().zip(values).enumerate() {
            if passes >> channel & 1 == 1 {
                *to = bits.to_le();
            }
        }
        Written { elements: 1, bytes: 4 * u64::from(passes.count_ones()) }
    }

    /// Where it differs from `expected`, the bytes of another copy.
    pub fn difference(&self, expected: &[u8]) -> Option<Place> {
        let found = self.bytes();
        if found == expected {
            return None;
        }
        let dword = |bytes: &[u8], at: usize| {
            let bytes = bytes.get(4 * at..4 * at + 4)?;
            Some(bytes.iter().rev().fold(0, |all, &byte| all << 8 | u32::from(byte)))
        };
        (0..self.dwords.len()).find_map(|at| {
            let (found, expected) = (dword(found, at)?, dword(expected, at)?);
            let channels = usize::from(self.shape.channels.max(1));
            let (element, pitch) = ((at / channels) as u32, self.shape.pitch.max(1));
            let element = Position { i: element % pitch, j: element / pitch };
            (found != expected).then_some(Place { element, channel: at % channels, found, expected })
        })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/verify/shadow.rs"]
mod tests;
