//! Copies of mapped outputs: direct writes of the second engine, and the first one's.

use super::Difference;
use super::target::{OutputTarget, differing};
use ctm_exec::Position;
use ctm_exec::x1k::{Elements, Written};

/// A copy of one array.
#[derive(Clone)]
pub struct Shadow {
    shape: Elements<()>,
    dwords: Vec<u32>,
    bytes: usize,
}

/// Where two copies differ first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstDifference {
    /// The element; one between the rows, or beside the elements of tiles, has a column beyond the width.
    pub element: Position,
    /// The channel.
    pub channel: usize,
    /// The second engine's contents.
    pub found: u32,
    /// The first one's contents.
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

    /// Writes the channels of an element that are `written` (bit 0 = r), as far as there are such and they may be written. Returns the effect.
    pub fn store(&mut self, at: Position, values: &[u32; 4], written: u8) -> Written {
        self.lend().write(at.i, at.j, values, written)
    }

    /// Where it differs from `expected`, the bytes of another copy.
    pub fn difference(&self, expected: &[u8]) -> Option<FirstDifference> {
        let found = self.bytes();
        let at = found.iter().zip(expected).position(|(found, expected)| found != expected)?;
        let shape = &self.shape;
        let size = shape.form.element_bytes(shape.channels.max(1)) as usize;
        let (first, pitch) = (at / size * size, shape.pitch.max(1) as usize);
        let mut all = (0..shape.height).flat_map(|y| (0..shape.width).map(move |x| (x, y)));
        let (i, j) = match &shape.tiles {
            // Bytes after the last column and row belong to no element.
            Some(_) => all.find(|&(x, y)| shape.offset(x, y) == Some(first)).unwrap_or((shape.width, shape.height)),
            None => ((first / size % pitch) as u32, (first / size / pitch) as u32),
        };
        let of_channel = |&channel: &usize| {
            let (begin, bytes) = shape.form.channel(channel);
            (begin..begin + bytes).contains(&(at - first))
        };
        let channel = (0..4).find(of_channel).unwrap_or_default();
        let (begin, bytes) = shape.form.channel(channel);
        let number = |all: &[u8]| {
            let bytes = all.iter().skip(first + begin).take(bytes);
            bytes.rev().fold(0, |all, &byte| all << 8 | u32::from(byte))
        };
        let (found, expected) = (number(found), number(expected));
        Some(FirstDifference { element: Position { i, j }, channel, found, expected })
    }
}

/// Copies of the arrays of targets.
#[derive(Clone)]
pub struct Shadows<T>(pub Vec<(T, Shadow)>);

impl<T: OutputTarget> Shadows<T> {
    /// Writes a processor's outputs; returns the effect.
    pub fn store(&mut self, at: Position, targets: &[(T, [u32; 4], u8)]) -> Written {
        let mut all = Written::default();
        for (target, shadow) in &mut self.0 {
            if let Some((_, values, written)) = targets.iter().find(|(other, ..)| other == target) {
                let Written { elements, bytes } = shadow.store(at, values, *written);
                all.elements += elements;
                all.bytes += bytes;
            }
        }
        all
    }

    /// The first element that is not as in `expected`, copies of the same arrays.
    pub fn difference(&self, expected: &Self) -> Option<Difference> {
        self.0.iter().find_map(|(target, shadow)| {
            let (_, expected) = expected.0.iter().find(|(other, _)| other == target)?;
            let place = shadow.difference(expected.bytes())?;
            let message = differing(*target, place.channel, [place.found, place.expected].map(Some));
            Some(Difference { pc: None, position: Some(place.element), message })
        })
    }
}

#[cfg(test)]
#[path = "../tests/unit/shadow.rs"]
mod tests;
