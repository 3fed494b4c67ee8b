//! Memory writes and reads of a wavefront (R700 §3.4.2, §3.4.3, chapter 7) and the local data share (§2.6.2, chapter 8).
//!
//! | memory | address of dword c of element n of a burst, in dwords |
//! |---|---|
//! | scratch | `(ARRAY_BASE + index + n) * 4 + c` of the thread's own scratch memory |
//! | reduction | `((ARRAY_BASE + index + n) * W + wavefront * stride * W + lane) * 4 + c`, W lanes of a wavefront |
//! | ring, stream | `thread * item + ARRAY_BASE + (index + n) * (ELEM_SIZE + 1) + c` |
//! | scatter | `ARRAY_BASE + index + n * (ELEM_SIZE + 1) + c` |
//!
//! `index` is there in indexed forms only. Elements from ARRAY_BASE + ARRAY_SIZE on are not written (scratch, reduction, ring, stream), and
//! read the last one (scratch, reduction). Indices of reads and of scatter are signed: negative ones read element 0 of an array, and reach before
//! ARRAY_BASE in scatter memory. Invalid pixels write nothing.

pub use super::data_share::{BANK_DWORDS, DataShare, SHARE_DWORDS, share_dword};
pub use super::shared::Shared;

use super::checks::{Checks, SHARE_OUT_OF_BOUNDS, WRITE_BEHIND_ARRAY};
use super::data_share::BANKS;
use super::fetch::not_done;
use super::formats::{Format, convert, size_bytes, swapped};
use super::texture::selected;
use super::wavefront::{Context, Wavefront};
use super::{Launch, Memory, Space};
use crate::fault::{FaultKind, MemoryFault};
use ctm_isa::r700::GPRS;
use ctm_isa::r700::inst::{CfMem, MemDsr, MemDsw, MemRd};
use ctm_isa::r700::ops::{EndianSwap, ExportOp, MemOp, MuxCntl, RelMode, Sel};
use ctm_isa::r700::program::Chip;

/// Dwords from one thread's place in `LOCAL_DS_WRITE` to that of the next thread of the same bank.
#[must_use]
pub const fn share_stride(inst: &MemDsw) -> usize {
    inst.word1.dst_stride as usize | (inst.word1.dst_stride_ext as usize) << 7
}

/// The memory of a write instruction; `None` for exports and for scratch memory, which is the thread's own.
#[must_use]
pub const fn space(op: ExportOp) -> Option<Space> {
    match op {
        ExportOp::MemStream0 => Some(Space::Stream(0)),
        ExportOp::MemStream1 => Some(Space::Stream(1)),
        ExportOp::MemStream2 => Some(Space::Stream(2)),
        ExportOp::MemStream3 => Some(Space::Stream(3)),
        ExportOp::MemReduction => Some(Space::Reduction),
        ExportOp::MemRing => Some(Space::Ring),
        ExportOp::MemExport => Some(Space::Scatter),
        ExportOp::MemScratch | ExportOp::Export | ExportOp::ExportDone => None,
    }
}

fn outside(space: Space, dword: u64, size: u64) -> FaultKind {
    let reason = format!("dword {} lies outside its {size} dwords", dword.cast_signed());
    let address = Some(dword.wrapping_mul(4));
    FaultKind::Memory(MemoryFault { what: format!("{} memory", space.name()), address, reason })
}

fn bound(memory: &dyn Memory, space: Space) -> Result<u64, FaultKind> {
    memory.space(space).ok_or_else(|| {
        let reason = "nothing is bound there".into();
        FaultKind::Memory(MemoryFault { what: format!("{} memory", space.name()), address: None, reason })
    })
}

