//! The state that wavefronts of a thread group share, and their sends to memory: the local data share (R700 §2.6.2),
//! writes to memory that threads share, which are recorded here and made in order by the calling thread; and a
//! wavefront's scratch memory.

use super::wave::{Fetched, LANES, Row, Shared, To, lanes_of};
use crate::launch::lanes::{BailOut, Result};
use ctm_exec::r700::Space;
use ctm_exec::r700::memory::{
    MemoryRead, SHARE_DWORDS, scatter_index, share_dword, share_read_at, shared_address, space, written_components,
};
use ctm_exec::x1k::group::uncached_index;
use ctm_ir::masked::Store;
use ctm_isa::r700::inst::{CfMem, MemDsr};
use ctm_isa::r700::ops::MuxCntl;
use rustc_hash::FxHashMap as Map;
use std::collections::HashMap;

/// The dwords of a local data share. In this crate's tests they lie between pages that may not be touched.
#[cfg(all(test, unix, target_arch = "x86_64"))]
type Share = crate::tests::guarded::Guarded<u32>;
#[cfg(not(all(test, unix, target_arch = "x86_64")))]
type Share = Vec<u32>;

#[cfg(all(test, unix, target_arch = "x86_64"))]
fn new_share() -> Share {
    Share::new(SHARE_DWORDS)
}

#[cfg(not(all(test, unix, target_arch = "x86_64")))]
fn new_share() -> Share {
    vec![0; SHARE_DWORDS]
}

/// A dword that a wavefront writes to memory which threads share.
#[derive(Clone, Copy, Debug)]
pub struct Stored {
    /// The kind of memory; the X1K has one, output 0 past the cache.
    pub space: Space,
    /// The lane that writes it.
    lane: u8,
    /// The address; on the X1K the column, and 2^32 times the row.
    pub dword: u64,
    /// The value.
    pub bits: u32,
}

/// The most recorded dwords of one group; one that writes more is left to the reference interpreter.
const NOTED: usize = 1 << 20;

/// The state that wavefronts of a group share.
#[derive(Default)]
pub struct Group {
    /// Their writes to memory that threads share, in order.
    pub stored: Vec<Stored>,
    /// The data share, after the first write to it.
    share: Option<Share>,
    /// Whether it may hold anything but zeros.
    shared: bool,
    /// The beginning of the present burst in `stored`.
    burst: usize,
    /// Their writes, for reads of the same memory.
    written: HashMap<(Space, u64), u32>,
}

impl Group {
    /// Before a group runs.
    pub fn begin(&mut self) {
        self.stored.clear();
        self.written.clear();
        if let (true, Some(share)) = (std::mem::take(&mut self.shared), &mut self.share) {
            share.fill(0);
        }
    }

    /// The data share, for writes.
    pub fn dwords(&mut self) -> &mut [u32] {
        self.shared = true;
        self.share.get_or_insert_with(new_share)
    }

    /// A dword of the data share by its number; 0 beyond its end.
    pub fn dword(&self, number: u32) -> u32 {
        self.share.as_ref().and_then(|share| share.get(number as usize)).copied().unwrap_or(0)
    }

    /// `LOCAL_DS_READ` (R700 §10.6): index and address, four elements.
    pub fn share_read(&self, inst: &MemDsr, burst: u8, [x, y]: [&Row; 2], (executes, to): To<'_>) -> Result {
        let read = |lane: usize| -> [u32; 4] {
            let bank = x[lane] as usize;
            let at = share_read_at(inst, bank, y[lane] as usize, burst);
            let dword = |at: Option<usize>| {
                at.and_then(|at| share_dword(bank, at)).map_or(0, |number| self.dword(number as u32))
            };
            match inst.word1.mux_cntl {
                MuxCntl::WordSelect => [dword(at[0]); 4],
                _ => at.map(dword),
            }
        };
        if inst.word1.broadcast {
            // Where no lane is valid, the reference interpreter decides which lane reads.
            let first = lanes_of(executes).next().ok_or(BailOut)?;
            to.iter_mut().zip(read(first)).for_each(|(row, bits)| row.fill(bits));
            return Ok(());
        }
        for lane in lanes_of(executes) {
            to.iter_mut().zip(read(lane)).for_each(|(row, bits)| row[lane] = bits);
        }
        Ok(())
    }

    /// Records a written dword.
    fn note(&mut self, stored: Stored) -> Result {
        if self.stored.len() >= NOTED {
            return Err(BailOut);
        }
        self.stored.push(stored);
        Ok(())
    }

    /// After the last write of a burst: lanes write one after the other, each its whole burst.
    fn burst_ends(&mut self, reads_back: bool) {
        let burst = &mut self.stored[self.burst..];
        burst.sort_by_key(|stored| stored.lane);
        if reads_back {
            self.written.extend(burst.iter().map(|stored| ((stored.space, stored.dword), stored.bits)));
        }
    }
}

/// A wavefront's scratch memory: the written elements, of four dwords, of each lane.
#[derive(Default)]
pub struct Scratch(Map<usize, [Row; 4]>);

