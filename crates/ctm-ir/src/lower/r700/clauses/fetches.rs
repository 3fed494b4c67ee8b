//! Fetch clauses: textures, buffers, memory, the local data share.

use crate::lower::r700::{Build, Lower, Result, Stop, loop_index};
use crate::masked::{Fetch, M, MaskOp, MemoryFetch, Op, RegisterFile, Store, Value, Var};
use ctm_exec::float::ONE;
use ctm_exec::r700::alu::is_register;
use ctm_exec::r700::memory::{BANK_DWORDS, MemoryRead, share_stride, share_written_from};
use ctm_exec::r700::vertex;
use ctm_isa::r700::inst::{Fetch as Inst, FetchClause, MemDsr, MemDsw, MemRd, VtxWord1};
use ctm_isa::r700::ops::{MuxCntl, Op2, RelMode, Sel, TexOp};
use ctm_isa::r700::program::Stage;
use std::array::from_fn;

/// A dword index beyond any data share, and so are those just after it.
const BEYOND: u32 = 0x7fff_0000;

/// The destination of a fetch.
#[derive(Clone, Copy)]
struct Destination {
    gpr: u8,
    /// The index added to its number.
    index: Option<Value>,
    under: M,
}

impl Lower<'_> {
    /// A fetch clause for the lanes of `passes`.
    pub fn fetch_clause(&mut self, b: &mut Build, clause: &FetchClause, passes: M, index: Option<M>) -> Result {
        for fetch in &clause.fetches {
            let inst = fetch.inst.as_ref().map_err(|_| Stop::BailOut)?;
            let whole_quad = match &inst.fetch {
                Inst::Tex(tex) => tex.word0.fetch_whole_quad,
                Inst::Vtx(vtx) => vtx.word0.fetch_whole_quad,
                Inst::MemRd(read) => read.word0.fetch_whole_quad,
                Inst::MemDsw(_) | Inst::MemDsr(_) => false,
            };
            let under = if whole_quad {
                // The invalid lanes of the quads exist, too.
                b.mask(MaskOp::Quads(M::TEMP2, passes));
                b.mask(MaskOp::AndNot(M::TEMP2, M::TEMP2, M::VALID));
                b.mask(MaskOp::Or(M::TEMP2, M::TEMP2, passes));
                M::TEMP2
            } else {
                passes
            };
            b.forget_beside(under);
            let zero = b.bits(0);
            match &inst.fetch {
                Inst::Tex(tex) => {
                    let watches = watches(tex.word0.op, self.launch.stage);
                    self.code.watches_idle_lanes |= watches;
                    let mut at = [zero; 4];
                    for (place, sel) in at.iter_mut().zip(tex.source_swizzle()) {
                        let from = (tex.word0.src_gpr, tex.word0.src_rel);
                        *place = match element_of(sel) {
                            Ok(element) => self.source(b, from, element, index, watches),
                            Err(bits) => b.bits(bits.unwrap_or(0)),
                        };
                    }
                    let number = self.fetch_number(Fetch::Texture(*tex));
                    let fetched = b.effect(Op::Fetch { number, at, under });
                    let index = tex.word1.dst_rel.then(|| loop_index(b, index));
                    let values = fetched_values(b, fetched, (tex.destination_swizzle(), ONE));
                    self.write_values(b, values, Destination { gpr: tex.word1.dst_gpr, index, under });
                }
                Inst::Vtx(vtx) => {
                    let from = (vtx.word0.src_gpr, vtx.word0.src_rel);
                    let at = self.source(b, from, vtx.word0.src_sel_x as u8, index, false);
                    let number = self.fetch_number(Fetch::Vertex(*vtx));
                    let fetched = b.effect(Op::Fetch { number, at: [at, zero, zero, zero], under });
                    let destination = match &vtx.word1 {
                        VtxWord1::Gpr(w) => Some((w.dst_gpr, w.dst_rel)),
                        VtxWord1::Sem(w) => {
                            let row = self.launch.semantics.iter().find(|row| row.id == w.semantic_id);
                            row.map(|row| (row.gpr, false))
                        }
                    };
                    if let Some((gpr, relative)) = destination {
                        let index = relative.then(|| loop_index(b, index));
                        let values = fetched_values(b, fetched, (vtx.word1.swizzle(), vertex::one(vtx)));
                        self.write_values(b, values, Destination { gpr, index, under });
                    }
                }
                Inst::MemRd(read) => self.memory_read(b, read, under, index)?,
                Inst::MemDsw(write) => self.share_write(b, write, under, index)?,
                Inst::MemDsr(read) => self.share_read(b, read, under, index)?,
            }
            b.forget_beside(under);
        }
        Ok(())
    }

    /// A memory read (R700 chapter 7): the index is read once, then each element of a burst.
    fn memory_read(&mut self, b: &mut Build, inst: &MemRd, under: M, index: Option<M>) -> Result {
        let (word0, word1) = (&inst.word0, &inst.word1);
        let read = MemoryRead::new(inst, self.launch.chip).map_err(|_| Stop::BailOut)?;
        let zero = b.bits(0);
        let given = self.source(b, (word0.src_gpr, word0.src_rel), word0.src_sel_x as u8, index, false);
        let swizzle = [word1.dst_sel_x, word1.dst_sel_y, word1.dst_sel_z, word1.dst_sel_w];
        for burst in 0..=word0.burst_cnt {
            let number = self.fetch_number(Fetch::Memory(MemoryFetch { inst: *inst, read }, burst));
            let fetched = b.effect(Op::Fetch { number, at: [given, zero, zero, zero], under });
            let gpr = word1.dst_gpr.saturating_add(burst);
            let (gpr, index) = if word1.dst_rel { (0, Some(self.register_at(b, gpr, index))) } else { (gpr, None) };
            let values = fetched_values(b, fetched, (swizzle, ONE));
            self.write_values(b, values, Destination { gpr, index, under });
        }
        Ok(())
    }

    /// The number of the register at the loop index; 0 outside of the registers (R700 §4.6.3).
    fn register_at(&self, b: &mut Build, gpr: u8, index: Option<M>) -> Value {
        let at = loop_index(b, index);
        let register = b.logic(Op2::AddInt, at, u32::from(gpr));
        let within = b.logic(Op2::SetgtUint, u32::from(self.gprs()), register);
        let zero = b.bits(0);
        b.make(Op::Select([within, register, zero]))
    }

    /// An element of a data share operation's source (R700 §10.6).
    fn share_source(
        &mut self,
        b: &mut Build,
        from: (u8, RelMode),
        sel: Sel,
        index: Option<M>,
        exact: bool,
    ) -> Result<Value> {
        let (base, mode) = from;
        Ok(match (element_of(sel), mode) {
            (Err(bits), _) => b.bits(bits.unwrap_or(0)),
            (Ok(element), RelMode::None | RelMode::Loop) => {
                self.source(b, (base, mode == RelMode::Loop), element, index, exact)
            }
            (Ok(_), RelMode::Global) => return Err(Stop::NotLowered),
        })
    }

    /// The index of a bank's dword in the data share; beyond it after the bank's end, or outside of `within`.
    fn share_index(&mut self, b: &mut Build, bank: Value, offset: Value, within: Option<Value>) -> Value {
        let bank = b.logic(Op2::AndInt, bank, 3);
        let first = b.logic(Op2::LshlInt, bank, 10);
        let at = b.logic(Op2::AddInt, first, offset);
        let mut inside = b.logic(Op2::SetgtUint, BANK_DWORDS as u32, offset);
        let beyond = b.bits(BEYOND);
        if let Some(within) = within {
            inside = b.logic(Op2::AndInt, inside, within);
        }
        b.make(Op::Select([inside, at, beyond]))
    }

    /// `LOCAL_DS_WRITE`.
    fn share_write(&mut self, b: &mut Build, inst: &MemDsw, passes: M, index: Option<M>) -> Result {
        let word = &inst.word0;
        let sels = [word.src_sel_x, word.src_sel_y, word.src_sel_z, word.src_sel_w];
        // Lanes that are not valid write nothing.
        b.mask(MaskOp::And(M::TEMP2, passes, M::VALID));
        let zero = b.bits(0);
        let mut thread = b.make(Op::Lane);
        if inst.word1.simd_wave_rel && self.takes_turns {
            let first = b.make(Op::Number(M::FIRST));
            thread = b.logic(Op2::AddInt, thread, first);
        }
        for burst in 0..=inst.word2.burst_cnt {
            let source = (word.src_gpr.saturating_add(burst), word.src_rel_mode);
            let mut values = [zero; 5];
            for (value, sel) in values[1..].iter_mut().zip(sels) {
                *value = self.share_source(b, source, sel, index, false)?;
            }
            let row = b.logic(Op2::LshrInt, thread, 2);
            let row = b.logic(Op2::MulloUint, row, share_stride(inst) as u32);
            // Threads write one after the other, each all its dwords. Where those of neighbours overlap, the later thread's dword has the
            // lower number: so those of the highest number are written first.
            for c in (0..4).rev().filter(|&c| sels[c] != Sel::Mask) {
                let offset = b.logic(Op2::AddInt, row, (share_written_from(inst, 0, burst) + c) as u32);
                let at = self.share_index(b, thread, offset, None);
                let number = self.store_number(Store::Dword);
                b.effect(Op::Store { number, operands: [at, values[c + 1], zero, zero, zero], under: M::TEMP2 });
            }
        }
        Ok(())
    }

    /// `LOCAL_DS_READ`.
    fn share_read(&mut self, b: &mut Build, inst: &MemDsr, passes: M, index: Option<M>) -> Result {
        let (word0, word1) = (&inst.word0, &inst.word1);
        if word1.mux_cntl == MuxCntl::FftPermute {
            return Err(Stop::BailOut);
        }
        if word1.dst_rel_mode == RelMode::Global {
            return Err(Stop::NotLowered);
        }
        // With BROADCAST every lane gets the value that the first valid one reads, executing or not.
        let (reads, under) = if word1.broadcast { (M::VALID, M::EXISTING) } else { (passes, passes) };
        self.code.watches_idle_lanes |= word1.broadcast;
        // A register at an index keeps its value, in these lanes too, unless the index names it.
        self.code.keeps_idle_lanes |= word1.broadcast && word1.dst_rel_mode == RelMode::Loop;
        if word1.broadcast {
            b.forget();
        }
        let writes = [word1.dst_wr_x, word1.dst_wr_y, word1.dst_wr_z, word1.dst_wr_w];
        let elements = [Sel::X, Sel::Y, Sel::Z, Sel::W];
        let swizzle: [Sel; 4] = from_fn(|c| if writes[c] { elements[c] } else { Sel::Mask });
        for burst in 0..=inst.word2.burst_cnt {
            let zero = b.bits(0);
            let mut at = [zero; 4];
            for (place, sel) in at.iter_mut().zip([word0.src_sel_x, word0.src_sel_y]) {
                let source = (word0.src_gpr, word0.src_rel_mode);
                *place = self.share_source(b, source, sel, index, word1.broadcast)?;
            }
            let values = if word1.broadcast {
                let number = self.fetch_number(Fetch::Share(*inst, burst));
                let fetched = b.effect(Op::Fetch { number, at, under: reads });
                fetched_values(b, fetched, (swizzle, ONE))
            } else {
                self.share_values(b, inst, [at[0], at[1]], burst)
            };
            let gpr = word1.dst_gpr.saturating_add(burst);
            let index = (word1.dst_rel_mode == RelMode::Loop).then(|| loop_index(b, index));
            self.write_values(b, values, Destination { gpr, index, under });
        }
        if word1.broadcast {
            b.forget();
        }
        Ok(())
    }

    /// The result of a data share read for index x and address y, of the elements that it writes.
    fn share_values(&mut self, b: &mut Build, inst: &MemDsr, [x, y]: [Value; 2], burst: u8) -> [Option<Value>; 4] {
        let word = &inst.word1;
        let writes = [word.dst_wr_x, word.dst_wr_y, word.dst_wr_z, word.dst_wr_w];
        let entry = b.logic(Op2::AndInt, x, !3);
        // The sum is only valid where both terms lie in the bank.
        let within = [entry, y].map(|at| b.logic(Op2::SetgtUint, BANK_DWORDS as u32, at));
        let within = b.logic(Op2::AndInt, within[0], within[1]);
        let at = b.logic(Op2::AddInt, entry, y);
        let at = b.logic(Op2::AddInt, at, u32::from(inst.word0.rd_offset) + 4 * u32::from(burst));
        let word_select = word.mux_cntl == MuxCntl::WordSelect;
        let first = if word_select { at } else { b.logic(Op2::AndInt, at, !3) };
        let first = self.share_index(b, x, first, Some(within));
        let mut read = |c: u8| b.make(Op::GetRelative { file: RegisterFile::Share, base: c, element: 0, index: first });
        if word_select {
            let value = read(0);
            return writes.map(|writes| writes.then_some(value));
        }
        from_fn(|c| writes[c].then(|| read(c as u8)))
    }

    fn write_values(&mut self, b: &mut Build, values: [Option<Value>; 4], to: Destination) {
        let gprs = self.gprs();
        for (element, value) in values.into_iter().enumerate() {
            let Some(value) = value else { continue };
            if let Some(index) = to.index {
                b.set_indexed(gprs, (to.gpr, element as u8, index), value, to.under);
            } else if is_register(i64::from(to.gpr), usize::from(gprs)) {
                b.set(Var::gpr(usize::from(to.gpr), element), value, to.under);
            }
        }
    }
}