/// The first dword of an element in a memory that all threads share: `base` is ARRAY_BASE, `steps` index and burst added up, `size` the
/// dwords of an element; the lane belongs to a wavefront whose first thread has the number `first_thread`.
#[must_use]
pub fn shared_address(
    launch: &Launch<'_>,
    space: Space,
    (first_thread, lane): (u64, usize),
    base: u64,
    steps: u64,
    size: u64,
) -> u64 {
    let thread = first_thread + lane as u64;
    match space {
        Space::Reduction => {
            let lanes = launch.wavefront.lanes() as u64;
            let wavefront = first_thread / lanes;
            let stride = u64::from(launch.reduction_stride);
            ((base + steps) * lanes + wavefront * stride * lanes + lane as u64) * 4
        }
        Space::Ring => thread * u64::from(launch.ring_item_dwords) + base + steps * size,
        Space::Stream(n) => thread * u64::from(launch.stream_item_dwords[usize::from(n) & 3]) + base + steps * size,
        Space::Scatter => base.wrapping_add(steps),
    }
}

/// The components that a memory write stores, each at its own place in the element: those of COMP_MASK within ELEM_SIZE. In a stream COMP_MASK alone says:
/// the r600 driver writes y with an ELEM_SIZE of one dword, and finds it at ARRAY_BASE + 1.
pub fn written_components(cf: &CfMem) -> impl Iterator<Item = usize> + Clone {
    let (mask, last) = (cf.word1.comp_mask, usize::from(cf.word0.elem_size));
    let limited = !matches!(space(cf.word1.op), Some(Space::Stream(_)));
    (0..4).filter(move |&c| mask >> c & 1 == 1 && (c <= last || !limited))
}

/// An index register as scatter memory takes it: a signed number of dwords, so that one before ARRAY_BASE is reached by a negative one (R700
/// §7.1). Sums with it wrap; addresses before dword 0 are then beyond any memory.
#[must_use]
pub fn scatter_index(bits: u32) -> u64 {
    i64::from(bits.cast_signed()).cast_unsigned()
}

/// A memory read, decoded (R700 chapter 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRead {
    /// The memory; `None` for scratch memory, which is the thread's own.
    pub space: Option<Space>,
    /// How many dwords an element is read from, 1..=4.
    pub dwords: usize,
    format: Format,
    bytes: usize,
    indexed: bool,
    size: u64,
    base: u64,
    /// The array's last element.
    last: u64,
}

impl MemoryRead {
    /// Of an instruction.
    ///
    /// # Errors
    /// Bursts on RV770, formats that are not done.
    pub fn new(inst: &MemRd, chip: Chip) -> Result<Self, FaultKind> {
        let (word0, word1, word2) = (&inst.word0, &inst.word1, &inst.word2);
        if word0.burst_cnt > 0 && chip == Chip::Rv770 {
            return Err(not_done("burst reads on RV770, which has none", "R700 §7.3"));
        }
        let space = match word0.mem_op {
            MemOp::RdScratch => None,
            MemOp::RdReduc => Some(Space::Reduction),
            MemOp::RdScatter => Some(Space::Scatter),
            MemOp::LocalDsWrite | MemOp::LocalDsRead => return Err(not_done("this memory operation", "R700 §9.5")),
        };
        let format = Format {
            data: word1.data_format,
            numbers: word1.num_format_all,
            sign: word1.format_comp_all,
            srf: word1.srf_mode_all,
            endian: word2.endian_swap,
        };
        let bytes = size_bytes(format.data)?;
        Ok(Self {
            space,
            dwords: bytes.div_ceil(4),
            format,
            bytes,
            indexed: word0.indexed,
            size: u64::from(word0.elem_size) + 1,
            base: u64::from(word2.array_base),
            last: u64::from(word2.array_size),
        })
    }

    /// The element that read `burst` of a burst reads, where the index register holds `given`. A burst, too, reads nothing after the array
    /// (R700 §3.4.3).
    #[must_use]
    pub fn element(&self, given: u32, burst: u8) -> u64 {
        let n = u64::from(burst);
        let index = match (self.indexed, self.space) {
            (false, _) => 0,
            (true, Some(Space::Scatter)) => scatter_index(given),
            // Clamped to 0..ARRAY_SIZE - 1, as a signed number (R700 §7.1).
            (true, _) => u64::from(given.cast_signed().max(0).cast_unsigned()).min(self.last),
        };
        match self.space {
            Some(Space::Scatter) => index.wrapping_add(n * self.size),
            _ => (index + n).min(self.last),
        }
    }

