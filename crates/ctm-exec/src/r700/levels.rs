//! The texels of a texture's mipmap levels in one allocation, so that engines reach each level from the first one by a 32-bit index.

use std::ops::{Index, IndexMut};

/// Bits of the four elements of a texel.
type Texel = [u32; 4];

/// The four elements of texels that are one number each: `Some` bits that all texels share, or `None` for the number.
pub type NumberConstants = [Option<u32>; 4];

/// Texels of a level that are one number each, slice by slice, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberTexels<'a> {
    /// The bits of each texel's number.
    pub numbers: &'a [u32],
    /// The elements that are not the number. A program that only compares texels sees none of them.
    pub constants: NumberConstants,
}

impl NumberTexels<'_> {
    /// The four elements of a texel with a number.
    #[must_use]
    pub fn texel(constants: NumberConstants, number: u32) -> [u32; 4] {
        constants.map(|constant| constant.unwrap_or(number))
    }
}

/// Mipmap levels: each is an array of texels, slice by slice, row by row. They lie one after the other in one allocation. `T`: a texel, mostly the bits of its four
/// elements.
///
/// ```
/// use ctm_exec::r700::resources::Levels;
///
/// let levels = Levels::from(vec![vec![[1; 4]; 4], vec![[2; 4]]]);
/// assert_eq!((levels.len(), levels[1].len()), (2, 1));
/// assert_eq!(levels[0].as_ptr_range().end, levels[1].as_ptr());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels<T = [u32; 4]> {
    texels: Vec<T>,
    /// Where each level ends, in texels.
    ends: Vec<usize>,
}

impl<T> Default for Levels<T> {
    fn default() -> Self {
        Self { texels: Vec::new(), ends: Vec::new() }
    }
}

impl<T> Levels<T> {
    /// No level yet, and room for this many texels.
    #[must_use]
    pub fn with_capacity(texels: usize) -> Self {
        Self { texels: Vec::with_capacity(texels), ends: Vec::new() }
    }

    fn range(&self, level: usize) -> Option<std::ops::Range<usize>> {
        let end = *self.ends.get(level)?;
        Some(level.checked_sub(1).map_or(0, |below| self.ends[below])..end)
    }

    /// The number of levels.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no level.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The texels of all levels, level by level.
    #[must_use]
    pub fn texels(&self) -> &[T] {
        &self.texels
    }

    /// The same for writing.
    pub fn texels_mut(&mut self) -> &mut [T] {
        &mut self.texels
    }

    /// The texels of a level; `None` where there is no such level.
    #[must_use]
    pub fn get(&self, level: usize) -> Option<&[T]> {
        self.texels.get(self.range(level)?)
    }

    /// The same for writing.
    pub fn get_mut(&mut self, level: usize) -> Option<&mut [T]> {
        let range = self.range(level)?;
        self.texels.get_mut(range)
    }

    /// Level 0, if there is one.
    #[must_use]
    pub fn first(&self) -> Option<&[T]> {
        self.get(0)
    }

    /// The smallest level, if there is one.
    #[must_use]
    pub fn last(&self) -> Option<&[T]> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Each level.
    pub fn iter(&self) -> impl Iterator<Item = &[T]> {
        (0..self.len()).filter_map(|level| self.get(level))
    }

    /// Adds a level after the last one.
    pub fn push(&mut self, texels: impl IntoIterator<Item = T>) {
        self.texels.extend(texels);
        self.ends.push(self.texels.len());
    }

    /// Keeps this many levels.
    pub fn truncate(&mut self, levels: usize) {
        self.ends.truncate(levels);
        self.texels.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// Level 0 alone; empty where there is none.
    #[must_use]
    pub fn into_first(mut self) -> Vec<T> {
        self.truncate(1);
        self.texels
    }
}

impl<T> Index<usize> for Levels<T> {
    type Output = [T];

    fn index(&self, level: usize) -> &[T] {
        let Some(range) = self.range(level) else { panic!("level {level} of {}", self.len()) };
        &self.texels[range]
    }
}

impl<T> IndexMut<usize> for Levels<T> {
    fn index_mut(&mut self, level: usize) -> &mut [T] {
        let Some(range) = self.range(level) else { panic!("level {level} of {}", self.len()) };
        &mut self.texels[range]
    }
}

impl<T> FromIterator<Vec<T>> for Levels<T> {
    fn from_iter<L: IntoIterator<Item = Vec<T>>>(levels: L) -> Self {
        let mut levels = levels.into_iter();
        // The first level is the largest: its allocation becomes that of all.
        let Some(texels) = levels.next() else { return Self::default() };
        let mut all = Self { ends: vec![texels.len()], texels };
        levels.for_each(|level| all.push(level));
        all
    }
}

impl<T> From<Vec<Vec<T>>> for Levels<T> {
    fn from(levels: Vec<Vec<T>>) -> Self {
        levels.into_iter().collect()
    }
}

impl From<Vec<Texel>> for Levels {
    /// One level.
    fn from(texels: Vec<Texel>) -> Self {
        std::iter::once(texels).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_each_other() {
        let mut levels: Levels = (1..4u32).rev().map(|n| vec![[n; 4]; n as usize]).collect();
        levels.push([[9; 4]]);
        assert_eq!(levels.iter().map(<[_]>::len).collect::<Vec<_>>(), [3, 2, 1, 1]);
        assert_eq!((levels.first().unwrap()[2], levels.last().unwrap()[0]), ([3; 4], [9; 4]));
        levels.get_mut(2).unwrap()[0] = [7; 4];
        assert_eq!(levels.texels()[5], [7; 4]);
        assert_eq!(levels.get(4), None);
        levels.truncate(2);
        assert_eq!((levels.len(), levels.texels().len()), (2, 5));
        assert_eq!(levels.into_first(), vec![[3; 4]; 3]);
        assert_eq!(<Levels>::default().last(), None);
    }
}
