//! The memory that streams work on.

use ctm_draw::FastClear;
use std::collections::BTreeMap;

/// A buffer, among all buffers that a device ever sees.
pub type BufferId = [u64; 3];

/// The memory of a device: a range of addresses, some of which hold buffers.
pub trait GpuMemory: Sync {
    /// `length` bytes from an address on; `None` if they do not all lie in one buffer.
    fn bytes(&self, address: u64, length: u64) -> Option<&[u8]>;

    /// The same for writing.
    fn bytes_mut(&mut self, address: u64, length: u64) -> Option<&mut [u8]>;

    /// The buffer that has these bytes, by numbers that no other one ever has, if nothing but the streams of this device has ever been able to write it. Its bytes are not compared with
    /// those that were read before, where no stream wrote them since. `None`: anyone may write them between streams.
    fn own_buffer(&self, _address: u64, _length: u64) -> Option<BufferId> {
        None
    }

    /// Fast clears that the last stream left, with the addresses of slice 0 of their targets. The caller keeps or stores them all.
    fn take_clears(&mut self) -> Vec<(u64, FastClear)> {
        Vec::new()
    }

    /// Keeps a fast clear, and the address of slice 0 of its target, until [`Self::take_clears`]; returns whether it does. It has to be
    /// [stored](FastClear::store) before anything else looks at this memory.
    fn keep_clear(&mut self, _address: u64, _clear: &FastClear) -> bool {
        false
    }

    /// All buffers with their addresses, in order and apart from each other, if they can be borrowed together: then draws write their targets in place. `None`: each draw
    /// works on copies.
    fn buffers_mut(&mut self) -> Option<Vec<(u64, &mut [u8])>> {
        None
    }
}

/// Memory without the ranges that are borrowed from it.
pub(super) struct Rest<'m> {
    /// The parts between them, in order.
    parts: Vec<(u64, &'m [u8])>,
}

impl GpuMemory for Rest<'_> {
    fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        let (start, bytes) = self.parts[..self.parts.partition_point(|part| part.0 <= address)].last()?;
        bytes.get(within(*start, bytes.len(), address, length)?)
    }

    fn bytes_mut(&mut self, _: u64, _: u64) -> Option<&mut [u8]> {
        None
    }
}

/// Borrows ranges, none of which overlaps another, and the rest of memory for reading; `None` where memory cannot be borrowed so, or a range lies outside.
pub(super) fn borrow<'m>(
    memory: &'m mut dyn GpuMemory,
    ranges: &[(u64, u64)],
) -> Option<(Vec<&'m mut [u8]>, Rest<'m>)> {
    let mut wanted: Vec<(usize, (u64, u64))> = ranges.iter().copied().enumerate().collect();
    wanted.sort_unstable_by_key(|(_, range)| range.0);
    let mut wanted = wanted.into_iter().peekable();
    let mut borrowed: Vec<Option<&mut [u8]>> = ranges.iter().map(|_| None).collect();
    let mut parts: Vec<(u64, &[u8])> = Vec::new();
    for (mut start, mut bytes) in memory.buffers_mut()? {
        let end = start.checked_add(bytes.len() as u64)?;
        while let Some((number, (address, length))) = wanted.next_if(|(_, range)| range.0 < end) {
            let before = usize::try_from(address.checked_sub(start)?).ok()?;
            let length = usize::try_from(length).ok()?;
            let (front, rest) = bytes.split_at_mut_checked(before)?;
            let (range, rest) = rest.split_at_mut_checked(length)?;
            borrowed[number] = Some(range);
            parts.push((start, front));
            (start, bytes) = (address + length as u64, rest);
        }
        parts.push((start, bytes));
    }
    let borrowed = borrowed.into_iter().collect::<Option<Vec<_>>>()?;
    parts.retain(|(_, part)| !part.is_empty());
    Some((borrowed, Rest { parts }))
}

/// The bytes of a range from its start, as many as memory has there; `None` where it has none.
pub(super) fn available(memory: &dyn GpuMemory, address: u64, length: u64) -> Option<&[u8]> {
    if let Some(bytes) = memory.bytes(address, length) {
        return Some(bytes);
    }
    memory.bytes(address, 1)?;
    // The largest valid length, by halving.
    let (mut good, mut bad) = (1, length);
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if memory.bytes(address, middle).is_some() { good = middle } else { bad = middle }
    }
    memory.bytes(address, good)
}