    /// Where an element of scratch memory lies, in elements of four dwords.
    #[must_use]
    pub fn scratch_element(&self, element: u64) -> usize {
        usize::try_from(self.base + element).unwrap_or(usize::MAX)
    }

    /// Its first dword in a memory that all threads share; the lane belongs to a wavefront whose first thread has the number `first_thread`.
    #[must_use]
    pub fn address(&self, launch: &Launch<'_>, space: Space, thread: (u64, usize), element: u64) -> u64 {
        shared_address(launch, space, thread, self.base, element, self.size)
    }

    /// The value of an element's dwords.
    ///
    /// # Errors
    /// A format that is not done.
    pub fn converted(&self, dwords: [u32; 4]) -> Result<[u32; 4], FaultKind> {
        let mut item = [0u8; 16];
        for (bytes, dword) in item.chunks_exact_mut(4).zip(dwords) {
            bytes.copy_from_slice(&dword.to_le_bytes());
        }
        let item = reordered(item, self.bytes, self.format.endian);
        convert(&self.format, &item[..self.bytes])
    }
}

/// The first dword, within the bank that is its number modulo 4, that a thread writes in write `burst` of a burst of `LOCAL_DS_WRITE`.
#[must_use]
pub fn share_written_from(inst: &MemDsw, thread: usize, burst: u8) -> usize {
    let word = &inst.word1;
    let index = usize::from(word.dst_index) | usize::from(word.dst_index_ext) << 6;
    (thread >> 2) * share_stride(inst) + index + 4 * usize::from(burst)
}

/// The dwords that `LOCAL_DS_READ` reads for index x and address y in read `burst` of a burst: of each element the dword of bank `x mod 4`, or nothing.
#[must_use]
pub fn share_read_at(inst: &MemDsr, x: usize, y: usize, burst: u8) -> [Option<usize>; 4] {
    let word = &inst.word1;
    let offset = usize::from(inst.word0.rd_offset) + 4 * usize::from(burst);
    let at = ((x >> 2) * 4).saturating_add(y).saturating_add(offset);
    let writes = [word.dst_wr_x, word.dst_wr_y, word.dst_wr_z, word.dst_wr_w];
    std::array::from_fn(|c| match word.mux_cntl {
        MuxCntl::WordSelect => Some(at),
        _ => writes[c].then_some((at & !3) + c),
    })
}

impl Wavefront {
    /// A memory write (R700 §3.4.2).
    pub(super) fn memory_write(
        &mut self,
        context: &Context<'_>,
        checks: &mut Option<Checks>,
        memory: &mut dyn Memory,
        executes: &[bool],
        cf: &CfMem,
        faulty: &mut Option<usize>,
    ) -> Result<(), FaultKind> {
        let space = space(cf.word1.op);
        let limit = match space {
            Some(space) => bound(memory, space)?,
            None => 0,
        };
        let size = u64::from(cf.word0.elem_size) + 1;
        let base = u64::from(cf.word0.array_base);
        let array_size = u64::from(cf.word1.array_size) + 1;
        let lanes = (0..executes.len()).filter(|&lane| executes[lane] && self.flow.valid[lane]);
        for lane in lanes.collect::<Vec<_>>() {
            *faulty = Some(lane);
            memory.begin_lane(self.positions[lane], 0);
            let here = self.at(0, lane);
            let thread = self.first_thread + lane as u64;
            if let (true, Some(checks)) = (cf.kind.is_indexed(), checks.as_mut()) {
                checks.registers_read(here, self.written.get(lane), usize::from(cf.word0.index_gpr) % GPRS, 1);
            }
            let given = self.gprs[lane * GPRS + usize::from(cf.word0.index_gpr) % GPRS][0];
            let index = match (cf.kind.is_indexed(), space) {
                (false, _) => 0,
                (true, Some(Space::Scatter)) => scatter_index(given),
                (true, _) => u64::from(given),
            };
            for burst in 0..=cf.word1.burst_count {
                let register = self.source_register(context, cf.word0.rw_gpr.saturating_add(burst), cf.word0.rw_rel);
                let values = self.gprs[lane * GPRS + register];
                let n = u64::from(burst);
                if let Some(checks) = checks.as_mut() {
                    checks.registers_read(here, self.written.get(lane), register, cf.word1.comp_mask);
                    if space != Some(Space::Scatter) && index + n >= array_size {
                        let element = index + n;
                        checks.note(WRITE_BEHIND_ARRAY, here, || {
                            format!("element {element} is written, the array has {array_size}")
                        });
                    }
                }
                let written = written_components(cf);
                let Some(space) = space else {
                    if index + n < array_size {
                        let at = usize::try_from(base + index + n).unwrap_or(usize::MAX);
                        let scratch = &mut self.scratch[lane];
                        if scratch.len() <= at {
                            scratch.resize(at + 1, [0; 4]);
                        }
                        written.for_each(|c| scratch[at][c] = values[c]);
                    }
                    continue;
                };
                let steps = if space == Space::Scatter { index.wrapping_add(n * size) } else { index + n };
                if space != Space::Scatter && steps >= array_size {
                    continue;
                }
                let first = shared_address(context.launch, space, (self.first_thread, lane), base, steps, size);
                for c in written {
                    let dword = first.wrapping_add(c as u64);
                    if dword >= limit {
                        return Err(outside(space, dword, limit));
                    }
                    memory.store(space, dword, values[c]).map_err(FaultKind::Memory)?;
                    if let Some(checks) = checks.as_mut() {
                        checks.memory_written(here, space, dword, thread);
                    }
                    self.counters.writes += 1;
                    self.counters.write_bytes += 4;
                }
            }
        }
        *faulty = None;
        Ok(())
    }

