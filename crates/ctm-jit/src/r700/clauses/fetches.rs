//! Fetch clauses: textures, buffers, memory, the local data share.

use super::{chan, logic};
use crate::r700::form::{Fetch, M, MaskOp, Op, Store, Value, Var};
use crate::r700::lower::{Build, LoopIndex, Lower, Stop, loop_index};
use ctm_exec::r700::alu::is_register;
use ctm_exec::r700::memory::MemoryRead;
use ctm_isa::r700::inst::{Fetch as Inst, FetchClause, MemDsr, MemDsw, MemRd, VtxWord1};
use ctm_isa::r700::ops::{MuxCntl, Op2, RelMode, Sel, TexOp};
use ctm_isa::r700::program::Stage;

/// What a fetch writes.
#[derive(Clone, Copy)]
struct Destination {
    gpr: u8,
    /// Relative to the loop index.
    relative: bool,
    under: M,
}

impl Lower<'_> {
    /// A fetch clause for the lanes of `passes`.
    pub fn fetch_clause(
        &mut self,
        b: &mut Build,
        clause: &FetchClause,
        passes: M,
        index: Option<LoopIndex>,
    ) -> Result<(), Stop> {
        let index = index.map(|index| index.place);
        for fetch in &clause.fetches {
            let inst = fetch.inst.as_ref().map_err(|_| Stop::Refer)?;
            let whole_quad = match &inst.fetch {
                Inst::Tex(tex) => tex.word0.fetch_whole_quad,
                Inst::Vtx(vtx) => vtx.word0.fetch_whole_quad,
                Inst::MemRd(read) => read.word0.fetch_whole_quad,
                Inst::MemDsw(_) | Inst::MemDsr(_) => false,
            };
            let under = if whole_quad {
                // The invalid lanes of the quads are there too.
                b.mask(MaskOp::Quads(M::TEMP2, passes));
                b.mask(MaskOp::AndNot(M::TEMP2, M::TEMP2, M::VALID));
                b.mask(MaskOp::Or(M::TEMP2, M::TEMP2, passes));
                M::TEMP2
            } else {
                passes
            };
            if under != M::ACTIVE {
                b.forget();
            }
            let zero = b.bits(0);
            match &inst.fetch {
                Inst::Tex(tex) => {
                    let watches = watches(tex.word0.op, self.launch.stage);
                    self.watches_idle_lanes |= watches;
                    let mut at = [zero; 4];
                    for (place, sel) in at.iter_mut().zip(tex.source_swizzle()) {
                        let (base, relative) = (tex.word0.src_gpr, tex.word0.src_rel);
                        *place = match element_of(sel) {
                            Ok(element) => self.source(b, base, relative, element, index, watches),
                            Err(bits) => b.bits(bits.unwrap_or(0)),
                        };
                    }
                    let number = self.fetch_number(Fetch::Texture(*tex));
                    let fetched = b.effect(Op::Fetch(number, at, under));
                    let to = Destination { gpr: tex.word1.dst_gpr, relative: tex.word1.dst_rel, under };
                    self.write_fetched(b, fetched, tex.destination_swizzle(), to, index);
                }
                Inst::Vtx(vtx) => {
                    let element = chan(vtx.word0.src_sel_x);
                    let at = self.source(b, vtx.word0.src_gpr, vtx.word0.src_rel, element, index, false);
                    let number = self.fetch_number(Fetch::Vertex(*vtx));
                    let fetched = b.effect(Op::Fetch(number, [at, zero, zero, zero], under));
                    let destination = match &vtx.word1 {
                        VtxWord1::Gpr(w) => Some((w.dst_gpr, w.dst_rel)),
                        VtxWord1::Sem(w) => {
                            let row = self.launch.semantics.iter().find(|row| row.id == w.semantic_id);
                            row.map(|row| (row.gpr, false))
                        }
                    };
                    if let Some((gpr, relative)) = destination {
                        let to = Destination { gpr, relative, under };
                        self.write_fetched(b, fetched, vtx.word1.swizzle(), to, index);
                    }
                }
                Inst::MemRd(read) => self.memory_read(b, read, under, index)?,
                Inst::MemDsw(write) => self.share_write(b, write, under, index),
                Inst::MemDsr(read) => self.share_read(b, read, under, index)?,
            }
            if under != M::ACTIVE {
                b.forget();
            }
        }
        Ok(())
    }

    /// A memory read (R700 chapter 7): the index is read once, then each element of a burst.
    fn memory_read(&mut self, b: &mut Build, inst: &MemRd, under: M, index: Option<M>) -> Result<(), Stop> {
        let (word0, word1) = (&inst.word0, &inst.word1);
        let read = MemoryRead::new(inst, self.launch.chip).map_err(|_| Stop::Refer)?;
        let zero = b.bits(0);
        let given = self.source(b, word0.src_gpr, word0.src_rel, chan(word0.src_sel_x), index, false);
        let swizzle = [word1.dst_sel_x, word1.dst_sel_y, word1.dst_sel_z, word1.dst_sel_w];
        for burst in 0..=word0.burst_cnt {
            let number = self.fetch_number(Fetch::Memory(read, burst));
            let fetched = b.effect(Op::Fetch(number, [given, zero, zero, zero], under));
            let gpr = word1.dst_gpr.saturating_add(burst);
            if word1.dst_rel {
                self.write_relative(b, fetched, swizzle, gpr, under, index);
            } else {
                self.write_fetched(b, fetched, swizzle, Destination { gpr, relative: false, under }, index);
            }
        }
        Ok(())
    }

    /// Writes what a memory read found to a register at the loop index; to register 0 where that lies outside the registers (R700 §4.6.3).
    fn write_relative(
        &mut self,
        b: &mut Build,
        fetched: Value,
        swizzle: [Sel; 4],
        gpr: u8,
        under: M,
        index: Option<M>,
    ) {
        let gprs = self.gprs();
        let at = loop_index(b, index);
        let (base, count) = (b.bits(gpr.into()), b.bits(gprs.into()));
        let register = logic(b, Op2::AddInt, at, base);
        let within = logic(b, Op2::SetgtUint, count, register);
        let zero = b.bits(0);
        let register = b.make(Op::Select(within, register, zero));
        for (element, sel) in swizzle.into_iter().enumerate() {
            let value = match element_of(sel) {
                Ok(of) => b.make(Op::Fetched(fetched, of)),
                Err(Some(bits)) => b.bits(bits),
                Err(None) => continue,
            };
            self.relative_gprs = true;
            b.effect(Op::SetRelative(gprs, 0, element as u8, register, value, under));
            b.forget();
        }
    }

    /// An element of what an operation of the data share reads (R700 §10.6).
    fn share_source(
        &mut self,
        b: &mut Build,
        (base, mode): (u8, RelMode),
        sel: Sel,
        index: Option<M>,
        exactly: bool,
    ) -> Option<Value> {
        let element = match element_of(sel) {
            Ok(element) => element,
            Err(bits) => return bits.map(|bits| b.bits(bits)),
        };
        Some(match mode {
            RelMode::None | RelMode::Loop => self.source(b, base, mode == RelMode::Loop, element, index, exactly),
            RelMode::Global if usize::from(base) < self.globals() => {
                let at = b.bits(base.into());
                self.global(b, at, element)
            }
            RelMode::Global => b.bits(0),
        })
    }

    /// `LOCAL_DS_WRITE`.
    fn share_write(&mut self, b: &mut Build, inst: &MemDsw, passes: M, index: Option<M>) {
        let word = &inst.word0;
        let sels = [word.src_sel_x, word.src_sel_y, word.src_sel_z, word.src_sel_w];
        // Lanes that are not valid write nothing.
        b.mask(MaskOp::And(M::TEMP2, passes, M::VALID));
        let zero = b.bits(0);
        for burst in 0..=inst.word2.burst_cnt {
            let source = (word.src_gpr.saturating_add(burst), word.src_rel_mode);
            let mut values = [zero; 5];
            for (value, sel) in values[1..].iter_mut().zip(sels) {
                *value = self.share_source(b, source, sel, index, false).unwrap_or(zero);
            }
            let number = self.store_number(Store::Share(*inst, burst));
            b.effect(Op::Store(number, values, M::TEMP2));
        }
    }

    /// `LOCAL_DS_READ`.
    fn share_read(&mut self, b: &mut Build, inst: &MemDsr, passes: M, index: Option<M>) -> Result<(), Stop> {
        let (word0, word1) = (&inst.word0, &inst.word1);
        if word1.mux_cntl == MuxCntl::FftPermute {
            return Err(Stop::Refer);
        }
        // With BROADCAST every lane gets what the first valid one reads, executing or not.
        let (reads, under) = if word1.broadcast { (M::VALID, M::EXISTING) } else { (passes, passes) };
        self.watches_idle_lanes |= word1.broadcast;
        if word1.broadcast {
            b.forget();
        }
        let writes = [word1.dst_wr_x, word1.dst_wr_y, word1.dst_wr_z, word1.dst_wr_w];
        let elements = [Sel::X, Sel::Y, Sel::Z, Sel::W];
        let swizzle: [Sel; 4] = std::array::from_fn(|c| if writes[c] { elements[c] } else { Sel::Mask });
        for burst in 0..=inst.word2.burst_cnt {
            let zero = b.bits(0);
            let mut at = [zero; 4];
            for (place, sel) in at.iter_mut().zip([word0.src_sel_x, word0.src_sel_y]) {
                let source = (word0.src_gpr, word0.src_rel_mode);
                *place = self.share_source(b, source, sel, index, word1.broadcast).unwrap_or(zero);
            }
            let number = self.fetch_number(Fetch::Share(*inst, burst));
            let fetched = b.effect(Op::Fetch(number, at, reads));
            let gpr = word1.dst_gpr.saturating_add(burst);
            if word1.dst_rel_mode == RelMode::Global {
                if usize::from(gpr) < self.globals() {
                    let at = b.bits(gpr.into());
                    for element in (0..4u8).filter(|&element| writes[usize::from(element)]) {
                        let value = b.make(Op::Fetched(fetched, element));
                        self.write_global(b, at, element, value, under);
                    }
                }
            } else {
                let relative = word1.dst_rel_mode == RelMode::Loop;
                self.write_fetched(b, fetched, swizzle, Destination { gpr, relative, under }, index);
            }
        }
        if word1.broadcast {
            b.forget();
        }
        Ok(())
    }

    fn write_fetched(&mut self, b: &mut Build, fetched: Value, swizzle: [Sel; 4], to: Destination, index: Option<M>) {
        let gprs = self.gprs();
        if !to.relative && !is_register(i64::from(to.gpr), usize::from(gprs)) {
            return;
        }
        for (element, sel) in swizzle.into_iter().enumerate() {
            let value = match element_of(sel) {
                Ok(of) => b.make(Op::Fetched(fetched, of)),
                Err(Some(bits)) => b.bits(bits),
                Err(None) => continue,
            };
            if to.relative {
                self.relative_gprs = true;
                let index = loop_index(b, index);
                b.effect(Op::SetRelative(gprs, to.gpr, element as u8, index, value, to.under));
                b.forget();
            } else {
                b.set(Var::gpr(usize::from(to.gpr), element), value, to.under);
            }
        }
    }
}

/// The element that a selector names, or the constant bits that it stands for (none: masked).
fn element_of(sel: Sel) -> Result<u8, Option<u32>> {
    match sel {
        Sel::X => Ok(0),
        Sel::Y => Ok(1),
        Sel::Z => Ok(2),
        Sel::W => Ok(3),
        Sel::Zero => Err(Some(0)),
        Sel::One => Err(Some(0x3f80_0000)),
        Sel::Mask => Err(None),
    }
}

/// Whether a texture fetch looks at the coordinates of the other lanes of a quad: lookups do for their level in pixel programs, gradients always.
const fn watches(op: TexOp, stage: Stage) -> bool {
    match op {
        TexOp::GetGradientsH | TexOp::GetGradientsV | TexOp::KeepGradients => true,
        TexOp::Ld
        | TexOp::SampleL
        | TexOp::SampleLz
        | TexOp::SampleCL
        | TexOp::SampleCLz
        | TexOp::GetTextureResinfo
        | TexOp::GetNumberOfSamples => false,
        _ => matches!(stage, Stage::Pixel),
    }
}