/// Elements of a fetch's result, through its swizzle. `one`: the bits of its 1.
fn fetched_values(b: &mut Build, fetched: Value, (swizzle, one): ([Sel; 4], u32)) -> [Option<Value>; 4] {
    swizzle.map(|sel| match element_of(sel) {
        Err(Some(_)) if sel == Sel::One => Some(b.bits(one)),
        Ok(of) => Some(b.make(Op::Fetched(fetched, of))),
        Err(bits) => bits.map(|bits| b.bits(bits)),
    })
}

/// The element of a selector, or its constant bits (none: masked).
pub const fn element_of(sel: Sel) -> Result<u8, Option<u32>> {
    match sel {
        Sel::X => Ok(0),
        Sel::Y => Ok(1),
        Sel::Z => Ok(2),
        Sel::W => Ok(3),
        Sel::Zero => Err(Some(0)),
        Sel::One => Err(Some(ONE)),
        Sel::Mask => Err(None),
    }
}

/// Whether a texture fetch reads the coordinates of the other lanes of a quad: lookups do for their level in pixel
/// programs, gradients always.
const fn watches(op: TexOp, stage: Stage) -> bool {
    match op {
        TexOp::GetGradientsH | TexOp::GetGradientsV | TexOp::KeepGradients => true,
        TexOp::Ld
        | TexOp::SetGradientsH
        | TexOp::SetGradientsV
        | TexOp::SampleL
        | TexOp::SampleLz
        | TexOp::SampleCL
        | TexOp::SampleCLz
        | TexOp::GetTextureResinfo
        | TexOp::GetNumberOfSamples => false,
        _ => matches!(stage, Stage::Pixel),
    }
}