    /// A memory read (R700 chapter 7): scratch, reduction or scatter.
    #[allow(clippy::too_many_arguments, reason = "an instruction, its place, and what it may touch")]
    pub(super) fn memory_read(
        &mut self,
        context: &Context<'_>,
        checks: &mut Option<Checks>,
        memory: &dyn Memory,
        executes: &[bool],
        inst: &MemRd,
        item: usize,
        faulty: &mut Option<usize>,
    ) -> Result<(), FaultKind> {
        let (word0, word1) = (&inst.word0, &inst.word1);
        let read = MemoryRead::new(inst, context.launch.chip)?;
        let limit = match read.space {
            Some(space) => bound(memory, space)?,
            None => 0,
        };
        let source = self.source_register(context, word0.src_gpr, word0.src_rel);
        for lane in (0..executes.len()).filter(|&lane| executes[lane]) {
            *faulty = Some(lane);
            memory.begin_lane(self.positions[lane], item);
            let here = self.at(item, lane);
            let thread = self.first_thread + lane as u64;
            if let (true, Some(checks)) = (word0.indexed && self.flow.valid[lane], checks.as_mut()) {
                checks.registers_read(here, self.written.get(lane), source, 1 << word0.src_sel_x as usize);
            }
            let given = self.gprs[lane * GPRS + source][word0.src_sel_x as usize];
            for burst in 0..=word0.burst_cnt {
                let element = read.element(given, burst);
                let mut dwords = [0; 4];
                for (c, place) in dwords.iter_mut().enumerate().take(read.dwords) {
                    *place = match read.space {
                        None => {
                            let at = read.scratch_element(element);
                            self.scratch[lane].get(at).map_or(0, |element| element[c])
                        }
                        Some(space) => {
                            let thread_lane = (self.first_thread, lane);
                            let at = read.address(context.launch, space, thread_lane, element).wrapping_add(c as u64);
                            // An invalid pixel fetches for its quad only; its result does not matter.
                            if at >= limit && self.flow.valid[lane] {
                                return Err(outside(space, at, limit));
                            }
                            self.counters.fetch_bytes += 4;
                            if let (true, Some(checks)) = (at < limit, checks.as_mut()) {
                                checks.memory_read(here, space, at, thread, word0.uncached);
                            }
                            if at < limit { memory.load(space, at).map_err(FaultKind::Memory)? } else { 0 }
                        }
                    };
                }
                self.counters.fetches += 1;
                let fetched = read.converted(dwords)?;
                // Numbers outside the registers go to register 0 (R700 §4.6.3).
                let base = word1.dst_gpr.saturating_add(burst);
                let register = match self.destination_register(context, base, word1.dst_rel) {
                    None if word1.dst_rel => Some(0),
                    other => other,
                };
                let swizzle = [word1.dst_sel_x, word1.dst_sel_y, word1.dst_sel_z, word1.dst_sel_w];
                self.write_fetched(lane, register, (swizzle, 1f32.to_bits()), &fetched);
            }
        }
        *faulty = None;
        Ok(())
    }

