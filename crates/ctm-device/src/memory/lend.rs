//! Access to several parts of memory at once: inputs and outputs of a launch.

use super::{DeviceMemory, GpuAddr, Storage};
use std::ops::Range;

/// Parts of memory that are borrowed together.
#[derive(Debug, Default)]
pub struct Lent<'a> {
    /// To be read, in the order of requests; `None`: it shares bytes with a part that is written, or lies in no arena.
    pub reads: Vec<Option<&'a [u8]>>,
    /// To be written, in the order of requests.
    pub writes: Vec<&'a mut [u8]>,
}

/// A part of an arena, and its index among the requests.
type ArenaPart = (Range<usize>, usize);

impl DeviceMemory {
    /// Lends one part to be read. `None` when it lies in no arena, or each touch has to be noted.
    pub fn lent(&self, address: GpuAddr, bytes: usize) -> Option<&[u8]> {
        let (arena, offset) = self.locate(address, bytes as u64).ok()?;
        match &self.arenas[arena].storage {
            Storage::Watched(_) => None,
            storage @ (Storage::Own(_) | Storage::Shared(_)) => Some(storage.slice(offset, bytes)),
        }
    }

    /// Lends parts, each an address and a number of bytes. `None` when two of the writes share a byte, or one lies in no arena.
    pub fn lend(&mut self, reads: &[(GpuAddr, usize)], writes: &[(GpuAddr, usize)]) -> Option<Lent<'_>> {
        let mut wanted: [(Vec<ArenaPart>, Vec<ArenaPart>); 4] = Default::default();
        for (number, &(address, bytes)) in writes.iter().enumerate() {
            let (arena, offset) = self.locate(address, bytes as u64).ok()?;
            wanted[arena].1.push((offset..offset + bytes, number));
        }
        for (number, &(address, bytes)) in reads.iter().enumerate() {
            if let Ok((arena, offset)) = self.locate(address, bytes as u64) {
                wanted[arena].0.push((offset..offset + bytes, number));
            }
        }
        let mut lent = Lent { reads: vec![None; reads.len()], writes: Vec::new() };
        let mut written: Vec<Option<&mut [u8]>> = Vec::new();
        written.resize_with(writes.len(), || None);
        for (arena, (reads, mut writes)) in self.arenas.iter_mut().zip(wanted) {
            writes.sort_by_key(|(range, _)| range.start);
            if writes.windows(2).any(|pair| pair[1].0.start < pair[0].0.end) {
                return None;
            }
            let apart = |range: &Range<usize>| writes.iter().all(|(w, _)| w.end <= range.start || range.end <= w.start);
            let reads: Vec<ArenaPart> = reads.into_iter().filter(|(range, _)| apart(range)).collect();
            match &mut arena.storage {
                Storage::Own(pages) => {
                    let bytes = pages.as_deref_mut().unwrap_or_default();
                    split(bytes, &reads, writes, &mut lent.reads, &mut written);
                }
                // Each touch has to be noted.
                Storage::Watched(_) if !reads.is_empty() || !writes.is_empty() => return None,
                Storage::Watched(_) => {}
                Storage::Shared(pages) => {
                    let ranges = |parts: &[ArenaPart]| parts.iter().map(|(range, _)| range.clone()).collect::<Vec<_>>();
                    let (read, write) = pages.parts(&ranges(&reads), &ranges(&writes))?;
                    reads.iter().zip(read).for_each(|((_, number), bytes)| lent.reads[*number] = Some(bytes));
                    writes.iter().zip(write).for_each(|((_, number), bytes)| written[*number] = Some(bytes));
                }
            }
        }
        lent.writes = written.into_iter().collect::<Option<_>>()?;
        Some(lent)
    }
}

/// Cuts the bytes of an arena at the written parts, which are in order and disjoint from each other and from the read parts.
fn split<'a>(
    mut rest: &'a mut [u8],
    reads: &[ArenaPart],
    writes: Vec<ArenaPart>,
    read: &mut [Option<&'a [u8]>],
    written: &mut [Option<&'a mut [u8]>],
) {
    let mut at = 0;
    let mut between = |bytes: &'a [u8], from: usize| {
        for (range, number) in reads {
            if from <= range.start && range.end <= from + bytes.len() {
                read[*number] = Some(&bytes[range.start - from..range.end - from]);
            }
        }
    };
    for (range, number) in writes {
        let (before, behind) = rest.split_at_mut(range.start - at);
        between(before, at);
        let (part, behind) = behind.split_at_mut(range.len());
        written[number] = Some(part);
        (rest, at) = (behind, range.end);
    }
    between(rest, at);
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::memory::ArenaOptions;

    #[test]
    fn lends_parts_that_are_apart() {
        let mut m = DeviceMemory::new(&ArenaOptions::with_sizes([8192, 0, 8192, 0]).unwrap()).unwrap();
        let gpu = m.range(crate::memory::ArenaId::Gpu).base.0;
        let sys = m.range(crate::memory::ArenaId::Sys).base.0;
        (0..8192).for_each(|n| m.write(GpuAddr(gpu + n), &[(n / 64) as u8]).unwrap());
        let at = |n: u32| GpuAddr(gpu + n);
        let reads = [(at(0), 64), (at(128), 64), (at(64), 128), (at(4096), 4096), (GpuAddr(sys), 8), (at(8190), 4)];
        let mut lent = m.lend(&reads, &[(at(192), 64), (GpuAddr(sys + 8), 8), (at(64), 64)]).unwrap();
        let found: Vec<Option<(usize, u8)>> = lent.reads.iter().map(|r| r.map(|b| (b.len(), b[0]))).collect();
        assert_eq!(found, [Some((64, 0)), Some((64, 2)), None, Some((4096, 64)), Some((8, 0)), None]);
        assert_eq!(lent.writes.iter().map(|w| (w.len(), w[0])).collect::<Vec<_>>(), [(64, 3), (8, 0), (64, 1)]);
        lent.writes[1][7] = 9;
        assert_eq!(m.slice(GpuAddr(sys + 15), 1).unwrap(), [9]);
        assert_eq!(m.lent(at(128), 64), Some(&[2; 64][..]));
        assert!(m.lent(at(8190), 4).is_none());
        assert!(m.lend(&[], &[(at(0), 65), (at(64), 64)]).is_none());
        assert!(m.lend(&[], &[(at(8190), 4)]).is_none());
    }
}