/// Buffers in host memory, each at its address.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    buffers: BTreeMap<u64, Vec<u8>>,
}

impl Buffers {
    /// Puts a buffer at an address. The parts of others that it covers are dropped.
    pub fn insert(&mut self, address: u64, bytes: Vec<u8>) {
        let end = address.saturating_add(bytes.len() as u64);
        let covered: Vec<u64> = self
            .buffers
            .range(..end)
            .rev()
            .take_while(|(start, other)| **start + other.len() as u64 > address)
            .map(|(start, _)| *start)
            .collect();
        for start in covered {
            self.buffers.remove(&start);
        }
        self.buffers.insert(address, bytes);
    }

    /// Takes a buffer away.
    pub fn remove(&mut self, address: u64) -> Option<Vec<u8>> {
        self.buffers.remove(&address)
    }

    /// All buffers with their addresses.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.buffers.iter().map(|(address, bytes)| (*address, bytes.as_slice()))
    }

    /// The buffer that begins at an address.
    #[must_use]
    pub fn buffer(&self, address: u64) -> Option<&[u8]> {
        self.buffers.get(&address).map(Vec::as_slice)
    }
}

/// The place of a range in a buffer that begins at `start`.
fn within(start: u64, size: usize, address: u64, length: u64) -> Option<std::ops::Range<usize>> {
    let from = usize::try_from(address.checked_sub(start)?).ok()?;
    let end = from.checked_add(usize::try_from(length).ok()?)?;
    (end <= size).then_some(from..end)
}

impl GpuMemory for Buffers {
    fn bytes(&self, address: u64, length: u64) -> Option<&[u8]> {
        let (start, bytes) = self.buffers.range(..=address).next_back()?;
        bytes.get(within(*start, bytes.len(), address, length)?)
    }

    fn bytes_mut(&mut self, address: u64, length: u64) -> Option<&mut [u8]> {
        let (start, bytes) = self.buffers.range_mut(..=address).next_back()?;
        let range = within(*start, bytes.len(), address, length)?;
        bytes.get_mut(range)
    }

    fn buffers_mut(&mut self) -> Option<Vec<(u64, &mut [u8])>> {
        Some(self.buffers.iter_mut().map(|(start, bytes)| (*start, bytes.as_mut_slice())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_borrowed_beside_the_rest() {
        let mut memory = Buffers::default();
        memory.insert(4096, (0..64).collect());
        memory.insert(8192, vec![2; 16]);
        let (lent, rest) =
            borrow(&mut memory, &[(8192, 16), (4112, 8), (4096, 4)]).unwrap_or_else(|| panic!("no ranges"));
        assert_eq!(lent.iter().map(|of| of.len()).collect::<Vec<_>>(), [16, 8, 4]);
        assert_eq!(lent[1], [16, 17, 18, 19, 20, 21, 22, 23]);
        assert_eq!(rest.bytes(4100, 12).map(<[u8]>::len), Some(12));
        assert_eq!(rest.bytes(4120, 4), Some(&[24, 25, 26, 27][..]));
        for (address, length) in [(4096, 1), (4100, 13), (4119, 2), (8192, 1), (0, 1)] {
            assert_eq!(rest.bytes(address, length), None, "{address}");
        }
        for outside in [(4096, 65), (5000, 1), (8200, 9)] {
            assert!(borrow(&mut memory, &[outside]).is_none(), "{outside:?}");
        }
        // Ranges that overlap are not borrowed.
        assert!(borrow(&mut memory, &[(4096, 8), (4100, 8)]).is_none());
    }

    #[test]
    fn buffers_are_found_by_address() {
        let mut memory = Buffers::default();
        memory.insert(4096, vec![1; 16]);
        memory.insert(8192, vec![2; 16]);
        assert_eq!(memory.bytes(4100, 12).map(<[u8]>::len), Some(12));
        assert_eq!(memory.bytes(4100, 13), None);
        assert_eq!(memory.bytes(0, 1), None);
        assert_eq!(memory.bytes(u64::MAX, 1), None);
        assert_eq!(memory.bytes(4096, u64::MAX), None);
        memory.insert(4104, vec![3; 8192]);
        assert_eq!(memory.iter().map(|b| b.0).collect::<Vec<_>>(), [4104]);
        assert_eq!(memory.bytes_mut(4104, 2), Some(&mut [3, 3][..]));
    }
}