    /// The source of a lane's data share operation (R700 §10.6): a register by its relative mode. An absolute address names the SIMD-global
    /// registers; there is nothing after them, and 0 is read.
    fn share_source(&self, context: &Context<'_>, shared: &Shared, base: u8, mode: RelMode, lane: usize) -> [u32; 4] {
        match mode {
            RelMode::None | RelMode::Loop => {
                self.gprs[lane * GPRS + self.source_register(context, base, mode == RelMode::Loop) % GPRS]
            }
            RelMode::Global => shared.globals[lane].get(usize::from(base)).copied().unwrap_or_default(),
        }
    }

    /// Reports a data share operation's read of an own register to a checked run.
    #[allow(clippy::too_many_arguments, reason = "an operand, its place, and who looks")]
    fn share_checked(
        &self,
        context: &Context<'_>,
        shared: &mut Shared,
        base: u8,
        mode: RelMode,
        lane: usize,
        sels: &[Sel],
        item: usize,
    ) {
        let elements = sels.iter().filter(|&&sel| (sel as u8) < 4).fold(0, |sum, &sel| sum | 1 << sel as u8);
        if let (true, Some(checks)) = (mode != RelMode::Global, &mut shared.checks) {
            let register = self.source_register(context, base, mode == RelMode::Loop) % GPRS;
            checks.registers_read(self.at(item, lane), self.written.get(lane), register, elements);
        }
    }

    /// `LOCAL_DS_WRITE`: each thread writes up to four dwords of its own (R700 §2.6.2).
    ///
    /// Bank `thread mod 4`, dword `(thread >> 2) * DST_STRIDE + DST_INDEX`; the thread is that of the wavefront, or with SIMD_WAVE_REL that
    /// of the group. Dwords beyond the bank are not written.
    pub(super) fn share_write(
        &mut self,
        context: &Context<'_>,
        shared: &mut Shared,
        executes: &[bool],
        inst: &MemDsw,
        item: usize,
    ) -> Result<(), FaultKind> {
        let (word0, word1) = (&inst.word0, &inst.word1);
        let sels = [word0.src_sel_x, word0.src_sel_y, word0.src_sel_z, word0.src_sel_w];
        for burst in 0..=inst.word2.burst_cnt {
            for lane in (0..executes.len()).filter(|&lane| executes[lane] && self.flow.valid[lane]) {
                let thread = if word1.simd_wave_rel { self.first_in_group + lane } else { lane };
                let first = share_written_from(inst, thread, burst);
                let source = word0.src_gpr.saturating_add(burst);
                let values = self.share_source(context, shared, source, word0.src_rel_mode, lane);
                self.share_checked(context, shared, source, word0.src_rel_mode, lane, &sels, item);
                let here = self.at(item, lane);
                if let Some(checks) = &mut shared.checks {
                    for (c, _) in sels.iter().enumerate().filter(|(_, sel)| **sel != Sel::Mask) {
                        if first + c < BANK_DWORDS {
                            checks.share_written((thread % BANKS) * BANK_DWORDS + first + c);
                        } else {
                            checks.note(SHARE_OUT_OF_BOUNDS, here, || share_outside(first + c, "written"));
                        }
                    }
                }
                for (c, sel) in sels.into_iter().enumerate() {
                    if let (Some(bits), Some(place)) =
                        (selected(sel, &values), shared.data_share.place(thread, first + c))
                    {
                        *place = bits;
                    }
                }
            }
        }
        Ok(())
    }