impl Scratch {
    /// Before a wavefront runs.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn dword(&self, element: usize, c: usize, lane: usize) -> u32 {
        self.0.get(&element).map_or(0, |rows| rows[c & 3][lane])
    }

    fn place(&mut self, element: usize, c: usize, lane: usize) -> &mut u32 {
        &mut self.0.entry(element).or_insert([[0; LANES]; 4])[c & 3][lane]
    }
}

impl Fetched {
    /// Performs a store for the lanes of `executes`: reads rows of indices and elements.
    ///
    /// # Errors
    /// [`BailOut`] where the reference interpreter would find a fault.
    pub fn store(&mut self, shared: &Shared<'_>, number: usize, of: &[&Row; 5], executes: u64) -> Result {
        match shared.stores.get(number).ok_or(BailOut)? {
            Store::Memory(cf, burst) => self.memory_write(shared, cf, *burst, of, executes)?,
            Store::Event(event) => self.events.extend(lanes_of(executes).map(|lane| (lane as u8, *event))),
            Store::Dword => {
                let share = self.group.dwords();
                for lane in lanes_of(executes) {
                    if let Some(place) = share.get_mut(of[0][lane] as usize) {
                        *place = of[1][lane];
                    }
                }
            }
            Store::Uncached { shared: shares } => {
                let Some(first) = lanes_of(executes).next() else { return Ok(()) };
                for lane in lanes_of(executes & u64::from(of[3][0])) {
                    let at = if *shares { first } else { lane };
                    let [x, y] = [of[0], of[1]].map(|row| uncached_index(row[at]).ok_or(BailOut));
                    let dword = u64::from(x?) | u64::from(y?) << 32;
                    self.group.note(Stored { space: Space::Scatter, lane: lane as u8, dword, bits: of[2][lane] })?;
                }
            }
        }
        Ok(())
    }

    /// One write of a burst (R700 §3.4.2).
    fn memory_write(&mut self, shared: &Shared<'_>, cf: &CfMem, burst: u8, of: &[&Row; 5], executes: u64) -> Result {
        let size = u64::from(cf.word0.elem_size) + 1;
        let (base, array_size) = (u64::from(cf.word0.array_base), u64::from(cf.word1.array_size) + 1);
        let n = u64::from(burst);
        let scatters = space(cf.word1.op) == Some(Space::Scatter);
        let index = |lane: usize| match (cf.kind.is_indexed(), scatters) {
            (false, _) => 0,
            (true, true) => scatter_index(of[0][lane]),
            (true, false) => u64::from(of[0][lane]),
        };
        let elements = || written_components(cf);
        let Some(space) = space(cf.word1.op) else {
            for lane in lanes_of(executes).filter(|&lane| index(lane) + n < array_size) {
                let at = usize::try_from(base + index(lane) + n).map_err(|_| BailOut)?;
                elements().for_each(|c| *self.scratch.place(at, c, lane) = of[c + 1][lane]);
            }
            return Ok(());
        };
        let (launch, memory) = shared.r700()?;
        let limit = memory.space(space).ok_or(BailOut)?;
        if burst == 0 {
            self.group.burst = self.group.stored.len();
        }
        for lane in lanes_of(executes) {
            let steps = if scatters { index(lane).wrapping_add(n * size) } else { index(lane) + n };
            if space != Space::Scatter && steps >= array_size {
                continue;
            }
            let first = shared_address(launch, space, (self.first_thread, lane), base, steps, size);
            for (c, dword) in elements().map(|c| (c, first.wrapping_add(c as u64))) {
                if dword >= limit {
                    return Err(BailOut);
                }
                self.group.note(Stored { space, lane: lane as u8, dword, bits: of[c + 1][lane] })?;
            }
        }
        if burst == cf.word1.burst_count && (burst > 0 || shared.reads_back) {
            self.group.burst_ends(shared.reads_back);
        }
        Ok(())
    }

    /// One read of a burst of memory (R700 chapter 7): index, four elements.
    pub fn memory(&mut self, shared: &Shared<'_>, of: &MemoryRead, burst: u8, at: &Row, (lanes, to): To<'_>) -> Result {
        let (launch, memory) = shared.r700()?;
        let limit = match of.space {
            Some(space) => memory.space(space).ok_or(BailOut)?,
            None => 0,
        };
        for lane in lanes_of(lanes) {
            let element = of.element(at[lane], burst);
            let mut dwords = [0; 4];
            for (c, place) in dwords.iter_mut().enumerate().take(of.dwords) {
                *place = match of.space {
                    None => self.scratch.dword(of.scratch_element(element), c, lane),
                    Some(space) => {
                        let first = of.address(launch, space, (self.first_thread, lane), element);
                        let dword = first.wrapping_add(c as u64);
                        // A fault, unless the lane is not valid.
                        if dword >= limit {
                            return Err(BailOut);
                        }
                        self.bytes += 4;
                        match self.group.written.get(&(space, dword)) {
                            Some(&bits) => bits,
                            None => memory.load(space, dword).map_err(|_| BailOut)?,
                        }
                    }
                };
            }
            self.fetches += 1;
            let fetched = of.converted(dwords).map_err(|_| BailOut)?;
            to.iter_mut().zip(fetched).for_each(|(row, bits)| row[lane] = bits);
        }
        Ok(())
    }
}