    /// `LOCAL_DS_READ`: bank `x mod 4`, dword `(x >> 2) * 4 + y + RD_OFFSET` (R700 §10.6).
    ///
    /// Without a multiplexer the four dwords of the aligned entry, with WORD_SELECT the one dword in all elements. Beyond the bank 0. With
    /// BROADCAST every thread, executing or not, gets the value read by the first valid one.
    ///
    /// UNVERIFIED: how x (*index*) and y (*address*) make an address; no program with these instructions is known.
    pub(super) fn share_read(
        &mut self,
        context: &Context<'_>,
        shared: &mut Shared,
        executes: &[bool],
        inst: &MemDsr,
        item: usize,
    ) -> Result<(), FaultKind> {
        let (word0, word1) = (&inst.word0, &inst.word1);
        if word1.mux_cntl == MuxCntl::FftPermute {
            return Err(not_done(
                "the FFT permutation of the local data share, whose pattern the manual does not give",
                "R700 §10.6",
            ));
        }
        let writes = [word1.dst_wr_x, word1.dst_wr_y, word1.dst_wr_z, word1.dst_wr_w];
        for burst in 0..=inst.word2.burst_cnt {
            let base = word1.dst_gpr.saturating_add(burst);
            let destination = self.destination_register(context, base, word1.dst_rel_mode == RelMode::Loop);
            let read = |wave: &Self, shared: &mut Shared, lane: usize| -> [u32; 4] {
                let register = wave.share_source(context, shared, word0.src_gpr, word0.src_rel_mode, lane);
                let element = |sel| selected(sel, &register).unwrap_or(0) as usize;
                let (x, y) = (element(word0.src_sel_x), element(word0.src_sel_y));
                let sels = [word0.src_sel_x, word0.src_sel_y];
                wave.share_checked(context, shared, word0.src_gpr, word0.src_rel_mode, lane, &sels, item);
                let here = wave.at(item, lane);
                let mut dword = |at: usize| {
                    if let Some(checks) = &mut shared.checks {
                        if at < BANK_DWORDS {
                            checks.share_read(here, (x % BANKS) * BANK_DWORDS + at);
                        } else {
                            checks.note(SHARE_OUT_OF_BOUNDS, here, || share_outside(at, "read"));
                        }
                    }
                    shared.data_share.place(x, at).map_or(0, |place| *place)
                };
                let at = share_read_at(inst, x, y, burst);
                match word1.mux_cntl {
                    // One dword in all elements.
                    MuxCntl::WordSelect => [at[0].map_or(0, dword); 4],
                    _ => at.map(|at| at.map_or(0, &mut dword)),
                }
            };
            let broadcast = match (0..executes.len()).find(|&lane| self.flow.valid[lane]) {
                Some(first) if word1.broadcast => Some(read(self, shared, first)),
                _ => None,
            };
            for (lane, &executes) in executes.iter().enumerate() {
                let fetched = match broadcast {
                    Some(fetched) => fetched,
                    None if executes => read(self, shared, lane),
                    None => continue,
                };
                let place = if word1.dst_rel_mode == RelMode::Global {
                    shared.globals[lane].get_mut(usize::from(base))
                } else {
                    destination.and_then(|register| self.gprs.get_mut(lane * GPRS + register))
                };
                if let Some(place) = place {
                    for c in (0..4).filter(|&c| writes[c]) {
                        place[c] = fetched[c];
                    }
                }
                if word1.dst_rel_mode != RelMode::Global {
                    self.now_written(lane, destination, |c| writes[c]);
                }
            }
        }
        Ok(())
    }
}

fn share_outside(dword: usize, what: &str) -> String {
    format!("dword {dword} of a bank is {what}, a bank has {BANK_DWORDS}")
}

/// The bytes of an item in the order that the fetch reads them.
fn reordered(item: [u8; 16], bytes: usize, endian: EndianSwap) -> [u8; 16] {
    let mut result = [0; 16];
    for (at, byte) in result[..bytes].iter_mut().enumerate() {
        let from = usize::try_from(swapped(at as u64, endian)).unwrap_or(0);
        *byte = item[from & 15];
    }
    result
}
